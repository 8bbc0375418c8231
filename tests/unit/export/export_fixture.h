/*
 * export_fixture.h - runs an exporter over events made by hand, and gives what it wrote.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_EXPORT_FIXTURE_H
#define CT_EXPORT_FIXTURE_H

#include "../read/event_fixture.h"

#include <unistd.h>

#include "print/export/export.h"

#define EXPORT_VIEWS 32

static UNUSED const struct ct_source_process other_source_process = {
	.index = 1, .path = "/traces/b", .host = "", .program = "", .jobname = "", .pid = 4711
};

struct exported {
	char text[262144];
	size_t size;
	enum ctrace_status status;
};

/* An event `time_ns` behind the first possible one. */
static inline struct ct_read_event event_at(uint64_t time_ns, uint32_t tid,
					    const struct ctrace_event_item *items, uint32_t count)
{
	struct ct_read_event event = event_of(items, count);

	event.traced.time_ns += time_ns;
	event.traced.tid = tid;
	return event;
}

static inline struct ct_read_event span_begin(uint64_t time_ns, uint32_t tid, uint64_t span_id)
{
	struct ct_read_event event = event_at(time_ns, tid, NULL, 0);

	event.span_id = span_id;
	return event;
}

static inline struct ct_read_event span_end(uint64_t time_ns, uint32_t tid, uint64_t span_id)
{
	struct ct_read_event event = span_begin(time_ns, tid, span_id);

	event.duration_ns = 1;
	return event;
}

static UNUSED void export_events(struct exported *out, const struct ct_exporter *exporter,
				 struct ct_export_options options,
				 const struct ct_read_event *events, size_t count)
{
	FILE *file = tmpfile();
	void *self = NULL;

	assert_non_null(file);
	if (options.fd == 0)
		options.fd = fileno(file);
	assert_int_equal(exporter->open(&options, &self), CTRACE_OK);
	for (size_t i = 0; i < count && exporter->look != NULL; i++)
		exporter->look(self, &events[i]);
	for (size_t i = 0; i < count; i++)
		exporter->add(self, &events[i]);
	out->status = exporter->end(self);
	exporter->close(self);
	rewind(file);
	out->size = fread(out->text, 1, sizeof out->text - 1, file);
	out->text[out->size] = '\0';
	(void)fclose(file);
}

/* How often the text has the word. */
static UNUSED unsigned count_of(const struct exported *exported, const char *word)
{
	unsigned count = 0;

	for (const char *at = exported->text; (at = strstr(at, word)) != NULL; at++)
		count++;
	return count;
}

#endif
