"use strict";
/*
 * report_data.js - from the page's data to arrays.
 *
 * The columns are described in src/print/report/report_pack.c, the records in src/print/report/report_record.c.  Nothing here touches what is shown.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
const ReportData = (() => {
	function bytesOf(base64) {
		if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
		const text = atob(base64);
		const bytes = new Uint8Array(text.length);
		for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
		return bytes;
	}

	/* The page's element goes away: its text takes more room than what comes out of it. */
	async function unpack(name) {
		const element = document.getElementById("data-" + name);
		const packed = bytesOf(element.textContent);
		element.remove();
		const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
		return new Uint8Array(await new Response(stream).arrayBuffer());
	}

	class Reader {
		constructor(bytes) {
			this.bytes = bytes;
			this.at = 0;
		}
		get isAtEnd() {
			return this.at >= this.bytes.length;
		}
		number() {
			let value = 0,
				factor = 1,
				byte;
			do {
				byte = this.bytes[this.at++];
				value += (byte & 0x7f) * factor;
				factor *= 128;
			} while (byte >= 0x80);
			return value;
		}
		difference() {
			const value = this.number();
			return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
		}
		take(size) {
			this.at += size;
			return this.bytes.subarray(this.at - size, this.at);
		}
	}

	/* `time` is what the events say; `x`, which never falls, is where they are drawn and looked for.  Nearly always both are one. */
	function readTimes(bytes, count) {
		const reader = new Reader(bytes);
		const time = new Float64Array(count);
		let now = 0,
			greatest = 0,
			isRising = true;
		for (let i = 0; i < count; i++) {
			now += reader.difference();
			time[i] = now;
			isRising = isRising && now >= greatest;
			greatest = Math.max(greatest, now);
		}
		if (isRising) return { time, x: time };
		const x = time.slice();
		for (let i = 1; i < count; i++) x[i] = Math.max(x[i], x[i - 1]);
		return { time, x };
	}

	function readNumbers(bytes, count) {
		const reader = new Reader(bytes);
		const numbers = new Uint16Array(count);
		for (let i = 0; i < count; i++) numbers[i] = reader.number();
		return numbers;
	}

	/* Where each event's items begin, and in the last place where they all end. */
	function readPlaces(bytes, count) {
		const reader = new Reader(bytes);
		const places = new Uint32Array(count + 1);
		for (let i = 0; i < count; i++) {
			places[i] = reader.at;
			const size = reader.number();
			reader.at += size;
		}
		places[count] = reader.at;
		return places;
	}

	const END = 1,
		INFERRED = 2,
		WHOLE = 3;

	/* A span has a row where it begins or where it ends, or both; one that does not end is open to the last event.  One whose end is inferred has as
	   its last row the one before it ended; one that an event reports as a whole has that row alone. */
	function readSpans(bytes, count, x) {
		const reader = new Reader(bytes);
		const spans = { start: [], end: [], first: [], last: [], depth: [], kind: [], ofRow: new Uint32Array(count) };
		const open = new Map();
		let row = 0,
			id = 0;
		while (!reader.isAtEnd) {
			const head = reader.number();
			const kind = head % 4;
			row += Math.floor(head / 4);
			id += reader.difference();
			const depth = reader.number();
			if (kind === 0) {
				open.set(id, spans.start.length);
				spans.ofRow[row] = spans.start.push(x[row]);
				spans.end.push(Infinity);
				spans.first.push(row);
				spans.last.push(-1);
				spans.depth.push(depth);
				spans.kind.push(END);
				continue;
			}
			const duration = reader.number() - 1;
			let span = open.get(id);
			open.delete(id);
			if (kind === INFERRED) {
				if (span === undefined) continue;
				spans.end[span] = spans.start[span] + duration;
				spans.last[span] = Math.max(row - 1, spans.first[span]);
				spans.kind[span] = INFERRED;
				continue;
			}
			if (kind === WHOLE) {
				span = spans.start.push(Math.max(x[row] - duration, 0)) - 1;
				spans.end.push(x[row]);
				spans.first.push(row);
				spans.last.push(row);
				spans.depth.push(depth);
				spans.kind.push(WHOLE);
				spans.ofRow[row] = span + 1;
				continue;
			}
			if (span === undefined) {
				if (duration < 0) continue;
				span = spans.start.push(x[row] - duration) - 1;
				spans.first.push(-1);
				spans.depth.push(depth);
				spans.kind.push(END);
			}
			spans.ofRow[row] = span + 1;
			spans.end[span] = x[row];
			spans.last[span] = row;
		}
		for (const span of open.values()) spans.end[span] = count > 0 ? x[count - 1] : 0;
		return {
			count: spans.start.length,
			start: Float64Array.from(spans.start),
			end: Float64Array.from(spans.end),
			first: Int32Array.from(spans.first),
			last: Int32Array.from(spans.last),
			depth: Uint16Array.from(spans.depth),
			kind: Uint8Array.from(spans.kind),
			ofRow: spans.ofRow /* span + 1; 0: none */,
		};
	}

	/* Row -> [[item, place, bytes], ...] */
	function readRecordPlaces(bytes) {
		const reader = new Reader(bytes);
		const places = new Map();
		let row = 0;
		while (!reader.isAtEnd) {
			row += reader.number();
			const item = reader.number(),
				size = reader.number();
			if (!places.has(row)) places.set(row, []);
			places.get(row).push([item, reader.at, size]);
			reader.at += size;
		}
		return places;
	}

	async function load() {
		const about = JSON.parse(new TextDecoder().decode(await unpack("about")));
		const count = about.counts.events;
		const { time, x } = readTimes(await unpack("time"), count);
		const classes = readNumbers(await unpack("class"), count);
		const threads = readNumbers(await unpack("thread"), count);
		const items = await unpack("items");
		const places = readPlaces(items, count);
		const spans = readSpans(await unpack("spans"), count, x);
		const records = await unpack("records");
		return { about, count, time, x, classes, threads, items, places, spans, records, recordPlaces: readRecordPlaces(records) };
	}

	/* [{ type, size, bytes }]: size is what the event had, bytes what the page has of it.  null: the page has none of them. */
	function itemsOf(data, row) {
		const reader = new Reader(data.items);
		reader.at = data.places[row];
		if (reader.number() === 0) return null;
		const list = [];
		for (let left = reader.number(); left > 0; left--) {
			const head = reader.bytes[reader.at++];
			let kept = head >> 4;
			if (kept === 15) kept = reader.number();
			const size = head & 8 ? reader.number() : kept;
			list.push({ type: head & 7, size, bytes: reader.take(kept) });
		}
		return list;
	}

	/* Bytes that the program gave with an event. */
	function sizeOf(data, row) {
		const reader = new Reader(data.items);
		let sum = 0;
		reader.at = data.places[row];
		if (reader.number() === 0) return 0;
		for (let left = reader.number(); left > 0; left--) {
			const head = reader.bytes[reader.at++],
				kept = head >> 4 === 15 ? reader.number() : head >> 4;
			sum += head & 8 ? reader.number() : kept;
			reader.at += kept;
		}
		return sum;
	}

	/* [{ item, isCut, fields: [{ name, kind, size, picture, isFiller, isRedefinition, offset, occurrence, isBad, conditions, depth, text }] }] */
	function recordsOf(data, row) {
		return (data.recordPlaces.get(row) || []).map(([item, at, size]) => readRecord(data, item, at, at + size));
	}

	function readRecord(data, item, at, end) {
		const reader = new Reader(data.records);
		const fields = [];
		let depth = 0;
		reader.at = at;
		while (reader.at < end) {
			const number = reader.number();
			if (number === 0) {
				depth--;
				continue;
			}
			const [name, kind, size, picture, isFiller, isRedefinition] = data.about.fields[number - 1];
			const field = { name, kind, size, picture, isFiller, isRedefinition, depth, conditions: [], text: null };
			field.offset = reader.number();
			field.occurrence = reader.number();
			const flags = reader.number();
			field.isBad = (flags & 1) !== 0;
			if (kind === "group" || kind === "table") {
				depth++;
			} else {
				field.text = new TextDecoder().decode(reader.take(reader.number()));
				for (let left = flags & 2 ? reader.number() : 0; left > 0; left--)
					field.conditions.push(data.about.conditions[reader.number()]);
			}
			fields.push(field);
		}
		return { item, isCut: depth > 0, fields };
	}

	return { INFERRED, WHOLE, load, itemsOf, sizeOf, recordsOf };
})();
