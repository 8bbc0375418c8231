#!/usr/bin/env python3
"""A process wakes while its run directory is full: its events are delivered, and those that its output has no room for are counted, also when
it ends before there is room again.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import disk  # noqa: E402
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
STEPS = f'{os.environ["CTRACE_BUILD"]}/tests/steps'
DISK, OUT = os.path.abspath('disk'), os.path.abspath('out')
ORDERS = ('trace', 'a.b', '1', '0', 'say', 'dormant', 'pause', 'configure', 'mftrace.level = info', 'trace', 'a.b', '1', '100')


def ctrace(*arguments):
    return subprocess.run(['ctrace', *arguments], capture_output=True, text=True, check=False)


def counted():
    """Events in the trace, and those that it counts as lost."""
    stats = ctrace('stats', '--json', OUT)
    told = json.loads(stats.stdout) if stats.stdout else {}
    return told.get('count'), told.get('lost')


def run(*full):
    with subprocess.Popen([STEPS, *ORDERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=OUT) as program:
        program.stdout.readline()
        for path in full:
            disk.fill(path)
        program.communicate(b'\n')
    return program.returncode


def main():
    if not disk.can_mount(checks, 'a full run directory'):
        return checks.end()
    for path in (DISK, OUT):
        os.mkdir(path)
        disk.mount(path, '1m')
    os.mkdir(f'{DISK}/run', 0o700)
    for emitter in ('binfile', 'textfile'):
        with open('app.cfg', 'w', encoding='ascii') as file:
            file.write(f'mftrace.level = none\nmftrace.dest = {emitter}\nmftrace.emitter.{emitter}#location = {OUT}\n')
        os.environ.update(CTRACE_RUN_DIR=f'{DISK}/run', MFTRACE_CONFIG=os.path.abspath('app.cfg'))
        checks.check(f'{emitter}: a full run directory: the program', run(DISK) == 0)
        lines = [name for name in os.listdir(OUT) if 'steps' in name]
        found = counted() if emitter == 'binfile' else len(open(f'{OUT}/{lines[0]}', encoding='utf-8').readlines()) >= 100
        checks.check('its events are delivered', found in ((100, 0), True), found)
        subprocess.run(f'rm -rf {OUT}/* {DISK}/filler', shell=True, check=True)
        checks.check('and a full output: the program', run(DISK, OUT) == 0)
        kept = ctrace('recover')
        checks.check('its loss waits for room', kept.returncode == 1 and 'No space left on device; what is left is kept' in kept.stderr, kept)
        os.unlink(f'{OUT}/filler')
        done = ctrace('recover')
        found = counted() if emitter == 'binfile' else subprocess.run(f'cat {OUT}/*', shell=True, capture_output=True, text=True, check=False).stdout
        checks.check('and is reported there', done.returncode == 0 and (found == (0, 100) or '100 undeliverable' in found), found, done)
        subprocess.run(f'rm -rf {OUT}/* {DISK}/filler', shell=True, check=True)
    return checks.end()


sys.exit(main())
