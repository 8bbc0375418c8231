/*
 * test_operate.c - requests that concern the process as a whole, TRACE CT, and requests that are
 * none.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operate_fixture.h"

static const char *ask(enum ct_verb verb)
{
	return carry_out(&(struct ct_command){ .verb = verb });
}

static void ask_for_what_is_not_here(void)
{
	size_t start;

	CHECK_TEXT(ask(CT_VERB_WRITER_STATUS),
		   "UNSUPPORTED a traced process does not carry this command out");
	CHECK_TEXT(ask(CT_VERB_WRITER_STOP),
		   "UNSUPPORTED a traced process does not carry this command out");
	CHECK_TEXT(ask(CT_VERB_ATTACH),
		   "UNSUPPORTED a traced process does not carry this command out");
	CHECK_TEXT(ask((enum ct_verb)4711),
		   "UNSUPPORTED a traced process does not carry this command out");
	ct_buf_clear(&request);
	start = ct_message_start(&request, CT_VERB_LEVEL, 0);
	ct_message_add_number(&request, CT_FIELD_LEVEL, 99);
	CHILD_CHECK(ct_message_end(&request, start) == CTRACE_OK);
	CHECK_TEXT(operate(), "DAMAGED the command's operands are not what they may be");
	ct_buf_clear(&request);
	start = ct_message_start(&request, CT_VERB_LEVEL, CT_MESSAGE_ANSWER);
	CHILD_CHECK(ct_message_end(&request, start) == CTRACE_OK);
	CHECK_TEXT(operate(), "DAMAGED that is an answer and no request");
}

static void every_request_is_answered(void **state)
{
	(void)state;
	assert_int_equal(run_traced(ask_for_what_is_not_here), 0);
}

static void flush(void)
{
	CHILD_CHECK(emit(0) == CTRACE_OK);
	CHECK_TEXT(carry_out(&(struct ct_command){ .verb = CT_VERB_FLUSH, .number = 900 }),
		   "SUCCESS");
	CHILD_CHECK(stats().delivered == 1);
	assert_lines(0, 1);
	hold_consumer_thread();
	CHILD_CHECK(emit(1) == CTRACE_OK);
	/* However long it may take: the others wait for this thread. */
	CHILD_CHECK(
		strncmp(carry_out(&(struct ct_command){ .verb = CT_VERB_FLUSH, .number = 1000000 }),
			"TIMED_OUT ", 10) == 0);
	release_consumer_thread();
}

static void what_was_traced_is_delivered(void **state)
{
	(void)state;
	assert_int_equal(run_traced(flush), 0);
}

static void rotate(void)
{
	CHECK_TEXT(ask(CT_VERB_ROTATE), "SUCCESS"); /* nothing is open */
	CHILD_CHECK(ctrace_emitter_property_set("textfile", "maxgeneration", "3") == CTRACE_OK);
	CHILD_CHECK(ctrace_emitter_property_set("textfile", "file", "trace.$(GEN).log") ==
		    CTRACE_OK);
	CHILD_CHECK(emit(0) == CTRACE_OK && ctrace_flush(10000) == CTRACE_OK);
	CHECK_TEXT(ask(CT_VERB_ROTATE), "SUCCESS\nTEXTFILE: -> a new generation");
	CHILD_CHECK(emit(1) == CTRACE_OK && ctrace_flush(10000) == CTRACE_OK);
	CHECK_TEXT(
		carry_out(&(struct ct_command){ .verb = CT_VERB_ROTATE, .emitter = span_of("es") }),
		"SUCCESS");
	CHECK_TEXT(carry_out(&(struct ct_command){ .verb = CT_VERB_ROTATE,
						   .emitter = span_of("textfle") }),
		   "EMITTER_NOT_FOUND no emitter \"textfle\"; did you mean TEXTFILE?");
}

static void a_new_generation_begins(void **state)
{
	(void)state;
	assert_int_equal(run_traced(rotate), 0);
	assert_lines(0, 2);
}

static void reload(void)
{
	char path[200];

	CHECK_TEXT(carry_out(&(struct ct_command){ .verb = CT_VERB_RELOAD,
						   .value = span_of("config") }),
		   "SYNTAX_ERROR expected the absolute path of a configuration file");
	CHECK_TEXT(
		carry_out(&(struct ct_command){ .verb = CT_VERB_RELOAD, .value = { "/a\0b", 4 } }),
		"SYNTAX_ERROR expected the absolute path of a configuration file");
	CHILD_CHECK(strncmp(carry_out(&(struct ct_command){ .verb = CT_VERB_RELOAD,
							    .value = span_of("/nothing/here") }),
			    "NOT_FOUND ", 10) == 0);
	make_tracer("app");
	put_file("other", "mftrace.level.app = error\n", 26);
	(void)snprintf(path, sizeof path, "%s/other", room);
	CHILD_CHECK(strncmp(carry_out(&(struct ct_command){ .verb = CT_VERB_RELOAD,
							    .value = span_of(path) }),
			    "SUCCESS", 7) == 0);
	CHECK_TEXT(carry_out(&(struct ct_command){ .verb = CT_VERB_LEVEL,
						   .component = span_of("app"),
						   .level = CT_LEVEL_ASKED }),
		   "SUCCESS\napp: ERROR -> ERROR");
}

static void another_configuration_is_read(void **state)
{
	(void)state;
	assert_int_equal(run_traced(reload), 0);
}

/* ---- TRACE CT ---- */

static struct ctrace_outcome outcome;

static const char *trace_ct(const struct ct_trace_command *command)
{
	struct ct_message message;
	struct ct_span bytes;
	const char *reported;
	size_t size;

	ct_buf_clear(&request);
	ct_trace_command_encode(&request, command);
	reported = operate();
	CHILD_CHECK(ct_message_parse(answer.data, answer.size, &message, &size) == CTRACE_OK);
	bytes = ct_message_find(&message, CT_FIELD_OUTCOME);
	CHILD_CHECK(bytes.size == sizeof outcome);
	memcpy(&outcome, bytes.at, sizeof outcome);
	return reported;
}

static void set_options(struct ct_trace_request *trace, const char *options)
{
	trace->has[CT_CLAUSE_OPTIONS] = true;
	trace->options_size = strlen(options);
	memcpy(trace->options, options, trace->options_size + 1);
}

static void command_traces(void)
{
	struct ct_trace_command command = { .name = "APP", .request = { .state = CTRACE_CT_OFF } };

	CHECK_TEXT(trace_ct(&command), "NOT_FOUND no trace APP is defined [29]");
	CHILD_CHECK(outcome.rc == CTRACE_RC_REFUSED &&
		    CTRACE_REASON(outcome.rsncode) == CTRACE_RSN_NOT_DEFINED);
	make_tracer("APP");
	CHECK_TEXT(trace_ct(&command), "SUCCESS [29]");
	CHILD_CHECK(outcome.rc == CTRACE_RC_OK);
	command.request.state = CTRACE_CT_ON;
	set_options(&command.request, "LEVEL=WARN");
	CHECK_TEXT(trace_ct(&command), "SUCCESS [29]");
	CHECK_TEXT(carry_out(&(struct ct_command){ .verb = CT_VERB_LEVEL,
						   .component = span_of("APP"),
						   .level = CT_LEVEL_ASKED }),
		   "SUCCESS\nAPP: WARN -> WARN");
	set_options(&command.request, "COLOUR");
	/* it has the trace; the outcome says the rest */
	CHILD_CHECK(strncmp(trace_ct(&command), "SUCCESS option COLOUR", 20) == 0);
	CHILD_CHECK(outcome.rc == CTRACE_RC_REFUSED &&
		    CTRACE_REASON(outcome.rsncode) == CTRACE_RSN_ROUTINE_REFUSED);
}

static void a_trace_is_commanded(void **state)
{
	(void)state;
	assert_int_equal(run_traced(command_traces), 0);
}

/* ---- external writers ---- */

static void hear_of_a_writer(void)
{
	CHILD_CHECK(ct_process_attach() != NULL);
	CHECK_TEXT(carry_out(&(struct ct_command){ .verb = CT_VERB_WRITER_UP,
						   .value = span_of("ctw") }),
		   "SUCCESS [10]"); /* a number: none of our traces wants it */
	CHECK_TEXT(carry_out(&(struct ct_command){ .verb = CT_VERB_WRITER_UP,
						   .value = span_of("../../ctw") }),
		   "SYNTAX_ERROR expected the name of an external writer, of 1 to 7 characters");
	CHECK_TEXT(ask(CT_VERB_WRITER_UP),
		   "SYNTAX_ERROR expected the name of an external writer, of 1 to 7 characters");
}

static void a_writer_says_that_it_has_started(void **state)
{
	(void)state;
	assert_int_equal(run_traced(hear_of_a_writer), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_operate(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_request_is_answered), TEST(what_was_traced_is_delivered),
		TEST(a_new_generation_begins),   TEST(another_configuration_is_read),
		TEST(a_trace_is_commanded),      TEST(a_writer_says_that_it_has_started),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
