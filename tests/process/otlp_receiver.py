"""otlp_receiver.py - a receiver of OTLP for the tests: an HTTP server that decodes requests with the official schema.

Receiver(plan) starts it on a free port of the loopback.  A plan is a list of answers, one a request; after them every request is accepted.  An
answer is a status, or a function that gets the handler and the decoded request and answers by itself.  What was accepted is in `logs`
and `spans`: (resource, scope, record) with plain Python values.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import gzip
import http.server
import importlib
import os
import ssl
import subprocess
import sys
import threading

PROTO = os.path.join(os.environ['CTRACE_SOURCE'], 'modules/otlp/proto')


def schema():
    """The modules of the schema, made by protoc: (collector of logs, collector of spans)."""
    out = os.path.abspath('schema')
    if not os.path.isdir(out):
        os.mkdir(out)
        files = [os.path.join(at, name) for at, _, names in os.walk(PROTO) for name in names if name.endswith('.proto')]
        subprocess.run(['protoc', f'--proto_path={PROTO}', f'--python_out={out}', *files], check=True)
        sys.path.insert(0, out)
        sys.path.append('/usr/lib/python3/dist-packages')  # python3-protobuf, when another Python runs the tests
    at = 'opentelemetry.proto.collector.'
    return importlib.import_module(at + 'logs.v1.logs_service_pb2'), importlib.import_module(at + 'trace.v1.trace_service_pb2')


def value_of(value):
    kind = value.WhichOneof('value')
    if kind == 'kvlist_value':
        return attributes_of(value.kvlist_value.values)
    if kind == 'array_value':
        return [value_of(one) for one in value.array_value.values]
    return getattr(value, kind) if kind else None


def attributes_of(pairs):
    found = {pair.key: value_of(pair.value) for pair in pairs}
    assert len(found) == len(pairs), f'a key twice: {[pair.key for pair in pairs]}'
    return found


class Record:
    """A log record or span: its fields, and resource, scope, attributes and body as plain values."""

    def __init__(self, resource, scope, message):
        self.resource, self.scope, self.message = resource, scope, message
        self.attributes = attributes_of(message.attributes)
        self.body = value_of(message.body) if hasattr(message, 'body') else None

    def __getattr__(self, name):
        return getattr(self.message, name)


def logs_of(request):
    return [Record(attributes_of(r.resource.attributes), s.scope.name, one)
            for r in request.resource_logs for s in r.scope_logs for one in s.log_records]


def spans_of(request):
    return [Record(attributes_of(r.resource.attributes), s.scope.name, one)
            for r in request.resource_spans for s in r.scope_spans for one in s.spans]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def setup(self):
        super().setup()
        self.server.receiver.connections.add(self.connection)

    def reply(self, status, body=b'', **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.send_header('Content-Type', 'application/x-protobuf')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers['Content-Length']))
        if self.headers.get('Content-Encoding') == 'gzip':
            receiver.zipped += 1
            body = gzip.decompress(body)
        assert self.headers['Content-Type'] == 'application/x-protobuf'
        kind = {'/v1/logs': 0, '/v1/traces': 1}.get(self.path)
        if kind is None:
            self.reply(404)
            return
        message = receiver.requests[kind]()
        message.ParseFromString(body)
        with receiver.lock:
            receiver.headers.append(dict(self.headers))
            receiver.bodies.append(body)
            receiver.count += 1
            answer = receiver.plan.pop(0) if receiver.plan else receiver.always
            receiver.lock.notify_all()
        if callable(answer):
            answer(self, message, kind)
        elif answer == 200:
            receiver.accept(self, message, kind)
        else:
            self.reply(answer)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """A client that is gone is none."""


class Receiver:
    def __init__(self, plan=(), always=200, port=0, tls=None):
        logs, traces = schema()
        self.requests = [logs.ExportLogsServiceRequest, traces.ExportTraceServiceRequest]
        self.responses = [logs.ExportLogsServiceResponse, traces.ExportTraceServiceResponse]
        self.plan, self.always = list(plan), always
        self.lock = threading.Condition()
        self.logs, self.spans, self.headers, self.bodies = [], [], [], []
        self.connections = set()
        self.count = self.zipped = 0
        self.server = Server(('127.0.0.1', port), Handler)
        self.server.receiver = self
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls[:2])
            if len(tls) > 2:
                context.load_verify_locations(tls[2])
                context.verify_mode = ssl.CERT_REQUIRED
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://localhost:{self.port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def keep(self, message, kind):
        with self.lock:
            if kind == 0:
                self.logs += logs_of(message)
            else:
                self.spans += spans_of(message)
            self.lock.notify_all()

    def accept(self, handler, message, kind):
        self.keep(message, kind)
        handler.reply(200, self.responses[kind]().SerializeToString())

    def wait(self, condition):
        with self.lock:
            self.lock.wait_for(condition)

    def stop(self):
        """Dies: also connections that are open."""
        self.server.shutdown()
        self.server.server_close()
        for connection in list(self.connections):
            try:
                connection.shutdown(2)
            except OSError:
                pass
