#!/usr/bin/env python3
"""Each verb of the tool with system calls that fail or transfer only half, and with an output that takes no more.

A run that ends with 0 has printed and written everything.  Any other says why, ends with 1 or 2, and
leaves no partial file.  A sample of the calls; each one with CTRACE_TEST_LONG=1.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import errno
import os
import re
import resource
import signal
import subprocess
import sys

import verb_runs

SAMPLE = 2
PRELOAD = os.path.join(verb_runs.BUILD, 'tests', 'libsysfail.so')
CALLS = ('read', 'pread', 'open', 'mmap', 'fstat', 'stat', 'write', 'pwrite', 'pwritev', 'writev', 'ftruncate', 'fallocate', 'rename',
         'mkdir', 'link', 'unlink', 'fcntl', 'close')
SHORT = ('read', 'pread', 'write', 'pwrite', 'pwritev', 'writev')
OUTPUT = ('write', 'pwrite', 'pwritev', 'writev', 'ftruncate', 'fallocate')
FOR_EVER = 1000000


def faults_of(counts):
    """(label, FAULT) for the calls that a run has made."""
    for call, count in counts.items():
        if call not in CALLS:
            continue
        step = 1 if verb_runs.IS_LONG else max(1, count // SAMPLE)
        error = errno.ENOSPC if call in OUTPUT else errno.ENOMEM if call == 'mmap' else errno.EIO
        for at in range(1, count + 1, step):
            yield f'{call} {at} of {count}', f'{call}:{error}:{at}:{at}'
            if at < count:
                yield f'{call} {at} of {count} and on', f'{call}:{error}:{at}:{FOR_EVER}'
            if call in SHORT:
                yield f'{call} {at} of {count}, half', f'{call}:0:{at}:{at}:short'


def make_faults(case, room, subject):
    count_file = os.path.join(room.path, 'count')
    good = verb_runs.run(case, room, {'LD_PRELOAD': PRELOAD, 'SYSCOUNT': count_file}, subject)
    counts = {}
    with open(count_file, encoding='ascii') as file:
        for line in file:
            counts[line.split()[0]] = int(line.split()[1])
    return good, [(label, {'LD_PRELOAD': PRELOAD, 'FAULT': fault}) for label, fault in faults_of(counts)]


def judge_live(done, good):
    """A process that cannot be looked at is one that is not there: only hangs and deaths of the tool are wrong."""
    return None if done.status in (0, 1, 2) else verb_runs.diagnostic_of(done, good, {1, 2}, rb'.')


def judge(done, good):
    """What cannot be read costs itself, with status 1 or 2: the rest is written.  A catalogue costs its names, and is reported."""
    if done.status == 0 and re.search(rb'(shop.yaml|CUSTREC.cpy)', done.stderr):
        return None
    if done.status in (1, 2) and re.search(rb'cannot be read|no trace|no BINFILE|no packet|lost|refused|denied|not what they should be|Input/output', done.stderr):
        done.files = {}
    done.stderr += b''.join(re.findall(rb'ITT[0-9]+I .*', done.stdout))  # where IPCS reports
    return verb_runs.diagnostic_of(done, good, {1, 2}, rb'.')


# ---- outputs that take no more

class Outputs:
    """Standard output in all the ways in which it can fail.  Runs itself, since a sweep only varies the environment."""

    def __init__(self, room, subject):
        self.room, self.subject = room, subject

    def full(self, case):
        with open('/dev/full', 'wb') as full:
            return verb_runs.run(case, self.room, {}, self.subject, stdout=full)

    def closed(self, case):
        return verb_runs.run(case, self.room, {}, self.subject, stdout=subprocess.DEVNULL, before=lambda: os.close(1))

    def read_only(self, case):
        with open('/dev/null', 'rb') as null:
            return verb_runs.run(case, self.room, {}, self.subject, stdout=null)

    def without_reader(self, case):
        """A pipe whose reader has gone, with SIGPIPE ignored: the error is EPIPE."""
        reading, writing = os.pipe()
        os.close(reading)
        try:
            return verb_runs.run(case, self.room, {}, self.subject, stdout=writing,
                                 before=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
        finally:
            os.close(writing)

    def limited(self, case, size):
        """A file of at most `size` bytes: the write at the limit is short, the next one fails."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        with open('printed', 'wb') as printed:
            return verb_runs.run(case, self.room, {}, self.subject, stdout=printed, before=limit)

    def diagnostics(self, case):
        good = verb_runs.run(case, self.room, {}, self.subject)
        ways = [(way.__name__, way) for way in (self.full, self.closed, self.read_only, self.without_reader)]
        size = max([len(good.stdout), *map(len, good.files.values())])
        step = max(1, size // (40 if verb_runs.IS_LONG else 4))
        ways += [(f'limit {limit}', lambda case, limit=limit: self.limited(case, limit)) for limit in range(0, size, step)]
        for name, way in ways:
            done = way(case)
            printed = len(good.stdout) if not name.startswith('limit') else max(0, len(good.stdout) - int(name.split()[1]))
            wrong = None
            if done.status < 0:
                wrong = f'status {done.status}'
            elif printed > 0 and done.status not in (1, 2):
                wrong = f'status {done.status}, but the output is not whole'
            elif done.status != good.status and not done.stderr and name != 'without_reader':
                wrong = f'status {done.status} without a reason'
            elif done.status == good.status == 0 and done.files != good.files:
                wrong = 'status 0, but files differ'
            elif done.status != 0 and verb_runs.partial_files(done.files, good.files):
                wrong = f'status {done.status}, and left {verb_runs.partial_files(done.files, good.files)}'
            if wrong:
                yield f'{name}: {wrong}: {done.stderr.decode(errors="replace")[-160:]}'


def outputs(cases, number, subject):
    rooms = Outputs(verb_runs.Room(9), subject)
    bad = 0
    for case in cases:
        number += 1
        errors = list(rooms.diagnostics(case))
        bad += bool(errors)
        print(f'{"not ok" if errors else "ok"} {number} - {case.name}: outputs that take no more')
        for error in errors[:8]:
            print('#   ' + error.replace('\n', ' | '))
    return bad, number


def main():
    lack = verb_runs.prepare()
    if lack is not None:
        print(f'1..0 # SKIP {lack}')
        return 0
    subject = verb_runs.Subject()
    try:
        wanted = os.environ.get('CASE', '')
        cases = [case for case in (*verb_runs.reading_cases(), *verb_runs.live_cases()) if wanted in case.name]
        bad, number = outputs(cases, 0, subject)
        bad += verb_runs.sweep([(case, lambda case, room: make_faults(case, room, subject), judge_live if case.live else judge)
                                for case in cases], subject, number)
        return int(bad > 0)
    finally:
        subject.end()


sys.exit(main())
