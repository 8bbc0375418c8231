#!/usr/bin/env python3
"""COBOL records read back as the program shows them: programs that GnuCOBOL compiles write records, DISPLAY each field of them, and what the
copybook reader makes of the same bytes and the same copybook must be the same, line for line.

Two kinds: tests/cobol/record_*.cbl with their copybooks, which are records as people write them, and programs made here, which have every usage
with every size and sign, filled with the limits of each picture."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests'))
import tap  # noqa: E402

SOURCE = os.environ['CTRACE_SOURCE']
READER = [os.path.join(os.environ['CTRACE_BUILD'], 'tests', 'unit_copybook'), 'test_copybook_decode']
COBOL = os.path.join(SOURCE, 'tests', 'cobol')
checks = tap.Tap(is_live=True)
check = checks.clean


def run(*command):
    done = subprocess.run(command, capture_output=True, timeout=300)
    return done.stdout.decode('utf-8', 'backslashreplace'), done.stderr.decode('utf-8', 'replace'), done.returncode


def differences(wanted, got):
    wanted, got = wanted.splitlines(), got.splitlines()
    found = [f'program: {w}\nreader:  {g}' for w, g in zip(wanted, got) if w != g]
    if len(wanted) != len(got):
        found.append(f'{len(wanted)} lines of the program, {len(got)} of the reader; first alone: '
                     f'{(wanted + got)[min(len(wanted), len(got))]}' if wanted or got else '')
    if not wanted:
        found.append('the program showed nothing')
    return '\n'.join(found)


def compare(name, program, copybook, dialect='default', flags=(), options=()):
    """Compiles and runs; the program writes records.bin and shows NAME=value lines."""
    if os.path.exists('records.bin'):
        os.remove('records.bin')
    out, err, status = run('cobc', '-x', '-w', f'-std={dialect}', '-I', os.path.dirname(copybook), *flags, '-o', name, program)
    if status:
        return f'cobc: {err}'
    shown, err, status = run(f'./{name}')
    if status:
        return f'the program ended with {status}: {err}'
    read, err, status = run(*READER, copybook, 'records.bin', dialect, *options)
    return err if status else differences(shown, read)


# ---- programs that are made here

SIZES = list(range(1, 19))


def limits(digits, scale, signed):
    """Literals: zero, one, the greatest, one in between, and these below zero."""
    def literal(text):
        text = text.rjust(scale + 1, '0')
        return text if scale == 0 else f'{text[:len(text) - scale]}.{text[len(text) - scale:]}'
    numbers = ['0' * digits, '1', '9' * digits, ('1234567890' * 4)[:digits]]
    found = [literal(n) for n in numbers]
    return found + ['-' + n for n in found[1:]] if signed else found


def numeric_fields():
    """(picture, clauses, literals) of numbers."""
    for digits in SIZES + [20, 29, 38]:
        for scale in sorted({0, 1, 2, digits}):
            if scale > digits or (scale > 2 and digits % 3):
                continue
            whole = digits - scale
            picture = (f'9({whole})' if whole else '') + (f'V9({scale})' if scale else '')
            for usage in ('', 'COMP', 'COMP-5', 'COMP-X', 'COMP-3', 'COMP-6', 'BINARY', 'PACKED-DECIMAL'):
                if digits > 18 and usage in ('COMP', 'COMP-5', 'COMP-X', 'BINARY'):
                    continue
                if usage in ('BINARY', 'PACKED-DECIMAL') and scale:
                    continue
                yield picture, usage, limits(digits, scale, False)
                if usage != 'COMP-6':
                    yield 'S' + picture, usage, limits(digits, scale, True)
            for sign in ('LEADING', 'TRAILING', 'LEADING SEPARATE', 'TRAILING SEPARATE'):
                yield 'S' + picture, f'SIGN IS {sign}', limits(digits, scale, True)
    for picture in ('P9', 'PP9(3)', 'P(4)9(4)'):
        yield picture, '', ['0', '0.00001', '0.00099']
        yield 'S' + picture, 'SIGN LEADING SEPARATE', ['0', '-0.00001', '0.00099']
    for usage, bits in (('BINARY-CHAR', 8), ('BINARY-SHORT', 16), ('BINARY-LONG', 32), ('BINARY-DOUBLE', 64)):
        low, high = -2 ** (bits - 1), 2 ** (bits - 1) - 1
        yield None, usage, ['0', '1', str(high), str(low + 1)]
        yield None, f'{usage} SIGNED', ['0', '-1', str(high)]
        yield None, f'{usage} UNSIGNED', ['0', '1', str(2 ** bits - 1)]
    for usage in ('COMP-1', 'COMP-2'):
        yield None, usage, ['0', '1.5', '-0.25', '123456.75', '0.1', '-12345678.9', '1.0E10', '2.5E-7']
    for size in range(1, 9):
        yield f'X({size})', 'COMP-X', ['0', '1', str(min(256 ** size - 1, 10 ** 18 - 1)), '77']
    for size in (1, 2, 4, 8):
        yield f'X({size})', 'COMP-5', ['0', '1', str(min(256 ** size - 1, 10 ** 18 - 1)), '77']


def text_fields():
    yield 'X', '', ['SPACES', '"a"', '"\'"']
    yield 'X(10)', '', ['SPACES', '"hello"', '"0123456789"', 'ALL "xy"']
    yield 'X(10)', 'JUSTIFIED RIGHT', ['SPACES', '"hello"', '"longer than it"']
    yield 'A(5)', '', ['SPACES', '"abc"']
    yield 'X(3)9(2)', '', ['SPACES', '"ab"']
    yield 'XX/XX/XX', '', ['"123456"', 'SPACES']
    yield 'XBX(3)0X', '', ['"abcde"']
    yield 'A(2)BA(2)', '', ['"abcd"']
    for picture in ('ZZZ9', 'ZZZZ', 'Z(5)9.99', '-(5)9.99', '+(5)9', '$$,$$9.99', '$(6).99', '**,**9.99', 'ZZ,ZZZ,ZZ9', '9(5).99CR',
                    'Z(4)9DB', '9(3)-', 'Z(3).9(2)+', '99/99/9(4)', '9B9B9', '990099', 'Z(3)9V99', '+ZZ9', '$ZZ9.99-', '****', '9(3),9(3)'):
        yield picture, '', ['0', '1', '12.5', '-98.76', '4321']
    for picture in ('9(5)', '9(3)V99', 'ZZ9'):
        yield picture, 'BLANK WHEN ZERO', ['0', '12']


def show(fields):
    return [f"           DISPLAY '{name}=' {name}" for name, _, _, _ in fields]


def make(fields, stem):
    """The copybook and the program; round r moves the r-th literal of each field."""
    with open(f'{stem}.cpy', 'w') as copybook:
        copybook.write('       01  MADE-RECORD.\n')
        for name, picture, clauses, _ in fields:
            copybook.write(f'           05  {name}\n               {f"PIC {picture} " if picture else ""}{clauses}.\n')
    lines = ['       IDENTIFICATION DIVISION.', '       PROGRAM-ID. made.', '       ENVIRONMENT DIVISION.', '       INPUT-OUTPUT SECTION.',
             '       FILE-CONTROL.', '           SELECT RECORD-FILE ASSIGN TO "records.bin"', '           ORGANIZATION SEQUENTIAL.',
             '       DATA DIVISION.', '       FILE SECTION.', '       FD RECORD-FILE.', f'       COPY "{stem}.cpy".',
             '       PROCEDURE DIVISION.', '       MAIN.', '           OPEN OUTPUT RECORD-FILE']
    for turn in range(max(len(literals) for _, _, _, literals in fields)):
        for name, _, _, literals in fields:
            lines += ['           MOVE', f'           {literals[turn % len(literals)]}', f'           TO {name}']
        lines.append('           PERFORM PUT-RECORD')
    lines += ['           CLOSE RECORD-FILE', '           STOP RUN.', '       PUT-RECORD.'] + show(fields) + ['           WRITE MADE-RECORD.']
    with open(f'{stem}.cbl', 'w') as program:
        program.write('\n'.join(lines) + '\n')
    return f'{stem}.cbl', os.path.abspath(f'{stem}.cpy')


def named(fields):
    return [(f'F-{i:04}', picture, clauses, literals) for i, (picture, clauses, literals) in enumerate(fields)]


def chunks(fields, size):
    return [fields[i:i + size] for i in range(0, len(fields), size)]


# ---- records as people write them

RECORDS = [
    ('customer', 'default', [], [], 'fixed format, COPY REPLACING, redefinitions, level 88'),
    ('order', 'default', [], [], 'free format, constants, usage of groups, alignment, a table at the end'),
    ('shapes', 'mf', [], [], 'larger redefinitions, types, the types of mfctf.cpy'),
    ('middle', 'mf', [], [], 'fields behind a group that ends with a table'),
    ('nested', 'default', ['-fodoslide'], ['slide'], 'a table in a table, both as long as fields say'),
]
copy = os.path.join(SOURCE, 'copy')
for name, dialect, flags, options, what in RECORDS:
    program, copybook = (os.path.join(COBOL, f'record_{name}.{end}') for end in ('cbl', 'cpy'))
    check(f'{name}: {what}', compare(f'record_{name}', program, copybook, dialect, ['-I', copy, *flags], [f'directories={copy}', *options]))

for dialect in ('default', 'mf', 'ibm'):
    for what, fields in (('numbers', named(numeric_fields())), ('texts', named(text_fields()))):
        for i, part in enumerate(chunks(fields, 250)):
            stem = f'{what}_{dialect}_{i}'
            check(f'{dialect}: {what} {part[0][0]} to {part[-1][0]}', compare(stem, *make(part, stem), dialect=dialect, flags=['-fpretty-display']))

sys.exit(checks.end())
