"""palette.py - screenshots with fewer colours, for scripts/report-png.py and scripts/speedscope-png.py.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import collections
import struct
import zlib


def rows_of(png):
    """The pixels of a screenshot: rows of bytes, three or four a pixel; and how many of these."""
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        if kind == b"IHDR":
            width, _, _, colours = struct.unpack_from(">IIBB", png, at + 8)
        elif kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += size + 12
    step = 4 if colours == 6 else 3
    data, length = zlib.decompress(data), width * step
    before = bytes(length)
    for start in range(0, len(data), length + 1):
        row = bytearray(data[start + 1:start + 1 + length])
        for i in range(length):
            left, up, corner = (row[i - step] if i >= step else 0), before[i], (before[i - step] if i >= step else 0)
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda value: abs(guess - value))
            row[i] = (row[i] + (0, left, up, (left + up) // 2, paeth)[data[start]]) & 255
        before = bytes(row)
        yield [before[i:i + 3] for i in range(0, length, step)]


def with_palette(png):
    """The same picture with 256 colours at most, in half of the bytes."""
    rows = list(rows_of(png))
    counted = collections.Counter(pixel for row in rows for pixel in row).most_common()
    bits = 0
    while True:
        masked = {pixel: tuple(part >> bits for part in pixel) for pixel, _ in counted}
        if len(set(masked.values())) <= 256:
            break
        bits += 1
    most = {}  # of those that become one, the most frequent
    for pixel, _ in counted:
        most.setdefault(masked[pixel], pixel)
    place = {key: n for n, key in enumerate(most)}
    number = {pixel: place[masked[pixel]] for pixel, _ in counted}
    data = b"".join(b"\0" + bytes(number[pixel] for pixel in row) for row in rows)

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return (png[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0))
            + chunk(b"PLTE", b"".join(most.values())) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


def shrink(path):
    """Gives the picture in this file 256 colours at most."""
    with open(path, "rb") as file:
        picture = with_palette(file.read())
    with open(path, "wb") as file:
        file.write(picture)
