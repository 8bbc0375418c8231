/*
 * top_rates.c - rows of rates from two collections of numbers, in the order and with the filter
 * that the user wants.
 *
 * Part of ctrace top.  Knows nothing of terminals: the same rows are drawn, and printed in a batch.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/processes/top.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cli/cli.h"
#include "print/json_text.h"

#define NS_PER_SECOND 1000000000u
#define WIDEST_NAME 40

static const char *const sort_names[TOP_SORT_COUNT] = { "events", "bytes", "lost",
							"total",  "name",  "pid" };

bool ct_top_sort_parse(const char *word, enum top_sort *out_sort)
{
	for (unsigned i = 0; i < TOP_SORT_COUNT; i++) {
		if (strcasecmp(word, sort_names[i]) != 0)
			continue;
		*out_sort = (enum top_sort)i;
		return true;
	}
	return false;
}

const char *ct_top_sort_name(enum top_sort sort)
{
	return sort_names[sort];
}

void ct_top_number(char out[16], double number)
{
	static const char units[] = " kMGTPE";
	unsigned unit = 0;

	while (number >= 999.5 && unit + 2 < sizeof(units)) {
		number /= 1000;
		unit++;
	}
	(void)snprintf(out, 16, "%.*f%c",
		       number < 0.005 || number >= 99.95 ? 0
		       : number >= 9.995                 ? 1
							 : 2,
		       number, units[unit]);
	if (unit == 0)
		out[strlen(out) - 1] = '\0';
}

/* -----------------------------------------------------------------------------------------------
 * Rows
 */

static bool name_contains(const char *name, const char *pattern)
{
	if (strpbrk(pattern, "*?") != NULL)
		return ct_glob_match(pattern, strlen(pattern), name, strlen(name));
	return strcasestr(name, pattern) != NULL;
}

static bool row_is_wanted(const struct top_row *row, const struct top_view *view)
{
	if (view->is_busy_only && row->events == 0 && row->bytes == 0)
		return false;
	return view->pattern == NULL || view->pattern[0] == '\0' ||
	       name_contains(row->component, view->pattern) ||
	       name_contains(row->jobname, view->pattern) ||
	       name_contains(row->program, view->pattern) ||
	       (row->host[0] != '\0' && name_contains(row->host, view->pattern));
}

static void dests_add(struct top_row *row, const char *name)
{
	size_t size = strlen(row->dests);

	(void)snprintf(row->dests + size, sizeof(row->dests) - size, "%s%s", size > 0 ? " " : "",
		       name);
}

static void row_fill_dests(struct top_row *row, const struct stats_process *process,
			   const struct stats_component *component)
{
	if (component->level == CTRACE_LEVEL_NONE)
		return;
	for (uint32_t i = 0; i < process->dest_count; i++)
		if (process->dests[i].index < 32 &&
		    (component->dests >> process->dests[i].index & 1) != 0)
			dests_add(row, process->dests[i].emitter);
	if (component->writer[0] != '\0') {
		dests_add(row, component->writer);
		if (!component->is_connected)
			dests_add(row, "(not connected)");
	}
}

static void row_fill(struct top_row *row, const struct top_rows *rows,
		     const struct stats_process *process, const struct stats_component *component)
{
	*row = (struct top_row){ .pid = process->pid,
				 .start_ns = process->start_ns,
				 .level = component->level,
				 .total = component->delivered };
	memcpy(row->jobname, process->jobname, sizeof(row->jobname));
	memcpy(row->program, process->program, sizeof(row->program));
	memcpy(row->component, component->name, sizeof(row->component));
	if (rows->are_of_stream)
		(void)snprintf(row->host, sizeof(row->host), "%s", process->place);
	else
		row_fill_dests(row, process, component);
}

static void add_process(struct top_rows *rows, const struct stats_process *process,
			const struct stats_process *before, uint64_t elapsed_ns,
			const struct top_view *view)
{
	static const struct stats_process nothing;
	const struct stats_process *then = before != NULL ? before : &nothing;
	double lost =
		ct_stats_rate(process->counters.lost_total, then->counters.lost_total, elapsed_ns);

	rows->processes++;
	rows->lost += lost;
	for (uint32_t i = 0; i < process->component_count; i++) {
		const struct stats_component *component = &process->components[i];
		const struct stats_component *earlier =
			ct_stats_find_component(before, component->name);
		struct top_row *row = &rows->items[rows->count];

		row_fill(row, rows, process, component);
		row->events = ct_stats_rate(component->delivered,
					    earlier != NULL ? earlier->delivered : 0, elapsed_ns);
		row->bytes = ct_stats_rate(component->bytes, earlier != NULL ? earlier->bytes : 0,
					   elapsed_ns);
		row->lost = lost;
		rows->events += row->events;
		rows->bytes += row->bytes;
		rows->count += row_is_wanted(row, view);
	}
}

static int rate_compare(double a, double b)
{
	return (a < b) - (a > b); /* the greatest first */
}

static int compare(const struct top_row *a, const struct top_row *b, enum top_sort sort)
{
	switch (sort) {
	case TOP_BY_BYTES:
		return rate_compare(a->bytes, b->bytes);
	case TOP_BY_LOST:
		return rate_compare(a->lost, b->lost);
	case TOP_BY_TOTAL:
		return (a->total < b->total) - (a->total > b->total);
	case TOP_BY_NAME:
		return strcasecmp(a->component, b->component);
	case TOP_BY_PID:
		return (a->pid > b->pid) - (a->pid < b->pid);
	default:
		return rate_compare(a->events, b->events);
	}
}

/* Rows that are alike keep one order, or a screen is restless. */
static int row_compare(const void *x, const void *y, void *user)
{
	const struct top_row *a = x, *b = y;
	const struct top_view *view = user;
	int order = compare(a, b, view->sort);

	if (view->is_reversed)
		order = -order;
	if (order == 0)
		order = strcasecmp(a->component, b->component);
	if (order == 0)
		order = compare(a, b, TOP_BY_PID);
	if (order == 0)
		order = strcmp(a->host, b->host);
	return order != 0 ? order : (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

void ct_top_rows(const struct stats *now, const struct stats *before, const struct top_view *view,
		 struct top_rows *out_rows)
{
	uint64_t elapsed_ns = before != NULL ? now->taken_ns - before->taken_ns : 0;
	size_t count = 1; /* the one that is being looked at */

	for (size_t i = 0; i < now->process_count; i++)
		count += now->processes[i].component_count;
	*out_rows = (struct top_rows){ .wall_ns = now->wall_ns,
				       .are_of_stream = now->is_of_stream,
				       .items = calloc(count, sizeof(struct top_row)) };
	out_rows->has_failed = out_rows->items == NULL;
	for (size_t i = 0; i < now->process_count && !out_rows->has_failed; i++)
		if (now->processes[i].is_alive)
			add_process(out_rows, &now->processes[i],
				    ct_stats_find(before, &now->processes[i]), elapsed_ns, view);
	if (out_rows->count > 1)
		qsort_r(out_rows->items, out_rows->count, sizeof(struct top_row), row_compare,
			(void *)(uintptr_t)view);
}

/* -----------------------------------------------------------------------------------------------
 * A batch
 */

static void print_padded(FILE *to, const char *text, int width)
{
	int columns = ct_tool_print(to, text, strlen(text));

	fprintf(to, "%*s  ", width > columns ? width - columns : 0, "");
}

static void print_head(FILE *to, const struct top_rows *rows)
{
	char when[CT_TOOL_DATE], events[16], bytes[16], lost[16];

	ct_tool_date(rows->wall_ns, when);
	ct_top_number(events, rows->events);
	ct_top_number(bytes, rows->bytes);
	ct_top_number(lost, rows->lost);
	fprintf(to, "%s  %zu process%s  %s events/s  %s bytes/s  %s lost/s\n", when,
		rows->processes, rows->processes == 1 ? "" : "es", events, bytes, lost);
}

const char *ct_top_level(const struct top_rows *rows, const struct top_row *row)
{
	return rows->are_of_stream ? "-" : ct_list_level(row->level);
}

static int name_widen(int width, const char *name)
{
	int columns = ct_tool_print(NULL, name, strlen(name));

	columns = columns < WIDEST_NAME ? columns : WIDEST_NAME;
	return columns > width ? columns : width;
}

void ct_top_print(FILE *to, const struct top_rows *rows)
{
	int width = (int)strlen("COMPONENT"), host_width = (int)strlen("HOST");

	for (size_t i = 0; i < rows->count; i++) {
		width = name_widen(width, rows->items[i].component);
		host_width = name_widen(host_width, rows->items[i].host);
	}
	print_head(to, rows);
	if (rows->are_of_stream)
		fprintf(to, "%-*s  ", host_width, "HOST");
	fprintf(to, "%7s  %-8s  %-*s  %-5s  %*s  %*s  %*s  %12s  DESTINATIONS\n", "PID", "JOBNAME",
		width, "COMPONENT", "LEVEL", TOP_EVENTS_WIDTH, "EVENTS/S", TOP_BYTES_WIDTH,
		"BYTES/S", TOP_LOST_WIDTH, "LOST/S", "EVENTS");
	for (size_t i = 0; i < rows->count; i++) {
		const struct top_row *row = &rows->items[i];
		char events[16], bytes[16], lost[16];

		ct_top_number(events, row->events);
		ct_top_number(bytes, row->bytes);
		ct_top_number(lost, row->lost);
		if (rows->are_of_stream)
			print_padded(to, row->host, host_width);
		fprintf(to, "%7" PRIu32 "  ", row->pid);
		print_padded(to, row->jobname, 8);
		print_padded(to, row->component, width);
		fprintf(to, "%-5s  %*s  %*s  %*s  %12" PRIu64 "  ", ct_top_level(rows, row),
			TOP_EVENTS_WIDTH, events, TOP_BYTES_WIDTH, bytes, TOP_LOST_WIDTH, lost,
			row->total);
		ct_tool_print(to, row->dests[0] != '\0' ? row->dests : "-",
			      row->dests[0] != '\0' ? strlen(row->dests) : 1);
		fputc('\n', to);
	}
}

static json_t *json_row(const struct top_rows *rows, const struct top_row *row)
{
	json_t *host = rows->are_of_stream ? ct_json_string(row->host) : NULL;
	const char *level = rows->are_of_stream ? NULL : ct_list_level(row->level);

	return json_pack("{s:o*, s:I, s:o, s:o, s:o, s:s?, s:f, s:f, s:f, s:I, s:o}", "host", host,
			 "pid", (json_int_t)row->pid, "job", ct_json_string(row->jobname),
			 "program", ct_json_string(row->program), "component",
			 ct_json_string(row->component), "level", level, "events_per_second",
			 row->events, "bytes_per_second", row->bytes, "process_lost_per_second",
			 row->lost, "delivered", (json_int_t)row->total, "destinations",
			 ct_json_words(row->dests));
}

bool ct_top_print_json(FILE *to, const struct top_rows *rows)
{
	json_t *document = ct_json_document();
	json_t *array = json_array();

	for (size_t i = 0; i < rows->count; i++)
		(void)json_array_append_new(array, json_row(rows, &rows->items[i]));
	(void)json_object_set_new(document, "time_ns", json_integer((json_int_t)rows->wall_ns));
	(void)json_object_set_new(document, "processes", json_integer((json_int_t)rows->processes));
	(void)json_object_set_new(document, "events_per_second", json_real(rows->events));
	(void)json_object_set_new(document, "bytes_per_second", json_real(rows->bytes));
	(void)json_object_set_new(document, "lost_per_second", json_real(rows->lost));
	(void)json_object_set_new(document, "components", array);
	return ct_json_print(document, to);
}
