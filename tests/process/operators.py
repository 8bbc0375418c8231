#!/usr/bin/env python3
"""ctrace.operators and ctrace.operators.display, with real users and groups: who reaches a process, who may only look, what is refused,
what is logged, and that nobody else gets anything.

The owner, the members and the stranger are users without names; the groups are two that each machine has.  Only root can become them.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import atexit
import grp
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
from tap import Tap  # pylint: disable=wrong-import-position

BUILD = os.environ['CTRACE_BUILD']
PATIENCE = 60  # seconds, only to stop what hangs
OWNER, COMMANDER, WATCHER, STRANGER = 61001, 61002, 61003, 61004
OPERATORS, DISPLAYERS = 'games', 'users'
tap = Tap(is_live=True)


def gid(group):
    return grp.getgrnam(group).gr_gid


GROUPS = {OWNER: [OPERATORS, DISPLAYERS], COMMANDER: [OPERATORS, DISPLAYERS], WATCHER: [DISPLAYERS], STRANGER: []}


class Room:
    """A run directory and a configuration of the owner's, and programs that everybody can start."""

    def __init__(self, *lines):
        self.path = tempfile.mkdtemp(prefix='operators-', dir='/tmp')
        atexit.register(shutil.rmtree, self.path, True)
        os.chmod(self.path, 0o755)
        for name, directory, mode in ('ctrace', '.', 0o755), ('steps', 'tests', 0o755):
            shutil.copy(os.path.join(BUILD, directory, name), self.at(name))
            os.chmod(self.at(name), mode)
        os.mkdir(self.at('lib'))
        shutil.copy(os.path.join(BUILD, 'libctrace.so.1'), self.at('lib', 'libctrace.so.1'))
        for user in GROUPS:
            os.mkdir(self.at(str(user)), 0o700)
            os.chown(self.at(str(user)), user, user)
        os.mkdir(self.at('run'), 0o700)
        os.chown(self.at('run'), OWNER, OWNER)
        self.configure(*lines)
        self.processes = []

    def configure(self, *lines):
        with open(self.at('app.cfg'), 'w', encoding='utf-8') as file:
            file.write(''.join(line + '\n' for line in ('mftrace.dest = storage', *lines)))

    def at(self, *names):
        return os.path.join(self.path, *names)

    def environment(self, user):
        return dict(os.environ, CTRACE_RUN_DIR=self.at('run'), HOME=self.at(str(user)), XDG_RUNTIME_DIR=self.at(str(user)),
                    LD_LIBRARY_PATH=self.at('lib'), CTRACE_JOBNAME='SHOP',
                    **({'MFTRACE_CONFIG': self.at('app.cfg')} if user == OWNER else {}))

    def popen(self, user, *words, **more):
        return subprocess.Popen(words, env=self.environment(user), cwd=self.at(str(user)) if user else self.path, user=user, group=user,
                                extra_groups=[gid(group) for group in GROUPS.get(user, [])], stdout=subprocess.PIPE, text=True, **more)

    def start(self, *steps, user=OWNER):
        process = self.popen(user, self.at('steps'), *steps, 'say', 'ready', 'pause', stdin=subprocess.PIPE)
        self.processes.append(process)
        while process.stdout.readline() not in ('ready\n', ''):
            pass
        return process

    def tool(self, user, *words, typed=None):
        process = self.popen(user, self.at('ctrace'), *words, stderr=subprocess.STDOUT, stdin=subprocess.PIPE)
        text = process.communicate(typed, timeout=PATIENCE)[0]
        return process.returncode, text

    def text(self, *names):
        try:
            with open(self.at(*names), encoding='utf-8') as file:
                return file.read()
        except FileNotFoundError:
            return ''

    def modes(self):
        """{name: (mode, owner, group)} of the run directory and of what is in it."""
        found = {}
        for directory, folders, files in os.walk(self.at('run')):
            for name in ['.', *folders, *files] if directory == self.at('run') else [*folders, *files]:
                info = os.lstat(os.path.join(directory, name))
                found[os.path.normpath(os.path.relpath(os.path.join(directory, name), self.at('run')))] = (
                    stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid)
        return found

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        shutil.rmtree(self.path)


def nothing_without_the_key():
    room = Room()
    process = room.start('trace', 'shop', '1', '3')
    modes = room.modes()
    tap.same('without the key the directories are private', (modes['.'][0], modes[f'{process.pid}.0'][0]), (0o700, 0o700))
    tap.same('and so is the session; there is no socket', (modes[f'{process.pid}.0/session'], f'{process.pid}.0/control' in modes), ((0o400, OWNER, OWNER), False))
    for user in COMMANDER, WATCHER, STRANGER:
        status, text = room.tool(user, 'level', 'shop', 'debug')
        tap.check(f'user {user} does not reach it', status == 1 and 'no traced process' in text, status, text)
    room.close()


def one_group():
    room = Room()
    room.configure(f'ctrace.operators = {OPERATORS}', f'ctrace.log = {room.at(str(OWNER), "log")}')
    process = room.start('trace', 'shop', '1', '3')
    modes = room.modes()
    name = f'{process.pid}.0'
    tap.same('the group lists the run directory', modes['.'], (0o750, OWNER, gid(OPERATORS)))
    tap.same('it goes through the directory of the process', modes[name], (0o710, OWNER, gid(OPERATORS)))
    tap.same('it reaches the socket', modes[f'{name}/control'], (0o660, OWNER, gid(OPERATORS)))
    tap.clean('every file is its owner\'s alone', [f'{path} {mode:o}' for path, (mode, _, _) in modes.items()
                                                   if mode & 0o077 and path not in ('.', name, f'{name}/control')])
    status, text = room.tool(COMMANDER, 'level', 'shop', 'debug')
    tap.check('a member sets a level', status == 0 and re.search(r'shop.*debug', text, re.I), status, text)
    tap.check('the level is set', 'DEBUG' in room.tool(OWNER, 'level', 'shop')[1].upper())
    status, text = room.tool(COMMANDER, 'level', '--job=SHOP', 'shop', 'warn')
    tap.check('a member selects by job name', status == 0 and str(process.pid) in text, status, text)
    status, text = room.tool(COMMANDER, 'level', '--job=OTHER', 'shop', 'debug')
    tap.check('another job name matches nothing', status == 1, status, text)
    status, text = room.tool(COMMANDER, 'op', 'D TRACE,COMP=shop')
    tap.check('a member displays', status == 0 and 'IEE843I' in text, status, text)
    status, text = room.tool(COMMANDER, 'op', 'TRACE CT,ON,COMP=shop')
    tap.check('a member is prompted', 'ITT006A' in text, status, text)
    status, text = room.tool(COMMANDER, 'op', "R 1,OPTIONS=('LEVEL=INFO'),END")
    tap.check('a member replies to the own prompt', 'ITT038I ALL' in text, status, text)
    for what, words in (('a property of an emitter', ('prop', 'emitter:TEXTFILE', 'LOCATION', '/tmp')),
                        ('a look at the properties of an emitter', ('prop', 'emitter:NATS')),
                        ('a configuration', ('reload', room.at('app.cfg'))),
                        ('a program', ('trigger', 'add', 'T', '--when', 'event = 1', '--do', 'run:/bin/true'))):
        status, text = room.tool(COMMANDER, *words)
        tap.check(f'a member does not name {what}', status == 1 and f'is refused to user {COMMANDER}' in text and str(OWNER) in text,
                  status, text)
    status, text = room.tool(COMMANDER, 'op', 'TRACE CT,WTRSTART=CTW')
    tap.check('a member starts no writer', 'CTR021I' in text and 'is the business of the user of' in text, status, text)
    for verb in ('list',), ('show',), ('stats',), ('tail', '--from-start', '--limit=1'), ('dump', '--all'):
        status, text = room.tool(COMMANDER, *verb)
        tap.check(f'a member reads no events and no session: {verb[0]}', status != 0 and 'step' not in text, status, text)
    tap.check('and is told why', 'its user alone reads it' in room.tool(COMMANDER, 'list')[1], room.tool(COMMANDER, 'list'))
    tap.clean('the directory of a member has nothing for later processes', [path for path in os.listdir(room.at(str(COMMANDER), 'ctrace'))
                                                                            if path not in ('reply', 'asid')])
    for user in WATCHER, STRANGER:
        status, text = room.tool(user, 'level', 'shop', 'debug')
        tap.check(f'user {user}, no member, does not reach it', status == 1 and 'no traced process' in text, status, text)
    log = room.text(str(OWNER), 'log')
    tap.check('a member\'s command is in the owner\'s log, with the user', re.search(
        rf'(?m)^\S+ \S+ {COMMANDER} \d+ > level shop (?i:debug)\n\S+ \S+ {COMMANDER} \d+   process {process.pid} JOBNAME SHOP: done$', log), log)
    tap.check('TRACE CT is too', re.search(rf'{COMMANDER} \d+ > TRACE CT,ON,COMP=SHOP OPTIONS=\(LEVEL=INFO\)\n', log), log)
    status, text = room.tool(COMMANDER, 'op', 'TRACE CT,ON,COMP=shop,SUB=(till)', "--reply=WTR=CTW,END")
    tap.check('SUB and WTR are in the log', re.search(rf'{COMMANDER} \d+ > TRACE CT,ON,COMP=SHOP,SUB=\(TILL\) WTR=CTW\n', room.text(str(OWNER), 'log')),
              text, room.text(str(OWNER), 'log'))
    room.tool(COMMANDER, 'level', 'shop' + '*' * 240, 'debug')
    tap.check('a long name leaves room for the level', re.search(rf'{COMMANDER} \d+ > level shop\*{{240}} (?i:debug)\n', room.text(str(OWNER), 'log')),
              room.text(str(OWNER), 'log'))
    tap.check('a refused one is too', re.search(rf'{COMMANDER} \d+ > reload {re.escape(room.at("app.cfg"))}\n.*is refused to user', log), log)
    tap.check('a display is too', re.search(rf'{COMMANDER} \d+ > DISPLAY TRACE SHOP\n', log), log)
    tap.same('the log is the owner\'s', stat.S_IMODE(os.stat(room.at(str(OWNER), 'log')).st_mode), 0o600)
    tap.check('the values of properties of emitters are not in it', 'LOCATION /tmp' not in log and 'prop TEXTFILE LOCATION' in log, log)
    room.close()


def two_groups():
    room = Room(f'ctrace.operators = {OPERATORS}', f'ctrace.operators.display = {gid(DISPLAYERS)}')
    process = room.start('trace', 'shop', '1', '3')
    tap.same('the files are those of who displays', room.modes()[f'{process.pid}.0/control'], (0o660, OWNER, gid(DISPLAYERS)))
    before = room.tool(OWNER, 'level', 'shop')[1]
    status, text = room.tool(WATCHER, 'level', 'shop')
    tap.check('who displays sees a level', status == 0 and 'shop' in text, status, text)
    status, text = room.tool(WATCHER, 'op', 'D TRACE,COMP=shop')
    tap.check('and D TRACE', status == 0 and 'IEE843I' in text, status, text)
    for words in ('level', 'shop', 'debug'), ('dest', 'shop', 'STDERR'), ('prop', 'shop', 'a', 'b'), ('flush',), ('rotate',), ('reload',), \
            ('trigger', 'add', 'T', '--when', 'event = 1', '--do', 'stop'), ('op', 'TRACE CT,ON,COMP=shop', "--reply=OPTIONS=('LEVEL=DEBUG')"):
        status, text = room.tool(WATCHER, *words)
        tap.check(f'but gives no command: {words[0]}', status == 1 and f'is refused to user {WATCHER}, who may only display' in text and
                  f'a member of {OPERATORS}' in text, status, text)
    tap.same('nothing has changed', room.tool(OWNER, 'level', 'shop')[1], before)
    status, text = room.tool(COMMANDER, 'level', 'shop', 'debug')
    tap.check('a member of both commands', status == 0, status, text)
    status, text = room.tool(STRANGER, 'level', 'shop')
    tap.check('a stranger does not reach it', status == 1 and 'no traced process' in text, status, text)
    # The directories let the stranger in by mistake: the process asks the kernel itself.
    for name in 'run', f'run/{process.pid}.0', f'run/{process.pid}.0/control':
        os.chmod(room.at(name), 0o755 if not name.endswith('control') else 0o666)
    status, text = room.tool(STRANGER, 'level', 'shop', 'info')
    tap.check('open directories let nobody in', status == 1 and 'info' not in text.lower().replace('information', ''), status, text)
    tap.check('the stranger is counted', re.search(r', [1-9]\d* refused', room.tool(OWNER, 'stats')[1]), room.tool(OWNER, 'stats')[1])
    room.close()


def changes():
    room = Room('mftrace.level.elsewhere = fatal')  # without a level they would be dormant
    process = room.start('trace', 'shop', '1', '3', 'fork', 'trace', 'shop', '1', '1')
    children = sorted(name for name in os.listdir(room.at('run')) if name.endswith('.0'))
    tap.check('a forked child is there', len(children) >= 1, children)
    tap.check('nobody reaches it yet', room.tool(COMMANDER, 'level', 'shop')[0] == 1)
    room.configure(f'ctrace.operators = {OPERATORS}')
    tap.same('reload takes the key', room.tool(OWNER, 'reload')[0], 0)
    status, text = room.tool(COMMANDER, 'level', 'shop')
    tap.check('a member reaches all', status == 0, status, text)
    room.configure()
    room.tool(OWNER, 'reload')
    status, text = room.tool(COMMANDER, 'level', 'shop')
    tap.check('without the key again nobody does', status == 1, status, text)
    tap.clean('the sockets are private again', [f'{path} {mode:o}' for path, (mode, _, _) in room.modes().items()
                                                if mode & 0o077 and path != '.'])
    room.close()
    del process


def child_inherits():
    room = Room(f'ctrace.operators = {OPERATORS}')
    room.start('trace', 'shop', '1', '3', 'fork', 'trace', 'shop', '1', '1')
    sockets = {path: mode for path, mode in room.modes().items() if path.endswith('control')}
    tap.check('a forked child lets the group in too', len(sockets) == 2 and set(sockets.values()) == {(0o660, OWNER, gid(OPERATORS))}, sockets)
    room.close()


def not_a_member_itself():
    room = Room('ctrace.operators = audio')
    process = room.start('trace', 'shop', '1', '3')
    modes = room.modes()
    tap.same('who may not give a file to the group stays private', (modes[f'{process.pid}.0'][0], modes[f'{process.pid}.0/control'][0]),
             (0o700, 0o600))
    status, text = room.tool(OWNER, 'config', 'check', room.at('app.cfg'))
    tap.check('config check says so', 'audio' in text and 'not a member' in text, status, text)
    room.close()
    for group in 'no-such-group', '0', 'root':
        room = Room(f'ctrace.operators = {group}')
        process = room.start('trace', 'shop', '1', '3')
        modes = room.modes()
        tap.same(f'{group}: private', (modes[f'{process.pid}.0'][0], f'{process.pid}.0/control' in modes), (0o700, False))
        status, text = room.tool(OWNER, 'config', 'check', room.at('app.cfg'))
        tap.check(f'{group}: config check finds it', status == 1 and group in text, status, text)
        room.close()


def no_links():
    room = Room(f'ctrace.operators = {OPERATORS}')
    process = room.start('trace', 'shop', '1', '3')
    os.symlink(room.at('run'), room.at('link'))
    environment = room.environment
    room.environment = lambda user: dict(environment(user), CTRACE_RUN_DIR=room.at('link') + '/')
    status, text = room.tool(COMMANDER, 'level', 'shop', 'debug')
    tap.check('a run directory that is a link is not used', status == 1 and 'no traced process' in text, status, text)
    room.environment = environment
    os.chmod(room.at('run'), 0o770)
    status, text = room.tool(COMMANDER, 'level', 'shop', 'debug')
    tap.check('nor one that the group may write to', status == 1 and 'no traced process' in text, status, text)
    os.chmod(room.at('run'), 0o750)
    # Somebody else listens there: not the owner of the directory.
    os.unlink(room.at('run', f'{process.pid}.0', 'control'))
    os.chmod(room.path, 0o777)
    listener = os.fork()
    if listener == 0:
        os.umask(0)
        os.setgroups([])
        os.setgid(STRANGER)
        os.setuid(STRANGER)
        end = socket.socket(socket.AF_UNIX)
        end.bind(room.at('made'))
        end.listen()
        os.rename(room.at('made'), room.at('spoof'))
        signal.pause()
    while not os.path.exists(room.at('spoof')):
        pass
    os.rename(room.at('spoof'), room.at('run', f'{process.pid}.0', 'control'))
    status, text = room.tool(COMMANDER, 'level', 'shop', 'debug')
    tap.check('a socket of a third user is not trusted', status == 1 and 'belongs to another user' in text, status, text)
    os.kill(listener, signal.SIGKILL)
    os.waitpid(listener, 0)
    room.close()


def main():
    if os.geteuid() != 0:
        tap.skip('operators of another user', 'only root can become other users')
        return tap.end()
    try:
        gid(OPERATORS), gid(DISPLAYERS), gid('audio')  # pylint: disable=expression-not-assigned
    except KeyError as missing:
        tap.skip('operators of another user', f'this machine lacks a group: {missing}')
        return tap.end()
    nothing_without_the_key()
    one_group()
    two_groups()
    changes()
    child_inherits()
    not_a_member_itself()
    no_links()
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
