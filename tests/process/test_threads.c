/*
 * test_threads.c - many threads that define, delete and command at once, and routines that take
 * their time.
 *
 * The codes of what fails are in test_codes.c, what the tracer of the same name sees of it in
 * test_faces.c.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "traces.h"

#include <semaphore.h>

/* ---- many threads ---- */

#define THREADS 8u
#define ROUNDS 200u

static pthread_barrier_t together;
static unsigned defined[ROUNDS];
static unsigned deleted[ROUNDS];

static void *define_and_delete(void *argument)
{
	unsigned number = (unsigned)(uintptr_t)argument;
	char own[16], common[16];

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint32_t rc;

		(void)snprintf(own, sizeof own, "OWN%u", number);
		(void)snprintf(common, sizeof common, "ALL%u", round);
		REQUIRE(DEFINE(.name = own, .startnam = "RACESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
		REQUIRE(DEFINE(.name = own, .sub = "SUBA", .startnam = "RACESS",
			       .minops = "LEAST") == CTRACE_RC_OK);
		(void)pthread_barrier_wait(&together);
		rc = DEFINE(.name = common, .startnam = "RACESS", .minops = "LEAST");
		REQUIRE(rc == CTRACE_RC_OK || rc == CTRACE_RC_EXISTS);
		if (rc == CTRACE_RC_OK)
			(void)__atomic_add_fetch(&defined[round], 1, __ATOMIC_RELAXED);
		REQUIRE(shown(common, NULL)->mode == MIN_MODE);
		(void)pthread_barrier_wait(&together);
		rc = DELETE(.name = common);
		REQUIRE(rc == CTRACE_RC_OK || rc == CTRACE_RC_EXISTS);
		if (rc == CTRACE_RC_OK)
			(void)__atomic_add_fetch(&deleted[round], 1, __ATOMIC_RELAXED);
		REQUIRE(DELETE(.name = own) == CTRACE_RC_OK);
	}
	return NULL;
}

static void of_many_defines_of_one_name_one_wins(void)
{
	pthread_t threads[THREADS];

	register_routine("RACESS");
	REQUIRE(pthread_barrier_init(&together, NULL, THREADS) == 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, define_and_delete, (void *)i) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
	for (unsigned round = 0; round < ROUNDS; round++)
		REQUIRE(defined[round] == 1 && deleted[round] == 1);
	/* Each definition was started once and stopped once. */
	REQUIRE(call_count == 2 * ROUNDS + 2 * ROUNDS * THREADS);
}

static struct ctrace_tracer inside = CTRACE_TRACER("INSIDE");

static uint32_t define_a_sublevel(struct ctrace_ctss *ctss)
{
	uint64_t before = events_emitted();

	if (ctss->sub_count > 0 || ctss->flags != START)
		return 0;
	REQUIRE(DEFINE(.name = "BUSY", .sub = "MADE", .startnam = "BUSYSS", .likehead = YES) ==
		CTRACE_RC_OK);
	CTRACE(&inside, CTRACE_INFO, 1);
	REQUIRE(events_emitted() == before + 1);
	return 0;
}

static void a_routine_may_define_a_sublevel_and_trace(void)
{
	register_routine("BUSYSS");
	REQUIRE(DEFINE(.name = "BUSY", .startnam = "BUSYSS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	answer = define_a_sublevel;
	REQUIRE(TURN("BUSY", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	REQUIRE(shown("BUSY", NULL)->subs == 1 && shown("BUSY", "MADE")->mode == ON &&
		records("BUSY", "MADE"));
}

static sem_t is_inside, may_go_on;

static uint32_t stay_inside(struct ctrace_ctss *ctss)
{
	if (!HOLDS(ctss->name, "HELD"))
		return 0;
	REQUIRE(sem_post(&is_inside) == 0);
	while (sem_wait(&may_go_on) != 0)
		;
	return 0;
}

static void *switch_held_on(void *argument)
{
	(void)argument;
	REQUIRE(TURN("HELD", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	return NULL;
}

static void a_routine_that_takes_its_time_holds_nobody_else_up(void)
{
	pthread_t thread;

	register_routine("HELDSS");
	REQUIRE(sem_init(&is_inside, 0, 0) == 0 && sem_init(&may_go_on, 0, 0) == 0);
	REQUIRE(DEFINE(.name = "HELD", .startnam = "HELDSS") == CTRACE_RC_OK);
	answer = stay_inside;
	REQUIRE(pthread_create(&thread, NULL, switch_held_on, NULL) == 0);
	while (sem_wait(&is_inside) != 0)
		;
	REQUIRE(DEFINE(.name = "FREE", .startnam = "HELDSS", .minops = "LEAST") == CTRACE_RC_OK);
	REQUIRE(TURN("FREE", NULL, CTRACE_CT_ON) == CTRACE_RC_OK &&
		shown("FREE", NULL)->mode == ON);
	REQUIRE(DELETE(.name = "FREE") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "HELD", .startnam = "HELDSS") == CTRACE_RC_EXISTS);
	/* the routine has not agreed yet */
	REQUIRE(is_known("HELD", NULL) && !records("HELD", NULL));
	REQUIRE(sem_post(&may_go_on) == 0);
	REQUIRE(pthread_join(thread, NULL) == 0);
	REQUIRE(records("HELD", NULL));
}

static const struct test_row rows[] = {
	TEST(of_many_defines_of_one_name_one_wins),
	TEST(a_routine_may_define_a_sublevel_and_trace),
	TEST(a_routine_that_takes_its_time_holds_nobody_else_up),
};

int main(void)
{
	return traces_run(rows, sizeof rows / sizeof rows[0], NULL, 0);
}
