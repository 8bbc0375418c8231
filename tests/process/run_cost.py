#!/usr/bin/env python3
"""What `ctrace run` costs a short program, in what can be counted on any machine: system calls, opened files, looks at run directories
and at other processes.

The program is compiled COBOL that prints a line.  It runs for the first time in its directory, and then where the traces of two earlier
runs are.  Calls that wait are not counted: how often a thread wakes is a matter of time.  Each limit is the count of today and some room
for other versions of the loader and of libc; a change that needs more says in its commit what it is for.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

WAITS = {'futex', 'poll', 'ppoll', 'restart_syscall', 'wait4', 'rt_sigtimedwait', 'exit', 'exit_group'}
PROGRAM = """       IDENTIFICATION DIVISION.
       PROGRAM-ID. HI.
       PROCEDURE DIVISION.
           DISPLAY 'HI'.
           STOP RUN.
"""
# What is counted, and the most of it: beyond the same program without ctrace, on the first run and on a later one.
LIMITS = {'system calls': (900, 960), 'opened files': (90, 100)}
RUN_DIRECTORY = os.environ['CTRACE_RUN_DIR']

checks = tap.Tap(is_live=True)
if not os.path.exists(os.path.join(os.environ['CTRACE_BUILD'], 'libctrace-cobol.so')):
    print('1..0 # SKIP built without libcob')
    sys.exit(0)
if shutil.which('strace') is None or subprocess.run(['strace', '-f', '-qq', '-o', 'strace.out', 'true'], check=False).returncode != 0:
    print('1..0 # SKIP strace does not work here')
    sys.exit(0)
with open('hi.cob', 'w', encoding='ascii') as source:
    source.write(PROGRAM)
subprocess.run(['cobc', '-x', '-o', 'hi', 'hi.cob'], check=True)
for variable in ('TMPDIR', 'LD_LIBRARY_PATH'):  # each directory in the latter costs calls of the loader
    os.environ.pop(variable, None)


def traced(*words):
    """Returns the calls that the command and its children make: process, name, arguments."""
    done = subprocess.run(['strace', '-f', '-qq', '-s', '4096', '-o', 'strace.out', *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, 'HI\n', ''), done
    with open('strace.out', encoding='utf-8', errors='replace') as file:
        calls = re.findall(r'^(\d+) +(\w+)\((.*)', file.read(), re.M)
    return [call for call in calls if call[1] not in WAITS]


def opened(calls, pattern, process=None):
    return sum(name == 'openat' and re.search(pattern, rest) is not None and process in (None, number) for number, name, rest in calls)


plain = traced('./hi')
runs = [traced('ctrace', 'run', '--summary=never', './hi') for _ in range(4)]
for which, calls, column in (('the first run', runs[0], 0), ('a later run', runs[-1], 1)):
    tool = calls[0][0]
    counts = {'system calls': len(calls) - len(plain), 'opened files': opened(calls, '') - opened(plain, '')}
    for what, count in counts.items():
        checks.check(f'{which}: {what}: {count}, at most {LIMITS[what][column]}', count <= LIMITS[what][column])
    looks = opened(calls, f'"{re.escape(RUN_DIRECTORY)}", .*O_DIRECTORY', tool)
    checks.check(f'{which}: the run directory is read once, and once for leftovers of killed tools', looks <= 2, looks)
    checks.same(f'{which}: no other process is looked at', opened(calls, r'"/proc/\d+/environ"'), 0)
    checks.same(f'{which}: no catalogue is read', opened(calls, r'\.yaml"|libyaml|catalog\.so') - opened(calls, 'libyaml', tool), 0)
    checks.same(f'{which}: the tool starts no thread', sum(name == 'clone3' and number == tool for number, name, _ in calls), 0)
sys.exit(checks.end())
