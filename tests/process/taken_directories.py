#!/usr/bin/env python3
"""A directory with a user's number that is somebody else's, in the spool of all users or as a run directory in /tmp: the user's programs are
traced all the same, and readers and forwarders find what they left.  Each spool that is refused is named, with whose it is and what to do.

Only root can make directories of other users.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import atexit
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

import streams

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
BUILD = os.environ['CTRACE_BUILD']
PATIENCE = 60
USER, OTHER = 61011, 61012
if os.geteuid() != 0:
    checks.skip('directories of other users', 'only root can make them')
    sys.exit(checks.end())

TOP = tempfile.mkdtemp(prefix='taken-', dir='/tmp')
atexit.register(shutil.rmtree, TOP, True)
os.chmod(TOP, 0o755)
for file, place in ('ctrace', '.'), ('steps', 'tests'), ('libctrace.so.1', '.'):
    shutil.copy(os.path.join(BUILD, place, file), os.path.join(TOP, file))
shutil.copytree(os.path.join(BUILD, 'modules'), os.path.join(TOP, 'modules'), ignore=lambda at, names: [one for one in names if not one.endswith('.so')])
for at, _, names in os.walk(TOP):
    for one in ['.', *names]:
        os.chmod(os.path.join(at, one), 0o755)
HOME = os.path.join(TOP, 'home')
SPOOL = os.path.join(TOP, 'spool')
os.mkdir(HOME)
os.chown(HOME, USER, USER)
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ('CTRACE_RUN_DIR', 'XDG_RUNTIME_DIR')}
ENVIRONMENT.update(HOME=HOME, LD_LIBRARY_PATH=TOP, CTRACE_SPOOL=SPOOL, MFTRACE_CONFIG=os.path.join(TOP, 'app.cfg'), TMPDIR='/tmp')


def popen(*words, user=USER, **more):
    return subprocess.Popen([os.path.join(TOP, words[0]), *words[1:]], env={**ENVIRONMENT, **more}, cwd=HOME, user=user, group=user,
                            extra_groups=[], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ctrace(*words, user=USER, **more):
    process = popen('ctrace', *words, user=user, **more)
    out, error = process.communicate(timeout=PATIENCE)
    return out + error


def started():
    process = popen('steps', 'trace', 'app', '4', '50', 'flush', 'pause')
    return process, process.stdout.readline().strip()


def taken(path, user=OTHER, mode=0o700):
    os.mkdir(path)
    os.chmod(path, mode)
    os.chown(path, user, user)


def fresh_spool(mode=0o1777):
    shutil.rmtree(SPOOL, ignore_errors=True)
    taken(SPOOL, 0, mode)


def configure(*lines):
    with open(os.path.join(TOP, 'app.cfg'), 'w', encoding='ascii') as config:
        config.write('\n'.join(['mftrace.level = debug', *lines, '']))


# ---- the run directory
RUN = f'/tmp/ctrace-{USER}'
for left in glob.glob(RUN + '*'):
    shutil.rmtree(left)
taken(RUN)
atexit.register(lambda: [shutil.rmtree(one, True) for one in glob.glob(RUN + '*')])
configure('mftrace.dest = storage')
first, second = started()[0], started()[0]
listed = ctrace('list')
checks.check('a run directory that is taken: its user sees both processes', all(f'{one.pid}  steps' in listed for one in (first, second)), listed)
shown = ctrace('show', '--count', str(first.pid), user=0)
checks.check('and root does', '50' in shown, shown)
checks.check('one directory was made beside it', len(glob.glob(RUN + '.*')) == 1, glob.glob(RUN + '*'))
first.kill()
first.wait()
recovered = ctrace('recover')
checks.check('what a killed process left there is recovered', str(first.pid) in recovered, recovered)
second.communicate('\n')

# ---- the spool
fresh_spool()
taken(os.path.join(SPOOL, str(USER)))
taken(os.path.join(SPOOL, '61013'), OTHER)
room = streams.Streams()
server, address = room.server()
configure('mftrace.dest = nats', f'mftrace.emitter.nats#url = nats://127.0.0.1:{server.port}', 'ctrace.spool.linger = 0s')
process, status = started()
process.communicate('\n')
segments = glob.glob(os.path.join(SPOOL, f'{USER}.*', '*.ctb'))
checks.check('a spool that is taken: the program has one beside it', status == 'SUCCESS' and len(segments) == 1, status, os.listdir(SPOOL))
told = ctrace('list')
checks.check('its user is told that no forwarder serves it', f'{SPOOL}/{USER}.' in told and 'no forwarder serves it' in told, told)
forwarder = popen('ctrace', 'forward', '--spool', user=0)
room.processes.append(forwarder)
end = time.monotonic() + PATIENCE
while glob.glob(os.path.join(SPOOL, f'{USER}.*', '*.ctb')):
    assert time.monotonic() < end
forwarder.terminate()
_, told = forwarder.communicate(timeout=PATIENCE)
checks.check('the forwarder of the machine has sent it', '50 ' in room.tool('stats', address).stdout, room.tool('stats', address))
checks.check('and names what it refuses, and whose it is', f'{SPOOL}/61013: is refused: it belongs to user {OTHER}' in told, told)
room.end()


# ---- refused, and why
def check_refused(what, path, why):
    process, status = started()
    listed, stats, doctor = ctrace('list'), ctrace('stats'), ctrace('doctor', str(process.pid))
    process.communicate('\n')
    forward = ctrace('forward', '--spool')
    for verb, said in ('list', listed), ('stats', stats), ('doctor', doctor):
        checks.check(f'{what}: {verb}', status != 'SUCCESS' and f'the spool {path} is refused: {why}' in ' '.join(said.split()), status, said)
    checks.check(f'{what}: forward', f'{path}: is refused: {why}' in forward, forward)


own = os.path.join(SPOOL, str(USER))
fresh_spool()
taken(own, USER, 0o777)
check_refused('others may write to it', own, 'others may write to it (mode 0777); chmod go-w')
fresh_spool()
os.symlink('/nowhere', own)
os.lchown(own, USER, USER)
check_refused('a link', own, f'it is a symbolic link of user {USER}; remove it')
fresh_spool(0o777)
check_refused('no sticky bit', SPOOL, 'others may replace what is in it (mode 0777, of user 0); chmod +t')
shutil.rmtree(SPOOL)
taken(SPOOL, OTHER, 0o755)
check_refused("another user's", SPOOL, f'it belongs to user {OTHER}; that user or root can remove it')
sys.exit(checks.end())
