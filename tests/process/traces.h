/*
 * traces.h - what the tests of component trace share: members of a parmlib, a routine that notes
 * its calls, commands in short form.
 *
 * All of it runs in the child of a scenario, but for traces_begin() and traces_end().
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRACES_H
#define TRACES_H

#include "scenario.h"

#include <ctrace/component.h>
#include <pthread.h>
#include <sys/stat.h>

#define JOBNAME "OURJOB"
#define CALLS_LIMIT 64u

/* Unless a test says otherwise the default level is debug: what a trace does not record, it does
 * not record because it is off. */
__attribute__((unused)) static void traces_begin(const char *config)
{
	char path[300];

	scenario_begin(config);
	assert_int_equal(mkdir("parmlib", 0755), 0);
	(void)snprintf(path, sizeof path, "%s/parmlib", scenario_directory);
	assert_int_equal(setenv("CTRACE_PARMLIB", path, 1), 0);
	assert_int_equal(setenv("CTRACE_JOBNAME", JOBNAME, 1), 0);
}

__attribute__((unused)) static void traces_end(void)
{
	assert_int_equal(unsetenv("CTRACE_PARMLIB"), 0);
	assert_int_equal(unsetenv("CTRACE_LINKLIST"), 0);
	scenario_end();
}

__attribute__((unused)) static void write_member(const char *member, const char *text)
{
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof path, "parmlib/%s", member);
	file = fopen(path, "w");
	REQUIRE(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* ---- commands ---- */

static __thread struct ctrace_outcome outcome; /* of this thread's last command */

#define DEFINE(...) \
	ctrace_component_define(&(struct ctrace_define){ CTRACE_DEFINE_INIT, __VA_ARGS__ }, \
				&outcome)
#define DELETE(...) \
	ctrace_component_delete(&(struct ctrace_delete){ CTRACE_DELETE_INIT, __VA_ARGS__ }, \
				&outcome)
#define TRACE_CT(...) \
	ctrace_trace_ct(&(struct ctrace_trace_ct){ CTRACE_TRACE_CT_INIT, __VA_ARGS__ }, &outcome)

/* DEFINE(...) == CTRACE_RC_REFUSED && reason() == ... */
__attribute__((unused)) static uint32_t reason(void)
{
	return CTRACE_REASON(outcome.rsncode);
}

/* Of a trace that there is. */
__attribute__((unused)) static const struct ctrace_display *shown(const char *name, const char *sub)
{
	static __thread struct ctrace_display display;

	memset(&display, 0xA5, sizeof display);
	display.size = sizeof display;
	REQUIRE(ctrace_component_display(name, sub, &display) == CTRACE_OK);
	return &display;
}

__attribute__((unused)) static bool is_known(const char *name, const char *sub)
{
	struct ctrace_tracer *tracer;
	enum ctrace_status status = ctrace_component_tracer(name, sub, &tracer);

	REQUIRE(status == CTRACE_OK || status == CTRACE_NOT_FOUND);
	return status == CTRACE_OK;
}

/* Would it record an entry now? */
__attribute__((unused)) static bool records(const char *name, const char *sub)
{
	struct ctrace_tracer *tracer;

	REQUIRE(ctrace_component_tracer(name, sub, &tracer) == CTRACE_OK);
	return ctrace_enabled(tracer, CTRACE_INFO);
}

__attribute__((unused)) static uint64_t events_emitted(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };

	ctrace_stats_get(&stats);
	return stats.emitted;
}

/* Nobody else is in the scenario's run directory: the last number that was handed out is ours. */
__attribute__((unused)) static uint32_t own_asid(void)
{
	uint32_t asid = 0;
	FILE *file = fopen("run/asid", "r");

	REQUIRE(file != NULL && fread(&asid, sizeof asid, 1, file) == 1 && fclose(file) == 0);
	return asid;
}

/* ---- the routine ---- */

struct call {
	char trace[160]; /* NAME.SUB.SUB */
	struct ctrace_ctss ctss;
};
static struct call calls[CALLS_LIMIT]; /* the first ones since reset_calls() */
static unsigned call_count;
static pthread_mutex_t calls_lock = PTHREAD_MUTEX_INITIALIZER;
/* What the routine does and answers; NULL: 0. */
static ctrace_routine *answer;

/* Does a field that is padded with blanks hold this text? */
__attribute__((unused)) static bool holds(const char *field, size_t size, const char *text)
{
	size_t used = strlen(text);

	if (used > size || memcmp(field, text, used) != 0)
		return false;
	for (size_t i = used; i < size; i++)
		if (field[i] != ' ')
			return false;
	return true;
}
#define HOLDS(field, text) holds((field), sizeof(field), (text))

static void add_field(char *text, const char *field, size_t size)
{
	while (size > 0 && field[size - 1] == ' ')
		size--;
	(void)strncat(text, field, size);
}

static void name_trace(const struct ctrace_ctss *ctss, char *text)
{
	text[0] = '\0';
	add_field(text, ctss->name, sizeof ctss->name);
	REQUIRE(ctss->sub_count <= CTRACE_MAX_SUB_LEVELS);
	for (uint32_t i = 0; i < ctss->sub_count; i++) {
		(void)strcat(text, ".");
		add_field(text, ctss->sub[i], sizeof ctss->sub[i]);
	}
}

/* The routine behind every STARTNAM that register_routine() makes known. */
__attribute__((unused)) static uint32_t noting_routine(struct ctrace_ctss *ctss)
{
	unsigned number;

	REQUIRE(ctss->size == sizeof *ctss);
	(void)pthread_mutex_lock(&calls_lock);
	number = call_count++;
	if (number < CALLS_LIMIT) {
		calls[number].ctss = *ctss;
		name_trace(ctss, calls[number].trace);
	}
	(void)pthread_mutex_unlock(&calls_lock);
	return answer != NULL ? answer(ctss) : 0;
}

__attribute__((unused)) static void register_routine(const char *name)
{
	REQUIRE(ctrace_routine_register(name, noting_routine) == CTRACE_OK);
}

__attribute__((unused)) static void reset_calls(void)
{
	call_count = 0;
}

__attribute__((unused)) static bool was_called(unsigned number, const char *trace, uint32_t flags,
					       uint32_t mode)
{
	const struct call *call = &calls[number];
	bool is_so = number < call_count && strcmp(call->trace, trace) == 0 &&
		     call->ctss.flags == flags && call->ctss.mode == mode;

	if (!is_so && number < call_count)
		(void)fprintf(stderr, "# call %u was %s, flags %x, mode %u\n", number, call->trace,
			      call->ctss.flags, call->ctss.mode);
	return is_so;
}

__attribute__((unused)) static bool has_options(const struct ctrace_ctss *ctss, const char *options)
{
	return ctss->options_size == strlen(options) &&
	       memcmp(ctss->options, options, ctss->options_size) == 0;
}

/* Called once since reset_calls(), or not at all. */
__attribute__((unused)) static bool only_call(const char *trace, uint32_t flags, uint32_t mode)
{
	bool is_so = call_count == 1 && was_called(0, trace, flags, mode);

	if (call_count != 1)
		(void)fprintf(stderr, "# %u calls\n", call_count);
	reset_calls();
	return is_so;
}
__attribute__((unused)) static bool no_call(void)
{
	bool is_so = call_count == 0;

	reset_calls();
	return is_so;
}

/* ---- a test that is a body and nothing around it ---- */

struct test_row {
	const char *name;
	void (*body)(void);
};
#define TEST(body) \
	{ \
#body, body \
	}

__attribute__((unused)) static void try_test(void **state)
{
	const struct test_row *test = *state;

	traces_begin(LINES_CONFIG);
	scenario_run(test->body);
	traces_end();
}

/* All of a program: the rows, each in a traced process of its own, and tests that see to that
 * themselves. */
__attribute__((unused)) static int traces_run(const struct test_row *rows, size_t row_count,
					      const struct CMUnitTest *alone, size_t alone_count)
{
	struct CMUnitTest tests[64];

	if (row_count + alone_count > sizeof tests / sizeof tests[0])
		return 1;
	for (size_t i = 0; i < alone_count; i++)
		tests[i] = alone[i];
	for (size_t i = 0; i < row_count; i++)
		tests[alone_count + i] =
			(struct CMUnitTest){ .name = rows[i].name,
					     .test_func = try_test,
					     .initial_state = (void *)(uintptr_t)&rows[i] };
	return _cmocka_run_group_tests("tests", tests, alone_count + row_count, NULL, NULL);
}

#define YES CTRACE_YES
#define HEAD_KEYWORDS .head = CTRACE_YES, .headopts = CTRACE_YES
#define TURN(trace, path, what) TRACE_CT(.name = (trace), .sub = (path), .state = (what))
#define START CTRACE_CTSS_START
#define STOP CTRACE_CTSS_STOP
#define OFF CTRACE_MODE_OFF
#define MIN_MODE CTRACE_MODE_MIN
#define ON CTRACE_MODE_ON

#endif
