/*
 * reader.c - everything that a tool reads with: sources, merge, catalogue, pairing and filter in one line.
 *
 * Called by the tools, on one thread.  Memory depends on how many streams there are and how many spans are open, not on how many events.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include <stdlib.h>
#include <string.h>

struct ct_reader {
	struct ct_reader_options options;
	struct ct_sources sources;
	struct ct_pairing_state *pairing; /* NULL: nobody wants pairs */
	char **paths;                     /* what was added: to begin again */
	size_t path_count;
	struct ct_view live;
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
}

enum ctrace_status ct_reader_create(const struct ct_reader_options *options, struct ct_reader **out_reader)
{
	struct ct_reader *reader = calloc(1, sizeof *reader);
	bool has_pairs = options->has_pairs || (options->filter != NULL && (ct_filter_uses(options->filter) & CT_USES_DURATION) != 0);

	if (reader == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	reader->options = *options;
	if (has_pairs && ct_pairing_create(&reader->pairing) != CTRACE_OK) {
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

const struct ct_view *ct_reader_next(struct ct_reader *reader)
{
	struct ct_view *view;

	while ((view = ct_sources_next(&reader->sources)) != NULL) {
		view->duration_ns = CT_NO_DURATION;
		if (reader->pairing != NULL)
			ct_pairing_note(reader->pairing, view);
		if (reader->options.filter == NULL || ct_filter_accepts(reader->options.filter, view))
			return view;
	}
	return NULL;
}

enum ctrace_status ct_reader_rewind(struct ct_reader *reader)
{
	enum ctrace_status result = CTRACE_OK;

	ct_sources_fini(&reader->sources);
	if (reader->pairing != NULL) {
		ct_pairing_destroy(reader->pairing);
		reader->pairing = NULL;
		result = ct_pairing_create(&reader->pairing);
	}
	sources_init(reader);
	for (size_t i = 0; i < reader->path_count && result == CTRACE_OK; i++)
		result = ct_sources_add(&reader->sources, reader->paths[i]);
	return result;
}

const struct ct_read_totals *ct_reader_totals(const struct ct_reader *reader)
{
	return &reader->sources.totals;
}

const struct ct_origin *ct_reader_origin(const struct ct_reader *reader, size_t index)
{
	return index < reader->sources.origin_count ? reader->sources.origins[index] : NULL;
}

const struct ct_view *ct_reader_take(struct ct_reader *reader, const struct ctrace_event *event, const struct ct_origin *origin)
{
	struct ct_view *view = &reader->live;

	*view = (struct ct_view){ .event = *event, .origin = origin, .duration_ns = CT_NO_DURATION };
	view->sequence = ++reader->sources.totals.events;
	if (ct_sources_class(&reader->sources, view) == CT_VERDICT_NEVER)
		return NULL;
	if (reader->pairing != NULL)
		ct_pairing_note(reader->pairing, view);
	return reader->options.filter == NULL || ct_filter_accepts(reader->options.filter, view) ? view : NULL;
}
