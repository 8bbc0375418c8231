#!/usr/bin/env python3
"""BINFILE with compress = zstd: every event once, whatever happens while a directory is compressed.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import writer
from writer import BUILD, PATIENCE, Counter, Program, Room, entries, expect, same, without_gaps


class Packing(Room):
    def configure(self, **properties):
        with open(self.at('app.cfg'), 'w', encoding='ascii') as file:
            file.write('mftrace.dest = binfile\nmftrace.emitter.binfile#compress = zstd\n')
            for name, value in properties.items():
                file.write(f'mftrace.emitter.binfile#{name} = {value}\n')
        self.environment['MFTRACE_CONFIG'] = self.at('app.cfg')

    def directories(self):
        return sorted(glob.glob(self.at('logs', '*')))

    def files(self, pattern):
        return glob.glob(self.at('logs', '*', pattern))

    def viewed(self):
        """Each entry as babeltrace2 shows it, once the streams are what they were."""
        packed = self.files('stream.*.zst')
        if packed:
            subprocess.run(['zstd', '-q', '-d', '--rm', '-f', *packed], check=True)
        done = subprocess.run(['babeltrace2', *self.directories()], capture_output=True, text=True, check=True, timeout=PATIENCE)
        assert done.stderr == '', done.stderr[:500]
        return done.stdout.count('\n')


def only_packed(room):
    plain = [name for name in room.files('stream.*') if not name.endswith('.zst')]
    assert not plain and room.files('stream.*.zst') and not room.files('.stream.*'), plain


def until_packed(room):
    """Returns when every generation but the open one is compressed: a process that ends leaves what takes longer than its time for that."""
    end = time.monotonic() + PATIENCE
    while len({os.path.dirname(name) for name in room.files('stream.*') if not name.endswith('.zst')}) > 1:
        assert time.monotonic() < end
        time.sleep(0.02)


def rotation_under_load(room):
    room.configure(maxgeneration=1000, maxfilesize=200)
    program = room.program(4)
    program.ask('plain')
    for _ in range(3):  # a dozen generations each; 32 may wait to be compressed, and more stay as they are
        program.ask('run 30000')
        program.ask('flush')
        until_packed(room)
    assert program.settle() == [360000, 360000, 0, 0]
    program.end()
    assert len(room.directories()) > 10
    only_packed(room)
    found = room.own()
    same(found, expect(4, 90000))
    assert room.viewed() == 360000


def the_limits_of_rotation_hold(room):
    """Generations come round while they are compressed.  In memory: where it takes longer than 0.4 s to sync, there is a directory more."""
    os.rmdir(room.at('logs'))
    memory = '/dev/shm' if os.access('/dev/shm', os.W_OK) else room.path
    with tempfile.TemporaryDirectory(prefix='ctrace-test.', dir=memory, ignore_cleanup_errors=True) as logs:
        os.symlink(logs, room.at('logs'))
        for generations in (2, 3):
            room.configure(maxgeneration=generations, maxfilesize=100, file=f'{generations}.app.ctb')
            program = room.program(2)
            program.ask('plain')
            program.ask('run 200000')
            program.ask('flush')
            assert program.settle() == [400000, 400000, 0, 0]
            program.end()
            directories = glob.glob(room.at('logs', f'{generations}.app.ctb*'))
            assert len(directories) == generations, directories
            found = entries(room.show(*directories).stdout)
            assert set(found.values()) == {1} and any((thread, 199999) in found for thread in range(2))
        only_packed(room)


def the_directory_of_a_process_that_has_ended(room):
    room.configure()
    program = room.program(2)
    program.ask('plain')
    program.ask('run 50000')
    program.end()
    only_packed(room)
    assert len(room.directories()) == 1
    same(room.own(), expect(2, 50000))
    size = sum(os.path.getsize(path) for path in room.files('*'))
    assert size / 100000 < 9, f'{size} bytes'
    assert room.viewed() == 100000


def killed_while_it_compresses(room):
    room.configure(maxgeneration=6, maxfilesize=4000, file='app.ctb')
    program = room.program(2)
    program.ask('plain')
    program.ask('start')
    while not room.files('.stream.*.new'):
        pass
    program.process.kill()
    program.process.wait()
    left = room.files('.stream.*.new')
    assert left, 'killed in the middle'
    room.tool('recover')
    for path in room.directories():  # it may have been killed when it had made a directory, and no file in it
        with contextlib.suppress(OSError):
            os.rmdir(path)
    found = room.own()
    without_gaps(found)
    assert room.viewed() == sum(found.values())
    # Who comes next replaces all of it.
    room.configure(maxgeneration=6, maxfilesize=100, file='app.ctb')
    program = room.program(2)
    program.ask('plain')
    program.ask('run 50000')
    program.end()
    mine = [path for path in room.directories() if any(name.endswith('.zst') for name in os.listdir(path))]
    assert not [path for path in room.files('.stream.*.new') if os.path.dirname(path) in mine], left
    assert len(mine) == 6 and {path.rstrip('/')[-1] for path in mine} == set('123456'), mine


def fork_and_exec_while_it_compresses(room):
    room.configure(maxgeneration=100, maxfilesize=500)
    program = room.program(2)
    program.ask('plain')
    for turn in range(5):
        program.ask('run 20000')
        assert program.ask('fork 3000') == '0'
    assert program.ask('exec') == 'ready'
    program.end()
    room.tool('recover')
    found = room.own()
    same(Counter({key: n for key, n in found.items() if key[0] != 63}), expect(2, 100000))
    same(Counter({key: n for key, n in found.items() if key[0] == 63}), Counter({(63, n): 5 for n in range(3000)}))


def closed_descriptors_while_it_compresses(room):
    room.configure(maxgeneration=100, maxfilesize=500)
    program = room.program(2)
    program.ask('plain')
    for turn in range(5):
        program.ask('run 20000')
        assert program.ask('close') == '0'
    program.ask('flush')
    program.end()
    same(room.own(), expect(2, 100000))


def a_full_disk_leaves_what_is_there(room):
    """What is compressed is written to a disk that has no room for it; the streams were written before."""
    room.configure(location=room.at('disk'))
    with open(room.at('app.cfg'), 'a', encoding='ascii') as file:
        file.write('ctrace.buffer = 32K\n')  # one ring, one stream
    os.mkdir(room.at('disk'))
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1M', 'none', room.at('disk')], capture_output=True, check=False).returncode != 0:
        return
    try:
        program = room.program(1)
        program.ask('plain')
        program.ask('run 20000')
        program.ask('flush')
        used = sum(os.path.getsize(path) for path in glob.glob(room.at('disk', '*', '*')))
        with open(room.at('disk', 'other'), 'wb') as file:
            free = os.statvfs(room.at('disk'))
            file.write(bytes((free.f_bavail - 8) * free.f_frsize))
        program.end()
        assert used > 300000
        assert not glob.glob(room.at('disk', '*', '*stream.*.zst')) and not glob.glob(room.at('disk', '*', '.stream*'))
        same(entries(room.show(*glob.glob(room.at('disk', '*.ctb'))).stdout), expect(1, 20000))
    finally:
        subprocess.run(['umount', room.at('disk')], check=True)


def a_wrong_bit_invents_nothing(room):
    """Wherever it is, nothing of its frame is shown, and all of the other streams."""
    room.configure()
    program = room.program(2)
    program.ask('plain')
    program.ask('run 25000')  # no stream has more than a frame
    program.end()
    directory = room.directories()[0]
    packed = max(room.files('stream.*.zst'), key=os.path.getsize)
    whole = entries(room.show(directory).stdout)
    rest = Counter()
    for path in room.files('stream.*.zst'):
        if path != packed:
            rest += entries(room.show(path).stdout)
    assert len(rest) < 50000
    with open(packed, 'rb') as file:
        good = file.read()
    for part in range(1, 32):
        at = len(good) * part // 32
        with open(packed, 'wb') as file:
            file.write(good[:at] + bytes([good[at] ^ 1 << part % 8]) + good[at + 1:])
        shown = room.show(directory, check=False)
        if shown.returncode == 0:  # a bit of zstd's format that means nothing: every event is there
            same(entries(shown.stdout), whole)
            continue
        assert shown.returncode == 1, shown
        assert f'{packed}, offset 0, {len(good)} bytes: th' in shown.stderr, shown.stderr
        if 'the compressed file ends inside a frame' in shown.stderr:  # as of a file that was cut, the sound blocks before it count
            found = entries(shown.stdout)
            assert not found - whole and not rest - found, shown.stderr
            continue
        assert 'damaged in 1 place' in shown.stderr, shown.stderr
        same(entries(shown.stdout), rest)
    shutil.rmtree(room.at('kept'), ignore_errors=True)
    kept = room.tool('repair', directory, '-o', room.at('kept'), check=False)
    assert kept.returncode == 1 and f'lost {len(good)} bytes in 1 place' in kept.stdout, kept
    same(room.shown(room.at('kept')), rest)


def wrong_bits_cost_their_frames(room):
    """Of a stream of several frames, those without a wrong bit are shown, and no event is made of the ends of two of them."""
    room.configure()
    program = room.program(1)
    program.ask('plain')
    program.ask('run 500000')
    program.end()
    packed = max(room.files('stream.*.zst'), key=os.path.getsize)
    with open(packed, 'rb') as file:
        good = bytearray(file.read())
    whole = sum(entries(room.show(packed).stdout).values())
    for at in (len(good) // 4, len(good) * 6 // 10):
        good[at] ^= 4
    with open(packed, 'wb') as file:
        file.write(good)
    shown = room.show(packed, check=False)
    assert shown.returncode == 1 and 'damaged in' in shown.stderr, shown.stderr
    found = entries(shown.stdout)
    assert not found - expect(1, 500000)
    assert shown.stdout.count('\n') == sum(found.values()) and whole // 3 < len(found) < whole, f'{len(found)} of {whole}'


def what_is_replaced_is_not_missed(room):
    """Generations come round all the time.  Their streams are gone before their metadata are; that is no damage."""
    for compress in ('no', 'zstd'):
        room.configure(maxgeneration=2, maxfilesize=100, file='app.ctb', compress=compress)
        program = room.program(2)
        program.ask('plain')
        program.ask('start')
        for _ in range(40):
            shown = room.tool('show', '--count', room.at('logs', 'app.ctb'), check=False)
            assert 'metadata says' not in shown.stderr, shown.stderr
        program.ask('stop')
        program.end()


def without_the_module_nothing_is_compressed(room):
    room.configure()
    os.mkdir(room.at('alone'))
    shutil.copy(os.path.join(BUILD, 'libctrace.so.1'), room.at('alone'))
    shutil.copy(os.path.join(BUILD, 'ctrace'), room.at('alone'))
    program = room.program(1, LD_LIBRARY_PATH=room.at('alone'))
    program.ask('plain')
    program.ask('run 1000')
    program.end()
    assert room.files('stream.?') and not room.files('*.zst')
    same(room.own(), expect(1, 1000))
    said = subprocess.run([room.at('alone', 'ctrace'), 'config', 'check', room.at('app.cfg')], capture_output=True, text=True, check=False)
    assert 'zstd.so cannot be loaded' in said.stdout + said.stderr, said
    said = room.tool('config', 'check', room.at('app.cfg'))
    assert 'cannot be loaded' not in said.stdout + said.stderr, said
    room.configure(compress='gzip')
    said = room.tool('config', 'check', room.at('app.cfg'), check=False)
    assert said.returncode != 0 and 'unknown compression "gzip"' in said.stdout + said.stderr, said


writer.TESTS[:] = [value for name, value in list(globals().items()) if callable(value) and
                   getattr(value, '__code__', None) is not None and value.__code__.co_varnames[:1] == ('room',) and name != 'only_packed']
writer.Room = Packing

if __name__ == '__main__':
    sys.exit(writer.main())
