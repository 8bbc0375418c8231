#!/usr/bin/env python3
"""ctrace top of a JetStream stream, with real servers: numbers by host, process and component, once, on a screen and in a batch.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import collections
import glob
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import streams  # noqa: E402
import writer  # noqa: E402
from stream_readers import consumers, on_host, stored  # noqa: E402
from streams import Server, free_ports, make_stream  # noqa: E402
from terminal import Terminal  # noqa: E402
from writer import PATIENCE, TOOL  # noqa: E402


class Batch:
    """ctrace top -b -j of a stream: the latest number of events of each row, and what all documents say together."""

    def __init__(self, room, address, *options):
        self.process = subprocess.Popen([TOOL, 'top', '-b', '-j', '-i', '0.2', *options, address], env=room.environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        room.processes.append(self.process)
        self.rows, self.documents = {}, []
        self.lost = collections.Counter()  # by process: rates times times
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            document = json.loads(line)
            seconds = (document['time_ns'] - self.documents[-1]['time_ns']) / 1e9 if self.documents else 0
            self.rows = {(row['host'], row['job'], row['pid'], row['component']): row for row in document['components']}
            for host, pid, rate in {(row['host'], row['pid'], row['process_lost_per_second']) for row in document['components']}:
                self.lost[host, pid] += rate * seconds
            self.documents.append(document)

    def events(self):
        return {key: row['delivered'] for key, row in self.rows.items()}

    def until(self, wanted, later=2):
        """Returns when the rows are these, and still are some documents later."""
        end = time.monotonic() + 2 * PATIENCE
        while self.events() != wanted:
            assert time.monotonic() < end and self.process.poll() is None, (self.events(), wanted)
            time.sleep(0.02)
        count = len(self.documents) + later
        while len(self.documents) < count:
            assert time.monotonic() < end and self.process.poll() is None, len(self.documents)
            time.sleep(0.02)
        assert self.events() == wanted, (self.events(), wanted)

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        status = self.process.wait(PATIENCE)
        self.thread.join(PATIENCE)
        said = self.process.stderr.read()
        assert status == 0, (status, said)
        return said


def follower_ends(follower):
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0


def until_removed(room):
    end = time.monotonic() + PATIENCE
    while glob.glob(room.at('ctrace-stream*')) != []:
        assert time.monotonic() < end
        time.sleep(0.02)


def hosts_and_jobs_are_told_apart(room):
    server, address = room.server()
    room.traced(100)
    room.forward(address)
    batch, other = Batch(room, address), Batch(room, address + '?host=batch2')
    text = subprocess.Popen([TOOL, 'top', '-b', '-i', '0.2', '--sort=name', address], env=room.environment, stdout=subprocess.PIPE, text=True)
    room.processes.append(text)
    consumers(server, 3)
    for host, job in (('batch1', 'PAYROLL'), ('batch1', 'BILLING'), ('batch2', 'PAYROLL')):
        room.environment.update(MFTRACE_LOGS=room.at(host + job), CTRACE_JOBNAME=job)
        os.mkdir(room.at(host + job))
        on_host(room, host, writer.PROGRAM, '1')
        on_host(room, host, TOOL, 'forward', '-q', room.at(host + job), address)
    end = time.monotonic() + PATIENCE
    while len(batch.rows) < 3:
        assert time.monotonic() < end and batch.process.poll() is None, batch.rows
        time.sleep(0.02)
    pids = {(host, job): pid for host, job, pid, _ in batch.rows}
    assert sorted(pids) == [('batch1', 'BILLING'), ('batch1', 'PAYROLL'), ('batch2', 'PAYROLL')], pids
    wanted = {(host, job, pid, 'WRT'): 10 for (host, job), pid in pids.items()}
    batch.until(wanted)
    other.until({key: count for key, count in wanted.items() if key[0] == 'batch2'})
    for row in batch.rows.values():
        assert row['level'] is None and row['destinations'] == [] and row['program'].endswith('written'), row
    while ' 10  -' not in (line := text.stdout.readline()):
        pass
    assert re.search(r'^batch[12] +\d+  (BILLING |PAYROLL )  WRT        -  +\d', line), line
    assert batch.end() == '' and other.end(signal.SIGTERM) == ''
    text.stdout.close()
    assert text.wait(PATIENCE) == 0, 'a batch whose reader goes ends, and well'
    until_removed(room)


def sizes_are_those_of_the_program(room):
    """What a process counts itself, as ctrace stats shows it."""
    server, address = room.server()
    follower = room.follow(address)
    make_stream(server, 'TRACES', 'ctrace')
    batch = Batch(room, address)
    consumers(server, 1)
    program = room.program()
    program.ask('run 5000')
    program.settle()
    (own,) = json.loads(room.tool('stats', '-j').stdout)['processes'][0]['components']
    end = time.monotonic() + PATIENCE
    while [row['delivered'] for row in batch.rows.values()] != [5000]:
        assert time.monotonic() < end and batch.process.poll() is None, batch.rows
        time.sleep(0.02)
    busy = [document for document in batch.documents if document['events_per_second'] > 0]
    for document in busy:
        size = document['bytes_per_second'] / document['events_per_second']
        assert abs(size - own['bytes'] / own['delivered']) < 1, (size, own)
    program.end()
    batch.end()
    follower_ends(follower)


def repeated_packets_count_once(room):
    """A trace that is compressed when a part was sent, and one of a killed program that is recovered."""
    with open(room.at('app.cfg'), 'a', encoding='ascii') as file:
        file.write('mftrace.emitter.binfile#compress = zstd\n')
    server, address = room.server()
    make_stream(server, 'TRACES', 'ctrace')
    batch = Batch(room, address)
    consumers(server, 1)
    program = room.program()
    follower = room.follow(address)

    def counted():
        return sum(row['delivered'] for row in batch.rows.values())

    def until(count):
        end = time.monotonic() + PATIENCE
        while counted() < count:
            assert time.monotonic() < end and batch.process.poll() is None, batch.rows
            time.sleep(0.02)
        documents = len(batch.documents) + 3
        while len(batch.documents) < documents:
            time.sleep(0.02)
        assert counted() == count, (counted(), count)
    program.ask('run 1000')
    until(1000)
    follower.kill()
    follower.wait()
    program.ask('run 1000')
    program.end()
    room.forward(address)
    until(2000)
    follower = room.follow(address)
    program = room.program()
    program.ask('run 1000')
    until(3000)
    program.say('run 3000')
    program.process.kill()
    program.process.wait()
    room.tool('recover')
    follower_ends(follower)
    room.forward(address)
    until(sum(room.shown(address).values()))
    assert len(batch.rows) == 2, batch.rows
    assert batch.end() == ''


def losses_are_of_the_process(room):
    server, address = room.server()
    make_stream(server, 'TRACES', 'ctrace')
    batch = Batch(room, address)
    consumers(server, 1)
    with open(room.at('app.cfg'), 'a', encoding='ascii') as file:
        file.write('ctrace.overflow = discard\nctrace.buffer = 32K\n')
    follower = room.follow(address)
    program, calm = room.program(), room.program()
    calm.ask('run 1')
    program.ask('run 1')
    program.settle()
    host = os.uname().nodename
    batch.until({(host, 'WRITTEN', one.process.pid, 'WRT'): 1 for one in (program, calm)})  # the losses before are not counted
    lost, end = 0, time.monotonic() + PATIENCE
    while lost == 0:
        assert time.monotonic() < end
        program.ask('run 100000')
        lost = program.settle()[3]
    program.ask('run 1')  # the packet of the last event has the count
    program.settle()
    calm.end()
    program.end()
    while sum(batch.events().values()) != (emitted := sum(room.shown(address).values())):
        assert time.monotonic() < end, (batch.events(), emitted)
    documents = len(batch.documents) + 3
    while len(batch.documents) < documents:
        time.sleep(0.02)
    counted = {pid: count for (_, pid), count in batch.lost.items()}
    assert counted[calm.process.pid] == 0 and abs(counted[program.process.pid] - lost) <= 1 + lost / 50, (counted, lost)
    assert batch.end() == ''
    follower_ends(follower)


def options_select(room):
    server, address = room.server()
    make_stream(server, 'TRACES', 'ctrace')
    one, two = room.program(CTRACE_JOBNAME='PAYROLL'), room.program(CTRACE_JOBNAME='BILLING')
    asids = {process['pid']: process['asid'] for process in json.loads(room.tool('stats', '-j').stdout)['processes']}
    host = os.uname().nodename
    pids = {'PAYROLL': one.process.pid, 'BILLING': two.process.pid}
    batches = []
    for options, jobs in (((), ('PAYROLL', 'BILLING')), (('-J', 'PAY*'), ('PAYROLL',)), (('-p', str(pids['BILLING'])), ('BILLING',)),
                          (('-A', f'{asids[pids["BILLING"]]}'), ('BILLING',)), (('-c', 'pay'), ('PAYROLL',)), (('-c', host), ('PAYROLL', 'BILLING')),
                          (('-a', '-t', '3'), ('PAYROLL', 'BILLING')), (('-J', 'NOBODY'), ()), (('-c', 'nowhere'), ())):
        batches.append((Batch(room, address, *options), {(host, job, pids[job], 'WRT'): 100 for job in jobs}))
    consumers(server, len(batches))
    follower = room.follow(address)
    for program in (one, two):
        program.ask('run 100')
        program.end()
    for batch, wanted in batches:
        batch.until(wanted)
        batch.end()
    follower_ends(follower)
    busy = room.tool('top', '-b', '-j', '-n', '1', '-i', '0.1', address, check=False)
    assert busy.returncode == 1 and json.loads(busy.stdout)['components'] == [], 'nothing came'


def a_server_is_killed_and_started_again(room):
    server, address = room.server()
    program = room.program()
    follower = room.follow(address)
    program.ask('run 100')
    room.until_there(address, writer.expect(1, 100))
    batch = Batch(room, address)
    consumers(server, 1)
    count = 0
    for _ in range(2):
        program.ask('run 1000')
        count += 1000
        batch.until({(os.uname().nodename, 'WRITTEN', program.process.pid, 'WRT'): count}, later=0)
        server.kill()
        program.ask('run 1000')
        count += 1000
        documents = len(batch.documents) + 5
        while len(batch.documents) < documents:  # it goes on printing without a server
            assert batch.process.poll() is None
            time.sleep(0.02)
        server.start()
    batch.until({(os.uname().nodename, 'WRITTEN', program.process.pid, 'WRT'): count})
    program.end()
    batch.end()
    follower_ends(follower)


def wrong_addresses_are_reported(room):
    (port,) = free_ports(1)
    with open(room.at('server.conf'), 'w', encoding='ascii') as file:
        file.write('authorization { users = [ { user: all, password: p } ] }\n')
    server = Server(room, 'one', port, ('-c', room.at('server.conf')))
    server.until('Server is ready')
    for address, status, text in ((f'nats://all:p@127.0.0.1:{port}/TRACES', 1, 'there is no stream TRACES at nats://'),
                                  (f'nats://all:p@127.0.0.1:{port}', 2, 'names no stream; expected nats://HOST'),
                                  (f'nats://all:p@127.0.0.1:{port}/TRACES?what=1', 2, 'the address has no key "what"')):
        tail = room.tool('tail', address, check=False)
        done = room.tool('top', '-b', address, check=False)
        assert tail.returncode == done.returncode == 2 or tail.returncode == done.returncode == status, (tail, done)
        assert done.stderr == tail.stderr.replace('ctrace tail', 'ctrace top') and text in done.stderr and done.stdout == '', (done, tail)
        top = Terminal(TOOL, 'top', address, environment=room.environment)
        assert top.end() == done.returncode and top.is_restored() == ''
        assert top.process.stderr.read().decode() == done.stderr, (done.stderr, top.raw)
        top.close()
    for address, text in ((f'nats://all:wrong@127.0.0.1:{port}/TRACES', 'Authorization'), ('nats://127.0.0.1:1/TRACES', 'cannot connect to nats://127.0.0.1:1')):
        done = room.tool('top', '-b', '-n', '2', '-i', '0.1', address, check=False)
        assert done.returncode == 2 and text in done.stderr and '; trying again\n' in done.stderr and done.stdout.count('HOST') == 2, done
        top = Terminal(TOOL, 'top', '-i', '0.3', address, columns=200, environment=room.environment)
        assert top.wait(f'{text}.*; trying again') == '' and top.wait('nothing has come to the stream yet') == '', top.screen.text()
        top.press('q')
        assert top.end() == 2 and top.is_restored() == '' and text in top.process.stderr.read().decode()
        top.close()
    refused = room.tool('top', '-b', 'nats://127.0.0.1:1/A', 'nats://127.0.0.1:1/B', check=False)
    assert refused.returncode == 2 and 'two streams are named' in refused.stderr, refused
    until_removed(room)


def on_a_screen(room):
    server, address = room.server()
    follower = room.follow(address)
    program = room.program(CTRACE_JOBNAME='PAYROLL')
    program.ask('run 10')
    room.until_there(address, writer.expect(1, 10))
    top = Terminal(TOOL, 'top', '-i', '0.3', address, columns=140, environment=room.environment)
    consumers(server, 1)
    assert top.wait('nothing has come to the stream yet') == '', top.screen.text()
    host, pid = os.uname().nodename, program.process.pid
    program.ask('run 2000')
    assert top.wait(rf'^HOST +PID  JOBNAME   COMPONENT  LEVEL  EVENTS/S  BYTES/S  LOST/S +EVENTS$') == ''
    assert top.wait(rf'^{host} +{pid}  PAYROLL   WRT        -  +[0-9.k]+ +[0-9.k]+ +0 +2000$') == ''
    assert top.wait('^ctrace top .* every 0.3s  1 process ') == ''
    top.press('d')
    assert top.wait(rf'^levels of other machines: ctrace --host={host} level --pid={pid} WRT DEBUG$') == ''
    top.press('N')
    assert top.wait(rf"^levels of other machines: ctrace --host='\*' level WRT NONE$") == ''
    for columns, row in ((60, rf'^{host[:5]}\S* +{pid}  WRT +\d'), (80, rf'^{host[:5]}\S* +{pid}  PAYROLL   WRT  +-  +\d'),
                         (200, rf'^{host} +{pid}  PAYROLL   WRT        -')):
        top.resize(24, columns)
        top.press(' ')
        assert top.wait(r'^HOST +PID .* COMPONENT +(LEVEL +)?EVENTS/S +BYTES/S +LOST/S( +EVENTS)?$') == '', top.wait('^HOST')
        assert top.wait(row) == '', (columns, top.screen.text())
    server.process.send_signal(signal.SIGSTOP)  # silent
    for keys, text in (('r', 'sorted by events, reversed'), ('r/zz\r', 'only /zz'), ('/\x1b', '^sorted by events$')):
        top.press(keys)
        assert top.wait(text) == ''
    server.process.send_signal(signal.SIGCONT)
    server.kill()
    assert top.wait('the connection to the servers is lost; trying again') == ''
    top.press('r')
    assert top.wait('sorted by events, reversed') == ''
    program.ask('run 1000')
    server.start()
    assert top.wait(r'PAYROLL   WRT  .* 3000$') == ''
    server.kill()
    assert top.wait('the connection to the servers is lost; trying again') == ''
    program.ask('run 1000')
    server.start()
    assert top.wait(r'PAYROLL   WRT  .* 4000$') == '' and top.wait('^sorted by events, reversed') == '', 'without a key'
    top.press('b')
    assert top.wait('busy ones only') == ''
    top.press('q')
    assert top.end() == 0 and top.is_restored() == '' and top.process.stderr.read() == b''
    top.close()
    until_removed(room)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL):
        top = Terminal(TOOL, 'top', address, environment=room.environment)
        assert top.wait('nothing has come') == ''
        end = time.monotonic() + PATIENCE
        while glob.glob(room.at('ctrace-stream*', '1')) == []:
            assert time.monotonic() < end and top.process.poll() is None
        top.process.send_signal(number)
        assert top.end() == (-number if number == signal.SIGKILL else 0), number
        assert number == signal.SIGKILL or top.is_restored() == '', number
        top.close()
        until_removed(room)
    program.end()
    follower_ends(follower)


def a_silent_server_does_not_keep_it(room):
    """A key or a signal ends it while the server stands, also before it has answered."""
    server, address = room.server()
    make_stream(server, 'TRACES', 'ctrace')
    for is_known in (True, False):
        for end in ('q', signal.SIGTERM):
            top = Terminal(TOOL, 'top', address, environment=room.environment)
            assert top.wait('nothing has come') == ''
            if is_known:
                consumers(server, 1)
            else:
                top.process.kill()
                top.process.wait()
                top.close()
                server.process.send_signal(signal.SIGSTOP)
                top = Terminal(TOOL, 'top', address, environment=room.environment)
                assert top.wait('nothing has come') == ''
            server.process.send_signal(signal.SIGSTOP)
            if end == 'q':
                top.press(end)
            else:
                top.process.send_signal(end)
            assert top.end() in (0, 2) and top.is_restored() == '', (is_known, end, top.process.poll())
            top.close()
            server.process.send_signal(signal.SIGCONT)
            until_removed(room)


def short_lived(address_port, messages, count):
    """Publishes copies of a trace as traces of other processes."""
    (uuid,) = {subject.split('.')[-2] for subject, _, _ in messages}
    (pid,) = {int(found) for _, _, data in messages for found in re.findall(rb'vpid = (\d+);', data)}

    def dashed(word):
        return '-'.join((word[:8], word[8:12], word[12:16], word[16:20], word[20:])).encode()
    with socket.create_connection(('127.0.0.1', address_port), PATIENCE) as link:
        link.sendall(b'CONNECT {"headers":true,"verbose":false}\r\n')
        for number in range(1, count + 1):
            other = f'{int(uuid, 16) ^ number:032x}'
            out = b''
            for subject, head, data in messages:
                head = re.sub(rb'Nats-[^\r]*\r\n', b'', head)
                head = re.sub(rb'(Ctrace-Name: [^\r]*)', rb'\g<1>.%d' % number, head)
                if b'Ctrace-File: metadata' in head:
                    data = data.replace(dashed(uuid), dashed(other)).replace(b'vpid = %d;' % pid, b'vpid = %d;' % (pid + number))
                    head = re.sub(rb'Ctrace-Size: \d+', b'Ctrace-Size: %d' % len(data), head)
                else:
                    data = data.replace(bytes.fromhex(uuid), bytes.fromhex(other))
                subject = subject.replace(uuid, other)
                out += f'HPUB {subject} {len(head)} {len(head) + len(data)}\r\n'.encode() + head + data + b'\r\n'
            link.sendall(out)
        link.sendall(b'PING\r\n')
        while b'PONG' not in link.recv(4096):
            pass


def silent_processes_are_forgotten(room):
    """There are more than are counted at once; each is one of its own."""
    server, address = room.server()
    room.traced(10)
    room.forward(address)
    messages = stored(server)
    every, some = Batch(room, address), Batch(room, address, '-c', 'nowhere')
    consumers(server, 2)
    short_lived(server.port, messages, 500)
    end = time.monotonic() + PATIENCE
    while len(every.rows) < 500 or sum(every.events().values()) < 5000:
        assert time.monotonic() < end and every.process.poll() is None, (len(every.rows), every.events())
        time.sleep(0.02)
    assert set(every.events().values()) == {10} and len(every.rows) == 500
    assert every.end() == ''
    shell = subprocess.Popen(['bash', '-c', '"$@" | head -c 100; exit ${PIPESTATUS[0]}', 'sh', TOOL, 'top', '-b', '-j', '-i', '0.2', address],
                             env=room.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    room.processes.append(shell)
    short_lived(server.port, messages, 10500)
    counts = []
    while max(counts, default=0) < 5000 or counts[-1] == max(counts):
        counts = [document['processes'] for document in some.documents]
        assert time.monotonic() < end + 4 * PATIENCE and some.process.poll() is None, counts
        time.sleep(0.1)
    assert max(counts) <= 10000 and counts[-1] > 0, counts
    assert some.end() == '' and shell.wait(PATIENCE) == 0 and shell.stderr.read() == b'', 'a batch whose reader goes ends, and well'


writer.TESTS[:] = [hosts_and_jobs_are_told_apart, sizes_are_those_of_the_program, repeated_packets_count_once, losses_are_of_the_process, options_select,
                   a_server_is_killed_and_started_again, wrong_addresses_are_reported, on_a_screen, a_silent_server_does_not_keep_it,
                   silent_processes_are_forgotten]
writer.Room = streams.Streams

if __name__ == '__main__':
    sys.exit(writer.main())
