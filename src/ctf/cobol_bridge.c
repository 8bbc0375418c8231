/*
 * cobol_bridge.c - calls a COBOL callback so that it gets all its parameters and leaves the run time as it was.  The module cobol.so.
 *
 * A GnuCOBOL program or ENTRY takes the number of its arguments from the last CALL that the run time has seen, and sees the rest as
 * NULL.  A callback is called from C, in the middle of a CALL with fewer arguments; so the count is set here and put back.  It counts
 * the parameters of the program and of all its entries together, so the callback's three may be anywhere among them: the count
 * is the highest that there can be.
 *
 * And an ENTRY of the program that is running enters that program a second time: the run time's list of active programs would
 * then lead from the program to itself, for good, and whoever walks it - the report of a run-time error - would never end.  So a copy
 * stands for the program in the list meanwhile, and afterwards the list is as before.
 *
 * The fields' places are libcob's affair (common.h), hence a module of its own, built where libcob's header is and loaded only into
 * processes that have libcob.  Runs on the thread that the COBOL program runs on, inside its CBL_CTF_* call.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ctf/ctf.h"

#include <dlfcn.h>
#include <libcob.h>

#define ARGUMENTS 192 /* libcob's own limit, which it does not publish */

typedef int callback_function(uint32_t handle, uint32_t type, void *parameter);

__attribute__((visibility("default"))) ct_cobol_call_function ct_cobol_call;

/* NULL when the run time is not initialised: then there is no COBOL on the stack, and libcob would end the process if asked. */
static cob_global *runtime_state(void)
{
	int (*is_initialized)(void) = (int (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "cob_is_initialized");
	cob_global *(*get)(void) = (cob_global * (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "cob_get_global_ptr");

	return is_initialized != NULL && get != NULL && is_initialized() ? get() : NULL;
}

static void call_in_program(cob_global *state, cob_module *program, callback_function *callback, uint32_t handle, uint32_t type,
			    void *parameter)
{
	cob_module stand_in = *program;

	state->cob_current_module = &stand_in;
	(void)callback(handle, type, parameter);
	state->cob_current_module = program;
	program->next = stand_in.next;
	program->module_num_params = stand_in.module_num_params;
}

void ct_cobol_call(void *callback, uint32_t handle, uint32_t type, void *parameter)
{
	callback_function *function = (callback_function *)(uintptr_t)callback;
	cob_global *state = runtime_state();
	int saved;

	if (state == NULL) {
		(void)function(handle, type, parameter);
		return;
	}
	saved = state->cob_call_params;
	state->cob_call_params = ARGUMENTS;
	if (state->cob_current_module != NULL)
		call_in_program(state, state->cob_current_module, function, handle, type, parameter);
	else
		(void)function(handle, type, parameter);
	state->cob_call_params = saved;
}
