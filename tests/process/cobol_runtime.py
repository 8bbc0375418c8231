#!/usr/bin/env python3
"""libctrace-cobol.so: COBOL programs that were compiled the ordinary way are traced, and do not notice it.

Each program of tests/cobol/runtime_*.cbl runs twice in the same directory, without and with the library.  Output, exit status and files must
be the same, byte for byte; what was traced must be tests/cobol/runtime_<case>.events.  A line there is an event: its name, level and items, and
behind @ the line of the source that it names (@ 0: none).  `tests/run tests/process/cobol_runtime.py --accept` writes these files; read the
difference."""

import difflib
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

SOURCE = os.environ['CTRACE_SOURCE']
BUILD = os.environ['CTRACE_BUILD']
COBOL = os.path.join(SOURCE, 'tests', 'cobol')
LIBRARY = os.path.join(BUILD, 'libctrace-cobol.so')
ROOM = os.getcwd()
BIN = os.path.join(ROOM, 'bin')
WORK = os.path.join(ROOM, 'work')
PATIENCE = 120  # seconds, only to stop what hangs
ACCEPTS = '--accept' in sys.argv
ALL = {'mf.rts#all': 'true', 'mf.mffh.xfh#all': 'true'}
# Events of mf.rts that need a property.
OF_PROPERTY = {
    'pgm': {6, 7, 8},
    'pgmsearch': {58, 59},
    'pgmload': {1001},
    'paragraphs': {1010, 1011},
    'statements': {1012},
    'exceptions': {1021},
}
# The line of these events is one of the program that calls.
LINE_OF_CALLER = {6, 7, 8, 1002}
checks = tap.Tap(is_live=True)
sources = {}  # PROGRAM-ID -> lines of its source


# ---- programs

def source_of(name):
    return name if os.sep in name else os.path.join(COBOL, f'runtime_{name}')


def compile_program(out, *names, flags=('-debug',), dialect='default', kind='-x'):
    """names: parts of file names in tests/cobol, or paths."""
    paths = [source_of(name) for name in names]
    for path in paths:
        with open(path, encoding='latin-1') as file:
            lines = file.read().split('\n')
        for line in lines:
            found = re.match(r' *(?:program|function)-id\. *([\w-]+)', line, re.I)
            if found:
                sources[found[1].lower()] = lines
    done = subprocess.run(['cobc', kind, '-free', '-w', f'-std={dialect}', *flags, '-o', os.path.join(BIN, out), *paths],
                          capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode != 0:
        checks.clean(f'{out} compiles', done.stderr)
    return out


# ---- runs

class Run:
    """What a program has done.  traces: by name of the program, the events of each of its processes."""

    def __init__(self):
        self.out = self.err = b''
        self.status = None
        self.files = {}
        self.traces = []

    def seen(self):
        return self.out, self.err, self.status, self.files

    @property
    def events(self):
        return self.traces[0] if self.traces else []


class Settings:
    def __init__(self, properties=None, levels=None, extra=''):
        self.levels = {'mf': 'debug'} if levels is None else levels
        self.properties = ALL if properties is None else properties
        self.extra = extra

    def write(self, path, traces):
        with open(path, 'w', encoding='ascii') as file:
            file.write(f'mftrace.dest = binfile\nmftrace.emitter.binfile#location = {traces}\n'
                       'mftrace.emitter.binfile#file = $(APPNAME).$(PID)\n'
                       'ctrace.block.timeout = 60s\n')  # the disk may need longer than a program usually waits for it at its end
            for component, level in self.levels.items():
                file.write(f'mftrace.level{"." if component else ""}{component} = {level}\n')
            for name, value in self.properties.items():
                file.write(f'mftrace.comp.{name} = {value}\n')
            file.write(self.extra)


def environment_of(settings, way, extra):
    environment = dict(os.environ, COB_LIBRARY_PATH=BIN, **extra)
    if settings is not None:
        traces = os.path.join(ROOM, 'traces')
        shutil.rmtree(traces, ignore_errors=True)
        os.mkdir(traces)
        settings.write(os.path.join(ROOM, 'runtime.cfg'), traces)
        environment['MFTRACE_CONFIG'] = os.path.join(ROOM, 'runtime.cfg')
    if settings is not None and way == 'LD_PRELOAD':
        environment[way] = ' '.join([LIBRARY, *extra.get(way, '').split()])
    elif settings is not None and way != 'linked':
        environment[way] = LIBRARY
    return environment


def files_below(directory):
    found = {}
    for place, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(place, name)
            with open(path, 'rb') as file:
                found[os.path.relpath(path, directory)] = file.read()
    return found


def traces_read():
    """The events of each process, in the order in which they began."""
    traces = []
    directory = os.path.join(ROOM, 'traces')
    for name in sorted(os.listdir(directory)):
        shown = subprocess.run(['ctrace', 'show', '--json', os.path.join(directory, name)], capture_output=True, timeout=PATIENCE,
                               env=dict(os.environ, CTRACE_CATALOG=os.path.join(SOURCE, 'catalog')))
        events = [json.loads(line) for line in shown.stdout.decode('ascii').splitlines()]
        if events:
            traces.append(events)
    return sorted(traces, key=lambda events: events[0]['time_ns'])


def work_prepare(files):
    shutil.rmtree(WORK, ignore_errors=True)
    os.mkdir(WORK)
    for name, contents in (files or {}).items():
        os.makedirs(os.path.dirname(os.path.join(WORK, name)), exist_ok=True)
        if contents is not None:
            with open(os.path.join(WORK, name), 'wb') as file:
                file.write(contents)


def run(program, *arguments, settings=None, way='LD_PRELOAD', stdin=b'', files=None, env=None, locked=None):
    """settings None: without the library.  locked: a file that this process locks."""
    work_prepare(files)
    if locked is not None:
        holder = open(os.path.join(WORK, locked), 'r+b')
        fcntl.lockf(holder, fcntl.LOCK_EX)
    command = [program] if os.sep in program else [os.path.join(BIN, program)]
    done = subprocess.run([*command, *arguments], cwd=WORK, env=environment_of(settings, way, env or {}), input=stdin,
                          capture_output=True, timeout=PATIENCE)
    if locked is not None:
        holder.close()
    result = Run()
    result.out, result.err, result.status = done.stdout, done.stderr, done.returncode
    result.files = files_below(WORK)
    if settings is not None:
        if done.returncode < 0:
            subprocess.run(['ctrace', 'recover'], capture_output=True, timeout=PATIENCE)
        result.traces = traces_read()
    return result


def contents_of(files, opaque):
    """The bytes of an indexed file have the time of its creation."""
    return {name: len(data) if name in opaque else data for name, data in files.items()}


def run_twice(what, program, *arguments, settings=None, opaque=(), **options):
    """Runs without and with the library: the same is seen.  Returns the traced run."""
    bare = run(program, *arguments, **{**options, 'way': 'linked'})
    traced = run(program, *arguments, settings=settings or Settings(), **options)
    bare.files = contents_of(bare.files, opaque)
    traced.files = contents_of(traced.files, opaque)
    checks.check(f'{what}: output, exit status and files are the same', bare.seen() == traced.seen(),
                 *[pair for pair in zip(bare.seen(), traced.seen()) if pair[0] != pair[1]])
    return traced


# ---- events as text

def item(event, name):
    for one in event['data']:
        if one.get('name') == name:
            return one['value']
    return None


def items(events, number, name, component='mf.rts'):
    return [item(event, name) for event in events if event['event'] == number and event['component'] == component]


def source_line(event):
    line = item(event, 'line')
    if line is None:
        return ''
    number = event['event']
    program = item(event, 'caller' if event['component'] == 'mf.rts' and number in LINE_OF_CALLER else 'program') or ''
    if line == 0 or program.lower() not in sources:
        return f' @ {line}'
    return ' @ ' + sources[program.lower()][line - 1].strip()


def event_word(one):
    text = str(one.get('text', one['value']))
    for place, name in ((WORK + '/', './'), (BIN, 'bin'), (COBOL + '/', '')):
        text = text.replace(place, name)
    text = re.sub(r'^(pipe|socket):\[\d+\]', r'\1', text)
    if len(text) > 60:
        text = f'{text[:50]}...{len(text)}'
    return f'"{text}"' if text == '' or ' ' in text else text


def event_text(event):
    """A line of an .events file; it leaves out what differs from run to run."""
    words = [event_word(one) for one in event['data'] if one.get('name') not in ('duration', 'line', 'version')]
    return ' '.join([event.get('mnemonic', f"{event['component']}:{event['event']}"), event['level'], *words]) + source_line(event)


def lines_of(events):
    return [event_text(event) for event in events]


def same_lines(what, found, wanted):
    checks.clean(what, list(difflib.unified_diff(wanted, found, 'wanted', 'found', n=0, lineterm='')))


def golden(what, name, lines):
    path = os.path.join(COBOL, f'runtime_{name}.events')
    found = ''.join(line + '\n' for line in lines)
    if ACCEPTS:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(found)
    with open(path, encoding='utf-8') as file:
        wanted = file.read()
    same_lines(what, found.splitlines(), wanted.splitlines())


# ---- cases

PROGRAMS_ONLY = Settings({'mf.rts#pgm': 'true', 'mf.mffh.xfh#all': 'true'})
FILES_ONLY = Settings({'mf.mffh.xfh#file:*': 'true'})
INDEXED = ('data/idx.dat', 'data/idx.dat.1', 'data/idxseq.dat')


def programs_in_dialect(dialect):
    """Programs that are traced in full."""
    compile_program('rtsub.so', 'called.cbl', dialect=dialect, kind='-m')
    compile_program('rtagain.so', 'again.cbl', dialect=dialect, kind='-m')
    for name, settings, options in (
            ('calls', Settings(), {}),
            ('paragraphs', Settings(), {}),
            ('terminal', PROGRAMS_ONLY, {'stdin': b'an answer\n123\nlast\n'}),
            ('sort', FILES_ONLY, {}),
            ('bytes', Settings({'mf.mffh.xfh#bsio': 'true'}), {}),
            ('files', PROGRAMS_ONLY, {'stdin': b'from the input\n', 'files': {'data/.keep': b''}, 'opaque': INDEXED})):
        compile_program(name, f'{name}.cbl', dialect=dialect)
        traced = run_twice(f'{name}, -std={dialect}', name, settings=settings, **options)
        golden(f'{name}, -std={dialect}: the events', name, lines_of(traced.events))


def spans_and_times():
    """What the .events files leave out."""
    traced = run('files', settings=PROGRAMS_ONLY, stdin=b'x\n', files={'data/.keep': b''})
    durations = items(traced.events, 1005, 'duration', 'mf.mffh.xfh')
    checks.check('a file statement takes some time, and less than the program', durations and all(
        0 < one < traced.events[-1]['time_ns'] - traced.events[0]['time_ns'] for one in durations), durations)
    version = subprocess.run(['cobcrun', '--version'], capture_output=True, text=True).stdout
    checks.check('the version is that of the run time', items(traced.events, 74, 'version')[0] in version, version)
    opened = [event for event in traced.events if event.get('mnemonic') in ('ENTRY', 'EXIT', 'INIT', 'INITEND', 'DEINIT', 'DEINITEND')]
    checks.check('the ends of a span have its number', all('span' in event for event in opened), opened)


def compile_options():
    """What needs which option of cobc: the table of docs/cobol.md and ctrace-cobol(7)."""
    for flags, wanted in (
            ([], (False, False, False)),
            (['-g'], (True, False, True)),
            (['-ftrace'], (True, True, False)),
            (['-ftraceall'], (True, True, True)),
            (['-debug'], (True, True, True)),
            (['-fsource-location'], (True, False, True))):
        compile_program('options', 'paragraphs.cbl', flags=flags)
        events = run_twice(f'cobc {" ".join(flags) or "without options"}', 'options').events
        found = (any(items(events, 1001, 'line', 'mf.rts.io')), bool(items(events, 1011, 'paragraph') and items(events, 1010, 'section')),
                 bool(items(events, 1012, 'statement')))
        checks.same(f'cobc {" ".join(flags) or "without options"}: lines, paragraphs, statements', found, wanted)
        checks.check(f'cobc {" ".join(flags) or "without options"}: programs', items(events, 6, 'program') == ['rtparas'], lines_of(events))


def ways():
    """LD_PRELOAD, COB_PRE_LOAD, a link in front of -lcob, and cobcrun give the same events."""
    wanted = lines_of(run('calls', settings=Settings()).events)
    without_init = [line for line in wanted if not line.startswith('INIT')]
    run_twice('COB_PRE_LOAD', 'calls', way='COB_PRE_LOAD')
    same_lines('COB_PRE_LOAD has the same events but INIT', lines_of(traces_read()[0]), without_init)
    compile_program('linked', 'calls.cbl', flags=['-debug', '-Q', f'-Wl,--no-as-needed,-rpath,{BUILD},-L{BUILD},-lctrace-cobol'])
    renamed = [line.replace('bin/calls', 'bin/linked').replace('RUNUNIT INFO calls', 'RUNUNIT INFO linked') for line in wanted]
    same_lines('so has a program that is linked with the library', lines_of(run('linked', settings=Settings(), way='linked').events), renamed)
    compile_program('rtcalls.so', 'calls.cbl', kind='-m')
    for way, expected in (('LD_PRELOAD', wanted), ('COB_PRE_LOAD', without_init)):
        traced = run_twice(f'cobcrun, {way}', shutil.which('cobcrun'), 'rtcalls', way=way)
        found = [line for line in lines_of(traced.events) if not re.match('CMDLINE|RUNUNIT|.* rtcalls bin/rtcalls.so|.*SEARCH.* rtcalls', line)]
        same_lines(f'cobcrun, {way}: the events', found, [line for line in expected if not re.match('CMDLINE|RUNUNIT', line)])
        checks.check(f'cobcrun, {way}: the module is searched for and loaded', 'LOADED INFO rtcalls bin/rtcalls.so' in lines_of(traced.events),
                     lines_of(traced.events)[:12])


def static_calls():
    compile_program('static', 'calls.cbl', 'called.cbl', 'again.cbl', flags=['-debug', '-fstatic-call'])
    events = run_twice('CALLs that were resolved when linking', 'static', settings=Settings({'mf.rts#pgm': 'true'})).events
    wanted = [line.split(' @')[0] for line in lines_of(run('calls', settings=Settings({'mf.rts#pgm': 'true'})).events)]
    found = [line.split(' @')[0] for line in lines_of(events)]
    same_lines('they enter the same programs', [line for line in found if line.startswith('ENTRY')],
                [line for line in wanted if line.startswith('ENTRY')])


def endings():
    """STOP RUN, GOBACK, run-time errors, warnings, signals: by the argument of the program."""
    compile_program('errors', 'errors.cbl', 'subprogram.c')
    lines = []
    for way in ('stop-0', 'stop-3', 'stop-300', 'stop-code', 'stop-error', 'goback', 'subscript', 'reference', 'linkage', 'file', 'declarative',
                'numeric', 'call-literal', 'call-dynamic', 'cancel-itself', 'implicit-close', 'warning', 'crash', 'wait', 'abort', 'return'):
        traced = run_twice(way, 'errors', way, settings=PROGRAMS_ONLY)
        lines += [f'{way}:', *(f'  {event_text(event)}' for event in traced.events if event['event'] not in (69, 74, 128, 129, 138))]
        if way == 'crash':
            traced = run_twice('crash, COB_PRE_LOAD', 'errors', way, settings=PROGRAMS_ONLY, way='COB_PRE_LOAD')
            checks.same('COB_PRE_LOAD: a signal is traced', items(traced.events, 1030, 'signal'), [int(signal.SIGSEGV)])
    golden('endings: the events', 'errors', lines)
    found = run('errors', 'call-literal', settings=Settings({})).events
    checks.same('a program that is not found has the number 173', items(found, 255, 'number'), [173])
    checks.same('another error has none', items(run('errors', 'subscript', settings=Settings({})).events, 255, 'number'), [0])


def signals_in_the_allocator():
    """libcob's handler frees memory, and may not wait for a lock that its own thread holds."""
    compile_program('allocating', 'allocating.cbl', flags=())
    for number in (signal.SIGTERM, signal.SIGINT):
        ended = []
        for round_number in range(20):
            work_prepare(None)
            child = subprocess.Popen([os.path.join(BIN, 'allocating')], cwd=WORK, env=environment_of(Settings({}), 'LD_PRELOAD', {}),
                                     stderr=subprocess.PIPE)
            child.stderr.readline()
            time.sleep(0.003 + 0.0007 * round_number)
            child.send_signal(number)
            try:
                child.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.communicate()
            ended.append(child.returncode)
            if ended[-1] != number:
                break
        checks.same(f'{number.name} ends a program that allocates', ended, [int(number)] * 20)


def property_by_property():
    """Each property of mf.rts adds its events, and no others."""
    full = run('calls', settings=Settings()).events
    numbers = set().union(*OF_PROPERTY.values())
    for name in [None, *OF_PROPERTY]:
        wanted = [line for event, line in zip(full, lines_of(full))
                  if event['component'] != 'mf.rts' or event['event'] not in numbers or event['event'] in OF_PROPERTY.get(name, ())]
        found = run('calls', settings=Settings({f'mf.rts#{name}': 'true'} if name else {})).events
        same_lines(f'mf.rts#{name}', lines_of(found), wanted)


def file_properties():
    def of_files(**settings):
        traced = run('files', settings=Settings(**settings), stdin=b'from the input\n', files={'data/.keep': b''})
        return [event for event in traced.events if event['component'] == 'mf.mffh.xfh']

    full = of_files(properties={'mf.mffh.xfh#all': 'true'})
    texts = lines_of(full)

    def is_error(event):
        return event['level'] == 'ERROR'

    def chosen(choose):
        return [line for event, line in zip(full, texts) if choose(event)]

    same_lines('without a property only errors are traced', lines_of(of_files(properties={})), chosen(is_error))
    same_lines('base adds the calls of the file handler', lines_of(of_files(properties={'mf.mffh.xfh#base': 'true'})),
                chosen(lambda event: is_error(event) or event['event'] < 1000))
    same_lines('file:* has each statement', lines_of(of_files(properties={'mf.mffh.xfh#file:*': 'true'})),
                chosen(lambda event: event['event'] > 1000))
    for name in ('REL-FILE', 'rel-file', 'rel.dat'):
        same_lines(f'file:{name} has those of the file', lines_of(of_files(properties={f'mf.mffh.xfh#file:{name}': 'true'})),
                    chosen(lambda event: event['event'] > 1000 and (is_error(event) or item(event, 'select') == 'rel-file')))
    checks.check('COMMIT, ROLLBACK are among them', {'COMMIT', 'ROLLBACK'} <= {event.get('mnemonic') for event in full}, texts)
    same_lines('level info leaves out what succeeds with records',
               lines_of(of_files(properties={'mf.mffh.xfh#all': 'true'}, levels={'mf': 'info'})), chosen(lambda event: event['level'] != 'DEBUG'))
    same_lines('level error leaves errors', lines_of(of_files(properties={'mf.mffh.xfh#all': 'true'}, levels={'mf': 'error'})), chosen(is_error))
    checks.same('without a level there is no event', of_files(properties={'mf.mffh.xfh#all': 'true'}, levels={}), [])
    checks.same('nor of other components', run('files', settings=Settings(levels={'mf.mffh.xfh': 'info'}), files={'data/.keep': b''}).events[0]
                ['component'], 'mf.mffh.xfh')

    checks.same('all has no records', items(full, 1005, 'record', 'mf.mffh.xfh')[0], None)
    records = of_files(properties={'mf.mffh.xfh#all': 'true', 'mf.mffh.xfh#records': 'true'})
    wanted = {'WRITE': b'first'.ljust(20), 'READNEXT': b'first'.ljust(20), 'REWRITE': b'changed'.ljust(20), 'READ': b'three'.ljust(12)}
    for mnemonic, record in wanted.items():
        found = [item(event, 'record') for event in records if event.get('mnemonic') == mnemonic and item(event, 'record') is not None]
        checks.same(f'records: {mnemonic} has the record area', found[0], record.hex().upper())
    checks.same('records: each event has as many bytes as it reports', [
        event_text(event) for event in records if item(event, 'record') is not None and len(item(event, 'record')) != 2 * item(event, 'bytes')], [])
    checks.same('records: errors have none', [event_text(event) for event in records
                                              if item(event, 'status') and item(event, 'status')[0] != '0' and item(event, 'record')], [])


def many_fields(count):
    """A program that displays so many fields at once."""
    name = f'many{count}'
    path = os.path.join(ROOM, f'{name}.cbl')
    with open(path, 'w', encoding='ascii') as file:
        file.write(f'identification division.\nprogram-id. {name}.\ndata division.\nworking-storage section.\n')
        file.writelines(f'01 f{at} pic 9(3) value {at}.\n' for at in range(count))
        file.write('procedure division.\n  display\n')
        file.writelines(f'    f{at}\n' for at in range(count))
        file.write('  stop run.\n')
    compile_program(name, path)
    traced = run_twice(f'DISPLAY of {count} fields', name)
    checks.same(f'DISPLAY of {count} fields: the text', ''.join(items(traced.events, 1001, 'text', 'mf.rts.io')),
                ''.join(f'{at:03}' for at in range(count)))


def many_files(count):
    """A program with so many files, which it uses in turn."""
    path = os.path.join(ROOM, 'manyfiles.cbl')
    with open(path, 'w', encoding='ascii') as file:
        file.write('identification division.\nprogram-id. manyfiles.\nenvironment division.\ninput-output section.\nfile-control.\n')
        file.writelines(f'select file-{at} assign to "file-{at}.txt" organization is line sequential.\n' for at in range(count))
        file.write('data division.\nfile section.\n')
        file.writelines(f'fd file-{at}.\n01 record-{at} pic x(9).\n' for at in range(count))
        file.write('procedure division.\n')
        for statement in ('open output file-{0}', 'write record-{0} from "{0}"', 'close file-{0}'):
            file.writelines(f'  {statement.format(at)}\n' for at in range(count))
        file.write('  stop run.\n')
    compile_program('manyfiles', path)
    traced = run_twice(f'{count} files', 'manyfiles', settings=FILES_ONLY)
    same_lines(f'{count} files: each has its path at each statement', lines_of(traced.events)[5:5 + 3 * count], [
        f'{mnemonic} file-{at} ./file-{at}.txt LINE-SEQUENTIAL OUTPUT 0 00 {size} manyfiles @ {statement.format(at)}'
        for mnemonic, size, statement in (('OPEN INFO', 0, 'open output file-{0}'), ('WRITE DEBUG', 9, 'write record-{0} from "{0}"'),
                                          ('CLOSE INFO', 0, 'close file-{0}'))
        for at in range(count)])


def many_paragraphs(count):
    """Modules in turn, each with as many paragraphs, of which every tenth has the longest name; CANCEL unloads them."""
    def name_of(module, number):
        return f'{module}-{number}'.ljust(31, 'x') if number % 10 == 0 else f'{module}-{number}'

    for module in ('a', 'b'):
        path = os.path.join(ROOM, f'many{module}.cob')
        with open(path, 'w', encoding='ascii') as file:
            file.write(f'program-id. many{module}.\nprocedure division.\n    perform 2 times\n')
            file.writelines(f'        perform {name_of(module, number)}\n' for number in range(count))
            file.write('    end-perform\n    goback.\n')
            file.writelines(f'{name_of(module, number)}.\n    continue.\n' for number in range(count))
        compile_program(f'many{module}.so', path, flags=['-ftrace'], kind='-m')
    path = os.path.join(ROOM, 'many.cob')
    with open(path, 'w', encoding='ascii') as file:
        file.write('program-id. many.\nprocedure division.\nmany-main.\n')
        file.writelines(f'    call "many{module}" cancel "many{module}"\n' for module in 'abab')
        file.write('    stop run.\n')
    compile_program('many', path, flags=['-ftrace'])
    traced = run_twice(f'modules of {count} paragraphs', 'many', settings=Settings(extra='ctrace.buffer = 4M\n'),
                       env={'COB_PHYSICAL_CANCEL': 'yes'})
    found = list(zip(items(traced.events, 1011, 'program'), items(traced.events, 1011, 'paragraph')))
    wanted = [(f'many{module}', name_of(module, number)) for module in 'abab' for _ in range(2) for number in range(count)]
    checks.check(f'modules of {count} paragraphs: each has its name', [pair for pair in found if pair[0] != 'many'] == wanted,
                 len(found), *[pair for pair in zip(found[1:], wanted) if pair[0] != pair[1]][:5])


def files_of_other_kinds():
    compile_program('large', 'large.cbl')
    traced = run_twice('a record of 100000 bytes', 'large',
                       settings=Settings({'mf.mffh.xfh#all': 'true', 'mf.mffh.xfh#records': 'true'}, extra='ctrace.buffer = 4M\n'))
    checks.same('its size is traced', items(traced.events, 1005, 'bytes', 'mf.mffh.xfh'), [100000])
    checks.same('its beginning is traced', items(traced.events, 1005, 'record', 'mf.mffh.xfh'), [(b'large' * 20000)[:65536].hex().upper()])

    compile_program('extfh', 'sort.cbl', flags=['-debug', '-fcallfh=EXTFH'])
    traced = run_twice('a file handler of its own', 'extfh', settings=FILES_ONLY)
    checks.check('a file handler of its own: its files are traced', {'OPEN', 'WRITE', 'CLOSE'} <= {
        event.get('mnemonic') for event in traced.events if item(event, 'file') == os.path.join(WORK, 'unsorted.txt')}, lines_of(traced.events))
    run_twice('modules that CANCEL unloads', 'calls', env={'COB_PHYSICAL_CANCEL': 'yes'})

    compile_program('external', 'external.cbl')
    for name in ('opens', 'closes'):
        compile_program(f'rt{name}.so', f'{name}.cbl', kind='-m')
    traced = run_twice('an EXTERNAL file', 'external', settings=FILES_ONLY)
    golden('an EXTERNAL file: the events', 'external', [event_text(event) for event in traced.events if event['component'] == 'mf.mffh.xfh'])

    compile_program('missing', 'missing.cbl')
    for _ in range(3):
        run_twice('a file that is closed, and opened by a name that there is not', 'missing')

    compile_program('reopened', 'reopened.cbl', 'subprogram.c')
    traced = run_twice('refused OPENs, errno, and descriptors that a program closes', 'reopened', settings=FILES_ONLY)
    golden('refused OPENs: the events', 'reopened', [event_text(event) for event in traced.events if event['component'] == 'mf.mffh.xfh'])

    compile_program('churn', 'churn.cbl', 'subprogram.c')
    traced = run_twice('an indexed file beside a thread with files', 'churn', settings=FILES_ONLY, opaque=('idx.dat',))
    checks.same('an indexed file beside a thread with files: its path', set(items(traced.events, 1001, 'file', 'mf.mffh.xfh')),
                {os.path.join(WORK, 'idx.dat')})

    compile_program('locked', 'locked.cbl')
    traced = run_twice('a file that is locked', 'locked', settings=FILES_ONLY, files={'locked.dat': b'x' * 10}, locked='locked.dat')
    checks.same('a file that is locked: OPEN has the status and is an error',
                [(event['level'], item(event, 'status')) for event in traced.events if event.get('mnemonic') == 'OPEN'], [('ERROR', '61')])


def processes():
    compile_program('parent', 'parent.cbl')
    compile_program('paragraphs', 'paragraphs.cbl')
    traced = run_twice('a child, and a program that a shell runs', 'parent', os.path.join(BIN, 'paragraphs'), settings=Settings({}))
    found = [(events[0]['program'], items(events, 1001, 'text', 'mf.rts.io'), items(events, 254, 'code'), items(events, 139, 'code'))
             for events in traced.traces]
    checks.check('each process has its own trace', len(found) == 3 and found[1][0] == 'parent' and found[1][1:] == (['child'], [6], [6]) and
                 found[2] == ('paragraphs', ['turns 2', 'more than one'], [0], [0]), found)
    checks.check('the first has what it has done itself', found[0][1][0] == 'before' and 'child' not in found[0][1] and found[0][2:] == ([0], [0]),
                 found)

    compile_program('tidied', 'tidied.c')
    run_twice('the run time is used after its end', 'tidied')
    run_twice('a signal comes after its end', 'tidied', 'signal')

    compile_program('main', 'main.c')
    traced = run_twice('a program in C that calls COBOL', 'main', settings=PROGRAMS_ONLY)
    golden('a program in C: the events', 'main', lines_of(traced.events))

    loads = 'import ctypes; cob = ctypes.CDLL("libcob.so.4"); cob.cob_init(0, None); cob.cob_tidy(); print("done")'
    traced = run_twice('a program that finds libcob by dlopen', sys.executable, '-c', loads)
    checks.same('a program that finds libcob by dlopen is not traced', traced.traces, [])

    before = set(os.listdir(os.environ['CTRACE_RUN_DIR']))
    traced = run(shutil.which('sh'), '-c', 'echo shell', settings=Settings())
    checks.same('a process without COBOL: its output', (traced.out, traced.err, traced.status), (b'shell\n', b'', 0))
    checks.same('it traces nothing', traced.traces, [])
    checks.same('it is not in the run directory', set(os.listdir(os.environ['CTRACE_RUN_DIR'])) - before, set())


def unknown_version():
    library = os.path.join(ROOM, 'version.so')
    subprocess.run(['cc', '-shared', '-fPIC', '-o', library, source_of('version.c')], check=True)
    traced = run('paragraphs', settings=Settings(), env={'LD_PRELOAD': library})
    checks.same('a run time of another version: the program runs', (traced.out, traced.status), (b'turns 2\nmore than one\n', 0))
    checks.same('it is reported', [event['level'] for event in traced.events if event['event'] == 1000], ['WARN'])
    checks.check('paragraphs are traced, and no name or line of the program', items(traced.events, 1011, 'paragraph') and
                 set(items(traced.events, 1011, 'program')) == {''} and set(items(traced.events, 1011, 'line')) == {0}, lines_of(traced.events))



# ---- operators

def operator():
    """A batch that runs is switched by ctrace prop, ctrace level, and TRACE CT."""
    compile_program('batch', 'batch.cbl')
    work_prepare(None)
    environment = environment_of(Settings({}, levels={}), 'LD_PRELOAD', {})
    with subprocess.Popen([os.path.join(BIN, 'batch')], cwd=WORK, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as batch:
        def work(request):
            batch.stdin.write(request + b'\n')
            batch.stdin.flush()
            return batch.stdout.readline()

        def command(*words):
            done = subprocess.run(['ctrace', *words], capture_output=True, text=True, timeout=PATIENCE)
            checks.clean(f'ctrace {" ".join(words)}', done.stdout + done.stderr if done.returncode else '')

        pid = str(batch.pid)
        work(b'off')
        command('level', '-p', pid, 'mf', 'debug')
        work(b'debug')
        command('prop', '-p', pid, 'mf.mffh.xfh', 'file:work-file', 'true')
        work(b'file')
        command('prop', '-p', pid, 'mf.rts', 'paragraphs', 'true')
        work(b'paragraphs')
        command('prop', '-p', pid, 'mf.mffh.xfh', 'file:work-file', 'false')
        command('level', '-p', pid, 'mf.rts.io', 'none')
        work(b'no-file')
        command('level', '-p', pid, 'mf', 'none')
        work(b'none')
        command('op', '--reply', 'END', 'TRACE CT,ON,COMP=MF,SUB=(RTS)')
        work(b'operated')
        command('op', '--reply', 'END', 'TRACE CT,OFF,COMP=MF,SUB=(RTS)')
        batch.communicate(b'end\n')
    golden('an operator switches the trace of a batch', 'batch', lines_of(traces_read()[0] if traces_read() else []))


# ---- a terminal

def on_terminal(program, typed, settings):
    work_prepare(None)
    environment = environment_of(settings, 'LD_PRELOAD', {'TERM': 'xterm'})
    pid, terminal = pty.fork()
    if pid == 0:
        attributes = termios.tcgetattr(0)
        attributes[3] &= ~termios.ECHO  # of what is typed before the program has set the terminal
        termios.tcsetattr(0, termios.TCSANOW, attributes)
        os.write(1, b'ready')
        os.chdir(WORK)
        os.execve(os.path.join(BIN, program), [program], environment)
    shown = os.read(terminal, 5)
    os.write(terminal, typed)
    while True:
        try:
            got = os.read(terminal, 4096)
        except OSError:
            got = b''
        if not got:
            break
        shown += got
    os.close(terminal)
    return shown, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def secrets():
    compile_program('secret', 'secret.cbl')
    typed = b'seen\rsecret1\rsecret2\rplain\r'
    bare = on_terminal('secret', typed, None)
    traced = on_terminal('secret', typed, PROGRAMS_ONLY)
    checks.same('ACCEPT on a screen: what the terminal shows is the same', traced, bare)
    events = traces_read()[0]
    golden('what is accepted without an echo is not traced', 'secret', [event_text(event) for event in events if event['component'] == 'mf.rts.io'])
    checks.check('nor is it anywhere else', 'secret1' not in json.dumps(events) and 'secret2' not in json.dumps(events))


def main():
    os.mkdir(BIN)
    for dialect in ('default', 'mf'):
        programs_in_dialect(dialect)
    spans_and_times()
    compile_options()
    ways()
    static_calls()
    endings()
    signals_in_the_allocator()
    property_by_property()
    file_properties()
    for count in (16, 17, 40, 128, 129, 300):
        many_fields(count)
    many_files(600)
    many_paragraphs(700)
    files_of_other_kinds()
    processes()
    unknown_version()
    operator()
    secrets()
    return checks.end()


sys.exit(main())
