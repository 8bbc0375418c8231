#!/usr/bin/env python3
"""The destination NATS: programs fill a spool, `ctrace forward --spool` sends and empties it, with real servers.

Each entry that a program made is in a stream once, or waits in the spool, or is counted as lost.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

import streams
from streams import Server, free_ports
from writer import PATIENCE, TOOL, Found, expect, same, without_gaps

URL = 'mftrace.emitter.nats#url = '


class Spool(streams.Streams):
    def __init__(self):
        super().__init__()
        self.environment['CTRACE_SPOOL'] = self.at('spool')
        (self.port,) = free_ports(1)
        self.address = f'nats://127.0.0.1:{self.port}/TRACES'
        self.configure()

    def configure(self, *lines, name='app.cfg', port=None):
        with open(self.at(name), 'w', encoding='ascii') as file:
            file.write(f'mftrace.dest = nats\n{URL}nats://127.0.0.1:{port or self.port}\n' + ''.join(line + '\n' for line in lines))

    def server(self, name='one', port=None):
        server = Server(self, name, port or self.port)
        server.until('Server is ready')
        return server

    def forwarder(self):
        follower = subprocess.Popen([TOOL, 'forward', '--spool'], env=self.environment, stderr=subprocess.PIPE, text=True)
        self.processes.append(follower)
        return follower

    def segments(self):
        return glob.glob(self.at('spool', '*.ctb'))

    def spooled(self):
        segments = self.segments()
        return self.shown(*segments) if segments else Found()

    def until_empty(self):
        """Returns when the forwarder has removed all segments."""
        end = time.monotonic() + 3 * PATIENCE
        while self.segments():
            assert time.monotonic() < end, subprocess.run(['find', self.at('spool'), '-ls'], capture_output=True, text=True, check=False).stdout

    def stop(self, follower):
        follower.send_signal(signal.SIGTERM)
        assert follower.wait(PATIENCE) == 0
        return follower.stderr.read()


def without_a_server_traces_wait_and_then_all_are_sent(room):
    program = room.program(2)
    program.ask('run 20000')
    assert program.settle() == [40000, 40000, 0, 0]
    same(room.spooled(), expect(2, 20000))
    modes = {os.stat(path).st_mode & 0o777 for path in glob.glob(room.at('spool', '*', '.address'))}
    assert modes == {0o600} and os.stat(room.at('spool')).st_mode & 0o777 == 0o700
    follower = room.forwarder()
    assert 'cannot connect' in follower.stderr.readline()
    room.server()
    program.ask('run 1000')
    room.until_there(room.address, expect(2, 21000))
    assert len(room.segments()) == 1, 'the program still has it'
    program.end()
    room.until_empty()
    room.until_there(room.address, expect(2, 21000))
    room.stop(follower)


CASES = [
    without_a_server_traces_wait_and_then_all_are_sent,
]


def main():
    for case in CASES:
        if len(sys.argv) > 1 and case.__name__ not in sys.argv[1:]:
            continue
        room = Spool()
        try:
            case(room)
        finally:
            room.end()
        print(f'ok: {case.__name__.replace("_", " ")}')


if __name__ == '__main__':
    main()
