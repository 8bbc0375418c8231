"""cobol_runtime.py - measures what libctrace-cobol.so costs a COBOL batch.  Called by bench.py.

Every case is a whole process: its processor time (all threads) and its time from start to end.  The cases take turns, so that a ratio
is made of neighbours in time.  `plain` is the program without the library, `off` with it and nothing traced, `traced` with all
programs, paragraphs and files in a BINFILE; `own` is the run time's trace, COB_SET_TRACE, of a hundredth of the paragraphs.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

from peers import Failure, check_output
from read import place

CONFIG = """mftrace.level.mf.rts = debug
mftrace.level.mf.mffh.xfh = debug
mftrace.comp.mf.rts#pgm = true
mftrace.comp.mf.rts#paragraphs = true
mftrace.comp.mf.mffh.xfh#file:* = true
mftrace.dest = binfile
mftrace.emitter.binfile#file = trace.ctb
ctrace.block.timeout = 10000
"""
OWN_PART = 100


def is_there(build):
    return os.path.exists(f"{build}/libctrace-cobol.so") and os.path.exists(f"{build}/bench/bench_batch")


class Batch:
    """The program, in a directory of its own."""

    def __init__(self, build, directory):
        self.build, self.directory = build, directory
        with open(f"{directory}/trace.cfg", "w", encoding="ascii") as file:
            file.write(CONFIG)

    def run(self, work, count, how="plain"):
        """Seconds of the processors, and from start to end."""
        words = [os.path.realpath(f"{self.build}/bench/bench_batch")]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("COB_", "CTRACE_", "MFTRACE_"))}
        environment |= {"WORK": work, "COUNT": str(count), "CTRACE_RUN_DIR": f"{self.directory}/run"}
        if how in ("off", "traced"):
            environment["LD_PRELOAD"] = os.path.realpath(f"{self.build}/libctrace-cobol.so")
        if how == "traced":
            environment["MFTRACE_CONFIG"] = "trace.cfg"
        if how == "own":
            environment |= {"COB_SET_TRACE": "Y", "COB_TRACE_FILE": "own.txt"}
        if how == "run":
            words = [os.path.realpath(f"{self.build}/ctrace"), "run", "--output=trace.ctb", "--summary=never", *words]
        shutil.rmtree(f"{self.directory}/trace.ctb", ignore_errors=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        done = subprocess.run(words, cwd=self.directory, env=environment, check=False)
        wall = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            raise Failure(f"bench_batch {work} {how}: status {done.returncode}")
        return {"cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, "wall": wall}

    def traced_events(self):
        """Events of the last trace, and those that were lost."""
        found = json.loads(check_output([f"{self.build}/ctrace", "stats", "--json", f"{self.directory}/trace.ctb"]))
        return found["count"], found["lost"]


def measure_start(build, is_quick):
    """Seconds of a program that reads one record, alone and under `ctrace run`, in turns."""
    runs = {"plain": [], "run": []}
    with tempfile.TemporaryDirectory(prefix="ctrace-bench-cobol.", dir=place()) as directory:
        batch = Batch(build, directory)
        batch.run("write", 1)
        for _ in range(1 if is_quick else 51):
            for how, results in runs.items():
                results.append(batch.run("read", 1, how)["wall"])
    return runs


def measure(build, is_quick):
    records = 2_000 if is_quick else 1_000_000
    paragraphs = 10_000 if is_quick else 10_000_000
    rounds = 1 if is_quick else 5
    cases = {(work, how): [] for work in ("batch", "read", "paragraphs") for how in ("plain", "off", "traced")}
    cases["paragraphs", "own"] = []
    lost = 0
    with tempfile.TemporaryDirectory(prefix="ctrace-bench-cobol.", dir=place()) as directory:
        batch = Batch(build, directory)
        batch.run("write", records)
        for _ in range(rounds):
            for (work, how), results in cases.items():
                results.append(batch.run(work, paragraphs // (OWN_PART if how == "own" else 1), how))
                if how == "traced":
                    events, dropped = batch.traced_events()
                    least = {"batch": 11 * records, "read": records, "paragraphs": paragraphs}[work]
                    lost += dropped + max(least - events, 0)
    made = {f"{work} {how}": results for (work, how), results in cases.items()}
    return {"records": records, "paragraphs": paragraphs, "own_part": OWN_PART, "lost": lost, "cases": made}


def beyond(cases, work, how, key, count):
    """Nanoseconds that a case takes longer than the plain one, each of `count`."""
    pairs = zip(cases[f"{work} {how}"], cases[f"{work} plain"])
    return statistics.median((mine[key] - plain[key]) * 1e9 / count for mine, plain in pairs)


def own_trace(cobol):
    """Nanoseconds that the run time's own trace takes a paragraph; fewer of them are traced."""
    pairs = zip(cobol["cases"]["paragraphs own"], cobol["cases"]["paragraphs plain"])
    return statistics.median((own["wall"] * cobol["own_part"] - plain["wall"]) * 1e9 / cobol["paragraphs"] for own, plain in pairs)


def ratio(cases, work, how, key):
    pairs = zip(cases[f"{work} {how}"], cases[f"{work} plain"])
    return statistics.median(mine[key] / plain[key] for mine, plain in pairs)
