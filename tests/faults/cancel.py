#!/usr/bin/env python3
"""Threads that are cancelled inside trace calls and commands: every other thread, and fork(),
goes on.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import battery
from battery import Room, form

report = battery.Battery('cancel')


def run(*command, lossless=True, **config):
    with Room(**config) as room:
        ended = room.run(*command, seconds=20)
        if ended:
            return 1, [ended + f' at {room.tally().note[0]}']
        return 1, room.diagnostics(lossless=lossless, unordered=(1,), thread_buffers=None if lossless else ())


report.trial('pending at the first event of a thread', run, 'cancel', f'rounds={form(3, 50)}', pid=True, text=False)
report.trial('pending at the first event of the process', run, 'cancel', 'attached=0', pid=True, text=False)
report.trial('pending at each command', run, 'cancel_commands', pid=True, text=False)


def asynchronous():
    """An event that was being traced when its thread was cancelled may be missing: the thread_buffer of
    the victims is not counted."""
    with Room(text=False, pid=True) as room:
        ended = room.run('cancel_async', f'rounds={form(50, 1000)}', seconds=20)
        return form(50, 1000), [ended] if ended else room.diagnostics(unordered=(1,), thread_buffers=(3, 4, 5))


report.trial('asynchronous, inside trace calls', asynchronous)
report.end()
