#!/usr/bin/env python3
"""A file system that never answers: what works on files for a thread of the program is given up, and the program ends.

The file system is one of FUSE whose server answers the first request alone, so every later call on it sleeps in the kernel.  When the server
ends, the calls fail.  No limit of time here but the one that stops what hangs: tests/unit/process/test_aside.c counts the patience.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
from tap import Tap  # pylint: disable=wrong-import-position

BUILD = os.environ['CTRACE_BUILD']
TOOL = os.path.join(BUILD, 'ctrace')
SUBJECT = os.path.join(BUILD, 'tests', 'dump_subject')
PATIENCE = 60  # seconds, only to stop what hangs
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
libc = ctypes.CDLL(None, use_errno=True)
tap = Tap(is_live=True)


def name_space_of_mounts():
    """This process's mounts are its own from here on; False: it may not have any."""
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWNS | (0 if uid == 0 else CLONE_NEWUSER)) != 0:
        return False
    if uid != 0:
        for name, text in (('setgroups', 'deny'), ('uid_map', f'{uid} {uid} 1'), ('gid_map', f'{gid} {gid} 1')):
            with open(f'/proc/self/{name}', 'w', encoding='ascii') as file:
                file.write(text)
    return libc.mount(b'none', b'/', None, 0x4000 | 0x40000, None) == 0  # MS_REC | MS_PRIVATE


class Dead:
    """The file system, at a directory."""

    def __init__(self, path):
        self.fd = os.open('/dev/fuse', os.O_RDWR | os.O_CLOEXEC)
        options = f'fd={self.fd},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},default_permissions'
        if libc.mount(b'dead', path.encode(), b'fuse.dead', 0x2 | 0x4, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), 'mount')
        request = os.read(self.fd, 1 << 17)
        unique, = struct.unpack_from('<Q', request, 8)
        answer = struct.pack('<IIIIHHIIHHI28x', 7, 19, 0, 0, 12, 9, 1 << 16, 1, 0, 0, 0)[:64].ljust(64, b'\0')
        os.write(self.fd, struct.pack('<IiQ', 16 + len(answer), 0, unique) + answer)

    def end(self):
        os.close(self.fd)


class Room:
    def __init__(self, *lines):
        self.path = tempfile.mkdtemp(prefix='hanging-', dir=os.getcwd())
        for name in ('run', 'dead'):
            os.mkdir(self.at(name), 0o700)
        self.dead = Dead(self.at('dead'))
        with open(self.at('app.cfg'), 'w', encoding='utf-8') as file:
            file.write('\n'.join(('mftrace.level = debug', 'mftrace.dest = storage', 'ctrace.block.timeout = 200ms', *lines, '')).replace('@', self.at('dead')))
        self.environment = dict(os.environ, CTRACE_RUN_DIR=self.at('run'), MFTRACE_CONFIG=self.at('app.cfg'), CTRACE_PARMLIB=self.at('dead'))

    def at(self, *names):
        return os.path.join(self.path, *names)

    def obey(self, *orders):
        """Its status and output; -9: it hung."""
        process = subprocess.Popen([SUBJECT], env=self.environment, cwd=self.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        begin = time.monotonic()
        try:
            said = process.communicate('\n'.join((*orders, '')), timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[0] + f'\nno end in {time.monotonic() - begin:.0f} s'
        return process.returncode, said

    def close(self):
        libc.umount2(self.at('dead').encode(), 2)
        shutil.rmtree(self.path)


DUMPS = 'ctrace.dump.directory = @'
LOG = 'ctrace.log = @/log'
CASES = [
    # what, configuration, orders, status, what is said, what the next tool reports (the file system fails then)
    ('the dump of an exit status', (DUMPS, 'ctrace.dump.on = exit-status'), ('trace 3', 'exit 3'), 3, '3\n', 'ended with exit status 3 and made no dump'),
    ('the dump of a trigger for the end', (DUMPS, 'ctrace.trigger.E = when exit != 0 do dump'), ('trace 3', 'exit 3'), 3, '3\n', 'ended with trigger E and made no dump'),
    ('the message of a trigger for the end', (LOG, 'ctrace.trigger.E = when exit != 0 do wto'), ('trace 3', 'exit 3'), 3, '3\n', None),
    ('the program of a trigger for the end', ('ctrace.run.programs = on', 'ctrace.trigger.E = when exit != 0 do run:@/program'), ('trace 3', 'exit 3'), 3,
     '3\n', None),
    ('two dumps that the program asks for', (DUMPS,), ('trace 3', 'dump one', 'dump two', 'exit 0'), 0,
     '3\nTIMED_OUT \nTIMED_OUT \n', None),
    ('a trigger that dumps meanwhile', (DUMPS, LOG, 'ctrace.trigger.T = when event = 7 do dump'), ('trace 3', 'exit 0'), 0, '3\n', None),
    ('a member of PARMLIB', (), ('trace 3', 'parm', 'exit 0'), 0, '3\n12\n', None),
    ('an output', ('mftrace.dest = TEXTFILE', 'mftrace.emitter.textfile.FILE = @/text'), ('trace 3', 'exit 0'), 0, '3\n', None),
    ('all of it', (DUMPS, LOG, 'ctrace.dump.on = exit-status', 'mftrace.dest = TEXTFILE', 'mftrace.emitter.textfile.FILE = @/text',
                   'ctrace.trigger.T = when event = 7 do dump', 'ctrace.trigger.E = when exit != 0 do dump wto'), ('trace 3', 'dump x', 'parm', 'exit 3'), 3,
     '3\nTIMED_OUT \n12\n', 'ended with exit status 3 and made no dump'),
]


def main():
    if not os.path.exists('/dev/fuse') or not name_space_of_mounts():
        tap.skip('a file system that hangs', 'this process may not mount FUSE')
        return
    for what, lines, orders, status, said, reported in CASES:
        room = Room(*lines)
        found = room.obey(*orders)
        tap.same(f'{what}: the program goes on, and ends', found, (status, said))
        room.dead.end()
        told = subprocess.run([TOOL, 'recover'], env=room.environment, cwd=room.path, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if reported is not None:
            tap.check(f'{what}: it is made or reported later', re.search(reported, told.stderr), told)
        room.close()


main()
sys.exit(tap.end())
