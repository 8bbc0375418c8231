#!/usr/bin/env python3
"""The page of `ctrace report` of a COBOL program's trace: programs, sections and paragraphs are nested spans though no event ends them, files have lanes
beside them, and both the list of names and the flame graph sum by their names.

A screenshot is kept in $CTRACE_BUILD/artefacts/: report-paragraphs.png.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess
import sys

SOURCE, BUILD = os.environ["CTRACE_SOURCE"], os.environ["CTRACE_BUILD"]
sys.path.insert(0, SOURCE + "/tests/report")
import browser  # noqa: E402

tap = browser.Tap()
check, same = tap.check, tap.same


def trace(name):
    with open("cfg", "w") as file:
        file.write(f"mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#location = {os.getcwd()}/{name}\n")
    subprocess.run([BUILD + "/tests/paragraphs_subject", "6", name], check=True, env={**os.environ, "MFTRACE_CONFIG": os.getcwd() + "/cfg"})
    subprocess.run([BUILD + "/ctrace", "report", "--catalog", SOURCE + "/catalog", "-o", name + ".html", name], check=True, capture_output=True)


def load(page, name):
    page.open(name + ".html")
    page.wait("window.ctraceReport && ctraceReport.timeline.frames > 0 && !ctraceReport.isFiltering")


def lanes(page):
    return page.eval("ctraceReport.timeline.groups.map(group => group.lanes.map(lane =>"
                     " [lane.item === '' ? 'thread' : lane.label, lane.rows.length, lane.depths.length]))")


def test_quick(page):
    load(page, "quick")
    same("every event is there, and no more", page.eval("ctraceReport.model.data.count"), 46)
    same("a lane of the thread, and one of each file", lanes(page), [[["thread", 30, 5], ["AUDIT", 8, 1], ["CUSTFILE", 8, 1]]])
    names = page.eval("ctraceReport.spans.sums(null).map(sum => [sum.name, sum.what, sum.isInferred, sum.count])")
    same("spans by name", sorted(names), sorted([
        ["PAYROLL", "program", True, 1], ["TAXCALC", "program", False, 6],
        ["MAIN of PAYROLL", "section", True, 1], ["CLOSING of PAYROLL", "section", True, 1],
        ["INIT of PAYROLL", "paragraph", True, 1], ["LOOP of PAYROLL", "paragraph", True, 6],
        ["FINISH of PAYROLL", "paragraph", True, 1], ["RATES of TAXCALC", "paragraph", True, 6],
        ["OPEN CUSTFILE", "operation", False, 1], ["OPEN AUDIT", "operation", False, 1], ["READ CUSTFILE", "operation", False, 6],
        ["WRITE AUDIT", "operation", False, 6], ["CLOSE CUSTFILE", "operation", False, 1], ["CLOSE AUDIT", "operation", False, 1]]))
    check("what is for itself adds up to the whole", page.eval(
        "(sums => Math.abs(sums.reduce((all, sum) => all + sum.self, 0) - sums.find(sum => sum.name === 'PAYROLL').total) < 1000)"
        "(ctraceReport.spans.sums(null))"))
    stacks = """(() => {
        const spans = ctraceReport.spans, paths = [];
        const walk = (node, path) => {
            for (const found of node.within.values()) {
                paths.push([...path, spans.names.list[found.number].short].join(" > ") + " " + found.count);
                walk(found, [...path, spans.names.list[found.number].short]);
            }
        };
        walk(spans.flame(null), []);
        return paths;
    })()"""
    same("the flame graph", page.eval(stacks), [
        "PAYROLL 1", "PAYROLL > MAIN 1", "PAYROLL > MAIN > INIT 1", "PAYROLL > MAIN > INIT > OPEN CUSTFILE 1", "PAYROLL > MAIN > INIT > OPEN AUDIT 1",
        "PAYROLL > MAIN > LOOP 6", "PAYROLL > MAIN > LOOP > READ CUSTFILE 6", "PAYROLL > MAIN > LOOP > TAXCALC 6",
        "PAYROLL > MAIN > LOOP > TAXCALC > RATES 6", "PAYROLL > MAIN > LOOP > TAXCALC > RATES > WRITE AUDIT 6",
        "PAYROLL > CLOSING 1", "PAYROLL > CLOSING > FINISH 1",
        "PAYROLL > CLOSING > FINISH > CLOSE CUSTFILE 1", "PAYROLL > CLOSING > FINISH > CLOSE AUDIT 1"])
    page.click("#tab-names")
    rows = page.eval("document.getElementById('names').innerText")
    check("the list says what is inferred", "LOOP of PAYROLL (inferred)" in rows and "\nTAXCALC\tprogram" in rows, rows)
    page.eval("ctraceReport.select(2, 'spans')")
    page.wait("document.getElementById('detail').innerText.includes('its end is inferred')")
    check("so does the event that begins a span", True)
    page.eval("ctraceReport.select(3, 'spans')")
    page.wait("document.getElementById('detail').innerText.includes('took 100us')")
    check("an operation says how long it took", "To its" not in page.eval("document.getElementById('detail').innerText"))
    page.click("#tab-flame")
    page.screenshot(BUILD + "/artefacts/report-paragraphs.png")
    page.click("#by-component")
    same("by component: files are the file handler's", lanes(page), [[["thread", 30, 5]], [["AUDIT", 8, 1], ["CUSTFILE", 8, 1]]])


def test_killed(page):
    load(page, "killed")
    same("a process that was killed: nothing is open", page.eval("[...ctraceReport.model.data.spans.last].filter(row => row < 0).length"), 0)
    same("its spans end with its last event", page.eval(
        "(d => [...d.spans.end].filter(end => end === d.x[d.count - 1]).length)(ctraceReport.model.data)"), 5)


def look(page):
    test_quick(page)
    test_killed(page)
    same("nothing thrown", page.thrown, [])
    same("nothing on the console", page.console, [])


def main():
    if browser.find() is None:
        print("1..0 # SKIP no Chromium")
        return 0
    os.makedirs(BUILD + "/artefacts", exist_ok=True)
    trace("quick")
    trace("killed")
    browser.with_browser(tap, look)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
