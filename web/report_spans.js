"use strict";
/*
 * report_spans.js - spans as a whole: what they are called, which is within which, and what they come to by name.
 *
 * Names are made as exports make them (src/print/export/export_names.c).  Sums may be of a stretch of time: a span counts when it touches the stretch, with
 * the time that it spends there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
const ReportSpans = (() => {
	const { TEXT, UTF8 } = ReportModel;
	const { INFERRED, WHOLE } = ReportData;
	const WORDS = 64, /* different words of a key item; with more of them the item is left out */
		WORD_SIZE = 64;

	/* list: { full: "WEB.REQUEST /login", short: "/login" }; of: the number of each span's name.  A name that the catalogue gives is
	   { full: "INIT of PAYROLL", short: "INIT", what: "paragraph" }; that of an operation, which one event reports, has also { item: "CUSTFILE" }. */
	function nameSpans(model) {
		const spans = model.data.spans,
			words = spans.first.length > 0 ? readWords(model) : null;
		const list = [],
			of = new Uint32Array(spans.count),
			numbers = new Map();
		for (let span = 0; span < spans.count; span++) {
			const row = model.rowOfSpan(span),
				kind = model.kindOf(row),
				parts = spans.first[span] >= 0 ? partsOf(model, row, kind) : [];
			if (parts.length > 0) {
				const isWhole = spans.kind[span] === WHOLE;
				const key = kind.component + " " + kind.id + "\0" + parts.join("\0");
				if (!numbers.has(key)) numbers.set(key, list.push(nameOfParts(kind, parts, isWhole)) - 1);
				of[span] = numbers.get(key);
				continue;
			}
			const word = words.get(span);
			const key = kind.component + " " + kind.id + " " + word;
			if (!numbers.has(key)) {
				const isOnly = model.data.about.components[kind.component].entries === 1;
				const short = word === "" ? kind.name : isOnly ? word : kind.name + " " + word;
				numbers.set(key, list.push({ full: model.componentNames[kind.component] + " " + short, short }) - 1);
			}
			of[span] = numbers.get(key);
		}
		return { list, of };
	}

	/* The values that the catalogue names the span by: its name, and what that is part of. */
	function partsOf(model, row, kind) {
		if (!kind.type || kind.type.span.length === 0) return [];
		const items = ReportData.itemsOf(model.data, row) || [];
		return kind.type.span
			.filter(index => items[index])
			.map(index =>
				model
					.valueOf(items[index], kind.type.arguments[index])
					.replace(/^"|"$/g, "")
					.trimEnd()
			)
			.filter(part => part !== "");
	}
	function nameOfParts(kind, parts, isWhole) {
		const what = ReportModel.plain(kind.type.arguments[kind.type.span[0]].name),
			before = isWhole ? kind.name + " " : "";
		return { full: before + parts.join(" of "), short: before + parts[0], what: isWhole ? "operation" : what, item: isWhole ? parts.join(" of ") : "" };
	}

	function readWords(model) {
		const spans = model.data.spans,
			of = new Map(),
			seen = new Map();
		const keysOf = new Map();
		for (let span = 0; span < spans.count; span++) {
			const row = spans.first[span],
				kind = row >= 0 ? model.kindOf(row) : null;
			if (!kind || !kind.type || kind.type.span.length > 0) continue;
			if (!keysOf.has(kind)) keysOf.set(kind, keysOfKind(kind));
			const word = keysOf.get(kind).length > 0 ? wordOf(model, row, kind, keysOf.get(kind)) : "";
			if (word === "") continue;
			if (!seen.has(kind.type)) seen.set(kind.type, new Set());
			if (seen.get(kind.type).size <= WORDS) seen.get(kind.type).add(word);
			of.set(span, word);
		}
		const isOfUse = span => seen.get(model.kindOf(spans.first[span]).type).size <= WORDS;
		return { get: span => (of.has(span) && isOfUse(span) ? of.get(span) : "") };
	}
	function keysOfKind(kind) {
		return kind.type.arguments
			.map((argument, index) => [argument, index])
			.filter(([argument]) => argument.is_key && /^(default|text|enumeration)$/.test(argument.print))
			.map(([, index]) => index);
	}
	function wordOf(model, row, kind, keys) {
		const items = ReportData.itemsOf(model.data, row) || [];
		const index = keys.find(
			key =>
				items[key] && (kind.type.arguments[key].print !== "default" || items[key].type === TEXT || items[key].type === UTF8)
		);
		if (index === undefined) return "";
		return model
			.valueOf(items[index], kind.type.arguments[index])
			.replace(/^"|"$/g, "")
			.slice(0, WORD_SIZE)
			.trimEnd();
	}

	/* The span around each, of its thread; -1: none.  Those that are open, or end on another thread, have none and are in nobody's way. */
	function findParents(model) {
		const { spans, threads } = model.data,
			parents = new Int32Array(spans.count).fill(-1),
			stacks = new Map();
		for (let span = 0; span < spans.count; span++) {
			const first = spans.first[span],
				last = spans.last[span];
			if (first < 0 || last < 0 || (spans.kind[span] !== INFERRED && threads[first] !== threads[last])) continue;
			if (!stacks.has(threads[first])) stacks.set(threads[first], []);
			const stack = stacks.get(threads[first]);
			while (stack.length > 0 && spans.last[stack[stack.length - 1]] < first) stack.pop();
			for (let i = stack.length - 1; i >= 0 && parents[span] < 0; i--) if (spans.last[stack[i]] >= last) parents[span] = stack[i];
			stack.push(span);
		}
		return parents;
	}

	class Spans {
		constructor(model) {
			this.model = model;
			this.names = nameSpans(model);
			this.parents = findParents(model);
		}
		isInferred(span) {
			return this.model.data.spans.kind[span] === INFERRED;
		}
		/* The thing that an event of this row is an operation on, "CUSTFILE"; "": none. */
		itemOf(row) {
			const spans = this.model.data.spans,
				span = spans.ofRow[row] - 1;
			return span >= 0 && spans.kind[span] === WHOLE ? this.names.list[this.names.of[span]].item || "" : "";
		}
		/* "1.23ms", and that its end is inferred; "open" */
		tookText(span) {
			const { start, end, last } = this.model.data.spans;
			if (last[span] < 0) return "open";
			return ReportModel.duration(end[span] - start[span]) + (this.isInferred(span) ? " (inferred)" : "");
		}
		fullName(span) {
			return this.names.list[this.names.of[span]].full;
		}
		shortName(span) {
			return this.names.list[this.names.of[span]].short;
		}
		/* visit(span, time in the stretch) of each that has ended and is shown. */
		each(stretch, visit) {
			const model = this.model,
				spans = model.data.spans;
			for (let span = 0; span < spans.count; span++) {
				if (spans.last[span] < 0 || (model.rows !== null && !model.isShown(model.rowOfSpan(span)))) continue;
				const time = this.timeIn(span, stretch);
				if (time >= 0) visit(span, time);
			}
		}
		/* Below 0: it is not there. */
		timeIn(span, stretch) {
			const { start, end } = this.model.data.spans;
			return stretch ? Math.min(end[span], stretch.to) - Math.max(start[span], stretch.from) : end[span] - start[span];
		}
		/* Of each span, the time that those right within it take. */
		timesWithin(stretch) {
			const within = new Float64Array(this.parents.length);
			for (let span = 0; span < this.parents.length; span++)
				if (this.parents[span] >= 0) within[this.parents[span]] += Math.max(this.timeIn(span, stretch), 0);
			return within;
		}
		/* [{ name, number, count, total, self, median, p95, longest }] */
		sums(stretch) {
			const found = new Map(),
				within = this.timesWithin(stretch),
				spans = this.model.data.spans;
			this.each(stretch, (span, time) => {
				const number = this.names.of[span];
				if (!found.has(number)) {
					const { full, what = "" } = this.names.list[number];
					found.set(number, { number, name: full, what, isInferred: false, total: 0, self: 0, times: [], slowest: span });
				}
				const sum = found.get(number),
					took = spans.end[span] - spans.start[span];
				sum.total += time;
				sum.isInferred = sum.isInferred || this.isInferred(span);
				sum.self += Math.max(time - within[span], 0);
				sum.times.push(took);
				if (took > spans.end[sum.slowest] - spans.start[sum.slowest]) sum.slowest = span;
			});
			return [...found.values()].map(sum => {
				const times = Float64Array.from(sum.times).sort(),
					at = part => times[Math.min(Math.floor(times.length * part), times.length - 1)];
				return { ...sum, times: null, count: times.length, median: at(0.5), p95: at(0.95), p99: at(0.99), longest: at(1) };
			});
		}
		/* The stacks of all threads, those of the same names as one: { number, total, count, within: Map } */
		flame(stretch) {
			const node = number => ({ number, total: 0, count: 0, isInferred: false, within: new Map() });
			const root = node(-1),
				nodes = new Map();
			this.each(stretch, (span, time) => {
				let parent = this.parents[span];
				while (parent >= 0 && !nodes.has(parent)) parent = this.parents[parent];
				const around = parent >= 0 ? nodes.get(parent) : root,
					number = this.names.of[span];
				if (!around.within.has(number)) around.within.set(number, node(number));
				const found = around.within.get(number);
				found.total += time;
				found.count++;
				found.isInferred = found.isInferred || this.isInferred(span);
				nodes.set(span, found);
			});
			for (const found of root.within.values()) {
				root.total += found.total;
				root.count += found.count;
			}
			return root;
		}
		/* The one that took longest; -1: there is none. */
		slowest() {
			const { start, end } = this.model.data.spans;
			let best = -1;
			this.each(null, span => (best = best < 0 || end[span] - start[span] > end[best] - start[best] ? span : best));
			return best;
		}
	}

	return { Spans };
})();
