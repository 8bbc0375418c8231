#!/usr/bin/env python3
"""A run directory without room: processes that got no directory are counted there, and `ctrace list` and `ctrace doctor` report them.
And each sentence of `ctrace doctor` about a process that it does not find: true, or it says that the cause is not known.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import disk  # noqa: E402
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
BUILD = os.environ['CTRACE_BUILD']
STEPS = f'{BUILD}/tests/steps'
DISK = os.path.abspath('disk')
RUN = f'{DISK}/run'
STARTED = 15


def ctrace(*arguments, **variables):
    return subprocess.run(['ctrace', *arguments], env={**os.environ, **variables}, capture_output=True, text=True, check=False)


class Living:
    """A program that has done the steps, and waits."""

    def __init__(self, *steps, limit=None, **variables):
        limits = [] if limit is None else ['prlimit', f'--fsize={limit}']
        self.process = subprocess.Popen([*limits, STEPS, *steps, 'say', 'ready', 'pause'], env={**os.environ, **variables}, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def __enter__(self):
        self.process.stdout.readline()
        return self.process.pid

    def __exit__(self, *unused):
        self.process.communicate(b'\n')


def counted(told):
    found = re.search(rf'(\d+) process(?:es)? got no directory in {re.escape(RUN)}, and (?:is|are) not listed: '
                      r'No space left on device \(last: process (\d+) steps, [^)]*\)(?:, (\d+) events? of (?:it|them) lost)?', told)
    return [int(number or 0) for number in found.groups()] if found else [0, 0, 0]


def directories():
    return sum('.' in name and not name.startswith('.') for name in os.listdir(RUN))


def check_full():
    for _ in range(STARTED - 1):
        subprocess.run([STEPS, 'trace', 'a.b', '1', '100', 'kill'], check=False)
    with Living('trace', 'a.b', '1', '100') as pid:
        there = directories()
        listed = ctrace('list')
        checks.check('ctrace list reports the processes without a directory', counted(listed.stderr)[:2] == [STARTED - there, pid] and
                     listed.returncode == 0 and there < STARTED, there, listed.stderr)
        checks.check('and what to do', 'ctrace recover --discard' in listed.stderr and 'ctrace.keep' in listed.stderr, listed.stderr)
        doctor = ctrace('doctor', str(pid))
        checks.check('ctrace doctor knows the cause: status 1', doctor.returncode == 1 and
                     f'not known: the process got no directory in {RUN}: No space left on device\n' in doctor.stdout, doctor.stdout)
        checks.check('in JSON too', '"run-directory"' in ctrace('doctor', '--json', str(pid)).stdout)
    lost = counted(ctrace('list').stderr)
    checks.check('its events are counted when it ends', lost[2] == 100, lost)
    first = re.search(r'--discard=(\d+)', ctrace('list').stdout)
    checks.check('what is kept can be removed', first and ctrace('recover', f'--discard={first.group(1)}').returncode == 0)
    with Living('trace', 'a.b', '1', '100') as pid:
        checks.check('then there is room for the next', f'\n{pid}  ' in '\n' + ctrace('list').stdout)


def check_no_number():
    """No process has taken a number before the disk is full, so that nobody has written the file of the last one."""
    for is_made in (False, True):
        subprocess.run(['rm', '-rf', RUN], check=True)
        if is_made:
            os.mkdir(RUN, 0o700)
        else:
            subprocess.run([STEPS, 'trace', 'a.b', '1', '1'], env={**os.environ, 'MFTRACE_CONFIG': ''}, check=True)
        disk.fill(DISK)
        with Living('trace', 'a.b', '1', '100', MFTRACE_CONFIG='') as dormant, Living('trace', 'a.b', '1', '100') as pid:
            listed = ctrace('list')
            if not is_made:
                checks.same('a run directory that the library has made: each is counted', counted(listed.stderr)[:2], [2, pid])
            for one in (dormant, pid):
                is_known = one == pid and not is_made
                cause = 'the process got no directory in .*: No space left on device' if is_known else \
                    f'the process is traced, .*, or there was no room in it; it is not known which; the disk of {re.escape(RUN)} is full'
                doctor = ctrace('doctor', str(one))
                checks.check(f'doctor: a full disk, {"the cause is noted" if is_known else "nothing is noted"}', doctor.returncode == 1 and
                             re.search(f'^components +not known: {cause}$', doctor.stdout, re.M), doctor.stdout)
        os.unlink(f'{DISK}/filler')


def check_file_limits():
    """A limit on the size of files that leaves no room for a session, or not even for a note of that."""
    why = re.escape('its limit on the size of files (ulimit -f) is too small')
    for limit in (0, 1024, 256 << 10):
        subprocess.run(['rm', '-rf', RUN], check=True)
        os.mkdir(RUN, 0o700)
        with Living('trace', 'a.b', '1', '100', limit=limit) as pid:
            doctor, listed = ctrace('doctor', str(pid)), ctrace('list')
            checks.check(f'doctor: files of {limit} bytes', doctor.returncode == 1 and re.search(f'^components +not known: .*{why}$', doctor.stdout, re.M),
                         doctor.stdout)
            checks.check(f'list: files of {limit} bytes', limit == 0 or re.search(f'1 process got no directory .*: {why} ', listed.stderr), listed)


def check_program_under_limit():
    """The verb's own files under this limit are no reason why the program ends."""
    for limit in (0, 1024, 64 << 10, 2 << 20):
        done = subprocess.run(['prlimit', f'--fsize={limit}', 'ctrace', 'doctor', STEPS, 'trace', 'a.b', '1', '100'], capture_output=True, text=True,
                              check=False)
        found = (done.returncode, 'not known: the limit on the size of files' in done.stdout, 'ulimit -f) is too small' in done.stdout)
        checks.same(f'doctor runs a program: files of {limit} bytes', found, (0, True, False) if limit == 2 << 20 else (1, True, True))


def check_without_proc():
    """What the tool cannot see there, it does not claim."""
    unseen = 'not known: /proc is not mounted here, so the libraries, threads and environment of a process cannot be seen'
    hide = ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh', 'ctrace']
    for steps, wanted in ((('trace', 'a.b', '1', '100'), 'a.b DEBUG'), ((), 'none is visible: .*; without /proc it is not known which')):
        with Living(*steps) as pid:
            done = subprocess.run([*hide, 'doctor', str(pid)], capture_output=True, text=True, check=False)
            checks.check(f'without /proc: {wanted}', re.search(f'^library +{unseen}$', done.stdout, re.M) and
                         re.search(f'^components +{wanted}$', done.stdout, re.M), done)
    done = subprocess.run([*hide, 'doctor', str(pid)], capture_output=True, text=True, check=False)
    written = subprocess.run([*hide, 'catalog', '-o', 'events.h', 'header', f'{os.environ["CTRACE_SOURCE"]}/catalog'], capture_output=True, check=False)
    checks.check('without /proc: a file is written', written.returncode == 0 and os.path.exists('events.h'), written)
    checks.check('without /proc: no such process', done.returncode == 2 and f'there is no process {pid}' in done.stderr, done)


def check_sentences():
    unknown = 'none is visible: .*; it is not known which$'
    cases = [
        ('another run directory', (), {'CTRACE_RUN_DIR': f'{DISK}/other'}, f'the process has another CTRACE_RUN_DIR, {DISK}/other'),
        ('a process that has traced nothing', (), {}, unknown),
        ('ctrace.attach off', ('trace', 'a.b', '1', '1'), {'CTRACE_ATTACH': 'off'}, 'the process is traced, but has no directory'),
    ]
    for what, steps, variables, wanted in cases:
        with Living(*steps, **variables) as pid:
            doctor = ctrace('doctor', str(pid))
            checks.check(f'doctor: {what}', doctor.returncode == 1 and re.search(f'^components +(not known: )?{wanted}', doctor.stdout, re.M) and
                         re.search(r'^library +/.*libctrace\.so', doctor.stdout), doctor.stdout)
    doctor = ctrace('doctor', str(os.getpid()))
    checks.check('doctor: no library', doctor.returncode == 1 and re.search(r'^library +libctrace\.so is not loaded', doctor.stdout) and
                 re.search(f'^components +{unknown}', doctor.stdout, re.M), doctor.stdout)


def main():
    if not disk.can_mount(checks, 'a full run directory'):
        return checks.end()
    os.mkdir(DISK)
    disk.mount(DISK, '1m')
    os.mkdir(RUN, 0o700)
    with open('storage.cfg', 'w', encoding='ascii') as file:
        file.write('mftrace.level = debug\nmftrace.dest = storage\n')
    os.environ.update(CTRACE_RUN_DIR=RUN, MFTRACE_CONFIG=os.path.abspath('storage.cfg'))
    check_full()
    check_no_number()
    check_sentences()
    check_file_limits()
    check_program_under_limit()
    check_without_proc()
    return checks.end()


sys.exit(main())
