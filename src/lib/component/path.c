/*
 * path.c - finds the trace for a NAME and a SUB.
 *
 * Called at the start of every macro and command, on its thread, under no lock.  ASID(5),
 * ASID(0005) and JOBNAME(ABC) are one name when job ABC runs as address space 5, so that two
 * programs cannot make two traces of one address space.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <stdio.h>
#include <string.h>

_Static_assert(CTRACE_MAX_SUB_NAME >= CTRACE_MAX_NAME + sizeof "JOBNAME()" - 1,
	       "an element is never longer than a name");

static void path_print_element(const struct ct_sub_element *element,
			       char out[CTRACE_MAX_SUB_NAME + 1])
{
	if (element->kind == CT_SUB_ASID)
		(void)snprintf(out, CTRACE_MAX_SUB_NAME + 1, "ASID(%04X)", (unsigned)element->asid);
	else
		(void)snprintf(out, CTRACE_MAX_SUB_NAME + 1, "JOBNAME(%.8s)", element->text);
}

/* Prints ASID(hhhh) when the address space is known, and JOBNAME(n) when the job is. */
static bool path_print_space(const struct ct_sub_element *element,
			     char by_asid[CTRACE_MAX_SUB_NAME + 1],
			     char by_job[CTRACE_MAX_SUB_NAME + 1])
{
	struct ct_space space = { .asid = element->asid };
	bool is_active = element->kind == CT_SUB_ASID
				 ? ct_space_find_asid(element->asid, &space)
				 : ct_space_find_jobname(element->text, &space);

	path_print_element(element, by_asid);
	path_print_element(element, by_job);
	if (is_active) {
		(void)snprintf(by_asid, CTRACE_MAX_SUB_NAME + 1, "ASID(%04X)",
			       (unsigned)space.asid);
		(void)snprintf(by_job, CTRACE_MAX_SUB_NAME + 1, "JOBNAME(%.8s)", space.jobname);
	}
	return is_active;
}

static void path_add_element(char *name, const char *element)
{
	size_t size = strlen(name);

	(void)snprintf(name + size, CT_TRACE_NAME_SIZE - size, ".%s", element);
}

void ct_path_build(const char *name, const struct ct_sub_path *sub, struct ct_path *out_path)
{
	struct ct_path path = { .is_active = true };

	(void)snprintf(path.name, sizeof path.name, "%s", name);
	(void)snprintf(path.by_job, sizeof path.by_job, "%s", name);
	(void)snprintf(path.given, sizeof path.given, "%s", name);
	for (uint32_t i = 0; i < sub->count; i++) {
		const struct ct_sub_element *element = &sub->element[i];
		char by_asid[CTRACE_MAX_SUB_NAME + 1];
		char by_job[CTRACE_MAX_SUB_NAME + 1];

		path.head_size = strlen(path.name);
		if (element->kind == CT_SUB_NAME) {
			path_add_element(path.name, element->text);
			path_add_element(path.by_job, element->text);
			path_add_element(path.given, element->text);
			continue;
		}
		path.is_active &= path_print_space(element, by_asid, by_job);
		path_add_element(path.name, by_asid);
		path_add_element(path.by_job, by_job);
		path_print_element(element, by_asid);
		path_add_element(path.given, by_asid);
	}
	*out_path = path;
}

uint32_t ct_path_parse(const char *name, const char *sub, struct ct_path *out_path,
		       struct ctrace_outcome *out)
{
	struct ct_sub_path parsed = { .count = 0 };

	if (sub != NULL && sub[0] != '\0') {
		struct ct_diagnostic diagnostic = { .line = 0 };
		uint32_t reason = ct_sub_parse(sub, strlen(sub), &parsed, &diagnostic);

		if (reason != 0)
			return ct_outcome_set(out, CTRACE_RC_REFUSED, reason,
					      "SUB, column %u: " CT_DIAGNOSTIC_FORMAT,
					      diagnostic.column, CT_DIAGNOSTIC_TEXT(&diagnostic));
	}
	ct_path_build(name, &parsed, out_path);
	return CTRACE_RC_OK;
}

void ct_pad(char *field, size_t room, const char *text, size_t size)
{
	memset(field, ' ', room);
	memcpy(field, text, size < room ? size : room);
}

void ct_path_fill(const char *name, struct ctrace_ctss *ctss)
{
	size_t size = strcspn(name, ".");

	ct_pad(ctss->name, sizeof ctss->name, name, size);
	memset(ctss->sub, ' ', sizeof ctss->sub);
	ctss->sub_count = 0;
	while (name[size] == '.' && ctss->sub_count < CTRACE_MAX_SUB_LEVELS) {
		name += size + 1;
		size = strcspn(name, ".");
		ct_pad(ctss->sub[ctss->sub_count], sizeof ctss->sub[0], name, size);
		ctss->sub_count++;
	}
}
