#!/usr/bin/env python3
"""Several copies of the library in one process, with one configuration: each event is in an output, whatever ends the process.

The program has libctrace.so, and its plug-ins contain libctrace.a.  They have the same names for their output.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import collections
import glob
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

SOURCE = os.environ['CTRACE_SOURCE']
BUILD = os.environ['CTRACE_BUILD']
SUBJECT = f'{BUILD}/tests/copies_subject'
TOOL = f'{BUILD}/ctrace'
HANG = 60  # stops what hangs
MODULES = [os.path.abspath(f'{name}.so') for name in ('one', 'two', 'three')]
EACH = {name: 100 for name in ('program', 'one', 'two', 'three')}
checks = tap.Tap(is_live=True)


def build():
    """The library comes first in a module, so that the module's destructor traces before the library's ends the tracing."""
    for module in MODULES:
        name = os.path.basename(module)[:-3]
        made = subprocess.run(['cc', '-shared', '-fPIC', '-DIS_MODULE', f'-DCOPY="{name}"', '-I', f'{SOURCE}/include', '-o', module, '-Wl,--whole-archive',
                               f'{BUILD}/libctrace.a', '-Wl,--no-whole-archive', f'{SOURCE}/tests/process/copies_subject.c', '-Wl,-z,nodelete,-Bsymbolic', '-pthread', '-ldl', '-lm'],
                              capture_output=True, text=True, check=False)
        if made.returncode != 0:
            return made.stderr
    return ''


def environment(**variables):
    return {**os.environ, 'MFTRACE_CONFIG': os.path.abspath('cfg'), 'CTRACE_RUN_DIR': os.path.abspath('run'), **variables}


def start(words, **variables):
    return subprocess.Popen([SUBJECT, *words], env=environment(**variables), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def tool(*words):
    return subprocess.run([TOOL, *words], env=environment(), capture_output=True, text=True, check=False)


def configure(destination, *lines):
    subprocess.run(['rm', '-rf', 'out', 'run'], check=True)
    with open('cfg', 'w', encoding='ascii') as file:
        file.write('\n'.join(('mftrace.level = info', f'mftrace.dest = {destination}', f'mftrace.emitter.{destination}#location = {os.path.abspath("out")}',
                              'mftrace.emitter.textfile#format = $(COMPONENT)', *lines, '')))


def events(destination):
    outputs = glob.glob('out/*')
    if destination == 'binfile':
        lines = tool('show', '--format=$(COMPONENT)', *outputs).stdout.splitlines() if outputs else []
    else:
        lines = [line.strip() for name in outputs for line in open(name, encoding='ascii')]
    return dict(collections.Counter(line for line in lines if line in EACH))


def times(factor, names=EACH):
    return {name: 100 * factor for name in names}


def each_end(destination, *lines):
    """By itself, or by SIGKILL at any time: with events that wait, too."""
    what = ' '.join((destination, *lines))
    for steps, factor in ((['trace'], 1), (['trace', 'flush', 'trace'], 2), (['own', 'flush', 'trace', 'flush'], 1)):
        for end in ([], ['kill']):
            configure(destination, *lines)
            with start([*MODULES, *steps, *end]) as process:
                process.communicate(timeout=HANG)
            recovered = tool('recover')
            wanted = times(factor)
            wanted['program'] += 100 * steps.count('own')
            name = f'{what}: {" ".join(steps + end)}'
            checks.same(f'{name}: ends', process.returncode, -signal.SIGKILL if end else 0)
            checks.check(f'{name}: all is there', events(destination) == wanted, events(destination), wanted, os.listdir('out'), recovered)
            checks.same(f'{name}: nothing is left', glob.glob('run/*/session'), [])


def a_copy_begins_when_others_have_ended(destination):
    """One copy has closed its output, and the process lives: the output is as little replaced as an open one."""
    configure(destination)
    with start([*MODULES, 'own', 'flush'], LATE='1') as process:
        process.communicate(timeout=HANG)
    checks.check(f'{destination}: copies that trace while the process ends', events(destination) == EACH, events(destination), os.listdir('out'))


def a_fork(destination):
    configure(destination, f'mftrace.emitter.{destination}#file = fixed')
    for end in ([], ['kill']):
        subprocess.run(['rm', '-rf', 'out', 'run'], check=True)
        with start([*MODULES, 'trace', 'flush', 'ready', 'fork', 'trace', *end]) as process:
            process.communicate('\n', timeout=HANG)
        recovered = tool('recover')
        checks.check(f'{destination}: parent and child {" ".join(end)}', events(destination) == times(2), events(destination), os.listdir('out'), recovered)


def locks(pid):
    """The files on which the process has a lock of its own."""
    with open('/proc/locks', encoding='ascii') as file:
        found = re.findall(r'POSIX +ADVISORY +WRITE (\d+) \w+:\w+:(\d+) ', file.read())
    return {int(inode) for owner, inode in found if int(owner) == pid}


def wanted_locks(*patterns):
    return {os.stat(name).st_ino for pattern in patterns for name in glob.glob(pattern)}


def threads(pid):
    names = set()
    for path in glob.glob(f'/proc/{pid}/task/*/comm'):
        try:
            with open(path, encoding='ascii') as file:
                names.add(file.read().strip())
        except (FileNotFoundError, ProcessLookupError):
            pass
    return names


def the_locks_stay():
    """A copy that looks for orphans, or opens an output, closes no file that another copy has locked."""
    configure('binfile')
    with start([*MODULES, 'own', 'kill']) as process:
        process.communicate(timeout=HANG)
    orphans = glob.glob('run/*/session')
    with start([*MODULES, 'trace', 'flush', 'ready']) as process:
        assert process.stdout.readline() == 'ready\n'
        began = time.monotonic()
        while (any(map(os.path.exists, orphans)) or 'ctrace-recovery' in threads(process.pid)) and time.monotonic() - began < HANG:
            time.sleep(0.01)
        checks.check('an orphan is recovered', len(orphans) == 1 and not os.path.exists(orphans[0]), orphans)
        files = wanted_locks(f'run/{process.pid}.*/session', f'out/*.{process.pid}.ctb*/metadata')
        if not locks(process.pid):
            checks.skip('each copy has its locks', '/proc/locks shows none')
        else:
            checks.check('each copy has its locks', len(files) == 8 and files <= locks(process.pid), files, locks(process.pid))
        process.communicate('\n', timeout=HANG)
    wanted = {**EACH, 'program': 200}
    checks.check('and their events', events('binfile') == wanted, events('binfile'))


problem = build()
if problem:
    checks.skip('copies of the library', problem.splitlines()[-1])
    sys.exit(checks.end())
for each in ('binfile', 'textfile'):
    each_end(each)
    each_end(each, f'mftrace.emitter.{each}#file = fixed')
    a_copy_begins_when_others_have_ended(each)
    a_fork(each)
each_end('textfile', 'mftrace.emitter.textfile#multiproc = true')
each_end('binfile', 'mftrace.emitter.binfile#maxgeneration = 3')
the_locks_stay()
sys.exit(checks.end())
