#!/usr/bin/env python3
"""ctrace run, and its program, killed or sent signals at random moments.

Each record has a number of its own, so the trace shows whether an event is missing or there twice.  After the next run no temporary file and
no process directory is left.  CTRACE_TEST_LONG=1 makes more rounds.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
RUN = os.environ['CTRACE_RUN_DIR']
TMP = os.environ['TMPDIR']
ROUNDS = 40 if os.environ.get('CTRACE_TEST_LONG') else 4
PATIENCE = 60
PROGRAM = """\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. RECORDS.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT OUT-FILE ASSIGN TO "out.dat"
               ORGANIZATION IS LINE SEQUENTIAL FILE STATUS IS FS.
       DATA DIVISION.
       FILE SECTION.
       FD OUT-FILE.
       01 OUT-REC PIC 9(9).
       WORKING-STORAGE SECTION.
       01 FS PIC XX.
       01 N PIC 9(9) VALUE 0.
       PROCEDURE DIVISION.
       BEGIN-IT.
           OPEN OUTPUT OUT-FILE.
           PERFORM WORK-IT 30000 TIMES.
           CLOSE OUT-FILE.
           STOP RUN RETURNING 5.
       WORK-IT.
           ADD 1 TO N.
           MOVE N TO OUT-REC.
           WRITE OUT-REC.
"""


def children(pid):
    try:
        with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
            return [int(one) for one in file.read().split()]
    except OSError:
        return []


def is_program(pid):
    try:
        return os.readlink(f'/proc/{pid}/exe').endswith('/records')
    except OSError:
        return False


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def the_tool(tool):
    kill(tool.pid)


def the_program(tool):
    for pid in children(tool.pid):
        if is_program(pid):
            kill(pid)


def both(tool):
    pids = [pid for pid in children(tool.pid) if is_program(pid)]
    for pid in [tool.pid, *pids]:
        kill(pid)


def the_group(tool):
    try:
        os.killpg(tool.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def signaled(number):
    def send(tool):
        kill(tool.pid, number)
    send.__name__ = number.name
    send.number = number
    return send


def records(*traces):
    """The numbers of the records in the trace that the run made, and the losses that it reports."""
    best, lost = [], 0
    for trace in traces:
        if not os.path.isdir(trace):
            continue
        done = subprocess.run(['ctrace', 'show', trace], capture_output=True, text=True, timeout=PATIENCE, check=False)
        stats = subprocess.run(['ctrace', 'stats', '--json', trace], capture_output=True, text=True, timeout=PATIENCE, check=False)
        best += [int(bytes.fromhex(one)) for one in re.findall(r'WRITE .*record=([0-9A-F-]+)', done.stdout.replace('-', ''))]
        lost += json.loads(stats.stdout or '{"lost": 0}')['lost']
    return best, lost


def processes_of_program():
    return [int(pid) for pid in os.listdir('/proc') if pid.isdigit() and is_program(int(pid)) and
            os.path.exists(f'/proc/{pid}/cwd') and os.path.realpath(f'/proc/{pid}/cwd') == os.path.realpath('.')]


def one_round(what, delay):
    for name in ('x.ctb', 'x.ctb.old', *(os.path.join(TMP, left) for left in os.listdir(TMP))):
        shutil.rmtree(name, ignore_errors=True)
    subprocess.run(['ctrace', 'run', '--summary=never', '--records', '-o', 'x.ctb', './records'], capture_output=True, timeout=PATIENCE, check=False)
    before = records('x.ctb')[0]
    tool = subprocess.Popen(['ctrace', 'run', '--summary=never', '--records', '-o', 'x.ctb', './records'], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, process_group=0)
    time.sleep(delay)
    what(tool)
    errors = tool.communicate(timeout=PATIENCE)[1].decode(errors='replace')
    end = time.monotonic() + PATIENCE
    while processes_of_program() and time.monotonic() < end:
        time.sleep(0.01)
    after = subprocess.run(['ctrace', 'run', '--summary=never', '-o', 'next.ctb', './records'], capture_output=True, text=True,
                           timeout=PATIENCE, check=False)
    subprocess.run(['ctrace', 'recover'], capture_output=True, timeout=PATIENCE, check=False)
    problems = []
    if after.returncode != 5:
        problems.append(('the next run', after.returncode, after.stderr))
    left = os.listdir(TMP) + [name for name in os.listdir(RUN) if re.fullmatch(r'\d+\.\d+', name)]
    if left:
        problems.append(('left', left))
    seen, lost = records('x.ctb', 'x.ctb.old')
    # The trace of the complete run, and that of the killed one, which has the beginning of the records.
    counts = Counter(seen)
    twice = [one for one in range(1, 30001) if counts[one] == 2]
    if len(before) != 30000 or any(counts[one] not in (1, 2) for one in range(1, 30001)) or twice != list(range(1, len(twice) + 1)):
        problems.append(('records', len(before), len(seen), len(twice), twice[:3]))
    if lost:
        problems.append(('lost', lost))
    # libcob ends with the number of the signal; one that comes before libcob catches it, or after the program, is deadly
    number = getattr(what, 'number', signal.SIGKILL)
    wanted = {5, -number} | ({number} if number != signal.SIGKILL else set())
    if tool.returncode not in wanted:
        problems.append(('status', tool.returncode, errors))
    return problems


def check_goes_on():
    """The program outlives its tool, which ended in order, and another run takes the name of its trace."""
    for name in ('x.ctb', 'x.ctb.old'):
        shutil.rmtree(name, ignore_errors=True)
    for name in ('in', 'out'):
        os.mkfifo(name)
    tool = subprocess.Popen(['ctrace', 'run', '--summary=never', '--records', '-o', 'x.ctb', 'sh', '-c',
                             'setsid ./waits <in >out & while [ ! -e half ]; do sleep 0.05; done'], stderr=subprocess.DEVNULL)
    program_in, program_out = open('in', 'w', encoding='ascii'), open('out', encoding='ascii')
    program_out.readline()
    open('half', 'w', encoding='ascii').close()
    tool.wait(PATIENCE)
    runs = [subprocess.run(['ctrace', 'run', '--summary=never', '-o', 'x.ctb', './records'], capture_output=True, text=True, timeout=PATIENCE,
                           check=False) for _ in range(2)]
    checks.same('the next run of the name', runs[0].returncode, 5)
    checks.check('the run after it is refused while a process writes to the earlier trace',
                 runs[1].returncode == 125 and 'x.ctb.old: a process of that run still writes to it' in runs[1].stderr, runs[1])
    with program_in, program_out:
        program_in.write('\n')
        program_in.flush()
        program_out.read()
    seen, lost = records('x.ctb.old')
    checks.check('all of its events are in the earlier trace', seen == list(range(1, 2001)) and lost == 0, len(seen), lost)


def main():
    if shutil.which('cobc') is None or not os.path.exists(os.path.join(os.environ['CTRACE_BUILD'], 'libctrace-cobol.so')):
        checks.skip('ctrace run is killed', 'no cobc')
        return checks.end()
    with open('records.cob', 'w', encoding='ascii') as file:
        file.write(PROGRAM)
    with open('waits.cob', 'w', encoding='ascii') as file:
        file.write(PROGRAM.replace('30000 TIMES.', '1000 TIMES.\n           DISPLAY "HALF".\n           ACCEPT FS.\n           PERFORM WORK-IT 1000 TIMES.')
                   .replace('RECORDS', 'WAITS').replace('out.dat', 'waits.dat'))
    for name in ('records', 'waits'):
        subprocess.run(['cobc', '-x', f'{name}.cob'], check=True)
    began = time.monotonic()
    subprocess.run(['ctrace', 'run', '--summary=never', '--records', '-o', 'x.ctb', './records'], capture_output=True, timeout=PATIENCE, check=False)
    takes = time.monotonic() - began
    seed = int(os.environ.get('CTRACE_TEST_SEED', '0')) or random.randrange(1, 1 << 30)
    moments = random.Random(seed)
    for what in (the_tool, the_program, both, the_group, *map(signaled, (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))):
        problems = []
        for turn in range(ROUNDS):
            # At the beginning, in the middle, at the end.
            delay = takes * (moments.random() * 0.2 if turn % 2 == 0 else moments.random() * 1.1)
            problems += [(round(delay, 4), *one) for one in one_round(what, delay)]
        checks.check(f'{what.__name__.replace("_", " ")}: nothing is left, missing or there twice', not problems, f'CTRACE_TEST_SEED={seed}', *problems)
    check_goes_on()
    return checks.end()


sys.exit(main())
