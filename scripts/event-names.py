#!/usr/bin/env python3
"""event-names.py OUTPUT.h CATALOGUE... - the names of the events in our own catalogues as a C table, for lib/emit/event_names.c.

Called by the build.  It knows as much YAML as these files use; tests/unit/emit/test_event_names.c compares the table with what
the reader of catalogues finds in them.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import re
import sys


def flow_items(text):
    """The items of a list [a, {b: c}, ...], of which the text begins after the bracket."""
    items, item, depth = [], '', 0
    for letter in text:
        if depth == 0 and letter in ',]':
            items.append(item)
            item = ''
            if letter == ']':
                break
            continue
        depth += (letter in '[{') - (letter in ']}')
        item += letter
    return items


def list_names(text, anchors):
    """The names of the arguments in the text after "arguments:"."""
    label = re.match(r'&(\w+)\s', text)
    rest = text[label.end():].lstrip() if label else text.lstrip()
    if rest.startswith('*'):
        return anchors[re.match(r'\*(\w+)', rest)[1]]
    items = flow_items(rest[1:]) if rest.startswith('[') else re.split(r'^ *- ', '\n' + text, flags=re.M)[1:]
    names = []
    for item in items:
        mark = re.match(r'\s*([&*])(\w+)', item)
        name = re.search(r'\bname: ([\w-]+)', item)
        names.append(anchors[mark[2]] if mark and mark[1] == '*' else name[1] if name else item.strip())
        if mark and mark[1] == '&':
            anchors[mark[2]] = names[-1]
    if label:
        anchors[label[1]] = names
    return names


def catalogue_rows(path):
    with open(path, encoding='utf-8') as file:
        text = re.sub(r'^\s*#.*\n', '', re.sub(r'"[^"]*"', '""', file.read()), flags=re.M)
    component = re.search(r'^component: (\S+)', text, re.M)[1]
    parts = re.split(r'^  (\d+):', text, flags=re.M)[1:]
    anchors = {}
    for number, body in zip(parts[::2], parts[1::2]):
        arguments = re.search(r'\barguments:\s', body)
        names = list_names(body[arguments.end():], anchors) if arguments else []
        yield component, number, re.search(r'\bmnemonic: ([\w.-]+)', body)[1], names


def main():
    output, paths = sys.argv[1], sys.argv[2:]
    with open(output, 'w', encoding='utf-8') as file:
        file.write('/* Made by scripts/event-names.py. */\n')
        for path in paths:
            for component, number, mnemonic, names in catalogue_rows(path):
                file.write(f'{{ "{component}", {number}, "{" ".join([mnemonic] + names)}" }},\n')


main()
