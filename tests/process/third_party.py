#!/usr/bin/env python3
"""Traces of other tracers: each value that ctrace show reads is the one that babeltrace2 reads, and each time, to the nanosecond
where babeltrace2 is so exact.

Of tests/golden/third_party: what LTTng and barectf wrote, and what odd.py writes that they rarely do.  And of ctrace's own traces, read as if
somebody else had written them: so the decoder of third-party traces is proved against our writer too.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

SOURCE, BUILD = os.environ['CTRACE_SOURCE'], os.environ['CTRACE_BUILD']
GOLDEN = os.path.join(SOURCE, 'tests/golden/third_party')
DOUBLE_NS = 1  # babeltrace2 counts the ticks of other clocks than of 1 GHz in doubles
CLOCK_NS = 1000  # between what the metadata of a trace of ours say of its clock, and what its packets say
checks = tap.Tap(is_live=True)
check = checks.clean


def run(*command, status=0):
	done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)
	if status is not None and done.returncode != status:
		raise SystemExit(f'{" ".join(command)}: status {done.returncode}\n{done.stderr.decode()}')
	return done.stdout.decode(errors='surrogateescape'), done.stderr.decode(errors='surrogateescape')


# ---- what babeltrace2 prints: key = value, ...; a value is { members }, [ elements ], ( "LABEL" : container = n ), "text" or a number

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\](),=:|]|<unknown>|[^\s{}\[\](),=:|"]+')


class Viewed:
	def __init__(self, line):
		self.tokens = TOKEN.findall(line)
		self.at = 0

	def next(self, wanted=None):
		token = self.tokens[self.at]
		self.at += 1
		assert wanted is None or token == wanted, (wanted, self.tokens[self.at - 5:self.at + 5])
		return token

	def peek(self, ahead=0):
		return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else None

	def members(self, end):
		out = []
		while self.peek() != end:
			if self.peek(1) == '=':
				key = self.next()
				self.next('=')
				out.append((key, self.value()))
			else:  # what a variant has chosen
				out.append((None, self.value()))
			if self.peek() == ',':
				self.next()
		self.next(end)
		return out

	def value(self):
		token = self.next()
		if token == '{':
			return 'struct', self.members('}')
		if token == '[':
			elements = []
			while self.peek() != ']':
				for part in ('[', None, ']', '='):
					self.next(part)
				elements.append(self.value())
				if self.peek() == ',':
					self.next()
			self.next(']')
			return 'array', elements
		if token == '(':
			labels = []
			while self.peek() != ':':
				labels.append(self.next())
			for part in (':', 'container', '='):
				self.next(part)
			number = int(self.next(), 0)
			self.next(')')
			return 'enum', (number, [unquoted(label) for label in labels if label[0] == '"'])
		if token[0] == '"':
			return 'text', unquoted(token)
		return 'number', token


def unquoted(token):
	letters = {'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', 'e': '\x1b'}
	return re.sub(r'\\(x[0-9a-fA-F]{2}|.)', lambda m: chr(int(m[1][1:], 16)) if len(m[1]) == 3 else letters.get(m[1], m[1]), token[1:-1])


def flatten(path, value, out):
	kind, what = value
	if kind == 'struct':
		for key, member in what:
			flatten(path if key is None else f'{path}.{key}' if path else key, member, out)
	elif kind == 'array':
		out[path] = value
		for i, element in enumerate(what):
			flatten(f'{path}[{i}]', element, out)
	else:
		out[path] = value
	return out


SCOPES = ('stream.packet.context', 'stream.event.context', 'event.context', 'event.fields')


def view(directory):
	out, _ = run('babeltrace2', '--clock-seconds', '--no-delta', '--names=all', '--fields=loglevel', directory)
	events = []
	for line in out.splitlines():
		event = {'time': int(re.match(r'timestamp = (\d+\.\d{9})', line)[1].replace('.', '')), 'name': re.search(r'name = (.*?), (?:%s) = |name = (.*)$' % '|'.join(SCOPES), line)}
		event['name'] = (event['name'][1] or event['name'][2]).rstrip(', ')
		level = re.search(r'loglevel = \w+ \((\d+)\)', line)
		event['loglevel'] = int(level[1]) if level else None
		for scope in SCOPES:
			at = re.search(r'(?:, )%s = \{' % re.escape(scope), line)
			event[scope] = flatten('', Viewed(line[at.end() - 1:]).value(), {}) if at else {}
		events.append(event)
	return events


def show(directory, *more):
	out, err = run('ctrace', 'show', '--json', *more, directory, status=None)
	return [json.loads(line) for line in out.splitlines()], err


# ---- the two of an event

def same(ours, theirs, last):
	"""An item of ours, and a value of theirs."""
	kind, what = theirs
	value = ours['value']
	if kind == 'text':
		# babeltrace2 2.0 shows an empty text as the one before it.
		return value == what or (value == '' and what in last)
	if kind == 'array':
		return ours['type'] == 'binary' and value.lower().replace(' ', '') == ''.join('%02x' % (int(e[1], 0) & 255) for e in what)
	if kind == 'enum':
		return value == what[0]
	if ours['type'] == 'address':
		return int(value, 16) == int(what, 0)
	if ours['type'] == 'text':
		return '%g' % float(value) == what or '%g' % struct.unpack('f', struct.pack('f', float(value)))[0] == what
	return value == int(what, 0)


IDENTITY = {'pid': 'pid', 'vpid': 'pid', 'tid': 'tid', 'vtid': 'tid', 'procname': 'program', 'level': 'level'}
PACKET = ('timestamp_begin', 'timestamp_end', 'content_size', 'packet_size', 'packet_seq_num', 'events_discarded')
LEVELS = ['FATAL'] * 3 + ['ERROR', 'WARN', 'INFO', 'INFO'] + ['DEBUG'] * 8
texts = {}


def compare_fields(ours, event):
	"""Each item is a field, each field an item: but for lengths, which the items have themselves, and who the event is of."""
	diagnostics = []
	items = {}
	for item in ours['data']:
		items.setdefault(item['name'], []).append(item)
	for scope in reversed(SCOPES):
		for path, value in event[scope].items():
			last = texts.setdefault((event['name'], re.sub(r'\[\d+\]', '[]', path)), set())
			if scope != 'event.fields' and path in IDENTITY and not items.get(path):
				if IDENTITY[path] == 'level':
					right = ours['level'] in value[1][1]
				else:
					right = str(ours[IDENTITY[path]]) == str(value[1])
			elif items.get(path):
				right = same(items[path][0], value, last)
				del items[path][0]
			elif value[0] == 'array':
				right = True  # its elements are items
			elif re.search(r'\[\d+\]$', path) and path.rsplit('[', 1)[0] in {i['name'] for i in ours['data']}:
				right = True  # one of bytes that are one item
			elif scope != 'event.fields' and path in PACKET:
				right = True
			else:
				right = value[0] == 'number' and is_length(path, event[scope])
			if not right:
				diagnostics.append(f'{event["name"]} {path}: {value}, not in {ours}')
			if value[0] == 'text':
				last.add(value[1])
			if value[0] == 'enum' and items.get(path + '.label'):
				label = items[path + '.label'].pop(0)['value']
				if label not in value[1][1]:
					diagnostics.append(f'{path}: label {label}, not of {value}')
	left = [name for name, rest in items.items() if rest]
	return diagnostics + ([f'{event["name"]}: items that babeltrace2 has not: {left}'] if left else [])


def is_length(path, fields):
	"""The next field is an array or text of that length."""
	paths = list(fields)
	following = fields[paths[paths.index(path) + 1]]
	return len(following[1]) == int(fields[path][1], 0) or (following[0] == 'text' and len(following[1].encode()) <= int(fields[path][1], 0))


def split(name, kernel):
	if ':' in name:
		component, _, rest = name.rpartition(':') if name.rpartition(':')[2].isdigit() else name.partition(':')
		return component, rest
	return kernel, name


def compare(what, directory, tracer, slack_ns=0):
	ours, err = show(directory)
	theirs = view(directory)
	check(f'{what}: as many events', [] if len(ours) == len(theirs) > 0 else [f'{len(ours)}, not {len(theirs)}: {err}'])
	check(f'{what}: at the same times', [(a['time_ns'], b['time']) for a, b in zip(ours, theirs) if abs(a['time_ns'] - b['time']) > slack_ns])
	diagnostics = []
	for a, b in zip(ours, theirs):
		component, rest = split(b['name'], tracer)
		if a['component'] != component or (str(a['event']) if rest.isdigit() else a.get('mnemonic')) != rest:
			diagnostics.append(f'{a["component"]} {a.get("mnemonic")}, not {b["name"]}')
		if b['loglevel'] is not None and 'level' not in b['stream.event.context'] and a['level'] != LEVELS[b['loglevel']]:
			diagnostics.append(f'{a["level"]}, not {b["loglevel"]}')
	check(f'{what}: of the same names and levels', diagnostics)
	check(f'{what}: with the same values', [m for a, b in zip(ours, theirs) for m in compare_fields(a, b)])
	return ours, err


def own():
	"""A trace of ours, and the same as somebody else's."""
	with open('cfg', 'w', encoding='utf-8') as file:
		file.write('mftrace.level = debug\nmftrace.dest = binfile\n')
	subprocess.run([os.path.join(BUILD, 'tests/tool_subject'), '300'], env={**os.environ, 'MFTRACE_CONFIG': 'cfg'}, check=True,
		       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
	directory = glob.glob('*.ctb')[0]
	shutil.copytree(directory, 'as_third_party')
	with open('as_third_party/metadata', encoding='utf-8') as file:
		text = file.read()
	with open('as_third_party/metadata', 'w', encoding='utf-8') as file:
		file.write(text.replace('tracer_minor', 'tracer_less'))
	ours, _ = compare("ctrace's own", 'as_third_party', 'ctrace', DOUBLE_NS)
	known, _ = show(directory)
	keys = ('component', 'event', 'level', 'pid', 'tid')
	check("ctrace's own: as its own decoder reads them", [
		(a, b) for a, b in zip(ours, known)
		if [a[k] for k in keys] != [b[k] for k in keys] or [d['value'] for d in a['data']] != [d['value'] for d in b['data']]
	] + ([] if len(ours) == len(known) == 600 else [(len(ours), len(known))]))
	check("ctrace's own: at the times that its own decoder has", [
		(a['time_ns'], b['time_ns']) for a, b in zip(ours, known) if abs(a['time_ns'] - b['time_ns']) > CLOCK_NS
	])


def written_back(name, tracer):
	"""The same trace as babeltrace2 writes it."""
	run('babeltrace2', os.path.join(GOLDEN, name, 'trace'), '--component=sink.ctf.fs', f'--params=path="back_{name}"')
	directory = os.path.dirname(glob.glob(f'back_{name}/**/metadata', recursive=True)[0])
	compare(f'{name}, written back', directory, tracer)


def session():
	"""A session's directory is what people name."""
	shutil.copytree(os.path.join(GOLDEN, 'lttng-uid', 'trace'), 'session/ust/uid/0/64-bit')
	shutil.copytree(os.path.join(GOLDEN, 'lttng-pid', 'trace'), 'session/ust/pid/shop-17-20261121-204013')
	events, _ = show('session')
	check('the directory of a session', [] if len(events) == 40 else [len(events)])
	events, _ = show('session/ust/uid/0/64-bit/chan_0')
	check('one stream file', [] if 0 < len(events) < 22 else [len(events)])


def main():
	for name, tracer, losses in (('lttng-uid', '', 0), ('lttng-pid', '', 0), ('lttng-lost', '', 1), ('barectf', 'barectf', 0)):
		directory = os.path.join(GOLDEN, name, 'trace')
		_, err = compare(name, directory, tracer)
		check(f'{name}: what was lost', [] if err.count('were discarded before this') == losses else [err])
		with open(os.path.join(GOLDEN, name, 'babeltrace2.txt'), encoding='utf-8') as file:
			lines = file.read().count('\n')
		check(f'{name}: nothing has been left out since', [] if lines == len(view(directory)) else [lines])
	run(sys.executable, os.path.join(GOLDEN, 'odd.py'), 'odd')
	for order in ('be', 'le'):
		_, err = compare(f'odd, {order}', f'odd/{order}', 'odd', DOUBLE_NS)
		check(f'odd, {order}: what was lost', [] if '3 events were discarded' in err and 'packets are missing' in err else [err])
	for name, tracer in (('lttng-uid', ''), ('lttng-lost', ''), ('barectf', 'barectf')):
		written_back(name, tracer)
	session()
	own()
	sys.exit(checks.end())


if __name__ == '__main__':
	main()
