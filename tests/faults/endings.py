#!/usr/bin/env python3
"""Ends of a process: at every write, at every instruction, beside a restart, with counts that
only the ring has.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import os

import battery
from battery import Room, form

report = battery.Battery('endings')


# ---- SIGKILL at every write ----

WRITES = {
    'BINFILE': ({'text': False}, ('trickle', 'events=12')),
    'TEXTFILE': ({'binary': False}, ('trickle', 'events=12')),
    'both': ({}, ('trickle', 'events=12')),
    'BINFILE in bursts': ({'text': False}, ('burst', 'events=8000', 'threads=3')),
    'BINFILE with generations': ({'text': False, 'generations': (200, 64)}, ('burst', 'events=8000')),
    'TEXTFILE with generations': ({'binary': False, 'generations': (200, 64)}, ('burst', 'events=8000')),
}


def at_every_write(options, command):
    with Room(**options) as room:
        ended = room.run(*command, preload=['killwrite'], BATTERY_COUNT=room.at('count'), BATTERY_KILL_PATH=room.at('out'))
        if ended:
            return 0, [ended]
        with open(room.at('count'), encoding='ascii') as file:
            writes = int(file.read())
    if writes < 3:
        return writes, [f'{writes} writes seen: the destinations write by another call']
    # The short form takes the first ones, where files begin, and a few of the others.
    step = form(max(1, writes // 4), 1 if writes < 400 else writes // 400)
    points = sorted(set(range(1, form(5, 60))) | set(range(1, writes + 1, step)))
    runs, wrong = 0, []
    for n in points:
        for part in (0, 1, 2):
            with Room(**options) as room:
                ended = room.run(*command, preload=['killwrite'], BATTERY_KILL=f'{n},{part}', BATTERY_KILL_PATH=room.at('out'))
                found = [] if ended in ('', 'killed by SIGKILL') else [ended]
                found += room.diagnostics(killed=True)
                if glob.glob(room.at('run/[0-9]*')):
                    found.append('the process is not recovered')
                if n < 5:
                    found += next_run(room)
                wrong += [f'write {n} part {part}: {w}' for w in found]
                runs += 1
    return runs, wrong


def next_run(room):
    """What a kill left does not poison the name: the next run's events are found by it."""
    room.run('burst', 'events=50', 'thread_buffer=9')
    return [f'{name}: {output.counts.get(9, 0)} of 50 of the next run by the configured name'
            for name, output in room.outputs() if output.counts.get(9, 0) != 50]


def recoverer_at_every_write(options, command):
    """The same for the one who recovers; the next one brings it to its end."""
    runs, wrong = 0, []
    for n in form((1, 2, 4), range(1, 60)):
        for part in (0, 1, 2):
            with Room(**options) as room:
                room.run(*command, preload=['killwrite'], BATTERY_KILL='2,1', BATTERY_KILL_PATH=room.at('out'))
                room.tool('recover', LD_PRELOAD=battery.library('killwrite'), BATTERY_KILL=f'{n},{part}',
                          BATTERY_KILL_PATH=room.at('out'))
                runs += 1
                wrong += [f'write {n} part {part}: {w}' for w in room.diagnostics(killed=True)]
    return runs, wrong


for name, (options, command) in WRITES.items():
    report.trial(f'SIGKILL at every write, {name}', at_every_write, options, command)
for name in ('BINFILE in bursts', 'BINFILE with generations', 'TEXTFILE with generations'):
    report.trial(f'SIGKILL of the recoverer at its writes, {name}', recoverer_at_every_write, *WRITES[name])


# ---- SIGKILL at every instruction ----

STEPS = {  # path: room, runs of the short form, instructions of run number i, other options of it
    'plain': ({}, 20, lambda i: 1 + i * 9, lambda i: ()),
    'slow': ({}, 15, lambda i: 1 + i * 31, lambda i: ()),
    'wrap': ({'buffer': '64K', 'overflow': 'block'}, 20, lambda i: 40 + i * 137 % 1900, lambda i: (f'before={300 + i * 67 % 1700}', 'calls=24')),
    'discard': ({'buffer': '64K', 'overflow': 'discard'}, 10, lambda i: 1 + i * 19, lambda i: ()),
    'overwrite': ({'buffer': '64K', 'overflow': 'overwrite'}, 10, lambda i: 1 + i * 19, lambda i: ()),
    'nested': ({}, 15, lambda i: 20 + i * 37, lambda i: (f'signal_at={10 + i * 18}', 'calls=4')),
    'first': ({'buffer': '64K'}, 12, lambda i: 1 + i * 900 * (1 + i), lambda i: ()),
}


def at_every_instruction(path, options, runs, instructions, more):
    """The subject steps a child of its own through a call and kills it after so many
    instructions; status 3 when the call had returned first.  The long form takes every
    instruction, but for the first event of a process, which has a million."""
    done, wrong, returned = 0, [], False
    runs = form(runs, 2000)
    while done < runs and not returned:
        count = instructions(done) if not battery.LONG or path in ('wrap', 'nested', 'first') else 1 + done
        preload = ['hold'] if path in ('discard', 'overwrite') else []
        with Room(text=False, **options) as room:
            ended = room.run(path, f'instructions={count}', *more(done), program='step', preload=preload, BATTERY_HOLD='1,stream')
            # Of several calls some are behind the last instruction in some runs: no end of the
            # trial.
            returned = ended.startswith('status 3') and not more(0)
            if ended and not ended.startswith('status 3'):
                return done, [f'{ended} after {count} instructions']
            done += 1
            wrong += [f'after {count} instructions: {w}' for w in
                      room.diagnostics(killed=True, lossless=path not in ('discard', 'overwrite'), unordered=(2,))]
    return done, wrong


for path, row in STEPS.items():
    report.trial(f'SIGKILL at every instruction, {path}', at_every_instruction, path, *row)


# ---- counts of loss that only the ring has ----

def only(emitter):
    return {'text': emitter == 'TEXTFILE', 'binary': emitter == 'BINFILE'}


def counts_survive(emitter, overflow, again, events):
    """The output is held, the ring is full many times over, then SIGKILL: what is recovered and
    what is counted is all.  again: the consumer has seen the loss already, and is in the write
    that was to tell of it."""
    with Room(buffer='64K', overflow=overflow, **only(emitter)) as room:
        more = {'BATTERY_HOLD_AGAIN': '1'} if again else {}
        first = '1,stream' if emitter == 'BINFILE' else '2,out.log'  # TEXTFILE writes its header first
        ended = room.run('held', f'events={events}', f'again={int(again)}', 'flush=0', 'stats=0', 'end=1', preload=['hold'],
                         BATTERY_HOLD=first, **more)
        wrong = [] if ended == 'killed by SIGKILL' else [ended]
        return 1, wrong + room.diagnostics(killed=True, lossless=False)


def counts_of_a_burst(emitter, overflow):
    """A producer that outruns the output is killed in its burst, another length each time."""
    wrong, rounds = [], form(8, 500)
    for i in range(rounds):
        with Room(buffer='64K', overflow=overflow, **only(emitter)) as room:
            ended = room.run('burst', f'events={10000 + i * 737}', 'flush=0', 'stats=0', 'end=1')
            wrong += [] if ended == 'killed by SIGKILL' else [ended]
            wrong += [f'{10000 + i * 737} events: {w}' for w in room.diagnostics(killed=True, lossless=False)]
    return rounds, wrong


def counts_alone(emitter):
    """Everything is delivered; then events are lost, and there is none behind them that could
    tell of it."""
    with Room(**only(emitter)) as room:
        ended = room.run('oversize', 'flush=0', 'stats=0', 'end=1')
        wrong = [] if ended == 'killed by SIGKILL' else [ended]
        return 1, wrong + room.diagnostics(killed=True, lossless=False)


for emitter in ('BINFILE', 'TEXTFILE'):
    for overflow in ('overwrite', 'discard'):
        for again in (False, True):
            report.trial(f'counts of loss survive SIGKILL, {emitter}, {overflow}{", seen by the consumer" if again else ""}',
                         counts_survive, emitter, overflow, again, form(20000, 1000000))
        report.trial(f'counts of loss survive SIGKILL, {emitter}, {overflow}, in a burst', counts_of_a_burst, emitter, overflow)
    report.trial(f'counts of loss survive SIGKILL, {emitter}, nothing to recover', counts_alone, emitter)


# ---- the same FILE in the next run ----

def restart(how, options):
    """FILE without $(PID): killed, and started again with the same name.  Every run goes on
    with the thread_buffers of the one before."""
    with Room(**options) as room:
        wrong = []
        for run in range(form(2, 10)):
            if how == 'recovering' and run > 0:
                # It is killed in the middle of what the first one left, before it has opened its own.
                ended = room.run('held', 'events=3000', 'flush=0', 'stats=0', 'end=1', preload=['hold'],
                                 BATTERY_HOLD='1,out.log' if room.text else '1,stream')
            elif how in ('in a write', 'recovering'):
                ended = room.run('burst', 'events=6000', 'threads=2', preload=['killwrite'], BATTERY_KILL='3,1', BATTERY_KILL_PATH=room.at('out'))
            else:
                ended = room.run('burst', 'events=3000', 'threads=2', 'end=1', 'flush=' + ('1' if how == 'delivered' else '0'))
            if 'SIGKILL' not in ended:
                wrong.append(f'not killed: {ended}')
        ended = room.run('burst', 'events=1000', 'threads=2')
        wrong += [ended] if ended else []
        wrong += [room.recover()] if room.recover() else []
        kept = sorted(glob.glob(room.at('out/out*.ctb*')))
        logs = sorted(glob.glob(room.at('out/out*.log*')), key=lambda p: os.stat(p).st_mtime_ns)

        def outputs():
            found = []
            if room.binary:
                found.append(('binfile', room.read_binary(*kept)))
            if room.text:
                found.append(('textfile', room.read_text(*logs)))
            return found
        if room.text and len(logs) != 1:
            wrong.append(f'textfile: events beside the name: {[os.path.basename(p) for p in logs]}')
        return form(3, 11), wrong + room.diagnostics(killed=True, recover=False, slack=form(2, 10), outputs=outputs)


for how in ('delivered', 'undelivered', 'in a write', 'recovering'):
    report.trial(f'restart with the same name, {how}, BINFILE', restart, how, {'text': False})
    report.trial(f'restart with the same name, {how}, TEXTFILE', restart, how, {'binary': False})
report.end()
