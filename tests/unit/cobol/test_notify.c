/*
 * test_notify.c - callbacks: when, on which thread, with what; and what they may do themselves.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"
#include "ctf_fixture.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define NUL (CTF_FLAG_COMPID_STRING | CTF_FLAG_COMP_NAME_NULL_TERM)
#define TEXT CTF_FLAG_COMPID_STRING

/* What the last callback was given. */
static struct {
	unsigned calls;
	cobuns32_t handle, type, level;
	cobuns32_t flags, valint;
	char name[300], value[300];
	pthread_t thread;
} reported;

static void reset(void)
{
	memset(&reported, 0, sizeof(reported));
}

static void note(cobuns32_t handle, cobuns32_t type)
{
	reported.calls++;
	reported.handle = handle;
	reported.type = type;
	reported.thread = pthread_self();
}

static void on_change(cobuns32_t handle, cobuns32_t type, void *info)
{
	const NOTIF_PROP_CHANGE *change = info;

	note(handle, type);
	if (type == TRACER_NOTIF_TYPE_LEVEL_CHANGE) {
		reported.level = *(const cbl_x4_comp5_t *)info;
		return;
	}
	assert_int_equal(change->version, 0);
	reported.flags = change->flags;
	reported.valint = change->valint;
	memcpy(reported.name, change->name, change->namelen);
	memcpy(reported.value, change->value, change->vallen);
}

/* The same from the group that a COBOL callback is given. */
static void on_packed_change(cobuns32_t handle, cobuns32_t type, void *info)
{
	const unsigned char *group = info;
	uint32_t words[5];
	const char *pointers[2];

	note(handle, type);
	memcpy(words, group, type == TRACER_NOTIF_TYPE_LEVEL_CHANGE ? 4 : 20);
	reported.level = words[0];
	if (type == TRACER_NOTIF_TYPE_LEVEL_CHANGE)
		return;
	memcpy(pointers, group + 20, 16);
	reported.flags = words[1];
	reported.valint = words[4];
	memcpy(reported.name, pointers[0], words[2]);
	memcpy(reported.value, pointers[1], words[3]);
}

static NOTIF_INSTALL block_of(cbl_x4_comp5_t handle, TRACER_NOTIF_CALLBACK *callback)
{
	return (NOTIF_INSTALL){ 0, handle, callback };
}

static NOTIF_INSTALL install_c(const char *name, TRACER_NOTIF_CALLBACK *callback)
{
	NOTIF_INSTALL block = block_of(tracer(name), callback);

	assert_int_equal(cobctf_tracer_notify(TRACER_NOTIF_INSTALL, &block), CTF_RET_SUCCESS);
	reset();
	return block;
}

static NOTIF_INSTALL install_cobol(const char *name, TRACER_NOTIF_CALLBACK *callback)
{
	NOTIF_INSTALL block = block_of(tracer(name), callback);

	assert_int_equal(CBL_CTF_TRACER_NOTIFY(TRACER_NOTIF_INSTALL, &block), CTF_RET_SUCCESS);
	reset();
	return block;
}

static void uninstall(NOTIF_INSTALL block)
{
	assert_int_equal(cobctf_tracer_notify(TRACER_NOTIF_UNINSTALL, &block), CTF_RET_SUCCESS);
}

static void set_level(const char *name, cobuns32_t level)
{
	assert_int_equal(CBL_CTF_LEVEL(NUL, level, BYTES(name)), CTF_RET_SUCCESS);
}

static void any_call(void)
{
	cbl_x4_comp5_t level;

	assert_int_equal(CBL_CTF_TRACER_LEVEL_GET(0, NULL, &level), CTF_RET_SUCCESS);
}

/* ---- statuses ---- */

static void installing_is_refused(void **state)
{
	NOTIF_INSTALL block = block_of(tracer("inst"), on_change),
		      wrong = block_of(12345, on_change), none = block_of(block.handle, NULL);

	(void)state;
	assert_int_equal(cobctf_tracer_notify(TRACER_NOTIF_INSTALL, &wrong),
			 CTF_RET_INVALID_TRACE_HANDLE);
	assert_int_equal(CBL_CTF_TRACER_NOTIFY(TRACER_NOTIF_UNINSTALL, &wrong),
			 CTF_RET_INVALID_TRACE_HANDLE);
	assert_int_equal(CBL_CTF_TRACE_NOTIFY(TRACER_NOTIF_INSTALL, &none), CTF_RET_FAILURE);
	assert_int_equal(CBL_CTF_TRACER_NOTIFY(TRACER_NOTIF_INSTALL, NULL), CTF_RET_FAILURE);
	assert_int_equal(cobctf_tracer_notify(2, &block), CTF_RET_FAILURE);
	assert_int_equal(cobctf_tracer_notify(TRACER_NOTIF_UNINSTALL, &block), CTF_RET_FAILURE);
	assert_int_equal(cobctf_tracer_notify(TRACER_NOTIF_INSTALL, &block), CTF_RET_SUCCESS);
	/* and is installed once */
	assert_int_equal(cobctf_tracer_notify(TRACER_NOTIF_INSTALL, &block), CTF_RET_SUCCESS);
	assert_int_equal(CBL_CTF_TRACER_NOTIFY(TRACER_NOTIF_INSTALL, &block), CTF_RET_FAILURE);
	assert_int_equal(
		CBL_CTF_TRACE_NOTIFY(TRACER_NOTIF_UNINSTALL, at_page_end(&block, sizeof(block))),
		CTF_RET_SUCCESS);
	assert_int_equal(cobctf_tracer_notify(TRACER_NOTIF_UNINSTALL, &block), CTF_RET_FAILURE);
}

static void module_of_a_callback_stays_loaded(void **state)
{
	/* some library that nobody has loaded yet */
	static const char library[] = "libresolv.so.2";
	void *module = dlopen(library, RTLD_LAZY);
	void *again;

	(void)state;
	assert_non_null(module);
	ct_cobol_hold_module(dlsym(module, "ns_get16"));
	ct_cobol_hold_module(&library); /* the program's own code needs nothing */
	assert_int_equal(dlclose(module), 0);
	again = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	assert_non_null(again);
	assert_int_equal(dlclose(again), 0);
}

/* ---- what is told ---- */

static void level_is_reported_whoever_in_the_tree_was_set(void **state)
{
	NOTIF_INSTALL block = install_c("tree.a.b", on_change);

	(void)state;
	/* the default */
	assert_int_equal(CBL_CTF_LEVEL(0, CTF_FLAG_LEVEL_FATAL, NULL), CTF_RET_SUCCESS);
	assert_int_equal(reported.calls, 1);
	assert_int_equal(reported.handle, block.handle);
	assert_int_equal(reported.type, TRACER_NOTIF_TYPE_LEVEL_CHANGE);
	assert_int_equal(reported.level, CTF_FLAG_LEVEL_FATAL);
	set_level("tree", CTF_FLAG_LEVEL_ERROR); /* a parent */
	assert_int_equal(reported.calls, 2);
	assert_int_equal(reported.level, CTF_FLAG_LEVEL_ERROR);
	set_level("tree.a.b", CTF_LEVEL_NONE); /* its own */
	assert_int_equal(reported.calls, 3);
	assert_int_equal(reported.level, CTF_LEVEL_NONE);
	set_level("tree", CTF_FLAG_LEVEL_DEBUG); /* changes nothing for it */
	set_level("tree.a.b", CTF_LEVEL_NONE);
	set_level("tree.a.b.c", CTF_FLAG_LEVEL_INFO);
	assert_int_equal(reported.calls, 3);
	uninstall(block);
	set_level("tree.a.b", CTF_FLAG_LEVEL_INFO);
	assert_int_equal(reported.calls, 3);
}

static void set_property(const char *property, const char *value)
{
	assert_int_equal(CBL_CTF_COMP_PROPERTY_SET(NUL | CTF_FLAG_PROP_NAME_NULL_TERM |
							   CTF_FLAG_PROP_VALUE_NULL_TERM,
						   BYTES("pc"), BYTES(property), value),
			 CTF_RET_SUCCESS);
}

static void property_is_reported_in_the_form_of_its_callback(void **state)
{
	NOTIF_INSTALL c = install_c("pc", on_change), cobol;

	(void)state;
	set_property("Glyph Shaping", "ON");
	assert_int_equal(reported.calls, 1);
	assert_int_equal(reported.type, TRACER_NOTIF_TYPE_PROP_CHANGE);
	assert_string_equal(reported.name, "Glyph Shaping"); /* the setter's spelling */
	assert_string_equal(reported.value, "ON");
	assert_int_equal(reported.valint, 1);
	assert_int_equal(reported.flags, 0);
	set_property("size", "0x10");
	assert_int_equal(reported.valint, 16);
	assert_int_equal(reported.flags, CTF_FLAG_PROP_INT_VALUE);
	uninstall(c);
	cobol = install_cobol("pc", on_packed_change);
	set_property("SIZE", "17");
	assert_int_equal(reported.calls, 1);
	assert_int_equal(reported.type, TRACER_NOTIF_TYPE_PROP_CHANGE);
	assert_string_equal(reported.name, "SIZE");
	assert_string_equal(reported.value, "17");
	assert_int_equal(reported.valint, 17);
	assert_int_equal(reported.flags, CTF_FLAG_PROP_INT_VALUE);
	uninstall(cobol);
}

/* What the registry passes of a change that its caller made under no lock. */
static void a_change_is_for_the_callbacks_of_its_component(void **state)
{
	NOTIF_INSTALL block = install_c("one", on_change), other = install_c("two", on_change);
	struct ct_change change = { .kind = CT_CHANGE_LEVEL, .level = CTRACE_FATAL };

	(void)state;
	assert_int_equal(ct_registry_find(ct_process.registry, "one", 3, &change.component),
			 CTRACE_OK);
	ct_notify_change(&change, NULL);
	assert_int_equal(reported.calls, 1);
	assert_int_equal(reported.handle, block.handle);
	assert_int_equal(reported.level, CTRACE_FATAL);
	change = (struct ct_change){ .kind = CT_CHANGE_PROPERTY,
				     .component = change.component,
				     .property = "Size",
				     .property_size = 4,
				     .value = "12",
				     .value_size = 2,
				     .number = 12 };
	ct_notify_change(&change, NULL);
	assert_int_equal(reported.calls, 2);
	assert_string_equal(reported.name, "Size");
	assert_int_equal(reported.valint, 12);
	uninstall(block);
	ct_notify_change(&change, NULL);
	assert_int_equal(reported.calls, 2);
	uninstall(other);
}

/* ---- on which thread ---- */

static void *change_elsewhere(void *unused)
{
	(void)unused;
	set_level("thr", CTF_FLAG_LEVEL_WARN);
	set_level("thr", CTF_FLAG_LEVEL_ERROR);
	return NULL;
}

static void c_callback_runs_where_the_change_is_made(void **state)
{
	NOTIF_INSTALL block = install_c("thr", on_change);
	pthread_t other;

	(void)state;
	set_level("thr", CTF_FLAG_LEVEL_DEBUG);
	assert_true(pthread_equal(reported.thread, pthread_self()));
	assert_int_equal(pthread_create(&other, NULL, change_elsewhere, NULL), 0);
	assert_int_equal(pthread_join(other, NULL), 0);
	assert_int_equal(reported.calls, 3);
	assert_true(pthread_equal(reported.thread, other));
	assert_int_equal(reported.level, CTF_FLAG_LEVEL_ERROR);
	/* And in a change through the native face. */
	assert_int_equal(ctrace_level_set("thr", CTRACE_INFO), CTRACE_OK);
	assert_int_equal(reported.calls, 4);
	uninstall(block);
}

static void cobol_callback_waits_for_its_thread(void **state)
{
	NOTIF_INSTALL block = install_cobol("thr", on_packed_change);
	pthread_t other;

	(void)state;
	set_level("thr", CTF_FLAG_LEVEL_DEBUG); /* by itself: at once */
	assert_int_equal(reported.calls, 1);
	assert_int_equal(pthread_create(&other, NULL, change_elsewhere, NULL), 0);
	assert_int_equal(pthread_join(other, NULL), 0);
	assert_int_equal(reported.calls, 1);
	any_call();
	assert_int_equal(reported.calls, 2); /* two changes of one level are one */
	assert_int_equal(reported.level, CTF_FLAG_LEVEL_ERROR);
	assert_true(pthread_equal(reported.thread, pthread_self()));
	/* not in a CBL_CTF_* call */
	assert_int_equal(ctrace_level_set("thr", CTRACE_INFO), CTRACE_OK);
	assert_int_equal(reported.calls, 2);
	any_call();
	assert_int_equal(reported.calls, 3);
	any_call();
	assert_int_equal(reported.calls, 3);
	uninstall(block);
}

static void trace_call_delivers_too(void **state)
{
	NOTIF_INSTALL block = install_cobol("thr", on_packed_change);
	TRACE_EVENT event = { .level = CTF_FLAG_LEVEL_DEBUG };

	(void)state;
	assert_int_equal(ctrace_level_set("thr", CTRACE_FATAL), CTRACE_OK);
	errno = 4711;
	assert_int_equal(cobctf_trace(NUL, BYTES("thr"), &event), CTF_RET_NOT_TRACING_LEVEL);
	assert_int_equal(reported.calls, 1);
	assert_int_equal(reported.level, CTF_FLAG_LEVEL_FATAL);
	assert_int_equal(errno, 4711);
	uninstall(block);
}

static void waiting_changes_are_bounded(void **state)
{
	NOTIF_INSTALL block = install_cobol("many", on_packed_change);
	char name[20];

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof(name), "property.%u", i);
		assert_int_equal(ctrace_component_property_set("many", name, "1"), CTRACE_OK);
	}
	assert_int_equal(reported.calls, 0);
	any_call();
	assert_int_equal(reported.calls, 64);
	uninstall(block);
}

static void uninstalled_callback_is_not_reported_what_waited(void **state)
{
	NOTIF_INSTALL block = install_cobol("late", on_packed_change);

	(void)state;
	assert_int_equal(ctrace_component_property_set("late", "p", "1"), CTRACE_OK);
	reset();
	block.callback = on_packed_change;
	/* This call delivers first, then uninstalls. */
	assert_int_equal(CBL_CTF_TRACER_NOTIFY(TRACER_NOTIF_UNINSTALL, &block), CTF_RET_SUCCESS);
	assert_int_equal(reported.calls, 1);
	assert_int_equal(ctrace_component_property_set("late", "p", "2"), CTRACE_OK);
	any_call();
	assert_int_equal(reported.calls, 1);
	assert_int_equal(__atomic_load_n(&ct_notify_waiting, __ATOMIC_RELAXED), 0);
}

/* ---- what a callback may do ---- */

static void uninstalls_itself(cobuns32_t handle, cobuns32_t type, void *info)
{
	NOTIF_INSTALL block = block_of(handle, uninstalls_itself);

	(void)info;
	note(handle, type);
	assert_int_equal(cobctf_tracer_notify(TRACER_NOTIF_UNINSTALL, &block), CTF_RET_SUCCESS);
	assert_int_equal(cobctf_tracer_notify(TRACER_NOTIF_UNINSTALL, &block), CTF_RET_FAILURE);
}

static void callback_may_uninstall_itself(void **state)
{
	(void)state;
	(void)install_c("self", uninstalls_itself);
	set_level("self", CTF_FLAG_LEVEL_DEBUG);
	set_level("self", CTF_FLAG_LEVEL_ERROR);
	assert_int_equal(reported.calls, 1);
	(void)install_cobol("self", uninstalls_itself);
	set_level("self", CTF_FLAG_LEVEL_DEBUG);
	set_level("self", CTF_FLAG_LEVEL_ERROR);
	assert_int_equal(reported.calls, 1);
}

static unsigned depth, deepest;

/* For ever, if it were not bounded. */
static void changes_its_own_level(cobuns32_t handle, cobuns32_t type, void *info)
{
	(void)info;
	note(handle, type);
	depth++;
	if (depth > deepest)
		deepest = depth;
	set_level("loop", reported.calls % 2 == 0 ? CTF_FLAG_LEVEL_DEBUG : CTF_FLAG_LEVEL_ERROR);
	depth--;
}

static void callback_that_changes_what_it_hears_of_is_bounded(void **state)
{
	NOTIF_INSTALL block = install_c("loop", changes_its_own_level);

	(void)state;
	set_level("loop", CTF_FLAG_LEVEL_INFO);
	assert_int_equal(deepest, 1);
	assert_true(reported.calls > 1);
	assert_true(reported.calls <= 256);
	uninstall(block);
	block = install_cobol("loop", changes_its_own_level);
	set_level("loop", CTF_FLAG_LEVEL_WARN);
	assert_int_equal(deepest, 1);
	assert_true(reported.calls > 1);
	assert_true(reported.calls <= 1024);
	uninstall(block);
}

static atomic_int inside, go_on;

static void waits_inside(cobuns32_t handle, cobuns32_t type, void *info)
{
	(void)info;
	note(handle, type);
	atomic_store(&inside, 1);
	while (atomic_load(&go_on) == 0)
		sched_yield();
	atomic_store(&inside, 2);
}

static void *change_wait(void *unused)
{
	set_level("wait", CTF_FLAG_LEVEL_ERROR);
	return unused;
}

static void *let_it_go_on(void *unused)
{
	for (int i = 0; i < 1000; i++)
		sched_yield();
	atomic_store(&go_on, 1);
	return unused;
}

static void uninstalling_waits_for_a_call_that_runs(void **state)
{
	NOTIF_INSTALL block = install_c("wait", waits_inside);
	pthread_t changer, helper;

	(void)state;
	assert_int_equal(pthread_create(&changer, NULL, change_wait, NULL), 0);
	while (atomic_load(&inside) == 0)
		sched_yield();
	assert_int_equal(pthread_create(&helper, NULL, let_it_go_on, NULL), 0);
	uninstall(block);
	assert_int_equal(atomic_load(&inside), 2);
	pthread_join(helper, NULL);
	pthread_join(changer, NULL);
}

static pthread_mutex_t programs_lock = PTHREAD_MUTEX_INITIALIZER;

static void takes_the_programs_lock(cobuns32_t handle, cobuns32_t type, void *info)
{
	(void)info;
	note(handle, type);
	atomic_store(&inside, 1);
	pthread_mutex_lock(&programs_lock);
	pthread_mutex_unlock(&programs_lock);
}

/* The thread with the lock that the callback takes gives up, and goes on; the callback is still
 * installed. */
static void uninstalling_does_not_wait_for_ever(void **state)
{
	NOTIF_INSTALL block = install_c("wait", takes_the_programs_lock);
	uint64_t limit_ns = ct_notify_limit_ns;
	pthread_t changer;

	(void)state;
	atomic_store(&inside, 0);
	ct_notify_limit_ns = 1000000;
	set_level("wait", CTF_FLAG_LEVEL_DEBUG);
	reset();
	atomic_store(&inside, 0);
	pthread_mutex_lock(&programs_lock);
	assert_int_equal(pthread_create(&changer, NULL, change_wait, NULL), 0);
	while (atomic_load(&inside) == 0)
		sched_yield();
	assert_int_equal(cobctf_tracer_notify(TRACER_NOTIF_UNINSTALL, &block), CTF_RET_FAILURE);
	pthread_mutex_unlock(&programs_lock);
	pthread_join(changer, NULL);
	ct_notify_limit_ns = limit_ns;
	set_level("wait", CTF_FLAG_LEVEL_FATAL);
	assert_int_equal(reported.calls, 2);
	uninstall(block);
	set_level("wait", CTF_FLAG_LEVEL_DEBUG);
	assert_int_equal(reported.calls, 2);
}

/* ---- fork ---- */

static void forked_child_is_reported_its_own_changes(void **state)
{
	NOTIF_INSTALL c = install_c("fork", on_change),
		      cobol = install_cobol("fork.cobol", on_packed_change);
	int status = -1;
	pid_t child;

	(void)state;
	child = fork();
	if (child == 0) {
		set_level("fork", CTF_FLAG_LEVEL_ERROR);
		set_level("fork.cobol", CTF_FLAG_LEVEL_WARN);
		/* 1 for "fork", 1 for its child that inherits, 1 for its own level */
		_exit(reported.calls == 3 && reported.level == CTF_FLAG_LEVEL_WARN
			      ? 0
			      : (int)reported.calls + 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(reported.calls, 0);
	uninstall(c);
	uninstall(cobol);
}

/* The call never returns in the child, which does not have its thread. */
static void forked_child_does_not_wait_for_other_threads_calls(void **state)
{
	NOTIF_INSTALL block = install_c("wait", waits_inside);
	int status = -1;
	pthread_t changer;
	pid_t child;

	(void)state;
	atomic_store(&inside, 0);
	atomic_store(&go_on, 0);
	assert_int_equal(pthread_create(&changer, NULL, change_wait, NULL), 0);
	while (atomic_load(&inside) == 0)
		sched_yield();
	child = fork();
	if (child == 0) {
		ct_notify_limit_ns = 1000000;
		_exit(cobctf_tracer_notify(TRACER_NOTIF_UNINSTALL, &block) == CTF_RET_SUCCESS ? 0
											      : 1);
	}
	atomic_store(&go_on, 1);
	pthread_join(changer, NULL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	uninstall(block);
}

int test_notify(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(installing_is_refused),
		cmocka_unit_test(module_of_a_callback_stays_loaded),
		cmocka_unit_test(level_is_reported_whoever_in_the_tree_was_set),
		cmocka_unit_test(property_is_reported_in_the_form_of_its_callback),
		cmocka_unit_test(a_change_is_for_the_callbacks_of_its_component),
		cmocka_unit_test(c_callback_runs_where_the_change_is_made),
		cmocka_unit_test(cobol_callback_waits_for_its_thread),
		cmocka_unit_test(trace_call_delivers_too),
		cmocka_unit_test(waiting_changes_are_bounded),
		cmocka_unit_test(uninstalled_callback_is_not_reported_what_waited),
		cmocka_unit_test(callback_may_uninstall_itself),
		cmocka_unit_test(callback_that_changes_what_it_hears_of_is_bounded),
		cmocka_unit_test(uninstalling_waits_for_a_call_that_runs),
		cmocka_unit_test(uninstalling_does_not_wait_for_ever),
		cmocka_unit_test(forked_child_is_reported_its_own_changes),
		cmocka_unit_test(forked_child_does_not_wait_for_other_threads_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
