#!/usr/bin/env python3
"""Compares every #include and every symbol that a folder of src/ uses with the drawing in docs/ARCHITECTURE.md."""

import collections
import os
import re
import subprocess

import project

DRAWN = re.compile(r'^    +(\d+)  ([a-z/]+(?: +[a-z/]+)*)$', re.MULTILINE)
TABLE = re.compile(r'^    ([a-z/]+) => ([a-z/]+): (\w+)$', re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.MULTILINE)
MOST_FILES = 40

report = project.Report()
drawing = project.text('docs/ARCHITECTURE.md')
row = {folder: int(number) for number, folders in DRAWN.findall(drawing) for folder in folders.split()}
tables = {(a, b, symbol) for a, b, symbol in TABLE.findall(drawing)}
report.check('the drawing has rows', [] if row else ['no line like "    0  base"'])

paths = project.files('src', ext=('.c', '.h'))
folder_of = {path: os.path.dirname(path)[len('src/'):] for path in paths}
folders = collections.Counter(folder_of.values())
report.check('every folder of src/ is drawn', sorted(f'src/{f}/ is not' for f in folders.keys() - row.keys()))
report.check('every drawn folder is there', sorted(f'{f} is not' for f in row.keys() - folders.keys()))
report.check(f'no folder has more than {MOST_FILES} files', sorted(f'src/{f}/ has {n}' for f, n in folders.items() if n > MOST_FILES))

wrong = []
for path in paths:
    own = folder_of[path]
    for kind, name in INCLUDE.findall(project.text(path)):
        ours = os.path.exists(os.path.join(project.ROOT, 'src', name))
        if kind == '<':
            if ours:
                wrong.append(f'{path}: <{name}> is ours: "{name}"')
        elif name != 'report_assets.h' and not ours:
            wrong.append(f'{path}: "{name}" is not a path in src/')
        elif ours and os.path.dirname(name) != own and row.get(os.path.dirname(name), -1) >= row.get(own, -1):
            wrong.append(f'{path} (row {row.get(own)}) includes "{name}" (row {row.get(os.path.dirname(name))})')
report.check('an include names its folder, and points to a lower row or its own', wrong)


def symbols(folder):
    """(member, letter, symbol) of a folder's archive; of the tool's own, of its objects."""
    build = project.BUILD
    name = os.path.basename(folder)
    objects = os.path.join(build, 'ctrace.p')
    files = [os.path.join(objects, o) for o in sorted(os.listdir(objects)) if o.endswith('.o')] if folder == 'tools' \
        else [os.path.join(build, f'lib{name}.a')]
    listing = subprocess.run(['nm', '-A'] + files, capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        where, _, rest = line.rpartition(':')
        fields = rest.split()
        yield re.sub(r'.*src_|\.o$', '', where), fields[-2], fields[-1]


home = {}
used = []
for folder in row:
    for member, letter, symbol in symbols(folder):
        if letter in 'TDBRVWC':
            home[symbol] = folder
        elif letter == 'U':
            used.append((folder, member, symbol))
wrong = []
reversed_tables = set()
for folder, member, symbol in used:
    other = home.get(symbol, folder)
    if other != folder and row[other] >= row[folder]:
        if (folder, other, symbol) in tables:
            reversed_tables.add((folder, other, symbol))
        else:
            wrong.append(f'{member} (row {row[folder]}) uses {symbol} of {other} (row {row[other]})')
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
    if not first or not (os.path.dirname(first.group(2)) == folder_of[path] or first.group(2).startswith(('ctrace/', 'mfctf.h'))):
        wrong.append(f'{path} includes {first.group(2) if first else "nothing"} first')
report.check("a source file includes its own folder's header, or the public one it implements, first", wrong)
report.end()
