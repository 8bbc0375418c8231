#!/usr/bin/env python3
"""OTLP: a receiver that decodes with the official schema has every event once, with exact contents, from the destination and from ctrace export.

The receiver is otlp_receiver.py.  It answers late, with errors, with partial success, dies and comes again; what was emitted is then what was
received and what was counted.
"""
import base64
import collections
import contextlib
import json
import os
import re
import struct
import subprocess
import sys
import threading

sys.path[:0] = [os.path.join(os.environ['CTRACE_SOURCE'], at) for at in ('tests', 'tests/process')]

import otlp_receiver
import tap
from otlp_receiver import Receiver

BUILD = os.environ['CTRACE_BUILD']
SUBJECT = os.path.join(BUILD, 'tests/otlp_subject')
test = tap.Tap(is_live=True)

if not os.path.exists(os.path.join(BUILD, 'modules/otlp.so')):
    test.skip('OTLP', 'otlp.so was not built: libcurl or protobuf-c is missing')
    sys.exit(test.end())

CATALOG = """component: OTLP.TEST
events:
  1: {mnemonic: COUNT, arguments: [{name: number}]}
  10: {mnemonic: OUTER, description: an outer call, exit: 11, arguments: [{name: number}, {name: kind}]}
  11: {mnemonic: OUTER_END, arguments: [{name: number}, {name: rc, role: status}]}
  20: {mnemonic: INNER, exit: 21, arguments: [{name: kind}]}
  21: {mnemonic: INNER_END, arguments: [{name: rc, role: status}]}
  103: {mnemonic: COLOR, arguments: [{name: color, print: enumeration, values: {RED: 3}}]}
  300: {mnemonic: RECORD, arguments: [{name: customer, print: record, copybook: CUST.cpy}]}
"""
COPYBOOK = """       01 CUST.
          05 CUST-ID PIC 9(6).
          05 CUST-NAME PIC X(14).
             88 IS-ADA VALUE "ADA LOVELACE".
          05 CUST-DIGITS PIC 9 OCCURS 5.
          05 CUST-CENTS PIC V99.
"""
open('OTLP.TEST.yaml', 'w').write(CATALOG)
open('CUST.cpy', 'w').write(COPYBOOK)
os.environ['CTRACE_CATALOG'] = os.path.abspath('OTLP.TEST.yaml')


class Subject:
    """The traced program; with settings of the destination, and lines of the configuration."""

    def __init__(self, url, *lines, dest='otlp', **properties):
        with open('subject.cfg', 'w') as file:
            for line in [f'mftrace.dest = {dest}', 'mftrace.level.OTLP.TEST = debug', *lines]:
                print(line, file=file)
            for name, value in {'url': url, **properties}.items():
                print(f'mftrace.emitter.otlp#{name} = {value}', file=file)
        settings = {**os.environ, 'MFTRACE_CONFIG': os.path.abspath('subject.cfg')}
        self.process = subprocess.Popen([SUBJECT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=settings)
        self.pid = self.process.pid

    def say(self, *orders):
        print(*orders, sep='\n', file=self.process.stdin, flush=True)

    def flush(self):
        self.say('flush')
        return self.process.stdout.readline().strip()

    def deliver(self):
        while self.flush() != 'ok':
            pass

    def end(self, how='exit'):
        self.say(how)
        self.process.stdin.close()
        return self.process.wait()


def numbers(records):
    return [one.attributes['number'] for one in records if one.event_name == 'COUNT']


def own(records, name):
    return sum(one.attributes['ctrace.events'] for one in records if one.event_name == name)


def uids(records):
    return [one.attributes['log.record.uid'] for one in records if 'log.record.uid' in one.attributes]


def tool(*arguments):
    return subprocess.run(['ctrace', *arguments], capture_output=True, text=True, errors='replace')


def body_once(records):
    """The number of records that are there more than once."""
    return sum(count - 1 for count in collections.Counter(uids(records)).values())


# ---- what an event becomes
receiver = Receiver()
subject = Subject(receiver.url, 'mftrace.emitter.binfile#file = both.ctb', f'mftrace.emitter.binfile#location = {os.getcwd()}', dest='otlp binfile')
subject.say('levels', 'items', 'record', 'spans 2')
test.same('a flush sends everything', subject.flush(), 'ok')
subject.end()
shown = [json.loads(line) for line in tool('show', '--json', 'both.ctb').stdout.splitlines()]
logs, spans = receiver.logs, receiver.spans
test.same('each event is a log record', len(logs), 5 + 1 + 1 + 10)
# Both emitters compute times from ticks, at different moments: in the first milliseconds of a process that makes microseconds.
test.clean('with its time', [(one.time_unix_nano, other['time_ns']) for one, other in zip(logs, shown) if abs(one.time_unix_nano - other['time_ns']) > 100_000])
test.same('severities of the levels', [(one.severity_number, one.severity_text) for one in logs[:5]],
          [(5, 'DEBUG'), (9, 'INFO'), (13, 'WARN'), (17, 'ERROR'), (21, 'FATAL')])
test.same('the scope is the component', {one.scope for one in logs + spans}, {'OTLP.TEST'})
test.same('event ids', [one.attributes['ctrace.event.id'] for one in logs], [one['event'] for one in shown])
test.same('the mnemonic, or else the number', [one.event_name for one in logs[:7]], ['100', '101', '102', 'COLOR', '104', '200', 'RECORD'])
test.same('the same as an attribute', [one.attributes['event.name'] for one in logs], [one.event_name for one in logs])
test.same('the thread', {one.attributes['thread.id'] for one in logs}, {subject.pid})
resource = logs[0].resource
test.same('the resource is the process', {name: resource.get(name) for name in
          ('service.name', 'host.name', 'process.pid', 'process.executable.name', 'process.command_line', 'ctrace.jobname')},
          {'service.name': 'OTLP_SUB', 'host.name': os.uname().nodename, 'process.pid': subject.pid, 'process.executable.name': 'otlp_subject',
           'process.command_line': SUBJECT, 'ctrace.jobname': 'OTLP_SUB'})
test.check('with its ASID', re.fullmatch('[0-9A-F]{4}', resource['ctrace.asid']), resource)
items = {name: value for name, value in logs[5].attributes.items() if name.startswith('item.')}
test.same('items of each type', items, {
    'item.1': 173, 'item.2': -5, 'item.3': '18446744073709551615', 'item.4': 'my\tprog', 'item.5': 'a\\u{0}b\\xFF', 'item.6': b'\x01\x02\xff',
    'item.7': '0x7FFC0010', 'item.8': 'grüß'})
test.same('items have the names and words of the catalogue', logs[3].attributes['color'], 'RED')
test.same('a COBOL record is nested attributes', logs[6].attributes['customer'],
          {'CUST-ID': 42, 'CUST-NAME': 'ADA LOVELACE', 'CUST-NAME.88': ['IS-ADA'], 'CUST-DIGITS': [0, 0, 1, 2, 3], 'CUST-CENTS': 0.45})
test.same('the body is a line', [logs[0].body, logs[5].body, logs[7].body],
          ['100 0', '200 173 -5 18446744073709551615 "my\\tprog" "a\\u{0}b\\xFF" 0102FF 0x7FFC0010 "grüß"',
           'OUTER (an outer call) number=0 kind="outer"'])
test.same('paired events are spans, the inner one first', [one.name for one in spans], ['INNER', 'OUTER', 'INNER', 'OUTER'])
inner, outer = spans[:2]
test.same('the inner span is within the outer one', (inner.trace_id, inner.parent_span_id), (outer.trace_id, outer.span_id))
test.same('the outermost span has no parent', outer.parent_span_id, b'')
test.check('each outermost span is a trace', spans[1].trace_id != spans[3].trace_id)
test.same('ids have their sizes', [(len(one.trace_id), len(one.span_id)) for one in spans], [(16, 8)] * 4)
test.same('four spans have four ids', len({one.span_id for one in spans}), 4)
test.same('a span begins and ends with its events', [(one.start_time_unix_nano, one.end_time_unix_nano) for one in (inner, outer)],
          [(logs[8].time_unix_nano, logs[10].time_unix_nano), (logs[7].time_unix_nano, logs[11].time_unix_nano)])
test.same('a span has the items of both', outer.attributes, {'ctrace.event.id': 10, 'thread.id': subject.pid, 'number': 0, 'kind': 'outer', 'rc': 8})
test.same('its status is that of the exit', [(one.status.code, one.status.message) for one in (inner, outer)], [(0, ''), (2, '8')])
test.same('log records name the span that they are in', [(one.trace_id, one.span_id) for one in logs[7:12]],
          [(outer.trace_id, outer.span_id)] + [(inner.trace_id, inner.span_id)] * 3 + [(outer.trace_id, outer.span_id)])
test.same('and none outside', {one.span_id for one in logs[:7]}, {b''})
test.same('each record has its own identity', len(set(uids(logs))), len(logs))
receiver.stop()

# ---- properties
receiver = Receiver()
subject = Subject(receiver.url + '/', compress='gzip', headers='Authorization=Bearer%20abc, X-Scope-OrgID=team', batch=10)
subject.say('count 100')
subject.deliver()
test.check('gzip: each request is compressed', receiver.zipped == receiver.count > 0, receiver.zipped, receiver.count)
test.same('headers', [(one['Authorization'], one['X-Scope-OrgID']) for one in receiver.headers[:1]], [('Bearer abc', 'team')])
test.same('BATCH: all of them', numbers(receiver.logs), list(range(100)))
test.check('BATCH: no more in a request', receiver.count >= 10, receiver.count)
tasks = {}
for task in os.listdir(f'/proc/{subject.pid}/task'):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
        tasks[open(f'/proc/{subject.pid}/task/{task}/comm').read().strip()] = task
status = open(f"/proc/{subject.pid}/task/{tasks['ctrace-otlp']}/status").read()
test.check('the thread that sends blocks all signals', int(re.search(r'SigBlk:\s*(\w+)', status).group(1), 16) & 0x7FFFFFF == 0x7FFBFEFF & 0x7FFFFFF,
           status)
links = []
for fd in os.listdir(f'/proc/{subject.pid}/fd'):
    with contextlib.suppress(FileNotFoundError):  # a thread has closed it
        links.append(os.readlink(f'/proc/{subject.pid}/fd/{fd}'))
test.clean('the program gets no descriptor to the receiver',
           [one for one in links if one.startswith('socket:') and one.split('[')[1][:-1] in open('/proc/net/tcp').read()])
subject.end()
receiver.stop()

receiver = Receiver()
subject = Subject(receiver.url, level='error')
subject.say('levels')
subject.deliver()
subject.end()
test.same('LEVEL', [one.severity_text for one in receiver.logs], ['ERROR', 'FATAL'])
receiver.stop()

# ---- a process that ends, forks, is killed
receiver = Receiver()
subject = Subject(receiver.url)
subject.say('count 3000')
subject.end()
test.same('what was traced before the end arrives', numbers(receiver.logs), list(range(3000)))
subject = Subject(receiver.url)
subject.say('count 10', 'child 7', 'count 5')
child = int(subject.process.stdout.readline())
subject.deliver()
subject.end()
of = collections.Counter(one.resource['process.pid'] for one in receiver.logs)
test.same('a forked child sends its own events', (of[subject.pid], of[child]), (15, 7))
receiver.stop()

receiver = Receiver(always=503)
subject = Subject(receiver.url)
subject.say('count 2000')
receiver.wait(lambda: receiver.count > 0)
subject.end('kill')
receiver.always = 200
tool('recover')
test.same('events of a process that was killed are sent by ctrace recover', numbers(receiver.logs), list(range(2000)))
test.same('each once', body_once(receiver.logs), 0)
test.same('as those of their process', {one.resource['process.pid'] for one in receiver.logs}, {subject.pid})
receiver.stop()

receiver = Receiver()
subject = Subject(receiver.url)
subject.say('openssl')
subject.process.stdout.readline()
subject.say('count 300')
subject.end()
test.same('without TLS, the end of OpenSSL does not matter', numbers(receiver.logs), list(range(300)))
receiver.stop()

# ---- receivers that are busy, slow, refuse, or die
busy = [503, 502, 504, lambda handler, *_: handler.reply(429, Retry_After='1')]
receiver = Receiver(plan=busy)
subject = Subject(receiver.url)
subject.say('count 500')
subject.deliver()
subject.end()
test.same('502, 503, 504 and 429: the same request again', numbers(receiver.logs), list(range(500)))
test.same('the bodies are the same', len(set(receiver.bodies[:5])), 1)
test.same('nothing is lost', own(receiver.logs, 'ctrace.lost'), 0)
receiver.stop()

receiver = Receiver(always=503)
subject = Subject(receiver.url)
subject.say('count 1')
receiver.wait(lambda: receiver.count > 1)
while 'HTTP 503' not in (listed := tool('stats').stdout):
    subject.flush()
test.check('ctrace stats has the reason once', re.search(r'/v1/logs: HTTP 503(?!:)', listed), listed)
receiver.always = 200
subject.deliver()
subject.end()
receiver.stop()

go = threading.Event()


def slow(handler, message, kind):
    receiver.keep(message, kind)
    go.wait()
    handler.reply(200)


receiver = Receiver(plan=[slow])
subject = Subject(receiver.url)
subject.say('count 1')
receiver.wait(lambda: receiver.count == 1)
test.check('a slow receiver: a flush ends without it', subject.flush() != 'ok')
listed = tool('stats').stdout
test.check('ctrace stats has the reason', 'no answer yet from the receiver of OTLP' in listed, listed)
subject.say('count 999')
go.set()
subject.deliver()
subject.end()
test.same('in the end it has everything', numbers(receiver.logs), list(range(1000)))
test.same('once', body_once(receiver.logs), 0)
receiver.stop()


def partly(handler, message, kind):
    response = receiver.responses[kind]()
    response.partial_success.rejected_log_records = 1
    response.partial_success.error_message = 'too old'
    receiver.keep(message, kind)
    handler.reply(200, response.SerializeToString())


receiver = Receiver(plan=[partly])
subject = Subject(receiver.url)
subject.say('count 10')
subject.deliver()
subject.say('count 1')
subject.deliver()
subject.end()
test.same('partial success: the rejected records are counted in a record', own(receiver.logs, 'ctrace.refused'), 1)
test.same('and nothing is sent again', numbers(receiver.logs), list(range(11)))
receiver.stop()


def picky(handler, message, kind):
    if 77 in numbers(otlp_receiver.logs_of(message)):
        handler.reply(400, b'\x08\x03\x12\x09no 77 now')
    else:
        receiver.accept(handler, message, kind)


receiver = Receiver(always=picky)
subject = Subject(receiver.url)
subject.say('count 300')
subject.deliver()
subject.say('count 1')
subject.deliver()
subject.end()
test.same('a record that the receiver never takes: all others arrive', sorted(numbers(receiver.logs)),
          [number for number in range(301) if number != 77])
test.same('it is counted', own(receiver.logs, 'ctrace.refused'), 1)
receiver.stop()


def without_spans(handler, message, kind):
    if kind == 1:
        handler.reply(400)
    else:
        receiver.accept(handler, message, kind)


receiver = Receiver(always=without_spans)
subject = Subject(receiver.url)
subject.say('spans 2')
subject.deliver()
subject.say('count 1')
subject.deliver()
subject.end()
test.same('refused spans count no event', own(receiver.logs, 'ctrace.refused'), 0)
test.check('and are counted apart', sum(one.attributes.get('ctrace.spans', 0) for one in receiver.logs) > 0, [one.attributes for one in receiver.logs])
receiver.stop()


# ---- answers that no receiver should give: each is given to the first requests, or to all
def rejects(number, keeps):
    def answer(handler, message, kind):
        response = receiver.responses[kind]()
        response.partial_success.rejected_log_records = number
        response.partial_success.error_message = 'so many'
        if keeps:
            receiver.keep(message, kind)
        handler.reply(200, response.SerializeToString())
    return answer


def breaks(status, keeps, *lines):
    """The answer ends inside its body."""
    def answer(handler, message, kind):
        if keeps:
            receiver.keep(message, kind)
        handler.wfile.write('\r\n'.join([f'HTTP/1.1 {status} Odd', 'Content-Type: application/x-protobuf', *lines, '', 'abc']).encode())
        handler.close_connection = True
    return answer


def says(status, body=b'\x08\x03\x12\x07too old', keeps=False, **headers):
    def answer(handler, message, kind):
        if keeps:
            receiver.keep(message, kind)
        handler.reply(status, body, **headers)
    return answer


CUT = 'Content-Length: 100'
# name, answer, times (None: always), whether an answer refuses
ODD_ANSWERS = (
    ('rejects 10^12', rejects(10**12, False), 2, True), ('rejects 2^63-1', rejects(2**63 - 1, False), None, True),
    ('rejects -5', rejects(-5, True), None, False), ('rejects -2^63', rejects(-2**63, True), None, False),
    ('200, cut body', breaks(200, True, CUT), None, False), ('204, cut header', breaks(204, True, 'X'), None, False),
    ('200, cut chunk', breaks(200, True, 'Transfer-Encoding: chunked'), None, False),
    ('200, no gzip', says(200, b'abc', True, Content_Encoding='gzip'), None, False),
    ('200, garbage', says(200, b'\xff' * 1000, True), None, False), ('200, 1 MB', says(200, b'x' * 10**6, True), None, False),
    ('400 to all', says(400), None, True), ('413 to all', says(413), None, True), ('422 to all', says(422, b'\xff' * 10**6), None, True),
    ('400, cut body', breaks(400, False, CUT), None, True), ('400 at first', says(400), 30, True),
    ('503, cut body', breaks(503, False, CUT), 2, False), ('999', says(999), 2, False), ('429, later', says(429, Retry_After='-99999999999999999999'), 2, False),
    ('503, at once', says(503, Retry_After='0x7fffffff'), 2, False))
for name, answer, times, is_refused in ODD_ANSWERS:
    receiver = Receiver(plan=[answer] * times) if times else Receiver(always=answer)
    subject = Subject(receiver.url, dest='otlp', batch=1024, FLUSHEVERY=4096)
    subject.say('count 4000')
    subject.deliver()
    process = next(one for one in json.loads(tool('stats', '--json').stdout)['processes'] if one['pid'] == subject.pid)
    dest = next(one for one in process['destinations'] if one['emitter'] == 'OTLP')
    test.check(f'{name}: delivered or lost, each once', dest['delivered'] + dest['lost'] == 4000 and (dest['lost'] > 0) == is_refused and
               (process['delivered'], process['lost']) == (dest['delivered'], dest['lost']), process)
    listed = tool('list').stdout + tool('stats').stdout
    text = {'rejects': ': so many', '400': ': HTTP 400', '413': ': HTTP 413: too old', '422': ': HTTP 422'}.get(name.split()[0].rstrip(','), '')
    if is_refused and times is None:
        test.same(f"{name}: the receiver's text is in the list, and in stats", (listed.count(text), 'no answer yet' in listed), (2, False))
    receiver.always = 200
    requests, received = receiver.count, len(set(uids(receiver.logs)))
    subject.say('count 1')
    subject.deliver()
    subject.end()
    received = len(set(numbers(receiver.logs)))
    counts = (received, own(receiver.logs, 'ctrace.lost'), own(receiver.logs, 'ctrace.refused'))
    test.check(f'{name}: received + lost + refused = emitted', sum(counts) == 4001 and counts[1:] == (0, dest['lost']), counts, dest)
    most = collections.Counter(uids(receiver.logs)).most_common(1)[0][1]
    test.check(f'{name}: no event comes more than twice, in few requests', most <= 2 and requests <= 120, most, requests)
    receiver.stop()

receiver = Receiver()
subject = Subject(receiver.url, 'ctrace.overflow = block')
subject.say('count 20000')
receiver.wait(lambda: receiver.count > 2)
port, before = receiver.port, receiver
receiver.stop()
subject.say('count 5000')
test.check('a receiver that dies: the flush fails', subject.flush() != 'ok')
listed = tool('stats').stdout
test.check('ctrace stats names the address and the reason', f'{receiver.url}/v1/logs: ' in listed and 'connect' in listed, listed)
receiver = Receiver(port=port)
subject.deliver()
subject.end()
received = before.logs + receiver.logs
lost = own(received, 'ctrace.lost')
distinct = set(numbers(received))
test.same('when it is there again: emitted = received + counted', len(distinct) + lost, 25000)
test.check('what came twice has the same identity, in one batch', len(numbers(received)) - len(distinct) == body_once(received) <= 1024,
           len(numbers(received)), len(distinct), body_once(received))
receiver.stop()

receiver = Receiver(always=503)
subject = Subject(receiver.url, 'ctrace.overflow = discard', 'ctrace.buffer = 32K')
subject.say('count 50000')
subject.flush()
receiver.always = 200
subject.deliver()
subject.end()
lost = own(receiver.logs, 'ctrace.lost')
test.check('a full ring: events are lost', lost > 0, lost)
test.same('emitted = received + counted', len(set(numbers(receiver.logs))) + lost, 50000)
test.same('none came twice', len(numbers(receiver.logs)), len(set(numbers(receiver.logs))))
totals = [one for one in receiver.logs if one.event_name == 'ctrace.lost']
test.check('the record of a loss has the reason', sum(totals[-1].attributes.get(f'ctrace.total.{reason}', 0) for reason in
           ('discarded', 'undeliverable', 'stalled')) == lost, totals[-1].attributes, lost)
test.same('and is a warning of ctrace', (totals[0].scope, totals[0].severity_text), ('ctrace', 'WARN'))
receiver.stop()

# ---- TLS
run = lambda *words: subprocess.run(['openssl', *words], check=True, capture_output=True)
run('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=test CA', '-days', '2')
open('san', 'w').write('subjectAltName=DNS:localhost')
for name in ('server', 'client'):
    run('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', f'{name}.key', '-out', f'{name}.csr', '-subj', '/CN=localhost')
    run('x509', '-req', '-in', f'{name}.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-out', f'{name}.pem', '-days', '2', '-extfile', 'san')
here = os.path.abspath
receiver = Receiver(tls=('server.pem', 'server.key', 'ca.pem'))
subject = Subject(receiver.url, ca=here('ca.pem'), certificate=here('client.pem'), key=here('client.key'))
subject.say('count 100')
subject.deliver()
subject.say('count 100')
subject.end()
test.same('TLS, with a certificate of the client; also at the end of the process', numbers(receiver.logs), list(range(200)))
receiver.logs.clear()
subject = Subject(receiver.url, ca=here('ca.pem'), certificate=here('client.pem'), key=here('client.key'))
subject.say('openssl')
test.same('a program that uses OpenSSL', subject.process.stdout.readline(), 'ok\n')
subject.say('count 100')
subject.deliver()
subject.say('count 100')
test.same('ends in order', subject.end(), 0)
tool('recover')
test.same('what was traced after the end of OpenSSL is recovered', numbers(receiver.logs), list(range(200)))
receiver.logs.clear()
subject = Subject(receiver.url, certificate=here('client.pem'), key=here('client.key'))
subject.say('count 1')
test.check('a receiver of an unknown authority: the flush fails', subject.flush() != 'ok')
while 'certificate' not in (listed := tool('stats').stdout):
    subject.flush()
test.check('ctrace stats says that it is the certificate', 'SSL certificate problem' in listed, listed)
subject.end('kill')
test.same('it gets nothing', len(receiver.logs), 0)
receiver.stop()

# ---- wrong settings
subject = Subject('localhost:4318')
subject.say('count 1')
test.check('a URL without http://: the flush fails', subject.flush() != 'ok')
listed = tool('stats').stdout
test.check('ctrace stats names the property', 'the property URL of OTLP' in listed, listed)
subject.end('kill')
receiver = Receiver()
subject = Subject(receiver.url, ca=here('ca.pem'))
subject.say('count 1')
test.check('a CA and no https: the flush fails', subject.flush() != 'ok')
listed = tool('stats').stdout
test.check('ctrace stats says that it takes https', 'URL, which begins with https:// for CA, CERTIFICATE and KEY' in listed, listed)
subject.end('kill')
test.same('nothing was sent in plain text', len(receiver.logs), 0)
result = tool('export', '--format=otlp', f'--property=CERTIFICATE={here("client.pem")}', '-o', receiver.url, '.')
test.check('export: neither', result.returncode == 2 and 'require TLS: expected https://' in result.stderr, result.stderr)
subject = Subject(receiver.url + '/wrong')
subject.say('count 1')
test.check('a wrong path: the flush fails', subject.flush() != 'ok')
while 'HTTP 404' not in (listed := tool('stats').stdout):
    subject.flush()
test.check('ctrace stats shows the answer', f'{receiver.url}/wrong/v1/logs: HTTP 404' in listed, listed)
subject.end('kill')
receiver.stop()

# ---- ctrace export
LOGS, TRACES = otlp_receiver.schema()
from google.protobuf import json_format  # noqa: E402, after schema() has found it


def parse_json(text):
    """Requests of OTLP/JSON, whose ids are hexadecimal, by the official schema."""
    text = re.sub(r'"(traceId|spanId|parentSpanId)":"([0-9a-f]*)"', lambda found: f'"{found[1]}":"{base64.b64encode(bytes.fromhex(found[2])).decode()}"', text)
    made = [], []
    for line in text.splitlines():
        if 'resourceLogs' in line:
            made[0].extend(otlp_receiver.logs_of(json_format.Parse(line, LOGS.ExportLogsServiceRequest())))
        else:
            made[1].extend(otlp_receiver.spans_of(json_format.Parse(line, TRACES.ExportTraceServiceRequest())))
    return made


def frames(data, make):
    while data:
        size = struct.unpack('>I', data[:4])[0]
        message = make()
        message.ParseFromString(data[4:4 + size])
        yield message
        data = data[4 + size:]


def plain(records):
    return sorted((str(one.message), one.scope, sorted(one.resource.items())) for one in records)


done = tool('export', '--format=otlp', 'both.ctb')
test.same('export: status', (done.returncode, done.stderr), (0, ''))
made = parse_json(done.stdout)
strip = lambda one: {name: value for name, value in one.attributes.items() if name not in ('log.record.uid', 'ctrace.duration_ns')}
test.same('export: the log records are those of the destination', [(strip(one), one.body, one.severity_number) for one in made[0]],
          [(strip(one), one.body, one.severity_number) for one in logs])
test.same('export: times are exact', [one.time_unix_nano for one in made[0]], [one['time_ns'] for one in shown])
test.same('export: durations are exact', [one.attributes.get('ctrace.duration_ns') for one in made[0]], [one.get('duration_ns') for one in shown])
named = {one.span_id: one.name for one in made[1]}
test.same('export: spans, and the spans around them', [(one.name, strip(one), one.status.code, named.get(one.parent_span_id)) for one in made[1]],
          [(one.name, strip(one), one.status.code, {'INNER': 'OUTER'}.get(one.name)) for one in spans])
test.same('export: log records are in their spans', [named.get(one.span_id) for one in made[0]],
          [None] * 7 + ['OUTER', 'INNER', 'INNER', 'INNER', 'OUTER'] * 2)
test.same('export: spans last as long', sorted(one.end_time_unix_nano - one.start_time_unix_nano for one in made[1]),
          sorted(one['duration_ns'] for one in shown if 'duration_ns' in one))
known = ('service.name', 'host.name', 'process.pid', 'process.executable.name', 'ctrace.jobname', 'ctrace.asid')
test.same('export: the resource too', {name: made[0][0].resource.get(name) for name in known}, {name: resource.get(name) for name in known})
test.same('export: twice the same', tool('export', '--format=otlp', 'both.ctb').stdout, done.stdout)
for signal, make, read, wanted in (('logs', LOGS.ExportLogsServiceRequest, otlp_receiver.logs_of, made[0]),
                                   ('traces', TRACES.ExportTraceServiceRequest, otlp_receiver.spans_of, made[1])):
    result = tool('export', '--format=otlp-protobuf', f'--signals={signal}', '-o', f'{signal}.bin', 'both.ctb')
    test.same(f'export: protobuf of {signal} is the same', plain(one for message in frames(open(f'{signal}.bin', 'rb').read(), make) for one in read(message)),
              plain(wanted))
for name in ('barectf', 'lttng-lost', 'lttng-pid', 'lttng-uid'):
    trace = os.path.join(os.environ['CTRACE_SOURCE'], 'tests/golden/third_party', name)
    found, _ = parse_json(tool('export', '--format=otlp', trace).stdout)
    test.same(f'export: each event of {name}, a trace of another tracer', len([one for one in found if one.event_name != 'ctrace.lost']),
              len(tool('show', trace).stdout.splitlines()))
receiver = Receiver()
result = tool('export', '--format=otlp', '-o', receiver.url, '--property', 'BATCH=3', '--property', 'compress=gzip', '--property', 'HEADERS=a=b', 'both.ctb')
test.same('export to a receiver: status', (result.returncode, result.stderr), (0, ''))
test.same('export to a receiver: the same', (plain(receiver.logs), plain(receiver.spans)), (plain(made[0]), plain(made[1])))
test.check('export to a receiver: BATCH, gzip, headers', receiver.zipped == receiver.count > 4 and receiver.headers[0]['a'] == 'b', receiver.count)
receiver.plan = [503, lambda handler, *_: handler.reply(429, Retry_After='1')]
result = tool('export', '--format=otlp', '-o', receiver.url, '--signals=logs', 'both.ctb')
test.same('export: a busy receiver is asked again', (result.returncode, len(receiver.logs), len(receiver.spans)), (0, 2 * len(logs), len(spans)))
receiver.plan = [partly]
result = tool('export', '--format=otlp', '-o', receiver.url, 'both.ctb')
test.check('export: partial success is reported and counted', result.returncode == 2 and
           f'refused 1 of {len(logs)} log records and 0 of 4 spans; at first: {receiver.url}/v1/logs: too old' in result.stderr, result)
receiver.plan = [401]
result = tool('export', '--format=otlp', '-o', receiver.url, 'both.ctb')
test.same('export: an error is not tried again', (result.returncode, result.stderr),
          (2, f'ctrace export: {receiver.url}/v1/logs: HTTP 401; HEADERS may have a token: HEADERS=Authorization=Bearer%20TOKEN\n'))
receiver.plan = [301]
result = tool('export', '--format=otlp', '-o', receiver.url, 'both.ctb')
test.check('export: a redirection is explained', result.returncode == 2 and 'HTTP 301; redirections are not followed' in result.stderr, result)
result = tool('export', '--format=otlp', '-o', receiver.url + '/v2', 'both.ctb')
test.check('export: a wrong path is explained', result.returncode == 2 and
           f"{receiver.url}/v2/v1/logs: HTTP 404; URL is the receiver's base, to which ctrace adds /v1/logs and /v1/traces" in result.stderr, result)
receiver.logs.clear()
result = tool('export', '--format=otlp', '-o', receiver.url + '/v1/logs/', '--signals=logs', 'both.ctb')
test.same('export: a URL with the path of a signal is taken', (result.returncode, len(receiver.logs)), (0, len(logs)))
place = receiver.url.removeprefix('http://')
result = tool('export', '--format=otlp', '-o', place, 'both.ctb')
test.check('export: HOST:PORT is no file', result.returncode != 0 and f'expected http://{place} for a receiver' in result.stderr and
           not os.path.exists(place), result)
result = tool('export', '--format=otlp', '-o', './' + place, 'both.ctb')
test.check('export: but may be one', result.returncode == 0 and os.path.getsize(place) > 0, result)


def small(handler, message, kind):
    if len(message.SerializeToString()) > 1500:
        handler.reply(413)
    else:
        receiver.accept(handler, message, kind)


receiver.logs.clear()
receiver.spans.clear()
receiver.always = small
result = tool('export', '--format=otlp', '-o', receiver.url, 'both.ctb')
test.same('export: large requests are sent in smaller ones', (result.returncode, result.stderr, plain(receiver.logs), plain(receiver.spans)),
          (0, '', plain(made[0]), plain(made[1])))


def not_two(handler, message, kind):
    if kind == 0 and any(one.time_unix_nano == shown[2]['time_ns'] for one in otlp_receiver.logs_of(message)):
        handler.reply(422)
    else:
        receiver.accept(handler, message, kind)



subject = Subject('http://none', dest='binfile')
subject.say('count 20000')
subject.end()
many = next(name for name in os.listdir() if name.endswith('.ctb') and name != 'both.ctb')
for status, body in ((400, b'\x08\x03\x12\x07too old'), (413, b'\x08\x03\x12\x07too old')):
    receiver.always, receiver.count = says(status, body), 0
    result = tool('export', '--format=otlp', '-o', receiver.url, many)
    test.same(f'export: {status} to everything: the text of the receiver, once', (result.returncode, result.stderr),
              (2, 'ctrace export: the receiver has refused 20000 of 20000 log records and 0 of 0 spans; at first: '
               f'{receiver.url}/v1/logs: HTTP {status}: too old\n'))
    test.check(f'export: {status} to everything: few requests', receiver.count < 100, receiver.count)
for answer in (breaks(200, True, CUT), breaks(200, True, 'Transfer-Encoding: chunked')):
    receiver.always, receiver.count = answer, 0
    receiver.logs.clear()
    result = tool('export', '--format=otlp', '-o', receiver.url, many)
    test.same('export: an answer that breaks off accepts the second time', (result.returncode, len(set(numbers(receiver.logs))), len(receiver.logs)),
              (0, 20000, 40000))
receiver.always = rejects(10**12, False)
result = tool('export', '--format=otlp', '-o', receiver.url, many)
test.check('export: nobody refuses more than was sent', 'refused 20000 of 20000 log records' in result.stderr, result)

receiver.logs.clear()
receiver.always = not_two
result = tool('export', '--format=otlp', '-o', receiver.url, 'both.ctb')
test.same('export: only the record that is refused alone is left out', (result.returncode, len(receiver.logs)), (2, len(logs) - 1))
test.check('export: and counted', f'refused 1 of {len(logs)} log records and 0 of 4 spans' in result.stderr, result)
receiver.always = 200
receiver.stop()
result = tool('export', '--format=otlp', '-o', receiver.url, 'both.ctb')
test.check('export: nobody there', result.returncode == 2 and 'connect' in result.stderr.lower(), result)
result = tool('export', '--format=otlp-protobuf', '--signals=logs,traces', '-o', 'x', 'both.ctb')
test.check('export: a file of protobuf has one signal', result.returncode == 2 and 'has one signal' in result.stderr, result)
result = tool('export', '--format=json', '--signals=logs', 'both.ctb')
test.check('export: --signals of another format', result.returncode == 2 and '--signals goes with --format=otlp' in result.stderr, result)

sys.exit(test.end())
