/*
 * test_compare.c - what is new, gone, more, fewer, slower, faster; and what is alike.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../read/event_fixture.h"

#include "print/tally.h"

struct runs {
	struct ct_tally a, b;
	struct ct_tally_change *changes;
	size_t count;
};

/* `count` events of the id, one every `step_ns`; durations of `duration_ns`, 0: none. */
static void add(struct ct_tally *tally, const char *component, uint32_t id, unsigned count,
		uint64_t step_ns, uint64_t duration_ns)
{
	for (unsigned i = 0; i < count; i++) {
		struct ct_read_event event = event_of(NULL, 0);

		event.traced.component = component;
		event.traced.component_size = (uint32_t)strlen(component);
		event.traced.event_id = id;
		event.traced.time_ns = 1000 + i * step_ns;
		if (duration_ns != 0)
			event.duration_ns = duration_ns;
		ct_tally_add(tally, &event);
	}
}

static void runs_init(struct runs *runs)
{
	ct_tally_init(&runs->a);
	ct_tally_init(&runs->b);
	runs->changes = NULL;
}

static void runs_fini(struct runs *runs)
{
	ct_tally_fini(&runs->a);
	ct_tally_fini(&runs->b);
	free(runs->changes);
}

static void compare(struct runs *runs, struct ct_compare_options options)
{
	if (options.ratio == 0)
		options.ratio = 1.5;
	if (options.kind == CT_TALLY_COMPONENT)
		options.kind = CT_TALLY_EVENT;
	free(runs->changes);
	runs->changes = NULL;
	assert_int_equal(ct_compare(&runs->a, &runs->b, &options, &runs->changes, &runs->count),
			 CTRACE_OK);
}

static void assert_change(const struct ct_tally_change *change, enum ct_difference difference,
			  uint32_t id)
{
	assert_string_equal(ct_difference_name(change->difference), ct_difference_name(difference));
	assert_int_equal((change->a != NULL ? change->a : change->b)->event_id, id);
}

static void each_difference(void **state)
{
	struct runs runs;

	(void)state;
	runs_init(&runs);
	add(&runs.a, "A", 1, 10, 100, 0);
	add(&runs.b, "A", 2, 10, 100, 0);
	add(&runs.a, "A", 3, 10, 100, 0);
	add(&runs.b, "A", 3, 100, 10, 0);
	add(&runs.a, "A", 4, 100, 10, 0);
	add(&runs.b, "A", 4, 10, 100, 0);
	add(&runs.a, "A", 5, 10, 100, 1000);
	add(&runs.b, "A", 5, 10, 100, 5000);
	add(&runs.a, "A", 6, 10, 100, 5000);
	add(&runs.b, "A", 6, 10, 100, 1000);
	add(&runs.a, "A", 7, 10, 100, 1000);
	add(&runs.b, "A", 7, 10, 100, 1000);
	compare(&runs, (struct ct_compare_options){ .min_count = 1 });
	assert_int_equal(runs.count, 6);
	assert_change(&runs.changes[0], CT_DIFFERENT_NEW, 2);
	assert_change(&runs.changes[1], CT_DIFFERENT_GONE, 1);
	assert_change(&runs.changes[2], CT_DIFFERENT_MORE, 3);
	assert_change(&runs.changes[3], CT_DIFFERENT_FEWER, 4);
	assert_change(&runs.changes[4], CT_DIFFERENT_SLOWER, 5);
	assert_change(&runs.changes[5], CT_DIFFERENT_FASTER, 6);
	assert_true(runs.changes[2].ratio > 9.9 && runs.changes[2].ratio < 10.1);
	assert_true(runs.changes[4].ratio > 4.9 && runs.changes[4].ratio < 5.1);
	assert_null(runs.changes[0].a);
	assert_null(runs.changes[1].b);
	runs_fini(&runs);
}

static void rates_are_by_the_second(void **state)
{
	struct runs runs;

	(void)state;
	runs_init(&runs);
	add(&runs.a, "A", 1, 100, 100, 0);
	add(&runs.b, "A", 1, 1000, 100, 0); /* ten times as long */
	compare(&runs, (struct ct_compare_options){ .min_count = 1, .has_rates = true });
	assert_int_equal(runs.count, 0);
	compare(&runs, (struct ct_compare_options){ .min_count = 1 });
	assert_int_equal(runs.count, 1);
	assert_change(&runs.changes[0], CT_DIFFERENT_MORE, 1);
	runs_fini(&runs);
}

static void thresholds(void **state)
{
	struct runs runs;

	(void)state;
	runs_init(&runs);
	add(&runs.a, "A", 1, 10, 100, 100);
	add(&runs.b, "A", 1, 15, 100, 199);
	add(&runs.b, "A", 2, 3, 100, 0);
	compare(&runs, (struct ct_compare_options){ .min_count = 1, .ratio = 1.5 });
	assert_int_equal(runs.count, 3);
	compare(&runs, (struct ct_compare_options){ .min_count = 4, .ratio = 1.5 });
	assert_int_equal(runs.count, 2);
	compare(&runs, (struct ct_compare_options){ .min_count = 4, .ratio = 1.6 });
	assert_int_equal(runs.count, 1);
	assert_change(&runs.changes[0], CT_DIFFERENT_SLOWER, 1);
	compare(&runs, (struct ct_compare_options){ .min_count = 4, .ratio = 1.6, .min_ns = 100 });
	assert_int_equal(runs.count, 0);
	compare(&runs, (struct ct_compare_options){ .min_count = 16, .ratio = 1.1 });
	assert_int_equal(runs.count, 0);
	runs_fini(&runs);
}

static void the_greatest_comes_first(void **state)
{
	struct runs runs;

	(void)state;
	runs_init(&runs);
	for (uint32_t id = 1; id <= 5; id++) {
		add(&runs.a, "A", id, 10, 100, 0);
		add(&runs.b, "A", id, 20 * id, 100, 0);
	}
	compare(&runs, (struct ct_compare_options){ .min_count = 1 });
	assert_int_equal(runs.count, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_change(&runs.changes[i], CT_DIFFERENT_MORE, 5 - i);
	runs_fini(&runs);
}

/* A run of a catalogue's span: `count` of them, each of `ns`. */
static void add_named(struct ct_tally *tally, const char *name, unsigned count, uint64_t ns)
{
	static const struct ct_argument argument = { .name = "paragraph", .description = "" };
	static const struct ct_event_type type = { .event_id = 5,
						   .mnemonic = "PARAGRAPH",
						   .pairing = CT_PAIR_UNTIL,
						   .match = -1,
						   .span_names = { 0 },
						   .span_name_count = 1,
						   .arguments = &argument,
						   .argument_count = 1 };
	const struct ctrace_event_item item = text_item(name);
	struct ct_read_event event = event_of(&item, 1);

	event.type = &type;
	event.traced.event_id = type.event_id;
	event.is_inferred = true;
	event.duration_ns = event.self_ns = ns;
	for (unsigned i = 0; i < count; i++)
		ct_tally_add(tally, &event);
}

/* By their total time and their counts as they are, and once is enough. */
static void names_by_their_totals(void **state)
{
	struct ct_compare_options options = {
		.kind = CT_TALLY_NAME, .has_rates = true, .min_count = 5, .min_ns = 1000
	};
	struct runs runs;

	(void)state;
	runs_init(&runs);
	ct_tally_want_names(&runs.a, NULL);
	ct_tally_want_names(&runs.b, NULL);
	add_named(&runs.a, "SLOW", 1, 2000);
	add_named(&runs.b, "SLOW", 1, 9000);
	add_named(&runs.a, "OFTEN", 10, 500); /* the median stays, the total does not */
	add_named(&runs.b, "OFTEN", 40, 500);
	add_named(&runs.a, "SAME", 3, 2000);
	add_named(&runs.b, "SAME", 3, 2100);
	add_named(&runs.b, "NEW", 1, 1);
	compare(&runs, options);
	assert_int_equal(runs.count, 4);
	assert_change(&runs.changes[0], CT_DIFFERENT_NEW, 5);
	assert_string_equal(runs.changes[0].b->name, "NEW");
	assert_change(&runs.changes[1], CT_DIFFERENT_MORE, 5);
	assert_string_equal(runs.changes[1].b->name, "OFTEN");
	assert_true(runs.changes[1].was == 10 && runs.changes[1].is == 40);
	assert_change(&runs.changes[2], CT_DIFFERENT_SLOWER, 5);
	assert_string_equal(runs.changes[2].b->name, "SLOW");
	assert_change(&runs.changes[3], CT_DIFFERENT_SLOWER, 5);
	assert_string_equal(runs.changes[3].b->name, "OFTEN");
	assert_true(runs.changes[3].was == 5000 && runs.changes[3].is == 20000);
	runs_fini(&runs);
}

static void nothing_is_alike(void **state)
{
	struct runs runs;

	(void)state;
	runs_init(&runs);
	compare(&runs, (struct ct_compare_options){ .min_count = 1 });
	assert_int_equal(runs.count, 0);
	runs_fini(&runs);
}

int test_compare(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_difference),  cmocka_unit_test(rates_are_by_the_second),
		cmocka_unit_test(thresholds),       cmocka_unit_test(the_greatest_comes_first),
		cmocka_unit_test(nothing_is_alike), cmocka_unit_test(names_by_their_totals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
