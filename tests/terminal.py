"""terminal.py - a program on a terminal of its own, and what that terminal would show.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

PATIENCE = 60  # for what hangs; no test of speed


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


class Terminal:
    def __init__(self, *command, lines=24, columns=120, term='vt100', environment=None):
        self.master, self.slave = pty.openpty()
        self.resize(lines, columns, tell=False)
        self.before = termios.tcgetattr(self.slave)
        self.raw = ''
        self.process = subprocess.Popen(command, stdin=self.slave, stdout=self.slave, stderr=subprocess.PIPE,
                                        env={**(environment or os.environ), 'TERM': term}, start_new_session=True,
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
