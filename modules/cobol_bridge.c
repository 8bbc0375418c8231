/*
 * cobol_bridge.c - finds COBOL entries, and calls them so that they get all their parameters and
 * leave the run time as it was.  The module cobol.so.
 *
 * A GnuCOBOL program or ENTRY takes the number of its arguments from the last CALL that the run
 * time has seen, and sees the rest as NULL.  C calls a callback in the middle of a CALL with fewer
 * arguments, so the count is set here and restored afterwards.  The count covers the parameters of
 * the program and of all its entries together, and the callback's may be anywhere among them.  So
 * it is set to the highest possible number.
 *
 * An ENTRY of a running program enters that program a second time, whether it is the caller or one
 * further up.  The run time's list of active programs would then lead from the program to itself
 * for good, and the report of a run-time error, which walks the list, would never end.  So copies
 * replace the programs in the list during the call, and afterwards the programs are as before.
 *
 * libcob defines the layout of the fields (common.h).  So this is a separate module, built where
 * libcob's header is and loaded only into processes with libcob.  Runs on the thread of the COBOL
 * program, inside its CBL_CTF_* or CBL_CTRACE_* call; only the search for an entry may run on any
 * thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"

#include <ctype.h>
#include <dlfcn.h>
#include <libcob.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define ARGUMENTS 192 /* libcob's own, unpublished limit */
#define NAME_LIMIT 31

typedef int callback_function(uint32_t handle, uint32_t type, void *parameter);
typedef int routine_function(void *parameter);

/* A call of either kind; with a NULL callback it is a call of the routine. */
struct call {
	callback_function *callback;
	uint32_t handle;
	uint32_t type;
	routine_function *routine;
	void *parameter;
};

__attribute__((visibility("default"))) ct_cobol_call_function ct_cobol_call;
__attribute__((visibility("default"))) ct_cobol_invoke_function ct_cobol_invoke;
__attribute__((visibility("default"))) ct_cobol_find_function ct_cobol_find;

/* Returns NULL when the run time is not initialised: then no COBOL is on the stack, and a call of
 * libcob would end the process. */
static cob_global *runtime_state(void)
{
	int (*is_initialized)(void) =
		(int (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "cob_is_initialized");
	cob_global *(*get)(void) =
		(cob_global * (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "cob_get_global_ptr");

	return is_initialized != NULL && get != NULL && is_initialized() ? get() : NULL;
}

static int call_make(const struct call *call)
{
	if (call->callback != NULL)
		return call->callback(call->handle, call->type, call->parameter);
	return call->routine != NULL ? call->routine(call->parameter) : 0;
}

/* Replaces the program in the list by a copy, and then each of its callers.  Makes the call.
 * Restores the fields that the second entry sets. */
static int call_make_with_copies(cob_module **link, const struct call *call)
{
	cob_module *program = *link;
	cob_module copy;
	cob_module *next;
	int result;

	if (program == NULL)
		return call_make(call);
	copy = *program;
	next = copy.next;
	*link = &copy;
	result = call_make_with_copies(&copy.next, call);
	*link = program;
	program->next = next;
	program->module_num_params = copy.module_num_params;
	/* without this they would be those of the returned call, on the stack */
	program->cob_procedure_params = copy.cob_procedure_params;
	program->module_stmt = copy.module_stmt;
	return result;
}

static int call_make_with_all_parameters(const struct call *call)
{
	cob_global *state = runtime_state();
	int saved;
	int result;

	if (state == NULL)
		return call_make(call);
	saved = state->cob_call_params;
	state->cob_call_params = ARGUMENTS;
	result = call_make_with_copies(&state->cob_current_module, call);
	state->cob_call_params = saved;
	return result;
}

void ct_cobol_call(void *callback, uint32_t handle, uint32_t type, void *parameter)
{
	(void)call_make_with_all_parameters(
		&(struct call){ .callback = (callback_function *)(uintptr_t)callback,
				.handle = handle,
				.type = type,
				.parameter = parameter });
}

uint32_t ct_cobol_invoke(void *routine, void *parameter)
{
	return (uint32_t)call_make_with_all_parameters(&(struct call){
		.routine = (routine_function *)(uintptr_t)routine, .parameter = parameter });
}

/* Prints the linker's name of an entry, as cobc makes it: a character that C does not allow becomes
 * _ and two digits. */
static bool print_symbol(char out[3 * NAME_LIMIT + 1], const char *name)
{
	size_t size = strlen(name);

	if (size == 0 || size > NAME_LIMIT)
		return false;
	for (; *name != '\0'; name++) {
		if (isalnum((unsigned char)*name) || *name == '_')
			*out++ = *name;
		else
			out += snprintf(out, 4, "_%02X", (unsigned)(unsigned char)*name);
	}
	*out = '\0';
	return true;
}

/*
 * Does not use libcob's cob_resolve(), which would also load modules from the working directory.
 * All modules that COBOL has loaded are visible; but so are variables of libcob's libraries (BC, PC
 * and UP of ncurses), which are not routines.
 */
void *ct_cobol_find(const char *name)
{
	char symbol[3 * NAME_LIMIT + 1];
	const ElfW(Sym) *entry = NULL;
	void *code;
	Dl_info info;

	if (runtime_state() == NULL || !print_symbol(symbol, name))
		return NULL;
	code = dlsym(RTLD_DEFAULT, symbol);
	if (code == NULL || dladdr1(code, &info, (void **)&entry, RTLD_DL_SYMENT) == 0 ||
	    entry == NULL)
		return NULL;
	return ELF64_ST_TYPE(entry->st_info) == STT_FUNC && info.dli_saddr == code ? code : NULL;
}
