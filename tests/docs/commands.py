#!/usr/bin/env python3
"""The commands of the documents, run as a reader types them, and what they print compared with what stands there.

    tests/docs/commands.py [--accept] [DOCUMENT]...      in the tests' room: tests/run tests/docs/commands.py docs/reading.md

Each document has a room of its own, with a copy of the clone's examples, the finished build, and a ctrace.pc as if ctrace were installed.
Its blocks run in their order, in one bash on a terminal.  --accept writes what came instead of what stood there; read the difference.

    ```sh                       commands; the ```text block that follows is what they print
    ``` with lines "$ COMMAND"  commands, and below each what it prints; "ctrace> LINE" is typed at this prompt
    the same, indented by four  commands, where the first line begins with "$ " or a word of COMMANDS, or sets a variable
    a line "..." in an output   stands for any lines

HTML comments, which no reader sees, say what a document cannot.  Each is a line of its own and is about the block that follows:

    <!-- file: NAME -->         the block is the contents of this file
    <!-- not run: REASON -->    the block is left out, and listed with its reason; "not run to the end of the chapter: " leaves out more
    <!-- when: COMMAND -->      the block is left out, and listed, unless this command succeeds: it needs a package that tests do without
    <!-- numbers -->            numbers differ from run to run or machine to machine: they are not compared
    <!-- output of: COMMAND --> the block is what this prints
    <!-- do: COMMAND -->        a command that a reader has no need to type here: waiting for a program, going to another directory
    <!-- sample -->             the block is neither commands nor output
    <!-- demo -->               what follows is typed after `make demo`

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import difflib
import glob
import importlib.util
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
import fcntl

import project

SOURCE = project.ROOT
BUILD = os.environ.get('CTRACE_BUILD') or os.path.join(SOURCE, 'build')
PATIENCE = 240  # seconds, only to stop what hangs
COMMANDS = {'ctrace', 'make', 'cc', 'gcc', 'cobc', 'cobcrun', 'babeltrace2', 'cd', 'export', 'mkdir', 'mkfifo', 'kill', 'cp', 'cat', 'echo', 'chmod',
            'objdump', 'strace', 'sed', 'git', 'sudo', 'man', 'journalctl', 'scripts/faults.sh', '$ctrace', 'env', 'yes', 'perf', 'bpftrace',
            'python3'}
# Those typed after the demo, which takes long on a busy machine, are a test of their own: tests/docs/commands_demo.sh.
AFTER_DEMO = {'docs/TOUR.md', 'docs/reading.md'}
# Their dialogues are pieces of transcripts, which tests/golden/transcripts.py replays and compares.
REPLAYED = {'docs/operator.md'}
ELSEWHERE = {
    'docs/recovery.md': 'its programs hang and are killed: tests/process/test_kill.c and verb_runs.py',
}
WHO = {'room': '/home/ada', 'user': 'ada', 'host': 'asterix'}

transcripts_at = importlib.util.spec_from_file_location('transcripts', os.path.join(SOURCE, 'tests', 'golden', 'transcripts.py'))
transcripts = importlib.util.module_from_spec(transcripts_at)
transcripts_at.loader.exec_module(transcripts)


# ------------------------------------------------------------------------------------------------------------
# A document as a file

class Block:
    def __init__(self, line, language, indent, lines):
        self.line = line  # of its first line, from 1
        self.language = language  # None: an indented block
        self.indent = indent
        self.lines = lines
        self.notes = []  # (word, text) of the comments before it

    def note(self, word):
        found = [text for name, text in self.notes if name == word]
        return found[-1] if found else None

    def is_dialogue(self):
        return any(line.startswith('$ ') for line in self.lines[:1])

    def is_commands(self):
        if self.language == 'sh':
            return True
        if self.language is not None:
            return False
        first = next((line for line in self.lines if not line.startswith('#')), '').lstrip('(').split()
        return bool(first) and (first[0] in COMMANDS or first[0].startswith(('./', '../', 'build/')) or re.match(r'[A-Z_]+=', first[0]) is not None)


def blocks_of(text):
    lines = text.split('\n')
    found, notes, at = [], [], 0
    is_paragraph = False
    leaves_out = None
    while at < len(lines):
        line = lines[at]
        note = re.match(r'<!-- ([a-z][a-z ]*?)(?:: (.*?))? -->$', line)
        fence = re.match(r'(`{3,})(\w*)$', line)
        if line.startswith('#'):
            leaves_out = None
        if note:
            notes.append(note.groups())
            is_paragraph = False
        elif fence or (line.startswith('    ') and not is_paragraph):
            start = at + 1 if fence else at
            end = start
            while end < len(lines) and (lines[end] != fence.group(1) if fence else lines[end].startswith('    ') or not lines[end]):
                end += 1
            at = end
            if not fence:
                while not lines[end - 1]:
                    end -= 1
            block = Block(start + 1, fence.group(2) if fence else None, 0 if fence else 4, [each[0 if fence else 4:] for each in lines[start:end]])
            block.notes, notes = notes, []
            leaves_out = block.note('not run to the end of the chapter') or leaves_out
            if leaves_out:
                block.notes.append(('not run', leaves_out))
            found.append(block)
            is_paragraph = False
            if not fence:
                continue
        else:
            is_paragraph = bool(line.strip()) and (is_paragraph or not line.startswith('#'))
        at += 1
    if notes:
        found.append(Block(len(lines), 'end', 0, []))
        found[-1].notes = notes
    return found


# ------------------------------------------------------------------------------------------------------------
# What cannot be the same twice

MASKS = [
    (r'\b\d{4}([-/])\d\d\1\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?', '<time>'),
    (r'\b\d{4}([-/])\d\d\1\d\d\b|\b\d\d/\d\d/\d\d(\d\d)?\b', '<date>'),
    (r'\b\d\d([:.])\d\d\1\d\d(\.\d+)?\b', '<time>'),
    (r'<date>[- ]<time>', '<time>'),
    (r'(?<=\(\+)[\d?]+\.[\d?]+(?=\))', '<time>'),
    (r'^\d+(?= )', '<pid>'),
    (r'(?i)(\b[pt]id *[=:]? *|\bprocess(?:id)? *=? *|\buser |:\(|/|[A-Za-z]\.)\d{2,}(?!\.\d)(?=\W|$)', r'\1<pid>'),
    (r' \[\d+(/\d+)?\](?= )', ' [<pid>]'),
    (r'(?<= user )\S+', '<user>'),
    (r'(?<=\(\+<time>\) )\S+(?=:\w+:\()|(?<=Computer Name = ).*|(?<=Operating System = ).*', '<machine>'),
    (r'(/[\w.-]+)+/', '<directory>/'),
    (r'\(\d[\d.]*(ns|us|ms|s)\)', '(<duration>)'),
]


def mask(line, numbers):
    line = re.sub(r'(?<=\S)[ \t]+', ' ', line.rstrip())
    for pattern, by in MASKS:
        line = re.sub(pattern, by, line)
    if numbers:
        line = line.replace(' [<pid>]', '')  # a thread is named when several are about
        line = re.sub(r'-{3,}', '---', re.sub(r'\d[\d,.]*(?:[KMk]|[nmu]?s)?\b|\*+$', '#', re.sub(r'[0-9A-F]{8}[0-9A-F.-]*', '#', line)))
        line = re.sub(r'(# \w+?)s\b', r'\1', line)
        line = re.sub(r'( [#*]+)+(?= |$)', ' #', line.lstrip())
    return line


def fits(wanted, came, numbers):
    """Whether these lines are what came, "..." being any."""
    pattern = ''.join(r'(?:.*\n)*?' if line == '...' else re.escape(mask(line, numbers)) + '\n' for line in wanted)
    return re.fullmatch(pattern, ''.join(mask(line, numbers) + '\n' for line in came)) is not None


# ------------------------------------------------------------------------------------------------------------
# A room with a shell in it

class Trouble(Exception):
    """What keeps a document from being run on."""


class Room:
    def __init__(self, name):
        self.path = os.path.join(os.getcwd(), name)
        os.mkdir(self.path)
        for directory in ('run', 'home'):
            os.mkdir(os.path.join(self.path, directory), 0o700)
        self.make_clone()
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(('CTRACE_', 'MFTRACE_', 'COB_'))}
        self.environment.update(HOME=self.path + '/home', CTRACE_RUN_DIR=self.path + '/run', TERM='vt100', NO_COLOR='1', PAGER='cat',
                                LC_ALL='C.UTF-8', PATH=self.clone + '/build:' + os.environ['PATH'], LD_LIBRARY_PATH=BUILD,
                                PKG_CONFIG_PATH=self.path, DPKG_STATUS=os.path.join(SOURCE, 'tests', 'docs', 'status.txt'))
        self.seen, self.fd, self.shell = bytearray(), None, None
        self.start()

    def make_clone(self):
        """The project's tree, in which examples/ and build/ can be written to; and a ctrace.pc that says where it is."""
        self.clone = os.path.join(self.path, 'home', 'ctrace')
        os.mkdir(self.clone)
        for entry in os.listdir(SOURCE):
            if not entry.startswith(('.git', 'build')) and entry != 'examples':
                os.symlink(os.path.join(SOURCE, entry), os.path.join(self.clone, entry))
        shutil.copytree(os.path.join(SOURCE, 'examples'), os.path.join(self.clone, 'examples'))
        for directory, _, files in os.walk(os.path.join(self.clone, 'examples')):
            for name in files + ['']:
                os.chmod(os.path.join(directory, name), 0o700)
        os.mkdir(os.path.join(self.clone, 'build'))
        for entry in os.listdir(BUILD):
            if entry != 'demo':
                os.symlink(os.path.join(BUILD, entry), os.path.join(self.clone, 'build', entry))
        values = {'prefix': SOURCE, 'libdir': BUILD, 'includedir': SOURCE + '/include', 'copydir': SOURCE + '/copy', 'version': '0.9.0',
                  'cobc_runtime_flags': '${cobc_flags} -lctrace-cobol'}
        template = project.text('packaging/ctrace.pc.in')
        with open(os.path.join(self.path, 'ctrace.pc'), 'w', encoding='utf-8') as file:
            file.write(re.sub(r'@(\w+)@', lambda match: values[match.group(1)], template))

    def start(self):
        self.fd, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 4000, 240, 0, 0))
        self.shell = subprocess.Popen(['bash', '--norc', '--noprofile'], cwd=self.clone, env=self.environment, stdin=subprocess.PIPE,
                                      stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)

    def run(self, command):
        """The lines that come of a command, and its exit status."""
        script = os.path.join(self.path, 'command')
        with open(script, 'w', encoding='utf-8') as file:
            file.write(command + '\n')
        self.shell.stdin.write(f'. {script} </dev/null; printf "\\n=== end %d\\n" $?\n'.encode())
        self.shell.stdin.flush()
        self.seen = bytearray()
        end_mark, looked_at = re.compile(rb'\r\n=== end (\d+)\r\n'), 0
        end = time.monotonic() + PATIENCE
        while not (found := end_mark.search(self.seen, looked_at)):
            looked_at = max(len(self.seen) - 100, 0)  # the mark may have come in part
            if not select.select([self.fd], [], [], max(end - time.monotonic(), 0))[0]:
                raise Trouble(f'it hangs: {command}: ' + self.seen.decode(errors='replace')[-500:])
            try:
                self.seen += os.read(self.fd, 65536)
            except OSError as error:
                raise Trouble(f'the shell has ended: {command}') from error
        text = self.seen[:found.start()].decode('utf-8', 'backslashreplace').replace('\r\n', '\n')
        lines, rest = transcripts.render(text)
        lines += [rest.rstrip()] if rest else []
        # What bash itself says of jobs that were killed.
        lines = [line for line in lines if not re.match(rf'{script}: line \d+: +\d+ (Killed|Terminated|Hangup)', line)]
        while lines and not lines[-1]:
            lines.pop()
        return lines, int(found.group(1))

    def typed(self, command, expected):
        """A command that asks for lines at a prompt: what the terminal shows, as a transcript has it."""
        self.run('env -0 >"$HOME/../environment"; pwd >"$HOME/../directory"')
        with open(os.path.join(self.path, 'environment'), encoding='utf-8') as file:
            environment = dict(entry.split('=', 1) for entry in file.read().split('\0') if '=' in entry)
        with open(os.path.join(self.path, 'directory'), encoding='utf-8') as file:
            directory = file.read().rstrip('\n')

        class Stage:
            path = directory
            outputs = type('Outputs', (), {'tidy': staticmethod(lambda line: line)})
        Stage.environment = environment
        wanted = transcripts.Command([command])
        wanted.output = expected
        return transcripts.run(Stage, wanted).output

    def end(self):
        listed = subprocess.run([os.path.join(BUILD, 'ctrace'), 'list', '--names=pids'], env=self.environment, capture_output=True, text=True,
                                timeout=PATIENCE, check=False).stdout.split()
        writers = subprocess.run([os.path.join(BUILD, 'ctrace'), 'op', 'D TRACE,WTR=ALL'], env=self.environment, capture_output=True,
                                 text=True, timeout=PATIENCE, check=False).stdout
        for pid in listed + re.findall(r'^ +PID +(\d+)$', writers, re.MULTILINE):
            os.kill(int(pid), signal.SIGKILL)
        os.killpg(self.shell.pid, signal.SIGKILL)  # with its jobs
        self.shell.wait()
        self.shell.stdin.close()
        os.close(self.fd)
        shutil.rmtree(self.path, ignore_errors=True)


# ------------------------------------------------------------------------------------------------------------
# A document run

class Document:
    def __init__(self, path):
        self.path = path
        self.text = project.text(path)
        self.diagnostics, self.left_out = [], []
        self.changes = []  # (block, new lines)
        self.count = self.replayed = 0
        self.room = None
        self.last = []  # what the last block of commands has printed

    def compare(self, block, wanted, came, what):
        numbers = any(name == 'numbers' for name, _ in block.notes)
        came = [self.public(line) for line in came]
        if fits(wanted, came, numbers):
            return wanted
        self.diagnostics.append(f'{self.path}:{block.line}: {what}')
        self.diagnostics += difflib.unified_diff([mask(line, numbers) for line in wanted], [mask(line, numbers) for line in came], 'there', 'came',
                                              lineterm='', n=1)
        return came

    def public(self, line):
        line = line.replace(self.room.path + '/home', WHO['room']).replace(self.room.path + '/run', '/tmp/ctrace-1001')
        line = line.replace(os.path.join(SOURCE, 'tests', 'docs', 'status.txt'), '/var/lib/dpkg/status').replace(SOURCE, WHO['room'] + '/ctrace')
        line = re.sub(r'(?<=  user )\S+(?=  jobname )', WHO['user'], line)
        line = re.sub(r'^(\s*clock\s+)\w+: .*', r'\1tsc: the kernel keeps time by it', line)  # which one depends on the machine
        return re.sub(r'\b' + re.escape(os.uname().nodename) + r'\b', WHO['host'], line).replace(self.room.path, WHO['room'])

    def do(self, block):
        for word, text in block.notes:
            if word == 'do':
                lines, status = self.room.run(text)
                if status != 0:
                    self.diagnostics += [f'{self.path}:{block.line}: {text}: status {status}'] + lines[-10:]
            elif word == 'demo':
                lines, status = self.room.run(f'(cd {self.room.clone} && scripts/demo.sh build)')
                if status != 0:
                    raise Trouble('\n'.join(['scripts/demo.sh'] + lines[-10:]))

    def dialogue(self, block):
        """Each command of it with what comes."""
        lines = []
        for item in transcripts.parse('\n'.join(block.lines)):
            if not isinstance(item, transcripts.Command):
                lines.append(item)
                continue
            while item.output and not item.output[-1]:
                item.output.pop()
            self.count += 1
            if any(transcripts.PROMPT.match(line) for line in item.output):
                came = self.room.typed('\n'.join(item.lines), item.output)
            else:
                came, _ = self.room.run('\n'.join(item.lines))
            if lines and (block.lines.count('') and '' in block.lines[block.lines.index('$ ' + item.lines[0]) - 1:][:1]):
                lines.append('')
            lines += ['$ ' + item.lines[0]] + ['> ' + line for line in item.lines[1:]]
            lines += self.compare(block, item.output, came, item.lines[0])
        return lines

    def run_block(self, block):
        reason = block.note('not run')
        if not reason and block.note('when') and self.room.run(block.note('when'))[1] != 0:
            reason = f"this fails: {block.note('when')}"
        is_output = block.language == 'text' or block.note('output of')
        if reason:
            self.left_out.append(f'line {block.line}: {reason}')
            self.last = []
        elif block.note('file'):
            directory = os.path.dirname(block.note('file'))
            text = '\n'.join(block.lines)
            self.room.run((f'mkdir -p {directory}; ' if directory else '') + f"cat >{block.note('file')} <<'END OF IT'\n{text}\nEND OF IT")
        elif ('sample', None) in block.notes:
            pass
        elif block.note('output of'):
            came, _ = self.room.run(block.note('output of'))
            self.changes.append((block, self.compare(block, block.lines, came, block.note('output of'))))
        elif is_output:
            self.changes.append((block, self.compare(block, block.lines, self.last, 'what the commands before it print')))
            self.last = []
        elif block.is_dialogue() or block.is_commands():
            self.run_commands(block)
        elif block.language == '':
            self.diagnostics.append(f'{self.path}:{block.line}: neither commands nor output; say what it is in a comment, see tests/docs/commands.py')

    def run_commands(self, block):
        if self.path in ELSEWHERE:
            self.left_out.append(f'line {block.line}: {ELSEWHERE[self.path]}')
        elif block.is_dialogue():
            if self.path in REPLAYED:
                self.replayed += 1
            else:
                self.changes.append((block, self.dialogue(block)))
        elif any(line.startswith(('make', 'sudo ')) for line in block.lines):
            self.diagnostics.append(f'{self.path}:{block.line}: make and sudo are not for a room: <!-- not run: REASON -->')
        else:
            self.count += 1
            came, status = self.room.run('\n'.join(block.lines))
            self.last = came
            if status != 0:
                self.diagnostics += [f'{self.path}:{block.line}: status {status} of: {block.lines[-1]}'] + [self.public(line) for line in came[-10:]]

    def run(self):
        self.room = Room(re.sub(r'\W', '-', self.path))
        try:
            for block in blocks_of(self.text):
                self.do(block)
                self.run_block(block)
        except Trouble as trouble:
            self.diagnostics += [f'{self.path}: {line}' for line in str(trouble).split('\n')]
        finally:
            self.room.end()

    def accept(self):
        lines = self.text.split('\n')
        for block, new in reversed(self.changes):
            lines[block.line - 1:block.line - 1 + len(block.lines)] = [(' ' * block.indent + line).rstrip() for line in new]
        with open(os.path.join(SOURCE, self.path), 'w', encoding='utf-8') as file:
            file.write('\n'.join(lines))


def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith('-')]
    report = project.Report()
    # docs/decisions and the tables of results have no commands for a reader.
    guides = {os.path.relpath(path, SOURCE) for path in glob.glob(os.path.join(SOURCE, 'docs', '*.md'))}
    paths = arguments or ['README.md', 'examples/README.md', 'CONTRIBUTING.md'] + sorted(guides - AFTER_DEMO)
    for path in paths:
        document = Document(path)
        document.run()
        if '--accept' in sys.argv:
            document.accept()
        report.check(f'{path}: {document.count} commands or blocks of them', document.diagnostics)
        for line in document.left_out:
            print(f'#   not run, {line}')
        if document.replayed:
            print(f'#   not run, {document.replayed} dialogues: tests/golden/transcripts.py replays them')
        sys.stdout.flush()
    report.end()


if __name__ == '__main__':
    main()
