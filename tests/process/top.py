#!/usr/bin/env python3
"""ctrace top on a terminal: rows, keys, levels, any size, and a terminal that is as before however it ends; and in a batch."""

import json
import os
import re
import signal
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402
from terminal import PATIENCE, Terminal  # noqa: E402

BUILD = os.environ['CTRACE_BUILD']
SUBJECT = os.path.join(BUILD, 'tests', 'tool_subject')
checks = tap.Tap(is_live=True)
check = checks.clean


def on_terminal(*arguments, **options):
    return Terminal(os.path.join(BUILD, 'ctrace'), 'top', *arguments, **options)


class Subject:
    def __init__(self):
        self.process = subprocess.Popen([SUBJECT, '5'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env=dict(os.environ, MFTRACE_CONFIG=os.path.abspath('app.cfg')))
        assert self.process.stdout.readline() == 'ready\n'
        self.pid = self.process.pid

    def order(self, what):
        self.process.stdin.write(f'{what}\n')
        self.process.stdin.flush()
        assert self.process.stdout.readline() == '0\n'

    def finish(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def run(*arguments):
    done = subprocess.run([os.path.join(BUILD, 'ctrace'), *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


def level_of(pid, component):
    listed = json.loads(run('stats', '--json', '--pid', str(pid))[1])
    return next(c['level'] for c in listed['processes'][0]['components'] if c['component'] == component)


def watched(one, other):
    top = on_terminal('--interval=0.3')
    check('a screen', top.wait(r'^ctrace top  \d\d:\d\d:\d\d  every 0\.3s  2 processes'))
    check('a row of a component', top.wait(rf'^ *{one.pid}  TOOL_SUB  tool\.main +INFO +[0-9.]+ +[0-9.]+ +[0-9.]+ +\d+  TEXTFILE'))
    check('the keys', top.wait(r'q end'))
    check('hostile names are escaped', top.wait(r'tool\.evil\\u\{1B\}'))
    check('nothing of them reached the terminal', '' if 'forged\n' not in top.raw and '\x1b[2J\n9999' not in top.raw else 'it did')

    def shown(_):
        one.order('20000')
        return re.search(rf'^ *{one.pid}  TOOL_SUB  tool\.main +INFO +[0-9.]{{2,4}}[kM] +[0-9.]{{2,4}}[kM] +0 ', top.screen.text(), re.MULTILINE)
    end = time.monotonic() + PATIENCE
    while not shown(None) and time.monotonic() < end:
        top.read(0.1)
    check('what traces has a rate, in three digits and a unit', '' if shown(None) else top.screen.text())

    top.press('>>>>')
    check('sorted by name', top.wait(r'^sorted by name'))
    top.press('<<<<')
    check('and back', top.wait(r'^sorted by events'))
    top.press('r')
    check('reversed', top.wait(r'^sorted by events, reversed'))
    top.press('r/part\r')
    check('filtered', top.wait(r'only /part'))

    def rows_of_filter():
        """None while the screen is half drawn, or never as it should be."""
        rows = [line for line in top.screen.text().split('\n') if 'TOOL_SUB' in line]
        return rows if len(rows) == 2 and all('tool.main.part' in row for row in rows) else None
    end = time.monotonic() + PATIENCE
    while rows_of_filter() is None and time.monotonic() < end:
        top.read(0.05)
    check('only those', '' if rows_of_filter() is not None else top.screen.text())

    # ---- levels
    top.press('>>>>>')  # by pid
    check('sorted by pid', top.wait('^sorted by pid'))
    top.press('\x1b[H\x1bOH')  # home, on whatever terminal
    first, second = sorted([one, other], key=lambda subject: subject.pid)
    time_left = time.monotonic() + PATIENCE
    top.press('e')
    check('a level is set: said', top.wait(rf'^{first.pid} tool\.main\.part: INFO -> ERROR'))
    check('a level is set: shown', top.wait(rf'^ *{first.pid}  TOOL_SUB  tool\.main\.part +ERROR'))
    check('a level is set: in force', '' if level_of(first.pid, 'tool.main.part') == 'ERROR' else level_of(first.pid, 'tool.main.part'))
    check('in that process only', '' if level_of(second.pid, 'tool.main.part') == 'INFO' else level_of(second.pid, 'tool.main.part'))
    top.press('\x1bOB')
    top.press('D')
    check('everywhere: said', top.wait(r'^tool\.main\.part: DEBUG in 2 places'))
    check('everywhere: in force', '' if {level_of(s.pid, 'tool.main.part') for s in (one, other)} == {'DEBUG'} else 'no')
    check('the level of what it is part of stays', '' if level_of(one.pid, 'tool.main') == 'INFO' else level_of(one.pid, 'tool.main'))
    top.press('n')
    check('the one that is selected', top.wait(rf'^{second.pid} tool\.main\.part: DEBUG -> NONE'))
    assert time.monotonic() < time_left + PATIENCE

    # ---- help, size, pause
    top.press('/\x1b')
    check('the filter is forgotten', top.wait(r'tool\.main  '))
    top.press('?')
    check('help', top.wait('in every process that has the component'))
    for lines, columns in ((5, 40), (1, 10), (2, 1), (3, 200), (50, 200), (24, 120)):
        top.resize(lines, columns)
        top.press(' ')
        while top.read(0.5):
            pass
        check(f'{lines} lines of {columns}: it goes on', '' if top.process.poll() is None else f'status {top.process.poll()}')
    top.press('?')
    for columns, row in ((60, rf'^ *{one.pid}  tool\.main +INFO '), (70, rf'^ *{one.pid}  tool\.main +INFO '), (80, rf'^ *{one.pid}  TOOL_SUB  tool\.main +INFO ')):
        top.resize(24, columns)
        top.press(' ')
        check(f'{columns} columns: the rates', top.wait(r'^ +PID .* COMPONENT +LEVEL +EVENTS/S +BYTES/S +LOST/S( |$)'))
        check(f'{columns} columns: the first line', top.wait(r'^\d\d:\d\d:\d\d  2 processes  .* lost/s$'))
        check(f'{columns} columns: the keys', top.wait(r' q end$'))
        check(f'{columns} columns: a row', top.wait(row + r'.*\b0( |$)'))
        check(f'{columns} columns: no word is cut', '' if 'DEST' not in top.screen.text() or 'DESTINATIONS' in top.screen.text() else top.screen.text())
    top.press('?')
    top.resize(24, 120)
    check('what fits is drawn', top.wait(r'^ctrace top .*\n'))
    top.press('?')
    check('help goes', top.wait(r'TOOL_SUB'))
    top.press('p')
    check('pause', top.wait('PAUSED'))
    top.press('p+')
    check('less often', top.wait(r'every 0\.6s'))
    check('still the terminal is curses\'', '' if termios.tcgetattr(top.slave) != top.before else 'no')
    top.press('q')
    check('q ends it', '' if top.end() == 0 else f'status {top.process.poll()}')
    check('q: the terminal is as before', top.is_restored())
    check('nothing is said', top.process.stderr.read().decode())
    top.close()


def by_signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        top = on_terminal()
        top.wait('TOOL_SUB')
        top.process.send_signal(number)
        name = signal.Signals(number).name
        check(f'{name} ends it', '' if top.end() == 0 else f'status {top.process.poll()}')
        check(f'{name}: the terminal is as before', top.is_restored())
        top.close()
    top = on_terminal('-n', '1', '-i', '0.1')
    check('so many looks', '' if top.end() == 0 else f'status {top.process.poll()}')
    top.close()
    top = on_terminal(term='no-such-terminal')
    check('an unknown terminal: status', '' if top.end() == 2 else f'status {top.process.poll()}')
    check('an unknown terminal: said', '' if '--batch' in top.process.stderr.read().decode() else 'no')
    check('an unknown terminal: as before', top.is_restored())
    top.close()


def in_a_batch(one):
    status, out, err = run('top', '-b', '-n', '2', '-i', '0.1', '--sort=name')
    check('a batch: status', '' if status == 0 else f'{status} {err}')
    check('a batch: two tables', '' if out.count('DESTINATIONS') == 2 else out)
    check('a batch: no sequences', '' if '\x1b' not in out else out)
    check('a batch: a row', '' if re.search(rf'^ *{one.pid}  TOOL_SUB  tool\.main +INFO +0 ', out, re.MULTILINE) else out)
    status, out, _ = run('top', '-b', '-j', '-n', '1', '-i', '0.1', '-c', '*MAIN.P*', '--pid', str(one.pid))
    rows = json.loads(out)['components']
    check('a batch as JSON, filtered', '' if [r['component'] for r in rows] == ['tool.main.part'] and rows[0]['destinations'] == ['TEXTFILE'] else out)
    shell = f'{BUILD}/ctrace top -b -i 0.1; echo $? >ended'
    subprocess.run(['bash', '-c', f'{{ {shell}; }} | head -1'], stdout=subprocess.DEVNULL, timeout=PATIENCE, check=False)
    with open('ended', encoding='ascii') as file:
        check('a batch whose reader goes ends, and well', '' if file.read() == '0\n' else 'no')


def refused():
    for arguments in ([], ['word'], ['-b', '-n', '0'], ['-b', '-i', '0'], ['-b', '--sort=x'], ['-j'], ['-b', '-c', 'x' * 64]):
        status, _, _ = run('top', *arguments)
        check(f'refused: {" ".join(arguments)[:20] or "no terminal"}', '' if status == 2 else f'status {status}')


with open('app.cfg', 'w', encoding='ascii') as config:
    config.write(f'mftrace.level = none\nmftrace.level.tool = info\nmftrace.dest = textfile\n'
                 f'mftrace.emitter.textfile#location = {os.getcwd()}\nmftrace.emitter.textfile#file = $(PID).log\n')
check('nothing is traced', '' if run('top', '-b', '-n', '1', '-i', '0.1')[0] == 1 else 'status')
subjects = [Subject(), Subject()]
watched(*subjects)
by_signals()
in_a_batch(subjects[0])
refused()
for subject in subjects:
    subject.finish()
sys.exit(checks.end())
