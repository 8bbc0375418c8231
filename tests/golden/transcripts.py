#!/usr/bin/env python3
"""Operators' dialogues, replayed on live processes and compared with what stands in tests/golden/operator/*.txt to the letter.

    tests/golden/transcripts.py [--accept] [CASE]...      in the tests' room: tests/run tests/golden/transcripts.py

Every command runs on a terminal of its own (132 columns, no colours), so that a transcript is what a person sees.  --accept writes what came
instead of what was expected, here and in docs/operator.md; read the difference before it counts.  A case is a file of

    $ COMMAND           given to bash in the case's directory; lines "> ..." after it go on with it, as bash shows them
    ctrace> LINE        while a command runs that shows this prompt: what is typed there
    # status N          behind an output: the exit status, when it is not 0
    # process NAME [VARIABLE=VALUE]...   starts the program examples/shop.c as NAME; then $NAME is its process id
    # NAME: ORDER       an order to it, see there; it must answer "ok"
    # program NAME COMMAND   starts another program, whose output is not shown; # NAME< TEXT is a line of its input
    # needs COMMAND     the case is passed over where there is no such command
    # writer NAME       then $NAME is the process id of this external writer, which runs
    # until COMMAND     again and again until it succeeds
    # meanwhile COMMAND while a console waits for a line: somebody else's command; its output is not shown
    # anything else     is a comment

and of outputs.  In an output what cannot be the same twice is replaced, by the rules of Outputs.tidy() and no others.

Besides: each message that the tools and the writer have is in a transcript; docs/operator.md explains each; and each of its examples is a
piece of a transcript.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import datetime
import difflib
import fcntl
import glob
import json
import multiprocessing
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

SOURCE = os.environ.get('CTRACE_SOURCE') or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get('CTRACE_BUILD') or os.path.join(SOURCE, 'build')
DIRECTORY = os.path.join(SOURCE, 'tests', 'golden', 'operator')
DOCUMENT = os.path.join(SOURCE, 'docs', 'operator.md')
PATIENCE = 90  # seconds, only to stop what hangs
TOGETHER = 4  # cases at a time
EAST = datetime.timezone(datetime.timedelta(hours=5, minutes=30))  # a time that is shown in UTC by error does not pass
PROMPT = re.compile(r'^((?:\[\d+ repl(?:y|ies) outstanding: [^]]*\] )?ctrace>) ?(.*)$')
MESSAGE = re.compile(r'\b(?:ITT|IEA|IEE|CTR)\d{3}[ADEIW]\b')
# Messages that no transcript can have.
NOT_SHOWN = {
    'CTR024I': 'a writer that takes two minutes to end',
    'CTR025I': 'a Ctrl-C while a command waits',
    'CTR029I': 'tens of thousands of traces',
    'CTR030I': 'memory that is short',
    'IEA992I': 'a line of other programs on a console, at any time',
    'CTR035I': 'a line of other programs on a console, at any time',
    'CTR036I': 'an operator who is another user',
    'CTR104E': 'a machine without threads',
    'CTR107E': 'a process that truncates its own rings, and dies of it',
}


# ------------------------------------------------------------------------------------------------------------
# A case as a file

class Command:
    def __init__(self, lines):
        self.lines = lines  # without "$ " and "> "
        self.output = []  # expected, with prompts and what is typed there, and with "# meanwhile" lines
        self.status = 0

    def print(self):
        yield '$ ' + self.lines[0]
        yield from ('> ' + line for line in self.lines[1:])
        yield from self.output
        if self.status != 0:
            yield f'# status {self.status}'


def parse(text):
    """Comments and directives as texts, commands as Commands, empty lines as ''."""
    items = []
    command = None
    for line in text.split('\n'):
        status = re.match(r'# status (-?\d+)$', line)
        if line.startswith('$ '):
            command = Command([line[2:]])
            items.append(command)
        elif line.startswith('> ') or line == '>':
            command.lines.append(line[2:])
        elif status and command:
            command.status = int(status.group(1))
        elif line.startswith('# meanwhile ') and command:
            command.output.append(line)
        elif line.startswith('#'):
            command = None
            items.append(line)
        elif command:
            command.output.append(line)
        else:
            items.append(line)
    for item in items:
        if isinstance(item, Command):
            while item.output and not item.output[-1]:
                item.output.pop()
    return items


def unparse(items):
    lines = []
    for number, item in enumerate(items):
        before = items[number - 1] if number else ''
        if isinstance(item, Command):
            if isinstance(before, Command):
                lines.append('')
            lines += item.print()
        elif item or (lines and lines[-1]):
            if isinstance(before, Command) and item:
                lines.append('')
            lines.append(item)
    return '\n'.join(lines).rstrip('\n') + '\n'


# ------------------------------------------------------------------------------------------------------------
# What cannot be the same twice

class Outputs:
    def __init__(self, room):
        self.room = room
        self.start = datetime.datetime.now(EAST)
        self.pids = {}  # by process id, each process's name

    def is_now(self, hours, minutes, seconds):
        """A time between the case's begin and now, or a span that is no longer."""
        now = datetime.datetime.now(EAST)
        said = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
        spent = (now - self.start).total_seconds() + 1
        first = self.start.hour * 3600 + self.start.minute * 60 + self.start.second
        return said <= spent or 0 <= (said - first) % 86400 <= spent

    def tidy(self, line):
        """Paths of the case's directory; process ids; times of day, which must be the right ones; numbers that depend on timing."""
        line = line.replace(self.room + '/run', '/run/ctrace').replace(self.room, '/home/op')
        for pid, name in self.pids.items():  # only where process ids stand: other numbers may be the same
            shown = '<pid>' if name.upper() in line.upper() else f'<pid of {name}>'
            line = re.sub(rf'(^(?=\d+ )|^ctrace \w+: |\bprocess |\bPID=|:\(|\b[pt]id = ){pid}(?![\w.])', rf'\g<1>{shown}', line)
        line = re.sub(r'^(    clock         )(tsc|cntvct_el0|CLOCK_MONOTONIC): .*', r'\g<1><clock>', line)
        line = re.sub(r'^( +PID +)\d+$', r'\1<pid>', line)
        line = re.sub(r'(?<=  user )\S+(?=  jobname )', '<user>', line)
        line = re.sub(r'\b' + re.escape(os.uname().nodename) + r'(?=:[\w-]+:\()', '<host>', line)
        # Microseconds that a request took, the last word of what examples/kvserver records of it.
        line = re.sub(r'( KVSERVER 1[678] INFO [\dA-F]{16}-[\dA-F]{8})[\dA-F]{8}\b', r'\1<time>', line)
        # Headers and padding of packets; zero is zero.
        line = re.sub(r'(?<=EVENTS, )[1-9]\d* BYTES', '<n> BYTES', line)
        line = re.sub(r'^( +USED )(?!0000K)\d{4}K', r'\1<n>', line)

        line = re.sub(r'\.\d+\.\d{8}-\d{6}\.dump\b', '.<pid>.<time>.dump', line)

        def clock(match):
            mark = match.group(2)
            if not self.is_now(*match.group(1, 3, 4)):
                return match.group()
            return f'hh{mark}mm{mark}ss' + ('.' + 'n' * (len(match.group(5)) - 1) if match.group(5) else '')
        line = re.sub(r'(?<![\w.:])([0-2]\d)([.:])([0-5]\d)\2([0-6]\d)(\.\d{3,9})?(?!\w|:\d)', clock, line)
        line = re.sub(r'^(hh:mm:ss\.nnn)n+(?= )', r'\1', line)  # as many digits as tell the lines apart
        line = re.sub(r'^(hh:mm:ss\.nnn )\[\d+\](?= )', r'\1[<tid>]', line)
        dates = {self.start.strftime('%Y-%m-%d'), datetime.datetime.now(EAST).strftime('%Y-%m-%d')}
        line = re.sub('|'.join(dates), 'yyyy-mm-dd', line)
        return line


PLAIN = re.compile('[^\x00\a\b\r\x1b]*')


def render_line(data):
    line, at = [], 0
    for token in re.findall(r'\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|.', data):
        if token == '\r':
            at = 0
        elif token == '\b':
            at = max(at - 1, 0)
        elif token in ('\x1b[K', '\x1b[J', '\x1b[0J', '\x1b[0K'):
            del line[at:]
        elif token.endswith('C') and token.startswith('\x1b['):
            at += int(token[2:-1] or 1)
        elif token.endswith('D') and token.startswith('\x1b['):
            at = max(at - int(token[2:-1] or 1), 0)
        elif not token.startswith('\x1b') and token not in '\a\0':
            line += ' ' * (at + 1 - len(line))
            line[at] = token
            at += 1
    return ''.join(line)


def render(data):
    """The lines that a terminal shows: what is written over or erased is gone."""
    lines = [line if PLAIN.fullmatch(line) else render_line(line) for line in data.split('\n')]
    return [line.rstrip() for line in lines[:-1]], lines[-1]


# ------------------------------------------------------------------------------------------------------------
# Processes

class Trouble(Exception):
    """What keeps a case from being replayed."""


class Stage:
    """A case's directory and the processes in it."""

    def __init__(self):
        # A short path that is always as long, because displays break lines where they are too long.
        self.path = tempfile.mkdtemp(prefix='op-', dir='/tmp')
        for name in ('bin', 'run', 'parmlib', 'proclib'):
            os.mkdir(os.path.join(self.path, name), 0o700)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(('CTRACE_', 'MFTRACE_', 'COB_'))}
        self.environment.update(HOME=self.path, CTRACE_RUN_DIR=self.path + '/run', CTRACE_PARMLIB=self.path + '/parmlib',
                                CTRACE_PROCLIB=self.path + '/proclib', TZ='<+0530>-05:30', LC_ALL='C.UTF-8', TERM='vt100', NO_COLOR='1',
                                LD_LIBRARY_PATH=BUILD, PATH=BUILD + ':' + os.environ['PATH'], CTRACE_SOURCE=SOURCE, CTRACE_BUILD=BUILD)
        self.outputs = Outputs(self.path)
        self.programs = {}

    def start(self, name, *settings):
        path = os.path.join(self.path, 'bin', name)
        shutil.copy(os.path.join(BUILD, 'tests', 'shop'), path)
        self.launch(name, [path], subprocess.PIPE, dict(setting.split('=', 1) for setting in settings))

    def launch(self, name, command, output, settings):
        program = subprocess.Popen(command, cwd=self.path, env=dict(self.environment, **settings), stdin=subprocess.PIPE, stdout=output,
                                   stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        self.programs[name] = program
        self.environment[name] = str(program.pid)
        self.outputs.pids[program.pid] = name

    def order(self, name, order):
        program = self.programs[name]
        program.stdin.write(order + '\n')
        program.stdin.flush()
        if not select.select([program.stdout], [], [], PATIENCE)[0]:
            raise Trouble(f'{name} does not answer to "{order}"')
        answer = program.stdout.readline().rstrip('\n')
        if answer != 'ok':
            raise Trouble(f'{name}: {order}: {answer}')

    def quietly(self, command):
        return subprocess.run(['bash', '-c', command], cwd=self.path, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE, check=False)

    def until(self, command):
        end = time.monotonic() + PATIENCE
        while self.quietly(command).returncode != 0:
            if time.monotonic() > end:
                raise Trouble(f'never: {command}')
            time.sleep(0.02)

    def direct(self, line):
        """A line that begins with "# "."""
        words = line[2:].split()
        if words[:1] == ['process']:
            self.start(*words[1:])
        elif words[:1] == ['program']:
            self.launch(words[1], words[2:], subprocess.DEVNULL, {})
        elif words and words[0].endswith('<') and words[0][:-1] in self.programs:
            self.programs[words[0][:-1]].stdin.write(line[len(words[0]) + 3:] + '\n')
            self.programs[words[0][:-1]].stdin.flush()
        elif words[:1] == ['writer']:
            self.environment[words[1]] = str(self.writers().get(words[1], 0))
        elif words[:1] == ['until']:
            self.until(line[len('# until '):])
        elif words and words[0].endswith(':') and words[0][:-1] in self.programs:
            self.order(words[0][:-1], line[len(words[0]) + 3:])

    def end(self):
        for program in self.programs.values():
            program.send_signal(signal.SIGCONT)
            program.kill()
            program.wait()
            program.stdin.close()
            if program.stdout is not None:
                program.stdout.close()
        for pid in self.writers().values():  # they are nobody's children
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.path, ignore_errors=True)

    def writers(self):
        """The process ids of external writers that run."""
        try:
            found = json.loads(self.quietly("ctrace op --json 'D TRACE,WTR=ALL'").stdout)['writers']
            return {writer['name']: writer['pid'] for writer in found if writer.get('pid')}
        except (ValueError, KeyError, TypeError):
            return {}


class Terminal:
    """A command on a terminal."""

    def __init__(self, stage, command):
        self.seen = b''
        self.child, self.fd = pty.fork()
        if self.child == 0:
            os.chdir(stage.path)
            os.execvpe('bash', ['bash', '-c', command], stage.environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', 48, 132, 0, 0))

    def text(self):
        return self.seen.decode('utf-8', 'backslashreplace').replace('\r\n', '\n')

    def read(self, is_enough):
        """True: it is; False: the command has ended."""
        end = time.monotonic() + PATIENCE
        while not is_enough():
            if not select.select([self.fd], [], [], max(end - time.monotonic(), 0))[0]:
                os.kill(self.child, signal.SIGKILL)
                raise Trouble('it hangs, after: ' + self.text()[-300:])
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.seen += data
        return True

    def is_asking(self):
        """The prompt is there, and what is typed is the tool's to show, which it sees to a moment later."""
        if not self.text().endswith('ctrace> '):
            return False
        while termios.tcgetattr(self.fd)[3] & termios.ECHO:
            time.sleep(0.001)
        return True

    def type(self, text):
        """A line, and everything up to the next prompt or the end; what is shown of it."""
        before = len(self.seen)
        os.write(self.fd, text.encode() + b'\n')
        self.read(lambda: b'\n' in self.seen[before:] and self.is_asking())

    def finish(self):
        self.read(lambda: False)
        status = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        os.close(self.fd)  # not before: who has this terminal would die of SIGHUP
        return status


def run(stage, command):
    """What came of a Command: another one."""
    typed = [line for line in command.output if PROMPT.match(line) or line.startswith('# meanwhile ')]
    terminal = Terminal(stage, '\n'.join(command.lines))
    notes = []  # "# meanwhile" lines, and how many prompts are before them
    prompts = 0
    for line in typed:
        if line.startswith('# meanwhile '):
            notes.append((prompts, line))
            stage.quietly(line[len('# meanwhile '):])
            continue
        if not terminal.read(terminal.is_asking):
            break
        terminal.type(PROMPT.match(line).group(2))
        prompts += 1
    status = terminal.finish()
    lines, rest = render(terminal.text())
    came = Command(command.lines)
    came.status = status
    prompts = 0
    for line in lines + ([rest] if rest else []):
        if PROMPT.match(line + ' ') or PROMPT.match(line):
            came.output += [note for number, note in notes if number == prompts]
            prompts += 1
        came.output.append(stage.outputs.tidy(line))
    while came.output and not came.output[-1]:
        came.output.pop()
    return came


def replay(items):
    """The same items, with what came."""
    stage = Stage()
    came = []
    try:
        for item in items:
            if isinstance(item, Command):
                item = run(stage, item)
            elif item.startswith('# '):
                stage.direct(item)
            came.append(item)
    finally:
        stage.end()
    return came


# ------------------------------------------------------------------------------------------------------------
# Tests

class Report:
    def __init__(self):
        self.count = self.bad = 0

    def check(self, what, errors):
        self.count += 1
        self.bad += bool(errors)
        print(f'{"not ok" if errors else "ok"} {self.count} - {what}', flush=True)
        for error in errors:
            print(f'#   {error}', flush=True)

    def end(self):
        print(f'1..{self.count}')
        return 1 if self.bad else 0


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def check_case(path, accepts):
    text = read(path)
    try:
        came = unparse(replay(parse(text)))
    except (Trouble, OSError, subprocess.TimeoutExpired) as trouble:
        return [str(trouble)]
    if came == text:
        return []
    if accepts:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(came)
        return []
    return list(difflib.unified_diff(text.split('\n'), came.split('\n'), 'expected', 'came', lineterm='', n=2))


def messages():
    """The ids that stand in the sources of the tools, the readers and the writer."""
    found = {}
    for directory in ('src/tools', 'src/operator', 'src/writer'):
        for path in glob.glob(os.path.join(SOURCE, directory, '*.c')):
            for literal in re.findall(r'"(?:\\.|[^"\\\n])*"', read(path)):
                for name in MESSAGE.findall(literal):
                    found.setdefault(name, os.path.relpath(path, SOURCE))
    return found


def shown(paths):
    """The ids that are in outputs."""
    found = set()
    for path in paths:
        for item in parse(read(path)):
            if isinstance(item, Command):
                for line in item.output:
                    if not PROMPT.match(line) or not PROMPT.match(line).group(2):
                        found.update(MESSAGE.findall(line))
    return found


def without_notes(items):
    """What a person would see, a line of it each."""
    items = [item for item in items if isinstance(item, Command)]
    return [line for line in unparse(items).split('\n') if not line.startswith('#')]


def excerpt(block, transcripts):
    """The same commands as in a block, one behind the other, as a transcript has them with their outputs; None: no transcript has."""
    wanted = [item.lines for item in parse(block) if isinstance(item, Command)]
    for items in transcripts:
        commands = [item for item in items if isinstance(item, Command)]
        for start in range(len(commands) - len(wanted) + 1):
            if [item.lines for item in commands[start:start + len(wanted)]] == wanted:
                return '\n'.join(without_notes(commands[start:start + len(wanted)]))
    return None


def check_examples(document, transcripts):
    """Errors, and the document as it should be."""
    errors = []

    def correct(match):
        right = excerpt(match.group(2), transcripts)
        if right != match.group(2):
            line = document.count('\n', 0, match.start(2)) + 1
            errors.append(f'docs/operator.md:{line}: {"no transcript has these commands" if right is None else "another output"}')
        return match.group(1) + (right if right is not None else match.group(2)) + '```\n'
    return errors, re.sub(r'^(```\w*\n)(\$ .*?)^```\n', correct, document, flags=re.DOTALL | re.MULTILINE)


def texts():
    """The text of each message, with dots where something is put in."""
    found = dict(re.findall(r'\{ "(\w{7})", \w+,\s+"((?:\\.|[^"\\])*)"', read(os.path.join(SOURCE, 'src', 'operator', 'wto.c'))))
    for path in glob.glob(os.path.join(SOURCE, 'src', 'writer', '*.c')):
        found.update(re.findall(r'"(CTR\d{3}[A-Z]) ((?:\\.|[^"\\])*)"', read(path)))
    return {name: re.sub(r'\{\}|%\d*\w', '…', text) for name, text in found.items()}


def check_table(document, known):
    row = re.compile(r'^\| `((?:ITT|IEA|IEE|CTR)\d{3}[ADEIW])` \| ([^|\n]*?) ?(?=\| [^|\n]+ \|$)', re.MULTILINE)
    rows = row.findall(document)
    names = [name for name, _ in rows]
    wanted = texts()
    errors = [f'missing: {name}' for name in sorted(set(known) - set(names))] + [f'to go: {name}' for name in names if name not in known]
    errors += [f'{name} says: {wanted[name]}' for name, text in rows if text != wanted.get(name, text)]
    errors += [] if names == sorted(set(names)) else ['each once, in order']

    def correct(match):
        return f'| `{match.group(1)}` | {wanted.get(match.group(1), match.group(2))} '
    return errors, row.sub(correct, document)


def check_orders(document):
    """The rows of "| chapter | `transcript` | `order`, `order` |": each order is one of this transcript."""
    errors, rows = [], re.findall(r'^\| [^|]* \| `(\w+\.txt)` \| (.*) \|$', document, re.MULTILINE)
    for name, orders in rows:
        text = read(os.path.join(DIRECTORY, name))
        errors += [f'{name} has no {order}' for order in re.findall(r'`([^`]*)`', orders) if not re.search(rf'^# \w+: {re.escape(order)}$', text, re.M)]
    return errors if rows else ['there are no rows']


def check_document(report, paths, known, accepts):
    document = read(DOCUMENT)
    in_examples, corrected = check_examples(document, [parse(read(path)) for path in paths])
    in_table, corrected = check_table(corrected, known)
    if accepts and corrected != document:
        with open(DOCUMENT, 'w', encoding='utf-8') as file:
            file.write(corrected)
        in_examples, _ = check_examples(corrected, [parse(read(path)) for path in paths])
        in_table, _ = check_table(corrected, known)
    report.check('each example of docs/operator.md is a piece of a transcript', in_examples)
    report.check('the orders that docs/operator.md gives to shop are those of the transcripts', check_orders(document))
    report.check('docs/operator.md explains every message, and no other', in_table)


def main():
    arguments = sys.argv[1:]
    accepts = '--accept' in arguments
    cases = [name for name in arguments if not name.startswith('-')]
    paths = sorted(glob.glob(os.path.join(DIRECTORY, '*.txt')))
    report = Report()
    # Most of a case is waiting, for processes that stand still.
    with multiprocessing.get_context('fork').Pool(TOGETHER) as pool:
        replays = []
        for path in paths:
            name = os.path.basename(path)[:-len('.txt')]
            lacks = [command for command in re.findall(r'^# needs (\S+)$', read(path), re.MULTILINE) if shutil.which(command) is None]
            if lacks and (not cases or name in cases):
                replays.append((f'{name} # SKIP no {lacks[0]}', None))
            elif not cases or name in cases:
                replays.append((name, pool.apply_async(check_case, (path, accepts))))
        for name, came in replays:
            report.check(name, came.get() if came else [])
        pool.close()
        pool.join()
    if cases:
        return report.end()
    known = messages()
    missing = set(known) - shown(paths)
    report.check('every message is in a transcript', [f'{name} of {known[name]}' for name in sorted(missing - set(NOT_SHOWN))])
    report.check('what is said not to be shown is not', sorted(set(NOT_SHOWN) - missing))
    if os.path.exists(DOCUMENT):
        check_document(report, paths, known, accepts)
    return report.end()


if __name__ == '__main__':
    sys.exit(main())
