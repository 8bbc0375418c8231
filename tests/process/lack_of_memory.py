#!/usr/bin/env python3
"""Each verb of the tool with one allocation failing, another each time, and with all of them failing from one on.

A run that ends with 0 has done everything.  Any other ends with 2, says that there is not enough
memory, and leaves no file.  About 12 allocations of each verb; each one with CTRACE_TEST_LONG=1.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import os
import shutil
import subprocess
import sys

import verb_runs

SAMPLE = 6
PRELOAD = os.path.join(verb_runs.BUILD, 'tests', 'libfailat.so')


def make_faults(case, room, subject):
    """The run without a fault, and the faults."""
    count_file = os.path.join(room.path, 'count')
    good = verb_runs.run(case, room, {'LD_PRELOAD': PRELOAD, 'FAIL_COUNT': count_file}, subject)
    with open(count_file, encoding='ascii') as file:
        count = int(file.read())
    step = 1 if verb_runs.IS_LONG else max(1, count // SAMPLE)
    faults = []
    for offset, kind in ((0, ''), (step // 2, '1')):
        for at in range(1 + offset, count + 1, step):
            faults.append((f'allocation {at} of {count}{" and on" if kind else ""}',
                           {'LD_PRELOAD': PRELOAD, 'FAIL_AT': str(at), 'FAIL_FOR': kind}))
    return good, faults


def judge(done, good):
    return verb_runs.diagnostic_of(done, good, {2}, rb'not enough memory')


class Orphan:
    """What a killed process has left: a run directory with undelivered events, and its logs."""

    def __init__(self):
        self.path = os.path.join(verb_runs.TOP, 'orphan')
        self.kept = os.path.join(verb_runs.TOP, 'orphan.kept')
        os.makedirs(os.path.join(self.path, 'run'), mode=0o700)
        os.mkdir(os.path.join(self.path, 'logs'))
        verb_runs.put('cfg.orphan', 'mftrace.level = debug\nmftrace.dest = binfile\n')
        self.environment = {**os.environ, 'CTRACE_RUN_DIR': os.path.join(self.path, 'run'),
                            'MFTRACE_LOGS': os.path.join(self.path, 'logs'), 'MFTRACE_CONFIG': os.path.abspath('cfg.orphan')}
        process = subprocess.Popen([os.path.join(verb_runs.BUILD, 'tests/tool_subject'), '8'], env=self.environment,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdout.readline()
        process.kill()
        process.wait()
        shutil.copytree(self.path, self.kept, ignore=shutil.ignore_patterns('control'))  # a socket

    def recover(self, **failing):
        return subprocess.run([verb_runs.TOOL, 'recover'], env={**self.environment, 'LD_PRELOAD': PRELOAD, **failing},
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=verb_runs.PATIENCE, check=False)

    def restore(self):
        shutil.rmtree(self.path)
        shutil.copytree(self.kept, self.path)

    def delivered(self):
        """The events in the logs, and the process directories that are left."""
        shown = subprocess.run([verb_runs.TOOL, 'show', os.path.join(self.path, 'logs')], capture_output=True, check=False)
        return shown.stdout, shown.returncode, [name for name in os.listdir(os.path.join(self.path, 'run')) if '.' in name]

    def diagnostics(self):
        count_file = os.path.join(verb_runs.TOP, 'count')
        good = self.recover(FAIL_COUNT=count_file)
        expected = self.delivered()
        with open(count_file, encoding='ascii') as file:
            count = int(file.read())
        if good.returncode != 0 or expected[2]:
            yield f'without a fault: status {good.returncode}, left {expected[2]}'
        for at in range(1, count + 1, 1 if verb_runs.IS_LONG else max(1, count // SAMPLE)):
            for kind in '', '1':
                self.restore()
                done = self.recover(FAIL_AT=str(at), FAIL_FOR=kind)
                label = f'allocation {at} of {count}{" and on" if kind else ""}'
                if done.returncode not in (0, 2) or (done.returncode == 2 and b'not enough memory' not in done.stderr):
                    yield f'{label}: status {done.returncode}: {done.stderr.decode()[-200:]}'
                if done.returncode == 0 and self.delivered() != expected:
                    yield f'{label}: status 0, but not everything is delivered'
                if self.recover().returncode != 0 or self.delivered() != expected:
                    yield f'{label}: the next recovery does not deliver the rest, once'


def recovery(number):
    errors = list(Orphan().diagnostics())
    print(f'{"not ok" if errors else "ok"} {number} - recover: what it leaves is delivered once by the next one')
    for error in errors[:8]:
        print('#   ' + error.replace('\n', ' | '))
    return bool(errors)


def main():
    lack = verb_runs.prepare()
    if lack is not None:
        print(f'1..0 # SKIP {lack}')
        return 0
    subject = verb_runs.Subject()
    try:
        cases = [*verb_runs.reading_cases(), *verb_runs.live_cases()]
        wanted = os.environ.get('CASE', '')
        bad = recovery(1) + verb_runs.sweep([(case, lambda case, room: make_faults(case, room, subject), judge)
                                for case in cases if wanted in case.name], subject, 1)
        return int(bad > 0)
    finally:
        subject.end()


sys.exit(main())
