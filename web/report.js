"use strict";
/*
 * report.js - the page as a whole: what is selected, what is shown, and who must hear of it.
 *
 *     report_data.js -> report_model.js -> report_timeline.js | report_overview.js | report_table.js | report_detail.js | report_panels.js
 *
 * One App holds the selected row (-1: none), the part of the trace that is shown, and the filter.  The views ask it for a change
 * (select, setView, narrow); it tells the others.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
(() => {
	const { Model, LEVELS, grouped, duration, parseDuration, parseEvents, plain, bytesText } = ReportModel;
	const { make } = ReportTable;
	const by = id => document.getElementById(id);
	const KEYS = [
		[
			"Timeline",
			[
				["Wheel", "zoom where the pointer is"],
				["Shift + wheel, drag", "move"],
				["Shift + drag", "mark a stretch of time, and sum it"],
				["Drag on the axis", "zoom to that part"],
				["Double click", "zoom to the span, or in"],
				["+  −  W  S", "zoom"],
				["←  →  A  D", "move; with Shift further"],
				["0", "the whole trace"],
				["↑  ↓", "choose a track"],
				["N  P", "next and previous event of the track"],
				["F", "zoom to the selected event"],
				["M", "mark what is seen, and sum it"],
				["Enter", "first event that is seen; fold a group"],
			],
		],
		[
			"Events",
			[
				["↑  ↓  Page  Home  End", "choose an event"],
				["Enter", "to its fields"],
			],
		],
		[
			"Anywhere",
			[
				["/", "search"],
				["Escape", "clear the search; let go of the selection, then of the stretch"],
				["E", "next error; with Shift the one before"],
				["T", "light or dark"],
				["?", "this"],
			],
		],
	];

	class App {
		constructor(data) {
			this.model = new Model(data);
			const margin = this.model.length * 0.01;
			this.all = { from: -margin, to: this.model.length + margin };
			this.view = { ...this.all };
			this.selected = -1;
			this.words = [];
			this.stretch = null; /* { from, to }: what is marked and summed */
			this.spans = new ReportSpans.Spans(this.model);
			this.timeline = new ReportTimeline.Timeline(this);
			this.panels = new ReportPanels.Panels(this);
			this.overview = new ReportOverview.Overview(this);
			this.grid = new ReportTable.EventGrid(this);
			this.detail = new ReportDetail.Detail(this);
			this.fillHead();
			this.fillFilter();
			this.fillDialogs();
			this.listen();
			this.timeline.rebuild();
			this.grid.resize();
			this.tellMatches();
			this.tellRange();
		}

		/* ---- what is selected and shown */

		select(row, from) {
			this.selected = row;
			by("lower").classList.remove("no-detail");
			this.detail.show(row);
			if (from !== "timeline" || !this.model.isShown(row)) this.timeline.showRow(row);
			else this.timeline.reveal(this.model.data.x[row]);
			this.grid.show(row);
			this.grid.setAnchor();
			this.timeline.invalidate();
			const kind = this.model.kindOf(row);
			this.announce(
				this.model.componentNames[kind.component] +
					" " +
					kind.name +
					", " +
					LEVELS[Math.min(kind.level, 4)] +
					", " +
					this.model.clock(this.model.data.time[row], 6) +
					", " +
					this.model.line(row, 200)
			);
		}
		deselect() {
			this.selected = -1;
			by("lower").classList.add("no-detail");
			this.detail.clear();
			this.grid.draw();
			this.timeline.invalidate();
		}
		step(by) {
			const index = this.model.indexOf(this.selected) + by;
			if (index >= 0 && index < this.model.count) this.select(this.model.rowAt(index), "detail");
		}
		stepToError(by) {
			if (!this.stepToLevel(3, 4, by)) this.announce(by > 0 ? "No error behind this" : "No error before this");
		}
		/* To the next event of these levels; false: there is none. */
		stepToLevel(least, most, by) {
			const isWanted = index => {
				const level = this.model.levelOf(this.model.rowAt(index));
				return level >= least && level <= most;
			};
			let index = this.selected < 0 ? (by > 0 ? 0 : this.model.count - 1) : this.model.indexOf(this.selected) + by;
			while (index >= 0 && index < this.model.count && !isWanted(index)) index += by;
			if (index < 0 || index >= this.model.count) return false;
			this.select(this.model.rowAt(index), "detail");
			return true;
		}
		/* From the head: behind the last one comes the first. */
		goToLevel(least, most) {
			this.unfilter(() => {
				if (this.stepToLevel(least, most, 1)) return;
				this.deselect();
				this.stepToLevel(least, most, 1);
			});
		}
		goToSpan(span) {
			this.unfilter(() => {
				this.select(this.model.rowOfSpan(span), "spans");
				this.timeline.zoomToSelected();
			});
		}
		/* Calls action when all events are shown. */
		unfilter(action) {
			if (this.model.rows === null && !this.isFiltering) {
				action();
				return;
			}
			this.after = action;
			by("filter").reset();
		}

		/* ---- a stretch of time that is marked and summed */

		mark(from, to) {
			this.stretch = { from: Math.max(from, 0), to: Math.min(to, this.model.length) };
			this.tellStretch();
			this.panels.stretchChanged();
			if (!/^(tally|names|flame)$/.test(this.panels.open)) this.showPanel(this.model.data.spans.count > 0 ? "names" : "tally");
			this.timeline.invalidate();
		}
		unmark() {
			this.stretch = null;
			this.tellStretch();
			this.panels.stretchChanged();
			this.timeline.invalidate();
		}
		/* "1.2 ms marked: 34 events, 1 error, 12 spans" */
		tellStretch() {
			by("stretch").hidden = this.stretch === null;
			if (this.stretch === null) return;
			const { from, to } = this.stretch,
				[first, last] = this.model.between(from, to);
			let errors = 0,
				spans = 0;
			for (let i = first; i < last; i++) errors += this.model.levelOf(this.model.rowAt(i)) >= 3;
			this.spans.each(this.stretch, () => spans++);
			const many = (count, one) => grouped(count) + " " + one + (count === 1 ? "" : "s");
			by("stretch-text").textContent =
				duration(to - from) + " marked: " + many(last - first, "event") + ", " + many(errors, "error") + ", " + many(spans, "span");
		}
		clamp(from, to) {
			const width = Math.min(Math.max(to - from, this.timeline.least), this.all.to - this.all.from);
			if (to - from !== width) {
				const middle = (from + to) / 2;
				from = middle - width / 2;
			}
			from = Math.min(Math.max(from, this.all.from), this.all.to - width);
			return { from, to: from + width };
		}
		setView(from, to) {
			this.view = this.clamp(from, to);
			this.timeline.aim = null;
			this.timeline.invalidate();
			this.overview.draw();
			this.panels.viewChanged();
			this.tellRange();
		}
		viewAll() {
			this.timeline.animate(this.all.from, this.all.to);
		}
		rangeText() {
			const digits = this.view.to - this.view.from > 1e10 ? 3 : this.view.to - this.view.from > 1e6 ? 6 : 9;
			return (
				this.model.clock(this.view.from, digits) +
				" to " +
				this.model.clock(this.view.to, digits) +
				", " +
				duration(this.view.to - this.view.from)
			);
		}
		tellRange() {
			by("range").textContent = this.rangeText();
		}
		announce(text) {
			by("announce").textContent = text;
		}
		showPanel(name) {
			this.panels.show(name);
		}

		/* ---- the filter */

		fillFilter() {
			const model = this.model,
				about = model.data.about,
				option = (value, text) => make("option", { value }, text);
			const sorted = list => list.sort((a, b) => a[1].localeCompare(b[1], "en", { numeric: true }));
			by("f-component").append(
				option(-1, "All"),
				...sorted(model.componentNames.map((name, index) => [index, name]))
					.slice(0, 2000)
					.map(([index, name]) => option(index, name))
			);
			by("f-level").append(
				option(0, "All"),
				...LEVELS.slice(1, 4).map((name, index) => option(index + 1, name + " and above")),
				option(4, "FATAL")
			);
			by("f-thread").append(
				option(-1, "All"),
				...sorted(about.threads.map((_, index) => [index, model.threadFullName(index)]))
					.slice(0, 2000)
					.map(([index, name]) => option(index, name))
			);
			by("event-names").append(
				...[...new Set(model.classes.map(kind => kind.name))].slice(0, 500).map(name => make("option", { value: name }))
			);
			by("legend").append(
				...LEVELS.map((name, level) => make("li", null, make("i", { class: "swatch-" + level }), name)),
				make("li", null, make("i", { class: "swatch-loss" }), "LOSS")
			);
			for (const id of ["f-text", "f-event", "f-duration"]) by(id).addEventListener("input", () => this.filterSoon());
			for (const id of ["f-component", "f-level", "f-thread"]) by(id).addEventListener("change", () => this.filter());
			by("filter").addEventListener("submit", event => event.preventDefault());
			by("filter").addEventListener("reset", () => setTimeout(() => this.filter()));
		}
		filterSoon() {
			clearTimeout(this.soon);
			this.soon = setTimeout(() => this.filter(), 160);
		}
		filter() {
			clearTimeout(this.soon);
			const text = by("f-text").value.trim(),
				wanted = by("f-duration").value.trim(),
				least = wanted === "" ? null : parseDuration(wanted);
			by("f-duration").classList.toggle("wrong", wanted !== "" && least === null);
			by("f-duration").setAttribute("aria-invalid", String(wanted !== "" && least === null));
			for (const [id, none] of [
				["f-text", ""],
				["f-event", ""],
				["f-duration", ""],
				["f-component", "-1"],
				["f-level", "0"],
				["f-thread", "-1"],
			])
				by(id).classList.toggle("set", by(id).value !== none);
			this.words = text === "" ? [] : text.split(/\s+/);
			this.isFiltering = true;
			this.model.filter(
				{
					text,
					component: Number(by("f-component").value),
					level: Number(by("f-level").value),
					thread: Number(by("f-thread").value),
					events: parseEvents(by("f-event").value),
					duration: least,
				},
				part => (by("matches").textContent = "Searching, " + Math.floor(100 * part) + " %"),
				() => this.filtered()
			);
		}
		filtered() {
			this.isFiltering = false;
			this.timeline.rebuild();
			this.overview.count();
			this.grid.refit();
			if (this.selected >= 0 && this.model.isShown(this.selected)) this.grid.show(this.selected);
			if (this.selected >= 0) this.detail.show(this.selected);
			this.panels.filterChanged();
			this.tellMatches();
			this.tellStretch();
			const after = this.after;
			this.after = null;
			if (after) after();
		}
		tellMatches() {
			const all = this.model.data.count;
			by("matches").textContent =
				this.model.rows === null ? grouped(all) + " events" : grouped(this.model.count) + " of " + grouped(all) + " events";
		}
		narrow({ component, event }) {
			by("f-component").value = String(component);
			by("f-event").value = event || "";
			this.filter();
			this.showPanel("events");
		}

		/* ---- the head */

		fillHead() {
			const about = this.model.data.about,
				count = this.model.data.count,
				totals = about.totals;
			const names = about.paths.map(
				path =>
					path
						.split("/")
						.filter(part => part !== "")
						.pop() || path
			);
			const title =
				about.title ||
				(names.length === 0
					? "Live processes"
					: names.slice(0, 3).join(", ") + (names.length > 3 ? " and " + (names.length - 3) + " more" : ""));
			by("title").textContent = plain(title);
			by("title").title = plain(title);
			document.title = plain(title) + " – ctrace report";
			const hosts = new Set(about.origins.map(origin => origin.host).filter(host => host !== ""));
			const fact = (number, text, isBad) => make("li", { class: isBad ? "bad" : null }, make("b", null, number), " " + text);
			const many = (number, one, more) => fact(grouped(number), number === 1 ? one : more || one + "s");
			by("facts").append(
				many(count, "event"),
				many(about.components.length, "component"),
				many(about.origins.length, "process", "processes"),
				many(about.threads.length, "thread")
			);
			if (hosts.size > 0)
				by("facts").append(
					hosts.size === 1 ? make("li", null, "on ", make("b", null, plain([...hosts][0]))) : many(hosts.size, "host")
				);
			if (count > 0)
				by("facts").append(
					make(
						"li",
						null,
						this.model.date(0) + " ",
						make("b", null, this.model.clock(0, 3)),
						" for ",
						make("b", null, duration(this.model.data.x[count - 1]))
					)
				);
			this.fillVerdict(totals);
			this.fillWarnings();
		}
		/* What is wrong, and what took longest; each goes there. */
		fillVerdict(totals) {
			const counts = new Float64Array(5),
				data = this.model.data,
				slowest = this.spans.slowest();
			for (let row = 0; row < data.count; row++) counts[this.model.levelOf(row)]++;
			const link = (style, number, one, action) =>
				by("verdict").append(
					make(
						"li",
						null,
						make(
							"button",
							{ type: "button", class: style, onclick: action },
							make("b", null, grouped(number)),
							" " + (number === 1 ? one : one + "s")
						)
					)
				);
			const errors = counts[3] + counts[4];
			if (errors > 0) link("level-3", errors, "error", () => this.goToLevel(3, 4));
			else if (data.count > 0) by("verdict").append(make("li", { class: "soft" }, "no errors"));
			if (counts[2] > 0) link("level-2", counts[2], "warning", () => this.goToLevel(2, 2));
			if (totals.discarded > 0) link("bad", totals.discarded, "lost event", () => this.showPanel("losses"));
			if (totals.damages > 0) link("bad", totals.damages, "damaged place", () => this.showPanel("losses"));
			if (slowest < 0) return;
			by("verdict").append(
				make(
					"li",
					null,
					make(
						"button",
						{ type: "button", id: "slowest", onclick: () => this.goToSpan(slowest) },
						"slowest ",
						make("b", null, duration(data.spans.end[slowest] - data.spans.start[slowest])),
						" " + this.spans.fullName(slowest)
					)
				)
			);
		}
		fillWarnings() {
			const { counts, notes_left_out: left } = this.model.data.about,
				list = [];
			if (counts.is_full)
				list.push(
					"This page holds the last " +
						grouped(counts.events) +
						" events, from " +
						this.model.clock(0, 6) +
						" on; the trace begins earlier. A filter, --since or --limit choose others."
				);
			if (counts.left_out > 0)
				list.push(
					grouped(counts.left_out) + " events are not in this page: their threads or kinds are more than it can tell apart."
				);
			if (counts.without_items > 0)
				list.push(
					"The last " + grouped(counts.without_items) + " events are here without their items: those before took all the room."
				);
			if (counts.without_records > 0) list.push(grouped(counts.without_records) + " records are here as bytes only.");
			if (left > 0) list.push(grouped(left) + " more places of loss and damage are not listed.");
			by("warnings").append(...list.map(text => make("li", null, text)));
		}

		/* ---- dialogs */

		fillDialogs() {
			by("help-body").append(
				...KEYS.flatMap(([title, keys]) => [
					make("h3", null, title),
					make(
						"table",
						{ class: "list" },
						make(
							"tbody",
							null,
							...keys.map(([key, what]) => make("tr", null, make("td", null, make("kbd", null, key)), make("td", null, what)))
						)
					),
				])
			);
			const about = this.model.data.about,
				table = (title, heads, rows) => [
					make("h3", null, title),
					make(
						"table",
						{ class: "list" },
						make("thead", null, make("tr", null, ...heads.map(head => make("th", { scope: "col" }, make("span", null, head))))),
						make("tbody", null, ...rows.map(row => make("tr", null, ...row.map(cell => make("td", null, cell)))))
					),
				];
			const { totals } = about,
				made = this.model.partsOf(BigInt(about.made_ns || 0));
			by("about-body").append(
				make(
					"p",
					{ class: "soft" },
					"Made by ctrace " +
						about.version +
						" on " +
						made.date +
						" at " +
						made.minute +
						". " +
						grouped(totals.events) +
						" events were read, " +
						grouped(totals.discarded) +
						" had been lost before, " +
						bytesText(totals.damaged_bytes) +
						" in " +
						grouped(totals.damages) +
						" places could not be read."
				),
				...(about.paths.length > 0
					? table(
							"Read from",
							["Path"],
							about.paths.map(path => [plain(path)])
						)
					: []),
				...table(
					"Processes",
					["Program", "Process", "Job", "ASID", "Host", "Trace"],
					about.origins
						.slice(0, 500)
						.map(origin => [
							plain(origin.program),
							String(origin.pid || ""),
							plain(origin.jobname),
							origin.asid ? origin.asid.toString(16).toUpperCase().padStart(4, "0") : "",
							plain(origin.host),
							plain(origin.path),
						])
				),
				...table(
					"Components",
					["Name", "Description"],
					about.components.slice(0, 500).map(component => [plain(component.name), plain(component.description)])
				)
			);
		}

		/* ---- everything that is pressed */

		listen() {
			by("by-component").addEventListener("click", () => this.group(false));
			by("by-thread").addEventListener("click", () => this.group(true));
			by("zoom-in").addEventListener("click", () => this.timeline.zoom(0.5, undefined, true));
			by("zoom-out").addEventListener("click", () => this.timeline.zoom(2, undefined, true));
			by("zoom-all").addEventListener("click", () => this.viewAll());
			by("stretch-zoom").addEventListener("click", () => this.timeline.animate(this.stretch.from, this.stretch.to));
			by("stretch-clear").addEventListener("click", () => this.unmark());
			by("about-open").addEventListener("click", () => by("about").showModal());
			by("help-open").addEventListener("click", () => by("help").showModal());
			by("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
			by("clock").addEventListener("click", () => this.setClock(!this.model.isUtc));
			document.addEventListener("themechange", () => this.themeChanged());
			document.addEventListener("keydown", event => this.key(event));
			this.setClock(false);
			makeSplit(by("split-h"), "--top", () => by("main").getBoundingClientRect(), true);
			makeSplit(by("split-v"), "--left", () => document.querySelector(".lower").getBoundingClientRect(), false);
		}
		group(byThread) {
			this.timeline.byThread = byThread;
			by("by-component").setAttribute("aria-pressed", String(!byThread));
			by("by-thread").setAttribute("aria-pressed", String(byThread));
			this.timeline.rebuild();
		}
		setClock(isUtc) {
			this.model.isUtc = isUtc;
			by("clock").textContent = isUtc ? "UTC" : "Local time";
			by("clock").setAttribute("aria-pressed", String(isUtc));
			this.grid.draw();
			if (this.selected >= 0) this.detail.show(this.selected);
			this.timeline.invalidate();
			this.tellRange();
			this.panels.themeChanged();
		}
		themeChanged() {
			this.timeline.readColours();
			this.overview.draw();
			this.panels.themeChanged();
		}
		key(event) {
			const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
			if (event.key === "Escape" && isTyping) {
				by("filter").reset();
				event.target.blur();
			} else if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
				if (this.selected >= 0) this.deselect();
				else if (this.stretch) this.unmark();
			} else if (!isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
				const action = {
					"/": () => by("f-text").focus(),
					"?": () => by("help").showModal(),
					t: () => by("theme").click(),
					T: () => by("theme").click(),
					e: () => this.stepToError(1),
					E: () => this.stepToError(-1),
				}[event.key];
				if (document.querySelector("dialog[open]") || event.defaultPrevented) return;
				if (action) {
					event.preventDefault();
					action();
				} else if (isForTimeline(event)) {
					this.timeline.key(event);
				}
			}
		}
	}

	/* Keys of the timeline work wherever what has the focus has no use for them: letters anywhere, arrows and the like when nothing has it. */
	function isForTimeline(event) {
		if (event.target.closest("#canvas, #overview")) return false; /* they have had it */
		return event.target === document.body || (event.key.length === 1 && event.key !== " ");
	}

	/* ---- splitters: dragged, or moved by arrow keys */

	function makeSplit(split, property, box, isDown) {
		const least = Number(split.getAttribute("aria-valuemin")),
			most = Number(split.getAttribute("aria-valuemax"));
		const set = percent => {
			percent = Math.max(least, Math.min(most, percent));
			document.documentElement.style.setProperty(property, percent + "%");
			split.setAttribute("aria-valuenow", String(Math.round(percent)));
		};
		split.addEventListener("pointerdown", event => {
			split.setPointerCapture(event.pointerId);
			split.onpointermove = move => {
				const frame = box();
				set(isDown ? (100 * (move.clientY - frame.top)) / frame.height : (100 * (move.clientX - frame.left)) / frame.width);
			};
		});
		split.addEventListener("pointerup", () => (split.onpointermove = null));
		split.addEventListener("keydown", event => {
			const by = { ArrowUp: -2, ArrowLeft: -2, ArrowDown: 2, ArrowRight: 2 }[event.key];
			if (by === undefined) return;
			event.preventDefault();
			set(Number(split.getAttribute("aria-valuenow")) + by);
		});
	}

	/* ---- light and dark: as the system says, until the button is pressed */

	const darkness = matchMedia("(prefers-color-scheme: dark)");
	let isChosen = false;

	function setTheme(theme, isSystem) {
		isChosen = isChosen || !isSystem;
		document.documentElement.dataset.theme = theme;
		by("theme").textContent = theme === "dark" ? "Light" : "Dark";
		by("theme").setAttribute("aria-label", "Change to " + (theme === "dark" ? "light" : "dark") + " colours");
		document.dispatchEvent(new Event("themechange"));
	}
	darkness.addEventListener("change", () => isChosen || setTheme(darkness.matches ? "dark" : "light", true));

	async function start() {
		setTheme(darkness.matches ? "dark" : "light", true);
		try {
			if (!window.DecompressionStream) throw new Error("this browser is too old for it (no DecompressionStream)");
			const data = await ReportData.load();
			by("app").hidden = false;
			window.ctraceReport = new App(data);
			by("loading").remove();
		} catch (error) {
			by("app").hidden = true;
			by("loading").classList.add("failed");
			by("loading-text").textContent = "The report cannot be shown: " + error.message;
			throw error;
		}
	}
	start();
})();
