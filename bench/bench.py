#!/usr/bin/env python3
"""bench.py BUILD - measures the release build in BUILD beside a baseline and other tracers, and prints one table.

The measurements are made in rounds.  In a round each measurement is made of one tracer after the other, so that a ratio is made of
neighbours in time.  The figures are medians over the rounds.  Beside them stands the clock of the events: figures of different clocks are
not compared.

Status 1: a figure came with drops, or bytes, instructions or memory are beyond their limit.  A time beyond its limit only says MISSED:
other programs on the machine can cause that.  Status 2: a program failed, or --compare names a run with other clocks.  The quick form judges drops only.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import argparse
import json
import os
import platform
import shutil
import signal
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import cobol_runtime  # noqa: E402
import peers  # noqa: E402
import read  # noqa: E402
import rows  # noqa: E402

GROUPS = ("calls", "clocks", "alone", "first", "steps", "sustained", "text", "crowd", "growth", "dump", "start", "sublevels", "operate", "read", "cobol")
OTHERS = ("lttng", "spdlog")  # what need not be there
ALL = ("ctrace", "direct", "lttng", "spdlog")
PROCESSORS = len(os.sched_getaffinity(0))
THREADS_MOST = 64  # of harness.c
ENOUGH_BYTES = 4 << 30  # in /dev/shm, to be used without being named


class Form:
    """How much is measured."""

    def __init__(self, is_quick, rounds, threads):
        self.is_quick = is_quick
        self.rounds = rounds or (1 if is_quick else 9)
        self.sustained_rounds = min(self.rounds, 5)
        self.batches = 5 if is_quick else 200
        self.singles = 1000 if is_quick else 20_000
        self.firsts = 2000 if is_quick else 200_000
        self.tries = 1 if is_quick else 5
        self.events = 20_000 if is_quick else 1_000_000
        self.threads = threads
        self.crowds = (0, 10, 20) if is_quick else (0, 500, 1000)


def measurements(form, cases, clocks):
    """Name, options, tracers, rounds of each, by group.  cases: of ctrace's program; clocks: that its events can have."""
    made = {group: [] for group in GROUPS}

    def add(group, name, who, rounds, **options):
        made[group].append((name, options, who, rounds))

    for case in ("branch", "rdtsc"):
        add("calls", f"call.{case}", ("floor",), form.rounds, mode="call", case=case, count=form.batches)
    for case in (case for case in cases if case != "emit"):  # that is measured by each clock
        who = ALL if case in ("a", "b", "off") else ("ctrace",)
        add("calls", f"call.{case}", who, form.rounds, mode="call", case=case, count=form.batches)
        if who == ALL or not form.is_quick:
            add("steps", f"steps.{case}", who, 1, mode="steps", case=case, count=form.tries)
    for mode, suffix, rounds, count in (("call", "", form.rounds, form.batches), ("steps", ".steps", 1, form.tries)):
        add("clocks", f"clock.reading{suffix}", ("floor",), rounds, mode=mode, case="clock", count=count)
        for clock in clocks:
            for case in ("a", "emit"):
                add("clocks", f"clock.{clock}.{case}{suffix}", ("ctrace",), rounds, mode=mode, case=case, count=count, clock=clock)
    for case in ("a", "b"):
        add("calls", f"call.storage_{case}", ("ctrace",), form.rounds, mode="call", case=case, count=form.batches, output="storage")
    add("calls", "call.nats", ("ctrace",), form.rounds, mode="call", case="a", count=form.batches, output="nats")
    if PROCESSORS > 1:
        add("calls", "call.two", ("ctrace", "direct"), form.rounds, mode="together", case="a", count=form.batches, threads=2)
    for case in ("a", "b"):
        add("alone", f"alone.{case}", ALL, form.rounds, mode="alone", case=case, count=form.singles)
        for threads in sorted({1, form.threads}):
            options = {"mode": "sustain", "case": case, "count": form.events, "threads": threads}
            add("sustained", f"sustain.{case}.{threads}", ALL, form.sustained_rounds, **options)
        options = {"mode": "sustain", "case": case, "count": form.events, "output": "storage"}
        add("sustained", f"sustain.storage_{case}", ("ctrace",), form.sustained_rounds, **options)
        options = {"mode": "sustain", "case": f"write_{case}", "count": form.events}
        add("sustained", f"sustain.write_{case}", ("floor",), form.sustained_rounds, **options)
    add("first", "first.a", ("ctrace", "direct"), form.rounds, mode="first", case="a", count=form.firsts)
    # 40,000 have room in a ring of 1 MiB; of 100,000 a thread has to wait for the output.
    for count in (form.firsts // 5, form.firsts // 2):
        add("first", f"first.warm_{count}", ("ctrace", "direct"), form.rounds, mode="burst", case="a", count=count, laps=2)
        for threads in (1, 2) if PROCESSORS > 1 else (1,):
            add("first", f"first.{count}_{threads}", ("ctrace", "direct"), form.rounds, mode="burst", case="a", count=count, threads=threads)
    add("text", "text.a", ("ctrace", "spdlog"), form.sustained_rounds, mode="sustain", case="a", count=form.events, output="text")
    for crowd in form.crowds:
        add("crowd", f"crowd.{crowd}", ALL, form.sustained_rounds, mode="sustain", case="a", count=form.events, crowd=crowd)
    add("crowd", "memory", ALL, 1, mode="memory", case="a", crowd=form.crowds[-1])
    return made


def differences(options, peer):
    """Of one tracer's options."""
    if "crowd" in options and peer == "direct":
        return {"ring_bytes": 65536}  # a thousand of its usual size would be a gigabyte of memory
    if options["mode"] == "steps" and peer in OTHERS:
        return {"count": 1}  # a thousand instructions an event take a while to step through
    return {}


def measure_in_rounds(tracers, chosen, directory, rings):
    """Results by measurement and tracer: the runs in the order of the rounds."""
    results = {name: {peer: [] for peer in who if peer in tracers} for name, _, who, _ in chosen}
    for turn in range(max((rounds for _, _, _, rounds in chosen), default=0)):
        for name, options, who, rounds in chosen:
            for peer in who:
                if turn < rounds and peer in tracers:
                    say(f"round {turn + 1}: {name} {peer}")
                    run = tracers[peer].run(options | differences(options, peer), directory, rings)
                    if name.startswith("text.") and "wall_ns" in run:
                        run["lines"] = 1e9 / run["wall_ns"]
                    results[name][peer].append(run)
    return results


def say(what):
    """What is being measured, where somebody watches."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{what}")
        sys.stderr.flush()


def run_program(build, name, is_quick):
    """One of the programs that have rounds of their own."""
    say(name)
    with tempfile.NamedTemporaryFile("r", suffix=".json") as output:
        peers.check_output([os.path.join(build, "bench", name), output.name, *(["quick"] if is_quick else [])])
        return json.load(output)


def measure_rest(build, groups, is_quick, a_runs):
    """Raw figures and rows of those programs."""
    raw, made = {}, []
    for group, program, make in (
        ("growth", "bench_growth", rows.growth_rows),
        ("dump", "bench_dump", rows.dump_rows),
        ("start", "bench_start", rows.start_rows),
        ("sublevels", "bench_sublevels", rows.sublevels_rows),
        ("operate", "bench_operate", rows.operate_rows),
    ):
        if group in groups:
            raw[group] = run_program(build, program, is_quick)
            made += make(raw[group])
    if "start" in groups and cobol_runtime.is_there(build):
        say("a short COBOL program")
        raw["start_run"] = cobol_runtime.measure_start(build, is_quick)
        made += rows.start_run_rows(raw["start_run"])
    if "read" in groups:
        say("reading")
        raw["read"] = read.measure(build, is_quick)
        made += rows.read_rows(raw["read"])
    if "cobol" in groups and cobol_runtime.is_there(build):
        say("COBOL run time")
        raw["cobol"] = cobol_runtime.measure(build, is_quick)
        made += rows.cobol_rows(raw["cobol"], a_runs)
    return raw, made


def parse(words):
    parser = argparse.ArgumentParser(description="Measures the release build in BUILD and prints one table.")
    parser.add_argument("build", metavar="BUILD", help="a build with -Dbench=true")
    parser.add_argument("--json", metavar="FILE", help="writes the figures of each run, and the table, there")
    parser.add_argument("--quick", action="store_true", help="few events, one round: shows that everything works, measures nothing")
    parser.add_argument("--rounds", type=int, metavar="N", help="9 when not given")
    threads = min(max(2, PROCESSORS), THREADS_MOST)
    parser.add_argument("--threads", type=int, default=threads, metavar="N", help="of the runs with several (%(default)s)")
    parser.add_argument("--only", metavar="GROUP,...", help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--peers", metavar="NAME,...", help=f"which of {', '.join(OTHERS)} are measured beside ctrace and the baseline")
    compare = "an earlier run's --json file, whose figures of ctrace are printed beside these; it must have the same clocks"
    parser.add_argument("--compare", metavar="FILE", help=compare)
    extra = "an option for each run of a tracer's program (bench/harness.c): lttng:ring_bytes=8192"
    parser.add_argument("--with", action="append", default=[], metavar="NAME:OPTION=VALUE", dest="extra", help=extra)
    options = parser.parse_args(words)
    options.only = options.only.split(",") if options.only else list(GROUPS)
    options.peers = options.peers.split(",") if options.peers is not None else list(OTHERS)
    for given, known in ((options.only, GROUPS), (options.peers, (*OTHERS, "")), ([word.split(":", 1)[0] for word in options.extra], ALL)):
        unknown = [word for word in given if word not in known]
        if unknown:
            parser.error(f"'{unknown[0]}' is none of {', '.join(known)}")
    if not 1 <= options.threads <= THREADS_MOST or (options.rounds is not None and options.rounds < 1):
        parser.error("a number is out of bounds")
    if any(":" not in word or "=" not in word for word in options.extra):
        parser.error("--with takes NAME:OPTION=VALUE")
    return options


def choose(options):
    """The tracers that can be measured, and why others cannot."""
    every, absent = peers.all_peers(options.build), {}
    for name in OTHERS:
        why = every[name].why_not() if name in options.peers else "not asked for"
        if why:
            absent[name] = why
            del every[name]
    for name, peer in every.items():
        if peer.why_not():
            raise peers.Failure(peer.why_not())
        peer.extra = [word.split(":", 1)[1] for word in options.extra if word.split(":", 1)[0] == name]
    return every, absent


def clocks_of(peer, directory):
    """The clock of ctrace's events and why, that of the kernel, and which of ctrace.clock's this machine has."""
    clocks = {"events": peer.clock(directory), "kernel": peers.kernel_clock()}
    forced = [name for name in rows.CLOCKS if peer.clock(directory, name).startswith("CLOCK_MONOTONIC") == (name == "monotonic")]
    return clocks, forced


def read_earlier(path, clocks):
    """The table of an earlier run with the same clocks; None: nothing is to be compared."""
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            earlier = json.load(file)
        there, table = earlier["machine"].get("clocks"), earlier["table"]
    except (OSError, ValueError, KeyError) as error:
        raise peers.Failure(f"{path}: not the JSON of an earlier run: {error}") from error
    if there is None:
        raise peers.Failure(f"{path} does not say which clock its events have, so it is not compared")
    if [there["events"].split(":")[0], there["kernel"]] != [clocks["events"].split(":")[0], clocks["kernel"]]:
        raise peers.Failure(f"{path} was measured with other clocks and is not compared: its events have {there['events'].split(':')[0]} and "
                            f"its kernel {there['kernel']}, here they have {clocks['events'].split(':')[0]} and the kernel {clocks['kernel']}")
    return table


def rings_place(directory):
    return "/dev/shm" if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > ENOUGH_BYTES else directory


def measure(options):
    form = Form(options.quick, options.rounds, options.threads)
    tracers, absent = choose(options)
    cases = peers.check_output([tracers["ctrace"].program, "mode=cases", "directory=."]).split()
    with tempfile.TemporaryDirectory(prefix="ctrace-bench.") as directory:
        clocks, forced = clocks_of(tracers["ctrace"], directory)
        earlier = read_earlier(options.compare, clocks)
        made = measurements(form, cases, forced)
        chosen = [one for group in GROUPS if group in options.only for one in made[group]]
        with tempfile.TemporaryDirectory(prefix="ctrace-bench.", dir=rings_place(directory)) as rings:
            try:
                for peer in tracers.values():
                    peer.start(directory)
                results = measure_in_rounds(tracers, chosen, directory, rings)
            finally:
                for peer in tracers.values():
                    peer.stop()
    raw, rest = measure_rest(options.build, options.only, options.quick, results.get("call.a", {}).get("ctrace"))
    table = rows.measured_rows(results, form.threads, form.crowds, form.firsts) + rest
    if form.is_quick:
        for row in table:
            row.limit = None
    return {"rounds": results, **raw}, table, absent, clocks, earlier


def write_json(path, raw, table, absent, clocks):
    machine = {"cpu": cpu_name(), "cpus": os.cpu_count(), "kernel": platform.release(), "clocks": clocks}
    lines = [dict(vars(row), outcome=row.outcome) for row in table]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"machine": machine, "absent": absent, "table": lines, "raw": raw}, file, indent=2)
        file.write("\n")


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    options = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # the directories go, and the session daemon
    try:
        raw, table, absent, clocks, earlier = measure(options)
    except peers.Failure as failure:
        say("")
        sys.stderr.write(f"bench.py: {failure}\n")
        return 2
    say("")
    print(f"Clock of the events: {clocks['events']}.  Clock source of the kernel: {clocks['kernel']}.")
    rows.print_table(table, absent, sys.stdout)
    if earlier is not None:
        rows.print_comparison(table, earlier, sys.stdout)
    if options.json:
        write_json(options.json, raw, table, absent, clocks)
        print(f"\nAll figures: {options.json}.  What they mean: bench/RESULTS.md.")
    if options.quick:
        print("\nThe quick form shows that everything works.  Its figures mean nothing.")
    return 1 if any(row.fails for row in table) else 0


if __name__ == "__main__":
    sys.exit(main())
