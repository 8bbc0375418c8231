#!/usr/bin/env python3
"""LIMITSIZE of BINFILE and SIGKILL: whenever a process is killed while a part of its trace takes the place of another one, each event is in the
trace or counted as left out.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
BUILD = os.environ['CTRACE_BUILD']
PRELOAD = f'{BUILD}/tests/libsignalat.so'
COUNT = 300000  # several times the limit
CALLS = ('mkdir', 'rmdir', 'unlinkat', 'renameat', 'renameat2')

with open('app.cfg', 'w', encoding='utf-8') as file:
    file.write(f'mftrace.level = info\nmftrace.dest = binfile\nmftrace.emitter.binfile#location = {os.getcwd()}/out\n'
               'mftrace.emitter.binfile#file = app.ctb\nmftrace.emitter.binfile#limitsize = 3072\n')


def run(**variables):
    shutil.rmtree('out', ignore_errors=True)
    return subprocess.run([f'{BUILD}/tests/steps', 'trace', 'a.b', '1', str(COUNT)], check=False,
                          env={**os.environ, 'MFTRACE_CONFIG': 'app.cfg', 'LD_PRELOAD': PRELOAD, **variables}).returncode


def ctrace(*arguments):
    return subprocess.run(['ctrace', *arguments], capture_output=True, text=True, check=False)


def counted():
    """The number of the last event, and the sum of the events in the trace and those that it counts as lost."""
    shown = ctrace('show', '--reverse', '--limit', '1', '--json', 'out')
    stats = ctrace('stats', '--json', 'out')
    told = json.loads(stats.stdout) if stats.stdout else {}
    return json.loads(shown.stdout)['data'][0]['value'] if shown.stdout else 0, told.get('count', 0) + told.get('lost', 0), [line for line in stats.stderr.splitlines() if 'were discarded' not in line]


def moments():
    """Those after the first part has made room for another."""
    run(SIGNAL_SEEN=os.path.abspath('seen'))
    with open('seen', encoding='ascii') as file:
        labels = list(dict.fromkeys(file.read().split()))
    begin = next(at for at, label in enumerate(labels) if ':unlinkat:' in label or ':renameat2:' in label)
    return [label for label in labels[begin:] if label.split(':')[1] in CALLS]


checks.check('without a kill', run() == 0 and counted() == (COUNT, COUNT, []), counted())
labels = moments()
wrong = []
for label in labels:
    status = run(SIGNAL_AT=label, SIGNAL='9')
    before = counted()[:2]
    ctrace('recover')
    last, both, said = counted()
    left = [name for name in os.listdir('out') if name.startswith('.')]
    if last != both or before[0] != before[1] or said or left or status not in (-9, 0):
        wrong.append((label, status, before, (last, both), said, left))
checks.check(f'killed at {len(labels)} moments', len(labels) > 30 and not wrong, f'{len(wrong)} wrong', *wrong)
checks.end()
