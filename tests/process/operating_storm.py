#!/usr/bin/env python3
"""A storm: traced processes, operators, external writers and their deaths, at random; then every entry is looked for.

Several actors at once: one flips levels, connects and disconnects by TRACE CT, displays; one talks nonsense at the sockets; one kills writers and
starts them; one kills programs and starts others, and has them fork; one recovers and lists.  Then all is brought to rest.  For a process that
was not killed: emitted = delivered + lost, and each entry is in a data set or in its own destination once; of one that was killed, each thread's
entries without gaps, once.  Nothing is left in the run directory, and survivors keep no descriptor that they had not at first.

operating_storm.py [SEED] - the seed of a storm is printed.  CTRACE_TEST_LONG=1: minutes instead of seconds.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from writer import PATIENCE, Room, entries  # pylint: disable=wrong-import-position

LONG = 'CTRACE_TEST_LONG' in os.environ
SECONDS = 120 if LONG else 4
PROGRAMS = 4
WRITERS = {'WR1': 'TRCOUT01 PATH=@1a PRIMARY=1G\nTRCOUT02 PATH=@1b PRIMARY=1G\n', 'WR2': 'TRCOUT01 PATH=@2 PRIMARY=1G\nCOMPRESS=ZSTD\n'}
CHILD = 63  # the number of a forked child's thread


class Storm:
    def __init__(self, room, seed):
        self.room = room
        self.seed = seed
        self.stopping = False
        self.lock = threading.Lock()  # of programs, writers
        self.programs = []
        self.writers = {}
        self.begins = {}  # where the log of each has the last start
        self.killed = set()
        self.children = set()
        self.sleepers = set()
        self.counts = Counter()
        self.diagnostics = []

    # what may go wrong here without being an error: whom it is about may have died just now

    def tool(self, *arguments):
        try:
            self.counts[arguments[0]] += 1
            return self.room.tool(*arguments, check=False)
        except subprocess.TimeoutExpired:
            self.diagnostics.append(f'ctrace {arguments} hangs')
            return None

    # ---- programs

    def start_program(self):
        program = self.room.program(random.choice((1, 2, 3)), CTRACE_JOBNAME='STORM')
        program.lock = threading.Lock()
        program.at_first = descriptors(program.process.pid)
        for order in ('plain', f'pace {random.choice((1000, 2000, 5000))}', 'start'):
            program.ask(order)
        with self.lock:
            self.programs.append(program)

    def kill_program(self, rng):
        with self.lock:
            program = self.programs.pop(rng.randrange(len(self.programs)))
        with program.lock:  # nobody is told half a word by it
            program.process.kill()
            program.process.wait()
        self.killed.add(program.process.pid)
        self.counts['kills of programs'] += 1

    def breed(self, rng):
        with self.lock:
            program = rng.choice(self.programs)
        with program.lock:
            if program.process.poll() is not None:
                return
            order = rng.choice(('child', 'breed 500', 'breed 500'))
            child = int(program.ask(order))
        (self.sleepers if order == 'child' else self.children).add(child)
        self.counts['forks'] += 1

    # ---- writers

    def start_writer(self, name):
        command = [os.path.join(os.environ['CTRACE_BUILD'], 'ctrace'), 'writer', name]
        with open(self.room.at(name + '.log'), 'a', encoding='utf-8') as log:
            self.begins[name] = log.tell()
            writer = subprocess.Popen(command, env=self.room.environment, stderr=log)
        self.room.processes.append(writer)
        self.writers[name] = writer

    def log_of(self, name):
        """What its last start has said."""
        with open(self.room.at(name + '.log'), encoding='utf-8') as log:
            log.seek(self.begins[name])
            return log.read()

    def is_starting(self, name):
        return 'ITT110I' not in self.log_of(name) and self.writers[name].poll() is None

    def disturb_writer(self, rng):
        name = rng.choice(list(WRITERS))
        writer = self.writers[name]
        how = rng.choice(('kill', 'kill', 'term', 'wtrstop', 'pause'))
        if how == 'pause' or rng.random() < 0.3:
            writer.send_signal(signal.SIGSTOP)
            time.sleep(rng.random() * 0.2)
            writer.send_signal(signal.SIGCONT)
            if how == 'pause':
                return
        if how == 'kill':
            writer.kill()
        elif how == 'term':
            writer.terminate()
        elif how == 'wtrstop':
            wait_for_none(lambda: self.is_starting(name))  # else none of that name would be stopped
            self.tool('op', f'TRACE CT,WTRSTOP={name},{rng.choice(("FLUSH", "NOFLUSH"))}')
        if how != 'wtrstop' or rng.random() < 0.5:
            time.sleep(rng.random() * 0.1)
        try:
            writer.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.diagnostics.append(f'{name} does not end after {how}')
            writer.kill()
        self.counts['ends of writers'] += 1
        time.sleep(rng.random() * 0.1)
        self.start_writer(name)

    # ---- actors: each does one thing

    def operate(self, rng):
        with self.lock:
            pid = str(rng.choice(self.programs).process.pid)
        wtr = rng.choice(('WR1', 'WR1', 'WR2', 'DISCONNECT'))
        self.tool(*rng.choice((
            ('op', 'TRACE CT,ON,COMP=WRT', '--reply', f'WTR={wtr},END'),
            ('op', 'TRACE CT,ON,COMP=WRT', '--reply', f'WTR={wtr},END'),
            ('op', 'TRACE CT,ON,COMP=WRT', '--reply', f"OPTIONS=('LEVEL=DEBUG'),WTR={wtr},END"),
            ('op', 'TRACE CT,OFF,COMP=WRT'),
            ('op', 'D TRACE,COMP=WRT,N=5'), ('op', 'D TRACE,WTR=WR1'),
            ('level', 'WRT', 'none', '--pid', pid), ('level', 'WRT', 'debug', '--pid', pid), ('level', 'WRT', 'info'),
            ('dest', 'WRT', '--pid', pid), ('flush', '--pid', pid), ('stats',), ('stats', '--json'))))

    def babble(self, rng):
        """Half frames, no response, requests without end that nobody waits for the answer of, descriptors."""
        paths = glob.glob(self.room.at('run', '*.*', 'control')) + glob.glob(self.room.at('run', 'writer', 'WR?'))
        with socket.socket(socket.AF_UNIX) as peer:
            try:
                directory = os.open(os.path.dirname(rng.choice(paths)), os.O_RDONLY)
                try:
                    peer.connect(f'/proc/self/fd/{directory}/control' if rng.random() < 0.7 else self.room.at('run', 'writer', 'WR1'))
                finally:
                    os.close(directory)
                peer.setblocking(False)
                head = struct.pack('<IHHII', 0x4C525443, 2, rng.randrange(40), 0, rng.randrange(100))
                null = os.open('/dev/null', os.O_RDONLY)
                try:
                    socket.send_fds(peer, [rng.choice((head, head + bytes(90), b'CT', os.urandom(40)))], [null] * rng.choice((1, 2, 3)))
                finally:
                    os.close(null)
                time.sleep(rng.random() * 0.02)
                self.counts['babble'] += 1
            except (OSError, IndexError):
                pass

    def house_keep(self, rng):
        self.tool(*rng.choice((('recover',), ('list',), ('list', '--json'), ('op', 'D R'))))

    def act(self, number, action, rest):
        rng = random.Random(self.seed * 100 + number)
        while not self.stopping:
            try:
                action(rng)
            except Exception:  # pylint: disable=broad-except
                self.diagnostics.append(traceback.format_exc())
                return
            time.sleep(rng.random() * rest)

    def replace_program(self, rng):
        self.kill_program(rng)
        self.start_program()

    # ---- the whole

    def rage(self):
        for name, text in WRITERS.items():
            self.room.procedure(name, text)
            self.start_writer(name)
        for _ in range(PROGRAMS):
            self.start_program()
        actors = [(self.operate, 0.05), (self.operate, 0.05), (self.babble, 0.02), (self.disturb_writer, 0.6), (self.replace_program, 1.5),
                  (self.breed, 0.4), (self.house_keep, 0.3)]
        threads = [threading.Thread(target=self.act, args=(i, *actor)) for i, actor in enumerate(actors)]
        for thread in threads:
            thread.start()
        time.sleep(SECONDS)
        self.stopping = True
        for thread in threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), 'an actor hangs'

    def calm(self):
        """Everybody comes to rest; what is said of each program that lived."""
        said = {}
        for program in self.programs:
            emitted = int(program.ask('stop'))
            assert program.ask('flush') == '0', 'it cannot be flushed'
            said[program.process.pid] = (emitted, program.settle())
        for name, writer in self.writers.items():
            wait_for_none(lambda: self.is_starting(name))  # else it would die of the signal
            writer.terminate()
            status = writer.wait(PATIENCE)
            assert status == 0, f'{name} ended with status {status}: {self.log_of(name)}'
        for program in self.programs:
            assert program.ask('flush') == '0'
            assert program.settle() == said[program.process.pid][1]
            extra = wait_for_none(lambda: descriptors(program.process.pid) - program.at_first)
            assert not extra, f'descriptors that survived: {extra}'
        for child in self.children:
            assert not wait_for_none(lambda: is_running(child)), f'child {child} hangs'
        for program in self.programs:
            assert program.ask('misfits') == '0', 'a child died, or could not flush'
            program.end()
        for child in self.sleepers:
            os.kill(child, signal.SIGKILL)
        return said

    def look(self, said):
        total = 0
        for pid, (emitted, stats) in said.items():
            found = self.entries_of(pid)
            lost = stats[3]
            assert stats[0] == stats[1] + lost and stats[2] == 0, f'{pid}: {stats}'
            assert stats[0] == emitted, f'{pid}: it has made {emitted}, and says {stats}'
            assert sum(found.values()) == stats[1], f'{pid}: {sum(found.values())} entries for {stats}'
            once(pid, found)
            if lost == 0:
                whole(pid, found)
            total += sum(found.values())
        for pid in self.killed | self.children:
            found = self.entries_of(pid)
            once(pid, found)
            whole(pid, found)
            total += sum(found.values())
            assert pid not in self.children or {thread for thread, _ in found} <= {CHILD}, f'child {pid} has its parent\'s entries'
        left = [name for name in os.listdir(self.room.at('run')) if '.' in name]
        assert not left, f'in the run directory there is still {left}'
        return total

    def entries_of(self, pid):
        paths = glob.glob(self.room.at('data*', '*', f'*.{pid}')) + glob.glob(self.room.at('data*', '*', f'*.{pid}.*'))
        paths += glob.glob(self.room.at('logs', f'*.{pid}.ctb*'))
        paths = [path for path in paths if os.path.exists(os.path.join(path, 'metadata'))]  # it was killed before there were any
        if not paths:
            return Counter()
        done = self.room.show(*paths, check=False)
        assert done.returncode == 0 or 'no events' in done.stderr, done.stderr
        return entries(done.stdout)


def once(pid, found):
    assert set(found.values()) <= {1}, f'{pid}: more than once: {[item for item in found.items() if item[1] != 1][:5]}'


def whole(pid, found):
    for thread in {thread for thread, _ in found}:
        numbers = sorted(number for other, number in found if other == thread)
        missing = sorted(set(range(numbers[-1] + 1)) - set(numbers))
        assert not missing, f'{pid}, thread {thread}: {len(missing)} are missing of {numbers[-1] + 1}: {missing[0]} to {missing[-1]}'


def is_running(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as file:
            return file.read().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False


def wait_for_none(look):
    """What is there while it is there, for a while."""
    end = time.monotonic() + PATIENCE
    while (found := look()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def descriptors(pid):
    """What kinds of descriptors a process has, and how many; its own output apart."""
    kinds = Counter()
    for path in glob.glob(f'/proc/{pid}/fd/*'):
        try:
            target = os.readlink(path)
        except OSError:
            continue
        if '/logs/' not in target:
            kinds[re.sub(r'[0-9]+', '#', target)] += 1
    return kinds


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.SystemRandom().randrange(1000000)
    print('1..1')
    print(f'# seed {seed}', flush=True)
    room = Room()
    storm = None
    try:
        with open(room.at('config'), 'w', encoding='ascii') as file:
            file.write('mftrace.dest = BINFILE\nctrace.block.timeout = 60000\nctrace.buffer = 64K\n')
        room.environment['MFTRACE_CONFIG'] = room.at('config')
        random.seed(seed)
        storm = Storm(room, seed)
        storm.rage()
        said = storm.calm()
        room.tool('recover', check=False)
        total = storm.look(said)
        assert not storm.diagnostics, storm.diagnostics[0]
        print(f'# {total} entries; {dict(storm.counts)}')
        print('ok 1 - what is emitted is delivered once, or counted')
        return 0
    except Exception:  # pylint: disable=broad-except
        print('not ok 1 - what is emitted is delivered once, or counted')
        for line in traceback.format_exc().splitlines() + (storm.diagnostics if storm else []):
            print('# ' + line.replace('\n', '\n# '), flush=True)
        if 'CTRACE_TEST_KEEP' in os.environ:
            print(f'# kept: {room.path}')
            room.end = lambda: None
        return 1
    finally:
        for child in storm.sleepers if storm else ():
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        room.end()


if __name__ == '__main__':
    sys.exit(main())
