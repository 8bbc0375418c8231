#!/usr/bin/env python3
"""Limits of the process: file size with SIGXFSZ at its default, descriptors, address space.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import os
import resource
import subprocess

import battery
from battery import Room, form

report = battery.Battery('limits')


def run(what, value, lossless, room_options, *command):
    with Room(**room_options) as room:
        ended = room.run(*command, limits=[(what, value)])
        return 1, [ended] if ended else room.diagnostics(lossless=lossless, private=not lossless)


EVENTS = form(2000, 20000)
for blocks in form((100, 1000, 300000), (0, 1, 10, 100, 1000, 10000, 100000, 262143, 300000)):
    for name, options in (('default ring', {}), ('ring of 512 MiB', {'buffer': '512M'})):
        if options and blocks not in (1000, 300000):
            continue
        # Whoever may write no file has every event counted; from 1,000 blocks on there is room for
        # all of them.
        report.trial(f'ulimit -f {blocks}, {name}', run, resource.RLIMIT_FSIZE, blocks * 1024, blocks >= 1000 and EVENTS <= 2000,
                     {**options, 'text': False}, 'burst', f'events={EVENTS}', 'threads=3')
report.trial('ulimit -f 1000, BINFILE and TEXTFILE full', run, resource.RLIMIT_FSIZE, 1000 * 1024, False,
             {}, 'burst', 'events=30000', 'threads=2', 'flush_ms=100')
report.trial('ulimit -n 8', run, resource.RLIMIT_NOFILE, 8, False, {'text': False}, 'burst', f'events={EVENTS}', 'threads=3')
for megabytes in (100, 200, 400):
    report.trial(f'RLIMIT_AS {megabytes} MB', run, resource.RLIMIT_AS, megabytes << 20, False, {'text': False}, 'burst',
                 f'events={EVENTS}', 'threads=3', 'flush_ms=1000')


def small_run_directory(kilobytes):
    """With little space the rings are private memory, as with none."""
    with Room(text=False) as room:
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={kilobytes}k', 'none', room.at('run')], check=False, capture_output=True).returncode:
            raise OSError('tmpfs cannot be mounted')
        try:
            os.chmod(room.at('run'), 0o700)
            ended = room.run('burst', f'events={EVENTS}', 'threads=3', 'flush_ms=3000')
            return 1, [ended] if ended else room.diagnostics()
        finally:
            subprocess.run(['umount', room.at('run')], check=False)


def asid_locked():
    """Somebody holds the lock on the run directory's number file, and is stopped."""
    with Room(text=False) as room:
        room.run('burst', 'events=10')
        with open(room.at('run/asid'), 'a', encoding='ascii') as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            ended = room.run('burst', f'events={EVENTS}', seconds=20)
        return 1, [ended] if ended else room.diagnostics(thread_buffers=())


for kilobytes in form((64, 100, 300, 600, 1000), (16, 64, 100, 200, 300, 400, 600, 800, 1000, 1500, 2000, 3000)):
    if os.geteuid() == 0:
        report.trial(f'run directory of {kilobytes} KB', small_run_directory, kilobytes)
    else:
        report.skip(f'run directory of {kilobytes} KB', 'only root may mount a small disk')
report.trial('the number file is locked', asid_locked)
report.end()
