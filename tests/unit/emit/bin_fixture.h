/*
 * bin_fixture.h - what the BINFILE tests share: an emitter's context, events to give it, and
 * babeltrace2 to read the result.
 *
 * Every test works in a new directory that is the current one.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_BIN_FIXTURE_H
#define CT_BIN_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/emit/binfile.h"
#include "read/read.h"
#include "run_fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))
#define START_NS 1700000000000000000u /* 2023-11-14 22:13:20 UTC */

struct fixture {
	char directory[64];
	char before[4096];
	char properties[512]; /* "NAME=value\n" */
	char value[256];
	struct ctrace_place place;
	struct ctrace_emitter_context context;
	void *self;
	uint64_t now_ns;
};

static struct fixture *fixture_of(const struct ctrace_emitter_context *context)
{
	return (struct fixture *)((char *)(uintptr_t)context - offsetof(struct fixture, context));
}

static const char *fixture_property(const struct ctrace_emitter_context *context, const char *name)
{
	struct fixture *f = fixture_of(context);
	const char *line = f->properties;

	while (*line != '\0') {
		size_t size = strcspn(line, "\n");
		size_t name_size = strcspn(line, "=");

		if (name_size == strlen(name) && memcmp(line, name, name_size) == 0) {
			(void)snprintf(f->value, sizeof f->value, "%.*s",
				       (int)(size - name_size - 1), line + name_size + 1);
			return f->value;
		}
		line += size + (line[size] == '\n');
	}
	for (const struct ctrace_property *row = ct_emit_binfile.properties; row->name != NULL;
	     row++)
		if (strcmp(row->name, name) == 0)
			return row->default_value;
	return NULL;
}

static uint64_t fixture_number(const struct ctrace_emitter_context *context, const char *name)
{
	const char *value = fixture_property(context, name);

	return value != NULL ? ct_value_number(value, strlen(value)) : 0;
}

static UNUSED int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	run_begin();
	strcpy(f->directory, "/tmp/ctrace-bin.XXXXXX");
	if (getcwd(f->before, sizeof f->before) == NULL || mkdtemp(f->directory) == NULL ||
	    chdir(f->directory) != 0)
		return -1;
	setenv("TZ", "UTC", 1);
	f->context = (struct ctrace_emitter_context){
		.size = sizeof f->context,
		.property = fixture_property,
		.number = fixture_number,
		.pid = 4711,
		.asid = 7,
		.jobname = "JOB1",
		.program = "prog",
		.command_line = "prog --x",
		.host = "host1",
		.system = "Linux 6.1",
		.directory = "",
		.working_directory = f->directory,
		.start_ns = START_NS,
		.place = &f->place,
	};
	f->now_ns = START_NS;
	*state = f;
	return 0;
}

static UNUSED int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	ct_point_set(NULL);
	for (int call = 0; call < CT_OS_CALL_COUNT; call++)
		ct_os_fail((enum ct_os_call)call, 0, 0, 0);
	if (f->self != NULL)
		ct_emit_binfile.close(f->self);
	if (chdir(f->before) != 0)
		return -1;
	(void)snprintf(command, sizeof command, "rm -rf %s", f->directory);
	free(f);
	return system(command);
}

/* A new directory t.ctb without an emitter around it. */
static UNUSED struct ct_bin_directory *directory_new(struct fixture *f)
{
	struct ct_bin_open_mode mode = { .may_replace_own = true };
	struct ct_bin_directory *directory;
	struct ct_trace_info info;

	ct_bin_info_fill(&info, &f->context);
	mode.info = &info;
	assert_int_equal(ct_bin_directory_create("t.ctb", &mode, &directory), CTRACE_OK);
	return directory;
}

static UNUSED void fixture_open(struct fixture *f, const char *properties)
{
	if (properties != NULL)
		(void)snprintf(f->properties, sizeof f->properties, "%s", properties);
	assert_int_equal(ct_emit_binfile.open(&f->context, &f->self), CTRACE_OK);
}

static UNUSED void fixture_close(struct fixture *f)
{
	ct_emit_binfile.close(f->self);
	f->self = NULL;
}

/* An event with one text; each is a microsecond later. */
static UNUSED struct ctrace_event text_event(struct fixture *f, struct ctrace_event_item *item,
					     const char *component, uint32_t id, const char *text)
{
	*item = (struct ctrace_event_item){ .type = CTRACE_TYPE_TEXT,
					    .size = (uint32_t)strlen(text),
					    .data = text };
	f->now_ns += 1000;
	return (struct ctrace_event){
		.time_ns = f->now_ns,
		.component = component,
		.component_size = (uint32_t)strlen(component),
		.component_id = (unsigned char)component[0],
		.event_id = id,
		.level = CTRACE_INFO,
		.pid = f->context.pid,
		.tid = 100,
		.item_count = 1,
		.items = item,
	};
}

static UNUSED enum ctrace_status write_events(struct fixture *f, struct ctrace_event *events,
					      uint32_t count, struct ctrace_stream *streams,
					      uint32_t stream_count)
{
	const struct ctrace_batch batch = {
		.size = sizeof batch,
		.events = events,
		.event_count = count,
		.streams = streams,
		.stream_count = stream_count,
	};

	return write_as_runs(&ct_emit_binfile, f->self, &batch);
}

static enum ctrace_status directory_write(void *self, const struct ctrace_batch *batch)
{
	return ct_bin_write(self, batch);
}

/* The same for a directory without an emitter: one event with this text. */
static UNUSED enum ctrace_status write_to_directory(struct fixture *f,
						    struct ct_bin_directory *directory,
						    struct ctrace_stream *stream, const char *text)
{
	static const struct ctrace_emitter only_write = { .size = sizeof only_write,
							  .write = directory_write };
	struct ctrace_event_item item;
	struct ctrace_event event = text_event(f, &item, "COMP", 1, text);

	event.stream = 0;
	return write_as_runs(&only_write, directory,
			     &(struct ctrace_batch){ .size = sizeof(struct ctrace_batch),
						     .events = &event,
						     .event_count = 1,
						     .streams = stream,
						     .stream_count = 1 });
}

/* count events "<text> <number from `first`>" of component COMP, id 1. */
static UNUSED enum ctrace_status write_numbered(struct fixture *f, struct ctrace_stream *stream,
						unsigned first, unsigned count)
{
	struct ctrace_event *events = calloc(count, sizeof *events);
	struct ctrace_event_item *items = calloc(count, sizeof *items);
	char(*texts)[24] = calloc(count, sizeof *texts);
	enum ctrace_status status;

	for (unsigned i = 0; i < count; i++) {
		(void)snprintf(texts[i], sizeof texts[i], "number %u.", first + i);
		events[i] = text_event(f, &items[i], "COMP", 1, texts[i]);
	}
	status = write_events(f, events, count, stream, 1);
	free(events);
	free(items);
	free(texts);
	return status;
}

/* What babeltrace2 says of the trace; asserts that it is content.  *out_errors: what it says on
 * standard error.  To be freed. */
static UNUSED char *babeltrace(const char *arguments, char **out_errors)
{
	char command[1024];
	struct ct_buf out = { 0 }, errors = { 0 };

	(void)snprintf(command, sizeof command, "babeltrace2 %s >bt.out 2>bt.err", arguments);
	if (system(command) != 0)
		fail_msg("babeltrace2 %s: %s", arguments,
			 system("cat bt.err >&2") == 0 ? "see above" : "");
	assert_int_equal(ct_os_read_file("bt.out", (size_t)1 << 30, &out), CTRACE_OK);
	assert_int_equal(ct_os_read_file("bt.err", (size_t)1 << 20, &errors), CTRACE_OK);
	(void)ct_buf_text(&out);
	(void)ct_buf_text(&errors);
	if (out_errors != NULL)
		*out_errors = errors.data;
	else if (errors.size != 0)
		fail_msg("babeltrace2 %s says: %s", arguments, errors.data);
	if (out_errors == NULL)
		ct_buf_fini(&errors);
	return out.data;
}

static UNUSED unsigned count_lines(const char *text)
{
	unsigned count = 0;

	for (; *text != '\0'; text++)
		count += *text == '\n';
	return count;
}

/* Asserts that babeltrace2 sees "number <first>." to "number <first + count - 1>.", each once, in
 * order, and nothing else. */
static UNUSED void assert_numbers(const char *trace, unsigned first, unsigned count)
{
	char *text = babeltrace(trace, NULL);
	const char *at = text;

	for (unsigned i = 0; i < count; i++) {
		char wanted[32];
		const char *found;

		(void)snprintf(wanted, sizeof wanted, "\"number %u.\"", first + i);
		found = strstr(at, wanted);
		if (found == NULL)
			fail_msg("%s is not there, or not in order", wanted);
		at = found + 1;
	}
	assert_int_equal(count_lines(text), count);
	free(text);
}

static UNUSED uint64_t file_size(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 ? (uint64_t)info.st_size : UINT64_MAX;
}

#endif
