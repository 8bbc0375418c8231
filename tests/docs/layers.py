#!/usr/bin/env python3
"""Compares every #include of src/ and tools/ with the drawing in docs/ARCHITECTURE.md."""

import os
import re

import project

DRAWN = re.compile(r'^    (\d)  ([a-z]+(?: +[a-z]+)*)$', re.MULTILINE)
ARROW = re.compile(r'^    ([a-z]+) -> ([a-z]+)$', re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.MULTILINE)

report = project.Report()
drawing = project.text('docs/ARCHITECTURE.md')
row = {folder: int(number) for number, folders in DRAWN.findall(drawing) for folder in folders.split()}
arrows = set(ARROW.findall(drawing))
report.check('the drawing has rows', [] if row else ['no line like "    0  base"'])

folders = {f for f in os.listdir(os.path.join(project.ROOT, 'src')) if os.path.isdir(os.path.join(project.ROOT, 'src', f))}
report.check('every folder of src/ is drawn', sorted(f'src/{f}/ is not' for f in folders - row.keys()))
report.check('every drawn folder is there', sorted(f'{f} is not' for f in row.keys() - folders - {'tools'}))

wrong = []
used = set()
for path in project.files('src', 'tools', ext=('.c', '.h')):
    own = path.split('/')[1] if path.startswith('src/') else 'tools'
    for kind, name in INCLUDE.findall(project.text(path)):
        if kind == '<':
            if os.path.exists(os.path.join(project.ROOT, 'src', name)):
                wrong.append(f'{path}: <{name}> is ours: "{name}"')
            continue
        folder = name.split('/')[0] if '/' in name else own
        if '/' in name and name.split('/')[0] not in row:
            wrong.append(f'{path}: "{name}" names no drawn folder')
        elif folder != own and row[folder] >= row.get(own, -1):
            if (own, folder) in arrows:
                used.add((own, folder))
            else:
                wrong.append(f'{path} (row {row.get(own)}) includes "{name}" (row {row[folder]})')
report.check('an include points to a lower row, its own folder, or along an arrow', wrong)
report.check('every arrow is used', [f'{a} -> {b} is not' for a, b in sorted(arrows - used)])

wrong = []
for path in project.files('include', ext=('.h',)):
    for kind, name in INCLUDE.findall(project.text(path)):
        if kind == '"' or os.path.exists(os.path.join(project.ROOT, 'src', name)):
            wrong.append(f'{path} includes {name}')
report.check('public headers include nothing of src/', wrong)

wrong = []
for path in project.files('src', ext=('.c',)):
    first = INCLUDE.search(project.text(path))
    folder = path.split('/')[1]
    if not first or not (first.group(2).startswith(folder + '/') or first.group(2).startswith(('ctrace/', 'mfctf.h'))):
        wrong.append(f'{path} includes {first.group(2) if first else "nothing"} first')
report.check("a source file includes its own folder's header, or the public one it implements, first", wrong)
report.end()
