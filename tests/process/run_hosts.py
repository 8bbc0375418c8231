#!/usr/bin/env python3
"""Debuggers, sanitizers, valgrind and process 1 with traced programs: COBOL under ctrace run, and C that is linked to libctrace.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import os
import pty
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

checks = tap.Tap()
BUILD, SOURCE = os.environ['CTRACE_BUILD'], os.environ['CTRACE_SOURCE']
PATIENCE = 120  # only to stop what hangs
COBOL = """\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. HOSTED.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT OUT-FILE ASSIGN TO "out.dat"
               ORGANIZATION IS LINE SEQUENTIAL.
       DATA DIVISION.
       FILE SECTION.
       FD OUT-FILE.
       01 OUT-REC PIC X(9).
       PROCEDURE DIVISION.
       BEGIN-IT.
           OPEN OUTPUT OUT-FILE.
           PERFORM WORK-IT 100 TIMES.
           CLOSE OUT-FILE.
           DISPLAY "ready".
           CALL "pause".
           STOP RUN.
       WORK-IT.
           WRITE OUT-REC FROM "record".
"""
C = """\
#include <ctrace/ctrace.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static struct ctrace_tracer tracer = CTRACE_TRACER("hosted");
int main(int argc, char **argv)
{
	for (int i = 0; i < 1000; i++)
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U32((unsigned)i));
	puts("ready");
	fflush(stdout);
	if (argc > 1 && strcmp(argv[1], "pause") == 0)
		pause();
	return 0;
}
"""
# The first of many names, rings that change their threads, a level that changes.
THREADS = """\
#include <ctrace/ctrace.h>
#include <pthread.h>
#include <string.h>
static struct ctrace_tracer tracer = CTRACE_TRACER("hosted"), other = CTRACE_TRACER("hosted.other");
static void *work(void *unused)
{
	char text[] = "some text of the program";
	for (int i = 0; i < 2000; i++) {
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_U32((unsigned)i), CTRACE_STR(text));
		if (i % 100 == 0)
			(void)!ctrace_emit(&other, CTRACE_WARN, 2, 0, 0);
	}
	memset(text, 0, sizeof text);
	return unused;
}
int main(void)
{
	pthread_t threads[4];
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], 0, work, 0);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], 0);
		(void)!ctrace_flush(60000);
		(void)!ctrace_level_set("hosted", round % 2 == 0 ? CTRACE_WARN : CTRACE_DEBUG);
	}
	return 0;
}
"""
ENDS = COBOL.replace('           CALL "pause".\n', '')


def write(name, text):
    with open(name, 'w', encoding='ascii') as file:
        file.write(text)


def build(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def run(words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE, stdin=subprocess.DEVNULL, **more)


write('pausing.cob', COBOL)
write('ending.cob', ENDS)
write('hosted.c', C)
write('threads.c', THREADS)
has_cobol = os.path.exists(os.path.join(BUILD, 'libctrace-cobol.so'))
C_FLAGS = ['-I', os.path.join(SOURCE, 'include'), '-L', BUILD, f'-Wl,-rpath,{BUILD}', 'hosted.c', '-lctrace', '-o']
if has_cobol:
    for name in ('pausing', 'ending'):
        subprocess.run(['cobc', '-x', '-ftrace', '-o', name, f'{name}.cob'], check=True)
subprocess.run(['cc', *C_FLAGS, 'hosted'], check=True)


def configuration(destination):
    write('c.cfg', f'mftrace.level = debug\nmftrace.dest = {destination}\nmftrace.emitter.binfile#catalog = {SOURCE}/catalog\n')
    return dict(os.environ, MFTRACE_CONFIG=os.path.abspath('c.cfg'))


# ---- debuggers: every name in the list of loaded objects is one that another process can open
def debugger(name, words, environment):
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True) as program:
        program.stdout.readline()
        pid = program.pid
        if words[0] == 'ctrace':
            with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
                pid = next(int(one) for one in file.read().split() if os.readlink(f'/proc/{one}/exe').endswith('pausing'))
        with open(f'/proc/{pid}/maps', encoding='ascii') as file:
            modules = set(re.findall(r'/\S*/modules/\S+\.so', file.read()))
        try:
            done = run(['gdb', '-nx', '-p', str(pid), '-batch', '-ex', 'info sharedlibrary', '-ex', 'print 6*7'])
            checks.check(f'gdb attaches: {name}', '$1 = 42' in done.stdout, done)
            checks.check(f'no name that only the program resolves: {name}', '/proc/' not in done.stdout and all(one in done.stdout for one in modules),
                         done.stdout, modules)
            checks.check(f'its module is loaded: {name}', modules, modules)
        except subprocess.TimeoutExpired:
            checks.check(f'gdb attaches: {name}', False, 'it hangs')
        os.killpg(program.pid, signal.SIGKILL)


if shutil.which('gdb'):
    if has_cobol:
        debugger('a COBOL program', ['ctrace', 'run', '--summary=never', './pausing'],
                 dict(os.environ, CTRACE_CATALOG=f'{SOURCE}/catalog'))
    for module in sorted(one for one in os.listdir(os.path.join(BUILD, 'modules')) if re.fullmatch(r'(journal|otlp|nats)\.so', one)):
        debugger(module, ['./hosted', 'pause'], configuration(module.removesuffix('.so')))
else:
    checks.skip('gdb attaches', 'gdb is not installed')

# ---- valgrind
if shutil.which('valgrind'):
    VALGRIND = ['valgrind', '-q', '--error-exitcode=9']
    done = run([*VALGRIND, './hosted'], env=configuration('binfile'))
    checks.check('valgrind is silent: C', (done.returncode, done.stdout, done.stderr) == (0, 'ready\n', ''), done)
    if has_cobol:
        for name, words in (('memcheck', VALGRIND), ('callgrind', ['valgrind', '-q', '--tool=callgrind', '--callgrind-out-file=/dev/null'])):
            done = run(['ctrace', 'run', '--summary=never', '-o', f'{name}.ctb', *words, './ending'])
            checks.check(f'valgrind is silent: COBOL, {name}', (done.returncode, done.stdout, done.stderr) == (0, 'ready\n', ''), done)
            checks.check(f'and it is traced: {name}', 'WORK-IT' in run(['ctrace', 'show', f'{name}.ctb']).stdout)
else:
    checks.skip('valgrind is silent', 'valgrind is not installed')

# ---- sanitizers
for kind in ('address', 'thread', 'undefined'):
    flag = f'-fsanitize={kind}'
    for compiler in filter(shutil.which, ('gcc', 'clang')):
        if build(compiler, flag, '-g', *C_FLAGS, f'{compiler}-{kind}').returncode != 0:
            checks.skip(f'{compiler} {flag}', 'it has no run time')
            continue
        if run(['setarch', '-R', f'./{compiler}-{kind}'], env={'CTRACE_ATTACH': '0'}).returncode != 0:
            checks.skip(f'{compiler} {flag}', 'its run time does not work here')
            continue
        done = run(['setarch', '-R', f'./{compiler}-{kind}'], env=configuration('binfile'))
        checks.check(f'C, {compiler} {flag}', (done.returncode, done.stdout, done.stderr) == (0, 'ready\n', ''), done)
        for optimized in ('-O0', '-O2') if kind == 'thread' else ():
            made = build(compiler, flag, '-g', '-w', optimized, *(word.replace('hosted.c', 'threads.c') for word in C_FLAGS), 'many-threads')
            done = run(['setarch', '-R', './many-threads'], env={**configuration('binfile'), 'TSAN_OPTIONS': f'suppressions={SOURCE}/packaging/tsan.supp'})
            checks.check(f'C, {compiler} {flag} {optimized}, with threads and the suppressions', (made.returncode, done.returncode, done.stderr) ==
                         (0, 0, ''), made, done)
    name = f'cobol-{kind}'
    if not has_cobol or build('cobc', '-x', '-ftrace', '-A', flag, '-Q', flag, '-o', name, 'ending.cob').returncode != 0:
        checks.skip(f'COBOL, {flag}', 'cobc does not build it')
        continue
    plain = run(['setarch', '-R', f'./{name}'])
    for words in ([f'./{name}'], ['sh', '-c', f'./{name}']):
        done = run(['ctrace', 'run', '--summary=never', '-o', f'{name}.ctb', 'setarch', '-R', *words])
        same = (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)
        checks.check(f'COBOL, {flag}, {words[0]}', same, plain, done)
        checks.check('and it is traced', 'WORK-IT' in run(['ctrace', 'show', f'{name}.ctb']).stdout)

# ---- process 1: the children of others are collected, signals arrive, the status is right
ORPHANS = "for i in 1 2 3; do (sh -c 'exit 0' & exec true); done; n=1; while [ $n != 0 ]; do n=$(ps -eo stat= | grep -c Z); done; exit 7"
STOPPED = "trap 'exit 9' TERM; kill -TERM 1; while :; do sleep 0.05; done"
if has_cobol and run(['unshare', '-pf', '--mount-proc', 'true']).returncode == 0:
    for name, script, status in (('no zombie is left', ORPHANS, 7), ('signals are passed on', STOPPED, 9)):
        try:
            done = run(['unshare', '-pf', '--mount-proc', '--kill-child', 'ctrace', 'run', '--summary=never', 'sh', '-c', script])
            checks.check(f'process 1: {name}', done.returncode == status, done)
        except subprocess.TimeoutExpired:
            checks.check(f'process 1: {name}', False, 'it hangs')
else:
    checks.skip('process 1', 'no name space of processes can be made')

# ---- a program that stops itself, at a terminal: whoever waits for the tool sees it stop, and continues both
child, terminal = pty.fork()
if child == 0:
    os.execvp('ctrace', ['ctrace', 'run', '--summary=never', 'sh', '-c', 'kill -STOP $$; echo resumed'])
signal.alarm(60)  # to stop what hangs
_, how = os.waitpid(child, os.WUNTRACED)
stopped = os.WIFSTOPPED(how)
os.kill(child, signal.SIGCONT)
text = b''
with contextlib.suppress(OSError):  # the terminal is closed
    while b'resumed' not in text:
        text += os.read(terminal, 100)
_, how = os.waitpid(child, 0)
signal.alarm(0)
checks.check('a program that stops itself stops ctrace run, and goes on with it', stopped and b'resumed' in text and how == 0, stopped, text, how)

# ---- a shell under ctrace run, which has a group of its own in front, is suspended: the shell around it goes on, and can give it the terminal back
child, terminal = pty.fork()
if child == 0:
    os.execvpe('bash', ['bash', '--norc', '-i'], {**os.environ, 'PS1': 'ready> '})
text = b''


def shell(line, answer):
    """Types a line, and returns when the answer, which is not in the line, is there."""
    global text  # pylint: disable=global-statement
    os.write(terminal, line.encode() + b'\n')
    while answer not in text:
        text += os.read(terminal, 1000)
    text = text[text.index(answer) + len(answer):]


signal.alarm(60)
shell('ctrace run --summary=never bash --norc -i', b'ready> ')
shell('echo in$((1))', b'in1\r\n')
shell('suspend', b'Stopped')
shell('echo out$((1))', b'out1\r\n')
shell('fg; echo status$?', b'ctrace run')
shell('echo in$((2)); exit 7', b'status7')
signal.alarm(0)
os.write(terminal, b'exit\n')
_, how = os.waitpid(child, 0)
checks.check('a shell that is suspended under ctrace run gives the terminal back, and gets it again', how == 0, text)
checks.end()
