#!/usr/bin/env python3
"""Traces in JetStream streams, with real servers: one, and three of which one or all are killed.

Every entry that the traced program made is looked for, by its thread and number, in what comes back from the stream: each is there once.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import filecmp
import glob
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import writer
from writer import PATIENCE, TOOL, Room, expect, same, without_gaps


class Server:
    """A nats-server at a port that was free."""

    listens = '127.0.0.1'
    engine = ('-js',)

    def __init__(self, room, name, port, routes=()):
        self.room, self.name, self.port, self.routes = room, name, port, routes
        self.process = None
        self.start()

    def start(self):
        with open(self.room.at(f'{self.name}.log'), 'ab') as log:
            self.process = subprocess.Popen(['nats-server', '-a', self.listens, '-p', str(self.port), *self.engine, '-sd', self.room.at(self.name),
                                             '-n', self.name, *self.routes], stdout=log, stderr=log)
        self.room.processes.append(self.process)

    def until(self, pattern):
        """Returns when the server has logged it."""
        with subprocess.Popen(['tail', '-n', '+1', '-F', self.room.at(f'{self.name}.log')], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as tail:
            for line in tail.stdout:
                if re.search(pattern, line):
                    break
            tail.kill()

    def kill(self):
        self.process.kill()
        self.process.wait()


class PlainServer(Server):
    """As Debian's service starts it: without JetStream."""

    engine = ()


def free_ports(count):
    """None that the kernel gives to a connection: a server binds its port later, and again when it was killed."""
    with contextlib.ExitStack() as stack:
        ports = set()
        while len(ports) < count:
            port = random.SystemRandom().randrange(12000, 32000)
            with contextlib.suppress(OSError):
                stack.enter_context(socket.create_server(('127.0.0.1', port)))
                ports.add(port)
        return list(ports)


class Streams(Room):
    def __init__(self):
        super().__init__()
        with open(self.at('app.cfg'), 'w', encoding='ascii') as file:
            file.write('mftrace.dest = binfile\nctrace.block.timeout = 10000\n')
        self.environment['MFTRACE_CONFIG'] = self.at('app.cfg')
        self.environment['TMPDIR'] = self.at()

    def server(self):
        (port,) = free_ports(1)
        server = Server(self, 'one', port)
        server.until('Server is ready')
        return server, f'nats://127.0.0.1:{port}/TRACES'

    def cluster(self):
        ports = free_ports(6)
        ports, routes = ports[:3], ports[3:]
        others = ','.join(f'nats://127.0.0.1:{port}' for port in routes)
        servers = [Server(self, f'server{at}', ports[at], ('-cluster_name', 'test', '-cluster', f'nats://127.0.0.1:{routes[at]}', '-routes', others))
                   for at in range(3)]
        for server in servers:
            server.until('Server is ready')
        self.until_replicas_are_made(servers)
        return servers, 'nats://' + ','.join(f'127.0.0.1:{port}' for port in ports) + '/TRACES?replicas=3'

    def until_replicas_are_made(self, servers):
        """The servers have chosen a leader, and it knows all of them."""
        end = time.monotonic() + 3 * PATIENCE
        while True:
            try:
                make_stream(servers[0], 'FORMED', 'formed', patience=1, num_replicas=3)
                break
            except (AssertionError, OSError) as error:  # it is refused, or not answered
                if time.monotonic() > end:
                    raise AssertionError('\n'.join([str(error), *(self.log(server)[-2000:] for server in servers)])) from error
        request(servers[0].port, '$JS.API.STREAM.DELETE.FORMED')

    def metrics(self, address):
        """Starts a responder.  Returns a function that reads its metrics until they have a line."""
        server = subprocess.Popen([TOOL, 'respond', '--metrics=127.0.0.1:0', '--name=alpha', address], env=self.environment, stderr=subprocess.PIPE,
                                  text=True)
        self.processes.append(server)
        url = server.stderr.readline().split()[-1]

        def until(line):
            end = time.monotonic() + PATIENCE  # it looks at the stream each 10 seconds
            while True:
                with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                    text = answer.read().decode('utf-8')
                if re.search(f'^{line}$', text, re.MULTILINE):
                    return text
                assert time.monotonic() < end, text
                time.sleep(0.1)
        return until

    def log(self, server):
        with open(self.at(f'{server.name}.log'), encoding='utf-8', errors='replace') as file:
            return file.read()

    def program(self, threads=1, **environment):
        program = super().program(threads, **environment)
        program.ask('plain')
        return program

    def traced(self, count, threads=1):
        program = self.program(threads)
        program.ask(f'run {count}')
        program.end()

    def forward(self, address, *options):
        done = self.tool('forward', *options, self.at('logs'), address)
        found = re.fullmatch(r'ctrace forward: (\d+) bytes? of (\d+) traces?, in (\d+) messages?\n', done.stderr)
        assert found, done.stderr
        return [int(number) for number in found.groups()]

    def follow(self, address):
        follower = subprocess.Popen([TOOL, 'forward', '--follow', self.at('logs'), address], env=self.environment, stderr=subprocess.PIPE,
                                    text=True)
        self.processes.append(follower)
        return follower

    def traces(self):
        return sorted(os.path.dirname(path) for path in glob.glob(self.at('logs', '*', 'metadata')))

    def streams_differ(self, archive):
        """Streams of the traces that are not the same in the archive."""
        (copy,) = glob.glob(os.path.join(archive, '*'))
        (trace,) = self.traces()
        names = [name for name in os.listdir(trace) if not name.startswith('.')]
        return filecmp.cmpfiles(trace, copy, names, shallow=False)[1:]

    def until_there(self, address, wanted):
        """Returns when all wanted entries are in the stream; each may be there once."""
        found, end = None, time.monotonic() + 3 * PATIENCE
        while found != wanted:
            assert time.monotonic() < end, f'{sum(found.values())} of {sum(wanted.values())} are there'
            done = self.tool('show', '--format=$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)', address, check=False)
            found = writer.entries(done.stdout)
            assert not found - wanted, list((found - wanted).items())[:5]


def a_trace_comes_back_as_it_was(room):
    _, address = room.server()
    room.traced(20000, 3)
    bytes_sent, traces, messages = room.forward(address)
    assert traces == 1 and messages > 3, messages
    same(room.shown(address), expect(3, 20000))
    assert room.forward(address) == [0, 1, 0], 'nothing is sent twice'
    room.tool('archive', address, room.at('archive'))
    assert room.streams_differ(room.at('archive')) == ([], [])
    again = room.tool('archive', address, room.at('logs'), check=False)
    assert again.returncode == 2 and 'no archive of a stream; name a new directory' in again.stderr, again
    assert room.streams_differ(room.at('archive')) == ([], [])
    done = subprocess.run(['babeltrace2', *glob.glob(room.at('archive', '*'))], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.count('\n') == 60000 and done.stderr == '', done.stderr
    assert glob.glob(room.at('ctrace-stream*')) == [], 'temporary copies disappear'
    assert bytes_sent >= sum(os.path.getsize(path) for path in glob.glob(room.at('logs', '*', 'stream.*')))


def what_is_traced_later_follows(room):
    _, address = room.server()
    program = room.program(2)
    follower = room.follow(address)
    for _ in range(5):
        program.ask('run 1000')
        program.settle()
    program.end()
    # Each order counts on from where the one before ended.
    room.until_there(address, expect(2, 5000))
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0
    assert re.search('bytes of 1 trace,', follower.stderr.read())


def a_program_and_a_forwarder_are_killed(room):
    _, address = room.server()
    program = room.program(2)
    follower = room.follow(address)
    for _ in range(5):
        program.ask('run 3000')
        follower.kill()
        follower.wait()
        follower = room.follow(address)
    program.say('run 100000')
    for _ in range(3):
        program.process.stdout.flush()
        follower.kill()
        follower.wait()
        follower = room.follow(address)
    program.process.kill()
    program.process.wait()
    room.tool('recover')
    wanted = room.own()
    without_gaps(wanted)
    room.until_there(address, wanted)
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0


def a_server_is_killed_and_comes_again(room):
    server, address = room.server()
    program = room.program(2)
    room.traced(100)
    room.forward(address)
    follower = room.follow(address)
    for _ in range(3):
        program.ask('run 20000')
        server.kill()
        program.ask('run 20000')
        server.start()
    program.end()
    room.until_there(address, room.own())
    assert follower.poll() is None
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0


def one_server_of_three_is_killed(room):
    servers, address = room.cluster()
    program = room.program(2)
    follower = room.follow(address)
    program.ask('run 20000')
    program.settle()
    room.until_there(address, room.own())
    servers[0].kill()
    program.ask('run 20000')
    restarted(servers[0])
    servers[1].kill()
    program.ask('run 20000')
    program.end()
    room.until_there(address, expect(2, 60000))
    servers[1].start()
    for server in servers:
        server.kill()
    for server in servers:
        server.start()
    room.until_there(address, expect(2, 60000))
    assert follower.poll() is None


def a_stream_that_keeps_only_the_last_can_be_read(room):
    _, address = room.server()
    room.traced(200000)
    room.forward(f'{address}?maxbytes=2M')
    found = room.shown(address)
    numbers = sorted(number for _, number in found)
    assert 0 < len(numbers) < 200000 and numbers[-1] == 199999 and set(found.values()) == {1}, (len(numbers), numbers[-1:])
    assert numbers == list(range(numbers[0], 200000)), 'without a gap'


def times_select_in_a_stream(room):
    _, address = room.server()
    room.traced(200000)
    room.forward(address)
    times = re.findall(r'"time_ns":(\d+)', room.tool('show', '--json', address).stdout)
    middle = int(times[len(times) // 2])
    for option, wanted in ((f'--since=@{middle // 10**9}.{middle % 10**9:09}', [one for one in times if int(one) >= middle]),
                           (f'--until=@{middle // 10**9}.{middle % 10**9:09}', [one for one in times if int(one) <= middle])):
        shown = room.tool('show', '--json', option, address)
        assert re.findall(r'"time_ns":(\d+)', shown.stdout) == wanted, (option, shown.stderr)
        assert shown.stderr == '', shown.stderr


def wrong_addresses_are_explained(room):
    _, address = room.server()
    room.traced(10)
    for wrong, status, text in (
            (address[:-6], 2, 'names no stream; expected nats://HOST[:PORT][,HOST...]/STREAM'),
            (address + '?replicas=9', 2, 'replicas in the address has "9"; expected 1 to 5'),
            (address + '?maxage=tomorrow', 2, 'expected a number and s, m, h or d, such as 7d; at least 1m, at most 106751d'),
            (address + '?maxage=7', 2, 'maxage in the address has "7"; expected a number and s, m, h or d, such as 7d'),
            (address + '?maxage=59s', 2, 'maxage in the address has "59s"; expected a number and s, m, h or d, such as 7d; at least 1m'),
            (address + '?maxbytes=1', 2, 'maxbytes in the address has "1"; expected bytes, or a number and K, M, G or T, such as 10G; at least 1M'),
            (address + '?maxbytes=1048575', 2, 'at least 1M'),
            (address + '?maxage=7d&maxage=8d', 2, 'the address has maxage= twice; expected it once'),
            (address.replace('TRACES', 'T' * 300), 2, 'the name of the stream has 300 bytes; expected at most 255'),
            ('nats://h:0/TRACES', 2, '"h:0" in the address has no port; expected 1 to 65535 behind the colon'),
            ('nats://h,h2:99999/TRACES', 2, '"h2:99999" in the address has no port'),
            (address + '?size=3', 2, 'the address has no key "size"; expected one of subject, cluster,'),
            (address.replace('TRACES', 'TRA.CES'), 2, 'is no name of a stream'),
            ('nats://127.0.0.1:1/TRACES', 2, 'cannot connect to nats://127.0.0.1:1')):
        done = room.tool('forward', room.at('logs'), wrong, check=False)
        assert done.returncode == status and text in done.stderr, (wrong, done)
    done = room.tool('show', address.replace('TRACES', 'OTHER'), check=False)
    assert done.returncode == 2 and 'there is no stream OTHER at nats://' in done.stderr, done
    (port,) = free_ports(1)
    PlainServer(room, 'plain', port).until('Server is ready')
    for words in (('forward', room.at('logs')), ('show',)):
        done = room.tool(*words, f'nats://127.0.0.1:{port}/TRACES', check=False)
        assert done.returncode == 2 and f'no server at nats://127.0.0.1:{port} has JetStream; nats-server has it with -js' in done.stderr, done
    done = room.tool('forward', room.at('nowhere'), address, check=False)
    assert done.returncode == 1 and 'nowhere: No such file or directory' in done.stderr, done
    os.mkdir(room.at('empty'))
    done = room.tool('forward', room.at('empty'), address, check=False)
    assert done.returncode == 1 and 'empty: there is no trace' in done.stderr, done


def servers_that_refuse_are_explained(room):
    """What the message says to look at, by a forwarder and by a reader."""
    room.traced(10)
    (plain, alone, routes, allowed, other, third) = free_ports(6)
    Server(room, 'plain', plain).until('Server is ready')

    def said(address, *texts, words=(('forward', room.at('logs')), ('show',))):
        for one in words:
            done = room.tool(*one, address, check=False)
            assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done
            assert all(re.search(text, done.stderr) for text in texts), (address, texts, done)
    said('nats://no-such-host.invalid/TRACES', r'cannot connect to nats://no-such-host.invalid: no-such-host.invalid: (Name or service|Temporary failure)')
    said(f'nats://u:secret@127.0.0.1:1,no-such-host.invalid:{plain}/TRACES', r': no-such-host.invalid: (Name or service|Temporary failure)')
    said('nats://127.0.0.1:1,[::1]:1/TRACES', ': no server answers there$')
    said(f'tls://127.0.0.1:{plain}/TRACES', 'the server has no TLS, so the address begins with nats://')
    forward = (('forward', room.at('logs')),)
    said(f'nats://127.0.0.1:{plain}/TRACES?replicas=3', '; replicas=3 in the address wants more servers than there are', words=forward)
    with open(room.at('allowed.conf'), 'w', encoding='ascii') as file:
        file.write('authorization { users: [ { user: u, password: p, permissions: { publish: { deny: ["$JS.API.STREAM.CREATE.>"] } } } ] }\n')
    Server(room, 'allowed', allowed, ('-c', room.at('allowed.conf'))).until('Server is ready')
    said(f'nats://u:p@127.0.0.1:{allowed}/TRACES', r'stream TRACES: .*Permissions Violation for Publish to "\$JS.API.STREAM.CREATE.TRACES"', words=forward)
    Server(room, 'alone', alone, ('-cluster_name', 'test', '-cluster', f'nats://127.0.0.1:{routes}', '-routes',
                                  f'nats://127.0.0.1:{other},nats://127.0.0.1:{third}')).until('Server is ready')
    said(f'nats://127.0.0.1:{alone}/TRACES', "stream TRACES: the servers do not answer a request about it in 10 seconds; more than half of a cluster's",
         words=(('show',),))


def a_forwarder_waits_for_the_leader_of_a_stream(room):
    """No responders for a moment are not reported: the servers of a new stream choose a leader."""
    server, address = room.server()
    room.traced(10)
    make_stream(server, 'OTHER', 'other')
    follower = room.follow(address.replace('TRACES', 'OTHER?subject=ctrace'))
    begin = time.monotonic()
    line = follower.stderr.readline()
    assert 'No responders available for request: it has other subjects, or its servers choose a leader; trying again' in line, line
    assert time.monotonic() - begin > 3, 'it was not reported at once'
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0


def a_server_that_stands_still_is_given_up(room):
    """It says who it is, and nothing more: libnats alone would read on for ever."""
    with socket.create_server(('127.0.0.1', 0)) as stands:
        address = f'nats://127.0.0.1:{stands.getsockname()[1]}/TRACES'
        reader = subprocess.Popen([TOOL, 'show', address], env=room.environment, stderr=subprocess.PIPE, text=True)
        room.processes.append(reader)
        link, _ = stands.accept()
        with link:
            link.sendall(b'INFO {"server_id":"x","version":"2.9.10","proto":1,"max_payload":1048576,"headers":true,"jetstream":true}\r\n')
            _, error = reader.communicate(timeout=PATIENCE)
    assert reader.returncode == 2 and 'took the connection and then stood still or ended it' in error, (reader.returncode, error)
    # The next server is taken.
    _, good = room.server()
    room.traced(10)
    room.forward(good)
    with socket.create_server(('127.0.0.1', 0)) as stands:
        both = good.replace('nats://', f'nats://127.0.0.1:{stands.getsockname()[1]},')
        same(room.shown(both), expect(1, 10))


def hostile_messages_do_no_harm(room):
    """Names that lead elsewhere, sizes that lie, data that are no packets."""
    server, address = room.server()
    room.traced(100)
    room.forward(address)
    uuid = '0' * 31 + '1'
    with socket.create_connection(('127.0.0.1', server.port)) as link:
        link.sendall(b'CONNECT {"headers":true,"verbose":false,"protocol":1}\r\n')
        for headers, data in (
                ({'Ctrace-File': 'stream.0', 'Ctrace-Name': '../../evil', 'Ctrace-Offset': '0', 'Ctrace-Begins': 'yes'}, b'x' * 100),
                ({'Ctrace-File': '../evil', 'Ctrace-Name': 'a', 'Ctrace-Offset': '0', 'Ctrace-Begins': 'yes'}, b'x' * 100),
                ({'Ctrace-File': 'stream.0', 'Ctrace-Name': 'a', 'Ctrace-Offset': '18446744073709551600', 'Ctrace-Begins': 'yes'}, b'x' * 100),
                ({'Ctrace-File': 'metadata', 'Ctrace-Name': 'a', 'Ctrace-Offset': '0', 'Ctrace-Size': '99999999999'}, b'x' * 100),
                ({'Ctrace-File': 'metadata', 'Ctrace-Name': 'a', 'Ctrace-Offset': '5', 'Ctrace-Size': '10'}, b'x' * 100),
                ({'Ctrace-File': 'stream.1'}, b''), ({}, b'')):
            head = ('NATS/1.0\r\n' + ''.join(f'{name}: {value}\r\n' for name, value in headers.items()) + '\r\n').encode()
            for subject in (f'ctrace.default.host.job.{uuid}.stream-0', 'ctrace.a', f'ctrace.default.host.job.{uuid[1:]}.stream-0'):
                link.sendall(f'HPUB {subject} {len(head)} {len(head) + len(data)}\r\n'.encode() + head + data + b'\r\n')
        link.sendall(b'PING\r\n')
        answer = b''
        while b'PONG' not in answer:
            answer += link.recv(4096)
    same(room.shown(address), expect(1, 100))
    said = room.tool('archive', address, room.at('archive')).stderr
    assert '1 trace left out: the stream has no metadata of it' in said, said
    written = sorted(name for name in os.listdir(room.at('archive')) if name != '.archived')
    assert len(written) == 1 and not os.path.exists(room.at('evil')), written
    shutil.rmtree(room.at('archive'))


def request(port, subject, data='', headers=None, patience=PATIENCE):
    """Publishes to a subject by hand.  Returns the reply."""
    head = ('NATS/1.0\r\n' + ''.join(f'{name}: {value}\r\n' for name, value in (headers or {}).items()) + '\r\n').encode()
    data = data.encode() if isinstance(data, str) else data
    with socket.create_connection(('127.0.0.1', port), patience) as link:
        link.sendall(b'CONNECT {"headers":true,"verbose":false}\r\nSUB _INBOX.answers 1\r\n' +
                     f'HPUB {subject} _INBOX.answers {len(head)} {len(head) + len(data)}\r\n'.encode() + head + data + b'\r\n')
        answer = b''
        while b'MSG _INBOX.answers' not in answer or not answer.endswith(b'}\r\n'):
            answer += link.recv(65536)
    return answer.decode()


def stream_cluster(server):
    """The leader and the replicas of the stream; nothing while the servers choose a leader."""
    with contextlib.suppress(OSError):  # then they do not answer
        found = re.search(r'\{"type".*\}', request(server.port, '$JS.API.STREAM.INFO.TRACES', patience=2))
        return json.loads(found[0]).get('cluster', {}) if found else {}
    return {}


def restarted(server):
    """Starts a server of a cluster.  Returns when its replica has what the others have: before that, the loss of one more stops the stream."""
    server.start()
    end = time.monotonic() + 3 * PATIENCE
    while time.monotonic() < end:
        cluster = stream_cluster(server)
        replicas = cluster.get('replicas', [])
        if cluster.get('leader') and len(replicas) == 2 and all(replica['current'] and not replica.get('offline') for replica in replicas):
            return
        time.sleep(0.05)
    raise AssertionError(f'{server.name} has not caught up')


def make_stream(server, name, subject, patience=PATIENCE, **limits):
    config = {'name': name, 'subjects': [f'{subject}.*.*.*.*.*'], 'storage': 'file', 'retention': 'limits', 'num_replicas': 1, **limits}
    made = request(server.port, f'$JS.API.STREAM.CREATE.{name}', json.dumps(config), patience=patience)
    assert '"error"' not in made, made


def refused_messages_are_reported(room):
    """A stream that is full, one with other subjects, and one whose subjects another stream has."""
    server, address = room.server()
    room.traced(20000)
    make_stream(server, 'FULL', 'full', discard='new', max_bytes=100000)
    make_stream(server, 'OTHER', 'other')
    make_stream(server, 'MINE', 'ctrace')
    for stream, subject, text in (('FULL', 'full', 'maximum bytes exceeded'), ('OTHER', 'nowhere', 'No responders'),
                                  ('OTHER', 'ctrace', 'expected stream does not match')):
        done = room.tool('forward', room.at('logs'), address.replace('TRACES', f'{stream}?subject={subject}'), check=False)
        assert done.returncode == 2 and f'stream {stream}: messages are not acknowledged: {text}' in done.stderr, done
    follower = room.follow(address.replace('TRACES', 'FULL?subject=full'))
    assert 'maximum bytes exceeded; trying again' in follower.stderr.readline()
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0


def a_stream_made_anew_gets_everything(room):
    """The servers lost their store, another server has a stream of that name, another cluster has the traces."""
    server, address = room.server()
    room.traced(1000)
    room.forward(address)
    follower = room.follow(address)
    server.kill()
    shutil.rmtree(room.at(server.name))
    server.start()
    room.until_there(address, expect(1, 1000))
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0
    (port,) = free_ports(1)
    Server(room, 'two', port).until('Server is ready')
    other = f'nats://127.0.0.1:{port}/TRACES'
    assert room.forward(other)[0] > 0
    same(room.shown(other), expect(1, 1000))
    assert room.forward(f'{other}?cluster=second')[0] > 0
    assert room.forward(f'{other}?cluster=second')[0] == 0


def a_larger_message_of_the_same_place_is_no_duplicate(room):
    """A forwarder was killed before it noted what the server has, and the trace has grown since."""
    _, address = room.server()
    program = room.program()
    program.ask('run 1000')
    follower = room.follow(address)
    room.until_there(address, expect(1, 1000))
    (note,) = glob.glob(room.at('logs', '*', '.forwarded.TRACES'))
    with open(note, encoding='ascii') as file:
        before = file.read()
    program.ask('run 100')
    room.until_there(address, expect(1, 1100))
    follower.kill()
    follower.wait()
    with open(note, 'w', encoding='ascii') as file:
        file.write(before)
    program.ask('run 1000')
    program.end()
    room.forward(address)
    same(room.shown(address), expect(1, 2100))


def a_generation_is_compressed_after_a_part_was_sent(room):
    with open(room.at('app.cfg'), 'a', encoding='ascii') as file:
        file.write('mftrace.emitter.binfile#compress = zstd\n')
    _, address = room.server()
    program = room.program()
    program.ask('run 1000')
    follower = room.follow(address)
    room.until_there(address, expect(1, 1000))
    follower.kill()
    follower.wait()
    program.ask('run 1000')
    program.end()
    (trace,) = room.traces()
    assert glob.glob(os.path.join(trace, '*.zst')), os.listdir(trace)
    room.forward(address)
    same(room.shown(address), expect(1, 2000))
    room.tool('archive', address, room.at('archive'))
    (copy,) = glob.glob(room.at('archive', '*'))
    assert sorted(name for name in os.listdir(copy) if name[0] != '.') == sorted(name for name in os.listdir(trace) if name[0] != '.')
    assert room.streams_differ(room.at('archive')) == ([], [])


def what_cannot_be_read_is_reported(room):
    _, address = room.server()
    room.traced(1000)
    (trace,) = room.traces()
    os.makedirs(room.at('logs', 'broken'))
    with open(room.at('logs', 'broken', 'metadata'), 'w', encoding='ascii') as file:
        file.write('nothing\n')
    done = room.tool('forward', room.at('logs'), address, check=False)
    assert done.returncode == 1 and 'broken/metadata: these are no metadata of ctrace' in done.stderr, done
    same(room.shown(address), expect(1, 1000))
    shutil.rmtree(room.at('logs', 'broken'))
    os.symlink('/dev/null', os.path.join(trace, 'stream.99'))
    assert room.forward(address)[0] == 0, 'links are not followed'


def passwords_are_not_shown(room):
    room.traced(10)
    for address in ('nats://user:secret@127.0.0.1:1/TRACES', 'nats://user:secret@127.0.0.1:1'):
        done = room.tool('forward', room.at('logs'), address, check=False)
        assert done.returncode == 2 and '127.0.0.1:1' in done.stderr and 'secret' not in done.stderr, done


def a_killed_reader_leaves_no_copy(room):
    _, address = room.server()
    room.traced(100000)
    room.forward(address)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        reader = subprocess.Popen([TOOL, 'show', address], env=room.environment, stdout=subprocess.PIPE)
        reader.stdout.readline()
        assert glob.glob(room.at('ctrace-stream*')) != []
        reader.send_signal(number)
        reader.stdout.close()
        reader.wait(PATIENCE)
        end = time.monotonic() + PATIENCE
        while glob.glob(room.at('ctrace-stream*')) != []:
            assert time.monotonic() < end, number


def a_server_that_sends_nothing_is_reported(room):
    """A reader that may not publish what the flow control of a consumer needs."""
    (port,) = free_ports(1)
    with open(room.at('server.conf'), 'w', encoding='ascii') as file:
        file.write('authorization { users = [\n'
                   ' { user: all, password: p }\n'
                   ' { user: reader, password: p, permissions: { publish: ["$JS.API.STREAM.INFO.TRACES", "$JS.API.CONSUMER.>"], subscribe: ["_INBOX.>"] } } ] }\n')
    server = Server(room, 'one', port, ('-c', room.at('server.conf')))
    server.until('Server is ready')
    room.traced(200000)
    room.forward(f'nats://all:p@127.0.0.1:{port}/TRACES')
    done = room.tool('show', f'nats://reader:p@127.0.0.1:{port}/TRACES', check=False)
    assert done.returncode == 2 and 'Permissions Violation for Publish to "$JS.FC.' in done.stderr, done


def listening(pid):
    """The local addresses, in hexadecimal, at which the process listens."""
    inodes = set()
    for path in glob.glob(f'/proc/{pid}/fd/*'):
        with contextlib.suppress(FileNotFoundError):
            inodes.update(re.findall(r'socket:\[(\d+)\]', os.readlink(path)))
    rows = []
    for name in 'tcp', 'tcp6':
        with open(f'/proc/{pid}/net/{name}', encoding='ascii') as file:
            rows += [line.split() for line in file]
    return {row[1].split(':')[0] for row in rows if row[3] == '0A' and row[9] in inodes}


def the_pages_first_servers_listen_on_their_machine_alone(room):
    """As docs/cluster.md starts them, at other ports; a program and a reader there reach them."""
    with open(os.path.join(os.environ['CTRACE_SOURCE'], 'docs', 'cluster.md'), encoding='utf-8') as file:
        page = file.read()
    for old, new in zip((4222, 4223, 4224, 6222, 6223, 6224), free_ports(6)):
        page = page.replace(f':{old}', f':{new}').replace(f'-p {old}', f'-p {new}')
    commands = re.findall(r'^    (nats-server .*) &$', page, re.MULTILINE)
    assert len(commands) == 3, commands
    servers = []
    for command in commands:
        servers.append(subprocess.Popen(command.split(), cwd=room.at(), stderr=subprocess.DEVNULL))
        room.processes.append(servers[-1])
    url = re.search(r'url = (nats://\S*)', page).group(1)
    room.traced(100)
    end = time.monotonic() + 3 * PATIENCE
    while room.tool('forward', room.at('logs'), f'{url}/TRACES?replicas=3', check=False).returncode != 0:
        assert time.monotonic() < end
    same(room.shown(re.search(r'ctrace stats (\S*)', page).group(1)), expect(1, 100))
    assert [listening(server.pid) for server in servers] == 3 * [{'0100007F'}], [listening(server.pid) for server in servers]


writer.TESTS[:] = [value for name, value in list(globals().items()) if callable(value) and
                   getattr(value, '__code__', None) is not None and value.__code__.co_varnames[:1] == ('room',)]
writer.Room = Streams

if __name__ == '__main__':
    sys.exit(writer.main())
