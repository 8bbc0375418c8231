#!/usr/bin/env python3
"""ctrace top on a terminal: rows, keys, levels, any size, and a terminal that is as before however it ends; and in a batch."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

BUILD = os.environ['CTRACE_BUILD']
SUBJECT = os.path.join(BUILD, 'tests', 'tool_subject')
PATIENCE = 60  # for what hangs; no test of speed
checks = tap.Tap(is_live=True)
check = checks.clean


class Screen:
    """What a terminal would show: the few sequences that TERM=vt100 uses."""

    TOKEN = re.compile(r'\x1b\[([?0-9;]*)([A-Za-z])|\x1b[()][A-Za-z0-9]|\x1b[=>78DMEc]|[\x0e\x0f\x07]|\r|\n|\x08|\t|[^\x1b\r\n\x08\t\x0e\x0f\x07]', re.DOTALL)

    def __init__(self, lines, columns):
        self.lines, self.columns = lines, columns
        self.rows = [[' '] * columns for _ in range(lines)]
        self.y = self.x = 0
        self.rest = ''

    def put(self, c):
        if self.x >= self.columns:
            self.x, self.y = 0, min(self.y + 1, self.lines - 1)
        self.rows[self.y][self.x] = c
        self.x += 1

    def feed(self, text):
        text = self.rest + text
        at = 0
        while at < len(text):
            token = self.TOKEN.match(text, at)
            if not token:
                break
            at = token.end()
            self.take(token)
        self.rest = text[at:]

    def take(self, token):
        whole = token.group()
        numbers = [int(n) if n.isdigit() else 0 for n in (token.group(1) or '').lstrip('?').split(';')]
        if token.group(2):
            first = max(numbers[0], 1)
            final = token.group(2)
            if final == 'H':
                self.y = min(first, self.lines) - 1  # what was drawn for another size may be still on its way
                self.x = min(max(numbers[1], 1), self.columns) - 1 if len(numbers) > 1 else 0
            elif final == 'J':
                if numbers[0] == 2:
                    self.rows = [[' '] * self.columns for _ in range(self.lines)]
                else:
                    self.rows[self.y][self.x:] = [' '] * (self.columns - self.x)
                    for y in range(self.y + 1, self.lines):
                        self.rows[y] = [' '] * self.columns
            elif final == 'K':
                if numbers[0] == 1:
                    self.rows[self.y][:self.x + 1] = [' '] * (self.x + 1)
                else:
                    self.rows[self.y][self.x:] = [' '] * (self.columns - self.x)
            elif final == 'A':
                self.y = max(self.y - first, 0)
            elif final == 'B':
                self.y = min(self.y + first, self.lines - 1)
            elif final == 'C':
                self.x = min(self.x + first, self.columns - 1)
            elif final == 'D':
                self.x = max(self.x - first, 0)
        elif whole == '\r':
            self.x = 0
        elif whole == '\n':
            self.y = min(self.y + 1, self.lines - 1)
        elif whole == '\x08':
            self.x = max(self.x - 1, 0)
        elif whole == '\t':
            self.x = min((self.x // 8 + 1) * 8, self.columns - 1)
        elif whole[0] != '\x1b' and whole >= ' ':
            self.put(whole)

    def text(self):
        return '\n'.join(''.join(row).rstrip() for row in self.rows)


class Top:
    def __init__(self, *arguments, lines=24, columns=120, term='vt100'):
        self.master, self.slave = pty.openpty()
        self.resize(lines, columns, tell=False)
        self.before = termios.tcgetattr(self.slave)
        self.raw = ''
        environment = dict(os.environ, TERM=term)
        self.process = subprocess.Popen([os.path.join(BUILD, 'ctrace'), 'top', *arguments], stdin=self.slave, stdout=self.slave,
                                        stderr=subprocess.PIPE, env=environment, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def resize(self, lines, columns, tell=True):
        self.screen = Screen(lines, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', lines, columns, 0, 0))
        if tell:
            self.process.send_signal(signal.SIGWINCH)

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            text = os.read(self.master, 65536).decode('utf-8', 'replace')
            self.raw += text
            self.screen.feed(text)
            return True
        return False

    def wait(self, pattern):
        """Until the screen matches; what it shows when it never does."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if re.search(pattern, self.screen.text(), re.MULTILINE):
                return ''
            self.read(0.05)
            if self.process.poll() is not None and not self.read(0):
                break
        return f'no /{pattern}/ in:\n{self.screen.text()}'

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        """Its status, once it has ended by itself; None when it does not."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        while self.read(0):
            pass
        return self.process.poll()

    def is_restored(self):
        after = termios.tcgetattr(self.slave)
        if after != self.before:
            return f'{self.before}\nbut\n{after}'
        return ''

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        os.close(self.master)
        os.close(self.slave)


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


def on_a_terminal(one, other):
    top = Top('--interval=0.3')
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
        top = Top()
        top.wait('TOOL_SUB')
        top.process.send_signal(number)
        name = signal.Signals(number).name
        check(f'{name} ends it', '' if top.end() == 0 else f'status {top.process.poll()}')
        check(f'{name}: the terminal is as before', top.is_restored())
        top.close()
    top = Top('-n', '1', '-i', '0.1')
    check('so many looks', '' if top.end() == 0 else f'status {top.process.poll()}')
    top.close()
    top = Top(term='no-such-terminal')
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
on_a_terminal(*subjects)
by_signals()
in_a_batch(subjects[0])
refused()
for subject in subjects:
    subject.finish()
sys.exit(checks.end())
