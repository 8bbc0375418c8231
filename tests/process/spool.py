#!/usr/bin/env python3
"""The destination NATS: programs fill a spool, `ctrace forward --spool` sends and empties it, with real servers.

Each entry that a program made is in a stream once, or waits in the spool, or is counted as lost.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import fcntl
import glob
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

import streams
import writer
from streams import Server, free_ports
from writer import PATIENCE, TOOL, Found, expect, same, without_gaps

URL = 'mftrace.emitter.nats#url = '


class Spool(streams.Streams):
    def __init__(self):
        super().__init__()
        self.environment['CTRACE_SPOOL'] = self.at('spool')
        (self.port,) = free_ports(1)
        self.address = f'nats://127.0.0.1:{self.port}/TRACES'
        self.configure()

    def configure(self, *lines, name='app.cfg', port=None):
        if not any('linger' in line for line in lines):
            lines += ('ctrace.spool.linger = 0s',)
        with open(self.at(name), 'w', encoding='ascii') as file:
            file.write(f'mftrace.dest = nats\n{URL}nats://127.0.0.1:{port or self.port}\n' + ''.join(line + '\n' for line in lines))

    def server(self, name='one', port=None):
        server = Server(self, name, port or self.port)
        server.until('Server is ready')
        return server

    def forwarder(self):
        follower = subprocess.Popen([TOOL, 'forward', '--spool'], env=self.environment, stderr=subprocess.PIPE, text=True)
        self.processes.append(follower)
        return follower

    def small_disk(self, size):
        """Puts the spool on a file system of this size."""
        os.mkdir(self.at('disk'))
        done = subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size},mode=0700', 'none', self.at('disk')], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise writer.Skipped(f'mounting a small disk takes root: {done.stderr.strip()}')
        self.environment['CTRACE_SPOOL'] = self.at('disk', 'spool')

    def fill_disk(self):
        with open(self.at('disk', 'other'), 'wb', buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        if os.path.ismount(self.at('disk')):
            # The forwarder's processes end soon after it.
            subprocess.run(['umount', '-l', self.at('disk')], check=True)
        super().end()

    def segments(self):
        return glob.glob(os.path.join(self.environment['CTRACE_SPOOL'], '*.ctb'))

    def spooled(self):
        segments = self.segments()
        return self.shown(*segments) if segments else Found()

    def until_there_at_least(self, count):
        """Returns when so many entries are in the stream."""
        end = time.monotonic() + 3 * PATIENCE
        while sum(writer.entries(self.tool('show', '--format=$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)', self.address,
                                           check=False).stdout).values()) < count:
            assert time.monotonic() < end

    def until_more(self):
        """Returns when a forwarder has noted more than before."""
        before, end = self.notes(), time.monotonic() + PATIENCE
        while self.notes() == before:
            assert time.monotonic() < end

    def notes(self):
        found = {}
        for path in glob.glob(self.at('spool', '*', '.forwarded.*')):
            try:
                found[path] = os.stat(path).st_mtime_ns
            except FileNotFoundError:
                pass
        return found

    def until_traces(self, most):
        """Returns when so many wait in data sets in the spool, with the notes of what they lost."""
        end = time.monotonic() + 3 * PATIENCE
        while len(glob.glob(self.at('spool', '*', '*', '*', 'metadata'))) > most:
            assert time.monotonic() < end

    def program(self, threads=1, plain=True, **environment):
        return super().program(threads, **environment) if plain else streams.Room.program(self, threads, **environment)

    def until_locked(self):
        """Returns when a forwarder serves the spool: it has locked a file there.  Only asks: a forwarder that finds a lock waits."""
        end = time.monotonic() + PATIENCE
        while True:
            assert time.monotonic() < end
            try:
                with open(self.at('spool', '.forwarder'), 'rb') as file:
                    wanted = struct.pack('hhqqi', fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
                    if struct.unpack('hhqqi', fcntl.fcntl(file, fcntl.F_OFD_GETLK, wanted))[0] != fcntl.F_UNLCK:
                        return
            except FileNotFoundError:
                pass

    def no_room(self):
        """How many events the spool had no room for."""
        return json.loads(self.tool('list', '--json').stdout)['counters']['lost_by_reason']['no-room']

    def until_empty(self):
        """Returns when the forwarder has removed all segments."""
        end = time.monotonic() + 3 * PATIENCE
        while self.segments():
            assert time.monotonic() < end, subprocess.run(["find", self.environment["CTRACE_SPOOL"], "-ls"], capture_output=True, text=True, check=False).stdout

    def stop(self, follower):
        follower.send_signal(signal.SIGTERM)
        assert follower.wait(PATIENCE) == 0
        return follower.stderr.read()


def without_a_server_traces_wait_and_then_all_are_sent(room):
    program = room.program(2)
    program.ask('run 20000')
    assert program.settle() == [40000, 40000, 0, 0]
    same(room.spooled(), expect(2, 20000))
    modes = {os.stat(path).st_mode & 0o777 for path in glob.glob(room.at('spool', '*', '.address'))}
    assert modes == {0o600} and os.stat(room.at('spool')).st_mode & 0o777 == 0o700
    follower = room.forwarder()
    assert 'cannot connect' in follower.stderr.readline()
    room.server()
    program.ask('run 1000')
    room.until_there(room.address, expect(2, 21000))
    assert len(room.segments()) == 1, 'the program still has it'
    program.end()
    room.until_empty()
    room.until_there(room.address, expect(2, 21000))
    room.stop(follower)


def a_killed_program_is_recovered_sent_and_removed(room):
    room.server()
    follower = room.forwarder()
    program = room.program(2)
    program.ask('run 5000')
    program.say('run 200000')
    room.until_there_at_least(10000)
    program.process.kill()
    program.process.wait()
    room.until_empty()
    assert os.listdir(room.at('run')) in ([], ['asid']), 'the forwarder recovers'
    found = room.shown(room.address)
    without_gaps(found)
    assert sum(found.values()) >= 10000
    room.stop(follower)


def a_killed_forwarder_goes_on_at_its_notes(room):
    room.configure('ctrace.spool.size = 100M')
    room.server()
    program = room.program(2)
    follower = room.forwarder()
    for _ in range(6):
        program.say('run 100000')
        room.until_more()
        follower.kill()
        # Its processes have the lock of the spool, and its standard error, until they have ended too.
        assert follower.stderr.read() == ''
        follower.wait()
        assert program.answer()
        follower = room.forwarder()
    program.end()
    room.until_empty()
    same(room.shown(room.address), expect(2, 600000))
    said = room.stop(follower)
    assert said == '', said


def a_server_that_is_killed_loses_nothing(room):
    server = room.server()
    program = room.program(2)
    follower = room.forwarder()
    for _ in range(3):
        program.ask('run 20000')
        server.kill()
        program.ask('run 20000')
        server.start()
    program.end()
    room.until_empty()
    same(room.shown(room.address), expect(2, 120000))
    room.stop(follower)


def beyond_the_limit_events_are_counted_and_tracing_goes_on_after(room):
    room.configure('ctrace.spool.size = 2M', 'ctrace.overflow = discard')
    program = room.program()
    for _ in range(200):
        program.ask('run 1000')  # fits into the ring
        emitted, delivered, pending, lost = program.settle()
    assert emitted == 200000 and pending == 0 and lost > 0 and delivered + lost == emitted, (emitted, delivered, pending, lost)
    used = sum(os.lstat(os.path.join(path, name)).st_blocks * 512 for path, _, names in os.walk(room.at('spool')) for name in names)
    assert used <= 2 << 20, used
    assert room.no_room() == lost
    said = room.tool('list').stdout
    assert f'no-room {lost}' in said and 'is full (ctrace.spool.size): ctrace forward --spool makes room' in said, said
    assert 'makes room: ' not in said, said
    assert 'no-room' in room.tool('stats').stdout
    room.server()
    follower = room.forwarder()
    first = program.stats()[3]
    # One segment stays with the program.
    end = time.monotonic() + PATIENCE
    while len(room.segments()) > 1:
        assert time.monotonic() < end
    for count in range(10000):
        program.ask('run 1')
        emitted, delivered, pending, lost = program.settle()
        if lost == first + count:
            break
    assert lost == first + count, 'it is written again when there is room'
    program.ask('run 1000')
    emitted, delivered, pending, now = program.settle()
    assert now == lost and pending == 0
    program.end()
    room.until_empty()
    found = room.shown(room.address)
    assert set(found.values()) == {1} and sum(found.values()) == delivered == emitted - lost, (sum(found.values()), emitted, lost)
    stats = room.tool('stats', room.address).stdout
    assert re.search(rf'\b{lost}\b', stats.replace(',', '')), stats
    room.stop(follower)


def a_full_disk_is_emptied_and_tracing_goes_on(room):
    room.small_disk('1536k')
    room.configure('ctrace.overflow = discard')
    program, lost = room.program(), 0
    while lost < 20000:
        program.ask('run 1000')
        lost = program.stats()[3]
    room.server()
    follower = room.forwarder()
    end, more = time.monotonic() + PATIENCE, 1
    while more != 0:  # it is written again when there is room
        assert time.monotonic() < end, room.tool('list').stdout
        before = program.stats()[3]
        program.ask('run 100')
        more = program.settle()[3] - before
    emitted, delivered, pending, lost = program.settle()
    assert pending == 0 and delivered + lost == emitted, (emitted, delivered, pending, lost)
    program.end()
    room.until_empty()
    found = room.shown(room.address)
    assert set(found.values()) == {1} and sum(found.values()) == delivered, (sum(found.values()), emitted, delivered, lost)
    said = room.stop(follower)
    assert 'No space left' not in said, said


def a_program_killed_on_a_full_disk_is_recovered(room):
    room.small_disk('1536k')
    room.configure('ctrace.overflow = discard')
    program = room.program()
    while program.stats()[3] < 20000:
        program.ask('run 1000')
    program.process.kill()
    program.process.wait()
    room.server()
    follower = room.forwarder()
    room.until_empty()
    end = time.monotonic() + PATIENCE
    while os.listdir(room.at('run')) not in ([], ['asid']):
        assert time.monotonic() < end, os.listdir(room.at('run'))
    assert set(room.shown(room.address).values()) == {1}
    room.stop(follower)


def a_complete_trace_is_removed_where_its_note_has_no_room(room):
    room.small_disk('8M')
    room.configure()
    first, second = room.program(), room.program()
    first.ask('run 5000')
    second.ask('run 6000')
    first.settle()
    second.settle()
    first.end()
    room.fill_disk()
    room.server()
    follower = room.forwarder()
    end = time.monotonic() + PATIENCE
    while len(room.segments()) > 1:
        assert time.monotonic() < end
    second.end()
    room.until_empty()
    same(room.shown(room.address), expect(1, 5000) + expect(1, 6000))
    said = room.stop(follower)
    assert said == '', said


def a_note_without_room_is_reported_and_sending_goes_on(room):
    room.small_disk('8M')
    room.configure()
    program = room.program()
    program.ask('run 5000')
    program.settle()
    room.fill_disk()
    room.server()
    follower = room.forwarder()
    said = follower.stderr.readline()
    assert '.forwarded.TRACES: No space left on device; ' in said and 'make room on the file system of the spool' in said, said
    room.until_there(room.address, expect(1, 5000))
    os.unlink(room.at('disk', 'other'))
    program.ask('run 1000')
    program.end()
    room.until_empty()
    same(room.shown(room.address), expect(1, 6000))
    said = room.stop(follower)
    assert said == '', said


def under_block_a_program_waits_for_room(room):
    """For ctrace.block.timeout, which is long enough for a forwarder that works."""
    room.configure('ctrace.spool.size = 2M', 'ctrace.overflow = block', 'ctrace.block.timeout = 30 s')
    room.server()
    program = room.program()
    program.say('run 600000')
    while not any('is full (ctrace.spool.size)' in process for process in [room.tool('list').stdout]):
        pass
    follower = room.forwarder()
    assert program.answer()
    assert program.settle() == [600000, 600000, 0, 0]
    program.end()
    room.until_empty()
    same(room.shown(room.address), expect(1, 600000))
    room.stop(follower)


def under_block_without_a_forwarder_events_are_counted(room):
    room.configure('ctrace.spool.size = 1M', 'ctrace.overflow = block', 'ctrace.block.timeout = 100 ms')
    program = room.program()
    program.ask('run 300000')
    emitted, delivered, pending, lost = program.settle()
    assert emitted == 300000 and pending == 0 and delivered + lost == emitted and lost > 0
    assert room.no_room() > 0
    program.end()
    found = room.spooled()
    assert set(found.values()) == {1} and sum(found.values()) == delivered


def two_programs_with_two_addresses_are_kept_apart(room):
    (other,) = free_ports(1)
    room.configure(name='other.cfg', port=other)
    with open(room.at('other.cfg'), 'a', encoding='ascii') as file:
        file.write('mftrace.emitter.nats#stream = OTHER\nmftrace.emitter.nats#subject = acme.traces\nmftrace.emitter.nats#cluster = second\n')
    first, second = room.program(1), room.program(2, MFTRACE_CONFIG=room.at('other.cfg'))
    first.ask('run 1000')
    second.ask('run 3000')
    first.end()
    second.end()
    follower = room.forwarder()
    room.server()
    room.until_there(room.address, expect(1, 1000))
    assert len(room.segments()) == 1, 'a server that is not there holds up its own traces only'
    room.server('two', other)
    room.until_empty()
    same(room.shown(room.address), expect(1, 1000))
    same(room.shown(f'nats://127.0.0.1:{other}/OTHER?subject=acme.traces&cluster=second'), expect(2, 3000))
    room.stop(follower)


def an_address_that_changes_begins_a_segment(room):
    (other,) = free_ports(1)
    room.server()
    room.server('two', other)
    program = room.program()
    program.ask('run 1000')
    room.tool('prop', 'emitter:nats', 'url', f'nats://127.0.0.1:{other}')
    program.ask('run 1000')
    program.end()
    follower = room.forwarder()
    room.until_empty()
    same(room.shown(room.address), expect(1, 1000))
    same(room.shown(f'nats://127.0.0.1:{other}/TRACES'), expect(1, 2000, 1000))
    room.stop(follower)


def three_servers_of_which_one_is_killed(room):
    servers, address = room.cluster()
    room.configure('mftrace.emitter.nats#replicas = 3')
    with open(room.at('app.cfg'), 'a', encoding='ascii') as file:
        file.write(URL + address[:address.rindex('/')].replace(',', ', nats://') + '\n')
    program = room.program(2)
    follower = room.forwarder()
    program.ask('run 20000')
    servers[0].kill()
    program.ask('run 20000')
    program.end()
    room.until_empty()
    room.until_there(address, expect(2, 40000))
    assert follower.poll() is None
    room.stop(follower)


def a_spool_without_a_forwarder_is_reported(room):
    text = 'and no forwarder serves it: start ctrace forward --spool, or the unit ctrace-forward'
    program = room.program()
    program.ask('run 10')
    program.settle()
    assert text in room.tool('list').stderr
    doctor = room.tool('doctor', str(program.process.pid), check=False)
    assert doctor.returncode == 1 and text in doctor.stdout, doctor
    assert text.split(':')[0] in ' '.join(room.tool('op', 'D TRACE').stdout.split()), room.tool('op', 'D TRACE').stdout
    follower = room.forwarder()
    room.until_locked()
    assert text not in room.tool('list').stderr
    doctor = room.tool('doctor', str(program.process.pid))
    assert text not in doctor.stdout + room.tool('op', 'D TRACE').stdout
    room.stop(follower)
    program.end()
    assert text in room.tool('list', check=False).stderr, 'also when no program runs'


def a_writers_data_set_may_be_a_stream(room):
    room.procedure('WR1', f'TRCOUT01 PATH={room.address}?cluster=writers&linger=0s PRIMARY=4M\nMODE=NOWRAP\n')
    with open(room.at('app.cfg'), 'w', encoding='ascii') as file:
        file.write('mftrace.dest = binfile\n')
    writers = room.writer()
    program = room.program(2, plain=False)
    assert program.ask('on WR1') == '00 '
    for _ in range(40):
        program.ask('run 1000')
        program.settle()
    follower = room.forwarder()
    assert 'cannot connect' in follower.stderr.readline()
    room.server()
    room.until_there(room.address, expect(2, 40000))
    for _ in range(8):  # more than 4 MB: what was sent makes room
        for _ in range(50):
            program.ask('run 1000')
            stats = program.settle()
        room.until_traces(2)  # the open one, and the note
    assert stats == [880000, 880000, 0, 0], stats
    program.end()
    writers.send_signal(signal.SIGTERM)
    assert writers.wait(PATIENCE) == 0
    room.until_traces(0)
    same(room.shown(room.address), expect(2, 440000))
    room.stop(follower)


def a_full_stream_of_a_writer_goes_on_and_its_losses_are_in_the_stream(room):
    room.procedure('WR1', f'TRCOUT01 PATH={room.address}?linger=0s PRIMARY=1M\nMODE=NOWRAP\n')
    with open(room.at('app.cfg'), 'w', encoding='ascii') as file:
        file.write('mftrace.dest = binfile\n')
    writers = room.writer()
    program = room.program(plain=False)
    assert program.ask('on WR1') == '00 '
    while program.settle()[3] == 0:
        program.ask('run 1000')
    follower = room.forwarder()
    room.server()
    before, end = program.settle()[1], time.monotonic() + PATIENCE
    while program.settle()[1] == before:
        assert time.monotonic() < end, 'it is written again when there is room'
        program.ask('run 1000')
    emitted, delivered, pending, lost = program.settle()
    assert pending == 0 and delivered + lost == emitted, (emitted, delivered, pending, lost)
    program.end()
    writers.send_signal(signal.SIGTERM)
    assert writers.wait(PATIENCE) == 0
    room.until_traces(0)
    found = room.shown(room.address)
    assert set(found.values()) == {1} and sum(found.values()) == delivered, (sum(found.values()), delivered, lost)
    reported = json.loads(room.tool('stats', '--json', room.address, check=False).stdout)['lost']
    assert reported == lost, (reported, lost)
    room.stop(follower)


def one_forwarder_serves_a_spool(room):
    first = room.forwarder()
    room.until_locked()
    second = room.forwarder()
    assert 'another forwarder serves this spool; waiting for it to end' in second.stderr.readline()
    room.server()
    program = room.program()
    program.ask('run 1000')
    first.kill()
    first.wait()
    program.end()
    room.until_empty()
    same(room.shown(room.address), expect(1, 1000))
    room.stop(second)


def wrong_values_are_explained_where_they_stand(room):
    for line, column, text in (
            ('url = http://host', 29, 'no address of servers: "http"'),
            ('url = nats://host/TRACES', 36, 'not a server: "host/TRACES"'),
            ('url = nats://u:secret@ho st', 45, 'not a server: "ho st"'),
            ('url = nats://host:99999', 36, 'not a server: "host:99999"'),
            ('url = nats://a,,b', 36, 'not a server: ""'),
            ('stream = a.b', 32, 'not a name: "a.b"'),
            ('subject = a..b', 33, 'not a name: "a..b"'),
            ('subject = a.>', 33, 'not a name: "a.>"'),
            ('replicas = 9', 34, 'not a number of servers: "9"; expected 1 to 5'),
            ('maxage = tomorrow', 32, 'not a time: "tomorrow"'),
            ('maxage = 7', 32, 'not a time: "7"; expected a number and s, m, h or d, such as 90s, 12h or 7d'),
            ('maxage = 7s', 32, 'too short: "7s"; expected at least 1m'),
            ('maxage = 106752d', 32, 'too long: "106752d"'),
            ('maxbytes = 1', 34, 'too small: "1"; expected at least 1M'),
            ('maxbytes = 10X', 34, 'not a size: "10X"'),
            ('credentials = user.creds', 37, 'not an absolute path: "user.creds"'),
            ('compress = gzip', 34, 'unknown compression "gzip"')):
        with open(room.at('wrong.cfg'), 'w', encoding='ascii') as file:
            file.write('mftrace.dest = nats\nmftrace.emitter.nats#' + line + '\n')
        done = room.tool('config', 'check', room.at('wrong.cfg'), check=False)
        assert done.returncode == 1 and f'wrong.cfg:2:' in done.stderr and text in done.stderr and 'secret' not in done.stderr, (line, done)
    with open(room.at('wrong.cfg'), 'w', encoding='ascii') as file:
        file.write('mftrace.dest = nats\nctrace.spool.size = 1P\n')
    done = room.tool('config', 'check', room.at('wrong.cfg'), check=False)
    assert ':2:21: not a size: "1P"; expected bytes, or a number with K, M, G or T' in done.stderr, done
    for text, place in (('mftrace.dest = nats\n', '1:16'), ('mftrace.level = info\nmftrace.dest.MF = binfile, NATS\n', '2:28'),
                        ('mftrace.emitter.nats#stream = S\nmftrace.dest = Nats\n', '2:16')):
        with open(room.at('wrong.cfg'), 'w', encoding='ascii') as file:
            file.write(text)
        done = room.tool('config', 'check', room.at('wrong.cfg'), check=False)
        assert done.returncode == 1 and done.stderr.endswith(
            f'wrong.cfg:{place}: NATS has no servers, and nothing is traced there: mftrace.emitter.nats#url is not set; '
            'expected the servers, such as nats://host1:4222,host2:4222\n'), done
        with open(room.at('wrong.cfg'), 'a', encoding='ascii') as file:
            file.write('mftrace.emitter.nats#url = nats://h\n')
        done = room.tool('config', 'check', room.at('wrong.cfg'))
        assert done.stderr == '', done
    with open(room.at('app.cfg'), 'w', encoding='ascii') as file:
        file.write('mftrace.dest = nats\n')
    program = room.program()
    program.ask('run 10')
    said = room.tool('list').stdout
    assert 'mftrace.emitter.NATS#URL: it is not set; expected the servers' in said, said
    room.tool('prop', 'emitter:nats', 'url', f'nats://127.0.0.1:{room.port}')
    assert program.settle() == [10, 10, 0, 0]


def hostile_spools_do_no_harm(room):
    """Another's directory, an open one, addresses that are none, names that lead out."""
    room.server()
    os.makedirs(room.at('spool', 'x.ctb'))
    os.symlink('/etc', room.at('spool', 'y.ctb'))
    for name, text in (('x.ctb', 'file:///etc/passwd\nboot\n'), ('z.ctb', 'x' * 10000), ('w.ctb', f'{room.address}?ca=/dev/zero\n\n')):
        os.makedirs(room.at('spool', name), exist_ok=True)
        with open(room.at('spool', name, '.address'), 'w', encoding='ascii') as file:
            file.write(text)
    program = room.program()
    program.ask('run 1000')
    program.end()
    follower = room.forwarder()
    room.until_there(room.address, expect(1, 1000))
    said = room.stop(follower)
    assert '"file:///etc/passwd" is no address of a stream' in said, said
    os.chmod(room.at('spool'), 0o777)
    program = room.program()
    program.ask('run 10')
    said = room.tool('list').stdout
    assert 'FAILING' in said and 'spool' in said, said


writer.TESTS[:] = [value for name, value in list(globals().items()) if callable(value) and
                   getattr(value, '__code__', None) is not None and value.__code__.co_varnames[:1] == ('room',)]
writer.Room = Spool

if __name__ == '__main__':
    sys.exit(writer.main())
