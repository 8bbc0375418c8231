/*
 * trace_status.c - the status of a trace: checks a request against it, and applies the request.
 *
 * Called by define.c and command.c for a trace of their transaction.  Nothing takes
 * effect here; change.c puts it in force.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <stdio.h>
#include <string.h>

bool ct_only_groups(const struct ct_attributes *attributes)
{
	return attributes->head && !attributes->headopts;
}

const struct ct_attributes *ct_trace_attributes(const struct ct_trace *trace)
{
	while (trace->attributes.likehead && trace->head != NULL)
		trace = trace->head;
	return &trace->attributes;
}

static void status_copy(const struct ct_trace *trace, struct ct_status *out)
{
	const struct ct_attributes *attributes = ct_trace_attributes(trace);

	if (trace->status != NULL) {
		*out = *trace->status;
		return;
	}
	memset(out, 0, sizeof *out);
	out->mode = attributes->minops != NULL ? CTRACE_MODE_MIN : CTRACE_MODE_OFF;
	out->buffer_asked = out->buffer_rounded = attributes->bufdflt;
}

/* Another command may be working on the head: it replaces the head's status under the lock. */
void ct_status_get(const struct ct_trace *trace, struct ct_status *out)
{
	ct_table_lock();
	while (trace->follows && trace->head != NULL)
		trace = trace->head;
	status_copy(trace, out);
	ct_table_unlock();
}

uint64_t ct_status_granted(uint64_t buffer_size)
{
	return buffer_size == 0 ? 0 : ct_ring_capacity(buffer_size);
}

bool ct_status_is_excluded(const struct ct_status *status)
{
	struct ct_space self = ct_space_self();
	bool asid_fits = status->asid_count == 0;
	bool job_fits = status->jobname_count == 0;

	for (uint32_t i = 0; i < status->asid_count; i++)
		asid_fits |= status->asid[i] == self.asid;
	for (uint32_t i = 0; i < status->jobname_count; i++)
		job_fits |= strcmp(status->jobname[i], self.jobname) == 0;
	return !asid_fits || !job_fits;
}

/* ---- may it be asked ---- */

/* One rule: a request with this clause is refused for this reason when `broken` holds. */
struct rule {
	bool broken;
	enum ct_clause clause;
	uint32_t reason;
	const char *why;
};

static bool text_is_same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool attributes_are_same(const struct ct_attributes *a, const struct ct_attributes *b)
{
	return a->asids == b->asids && a->jobs == b->jobs && a->mod == b->mod &&
	       a->buffer == b->buffer && a->bufdefin == b->bufdefin && a->wtr == b->wtr &&
	       a->wtrmode == b->wtrmode && a->bufmin == b->bufmin && a->bufmax == b->bufmax &&
	       a->bufdflt == b->bufdflt && text_is_same(a->minops, b->minops);
}

static uint32_t rule_refuse(const struct rule *rule, const struct ct_trace_request *request,
			    const struct ct_attributes *own, const char *source,
			    struct ctrace_outcome *out)
{
	char place[64] = "";
	char sizes[80] = "";

	if (source != NULL)
		(void)snprintf(place, sizeof place, "%s:%u:%u: ", source,
			       request->place[rule->clause].line,
			       request->place[rule->clause].column);
	if (rule->reason == CTRACE_RSN_BUFSIZE_LIMITS)
		(void)snprintf(sizes, sizeof sizes, ": %llu is not from %u to %u",
			       (unsigned long long)request->bufsize, own->bufmin, own->bufmax);
	return ct_outcome_set(out, CTRACE_RC_REFUSED, rule->reason, "%s%s%s", place, rule->why,
			      sizes);
}

uint32_t ct_status_check(const struct ct_trace *trace, const struct ct_trace_request *request,
			 enum ct_request_from from, const char *source, struct ctrace_outcome *out)
{
	const struct ct_attributes *own = ct_trace_attributes(trace);
	const struct ct_attributes *head =
		trace->head != NULL ? ct_trace_attributes(trace->head) : NULL;
	bool likehead = request->state == CTRACE_CT_LIKEHEAD;
	bool is_size = request->has[CT_CLAUSE_BUFSIZE];
	/* In the order of the reasons, except LIKEHEAD. */
	const struct rule rules[] = {
		{ from == CT_FROM_DEFINE && request->has[CT_CLAUSE_SUB], CT_CLAUSE_SUB,
		  CTRACE_RSN_MEMBER_SUB,
		  "SUB is not allowed in a member that DEFINE names: it is for one trace" },
		{ from == CT_FROM_DEFINE && request->state == CTRACE_CT_PRESET_DELETE,
		  CT_CLAUSE_STATE, CTRACE_RSN_MEMBER_PRESET_DELETE,
		  "PRESET(DELETE) is not allowed in a member that DEFINE names" },
		{ is_size && !own->buffer, CT_CLAUSE_BUFSIZE, CTRACE_RSN_NO_BUFFER,
		  "the trace was defined with BUFFER=NO: it has no buffer size" },
		{ is_size && from == CT_FROM_COMMAND && own->bufdefin, CT_CLAUSE_BUFSIZE,
		  CTRACE_RSN_BUFDEFIN,
		  "the trace was defined with BUFDEFIN=YES: its buffer size is set when it is defined" },
		{ is_size && (request->bufsize < own->bufmin || request->bufsize > own->bufmax),
		  CT_CLAUSE_BUFSIZE, CTRACE_RSN_BUFSIZE_LIMITS,
		  "the buffer size is not between BUFMIN and BUFMAX" },
		{ request->asid_count != 0 && !own->asids, CT_CLAUSE_ASID, CTRACE_RSN_NO_ASIDS,
		  "the trace was defined with ASIDS=NO: it cannot be filtered by address space" },
		{ request->jobname_count != 0 && !own->jobs, CT_CLAUSE_JOBNAME, CTRACE_RSN_NO_JOBS,
		  "the trace was defined with JOBS=NO: it cannot be filtered by job name" },
		{ request->has[CT_CLAUSE_WTR] && !request->disconnect && !own->wtr, CT_CLAUSE_WTR,
		  CTRACE_RSN_NO_WTR,
		  "the trace was defined with WTR=NO: it has no external writer" },
		{ likehead && head == NULL, CT_CLAUSE_STATE,
		  from == CT_FROM_COMMAND ? CTRACE_RSN_NOT_A_SUBLEVEL
					  : CTRACE_RSN_LIKEHEAD_NO_OPTIONS,
		  "LIKEHEAD is for sublevels: this trace has no head" },
		{ likehead && head != NULL && !trace->head->attributes.headopts, CT_CLAUSE_STATE,
		  CTRACE_RSN_LIKEHEAD_NO_OPTIONS,
		  "LIKEHEAD: the head was defined with HEADOPTS=NO and has nothing to follow" },
		{ likehead && head != NULL && !attributes_are_same(own, head), CT_CLAUSE_STATE,
		  CTRACE_RSN_LIKEHEAD_DIFFERS,
		  "LIKEHEAD: the head has other attributes (ASIDS, JOBS, MINOPS, MOD, BUFFER..., WTR)" },
	};

	for (size_t i = 0; i < CT_COUNT(rules); i++)
		if (rules[i].broken)
			return rule_refuse(&rules[i], request, own, source, out);
	return CTRACE_RC_OK;
}

/* ---- what becomes of it ---- */

/* The request's options replace all options.  ON keeps filters and writer that the request does
 * not name; OFF clears both. */
void ct_status_merge(struct ct_status *status, const struct ct_trace_request *request,
		     const struct ct_attributes *attributes)
{
	bool is_on = request->state == CTRACE_CT_ON;

	status->mode = is_on                        ? CTRACE_MODE_ON
		       : attributes->minops != NULL ? CTRACE_MODE_MIN
						    : CTRACE_MODE_OFF;
	status->level = CTRACE_DEBUG;
	memset(status->options, 0, sizeof status->options);
	if (is_on)
		memcpy(status->options, request->options, request->options_size);
	if (!is_on || request->has[CT_CLAUSE_ASID]) {
		status->asid_count = is_on ? request->asid_count : 0;
		memcpy(status->asid, request->asid, sizeof status->asid);
	}
	if (!is_on || request->has[CT_CLAUSE_JOBNAME]) {
		status->jobname_count = is_on ? request->jobname_count : 0;
		memcpy(status->jobname, request->jobname, sizeof status->jobname);
	}
	if (!is_on || request->has[CT_CLAUSE_WTR]) {
		memset(status->writer, 0, sizeof status->writer);
		if (is_on && !request->disconnect)
			memcpy(status->writer, request->writer, sizeof status->writer);
	}
	if (request->has[CT_CLAUSE_BUFSIZE])
		status->buffer_asked = status->buffer_rounded = request->bufsize;
}
