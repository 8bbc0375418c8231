#!/usr/bin/env python3
"""ctrace run whose trace is on a full file system.

To the event: traced = in the trace + waiting in rings + lost by reason.  Waiting events come into the trace of their own run, never into
another one, and nothing is written elsewhere.  CTRACE_TEST_LONG=1 tries twenty sizes of the file system instead of three.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import disk  # noqa: E402
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
RUN = os.environ['CTRACE_RUN_DIR']
# Where cc is ccache, it keeps files in HOME and elsewhere.
os.environ['PATH'] = ':'.join(directory for directory in os.environ['PATH'].split(':') if 'ccache' not in directory)
DISK = 'disk'
PATIENCE = 120

PROGRAMS = {
    'records': ('--records',), 'paragraphs': (), 'orders': (),
}
PARAGRAPHS = """\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. PARAGRAPHS.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01 N PIC 9(9) COMP-5 VALUE 0.
       01 LINE-IN PIC X.
       PROCEDURE DIVISION.
       BEGIN-IT.
           PERFORM STEP-A 50000 TIMES.
           DISPLAY "HALF".
           ACCEPT LINE-IN.
           PERFORM STEP-B 50000 TIMES.
           DISPLAY "N " N.
           STOP RUN RETURNING 7.
       STEP-A.
           ADD 1 TO N.
       STEP-B.
           ADD 2 TO N.
"""
RECORDS = """\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. RECORDS.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT OUT-FILE ASSIGN TO "out.dat"
               ORGANIZATION IS LINE SEQUENTIAL FILE STATUS IS FS.
       DATA DIVISION.
       FILE SECTION.
       FD OUT-FILE.
       01 OUT-REC PIC 9(9).
       WORKING-STORAGE SECTION.
       01 FS PIC XX.
       01 N PIC 9(9) VALUE 0.
       PROCEDURE DIVISION.
       BEGIN-IT.
           OPEN OUTPUT OUT-FILE.
           PERFORM WORK-IT 35000 TIMES.
           CLOSE OUT-FILE.
           DISPLAY "N " N.
           STOP RUN RETURNING 5.
       WORK-IT.
           PERFORM ADD-IT.
           MOVE N TO OUT-REC.
           WRITE OUT-REC.
       ADD-IT.
           ADD 1 TO N.
"""


def begin(size):
    """A new file system of this size."""
    disk.unmount(DISK)
    disk.mount(DISK, size)
    for name in os.listdir(RUN):
        if os.path.isdir(os.path.join(RUN, name)):
            shutil.rmtree(os.path.join(RUN, name))


def keep_room(runs):
    """For the marks of so many later runs: without a page for its mark a program is not run."""
    for i in range(runs):
        with open(f'{DISK}/room{i}', 'wb') as file:
            file.write(bytes(16 << 10))


def orphans():
    return sorted(name for name in os.listdir(RUN) if re.fullmatch(r'\d+\.\d+', name))


def run(name, trace=f'{DISK}/x.ctb', summary='always'):
    return subprocess.run(['ctrace', 'run', f'--summary={summary}', *PROGRAMS[name], '-o', trace, f'./{name}'], capture_output=True,
                          text=True, input='\n', timeout=PATIENCE, check=False)


def recover():
    return subprocess.run(['ctrace', 'recover'], capture_output=True, text=True, timeout=PATIENCE, check=False)


def count(trace):
    """Events, and losses that the trace reports."""
    out = subprocess.run(['ctrace', 'stats', '--json', trace], capture_output=True, text=True, timeout=PATIENCE, check=False).stdout
    stats = json.loads(out or '{"count": 0, "lost": 0}')
    return stats['count'], stats['lost']


def number(pattern, text):
    found = re.search(pattern, text, re.M)
    return int(found.group(1).replace(',', '')) if found else 0


def told(text):
    """What the page, or the messages without a page, report: traced, in the trace, waiting, lost, lost by reason."""
    reasons = re.search(r'lost: (.*)$', text, re.M)
    return (number(r'of ([0-9,]+) events, ', text), number(r'of [0-9,]+ events, ([0-9,]+) (?:is|are) in the trace', text),
            number(r'([0-9,]+) waits?\b', text), number(r'([0-9,]+) (?:was|were) lost', text),
            sum(int(one.replace(',', '')) for one in re.findall(r' ([0-9,]*[0-9])(?:,|$)', reasons.group(1))) if reasons else 0)


def records(trace):
    """The numbers of the records, which are different ones, in the order of the trace."""
    out = subprocess.run(['ctrace', 'show', trace], capture_output=True, text=True, timeout=PATIENCE, check=False).stdout
    return [int(bytes.fromhex(one)) for one in re.findall(r'WRITE .*record=([0-9A-F-]+)', out.replace('-', ''))]


def processes(trace):
    return sorted(glob.glob(f'{trace}/*/metadata'))


def compile_all():
    with open('paragraphs.cob', 'w', encoding='ascii') as file:
        file.write(PARAGRAPHS)
    with open('records.cob', 'w', encoding='ascii') as file:
        file.write(RECORDS)
    shutil.copy(os.path.join(os.environ['CTRACE_SOURCE'], 'examples', 'orders.cbl'), 'orders.cob')
    for name in PROGRAMS:
        subprocess.run(['cobc', '-x', '-ftrace', f'{name}.cob'], check=True)


def check_size(size, name, whole):
    begin(size)
    before = sorted(os.listdir('.'))
    done = run(name)
    what = f'{name} on {size}'
    checks.same(f'{what}: output and status', (done.stdout, done.returncode), (whole['out'], whole['status']))
    checks.same(f'{what}: no file elsewhere', (sorted(os.listdir('.')), os.listdir(os.environ['TMPDIR'])), (before, []))
    traced, shown, waiting, lost, by_reason = told(done.stderr)
    if traced == 0:  # nothing to report
        traced = shown = count(f'{DISK}/x.ctb')[0]
    checks.same(f'{what}: traced = in the trace + waiting + lost', (traced, shown + waiting + lost), (whole['count'], whole['count']))
    checks.same(f'{what}: the trace has as many', count(f'{DISK}/x.ctb')[0], shown)
    checks.same(f'{what}: lost by reason', by_reason, lost)
    checks.check(f'{what}: what is left is reported', (waiting > 0) == (orphans() != []) or lost > 0, orphans(), done.stderr)
    disk.mount(DISK, '64m')
    recovered = recover()
    checks.same(f'{what}: the rest comes later, once', (count(f'{DISK}/x.ctb'), orphans()), ((shown + waiting, lost), []))
    if name == 'records':
        seen = records(f'{DISK}/x.ctb')
        checks.check(f'{what}: no record twice, all in order', seen == sorted(set(seen)), recovered.stdout)
    return waiting + lost


def check_sizes():
    sizes = [f'{size}k' for size in range(100, 2100, 100)] if os.environ.get('CTRACE_TEST_LONG') else ['100k', '300k', '1200k']
    for name in PROGRAMS:
        begin('64m')
        done = run(name)
        whole = {'out': done.stdout, 'status': done.returncode, 'count': count(f'{DISK}/x.ctb')[0]}
        assert whole['count'] > 4000 and told(done.stderr) == (0, 0, 0, 0, 0), done.stderr
        missing = [check_size(size, name, whole) for size in sizes]
        checks.check(f'{name}: the smallest had no room for all', missing[0] > 0, missing)


def check_next_run():
    begin('200k')
    waited = told(run('records').stderr)
    disk.mount(DISK, '64m')
    run('paragraphs')
    checks.same('the next run: what waited is in the earlier trace', (count(f'{DISK}/x.ctb.old')[0], orphans()), (waited[1] + waited[2], []))
    checks.same('and not in its own', [os.path.basename(os.path.dirname(one)).split('.')[0] for one in processes(f'{DISK}/x.ctb')],
                ['paragraphs'])

    begin('200k')
    keep_room(1)
    first = told(run('records').stderr)
    os.unlink(f'{DISK}/room0')
    second = told(run('paragraphs').stderr)
    checks.check('two runs on a full disk: both have something that waits', first[2] > 0 and second[2] > 0 and len(orphans()) == 2, first, second)
    disk.mount(DISK, '64m')
    before = sorted(os.listdir('.'))
    recover()
    checks.same('each gets its own events', (count(f'{DISK}/x.ctb.old')[0], count(f'{DISK}/x.ctb')[0]),
                (first[1] + first[2], second[1] + second[2]))
    checks.same('each trace has one process', [len(processes(f'{DISK}/x.ctb.old')), len(processes(f'{DISK}/x.ctb'))], [1, 1])
    checks.same('nothing is left', (orphans(), sorted(os.listdir('.'))), ([], before))

    begin('200k')
    keep_room(2)
    first = told(run('records').stderr)
    os.unlink(f'{DISK}/room0')
    run('paragraphs')
    os.unlink(f'{DISK}/room1')
    third = run('paragraphs')
    checks.check('the run after next removes what waited for the trace that it replaces',
                 f'x.ctb.old: it was replaced, and {first[2]} events that waited' in third.stderr and len(orphans()) == 2, third.stderr)


def check_no_room():
    begin('64k')
    disk.fill(DISK, 4 << 10)  # the mark has room, a BINFILE has not
    before = sorted(os.listdir('.'))
    done = run('orders', summary='never')
    traced, shown, waiting, lost, _ = told(done.stderr)
    checks.check('no room for any event: all are accounted for', traced > 4000 and shown == 0 and waiting + lost == traced, done.stderr)
    checks.same('nothing is written elsewhere', sorted(os.listdir('.')), before)
    disk.mount(DISK, '64m')
    recover()
    checks.same('they come later', (count(f'{DISK}/x.ctb'), orphans()), ((waiting, lost), []))
    begin('4k')
    disk.fill(DISK)
    done = run('orders')
    checks.same('no room for a trace: the program is not run', (done.returncode, done.stdout, os.listdir(DISK)), (125, '', ['filler']))
    checks.check('and the reason is reported', 'disk/x.ctb: No space left on device' in done.stderr, done.stderr)


def check_emptied(whole):
    begin('64m')
    disk.fill(DISK, 200 << 10)
    tool = subprocess.Popen(['ctrace', 'run', '--summary=always', '-o', f'{DISK}/x.ctb', './paragraphs'], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = tool.stdout.readline()
    os.unlink(f'{DISK}/filler')
    out, errors = tool.communicate('\n', timeout=PATIENCE)
    checks.same('full, and emptied while the program runs: output and status', (line + out, tool.returncode), (whole[0], 7))
    traced, shown, waiting, lost, by_reason = told(errors)
    if traced == 0:
        traced = shown = count(f'{DISK}/x.ctb')[0]
    checks.same('all events are accounted for, and none waits', (traced, shown + lost, waiting, by_reason), (whole[1], whole[1], 0, lost))
    checks.same('the trace has the same numbers', (count(f'{DISK}/x.ctb'), orphans()), ((shown, lost), []))


def main():
    if shutil.which('cobc') is None or not os.path.exists(os.path.join(os.environ['CTRACE_BUILD'], 'libctrace-cobol.so')):
        checks.skip('ctrace run on a full disk', 'no cobc')
        return checks.end()
    if not disk.can_mount(checks, 'ctrace run on a full disk'):
        return checks.end()
    os.mkdir(DISK)
    compile_all()
    for name in PROGRAMS:
        run(name, trace='first.ctb')  # files that the programs write
    whole = (run('paragraphs', trace='first.ctb').stdout, count('first.ctb')[0])
    shutil.rmtree('first.ctb.old')
    check_sizes()
    check_next_run()
    check_no_room()
    check_emptied(whole)
    disk.unmount(DISK)
    return checks.end()


sys.exit(main())
