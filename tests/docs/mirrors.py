#!/usr/bin/env python3
"""Tests mirror the sources, file names are unique, and every file starts with what it is for."""

import collections
import os
import re

import project

report = project.Report()
# What the tool's verbs are made of is tested by running the tool: tests/process, tests/golden.
# What stands in front of libcob is tested by running COBOL programs: tests/process/cobol_runtime.sh.
VERBS = ('src/cli/', 'src/operator/', 'src/tools/', 'src/cobol_runtime/')
sources = project.files('src', 'modules', ext=('.c',))
units = set(project.files('tests/unit', ext=('.c',)))


def mirror(path):
    """tests/unit/ has a directory for each directory of src/, by its last name."""
    return 'tests/unit/{}/test_{}'.format(*path.split('/')[-2:])


report.check('every source file has a unit test of its name',
             [f'{path} has no {mirror(path)}' for path in sources if not path.startswith(VERBS) and mirror(path) not in units])

mirrored = {mirror(path) for path in sources}
report.check('every unit test has a source file of its name', sorted(f'{path} has none' for path in units - mirrored))

# A bare name in a backtrace is enough.  Of the headers, which no backtrace has, a directory's own may be called as the public one of its face.
places = collections.defaultdict(list)
for path in project.files('src', 'modules', ext=('.c', '.h')) + project.files('include', ext=('.c',)):
    places[os.path.basename(path)].append(path)
report.check('file names are unique in src/ and modules/', [f'{n}: {", ".join(p)}' for n, p in sorted(places.items()) if len(p) > 1])

HEAD = re.compile(r'\A/\*\n \* (\S+) - .*?Copyright The ctrace authors\.  SPDX-License-Identifier: Apache-2\.0\n', re.DOTALL)
wrong = []
for path in project.files('src', 'modules', 'include', ext=('.c', '.h')):
    head = HEAD.match(project.text(path))
    if not head:
        wrong.append(f'{path}: does not start with "/*\\n * name - purpose" ... copyright')
    elif not (os.sep + path).endswith(os.sep + head.group(1)):
        wrong.append(f'{path}: calls itself {head.group(1)}')
report.check('every source file starts with its name, purpose and licence', wrong)

# The tool's two directories of parts have a header a part.
directories = {os.path.dirname(path) for path in sources if not path.startswith(('src/tools', 'modules'))}
headers = set(project.files('src', ext=('.h',)))
report.check('every directory has its header',
             sorted(f'{f}/{os.path.basename(f)}.h is missing' for f in directories if f'{f}/{os.path.basename(f)}.h' not in headers))
report.end()
