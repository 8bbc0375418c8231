#!/usr/bin/env python3
"""The page of `ctrace run` says nothing that it does not know.

Each case is a program of which something is not in the trace, or was not in former pages: the page must have what is known, and the reason,
and no sentence that is not true.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

COBOL = os.path.join(os.environ['CTRACE_SOURCE'], 'tests', 'cobol')
PATIENCE = 60  # seconds, only to stop what hangs
NOTHING = ('The trace has no entry', 'The trace has no paragraph', 'The trace has no file')
UNITS = {'ns': 1e-9, 'us': 1e-6, 'ms': 1e-3, 's': 1}

PROGRAM = """\
identification division.
program-id. {name}.
environment division.
input-output section.
file-control.
{selects}
data division.
file section.
{records}
working-storage section.
01 fs pic xx.
01 n pic 9(9) comp-5 value 0.
procedure division.
{body}
"""
PLUGIN = """\
#include <stddef.h>
#include <libcob.h>
int plugin_run(void)
{
	int (*tally)(void);

	cob_init(0, NULL);
	tally = (int (*)(void))cob_resolve("tally");
	for (int i = 0; i < 100; i++)
		(void)tally();
	return 0;
}
"""
HOST = """\
#include <dlfcn.h>
int main(void)
{
	int (*run)(void) = (int (*)(void))dlsym(dlopen("./plugin.so", RTLD_LAZY | RTLD_LOCAL), "plugin_run");
	return run();
}
"""
HANDLER = """\
#include <stddef.h>
#include <string.h>
#include <libcob.h>
int SITEH(unsigned char *operation, FCD3 *description)
{
	const char *status = memcmp(description->fnamePtr, "own", 3) == 0 ? "00" : memcmp(description->fnamePtr, "bad", 3) == 0 ? "97" : NULL;
	if (status == NULL)
		return EXTFH(operation, description);
	memcpy(description->fileStatus, status, 2);
	return 0;
}
"""
checks = tap.Tap(is_live=True)


def write(name, text):
    with open(name, 'w', encoding='ascii') as file:
        file.write(text)


def cobc(name, body, *words, kind='-x', files=()):
    selects = '\n'.join(f'select {one} assign to "{one}.txt" organization line sequential file status fs.' for one in files)
    records = '\n'.join(f'fd {one}.\n01 {one}-rec pic x(20).' for one in files)
    write(f'{name}.cbl', PROGRAM.format(name=name, selects=selects, records=records, body=body))
    subprocess.run(['cobc', kind, '-free', '-w', f'{name}.cbl', *words], check=True, timeout=PATIENCE)


def page(*words, **environment):
    done = subprocess.run(['ctrace', 'run', '--summary=always', *words], env=dict(os.environ, **environment), capture_output=True, text=True,
                          timeout=PATIENCE)
    return done.stderr


def row(text, name):
    """Returns the cells of a row of the page, or []."""
    found = re.search(rf'^{name} .*$', text, re.M)
    return re.split(r' {2,}', found[0].strip()) if found else []


def seconds(cell):
    number, unit = cell.split()
    return float(number.replace(',', '')) * UNITS[unit]


def unknown_run_time():
    subprocess.run(['cc', '-shared', '-fPIC', '-o', 'version.so', os.path.join(COBOL, 'runtime_version.c')], check=True, timeout=PATIENCE)
    cobc('old', 'one-paragraph. display "x". stop run.', '-ftrace')
    text = page('./old', LD_PRELOAD=os.path.abspath('version.so'))
    checks.check('a libcob of another version is named', 'libcob 4.1.0 is not known, only libcob' in text, text)
    checks.check('and nothing is said about what was not traced', not any(one in text for one in NOTHING), text)


def local_plugin():
    write('plugin.c', PLUGIN)
    write('host.c', HOST)
    cobc('tally', 'one-paragraph. add 1 to n. goback.', '-ftrace', kind='-m')
    subprocess.run('cc -shared -fPIC -o plugin.so plugin.c -lcob && cc -o host host.c -ldl', shell=True, check=True, timeout=PATIENCE)
    text = page('./host')
    checks.same('programs of a libcob that a plug-in has loaded for itself are traced', row(text, 'tally')[:2], ['tally', '100'])


def site_handler():
    write('siteh.c', HANDLER)
    files = ('own', 'bad', 'passed')
    body = 'open output own passed. move "x" to own-rec passed-rec. write own-rec. write passed-rec. close own passed. open output bad. stop run.'
    cobc('handled', body, '-fcallfh=SITEH', 'siteh.c', files=files)
    text = page('./handled')
    for name, writes, status in (('own', '1', '00'), ('bad', '0', '97'), ('passed', '1', '00')):
        cells = row(text, name)
        checks.same(f'a file behind a handler of the site, {name}: writes and status', [*cells[2:3], *cells[5:6]], [writes, status])
    checks.same('each file stands there once', len(re.findall('^(?:own|bad|passed) ', text, re.M)), 3)
    checks.check('the failed OPEN is an error', 'OPEN of bad: status 97' in text, text)


def no_paragraphs():
    cobc('plain', 'display "x". stop run.', '-ftrace')
    text = page('./plain')
    checks.check('a program without paragraphs: both reasons are named', 'the programs have none, or were' in text, text)


def hanging():
    cobc('hang', 'perform b-ok. perform c-hang. stop run.\nb-ok. add 1 to n.\nc-hang. display "hangs". perform until n = 0 add 1 to n end-perform.',
         '-ftrace')
    ctrace = subprocess.Popen(['ctrace', 'run', '--summary=always', './hang'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ctrace.stdout.readline()
    begin = time.monotonic()
    pid = subprocess.run(['pgrep', '-P', str(ctrace.pid), 'hang'], capture_output=True, text=True, timeout=PATIENCE).stdout.split()[0]
    while time.monotonic() < begin + 1:  # time that the program spends in c-hang
        live = subprocess.run(['ctrace', 'stats', '--by=paragraph', 'hang.ctb'], capture_output=True, text=True, timeout=PATIENCE).stdout
    os.kill(int(pid), signal.SIGKILL)
    text = ctrace.communicate(timeout=PATIENCE)[1]
    for name in ('c-hang', 'hang'):
        cells = row(text, name)
        checks.check(f'a run that was killed: the time of {name}', len(cells) > 3 and seconds(cells[3 if name == 'c-hang' else 2]) > 0.9, text)
    checks.check('and of a run that goes on', re.search(r'c-hang.*\d(\.\d+)? ?(ms|s)\b', live), live)


def file_size_limit():
    """`ulimit -f` leaves no room for a session, or not even for a trace: the loss is reported with and without the page."""
    cobc('limited', 'perform b-ok 20000 times. stop run.\nb-ok. add 1 to n.', '-ftrace')
    for limit in (1 << 10, 8 << 10, 64 << 10):
        for words in (('./limited',), ('sh', '-c', f'prlimit --fsize={limit} ./limited')):
            for summary in ('never', 'auto', 'always'):
                outer = ('prlimit', f'--fsize={limit}') if len(words) == 1 else ()
                done = subprocess.run([*outer, 'ctrace', 'run', '-o', 'limited.ctb', f'--summary={summary}', *words], capture_output=True, text=True,
                                      timeout=PATIENCE, check=False)
                text = done.stderr
                checks.check(f'files of {limit} bytes, {words[0]}, {summary}: the loss is reported', done.returncode == 0 and
                             re.search(r'process \d+ \(limited\) got no directory in a run directory: its limit on the size of files', text) and
                             ('of 20,010 events, ' in text or
                              limit == 1 << 10 and 'nothing is in the trace, not even what it lost' in text), text)
                checks.check('and no other reason', 'nothing of' not in text and 'ended before' not in text, text)
    done = subprocess.run(['ctrace', 'run', '--summary=never', './limited'], capture_output=True, text=True, timeout=PATIENCE, check=False)
    checks.same('a later run has no such report', done.stderr, '')


def main():
    unknown_run_time()
    local_plugin()
    site_handler()
    no_paragraphs()
    hanging()
    file_size_limit()
    return checks.end()


sys.exit(main())
