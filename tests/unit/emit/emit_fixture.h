/*
 * emit_fixture.h - what an emitter is told and given when a test drives it, in the place of the
 * consumer.
 *
 * The test's program: the context is a real one, with properties that come from the emitter's own
 * table until fixture_set() says otherwise; events are built one at a time, a sequence number in
 * each.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef EMIT_FIXTURE_H
#define EMIT_FIXTURE_H

#include "lib/emit/emit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIXTURE_SETTINGS 16
#define FIXTURE_EVENTS 1024
#define FIXTURE_TIME 1536851547993456789ull /* 2018-09-13 15:12:27.993 UTC */

struct fixture {
	struct ctrace_emitter_context context; /* first: the property function casts */
	const struct ctrace_emitter *emitter;
	struct {
		const char *name;
		const char *value;
	} settings[FIXTURE_SETTINGS];
	size_t setting_count;
	struct ctrace_place place;
	char directory[256];
	void *self;
	struct ctrace_event events[FIXTURE_EVENTS];
	struct ctrace_event_item items[FIXTURE_EVENTS];
	char texts[FIXTURE_EVENTS][16];
};

static inline const char *fixture_property(const struct ctrace_emitter_context *context,
					   const char *name)
{
	const struct fixture *fixture = (const struct fixture *)context;
	const struct ctrace_property *row =
		ct_emitter_property(fixture->emitter, name, strlen(name));

	for (size_t i = 0; i < fixture->setting_count; i++) {
		if (ct_name_is(name, strlen(name), fixture->settings[i].name))
			return fixture->settings[i].value;
	}
	return row != NULL ? row->default_value : NULL;
}

static inline uint64_t fixture_number(const struct ctrace_emitter_context *context,
				      const char *name)
{
	const char *value = fixture_property(context, name);

	return value != NULL ? ct_value_number(value, strlen(value)) : 0;
}

static inline void fixture_set(struct fixture *fixture, const char *name, const char *value)
{
	for (size_t i = 0; i < fixture->setting_count; i++) {
		if (strcmp(fixture->settings[i].name, name) == 0) {
			fixture->settings[i].value = value;
			return;
		}
	}
	assert_true(fixture->setting_count < FIXTURE_SETTINGS);
	fixture->settings[fixture->setting_count].name = name;
	fixture->settings[fixture->setting_count++].value = value;
}

/* A fixture in a new empty directory, which is the traced program's working directory. */
static inline struct fixture *fixture_create(const struct ctrace_emitter *emitter)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);
	const char *parent = getenv("TMPDIR");

	assert_non_null(fixture);
	(void)snprintf(fixture->directory, sizeof fixture->directory, "%s/emit.XXXXXX",
		       parent != NULL ? parent : "/tmp");
	assert_non_null(mkdtemp(fixture->directory));
	fixture->emitter = emitter;
	fixture->context = (struct ctrace_emitter_context){
		.size = sizeof fixture->context,
		.property = fixture_property,
		.number = fixture_number,
		.pid = 17356,
		.asid = 42,
		.jobname = "MYMAIN",
		.program = "mymain",
		.command_line = "mymain",
		.host = "asterix",
		.system = "AIX 5.1",
		.directory = "",
		.working_directory = fixture->directory,
		.start_ns = FIXTURE_TIME,
		.place = &fixture->place,
	};
	return fixture;
}

static inline void fixture_remove_directory(const char *directory)
{
	char command[4200];

	(void)snprintf(command, sizeof command, "chmod -R u+rwX '%s' && rm -rf '%s'", directory,
		       directory);
	assert_int_equal(system(command), 0);
}

static inline enum ctrace_status fixture_open(struct fixture *fixture)
{
	return fixture->emitter->open(&fixture->context, &fixture->self);
}

static inline void fixture_close(struct fixture *fixture)
{
	if (fixture->self != NULL)
		fixture->emitter->close(fixture->self);
	fixture->self = NULL;
}

static inline void fixture_destroy(struct fixture *fixture)
{
	fixture_close(fixture);
	fixture_remove_directory(fixture->directory);
	free(fixture);
}

/* A batch of `count` events of level INFO, numbered from `first`: "e000012" is the text of
 * number 12. */
static inline struct ctrace_batch fixture_batch(struct fixture *fixture, uint32_t first,
						uint32_t count)
{
	assert_true(count <= FIXTURE_EVENTS);
	for (uint32_t i = 0; i < count; i++) {
		(void)snprintf(fixture->texts[i], sizeof fixture->texts[i], "e%06u", first + i);
		fixture->items[i] = (struct ctrace_event_item){ .type = CTRACE_TYPE_TEXT,
								.size = 7,
								.data = fixture->texts[i] };
		fixture->events[i] = (struct ctrace_event){
			.time_ns = FIXTURE_TIME + (uint64_t)(first + i) * 1000,
			.component = "MF.RTS",
			.component_size = 6,
			.component_id = 3,
			.event_id = 255,
			.level = CTRACE_INFO,
			.pid = 17356,
			.tid = 99,
			.item_count = 1,
			.items = &fixture->items[i],
		};
	}
	return (struct ctrace_batch){ .size = sizeof(struct ctrace_batch),
				      .events = fixture->events,
				      .event_count = count };
}

static inline enum ctrace_status fixture_write(struct fixture *fixture, uint32_t first,
					       uint32_t count)
{
	struct ctrace_batch batch = fixture_batch(fixture, first, count);

	return fixture->emitter->write(fixture->self, &batch);
}

/* The text of a file of the fixture's directory (or of an absolute path); "" when there is none.
 * Freed by the caller. */
static inline char *fixture_read(const struct fixture *fixture, const char *name)
{
	char path[8192];
	struct ct_buf text;

	(void)snprintf(path, sizeof path, "%s/%s", name[0] == '/' ? "" : fixture->directory, name);
	ct_buf_init(&text);
	if (access(path, F_OK) == 0)
		assert_int_equal(ct_os_read_file(path, SIZE_MAX, &text), CTRACE_OK);
	(void)ct_buf_text(&text);
	return text.data;
}

static inline void fixture_put(const struct fixture *fixture, const char *name, const char *text)
{
	char path[8192];
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/%s", fixture->directory, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	assert_int_equal(fclose(file), 0);
}

/* How often `what` stands in the file. */
static inline unsigned fixture_count(const struct fixture *fixture, const char *name,
				     const char *what)
{
	char *text = fixture_read(fixture, name);
	unsigned count = 0;

	for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
		count++;
	free(text);
	return count;
}

/* Each line of the file is whole: a header line, a loss line, or an event of the default FORMAT;
 * the events are numbered from first without a gap.  Returns the number after the last. */
static inline uint32_t fixture_check_events(const struct fixture *fixture, const char *name,
					    uint32_t first)
{
	char *text = fixture_read(fixture, name);
	char *rest = text;

	for (char *line = strsep(&rest, "\n"); line != NULL && rest != NULL;
	     line = strsep(&rest, "\n")) {
		const char *data;

		if (line[0] == '#')
			continue;
		data = strstr(line, " MF.RTS 255 1 \"e");
		assert_non_null(data);
		assert_int_equal(strlen(data), strlen(" MF.RTS 255 1 \"e000000\""));
		assert_int_equal(strtoul(data + strlen(" MF.RTS 255 1 \"e"), NULL, 10), first);
		first++;
	}
	assert_true(rest == NULL || rest[0] == '\0');
	free(text);
	return first;
}

#endif
