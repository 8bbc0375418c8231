/*
 * component_fixture.h - what the tests of component trace share: each in a traced process of its
 * own, commands in short form, and a routine that notes its calls.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_COMPONENT_FIXTURE_H
#define CT_COMPONENT_FIXTURE_H

#include "../process/process_fixture.h"

#include "lib/component/component.h"

/* A test that is a body and nothing around it, run in a child that may be traced.  The default
 * level is debug: what a trace does not record, it does not record because it is off. */
static UNUSED void try_in_child(void **state)
{
	void (*body)(void) = (void (*)(void))(uintptr_t)*state;

	assert_int_equal(run_traced(body), 0);
}
#define IN_CHILD(body) \
	{ \
		.name = #body, .test_func = try_in_child, .setup_func = component_setup, \
		.teardown_func = component_teardown, .initial_state = (void *)(uintptr_t)(body) \
	}

/* As fixture_setup(), with a parmlib that is empty; the body stays in *state. */
static UNUSED int component_setup(void **state)
{
	char path[200];

	if (fixture_setup(state) != 0)
		return 1;
	(void)snprintf(path, sizeof path, "%s/parmlib", room);
	return mkdir(path, 0755) != 0 || setenv("CTRACE_PARMLIB", path, 1) != 0 ||
	       setenv("CTRACE_JOBNAME", "OURJOB", 1) != 0;
}

static UNUSED int component_teardown(void **state)
{
	return unsetenv("CTRACE_PARMLIB") != 0 || unsetenv("CTRACE_LINKLIST") != 0 ||
	       unsetenv("CTRACE_JOBNAME") != 0 || fixture_teardown(state) != 0;
}

static UNUSED void write_member(const char *member, const char *text)
{
	char path[64];

	(void)snprintf(path, sizeof path, "parmlib/%s", member);
	put_file(path, text, strlen(text));
}

static UNUSED void attach(void)
{
	CHILD_CHECK(ct_process_attach() != NULL);
}

/* ---- commands ---- */

static UNUSED __thread struct ctrace_outcome outcome; /* of this thread's last command */

#define DEFINE(...) \
	ctrace_component_define(&(struct ctrace_define){ CTRACE_DEFINE_INIT, __VA_ARGS__ }, \
				&outcome)
#define DELETE(...) \
	ctrace_component_delete(&(struct ctrace_delete){ CTRACE_DELETE_INIT, __VA_ARGS__ }, \
				&outcome)
#define TRACE_CT(...) \
	ctrace_trace_ct(&(struct ctrace_trace_ct){ CTRACE_TRACE_CT_INIT, __VA_ARGS__ }, &outcome)
#define HEAD_KEYWORDS .head = CTRACE_YES, .headopts = CTRACE_YES

/* DEFINE(...) == CTRACE_RC_REFUSED && reason() == ... */
static UNUSED uint32_t reason(void)
{
	return CTRACE_REASON(outcome.rsncode);
}

/* Of a trace that there is. */
static UNUSED const struct ctrace_display *shown(const char *name, const char *sub)
{
	static __thread struct ctrace_display display;

	memset(&display, 0xA5, sizeof display);
	display.size = sizeof display;
	CHILD_CHECK(ctrace_component_display(name, sub, &display) == CTRACE_OK);
	return &display;
}

static UNUSED bool is_known(const char *name, const char *sub)
{
	struct ctrace_tracer *found;

	return ctrace_component_tracer(name, sub, &found) == CTRACE_OK;
}

/* The trace itself; its component's name is NAME.SUB. */
static UNUSED struct ct_trace *trace_of(const char *name)
{
	struct ct_trace *trace;
	uint32_t component;

	CHILD_CHECK(ct_registry_find_any(ct_process.registry, name, strlen(name), &component) ==
		    CTRACE_OK);
	ct_table_lock();
	trace = ct_table_find(component);
	ct_table_unlock();
	CHILD_CHECK(trace != NULL);
	return trace;
}

static UNUSED uint32_t threshold_of(const char *name)
{
	return __atomic_load_n(&ct_registry_entry(ct_process.registry, trace_of(name)->component)
					->level_word.level,
			       __ATOMIC_RELAXED);
}

/* ---- the routine ---- */

static struct ctrace_ctss calls[64]; /* the first ones since reset_calls() */
static unsigned call_count;
/* What the routine does and answers; NULL: 0. */
static ctrace_routine *answer;

static UNUSED uint32_t noting_routine(struct ctrace_ctss *ctss)
{
	unsigned number = __atomic_fetch_add(&call_count, 1, __ATOMIC_RELAXED);

	CHILD_CHECK(ct_thread_locked == 0);
	if (number < CT_COUNT(calls))
		calls[number] = *ctss;
	return answer != NULL ? answer(ctss) : 0;
}

static UNUSED void register_routine(const char *name)
{
	CHILD_CHECK(ctrace_routine_register(name, noting_routine) == CTRACE_OK);
}

static UNUSED void reset_calls(void)
{
	call_count = 0;
}

/* Does a field that is padded with blanks hold this text? */
static UNUSED bool holds(const char *field, size_t size, const char *text)
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

/* Was call `number` for NAME, and its last SUB name or NULL, with these flags and this mode? */
static UNUSED bool was_called(unsigned number, const char *name, const char *last_sub,
			      uint32_t flags, uint32_t mode)
{
	const struct ctrace_ctss *ctss = &calls[number];

	if (number >= call_count || !HOLDS(ctss->name, name) || ctss->flags != flags ||
	    ctss->mode != mode)
		return false;
	return last_sub == NULL
		       ? ctss->sub_count == 0
		       : ctss->sub_count > 0 && HOLDS(ctss->sub[ctss->sub_count - 1], last_sub);
}

#define START CTRACE_CTSS_START
#define STOP CTRACE_CTSS_STOP

#endif
