#!/usr/bin/env python3
"""Listings of ctrace ipcs, compared with what stands in tests/golden/ipcs/*.txt to the letter.

    tests/golden/ipcs.py [--accept] [CASE]...      in the tests' room: tests/run tests/golden/ipcs.py

--accept writes what came instead of what was expected; read the difference before it counts.  A case is a file of

    $ COMMAND           given to bash in a copy of tests/golden/ipcs; lines "> ..." after it go on with it
    # status N          behind an output: the exit status, when it is not 0
    # anything else     is a comment

and of outputs, standard error and output as they come.  The traces in traces/ have fixed times; they were made by KEEP_TRACES=DIRECTORY
tests/unit/ipcs/test_ipcs_run.c, and are made anew when the format changes.

Besides: every message ITT10001I to ITT10019I that src/print/ipcs/ipcs_message.c has is in a case, and in man/ctrace-ipcs.1.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import difflib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get('CTRACE_SOURCE') or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get('CTRACE_BUILD') or os.path.join(SOURCE, 'build')
DIRECTORY = os.path.join(SOURCE, 'tests', 'golden', 'ipcs')
PATIENCE = 90  # seconds, only to stop what hangs


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def parse(text):
    """Comments as texts, commands as [lines, outputs, status]."""
    items = []
    for line in text.split('\n'):
        status = re.match(r'# status (\d+)$', line)
        last = items[-1] if items and isinstance(items[-1], list) else None
        if line.startswith('$ '):
            items.append([[line[2:]], [], 0])
        elif last and not last[1] and line.startswith('> '):
            last[0].append(line[2:])
        elif last and status:
            last[2] = int(status.group(1))
        elif line.startswith('#') or not last:
            items.append(line)
        else:
            last[1].append(line)
    for item in items:
        while isinstance(item, list) and item[1] and not item[1][-1]:
            item[1].pop()
    return items


def unparse(items):
    lines = []
    for item in items:
        if isinstance(item, list):
            if lines and lines[-1] and not lines[-1].startswith('#'):
                lines.append('')
            lines += ['$ ' + item[0][0]] + ['> ' + line for line in item[0][1:]] + item[1]
            if item[2] != 0:
                lines.append(f'# status {item[2]}')
        elif item or (lines and lines[-1]):
            if lines and lines[-1] and item and not lines[-1].startswith('#'):
                lines.append('')
            lines.append(item)
    return '\n'.join(lines).rstrip('\n') + '\n'


def replay(items):
    with tempfile.TemporaryDirectory() as room:
        at = os.path.join(room, 'ipcs')
        shutil.copytree(DIRECTORY, at)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(('CTRACE_', 'DD_', 'dd_'))}
        environment.update(CTRACE_SOURCE=SOURCE, TZ='UTC', LC_ALL='C.UTF-8', PATH=BUILD + ':' + os.environ['PATH'], CTRACE_RUN_DIR=os.path.join(room, 'run'), HOME=room)
        os.mkdir(os.path.join(room, 'run'), 0o700)
        came = []
        for item in items:
            if isinstance(item, list):
                done = subprocess.run(['bash', '-c', '\n'.join(item[0])], cwd=at, env=environment, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
                text = done.stdout.decode('utf-8', 'backslashreplace')
                item = [item[0], text.rstrip('\n').split('\n') if text else [], done.returncode]
            came.append(item)
        return came


class Report:
    def __init__(self):
        self.count = self.bad = 0

    def check(self, what, errors):
        self.count += 1
        self.bad += bool(errors)
        print(f'{"not ok" if errors else "ok"} {self.count} - {what}', flush=True)
        for error in errors:
            print(f'#   {error}', flush=True)

    def end(self):
        print(f'1..{self.count}')
        return 1 if self.bad else 0


def check_case(path, accepts):
    text = read(path)
    came = unparse(replay(parse(text)))
    if came == text:
        return []
    if accepts:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(came)
        return []
    return list(difflib.unified_diff(text.split('\n'), came.split('\n'), 'expected', 'came', lineterm='', n=2))


def main():
    cases = [name for name in sys.argv[1:] if not name.startswith('-')]
    paths = sorted(glob.glob(os.path.join(DIRECTORY, '*.txt')))
    report = Report()
    for path in paths:
        name = os.path.basename(path)[:-len('.txt')]
        if not cases or name in cases:
            report.check(name, check_case(path, '--accept' in sys.argv))
    if cases:
        return report.end()
    known = sorted(set(re.findall(r'"(ITT100\d\dI)"', read(os.path.join(SOURCE, 'src', 'print', 'ipcs', 'ipcs_message.c')))))
    shown = ''.join('\n'.join(item[1]) for path in paths for item in parse(read(path)) if isinstance(item, list))
    page = read(os.path.join(SOURCE, 'man', 'ctrace-ipcs.1'))
    report.check('there are messages', [] if len(known) == 18 else [f'{len(known)}'])
    report.check('every message is in a case', [name for name in known if name not in shown])
    report.check('every message is in ctrace-ipcs(1)', [name for name in known if f'It Li {name}' not in page])
    return report.end()


if __name__ == '__main__':
    sys.exit(main())
