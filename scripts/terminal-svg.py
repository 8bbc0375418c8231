#!/usr/bin/env python3
"""terminal-svg.py OUTPUT.svg DIRECTORY COMMAND... - runs each COMMAND in DIRECTORY and draws what a terminal would show.

The picture is the commands' real output, cut to LINES lines and COLUMNS columns; colours are those that the commands write.  One that
ends with & runs until the picture is done, and shows the first line that it writes.  The fonts are the reader's own.  docs/images/demo.svg
is made, after `make demo`, with `scripts/terminal-svg.py docs/images/demo.svg` alone.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import itertools
import os
import re
import shlex
import subprocess
import sys
import xml.sax.saxutils

COLUMNS, LINES = 106, 9
CHARACTER, LINE, MARGIN, TITLE = 7.8, 18, 14, 30

DEMO = [
    'MFTRACE_CONFIG=dpkg-report.cfg ./dpkg-report size | sed -n 1,3p',
    "ctrace show 'data.package == \"gcc-12\"' --records dpkg-report.ctb",
    'MFTRACE_CONFIG=workers.cfg ./workers 4 1000',
    'ctrace show --color --component SHOP.BANK --limit 1 --context 2 workers.ctb',
    'babeltrace2 workers.ctb | head -1',
    'cd killed && MFTRACE_CONFIG=workers.cfg timeout -s KILL 1 ../workers 2 0 | tail -1',
    'ctrace recover',
    'cd killed && ctrace show --event 2 --tail 2 workers.ctb',
    'MFTRACE_CONFIG=kvserver.cfg ./kvserver kv.socket &',
    "ctrace op 'TRACE CT,ON,COMP=KVSERVER'",
    "ctrace op 'R 1,OPTIONS=(GET,PUT,KEYS),END'",
    './kvload kv.socket 4 <packages.txt',
    'ctrace tail --color --from-start --component KVSERVER --limit 2',
    "ctrace op 'D TRACE,COMP=KVSERVER' | tail -n +6",
    "ctrace level 'KVSERVER*' none",
]

# What the escape sequences of `ctrace show --color` and the usual tools stand for.
STYLES = {'1': 'font-weight:bold', '2': 'opacity:0.6', '31': 'fill:#ff7b72', '32': 'fill:#7ee787', '33': 'fill:#e3b341', '34': 'fill:#79c0ff',
          '35': 'fill:#d2a8ff', '36': 'fill:#76e3ea'}
END = '-- end of command --'
ESCAPE = re.compile(r'\x1b\[([0-9;]*)([A-Za-z])')


def start_shell(directory):
    """One for all commands: what runs in the background belongs to it."""
    environment = dict(os.environ, PATH=os.path.dirname(directory) + ':' + os.environ['PATH'], CTRACE_RUN_DIR=os.path.join(directory, 'run'),
                       CTRACE_CATALOG=os.path.join(directory, 'catalog'))
    return subprocess.Popen(['bash'], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            encoding='utf-8', errors='replace')


def end_shell(shell):
    shell.communicate('kill $(jobs -p); wait\n')


def run(shell, command, directory):
    """The lines that the command wrote, at most LINES of them."""
    if command.endswith('&'):
        shell.stdin.write(f'cd {shlex.quote(directory)}\n{command}\n')
        shell.stdin.flush()
        lines = [shell.stdout.readline().rstrip('\n')]
    else:
        shell.stdin.write(f"cd {shlex.quote(directory)}\n{{ {command}\n}} </dev/null\nprintf '\\n{END}\\n'\n")
        shell.stdin.flush()
        text = ''.join(itertools.takewhile(lambda line: line != END + '\n', shell.stdout))
        lines = text.removesuffix('\n').replace(directory + '/', '').splitlines()
    if len(lines) > LINES:
        lines[LINES:] = [f'... ({len(lines) - LINES} more lines)']
    return lines


def pieces(line):
    """(style, text) of each run of characters, COLUMNS characters in all."""
    found, styles, left, at = [], [], COLUMNS, 0
    for match in list(ESCAPE.finditer(line)) + [None]:
        text = line[at:match.start() if match else None]
        if len(text) > left:
            text = text[:max(left - 1, 0)] + ('…' if left > 0 else '')
        left -= len(text)
        if text:
            found.append((';'.join(styles), text))
        if match:
            at = match.end()
            for code in match.group(1).split(';'):
                styles = styles + [STYLES[code]] if code in STYLES else []
    return found


def draw(lines, title):
    width = round(COLUMNS * CHARACTER + 2 * MARGIN)
    height = TITLE + len(lines) * LINE + 2 * MARGIN
    quote = xml.sax.saxutils.escape
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
           f'<title>{quote(title)}</title>',
           '<style>text{white-space:pre}</style>',  # of each text: Chromium has a rule of its own there, so none is inherited
           f'<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>',
           *(f'<circle cx="{20 + 18 * i}" cy="{TITLE / 2 + 2:g}" r="5" fill="{c}"/>' for i, c in enumerate(('#ff5f57', '#febc2e', '#28c840'))),
           '<g font-family="ui-monospace,Menlo,Consolas,\'DejaVu Sans Mono\',monospace" font-size="13" fill="#d0d7de" xml:space="preserve">']
    for number, line in enumerate(lines):
        y = TITLE + MARGIN + (number + 0.75) * LINE
        spans = pieces(line)
        length = sum(len(text) for _, text in spans)
        if length == 0:
            continue
        body = ''.join(f'<tspan style="{style}">{quote(text)}</tspan>' if style else quote(text) for style, text in spans)
        out.append(f'<text x="{MARGIN}" y="{y:g}" textLength="{length * CHARACTER:.1f}" lengthAdjust="spacingAndGlyphs">{body}</text>')
    return '\n'.join(out + ['</g>', '</svg>', ''])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    directory = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else os.path.join(here, 'build/demo'))
    lines = []
    shell = start_shell(directory)
    for command in sys.argv[3:] or DEMO:
        lines += [f'\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m', *run(shell, command, directory), '']
    end_shell(shell)
    with open(sys.argv[1], 'w', encoding='utf-8') as file:
        file.write(draw(lines[:-1], 'ctrace in a terminal'))


main()
