/*
 * consumer_fixture.h - a session with rings in a run directory, and two emitters, TESTA and TESTB,
 * that the test commands.
 *
 * The emitters come in by the door that is there for others: modules on CTRACE_EMITTERS, made with
 * cc when the test begins, whose functions only call on into this file.  They write "NUMBER\n" for
 * each event into a file of their own, keep the contract of ctrace/emitter.h, and fail when they
 * are told to.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONSUMER_FIXTURE_H
#define CT_CONSUMER_FIXTURE_H

#include "own_ring.h"
#include "../session/session_fixture.h"
#include "../format/class_fixture.h"
#include "lib/consumer/delivery.h"

/* ---- the emitters ---- */

struct output {
	const char *name;
	char path[128];
	uint32_t index; /* of the emitter */
	/* commands */
	unsigned fail_opens;   /* so many fail; errno is ENOSPC */
	const char *failed_at; /* what they name; NULL: nothing */
	unsigned fail_writes;
	bool fail_flush;
	void (*before_open)(void);
	void (*before_write)(void);
	/* what happened */
	unsigned opens, writes, flushes, closes, losts;
	bool was_recovering;
	uint64_t lost[CTRACE_LOSS_COUNT];
	uint32_t last_batch;
	uint64_t last_time;
	unsigned disorder; /* events of a batch that were not in time order */
	uint64_t stream_lost;
	char property[64]; /* COLOUR, when it opened */
};
static struct output outputs[2] = { { .name = "TESTA" }, { .name = "TESTB" } };
#define output_a outputs[0]
#define output_b outputs[1]

struct writer {
	struct output *output;
	const struct ctrace_emitter_context *context;
	int fd;
};

static enum ctrace_status output_open(struct output *output,
				      const struct ctrace_emitter_context *context, void **out_self)
{
	struct ctrace_place *at = context->place;
	struct writer *writer;
	int fd;

	if (output->before_open != NULL)
		output->before_open();
	output->opens++;
	output->was_recovering = context->recovering;
	(void)snprintf(output->property, sizeof output->property, "%s",
		       context->property(context, "colour"));
	if (output->fail_opens > 0) {
		output->fail_opens--;
		if (output->failed_at != NULL)
			context->failed_at(context, output->failed_at);
		errno = ENOSPC;
		return CTRACE_OS_ERROR;
	}
	fd = open(output->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return CTRACE_OS_ERROR;
	/* Continues where it stood; begins behind what is there. */
	if (at->path[0] != '\0')
		assert_int_equal(ftruncate(fd, (off_t)at->offset), 0);
	else
		at->offset = (uint64_t)lseek(fd, 0, SEEK_END);
	(void)snprintf(at->path, sizeof at->path, "%s", output->path);
	writer = malloc(sizeof *writer);
	assert_non_null(writer);
	*writer = (struct writer){ output, context, fd };
	*out_self = writer;
	return CTRACE_OK;
}

static enum ctrace_status output_write(void *self, const struct ctrace_batch *batch)
{
	struct writer *writer = self;
	struct output *output = writer->output;
	struct ctrace_place *at = writer->context->place;
	struct ct_buf text;
	bool fails = output->fail_writes > 0;

	if (output->before_write != NULL)
		output->before_write();
	output->writes++;
	output->last_batch = batch->event_count;
	ct_buf_init(&text);
	for (uint32_t i = 0; i < batch->event_count; i++) {
		const struct ctrace_event *event = &batch->events[i];

		ct_buf_add_format(&text, "%u\n", event->event_id);
		output->disorder += i > 0 && event->time_ns < batch->events[i - 1].time_ns;
		assert_true(event->stream < batch->stream_count);
		if (!fails)
			batch->streams[event->stream].sequence++;
	}
	for (uint32_t i = 0; i < batch->stream_count; i++)
		output->stream_lost = batch->streams[i].lost;
	/* A failing one has half of it in the file, and cuts it back. */
	assert_int_equal(
		pwrite(writer->fd, text.data, fails ? text.size / 2 : text.size, (off_t)at->offset),
		fails ? text.size / 2 : text.size);
	if (fails) {
		output->fail_writes--;
		assert_int_equal(ftruncate(writer->fd, (off_t)at->offset), 0);
	} else {
		at->offset += text.size;
	}
	ct_buf_fini(&text);
	errno = ENOSPC;
	return fails ? CTRACE_OS_ERROR : CTRACE_OK;
}

static void output_lost(void *self, const uint64_t totals[CTRACE_LOSS_COUNT])
{
	struct writer *writer = self;

	writer->output->losts++;
	memcpy(writer->output->lost, totals, sizeof writer->output->lost);
}

static enum ctrace_status output_flush(void *self)
{
	struct writer *writer = self;

	writer->output->flushes++;
	return writer->output->fail_flush ? CTRACE_OS_ERROR : CTRACE_OK;
}

static void output_close(void *self)
{
	struct writer *writer = self;

	writer->output->closes++;
	(void)close(writer->fd);
	free(writer);
}

/* What the modules call. */
struct output_door {
	struct output *output;
	enum ctrace_status (*open)(struct output *output,
				   const struct ctrace_emitter_context *context, void **out_self);
	enum ctrace_status (*write)(void *self, const struct ctrace_batch *batch);
	void (*lost)(void *self, const uint64_t totals[CTRACE_LOSS_COUNT]);
	enum ctrace_status (*flush)(void *self);
	void (*close)(void *self);
};
static struct output_door doors[2];

static const char module_source[] =
	"#include <ctrace/emitter.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"struct output;\n"
	"struct door {\n"
	"	struct output *output;\n"
	"	enum ctrace_status (*open)(struct output *, const struct ctrace_emitter_context *, void **);\n"
	"	enum ctrace_status (*write)(void *, const struct ctrace_batch *);\n"
	"	void (*lost)(void *, const uint64_t *);\n"
	"	enum ctrace_status (*flush)(void *);\n"
	"	void (*close)(void *);\n"
	"};\n"
	"static struct door *door(void) { void *at = 0; sscanf(getenv(\"DOOR_\" NAME), \"%p\", &at); return at; }\n"
	"static enum ctrace_status o(const struct ctrace_emitter_context *c, void **s) { return door()->open(door()->output, c, s); }\n"
	"static enum ctrace_status w(void *s, const struct ctrace_batch *b) { return door()->write(s, b); }\n"
	"static void l(void *s, const uint64_t t[CTRACE_LOSS_COUNT]) { door()->lost(s, t); }\n"
	"static enum ctrace_status f(void *s) { return door()->flush(s); }\n"
	"static void c(void *s) { door()->close(s); }\n"
	"static const struct ctrace_property p[] = { { \"COLOUR\", CTRACE_PROPERTY_TEXT, \"grey\", \"Its colour.\" },\n"
	"	{ \"FLUSHEVERY\", CTRACE_PROPERTY_NUMBER, \"1\", \"Events.\" }, { 0, 0, 0, 0 } };\n"
	"__attribute__((visibility(\"default\"))) const struct ctrace_emitter ctrace_emitter = {\n"
	"	sizeof(struct ctrace_emitter), NAME, CTRACE_EMITTER_FILE, p, o, w, l, f, c };\n";

static char module_directory[64];

static UNUSED int make_emitters(void **state)
{
	(void)state;
	print_template(module_directory, "module");
	assert_non_null(mkdtemp(module_directory));
	assert_int_equal(setenv("CTRACE_EMITTERS", module_directory, 1), 0);
	for (int i = 0; i < 2; i++) {
		static const char *const files[] = { "testa", "testb" };
		char path[128], command[512], value[32];
		const char *top = getenv("CTRACE_SOURCE");

		(void)snprintf(path, sizeof path, "%s/module.c", module_directory);
		put_file(path, module_source, sizeof module_source - 1);
		(void)snprintf(
			command, sizeof command,
			"umask 022; cc -fno-sanitize=all -shared -fPIC -I'%s/include' -DNAME='\"%s\"' %s -o %s/%s.so",
			top != NULL ? top : ".", outputs[i].name, path, module_directory, files[i]);
		assert_int_equal(system(command), 0);
		doors[i] = (struct output_door){ &outputs[i], output_open,  output_write,
						 output_lost, output_flush, output_close };
		(void)snprintf(path, sizeof path, "DOOR_%s", outputs[i].name);
		(void)snprintf(value, sizeof value, "%p", (void *)&doors[i]);
		assert_int_equal(setenv(path, value, 1), 0);
		assert_int_equal(ct_emitter_find(outputs[i].name, 5, &outputs[i].index), CTRACE_OK);
	}
	return 0;
}

static UNUSED int drop_emitters(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof command, "rm -rf %s", module_directory);
	return system(command);
}

/* ---- the traced process ---- */

#define RING_COUNT 4u
static struct ct_session session;
static struct ct_ring *rings[RING_COUNT];
static uint32_t ring_count; /* those that the consumer sees */
static struct ctrace_thread_buffer thread_buffers[RING_COUNT];
#define RING_SIZE (2 * CT_RING_MIN)
static size_t ring_size = RING_SIZE; /* of those that make_process() makes */
static struct ct_ring ring_storage[RING_COUNT];
static uint32_t next_number;
static uint32_t flight_wanted;

enum { COMPONENT_A, COMPONENT_B, COMPONENT_BOTH, COMPONENT_COUNT };

static uint32_t count_rings(void *user)
{
	(void)user;
	return ring_count;
}

static struct ct_ring *get_ring(void *user, uint32_t index)
{
	(void)user;
	return rings[index];
}

static UNUSED struct ct_consumer_source live_source(void)
{
	return (struct ct_consumer_source){ .session = &session,
					    .ring_count = count_rings,
					    .ring_at = get_ring,
					    .flight_wanted = &flight_wanted };
}

/* Three components: "to.a", "to.b", "to.both".  Their first events make the destinations known. */
static UNUSED void make_process(uint32_t count, uint32_t overflow)
{
	static const char *const names[COMPONENT_COUNT] = { "to.a", "to.b", "to.both" };
	const uint32_t a = 1u << output_a.index, b = 1u << output_b.index;
	const uint32_t dests[COMPONENT_COUNT] = { a, b, a | b };

	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	for (uint32_t i = 0; i < COMPONENT_COUNT; i++) {
		struct ct_component_entry *entry = &session.components[i];

		assert_int_equal(ct_session_reserve_component(&session, i), CTRACE_OK);
		assert_int_equal(
			ct_session_add_text(&session, names[i], strlen(names[i]), &entry->name),
			CTRACE_OK);
		entry->dests = dests[i];
		entry->flags = CT_COMPONENT_REGISTERED;
		ct_session_commit_component(&session, i);
	}
	for (int i = 0; i < 2; i++)
		(void)snprintf(session.head->dest[outputs[i].index].emitter, 32, "%s",
			       outputs[i].name);
	memset(thread_buffers, 0, sizeof thread_buffers);
	next_number = 0;
	ring_count = count;
	for (uint32_t i = 0; i < count; i++) {
		rings[i] = &ring_storage[i];
		assert_int_equal(own_ring_create(rings[i], &session, i, ring_size), CTRACE_OK);
		rings[i]->head->overflow = rings[i]->overflow = overflow;
		session.head->ring_count = i + 1;
	}
}

static UNUSED void drop_process(void)
{
	for (uint32_t i = 0; i < ring_count; i++)
		ct_ring_close(rings[i]);
	ring_count = 0;
	ct_session_close(&session, true);
}

/* not 0: the time of what is produced, in place of the present one */
static UNUSED uint64_t next_ticks;

static UNUSED bool produce_items(uint32_t ring, uint32_t component, const struct ctrace_item *items,
				 uint32_t count)
{
	const struct ct_event_head head = { .component = component,
					    .event_id = next_number,
					    .level = 1 };
	const struct ct_class_image image = ct_session_classes(&session);
	static struct ct_classes classes;
	struct ctrace_thread_buffer *thread_buffer = &thread_buffers[ring];
	uint32_t number;
	size_t size;

	if (classes.table != session.classes || session.classes->used == sizeof *session.classes)
		memset(&classes, 0, sizeof classes);
	classes.table = session.classes;
	number = class_of(&classes, component, 1, next_number, items, count);
	size = ct_event_size(number, items, count);
	if ((uintptr_t)thread_buffer->cur + size > (uintptr_t)thread_buffer->end &&
	    !ct_ring_open_window(rings[ring], thread_buffer, &image, 100 + ring, size))
		return false;
	ct_event_encode(thread_buffer->cur, number, next_ticks != 0 ? next_ticks : ct_clock_ticks(),
			&head, items, count);
	thread_buffer->cur += size;
	__atomic_store_n(thread_buffer->head,
			 (uint64_t)(uintptr_t)thread_buffer->cur + thread_buffer->bias,
			 __ATOMIC_RELEASE);
	next_number++;
	return true;
}

static UNUSED bool produce_sized(uint32_t ring, uint32_t component, size_t data_size)
{
	static const char data[CTRACE_MAX_ITEM_SIZE];
	const struct ctrace_item item = CTRACE_BIN(data, data_size);

	return produce_items(ring, component, &item, 1);
}

static UNUSED bool produce(uint32_t ring, uint32_t component)
{
	return produce_sized(ring, component, 20);
}

/* ---- what came out ---- */

struct numbers {
	uint32_t *at;
	uint32_t count;
};

static UNUSED struct numbers read_output(const struct output *output)
{
	struct numbers numbers = { calloc(200000, sizeof(uint32_t)), 0 };
	FILE *file = fopen(output->path, "r");

	assert_non_null(numbers.at);
	while (file != NULL && numbers.count < 200000 &&
	       fscanf(file, "%u\n", &numbers.at[numbers.count]) == 1)
		numbers.count++;
	if (file != NULL)
		(void)fclose(file);
	return numbers;
}

static UNUSED uint32_t count_output(const struct output *output)
{
	struct numbers numbers = read_output(output);

	free(numbers.at);
	return numbers.count;
}

/* Each number from 0 to count - 1 is there exactly once. */
static UNUSED void assert_exactly(const struct output *output, uint32_t count)
{
	struct numbers numbers = read_output(output);
	unsigned char *seen = calloc(count + 1, 1);

	assert_non_null(seen);
	for (uint32_t i = 0; i < numbers.count; i++) {
		if (numbers.at[i] >= count || seen[numbers.at[i]])
			fail_msg("%s has %u %s", output->name, numbers.at[i],
				 numbers.at[i] >= count ? "which nobody wrote" : "twice");
		seen[numbers.at[i]] = 1;
	}
	for (uint32_t i = 0; i < count; i++)
		if (!seen[i])
			fail_msg("%s lacks %u of %u", output->name, i, count);
	free(seen);
	free(numbers.at);
}

static UNUSED int fixture_setup(void **state)
{
	(void)state;
	enter_room();
	for (int i = 0; i < 2; i++) {
		struct output fresh = { .name = outputs[i].name, .index = outputs[i].index };

		(void)snprintf(fresh.path, sizeof fresh.path, "%s/%s.out", room, fresh.name);
		outputs[i] = fresh;
	}
	return 0;
}

static UNUSED int fixture_teardown(void **state)
{
	(void)state;
	leave_room();
	return 0;
}

#endif
