"""read.py - measures what reading traces costs, babeltrace2 beside it where it is installed.  Called by bench.py.

Every case is a whole process: from its start to its end, its output to a file in memory.  The cases take turns, so that a ratio is made of
neighbours in time.  Data go to $TMPDIR, else /dev/shm where that has room, else /tmp.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import shutil
import statistics
import struct
import subprocess
import tempfile

from peers import Failure, check_output

LARGE_BYTES = int(os.environ.get("BENCH_READ_LARGE", 10 << 30))
PACKET_HEAD = struct.Struct("<I16sIIIQIIQQQQQII")  # src/format/packet.c
PACKET_SIZE, BEGIN_NS, END_NS, SEQUENCE = 7, 8, 9, 11


def place():
    if os.environ.get("TMPDIR"):
        return os.environ["TMPDIR"]
    usage = shutil.disk_usage("/dev/shm") if os.path.isdir("/dev/shm") else None
    return "/dev/shm" if usage and usage.free > 2 << 30 else "/tmp"


def run(build, arguments, output):
    """Seconds, and MiB at most in memory."""
    words = check_output([f"{build}/bench/bench_process", output] + arguments).split()
    if words[2] != "0":
        raise Failure(f"{' '.join(arguments)}: status {words[2]}")
    return {"seconds": float(words[0]), "mebibytes": float(words[1])}


def make_trace(build, path, count):
    config = f"{path}.cfg"
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"mftrace.dest = binfile\nmftrace.level.bench = info\nmftrace.emitter.binfile#file = {path}\nctrace.block.timeout = 10000\n")
    environment = dict(os.environ, MFTRACE_CONFIG=config, CTRACE_RUN_DIR=f"{path}.run")
    check_output([f"{build}/bench/bench_read", str(count)], environment)


def lines_of(path):
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def measure_cases(build, cases, output, rounds):
    """Each case so often, in turns; the first round only warms."""
    results = {name: [] for name in cases}
    for turn in range(rounds + 1):
        for name, arguments in cases.items():
            result = run(build, arguments, output)
            if turn > 0:
                results[name].append(result)
    return results


def summary(results):
    return {
        "seconds": [round(r["seconds"], 4) for r in results],
        "median": round(statistics.median(r["seconds"] for r in results), 4),
        "mebibytes": round(max(r["mebibytes"] for r in results), 1),
    }


def make_large(source, target, size):
    """A stream of whole packets of the source, again and again, each later than the one before.  Gives the times of its beginning and end."""
    os.makedirs(target)
    # Without the closing mark, which says how long the streams were.
    with open(f"{source}/metadata", encoding="utf-8") as metadata, open(f"{target}/metadata", "w", encoding="utf-8") as out:
        out.write(metadata.read().split("/* closed\n")[0])
    with open(f"{source}/stream.0", "rb") as file:
        data = file.read()
    packets, at = [], 0
    while at < len(data):
        head = PACKET_HEAD.unpack_from(data, at)
        packets.append((head, data[at + PACKET_HEAD.size : at + head[PACKET_SIZE] // 8]))
        at += head[PACKET_SIZE] // 8
    first, last = packets[0][0][BEGIN_NS], packets[-1][0][END_NS]
    # Readers go by the times of the heads: the ticks, and so the events, stay as they are.
    step = last - first + 1
    written, shift, sequence = 0, 0, 0
    with open(f"{target}/stream.0", "wb") as out:
        while written < size:
            block = bytearray()
            for head, body in packets:
                if len(body) < 1000:
                    continue
                fields = list(head)
                fields[BEGIN_NS] += shift
                fields[END_NS] += shift
                fields[SEQUENCE] = sequence
                sequence += 1
                block += PACKET_HEAD.pack(*fields) + body
            out.write(block)
            written += len(block)
            shift += step
    return first, last + shift - step


def read_bytes(arguments):
    """What the process read with read(2) and its like, as strace sees it; None without strace."""
    if shutil.which("strace") is None:
        return None
    with tempfile.NamedTemporaryFile("r") as log:
        subprocess.run(
            ["strace", "-f", "-o", log.name, "-e", "trace=read,pread64"] + arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )
        total = 0
        for line in log:
            result = line.rsplit("= ", 1)[-1].split()
            if result and result[0].isdigit():
                total += int(result[0])
        return total


def measure_seek(build, work, size, rounds):
    tool = f"{build}/ctrace"
    size = min(size, shutil.disk_usage(work).free // 2)
    large = f"{work}/large.ctb"
    first, last = make_large(f"{work}/a.ctb", large, size)
    since = f"@{(last - (last - first) // 1000) / 1e9:.9f}"
    arguments = [tool, "show", "--since", since, "--limit", "1000", large]
    runs = [run(build, arguments, f"{work}/out") for _ in range(rounds)]
    result = summary(runs)
    result["bytes"] = os.path.getsize(f"{large}/stream.0")
    result["read"] = read_bytes(arguments)
    result["events"] = lines_of(f"{work}/out")
    shutil.rmtree(large)
    return result


def measure(build, is_quick):
    """The figures, by case."""
    events, rounds, large = (20_000, 1, 64 << 20) if is_quick else (1_000_000, 7, LARGE_BYTES)
    tool = f"{build}/ctrace"
    with tempfile.TemporaryDirectory(prefix="ctrace-bench-read.", dir=place()) as work:
        make_trace(build, f"{work}/a.ctb", events)
        make_trace(build, f"{work}/four.ctb", 4 * events)
        trace = f"{work}/a.ctb"
        cases = {
            "text": [tool, "show", trace],
            "filter": [tool, "show", "event == 2", trace],
            "json": [tool, "show", "--json", trace],
            "four": [tool, "show", f"{work}/four.ctb"],
        }
        if shutil.which("babeltrace2"):
            cases["babeltrace2"] = ["babeltrace2", trace]
        results = {name: summary(runs) for name, runs in measure_cases(build, cases, f"{work}/out", rounds).items()}
        lines = {}
        for name in ("text", "filter"):
            run(build, cases[name], f"{work}/out")
            lines[name] = lines_of(f"{work}/out")
        report = f"{work}/report.html"
        runs = [run(build, [tool, "report", trace, "-o", report], f"{work}/out") for _ in range(min(rounds, 3))]
        results["report"] = summary(runs)
        results["report"]["page_mebibytes"] = round(os.path.getsize(report) / (1 << 20), 2)
        results["seek"] = measure_seek(build, work, large, rounds)
    return {"events": events, "lines": lines, "cases": results}
