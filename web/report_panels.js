"use strict";
/*
 * report_panels.js - the other lists: tally, slowest spans, rates, losses.
 *
 * Each is made when its tab is seen, and again when what it shows has changed.  Tally and spans are of the events that the filter shows; the rates are
 * of the part that the timeline shows.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
const ReportPanels = (() => {
	const { LEVELS, grouped, duration, bytesText, plain, shown, lowerBound } = ReportModel;
	const { List, make } = ReportTable;
	const SPANS_SHOWN = 500,
		TALLY_SHOWN = 2000,
		BINS = 300,
		SERIES = 8;
	const HUES = {
		light: ["#2458d6", "#0f8a6d", "#c46a00", "#a23bb5", "#5a8a12", "#c9302c", "#0e86b0", "#8a6d3b"],
		dark: ["#7aa7ff", "#3fcfae", "#f0ad2e", "#d77bea", "#a5d65a", "#ff8078", "#55c4ee", "#d0b27e"],
	};

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
			this.isOld = { tally: true, spans: true, rates: true, losses: true };
			this.by = "level";
			this.tabs = [...document.querySelectorAll("[role=tab]")];
			for (const tab of this.tabs) {
				tab.addEventListener("click", () => this.show(tab.id.slice(4)));
				tab.addEventListener("keydown", event => this.key(event));
			}
			this.makeTally();
			this.makeSpans();
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
			this.isOld.tally = this.isOld.spans = this.isOld.rates = true;
			this.refresh();
		}
		viewChanged() {
			this.isOld.rates = true;
			clearTimeout(this.soon);
			if (this.open === "rates") this.soon = setTimeout(() => this.refresh(), 60);
		}
		themeChanged() {
			this.isOld.rates = true;
			this.refresh();
		}
		refresh() {
			if (!this.isOld[this.open]) return;
			this.isOld[this.open] = false;
			({
				tally: () => this.fillTally(),
				spans: () => this.fillSpans(),
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
			const time = (title, value, hint) => number(title, value, row => (row.times.length > 0 ? duration(value(row)) : ""), hint);
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
						row => rate(row.count, this.model.length),
						"over the whole trace"
					),
					number(
						"Data",
						row => row.bytes,
						row => bytesText(row.bytes),
						"of their items"
					),
					number(
						"Spans",
						row => row.times.length,
						row => (row.times.length > 0 ? grouped(row.times.length) : "")
					),
					time("Total", row => row.total),
					time("Median", row => row.median),
					time("p95", row => row.p95),
					time("p99", row => row.p99),
					time("Longest", row => row.longest),
				],
				{ sort: 3, limit: TALLY_SHOWN, empty: "Nothing to count.", caption: "Events by component and kind" }
			);
		}
		meter(share) {
			const bar = make("i");
			bar.style.width = 100 * share + "%";
			return make("span", { class: "meter", "aria-hidden": "true" }, bar);
		}
		fillTally() {
			const rows = this.countRows();
			this.addSpanTimes(rows);
			const list = [...rows.values()],
				most = Math.max(...list.map(row => row.count), 1);
			for (const row of list) {
				row.share = row.count / most;
				row.times.sort();
				const at = part =>
					row.times.length > 0 ? row.times[Math.min(Math.floor(row.times.length * part), row.times.length - 1)] : 0;
				Object.assign(row, {
					median: at(0.5),
					p95: at(0.95),
					p99: at(0.99),
					longest: at(1),
					total: row.times.reduce((sum, ns) => sum + ns, 0),
				});
			}
			this.tally.fill(list);
		}
		countRows() {
			const model = this.model,
				data = model.data,
				rows = new Map();
			const counts = new Uint32Array(model.classes.length),
				bytes = new Float64Array(model.classes.length);
			for (let i = 0; i < model.count; i++) {
				const row = model.rowAt(i),
					number = data.classes[row];
				counts[number]++;
				bytes[number] += ReportData.sizeOf(data, row);
			}
			model.classes.forEach((kind, number) => {
				if (counts[number] === 0) return;
				const key = this.keyOf(kind);
				if (!rows.has(key))
					rows.set(key, {
						component: model.componentNames[kind.component],
						number: kind.component,
						id: kind.id,
						name: kind.name,
						level: 0,
						count: 0,
						bytes: 0,
						times: [],
					});
				const row = rows.get(key);
				row.count += counts[number];
				row.bytes += bytes[number];
				row.level = Math.max(row.level, Math.min(kind.level, 4));
			});
			return rows;
		}
		keyOf(kind) {
			return kind.component + " " + kind.id;
		}
		addSpanTimes(rows) {
			const times = new Map();
			this.eachSpan((span, ns, row) => {
				const key = this.keyOf(this.model.kindOf(row));
				if (!times.has(key)) times.set(key, []);
				times.get(key).push(ns);
			});
			for (const [key, list] of times) rows.get(key).times = Float64Array.from(list);
		}
		/* Of those that have ended and are shown. */
		eachSpan(visit) {
			const model = this.model,
				spans = model.data.spans;
			for (let span = 0; span < spans.count; span++) {
				const row = model.rowOfSpan(span);
				if (spans.last[span] >= 0 && (model.rows === null || model.isShown(row)))
					visit(span, spans.end[span] - spans.start[span], row);
			}
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
						value: item => model.kindOf(item.row).name,
						cell: item => make("button", { type: "button", onclick: () => this.goTo(item) }, model.kindOf(item.row).name),
					},
					{
						title: "Component",
						value: item => model.componentNames[model.componentOf(item.row)],
						cell: item => model.componentNames[model.componentOf(item.row)],
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
					empty: "No spans: they are where a catalogue pairs an event with the one that ends it.",
					caption: "Spans that took longest",
				}
			);
		}
		fillSpans() {
			const times = [];
			let least = -1;
			this.eachSpan((span, ns, row) => {
				if (ns <= least) return;
				times.push({ span, ns, row });
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
