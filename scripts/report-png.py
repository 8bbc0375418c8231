#!/usr/bin/env python3
"""report-png.py REPORT.html OUTPUT.png COMPONENT EVENT MILLISECONDS - the page of `ctrace report`, as Chromium shows it.

What is selected is the event of that component and name at a quarter of all of them, and so many milliseconds around it are seen.
docs/images/report.png is made, in the directory of the demo and with CTRACE_CATALOG=catalog, of a page of its own:

    ctrace report --title 'Key-value server' -o server.html kvserver.ctb
    report-png.py server.html report.png KVSERVER PUT 90

The browser is driven as by the tests of the page.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import collections
import glob
import json
import os
import struct
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(glob.glob(os.path.join(HERE, "..", "tests", "*", "browser.py"))[0]))
sys.dont_write_bytecode = True
import browser  # noqa: E402

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



def rows_of(png):
    """The pixels of a screenshot: rows of bytes, three or four a pixel; and how many of these."""
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        if kind == b"IHDR":
            width, _, _, colours = struct.unpack_from(">IIBB", png, at + 8)
        elif kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += size + 12
    step = 4 if colours == 6 else 3
    data, length = zlib.decompress(data), width * step
    before = bytes(length)
    for start in range(0, len(data), length + 1):
        row = bytearray(data[start + 1:start + 1 + length])
        for i in range(length):
            left, up, corner = (row[i - step] if i >= step else 0), before[i], (before[i - step] if i >= step else 0)
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda value: abs(guess - value))
            row[i] = (row[i] + (0, left, up, (left + up) // 2, paeth)[data[start]]) & 255
        before = bytes(row)
        yield [before[i:i + 3] for i in range(0, length, step)]


def with_palette(png):
    """The same picture with 256 colours at most, in half of the bytes."""
    rows = list(rows_of(png))
    counted = collections.Counter(pixel for row in rows for pixel in row).most_common()
    bits = 0
    while True:
        masked = {pixel: tuple(part >> bits for part in pixel) for pixel, _ in counted}
        if len(set(masked.values())) <= 256:
            break
        bits += 1
    most = {}  # of those that become one, the most frequent
    for pixel, _ in counted:
        most.setdefault(masked[pixel], pixel)
    place = {key: n for n, key in enumerate(most)}
    number = {pixel: place[masked[pixel]] for pixel, _ in counted}
    data = b"".join(b"\0" + bytes(number[pixel] for pixel in row) for row in rows)

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return (png[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0))
            + chunk(b"PLTE", b"".join(most.values())) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


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
with open(output, "rb") as file:
    picture = with_palette(file.read())
with open(output, "wb") as file:
    file.write(picture)
