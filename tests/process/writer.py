#!/usr/bin/env python3
"""External writers with real processes: connecting, disconnecting, wrapping, filling up, dying on either side.

Every entry that the traced program made is looked for, by its thread and number: in the data sets, in the program's own destinations, once.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import itertools
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict

BUILD = os.environ['CTRACE_BUILD']
TOOL = os.path.join(BUILD, 'ctrace')
PROGRAM = os.path.join(BUILD, 'tests', 'written')
PATIENCE = 60  # seconds, only to stop what hangs


class Skipped(Exception):
    """Raised by a test that cannot run on this machine, with the reason."""


class Room:
    """A directory with a run directory, procedures, data sets and logs of its own."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix='writer-', dir=os.getcwd())
        for name in ('run', 'proclib', 'logs'):
            os.mkdir(os.path.join(self.path, name), 0o700)
        self.environment = dict(os.environ, CTRACE_RUN_DIR=self.at('run'), CTRACE_PROCLIB=self.at('proclib'),
                                MFTRACE_LOGS=self.at('logs'))
        self.processes = []

    def at(self, *names):
        return os.path.join(self.path, *names)

    def procedure(self, name, text):
        with open(self.at('proclib', name), 'w', encoding='ascii') as file:
            file.write(text.replace('@', self.at('data')))

    def tool(self, *arguments, check=True):
        done = subprocess.run([TOOL, *arguments], env=self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert not check or done.returncode == 0, f'ctrace {arguments}: {done.returncode} {done.stderr}'
        return done

    def show(self, *paths, check=True):
        """The lines that entries() takes."""
        return self.tool('show', '--format=$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)', *paths, check=check)

    def writer(self, name='WR1', *options):
        writer = subprocess.Popen([TOOL, 'writer', name, *options], env=self.environment, stderr=subprocess.PIPE, text=True)
        self.processes.append(writer)
        line = writer.stderr.readline()
        assert 'ITT110I' in line, line
        return writer

    def program(self, threads=1, **environment):
        program = Program(self, threads, environment)
        self.processes.append(program.process)
        return program

    # what came out

    def data(self, where='data*'):
        paths = [os.path.dirname(path) for path in glob.glob(self.at(where, '*', '*', 'metadata'))]
        return self.shown(*paths) if paths else Found()

    def size(self, name):
        return sum(os.path.getsize(os.path.join(where, file)) for where, _, files in os.walk(self.at(name)) for file in files)

    def announced(self, name):
        """How many events readers report as lost."""
        done = self.tool('stats', '--json', self.at(name), check=False)
        return json.loads(done.stdout)['lost'] if done.stdout else 0

    def shown(self, *paths):
        shown = self.show(*paths, check=False)
        # A trace that has just been begun holds nothing yet.
        assert shown.returncode == 0 or 'no events' in shown.stderr, shown.stderr
        return entries(shown.stdout)

    def own(self):
        found = Found()
        for path in glob.glob(self.at('logs', '*')):
            if os.path.isdir(path):
                found += self.shown(path)
            else:
                with open(path, encoding='utf-8') as file:
                    found += entries(file.read())
        return found

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        # What a killed process has left behind may still be making and removing files here.
        end = time.monotonic() + PATIENCE
        while os.path.exists(self.path):
            assert time.monotonic() < end, os.listdir(self.path)
            shutil.rmtree(self.path, ignore_errors=True)


class Program:
    def __init__(self, room, threads, environment):
        if 'MFTRACE_CONFIG' not in {**room.environment, **environment}:
            # Without a configured destination traces without a writer are in storage.
            with open(room.at('own.cfg'), 'w', encoding='ascii') as file:
                file.write('mftrace.dest = textfile\n')
            environment['MFTRACE_CONFIG'] = room.at('own.cfg')
        self.process = subprocess.Popen([PROGRAM, str(threads)], env={**room.environment, **environment}, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        assert self.answer() == 'ready'

    def answer(self):
        return self.process.stdout.readline().rstrip('\n')

    def say(self, order):
        self.process.stdin.write(order + '\n')
        self.process.stdin.flush()

    def ask(self, order):
        self.say(order)
        return self.answer()

    def stats(self):
        return [int(word) for word in self.ask('stats').split()]

    def settle(self):
        """Until nothing waits in its rings; gives emitted, delivered, pending, lost.  They are not of one instant."""
        before, end = None, time.monotonic() + PATIENCE
        while time.monotonic() < end:  # a writer may wait for the disk
            stats = self.stats()
            if stats[2] == 0 and stats == before:
                return stats
            before = stats
        raise AssertionError(f'{stats} for ever')

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0


def stop(process):
    """Returns when every thread of it stands: the signal alone has only been sent."""
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)


def sockets(pid):
    """How many it has open."""
    count = 0
    for path in glob.glob(f'/proc/{pid}/fd/*'):
        try:
            count += os.readlink(path).startswith('socket:')
        except FileNotFoundError:
            pass
    return count


def finish(writer, *signals):
    """Ends it in order: its data sets are closed."""
    for sent in (signal.SIGTERM, *signals):
        writer.send_signal(sent)
    assert writer.wait(PATIENCE) == 0


class Found(Counter):
    """Sums of it are made for millions of entries, of which few are in both."""

    def __add__(self, other):
        if not self.keys().isdisjoint(other):
            return Found(super().__add__(other))
        both = Found(self)
        dict.update(both, other)
        return both

    __iadd__ = __add__


def entries(text):
    """Each entry as (thread, number) and how often it is there; with names, where the data set has some."""
    found = re.findall(r' WRT (?:7 1 |ENTRY 1 thread=)(\d+) (?:number=)?(\d+)$', text, re.MULTILINE)
    odd = text.count(' WRT ') - len(found)
    assert odd == 0, [line for line in text.split('\n') if ' WRT ' in line and not re.search(r'[ =]\d+$', line)][:5] + [odd]
    threads, numbers = zip(*found) if found else ((), ())
    return Found(zip(map(int, threads), map(int, numbers)))


def expect(threads, count, first=0):
    return Counter({(thread, number): 1 for thread in range(threads) for number in range(first, count)})


def same(found, wanted):
    missing, extra = wanted - found, found - wanted
    assert not missing and not extra, f'{sum(found.values())} of {sum(wanted.values())}: missing {sorted(missing)[:5]}, ' \
                                      f'too many {sorted(extra)[:5]}'


def without_gaps(found):
    """Of each thread the entries from 0 on, each once."""
    threads = defaultdict(list)
    for thread, number in found:
        threads[thread].append(number)
    for thread, numbers in threads.items():  # each number is there once, being a key
        gaps = [(before, after) for before, after in zip([-1, *sorted(numbers)], sorted(numbers)) if after != before + 1]
        assert not gaps, f'thread {thread}: {len(numbers)} entries, the last is {max(numbers)}, gaps {gaps[:5]}'
    assert set(found.values()) <= {1}, [item for item in found.items() if item[1] != 1][:5]


ONE = 'TRCOUT01 PATH=@1 PRIMARY=100M\n'


def a_connected_trace_is_in_the_data_set_and_nowhere_else(room):
    room.procedure('WR1', ONE)
    room.writer()
    program = room.program(3)
    assert program.ask('on WR1') == '00 '
    program.ask('run 5000')
    assert program.settle() == [15000, 15000, 0, 0]
    same(room.data(), expect(3, 5000))
    assert room.own() == Counter()
    assert os.listdir(room.at('logs')) == [], 'no file of its own'
    program.end()
    count = subprocess.run(['babeltrace2', room.at('data1')], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert count.stdout.count('\n') == 15000 and count.stderr == '', count.stderr


def a_process_whose_data_go_to_a_writer_writes_nothing(room):
    room.procedure('WR1', ONE)
    room.writer()
    program = room.program()
    program.ask('on WR1')
    program.ask('run 10')
    program.settle()
    first = int(program.ask('writes'))
    program.ask('flush')
    quiet = int(program.ask('writes')) - first
    program.ask('run 200000')
    busy = int(program.ask('writes')) - first - quiet
    assert busy <= quiet, f'{busy} write calls for 200,000 entries; {quiet} are its answers to us'


def off_and_on_again_without_the_writer(room):
    room.procedure('WR1', ONE)
    room.writer()
    program = room.program(2)
    program.ask('on WR1')
    program.ask('run 100')
    assert program.ask('disconnect') == '00 '
    program.ask('run 100')
    program.ask('on WR1')
    program.ask('run 100')
    assert program.ask('off') == '00 '
    program.ask('plain')
    program.ask('run 100')
    program.ask('flush')
    program.settle()
    same(room.data(), expect(2, 100) + expect(2, 300, 200))
    same(room.own(), expect(2, 200, 100) + expect(2, 400, 300))


def a_writer_that_is_not_there_is_told_and_nothing_is_lost(room):
    room.procedure('WR1', ONE)
    program = room.program(2)
    answer = program.ask('on WR1')
    assert answer == '00 writer WR1 is not running: entries go to the destinations until it is started', answer
    program.ask('run 1000')
    program.ask('flush')
    same(room.own(), expect(2, 1000))
    room.writer()
    for count in range(1000, 100000):
        program.ask('run 1')
        if room.data():
            break
    program.settle()
    program.ask('flush')
    found = room.data()
    assert found, 'it connects when it comes'
    same(found + room.own(), expect(2, count + 1))


def a_writer_that_is_killed_again_and_again_costs_nothing(room):
    room.procedure('WR1', ONE)
    with open(room.at('config'), 'w', encoding='ascii') as file:
        file.write('ctrace.block.timeout = 60s\n')  # on a busy machine a new writer may need more than a second
    program = room.program(3, MFTRACE_CONFIG=room.at('config'))
    writer = room.writer()
    program.ask('on WR1')
    program.ask('start')
    for _ in range(15):
        before = int(program.ask('stats').split()[1])
        while int(program.ask('stats').split()[1]) < before + 20000:
            pass
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        before = int(program.ask('stats').split()[1])
        while int(program.ask('stats').split()[1]) < before + 5000:
            pass
        writer = room.writer()
    emitted = int(program.ask('stop'))
    stats = program.settle()
    assert stats[0] == emitted and stats[3] == 0, stats
    program.ask('flush')
    found = room.data() + room.own()
    assert sum(found.values()) == emitted, f'{sum(found.values())} of {emitted}'
    without_gaps(found)
    program.end()


def what_a_process_had_committed_before_it_was_killed_is_written(room):
    room.procedure('WR1', ONE)
    writer = room.writer()
    for turn in range(5):
        program = room.program(2, CTRACE_JOBNAME=f'JOB{turn}')
        program.ask('on WR1')
        program.ask('start')
        while int(program.ask('stats').split()[1]) < 30000:
            pass
        program.process.kill()
        program.process.wait()
    writer.send_signal(signal.SIGTERM)
    assert writer.wait(PATIENCE) == 0, writer.stderr.read()
    assert [name for name in os.listdir(room.at('run')) if '.' in name] == [], 'the writer removes what it has finished'
    for turn in range(5):
        paths = glob.glob(room.at('data1', '*', f'JOB{turn}.*'))
        found = entries(room.show(*paths).stdout)
        assert sum(found.values()) >= 30000
        without_gaps(found)


def what_it_made_while_the_writer_opened_its_files_is_written_too(room):
    room.procedure('WR1', ONE)
    room.writer()
    for turn in range(20):
        program = room.program(2, CTRACE_JOBNAME=f'JOB{turn}')
        assert program.ask('on WR1') == '00 '
        program.ask('run 1000')
        program.ask('run 1000')
        program.process.kill()
        program.process.wait()
    for _ in range(1000):
        if not [name for name in os.listdir(room.at('run')) if '.' in name]:
            break
        time.sleep(0.01)
    assert room.own() == Counter()
    same(room.data(), Counter({key: 20 for key in expect(2, 2000)}))


def a_recoverer_leaves_alone_what_a_writer_still_has(room):
    room.procedure('WR1', ONE)
    writer = room.writer()
    program = room.program(2)
    program.ask('on WR1')
    program.ask('run 1000')
    program.settle()
    stop(writer)
    program.ask('run 1000')
    program.process.kill()
    program.process.wait()
    room.tool('recover', check=False)
    assert sum(room.own().values()) == 0 and sum(room.data().values()) == 2000
    writer.send_signal(signal.SIGCONT)
    writer.send_signal(signal.SIGTERM)
    assert writer.wait(PATIENCE) == 0
    same(room.data(), expect(2, 2000))
    assert [name for name in os.listdir(room.at('run')) if '.' in name] == []


def both_killed_and_recovered(room):
    room.procedure('WR1', ONE)
    for turn in range(5):
        writer = room.writer()
        program = room.program(2, CTRACE_JOBNAME=f'JOB{turn}')
        program.ask('on WR1')
        program.ask('start')
        while int(program.ask('stats').split()[1]) < 20000:
            pass
        victims = [writer, program.process]
        for victim in victims if turn % 2 == 0 else reversed(victims):
            victim.kill()
        for victim in victims:
            victim.wait()
        room.tool('recover')
        # Killed while it began the next one, a writer leaves a directory without metadata.
        begun = glob.glob(room.at('data1', '*', f'JOB{turn}.*', 'metadata'))
        found = entries(room.show(*map(os.path.dirname, begun)).stdout)
        assert sum(found.values()) >= 20000
        without_gaps(found)
    assert room.own() == Counter()


def stopped_in_order_it_flushes(room):
    room.procedure('WR1', ONE)
    writer = room.writer()
    programs = [room.program(2), room.program(2)]
    for program in programs:
        program.ask('on WR1')
        program.ask('pace 100')  # or it wraps on a slow machine
        program.ask('start')
        while int(program.ask('stats').split()[1]) < 10000:
            pass
    writer.send_signal(signal.SIGTERM)
    assert writer.wait(PATIENCE) == 0
    assert 'ITT111I' in writer.stderr.read()
    emitted = [int(program.ask('stop')) for program in programs]
    for program in programs:
        program.ask('flush')
        assert program.settle()[3] == 0
    assert sum((room.data() + room.own()).values()) == sum(emitted)
    for program in programs:
        pid = program.process.pid
        found = entries(room.show(*glob.glob(room.at('data1', '*', f'*.{pid}'))).stdout)
        without_gaps(found)
        assert found, 'it has its part'


def wrapping_keeps_the_newest(room):
    room.procedure('WR1', 'TRCOUT01 PATH=@1 PRIMARY=1M\nMODE=WRAP\n')
    writer = room.writer()
    program = room.program()
    program.ask('on WR1')
    count = 0
    for _ in range(30):
        count = int(program.ask('run 20000'))
        program.settle()
    found = room.data()
    numbers = sorted(number for _, number in found)
    assert numbers[-1] == count - 1 and numbers == list(range(numbers[0], count)), 'the newest, without gaps'
    assert 0.75 * 2**20 < room.size('data1') <= 2**20, room.size('data1')
    state = room.tool('stats').stdout
    assert re.search(rf'\b{count - len(found)}\b', state), f'{count - len(found)} are gone, which stats does not say: {state}'
    finish(writer)
    assert room.size('data1') <= 2**20, 'nor do the closing marks exceed the size'
    assert room.announced('data1') == count - len(found), 'and readers report what is gone'


def a_full_data_set_stops_and_counts(room):
    room.procedure('WR1', 'TRCOUT01 PATH=@1 PRIMARY=200K SECONDARY=20K\nMODE=NOWRAP\n')
    writer = room.writer()
    program = room.program()
    program.ask('on WR1')
    for _ in range(10):
        count = int(program.ask('run 20000'))
        emitted, delivered, _, lost = program.settle()
    found = room.data()
    without_gaps(found)
    assert 0 < len(found) < count
    assert (emitted, delivered, lost) == (count, len(found), count - len(found)), (emitted, delivered, lost, len(found))
    assert 400 * 1024 < room.size('data1') <= 500 * 1024, room.size('data1')
    assert re.search(rf'WRT +DEBUG +{len(found)} ', room.tool('stats').stdout), 'what was dropped was not delivered'
    writer.send_signal(signal.SIGTERM)
    assert writer.wait(PATIENCE) == 0
    said = writer.stderr.read()
    assert said.count('IS FULL') == 1, said
    assert room.size('data1') <= 500 * 1024, 'nor do the closing marks exceed the size'
    assert room.announced('data1') == count - len(found), 'and readers report what was refused'
    refused = room.tool('writer', 'WR1', check=False)
    assert refused.returncode == 1 and 'CTR103E TRCOUT01 CANNOT BE OPENED' in refused.stderr and 'it is full' in refused.stderr, refused
    room.procedure('WR1', 'TRCOUT01 PATH=@1 PRIMARY=200K SECONDARY=20K DISP=OLD\nMODE=NOWRAP\n')
    room.writer()
    assert room.data() == {} and room.announced('data1') == 0, 'DISP=OLD begins anew'


def one_thread_fills_a_group(room):
    names = ('data1', 'data2', 'data3', 'data4')
    trcouts = ''.join(f'TRCOUT0{i} PATH=@{i} PRIMARY=256K\n' for i in range(1, 5))
    with open(room.at('config'), 'w', encoding='ascii') as file:
        file.write('mftrace.dest = textfile\nctrace.block.timeout = 60s\n')  # the disk may keep the writer for longer than a second
    for mode in ('NOWRAP', 'WRAP'):
        room.procedure('WR1', trcouts.replace('256K', '256K DISP=OLD') + f'MODE={mode}\n')
        writer = room.writer()
        program = room.program(MFTRACE_CONFIG=room.at('config'))
        program.ask('on WR1')
        for _ in range(8):
            count = int(program.ask('run 10000'))
            stats = program.settle()
        # While the writer runs, a note of what is lost is replaced now and then: for a moment there are two.
        program.end()
        finish(writer)
        found = room.data()
        for name in names:
            assert room.size(name) <= 256 * 1024, (mode, name, room.size(name))
            assert room.data(name), f'{mode}: {name} has its part'
        numbers = sorted(number for _, number in found)
        first = 0 if mode == 'NOWRAP' else count - len(found)
        gaps = [(before, after) for before, after in itertools.pairwise(numbers) if after != before + 1]
        told = f'{mode}: the oldest, or the newest, without gaps: {len(found)} of {count}, from {numbers[:1]} (expected {first}), {gaps[:5]}, {stats}'
        assert 0 < len(found) < count and not gaps and numbers[0] == first, told
        assert sum(map(room.size, names)) > 800 * 1024, 'the whole group is used'
        assert sum(map(room.announced, names)) == count - len(found), f'{mode}: readers report what is not there'


def a_data_set_without_entries_can_be_read(room):
    room.procedure('WR1', ONE)
    writer = room.writer()
    for state in ('open', 'closed'):
        for verb in ('show', 'stats'):
            done = room.tool(verb, room.at('data1'), check=False)
            assert 'no trace' not in done.stderr, (state, verb, done)
        done = room.tool('ipcs', 'CTRACE QUERY', room.at('data1'), check=False)
        assert 'no trace, run' not in done.stderr + done.stdout, (state, done)
        if shutil.which('babeltrace2'):
            done = subprocess.run(['babeltrace2', room.at('data1')], capture_output=True, text=True, timeout=PATIENCE, check=False)
            assert (done.returncode, done.stdout) == (0, ''), (state, done)
        if state == 'open':
            finish(writer)


def a_writer_is_ready_when_those_who_wait_for_it_are_connected(room):
    room.procedure('WR1', ONE)
    program = room.program()
    program.ask('on WR1')
    room.writer()
    program.ask('run 1000')
    settled = program.settle()
    found = room.data()
    assert found == expect(1, 1000), (settled, sum(found.values()), program.settle(), sum(room.data().values()), room.tool('stats', '--json').stdout)


def several_data_sets_and_processes(room):
    room.procedure('WR1', 'TRCOUT01 PATH=@1 PRIMARY=100M\nTRCOUT02 PATH=@2 PRIMARY=100M\nTRCOUT04 PATH=@4 PRIMARY=100M\n')
    room.writer()
    programs = [room.program(6) for _ in range(3)]
    for program in programs:
        program.ask('on WR1')
    for program in programs:
        program.say('run 20000')
    for program in programs:
        program.answer()
        assert program.settle() == [120000, 120000, 0, 0]
    assert not room.data('data2') and not room.data('data4'), 'the first one has room for all'
    for program in programs:
        paths = glob.glob(room.at('data*', '*', f'*.{program.process.pid}'))
        same(entries(room.show(*paths).stdout), expect(6, 20000))


def compressed_data_sets_can_be_read(room):
    room.procedure('WR1', 'TRCOUT01 PATH=@1 PRIMARY=100M\nCOMPRESS=ZSTD\n')
    writer = room.writer()
    program = room.program(2)
    program.ask('on WR1')
    program.ask('run 20000')
    program.settle()
    writer.send_signal(signal.SIGTERM)
    assert writer.wait(PATIENCE) == 0
    assert glob.glob(room.at('data1', '*', '*', 'stream.*.zst')) and not glob.glob(room.at('data1', '*', '*', 'stream.?'))
    same(room.data(), expect(2, 20000))


def a_forked_child_is_connected_too(room):
    room.procedure('WR1', ONE)
    room.writer()
    program = room.program()
    program.ask('on WR1')
    program.ask('run 100')
    for turn in range(10):
        assert program.ask('fork 3000') == '0'
        program.ask('run 100')
    program.settle()
    found = room.data() + room.own()
    same(Counter({key: n for key, n in found.items() if key[0] == 0}), expect(1, 1100))
    same(Counter({key: n for key, n in found.items() if key[0] == 63}), Counter({(63, n): 10 for n in range(3000)}))
    assert any(key[0] == 63 for key in room.data()), 'some child had its link before it ended'


def a_program_that_closes_its_descriptors_goes_on(room):
    room.procedure('WR1', ONE)
    room.writer()
    program = room.program(2)
    program.ask('on WR1')
    for _ in range(3):
        program.ask('run 2000')
        assert program.ask('close') == '0'
        program.ask('run 2000')
        room.tool('flush', check=False)  # somebody who wants something of it
    assert program.ask('flush') == '0'
    assert program.settle()[3] == 0
    same(room.data() + room.own(), expect(2, 12000))


def a_program_that_becomes_another_loses_nothing(room):
    room.procedure('WR1', ONE)
    writer = room.writer()
    program = room.program(2)
    program.ask('on WR1')
    program.ask('run 5000')
    assert program.ask('exec') == 'ready'
    program.end()
    writer.send_signal(signal.SIGTERM)
    assert writer.wait(PATIENCE) == 0
    same(room.data() + room.own(), expect(2, 5000))


def a_writer_that_stands_still_costs_what_is_counted(room):
    room.procedure('WR1', ONE)
    writer = room.writer()
    program = room.program(2)
    program.ask('on WR1')
    program.ask('run 1000')
    program.settle()
    stop(writer)
    program.ask('start')
    while program.stats()[3] == 0:
        pass  # the ring is full, and the time to wait for it is over
    writer.send_signal(signal.SIGCONT)
    emitted = int(program.ask('stop'))
    stats = program.settle()
    assert stats[0] == emitted and stats[1] + stats[3] == emitted and stats[3] > 0, (emitted, stats)
    found = room.data()
    assert sum(found.values()) == stats[1] and set(found.values()) == {1}


def a_process_that_stands_still_does_not_keep_a_writer_that_is_to_end(room):
    room.procedure('WR1', ONE)
    writer = room.writer()
    program = room.program(2)
    program.ask('on WR1')
    program.ask('run 1000')
    stop(program.process)
    writer.send_signal(signal.SIGTERM)
    assert writer.wait(PATIENCE) == 0
    program.process.send_signal(signal.SIGCONT)
    program.ask('run 1000')
    assert program.ask('flush') == '0'
    assert program.settle()[3] == 0
    same(room.data() + room.own(), expect(2, 2000))


def stopped_without_flush_leaves_the_rest_to_the_consumer_thread(room):
    room.procedure('WR1', ONE)
    writer = room.writer()
    program = room.program(2)
    program.ask('on WR1')
    program.ask('pace 100')  # or it wraps on a slow machine
    program.ask('start')
    while program.stats()[1] < 10000:
        pass
    room.tool('op', 'TRACE CT,WTRSTOP=WR1,NOFLUSH')
    assert writer.wait(PATIENCE) == 0
    emitted = int(program.ask('stop'))
    program.ask('flush')
    assert program.settle()[3] == 0
    found = room.data() + room.own()
    assert sum(found.values()) == emitted
    without_gaps(found)


def a_data_set_that_cannot_be_written_is_told_and_goes_on_when_it_can(room):
    room.procedure('WR1', ONE)
    writer = subprocess.Popen(['bash', '-c', f'ulimit -f 40; exec {TOOL} writer WR1'], env=room.environment, stderr=subprocess.PIPE, text=True)
    room.processes.append(writer)
    assert 'ITT110I' in writer.stderr.readline()
    program = room.program()
    program.ask('on WR1')
    program.say('run 20000')
    line = writer.stderr.readline()
    assert 'CTR102E TRCOUT01 CANNOT BE WRITTEN: File too large' in line, line
    writer.kill()
    program.answer()
    program.ask('flush')
    stats = program.settle()
    found = room.data() + room.own()
    assert sum(found.values()) == stats[1] and set(found.values()) == {1} and stats[1] + stats[3] == 20000, (stats, sum(found.values()))


def one_of_a_name(room):
    room.procedure('WR1', ONE)
    room.writer()
    done = room.tool('writer', 'WR1', check=False)
    assert done.returncode == 1 and 'RUNNING ALREADY' in done.stderr, done.stderr


def an_earlier_runs_data_stay(room):
    room.procedure('WR1', ONE)
    for turn in range(3):
        writer = room.writer()
        program = room.program(1, CTRACE_JOBNAME=f'RUN{turn}')
        program.ask('on WR1')
        program.ask('run 1000')
        program.settle()
        program.end()
        writer.send_signal(signal.SIGTERM)
        assert writer.wait(PATIENCE) == 0
    same(room.data(), Counter({key: 3 for key in expect(1, 1000)}))


def a_child_that_does_not_trace_does_not_keep_its_parent(room):
    room.procedure('WR1', ONE)
    room.writer()
    program = room.program(2)
    program.ask('on WR1')
    program.ask('run 1000')
    child = int(program.ask('child'))
    try:
        program.ask('run 1000')
        program.process.kill()
        program.process.wait()
        for _ in range(1000):
            left = [name for name in os.listdir(room.at('run')) if '.' in name]
            if not left:
                break
            time.sleep(0.01)
        assert not left, 'the writer has not noticed the end of the process'
        same(room.data(), expect(2, 2000))
    finally:
        os.kill(child, signal.SIGKILL)


def of_the_writer_that_had_its_place_before_nothing_is_taken(room):
    room.procedure('WRA', 'TRCOUT01 PATH=@A PRIMARY=100M\n')
    room.procedure('WRB', 'TRCOUT01 PATH=@B PRIMARY=100M\n')
    first = room.writer('WRA')
    program = room.program()
    program.ask('on WRA')
    program.ask('run 100')
    program.settle()
    first.send_signal(signal.SIGTERM)
    assert first.wait(PATIENCE) == 0
    second = room.writer('WRB')
    assert program.ask('on WRB') == '00 '
    stop(second)
    program.ask('run 100')
    second.kill()
    second.wait()
    program.ask('flush')
    assert program.settle()[3] == 0
    same(room.data('dataA'), expect(1, 100))
    same(room.data('dataB') + room.own(), expect(1, 200, 100))


def a_process_that_truncates_its_files_costs_the_others_nothing(room):
    room.procedure('WR1', 'TRCOUT01 PATH=@1 PRIMARY=100M\nTRCOUT02 PATH=@2 PRIMARY=100M\n')
    writer = room.writer()
    good = room.program(2)
    good.ask('on WR1')
    for what in ('session', 'ring.*'):
        bad = room.program(2)
        bad.ask('on WR1')
        bad.ask('run 100')
        bad.settle()
        stop(bad.process)
        for path in glob.glob(room.at('run', f'{bad.process.pid}.*', what)):
            os.truncate(path, 4096 if what == 'session' else 0)
        line = writer.stderr.readline()
        assert f'CTR107E PROCESS {bad.process.pid} HAS TRUNCATED' in line, line
        good.ask('run 1000')
    assert good.ask('flush') == '0'
    assert good.settle() == [4000, 4000, 0, 0]
    writer.send_signal(signal.SIGTERM)
    assert writer.wait(PATIENCE) == 0
    same(entries(room.show(*glob.glob(room.at('data?', '*', f'*.{good.process.pid}'))).stdout), expect(2, 2000))


def data_sets_have_the_names_of_the_writers_catalogue(room):
    room.procedure('WR1', ONE)
    with open(room.at('wrt.yaml'), 'w', encoding='ascii') as file:
        file.write('component: WRT\nevents:\n  7: {mnemonic: ENTRY, arguments: [{name: thread}, {name: number}]}\n')
    room.environment['CTRACE_CATALOG'] = room.at('wrt.yaml')
    room.writer()
    del room.environment['CTRACE_CATALOG']
    program = room.program(1)
    assert program.ask('on WR1') == '00 '
    program.ask('run 10')
    program.settle()
    same(room.data(), expect(1, 10))
    program.end()
    viewed = subprocess.run(['babeltrace2', room.at('data1')], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert viewed.stdout.count(' WRT:ENTRY: ') == 10 and '{ thread = 0, number = 9 }' in viewed.stdout, viewed.stdout


def fmttab_names_the_catalogue(room):
    """A catalogue under another name than the component's: at hand when the entries are written, or only when they are read."""
    with open(room.at('format.yaml'), 'w', encoding='ascii') as file:
        file.write('component: FORMAT\nevents:\n  7: {mnemonic: ENTRY, arguments: [{name: thread}, {name: number}]}\n')
    with open(room.at('binfile.cfg'), 'w', encoding='ascii') as file:
        file.write('mftrace.dest = binfile\n')
    room.procedure('WR1', ONE)
    writer = room.writer()
    for where in ({}, {'CTRACE_CATALOG': room.at('format.yaml')}):
        program = room.program(MFTRACE_CONFIG=room.at('binfile.cfg'), **where)
        assert program.ask('plain') == '00 '
        program.ask('run 5')
        assert program.ask('off') == '00 ' and program.ask('on WR1') == '00 '
        program.ask('run 5')
        program.settle()
        program.end()
    finish(writer)
    by_number, by_name = sorted(glob.glob(room.at('logs', '*.ctb')), key=os.path.getmtime)
    os.rename(room.at('format.yaml'), room.at('other.yaml'))
    shown = room.tool('show', by_name).stdout
    assert shown.count('ENTRY') == shown.count('thread=0') == 5, f'from the metadata: {shown}'
    assert 'ENTRY' not in room.tool('show', by_number).stdout, 'no catalogue'
    listing = room.tool('ipcs', 'CTRACE COMP(WRT) FULL', by_number).stdout
    # Each command reports it once, not each of its entries.
    missing = 'ITT10013I There is no catalogue for COMP(WRT) nor for FORMAT, which its FMTTAB names (--catalog, CTRACE_CATALOG): entries are in'
    assert listing.count(missing) == 1 and listing.count('ITT10013I') == 1, listing
    assert 'ITT10013I' not in room.tool('ipcs', 'CTRACE COMP(WRT)', by_number).stdout, 'SHORT needs no catalogue'
    for path, count in ((by_number, 5), (room.at('data1'), 10)):
        shown = room.tool('show', '--catalog', room.at('other.yaml'), path).stdout
        assert shown.count('ENTRY') == shown.count('thread=0') == count, shown
    listing = room.tool('ipcs', '--catalog', room.at('other.yaml'), 'CTRACE COMP(WRT) FULL', by_number).stdout
    assert listing.count('\n ENTRY  ') == 5 and 'ITT10013I' not in listing, listing


def a_writer_that_answers_too_late_takes_nothing(room):
    """The process has given up, and has given the place of the late one to another; a child has the socket, too."""
    room.procedure('WR1', 'TRCOUT01 PATH=@1 PRIMARY=10M\n')
    room.procedure('WR2', 'TRCOUT01 PATH=@2 PRIMARY=10M\n')
    late, other = room.writer('WR1'), room.writer('WR2')
    program = room.program()
    before = sockets(program.process.pid)
    stop(late)
    with subprocess.Popen([TOOL, 'op', 'TRACE CT,ON,COMP=WRT', '--reply', 'WTR=WR1,END'], env=room.environment, stdout=subprocess.PIPE,
                          text=True) as tool:
        while sockets(program.process.pid) != before + 2 and tool.poll() is None:  # the operator's, and the writer's
            pass
        child = int(program.ask('child'))
        assert tool.wait(PATIENCE) == 0, tool.stdout.read()
    try:
        assert program.ask('on WR2') == '00 '
        program.ask('run 100')
        late.send_signal(signal.SIGCONT)
        assert 'WR1' in room.tool('op', 'D TRACE,WTR=WR1').stdout  # it has read the late request
        for _ in range(20):
            program.ask('run 500')
        program.settle()
        assert program.ask('on WR1') == '00 '
        program.ask('run 100')
        program.settle()
    finally:
        os.kill(child, signal.SIGKILL)
    same(room.data('data2'), expect(1, 10100))
    same(room.data('data1'), expect(1, 10200, 10100))
    program.end()
    finish(other)
    finish(late)


def a_request_at_its_end_harms_no_writer(room):
    """It is there when the writer has ended its work, and before it has closed the socket."""
    room.procedure('WR1', ONE)
    for first in range(0, 64, 8):
        writer, peers = room.writer(), []
        stop(writer)
        for verb in range(first, first + 8):
            peers.append(socket.socket(socket.AF_UNIX))
            peers[-1].connect(room.at('run', 'writer', 'WR1'))
            peers[-1].send(struct.pack('=IHHII', 0x4C525443, 2, verb, 0, 0))
        finish(writer, signal.SIGCONT)
        for peer in peers:
            peer.close()


def two_writers_do_not_share_a_data_set(room):
    room.procedure('WR1', ONE)
    room.procedure('WR2', ONE)
    writer = room.writer()
    done = room.tool('writer', 'WR2', check=False)
    assert done.returncode == 1 and 'CTR103E TRCOUT01 CANNOT BE OPENED' in done.stderr, done.stderr
    writer.kill()
    writer.wait()
    room.writer('WR2')


USER_EXIT = r"""
#include <ctrace/reader.h>
#include <stdio.h>
__attribute__((visibility("default"))) int ctrace_filter_exit(const struct ctrace_exit_call *call)
{
	char text[64];
	int size = snprintf(text, sizeof text, "USERDATA OF %s: ", call->is_done ? "NONE" : "ENTRY");

	for (int i = 0; i < 16; i++)
		size += snprintf(text + size, sizeof text - size, "%02X", call->userdata[i]);
	call->print(call, text, size);
	return CTRACE_EXIT_FORMAT;
}
"""


def what_define_said_goes_with_the_trace(room):
    """USERDATA reaches an exit, from wherever the trace is read and whoever wrote it; FMTTAB stands beside it."""
    with open(room.at('seen.c'), 'w', encoding='ascii') as file:
        file.write(USER_EXIT)
    subprocess.run(['gcc', '-shared', '-fPIC', f'-I{os.environ["CTRACE_SOURCE"]}/include', '-o', room.at('SEEN.so'), room.at('seen.c')], check=True)
    with open(room.at('binfile.cfg'), 'w', encoding='ascii') as file:
        file.write('mftrace.dest = binfile\nmftrace.level.other = info\n')
    open(room.at('storage.cfg'), 'w', encoding='ascii').close()
    room.procedure('WR1', ONE)
    writer = room.writer()
    program = room.program(MFTRACE_CONFIG=room.at('binfile.cfg'))
    assert program.ask('on WR1') == '00 '
    program.ask('run 5')
    program.settle()
    assert program.ask('off') == '00 ' and program.ask('plain') == '00 '
    program.ask('both 5')
    program.ask('flush')
    program.end()
    finish(writer)
    stored = room.program(MFTRACE_CONFIG=room.at('storage.cfg'))
    assert stored.ask('plain') == '00 '
    stored.ask('run 5')
    room.environment['CTRACE_LINKLIST'] = room.path
    live = [str(stored.process.pid)]
    room.tool('dump', f'--pid={live[0]}', '-o', room.at('dump.ctb'))
    written = [os.path.dirname(path) for path in glob.glob(room.at('data1', '0*', '*', 'metadata')) + glob.glob(room.at('logs', '*', 'metadata'))]
    assert len(written) == 2, written
    room.tool('export', '--format=common-trace-format', '-o', room.at('exported'), written[1])
    room.tool('repair', written[0], '-o', room.at('repaired'))
    os.mkdir(room.at('elsewhere'))
    moved = [shutil.move(path, room.at('elsewhere', str(number)))
             for number, path in enumerate(written + [room.at(name) for name in ('dump.ctb', 'exported', 'repaired')])]
    for trace in moved + live:
        listing = room.tool('ipcs', 'CTRACE COMP(WRT) USEREXIT(SEEN)', trace).stdout
        assert listing.count('USERDATA OF ENTRY: 303132333435363738394142434' + '40A00') == 5, f'{trace}: {listing}'
        assert listing.count('USERDATA OF NONE: ' + '0' * 32) == 1, f'{trace}: {listing}'
        assert 'ENTRY: 0000' not in listing, listing
    listing = room.tool('ipcs', 'CTRACE COMP(OTHER) USEREXIT(SEEN)', moved[1]).stdout
    assert listing.count('USERDATA OF ENTRY: ' + '0' * 32) == 5, 'a component that nobody defined'
    for trace in moved:
        metadata = ''.join(open(path, encoding='ascii').read() for path in glob.glob(trace + '/**/metadata', recursive=True))
        assert 'model.emf.uri = "ctrace:event/7?fmttab=FORMAT&userdata=30313233' in metadata, metadata[-600:]
        assert 'event/8?' not in metadata, 'a component that nobody defined'
        viewed = subprocess.run(['babeltrace2', trace], capture_output=True, text=True, check=True, timeout=PATIENCE)
        assert viewed.stderr == '' and viewed.stdout.count(' WRT:7: ') == 5, viewed
    stored.end()


TESTS = [value for name, value in list(globals().items()) if callable(value) and getattr(value, '__code__', None) is not None and
         value.__code__.co_varnames[:1] == ('room',)]


def main():
    tests = [test for test in TESTS if sys.argv[1:] in ([], [test.__name__])]
    print(f'1..{len(tests)}')
    failed = 0
    for number, test in enumerate(tests, 1):
        room = Room()
        try:
            test(room)
            print(f'ok {number} - {test.__name__}', flush=True)
        except Skipped as why:
            print(f'ok {number} - {test.__name__} # SKIP {why}', flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f'not ok {number} - {test.__name__}')
            for line in traceback.format_exc().splitlines():
                print(f'# {line}', flush=True)
        finally:
            room.end()
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
