/*
 * test_cobol_bridge.c - the module cobol.so: sets the COBOL run time's argument count round a
 * callback or routine, and puts it back; finds what COBOL would call.
 *
 * tests/process/cobol.sh has real COBOL programs called back.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"
#include "../cobol/ctf_fixture.h"

#include <dlfcn.h>
#include <libcob.h>

static unsigned calls;
static int parameters;
static uint32_t given_handle, given_type;
static void *given_parameter;
static cob_global *(*runtime_state)(void);

static int on_change(uint32_t handle, uint32_t type, void *parameter)
{
	calls++;
	given_handle = handle;
	given_type = type;
	given_parameter = parameter;
	parameters = runtime_state == NULL ? -1 : runtime_state()->cob_call_params;
	return 0;
}

static int routine(void *parameter)
{
	(void)on_change(0, 0, parameter);
	return -5;
}

static void *bridge(const char *symbol)
{
	char path[4096];
	void *module;
	void *function;

	(void)snprintf(path, sizeof(path), "%s/modules/%s.so", getenv("CTRACE_BUILD"),
		       CT_COBOL_MODULE);
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(module);
	function = dlsym(module, symbol);
	assert_non_null(function);
	return function;
}

static ct_cobol_call_function *load_bridge(void)
{
	return (ct_cobol_call_function *)(uintptr_t)bridge(CT_COBOL_CALL);
}

static ct_cobol_invoke_function *load_invoke(void)
{
	return (ct_cobol_invoke_function *)(uintptr_t)bridge(CT_COBOL_INVOKE);
}

static void calls_back_without_a_cobol_run_time(void **state)
{
	int parameter;

	load_bridge()((void *)(uintptr_t)on_change, 0x1C7, 1, &parameter);
	(void)state;
	assert_int_equal(calls, 1);
	assert_int_equal(given_handle, 0x1C7);
	assert_int_equal(given_type, 1);
	assert_ptr_equal(given_parameter, &parameter);
}

static void invokes_without_a_cobol_run_time(void **state)
{
	int parameter;
	unsigned before = calls;

	(void)state;
	assert_int_equal(load_invoke()((void *)(uintptr_t)routine, &parameter), (uint32_t)-5);
	assert_int_equal(calls, before + 1);
	assert_ptr_equal(given_parameter, &parameter);
}

static void sets_the_argument_count_and_puts_it_back(void **state)
{
	void *libcob = dlopen("libcob.so.4", RTLD_NOW | RTLD_GLOBAL);
	void (*start)(int, char **);

	(void)state;
	if (libcob == NULL)
		skip();
	start = (void (*)(int, char **))(uintptr_t)dlsym(libcob, "cob_init");
	assert_non_null(start);
	/* Loaded, not initialised: its state must not be asked for. */
	load_bridge()((void *)(uintptr_t)on_change, 1, 1, NULL);
	assert_int_equal(calls, 3);
	start(0, NULL);
	runtime_state = (cob_global * (*)(void))(uintptr_t)dlsym(libcob, "cob_get_global_ptr");
	runtime_state()->cob_call_params = 2;
	load_bridge()((void *)(uintptr_t)on_change, 1, 1, NULL);
	assert_int_equal(calls, 4);
	assert_true(parameters >= 3);
	assert_int_equal(runtime_state()->cob_call_params, 2);
	parameters = 0;
	assert_int_equal(load_invoke()((void *)(uintptr_t)routine, NULL), (uint32_t)-5);
	assert_true(parameters >= 3);
	assert_int_equal(runtime_state()->cob_call_params, 2);
}

/* After the run time was started, above. */
static void finds_functions_only(void **state)
{
	ct_cobol_find_function *find = (ct_cobol_find_function *)(uintptr_t)bridge(CT_COBOL_FIND);

	(void)state;
	if (runtime_state == NULL)
		skip();
	assert_ptr_equal(find("cob_init"), dlsym(RTLD_DEFAULT, "cob_init"));
	assert_non_null(dlsym(RTLD_DEFAULT, "environ"));
	assert_null(find("environ")); /* data */
	assert_null(find("APP#SS"));
	assert_null(find(""));
	assert_null(find("a_name_that_no_program_of_COBOL_may_have"));
}

int test_cobol_bridge(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_back_without_a_cobol_run_time),
		cmocka_unit_test(invokes_without_a_cobol_run_time),
		cmocka_unit_test(sets_the_argument_count_and_puts_it_back),
		cmocka_unit_test(finds_functions_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
