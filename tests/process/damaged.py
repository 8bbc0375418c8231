#!/usr/bin/env python3
"""Each file of a dead process's directory, and each file of its output, is damaged in turn: cut, emptied, removed, overwritten, or something else
stands there.  `ctrace recover` delivers the rest, keeps the directory where the page says so, and names the file; no event is absent in silence:
delivered, counted as lost, or in bytes that `ctrace recover` and `ctrace stats` name.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import disk  # noqa: E402
import tap  # noqa: E402

checks = tap.Tap(is_live=True)
BUILD = os.environ['CTRACE_BUILD']
RUN = os.path.abspath('run')
PATIENCE = 60
EVENTS = 20000  # of each thread
CONFIGURATIONS = {
	'binfile': 'mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#file = {disk}/t.ctb\n',
	'textfile': 'mftrace.level = debug\nmftrace.dest = textfile\nmftrace.emitter.textfile#file = {disk}/t.log\n',
}


def ctrace(*arguments):
	done = subprocess.run([f'{BUILD}/ctrace', *arguments], env={**os.environ, 'CTRACE_RUN_DIR': RUN}, capture_output=True, text=True, check=False,
			      timeout=PATIENCE)
	assert 0 <= done.returncode <= 2, (arguments, done)
	return done


def stats():
	done = ctrace('stats', '--json')
	return (json.loads(done.stdout)['processes'] if done.stdout else []), done.stderr


def be_orphaned(name):
	"""A process whose output has no room for most of its events ends: kept/ has its directory and its output.  Returns what it emitted."""
	os.makedirs('kept')
	os.makedirs('disk', exist_ok=True)
	os.makedirs(RUN, mode=0o700, exist_ok=True)
	disk.mount('disk', '128k')
	with open('cfg', 'w', encoding='utf-8') as file:
		file.write(CONFIGURATIONS[name].format(disk=os.path.abspath('disk')))
	environment = {**os.environ, 'CTRACE_RUN_DIR': RUN, 'MFTRACE_CONFIG': os.path.abspath('cfg')}
	half = ['trace', 'a.b', '1', '1000', 'flush', 'trace', 'a.b', '1', str(EVENTS)]
	subprocess.run([f'{BUILD}/tests/steps', *half, *['thread', 'c.d', '1', str(EVENTS)], 'kill'], env=environment, check=False, stdout=subprocess.DEVNULL, timeout=PATIENCE)
	disk.mount('disk', '8m')
	subprocess.run(['cp', '-a', '--sparse=always', RUN, 'disk', 'kept'], check=True)
	orphans = glob.glob('kept/run/*.0')
	assert len(orphans) == 1, orphans


def restore():
	for path in [*glob.glob(f'{RUN}/*'), *glob.glob(f'{RUN}/.*'), *glob.glob('disk/*')]:
		if os.path.isdir(path) and not os.path.islink(path):
			shutil.rmtree(path)
		else:
			os.remove(path)
	subprocess.run('cp -a --sparse=always kept/run/. run && cp -a kept/disk/. disk', shell=True, check=True)


def cut(size):
	def change(path):
		os.truncate(path, max(0, os.stat(path).st_size + size if size < 0 else size))
	return change


def overwrite(at, data):
	"""at: from 0 to 1, a part of what the file holds."""
	def change(path):
		size = min(os.stat(path).st_size, 1 << 20)
		with open(path, 'r+b') as file:
			place = min(int(size * at), max(0, size - len(data)))
			file.seek(place)
			old = file.read(len(data))
			file.seek(place)
			file.write(data if len(data) > 1 else bytes(byte ^ 0x55 for byte in old))
	return change


def be_directory(path):
	os.remove(path)
	os.mkdir(path)


def be_link(path):
	os.remove(path)
	os.symlink('/dev/null', path)


DAMAGES = {
	'cut by a byte': cut(-1), 'cut by 768 bytes': cut(-768), 'cut by a page': cut(-4096), 'cut to half': lambda path: cut(os.stat(path).st_size // 2)(path),
	'emptied': cut(0), 'cut to a page': cut(4096), 'removed': os.remove, 'a directory': be_directory, 'a link': be_link,
	**{f'a byte at {at}': overwrite(at, b'?') for at in (0, 0.003, 0.2, 0.5, 0.9)},
	'zeros': overwrite(0.5, bytes(300)), 'noise': overwrite(0.4, bytes(range(255, 155, -1)) * 2),
}


def shown(path):
	done = ctrace('show', '--format=$(COMPONENT)', *path)
	return len(re.findall(r'^(?:a\.b|c\.d)', done.stdout, re.MULTILINE)), done.stderr


def outputs():
	"""Events in all outputs, and those that they report as lost."""
	count = lost = 0
	if os.path.isdir('disk/t.ctb'):  # with those beside it
		count, told = shown(['disk/t.ctb'])
		lost = sum(map(int, re.findall(r'(\d+) events? w(?:as|ere) discarded', told)))
	for path in glob.glob('disk/t.log*'):
		if os.path.isfile(path):
			with open(path, 'rb') as file:
				count += len(re.findall(rb'\b(?:a\.b|c\.d)\b', file.read()))
	return count, lost


def names(told, path):
	return os.path.basename(path) in told


def recover(problems, wants_tries=True):
	"""Tries until nothing changes any more.  Returns what was said, and the events delivered."""
	dry = ctrace('recover', '-n')
	if glob.glob(f'{RUN}/*.0') and 'kept' not in dry.stdout + dry.stderr and 'would be' not in dry.stdout and 'cannot be read' not in dry.stderr:
		problems.append(('recover -n', dry))
	first = ctrace('recover')
	told = first.stdout + first.stderr
	kept = bool(glob.glob(f'{RUN}/*.0'))
	if kept and (first.returncode != 1 or ': kept, ' not in first.stderr):
		problems.append(('kept without a reason', first))
	if not kept and first.returncode == 1 and '  ' not in first.stdout:
		problems.append(('failed without a reason', first))
	if kept and wants_tries:
		again = ctrace('recover')
		dry = ctrace('recover', '-n')
		if 'kept, 0 events delivered: ' not in again.stderr or again.returncode != 1 or 'would be recovered' in dry.stdout:
			problems.append(('the second try', again, dry))
	return first, told, kept


def damaged_case(path, damage, whole, is_session):
	"""One damage to one file; yields what is wrong."""
	problems = []
	name = os.path.basename(path)
	restore()
	DAMAGES[damage](path)
	shown(glob.glob(f'{RUN}/*.0'))
	first, told, kept = recover(problems)
	count, lost = outputs()
	after, said = stats()
	missing = whole - count
	# Where BINFILE goes on beside what was changed, the last batch may be in both: docs/recovery.md.
	if count > whole and not is_session and ('run/' in path or count - whole >= EVENTS):
		problems.append(('twice', count, whole))
	if 'run/' in path and not is_session:
		touched = missing != 0
		if touched and (not kept or not names(told, path)):
			problems.append(('events are absent', missing, first))
		if kept and not names(told, path):
			problems.append(('which file', first))
		if kept and after:
			rings = after[0]['rings']
			if rings.get('unreadable', 0) + rings.get('unreadable_bytes', 0) == 0:
				problems.append(('stats', after[0]))
			if after[0]['emitted'] != after[0]['delivered'] + after[0]['pending'] + after[0]['lost'] or after[0]['pending'] != 0:
				problems.append(('the sum', after[0]))
			if rings.get('unreadable', 0) == 0 and after[0]['lost_by_reason']['damaged'] == 0:
				problems.append(('not counted', after[0]))
		if kept and not after:
			problems.append(('stats lacks it', said))
	elif is_session:
		if not kept and missing > 0 and damage in ('emptied', 'removed', 'a directory', 'a link', 'cut to a page'):
			problems.append(('the session was removed', first))
		if kept and 'session' not in told and 'destination' not in told and 'ring.' not in told and 'cannot' not in told and 'kept' not in told:
			problems.append(('which file', first))
		if kept and damage in ('emptied', 'removed', 'a directory', 'a link', 'cut to a page') and '--discard=' not in told:
			problems.append(('what to do', first))
	else:
		was_put_away = damage == 'removed' and path.endswith('.log')  # as logs are
		if missing > 0 and damage.startswith(('cut', 'emptied', 'removed')) and not was_put_away and not names(told, path) and 'events are in' not in told:
			problems.append(('changed in silence', missing, first))
	if kept and 'run/' in path:
		gone = ctrace('recover', '--discard=all')
		if glob.glob(f'{RUN}/*.0') and 'destination' not in told and 'space' not in told:
			problems.append(('it cannot be removed', gone, told))
	return [f'{name}, {damage}: {problem}' for problem in problems]


def check(kind):
	be_orphaned(kind)
	restore()
	before, _ = stats()
	first = ctrace('recover')
	restore()
	problems = []
	first, _, kept = recover(problems)
	whole, lost = outputs()
	checks.check(f'{kind}: what is whole is recovered', first.returncode == 0 and not kept and not problems and whole > 10000, first, whole, lost, before)
	orphan = glob.glob('kept/run/*.0')[0].removeprefix('kept/')
	for path in sorted(glob.glob(f'kept/{orphan}/*')):
		if os.path.basename(path).startswith(('ring.', 'session')):
			found = [line for damage in DAMAGES
				 for line in damaged_case(path.removeprefix('kept/'), damage, whole, os.path.basename(path) == 'session')]
			checks.clean(f'{kind}: each damage of {os.path.basename(path)}', found)
	for path in sorted([*glob.glob('kept/disk/t.*/*'), *glob.glob('kept/disk/t.log')]):
		found = [line for damage in DAMAGES for line in damaged_case(path.removeprefix('kept/'), damage, whole, False)]
		checks.clean(f'{kind}: each damage of the output {os.path.basename(path)}', found)
	shutil.rmtree('kept')
	disk.unmount('disk')


if disk.can_mount(checks, 'recovery of damaged files'):
	for one in CONFIGURATIONS:
		check(one)
sys.exit(checks.end())
