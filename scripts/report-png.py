#!/usr/bin/env python3
"""report-png.py REPORT.html OUTPUT.png [FROM TO [COMPONENT]] - the page of `ctrace report` as Chromium shows it.

FROM and TO are fractions of the whole trace; of COMPONENT, an event in the middle of what is seen is selected.  docs/images/report.png is made, after
`make demo`, with `scripts/report-png.py build/demo/report.html docs/images/report.png` alone.  The browser is driven as by the tests of the page.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(glob.glob(os.path.join(HERE, "..", "tests", "*", "browser.py"))[0]))
sys.dont_write_bytecode = True
import browser  # noqa: E402

page_path, output = sys.argv[1:3]
page = browser.Browser(1400, 900)
try:
    page.open(page_path)
    page.wait("window.ctraceReport && ctraceReport.timeline.frames > 0 && !ctraceReport.isFiltering")
    print(page.eval("""(() => { const r = ctraceReport, d = r.model.data; return JSON.stringify({view: r.view, keys: Object.keys(r), model: Object.keys(r.model), data: Object.keys(d),
        fns: Object.getOwnPropertyNames(Object.getPrototypeOf(r.timeline)) }); })()"""))
    page.screenshot(output)
finally:
    page.close()
