#!/usr/bin/env python3
"""An export or a report that is interrupted, or killed, leaves nothing behind, and what had its name stays.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

BUILD = os.environ['CTRACE_BUILD']
checks = tap.Tap(is_live=True)
check = checks.check


with open('cfg', 'w') as config:
    config.write('mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#file = a.ctb\nctrace.overflow = block\n')
subprocess.run([f'{BUILD}/tests/tool_subject', '300000'], env={**os.environ, 'MFTRACE_CONFIG': 'cfg'}, stdin=subprocess.DEVNULL,
               stdout=subprocess.DEVNULL, check=True)
sources = ['a.ctb'] * 12
os.mkdir('out')


def has_output(verb):
    """It has its output, and keeps it until it ends: a directory has its name at once, a document gets one when it is complete."""
    directory = f'/proc/{verb.pid}/fd'
    try:
        return any('out/' in os.readlink(f'{directory}/{name}') for name in os.listdir(directory))
    except OSError:
        return False  # a descriptor that is gone already: a stream is open only while it is read from


def interrupt(how, *command):
    before = os.listdir('out')
    # On a busy machine the verb is not to come to its end before this process has looked.
    verb = subprocess.Popen(('nice', '-n', '19', *command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while verb.poll() is None and os.listdir('out') == before and not has_output(verb):
        pass
    verb.send_signal(how)
    return verb.wait(), verb.stderr.read().decode()


COMMANDS = {
    'export of a document': ('export', '-f', 'json', '-o', 'out/events.json'),
    'export of a directory': ('export', '-f', 'common', '-o', 'out/trace'),
    'report': ('report', '--limit', '1000', '-o', 'out/page.html'),
}
for what, command in COMMANDS.items():
    for how in (signal.SIGINT, signal.SIGTERM):
        status, said = interrupt(how, 'ctrace', *command, *sources)
        check(f'{what}, {how.name}: dies of it', status == -how, (status, said))
        check(f'{what}, {how.name}: nothing is left', os.listdir('out') == [], os.listdir('out'))
        check(f'{what}, {how.name}: nothing is said of what it would hold', said == '', said)
status, said = interrupt(signal.SIGKILL, 'ctrace', 'export', '-f', 'json', '-o', 'out/events.json', *sources)
check('killed: nothing is left', os.listdir('out') == [], os.listdir('out'))
with open('out/events.json', 'w') as old:
    old.write('old\n')
status, said = interrupt(signal.SIGINT, 'ctrace', 'export', '-f', 'json', '-o', 'out/events.json', *sources)
check('what had the name stays', open('out/events.json').read() == 'old\n' and os.listdir('out') == ['events.json'], os.listdir('out'))
done = subprocess.run(['ctrace', 'export', '-f', 'json', '--lines', '-o', 'out/events.json', 'a.ctb'])
check('a complete one takes its place', done.returncode == 0 and sum(1 for _ in open('out/events.json')) > 1000, done)
check('with the permissions of a trace', os.stat('out/events.json').st_mode & 0o777 == 0o600, oct(os.stat('out/events.json').st_mode))
sys.exit(checks.end())
