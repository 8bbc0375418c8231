#!/usr/bin/env python3
# odd.py DIRECTORY - writes traces with everything that tracers rarely do: DIRECTORY/be and DIRECTORY/le, of the same events.
#
# Big-endian and little-endian bit-fields of any size and alignment, nested structs, arrays of arrays, sequences of structs that hold their
# own lengths, variants whose tags stand in other scopes, references by name, by path and by scope, types declared in every way, time stamps
# of 27 bits that go round, a clock of 3 GHz that begins at 1700000000 s, two streams of one file each, packetized metadata, packets with
# gaps and losses before them.
import os
import struct
import sys
import uuid

UUID = uuid.UUID("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")

METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; } := unsigned short int;
typealias integer { size = 32; align = 8; signed = 0; base = hex; } := unsigned long;
typealias integer { size = 32; align = 32; signed = true; } := int;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;
typealias integer { size = 64; align = 8; signed = false; base = 16; } := void *;
typedef unsigned short int pair_t[2]; // a type of an array
typealias integer { size = 8; align = 8; signed = true; encoding = ASCII; } := char;
struct point { int x, y; integer { size = 3; align = 1; } tag; } align(16);
variant either { int number; string text; struct point place; uint8_t bytes[3]; };
enum choice : uint8_t { number, text = 7, "place" = 8 ... 10, bytes = 0xff };
trace {
	major = 1; minor = 8;
	uuid = "%(uuid)s";
	byte_order = %(order)s;
	packet.header := struct { unsigned long magic; uint8_t uuid[16]; uint8_t stream_id; };
};
env { tracer_name = "odd"; hostname = "cellar"; vpid = 0x10; procname = "odd\\tball"; answer = -42; };
clock { name = fast; freq = 3000000000; offset_s = 1700000000; offset = 1500000000; };
typealias integer { size = 27; align = 1; map = clock.fast.value; } := ticks27;
typealias integer { size = 64; align = 8; map = clock.fast.value; } := ticks64;
stream {
	id = 1;
	packet.context := struct {
		ticks64 timestamp_begin; ticks64 timestamp_end;
		unsigned long content_size; unsigned long packet_size;
		unsigned long packet_seq_num; unsigned long events_discarded;
		uint8_t cpu_id; uint8_t shape;
	};
	event.header := struct { integer { size = 5; align = 1; } id; ticks27 timestamp; } align(8);
	event.context := struct { uint8_t n; enum choice which; int _vtid; };
};
stream {
	id = 2;
	typealias integer { size = 16; align = 8; } := small;
	packet.context := struct { small packet_size; small content_size; };
	event.header := struct {
		enum : small { compact = 0 ... 65534, extended = 65535 } id;
		variant <id> { struct { ticks27 timestamp; } compact; struct { unsigned long id; ticks64 timestamp; } extended; } v;
	} align(8);
};
event {
	name = "odd:bits"; id = 0; stream_id = 1; loglevel = 4;
	fields := struct {
		integer { size = 1; } a; integer { size = 7; signed = true; } b; integer { size = 13; } c;
		integer { size = 64; align = 1; } d; integer { size = 3; signed = true; } e;
		integer { size = 24; } f; integer { size = 40; signed = true; } g; integer { size = 56; byte_order = be; } h;
		integer { size = 16; byte_order = le; } i; integer { size = 16; byte_order = network; } j;
		floating_point { exp_dig = 8; mant_dig = 24; align = 8; } k;
		floating_point { exp_dig = 11; mant_dig = 53; align = 64; byte_order = le; } l;
		void * m; unsigned long n; struct point o;
	};
};
event {
	name = "odd:lists"; id = 1; stream_id = 1;
	fields := struct {
		pair_t pairs; uint8_t grid[2][3]; char name[6]; uint8_t count;
		struct { uint8_t len; char text[len]; struct { uint8_t size; } inner; integer { size = 4; } nibbles[inner.size]; } rows[count];
		uint8_t far_count; unsigned long far[far_count];
		string words[stream.packet.context.shape];
		struct { uint8_t m; } deep; uint8_t bytes[deep.m];
	};
};
event {
	name = "odd:choices"; id = 2; stream_id = 1; loglevel = 13;
	context := struct { enum : uint8_t { FIRST, SECOND, LAST = 9 } order; };
	fields := struct {
		enum choice own;
		variant either <own> mine;
		struct { enum choice which; variant either <which> ours; } selected;
		enum : uint8_t { FIRST, SECOND, LAST = 9 } again; variant <again> { uint8_t FIRST; string SECOND; int64_t LAST; } theirs;
	};
};
event { name = "plain"; id = 3; stream_id = 2; fields := struct { string s; int64_t i; }; };
event { name = "odd:nothing"; id = 70000; stream_id = 2; };
callsite { name = "plain"; func = "main"; file = "odd.c"; line = 12; ip = 0x40; };
"""


class Bits:
	def __init__(self, big):
		self.big, self.bits = big, []

	def align(self, to):
		while len(self.bits) % to:
			self.bits.append(0)

	def put(self, value, size, align=None, big=None):
		big = self.big if big is None else big
		self.align(align if align else 8 if size % 8 == 0 else 1)
		value &= (1 << size) - 1
		if big == self.big:
			order = range(size - 1, -1, -1) if big else range(size)
			self.bits += [value >> i & 1 for i in order]
		else:  # whole bytes
			data = value.to_bytes(size // 8, "big" if big else "little")
			for byte in data:
				self.bits += [byte >> i & 1 for i in (range(7, -1, -1) if self.big else range(8))]

	def string(self, text):
		self.align(8)
		for byte in text.encode() + b"\0":
			self.put(byte, 8)

	def set(self, at, value, size):
		other = Bits(self.big)
		other.put(value, size)
		self.bits[at:at + size] = other.bits

	def bytes(self):
		self.align(8)
		out = bytearray()
		for i in range(0, len(self.bits), 8):
			eight = self.bits[i:i + 8]
			out.append(int("".join(map(str, eight if self.big else eight[::-1])), 2))
		return bytes(out)


def header(bits, stream):
	bits.put(0xC1FC1FC1, 32)
	for byte in UUID.bytes:
		bits.put(byte, 8)
	bits.put(stream, 8)


def point(bits, x, y, tag):
	bits.align(32)
	bits.put(x, 32, 32)
	bits.put(y, 32, 32)
	bits.put(tag, 3)


def either(bits, which, i):
	if which == 0:
		bits.put(-i, 32, 32)
	elif which == 7:
		bits.string("text %d" % i)
	elif which < 255:
		point(bits, i, -i, i)
	else:
		for byte in (i, 2, 255):
			bits.put(byte, 8)


def one_event(bits, i, now):
	bits.align(8)
	bits.put(i % 3, 5)
	bits.put(now, 27)
	which = (0, 7, 9, 255)[i // 3 % 4]
	bits.align(32)
	bits.put(i % 4, 8)
	bits.put(which, 8)
	bits.put(1000 + i, 32, 32)
	if i % 3 == 0:
		bits.align(64)
		bits.put(i, 1), bits.put(-i, 7), bits.put(0x1ABC + i, 13), bits.put(0x0123456789ABCDEF * (i + 1), 64, 1), bits.put(-i, 3)
		bits.put(0xABCDEF - i, 24), bits.put(-(1 << 38) + i, 40), bits.put(0x11223344556677 + i, 56, big=True)
		bits.put(0x1234 + i, 16, big=False), bits.put(0x1234 + i, 16, big=True)
		bits.put(struct.unpack(">I", struct.pack(">f", 0.1 * i))[0], 32, 8)
		bits.put(struct.unpack(">Q", struct.pack(">d", -1e300 / (i + 1)))[0], 64, 64, big=False)
		bits.put(0xFFFF800000000000 + i, 64), bits.put(0xCAFE + i, 32)
		point(bits, i, -i, i)
	elif i % 3 == 1:
		bits.put(i, 16), bits.put(i + 1, 16)
		for byte in range(6):
			bits.put(byte * i, 8)
		for byte in b"name\0x":
			bits.put(byte, 8)
		bits.put(i % 5, 8)
		for row in range(i % 5):
			bits.put(row * 2, 8)
			for byte in b"abcdefgh"[:row * 2]:
				bits.put(byte, 8)
			bits.put(row, 8)
			for nibble in range(row):
				bits.put(15 - nibble, 4)
		bits.put(i % 4, 8)
		for far in range(i % 4):
			bits.put(far + 0x10, 32)
		for word in range(2):
			bits.string("word" * word)
		bits.put(i % 3 + 1, 8)
		for byte in range(i % 3 + 1):
			bits.put(byte + 128, 8)
	else:
		bits.put((0, 1, 9)[i // 3 % 3], 8)
		own = (255, 10, 7, 0)[i // 3 % 4]
		bits.align(8)
		bits.put(own, 8)
		either(bits, own, i)
		bits.put(which, 8)
		either(bits, which, i)
		bits.put((0, 1, 9)[i // 3 % 3], 8)
		if i // 3 % 3 == 0:
			bits.put(i, 8)
		elif i // 3 % 3 == 1:
			bits.string("second")
		else:
			bits.put(-(1 << 62) - i, 64)


def first_stream(big, until):
	out, now, i, lost = b"", 5000000000, 0, 0
	for sequence in range(until):
		bits = Bits(big)
		header(bits, 1)
		begin = now
		bits.put(begin, 64)
		sizes = len(bits.bits)
		bits.put(0, 64), bits.put(0, 32), bits.put(0, 32)
		lost += 3 if sequence == 2 else 0
		bits.put(sequence + (1 if sequence > 2 else 0), 32), bits.put(lost, 32)
		bits.put(sequence, 8), bits.put(2, 8)
		for _ in range(8):
			one_event(bits, i, now)
			now += 40000000 + i
			i += 1
		bits.set(sizes, now, 64)
		bits.set(sizes + 64, len(bits.bits), 32)
		data = bits.bytes() + b"\xAA" * (16 + sequence)
		bits.set(sizes + 96, len(data) * 8, 32)
		out += bits.bytes() + b"\xAA" * (16 + sequence)
	return out


def second_stream(big):
	out, now = b"", 5000000001
	for packet in range(3):
		bits = Bits(big)
		header(bits, 2)
		sizes = len(bits.bits)
		bits.put(0, 16), bits.put(0, 16)
		for i in range(4):
			if packet == 0 and i == 0:  # the time in full, from which the short ones go on
				bits.align(8)
				bits.put(65535, 16), bits.put(70000, 32), bits.put(now, 64)
			else:
				bits.align(8)
				bits.put(3, 16), bits.put(now, 27)
				bits.string("packet %d" % packet)
				bits.put(-i, 64)
			now += 30000001
		bits.set(sizes + 16, len(bits.bits), 16)
		data = bits.bytes()
		bits.set(sizes, len(data) * 8, 16)
		out += bits.bytes()
	return out


def packetize(text, big, size):
	out = b""
	data = text.encode()
	for at in range(0, len(data), size - 37):
		part = data[at:at + size - 37]
		order = ">" if big else "<"
		out += struct.pack(order + "I16sIIIBBBBB", 0x75D11D57, UUID.bytes, 0, (37 + len(part)) * 8, size * 8, 0, 0, 0, 1, 8)
		out += part.ljust(size - 37, b"\0")
	return out


def write(directory, big):
	os.makedirs(directory, exist_ok=True)
	text = METADATA % {"uuid": UUID, "order": "be" if big else "le"}
	for name, data in (("metadata", packetize(text, big, 1024)), ("one", first_stream(big, 4)), ("two", second_stream(big))):
		with open(os.path.join(directory, name), "wb") as file:
			file.write(data)


def main():
	write(os.path.join(sys.argv[1], "be"), True)
	write(os.path.join(sys.argv[1], "le"), False)


if __name__ == "__main__":
	main()
