#!/usr/bin/env python3
"""What changes under a process: its user, its clock, its own files in the run directory.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import sys

import battery
from battery import BUILD, NOBODY, Room, form

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
from disk import others_may_enter  # pylint: disable=wrong-import-position

report = battery.Battery('changes')


def drop(emitter):
    """Attached as root, then another user: threads and children that come later trace, too."""
    with Room(text=emitter == 'textfile', binary=emitter == 'binfile', pid=True, place='/tmp') as room:
        for name in ('out', '.'):
            os.chown(room.at(name), NOBODY, NOBODY)
        os.close(os.open(room.at('tally'), os.O_CREAT, 0o666))
        os.chmod(room.at('tally'), 0o666)
        ended = room.run('drop', f'events={form(1000, 20000)}')
        return 1, [ended] if ended else room.diagnostics(lossless=emitter == 'textfile')


def clock(every, seconds, emitter):
    """In each thread_buffer the order is that of the calls, whatever the clock does; the trace says that
    it stepped."""
    with Room(text=emitter == 'textfile', binary=emitter == 'binfile') as room:
        ended = room.run('trickle' if every < 100 else 'burst', f'events={form(300, 3000) if every < 100 else 60000}', preload=['oddclock'],
                         ODD_CLOCK=f'{every},{seconds}')
        wrong = [ended] if ended else room.diagnostics()
        # A burst may be over before the clock has stepped.
        for name, output in room.outputs() if every < 100 else []:
            if not re.search('clock (was )?set', output.said, re.IGNORECASE):
                wrong.append(f'{name}: nothing says that the clock stepped')
        return 1, wrong


def ticks(how, source, emitter):
    """The clock of the events jumps, stands still, or has another rate, as after a suspend, a restored snapshot, a move to another host.
    The law holds, and nothing waits for the clock.  CLOCK_MONOTONIC never goes back, and its rate is that of CLOCK_BOOTTIME;
    limits of time go by it.  So when it is odd nevertheless, events may be lost by a reason.  A thread's two rings may be in any order then, and
    where all events have the same time."""
    is_counter = source == 'counter'
    odd = 'ODD_COUNTER' if is_counter else 'ODD_KERNEL'
    wrong = []
    # What jumps between two readings of the clocks more than once cannot be dated, and a busy machine may keep the consumer thread from reading
    # them during a burst: the clock jumps once there.
    for mode, events, every in (('trickle', form(200, 3000), 500), ('burst', 20000, 15000)):
        with Room(f'ctrace.clock = {source}\n', text=emitter == 'textfile', binary=emitter == 'binfile') as room:
            ended = room.run(mode, f'events={events}', preload=['oddclock'], **{odd: f'{every},{how}' if how[-1].isdigit() else how})
            wrong += [f'{mode}: {line}' for line in ([ended] if ended else room.diagnostics(lossless=is_counter, unordered=() if is_counter and how != 'still' else (1,)))]
    return 2, wrong


def truncated(what):
    """A user's own process, its ring or session cut short from outside: the program lives, and
    comes to its end.  The count is that of the files that were tried; those that refuse to be
    cut are as good."""
    with Room(text=False, place='/tmp') as room:
        for name in ('out', 'run', '.', 'own', 'config'):
            if os.geteuid() == 0:
                os.chown(room.at(name), NOBODY, NOBODY)
        ended = room.run('truncate', f'events={form(5000, 50000)}', 'flush_ms=3000', BATTERY_WHAT=what, user=NOBODY if os.geteuid() == 0 else None)
        return int(room.tally().note[0]), [ended] if ended else []


def truncated_often(what):
    """By somebody whom the mode of the files does not stop, while two threads store into them."""
    with Room('ctrace.dump.on = fatal-signal\n', text=False) as room:
        often = form(50, 500)
        ended = room.run('truncate', f'events={form(5000, 50000)}', 'flush_ms=3000', f'often={often}', BATTERY_WHAT=what)
        files, cut = (int(number) for number in room.tally().note[:2])
        return files, [ended] if ended else [] if cut == files >= often else [f'{cut} of {files} files were cut']


if os.geteuid() == 0:
    for emitter in ('textfile', 'binfile'):
        report.trial(f'a process leaves root behind, {emitter}', drop, emitter)
else:
    report.skip('a process leaves root behind', 'only root can')
for every, seconds in form(((20, 3600), (20, -3600), (400, 3600)), ((1, 3600), (20, 3600), (20, -3600), (7, 86400), (400, -3600))):
    for emitter in ('binfile', 'textfile'):
        report.trial(f'the clock steps {seconds} s and back at each {every}th look, {emitter}', clock, every, seconds, emitter)
for source in ('counter', 'monotonic') if os.uname().machine == 'x86_64' else ():
    for how, name in (('still', 'stands still'), ('3600', 'jumps an hour ahead and back'), ('-300', 'jumps 5 minutes back and ahead'),
                      ('twice', 'is twice as fast')):
        for emitter in ('binfile', 'textfile'):
            report.trial(f'the {source} clock {name}, {emitter}', ticks, how, source, emitter)
for what in ('ring', 'session'):
    if os.geteuid() == 0 and not others_may_enter(BUILD):
        report.skip(f'{what} truncated under a live process', 'no other user may enter the build directory')
    else:
        report.trial(f'{what} truncated under a live process', truncated, what)
for what in ('ring.0', 'session'):
    report.trial(f'{what} truncated again and again under a live process that notes signals', truncated_often, what)
report.end()
