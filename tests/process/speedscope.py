#!/usr/bin/env python3
"""What ctrace export writes is opened by speedscope, in a browser, without a warning, and its Sandwich view adds up by name.

speedscope comes from scripts/speedscope.sh; without it the files are only held against what its format demands.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import base64
import collections
import json
import os
import subprocess
import sys

SOURCE, BUILD = os.environ["CTRACE_SOURCE"], os.environ["CTRACE_BUILD"]
sys.path.insert(0, SOURCE + "/tests/report")
import browser  # noqa: E402

ORDERS = 60
PAGE = BUILD + "/speedscope/dist/release/index.html"
tap = browser.Tap()


def trace():
    with open("cfg", "w") as file:
        file.write(f"mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#location = {os.getcwd()}/shop\n")
    subprocess.run([BUILD + "/tests/report_subject", "shop", str(ORDERS)], check=True, env={**os.environ, "MFTRACE_CONFIG": os.getcwd() + "/cfg"})


def export(form, path, *words):
    made = subprocess.run([BUILD + "/ctrace", "export", "--format", form, "--catalog", SOURCE + "/tests/report/shop.yaml", "-o", path, *words, "shop"],
                          capture_output=True, text=True)
    tap.same(f"{form}: made without a word", (made.returncode, made.stdout, made.stderr), (0, "", ""))


def spans():
    """How often each span is in the trace, and its time in all, by ctrace show."""
    found = collections.defaultdict(lambda: [0, 0])
    shown = subprocess.run([BUILD + "/ctrace", "show", "--json", "--catalog", SOURCE + "/tests/report/shop.yaml", "shop"], capture_output=True, text=True, check=True)
    for event in map(json.loads, shown.stdout.splitlines()):
        if "duration_ns" in event:
            name = {"ORDEREND": "shop.orders ORDER", "ROWS": "shop.db SELECT * FROM CUSTOMER"}[event["mnemonic"]]
            found[name][0] += 1
            found[name][1] += event["duration_ns"]
    return found


def check_format(wanted):
    """speedscope's own format, by its rules: https://www.speedscope.app/file-format-schema.json."""
    with open("shop.speedscope.json") as file:
        document = json.load(file)
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    found = collections.defaultdict(lambda: [0, 0])
    for profile in document["profiles"]:
        stack, last = [], profile["startValue"]
        assert profile["type"] == "evented" and profile["unit"] == "nanoseconds", profile
        for event in profile["events"]:
            assert event["at"] >= last, event
            last = event["at"]
            if event["type"] == "O":
                stack.append(event)
            else:
                began = stack.pop()
                assert event["type"] == "C" and began["frame"] == event["frame"], event
                found[frames[event["frame"]]][0] += 1
                found[frames[event["frame"]]][1] += last - began["at"]
        assert not stack and last == profile["endValue"], profile["name"]
    tap.same("each name once", sorted(frames), sorted(set(frames)))
    tap.same("every span, as long as it took", dict(found), dict(wanted))
    tap.same("a profile for each thread", len(document["profiles"]), 3)
    totals = [profile["endValue"] - profile["startValue"] for profile in document["profiles"]]
    tap.check("one of them is open at first", document["activeProfileIndex"] < 3, totals)
    return document


def open_in_speedscope(page, path, view):
    with open(path, "rb") as file, open(path + ".js", "w") as script:
        script.write(f'speedscope.loadFileFromBase64("{path}", "{base64.b64encode(file.read()).decode()}")')
    page.call("Page.navigate", url="about:blank")
    page.console.clear()
    page.call("Page.navigate", url=f"file://{PAGE}#localProfilePath={os.getcwd()}/{path}.js&view={view}")


ROWS = "[...document.querySelectorAll('tr')].map(row => row.innerText.trim()).filter(text => text.includes('shop.'))"


def sandwich(page, path):
    open_in_speedscope(page, path, "sandwich")
    return page.wait(f"(rows => rows.length > 0 && rows)({ROWS})")


def said(page):
    # Without a graphics card Chromium has words of its own.
    return [entry for entry in page.console if entry[0] in ("warning", "error") and "WebGL" not in str(entry[1])]


def check_pages(page, document):
    for path in ("shop.speedscope.json", "shop.json"):
        rows = sandwich(page, path)
        tap.same(path + ": speedscope has nothing to say", (said(page), page.thrown), ([], []))
        names = sorted(row.split("\t")[-1].split("\n")[-1].strip() for row in rows)
        tap.same(path + ": a line a name", names, ["shop.db SELECT * FROM CUSTOMER", "shop.orders ORDER"])
        total = [row for row in rows if "ORDER" in row.split("\n")[-1]]
        # An order is the outermost span: its total is the whole of the thread's.
        tap.check(path + ": summed", len(total) == 1 and "100" in total[0], rows)
        page.screenshot(f"{BUILD}/artefacts/{path.removesuffix('.json')}-sandwich.png")


def main():
    trace()
    export("speedscope", "shop.speedscope.json")
    export("chrome", "shop.json")
    document = check_format(spans())
    if not os.path.exists(PAGE):
        tap.skip("speedscope in a browser", "no speedscope; scripts/speedscope.sh fetches it")
    else:
        os.makedirs(BUILD + "/artefacts", exist_ok=True)
        browser.with_browser(tap, lambda page: check_pages(page, document))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
