/*
 * binfile_trace.c - the metadata of a BINFILE trace: its process and the classes of its events.
 *
 * Called by source_bin.c, on the reader's thread.  The metadata may be damaged, and grow while they
 * are read: a class, once found, neither moves nor changes, since events point to its names.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/binfile_parts.h"

#include "lib/emit/binfile.h"
#include "read/binfile_metadata.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* -----------------------------------------------------------------------------------------------
 * The metadata
 */

/* Reports the clock steps in the metadata.  A trace that began after a step repeats its mark; that
 * is reported only if the trace's times deviate from the clock. */
static void report_clock_steps(struct ct_binfile_trace *trace, struct ct_sources *sources,
			       const struct ct_buf *text)
{
	struct ct_bin_clock_mark mark;

	while (ct_bin_clock_mark_next(text->data, text->size, &trace->clock_at, &mark)) {
		struct ct_clock_step step = { .by_ns = mark.by_ns,
					      .at_ns = mark.at_ns,
					      .ahead_ns = mark.ahead_ns };

		if (step.by_ns != 0 || step.ahead_ns >= 1000000u)
			ct_sources_clock(sources, trace->metadata_path, trace->source_process,
					 &step);
	}
}

struct damage_report {
	struct ct_sources *sources;
	const char *path;
	size_t end;
};

static void damage_report(size_t at, size_t size, void *user)
{
	const struct damage_report *report = user;

	ct_sources_damage(report->sources, report->path, at, size,
			  at + size < report->end ? "not understood"
						  : "not understood from here on");
}

/* The time in the middle: streams overlap a little at the edges of what was left out. */
static void left_out_find(struct ct_binfile_trace *trace, const struct ct_buf *text)
{
	struct ct_bin_left_out left_out;

	if (ct_bin_left_out_find(text->data, text->size, &left_out))
		trace->left_out_ns = left_out.begin_ns + (left_out.end_ns - left_out.begin_ns) / 2;
}

/* Reads the metadata, or reads them again when they have grown.  Classes are only ever added. */
static enum ctrace_status metadata_read(struct ct_binfile_trace *trace, struct ct_sources *sources)
{
	struct damage_report report = { .sources = sources, .path = trace->metadata_path };
	struct ct_buf text;
	enum ctrace_status status;
	size_t at = 0;

	ct_buf_init(&text);
	status = ct_os_read_file(trace->metadata_path, CT_METADATA_LIMIT, &text);
	if (status == CTRACE_OK)
		status = ct_binfile_info_parse(text.data, text.size, &trace->info, &at);
	if (status == CTRACE_OK) {
		report.end = trace->metadata_size = text.size;
		status = ct_binfile_classes_parse(trace->schema,
						  (struct ct_span){ text.data, text.size }, at,
						  damage_report, &report);
		trace->image = ct_schema_image(trace->schema);
		report_clock_steps(trace, sources, &text);
		left_out_find(trace, &text);
	}
	ct_buf_fini(&text);
	return status == CTRACE_DAMAGED ? CTRACE_UNSUPPORTED : status;
}

static bool metadata_has_grown(const struct ct_binfile_trace *trace)
{
	struct stat info;

	return stat(trace->metadata_path, &info) == 0 &&
	       (uint64_t)info.st_size > trace->metadata_size;
}

static enum ctrace_status find_source_process(struct ct_binfile_trace *trace,
					      struct ct_sources *sources, const char *directory)
{
	const struct ct_trace_info *info = &trace->info;
	struct ct_process_key key = {
		.host = info->host,
		.program = info->program,
		.jobname = info->jobname,
		.format = info->format,
		.path = directory,
		.pid = info->pid,
		.asid = info->asid,
		.started_ns = info->start_ns,
		.is_big = info->is_big,
	};

	if (ct_metadata_lock_holder(AT_FDCWD, trace->metadata_path) == (pid_t)info->pid)
		key.ended_ns = ct_clock_wall_ns();
	trace->source_process = ct_sources_source_process(sources, &key);
	if (trace->source_process != NULL && trace->left_out_ns != 0)
		ct_sources_left_out(sources, trace->source_process, trace->left_out_ns);
	return trace->source_process != NULL ? CTRACE_OK : CTRACE_NOT_ENOUGH_MEMORY;
}

void ct_binfile_trace_unref(struct ct_binfile_trace *trace)
{
	if (trace == NULL || --trace->users > 0)
		return;
	ct_schema_destroy(trace->schema);
	for (uint32_t i = 0; i < trace->class_count; i++)
		free(trace->classes[i].names);
	free(trace->classes);
	free(trace->metadata_path);
	free(trace);
}

enum ctrace_status ct_binfile_trace_open(struct ct_sources *sources, const char *directory,
					 struct ct_binfile_trace **out_trace)
{
	struct ct_binfile_trace *trace = calloc(1, sizeof *trace);
	enum ctrace_status status;

	if (trace == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	trace->users = 1;
	status = asprintf(&trace->metadata_path, "%s/metadata", directory) < 0
			 ? CTRACE_NOT_ENOUGH_MEMORY
			 : ct_schema_create(&trace->schema);
	if (status == CTRACE_OK)
		status = metadata_read(trace, sources);
	if (status == CTRACE_OK)
		status = find_source_process(trace, sources, directory);
	if (status != CTRACE_OK) {
		ct_binfile_trace_unref(trace);
		return status;
	}
	*out_trace = trace;
	return CTRACE_OK;
}

/* -----------------------------------------------------------------------------------------------
 * Classes of events
 */

/* Makes room for all classes of the schema. */
static bool classes_reserve(struct ct_binfile_trace *trace, uint32_t index)
{
	uint32_t count = ct_schema_count(trace->schema);
	struct ct_binfile_class *classes;

	if (index < trace->class_count)
		return true;
	classes = reallocarray(trace->classes, count, sizeof *classes);
	if (classes == NULL)
		return false;
	memset(classes + trace->class_count, 0, (count - trace->class_count) * sizeof *classes);
	trace->classes = classes;
	trace->class_count = count;
	return true;
}

/* Counts the items up to the last one with a name; 0: no item has a name. */
static uint32_t names_count(const struct ct_class_names *names)
{
	uint32_t count = names->item_count;

	while (count > 0 && names->items[count - 1] == NULL)
		count--;
	return count;
}

/* Copies the names into one block; an unnamed item between named ones is called by its number.
 * Returns NULL when the class has no names, or without memory. */
static struct ct_event_names *class_copy_names(const struct ct_class *class)
{
	typedef char number[16];
	uint32_t count = class->names != NULL ? names_count(class->names) : 0;
	struct ct_event_names *names =
		class->names != NULL
			? malloc(sizeof *names + count * (sizeof(const char *) + sizeof(number)))
			: NULL;
	const char **items;
	number *numbers;

	if (names == NULL)
		return NULL;
	items = (const char **)(names + 1);
	numbers = (number *)(items + count);
	for (uint32_t i = 0; i < count; i++) {
		items[i] = class->names->items[i] != NULL ? class->names->items[i] : numbers[i];
		(void)snprintf(numbers[i], sizeof(number), "data%u", i + 1);
	}
	*names = (struct ct_event_names){ .mnemonic = class->names->mnemonic,
					  .items = count > 0 ? items : NULL,
					  .item_count = count };
	return names;
}

const struct ct_binfile_class *ct_binfile_class_find(struct ct_binfile_trace *trace,
						     const struct ct_sources *sources,
						     uint32_t number)
{
	const struct ct_class *class = ct_schema_find(trace->schema, number);
	struct ct_binfile_class *known;
	struct ct_read_event event;

	if (class == NULL || !classes_reserve(trace, class->index))
		return NULL;
	known = &trace->classes[class->index];
	*known = (struct ct_binfile_class){ .number = number,
					    .class = class,
					    .component_size = (uint32_t)strlen(class->component) };
	if (!ct_event_shape(&trace->image, number, &known->shape) || known->shape.is_long)
		known->shape.size = 0;
	known->names = class_copy_names(class);
	event = (struct ct_read_event){ .names = known->names,
					.definition = class->definition,
					.traced = { .component = class->component,
						    .component_size = known->component_size,
						    .event_id = class->event_id,
						    .level = class->level } };
	/* Each generic event carries its own class. */
	known->filter_result =
		number == CT_CLASS_ANY ? CT_FILTER_RESULT_MAYBE : ct_sources_class(sources, &event);
	known->component = event.component;
	known->type = event.type;
	return known;
}

bool ct_binfile_trace_grow(struct ct_binfile_trace *trace, struct ct_sources *sources)
{
	return metadata_has_grown(trace) && metadata_read(trace, sources) == CTRACE_OK;
}
