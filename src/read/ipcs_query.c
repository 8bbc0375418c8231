/*
 * ipcs_query.c - which traces there are: names, how many entries, from when to when.
 *
 * Called by the run for every event that it reads.  A trace may claim any number of names: past a bound they are only counted.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/ipcs.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64u

void ct_ipcs_traces_fini(struct ct_ipcs_traces *traces)
{
	for (uint32_t i = 0; i < traces->count; i++)
		free(traces->at[i].name);
	free(traces->at);
	free(traces->slots);
	*traces = (struct ct_ipcs_traces){ 0 };
}

static bool is_named(const struct ct_ipcs_trace *trace, const struct ctrace_event *event)
{
	return ct_name_equal(trace->name, trace->name_size, event->component, event->component_size);
}

/* The slot of the name, or the free one where it belongs. */
static uint32_t *slot_of(const struct ct_ipcs_traces *traces, const struct ctrace_event *event)
{
	uint32_t mask = traces->slot_count - 1;
	uint32_t i = ct_name_hash(event->component, event->component_size) & mask;

	while (traces->slots[i] != 0 && !is_named(&traces->at[traces->slots[i] - 1], event))
		i = (i + 1) & mask;
	return &traces->slots[i];
}

static bool grow(struct ct_ipcs_traces *traces)
{
	uint32_t slot_count = traces->slot_count == 0 ? FIRST_SLOTS : traces->slot_count * 2;
	uint32_t *slots = calloc(slot_count, sizeof *slots);
	struct ct_ipcs_trace *at = reallocarray(traces->at, slot_count / 2, sizeof *at);

	if (at != NULL)
		traces->at = at;
	if (slots == NULL || at == NULL) {
		free(slots);
		return false;
	}
	free(traces->slots);
	traces->slots = slots;
	traces->slot_count = slot_count;
	traces->capacity = slot_count / 2;
	for (uint32_t i = 0; i < traces->count; i++) {
		struct ctrace_event named = { .component = at[i].name, .component_size = (uint32_t)at[i].name_size };

		*slot_of(traces, &named) = i + 1;
	}
	return true;
}

static struct ct_ipcs_trace *add(struct ct_ipcs_traces *traces, const struct ctrace_event *event)
{
	char *name;

	if (traces->count == CT_IPCS_TRACES) {
		traces->others++;
		return NULL;
	}
	name = strndup(event->component, event->component_size);
	if (name == NULL || (traces->count == traces->capacity && !grow(traces)) || traces->at == NULL) {
		free(name);
		traces->has_failed = true;
		return NULL;
	}
	traces->at[traces->count] = (struct ct_ipcs_trace){
		.name = name, .name_size = strlen(name), .first_ns = event->time_ns, .last_ns = event->time_ns
	};
	*slot_of(traces, event) = ++traces->count;
	return &traces->at[traces->count - 1];
}

static struct ct_ipcs_trace *find(struct ct_ipcs_traces *traces, const struct ctrace_event *event)
{
	uint32_t slot;

	if (traces->last < traces->count && is_named(&traces->at[traces->last], event))
		return &traces->at[traces->last];
	slot = traces->slot_count != 0 ? *slot_of(traces, event) : 0;
	return slot != 0 ? &traces->at[slot - 1] : NULL;
}

void ct_ipcs_traces_note(struct ct_ipcs_traces *traces, const struct ctrace_event *event)
{
	struct ct_ipcs_trace *trace = find(traces, event);

	if (trace == NULL)
		trace = add(traces, event);
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
	struct ct_ipcs_trace *trace = find(traces, &event);

	if (trace == NULL)
		trace = add(traces, &event);
	if (trace != NULL && trace->count == 0)
		trace->first_ns = UINT64_MAX;
}

static int compare(const void *a, const void *b)
{
	const struct ct_ipcs_trace *left = a;
	const struct ct_ipcs_trace *right = b;

	return strcasecmp(left->name, right->name);
}

void ct_ipcs_traces_sort(struct ct_ipcs_traces *traces)
{
	if (traces->count != 0)
		qsort(traces->at, traces->count, sizeof *traces->at, compare);
}

bool ct_ipcs_is_below(const struct ct_ipcs_command *command, const struct ct_ipcs_trace *trace)
{
	for (size_t size = 0; size < trace->name_size; size++)
		if (trace->name[size] == '.' && ct_ipcs_names(command->component, command->sub, trace->name, size))
			return true;
	return false;
}
