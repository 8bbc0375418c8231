#!/usr/bin/env python3
"""Servers of a stream that go back to an earlier state, and messages that would change what is not theirs.

NATS acknowledges a message before it is on the disk.  Here a copy of the server's store, some seconds old, takes the place of the newer one,
as after a power failure, a restored snapshot or a backup: the stream is the same one, ends earlier, and uses numbers again.  What the
program made is compared with what the archive, the stream and the spool have.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import base64
import glob
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

import spool
import writer
from streams import request
from writer import PATIENCE, TOOL, expect, same


class Back(spool.Spool):
    def __init__(self):
        super().__init__()
        self.configure('ctrace.spool.linger = 10m')
        self.one = self.server()

    def store_keep(self):
        """A copy of what the server has on its disk, as it is when the server is killed."""
        self.one.kill()
        shutil.rmtree(self.at('kept'), ignore_errors=True)
        shutil.copytree(self.at('one'), self.at('kept'))
        self.start_again()

    def store_put_back(self):
        self.one.kill()
        shutil.rmtree(self.at('one'))
        shutil.copytree(self.at('kept'), self.at('one'))
        self.start_again()

    def start_again(self):
        os.remove(self.at('one.log'))
        self.one.start()
        self.one.until('Server is ready')

    def archived(self):
        found = glob.glob(self.at('archive', '*', 'metadata'))
        return self.shown(*map(os.path.dirname, found)) if found else writer.Found()

    def until_archived(self, count):
        """Returns when the archive has so many entries on its disk."""
        found, end = writer.Found(), time.monotonic() + 3 * PATIENCE
        while sum(found.values()) < count:
            assert time.monotonic() < end, f'{sum(found.values())} of {count}'
            traces = [os.path.dirname(path) for path in glob.glob(self.at('archive', '*', 'metadata'))]
            if traces:
                done = self.tool('show', '--format=$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)', *traces, check=False)
                found = writer.entries(done.stdout)

    def archive(self, *options, status=0):
        done = self.tool('archive', *options, self.address, self.at('archive'), check=False)
        assert done.returncode == status, done
        return done.stderr

    def message(self, number):
        found = re.search(r'\{"type".*\}', request(self.port, '$JS.API.STREAM.MSG.GET.TRACES', json.dumps({'seq': number})))
        return json.loads(found[0])['message']

    def end_of_stream(self):
        found = re.search(r'\{"type".*\}', request(self.port, '$JS.API.STREAM.INFO.TRACES'))
        return json.loads(found[0])['state']['last_seq']


def traced_in_two_parts(room):
    """10,000 entries of a program that still runs are in the stream, of whose store there is a copy; then another 10,000."""
    program = room.program()
    follower = room.forwarder()
    program.ask('run 10000')
    room.until_there(room.address, expect(1, 10000))
    room.store_keep()
    program.ask('run 10000')
    room.until_there(room.address, expect(1, 20000))
    return program, follower


def what_was_acknowledged_and_lost_is_sent_again(room):
    program, follower = traced_in_two_parts(room)
    program.end()
    room.until_there(room.address, expect(1, 20000))
    assert room.segments(), 'it stays for a while'
    room.store_put_back()
    room.until_there(room.address, expect(1, 20000))
    said = room.stop(follower)
    assert re.search(r'ctrace forward: stream TRACES: the servers have lost messages \d+ to \d+, which they had acknowledged; '
                     'what is still here is sent again\n', said), said


def a_forwarder_that_starts_later_sees_it_by_its_note(room):
    program, follower = traced_in_two_parts(room)
    program.end()
    room.until_there(room.address, expect(1, 20000))
    room.until_noted()
    room.stop(follower)
    room.store_put_back()
    follower = room.forwarder()
    room.until_there(room.address, expect(1, 20000))
    assert 'the servers have lost messages' in room.stop(follower)


def an_archive_takes_what_has_the_old_numbers(room):
    """Later messages have numbers that the archive has seen: it neither leaves them out nor prunes them."""
    program, follower = traced_in_two_parts(room)
    room.archive()
    same(room.archived(), expect(1, 20000))
    room.stop(follower)
    noted = room.end_of_stream()
    room.store_put_back()
    shutil.rmtree(room.at('spool'))  # what was lost comes never again
    program.ask('run 10000')
    other = room.program()
    other.ask('run 3000')
    program.end()
    other.end()
    follower = room.forwarder()
    while room.end_of_stream() <= noted:
        more = room.program()
        more.ask('run 100')
        more.end()
    before = room.shown(room.address)
    said = room.archive('--prune')
    assert 'the servers have gone back: message' in said and 'are in the archive; it takes what the stream has now' in said, said
    missing = before - room.archived()
    assert not missing, f'{sum(missing.values())} of {sum(before.values())} entries that the stream had are not in the archive: {list(missing)[:3]}'
    assert not expect(1, 20000) - room.archived(), 'what the archive had'
    room.stop(follower)


def a_tail_goes_on(room):
    program, follower = traced_in_two_parts(room)
    tail = subprocess.Popen([TOOL, 'tail', '--format=$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)', room.address], env=room.environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    room.processes.append(tail)
    seen = 0

    def until(number):
        nonlocal seen
        for line in tail.stdout:
            found = re.search(r' 7 1 0 (\d+)$', line)
            seen = max(seen, int(found[1])) if found else seen
            if seen >= number:
                return
        raise AssertionError(tail.stderr.read())

    # It shows what comes from now on: until it does, more comes.
    asked = 20000
    while not select_line(tail):
        program.ask('run 100')
        asked += 100
    until(asked - 1)
    room.store_put_back()
    program.ask('run 5000')
    until(asked + 4999)
    tail.send_signal(signal.SIGTERM)
    room.stop(follower)
    program.end()


def select_line(process):
    return bool(select.select([process.stdout], [], [], 0.3)[0])


def forge(room, number, body=None, host=None, **headers):
    """Sends the message of that number again, with other headers, other bytes, or as another host."""
    message = room.message(number)
    lines = base64.b64decode(message['hdrs']).decode().split('\r\n')
    found = dict(line.split(': ', 1) for line in lines[1:] if ': ' in line)
    found.pop('Nats-Msg-Id', None)
    found.pop('Nats-Expected-Stream', None)
    found.update({name.replace('_', '-'): value for name, value in headers.items()})
    words = message['subject'].split('.')
    if host:
        words[2] = host
    data = base64.b64decode(message['data']) if body is None else body
    answer = request(room.port, '.'.join(words), data, found)
    assert '"seq"' in answer, answer


def stream_message(room):
    """The number of the first message with packets, and that of the metadata before it."""
    numbers = {}
    for number in range(1, room.end_of_stream() + 1):
        numbers.setdefault('stream' if '.stream-' in room.message(number)['subject'] else 'metadata', number)
    return numbers


def closed(room, count=1000):
    """A trace that is complete in the stream."""
    program = room.program()
    follower = room.forwarder()
    program.ask(f'run {count}')
    program.end()
    room.until_there(room.address, expect(1, count))
    room.until_noted()
    room.stop(follower)


def an_archive_does_not_change_a_trace_that_is_complete(room):
    """Who may publish as a host cannot rewrite its past, nor can anybody else."""
    closed(room)
    numbers = stream_message(room)
    room.archive()
    first = room.archived()
    data = b'\xff' * 4096
    for how, change in (('a restart', {'Ctrace_Restart': '9'}), ('other bytes', {}), ('a later part', {'Ctrace_Offset': '9999999'}),
                        ('another file', {'Ctrace_File': 'stream.77'})):
        forge(room, numbers['stream'], data, **change)
        said = room.archive(status=1)
        assert 'is not taken: it would change a trace that was complete' in said, (how, said)
        same(room.archived(), first)
    said = room.archive()
    assert 'is not taken' not in said, said


def a_trace_belongs_to_its_host(room):
    closed(room)
    numbers = stream_message(room)
    first = room.shown(room.address)
    for number in numbers.values():
        forge(room, number, host='evil')
        forge(room, number, host='evil', Ctrace_Restart='9')
    done = room.tool('show', '--format=$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)', room.address, check=False)
    assert 'its metadata are those of another host or trace than its subject names' in done.stderr, done
    same(writer.entries(done.stdout), first)
    said = room.archive(status=1)
    assert 'another host' in said, said
    same(room.archived(), first)
    assert not glob.glob(room.at('archive', 'evil*', 'metadata'))


def an_end_that_is_missing_is_reported(room):
    """The servers have the mark of a trace that is complete, and not its last packets."""
    closed(room, 40000)
    packets = [number for number in range(1, room.end_of_stream() + 1) if '.stream-' in room.message(number)['subject']]
    answer = request(room.port, '$JS.API.STREAM.MSG.DELETE.TRACES', json.dumps({'seq': packets[-1]}))
    assert '"success":true' in answer, answer
    said = room.archive(status=1)
    assert re.search(r'the end is missing: \d+ bytes of stream\.\d+; the servers have lost them', said), said
    done = room.tool('show', *map(os.path.dirname, glob.glob(room.at('archive', '*', 'metadata'))), check=False)
    assert done.returncode != 0 and re.search(r'missing|the file ends here', done.stderr), done.stderr[-500:]  # a whole stream, or its end


def an_archive_that_follows_and_prunes_loses_nothing(room):
    """The server's store is put back while the archive copies and prunes: each entry is in the archive, the stream or the spool."""
    program = room.program()
    follower = room.forwarder()
    program.ask('run 5000')
    room.until_there(room.address, expect(1, 5000))
    archive = subprocess.Popen([TOOL, 'archive', '--follow', '--prune', room.address, room.at('archive')], env=room.environment,
                               stderr=subprocess.PIPE, text=True)
    room.processes.append(archive)
    room.until_archived(5000)
    room.store_keep()
    made = 5000
    for _ in range(3):
        program.ask('run 20000')
        made += 20000
    room.until_archived(made)
    room.store_put_back()
    program.ask('run 20000')
    program.end()
    made += 20000
    room.until_archived(made)
    archive.send_signal(signal.SIGTERM)
    assert archive.wait(PATIENCE) == 0
    said = archive.stderr.read()
    assert 'the servers have' in said, said
    room.stop(follower)
    same(room.archived(), expect(1, made))


def a_damaged_store_is_reported(room):
    """A byte of the store is flipped and its index is gone.  nats-server 2.9 then drops what is behind, without a word, and acknowledges
    more that nobody can read: ctrace can only say so."""
    program = room.program()
    program.ask('run 100000')
    program.end()
    follower = room.forwarder()
    room.until_there(room.address, expect(1, 100000))
    room.until_noted()
    room.stop(follower)
    room.one.kill()
    (block,) = glob.glob(room.at('one', '**', 'msgs', '*.blk'), recursive=True)
    with open(block, 'r+b') as file:
        file.seek(os.path.getsize(block) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 0x10]))
    for index in glob.glob(room.at('one', '**', 'msgs', '*.idx'), recursive=True) + glob.glob(room.at('one', '**', 'index.db'), recursive=True):
        os.remove(index)
    room.start_again()
    follower = room.forwarder()
    line = follower.stderr.readline()
    assert re.search(r'the servers have lost messages \d+ to \d+, which they had acknowledged; what is still here is sent again', line), line
    room.stop(follower)
    (segment,) = room.segments()
    done = room.tool('forward', '--verify', segment, room.address, check=False)
    assert re.search('the stream lacks the last|the servers do not send messages that they count', done.stderr), done


def verify_sends_what_the_stream_lacks(room):
    """A directory that was sent, and that nothing says a server has lost."""
    room.environment['MFTRACE_CONFIG'] = room.at('bin.cfg')
    with open(room.at('bin.cfg'), 'w', encoding='ascii') as file:
        file.write('mftrace.dest = binfile\n')
    program = room.program(plain=False)
    program.ask('plain')
    program.ask('run 60000')
    program.end()
    traces = sorted(map(os.path.dirname, glob.glob(room.at('logs', '*', 'metadata'))))
    assert len(traces) == 1

    def verify():
        done = room.tool('forward', '--verify', traces[0], room.address, check=False)
        assert done.returncode == 0, done
        return done.stderr

    assert 'the stream lacks the last' in verify(), 'nothing was there'
    same(room.shown(room.address), expect(1, 60000))
    assert 'lacks' not in verify()
    packets = [number for number in range(1, room.end_of_stream() + 1) if '.stream-' in room.message(number)['subject']]
    for gone in (packets[0], packets[-1]):
        answer = request(room.port, '$JS.API.STREAM.MSG.DELETE.TRACES', json.dumps({'seq': gone}))
        assert '"success":true' in answer, answer
        said = room.tool('forward', traces[0], room.address).stderr
        assert ' 0 messages' in said, f'its note says that all was sent: {said}'
        assert re.search(r'stream\.\d+: the stream lacks the last \d+ of \d+ bytes; they are sent', verify())
        same(room.shown(room.address), expect(1, 60000))
    assert 'lacks' not in verify()


def servers_that_are_gone_are_named(room):
    servers, address = room.cluster()
    with open(room.at('bin.cfg'), 'w', encoding='ascii') as file:
        file.write('mftrace.dest = binfile\n')
    room.environment['MFTRACE_CONFIG'] = room.at('bin.cfg')
    program = room.program(plain=False)
    program.ask('plain')
    program.ask('run 100')
    program.end()
    assert 'not every copy' not in room.tool('forward', room.at('logs'), address).stderr
    done = room.tool('stats', address)
    assert re.search(r'^stream TRACES: server\d leads, server\d (follows|is behind.*), server\d (follows|is behind.*)$', done.stdout, re.MULTILINE), done
    assert 'not every copy' not in done.stderr, done
    done = room.tool('doctor', address, check=False)
    assert (done.returncode, done.stdout.count('\n')) == (0, 1) and re.search(r'^stream +TRACES: server\d leads, ', done.stdout), done
    metrics = room.metrics(address)
    found = metrics(r'ctrace_stream_servers\{stream="TRACES",state="leads"\} 1')
    assert 'ctrace_stream_replicas{stream="TRACES"} 3\n' in found and 'ctrace_stream_read_failed{stream="TRACES"} 0\n' in found, found
    assert sorted(re.findall(r'^ctrace_stream_server_lag_messages\{stream="TRACES",server="(.*)"\} \d+$', found, re.MULTILINE)) == [
        server.name for server in servers], found
    follower = [server for server in servers if f', {server.name} ' in room.tool('stats', address).stdout][0]
    follower.kill()
    end = time.monotonic() + PATIENCE  # the others notice after a while
    gone = f'{follower.name} is (offline|behind)'
    while 'not every copy' not in (done := room.tool('stats', address, check=False)).stderr:
        assert time.monotonic() < end, done
    assert re.search(gone, done.stdout) and re.search(f'stream TRACES: not every copy has what comes: .*{gone}', done.stderr), done
    (row,) = json.loads(room.tool('stats', '--json', address).stdout)['streams']
    assert row['stream'] == 'TRACES' and re.search(gone, row['servers']), row
    done = room.tool('doctor', address, check=False)
    assert done.returncode == 1 and re.search(gone, done.stdout) and re.search(f'^to do +.*{follower.name}', done.stdout, re.MULTILINE), done
    found = json.loads(room.tool('doctor', '--json', address, check=False).stdout)
    assert found['problems'] == ['stream'] and found['stream']['replicas'] == 3, found
    assert [copy['state'] for copy in found['stream']['copies'] if copy['server'] == follower.name][0] in ('offline', 'behind'), found
    metrics(r'ctrace_stream_servers\{stream="TRACES",state="(offline|behind)"\} 1')
    for server in servers:
        server.kill()
    found = metrics(r'ctrace_stream_read_failed\{stream="TRACES"\} 1')
    assert 'ctrace_stream_servers' not in found, found
    done = room.tool('doctor', address, check=False)
    assert done.returncode == 1 and re.search('^stream +cannot connect to ', done.stdout), done


def a_stream_that_is_none_is_reported(room):
    done = room.tool('doctor', room.address, check=False)
    assert done.returncode == 1 and re.search('^stream +there is no stream TRACES at ', done.stdout), done
    assert json.loads(room.tool('doctor', '--json', room.address, check=False).stdout)['stream']['error'], 'in JSON too'
    for words in ((room.address.rsplit('/', 1)[0],), (room.address, 'more')):
        done = room.tool('doctor', *words, check=False)
        assert done.returncode == 2 and done.stdout == '', done


def a_gap_has_its_number_of_events(room):
    """A packet in the middle of a stream is gone: readers know from the heads how many events were in it."""
    with open(room.at('bin.cfg'), 'w', encoding='ascii') as file:
        file.write('mftrace.dest = binfile\n')
    room.environment['MFTRACE_CONFIG'] = room.at('bin.cfg')
    program = room.program(plain=False)
    program.ask('plain')
    program.ask('run 60000')
    program.end()
    (trace,) = map(os.path.dirname, glob.glob(room.at('logs', '*', 'metadata')))
    stream = max(glob.glob(os.path.join(trace, 'stream.*')), key=os.path.getsize)
    with open(stream, 'rb') as file:
        bytes_of = file.read()
    first = int.from_bytes(bytes_of[44:48], 'little') // 8  # the size of the packet
    second = int.from_bytes(bytes_of[first + 44:first + 48], 'little') // 8
    with open(stream, 'wb') as file:
        file.write(bytes_of[:first] + bytes_of[first + second:])
    done = room.tool('show', '--format=$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)', trace, check=False)
    found = re.search(r'1 packet with (\d+) events is missing before this', done.stderr)
    assert found and sum(writer.entries(done.stdout).values()) + int(found[1]) == 60000, done.stderr


def until_noted(room):
    """Returns when the note of each trace says that all was acknowledged, with the number of the last message."""
    end = time.monotonic() + PATIENCE
    while True:
        notes = glob.glob(room.at('spool', '*', '.forwarded.TRACES'))
        texts = []
        for note in notes:
            with open(note, encoding='ascii') as file:
                texts.append(file.read())
        complete = [text for text in texts if re.search(r'^last [1-9]', text, re.MULTILINE) and re.search(r'^stream', text, re.MULTILINE)]
        if notes and len(complete) == len(notes) == len(room.segments()):
            return
        assert time.monotonic() < end, texts


Back.until_noted = until_noted

writer.TESTS[:] = [value for name, value in list(globals().items()) if callable(value) and getattr(value, '__code__', None) is not None and
         value.__code__.co_varnames[:1] == ('room',) and value.__code__.co_argcount == 1 and
         name not in ('traced_in_two_parts', 'closed', 'stream_message', 'until_noted')]

writer.Room = Back

if __name__ == '__main__':
    sys.exit(writer.main())
