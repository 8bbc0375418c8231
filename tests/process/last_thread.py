#!/usr/bin/env python3
"""A process whose last thread ends without exit() ends as it would without ctrace, and what it traced is delivered.

Each way to end is tried without the library's threads (nothing is traced) and with them: the output and the status are the same.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import itertools
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

BUILD = os.environ['CTRACE_BUILD']
SUBJECT = f'{BUILD}/tests/last_thread_subject'
TOOL = f'{BUILD}/ctrace'
HANG = 60  # stops what hangs
checks = tap.Tap(is_live=True)


def configuration(*lines):
    with open('cfg', 'w', encoding='ascii') as file:
        file.write('\n'.join(('mftrace.level = info', 'mftrace.dest = binfile', 'mftrace.emitter.binfile#location = out', *lines, '')))


def traced(**variables):
    return {**os.environ, 'MFTRACE_CONFIG': os.path.abspath('cfg'), 'CTRACE_RUN_DIR': os.path.abspath('run'), **variables}


FEW = 'no control thread', ['sh', '-c', 'ulimit -n 20; exec "$@"', 'sh']
ELSEWHERE = 'in a name space of process ids without its /proc', ['unshare', *(['--map-root-user'] if os.geteuid() else []), '--pid', '--fork']
HERE = '', []


def run(words, environment, where=HERE):
    """The status, what was said in any order, and errors.  Threads that live when main returns may be too late to say something."""
    done = subprocess.run([*where[1], SUBJECT, *words], env=environment, capture_output=True, text=True, timeout=HANG, check=False)
    return done.returncode, sorted(line for line in done.stdout.splitlines() if line != 'thread' or words[-1] != 'return'), done.stderr


def events():
    done = subprocess.run([TOOL, 'show', *glob.glob('out*')], env=traced(), capture_output=True, text=True, check=False)
    return sorted(int(number) for number in re.findall(r' LAST\s+(\d+) ', done.stdout))


def clean():
    subprocess.run(['rm', '-rf', 'out', 'run', *glob.glob('out.*')], check=True)


# What a thread of the program does before the last one ends, in every combination; then how that ends.
BEFORE = (('', 'trace'), ('', 'thread', 'thread-trace'), ('', 'end-threads'), ('', 'clone', 'clone-quiet', 'fork-exit'))
EVENTS = {'trace': 1, 'thread-trace': 2, 'clone': 3, 'exit-clone': 3, 'fork-exit': 4}


def try_end(steps, where=HERE):
    clean()
    expected = run(steps, os.environ, where)
    found = run(steps, traced(), where)
    name = ' '.join(steps) + (f' ({where[0]})' if where[0] else '')
    checks.same(f'{name}: ends as without ctrace', found, expected)
    checks.same(f'{name}: its events are there', events(), sorted(EVENTS[step] for step in steps if step in EVENTS))
    if steps[-1] != 'return' or 'thread-trace' not in steps:  # it may still trace
        checks.same(f'{name}: nothing is left', glob.glob('run/*/session'), [])


def each_end():
    configuration()
    for steps in itertools.product(*BEFORE):
        steps = [step for step in steps if step]
        if 'end-threads' not in steps and any(step.startswith('thread') for step in steps):
            continue  # it never ends
        for end in ('pthread_exit', 'return'):
            try_end([*steps, end])
    for steps in (['trace', 'pthread_exit'], ['trace', 'clone', 'return'], ['thread-trace', 'end-threads', 'pthread_exit']):
        try_end(steps, FEW)
    try_end(['trace', 'exit-clone', 'pthread_exit'])
    if subprocess.run([*ELSEWHERE[1], 'true'], capture_output=True, check=False).returncode == 0:
        try_end(['trace', 'thread-trace', 'end-threads', 'pthread_exit'], ELSEWHERE)
    else:
        checks.skip('in a name space of process ids', 'not permitted')


def a_thread_of_the_program_keeps_it():
    clean()
    process = subprocess.Popen([SUBJECT, 'trace', 'thread', 'close', 'ready', 'pthread_exit'], env=traced(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == 'ready\n'
    process.stdin.write('\n')
    process.stdin.flush()
    while open(f'/proc/{process.pid}/stat', encoding='ascii').read().rpartition(')')[2].split()[0] != 'Z':
        time.sleep(0.01)
    try:
        process.wait(3)  # longer than between two looks
    except subprocess.TimeoutExpired:
        pass
    checks.check('a thread that traces nothing keeps its process', process.poll() is None)
    done = subprocess.run([TOOL, 'doctor', str(process.pid)], env=traced(), capture_output=True, text=True, check=False)
    checks.check('doctor finds the library', re.search(r'libctrace\.so', done.stdout), done)
    done = subprocess.run([TOOL, 'recover'], env=traced(), capture_output=True, text=True, check=False)
    checks.check('nobody takes it for dead', len(glob.glob('run/*/session')) == 1, done)
    process.send_signal(signal.SIGTERM)
    checks.check('and SIGTERM ends it', process.wait(HANG) == -signal.SIGTERM)


def an_operator_makes_no_difference():
    clean()
    configuration('mftrace.level = none')
    process = subprocess.Popen([SUBJECT, 'trace', 'ready', 'trace', 'pthread_exit'], env=traced(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == 'ready\n'
    done = subprocess.run([TOOL, 'level', 'LAST', 'info'], env=traced(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    process.stdin.write('\n')
    process.stdin.flush()
    checks.check('a process that an operator woke ends', process.wait(HANG) == 0)
    checks.check('with its event', events() == [1])
    clean()
    process = subprocess.Popen([SUBJECT, 'trace', 'block', 'ready', 'pthread_exit'], env=traced(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == 'ready\n'
    process.send_signal(signal.SIGTERM)  # the program blocks it, and its end does
    process.stdin.write('\n')
    process.stdin.flush()
    checks.check('a signal that the program blocks does not end it', process.wait(HANG) == 0)


each_end()
a_thread_of_the_program_keeps_it()
an_operator_makes_no_difference()
sys.exit(checks.end())
