#!/usr/bin/env python3
"""bench/bench.py in its quick form: every row has its figures, and a figure that came with drops is refused."""

import json
import os
import re
import subprocess
import sys

SOURCE, BUILD = os.environ["CTRACE_SOURCE"], os.environ["CTRACE_BUILD"]
sys.path[:0] = [f"{SOURCE}/tests", f"{SOURCE}/bench"]
import rows  # noqa: E402
import tap  # noqa: E402

GROUPS = {
    "One call",
    "One call alone",
    "Clocks, beside clock_gettime()",
    "Instructions",
    "Back to back, until all is in the files",
    "Back to back, through an external writer",
    "Text",
    "Many threads",
    "Growth",
    "Dumps",
    "A short process, beyond an empty one",
    "Component trace",
    "Operated",
    "Reading",
    "A COBOL batch under libctrace-cobol.so",
}
test = tap.Tap()


def bench(*options, path=os.environ["PATH"]):
    """Runs it; the figures too."""
    words = [sys.executable, f"{SOURCE}/bench/bench.py", BUILD, "--quick", "--threads", "2", "--json", "bench.json", *options]
    done = subprocess.run(words, capture_output=True, text=True, env=dict(os.environ, PATH=path), check=False)
    figures = {}
    if os.path.exists("bench.json"):
        with open("bench.json", encoding="utf-8") as file:
            figures = json.load(file)
        os.remove("bench.json")
    return done, figures


def row_of(figures, title):
    return next((row for row in figures.get("table", []) if row["title"] == title), {"values": {}, "drops": {}, "outcome": None})


# Everything, ctrace and the baseline.
done, figures = bench("--peers", "")
test.check("the quick form ends with status 0", done.returncode == 0, done.returncode, done.stdout, done.stderr)
if done.returncode != 0:
    sys.exit(test.end())
empty = [row["title"] for row in figures.get("table", []) if all(value is None for value in row["values"].values())]
test.same("every row has a figure", empty, [])
for title in ("A: u32, text of 10", "B: u32, u64, i64, text of 32", "A, 1 thread: wall", "A, 2 threads: processors", "B: in the file"):
    row = row_of(figures, title)
    test.check(f"{title}: ctrace, the baseline and their ratio", row["values"].get("ctrace") and row["values"].get("direct") and row["ratio"], row)
    test.check(f"{title}: is in the table that is printed", f"\n  {title} " in done.stdout, done.stdout)
groups = {row["group"].split(":")[0].split(" 2")[0] for row in figures.get("table", [])}
test.same("every group is there", sorted(GROUPS - groups), [])

# The clock stands beside the figures.
clocks = figures.get("machine", {}).get("clocks", {})
with open("/sys/devices/system/clocksource/clocksource0/current_clocksource", encoding="utf-8") as file:
    kernel = file.read().strip()
test.same("the JSON has the kernel's clock source", clocks.get("kernel"), kernel)
test.check("the JSON has the clock of the events, and why", re.fullmatch("(tsc|CLOCK_MONOTONIC): .+", clocks.get("events", "")), clocks)
test.check("the text has both", f"Clock of the events: {clocks.get('events')}.  Clock source of the kernel: {kernel}.\n" in done.stdout, done.stdout)
by_clock = [row for row in figures.get("table", []) if row["group"].startswith("Clocks")]
for name in ("A by CLOCK_MONOTONIC", "ctrace_emit() of A by CLOCK_MONOTONIC", *(("A by the counter",) if clocks.get("events", "").startswith("tsc") else ())):
    both = [row for row in by_clock if row["title"] == name]
    test.same(f"{name}: time and instructions", [row["unit"] for row in both], ["ns", "instr."])
    test.check(f"{name}: a bare clock_gettime() beside each", all(row["values"].get("ctrace") and row["values"].get("direct") for row in both), both)

# An earlier run is compared only when it had the same clocks.
def compared(change, *more):
    """With an earlier run that is these figures, changed."""
    earlier = json.loads(json.dumps(figures))
    change(earlier["machine"])
    with open("earlier.json", "w", encoding="utf-8") as file:
        json.dump(earlier, file)
    return bench("--only", "clocks", "--peers", "", "--compare", "earlier.json", *more)[0]


done = compared(lambda machine: None)
test.same("the same clocks: status 0", (done.returncode, done.stderr), (0, ""))
test.check("the earlier figures stand beside these", re.search(r"^  A by CLOCK_MONOTONIC +ns +[0-9.,]+ +[0-9.,]+   [0-9.]+ x$", done.stdout, re.MULTILINE), done.stdout)
for name, change, more in (
    ("another clock of the events", lambda machine: machine["clocks"].update(events="cntvct_el0: all processors have the same"), ()),
    ("another clock source of the kernel", lambda machine: machine["clocks"].update(kernel="sundial"), ()),
    ("clocks that are not known", lambda machine: machine.pop("clocks"), ()),
    ("a clock that is forced", lambda machine: machine["clocks"].update(events="tsc: the kernel keeps time by it"), ("--with=ctrace:clock=monotonic",)),
):
    done = compared(change, *more)
    test.same(f"{name}: refused, nothing is printed", (done.returncode, done.stdout), (2, ""))
    test.check(f"{name}: one sentence says why", re.fullmatch(r"bench\.py: earlier\.json [^\n]*(is|and is) not compared[^\n]*\n", done.stderr), done.stderr)

# A tracer that is not installed.
done, figures = bench("--only", "text", "--peers", "lttng", path="/nowhere")
test.check("without LTTng the table says how to install it", "not installed: apt install liblttng-ust-dev lttng-tools" in done.stdout, done.stdout)

# A tiny ring that discards: a million events do not go through it.
done, figures = bench("--only", "sustained", "--peers", "", *(f"--with=ctrace:{word}" for word in ("ring_bytes=65536", "policy=discard", "count=1000000")))
test.same("a figure with drops makes the status 1", done.returncode, 1)
for title in ("A, 1 thread: wall", "B, 1 thread: processors", "A: in the file"):
    row = row_of(figures, title)
    test.check(f"{title}: the drops in place of the figure, no ratio, refused",
               row["drops"].get("ctrace") and "ctrace" not in row["values"] and row["ratio"] is None and row["outcome"] == "REFUSED", row)
    line = next((line for line in done.stdout.splitlines() if line.startswith(f"  {title} ")), "")
    test.check(f"{title}: the line says so", "drops: " in line and line.endswith("REFUSED"), line)
    test.check(f"{title}: the baseline, which dropped nothing, has its figure", row["values"].get("direct"), row)
runs = figures.get("raw", {}).get("rounds", {}).get("sustain.a.1", {}).get("ctrace", [])
test.check("the raw figures have nothing but the drops, either", runs and all(list(run) == ["drops"] for run in runs), runs)

# One round of several is enough.
spec = next(spec for spec in rows.specs(2, (0, 1), 2000) if spec.measure == "sustain.a.1" and spec.key == "wall_ns")
row = rows.make_row(spec, {"sustain.a.1": {"ctrace": [{"wall_ns": 1.0}, {"drops": 3}], "direct": [{"wall_ns": 1.0}] * 2}}, {})
test.same("drops in one round refuse the figure of all", (row.drops, row.values.get("ctrace"), row.ratio, row.fails), ({"ctrace": 3}, None, None, True))
row = rows.make_row(spec, {"sustain.a.1": {"ctrace": [{"wall_ns": 1.0}], "direct": [{"drops": 3}]}}, {})
test.same("drops of the baseline refuse it, and the ratio", (row.values.get("ctrace"), row.drops, row.ratio, row.fails), (1.0, {"direct": 3}, None, True))

# The baseline's file is a trace.
os.mkdir("direct")
subprocess.run([f"{BUILD}/bench/bench_direct", "mode=sustain", "case=b", "count=1000", "threads=2", "directory=direct"], check=True, stdout=subprocess.DEVNULL)
done = subprocess.run(["babeltrace2", "direct/trace"], capture_output=True, text=True, check=False)
test.same("babeltrace2 reads every event of the baseline", (len(done.stdout.splitlines()), done.stderr), (3000, ""))
sys.exit(test.end())
