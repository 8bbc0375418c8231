/*
 * cobol_bridge.c - calls a COBOL callback so that it gets all its parameters.  The module cobol.so.
 *
 * A GnuCOBOL program or ENTRY takes the number of its arguments from the last CALL that the runtime has seen, and sees the rest as
 * NULL.  A callback is called from C, in the middle of a CALL with fewer arguments; so the count is set here and put back.
 *
 * The field's place is libcob's affair (common.h), hence a module of its own, built where libcob's header is and loaded only into
 * processes that have libcob.  Runs on the thread that the COBOL program runs on, inside its CBL_CTF_* call.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ctf/ctf.h"

#include <dlfcn.h>
#include <libcob.h>

#define ARGUMENTS 3 /* handle, type, parameter */

typedef int callback_function(uint32_t handle, uint32_t type, void *parameter);

/* NULL when the runtime is not initialised: then there is no COBOL on the stack, and libcob would end the process if asked. */
static cob_global *runtime_state(void)
{
	int (*is_initialized)(void) = (int (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "cob_is_initialized");
	cob_global *(*get)(void) = (cob_global * (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "cob_get_global_ptr");

	return is_initialized != NULL && get != NULL && is_initialized() ? get() : NULL;
}

__attribute__((visibility("default"))) ct_cobol_call_function ct_cobol_call;

void ct_cobol_call(void *callback, uint32_t handle, uint32_t type, void *parameter)
{
	cob_global *state = runtime_state();
	int saved = state == NULL ? 0 : state->cob_call_params;

	if (state != NULL)
		state->cob_call_params = ARGUMENTS;
	(void)((callback_function *)(uintptr_t)callback)(handle, type, parameter);
	if (state != NULL)
		state->cob_call_params = saved;
}
