#!/usr/bin/env python3
"""house.py - figures of the sources: size, lines over 100 columns, one-user functions, cycles of calls, home-made terms.

Reads the sources and the archives of a build (CTRACE_BUILD, else build/).  Prints one figure a line; nothing passes or fails here.
"""

import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get('CTRACE_BUILD') or os.path.join(ROOT, 'build')
TERMS = ('agent', 'drain', 'lane', 'window', 'route', 'gate', 'errand', 'complaint', 'mistake', 'trouble', 'verdict', 'foreign', 'salvage',
         'mended', 'custody', 'station', 'intake', 'claim', 'view', 'origin', 'captured', 'pile', 'moment', 'glance', 'silence', 'folder',
         'adopt', 'told', 'forget')


def lines(*directories, ext=('.c', '.h')):
    found = []
    for directory in directories:
        for at, _, names in os.walk(os.path.join(ROOT, directory)):
            for name in names:
                if name.endswith(ext):
                    with open(os.path.join(at, name), encoding='utf-8') as file:
                        found.append((os.path.relpath(os.path.join(at, name), ROOT), file.read().expandtabs(8).split('\n')[:-1]))
    return found


def cycles(edges):
    """Groups of nodes that reach each other (Tarjan)."""
    index, low, stack, on, groups = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on.add(node)
        for other in edges[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = []
            while not group or group[-1] != node:
                group.append(stack.pop())
                on.discard(group[-1])
            if len(group) > 1:
                groups.append(group)
    sys.setrecursionlimit(100000)
    for node in list(edges):
        if node not in index:
            visit(node)
    return groups


sources = lines('src', 'modules')
code = sources + lines('include')
print(f'lines of src and modules: {sum(len(text) for _, text in sources)}')
print(f'lines of tests: {sum(len(text) for _, text in lines("tests", ext=(".c", ".h", ".py", ".sh")))}')
print(f'lines of code over 100 columns: {sum(len(line) > 100 for _, text in code for line in text)}')
docs = [(path, text) for path, text in lines('docs', ext=('.md',))]
print(f'lines of docs over 100 columns, tables and samples left out: '
      f'{sum(len(line) > 100 and not line.startswith(("|", "    ")) for _, text in docs for line in text)}')
with open(os.path.join(ROOT, 'README.md'), encoding='utf-8') as readme:
    print(f'lines of README.md: {len(readme.readlines())}')
sizes = collections.Counter(os.path.dirname(path) for path, _ in sources)
print('files in the fullest directories: ' + ', '.join(f'{directory} {count}' for directory, count in sizes.most_common(4)))
lengths = sorted(len(text) for path, text in sources if path.endswith('.c'))
print(f'lines of a .c file, median / 90 % / most: {lengths[len(lengths) // 2]} / {lengths[len(lengths) * 9 // 10]} / {lengths[-1]}')

home, used = {}, collections.defaultdict(set)
for at, _, names in os.walk(BUILD):
    for name in names:
        if name.startswith('src_') and name.endswith('.c.o') and 'libctrace.a.p' not in at:
            listing = subprocess.run(['nm', os.path.join(at, name)], capture_output=True, text=True, check=True).stdout
            for fields in (line.split() for line in listing.splitlines()):
                if fields[-2] == 'T':
                    home[fields[-1]] = name
                elif fields[-2] == 'U':
                    used[fields[-1]].add(name)
users = {symbol: used[symbol] - {file} for symbol, file in home.items()}
shared = [symbol for symbol, files in users.items() if files]
print(f'functions shared between files: {len(shared)}, with one other file as user: {sum(len(users[s]) == 1 for s in shared)}')
edges = collections.defaultdict(set)
for symbol in shared:
    for file in users[symbol]:
        edges[file].add(home[symbol])
groups = cycles(edges)
print(f'cycles of calls over files: {len(groups)}, the largest of {max(map(len, groups), default=0)} files')

prose = '\n'.join('\n'.join(text) for _, text in code) + '\n'.join('\n'.join(text) for _, text in docs)
counts = {term: len(re.findall(rf'(?<![A-Za-z]){term}(?:s|ed|ing)?(?![A-Za-z])', prose, re.IGNORECASE)) for term in TERMS}
print(f'home-made terms: {sum(counts.values())}: ' + ', '.join(f'{term} {count}' for term, count in
                                                              sorted(counts.items(), key=lambda item: -item[1]) if count))
