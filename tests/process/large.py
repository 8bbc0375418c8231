#!/usr/bin/env python3
"""Large events with real processes: as large as half of the ring, in every file, after SIGKILL, through an external writer, by every reader.

Each byte is compared with what large_subject.c traced.  CTRACE_TEST_LONG=1 adds the largest event there is, in a ring of 1 GiB; that takes
some GB of memory and disk.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import functools
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

BUILD = os.environ['CTRACE_BUILD']
TOOL = os.path.join(BUILD, 'ctrace')
PROGRAM = os.path.join(BUILD, 'tests', 'large_subject')
PATIENCE = 600  # seconds, only to stop what hangs
IS_LONG = bool(os.environ.get('CTRACE_TEST_LONG'))
ITEM = 65536
OK, NOT_ENOUGH_MEMORY = '0', '2'

# The output of a busy machine may make no progress for longer than usual.
CONFIG = """\
mftrace.level = debug
mftrace.dest = binfile,textfile
mftrace.emitter.binfile#file = @/out/large.ctb
mftrace.emitter.textfile#file = @/out/large.log
mftrace.emitter.textfile#hexblocksize = 0
mftrace.emitter.textfile#format = $(COMPONENT) $(EVENT)$(DATA)
ctrace.buffer = 64m
ctrace.block.timeout = 600s
"""

STEPS = bytes(13 * k & 255 for k in range(256))
SHIFTS = [bytes(k + n & 255 for k in range(256)) for n in range(256)]


@functools.lru_cache(256)  # there are no others
def item_of_shift(shift):
    return b''.join(STEPS.translate(SHIFTS[shift + block & 255]) for block in range(ITEM // 256))


def item(index):
    """What large_subject.c has put there."""
    return item_of_shift(7 * index & 255)


class Room:
    """A directory with a configuration, a run directory and procedures of its own."""

    def __init__(self, config=CONFIG):
        self.path = tempfile.mkdtemp(prefix='large-', dir=os.getcwd())
        for name in ('run', 'proclib', 'out'):
            os.mkdir(self.at(name), 0o700)
        self.put('config', config)
        self.environment = dict(os.environ, CTRACE_RUN_DIR=self.at('run'), CTRACE_PROCLIB=self.at('proclib'),
                                MFTRACE_CONFIG=self.at('config'))
        self.processes = []

    def at(self, *names):
        return os.path.join(self.path, *names)

    def put(self, name, text):
        with open(self.at(name), 'w', encoding='ascii') as file:
            file.write(text.replace('@', self.path))

    def start(self, command, **options):
        process = subprocess.Popen(command, env=self.environment, text=True, cwd=self.path, **options)
        self.processes.append(process)
        return process

    def tool(self, *arguments):
        """Its output, in a file that is open; it has ended well."""
        with open(self.at('tool.err'), 'w+', encoding='utf-8') as errors:
            out = open(self.at('tool.out'), 'w+b')  # pylint: disable=consider-using-with
            done = subprocess.run([TOOL, *arguments], env=self.environment, stdout=out, stderr=errors, timeout=PATIENCE, check=False)
            errors.seek(0)
            assert done.returncode == 0, f'ctrace {arguments}: {done.returncode} {errors.read()}'
        out.seek(0)
        return out

    def program(self):
        return Program(self)

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        shutil.rmtree(self.path)


class Program:
    def __init__(self, room):
        self.process = room.start([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.answer() == 'ready'

    def answer(self):
        return self.process.stdout.readline().rstrip('\n')

    def ask(self, order):
        self.process.stdin.write(order + '\n')
        self.process.stdin.flush()
        return self.answer()

    def stats(self):
        """emitted, delivered, pending, too large, lost otherwise"""
        return [int(word) for word in self.ask('stats').split()]

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0


# ---- what came out

MARKS = {b'n': b'\n', b'r': b'\r', b't': b'\t', b'"': b'"', b'\\': b'\\'}


@functools.lru_cache(None)
def unescape_one(escape):
    if escape[1:2] == b'u':
        return chr(int(escape[3:-1], 16)).encode()
    if escape[1:2] == b'x':
        return bytes([int(escape[2:], 16)])
    return MARKS[escape[1:]]


@functools.lru_cache(256)  # as many as items: most texts come often, and a comparison with one that is known costs little
def unescape(text):
    """The bytes that a text item was made of."""
    return re.sub(rb'\\(?:u\{[0-9A-F]+\}|x[0-9A-Fa-f]{2}|.)', lambda match: unescape_one(match[0]), text)


def check_items(items, count):
    assert len(items) == count, f'{len(items)} items of {count}'
    for index, got in enumerate(items):
        assert got == item(index), f'item {index} of {count} has {len(got)} bytes: {got[:32]}'


def check_text(path, counts):
    """The lines of a TEXTFILE are these events, in order."""
    with open(path, 'rb') as file:
        lines = [line for line in file.read().split(b'\n') if line != b'' and not line.startswith(b'#')]
    assert [int(line[:30].split(b' ')[1]) for line in lines] == counts, [line[:40] for line in lines]
    for line, count in zip(lines, counts):
        words = line.split(b' ', 2)[2]
        if count == 1:
            assert words == b'4711', words
            continue
        found = re.findall(rb'"([^"\\]*(?:\\.[^"\\]*)*)"|([0-9A-F]+)(?= |$)', words)
        check_items([unescape(text) if text != b'' else bytes.fromhex(digits.decode()) for text, digits in found], count)


def check_json(room, counts, *paths):
    """ctrace show --json has these events, in order."""
    with room.tool('show', '--json', *paths) as out:
        events = [json.loads(line) for line in out]
    assert [event['event'] for event in events] == counts, [event['event'] for event in events]
    for event, count in zip(events, counts):
        if count == 1:
            assert event['data'][0]['value'] == 4711, event
            continue
        assert [one['type'] for one in event['data']] == ['binary', 'text'] * (count // 2)
        check_items([bytes.fromhex(one['value'] if one['type'] == 'binary' else one['hex']) for one in event['data']], count)


def check_babeltrace(path, count):
    """babeltrace2 has one event, with these bytes."""
    done = subprocess.run(['babeltrace2', path], capture_output=True, timeout=PATIENCE, check=True)
    assert done.stderr == b'', done.stderr
    assert done.stdout.count(b'\n') == 1 and len(re.findall(rb'data\d+ = ', done.stdout)) == count, done.stdout[:1000]
    # Its texts end at a NUL.
    found = [match[1] for match in re.finditer(rb'data\d* = \[ ((?:\[\d+\] = 0x[0-9A-F]+(?:, )?)*) \]', done.stdout)]
    assert len(found) == count // 2, f'{len(found)} binary items of {count}'
    for index, data in enumerate(found):
        got = bytes(int(digits, 16) for digits in re.findall(rb'= 0x([0-9A-F]+)', data))
        assert got == item(2 * index), f'item {2 * index} has {len(got)} bytes: {got[:32]}'


# ---- tests

def as_large_as_half_of_the_ring(room):
    program = room.program()
    assert program.ask('plain') == '00 '
    # 512 items of 64 KiB and what describes them are more than 32 MiB.
    assert [program.ask(order) for order in ('trace 400', 'small', 'trace 512', 'small', 'trace 510')] == \
        [OK, OK, NOT_ENOUGH_MEMORY, OK, OK]
    assert program.ask('flush') == OK
    assert program.stats() == [5, 4, 0, 1, 0], 'the larger one is counted, and nothing else is lost'
    program.end()
    counts = [400, 1, 1, 510]
    check_text(room.at('out', 'large.log'), counts)
    check_json(room, counts, room.at('out', 'large.ctb'))
    with room.tool('show', '--count', room.at('out', 'large.ctb')) as out:
        assert out.read() == b'4\n'


def what_readers_make_of_them(room):
    trace = room.at('out', 'large.ctb')
    program = room.program()
    program.ask('plain')
    assert [program.ask(order) for order in ('trace 400', 'small')] == [OK, OK]
    assert program.ask('flush') == OK
    program.end()
    room.tool('repair', '-o', room.at('repaired'), trace).close()
    check_json(room, [400, 1], *glob.glob(room.at('repaired', '*')))
    room.tool('export', '--format=common-trace-format', '-o', room.at('exported'), trace).close()
    check_json(room, [400, 1], room.at('exported'))
    room.tool('export', '--format=csv', '-o', room.at('large.csv'), trace).close()
    assert os.path.getsize(room.at('large.csv')) > 400 * 2 * ITEM
    room.tool('report', '-o', room.at('large.html'), trace).close()
    with room.tool('ipcs', trace, 'CTRACE COMP(LARGE) FULL') as out:
        assert sum(1 for _ in out) > 400 * ITEM // 16
    # A stream that ends inside the large event has what is before it.
    stream = glob.glob(os.path.join(trace, 'stream.*'))[0]
    os.truncate(stream, 20 << 20)
    done = subprocess.run([TOOL, 'show', '--count', trace], env=room.environment, capture_output=True, timeout=PATIENCE, check=False)
    assert b'the file ends inside a packet' in done.stderr, done


def other_viewers_see_every_byte(room):
    """A viewer needs 50 times the memory of an event."""
    program = room.program()
    program.ask('plain')
    count = 400 if IS_LONG else 40
    assert program.ask(f'trace {count}') == OK
    assert program.ask('flush') == OK
    program.end()
    check_babeltrace(room.at('out', 'large.ctb'), count)


def killed_before_anything_was_written(room):
    """The outputs cannot be opened while the process lives, so what the recovery delivers is all there is.

    More waits in the ring than a reader copies at once.
    """
    counts = [400, 1, 380]
    os.rmdir(room.at('out'))
    room.put('out', 'no directory')
    program = room.program()
    program.ask('plain')
    for order in ('trace 400', 'small', 'trace 380'):
        program.ask(order)
    assert program.stats()[1:] == [0, 3, 0, 0]
    check_json(room, counts, room.at('run'))
    program.ask('die')
    assert program.process.wait(PATIENCE) == -signal.SIGKILL
    os.remove(room.at('out'))
    os.mkdir(room.at('out'))
    room.tool('recover').close()
    assert [name for name in os.listdir(room.at('run')) if '.' in name] == []
    check_text(room.at('out', 'large.log'), counts)
    check_json(room, counts, room.at('out', 'large.ctb'))


def killed_while_it_was_written(room):
    program = room.program()
    program.ask('plain')
    for order in ('small', 'trace 400', 'small'):
        assert program.ask(order) == OK
    program.ask('die')
    assert program.process.wait(PATIENCE) == -signal.SIGKILL
    room.tool('recover').close()
    check_text(room.at('out', 'large.log'), [1, 400, 1])
    check_json(room, [1, 400, 1], room.at('out', 'large.ctb'))


def through_an_external_writer(room):
    room.put('proclib/WR1', 'TRCOUT01 PATH=@/data PRIMARY=200M\n')
    writer = room.start([TOOL, 'writer', 'WR1'], stderr=subprocess.PIPE)
    assert 'ITT110I' in writer.stderr.readline()
    program = room.program()
    assert program.ask('on WR1') == '00 '
    assert [program.ask(order) for order in ('small', 'trace 400', 'trace 512', 'trace 510', 'small')] == \
        [OK, OK, NOT_ENOUGH_MEMORY, OK, OK]
    while program.stats()[2] != 0:
        pass
    assert program.stats() == [5, 4, 0, 1, 0]
    program.end()
    writer.send_signal(signal.SIGTERM)
    assert writer.wait(PATIENCE) == 0
    assert os.listdir(room.at('out')) == [], 'no file of its own'
    check_json(room, [1, 400, 510, 1], *glob.glob(room.at('data', '*', '*')))


def followed_while_it_happens(room):
    tail = room.start([TOOL, 'tail', '--json', '--limit=3'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert 'waiting for one' in tail.stderr.readline()
    program = room.program()
    program.ask('plain')
    for order in ('small', 'trace 400', 'small'):
        assert program.ask(order) == OK
    lines = tail.stdout.read().splitlines()
    assert tail.wait(PATIENCE) == 0, tail.stderr.read()
    assert [json.loads(line)['event'] for line in lines] == [1, 400, 1]
    check_items([bytes.fromhex(one['value'] if one['type'] == 'binary' else one['hex']) for one in json.loads(lines[1])['data']], 400)


def in_storage_and_overwritten(room):
    """The consumer thread copies a large record before it writes it, as the producer may come round."""
    room.put('config', CONFIG.replace('@', room.path) + 'ctrace.overflow = overwrite\n')
    program = room.program()
    program.ask('plain')
    for order in ('trace 400', 'small', 'trace 100', 'small'):
        assert program.ask(order) == OK
    assert program.ask('flush') == OK
    program.end()
    check_text(room.at('out', 'large.log'), [400, 1, 100, 1])
    check_json(room, [400, 1, 100, 1], room.at('out', 'large.ctb'))


def the_largest_there_is(room):
    room.put('config', CONFIG.replace('@', room.path).replace('64m', '1024m'))
    program = room.program()
    program.ask('plain')
    assert [program.ask(order) for order in ('trace 4096', 'small')] == [OK, OK]
    assert program.ask('flush') == OK
    assert program.stats() == [2, 2, 0, 0, 0]
    program.end()
    check_text(room.at('out', 'large.log'), [4096, 1])
    check_json(room, [4096, 1], room.at('out', 'large.ctb'))


TESTS = [as_large_as_half_of_the_ring, what_readers_make_of_them, other_viewers_see_every_byte, killed_before_anything_was_written,
         killed_while_it_was_written, through_an_external_writer, followed_while_it_happens, in_storage_and_overwritten]


def main():
    tests = TESTS + ([the_largest_there_is] if IS_LONG else [])
    tests = [test for test in tests if len(sys.argv) < 2 or test.__name__ in sys.argv[1:]]
    failed = 0
    print(f'1..{len(tests)}')
    for number, test in enumerate(tests, 1):
        room = Room()
        try:
            test(room)
            print(f'ok {number} - {test.__name__}', flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(''.join('# ' + line[:2000] + '\n' for line in traceback.format_exc().splitlines()), end='')
            print(f'not ok {number} - {test.__name__}', flush=True)
        room.end()
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
