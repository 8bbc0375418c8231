"use strict";
/*
 * report_overview.js - the strip above the tracks: the whole trace, and which part of it is shown.
 *
 * Its bars are counted when the filter or the width changes; moving the window only draws.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
const ReportOverview = (() => {
	const EDGE = 7; /* pixels: so near the window's edge is taken */
	const LEFT = 196; /* as the tracks */

	class Overview {
		constructor(app) {
			this.app = app;
			this.model = app.model;
			this.canvas = document.getElementById("overview");
			this.context = this.canvas.getContext("2d");
			this.drag = null;
			this.bins = null;
			this.canvas.addEventListener("pointerdown", event => this.press(event));
			this.canvas.addEventListener("pointermove", event => this.move(event));
			this.canvas.addEventListener("pointerup", () => (this.drag = null));
			this.canvas.addEventListener("dblclick", () => app.viewAll());
			this.canvas.addEventListener("keydown", event => app.timeline.key(event));
			this.canvas.addEventListener(
				"wheel",
				event => {
					event.preventDefault();
					app.timeline.zoom(Math.exp(Math.max(-240, Math.min(240, event.deltaY)) * 0.0022), this.timeOf(event.offsetX));
				},
				{ passive: false }
			);
			new ResizeObserver(() => this.resize()).observe(this.canvas);
		}
		get all() {
			return this.app.all;
		}
		get plot() {
			return Math.max(this.app.timeline.plot, 10);
		}
		pixelOf(x) {
			return LEFT + ((x - this.all.from) / (this.all.to - this.all.from)) * this.plot;
		}
		timeOf(pixel) {
			return this.all.from + ((pixel - LEFT) / this.plot) * (this.all.to - this.all.from);
		}
		resize() {
			this.width = this.canvas.clientWidth;
			this.height = this.canvas.clientHeight;
			this.ratio = window.devicePixelRatio || 1;
			this.canvas.width = Math.round(this.width * this.ratio);
			this.canvas.height = Math.round(this.height * this.ratio);
			this.count();
		}
		count() {
			if (!this.width || !this.app.timeline.width) return;
			const model = this.model,
				x = model.data.x,
				width = Math.ceil(this.plot);
			const scale = this.plot / (this.all.to - this.all.from),
				from = this.all.from,
				last = width - 1;
			this.bins = new Uint32Array(width * 5);
			for (let i = 0; i < model.count; i++) {
				const row = model.rowAt(i);
				this.bins[Math.min(Math.floor((x[row] - from) * scale), last) * 5 + model.levelOf(row)]++;
			}
			this.draw();
		}
		draw() {
			if (!this.bins) return;
			const context = this.context,
				colours = this.app.timeline.colours;
			context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
			context.clearRect(0, 0, this.width, this.height);
			this.drawLabel(colours);
			this.drawBars(colours);
			context.fillStyle = colours.loss;
			for (const loss of this.app.timeline.losses)
				context.fillRect(this.pixelOf(loss.from), 0, Math.max(this.pixelOf(loss.to) - this.pixelOf(loss.from), 2), 4);
			this.drawWindow(colours);
			this.describe();
		}
		drawLabel(colours) {
			const context = this.context;
			context.font = "11px system-ui, sans-serif";
			context.fillStyle = colours.soft;
			context.textBaseline = "middle";
			context.fillText("Whole trace", 14, this.height / 2);
			context.textAlign = "right";
			context.fillText(ReportModel.duration(this.model.length), LEFT - 9, this.height / 2);
			context.textAlign = "left";
		}
		drawBars(colours) {
			const context = this.context,
				width = this.bins.length / 5,
				room = this.height - 10;
			let most = 1;
			for (let i = 0; i < width; i++)
				most = Math.max(
					most,
					this.bins[i * 5] + this.bins[i * 5 + 1] + this.bins[i * 5 + 2] + this.bins[i * 5 + 3] + this.bins[i * 5 + 4]
				);
			for (let i = 0; i < width; i++) {
				let sum = 0;
				for (let level = 0; level < 5; level++) sum += this.bins[i * 5 + level];
				let left = sum === 0 ? 0 : 3 + (room - 3) * Math.sqrt(sum / most),
					top = this.height - left;
				for (let level = 4; level >= 0 && left > 0; level--) {
					const count = this.bins[i * 5 + level];
					if (count === 0) continue;
					const height = Math.min(left, level >= 2 ? Math.max((left * count) / sum, 3) : (left * count) / sum + 0.5);
					context.fillStyle = colours.levels[level];
					context.fillRect(LEFT + i, top, 1, height);
					top += height;
					left -= height;
				}
			}
		}
		drawWindow(colours) {
			const context = this.context,
				left = Math.max(this.pixelOf(this.app.view.from), LEFT),
				right = Math.min(Math.max(this.pixelOf(this.app.view.to), left + 2), LEFT + this.plot);
			context.fillStyle = colours.sunk;
			context.globalAlpha = 0.68;
			context.fillRect(LEFT, 0, left - LEFT, this.height);
			context.fillRect(right, 0, this.width - right, this.height);
			context.globalAlpha = 1;
			context.strokeStyle = colours.accent;
			context.lineWidth = 1.5;
			context.strokeRect(left + 0.5, 1, Math.max(right - left - 1, 1), this.height - 2);
			context.fillStyle = colours.accent;
			if (right - left > 24) for (const x of [left - 1, right - 3]) context.fillRect(x, this.height / 2 - 8, 4, 16);
		}
		describe() {
			const middle = (this.app.view.from + this.app.view.to) / 2,
				part = (middle - this.all.from) / (this.all.to - this.all.from);
			this.canvas.setAttribute("aria-valuenow", String(Math.round(100 * part)));
			this.canvas.setAttribute("aria-valuetext", this.app.rangeText());
		}

		/* ---- mouse: a drag in the window moves it, at an edge moves that, elsewhere makes another */

		press(event) {
			const x = event.offsetX,
				left = this.pixelOf(this.app.view.from),
				right = this.pixelOf(this.app.view.to);
			this.canvas.setPointerCapture(event.pointerId);
			const kind =
				Math.abs(x - left) <= EDGE
					? "left"
					: Math.abs(x - right) <= EDGE
						? "right"
						: x > left && x < right && right - left < this.plot - 4
							? "move"
							: "new";
			this.drag = { kind, x, view: { ...this.app.view } };
		}
		move(event) {
			const x = event.offsetX,
				drag = this.drag;
			if (!drag) {
				const left = this.pixelOf(this.app.view.from),
					right = this.pixelOf(this.app.view.to);
				this.canvas.style.cursor =
					Math.abs(x - left) <= EDGE || Math.abs(x - right) <= EDGE
						? "ew-resize"
						: x > left && x < right && right - left < this.plot - 4
							? "grab"
							: "crosshair";
				return;
			}
			const by = this.timeOf(x) - this.timeOf(drag.x);
			if (drag.kind === "move") this.app.setView(drag.view.from + by, drag.view.to + by);
			else if (drag.kind === "left") this.app.setView(Math.min(drag.view.from + by, drag.view.to), drag.view.to);
			else if (drag.kind === "right") this.app.setView(drag.view.from, Math.max(drag.view.to + by, drag.view.from));
			else if (Math.abs(x - drag.x) > 3) this.app.setView(this.timeOf(Math.min(x, drag.x)), this.timeOf(Math.max(x, drag.x)));
		}
	}

	return { Overview };
})();
