#!/usr/bin/env python3
"""Tests mirror the sources, file names are unique, and every file starts with what it is for."""

import collections
import os
import re

import project

report = project.Report()
sources = project.files('src', ext=('.c',))
units = set(project.files('tests/unit', ext=('.c',)))

missing = []
for path in sources:
    _, folder, name = path.split('/')
    if f'tests/unit/{folder}/test_{name}' not in units:
        missing.append(f'{path} has no tests/unit/{folder}/test_{name}')
report.check('every source file has a unit test of its name', missing)

mirrored = {'tests/unit/{}/test_{}'.format(*path.split('/')[1:]) for path in sources}
report.check('every unit test has a source file of its name', sorted(f'{path} has none' for path in units - mirrored))

# A bare name in a backtrace is enough.  Of the headers, which no backtrace has, a folder's own may be called as the public one of its face.
places = collections.defaultdict(list)
for path in project.files('src', 'tools', ext=('.c', '.h')) + project.files('include', ext=('.c',)):
    places[os.path.basename(path)].append(path)
report.check('file names are unique in src/ and tools/', [f'{n}: {", ".join(p)}' for n, p in sorted(places.items()) if len(p) > 1])

HEAD = re.compile(r'\A/\*\n \* (\S+) - .*?Copyright The ctrace authors\.  SPDX-License-Identifier: Apache-2\.0\n', re.DOTALL)
wrong = []
for path in project.files('src', 'tools', 'include', ext=('.c', '.h')):
    head = HEAD.match(project.text(path))
    if not head:
        wrong.append(f'{path}: does not start with "/*\\n * name - purpose" ... copyright')
    elif not (os.sep + path).endswith(os.sep + head.group(1)):
        wrong.append(f'{path}: calls itself {head.group(1)}')
report.check('every source file starts with its name, purpose and licence', wrong)

folders = {path.split('/')[1] for path in sources}
headers = set(project.files('src', ext=('.h',)))
report.check('every folder has its header', sorted(f'src/{f}/{f}.h is missing' for f in folders if f'src/{f}/{f}.h' not in headers))
report.end()
