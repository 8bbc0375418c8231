"""rows.py - the one table of the benchmarks: its rows, their limits, and the outcome.

A row has a figure for each tracer, the ratio of ctrace's to another one of the same run, and a limit.  A ratio is made within a round,
where both saw the same machine; the median of the rounds counts.  A figure that came with drops is refused: the row says how many
events were dropped, and has no ratio.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import statistics
from dataclasses import dataclass, field

import cobol_runtime

COLUMNS = {"ctrace": "ctrace", "direct": "baseline", "lttng": "LTTng-UST", "spdlog": "spdlog"}


@dataclass
class Row:
    group: str
    title: str
    unit: str
    values: dict = field(default_factory=dict)  # by column: a number
    drops: dict = field(default_factory=dict)  # by column: events; such a column has no number
    ratio: float = None  # of ctrace's figure
    ratio_to: str = ""
    limit: float = None  # of the ratio where there is one, else of ctrace's figure
    is_least: bool = False  # the limit is a lower one
    is_binding: bool = False  # missing it fails the run: no other program on the machine can cause it
    digits: int = 1

    @property
    def is_refused(self):
        return any(self.drops.values())

    @property
    def outcome(self):
        judged = self.ratio if self.ratio_to else self.values.get("ctrace")
        if self.is_refused:
            return "REFUSED"
        if self.limit is None or judged is None:
            return ""
        return "reached" if (judged >= self.limit if self.is_least else judged <= self.limit) else "MISSED"

    @property
    def fails(self):
        return self.is_refused or (self.is_binding and self.outcome == "MISSED")


# ---- rows of figures that were measured in rounds


@dataclass
class Spec:
    """Which figure of which measurement a row shows; `base` is a column, or another measurement of ctrace's or the floor's."""

    group: str
    title: str
    unit: str
    measure: str
    key: str
    base: str = "direct"
    limit: float = None
    is_least: bool = False
    is_binding: bool = False
    digits: int = 1
    limits_value: bool = False  # not the ratio
    beside: str = ""  # a measurement of the floor, for the baseline's column
    beyond: tuple = ()  # the figure is what is left without those of these measurements


def of_call(measure, title, base, limit=None, digits=1):
    return Spec("One call", title, "ns", f"call.{measure}", "ns", base, limit, digits=digits)


def of_steps(measure, title, limit):
    return Spec("Instructions", title, "", f"steps.{measure}", "instructions", "direct", limit, is_binding=True, digits=0, limits_value=True)


def of_sustained(workload, threads):
    where = f"{workload.upper()}, {threads} thread{'s' if threads > 1 else ''}"
    measure = f"sustain.{workload}.{threads}"
    return [
        Spec("Back to back, until all is in the files", f"{where}: wall", "ns", measure, "wall_ns", "direct", 1.5),
        Spec("Back to back, until all is in the files", f"{where}: processors", "ns", measure, "cpu_ns", "direct", 1.5),
    ]


def of_storage(workload):
    """Beside the same events into a BINFILE, by one thread."""
    group, title, measure = "Back to back, until all is in the files", f"{workload.upper()} in storage", f"sustain.storage_{workload}"
    return [
        Spec(group, f"{title}: wall", "ns", measure, "wall_ns", f"sustain.{workload}.1"),
        Spec(group, f"{title}: processors", "ns", measure, "cpu_ns", f"sustain.{workload}.1"),
    ]


def of_bytes(workload):
    title = f"{workload.upper()}: in the file"
    return Spec("Back to back, until all is in the files", title, "bytes", f"sustain.{workload}.1", "bytes", "direct", 1.03, is_binding=True, digits=2)


def of_bursts(count):
    """The first events of a thread beside as many later ones of one thread."""
    group, warm = "First events of a thread", f"first.warm_{count}"
    return [
        Spec(group, f"{count:,} later A back to back", "ns", warm, "ns"),
        Spec(group, f"the first {count:,} A back to back", "ns", f"first.{count}_1", "ns", warm, 1.2),
        Spec(group, f"the first {count:,} A on each of two threads", "ns", f"first.{count}_2", "ns", warm, 1.2),
    ]


CLOCKS = {"counter": "the counter", "monotonic": "CLOCK_MONOTONIC"}


def of_clocks():
    """A and ctrace_emit() by each clock, beside a reading of CLOCK_MONOTONIC."""
    group, ns, steps = "Clocks, beside clock_gettime()", "clock.reading", "clock.reading.steps"
    rows = []
    for clock, name in CLOCKS.items():
        rows += [
            Spec(group, f"A by {name}", "ns", f"clock.{clock}.a", "ns", "", beside=ns),
            Spec(group, f"ctrace_emit() of A by {name}", "ns", f"clock.{clock}.emit", "ns", f"clock.{clock}.a", 1.5, beside=ns),
            Spec(group, f"A by {name}", "instr.", f"clock.{clock}.a.steps", "instructions", "", digits=0, beside=steps),
            Spec(group, f"ctrace_emit() of A by {name}", "instr.", f"clock.{clock}.emit.steps", "instructions", "", digits=0, beside=steps),
        ]
    # Not binding: readings differ by some instructions.  tests/process/test_instructions.c counts without those of the vDSO.
    return [
        *rows,
        Spec(group, "A by CLOCK_MONOTONIC - clock_gettime()", "ns", "clock.monotonic.a", "ns", "", 6, beyond=(ns,)),
        Spec(group, "the same - A by the counter", "instr.", "clock.monotonic.a.steps", "instructions", "", 12, beyond=(steps, "clock.counter.a.steps")),
    ]


def of_crowd(threads, limit):
    title = f"A beside {threads:,} threads that traced once"
    base = "" if threads == 0 else "crowd.0"
    return Spec("Many threads", title, "ns CPU", f"crowd.{threads}", "cpu_ns", base, limit)


def specs(threads, crowds, firsts):
    """threads: of the runs with more than one; crowds: numbers of threads that traced once, the least first; firsts: events of a new thread."""
    rows = [
        of_call("branch", "a load and a branch", "", digits=2),
        of_call("rdtsc", "a reading of the clock (rdtsc)", ""),
        of_call("a", "A: u32, text of 10", "direct", 1.3),
        of_call("b", "B: u32, u64, i64, text of 32", "direct", 1.3),
        of_call("storage_a", "A in storage", "call.a"),
        of_call("storage_b", "B in storage", "call.b"),
        of_call("nats", "A for a stream of NATS", "call.a", 1.02),
        of_call("t", "T: text of 10", ""),
        of_call("off", "A, disabled", "direct", 1.2, 2),
        of_call("two", "A on two threads at once", "call.a", 1.3),
        of_call("entry", "ctrace_entry, 32 bytes", "call.a", 1.5),
        of_call("entry_own", "the same, with a buffer of its own", "call.a", 1.7),
        of_call("entry_off", "the same, disabled", "call.off", 1.2, 2),
        of_call("cbl_handle", "A, CBL_CTF_TRACE by handle, from C", "call.a", 3),
        of_call("cbl_name", "A, CBL_CTF_TRACE by name, from C", "call.a"),
        of_call("cbl_handle_t", "T, CBL_CTF_TRACE by handle, from C", "call.t", 1.5),
        of_call("cbl_name_t", "T, CBL_CTF_TRACE by name, from C", "call.t", 2),
        of_call("cobol_nothing", "COBOL: a CALL that does nothing", ""),
        of_call("cobol_handle", "A, CBL_CTF_TRACE by handle, from COBOL", "call.cobol_nothing"),
        of_call("cobol_name", "A, CBL_CTF_TRACE by name, from COBOL", "call.cobol_nothing"),
        of_call("cobol_handle_t", "T, CBL_CTF_TRACE by handle, from COBOL", "call.cobol_nothing", 2),
        Spec("One call alone", "A: median", "ns", "alone.a", "ns"),
        Spec("One call alone", "A: p99", "ns", "alone.a", "p99_ns"),
        Spec("One call alone", "A: p99.9", "ns", "alone.a", "p999_ns"),
        Spec("One call alone", "B: median", "ns", "alone.b", "ns"),
        Spec("One call alone", "B: p99", "ns", "alone.b", "p99_ns"),
        Spec("One call alone", "B: p99.9", "ns", "alone.b", "p999_ns"),
        Spec("First events of a thread", f"the first {firsts:,} A: p99.9", "ns", "first.a", "p999_ns", "direct", 150, limits_value=True),
        Spec("First events of a thread", "the longest of them", "us", "first.a", "longest_us", "direct", 30, limits_value=True),
        of_steps("a", "A", 42),
        of_steps("b", "B", 48),
        of_steps("off", "A, disabled", 7),
        of_steps("entry", "ctrace_entry", 48),
        of_steps("entry_own", "the same, with a buffer of its own", 48),
        of_steps("entry_off", "the same, disabled", 7),
        of_steps("cbl_handle_t", "T, CBL_CTF_TRACE by handle", 135),
        of_steps("cbl_name_t", "T, CBL_CTF_TRACE by name", 225),
        of_steps("cobol_handle_t", "T, CBL_CTF_TRACE by handle, from COBOL", 370),
        of_steps("cbl_handle", "CBL_CTF_TRACE by handle", 225),
        of_steps("cbl_name", "CBL_CTF_TRACE by name", 312),
        of_steps("cobol_handle", "CBL_CTF_TRACE by handle, from COBOL", 455),
    ]
    for workload in ("a", "b"):
        for count in sorted({1, threads}):
            rows += of_sustained(workload, count)
        rows.append(of_bytes(workload))
        rows += of_storage(workload)
    rows += [
        Spec("Back to back, until all is in the files", "pwrite of A's bytes: wall", "ns", "sustain.write_a", "wall_ns", ""),
        Spec("Back to back, until all is in the files", "pwrite of A's bytes: processors", "ns", "sustain.write_a", "cpu_ns", ""),
        Spec("Back to back, until all is in the files", "pwrite of B's bytes: wall", "ns", "sustain.write_b", "wall_ns", ""),
        Spec("Back to back, until all is in the files", "pwrite of B's bytes: processors", "ns", "sustain.write_b", "cpu_ns", ""),
        Spec("Text", "A, TEXTFILE", "lines/s", "text.a", "lines", "spdlog", 1, is_least=True, digits=0),
    ]
    rows += of_clocks() + of_bursts(firsts // 5) + of_bursts(firsts // 2)
    rows += [of_crowd(count, None if count == 0 else 1.2 if count <= 500 else 1.5) for count in crowds]
    rows.append(Spec("Many threads", f"{crowds[-1]:,} threads that traced once", "MiB", "memory", "mebibytes", "", 49, is_binding=True))
    return rows


def median_of(runs, key):
    values = [run[key] for run in runs or [] if run.get(key) is not None]
    return statistics.median(values) if values else None


def ratio_of(mine, other, key):
    """Median of the ratios within the rounds."""
    pairs = [(a.get(key), b.get(key)) for a, b in zip(mine or [], other or [])]
    ratios = [a / b for a, b in pairs if a is not None and b]
    return statistics.median(ratios) if ratios else None


def own_runs(results, measure):
    """Of ctrace, or of the floor."""
    runs = results.get(measure, {})
    return runs.get("ctrace") or runs.get("floor") or []


def subtract(runs, bases, key):
    """The figures of the runs without those of others in the same rounds."""
    return [{key: run[key] - sum(base[key] for base in others)} for run, *others in zip(runs, *bases)
            if all(one.get(key) is not None for one in (run, *others))]


def make_row(spec, results, titles):
    """results: by measurement and tracer, the runs in the order of the rounds."""
    row = Row(spec.group, spec.title, spec.unit, limit=spec.limit, is_least=spec.is_least, is_binding=spec.is_binding, digits=spec.digits)
    runs = results.get(spec.measure, {})
    for column in COLUMNS:
        source = runs.get(column) or (runs.get("floor") or own_runs(results, spec.beside) if column == "direct" else [])
        bases = [own_runs(results, name) for name in spec.beyond] if column == "ctrace" else []
        drops = sum(run.get("drops", 0) for each in (source, *bases) for run in each)
        if drops:
            row.drops[column] = drops
        elif source:
            row.values[column] = median_of(subtract(source, bases, spec.key), spec.key)
    base = runs.get(spec.base) if spec.base in COLUMNS else own_runs(results, spec.base)
    if spec.base and base and not any(run.get("drops") for run in [*base, *runs.get("ctrace", [])]):
        row.ratio = ratio_of(runs.get("ctrace"), base, spec.key)
        if not spec.limits_value:
            row.ratio_to = COLUMNS.get(spec.base) or titles[spec.base]
    elif spec.base and not spec.limits_value:
        row.limit = None  # of a ratio that there is not
    return row


def measured_rows(results, threads, crowds, firsts):
    every = specs(threads, crowds, firsts)
    titles = {spec.measure: spec.title.split(",")[0].split(":")[0] for spec in every}
    titles |= {"call.off": "A, disabled", "call.cobol_nothing": "an empty CALL", "crowd.0": "beside none"}
    titles |= {f"first.warm_{count}": "later ones" for count in (firsts // 5, firsts // 2)}
    titles |= {f"clock.{clock}.a": "A" for clock in CLOCKS}
    titles |= {"call.a": "A", "call.b": "B", "call.t": "T", "sustain.a.1": "A in a BINFILE", "sustain.b.1": "B in a BINFILE"}
    return [make_row(spec, results, titles) for spec in every if all(name in results for name in (spec.measure, *spec.beyond))]


# ---- rows of the programs that have rounds of their own

START_CASES = {
    "empty_us": "the empty one",
    "none_us": "dormant: not configured",
    "text_us": "one event, TEXTFILE",
    "bin_us": "one event, BINFILE",
    "thread_us": "first event of a thread",
}
START_PLACES = {"memory": "run directory in memory", "disk": "run directory on disk"}
START_LIMITS = {
    "memory": {"none_us": 300, "text_us": 1000, "bin_us": 1000, "thread_us": 50},
    "disk": {"none_us": 2000, "text_us": 2000, "bin_us": 2000},
}
START_IDLE_KIB = 68
START_RUN_MS = 3
GROWTH = 1.1
DUMP_HOLD_US = 100
DUMP_PHASES = {"quiet": "no dump", "own": "the process dumps itself", "outside": "ctrace dump", "spin": "a process spins"}
SUBLEVELS_SECONDS = 2
SUBLEVELS_MEBIBYTES = 64
LEVEL_MS = 50
OPERATE_BASES = {"display": ("alone", 1.2), "other": ("alone", 1.2), "same": ("alone", 1.2), "busy": ("alone", None), "flood": ("alone", None),
                 "own": ("alone", None), "writer": ("own", 1.2)}
WRITER_NS = 15
WRITER_WALL_NS = 200
READ_TITLES = {
    "text": "to text",
    "filter": "to text, a filter drops 99 %",
    "json": "to JSON",
    "four": "four times as many to text",
    "report": "a report page",
    "seek": "from a time on, in a large trace",
}
READ_SECONDS = {"text": 0.10, "json": 0.35, "filter": 0.05, "report": 3}
READ_OF_BABELTRACE2 = 0.1
READ_GROWTH = 1.2  # memory at four million events, to that at one
REPORT_MEBIBYTES = 60
SEEK_READ_MEBIBYTES = 64


def single(group, title, unit, value, limit=None, is_binding=False, digits=1):
    return Row(group, title, unit, {"ctrace": value}, limit=limit, is_binding=is_binding, digits=digits)


def growth_rows(growth):
    """Processor time of all threads an event, to that of one thread and one component in the same round; the last of many events to the first."""
    group = "Growth: A, processor time of all threads"
    alone = growth["threads_1"]

    def of(title, mine, base, named):
        if growth["drops"]:
            return Row(group, title, "ns", drops={"ctrace": growth["drops"]})
        ratio = statistics.median(a / b for a, b in zip(mine, base))
        limit = GROWTH if growth["scale"] == 1 else None
        return Row(group, title, "ns", {"ctrace": statistics.median(mine)}, {}, ratio, named, limit)

    many = 1_000_000_000 // growth["scale"]
    return [
        single(group, "one thread, one component", "ns", statistics.median(alone)),
        of("8 threads", growth["threads_8"], alone, "one thread"),
        of("64 threads", growth["threads_64"], alone, "one thread"),
        of(f"{100_000 // growth['scale']:,} components beside it", growth["components_100000"], alone, "none beside"),
        of(f"the last of {many:,} events", [growth["last_ns"]], [growth["first_ns"]], "the first"),
    ]


def dump_rows(dump):
    """Each thread's longest gap between two trace calls in a phase: its own processor time, and by the wall.  Medians over the rounds."""
    group = f"Dumps: {dump['threads']} threads at full rate in storage, the longest gap of a thread"
    made = []
    for phase, title in DUMP_PHASES.items():
        figures = {key: statistics.median(dump[phase][key]) for key in ("median_own_us", "most_own_us", "wall_us")}
        limit = DUMP_HOLD_US if phase in ("own", "outside") and not dump["quick"] else None
        made.append(single(group, f"{title}: processor time, median of the threads", "us", figures["median_own_us"], limit))
        made.append(single(group, f"{title}: processor time, most of all threads", "us", figures["most_own_us"]))
        made.append(single(group, f"{title}: wall, most of all threads", "ms", figures["wall_us"] / 1000, digits=0))
    return made


def start_rows(start):
    rows = []
    for place, title in START_PLACES.items():
        group = f"A short process, beyond an empty one: {title}"
        limits = START_LIMITS[place]
        rows += [single(group, START_CASES[name], "us", start[place][name], limits.get(name), digits=0) for name in START_CASES]
        rows.append(single(group, "files of an idle process", "KiB", start[place]["idle_kib"], START_IDLE_KIB, True, 0))
    return rows


def start_run_rows(runs):
    """A COBOL program, from start to end."""
    group = "A short COBOL program"
    beyond = statistics.median(traced - plain for plain, traced in zip(runs["plain"], runs["run"]))
    return [
        single(group, "alone", "ms", statistics.median(runs["plain"]) * 1e3, digits=2),
        single(group, "under ctrace run: beyond that", "ms", beyond * 1e3, START_RUN_MS if len(runs["run"]) > 1 else None, digits=2),
    ]


def sublevels_rows(sublevels):
    title = f"{sublevels['count']:,} sublevels defined and deleted"
    full = sublevels["count"] >= 100_000
    return [
        single("Component trace", title, "s", statistics.median(sublevels["seconds"]), SUBLEVELS_SECONDS if full else None, digits=2),
        single("Component trace", f"{title}: memory", "MiB", sublevels["mebibytes"], SUBLEVELS_MEBIBYTES, True),
    ]


def operate_rows(operate):
    level, cost, events = operate["level"], operate["cost"], operate["cost_events"]
    missing = abs(events["made"] - events["emitted"]) + abs(events["emitted"] - events["delivered"]) + events["lost"]
    missing += max(events["for_writer"] - events["by_writer"], 0)
    rows = []
    for name, case in cost.items():
        row = Row("Operated", case["title"], "ns")
        if missing:
            row.drops["ctrace"] = missing
        else:
            row.values["ctrace"] = case["ns_median"]
            if name in OPERATE_BASES:
                base, row.limit = OPERATE_BASES[name]
                pairs = zip(case["ns_by_repetition"], cost[base]["ns_by_repetition"])
                row.ratio = statistics.median(mine / other for mine, other in pairs)
                row.ratio_to = cost[base]["title"].split(", ")[-1]
        rows.append(row)
    title = f"a level in force in {level['processes']} processes"
    rows.append(single("Operated", title, "ms", statistics.median(level["in_force_ms"]), LEVEL_MS))
    for workload, runs in operate["writer"].items():
        rows += writer_rows(workload.upper(), runs)
    return rows


def writer_rows(workload, runs):
    group = "Back to back, through an external writer"
    wall = Row(group, f"{workload}: wall", "ns", limit=WRITER_WALL_NS)
    spent = Row(group, f"{workload}: processor of the writer", "ns", limit=WRITER_NS)
    size = Row(group, f"{workload}: in the data set", "bytes", digits=2)
    missing = sum(run["pending"] + run["lost"] + abs(run["emitted"] - run["delivered"]) + abs(run["emitted"] - run["written"]) for run in runs)
    for row, values in (
        (wall, [run["seconds"] * 1e9 / run["events"] for run in runs]),
        (spent, [run["writer_seconds"] * 1e9 / run["events"] for run in runs]),
        (size, [run["bytes"] / max(run["written"], 1) for run in runs]),
    ):
        if missing:
            row.drops["ctrace"] = missing
        else:
            row.values["ctrace"] = statistics.median(values)
    return [wall, spent, size]


def cobol_rows(cobol, a_runs):
    """A batch without a change, under libctrace-cobol.so.  a_runs: of CTRACE() of an A, where they were measured."""
    group = "A COBOL batch under libctrace-cobol.so"
    cases, full = cobol["cases"], cobol["paragraphs"] >= 10_000_000
    names = {"batch": f"{cobol['records']:,} records, 10 paragraphs each", "read": f"{cobol['records']:,} READs", "paragraphs": f"{cobol['paragraphs']:,} paragraphs"}

    def of(work, how, title, limit=None):
        """Seconds from start to end, beside those of the plain program."""
        row = Row(group, f"{names[work]}: {title}", "s", digits=3)
        if cobol["lost"] and how == "traced":
            row.drops["ctrace"] = cobol["lost"]
            return row
        row.values = {"ctrace": statistics.median(run["wall"] for run in cases[f"{work} {how}"]),
                      "direct": statistics.median(run["wall"] for run in cases[f"{work} plain"])}
        row.ratio, row.ratio_to = cobol_runtime.ratio(cases, work, how, "wall"), "without the library"
        row.limit = limit if full else None
        return row

    def each(work, how, title, count, limit=None):
        row = single(group, title, "ns", cobol_runtime.beyond(cases, work, how, "wall", count), limit if full else None)
        if cobol["lost"] and how == "traced":
            row.values, row.drops = {}, {"ctrace": cobol["lost"]}
        return row

    own = single(group, "a paragraph, by COB_SET_TRACE to a file", "ns", cobol_runtime.own_trace(cobol))
    paragraph = each("paragraphs", "traced", "a paragraph, traced", cobol["paragraphs"])
    a_ns = median_of(a_runs, "ns")
    if a_ns and paragraph.values:
        paragraph.ratio, paragraph.ratio_to, paragraph.limit = paragraph.values["ctrace"] / a_ns, "A", 2 if full else None
    return [
        of("batch", "off", "off"),
        of("batch", "traced", "traced", 1.3),
        of("read", "off", "off"),
        of("read", "traced", "traced"),
        each("paragraphs", "off", "a paragraph, off", cobol["paragraphs"], 2),
        paragraph,
        own,
    ]


def read_rows(read):
    cases, rows = read["cases"], []
    missing = abs(read["lines"]["text"] - read["events"]) + abs(100 * read["lines"]["filter"] - read["events"])
    full = read["events"] == 1_000_000
    for name, title in READ_TITLES.items():
        row = Row(f"Reading {read['events']:,} events", title, "s", digits=3)
        if missing:
            row.drops["ctrace"] = missing
        else:
            row.values["ctrace"] = cases[name]["median"]
            row.limit = READ_SECONDS.get(name) if full else None
        rows.append(row)
    group = rows[0].group
    if "babeltrace2" in cases and not missing:
        pairs = zip(cases["text"]["seconds"], cases["babeltrace2"]["seconds"])
        ratio = statistics.median(mine / other for mine, other in pairs)
        limit = READ_OF_BABELTRACE2 if full else None
        values = {"ctrace": cases["text"]["median"]}
        rows.append(Row(group, "to text, beside babeltrace2", "s", values, {}, ratio, "babeltrace2", limit, digits=3))
    growth = cases["four"]["mebibytes"] / cases["text"]["mebibytes"]
    values = {"ctrace": cases["four"]["mebibytes"]}
    rows.append(Row(group, "memory for four times as many", "MiB", values, {}, growth, "that for once", READ_GROWTH, is_binding=True))
    rows.append(single(group, "size of the report page", "MiB", cases["report"]["page_mebibytes"], REPORT_MEBIBYTES, True, 2))
    if cases["seek"]["read"] is not None:
        what = f"from a time on in {cases['seek']['bytes'] / 1e9:.1f} GB: read"
        rows.append(single(group, what, "MiB", cases["seek"]["read"] / (1 << 20), SEEK_READ_MEBIBYTES, True))
    return rows


# ---- the table

WIDTH = 40
CELL = 15


def cell(row, column):
    if row.drops.get(column):
        return f"drops: {row.drops[column]:,}"
    value = row.values.get(column)
    return "-" if value is None else f"{value:,.{row.digits}f}"


def line_of(row):
    ratio = "" if row.ratio is None else f"{row.ratio:.2f} x"
    if ratio and row.ratio_to not in ("", "baseline"):
        ratio += f" {row.ratio_to}"
    limit = "" if row.limit is None else ("at least " if row.is_least else "") + f"{row.limit:g}" + (" x" if row.ratio_to else "")
    cells = "".join(f"{cell(row, column):>{CELL}}" for column in COLUMNS)
    return f"  {row.title:{WIDTH}}{row.unit:8}{cells}   {ratio:24}{limit:14}{row.outcome}".rstrip()


def print_comparison(rows, earlier, out):
    """earlier: the table of another run's JSON."""
    values = {(row["group"], row["title"], row["unit"]): row["values"].get("ctrace") for row in earlier}
    out.write(f"\n{'ctrace, beside the earlier run':{WIDTH + 10}}{'earlier':>{CELL}}{'now':>{CELL}}\n")
    for row in rows:
        before, now = values.get((row.group, row.title, row.unit)), row.values.get("ctrace")
        if before and now is not None:
            out.write(f"  {row.title:{WIDTH}}{row.unit:8}{before:>{CELL},.{row.digits}f}{now:>{CELL},.{row.digits}f}   {now / before:.2f} x\n")


def print_table(rows, absent, out):
    """absent: by column, why a tracer is not measured."""
    heads = "".join(f"{title:>{CELL}}" for title in COLUMNS.values())
    out.write(f"{'':{WIDTH + 2}}{'':8}{heads}   {'ratio':24}{'limit':14}\n")
    for column, why in absent.items():
        out.write(f"  {COLUMNS[column]:{WIDTH}}{why}\n")
    group = None
    for row in rows:
        if row.group != group:
            group = row.group
            out.write(f"{group}\n")
        out.write(line_of(row) + "\n")
