#!/usr/bin/env python3
"""libctrace-cobol.so changes nothing that libcob does, whatever the program does to its process.

A row of MANNERS is something that C code in a COBOL program does between two WRITEs (tests/cobol/manners.c), or a clock that does not go as
it should.  The program runs without the library, with it and nothing traced, and with everything traced: output, exit status and data files
are the same, byte for byte.  An indexed file is compared by its records, which the program reads back: libdb stores numbers of its own in it.
CTRACE_TEST_LONG=1 runs each more often.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

SOURCE = os.environ['CTRACE_SOURCE']
BUILD = os.environ['CTRACE_BUILD']
LIBRARY = os.path.join(BUILD, 'libctrace-cobol.so')
CLOCK = os.path.join(BUILD, 'tests', 'liboddclock.so')
ROOM = os.getcwd()
WORK = os.path.join(ROOM, 'work')
PATIENCE = 100  # seconds, only to stop what hangs
TIMES = 10 if os.environ.get('CTRACE_TEST_LONG') else 1
# Name, and how often a run is tried: what another thread does meets the COBOL thread by chance.
MANNERS = [('nothing', 1), ('thread-flushes', 12), ('thread-allocates', 3), ('thread-forks', 1), ('thread-moves', 3), ('thread-exits', 3),
           ('flushes', 1), ('fork-child-goes-on', 1), ('spawns', 1), ('vforks', 1), ('moves', 1), ('daemon', 1), ('closes', 1),
           ('few-descriptors', 1), ('little-memory', 1), ('umask', 1), ('blocks-signals', 1), ('buffers-output', 1), ('exits', 1),
           ('quick-exits', 1), ('aborts', 1), ('terminates', 1), ('hangs-up', 1), ('kills', 1), ('faults', 1)]
CLOCKS = ('still', 'back', 'fast')
TRACED = ('mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#location = {room}\n'
          'mftrace.comp.mf.rts#all = true\nmftrace.comp.mf.mffh.xfh#all = true\n')
WAYS = ('nothing traced', 'everything traced')

checks = tap.Tap(is_live=True)


def run(way, how, clock=None):
    """Returns what somebody sees of a run."""
    shutil.rmtree(WORK, ignore_errors=True)
    os.mkdir(WORK)
    environment = dict(os.environ)
    preload = [CLOCK] if clock else []
    if clock:
        environment['ODD_CLOCK'] = clock
    if way is not None:
        preload.append(LIBRARY)
    if way == 'everything traced':
        environment['MFTRACE_CONFIG'] = os.path.join(ROOM, 'traced.cfg')
    if preload:
        environment['LD_PRELOAD'] = ' '.join(preload)
    done = subprocess.run([os.path.join(ROOM, 'manners'), how], cwd=WORK, env=environment, capture_output=True, timeout=PATIENCE,
                          start_new_session=True)
    files = {}
    for name in ('s.dat', 'l.dat', 'r.dat'):
        with open(os.path.join(WORK, name), 'rb') as file:
            files[name] = file.read()
    return done.returncode, done.stdout, done.stderr, files


def differs(found, wanted):
    """Returns in what two runs differ, for people."""
    parts = [f'{part}: {one!r} instead of {other!r}' for part, one, other in zip(('status', 'output', 'errors'), found, wanted) if one != other]
    for name, data in wanted[3].items():
        if found[3][name] != data:
            parts.append(f'{name}: {len(found[3][name])} bytes, {found[3][name].count(10)} lines; wanted {len(data)}, {data.count(10)}')
    return parts


def compare(what, how, times, clock=None):
    wanted = run(None, how, clock)
    for way in WAYS:
        wrong = []
        for _ in range(times * TIMES):
            try:
                wrong += differs(run(way, how, clock), wanted)
            except subprocess.TimeoutExpired:
                wrong.append('it did not end')
        checks.clean(f'{what}, {way}', wrong)


def main():
    source = os.path.join(SOURCE, 'tests', 'cobol', 'manners')
    subprocess.run(['cobc', '-x', '-free', '-w', '-o', 'manners', f'{source}.cbl', f'{source}.c', '-lpthread'], check=True, timeout=PATIENCE)
    with open('traced.cfg', 'w', encoding='ascii') as file:
        file.write(TRACED.format(room=ROOM))
    for how, times in MANNERS:
        compare(how, how, times)
    for clock in CLOCKS:
        compare(f'a clock that is {clock}', 'nothing', 1, clock)
    return checks.end()


sys.exit(main())
