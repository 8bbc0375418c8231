"use strict";
/*
 * report_model.js - what the events are called, how they read, which of them are shown, and on which tracks.
 *
 * Texts of a trace are made harmless here (shown()), as TEXTFILE does it; whoever puts them on the page does so as text, never as markup.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
const ReportModel = (() => {
	const LEVELS = ["DEBUG", "INFO", "WARN", "ERROR", "FATAL"];
	const TYPES = ["binary", "text", "address", "comp5", "compx", "utf8", "comp5 signed", "compx signed"];
	const BINARY = 0,
		TEXT = 1,
		ADDRESS = 2,
		COMP5 = 3,
		COMPX = 4,
		UTF8 = 5,
		COMP5S = 6,
		COMPXS = 7;
	const BLOCK = 32; /* events between two sums of a lane */
	const ITEM_LANES = 64; /* lanes of things that events are operations on; those of further ones stay with their threads */
	const SLICE_MS = 12; /* of work between two frames */

	/* ---- texts */

	const HARMFUL = /["\\\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
	const NAMED = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\" };

	function shown(text) {
		return text.replace(HARMFUL, c => NAMED[c] || "\\u{" + c.codePointAt(0).toString(16).toUpperCase() + "}");
	}

	/* Of names: quotation marks and backslashes stay. */
	function plain(text) {
		return text.replace(HARMFUL, c =>
			c === '"' || c === "\\" ? c : NAMED[c] || "\\u{" + c.codePointAt(0).toString(16).toUpperCase() + "}"
		);
	}

	const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

	function hexOf(bytes, separator = "") {
		return Array.from(bytes, byte => byte.toString(16).toUpperCase().padStart(2, "0")).join(separator);
	}

	/* As UTF-8; a byte that is none as \xHH. */
	function textOf(bytes) {
		try {
			return shown(strict.decode(bytes));
		} catch {
			return textOfDamaged(bytes);
		}
	}

	function textOfDamaged(bytes) {
		let out = "";
		for (let at = 0; at < bytes.length;) {
			const length = bytes[at] < 0x80 ? 1 : bytes[at] < 0xe0 ? 2 : bytes[at] < 0xf0 ? 3 : 4;
			try {
				out += shown(strict.decode(bytes.subarray(at, at + length)));
				at += length;
			} catch {
				out += "\\x" + hexOf(bytes.subarray(at, ++at));
			}
		}
		return out;
	}

	/* ---- numbers and times */

	function grouped(number) {
		return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
	}

	function trimmed(value, digits) {
		return digits === 0 ? value.toFixed(0) : value.toFixed(digits).replace(/\.?0+$/, "");
	}

	/* As all verbs print it (ct_tally_add_duration): three digits, then the unit. */
	function duration(ns) {
		for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]]) {
			const value = ns / size;
			if (value >= 0.9995) return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + unit;
		}
		return Math.round(ns) + "ns";
	}

	/* "2ms", "1.5 s", "300us": nanoseconds; a number alone is milliseconds.  null: it is none. */
	function parseDuration(text) {
		const found = /^\s*>?=?\s*([0-9]*\.?[0-9]+)\s*(ns|us|µs|ms|s|m|min|h)?\s*$/.exec(text);
		const units = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, m: 60e9, min: 60e9, h: 3600e9 };
		return found ? Number(found[1]) * units[found[2] || "ms"] : null;
	}

	function bytesText(count) {
		if (count < 10000) return count + " bytes";
		return count < 1e7 ? trimmed(count / 1024, 0) + " KiB" : trimmed(count / 1048576, 1) + " MiB";
	}

	/* ---- events: "6..8, 18, OPEN*"; null: nothing is asked for.  What comes back says of a class whether it is meant. */
	function parseEvents(text) {
		const words = text
			.split(",")
			.map(word => word.trim())
			.filter(word => word !== "");
		if (words.length === 0) return null;
		const tests = words.map(word => {
			const range = /^(\d+)(?:\s*(?:\.\.|-)\s*(\d+))?$/.exec(word);
			if (range) return id => id >= Number(range[1]) && id <= Number(range[2] || range[1]);
			const pattern = new RegExp(
				"^" +
					word
						.replace(/[.+^${}()|[\]\\]/g, "\\$&")
						.replace(/\*/g, ".*")
						.replace(/\?/g, ".") +
					(/[*?]/.test(word) ? "$" : ""),
				"i"
			);
			return (id, name) => pattern.test(name);
		});
		return (id, name) => tests.some(test => test(id, name));
	}

	class Model {
		constructor(data) {
			const about = data.about;
			this.data = data;
			this.base = BigInt(about.first_ns || 0);
			this.isUtc = false;
			this.hasHosts = new Set(about.origins.map(origin => origin.host)).size > 1;
			this.length = data.count > 0 ? Math.max(data.x[data.count - 1], 1) : 1;
			this.classes = about.classes.map(([component, id, level, type, named]) => ({
				component,
				id,
				level,
				type: type >= 0 ? about.types[type] : null,
				named: named >= 0 ? about.named[named] : null,
			}));
			for (const kind of this.classes) kind.name = this.nameOf(kind);
			this.componentNames = about.components.map(component => plain(component.name));
			this.levelOfClass = Uint8Array.from(this.classes, kind => Math.min(kind.level, 4));
			this.componentOfClass = Uint16Array.from(this.classes, kind => kind.component);
			this.rows = null; /* Uint32Array of those that are shown; null: all */
			this.work = 0;
		}

		/* ---- names */

		nameOf(kind) {
			if (kind.type) return plain(kind.type.mnemonic);
			if (kind.named && kind.named.mnemonic) return plain(kind.named.mnemonic);
			return String(kind.id);
		}
		kindOf(row) {
			return this.classes[this.data.classes[row]];
		}
		levelOf(row) {
			return this.levelOfClass[this.data.classes[row]];
		}
		componentOf(row) {
			return this.componentOfClass[this.data.classes[row]];
		}
		itemName(kind, index) {
			if (kind.type && index < kind.type.arguments.length) return plain(kind.type.arguments[index].name);
			if (kind.named && index < kind.named.items.length) return plain(kind.named.items[index]);
			return "data" + (index + 1);
		}
		isNamed(kind, index) {
			return Boolean((kind.type && index < kind.type.arguments.length) || (kind.named && index < kind.named.items.length));
		}
		argumentOf(kind, index) {
			return (kind.type && kind.type.arguments[index]) || null;
		}
		originOf(thread) {
			return this.data.about.origins[this.data.about.threads[thread][0]];
		}
		processName(origin) {
			const name =
				origin.program ||
				origin.jobname ||
				origin.path
					.split("/")
					.filter(part => part !== "")
					.pop() ||
				"";
			return (
				plain(name.split("/").pop()) +
				(origin.pid ? " " + origin.pid : "") +
				(this.hasHosts && origin.host ? " @ " + plain(origin.host) : "")
			);
		}
		threadName(thread) {
			return String(this.data.about.threads[thread][2]);
		}
		threadFullName(thread) {
			return this.processName(this.originOf(thread)) + " / " + this.threadName(thread);
		}
		/* ---- times: x is nanoseconds since the first event */

		instant(x) {
			return this.base + BigInt(Math.round(x));
		}
		partsOf(ns) {
			const seconds = ns / 1000000000n;
			const date = new Date(Number(seconds) * 1000);
			const two = number => String(number).padStart(2, "0");
			const u = this.isUtc;
			return {
				date:
					(u ? date.getUTCFullYear() : date.getFullYear()) +
					"-" +
					two((u ? date.getUTCMonth() : date.getMonth()) + 1) +
					"-" +
					two(u ? date.getUTCDate() : date.getDate()),
				minute: two(u ? date.getUTCHours() : date.getHours()) + ":" + two(u ? date.getUTCMinutes() : date.getMinutes()),
				second: two(u ? date.getUTCSeconds() : date.getSeconds()),
				fraction: String(ns % 1000000000n).padStart(9, "0"),
			};
		}
		clock(x, digits = 9) {
			const parts = this.partsOf(this.instant(x));
			return parts.minute + ":" + parts.second + (digits > 0 ? "." + parts.fraction.slice(0, digits) : "");
		}
		date(x) {
			return this.partsOf(this.instant(x)).date;
		}
		/* x of nanoseconds since 1970 as text; null: not known */
		place(text) {
			return text === null ? null : Number(BigInt(text) - this.base);
		}

		/* ---- values */

		valueOf(item, argument) {
			const print = argument ? argument.print : "default";
			const isInteger =
				item.type === ADDRESS || item.type === COMP5 || item.type === COMPX || item.type === COMP5S || item.type === COMPXS;
			const isText = item.type === TEXT || item.type === UTF8;
			if ((print === "text" && !isInteger) || (item.type === TEXT && argument && argument.encoding))
				return this.textIn(item, argument);
			if (
				print !== "default" &&
				print !== "text" &&
				print !== "record" &&
				!isText &&
				item.size > 0 &&
				item.size <= 8 &&
				(isInteger || print !== "hex")
			)
				return this.labelled(item, argument);
			return this.typed(item, isInteger, isText);
		}
		textIn(item, argument) {
			const letters = argument.encoding && this.data.about.encodings[argument.encoding];
			const text = letters
				? shown(Array.from(item.bytes, byte => letters[byte]).join(""))
				: argument.encoding
					? shown(new TextDecoder(argument.encoding).decode(item.bytes))
					: textOf(item.bytes);
			return '"' + text + '"' + this.cut(item);
		}
		cut(item) {
			return item.size > item.bytes.length ? "… (" + bytesText(item.size) + ")" : "";
		}
		typed(item, isInteger, isText) {
			if (isText) return '"' + textOf(item.bytes) + '"' + this.cut(item);
			if (item.type === ADDRESS && item.size === 8) return "0x" + this.number(item).toString(16).toUpperCase().padStart(16, "0");
			if (isInteger && item.size > 0 && item.size <= 8) return this.number(item).toString();
			return hexOf(item.bytes.subarray(0, 256)).replace(/(.{16})(?=.)/g, "$1-") + (item.bytes.length > 256 ? "…" : this.cut(item));
		}
		/* As a BigInt, or a small one as a number; of a binary item too. */
		number(item) {
			const isLittle = item.type === ADDRESS || item.type === COMP5 || item.type === COMP5S;
			const size = item.bytes.length;
			let value = 0n;
			for (let i = 0; i < size; i++) value = (value << 8n) | BigInt(item.bytes[isLittle ? size - 1 - i : i]);
			return item.type === COMP5S || item.type === COMPXS ? BigInt.asIntN(8 * size, value) : value;
		}
		labelled(item, argument) {
			const value = this.number(item);
			const bits = BigInt.asUintN(64, value);
			switch (argument.print) {
				case "hex":
					return (
						"0x" +
						BigInt.asUintN(8 * item.size, value)
							.toString(16)
							.toUpperCase()
							.padStart(2 * item.size, "0")
					);
				case "time":
					return this.timeText(bits * BigInt(argument.unit_ns));
				case "enumeration": {
					const label = (argument.labels || []).find(([number]) => BigInt(number) === bits);
					return label ? plain(label[1]) : value.toString();
				}
				case "flags":
					return this.flags(bits, argument.labels || []);
				default:
					return value.toString();
			}
		}
		timeText(ns) {
			if (ns > 0x7fffffffffffffffn) return ns.toString();
			const parts = this.partsOf(ns);
			return parts.date + " " + parts.minute + ":" + parts.second + "." + parts.fraction;
		}
		flags(value, labels) {
			const names = [];
			let rest = value;
			for (const [text, name] of labels) {
				const bits = BigInt(text);
				if (bits === 0n ? value !== 0n : (value & bits) !== bits) continue;
				names.push(plain(name));
				rest &= ~bits;
			}
			if (rest !== 0n || names.length === 0) names.push(rest === 0n ? "0" : "0x" + rest.toString(16).toUpperCase());
			return names.join("|");
		}
		/* The items of an event in one line: "rows=7 name=\"X\"", or the values alone where there are no names. */
		line(row, limit = 300) {
			const kind = this.kindOf(row),
				list = ReportData.itemsOf(this.data, row);
			if (!list) return "";
			let text = "";
			for (let i = 0; i < list.length && text.length < limit; i++) {
				const argument = this.argumentOf(kind, i);
				const value = argument && argument.print === "record" ? this.recordLine(row, i, list[i]) : this.valueOf(list[i], argument);
				text += (i > 0 ? " " : "") + (this.isNamed(kind, i) ? this.itemName(kind, i) + "=" : "") + value;
			}
			return text.length > limit ? text.slice(0, limit) + "…" : text;
		}
		recordLine(row, index, item) {
			const record = ReportData.recordsOf(this.data, row).find(found => found.item === index);
			if (!record) return this.valueOf(item, null);
			return (
				"{" +
				record.fields
					.filter(field => field.text !== null && !field.isFiller)
					.map(field => plain(field.name) + (field.occurrence ? "(" + field.occurrence + ")" : "") + "=" + this.fieldText(field))
					.join(" ") +
				"}"
			);
		}
		fieldText(field) {
			if (field.isBad) return "X'" + shown(field.text) + "'";
			return field.kind === "text" ? '"' + shown(field.text.replace(/ +$/, "")) + '"' : shown(field.text);
		}

		/* ---- the filter */

		/* Of each class: 0 it is not shown, 1 it is when its own text fits, 2 it is. */
		judgeClasses(filter, words) {
			return Uint8Array.from(this.classes, kind => {
				if ((filter.component >= 0 && kind.component !== filter.component) || kind.level < filter.level) return 0;
				if (filter.events && !filter.events(kind.id, kind.name)) return 0;
				if (words.length === 0) return 2;
				const text = (
					this.componentNames[kind.component] +
					" " +
					kind.name +
					" " +
					(kind.type ? kind.type.description : "")
				).toLowerCase();
				return words.every(word => text.includes(word)) ? 2 : 1;
			});
		}
		/* Calls done(rows) when it is through, progress(part) between; a later call ends it.  filter: { text, component, level, events, thread, duration } */
		filter(filter, progress, done) {
			const work = ++this.work,
				data = this.data,
				spans = data.spans;
			const words = filter.text
				.toLowerCase()
				.split(/\s+/)
				.filter(word => word !== "");
			const verdicts = this.judgeClasses(filter, words);
			const rows = new Uint32Array(data.count);
			let count = 0,
				row = 0;
			const fits = row => {
				const verdict = verdicts[data.classes[row]];
				if (verdict === 0 || (filter.thread >= 0 && data.threads[row] !== filter.thread)) return false;
				if (filter.duration !== null) {
					const span = spans.ofRow[row];
					if (span === 0 || !(spans.end[span - 1] - spans.start[span - 1] > filter.duration)) return false;
				}
				return verdict === 2 || this.hasWords(row, words);
			};
			const slice = () => {
				if (work !== this.work) return;
				const end = performance.now() + SLICE_MS;
				while (row < data.count) {
					for (const until = Math.min(row + 256, data.count); row < until; row++) if (fits(row)) rows[count++] = row;
					if (row < data.count && performance.now() > end) {
						progress(row / data.count);
						setTimeout(slice);
						return;
					}
				}
				this.rows = count === data.count ? null : rows.slice(0, count);
				done();
			};
			slice();
		}
		hasWords(row, words) {
			const kind = this.kindOf(row);
			const text = (this.componentNames[kind.component] + " " + kind.name + " " + this.line(row, 4000)).toLowerCase();
			return words.every(word => text.includes(word));
		}
		get count() {
			return this.rows ? this.rows.length : this.data.count;
		}
		rowAt(index) {
			return this.rows ? this.rows[index] : index;
		}
		/* The place of a row among those that are shown, or where it would be. */
		indexOf(row) {
			return this.rows ? lowerBound(this.rows, row, 0, this.rows.length) : row;
		}
		/* The places, from and up to, of the shown events of a stretch of time. */
		between(from, to) {
			const { x } = this.data;
			let end = lowerBound(x, to);
			while (end < x.length && x[end] === to) end++;
			return [this.indexOf(lowerBound(x, from)), this.indexOf(end)];
		}
		isShown(row) {
			const index = this.indexOf(row);
			return index < this.count && this.rowAt(index) === row;
		}

		/* ---- tracks: groups of lanes.  A lane has the shown events of one thread (of one component of it), and its spans by depth. */

		/* itemOf(row): what the event is an operation on, as a file; "": nothing.  Each such thing has a lane beside the threads of its process. */
		tracks(byThread, itemOf) {
			const data = this.data,
				threadCount = data.about.threads.length,
				items = new Map();
			const keyOfThread = byThread ? row => data.threads[row] : row => this.componentOf(row) * threadCount + data.threads[row];
			const keyOf = row => {
				const item = itemOf(row);
				if (item === "") return keyOfThread(row);
				const key = (byThread ? data.about.threads[data.threads[row]][0] : this.componentOf(row)) + " " + item;
				if (!items.has(key) && items.size >= ITEM_LANES) return keyOfThread(row);
				items.set(key, item);
				return key;
			};
			this.laneKeyOf = keyOf;
			const lanes = this.lanesOf(keyOf);
			const groups = new Map();
			for (const lane of lanes) {
				lane.item = items.get(lane.key) || "";
				lane.label = lane.item || "thread " + this.threadName(lane.thread);
				lane.detail = lane.item !== "" || byThread || data.about.origins.length === 1 ? "" : this.processName(this.originOf(lane.thread));
				const number = byThread ? data.about.threads[lane.thread][0] : lane.component;
				if (!groups.has(number)) {
					const name = byThread ? this.processName(data.about.origins[number]) : this.componentNames[number];
					groups.set(number, { key: (byThread ? "p" : "c") + number, name, lanes: [], count: 0, levels: new Uint32Array(5) });
				}
				const group = groups.get(number);
				group.lanes.push(lane);
				group.count += lane.rows.length;
			}
			const compare = new Intl.Collator("en", { numeric: true }).compare;
			/* Who traces first is on top: callers stand above what they call. */
			for (const group of groups.values()) group.first = Math.min(...group.lanes.map(lane => lane.rows[0]));
			const list = [...groups.values()].sort((a, b) => a.first - b.first);
			for (const group of list) group.lanes.sort((a, b) => (a.item !== "") - (b.item !== "") || compare(a.detail, b.detail) || compare(a.label, b.label));
			return list;
		}
		lanesOf(keyOf) {
			const count = this.count,
				lanes = new Map(),
				of = new Uint32Array(count),
				list = [];
			for (let i = 0; i < count; i++) {
				const key = keyOf(this.rowAt(i));
				let lane = lanes.get(key);
				if (lane === undefined) {
					const row = this.rowAt(i);
					lane = list.push({ key, component: this.componentOf(row), thread: this.data.threads[row], size: 0 }) - 1;
					lanes.set(key, lane);
				}
				of[i] = lane;
				list[lane].size++;
			}
			for (const lane of list) {
				lane.rows = new Uint32Array(lane.size);
				lane.size = 0;
			}
			for (let i = 0; i < count; i++) list[of[i]].rows[list[of[i]].size++] = this.rowAt(i);
			for (const lane of list) lane.sums = this.sumsOf(lane.rows);
			this.addSpans(list, lanes, keyOf);
			return list;
		}
		/* Of each level, how many of its events stand before each block of rows: what a pixel shows is then two look-ups, however many events it is. */
		sumsOf(rows) {
			const blocks = Math.floor(rows.length / BLOCK) + 1;
			const sums = new Uint32Array(blocks * 5),
				now = new Uint32Array(5);
			for (let i = 0; i <= rows.length; i++) {
				if (i % BLOCK === 0) sums.set(now, (i / BLOCK) * 5);
				if (i < rows.length) now[this.levelOf(rows[i])]++;
			}
			return sums;
		}
		/* Adds to counts how many events of each level are among the first `index` of a lane, `sign` times. */
		addBefore(lane, index, counts, sign) {
			const block = Math.floor(index / BLOCK);
			for (let level = 0; level < 5; level++) counts[level] += sign * lane.sums[block * 5 + level];
			for (let i = block * BLOCK; i < index; i++) counts[this.levelOf(lane.rows[i])] += sign;
		}
		/* A span is shown where its beginning is, or its end when only that is. */
		addSpans(list, lanes, keyOf) {
			const spans = this.data.spans,
				all = this.rows === null;
			for (const lane of list) lane.depths = new Map();
			for (let span = 0; span < spans.count; span++) {
				let row = spans.first[span];
				if (row < 0 || (!all && !this.isShown(row))) row = spans.last[span];
				if (row < 0 || (!all && !this.isShown(row))) continue;
				const lane = list[lanes.get(keyOf(row))],
					depth = typeof lane.key === "string" ? 0 : spans.depth[span]; /* on a thing, one after the other */
				if (!lane.depths.has(depth)) lane.depths.set(depth, []);
				lane.depths.get(depth).push(span);
			}
			for (const lane of list) {
				lane.depths = [...lane.depths.entries()].sort((a, b) => a[0] - b[0]).map(([, found]) => this.depthOf(found));
			}
		}
		depthOf(found) {
			const spans = this.data.spans;
			const list = Uint32Array.from(found).sort((a, b) => spans.start[a] - spans.start[b]);
			const start = Float64Array.from(list, span => spans.start[span]);
			const reach = new Float64Array(list.length); /* the latest end so far: never falls, so it can be searched */
			for (let i = 0; i < list.length; i++) reach[i] = Math.max(spans.end[list[i]], i > 0 ? reach[i - 1] : -Infinity);
			return { list, start, reach };
		}
		rowOfSpan(span) {
			const spans = this.data.spans;
			return spans.first[span] >= 0 ? spans.first[span] : spans.last[span];
		}
	}

	/* The first place in [from, to) of a rising array whose value is not below. */
	function lowerBound(array, value, from = 0, to = array.length) {
		while (from < to) {
			const middle = (from + to) >>> 1;
			if (array[middle] < value) from = middle + 1;
			else to = middle;
		}
		return from;
	}
	/* The same for rows, by the places of their events. */
	function lowerBoundRow(rows, x, value, from = 0, to = rows.length) {
		while (from < to) {
			const middle = (from + to) >>> 1;
			if (x[rows[middle]] < value) from = middle + 1;
			else to = middle;
		}
		return from;
	}

	return {
		Model,
		LEVELS,
		TYPES,
		BINARY,
		TEXT,
		UTF8,
		grouped,
		duration,
		parseDuration,
		parseEvents,
		bytesText,
		hexOf,
		plain,
		shown,
		lowerBound,
		lowerBoundRow,
	};
})();
