#!/usr/bin/env python3
"""Names of all bytes: `ctrace run` traces into -o, and a program of that name, or says in one sentence why not; the page's commands can be
pasted into a shell.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap()
PROGRAM = b"""\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SMALL.
       PROCEDURE DIVISION.
       BEGIN-IT.
           STOP RUN RETURNING 7.
"""
if not os.path.exists(os.path.join(os.environ['CTRACE_BUILD'], 'libctrace-cobol.so')):
    checks.skip('names of all bytes', 'libctrace-cobol.so was not built')
    checks.end()
with open('small.cob', 'wb') as source:
    source.write(PROGRAM)
subprocess.run(['cobc', '-x', '-ftrace', '-o', 'small', 'small.cob'], check=True)
BYTES = [bytes([number]) for number in range(1, 256) if number != ord('/')]
NOT_IN_A_PATH = [bytes([number]) for number in range(1, 32)] + [b'$']


def run(*words):
    return subprocess.run([b'ctrace', b'run', *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)


def pasted(page):
    """The commands of the page, run by a shell: True if each one finds the trace."""
    commands = re.findall(rb'^ctrace (?:show|report) .*$', page, re.MULTILINE)
    done = [subprocess.run([b'bash', b'-c', command], capture_output=True, check=False) for command in commands[:1]]
    return len(commands) == 2 and commands[0][12:] == commands[1][14:] and all(one.returncode == 0 and b'BEGIN-IT' in one.stdout for one in done)


def every_byte(what, start, is_refused_well):
    """start(byte): runs the program with that byte in a name."""
    wrong, not_pasted = [], []
    for byte in BYTES:
        done = start(byte)
        if byte in NOT_IN_A_PATH:
            good = done.stderr.count(b'\n') == 1 and is_refused_well(done)
        else:
            good = done.returncode == 7 and b'BEGIN-IT' in done.stderr
            if not pasted(done.stderr):
                not_pasted.append(byte)
        if not good:
            wrong.append((byte, done.stderr))
    checks.same(f'{what} with every byte: traced, or one sentence', wrong, [])
    checks.same(f'{what}: the command of the page can be pasted', not_pasted, [])


def run_named(byte):
    name = b'./s' + byte + b't'
    shutil.copy(b'small', name)
    done = run(b'--summary=always', name)
    os.unlink(name)
    return done


every_byte('-o', lambda byte: run(b'--summary=always', b'-o', b'o' + byte + b'p.ctb', b'./small'),
           lambda done: done.returncode == 125 and b'choose another with -o' in done.stderr)
every_byte("a program's name", run_named, lambda done: done.returncode == 7 and done.stderr.endswith(b'; the program runs untraced\n'))
checks.end()
