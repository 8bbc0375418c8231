"""Runs of the tool's verbs, disturbed by faults: what the sweeps over allocations and system calls share.

A sweep runs each case once without a fault.  A disturbed run then either ends with the same status
and has printed and written the same, byte for byte, or it ends with the status of a failure and one
reason on standard error, and has left no file.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import base64
import concurrent.futures
import glob
import os
import queue
import re
import shutil
import signal
import subprocess
import time
import zlib

BUILD = os.environ['CTRACE_BUILD']
TOOL = os.path.join(BUILD, 'ctrace')
IS_LONG = bool(os.environ.get('CTRACE_TEST_LONG'))
PATIENCE = 20  # seconds, only to stop what hangs
TOP = os.getcwd()
WORKERS = 2

COPYBOOK = '''\
       01  CUSTOMER.
           05  CUST-ID         PIC 9(6).
           05  CUST-NAME       PIC X(12).
           05  CUST-STATUS     PIC X.
               88  CUST-ACTIVE     VALUE "A".
           05  MONEY OCCURS 1 TO 1 DEPENDING ON CUST-ID.
               10  BALANCE     PIC S9(5)V99 SIGN LEADING SEPARATE.
           05  FILLER          PIC X(4).
'''

CATALOG = '''\
component: SHOP.ORDER
description: Orders
events:
  10: {mnemonic: ORDER, exit: 11, arguments: [number]}
  11: {mnemonic: ORDEREND, arguments: [number]}
  20: {mnemonic: READ, exit: 21, arguments: [number]}
  21: READEND
  30:
    mnemonic: CUSTOMER
    arguments:
      - {name: rec, copybook: CUSTREC.cpy}
      - change
  40:
    mnemonic: ODD
    arguments:
      - text
      - {name: mode, print: enumeration, values: {NONE: 0, ONE: 1, TWO: 2}}
      - {name: bits, print: flags, values: {READ: 1, WRITE: 2, LOCK: 4}}
'''

CONFIG = '''\
mftrace.level = debug
mftrace.dest = binfile
mftrace.level.shop.order = info
ctrace.buffer = 64K
mftrace.nothing = 1
'''

MEMBER = '''\
TRACEOPTS
  ON
  ASID(1,2)
  BUFSIZE(64K)
  OPTIONS('GET','KEYS')
'''

PROCEDURE = '''\
TRCOUT01 PATH=/var/tmp/none/one PRIMARY=1M SECONDARY=1M
TRCOUT02 PATH=/var/tmp/none/two PRIMARY=1M
MODE=WRAP
'''

FILTER = 'event in (10..40) && data[0] ~ "*a*" || duration > 1us || component ~ "shop.jobs"'
IPCS = 'CTRACE COMP(SHOP) SUB((ORDER)) '


class Case:
    """A verb with its words.  `live`: it asks the running process, and its numbers change by themselves."""

    def __init__(self, name, words, stdin='', live=False):
        self.name, self.words, self.stdin, self.live = name, words, stdin, live


def reading_cases():
    catalog = ['--catalog', 'shop.yaml']
    yield Case('show', ['show', *catalog, 'trace'])
    yield Case('show, damaged', ['show', 'damaged'])
    yield Case('show, with losses, generations', ['show', 'losing'])
    yield Case('show, compressed', ['show', 'packed'])
    yield Case('show, another tracer', ['show', 'lttng-lost'])
    yield Case('show --json, another tracer', ['show', '--json', 'barectf', 'trace'])
    yield Case('show --records', ['show', '--records', '--nesting', '--sequence', *catalog, FILTER, 'trace'])
    yield Case('show --json', ['show', '--json', *catalog, 'trace'])
    yield Case('show --count', ['show', '--count', 'losing', 'trace'])
    yield Case('show --reverse', ['show', '--reverse', '--limit', '5', 'trace'])
    yield Case('show --tail', ['show', '--tail', '5', '--since', '00:00:00', 'trace'])
    yield Case('show --context', ['show', '--context', '2', 'event == 40', 'trace'])
    for form in 'csv', 'json', 'chrome', 'perfetto':
        yield Case(f'export {form}', ['export', '--format', form, *catalog, '--output', 'out/file', 'trace'])
    yield Case('export chrome to stdout, with losses', ['export', '--format', 'chrome', 'losing'])
    yield Case('export csv to stdout', ['export', '--format', 'csv', *catalog, 'trace'])
    yield Case('export common-trace-format', ['export', '--format', 'common-trace-format', *catalog, '--output', 'out/directory', 'trace'])
    yield Case('export common-trace-format, with losses', ['export', '--format', 'common', '--output', 'out/directory', 'losing', 'trace'])
    yield Case('report', ['report', *catalog, '--output', 'out/page.html', 'trace'])
    yield Case('open', ['open', *catalog, '--output', 'out/page.html', 'trace'])
    yield Case('report, with losses', ['report', '--output', 'out/page.html', 'losing'])
    yield Case('stats', ['stats', *catalog, 'trace'])
    yield Case('stats --json', ['stats', '--json', *catalog, 'trace', 'lttng-lost', 'packed'])
    yield Case('diff', ['diff', *catalog, 'trace', 'trace/stream.0'])
    yield Case('diff --json', ['diff', '--json', *catalog, 'trace', 'losing'])
    yield Case('repair', ['repair', '--output', 'out/good', 'trace'])
    yield Case('repair, damaged', ['repair', '--output', 'out/good', 'damaged'])
    yield Case('repair, several', ['repair', '--output', 'out/good', 'losing', 'packed'])
    yield Case('ipcs', ['ipcs', *catalog, IPCS + 'FULL JOBLIST(SHOPJOB,B) ENTIDLIST(1:FF)', IPCS + 'TALLY', 'CTRACE QUERY', 'trace'])
    yield Case('ipcs MERGE', ['ipcs', *catalog, 'MERGE', IPCS + 'SHORT', 'CTRACE COMP(SHOP) SUB((JOBS)) FULL', 'MERGEEND', 'trace'])
    yield Case('ipcs COPYTRC', ['ipcs', "COPYTRC OUTDATASET('out/copy')", 'trace'])
    for kind in 'check', 'doc', 'header', 'copybook':
        yield Case(f'catalog {kind}', ['catalog', kind, 'shop.yaml'])
    yield Case('config check', ['config', 'check', 'cfg'])
    yield Case('parmlib check', ['parmlib', 'check', './CTSHOP00'])
    yield Case('parmlib print', ['parmlib', 'print', './CTSHOP00'])
    yield Case('writer --check', ['writer', '--check', 'WTRSHOP'])
    yield Case('explain', ['explain', '8', '6'])
    yield Case('help', ['help'])
    yield Case('help show', ['help', 'show'])


def live_cases():
    yield Case('list', ['list'], live=True)
    yield Case('list --json', ['list', '--json'], live=True)
    yield Case('stats of processes', ['stats'], live=True)
    yield Case('stats --json of processes', ['stats', '--json'], live=True)
    yield Case('show of processes', ['show'], live=True)
    yield Case('tail', ['tail', '--from-start', '--limit', '6', '--for', '0.1'], live=True)
    yield Case('tail --json', ['tail', '--json', '--last', '3', '--limit', '3', '--for', '0.1'], live=True)
    yield Case('top --batch', ['top', '--batch', '--iterations', '1', '--interval', '0.1'], live=True)
    yield Case('top --json', ['top', '--batch', '--json', '--iterations', '1', '--interval', '0.1'], live=True)
    yield Case('level', ['level', 'tool.main'], live=True)
    yield Case('level, changed', ['level', 'tool.main', 'debug'], live=True)
    yield Case('dest', ['dest', 'tool.main'], live=True)
    yield Case('prop', ['prop', 'emitter:TEXTFILE', 'FORMAT'], live=True)
    yield Case('reload', ['reload'], live=True)
    yield Case('flush', ['flush'], live=True)
    yield Case('op', ['op', 'DISPLAY TRACE', 'DISPLAY TRACE,COMP=TOOL,SUB=(MAIN)'], live=True)
    yield Case('op TRACE CT', ['op', 'TRACE CT,ON,COMP=TOOL,SUB=(MAIN)', '--reply', 'END'], live=True)
    yield Case('console', ['console'], stdin='DISPLAY TRACE\nend\n', live=True)


# ---- what the verbs work on

def put(path, text):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with open(path, 'w', encoding='ascii') as file:
        file.write(text)


def trace_orders(config, to):
    """The sample program's BINFILE and its generations, in a directory."""
    settings = {'MFTRACE_CONFIG': os.path.abspath(config), 'CTRACE_JOBNAME': 'SHOPJOB', 'MFTRACE_LOGS': os.path.abspath(to)}
    os.makedirs(to, exist_ok=True)
    subprocess.run([os.path.join(BUILD, 'tests/orders'), '20'], check=True, env={**os.environ, **settings})


def prepare():
    """The files that the cases name, once, in `stock`.  None, or why it cannot be done here."""
    if 'asan' in subprocess.run(['ldd', TOOL], capture_output=True, check=False).stdout.decode():
        return 'a sanitizer has an allocator of its own'
    put('cfg.plain', 'mftrace.level = debug\nmftrace.dest = binfile\n')
    put('cfg.small', 'mftrace.level = debug\nmftrace.dest = binfile\nctrace.buffer = 4K\nctrace.overflow = discard\n'
        'mftrace.emitter.binfile#maxfilesize = 16K\nmftrace.emitter.binfile#maxgeneration = 5\n')
    trace_orders('cfg.plain', 'made')
    os.makedirs('stock')
    os.rename(glob.glob('made/orders*.ctb')[0], 'stock/trace')
    trace_orders('cfg.small', 'stock/losing')
    shutil.copytree('stock/trace', 'stock/packed')
    subprocess.run(['zstd', '-q', '--rm', *glob.glob('stock/packed/stream.*')], check=True)
    for name in 'lttng-lost', 'barectf':
        shutil.copytree(os.path.join(os.environ['CTRACE_SOURCE'], 'tests/golden/third_party', name), os.path.join('stock', name))
    shutil.copytree('stock/trace', 'stock/damaged')
    with open('stock/damaged/stream.0', 'r+b') as file:
        file.seek(700)
        file.write(b'\0' * 90)
    put('stock/CUSTREC.cpy', COPYBOOK)
    put('stock/shop.yaml', CATALOG)
    put('stock/cfg', CONFIG)
    put('stock/CTSHOP00', MEMBER)
    put('stock/proclib/WTRSHOP', PROCEDURE)
    return None


class Subject:
    """A traced process for the live cases, with events in its rings."""

    def __init__(self):
        self.run_dir = os.path.join(TOP, 'live')
        os.makedirs(self.run_dir, mode=0o700, exist_ok=True)
        put('cfg.live', 'mftrace.level = debug\n')
        self.process = subprocess.Popen([os.path.join(BUILD, 'tests/tool_subject'), '8'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, 'CTRACE_RUN_DIR': self.run_dir, 'MFTRACE_CONFIG': os.path.join(TOP, 'cfg.live')})
        self.process.stdout.readline()

    def end(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)


# ---- one run

class Room:
    """A directory for the runs of one worker."""

    def __init__(self, number):
        self.path = os.path.join(TOP, f'room{number}')
        shutil.copytree('stock', self.path)
        os.mkdir(os.path.join(self.path, 'run'), 0o700)


class Done:
    """What a run came to: its status, what it printed, and the files that it left."""

    def __init__(self, case, process, stdout, stderr, room):
        self.status, self.stdout, self.stderr = process.returncode, stdout, stderr
        self.files = files_of(os.path.join(room.path, 'out'))
        self.seen = self.stdout
        if case.live:
            self.seen = re.sub(rb'[-. ]+', b' ', re.sub(rb'[0-9]+', b'9', self.stdout))


def page_of(content):
    """A page of a report without its random number and the time at which it was made."""
    nonce = re.search(rb"'nonce-([0-9a-f]{32})'", content)
    about = re.search(rb'id="data-about">([^<]*)<', content)
    if nonce is None or about is None:
        return content
    plain = re.sub(rb'"made_ns":"[0-9]+"', b'', zlib.decompress(base64.b64decode(about.group(1))))
    return content.replace(nonce.group(1), b'NONCE').replace(about.group(1), plain)


def files_of(directory):
    """Name -> bytes, with the random number of a trace left out."""
    found = {}
    uuids = []
    for at, directories, names in os.walk(directory):
        for name in directories:
            found[os.path.relpath(os.path.join(at, name), directory) + '/'] = b''
        for name in names:
            with open(os.path.join(at, name), 'rb') as file:
                found[os.path.relpath(os.path.join(at, name), directory)] = file.read()
    found = {name: page_of(content) if name.endswith('.html') else content for name, content in found.items()}
    for content in found.values():
        uuids += re.findall(rb'uuid = "([-0-9a-f]{36})"', content)
    for uuid in uuids:
        raw = bytes.fromhex(uuid.decode().replace('-', ''))
        found = {name: content.replace(uuid, b'UUID').replace(raw, b'UUID') for name, content in found.items()}
    return found


def run(case, room, environment, subject=None, stdout=subprocess.PIPE, before=None):
    out = os.path.join(room.path, 'out')
    shutil.rmtree(out, ignore_errors=True)
    os.mkdir(out)
    full = {**os.environ, 'CTRACE_PROCLIB': 'proclib', 'CTRACE_RUN_DIR': subject.run_dir if case.live else os.path.join(room.path, 'run'),
            'TZ': 'America/New_York', 'SSH_TTY': '/dev/pts/1', **environment}  # over SSH no browser is started
    process = subprocess.Popen([TOOL, *case.words], cwd=room.path, env=full, stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE,
                               preexec_fn=before, restore_signals=before is None)
    try:
        printed, said = process.communicate(case.stdin.encode(), timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        printed, said = process.communicate()
        said += b'stopped: it ran too long'
        process.returncode = -signal.SIGALRM
    return Done(case, process, printed or b'', said, room)


def diagnostic_of(done, good, statuses, reason):
    """Why a disturbed run is wrong, or None.  `statuses` are those of a failure, `reason` must be on standard error then."""
    if done.status < 0 or done.status >= 128:
        return f'status {done.status}: {done.stderr.decode(errors="replace")[-200:]}'
    if done.status == good.status and done.seen == good.seen and done.files == good.files:
        return None
    if done.status == good.status and done.status == 0:
        return f'status 0, but {"files differ" if done.seen == good.seen else "the output differs"}'
    if done.status not in statuses:
        return f'status {done.status}: {done.stderr.decode(errors="replace")[-200:]}'
    if re.search(reason, done.stderr) is None:
        return f'status {done.status} without a reason: {done.stderr.decode(errors="replace")[-200:]}'
    left = partial_files(done.files, good.files)
    return f'status {done.status}, and left {left}' if left else None


def partial_files(files, whole):
    """Files that are not as they would be without a fault, or not all of their directory.  A directory is one trace; an empty one is none."""
    wrong = []
    for name, content in files.items():
        directory = os.path.dirname(name)
        companions = {other for other in whole if os.path.dirname(other) == directory and not other.endswith('/')}
        if not name.endswith('/') and (whole.get(name) != content or not companions <= files.keys()):
            wrong.append(name)
    return wrong


# ---- a sweep

def sweep(plans, subject, number=0):
    """Runs plans of (case, make_faults, judge) in WORKERS rooms and prints TAP, behind `number` tests.  The number of bad ones.

    make_faults(case, room) is the run without a fault and [(label, environment)]; judge(done, good) is an error or None."""
    rooms = queue.Queue()
    for worker in range(WORKERS):
        rooms.put(Room(worker))

    def one(case, environment):
        room = rooms.get()
        try:
            return run(case, room, environment, subject)
        finally:
            rooms.put(room)

    bad = runs = 0
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for case, make_faults, judge in plans:
            number += 1
            started = time.monotonic()
            room = rooms.get()
            good, faults = make_faults(case, room)
            rooms.put(room)
            results = [(label, pool.submit(one, case, environment)) for label, environment in faults]
            diagnostics = [f'{label}: {diagnostic}' for label, result in results if (diagnostic := judge(result.result(), good)) is not None]
            runs += len(results)
            bad += bool(diagnostics)
            print(f'{"not ok" if diagnostics else "ok"} {number} - {case.name}: {len(results)} runs', flush=True)
            print(f'#   {time.monotonic() - started:.1f} s', flush=True)
            for diagnostic in diagnostics if os.environ.get('ALL') else diagnostics[:8]:
                print('#   ' + diagnostic.replace('\n', ' | '))
            if len(diagnostics) > 8:
                print(f'#   and {len(diagnostics) - 8} more')
    print(f'1..{number}')
    print(f'# {runs} runs')
    return bad
