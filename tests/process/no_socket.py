#!/usr/bin/env python3
"""Operators ask a process without a socket: one that begins answers, one that ends is no failure, and one that lives without is reported.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
STEPS = os.path.join(os.environ['CTRACE_BUILD'], 'tests', 'steps')
RUN = os.environ['CTRACE_RUN_DIR']
PATIENCE = 60
CAUSES = 'does not listen to operators: it has another root directory (chroot) without its run directory, or no descriptor left for a socket (ulimit -n)'


class Silent:
    """A traced process whose socket was taken away, and an operator who asks it."""

    def __enter__(self):
        with open('app.cfg', 'w', encoding='ascii') as file:
            file.write('mftrace.level = info\nmftrace.dest = storage\n')
        self.process = subprocess.Popen([STEPS, 'trace', 'a.b', '1', '1', 'flush', 'say', 'ready', 'pause'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, 'MFTRACE_CONFIG': 'app.cfg'}, text=True)
        while self.process.stdout.readline() != 'ready\n':
            pass
        self.socket, = glob.glob(f'{RUN}/{self.process.pid}.*/control')
        os.rename(self.socket, self.socket + '.away')
        self.operator = subprocess.Popen(['ctrace', 'level', '*', 'debug'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.communicate()

    def asks(self):
        """Returns true while the operator asks; long enough for one who gives up at once to have done so."""
        try:
            self.operator.wait(0.4)
            return False
        except subprocess.TimeoutExpired:
            return True

    def answer(self):
        told, wrong = self.operator.communicate(timeout=PATIENCE)
        return told, wrong, self.operator.returncode


with Silent() as silent:
    checks.check('a process that has no socket yet is asked again', silent.asks())
    os.rename(silent.socket + '.away', silent.socket)
    told, wrong, status = silent.answer()
    checks.check('when it has one, it answers', status == 0 and 'INFO -> DEBUG' in told and wrong == '', told, wrong, status)
with Silent() as silent:
    checks.check('a process that has no socket any more is asked again', silent.asks())
    silent.process.kill()
    told, wrong, status = silent.answer()
    checks.check('when it has ended, nobody reports it, although its parent has not waited for it', 'listen' not in wrong, told, wrong, status)
with Silent() as silent:
    told, wrong, status = silent.answer()
    checks.check('a process that lives without one is reported, with the causes', status != 0 and CAUSES in wrong, told, wrong, status)
sys.exit(checks.end())
