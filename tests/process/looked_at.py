#!/usr/bin/env python3
"""Who looks at the run directory, at whatever moment, does a process no harm: between each two system calls of a program that attaches, traces and
ends, commands and another program look there.  It has its directory, its events are delivered once, nothing is left, and no command complains.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
BUILD = os.environ['CTRACE_BUILD']
STEPS = f'{BUILD}/tests/steps'
RUN = os.environ['CTRACE_RUN_DIR']
COUNT = 100

PROGRAMS = {  # name: level, steps
    'that traces': ('info', ['trace', 'a.b', '1', str(COUNT)]),
    'that stays dormant': ('none', ['trace', 'a.b', '1', str(COUNT)]),
}
LOOKERS = {
    'ctrace list': 'ctrace list',
    'ctrace recover': 'ctrace recover',
    'ctrace tail': 'ctrace tail --for 0.005 --from-start',
    'a program that attaches': f'MFTRACE_CONFIG={os.getcwd()}/other.cfg {STEPS} trace c.d 1 1',
}


def write(name, level, file):
    with open(name, 'w', encoding='utf-8') as config:
        config.write(f'mftrace.level = {level}\nmftrace.dest = textfile\nmftrace.emitter.textfile#location = {os.getcwd()}\n'
                     f'mftrace.emitter.textfile#file = {file}\nmftrace.emitter.textfile#append = true\n')


def lines(name):
    if not os.path.exists(name):
        return 0
    with open(name, encoding='utf-8') as file:
        return sum(not line.startswith('#') for line in file)


write('other.cfg', 'info', 'other.log')
for program, (level, steps) in PROGRAMS.items():
    write('own.cfg', level, 'own.log')
    for looker, command in LOOKERS.items():
        for name in ('own.log', 'said', 'other.log'):
            if os.path.exists(name):
                os.unlink(name)
        done = subprocess.run([f'{BUILD}/tests/faults_between', f'{command} >/dev/null 2>>said; echo >>looks', STEPS, *steps],
                              env={**os.environ, 'MFTRACE_CONFIG': f'{os.getcwd()}/own.cfg'}, check=False)
        expected = COUNT if level == 'info' else 0
        told = subprocess.run(['ctrace', 'list'], capture_output=True, text=True, check=False)
        with open('said', encoding='utf-8') as file:
            said = sorted({line for line in file if 'waiting for one' not in line and 'no traced process found' not in line})
        checks.check(f'a program {program}, looked at by {looker}: its events', done.returncode == 0 and lines('own.log') == expected,
                     done.returncode, lines('own.log'))
        checks.check('it had its directory, and it is gone', 'got no directory' not in told.stderr and
                     [name for name in os.listdir(RUN) if '.' in name] == [], told.stderr, os.listdir(RUN))
        checks.check('nobody complains', said == [], *said)
with open('looks', encoding='utf-8') as file:
    checks.check('and it was looked at', len(file.readlines()) > 20 * len(PROGRAMS) * len(LOOKERS))
checks.end()
