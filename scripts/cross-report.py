#!/usr/bin/env python3
"""cross-report.py MACHINE TESTLOG KNOWN - what the tests under qemu-user found: prints what is known not to run there, with the reason, and every other
failure.  A line of KNOWN is "TEST: CHECK reason" or "TEST: * reason"; the latter is a test that is not started.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import json
import re
import sys

machine, log, known_path = sys.argv[1:]
known = {}
with open(known_path, encoding='utf-8') as file:
    for line in file:
        row = re.match(r'([^#: ]+): (\S+) (.*)', line)
        if row:
            known[(row[1], row[2])] = row[3]
passed, unable, failures = 0, [], []
for (test, check), reason in known.items():
    if check == '*':
        unable.append((test, 'not started', reason))
with open(log, encoding='utf-8') as file:
    for line in file:
        test = json.loads(line)
        name = test['name'].split(' / ')[-1]
        output = test.get('stdout', '')
        bad = [re.sub(r'^not ok \d* ?-? ?', '', each).split(' Could not run')[0] for each in output.splitlines() if each.startswith('not ok')]
        passed += len(re.findall(r'^ok ', output, re.M))
        left = []
        for check in bad:
            word = check.split()[0] if check.split() else check
            if (name, word) in known:
                unable.append((name, check, known[(name, word)]))
            elif (name, 'all') in known:
                unable.append((name, check, known[(name, 'all')]))
            else:
                left.append(check)
        if not bad and test['result'] not in ('OK', 'SKIP'):
            left.append(test['result'])
        failures += [(name, check) for check in left]
for name, check, reason in unable:
    print(f'{machine}: not under qemu-user: {name}: {check}: {reason}')
for name, check in failures:
    print(f'{machine}: FAILED: {name}: {check}')
print(f'{machine}: {passed} checks passed, {len(unable)} cannot run under qemu-user, {len(failures)} failed')
sys.exit(1 if failures else 0)
