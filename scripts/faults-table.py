#!/usr/bin/env python3
"""faults-table.py LOG... - the table of what the battery of faults tried, from the logs of its
trials.

One row a trial: its name, how many runs or events it took, and passed, FAILED with the first
error, or SKIPPED with the reason. The status is 1 when one failed, or when there is none.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import sys


def main():
    rows = []
    for path in sys.argv[1:]:
        with open(path, encoding='utf-8', errors='replace') as log:
            rows += [[cell.strip() for cell in line[len('# battery |'):].split('|', 2)] for line in log if line.startswith('# battery |')]
    width = max((len(row[0]) for row in rows), default=0)
    print(f'\n{"trial":{width}}  {"count":>9}  result')
    for trial, count, result in rows:
        print(f'{trial:{width}}  {count:>9}  {result}')
    failed = sum(row[2].startswith('FAILED') for row in rows)
    skipped = sum(row[2].startswith('SKIPPED') for row in rows)
    print(f'\n{len(rows) - failed - skipped} trials passed, {failed} failed, {skipped} skipped')
    return 1 if failed or not rows else 0


sys.exit(main())
