/*
 * variable.c - finds a $(NAME) in a text that names no variable.
 *
 * Called to check a FORMAT or a FILE that a person wrote.  Any thread; allocates nothing.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <string.h>

static bool name_is_known(struct ct_span name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ct_name_is(name.at, name.size, names[i]))
			return true;
	return false;
}

/* The name ends where the next variable or blank begins. */
static struct ct_span name_of_open(struct ct_span rest)
{
	size_t size = 0;

	while (size < rest.size && rest.at[size] != '$' && rest.at[size] != ' ')
		size++;
	return (struct ct_span){ rest.at, size };
}

enum ct_variable_fault ct_variable_find_fault(struct ct_span text, const char *const *names,
					      size_t count, struct ct_span *out_name)
{
	const char *end = text.at + text.size, *at = text.at;

	while ((at = memmem(at, (size_t)(end - at), "$(", 2)) != NULL) {
		const char *close, *next;

		at += 2;
		if (at == end)
			break; /* a "$(" at the end of the text is not meant as a variable */
		close = memchr(at, ')', (size_t)(end - at));
		next = memmem(at, (size_t)(end - at), "$(", 2);
		if (close == NULL || (next != NULL && next < close)) {
			*out_name = name_of_open(ct_span_of(at, end));
			return CT_VARIABLE_OPEN;
		}
		if (!name_is_known(ct_span_of(at, close), names, count)) {
			*out_name = ct_span_of(at, close);
			return CT_VARIABLE_UNKNOWN;
		}
	}
	return CT_VARIABLE_GOOD;
}
