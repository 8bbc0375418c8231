/*
 * calls.c - finds the functions of libcob that this library's functions stand before.
 *
 * Each pointer leads at first to a function that finds them all and passes its call on, so a hook
 * needs no test of its own.  Two threads that find them at once store the same addresses.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cobol_runtime/cobol_runtime.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define CALL_DEFINE(name, result, parameters, arguments) \
	static result name##_first parameters \
	{ \
		ct_calls_find(); \
		return ct_##name arguments; \
	} \
	result(*_Atomic ct_##name) parameters = name##_first;
CT_CALLS(CALL_DEFINE)

void (*_Atomic ct_cob_display)(const int device, const int ends_line, const int count, ...);
void (*_Atomic ct_cob_runtime_error)(const char *format, ...);
void (*_Atomic ct_cob_runtime_warning)(const char *format, ...);

struct call {
	const char *name;
	void *hook;
	void *_Atomic *real;
};

#define CALL_ROW(name, result, parameters, arguments) \
	{ #name, (void *)name, (void *_Atomic *)&ct_##name },
#define VARIADIC_ROW(name) \
	{ \
#name, (void *)name, (void *_Atomic *)&ct_##name \
	}

/* What replaces libcob's functions. */
static const struct call calls[] = { CT_CALLS(CALL_ROW) VARIADIC_ROW(cob_display),
				     VARIADIC_ROW(cob_runtime_error),
				     VARIADIC_ROW(cob_runtime_warning) };
#define CALLS (sizeof calls / sizeof *calls)

bool ct_calls_name_is_libcob(const char *path)
{
	const char *base = strrchr(path, '/');

	return strncmp(base != NULL ? base + 1 : path, "libcob.so", 9) == 0;
}

static int libcob_look(struct dl_phdr_info *info, size_t size, void *out_path)
{
	(void)size;
	if (!ct_calls_name_is_libcob(info->dlpi_name))
		return 0;
	*(const char **)out_path = info->dlpi_name;
	return 1;
}

/* libcob, whatever its version, where RTLD_NEXT does not find it: it has loaded this library, or a
 * plug-in has loaded it for itself alone (RTLD_LOCAL). */
static void *libcob_find(const char *name)
{
	const char *path = NULL;
	void *libcob, *found;

	(void)dl_iterate_phdr(libcob_look, &path);
	libcob = path != NULL ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	if (libcob == NULL)
		return NULL;
	found = dlsym(libcob, name);
	(void)dlclose(libcob);
	return found;
}

void *ct_calls_find_real(const char *name, const void *hook)
{
	/* keeps the order of several preloaded libraries */
	void *real = dlsym(RTLD_NEXT, name);

	if (real == NULL || real == hook)
		real = libcob_find(name);
	return real != hook ? real : NULL;
}

/* Replaces a function that this libcob lacks.  No program calls it: the loader would have refused
 * such a program. */
static void *call_do_nothing(void)
{
	return NULL;
}

void ct_calls_find(void)
{
	for (size_t at = 0; at < CALLS; at++) {
		void *real = ct_calls_find_real(calls[at].name, calls[at].hook);

		atomic_store_explicit(calls[at].real, real != NULL ? real : (void *)call_do_nothing,
				      memory_order_relaxed);
	}
}

void *ct_calls_hook(const char *name)
{
	for (size_t at = 0; at < CALLS; at++) {
		if (strcmp(calls[at].name, name) == 0)
			return calls[at].hook;
	}
	return NULL;
}

bool ct_calls_are_passed_over(void)
{
	void *first = dlsym(RTLD_DEFAULT, "cob_open");

	return first != NULL && first != (void *)cob_open;
}
