/*
 * test_operate_display.c - DISPLAY TRACE: which traces are shown, how many, and what is known of
 * them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operate_fixture.h"

struct question {
	const char *comp, *sub;
	uint64_t depth;
};

/* The names of the answer, blanks between, behind its status and message; "*" for each further
 * frame. */
static struct ctrace_display last;
static uint64_t last_active;

static const char *display(const struct question *question)
{
	struct ct_message message;
	size_t size, at = 0, start;

	ct_buf_clear(&request);
	ct_buf_clear(&text);
	ct_buf_clear(&answer);
	start = ct_message_start(&request, CT_VERB_DISPLAY, 0);
	if (question->comp != NULL)
		ct_message_add_text(&request, CT_FIELD_COMPONENT, question->comp);
	if (question->sub != NULL)
		ct_message_add_text(&request, CT_FIELD_SUB, question->sub);
	ct_message_add_number(&request, CT_FIELD_DEPTH, question->depth);
	CHILD_CHECK(ct_message_end(&request, start) == CTRACE_OK);
	CHILD_CHECK(ct_message_parse(request.data, request.size, &message, &size) == CTRACE_OK);
	ct_operate(&message, &answer, NULL);
	do {
		struct ct_span fields, value;
		enum ct_field field;

		CHILD_CHECK(ct_message_parse(answer.data + at, answer.size - at, &message, &size) ==
			    CTRACE_OK);
		ct_buf_add_text(&text, at != 0 ? " *" : "");
		at += size;
		fields = message.fields;
		while (ct_message_next(&fields, &field, &value)) {
			if (field == CT_FIELD_COMPONENT) {
				add_value(" ", value);
			} else if (field == CT_FIELD_DISPLAY) {
				CHILD_CHECK(value.size == sizeof last);
				memcpy(&last, value.at, sizeof last);
			} else if (field == CT_FIELD_ACTIVE) {
				memcpy(&last_active, value.at, sizeof last_active);
			} else {
				print_field(field, value);
			}
		}
	} while ((message.flags & CT_MESSAGE_MORE) != 0);
	CHILD_CHECK(at == answer.size);
	return ct_buf_text(&text);
}
#define DISPLAY(...) display(&(struct question){ __VA_ARGS__ })

static void show(void)
{
	char longest[513];

	make_tracer("KVS");
	make_tracer("KVS.NET");
	make_tracer("KVS.NET.IN");
	make_tracer("KVS.DISK");
	make_tracer("KVSX");
	make_tracer("APP.ONE.TWO");
	CHECK_TEXT(DISPLAY(.comp = "kvs"), "SUCCESS KVS");
	CHECK_TEXT(DISPLAY(.comp = "KVS", .depth = 1), "SUCCESS KVS KVS.NET KVS.DISK");
	CHECK_TEXT(DISPLAY(.comp = "KVS", .depth = 2), "SUCCESS KVS KVS.NET KVS.NET.IN KVS.DISK");
	CHECK_TEXT(DISPLAY(.comp = "KVS", .depth = UINT64_MAX),
		   "SUCCESS KVS KVS.NET KVS.NET.IN KVS.DISK");
	CHECK_TEXT(DISPLAY(.comp = "KVS", .sub = "NET"), "SUCCESS KVS.NET");
	CHECK_TEXT(DISPLAY(.comp = "KVS", .sub = "net", .depth = 1), "SUCCESS KVS.NET KVS.NET.IN");
	CHECK_TEXT(DISPLAY(.comp = "KVS.NET", .depth = 1), "SUCCESS KVS.NET KVS.NET.IN");
	CHECK_TEXT(DISPLAY(.comp = "KVS*"), "SUCCESS KVS KVSX"); /* nothing stands for a dot */
	CHECK_TEXT(DISPLAY(.comp = "K*.*", .depth = 1), "SUCCESS KVS.NET KVS.NET.IN KVS.DISK");
	CHECK_TEXT(DISPLAY(.comp = "K?S", .sub = "*"), "SUCCESS KVS.NET KVS.DISK");
	CHECK_TEXT(DISPLAY(.comp = NULL),
		   "SUCCESS KVS KVS.NET KVS.NET.IN KVS.DISK KVSX APP.ONE.TWO");
	CHECK_TEXT(DISPLAY(.comp = ""), "SUCCESS KVS KVS.NET KVS.NET.IN KVS.DISK KVSX APP.ONE.TWO");
	CHECK_TEXT(DISPLAY(.comp = "APP"), "SUCCESS APP.ONE.TWO");
	/* there is nothing between */
	CHECK_TEXT(DISPLAY(.comp = "APP", .depth = 2), "SUCCESS APP.ONE.TWO");
	CHECK_TEXT(DISPLAY(.comp = "APP", .depth = 1), "SUCCESS APP.ONE.TWO");
	CHECK_TEXT(DISPLAY(.comp = "AP"), "NOT_FOUND no trace \"AP\"");
	CHECK_TEXT(DISPLAY(.comp = "x*"), "NOT_FOUND no trace fits \"x*\"");
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	CHECK_TEXT(DISPLAY(.comp = longest),
		   "INVALID_COMPONENT_NAME COMP and SUB are longer than the name of a trace");
	CHECK_TEXT(DISPLAY(.comp = "A..B", .sub = "C"), "NOT_FOUND no trace \"A..B.C\"");
}

static void those_that_fit_are_shown(void **state)
{
	(void)state;
	assert_int_equal(run_traced(show), 0);
}

static uint32_t start_stop(struct ctrace_ctss *ctss)
{
	(void)ctss;
	return 0;
}

static void look_at_one(void)
{
	struct ctrace_outcome outcome;
	struct ctrace_define define = { CTRACE_DEFINE_INIT, .name = "KVS", .head = CTRACE_YES,
					.wtr = CTRACE_YES, .wtrmode = CTRACE_PAGEABLE };
	struct ctrace_trace_ct command = { CTRACE_TRACE_CT_INIT, .state = CTRACE_CT_ON,
					   .name = "KVS", .options = "LEVEL=INFO",
					   .wtr = "NOBODY" };

	define.headopts = CTRACE_YES;
	define.startnam = "KVSSS";
	CHILD_CHECK(ctrace_routine_register("KVSSS", start_stop) == CTRACE_OK);
	CHILD_CHECK(ctrace_component_define(&define, &outcome) == CTRACE_RC_OK);
	CHILD_CHECK(ctrace_trace_ct(&command, &outcome) == CTRACE_RC_OK);
	CHECK_TEXT(DISPLAY(.comp = "KVS"), "SUCCESS KVS");
	CHILD_CHECK(last.is_defined == 1 && last.head == 1 && last.mode == CTRACE_MODE_ON);
	CHILD_CHECK(strcmp(last.options, "LEVEL=INFO") == 0 && strcmp(last.writer, "NOBODY") == 0);
	CHILD_CHECK(last_active == 0); /* nobody is there */
}

static void what_is_known_comes_along(void **state)
{
	(void)state;
	assert_int_equal(run_traced(look_at_one), 0);
}

static void show_thousands(void)
{
	const char *reported;
	uint64_t begin;
	unsigned count = 0;

	for (unsigned i = 0; i < 100000; i++) {
		char name[40];

		(void)snprintf(name, sizeof name, "MANY.S%u", i);
		make_tracer(name);
	}
	begin = ct_clock_mono_ns();
	CHECK_TEXT(DISPLAY(.comp = "MANY", .sub = "S99999"), "SUCCESS MANY.S99999");
	reported = DISPLAY(.comp = "MANY", .depth = 1);
	(void)fprintf(stderr, "# %llu ms\n",
		      (unsigned long long)(ct_clock_mono_ns() - begin) / 1000000);
	CHILD_CHECK(strstr(reported,
			   "SUCCESS 100000 traces; the first 4096 are shown MANY.S0 MANY.S1 ") ==
		    reported);
	for (const char *at = reported; (at = strstr(at, " MANY.S")) != NULL; at++)
		count++;
	CHILD_CHECK(count == CT_OPERATE_ROWS);
	CHILD_CHECK(answer.size < CT_SERVER_OUTPUT); /* or it could never be sent */
}

static void of_a_hundred_thousand_some_are_shown(void **state)
{
	(void)state;
	assert_int_equal(run_traced(show_thousands), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_operate_display(void)
{
	const struct CMUnitTest tests[] = {
		TEST(those_that_fit_are_shown),
		TEST(what_is_known_comes_along),
		TEST(of_a_hundred_thousand_some_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
