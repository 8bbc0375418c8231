/*
 * test_define.c - DEFINE from inside: what is there before, during and after it; the order of its
 * checks; threads and forks beside it.
 *
 * What a program sees of it is in tests/process/test_define.c, each of its codes in
 * tests/process/test_codes.c.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "component_fixture.h"

#include <semaphore.h>

#define YES CTRACE_YES

static bool is_found(const char *name)
{
	uint32_t component;

	return ct_registry_find(ct_process.registry, name, strlen(name), &component) == CTRACE_OK;
}

/* Nothing of an earlier definition is left, but its place and its number. */
static bool is_blank(const char *name)
{
	static const struct ct_attributes none;
	const struct ct_trace *trace = trace_of(name);

	return !trace->is_defined && !trace->follows && trace->transaction == NULL &&
	       trace->head == NULL && trace->first_sub == NULL && trace->subs == 0 &&
	       trace->status == NULL && trace->userdata[0] == 0 &&
	       memcmp(&trace->attributes, &none, sizeof none) == 0;
}

/* ---- the order of the checks ---- */

/* Wrong in every way; one after the other is put right. */
static void checks_come_in_their_order(void)
{
	struct ctrace_define asked = { .size = sizeof asked,
				       .version = 3,
				       .name = "1BAD",
				       .sub = "1BAD",
				       .startnam = "NOWHERE",
				       .parm = "MEMBER",
				       .bufdflt = 1,
				       .reserved = { 1 } };
	uint32_t component;

#define REFUSED(rc_, reason_) \
	CHILD_CHECK(ctrace_component_define(&asked, &outcome) == (rc_)); \
	CHILD_CHECK((rc_) == CTRACE_RC_ABEND ? outcome.abend == (reason_) \
					     : reason() == (reason_)); \
	CHILD_CHECK(outcome.message[0] != '\0')
	register_routine("REALSS");
	write_member("CTSYNTAX", "TRACEOPTS NONSENSE");
	write_member("CTASID", "TRACEOPTS ON ASID(1)");
	REFUSED(CTRACE_RC_ABEND, 0x401);
	asked.service = CTRACE_SERVICE_DEFINE;
	REFUSED(CTRACE_RC_ABEND, 0x101);
	asked.version = 1;
	REFUSED(CTRACE_RC_ABEND, 0x301);
	asked.reserved[0] = 0;
	REFUSED(CTRACE_RC_ABEND, 0x102);
	asked.name = "ORDER";
	REFUSED(CTRACE_RC_REFUSED, CTRACE_RSN_NO_BUFFER);
	asked.buffer = YES;
	REFUSED(CTRACE_RC_REFUSED, CTRACE_RSN_BUFDFLT_BUFMIN);
	asked.bufdflt = 0;
	REFUSED(CTRACE_RC_REFUSED, CTRACE_RSN_SUB_NAME);
	asked.sub = "ASID(FFF0)";
	REFUSED(CTRACE_RC_REFUSED, CTRACE_RSN_NO_HEAD);
	CHILD_CHECK(DEFINE(.name = "ORDER", .head = YES) == CTRACE_RC_OK);
	REFUSED(CTRACE_RC_REFUSED, CTRACE_RSN_NOT_ACTIVE);
	asked.sub = "SUBA";
	REFUSED(CTRACE_RC_REFUSED, CTRACE_RSN_MEMBER_NAME);
	asked.parm = "CTNONE";
	REFUSED(CTRACE_RC_REFUSED, CTRACE_RSN_MEMBER_NOT_FOUND);
	asked.parm = "CTSYNTAX";
	REFUSED(CTRACE_RC_REFUSED, CTRACE_RSN_MEMBER_SYNTAX);
	asked.parm = "CTASID";
	REFUSED(CTRACE_RC_REFUSED, CTRACE_RSN_NO_ASIDS);
	CHILD_CHECK(strncmp(outcome.message, "CTASID:1:14: ", 13) == 0);
	asked.asids = YES;
	REFUSED(CTRACE_RC_REFUSED, CTRACE_RSN_ROUTINE_NOT_LOADED);
	/* So far nothing has been made: not even the name is used up. */
	CHILD_CHECK(ct_registry_find_any(ct_process.registry, "ORDER.SUBA", 10, &component) ==
		    CTRACE_NOT_FOUND);
	asked.startnam = "REALSS";
	CHILD_CHECK(ctrace_component_define(&asked, &outcome) == CTRACE_RC_OK &&
		    outcome.rsncode == 0 && call_count == 1);
#undef REFUSED
	/* What is there already is said before anything of the member. */
	asked.parm = "CTSYNTAX";
	CHILD_CHECK(ctrace_component_define(&asked, &outcome) == CTRACE_RC_EXISTS &&
		    outcome.rsncode == 0);
}

static uint32_t set_level_and_refuse(struct ctrace_ctss *ctss)
{
	(void)ctss;
	CHILD_CHECK(ctrace_level_set("LEVEL", CTRACE_INFO) == CTRACE_OK);
	return 8;
}

static void a_level_that_a_refusing_routine_sets_goes_with_the_definition(void)
{
	register_routine("LEVELSS");
	answer = set_level_and_refuse;
	CHILD_CHECK(DEFINE(.name = "LEVEL", .startnam = "LEVELSS", .minops = "A") ==
		    CTRACE_RC_REFUSED);
	answer = NULL;
	reset_calls();
	CHILD_CHECK(DEFINE(.name = "LEVEL", .startnam = "LEVELSS") == CTRACE_RC_OK);
	CHILD_CHECK(call_count == 0 && shown("LEVEL", NULL)->mode == CTRACE_MODE_OFF &&
		    threshold_of("LEVEL") == CTRACE_LEVEL_NONE);
}

/* ---- what is seen of it ---- */

static sem_t is_inside, may_go_on;

static uint32_t stay_inside(struct ctrace_ctss *ctss)
{
	CHILD_CHECK(sem_post(&is_inside) == 0);
	while (sem_wait(&may_go_on) != 0)
		;
	return ctss->reason = ctss->options_size != 0; /* refuses options */
}

static void *define_slowly(void *parm)
{
	uint32_t rc = DEFINE(.name = "SLOW", .startnam = "SLOWSS", .minops = "LEAST", .parm = parm,
			     .userdata = (char[16]){ "0123" }, .buffer = YES, .bufdflt = 128u << 10,
			     HEAD_KEYWORDS);

	CHILD_CHECK(rc == (parm == NULL ? CTRACE_RC_OK : CTRACE_RC_REFUSED));
	return NULL;
}

static pthread_t start_slow_definition(char *parm)
{
	pthread_t thread;

	register_routine("SLOWSS");
	answer = stay_inside;
	CHILD_CHECK(sem_init(&is_inside, 0, 0) == 0 && sem_init(&may_go_on, 0, 0) == 0);
	CHILD_CHECK(pthread_create(&thread, NULL, define_slowly, parm) == 0);
	while (sem_wait(&is_inside) != 0)
		;
	return thread;
}

static void see_nothing_then_finish(char *parm)
{
	pthread_t thread = start_slow_definition(parm);
	struct ctrace_display display = { .size = sizeof display };

	CHILD_CHECK(!is_found("SLOW") && !is_known("SLOW", NULL) &&
		    threshold_of("SLOW") == CTRACE_LEVEL_NONE);
	CHILD_CHECK(ctrace_component_display("SLOW", NULL, &display) == CTRACE_NOT_FOUND);
	CHILD_CHECK(DEFINE(.name = "SLOW", .sub = "SUBA", .startnam = "SLOWSS") ==
			    CTRACE_RC_REFUSED &&
		    reason() == CTRACE_RSN_NO_HEAD);
	CHILD_CHECK(DELETE(.name = "SLOW") == CTRACE_RC_EXISTS);
	CHILD_CHECK(TRACE_CT(.name = "SLOW", .state = CTRACE_CT_ON) == CTRACE_RC_REFUSED &&
		    reason() == CTRACE_RSN_NOT_DEFINED);
	CHILD_CHECK(sem_post(&may_go_on) == 0 && pthread_join(thread, NULL) == 0);
}

static void nothing_is_seen_of_it_before_its_end(void)
{
	see_nothing_then_finish(NULL);
	CHILD_CHECK(is_found("SLOW") && shown("SLOW", NULL)->mode == CTRACE_MODE_MIN &&
		    threshold_of("SLOW") == CTRACE_DEBUG);
}

static void nor_after_it_has_failed(void)
{
	static char parm[] = "CTOPT";

	write_member("CTOPT", "TRACEOPTS ON OPTIONS('SOME')");
	see_nothing_then_finish(parm);
	CHILD_CHECK(!is_found("SLOW") && is_blank("SLOW") && trace_of("SLOW")->generation == 1);
	CHILD_CHECK(
		ct_registry_configured(ct_process.registry, trace_of("SLOW")->component).buffer ==
		0);
}

/* Two of one name: the second waits for the first's routine, and finds it defined, or is the one
 * that defines it. */
static void *define_second(void *argument)
{
	(void)argument;
	answer = NULL;
	CHILD_CHECK(sem_post(&may_go_on) == 0);
	return (void *)(uintptr_t)DEFINE(.name = "SLOW", .startnam = "SLOWSS");
}

static void who_comes_second_waits_for_the_first(void)
{
	static char parm[] = "CTOPT";
	pthread_t first = start_slow_definition(NULL), second;
	void *rc;

	CHILD_CHECK(pthread_create(&second, NULL, define_second, NULL) == 0);
	CHILD_CHECK(pthread_join(first, NULL) == 0 && pthread_join(second, &rc) == 0 &&
		    (uintptr_t)rc == CTRACE_RC_EXISTS);
	CHILD_CHECK(DELETE(.name = "SLOW") == CTRACE_RC_OK);
	write_member("CTOPT", "TRACEOPTS ON OPTIONS('SOME')");
	first = start_slow_definition(parm);
	CHILD_CHECK(pthread_create(&second, NULL, define_second, NULL) == 0);
	CHILD_CHECK(pthread_join(first, NULL) == 0 && pthread_join(second, &rc) == 0 &&
		    (uintptr_t)rc == CTRACE_RC_OK);
	CHILD_CHECK(shown("SLOW", NULL)->head == 0); /* the second's */
}

/* ---- from inside its routine ---- */

static uint32_t rc_inside[3];

static uint32_t define_around(struct ctrace_ctss *ctss)
{
	struct ctrace_outcome inner;

	if (ctss->sub_count != 0)
		return 0;
	rc_inside[0] = ctrace_component_define(&(struct ctrace_define){ CTRACE_DEFINE_INIT,
									.name = "ROUND",
									.startnam = "ROUNDSS" },
					       &inner);
	CHILD_CHECK(CTRACE_REASON(inner.rsncode) == CTRACE_RSN_RECOVERY);
	rc_inside[1] = ctrace_component_delete(
		&(struct ctrace_delete){ CTRACE_DELETE_INIT, .name = "ROUND" }, &inner);
	CHILD_CHECK(CTRACE_REASON(inner.rsncode) == CTRACE_RSN_RECOVERY);
	rc_inside[2] = ctrace_component_define(
		&(struct ctrace_define){ CTRACE_DEFINE_INIT, .name = "ROUND", .sub = "SUBA",
					 .startnam = "ROUNDSS", .minops = "LEAST" },
		&inner);
	return ctss->userdata[0];
}

static void a_routine_may_define_below_its_trace_but_not_the_trace(void)
{
	register_routine("ROUNDSS");
	answer = define_around;
	CHILD_CHECK(DEFINE(.name = "ROUND", .startnam = "ROUNDSS", .minops = "LEAST",
			   HEAD_KEYWORDS) == CTRACE_RC_OK);
	CHILD_CHECK(rc_inside[0] == CTRACE_RC_SYSTEM && rc_inside[1] == CTRACE_RC_SYSTEM &&
		    rc_inside[2] == CTRACE_RC_OK);
	CHILD_CHECK(shown("ROUND", NULL)->subs == 1 && is_found("ROUND.SUBA"));
}

static void what_a_routine_defined_below_goes_with_its_trace(void)
{
	register_routine("ROUNDSS");
	answer = define_around;
	CHILD_CHECK(DEFINE(.name = "ROUND", .startnam = "ROUNDSS", .minops = "LEAST",
			   .userdata = (char[16]){ "refuse" }, HEAD_KEYWORDS) == CTRACE_RC_REFUSED);
	CHILD_CHECK(rc_inside[2] == CTRACE_RC_OK && call_count == 3 &&
		    was_called(2, "ROUND", "SUBA", STOP, CTRACE_MODE_OFF));
	CHILD_CHECK(is_blank("ROUND") && is_blank("ROUND.SUBA") && !is_found("ROUND") &&
		    !is_found("ROUND.SUBA"));
}

/* ---- again and again ---- */

static void each_definition_has_a_token_and_begins_anew(void)
{
	uint64_t tokens[3];
	struct ct_trace *trace;
	struct ct_token token;

	register_routine("AGAINSS");
	for (unsigned i = 0; i < 3; i++) {
		CHILD_CHECK(DEFINE(.name = "AGAIN", .startnam = "AGAINSS",
				   .minops = i == 1 ? NULL : "LEAST",
				   .userdata = i == 0 ? (char[16]){ "userdata" } : NULL, .wtr = YES,
				   .wtrmode = CTRACE_PAGEABLE, .buffer = YES) == CTRACE_RC_OK);
		trace = trace_of("AGAIN");
		tokens[i] = ct_token_of(trace);
		CHILD_CHECK(ct_token_find(tokens[i], &token) &&
			    token.component == trace->component && token.wtr);
		CHILD_CHECK(trace->userdata[0] == (i == 0 ? 'u' : 0));
		CHILD_CHECK(shown("AGAIN", NULL)->mode ==
			    (i == 1 ? CTRACE_MODE_OFF : CTRACE_MODE_MIN));
		CHILD_CHECK(TRACE_CT(.name = "AGAIN", .state = CTRACE_CT_ON, .options = "SOME",
				     .bufsize = 65536) == CTRACE_RC_OK);
		CHILD_CHECK(DELETE(.name = "AGAIN") == CTRACE_RC_OK && trace_of("AGAIN") == trace &&
			    is_blank("AGAIN"));
		CHILD_CHECK(!ct_token_find(tokens[i], &token));
		CHILD_CHECK(ct_registry_configured(ct_process.registry, trace->component).buffer ==
			    0);
	}
	CHILD_CHECK(tokens[0] != tokens[1] && tokens[1] != tokens[2] && tokens[0] != tokens[2]);
}

static void errno_and_the_callers_structure_stay(void)
{
	const struct ctrace_define asked = { CTRACE_DEFINE_INIT, .name = "KEPT",
					     .startnam = "KEPTSS", .com = "a comment" };
	struct ctrace_define copy = asked;

	register_routine("KEPTSS");
	errno = 4711;
	CHILD_CHECK(ctrace_component_define(&copy, NULL) == CTRACE_RC_OK && errno == 4711);
	CHILD_CHECK(memcmp(&copy, &asked, sizeof asked) == 0);
	CHILD_CHECK(ctrace_component_define(&copy, NULL) == CTRACE_RC_EXISTS && errno == 4711);
	CHILD_CHECK(ctrace_component_define(NULL, NULL) == CTRACE_RC_ABEND && errno == 4711 &&
		    ct_thread_locked == 0);
}

/* ---- a fork beside it ---- */

/* Runs body in a child, and ends; the other thread is inside its routine for ever. */
static void fork_and_end(void (*body)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		answer = NULL;
		reset_calls();
		body();
		_exit(0);
	}
	CHILD_CHECK(waitpid(pid, &status, 0) == pid);
	_exit(status != 0);
}

static void define_anew(void)
{
	CHILD_CHECK(!is_known("SLOW", NULL) && DEFINE(.name = "SLOW", .startnam = "SLOWSS",
						      .minops = "LEAST") == CTRACE_RC_OK);
	CHILD_CHECK(call_count == 1 && calls[0].userdata[0] == 0 && calls[0].buffer_granted == 0);
	CHILD_CHECK(DELETE(.name = "SLOW") == CTRACE_RC_OK && is_blank("SLOW"));
	CHILD_CHECK(
		ct_registry_configured(ct_process.registry, trace_of("SLOW")->component).buffer ==
		0);
}

static void in_a_child_what_another_thread_defines_never_was(void)
{
	(void)start_slow_definition(NULL);
	fork_and_end(define_anew);
}

static void *delete_slowly(void *argument)
{
	answer = stay_inside;
	(void)DELETE(.name = "SLOW");
	return argument;
}

static void use_what_stayed(void)
{
	CHILD_CHECK(shown("SLOW", NULL)->is_defined &&
		    shown("SLOW", NULL)->mode == CTRACE_MODE_MIN);
	CHILD_CHECK(DEFINE(.name = "SLOW", .sub = "SUBA", .startnam = "SLOWSS") == CTRACE_RC_OK);
	CHILD_CHECK(DELETE(.name = "SLOW") == CTRACE_RC_OK && is_blank("SLOW"));
}

static void in_a_child_what_another_thread_deletes_has_stayed(void)
{
	pthread_t thread;

	register_routine("SLOWSS");
	CHILD_CHECK(sem_init(&is_inside, 0, 0) == 0 && sem_init(&may_go_on, 0, 0) == 0);
	CHILD_CHECK(DEFINE(.name = "SLOW", .startnam = "SLOWSS", .minops = "LEAST",
			   HEAD_KEYWORDS) == CTRACE_RC_OK);
	CHILD_CHECK(pthread_create(&thread, NULL, delete_slowly, NULL) == 0);
	while (sem_wait(&is_inside) != 0)
		;
	fork_and_end(use_what_stayed);
}

static void let_it_go_on(int signal)
{
	(void)signal;
	(void)sem_post(&may_go_on);
}

static void *define_and_wait(void *argument)
{
	(void)argument;
	return (void *)(uintptr_t)DEFINE(.name = "SLOW", .startnam = "SLOWSS");
}

/* Only a handler of the thread that waits lets the first definition end. */
static void signals_come_while_a_definition_waits(void)
{
	const struct sigaction action = { .sa_handler = let_it_go_on };
	pthread_t first = start_slow_definition(NULL), second;
	void *rc;

	CHILD_CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHILD_CHECK(pthread_create(&second, NULL, define_and_wait, NULL) == 0);
	while (ct_transaction_waiters() == 0)
		(void)sched_yield();
	CHILD_CHECK(pthread_kill(second, SIGUSR1) == 0);
	CHILD_CHECK(pthread_join(second, &rc) == 0 && (uintptr_t)rc == CTRACE_RC_EXISTS);
	CHILD_CHECK(pthread_join(first, NULL) == 0);
}

static volatile sig_atomic_t handled;

static void count_signal(int signal)
{
	(void)signal;
	handled++;
}

/* Signals wait while DEFINE and DELETE work, but not while the program's own routine runs. */
static uint32_t raise_a_signal(struct ctrace_ctss *ctss)
{
	sig_atomic_t before = handled;

	(void)ctss;
	CHILD_CHECK(raise(SIGUSR1) == 0);
	return handled == before + 1 ? 0 : 8;
}

static void a_routine_gets_the_signals_of_its_program(void)
{
	const struct sigaction action = { .sa_handler = count_signal };
	sigset_t mask;

	CHILD_CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHILD_CHECK(ctrace_routine_register("RAISESS", raise_a_signal) == CTRACE_OK);
	CHILD_CHECK(DEFINE(.name = "RAISE", .startnam = "RAISESS", .minops = "LEAST",
			   HEAD_KEYWORDS) == CTRACE_RC_OK);
	CHILD_CHECK(DEFINE(.name = "RAISE", .sub = "SUBA", .startnam = "RAISESS",
			   .minops = "LEAST") == CTRACE_RC_OK);
	CHILD_CHECK(DELETE(.name = "RAISE") == CTRACE_RC_OK && outcome.ss_rc == 0 && handled == 4);
	CHILD_CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0 &&
		    sigismember(&mask, SIGUSR1) == 0);
}

int test_define(void)
{
	const struct CMUnitTest tests[] = {
		IN_CHILD(checks_come_in_their_order),
		IN_CHILD(a_level_that_a_refusing_routine_sets_goes_with_the_definition),
		IN_CHILD(nothing_is_seen_of_it_before_its_end),
		IN_CHILD(nor_after_it_has_failed),
		IN_CHILD(who_comes_second_waits_for_the_first),
		IN_CHILD(a_routine_may_define_below_its_trace_but_not_the_trace),
		IN_CHILD(what_a_routine_defined_below_goes_with_its_trace),
		IN_CHILD(each_definition_has_a_token_and_begins_anew),
		IN_CHILD(in_a_child_what_another_thread_defines_never_was),
		IN_CHILD(in_a_child_what_another_thread_deletes_has_stayed),
		IN_CHILD(errno_and_the_callers_structure_stay),
		IN_CHILD(a_routine_gets_the_signals_of_its_program),
		IN_CHILD(signals_come_while_a_definition_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
