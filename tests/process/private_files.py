#!/usr/bin/env python3
"""What a verb writes about a trace is for its owner alone, whatever the umask is; and ctrace.command.line = off leaves the command line, which
may have secrets, out of all of it.

The verbs come from `ctrace help`, the formats from `ctrace export`: a new one is in the tables below, or the test fails.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import base64
import glob
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
import zlib

import streams
import writer
from otlp_receiver import Receiver
from writer import TOOL

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
STEPS = os.path.join(os.environ['CTRACE_BUILD'], 'tests', 'steps')
PATIENCE = 60
SECRET = 'hidden-password-42'
NOTHING = {'diff', 'list', 'doctor', 'stats', 'top', 'tail', 'level', 'dest', 'prop', 'reload', 'flush', 'rotate', 'respond', 'config', 'parmlib',
           'explain', 'help'}  # verbs that write no file
COBOL = b"""\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SMALL.
       PROCEDURE DIVISION.
       BEGIN-IT.
           STOP RUN.
"""
HAS_COBOL = os.path.exists(os.path.join(os.environ['CTRACE_BUILD'], 'libctrace-cobol.so'))


def formats():
    told = subprocess.run([TOOL, 'export', '-f', '?', '.'], capture_output=True, text=True, check=False).stderr
    return re.search(r'expected (.*)', told).group(1).replace(' or ', ', ').split(', ')


class Files(streams.Streams):
    """Programs with the secret in their command lines, and what is written about them."""

    def __init__(self, *lines):
        super().__init__()
        self.lines = lines
        self.environment['CTRACE_SPOOL'] = self.at('spool')
        self.environment['HOME'] = self.at()
        self.environment['SSH_TTY'] = '/dev/pts/1'  # no browser is started
        self.server, self.address = self.server()
        self.receiver = Receiver()
        self.printed = []
        self.settings('log', f'ctrace.log = {self.at("log")}')
        self.settings('storage', 'mftrace.dest = storage')
        self.settings('nats', 'mftrace.dest = nats', f'mftrace.emitter.nats#url = nats://127.0.0.1:{self.server.port}', 'ctrace.spool.linger = 0s')
        self.settings('run')
        for emitter in 'binfile', 'textfile':
            self.settings(emitter, f'mftrace.dest = {emitter}', f'mftrace.emitter.{emitter}#location = {self.at("logs")}',
                          f'mftrace.emitter.{emitter}#file = {emitter}')
        self.settings('otlp', 'mftrace.dest = otlp', f'mftrace.emitter.otlp#url = {self.receiver.url}')
        self.procedure('WR1', 'TRCOUT01 PATH=@1 PRIMARY=1M\n')
        with open(self.at('small.cob'), 'wb') as source:
            source.write(COBOL)
        if HAS_COBOL:
            subprocess.run(['cobc', '-x', '-ftrace', '-o', self.at('small'), self.at('small.cob')], check=True)
        self.before = set(self.paths())

    def settings(self, name, *lines):
        with open(self.at(f'{name}.cfg'), 'w', encoding='ascii') as file:
            file.write('\n'.join(['mftrace.level = debug', *lines, *self.lines, '']))

    def paths(self):
        for at, directories, names in os.walk(self.at()):
            if at == self.at():
                directories.remove(self.server.name)
            yield from (os.path.join(at, name) for name in directories + names)

    def ctrace(self, *words, config='log', status=0):
        done = subprocess.run([TOOL, *words], cwd=self.at(), env={**self.environment, 'MFTRACE_CONFIG': self.at(f'{config}.cfg')},
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
        assert done.returncode == status, (words, done)
        self.printed += [done.stdout, done.stderr]

    def steps(self, config, *steps):
        """Waits for a line of the program."""
        process = subprocess.Popen([STEPS, 'trace', 'app', '4', '50', *steps, 'say', SECRET, 'pause'], cwd=self.at(), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env={**self.environment, 'MFTRACE_CONFIG': self.at(f'{config}.cfg')})
        self.processes.append(process)
        while SECRET.encode() not in process.stdout.readline():
            pass
        return process

    def ended(self, config, *steps):
        self.steps(config, *steps).communicate(b'\n')

    def end(self):
        self.receiver.stop()
        super().end()


def of_writer(room):
    process = room.writer()
    program = room.program()
    program.ask('on WR1')
    program.ask('run 10')
    program.settle()
    program.end()
    writer.finish(process)


def of_spool(room):
    room.ended('nats')
    process = subprocess.Popen([TOOL, 'forward', '--spool'], env=room.environment)
    room.processes.append(process)
    end = time.monotonic() + PATIENCE
    while glob.glob(room.at('spool', '*.ctb')):
        assert time.monotonic() < end
    writer.finish(process)


def of_recover(room):
    process = room.steps('storage')
    process.kill()
    process.wait()
    room.ctrace('show')
    room.ctrace('recover')


def rows():
    """The verb, and what makes it write."""
    yield 'show', lambda room: room.ctrace('show', '--split=thread', '-o', 'lines', 'whole.ctb')
    yield 'ipcs', lambda room: room.ctrace('ipcs', "COPYTRC OUTDATASET('copy')", 'whole.ctb')
    yield 'report', lambda room: room.ctrace('report', '-o', 'page.html', 'whole.ctb')
    yield 'open', lambda room: room.ctrace('open', 'whole.ctb')
    for how in formats():
        yield 'export', lambda room, how=how: room.ctrace('export', '-f', how, '-o', f'export.{how}', 'whole.ctb')
    yield 'repair', lambda room: room.ctrace('repair', '-o', 'repaired', 'whole.ctb')
    yield 'catalog', lambda room: room.ctrace('catalog', '-o', 'draft.yaml', 'draft', 'whole.ctb')
    yield 'dump', lambda room: room.ctrace('dump', '-o', 'dumps')
    yield 'trigger', lambda room: room.ctrace('trigger', 'add', 'T', '--when=level >= error', '--do=dump')
    yield 'op', lambda room: room.ctrace('op', 'D TRACE')
    yield 'console', lambda room: room.ctrace('console')
    yield 'writer', of_writer
    yield 'forward', lambda room: room.ctrace('forward', 'whole.ctb', room.address)
    yield 'forward', of_spool
    yield 'archive', lambda room: room.ctrace('archive', room.address, 'archive')
    yield 'recover', of_recover
    if HAS_COBOL:
        yield 'run', lambda room: room.ctrace('run', '-o', 'run.ctb', '--report=run.html', '--summary=always', './small', SECRET, config='run')
    else:
        checks.skip('run', 'libctrace-cobol.so was not built')


def is_private(path):
    """Owner alone; a link has no mode of its own."""
    mode = os.lstat(path).st_mode
    return stat.S_IMODE(mode) & 0o077 == 0 or stat.S_ISLNK(mode)


def everything(room):
    """Each row in turn: the verb wrote something, and all of it is private."""
    verbs = re.findall(r'^  (\w+) ', subprocess.run([TOOL, 'help'], capture_output=True, text=True, check=True).stdout.split('Verbs:')[1], re.MULTILINE)
    seen = set(room.before)
    for config in 'binfile', 'textfile', 'otlp':
        room.ended(config, 'flush')
    shutil.copytree(glob.glob(room.at('logs', 'binfile*'))[0], room.at('whole.ctb'))
    room.steps('storage')
    done = set()
    for verb, act in rows():
        act(room)
        new = set(room.paths()) - seen
        seen |= new
        done.add(verb)
        yield verb, new
    checks.same('each verb is in the table, or writes nothing', (set(verbs) ^ done ^ NOTHING) - ({'run'} if not HAS_COBOL else set()), set())


def check_modes():
    for mask in 0, 0o022:
        room = Files()
        before = os.umask(mask)
        try:
            for verb, new in everything(room):
                wrong = [(path, oct(os.lstat(path).st_mode)) for path in sorted(new) if not is_private(path)]
                checks.check(f'umask {mask:03o}: {verb} writes for its owner alone', (new or verb in ('op', 'console')) and not wrong, wrong, len(new))
        finally:
            os.umask(before)
            room.end()


# ---- the secret

def plain(content):
    """Also what a page has packed."""
    parts = [content]
    for packed in re.findall(rb'>([A-Za-z0-9+/=]{40,})<', content):
        try:
            parts.append(zlib.decompress(base64.b64decode(packed)))
        except (zlib.error, ValueError):
            pass
    return b'\0'.join(parts)


def places(room):
    """Where the secret is."""
    found = set()
    for path in set(room.paths()) - room.before:
        if os.path.isfile(path) and not os.path.islink(path):
            with open(path, 'rb') as file:
                if SECRET.encode() in plain(file.read()):
                    found.add(os.path.relpath(path, room.at()).split('/')[0].split('.')[0])
    if any(SECRET.encode() in plain(one) for one in room.printed):
        found.add('printed')
    if any(SECRET.encode() in body for body in room.receiver.bodies):
        found.add('otlp')
    return found


def check_secret(*lines):
    room = Files(*lines)
    try:
        for _ in everything(room):
            pass
        process = room.steps('storage', 'flush')
        for words in (['list'], ['list', '--json'], ['stats'], ['stats', '--json'], ['top', '--batch', '--iterations=1', '--interval=0.1'], ['show'],
                      ['show', '--json'], ['op', 'D TRACE']):
            room.ctrace(*words)
        room.ctrace('doctor', str(process.pid))
        room.ctrace('report', str(process.pid), '-o', 'live.html')
        process.send_signal(signal.SIGKILL)
        process.wait()
        return places(room)
    finally:
        room.end()


check_modes()
FOUND = check_secret()
checks.check('the command line is in a TEXTFILE, the run directory and OTLP, and in the trace of a COBOL program',
             {'logs', 'run', 'otlp'} <= FOUND, FOUND)
checks.same('ctrace.command.line = off: it is nowhere', check_secret('ctrace.command.line = off'), set())
sys.exit(checks.end())
