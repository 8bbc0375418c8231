"use strict";
/*
 * report_detail.js - the selected event: who, when, its items by name, and its records field by field.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
const ReportDetail = (() => {
	const { LEVELS, TYPES, BINARY, grouped, duration, bytesText, hexOf, plain, shown } = ReportModel;
	const { make, marked } = ReportTable;
	const HEX_LINE = 16;

	class Detail {
		constructor(app) {
			this.app = app;
			this.model = app.model;
			this.place = document.getElementById("detail");
			this.clear();
		}
		clear() {
			this.place.replaceChildren(
				make("p", { class: "empty" }, "Choose an event in the timeline or in the list, and its fields stand here.")
			);
		}
		show(row) {
			const model = this.model,
				data = model.data,
				kind = model.kindOf(row),
				level = Math.min(kind.level, 4);
			const items = ReportData.itemsOf(data, row),
				records = ReportData.recordsOf(data, row);
			this.place.replaceChildren(
				make("button", { type: "button", class: "close", "aria-label": "Close", title: "Close (Escape)", onclick: () => this.app.deselect() }, "✕"),
				make(
					"h2",
					null,
					kind.name === String(kind.id) ? "Event " + kind.id : kind.name,
					" ",
					make("span", { class: "tag level level-" + level }, LEVELS[level]),
					kind.type && kind.type.is_exception ? make("span", { class: "tag bad" }, "exception") : null
				),
				make("p", { class: "when" }, model.clock(data.time[row]), make("span", { class: "soft" }, "  " + this.span(row))),
				make(
					"p",
					{ class: "what" },
					kind.type && kind.type.description
						? shown(kind.type.description)
						: model.componentNames[kind.component] + ", event " + kind.id
				),
				this.buttons(row),
				...records.flatMap(record => this.record(kind, record)),
				...this.items(kind, items, row),
				make("h3", null, "Where it comes from"),
				this.facts(row, kind)
			);
			this.place.scrollTop = 0;
		}
		/* "exit, after 2.5 ms" */
		span(row) {
			const spans = this.model.data.spans,
				span = spans.ofRow[row] - 1;
			if (span < 0) return "";
			const took = duration(spans.end[span] - spans.start[span]);
			if (spans.kind[span] === ReportData.WHOLE) return "took " + took;
			if (this.app.spans.isInferred(span)) return "entry, took " + took + "; its end is inferred: no event reports it";
			if (spans.first[span] === row) return spans.last[span] < 0 ? "entry; has not ended" : "entry, took " + took;
			return "exit, after " + took + (spans.first[span] < 0 ? "; its entry is not here" : "");
		}
		buttons(row) {
			const model = this.model,
				data = model.data,
				spans = data.spans,
				span = spans.ofRow[row] - 1;
			const list = [
				["Previous", () => this.app.step(-1)],
				["Next", () => this.app.step(1)],
				["Show in timeline", () => this.app.select(row, "detail")],
			];
			if (span >= 0) {
				const other = spans.first[span] === row ? spans.last[span] : spans.first[span];
				if (other >= 0 && other !== row && !this.app.spans.isInferred(span))
					list.push([spans.first[span] === row ? "To its exit" : "To its entry", () => this.app.select(other, "detail")]);
				list.push(["Zoom to span", () => this.app.timeline.zoomToSelected()]);
			}
			list.push(["Copy", event => this.copy(row, event.currentTarget)]);
			return make(
				"div",
				{ class: "nav" },
				...list.map(([title, action]) => make("button", { type: "button", onclick: action }, title))
			);
		}
		facts(row, kind) {
			const model = this.model,
				data = model.data,
				thread = data.threads[row],
				origin = model.originOf(thread),
				[, pid, tid] = data.about.threads[thread];
			const x = data.time[row],
				list = [];
			const add = (term, text) => text && list.push(make("dt", null, term), make("dd", null, text));
			add("Time", model.date(x) + " " + model.clock(x) + (model.isUtc ? " UTC" : ""));
			add("Since start", duration(x));
			add("Component", plain(model.data.about.components[kind.component].name));
			add("Event", kind.name === String(kind.id) ? kind.name : kind.name + " (" + kind.id + ")");
			add("Process", model.processName(origin) + (origin.pid && origin.pid !== pid ? ", process id " + pid : ""));
			add("Thread", String(tid));
			add("Job", origin.jobname ? plain(origin.jobname) + ", ASID " + origin.asid.toString(16).toUpperCase().padStart(4, "0") : "");
			add("Host", origin.host ? plain(origin.host) : "");
			add("Number", grouped(row + 1) + " of " + grouped(data.count));
			return make("dl", null, ...list);
		}
		items(kind, items, row) {
			if (items === null)
				return [
					make("h3", null, "Items"),
					make("p", { class: "soft" }, "This page holds no items of this event: those before it took all the room there is."),
				];
			if (items.length === 0) return [];
			return [
				make("h3", null, items.length === 1 ? "Item" : grouped(items.length) + " items"),
				make(
					"table",
					{ class: "fields" },
					make("thead", null, make("tr", null, ...["Name", "Value", "Type"].map(title => make("th", { scope: "col" }, title)))),
					make("tbody", null, ...items.slice(0, 500).flatMap((item, index) => this.item(kind, item, index, row)))
				),
				items.length > 500 ? make("p", { class: "soft" }, "and " + grouped(items.length - 500) + " more") : "",
			];
		}
		/* A line, and one with its bytes when these say more. */
		item(kind, item, index, row) {
			const model = this.model,
				argument = model.argumentOf(kind, index),
				isRecord =
					argument && argument.print === "record" && ReportData.recordsOf(model.data, row).some(record => record.item === index);
			const value = isRecord
				? ["the record " + plain(argument.copybook || "")]
				: marked(model.valueOf(item, argument), this.app.words);
			const line = make(
				"tr",
				null,
				make(
					"th",
					{ scope: "row", title: argument && argument.description ? shown(argument.description) : null },
					model.itemName(kind, index)
				),
				make("td", { class: "value" + (isRecord ? " soft" : "") }, ...value),
				make("td", { class: "soft" }, TYPES[item.type] + ", " + bytesText(item.size).replace(" bytes", " B"))
			);
			if (!(item.type === BINARY && item.bytes.length > 8)) return [line];
			return [
				line,
				make(
					"tr",
					{ class: "bytes" },
					make("td", { colspan: "3" }, make("details", { open: !isRecord }, make("summary", null, "Bytes"), this.hex(item)))
				),
			];
		}
		/* As a dump: place, bytes, characters. */
		hex(item) {
			const lines = [];
			for (let at = 0; at < item.bytes.length; at += HEX_LINE) {
				const bytes = item.bytes.subarray(at, at + HEX_LINE);
				lines.push(
					at.toString(16).toUpperCase().padStart(4, "0") +
						"  " +
						hexOf(bytes, " ").padEnd(HEX_LINE * 3) +
						" " +
						Array.from(bytes, byte => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("")
				);
			}
			if (item.size > item.bytes.length) lines.push("… " + bytesText(item.size) + " in all");
			return make("span", { class: "hex" }, lines.join("\n"));
		}
		record(kind, record) {
			const argument = this.model.argumentOf(kind, record.item),
				name = record.fields.length > 0 ? record.fields[0].name : "";
			return [
				make(
					"h3",
					{ id: "record-" + record.item },
					"Record " + plain(name) + (argument && argument.copybook ? ", " + plain(argument.copybook) : "")
				),
				make(
					"table",
					{ class: "fields record", "aria-labelledby": "record-" + record.item },
					make(
						"thead",
						null,
						make("tr", null, ...["Field", "Value", "Picture"].map(title => make("th", { scope: "col" }, title)))
					),
					make("tbody", null, ...record.fields.map(field => this.field(field)))
				),
				record.isCut ? make("p", { class: "soft" }, "The record goes on; the page has its beginning.") : "",
			];
		}
		field(field) {
			const isGroup = field.text === null;
			return make(
				"tr",
				{ class: isGroup ? "whole" : null },
				make(
					"th",
					{
						scope: "row",
						class: "indent-" + Math.min(field.depth, 6),
						title: "at byte " + field.offset + ", " + field.size + " bytes",
					},
					plain(field.name) + (field.occurrence ? "(" + field.occurrence + ")" : ""),
					field.isRedefinition ? make("span", { class: "tag" }, "redefines") : null
				),
				make(
					"td",
					{ class: "value" },
					...(isGroup ? [] : marked(this.model.fieldText(field), this.app.words)),
					field.isBad ? make("span", { class: "tag bad" }, "does not fit its picture") : null,
					...field.conditions.map(condition => make("span", { class: "tag cond" }, plain(condition)))
				),
				make("td", { class: "soft mono" }, plain(field.picture))
			);
		}
		async copy(row, button) {
			const model = this.model,
				kind = model.kindOf(row),
				x = model.data.time[row];
			const text =
				model.date(x) +
				" " +
				model.clock(x) +
				" " +
				model.componentNames[kind.component] +
				" " +
				kind.name +
				" " +
				LEVELS[Math.min(kind.level, 4)] +
				" " +
				model.line(row, 100000) +
				"\n";
			try {
				await navigator.clipboard.writeText(text);
				button.textContent = "Copied";
			} catch {
				button.textContent = "Not allowed";
			}
			setTimeout(() => (button.textContent = "Copy"), 1500);
		}
	}

	return { Detail };
})();
