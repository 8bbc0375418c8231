#!/usr/bin/env python3
"""Losses are reported once, in the output that the lost events were bound for.

A storm of events that finds its rings full (ctrace.overflow = discard), with an external writer or the program's own BINFILE, which come and
go meanwhile, or die.  What the outputs report, by ctrace stats, ctrace show and babeltrace2, is what the program has counted, to the event.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import re
import signal
import subprocess
import sys

import writer
from writer import ONE, PATIENCE, Room


class Storm(Room):
    def configure(self, buffer, dest='binfile', data=ONE):
        with open(self.at('app.cfg'), 'w', encoding='ascii') as file:
            file.write(f'mftrace.dest = {dest}\nctrace.overflow = discard\nctrace.buffer = {buffer}\nmftrace.level.OTHER = debug\n')
        self.environment['MFTRACE_CONFIG'] = self.at('app.cfg')
        self.procedure('WR1', data)

    def traces(self, *pattern):
        return sorted(os.path.dirname(path) for path in glob.glob(self.at(*pattern, 'metadata')))

    def data_sets(self):
        return self.traces('data*', '*', '*')

    def own_traces(self):
        return self.traces('logs', '*')

    def sums(self, traces):
        """Events, and events reported as lost; three readers agree on them."""
        viewed = [0, 0]
        for trace in traces:
            count = json.loads(self.tool('stats', '--json', trace, check=False).stdout or '{"count": 0, "lost": 0}')
            shown = self.tool('show', '--format=$(EVENT)', trace, check=False)
            said = re.findall(r'ctrace show: (\d+) events? w(?:as|ere) discarded before being written', shown.stderr)
            assert sum(map(int, said)) == count['lost'], (trace, said, count)
            done = subprocess.run(['babeltrace2', trace], capture_output=True, check=True, timeout=PATIENCE)
            told = sum(int(number) for number in re.findall(rb'discarded (\d+) event', done.stderr))
            assert (done.stdout.count(b'\n'), told) == (count['count'], count['lost']), (trace, told, count)
            viewed[0] += count['count']
            viewed[1] += count['lost']
        return viewed


def after_losses(program, count):
    while program.stats()[3] < count:
        pass


def storm(program, order):
    """Gives the order until events have been lost: on a busy machine the consumer may keep up.  Returns how often it was given."""
    program.ask(order)
    count = 1
    while program.stats()[3] == 0:
        program.ask(order)
        count += 1
    return count


def end(program, *writers):
    """Events delivered and lost, as the program has counted them; then it ends, and so do the writers."""
    program.ask('flush')
    emitted, delivered, pending, lost = program.settle()
    assert emitted == delivered + lost and pending == 0 and lost > 0
    program.end()
    for one in writers:
        one.send_signal(signal.SIGTERM)
        assert one.wait(PATIENCE) == 0
    return [delivered, lost]


def add(first, second):
    return [a + b for a, b in zip(first, second)]


def a_data_set_reports_what_its_rings_lost(room):
    for buffer in ('32K', '64K', '1M'):  # with 1M a thread's ring is replaced twice while it loses
        room.configure(buffer)
        one = room.writer()
        program = room.program(4)
        assert program.ask('on WR1') == '00 '
        before = room.sums(room.data_sets())
        for _ in range(3):
            storm(program, 'run 50000')
        assert add(before, end(program, one)) == room.sums(room.data_sets()), buffer
        assert not room.own_traces()


def neither_output_reports_the_others_losses(room):
    room.configure('64K')
    one = room.writer()
    program = room.program(4)
    program.ask('on WR1')
    turns = storm(program, 'both 50000')
    counted = end(program, one)
    data, own = room.sums(room.data_sets()), room.sums(room.own_traces())
    assert add(data, own) == counted
    assert sum(data) == sum(own) == turns * 200000, (data, own)


def each_destination_reports_what_it_lost(room):
    room.configure('256K', 'binfile, textfile')
    program = room.program(4)
    program.ask('plain')
    for _ in range(3):
        storm(program, 'run 100000')
    counted = end(program)
    assert room.sums(room.own_traces()) == counted
    [text] = [path for path in glob.glob(room.at('logs', '*')) if os.path.isfile(path)]
    with open(text, encoding='utf-8') as file:
        lines = file.read()
    assert len(writer.entries(lines)) == counted[0]
    totals = re.findall(r'(\d+) (?:events? )?(?:lost|discarded)', lines)
    assert int(totals[-1]) == counted[1], (totals, counted)


def the_next_segment_does_not_report_them_again(room):
    room.configure('256K', data='TRCOUT01 PATH=@1 PRIMARY=32M\n')
    one = room.writer()
    program = room.program(3)
    program.ask('on WR1')
    while len(room.traces('data1', '*', '*')) < 4:
        storm(program, 'run 50000')
    assert end(program, one) == room.sums(room.data_sets())


def the_next_run_of_a_writer_does_not_report_them_again(room):
    room.configure('64K')
    first = room.writer()
    program = room.program(3)
    program.ask('on WR1')
    program.ask('start')
    after_losses(program, 1000)
    first.send_signal(signal.SIGTERM)
    assert first.wait(PATIENCE) == 0
    after_losses(program, program.stats()[3] + 10000)
    second = room.writer()
    while len(room.data_sets()) < 2:
        pass
    after_losses(program, program.stats()[3] + 10000)
    program.ask('stop')
    counted = end(program, second)
    assert add(room.sums(room.data_sets()), room.sums(room.own_traces())) == counted


def a_writer_that_is_killed_leaves_none_unreported(room):
    for turn in range(6):
        room.configure('32K')
        one = room.writer()
        program = room.program(3)
        program.ask('on WR1')
        before = add(room.sums(room.data_sets()), room.sums(room.own_traces()))
        program.ask('start')
        after_losses(program, 1 + turn * 2000)  # the first ones before it has an output
        one.kill()
        one.wait()
        after_losses(program, program.stats()[3] + 10000)
        program.ask('stop')
        counted = end(program)
        reported = add(room.sums(room.data_sets()), room.sums(room.own_traces()))
        assert add(before, counted) == reported, (turn, before, counted, reported)


def a_directory_of_another_name_does_not_report_them_again(room):
    room.configure('64K')
    program = room.program(4)
    program.ask('plain')
    storm(program, 'run 50000')
    for name in ('second', 'third'):
        program.ask('flush')
        room.tool('prop', 'emitter:BINFILE', 'FILE', name)
        program.ask('run 50000')
    counted = end(program)
    assert len(room.own_traces()) == 3, room.own_traces()
    assert room.sums(room.own_traces()) == counted


def a_killed_programs_last_losses_are_reported(room):
    """Losses behind the last event of a ring, which later events of other rings do not report."""
    for order in ('on WR1', 'plain'):
        room.configure('32K')
        one = room.writer()
        program = room.program(4)
        program.ask(order)
        before = add(room.sums(room.data_sets()), room.sums(room.own_traces()))
        program.ask('run 50000')
        program.ask('off')
        program.ask('both 1')
        _, delivered, _, lost = program.settle()
        writer.stop(one)
        program.process.kill()
        program.process.wait()
        one.kill()
        one.wait()
        room.tool('recover')
        assert add(before, [delivered, lost]) == add(room.sums(room.data_sets()), room.sums(room.own_traces())), order


TESTS = [value for name, value in list(globals().items()) if callable(value) and getattr(value, '__code__', None) is not None and
         value.__code__.co_varnames[:1] == ('room',)]

if __name__ == '__main__':
    writer.TESTS[:] = TESTS
    writer.Room = Storm
    sys.exit(writer.main())
