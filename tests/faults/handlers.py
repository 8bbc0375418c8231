#!/usr/bin/env python3
"""Signal handlers that trace: in the middle of commands, in the middle of trace calls, and out
of them by siglongjmp().

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import battery
from battery import Room, form

report = battery.Battery('handlers')


def run(*command, lossless=True, thread_buffers=None, unordered=(2,), **config):
    with Room(**config) as room:
        ended = room.run(*command, seconds=20 if not battery.LONG else 300)
        if ended:
            return 1, [f'{ended} at {room.tally().note[0]}']
        wrong = room.diagnostics(lossless=lossless, thread_buffers=thread_buffers, unordered=unordered)
        return max(1, room.tally().begun[2]), wrong


for us in form((500,), (500, 100, 20)):
    report.trial(f'a handler traces during commands, {us} us', run, 'handler_commands', f'us={us}', f'commands={form(1000, 20000)}')
for emitter in ('binfile', 'textfile'):
    report.trial(f'SIGALRM at 20 us with SA_NODEFER beside a busy main line, {emitter}', run, 'handler_main', 'us=20',
                 f'events={form(500000, 2000000)}', f'handlers={form(50000, 2000000)}', text=emitter == 'textfile', binary=emitter == 'binfile', overflow='block',
                 lossless=False)  # an event in a handler that interrupts the trace call of another handler is counted as lost

report.trial('the first event beneath a fast timer, ring of 64 MiB', run, 'handler_main', 'us=20', 'early=1', 'events=20000', text=False,
             buffer='64M', overflow='block', lossless=False)


def jump(jumps, deep):
    """What the jumps left: the main line's 50,000 events are all there, and nothing is counted
    as lost for them.  deep: some of the jumps leave a handler's trace call too, so that events
    of handlers may be counted as lost."""
    with Room(text=False, overflow='block') as room:
        ended = room.run('jump', f'jumps={jumps}', 'events=50000', f'deep={deep}')
        if ended:
            return jumps, [ended]
        wrong = room.diagnostics(lossless=False, unordered=(2,), others=2 * jumps)
        count = room.read_binary().counts.get(3, 0)
        return jumps, wrong if count == 50000 else wrong + [f'{count} of 50000 after the jumps']


for deep in (0, 1):
    for jumps in form((1, 3000), (1, 2, 10, 1000, 100000)):
        report.trial(f'siglongjmp out of {"handlers inside " if deep else ""}trace calls, {jumps} times', jump, jumps, deep)
report.end()
