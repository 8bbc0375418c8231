"use strict";
/*
 * report_panels.js - the other lists: tally, slowest spans, spans by name, flame graph, rates, losses.
 *
 * Each is made when its tab is seen, and again when what it shows has changed.  All but the losses are of the events that the filter shows; tally, names
 * and flame graph are of the stretch of time that is marked, when there is one; the rates are of the part that the timeline shows.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
const ReportPanels = (() => {
	const { LEVELS, grouped, duration, bytesText, plain, shown, lowerBound } = ReportModel;
	const { List, make } = ReportTable;
	const SPANS_SHOWN = 500,
		TALLY_SHOWN = 2000,
		BINS = 300,
		FLAME_ROW = 20,
		FLAME_DEPTH = 64,
		FLAME_LEAST = 0.001 /* of the width: narrower ones are left out */,
		SERIES = 8;
	const HUES = {
		light: ["#2458d6", "#0f8a6d", "#c46a00", "#a23bb5", "#5a8a12", "#c9302c", "#0e86b0", "#8a6d3b"],
		dark: ["#7aa7ff", "#3fcfae", "#f0ad2e", "#d77bea", "#a5d65a", "#ff8078", "#55c4ee", "#d0b27e"],
	};

	const NO_SPANS = "No spans: they are where a catalogue pairs an event with the one that ends it.";

	function rate(count, ns) {
		const value = count / (ns / 1e9);
		return value >= 1e6
			? (value / 1e6).toFixed(1) + " M/s"
			: value >= 1e4
				? (value / 1e3).toFixed(1) + " k/s"
				: value >= 10
					? value.toFixed(0) + " /s"
					: value.toFixed(2) + " /s";
	}

	class Panels {
		constructor(app) {
			this.app = app;
			this.model = app.model;
			this.open = "events";
			this.isOld = { tally: true, spans: true, names: true, flame: true, rates: true, losses: true };
			this.flamePath = []; /* numbers of names: the one that fills the width last */
			this.by = "level";
			this.tabs = [...document.querySelectorAll("[role=tab]")];
			for (const tab of this.tabs) {
				tab.addEventListener("click", () => this.show(tab.id.slice(4)));
				tab.addEventListener("keydown", event => this.key(event));
			}
			this.makeTally();
			this.makeSpans();
			this.makeNames();
			this.readLosses();
			new ResizeObserver(() => this.resizeChart()).observe(document.getElementById("rates"));
		}
		show(name, takesFocus) {
			this.open = name;
			for (const tab of this.tabs) {
				const isOpen = tab.id === "tab-" + name;
				tab.setAttribute("aria-selected", String(isOpen));
				tab.tabIndex = isOpen ? 0 : -1;
				document.getElementById(tab.getAttribute("aria-controls")).hidden = !isOpen;
				if (isOpen && takesFocus) tab.focus();
			}
			this.refresh();
		}
		key(event) {
			const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
			if (by === undefined) return;
			event.preventDefault();
			const now = this.tabs.findIndex(tab => tab.id === "tab-" + this.open);
			this.show(this.tabs[(now + by + this.tabs.length) % this.tabs.length].id.slice(4), true);
		}
		filterChanged() {
			this.isOld.tally = this.isOld.spans = this.isOld.names = this.isOld.flame = this.isOld.rates = true;
			this.refresh();
		}
		stretchChanged() {
			this.isOld.tally = this.isOld.names = this.isOld.flame = true;
			this.refresh();
		}
		viewChanged() {
			this.isOld.rates = true;
			clearTimeout(this.soon);
			if (this.open === "rates") this.soon = setTimeout(() => this.refresh(), 60);
		}
		themeChanged() {
			this.isOld.rates = this.isOld.names = this.isOld.flame = true;
			this.refresh();
		}
		refresh() {
			if (!this.isOld[this.open]) return;
			this.isOld[this.open] = false;
			({
				tally: () => this.fillTally(),
				spans: () => this.fillSpans(),
				names: () => this.names.fill(this.app.spans.sums(this.app.stretch)),
				flame: () => this.drawFlame(),
				rates: () => this.drawRates(),
				losses: () => this.fillLosses(),
			})[this.open]();
		}

		/* ---- tally: a line for each event of a component, whatever its levels */

		makeTally() {
			const text = (title, value, cell) => ({ title, value, cell });
			const number = (title, value, cell, hint) => ({
				title,
				isNumber: true,
				value,
				cell: cell || (row => grouped(value(row))),
				hint,
			});
			this.tally = new List(
				document.getElementById("tally"),
				[
					text(
						"Component",
						row => row.component,
						row =>
							make(
								"button",
								{
									type: "button",
									title: "Show only this component",
									onclick: () => this.app.narrow({ component: row.number }),
								},
								row.component
							)
					),
					text(
						"Event",
						row => row.name,
						row =>
							make(
								"button",
								{
									type: "button",
									title: "Show only these events",
									onclick: () => this.app.narrow({ component: row.number, event: String(row.id) }),
								},
								row.name
							)
					),
					text(
						"Level",
						row => row.level,
						row => make("span", { class: "level level-" + row.level }, LEVELS[row.level])
					),
					number(
						"Count",
						row => row.count,
						row => make("span", null, grouped(row.count), this.meter(row.share))
					),
					number(
						"Rate",
						row => row.count,
						row => rate(row.count, this.tallyTime()),
						"over the marked stretch, or the whole trace"
					),
					number(
						"Data",
						row => row.bytes,
						row => bytesText(row.bytes),
						"of their items"
					),
				],
				{ sort: 3, limit: TALLY_SHOWN, empty: "Nothing to count.", caption: "Events by component and kind" }
			);
		}
		meter(share) {
			const bar = make("i");
			bar.style.width = 100 * share + "%";
			return make("span", { class: "meter", "aria-hidden": "true" }, bar);
		}
		tallyTime() {
			return this.app.stretch ? this.app.stretch.to - this.app.stretch.from : this.model.length;
		}
		fillTally() {
			const list = this.countRows(),
				most = Math.max(...list.map(row => row.count), 1);
			for (const row of list) row.share = row.count / most;
			this.tally.fill(list);
		}
		countRows() {
			const model = this.model,
				data = model.data,
				rows = new Map();
			const counts = new Uint32Array(model.classes.length),
				bytes = new Float64Array(model.classes.length);
			const [from, to] = this.app.stretch ? model.between(this.app.stretch.from, this.app.stretch.to) : [0, model.count];
			for (let i = from; i < to; i++) {
				const row = model.rowAt(i),
					number = data.classes[row];
				counts[number]++;
				bytes[number] += ReportData.sizeOf(data, row);
			}
			model.classes.forEach((kind, number) => {
				if (counts[number] === 0) return;
				const key = kind.component + " " + kind.id;
				if (!rows.has(key))
					rows.set(key, {
						component: model.componentNames[kind.component],
						number: kind.component,
						id: kind.id,
						name: kind.name,
						level: 0,
						count: 0,
						bytes: 0,
					});
				const row = rows.get(key);
				row.count += counts[number];
				row.bytes += bytes[number];
				row.level = Math.max(row.level, Math.min(kind.level, 4));
			});
			return [...rows.values()];
		}

		/* ---- slowest spans */

		makeSpans() {
			const model = this.model;
			this.spans = new List(
				document.getElementById("spans"),
				[
					{
						title: "Took",
						isNumber: true,
						value: item => item.ns,
						cell: item => make("span", null, duration(item.ns), this.meter(item.ns / this.slowest)),
					},
					{
						title: "Span",
						value: item => this.app.spans.fullName(item.span),
						cell: item => make("button", { type: "button", onclick: () => this.goTo(item) }, this.app.spans.fullName(item.span)),
					},
					{
						title: "Began",
						isNumber: true,
						value: item => model.data.spans.start[item.span],
						cell: item => model.clock(model.data.spans.start[item.span], 6),
					},
					{
						title: "Thread",
						value: item => model.threadFullName(model.data.threads[item.row]),
						cell: item => model.threadFullName(model.data.threads[item.row]),
					},
					{
						title: "Data",
						value: item => model.line(item.row),
						cell: item => make("span", { class: "mono" }, model.line(item.row, 120)),
					},
				],
				{
					sort: 0,
					limit: SPANS_SHOWN,
					empty: NO_SPANS,
					caption: "Spans that took longest",
				}
			);
		}
		fillSpans() {
			const times = [];
			let least = -1;
			this.app.spans.each(null, (span, ns) => {
				if (ns <= least) return;
				times.push({ span, ns, row: this.model.rowOfSpan(span) });
				if (times.length >= 4 * SPANS_SHOWN) {
					times.sort((a, b) => b.ns - a.ns);
					times.length = SPANS_SHOWN;
					least = times[SPANS_SHOWN - 1].ns;
				}
			});
			times.sort((a, b) => b.ns - a.ns);
			times.length = Math.min(times.length, SPANS_SHOWN);
			this.slowest = times.length > 0 ? Math.max(times[0].ns, 1) : 1;
			this.spans.fill(times);
		}
		goTo(item) {
			this.app.select(item.row, "spans");
			this.app.timeline.zoomToSelected();
		}

		/* ---- spans by name */

		makeNames() {
			const number = (title, value, cell, hint) => ({ title, isNumber: true, value, cell, hint });
			const time = (title, of, hint) => number(title, sum => sum[of], sum => duration(sum[of]), hint);
			this.names = new List(
				document.getElementById("names"),
				[
					{
						title: "Span",
						value: sum => sum.name,
						cell: sum =>
							make(
								"button",
								{ type: "button", title: "Show the slowest of them", onclick: () => this.app.goToSpan(sum.slowest) },
								this.patch(sum.number),
								sum.name + (sum.isInferred ? " (inferred)" : "")
							),
					},
					{
						title: "Kind",
						value: sum => sum.what,
						cell: sum => sum.what,
						hint: "what the catalogue calls it, as a paragraph; an operation is reported by one event",
					},
					number(
						"Count",
						sum => sum.count,
						sum => grouped(sum.count)
					),
					time("Total", "total", "their time; in a marked stretch, what of it lies there"),
					time("Self", "self", "their time without that of spans right within them"),
					time("Median", "median"),
					time("p95", "p95", "of 100 of them, 95 take no longer"),
					time("p99", "p99"),
					time("Longest", "longest"),
				],
				{ sort: 3, limit: TALLY_SHOWN, empty: NO_SPANS, caption: "Sums of spans by name" }
			);
		}
		/* The colour that spans of a name have in the timeline. */
		patch(number) {
			const patch = make("i", { class: "patch", "aria-hidden": "true" });
			patch.style.background = this.app.timeline.colourOf(number);
			return patch;
		}

		/* ---- flame graph: what is below another is within it; its width is its part of the time */

		drawFlame() {
			const place = document.getElementById("flame"),
				root = this.app.spans.flame(this.app.stretch);
			if (root.count === 0) {
				place.replaceChildren(make("p", { class: "empty" }, NO_SPANS));
				return;
			}
			/* The path may be of before a filter, or a stretch. */
			let top = root;
			const path = [];
			for (const number of this.flamePath) {
				if (!top.within.has(number)) break;
				top = top.within.get(number);
				path.push(number);
			}
			const boxes = [this.flameBox(root, { path: [], left: 0, width: 1, row: 0, whole: root.total })];
			let around = root;
			path.forEach((number, index) => {
				around = around.within.get(number);
				boxes.push(this.flameBox(around, { path: path.slice(0, index + 1), left: 0, width: 1, row: index + 1, whole: root.total }));
			});
			const deepest = this.addFlames(boxes, top, { path, left: 0, width: 1, row: path.length + 1, whole: root.total });
			const graph = make("div", { class: "flame", role: "list", "aria-label": "Spans within spans" }, ...boxes);
			graph.style.height = (deepest + 1) * FLAME_ROW + "px";
			place.replaceChildren(graph);
		}
		/* Adds the boxes of what is within a node, the longest first; gives the lowest row. */
		addFlames(boxes, node, at) {
			let left = at.left,
				deepest = at.row - 1;
			if (at.row > FLAME_DEPTH) return deepest;
			const nodes = [...node.within.values()].sort((a, b) => b.total - a.total);
			for (const found of nodes) {
				const width = node.total > 0 ? (at.width * found.total) / node.total : 0;
				if (width < FLAME_LEAST) break;
				const place = { ...at, path: [...at.path, found.number], left, width };
				boxes.push(this.flameBox(found, place));
				deepest = Math.max(deepest, this.addFlames(boxes, found, { ...place, row: at.row + 1 }), at.row);
				left += width;
			}
			return deepest;
		}
		flameBox(node, { path, left, width, row, whole }) {
			const name = node.number < 0 ? "All spans" : this.app.spans.names.list[node.number].full;
			const text =
				name +
				": " +
				duration(node.total) +
				", " +
				(whole > 0 ? (100 * node.total) / whole : 0).toFixed(1) +
				" %, " +
				grouped(node.count) +
				(node.count === 1 ? " span" : " spans") +
				(node.isInferred ? ", with ends that are inferred" : "");
			const box = make(
				"button",
				{
					type: "button",
					title: text,
					"aria-label": text,
					onclick: () => {
						this.flamePath = path;
						this.drawFlame();
					},
				},
				name + " " + duration(node.total)
			);
			const item = make("div", { role: "listitem" }, box);
			item.style.left = 100 * left + "%";
			item.style.width = 100 * width + "%";
			item.style.top = row * FLAME_ROW + "px";
			if (node.number >= 0) box.style.background = this.app.timeline.colourOf(node.number);
			return item;
		}

		/* ---- rates: uPlot draws them */

		drawRates() {
			const place = document.getElementById("rates"),
				choice = make(
					"select",
					{
						id: "rates-by",
						"aria-label": "A line for each",
						onchange: event => {
							this.by = event.target.value;
							this.drawRates();
							document.getElementById("rates-by").focus();
						},
					},
					...[
						["level", "by level"],
						["component", "by component"],
						["thread", "by thread"],
					].map(([value, title]) => make("option", { value, selected: value === this.by }, title))
				);
			const chart = make("div", { class: "chart" }),
				{ x, series } = this.countRates();
			if (this.chart) this.chart.destroy();
			place.replaceChildren(
				make(
					"div",
					{ class: "bar" },
					choice,
					make("span", { class: "soft" }, "Events a second in the part that the timeline shows; drag to zoom.")
				),
				chart
			);
			this.chart = new uPlot(this.chartOptions(place, series), [x, ...series.map(found => found.counts)], chart);
			this.chart.root.setAttribute("role", "img");
			this.chart.root.setAttribute(
				"aria-label",
				"Events a second: " + series.map(found => found.name + " at most " + Math.round(Math.max(...found.counts))).join(", ")
			);
		}
		countRates() {
			const { from, to } = this.app.view,
				model = this.model,
				data = model.data,
				seconds = (to - from) / BINS / 1e9;
			const x = new Float64Array(BINS),
				found = new Map();
			for (let i = 0; i < BINS; i++) x[i] = from + ((i + 0.5) * (to - from)) / BINS;
			const keyOf = { level: row => model.levelOf(row), component: row => model.componentOf(row), thread: row => data.threads[row] }[
				this.by
			];
			let index = model.indexOf(lowerBound(data.x, from));
			for (let row; index < model.count && data.x[(row = model.rowAt(index))] <= to; index++) {
				const key = keyOf(row);
				if (!found.has(key)) found.set(key, { key, counts: new Float64Array(BINS), total: 0 });
				const series = found.get(key);
				series.counts[Math.min(Math.floor(((data.x[row] - from) / (to - from)) * BINS), BINS - 1)] += 1 / seconds;
				series.total++;
			}
			const series = [...found.values()].sort((a, b) => b.total - a.total).slice(0, SERIES);
			for (const one of series)
				one.name = {
					level: () => LEVELS[one.key],
					component: () => model.componentNames[one.key],
					thread: () => model.threadFullName(one.key),
				}[this.by]();
			return { x, series };
		}
		chartOptions(place, series) {
			const colours = this.app.timeline.colours,
				hues = HUES[document.documentElement.dataset.theme === "dark" ? "dark" : "light"];
			const axis = {
				stroke: colours.soft,
				grid: { stroke: colours.softLine, width: 1 },
				ticks: { stroke: colours.line, width: 1 },
				font: "11px system-ui, sans-serif",
			};
			const ticks = () => this.app.timeline.ticks(place.clientWidth - 90, 110);
			return {
				width: Math.max(place.clientWidth - 24, 100),
				height: Math.max(place.clientHeight - 88, 80),
				legend: { live: true },
				cursor: { drag: { x: true, y: false, setScale: false } },
				scales: {
					x: { time: false, range: () => [this.app.view.from, this.app.view.to] },
					y: { range: (_, least, most) => [0, Math.max(most || 0, 1) * 1.05] },
				},
				axes: [
					{
						...axis,
						splits: () => ticks().list,
						values: (_, list) => list.map(tick => this.app.timeline.tickText(tick, ticks().step)),
					},
					{
						...axis,
						size: 62,
						values: (_, list) =>
							list.map(tick => (tick >= 1e6 ? tick / 1e6 + " M" : tick >= 1e4 ? tick / 1e3 + " k" : String(tick))),
					},
				],
				series: [
					{ label: "Time", value: (_, value) => (value === null ? "" : this.model.clock(value)) },
					...series.map((one, index) => {
						const stroke = this.by === "level" ? colours.levels[one.key] : hues[index % hues.length];
						return {
							label: one.name,
							stroke,
							width: 1.5,
							fill: series.length === 1 ? stroke + "22" : undefined,
							points: { show: false },
							value: (_, value) => (value === null ? "" : rate(value, 1e9)),
						};
					}),
				],
				hooks: {
					setSelect: [
						chart => {
							if (chart.select.width > 3)
								this.app.timeline.animate(
									chart.posToVal(chart.select.left, "x"),
									chart.posToVal(chart.select.left + chart.select.width, "x")
								);
						},
					],
				},
			};
		}
		resizeChart() {
			const place = document.getElementById("rates");
			if (this.chart && this.open === "rates" && place.clientWidth > 0)
				this.chart.setSize({ width: Math.max(place.clientWidth - 24, 100), height: Math.max(place.clientHeight - 88, 80) });
		}

		/* ---- losses: where events are missing, or bytes could not be read */

		readLosses() {
			const kinds = { damage: "Damaged", lost: "Lost", missing: "Missing", unknown: "Not read", clock: "Clock" },
				notes = this.model.data.about.notes;
			this.notes = notes.map(note => {
				const from = this.model.place(note.from_ns),
					to = this.model.place(note.to_ns);
				const many =
					note.kind === "damage"
						? bytesText(note.bytes)
						: note.events > 0
							? grouped(note.events) + (note.kind === "missing" ? " packets" : " events")
							: "";
				const text = kinds[note.kind] + (many ? " " + many : "") + ": " + plain(note.message || "");
				const process = note.origin >= 0 ? this.model.processName(this.model.data.about.origins[note.origin]) : "";
				return {
					...note,
					process,
					name: kinds[note.kind],
					many,
					text,
					from: from === null ? to : from,
					to: to === null ? from : to,
				};
			});
			const all = this.model.length;
			this.app.timeline.losses = this.notes
				.filter(note => note.from !== null && note.to >= 0 && note.from <= all && note.kind !== "unknown")
				.map(note => ({ ...note, from: Math.max(note.from, 0), to: Math.min(note.to, all) }));
			if (this.notes.length > 0)
				document
					.getElementById("tab-losses")
					.append(make("span", { class: "count" }, grouped(this.notes.length + this.model.data.about.notes_left_out)));
		}
		fillLosses() {
			const known = note => note.from !== null;
			new List(
				document.getElementById("losses"),
				[
					{
						title: "When",
						value: note => (known(note) ? note.from : Infinity),
						cell: note =>
							known(note)
								? make(
										"button",
										{ type: "button", onclick: () => this.goToLoss(note) },
										this.model.clock(note.from, 6) + (note.to > note.from ? " … " + this.model.clock(note.to, 6) : "")
									)
								: "not known",
					},
					{ title: "What", value: note => note.name, cell: note => make("b", { class: "level-3" }, note.name) },
					{ title: "How much", isNumber: true, value: note => note.events + note.bytes, cell: note => note.many },
					{ title: "Why", value: note => note.message || "", cell: note => shown(note.message || "") },
					{ title: "Process", value: note => note.process, cell: note => note.process },
					{
						title: "File",
						value: note => note.path || "",
						cell: note =>
							make(
								"span",
								{ title: plain(note.path || "") },
								plain(note.path || "")
									.split("/")
									.slice(-2)
									.join("/") +
									", offset " +
									note.offset
							),
					},
				],
				{ sort: 0, isRising: true, limit: 2000, empty: "Nothing is lost, missing or damaged.", caption: "Losses and damage" }
			).fill(this.notes);
		}
		goToLoss(note) {
			const margin = note.to > note.from ? 2 * (note.to - note.from) : Math.min(this.model.length / 200, 1e6);
			this.app.timeline.animate(note.from - margin, note.to + margin);
		}
	}

	return { Panels };
})();
