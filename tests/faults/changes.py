#!/usr/bin/env python3
"""What changes under a process: its user, its clock, its own files in the run directory.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import re

import battery
from battery import BUILD, NOBODY, Room, form

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
        ended = room.run('trickle' if every < 100 else 'burst', f'events={form(300, 3000) if every < 100 else 60000}', preload=['clockshift'],
                         BATTERY_CLOCK=f'{every},{seconds}')
        wrong = [ended] if ended else room.diagnostics()
        # A burst may be over before the clock has stepped.
        for name, output in room.outputs() if every < 100 else []:
            if not re.search('clock (was )?set', output.said, re.IGNORECASE):
                wrong.append(f'{name}: nothing says that the clock stepped')
        return 1, wrong


def others_may_enter(directory):
    """The programs of the build can be started by a user who is not root."""
    while directory != '/' and os.stat(directory).st_mode & 0o001:
        directory = os.path.dirname(directory)
    return directory == '/'


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


if os.geteuid() == 0:
    for emitter in ('textfile', 'binfile'):
        report.trial(f'a process leaves root behind, {emitter}', drop, emitter)
else:
    report.skip('a process leaves root behind', 'only root can')
for every, seconds in form(((20, 3600), (20, -3600), (400, 3600)), ((1, 3600), (20, 3600), (20, -3600), (7, 86400), (400, -3600))):
    for emitter in ('binfile', 'textfile'):
        report.trial(f'the clock steps {seconds} s and back at each {every}th look, {emitter}', clock, every, seconds, emitter)
for what in ('ring', 'session'):
    if os.geteuid() == 0 and not others_may_enter(BUILD):
        report.skip(f'{what} truncated under a live process', 'no other user may enter the build directory')
    else:
        report.trial(f'{what} truncated under a live process', truncated, what)
report.end()
