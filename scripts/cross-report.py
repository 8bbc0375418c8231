#!/usr/bin/env python3
"""cross-report.py MACHINE TESTLOG KNOWN - what the tests under qemu-user found: prints what is known not to run there, with the reason, and every other
failure.  A line of KNOWN is "[MACHINE ]TEST: CHECK reason", or `*` for CHECK: a test that is not started.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import json
import re
import sys

machine, log, known_path = sys.argv[1:]
known = {}
with open(known_path, encoding='utf-8') as file:
    for line in file:
        row = re.match(r'(?:(aarch64|s390x) )?([^#: ]+): (\S+) (.*)', line)
        if row and row[1] in (None, machine):
            known[(row[2], row[3])] = row[4]
passed, unable, failures, seen, met = 0, [], [], set(), set()
for (test, check), reason in known.items():
    if check == '*':
        unable.append((test, 'not started', reason))
with open(log, encoding='utf-8') as file:
    for line in file:
        test = json.loads(line)
        name = test['name'].split(' / ')[-1]
        output = test.get('stdout', '')
        seen.add(name)
        bad = [re.sub(r'^not ok \d* ?-? ?', '', each).split(' Could not run')[0] for each in output.splitlines() if each.startswith('not ok')]
        passed += len(re.findall(r'^ok ', output, re.M))
        left = []
        for check in bad:
            word = check.split()[0] if check.split() else check
            if (name, word) in known:
                unable.append((name, check, known[(name, word)]))
                met.add((name, word))
            elif (name, 'all') in known:
                unable.append((name, check, known[(name, 'all')]))
            else:
                left.append(check)
        if not bad and test['result'] not in ('OK', 'SKIP'):
            left.append(test['result'])
        failures += [(name, check) for check in left]
for name, check, reason in unable:
    print(f'{machine}: not under qemu-user: {name}: {check}: {reason}')
for (name, check), reason in known.items():
    if name in seen and check not in ('*', 'all') and (name, check) not in met:
        print(f'{machine}: passes, but is in {known_path}: {name}: {check}: {reason}')
for name, check in failures:
    print(f'{machine}: FAILED: {name}: {check}')
print(f'{machine}: {passed} checks passed, {len(unable)} cannot run under qemu-user, {len(failures)} failed')
sys.exit(1 if failures else 0)
