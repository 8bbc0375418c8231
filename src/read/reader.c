/*
 * reader.c - the reader that tools use: sources, merge, catalogue, pairing and filter in a row.
 *
 * Called by the tools, on one thread.  Memory depends on the number of streams and open spans, not
 * on the number of events.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/read.h"
#include "read/filter/filter_hint.h"
#include "read/source.h"

#include <stdlib.h>
#include <string.h>

struct ct_reader {
	struct ct_reader_options options;
	struct ct_sources sources;
	struct ct_pairing_state *pairing; /* NULL: pairs are not wanted */
	char **paths;                     /* the added paths, for a rewind */
	size_t path_count;
	uint64_t since_ns; /* ct_reader_rewind_to(); 0: from the first event */
	struct ct_read_event live;
	struct ct_read_event *held; /* waits behind the inferred ends that it causes */
	uint64_t last_sequence;     /* of the last event that was noted */
	bool is_at_end;             /* no event is left but inferred ends */
};

static void sources_init(struct ct_reader *reader)
{
	struct ct_sources *sources = &reader->sources;
	const struct ct_filter *filter = reader->options.filter;

	ct_sources_init(sources, reader->options.report, reader->options.user);
	sources->catalog = reader->options.catalog;
	sources->filter = filter;
	sources->has_pairs = reader->pairing != NULL;
	sources->pairs_are_shown = reader->options.pairs_are_shown;
	sources->may_seek = filter == NULL || ct_filter_uses(filter) == 0;
	if (filter != NULL)
		ct_filter_times(filter, &sources->since_ns, &sources->until_ns);
	if (sources->since_ns < reader->since_ns)
		sources->since_ns = reader->since_ns;
	sources->lost = reader->options.lost;
	sources->step = reader->options.step;
	sources->step_user = reader->options.user;
}

enum ctrace_status ct_reader_create(const struct ct_reader_options *options,
				    struct ct_reader **out_reader)
{
	struct ct_reader *reader = calloc(1, sizeof *reader);
	bool has_pairs =
		options->has_pairs || (options->filter != NULL &&
				       (ct_filter_uses(options->filter) & CT_USES_DURATION) != 0);

	if (reader == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	reader->options = *options;
	/* Only a catalogue knows which events are pairs; the tools' is often empty. */
	if (has_pairs && options->catalog != NULL && ct_catalog_at(options->catalog, 0) != NULL &&
	    ct_pairing_create(options->has_inferred, &reader->pairing) != CTRACE_OK) {
		free(reader);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	sources_init(reader);
	*out_reader = reader;
	return CTRACE_OK;
}

void ct_reader_destroy(struct ct_reader *reader)
{
	if (reader == NULL)
		return;
	ct_sources_fini(&reader->sources);
	ct_pairing_destroy(reader->pairing);
	for (size_t i = 0; i < reader->path_count; i++)
		free(reader->paths[i]);
	free(reader->paths);
	free(reader);
}

static bool remember_path(struct ct_reader *reader, const char *path)
{
	char **paths = reallocarray(reader->paths, reader->path_count + 1, sizeof(char *));

	if (paths == NULL)
		return false;
	reader->paths = paths;
	paths[reader->path_count] = strdup(path);
	return paths[reader->path_count] != NULL;
}

enum ctrace_status ct_reader_add(struct ct_reader *reader, const char *path)
{
	enum ctrace_status status;

	if (!remember_path(reader, path))
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = ct_sources_add(&reader->sources, path);
	if (status == CTRACE_OK)
		reader->path_count++;
	else
		free(reader->paths[reader->path_count]);
	return status;
}

/* Returns the next inferred end, or else the event that waits behind them; NULL: neither. */
static struct ct_read_event *event_take_waiting(struct ct_reader *reader)
{
	struct ct_read_event *event = ct_pairing_next_inferred(reader->pairing);

	if (event != NULL) {
		event->sequence = reader->last_sequence;
		return event;
	}
	event = reader->held;
	reader->held = NULL;
	return event;
}

/* The next event of the sources or of the pairing. */
static struct ct_read_event *event_next_inferred(struct ct_reader *reader)
{
	struct ct_read_event *event, *inferred;

	if (reader->held != NULL || reader->is_at_end)
		return event_take_waiting(reader);
	event = ct_sources_next(&reader->sources);
	if (event == NULL) {
		reader->is_at_end = true;
		ct_pairing_finish(reader->pairing);
		return event_take_waiting(reader);
	}
	reader->last_sequence = event->sequence;
	ct_pairing_note(reader->pairing, event);
	inferred = ct_pairing_next_inferred(reader->pairing);
	if (inferred == NULL)
		return event;
	reader->held = event;
	inferred->sequence = event->sequence;
	return inferred;
}

static struct ct_read_event *event_next(struct ct_reader *reader)
{
	struct ct_read_event *event;

	if (reader->pairing != NULL && reader->options.has_inferred)
		return event_next_inferred(reader);
	event = ct_sources_next(&reader->sources);
	if (event == NULL)
		return NULL;
	event->duration_ns = CT_NO_DURATION;
	if (reader->pairing != NULL)
		ct_pairing_note(reader->pairing, event);
	return event;
}

const struct ct_read_event *ct_reader_next(struct ct_reader *reader)
{
	struct ct_read_event *event;

	while ((event = event_next(reader)) != NULL) {
		/* A wanted packet may begin with events before the time. */
		if (event->traced.time_ns < reader->since_ns)
			continue;
		if (reader->options.filter == NULL ||
		    ct_filter_accepts(reader->options.filter, event))
			return event;
	}
	return NULL;
}

enum ctrace_status ct_reader_rewind(struct ct_reader *reader)
{
	return ct_reader_rewind_to(reader, 0);
}

enum ctrace_status ct_reader_rewind_to(struct ct_reader *reader, uint64_t since_ns)
{
	enum ctrace_status result = CTRACE_OK;

	reader->since_ns = since_ns;
	reader->held = NULL;
	reader->is_at_end = false;

	ct_sources_fini(&reader->sources);
	if (reader->pairing != NULL) {
		ct_pairing_destroy(reader->pairing);
		reader->pairing = NULL;
		result = ct_pairing_create(reader->options.has_inferred, &reader->pairing);
	}
	sources_init(reader);
	for (size_t i = 0; i < reader->path_count && result == CTRACE_OK; i++)
		result = ct_sources_add(&reader->sources, reader->paths[i]);
	return result;
}

bool ct_reader_ends(struct ct_reader *reader, uint64_t *out_first_ns, uint64_t *out_last_ns)
{
	struct ct_sources *sources = &reader->sources;

	*out_first_ns = *out_last_ns = UINT64_MAX;
	if (!sources->may_seek)
		return false;
	for (size_t i = 0; i < sources->count; i++) {
		struct ct_source *source = sources->items[i];
		uint64_t first_ns = UINT64_MAX, last_ns = 0;

		if (source->ends == NULL || !source->ends(source, sources, &first_ns, &last_ns))
			return false;
		if (first_ns < *out_first_ns)
			*out_first_ns = first_ns;
		if (last_ns != 0 && (*out_last_ns == UINT64_MAX || last_ns > *out_last_ns))
			*out_last_ns = last_ns;
	}
	return sources->count > 0 && *out_last_ns != UINT64_MAX;
}

unsigned ct_reader_progress(const struct ct_reader *reader)
{
	double done = 0, total = 0;

	for (size_t i = 0; i < reader->sources.count; i++) {
		const struct ct_source *source = reader->sources.items[i];
		uint64_t size = 0;

		if (source->progress == NULL)
			return 0;
		done += (double)source->progress(source, &size);
		total += (double)size;
	}
	return total > 0 ? (unsigned)(1000 * done / total) : 0;
}

/* -----------------------------------------------------------------------------------------------
 * What lines must distinguish
 */

#define SURVEYED 256u /* events that are looked at */

static void survey_pair(struct ct_reader_survey *out, const struct ct_read_event *a,
			const struct ct_read_event *b)
{
	bool is_other_host = strcmp(a->source_process->host, b->source_process->host) != 0;
	bool is_other_process = is_other_host || a->traced.pid != b->traced.pid;

	out->has_hosts |= is_other_host;
	out->has_processes |= is_other_process;
	out->has_threads |= !is_other_process && a->traced.tid != b->traced.tid;
}

static void survey_first_events(struct ct_reader_survey *out, const struct ct_sources *sources)
{
	/* Compares each event with its neighbour and with the first.  The printer notices later
	 * what that misses. */
	for (size_t i = 1; i < sources->heap_size; i++) {
		survey_pair(out, &sources->heap[0]->event, &sources->heap[i]->event);
		survey_pair(out, &sources->heap[i - 1]->event, &sources->heap[i]->event);
	}
}

/* Opens the same paths and times again, without the filter. */
static bool sources_reopen(const struct ct_reader *reader, struct ct_sources *sources)
{
	ct_sources_init(sources, NULL, NULL);
	sources->catalog = reader->options.catalog;
	sources->may_seek = true;
	sources->since_ns = reader->sources.since_ns;
	sources->until_ns = reader->sources.until_ns;
	for (size_t i = 0; i < reader->path_count; i++)
		if (ct_sources_add(sources, reader->paths[i]) != CTRACE_OK)
			return false;
	return true;
}

void ct_reader_survey(const struct ct_reader *reader, struct ct_reader_survey *out)
{
	struct ct_sources sources;
	const struct ct_read_event *event;
	uint64_t before_ns = 0;

	*out = (struct ct_reader_survey){ .digits = 3 };
	out->is_whole = sources_reopen(reader, &sources) && ct_sources_start(&sources);
	if (out->is_whole)
		survey_first_events(out, &sources);
	for (unsigned i = 0; i < SURVEYED && (event = ct_sources_next(&sources)) != NULL; i++) {
		out->digits = ct_text_digits(out->digits, before_ns, event->traced.time_ns);
		before_ns = event->traced.time_ns;
	}
	out->is_whole = out->is_whole && sources.totals.damages == 0;
	ct_sources_fini(&sources);
}

#define HINTED 200000u /* events that are looked at */

bool ct_reader_hint(const struct ct_reader *reader, struct ct_buf *out)
{
	struct ct_filter_hint *hint;
	struct ct_sources sources;
	const struct ct_read_event *event = NULL;
	bool has_hint;

	if (reader->options.filter == NULL ||
	    ct_filter_hint_create(reader->options.filter, &hint) != CTRACE_OK)
		return false;
	(void)sources_reopen(reader, &sources);
	for (unsigned i = 0; i < HINTED && (event = ct_sources_next(&sources)) != NULL; i++)
		ct_filter_hint_note(hint, event);
	has_hint = ct_filter_hint_add(hint, event == NULL, out);
	ct_sources_fini(&sources);
	ct_filter_hint_destroy(hint);
	return has_hint;
}

void ct_reader_process_ended(struct ct_reader *reader, uint32_t pid, uint64_t ended_ns)
{
	struct ct_source_process *newest = NULL;

	for (size_t i = 0; i < reader->sources.source_process_count; i++) {
		struct ct_source_process *process = reader->sources.source_processes[i];

		if (process->pid == pid &&
		    (newest == NULL || process->started_ns >= newest->started_ns))
			newest = process;
	}
	if (newest != NULL)
		newest->ended_ns = ended_ns;
}

const struct ct_read_totals *ct_reader_totals(const struct ct_reader *reader)
{
	return &reader->sources.totals;
}

const struct ct_source_process *ct_reader_source_process(const struct ct_reader *reader,
							 size_t index)
{
	return index < reader->sources.source_process_count
		       ? reader->sources.source_processes[index]
		       : NULL;
}

const struct ct_read_event *ct_reader_take_inferred(struct ct_reader *reader)
{
	struct ct_read_event *event;

	while (reader->pairing != NULL &&
	       (event = ct_pairing_next_inferred(reader->pairing)) != NULL) {
		event->sequence = reader->sources.totals.events;
		if (reader->options.filter == NULL ||
		    ct_filter_accepts(reader->options.filter, event))
			return event;
	}
	return NULL;
}

const struct ct_read_event *ct_reader_take(struct ct_reader *reader,
					   const struct ctrace_event *traced,
					   const struct ct_event_names *names,
					   const struct ct_source_process *source_process)
{
	struct ct_read_event *event = &reader->live;

	*event = (struct ct_read_event){ .traced = *traced,
					 .source_process = source_process,
					 .names = names,
					 .duration_ns = CT_NO_DURATION };
	event->sequence = ++reader->sources.totals.events;
	if (ct_sources_class(&reader->sources, event) == CT_FILTER_RESULT_NEVER)
		return NULL;
	if (reader->pairing != NULL)
		ct_pairing_note(reader->pairing, event);
	return reader->options.filter == NULL || ct_filter_accepts(reader->options.filter, event)
		       ? event
		       : NULL;
}
