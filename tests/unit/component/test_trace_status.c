/*
 * test_trace_status.c - what a trace does, what it may be asked, and what becomes of that.
 *
 * The traces here are in no table: nothing of this looks for one.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "component_fixture.h"

static struct ct_trace head, sub, deep;
static struct ct_trace_request request;
static struct ct_status status;

static int clean(void **state)
{
	(void)state;
	memset(&head, 0, sizeof head);
	memset(&sub, 0, sizeof sub);
	memset(&deep, 0, sizeof deep);
	memset(&request, 0, sizeof request);
	memset(&status, 0, sizeof status);
	memset(&outcome, 0, sizeof outcome);
	head.attributes.head = head.attributes.headopts = true;
	sub.head = &head;
	deep.head = &sub;
	for (unsigned i = 0; i < CT_CLAUSE_COUNT; i++) {
		request.place[i].line = 10 + i;
		request.place[i].column = 3;
	}
	return 0;
}

/* ---- what it does ---- */

static void attributes_of_what_is_like_its_head_are_the_heads(void **state)
{
	(void)state;
	assert_ptr_equal(ct_trace_attributes(&deep), &deep.attributes);
	deep.attributes.likehead = true;
	assert_ptr_equal(ct_trace_attributes(&deep), &sub.attributes);
	sub.attributes.likehead = true;
	assert_ptr_equal(ct_trace_attributes(&deep), &head.attributes);
	head.attributes.likehead = true; /* has no head itself */
	assert_ptr_equal(ct_trace_attributes(&deep), &head.attributes);
}

static void a_trace_with_nothing_set_is_off(void **state)
{
	char minops[] = "LEAST";

	(void)state;
	memset(&status, 0xA5, sizeof status);
	ct_status_get(&head, &status);
	assert_int_equal(status.mode, CTRACE_MODE_OFF);
	assert_int_equal(status.asid_count + status.jobname_count, 0);
	assert_string_equal(status.options, "");
	assert_string_equal(status.writer, "");
	assert_int_equal(status.buffer_asked, 0);
	head.attributes.minops = minops;
	head.attributes.bufdflt = 5000;
	ct_status_get(&head, &status);
	assert_int_equal(status.mode, CTRACE_MODE_MIN);
	assert_int_equal(status.buffer_asked, 5000);
	assert_int_equal(status.buffer_rounded, 5000);
}

static void what_follows_does_what_its_head_does(void **state)
{
	struct ct_status heads = { .mode = CTRACE_MODE_ON,
				   .level = CTRACE_WARN,
				   .options = "HEADS" };
	struct ct_status own = { .mode = CTRACE_MODE_ON, .options = "OWN" };

	(void)state;
	head.status = &heads;
	sub.status = &own;
	ct_status_get(&sub, &status);
	assert_string_equal(status.options, "OWN");
	sub.follows = deep.follows = true;
	ct_status_get(&deep, &status);
	assert_string_equal(status.options, "HEADS");
	assert_int_equal(status.level, CTRACE_WARN);
	head.follows = true; /* has no head itself */
	ct_status_get(&deep, &status);
	assert_string_equal(status.options, "HEADS");
	assert_int_equal(ct_thread_locked, 0);
}

static void a_ring_is_a_power_of_two_that_has_the_size(void **state)
{
	(void)state;
	assert_int_equal(ct_status_granted(0), 0);
	assert_int_equal(ct_status_granted(1), CT_RING_MIN);
	assert_int_equal(ct_status_granted(CT_RING_MIN), CT_RING_MIN);
	assert_int_equal(ct_status_granted(CT_RING_MIN + 1), 2 * CT_RING_MIN);
	assert_int_equal(ct_status_granted(CT_RING_MAX - 1), CT_RING_MAX);
	assert_int_equal(ct_status_granted(CT_RING_MAX + 1), CT_RING_MAX);
	assert_int_equal(ct_status_granted(UINT64_MAX), CT_RING_MAX);
}

/* ---- what it may be asked ---- */

static void refuses(struct ct_trace *trace, enum ct_request_from from, uint32_t expected)
{
	uint32_t rc = ct_status_check(trace, &request, from, NULL, &outcome);

	assert_int_equal(rc, expected == 0 ? CTRACE_RC_OK : CTRACE_RC_REFUSED);
	if (expected != 0)
		assert_int_equal(reason(), expected);
}

static void each_attribute_allows_its_clause(void **state)
{
	(void)state;
	refuses(&head, CT_FROM_COMMAND, 0);
	request.asid_count = 1;
	refuses(&head, CT_FROM_COMMAND, CTRACE_RSN_NO_ASIDS);
	head.attributes.asids = true;
	refuses(&head, CT_FROM_COMMAND, 0);
	request.jobname_count = 1;
	refuses(&head, CT_FROM_COMMAND, CTRACE_RSN_NO_JOBS);
	head.attributes.jobs = true;
	refuses(&head, CT_FROM_COMMAND, 0);
	request.has[CT_CLAUSE_WTR] = true;
	refuses(&head, CT_FROM_COMMAND, CTRACE_RSN_NO_WTR);
	request.disconnect = true; /* from nothing: is well */
	refuses(&head, CT_FROM_COMMAND, 0);
	request.disconnect = false;
	head.attributes.wtr = true;
	refuses(&head, CT_FROM_COMMAND, 0);
	request.has[CT_CLAUSE_BUFSIZE] = true;
	request.bufsize = 2048;
	refuses(&head, CT_FROM_COMMAND, CTRACE_RSN_NO_BUFFER);
	head.attributes.buffer = true;
	head.attributes.bufmin = 1024;
	head.attributes.bufmax = 4096;
	refuses(&head, CT_FROM_COMMAND, 0);
}

static void a_buffer_size_has_its_limits(void **state)
{
	static const struct {
		uint64_t size;
		uint32_t reason;
	} rows[] = { { 1023, CTRACE_RSN_BUFSIZE_LIMITS },
		     { 1024, 0 },
		     { 4096, 0 },
		     { 4097, CTRACE_RSN_BUFSIZE_LIMITS } };

	(void)state;
	head.attributes.buffer = true;
	head.attributes.bufmin = 1024;
	head.attributes.bufmax = 4096;
	request.has[CT_CLAUSE_BUFSIZE] = true;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		request.bufsize = rows[i].size;
		refuses(&head, CT_FROM_COMMAND, rows[i].reason);
	}
	request.bufsize = 2048;
	head.attributes.bufdefin = true; /* not by a command */
	refuses(&head, CT_FROM_COMMAND, CTRACE_RSN_BUFDEFIN);
	refuses(&head, CT_FROM_DEFINE, 0);
	refuses(&head, CT_FROM_PRESET, 0);
}

static void a_member_of_define_is_for_one_trace_and_now(void **state)
{
	(void)state;
	request.has[CT_CLAUSE_SUB] = true;
	refuses(&head, CT_FROM_DEFINE, CTRACE_RSN_MEMBER_SUB);
	refuses(&head, CT_FROM_PRESET, 0);
	refuses(&head, CT_FROM_COMMAND, 0);
	request.has[CT_CLAUSE_SUB] = false;
	request.state = CTRACE_CT_PRESET_DELETE;
	refuses(&head, CT_FROM_DEFINE, CTRACE_RSN_MEMBER_PRESET_DELETE);
}

static void likehead_needs_a_head_that_is_alike(void **state)
{
	char minops[] = "LEAST", same_minops[] = "LEAST";

	(void)state;
	request.state = CTRACE_CT_LIKEHEAD;
	refuses(&head, CT_FROM_COMMAND, CTRACE_RSN_NOT_A_SUBLEVEL);
	refuses(&head, CT_FROM_DEFINE, CTRACE_RSN_LIKEHEAD_NO_OPTIONS);
	refuses(&sub, CT_FROM_COMMAND, 0);
	head.attributes.headopts = false;
	refuses(&sub, CT_FROM_COMMAND, CTRACE_RSN_LIKEHEAD_NO_OPTIONS);
	head.attributes.headopts = true;
	head.attributes.minops = minops;
	refuses(&sub, CT_FROM_COMMAND, CTRACE_RSN_LIKEHEAD_DIFFERS);
	sub.attributes.minops = same_minops;
	refuses(&sub, CT_FROM_COMMAND, 0);
	sub.attributes.mod = true;
	refuses(&sub, CT_FROM_DEFINE, CTRACE_RSN_LIKEHEAD_DIFFERS);
	sub.attributes.likehead = true; /* has its head's, whatever it has itself */
	refuses(&sub, CT_FROM_COMMAND, 0);
}

static void each_attribute_makes_a_difference(void **state)
{
	struct ct_attributes *own = &sub.attributes;

	(void)state;
	request.state = CTRACE_CT_LIKEHEAD;
#define DIFFERS(change) \
	*own = (struct ct_attributes){ \
		.startnam = "OTHER", .fmttab = "OTHER", .head = true, change \
	}; \
	refuses(&sub, CT_FROM_COMMAND, CTRACE_RSN_LIKEHEAD_DIFFERS)
	DIFFERS(.asids = true);
	DIFFERS(.jobs = true);
	DIFFERS(.mod = true);
	DIFFERS(.buffer = true);
	DIFFERS(.bufdefin = true);
	DIFFERS(.wtr = true);
	DIFFERS(.wtrmode = CTRACE_FIXED);
	DIFFERS(.bufmin = 1);
	DIFFERS(.bufmax = 1);
	DIFFERS(.bufdflt = 1);
#undef DIFFERS
	*own = (struct ct_attributes){ .startnam = "OTHER", .fmttab = "OTHER", .head = true };
	refuses(&sub, CT_FROM_COMMAND, 0);
}

static void the_lowest_reason_comes_first_and_says_where(void **state)
{
	(void)state;
	request.state = CTRACE_CT_LIKEHEAD;
	request.has[CT_CLAUSE_BUFSIZE] = request.has[CT_CLAUSE_WTR] = true;
	request.asid_count = request.jobname_count = 1;
	assert_int_equal(ct_status_check(&head, &request, CT_FROM_COMMAND, "CTMEMBER", &outcome),
			 CTRACE_RC_REFUSED);
	assert_int_equal(reason(), CTRACE_RSN_NO_BUFFER);
	assert_memory_equal(outcome.message, "CTMEMBER:14:3: the trace was defined with BUFFER=NO",
			    51);
	request.has[CT_CLAUSE_BUFSIZE] = false;
	refuses(&head, CT_FROM_COMMAND, CTRACE_RSN_NO_ASIDS);
	/* no member */
	assert_memory_equal(outcome.message, "the trace was defined with ASIDS=NO", 35);
	request.asid_count = 0;
	refuses(&head, CT_FROM_COMMAND, CTRACE_RSN_NO_JOBS);
	request.jobname_count = 0;
	refuses(&head, CT_FROM_COMMAND, CTRACE_RSN_NO_WTR);
	request.has[CT_CLAUSE_WTR] = false;
	refuses(&head, CT_FROM_COMMAND, CTRACE_RSN_NOT_A_SUBLEVEL);
}

/* ---- what becomes of it ---- */

static void ask_for_everything(void)
{
	for (unsigned i = CT_CLAUSE_ASID; i < CT_CLAUSE_COUNT; i++)
		request.has[i] = true;
	request.state = CTRACE_CT_ON;
	request.asid_count = 2;
	request.asid[0] = 1;
	request.asid[1] = 0x2F;
	request.jobname_count = 1;
	strcpy(request.jobname[0], "SOMEJOB");
	request.bufsize = 4096;
	request.options_size = 3;
	strcpy(request.options, "A,B");
	strcpy(request.writer, "WRITER");
}

static void on_takes_all_that_is_asked(void **state)
{
	(void)state;
	ask_for_everything();
	ct_status_merge(&status, &request, &head.attributes);
	assert_int_equal(status.mode, CTRACE_MODE_ON);
	assert_int_equal(status.level, CTRACE_DEBUG);
	assert_int_equal(status.asid_count, 2);
	assert_int_equal(status.asid[1], 0x2F);
	assert_int_equal(status.jobname_count, 1);
	assert_string_equal(status.jobname[0], "SOMEJOB");
	assert_int_equal(status.buffer_asked, 4096);
	assert_int_equal(status.buffer_rounded, 4096);
	assert_string_equal(status.options, "A,B");
	assert_string_equal(status.writer, "WRITER");
}

static void on_again_replaces_the_options_and_leaves_the_rest(void **state)
{
	(void)state;
	ask_for_everything();
	ct_status_merge(&status, &request, &head.attributes);
	status.level = CTRACE_ERROR; /* the other face has set it */
	request = (struct ct_trace_request){ .state = CTRACE_CT_ON };
	ct_status_merge(&status, &request, &head.attributes);
	assert_string_equal(status.options, "");
	assert_int_equal(status.level, CTRACE_DEBUG);
	assert_int_equal(status.asid_count, 2);
	assert_int_equal(status.jobname_count, 1);
	assert_int_equal(status.buffer_asked, 4096);
	assert_string_equal(status.writer, "WRITER");
	/* ASID() and JOBNAME() */
	request.has[CT_CLAUSE_ASID] = request.has[CT_CLAUSE_JOBNAME] = true;
	request.has[CT_CLAUSE_WTR] = request.disconnect = true;
	strcpy(request.writer, "NOBODY");
	ct_status_merge(&status, &request, &head.attributes);
	assert_int_equal(status.asid_count + status.jobname_count, 0);
	assert_string_equal(status.writer, "");
}

static void off_clears_filters_and_writer_but_not_the_size(void **state)
{
	char minops[] = "LEAST";

	(void)state;
	ask_for_everything();
	ct_status_merge(&status, &request, &head.attributes);
	request = (struct ct_trace_request){ .state = CTRACE_CT_OFF };
	ct_status_merge(&status, &request, &head.attributes);
	assert_int_equal(status.mode, CTRACE_MODE_OFF);
	assert_int_equal(status.asid_count + status.jobname_count, 0);
	assert_string_equal(status.options, "");
	assert_string_equal(status.writer, "");
	assert_int_equal(status.buffer_asked, 4096);
	head.attributes.minops = minops;
	ct_status_merge(&status, &request, &head.attributes);
	assert_int_equal(status.mode, CTRACE_MODE_MIN);
}

int test_trace_status(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(attributes_of_what_is_like_its_head_are_the_heads, clean),
		cmocka_unit_test_setup(a_trace_with_nothing_set_is_off, clean),
		cmocka_unit_test_setup(what_follows_does_what_its_head_does, clean),
		cmocka_unit_test_setup(a_ring_is_a_power_of_two_that_has_the_size, clean),
		cmocka_unit_test_setup(each_attribute_allows_its_clause, clean),
		cmocka_unit_test_setup(a_buffer_size_has_its_limits, clean),
		cmocka_unit_test_setup(a_member_of_define_is_for_one_trace_and_now, clean),
		cmocka_unit_test_setup(likehead_needs_a_head_that_is_alike, clean),
		cmocka_unit_test_setup(each_attribute_makes_a_difference, clean),
		cmocka_unit_test_setup(the_lowest_reason_comes_first_and_says_where, clean),
		cmocka_unit_test_setup(on_takes_all_that_is_asked, clean),
		cmocka_unit_test_setup(on_again_replaces_the_options_and_leaves_the_rest, clean),
		cmocka_unit_test_setup(off_clears_filters_and_writer_but_not_the_size, clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
