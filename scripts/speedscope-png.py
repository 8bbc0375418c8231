#!/usr/bin/env python3
"""speedscope-png.py FILE.speedscope.json OUTPUT.png VIEW HEIGHT - what speedscope shows of an export, in Chromium.

VIEW is time-ordered, left-heavy or sandwich.  speedscope comes from scripts/speedscope.sh and is looked for in $CTRACE_BUILD or build/.
docs/images/speedscope.png is made of the demo's COBOL program, in the directory of the demo:

    ctrace export --format=speedscope -o orders.speedscope.json orders.ctb
    speedscope-png.py orders.speedscope.json speedscope.png left-heavy 240

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import base64
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "report"))
sys.dont_write_bytecode = True
import browser  # noqa: E402
import palette  # noqa: E402

BUILD = os.environ.get("CTRACE_BUILD") or os.path.join(HERE, "..", "build")
PAGE = os.path.realpath(os.path.join(BUILD, "speedscope", "dist", "release", "index.html"))

path, output, view, height = sys.argv[1:]
if not os.path.exists(PAGE):
    sys.exit(f"{PAGE}: run scripts/speedscope.sh first")
with open(path, "rb") as file, tempfile.NamedTemporaryFile("w", suffix=".js") as script:
    script.write(f'speedscope.loadFileFromBase64("{os.path.basename(path)}", "{base64.b64encode(file.read()).decode()}")')
    script.flush()
    page = browser.Browser(1400, int(height))
    try:
        page.start()
        page.call("Page.navigate", url=f"file://{PAGE}#localProfilePath={script.name}&view={view}")
        page.wait("document.body.innerText.includes('Sandwich')")
        # The picture of the spans is drawn in several frames.
        page.eval("new Promise(done => setTimeout(() => done(true), 3000))")
        page.screenshot(output)
    finally:
        page.close()
palette.shrink(output)
