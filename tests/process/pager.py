#!/usr/bin/env python3
"""ctrace show on a terminal: a pager when there is more than a screen, none otherwise; and a line about long work that goes away again.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import glob
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import termios
import threading

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

BUILD = os.environ['CTRACE_BUILD']
PATIENCE = 120  # seconds, only to stop what hangs
checks = tap.Tap(is_live=True)
check = checks.check


def on_terminal(*command, rows=24, mark=None, **environment):
    """What a person sees, and the exit status.  mark: a text, and the event that is set when it is seen."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(environment)
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, 80, 0, 0))
    seen = b''
    text, found = mark or (b'', None)
    while select.select([terminal], [], [], PATIENCE)[0]:
        try:
            some = os.read(terminal, 65536)
        except OSError:
            break
        if not some:
            break
        seen += some
        if found is not None and text in seen:
            found.set()
    return seen.decode().replace('\r\n', '\n'), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


with open('cfg', 'w') as config:
    config.write('mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#file = a.ctb\n')
subprocess.run([f'{BUILD}/tests/orders', '100'], env={**os.environ, 'MFTRACE_CONFIG': 'cfg'}, check=True)
trace = glob.glob('a.ctb*')[0]
with open('pager', 'w') as script:
    script.write('#!/bin/sh\necho "<$LESS>"\nexec sed "s/^/| /"\n')
os.chmod('pager', 0o755)
pager = os.path.abspath('pager')

seen, status = on_terminal('ctrace', 'show', '--color=never', trace, PAGER=pager)
lines = seen.splitlines()
check('more than a screen goes through the pager', len(lines) == 517 and lines[1].startswith('| '), seen)
check('which shows colours, and short texts at once', lines[0] == '<FRX>', lines[0])
check('and the status is that of reading', status == 0, status)
seen, status = on_terminal('ctrace', 'show', '--limit', '5', '--color=never', trace, PAGER=pager)
check('less than a screen does not', len(seen.splitlines()) == 5 and '|' not in seen, seen)
seen, status = on_terminal('ctrace', 'show', '--no-pager', '--color=never', trace, PAGER=pager)
check('--no-pager', len(seen.splitlines()) == 516 and '| ' not in seen, seen)
seen, status = on_terminal('ctrace', 'show', '--color=never', trace, PAGER='cat')
check('PAGER=cat: none', len(seen.splitlines()) == 516, seen)
with open('lacking', 'w') as script:
    script.write('#!/nosuch/interpreter\n')
os.chmod('lacking', 0o755)
os.mkdir('directory')
for command, reason in (('/nosuch/pager -x', ': No such file or directory'), ('./lacking', ': No such file or directory'),
                        ('./directory', ': Permission denied'), ('X=1 ./directory', ''), ('nosuchpager | cat', '')):
    seen, status = on_terminal('ctrace', 'show', '--color=never', trace, PAGER=command)
    said = f'ctrace show: the pager {command} cannot be run{reason}; the output is printed without one'
    lines = seen.splitlines()
    check(f'a pager that cannot be run costs nothing: {command}', lines.count(said) == 1 and len(lines) == 517 and status == 0,
          (seen[:200], status))
seen, status = on_terminal('ctrace', 'show', '--color=never', trace, PAGER=f'X=1 {pager} | cat')
check('a pager that needs a shell', len(seen.splitlines()) == 517 and status == 0, (seen[:200], status))
seen, status = on_terminal('ctrace', 'show', '--count', trace, PAGER=pager)
check('a number needs none', seen == '516\n', seen)
seen, status = on_terminal('ctrace', 'show', '--color=never', trace, PAGER='head -2')
check('a pager that ends first ends it', len(seen.splitlines()) == 2, seen)
shown = subprocess.run(['ctrace', 'show', trace], stdout=subprocess.PIPE, env={**os.environ, 'PAGER': pager}, check=True).stdout.decode()
check('no pager in a pipe', len(shown.splitlines()) == 516 and '| ' not in shown, shown)

# Work that takes long: a trace on which reading waits until the line has been seen.
seen, status = on_terminal('ctrace', 'stats', trace)
check('work that is done soon shows no progress', '\x1b[K' not in seen, seen)
with open('cfg', 'w') as config:
    config.write('mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#file = big.ctb\nctrace.overflow = block\n')
subprocess.run([f'{BUILD}/tests/tool_subject', '400000'], env={**os.environ, 'MFTRACE_CONFIG': 'cfg'}, stdin=subprocess.DEVNULL,
               stdout=subprocess.DEVNULL, check=True)
seen, status = on_terminal('ctrace', 'show', '--color=never', 'big.ctb', PAGER='head -2')
check('a pager that is left before the end: nothing is wrong', status == 0 and len(seen.splitlines()) == 2, (status, seen))
shutil.copytree('big.ctb', 'damaged.ctb')
with open('damaged.ctb/stream.0', 'r+b') as stream:
    stream.write(b'\0\0\0\0')  # of the first packet's magic number
seen, status = on_terminal('ctrace', 'show', '--color=never', 'damaged.ctb', PAGER='sed -u "s/^/| /; 3q"')
check('the pager is left before the end of a damaged trace', '\n| ' in seen and len(seen.splitlines()) < 20, (status, seen))
check('and something is wrong', status == 1, (status, seen))
os.mkfifo('hold')
is_shown = threading.Event()


def read_slowly():
    """What a pipe holds at a time until the line is seen, so that the work takes as long as that needs."""
    with open('hold', 'rb', buffering=0) as pipe:
        while pipe.read(1 << 20 if is_shown.is_set() else 1 << 16):
            if not is_shown.is_set():
                is_shown.wait(0.05)


reader = threading.Thread(target=read_slowly)
reader.start()
seen, status = on_terminal('ctrace', 'export', '-f', 'json', '-o', 'hold', 'big.ctb', mark=(b'ctrace export: ', is_shown))
is_shown.set()
reader.join()
check('long work shows how far it is', 'ctrace export: ' in seen and ' events, ' in seen and ' %' in seen, seen)
check('and takes the line away', seen.rstrip('\n').endswith('\r\x1b[K'), seen)
sys.exit(checks.end())
