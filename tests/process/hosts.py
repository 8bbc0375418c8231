#!/usr/bin/env python3
"""ctrace --host and ROUTE: verbs on other machines, by real servers; each responder stands for a machine, with a run directory of its own.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import signal
import subprocess
import sys

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
    assert sorted(re.findall('== (.*) ==', two.stdout)) == ['alpha', 'gamma'] and 'beta' not in two.stdout, two


def levels_change_elsewhere(room):
    _, (alpha, _) = room.machines('alpha', 'beta')
    program = on(room, 'alpha')
    before = room.ask('alpha', 'level', 'WRT')
    changed = room.ask('alpha', 'level', 'WRT', 'warn')
    assert changed.returncode == 0 and 'WARN' in changed.stdout and before.stdout != changed.stdout, (before, changed)
    assert 'WARN' in room.ask('*', 'level', 'WRT', check=False).stdout
    alpha.send_signal(signal.SIGTERM)
    said = alpha.stderr.read()
    assert re.search(r'^command from \w+: level WRT warn$', said, re.MULTILINE), said
    assert alpha.wait(PATIENCE) == 0
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
    wrong = room.tool('op', 'ROUTE alpha', check=False)
    assert wrong.returncode == 2 and 'expected ROUTE system,command' in wrong.stderr, wrong
    program.end()


def who_does_not_answer_is_named(room):
    _, (alpha, _) = room.machines('alpha', 'beta')
    asked = room.ask('beta,delta', 'list', check=False)
    assert '== beta ==' in asked.stdout and 'ctrace: delta did not answer' in asked.stderr and asked.returncode == 1, asked
    alpha.send_signal(signal.SIGSTOP)
    asked = room.ask('alpha,beta', 'list', check=False)
    assert 'ctrace: alpha did not answer' in asked.stderr and '== beta ==' in asked.stdout, asked
    alpha.send_signal(signal.SIGCONT)
    alpha.send_signal(signal.SIGTERM)
    asked = room.ask('delta', 'list', check=False)
    assert asked.returncode == 1 and 'delta did not answer' in asked.stderr, asked


def a_display_is_no_command(room):
    """A sender that may only publish displays sends a command as one."""
    server, _ = room.machines('alpha')
    program = on(room, 'alpha')
    requests = ['{"words":["level","WRT","error"],"user":"x"}', '{"words":["op","TRACE CT,OFF,COMP=WRT"],"user":"x"}',
                '{"words":["op","D TRACE","TRACE CT,OFF,COMP=WRT"]}', '{"words":["show","/etc/passwd"]}', '{"words":["list","--names=pids"]}',
                '{"words":["run","true"]}', '{"words":["stats","/tmp"]}', '{"words":[]}', '{"words":"list"}', '{"words":[1]}', 'x', '']
    with streams.socket.create_connection(('127.0.0.1', server.port)) as link:
        link.sendall(b'CONNECT {"headers":true,"verbose":false}\r\nSUB answers 1\r\n')
        for request in requests:
            link.sendall(f'PUB ctrace.op.alpha.display answers {len(request)}\r\n{request}\r\n'.encode())
        received = ''
        while received.count('"status"') < len(requests):
            received += link.recv(65536).decode('utf-8', 'replace')
    assert received.count('"status":2') == len(requests), received
    assert 'ERROR' not in room.ask('alpha', 'level', 'WRT').stdout
    for words in (('show', 'x'), ('run', 'true'), ('list', '--names=pids'), ('stats', 'x')):
        refused = room.ask('alpha', *words, check=False)
        assert refused.returncode == 2 and 'is not for other machines' in refused.stderr, refused
    program.end()


def a_request_is_not_routed_on(room):
    """ROUTE in a request would reach other machines with the rights of the responder."""
    server, _ = room.machines('alpha')
    for command in ('ROUTE *ALL,D TRACE', ' ro alpha,D TRACE'):
        for kind in ('display', 'command'):
            answer = streams.request(server.port, f'ctrace.op.alpha.{kind}', streams.json.dumps({'words': ['op', command]}))
            assert '"status":2' in answer and '== ' not in answer, answer
    refused = room.tool('op', 'ROUTE alpha,ROUTE alpha,D TRACE', check=False)
    assert refused.returncode == 2 and '==' not in refused.stdout, refused


def permissions_of_the_server_count(room):
    """A user who may send displays alone."""
    (port,) = streams.free_ports(1)
    with open(room.at('server.conf'), 'w', encoding='ascii') as file:
        file.write('authorization { users = [\n'
                   ' { user: all, password: p }\n'
                   ' { user: viewer, password: p, permissions: { publish: ["ctrace.op.*.display"], subscribe: ["_INBOX.>"] } } ] }\n')
    server = streams.Server(room, 'one', port, ('-c', room.at('server.conf')))
    server.until('Server is ready')
    room.responder('alpha', f'nats://all:p@127.0.0.1:{port}')
    program = on(room, 'alpha')
    room.environment['CTRACE_NATS'] = f'nats://viewer:p@127.0.0.1:{port}'
    assert str(program.process.pid) in room.ask('alpha', 'list').stdout
    refused = room.ask('alpha', 'level', 'WRT', 'error', check=False)
    assert refused.returncode != 0 and 'ERROR' not in refused.stdout, refused
    room.environment['CTRACE_NATS'] = f'nats://127.0.0.1:{port}'
    nobody = room.ask('alpha', 'list', check=False)
    assert nobody.returncode == 2 and 'Authorization' in nobody.stderr, nobody
    program.end()


def a_hundred_machines_answer(room):
    room.machines(*(f'machine{number}' for number in range(100)))
    asked = room.ask('*', 'list', check=False)
    assert len(set(re.findall('== (.*) ==', asked.stdout))) == 100, asked.stdout


def without_servers_it_is_explained(room):
    for address, text in ((None, 'CTRACE_NATS has no address'), ('nats://127.0.0.1:1', 'cannot connect to nats://127.0.0.1:1'),
                          ('http://x', 'is no address')):
        room.environment.pop('CTRACE_NATS', None)
        if address is not None:
            room.environment['CTRACE_NATS'] = address
        asked = room.ask('*', 'list', check=False)
        assert asked.returncode == 2 and text in asked.stderr, asked


writer.TESTS[:] = [value for name, value in list(globals().items()) if callable(value) and
                   getattr(value, '__code__', None) is not None and value.__code__.co_varnames[:1] == ('room',) and name != 'on']
writer.Room = Hosts

if __name__ == '__main__':
    sys.exit(writer.main())
