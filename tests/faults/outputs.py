#!/usr/bin/env python3
"""Destinations that fail, fill or hang: each costs its own events and nobody else's.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import re
import fcntl
import os
import shutil
import select
import subprocess

import battery
from battery import Room, form

report = battery.Battery('outputs')

EVENTS = form(200000, 1000000)


def one_cannot_be_opened(healthy):
    """The other one's FILE is an absolute path in a directory that cannot be made."""
    failing = 'textfile' if healthy == 'binfile' else 'binfile'
    with Room(config=f'mftrace.emitter.{failing}#file = /proc/none/out\n') as room:
        ended = room.run('burst', f'events={EVENTS}', 'flush_ms=2000', 'end=2')
        wrong = [ended] if ended else []
        room.recover()
        room.text, room.binary = healthy == 'textfile', healthy == 'binfile'
        tally = room.tally()
        # The process's own statistics count what the failing destination lost; the healthy one's
        # file must know of no loss.
        wrong += room.diagnostics(killed=True, recover=False)
        if tally.emitted != tally.delivered + tally.pending + sum(tally.lost):
            wrong.append(f'statistics: emitted {tally.emitted}, delivered {tally.delivered}, pending {tally.pending}, lost {tally.lost}')
        return 1, wrong


def one_component_alone(failing):
    """The destination that cannot be opened is one component's; the other one has nothing to do
    with it."""
    with Room(text=failing == 'binfile', binary=failing == 'textfile', config=f'mftrace.emitter.{failing}#file = /proc/none/out\n'
              f'mftrace.dest.second = ({failing})\n') as room:
        ended = room.run('two', f'events={EVENTS // 2}', 'flush_ms=2000', 'end=2')
        room.recover()
        return 1, [ended] if ended else room.diagnostics(thread_buffers=(1,), killed=True, recover=False)


def orphans_leave(room, count, shared):
    """Dead processes that have delivered nothing.  They die together: none is recovered by the
    next one."""
    config, alive = room.at('config'), []
    with open(config, encoding='ascii') as file:
        kept = file.read()
    for i in range(count):
        name = room.at('shared.log' if shared else f'stuck.{i}.log')
        with open(config, 'w', encoding='ascii') as file:
            file.write('mftrace.level = debug\nmftrace.dest = textfile\n' + f'mftrace.emitter.textfile#file = {name}\n'
                       + ('mftrace.emitter.textfile#multiproc = on\n' if shared else ''))
        process = room.start('wait', 'events=500', preload=['hold'], BATTERY_HOLD='1,.log')
        ready(process)
        alive.append(process)
    for process in alive:
        process.kill()
    for process in alive:
        room.finish(process)
    with open(config, 'w', encoding='ascii') as file:
        file.write(kept)
    os.remove(room.at('tally'))
    return [] if orphans_count(room) == count else [f'{orphans_count(room)} orphans to begin with']


def orphans_count(room):
    return len([n for n in os.listdir(room.at('run')) if n[0].isdigit()])


def hung_orphans(how):
    """Ten orphans that cannot be delivered; a new process's own 60,000 events are all delivered
    while it runs."""
    with Room(text=False, overflow='block') as room:
        handle, environment, preload = None, {}, []
        wrong = orphans_leave(room, 10, how == 'locked')
        if how == 'locked':
            handle = open(room.at('shared.log'), 'a', encoding='ascii')
            fcntl.flock(handle, fcntl.LOCK_EX)
        elif how == 'FIFO':
            for i in range(10):
                if os.path.exists(room.at(f'stuck.{i}.log')):
                    os.remove(room.at(f'stuck.{i}.log'))
                os.mkfifo(room.at(f'stuck.{i}.log'))
        else:
            environment, preload = {'BATTERY_HOLD': '1,stuck,' + ('600000' if how == 'hangs' else '1500')}, ['hold']
        # end=2: what the consumer has not written when ctrace_flush() gives up is not there.
        ended = room.run('burst', 'events=60000', 'end=2', 'flush_ms=20000', preload=preload, **environment)
        if handle:
            handle.close()
        return 1, wrong + ([ended] if ended else room.diagnostics(recover=False))


def hung_and_gone(count):
    """A process that lives shortly beside orphans that hang comes to its end, and has delivered
    everything."""
    with Room(text=False, pid=True) as room:
        wrong = orphans_leave(room, 3, False)
        for _ in range(count):
            ended = room.run('burst', 'events=1000', 'flush=0', preload=['hold'], BATTERY_HOLD='1,stuck,600000', seconds=20)
            wrong += [ended] if ended else []
        return count, wrong + room.diagnostics(recover=False)


def module(what):
    """A module of this kind beside BINFILE: BINFILE has every event, and calls come back."""
    with Room(text=False, config='mftrace.dest = HANG\n') as room:
        directory = room.at('emitters')
        os.mkdir(directory, 0o755)
        shutil.copy(battery.library('hang'), os.path.join(directory, 'hang.so'))
        process = room.start('hung', f'events={form(100000, 1000000)}', 'end=2', 'flush_ms=3000', CTRACE_EMITTERS=directory,
                             BATTERY_EMITTER=what)
        wrong = []
        if what == 'crash':
            ended = room.finish(process)
            room.recover()  # without the module: that of a program that crashes is not loaded again
            return 1, ([] if 'SIGKILL' in ended else [f'did not crash: {ended}']) + room.diagnostics(killed=True, recover=False)
        shown = ''
        if ready(process):
            shown = room.tool('list', '-j', '-p', str(process.pid)).stdout.decode() + room.tool('list').stdout.decode()
        else:
            wrong.append(f'no answer after step {room.tally().note[0]}')
        ended = room.finish(process, 20, b'x')
        wrong += [ended] if ended else []
        if what == 'hang' and not wrong and not re.search('cut.?off|does not (return|answer)', shown, re.IGNORECASE):
            wrong.append('`ctrace list` does not say which destination is cut off')
        return 1, wrong + room.diagnostics(killed=True, recover=False, thread_buffers=(1,))


def ready(process, seconds=30):
    """Waits for the subject's line on its standard output; false when it does not come."""
    found, _, _ = select.select([process.stdout], [], [], seconds)
    return bool(found) and process.stdout.readline().startswith(b'ready')


def closed_descriptors(rounds):
    """The program closes all descriptors and opens files of its own: none of them ever has a
    byte of ours."""
    with Room(generations=(4, 64)) as room:
        ended = room.run('closer', f'rounds={rounds}', 'flush_ms=2000', seconds=battery.HANG_SECONDS + rounds)  # a flush of 200 ms a round
        return rounds, ([ended] if ended else []) + own_files(room)


def own_file_everywhere(processes):
    """The program puts its own file at every number while its threads get their buffers: no memory
    of ours is ever that file, so nothing ends the program."""
    wrong = []
    for _ in range(processes):
        with Room(generations=(4, 64)) as room:
            ended = room.run('closer', 'rounds=6', 'everywhere=1', 'flush_ms=2000')
            wrong += ([ended] if ended else []) + own_files(room)
    return processes, wrong


def closed_while_held(path, n, **options):
    """The same while a write of ours is held between what checks the descriptor and the system
    call."""
    with Room(**options) as room:
        ended = room.run('closer', 'rounds=1', 'flush_ms=2000', preload=['hold'], BATTERY_HOLD=f'{n},{path}')
        done = room.tally().note[0]
        return 1, ([ended] if ended else [] if done else ['nothing was held']) + own_files(room)


def own_files(room):
    wrong = []
    for name in os.listdir(room.at('own')):
        with open(room.at('own/' + name), 'rb') as file:
            data = file.read()
        if data != b"this file is the program's own\n":
            wrong.append(f'a file of the program has {len(data)} bytes: {data[:40]!r}')
    return wrong


def held_at_opening(path, **options):
    """The first write of a destination hangs: trace calls, statistics and the other one's
    events do not wait for it."""
    with Room(overflow='discard', **options) as room:
        ended = room.run('held', 'events=3000', 'flush=0', 'end=2', seconds=20, preload=['hold'], BATTERY_HOLD=f'1,{path}')
        return 1, [ended] if ended else room.diagnostics(killed=True, lossless=False)


def full_disk(emitter, overflow):
    """1 MiB of space for four times as much: what is there is whole, the rest is counted or
    waits."""
    with Room(text=emitter == 'textfile', binary=emitter == 'binfile', overflow=overflow) as room:
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', room.at('out')], check=False, capture_output=True).returncode:
            raise OSError('tmpfs cannot be mounted')
        try:
            ended = room.run('burst', 'threads=4', f'events={form(40000, 250000)}', 'flush_ms=1000')
            # Space again: what waits is delivered.
            subprocess.run(['mount', '-o', 'remount,size=64m', room.at('out')], check=True)
            return 1, [ended] if ended else room.diagnostics(lossless=False)
        finally:
            subprocess.run(['umount', room.at('out')], check=False)


for emitter in ('textfile', 'binfile'):
    report.trial(f'{emitter} beside one that cannot be opened', one_cannot_be_opened, emitter)
for emitter in ('textfile', 'binfile'):
    report.trial(f'{emitter} of another component cannot be opened', one_component_alone, emitter)
for how in ('locked', 'FIFO', 'slow', 'hangs'):
    report.trial(f'ten orphans, output {how}', hung_orphans, how)
report.trial('short-lived processes beside orphans that hang', hung_and_gone, form(2, 20))
report.trial('the first write of BINFILE hangs', held_at_opening, 'metadata', text=False)
report.trial('the first write of TEXTFILE hangs', held_at_opening, 'out.log', binary=False)
for what in ('slow', 'crash', 'hang'):
    report.trial(f'a module beside BINFILE: {what}', module, what)
report.trial('all descriptors closed, own files opened', closed_descriptors, form(40, 300))
report.trial('an own file at every number', own_file_everywhere, form(20, 200))
for name, text, n, options in (('BINFILE', 'stream', 3, {'text': False}), ('TEXTFILE', 'out.log', 3, {'binary': False}),
                               ('BINFILE with generations', 'stream', 5, {'text': False, 'generations': (4, 64)}),
                               ('TEXTFILE with generations', '.log', 5, {'binary': False, 'generations': (4, 64)})):
    report.trial(f'all descriptors closed while {name} is in a write', closed_while_held, text, n, **options)
for emitter in ('textfile', 'binfile'):
    for overflow in ('block', 'discard'):
        if os.geteuid() == 0:
            report.trial(f'full disk, {emitter}, {overflow}', full_disk, emitter, overflow)
        else:
            report.skip(f'full disk, {emitter}, {overflow}', 'only root may mount a small disk')
report.end()
