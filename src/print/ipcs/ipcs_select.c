/*
 * ipcs_select.c - decides whether a command selects an event.
 *
 * Called for every event that is read; pure.  Names are compared element by element, since an
 * element like ASID(000F) has several forms.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs.h"

#include <string.h>

#define NS_PER_US 1000u
#define SYSNAME_MAX 8u

/* ---- names ---- */

/* Returns the size up to the dot that ends the element; parentheses belong to it. */
static size_t element_size(const char *at, size_t size)
{
	unsigned depth = 0;

	for (size_t i = 0; i < size; i++) {
		depth += at[i] == '(';
		depth -= at[i] == ')' && depth > 0;
		if (at[i] == '.' && depth == 0)
			return i;
	}
	return size;
}

size_t ct_ipcs_head_size(const char *name, size_t size)
{
	return element_size(name, size);
}

/* Finds the digits of ASID(digits), without leading zeros. */
static bool asid_digits(struct ct_span element, struct ct_span *out)
{
	if (element.size < 7 || !ct_name_equal(element.at, 5, "ASID(", 5) ||
	    element.at[element.size - 1] != ')')
		return false;
	*out = (struct ct_span){ element.at + 5, element.size - 6 };
	while (out->size > 1 && (out->at[0] == '0' || ct_is_blank(out->at[0]))) {
		out->at++;
		out->size--;
	}
	return true;
}

static bool element_matches(struct ct_span wanted, struct ct_span element)
{
	struct ct_span a, b;

	if (asid_digits(wanted, &a) && asid_digits(element, &b))
		return ct_name_equal(a.at, a.size, b.at, b.size);
	return ct_glob_match(wanted.at, wanted.size, element.at, element.size);
}

static struct ct_span element_next(struct ct_span *rest)
{
	size_t size = element_size(rest->at, rest->size);
	struct ct_span element = { rest->at, size };
	size_t taken = size < rest->size ? size + 1 : size;

	rest->at += taken;
	rest->size -= taken;
	return element;
}

/* Removes all elements of `wanted` from the start of the name.  Returns false when one differs,
 * or the name ends before. */
static bool name_take_elements(struct ct_span wanted, struct ct_span *name)
{
	while (wanted.size != 0) {
		struct ct_span element = element_next(&wanted);

		if (name->size == 0 || !element_matches(element, element_next(name)))
			return false;
	}
	return true;
}

bool ct_ipcs_names(const char *component, const char *sub, const char *name, size_t name_size)
{
	struct ct_span rest = { name, name_size };

	return name_take_elements((struct ct_span){ component, strlen(component) }, &rest) &&
	       name_take_elements((struct ct_span){ sub, strlen(sub) }, &rest) && rest.size == 0;
}

void ct_ipcs_sysname(const char *host, char out[9])
{
	size_t size = strcspn(host, ".");

	if (size > SYSNAME_MAX)
		size = SYSNAME_MAX;
	memcpy(out, host, size);
	ct_name_upper(out, size);
	out[size] = '\0';
}

/* ---- address spaces, ids ---- */

static bool range_contains(const struct ct_ipcs_ranges *ranges, uint32_t value)
{
	for (uint32_t i = 0; i < ranges->count; i++)
		if (value >= ranges->at[i].first && value <= ranges->at[i].last)
			return true;
	return false;
}

static bool jobs_contain(const struct ct_ipcs_words *jobs, const char *jobname)
{
	for (uint32_t i = 0; i < jobs->count; i++)
		if (ct_name_is(jobname, strlen(jobname), jobs->at[i]))
			return true;
	return false;
}

/* Each list adds to the selection. */
static enum ct_ipcs_choice event_select_space(const struct ct_ipcs_command *command,
					      const struct ct_read_event *event)
{
	uint32_t asid = command->asids.count != 0 ? ct_read_event_asid(event) : 0;
	char jobname[17] = "";

	if (command->is_all || (command->asids.count == 0 && command->jobs.count == 0))
		return CT_IPCS_CHOSEN;
	if (command->jobs.count != 0)
		ct_read_event_jobname(event, jobname);
	if (range_contains(&command->asids, asid) || jobs_contain(&command->jobs, jobname))
		return CT_IPCS_CHOSEN;
	if (command->asids.count != 0 && asid == 0)
		return CT_IPCS_NO_ASID;
	return command->jobs.count != 0 && jobname[0] == '\0' ? CT_IPCS_NO_JOBNAME : CT_IPCS_OTHER;
}

static enum ct_ipcs_choice event_select_exception(const struct ct_read_event *event)
{
	if (event->type != NULL && event->type->is_exception)
		return CT_IPCS_CHOSEN;
	return event->component == NULL || !event->component->has_exception ? CT_IPCS_NO_EXCEPTIONS
									    : CT_IPCS_OTHER;
}

bool ct_ipcs_is_of_system(const struct ct_ipcs_command *command,
			  const struct ct_source_process *source_process)
{
	char name[SYSNAME_MAX + 1];

	if (command->sysname[0] == '\0')
		return true;
	ct_ipcs_sysname(source_process->host, name);
	return ct_name_is(name, strlen(name), command->sysname) ||
	       ct_name_is(source_process->host, strlen(source_process->host), command->sysname);
}

enum ct_ipcs_choice ct_ipcs_select(const struct ct_ipcs_command *command,
				   const struct ct_read_event *event)
{
	uint64_t time_us = event->traced.time_ns / NS_PER_US;

	if (command->component[0] != '\0' &&
	    !ct_ipcs_names(command->component, command->sub, event->traced.component,
			   event->traced.component_size))
		return CT_IPCS_OTHER_TRACE;
	if (!ct_ipcs_is_of_system(command, event->source_process))
		return CT_IPCS_OTHER;
	if ((command->has_start && time_us < command->start_us) ||
	    (command->has_stop && time_us > command->stop_us))
		return CT_IPCS_OTHER_TIME;
	if (command->ids.count != 0 && !range_contains(&command->ids, event->traced.event_id))
		return CT_IPCS_OTHER;
	if (command->is_exception) {
		enum ct_ipcs_choice choice = event_select_exception(event);

		if (choice != CT_IPCS_CHOSEN)
			return choice;
	}
	return event_select_space(command, event);
}
