/*
 * operate_match.c - which components an operator means.
 *
 * Runs on the control thread.  The registry only grows and its names are read without a lock, so a
 * look through all of them stops nobody.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/operate.h"

#include <stdlib.h>
#include <string.h>

bool ct_operate_is_glob(struct ct_span name)
{
	return name.size != 0 &&
	       (memchr(name.at, '*', name.size) != NULL || memchr(name.at, '?', name.size) != NULL);
}

struct ct_span ct_operate_name(uint32_t index)
{
	const char *name = ct_registry_name(ct_process.registry, index);

	return (struct ct_span){ name, strlen(name) };
}

static bool is_known(uint32_t index)
{
	return (__atomic_load_n(&ct_registry_entry(ct_process.registry, index)->flags,
				__ATOMIC_ACQUIRE) &
		CT_COMPONENT_KNOWN) != 0;
}

uint32_t ct_operate_next_known(uint32_t from)
{
	uint32_t count = ct_registry_count(ct_process.registry);

	while (from < count && !is_known(from))
		from++;
	return from < count ? from : CT_COMPONENT_NONE;
}

static bool matches_add(struct ct_matches *matches, size_t *capacity, uint32_t index)
{
	size_t wanted = *capacity != 0 ? *capacity * 2 : 16;
	struct ct_match *items;

	if (matches->count == *capacity) {
		items = realloc(matches->items, wanted * sizeof *items);
		if (items == NULL)
			return false;
		matches->items = items;
		*capacity = wanted;
	}
	matches->items[matches->count++] = (struct ct_match){ .index = index };
	return true;
}

bool ct_operate_is_ancestor(struct ct_span name)
{
	for (uint32_t i = ct_operate_next_known(0); i != CT_COMPONENT_NONE;
	     i = ct_operate_next_known(i + 1)) {
		struct ct_span other = ct_operate_name(i);

		if (other.size > name.size && other.at[name.size] == '.' &&
		    ct_name_equal(other.at, name.size, name.at, name.size))
			return true;
	}
	return false;
}

static enum ctrace_status match_glob(struct ct_matches *matches)
{
	size_t capacity = 0;

	for (uint32_t i = ct_operate_next_known(0); i != CT_COMPONENT_NONE;
	     i = ct_operate_next_known(i + 1)) {
		struct ct_span other = ct_operate_name(i);

		if (ct_glob_match(matches->name.at, matches->name.size, other.at, other.size) &&
		    !matches_add(matches, &capacity, i))
			return CTRACE_NOT_ENOUGH_MEMORY;
	}
	return matches->count != 0 ? CTRACE_OK : CTRACE_NOT_FOUND;
}

static enum ctrace_status match_name(struct ct_matches *matches)
{
	size_t capacity = 0;
	uint32_t index = CT_COMPONENT_NONE;
	enum ctrace_status status = CTRACE_OK;

	if (matches->name.size != 0) {
		status = ct_component_check_name(matches->name.at, matches->name.size);
		if (status == CTRACE_OK)
			status = ct_registry_find(ct_process.registry, matches->name.at,
						  matches->name.size, &index);
		if (status == CTRACE_NOT_FOUND && ct_operate_is_ancestor(matches->name))
			status = CTRACE_OK;
	}
	if (status == CTRACE_OK && !matches_add(matches, &capacity, index))
		status = CTRACE_NOT_ENOUGH_MEMORY;
	return status;
}

enum ctrace_status ct_matches_find(struct ct_span name, struct ct_matches *out)
{
	enum ctrace_status status;

	*out = (struct ct_matches){ .name = name, .is_glob = ct_operate_is_glob(name) };
	status = out->is_glob ? match_glob(out) : match_name(out);
	if (status != CTRACE_OK)
		ct_matches_fini(out);
	return status;
}

struct ct_span ct_match_name(const struct ct_matches *matches, size_t i)
{
	uint32_t index = matches->items[i].index;

	return index != CT_COMPONENT_NONE ? ct_operate_name(index) : matches->name;
}

void ct_matches_fini(struct ct_matches *matches)
{
	free(matches->items);
	matches->items = NULL;
	matches->count = 0;
}
