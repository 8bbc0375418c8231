#!/usr/bin/env python3
"""A run directory that is refused: each verb that looks into run directories names it, and says why.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
PATIENCE = 60
PID = str(os.getpid())
REFUSED = os.path.abspath('refused')
VERBS = (['list'], ['list', '--json'], ['list', '--component=a'], ['list', '--pid', PID], ['stats'], ['stats', '--json'],
         ['top', '--batch', '--iterations=1', '--interval=0.1'], ['top', '--batch', '--json', '--iterations=1', '--interval=0.1'], ['tail'],
         ['level', 'a'], ['level', 'a', 'debug'], ['level', '--pid', PID, 'a', 'debug'], ['dest', 'a'], ['prop', 'a'], ['reload'], ['flush'],
         ['rotate'], ['trigger', 'list'], ['dump'], ['dump', '--pid', PID], ['recover'], ['recover', '--dry-run'], ['doctor', PID],
         ['show'], ['show', PID], ['export', '-f', 'json', PID], ['report', PID, '-o', 'page.html'], ['ipcs', 'CTRACE COMP(A)'],
         ['op', 'DISPLAY TRACE'], ['op', 'DISPLAY TRACE,COMP=A'], ['op', 'TRACE CT,WTRSTART=A'])


def check_all(why):
    for words in VERBS:
        done = subprocess.run(['ctrace', *words], env={**os.environ, 'CTRACE_RUN_DIR': REFUSED}, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        said = done.stdout + done.stderr
        checks.check(f'{why}: ctrace {" ".join(words).replace(PID, "PID")}', done.returncode != 0 and REFUSED in said and
                     (f'is refused: {why}' in said or words[0] == 'op'), said)


os.mkdir(REFUSED)
os.chmod(REFUSED, 0o777)
check_all('others may write to it (mode 0777)')
if os.geteuid() == 0:
    os.chmod(REFUSED, 0o700)
    os.chown(REFUSED, 1234, 1234)
    check_all('it belongs to user 1234')
else:
    checks.skip('a run directory of another user', 'only root can make one')
sys.exit(checks.end())
