#!/usr/bin/env python3
"""Each verb that writes a file, on a full file system and under a limit on the size of files: it names the file and the reason, its status is not 0, and no half file is left.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import disk  # noqa: E402
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
STEPS = os.path.join(os.environ['CTRACE_BUILD'], 'tests', 'steps')
DISK = os.path.abspath('disk')
PATIENCE = 120
LIMIT = 64
PAGE = os.sysconf('SC_PAGESIZE')

# The words of a command, and the file that it names.
VERBS = [
    *((('export', '-f', how, '-o', f'{DISK}/out', 'whole.ctb'), f'{DISK}/out')
      for how in ('common-trace-format', 'chrome', 'perfetto', 'speedscope', 'csv', 'json', 'otlp', 'otlp-protobuf')),
    (('report', '-o', f'{DISK}/page.html', 'whole.ctb'), f'{DISK}/page.html'),
    (('open', '-o', f'{DISK}/page.html', 'whole.ctb'), f'{DISK}/page.html'),
    (('show', '--split=thread', '-o', f'{DISK}/lines', 'whole.ctb'), f'{DISK}/lines'),
    (('catalog', '-o', f'{DISK}/draft.yaml', 'draft', 'whole.ctb'), f'{DISK}/draft.yaml'),
    (('catalog', '-o', f'{DISK}/events.h', 'header', 'events.yaml'), f'{DISK}/events.h'),
    (('catalog', '-o', f'{DISK}/events.cpy', 'copybook', 'events.yaml'), f'{DISK}/events.cpy'),
    (('catalog', '-o', f'{DISK}/events.md', 'doc', 'events.yaml'), f'{DISK}/events.md'),
    (('repair', '-o', f'{DISK}/repaired', 'whole.ctb'), f'{DISK}/repaired'),
    (('dump', '-o', f'{DISK}/dumps'), f'{DISK}/dumps'),
    (('dump', '-o', DISK), f'{DISK}'),
]


def ctrace(*words, before=(), **more):
    return subprocess.run([*before, 'ctrace', *words], capture_output=True, text=True, timeout=PATIENCE, check=False, **more)


def started(*steps, **variables):
    return subprocess.Popen([STEPS, *steps], env={**os.environ, **variables}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def configuration(name, *lines):
    with open(f'{name}.cfg', 'w', encoding='ascii') as file:
        file.write('\n'.join(['mftrace.level = debug', *lines, '']))
    return os.path.abspath(f'{name}.cfg')


EVENTS = 'component: app\nevents:\n' + ''.join(f'  {i}:\n    mnemonic: NAME{i}\n    description: A text\n' for i in range(1, 500))


def empty():
    disk.unmount(DISK)
    disk.mount(DISK, '16m')


def full(left):
    empty()
    disk.fill(DISK, left)


def used():
    at = os.statvfs(DISK)
    return (at.f_blocks - at.f_bfree) * at.f_frsize


def check_told(what, done, path, reason='No space left on device'):
    told = done.stdout + done.stderr
    checks.check(f'{what}: names file and reason', done.returncode > 0 and re.search(rf'{re.escape(path)}[^\n]*: {reason}', told), done)


def check_verb(words, path):
    """Without any room, and with room for a half."""
    empty()
    done = ctrace(*words)
    checks.check(f'{" ".join(words)}, room for all'.replace(DISK, 'disk'), done.returncode == 0 and os.path.exists(path), done)
    for left in {0, used() // 2 // PAGE * PAGE}:
        full(left)
        what = f'{" ".join(words)}, {left} bytes left'.replace(DISK, 'disk')
        check_told(what, ctrace(*words), path)
        checks.same(f'{what}: nothing is left', sorted(os.listdir(DISK)), ['filler'])
    empty()
    what = f'{" ".join(words)}, files of {LIMIT} bytes'.replace(DISK, 'disk')
    check_told(what, ctrace(*words, before=['prlimit', f'--fsize={LIMIT}']), path, 'File too large')
    checks.same(f'{what}: nothing is left', os.listdir(DISK), [])


def check_kept():
    """What a verb keeps in the run directory, and the log of commands."""
    full(0)
    os.mkdir(f'{DISK}/run', 0o700)
    own = {'CTRACE_RUN_DIR': f'{DISK}/run', 'MFTRACE_CONFIG': configuration('log', f'ctrace.log = {DISK}/log')}
    done = ctrace('trigger', 'add', 'T', '--when=level >= error', '--do=dump', env={**os.environ, **own})
    check_told('trigger add', done, f'{DISK}/run')
    checks.same('trigger add: nothing is left', os.listdir(f'{DISK}/run'), [])
    done = ctrace('op', 'D TRACE', env={**os.environ, 'MFTRACE_CONFIG': own['MFTRACE_CONFIG']})
    told = re.findall('not all is logged: .*', done.stderr)
    checks.same('op: what is not logged is reported, once', told, [f'not all is logged: ctrace.log = {DISK}/log: No space left on device'])


def check_recover(emitter):
    """What a killed process has left, for a file on a disk that became full while it ran."""
    empty()
    steps = ['trace', 'app', '1', '10', 'flush', 'pause', 'trace', 'app', '1', '9990', 'say', 'ready', 'pause']
    lines = [f'mftrace.dest = {emitter}', f'mftrace.emitter.{emitter}#location = {DISK}', f'mftrace.emitter.{emitter}#file = out', 'ctrace.buffer = 4M']
    with started(*steps, MFTRACE_CONFIG=configuration(emitter, *lines)) as process:
        assert process.stdout.readline() == 'SUCCESS\n'
        disk.fill(DISK)
        process.stdin.write('\n')
        process.stdin.flush()
        assert process.stdout.readline() == 'ready\n'
        process.kill()
    out, = glob.glob(f'{DISK}/out*')
    check_told(f'recover of {emitter}', ctrace('recover'), out)
    disk.mount(DISK, '32m')
    done = ctrace('recover')
    if emitter == 'binfile':
        lines = ctrace('show', out).stdout.splitlines()
    else:
        with open(out, encoding='ascii') as file:
            lines = [line for line in file if ' step' in line or '"step"' in line]
    checks.check(f'recover of {emitter}: all come when there is room', (done.returncode, len(lines)) == (0, 10000), done, len(lines))


def main():
    if not disk.can_mount(checks, 'verbs on a full disk'):
        return checks.end()
    os.mkdir(DISK)
    started('trace', 'app', '1', '20000',
            MFTRACE_CONFIG=configuration('binfile', 'mftrace.dest = binfile', 'mftrace.emitter.binfile#file = whole')).communicate()
    os.rename(glob.glob('whole*')[0], 'whole.ctb')
    with open('events.yaml', 'w', encoding='ascii') as file:
        file.write(EVENTS)
    with started('trace', 'app', '1', '20000', 'say', 'ready', 'pause', MFTRACE_CONFIG=configuration('storage', 'mftrace.dest = storage')) as process:
        process.stdout.readline()
        for row in VERBS:
            check_verb(*row)
        process.kill()
    check_kept()
    for emitter in ('binfile', 'textfile'):
        check_recover(emitter)
    return checks.end()


sys.exit(main())
