#!/usr/bin/env python3
"""fork(), exit() and the loader's lock: the process ends, whatever another thread is in the
middle of.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import battery
from battery import Room, form

report = battery.Battery('forks')


def beside_exit():
    """Where exit() meets the fork depends on how many forks there were and on how long the main
    thread spins behind them."""
    rounds, wrong = form(60, 3000), []
    for i in range(rounds):
        with Room(text=False, pid=True) as room:
            ended = room.run('fork_exit', f'forks={3 + i % 7}', f'spin={i * 331 % 20000}', f'megabytes={i % 4 * 16}', seconds=20)
            if ended:
                return i + 1, [ended]
            if i % 10 == 0:
                wrong += room.diagnostics()
    return rounds, wrong


def constructor(dest):
    with Room(text=dest == 'TEXTFILE', config='' if dest == 'TEXTFILE' else f'mftrace.dest = {dest}\n') as room:
        ended = room.run('constructor', seconds=20, BATTERY_PLUGIN=battery.library('constructor'))
        # Where there is no journal that destination fails, which is another trial's matter.
        return 1, [ended] if ended else room.diagnostics() if dest == 'TEXTFILE' else []


report.trial('a loop of forks beside exit()', beside_exit)
for emitter in ('TEXTFILE', 'JOURNAL'):
    report.trial(f'a constructor traces beside the first event, {emitter}', constructor, emitter)
report.end()
