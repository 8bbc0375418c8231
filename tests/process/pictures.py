#!/usr/bin/env python3
"""Pictures of terminals that scripts/terminal-svg.py draws, in a browser: every blank is there, and no letter is stretched.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess
import sys

SOURCE = os.environ["CTRACE_SOURCE"]
sys.path.insert(0, SOURCE + "/tests/report")
import browser  # noqa: E402

tap = browser.Tap()
# Blanks that are not there have no place in the line; the others' letters are then stretched to its length.
LINES = """[...document.querySelectorAll("text")].map(text => ({ text: text.textContent, drawn: text.getNumberOfChars(),
    widest: Math.max(...[...Array(text.getNumberOfChars()).keys()].map(i => text.getExtentOfChar(i).width)) }))"""


def look(page, path):
    page.open(path)
    page.wait("document.querySelector('text') !== null")
    lines = page.eval(LINES)
    spaced = [line for line in lines if "  " in line["text"]]
    name = os.path.basename(path)
    tap.check(name + ": there are runs of blanks in it", spaced)
    tap.same(name + ": every character is drawn", [line for line in lines if line["drawn"] != len(line["text"])], [])
    tap.same(name + ": no letter is stretched", [line for line in lines if line["widest"] > 10], [])


def main():
    subprocess.run([SOURCE + "/scripts/terminal-svg.py", "made.svg", ".", "printf 'one      two\\n'"], check=True)
    browser.with_browser(tap, lambda page: [look(page, path) for path in ("made.svg", SOURCE + "/docs/images/demo.svg")])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
