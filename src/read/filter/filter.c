/*
 * filter.c - runs a filter's program on an event, or on the known facts of a class before its
 * events are decoded.
 *
 * Called by the reader and by tools, on one thread.  The parser has checked the text, so nothing
 * here can fail.  Only texts in other encodings allocate.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/filter/filter_program.h"

#include <stdlib.h>
#include <string.h>

/* -----------------------------------------------------------------------------------------------
 * One test
 */

bool ct_filter_has_number(const struct ct_filter_test *test, ct_wide value)
{
	const struct ct_filter_range *ranges = test->ranges;
	uint32_t low = 0, high = test->range_count;

	if (high == 1)
		return value >= ranges->first && value <= ranges->last;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (value > ranges[middle].last)
			low = middle + 1;
		else if (value < ranges[middle].first)
			high = middle;
		else
			return true;
	}
	return false;
}

static bool number_holds(const struct ct_filter_test *test, uint64_t value)
{
	return ct_filter_has_number(test, (ct_wide)value) != test->is_inverted;
}

/* Names are compared without regard to case. */
static bool name_holds(const struct ct_filter_test *test, const char *name, size_t size)
{
	bool is_found = false;

	for (uint32_t i = 0; i < test->text_count && !is_found; i++) {
		struct ct_span text = test->texts[i].low;

		is_found = test->is_glob ? ct_glob_match(text.at, text.size, name, size)
					 : ct_name_equal(text.at, text.size, name, size);
	}
	return is_found != test->is_inverted;
}

static bool text_holds(const struct ct_filter_test *test, const char *name)
{
	return name_holds(test, name, strlen(name));
}

static bool mnemonic_holds(const struct ct_filter_test *test, const struct ct_read_event *event)
{
	char scratch[16];

	return text_holds(test, ct_read_event_mnemonic(event, scratch));
}

static bool jobname_holds(const struct ct_filter_test *test, const struct ct_read_event *event)
{
	char name[17];

	ct_read_event_jobname(event, name);
	return text_holds(test, name);
}

static bool duration_holds(const struct ct_filter_test *test, const struct ct_read_event *event)
{
	if (event->duration_ns == CT_NO_DURATION)
		return false;
	return test->is_there || number_holds(test, event->duration_ns);
}

static uint64_t event_size(const struct ct_read_event *event)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < event->traced.item_count; i++)
		size += event->traced.items[i].size;
	return size;
}

static bool test_holds(const struct ct_filter *filter, const struct ct_filter_test *test,
		       const struct ct_read_event *event)
{
	switch (test->field) {
	case CT_FILTER_COMPONENT:
		return name_holds(test, event->traced.component, event->traced.component_size);
	case CT_FILTER_LEVEL:
		return number_holds(test, event->traced.level);
	case CT_FILTER_EVENT:
		return number_holds(test, event->traced.event_id);
	case CT_FILTER_MNEMONIC:
		return mnemonic_holds(test, event);
	case CT_FILTER_TIME:
		return number_holds(test, event->traced.time_ns);
	case CT_FILTER_THREAD:
		return number_holds(test, event->traced.tid);
	case CT_FILTER_PROCESS:
		return number_holds(test, event->traced.pid);
	case CT_FILTER_JOB:
		return jobname_holds(test, event);
	case CT_FILTER_ASID:
		return number_holds(test, ct_read_event_asid(event));
	case CT_FILTER_HOST:
		return text_holds(test, event->source_process->host);
	case CT_FILTER_PROGRAM:
		return text_holds(test, event->source_process->program);
	case CT_FILTER_SEQUENCE:
		return number_holds(test, event->sequence);
	case CT_FILTER_SIZE:
		return number_holds(test, event_size(event));
	case CT_FILTER_DURATION:
		return duration_holds(test, event);
	case CT_FILTER_DATA:
		return ct_filter_items_match(filter, test, event);
	}
	return false;
}

bool ct_filter_accepts(const struct ct_filter *filter, const struct ct_read_event *event)
{
	uint32_t at = 0;

	if (filter == NULL)
		return true;
	while (at < filter->count)
		at = filter->tests[at].next[test_holds(filter, &filter->tests[at], event)];
	return at == CT_FILTER_ACCEPT;
}

/* -----------------------------------------------------------------------------------------------
 * All events of a class: which tests can be reached
 */

static enum ct_filter_result test_class_result(const struct ct_filter *filter,
					       const struct ct_filter_test *test,
					       const struct ct_read_event *event)
{
	bool has_end = event->type != NULL && (event->type->pairing == CT_PAIR_EXIT ||
					       ct_event_type_is_inferred(event->type) ||
					       event->type->roles[CT_ARGUMENT_ROLE_DURATION] != 0);

	switch (test->field) {
	case CT_FILTER_COMPONENT:
	case CT_FILTER_LEVEL:
	case CT_FILTER_EVENT:
	case CT_FILTER_MNEMONIC:
		return test_holds(filter, test, event) ? CT_FILTER_RESULT_ALWAYS
						       : CT_FILTER_RESULT_NEVER;
	case CT_FILTER_DURATION:
		return has_end ? CT_FILTER_RESULT_MAYBE : CT_FILTER_RESULT_NEVER;
	case CT_FILTER_DATA:
		return ct_filter_item_is_unknown(test, event) ? CT_FILTER_RESULT_NEVER
							      : CT_FILTER_RESULT_MAYBE;
	default:
		return CT_FILTER_RESULT_MAYBE;
	}
}

struct ends {
	bool is_accepted, is_rejected;
};

static void way_reach(uint32_t way, bool *is_reached, struct ends *ends)
{
	if (way == CT_FILTER_ACCEPT)
		ends->is_accepted = true;
	else if (way == CT_FILTER_REJECT)
		ends->is_rejected = true;
	else
		is_reached[way] = true;
}

#define TESTS_ON_STACK 256u

enum ct_filter_result ct_filter_class(const struct ct_filter *filter,
				      const struct ct_read_event *event)
{
	bool few[TESTS_ON_STACK] = { false }, *is_reached = few;
	struct ends ends = { false, false };

	if (filter == NULL)
		return CT_FILTER_RESULT_ALWAYS;
	if (filter->count > TESTS_ON_STACK)
		is_reached = calloc(filter->count, sizeof *is_reached);
	if (is_reached == NULL)
		return CT_FILTER_RESULT_MAYBE;
	is_reached[0] = true;
	for (uint32_t i = 0; i < filter->count; i++) {
		const struct ct_filter_test *test = &filter->tests[i];
		enum ct_filter_result filter_result =
			is_reached[i] ? test_class_result(filter, test, event)
				      : CT_FILTER_RESULT_MAYBE;

		if (is_reached[i] && filter_result != CT_FILTER_RESULT_ALWAYS)
			way_reach(test->next[0], is_reached, &ends);
		if (is_reached[i] && filter_result != CT_FILTER_RESULT_NEVER)
			way_reach(test->next[1], is_reached, &ends);
	}
	if (is_reached != few)
		free(is_reached);
	return !ends.is_accepted  ? CT_FILTER_RESULT_NEVER
	       : ends.is_rejected ? CT_FILTER_RESULT_MAYBE
				  : CT_FILTER_RESULT_ALWAYS;
}

/* -----------------------------------------------------------------------------------------------
 * Times: the event times that can reach each test, and the end
 */

struct times {
	uint64_t since_ns, until_ns; /* since beyond until: none */
};
#define NO_TIMES ((struct times){ 1, 0 })

/* Returns the times that leave the test by way 0 or 1.  Several pieces are returned as one, from
 * first begin to last end. */
static struct times times_pass(const struct ct_filter_test *test, struct times in, unsigned way)
{
	const struct ct_filter_range *ranges = test->ranges;
	uint32_t count = test->range_count;
	ct_wide since = (ct_wide)in.since_ns, until = (ct_wide)in.until_ns;

	if (test->field != CT_FILTER_TIME || in.since_ns > in.until_ns)
		return in;
	if ((way == 1) != test->is_inverted) {
		if (count == 0)
			return NO_TIMES;
		since = ranges[0].first > since ? ranges[0].first : since;
		until = ranges[count - 1].last < until ? ranges[count - 1].last : until;
	} else {
		for (uint32_t i = 0; i < count && ranges[i].first <= since; i++)
			since = ranges[i].last >= since ? ranges[i].last + 1 : since;
		for (uint32_t i = count; i > 0 && ranges[i - 1].last >= until; i--)
			until = ranges[i - 1].first <= until ? ranges[i - 1].first - 1 : until;
	}
	return since <= until ? (struct times){ (uint64_t)since, (uint64_t)until } : NO_TIMES;
}

static void times_join(struct times *times, struct times more)
{
	if (more.since_ns > more.until_ns)
		return;
	if (times->since_ns > times->until_ns) {
		*times = more;
		return;
	}
	times->since_ns = more.since_ns < times->since_ns ? more.since_ns : times->since_ns;
	times->until_ns = more.until_ns > times->until_ns ? more.until_ns : times->until_ns;
}

static struct times filter_find_times(const struct ct_filter *filter)
{
	struct times all = { 0, UINT64_MAX }, accepted = NO_TIMES;
	struct times *times = calloc(filter->count + 1, sizeof *times);

	if (times == NULL)
		return all;
	for (uint32_t i = 0; i < filter->count; i++)
		times[i] = i == 0 ? all : NO_TIMES;
	for (uint32_t i = 0; i < filter->count; i++)
		for (unsigned way = 0; way < 2; way++) {
			uint32_t next = filter->tests[i].next[way];

			if (next == CT_FILTER_ACCEPT)
				times_join(&accepted, times_pass(&filter->tests[i], times[i], way));
			else if (next != CT_FILTER_REJECT)
				times_join(&times[next],
					   times_pass(&filter->tests[i], times[i], way));
		}
	free(times);
	return accepted;
}

void ct_filter_finish(struct ct_filter *filter)
{
	struct times times = filter_find_times(filter);

	filter->uses = 0;
	for (uint32_t i = 0; i < filter->count; i++) {
		filter->uses |= filter->tests[i].field == CT_FILTER_DURATION ? CT_USES_DURATION : 0;
		filter->uses |= filter->tests[i].field == CT_FILTER_SEQUENCE ? CT_USES_SEQUENCE : 0;
	}
	/* A filter that accepts nothing ends at the first event. */
	filter->since_ns = times.since_ns <= times.until_ns ? times.since_ns : 0;
	filter->until_ns = times.until_ns;
}

void ct_filter_times(const struct ct_filter *filter, uint64_t *out_since_ns, uint64_t *out_until_ns)
{
	*out_since_ns = filter != NULL ? filter->since_ns : 0;
	*out_until_ns = filter != NULL ? filter->until_ns : UINT64_MAX;
}

unsigned ct_filter_uses(const struct ct_filter *filter)
{
	return filter != NULL ? filter->uses : 0;
}

/* -----------------------------------------------------------------------------------------------
 * Filters as a whole
 */

void *ct_filter_keep(struct ct_filter *filter, size_t size)
{
	struct ct_filter_block *block = calloc(1, sizeof *block + size);

	if (block == NULL)
		return NULL;
	block->next = filter->blocks;
	filter->blocks = block;
	return block->bytes;
}

void ct_filter_destroy(struct ct_filter *filter)
{
	if (filter == NULL)
		return;
	while (filter->blocks != NULL) {
		struct ct_filter_block *block = filter->blocks;

		filter->blocks = block->next;
		free(block);
	}
	if (filter->scratch != NULL)
		ct_buf_fini(filter->scratch);
	free(filter->scratch);
	free(filter->tests);
	free(filter);
}

/* Appends the second program: events that the first accepts continue there. */
static void filter_append(struct ct_filter *to, const struct ct_filter *from)
{
	uint32_t at = to->count;

	for (uint32_t i = 0; i < at; i++)
		for (unsigned way = 0; way < 2; way++)
			if (to->tests[i].next[way] == CT_FILTER_ACCEPT)
				to->tests[i].next[way] = at;
	for (uint32_t i = 0; i < from->count; i++) {
		struct ct_filter_test *test = &to->tests[to->count++];

		*test = from->tests[i];
		for (unsigned way = 0; way < 2; way++)
			if (test->next[way] < from->count)
				test->next[way] += at;
	}
}

static void filter_take_blocks(struct ct_filter *to, struct ct_filter *from)
{
	struct ct_filter_block **last = &to->blocks;

	while (*last != NULL)
		last = &(*last)->next;
	*last = from->blocks;
	from->blocks = NULL;
}

struct ct_filter *ct_filter_and(struct ct_filter *a, struct ct_filter *b)
{
	struct ct_filter_test *tests;

	if (a == NULL || b == NULL)
		return a != NULL ? a : b;
	tests = reallocarray(a->tests, a->count + b->count, sizeof *tests);
	if (tests == NULL) {
		ct_filter_destroy(a);
		ct_filter_destroy(b);
		return NULL;
	}
	a->tests = tests;
	a->capacity = a->count + b->count;
	filter_append(a, b);
	filter_take_blocks(a, b);
	ct_filter_destroy(b);
	ct_filter_finish(a);
	return a;
}
