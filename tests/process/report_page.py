#!/usr/bin/env python3
"""The page of `ctrace report` in a browser: it loads, without network and without complaint; zoom, search, filters, an event's fields and record,
lists, losses, light and dark, by mouse and by keys alone; and texts that are attacks stay texts.

Screenshots are kept in $CTRACE_BUILD/artefacts/: report.png, report-dark.png, report-narrow.png, report-many.png.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import colorsys
import json
import os
import re
import subprocess
import sys
import time
import traceback

SOURCE, BUILD = os.environ["CTRACE_SOURCE"], os.environ["CTRACE_BUILD"]
sys.path.insert(0, SOURCE + "/tests/report")
import browser  # noqa: E402

tap = browser.Tap()
check, same = tap.check, tap.same


def trace(name, *words, more=""):
    with open("cfg", "w") as file:
        file.write(f"mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#location = {os.getcwd()}/{name}\n{more}")
    subprocess.run([BUILD + "/tests/report_subject", *words], check=True, env={**os.environ, "MFTRACE_CONFIG": os.getcwd() + "/cfg"})


def report(page, *words):
    return subprocess.run([BUILD + "/ctrace", "report", "--catalog", SOURCE + "/tests/report/shop.yaml", "-o", page, *words], capture_output=True, text=True)


class Page(browser.Browser):
    """The page, by what is on it."""

    def load(self, path):
        self.open(path)
        self.wait("window.ctraceReport && ctraceReport.timeline.frames > 0")
        self.settled()

    def text(self, selector):
        return self.eval(f"document.querySelector({json.dumps(selector)}).innerText")

    def all(self, selector):
        return self.eval(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.innerText.trim())")

    def drawn(self):
        """Two frames later all that was asked for is drawn."""
        self.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def settled(self):
        self.wait("!ctraceReport.isFiltering && !ctraceReport.timeline.aim && !ctraceReport.timeline.isDue")
        self.drawn()

    @property
    def view(self):
        return self.eval("[ctraceReport.view.from, ctraceReport.view.to]")

    @property
    def width(self):
        return self.view[1] - self.view[0]

    def search(self, selector, text):
        self.click(selector)
        self.eval(f"document.querySelector({json.dumps(selector)}).select()")
        self.type(text)
        # The filter begins a moment after the last letter.
        self.eval("ctraceReport.filter()")
        self.settled()

    def clear(self):
        self.click("#f-clear")
        self.wait("ctraceReport.model.rows === null && !ctraceReport.isFiltering")

    def pixel(self, colour, box):
        """How many pixels of the canvas in the box (CSS pixels of it) are of a colour of the style."""
        return self.eval(f"""(() => {{
            const canvas = document.getElementById("canvas"), ratio = devicePixelRatio, box = {json.dumps(box)}.map(n => Math.round(n * ratio));
            const probe = document.createElement("canvas").getContext("2d");
            probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue({json.dumps(colour)}).trim();
            probe.fillRect(0, 0, 1, 1);
            const want = probe.getImageData(0, 0, 1, 1).data, found = canvas.getContext("2d").getImageData(...box).data;
            let count = 0;
            for (let i = 0; i < found.length; i += 4)
                count += Math.abs(found[i] - want[0]) + Math.abs(found[i + 1] - want[1]) + Math.abs(found[i + 2] - want[2]) < 12;
            return count;
        }})()""")

    def paints(self, colour, box):
        """As pixel(), until there is one: a canvas that gets another size is empty until the next frame, which may come late."""
        end = time.monotonic() + browser.PATIENCE
        while not (count := self.pixel(colour, box)) and time.monotonic() < end:
            self.drawn()
        return count

    def lane(self, group, index=0):
        """Where a lane is in the window: its top, its event strip's middle, its first span row's middle."""
        return self.eval(f"""(() => {{
            const t = ctraceReport.timeline, line = t.lines.filter(l => l.lane && l.group.name === {json.dumps(group)})[{index}];
            const top = t.canvas.getBoundingClientRect().top + 24 + line.y - t.scroller.scrollTop;
            return [top, top + t.strip / 2, top + t.strip + 8];
        }})()""")


def is_quiet(page, what):
    same(what + ": nothing thrown", page.thrown, [])
    # Chromium's advice about pixel() is ours to hear.
    same(what + ": nothing on the console", [said for said in page.console if "willReadFrequently" not in str(said)], [])
    check(what + ": nothing asked of the network", all(url.startswith("file://") and url.endswith(".html") for url in page.requests), *page.requests)


def test_loading(page):
    page.load("shop.html")
    same("the title", (page.text("#title"), page.eval("document.title")), ("Orders & <b>more</b>", "Orders & <b>more</b> – ctrace report"))
    facts = page.text("#facts")
    check("the facts", all(part in facts for part in ("3 components", "1 process", "3 threads", "on ")), facts)
    # 8 events an order, a SLOW for each slow query, a REFUSED for each thirteenth order, 3 attacks
    events = 60 * 8 + sum((n % 11 == 5) + ((n + 3) % 11 == 5) for n in range(60)) + sum(n % 13 == 12 for n in range(60)) + 3
    same("every event", page.eval("ctraceReport.model.data.count"), events)
    same("durations are printed as the verbs print them", page.eval("[0, 999, 1000, 1900, 99949, 999500, 12345678, 61e9, 3600e9].map(ReportModel.duration)"),
         "0ns 999ns 1.00us 1.90us 99.9us 1.00ms 12.3ms 61.0s 3600s".split())
    same("every span has two ends", page.eval("(s => [s.count, s.last.filter(row => row < 0).length])(ctraceReport.model.data.spans)"), [180, 0])
    check("and is as long as they are apart", page.eval("(() => { const d = ctraceReport.model.data, s = d.spans;"
                                                        " return s.start.every((at, i) => at === d.time[s.first[i]] && s.end[i] === d.time[s.last[i]] && s.end[i] > at); })()"))
    depths = """(name => {
        const m = ctraceReport.model, s = m.data.spans;
        return [...new Set([...s.depth].filter((depth, i) => m.kindOf(s.first[i]).name === name))];
    })"""
    same("queries lie in orders", (page.eval(depths + "('ORDER')"), page.eval(depths + "('QUERY')")), ([0], [1]))
    check("a warning is painted", page.paints("--level-2", [196, 24, 1000, 380]) > 0)
    check("an error is painted", page.paints("--level-3", [196, 24, 1000, 380]) > 0)
    groups = "ctraceReport.timeline.groups.map(group => [group.name.split(' ')[0], group.lanes.length])"
    same("by process at first, where spans of all components are within each other", page.eval(groups), [["report_subject", 3]])
    same("so they are drawn", page.eval("ctraceReport.timeline.groups[0].lanes.map(lane => lane.depths.length)"), [2, 2, 2])
    page.click("#by-component")
    same("components as they come first", page.eval(groups), [["shop.orders", 3], ["shop.cache", 3], ["shop.db", 3]])
    check("the page's policy", page.eval("document.querySelector('meta[http-equiv]').content").startswith("default-src 'none'"))


def test_mouse(page):
    left, top, width, height = page.box("#canvas")
    all_of_it = page.width
    page.wheel(left + 600, top + 60, -240)
    page.settled()
    zoomed = page.view
    check("the wheel zooms in", page.width < .7 * all_of_it, page.view)
    page.wheel(left + 600, top + 60, 0, delta_x=300)
    page.settled()
    check("sideways it moves", page.view[0] > zoomed[0] and abs(page.width - (zoomed[1] - zoomed[0])) < 1, page.view, zoomed)
    moved = page.view
    page.drag(left + 600, top + 150, left + 800, top + 150)
    page.settled()
    check("a drag moves with the pointer", abs((moved[0] - page.view[0]) / page.width - 200 / (page.eval("ctraceReport.timeline.plot"))) < .01, moved, page.view)
    page.click("#zoom-all")
    page.settled()
    same("All: everything", page.width, all_of_it)
    page.drag(left + 400, top + 10, left + 500, top + 10)
    page.settled()
    check("a drag on the axis zooms to it", abs(page.width - all_of_it * 100 / page.eval("ctraceReport.timeline.plot")) < all_of_it / 100, page.view)
    page.wheel(left + 600, top + 60, 20000)
    page.wheel(left + 600, top + 60, 20000)
    for _ in range(12):
        page.wheel(left + 600, top + 60, 240)
    page.settled()
    same("the wheel zooms out as far as everything", page.width, all_of_it)
    overview = page.box("#overview")
    page.drag(overview[0] + 500, overview[1] + 20, overview[0] + 700, overview[1] + 20)
    page.settled()
    check("a drag in the overview shows that part", abs(page.width - all_of_it * 200 / page.eval("ctraceReport.timeline.plot")) < all_of_it / 100, page.view)
    page.click("#zoom-all")
    page.settled()


def place_of(page, name):
    """A span of that name that is broad enough to be hit: its middle in the window, its first row."""
    return page.eval(f"""(() => {{
        const t = ctraceReport.timeline, m = ctraceReport.model, s = m.data.spans, box = t.canvas.getBoundingClientRect();
        let best = -1;
        for (let i = 0; i < s.count; i++)
            if (m.kindOf(s.first[i]).name === {json.dumps(name)} && (best < 0 || s.end[i] - s.start[i] > s.end[best] - s.start[best]))
                best = i;
        const row = s.first[best], line = t.lines.find(l => l.lane && l.lane.thread === m.data.threads[row] && l.lane.component === m.componentOf(row));
        t.revealLine(line);
        return [box.left + (t.pixelOf(s.start[best]) + t.pixelOf(s.end[best])) / 2, box.top + 24 + line.y - t.scroller.scrollTop + t.strip + 8, row, s.end[best] - s.start[best]];
    }})()""")


def test_click(page):
    x, y, row, took = place_of(page, "QUERY")
    page.drawn()
    page.mouse("mouseMoved", x, y)
    check("a tip tells what is there", "shop.db SELECT * FROM CUSTOMER" in page.text("#tip") and "took " in page.text("#tip"), page.text("#tip"))
    page.click_at(x, y)
    page.settled()
    same("a click selects", page.eval("ctraceReport.selected"), row)
    check("its name and level", page.text("#detail h2").split() == ["QUERY", "INFO"], page.text("#detail h2"))
    fields = dict(zip(page.all("#detail .fields th[scope=row]"), page.all("#detail .fields .value")))
    same("its fields", fields.get("statement"), '"SELECT * FROM CUSTOMER"')
    check("flags by name", fields.get("flags") in ("0", "READ", "LOCK", "READ|LOCK"), fields)
    check("how long it took", "entry, took " in page.text("#detail .when"), page.text("#detail .when"))
    check("the list has it", page.eval("document.querySelector('#events-grid [aria-selected=true]').id") == f"event-{row}")
    check("it is told to who listens", "shop.db QUERY, INFO" in page.text("#announce"), page.text("#announce"))
    page.eval("[...document.querySelectorAll('#detail button')].find(b => b.innerText === 'To its exit').click()")
    page.settled()
    same("to the other end", (page.text("#detail h2").split()[0], "exit, after " in page.text("#detail .when")), ("ROWS", True))
    page.eval("[...document.querySelectorAll('#detail button')].find(b => b.innerText === 'Zoom to span').click()")
    page.settled()
    check("zoom to the span", took < page.width < 1.3 * took, page.width, took)
    page.click("#zoom-all")
    page.settled()
    left, top, _, _ = page.box("#events-grid .grid-body")
    page.click_at(left + 200, top + 40)
    page.settled()
    check("a click in the list selects", page.eval("document.querySelector('#events-grid [aria-selected=true]') !== null && ctraceReport.selected >= 0"))


def test_record(page):
    page.search("#f-event", "CUSTOMER")
    same("a filter by name", page.text("#matches"), page.eval("`60 of ${ctraceReport.model.data.count} events`"))
    page.eval("ctraceReport.select(ctraceReport.model.rowAt(0), 'grid')")
    page.settled()
    record = dict(zip(page.all("#detail .record tbody th"), page.all("#detail .record tbody .value")))
    check("the record's fields", record.get("CUST-NAME") in ('"ADA LOVELACE"', '"GRACE HOPPER"', '"JEAN SAMMET"'), record)
    check("a binary number", record.get("CUST-ORDERS", "").isdigit(), record)
    check("a packed number", record.get("CUST-BALANCE", "").lstrip("+-") == "12345.67", record)
    check("a table's occurrences", [record.get(f"CUST-MONTH({n})") for n in (1, 2, 3)] == ["01", "02", "03"], record)
    page.clear()
    page.search("#f-text", "GRACE customer")
    check("words of a record are found", page.eval("ctraceReport.model.count") == 12, page.text("#matches"))
    page.eval("ctraceReport.select(ctraceReport.model.rowAt(0), 'grid')")
    page.settled()
    check("and marked", "GRACE" in page.all("#detail mark"), page.all("#detail mark"))
    check("a condition's name stands by its value", page.eval("[...document.querySelectorAll('#detail .cond')].every(e => /^CUST-IS-/.test(e.innerText))"))
    page.clear()
    page.eval("(m => ctraceReport.select([...Array(m.data.count).keys()].filter(row => m.kindOf(row).name === 'CUSTOMER')"
              ".find(row => ReportData.recordsOf(m.data, row)[0].fields.some(field => field.isBad)), 'grid'))(ctraceReport.model)")
    page.settled()
    check("what does not fit is marked", page.all("#detail .tag.bad") == ["does not fit its picture"], page.all("#detail .tag.bad"))


def test_filters(page):
    whole = page.eval("ctraceReport.model.data.count")
    page.search("#f-text", "no index")
    check("text", page.eval("ctraceReport.model.count") > 0 and set(page.all("#events-grid .grid-body .grid-row > :nth-child(5)")) == {"SLOW"}, page.text("#matches"))
    page.clear()
    page.search("#f-event", "10..12")
    check("a range of events", page.eval("(m => [...Array(m.count).keys()].map(i => m.kindOf(m.rowAt(i)).id).every(id => id >= 10 && id <= 12))(ctraceReport.model)"))
    page.search("#f-event", "ORDER*")
    check("a pattern of names", page.eval("ctraceReport.model.count") == 120, page.text("#matches"))
    page.search("#f-duration", "2ms")
    check("a duration", 0 < page.eval("ctraceReport.model.count") < 120, page.text("#matches"))
    check("the tracks have only these", page.eval("ctraceReport.timeline.groups.length") == 1)
    page.search("#f-duration", "2 parsecs")
    check("what is no duration is marked", page.eval("document.getElementById('f-duration').getAttribute('aria-invalid')") == "true")
    page.clear()
    page.eval("(() => { const s = document.getElementById('f-level'); s.value = '3'; s.dispatchEvent(new Event('change')); })()")
    page.settled()
    check("a level", set(page.all("#events-grid .grid-body .level")) == {"ERROR", "FATAL"}, page.all("#events-grid .grid-body .level"))
    page.clear()
    same("all again", page.eval("ctraceReport.model.count"), whole)
    page.search("#f-text", "not to be found anywhere")
    check("nothing found", "No event is like that" in page.text("#events-grid"), page.text("#events-grid"))
    page.drawn()
    page.clear()


def test_attacks(page):
    page.search("#f-event", "ATTACK")
    rows = page.all("#events-grid .grid-body .data")
    same("a text that is a script is a text", rows[0], 'text="<script>alert(1)</script><img src=x onerror=alert(2)>"')
    check("one that would end the page's", rows[1] == 'text="</script></textarea>--><!-- ${alert(3)} {{DATA}}"', rows[1])
    check("bytes that are no text", rows[2] == r'text="bad \xFF\xC0\xAF bytes \u{202E} turned, \u{1B}[2J cleared\n next line"', rows[2])
    page.eval("ctraceReport.select(ctraceReport.model.rowAt(0), 'grid')")
    page.settled()
    same("a description is a text", page.text("#detail .what"), "A text that wants to be <b>more</b>")
    same("nothing came of them", page.eval("document.querySelectorAll('main img, main script, main b b, #detail b').length"), 0)
    page.clear()


def test_lists(page):
    page.click("#tab-tally")
    rows = page.eval("[...document.querySelectorAll('#tally tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim()))")
    order = next((row for row in rows if row[1] == "ORDER"), [])
    same("the tally counts", order[3:4], ["60"])
    same("the tally's bytes", order[5], "300 bytes")  # five each
    check("sorted by count", [int(row[3].replace("\u202f", "")) for row in rows] == sorted((int(row[3].replace("\u202f", "")) for row in rows), reverse=True))
    page.eval("document.querySelector('#tally thead th:nth-child(2) button').click()")
    names = page.eval("[...document.querySelectorAll('#tally tbody tr')].map(r => r.cells[1].innerText)")
    check("by name when its head is clicked", names[-1] == "SLOW" and page.eval("document.querySelector('#tally th[aria-sort]').getAttribute('aria-sort')") == "ascending", names)
    page.click("#tab-spans")
    took = page.eval("ctraceReport.panels.spans.rows.map(row => row.ns)")
    check("the slowest spans, slowest first", len(took) == 180 and took == sorted(took, reverse=True), took[:5])
    page.click("#spans tbody button")
    page.settled()
    check("one is shown when it is clicked", took[0] < page.width < 1.3 * took[0] and page.text("#detail h2").split()[0] == "ORDER", page.width, took[0])
    page.click("#zoom-all")
    page.settled()
    test_sums(page)
    page.click("#tab-rates")
    page.wait("document.querySelector('#rates canvas') !== null")
    total = page.eval("(() => { const { x, series } = ctraceReport.panels.countRates(); const s = (ctraceReport.view.to - ctraceReport.view.from) / x.length / 1e9;"
                      " return Math.round(series.reduce((sum, one) => sum + one.counts.reduce((a, b) => a + b, 0) * s, 0)); })()")
    same("the rates are of every event", total, page.eval("ctraceReport.model.data.count"))
    page.eval("(() => { const s = document.getElementById('rates-by'); s.value = 'component'; s.dispatchEvent(new Event('change')); })()")
    check("rates by component", "shop.db" in page.text("#rates .u-legend"), page.text("#rates"))
    page.click("#tab-losses")
    check("no losses are none", "Nothing is lost" in page.text("#losses"), page.text("#losses"))
    page.click("#tab-events")


# The spans of a stretch of time that have ended, by the data themselves: [how often, time in the stretch] of those of a name.
SUM = """((name, from, to) => {
    const { spans } = ctraceReport.model.data;
    let count = 0, total = 0;
    for (let i = 0; i < spans.count; i++) {
        const time = Math.min(spans.end[i], to) - Math.max(spans.start[i], from);
        if (ctraceReport.model.kindOf(spans.first[i]).name === name && time >= 0) {
            count++;
            total += time;
        }
    }
    return [count, total];
})"""
SUMS = "ctraceReport.panels.names.rows.map(sum => [sum.name, sum.count, sum.total, sum.self, sum.p95])"


def sums(page):
    page.click("#tab-names")
    return {name: rest for name, *rest in page.eval(SUMS)}


def test_sums(page):
    orders, queries = "shop.orders ORDER", "shop.db SELECT * FROM CUSTOMER"
    found = sums(page)
    same("a line for each name", sorted(found), sorted((orders, queries)))
    for name, kind in ((orders, "ORDER"), (queries, "QUERY")):
        same("count and total of " + name, found[name][:2], page.eval(f"{SUM}('{kind}', -Infinity, Infinity)"))
    check("self is what queries leave of orders", abs(found[orders][2] - (found[orders][1] - found[queries][1])) < 1, found)
    same("a query has its time to itself", found[queries][2], found[queries][1])
    took = sorted(page.eval("(s => [...s.start].map((at, i) => s.end[i] - at).filter((_, i) => ctraceReport.model.kindOf(s.first[i]).name === 'ORDER'))"
                            "(ctraceReport.model.data.spans)"))
    same("p95", found[orders][3], took[int(len(took) * .95)])
    shown = page.eval("[...document.querySelectorAll('#names tbody tr')].map(r => r.cells[0].innerText.trim())")
    same("most time first", shown, [orders, queries])
    page.click("#tab-flame")
    boxes = page.eval("""[...document.querySelectorAll("#flame [role=listitem]")].map(e => [e.innerText.replace(/ [0-9.]+[num]?s$/, ""), parseInt(e.style.top), parseFloat(e.style.width)])""")
    same("queries are below orders, as wide as their part", [box[:2] for box in boxes], [["All spans", 0], [orders, 20], [queries, 40]])
    check("as wide as their part", abs(boxes[2][2] - 100 * found[queries][1] / found[orders][1]) < .01, boxes, found)
    page.eval("[...document.querySelectorAll('#flame button')][2].click()")
    same("one that is clicked fills the width", page.eval("[...document.querySelectorAll('#flame [role=listitem]')].map(e => e.style.width)"), ["100%"] * 3)
    page.eval("[...document.querySelectorAll('#flame button')][0].click()")
    left, top, _, _ = page.box("#canvas")
    page.click("#tab-events")
    page.drag(left + 400, top + 60, left + 700, top + 60, modifiers=8)
    page.settled()
    stretch = page.eval("[ctraceReport.stretch.from, ctraceReport.stretch.to]")
    check("Shift and a drag mark a stretch", abs(stretch[1] - stretch[0] - page.width * 300 / page.eval("ctraceReport.timeline.plot")) < page.width / 200, stretch)
    same("its sums come up", page.eval("document.getElementById('panel-names').hidden"), False)
    found = sums(page)
    for name, kind in ((orders, "ORDER"), (queries, "QUERY")):
        wanted = page.eval(f"{SUM}('{kind}', {stretch[0]}, {stretch[1]})")
        check(f"those of {name} in it", found[name][0] == wanted[0] < 120 and abs(found[name][1] - wanted[1]) < 1, found[name], wanted)
    events = page.eval(f"[...ctraceReport.model.data.x].filter(x => x >= {stretch[0]} && x <= {stretch[1]}).length")
    spans = sum(page.eval(f"{SUM}('{kind}', {stretch[0]}, {stretch[1]})")[0] for kind in ("ORDER", "QUERY"))
    text = page.text("#stretch")
    check("told in a line", f"marked: {events} event" in text and f", {spans} span" in text, text, events, spans)
    page.click("#tab-tally")
    same("the tally is of it", page.eval("ctraceReport.panels.tally.rows.reduce((sum, row) => sum + row.count, 0)"), events)
    page.eval("ctraceReport.deselect()")
    page.key("Escape")
    same("Escape takes it away", (page.eval("ctraceReport.stretch"), page.eval("document.getElementById('stretch').hidden")), (None, True))
    same("and the tally is of everything", page.eval("ctraceReport.panels.tally.rows.reduce((sum, row) => sum + row.count, 0)"),
         page.eval("ctraceReport.model.data.count"))


def test_verdict(page):
    page.load("shop.html")
    buttons = page.all("#verdict button")
    errors = page.eval("[...Array(ctraceReport.model.data.count).keys()].filter(row => ctraceReport.model.levelOf(row) >= 3)")
    warnings = page.eval("[...Array(ctraceReport.model.data.count).keys()].filter(row => ctraceReport.model.levelOf(row) === 2)")
    same("errors and warnings are in the head", buttons[:2], [f"{len(errors)} errors", f"{len(warnings)} warnings"])
    check("and the slowest span", re.fullmatch(r"slowest [0-9.]+[num]?s shop\.orders ORDER", buttons[2]), buttons)
    page.search("#f-event", "CUSTOMER")
    reached = []
    for _ in range(len(errors) + 1):
        page.click("#verdict li:nth-child(1) button")
        page.wait("!ctraceReport.isFiltering && ctraceReport.model.rows === null")
        reached.append(page.eval("ctraceReport.selected"))
    same("one error after the other, whatever was filtered, and the first again", reached, errors + errors[:1])
    page.click("#verdict li:nth-child(2) button")
    check("warnings", page.eval("ctraceReport.selected") in warnings)
    page.click("#slowest")
    page.settled()
    took = page.eval("Math.max(...ctraceReport.model.data.spans.end.map((end, i) => end - ctraceReport.model.data.spans.start[i]))")
    check("the slowest is selected and fills the view", took < page.width < 1.3 * took and page.text("#detail h2").split()[0] == "ORDER", page.width, took)


def test_room(page):
    """What has no room is not shown at all; nothing is cut, or over something else."""
    page.load("shop.html")
    same("no fields, no room for them", page.eval("document.getElementById('detail').offsetParent"), None)
    page.eval("ctraceReport.select(7, 'grid')")
    check("fields beside the list", page.box("#detail")[2] > 300, page.box("#detail"))
    for panel in ("tally", "names"):
        page.click("#tab-" + panel)
        check(panel + ": no column is cut", page.eval(f"(e => e.scrollWidth <= e.clientWidth)(document.getElementById('{panel}'))"),
              page.eval(f"[document.getElementById('{panel}').scrollWidth, document.getElementById('{panel}').clientWidth]"))
    page.click("#tab-events")
    page.click("#detail .close")
    same("closed", page.eval("[ctraceReport.selected, document.getElementById('detail').offsetParent]"), [-1, None])
    for width in (700, 800, 900, 1000, 1440):
        page.resize(width, 900)
        page.drawn()
        cells = page.eval("""[...document.querySelectorAll("#events-grid .grid-row")].map(row => [...row.children].filter(cell => cell.offsetParent !== null)
            .map(cell => [cell.getBoundingClientRect().left, cell.getBoundingClientRect().right, cell.scrollWidth <= cell.clientWidth]))""")
        check(f"{width}: cells are side by side", all(a[1] <= b[0] + .5 and b[1] - b[0] > 16 for row in cells for a, b in zip(row, row[1:])), cells[1])
        check(f"{width}: times are whole", all(row[0][2] for row in cells[1:]), cells[1])
        check(f"{width}: no way sideways", page.eval("document.documentElement.scrollWidth <= innerWidth"))
        if width == 700:
            page.screenshot(BUILD + "/artefacts/report-narrow.png")


def hue(colour):
    """Of #rrggbb; None: it has none."""
    r, g, b = (int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5))
    h, _, s = colorsys.rgb_to_hls(r, g, b)
    return None if s < .2 else 360 * h


def test_colours(page):
    for theme in ("light", "dark"):
        page.eval(f"document.documentElement.dataset.theme === '{theme}' || document.getElementById('theme').click()")
        levels = list(filter(None, map(hue, page.eval("[...ctraceReport.timeline.colours.levels, ctraceReport.timeline.colours.loss]"))))
        spans = [hue(colour) for colour in page.eval("ctraceReport.timeline.colours.spans")]
        apart = min(min(abs(a - b), 360 - abs(a - b)) for a in spans if a is not None for b in levels)
        check(theme + ": no span has the colour of a level", len(levels) >= 4 and apart >= 20, apart, spans, levels)
    page.eval("document.documentElement.dataset.theme === 'light' || document.getElementById('theme').click()")


TOP = "(row => [row.id, Math.round(row.getBoundingClientRect().top)])([...document.querySelectorAll('#events-grid .grid-body .grid-row')][1])"


def test_place(page):
    page.load("shop.html")
    page.eval("document.querySelector('#events-grid .grid-body').scrollTop = 200 * 24")
    page.wait("ctraceReport.grid.top === 200")
    page.drawn()
    before = page.eval(TOP)
    page.search("#f-event", "QUERY")
    first = page.eval("ctraceReport.model.rowAt(Math.ceil(ctraceReport.grid.top))")
    check("a search leaves the list at its time", first >= 200 and page.eval(f"[...Array({first - 200}).keys()].every(i => !ctraceReport.model.isShown(200 + i))"), first)
    page.clear()
    same("and back", page.eval(TOP), before)
    page.eval("ctraceReport.select(230, 'timeline')")
    page.settled()
    before = page.eval("document.getElementById('event-230').getBoundingClientRect().top")
    page.search("#f-text", "shop.orders")
    page.clear()
    page.search("#f-text", "not to be found anywhere")
    page.clear()
    same("the selected one stays where it is", page.eval("document.getElementById('event-230').getBoundingClientRect().top"), before)


def test_keys_at_once(page):
    """Nothing was clicked: the page has the focus."""
    page.load("shop.html")
    all_of_it = page.width
    page.key("+")
    page.settled()
    check("+ zooms at once", page.width < all_of_it, page.width)
    here = page.view
    page.key("ArrowRight")
    page.settled()
    check("an arrow moves", page.view[0] > here[0])
    here = page.width
    page.key("w")
    page.settled()
    check("W zooms, too", page.width < here)
    page.click("#by-component")
    page.key("0")
    page.settled()
    same("0 is everything, also behind a button", page.width, all_of_it)
    page.key("m")
    check("M marks what is seen", page.eval("ctraceReport.stretch !== null"))
    page.click("#f-text")
    page.type("w")
    page.key("m")
    page.settled()
    same("but not while somebody writes", page.width, all_of_it)
    page.key("Escape")
    page.wait("ctraceReport.model.rows === null && !ctraceReport.isFiltering")


def test_keys(page):
    page.load("shop.html")
    page.click("#by-component")
    page.eval("ctraceReport.select(0, 'grid')")
    page.eval("document.activeElement.blur()")
    page.key("/")
    same("/ goes to the search", page.eval("document.activeElement.id"), "f-text")
    page.type("SLOW")
    page.wait("ctraceReport.model.rows !== null && !ctraceReport.isFiltering")
    page.key("Escape")
    page.wait("ctraceReport.model.rows === null && !ctraceReport.isFiltering")
    same("Escape clears it", page.eval("document.getElementById('f-text').value"), "")
    reached = []
    for _ in range(80):
        page.key("Tab")
        reached.append(page.eval("document.activeElement.id"))
    wanted = {"theme", "help-open", "f-text", "f-component", "f-event", "f-level", "f-clear", "by-thread", "zoom-in", "overview", "canvas", "split-h",
              "tab-events", "events-grid", "split-v", "detail"}
    check("Tab reaches everything", wanted <= set(reached), sorted(wanted - set(reached)))
    page.eval("document.getElementById('canvas').focus()")
    page.key("Tab")
    page.key("Tab", modifiers=8)
    check("what has the focus shows it", page.eval("getComputedStyle(document.activeElement).outlineStyle") == "solid", page.eval("document.activeElement.id"))
    everything = page.width
    page.key("+")
    page.settled()
    check("+ zooms in", page.width < everything)
    here = page.view
    page.key("ArrowRight")
    page.settled()
    check("the arrow moves", page.view[0] > here[0])
    page.key("0")
    page.settled()
    same("0 is everything", page.width, everything)
    page.eval("ctraceReport.deselect(); ctraceReport.timeline.focusLine(0)")
    page.key("ArrowDown")
    check("a track is told", "Track shop.orders" in page.text("#announce"), page.text("#announce"))
    page.key("Enter")
    page.settled()
    first = page.eval("ctraceReport.selected")
    page.key("n")
    page.settled()
    check("its events one by one", page.eval("ctraceReport.selected") > first >= 0 and "shop.orders" in page.text("#announce"), page.text("#announce"))
    page.eval("document.getElementById('events-grid').focus()")
    page.key("Home")
    page.settled()
    page.key("ArrowDown")
    page.settled()
    same("the list by keys", page.eval("[ctraceReport.selected, document.getElementById('events-grid').getAttribute('aria-activedescendant')]"), [1, "event-1"])
    page.key("End")
    page.settled()
    same("its end", page.eval("ctraceReport.selected"), page.eval("ctraceReport.model.data.count - 1"))
    page.key("Enter")
    same("Enter goes to the fields", page.eval("document.activeElement.id"), "detail")
    page.eval("document.getElementById('tab-events').focus()")
    page.key("ArrowRight")
    same("tabs by arrow", page.eval("[document.activeElement.id, document.getElementById('panel-tally').hidden]"), ["tab-tally", False])
    page.key("ArrowLeft")
    page.eval("document.getElementById('split-h').focus()")
    before = page.box("#timeline")[3]
    page.key("ArrowDown")
    check("a splitter by arrow", page.box("#timeline")[3] > before)
    page.key("ArrowUp")
    page.eval("document.getElementById('split-h').blur()")
    page.key("Escape")
    page.key("e")
    page.settled()
    check("E goes to an error", page.eval("ctraceReport.model.levelOf(ctraceReport.selected)") >= 3)
    page.key("?")
    check("? shows the keys", page.eval("document.getElementById('help').open"))
    page.key("Escape")
    check("Escape closes it", not page.eval("document.getElementById('help').open"))


def contrast(page, selectors):
    """The least contrast of text against what is behind it, as WCAG has it."""
    return page.eval("""(selectors => {
        const parts = colour => colour.match(/[\\d.]+/g).map(Number), light = c => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; };
        const luminance = ([r, g, b]) => .2126 * light(r) + .7152 * light(g) + .0722 * light(b);
        const behind = e => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor); if (c[3] === undefined || c[3] === 1) return c; } return [255, 255, 255]; };
        let least = 21;
        for (const e of document.querySelectorAll(selectors)) {
            if (e.offsetParent === null) continue;
            const a = luminance(parts(getComputedStyle(e).color)), b = luminance(behind(e));
            least = Math.min(least, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
        }
        return least;
    })(%s)""" % json.dumps(selectors))


TEXTS = (".facts li, .verdict button, .filter label span, .filter output, .range, .legend li, .tabs button, .grid-head > *, .grid-body .grid-row > *, .detail dt, .detail dd,"
         " .detail h3, .fields th, .fields td, .head button")


def test_looks(page):
    page.prefer(prefers_color_scheme="light")
    page.wait("document.documentElement.dataset.theme === 'light'")
    check("light: texts can be read", contrast(page, TEXTS) >= 4.5, contrast(page, TEXTS))
    page.prefer(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    page.wait("document.documentElement.dataset.theme === 'dark'")
    page.drawn()
    check("dark as the system is", page.eval("getComputedStyle(document.body).backgroundColor") == "rgb(15, 20, 27)")
    check("dark: texts can be read", contrast(page, TEXTS) >= 4.5, contrast(page, TEXTS))
    check("the canvas too", page.pixel("--panel", [300, 60, 400, 200]) > 1000)
    page.click("#theme")
    page.drawn()
    same("the switch", page.eval("document.documentElement.dataset.theme"), "light")
    page.prefer(prefers_color_scheme="light", prefers_reduced_motion="reduce")
    page.eval("ctraceReport.timeline.zoom(.5, undefined, true)")
    check("reduced motion: at once", page.eval("ctraceReport.timeline.aim") is None and page.width < page.eval("ctraceReport.all.to"))
    page.prefer(prefers_color_scheme="light")
    names = page.eval("""[...document.querySelectorAll("button, input, select, [role], canvas")]
        .filter(e => e.offsetParent !== null && !["presentation", "rowgroup", "row", "gridcell"].includes(e.getAttribute("role"))
            && !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.title || e.innerText.trim() || (e.labels && e.labels.length)))
        .map(e => e.outerHTML.slice(0, 80))""")
    same("everything has a name", names, [])
    page.resize(700, 900)
    page.drawn()
    check("a narrow window does not scroll sideways", page.eval("document.documentElement.scrollWidth <= innerWidth"), page.eval("document.documentElement.scrollWidth"))
    page.resize(1440, 900)
    page.drawn()


def photograph(page, path):
    page.eval("""(() => {
        const m = ctraceReport.model, all = m.length, at = .7 * all, found = [...Array(m.data.count).keys()].filter(row => m.kindOf(row).name === "CUSTOMER"
            && ReportData.recordsOf(m.data, row).some(record => record.fields.some(field => field.conditions.length > 1)));
        const row = found.sort((a, b) => Math.abs(m.data.x[a] - at) - Math.abs(m.data.x[b] - at))[0];
        ctraceReport.setView(m.data.x[row] - .2 * all, m.data.x[row] + .2 * all);
        ctraceReport.select(row, "grid");
    })()""")
    page.settled()
    page.screenshot(path)
    check("a picture: " + os.path.basename(path), os.path.getsize(path) > 50000)


def test_losses(page):
    page.load("lose.html")
    check("losses stand above", "lost event" in page.text("#verdict"), page.text("#verdict"))
    page.click("#verdict .bad")
    check("and in their list", "discarded" in page.text("#losses"), page.text("#losses"))
    page.settled()
    check("where they happened", page.eval("ctraceReport.timeline.losses.length") > 0 and page.paints("--loss", [196, 18, 1200, 10]) > 0)
    page.click("#losses tbody button")
    page.settled()
    check("one is shown when it is clicked", page.eval("(() => { const l = ctraceReport.timeline.losses[0], v = ctraceReport.view; return v.from <= l.from && l.to <= v.to; })()"))


def test_limit(page):
    page.load("few.html")
    check("the page says what it lacks", "last 100 events" in page.text("#warnings"), page.text("#warnings"))
    same("and has so many", page.eval("ctraceReport.model.data.count"), 100)


def test_many(page):
    page.load("many.html")
    same("a million events", page.eval("ctraceReport.model.data.count"), 1000000)
    page.eval("document.getElementById('events-grid').focus()")
    page.key("End")
    page.settled()
    same("the last one, by a key", page.eval("[ctraceReport.selected, document.querySelector('#events-grid [aria-selected=true] .data').innerText]"), [999999, "999999"])
    left, top, _, _ = page.box("#canvas")
    for _ in range(20):
        page.wheel(left + 700, top + 60, -240)
    page.settled()
    check("each event by itself, deep down", 0 < page.eval("ctraceReport.view.to - ctraceReport.view.from") < 1e5, page.view)
    page.search("#f-text", "777777")
    same("one found among them", page.all("#events-grid .grid-body .data"), ["777777"])
    page.clear()
    page.click("#zoom-all")
    page.settled()
    bars = page.eval("(() => { const t = ctraceReport.timeline, bins = t.bins(t.lines[1].lane); let sum = 0; for (let i = 0; i < Math.ceil(t.plot) * 5; i++) sum += bins[i]; return sum; })()")
    same("no event is missing from the bars", bars, 1000000)
    wrong = page.eval("""(() => {
        const t = ctraceReport.timeline, m = ctraceReport.model, lane = t.lines[1].lane, counts = new Uint32Array(Math.ceil(t.plot) * 5);
        ctraceReport.setView(m.data.x[12345], m.data.x[987654]);
        const bins = t.bins(lane).slice(0, counts.length);
        let pixel = 0;
        for (let i = 12345; i < 987654; i++) {
            while (m.data.x[i] >= t.timeOf(196 + pixel + 1))
                pixel++;
            counts[pixel * 5 + m.levelOf(i)]++;
        }
        return counts.reduce((sum, count, i) => sum + (count !== bins[i]), 0);
    })()""")
    same("each bar is the count of its events", wrong, 0)


def run(page, *tests):
    """One that breaks off is a failed check; the others go on."""
    for test in tests:
        try:
            test(page)
        except (browser.Silent, browser.Stuck):
            raise
        except Exception:
            check(test.__name__, False, *traceback.format_exc().splitlines()[-4:], *page.thrown[-2:])


def look(page):
    artefacts = BUILD + "/artefacts"
    run(page, test_loading, test_mouse, test_click, test_record, test_filters, test_attacks, test_lists, test_verdict, test_room, test_colours, test_place, test_keys_at_once, test_keys,
        test_looks)
    page.click("#by-thread")
    run(page, lambda page: photograph(page, artefacts + "/report.png"))
    page.eval("document.getElementById('theme').click()")
    run(page, lambda page: photograph(page, artefacts + "/report-dark.png"))
    is_quiet(page, "the shop")
    run(page, test_losses, test_limit, test_many)
    page.screenshot(artefacts + "/report-many.png")
    is_quiet(page, "the others")


def main():
    if browser.find() is None:
        print("1..0 # SKIP no Chromium")
        return 0
    os.makedirs(BUILD + "/artefacts", exist_ok=True)
    trace("shop", "shop", "60")
    trace("lose", "lose", "3000", more="ctrace.buffer = 64K\nctrace.overflow = discard\n")
    trace("many", "many", "1000000")
    made = report("shop.html", "--title", "Orders & <b>more</b>", "shop")
    same("a page is made", (made.returncode, made.stderr), (0, ""))
    report("lose.html", "lose")
    report("few.html", "--limit=100", "shop")
    report("many.html", "many")
    browser.with_browser(tap, look, Page)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
