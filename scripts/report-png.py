#!/usr/bin/env python3
"""report-png.py REPORT.html OUTPUT.png COMPONENT EVENT MILLISECONDS - the page of `ctrace report`, as Chromium shows it.

What is selected is the event of that component and name at a quarter of all of them, and so many milliseconds around it are seen.
docs/images/report.png is made, in the directory of the demo and with CTRACE_CATALOG=catalog, of a page of its own:

    ctrace report --title 'Key-value server' -o server.html kvserver.ctb
    report-png.py server.html report.png KVSERVER PUT 90

The browser is driven as by the tests of the page.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import glob
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(glob.glob(os.path.join(HERE, "..", "tests", "*", "browser.py"))[0]))
sys.dont_write_bytecode = True
import browser  # noqa: E402
import palette  # noqa: E402

SHOW = """((component, name, ns) => {
    const report = ctraceReport, model = report.model, rows = [];
    for (let row = 0; row < model.data.count; row++) {
        const kind = model.kindOf(row);
        if (kind.name === name && model.componentNames[kind.component] === component)
            rows.push(row);
    }
    const row = rows[rows.length >> 2], at = model.data.x[row];
    report.select(row, "grid");
    report.setView(at - ns / 2, at + ns / 2);
})"""

page_path, output, component, name, milliseconds = sys.argv[1:]
page = browser.Browser(1400, 900)
try:
    page.start()
    page.open(page_path)
    page.wait("window.ctraceReport && ctraceReport.timeline.frames > 0 && !ctraceReport.isFiltering")
    page.eval(f"{SHOW}({json.dumps(component)}, {json.dumps(name)}, {float(milliseconds) * 1e6})")
    page.wait("!ctraceReport.timeline.aim && !ctraceReport.timeline.isDue")
    page.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
    page.screenshot(output)
finally:
    page.close()
palette.shrink(output)
