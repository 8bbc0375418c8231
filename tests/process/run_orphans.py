#!/usr/bin/env python3
"""ctrace run alone killed with SIGKILL: what it started goes on untraced, and its events until then are in the trace, once each.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
PATIENCE = 60
EVENTS = 3000
EVENT_SIZE = 20
PROGRAM = """\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. ENDLESS.
       PROCEDURE DIVISION.
       BEGIN-IT.
           PERFORM WORK-IT 10 TIMES.
           DISPLAY "WORKS" UPON SYSERR.
           PERFORM WORK-IT UNTIL 1 = 2.
       WORK-IT.
           CALL "usleep" USING BY VALUE 1000.
"""


def await_that(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def programs(directory):
    """The processes of the program that have this working directory."""
    found = []
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            if os.readlink(f'/proc/{name}/exe').endswith('/endless') and os.readlink(f'/proc/{name}/cwd') == directory:
                found.append(int(name))
        except OSError:
            pass
    return found


def levels():
    """The level of the run time's component in each traced process."""
    found, pid = {}, 0
    for line in subprocess.run(['ctrace', 'list'], capture_output=True, text=True, check=False).stdout.splitlines():
        words = line.split()
        if not words:
            continue
        if not line.startswith(' '):
            pid = int(words[0])
        elif words[0] == 'mf.rts':
            found[pid] = words[1]
    return found


def all_have(pids, level):
    found = levels()
    return all(found.get(pid) == level for pid in pids)


def all_work(path, count):
    with open(path, encoding='utf-8') as file:
        return file.read().count('WORKS') == count


def size(trace):
    return sum(os.path.getsize(os.path.join(directory, name)) for directory, _, names in os.walk(trace) for name in names)


def closing_marks(trace):
    count = 0
    for directory, _, names in os.walk(trace):
        if 'metadata' in names:
            with open(os.path.join(directory, 'metadata'), encoding='utf-8') as file:
                count += '/* closed\n' in file.read()
    return count


def case(name, words, count, ends_in_order=False):
    directory = os.path.abspath(name.replace(' ', '-'))
    os.mkdir(directory)
    os.symlink('../endless', os.path.join(directory, 'endless'))
    with open(f'{directory}.err', 'wb') as errors:
        run = subprocess.Popen(['ctrace', 'run', '-o', 'it.ctb', '--summary=never', *words], cwd=directory,
                               stdin=subprocess.DEVNULL, stderr=errors, stdout=subprocess.DEVNULL)
    started = await_that(lambda: all_work(f'{directory}.err', count) and all_have(programs(directory), 'DEBUG'))
    pids = programs(directory)
    if ends_in_order:
        open(f'{directory}/go', 'w', encoding='ascii').close()
    else:
        run.kill()
    run.wait()
    if ends_in_order:
        # The program sleeps a millisecond an event: so much is not written before it has looked for its run several times.
        wanted = size(f'{directory}/it.ctb') + EVENTS * EVENT_SIZE
        grows = await_that(lambda: size(f'{directory}/it.ctb') > wanted)
        checks.check(f'{name}: goes on, and is traced', started and grows and programs(directory) == pids and all_have(pids, 'DEBUG'), started, grows, pids, levels())
    else:
        off = await_that(lambda: all_have(pids, 'NONE'))
        checks.check(f'{name}: goes on, untraced', started and off and programs(directory) == pids, started, off, pids, levels())
        marks = await_that(lambda: closing_marks(f'{directory}/it.ctb') == count)
        checks.check(f'{name}: the outputs are closed in order', marks)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    await_that(lambda: not programs(directory))
    if not ends_in_order:
        subprocess.run(['ctrace', 'recover'], capture_output=True, check=False)
    stats = subprocess.run(['ctrace', 'show', 'it.ctb'], cwd=directory, capture_output=True, text=True, check=False)
    checks.check(f'{name}: the events until then are in the trace', stats.returncode == 0 and stats.stdout.count('WORK-IT') > 0, stats.stderr)
    left = [one for one in os.listdir(directory) if one not in ('endless', 'it.ctb', 'go')]
    checks.check(f'{name}: nothing is written elsewhere', left == [], left)


if not os.path.exists(os.path.join(os.environ['CTRACE_BUILD'], 'libctrace-cobol.so')):
    checks.skip('ctrace run killed alone', 'libctrace-cobol.so was not built')
    checks.end()
with open('endless.cob', 'w', encoding='ascii') as source:
    source.write(PROGRAM)
subprocess.run(['cobc', '-x', '-ftrace', '-o', 'endless', 'endless.cob'], check=True)
case('one', ['./endless'], 1)
case('a script of several', ['sh', '-c', './endless & ./endless & (./endless & wait) & wait'], 3)
case('a session of its own', ['sh', '-c', 'setsid ./endless & while [ ! -e go ]; do sleep 0.1; done'], 1, ends_in_order=True)
case('a daemon', ['sh', '-c', 'setsid ./endless & sleep 600 & wait $!'], 1)
checks.end()
