#!/usr/bin/env python3
"""Each verb that reads, with one allocation failing, another each time, and with all of them failing from one on: it never dies, and never
says that all is well when something is missing.

Every eleventh allocation; each one with CTRACE_TEST_LONG=1.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import shutil
import subprocess
import sys

BUILD = os.environ['CTRACE_BUILD']
TOOL = os.path.join(BUILD, 'ctrace')
STEP = 1 if os.environ.get('CTRACE_TEST_LONG') else 11

PRELOAD = r'''
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static long at = -1, from = -1, count;

static long number(const char *name)
{
	const char *text = getenv(name);

	return text != NULL ? atol(text) : -1;
}
__attribute__((constructor)) static void start(void)
{
	at = number("FAIL_AT");
	from = number("FAIL_FROM");
	count = 0;
}
__attribute__((destructor)) static void end(void)
{
	if (getenv("FAIL_COUNT") != NULL)
		dprintf(2, "%ld\n", count);
}
static int must_fail(void)
{
	long now = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);

	if (now != at && (from < 0 || now < from))
		return 0;
	errno = ENOMEM;
	return 1;
}
void *malloc(size_t size) { return must_fail() ? NULL : __libc_malloc(size); }
void *calloc(size_t items, size_t size) { return must_fail() ? NULL : __libc_calloc(items, size); }
void *realloc(void *old, size_t size) { return must_fail() ? NULL : __libc_realloc(old, size); }
void *reallocarray(void *old, size_t items, size_t size)
{
	return must_fail() || (size != 0 && items > SIZE_MAX / size) ? NULL : __libc_realloc(old, items * size);
}
'''

COPYBOOK = '''\
       01  CUSTOMER.
           05  CUST-ID         PIC 9(6).
           05  CUST-NAME       PIC X(12).
           05  CUST-STATUS     PIC X.
               88  CUST-ACTIVE     VALUE "A".
           05  MONEY OCCURS 1 TO 1 DEPENDING ON CUST-ID.
               10  BALANCE     PIC S9(5)V99 SIGN LEADING SEPARATE.
           05  FILLER          PIC X(4).
'''

CATALOG = '''\
component: SHOP.ORDER
description: Orders
events:
  10: {mnemonic: ORDER, exit: 11, arguments: [number]}
  11: {mnemonic: ORDEREND, arguments: [number]}
  20: {mnemonic: READ, exit: 21, arguments: [number]}
  21: READEND
  30:
    mnemonic: CUSTOMER
    arguments:
      - {name: rec, copybook: CUSTREC.cpy}
      - change
  40:
    mnemonic: ODD
    arguments:
      - text
      - {name: mode, print: enumeration, values: {NONE: 0, ONE: 1, TWO: 2}}
      - {name: bits, print: flags, values: {READ: 1, WRITE: 2, LOCK: 4}}
'''

FILTER = 'event in (10..40) && data[0] ~ "*a*" || duration > 1us || component ~ "shop.jobs"'
IPCS = 'CTRACE COMP(SHOP) SUB((ORDER)) '

# What is printed when memory lacks for something that is a matter of looks, or is said in what is printed.
MAY_DIFFER = {'stats', 'stats --json'}


def put(path, text):
	with open(path, 'w', encoding='ascii') as file:
		file.write(text)


def prepare():
	"""False, when it cannot be done here."""
	put('preload.c', PRELOAD)
	if 'asan' in subprocess.run(['ldd', TOOL], capture_output=True, check=False).stdout.decode():
		return False
	if subprocess.run(['cc', '-shared', '-fPIC', '-o', 'preload.so', 'preload.c'], check=False).returncode != 0:
		return False
	put('CUSTREC.cpy', COPYBOOK)
	put('shop.yaml', CATALOG)
	put('cfg', 'mftrace.level = debug\nmftrace.dest = binfile\n')
	settings = {'MFTRACE_CONFIG': os.path.abspath('cfg'), 'CTRACE_JOBNAME': 'SHOPJOB'}
	subprocess.run([os.path.join(BUILD, 'tests/orders'), '20'], check=True, env={**os.environ, **settings})
	os.rename(glob.glob('orders*.ctb')[0], 'trace')
	return True


def verbs():
	catalog = ['--catalog', 'shop.yaml']
	yield 'show', ['show', *catalog, 'trace']
	yield 'show --records', ['show', '--records', '--nesting', '--sequence', *catalog, FILTER, 'trace']
	yield 'show --json', ['show', '--json', *catalog, 'trace']
	yield 'show --reverse', ['show', '--reverse', '--limit', '5', 'trace']
	yield 'show --context', ['show', '--context', '2', 'event == 40', 'trace']
	for form in 'csv', 'json', 'chrome', 'perfetto':
		yield f'export {form}', ['export', '--format', form, *catalog, '--output', 'out/file', 'trace']
	yield 'export common-trace-format', ['export', '--format', 'common-trace-format', *catalog, '--output', 'out/folder', 'trace']
	yield 'report', ['report', *catalog, '--output', 'out/page.html', 'trace']
	yield 'stats', ['stats', *catalog, 'trace']
	yield 'stats --json', ['stats', '--json', *catalog, 'trace']
	yield 'diff', ['diff', *catalog, 'trace', 'trace/stream.0']
	yield 'salvage', ['salvage', '--output', 'out/good', 'trace']
	yield 'ipcs', ['ipcs', *catalog, IPCS + 'FULL JOBLIST(SHOPJOB,B) ENTIDLIST(1:FF)', IPCS + 'TALLY', 'CTRACE QUERY', 'trace']
	yield 'ipcs MERGE', ['ipcs', *catalog, 'MERGE', IPCS + 'SHORT', 'CTRACE COMP(SHOP) SUB((JOBS)) FULL', 'MERGEEND', 'trace']
	yield 'ipcs COPYTRC', ['ipcs', "COPYTRC OUTDATASET('out/copy')", 'trace']
	for kind in 'check', 'doc', 'header', 'copybook':
		yield f'catalog {kind}', ['catalog', kind, 'shop.yaml']


def run(words, **failing):
	shutil.rmtree('out', ignore_errors=True)
	os.mkdir('out')
	environment = {**os.environ, 'LD_PRELOAD': os.path.abspath('preload.so'), **{name: str(value) for name, value in failing.items()}}
	return subprocess.run([TOOL, *words], env=environment, capture_output=True, check=False, stdin=subprocess.DEVNULL)


def made():
	return sorted(os.path.join(folder, name) for folder, _, names in os.walk('out') for name in names)


def mistakes_of(name, words):
	good = run(words, FAIL_COUNT=1)
	files = made()
	count = int(good.stderr.split()[-1])
	if good.returncode not in (0, 1) or len(good.stderr.split()) != 1:
		return [f'status {good.returncode} without a fault: {good.stderr.decode()}']
	mistakes = []
	for mode in 'FAIL_AT', 'FAIL_FROM':
		for index in range(0, count, STEP):
			done = run(words, **{mode: index})
			if done.returncode not in (0, 1, 2):
				mistakes.append(f'{mode} {index}: status {done.returncode}')
			elif done.returncode == good.returncode and not done.stderr and name not in MAY_DIFFER and \
					(done.stdout != good.stdout or made() != files):
				mistakes.append(f'{mode} {index}: something is missing, and nothing was said')
	return mistakes


def main():
	if not prepare():
		print('1..0 # SKIP no compiler, or a sanitizer that has its own malloc')
		return 0
	bad = number = 0
	for name, words in verbs():
		number += 1
		mistakes = mistakes_of(name, words)
		bad += bool(mistakes)
		print(f'{"not ok" if mistakes else "ok"} {number} - {name}')
		for mistake in mistakes[:8]:
			print(f'#   {mistake}')
	print(f'1..{number}')
	return int(bad > 0)


sys.exit(main())
