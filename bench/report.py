#!/usr/bin/env python3
"""report.py RAW.json SUBLEVELS.json START.json OPERATE.json READ.json OUTPUT.json - judges what bench_trace, bench_sublevels, bench_start,
bench_operate and read.py measured: prints the tables, writes every figure.

Status 1 when something missed its target that no other load on the machine can excuse: bytes, instructions, lost events.  A missed
time is said, and no more.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import platform
import statistics
import sys

# An event's time, as a multiple of another one of the same run: what, of what, at most.
RATIO_TARGETS = {
    "a": ("ring_a", 1.6),
    "b": ("ring_b", 1.8),
    "c": ("load_branch", 1.2),
    "d": ("a", 1.3),
    "cbl_handle": ("a", 3.0),
    "entry": ("a", 1.5),
    "entry_own": ("a", 1.7),
    "entry_off": ("c", 1.2),
}
# For the rest: what is told without a target.
RATIO_TOLD = {"cbl_name": "a", "cobol_handle": "a", "cobol_name": "a"}

# Instructions, the loop and the choice of a text included.  A few above what gcc 12 makes of it, so that only a longer way shows.
INSTRUCTION_TARGETS = {"a": 55, "b": 65, "c": 8, "cbl_handle": 320, "entry": 60, "entry_own": 230, "entry_off": 10}
BYTE_TARGETS = {"a": 24, "b": 60}
SUBLEVELS_SECONDS = 2
SUBLEVELS_MEBIBYTES = 64

# A short process (bench_start): microseconds beyond an empty one, of a thread's first event, KiB of an idle process's files.
START_TITLES = {"memory": "run directory in memory", "disk": "run directory on disk"}
START_US = {
    "memory": {"none_us": 500, "text_us": 1000, "bin_us": 1000, "thread_us": 50},
    "disk": {"none_us": 2000, "text_us": 2000, "bin_us": 2000},
}
START_CASES = {
    "empty_us": "an empty process",
    "none_us": "one event, not configured",
    "text_us": "one event, TEXTFILE",
    "bin_us": "one event, BINFILE",
    "thread_us": "first event of a thread",
}
START_IDLE_KIB = 64

# Operating (bench_operate): milliseconds until a level is in force in all processes, an event's time while its process is operated, and
# nanoseconds that a writer may take for each of five million events a second.
LEVEL_MS = 50
OPERATE_TARGETS = {"display": ("alone", 1.2), "other": ("alone", 1.2), "same": ("alone", 1.2), "writer": ("own", 1.2)}
OPERATE_TOLD = {"busy": ["alone"], "flood": ["alone"], "own": ["alone"], "writer": ["alone"]}
WRITER_NS = 200

# Reading a million A (read.py).
READ_SECONDS = {"text": 0.15, "filter": 0.05, "report": 3}
READ_OF_BABELTRACE2 = 0.1
READ_GROWTH = 1.2  # memory at four million events, to that at one
REPORT_MEBIBYTES = 60
SEEK_READ_MEBIBYTES = 64  # of 10 GB


def ratio(cases, name, base):
    """Made within a repetition, where both saw the same machine."""
    pairs = zip(cases[name]["ns_by_repetition"], cases[base]["ns_by_repetition"])
    return statistics.median(mine / other for mine, other in pairs)


def judge(raw):
    checks = []

    def check(what, value, limit, unit, is_gate):
        checks.append({"what": what, "value": value, "limit": limit, "unit": unit, "reached": value <= limit, "gate": is_gate})

    cases = raw["cases"]
    for name, (base, limit) in RATIO_TARGETS.items():
        if name in cases:
            cases[name]["ratio"] = {"of": base, "value": round(ratio(cases, name, base), 3)}
            check(f"{cases[name]['title']}: time", cases[name]["ratio"]["value"], limit, f"x {cases[base]['title']}", False)
    for name, base in RATIO_TOLD.items():
        if name in cases:
            cases[name]["ratio"] = {"of": base, "value": round(ratio(cases, name, base), 3)}
    for name, limit in INSTRUCTION_TARGETS.items():
        if cases[name]["instructions"] is not None:
            check(f"{cases[name]['title']}: instructions", cases[name]["instructions"], limit, "", True)
    for name, limit in BYTE_TARGETS.items():
        check(f"{cases[name]['title']}: BINFILE", raw["sustained"][name]["bytes"], limit, "bytes an event", True)
    sublevels = raw["sublevels"]
    what = f"{sublevels['count']:,} sublevels defined and deleted"
    check(what, round(statistics.median(sublevels["seconds"]), 3), SUBLEVELS_SECONDS, "s", False)
    check(f"{what}: memory", sublevels["mebibytes"], SUBLEVELS_MEBIBYTES, "MiB", True)
    judge_starting(raw["start"], check)
    judge_operating(raw["operate"], check)
    judge_reading(raw["read"], check)
    events = raw["events"]
    missing = events["made"] - events["delivered"] if events["made"] == events["emitted"] else events["made"]
    check("events not in the files", max(missing, events["lost"]) + events["lost_by_baseline"], 0, "", True)
    return checks


def judge_starting(start, check):
    for place, limits in START_US.items():
        for name, limit in limits.items():
            check(f"{START_CASES[name]}, {START_TITLES[place]}", start[place][name], limit, "us", False)
        check(f"an idle process, {START_TITLES[place]}", start[place]["idle_kib"], START_IDLE_KIB, "KiB", True)


def judge_operating(operate, check):
    level, cost = operate["level"], operate["cost"]
    check(f"a level in {level['processes']} processes", round(statistics.median(level["in_force_ms"]), 1), LEVEL_MS, "ms", False)
    for name, (base, limit) in OPERATE_TARGETS.items():
        value = round(ratio(cost, name, base), 3)
        cost[name].setdefault("ratios", {})[base] = value
        check(f"{cost[name]['title']}: time", value, limit, f"x {cost[base]['title']}", False)
    for name, bases in OPERATE_TOLD.items():
        for base in bases:
            cost[name].setdefault("ratios", {})[base] = round(ratio(cost, name, base), 3)
    events = operate["cost_events"]
    missing = abs(events["made"] - events["emitted"]) + abs(events["emitted"] - events["delivered"])
    check("operated: events not delivered", missing + events["lost"], 0, "", True)
    check("operated: events not in the writer's data set", max(events["for_writer"] - events["by_writer"], 0), 0, "", True)
    runs = operate["writer"]
    for run in runs:
        run["ns"] = round(run["seconds"] * 1e9 / run["events"], 2)
        run["writer_ns"] = round(run["writer_seconds"] * 1e9 / run["events"], 2)
        run["missing"] = run["pending"] + run["lost"] + abs(run["emitted"] - run["delivered"]) + abs(run["emitted"] - run["written"])
    check("a writer: from one thread into the data set", statistics.median(run["ns"] for run in runs), WRITER_NS, "ns an event", False)
    check("a writer: its processor time", statistics.median(run["writer_ns"] for run in runs), WRITER_NS, "ns an event", False)
    check("a writer: events not in the data set", max(run["missing"] for run in runs), 0, "", True)


def judge_reading(read, check):
    cases = read["cases"]
    for name, limit in READ_SECONDS.items():
        check(f"reading: {READ_TITLES[name]}", cases[name]["median"], limit, "s", False)
    if "babeltrace2" in cases:
        pairs = zip(cases["text"]["seconds"], cases["babeltrace2"]["seconds"])
        read["of_babeltrace2"] = round(statistics.median(mine / other for mine, other in pairs), 4)
        check("reading: to text, of babeltrace2's time", read["of_babeltrace2"], READ_OF_BABELTRACE2, "x", False)
    growth = round(cases["four"]["mebibytes"] / cases["text"]["mebibytes"], 3)
    check("reading: memory for 4 million events", growth, READ_GROWTH, "x that for one million", True)
    check("reading: size of the report page", cases["report"]["page_mebibytes"], REPORT_MEBIBYTES, "MiB", True)
    if cases["seek"]["read"] is not None:
        what = f"reading: from a time in {cases['seek']['bytes'] / 1e9:.1f} GB, read"
        check(what, round(cases["seek"]["read"] / (1 << 20), 2), SEEK_READ_MEBIBYTES, "MiB", True)
    missing = abs(read["lines"]["text"] - read["events"]) + abs(100 * read["lines"]["filter"] - read["events"])
    check("reading: events not shown", missing, 0, "", True)


READ_TITLES = {
    "text": "1,000,000 events to text",
    "filter": "of which a filter drops 99 %",
    "json": "to JSON",
    "four": "4,000,000 events to text",
    "babeltrace2": "babeltrace2",
    "report": "a report page",
    "seek": "from a time on, in a large trace",
}


def print_reading(read):
    print(f"\n{'Reading':36}{'median, ms':>10}{'least':>9}{'MiB':>8}")
    for name, case in read["cases"].items():
        print(f"{READ_TITLES[name]:36}{1e3 * case['median']:>10.1f}{1e3 * min(case['seconds']):>9.1f}{case['mebibytes']:>8.1f}")


def cell(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def print_table(raw, checks):
    cases = raw["cases"]
    print(f"\n{'':36}{'ns an event':>17}   {'one event alone, ns':>24}   {'instruc-':>8}")
    print(f"{'':36}{'median':>8}{'p99.9':>9}   {'median':>8}{'p99':>8}{'p99.9':>8}   {'tions':>8}   ratio")
    for case in cases.values():
        digits = 2 if case["ns_median"] < 1 else 1
        told = ""
        if "ratio" in case:
            told = f"{case['ratio']['value']:.2f} x {cases[case['ratio']['of']]['title'].split(':')[0]}"
        print(
            f"{case['title']:36}{cell(case['ns_median'], digits):>8}{cell(case['ns_p999'], digits):>9}   "
            f"{cell(case.get('single_ns_median')):>8}{cell(case.get('single_ns_p99')):>8}{cell(case.get('single_ns_p999')):>8}   "
            f"{cell(case['instructions'], 0):>8}   {told}".rstrip()
        )
    print(f"\n{'A million events back to back':36}{'to disk':>8}{'producer':>10}{'CPU':>8}   bytes")
    for name, sustained in raw["sustained"].items():
        print(
            f"{cases[name]['title']:36}{sustained['wall_ns']:>8.1f}{sustained['producer_ns']:>10.1f}{sustained['cpu_ns']:>8.1f}"
            f"   {sustained['bytes']:.2f}"
        )
    print_starting(raw["start"])
    print_operating(raw["operate"])
    print_reading(raw["read"])
    print("\nTargets")
    for item in checks:
        word = "reached" if item["reached"] else "MISSED"
        print(f"  {word:8}{item['what']:48}{item['value']:>9.2f} of {item['limit']:<5g}{item['unit']}".rstrip())


def print_starting(start):
    print(f"\n{'Starting, us beyond an empty process':46}" + "".join(f"{title:>26}" for title in START_TITLES.values()))
    for name, title in START_CASES.items():
        print(f"{title:46}" + "".join(f"{start[place][name]:>26.0f}" for place in START_TITLES))
    print(f"{'files of an idle process, KiB':46}" + "".join(f"{start[place]['idle_kib']:>26.0f}" for place in START_TITLES))


def print_operating(operate):
    level, cost, runs = operate["level"], operate["cost"], operate["writer"]
    print(f"\n{'Operated':36}{'median':>8}{'p99':>9}{'p99.9':>9}   {'requests/s':>10}   ratio")
    for case in cost.values():
        told = ", ".join(f"{value:.2f} x {cost[base]['title'].split(', ', 1)[1]}" for base, value in case.get("ratios", {}).items())
        rate = f"{case['requests'] / case['seconds']:.0f}" if case["requests"] else "-"
        print(f"{case['title']:36}{case['ns_median']:>8.1f}{case['ns_p99']:>9.1f}{case['ns_p999']:>9.1f}   {rate:>10}   {told}".rstrip())
    print(f"\n{'ctrace level':36}{'in force':>9}{'worst':>9}{'command ends':>14}")
    print(
        f"{level['processes']} processes, ms{'':20}{statistics.median(level['in_force_ms']):>9.1f}{max(level['in_force_ms']):>9.1f}"
        f"{statistics.median(level['command_ms']):>14.1f}"
    )
    print(f"\n{'An external writer, one thread':36}{'million/s':>10}{'its CPU, ns':>13}{'bytes':>8}{'missing':>9}")
    for run in runs:
        print(
            f"{run['events']:>12,} events{'':17}{run['events'] / run['seconds'] / 1e6:>10.2f}{run['writer_ns']:>13.1f}"
            f"{run['bytes'] / run['written']:>8.2f}{run['missing']:>9}"
        )


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        raw = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        raw["sublevels"] = json.load(file)
    with open(sys.argv[3], encoding="utf-8") as file:
        raw["start"] = json.load(file)
    with open(sys.argv[4], encoding="utf-8") as file:
        raw["operate"] = json.load(file)
    with open(sys.argv[5], encoding="utf-8") as file:
        raw["read"] = json.load(file)
    checks = judge(raw)
    raw["targets"] = checks
    raw["machine"] = {"cpu": cpu_name(), "cpus": os.cpu_count(), "kernel": platform.release()}
    with open(sys.argv[6], "w", encoding="utf-8") as file:
        json.dump(raw, file, indent=2)
        file.write("\n")
    print_table(raw, checks)
    print(f"\nAll figures: {sys.argv[6]}.  What they mean: bench/RESULTS.md.")
    return 1 if any(item["gate"] and not item["reached"] for item in checks) else 0


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


if __name__ == "__main__":
    sys.exit(main())
