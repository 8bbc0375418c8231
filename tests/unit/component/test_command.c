/*
 * test_command.c - TRACE CT: a command, each statement of a member, and thresholds that the other
 * face sets.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "component_fixture.h"

#include <semaphore.h>

#define YES CTRACE_YES
#define TURN(what, ...) TRACE_CT(.name = "UNIT", .state = CTRACE_CT_##what, __VA_ARGS__)

static void define_unit(void)
{
	register_routine("UNITSS");
	CHILD_CHECK(DEFINE(.name = "UNIT", .startnam = "UNITSS", .mod = YES, .asids = YES,
			   .jobs = YES, .buffer = YES, .wtr = YES, .wtrmode = CTRACE_PAGEABLE,
			   HEAD_KEYWORDS) == CTRACE_RC_OK);
	reset_calls();
}

/* ---- one command ---- */

static void a_command_is_carried_out_by_a_routine(void)
{
	define_unit();
	CHILD_CHECK(TURN(ON, .options = "A,B", .bufsize = 65536, .asid = "1, fff0,",
			 .jobname = "ourjob  two", .wtr = "w") == CTRACE_RC_OK);
	CHILD_CHECK(call_count == 1 && was_called(0, "UNIT", NULL, START, CTRACE_MODE_ON) &&
		    HOLDS(calls[0].writer, "W"));
	CHILD_CHECK(calls[0].asid_count == 2 && calls[0].asid[1] == 0xFFF0 &&
		    calls[0].jobname_count == 2);
	CHILD_CHECK(HOLDS(calls[0].jobname[0], "OURJOB") && HOLDS(calls[0].jobname[1], "TWO") &&
		    calls[0].buffer_size == 65536);
	CHILD_CHECK(TURN(OFF, ) == CTRACE_RC_OK &&
		    was_called(1, "UNIT", NULL, STOP, CTRACE_MODE_OFF));
	CHILD_CHECK(calls[1].asid_count == 0 && calls[1].options_size == 0 &&
		    HOLDS(calls[1].writer, ""));
}

/* As an operator's text becomes it. */
static void a_parsed_command_is_carried_out_too(void)
{
	struct ct_trace_command command = { .request.state = CTRACE_CT_ON, .cart = 4711 };

	define_unit();
	(void)snprintf(command.name, sizeof command.name, "unit");
	errno = 4711;
	CHILD_CHECK(ct_trace_ct(&command, &outcome) == CTRACE_RC_OK && errno == 4711);
	CHILD_CHECK(call_count == 1 && was_called(0, "UNIT", NULL, START, CTRACE_MODE_ON));
	CHILD_CHECK(calls[0].cart == 4711 && ct_command_cart() == 0);
	(void)snprintf(command.sub, sizeof command.sub, "NONE");
	CHILD_CHECK(ct_trace_ct(&command, NULL) == CTRACE_RC_REFUSED);
	CHILD_CHECK(ct_trace_ct(&command, &outcome) == CTRACE_RC_REFUSED &&
		    reason() == CTRACE_RSN_NOT_DEFINED && call_count == 1);
	command.sub[0] = '\0';
	command.request.state = CTRACE_CT_OFF;
	ct_table_lock(); /* as in a signal handler */
	CHILD_CHECK(ct_trace_ct(&command, &outcome) == CTRACE_RC_SYSTEM);
	ct_table_unlock();
	CHILD_CHECK(ct_trace_ct(&command, &outcome) == CTRACE_RC_OK && call_count == 2);
}

static bool is_refused(uint32_t rc, uint32_t expected)
{
	bool is_so = rc == CTRACE_RC_REFUSED && outcome.rc == rc && reason() == expected &&
		     call_count == 0;

	if (!is_so)
		(void)fprintf(stderr, "rc %X reason %X, %u calls, %s\n", rc, reason(), call_count,
			      outcome.message);
	return is_so;
}

static void texts_of_a_command_are_checked(void)
{
	static const char seventeen[] = "1,2,3,4,5,6,7,8,9,A,B,C,D,E,F,10,11";
	char options[CTRACE_MAX_OPTIONS + 2];

	define_unit();
	CHILD_CHECK(is_refused(TURN(ON, .asid = "12345"), CTRACE_RSN_ASID_TOO_LONG));
	CHILD_CHECK(is_refused(TURN(ON, .asid = "X"), CTRACE_RSN_ASID_NOT_HEX) &&
		    is_refused(TURN(ON, .asid = "1,0"), CTRACE_RSN_ASID_ZERO));
	CHILD_CHECK(is_refused(TURN(ON, .asid = seventeen), CTRACE_RSN_TOO_MANY_ASIDS));
	CHILD_CHECK(is_refused(TURN(ON, .jobname = "NINECHARS"), CTRACE_RSN_JOBNAME_TOO_LONG));
	CHILD_CHECK(is_refused(TURN(ON, .jobname = seventeen), CTRACE_RSN_TOO_MANY_JOBNAMES));
	CHILD_CHECK(is_refused(TURN(ON, .wtr = "1W"), CTRACE_RSN_WTR_NAME) &&
		    is_refused(TURN(ON, .wtr = ""), CTRACE_RSN_WTR_NAME));
	memset(options, 'o', sizeof options - 1);
	options[sizeof options - 1] = '\0';
	CHILD_CHECK(is_refused(TURN(ON, .options = options), CTRACE_RSN_OPTIONS_TOO_LONG));
	options[CTRACE_MAX_OPTIONS] = '\0';
	CHILD_CHECK(TURN(ON, .options = options) == CTRACE_RC_OK &&
		    calls[0].options_size == CTRACE_MAX_OPTIONS);
}

static void commands_for_nothing_are_refused(void)
{
	define_unit();
	CHILD_CHECK(is_refused(TRACE_CT(.name = "UNITX", .state = CTRACE_CT_ON),
			       CTRACE_RSN_NOT_DEFINED));
	CHILD_CHECK(
		is_refused(TRACE_CT(.name = NULL, .state = CTRACE_CT_ON), CTRACE_RSN_NOT_DEFINED));
	CHILD_CHECK(is_refused(TRACE_CT(.name = "UNIT.", .state = CTRACE_CT_ON),
			       CTRACE_RSN_NOT_DEFINED));
	CHILD_CHECK(is_refused(TURN(ON, .sub = "SUBA"), CTRACE_RSN_NOT_DEFINED));
	CHILD_CHECK(is_refused(TURN(ON, .sub = "suba"), CTRACE_RSN_SUB_NAME) &&
		    is_refused(TURN(NONE, ), CTRACE_RSN_NO_STATE));
	CHILD_CHECK(is_refused(TURN(LIKEHEAD, ), CTRACE_RSN_NOT_A_SUBLEVEL));
	CHILD_CHECK(TRACE_CT(.name = "UNIT", .state = 6) == CTRACE_RC_ABEND &&
		    outcome.abend == 0x301);
	CHILD_CHECK(ctrace_trace_ct(&(struct ctrace_trace_ct){ .name = "UNIT" }, &outcome) ==
			    CTRACE_RC_ABEND &&
		    outcome.abend == 0x301);
	CHILD_CHECK(ctrace_trace_ct(NULL, NULL) == CTRACE_RC_ABEND);
	/* As in a signal handler that interrupted one of our own locked sections. */
	ct_table_lock();
	CHILD_CHECK(TURN(ON, ) == CTRACE_RC_SYSTEM);
	ct_table_unlock();
	CHILD_CHECK(call_count == 0 && shown("UNIT", NULL)->mode == CTRACE_MODE_OFF);
}

/* ---- members ---- */

static void each_statement_is_a_transaction(void)
{
	define_unit();
	CHILD_CHECK(DEFINE(.name = "UNIT", .sub = "A", .startnam = "UNITSS", .mod = YES) ==
		    CTRACE_RC_OK);
	CHILD_CHECK(DEFINE(.name = "UNIT", .sub = "B", .startnam = "UNITSS", .asids = YES) ==
		    CTRACE_RC_OK);
	write_member("CTBOTH", "TRACEOPTS\n SUB(A) ON OPTIONS('FOR A')\n SUB(B) ON ASID(1,2)\n");
	CHILD_CHECK(TRACE_CT(.name = "UNIT", .parm = "CTBOTH") == CTRACE_RC_OK && call_count == 2);
	CHILD_CHECK(was_called(0, "UNIT", "A", START, CTRACE_MODE_ON) &&
		    was_called(1, "UNIT", "B", START, CTRACE_MODE_ON));
	CHILD_CHECK(shown("UNIT", "B")->asid_count == 2 &&
		    strcmp(shown("UNIT", "A")->options, "FOR A") == 0);
	/* The command's SUB and state count where the statement has none; both of one are too many.
	 */
	write_member("CTOPT", "TRACEOPTS OPTIONS('FOR ANY')\n");
	CHILD_CHECK(TURN(ON, .parm = "CTOPT", .sub = "A") == CTRACE_RC_OK &&
		    strcmp(shown("UNIT", "A")->options, "FOR ANY") == 0);
	reset_calls();
	CHILD_CHECK(is_refused(TURN(NONE, .parm = "CTOPT", .sub = "A"), CTRACE_RSN_NO_STATE));
	CHILD_CHECK(is_refused(TURN(NONE, .parm = "CTBOTH", .sub = "A"), CTRACE_RSN_MEMBER_SUB));
	CHILD_CHECK(is_refused(TURN(ON, .parm = "CTNONE"), CTRACE_RSN_MEMBER_NOT_FOUND));
}

static void statements_that_fail_do_not_stop_the_others(void)
{
	define_unit();
	CHILD_CHECK(DEFINE(.name = "UNIT", .sub = "A", .startnam = "UNITSS") == CTRACE_RC_OK);
	write_member("CTSOME", "TRACEOPTS\n SUB(NONE) ON\n SUB(A) ON ASID(1)\n SUB(A) ON\n");
	CHILD_CHECK(TRACE_CT(.name = "UNIT", .parm = "CTSOME") == CTRACE_RC_REFUSED &&
		    reason() == CTRACE_RSN_NOT_ALL);
	CHILD_CHECK(strstr(outcome.message, "UNIT.NONE") != NULL); /* the first */
	CHILD_CHECK(call_count == 1 && shown("UNIT", "A")->mode == CTRACE_MODE_ON);
	write_member("CTALL", "TRACEOPTS\n SUB(NONE) ON\n SUB(A) ON ASID(1)\n");
	CHILD_CHECK(TRACE_CT(.name = "UNIT", .parm = "CTALL") == CTRACE_RC_REFUSED &&
		    reason() == CTRACE_RSN_NOT_DEFINED);
	write_member("CTPLACE", "TRACEOPTS\n SUB(A) ON ASID(1)\n");
	CHILD_CHECK(TRACE_CT(.name = "UNIT", .parm = "CTPLACE") == CTRACE_RC_REFUSED &&
		    reason() == CTRACE_RSN_NO_ASIDS);
	CHILD_CHECK(strncmp(outcome.message, "CTPLACE:2:12: ", 14) == 0);
	write_member("CTWTR", "TRACEOPTS WTRSTART(W)");
	CHILD_CHECK(TRACE_CT(.name = "UNIT", .parm = "CTWTR") == CTRACE_RC_REFUSED &&
		    reason() == CTRACE_RSN_NO_STATE);
}

/* ---- two at a time ---- */

static sem_t is_inside, may_go_on;

static uint32_t stay_inside(struct ctrace_ctss *ctss)
{
	if (ctss->options_size == 4) {
		CHILD_CHECK(sem_post(&is_inside) == 0);
		while (sem_wait(&may_go_on) != 0)
			;
	}
	return 0;
}

static void *command_slowly(void *argument)
{
	CHILD_CHECK(TURN(ON, .options = "SLOW") == CTRACE_RC_OK);
	return argument;
}

static void *command_after_it(void *argument)
{
	CHILD_CHECK(sem_post(&may_go_on) == 0);
	CHILD_CHECK(TURN(ON, .options = "LATER") == CTRACE_RC_OK);
	return argument;
}

static void commands_of_one_trace_come_one_after_the_other(void)
{
	pthread_t slow, later;

	define_unit();
	CHILD_CHECK(sem_init(&is_inside, 0, 0) == 0 && sem_init(&may_go_on, 0, 0) == 0);
	answer = stay_inside;
	CHILD_CHECK(pthread_create(&slow, NULL, command_slowly, NULL) == 0);
	while (sem_wait(&is_inside) != 0)
		;
	CHILD_CHECK(pthread_create(&later, NULL, command_after_it, NULL) == 0);
	CHILD_CHECK(pthread_join(slow, NULL) == 0 && pthread_join(later, NULL) == 0);
	CHILD_CHECK(call_count == 2 && calls[1].options_size == 5 &&
		    strcmp(shown("UNIT", NULL)->options, "LATER") == 0);
}

static uint32_t command_from_inside(struct ctrace_ctss *ctss)
{
	struct ctrace_outcome inner;

	(void)ctss;
	CHILD_CHECK(ctrace_trace_ct(&(struct ctrace_trace_ct){ CTRACE_TRACE_CT_INIT, .name = "UNIT",
							       .state = CTRACE_CT_OFF },
				    &inner) == CTRACE_RC_SYSTEM);
	CHILD_CHECK(CTRACE_REASON(inner.rsncode) == CTRACE_RSN_RECOVERY &&
		    inner.message[0] != '\0');
	return 0;
}

static void a_routine_does_not_command_its_own_trace(void)
{
	define_unit();
	answer = command_from_inside;
	CHILD_CHECK(TURN(ON, ) == CTRACE_RC_OK && call_count == 1 &&
		    shown("UNIT", NULL)->mode == CTRACE_MODE_ON);
}

/* ---- the other face ---- */

static void a_threshold_of_the_other_face_switches_the_trace(void)
{
	define_unit();
	CHILD_CHECK(ctrace_level_set("UNIT", CTRACE_WARN) == CTRACE_OK && call_count == 1);
	CHILD_CHECK(was_called(0, "UNIT", NULL, START, CTRACE_MODE_ON) &&
		    threshold_of("UNIT") == CTRACE_WARN);
	/* it is on already */
	CHILD_CHECK(ctrace_level_set("UNIT", CTRACE_ERROR) == CTRACE_OK && call_count == 1);
	CHILD_CHECK(shown("UNIT", NULL)->mode == CTRACE_MODE_ON &&
		    threshold_of("UNIT") == CTRACE_ERROR);
	CHILD_CHECK(ctrace_level_set("UNIT", CTRACE_LEVEL_NONE) == CTRACE_OK && call_count == 2);
	CHILD_CHECK(was_called(1, "UNIT", NULL, STOP, CTRACE_MODE_OFF) &&
		    shown("UNIT", NULL)->mode == CTRACE_MODE_OFF);
}

/* The registry tells of every change; only levels concern component trace. */
static void a_change_of_a_property_switches_nothing(void)
{
	struct ct_change change = { .kind = CT_CHANGE_PROPERTY,
				    .property = "P",
				    .property_size = 1,
				    .value = "",
				    .out_status = NULL };
	struct ct_level_trace debug = { .level = CTRACE_DEBUG, .minimum = CTRACE_LEVEL_NONE };

	define_unit();
	change.component = trace_of("UNIT")->component;
	CHILD_CHECK(ct_level_set_trace(ct_process.registry, change.component, &debug, NULL, NULL) ==
		    CTRACE_OK);
	ct_component_change(&change, NULL);
	CHILD_CHECK(call_count == 0 && shown("UNIT", NULL)->mode == CTRACE_MODE_OFF);
	change.kind = CT_CHANGE_LEVEL;
	ct_component_change(&change, NULL);
	CHILD_CHECK(call_count == 1 && was_called(0, "UNIT", NULL, START, CTRACE_MODE_ON));
}

static uint32_t refuse(struct ctrace_ctss *ctss)
{
	(void)ctss;
	return 8;
}

static void a_routine_that_refuses_puts_the_threshold_back(void)
{
	define_unit();
	answer = refuse;
	CHILD_CHECK(ctrace_level_set("UNIT", CTRACE_WARN) == CTRACE_OK && call_count == 1);
	CHILD_CHECK(shown("UNIT", NULL)->mode == CTRACE_MODE_OFF &&
		    threshold_of("UNIT") == CTRACE_LEVEL_NONE);
}

/* ---- a routine that needs what the waiting thread holds ---- */

static pthread_mutex_t programs_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_in_routine;

static uint32_t take_the_programs_lock(struct ctrace_ctss *ctss)
{
	if ((ctss->flags & START) == 0)
		return 0;
	CHILD_CHECK(sem_post(&is_in_routine) == 0);
	CHILD_CHECK(pthread_mutex_lock(&programs_lock) == 0 &&
		    pthread_mutex_unlock(&programs_lock) == 0);
	return 0;
}

static void *turn_unit_on(void *ignored)
{
	(void)ignored;
	CHILD_CHECK(TURN(ON, ) == CTRACE_RC_OK);
	return NULL;
}

static bool is_blocked(uint32_t rc)
{
	return rc == CTRACE_RC_SYSTEM && reason() == CTRACE_RSN_RECOVERY &&
	       strstr(outcome.message, " is in use by TRACE CT of thread ") != NULL;
}

/* Whichever command it is that the thread with the lock gives: the first waits for the limit, the
 * others not at all. */
static void a_command_does_not_wait_for_ever(void)
{
	struct ctrace_display display = { .size = sizeof display };
	pthread_t thread;

	define_unit();
	CHILD_CHECK(DEFINE(.name = "UNIT", .sub = "SUB", .startnam = "UNITSS", .likehead = YES) ==
		    CTRACE_RC_OK);
	answer = take_the_programs_lock;
	ct_transaction_limit_ns = 2000000;
	CHILD_CHECK(sem_init(&is_in_routine, 0, 0) == 0 && pthread_mutex_lock(&programs_lock) == 0);
	CHILD_CHECK(pthread_create(&thread, NULL, turn_unit_on, NULL) == 0);
	while (sem_wait(&is_in_routine) != 0)
		;
	CHILD_CHECK(is_blocked(DELETE(.name = "UNIT")));
	ct_transaction_limit_ns = UINT64_MAX;
	CHILD_CHECK(is_blocked(TURN(OFF, )));
	CHILD_CHECK(
		is_blocked(TRACE_CT(.name = "UNIT", .sub = "SUB", .state = CTRACE_CT_LIKEHEAD)));
	CHILD_CHECK(is_blocked(
		DEFINE(.name = "UNIT", .sub = "NEW", .startnam = "UNITSS", .likehead = YES)));
	CHILD_CHECK(ctrace_component_display("UNIT", NULL, &display) == CTRACE_TIMED_OUT);
	CHILD_CHECK(ctrace_level_set("UNIT", CTRACE_FATAL) == CTRACE_TIMED_OUT);
	CHILD_CHECK(ctrace_configure("mftrace.level.UNIT = error") == CTRACE_TIMED_OUT);
	CHILD_CHECK(pthread_mutex_unlock(&programs_lock) == 0 && pthread_join(thread, NULL) == 0);
	/* The command that was waited for has ended as it would have. */
	CHILD_CHECK(shown("UNIT", NULL)->mode == CTRACE_MODE_ON && shown("UNIT", NULL)->subs == 1 &&
		    !is_known("UNIT", "NEW"));
	CHILD_CHECK(threshold_of("UNIT") == CTRACE_DEBUG);
	CHILD_CHECK(TURN(OFF, ) == CTRACE_RC_OK && DELETE(.name = "UNIT") == CTRACE_RC_OK &&
		    ct_transaction_waiters() == 0);
}

/* ---- a forked child ---- */

static void a_child_has_filters_of_its_own(void)
{
	char asid[8];
	int status;
	pid_t pid;

	define_unit();
	(void)snprintf(asid, sizeof asid, "%X", ct_space_self().asid);
	CHILD_CHECK(TURN(ON, .asid = asid) == CTRACE_RC_OK && threshold_of("UNIT") == CTRACE_DEBUG);
	pid = fork();
	if (pid == 0) {
		attach(); /* calls ct_component_forked() */
		CHILD_CHECK(threshold_of("UNIT") == CTRACE_LEVEL_NONE &&
			    shown("UNIT", NULL)->is_filtered == 1);
		CHILD_CHECK(TURN(ON, .asid = "") == CTRACE_RC_OK &&
			    threshold_of("UNIT") == CTRACE_DEBUG);
		exit(0);
	}
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0 &&
		    threshold_of("UNIT") == CTRACE_DEBUG);
}

int test_command(void)
{
	const struct CMUnitTest tests[] = {
		IN_CHILD(a_command_is_carried_out_by_a_routine),
		IN_CHILD(a_parsed_command_is_carried_out_too),
		IN_CHILD(a_change_of_a_property_switches_nothing),
		IN_CHILD(texts_of_a_command_are_checked),
		IN_CHILD(commands_for_nothing_are_refused),
		IN_CHILD(each_statement_is_a_transaction),
		IN_CHILD(statements_that_fail_do_not_stop_the_others),
		IN_CHILD(commands_of_one_trace_come_one_after_the_other),
		IN_CHILD(a_routine_does_not_command_its_own_trace),
		IN_CHILD(a_threshold_of_the_other_face_switches_the_trace),
		IN_CHILD(a_routine_that_refuses_puts_the_threshold_back),
		IN_CHILD(a_command_does_not_wait_for_ever),
		IN_CHILD(a_child_has_filters_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
