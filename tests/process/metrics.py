#!/usr/bin/env python3
"""ctrace respond --metrics, read by promtool and by a real Prometheus.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import streams
import writer
from writer import PATIENCE, TOOL

COUNTERS = 'ctrace_events_emitted_total', 'ctrace_events_delivered_total'


class Metrics(streams.Streams):
    def serve(self, *arguments, metrics='--metrics=127.0.0.1:0'):
        server = subprocess.Popen([TOOL, 'respond', metrics, *arguments], stderr=subprocess.PIPE, text=True, env=self.environment)
        self.processes.append(server)
        line = server.stderr.readline()
        found = re.fullmatch(r'ctrace respond: metrics at (http://([^/]+)/metrics)\n', line)
        assert found, line
        return server, found[1], found[2]


def read(url):
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        assert answer.headers['Content-Type'] == 'text/plain; version=0.0.4; charset=utf-8', answer.headers
        return answer.read().decode('utf-8')


def values(text):
    """{name: {labels: value}}"""
    found = {}
    for name, labels, value in re.findall(r'^(\w+)(?:\{(.*)\})? (\S+)$', text, re.MULTILINE):
        found.setdefault(name, {})[labels] = float(value)
    return found


def total(found, name, has=''):
    return sum(value for labels, value in found.get(name, {}).items() if has in labels)


def promtool_has_no_remark(room):
    _, url, _ = room.serve()
    empty = read(url)
    assert re.search(r'^ctrace_build_info\{version="[0-9.]+"\} 1$', empty, re.MULTILINE), empty
    program = room.program(2)
    program.ask('run 1000')
    program.settle()
    text = read(url)
    for one in (empty, text):
        done = subprocess.run(['promtool', 'check', 'metrics'], input=one, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0 and done.stderr == '', done
    found = values(text)
    assert [total(found, name) for name in COUNTERS] == [2000, 2000], found
    assert total(found, 'ctrace_component_events_delivered_total', 'component="WRT"') == 2000, found
    assert total(found, 'ctrace_destination_events_delivered_total', 'emitter="BINFILE"') == 2000, found
    assert total(found, 'ctrace_events_lost_total') == 0 and len(found['ctrace_events_lost_total']) > 5, found
    assert total(found, 'ctrace_processes', 'state="running"') == 1 and total(found, 'ctrace_read_failed') == 0, found
    assert 0 < total(found, 'ctrace_ring_size_bytes') and 0 <= total(found, 'ctrace_ring_fullest_ratio') <= 1, found
    for name in found:
        assert re.search(f'^# HELP {name} [A-Z0-9].*[.]\n# TYPE {name} (counter|gauge)$', text, re.MULTILINE), name
    program.end()


def counters_never_fall(room):
    """The sum over a job's processes falls when one ends; its counter does not."""
    _, url, _ = room.serve()
    first, second = room.program(), room.program()
    for program in (first, second):
        program.ask('run 500')
        program.settle()
    before = values(read(url))
    assert total(before, COUNTERS[1]) == 1000 and len(before[COUNTERS[1]]) == 1, before
    first.end()
    ended = values(read(url))
    assert total(ended, COUNTERS[1]) == 1000 and total(ended, 'ctrace_processes') == 1, ended
    second.ask('run 500')
    second.settle()
    third = room.program()
    third.ask('run 500')
    third.settle()
    after = values(read(url))
    assert total(after, COUNTERS[1]) == 2000 and total(after, 'ctrace_component_events_delivered_total', 'WRT') == 2000, after


def storage_has_its_series(room):
    """What is in storage, and what newer events have overwritten there, are all that were emitted."""
    with open(room.at('app.cfg'), 'w', encoding='ascii') as file:
        file.write('mftrace.dest = storage\nctrace.buffer = 32K\n')
    _, url, _ = room.serve()
    program = room.program()
    for count in (100, 100000):
        program.ask(f'run {count}')
        found = values(read(url))
        kept, overwritten = total(found, 'ctrace_events_in_storage'), total(found, 'ctrace_events_overwritten_total')
        assert kept > 0 and (overwritten > 0) == (count > 100) and kept + overwritten == total(found, COUNTERS[0]), found
        assert total(found, COUNTERS[1]) == 0 and total(found, 'ctrace_events_pending') == 0, found
    program.end()


def levels_are_numbers(room):
    _, url, _ = room.serve()
    program = room.program()
    for level, number in (('error', 3), ('none', 5), ('debug', 0)):
        room.tool('level', 'WRT', level)
        assert total(values(read(url)), 'ctrace_component_level', 'component="WRT"') == number, level
    program.end()


def prometheus_scrapes_it(room):
    server, url, address = room.serve()
    program = room.program()
    program.ask('run 700')
    program.settle()
    (port,) = streams.free_ports(1)
    with open(room.at('prometheus.yml'), 'w', encoding='ascii') as file:
        file.write('global: {scrape_interval: 1s}\nscrape_configs:\n'
                   f' - {{job_name: ctrace, static_configs: [{{targets: ["{address}"]}}]}}\n')
    with open(room.at('prometheus.log'), 'wb') as log:
        prometheus = subprocess.Popen(['prometheus', f'--config.file={room.at("prometheus.yml")}', f'--storage.tsdb.path={room.at("tsdb")}',
                                       f'--web.listen-address=127.0.0.1:{port}'], stdout=log, stderr=log)
    room.processes.append(prometheus)

    def query(expression):
        try:
            with urllib.request.urlopen(f'http://127.0.0.1:{port}/api/v1/query?' + urllib.parse.urlencode({'query': expression}),
                                        timeout=PATIENCE) as answer:
                return json.load(answer)['data']['result']
        except (urllib.error.URLError, ConnectionError):
            return []

    def until(expression, value):
        end = time.monotonic() + PATIENCE
        while True:
            found = query(expression)
            if found and float(found[0]['value'][1]) == value:
                return found[0]['metric']
            assert time.monotonic() < end, (expression, found, open(room.at('prometheus.log'), encoding='utf-8').read()[-2000:])
            time.sleep(0.1)

    labels = until('ctrace_component_events_delivered_total{component="WRT"}', 700)
    assert labels['job'] == 'ctrace' and labels['jobname'] != '' and 'exported_job' not in labels, labels
    until('up{job="ctrace"}', 1)
    program.ask('run 300')
    program.settle()
    until('sum(ctrace_events_delivered_total)', 1000)
    server.send_signal(signal.SIGTERM)
    assert server.wait(PATIENCE) == 0
    until('up{job="ctrace"}', 0)
    prometheus.send_signal(signal.SIGTERM)
    prometheus.wait(PATIENCE)


def other_requests_are_refused(room):
    server, _, address = room.serve()
    for method, path, body, code in (('GET', '/', None, 404), ('GET', '/metrics/x', None, 404), ('POST', '/metrics', 'x' * 100000, 405),
                                     ('DELETE', '/metrics', None, 405), ('HEAD', '/metrics', None, 200), ('GET', '/metrics?x=1', None, 200)):
        link = http.client.HTTPConnection(address, timeout=PATIENCE)
        link.request(method, path, body)
        answer = link.getresponse()
        text = answer.read()
        assert answer.status == code and (method != 'HEAD' or text == b''), (method, path, answer.status, text)
        link.close()
    host, port = address.rsplit(':', 1)
    with streams.socket.create_connection((host, int(port))) as link:
        link.sendall(b'\0\1\2 nonsense\r\n\r\n')
        link.recv(1000)
    idle = [streams.socket.create_connection((host, int(port))) for _ in range(10)]
    assert 'ctrace_build_info' in read(f'http://{address}/metrics')
    for link in idle:
        link.close()
    server.send_signal(signal.SIGINT)
    assert server.wait(PATIENCE) == 0


def idle_connections_do_not_hold_up_an_answer(room):
    _, url, address = room.serve()
    host, port = address.rsplit(':', 1)
    idle = [socket.create_connection((host, int(port))) for _ in range(100)]
    read(url)
    still_open = 0
    for one in idle:
        one.setblocking(False)
        try:
            one.recv(1)
        except BlockingIOError:
            still_open += 1
        one.close()
    assert still_open > 50, f'answered after {100 - still_open} were closed'


def slow_connections_do_not_hold_up_an_answer(room):
    """Each sends a byte of a header now and then, so none is ever idle, and there are more than are served at once."""
    _, url, address = room.serve()
    host, port = address.rsplit(':', 1)
    slow = []
    for _ in range(300):
        one = socket.create_connection((host, int(port)), timeout=PATIENCE)
        one.sendall(b'GET /metrics HTTP/1.1\r\nX: ')
        slow.append(one)
    is_over = threading.Event()

    def drip():
        while not is_over.wait(0.5):
            for one in slow:
                try:
                    one.send(b'a', socket.MSG_DONTWAIT)
                except OSError:
                    pass

    dripping = threading.Thread(target=drip)
    dripping.start()
    try:
        for _ in range(3):
            assert 'ctrace_build_info' in read(url)
    finally:
        is_over.set()
        dripping.join()
        for one in slow:
            one.close()


def a_flood_of_one_address_closes_no_connection_of_another(room):
    _, url, address = room.serve()
    host, port = address.rsplit(':', 1)
    link = http.client.HTTPConnection(address, timeout=PATIENCE)

    def get(source=None):
        other = http.client.HTTPConnection(address, timeout=PATIENCE, source_address=(source, 0)) if source else link
        other.request('GET', '/metrics')
        return b'ctrace_build_info' in other.getresponse().read()

    assert get()
    mine = link.sock
    slow = []
    for _ in range(300):
        one = socket.create_connection((host, int(port)), timeout=PATIENCE, source_address=('127.0.0.2', 0))
        one.sendall(b'GET /metrics HTTP/1.1\r\nX: ')
        slow.append(one)
    assert get() and link.sock is mine, 'the connection was closed'
    assert get('127.0.0.2') and 'ctrace_build_info' in read(url)
    for one in slow:
        one.close()


def wrong_addresses_are_explained(room):
    _, _, address = room.serve()
    for wrong, text in (('x:y', 'is no address for metrics; expected HOST:PORT'), ('::1:9', 'is no address'), ('127.0.0.1:', 'is no address'),
                        ('localhost:99999', 'is no address'), (address, 'Address already in use')):
        done = room.tool('respond', f'--metrics={wrong}', check=False)
        assert done.returncode == 2 and text in done.stderr, (wrong, done)
    for form in ('--metrics=[::1]:0', '--metrics=0'):
        server, url, _ = room.serve(metrics=form)
        assert 'ctrace_build_info' in read(url)
        server.kill()


def requests_and_metrics_are_served_at_once(room):
    _, address = room.server()
    address = address.rsplit('/', 1)[0]
    server, url, _ = room.serve('--name=alpha', address)
    assert server.stderr.readline() == 'ctrace respond: alpha listens\n'
    program = room.program()
    room.environment['CTRACE_NATS'] = address
    assert str(program.process.pid) in room.tool('--host', 'alpha', 'list').stdout
    assert total(values(read(url)), 'ctrace_processes') == 1
    server.send_signal(signal.SIGTERM)
    assert server.wait(PATIENCE) == 0
    program.end()


writer.TESTS[:] = [value for name, value in list(globals().items()) if callable(value) and
                   getattr(value, '__code__', None) is not None and value.__code__.co_varnames[:1] == ('room',)]
writer.Room = Metrics

if __name__ == '__main__':
    sys.exit(writer.main())
