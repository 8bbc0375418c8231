"use strict";
/*
 * report_timeline.js - the tracks: a canvas that shows any number of events and spans in the time that its pixels take.
 *
 * Levels of detail are not kept but asked for: each pixel of a lane is a range of its events, found by two binary searches in their times, and what
 * stands in the range by the lane's sums of levels; spans narrower than a pixel are stepped over by searching for the first behind it.  So a
 * frame costs lanes that are seen * pixels * log(events).  Why no library: docs/decisions/016-the-report-page.md.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
const ReportTimeline = (() => {
	const { LEVELS, grouped, duration, lowerBound, lowerBoundRow } = ReportModel;
	const AXIS = 24,
		GUTTER = 196,
		GROUP = 24,
		STRIP = 18,
		TALL = 46,
		SPAN = 16,
		PAD = 4,
		DEPTHS = 12;
	const NARROW = 1.3; /* pixels: spans below are drawn as one run */
	const NEAR = 5; /* pixels: so far beside an event it is still hit */
	const LEAST_NS = 20; /* of a view */
	const ANIMATION_MS = 140;
	/* From yellow-green to cyan only: every other hue is a level's. */
	const LIGHT = ["#8fd6b4", "#c3dd84", "#83cdd0", "#a3cf83", "#b9e3d6", "#d5e8b4", "#5fb597", "#9dbb8f"];
	const DARK = ["#2a7a5c", "#5c7a27", "#217078", "#3f7a2c", "#3f6f66", "#48602c", "#1c5b4b", "#4d6a43"];

	/* Steps of the axis, in nanoseconds. */
	function stepsOf() {
		const steps = [];
		for (let power = 1; power < 1e9; power *= 10) steps.push(power, 2 * power, 5 * power);
		for (const seconds of [
			1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000, 31536000,
		])
			steps.push(seconds * 1e9);
		return steps;
	}
	const STEPS = stepsOf();

	class Timeline {
		constructor(app) {
			this.app = app;
			this.model = app.model;
			this.scroller = document.getElementById("tracks");
			this.space = document.getElementById("tracks-space");
			this.canvas = document.getElementById("canvas");
			this.tip = document.getElementById("tip");
			this.context = this.canvas.getContext("2d");
			this.byThread = true; /* spans of several components are within each other there */
			this.folded = new Set();
			this.focused = 0; /* index of a line in layout */
			this.hover = null;
			this.drag = null;
			this.frames = 0; /* drawn so far: tests look at it */
			this.isDue = false;
			this.losses = [];
			this.listen();
			new ResizeObserver(() => this.resize()).observe(this.scroller);
			this.readColours();
		}

		/* ---- what there is to draw */

		readColours() {
			const style = getComputedStyle(document.documentElement),
				of = name => style.getPropertyValue("--" + name).trim();
			this.colours = {
				panel: of("panel"),
				sunk: of("sunk"),
				line: of("line"),
				softLine: of("line-soft"),
				text: of("text"),
				soft: of("soft"),
				accent: of("accent"),
				accentSoft: of("accent-soft"),
				loss: of("loss"),
				lossSoft: of("loss-soft"),
				focus: of("focus"),
				levels: LEVELS.map((_, level) => of("level-" + level)),
				spans: document.documentElement.dataset.theme === "dark" ? DARK : LIGHT,
			};
			this.invalidate();
		}
		rebuild() {
			this.groups = this.model.tracks(this.byThread, row => this.app.spans.itemOf(row));
			this.layOut();
		}
		/* Where there is room to spare, events get more of it. */
		layOut() {
			const lanes = this.groups.filter(group => !this.folded.has(group.key)).reduce((sum, group) => sum + group.lanes.length, 0);
			this.strip = STRIP;
			const spare = (this.height || 0) - AXIS - this.stack();
			this.strip = Math.max(STRIP, Math.min(TALL, STRIP + Math.floor(spare / Math.max(lanes, 1))));
			this.space.style.height = AXIS + this.stack() + "px";
			this.focused = Math.min(this.focused, Math.max(this.lines.length - 1, 0));
			this.invalidate();
		}
		/* Makes the lines, one below the other; gives their height. */
		stack() {
			const lines = [];
			let y = 0;
			for (const group of this.groups) {
				const isFolded = this.folded.has(group.key);
				lines.push({ group, lane: null, y, height: GROUP, isFolded });
				y += GROUP;
				if (isFolded) continue;
				for (const lane of group.lanes) {
					const height = Math.max(this.strip + Math.min(lane.depths.length, DEPTHS) * SPAN + PAD, lane.detail ? 34 : 0);
					lines.push({ group, lane, y, height });
					y += height;
				}
			}
			this.lines = lines;
			return y;
		}
		resize() {
			this.width = this.scroller.clientWidth;
			this.height = this.scroller.clientHeight;
			this.ratio = window.devicePixelRatio || 1;
			this.canvas.width = Math.round(this.width * this.ratio);
			this.canvas.height = Math.round(this.height * this.ratio);
			this.canvas.style.height = this.height + "px";
			if (this.app.overview) this.app.overview.count(); /* it is as wide */
			if (this.groups) this.layOut();
			this.invalidate();
		}
		get plot() {
			return Math.max(this.width - GUTTER, 10);
		}
		pixelOf(x) {
			return GUTTER + ((x - this.app.view.from) / (this.app.view.to - this.app.view.from)) * this.plot;
		}
		timeOf(pixel) {
			return this.app.view.from + ((pixel - GUTTER) / this.plot) * (this.app.view.to - this.app.view.from);
		}

		/* ---- drawing */

		invalidate() {
			if (this.isDue) return;
			this.isDue = true;
			requestAnimationFrame(() => {
				this.isDue = false;
				this.draw();
			});
		}
		draw() {
			if (!this.lines || !this.width) return;
			const begun = performance.now();
			const context = this.context,
				top = this.scroller.scrollTop;
			context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
			context.fillStyle = this.colours.panel;
			context.fillRect(0, 0, this.width, this.height);
			context.textBaseline = "middle";
			const ticks = this.ticks();
			this.drawGrid(ticks);
			context.save();
			context.beginPath();
			context.rect(0, AXIS, this.width, this.height - AXIS);
			context.clip();
			for (let i = 0; i < this.lines.length; i++) {
				const line = this.lines[i],
					y = AXIS + line.y - top;
				if (y > this.height) break;
				if (y + line.height > AXIS) this.drawLine(line, y, i === this.focused);
			}
			this.drawCursor();
			context.restore();
			this.drawAxis(ticks);
			this.drawLossMarks();
			this.frames++;
			this.frameMs = performance.now() - begun;
		}
		/* Round times, so many pixels apart. */
		ticks(width = this.plot, apart = 96) {
			const { from, to } = this.app.view,
				least = ((to - from) / width) * apart;
			const step = STEPS.find(found => found >= least) || STEPS[STEPS.length - 1];
			/* On round times of the clock, of the place where the page is read. */
			const shift = this.model.isUtc ? 0 : -new Date(Number(this.model.instant(from) / 1000000n)).getTimezoneOffset() * 60e9;
			const phase = Number((this.model.base + BigInt(Math.round(shift))) % BigInt(step));
			const list = [];
			for (let x = Math.ceil((from + phase) / step) * step - phase; x <= to && list.length < 200; x += step) list.push(x);
			return { list, step };
		}
		drawGrid({ list }) {
			const context = this.context;
			context.fillStyle = this.colours.softLine;
			for (const x of list) context.fillRect(Math.round(this.pixelOf(x)), AXIS, 1, this.height - AXIS);
		}
		drawAxis({ list, step }) {
			const context = this.context;
			context.fillStyle = this.colours.panel;
			context.fillRect(0, 0, this.width, AXIS);
			context.fillStyle = this.colours.line;
			context.fillRect(0, AXIS - 1, this.width, 1);
			context.fillRect(GUTTER - 1, 0, 1, this.height);
			context.font = "11px system-ui, sans-serif";
			context.fillStyle = this.colours.soft;
			context.fillText(
				this.model.date(this.app.view.from) + (step < 60e9 ? "  " + this.model.clock(this.app.view.from, 0).slice(0, 5) : ""),
				14,
				AXIS / 2
			);
			context.fillStyle = this.colours.text;
			for (const x of list) {
				const pixel = this.pixelOf(x);
				if (pixel < GUTTER + 2) continue;
				context.fillText(this.tickText(x, step), pixel + 4, AXIS / 2);
				context.fillRect(Math.round(pixel), AXIS - 7, 1, 6);
			}
		}
		/* What of the clock changes from tick to tick; the corner says the rest. */
		tickText(x, step) {
			const clock = this.model.clock(x, step >= 1e9 ? 0 : step >= 1e6 ? 3 : step >= 1e3 ? 6 : 9);
			return step >= 86400e9 ? this.model.date(x) : step >= 60e9 ? clock.slice(0, 5) : step >= 1e9 ? clock.slice(3) : clock.slice(6);
		}
		drawLine(line, y, isFocused) {
			const context = this.context;
			if (line.lane) {
				if (isFocused) {
					context.fillStyle = this.colours.accentSoft;
					context.globalAlpha = 0.45;
					context.fillRect(0, y, this.width, line.height);
					context.globalAlpha = 1;
				}
				this.drawLane(line.lane, y, line.height);
				this.drawLaneLosses(line, y);
			} else {
				context.fillStyle = this.colours.sunk;
				context.fillRect(0, y, this.width, line.height);
				if (line.isFolded) for (const lane of line.group.lanes.slice(0, 64)) this.drawEvents(lane, y + 3, GROUP - 6);
			}
			this.drawLabel(line, y, isFocused);
		}
		drawLabel(line, y, isFocused) {
			const context = this.context;
			context.fillStyle = line.lane ? this.colours.panel : this.colours.sunk;
			context.fillRect(0, y, GUTTER - 1, line.height);
			if (isFocused) {
				context.fillStyle = this.colours.accent;
				context.fillRect(0, y, 3, line.height);
			}
			if (line.lane) {
				this.drawText(line.lane.label, 26, y + STRIP / 2 + 1, GUTTER - 88, this.colours.text, "11.5px system-ui, sans-serif");
				this.drawText(line.lane.detail, 26, y + STRIP / 2 + 15, GUTTER - 34, this.colours.soft, "10.5px system-ui, sans-serif");
				this.drawCount(line.lane.rows.length, y + STRIP / 2 + 1);
				return;
			}
			context.fillStyle = this.colours.soft;
			context.beginPath();
			const middle = y + GROUP / 2;
			if (line.isFolded) {
				context.moveTo(13, middle - 4);
				context.lineTo(19, middle);
				context.lineTo(13, middle + 4);
			} else {
				context.moveTo(12, middle - 3);
				context.lineTo(20, middle - 3);
				context.lineTo(16, middle + 3);
			}
			context.fill();
			this.drawText(line.group.name, 26, middle, GUTTER - 82, this.colours.text, "600 12px system-ui, sans-serif");
			this.drawCount(line.group.count, middle);
		}
		drawCount(count, y) {
			const context = this.context;
			context.font = "11px system-ui, sans-serif";
			context.fillStyle = this.colours.soft;
			context.textAlign = "right";
			context.fillText(grouped(count), GUTTER - 9, y);
			context.textAlign = "left";
		}
		drawText(text, x, y, room, colour, font) {
			const context = this.context;
			context.font = font;
			context.fillStyle = colour;
			if (context.measureText(text).width > room) {
				let size = Math.min(text.length, Math.ceil(room / 3));
				while (size > 0 && context.measureText(text.slice(0, size) + "…").width > room) size--;
				if (size < 2) return;
				text = text.slice(0, size) + "…";
			}
			context.fillText(text, x, y);
		}
		drawLane(lane, y, height) {
			const context = this.context;
			this.drawEvents(lane, y + 2, this.strip - 4);
			for (let i = 0; i < lane.depths.length && i < DEPTHS; i++) this.drawSpans(lane.depths[i], y + this.strip + i * SPAN);
			context.fillStyle = this.colours.softLine;
			context.fillRect(GUTTER, y + height - 1, this.plot, 1);
		}

		/* For each pixel how many events of each level, level by level. */
		bins(lane) {
			const width = Math.ceil(this.plot),
				bins = this.room(width * 5),
				x = this.model.data.x,
				rows = lane.rows;
			const first = lowerBoundRow(rows, x, this.app.view.from),
				last = lowerBoundRow(rows, x, this.app.view.to, first);
			if (last - first <= width * 4) {
				const scale = this.plot / (this.app.view.to - this.app.view.from);
				for (let i = first; i < last; i++) {
					const pixel = Math.min(Math.floor((x[rows[i]] - this.app.view.from) * scale), width - 1);
					bins[pixel * 5 + this.model.levelOf(rows[i])]++;
				}
				return bins;
			}
			const counts = [0, 0, 0, 0, 0];
			for (let pixel = 0, index = first; pixel < width && index < last; pixel++) {
				const next = lowerBoundRow(rows, x, this.timeOf(GUTTER + pixel + 1), index, last);
				if (next === index) continue;
				counts.fill(0);
				this.model.addBefore(lane, next, counts, 1);
				this.model.addBefore(lane, index, counts, -1);
				for (let level = 0; level < 5; level++) bins[pixel * 5 + level] = counts[level];
				index = next;
			}
			return bins;
		}
		room(size) {
			if (!this.scratch || this.scratch.length < size) this.scratch = new Uint32Array(size);
			this.scratch.fill(0, 0, size);
			return this.scratch;
		}
		drawEvents(lane, y, height) {
			const context = this.context,
				width = Math.ceil(this.plot),
				bins = this.bins(lane);
			const total = pixel =>
				pixel < 0 || pixel >= width
					? 0
					: bins[pixel * 5] + bins[pixel * 5 + 1] + bins[pixel * 5 + 2] + bins[pixel * 5 + 3] + bins[pixel * 5 + 4];
			let most = 1;
			for (let pixel = 0; pixel < width; pixel++) most = Math.max(most, total(pixel));
			const paths = LEVELS.map(() => new Path2D());
			for (let pixel = 0; pixel < width; pixel++) {
				const sum = total(pixel);
				if (sum === 0) continue;
				const isAlone = total(pixel - 1) === 0 && total(pixel + 1) === 0;
				const full = most === 1 ? height : 5 + ((height - 5) * Math.log(sum + 1)) / Math.log(most + 1);
				this.addBar(paths, bins, pixel, sum, {
					x: GUTTER + pixel - (isAlone ? 0.5 : 0),
					width: isAlone ? 2 : 1,
					bottom: y + height,
					full,
				});
			}
			for (let level = 0; level < 5; level++) {
				context.fillStyle = this.colours.levels[level];
				context.fill(paths[level]);
			}
		}
		/* Severe ones stand on top and are never too low to be seen. */
		addBar(paths, bins, pixel, sum, bar) {
			let top = bar.bottom - bar.full,
				left = bar.full;
			for (let level = 4; level >= 0; level--) {
				const count = bins[pixel * 5 + level];
				if (count === 0) continue;
				const share = (bar.full * count) / sum,
					height = Math.min(left, level >= 2 ? Math.max(share, 3) : share + 0.5);
				paths[level].rect(bar.x, top, bar.width, height);
				top += height;
				left -= height;
			}
		}

		drawSpans(depth, y) {
			const context = this.context,
				{ from, to } = this.app.view,
				spans = this.model.data.spans;
			const runs = new Path2D();
			let runFrom = -1,
				runTo = -1;
			const end = lowerBound(depth.start, to);
			for (let i = lowerBound(depth.reach, from); i < end;) {
				const span = depth.list[i],
					left = Math.max(this.pixelOf(spans.start[span]), GUTTER - 2);
				const right = Math.min(this.pixelOf(spans.end[span]), this.width + 2);
				if (right - left > NARROW) {
					this.drawSpan(span, left, right, y);
					i++;
					continue;
				}
				if (left > runTo + 0.6) {
					if (runFrom >= 0) runs.rect(runFrom, y + 3, runTo - runFrom, SPAN - 6);
					runFrom = left;
				}
				runTo = left + NARROW;
				const next = lowerBound(depth.start, this.timeOf(left + 1), i + 1, end);
				/* The last one that begins in this pixel may be long. */
				i = next - 1 > i && this.pixelOf(spans.end[depth.list[next - 1]]) - left > NARROW + 1 ? next - 1 : next;
			}
			if (runFrom >= 0) runs.rect(runFrom, y + 3, runTo - runFrom, SPAN - 6);
			context.fillStyle = this.colours.soft;
			context.globalAlpha = 0.6;
			context.fill(runs);
			context.globalAlpha = 1;
		}
		drawSpan(span, left, right, y) {
			const context = this.context,
				spans = this.model.data.spans;
			const isOpen = spans.last[span] < 0,
				isChosen = this.app.selected >= 0 && spans.ofRow[this.app.selected] === span + 1;
			left = Math.max(left, GUTTER);
			context.fillStyle = this.colourOf(this.app.spans.names.of[span]);
			context.globalAlpha = isOpen ? 0.55 : 1;
			context.beginPath();
			context.roundRect(
				left,
				y + 1,
				Math.max(right - left - (right - left > 4 ? 1 : 0), NARROW),
				SPAN - 2,
				Math.min(3, (right - left) / 3)
			);
			context.fill();
			context.globalAlpha = 1;
			if (isChosen || (this.hover && this.hover.span === span)) {
				context.lineWidth = isChosen ? 2 : 1;
				context.strokeStyle = isChosen ? this.colours.accent : this.colours.text;
				context.stroke();
			}
			if (right - left > 34) this.drawSpanText(span, left + 5, y + SPAN / 2 + 0.5, right - left - 9);
		}
		/* As much of it as there is room for; its own part of the name goes before its component. */
		drawSpanText(span, x, y, room) {
			const took = "  " + this.app.spans.tookText(span);
			const full = this.app.spans.fullName(span),
				short = this.app.spans.shortName(span);
			this.context.font = "11px system-ui, sans-serif";
			const text = [full + took, full, short + took].find(found => this.context.measureText(found).width <= room) || short;
			this.drawText(text, x, y, room, this.colours.text, this.context.font);
		}
		/* Of spans of a name. */
		colourOf(number) {
			return this.colours.spans[number % this.colours.spans.length];
		}
		/* Of the process that lost, or of all when nobody knows whose it was. */
		concerns(loss, line) {
			return Boolean(line.lane) && (loss.origin < 0 || this.model.data.about.threads[line.lane.thread][0] === loss.origin);
		}
		lossPixels(loss) {
			const left = this.pixelOf(loss.from);
			return { left, right: Math.max(this.pixelOf(loss.to), left + 3) };
		}
		drawLaneLosses(line, y) {
			const context = this.context;
			for (const loss of this.losses) {
				const { left, right } = this.lossPixels(loss),
					from = Math.max(left, GUTTER);
				if (right < GUTTER || left > this.width || !this.concerns(loss, line)) continue;
				context.fillStyle = this.colours.lossSoft;
				context.fillRect(from, y, right - from, line.height);
				context.fillStyle = this.colours.loss;
				context.fillRect(from, y, 1, line.height);
				context.fillRect(right - 1, y, 1, line.height);
			}
		}
		drawLossMarks() {
			const context = this.context;
			context.fillStyle = this.colours.loss;
			for (const loss of this.losses) {
				const { left, right } = this.lossPixels(loss),
					from = Math.max(left, GUTTER);
				if (right < GUTTER || left > this.width) continue;
				context.fillRect(from, AXIS - 4, right - from, 3);
				context.beginPath();
				context.moveTo(from - 4, AXIS - 4);
				context.lineTo(from + 5, AXIS - 4);
				context.lineTo(from + 0.5, AXIS + 3);
				context.fill();
			}
		}
		drawCursor() {
			const context = this.context,
				data = this.model.data;
			if (this.app.selected >= 0) {
				const pixel = Math.round(this.pixelOf(data.x[this.app.selected]));
				if (pixel >= GUTTER) {
					context.fillStyle = this.colours.accent;
					context.fillRect(pixel, AXIS, 1, this.height);
					this.drawMark(pixel);
				}
			}
			const { stretch } = this.app;
			if (stretch) this.drawRange(this.pixelOf(stretch.from), this.pixelOf(stretch.to), 0.12);
			if (this.drag && this.drag.kind !== "pan")
				this.drawRange(Math.min(this.drag.x, this.drag.now), Math.max(this.drag.x, this.drag.now), 0.2);
		}
		drawRange(left, right, alpha) {
			const context = this.context,
				text = duration(this.timeOf(right) - this.timeOf(left));
			left = Math.max(left, GUTTER);
			right = Math.min(right, this.width);
			if (right < left) return;
			context.fillStyle = this.colours.accent;
			context.globalAlpha = alpha;
			context.fillRect(left, AXIS, right - left, this.height);
			context.globalAlpha = 1;
			context.fillRect(left, AXIS, 1, this.height);
			context.fillRect(right - 1, AXIS, 1, this.height);
			this.drawText(text, left + 5, AXIS + 9, 200, this.colours.text, "600 11px system-ui, sans-serif");
		}
		/* Round the selected event, in its lane. */
		drawMark(pixel) {
			const context = this.context,
				row = this.app.selected,
				key = this.model.laneKeyOf(row);
			const line = this.lines.find(found => found.lane && found.lane.key === key);
			if (!line) return;
			const y = AXIS + line.y - this.scroller.scrollTop + this.strip / 2;
			context.beginPath();
			context.arc(pixel + 0.5, y, 5, 0, 7);
			context.fillStyle = this.colours.levels[this.model.levelOf(row)];
			context.fill();
			context.lineWidth = 2;
			context.strokeStyle = this.colours.panel;
			context.stroke();
			context.beginPath();
			context.arc(pixel + 0.5, y, 6.5, 0, 7);
			context.strokeStyle = this.colours.accent;
			context.stroke();
		}

		/* ---- moving */

		animate(from, to) {
			const view = this.app.view,
				begun = performance.now(),
				old = { from: view.from, to: view.to };
			if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
				this.app.setView(from, to);
				return;
			}
			const aim = (this.aim = { from, to });
			const step = () => {
				if (this.aim !== aim) return; /* something else has moved it */
				const part = Math.min((performance.now() - begun) / ANIMATION_MS, 1),
					eased = 1 - (1 - part) ** 3;
				this.app.setView(old.from + (from - old.from) * eased, old.to + (to - old.to) * eased);
				this.aim = part < 1 ? aim : null;
				if (part < 1) requestAnimationFrame(step);
			};
			step();
		}
		zoom(factor, at, isAnimated) {
			const now = (isAnimated && this.aim) || this.app.view;
			at = at === undefined ? this.middle(now) : at;
			const from = at - (at - now.from) * factor,
				to = at + (now.to - at) * factor;
			if (isAnimated) {
				const clamped = this.app.clamp(from, to);
				this.animate(clamped.from, clamped.to);
			} else {
				this.app.setView(from, to);
			}
		}
		/* Keys zoom where the selected event is, when it is seen. */
		middle(view) {
			const x = this.app.selected >= 0 ? this.model.data.x[this.app.selected] : NaN;
			return x >= view.from && x <= view.to ? x : (view.from + view.to) / 2;
		}
		pan(part, isAnimated) {
			const now = (isAnimated && this.aim) || this.app.view,
				by = (now.to - now.from) * part;
			const clamped = this.app.clamp(now.from + by, now.to + by);
			if (isAnimated) this.animate(clamped.from, clamped.to);
			else this.app.setView(clamped.from, clamped.to);
		}
		reveal(x) {
			const { from, to } = this.app.view,
				margin = (to - from) * 0.05;
			if (x < from + margin || x > to - margin) {
				const clamped = this.app.clamp(x - (to - from) / 2, x + (to - from) / 2);
				this.animate(clamped.from, clamped.to);
			}
		}
		revealLine(line) {
			const top = this.scroller.scrollTop,
				room = this.height - AXIS;
			if (line.y < top) this.scroller.scrollTop = line.y;
			else if (line.y + line.height > top + room) this.scroller.scrollTop = line.y + line.height - room;
		}
		fold(group) {
			if (!this.folded.delete(group.key)) this.folded.add(group.key);
			this.layOut();
		}
		get least() {
			return LEAST_NS;
		}

		/* ---- what is at a place */

		lineAt(y) {
			const at = y - AXIS + this.scroller.scrollTop;
			return y < AXIS ? -1 : this.lines.findIndex(line => at >= line.y && at < line.y + line.height);
		}
		hit(x, y) {
			const index = this.lineAt(y),
				line = this.lines[index];
			if (y < AXIS) return { kind: "axis", index: -1 };
			if (!line) return { kind: "nothing", index };
			if (x < GUTTER) return { kind: "label", index, line };
			if (!line.lane) return { kind: "group", index, line };
			const loss = this.losses.find(
				found => this.concerns(found, line) && x >= this.lossPixels(found).left - 4 && x <= this.lossPixels(found).right + 2
			);
			const inside = y - AXIS + this.scroller.scrollTop - line.y;
			if (inside >= this.strip) {
				const span = this.spanAt(line.lane.depths[Math.floor((inside - this.strip) / SPAN)], x);
				if (span >= 0) return { kind: "span", index, line, span, row: this.model.rowOfSpan(span), loss };
			}
			return { ...this.eventAt(line.lane, x), index, line, loss };
		}
		spanAt(depth, x) {
			if (!depth) return -1;
			const spans = this.model.data.spans,
				from = this.timeOf(x - 2),
				to = this.timeOf(x + 2);
			const end = lowerBound(depth.start, to);
			let best = -1;
			for (let i = Math.max(lowerBound(depth.reach, from), end - 64); i < end; i++)
				if (spans.end[depth.list[i]] >= from && (best < 0 || spans.start[depth.list[i]] <= this.timeOf(x))) best = depth.list[i];
			return best;
		}
		/* The most severe one of the pixel; else the nearest. */
		eventAt(lane, x) {
			const data = this.model.data,
				rows = lane.rows,
				at = this.timeOf(x);
			const first = lowerBoundRow(rows, data.x, this.timeOf(x - 0.5)),
				last = lowerBoundRow(rows, data.x, this.timeOf(x + 0.5), first);
			let best = -1;
			for (let i = first; i < Math.min(last, first + 5000); i++)
				if (best < 0 || this.model.levelOf(rows[i]) > this.model.levelOf(best)) best = rows[i];
			if (best >= 0) return { kind: "event", row: best, others: last - first - 1 };
			const near = [first - 1, first]
				.filter(i => i >= 0 && i < rows.length)
				.map(i => rows[i])
				.sort((a, b) => Math.abs(data.x[a] - at) - Math.abs(data.x[b] - at))[0];
			if (near !== undefined && Math.abs(this.pixelOf(data.x[near]) - x) <= NEAR) return { kind: "event", row: near, others: 0 };
			return { kind: "nothing" };
		}
		tell(hit) {
			const model = this.model,
				lines = [];
			if (hit.row !== undefined) {
				const kind = model.kindOf(hit.row);
				lines.push(
					(hit.kind === "span" ? this.app.spans.fullName(hit.span) : model.componentNames[kind.component] + "  " + kind.name) +
						"  " +
						LEVELS[Math.min(kind.level, 4)]
				);
				lines.push(model.clock(model.data.time[hit.row]) + "   " + model.threadFullName(model.data.threads[hit.row]));
				if (hit.kind === "span") {
					lines.push(
						model.data.spans.last[hit.span] < 0
							? "has not ended"
							: "took " + this.app.spans.tookText(hit.span).replace("inferred", "its end is inferred")
					);
				}
				const data = model.line(hit.row, 160);
				if (data) lines.push(data);
				if (hit.others > 0) lines.push("and " + grouped(hit.others) + " more at this place");
			}
			if (hit.loss) lines.push(hit.loss.text);
			return lines.join("\n");
		}
		showTip(hit, event) {
			const text = this.tell(hit);
			this.tip.hidden = text === "";
			if (text === "") return;
			this.tip.textContent = text;
			const frame = document.getElementById("timeline").getBoundingClientRect(),
				box = this.tip.getBoundingClientRect();
			const x = event.clientX - frame.left,
				y = event.clientY - frame.top;
			this.tip.style.left = Math.max(4, x + box.width + 18 > frame.width ? x - box.width - 12 : x + 14) + "px";
			this.tip.style.top = Math.min(y + 16, window.innerHeight - frame.top - box.height - 6) + "px";
		}

		/* ---- mouse and keys */

		listen() {
			const canvas = this.canvas;
			this.scroller.addEventListener("scroll", () => this.invalidate());
			canvas.addEventListener("wheel", event => this.wheel(event), { passive: false });
			canvas.addEventListener("pointerdown", event => this.press(event));
			canvas.addEventListener("pointermove", event => this.move(event));
			canvas.addEventListener("pointerup", event => this.release(event));
			canvas.addEventListener("pointercancel", () => this.endDrag());
			canvas.addEventListener("pointerleave", () => this.leave());
			canvas.addEventListener("dblclick", event => this.double(event));
			canvas.addEventListener("keydown", event => this.key(event));
			canvas.addEventListener("focus", () => this.announceLine());
		}
		place(event) {
			const box = this.canvas.getBoundingClientRect();
			return { x: event.clientX - box.left, y: event.clientY - box.top };
		}
		wheel(event) {
			const { x } = this.place(event),
				unit = event.deltaMode === 1 ? 16 : 1;
			if (x < GUTTER && !event.ctrlKey) return; /* the tracks scroll */
			event.preventDefault();
			this.tip.hidden = true;
			if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
				this.pan(((event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX) * unit) / this.plot);
			else this.zoom(Math.exp(Math.max(-240, Math.min(240, event.deltaY * unit)) * 0.0022), this.timeOf(x));
		}
		press(event) {
			if (event.button !== 0) return;
			const { x, y } = this.place(event);
			this.canvas.setPointerCapture(event.pointerId);
			this.drag = {
				kind: x < GUTTER ? "pan" : event.shiftKey ? "stretch" : y < AXIS ? "range" : "pan",
				x,
				y,
				now: x,
				top: this.scroller.scrollTop,
				view: { ...this.app.view },
				hasMoved: false,
			};
			this.tip.hidden = true;
		}
		move(event) {
			const { x, y } = this.place(event);
			if (!this.drag) {
				const hit = this.hit(x, y),
					old = this.hover;
				this.hover = hit;
				this.canvas.classList.toggle("ranging", hit.kind === "axis");
				this.showTip(hit, event);
				if ((old && old.span) !== hit.span) this.invalidate();
				return;
			}
			const drag = this.drag;
			drag.now = Math.max(x, GUTTER);
			drag.hasMoved = drag.hasMoved || Math.abs(x - drag.x) > 3 || Math.abs(y - drag.y) > 3;
			if (drag.kind === "pan" && drag.hasMoved) {
				this.canvas.classList.add("dragging");
				const by = ((drag.x - x) / this.plot) * (drag.view.to - drag.view.from);
				this.scroller.scrollTop = drag.top + drag.y - y;
				if (drag.x >= GUTTER) this.app.setView(drag.view.from + by, drag.view.to + by);
			}
			this.invalidate();
		}
		release(event) {
			const drag = this.drag;
			this.endDrag();
			if (!drag) return;
			if (drag.hasMoved && drag.kind !== "pan" && Math.abs(drag.now - drag.x) > 3) {
				const from = this.timeOf(Math.min(drag.x, drag.now)),
					to = this.timeOf(Math.max(drag.x, drag.now));
				if (drag.kind === "stretch") this.app.mark(from, to);
				else this.animate(from, to);
			}
			if (!drag.hasMoved) this.click(this.place(event));
		}
		endDrag() {
			this.drag = null;
			this.canvas.classList.remove("dragging");
			this.invalidate();
		}
		leave() {
			this.tip.hidden = true;
			this.hover = null;
			this.invalidate();
		}
		click({ x, y }) {
			const hit = this.hit(x, y);
			if (hit.index >= 0) this.focused = hit.index;
			if ((hit.kind === "label" || hit.kind === "group") && !hit.line.lane) this.fold(hit.line.group);
			else if (hit.row !== undefined) this.app.select(hit.row, "timeline");
			else if (hit.loss) this.app.showPanel("losses");
			this.invalidate();
		}
		double(event) {
			const { x, y } = this.place(event),
				hit = this.hit(x, y),
				spans = this.model.data.spans;
			if (x < GUTTER) return;
			if (hit.kind === "span") {
				const margin = (spans.end[hit.span] - spans.start[hit.span]) * 0.08 + LEAST_NS / 2;
				this.animate(spans.start[hit.span] - margin, spans.end[hit.span] + margin);
			} else {
				this.zoom(0.25, this.timeOf(x), true);
			}
		}
		key(event) {
			if (event.ctrlKey || event.metaKey || event.altKey) return;
			const actions = {
				ArrowLeft: () => this.pan(event.shiftKey ? -0.5 : -0.12, true),
				ArrowRight: () => this.pan(event.shiftKey ? 0.5 : 0.12, true),
				a: () => this.pan(-0.12, true),
				d: () => this.pan(0.12, true),
				w: () => this.zoom(0.6, undefined, true),
				s: () => this.zoom(1 / 0.6, undefined, true),
				"+": () => this.zoom(0.6, undefined, true),
				"=": () => this.zoom(0.6, undefined, true),
				"-": () => this.zoom(1 / 0.6, undefined, true),
				0: () => this.app.viewAll(),
				Home: () => this.app.viewAll(),
				ArrowUp: () => this.focusLine(this.focused - 1),
				ArrowDown: () => this.focusLine(this.focused + 1),
				n: () => this.step(1),
				p: () => this.step(-1),
				"]": () => this.step(1),
				"[": () => this.step(-1),
				Enter: () => this.enter(),
				" ": () => this.enter(),
				f: () => this.zoomToSelected(),
				m: () => this.app.mark(this.app.view.from, this.app.view.to),
			};
			const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
			if (!action) return;
			event.preventDefault();
			action();
		}
		focusLine(index) {
			if (index < 0 || index >= this.lines.length) return;
			this.focused = index;
			this.revealLine(this.lines[index]);
			this.announceLine();
			this.invalidate();
		}
		announceLine() {
			const line = this.lines && this.lines[this.focused];
			if (!line) return;
			this.app.announce(
				line.lane
					? "Track " +
							line.group.name +
							", " +
							line.lane.detail +
							" " +
							line.lane.label +
							": " +
							line.lane.rows.length +
							" events"
					: line.group.name +
							(line.isFolded ? ", folded: " : ": ") +
							line.group.lanes.length +
							" tracks, " +
							line.group.count +
							" events"
			);
		}
		/* The lane's next event after the selected one, or the first that is seen. */
		step(by) {
			let line = this.lines[this.focused];
			if (line && !line.lane) line = this.lines.slice(this.focused).find(found => found.lane);
			if (!line) return;
			const rows = line.lane.rows,
				selected = this.app.selected;
			let index = lowerBound(rows, selected);
			if (selected < 0 || !line.lane.rows.includes(selected))
				index =
					lowerBoundRow(rows, this.model.data.x, selected < 0 ? this.app.view.from : this.model.data.x[selected]) +
					(by < 0 ? -1 : 0);
			else index += by;
			if (index >= 0 && index < rows.length) this.app.select(rows[index], "timeline");
		}
		enter() {
			const line = this.lines[this.focused];
			if (line && !line.lane) this.fold(line.group);
			else if (line) this.step(1);
		}
		zoomToSelected() {
			const spans = this.model.data.spans,
				row = this.app.selected,
				span = row >= 0 ? spans.ofRow[row] : 0;
			if (span > 0) {
				const margin = (spans.end[span - 1] - spans.start[span - 1]) * 0.08 + LEAST_NS / 2;
				this.animate(spans.start[span - 1] - margin, spans.end[span - 1] + margin);
			} else if (row >= 0) {
				this.zoom(0.1, this.model.data.x[row], true);
			}
		}
		/* The lane of a row that was selected elsewhere comes into sight. */
		showRow(row) {
			const data = this.model.data;
			const key = this.model.laneKeyOf(row),
				isLane = lane => lane.key === key;
			const group = this.groups.find(found => found.lanes.some(isLane));
			if (group && this.folded.delete(group.key)) this.layOut();
			const index = this.lines.findIndex(line => line.lane && isLane(line.lane));
			if (index >= 0) {
				this.focused = index;
				this.revealLine(this.lines[index]);
			}
			this.reveal(data.x[row]);
			this.invalidate();
		}
	}

	return { Timeline };
})();
