#!/usr/bin/env python3
"""A stream of three servers, of which some die, are slow, full or cut off, or lose what is on their disks, while a program traces and a
forwarder sends.

The program stands still at certain events while the fault happens, so that each fault meets events before and behind it.  What the
program emitted must be in the stream, or counted; no event twice, each thread in order.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import ctypes
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import battery
from battery import BUILD, LINE, Output, Room, TOOL, form, subject

os.environ.setdefault('CTRACE_BUILD', BUILD)
sys.path.insert(0, os.path.join(battery.HERE, '..', 'process'))
import streams  # noqa: E402

report = battery.Battery('cluster')
TRIALS = 11
EVENTS = int(os.environ.get('BATTERY_EVENTS', form(10**6, 10**8))) // TRIALS
THREADS = 4
HANG_SECONDS = int(os.environ.get('BATTERY_SECONDS', form(300, 1800)))
CLONE_NEWNET = 0x40000000
SHAPED = ('root', 'tbf', 'rate', '80mbit', 'burst', '64kb', 'latency', '2ms')


class Trial:
    """A cluster, a program and a forwarder."""

    def __init__(self, settings=''):
        self.settings = settings

    def __enter__(self):
        self.room = Room(text=False, config='ctrace.block.timeout = 600s\n')
        self.cluster = streams.Streams()
        self.servers, self.address = self.cluster.cluster()
        self.prefix = []
        self.forwarder = self.program = None
        return self

    def __exit__(self, kind, error, *_):
        if kind is TimeoutError:
            error.args = (f'{error}; the forwarder says: {self.said()[-300:]!r}',)
        for process in (self.forwarder, self.program):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        self.cluster.end()
        self.room.__exit__(None, None, None)

    def forward(self):
        with open(self.room.at('forward.log'), 'ab') as log:
            self.forwarder = subprocess.Popen([*self.prefix, TOOL, 'forward', '--follow', self.room.at('out'), self.address + self.settings],
                                              env=self.room.environment(), stdout=log, stderr=log)

    def leader(self):
        """The server that became the stream's leader last."""
        last = []
        for server in self.servers:
            last += [(line.split()[1:3], server) for line in self.cluster.log(server).splitlines()
                     if "new stream leader for '$G > TRACES'" in line and line.startswith('[')]
        return max(last, key=lambda entry: entry[0])[1]

    def stands_still(self):
        with open(f'/proc/{self.program.pid}/stat', encoding='ascii') as file:
            return file.read().rpartition(')')[2].split()[0] == 'T'

    def run(self, faults):
        """The program; each fault between two of its parts."""
        self.program = self.room.start('burst', f'events={EVENTS // THREADS}', f'threads={THREADS}', f'stops={len(faults)}')
        self.forward()
        for at, fault in enumerate(faults):
            until(self.stands_still)
            if at == 0:
                until(self.has_note)
            fault()
            self.program.send_signal(signal.SIGCONT)
        is_killed = self.program.poll() == -signal.SIGKILL
        ended = '' if is_killed else self.room.finish(self.program, HANG_SECONDS)
        if self.room.recover():
            return [self.room.recover()]
        until(self.is_sent)
        self.forwarder.send_signal(signal.SIGTERM)
        status = self.forwarder.wait(HANG_SECONDS)
        wrong = [ended] if ended else []
        if status != 0:
            wrong.append(f'the forwarder: status {status}')
        return wrong + self.room.diagnostics(killed=is_killed, recover=False, outputs=lambda: [('the stream', self.read())])

    def until_said(self, text):
        """The forwarder reports it."""
        until(lambda: text in self.said())

    def has_note(self):
        return glob.glob(self.room.at('out/*/.forwarded.TRACES')) != []

    def is_sent(self):
        """The note has each file in its length."""
        (trace,) = [os.path.dirname(path) for path in glob.glob(self.room.at('out/*/metadata'))]
        if self.forwarder.poll() is not None:
            raise RuntimeError(f'the forwarder ended: {self.said()}')
        sizes = {name: os.path.getsize(os.path.join(trace, name)) for name in os.listdir(trace) if name[0] != '.'}
        try:
            with open(os.path.join(trace, '.forwarded.TRACES'), encoding='ascii') as note:
                sent = {words[0]: int(words[1]) for words in map(str.split, note.readlines()[2:])}
        except FileNotFoundError:
            return False
        return sent == sizes

    def said(self):
        with open(self.room.at('forward.log'), encoding='utf-8', errors='replace') as log:
            return log.read()

    def read(self):
        """What the stream has, without holding it."""
        output = Output()
        copy = self.room.at('copy')
        until(lambda: any(streams.stream_cluster(server).get('leader') for server in self.servers))
        archived = self.room.tool('archive', self.address, copy, seconds=HANG_SECONDS)
        if archived.returncode != 0 or not glob.glob(copy + '/*'):
            output.messages.append(archived.stderr.decode()[:200] or 'the archive is empty')
            return output
        with subprocess.Popen([TOOL, 'show', '--format', LINE, *glob.glob(copy + '/*')], env=self.room.environment(),
                              stdout=subprocess.PIPE) as shown:
            decoded = subprocess.run([subject('decode')], stdin=shown.stdout, capture_output=True, check=False)
        output.take(decoded)
        counted = self.room.tool('stats', '-j', *glob.glob(copy + '/*'), seconds=HANG_SECONDS)
        output.lost = json.loads(counted.stdout.decode().splitlines()[0])['lost']
        shutil.rmtree(copy)
        return output


def until(condition):
    end = time.monotonic() + HANG_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f'this does not become so: {condition.__name__}')
        time.sleep(0.02)


def nothing_happens():
    with Trial() as trial:
        return EVENTS, trial.run([])


def the_program_is_killed():
    with Trial() as trial:
        def kill():
            trial.program.kill()
            trial.program.wait()
        return EVENTS // 2, trial.run([kill])


def the_forwarder_is_killed():
    with Trial() as trial:
        def again():
            trial.forwarder.kill()
            trial.forwarder.wait()
            trial.forward()
        return EVENTS, trial.run([again] * 9)


def one_server_is_killed():
    """Each time the one that leads the stream."""
    with Trial() as trial:
        dead = []

        def kill():
            for server in dead:
                server.start()
                server.until('Server is ready')
            dead[:] = [trial.leader()]
            dead[0].kill()
        return EVENTS, trial.run([kill] * 3)


def all_servers_are_killed():
    with Trial() as trial:
        def kill():
            for server in trial.servers:
                server.kill()

        def start():
            for server in trial.servers:
                server.start()
        return EVENTS, trial.run([kill, start] * 2)


class Stores(Trial):
    """What the servers have on their disks is changed while they are dead, as after a power failure: they acknowledge before they write."""

    def change(self, body, servers=None):
        for server in self.servers:
            server.kill()
        for server in servers or self.servers:
            body(self.cluster.at(server.name))
        for server in self.servers:
            server.start()

    def keep(self):
        self.change(lambda store: shutil.copytree(store, store + '.kept'))
        until(self.end_of_stream)
        self.kept = self.end_of_stream()

    def end_of_stream(self):
        """The number of the last message; 0: no server answers."""
        for server in self.servers:
            with contextlib.suppress(OSError):
                found = re.search(r'"last_seq":([0-9]+)', streams.request(server.port, '$JS.API.STREAM.INFO.TRACES', patience=1))
                if found:
                    return int(found[1])
        return 0

    def has_more(self):
        return self.end_of_stream() > self.kept

    def put_back(self):
        until(self.has_more)

        def body(store):
            shutil.rmtree(store)
            os.rename(store + '.kept', store)
        self.change(body)


def the_stores_go_back():
    with Stores() as trial:
        return EVENTS, trial.run([lambda: None, trial.keep, lambda: None, trial.put_back])


def blocks(store, of):
    """The last block of the stream, or of each log of its servers."""
    found = {}
    for path in sorted(glob.glob(f'{store}/jetstream/{of}/**/msgs/*.blk', recursive=True), key=os.path.getmtime):
        found[os.path.dirname(path)] = path
    assert found, f'{store} has no {of}'
    return found.values()


def ends_are_cut(store):
    """A megabyte of the stream and of the log, or half of what is less."""
    for path in [*blocks(store, '$G/streams/TRACES'), *blocks(store, '$SYS')]:
        size = os.path.getsize(path)
        os.truncate(path, max(size - (1 << 20), size // 2))


def the_ends_of_one_store_are_cut():
    with Stores() as trial:
        return EVENTS, trial.run([lambda: None, lambda: trial.change(ends_are_cut, trial.servers[:1])])


def a_server_is_slow():
    """The leader stands still for a part of the program."""
    with Trial() as trial:
        stopped = []

        def stop():
            stopped[:] = [trial.leader()]
            streams.writer.stop(stopped[0].process)

        def go():
            stopped[0].process.send_signal(signal.SIGCONT)
        return EVENTS, trial.run([stop, go] * 2)


def command(*words):
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


class Cut(Trial):
    """The forwarder is in a network of its own, connected by a pair of interfaces; all within a network that only these processes have."""

    def __enter__(self):
        super().__enter__()
        self.holder = subprocess.Popen(['unshare', '-n', 'sh', '-c', 'echo ready; exec sleep infinity'], stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        self.prefix = ['nsenter', '-t', str(self.holder.pid), '-n']
        made = command('ip', 'link', 'add', 'cut', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', str(self.holder.pid)) and \
            command('ip', 'address', 'add', '10.9.1.1/24', 'dev', 'cut') and command('ip', 'link', 'set', 'cut', 'up') and \
            command(*self.prefix, 'ip', 'address', 'add', '10.9.1.2/24', 'dev', 'eth0') and \
            command(*self.prefix, 'ip', 'link', 'set', 'eth0', 'up')
        if not made:
            self.__exit__(None, None)
            raise OSError('no pair of interfaces can be made')
        self.near = self.address
        return self

    def __exit__(self, *arguments):
        super().__exit__(*arguments)
        command('ip', 'link', 'delete', 'cut')
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()

    def forward(self):
        self.address = self.near.replace('127.0.0.1', '10.9.1.1')
        super().forward()
        self.address = self.near


def the_network_is_cut():
    with Cut() as trial:
        def cut():
            if not command('ip', 'link', 'set', 'cut', 'down'):
                raise OSError('the link cannot be set down')

        def mend():
            # A cut that nobody noticed proves nothing.
            trial.until_said('trying again')
            if not command('ip', 'link', 'set', 'cut', 'up'):
                raise OSError('the link cannot be set up')
        return EVENTS, trial.run([cut, mend])


def the_network_is_slow():
    """10 megabytes a second, and packets that come faster are lost."""
    with Cut() as trial:
        if not command(*trial.prefix, 'tc', 'qdisc', 'add', 'dev', 'eth0', *SHAPED):
            raise OSError('the link cannot be made slow')
        wrong = trial.run([])
        seen = subprocess.run([*trial.prefix, 'tc', '-s', 'qdisc', 'show', 'dev', 'eth0'], capture_output=True, text=True, check=True).stdout
        if 'dropped 0,' in seen:
            wrong.append(f'no packet was lost: {seen!r}')
        return EVENTS, wrong


def the_stream_is_full():
    """It refuses new messages until it is made larger."""
    with Trial() as trial:
        config = {'name': 'TRACES', 'subjects': ['ctrace.*.*.*.*.*'], 'storage': 'file', 'retention': 'limits', 'num_replicas': 3, 'discard': 'new',
                  'max_bytes': EVENTS * 20}  # an event takes some 42
        made = streams.request(trial.servers[0].port, '$JS.API.STREAM.CREATE.TRACES', json.dumps(config))
        if '"error"' in made:
            raise OSError(made)

        def enlarge():
            trial.until_said('maximum bytes exceeded')
            changed = streams.request(trial.servers[0].port, '$JS.API.STREAM.UPDATE.TRACES', json.dumps({**config, 'max_bytes': -1}))
            if '"error"' in changed:
                raise OSError(changed)
        return EVENTS, trial.run([lambda: None, enlarge])


def network_make():
    """Of this process alone.  False: this is not root, or the kernel has none."""
    return ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) == 0 and command('ip', 'link', 'set', 'lo', 'up')


if shutil.which('nats-server') is None:
    print('Bail out! the package nats-server is not installed')
    sys.exit(1)
has_network = network_make()
if has_network:
    streams.Server.listens = '0.0.0.0'
can_slow = has_network and command('tc', 'qdisc', 'add', 'dev', 'lo', *SHAPED) and command('tc', 'qdisc', 'delete', 'dev', 'lo', 'root')
NO_NETWORK = '' if has_network else 'only root may make a network'
for name, body, lacks in (('nothing happens', nothing_happens, ''), ('SIGKILL of the program', the_program_is_killed, ''),
                          ('SIGKILL of the forwarder', the_forwarder_is_killed, ''),
                          ('SIGKILL of all three servers', all_servers_are_killed, ''), ('the stream is full', the_stream_is_full, ''),
                          ('SIGKILL of the server that leads', one_server_is_killed, ''),
                          ('the stores of all three are older', the_stores_go_back, ''),
                          ('the ends of one store are cut', the_ends_of_one_store_are_cut, ''),
                          ('the server that leads stands still', a_server_is_slow, ''),
                          ('the network is cut', the_network_is_cut, NO_NETWORK),
                          ('the network is slow and loses', the_network_is_slow,
                           NO_NETWORK or ('' if can_slow else 'the kernel has no token bucket filter'))):
    if lacks:
        report.skip(name, lacks)
    else:
        report.trial(name, body)
report.end()
