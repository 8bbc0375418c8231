/*
 * test_pairing.c - which exit belongs to which entry, how long it took, and how deep an event is.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../filter/filter_fixture.h"

#include <stdio.h>

enum { PLAIN = 1, ENTRY = 10, EXIT = 11, OTHER_ENTRY = 20, OTHER_EXIT = 21, BEGIN = 30, END = 31 };
enum { CALL = 40, RETURN = 41, PART = 50, STEP = 51, STOP = 60, TIMED = 70 };

/* PART ends at the next PART of its program, and STEP at the next PART or STEP of it. */
static const struct ct_until until_part[] = { { PART, 0 }, { STOP, -1 } };
static const struct ct_until until_step[] = { { STEP, 0 }, { PART, 0 }, { STOP, -1 } };
static const struct ct_until until_stop[] = { { STOP, -1 } };

static const struct ct_event_type types[] = {
	{ .event_id = PLAIN, .match = -1 },
	{ .event_id = ENTRY, .pairing = CT_PAIR_ENTRY, .pair_id = EXIT, .match = -1 },
	{ .event_id = EXIT, .pairing = CT_PAIR_EXIT, .pair_id = ENTRY, .match = -1 },
	{ .event_id = OTHER_ENTRY, .pairing = CT_PAIR_ENTRY, .pair_id = OTHER_EXIT, .match = -1 },
	{ .event_id = OTHER_EXIT, .pairing = CT_PAIR_EXIT, .pair_id = OTHER_ENTRY, .match = -1 },
	/* by their second argument */
	{ .event_id = BEGIN, .pairing = CT_PAIR_ENTRY, .pair_id = END, .match = 1 },
	{ .event_id = END, .pairing = CT_PAIR_EXIT, .pair_id = BEGIN, .match = 0 },
	{ .event_id = CALL,
	  .pairing = CT_PAIR_ENTRY,
	  .pair_id = RETURN,
	  .match = -1,
	  .until = until_stop,
	  .until_count = CT_COUNT(until_stop) },
	{ .event_id = RETURN, .pairing = CT_PAIR_EXIT, .pair_id = CALL, .match = -1 },
	{ .event_id = PART,
	  .pairing = CT_PAIR_UNTIL,
	  .match = 0,
	  .until = until_part,
	  .until_count = CT_COUNT(until_part),
	  .is_until = true },
	{ .event_id = STEP,
	  .pairing = CT_PAIR_UNTIL,
	  .match = 0,
	  .until = until_step,
	  .until_count = CT_COUNT(until_step),
	  .is_until = true },
	{ .event_id = STOP, .match = -1, .is_until = true },
	{ .event_id = TIMED, .match = -1, .roles = { [CT_ARGUMENT_ROLE_DURATION] = 1 } },
};

struct pairs {
	struct ct_pairing_state *state;
	struct ct_source_process source_process;
	const char *component;
	struct ctrace_event_item items[2];
	uint32_t item_count;
	bool is_after_loss;
	struct ct_read_event event; /* the last */
};

static int create(void **state)
{
	struct pairs *p = calloc(1, sizeof *p);

	assert_int_equal(ct_pairing_create(true, &p->state), CTRACE_OK);
	p->component = "APP.DB";
	*state = p;
	return 0;
}

static int destroy(void **state)
{
	struct pairs *p = *state;

	ct_pairing_destroy(p->state);
	ct_pairing_destroy(NULL);
	free(p);
	return 0;
}

static void note(struct pairs *p, uint32_t id, uint32_t tid, uint64_t time_ns)
{
	const struct ct_event_type *type = NULL;

	for (size_t i = 0; i < CT_COUNT(types); i++)
		if (types[i].event_id == id)
			type = &types[i];
	p->event = (struct ct_read_event){ .traced = { .component = p->component,
						       .component_size =
							       (uint32_t)strlen(p->component),
						       .event_id = id,
						       .tid = tid,
						       .time_ns = time_ns,
						       .items = p->items,
						       .item_count = p->item_count },
					   .source_process = &p->source_process,
					   .type = type,
					   .is_after_loss = p->is_after_loss,
					   .span_id = 77,
					   .depth = 77 };
	p->is_after_loss = false;
	ct_pairing_note(p->state, &p->event);
}

static void expect(const struct pairs *p, uint64_t span_id, uint64_t duration_ns, uint32_t depth)
{
	assert_int_equal(p->event.span_id, span_id);
	assert_true(p->event.duration_ns == duration_ns);
	assert_int_equal(p->event.depth, depth);
}
#define NONE CT_NO_DURATION

static void nested_spans_of_a_thread(void **state)
{
	struct pairs *p = *state;

	note(p, PLAIN, 1, 100);
	expect(p, 0, NONE, 0);
	note(p, ENTRY, 1, 110);
	expect(p, 1, NONE, 0);
	note(p, PLAIN, 1, 111);
	expect(p, 0, NONE, 1);
	note(p, ENTRY, 1, 120); /* recursion */
	expect(p, 2, NONE, 1);
	note(p, OTHER_ENTRY, 1, 130);
	expect(p, 3, NONE, 2);
	note(p, 999, 1, 131); /* not in the catalogue */
	expect(p, 0, NONE, 3);
	note(p, OTHER_EXIT, 1, 135);
	expect(p, 3, 5, 2);
	note(p, EXIT, 1, 140);
	expect(p, 2, 20, 1);
	note(p, EXIT, 1, 150);
	expect(p, 1, 40, 0);
	note(p, EXIT, 1, 160); /* one too many */
	expect(p, 0, NONE, 0);
}

static void each_key_for_itself(void **state)
{
	struct pairs *p = *state;

	note(p, ENTRY, 1, 100);
	note(p, EXIT, 2, 110); /* another thread */
	expect(p, 0, NONE, 0);
	p->component = "APP.OTHER";
	note(p, EXIT, 1, 110);
	expect(p, 0, NONE, 1);
	p->component = "APP.DB";
	p->source_process.index = 1;
	note(p, EXIT, 1, 110); /* another process */
	expect(p, 0, NONE, 0);
	p->source_process.index = 0;
	note(p, OTHER_EXIT, 1, 110);
	expect(p, 0, NONE, 1);
	p->component = "app.db";
	note(p, EXIT, 1, 111);
	expect(p, 1, 11, 0);
}

static void an_exit_that_is_missing(void **state)
{
	struct pairs *p = *state;

	note(p, ENTRY, 1, 100);
	note(p, OTHER_ENTRY, 1, 110);
	note(p, EXIT, 1, 120); /* the outer one ends: the inner one no longer counts */
	expect(p, 1, 20, 0);
	note(p, PLAIN, 1, 121);
	expect(p, 0, NONE, 0);
	note(p, OTHER_EXIT, 1, 130); /* but it is known when it comes after all */
	expect(p, 2, 20, 0);
	note(p, ENTRY, 1, 140);
	expect(p, 3, NONE, 0);
}

static void set_number(struct pairs *p, unsigned index, uint64_t value, uint32_t size)
{
	p->items[index] =
		(struct ctrace_event_item){ CTRACE_TYPE_COMP5, size, "\0\0\0\0\0\0\0", value };
	p->item_count = 2;
}

static void set_text(struct pairs *p, unsigned index, const char *text)
{
	p->items[index] =
		(struct ctrace_event_item){ CTRACE_TYPE_TEXT, (uint32_t)strlen(text), text, 0 };
	p->item_count = 2;
}

static void by_the_value_of_an_argument(void **state)
{
	struct pairs *p = *state;

	set_number(p, 1, 5, 4);
	note(p, BEGIN, 1, 100);
	expect(p, 1, NONE, 0);
	set_number(p, 1, 6, 4);
	note(p, BEGIN, 1, 110);
	expect(p, 2, NONE, 0); /* such spans are in no thread's nest */
	set_number(p, 0, 7, 4);
	note(p, END, 1, 115);
	expect(p, 0, NONE, 0);
	set_number(p, 0, 5, 8); /* of another width, on another thread */
	note(p, END, 2, 120);
	expect(p, 1, 20, 0);
	set_number(p, 0, 6, 4);
	note(p, END, 3, 125);
	expect(p, 2, 15, 0);
	set_text(p, 1, "request-1");
	note(p, BEGIN, 1, 200);
	set_text(p, 1, "request-2");
	note(p, BEGIN, 1, 201);
	set_text(p, 0, "request-1");
	note(p, END, 9, 210);
	expect(p, 3, 10, 0);
	set_number(p, 1, 0, 2);
	note(p, BEGIN, 1, 215);
	set_number(p, 0, 0, 8);
	note(p, END, 1, 216);
	expect(p, 5, 1, 0);
	p->item_count = 0;
	note(p, END, 9, 220); /* it has not got the argument */
	expect(p, 0, NONE, 0);
	note(p, BEGIN, 9, 220);
	expect(p, 0, NONE, 0);
}

static void time_that_goes_back_is_none(void **state)
{
	struct pairs *p = *state;

	note(p, ENTRY, 1, 100);
	note(p, EXIT, 1, 90);
	expect(p, 1, 0, 0);
}

static void the_oldest_is_given_up(void **state)
{
	struct pairs *p = *state;

	for (uint32_t i = 0; i <= CT_PAIRING_OPEN; i++)
		note(p, ENTRY, i, i);
	expect(p, CT_PAIRING_OPEN + 1, NONE, 0);
	note(p, EXIT, 0, CT_PAIRING_OPEN);
	expect(p, 0, NONE, 0);
	for (uint32_t i = 1; i <= CT_PAIRING_OPEN; i++) {
		note(p, EXIT, i, CT_PAIRING_OPEN);
		expect(p, i + 1, CT_PAIRING_OPEN - i, 0);
	}
}

/* Entries of one key that never end cost no more than others, and do not take the depth beyond what
 * is open. */
static void a_thread_that_only_enters(void **state)
{
	struct pairs *p = *state;

	for (uint32_t i = 0; i < 20 * CT_PAIRING_OPEN; i++)
		note(p, ENTRY, 1, i);
	expect(p, 20 * CT_PAIRING_OPEN, NONE, CT_PAIRING_OPEN - 1);
	for (uint32_t i = 0; i < CT_PAIRING_OPEN; i++) {
		note(p, EXIT, 1, 20 * CT_PAIRING_OPEN);
		expect(p, 20 * CT_PAIRING_OPEN - i, i + 1, CT_PAIRING_OPEN - 1 - i);
	}
	note(p, EXIT, 1, 0);
	expect(p, 0, NONE, 0);
}

/* -----------------------------------------------------------------------------------------------
 * Ends that are inferred
 */

/* An event of `program`, with a second item `name`. */
static void note_of(struct pairs *p, uint32_t id, const char *program, const char *name,
		    uint64_t time_ns)
{
	set_text(p, 0, program);
	set_text(p, 1, name);
	note(p, id, 1, time_ns);
}

static void expect_inferred(struct pairs *p, const char *name, uint64_t span_id, uint64_t end_ns,
			    uint64_t duration_ns, uint64_t self_ns, uint32_t depth)
{
	const struct ct_read_event *event = ct_pairing_next_inferred(p->state);

	assert_non_null(event);
	assert_true(event->is_inferred);
	assert_int_equal(event->traced.item_count, 2);
	assert_int_equal(event->traced.items[1].size, strlen(name));
	assert_memory_equal(event->traced.items[1].data, name, strlen(name));
	assert_string_equal(event->traced.component, p->component);
	assert_int_equal(event->span_id, span_id);
	assert_int_equal(event->traced.time_ns, end_ns);
	assert_int_equal(event->duration_ns, duration_ns);
	assert_int_equal(event->self_ns, self_ns);
	assert_int_equal(event->depth, depth);
}

static void expect_no_more(struct pairs *p)
{
	assert_null(ct_pairing_next_inferred(p->state));
}

static void until_the_next_of_its_kind(void **state)
{
	struct pairs *p = *state;

	note_of(p, PART, "P", "one", 100);
	expect(p, 1, NONE, 0);
	expect_no_more(p);
	note_of(p, STEP, "P", "a", 110);
	expect(p, 2, NONE, 1);
	note_of(p, STEP, "P", "b", 125);
	expect(p, 3, NONE, 1);
	expect_inferred(p, "a", 2, 125, 15, 15, 1);
	expect_no_more(p);
	note_of(p, PART, "P", "two", 145); /* ends both */
	expect(p, 4, NONE, 0);
	expect_inferred(p, "b", 3, 145, 20, 20, 1);
	expect_inferred(p, "one", 1, 145, 45, 10, 0);
	expect_no_more(p);
	note(p, PLAIN, 1, 150);
	expect(p, 0, NONE, 1);
	expect_no_more(p);
}

/* What a called program does ends nothing of its caller, and its end ends what it began. */
static void until_the_span_around_ends(void **state)
{
	struct pairs *p = *state;

	note_of(p, CALL, "P", "P", 100);
	note_of(p, STEP, "P", "a", 110);
	note_of(p, CALL, "Q", "Q", 120);
	expect(p, 3, NONE, 2);
	note_of(p, STEP, "Q", "x", 121);
	expect(p, 4, NONE, 3);
	note_of(p, STEP, "P", "recursion", 122);
	expect(p, 5, NONE, 4);
	expect_no_more(p);
	note_of(p, RETURN, "Q", "Q", 130);
	expect(p, 3, 10, 2);
	assert_int_equal(p->event.self_ns, 1);
	assert_int_equal(p->event.begun->traced.time_ns, 120);
	assert_memory_equal(p->event.begun->traced.items[1].data, "Q", 1);
	expect_inferred(p, "recursion", 5, 130, 8, 8, 4);
	expect_inferred(p, "x", 4, 130, 9, 1, 3);
	expect_no_more(p);
	note_of(p, STEP, "P", "b", 140);
	expect(p, 6, NONE, 1);
	expect_inferred(p, "a", 2, 140, 30, 20, 1);
	note_of(p, RETURN, "P", "P", 150);
	expect(p, 1, 50, 0);
	assert_int_equal(p->event.self_ns, 10);
	expect_inferred(p, "b", 6, 150, 10, 10, 1);
	expect_no_more(p);
}

/* Without entries the argument that matches says whose the event is. */
static void until_one_of_the_same_value(void **state)
{
	struct pairs *p = *state;

	note_of(p, STEP, "P", "a", 100);
	note_of(p, STEP, "Q", "x", 110);
	expect(p, 2, NONE, 1);
	expect_no_more(p);
	note_of(p, STEP, "P", "b", 120);
	expect(p, 3, NONE, 0);
	expect_inferred(p, "x", 2, 120, 10, 10, 1);
	expect_inferred(p, "a", 1, 120, 20, 10, 0);
	p->component = "APP.OTHER"; /* another component's events are others */
	note_of(p, STEP, "P", "z", 130);
	expect(p, 4, NONE, 1);
	expect_no_more(p);
	p->component = "APP.DB";
	note_of(p, STEP, "P", "c", 140);
	p->component = "APP.OTHER";
	expect_inferred(p, "z", 4, 140, 10, 10, 1);
	p->component = "APP.DB";
	expect_inferred(p, "b", 3, 140, 20, 10, 0);
}

static void until_an_event_that_ends_all(void **state)
{
	struct pairs *p = *state;

	note_of(p, CALL, "P", "P", 100);
	note_of(p, ENTRY, "P", "P", 101); /* its exit alone ends it, and it shields P */
	note_of(p, CALL, "Q", "Q", 110);
	note_of(p, STEP, "Q", "x", 111);
	note(p, STOP, 2, 115); /* another thread */
	expect_no_more(p);
	note(p, STOP, 1, 120);
	expect(p, 0, NONE, 2);
	expect_inferred(p, "x", 4, 120, 9, 9, 3);
	expect_inferred(p, "Q", 3, 120, 10, 1, 2);
	expect_no_more(p);
	note(p, EXIT, 1, 130);
	expect(p, 2, 29, 1);
	assert_null(p->event.begun);
	note(p, STOP, 1, 140);
	expect(p, 0, NONE, 0);
	expect_inferred(p, "P", 1, 140, 40, 11, 0);
	note_of(p, RETURN, "P", "P", 150);
	expect(p, 0, NONE, 0);
}

static void until_the_trace_ends(void **state)
{
	struct pairs *p = *state;

	note_of(p, CALL, "P", "P", 100);
	note_of(p, ENTRY, "P", "P", 105);
	note_of(p, STEP, "P", "a", 110);
	note(p, PLAIN, 1, 130);
	note(p, PLAIN, 2, 140); /* of another thread */
	ct_pairing_finish(p->state);
	expect_inferred(p, "a", 3, 130, 20, 20, 2);
	expect_inferred(p, "P", 1, 130, 30, 10, 0);
	expect_no_more(p);
	ct_pairing_finish(p->state);
	expect_no_more(p);
}

/* Nothing that is inferred goes on over a gap, and no time counts twice. */
static void until_a_gap(void **state)
{
	struct pairs *p = *state;

	note_of(p, ENTRY, "P", "P", 100);
	note_of(p, STEP, "P", "a", 110);
	note_of(p, OTHER_ENTRY, "Q", "Q", 120);
	note_of(p, STEP, "Q", "x", 125);
	note(p, PLAIN, 1, 130);
	note(p, PLAIN, 2, 500);
	p->is_after_loss = true;
	note_of(p, STEP, "Q", "y", 1000);
	expect_inferred(p, "x", 4, 130, 5, 5, 3);
	expect_inferred(p, "a", 2, 130, 20, 10, 1);
	expect(p, 5, NONE, 2);
	expect_no_more(p);
	note(p, OTHER_EXIT, 1, 1020);
	expect(p, 3, 900, 1);
	assert_int_equal(p->event.self_ns, 5); /* 120 to 125; the gap is nobody's */
	expect_inferred(p, "y", 5, 1020, 20, 20, 2);
	note(p, EXIT, 1, 1030);
	expect(p, 1, 930, 0);
	assert_int_equal(p->event.self_ns, 20);
	expect_no_more(p);
}

/* What a process has left out is a gap of each of its threads, once. */
static void until_what_was_left_out(void **state)
{
	struct pairs *p = *state;
	uint64_t left_out_ns[] = { 500, 600 };

	p->source_process.left_out_ns = left_out_ns;
	p->source_process.left_out_count = 2;
	note_of(p, STEP, "P", "a", 110);
	note(p, PLAIN, 1, 130);
	note_of(p, STEP, "P", "b", 1000);
	expect_inferred(p, "a", 1, 130, 20, 20, 0);
	note_of(p, STEP, "P", "c", 1010);
	expect_inferred(p, "b", 2, 1010, 10, 10, 0);
	expect_no_more(p);
}

static void ends_that_nobody_takes(void **state)
{
	struct pairs *p = *state;

	for (uint32_t i = 0; i < 3 * CT_PAIRING_OPEN; i++)
		note_of(p, STEP, "P", "a", i);
	expect_inferred(p, "a", 3 * CT_PAIRING_OPEN - 1, 3 * CT_PAIRING_OPEN - 1, 1, 1, 0);
	ct_pairing_destroy(p->state);
	assert_int_equal(ct_pairing_create(false, &p->state), CTRACE_OK); /* nobody wants them */
	note_of(p, STEP, "P", "a", 1);
	note_of(p, STEP, "P", "b", 2);
	expect(p, 2, NONE, 0);
	expect_no_more(p);
}

/* A hostile trace: all spans that can be open end at once, and nothing costs more for it. */
static void as_many_as_can_be_open_end_at_once(void **state)
{
	struct pairs *p = *state;

	for (unsigned round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < CT_PAIRING_OPEN; i++)
			note_of(p, CALL, "P", "name", i);
		note_of(p, STOP, "P", "", CT_PAIRING_OPEN);
		for (uint32_t i = CT_PAIRING_OPEN; i-- > 0;)
			expect_inferred(p, "name", round * CT_PAIRING_OPEN + i + 1, CT_PAIRING_OPEN,
					CT_PAIRING_OPEN - i, 1, i);
		expect_no_more(p);
	}
	/* steps of ever another program, which end nothing */
	for (uint32_t i = 0; i < 4 * CT_PAIRING_OPEN; i++) {
		char program[16];

		(void)snprintf(program, sizeof program, "P%u", i);
		note_of(p, STEP, program, "a", i);
	}
	expect_no_more(p);
}

static void what_is_kept_of_an_event_is_bounded(void **state)
{
	struct pairs *p = *state;
	struct ctrace_event_item items[CT_INFERRED_ITEMS + 4];
	static const char text[2 * CT_INFERRED_BYTES] = "x";
	const struct ct_read_event *event;
	struct ct_read_event long_one;

	for (size_t i = 0; i < CT_COUNT(items); i++)
		items[i] = (struct ctrace_event_item){ CTRACE_TYPE_TEXT, sizeof text, text, 0 };
	note_of(p, PART, "P", "a", 100);
	long_one = p->event;
	long_one.traced.items = items;
	long_one.traced.item_count = CT_COUNT(items);
	long_one.traced.event_id = STEP;
	long_one.type = &types[CT_COUNT(types) - 3];
	assert_int_equal(long_one.type->event_id, STEP);
	ct_pairing_note(p->state, &long_one);
	note(p, STOP, 1, 110);
	event = ct_pairing_next_inferred(p->state);
	assert_int_equal(event->traced.item_count, CT_INFERRED_ITEMS);
	assert_int_equal(event->traced.items[0].size,
			 CT_INFERRED_BYTES - event->traced.component_size - 1);
	assert_int_equal(event->traced.items[1].size, 0);
	expect_inferred(p, "a", 1, 110, 10, 0, 0);
}

/* An event that says itself how long it took is a span by itself. */
static void a_span_in_one_event(void **state)
{
	struct pairs *p = *state;

	note_of(p, STEP, "P", "a", 1000);
	set_number(p, 0, 30, 8);
	note(p, TIMED, 1, 1100);
	expect(p, 2, 30, 1);
	assert_true(p->event.is_whole);
	assert_int_equal(p->event.self_ns, 30);
	set_number(p, 0, 5000, 8); /* longer than there is time: the event before 0 */
	note(p, TIMED, 1, 1200);
	expect(p, 0, NONE, 1);
	assert_false(p->event.is_whole);
	set_text(p, 0, "30");
	note(p, TIMED, 1, 1200); /* no number */
	expect(p, 0, NONE, 1);
	p->item_count = 0;
	note(p, TIMED, 1, 1200); /* it has not got the item */
	expect(p, 0, NONE, 1);
	note(p, STOP, 1, 1300);
	expect_inferred(p, "a", 1, 1300, 300, 270, 0);
}

/* Against a plain model: stacks that are searched. */
#define MODEL 64
struct model {
	struct {
		uint32_t id, tid;
		uint64_t span, time_ns;
		bool counts;
	} open[MODEL];
	unsigned count;
	uint64_t last;
};

static uint32_t model_depth(const struct model *m, uint32_t tid)
{
	uint32_t depth = 0;

	for (unsigned i = 0; i < m->count; i++)
		depth += m->open[i].tid == tid && m->open[i].counts;
	return depth;
}

static void model_exit(struct model *m, const struct pairs *p, uint32_t id, uint32_t tid,
		       uint64_t now)
{
	unsigned at = m->count;

	while (at > 0 && (m->open[at - 1].id != id - 1 || m->open[at - 1].tid != tid))
		at--;
	if (at == 0) {
		expect(p, 0, NONE, model_depth(m, tid));
		return;
	}
	at--;
	for (unsigned i = at + 1; m->open[at].counts && i < m->count; i++)
		m->open[i].counts = m->open[i].counts && m->open[i].tid != tid;
	m->open[at].counts = false;
	expect(p, m->open[at].span, now - m->open[at].time_ns, model_depth(m, tid));
	memmove(&m->open[at], &m->open[at + 1], (m->count - at - 1) * sizeof m->open[0]);
	m->count--;
}

static void any_order(void **state)
{
	struct model m = { .count = 0 };
	struct pairs *p = *state;

	srandom(7);
	for (uint64_t now = 1; now < 200000; now++) {
		uint32_t tid = (uint32_t)random() % 3, id = random() % 2 ? ENTRY : OTHER_ENTRY;
		bool is_entry = random() % 2 && m.count < MODEL;

		note(p, is_entry ? id : id + 1, tid, now);
		if (!is_entry) {
			model_exit(&m, p, id + 1, tid, now);
			continue;
		}
		expect(p, ++m.last, NONE, model_depth(&m, tid));
		m.open[m.count].id = id;
		m.open[m.count].tid = tid;
		m.open[m.count].span = m.last;
		m.open[m.count].time_ns = now;
		m.open[m.count++].counts = true;
	}
}

int test_pairing(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nested_spans_of_a_thread, create, destroy),
		cmocka_unit_test_setup_teardown(each_key_for_itself, create, destroy),
		cmocka_unit_test_setup_teardown(an_exit_that_is_missing, create, destroy),
		cmocka_unit_test_setup_teardown(by_the_value_of_an_argument, create, destroy),
		cmocka_unit_test_setup_teardown(time_that_goes_back_is_none, create, destroy),
		cmocka_unit_test_setup_teardown(the_oldest_is_given_up, create, destroy),
		cmocka_unit_test_setup_teardown(a_thread_that_only_enters, create, destroy),
		cmocka_unit_test_setup_teardown(until_the_next_of_its_kind, create, destroy),
		cmocka_unit_test_setup_teardown(until_the_span_around_ends, create, destroy),
		cmocka_unit_test_setup_teardown(until_one_of_the_same_value, create, destroy),
		cmocka_unit_test_setup_teardown(until_an_event_that_ends_all, create, destroy),
		cmocka_unit_test_setup_teardown(until_the_trace_ends, create, destroy),
		cmocka_unit_test_setup_teardown(until_a_gap, create, destroy),
		cmocka_unit_test_setup_teardown(until_what_was_left_out, create, destroy),
		cmocka_unit_test_setup_teardown(ends_that_nobody_takes, create, destroy),
		cmocka_unit_test_setup_teardown(as_many_as_can_be_open_end_at_once, create,
						destroy),
		cmocka_unit_test_setup_teardown(what_is_kept_of_an_event_is_bounded, create,
						destroy),
		cmocka_unit_test_setup_teardown(a_span_in_one_event, create, destroy),
		cmocka_unit_test_setup_teardown(any_order, create, destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
