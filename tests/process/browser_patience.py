#!/usr/bin/env python3
"""What tests of pages make of a browser that does not answer: they begin again, and skip; a page that does not answer is a failure.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import os
import sys

sys.path.insert(0, os.environ["CTRACE_SOURCE"] + "/tests/report")
import browser  # noqa: E402

tap = browser.Tap()


def use(work):
    """What a test's checks come to."""
    inner = browser.Tap()
    browser.with_browser(inner, work)
    return inner


def silent(path, script):
    """A browser of that name that never answers, before all others."""
    os.makedirs(path)
    with open(path + "/chromium", "w") as file:
        file.write(script)
    os.chmod(path + "/chromium", 0o755)
    real = os.environ["PATH"]
    os.environ["PATH"] = path + ":" + real
    inner = use(lambda page: inner.check("not reached", False))
    os.environ["PATH"] = real
    return inner


def no_answer():
    patience, browser.PATIENCE = browser.PATIENCE, 0.2
    inner = silent(os.getcwd() + "/mute", f"#!/bin/sh\necho >>{os.getcwd()}/begun\ncat <&3 >/dev/null\n")
    browser.PATIENCE = patience
    with open("begun") as file:
        tap.same("no answer: tried twice", len(file.readlines()), 2)
    tap.same("no answer: no failure", inner.failed, 0)
    tap.check("no answer: skipped, and why", len(inner.lines) == 1 and "# SKIP the browser did not answer for 0.2 s, twice" in inner.lines[0], inner.lines)
    inner = silent(os.getcwd() + "/gone", "#!/bin/sh\nexit 1\n")
    tap.check("gone at once: skipped", inner.failed == 0 and "# SKIP the browser has gone, twice" in inner.lines[0], inner.lines)


def again(page):
    begun.append(page)
    checks.check("first attempt" if len(begun) == 1 else "second attempt", len(begun) == 2)
    if len(begun) == 1:
        raise browser.Silent("the browser did not answer")


def stuck(page):
    page.patience = 0.5  # it never answers; the browser, which is asked then, has the usual time
    page.eval("(() => { for (;;); })()")


begun, checks = [], browser.Tap()


def main():
    if browser.find() is None:
        print("1..0 # SKIP no Chromium")
        return 0
    no_answer()
    browser.with_browser(checks, again)
    tap.check("silent once: only the second attempt counts", checks.lines == ["ok 1 - second attempt"] or "SKIP" in checks.lines[0], checks.lines)
    inner = use(stuck)
    tap.check("a page that is stuck is a failure", inner.failed == 1 or "# SKIP the browser" in inner.lines[0], inner.lines)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
