/*
 * journal_driver.c - drives the JOURNAL module as the consumer does, for journal.sh.
 *
 *     journal_driver MODULE COMMAND      [NAME=VALUE]... for properties
 *
 * open: opens and closes.  events: one event of each level with every type of item.  many: 2,000
 * events, each batch again until it is written; says "failed" when it is not at once.  large: one
 * event, number 300, of 400 items of 64 KiB.  stalled: writes until it fails, and says so.  Ends
 * with the status of the last call.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/emitter.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct ctrace_emitter *emitter;
static char **settings;

static const char *property(const struct ctrace_emitter_context *context, const char *name)
{
	size_t size = strlen(name);

	(void)context;
	for (char **setting = settings; *setting != NULL; setting++) {
		if (strncasecmp(*setting, name, size) == 0 && (*setting)[size] == '=')
			return *setting + size + 1;
	}
	for (const struct ctrace_property *row = emitter->properties; row->name != NULL; row++) {
		if (strcasecmp(row->name, name) == 0)
			return row->default_value;
	}
	return NULL;
}

static uint64_t number(const struct ctrace_emitter_context *context, const char *name)
{
	const char *value = property(context, name);

	return value != NULL && strcmp(value, "TRUE") == 0 ? 1
	       : value != NULL                             ? strtoull(value, NULL, 0)
							   : 0;
}

static const struct ctrace_event_item items[] = {
	{ CTRACE_TYPE_COMP5, 4, "\xAD\0\0\0", 173 },
	{ CTRACE_TYPE_TEXT, 22, "my\nprog\"\x1B[2JPRIORITY=0", 0 },
	{ CTRACE_TYPE_BINARY, 3, "\x01\x02\xFF", 0 },
	{ CTRACE_TYPE_ADDRESS, 8, NULL, 0x7FFC0010 },
	{ CTRACE_TYPE_COMP5S, 2, "\xFF\xFF", UINT64_MAX },
};

static struct ctrace_event event_of(uint32_t level, uint32_t id, uint32_t item_count)
{
	return (struct ctrace_event){
		.time_ns = 1536851547993456789ull + id,
		.component = "MF.RTS",
		.component_size = 6,
		.event_id = id,
		.level = level,
		.pid = (uint32_t)getpid(),
		.tid = 99,
		.item_count = item_count,
		.items = items,
	};
}

static enum ctrace_status write_levels(void *self)
{
	static const uint64_t lost[CTRACE_LOSS_COUNT] = { [CTRACE_LOSS_STALLED] = 3 };
	struct ctrace_event events[CTRACE_LEVEL_COUNT + 1];
	struct ctrace_batch batch = { .size = sizeof batch,
				      .events = events,
				      .event_count = COUNT(events) };

	for (uint32_t level = 0; level < CTRACE_LEVEL_COUNT; level++)
		events[level] = event_of(level, 100 + level, COUNT(items));
	events[CTRACE_LEVEL_COUNT] = event_of(CTRACE_FATAL, 200, 0);
	emitter->lost(self, lost);
	return emitter->write(self, &batch);
}

static enum ctrace_status write_large(void *self)
{
	static char data[CTRACE_MAX_ITEM_SIZE];
	static struct ctrace_event_item many[400];
	struct ctrace_event event = event_of(CTRACE_FATAL, 300, COUNT(many));
	struct ctrace_batch batch = { .size = sizeof batch, .events = &event, .event_count = 1 };

	memset(data, 'x', sizeof data);
	for (uint32_t i = 0; i < COUNT(many); i++)
		many[i] = (struct ctrace_event_item){ CTRACE_TYPE_TEXT, sizeof data, data, 0 };
	event.items = many;
	return emitter->write(self, &batch);
}

static enum ctrace_status write_many(void *self, bool again)
{
	enum ctrace_status status = CTRACE_OK;
	unsigned failures = 0;

	for (uint32_t first = 0; first < 2000; first += 100) {
		struct ctrace_event events[100];
		struct ctrace_batch batch = { .size = sizeof batch,
					      .events = events,
					      .event_count = COUNT(events) };

		for (uint32_t i = 0; i < COUNT(events); i++)
			events[i] = event_of(CTRACE_FATAL, 10000 + first + i, 0);
		for (;;) {
			status = emitter->write(self, &batch);
			if (status == CTRACE_OK || !again)
				break;
			if (failures++ == 0) {
				(void)puts("failed");
				(void)fflush(stdout);
			}
		}
		if (status != CTRACE_OK)
			break;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct ctrace_place place = { .offset = 0 };
	struct ctrace_emitter_context context = {
		.size = sizeof context,
		.property = property,
		.number = number,
		.pid = (uint32_t)getpid(),
		.program = "mymain",
		.command_line = "mymain",
		.host = "",
		.system = "",
		.directory = "",
		.working_directory = "/",
		.place = &place,
	};
	enum ctrace_status status;
	void *module, *self = NULL;

	if (argc < 3)
		return 99;
	settings = argv + 3;
	module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (module == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 99;
	}
	emitter = dlsym(module, "ctrace_emitter");
	if (emitter == NULL)
		return 99;
	status = emitter->open(&context, &self);
	if (status == CTRACE_OK) {
		if (strcmp(argv[2], "events") == 0)
			status = write_levels(self);
		else if (strcmp(argv[2], "many") == 0)
			status = write_many(self, true);
		else if (strcmp(argv[2], "large") == 0)
			status = write_large(self);
		else if (strcmp(argv[2], "stalled") == 0)
			status = write_many(self, false);
		emitter->close(self);
	}
	if (status != CTRACE_OK)
		fprintf(stderr, "%s\n", strerror(errno));
	return (int)status;
}
