/*
 * display_table.c - the table that DISPLAY TRACE is printed from.
 *
 * Called by the tools, on one thread.  Rows come from answers of other processes and are not
 * trusted: texts are terminated and counts limited to their range here, once, so that the printers
 * need not check.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/display/display.h"

#include <stdlib.h>
#include <string.h>

void ct_display_init(struct ct_display *display, uint64_t time_ns)
{
	*display = (struct ct_display){ .time_ns = time_ns };
}

void ct_display_fini(struct ct_display *display)
{
	free(display->processes);
	free(display->traces);
	free(display->missing);
	free(display->writers);
	free(display->trcouts);
	free(display->links);
	*display = (struct ct_display){ .failed = true };
}

/* ---- rows ---- */

/* Appends a row to *(void **)items, and returns it.  Returns NULL, and sets `failed`, when
 * memory is short. */
static void *row_add(struct ct_display *display, void *items, struct ct_display_rows *rows,
		     const void *row, size_t size)
{
	size_t capacity = rows->capacity != 0 ? rows->capacity * 2 : 16;
	char *at;

	memcpy(&at, items, sizeof at);
	if (rows->count == rows->capacity) {
		at = rows->count < CT_DISPLAY_NONE / 2 ? reallocarray(at, capacity, size) : NULL;
		if (at == NULL) {
			display->failed = true;
			return NULL;
		}
		rows->capacity = capacity;
		memcpy(items, &at, sizeof at);
	}
	return memcpy(at + size * rows->count++, row, size);
}

#define TERMINATE(text) ((text)[sizeof(text) - 1] = '\0')

uint32_t ct_display_add_process(struct ct_display *display,
				const struct ct_display_process *process)
{
	struct ct_display_process *row = row_add(display, &display->processes,
						 &display->process_rows, process, sizeof *process);

	if (row == NULL)
		return CT_DISPLAY_NONE;
	TERMINATE(row->jobname);
	TERMINATE(row->program);
	TERMINATE(row->note);
	return display->process_rows.count - 1;
}

static void text_clean(struct ctrace_display *shown)
{
	if (shown->asid_count > CTRACE_MAX_FILTER)
		shown->asid_count = CTRACE_MAX_FILTER;
	if (shown->jobname_count > CTRACE_MAX_FILTER)
		shown->jobname_count = CTRACE_MAX_FILTER;
	for (unsigned i = 0; i < CTRACE_MAX_FILTER; i++)
		TERMINATE(shown->jobname[i]);
	TERMINATE(shown->writer);
	TERMINATE(shown->fmttab);
	TERMINATE(shown->startnam);
	TERMINATE(shown->dispnam);
	TERMINATE(shown->options);
	TERMINATE(shown->minops);
}

uint32_t ct_display_add_trace(struct ct_display *display, const struct ct_display_trace *trace)
{
	struct ct_display_trace *row =
		row_add(display, &display->traces, &display->trace_rows, trace, sizeof *trace);

	if (row == NULL)
		return CT_DISPLAY_NONE;
	TERMINATE(row->name);
	text_clean(&row->display);
	if (row->process >= display->process_rows.count)
		row->process = CT_DISPLAY_NONE;
	row->head = CT_DISPLAY_NONE;
	row->depth = 0;
	return display->trace_rows.count - 1;
}

uint32_t ct_display_add_writer(struct ct_display *display, const struct ct_display_writer *writer)
{
	struct ct_display_writer *row =
		row_add(display, &display->writers, &display->writer_rows, writer, sizeof *writer);

	if (row == NULL)
		return CT_DISPLAY_NONE;
	TERMINATE(row->state.name);
	TERMINATE(row->state.message);
	return display->writer_rows.count - 1;
}

void ct_display_add_trcout(struct ct_display *display, const struct ct_display_trcout *trcout)
{
	struct ct_display_trcout *row =
		row_add(display, &display->trcouts, &display->trcout_rows, trcout, sizeof *trcout);

	if (row != NULL)
		TERMINATE(row->state.path);
}

void ct_display_add_link(struct ct_display *display, const struct ct_display_link *link)
{
	struct ct_display_link *row =
		row_add(display, &display->links, &display->link_rows, link, sizeof *link);

	if (row == NULL)
		return;
	TERMINATE(row->state.jobname);
	TERMINATE(row->state.traces);
}

void ct_display_add_missing(struct ct_display *display, const char *name)
{
	char row[CT_DISPLAY_NAME_SIZE] = "";

	memcpy(row, name, strnlen(name, CTRACE_MAX_COMPONENT));
	(void)row_add(display, &display->missing, &display->missing_rows, row, sizeof row);
}

/* ---- order ---- */

/* Ranks the dot before all other characters, so that a trace's sublevels follow it directly. */
static int character_rank(char c)
{
	if (c == '\0')
		return 0;
	if (c == '.')
		return 1;
	return 2 + (unsigned char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

static int compare_names(const char *a, size_t a_size, const char *b, size_t b_size)
{
	for (size_t i = 0; i < a_size && i < b_size; i++)
		if (character_rank(a[i]) != character_rank(b[i]))
			return character_rank(a[i]) - character_rank(b[i]);
	return a_size < b_size ? -1 : a_size > b_size;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_processes(const struct ct_display *display, uint32_t a, uint32_t b)
{
	int order;

	if (a == b || a == CT_DISPLAY_NONE || b == CT_DISPLAY_NONE)
		return compare_numbers(a, b);
	order = compare_numbers(display->processes[a].asid, display->processes[b].asid);
	if (order == 0)
		order = compare_numbers(display->processes[a].pid, display->processes[b].pid);
	return order != 0 ? order : compare_numbers(a, b);
}

/* Groups the traces of each process, a head before its sublevels. */
static int trace_compare_by_process(const void *a, const void *b, void *user)
{
	const struct ct_display_trace *one = a, *other = b;
	int order = compare_processes(user, one->process, other->process);

	return order != 0 ? order
			  : compare_names(one->name, strlen(one->name), other->name,
					  strlen(other->name));
}

/* Groups each topmost trace with all traces below it; traces of one name are sorted by process. */
static int trace_compare_by_root(const void *a, const void *b, void *user)
{
	const struct ct_display_trace *one = a, *other = b;
	int order = compare_names(one->name, one->root_size, other->name, other->root_size);

	return order != 0 ? order : trace_compare_by_process(a, b, user);
}

static bool trace_is_below(const struct ct_display_trace *head,
			   const struct ct_display_trace *trace)
{
	size_t size = strlen(head->name);

	return head->process == trace->process && strlen(trace->name) > size &&
	       trace->name[size] == '.' && compare_names(head->name, size, trace->name, size) == 0;
}

/* Finds the heads, in either order: the traces above a trace come before it, and only their own
 * sublevels stand between. */
static void traces_find_heads(struct ct_display *display)
{
	for (uint32_t i = 0; i < display->trace_rows.count; i++) {
		struct ct_display_trace *trace = &display->traces[i];
		uint32_t head = i != 0 ? i - 1 : CT_DISPLAY_NONE;

		while (head != CT_DISPLAY_NONE && !trace_is_below(&display->traces[head], trace))
			head = display->traces[head].head;
		trace->head = head;
		trace->depth = head != CT_DISPLAY_NONE ? display->traces[head].depth + 1 : 0;
		trace->root_size = head != CT_DISPLAY_NONE ? display->traces[head].root_size
							   : (uint32_t)strlen(trace->name);
	}
}

/* A process that was asked for the same trace twice has answered twice. */
static void traces_drop_doubles(struct ct_display *display)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < display->trace_rows.count; i++) {
		if (kept != 0 && trace_compare_by_process(&display->traces[kept - 1],
							  &display->traces[i], display) == 0)
			continue;
		if (kept != i)
			display->traces[kept] = display->traces[i];
		kept++;
	}
	display->trace_rows.count = kept;
}

static void traces_arrange(struct ct_display *display)
{
	if (display->trace_rows.count == 0)
		return;
	qsort_r(display->traces, display->trace_rows.count, sizeof *display->traces,
		trace_compare_by_process, display);
	traces_drop_doubles(display);
	traces_find_heads(display);
	qsort_r(display->traces, display->trace_rows.count, sizeof *display->traces,
		trace_compare_by_root, display);
	traces_find_heads(display);
}

static int links_by_asid(const void *a, const void *b)
{
	const struct ct_display_link *one = a, *other = b;
	int order = compare_numbers(one->writer, other->writer);

	if (order == 0)
		order = compare_numbers(one->state.asid, other->state.asid);
	return order != 0 ? order : compare_numbers(one->state.pid, other->state.pid);
}

/* Returns true if the table has a trace of that name, in any case, or one that matches the glob. */
static bool display_has(const struct ct_display *display, const char *name)
{
	for (uint32_t i = 0; i < display->trace_rows.count; i++)
		if (ct_glob_match(name, strlen(name), display->traces[i].name,
				  strlen(display->traces[i].name)))
			return true;
	return false;
}

/* A name that no process has may have been found as a preset. */
static void missing_drop_found(struct ct_display *display)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < display->missing_rows.count; i++) {
		if (display_has(display, display->missing[i]))
			continue;
		if (kept != i)
			memcpy(display->missing[kept], display->missing[i],
			       sizeof *display->missing);
		kept++;
	}
	display->missing_rows.count = kept;
}

void ct_display_arrange(struct ct_display *display)
{
	missing_drop_found(display);
	traces_arrange(display);
	if (display->link_rows.count != 0)
		qsort(display->links, display->link_rows.count, sizeof *display->links,
		      links_by_asid);
}

bool ct_display_shows(const struct ct_display_form *form, const struct ct_display_trace *trace)
{
	return trace->depth <= form->asked || trace->depth - form->asked <= form->levels;
}

uint32_t ct_display_end_of(const struct ct_display *display, uint32_t root)
{
	uint32_t end = root + 1;

	while (end < display->trace_rows.count && display->traces[end].depth != 0)
		end++;
	return end;
}

/* ---- writers, whether they run or not ---- */

static int compare_writers(const char *a, const char *b)
{
	return compare_names(a, strlen(a), b, strlen(b));
}

static bool writer_is_meant(const struct ct_display_writers *which, const char *name)
{
	for (size_t i = 0; i < which->count; i++)
		if (ct_glob_match(which->only[i], strlen(which->only[i]), name, strlen(name)))
			return true;
	return which->count == 0;
}

/* Keeps `name` if it is the nearest name after `last` so far. */
static void writer_consider(const char *name, const char *last, const char **best)
{
	if (name[0] != '\0' && compare_writers(name, last) > 0 &&
	    (*best == NULL || compare_writers(name, *best) < 0))
		*best = name;
}

const char *ct_display_next_writer(const struct ct_display *display,
				   const struct ct_display_writers *which, const char *last)
{
	const char *best = NULL;

	for (uint32_t i = 0; i < display->writer_rows.count; i++)
		if (writer_is_meant(which, display->writers[i].state.name))
			writer_consider(display->writers[i].state.name, last, &best);
	for (uint32_t i = 0; i < display->trace_rows.count; i++)
		if (!display->traces[i].writer_is_active &&
		    writer_is_meant(which, display->traces[i].display.writer))
			writer_consider(display->traces[i].display.writer, last, &best);
	for (size_t i = 0; i < which->count; i++)
		if (strpbrk(which->only[i], "*?") == NULL)
			writer_consider(which->only[i], last, &best);
	return best;
}

bool ct_display_waits(const struct ct_display_trace *trace, const char *writer)
{
	return !trace->writer_is_active && compare_writers(trace->display.writer, writer) == 0;
}

const char *ct_display_writer_status(const struct ct_display *display, uint32_t writer)
{
	if (display->writers[writer].is_silent)
		return "NO ANSWER";
	if (display->writers[writer].state.stopping)
		return "STOPPING";
	for (uint32_t i = 0; i < display->trcout_rows.count; i++)
		if (display->trcouts[i].writer == writer && display->trcouts[i].state.failing != 0)
			return "FAILING";
	return display->writers[writer].state.is_full ? "FULL" : "ACTIVE";
}
