#!/usr/bin/env python3
"""Every path, file, function, key and command that documents name exists, and no row of a table is there twice."""

import os
import re

import project

PATH = re.compile(r'^[\w.-]+(/[\w.*-]+)+/?$')
FILE = re.compile(r'^[\w-]+\.(c|h|cbl|cpy|sh|py|md|map|in)$')
SYMBOL = re.compile(r'^((?:ctrace|ct|cobctf)_\w*\w|(?:CTRACE|CT|CBL_CTF|MFTRACE|CTF)_\w*\w)(?:\(.*\))?$')
CALL = re.compile(r'^([a-z]\w*)\(\)$')  # also of functions without a prefix
BARE = re.compile(r'^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$')  # a static function, a member, a variable
KEY = re.compile(r'^((?:ctrace|mftrace)\.[a-z]+(?:\.[a-z]+)*)(?:\s*=.*|\.<\w+>.*)?$')
STOP = re.compile(r'^#+ .*?([\w/]+\.[ch]):\s*`?(\w+)\(', re.MULTILINE)
LINK = re.compile(r'\[[^\]]*\]\(([^)\s]+)\)')
TICKS = re.compile(r'(?<!`)`([^`\n]+)`(?!`)')

everything = project.files('.')
names = {os.path.basename(f) for f in everything}
tops = {f.split('/')[0] for f in everything if '/' in f}
directories = set(os.listdir(os.path.join(project.ROOT, 'src')))
sources = '\n'.join(project.text(f) for f in project.files('src', 'include', 'copy', 'tests', 'bench', 'fuzz', 'examples', 'scripts',
                                                          'modules', 'meson.build', 'Makefile', 'packaging',
                                                          ext=('.c', '.h', '.cbl', '.cpy', '.sh', '.py', 'run', '.build', 'Makefile', '.in')))
words = set(re.findall(r'\w+', sources))
called = {name for f in project.files('src', 'include', 'tests', 'bench', 'fuzz', 'examples', 'modules', ext=('.c', '.h'))
          for name in re.findall(r'\b(\w+)\s*\(', project.code(project.text(f)))}
goals = set(re.findall(r'^([a-z]+):', project.text('Makefile'), re.MULTILINE))


def exists(path):
    """Relative to the root, to src/ or to include/; with shell patterns."""
    import glob
    return any(glob.glob(os.path.join(project.ROOT, base, path)) for base in ('', 'src', 'src/lib', 'include', 'tests/unit'))


def without_blocks(markdown):
    markdown = re.sub(r'^```.*?^```', '', markdown, flags=re.DOTALL | re.MULTILINE)
    return '\n'.join(line for line in markdown.split('\n') if not line.startswith(('    ', '\t')))


def diagnostic(term, blocks=''):
    """Why a term in backticks is wrong, or None.  A file that the page's own code blocks make or use is the reader's."""
    if term.startswith('make '):
        wrong = [w for w in term.split()[1:2] if re.match(r'^[a-z]+$', w) and w not in goals]
        return f'the Makefile has no {wrong[0]}' if wrong else None
    file, colon, function = term.partition(':')
    if colon and FILE.match(os.path.basename(file)) and re.match(r'^\w+(\(\))?$', function):
        found = [f for f in everything if ('/' + f).endswith('/' + file)]
        if not found:
            return 'no such file'
        return None if re.search(r'\b' + function.rstrip('()') + r'\b', project.text(found[0])) else f'{function} is not in {found[0]}'
    if PATH.match(term) and 'NNN' not in term:
        if term.split('/')[0] in tops | directories | {'ctrace'} and not exists(term):
            return 'no such path'
        return None
    if FILE.match(term):
        return None if term in names or re.search(r'(?<![\w/.])' + re.escape(term), blocks) else 'no such file'
    symbol = SYMBOL.match(term)
    if symbol:
        return None if symbol.group(1) in words else 'no such name in the sources'
    call = CALL.match(term)
    if call:
        return None if call.group(1) in called else 'no such function in the sources'
    if BARE.match(term):
        return None if term in words else 'no such name in the sources'
    key = KEY.match(term)
    if key and term not in names and not term.endswith('.pc'):
        return None if key.group(1) in sources else 'no such key in the sources'
    return None


def double_rows(markdown):
    """Rows of a table that it has already, whatever their blanks."""
    seen = set()
    for line in markdown.split('\n'):
        if not line.startswith('|'):
            seen.clear()
            continue
        row = tuple(cell.strip() for cell in line.strip('| ').split('|'))
        if row in seen:
            yield line
        seen.add(row)


report = project.Report()
for path in project.files('README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs', 'examples', 'bench', 'src', ext=('.md',)):
    markdown = project.text(path)
    prose = without_blocks(markdown)
    blocks = '\n'.join(set(markdown.split('\n')) - set(prose.split('\n')))
    wrong = []
    for target in LINK.findall(prose):
        if '://' not in target and not target.startswith('#'):
            if not os.path.exists(os.path.join(project.ROOT, os.path.dirname(path), target.split('#')[0])):
                wrong.append(f'link to {target}: no such file')
    for term in TICKS.findall(prose):
        why = diagnostic(term.strip(), blocks)
        if why:
            wrong.append(f'`{term}`: {why}')
    for file, function in STOP.findall(markdown):
        why = diagnostic(f'{file}:{function}')
        if why:
            wrong.append(f'{file}: {function}(): {why}')
    wrong += [f'the row "{row[:60]}" is there twice' for row in double_rows(markdown)]
    report.check(f'{path} names only what is there', wrong)
report.check('there is a README', [] if os.path.exists(os.path.join(project.ROOT, 'README.md')) else ['README.md is missing'])
report.end()
