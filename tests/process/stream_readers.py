#!/usr/bin/env python3
"""What reads JetStream streams, with real servers: ctrace tail, archives that go on and are pruned, clocks of hosts, messages.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import base64
import ctypes
import filecmp
import glob
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import streams
import writer
from streams import Server, free_ports, make_stream, request, restarted
from writer import PATIENCE, TOOL, expect, same

# ctrace tail


class Tail:
    """ctrace tail of a stream, whose lines are read as they come."""

    def __init__(self, room, address, *options):
        self.process = subprocess.Popen([TOOL, 'tail', '--format=$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)', *options, address],
                                        env=room.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        room.processes.append(self.process)
        self.found = writer.Found()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.found += writer.entries(line)

    def until(self, wanted):
        end = time.monotonic() + 2 * PATIENCE
        while sum(self.found.values()) < sum(wanted.values()):
            assert time.monotonic() < end and self.process.poll() is None, (sum(self.found.values()), sum(wanted.values()))
            time.sleep(0.02)
        same(self.found, wanted)

    def end_with_any(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE)
        return self.process.stderr.read()

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        assert self.process.wait(PATIENCE) == 0
        return self.process.stderr.read()


def consumers(server, count):
    """Returns when so many read the stream."""
    end = time.monotonic() + PATIENCE
    while f'"total":{count},' not in request(server.port, '$JS.API.CONSUMER.NAMES.TRACES', '{"offset":0}'):
        assert time.monotonic() < end


def tail_shows_what_comes_once(room):
    server, address = room.server()
    room.traced(500)
    room.forward(address)
    follower = room.follow(address)
    tail, whole = Tail(room, address), Tail(room, address, '--from-start')
    consumers(server, 2)
    whole.until(expect(1, 500))
    assert not tail.found, 'what was there before is not shown'
    program = room.program(3)
    for _ in range(5):
        program.ask('run 1000')
    program.settle()
    tail.until(expect(3, 5000))
    program.end()
    late = Tail(room, address, '--since=1h')
    late.until(expect(3, 5000) + expect(1, 500))
    for one in (tail, whole, late):
        assert one.end() == '', 'nothing is reported'
    assert glob.glob(room.at('ctrace-stream*')) == []
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0


def tail_selects(room):
    server, address = room.server()
    follower = room.follow(address)
    room.traced(100)
    room.until_there(address, expect(1, 100))
    nobody = Tail(room, address + '?host=elsewhere', '--from-start')
    some = Tail(room, address, '--from-start', 'data[1] < 10')
    some.until(expect(1, 10))
    first = Tail(room, address, '--from-start', '--limit=7')
    assert first.process.wait(PATIENCE) == 0
    assert nobody.end(signal.SIGTERM) == '' and not nobody.found
    some.end()
    done = room.tool('tail', '--for=1', address)
    assert done.stdout == '' and done.stderr == '', done
    for words, text in ((('-n', '5'), '--since=10m'), ((address,), 'two streams')):
        refused = room.tool('tail', *words, address, check=False)
        assert refused.returncode == 2 and text in refused.stderr, refused
    assert len(writer.entries(room.show('-f', '--since=1h', '--limit=7', address).stdout)) == 7
    refused = room.tool('repair', address, check=False)
    assert refused.returncode == 2 and 'copy it with ctrace archive' in refused.stderr, refused


def tail_reports_what_the_programs_lost(room):
    """Part by part.  What was lost before it began, it reports only when it shows those events too."""
    _, address = room.server()
    with open(room.at('app.cfg'), 'a', encoding='ascii') as file:
        file.write('ctrace.overflow = discard\nctrace.buffer = 32K\n')
    follower = room.follow(address)
    program = room.program()

    def lose(least):
        """Returns how many events it has lost when the stream has all that it traced."""
        end = time.monotonic() + PATIENCE
        lost = least
        while lost <= least:
            assert time.monotonic() < end, lost
            for order in ('run 100000', 'run 1'):  # the packet of the last event has the count
                program.ask(order)
                program.settle()
            lost = json.loads(room.tool('stats', '-j', room.at('logs')).stdout.splitlines()[0])['lost']
        return lost, writer.entries(room.show(*room.traces(), check=False).stdout)
    before, wanted = lose(0)
    room.until_there(address, wanted)
    whole, tail = Tail(room, address, '--from-start'), Tail(room, address)
    nobody = Tail(room, address, '--from-start', '--job=NOBODY')
    whole.until(wanted)
    after, wanted = lose(lose(before)[0])
    whole.until(wanted)
    said = whole.end()
    assert said == f'ctrace tail: {after} events were lost by the traced programs\n', (said, after)
    said = tail.end()
    (count,) = re.findall(r'^ctrace tail: (\d+) events were lost by the traced programs$', said)
    assert 0 < int(count) <= after - before, (said, before, after)
    assert nobody.end(signal.SIGTERM) == ''
    program.end()
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0


def tail_goes_on_when_a_server_is_lost(room):
    servers, address = room.cluster()
    follower = room.follow(address)
    program = room.program()
    program.ask('run 100')
    room.until_there(address, expect(1, 100))
    tail = Tail(room, address, '--from-start')
    tail.until(expect(1, 100))
    count = 100
    for server in servers:
        server.kill()
        program.ask('run 100')
        program.settle()
        count += 100
        tail.until(expect(1, count))
        restarted(server)
        program.ask('run 100')
        program.settle()
        count += 100
        tail.until(expect(1, count))
    program.end()
    tail.end()
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0


def tail_shows_a_compressed_generation_once(room):
    with open(room.at('app.cfg'), 'a', encoding='ascii') as file:
        file.write('mftrace.emitter.binfile#compress = zstd\n')
    _, address = room.server()
    program = room.program()
    program.ask('run 1000')
    follower = room.follow(address)
    room.until_there(address, expect(1, 1000))
    tail = Tail(room, address, '--from-start')
    tail.until(expect(1, 1000))
    follower.kill()
    follower.wait()
    program.ask('run 1000')
    program.end()
    room.forward(address)
    tail.until(expect(1, 2000))
    tail.end()


def tail_shows_a_killed_program_once(room):
    _, address = room.server()
    follower = room.follow(address)
    program = room.program()
    program.ask('run 1000')
    room.until_there(address, expect(1, 1000))
    tail = Tail(room, address, '--from-start')
    tail.until(expect(1, 1000))
    program.say('run 3000')
    program.process.kill()
    program.process.wait()
    room.tool('recover')
    room.forward(address)
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0
    tail.until(room.shown(address))
    tail.end()


# clocks


def on_host(room, name, *words):
    become = 'import os, socket, sys; socket.sethostname(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])'  # hostname(1) takes no underline
    end = time.monotonic() + PATIENCE
    while True:
        done = subprocess.run(['unshare', *(['--map-root-user'] if os.geteuid() else []), '--uts', sys.executable, '-c', become, name, *words],
                              env=room.environment, input='plain\nrun 10\n', capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode == 0:
            return done
        # With a clock that is behind only in this process, a wait of the NATS library ends at once: the kernel's clock is past its end.
        assert 'messages are not acknowledged' in done.stderr and time.monotonic() < end, done


def hosts_whose_clocks_are_ahead_are_found(room):
    """The times that --since names have come to a host whose clock is ahead before they come to the servers."""
    server, address = room.server()
    odd = {'LD_PRELOAD': os.path.join(writer.BUILD, 'tests', 'liboddclock.so')}
    for host, ahead in (('batch1', 300), ('batch2', 0), ('batch3', -7200), ('batch4', 86400)):
        room.environment['MFTRACE_LOGS'] = room.at(host)
        os.mkdir(room.at(host))
        before = dict(room.environment)
        room.environment.update(odd, ODD_CLOCK=f'+{ahead}', ODD_KERNEL=f'+{ahead}')
        on_host(room, host, writer.PROGRAM, '1')
        on_host(room, host, TOOL, 'forward', '-q', room.at(host), address)
        room.environment = before
        now = time.time()
        if ahead == 300:
            # The newest messages are as old as the servers' clock says; none came within the minute before --since.
            for since, wanted in ((now + 150, 10), (now + 250, 10), (now + 400, 0)):
                shown = room.tool('show', '--json', f'--since=@{since:.0f}', address, check=False)
                assert shown.stdout.count('\n') == wanted, (since - now, wanted, shown)
    hosts = [json.loads(line)['host'] for line in room.tool('show', '--json', f'--since=@{time.time() + 150:.0f}', address).stdout.splitlines()]
    assert {host: hosts.count(host) for host in hosts} == {'batch1': 10, 'batch4': 10}, hosts
    one = room.tool('show', '--json', f'--since=@{time.time() + 150:.0f}', address + '?host=batch1')
    assert one.stdout.count('\n') == 10, one
    tail = Tail(room, address, f'--since=@{time.time() + 40000:.0f}')
    tail.until(expect(1, 10))
    tail.end_with_any()
    # Nobody's header is more than a number.
    lines = b'NATS/1.0\r\nCtrace-File: stream.0\r\nCtrace-Name: x\r\nCtrace-Sent: 99999999999999999999999\r\nCtrace-Last: -1\r\n\r\n'
    store(server, [('ctrace.default.odd.JOB.0123456789abcdef0123456789abcdef.stream-0', lines, b'')], 'ctrace')
    assert room.tool('show', '--json', f'--since=@{time.time() + 150:.0f}', address + '?host=batch1').stdout.count('\n') == 10


def kernel_clock():
    """The state, and struct timex up to its status: what adjtimex(2) reports."""
    buffer = (ctypes.c_char * 512)()
    state = ctypes.CDLL(None).adjtimex(buffer)
    _, _, _, maxerror, _, status = struct.unpack_from('I4xqqqqi', buffer)
    return maxerror, state == 5 or status & 0x40 != 0


def clocks_of_hosts_are_compared(room):
    server, address = room.server()
    for host in ('batch1', 'batch2'):
        room.environment['MFTRACE_LOGS'] = room.at(host)
        os.mkdir(room.at(host))
        on_host(room, host, writer.PROGRAM, '1')
        on_host(room, host, TOOL, 'forward', '-q', room.at(host), address)
    _, is_unsynchronised = kernel_clock()
    room.tool('archive', address, room.at('archive'))
    clocks = sorted(glob.glob(room.at('archive', '*', '.clock')))
    assert len(clocks) == 2, clocks
    for path in clocks:
        with open(path, encoding='ascii') as file:
            error, word = file.read().split()
        assert int(error) % 1000 == 0 and (word == 'unsynchronised') == is_unsynchronised, (error, word)
    shown = room.tool('stats', address)
    if is_unsynchronised:
        assert shown.stderr == 'ctrace stats: the clocks of batch1 and batch2 are not synchronised; their times may differ from those of other ' \
            'hosts by any amount\n', shown.stderr
    else:
        assert re.search(r'^ctrace stats: times of batch[12] and batch[12] may differ by up to \d+\.\d ms$', shown.stderr, re.MULTILINE), shown.stderr

    def archived(*texts):
        for path, text in zip(clocks, texts):
            with open(path, 'w', encoding='ascii') as file:
                file.write(text)
        return room.tool('show', room.at('archive')).stderr

    assert archived('1200000 synchronised\n', '1950000 synchronised\n') == 'ctrace show: times of batch2 and batch1 may differ by up to 3.2 ms\n'
    assert archived('16000000000 unsynchronised\n', '0 synchronised\n') == \
        'ctrace show: the clock of batch1 is not synchronised; its times may differ from those of other hosts by any amount\n'
    for number in range(3, 13):
        copy = f'{os.path.dirname(clocks[0])}.{number}'
        shutil.copytree(os.path.dirname(clocks[0]), copy)
        with open(os.path.join(copy, 'metadata'), 'r+b') as file:
            text = file.read().replace(b'"batch1"', b'"many%02d"' % number)
            assert b'many' in text
            file.seek(0)
            file.write(text)
    for copy in glob.glob(room.at('archive', '*')):
        with open(os.path.join(copy, '.clock'), 'w', encoding='ascii') as file:
            file.write('0 unsynchronised\n')
    assert room.tool('show', room.at('archive')).stderr == 'ctrace show: the clocks of batch1, batch2, many03, many04, many05, many06, many07, many08 ' \
        'and 4 more are not synchronised; their times may differ from those of other hosts by any amount\n'
    for copy in glob.glob(room.at('archive', '*.*[0-9]')):
        if copy != os.path.dirname(clocks[0]) and copy.startswith(os.path.dirname(clocks[0])):
            shutil.rmtree(copy)
    assert archived('0 synchronised\n', '0 synchronised\n') == '' and archived('nonsense', '') == ''
    one = room.tool('stats', address + '?host=batch1')
    assert 'clock' not in one.stderr and 'differ' not in one.stderr, one.stderr
    # A forwarder on another machine knows nothing of the clock.
    os.mkdir(room.at('other'))
    server.kill()
    (port,) = free_ports(1)
    Server(room, 'two', port).until('Server is ready')
    on_host(room, 'elsewhere', TOOL, 'forward', '-q', room.at('batch1'), f'nats://127.0.0.1:{port}/TRACES')
    room.tool('archive', f'nats://127.0.0.1:{port}/TRACES', room.at('other'))
    assert glob.glob(room.at('other', '*', 'metadata')) != [] and glob.glob(room.at('other', '*', '.clock')) == []
    read = subprocess.run(['babeltrace2', *glob.glob(room.at('archive', '*'))], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert read.stdout.count('\n') == 20, read


def names_that_are_one_word_in_subjects_are_told_apart(room):
    server, address = room.server()
    for host in ('batch.1', 'batch_1', 'BATCH.1'):
        room.environment['MFTRACE_LOGS'] = room.at(host)
        os.mkdir(room.at(host))
        on_host(room, host, writer.PROGRAM, '1')
        on_host(room, host, TOOL, 'forward', '-q', room.at(host), address)
    for host, wanted in (('batch.1', {'batch.1', 'BATCH.1'}), ('batch_1', {'batch_1'})):
        for words in ((address, f'--host={host}'), (f'{address}?host={host}',)):
            shown = room.tool('show', '--json', *words)
            assert {json.loads(line)['host'] for line in shown.stdout.splitlines()} == wanted and shown.stderr.count('left out') == 0, (words, shown)
    before = messages(server)
    assert archive(room, f'{address}?host=batch.1', '--prune') > 0
    left = messages(server)
    assert left and all(before[subject] == count for subject, count in left.items()), (before, left)
    same(room.shown(address), expect(1, 10))
    same(archived(room), expect(1, 10) + expect(1, 10))


def hosts_and_jobs_are_selected_by_the_servers(room):
    """The servers' logs have the subjects that they were asked for."""
    (port,) = free_ports(1)
    server = Server(room, 'traced', port, ('-V',))
    server.until('Server is ready')
    address = f'nats://127.0.0.1:{port}/TRACES'
    for host in ('batch1', 'batch2'):
        room.environment['MFTRACE_LOGS'] = room.at(host)
        os.mkdir(room.at(host))
        on_host(room, host, writer.PROGRAM, '1')
        on_host(room, host, TOOL, 'forward', '-q', room.at(host), address)
    job = json.loads(room.tool('show', '--json', '--limit=1', address).stdout)['job']

    def counted(*words):
        return int(room.tool('show', '--count', *words).stdout)

    def asked():
        return re.findall(r'filter_subject\W+(ctrace[^"\\]*)', room.log(server))[-1]

    assert counted(address) == 20 and asked() == 'ctrace.*.*.*.*.*', asked()
    assert counted(address, '--host=batch1') == 10 and asked() == 'ctrace.*.batch1.*.*.*', asked()
    assert counted(address, f'--job={job}') == 20 and asked() == f'ctrace.*.*.{job}.*.*', asked()
    assert counted(address + '?host=batch2', f'--job={job}') == 10 and asked() == f'ctrace.*.batch2.{job}.*.*', asked()
    assert counted(address, '--host=batch*') == 20 and asked() == 'ctrace.*.*.*.*.*', asked()
    assert counted(address, '--host=*2') == 10
    copies = glob.glob(room.at('batch?', '*'))
    assert counted(*copies, '--host=batch2') == 10 and counted(*copies, f'-J{job}', '--host=batch1') == 10
    assert json.loads(room.tool('stats', '--json', address, f'--job={job}', '--host=batch1').stdout)['count'] == 10 and \
        asked() == f'ctrace.*.batch1.{job}.*.*', asked()
    shown = room.tool('tail', '--from-start', '--limit=20', address).stdout.splitlines()
    of_files = room.tool('show', *copies).stdout.splitlines()
    for host in ('batch1', 'batch2'):
        assert sum(f' {host} {job}[' in line for line in shown) == 10 == sum(f' {host} {job}[' in line for line in of_files), (shown, of_files)
    threads = room.tool('stats', '--by=thread', address).stdout
    assert len(re.findall(r'^batch[12] \S+ \d+ \d+ +10 ', threads, re.MULTILINE)) == 2, threads
    assert 'batch' not in room.tool('stats', '--by=thread', address, '--host=batch1').stdout
    shown = room.tool('tail', '--from-start', '--host=batch1', '--limit=10', address).stdout
    assert shown.count('\n') == 10 and asked() == 'ctrace.*.batch1.*.*.*', asked()
    for name in ('--job=NOBODY', '--host=elsewhere', '--job=NOBO*'):
        nothing = room.tool('show', address, name, check=False)
        assert nothing.returncode == 1 and nothing.stdout == '', nothing
        assert nothing.stderr.endswith('ctrace show: no events match\n' if '*' in name else
                                       'ctrace show: stream TRACES: it has no trace yet, or none that the address and the options select\n'), nothing
    some = room.tool('show', '--count', address, room.at('batch1'), '--job=NOBODY', check=False)
    assert some.returncode == 1, some
    some = room.tool('show', '--count', address + '?job=NOBODY', room.at('batch1'), check=False)
    assert some.returncode == 0 and some.stdout == '10\n', some
    # Filters compare in any case of letters, and so do the servers.
    assert job == job.upper() and counted(address, f'--job={job.lower()}') == 20 and asked() == f'ctrace.*.*.{job}.*.*', asked()
    assert counted(address + f'?job={job.lower()}&host=BATCH1') == 10 and asked() == f'ctrace.*.batch1.{job}.*.*', asked()
    assert counted(address + '?host=*', '--host=Batch2') == 10 and counted(*copies, '--host=Batch2') == 10
    # A catalogue may say that an item is the event's job.
    with open(room.at('jobs.yaml'), 'w', encoding='ascii') as file:
        file.write('component: ELSE\nevents: {1: {mnemonic: X, arguments: [{name: job, jobname: true, print: text}]}}\n')
    assert counted(address, f'--job={job}', '--host=batch1', '--catalog=' + room.at('jobs.yaml')) == 10 and asked() == 'ctrace.*.batch1.*.*.*', asked()
    for keys, text in (('job=AC*', 'job in the address has "AC*"; expected one name; --job takes patterns'),
                       ('host=batch1,batch2', 'host in the address has "batch1,batch2"; expected one name; --host takes patterns'),
                       ('job=', 'job in the address has ""; expected one name'), ('host=batch1&host=batch2', 'the address has host= twice')):
        refused = room.tool('show', f'{address}?{keys}', check=False)
        assert refused.returncode == 2 and text in refused.stderr, refused


def hosts_of_any_letters_are_found(room):
    """Subjects have the host in small letters and the job in capitals."""
    server, address = room.server()
    on_host(room, 'Batch1', writer.PROGRAM, '1')
    on_host(room, 'Batch1', TOOL, 'forward', '-q', room.at('logs'), address)
    assert all('.batch1.' in subject for subject in messages(server)), messages(server)
    for name in ('Batch1', 'batch1', 'BATCH1'):
        assert int(room.tool('show', '--count', address, f'--host={name}').stdout) == 10
    assert json.loads(room.tool('show', '--json', '--limit=1', address).stdout)['host'] == 'Batch1'


def the_subjects_are_the_streams(room):
    """An address that names none takes them from the stream's configuration, of either form."""
    server, address = room.server()
    room.traced(100)
    for name, subjects in (('FIRST', ['acme.>']), ('SECOND', ['acme2.a.*.*.*.*.*']), ('THIRD', ['other.>', 'ctrace.x.>', 'ctrace.>'])):
        config = {'name': name, 'subjects': subjects, 'storage': 'file', 'retention': 'limits', 'num_replicas': 1}
        if name == 'THIRD':
            config['subjects'] = ['other.>', 'ctrace.*.*.*.*.*']
        answer = request(server.port, f'$JS.API.STREAM.CREATE.{name}', json.dumps(config))
        assert '"error"' not in answer, answer
        there = address.replace('TRACES', name)
        room.forward(there)
        same(room.shown(there), expect(1, 100))
        beginning = {'FIRST': 'acme.default.', 'SECOND': 'acme2.a.default.', 'THIRD': 'ctrace.default.'}[name]
        assert all(subject.startswith(beginning) for subject in messages(server, name)), messages(server, name)
        tail = Tail(room, there, '--from-start')
        tail.until(expect(1, 100))
        tail.end()
    same(room.shown(address.replace('TRACES', 'FIRST?subject=acme')), expect(1, 100))
    for verb in ('show', 'tail'):
        refused = room.tool(verb, address.replace('TRACES', 'FIRST?subject=ctrace'), check=False)
        assert refused.returncode == 2 and refused.stderr == f'ctrace {verb}: stream FIRST has the subjects acme.>, and not those of subject=ctrace; ' \
            'leave it out of the address\n', refused
    foreign = {'name': 'FOREIGN', 'subjects': ['x.y'], 'storage': 'file', 'retention': 'limits', 'num_replicas': 1}
    request(server.port, '$JS.API.STREAM.CREATE.FOREIGN', json.dumps(foreign))
    refused = room.tool('show', address.replace('TRACES', 'FOREIGN'), check=False)
    assert refused.returncode == 2 and 'stream FOREIGN has the subjects x.y, and is none of ctrace' in refused.stderr, refused


def ipcs_reads_a_stream(room):
    """The same report as of the files."""
    _, address = room.server()
    room.traced(30)
    room.forward(address)
    traces = room.traces()
    component = json.loads(room.tool('show', '--json', '--limit=1', *traces).stdout)['component']
    for command in ('CTRACE QUERY', f'CTRACE COMP({component}) FULL', f'CTRACE COMP({component}) SHORT LIMIT(5)', f'CTRACE COMP({component}) TALLY',
                    'CTRACE COMP(NOWHERE) FULL'):
        of_files = room.tool('ipcs', command, *traces, check=False)
        for words in ((command, address), (address, command), (f"{command} DSNAME('{address}')",)):
            of_stream = room.tool('ipcs', *words, check=False)
            assert (of_stream.returncode, of_stream.stdout, of_stream.stderr) == (of_files.returncode, of_files.stdout, of_files.stderr), (words, of_stream)
    assert room.tool('ipcs', 'CTRACE QUERY', f'CTRACE COMP({component}) FULL', address).stdout == \
        room.tool('ipcs', 'CTRACE QUERY', f'CTRACE COMP({component}) FULL', *traces).stdout
    for key, status, text in (('?job=NOBODY', 1, 'ITT10019I TRACES is not a trace: it has no trace yet, or none that the address and the options select'),
                              ('?job=A*', 2, '--job takes patterns')):
        done = room.tool('ipcs', 'CTRACE QUERY', address.replace('//', '//u:secret@') + key, check=False)
        assert done.returncode == status and text in done.stdout + done.stderr and 'secret' not in done.stdout + done.stderr, done
    done = room.tool('ipcs', 'STATUS', address.replace('//', '//u:secret@'), check=False)
    assert done.returncode == 1 and done.stdout == 'ITT10019I TRACES is not a trace: a stream has no dumps.\n', done
    assert glob.glob(room.at('ctrace-stream*')) == []


def messages_name_the_stream(room):
    """And not the directory of the copy."""
    _, address = room.server()
    room.traced(20000)
    (trace,) = room.traces()
    name = max(glob.glob(os.path.join(trace, 'stream.[0-9]*')), key=os.path.getsize)
    component = json.loads(room.tool('show', '--json', '--limit=1', trace).stdout)['component']
    with open(name, 'r+b') as file:
        file.seek(os.path.getsize(name) // 2)
        file.write(b'damage' * 20)
    room.forward(address)
    (file_said,) = room.tool('show', trace, check=False).stderr.splitlines()[:1]
    for verb in (('show',), ('stats',), ('ipcs', f'CTRACE COMP({component}) FULL')):
        done = room.tool(*verb, address, check=False)
        assert f'ctrace {verb[0]}: TRACES/' in done.stderr and 'ctrace-stream' not in done.stderr + done.stdout, done.stderr
    host = os.uname().nodename
    assert f'TRACES/{host}.{os.path.basename(trace)}' in done.stderr and file_said.endswith(done.stderr.splitlines()[0].split(': ')[-1]), (done.stderr, file_said)
    tail = Tail(room, address, '--from-start')
    tail.until(writer.entries(room.show(trace, check=False).stdout))
    said = tail.end_with_any()
    assert 'ctrace tail: TRACES/' in said and 'ctrace-stream' not in said, said


# archives that go on, and pruning


def messages(server, name='TRACES'):
    """{subject: count} of the stream."""
    answer = request(server.port, f'$JS.API.STREAM.INFO.{name}', '{"subjects_filter":">"}')
    return json.loads(re.search(r'^\{"type".*$', answer, re.MULTILINE)[0])['state'].get('subjects') or {}


def archive(room, address, *options):
    done = room.tool('archive', *options, address, room.at('archive'))
    found = re.fullmatch(r'ctrace archive: (\d+) bytes of (\d+) traces?, in (\d+) messages?\n', done.stderr)
    assert found, done.stderr
    return int(found[3])


def archived(room):
    return room.shown(room.at('archive'))


def an_archive_goes_on(room):
    server, address = room.server()
    program = room.program()
    program.ask('run 1000')
    program.settle()
    room.forward(address)
    assert archive(room, address) > 0
    assert archive(room, address) == 0, 'nothing is new'
    same(archived(room), expect(1, 1000))
    program.ask('run 1000')
    program.end()
    room.forward(address)
    assert archive(room, address) > 0 and archive(room, address) == 0
    same(archived(room), expect(1, 2000))
    for change, text in ((lambda: address + '?host=other', 'of other hosts or jobs'), (lambda: address + '?job=OTHER', 'of other hosts or jobs')):
        refused = room.tool('archive', change(), room.at('archive'), check=False)
        assert refused.returncode == 2 and text in refused.stderr, refused
    follower = subprocess.Popen([TOOL, 'archive', '-f', address, room.at('archive')], env=room.environment)
    room.processes.append(follower)
    consumers(server, 1)
    refused = room.tool('archive', address, room.at('archive'), check=False)
    assert refused.returncode == 2 and 'another ctrace archive writes there' in refused.stderr, refused
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0
    (stream, *_) = glob.glob(room.at('archive', '*', 'stream.0'))
    os.truncate(stream, 100)
    refused = room.tool('archive', address, room.at('archive'), check=False)
    assert refused.returncode == 2 and 'shorter than its file .archived says' in refused.stderr, refused
    with open(room.at('archive', '.archived'), 'w', encoding='ascii') as file:
        file.write('ctrace archive 1\nnonsense\n')
    refused = room.tool('archive', address, room.at('archive'), check=False)
    assert refused.returncode == 2 and 'its file .archived is damaged' in refused.stderr, refused


def pruning_removes_what_is_archived(room):
    server, address = room.server()
    program = room.program()
    program.ask('run 20000')
    program.settle()
    room.forward(address)
    # Not of ctrace, and of a trace that ctrace knows nothing of.
    foreign = ['ctrace.a.b.c.d.e', 'ctrace.default.h.j.0123456789abcdef0123456789abcdef.stream-0', 'ctrace.op.h.j.t.f']
    for subject in foreign:
        request(server.port, subject, 'x')
    before = messages(server)
    assert archive(room, address) > 0
    assert messages(server) == before, 'without --prune nothing is removed'
    archive(room, address, '--prune')
    left = messages(server)
    assert [subject for subject in left if subject.endswith('.stream-0')] == foreign[1:2], left
    (metadata,) = [subject for subject in left if subject.endswith('.metadata')]
    assert left[metadata] == 1 and set(foreign) <= set(left), 'the last metadata of an open trace stay'
    same(archived(room), expect(1, 20000))
    program.ask('run 100')
    program.settle()
    room.forward(address)
    same(room.shown(address), expect(1, 20100, 20000))
    program.end()
    room.forward(address)
    archive(room, address, '--prune')
    assert set(messages(server)) == set(foreign), 'a closed trace leaves nothing'
    same(archived(room), expect(1, 20100))
    assert room.streams_differ(room.at('archive')) == ([], [])
    assert room.forward(address)[0] == 0, 'the forwarder does not send again'
    assert archive(room, address, '--prune') == 0


def pruning_keeps_what_is_young(room):
    server, address = room.server()
    room.traced(1000)
    room.forward(address)
    before = messages(server)
    archive(room, address, '--prune', '--keep=1h')
    assert messages(server) == before
    end = time.monotonic() + PATIENCE
    while messages(server) != {}:
        assert time.monotonic() < end, messages(server)
        archive(room, address, '--prune', '--keep=1s')
    same(archived(room), expect(1, 1000))
    while True:  # until the younger one is younger than three seconds when it has been archived
        room.traced(10)
        room.forward(address)
        older, sent = set(messages(server)), time.monotonic()
        while time.monotonic() < sent + 3:
            pass
        begin = time.monotonic()
        room.traced(10)
        room.forward(address)
        younger = {subject: count for subject, count in messages(server).items() if subject not in older}
        archive(room, address, '--prune', '--keep=3s')
        if time.monotonic() < begin + 3:
            break
    assert younger and messages(server) == younger
    for words, text in ((('--keep=7d',), '--keep goes with --prune'), (('--prune', '--keep=week'), 'is no time to keep'),
                        (('--prune', '--keep=99999999d'), 'is no time to keep')):
        refused = room.tool('archive', *words, address, room.at('archive'), check=False)
        assert refused.returncode == 2 and text in refused.stderr, refused


def pulled(server, consumer):
    """The subjects of all messages that come to a consumer."""
    with socket.create_connection(('127.0.0.1', server.port), PATIENCE) as link:
        request_ = b'{"batch":1000,"no_wait":true}'
        link.sendall(b'CONNECT {"headers":true,"verbose":false}\r\nSUB answers 1\r\n' +
                     f'PUB $JS.API.CONSUMER.MSG.NEXT.TRACES.{consumer} answers {len(request_)}\r\n'.encode() + request_ + b'\r\n')
        answer = b''
        while not re.search(rb'NATS/1.0 40[48]', answer):
            answer += link.recv(65536)
    return [subject.decode() for subject in re.findall(rb'^HMSG (ctrace\S+) ', answer, re.MULTILINE)]


def pruning_moves_no_other_reader(room):
    """A reader is still at the first message while those of one host are removed: the others come."""
    server, address = room.server()
    for host in ('batch1', 'batch2', 'batch1'):
        room.environment['MFTRACE_LOGS'] = room.at(host)
        os.makedirs(room.at(host), exist_ok=True)
        on_host(room, host, writer.PROGRAM, '1')
        on_host(room, host, TOOL, 'forward', '-q', room.at(host), address)
    made = request(server.port, '$JS.API.CONSUMER.CREATE.TRACES', json.dumps(
        {'stream_name': 'TRACES', 'config': {'ack_policy': 'none', 'deliver_policy': 'all', 'max_deliver': 1}}))
    consumer = re.search(r'"name":"(\w+)"', made)[1]
    assert archive(room, address + '?host=batch1', '--prune') > 0
    left = sorted(subject for subject, count in messages(server).items() for _ in range(count))
    assert left and all('.batch2.' in subject for subject in left), left
    assert sorted(pulled(server, consumer)) == left


def a_killed_archive_loses_nothing(room):
    """Killed at any moment, while a forwarder sends and the stream is pruned."""
    server, address = room.server()
    follower = room.follow(address)
    program = room.program(2)
    program.ask('run 100')
    room.until_there(address, expect(2, 100))
    count = 100
    for kill in range(25):
        program.say('run 2000')
        archiver = subprocess.Popen([TOOL, 'archive', '-f', '--prune', address, room.at('archive')], env=room.environment)
        room.processes.append(archiver)
        time.sleep(kill * 0.013)
        archiver.kill()
        archiver.wait()
        program.answer()
        count += 2000
    program.end()
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0
    room.forward(address)
    archive(room, address, '--prune')
    same(archived(room), expect(2, count))
    assert room.streams_differ(room.at('archive')) == ([], [])
    assert messages(server) == {}


def pruning_knows_compressed_generations(room):
    with open(room.at('app.cfg'), 'a', encoding='ascii') as file:
        file.write('mftrace.emitter.binfile#compress = zstd\n')
    server, address = room.server()
    program = room.program()
    program.ask('run 1000')
    program.settle()
    room.forward(address)
    archive(room, address, '--prune')
    program.ask('run 1000')
    program.end()
    room.forward(address)
    archive(room, address, '--prune')
    same(archived(room), expect(1, 2000))
    assert messages(server) == {}


def an_archive_of_a_stream_made_anew_goes_on(room):
    server, address = room.server()
    program = room.program()
    program.ask('run 1000')
    program.settle()
    room.forward(address)
    archive(room, address, '--prune')
    server.kill()
    shutil.rmtree(room.at(server.name))
    server.start()
    program.ask('run 1000')
    program.end()
    follower = room.follow(address)
    room.until_there(address, expect(1, 2000))
    follower.send_signal(signal.SIGTERM)
    assert follower.wait(PATIENCE) == 0
    room.forward(address)
    archive(room, address, '--prune')
    same(archived(room), expect(1, 2000))
    assert room.streams_differ(room.at('archive')) == ([], []) and messages(server) == {}


# messages that come late


def stored(server, name='TRACES'):
    """The messages of a stream: subject, headers, data."""
    answer = request(server.port, f'$JS.API.STREAM.INFO.{name}')
    found = []
    for sequence in range(1, json.loads(re.search(r'^\{"type".*$', answer, re.MULTILINE)[0])['state']['last_seq'] + 1):
        answer = request(server.port, f'$JS.API.STREAM.MSG.GET.{name}', json.dumps({'seq': sequence}))
        message = json.loads(re.search(r'^\{"type".*$', answer, re.MULTILINE)[0])['message']
        found.append((message['subject'], base64.b64decode(message['hdrs']), base64.b64decode(message.get('data', ''))))
    return found


def store(server, chosen, subject):
    """Publishes messages as they are, to other subjects."""
    with socket.create_connection(('127.0.0.1', server.port), PATIENCE) as link:
        link.sendall(b'CONNECT {"headers":true,"verbose":false}\r\nSUB answers 1\r\n')
        for before, head, data in chosen:
            # The server would drop a message of the same number, and looks for the stream that the headers name.
            head = re.sub(rb'Nats-[^\r]*\r\n', b'', head)
            link.sendall(f'HPUB {subject}{before[before.index("."):]} answers {len(head)} {len(head) + len(data)}\r\n'.encode() + head + data + b'\r\n')
        answer = b''
        while answer.count(b'MSG answers') < len(chosen) or not answer.endswith(b'}\r\n'):
            answer += link.recv(65536)
    assert b'"error"' not in answer, answer


def is_stream(message):
    return b'Ctrace-File: stream' in message[1]


def late_messages_are_put_where_they_belong(room):
    """Each part of the trace comes behind its successors, or never; messages have parts of packets, and whole ones."""
    for payload in (6200, 40000):
        (port,) = free_ports(1)
        with open(room.at('server.conf'), 'w', encoding='ascii') as file:
            file.write(f'max_payload: {payload}\n')
        server = Server(room, f'payload{payload}', port, ('-c', room.at('server.conf')))
        server.until('Server is ready')
        address = f'nats://127.0.0.1:{port}/'
        room.traced(20000)
        room.forward(address + 'TRACES')
        messages_sent = stored(server)
        streams_sent = [message for message in messages_sent if is_stream(message)]
        assert len(streams_sent) > 8, len(streams_sent)
        whole = room.shown(address + 'TRACES')
        for number, (name, late, is_again) in enumerate((
                ('a middle one', streams_sent[3:4], True), ('several', streams_sent[3:7], True), ('the first', streams_sent[:1], True),
                ('each second', streams_sent[::2], True), ('each other', streams_sent[1::2], True),
                ('all, in reverse', streams_sent[::-1], True), ('one never', streams_sent[len(streams_sent) // 2:][:1], False))):
            subject = f'late{number}'
            make_stream(server, subject, subject)
            there = f'{address}{subject}?subject={subject}'
            tail = Tail(room, there, '--from-start')
            store(server, [message for message in messages_sent if message not in late], subject)
            some = room.show(there, check=False)
            damage = re.findall('.*(?:no packet|ends inside|[1-9][0-9]* bytes could not be read).*', some.stderr)
            lacks_end = 'the end is missing' in some.stderr  # the last one of a file came late, and the mark of the trace's end is there
            assert (not damage or lacks_end) and set(writer.entries(some.stdout).values()) <= {1}, (payload, name, damage)
            assert not writer.entries(some.stdout) - whole, (payload, name)
            before = room.at(f'archive{payload}{subject}')
            room.tool('archive', there, before, check=False)  # 1 where the end of a file is late
            same(writer.entries(room.show(before, check=False).stdout), writer.entries(some.stdout))
            if is_again:
                store(server, late, subject)
                same(room.shown(there), whole)
                tail.until(whole)
                tail.end()
                for path in (before, before + '.new'):
                    room.tool('archive', there, path)
                    assert room.streams_differ(path) == ([], []), (payload, name, path, room.streams_differ(path))
            else:
                assert 0 < sum(writer.entries(some.stdout).values()) < 20000 and 'missing' in some.stderr, (payload, some.stderr, room.tool('stats', there).stdout[-500:])
                tail.end()
        shutil.rmtree(room.at('logs'))
        os.mkdir(room.at('logs'))


# what is said


def texts_say_what_to_do(room):
    server, address = room.server()
    os.makedirs(room.at('logs'), exist_ok=True)
    missing = room.tool('stats', address, check=False)
    assert missing.returncode == 1 or missing.returncode == 2
    assert f'there is no stream TRACES at nats://127.0.0.1:{server.port}; ctrace forward makes one' in missing.stderr, missing
    missing = room.tool('archive', address, room.at('new'), check=False)
    assert missing.returncode == 1 and not os.path.exists(room.at('new')), missing
    os.mkdir(room.at('mine'))
    assert room.tool('archive', address, room.at('mine'), check=False).returncode == 1 and os.listdir(room.at('mine')) == []
    make_stream(server, 'TRACES', 'ctrace')
    for verb in (('show',), ('stats',), ('report', '-o', room.at('page.html'))):
        empty = room.tool(*verb, address, check=False)
        assert empty.stderr == f'ctrace {verb[0]}: stream TRACES: it has no trace yet, or none that the address and the options select\n' and empty.returncode == 1, empty
    room.traced(10)
    for wrong, text in (('?host=x', 'host= and job= in the address are for readers'), ('?job=x', 'host= and job= in the address are for readers'),
                        ('?maxage=106752d', 'at most 106751d'), ('?maxage=9223372036854775807s', 'at most 106751d')):
        refused = room.tool('forward', room.at('logs'), address + wrong, check=False)
        assert refused.returncode == 2 and text in refused.stderr, refused
    other = room.tool('forward', room.at('logs'), address.replace('TRACES', 'OTHER'), check=False)
    assert other.returncode == 2 and 'stream OTHER cannot be made: TRACES has the subjects ctrace.*.*.*.*.*; name that stream, or other subjects, such ' \
        'as ?subject=ctrace2' in other.stderr, other
    room.forward(address.replace('TRACES', 'OTHER?subject=ctrace2&maxage=106751d'))
    done = room.tool('forward', room.at('logs'), address)
    assert re.fullmatch(r'ctrace forward: \d+ bytes of 1 trace, in \d+ messages\n', done.stderr), done.stderr
    server.kill()
    gone = room.tool('stats', address, check=False)
    assert gone.returncode == 2 and gone.stderr == f'ctrace stats: cannot connect to nats://127.0.0.1:{server.port}: no server answers there\n', gone


def small_messages_have_all_of_the_metadata(room):
    (port,) = free_ports(1)
    with open(room.at('server.conf'), 'w', encoding='ascii') as file:
        file.write('max_payload: 6200\n')
    server = Server(room, 'one', port, ('-c', room.at('server.conf')))
    server.until('Server is ready')
    address = f'nats://127.0.0.1:{port}/TRACES'
    program = room.program()
    program.ask('run 1000')
    program.settle()
    room.forward(address)
    (trace,) = room.traces()
    assert os.path.getsize(os.path.join(trace, 'metadata')) > 6200
    same(room.shown(address), expect(1, 1000))
    archive(room, address, '--prune')
    (metadata,) = [(name, count) for name, count in messages(server).items() if name.endswith('metadata')]
    assert metadata[1] > 1, 'the last metadata have several messages, and all stay'
    program.ask('run 1000')
    program.settle()
    room.forward(address)
    same(room.shown(address), expect(1, 2000, 1000))
    tail = Tail(room, address)
    consumers(server, 1)
    program.ask('run 1000')
    program.settle()
    room.forward(address)
    tail.until(expect(1, 3000, 2000))
    tail.end()
    program.end()
    room.forward(address)
    archive(room, address, '--prune')
    same(archived(room), expect(1, 3000))
    assert messages(server) == {} and room.streams_differ(room.at('archive')) == ([], [])


def a_part_of_a_packet_is_sent(room):
    """A machine went down, and nobody completes the trace."""
    _, address = room.server()
    room.traced(10000)
    (trace,) = room.traces()
    names = glob.glob(os.path.join(trace, 'stream.[0-9]*'))
    for name in names:
        os.truncate(name, os.path.getsize(name) - 100)
    room.forward(address)
    room.tool('archive', address, room.at('archive'))
    assert room.streams_differ(room.at('archive'))[0] in ([], ['metadata']), 'only the closing mark may go'
    (copy,) = glob.glob(room.at('archive', '*'))
    for name in names:
        assert filecmp.cmp(name, os.path.join(copy, os.path.basename(name)), shallow=False), name
    assert room.forward(address)[0] == 0, 'it is sent once'
    tail = Tail(room, address, '--from-start')
    tail.until(writer.entries(room.show(trace, check=False).stdout))
    tail.process.send_signal(signal.SIGINT)
    tail.process.wait(PATIENCE)


def signals_end_a_copy(room):
    """While a verb waits for messages, its server stands."""
    server, address = room.server()
    room.traced(100000)
    room.forward(address)
    for verb in (('show',), ('stats',), ('report', '-o', room.at('page.html')), ('export', '-f', 'json', '-o', room.at('x.json'))):
        for number in (signal.SIGINT, signal.SIGTERM):
            end = time.monotonic() + PATIENCE
            status = 0
            while status == 0:  # one that has all messages before its server stands ends well
                assert time.monotonic() < end, verb
                for name in ('page.html', 'x.json'):
                    if os.path.exists(room.at(name)):
                        os.unlink(room.at(name))
                reader = subprocess.Popen([TOOL, *verb, address], env=room.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                room.processes.append(reader)
                while glob.glob(room.at('ctrace-stream*', '1')) == [] and reader.poll() is None:
                    assert time.monotonic() < end, verb
                server.process.send_signal(signal.SIGSTOP)
                reader.send_signal(number)
                status = reader.wait(PATIENCE)
                server.process.send_signal(signal.SIGCONT)
            assert status == -number, (verb, number, status)
            while glob.glob(room.at('ctrace-stream*')) != []:
                assert time.monotonic() < end, verb
            assert not os.path.exists(room.at('page.html')) and not os.path.exists(room.at('x.json'))


writer.TESTS[:] = [value for name, value in list(globals().items()) if callable(value) and
                   getattr(value, '__code__', None) is not None and value.__code__.co_varnames[:1] == ('room',) and
                   name not in ('on_host', 'archive', 'archived')]
writer.Room = streams.Streams

if __name__ == '__main__':
    sys.exit(writer.main())
