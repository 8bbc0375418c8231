"""disk.py - file systems of a test's own, in a mount name space of its own.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import subprocess
import sys


def can_mount(checks, what):
    """Starts the test again where it may mount.  Returns False after a skip when it may not."""
    if 'CTRACE_TEST_MOUNTS' in os.environ:
        return True
    if subprocess.run(['unshare', '-m', 'true'], capture_output=True, check=False).returncode != 0:
        checks.skip(what, 'cannot mount')
        return False
    os.execvpe('unshare', ['unshare', '-m', '--propagation', 'private', sys.executable, *sys.argv], {**os.environ, 'CTRACE_TEST_MOUNTS': '1'})


def mount(path, size):
    """A new file system of this size; one that is there gets the size."""
    again = os.path.ismount(path)
    subprocess.run(['mount', '-t', 'tmpfs', '-o', f'{"remount," if again else ""}size={size}', 'none', path], check=True)


def unmount(path):
    if os.path.ismount(path):
        subprocess.run(['umount', path], check=True)


def fill(path, left=0):
    """Leaves so many bytes."""
    with open(f'{path}/filler', 'wb') as file:
        free = os.statvfs(path)
        file.write(bytes(max(0, free.f_bavail * free.f_frsize - left)))


def others_may_enter(directory):
    """The programs of the build can be started by a user who is not root."""
    while directory != '/' and os.stat(directory).st_mode & 0o001:
        directory = os.path.dirname(directory)
    return directory == '/'
