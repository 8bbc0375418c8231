#!/usr/bin/env python3
"""A signal at each moment of what must not miss one: a temporary directory is gone after its tool in any case, and Ctrl-C is never lost on a
console, nor ends it.

A first run tells which calls are made, and in each later one the signal comes before or after one of them.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

BUILD = os.environ['CTRACE_BUILD']
TOOL = os.path.join(BUILD, 'ctrace')
STEPS = os.path.join(BUILD, 'tests', 'steps')
PRELOAD = os.path.join(BUILD, 'tests', 'libsignalat.so')
PATIENCE = 60  # for what hangs; no test of speed
ROOM = os.getcwd()
ENVIRONMENT = {**os.environ, 'LD_PRELOAD': PRELOAD, 'TMPDIR': ROOM, 'HOME': ROOM, 'TERM': 'vt100', 'CTRACE_RUN_DIR': os.path.join(ROOM, 'run')}


def moments_of(run):
    """The moments that are passed when nothing is sent."""
    seen = os.path.join(ROOM, 'seen')
    run(SIGNAL_SEEN=seen)
    with open(seen, encoding='ascii') as file:
        labels = list(dict.fromkeys(file.read().split()))
    os.unlink(seen)
    return labels


# ---- temporary directories

def run_tool(*words, **variables):
    """The status of the tool, once it and what it has started are gone."""
    alive, other = os.pipe()
    with subprocess.Popen([TOOL, *words], env={**ENVIRONMENT, **variables}, pass_fds=[other], start_new_session=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tool:
        os.close(other)
        status = tool.wait(PATIENCE)
        assert select.select([alive], [], [], PATIENCE)[0], 'the keeper stays'
        os.close(alive)
    return status


def directories():
    return glob.glob(os.path.join(ROOM, 'ctrace-*')) + glob.glob('/tmp/ctrace-doctor.*')


def directories_are_removed(*words, moments, usual):
    """`usual`: the statuses of a tool that has lived on."""
    before = directories()
    labels = moments_of(lambda **variables: run_tool(*words, **variables))
    for name in moments:
        assert any(name in label for label in labels), (name, labels)
    wrong = []
    for number in (signal.SIGKILL, -signal.SIGKILL, -signal.SIGHUP, signal.SIGTERM, -signal.SIGTERM, -signal.SIGINT):
        for label in labels:
            status = run_tool(*words, SIGNAL_AT=label, SIGNAL=str(int(number)))
            left = [path for path in directories() if path not in before]
            if left or status not in (-abs(number), *usual):
                wrong.append((number, label, status, left))
            for path in left:
                subprocess.run(['rm', '-r', path], check=True)
    assert not wrong, '\n'.join(map(str, wrong))


def copies_are_removed():
    """The directory is made before the server is looked for."""
    directories_are_removed('show', 'nats://127.0.0.1:1/TRACES', moments=('own:fork', 'own:mkdir', 'mkdtemp', 'child:setsid', 'child:read'), usual=(2,))


def doctors_are_removed():
    """A key ends the program, and not the report about it."""
    directories_are_removed('doctor', 'env', '-u', 'LD_PRELOAD', STEPS, 'trace', 'a.b', '1', '100',
                            moments=('own:fork', 'own:mkdir', 'mkdtemp', 'own:rmdir', 'child:setsid', 'child:read'), usual=(0, 1, 3, 4))


def wait_until_gone(paths):
    end = time.monotonic() + PATIENCE
    while [path for path in paths if os.path.exists(path)]:
        assert time.monotonic() < end, ('stays', paths)
        time.sleep(0.01)


def background_goes_on():
    """A process in the background goes on without the run directory, and one that begins later makes none."""
    for name in ('hold', 'up', 'go', 'ended'):
        os.mkfifo(name)
    later = 'read unused <go; "$0" trace a.b 1 100; echo >ended'
    script = f'("$0" trace a.b 1 1 say ready pause <hold >up; {later}) >/dev/null 2>&1 & read unused <up; '
    for end, status in (('kill -KILL $PPID', -signal.SIGKILL), ('kill -TERM $PPID', -signal.SIGTERM), ('kill -HUP $PPID', -signal.SIGHUP), (':', 1)):
        before = directories()
        hold = os.open('hold', os.O_RDWR)
        doctor = subprocess.run([TOOL, 'doctor', 'sh', '-c', script + end, STEPS], env={**os.environ, 'TMPDIR': ROOM}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=PATIENCE, text=True, check=False)
        left = [path for path in directories() if path not in before]
        if end != ':':
            wait_until_gone(left)
        os.write(hold, b'\n')
        for name, mode in (('go', 'w'), ('ended', 'r')):
            with open(name, mode, encoding='ascii') as fifo:
                fifo.write('\n') if mode == 'w' else fifo.read()
        os.close(hold)
        assert doctor.returncode == status, (end, doctor)
        made = [path for path in directories() if path not in before]
        assert [f'{path}/run\n' in doctor.stderr for path in made] == [True] * (end == ':'), (end, made, doctor)
        for path in made:
            subprocess.run(['rm', '-r', path], check=True)


# ---- Ctrl-C on a console, from the end of a line until its command waits for a process that is stopped

class Console:
    def __init__(self, variables):
        self.process, self.fd = pty.fork()
        if self.process == 0:
            os.execve(TOOL, ['ctrace', 'console'], {**ENVIRONMENT, **variables})
        self.text = b''

    def until(self, pattern):
        end = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.text)):
            assert select.select([self.fd], [], [], end - time.monotonic())[0], ('hangs', pattern, self.text)
            try:
                self.text += os.read(self.fd, 4096)
            except OSError as error:
                raise AssertionError(('ended', pattern, self.text)) from error
        return found

    def end(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.fd)


def type_command(**variables):
    console = Console(variables)
    try:
        console.until(rb'ctrace> ')
        os.write(console.fd, b'D TRACE\n')
        if 'SIGNAL_AT' not in variables:
            console.until(rb'\n[^\n]*CTR\d+[^\n]*\n(.*\n)*.*ctrace> ')
            return
        found = console.until(rb'(CTR\d+I) [^\n]*\n(.*\n)*.*ctrace> ')
        assert found.group(1) == b'CTR025I', ('not interrupted', console.text)
        os.write(console.fd, b'HELP CTR999I\n')
        console.until(rb'There is no message CTR999I')
    finally:
        console.end()


def all_threads_are_stopped(process):
    """It has stopped only when each thread has: until then one could answer."""
    for thread in os.listdir(f'/proc/{process}/task'):
        with open(f'/proc/{process}/task/{thread}/stat', encoding='utf-8', errors='replace') as file:
            if file.read().rsplit(')', 1)[1].split()[0] != 'T':
                return False
    return True


def interrupts_are_taken():
    os.mkdir('run')
    with subprocess.Popen([os.path.join(BUILD, 'tests/operated')], env={**os.environ, 'CTRACE_RUN_DIR': ENVIRONMENT['CTRACE_RUN_DIR']},
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as operated:
        operated.stdin.write(b'define ONE\n')
        operated.stdin.flush()
        operated.stdout.readline()
        operated.send_signal(signal.SIGSTOP)
        while not all_threads_are_stopped(operated.pid):
            time.sleep(0.01)
        labels = [label for label in moments_of(lambda **variables: type_command(SIGNAL_FROM='\r\n', **variables)) if label.startswith('own')]
        assert 'own:fork:1:before' in labels, labels
        labels = labels[:labels.index('own:read:1:before') + 1]  # it waits for the command
        wrong = []
        for label in labels:
            try:
                type_command(SIGNAL_FROM='\r\n', SIGNAL_AT=label, SIGNAL=str(-int(signal.SIGINT)))
            except AssertionError as error:
                wrong.append((label, error))
        operated.kill()
    assert not wrong, '\n'.join(map(str, wrong))


def throw_away(**variables):
    """Ctrl-C takes a line away, and no key is needed to see it."""
    console = Console({'SIGNAL_FROM': 'x', **variables})
    try:
        console.until(rb'ctrace> ')
        os.write(console.fd, b'x')
        if 'SIGNAL_AT' in variables:
            console.until(rb'x[^\n]*\n.*ctrace> ')
            return
        console.until(rb'x')
        os.write(console.fd, b'\n')
        console.until(rb'CTR\d+')
    finally:
        console.end()


def lines_are_thrown_away():
    wait = next(label for label in moments_of(throw_away) if label.startswith('own'))
    assert wait in ('own:ppoll:1:before', 'own:read:1:before'), wait
    throw_away(SIGNAL_AT=wait, SIGNAL=str(-int(signal.SIGINT)))


TESTS = (copies_are_removed, doctors_are_removed, background_goes_on, interrupts_are_taken, lines_are_thrown_away)

if __name__ == '__main__':
    for at, test in enumerate(TESTS, 1):
        try:
            test()
            print(f'ok {at} - {test.__name__}', flush=True)
        except AssertionError as error:
            print(f'not ok {at} - {test.__name__}', *str(error).split('\n'), sep='\n#   ', flush=True)
    print(f'1..{len(TESTS)}')
