#!/usr/bin/env python3
"""After its first event a thread meets no page fault and no system call of ctrace while its ring grows to the full size; batches ask the
file system once.

strace counts the system calls of the traced thread, the kernel its page faults, both between two calls of getrusage().  How soon the consumer
thread has its turn depends on the machine's other work, and a thread that is too fast for it makes its ring itself; so one run of many has to
be without.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

BUILD = os.environ['CTRACE_BUILD']
SUBJECT = f'{BUILD}/tests/first_events_subject'
HEAD = 8192
TRIES = 40
LOOKS_BESIDE = 100  # of opening and closing the output, and of four rings
checks = tap.Tap(is_live=True)

# configuration, size of the ring in the end, events, ns between two, arguments
CASES = {
    'block, 1 MiB': ('mftrace.dest = binfile\nctrace.overflow = block\n', 1 << 20, 100000, 1000),
    'block, 8 MiB': ('mftrace.dest = binfile\nctrace.overflow = block\nctrace.buffer = 8m\n', 8 << 20, 100000, 1600),
    'discard, 256 KiB': ('mftrace.dest = binfile\nctrace.overflow = discard\nctrace.buffer = 256k\n', 256 << 10, 30000, 1000),
    'text': ('mftrace.dest = textfile\n', 1 << 20, 60000, 2000),
    'overwrite, in storage': ('mftrace.dest = storage\n', 1 << 20, 60000, 1000),
    'rings of its own': ('mftrace.dest = binfile\nctrace.buffer.FIRST = 512k\nctrace.overflow.FIRST = overwrite\n', 512 << 10, 60000, 1000),
    'a second thread': ('mftrace.dest = binfile\n', 1 << 20, 60000, 1000, 'thread'),
    'a forked child': ('mftrace.dest = binfile\n', 1 << 20, 60000, 1000, 'fork'),
}


def run(events, pace, arguments):
    """Page faults and system calls of the measured thread, and the sizes of the files that other threads made meanwhile."""
    done = subprocess.run(['strace', '-f', '-qq', '-o', 'strace.out', SUBJECT, str(events), str(pace), *arguments], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    with open('strace.out') as file:
        lines = file.read().splitlines()
    marks = [i for i, line in enumerate(lines) if ' getrusage(RUSAGE_THREAD' in line]
    thread = lines[marks[0]].split()[0]
    calls = [line for line in lines[marks[0] + 1:marks[1]] if line.split()[0] == thread and '<... getrusage' not in line]
    # a large file is allocated in pieces
    made = {int(at) + int(size): line.split()[0] for line in lines for at, size in re.findall(r' fallocate\(\d+, 0, (\d+), (\d+)', line)}
    return int(done.stdout), calls, [size for size, maker in made.items() if maker != thread]


def try_case(name, configuration, size, events, pace, *arguments):
    with open('cfg', 'w') as file:
        file.write('mftrace.level = info\nmftrace.emitter.binfile#file = x.ctb\nmftrace.emitter.textfile#file = x.log\n' + configuration)
    os.environ['MFTRACE_CONFIG'] = os.path.abspath('cfg')
    for _ in range(TRIES):
        faults, calls, made = run(events, pace, arguments)
        if faults == 0 and not calls and HEAD + size in made:
            break
    checks.check(name, faults == 0 and not calls and HEAD + size in made, f'{faults} page faults, files made of {made}', *calls[:20])


def looks_at_files():
    """A batch of a BINFILE asks the file system once: fstat() of the stream, and its pwritev().  Rings that are made meanwhile ask, too."""
    try_case('block, for its batches', *CASES['block, 1 MiB'])
    with open('strace.out') as file:
        lines = file.read().splitlines()
    writers = {line.split()[0] for line in lines if ' pwritev(' in line}
    writes = sum(' pwritev(' in line for line in lines)
    looks = sum(' newfstatat(' in line and ', "", ' in line and line.split()[0] in writers for line in lines)
    checks.check('one fstat() a batch', 0 < writes and looks <= writes + LOOKS_BESIDE, f'{looks} fstat(), {writes} pwritev()')


def late_rings():
    """A thread that no ring is ready for makes it, and ctrace stats counts it."""
    with open('cfg', 'w') as file:
        file.write('mftrace.level = info\nmftrace.dest = binfile\nmftrace.emitter.binfile#file = x.ctb\n')
    with subprocess.Popen([f'{BUILD}/tests/tool_subject', '300000', 'wait'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as subject:
        subject.stdout.readline()
        found = json.loads(subprocess.run(['ctrace', 'stats', '--json'], capture_output=True, check=True).stdout)
        subject.stdin.close()
    counts = [process['late_rings'] for process in found['processes']]
    checks.check('ctrace stats has the count of rings that were not ready', len(counts) == 1 and counts[0] in (0, 1, 2), counts)


for case, values in CASES.items():
    try_case(case, *values)
looks_at_files()
late_rings()
sys.exit(checks.end())
