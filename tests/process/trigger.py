#!/usr/bin/env python3
"""Triggers with real programs: what they wait for, what they do, how often; from the configuration, by command, kept for those that come.

The subject is tests/steps, which does what its arguments say and waits for a line at each `pause`.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
from tap import Tap  # pylint: disable=wrong-import-position

BUILD = os.environ['CTRACE_BUILD']
TOOL = os.path.join(BUILD, 'ctrace')
STEPS = os.path.join(BUILD, 'tests', 'steps')
PATIENCE = 60  # seconds, only to stop what hangs
DEBUG, INFO, ERROR = '0', '1', '3'
tap = Tap(is_live=True)


class Room:
    def __init__(self, *lines):
        self.path = tempfile.mkdtemp(prefix='trigger-', dir=os.getcwd())
        os.mkdir(self.at('run'), 0o700)
        with open(self.at('app.cfg'), 'w', encoding='utf-8') as file:
            file.write('mftrace.dest = storage\nmftrace.level = debug\n' + ''.join(line + '\n' for line in lines))
        self.environment = dict(os.environ, CTRACE_RUN_DIR=self.at('run'), MFTRACE_CONFIG=self.at('app.cfg'))
        self.processes = []

    def at(self, *names):
        return os.path.join(self.path, *names)

    def start(self, *steps):
        process = subprocess.Popen([STEPS, *steps], env=self.environment, cwd=self.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True)
        self.processes.append(process)
        return process

    def finish(self, process):
        """Lets it go on to its end."""
        process.communicate('\n' * 20, timeout=PATIENCE)
        return process.returncode

    def go_on(self, process):
        process.stdin.write('\n')
        process.stdin.flush()

    def whole(self, *steps):
        return self.finish(self.start(*steps))

    def tool(self, *arguments):
        return subprocess.run([TOOL, *arguments], env=self.environment, cwd=self.path, capture_output=True, text=True, timeout=PATIENCE,
                              check=False)

    def dumps(self):
        return sorted(os.path.basename(path) for path in glob.glob(self.at('*.dump')))

    def shown(self, dump):
        return self.tool('show', '--format=$(COMPONENT) $(EVENT)$(DATA)', dump).stdout.splitlines()

    def state(self, name):
        """(matched, acted, report) of a trigger; None: no process has it."""
        found = re.search(rf' {name} .*\(matched (\d+)(?:, \d+ without such an item)?(?:, missed \d+)?, acted (\d+)(.*)\)', self.tool('trigger', 'list').stdout)
        return (int(found[1]), int(found[2]), found[3]) if found else None

    def until(self, name, wanted):
        """The state once `wanted` holds for it."""
        end = time.monotonic() + PATIENCE
        while not ((state := self.state(name)) and wanted(*state)):
            assert time.monotonic() < end, (name, state)
        return state

    def level(self, component='app'):
        return json.loads(self.tool('level', '--json', component).stdout)

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        shutil.rmtree(self.path)


def dumps_what_came_before():
    room = Room('ctrace.trigger.TRAP = when component == app && event = 4 && data1 == "boom" do dump')
    tap.same('the program ends well', room.whole('text', 'app', ERROR, 'no', 'trace', 'app', DEBUG, '10', 'text', 'app', ERROR, 'boom'), 0)
    dumps = room.dumps()
    tap.check('one dump, of the trigger', len(dumps) == 1, dumps)
    lines = room.shown(dumps[0]) if dumps else []
    tap.check('it has the ten entries before, and the one that matched', len(lines) == 12 and lines[-1].startswith('app 4') and
              all(line.startswith('app 1') for line in lines[1:11]), lines)
    with open(room.at(dumps[0], '.dump'), encoding='utf-8') as file:
        tap.check('it says which trigger and which event', re.search(r'(?s)reason: trigger TRAP\n.*event: app 4 ERROR\n', file.read()))
    status = room.tool('ipcs', 'STATUS', dumps[0]).stdout
    tap.check('and so does STATUS', re.search(r'(?s)^ REASON +trigger TRAP\n.*\n EVENT +app 4 ERROR\n', status, re.M), status)
    room.close()


def nothing_matches():
    room = Room('ctrace.trigger.T = when component ~ "other*" do dump', 'ctrace.trigger.U = when event = 99 do dump',
                'ctrace.trigger.V = when level >= fatal do dump', 'ctrace.trigger.W = when data1 in (11..20) do dump')
    room.whole('trace', 'app', DEBUG, '10')
    tap.same('no dump without a match', room.dumps(), [])
    room.close()


def how_often():
    room = Room('ctrace.trigger.C = when event = 1 count 7 every 1ms do dump', 'ctrace.trigger.O = when event = 1 once do wto',
                'ctrace.trigger.R = when event = 4 rate 3/s do wto', 'ctrace.trigger.E = when event = 1 every 1h do wto')
    program = room.start('trace', 'app', DEBUG, '6', 'pause', 'trace', 'app', DEBUG, '1', 'pause', 'trace', 'app', DEBUG, '6',
                         'text', 'app', INFO, 'a', 'text', 'app', INFO, 'b', 'pause', 'text', 'app', INFO, 'c', 'text', 'app', INFO, 'd',
                         'text', 'app', INFO, 'e', 'pause')
    tap.same('six are not the seventh', room.until('C', lambda matched, *_: matched == 6)[:2], (6, 0))
    room.go_on(program)
    tap.same('the seventh acts', room.until('C', lambda matched, acted, _: acted == 1)[:2], (7, 1))
    room.go_on(program)
    tap.same('six more do not', room.until('C', lambda matched, *_: matched == 13)[:2], (13, 1))
    tap.same('once', room.state('O')[:2], (13, 1))
    tap.same('once an hour', room.state('E')[:2], (13, 1))
    tap.same('two in a second are no rate of three', room.until('R', lambda matched, *_: matched == 2)[:2], (2, 0))
    room.go_on(program)
    tap.same('three are', room.until('R', lambda matched, acted, _: acted == 1)[:2], (5, 1))
    room.finish(program)
    tap.same('and one dump', len(room.dumps()), 1)
    room.close()


def levels():
    room = Room('ctrace.trigger.L = when event = 4 once do level:error:1s', 'ctrace.trigger.S = when event = 2 do stop',
                'mftrace.level.app = info')
    program = room.start('trace', 'app', INFO, '1', 'pause', 'text', 'app', INFO, 'x', 'pause', 'emit', 'app', INFO, 'pause')

    def until_level(name):
        end = time.monotonic() + PATIENCE
        while name not in room.tool('level', 'app').stdout.lower():
            assert time.monotonic() < end, name

    room.until('L', lambda *_: True)
    room.go_on(program)
    room.until('L', lambda matched, acted, _: acted == 1)
    until_level('info')
    tap.check('the level is set back after its time', True)
    room.go_on(program)
    room.until('S', lambda matched, acted, _: acted == 1)
    tap.check('stop: the component has no level', 'none' in room.tool('level', 'app').stdout.lower(), room.tool('level', 'app').stdout)
    room.finish(program)
    room.close()


def one_too_many():
    room = Room(*(f'ctrace.trigger.N{number} = when event = {number} do wto' for number in range(17)))
    program = room.start('trace', 'app', DEBUG, '3', 'pause')
    room.until('N1', lambda matched, acted, _: acted == 1)
    tap.check('sixteen act', room.state('N15') and room.state('N16') is None, room.tool('trigger', 'list'))
    listed = room.tool('list').stdout
    tap.check('the seventeenth is a line that was not understood', '1 line not understood, line 19' in listed, listed)
    room.finish(program)
    said = room.tool('config', 'check', room.at('app.cfg'))
    tap.check('config check reports the limit', said.returncode != 0 and
              ':19:1: one trigger too many, which has no effect; expected at most 16 triggers in a process\n' in said.stderr + said.stdout, said)
    room.close()


def commands():
    room = Room()
    program = room.start('trace', 'app', DEBUG, '3', 'pause', 'trace', 'app', DEBUG, '2', 'pause')
    while 'app' not in room.tool('list').stdout:
        pass
    tap.same('add', room.tool('trigger', 'add', 'T1', '--when', 'event = 1', '--do', 'wto').returncode, 0)
    tap.same('what was traced before does not match', room.state('T1')[:2], (0, 0))
    room.go_on(program)
    tap.same('what comes does', room.until('T1', lambda matched, acted, _: acted == 1)[0], 2)
    with open(room.at('run', 'triggers'), encoding='utf-8') as file:
        tap.same('it is kept', file.read(), 'ctrace.trigger.T1 = when event = 1 do wto\n')
    other = room.start('trace', 'app', DEBUG, '5', 'pause')
    end = time.monotonic() + PATIENCE
    while 'matched 5' not in room.tool('trigger', 'list').stdout:
        assert time.monotonic() < end
    tap.check('a process that comes has it', True)
    tap.same('remove', room.tool('trigger', 'remove', 'T1').returncode, 0)
    tap.same('nobody has it', room.state('T1'), None)
    with open(room.at('run', 'triggers'), encoding='utf-8') as file:
        tap.same('it is not kept', file.read(), '')
    again = room.tool('trigger', 'remove', 'T1')
    tap.check('remove what is not there', again.returncode != 0 and 'no such trigger' in again.stderr, again)
    room.tool('trigger', 'add', 'T2', f'--pid={program.pid}', '--when', 'event = 1', '--do', 'wto')
    with open(room.at('run', 'triggers'), encoding='utf-8') as file:
        tap.same('for one process: not kept', file.read(), '')
    for number in range(16):
        last = room.tool('trigger', 'add', f'N{number}', f'--pid={program.pid}', '--when', 'event = 1', '--do', 'wto')
    tap.check('no more than 16', last.returncode != 0 and '16 triggers' in last.stderr, last)
    refused = room.tool('trigger', 'add', 'T17', '--when', 'event = 1', '--do', 'wto')
    tap.check('the process takes no 17th', refused.returncode == 1 and '16 triggers' in refused.stderr, refused)
    tap.check('another process takes it, so it is kept', 'kept  ctrace.trigger.T17' in room.tool('trigger', 'list').stdout)
    room.finish(program)
    room.finish(other)
    room.close()


def kept():
    """What is kept for processes that come: not what all refuse; shown, changed and removed without a process that has it."""
    room = Room()

    def lines():
        with open(room.at('run', 'triggers'), encoding='utf-8') as file:
            return file.read()

    room.tool('trigger', 'add', 'K1', '--when', 'event = 1', '--do', 'wto')
    tap.same('SLIP SET without a process', room.tool('op', 'SLIP SET,ID=K2,COMP=app,DISABLE,END').stdout, 'IEE727I SLIP TRAP ID=K2 SET\n')
    only_kept = ('ID=K1,ENABLED  KEPT FOR PROCESSES THAT COME\n   when event = 1 do wto\n'
                 "ID=K2,DISABLED  KEPT FOR PROCESSES THAT COME\n   disabled when component == 'APP' limit 1 do dump\n")
    shown = room.tool('op', 'D SLIP')
    tap.check('D SLIP without a process shows what is kept', shown.returncode == 0 and shown.stdout.partition('\n')[2] == only_kept, shown)
    shown = room.tool('op', 'D SLIP=K2').stdout
    tap.check('one of them', 'ID=K2' in shown and 'ID=K1' not in shown, shown)
    tap.check('none of that name', 'CTR011I' in (shown := room.tool('op', 'D SLIP=XX').stdout), shown)
    room.environment['MFTRACE_CONFIG'] = room.at('full.cfg')
    with open(room.at('full.cfg'), 'w', encoding='utf-8') as file:
        file.write('mftrace.dest = storage\nmftrace.level = debug\n' + ''.join(f'ctrace.trigger.N{i} = when event = 9 do wto\n' for i in range(14)))
    program = room.start('trace', 'app', DEBUG, '1', 'pause')
    room.until('N13', lambda *_: True)
    shown = room.tool('op', 'D SLIP').stdout
    tap.check('what a process has is not shown as kept', 'ID=N13' in shown and 'KEPT' not in shown, shown)
    before = lines()
    done = room.tool('op', 'SLIP SET,ID=K17,COMP=app,END')
    tap.check('a 17th trap', done.returncode == 1 and 'CTR034I' in done.stdout and '16 triggers' in done.stdout and 'IEE727I' not in done.stdout, done)
    tap.same('is not kept', lines(), before)
    done = room.tool('trigger', 'add', 'T17', '--when', 'event = 1', '--do', 'wto')
    tap.check('a 17th trigger', done.returncode == 1 and '16 triggers' in done.stderr, done)
    tap.same('is not kept either', lines(), before)
    listed = {row['component']: row['enabled'] for row in json.loads(room.tool('trigger', 'list', '-j').stdout)['results']}
    tap.same('the JSON has the state', (len(listed), listed['K1'], listed['K2']), (16, True, False))
    room.tool('trigger', 'remove', 'K1', f'--pid={program.pid}')
    shown = room.tool('op', 'D SLIP').stdout
    tap.check('a trap that is only kept, beside a process', 'ID=K1,ENABLED  KEPT FOR PROCESSES THAT COME\n' in shown and 'ID=N1,' in shown, shown)
    done = room.tool('trigger', 'disable', 'K1')
    tap.check('disable what is only kept', done.returncode == 0 and 'for processes that come' in done.stderr and
              'K1 = disabled when' in lines(), (done, lines()))
    done = room.tool('trigger', 'remove', 'K1')
    tap.check('remove what is only kept', done.returncode == 0 and 'no longer kept' in done.stderr and 'K1' not in lines(), (done, lines()))
    room.finish(program)
    for number in range(15):
        room.tool('trigger', 'add', f'M{number}', '--when', 'event = 1', '--do', 'wto')
    done = room.tool('trigger', 'add', 'M16', '--when', 'event = 1', '--do', 'wto')
    tap.check('no more than 16 are kept', done.returncode == 1 and '16 triggers are kept' in done.stderr, done)
    tap.same('one of them is replaced', room.tool('trigger', 'add', 'M3', '--when', 'event = 2', '--do', 'wto').returncode, 0)
    tap.check('and 16 stay', len(lines().splitlines()) == 16 and 'M3 = when event = 2' in lines(), lines())
    for wrong in (['--when', 'evnt = 1', '--do', 'wto'], ['--when', 'event = 1', '--count', '0', '--do', 'wto'],
                  ['--when', 'event = 1', '--rate', '5', '--do', 'wto'], ['--when', 'event = 1', '--do', 'dmup']):
        tap.same(f'not understood: {wrong}', room.tool('trigger', 'add', 'M3', *wrong).returncode, 2)
    room.close()


def hostile():
    room = Room()
    program = room.start('trace', 'app', DEBUG, '1', 'pause')
    while 'app' not in room.tool('list').stdout:
        pass
    for name, when, act in (('A', 'event = 1\nctrace.run.programs = on', 'wto'), ('A', 'data1 == "a\nb"', 'wto'), ('A', 'x' * 600, 'wto'),
                            ('A', 'event = 1', 'run:relative'), ('A', 'event = 1', 'dump dump'), ('A', 'event = 1 || level = info', 'dump'),
                            ('A', '', 'dump'), ('A', 'event = 1', ''), ('../x', 'event = 1', 'wto'), ('A', 'duration > 2ms', 'dump'), ('A', 'event = 1 span x > 2ms', 'dump'),
                            ('A', 'event = 1 span 2 = 2ms', 'dump'), ('A', 'event = 1 span 2 by data > 2ms', 'dump')):
        done = room.tool('trigger', 'add', name, '--when', when, '--do', act)
        tap.check(f'refused: {name} {when[:30]!r} {act!r}', done.returncode != 0 and done.stderr and '\nctrace.run' not in done.stderr, done)
    tap.check('and nothing is kept', not os.path.exists(room.at('run', 'triggers')))
    with open(room.at('run', 'triggers'), 'w', encoding='utf-8') as file:
        file.write('mftrace.level.app = none\nctrace.run.programs = on\nctrace.trigger.K = when event = 1 do run:/bin/true\n')
    os.chmod(room.at('run', 'triggers'), 0o600)
    other = room.start('trace', 'app', DEBUG, '1', 'pause')
    state = room.until('K', lambda matched, acted, _: acted == 1)
    done = room.tool('trigger', 'add', 'P', f'--pid={other.pid}', '--when', 'event = 1', '--do', 'run:/bin/true')
    tap.check('add says that no program will run', done.returncode == 0 and 'ctrace.run.programs is off' in done.stdout, done)
    tap.check('a kept file sets triggers only, and no program runs', 'ctrace.run.programs' in state[2], state)
    room.finish(other)
    os.chmod(room.at('run', 'triggers'), 0o622)
    third = room.start('trace', 'app', DEBUG, '1', 'pause')
    room.tool('list')
    tap.same('a file that others may write to is not read', room.state('K'), None)
    room.finish(third)
    room.finish(program)
    room.close()


def programs():
    room = Room('ctrace.run.programs = on')
    with open(room.at('act'), 'w', encoding='utf-8') as file:
        file.write(f'#!/bin/sh\necho "$@" > {room.at("ran.new")}\nmv {room.at("ran.new")} {room.at("ran")}\n')
    os.chmod(room.at('act'), 0o700)
    with open(room.at('app.cfg'), 'a', encoding='utf-8') as file:
        file.write(f'ctrace.trigger.P = when event = 4 do run:{room.at("act")}\n')
    program = room.start('text', 'app', INFO, 'x', 'pause')
    room.until('P', lambda matched, acted, _: acted == 1)
    end = time.monotonic() + PATIENCE
    while not os.path.exists(room.at('ran')):
        assert time.monotonic() < end
    with open(room.at('ran'), encoding='utf-8') as file:
        tap.same('the program gets name, pid, component and event', file.read(), f'P {program.pid} app 4\n')
    children = subprocess.run(['ps', '--ppid', str(program.pid), '-o', 'stat='], capture_output=True, text=True, check=False).stdout
    tap.same('no child, and no zombie', children, '')
    room.finish(program)
    room.close()


def programs_of_a_reaper():
    """Programs that end, and one that leaves a process behind: a process 1 and a subreaper must not notice either."""
    room = Room('ctrace.run.programs = on', 'ctrace.trigger.P = when component == app every 1ms do run:@')
    with open(room.at('act'), 'w', encoding='utf-8') as file:
        file.write(f'#!/bin/sh\nsleep 0.1 &\necho x >> {room.at("ran")}\n')
    os.chmod(room.at('act'), 0o700)
    with open(room.at('app.cfg'), encoding='utf-8') as file:
        text = file.read().replace('run:@', f'run:{room.at("act")}')
    with open(room.at('app.cfg'), 'w', encoding='utf-8') as file:
        file.write(text)
    space = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc']
    kinds = [('an ordinary process', [], []), ('a subreaper', [], ['reaper'])]
    if subprocess.run([*space, 'true'], capture_output=True, check=False).returncode == 0:
        kinds.append(('process 1', space, []))
    else:
        tap.skip('process 1 of a container', 'no name spaces of processes here')
    for kind, before, steps in kinds:
        for signals in ('count', 'ignore'):
            if os.path.exists(room.at('ran')):
                os.unlink(room.at('ran'))
            process = subprocess.Popen([*before, STEPS, *steps, signals, *(['trace', 'app', INFO, '1', 'pause'] * 5), 'children'], env=room.environment,
                                       cwd=room.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            room.processes.append(process)
            for count in range(1, 6):
                end = time.monotonic() + PATIENCE
                while not os.path.exists(room.at('ran')) or os.path.getsize(room.at('ran')) < 2 * count:
                    assert time.monotonic() < end, (kind, signals, count)
                if count == 5:  # all have ended, and what they left
                    found = pid = process.pid
                    if before:
                        pid = int(subprocess.run(['pgrep', '-P', str(pid)], capture_output=True, text=True, check=True).stdout)
                    while found:
                        found = subprocess.run(['ps', '--ppid', str(pid), '-o', 'pid=,stat=,args='], capture_output=True, text=True, check=False).stdout
                        assert time.monotonic() < end, (kind, signals, found)
                room.go_on(process)
            said = process.communicate(timeout=PATIENCE)[0]
            tap.same(f'{kind} that would {signals} SIGCHLD gets none, and no child', said, '0 ECHILD ECHILD\n')
    room.close()


def forks():
    room = Room('ctrace.trigger.F = when event = 4 do dump')
    program = room.start('trace', 'app', DEBUG, '2', 'fork', 'text', 'app', INFO, 'child')
    tap.same('the parent ends well', room.finish(program), 0)
    tap.check('the child has the trigger, and its dump is its own', len(room.dumps()) == 1 and f'.{program.pid}.' not in room.dumps()[0],
              room.dumps())
    room.close()


def console():
    """What a trigger did is a message on each open console, before its next command, and a line of ctrace.log."""
    room = Room()
    with open(room.at('app.cfg'), 'a', encoding='utf-8') as file:
        file.write(f'ctrace.log = {room.at("log")}\nctrace.trigger.SAY = when event = 4 do wto\nctrace.trigger.END = when event = 4 do stop\n'
                   'ctrace.trigger.LONGER = when event = 4 do wto\n')
    program = room.start('trace', 'app', DEBUG, '1', 'pause', 'text', 'app', INFO, 'boom', 'pause')
    consoles = [subprocess.Popen([TOOL, 'console'], env=room.environment, cwd=room.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 text=True) for _ in range(2)]
    for one in consoles:
        one.stdin.write('D R\n')
        one.stdin.flush()
        while 'CTR007I' not in one.stdout.readline():
            pass
    room.go_on(program)
    room.until('SAY', lambda matched, acted, _: acted == 1)
    room.until('END', lambda matched, acted, _: acted == 1)
    room.until('LONGER', lambda matched, acted, _: acted == 1)
    for i, one in enumerate(consoles):
        shown = one.communicate('D R\nQUIT\n', timeout=PATIENCE)[0]
        for name, did in ('SAY', 'message'), ('END', 'stopped'):
            line = rf'\b\d\d\.\d\d\.\d\d CTR035I TRIGGER {name} OF process {program.pid} JOBNAME STEPS: {did}\n'
            tap.same(f'console {i + 1} shows {name}, once', len(re.findall(line, shown)), 1)
        tap.same(f'console {i + 1} shows the match of a trap', len(re.findall(
            r'\b\d\d\.\d\d\.\d\d IEA992I SLIP TRAP ID=SAY MATCHED\.  JOBNAME=STEPS, ASID=[0-9A-F]{4}\.\n', shown)), 1)
        tap.check('a longer name is no trap\'s', 'LONGER' in shown and 'ID=LONGER' not in shown, shown)
    shown = room.tool('console').stdout
    tap.check('a console that is opened later shows nothing old', 'CTR035I' not in shown, shown)
    room.finish(program)
    with open(room.at('log'), encoding='utf-8') as file:
        log = file.read()
    tap.check('both are in the log', re.search(rf'(?m)^\S+ \S+ \S+ {program.pid}   CTR035I TRIGGER SAY OF .*: message$', log) and
              'CTR035I TRIGGER END' in log, log)
    room.close()


def many():
    """A reader that is late: what it could not look at is said."""
    room = Room('ctrace.buffer = 32K', 'ctrace.trigger.M = when event = 1 do wto')
    program = room.start('trace', 'app', DEBUG, '300000', 'pause')
    end = time.monotonic() + PATIENCE
    while True:
        matched, _, report = room.until('M', lambda matched, *_: matched > 0)
        missed = re.search(r'missed (\d+)', room.tool('trigger', 'list').stdout)
        if matched + int(missed[1] if missed else 0) == 300000:
            break
        assert time.monotonic() < end, (matched, missed, report)
    # What is done for a match is counted when it is done.
    tap.check('matched and missed are all that was traced', room.until('M', lambda matched, acted, _: acted >= 1))
    room.finish(program)
    room.close()


def slip():
    room = Room()
    program = room.start('trace', 'app', DEBUG, '3', 'pause', 'text', 'app', INFO, 'no', 'text', 'app', INFO, 'boom', 'pause')
    while 'app' not in room.tool('list').stdout:
        pass
    done = room.tool('op', "SLIP SET,ID=TRP1,COMP=app,ENTRYID=4,DATA=(1,EQ,'boom'),ACTION=(SVCD,STOP),END")
    tap.same('SLIP SET', (done.returncode, done.stdout), (0, 'IEE727I SLIP TRAP ID=TRP1 SET\n'))
    room.tool('op', 'SLIP SET,ID=PAT,COMP=A?*,ENTRYID=4,MATCHLIM=1,A=TRACE,END')
    room.go_on(program)
    tap.check('COMP is a pattern', room.until('PAT', lambda matched, acted, _: acted == 1)[0] >= 1)
    room.tool('op', 'SLIP DEL,ID=PAT')
    room.until('TRP1', lambda matched, acted, _: acted == 1)
    tap.same('the trap has made a dump', len(room.dumps()), 1)
    shown = room.tool('op', 'D SLIP=TRP1').stdout
    tap.check('D SLIP', re.match(r'IEE735I \d\d\.\d\d\.\d\d SLIP DISPLAY\nID=TRP1,DISABLED  process \d+ .*\n.*limit 1 do dump,stop .*no more until', shown),
              shown)
    for text, refusal in (('SLIP SET,ID=X,COMP=APP,ACTION=WAIT,END', 'stop the whole system'), ('SLIP SET,ID=X,LPAMOD=(A,1),END', 'LPAMOD'),
                          ('SLIP SET,ID=X,COMP=APP', 'END is missing'), ('SLIP SET,COMP=APP,END', 'ID is missing'),
                          ('SLIP SET,ID=TOOLONG,COMP=APP,END', 'TOOLONG'), ('SLIP SET,ID=X,END', 'what the trap matches'),
                          ('SLIP MOD,ID=TRP1', 'state is missing'), ('SLIP MOD,EN', 'ID is missing'),
                          ('SLIP MOD,EN,ID=TRP1,MATCHLIM=2', 'MATCHLIM'), ('SLIP MOD,EN,IDGROUP=G', 'IDGROUP'),
                          ('SLIP DEL,ID=TRP1,ENABLE', 'ENABLE'), ("SLIP SET,ID=X,COMP=APP,DATA=(1,XX,1),END", 'LIKE'),
                          ('SLIP SET,ID=X,COMP=APP,ENTRYID=4x,END', '4x'), ('SLIP', 'SET, MOD or DEL')):
        done = room.tool('op', text)
        tap.check(f'refused: {text}', done.returncode != 0 and refusal in done.stderr, done)
    tap.same('SLIP DEL', room.tool('op', 'SLIP DEL,ID=TRP1').stdout, 'CTR033I SLIP trap TRP1 is deleted\n')
    tap.check('no trap is left', 'NO TRAPS' in room.tool('op', 'D SLIP').stdout)
    room.finish(program)
    room.close()


def slip_mod():
    """A trap that is disabled matches nothing; enabled, it has its limit anew; a pattern reaches several; processes that come follow."""
    room = Room()
    program = room.start('trace', 'app', DEBUG, '3', *('text', 'app', INFO, 'x', 'pause') * 4, 'trace', 'app', DEBUG, '1', 'pause')
    while 'app' not in room.tool('list').stdout:
        pass
    room.tool('op', 'SLIP SET,ID=JW01,COMP=app,ENTRYID=4,ACTION=TRACE,MATCHLIM=1,DISABLE,END')
    room.tool('op', 'SLIP SET,ID=JW02,COMP=app,ENTRYID=1,ACTION=TRACE,DISABLE,END')
    # This one acts on the same entries: when it has, a disabled one has passed over them.
    room.tool('trigger', 'add', 'ALL', '--when', 'event == 4', '--every', '1ms', '--do', 'wto')
    room.go_on(program)
    room.until('ALL', lambda matched, acted, _: acted == 1)
    tap.same('a disabled trap matches nothing', room.state('JW01')[:2], (0, 0))
    tap.check('D SLIP: DISABLED', 'ID=JW01,DISABLED ' in room.tool('op', 'D SLIP=JW01').stdout)
    tap.same('SLIP MOD with a pattern', room.tool('op', 'SLIP MOD,EN,ID=JW0*').stdout,
             'IEE727I SLIP TRAP ID=JW01 ENABLED\nIEE727I SLIP TRAP ID=JW02 ENABLED\n')
    room.go_on(program)
    tap.same('an enabled one acts', room.until('JW01', lambda matched, acted, _: acted == 1)[:2], (1, 1))
    shown = room.tool('op', 'D SLIP=JW*').stdout
    tap.check('D SLIP: at its limit it is disabled, the other is not', 'ID=JW01,DISABLED ' in shown and 'ID=JW02,ENABLED ' in shown, shown)
    room.tool('op', 'SLIP MOD,ENABLE,ID=JW01')
    room.go_on(program)
    tap.same('enabled again it acts again', room.until('JW01', lambda matched, acted, _: acted == 2)[:2], (2, 2))
    tap.same('SLIP MOD,D', room.tool('op', 'SLIP MOD,D,ID=JW02,END').stdout, 'IEE727I SLIP TRAP ID=JW02 DISABLED\n')
    other = room.start('trace', 'app', DEBUG, '5', 'text', 'app', INFO, 'x', 'pause')
    end = time.monotonic() + PATIENCE
    while f'{other.pid} ' not in room.tool('trigger', 'list').stdout or ' JW01 ' not in room.tool('trigger', 'list', f'--pid={other.pid}').stdout:
        assert time.monotonic() < end
    shown = room.tool('op', f'--pid={other.pid}', 'D SLIP=JW02').stdout
    tap.check('a process that comes has it disabled', 'ID=JW02,DISABLED ' in shown and '(matched 0, acted 0)' in shown, shown)
    tap.same('ctrace trigger enable', room.tool('trigger', 'enable', 'jw02').returncode, 0)
    with open(room.at('run', 'triggers'), encoding='utf-8') as file:
        tap.check('what is kept is enabled', 'disabled' not in file.read())
    tap.same('ctrace trigger disable of what is not there', room.tool('trigger', 'disable', 'NONE').returncode, 1)
    done = room.tool('op', 'SLIP MOD,EN,ID=Z*')
    tap.check('a pattern that fits nothing', done.returncode == 1 and 'CTR034I SLIP trap Z*: there is no such trap' in done.stdout, done)
    tap.same('SLIP DEL with a pattern', room.tool('op', 'SLIP DEL,ID=JW*').stdout.count('CTR033I'), 2)
    room.finish(other)
    room.finish(program)
    room.close()


def slip_member():
    room = Room()
    os.mkdir(room.at('parmlib'))
    room.environment['CTRACE_PARMLIB'] = room.at('parmlib')

    def member(name, *lines):
        with open(room.at('parmlib', name), 'w', encoding='utf-8') as file:
            file.write(''.join(line + '\n' for line in lines))

    member('IEASLP01', '* the night shift', 'SLIP SET,ID=A1,COMP=app, this is a comment', 'ENTRYID=4,'.rjust(71) + '000000200',
           "     DATA=(1,EQ,'bo om'),ACTION=STOP", '', '  END and this', 'SLIP SET,ID=A2,COMP=app,ENTRYID=9,DISABLE,END', 'SLIP MOD,EN,ID=A2')
    member('IEASLP02', 'SLIP SET,ID=B1,COMP=app,END', 'SLIP SET,ID=B2,COMP=app,', '  LPAMOD=(A,1),END', 'TRACE CT,ON,COMP=app')
    member('IEASLP03', '* nothing')
    member('IEASLP04', 'SLIP SET,ID=D1,COMP=app'.ljust(81, 'x'))
    member('IEASLP05', 'SLIP SET,ID=E1,COMP=app')
    program = room.start('trace', 'app', DEBUG, '3', 'pause', 'text', 'app', INFO, 'bo om', 'pause')
    while 'app' not in room.tool('list').stdout:
        pass
    tap.same('SET SLIP', room.tool('op', 'SET SLIP=01').stdout,
             'IEE727I SLIP TRAP ID=A1 SET\nIEE727I SLIP TRAP ID=A2 SET\nIEE727I SLIP TRAP ID=A2 ENABLED\n')
    shown = room.tool('op', 'D SLIP').stdout
    tap.check('lines are joined, comments and columns 72 to 80 are not read', "when component == 'APP' && event == 4 && data1 == 'bo om' do stop"
              in shown and "when component == 'APP' && event == 9 limit 1 do dump" in shown, shown)
    room.go_on(program)
    tap.same('the trap acts', room.until('A1', lambda matched, acted, _: acted == 1)[:2], (1, 1))
    for suffix, where, refusal in (('02', ':3:3:', 'LPAMOD'), ('02', ':4:1:', 'not a SLIP command'), ('03', ':1:1:', 'no command'),
                                   ('04', ':1:81:', 'too long'), ('05', ':1:', 'END is missing')):
        done = room.tool('op', f'T SLIP={suffix}')
        tap.check(f'an error in the member {suffix}: {refusal}', done.returncode == 1 and re.search(
            rf'(?m)^CTR038I .*/IEASLP{suffix}{where}.*{refusal}.*; expected ', done.stdout), done)
    tap.check('and nothing of it is done', ' B1 ' not in room.tool('trigger', 'list').stdout)
    done = room.tool('op', 'SET SLIP=99')
    tap.check('no such member', done.returncode == 1 and 'CTR015I Member IEASLP99 ' in done.stdout, done)
    for text in ('SET SLIP', 'SET SLIP=1', 'SET SLIP=(01)x', 'SET SMF=00', 'TRACE SLIP=01', 'SET'):
        tap.same(f'refused: {text}', room.tool('op', text).returncode, 2)
    room.finish(program)
    room.close()


def spans():
    """begin and end are texts (event 4) by their first item, and events 2 and 4 of a thread."""
    room = Room()
    with open(room.at('app.yaml'), 'w', encoding='utf-8') as file:
        file.write('component: app\nevents:\n  2: {mnemonic: BEGIN, exit: 4}\n  4: {mnemonic: END}\n')
    program = room.start('trace', 'app', DEBUG, '1', 'pause', 'emit', 'app', INFO, 'text', 'app', INFO, 'quick', 'pause',
                         'emit', 'app', INFO, 'pause', 'text', 'app', INFO, 'slow', 'text', 'app', INFO, 'lonely', 'pause')
    while 'app' not in room.tool('list').stdout:
        pass
    done = room.tool('trigger', 'add', 'S', '--when', 'component == app && event == 4', '--span', '> 1s', '--every', '1ms', '--do', 'dump')
    tap.check('without a catalogue: refused', done.returncode != 0 and 'no catalogue says' in done.stderr, done)
    room.environment['CTRACE_CATALOG'] = room.at('app.yaml')
    done = room.tool('trigger', 'add', 'S', '--when', 'component == app && event == 2', '--span', '> 1s', '--do', 'dump')
    tap.check('the beginning of a span: refused', done.returncode != 0 and 'that ends it in --when: 4' in done.stderr, done)
    done = room.tool('trigger', 'add', 'S', '--when', 'event == 4', '--span', '> 1s', '--do', 'dump')
    tap.check('no component: refused', done.returncode != 0 and 'component == NAME' in done.stderr, done)
    for name, duration in (('SLOW', '>= 1s'), ('QUICK', '< 1s')):
        done = room.tool('trigger', 'add', name, '--when', 'component == app && event == 4', '--span', duration, '--every', '1ms',
                         '--do', 'dump')
        tap.same(f'add --span {duration}', done.returncode, 0)
    room.tool('trigger', 'add', 'ENDS', '--when', 'event == 4', '--every', '1ms', '--do', 'wto')
    tap.check('the catalogue has given the beginning', 'when component == app && event == 4 span 2 >= 1s' in
              room.tool('trigger', 'list').stdout, room.tool('trigger', 'list').stdout)
    room.go_on(program)
    tap.same('a short span', room.until('QUICK', lambda matched, acted, _: acted == 1)[:2], (1, 1))
    tap.same('is no long one', room.state('SLOW')[:2], (0, 0))
    room.go_on(program)
    # The duration is what is tested: no other program is waited for.
    time.sleep(1.1)
    room.go_on(program)
    tap.same('a long span', room.until('SLOW', lambda matched, acted, _: acted == 1)[:2], (1, 1))
    tap.same('each end was looked at', room.until('ENDS', lambda matched, *_: matched == 3)[0], 3)
    tap.same('an end without a beginning is no span', room.state('QUICK')[:2], (1, 1))
    dump = [name for name in room.dumps() if 'trigger SLOW' in open(room.at(name, '.dump'), encoding='utf-8').read()]
    with open(room.at(dump[0], '.dump'), encoding='utf-8') as file:
        found = re.search(r'(?m)^span: (\d+) ns$', file.read())
    tap.check('the dump has the duration', found and int(found[1]) >= 1000000000, found)
    room.finish(program)
    room.close()


def spans_by_item():
    """The second of two events with the same number ends a span, on whichever thread it is."""
    room = Room('ctrace.trigger.I = when event = 1 && data1 = 2 span 1 by data1 < 1h do wto')
    program = room.start('trace', 'app', DEBUG, '2', 'thread', 'app', DEBUG, '2', 'pause')
    tap.same('one span of the two', room.until('I', lambda matched, acted, _: acted == 1)[:2], (1, 1))
    room.finish(program)
    room.close()


def the_end():
    """A trigger on a fatal signal, and on the exit status; set in a running process, too."""
    room = Room('ctrace.trigger.E = when exit != 0 do dump', 'ctrace.trigger.F = when exit in (3..5) do wto', 'ctrace.run.programs = on')
    tap.same('status 0', room.whole('trace', 'app', DEBUG, '3'), 0)
    tap.same('no dump', room.dumps(), [])
    tap.same('status 7', room.whole('trace', 'app', DEBUG, '3', 'exit', '7'), 7)
    dumps = room.dumps()
    tap.same('a dump', len(dumps), 1)
    with open(room.at(dumps[0], '.dump'), encoding='utf-8') as file:
        tap.check('it says why', re.search(r'(?s)reason: trigger E\n.*\nexit: 7\n', file.read()))
    tap.same('of what the process had', len(room.shown(dumps[0])), 3)
    program = room.start('trace', 'app', DEBUG, '3', 'pause')
    room.until('E', lambda *_: True)
    with open(room.at('act'), 'w', encoding='utf-8') as file:
        file.write(f'#!/bin/sh\necho "$1 $2" > {room.at("ran")}\n')
    os.chmod(room.at('act'), 0o700)
    for verb, name, what, act in (('add', 'S', ['--signal'], 'dump'), ('add', 'X', ['--exit', '== 0'], f'run:{room.at("act")}'),
                                  ('disable', 'E', [], None)):
        done = room.tool('trigger', verb, name, *what, *(('--do', act) if act else ()))
        tap.same(f'{verb} {name}', done.returncode, 0)
    other = room.start('trace', 'app', DEBUG, '3', 'pause')
    while len(re.findall(r' S  when signal do dump', room.tool('trigger', 'list').stdout)) != 2:
        pass
    for victim in (program, other):
        victim.send_signal(signal.SIGSEGV)
        tap.same('dies of the signal', victim.wait(PATIENCE), -signal.SIGSEGV)
    room.tool('recover')
    found = [name for name in room.dumps() if 'reason: signal SIGSEGV' in open(room.at(name, '.dump'), encoding='utf-8').read()]
    tap.same('each is dumped: the one that was running, and the one that has come', len(found), 2)
    room.tool('trigger', 'disable', 'S')
    room.whole('trace', 'app', DEBUG, '1')
    end = time.monotonic() + PATIENCE
    while not os.path.exists(room.at('ran')):
        assert time.monotonic() < end
    tap.check('a program at the end', True)
    quiet = room.start('trace', 'app', DEBUG, '3', 'pause')
    room.until('S', lambda *_: True)
    quiet.send_signal(signal.SIGSEGV)
    tap.same('a disabled trigger', quiet.wait(PATIENCE), -signal.SIGSEGV)
    room.tool('recover')
    tap.same('leaves no dump', len(room.dumps()), 3)
    for what, act, refusal in ((['--signal'], 'wto', 'fatal signal'), (['--signal'], 'dump,run:/bin/true', 'fatal signal'),
                               (['--exit', '!= 0'], 'stop', 'end of a process'), (['--exit', '!= 0'], 'level:debug:1s', 'end of a process'),
                               (['--exit', '!= 0', '--once'], 'dump', 'ends once'), (['--exit', '~ 5'], 'dump', 'no pattern'),
                               (['--exit', '!= 0', '--signal'], 'dump', 'one of'), ([], 'dump', 'one of')):
        done = room.tool('trigger', 'add', 'R', *what, '--do', act)
        tap.check(f'refused: {what} {act}', done.returncode != 0 and refusal in done.stderr, done)
    room.close()


def fields_of_records():
    """What the process cannot compare is refused where that is known, and counted where it is not."""
    room = Room('ctrace.trigger.B = when event = 3 && data1 = 5 do wto', 'ctrace.trigger.N = when event = 4 && data2 != 1 do wto')
    program = room.start('trace', 'app', DEBUG, '3', 'items', 'app', INFO, 'items', 'app', INFO, 'text', 'app', INFO, 'x', 'pause')
    for name in ('record.AMOUNT', 'data1.AMOUNT', 'data[0].A.NAME', 'data.AMOUNT', 'mnemonic'):
        done = room.tool('trigger', 'add', 'R', '--when', f'component == app && {name} = 5', '--do', 'wto')
        tap.check(f'refused: {name}', done.returncode != 0 and f'no catalogue, which knows "{name}"' in done.stderr, done)
    end = time.monotonic() + PATIENCE
    while '1 without such an item' not in (listed := room.tool('trigger', 'list').stdout):
        assert time.monotonic() < end, listed
    tap.check('a number against bytes', re.search(r' B .*\(matched 0, 2 without such an item, acted 0\)', listed), listed)
    tap.check('an item that is not there', re.search(r' N .*\(matched 0, 1 without such an item, acted 0\)', listed), listed)
    room.finish(program)
    room.close()


def one_dump_in_a_second():
    """Of all triggers together: the dump's name has the second."""
    room = Room('ctrace.trigger.ONE = when data1 == 1 do dump', 'ctrace.trigger.TWO = when data1 == 2 do dump')
    room.whole(*('trace', 'app', DEBUG, '2') * 20)
    dumps = sorted(os.path.basename(path) for path in glob.glob(room.at('*.dump*')))
    seconds = {re.search(r'[0-9]{8}-[0-9]{6}', name)[0] for name in dumps}
    tap.check('two triggers make one dump in a second', dumps and len(dumps) == len(seconds), dumps)
    room.close()


for part in (one_dump_in_a_second, fields_of_records, the_end, spans, spans_by_item, dumps_what_came_before, nothing_matches, how_often, levels, commands, kept, hostile, programs, programs_of_a_reaper, forks, console, many, slip, slip_mod, slip_member):
    part()
sys.exit(tap.end())
