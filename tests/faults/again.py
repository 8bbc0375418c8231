#!/usr/bin/env python3
"""Process tests once more, each in a situation: under a file size limit, after its process has
left root, with a cancel pending in every call, with a handler that traces during every command.
The short form takes a few of them, the long form all.

What a test cannot show in a situation it is left out of, and listed as SKIPPED with the reason.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import os
import re
import resource
import signal
import subprocess
import tempfile

import battery
from battery import BUILD, form

report = battery.Battery('again')

# Situation: (limits, BATTERY_MODE, is every check of the test to pass?).  Otherwise it only has to
# come to its end by itself.
SITUATIONS = {
    'ulimit -f 1000': ([(resource.RLIMIT_FSIZE, 1000 * 1024)], None, True),
    'root left behind': ([], 'drop', True),
    'a cancel pending': ([], 'cancel', True),
    'a handler that traces': ([], 'alarm', False),
}
SHORT = {
    'ulimit -f 1000': ('test_faces', 'test_values', 'test_define'),
    'root left behind': ('test_values', 'test_faces'),
    'a cancel pending': ('test_faces', 'test_threads', 'test_commands'),
    'a handler that traces': ('test_commands', 'test_presets', 'test_define'),
}
LARGE = 'its outputs are larger than the limit'
RINGS = 'the rings that it waits for are larger than the limit'
# Situation: tests that are left out, or of a test the cases that may fail.
SKIPPED = {
    'ulimit -f 1000': {
        'test_lifetime': LARGE, 'test_order': LARGE, 'test_kill': LARGE, 'test_children': LARGE, 'test_signals': LARGE,
        'test_output': 'it fills a disk that is larger than the limit, and waits until there is space',
        'test_buffers': {'each_entry_of_every_buffer_arrives_once': LARGE},
        'test_control': {'a_thousand_silent_connections_keep_no_operator_out': LARGE,
                         'a_hundred_thousand_requests_disturb_nobody': LARGE,
                         # it traces for as long as its operator needs: more than the limit on a busy machine
                         'an_operator_switches_a_tracer_while_it_runs': LARGE},
        'test_commands': {'a_configured_buffer_is_shown_and_comes_back': RINGS, 'a_buffer_is_asked_rounded_and_granted': RINGS},
        'test_pressure': {'block_loses_nothing': LARGE, 'discard_counts_what_it_drops': LARGE, 'overwrite_counts_what_it_drops': LARGE,
                          'a_component_may_have_rings_of_its_own': RINGS, 'a_ring_has_the_size_that_was_set': RINGS},
        'test_room': {'with_files_of_100000_blocks': 'it raises the limit', 'with_files_of_300000_blocks': 'it raises the limit'},
    },
    'root left behind': {
        'test_control': 'the run directory stays that of root, who is not there to take directories away',
        'test_output': {'what_a_failing_destination_did_not_take_is_recovered': 'root writes beside an output of somebody else, where the test does not look',
                        'a_full_disk_stops_nothing_and_loses_nothing': 'only root may make a disk larger'},
    },
    'a cancel pending': {
        'test_cancel': 'it cancels its threads itself',
        'test_user': 'setuid() kills a process of several threads when pthread_cancel() was called before the first of them (glibc 2.36)',
    },
    'a handler that traces': {},
}


def again(program, limits, mode, strict, may_fail):
    environment = dict(os.environ, CMOCKA_MESSAGE_OUTPUT='TAP', CTRACE_BUILD=BUILD)
    environment.pop('CTRACE_TEST_LONG', None)
    if mode:
        environment.update(LD_PRELOAD=battery.library('modesty'), BATTERY_MODE=mode)

    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for what, value in limits:
            resource.setrlimit(what, (value, value))
    # A user that has left root must be able to reach the directory.
    with tempfile.TemporaryDirectory(prefix='battery.', dir='/tmp') as room:
        os.chmod(room, 0o1777)
        os.mkdir(os.path.join(room, 'run'), 0o700)
        environment.update(TMPDIR=room, CTRACE_RUN_DIR=os.path.join(room, 'run'))
        # Into a file: a test that fails may leave a child that never ends, and would keep a pipe open.
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen([program], env=environment, cwd=room, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
                                       preexec_fn=prepare, start_new_session=True)
            hangs = False
            try:
                process.wait(timeout=form(60, 300))
            except subprocess.TimeoutExpired:
                hangs = True
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            said.seek(0)
            output = said.read().decode(errors='replace')
    if hangs:
        last = [line for line in output.splitlines() if re.match(r'(not )?ok', line)][-1:]
        return 0, [f'hangs behind {last}']
    passed = len(re.findall(r'^ok', output, re.MULTILINE))
    if process.returncode < 0:
        return passed, [f'died of {signal.Signals(-process.returncode).name}']
    failed = re.findall(r'^not ok \d+ - (?!.*# SKIP)(.*)', output, re.MULTILINE)
    failed = [case for case in failed if case not in may_fail]
    reasons = [line for line in output.splitlines() if re.search(r'# in the child|error|!=', line)][:3]
    return passed + len(failed), failed + reasons if failed and strict else []


tests = sorted(glob.glob(os.path.join(BUILD, 'tests', 'process_test_*')))
for situation, (limits, mode, strict) in SITUATIONS.items():
    for program in tests:
        if not os.path.isfile(program) or program.endswith('.p'):
            continue
        name = os.path.basename(program)[len('process_'):]
        if not battery.LONG and name not in SHORT[situation]:
            continue
        if mode == 'drop' and os.geteuid() != 0:
            report.skip(f'{name}, {situation}', 'only root can leave root')
            continue
        skipped = SKIPPED[situation].get(name, {})
        if isinstance(skipped, str):
            report.skip(f'{name}, {situation}', skipped)
            continue
        for case, why in skipped.items():
            report.skip(f'{name}, {situation}, {case}', why)
        report.trial(f'{name}, {situation}', again, program, limits, mode, strict, skipped)
if not tests:
    report.skip('process tests', f'there are none in {BUILD}')
report.end()
