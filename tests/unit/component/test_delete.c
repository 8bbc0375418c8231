/*
 * test_delete.c - DELETE: the whole tree stops, the deepest first, and goes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "component_fixture.h"

#include <semaphore.h>

static void define_tree(void)
{
	register_routine("UNITSS");
	CHILD_CHECK(DEFINE(.name = "UNIT", .startnam = "UNITSS", .mod = CTRACE_YES,
			   HEAD_KEYWORDS) == CTRACE_RC_OK);
	CHILD_CHECK(DEFINE(.name = "UNIT", .sub = "A", .startnam = "UNITSS", HEAD_KEYWORDS) ==
		    CTRACE_RC_OK);
	CHILD_CHECK(DEFINE(.name = "UNIT", .sub = "A.AA", .startnam = "UNITSS",
			   .likehead = CTRACE_YES) == CTRACE_RC_OK);
	CHILD_CHECK(DEFINE(.name = "UNIT", .sub = "B", .startnam = "UNITSS") == CTRACE_RC_OK);
	CHILD_CHECK(TRACE_CT(.name = "UNIT", .state = CTRACE_CT_ON) == CTRACE_RC_OK);
	CHILD_CHECK(TRACE_CT(.name = "UNIT", .sub = "A", .state = CTRACE_CT_ON) == CTRACE_RC_OK);
	reset_calls();
}

/* A, AA and the head are on; B is off and is not called. */
static void what_is_active_stops_the_deepest_first(void)
{
	define_tree();
	CHILD_CHECK(DELETE(.name = "UNIT") == CTRACE_RC_OK && call_count == 3);
	CHILD_CHECK(calls[0].sub_count == 2 && calls[1].sub_count == 1 && calls[2].sub_count == 0);
	for (unsigned i = 0; i < call_count; i++)
		CHILD_CHECK(calls[i].flags == CTRACE_CTSS_STOP &&
			    calls[i].mode == CTRACE_MODE_OFF && calls[i].options_size == 0);
	CHILD_CHECK(!is_known("UNIT", NULL) && !is_known("UNIT", "A") &&
		    !is_known("UNIT", "A.AA") && !is_known("UNIT", "B"));
	CHILD_CHECK(DELETE(.name = "UNIT") == CTRACE_RC_EXISTS);
}

static void a_subtree_goes_alone(void)
{
	define_tree();
	CHILD_CHECK(DELETE(.name = "UNIT", .sub = "A", .ifnosubs = CTRACE_YES) ==
			    CTRACE_RC_REFUSED &&
		    reason() == CTRACE_RSN_HAS_SUBS);
	CHILD_CHECK(call_count == 0 && is_known("UNIT", "A.AA"));
	CHILD_CHECK(DELETE(.name = "UNIT", .sub = "A") == CTRACE_RC_OK && call_count == 2);
	CHILD_CHECK(!is_known("UNIT", "A") && !is_known("UNIT", "A.AA") &&
		    shown("UNIT", NULL)->subs == 1);
	CHILD_CHECK(DELETE(.name = "UNIT", .sub = "B", .ifnosubs = CTRACE_YES) == CTRACE_RC_OK &&
		    shown("UNIT", NULL)->subs == 0);
	CHILD_CHECK(DELETE(.name = "UNIT", .ifnosubs = CTRACE_YES) == CTRACE_RC_OK &&
		    !is_known("UNIT", NULL));
}

static uint32_t refuse_and_say_so(struct ctrace_ctss *ctss)
{
	CHILD_CHECK(ctrace_wto(ctss->console, "not now") == CTRACE_OK);
	ctss->reason = 0x2A;
	return ctss->flags == CTRACE_CTSS_STOP ? 8 : 0;
}

static void a_refusal_is_reported_and_keeps_nothing(void)
{
	define_tree();
	answer = refuse_and_say_so;
	CHILD_CHECK(DELETE(.name = "UNIT") == CTRACE_RC_OK);
	CHILD_CHECK(outcome.ss_rc == 8 && outcome.ss_rsncode == 0x2A &&
		    strstr(outcome.message, "not now") != NULL);
	CHILD_CHECK(!is_known("UNIT", NULL) && !is_known("UNIT", "A.AA"));
}

static uint32_t define_below(struct ctrace_ctss *ctss)
{
	if (ctss->flags == CTRACE_CTSS_STOP)
		CHILD_CHECK(DEFINE(.name = "UNIT", .sub = "LATE", .startnam = "UNITSS") ==
				    CTRACE_RC_REFUSED &&
			    reason() == CTRACE_RSN_NO_HEAD);
	return 0;
}

static void nothing_is_defined_below_what_is_going(void)
{
	struct ctrace_outcome of_delete;

	define_tree();
	answer = define_below;
	CHILD_CHECK(ctrace_component_delete(
			    &(struct ctrace_delete){ CTRACE_DELETE_INIT, .name = "UNIT" },
			    &of_delete) == CTRACE_RC_OK);
	CHILD_CHECK(call_count == 3 && !is_known("UNIT", "LATE"));
	answer = NULL;
	CHILD_CHECK(DEFINE(.name = "UNIT", .startnam = "UNITSS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	CHILD_CHECK(DEFINE(.name = "UNIT", .sub = "LATE", .startnam = "UNITSS") == CTRACE_RC_OK);
}

/* ---- a circle that is broken ---- */

static sem_t is_inside;

/* The sublevel's routine, on a thread of its own: wants the head, which is being defined. */
static uint32_t want_the_head(struct ctrace_ctss *ctss)
{
	if (ctss->flags != CTRACE_CTSS_START)
		return 0;
	CHILD_CHECK(sem_post(&is_inside) == 0);
	CHILD_CHECK(DEFINE(.name = "UNIT", .startnam = "UNITSS", HEAD_KEYWORDS) ==
			    CTRACE_RC_SYSTEM &&
		    reason() == CTRACE_RSN_RECOVERY);
	return 0;
}

static void *start_sublevel(void *argument)
{
	(void)TRACE_CT(.name = "UNIT", .sub = "A", .state = CTRACE_CT_ON);
	return argument;
}

static pthread_t starter;

/* The head's routine: defines the sublevel, has it started, and refuses. */
static uint32_t define_and_refuse(struct ctrace_ctss *ctss)
{
	(void)ctss;
	CHILD_CHECK(DEFINE(.name = "UNIT", .sub = "A", .startnam = "SUBSS") == CTRACE_RC_OK);
	CHILD_CHECK(pthread_create(&starter, NULL, start_sublevel, NULL) == 0);
	while (sem_wait(&is_inside) != 0)
		;
	return 8;
}

static void what_a_routine_defined_goes_with_a_refused_head(void)
{
	CHILD_CHECK(sem_init(&is_inside, 0, 0) == 0);
	write_member("CTUNIT", "TRACEOPTS ON");
	CHILD_CHECK(ctrace_routine_register("UNITSS", define_and_refuse) == CTRACE_OK);
	CHILD_CHECK(ctrace_routine_register("SUBSS", want_the_head) == CTRACE_OK);
	CHILD_CHECK(DEFINE(.name = "UNIT", .startnam = "UNITSS", .parm = "CTUNIT", HEAD_KEYWORDS) ==
		    CTRACE_RC_REFUSED);
	CHILD_CHECK(reason() == CTRACE_RSN_ROUTINE_REFUSED && outcome.ss_rc == 8);
	CHILD_CHECK(pthread_join(starter, NULL) == 0);
	CHILD_CHECK(!is_known("UNIT", NULL) && !is_known("UNIT", "A"));
	CHILD_CHECK(trace_of("UNIT")->first_sub == NULL && trace_of("UNIT")->subs == 0);
}

int test_delete(void)
{
	const struct CMUnitTest tests[] = {
		IN_CHILD(what_is_active_stops_the_deepest_first),
		IN_CHILD(a_subtree_goes_alone),
		IN_CHILD(a_refusal_is_reported_and_keeps_nothing),
		IN_CHILD(nothing_is_defined_below_what_is_going),
		IN_CHILD(what_a_routine_defined_goes_with_a_refused_head),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
