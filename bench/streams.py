#!/usr/bin/env python3
"""streams.py BUILD - measures what traces in streams cost: forwarding, reading, and asking many machines.

BUILD is a release build with -Dbench=true, as `make bench` leaves it in build-bench.  Servers keep their streams in /dev/shm, if TMPDIR
names nothing else.  A round forwards the same traces once by `ctrace forward` and once by peer_nats, which only publishes their bytes in
messages of the same mean size, with as many under way.  The figures are medians of the rounds.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import argparse
import glob
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import read

UNDER_WAY = 16  # of nats_forward.h
TICKS = os.sysconf("SC_CLK_TCK")


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Servers:
    """One, or several in a cluster."""

    def __init__(self, directory, count):
        self.ports, routes = free_ports(count), free_ports(count)
        self.processes = []
        for at in range(count):
            cluster = ["-cluster_name", "bench", "-cluster", f"nats://127.0.0.1:{routes[at]}", "-routes",
                       ",".join(f"nats://127.0.0.1:{port}" for port in routes)] if count > 1 else []
            self.processes.append(subprocess.Popen(
                ["nats-server", "-a", "127.0.0.1", "-p", str(self.ports[at]), "-n", f"n{at}", "-js", "-sd", f"{directory}/store{count}.{at}",
                 "-l", f"{directory}/log{count}.{at}", *cluster]))
        self.address = "nats://" + ",".join(f"127.0.0.1:{port}" for port in self.ports)
        self.replicas = count

    def request(self, subject, value):
        """Until the servers answer without an error: a cluster needs its leader first."""
        data = json.dumps(value).encode()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                with socket.create_connection(("127.0.0.1", self.ports[0]), 5) as link:
                    link.sendall(b'CONNECT {"verbose":false}\r\nSUB answers 1\r\n' + f"PUB {subject} answers {len(data)}\r\n".encode() + data + b"\r\n")
                    answer = b""
                    while b"MSG answers" not in answer or not answer.endswith(b"}\r\n"):
                        got = link.recv(65536)
                        if not got:
                            break
                        answer += got
                if b'"error"' not in answer:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise SystemExit(f"streams.py: the servers do not answer {subject}")

    def stream(self, name, subject):
        self.request(f"$JS.API.STREAM.CREATE.{name}", {"name": name, "subjects": [f"{subject}.>"], "storage": "file", "retention": "limits",
                                                      "num_replicas": self.replicas})

    def remove(self, name):
        self.request(f"$JS.API.STREAM.DELETE.{name}", {})

    def seconds(self):
        """Processor time of all of them."""
        return sum(sum(map(int, open(f"/proc/{one.pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[11:13])) for one in self.processes) / TICKS

    def end(self):
        for one in self.processes:
            one.kill()
            one.wait()


def timed(command, output=subprocess.DEVNULL):
    """Wall seconds, processor seconds, what it wrote to standard error."""
    with tempfile.TemporaryFile("w+") as errors:
        begun = time.monotonic()
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read()
    if process.returncode != 0:
        raise SystemExit(f"streams.py: {' '.join(command)}: status {process.returncode} {text}")
    return wall, usage.ru_utime + usage.ru_stime, text


def forward(build, servers, traces, rounds, name):
    """Of each round: wall, processor time, the servers' processor time, and the peer's wall and its servers' time."""
    found = []
    files = sorted(path for path in glob.glob(f"{traces}/*/stream.*"))
    for _ in range(rounds):
        for note in glob.glob(f"{traces}/*/.forwarded.*"):
            os.remove(note)
        servers.stream(name, "ctrace")
        before = servers.seconds()
        wall, processor, text = timed([f"{build}/ctrace", "forward", traces, f"{servers.address}/{name}"])
        sent, messages = (int(number) for number in re.match(r"ctrace forward: (\d+) bytes of \d+ traces, in (\d+) messages", text).groups())
        middle = servers.seconds()
        servers.remove(name)
        servers.stream("PEER", "peer")
        begun = servers.seconds()
        with tempfile.TemporaryFile("w+") as output:
            _, peer_processor, _ = timed([f"{build}/bench/peer_nats", servers.address.split(",")[0], "peer.a", str(sent // messages), str(UNDER_WAY), *files],
                                         output)
            output.seek(0)
            peer_wall = float(output.read())
        found.append({"wall": wall, "processor": processor, "servers": middle - before, "bytes": sent, "messages": messages,
                      "peer_wall": peer_wall, "peer_processor": peer_processor, "peer_servers": servers.seconds() - begun})
        servers.remove("PEER")
    return {key: statistics.median(one[key] for one in found) for key in found[0]}


def responders(build, directory, servers, count, rounds):
    """Seconds of `ctrace --host='*' list` until all have answered."""
    running, taken = [], []
    for number in range(count):
        os.makedirs(f"{directory}/machine{number}", 0o700)
        running.append(subprocess.Popen([f"{build}/ctrace", "respond", f"--name=machine{number}", servers.address], stderr=subprocess.PIPE, text=True,
                                        env=dict(os.environ, CTRACE_RUN_DIR=f"{directory}/machine{number}")))
    for one in running:
        one.stderr.readline()
    for _ in range(rounds):
        begun = time.monotonic()
        asked = subprocess.run([f"{build}/ctrace", "--host=*", "list"], capture_output=True, text=True, check=False,
                               env=dict(os.environ, CTRACE_NATS=servers.address))
        taken.append(time.monotonic() - begun)
        answered = len(set(re.findall("^== (.*) ==$", asked.stdout, re.MULTILINE)))
        if answered != count:
            raise SystemExit(f"streams.py: {answered} of {count} answered")
    for one in running:
        one.kill()
        one.wait()
        one.stderr.close()
    return statistics.median(taken)


def main():
    parser = argparse.ArgumentParser(usage="streams.py BUILD [option...]")
    parser.add_argument("build")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--responders", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    build = os.path.realpath(arguments.build)
    for name in list(os.environ):
        if name.startswith(("CTRACE_", "MFTRACE_")):
            del os.environ[name]
    directory = tempfile.mkdtemp(prefix="ctrace-streams.", dir=read.place())
    os.environ["TMPDIR"] = directory
    one = three = None
    try:
        os.mkdir(f"{directory}/traces")
        for host in range(arguments.hosts):
            read.make_trace(build, f"{directory}/traces/host{host}.ctb", arguments.events // arguments.hosts)
        for path in glob.glob(f"{directory}/traces/*.cfg"):
            os.remove(path)
        one = Servers(directory, 1)
        single = forward(build, one, f"{directory}/traces", arguments.rounds, "TRACES")
        events = arguments.events
        print(f"{events} events of {arguments.hosts} hosts, {single['bytes'] / events:.1f} bytes an event, "
              f"{single['bytes'] / single['messages'] / 1024:.0f} KiB a message")
        print(f"disk a day per 1000 events/s, one replica: {single['bytes'] / events * 86400 * 1000 / 1e9:.2f} GB")

        def row(title, figures):
            print(f"{title:32} {figures['bytes'] / figures['wall'] / 1e6:7.0f} MB/s {events / figures['wall'] / 1e6:6.2f} M events/s; "
                  f"bare publisher {figures['bytes'] / figures['peer_wall'] / 1e6:7.0f} MB/s, ratio {figures['peer_wall'] / figures['wall']:.2f}")
            print(f"{'':32} processor ns an event: forwarder {figures['processor'] / events * 1e9:.1f} "
                  f"({events / figures['processor'] / 1e6:.1f} M events/s a core), servers {figures['servers'] / events * 1e9:.1f}; "
                  f"bare publisher {figures['peer_processor'] / events * 1e9:.1f}, servers {figures['peer_servers'] / events * 1e9:.1f}")

        row("forward to one server", single)
        for note in glob.glob(f"{directory}/traces/*/.forwarded.*"):
            os.remove(note)
        timed([f"{build}/ctrace", "forward", f"{directory}/traces", f"{one.address}/TRACES"])
        cases = {"files": sorted(glob.glob(f"{directory}/traces/*.ctb")), "stream": [f"{one.address}/TRACES"]}
        taken = {name: [] for name in cases}
        for _ in range(arguments.rounds):
            for name, words in cases.items():
                with open(f"{directory}/shown", "w", encoding="ascii") as output:
                    taken[name].append(timed([f"{build}/ctrace", "show", *words], output)[0])
                if name == "files" and not os.path.exists(f"{directory}/lines"):
                    os.rename(f"{directory}/shown", f"{directory}/lines")
                elif subprocess.run(["cmp", f"{directory}/shown", f"{directory}/lines"], check=False).returncode != 0:
                    raise SystemExit("streams.py: the stream has other events than the files")
        files, stream = (statistics.median(taken[name]) for name in ("files", "stream"))
        print(f"{'read in order, ctrace show':32} files {files:.2f} s, stream {stream:.2f} s, speed ratio {files / stream:.2f}")
        os.remove(f"{directory}/lines")
        one.remove("TRACES")
        print(f"{arguments.responders} responders answer a display in {responders(build, directory, one, arguments.responders, arguments.rounds):.2f} s")
        one.end()
        three = Servers(directory, 3)
        row("forward to three, replicas=3", forward(build, three, f"{directory}/traces", arguments.rounds, "TRACES"))
        return 0
    finally:
        for servers in (one, three):
            if servers is not None:
                servers.end()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
