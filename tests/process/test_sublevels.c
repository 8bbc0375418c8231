/*
 * test_sublevels.c - heads and sublevels: names, what follows its head, what MINOPS keeps.
 *
 * The codes of what fails are in test_codes.c, what the tracer of the same name sees of it in
 * test_faces.c.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "traces.h"

/* ---- LIKEHEAD ---- */

/* Defines TABLE.SUBA LIKEHEAD under a head in that state, and takes both back. */
static void define_likehead_and_expect(const char *minops, uint32_t state, uint32_t mode)
{
	REQUIRE(DEFINE(.name = "TABLE", .startnam = "TABLESS", HEAD_KEYWORDS, .minops = minops) ==
		CTRACE_RC_OK);
	if (state == CTRACE_CT_ON)
		REQUIRE(TRACE_CT(.name = "TABLE", .state = state, .options = "HEADS") ==
			CTRACE_RC_OK);
	reset_calls();
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS", .likehead = YES) ==
		CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, state == CTRACE_CT_ON ? "HEADS" : "") || mode == OFF);
	REQUIRE(mode == OFF ? no_call() : only_call("TABLE.SUBA", START, mode));
	REQUIRE(shown("TABLE", "SUBA")->mode == mode && shown("TABLE", "SUBA")->likehead == 1);
	REQUIRE(records("TABLE", "SUBA") == (mode != OFF));
	REQUIRE(DELETE(.name = "TABLE") == CTRACE_RC_OK);
	reset_calls();
}

static void likehead_calls_it_with_the_heads_state(void)
{
	register_routine("TABLESS");
	define_likehead_and_expect(NULL, CTRACE_CT_OFF, OFF);
	define_likehead_and_expect("LEAST", CTRACE_CT_OFF, MIN_MODE);
	define_likehead_and_expect(NULL, CTRACE_CT_ON, ON);
	define_likehead_and_expect("LEAST", CTRACE_CT_ON, ON);
}

static void a_member_may_say_likehead(void)
{
	register_routine("TABLESS");
	write_member("CTLIKE", "TRACEOPTS LIKEHEAD");
	REQUIRE(DEFINE(.name = "TABLE", .startnam = "TABLESS", HEAD_KEYWORDS, .minops = "LEAST",
		       .mod = YES) == CTRACE_RC_OK);
	REQUIRE(TRACE_CT(.name = "TABLE", .state = CTRACE_CT_ON, .options = "HEADS") ==
		CTRACE_RC_OK);
	reset_calls();
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS", .parm = "CTLIKE",
		       .minops = "LEAST", .mod = YES) == CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, "HEADS") && only_call("TABLE.SUBA", START, ON));
	REQUIRE(shown("TABLE", "SUBA")->likehead == 1);
	REQUIRE(TURN("TABLE", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK &&
		shown("TABLE", "SUBA")->mode == MIN_MODE);
}

static void a_head_without_options_cannot_be_switched(void)
{
	register_routine("TABLESS");
	write_member("CTON", "TRACEOPTS ON");
	REQUIRE(DEFINE(.name = "TABLE", .head = YES) == CTRACE_RC_OK);
	REQUIRE(TURN("TABLE", NULL, CTRACE_CT_ON) == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_HEAD_NO_OPTIONS);
	REQUIRE(TURN("TABLE", NULL, CTRACE_CT_OFF) == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_HEAD_NO_OPTIONS);
	REQUIRE(shown("TABLE", NULL)->mode == OFF && shown("TABLE", NULL)->headopts == 0 &&
		no_call());
	/* Its sublevels are independent of it. */
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS", .parm = "CTON") ==
		CTRACE_RC_OK);
	REQUIRE(only_call("TABLE.SUBA", START, ON) && shown("TABLE", NULL)->mode == OFF &&
		shown("TABLE", "SUBA")->mode == ON);
	REQUIRE(DELETE(.name = "TABLE") == CTRACE_RC_OK && only_call("TABLE.SUBA", STOP, OFF));
}

/* Minimum options are options, too. */
static void a_head_without_options_has_no_minimum_options(void)
{
	struct ctrace_tracer *below;
	uint32_t level;

	register_routine("TABLESS");
	REQUIRE(ctrace_tracer_get("TABLE.BELOW", &below) == CTRACE_OK &&
		ctrace_enabled(below, CTRACE_DEBUG));
	REQUIRE(DEFINE(.name = "TABLE", .head = YES, .minops = "LEAST") == CTRACE_RC_OK);
	REQUIRE(shown("TABLE", NULL)->mode == OFF && shown("TABLE", NULL)->minops[0] == '\0' &&
		!records("TABLE", NULL));
	REQUIRE(ctrace_level_get("TABLE", &level) == CTRACE_OK && level == CTRACE_LEVEL_NONE);
	REQUIRE(!ctrace_enabled(below, CTRACE_FATAL));
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS") == CTRACE_RC_OK);
	REQUIRE(shown("TABLE", "SUBA")->mode == OFF && !records("TABLE", "SUBA") && no_call());
}

/* ---- sublevels ---- */

static void sublevels_go_down_to_five(void)
{
	static const char *const subs[] = { "A", "A.B", "A.B.C", "A.B.C.D",
					    "A.B.C.D.E234567890123456#8" };
	struct ctrace_tracer *tracer, *same;

	register_routine("DEEPSS");
	REQUIRE(DEFINE(.name = "DEEP", .startnam = "DEEPSS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	for (unsigned i = 0; i < 5; i++)
		REQUIRE(DEFINE(.name = "DEEP", .sub = subs[i], .startnam = "DEEPSS", HEAD_KEYWORDS,
			       .likehead = YES) == CTRACE_RC_OK);
	REQUIRE(TURN("DEEP", subs[4], CTRACE_CT_ON) == CTRACE_RC_OK);
	REQUIRE(calls[0].ctss.sub_count == 5 && HOLDS(calls[0].ctss.sub[0], "A") &&
		HOLDS(calls[0].ctss.sub[4], "E234567890123456#8"));
	REQUIRE(only_call("DEEP.A.B.C.D.E234567890123456#8", START, ON));
	REQUIRE(ctrace_component_tracer("DEEP", subs[4], &tracer) == CTRACE_OK);
	REQUIRE(ctrace_tracer_get("DEEP.A.B.C.D.E234567890123456#8", &same) == CTRACE_OK &&
		tracer == same);
	REQUIRE(DEFINE(.name = "DEEP", .sub = "A.B.C.D.E.F", .startnam = "DEEPSS") ==
			CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_SUB_NAME);
	for (unsigned i = 0; i < 5; i++)
		REQUIRE(shown("DEEP", subs[i])->is_defined &&
			shown("DEEP", subs[i])->subs == (i < 4));
}

static void quoted_names_have_lower_case_and_underscores(void)
{
	struct ctrace_tracer *tracer, *same;

	register_routine("QUOTESS");
	REQUIRE(DEFINE(.name = "QUOTE", .startnam = "QUOTESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "QUOTE", .sub = "'sub_a'", .startnam = "QUOTESS", HEAD_KEYWORDS) ==
		CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "QUOTE", .sub = "'sub_a'.\"Other_1\"", .startnam = "QUOTESS") ==
		CTRACE_RC_OK);
	REQUIRE(TURN("QUOTE", "'sub_a'.'Other_1'", CTRACE_CT_ON) == CTRACE_RC_OK);
	REQUIRE(HOLDS(calls[0].ctss.sub[0], "sub_a") && HOLDS(calls[0].ctss.sub[1], "Other_1"));
	REQUIRE(only_call("QUOTE.sub_a.Other_1", START, ON));
	REQUIRE(ctrace_component_tracer("QUOTE", "'sub_a'.'Other_1'", &tracer) == CTRACE_OK);
	REQUIRE(ctrace_tracer_get("QUOTE.sub_a.Other_1", &same) == CTRACE_OK && tracer == same);
	REQUIRE(ctrace_enabled(same, CTRACE_DEBUG));
}

static void an_address_space_and_its_job_are_one_sublevel(void)
{
	struct ctrace_tracer *by_asid, *by_job;
	char sub[32];

	register_routine("SPACESS");
	REQUIRE(DEFINE(.name = "SPACE", .startnam = "SPACESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	(void)snprintf(sub, sizeof sub, "ASID(%X)", own_asid());
	REQUIRE(DEFINE(.name = "SPACE", .sub = sub, .startnam = "SPACESS", HEAD_KEYWORDS) ==
		CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "SPACE", .sub = "JOBNAME(" JOBNAME ")", .startnam = "SPACESS") ==
		CTRACE_RC_EXISTS);
	(void)snprintf(sub, sizeof sub, "ASID(%04x)", own_asid());
	REQUIRE(DEFINE(.name = "SPACE", .sub = sub, .startnam = "SPACESS") == CTRACE_RC_EXISTS);
	REQUIRE(ctrace_component_tracer("SPACE", sub, &by_asid) == CTRACE_OK);
	REQUIRE(ctrace_component_tracer("SPACE", "JOBNAME(" JOBNAME ")", &by_job) == CTRACE_OK &&
		by_asid == by_job);
	REQUIRE(shown("SPACE", NULL)->subs == 1);
	REQUIRE(DEFINE(.name = "SPACE", .sub = "JOBNAME(" JOBNAME ").SUBA",
		       .startnam = "SPACESS") == CTRACE_RC_OK);
	REQUIRE(DELETE(.name = "SPACE", .sub = "JOBNAME(" JOBNAME ")") == CTRACE_RC_OK &&
		shown("SPACE", NULL)->subs == 0);
}

static bool is_like(const char *sub, uint32_t mode, const char *options, bool likehead)
{
	const struct ctrace_display *display = shown("LIKE", sub);

	return display->mode == mode && strcmp(display->options, options) == 0 &&
	       display->likehead == likehead && records("LIKE", sub) == (mode != OFF);
}

static void define_three_levels(void)
{
	register_routine("LIKESS");
	REQUIRE(DEFINE(.name = "LIKE", .startnam = "LIKESS", HEAD_KEYWORDS, .mod = YES) ==
		CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "LIKE", .sub = "A", .startnam = "LIKESS", HEAD_KEYWORDS,
		       .likehead = YES) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "LIKE", .sub = "A.B", .startnam = "LIKESS", .likehead = YES) ==
		CTRACE_RC_OK);
	reset_calls();
}

static void what_follows_its_head_changes_with_it(void)
{
	define_three_levels();
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "X") == CTRACE_RC_OK);
	REQUIRE(only_call("LIKE", START, ON)); /* the routine has not asked for the others */
	REQUIRE(is_like(NULL, ON, "X", false) && is_like("A", ON, "X", true) &&
		is_like("A.B", ON, "X", true));
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "Y") == CTRACE_RC_OK);
	REQUIRE(is_like("A.B", ON, "Y", true));

	/* Set by itself it follows no more. */
	REQUIRE(TURN("LIKE", "A.B", CTRACE_CT_OFF) == CTRACE_RC_OK);
	REQUIRE(is_like("A.B", OFF, "", false) && is_like("A", ON, "Y", true));
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "Z") == CTRACE_RC_OK);
	REQUIRE(is_like("A.B", OFF, "", false) && is_like("A", ON, "Z", true));
	reset_calls();
	REQUIRE(TURN("LIKE", "A.B", CTRACE_CT_LIKEHEAD) == CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, "Z") && only_call("LIKE.A.B", START, ON));
	REQUIRE(is_like("A.B", ON, "Z", true));
	REQUIRE(TURN("LIKE", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK);
	REQUIRE(is_like(NULL, OFF, "", false) && is_like("A", OFF, "", true) &&
		is_like("A.B", OFF, "", true));

	/* One in the middle takes those below with it. */
	REQUIRE(TRACE_CT(.name = "LIKE", .sub = "A", .state = CTRACE_CT_ON, .options = "M") ==
		CTRACE_RC_OK);
	REQUIRE(is_like(NULL, OFF, "", false) && is_like("A", ON, "M", false) &&
		is_like("A.B", ON, "M", true));
	REQUIRE(TURN("LIKE", "A", CTRACE_CT_LIKEHEAD) == CTRACE_RC_OK);
	REQUIRE(is_like("A", OFF, "", true) && is_like("A.B", OFF, "", true));
	REQUIRE(TURN("LIKE", NULL, CTRACE_CT_LIKEHEAD) == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_NOT_A_SUBLEVEL);
}

static uint32_t ask_for_the_others(struct ctrace_ctss *ctss)
{
	ctss->call_subs = ctss->sub_count == 0 ? CTRACE_YES : CTRACE_NO;
	return 0;
}

static void routines_of_followers_are_called_when_the_heads_asks(void)
{
	define_three_levels();
	REQUIRE(DEFINE(.name = "LIKE", .sub = "OWN", .startnam = "LIKESS") == CTRACE_RC_OK);
	answer = ask_for_the_others;
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "X") == CTRACE_RC_OK &&
		call_count == 3);
	REQUIRE(was_called(0, "LIKE", START, ON) && was_called(1, "LIKE.A", START, ON) &&
		was_called(2, "LIKE.A.B", START, ON));
	REQUIRE(has_options(&calls[1].ctss, "X") && has_options(&calls[2].ctss, "X"));
	reset_calls();
	/* Who follows no more is not called, nor who follows that one. */
	REQUIRE(TRACE_CT(.name = "LIKE", .sub = "A", .state = CTRACE_CT_ON, .options = "M") ==
		CTRACE_RC_OK);
	REQUIRE(only_call("LIKE.A", START, ON));
	REQUIRE(TURN("LIKE", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK && only_call("LIKE", STOP, OFF));
	REQUIRE(shown("LIKE", "OWN")->mode == OFF);
}

/* The last of the three refuses everything but how it was. */
static const char *agreed;

static uint32_t refuse_what_is_new(struct ctrace_ctss *ctss)
{
	ctss->call_subs = CTRACE_YES;
	ctss->userdata[0]++;
	ctss->reason = 0x99;
	return ctss->sub_count == 2 && !has_options(ctss, agreed) ? 8 : 0;
}

static void a_follower_that_refuses_undoes_all_of_it(void)
{
	const struct call *last_of_head = NULL, *last_of_a = NULL;

	define_three_levels();
	answer = refuse_what_is_new;
	agreed = "OLD";
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "OLD") == CTRACE_RC_OK &&
		call_count == 3);
	reset_calls();
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "NEW") ==
		CTRACE_RC_REFUSED);
	REQUIRE(reason() == CTRACE_RSN_ROUTINE_REFUSED && outcome.ss_rc == 8 &&
		outcome.ss_rsncode == 0x99);
	REQUIRE(is_like(NULL, ON, "OLD", false) && is_like("A", ON, "OLD", true) &&
		is_like("A.B", ON, "OLD", true));
	/* Those who had agreed to the new have heard that it stays as it was. */
	REQUIRE(call_count == 5);
	REQUIRE(was_called(0, "LIKE", START, ON) && has_options(&calls[0].ctss, "NEW"));
	REQUIRE(was_called(1, "LIKE.A", START, ON) && has_options(&calls[1].ctss, "NEW"));
	REQUIRE(was_called(2, "LIKE.A.B", START, ON) && has_options(&calls[2].ctss, "NEW"));
	for (unsigned i = 3; i < 5; i++) {
		REQUIRE(calls[i].ctss.flags == START && calls[i].ctss.mode == ON &&
			has_options(&calls[i].ctss, "OLD"));
		if (calls[i].ctss.sub_count == 0)
			last_of_head = &calls[i];
		else
			last_of_a = &calls[i];
	}
	REQUIRE(last_of_head != NULL && last_of_a != NULL);
	REQUIRE(TURN("LIKE", NULL, CTRACE_CT_OFF) == CTRACE_RC_REFUSED);
	REQUIRE(is_like("A.B", ON, "OLD", true));
	agreed = "";
	REQUIRE(TURN("LIKE", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK && is_like("A.B", OFF, "", true));
}

/* From OFF, too: then they are stopped. */
static void a_follower_that_refuses_to_start_has_the_others_stopped(void)
{
	define_three_levels();
	answer = refuse_what_is_new;
	agreed = "OLD";
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "NEW") ==
			CTRACE_RC_REFUSED &&
		call_count == 5);
	REQUIRE(calls[3].ctss.flags == STOP && calls[3].ctss.mode == OFF &&
		calls[4].ctss.flags == STOP && calls[4].ctss.mode == OFF);
	REQUIRE(is_like(NULL, OFF, "", false) && is_like("A", OFF, "", true) &&
		is_like("A.B", OFF, "", true));
}

static uint32_t define_a_follower(struct ctrace_ctss *ctss)
{
	if (ctss->sub_count > 0 || ctss->flags != START)
		return 0;
	ctss->call_subs = CTRACE_YES;
	REQUIRE(DEFINE(.name = "LIKE", .sub = "MADE", .startnam = "LIKESS", .likehead = YES) ==
		CTRACE_RC_OK);
	return 0;
}

static void expect_that_the_new_follower_was_started(void)
{
	REQUIRE(call_count == 2 && was_called(0, "LIKE", START, ON) &&
		was_called(1, "LIKE.MADE", START, ON));
	REQUIRE(has_options(&calls[1].ctss, "X") && is_like("MADE", ON, "X", true));
	REQUIRE(DELETE(.name = "LIKE") == CTRACE_RC_OK);
	reset_calls();
}

static void a_follower_that_its_heads_routine_defines_is_called_too(void)
{
	register_routine("LIKESS");
	write_member("CTON", "TRACEOPTS ON OPTIONS('X')");
	answer = define_a_follower;
	REQUIRE(DEFINE(.name = "LIKE", .startnam = "LIKESS", HEAD_KEYWORDS, .parm = "CTON") ==
		CTRACE_RC_OK);
	expect_that_the_new_follower_was_started();
	REQUIRE(DEFINE(.name = "LIKE", .startnam = "LIKESS", HEAD_KEYWORDS) == CTRACE_RC_OK &&
		no_call());
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "X") == CTRACE_RC_OK);
	expect_that_the_new_follower_was_started();
}

static void switch_many(unsigned count)
{
	char sub[24];

	register_routine("MANYSS");
	answer = ask_for_the_others;
	REQUIRE(DEFINE(.name = "MANY", .startnam = "MANYSS", HEAD_KEYWORDS,
		       .manysubs = count > 15 ? YES : CTRACE_NO) == CTRACE_RC_OK);
	for (unsigned i = 0; i < count; i++) {
		(void)snprintf(sub, sizeof sub, "S%u", i);
		REQUIRE(DEFINE(.name = "MANY", .sub = sub, .startnam = "MANYSS", .likehead = YES) ==
			CTRACE_RC_OK);
	}
	REQUIRE(shown("MANY", NULL)->subs == count && no_call());
	for (unsigned round = 0; round < 2; round++) {
		bool is_on = round == 0;

		REQUIRE(TURN("MANY", NULL, is_on ? CTRACE_CT_ON : CTRACE_CT_OFF) == CTRACE_RC_OK);
		REQUIRE(call_count == 1 + count);
		reset_calls();
		for (unsigned i = 0; i < count; i++) {
			(void)snprintf(sub, sizeof sub, "S%u", i);
			REQUIRE(shown("MANY", sub)->mode == (is_on ? ON : OFF) &&
				records("MANY", sub) == is_on);
		}
	}
	REQUIRE(DELETE(.name = "MANY") == CTRACE_RC_OK && no_call());
	for (unsigned i = 0; i < count; i++) {
		(void)snprintf(sub, sizeof sub, "S%u", i);
		REQUIRE(!is_known("MANY", sub));
	}
}

static void one_child_and_3000_behave_alike(void)
{
	switch_many(1);
	switch_many(3000);
}

/* ---- MINOPS ---- */

static void minimum_options_stay_in_effect(void)
{
	uint64_t before;
	struct ctrace_tracer *tracer;

	register_routine("LEASTSS");
	REQUIRE(DEFINE(.name = "LEAST", .startnam = "LEASTSS", .minops = "MINIMUM") ==
		CTRACE_RC_OK);
	REQUIRE(ctrace_component_tracer("LEAST", NULL, &tracer) == CTRACE_OK);
	for (unsigned round = 0; round < 3; round++) {
		if (round == 1)
			REQUIRE(TURN("LEAST", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK);
		if (round == 2)
			REQUIRE(ctrace_level_set("LEAST", CTRACE_LEVEL_NONE) == CTRACE_OK);
		REQUIRE(shown("LEAST", NULL)->mode == MIN_MODE &&
			strcmp(shown("LEAST", NULL)->minops, "MINIMUM") == 0);
		before = events_emitted();
		ctrace_entry(tracer, 1, NULL, 0);
		REQUIRE(events_emitted() == before + 1);
	}
	REQUIRE(DELETE(.name = "LEAST") == CTRACE_RC_OK);
	before = events_emitted();
	ctrace_entry(tracer, 1, NULL, 0);
	REQUIRE(events_emitted() == before);
}

static const struct test_row rows[] = {
	TEST(likehead_calls_it_with_the_heads_state),
	TEST(a_member_may_say_likehead),
	TEST(a_head_without_options_cannot_be_switched),
	TEST(a_head_without_options_has_no_minimum_options),
	TEST(sublevels_go_down_to_five),
	TEST(quoted_names_have_lower_case_and_underscores),
	TEST(an_address_space_and_its_job_are_one_sublevel),
	TEST(what_follows_its_head_changes_with_it),
	TEST(routines_of_followers_are_called_when_the_heads_asks),
	TEST(a_follower_that_its_heads_routine_defines_is_called_too),
	TEST(a_follower_that_refuses_undoes_all_of_it),
	TEST(a_follower_that_refuses_to_start_has_the_others_stopped),
	TEST(one_child_and_3000_behave_alike),
	TEST(minimum_options_stay_in_effect),
};

int main(void)
{
	return traces_run(rows, sizeof rows / sizeof rows[0], NULL, 0);
}
