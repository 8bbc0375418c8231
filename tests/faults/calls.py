#!/usr/bin/env python3
"""Each system call and each allocation fails in turn, once and from there on for ever: in the
library, in a recovery, in the verbs that read.  Nothing dies or hangs, the sums hold, and a
verb that ends with status 0 has said all that it says without a fault.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import errno
import glob
import os

import battery
from battery import Room, form

report = battery.Battery('calls')

ERRORS = {
    'bind': ('EADDRINUSE',), 'close': ('EIO',), 'fallocate': ('ENOSPC', 'EINTR', 'EOPNOTSUPP'), 'fcntl': ('EAGAIN', 'ENOLCK'),
    'flock': ('EWOULDBLOCK', 'ENOLCK'), 'fstat': ('EIO', 'ESTALE'), 'fsync': ('EIO',), 'ftruncate': ('EIO', 'ENOSPC', 'EINTR'),
    'link': ('EPERM',), 'listen': ('EOPNOTSUPP',), 'mkdir': ('ENOSPC', 'EACCES'), 'mmap': ('ENOMEM',), 'open': ('EMFILE', 'EACCES', 'ENOSPC'),
    'pread': ('EIO', 'EINTR'), 'pwrite': ('ENOSPC', 'EIO', 'EINTR', 'EDQUOT', 'EFBIG'), 'pwritev': ('ENOSPC', 'EIO', 'EINTR'),
    'read': ('EIO',), 'rename': ('ENOSPC', 'EACCES'), 'socket': ('EMFILE',), 'stat': ('EIO', 'ESTALE'), 'unlink': ('EPERM',),
    'write': ('ENOSPC', 'EIO', 'EINTR'), 'writev': ('ENOSPC', 'EIO'),
}
CONFIG = 'ctrace.block.timeout = 100\n'
COMMAND = ('mixed', 'events=1500', 'threads=2', 'flush_ms=300')
ALONE = ('mixed', 'events=1500', 'threads=1', 'flush_ms=300')  # making a thread takes memory, too
ROOMS = {'BINFILE': {'text': False}, 'TEXTFILE': {'binary': False}, 'generations': {'text': False, 'generations': (200, 32)}}


def counts_of(path):
    with open(path, encoding='ascii') as file:
        return {name: int(count) for name, count in (line.split() for line in file)}


def sample(count, most):
    """Numbers 1 to count, at most so many, the first ones all."""
    if count <= most:
        return range(1, count + 1)
    first = most // 2
    return sorted(set(range(1, first + 1)) | {first + (count - first) * i // (most - first) for i in range(1, most - first + 1)})


def is_own_call(ended, room):
    """The fault met the subject's own call, before it had traced anything."""
    return ended.startswith('status 99') and not (os.path.exists(room.at('tally')) and os.path.getsize(room.at('tally')) and sum(room.tally().begun))


def by_any_name(room):
    """A lock that is refused says that somebody else has the output: events go to a name beside
    it."""
    found = []
    if room.binary:
        # Names that were tried and refused are empty.
        traces = sorted(os.path.dirname(path) for path in glob.glob(room.at('out/out*.ctb*/metadata')))
        found.append(('binfile', room.read_binary(*traces)))
    if room.text:
        found.append(('textfile', room.read_text(*sorted(glob.glob(room.at('out/out*.log*'))))))
    return found


def one_run(options, environment, preload, command=COMMAND, is_lock=False):
    with Room(config=CONFIG, **options) as room:
        ended = room.run(*command, preload=preload, **environment)
        if is_own_call(ended, room):
            return []
        return [ended] if ended else room.diagnostics(lossless=False, alone=True, private=not room.tally().has_directory,
                                                          outputs=(lambda: by_any_name(room)) if is_lock else None)


def in_the_library(call, forever, names):
    runs, wrong = 0, []
    for name in names:
        options = ROOMS[name]
        with Room(config=CONFIG, **options) as room:
            room.run(*COMMAND, preload=['sysfail'], SYSCOUNT=room.at('count'))
            count = counts_of(room.at('count')).get(call, 0)
        for error in ERRORS[call][:form(1 if forever or call == 'fstat' else 2, 9)]:
            if forever and error == 'EINTR':
                continue  # no system interrupts a call for ever: it is made again until it is not
            for n in sample(count, form(2 if forever else 60 if call == 'fstat' else 5, 500)):
                to = 1 << 40 if forever else n
                wrong += [f'{name}, {call} {n} of {count} {error}: {w}' for w in
                          one_run(options, {'FAULT': f'{call}:{getattr(errno, error)}:{n}:{to}'}, ['sysfail'],
                                  is_lock=call in ('fcntl', 'flock'))]
                runs += 1
    return runs, wrong


def halved(call):
    """Calls that transfer half of their bytes."""
    runs, wrong = 0, []
    for name, options in ROOMS.items():
        for n in form((1, 2, 5), range(1, 60)):
            for to in (n, 1 << 40):
                wrong += [f'{name}, {call} {n}: {w}' for w in one_run(options, {'FAULT': f'{call}:0:{n}:{to}:short'}, ['sysfail'])]
                runs += 1
    return runs, wrong


def allocations(forever):
    runs, wrong = 0, []
    for name in form(('BINFILE',), ROOMS):
        options = ROOMS[name]
        with Room(config=CONFIG, **options) as room:
            room.run(*ALONE, preload=['failat'], FAIL_COUNT=room.at('count'))
            with open(room.at('count'), encoding='ascii') as file:
                count = int(file.read())
        for n in sample(count, form(25, 2000)):
            wrong += [f'{name}, allocation {n}: {w}' for w in
                      one_run(options, {'FAIL_AT': str(n), 'FAIL_FOR': '1' if forever else '0'}, ['failat'], ALONE)]
            runs += 1
    return runs, wrong


def in_a_recovery(call):
    """The recovery fails in the middle; the next one, without a fault, brings it to its end."""
    runs, wrong = 0, []
    for name, options in ROOMS.items():
        count = 0
        for n in [0, *range(1, form(4, 200))]:
            if n > count and n:
                break
            with Room(config=CONFIG, **options) as room:
                room.run('burst', 'events=1500', 'threads=2', 'flush=0', 'end=1')
                environment = {'FAULT': f'{call}:{getattr(errno, ERRORS[call][0])}:{n}:{n}'} if n else {'SYSCOUNT': room.at('count')}
                result = room.tool('recover', LD_PRELOAD=battery.library('sysfail'), **environment)
                if result.returncode not in (0, 1, 2):
                    wrong.append(f'{name}, {call} {n}: status {result.returncode}')
                if not n:
                    count = counts_of(room.at('count')).get(call, 0)
                wrong += [f'{name}, {call} {n}: {w}' for w in room.diagnostics(killed=True)]
                runs += 1
    return runs, wrong


VERBS = {
    'show': ('show', '--format', '$(EVENT)$(DATA)', 'out/out.ctb'), 'show --json': ('show', '--json', 'out/out.ctb'), 'stats': ('stats', '-j', 'out/out.ctb'),
    'export csv': ('export', '-f', 'csv', 'out/out.ctb'), 'export chrome': ('export', '-f', 'chrome', 'out/out.ctb'),
    'ipcs': ('ipcs', 'CTRACE QUERY', 'out/out.ctb'), 'diff': ('diff', 'out/out.ctb', 'out/out.ctb'),
}


def in_a_verb(kind):
    runs, wrong = 0, []
    with Room(text=False) as room:
        room.run('burst', 'events=200', 'threads=2')
        for name, command in VERBS.items():
            whole = room.tool(*command)
            if kind == 'allocation':
                room.tool(*command, LD_PRELOAD=battery.library('failat'), FAIL_COUNT=room.at('count'))
                with open(room.at('count'), encoding='ascii') as file:
                    points = [({'FAIL_AT': str(n), 'FAIL_FOR': str(f)}, f'allocation {n}') for n in sample(int(file.read()), form(12, 2000)) for f in (0, 1)]
                preload = 'failat'
            else:
                room.tool(*command, LD_PRELOAD=battery.library('sysfail'), SYSCOUNT=room.at('count'))
                counts, preload = counts_of(room.at('count')), 'sysfail'
                points = [({'FAULT': f'{call}:{getattr(errno, ERRORS[call][0])}:{n}:{to}'}, f'{call} {n}')
                          for call in ('open', 'pread', 'read', 'fstat', 'mmap', 'write', 'stat') for n in sample(counts.get(call, 0), form(3, 300))
                          for to in (n, 1 << 40)]
            for environment, what in points:
                result = room.tool(*command, LD_PRELOAD=battery.library(preload), **environment)
                runs += 1
                if result.returncode < 0 or result.returncode > 2:
                    wrong.append(f'{name}, {what}: status {result.returncode}')
                elif result.returncode == 0 and result.stdout != whole.stdout and whole.returncode == 0:
                    wrong.append(f'{name}, {what}: status 0 and another output')
    return runs, wrong


every = sorted(ERRORS)
chosen = form(('fallocate', 'fcntl', 'flock', 'fstat', 'ftruncate', 'mkdir', 'mmap', 'open', 'pread', 'pwrite', 'pwritev', 'socket', 'stat', 'write'), every)
for call in chosen:
    report.trial(f'{call} fails once in the library', in_the_library, call, False, form(('BINFILE',), ROOMS))
for call in form(('fallocate', 'mmap', 'open', 'pwrite'), every):
    report.trial(f'{call} fails for ever in the library', in_the_library, call, True, form(('BINFILE',), ROOMS))
for call in ('pwrite', 'write'):
    report.trial(f'{call} transfers half', halved, call)
report.trial('each allocation fails once in the library', allocations, False)
report.trial('allocations fail for ever in the library', allocations, True)
for call in form(('fstat', 'pwrite', 'ftruncate', 'open'), every):
    report.trial(f'{call} fails in a recovery', in_a_recovery, call)
report.trial('an allocation fails in a verb', in_a_verb, 'allocation')
report.trial('a system call fails in a verb', in_a_verb, 'call')
report.end()
