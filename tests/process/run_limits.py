#!/usr/bin/env python3
"""Limits that a program of ctrace run meets: address space (ulimit -v), the length of a name, the size of files (ulimit -f); and a run in a run.

The program runs as it does untraced, and each sentence is true.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
LIBRARY = os.path.join(os.environ['CTRACE_BUILD'], 'libctrace-cobol.so')
PATIENCE = 60  # seconds, only to stop what hangs
PROGRAM = """\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SORTS.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT WORK-FILE ASSIGN TO "WORK-FILE".
       DATA DIVISION.
       FILE SECTION.
       SD WORK-FILE.
       01 WORK-RECORD PIC X(100).
       WORKING-STORAGE SECTION.
       01 N PIC 9(9).
       01 IS-LAST PIC 9 VALUE 0.
       PROCEDURE DIVISION.
       BEGIN-IT.
           ACCEPT N FROM COMMAND-LINE.
           SORT WORK-FILE ON ASCENDING KEY WORK-RECORD
               INPUT PROCEDURE FEED-IT OUTPUT PROCEDURE DRAIN-IT.
           DISPLAY "sorted " N.
           STOP RUN.
       FEED-IT.
           PERFORM N TIMES
               MOVE "a" TO WORK-RECORD RELEASE WORK-RECORD
           END-PERFORM.
       DRAIN-IT.
           PERFORM UNTIL IS-LAST = 1
               RETURN WORK-FILE AT END MOVE 1 TO IS-LAST END-RETURN
           END-PERFORM.
"""


def run(*words, limits=(), **variables):
    def before():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
        for kind, most in limits:
            resource.setrlimit(kind, (most, resource.RLIM_INFINITY))
    return subprocess.run(words, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
                          preexec_fn=before, check=False)


def traces(name):
    return [one for one in os.listdir(name) if one.endswith('.ctb')] if os.path.isdir(name) else []


def least_kib():
    """The least address space in which the untraced program works."""
    low, high = 16 << 10, 128 << 10
    while high - low > 256:
        middle = (low + high) // 2
        if run('./sorts', '200', limits=[(resource.RLIMIT_AS, middle << 10)]).returncode == 0:
            high = middle
        else:
            low = middle
    return high


def address_space(least):
    for more in (256, 2 << 10, 4 << 10, 6 << 10, 8 << 10, 12 << 10, 24 << 10):
        kib = least + more
        done = run('ctrace', 'run', '-o', 'little.ctb', './sorts', '200', limits=[(resource.RLIMIT_AS, kib << 10)])
        checks.same(f'{more} KiB more than the program needs: it runs, and the reason is reported at once',
                    (done.returncode, done.stdout, done.stderr),
                    (0, 'sorted 000000200\n', f'ctrace run: ./sorts: its limit of {kib} KiB of address space (ulimit -v) has no room for tracing, '
                     'which is from 262144 KiB on; the program runs untraced\n'))
    checks.check('no trace is made', not os.path.exists('little.ctb'))
    done = run('ctrace', 'run', '-o', 'enough.ctb', './sorts', '200', limits=[(resource.RLIMIT_AS, 256 << 20)])
    checks.check('256 MiB are enough', done.returncode == 0 and done.stdout and not done.stderr and traces('enough.ctb'), done)
    # A limit that a script sets is not seen before: what is not traced keeps no address space but the libraries.
    for more in (4 << 10, 6 << 10, 8 << 10):
        done = run('ctrace', 'run', '-o', 'script.ctb', 'prlimit', f'--as={(least + more) << 10}', './sorts', '200')
        why = 'its limit on address space (ulimit -v), or its memory, has no room for tracing'
        checks.check(f'limited in the run, {more} KiB more than needed: it runs', done.returncode == 0 and done.stdout == 'sorted 000000200\n' and
                     'ended before' not in done.stderr and (traces('script.ctb') or why in done.stderr), done)


def mapped(limit, config):
    """KiB of address space that the traced program has beyond the untraced one."""
    sizes = []
    for variables in ({}, {'LD_PRELOAD': LIBRARY, 'MFTRACE_CONFIG': config}):
        child = subprocess.Popen(['./waits'], env={**os.environ, **variables}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        child.stdout.readline()
        with open(f'/proc/{child.pid}/status', encoding='ascii') as status:
            sizes.append(int(re.search(r'VmPeak:\s*(\d+)', status.read()).group(1)))
        child.communicate(b'\n', timeout=PATIENCE)
    return sizes[1] - sizes[0]


def address_space_taken(config):
    for mib in (200, 400, 1000):
        found = mapped(mib << 20, config)
        checks.check(f'a limit of {mib} MiB: tracing takes 16 MiB and a part of it', found <= (16 << 10) + (mib << 10) // 32, found)


def doctor(least, config):
    done = run('ctrace', 'doctor', './sorts', '10', limits=[(resource.RLIMIT_AS, (least + (4 << 10)) << 10)], LD_PRELOAD=LIBRARY, MFTRACE_CONFIG=config)
    checks.check('ctrace doctor names the limit', re.search(
        r'^components +not known: its limit on address space \(ulimit -v\), or its memory, has no room for tracing$', done.stdout, re.M), done)
    checks.check('and the configuration', re.search(f'^configuration +{re.escape(config)}: not known whether it was read', done.stdout, re.M), done)


def names():
    for what, name in (('bytes', 'n' * 250), ('characters', 'ä' * 125)):
        shutil.copy('sorts', name)
        for words in (('-o', 'x.ctb'), (), ()):
            done = run('ctrace', 'run', *words, f'./{name}', '3')
            checks.check(f'a long name of {what}: {words}', done.returncode == 0 and done.stdout and not done.stderr, done)
        made = traces('x.ctb') + [one for one in os.listdir('.') if one.startswith(name[:20]) and one != name]
        checks.check('whole characters, and the earlier trace', len(made) == 3 and all(len(os.fsencode(one)) < 220 for one in made), made)
        checks.same('nothing waits', run('ctrace', 'recover').stdout, 'nothing to recover\n')
        os.unlink(name)


def moved():
    done = run('ctrace', 'run', '-o', 'p.ctb', 'sh', '-c', 'mv p.ctb january.ctb; ./sorts 3')
    checks.check('a trace that was renamed: not a failure that passes', re.search(r'wait, because .*\(No such file or directory\); '
                 'ctrace recover adds them once that is mended', done.stderr), done)
    done = run('ctrace', 'recover')
    checks.check('ctrace recover names the cure', done.returncode == 1 and 'the trace of its run is not there, nor as TRACE.old; give it its name back'
                 in done.stderr, done)
    os.rename('january.ctb', 'p.ctb')
    done = run('ctrace', 'recover')
    checks.check('and then delivers', done.returncode == 0 and re.search(r'1 of 1 recovered, [1-9]', done.stdout), done)


def killed_by_file_size():
    told = 'got no directory in a run directory: its limit on the size of files (ulimit -f) is too small; '
    for words in (('./writes',), ('sh', '-c', './writes; exit $?')):
        done = run('ctrace', 'run', '-o', 'f.ctb', *words, limits=[(resource.RLIMIT_FSIZE, 8 << 10)])
        shown = run('ctrace', 'show', 'f.ctb').stdout if traces('f.ctb') else ''
        counted = 'only its trace counts what it lost' if 'lost' in shown.lower() else 'the trace does not count what it lost' if shown else \
            'nothing is in the trace, not even what it lost'
        checks.check(f'killed by SIGXFSZ, {words[0]}: what is not counted is not said to be', done.returncode in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ)
                     and told + counted in done.stderr, shown, done)


def nested():
    for what, script, wanted in (
            ('a run in a run', 'ctrace run -o inner.ctb ./sorts 3', 'sh: the ctrace run inside has the trace'),
            ('several', 'for i in 1 2; do ctrace run -o inner$i.ctb ./sorts 3 & done; wait', 'sh: the ctrace runs inside have the traces')):
        done = run('ctrace', 'run', '--summary=always', '-o', 'outer.ctb', 'sh', '-c', script)
        checks.check(what, f'ctrace run: {wanted}\n' in done.stderr and 'nothing of' not in done.stderr and traces('inner.ctb'), done)


def main():
    if not os.path.exists(LIBRARY):
        checks.skip('limits of a run', 'libctrace-cobol.so was not built')
        return checks.end()
    with open('sorts.cob', 'w', encoding='ascii') as source:
        source.write(PROGRAM)
    with open('waits.cob', 'w', encoding='ascii') as source:
        source.write('       IDENTIFICATION DIVISION.\n       PROGRAM-ID. WAITS.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n'
                     '       01 A PIC X.\n       PROCEDURE DIVISION.\n           DISPLAY "ready". ACCEPT A. STOP RUN.\n')
    with open('writes.cob', 'w', encoding='ascii') as source:
        source.write('       IDENTIFICATION DIVISION.\n       PROGRAM-ID. WRITES.\n       ENVIRONMENT DIVISION.\n       INPUT-OUTPUT SECTION.\n'
                     '       FILE-CONTROL.\n           SELECT F ASSIGN TO "written"\n           ORGANIZATION IS LINE SEQUENTIAL.\n       DATA DIVISION.\n       FILE SECTION.\n       FD F.\n'
                     '       01 R PIC X(100).\n       PROCEDURE DIVISION.\n           OPEN OUTPUT F. MOVE ALL "a" TO R.\n'
                     '           PERFORM 200 TIMES WRITE R END-PERFORM. CLOSE F. STOP RUN.\n')
    for name in ('sorts', 'waits', 'writes'):
        subprocess.run(['cobc', '-x', '-ftrace', '-o', name, f'{name}.cob'], check=True)
    config = os.path.abspath('traced.cfg')
    with open(config, 'w', encoding='ascii') as file:
        file.write('mftrace.level = debug\nmftrace.dest = binfile\nmftrace.comp.mf.rts#all = true\n')
    names()
    moved()
    killed_by_file_size()
    nested()
    if b'libasan' not in subprocess.run(['ldd', LIBRARY], stdout=subprocess.PIPE, check=True).stdout:
        least = least_kib()
        address_space(least)
        address_space_taken(config)
        doctor(least, config)
    return checks.end()


sys.exit(main())
