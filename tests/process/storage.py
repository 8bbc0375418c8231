#!/usr/bin/env python3
"""Traces in storage, and dumps of them: what is traced is in storage, overwritten there, or counted as lost; by real processes.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
STEPS = os.path.join(os.environ['CTRACE_BUILD'], 'tests', 'steps')
TOOL = os.path.join(os.environ['CTRACE_BUILD'], 'ctrace')
RUN = os.environ['CTRACE_RUN_DIR']
PATIENCE = 120


def configure(*lines):
    with open('app.cfg', 'w', encoding='ascii') as file:
        file.write('\n'.join(['mftrace.level = debug', *lines, '']))


def start(*steps):
    """Returns the process when it has done the steps, and waits in pause."""
    process = subprocess.Popen([STEPS, *steps, 'say', 'ready', 'pause'], env={**os.environ, 'MFTRACE_CONFIG': 'app.cfg'},
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while process.stdout.readline() != 'ready\n':
        assert process.poll() is None
    return process


def kill(process):
    process.kill()
    process.wait(PATIENCE)


def tool(*arguments):
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.stdout, done.stderr, done.returncode


def counters(*arguments):
    found = [json.loads(line) for line in tool('list', '--json', *arguments)[0].splitlines()]
    return [(one['counters']['in_storage'], one['counters']['overwritten_in_storage'], one['counters']['lost'],
             one['counters']['delivered']) for one in found]


def numbers(*arguments):
    return [int(one) for one in re.findall(r'^\S+ APP 1 \w+ (\d+)', tool('show', *arguments)[0], re.M)]


def read_while_it_lives_and_after():
    configure('mftrace.dest = storage')
    process = start('trace', 'APP', '1', '1000')
    pid = str(process.pid)
    checks.same('live: counters', counters(), [(1000, 0, 0, 0)])
    checks.same('live: show', numbers(pid), list(range(1, 1001)))
    checks.same('live: no file', sorted(os.listdir('.')), ['app.cfg'])
    tailed, _, status = tool('tail', '--from-start', '--limit', '1000', '--pid', pid)
    checks.same('live: tail', (len(tailed.splitlines()), status), (1000, 0))
    kill(process)
    checks.same('killed: recovery keeps it', 'of them in storage' in tool('recover')[0], True)
    checks.same('killed: again there is nothing to do', tool('recover')[0], 'nothing to recover\n')
    checks.same('killed: counters', counters('--dead'), [(1000, 0, 0, 0)])
    checks.check('killed: until when', 'kept until 2' in tool('list', '--dead')[0])
    checks.same('killed: show', numbers(pid), list(range(1, 1001)))
    checks.same('killed: stats', 'emitted 1000, delivered 0, pending 0, in storage 1000 (overwritten 0), lost 0' in tool('stats')[0], True)


def dumps_of_a_dead_process():
    out, err, status = tool('dump', '--output', 'dumps', '--title', 'after a kill')
    checks.same('dump: status', (status, err), (0, ''))
    made = glob.glob('dumps/STEPS.*.dump')
    checks.same('dump: one', len(made), 1)
    checks.same('dump: says what', out, f'{made[0]}: 1000 events\n')
    checks.same('dump: has all', numbers(made[0]), list(range(1, 1001)))
    with open(f'{made[0]}/.dump', encoding='ascii') as file:
        about = file.read()
    for line in ('title: after a kill', 'reason: command', 'job: STEPS', 'events: 1000', 'component: APP DEBUG'):
        checks.check(f'dump: {line}', f'{line}\n' in about, about)
    checks.same('dump: the directory is gone', [name for name in os.listdir(RUN) if name != 'asid'], [])
    viewed = subprocess.run(['babeltrace2', made[0]], capture_output=True, text=True, timeout=PATIENCE, check=False)
    checks.same('dump: babeltrace2', (viewed.returncode, len(viewed.stdout.splitlines())), (0, 1000))
    checks.same('dump: nothing is left', tool('dump')[2], 1)


def dumps_of_a_live_process():
    configure('mftrace.dest = storage', 'ctrace.buffer = 32K')
    process = start('trace', 'APP', '1', '20000')
    pid = str(process.pid)
    (stored, overwritten, lost, _), = counters()
    checks.check('wrapped: it has', overwritten > 0 and stored > 100, stored, overwritten)
    checks.same('wrapped: all are accounted for', (stored + overwritten, lost), (20000, 0))
    out, _, status = tool('dump', '--pid', pid, '--output', 'live.dump')
    checks.same('wrapped: dump', (out, status), (f'live.dump: {stored} events, {overwritten} before were overwritten\n', 0))
    checks.same('wrapped: the newest', numbers('live.dump'), list(range(20001 - stored, 20001)))
    stats = json.loads(tool('stats', '--json', 'live.dump')[0])
    checks.same('wrapped: the dump counts what was overwritten', (stats['count'], stats['lost']), (stored, overwritten))
    _, err, status = tool('dump', '--pid', pid, '--output', 'live.dump/metadata')
    checks.same('wrapped: what is there stays', ('Not a directory' in err, status), (True, 1))
    checks.same('wrapped: the process keeps it', counters(), [(stored, overwritten, 0, 0)])
    kill(process)
    checks.same('discarded', (tool('recover', '--discard', pid)[2], counters()), (0, []))


def other_destinations_are_not_in_storage():
    configure('mftrace.dest = binfile', 'mftrace.emitter.binfile#file = t')
    process = start('trace', 'APP', '1', '100', 'flush')
    checks.same('binfile: counters', counters(), [(0, 0, 0, 100)])
    checks.check('binfile: there is one', glob.glob('t.*ctb') or glob.glob('t*/metadata'), os.listdir('.'))
    tool('dest', 'APP', 'STORAGE')
    kill(process)
    tool('recover')
    checks.same('binfile: nothing stays', [name for name in os.listdir(RUN) if name != 'asid'], [])


def a_normal_end_leaves_nothing():
    configure('mftrace.dest = storage')
    before = sorted(os.listdir('.'))
    subprocess.run([STEPS, 'trace', 'APP', '1', '100'], env={**os.environ, 'MFTRACE_CONFIG': 'app.cfg'}, check=True, timeout=PATIENCE)
    checks.same('a normal end: nothing is left', ([name for name in os.listdir(RUN) if name != 'asid'], sorted(os.listdir('.'))),
                ([], before))


for test in (read_while_it_lives_and_after, dumps_of_a_dead_process, dumps_of_a_live_process, other_destinations_are_not_in_storage,
             a_normal_end_leaves_nothing):
    test()
sys.exit(checks.end())
