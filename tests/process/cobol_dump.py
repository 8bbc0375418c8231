#!/usr/bin/env python3
"""Dumps of COBOL programs: of a run-time error, of a signal, and by the program itself, with the place in the program.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback

BUILD = os.environ['CTRACE_BUILD']
TOOL = os.path.join(BUILD, 'ctrace')
LIBRARY = os.path.join(BUILD, 'libctrace-cobol.so')
PATIENCE = 120  # seconds, only to stop what hangs
PROGRAM = """identification division.
program-id. payroll.
data division.
working-storage section.
01 deductions.
  05 deduction pic 9(4) occurs 5.
01 position-of pic 9(4).
01 what pic x(10).
procedure division.
main-section section.
first-steps.
    accept what from command-line.
    move 1 to position-of.
    perform compute-tax.
    if what = "caller"
        move 9 to position-of
        move 1 to deduction(position-of).
    perform check-what.
    stop run.
compute-tax.
    move 1 to deduction(position-of).
check-what.
    move 9 to position-of.
    if what = "twice"
        perform compute-tax.
    if what = "perform"
        perform compute-tax.
    if what = "called"
        call "rates".
    if what = "signal"
        call "raise" using by value 11.
    if what = "dump"
        call "CBL_CTRACE_DUMP" using "a title" by value 7.
    if what = "status"
        move 3 to return-code.
"""
CALLED = """identification division.
program-id. rates.
data division.
working-storage section.
01 rate pic 9(4) occurs 5.
01 position-of pic 9(4) value 7.
procedure division.
find-rate.
    move 1 to rate(position-of).
"""


class Room:
    """A directory with programs, a run directory of its own, and the configuration."""

    def __init__(self, settings):
        self.path = tempfile.mkdtemp(prefix='dump-', dir=os.getcwd())
        os.mkdir(self.at('run'), 0o700)
        with open(self.at('app.cfg'), 'w', encoding='ascii') as file:
            file.write(f'mftrace.level.mf = info\nmftrace.dest = storage\nctrace.dump.directory = {self.at("own")}\n{settings}\n')
        self.environment = dict(os.environ, CTRACE_RUN_DIR=self.at('run'), MFTRACE_CONFIG=self.at('app.cfg'), COB_LIBRARY_PATH=self.path)

    def at(self, *names):
        return os.path.join(self.path, *names)

    def compile(self, *flags):
        for name, text, kind in (('payroll', PROGRAM, '-x'), ('rates', CALLED, '-m')):
            with open(self.at(f'{name}.cbl'), 'w', encoding='ascii') as file:
                file.write(text)
            subprocess.run(['cobc', kind, '-free', '-w', *flags, f'{name}.cbl'], cwd=self.path, check=True, timeout=PATIENCE)

    def tool(self, *arguments, status=0):
        done = subprocess.run([TOOL, *arguments], env=self.environment, cwd=self.path, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == status, f'ctrace {arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}'
        return done.stdout + done.stderr

    def run(self, what, library=LIBRARY):
        """Exit status, and what is on standard error."""
        environment = dict(self.environment, LD_PRELOAD=library) if library else self.environment
        done = subprocess.run([self.at('payroll'), what], env=environment, cwd=self.path, capture_output=True, text=True, timeout=PATIENCE, check=False)
        return done.returncode, done.stderr

    def dumps(self):
        return sorted(glob.glob(self.at('own', '*.dump*')))

    def status(self):
        dump, = self.dumps()
        text = self.tool('ipcs', 'STATUS', dump)
        for name in glob.glob(os.path.join(dump, '*')) + [os.path.join(dump, '.dump')]:
            os.remove(name)
        os.rmdir(dump)
        return text


def has(text, *patterns):
    for pattern in patterns:
        assert re.search(pattern, text, re.M), f'no {pattern} in:\n{text}'


def line_of(text, what):
    return text.split('\n').index(what) + 1


def a_run_time_error(room):
    room.compile('-debug')
    for what, program, paragraph, source, statement in (
            ('perform', 'payroll', 'compute-tax', PROGRAM, '    move 1 to deduction(position-of).'),
            ('caller', 'payroll', 'first-steps', PROGRAM, '        move 1 to deduction(position-of).'),
            ('called', 'rates', 'find-rate', CALLED, '    move 1 to rate(position-of).')):
        bare = room.run(what, library=None)
        assert not room.dumps()
        assert room.run(what) == bare and bare[0] == 1
        dump, = room.dumps()
        has(room.tool('show', '--format=$(EVENT)', dump), '^255$')
        has(room.status(), '^ REASON +COBOL run-time error$', r"^ ERROR +subscript of '\w+' out of bounds: [79]$", f'^ PROGRAM-ID +{program}$',
            f'^ PARAGRAPH +{paragraph}$', rf'^ SOURCE +{program}\.cbl$', f'^ LINE +{line_of(source, statement)}$', '^ COMPONENTS$')


def a_status_without_an_error(room):
    """The status of a run-time error is the same failure: one dump; a status of the program's own is another."""
    room.compile('-debug')
    assert room.run('perform')[0] == 1
    has(room.status(), '^ REASON +COBOL run-time error$')
    assert room.run('status')[0] == 3
    has(room.status(), '^ REASON +exit status 3$')
    assert room.run('none')[0] == 0
    assert not room.dumps()


def a_signal(room):
    room.compile('-debug')
    bare = room.run('signal', library=None)
    assert room.run('signal') == bare and bare[0] in (signal.SIGSEGV, -signal.SIGSEGV)  # libcob's handler may end it by exit()
    has(room.tool('recover'), 'died of SIGSEGV: its dump is')
    has(room.status(), '^ REASON +signal SIGSEGV$', '^ SIGNAL +SIGSEGV$', '^ PROGRAM-ID +payroll$', '^ PARAGRAPH +check-what$',
        f'^ LINE +{line_of(PROGRAM, "        call " + chr(34) + "raise" + chr(34) + " using by value 11.")}$', '^ REGISTERS$', '^ TRACEBACK$', r'^   0x.* payroll_\+')
    assert room.run('perform')[0] == 1 and not room.dumps()


def the_program_itself(room):
    for flags, knows_paragraph in ((('-debug',), True), (('-g',), False)):
        room.compile(*flags)
        assert room.run('dump')[0] == 0
        text = room.status()
        has(text, '^ TITLE +a title$', '^ REASON +CBL_CTRACE_DUMP$', '^ PROGRAM-ID +payroll$', r'^ LINE +\d+$')
        assert bool(re.search('^ PARAGRAPH +check-what$', text, re.M)) == knows_paragraph, text


def nothing_is_asked_for(room):
    room.compile('-debug')
    assert room.run('perform')[0] == 1
    assert not room.dumps()


def without_the_library(room):
    room.compile('-debug')
    assert room.run('perform', library=None)[0] == 1
    assert not room.dumps()
    has(room.tool('doctor', '--', room.at('payroll'), 'none', status=1), 'was not loaded: ctrace run loads it; without it no run-time error is traced or dumped$')


TESTS = [
    (a_run_time_error, 'ctrace.dump.on = cobol-error'),
    (a_status_without_an_error, 'ctrace.dump.on = exit-status, cobol-error'),
    (a_signal, 'ctrace.dump.on = fatal-signal'),
    (the_program_itself, ''),
    (nothing_is_asked_for, 'ctrace.dump.on = abort'),
    (without_the_library, 'ctrace.dump.on = cobol-error'),
]


def main():
    failed = 0

    if not os.path.exists(LIBRARY):
        print('1..0 # SKIP libctrace-cobol.so is not built: there is no libcob.h')
        return 0
    for number, (test, settings) in enumerate(TESTS, 1):
        try:
            test(Room(settings))
            print(f'ok {number} - {test.__name__}', flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f'not ok {number} - {test.__name__}')
            print('# ' + traceback.format_exc().rstrip().replace('\n', '\n# '), flush=True)
    print(f'1..{len(TESTS)}')
    return failed != 0


sys.exit(main())
