#!/usr/bin/env python3
"""ctrace --host and ROUTE: verbs on other machines, by real servers; each responder stands for a machine, with a run directory of its own.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import getpass
import os
import re
import signal
import socket
import subprocess
import sys
import time

import streams
import writer
from writer import PATIENCE, TOOL


class Hosts(streams.Streams):
    def responder(self, name, address, **environment):
        os.makedirs(self.at(name), 0o700, exist_ok=True)
        responder = subprocess.Popen([TOOL, 'respond', f'--name={name}', address], stderr=subprocess.PIPE, text=True,
                                     env={**self.environment, 'CTRACE_RUN_DIR': self.at(name), **environment})
        self.processes.append(responder)
        line = responder.stderr.readline()
        assert line == f'ctrace respond: {name} listens\n', line
        return responder

    def users(self, *more):
        """A server with the users of examples/cluster/users.conf, for the host alpha and traces of this machine.  Who names no user may do all."""
        with open(os.path.join(os.environ['CTRACE_SOURCE'], 'examples', 'cluster', 'users.conf'), encoding='utf-8') as file:
            text = file.read().replace('ctrace.op.batch1.', 'ctrace.op.alpha.').replace('ctrace.*.batch1.', f'ctrace.*.{socket.gethostname().lower()}.')
        found = re.findall(r'^\t\t(\{ user: .*?\} \})$', text, re.MULTILINE | re.DOTALL)
        (port,) = streams.free_ports(1)
        with open(self.at('server.conf'), 'w', encoding='ascii') as file:
            file.write('no_auth_user: all\nauthorization { users = [\n{ user: all, password: p }\n' + '\n'.join([*found, *more]) + '\n] }\n')
        server = streams.Server(self, 'one', port, ('-c', self.at('server.conf')))
        server.until('Server is ready')
        return server

    def as_user(self, server, user):
        self.environment['CTRACE_NATS'] = f'nats://{user}:secret@127.0.0.1:{server.port}'
        return self.environment['CTRACE_NATS']

    def ended(self, responder):
        """What it has said."""
        responder.send_signal(signal.SIGTERM)
        said = responder.stderr.read()
        assert responder.wait(PATIENCE) == 0, said
        return said

    def ask(self, hosts, *words, check=True):
        return self.tool('--host', hosts, *words, check=check)

    def machines(self, *names):
        server, address = self.server()
        address = address.rsplit('/', 1)[0]
        self.environment['CTRACE_NATS'] = address
        return server, [self.responder(name, address) for name in names]


def on(room, name):
    """A traced program on that machine."""
    return room.program(1, CTRACE_RUN_DIR=room.at(name))


def every_machine_answers(room):
    room.machines('alpha', 'beta', 'gamma')
    programs = [on(room, name) for name in ('alpha', 'beta')]
    listed = room.ask('*', 'list', check=False)
    found = dict(re.findall(r'^== (\w+) ==\n((?:(?!==).*\n)*)', listed.stdout, re.MULTILINE))
    assert sorted(found) == ['alpha', 'beta', 'gamma'], listed
    for name, program in zip(('alpha', 'beta'), programs):
        assert str(program.process.pid) in found[name] and 'written' in found[name].lower(), found
    assert 'no traced process found' in listed.stderr and listed.returncode == 1, listed
    one = room.ask('beta', 'list')
    assert one.stdout.startswith('== beta ==\n') and str(programs[1].process.pid) in one.stdout and 'alpha' not in one.stdout, one
    two = room.ask('alpha,gamma', 'list', check=False)
    assert re.findall('== (.*) ==', two.stdout) == ['alpha', 'gamma'] and 'beta' not in two.stdout, two


def levels_change_elsewhere(room):
    _, (alpha, _) = room.machines('alpha', 'beta')
    program = on(room, 'alpha')
    before = room.ask('alpha', 'level', 'WRT')
    changed = room.ask('alpha', 'level', 'WRT', 'warn')
    assert changed.returncode == 0 and 'WARN' in changed.stdout and before.stdout != changed.stdout, (before, changed)
    assert 'WARN' in room.ask('*', 'level', 'WRT', check=False).stdout
    said = room.ended(alpha)
    assert f'ctrace respond: command claimed by {getpass.getuser()}@{socket.gethostname()}: level WRT warn\n' in said, said
    program.end()


def operators_route_commands(room):
    room.machines('alpha', 'beta')
    program = on(room, 'alpha')
    shown = room.tool('op', 'ROUTE *ALL,D TRACE', check=False)
    assert re.findall('== (.*) ==', shown.stdout) and 'WRT' in shown.stdout, shown
    shown = room.tool('op', 'RO (alpha),D TRACE,COMP=WRT')
    assert 'WRT' in shown.stdout and 'beta' not in shown.stdout, shown
    started = room.tool('op', "ro alpha,TRACE CT,ON,COMP=WRT", check=False)
    assert '== alpha ==' in started.stdout, started
    for bare in ('ROUTE alpha', 'ROUTE', ' ro', 'ROUTE '):
        wrong = room.tool('op', bare, check=False)
        assert wrong.returncode == 2 and 'expected ROUTE system,command' in wrong.stderr, wrong
    assert 'is not a command' in room.tool('op', 'ROUTER alpha,D TRACE', check=False).stderr
    program.end()


def who_does_not_answer_is_named(room):
    _, (alpha, _) = room.machines('alpha', 'beta')
    before = time.monotonic()
    asked = room.ask('gamma,beta,delta', 'list', check=False)
    assert '== beta ==' in asked.stdout and asked.returncode == 1, asked
    assert 'ctrace: gamma did not answer\n' in asked.stderr and 'ctrace: delta did not answer\n' in asked.stderr, asked
    nobody = room.ask('delta', 'list', check=False)
    assert nobody.returncode == 1 and nobody.stderr == 'ctrace: delta did not answer\n', nobody
    assert time.monotonic() - before < 10, 'the servers say that nobody listens'
    alpha.send_signal(signal.SIGSTOP)
    asked = room.ask('alpha,beta', 'list', check=False)
    assert 'ctrace: alpha did not answer' in asked.stderr and '== beta ==' in asked.stdout, asked
    alpha.send_signal(signal.SIGCONT)
    alpha.send_signal(signal.SIGTERM)
    asked = room.ask('delta', 'list', check=False)
    assert asked.returncode == 1 and 'delta did not answer' in asked.stderr, asked


def a_forged_status_is_no_success(room):
    server, _ = room.server()
    room.environment['CTRACE_NATS'] = f'nats://127.0.0.1:{server.port}'
    for status, ended in (('0', 0), ('2', 2), ('255', 255), ('256', 1), ('-1', 1), ('4294967296', 1), ('18446744073709551616', 1), ('1.0', 1), ('"0"', 1),
                          ('true', 1), ('null', 1)):
        with streams.socket.create_connection(('127.0.0.1', server.port), PATIENCE) as link:
            link.sendall(b'CONNECT {"headers":true,"verbose":false}\r\nSUB ctrace.op.alpha.display 1\r\nPING\r\n')
            got = b''
            while b'PONG' not in got:
                got += link.recv(65536)
            asked = streams.subprocess.Popen([writer.TOOL, '--host', 'alpha', 'list'], env=room.environment, stdout=streams.subprocess.PIPE,
                                             stderr=streams.subprocess.PIPE, text=True)
            room.processes.append(asked)
            while not (found := re.search(rb'HMSG \S+ 1 (_INBOX\S+) ', got)):
                got += link.recv(65536)
            head = b'NATS/1.0\r\nCtrace-Host: alpha\r\n\r\n'
            for body in (b'', f'{{"status":{status},"out":"forged","err":""}}'.encode()):
                link.sendall(b'HPUB %s %d %d\r\n%s%s\r\n' % (found[1], len(head), len(head) + len(body), head, body))
            out, err = asked.communicate(timeout=PATIENCE)
            assert asked.returncode == ended and (ended == 1) == ('this is no answer of ctrace respond' in err), (status, asked.returncode, out, err)


def a_display_is_no_command(room):
    """A sender that may only publish displays sends a command as one."""
    server, (alpha,) = room.machines('alpha')
    program = on(room, 'alpha')
    requests = ['{"words":["level","WRT","error"],"user":"x"}', '{"words":["op","TRACE CT,OFF,COMP=WRT"],"user":"x"}',
                '{"words":["op","D TRACE","TRACE CT,OFF,COMP=WRT"]}', '{"words":["show","/etc/passwd"]}', '{"words":["list","--names=pids"]}',
                '{"words":["prop","emitter:binfile"],"user":"x"}', '{"words":["prop","-j","EMITTER:BINFILE","FILE"],"user":"x"}',
                '{"words":["run","true"]}', '{"words":["stats","/tmp"]}', '{"words":[]}', '{"words":"list"}', '{"words":[1]}', 'x', '']
    with socket.create_connection(('127.0.0.1', server.port)) as link:
        link.sendall(b'CONNECT {"headers":true,"verbose":false}\r\nSUB _INBOX.answers 1\r\n')
        for request in requests:
            link.sendall(f'PUB ctrace.op.alpha.display _INBOX.answers {len(request)}\r\n{request}\r\n'.encode())
        received = ''
        while received.count('"status"') < len(requests):
            received += link.recv(65536).decode('utf-8', 'replace')
    assert received.count('"status":2') == len(requests), received
    assert 'ERROR' not in room.ask('alpha', 'level', 'WRT').stdout
    for words, expected in ((('show', 'x'), 'list, stats'), (('run', 'true'), 'list, stats'), (('stats', 'x'), 'stats alone'),
                            (('list', '--names=pids'), '--pid=PID, --json or --all'), (('list', '--job=EM'), '--pid=PID, --json or --all'),
                            (('level', 'WRT', '--job', 'EM'), '--job=GLOB'), (('op', '-'), '--job=GLOB')):
        refused = room.ask('alpha', *words, check=False)
        assert refused.returncode == 2 and 'is not for other machines; expected' in refused.stderr and expected in refused.stderr, refused
    for option in ('--job=*', f'--pid={program.process.pid}', '--timeout=3', '--json', '--all', '-j', '-a'):
        assert 'WRT' in room.ask('alpha', 'level', 'WRT', option).stdout, option
    program.end()
    said = room.ended(alpha)
    assert 'ctrace respond: refused, claimed by x: a command may not be sent as a display: level WRT error\n' in said, said
    assert said.count('ctrace respond: refused: this is no request of ctrace --host\n') == 5, said


def a_flood_of_refused_requests_is_counted(room):
    server, (alpha,) = room.machines('alpha')
    with socket.create_connection(('127.0.0.1', server.port)) as link:
        link.sendall(b'CONNECT {"headers":true,"verbose":false}\r\nSUB _INBOX.answers 1\r\n')
        words = streams.json.dumps({'words': ['show', 'x' * 4000], 'user': 'y' * 4000})
        link.sendall(f'PUB ctrace.op.alpha.display _INBOX.answers {len(words)}\r\n{words}\r\n'.encode() * 1000)
        received = ''
        while received.count('"status":2') < 1000:
            received += link.recv(65536).decode('utf-8', 'replace')
    lines = room.ended(alpha).splitlines()
    assert len(lines) == 21 and 'only counted' in lines[-1] and max(len(line) for line in lines) < 900, lines


def a_flood_of_one_sender_holds_up_nobody(room):
    """Neither displays of others nor commands; and what waits longer than its sender does is not carried out."""
    server, (alpha,) = room.machines('alpha')
    program = on(room, 'alpha')
    display, command = '{"words":["list"],"user":"x"}', '{"words":["level","WRT","info"],"user":"x"}'
    late, head = '{"words":["level","WRT","fatal"],"user":"late"}', 'NATS/1.0\r\nCtrace-Timeout: 1\r\n\r\n'
    with socket.create_connection(('127.0.0.1', server.port)) as link:
        link.sendall(b'CONNECT {"headers":true,"verbose":false}\r\n')
        link.sendall(''.join(f'PUB ctrace.op.alpha.command _INBOX.flood.{number} {len(command)}\r\n{command}\r\n' for number in range(20)).encode())
        link.sendall(f'HPUB ctrace.op.alpha.command _INBOX.flood.x {len(head)} {len(head) + len(late)}\r\n{head}{late}\r\n'.encode())
        assert 'ERROR' in room.ask('alpha', 'level', 'WRT', 'error').stdout
        line = alpha.stderr.readline()
        while 'its sender has given up' not in line:
            assert line and 'FATAL' not in line.upper(), line
            line = alpha.stderr.readline()
        link.sendall(''.join(f'PUB ctrace.op.alpha.display _INBOX.flood.{number} {len(display)}\r\n{display}\r\n' for number in range(3000)).encode())
        assert '== alpha ==' in room.ask('alpha', 'list').stdout
        assert 'WARN' in room.ask('alpha', 'level', 'WRT', 'warn').stdout
    program.end()
    room.ended(alpha)


def no_file_of_the_machine_is_read(room):
    """The responder may be root."""
    server, (alpha,) = room.machines('alpha')
    program = on(room, 'alpha')
    with open(room.at('secret'), 'w', encoding='ascii') as file:
        file.write('the secret of alpha\n')
    refused = room.ask('alpha', 'reload', room.at('secret'), check=False)
    assert refused.returncode == 2 and refused.stdout == '' and 'set the configuration on that machine' in refused.stderr, refused
    for words in (['reload', room.at('secret')], ['reload', '--all', room.at('secret')], ['stats', room.at('secret')], ['op', '-f', room.at('secret')],
                  ['op', f'--file={room.at("secret")}']):
        answer = streams.request(server.port, 'ctrace.op.alpha.command', streams.json.dumps({'words': words, 'user': 'root@desk'}))
        assert '"status":2' in answer and 'the secret' not in answer and 'is not for other machines' in answer, answer
    read = room.ask('alpha', 'reload')
    assert 'is in force' in read.stdout, read
    program.end()
    assert f'refused, claimed by root@desk: reload of a file is not for other machines' in room.ended(alpha)


def a_request_is_not_routed_on(room):
    """ROUTE in a request would reach other machines with the rights of the responder."""
    server, _ = room.machines('alpha')
    for command in ('ROUTE *ALL,D TRACE', ' ro alpha,D TRACE'):
        for kind in ('display', 'command'):
            answer = streams.request(server.port, f'ctrace.op.alpha.{kind}', streams.json.dumps({'words': ['op', command]}))
            assert '"status":2' in answer and '== ' not in answer, answer
    refused = room.tool('op', 'ROUTE alpha,ROUTE alpha,D TRACE', check=False)
    assert refused.returncode == 2 and '==' not in refused.stdout and 'expected one ROUTE with all machines' in refused.stderr, refused


def permissions_of_the_server_count(room):
    """Those of the page, and of users who lack one."""
    server = room.users('{ user: deaf, password: secret, permissions: { publish: ["ctrace.op.>"], subscribe: ["nothing"] } }',
                        '{ user: half, password: secret, permissions: { publish: ["ctrace.op.alpha.command"], subscribe: ["_INBOX.>"] } }')
    room.responder('alpha', room.as_user(server, 'responder-batch1'))
    program = on(room, 'alpha')
    room.as_user(server, 'viewer')
    assert str(program.process.pid) in room.ask('alpha', 'list').stdout
    assert str(program.process.pid) in room.ask('*', 'list').stdout
    for user, hosts, words, missing in (('viewer', 'alpha', ('level', 'WRT', 'error'), 'commands (subject ctrace.op.alpha.command)'),
                                        ('viewer', '*', ('level', 'WRT', 'error'), 'commands (subject ctrace.op.ALL.command)'),
                                        ('forwarder-batch1', 'alpha', ('level', 'WRT', 'error'), 'commands (subject ctrace.op.alpha.command)'),
                                        ('forwarder-batch1', '*', ('level', 'WRT', 'error'), 'commands (subject ctrace.op.ALL.command)'),
                                        ('reader', 'alpha', ('level', 'WRT'), 'displays (subject ctrace.op.alpha.display)')):
        room.as_user(server, user)
        before = time.monotonic()
        refused = room.ask(hosts, *words, check=False)
        assert refused.returncode == 2 and refused.stdout == '' and 'did not answer' not in refused.stderr, refused
        assert refused.stderr.endswith(f'permissions: the user of the address may not send {missing}\n'), refused
        assert time.monotonic() - before < 10, 'it does not wait for an answer'
    room.as_user(server, 'deaf')
    deaf = room.ask('alpha', 'level', 'WRT', 'fatal', check=False)
    assert deaf.returncode == 2 and deaf.stderr == \
        'ctrace: permissions: the user of the address may not subscribe to _INBOX.deaf.>, where the answers come\n', deaf
    room.as_user(server, 'half')
    half = room.ask('beta,alpha', 'level', 'WRT', 'warn', check=False)
    assert half.returncode == 2 and 'DEBUG -> WARN' in half.stdout and half.stderr == \
        'ctrace: beta: permissions: the user of the address may not send commands (subject ctrace.op.beta.command)\n', half
    room.as_user(server, 'operator')
    changed = room.ask('alpha', 'level', 'WRT', 'error')
    assert 'ERROR' in changed.stdout, changed
    room.environment['CTRACE_NATS'] = f'nats://viewer:wrong@127.0.0.1:{server.port}'
    nobody = room.ask('alpha', 'list', check=False)
    assert nobody.returncode == 2 and 'Authorization' in nobody.stderr, nobody
    program.end()


def who_forwards_traces_commands_nobody(room):
    """And the stream has no request."""
    server = room.users()
    alpha = room.responder('alpha', room.as_user(server, 'responder-batch1'))
    program = on(room, 'alpha')
    address = room.as_user(server, 'forwarder-batch1') + '/TRACES'
    room.traced(100)
    room.forward(address)
    writer.same(room.shown(room.as_user(server, 'reader') + '/TRACES'), writer.expect(1, 100))
    room.as_user(server, 'operator')
    for words in (('list',), ('level', 'WRT', 'warn')):
        room.ask('alpha', *words)
        room.ask('*', *words)
    subjects = streams.request(server.port, '$JS.API.STREAM.INFO.TRACES', '{"subjects_filter":">"}')
    assert 'ctrace.default.' in subjects and 'ctrace.op' not in subjects, subjects
    # A consumer of the stream delivers messages where its user may not publish, when somebody listens to that very subject.
    forged = streams.json.dumps({'words': ['level', 'WRT', 'error'], 'user': 'forged'})
    streams.request(server.port, 'ctrace.op.alpha.x.y.command', forged)
    consumer = {'stream_name': 'TRACES', 'config': {'deliver_subject': 'ctrace.op.alpha.command', 'deliver_policy': 'last', 'ack_policy': 'none'}}
    with socket.create_connection(('127.0.0.1', server.port), PATIENCE) as link:
        link.sendall(b'CONNECT {"headers":true,"verbose":false}\r\nSUB ctrace.op.alpha.command 1\r\nPING\r\n')
        received = b''
        while b'PONG' not in received:
            received += link.recv(65536)
        made = streams.request(server.port, '$JS.API.CONSUMER.CREATE.TRACES', streams.json.dumps(consumer))
        assert '"error"' not in made, made
        while b'forged' not in received:
            received += link.recv(65536)
        said = alpha.stderr.readline()
        while 'claimed by' in said:
            said = alpha.stderr.readline()
    assert said == 'ctrace respond: refused: it is no request that ctrace --host has sent to this machine\n', said
    assert 'WARN' in room.ask('alpha', 'level', 'WRT').stdout
    program.end()


def a_stream_of_before_works(room):
    """It has the subjects ctrace.>, and so the requests, until it is changed."""
    server, (alpha,) = room.machines('alpha')
    address = room.environment['CTRACE_NATS'] + '/TRACES'
    config = {'name': 'TRACES', 'subjects': ['ctrace.>'], 'storage': 'file', 'retention': 'limits', 'num_replicas': 1}
    assert '"error"' not in streams.request(server.port, '$JS.API.STREAM.CREATE.TRACES', streams.json.dumps(config))
    room.traced(100)
    room.forward(address)
    room.ask('alpha', 'list', check=False)
    writer.same(room.shown(address), writer.expect(1, 100))
    info = ('$JS.API.STREAM.INFO.TRACES', '{"subjects_filter":">"}')
    assert 'ctrace.op.alpha.display' in streams.request(server.port, *info)
    changed = streams.request(server.port, '$JS.API.STREAM.UPDATE.TRACES', streams.json.dumps({**config, 'subjects': ['ctrace.*.*.*.*.*']}))
    assert '"error"' not in changed, changed
    before = room.ask('alpha', 'list', check=False)
    assert '"ctrace.op.alpha.display":1' in streams.request(server.port, *info), before
    room.traced(100)
    room.forward(address)
    assert sum(room.shown(address).values()) == 200


def a_responder_says_what_it_may_not(room):
    server = room.users('{ user: mute, password: secret, permissions: { publish: ["nothing"], subscribe: ["ctrace.op.*.*"] } }',
                        '{ user: single, password: secret, permissions: { publish: ["_INBOX.>"], subscribe: ["ctrace.op.alpha.*"] } }')
    for user, subject in (('viewer', 'ctrace.op.alpha.*'), ('single', 'ctrace.op.ALL.*')):
        refused = room.tool('respond', '--name=alpha', room.as_user(server, user), check=False)
        assert refused.returncode == 2 and refused.stderr == \
            f'ctrace respond: permissions: the user of the address may not subscribe to {subject}\n', refused
    mute = room.responder('alpha', room.as_user(server, 'mute'))
    room.as_user(server, 'operator')
    asked = room.ask('alpha', 'level', 'WRT', 'warn', check=False)
    assert asked.returncode == 1 and 'alpha did not answer' in asked.stderr, asked
    said = room.ended(mute)
    assert said == 'ctrace respond: refused: permissions: the user of the address may not answer; it has to publish _INBOX.>\n', said


def names_are_those_of_machines(room):
    server, _ = room.machines('alpha', 'büro.zürich')
    address = room.environment['CTRACE_NATS']
    for asked in ('ALPHA', 'Alpha', 'alpha,ALPHA'):
        found = room.ask(asked, 'list', check=False)
        assert re.findall('== (.*) ==', found.stdout) == ['alpha'] and 'did not' not in found.stderr, found
    assert '== alpha ==' in room.tool('op', 'RO ALPHA,D TRACE', check=False).stdout
    # They are one word in subjects.
    other = room.ask('büro_zürich', 'flush', check=False)
    assert other.returncode == 2 and other.stdout == '' and \
        other.stderr == 'ctrace: büro_zürich: the machine that listens there is büro.zürich\n', other
    second = room.responder('büro_zürich', address)
    for asked in ('büro_zürich', 'BüRO.ZüRICH', 'büro.zürich,büro_zürich'):
        found = room.ask(asked, 'list', check=False)
        assert re.findall('== (.*) ==', found.stdout.lower()) == asked.lower().split(',') and 'listens' not in found.stderr, found
    assert 'refused: it is for the machine B' in room.ended(second)
    for wrong in ('ALL', 'all', '*OTHER', 'T=5', 'ba*', 'alpha,ALL', 'a b/c', 'x' * 256, ' ', ','):
        before = time.monotonic()
        refused = room.ask(wrong, 'list', check=False)
        assert refused.returncode == 2 and 'name of a machine' in refused.stderr and refused.stdout == '', refused
        assert time.monotonic() - before < 10
    for wrong in ('', 'ALL', 'All', '*', 'a b', 'x' * 256):
        refused = room.tool('respond', '-n', wrong, address, check=False)
        assert refused.returncode == 2 and f'"{wrong}" is no name of a machine: ' in refused.stderr and '--name=HOST' in refused.stderr, refused
    everyone = room.ask('*ALL', 'list', check=False)
    assert re.findall('== (.*) ==', everyone.stdout) == ['alpha', 'büro.zürich'], everyone
    assert '== alpha ==' in room.tool('op', 'RO (alpha, büro.zürich),D TRACE', check=False).stdout


def two_responders_of_a_name_are_reported(room):
    _, _ = room.machines('alpha', 'alpha')
    for hosts in ('alpha', '*'):
        end = time.monotonic() + PATIENCE
        while True:  # the second one may begin after the first has answered
            asked = room.ask(hosts, 'list', check=False)
            assert asked.stdout.count('== alpha ==') == 1, asked
            if 'ctrace: alpha: 2 responders have this name, and each has carried it out' in asked.stderr:
                break
            assert time.monotonic() < end, asked


def a_hundred_machines_answer(room):
    room.machines(*(f'machine{number}' for number in range(100)))
    asked = room.ask('*', 'list', check=False)
    assert re.findall('== (.*) ==', asked.stdout) == sorted(f'machine{number}' for number in range(100)), asked.stdout


def without_servers_it_is_explained(room):
    for address, text in ((None, 'CTRACE_NATS has no address'), ('nats://127.0.0.1:1', 'cannot connect to nats://127.0.0.1:1'),
                          ('http://x', 'is no address of servers; expected nats://HOST[:PORT][,HOST...][?KEY=VALUE&...]\n'),
                          ('nats://', 'is no address of servers; expected nats://HOST[:PORT][,HOST...][?KEY=VALUE&...]\n')):
        room.environment.pop('CTRACE_NATS', None)
        if address is not None:
            room.environment['CTRACE_NATS'] = address
        asked = room.ask('*', 'list', check=False)
        assert asked.returncode == 2 and text in asked.stderr, asked
    refused = room.tool('respond', 'nats://', check=False)
    assert refused.returncode == 2 and refused.stderr.endswith('expected nats://HOST[:PORT][,HOST...][?KEY=VALUE&...]\n'), refused


writer.TESTS[:] = [value for name, value in list(globals().items()) if callable(value) and
                   getattr(value, '__code__', None) is not None and value.__code__.co_varnames[:1] == ('room',) and name != 'on']
writer.Room = Hosts

if __name__ == '__main__':
    sys.exit(writer.main())
