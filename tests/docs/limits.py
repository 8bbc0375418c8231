#!/usr/bin/env python3
"""Sizes and limits that documents, manual pages and public headers quote are those of the constants in the sources.

limits.txt has a line for each quotation: the document, and its words with the constant in braces in place of the number.  A sentence of a
document that names a limit or a size has such a line; without braces when its number is no constant of ours.
"""

import os
import re

import project

# A number that a reader would take for a limit of ctrace, or for a size.
LIMIT = re.compile(r'\b(?:at most|up to|more than|longer than|larger than) [0-9][0-9,]*|\b[0-9][0-9.,]* (?:KiB|MiB|GiB)\b')
NUMBER = r'([0-9][0-9,.]*(?: ?(?:[KMG]iB|KB|[KMG])\b)?)'
UNITS = {'K': 10, 'KB': 10, 'KiB': 10, 'M': 20, 'MiB': 20, 'G': 30, 'GiB': 30}
DEFINED = re.compile(r'^[ \t]*#[ \t]*define (\w+)[ \t]+((?:[^\n\\]|\\\n)+)', re.MULTILINE)
NAME = re.compile(r'(?<!\w)(?:\w+\.[ch]:)?[A-Z_][A-Z0-9_]*')

defined = {}  # NAME and file.c:NAME: their texts
for path in project.files('src', 'modules', 'include', ext=('.c', '.h')):
    for name, text in DEFINED.findall(project.code(project.text(path))):
        defined.setdefault(name, set()).add(text.strip())
        defined[f'{os.path.basename(path)}:{name}'] = {text.strip()}


def value(expression):
    """An expression of constants as C has it: casts and suffixes go, names are looked up."""
    def known(match):
        texts = defined.get(match.group(), set())
        if len(texts) != 1:
            raise ValueError(f'{match.group()} is defined {len(texts)} times; file.c:NAME says which one')
        return str(value(texts.copy().pop()))
    plain = re.sub(r'\((?:size_t|u?int\d+_t)\)', '', expression)
    plain = re.sub(r'\b(0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]+\b', r'\1', plain)
    plain = NAME.sub(known, plain)
    if not re.fullmatch(r'[0-9a-fA-FxX+\-*/()<> \t]+', plain):
        raise ValueError(f'{expression} is not a number')
    return eval(plain.replace('/', '//'))  # digits and operators only


def number(text):
    digits, unit = re.fullmatch(r'([0-9,.]+?)[,.]? ?([KMGiB]*)', text).groups()
    return float(digits.replace(',', '')) * (1 << UNITS.get(unit, 0))


def prose(path):
    """Without code blocks; the lines of a paragraph or of a comment are one."""
    text = project.text(path)
    if path.endswith('.h'):
        text = re.sub(r'^[ \t]*(?:/\*|\*/?|//)?', '', text, flags=re.MULTILINE)
    else:
        text = re.sub(r'^```.*?^```', '', text, flags=re.DOTALL | re.MULTILINE)
        text = '\n'.join(line for line in text.split('\n') if not line.startswith(('    ', '\t')))
    return re.sub(r'\s+', ' ', text)


def pattern(words):
    parts = re.split(r'\{[^}]*\}', words)
    return NUMBER.join(re.escape(part) for part in parts)


report = project.Report()
# Decisions say what held when they were made.
documents = {path: prose(path) for path in project.files('README.md', 'docs', ext=('.md',)) + project.files('man')
             + project.files('include', ext=('.h',)) if not path.startswith('docs/decisions/')}
covered = {path: [] for path in documents}
wrong = []
lines = [line for line in project.text('tests/docs/limits.txt').split('\n') if line and not line.startswith('#')]
for line in lines:
    path, _, words = line.partition(': ')
    if path not in documents:
        wrong.append(f'limits.txt: no document {path}')
        continue
    found = list(re.finditer(pattern(words), documents[path]))
    if not found:
        wrong.append(f'{path} does not say "{words}": correct limits.txt')
    for match in found:
        covered[path].append(match.span())
        for expression, quoted in zip(re.findall(r'\{([^}]*)\}', words), match.groups()):
            try:
                if number(quoted) != value(expression):
                    wrong.append(f'{path} says {quoted} in "{match.group()}"; {expression} is {value(expression)}')
            except ValueError as error:
                wrong.append(f'limits.txt: {path}: {error}')
report.check('quoted sizes and limits are those of the constants', wrong)

wrong = []
for path, text in documents.items():
    for match in LIMIT.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end in covered[path]):
            wrong.append(f'{path}: "...{text[max(0, match.start() - 40):match.end() + 20]}...": limits.txt needs a line with its constant')
report.check('each quoted size or limit has a line in limits.txt', wrong)
report.check('there are quotations', [] if sum('{' in line for line in lines) > 30 else ['limits.txt has hardly any'])
report.end()
