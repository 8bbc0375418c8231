/*
 * stats_print.c - the numbers of ctrace stats, for people.
 *
 * Every text was written by somebody's program and is printed as such.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/processes/stats.h"

#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"

/* A longer name moves the rest of its line to the right, not that of all others. */
#define WIDEST_NAME 60

/* Where it goes, and what there was before: a second column of rates when there was something. */
struct printer {
	FILE *to;
	bool has_rates;
	uint64_t elapsed_ns;
	const struct stats_process *before; /* of the process that is printed; NULL: it is new */
};

static void print_text(const struct printer *printer, const char *text, int width)
{
	int printed = ct_tool_print(printer->to, text, strlen(text));

	fprintf(printer->to, "%*s", width > printed ? width - printed + 2 : 2, "");
}

/* " (+12.5/s)", when there are rates. */
static void print_rate(const struct printer *printer, uint64_t now, uint64_t then)
{
	if (printer->has_rates)
		fprintf(printer->to, " (+%.1f/s)", ct_stats_rate(now, then, printer->elapsed_ns));
}

static void print_counter(const struct printer *printer, const char *name, uint64_t now,
			  uint64_t then)
{
	fprintf(printer->to, "%s %" PRIu64, name, now);
	print_rate(printer, now, then);
}

static void print_events(const struct printer *printer, const struct stats_process *process)
{
	static const struct stats_process nothing;
	const struct stats_process *before = printer->before != NULL ? printer->before : &nothing;
	const struct list_counters *counters = &process->counters;
	const char *separator = " (";

	print_counter(printer, "    events: emitted", process->emitted, before->emitted);
	print_counter(printer, ", delivered", counters->delivered, before->counters.delivered);
	fprintf(printer->to, ", pending %" PRIu64, counters->pending);
	if (counters->in_storage != 0)
		fprintf(printer->to, ", in storage %" PRIu64 " (overwritten %" PRIu64 ")",
			counters->in_storage, counters->wrapped);
	print_counter(printer, ", lost", counters->lost_total, before->counters.lost_total);
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++) {
		if (counters->lost[i] == 0)
			continue;
		fprintf(printer->to, "%s%s %" PRIu64, separator,
			ctrace_loss_name((enum ctrace_loss)i), counters->lost[i]);
		separator = ", ";
	}
	if (counters->no_room != 0)
		fprintf(printer->to, "%sno-room %" PRIu64, separator, counters->no_room);
	fputs(counters->lost_total != 0 ? ")\n" : "\n", printer->to);
}

static void print_rings(const struct printer *printer, const struct stats_process *process)
{
	const struct list_counters *counters = &process->counters;
	uint64_t percent = counters->capacity != 0
				   ? (counters->pending_bytes * 100 + counters->capacity - 1) /
					     counters->capacity
				   : 0;

	fprintf(printer->to,
		"    rings: %" PRIu32 ", %" PRIu64 "%% full, the fullest %" PRIu32 "%%",
		counters->rings, percent, counters->fullest);
	print_counter(printer, ", bytes", counters->bytes,
		      printer->before != NULL ? printer->before->counters.bytes : 0);
	if (counters->hidden != 0)
		fprintf(printer->to,
			"\n    %" PRIu32
			" more ring%s in private memory: events there are not counted here",
			counters->hidden, counters->hidden == 1 ? "" : "s");
	if (!process->is_alive && counters->unreadable_bytes != 0)
		fprintf(printer->to,
			"\n    %" PRIu64
			" bytes of rings cannot be read: events there are not counted",
			counters->unreadable_bytes);
	if (!process->is_alive && counters->unreadable != 0)
		fprintf(printer->to,
			"\n    %" PRIu32
			" ring%s (ring.%u) cannot be read: events there are not counted",
			counters->unreadable, counters->unreadable == 1 ? "" : "s",
			(unsigned)counters->first_unreadable);
	if (process->late_rings != 0)
		fprintf(printer->to,
			"\n    not ready in time: %" PRIu64
			" larger ring%s, made by a traced thread",
			process->late_rings, process->late_rings == 1 ? "" : "s");
	if (process->configuration != NULL)
		fprintf(printer->to, "\n    configuration: %s", process->configuration);
	fprintf(printer->to, "\n    control: %" PRIu64 " request%s, %" PRIu64 " refused\n",
		process->control_requests, process->control_requests == 1 ? "" : "s",
		process->control_refused);
}

static void print_components(const struct printer *printer, const struct stats_process *process)
{
	int width = (int)strlen("COMPONENT");

	if (process->component_count == 0)
		return;
	for (uint32_t i = 0; i < process->component_count; i++) {
		int columns = ct_tool_print(NULL, process->components[i].name,
					    strlen(process->components[i].name));

		if (columns > width)
			width = columns < WIDEST_NAME ? columns : WIDEST_NAME;
	}
	fprintf(printer->to, "    %-*s  %-5s  %9s  %12s%s  WRITER\n", width, "COMPONENT", "LEVEL",
		"DELIVERED", "BYTES", printer->has_rates ? "   EVENTS/S      BYTES/S" : "");
	for (uint32_t i = 0; i < process->component_count; i++) {
		const struct stats_component *component = &process->components[i];
		const struct stats_component *then =
			ct_stats_find_component(printer->before, component->name);

		fputs("    ", printer->to);
		print_text(printer, component->name, width);
		fprintf(printer->to, "%-5s  %9" PRIu64 "  %12" PRIu64 "  ",
			ct_list_level(component->level), component->delivered, component->bytes);
		if (printer->has_rates)
			fprintf(printer->to, "%9.1f  %11.1f  ",
				ct_stats_rate(component->delivered,
					      then != NULL ? then->delivered : 0,
					      printer->elapsed_ns),
				ct_stats_rate(component->bytes, then != NULL ? then->bytes : 0,
					      printer->elapsed_ns));
		if (component->writer[0] == '\0')
			fputc('-', printer->to);
		else
			ct_tool_print(printer->to, component->writer, strlen(component->writer));
		fputs(component->writer[0] != '\0' && !component->is_connected
			      ? " (not connected)\n"
			      : "\n",
		      printer->to);
	}
}

static void print_dests(const struct printer *printer, const struct stats_process *process)
{
	if (process->dest_count == 0)
		return;
	fprintf(printer->to, "    %-11s  %9s  %s\n", "DESTINATION", "DELIVERED", "WHERE");
	for (uint32_t i = 0; i < process->dest_count; i++) {
		const struct stats_dest *dest = &process->dests[i];

		fputs("    ", printer->to);
		print_text(printer, dest->emitter, 11);
		fprintf(printer->to, "%9" PRIu64 "  ", dest->delivered);
		ct_tool_print(printer->to, dest->path[0] != '\0' ? dest->path : "-",
			      dest->path[0] != '\0' ? strlen(dest->path) : 1);
		(void)ct_list_print_failure(printer->to, "  ", &dest->failure);
		if (dest->lost != 0)
			fprintf(printer->to, "  lost %" PRIu64, dest->lost);
		if (dest->failures != 0)
			fprintf(printer->to, "  (%" PRIu64 " failure%s)", dest->failures,
				dest->failures == 1 ? "" : "s");
		fputc('\n', printer->to);
	}
}

static void print_process(const struct printer *printer, const struct stats_process *process)
{
	fprintf(printer->to, "%" PRIu32 "  ", process->pid);
	print_text(printer, process->program, 0);
	fprintf(printer->to, "%s  jobname ", process->is_alive ? "running" : "ended");
	print_text(printer, process->jobname, 0);
	fprintf(printer->to, "asid %04" PRIX32 "\n", process->asid);
	print_events(printer, process);
	print_rings(printer, process);
	print_components(printer, process);
	print_dests(printer, process);
}

/* -----------------------------------------------------------------------------------------------
 * External writers: a line each, and one a data set
 */

static void print_trcout(const struct printer *printer, const struct ct_trcout_state *trcout)
{
	fprintf(printer->to,
		"    TRCOUT%02" PRIu32 "  events %" PRIu64 ", %" PRIu64 " of %" PRIu64
		" bytes used",
		trcout->number, trcout->events, trcout->used, trcout->limit);
	if (trcout->wrapped_events != 0)
		fprintf(printer->to, ", wrapped %" PRIu64, trcout->wrapped_events);
	if (trcout->full_events != 0)
		fprintf(printer->to, ", no room for %" PRIu64, trcout->full_events);
	if (trcout->failing != 0)
		fprintf(printer->to, ", FAILING: %s", strerror((int)trcout->failing));
	fputs("  ", printer->to);
	ct_tool_print(printer->to, trcout->path, strlen(trcout->path));
	fputc('\n', printer->to);
}

static const struct ct_writer_state *find_writer(const struct stats *stats,
						 const struct ct_writer_state *writer)
{
	for (uint32_t i = 0; stats != NULL && i < stats->writers.writer_rows.count; i++) {
		const struct ct_writer_state *other = &stats->writers.writers[i].state;

		if (other->pid == writer->pid && other->start_ns == writer->start_ns)
			return other;
	}
	return NULL;
}

static void print_writer(const struct printer *printer, const struct stats *stats,
			 const struct stats *before, uint32_t index)
{
	const struct ct_display *display = &stats->writers;
	const struct ct_writer_state *writer = &display->writers[index].state;
	const struct ct_writer_state *then = find_writer(before, writer);

	fputs("writer ", printer->to);
	print_text(printer, writer->name, 0);
	fprintf(printer->to, "pid %" PRIu32 "  %s  ", writer->pid,
		ct_display_writer_status(display, index));
	print_counter(printer, "events", writer->events, then != NULL ? then->events : 0);
	print_counter(printer, ", bytes", writer->bytes, then != NULL ? then->bytes : 0);
	if (writer->wrapped_events != 0)
		fprintf(printer->to, ", wrapped %" PRIu64, writer->wrapped_events);
	if (writer->full_events != 0)
		fprintf(printer->to, ", no room for %" PRIu64, writer->full_events);
	fputc('\n', printer->to);
	for (uint32_t i = 0; i < display->trcout_rows.count; i++)
		if (display->trcouts[i].writer == index)
			print_trcout(printer, &display->trcouts[i].state);
}

void ct_stats_print(FILE *to, const struct stats *stats, const struct stats *before)
{
	struct printer printer = { .to = to, .has_rates = before != NULL };
	const char *separator = "";

	if (before != NULL)
		printer.elapsed_ns = stats->taken_ns - before->taken_ns;
	for (size_t i = 0; i < stats->process_count; i++) {
		printer.before = ct_stats_find(before, &stats->processes[i]);
		fputs(separator, to);
		print_process(&printer, &stats->processes[i]);
		separator = "\n";
	}
	for (uint32_t i = 0; i < stats->writers.writer_rows.count; i++) {
		fputs(separator, to);
		print_writer(&printer, stats, before, i);
		separator = "\n";
	}
}
