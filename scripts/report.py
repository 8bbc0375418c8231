#!/usr/bin/env python3
"""report.py LOG TEST... - what the tests say, summed up check by check from Meson's JSON log.

Shows the output of the failing tests, names the skipped checks, and closes with "N passed, N failed".  A test
that is not in the log, or that failed without a failed check, counts as one failed.
"""

import json
import re
import sys

CHECK = re.compile(r'^(not )?ok\b\s*\d*\s*-?\s*(.*?)\s*(?:#\s*(skip|todo)\b\s*(.*))?$', re.IGNORECASE)


def main():
    log, names = sys.argv[1], sys.argv[2:]
    try:
        with open(log, encoding='utf-8') as lines:
            results = [json.loads(line) for line in lines]
    except (OSError, ValueError) as error:
        results = []
        print(f'{log}: {error}')
    passed = failed = 0
    skipped = []
    by_name = {result['name'].split(' / ')[-1]: result for result in results}
    for name in names:
        result = by_name.get(name)
        if result is None:
            print(f'\n==== {name}: did not run')
            failed += 1
            continue
        good = bad = 0
        for line in (result.get('stdout') or '').splitlines():
            match = CHECK.match(line)
            if not match:
                continue
            is_bad, what, directive, why = match.groups()
            if directive and directive.lower() == 'skip':
                skipped.append(f'{name}: {what} {why or ""}'.rstrip())
            elif is_bad:
                bad += 1
            else:
                good += 1
        if bad == 0 and result['result'] not in ('OK', 'SKIP'):
            bad = 1
        if bad:
            print(f'\n==== {name}: {result["result"]}, {bad} failed')
            print((result.get('stdout') or '').rstrip())
            print((result.get('stderr') or '').rstrip())
        passed += good
        failed += bad
    if skipped:
        print(f'\n{len(skipped)} skipped:')
        for line in skipped:
            print(f'    {line}')
    print(f'\n{passed} passed, {failed} failed')
    return 1 if failed or passed == 0 else 0


sys.exit(main())
