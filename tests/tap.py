"""tap.py - the checks of a test in Python, reported in TAP; tests/tap.sh is the same for scripts of bash.

A test makes one Tap(), calls its methods, and exits with end().  With is_live each check is printed when it is made: what hangs later has
said how far it came.  Without, all are printed at the end, and `state` takes back those that do not count.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

SHOWN = 40  # lines of an error


class Tap:
    def __init__(self, is_live=False):
        self.lines = []
        self.count = self.failed = 0
        self.is_live = is_live

    def add(self, good, what, told):
        self.count += 1
        self.failed += not good
        lines = [f"{'ok' if good else 'not ok'} {self.count} - {what}", *(f"#   {line}" for line in told)]
        if self.is_live:
            print("\n".join(lines), flush=True)
        else:
            self.lines += lines

    def check(self, what, good, *told):
        """good: it holds; told: what is shown when it does not."""
        self.add(good, what, [] if good else [repr(one)[:2000] for one in told])

    def same(self, what, found, wanted):
        self.check(what, found == wanted, found, wanted)

    def clean(self, what, errors=""):
        """errors: a text, or a list; empty: there are none."""
        texts = [errors] if isinstance(errors, str) else [str(one) for one in errors or []]
        self.add(not errors, what, [line for text in texts for line in text.splitlines()][:SHOWN])

    def skip(self, what, why):
        self.add(True, f"{what} # SKIP {why}", [])

    @property
    def state(self):
        return list(self.lines), self.count, self.failed

    @state.setter
    def state(self, old):
        lines, self.count, self.failed = old
        self.lines = list(lines)

    def end(self):
        print("\n".join([*self.lines, f"1..{self.count}"]))
        return 1 if self.failed else 0
