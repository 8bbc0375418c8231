/*
 * ipcs_query.c - QUERY: which traces there are, how many entries, from when to when.
 *
 * Called by the run for every event that it reads, and to print the list.  A trace may have any
 * number of names: past a bound they are only counted.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs.h"

#include <stdlib.h>
#include <string.h>

#include "operator/display/display.h"

void ct_ipcs_traces_fini(struct ct_ipcs_traces *traces)
{
	for (uint32_t i = 0; i < traces->count; i++)
		free(traces->at[i].name);
	free(traces->at);
	ct_hash_table_fini(&traces->table);
	*traces = (struct ct_ipcs_traces){ 0 };
}

static bool trace_is_named(const void *items, uint32_t number, const void *key)
{
	const struct ct_ipcs_trace *trace = (const struct ct_ipcs_trace *)items + number;
	const struct ctrace_event *event = key;

	return ct_name_equal(trace->name, trace->name_size, event->component,
			     event->component_size);
}

static uint32_t name_hash(const struct ctrace_event *event)
{
	return ct_name_hash(event->component, event->component_size);
}

static struct ct_ipcs_trace *trace_add(struct ct_ipcs_traces *traces,
				       const struct ctrace_event *event)
{
	struct ct_ipcs_trace *at;
	char *name;

	if (traces->count == CT_IPCS_TRACES) {
		traces->others++;
		return NULL;
	}
	at = ct_hash_table_reserve_items(&traces->table, traces->at, sizeof *at);
	if (at != NULL)
		traces->at = at;
	name = at != NULL ? strndup(event->component, event->component_size) : NULL;
	if (name == NULL) {
		traces->has_failed = true;
		return NULL;
	}
	at[traces->count] = (struct ct_ipcs_trace){ .name = name,
						    .name_size = strlen(name),
						    .first_ns = event->time_ns,
						    .last_ns = event->time_ns };
	ct_hash_table_add(&traces->table, name_hash(event), traces->count);
	return &at[traces->count++];
}

static struct ct_ipcs_trace *trace_find(struct ct_ipcs_traces *traces,
					const struct ctrace_event *event)
{
	uint32_t found;

	if (traces->last < traces->count && trace_is_named(traces->at, traces->last, event))
		return &traces->at[traces->last];
	found = ct_hash_table_find(&traces->table, name_hash(event), trace_is_named, traces->at,
				   event);
	return found != CT_HASH_TABLE_NONE ? &traces->at[found] : NULL;
}

void ct_ipcs_traces_note(struct ct_ipcs_traces *traces, const struct ctrace_event *event)
{
	struct ct_ipcs_trace *trace = trace_find(traces, event);

	if (trace == NULL)
		trace = trace_add(traces, event);
	if (trace == NULL)
		return;
	traces->last = (uint32_t)(trace - traces->at);
	trace->count++;
	if (event->time_ns < trace->first_ns)
		trace->first_ns = event->time_ns;
	if (event->time_ns > trace->last_ns)
		trace->last_ns = event->time_ns;
}

void ct_ipcs_traces_name(struct ct_ipcs_traces *traces, const char *name, size_t size)
{
	struct ctrace_event event = { .component = name, .component_size = (uint32_t)size };
	struct ct_ipcs_trace *trace = trace_find(traces, &event);

	if (trace == NULL)
		trace = trace_add(traces, &event);
	if (trace != NULL && trace->count == 0)
		trace->first_ns = UINT64_MAX;
}

static int trace_compare(const void *a, const void *b)
{
	const struct ct_ipcs_trace *left = a;
	const struct ct_ipcs_trace *right = b;

	return strcasecmp(left->name, right->name);
}

void ct_ipcs_traces_sort(struct ct_ipcs_traces *traces)
{
	if (traces->count != 0)
		qsort(traces->at, traces->count, sizeof *traces->at, trace_compare);
}

bool ct_ipcs_is_below(const struct ct_ipcs_command *command, const struct ct_ipcs_trace *trace)
{
	for (size_t size = 0; size < trace->name_size; size++)
		if (trace->name[size] == '.' &&
		    ct_ipcs_names(command->component, command->sub, trace->name, size))
			return true;
	return false;
}

/* ---- as CTRACE QUERY lists them ---- */

void ct_ipcs_print_query_title(struct ct_buf *out)
{
	ct_buf_add_text(out, " COMPONENT TRACE QUERY SUMMARY\n");
}

void ct_ipcs_print_query(struct ct_buf *out, const struct ct_ipcs_trace *trace, bool has_times,
			 bool is_local)
{
	size_t head = ct_ipcs_head_size(trace->name, trace->name_size);

	ct_buf_add_text(out, " COMP(");
	ct_ipcs_add_plain(out, trace->name, head);
	ct_buf_add_char(out, ')');
	if (head < trace->name_size) {
		ct_buf_add_text(out, "SUBNAME((");
		ct_ipcs_add_plain(out, trace->name + head + 1, trace->name_size - head - 1);
		ct_buf_add_text(out, "))");
	}
	ct_buf_add_char(out, '\n');
	if (!has_times || trace->count == 0)
		return;
	ct_buf_add_text(out, " START = ");
	ct_ipcs_print_time(out, trace->first_ns, is_local);
	ct_buf_add_text(out, "\n STOP  = ");
	ct_ipcs_print_time(out, trace->last_ns, is_local);
	ct_buf_add_char(out, '\n');
}

static void add_options(struct ct_buf *out, const char *options)
{
	ct_buf_add_text(out, " OPTIONS: ");
	ct_ipcs_add_plain(out, options[0] != '\0' ? options : "*NONE*",
			  options[0] != '\0' ? strlen(options) : 6);
	ct_buf_add_char(out, '\n');
}

void ct_ipcs_print_definition(struct ct_buf *out, const struct ct_ipcs_definition *definition,
			      bool is_one_of_several)
{
	if (is_one_of_several) {
		ct_buf_add_format(out, " ASID=%04X JOBNAME=", definition->asid);
		ct_ipcs_add_plain(out, definition->jobname, strlen(definition->jobname));
		ct_buf_add_char(out, '\n');
	}
	ct_buf_add_text(out, " Buffer size: ");
	if (definition->buffer_bytes != 0)
		ct_display_add_size(out, definition->buffer_bytes);
	else
		ct_buf_add_text(out, "*NONE*");
	ct_buf_add_char(out, '\n');
	add_options(out, definition->options);
	add_options(out, definition->minops);
}
