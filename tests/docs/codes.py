#!/usr/bin/env python3
"""The table of codes in docs/component-trace.md says what `ctrace explain` says, row by row; that of messages in docs/reading.md what HELP at
`ctrace ipcs` says."""

import re

import project

BLOCK = re.compile(r'^(?:RC|Abend) (\w+)(?:, reason (\w+))?: (\w+)\n((?:  .*\n)+)', re.MULTILINE)
ROW = re.compile(r'^\| (?:RC \w+|\w+/\w+|abend 00D-\w+) .*\|$', re.MULTILINE)

report = project.Report()


def explained(rc):
    """The rows that the table should have for a return code, or for the abend."""
    answer = project.run('ctrace', 'explain', rc)
    report.check(f'ctrace explain {rc}', [] if answer.returncode == 0 else [answer.stderr.strip()])
    for code, reason, name, lines in BLOCK.findall(answer.stdout):
        meaning, cause, cure = re.split(' Cause: | Cure: ', re.sub(r'\s+', ' ', lines).strip())
        if code == '00D':
            place = f'abend {code}-{reason}'
        elif reason:
            place = f'{code}/{reason} `CTRACE_RSN_{name}`'
        else:
            place = f'RC {code} `CTRACE_RC_{name}`'
        yield '| ' + ' | '.join(text.replace('|', r'\|') for text in (place, meaning, cause, cure)) + ' |'


document = project.text('docs/component-trace.md')
found = ROW.findall(document[document.find('\n## 5. Codes'):document.find('\n## 6. ')])
wanted = [row for rc in ('04', '08', '0C', '00D') for row in explained(rc)]
report.check('ctrace explain was understood', [] if len(wanted) > 50 else [f'{len(wanted)} codes'])
report.check('every code is in docs/component-trace.md as ctrace explain says it', [f'missing: {row}' for row in wanted if row not in found])
report.check('docs/component-trace.md has no other code', [f'to go: {row}' for row in found if row not in wanted])
report.check('the codes are in order', [] if found == [row for row in wanted if row in found] else ['they are not'])

header = project.text('include/ctrace/component.h')
reasons = set(re.findall(r'^#define (CTRACE_RSN_\w+) ', header, re.MULTILINE))
report.check('every reason of ctrace/component.h is among them', sorted(r for r in reasons if f'`{r}`' not in ''.join(found)))

MESSAGE = re.compile(r'^\| `(ITT1\w+I)` \| (.*) \| (.*) \|$', re.MULTILINE)
stated = MESSAGE.findall(project.text('docs/reading.md'))
ids = re.findall(r'\{ "(ITT1\w+I)"', project.text('src/print/ipcs/ipcs_message.c'))
report.check('docs/reading.md has the messages of ctrace ipcs, in their order', [] if ids and [row[0] for row in stated] == ids else [f'wanted: {ids}'])
wrong = []
for message, text, more in stated:
    answer = re.sub(r'(?<=\S)  +', ' ', project.run('ctrace', 'ipcs', f'HELP {message}').stdout)
    if answer != f'{message} {text.replace("…", "...")}\n    {more}\n':
        wrong.append(f'{message}: HELP says: {answer.strip()}')
report.check('and with their words', wrong)
report.end()
