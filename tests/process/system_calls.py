#!/usr/bin/env python3
"""The system calls of a traced program are those of the table in docs/recovery.md, by which people write filters.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
from tap import Tap  # pylint: disable=wrong-import-position

SOURCE, BUILD = os.environ['CTRACE_SOURCE'], os.environ['CTRACE_BUILD']
SUBJECT = os.path.join(BUILD, 'tests', 'dormant_subject')
PATIENCE = 60  # seconds, only to stop what hangs
BEGIN = 'rt_sigaction(SIGUSR1'  # the subject's first call of its own
READY = 'write(1, "ready'  # its tracers are registered
OWN = {'write', 'read'}  # the subject's, on its stdin and stdout
tap = Tap(is_live=True)

with open(os.path.join(SOURCE, 'docs', 'recovery.md'), encoding='utf-8') as page:
    table = re.search(r'\n\| the process \| makes these.*?\n\n', page.read(), re.S)[0].strip().splitlines()[2:]
rows = [set(re.findall(r'[a-z0-9_]+', line.split('|')[2])) for line in table]
DORMANT, TRACES, JOURNAL = rows[0] | rows[1] | OWN, set().union(*rows[:3]), set().union(*rows[:4])


def until_called(path, call):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with open(path, encoding='utf-8', errors='replace') as file:
            if call in file.read():
                return
        time.sleep(0.02)


def calls(path, destination, orders, tools):
    """The names of the calls of a run, and how it ended."""
    environment = {**os.environ, 'CTRACE_RUN_DIR': os.path.join(path, 'run'), 'MFTRACE_LOGS': path}
    environment.pop('MFTRACE_CONFIG', None)
    if destination:
        environment['MFTRACE_CONFIG'] = os.path.join(path, 'cfg')
        with open(environment['MFTRACE_CONFIG'], 'w', encoding='utf-8') as file:
            file.write(f'mftrace.level = debug\nmftrace.dest = {destination}\n')
    out = os.path.join(path, 'strace.out')
    with subprocess.Popen(['strace', '-f', '-o', out, SUBJECT], env=environment, cwd=path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as process:
        process.stdout.readline()
        for tool in tools:
            subprocess.run([os.path.join(BUILD, 'ctrace'), *tool], env=environment, cwd=path, capture_output=True, timeout=PATIENCE, check=False)
        for order in orders:
            if order.startswith('await '):
                until_called(out, order.split()[1] + '(')
                continue
            process.stdin.write(order + '\n')
            process.stdin.flush()
            process.stdout.readline()
        process.stdin.close()
        process.wait(timeout=PATIENCE)
    with open(out, encoding='utf-8', errors='replace') as file:
        text = file.read()
    text = text[text.index('\n', text.index(BEGIN)):]
    return names(text), names(text[text.index(READY):]), process.returncode


def names(text):
    return set(re.findall(r'^\d+ +(?:<\.\.\. )?([a-z0-9_]+)(?:\(| resumed)', text, re.M))


RUNS = [
    ('a dormant process', '', ['trace 1'], [], DORMANT),
    ('a dormant process that is looked at', '', ['trace 1'], [('list',), ('stats',)], DORMANT),
    ('a dormant process with a change left to it', '', [], [('level', 'APP.ONE', 'info')], DORMANT),
    ('a dormant process that is woken', '', ['trace 1', 'threads'], [('level', 'APP.ONE', 'info'), ('dest', 'APP.ONE', '+textfile')], TRACES),
    ('TEXTFILE', 'textfile', ['trace 3'], [], TRACES),
    # The consumer thread looks about once a second whether threads have ended.
    ('TEXTFILE, for a while', 'textfile', ['trace 3', 'await tgkill'], [], TRACES),
    ('BINFILE', 'binfile', ['trace 100000'], [], TRACES),
    ('STDERR', 'stderr', ['trace 3'], [], TRACES),
    ('STORAGE, with commands', 'storage', ['trace 3'], [('flush',), ('list',), ('level', 'APP.ONE', 'info'), ('op', 'D TRACE')], TRACES),
    ('JOURNAL', 'journal', ['trace 3'], [], JOURNAL),
    ('a child', 'binfile', ['fork', 'trace 3'], [], TRACES | {'clone', 'wait4'}),
]

if shutil.which('strace') is None or subprocess.run(['strace', '-o', os.devnull, 'true'], check=False, capture_output=True).returncode != 0:
    tap.skip('the table of system calls', 'strace cannot be used')
    sys.exit(tap.end())
for what, *run, allowed in RUNS:
    room = tempfile.mkdtemp(dir=os.getcwd())
    found, later, status = calls(room, *run)
    tap.same(f'{what}: makes no call that the table does not have', sorted(found - allowed), [])
    if allowed is DORMANT:
        tap.same(f'{what}: makes none but those of the second line after its tracers are registered', sorted(later - rows[1] - OWN), [])
    tap.same(f'{what}: ends well', status, 0)
    shutil.rmtree(room)
sys.exit(tap.end())
