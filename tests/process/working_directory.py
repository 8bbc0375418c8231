#!/usr/bin/env python3
"""A process whose working directory was removed: what recovers it delivers nothing into its own working directory, and says why.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
STEPS = os.path.join(os.environ['CTRACE_BUILD'], 'tests', 'steps')
HERE = os.getcwd()
RUN = os.environ['CTRACE_RUN_DIR']
PATIENCE = 60
UNKNOWN = 'the process had no working directory when it attached'
BEFORE = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
AFTER = 'mkdir gone && cd gone && exec "$@"'
TEXTFILE = ('mftrace.dest = textfile', 'mftrace.emitter.textfile#file = t.log')
BINFILE = ('mftrace.dest = binfile', 'mftrace.emitter.binfile#file = t.ctb')


def write(*lines):
    with open('app.cfg', 'w', encoding='ascii') as file:
        file.write('\n'.join(['mftrace.level = debug', *lines, '']))


def traced(how, *steps, **variables):
    return subprocess.run(['sh', '-c', how, 'sh', STEPS, 'trace', 'a.b', '1', '100', *steps], timeout=PATIENCE, check=False, capture_output=True,
                          env={**os.environ, 'MFTRACE_CONFIG': f'{HERE}/app.cfg', **variables})


def operated(*arguments):
    """Runs the tool in a directory of its own, and returns what it says and what is there then."""
    os.makedirs('op', exist_ok=True)
    done = subprocess.run(['ctrace', *arguments], cwd='op', capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.stdout + done.stderr, sorted(os.listdir('op'))


def kept():
    return [name for name in os.listdir(RUN) if '.' in name]


def cleared():
    subprocess.run('rm -rf op gone "$CTRACE_RUN_DIR"/*.*', shell=True, check=True)


def no_directory_is_known():
    for what, lines, variables in (('TEXTFILE', TEXTFILE, {}), ('BINFILE', BINFILE, {}),
                                   ('LOCATION', (*TEXTFILE, 'mftrace.emitter.textfile#location = sub/of'), {}),
                                   ('MFTRACE_LOGS', BINFILE, {'MFTRACE_LOGS': 'logs'})):
        for end in (['exit', '0'], ['kill']):
            write(*lines)
            traced(BEFORE, *end, **variables)
            for verb in ('list', 'recover'):
                said, there = operated(verb)
                checks.same(f'{what}, {end[0]}: ctrace {verb} writes nothing where it is', there, [])
                checks.check(f'{what}, {end[0]}: ctrace {verb} says why', UNKNOWN in said, said)
            checks.same(f'{what}, {end[0]}: what is left is kept', len(kept()), 1)
            cleared()


def an_absolute_place_is_found():
    for lines in (('mftrace.dest = textfile', f'mftrace.emitter.textfile#file = {HERE}/out/t.log'),
                  (*TEXTFILE, f'mftrace.emitter.textfile#location = {HERE}/out')):
        write(*lines)
        os.makedirs('out', exist_ok=True)
        traced(BEFORE, 'kill')
        said, there = operated('recover')
        checks.same('an absolute place: its events are delivered', (there, os.listdir('out'), kept()), ([], ['t.log'], []))
        subprocess.run(['rm', '-r', 'out'], check=True)
        cleared()


def the_directory_is_gone():
    for what, lines in (('FILE', BINFILE), ('LOCATION', (*TEXTFILE, 'mftrace.emitter.textfile#location = sub/of'))):
        write(*lines)
        traced(AFTER, 'kill')
        subprocess.run(['rm', '-r', 'gone'], check=True)
        said, there = operated('recover')
        checks.same(f'{what}, removed after it began: ctrace recover writes nothing where it is', there, [])
        checks.check(f'{what}, removed after it began: what is left is kept with the reason, if there is any', not kept() or f'{HERE}/gone' in said, said)
        checks.check(f'{what}, removed after it began: the directory is not made again', not os.path.exists('gone'))
        cleared()


def a_crash_makes_no_dump_elsewhere():
    for directory in ((), ('ctrace.dump.directory = dumps',)):
        write('mftrace.dest = storage', 'ctrace.dump.on = fatal-signal', *directory)
        traced(BEFORE, 'crash')
        said, there = operated('recover')
        checks.same(f'a crash {directory}: no dump where the tool is', (there, os.path.exists('/dumps')), ([], False))
        checks.check(f'a crash {directory}: ctrace recover says why', 'no dump can be made: it had no working directory when it attached' in said, said)
        cleared()


for test in (no_directory_is_known, an_absolute_place_is_found, the_directory_is_gone, a_crash_makes_no_dump_elsewhere):
    test()
sys.exit(checks.end())
