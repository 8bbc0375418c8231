#!/usr/bin/env python3
"""Dumps of real processes: by ctrace dump, by operators, by the program itself; of those that live and of those that have died.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import fcntl
import glob
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback

BUILD = os.environ['CTRACE_BUILD']
TOOL = os.path.join(BUILD, 'ctrace')
SUBJECT = os.path.join(BUILD, 'tests', 'dump_subject')
PATIENCE = 120  # seconds, only to stop what hangs


class Room:
    """A directory with a run directory of its own, and the configuration of its programs."""

    def __init__(self, *settings):
        self.path = tempfile.mkdtemp(prefix='dump-', dir=os.getcwd())
        settings = [setting.replace('@', self.path) for setting in settings]
        for name in ('run', 'logs', 'here'):
            os.mkdir(self.at(name), 0o700)
        with open(self.at('app.cfg'), 'w', encoding='ascii') as file:
            file.write('\n'.join(('mftrace.level = debug', 'mftrace.dest = storage', *settings, '')))
        self.environment = dict(os.environ, CTRACE_RUN_DIR=self.at('run'), MFTRACE_LOGS=self.at('logs'), MFTRACE_CONFIG=self.at('app.cfg'))
        self.programs = []

    def at(self, *names):
        return os.path.join(self.path, *names)

    def tool(self, *arguments, status=0):
        done = subprocess.run([TOOL, *arguments], env=self.environment, cwd=self.at('here'), capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        assert done.returncode == status, f'ctrace {arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}'
        return done.stdout + done.stderr

    def program(self, **environment):
        program = Program(self, environment)
        self.programs.append(program)
        return program

    def dumps(self, where='here'):
        return sorted(glob.glob(self.at(where, '*.dump*')))

    def count(self, dump):
        return len(self.tool('show', '--format=$(EVENT)', dump).splitlines())

    def end(self):
        for program in self.programs:
            if program.process.poll() is None:
                program.process.kill()
            program.process.wait()
            program.process.stdin.close()
            program.process.stdout.close()


class Program:
    def __init__(self, room, environment):
        # Its core is of no use to anybody.
        self.process = subprocess.Popen([SUBJECT], env={**room.environment, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.pid = self.process.pid

    def say(self, order):
        self.process.stdin.write(order + '\n')
        self.process.stdin.flush()

    def ask(self, order):
        self.say(order)
        return self.process.stdout.readline().rstrip('\n')

    def wait(self):
        return self.process.wait(PATIENCE)


def has(text, *patterns):
    for pattern in patterns:
        assert re.search(pattern, text, re.M), f'no {pattern} in:\n{text}'


def status_of_a_dump(room):
    program = room.program()
    assert program.ask('trace 100') == '100'
    room.tool('dump', '--pid', str(program.pid), '--title', "what was\nit", '-o', 'one.dump')
    has(room.tool('ipcs', 'STATUS', 'one.dump'), r'^ STATUS OF DUMP one\.dump$', r'^ TITLE +what was\\nit$', r'^ TIME +\d\d/\d\d/20\d\d ',
        r'^ REASON +command$', r'^ JOBNAME +\w', r'^ PROGRAM +', r'^ SYSTEM +\w', rf'^ PID +{program.pid}$', r'^ ASID +[0-9A-F]{4}$',
        r'^ ENTRIES +100$', r'^ COMPONENTS$', r'^   STORED DEBUG$')
    has(room.tool('ipcs', 'STATUS DSNAME(one.dump)'), r'^ ENTRIES +100$')
    has(room.tool('ipcs', 'STATUS LIST', 'one.dump', status=2), '"LIST" is not an operand of STATUS')


def status_of_something_else(room):
    os.mkdir(room.at('here', 'plain'))
    has(room.tool('ipcs', 'STATUS', 'plain', status=1), r'ITT10019I.*plain.*it is no dump: it has no file \.dump')
    has(room.tool('ipcs', 'STATUS DSNAME(none)', status=1), r'ITT10019I.*none.*there is no dump of that name')
    has(room.tool('ipcs', 'STATUS', status=1), 'ITT10004I.*none is named')


def operators_dump(room):
    programs = [room.program(), room.program()]
    for program in programs:
        assert program.ask('trace 10') == '10'
    has(room.tool('op', 'DUMP COMM=(no answer (yet))'), r'^\*01 IEE094D SPECIFY OPERAND\(S\) FOR DUMP COMMAND$')
    assert not room.dumps()
    has(room.tool('op', 'R 1,JOBNAME=(NOBODY),CONT'), r'^IEE600I REPLY TO 01 IS;JOBNAME=\(NOBODY\),CONT$', r'^\*01 IEE094D')
    has(room.tool('op', 'D R'), r'^CTR006I Reply 01 is outstanding .*: DUMP COMM=\(no answer \(yet\)\); JOBNAME=\(NOBODY\)$')
    has(room.tool('op', 'R 1,NAME=X', status=2), r'^CTR002E Reply, column 5: "NAME" is not an operand of a reply to DUMP')
    has(room.tool('op', 'R 1,JOBNAME=DUMP_S*,COMP=(STOR*,NONE),SDATA=(ALLNUC,CSA),END'),
        r'^IEA611I COMPLETE DUMP ON \S+\.dump\S* FOR ASIDS\([0-9A-F]{4}\): 10 events, 0 before overwritten$',
        r'^IEA794I SVC DUMP HAS CAPTURED: REQUESTED BY DUMP COMMAND DUMP TITLE=no answer \(yet\)$')
    assert len(room.dumps()) == 2 and [room.count(dump) for dump in room.dumps()] == [10, 10], room.dumps()
    has(room.tool('ipcs', 'STATUS', room.dumps()[0]), r'^ TITLE +no answer \(yet\)$', '^ REASON +DUMP command$')
    has(room.tool('op', 'D R'), '^CTR007I')


def operators_dump_into_the_directory(room):
    program = room.program()
    program.ask('trace 1')
    room.tool('op', '--reply', 'END', 'DUMP COMM=(x)')
    assert len(room.dumps('own')) == 1 and not room.dumps()


def operators_dump_by_one_command(room):
    program, other = room.program(), room.program()
    program.ask('trace 3')
    other.ask('trace 4')
    listed = [json.loads(line) for line in room.tool('list', '--json').splitlines()]
    asid = [process['asid'] for process in listed if process.get('pid') == program.pid][0]
    has(room.tool('op', '--reply', f'ASID={asid},END', "DU COMM='one'"), '^IEA611I COMPLETE', '^IEA794I .* TITLE=one$')
    assert [room.count(dump) for dump in room.dumps()] == [3]
    has(room.tool('op', '--reply', 'U', '--pid', str(other.pid), 'DUMP TITLE=(two)'), 'IEA611I .*: 4 events')
    has(room.tool('op', '--reply', 'COMP=NONE', 'DUMP COMM=(three)', status=1), '^CTR032I Nothing is dumped')
    assert len(room.dumps()) == 2


def second_is_over(path):
    """The next dump has another name."""
    when = re.search(r'-(\d\d\d\d)(\d\d)\.dump', path).group(2)
    while time.strftime('%S') == when:
        time.sleep(0.01)


def program_dumps_itself(room):
    program = room.program()
    assert program.ask('dump nothing') == 'NOT_FOUND '
    paths = []
    for number in range(1, 5):
        assert program.ask('trace 1') == str(number)
        status, path = program.ask(f'dump number {number}').split(' ', 1)
        assert status == 'SUCCESS' and os.path.dirname(path) == room.at('own'), path
        again = program.ask('dump again')
        if again != f'SUCCESS {path}':  # the second went by
            path = again.split(' ', 1)[1]
        assert os.stat(path).st_mode & 0o777 == 0o700 and room.count(path) == number
        paths.append(path)
        second_is_over(path)
    assert room.dumps('own') == paths[-3:], (room.dumps('own'), paths)
    has(room.tool('ipcs', 'STATUS', paths[3]), r'^ TITLE +(number 4|again)$', r'^ REASON +ctrace_dump$', r'^ REMOVED +1$')


def dumps_are_bounded_in_size(room):
    program = room.program()
    program.ask('trace 1000')
    first = program.ask('dump a').split(' ', 1)[1]
    second_is_over(first)
    second = program.ask('dump b').split(' ', 1)[1]
    assert room.dumps('logs') == [second], room.dumps('logs')


def private_rings_are_dumped_by_their_process(room):
    program = room.program()
    assert program.ask('limit 20000') == '0' and program.ask('trace 40') == '40'
    assert program.ask('dump without a session that can be copied') == 'OS_ERROR '
    program = room.program()
    assert program.ask('dump nothing') == 'NOT_FOUND ' and program.ask('limit 20000') == '0' and program.ask('trace 40') == '40'
    status, path = program.ask('dump all is private').split(' ', 1)
    assert status == 'SUCCESS' and room.count(path) == 40, (status, path)
    program = room.program()
    assert program.ask('trace 5') == '5' and program.ask('limit 20000') == '0'
    program.ask('threads 3')
    status, path = program.ask('dump some are').split(' ', 1)
    assert status == 'SUCCESS' and room.count(path) == 8, (status, path)
    pid = str(program.pid)
    has(room.tool('dump', '--pid', pid, '-o', 'one.dump'), r'^one\.dump: 5 events, 1 ring could not be read \(1 in private memory: only the process can dump it\)$')
    has(room.tool('ipcs', 'STATUS', 'one.dump'), '^ ENTRIES +5$', '^ NOT READ +1 ring$')
    has(room.tool('list'), '^    1 more ring in private memory: events there are not counted here$')
    has(room.tool('stats'), r'^ +1 more ring in private memory: events there are not counted here$')
    has(room.tool('op', '--pid', pid, '--reply', 'U', 'DUMP TITLE=(x)'), r'^IEA611I PARTIAL .*: 5 events.*, 1 ring not read$')


def only_private_rings(room):
    """The session has its file, and no ring has."""
    program = room.program()
    assert program.ask('dump nothing') == 'NOT_FOUND ' and program.ask('limit 20000') == '0' and program.ask('trace 5') == '5'
    has(room.tool('dump', '--pid', str(program.pid), status=1), f'/{program.pid}\\.0: its rings are private memory')
    has(room.tool('op', '--pid', str(program.pid), '--reply', 'U', 'DUMP TITLE=(x)', status=1), '^CTR031I .*its rings are private memory')


def crash_of_a_thread(room):
    program = room.program()
    program.ask('trace 20')
    program.say('crash')
    assert program.wait() == -signal.SIGSEGV
    assert not room.dumps('own')
    has(room.tool('recover'), rf'^ctrace: process {program.pid} died of SIGSEGV: its dump is {room.at("own")}/')
    dump, = room.dumps('own')
    assert room.count(dump) == 21
    has(room.tool('ipcs', 'STATUS', dump), '^ REASON +signal SIGSEGV$', '^ SIGNAL +SIGSEGV$', r'^ THREAD +[1-9]\d*$', '^ ADDRESS +0x0+$',
        r'^ INSTRUCTION +0x[0-9a-f]{16} /\S+/dump_subject\+0x[0-9a-f]+ fail', '^ REGISTERS$', '^ TRACEBACK$',
        r'^   0x[0-9a-f]{16} /\S+/dump_subject\+0x[0-9a-f]+ fail')
    room.tool('recover')
    assert room.dumps('own') == [dump] and not glob.glob(room.at('run', '*.*')), os.listdir(room.at('run'))


def abort_is_noted(room):
    program = room.program()
    program.ask('trace 2')
    program.say('abort')
    assert program.wait() == -signal.SIGABRT
    room.tool('recover')
    dump, = room.dumps('own')
    has(room.tool('ipcs', 'STATUS', dump), '^ SIGNAL +SIGABRT$', r'^   .* abort', r'^   .*dump_subject.* main')


def exit_status_is_a_reason(room):
    for status in (0, 3):
        program = room.program()
        program.ask('trace 2')
        program.say(f'exit {status}')
        assert program.wait() == status
    dump, = room.dumps('own')
    has(room.tool('ipcs', 'STATUS', dump), '^ REASON +exit status 3$', '^ ENTRIES +2$')


def a_dump_at_the_end_that_fails_leaves_the_storage(room):
    """The second directory is a file at first."""
    for is_mended in (False, True):
        with open(room.at('own'), 'w', encoding='ascii'):
            pass
        program = room.program()
        program.ask('trace 4')
        program.say('exit 3')
        assert program.wait() == 3
        said = f'^ctrace: process {program.pid} ended with exit status 3 and made no dump: '
        if is_mended:
            os.unlink(room.at('own'))
            has(room.tool('recover'), said + f'its dump is {room.at("own")}/')
            dump, = room.dumps('own')
            has(room.tool('ipcs', 'STATUS', dump), '^ REASON +exit status 3$', '^ ENTRIES +4$')
        else:
            has(room.tool('recover'), said + f'no dump can be made in {room.at("own")}: Not a directory$')
            has(room.tool('list', '--dead'), rf'\b{program.pid}\b')
            room.tool('dump', '--pid', str(program.pid), '-o', 'left.dump')
            assert room.count('left.dump') == 4


def the_reason_of_a_failure_is_reported(room):
    program = room.program()
    program.ask('trace 100000')
    limit = (20 << 10, resource.RLIM_INFINITY)
    done = subprocess.run([TOOL, 'dump', '--pid', str(program.pid), '-o', 'one.dump'], env=room.environment, cwd=room.at('here'),
                          capture_output=True, text=True, timeout=PATIENCE, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert done.returncode == 1 and 'cannot write one.dump: File too large' in done.stderr, done
    assert os.listdir(room.at('here')) == [], os.listdir(room.at('here'))


def an_unfinished_dump_is_removed_when_its_maker_is_gone(room):
    os.mkdir(room.at('own'), 0o700)
    names = [f'.X.1.20261126-143205.dump{more}' for more in ('.new.1', '.2.new.1', '.new.7', '.new.x', '')]
    for name in names:
        os.mkdir(room.at('own', name))
        with open(room.at('own', name, 'stream.0'), 'w', encoding='ascii'):
            pass
        os.utime(room.at('own', name), (0, 0))
    os.utime(room.at('own', names[1]))  # a young one may get its lock yet
    lock = os.open(room.at('own', names[2]), os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    program = room.program()
    program.ask('trace 1')
    assert program.ask('dump x').startswith('SUCCESS')
    left = sorted(name for name in os.listdir(room.at('own')) if name.startswith('.'))
    assert left == sorted(names[1:]), left
    os.close(lock)
    room.tool('dump', '--pid', str(program.pid), '-o', room.at('own'))
    assert not os.path.exists(room.at('own', names[2])) and os.path.exists(room.at('own', names[1]))


def nothing_to_dump_has_its_reason(room):
    program = room.program()
    program.ask('trace 1')
    has(room.tool('dump', '--pid', '1', status=1), '^ctrace dump: there is no such process, live or dead$')
    has(room.tool('dump', '-c', 'nope', status=1), '^ctrace dump: no process holds events of a component with such a name$')
    has(room.tool('dump', '-o', '', status=2), '^ctrace dump: --output is empty; expected a directory$')


def few_descriptors_are_reported(room):
    program = room.program()
    program.ask('trace 1')
    for verb in (['dump', '--pid', str(program.pid)], ['recover']):
        done = subprocess.run([TOOL, *verb], env=room.environment, cwd=room.at('here'), capture_output=True, text=True, timeout=PATIENCE,
                              check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8)))
        assert done.returncode != 0 and done.stderr == 'ctrace: at most 8 files may be open, and ctrace needs 32: raise the limit, as with ulimit -n\n', done


def others_are_not_noted(room):
    program = room.program()
    program.ask('trace 2')
    program.say('crash')
    assert program.wait() == -signal.SIGSEGV
    program = room.program()
    program.ask('trace 2')
    program.process.kill()
    program.wait()
    room.tool('recover')
    assert not room.dumps('own')


def a_child_does_not_note_for_its_parent(room):
    program = room.program()
    program.ask('trace 2')
    assert program.ask('fork') == str(int(signal.SIGSEGV))
    program.process.kill()
    program.wait()
    room.tool('recover')
    assert not room.dumps('own')


def a_stack_may_be_exhausted(room):
    for order in ('overflow', 'overflow thread'):
        program = room.program()
        program.ask('trace 3')
        program.say(order)
        assert program.wait() == -signal.SIGSEGV
        has(room.tool('recover'), rf'^ctrace: process {program.pid} died of SIGSEGV')
        dump, = glob.glob(room.at('own', f'*.{program.pid}.*.dump'))
        assert room.count(dump) > 4
        has(room.tool('ipcs', 'STATUS', dump), '^ SIGNAL +SIGSEGV$', '^ ADDRESS +0x[0-9a-f]*[1-9a-f]', r'^ INSTRUCTION +.* overflow_deep', '^ TRACEBACK$',
            r'(^   0x[0-9a-f]{16} /\S+/dump_subject\+0x[0-9a-f]+ overflow_deep\S*$\n){20}')


def the_stack_for_a_signal_is_a_guest(room):
    program = room.program()
    assert program.ask('which stack') == 'none'
    program.ask('trace 1')
    assert program.ask('which stack') == 'another'
    assert program.ask('own stack') == '0'
    program.ask('trace 1')
    assert program.ask('which stack') == 'own'
    lines = [int(program.ask('threads 30')) for _ in range(3)]
    assert lines[2] < lines[0] + 30, lines  # a stack and its guard are two lines
    program = room.program()
    assert program.ask('own stack') == '0'
    program.ask('trace 1')
    assert program.ask('which stack') == 'own'
    program.say('overflow')
    assert program.wait() == -signal.SIGSEGV
    has(room.tool('recover'), rf'^ctrace: process {program.pid} died of SIGSEGV')


def a_former_handler_has_the_stack_it_had(room):
    for order in ('crash', 'raise'):
        for own in (False, True):
            program = room.program()
            assert program.ask('handler') == '0'
            program.ask('trace 2')
            if own and order == 'raise':
                assert program.ask('own stack') == '0'
            said = program.ask(order)
            assert said == ('on one' if own and order == 'raise' else 'on none'), said
            assert program.wait() == 7
            has(room.tool('recover'), rf'^ctrace: process {program.pid} had SIGSEGV, which its own handler received, and ended later')


def a_handled_signal_is_no_end(room):
    """The program went on: it ends as it would without the signal, and no dump claims one.  A handler that ends the process is an end."""
    for orders in (('mend', 'touch', 'touch'), ('recover', 'fault', 'fault'), ('recover aside', 'fault')):
        for end, status in (('exit 5', 5), ('exit 0', 0), ('kill', -signal.SIGKILL), ('_exit 3', 3)):
            if orders[0] != 'mend' and end in ('kill', '_exit 3'):
                continue  # nobody sees that the handler has jumped out
            program = room.program()
            assert program.ask(orders[0]) == '0' and program.ask('trace 2') == '2'
            for order in orders[1:]:
                assert program.ask(order) in ('touched', 'recovered')
            program.say(end)
            assert program.wait() == status
            said = room.tool('recover')
            assert 'SIG' not in said and glob.glob(room.at('own', '*')) == [], (orders, end, said)
    for quits in ('quit', 'quit aside'):
        program = room.program()
        assert program.ask(quits) == '0' and program.ask('trace 2') == '2'
        program.say('fault')
        assert program.wait() == 7
        has(room.tool('recover'), rf'^ctrace: process {program.pid} had SIGSEGV, which its own handler received, and ended later: its dump is ')


def a_handler_may_let_the_program_go_on(room):
    for order, status in (('kill', -signal.SIGKILL), ('_exit 0', 0)):
        program = room.program()
        assert program.ask('recover') == '0' and program.ask('trace 2') == '2'
        assert program.ask('fault') == 'recovered' and program.ask('trace 2') == '4'
        program.say(order)
        assert program.wait() == status
        has(room.tool('recover'), rf'^ctrace: process {program.pid} had SIGSEGV, which its own handler received, and ended later: its dump is ')
        dump, = glob.glob(room.at('own', f'*.{program.pid}.*.dump'))
        assert room.count(dump) == 4
        has(room.tool('ipcs', 'STATUS', dump), '^ REASON +signal SIGSEGV, handled$')
    program = room.program()
    assert program.ask('recover') == '0' and program.ask('trace 2') == '2' and program.ask('fault') == 'recovered'
    program.say('abort')
    assert program.wait() == -signal.SIGABRT
    has(room.tool('recover'), rf'^ctrace: process {program.pid} died of SIGABRT: ')
    dump, = glob.glob(room.at('own', f'*.{program.pid}.*.dump'))
    status = room.tool('ipcs', 'STATUS', dump)
    has(status, '^ REASON +signal SIGABRT$', '^ SIGNAL +SIGABRT$', r'^   .*\+0x[0-9a-f]+ abort\+', r'^   .*dump_subject.* main')
    assert 'ADDRESS' not in status and 'fail_deep' not in status, status
    program = room.program()
    assert program.ask('recover') == '0' and program.ask('trace 2') == '2' and program.ask('fault') == 'recovered'
    program.say('exit 0')
    assert program.wait() == 0
    program = room.program()
    assert program.ask('ignore') == '0' and program.ask('trace 2') == '2' and program.ask('raise') == 'alive'
    program.say('kill')
    program.wait()
    assert 'SIG' not in room.tool('recover')
    program = room.program()
    assert program.ask('ignore') == '0' and program.ask('trace 2') == '2' and program.ask('raise') == 'alive'
    program.say('fault')
    assert program.wait() == -signal.SIGSEGV
    has(room.tool('recover'), rf'^ctrace: process {program.pid} died of SIGSEGV: ')


def every_end_is_noted(room):
    """With events that wait, with none that waits, and without any; as the first signal, and after one that was survived."""
    ends = (('fault', -signal.SIGSEGV, 'died of SIGSEGV', 'fail_deep'), ('crash', -signal.SIGSEGV, 'died of SIGSEGV', 'fail_deep'),
            ('overflow', -signal.SIGSEGV, 'died of SIGSEGV', 'overflow_deep'), ('abort', -signal.SIGABRT, 'died of SIGABRT', None),
            ('raise', -signal.SIGSEGV, 'died of SIGSEGV', None), ('exit 3', 3, None, None),
            ('fault again', -signal.SIGSEGV, 'died of SIGSEGV', 'fail_again'))
    for order, status, said, function in ends:
        for events in ('waiting', 'delivered', 'none'):
            for is_survivor in (False, True):
                if (order == 'fault again') != is_survivor and order not in ('abort', 'exit 3'):
                    continue
                program = room.program()
                if is_survivor:
                    assert program.ask('recover once') == '0'
                assert program.ask('attach') == 'SUCCESS'
                if events != 'none':
                    assert program.ask('trace 3') == '3'
                if events == 'delivered':
                    assert program.ask('flush') == 'SUCCESS'
                if is_survivor:
                    assert program.ask('fault') == 'recovered'
                program.say(order)
                assert program.wait() == status, (order, events, is_survivor)
                found = room.tool('recover')
                dumps = glob.glob(room.at('own', f'*.{program.pid}.*.dump*'))
                assert len(dumps) == 1, (order, events, is_survivor, found, dumps)
                report = room.tool('ipcs', 'STATUS', dumps[0])
                if said is not None:
                    has(found, rf'^ctrace: process {program.pid} {said}.*: its dump is {dumps[0]}$')
                    has(report, '^ SIGNAL +SIG', '^ THREAD +[1-9]', r'^   ..\S* +0x[0-9a-f]{16}')
                if function is not None:
                    has(report, rf'^ INSTRUCTION +0x[0-9a-f]{{16}} /\S+/dump_subject\+0x[0-9a-f]+ {function}')
                assert not glob.glob(room.at('run', '*.*')), os.listdir(room.at('run'))


def a_note_outlives_the_recovery_by_another_process(room):
    """The second process takes over the file of the first, and so delivers what that left."""
    program = room.program()
    assert program.ask('trace 3') == '3' and program.ask('flush') == 'SUCCESS'
    program.say('fault')
    assert program.wait() == -signal.SIGSEGV
    other = room.program()
    assert other.ask('trace 1') == '1' and other.ask('flush') == 'SUCCESS'
    has(room.tool('recover'), rf'^ctrace: process {program.pid} died of SIGSEGV: its dump is ')
    assert len(glob.glob(room.at('run', '*.*'))) == 1, os.listdir(room.at('run'))


def a_program_may_live_with_faults(room):
    """Its handler has the mask and the stack that it would have had; most faults cost the registers alone."""
    for order in ('recover', 'recover aside'):
        program = room.program()
        assert program.ask(order) == '0' and program.ask('trace 1') == '1'
        trace = room.at('strace')
        with subprocess.Popen(['strace', '-f', '-e', 'trace=openat,close', '-o', trace, '-p', str(program.pid)], stderr=subprocess.PIPE, text=True) as tracer:
            assert 'attached' in tracer.stderr.readline()
            assert program.ask('faults 2000') == '2000'
            tracer.terminate()
        with open(trace, encoding='utf-8') as file:
            whole = file.read().count('/proc/self/maps')
        assert 1 <= whole <= 200, whole
        program.say('exit 0')
        assert program.wait() == 0
    assert 'SIG' not in room.tool('recover')


def a_program_may_close_our_descriptors(room):
    program = room.program()
    assert program.ask('trace 1') == '1' and program.ask('close') == '0'
    program.say('fault')
    assert program.wait() == -signal.SIGSEGV
    has(room.tool('recover'), rf'^ctrace: process {program.pid} died of SIGSEGV: its dump is ')


def without_the_setting_there_is_no_stack(room):
    program = room.program()
    program.ask('trace 1')
    assert program.ask('which stack') == 'none'


OWN = 'ctrace.dump.directory = @/own'
TESTS = [
    (private_rings_are_dumped_by_their_process, (OWN,)),
    (only_private_rings, (OWN,)),
    (crash_of_a_thread, (OWN, 'ctrace.dump.on = fatal-signal')),
    (a_stack_may_be_exhausted, (OWN, 'ctrace.dump.on = fatal-signal')),
    (a_stack_may_be_exhausted, (OWN, 'ctrace.trigger.S = when signal do dump')),
    (the_stack_for_a_signal_is_a_guest, (OWN, 'ctrace.dump.on = fatal-signal')),
    (a_former_handler_has_the_stack_it_had, (OWN, 'ctrace.dump.on = fatal-signal')),
    (a_handled_signal_is_no_end, (OWN, 'ctrace.dump.on = fatal-signal')),
    (a_handler_may_let_the_program_go_on, (OWN, 'ctrace.dump.on = fatal-signal, abort')),
    (every_end_is_noted, (OWN, 'mftrace.dest = BINFILE', 'mftrace.emitter.binfile.FILE = @/trace', 'ctrace.dump.on = fatal-signal, abort, exit-status')),
    (a_note_outlives_the_recovery_by_another_process, (OWN, 'mftrace.dest = TEXTFILE', 'mftrace.emitter.textfile.FILE = @/text', 'ctrace.dump.on = fatal-signal')),
    (a_program_may_live_with_faults, (OWN, 'ctrace.dump.on = fatal-signal')),
    (a_program_may_close_our_descriptors, (OWN, 'ctrace.dump.on = fatal-signal')),
    (without_the_setting_there_is_no_stack, (OWN, 'ctrace.dump.on = abort, exit-status')),
    (a_child_does_not_note_for_its_parent, (OWN, 'ctrace.dump.on = fatal-signal')),
    (abort_is_noted, (OWN, 'ctrace.dump.on = abort')),
    (exit_status_is_a_reason, (OWN, 'ctrace.dump.on = exit-status')),
    (a_dump_at_the_end_that_fails_leaves_the_storage, (OWN, 'ctrace.dump.on = exit-status')),
    (the_reason_of_a_failure_is_reported, ()),
    (an_unfinished_dump_is_removed_when_its_maker_is_gone, (OWN,)),
    (few_descriptors_are_reported, ()),
    (nothing_to_dump_has_its_reason, ()),
    (others_are_not_noted, (OWN, 'ctrace.dump.on = abort')),
    (program_dumps_itself, (OWN, 'ctrace.dump.keep = 3')),
    (dumps_are_bounded_in_size, ('ctrace.dump.size = 1K',)),
    (operators_dump, ()),
    (operators_dump_into_the_directory, (OWN,)),
    (operators_dump_by_one_command, ()),
    (status_of_a_dump, ()),
    (status_of_something_else, ()),
]


def main():
    failed = 0

    for number, (test, settings) in enumerate(TESTS, 1):
        room = Room(*settings)
        try:
            test(room)
            print(f'ok {number} - {test.__name__}', flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f'not ok {number} - {test.__name__}')
            print('# ' + traceback.format_exc().rstrip().replace('\n', '\n# '), flush=True)
        finally:
            room.end()
    print(f'1..{len(TESTS)}')
    return failed != 0


sys.exit(main())
