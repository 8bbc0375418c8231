#!/usr/bin/env python3
"""Tracing never stops production: whatever is in the way of ctrace run, the program runs, and its output and exit status come through.

One row for each obstacle.  Without an option that cannot be met the program runs, traced elsewhere or untraced with one sentence on
standard error; with -o it is refused.  The second part is the limit of size.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import json
import os
import re
import resource
import shutil
import stat
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402
from disk import others_may_enter  # noqa: E402

checks = tap.Tap()
BUILD = os.environ['CTRACE_BUILD']
HERE = os.getcwd()
UNTRACED = '; the program runs untraced\n'
PROGRAM = """\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SEVEN.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01 N PIC 9(9).
       01 P PIC 9(9).
       PROCEDURE DIVISION.
       BEGIN-IT.
           ACCEPT N FROM COMMAND-LINE.
           DISPLAY "out".
           PERFORM WORK-IT N TIMES.
       LAST-ONE.
           STOP RUN RETURNING 7.
       WORK-IT.
           CONTINUE.
"""
if not os.path.exists(os.path.join(BUILD, 'libctrace-cobol.so')):
    checks.skip('ctrace run always runs the program', 'libctrace-cobol.so was not built')
    checks.end()
with open('seven.cob', 'w', encoding='ascii') as source:
    source.write(PROGRAM)
subprocess.run(['cobc', '-x', '-ftrace', '-o', 'seven', 'seven.cob'], check=True)


def as_nobody():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


class Room:
    """A working directory for one obstacle."""

    def __init__(self, name):
        self.path = os.path.join(HERE, re.sub(r'\W+', '-', name))
        os.mkdir(self.path)
        shutil.copy('seven', self.at('seven'))
        self.environment = dict(os.environ)
        self.before = None  # called in the child
        self.program = './seven'
        self.held = []

    def at(self, name):
        return os.path.join(self.path, name)

    def trace(self, name, run='0' * 32):
        os.mkdir(self.at(name))
        with open(self.at(f'{name}/.ctrace-run'), 'w', encoding='ascii') as mark:
            mark.write(run)

    def hold(self, name):
        fd = os.open(self.at(name), os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        self.held.append(fd)

    def run(self, *options):
        done = subprocess.run(['ctrace', 'run', *options, self.program, '1'], cwd=self.path, env=self.environment, preexec_fn=self.before,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return done

    def traces(self):
        return sorted(name for name in os.listdir(self.path) if name.endswith('.ctb') and os.path.isdir(self.at(name))
                      and any(re.fullmatch(r'seven\.\d+\.ctb', one) for one in os.listdir(self.at(name))))


def busy(room):
    room.trace('seven.ctb')
    room.hold('seven.ctb')


def no_trace(room):
    with open(room.at('seven.ctb'), 'w', encoding='ascii') as file:
        file.write("the user's")


def other_directory(room):
    os.mkdir(room.at('seven.ctb'))
    no_trace_in = room.at('seven.ctb/mine')
    open(no_trace_in, 'w', encoding='ascii').close()


def old_is_no_trace(room):
    room.trace('seven.ctb')
    os.mkdir(room.at('seven.ctb/kept'))
    os.mkdir(room.at('seven.ctb.old'))
    open(room.at('seven.ctb.old/mine'), 'w', encoding='ascii').close()


def read_only(room):
    os.chmod(room.path, 0o555)
    room.before = as_nobody


def no_temporary(room):
    room.environment['TMPDIR'] = '/proc/none'


def no_descriptors(room):
    room.before = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))


def no_files(room):
    room.before = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def no_processes(room):
    def limit():
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        as_nobody()
    os.chmod(room.path, 0o777)
    room.before = limit


def no_library(room):
    tool = shutil.copy(os.path.join(BUILD, 'ctrace'), room.at('ctrace'))
    room.environment['PATH'] = os.path.dirname(tool) + ':' + room.environment['PATH']


def odd_library(room):
    os.mkdir(room.at('a b'))
    for name in ('ctrace', 'libctrace-cobol.so'):
        shutil.copy(os.path.join(BUILD, name), room.at(f'a b/{name}'))
    room.environment['PATH'] = room.at('a b') + ':' + room.environment['PATH']


def static(room):
    with open(room.at('seven.c'), 'w', encoding='ascii') as source:
        source.write('#include <stdio.h>\nint main(void) { puts("out"); return 7; }\n')
    subprocess.run(['cc', '-static', '-o', 'seven', 'seven.c'], cwd=room.path, check=True)


def set_gid(room):
    os.chown(room.at('seven'), 0, 1)
    os.chmod(room.at('seven'), 0o755 | stat.S_ISGID)


def no_configuration(room):
    room.environment['MFTRACE_CONFIG'] = '/nowhere/mftrace.cfg'


def no_catalogue(room):
    room.environment['CTRACE_CATALOG'] = '/nowhere'


def no_run_directory(room):
    room.environment['CTRACE_RUN_DIR'] = '/proc/none'


def dollar(room):
    os.mkdir(room.at('a$b'))
    room.path = room.at('a$b')
    shutil.copy(os.path.join(HERE, 'seven'), room.at('seven'))


def large_environment(room):
    """The program's own environment has room; with the variables of the run it has none."""
    for size in range(131072 - 11, 100000, -1000):
        room.environment['LD_PRELOAD'] = ''
        room.environment['ASAN_OPTIONS'] = 'x' * (size - len('ASAN_OPTIONS='))
        if subprocess.run(['true'], env=room.environment, check=False).returncode == 0:
            return


ELSEWHERE, TRACED, IS_UNTRACED, NOT_READ = 'elsewhere', 'traced', 'untraced', 'without the file'
ROWS = [
    ('nothing in the way', lambda room: None, TRACED), ('another run writes there', busy, ELSEWHERE),
    ('a file has the name', no_trace, ELSEWHERE), ('a directory has the name', other_directory, ELSEWHERE),
    ('the old name is no trace', old_is_no_trace, ELSEWHERE), ('a directory that is read only', read_only, IS_UNTRACED),
    ('a path with a dollar', dollar, IS_UNTRACED), ('no temporary directory', no_temporary, IS_UNTRACED),
    ('no descriptors', no_descriptors, IS_UNTRACED), ('no file may grow', no_files, IS_UNTRACED),
    ('no process may be made', no_processes, IS_UNTRACED), ('no library', no_library, IS_UNTRACED),
    ('a library whose path has a blank', odd_library, IS_UNTRACED), ('a static program', static, IS_UNTRACED),
    ('a set-gid program', set_gid, IS_UNTRACED), ('an environment without room', large_environment, IS_UNTRACED),
    ('a configuration that is not there', no_configuration, NOT_READ), ('a catalogue that is not there', no_catalogue, TRACED),
    ('a run directory that cannot be made', no_run_directory, TRACED),
]
MET_BY_NAME = (TRACED, ELSEWHERE, NOT_READ)
for name, obstacle, outcome in ROWS:
    room = Room(name)
    obstacle(room)
    if obstacle in (read_only, no_processes) and not others_may_enter(BUILD):
        checks.skip(f'{name}: the program runs, {outcome}', 'no other user may enter the build directory')
        continue
    done = room.run('--summary=never')
    good = done.returncode == 7 and done.stdout == 'out\n'
    if outcome == IS_UNTRACED:
        good = good and done.stderr.endswith(UNTRACED) and done.stderr.count('\n') == 1 and not room.traces()
    elif outcome == NOT_READ:
        good = good and done.stderr.endswith('; the run goes without this MFTRACE_CONFIG\n') and room.traces() == ['seven.ctb']
    else:
        wanted = r'seven\.ctb' if outcome == TRACED else r'seven\.\d+\.ctb'
        good = good and done.stderr.count('\n') == (obstacle is no_catalogue) and len(room.traces()) == 1 and re.fullmatch(wanted, room.traces()[0])
    checks.check(f'{name}: the program runs, {outcome}', good, done, room.traces())
    if outcome not in MET_BY_NAME:
        done = room.run('-o', 'mine.ctb', '--summary=never')
        checks.check(f'{name}: refused with -o', done.returncode == 125 and done.stdout == '' and done.stderr.count('\n') == 1, done)
busy_room = Room('the page')
busy(busy_room)
done = busy_room.run('--summary=always')
checks.check('the page names the trace', f'ctrace show {(busy_room.traces() or ["-"])[0]}' in done.stderr, done)
done = busy_room.run('-o', 'seven.ctb')
checks.check('and a name that was asked for is not replaced', done.returncode == 125 and 'another ctrace run writes to it' in done.stderr, done)
for options in (['--config', '/nowhere'], ['--report', '/nowhere/page.html']):
    done = busy_room.run(*options)
    checks.check(f'{options[0]} that cannot be met: refused', done.returncode == 125 and done.stdout == '', done)

# ---- steps that leave a sign that they were not traced
if os.geteuid() == 0 and shutil.which('setpriv') and others_may_enter(BUILD):
    room = Room('another user')
    os.chmod(room.path, 0o777)
    other = 'setpriv --reuid 65534 --regid 65534 --clear-groups'
    for count in (0, 1, 2):
        steps = ['./seven 1', 'env -i ./seven 1'] + [f'{other} ./seven 1'] * count
        done = subprocess.run(['ctrace', 'run', '--summary=always', '-o', f'{count}.ctb', 'sh', '-c', '; '.join(steps)], cwd=room.path,
                              capture_output=True, text=True, check=False)
        found = re.findall(r'(\d+) programs? ran untraced, as another user', done.stderr)
        checks.check(f'{count} steps of another user are reported', done.returncode == 7 and done.stdout == 'out\n' * len(steps)
                     and found == [str(count)][:count], done)
    done = subprocess.run(['ctrace', 'run', '--summary=never', '-o', 'all.ctb', 'sh', '-c', f'{other} ./seven 1; {other} ./seven 1'],
                          cwd=room.path, capture_output=True, text=True, check=False)
    checks.same('all of another user, and no page: one reason, the one that is known', done.stderr,
                'ctrace run: sh: 2 programs ran untraced, as another user who cannot read the configuration of the run\n')
else:
    checks.skip('steps of another user are reported', 'not root')

# ---- the limit of size
LIMIT = 8 << 20
EVENTS = 1000000


def size(trace):
    return sum(os.path.getsize(os.path.join(where, name)) for where, _, names in os.walk(trace) for name in names)


def figures(text):
    """Events that were traced, that are in the trace, and that were left out, as the page has them."""
    found = re.search(r'of ([\d,]+) events, ([\d,]+) are in the trace\n([\d,]+) were left out \(', text)
    return [int(one.replace(',', '')) for one in found.groups()] if found else [0, 0, 0]


def seconds(text, pattern):
    found = re.search(pattern + r'([\d.]+) (ns|us|ms|s)\b', text)
    return float(found[1]) * {'ns': 1e-9, 'us': 1e-6, 'ms': 1e-3, 's': 1}[found[2]] if found else 1e9


def discarded(trace):
    errors = subprocess.run(['ctrace', 'stats', trace], capture_output=True, text=True, check=False).stderr
    found = re.search(r'(\d+) events were discarded before being written', errors)
    return int(found[1]) if found else 0


def check_gap(trace, page, over, ran):
    """No time has what was left out: three digits are printed."""
    times = [seconds(page, r'\nSEVEN +1 +'), seconds(page, r'\nWORK-IT +SEVEN +[\d,]+ +')]
    stats = subprocess.run(['ctrace', 'stats', '--by=paragraph', trace], capture_output=True, text=True, check=False).stdout
    times.append(seconds(re.sub(r'([\d.]+)(ns|us|ms|s)\b', r'\1 \2', stats), r'\nWORK-IT of SEVEN +\d+ +'))
    checks.check('no time has what was left out', all(one + over < 1.01 * ran for one in times) and 'times do not include what' in page, times, over, ran,
                 page, stats)


room = Room('limit')
script = f'./seven {EVENTS} >/dev/null & ./seven {EVENTS} >/dev/null & wait; ./seven {EVENTS}'
for name, words, count in (('one', ['./seven', str(EVENTS)], 1), ('a script', ['sh', '-c', script], 3)):
    trace = room.at(f'{count}.ctb')
    done = subprocess.run(['ctrace', 'run', '--limit-size=8M', '--summary=always', '-o', trace, *words], cwd=room.path, capture_output=True,
                          text=True, check=False)
    traced, kept, left_out = figures(done.stderr)
    checks.check(f'{name}: the status is the program\'s', done.returncode == 7, done)
    checks.check(f'{name}: kept and left out are all events', traced == kept + left_out and traced >= count * EVENTS, done.stderr)
    checks.same(f'{name}: every reader counts them', discarded(trace), left_out)
    checks.check(f'{name}: the trace has its size', size(trace) < LIMIT + count * (4 << 20), size(trace))
    shown = subprocess.run(['ctrace', 'show', '--json', trace], capture_output=True, text=True, check=False).stdout.splitlines()
    checks.same(f'{name}: the readers have the rest', len(shown), kept)
    first, last = json.loads(shown[0]), json.dumps(json.loads(shown[-1]))
    if count == 1:
        over = seconds(done.stderr, r'left out \(.* over ')
        check_gap(trace, done.stderr, over, seconds(done.stderr, r' after '))
    checks.check(f'{name}: with the beginning and the end', 'LAST-ONE' in ''.join(shown[-20:]) and 'BEGIN-IT' in ''.join(shown[:60]), first, last)
done = subprocess.run(['ctrace', 'run', '--limit-size=none', '--summary=always', './seven', str(EVENTS)], cwd=room.path, capture_output=True,
                      text=True, check=False)
checks.check('none keeps all', 'left out' not in done.stderr and discarded(room.at('seven.ctb')) == 0, done.stderr)
done = subprocess.run(['ctrace', 'run', '--limit-size=1', './seven', '1'], cwd=room.path, capture_output=True, text=True, check=False)
checks.check('a limit without room for the parts is refused', done.returncode == 2 and 'at least 8M' in done.stderr, done)
checks.end()
