#!/usr/bin/env python3
"""A process that traces nothing is dormant, and what wakes it: each verb of an operator, the program itself; a handler, a fork, a kill.

Random sequences of changes leave a dormant process in the state of an ordinary one.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
from tap import Tap  # pylint: disable=wrong-import-position

SOURCE, BUILD = os.environ['CTRACE_SOURCE'], os.environ['CTRACE_BUILD']
TOOL = os.path.join(BUILD, 'ctrace')
SUBJECT = os.path.join(BUILD, 'tests', 'dormant_subject')
PATIENCE = 60  # seconds, only to stop what hangs
LEFT = 'is dormant; the change takes effect at its next trace call'
MEMORY = '/dev/shm'
SYSTEM_CALLS = 43  # of ours, in a dormant process with two tracers; a run directory in memory
tap = Tap(is_live=True)


class Subject:
    """A program that obeys lines, and its run directory."""

    def __init__(self, *command, **settings):
        self.path = tempfile.mkdtemp(prefix='dormant-', dir=os.getcwd())
        self.environment = {**os.environ, 'CTRACE_RUN_DIR': self.at('run')}
        self.environment.pop('MFTRACE_CONFIG', None)
        self.environment.update(settings)
        self.process = subprocess.Popen(command or [SUBJECT], env=self.environment, cwd=self.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.ready = self.process.stdout.readline().strip()

    def at(self, *names):
        return os.path.join(self.path, *names)

    def tell(self, order):
        self.process.stdin.write(order + '\n')
        self.process.stdin.flush()

    def hear(self):
        return self.process.stdout.readline().strip()

    def ask(self, order):
        self.tell(order)
        return self.hear()

    def tool(self, *arguments):
        return subprocess.run([TOOL, *arguments], env=self.environment, cwd=self.path, capture_output=True, text=True, timeout=PATIENCE,
                              check=False)

    def begin(self, *arguments):
        """A tool that runs beside the program."""
        return subprocess.Popen([TOOL, *arguments], env=self.environment, cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def files(self):
        return sorted(os.path.basename(path) for path in glob.glob(self.at('run', '*.0', '*')))

    def listed(self):
        return [json.loads(line) for line in self.tool('list', '--json').stdout.splitlines()]

    def components(self):
        """{name: level} of the only process."""
        return {one['component']: one['level'].lower() for one in self.listed()[0]['components']}

    def state(self):
        """What its changes have come to."""
        shown = self.listed()[0]
        return ([(one['component'], one['level'], one.get('destinations')) for one in shown['components']],
                [self.tool('prop', name, 'note').stdout.split()[2:] for name in ('APP.ONE', 'APP.TWO')],
                re.sub(r'^\d+ \S+ +', '', self.tool('trigger', 'list').stdout, flags=re.M))

    def end(self):
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode

    def gone(self):
        status = self.end()
        left = os.listdir(self.at('run'))
        shutil.rmtree(self.path)
        return status == 0 and not set(left) - {'asid', 'triggers'}  # triggers: kept for those that come


def sleeps():
    subject = Subject()
    tap.same('it has no file but its session', subject.files(), ['session'])
    tap.same('no thread', subject.ask('threads'), '1')
    tap.same('it is listed, with its components', subject.components(), {'APP.ONE': 'none', 'APP.TWO': 'none'})
    asked = [subject.tool(*one) for one in (('stats',), ('op', 'D TRACE'), ('level', 'APP.ONE'), ('dest', 'APP.ONE'), ('flush',))]
    tap.check('stats, D TRACE, a level, its destinations and a flush are answered', all(one.returncode == 0 for one in asked), *asked)
    tap.check('there is nothing to rotate', 'nothing to rotate' in subject.tool('rotate').stdout)
    tap.same('and no trigger', subject.tool('trigger', 'list').stdout, '')
    tap.check('D TRACE shows it off', re.search(r'APP\.ONE\s+(?:\S+\s+)?OFF|OFF.*APP', subject.tool('op', 'D TRACE,COMP=APP').stdout + subject.tool(
        'op', 'D TRACE').stdout), subject.tool('op', 'D TRACE').stdout)
    done = subject.tool('level', 'NOBODY', 'debug')
    tap.check('a component that it does not have', done.returncode != 0 and 'no running process has' in done.stderr, done)
    subject.ask('trace 3')
    tap.same('none of that has woken it', (subject.ask('threads'), subject.files()), ('1', ['session']))
    tap.check('its end leaves nothing', subject.gone())


# a change, and what it has come to after the next trace call
VERBS = [
    (('level', 'APP.ONE', 'info'), lambda it: it.components()['APP.ONE'] == 'info'),
    (('level', 'APP', 'error'), lambda it: it.components() == {'APP.ONE': 'error', 'APP.TWO': 'error'}),
    (('level', '', 'warn'), lambda it: it.components()['APP.TWO'] == 'warn'),
    (('dest', 'APP.ONE', '+stderr'), lambda it: 'STDERR' in it.tool('list').stdout),
    (('prop', 'APP.ONE', 'note', 'seen'), lambda it: 'seen' in it.tool('prop', 'APP.ONE', 'note').stdout),
    (('reload', 'app.cfg'), lambda it: it.components()['APP.TWO'] == 'fatal'),
    (('trigger', 'add', 'T', '--when=event = 77', '--do=dump'), lambda it: ' T ' in it.tool('trigger', 'list').stdout),
    (('op', '--reply', 'END', 'TRACE CT,ON,COMP=APP.ONE'), lambda it: it.components()['APP.ONE'] == 'debug'),
]


def woken_by(verb, holds):
    words = ' '.join(verb)
    subject = Subject()
    with open(subject.at('app.cfg'), 'w', encoding='utf-8') as file:
        file.write('mftrace.level = fatal\n')
    left = subject.tool(*verb)
    tap.check(f'{words}: is left to a process that makes no trace call, and well', left.returncode == 0 and LEFT in left.stdout + left.stderr, left)
    tap.check(f'{words}: waits in its directory', 'ask.0' in subject.files(), subject.files())
    subject.ask('trace 1')
    tap.check(f'{words}: is in force after the next call', holds(subject), subject.tool('list').stdout, subject.tool('trigger', 'list').stdout)
    tap.check(f'{words}: is taken, and the process listens', 'ask.0' not in subject.files() and 'control' in subject.files(), subject.files())
    tap.check(f'{words}: and leaves nothing', subject.gone())
    # A program that traces meanwhile answers at once.
    subject = Subject()
    with open(subject.at('app.cfg'), 'w', encoding='utf-8') as file:
        file.write('mftrace.level = fatal\n')
    tool = subject.begin(*verb)
    while tool.poll() is None:
        subject.ask('trace 1')
    told = tool.communicate()[0]
    tap.check(f'{words}: wakes a process that traces', tool.returncode == 0 and LEFT not in told and holds(subject), told)
    tap.check(f'{words}: and that leaves nothing', subject.gone())


def delivers_at_once():
    """The call that wakes it is treated under the new level."""
    subject = Subject()
    tap.check('two changes are left', all(subject.tool(*one).returncode == 0 for one in (
        ('level', 'APP.ONE', 'info'), ('dest', 'APP.ONE', '+textfile'))))
    subject.ask('trace 2')
    subject.tool('flush')
    text = ''.join(open(path, encoding='utf-8').read() for path in glob.glob(subject.at('*.log')))
    tap.same('both calls are recorded', re.findall(r'APP\.ONE 1 1 (\d)', text), ['2', '3'])
    tap.check('none of the others', 'APP.TWO' not in text, text)
    tap.check('nothing is left', subject.gone())


def itself():
    subject = Subject()
    tap.same('the program changes itself', subject.ask('configure mftrace.level = info'), 'SUCCESS')
    tap.same('and is awake', (subject.ask('level'), 'control' in subject.files()), ('1', True))
    tap.check('an operator is answered', 'INFO' in subject.tool('level', 'APP.ONE', 'warn').stdout)
    tap.check('nothing is left', subject.gone())
    subject = Subject()
    tool = subject.begin('level', 'APP.ONE', 'warn')
    subject.ask('configure mftrace.level.APP.TWO = info')
    told = tool.communicate(timeout=PATIENCE)[0]
    subject.ask('trace 1')
    tap.same('both at a time', (tool.returncode, subject.components()), (0, {'APP.ONE': 'warn', 'APP.TWO': 'info'}))
    tap.check('nothing is left then', subject.gone(), told)


def in_a_handler():
    subject = Subject()
    subject.tool('level', 'APP.ONE', 'info')
    tap.same('a handler does not wake it', subject.ask('handler'), 'NOT_ENOUGH_MEMORY')
    tap.same('it is as it was', (subject.ask('threads'), 'ask.0' in subject.files()), ('1', True))
    stats = subject.tool('stats').stdout
    tap.check('the event is counted', re.search(r'lost 1\b', stats) and 'nested' in stats, stats)
    subject.ask('trace 1')
    tap.same('the next call outside does', subject.components()['APP.ONE'], 'info')
    subject.end()
    shutil.rmtree(subject.path)


def killed():
    subject = Subject()
    subject.tool('level', 'APP.ONE', 'info')
    subject.process.kill()
    subject.end()
    tap.check('killed between the request and its next call', 'ask.0' in subject.files(), subject.files())
    done = subject.tool('list')
    tap.same('the next command removes what is left', os.listdir(subject.at('run')), ['asid'])
    tap.check('and says nothing about it', 'damaged' not in done.stdout + done.stderr, done)
    shutil.rmtree(subject.path)


def forked():
    subject = Subject()
    subject.tell('fork')
    child = subject.hear().split()[1]
    subject.ask('trace 1')
    tap.same('a child that traces is dormant on its own', len(subject.listed()), 2)
    tap.same('without a thread', subject.ask('threads'), '1')
    left = subject.tool('level', '--pid', child, 'APP.ONE', 'info')
    subject.ask('trace 1')
    levels = {one['pid']: one['components'][0]['level'].lower() for one in subject.listed()}
    tap.same('only the child is woken', sorted((str(pid) == child, level) for pid, level in levels.items()), [(False, 'none'), (True, 'info')])
    tap.check('nothing is left', subject.gone(), left)
    subject = Subject()
    subject.tool('level', 'APP.ONE', 'info')  # left to the parent, which forks
    subject.tell('fork')
    subject.hear()
    subject.ask('trace 1')
    levels = sorted(one['components'][0]['level'].lower() for one in subject.listed())
    tap.same('what was left to the parent is not the child\'s', levels, ['none', 'none'])
    subject.end()
    shutil.rmtree(subject.path)


CHANGES = [('level', 'APP.ONE', 'info'), ('level', 'APP.ONE', 'none'), ('level', 'APP.TWO', 'debug'), ('level', '', 'error'),
           ('level', 'APP', 'fatal'), ('dest', 'APP.ONE', '+stderr'), ('dest', 'APP.ONE', '(binfile)'), ('dest', 'APP.ONE', '-binfile'),
           ('prop', 'APP.ONE', 'note', '1'), ('prop', 'APP.ONE', 'note', '2'), ('prop', 'APP.TWO', 'note', '3'), ('trigger', 'add', 'A', '--when=event = 5', '--do=dump'),
           ('trigger', 'remove', 'A'), ('op', '--reply', 'END', 'TRACE CT,ON,COMP=APP.TWO'), ('op', '--reply', 'END', 'TRACE CT,OFF,COMP=APP.ONE')]


def alike(seed):
    """The same changes to a dormant process and to one that is awake."""
    chance = random.Random(seed)
    sequence = [chance.choice(CHANGES) for _ in range(chance.randrange(1, 5))]
    dormant, awake = Subject(), Subject()
    awake.ask('configure ctrace.keep = 7d')
    dormant_first = chance.randrange(len(sequence) + 1)
    for i, change in enumerate(sequence):
        if i == dormant_first:
            dormant.ask('trace 1')
        dormant.tool(*change)
        awake.tool(*change)
    for subject in dormant, awake:
        subject.ask('trace 1')
    tap.same(f'both are alike (seed {seed}): {" / ".join(" ".join(one) for one in sequence)}', dormant.state(), awake.state())
    for subject in dormant, awake:
        subject.end()
        shutil.rmtree(subject.path)


def without_threads():
    """The end of a dormant process starts none, on a disk as in memory."""
    subject = Subject()
    if subject.ask('forbid') != 'done':
        tap.skip('an end that starts no thread', 'seccomp cannot be used')
    else:
        tap.check('the end starts no thread', subject.gone(), subject.process.returncode)


def another_user():
    if os.geteuid() != 0:
        tap.skip('a process that changes its user', 'only root can')
        return
    subject = Subject()
    tap.check('a process that has not changed its user is woken', 'cannot be woken' not in subject.tool('list').stdout)
    tap.same('it changes its user', subject.ask('user 65534'), '0')
    done = subject.tool('level', 'APP.ONE', 'info')
    tap.check('a change is refused, with the reason and what to do', done.returncode == 1 and 'changed its user' in done.stderr and
              'MFTRACE_CONFIG' in done.stderr and LEFT not in done.stdout + done.stderr, done.returncode, done.stdout, done.stderr)
    tap.check('list says so', 'it has changed its user and cannot be woken' in subject.tool('list').stdout)
    told = subject.tool('doctor', str(subject.process.pid))
    tap.check('doctor says so', 'the process has changed its user' in told.stdout, told)
    subject.ask('trace 1')
    tap.same('it is as it was', (subject.ask('threads'), subject.files()), ('1', ['session']))
    subject.end()
    shutil.rmtree(subject.path)


def truncated():
    """Somebody cuts the session of a program that notes faults: it lives, and what tools say is true, before and after the file has its size again."""
    with open('cut.cfg', 'w', encoding='utf-8') as file:
        file.write('mftrace.level = debug\nmftrace.dest = stderr\nctrace.dump.on = fatal-signal\n')
    subject = Subject(MFTRACE_CONFIG=os.path.abspath('cut.cfg'))
    session = glob.glob(subject.at('run', '*.0', 'session'))[0]
    os.chmod(session, 0o600)
    os.truncate(session, 0)
    tap.same('the program lives', subject.ask('trace 3'), '4')
    for when in 'at once', 'when the file has its size again':
        told = [subject.tool('list'), subject.tool('level', 'APP.ONE', 'info'), subject.tool('level', '', 'info'), subject.tool('doctor', str(subject.process.pid))]
        tap.check(f'list, level and doctor say that it was truncated: {when}', all('truncated' in one.stdout + one.stderr for one in told), *told)
        tap.check(f'a change fails: {when}', told[1].returncode == 1 and told[2].returncode == 1, *told)
        deadline = time.monotonic() + PATIENCE
        while subject.tool('list').returncode != 0 and time.monotonic() < deadline:
            pass
    subject.end()
    shutil.rmtree(subject.path)


def numbered():
    """The first who looks at a dormant process gives it its ASID."""
    first, second = Subject(), Subject()
    numbers = [pathlib.Path(one.at('run', 'asid')).read_bytes()[:4] for one in (first, second)]
    tap.same('nobody has looked: there are no numbers', numbers, [bytes(4), bytes(4)])
    beside = Subject(CTRACE_RUN_DIR=first.at('run'))
    asids = sorted(one['asid'] for one in first.listed())
    tap.same('each has a number of its own', (len(set(asids)), '0000' in asids), (2, False))
    tap.same('and keeps it', sorted(one['asid'] for one in first.listed()), asids)
    first.tool('level', 'APP.ONE', 'info')
    first.ask('trace 1')
    tap.same('also when it wakes', sorted(one['asid'] for one in first.listed()), asids)
    tap.check('its clock is chosen then', sorted('none yet' in one['clock'] for one in first.listed()) in ([False, True], [False, False]), first.listed())
    beside.end()
    shutil.rmtree(beside.path)
    tap.check('nothing is left', all([first.gone(), second.gone()]))


COBOL = """       identification division.
       program-id. sleeper.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 trace-event     cblt-trc-event.
       01 tracer          cblt-x4-comp5.
       01 wanted          pic x(8) value spaces.
       01 done            pic x value "n".
       procedure division.
           call "CBL_CTF_TRACER_GET" using by value 0
               by reference "APP.ONE " tracer
           move 1 to cblte-trcevt-event-id of trace-event
           move 78-CTF-FLAG-LEVEL-INFO
               to cblte-trcevt-level of trace-event
           display "ready"
           perform until done = "y"
               move "end" to wanted
               accept wanted
               if wanted = "end"
                   move "y" to done
               else
                   call "CBL_CTF_TRACE" using by value 0
                       by reference tracer trace-event
                   display "traced"
               end-if
           end-perform
           move 0 to return-code
           stop run.
"""


def in_cobol():
    if shutil.which('cobc') is None:
        tap.skip('a COBOL program', 'there is no cobc')
        return
    with open('sleeper.cbl', 'w', encoding='utf-8') as file:
        file.write(COBOL)
    subprocess.run(['cobc', '-x', '-w', '-fixed', '-I', os.path.join(SOURCE, 'copy'), '-Q', f'-Wl,--no-as-needed,-rpath,{BUILD}', f'-L{BUILD}', '-lctrace',
                    '-o', 'sleeper', 'sleeper.cbl'], check=True, timeout=PATIENCE)
    subject = Subject(os.path.abspath('sleeper'))
    tap.same('a COBOL program is dormant', (subject.ready, subject.ask('trace'), subject.files()), ('ready', 'traced', ['session']))
    left = [subject.tool(*one) for one in (('level', 'APP.ONE', 'info'), ('dest', 'APP.ONE', '+textfile'))]
    tap.check('changes are left to it', all(one.returncode == 0 and LEFT in one.stdout for one in left), left)
    subject.ask('trace')
    subject.tool('flush')
    text = ''.join(open(path, encoding='utf-8').read() for path in glob.glob(subject.at('*.log')))
    tap.same('its next call is recorded', len(re.findall(r'APP\.ONE 1 1', text)), 1)
    subject.tell('end')
    tap.check('nothing is left', subject.gone())


def system_calls(argument):
    """Of a whole process."""
    path = tempfile.mkdtemp(prefix='ctrace-dormant-', dir=MEMORY)
    environment = dict(os.environ, CTRACE_RUN_DIR=os.path.join(path, 'run'))
    environment.pop('MFTRACE_CONFIG', None)
    for run in 'first', 'second':  # the first makes the run directory
        subprocess.run(['strace', '-f', '-o', os.path.join(path, run), SUBJECT, argument], env=environment, cwd=path, check=True, timeout=PATIENCE,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = open(os.path.join(path, 'second'), encoding='utf-8').read().splitlines()
    shutil.rmtree(path)
    return lines


def costs_little():
    if shutil.which('strace') is None or subprocess.run(['strace', '-o', os.devnull, 'true'], check=False, capture_output=True).returncode != 0:
        tap.skip('what a dormant process costs', 'strace cannot be used')
        return
    if not os.path.isdir(MEMORY):
        tap.skip('what a dormant process costs', f'there is no {MEMORY}')
        return
    nothing, short = system_calls('nothing'), system_calls('short')
    tap.check(f'a dormant process makes at most {SYSTEM_CALLS} system calls of ours', len(short) - len(nothing) <= SYSTEM_CALLS,
              len(short) - len(nothing), *short[len(nothing) - 10:])


sleeps()
for one in VERBS:
    woken_by(*one)
delivers_at_once()
itself()
in_a_handler()
killed()
forked()
without_threads()
another_user()
numbered()
truncated()
in_cobol()
costs_little()
for one in range(40 if 'CTRACE_TEST_LONG' in os.environ else 5):
    alike(one)
sys.exit(tap.end())
