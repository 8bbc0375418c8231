/*
 * test_pairing.c - which exit belongs to which entry, how long it took, and how deep an event is.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../filter/filter_fixture.h"

enum { PLAIN = 1, ENTRY = 10, EXIT = 11, OTHER_ENTRY = 20, OTHER_EXIT = 21, BEGIN = 30, END = 31 };

static const struct ct_event_type types[] = {
	{ .event_id = PLAIN, .match = -1 },
	{ .event_id = ENTRY, .pairing = CT_PAIR_ENTRY, .pair_id = EXIT, .match = -1 },
	{ .event_id = EXIT, .pairing = CT_PAIR_EXIT, .pair_id = ENTRY, .match = -1 },
	{ .event_id = OTHER_ENTRY, .pairing = CT_PAIR_ENTRY, .pair_id = OTHER_EXIT, .match = -1 },
	{ .event_id = OTHER_EXIT, .pairing = CT_PAIR_EXIT, .pair_id = OTHER_ENTRY, .match = -1 },
	/* by their second argument */
	{ .event_id = BEGIN, .pairing = CT_PAIR_ENTRY, .pair_id = END, .match = 1 },
	{ .event_id = END, .pairing = CT_PAIR_EXIT, .pair_id = BEGIN, .match = 0 },
};

struct pairs {
	struct ct_pairing_state *state;
	struct ct_source_process source_process;
	const char *component;
	struct ctrace_event_item items[2];
	uint32_t item_count;
	struct ct_read_event event; /* the last */
};

static int create(void **state)
{
	struct pairs *p = calloc(1, sizeof *p);

	assert_int_equal(ct_pairing_create(&p->state), CTRACE_OK);
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
					   .span_id = 77,
					   .depth = 77 };
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
		cmocka_unit_test_setup_teardown(any_order, create, destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
