"""peers.py - the measured tracers: runs the program of one of them, once, in empty directories, and returns what it measured.

A run that did not deliver every event that it made has no figures: `drops` says how many are missing, and nothing else.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

PATIENCE_SECONDS = 600  # stops what hangs
EVENTS_A_BATCH = 1_010  # of harness.c, with those that warm


class Failure(Exception):
    """A program did not do what it was started for."""


class Peer:
    """A tracer that needs nothing but its program."""

    def __init__(self, name, title, build, packages=""):
        self.name, self.title, self.packages = name, title, packages
        self.program = os.path.join(build, "bench", f"bench_{name}")
        self.extra = []  # options for each run, NAME=VALUE

    def why_not(self):
        """Why it cannot be measured; None: it can."""
        if os.access(self.program, os.X_OK):
            return None
        return f"not installed: apt install {self.packages}" if self.packages else f"{self.program}: not built"

    def start(self, directory):
        """Before the first run."""

    def stop(self):
        """After the last one."""

    def run(self, options, directory, rings):
        work = tempfile.mkdtemp(prefix=f"{self.name}.", dir=directory)
        mapped = tempfile.mkdtemp(prefix=f"{self.name}.", dir=rings)
        try:
            return without_drops(self.measure(options, work, mapped))
        finally:
            shutil.rmtree(work, ignore_errors=True)
            shutil.rmtree(mapped, ignore_errors=True)

    def measure(self, options, work, mapped):
        words = [f"{name}={value}" for name, value in options.items()]
        words += [f"directory={work}", f"rings={mapped}"]
        words += [word for word in self.extra if not (word.startswith("clock=") and "clock" in options)]
        return json.loads(check_output([self.program, *words]))


class Ctrace(Peer):
    """Its trace names the clock of its events."""

    def clock(self, directory, forced=None):
        """By one batch; forced: a value of ctrace.clock, else that of the options for each run."""
        words = [f"clock={forced}"] if forced else [word for word in self.extra if word.startswith("clock=")]
        with tempfile.TemporaryDirectory(dir=directory) as work:
            os.mkdir(f"{work}/run")
            check_output([self.program, f"directory={work}", f"rings={work}/run", *words])
            found = [re.search(r'^\s*description = "(.*)";$', read_text(path), re.MULTILINE) for path in glob.glob(f"{work}/*/metadata")]
        if not found or found[0] is None:
            raise Failure("bench_ctrace: its trace does not name the clock of its events")
        return found[0].group(1).strip()


def read_text(path):
    """A file's text; "": there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def kernel_clock():
    """The kernel's clock source."""
    return read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource").strip() or "not known"


def without_drops(result):
    drops = result.get("discarded", 0) + abs(result["made"] - result["delivered"])
    return {"drops": drops} if drops else result


def check_output(arguments, environment=None):
    """Its standard output."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, env=environment, timeout=PATIENCE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failure(f"{' '.join(arguments)}: {error}") from error
    if done.returncode != 0:
        raise Failure(f"{' '.join(arguments)}: status {done.returncode}\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


class Lttng(Peer):
    """LTTng-UST, with a session daemon of its own.

    A session is made for each run, with buffers that hold the whole run, in discard mode.  The daemon's processor time is part of the
    run's, and what it discarded is asked of it.  Of root there is one session daemon: where it runs already, LTTng is not measured.
    """

    LEAST_BUFFERS, BUFFER_BYTES = 4, 1 << 20
    EVENT_BYTES = 80  # B, and room

    def __init__(self, build):
        super().__init__("lttng", "LTTng-UST", build, "liblttng-ust-dev lttng-tools")
        self.daemon = self.home = self.environment = None

    def why_not(self):
        for program in ("lttng", "lttng-sessiond"):
            if shutil.which(program) is None:
                return f"not installed: apt install {self.packages}"
        if os.geteuid() == 0 and daemon_of_root():
            return f"not measured: session daemon {daemon_of_root()} of root runs already"
        return super().why_not()

    def start(self, directory):
        self.home = tempfile.mkdtemp(prefix="lttng-home.", dir=directory)
        self.environment = dict(os.environ, LTTNG_HOME=self.home, HOME=self.home, LTTNG_UST_REGISTER_TIMEOUT="-1")
        self.daemon = subprocess.Popen(
            ["lttng-sessiond", "--no-kernel"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + PATIENCE_SECONDS
        while subprocess.run(["lttng", "--no-sessiond", "list"], env=self.environment, capture_output=True, check=False).returncode != 0:
            if self.daemon.poll() is not None or time.monotonic() > end:
                raise Failure("lttng-sessiond does not start")
            time.sleep(0.05)

    def stop(self):
        if self.daemon is not None:
            self.daemon.terminate()
            self.daemon.wait()
            self.daemon = None

    def lttng(self, *words):
        return check_output(["lttng", "--no-sessiond", *words], self.environment)

    def measure(self, options, work, mapped):
        count, size = self.buffers(options)
        self.lttng("create", "bench", f"--output={work}/trace")
        try:
            channel = ["--userspace", "--discard", f"--num-subbuf={count}", f"--subbuf-size={size}", "bench"]
            self.lttng("enable-channel", *channel)
            self.lttng("enable-event", "--userspace", "--channel=bench", "ctrace_bench:a,ctrace_bench:b")
            self.lttng("start")
            result = self.run_program(options, work, mapped)
            end_ns = self.stop_session(f"{work}/trace")
            spent_ns = self.daemons_ns() - result.get("beside_ns", 0)
            discarded = re.search(r"<discarded_events>(\d+)<", self.lttng("--mi", "xml", "list", "bench", "--channel=bench"))
            if discarded is None:
                raise Failure("lttng list does not say how many events were discarded")
            result["discarded"] = int(discarded.group(1))
        finally:
            self.lttng("destroy", "bench")
        if "events" in result:
            result["wall_ns"] = max((end_ns - result["start_ns"]) / result["events"], result["producer_ns"])
            result["cpu_ns"] += spent_ns / result["events"]
            result["bytes"] = directory_bytes(f"{work}/trace") / result["made"]
        return result

    def buffers(self, options):
        """Number and size of the buffers of a processor: together they hold the whole run, unless a size was asked for."""
        asked = [word.split("=", 1)[1] for word in self.extra if word.startswith("ring_bytes=")]
        if asked:
            return 2, max(4096, int(asked[-1]) // 2)
        events = options.get("count", 1) * (EVENTS_A_BATCH if options["mode"] in ("call", "together") else 1) + 10_000 + options.get("crowd", 0)
        count = self.LEAST_BUFFERS
        while count * self.BUFFER_BYTES < events * self.EVENT_BYTES:
            count *= 2
        return count, self.BUFFER_BYTES

    def run_program(self, options, work, mapped):
        words = [f"{name}={value}" for name, value in options.items()]
        words += [f"directory={work}", f"rings={mapped}", "beside=" + ",".join(str(pid) for pid in self.daemons())]
        return json.loads(check_output([self.program, *words], self.environment))

    def stop_session(self, trace):
        """Stops, and returns when the trace grew last.  `lttng stop` itself looks every 0.2 s whether everything is written."""
        stopping = subprocess.Popen(["lttng", "--no-sessiond", "stop"], env=self.environment, stdout=subprocess.DEVNULL)
        size, grown = -1, time.monotonic_ns()
        while True:
            has_ended = stopping.poll() is not None
            now = directory_bytes(trace)
            if now != size:
                size, grown = now, time.monotonic_ns()
            if has_ended:
                break
            time.sleep(0.001)
        if stopping.returncode != 0:
            raise Failure("lttng stop")
        return grown

    def daemons(self):
        """The session daemon and its consumer daemons."""
        pids = [self.daemon.pid]
        for pid in pids:
            for thread in os.listdir(f"/proc/{pid}/task"):
                pids += read_numbers(f"/proc/{pid}/task/{thread}/children")
        return pids

    def daemons_ns(self):
        """Their processor time, by the clock that clock_getcpuclockid(3) would give."""
        return sum(int(1e9 * time.clock_gettime(~pid << 3 | 2)) for pid in self.daemons())


def daemon_of_root():
    """The number of root's session daemon; None: it does not run."""
    numbers = read_numbers("/var/run/lttng/lttng-sessiond.pid")
    return numbers[0] if numbers and os.path.exists(f"/proc/{numbers[0]}/exe") else None


def read_numbers(path):
    return [int(word) for word in read_text(path).split()]


def directory_bytes(directory):
    total = 0
    for where, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_size
            except OSError:
                pass
    return total


def all_peers(build):
    return {
        "ctrace": Ctrace("ctrace", "ctrace", build),
        "direct": Peer("direct", "baseline", build),
        "floor": Peer("floor", "floor", build),
        "lttng": Lttng(build),
        "spdlog": Peer("spdlog", "spdlog", build, "libspdlog-dev g++"),
    }
