#!/usr/bin/env python3
"""Each function that a directory offers has a test, file names are unique, and every file starts with what it is for."""

import collections
import os
import re

import project

report = project.Report()
# What the tool's verbs are made of is tested by running the tool: tests/process, tests/golden.
# What copies into streams is tested with real servers: tests/process/streams.py, hosts.py.
# What answers Prometheus is tested with a real one: tests/process/metrics.py.
# What stands in front of libcob is tested by running COBOL programs: tests/process/cobol_runtime.py.
EXEMPT = ('cli', 'operator', 'tools', 'cobol_runtime', 'modules/nats', 'modules/metrics')
OURS = re.compile(r'(?:ct|ctrace|cobctf)_\w+|CBL_\w+')
INLINE = re.compile(r'^static inline [^;{}()]*?\b(ct_\w+)\(', re.MULTILINE)
sources = project.files('src', 'modules', ext=('.c',))
directory_of = {path: os.path.dirname(path).removeprefix('src/') for path in project.files('src', 'modules', ext=('.c', '.h'))}
directories = sorted(set(directory_of.values()) - {'lib'})


def unit(directory):
    """tests/unit/ has a directory for each directory of src/, by its last name."""
    return f'tests/unit/{os.path.basename(directory)}'


homes = {unit(directory) for directory in directories}
report.check('every file of tests/unit/ is of a directory of src/, or of modules/',
             [f'{path}: put it into tests/unit/<last name of the directory whose functions it tests>/' for path in project.files('tests/unit')
              if os.path.dirname(path) not in homes])
report.check('every file of tests/unit/ is test_<name>.c, or <name>_fixture.h for several of them',
             [f'{path} is neither' for path in project.files('tests/unit') if not re.search(r'/(test_\w+\.c|\w+_fixture\.h)$', path)])


def declared(*paths):
    return set(re.findall(r'\b(\w+)\s*\(', '\n'.join(project.code(project.text(path)) for path in paths)))


# What a directory offers: the functions that another one's objects refer to, or that a public header declares; and the inline functions of
# its headers that the sources of another one call.
home, users = {}, collections.defaultdict(set)
for directory in directories:
    for _, letter, symbol in project.symbols(directory):
        if letter == 'T' and OURS.fullmatch(symbol):
            home[symbol] = directory
        elif letter == 'U':
            users[symbol].add(directory)
for symbol in declared(*project.files('include', ext=('.h',))):
    users[symbol].add('include')
calls = {directory: declared(*(path for path in directory_of if directory_of[path] == directory)) for directory in directories}
for path, directory in directory_of.items():
    for symbol in INLINE.findall(project.code(project.text(path))) if path.endswith('.h') else ():
        home[symbol] = directory
        users[symbol] |= {other for other in directories if symbol in calls[other]}

# A test names what it calls.  What runs only within another call, such as that of fork(), is named in a comment there: "calls ct_x()".
named = {}
for place in homes:
    texts = [project.text(path) for path in project.files(place)]
    named[place] = set(re.findall(r'\w+', '\n'.join(map(project.code, texts)))) | set(re.findall(r'\bcalls (\w+)\(\)', '\n'.join(texts)))
offered = {symbol: directory for symbol, directory in home.items() if users[symbol] - {directory}}
wrong = []
for symbol, directory in sorted(offered.items(), key=lambda item: (item[1], item[0])):
    if directory.split('/')[0] not in EXEMPT and symbol not in named[unit(directory)]:
        by = ', '.join(sorted(users[symbol] - {directory}))
        wrong.append(f'{symbol}() of {directory}, offered to {by}: call it in a test of {unit(directory)}/')
report.check('each function that a directory offers to others is named in a test of its directory', wrong)
report.check('most functions were found', [] if len(offered) > 500 else [f'only {len(offered)}; is the build in {project.BUILD} complete?'])

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
headers = set(project.files('src', ext=('.h',)))
report.check('every directory has its header', [f'src/{f}/{os.path.basename(f)}.h is missing' for f in directories
                                                if f.split('/')[0] not in ('tools', 'modules') and f'src/{f}/{os.path.basename(f)}.h' not in headers])
report.end()
