"use strict";
/*
 * report_table.js - lists: the grid of all events, of which only the rows that are seen exist, and small sortable tables.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
const ReportTable = (() => {
	const { LEVELS, duration } = ReportModel;
	const ROW = 24;
	const TALLEST = 8000000; /* pixels: browsers do not scroll further than some millions; beyond, the bar is a scale */
	const COLUMNS = ["Time", "After", "Level", "Component", "Event", "Thread", "Data"];

	/* make("td", { class: "num" }, "text", node, ...): texts become text, whatever they hold. */
	function make(name, attributes, ...children) {
		const element = document.createElement(name);
		for (const [key, value] of Object.entries(attributes || {})) {
			if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
			else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
		}
		element.append(...children.filter(child => child !== null && child !== undefined));
		return element;
	}

	/* The text with each of the words marked. */
	function marked(text, words) {
		if (words.length === 0) return [text];
		const found = new RegExp("(" + words.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")", "i");
		return text.split(found).map((part, index) => (index % 2 === 1 ? make("mark", null, part) : part));
	}

	class EventGrid {
		constructor(app) {
			this.app = app;
			this.model = app.model;
			this.grid = document.getElementById("events-grid");
			this.space = make("div", { role: "presentation" });
			this.window = make("div", { class: "grid-window", role: "rowgroup" });
			this.body = make("div", { class: "grid-body", role: "presentation" }, this.window, this.space);
			const head = make(
				"div",
				{ class: "grid-row grid-head", role: "row", "aria-rowindex": "1" },
				...COLUMNS.map((title, index) =>
					make("div", { role: "columnheader", class: index === 1 || index === 5 ? "num" : null }, title)
				)
			);
			this.grid.append(make("div", { role: "rowgroup" }, head), this.body);
			this.grid.setAttribute("aria-colcount", COLUMNS.length);
			this.top = 0; /* rows above the first one seen, with a fraction */
			this.isMoving = false;
			this.body.addEventListener("scroll", () => this.scrolled());
			this.body.addEventListener("wheel", event => this.wheel(event), { passive: false });
			this.grid.addEventListener("keydown", event => this.key(event));
			new ResizeObserver(() => this.resize()).observe(this.body);
		}
		resize() {
			this.room = this.body.clientHeight;
			this.fit();
		}
		fit() {
			const full = this.model.count * ROW;
			this.space.style.height = Math.min(full, TALLEST) + "px";
			this.grid.setAttribute("aria-rowcount", this.model.count + 1);
			this.move(this.top);
		}
		/* After the filter has changed: what was seen stays where it is, or what comes next in time is there. */
		refit() {
			if (this.anchor) this.top = this.model.indexOf(this.anchor.row) - this.anchor.offset;
			this.fit();
		}
		/* By what refit() goes: the selected event when it is seen, else the first one that is.  Set when somebody has moved the list, not by a
		 * filter: so the list is back where it was, also after one that showed little. */
		setAnchor() {
			const { selected } = this.app,
				at = selected >= 0 && this.model.isShown(selected) ? this.model.indexOf(selected) : -1;
			const index = at >= this.top && at + 1 <= this.top + this.room / ROW ? at : Math.ceil(this.top);
			if (index < this.model.count) this.anchor = { row: this.model.rowAt(index), offset: index - this.top };
		}
		get greatest() {
			return Math.max(this.model.count - this.room / ROW, 0);
		}
		/* Pixels of the scroll bar's way for a row. */
		get scale() {
			const way = Math.min(this.model.count * ROW, TALLEST) - this.room;
			return this.greatest > 0 ? way / this.greatest : ROW;
		}
		move(top) {
			this.top = Math.max(0, Math.min(top, this.greatest));
			const place = Math.round(this.top * this.scale);
			this.isMoving = place !== Math.round(this.body.scrollTop);
			this.body.scrollTop = place;
			this.draw();
		}
		scrolled() {
			const top = Math.min(this.body.scrollTop / this.scale, this.greatest);
			if (!this.isMoving && Math.round(top * this.scale) !== Math.round(this.top * this.scale)) {
				this.top = top;
				this.setAnchor();
			}
			this.isMoving = false;
			this.draw();
		}
		/* Where the bar is a scale, a wheel's step still is a few rows. */
		wheel(event) {
			if (event.ctrlKey || this.scale >= ROW - 0.001) return;
			event.preventDefault();
			this.move(this.top + (event.deltaY * (event.deltaMode === 1 ? 16 : 1)) / ROW);
			this.setAnchor();
		}
		draw() {
			const first = Math.floor(this.top),
				count = Math.min(Math.ceil(this.room / ROW) + 1, this.model.count - first);
			const rows = [];
			for (let i = first; i < first + count; i++) rows.push(this.row(i));
			if (this.model.count === 0)
				rows.push(
					make(
						"div",
						{ class: "empty" },
						this.model.data.count === 0
							? "The trace has no events."
							: "No event is like that. Escape in the search clears the filter."
					)
				);
			this.window.replaceChildren(...rows);
			this.window.style.transform = "translateY(" + -(this.top - first) * ROW + "px)";
			const isSeen = this.app.selected >= 0 && this.window.querySelector("[aria-selected=true]");
			if (isSeen) this.grid.setAttribute("aria-activedescendant", "event-" + this.app.selected);
			else this.grid.removeAttribute("aria-activedescendant");
		}
		row(index) {
			const model = this.model,
				data = model.data,
				row = model.rowAt(index),
				kind = model.kindOf(row),
				level = Math.min(kind.level, 4);
			const words = this.app.words,
				before = index > 0 ? data.time[row] - data.time[model.rowAt(index - 1)] : null;
			const cell = (attributes, ...content) => make("div", { role: "gridcell", ...attributes }, ...content);
			return make(
				"div",
				{
					class: "grid-row",
					role: "row",
					id: "event-" + row,
					"aria-rowindex": index + 2,
					"aria-selected": String(row === this.app.selected),
					onclick: () => this.app.select(row, "grid"),
				},
				cell({ class: "time" }, model.clock(data.time[row], 6)),
				cell({ class: "num soft" }, before === null ? "" : before < 0 ? "−" + duration(-before) : duration(before)),
				cell({ class: "level level-" + level }, LEVELS[level]),
				cell({}, ...marked(model.componentNames[kind.component], words)),
				cell({}, ...marked(kind.name, words)),
				cell({ class: "num soft" }, model.threadName(data.threads[row])),
				cell({ class: "data" }, ...marked(model.line(row), words))
			);
		}
		/* Brings a row into sight, in the middle when it is far. */
		show(row) {
			const index = this.model.indexOf(row),
				seen = this.room / ROW;
			if (index < this.top) this.move(index < this.top - 2 ? index - seen / 2 : index);
			else if (index + 1 > this.top + seen) this.move(index + 1 > this.top + seen + 2 ? index - seen / 2 : index + 1 - seen);
			else this.draw();
		}
		key(event) {
			if (event.ctrlKey || event.metaKey || event.altKey) return;
			const page = Math.max(Math.floor(this.room / ROW) - 1, 1),
				last = this.model.count - 1;
			const now = this.app.selected < 0 ? -1 : Math.min(this.model.indexOf(this.app.selected), last);
			const index = { ArrowDown: now + 1, ArrowUp: now - 1, PageDown: now + page, PageUp: now - page, Home: 0, End: last }[event.key];
			if (event.key === "Enter") {
				event.preventDefault();
				document.getElementById("detail").focus();
				return;
			}
			if (index === undefined || last < 0) return;
			event.preventDefault();
			this.app.select(this.model.rowAt(Math.max(0, Math.min(index, last))), "grid");
		}
	}

	/* A table that its heads sort.  columns: { title, isNumber, value(row), cell(row), hint }; the rows are shown up to a limit. */
	class List {
		constructor(place, columns, options) {
			this.place = place;
			this.columns = columns;
			this.options = options;
			this.sort = options.sort;
			this.isRising = Boolean(options.isRising);
		}
		fill(rows) {
			this.rows = rows;
			this.draw();
		}
		draw() {
			const column = this.columns[this.sort],
				sign = this.isRising ? 1 : -1;
			const rows = this.rows.slice().sort((a, b) => {
				const x = column.value(a),
					y = column.value(b);
				return sign * (typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y);
			});
			const left = rows.length - this.options.limit;
			this.place.replaceChildren(
				rows.length === 0
					? make("p", { class: "empty" }, this.options.empty)
					: make(
							"table",
							{ class: "list" },
							make("caption", { class: "only-read" }, this.options.caption),
							this.head(),
							make("tbody", null, ...rows.slice(0, this.options.limit).map(row => this.line(row)))
						),
				left > 0 ? make("p", { class: "empty" }, "and " + ReportModel.grouped(left) + " more") : ""
			);
		}
		head() {
			return make(
				"thead",
				null,
				make(
					"tr",
					null,
					...this.columns.map((column, index) =>
						make(
							"th",
							{
								scope: "col",
								class: column.isNumber ? "num" : null,
								title: column.hint || null,
								"aria-sort": index === this.sort ? (this.isRising ? "ascending" : "descending") : null,
							},
							make("button", { type: "button", onclick: () => this.sortBy(index) }, column.title)
						)
					)
				)
			);
		}
		sortBy(index) {
			this.isRising = index === this.sort ? !this.isRising : !this.columns[index].isNumber;
			this.sort = index;
			this.draw();
			this.place.querySelectorAll("thead button")[index].focus();
		}
		line(row) {
			return make("tr", null, ...this.columns.map(column => make("td", { class: column.isNumber ? "num" : null }, column.cell(row))));
		}
	}

	return { EventGrid, List, make, marked };
})();
