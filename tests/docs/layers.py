#!/usr/bin/env python3
"""Compares every #include and every symbol that a directory of src/ uses with the drawing in docs/ARCHITECTURE.md."""

import collections
import os
import re

import project

DRAWN = re.compile(r'^    +(\d+)  ([a-z_/]+(?: +[a-z_/]+)*)$', re.MULTILINE)
TABLE = re.compile(r'^    ([a-z_/]+) => ([a-z_/]+): (\w+)$', re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.MULTILINE)
MOST_FILES = 40

report = project.Report()
drawing = project.text('docs/ARCHITECTURE.md')
row = {directory: int(number) for number, directories in DRAWN.findall(drawing) for directory in directories.split()}
tables = {(a, b, symbol) for a, b, symbol in TABLE.findall(drawing)}
report.check('the drawing has rows', [] if row else ['no line like "    0  base"'])

paths = project.files('src', ext=('.c', '.h'))
directory_of = {path: os.path.dirname(path)[len('src/'):] for path in paths}
directories = collections.Counter(directory_of.values())
report.check('every directory of src/ is drawn', sorted(f'src/{f}/ is not' for f in directories.keys() - row.keys()))
report.check('every drawn directory is there', sorted(f'{f} is not' for f in row.keys() - directories.keys()))
report.check(f'no directory has more than {MOST_FILES} files', sorted(f'src/{f}/ has {n}' for f, n in directories.items() if n > MOST_FILES))

wrong = []
for path in paths:
    own = directory_of[path]
    for kind, name in INCLUDE.findall(project.text(path)):
        ours = os.path.exists(os.path.join(project.ROOT, 'src', name))
        if kind == '<':
            if ours:
                wrong.append(f'{path}: <{name}> is ours: "{name}"')
        elif name not in ('report_assets.h', 'event_names.h') and not ours:
            wrong.append(f'{path}: "{name}" is not a path in src/')
        elif ours and os.path.dirname(name) != own and row.get(os.path.dirname(name), -1) >= row.get(own, -1):
            wrong.append(f'{path} (row {row.get(own)}) includes "{name}" (row {row.get(os.path.dirname(name))})')
report.check('an include names its directory, and points to a lower row or its own', wrong)


home = {}
used = []
for directory in row:
    for member, letter, symbol in project.symbols(directory):
        if letter in 'TDBRVWC':
            home[symbol] = directory
        elif letter == 'U':
            used.append((directory, member, symbol))
wrong = []
reversed_tables = set()
for directory, member, symbol in used:
    other = home.get(symbol, directory)
    if other != directory and row[other] >= row[directory]:
        if (directory, other, symbol) in tables:
            reversed_tables.add((directory, other, symbol))
        else:
            wrong.append(f'{member} (row {row[directory]}) uses {symbol} of {other} (row {row[other]})')
report.check('a symbol that is used is of a lower row, or a table that the drawing names', wrong)
report.check('every table that the drawing names is used', [' '.join(t) for t in sorted(tables - reversed_tables)])
report.check('most symbols were found', [] if len(home) > 1000 else [f'only {len(home)}'])

wrong = []
for path in project.files('include', ext=('.h',)):
    for kind, name in INCLUDE.findall(project.text(path)):
        if kind == '"' or os.path.exists(os.path.join(project.ROOT, 'src', name)):
            wrong.append(f'{path} includes {name}')
report.check('public headers include nothing of src/', wrong)

wrong = []
for path in project.files('src', ext=('.c',)):
    first = INCLUDE.search(project.text(path))
    if not first or not (os.path.dirname(first.group(2)) == directory_of[path] or first.group(2).startswith(('ctrace/', 'mfctf.h'))):
        wrong.append(f'{path} includes {first.group(2) if first else "nothing"} first')
report.check("a source file includes its own directory's header, or the public one it implements, first", wrong)
report.end()
