/*
 * test_builtin.c - TRACE CT for a tracer that nobody has defined: its options are what
 * configuration lines set, all or none.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "component_fixture.h"
#include "lib/component/writer_link.h"

static struct ct_trace_request request;
static struct ctrace_tracer *unit;

static void make_tracer(void)
{
	CHILD_CHECK(ctrace_tracer_get("unit.builtin", &unit) == CTRACE_OK);
	request = (struct ct_trace_request){ .state = CTRACE_CT_ON };
}

static uint32_t command(const char *options)
{
	memset(&outcome, 0, sizeof outcome);
	request.options_size = strlen(options);
	memcpy(request.options, options, request.options_size + 1);
	return ct_builtin_command("unit.builtin", &request, &outcome);
}

static uint32_t threshold(void)
{
	return __atomic_load_n(&unit->level_word->level, __ATOMIC_RELAXED);
}

static uint32_t destinations(void)
{
	return ct_registry_configured(ct_process.registry, unit->component).dests;
}

static bool has_property(const char *name, const char *expected)
{
	char value[64];
	size_t size = sizeof value;
	enum ctrace_status status =
		ctrace_component_property_get("unit.builtin", name, value, &size);

	return expected == NULL ? status == CTRACE_PROPERTY_NOT_FOUND
				: status == CTRACE_OK && strcmp(value, expected) == 0;
}

static uint32_t bit(const char *emitter)
{
	uint32_t index;

	CHILD_CHECK(ct_emitter_find(emitter, strlen(emitter), &index) == CTRACE_OK);
	return 1u << index;
}

static void the_state_is_a_threshold(void)
{
	make_tracer();
	CHILD_CHECK(ctrace_level_set(NULL, CTRACE_FATAL) == CTRACE_OK);
	CHILD_CHECK(command("") == CTRACE_RC_OK && threshold() == CTRACE_DEBUG);
	CHILD_CHECK(command("LEVEL=warn") == CTRACE_RC_OK && threshold() == CTRACE_WARN);
	/* the last counts */
	CHILD_CHECK(command("level=2,Level=3") == CTRACE_RC_OK && threshold() == CTRACE_ERROR);
	request.state = CTRACE_CT_OFF;
	CHILD_CHECK(command("") == CTRACE_RC_OK && threshold() == CTRACE_LEVEL_NONE);
	request.state = CTRACE_CT_LIKEHEAD; /* the default's */
	CHILD_CHECK(command("") == CTRACE_RC_OK && threshold() == CTRACE_FATAL);
}

static void options_are_destinations_and_properties(void)
{
	make_tracer();
	CHILD_CHECK(command("LEVEL=INFO,DEST=(TEXTFILE,stderr),colour=light blue,empty=,a=b=c") ==
		    CTRACE_RC_OK);
	CHILD_CHECK(threshold() == CTRACE_INFO &&
		    destinations() == (bit("TEXTFILE") | bit("STDERR")));
	CHILD_CHECK(has_property("colour", "light blue") && has_property("empty", "") &&
		    has_property("a", "b=c"));
	CHILD_CHECK(command("DEST=ES,list=(1,2,(3)),next=)") == CTRACE_RC_OK &&
		    threshold() == CTRACE_DEBUG);
	CHILD_CHECK((destinations() & bit("ES")) != 0 && has_property("list", "(1,2,(3))") &&
		    has_property("next", ")"));
}

static void one_bad_option_changes_nothing(void)
{
	static const char *const bad[] = {
		"nonsense", "=value",  "LEVEL=inof", "LEVEL=",   "DEST=(NOSUCH)",
		"DEST=",    "DEST=()", ",",          "a=1,,b=2", "DEST=(ES,NOSUCH)"
	};
	char options[200], longest[CTRACE_MAX_PROPERTY + 4];

	make_tracer();
	CHILD_CHECK(command("LEVEL=error") == CTRACE_RC_OK);
	for (size_t i = 0; i < CT_COUNT(bad); i++) {
		(void)snprintf(options, sizeof options, "good=1,DEST=ES,LEVEL=debug,%s", bad[i]);
		CHILD_CHECK(command(options) == CTRACE_RC_REFUSED &&
			    reason() == CTRACE_RSN_ROUTINE_REFUSED && outcome.ss_rc == 4);
		CHILD_CHECK(strncmp(outcome.message, "option ", 7) == 0);
		CHILD_CHECK(threshold() == CTRACE_ERROR && destinations() == 0 &&
			    has_property("good", NULL));
	}
	memset(longest, 'p', CTRACE_MAX_PROPERTY + 1);
	memcpy(longest + CTRACE_MAX_PROPERTY + 1, "=1", 3);
	CHILD_CHECK(command(longest) == CTRACE_RC_REFUSED && command(longest + 1) == CTRACE_RC_OK);
}

static void the_message_quotes_the_option(void)
{
	make_tracer();
	CHILD_CHECK(command("a=b,LEVEL=\x1B[31m,c=d") == CTRACE_RC_REFUSED);
	CHILD_CHECK(
		strcmp(outcome.message,
		       "option LEVEL=\\u{1B}[31m has no level: none, debug, info, warn, error, fatal") ==
		0);
}

static void a_buffer_size_gives_it_a_ring_of_its_own(void)
{
	make_tracer();
	request.has[CT_CLAUSE_BUFSIZE] = true;
	request.bufsize = 100000;
	CHILD_CHECK(command("") == CTRACE_RC_OK);
	CHILD_CHECK(ct_registry_configured(ct_process.registry, unit->component).buffer ==
			    128u << 10 &&
		    ct_level_word_channel(unit->level_word) != 0);
}

static void what_only_a_defined_trace_has_is_refused(void)
{
	make_tracer();
	CHILD_CHECK(command("LEVEL=error") == CTRACE_RC_OK);
	request.asid_count = 1;
	CHILD_CHECK(command("") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_NO_ASIDS);
	request.asid_count = 0;
	request.jobname_count = 1;
	CHILD_CHECK(command("") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_NO_JOBS);
	request.jobname_count = 0;
	CHILD_CHECK(threshold() == CTRACE_ERROR);
}

static uint32_t writer_of_it(void)
{
	return ct_registry_configured(ct_process.registry, unit->component).writer;
}

static void it_may_have_an_external_writer(void)
{
	make_tracer();
	CHILD_CHECK(writer_of_it() == CT_WRITER_UNSET);
	request.has[CT_CLAUSE_WTR] = true;
	(void)snprintf(request.writer, sizeof request.writer, "CTWTR");
	CHILD_CHECK(command("") == CTRACE_RC_OK && threshold() == CTRACE_DEBUG);
	CHILD_CHECK(writer_of_it() == ct_writer_number("CTWTR") &&
		    strstr(outcome.message, "writer CTWTR is not running") != NULL);
	request.writer[0] = '\0';
	request.disconnect = true;
	CHILD_CHECK(command("") == CTRACE_RC_OK && writer_of_it() == CT_WRITER_UNSET);
}

static char lists[64];

static bool list_take(struct ct_span list)
{
	(void)snprintf(lists + strlen(lists), sizeof lists - strlen(lists), "%.*s;", (int)list.size,
		       list.at);
	return list.size != 3;
}

static void each_list_of_destinations_is_found(void)
{
	static const char options[] = "LEVEL=INFO,dest=(A,B),X=(DEST=C),DEST=D",
			  no[] = "DEST=ABC,DEST=D";

	CHILD_CHECK(
		!ct_builtin_dests_each((struct ct_span){ options, sizeof options - 1 }, list_take));
	CHILD_CHECK(strcmp(lists, "A,B;") == 0);
	CHILD_CHECK(!ct_builtin_dests_each((struct ct_span){ no, sizeof no - 1 }, list_take));
	CHILD_CHECK(ct_builtin_dests_each((struct ct_span){ no, 0 }, list_take));
	CHILD_CHECK(ct_builtin_dests_each((struct ct_span){ options + 33, 6 }, list_take));
	CHILD_CHECK(strcmp(lists, "A,B;ABC;D;") == 0);
}

int test_builtin(void)
{
	const struct CMUnitTest tests[] = {
		IN_CHILD(the_state_is_a_threshold),
		IN_CHILD(options_are_destinations_and_properties),
		IN_CHILD(one_bad_option_changes_nothing),
		IN_CHILD(the_message_quotes_the_option),
		IN_CHILD(a_buffer_size_gives_it_a_ring_of_its_own),
		IN_CHILD(what_only_a_defined_trace_has_is_refused),
		IN_CHILD(it_may_have_an_external_writer),
		IN_CHILD(each_list_of_destinations_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
