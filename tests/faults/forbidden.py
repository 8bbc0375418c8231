#!/usr/bin/env python3
"""One system call at a time is forbidden to a traced program, by seccomp, with EPERM and with ENOSYS.

The program ends as without it.  Each of its events is in the file, or counted where somebody looks: by the program's own statistics and,
when it had no directory, in the run directory, which `ctrace list` reports; or `ctrace recover` delivers it.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import errno
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
BUILD = os.environ['CTRACE_BUILD']
EVENTS = 400
# On x86-64.  What the loader cannot do without (openat, mmap, pread, fstat) is left out: the program does not begin.
CALLS = {
    'write': 1, 'lseek': 8, 'rt_sigaction': 13, 'rt_sigprocmask': 14, 'ioctl': 16, 'pwrite64': 18,
    'writev': 20, 'access': 21, 'sched_yield': 24, 'mremap': 25, 'madvise': 28, 'getpid': 39, 'socket': 41, 'sendto': 44, 'recvfrom': 45,
    'sendmsg': 46, 'recvmsg': 47, 'bind': 49, 'listen': 50, 'socketpair': 53, 'clone': 56, 'uname': 63, 'fcntl': 72, 'flock': 73,
    'fsync': 74, 'fdatasync': 75, 'truncate': 76, 'ftruncate': 77, 'getdents64': 217, 'getcwd': 79, 'rename': 82, 'mkdir': 83, 'rmdir': 84,
    'unlink': 87, 'chmod': 90, 'fchmod': 91, 'sysinfo': 99, 'getuid': 102, 'geteuid': 107, 'rt_sigpending': 127,
    'rt_sigtimedwait': 128, 'sigaltstack': 131, 'prctl': 157, 'gettid': 186, 'futex': 202, 'sched_getaffinity': 204,
    'clock_gettime': 228, 'tgkill': 234, 'mkdirat': 258, 'unlinkat': 263, 'renameat': 264, 'fchmodat': 268, 'poll': 7, 'ppoll': 271,
    'utimensat': 280, 'fallocate': 285, 'accept4': 288, 'eventfd2': 290, 'dup3': 292, 'pipe2': 293, 'preadv': 295, 'pwritev': 296,
    'prlimit64': 302, 'getrandom': 318, 'renameat2': 316, 'memfd_create': 319, 'membarrier': 324, 'rseq': 334, 'faccessat2': 439,
    'clone3': 435, 'close_range': 436, 'statx': 332,
}
# Calls without which the library cannot write to the run directory, or make a BINFILE: the events are counted by the program's own
# statistics only.
SILENT = {'mkdir': 'it makes the run directory and that of a BINFILE', 'geteuid': 'the owner of the run directory cannot be compared'}
# The C library ends a program with threads.
ENDS = {'futex': -6}


def trial(name, number, error, emitter):
    room = f'{name}.{error}.{emitter}'
    os.mkdir(room)
    with open(f'{room}/config', 'w', encoding='ascii') as file:
        file.write(f'mftrace.level = debug\nmftrace.dest = {emitter}\n')
    environment = {**os.environ, 'MFTRACE_CONFIG': os.path.abspath(f'{room}/config'), 'CTRACE_RUN_DIR': os.path.abspath(f'{room}/run')}
    try:
        ended = subprocess.run([f'{BUILD}/tests/faults_forbid', str(number), str(error), f'{BUILD}/tests/steps',
                                'trace', 'a.b', '1', str(EVENTS), 'stats'], cwd=room, env=environment, stdin=subprocess.DEVNULL,
                               capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return 'hangs'
    if ended.returncode != ENDS.get(name, 0):
        return f'status {ended.returncode}'
    if name in ENDS:
        return ''
    stats = re.search(rb'emitted (\d+) delivered (\d+) pending (\d+) lost (\d+)', ended.stdout)
    if stats and (int(stats.group(1)) != EVENTS or sum(map(int, stats.groups()[1:])) != EVENTS):
        return f'{stats.group(0).decode()}'
    if not stats and name not in ('write', 'lseek'):  # the program prints by them
        return 'no statistics'
    listed = subprocess.run([f'{BUILD}/ctrace', 'list'], cwd=room, env=environment, capture_output=True, text=True, check=False)
    subprocess.run([f'{BUILD}/ctrace', 'recover'], cwd=room, env=environment, capture_output=True, check=False)
    there = 0
    for path in glob.glob(f'{room}/*.log') + glob.glob(f'{room}/*.ctb'):
        shown = subprocess.run([f'{BUILD}/ctrace', 'show', path], capture_output=True, text=True, check=False).stdout \
            if path.endswith('.ctb') else open(path, encoding='utf-8').read()
        there += sum('step' in line for line in shown.splitlines() if not line.startswith('#'))
    counted = re.search(r'(\d+) events? of (?:it|them) lost', listed.stderr)
    lost = int(counted.group(1)) if counted else sum(int(n) for n in re.findall(r'lost (\d+)', listed.stdout)[:1])
    shutil.rmtree(room)
    return '' if there + lost == EVENTS or name in SILENT else f'{there} there, {lost} counted: {listed.stderr.strip()[:200]}'


if os.uname().machine != 'x86_64':
    checks.check('the numbers of the calls are those of x86-64', True)
else:
    for call, number in CALLS.items():
        wrong = []
        for error in (errno.EPERM, errno.ENOSYS):
            for emitter in ('textfile', 'binfile'):
                result = trial(call, number, error, emitter)
                if result:
                    wrong.append(f'{errno.errorcode[error]}, {emitter}: {result}')
        checks.check(f'without {call}', not wrong, '\n'.join(wrong))
checks.end()
