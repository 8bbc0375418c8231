#!/usr/bin/env python3
"""A process is killed at a write of its output, after none, a page or all of it: `ctrace recover` delivers each event once, and every reader
opens what is there by the configured name.  The same with writes that are short and calls that are interrupted, and without a fault.

A few writes of each configuration; every one with CTRACE_TEST_LONG=1.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import re
import shutil
import subprocess
import sys

BUILD = os.environ['CTRACE_BUILD']
TOOL = os.path.join(BUILD, 'ctrace')
SUBJECT = os.path.join(BUILD, 'tests/tool_subject')
IS_LONG = bool(os.environ.get('CTRACE_TEST_LONG'))
SIZES = [80, 31, 32, 33, 1, 34]  # events of one order; no two alike, so that each event's number says how many orders had it

PRELOAD = r'''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* KILL_AT=n,part: the nth write of an output writes nothing (0), up to a page's end inside it, or half of it (1), or all (2), and then the
 * process is killed, as by a signal that meets a long write.  SHORT=1: writes are cut to a third.  INTERRUPT=1: each second call is. */
static long count, at = -1, part, is_short, is_interrupting, calls;

__attribute__((constructor)) static void start(void)
{
	const char *text = getenv("KILL_AT");

	if (text != NULL)
		sscanf(text, "%ld,%ld", &at, &part);
	is_short = getenv("SHORT") != NULL;
	is_interrupting = getenv("INTERRUPT") != NULL;
	unsetenv("LD_PRELOAD");
}
static int interrupts(void)
{
	if (!is_interrupting || __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 2 == 0)
		return 0;
	errno = EINTR;
	return 1;
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	static ssize_t (*real)(int, const void *, size_t, off64_t);
	size_t done = size;

	if (real == NULL)
		real = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
	if (__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) == at) {
		if (part < 2)
			done = part == 0 ? 0 : size > 4096 ? 4096 - (size_t)(offset % 4096) : size / 2;
		if (done > 0)
			(void)!real(fd, data, done, offset);
		kill(getpid(), SIGKILL);
		for (;;)
			pause();
	}
	if (interrupts())
		return -1;
	return real(fd, data, is_short && size > 2 ? size / 3 : size, offset);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) { return pwrite64(fd, data, size, offset); }
int ftruncate64(int fd, off64_t size)
{
	static int (*real)(int, off64_t);

	if (real == NULL)
		real = (int (*)(int, off64_t))dlsym(RTLD_NEXT, "ftruncate64");
	return interrupts() ? -1 : real(fd, size);
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int posix_fallocate64(int fd, off64_t offset, off64_t size)
{
	static int (*real)(int, off64_t, off64_t);

	if (real == NULL)
		real = (int (*)(int, off64_t, off64_t))dlsym(RTLD_NEXT, "posix_fallocate64");
	return interrupts() ? EINTR : real(fd, offset, size);
}
int posix_fallocate(int fd, off_t offset, off_t size) { return posix_fallocate64(fd, offset, size); }
'''

GENERATIONS = [f'mftrace.emitter.{name}#{key}' for name in ('binfile', 'textfile') for key in ('maxgeneration = 200', 'maxfilesize = 1')]
CONFIGURATIONS = {
	'binfile': ('binfile', []),
	'textfile': ('textfile', []),
	'both': ('textfile, binfile', []),
	'binfile in generations': ('binfile', GENERATIONS),
	'textfile in generations': ('textfile', GENERATIONS),
	'both in generations': ('textfile, binfile', GENERATIONS),
}


def prepare():
	with open('preload.c', 'w', encoding='utf-8') as source:
		source.write(PRELOAD)
	return subprocess.run(['cc', '-shared', '-fPIC', '-o', 'preload.so', 'preload.c', '-ldl'], capture_output=True, check=False).returncode == 0


def configure(name):
	destinations, lines = CONFIGURATIONS[name]
	with open('cfg', 'w', encoding='utf-8') as file:
		file.write('\n'.join(['mftrace.level = debug', f'mftrace.dest = {destinations}', 'mftrace.emitter.binfile#file = out.ctb',
				      'mftrace.emitter.textfile#file = out.log', *lines, '']))
	return destinations


def clean():
	for path in glob.glob('out.*'):
		shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
	for path in glob.glob(os.path.join(os.environ['CTRACE_RUN_DIR'], '*')):
		shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def start(**environment):
	fault = {'LD_PRELOAD': os.path.abspath('preload.so'), **environment} if environment else {}
	return subprocess.Popen([SUBJECT, '0'], env={**os.environ, 'MFTRACE_CONFIG': os.path.abspath('cfg'), **fault},
				stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def trace(process):
	"""Gives the orders until it has carried out all or dies; returns how many it has."""
	done = 0
	try:
		assert process.stdout.readline() == 'ready\n'
		for size in SIZES:
			process.stdin.write(f'{size}\n')
			process.stdin.flush()
			if process.stdout.readline() == '':
				break
			done += 1
			process.stdin.write('flush\n')
			process.stdin.flush()
			if process.stdout.readline() == '':
				break
		process.stdin.close()
	except (BrokenPipeError, AssertionError):
		pass
	try:
		process.stdin.close()
	except BrokenPipeError:
		pass
	process.wait()
	process.stdout.close()
	return done


def run(words):
	return subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def diagnostics_of_values(what, values, done):
	"""All events of the orders that were carried out, and of the next one the first so many."""
	counts = {}
	for value in values:
		counts[value] = counts.get(value, 0) + 1
	more = []
	for value in range(max(SIZES)):
		wanted = sum(size > value for size in SIZES[:done])
		more.append(counts.get(value, 0) - wanted)
	rest = SIZES[done] if done < len(SIZES) else 0
	extent = sum(more)
	if set(more) - {0, 1} or extent > rest or more != [1] * extent + [0] * (len(more) - extent):
		return [f'{what}: {len(values)} events, {done} orders were carried out, too many or too few by number: {more}']
	return []


def diagnostics_of_binfile(done):
	shown = run([TOOL, 'show', '--format=$(COMPONENT)$(DATA)', 'out.ctb'])
	values = [int(value) for value in re.findall(r'tool\.main\s+(\d+)', shown.stdout)]
	if not glob.glob('out.ctb*/metadata'):
		return [] if done == 0 else ['binfile: nothing is there']
	found = diagnostics_of_values('show', values, done)
	if shown.stderr and 'no events match' not in shown.stderr:
		found.append(f'show says {shown.stderr}')
	viewed = run(['babeltrace2', *(os.path.dirname(path) for path in glob.glob('out.ctb*/metadata'))])
	if viewed.returncode != 0 or viewed.stderr:
		found.append(f'babeltrace2 says {viewed.stderr[:300]}')
	elif len(viewed.stdout.splitlines()) != len(values):
		found.append(f'babeltrace2 shows {len(viewed.stdout.splitlines())} events, show {len(values)}')
	return found


def diagnostics_of_textfile(done):
	values, found = [], []
	for path in glob.glob('out.log*'):
		with open(path, encoding='utf-8') as file:
			text = file.read()
		if text and text[-1] != '\n':
			found.append(f'{path} ends in half a line')
		for line in text.splitlines():
			whole = re.fullmatch(r'[0-9:.]+ tool\.main 1 1 (\d+)', line)
			if whole:
				values.append(int(whole.group(1)))
			elif not line.startswith('#'):
				found.append(f'{path}: {line}')
	return found + diagnostics_of_values('text', values, done)


def diagnostics_of(destinations, done):
	recovered = run([TOOL, 'recover'])
	found = []
	if recovered.returncode != 0:
		found.append(f'recover: {recovered.stdout}{recovered.stderr}')
	if 'binfile' in destinations:
		found += diagnostics_of_binfile(done)
	if 'textfile' in destinations:
		found += diagnostics_of_textfile(done)
	return found


def kills(name):
	"""Each point until the process is not killed any more."""
	destinations = configure(name)
	found, points = [], 0
	for index in range(1, 1000):
		if not IS_LONG and index not in (1, 2, 3, 4, 5, 6, 8, 10, 12):
			continue
		for part in 0, 1, 2:
			clean()
			process = start(KILL_AT=f'{index},{part}')
			done = trace(process)
			if process.returncode >= 0:
				return found, points
			points += 1
			found += [f'write {index}, part {part}: {error}' for error in diagnostics_of(destinations, done)]
	return found, points


def faults(name, **environment):
	destinations = configure(name)
	clean()
	process = start(**environment)
	done = trace(process)
	if process.returncode != 0 or done != len(SIZES):
		return [f'status {process.returncode}, {done} orders']
	return diagnostics_of(destinations, done)


def second_run(name):
	"""Killed in the middle, and another process uses the names before anybody recovers; and the other way round."""
	destinations = configure(name)
	found = []
	for is_recovered_first in True, False:
		for part in 0, 1, 2:
			clean()
			first = start(KILL_AT=f'6,{part}')
			done = trace(first)
			if is_recovered_first:
				run([TOOL, 'recover'])
			os.rename(os.environ['CTRACE_RUN_DIR'], 'hidden') if not is_recovered_first else None
			os.makedirs(os.environ['CTRACE_RUN_DIR'], 0o700, exist_ok=True)
			second = start()
			done_second = trace(second)
			if not is_recovered_first:
				shutil.rmtree(os.environ['CTRACE_RUN_DIR'])
				os.rename('hidden', os.environ['CTRACE_RUN_DIR'])
			if done_second != len(SIZES) or second.returncode != 0:
				found.append(f'the second process: status {second.returncode}')
			found += [f'part {part}, {"recovered first" if is_recovered_first else "recovered last"}: {error}'
				  for error in diagnostics_of_both(destinations, done)]
	return found


def diagnostics_of_both(destinations, done):
	"""The second process carried out everything: the sum is as if one process had done that, and then what the first one did."""
	everything = list(SIZES)
	SIZES[:] = everything + everything[:done] + everything[done:done + 1]
	try:
		return diagnostics_of(destinations, len(everything) + done)
	finally:
		SIZES[:] = everything


def main():
	if not prepare():
		print('1..0 # SKIP no compiler')
		return 0
	bad = number = 0

	def report(what, errors):
		nonlocal bad, number
		number += 1
		bad += bool(errors)
		print(f'{"not ok" if errors else "ok"} {number} - {what}')
		for error in errors[:8]:
			print('#   ' + error.replace('\n', '\n#   '))

	for name in CONFIGURATIONS:
		report(f'{name}: no fault', faults(name))
		report(f'{name}: short writes', faults(name, SHORT='1'))
		report(f'{name}: interrupted calls', faults(name, INTERRUPT='1'))
		errors, points = kills(name)
		report(f'{name}: killed at {points} points', errors)
		report(f'{name}: killed, and another process uses the names', second_run(name))
	print(f'1..{number}')
	return int(bad > 0)


sys.exit(main())
