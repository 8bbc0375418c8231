#!/usr/bin/env python3
"""A commit's subject has at most 72 characters; a change of more than 30 lines says why in a body.

Looks at the commits since the last tag, or since this check came where there is no tag.  Without git there is nothing to look at.
"""

import os
import re

import project

SUBJECT = 72
LINES = 30

report = project.Report()
first = project.run('git', 'describe', '--tags', '--abbrev=0').stdout.strip() if os.path.exists(os.path.join(project.ROOT, '.git')) else ''
if not first and os.path.exists(os.path.join(project.ROOT, '.git')):
    added = project.run('git', 'log', '--diff-filter=A', '--format=%H', '--', 'tests/docs/commits.py').stdout.split()
    first = added[-1] if added else ''
wrong = []
if first:
    for entry in project.run('git', 'log', '--no-merges', '--format=%x01%h%x02%s%x02%b%x02', '--shortstat', f'{first}..HEAD').stdout.split('\x01')[1:]:
        number, subject, body, stat = entry.split('\x02')
        lines = sum(int(n) for n in re.findall(r'(\d+) (?:insertion|deletion)', stat))
        if len(subject) > SUBJECT:
            wrong.append(f'{number}: the subject has {len(subject)} characters: {subject}')
        if lines > LINES and not body.strip():
            wrong.append(f'{number}: {lines} lines, and no body that says why: {subject}')
report.check(f'each commit since {first[:12] or "(no git here)"} has a short subject and says why', wrong)
report.end()
