#!/usr/bin/env python3
"""What the verbs print with --json, and as CSV, is what ctrace-json(5) has: every member, its type, and those that may be missing."""

import csv
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

BUILD = os.environ['CTRACE_BUILD']
SUBJECTS = os.path.join(BUILD, 'tests')
PAGE = os.path.join(os.environ['CTRACE_SOURCE'], 'man', 'ctrace-json.5')
PATIENCE = 60  # for what hangs; no test of speed
TYPES = {'text', 'integer', 'number', 'boolean', 'null', 'object', 'object of fields'}
checks = tap.Tap(is_live=True)
check = checks.clean


# ---- the page

def sections():
    """Name of a section: path -> (types, optional)."""
    found, name = {}, None
    for line in open(PAGE):
        words = line.rstrip('\n')
        if words.startswith('.Ss '):
            name = words[4:]
            found[name] = {}
        elif words.startswith('.Sh COMMA'):
            name = 'CSV'
            found[name] = {}
        elif words.startswith('.It Li ') and ' Pq ' in words:
            paths, kind = words[len('.It Li '):].split(' Pq ')
            optional = kind.endswith(', optional')
            types = kind.removesuffix(', optional').split(' or ')
            for path in paths.split(' , '):
                assert path not in found[name], f'{path} stands twice in {name}'
                found[name][path] = (types, optional)
    return found


SECTIONS = sections()


def members(name):
    """The section's members, and instead of another section's name the members of that."""
    paths = {}
    for path, (types, optional) in SECTIONS[name].items():
        included = [t for t in types if t in SECTIONS]
        paths[path] = ([t for t in types if t not in SECTIONS] + ['object' for _ in included], optional)
        for other in included:
            paths.update({f'{path}.{below}': what for below, what in members(other).items()})
    return paths


def type_of(value):
    if value is None:
        return {'null'}
    if isinstance(value, bool):
        return {'boolean'}
    return {int: {'integer', 'number'}, float: {'number'}, str: {'text'}, dict: {'object', 'object of fields'}}[type(value)]


class Comparison:
    def __init__(self, name):
        self.members = members(name)
        self.diagnostics = []
        self.seen = set()

    def below(self, path):
        return {p[len(path) + 1 if path else 0:] for p in self.members if p.startswith(path + '.' if path else '')}

    def compare(self, value, path):
        if isinstance(value, list):
            for element in value:
                self.compare(element, path + '[]')
            if not value and not any(p.startswith(path + '[]') for p in self.members):
                self.diagnostics.append(f'the array {path} is not on the page')
            return
        types = self.members.get(path, (None,))[0]
        self.seen.add(path)
        if types is None and not (isinstance(value, dict) and self.below(path)):
            self.diagnostics.append(f'{path} is not on the page')
        elif types is not None and not type_of(value) & set(types):
            self.diagnostics.append(f'{path} is {value!r}; the page has: {" or ".join(types)}')
        if isinstance(value, dict) and types != ['object of fields']:
            self.object(value, path)

    def object(self, value, path):
        for key, member in value.items():
            self.compare(member, f'{path}.{key}' if path else key)
        for name in {re.split(r'\.|\[', below)[0] for below in self.below(path)}:
            whole = f'{path}.{name}' if path else name
            if name not in value and not any(self.members.get(p, ((), False))[1] for p in (whole, whole + '[]')):
                self.diagnostics.append(f'{whole} is missing')


seen = {}  # section: paths


def compare(what, section, documents):
    """Documents, or lines of them."""
    comparison = Comparison(section)
    if isinstance(documents, str):
        documents = [json.loads(line) for line in documents.splitlines()]
    for document in documents:
        version = document.pop('format_version', None)
        if version != 1:
            comparison.diagnostics.append(f'format_version is {version}')
        comparison.compare(document, '')
    if not documents:
        comparison.diagnostics.append('nothing was printed')
    seen.setdefault(section, set()).update(comparison.seen)
    check(f'{what}: {section}', '\n'.join(dict.fromkeys(comparison.diagnostics)))


def compare_events(what, events):
    compare(what, 'Events', events)


# ---- what is printed

def ctrace(*arguments):
    return subprocess.run(['ctrace', *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False).stdout


def write(path, text, mode=0o600):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), 'w') as file:
        file.write(text)


class Subject:
    """A program that obeys lines and answers each with one."""

    def __init__(self, program, *arguments, config=None, job='SUBJECT', is_greeting=True):
        environment = dict(os.environ, CTRACE_JOBNAME=job)
        if config:
            environment['MFTRACE_CONFIG'] = os.path.abspath(config)
        self.process = subprocess.Popen([os.path.join(SUBJECTS, program), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=environment)
        if is_greeting:
            self.process.stdout.readline()

    def order(self, line):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def end(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)


# ---- traces
for run in 'quick', 'slow':
    write('app.cfg', f'mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#file = {os.getcwd()}/{run}\n')
    subprocess.run([os.path.join(SUBJECTS, 'spans_subject'), '20', run], env=dict(os.environ, MFTRACE_CONFIG='app.cfg'), check=True)
write('spans.call.yaml', '''component: spans.call
events:
  1: {mnemonic: CALL, exit: 2, description: A call}
  2: {mnemonic: CALLED}
  3: {mnemonic: STEP, exit: 4}
  4: {mnemonic: STEPPED}
  11: {mnemonic: NEW, arguments: [{name: one, print: enumeration, values: {ONE: 1}}]}
''')
os.environ['CTRACE_CATALOG'] = 'spans.call.yaml'
traces = [name for name in sorted(os.listdir('.')) if name in ('quick', 'slow')]
assert traces == ['quick', 'slow'], os.listdir('.')
compare_events('show', ctrace('show', '--json', 'quick', 'slow'))
compare_events('export, lines', ctrace('export', '-f', 'json', '--lines', 'quick'))
compare('show, count', 'ctrace show --count', ctrace('show', '--count', '--json', 'quick'))
check('show, count: of none', '' if json.loads(ctrace('show', '--count', '--json', 'event == 99', 'quick'))['count'] == 0 else 'not 0')
exported = json.loads(ctrace('export', '-f', 'json', 'quick'))
check('export: the document', '' if list(exported) == ['format_version', 'events'] and exported['format_version'] == 1 else list(exported))
compare_events('export', [dict(event, format_version=1) for event in exported['events']])
for arguments in [], ['--by=component'], ['--by=thread']:
    compare(f'stats {arguments}', 'ctrace stats PATH', ctrace('stats', '--json', 'slow', *arguments))

# ---- spans and operations by name
for run in 'cobol', 'cobol.slow':
    write('app.cfg', f'mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#file = {os.getcwd()}/{run}\n')
    subprocess.run([os.path.join(SUBJECTS, 'paragraphs_subject'), '6', run.removeprefix('cobol.')], env=dict(os.environ, MFTRACE_CONFIG='app.cfg'), check=True)
catalog = '--catalog=' + os.environ['CTRACE_SOURCE'] + '/catalog'
compare_events('show, with ends', ctrace('show', '--json', '--ends', catalog, 'cobol'))
for by in 'paragraph', 'program', 'file':
    compare(f'stats by {by}', 'ctrace stats PATH', ctrace('stats', '--json', catalog, '--by=' + by, 'cobol'))
    compare(f'diff by {by}', 'ctrace diff', ctrace('diff', '--json', catalog, '--by=' + by, 'cobol', 'cobol.slow'))

compare('diff', 'ctrace diff', ctrace('diff', '--json', '--counts', 'quick', 'slow'))
compare('diff by component', 'ctrace diff', ctrace('diff', '--json', '--by=component', 'quick', 'slow'))
compare('diff, the other way round', 'ctrace diff', ctrace('diff', '--json', '--counts', 'slow', 'quick'))

rows = list(csv.reader(ctrace('export', '-f', 'csv', 'slow').splitlines()))
columns = [name for name in rows[0] if not re.fullmatch(r'data([3-9]|\d\d+)', name)]
check('export, CSV: the columns', '' if columns == list(SECTIONS['CSV'])[:len(columns)] and len(columns) >= 11 else columns)

# ---- configurations
write('bad.cfg', 'mftrace.level = info\nmftrace.level = loud\nmftrace.nothing = 1\n')
compare('config check', 'ctrace config check', ctrace('config', 'check', '--json', 'bad.cfg'))
compare('config check of nothing', 'ctrace config check', ctrace('config', 'check', '--json', 'nosuch.cfg'))

# ---- catalogues
write('bad.yaml', 'component: A\nevents:\n  1: {mnemonic: "A B"}\n  2: {mnemonic: B, severity: lound}\n---\nevents: {}\n')
os.mkdir('nothing')
checked = ctrace('catalog', 'check', '--json', 'spans.call.yaml', 'bad.yaml', 'nosuch.yaml', 'nothing')
compare('catalog check', 'ctrace catalog check', checked)
checked = [json.loads(line) for line in checked.splitlines()]
check('catalog check: a document a file', '' if [c['path'] for c in checked] == ['spans.call.yaml', 'bad.yaml', 'nosuch.yaml', 'nothing'] else checked)
check('catalog check: counts', '' if (checked[0]['components'], checked[0]['events'], checked[0]['good_events'], checked[0]['errors'],
                                      checked[0]['diagnostics']) == (1, 5, 5, 0, []) else checked[0])
check('catalog check: places', '' if [(d['line'], d['column']) for d in checked[1]['diagnostics'][:2]] == [(3, 17), (4, 30)] and
      checked[1]['errors'] == len(checked[1]['diagnostics']) else checked[1])
check('catalog check: what cannot be read', '' if [list(c) for c in checked[2:]] == [['format_version', 'path', 'error']] * 2 else checked[2:])

# ---- processes
write('subject.cfg', f'mftrace.level = info\nmftrace.nothing = 1\nmftrace.dest = textfile\nmftrace.emitter.textfile#file = {os.getcwd()}/s.log\n')
tool = Subject('tool_subject', '5', config='subject.cfg', job='TOOL')
tool.order('flush')
compare('doctor of a process', 'ctrace doctor', ctrace('doctor', '--json', str(tool.process.pid)))
compare('doctor of a program', 'ctrace doctor', ctrace('doctor', '--json', os.path.join(SUBJECTS, 'tool_subject'), '3'))
write('libcob.c', 'const char *libcob_version(void) { return "3.2.0"; }\n')
write('cobol.c', 'const char *libcob_version(void);\nint main(void) { return libcob_version() == 0; }\n')
subprocess.run(['cc', '-shared', '-fPIC', '-Wl,-soname,libcob.so.4', '-o', 'libcob.so.4', 'libcob.c'], check=True)
subprocess.run(['cc', '-o', 'cobol-stub', 'cobol.c', './libcob.so.4', '-Wl,-rpath,' + os.getcwd()], check=True)
compare('doctor of a program with libcob', 'ctrace doctor', ctrace('doctor', '--json', './cobol-stub'))
compare('doctor of a program that dies', 'ctrace doctor', ctrace('doctor', '--json', 'sh', '-c', 'kill -KILL $$'))
compare('list', 'ctrace list', ctrace('list', '--json'))
compare_events('tail', ctrace('tail', '--json', '--from-start', '--limit', '1', '--for', '10') or ctrace('show', '--json', 'quick'))
compare('stats', 'ctrace stats', ctrace('stats', '--json'))
compare('top', 'ctrace top', ctrace('top', '--batch', '--json', '--iterations', '2', '--interval', '0.1'))
for arguments in (['level', 'tool.*'], ['level', 'tool.*', 'warn'], ['level', 'tool.*', 'none'], ['dest', 'tool.main'], ['dest', 'tool.main', '+STDERR'],
                  ['dest', 'tool.main', '+NOSUCH'], ['prop', 'tool.main', 'P', '1'], ['prop', 'emitter:TEXTFILE', 'FORMAT'], ['reload'], ['flush'],
                  ['rotate'], ['trigger', 'add', 'LATE', '--when', 'level >= error', '--do', 'wto'], ['trigger', 'list'], ['trigger', 'remove', 'LATE']):
    compare(' '.join(arguments), 'ctrace level, dest, prop, reload, flush, rotate, trigger', ctrace(arguments[0], '--json', *arguments[1:]))

# ---- the operator
os.mkdir('proclib', 0o700)
write('proclib/CTW', f'TRCOUT01 PATH={os.getcwd()}/data PRIMARY=1M\n')
os.environ['CTRACE_PROCLIB'] = os.path.abspath('proclib')
writer = subprocess.Popen(['ctrace', 'writer', 'CTW'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wait_for(lambda: any(w['name'] == 'CTW' for w in json.loads(ctrace('stats', '--json') or '{"writers":[]}')['writers']))
shop = Subject('shop', job='OPERATED', is_greeting=False)
shop.order('define OPR head headopts mod asids jobs buffer wtr')
shop.order('define OPR.SUB likehead')
ctrace('op', 'TRACE CT,ON,COMP=OPR', '--reply', 'ASID=(1,2F),JOBNAME=(OPRA,X),OPTIONS=(GET,KEYS),WTR=CTX')
ctrace('op', 'TRACE CT,ON,COMP=TOOL.MAIN', '--reply', 'WTR=CTW')
tool.order('30')
tool.order('flush')


def writers():
    return json.loads(ctrace('op', '--json', 'D TRACE,WTR=ALL'))['writers']


wait_for(lambda: any(w.get('connected') for w in writers()))
compare('stats with a writer', 'ctrace stats', ctrace('stats', '--json'))
look = subprocess.Popen(['ctrace', 'stats', '--json', '--watch=0.1'], stdout=subprocess.PIPE, text=True)
lines = [look.stdout.readline() for _ in range(2)]
look.terminate()
look.wait(PATIENCE)
compare('stats, again and again', 'ctrace stats', ''.join(lines))
compare('D TRACE', 'DISPLAY TRACE', ctrace('op', '--json', 'D TRACE,COMP=OPR,SUB=(SUB)'))
compare('D TRACE of nothing', 'DISPLAY TRACE', ctrace('op', '--json', 'D TRACE,COMP=NOSUCH'))
compare('D TRACE,WTR=ALL', 'DISPLAY TRACE', ctrace('op', '--json', 'D TRACE,WTR=ALL'))
ctrace('op', '--job', 'OPERATED', 'TRACE CT,ON,COMP=OPR')
compare('D R', 'DISPLAY R', ctrace('op', '--json', 'D R'))
writer.terminate()
writer.wait(PATIENCE)
shop.end()
tool.end()

# ---- and nothing on the page that is not printed: an array of objects is seen by its members
RARE = {'data[].hex', 'data[].record', 'components[].host', 'streams[]', 'streams[].stream', 'streams[].servers',  # from the third: only of streams
        *(f'stream.{name}' for name in ('stream', 'servers', 'replicas', 'error', 'copies[].server', 'copies[].state', 'copies[].lag'))}
for section, paths in seen.items():
    never = [p for p in SECTIONS[section] if p not in paths and p not in RARE and not p.startswith('notes[]')]
    check(f'every member of {section} is printed', '\n'.join(never))

sys.exit(checks.end())
