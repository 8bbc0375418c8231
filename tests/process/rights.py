#!/usr/bin/env python3
"""Who may do what: each row of the table in docs/security.md is tried as each party, with real users and a real nats-server; no value of
an emitter's property comes from outside, and no secret of one goes out.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import hosts
import operators
import streams
import writer
from operators import BUILD, COMMANDER, DISPLAYERS, OPERATORS, OWNER, STRANGER, WATCHER, gid, tap
from writer import TOOL

REFUSED = ('is refused to user', 'is not for other machines', 'may not be sent as a display', 'its user alone reads it', 'no data to read',
           'this is no request', 'is the business of the user')
STRANGE = ('it belongs to user', 'permission denied, a link in the way', 'no traced process is running; the trigger is kept for those that come',
           'no trace\n')
# Which row needs which right of src/session/right.c.
RIGHTS = {'list': 'LIST', 'stats': 'STATS', 'stats PATH': 'STATS_PATH', 'level NAME': 'LEVEL_SHOW', 'level NAME LEVEL': 'LEVEL',
          'dest NAME': 'DEST_SHOW', 'dest NAME DEST': 'DEST', 'dest NAME NEW': 'DEST_OTHER', 'prop NAME': 'PROPERTY_SHOW',
          'prop NAME KEY VALUE': 'PROPERTY', 'prop emitter:NAME': 'EMITTER_SHOW', 'prop emitter:NAME KEY VALUE': 'EMITTER',
          'flush': 'FLUSH', 'rotate': 'ROTATE', 'reload': 'RELOAD', 'reload PATH': 'RELOAD_PATH', 'op "D TRACE"': 'DISPLAY', 'op "TRACE CT,OFF,COMP=shop"': 'TRACE',
          'op "TRACE CT,,COMP=SHOP,PARM=CTPRE"': 'TRACE_LATER', 'op "TRACE CT,WTRSTART=CTW"': 'OPERATE', 'op "TRACE CT,WTRSTOP=CTW"': 'OPERATE',
          'op "DUMP COMM=(TITLE)"': 'OPERATE', 'trigger list': 'TRIGGER_LIST', 'trigger add NAME': 'TRIGGER', 'trigger add NAME run': 'TRIGGER_RUN'}
BETWEEN = {'IDENTIFY', 'WRITER_UP', 'OTHER'}  # of requests that nobody types
# Who may, gets this; the owner undoes first what another did.
DONE = {'op "TRACE CT,,COMP=SHOP,PARM=CTPRE"': ('ITT038I ALL', 'TRACE CT,,COMP=SHOP,PARM=CTDEL'),
        'op "TRACE CT,WTRSTART=CTW"': ('ITT110I', 'TRACE CT,WTRSTOP=CTW'), 'op "TRACE CT,WTRSTOP=CTW"': ('ITT111I', 'TRACE CT,WTRSTART=CTW'),
        'op "DUMP COMM=(TITLE)"': ('IEA794I', 'D TRACE')}
SECRET = 'pa55word-of-nobody'


class Machine(operators.Room):
    """A program of the owner, who has both groups; a server and the owner's responder."""

    def __init__(self):
        super().__init__(f'ctrace.operators = {OPERATORS}', f'ctrace.operators.display = {gid(DISPLAYERS)}', 'mftrace.dest.offered = textfile',
                         'mftrace.level = info', f'ctrace.log = /dev/null')
        os.mkdir(self.at('modules'))
        shutil.copy(os.path.join(BUILD, 'modules', 'nats.so'), self.at('modules', 'nats.so'))
        shutil.copy(os.path.join(BUILD, 'tests', 'operated'), self.at('operated'))
        for name, text in (('parmlib/CTPRE', 'TRACEOPTS SUB(LATER) PRESET(PUT)\n'), ('parmlib/CTDEL', 'TRACEOPTS SUB(LATER) PRESET(DELETE)\n'),
                           ('proclib/CTW', f'TRCOUT01 PATH={self.at(str(OWNER), "data")} PRIMARY=1M\n')):
            os.makedirs(os.path.dirname(self.at(name)), 0o755, exist_ok=True)
            with open(self.at(name), 'w', encoding='ascii') as file:
                file.write(text)
        self.program = self.start('trace', 'shop', '1', '3')
        self.defined = self.popen(OWNER, self.at('operated'), stdin=subprocess.PIPE)
        self.processes.append(self.defined)
        self.defined.stdin.write('define SHOP head headopts mod\n')
        self.defined.stdin.flush()
        assert self.defined.stdout.readline() == 'ok\n'
        (self.port,) = streams.free_ports(1)
        streams.Server(self, 'server', self.port).until('Server is ready')
        self.responder = self.popen(OWNER, self.at('ctrace'), 'respond', '--name=alpha', f'nats://127.0.0.1:{self.port}', stderr=subprocess.PIPE)
        self.processes.append(self.responder)
        line = self.responder.stderr.readline()
        assert line == 'ctrace respond: alpha listens\n', line

    def environment(self, user):
        return dict(super().environment(user), CTRACE_PARMLIB=self.at('parmlib'), CTRACE_PROCLIB=self.at('proclib'))

    def asked(self, party, words):
        """What comes back when the party asks, and whether that was refused."""
        if party in ('command', 'display'):
            text = streams.request(self.port, f'ctrace.op.alpha.{party}', streams.json.dumps({'words': words, 'user': 'x@y'}))
            answers = re.findall(r'\{"status":.*\}', text)
            text = answers[-1] if answers else text
        else:
            text = self.tool({'owner': OWNER, 'member': COMMANDER, 'viewer': WATCHER, 'stranger': STRANGER}[party], *words)[1]
        return text, any(refusal in text for refusal in REFUSED)


def table():
    """{words: {party: may}} of docs/security.md."""
    with open(os.path.join(os.environ['CTRACE_SOURCE'], 'docs', 'security.md'), encoding='utf-8') as file:
        text = file.read()
    found = {}
    for row in re.findall(r'^\| `(.*)` \| (yes|no) \| (yes|no) \| (yes|no) \| (yes|no) \| (yes|no) \|$', text, re.MULTILINE):
        found[row[0]] = dict(zip(('owner', 'member', 'viewer', 'command', 'display'), (cell == 'yes' for cell in row[1:])))
    return found


def every_right_has_a_row(rows):
    with open(os.path.join(os.environ['CTRACE_SOURCE'], 'src', 'session', 'right.c'), encoding='utf-8') as file:
        rights = set(re.findall(r'^\t\[CT_RIGHT_(\w+)\] = ', file.read(), re.MULTILINE))
    tap.same('each right has a row', rights - BETWEEN, set(RIGHTS.values()))
    tap.same('each row has a right', set(rows), set(RIGHTS))


def every_row_as_every_party():
    room = Machine()
    given = {'NAME LEVEL': 'shop info', 'NAME KEY VALUE': 'shop key value', 'emitter:NAME KEY VALUE': 'emitter:textfile FILE ' + room.at('stolen'),
             'emitter:NAME': 'emitter:textfile', 'PATH': room.at('app.cfg'), 'NAME DEST': 'shop storage', 'NAME NEW': 'shop otlp', 'NAME': 'shop'}
    rows = table()
    every_right_has_a_row(rows)
    for row, parties in rows.items():
        done, undo = DONE.get(row, ('', ''))
        words = row.split(' ', 1)
        if len(words) > 1 and words[0] == 'op':
            words = ['op', words[1].strip('"')]
        elif len(words) > 1 and words[0] != 'trigger':
            words = [words[0], *given.get(words[1], words[1]).split()]
        elif len(words) > 1:
            words = row.split()[:2] + (['T', '--when', 'event = 77', '--do', 'run:/bin/true' if 'run' in row else 'stop'] if 'add' in row else [])
        before = room.asked('owner', ['trigger', 'list'])
        text, _ = room.asked('stranger', words)
        tap.same(f'{row}, as another user: no trigger', room.asked('owner', ['trigger', 'list']), before)
        tap.check(f'{row}, as another user: no', any(refusal in text for refusal in STRANGE), words, text)
        for party, may in parties.items():
            if undo:
                room.asked('owner', ['op', undo])
            is_here = party not in ('command', 'display')
            text, is_refused = room.asked(party, [*words, *(['--reply=END'] if is_here and row.startswith(('op "TRACE', 'op "DUMP')) else [])])
            if may and row.startswith('op "DUMP') and not is_here:
                text, is_refused = room.asked(party, ['op', f'R {re.search("[*]([0-9]+) IEE094D", text)[1]},END'])
            tap.check(f'{row}, as {party}: it is done', not may or done in text, words, text)
            if row == 'dest NAME NEW' and party == 'owner':
                is_refused = False  # the module otlp.so is not here
            tap.check(f'{row}, as {party}: {"yes" if may else "no"}', is_refused != may and 'an unknown command' not in text, words, text)
    room.asked('owner', ['op', 'TRACE CT,WTRSTOP=CTW'])
    tap.check('nothing was written where a party outside said', not os.path.exists(room.at('stolen')))
    for party, word in (('member', f'refused to user {COMMANDER}'), ('command', 'refused to user claimed:x@y')):
        text, _ = room.asked(party, ['dest', 'shop', 'stderr'])
        tap.check(f'{party} is told where a destination is named', word in text and 'name it in mftrace.dest' in text, text)
        text, _ = room.asked(party, ['dest', 'shop', 'textfile'])
        tap.check(f'{party} chooses one that the configuration names', 'TEXTFILE' in text and 'refused' not in text, text)
    text = room.tool(COMMANDER, 'op', 'TRACE CT,ON,COMP=shop', "--reply=OPTIONS=('DEST=(STDERR)'),END")[1]
    tap.check('nor with the options of TRACE CT', 'refused to user' in text and 'STDERR' not in room.tool(OWNER, 'dest', 'shop')[1], text)
    names = 0
    for emitter in 'binfile', 'textfile', 'nats', 'stderr':
        rows = streams.json.loads(room.tool(OWNER, 'prop', '--json', f'emitter:{emitter}')[1])['results']
        for name in sorted({row['property'] for row in rows}):
            names += 1
            for party in 'member', 'command':
                text, is_refused = room.asked(party, ['prop', f'emitter:{emitter}', name, '/tmp/x'])
                if not is_refused:
                    tap.check(f'no value of {emitter} {name} comes from {party}', False, text)
    tap.check('each property of each emitter was tried', names > 20, names, rows)
    room.responder.send_signal(signal.SIGTERM)
    log = room.responder.stderr.read()
    tap.check('displays are logged, with the sender as a claim', 'ctrace respond: display claimed by x@y: level shop\n' in log, log)
    tap.check('commands are too', 'ctrace respond: command claimed by x@y: flush\n' in log, log)
    room.close()


def what_was_given_up_is_not_carried_out(room):
    """By a process that was stopped meanwhile."""
    _, (alpha,) = room.machines('alpha')
    program = hosts.on(room, 'alpha')
    before = room.ask('alpha', 'level', 'WRT').stdout
    os.kill(program.process.pid, signal.SIGSTOP)
    late = room.ask('alpha', 'level', 'WRT', 'fatal', '--timeout=20', check=False)
    assert late.returncode == 1, late
    local = subprocess.run([TOOL, 'level', 'WRT', 'none', '--timeout=1'], env={**room.environment, 'CTRACE_RUN_DIR': room.at('alpha')},
                           capture_output=True, text=True, check=False)
    assert local.returncode == 1, local
    os.kill(program.process.pid, signal.SIGCONT)
    assert room.ask('alpha', 'level', 'WRT').stdout == before
    program.end()
    room.ended(alpha)


def displays_hold_up_no_command(room):
    """Neither 1,500 of them nor those that wait for a stopped program."""
    server, (alpha,) = room.machines('alpha', )
    programs = [hosts.on(room, 'alpha') for _ in range(2)]
    os.kill(programs[1].process.pid, signal.SIGSTOP)
    display = '{"words":["level","WRT","--timeout=20"],"user":"x"}'
    with streams.socket.create_connection(('127.0.0.1', server.port), writer.PATIENCE) as link:
        link.sendall(b'CONNECT {"headers":true,"verbose":false}\r\nSUB _INBOX.flood.> 1\r\n')
        link.sendall(''.join(f'PUB ctrace.op.alpha.display _INBOX.flood.{number} {len(display)}\r\n{display}\r\n' for number in range(1500)).encode())
        changed = room.ask('alpha', 'level', 'WRT', 'warn', f'--pid={programs[0].process.pid}')
        assert 'WARN' in changed.stdout, changed
        received = ''
        while received.count('too many requests wait on this machine; try again later') < 1500 - 256 - 1:
            received += link.recv(65536).decode('utf-8', 'replace')
    os.kill(programs[1].process.pid, signal.SIGCONT)
    for program in programs:
        program.end()
    room.ended(alpha)


def answers_are_for_their_user(room):
    """The users of examples/cluster subscribe to no answers but their own."""
    server = room.users()
    alpha = room.responder('alpha', room.as_user(server, 'responder-batch1'))
    program = hosts.on(room, 'alpha')
    with streams.socket.create_connection(('127.0.0.1', server.port), writer.PATIENCE) as spy:
        for subject in ('_INBOX.>', '_INBOX.operator.>'):
            spy.sendall(b'CONNECT {"user":"viewer","pass":"secret","verbose":false}\r\n' if subject == '_INBOX.>' else b'')
            spy.sendall(f'SUB {subject} 1\r\nPING\r\n'.encode())
            said = b''
            while b'PONG' not in said:
                received = spy.recv(65536)
                assert received, said
                said += received
            assert b'Permissions Violation for Subscription' in said, said
        room.as_user(server, 'operator')
        assert 'WARN' in room.ask('alpha', 'level', 'WRT', 'warn').stdout
        room.as_user(server, 'viewer')
        assert str(program.process.pid) in room.ask('alpha', 'list').stdout
    program.end()
    room.ended(alpha)


def a_responder_may_see_the_servers_of_its_stream(room):
    server = room.users('{ user: blind, password: secret, permissions: { publish: ["_INBOX.>"], subscribe: ["ctrace.op.>", "_INBOX.blind.>"] } }')
    streams.make_stream(server, 'TRACES', 'ctrace')
    room.metrics(room.as_user(server, 'responder-batch1') + '/TRACES')(r'ctrace_stream_servers\{stream="TRACES",state="leads"\} 1')
    room.metrics(room.as_user(server, 'blind') + '/TRACES')(r'ctrace_stream_read_failed\{stream="TRACES"\} 1')


def a_receiver_is_chosen_by_the_configuration(room):
    """Whoever listens at the default address of OTLP would get all events."""
    server, (alpha,) = room.machines('alpha')
    for lines, may in (('', False), ('mftrace.dest.offered = otlp\n', False),
                       ('mftrace.dest.offered = otlp\nmftrace.emitter.otlp#url = http://127.0.0.1:1\n', True)):
        with open(room.at('app.cfg'), 'w', encoding='ascii') as file:
            file.write('mftrace.dest = binfile\nmftrace.level = debug\nctrace.block.timeout = 100\n' + lines)
        program = hosts.on(room, 'alpha')
        chosen = room.ask('alpha', 'dest', 'WRT', 'otlp', check=False)
        assert ('OTLP' in room.ask('alpha', 'dest', 'WRT').stdout) == may, (lines, chosen)
        assert may or 'name it in mftrace.dest' in chosen.stderr + chosen.stdout, chosen
        assert 'STORAGE' in room.ask('alpha', 'dest', 'WRT', 'storage').stdout
        os.kill(program.process.pid, signal.SIGKILL)
        program.process.wait()
    assert 'claimed by' in room.ended(alpha) and server


def no_secret_is_shown(room):
    """By any verb, to anybody: not the owner's terminal, and not the log."""
    credentials = room.at('user.creds')
    with open(credentials, 'w', encoding='ascii') as file:
        file.write(SECRET)
    login = f'somebody:{SECRET}@127.0.0.1:1'
    with open(room.at('app.cfg'), 'w', encoding='ascii') as file:
        file.write(f'mftrace.dest = otlp, nats\nmftrace.level = debug\nctrace.log = {room.at("log")}\nctrace.block.timeout = 100\n'
                   f'mftrace.emitter.otlp#url = http://{login}\nmftrace.emitter.otlp#headers = Authorization={SECRET}\n'
                   f'mftrace.emitter.nats#url = nats://{login}\nmftrace.emitter.nats#credentials = {credentials}\n'
                   f'mftrace.emitter.nats#key = ftp://{login}\n')
    server, (alpha,) = room.machines('alpha')
    program = hosts.on(room, 'alpha')
    program.ask('run 10')
    here = {**room.environment, 'CTRACE_RUN_DIR': room.at('alpha')}
    pid = str(program.process.pid)
    shown = []

    def local(*words):
        done = subprocess.run([TOOL, *words], env=here, capture_output=True, text=True, check=False, timeout=writer.PATIENCE)
        shown.append((words, done.stdout + done.stderr))
        return done.stdout

    end = time.monotonic() + writer.PATIENCE
    while '127.0.0.1:1' not in local('list'):  # until OTLP has failed, and says where
        assert time.monotonic() < end, shown[-1]
    for words in (('list', '--json'), ('list', '--all'), ('stats',), ('stats', '--json'), ('doctor', pid), ('doctor', '--json', pid), ('level', 'WRT'),
                  ('dest', 'WRT'), ('prop', 'emitter:otlp'), ('prop', 'emitter:otlp', 'URL'), ('prop', 'emitter:otlp', 'HEADERS'),
                  ('prop', '--json', 'emitter:otlp'), ('prop', 'emitter:nats'), ('prop', 'emitter:nats', 'URL'), ('prop', 'emitter:nats', 'CREDENTIALS'),
                  ('prop', 'emitter:otlp', 'URL', f'https://{login}'), ('prop', 'emitter:nats', 'URL', f'nats://{login}?x'),
                  ('prop', 'emitter:otlp', 'HEADERS', f'A={SECRET}'), ('op', 'D TRACE'), ('reload',), ('flush',), ('top', '--once'), ('ipcs', pid),
                  ('config', 'check', room.at('app.cfg')), ('config', 'show', room.at('app.cfg')), ('recover',), ('trigger', 'list'),
                  ('show', f'nats://{login}/TRACES'), ('show', f'nats://{login}'), ('show', f'nats://{login},b:x/TRACES'),
                  ('show', f'nats://somebody:a@{SECRET}@127.0.0.1:1/TRACES'), ('tail', f'nats://{login}/TRACES?x'),
                  ('forward', room.at('logs'), f'nats://{login}/TRACES'), ('archive', f'nats://{login}/TRACES', room.at('archive')),
                  ('respond', f'nats://{login}:x'), ('export', '--format=otlp', f'--output=http://{login}', room.at('logs'))):
        local(*words)
    for words in (('list',), ('stats',), ('stats', '--json'), ('prop', 'emitter:otlp', 'URL'), ('prop', 'emitter:otlp'), ('reload',)):
        done = room.ask('alpha', *words, check=False)
        shown.append((words, done.stdout + done.stderr))
    with open(room.at('log'), encoding='utf-8') as file:
        shown.append((('log',), file.read()))
    os.kill(program.process.pid, signal.SIGKILL)
    program.process.wait()
    local('recover', '-v')
    shown.append((('respond',), room.ended(alpha)))
    leaks = [(words, text) for words, text in shown if SECRET in text]
    assert not leaks, leaks
    assert any('(hidden)' in text for _, text in shown) and server


def as_every_party(_room):
    """The matrix has many checks: one test of a list here."""
    if os.geteuid() != 0:
        raise writer.Skipped('only root can become other users')
    every_row_as_every_party()
    assert tap.failed == 0, '\n'.join(tap.lines)


writer.TESTS[:] = [as_every_party, what_was_given_up_is_not_carried_out, displays_hold_up_no_command, answers_are_for_their_user,
                   a_responder_may_see_the_servers_of_its_stream,
                   a_receiver_is_chosen_by_the_configuration, no_secret_is_shown]
writer.Room = hosts.Hosts

if __name__ == '__main__':
    tap.is_live = False
    sys.exit(writer.main())
