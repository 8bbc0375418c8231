/*
 * test_cobol_bridge.c - the module cobol.so: sets the COBOL run time's argument count round a callback, and puts it back.
 *
 * tests/process/cobol.sh has real COBOL programs called back.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ctf/ctf.h"
#include "ctf_fixture.h"

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

static ct_cobol_call_function *load_bridge(void)
{
	char path[4096];
	void *module;
	ct_cobol_call_function *call;

	(void)snprintf(path, sizeof(path), "%s/modules/%s.so", getenv("CTRACE_BUILD"), CT_COBOL_MODULE);
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(module);
	call = (ct_cobol_call_function *)(uintptr_t)dlsym(module, CT_COBOL_CALL);
	assert_non_null(call);
	return call;
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
	assert_int_equal(calls, 2);
	start(0, NULL);
	runtime_state = (cob_global * (*)(void))(uintptr_t)dlsym(libcob, "cob_get_global_ptr");
	runtime_state()->cob_call_params = 2;
	load_bridge()((void *)(uintptr_t)on_change, 1, 1, NULL);
	assert_int_equal(calls, 3);
	assert_true(parameters >= 3);
	assert_int_equal(runtime_state()->cob_call_params, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_back_without_a_cobol_run_time),
		cmocka_unit_test(sets_the_argument_count_and_puts_it_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
