"""What the trials of the battery share: a place of its own for each run, subjects and preloaded
libraries, and the law that is checked.

The law: what a process emitted was delivered, waits, or was lost by a reason that is counted.
check_law() reads a destination by its configured name, as a person would, after `ctrace
recover`.  No event may be there twice, none torn, the thread_buffers must be in order, and what is there
and what the destination's own count of losses says must be what was traced.

CTRACE_BUILD names the build that is tried; subjects that it does not have are compiled against
its headers into its directory faults/.  CTRACE_TEST_LONG=1 asks for the long form.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get('CTRACE_SOURCE') or os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get('CTRACE_BUILD') or os.path.join(SOURCE, 'build'))
LONG = bool(os.environ.get('CTRACE_TEST_LONG'))
TOOL = os.path.join(BUILD, 'ctrace')
NOBODY = 65534
HANG_SECONDS = int(os.environ.get('BATTERY_SECONDS', 60))  # stops what hangs; says nothing about speed
LINE = '$(COMPONENT) $(EVENT)$(DATA)'
ONLY = re.compile(os.environ.get('BATTERY_ONLY', ''))


def form(short, long):
    return long if LONG else short


# ---- programs ----

def newer(made, *sources):
    return os.path.exists(made) and all(os.path.getmtime(made) >= os.path.getmtime(s) for s in sources)


def compiled(stem, source, flags, dependencies=()):
    """From the build that is tried, else compiled here against its headers."""
    directory = os.path.join(BUILD, 'faults')
    made = os.path.join(directory, stem)
    if newer(made, source, *dependencies, os.path.join(BUILD, 'libctrace.so')):
        return made
    include = os.path.join(os.path.dirname(BUILD), 'include')
    if not os.path.isdir(include):
        include = os.path.join(SOURCE, 'include')
    os.makedirs(directory, exist_ok=True)
    new = f'{made}.{os.getpid()}'
    subprocess.run(['gcc', '-std=gnu17', '-D_GNU_SOURCE', '-O2', '-g', '-Wall', '-I', include, source, '-o', new, *flags], check=True)
    os.rename(new, made)
    return made


def subject(name):
    ready = os.path.join(BUILD, 'tests', 'faults_' + name)
    if os.path.exists(ready):
        return ready
    directory = os.path.join(HERE, 'subject')
    return compiled(name, os.path.join(directory, name + '.c'),
                    ['-rdynamic', '-L', BUILD, '-lctrace', '-Wl,-rpath,' + BUILD, '-pthread', '-ldl'],
                    [os.path.join(directory, 'thread_buffers.h'), os.path.join(HERE, 'battery.py')])


def library(name):
    ready = os.path.join(BUILD, 'tests', f'lib{name}.so')
    if os.path.exists(ready):
        return ready
    return compiled(f'lib{name}.so', os.path.join(HERE, name + '.c'), ['-shared', '-fPIC', '-fno-builtin', '-w', '-pthread', '-ldl'])


# ---- what a subject leaves ----

class Tally:
    THREAD_BUFFERS = 64

    def __init__(self, path):
        size = 2 * self.THREAD_BUFFERS + 6 + 16 + 16
        with open(path, 'rb') as file:
            words = struct.unpack(f'{size}Q', file.read(size * 8))
        self.begun, self.returned = words[:64], words[64:128]
        self.finished, self.has_stats, self.has_directory, self.emitted, self.delivered, self.pending = words[128:134]
        self.lost, self.note = words[134:150], words[150:166]


class Output:
    """A destination's content by its configured name: thread_buffers, torn lines, and how many losses it
    tells of."""

    def __init__(self):
        self.thread_buffers, self.torn, self.lost, self.messages, self.counts, self.said = {}, 0, 0, [], {}, ''

    def decode(self, data):
        self.take(subprocess.run([subject('decode')], input=data, capture_output=True, check=False))

    def take(self, result):
        """What decode printed."""
        for line in result.stdout.decode().splitlines():
            words = line.split()
            if words[0] == 'torn':
                self.torn = int(words[1])
            else:
                thread_buffer = dict(zip(words[2::2], map(int, words[3::2])))
                self.thread_buffers[int(words[1])] = thread_buffer
                self.counts[int(words[1])] = thread_buffer['distinct']
        self.messages += result.stderr.decode().splitlines()[:3]


class Room:
    """An empty directory with a run directory, a configuration and outputs, for one run."""

    def __init__(self, config='', text=True, binary=True, generations=None, pid=False, overflow=None, buffer=None, place=None):
        self.path = tempfile.mkdtemp(prefix='battery.', dir=place)
        os.chmod(self.path, 0o755)
        for name in ('run', 'own', 'out'):
            os.mkdir(self.at(name), 0o700)
        self.text, self.binary, self.generations, self.pid = text, binary, generations, pid
        dests = ', '.join(d for d, wanted in (('textfile', text), ('binfile', binary)) if wanted)
        name = 'out$(PID)' if pid else 'out'
        lines = ['mftrace.level = debug']
        if dests:
            lines.append(f'mftrace.dest = {dests}')
        for emitter, suffix in (('textfile', 'log'), ('binfile', 'ctb')):
            # A FILE that is absolute is tried alone: no other directory takes its place when it cannot
            # be opened.
            lines.append(f'mftrace.emitter.{emitter}#file = {self.at("out")}/{name}.{suffix}')
            if generations:
                lines.append(f'mftrace.emitter.{emitter}#maxgeneration = {generations[0]}')
                lines.append(f'mftrace.emitter.{emitter}#maxfilesize = {generations[1]}')
        lines.append(f'mftrace.emitter.textfile#format = {LINE}')
        if overflow:
            lines.append(f'ctrace.overflow = {overflow}')
        if buffer:
            lines.append(f'ctrace.buffer = {buffer}')
        with open(self.at('config'), 'w', encoding='ascii') as file:
            file.write('\n'.join(lines) + '\n' + config)

    def at(self, name):
        return os.path.join(self.path, name)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if os.environ.get('BATTERY_KEEP'):
            print(f'# kept: {self.path}')
        else:
            subprocess.run(['chmod', '-R', 'u+rwX', self.path], check=False)
            shutil.rmtree(self.path, ignore_errors=True)

    def environment(self, preload=(), **more):
        names = {k: v for k, v in os.environ.items() if not k.startswith(('CTRACE_', 'MFTRACE_', 'LD_PRELOAD'))}
        names.update(CTRACE_RUN_DIR=self.at('run'), MFTRACE_CONFIG=self.at('config'), BATTERY_TALLY=self.at('tally'), LC_ALL='C.UTF-8')
        # Made here: a program under a limit on files would be killed for it.
        if not os.path.exists(self.at('tally')):
            with open(self.at('tally'), 'wb') as tally:
                tally.truncate(65536)
            os.chmod(self.at('tally'), 0o666)
        if preload:
            names['LD_PRELOAD'] = ':'.join(library(p) for p in preload)
        names.update(more)
        return names

    def start(self, *command, preload=(), limits=(), user=None, program='thread_buffers', **environment):
        """limits: (resource, value) pairs, set in the child with every signal at its default."""
        def prepare():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for what, value in limits:
                resource.setrlimit(what, (value, value))
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
        subject('decode')
        return subprocess.Popen([subject(program), *map(str, command)], env=self.environment(preload, **environment), cwd=self.path,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare,
                                start_new_session=True)

    def run(self, *command, seconds=HANG_SECONDS, **options):
        return self.finish(self.start(*command, **options), seconds)

    def finish(self, process, seconds=HANG_SECONDS, byte=b''):
        """How it ended: '' for exit status 0, else a description.  One that hangs is killed,
        and its whole session."""
        try:
            _, errors = process.communicate(byte, timeout=seconds)
        except subprocess.TimeoutExpired:
            stacks = where_it_hangs(process.pid)
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return f'hangs ({stacks})'
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what a fork loop left
        except ProcessLookupError:
            pass
        if process.returncode == 0:
            return ''
        if process.returncode < 0:
            return f'killed by {signal.Signals(-process.returncode).name}'
        return f'status {process.returncode} {errors.decode(errors="replace")[:200].strip()}'

    def tool(self, *arguments, seconds=HANG_SECONDS, **environment):
        try:
            return subprocess.run([TOOL, *arguments], env=self.environment(**environment), cwd=self.path, capture_output=True,
                                  timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(arguments, 124, b'', b'hangs')

    def recover(self, **environment):
        result = self.tool('recover', **environment)
        return '' if result.returncode == 0 else f'recover: status {result.returncode} {result.stderr.decode()[:200]}'

    def tally(self):
        return Tally(self.at('tally'))

    # -- reading back, by the configured name --

    def read_binary(self, *paths):
        output = Output()
        paths = paths or (sorted(glob.glob(self.at('out/out[0-9]*.ctb'))) if self.pid else [self.at('out/out.ctb')])
        shown = self.tool('show', '--format', LINE, *paths)
        output.decode(shown.stdout)
        counted = self.tool('stats', '-j', *paths)
        if counted.stdout:
            output.lost = json.loads(counted.stdout.decode().splitlines()[0])['lost']
        is_there = shown.returncode != 2 or glob.glob(self.at('out/*.ctb*/metadata'))  # nothing was written: events are counted as lost
        if (is_there and shown.returncode not in (0, 1)) or b'damage' in shown.stderr:
            output.messages.append(shown.stderr.decode()[:200])
        output.said = (shown.stderr + counted.stderr).decode(errors='replace')
        return output

    def read_text(self, *paths):
        output = Output()
        if not paths:
            paths = sorted(glob.glob(self.at('out/out[0-9]*.log'))) if self.pid else [self.at('out/out.log')]
            if self.generations:
                found = glob.glob(self.at('out/out_[0-9]*.log')) + glob.glob(self.at('out/out.log_[0-9]*'))
                paths = sorted((p for p in found if re.search(r'(out_\d+\.log|out\.log_\d+)$', p)),
                               key=lambda p: int(re.findall(r'\d+', os.path.basename(p))[0]))
        data = b''
        for path in paths:
            if os.path.exists(path):
                with open(path, 'rb') as file:
                    data += file.read()
        output.decode(data)
        output.said = b'\n'.join(line for line in data.splitlines() if line.startswith(b'#')).decode(errors='replace')
        lost = {}
        for text, process in re.findall(rb'^# Lost *= (.*) \(process (\d+)\)', data, re.MULTILINE):
            lost[process] = max(lost.get(process, 0), sum(map(int, re.findall(rb'(\d+) ', text))))
        output.lost = sum(lost.values())
        return output

    def outputs(self):
        return ([('binfile', self.read_binary())] if self.binary else []) + ([('textfile', self.read_text())] if self.text else [])

    def diagnostics(self, thread_buffers=None, lossless=True, killed=False, unordered=(), slack=0, private=False, alone=False, others=0, recover=True, outputs=None):
        """What breaks the law after a recovery, as a list of sentences.  others: events that
        were traced without a thread_buffer.  slack: events of a thread_buffer whose call a kill cut off, when a
        later run went on with the thread_buffer. alone: nothing but the thread_buffers' events was emitted, and
        by this process; fewer than calls when its settings were not read. private: no run
        directory could be used; what waited at the end is gone with the process, and stands in
        its statistics."""
        tally, wrong = self.tally(), []
        if recover and self.recover():
            wrong.append(self.recover())
        used = [i for i in range(64) if tally.begun[i] and (thread_buffers is None or i in thread_buffers)]
        for name, output in (outputs() if outputs else self.outputs()):
            wrong += [f'{name}: {m}' for m in output.messages]
            if output.torn:
                wrong.append(f'{name}: {output.torn} torn')
            present = returned = begun = 0
            for i in used:
                thread_buffer = output.thread_buffers.get(i, dict.fromkeys(('count', 'distinct', 'first', 'last', 'disorder'), 0))
                if thread_buffer['count'] != thread_buffer['distinct']:
                    wrong.append(f'{name}: thread_buffer {i}: {thread_buffer["count"] - thread_buffer["distinct"]} events twice')
                elif thread_buffer['disorder'] and i not in unordered:
                    wrong.append(f'{name}: thread_buffer {i}: {thread_buffer["disorder"]} out of order')
                if thread_buffer['last'] > tally.begun[i]:
                    wrong.append(f'{name}: thread_buffer {i}: number {thread_buffer["last"]} was never traced')
                if lossless and not tally.returned[i] - slack <= thread_buffer['distinct'] <= tally.begun[i]:
                    wrong.append(f'{name}: thread_buffer {i}: {thread_buffer["distinct"]} of {tally.returned[i]}')
                present += thread_buffer['distinct']
                returned += tally.returned[i]
                begun += tally.begun[i]
            # An output that never came to be cannot tell of its losses; the process's own
            # statistics do.
            if tally.has_stats and alone:
                returned, begun = min(returned, tally.emitted), min(begun, tally.emitted)  # less when the settings could not be read
            lost = output.lost if present or output.lost or not tally.has_stats else sum(tally.lost)
            if private:
                lost += max(0, min(tally.pending, begun - present - lost))
            if not lossless and not returned <= present + lost <= begun + others:
                wrong.append(f'{name}: {present} there + {lost} lost, traced {returned}' + (f' to {begun + others}' if begun + others > returned else ''))
            if lossless and output.lost:
                wrong.append(f'{name}: {output.lost} counted as lost')
        if tally.has_stats and not killed:
            total = tally.delivered + tally.pending + sum(tally.lost)
            if total != tally.emitted:
                wrong.append(f'statistics: emitted {tally.emitted}, sum {total}')
            if lossless and sum(tally.lost):
                wrong.append(f'statistics: {sum(tally.lost)} lost {[(i, n) for i, n in enumerate(tally.lost) if n]}')
        return wrong


def where_it_hangs(pid):
    """The system call that each thread waits in, for whoever reads the report."""
    found = []
    for task in glob.glob(f'/proc/{pid}/task/*'):
        try:
            with open(task + '/syscall', encoding='ascii') as file:
                found.append(file.read().split()[0])
        except (OSError, IndexError):
            pass
    return 'threads in calls ' + ' '.join(found)


# ---- the report ----

class Battery:
    """Each trial is one TAP check and one row of the table: `# battery | trial | count |
    result`."""

    def __init__(self, name):
        self.name, self.count, self.bad = name, 0, 0
        try:
            for program in ('decode', 'thread_buffers', 'step'):
                subject(program)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f'Bail out! the subjects cannot be built: {error}')
            sys.exit(1)

    def wanted(self, trial):
        return bool(ONLY.search(f'{self.name}: {trial}'))

    def row(self, trial, runs, result):
        print(f'# battery | {self.name}: {trial} | {runs} | {result}')
        sys.stdout.flush()

    def trial(self, trial, body, *arguments, **more):
        """body returns (number of runs, list of errors); a trial without a run is skipped,
        not passed."""
        if not self.wanted(trial):
            return
        try:
            runs, wrong = body(*arguments, **more)
        except Exception as error:  # noqa: a trial that breaks has failed, and the others go on
            runs, wrong = 0, [f'{type(error).__name__}: {error}']
        if runs == 0 and not wrong:
            self.skip(trial, 'there is nothing to try: no such call, or no such file')
            return
        self.count += 1
        self.bad += bool(wrong)
        print(f'{"not ok" if wrong else "ok"} {self.count} - {trial}')
        for line in wrong[:12]:
            print('#   ' + str(line).replace('\n', ' '))
        self.row(trial, runs, 'passed' if not wrong else f'FAILED: {str(wrong[0])[:150]}'.replace('\n', ' '))

    def skip(self, trial, why):
        if not self.wanted(trial):
            return
        self.count += 1
        print(f'ok {self.count} - {trial} # SKIP {why}')
        self.row(trial, 0, f'SKIPPED: {why}')

    def end(self):
        print(f'1..{self.count}')
        sys.exit(1 if self.bad else 0)
