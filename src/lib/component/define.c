/*
 * define.c - CTRACE DEFINE.
 *
 * Runs on the thread of the program that calls it; any number at a time, not in a signal handler.
 * The order of the checks is also in docs/component-trace.md.  It goes from the structure to what
 * only the routine knows:
 *
 *     401   101   301/302   102   501            the structure
 *     0E01 0E02 0D   0C 0B 0A 02   12 16 17 18   keywords that exclude each other
 *     1A (1C 21 22 24)                           SUB
 *     RC 04   01 03 07 08                        traces that are defined already
 *     2A   04 20 1F 05 1D                        the member as a file
 *     06 1B 1C 21 ... 2D                         the member's text, in its order
 *     0F 10 12 13 14 15 2C 07 09                 the member's request for this trace
 *     19                                         the routine exists
 *     RC 08: 06 07                               storage; a command that does not end
 *     11                                         the routine's return code
 *
 * A new trace is invisible until the last check, except to its own routine.  Nothing is created
 * before the last line that could not be removed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A definition under way. */
struct definition {
	const struct ctrace_define *asked;
	struct ct_path path;
	struct ct_attributes attributes;
	struct ct_trace_request request; /* of the preset or the member */
	bool has_request;
	enum ct_request_from from;
	struct ct_status status;
};

/* ---- keywords ---- */

struct rule {
	bool broken;
	uint32_t reason;
	const char *why;
};

static uint32_t rules_check(const struct rule *rules, size_t count, struct ctrace_outcome *out)
{
	for (size_t i = 0; i < count; i++)
		if (rules[i].broken)
			return ct_outcome_set(out, CTRACE_RC_REFUSED, rules[i].reason, "%s",
					      rules[i].why);
	return CTRACE_RC_OK;
}

static uint32_t keywords_check(const struct ctrace_define *asked, struct ctrace_outcome *out)
{
	bool only_groups = asked->head == CTRACE_YES && asked->headopts == CTRACE_NO;
	bool sizes = asked->bufdefin == CTRACE_YES || asked->bufmin != 0 || asked->bufmax != 0 ||
		     asked->bufdflt != 0;
	bool likehead = asked->likehead == CTRACE_YES;
	uint64_t bufmin = asked->bufmin > CT_BUFMIN ? asked->bufmin : CT_BUFMIN;
	uint64_t bufmax = asked->bufmax != 0 ? asked->bufmax : CT_BUFMAX;
	const struct rule rules[] = {
		{ only_groups && ct_is_coded(asked->startnam), CTRACE_RSN_NAME_NOT_ALLOWED << 8 | 1,
		  "STARTNAM is not for a head with HEADOPTS=NO: it is never started" },
		{ only_groups && ct_is_coded(asked->dispnam), CTRACE_RSN_NAME_NOT_ALLOWED << 8 | 2,
		  "DISPNAM is not for a head with HEADOPTS=NO: it has nothing to display" },
		{ !only_groups && !ct_is_coded(asked->startnam), CTRACE_RSN_NO_STARTNAM,
		  "STARTNAM is missing" },
		{ likehead && only_groups, CTRACE_RSN_LIKEHEAD_HEADOPTS,
		  "LIKEHEAD=YES does not go with HEADOPTS=NO" },
		{ only_groups && ct_is_coded(asked->parm), CTRACE_RSN_HEADOPTS_PARM,
		  "PARM is not for a head with HEADOPTS=NO" },
		{ likehead && ct_is_coded(asked->parm), CTRACE_RSN_LIKEHEAD_PARM,
		  "LIKEHEAD=YES does not go with PARM" },
		{ likehead && (asked->asids != 0 || asked->jobs != 0 || asked->mod != 0 ||
			       ct_is_coded(asked->minops) || asked->buffer != 0 || sizes ||
			       asked->wtr != 0 || asked->wtrmode != 0),
		  CTRACE_RSN_LIKEHEAD_OPTIONS,
		  "LIKEHEAD=YES has its head's attributes: ASIDS, JOBS, MINOPS, MOD, BUFFER, BUF... and WTR are not allowed" },
		{ sizes && asked->buffer == CTRACE_NO, CTRACE_RSN_NO_BUFFER,
		  "BUFDEFIN, BUFMIN, BUFMAX and BUFDFLT need BUFFER=YES" },
		{ bufmin > bufmax, CTRACE_RSN_BUFMIN_BUFMAX, "BUFMIN is greater than BUFMAX" },
		{ asked->bufdflt != 0 && asked->bufdflt < bufmin, CTRACE_RSN_BUFDFLT_BUFMIN,
		  "BUFDFLT is less than BUFMIN" },
		{ asked->bufdflt > bufmax, CTRACE_RSN_BUFDFLT_BUFMAX,
		  "BUFDFLT is greater than BUFMAX" },
		{ bufmax > CT_BUFMAX, CTRACE_RSN_BUFDFLT_BUFMAX,
		  "BUFMAX is greater than 2147483647" },
	};

	return rules_check(rules, CT_COUNT(rules), out);
}

/* ---- what is defined already ---- */

/* Checked twice: before anything is created, and in the transaction.  Under the lock. */
static uint32_t definition_check_name(const struct definition *definition,
				      struct ct_trace **out_head, struct ctrace_outcome *out)
{
	const struct ct_path *path = &definition->path;
	const struct ct_trace *same = ct_trace_find_defined(path->name, strlen(path->name));
	struct ct_trace *head = NULL;
	bool likehead = definition->asked->likehead == CTRACE_YES;

	if (same != NULL && same->is_defined)
		return ct_outcome_set(out, CTRACE_RC_EXISTS, 0, "%s is defined already",
				      path->name);
	if (path->head_size != 0) {
		head = ct_trace_find_defined(path->name, path->head_size);
		if (head == NULL || head->is_leaving)
			return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_NO_HEAD,
					      "the head %.*s is not defined", (int)path->head_size,
					      path->name);
		if (!head->attributes.head)
			return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_NOT_A_HEAD,
					      "%.*s was not defined with HEAD=YES",
					      (int)path->head_size, path->name);
	}
	if (likehead && (head == NULL || !head->attributes.headopts))
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_LIKEHEAD_NO_OPTIONS,
				      "LIKEHEAD=YES: %s",
				      head == NULL ? "the trace is no sublevel"
						   : "the head was defined with HEADOPTS=NO");
	if (!path->is_active)
		return ct_outcome_set(
			out, CTRACE_RC_REFUSED, CTRACE_RSN_NOT_ACTIVE,
			"%s: no live process of this run directory is that; ctrace list shows them",
			path->name);
	*out_head = head;
	return CTRACE_RC_OK;
}

static uint32_t definition_check_name_first(const struct definition *definition,
					    struct ctrace_outcome *out)
{
	struct ct_trace *head;
	uint32_t rc;

	ct_table_lock();
	rc = definition_check_name(definition, &head, out);
	ct_table_unlock();
	return rc;
}

/* ---- what it is to do at first ---- */

static uint32_t definition_read_member(struct definition *definition, struct ctrace_outcome *out)
{
	const char *member = definition->asked->parm;
	struct ct_parmlib parmlib;
	uint32_t rc = ct_member_read(member, &parmlib, out);

	if (rc != CTRACE_RC_OK)
		return rc;
	if (parmlib.count > 1)
		rc = ct_outcome_set(
			out, CTRACE_RC_REFUSED,
			parmlib.requests[0].has[CT_CLAUSE_SUB] ||
					parmlib.requests[1].has[CT_CLAUSE_SUB]
				? CTRACE_RSN_MEMBER_SUB
				: CTRACE_RSN_PARMLIB,
			"%s:%u:%u: a member that DEFINE names has options for one trace only",
			member, parmlib.requests[1].place[CT_CLAUSE_STATE].line,
			parmlib.requests[1].place[CT_CLAUSE_STATE].column);
	else if (parmlib.count == 1)
		definition->request = parmlib.requests[0];
	definition->has_request = parmlib.count == 1;
	definition->from = CT_FROM_DEFINE;
	ct_parmlib_fini(&parmlib);
	return rc;
}

static uint32_t definition_no_storage(const struct definition *definition,
				      struct ctrace_outcome *out)
{
	if (ct_registry_count(ct_process.registry) < CT_COMPONENT_LIMIT)
		return ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE, "no memory for %s",
				      definition->path.name);
	return ct_outcome_set(
		out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE,
		"no room for %s: this process has used %u names, and names are not given back",
		definition->path.name, CT_COMPONENT_LIMIT);
}

/* A preset takes precedence over the member. */
static uint32_t definition_find_request(struct definition *definition, struct ctrace_outcome *out)
{
	enum ctrace_status status;

	if (definition->asked->likehead == CTRACE_YES || ct_only_groups(&definition->attributes))
		return CTRACE_RC_OK;
	status = ct_preset_get(definition->path.name, &definition->request);
	if (status == CTRACE_NOT_FOUND &&
	    strcmp(definition->path.name, definition->path.by_job) != 0)
		status = ct_preset_get(definition->path.by_job, &definition->request);
	definition->has_request = status == CTRACE_OK;
	definition->from = CT_FROM_PRESET;
	if (definition->request.state == CTRACE_CT_PRESET_PUT)
		definition->request.state = CTRACE_CT_ON; /* the stored preset comes into force */
	if (status == CTRACE_NOT_ENOUGH_MEMORY)
		return definition_no_storage(definition, out);
	if (status != CTRACE_OK && status != CTRACE_NOT_FOUND)
		return ct_outcome_set(
			out, CTRACE_RC_REFUSED, CTRACE_RSN_PARMLIB,
			"the preset of %s in the run directory cannot be read (%s); PRESET(DELETE) removes it",
			definition->path.name, ctrace_status_text(status));
	if (status == CTRACE_OK || !ct_is_coded(definition->asked->parm))
		return CTRACE_RC_OK;
	return definition_read_member(definition, out);
}

static void copy_name(char field[CT_NAME_SIZE], const char *name)
{
	if (ct_is_coded(name))
		(void)snprintf(field, CT_NAME_SIZE, "%s", name);
}

static struct ct_attributes attributes_of(const struct ctrace_define *asked)
{
	struct ct_attributes attributes = {
		.asids = asked->asids,
		.jobs = asked->jobs,
		.mod = asked->mod,
		.head = asked->head,
		.headopts = asked->headopts,
		.buffer = asked->buffer,
		.bufdefin = asked->bufdefin,
		.wtr = asked->wtr,
		.likehead = asked->likehead,
		.wtrmode = asked->wtrmode,
		.bufmin = asked->bufmin > CT_BUFMIN ? (uint32_t)asked->bufmin : CT_BUFMIN,
		.bufmax = asked->bufmax != 0 ? (uint32_t)asked->bufmax : CT_BUFMAX,
		.bufdflt = (uint32_t)asked->bufdflt,
	};

	copy_name(attributes.startnam, asked->startnam);
	copy_name(attributes.dispnam, asked->dispnam);
	copy_name(attributes.fmttab, asked->fmttab);
	return attributes;
}

static bool definition_follows(const struct definition *definition)
{
	return definition->attributes.likehead ||
	       (definition->has_request && definition->request.state == CTRACE_CT_LIKEHEAD);
}

/* Chooses the first status, and whether the routine is called for it. */
static void definition_choose_status(struct definition *definition, const struct ct_trace *trace,
				     struct ct_wanted *wanted)
{
	const struct ct_trace_request *request = &definition->request;
	struct ct_status *status = &definition->status;
	bool asks = definition->has_request &&
		    (request->state == CTRACE_CT_ON || request->state == CTRACE_CT_OFF);

	wanted->follows = definition_follows(definition);
	if (wanted->follows) {
		ct_status_get(trace->head, status);
	} else {
		ct_status_get(trace, status);
		if (asks) {
			ct_status_merge(status, request, ct_trace_attributes(trace));
		} else if (definition->has_request && request->has[CT_CLAUSE_BUFSIZE]) {
			status->buffer_asked = status->buffer_rounded = request->bufsize;
		} else if (!definition->has_request && trace->level_before < CTRACE_LEVEL_COUNT &&
			   !ct_only_groups(&trace->attributes)) {
			/* The other interface had switched it on already. */
			status->mode = CTRACE_MODE_ON;
			status->level = trace->level_before;
		}
	}
	wanted->call = status->mode != CTRACE_MODE_OFF && !ct_only_groups(&trace->attributes);
}

static uint32_t definition_check_request(const struct ct_trace *trace,
					 const struct definition *definition,
					 struct ctrace_outcome *out)
{
	const char *member = definition->from == CT_FROM_DEFINE ? definition->asked->parm : NULL;

	if (!definition->has_request)
		return CTRACE_RC_OK;
	return ct_status_check(trace, &definition->request, definition->from, member, out);
}

/* A component's name is never released, so everything that can be refused is refused before the
 * name is registered. */
static uint32_t definition_check(const struct definition *definition, struct ctrace_outcome *out)
{
	const struct ctrace_define *asked = definition->asked;
	struct ct_trace probe = { .attributes = definition->attributes };
	char message[sizeof out->message];
	struct ct_routine routine;
	uint32_t rc;

	if (ct_is_coded(asked->minops))
		probe.attributes.minops = (char *)(uintptr_t)asked->minops;
	ct_table_lock();
	rc = definition_check_name(definition, &probe.head, out);
	if (rc == CTRACE_RC_OK)
		rc = definition_check_request(&probe, definition, out);
	ct_table_unlock();
	if (rc == CTRACE_RC_OK && ct_is_coded(asked->startnam) &&
	    !ct_routine_find(asked->startnam, &routine, message, sizeof message))
		rc = ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_ROUTINE_NOT_LOADED, "%s",
				    message);
	return rc;
}

/* ---- making it ---- */

/* Under the lock: adds the trace, below its head, when no other command works on either. */
static uint32_t definition_begin(struct ct_transaction_pair *pair, struct ct_trace *trace,
				 const struct definition *definition, struct ctrace_outcome *out)
{
	enum ct_transaction_result result = CT_TRANSACTION_OK;
	struct ct_trace *head = NULL;
	uint32_t rc;

	do {
		if (trace->transaction != NULL &&
		    !(ct_transaction_is_mine(trace) && trace->is_defined))
			result = ct_transaction_wait(trace);
		if (result != CT_TRANSACTION_OK)
			return ct_transaction_outcome(result, definition->path.name, out);
		rc = definition_check_name(definition, &head, out);
		if (rc != CTRACE_RC_OK)
			return rc;
		if (head == NULL || head->transaction == NULL || ct_transaction_is_mine(head))
			break;
		result = ct_transaction_wait(head);
	} while (true);
	/* A trace that follows its head must not miss a change of the head. */
	if (definition_follows(definition) && head != NULL && head->transaction == NULL)
		result = ct_transaction_add(&pair->head, head);
	if (result == CT_TRANSACTION_OK)
		result = ct_transaction_add(&pair->trace, trace);
	if (result != CT_TRANSACTION_OK)
		return ct_transaction_outcome(result, definition->path.name, out);
	if (head != NULL)
		ct_table_link(trace, head);
	trace->generation++;
	return CTRACE_RC_OK;
}

static uint32_t definition_start(struct ct_transaction_pair *pair,
				 const struct definition *definition, struct ctrace_outcome *out)
{
	const char *name = definition->path.name;
	struct ct_trace *trace;
	uint32_t component;
	uint32_t rc;

	if (ct_registry_reserve(ct_process.registry, name, strlen(name), &component) != CTRACE_OK)
		return definition_no_storage(definition, out);
	ct_table_lock();
	trace = ct_table_make(component);
	rc = trace != NULL ? definition_begin(pair, trace, definition, out)
			   : definition_no_storage(definition, out);
	ct_table_unlock();
	return rc;
}

static bool definition_fill(struct ct_trace *trace, const struct definition *definition)
{
	const struct ctrace_define *asked = definition->asked;
	struct ct_configured before = ct_registry_configured(ct_process.registry, trace->component);
	/* A head without options of its own has no minimum options either. */
	bool has_minops = ct_is_coded(asked->minops) && !ct_only_groups(&definition->attributes);
	char *minops = has_minops ? strdup(asked->minops) : NULL;

	/* Under the lock, so that a child forked now and a search for a token see all of it or
	 * nothing. */
	ct_table_lock();
	trace->attributes = definition->attributes;
	trace->attributes.minops = minops;
	if (asked->userdata != NULL)
		memcpy(trace->userdata, asked->userdata, sizeof trace->userdata);
	trace->level_before = before.level;
	trace->buffer_before = before.buffer;
	trace->writer_before = before.writer;
	ct_table_unlock();
	ct_trace_describe(trace);
	return minops != NULL || !has_minops;
}

static void definition_undo(struct ct_trace *trace)
{
	const struct ct_level_trace before = { .level = trace->level_before,
					       .minimum = CTRACE_LEVEL_NONE };
	bool is_unsettled;

	ct_delete_subs(trace);
	ct_trace_restore_ring(trace);
	ct_table_lock();
	ct_table_unlink(trace);
	is_unsettled = trace->is_unsettled;
	trace->is_unsettled = false;
	ct_table_unlock();
	/* Its own routine has set a level and then refused. */
	if (is_unsettled)
		(void)!ct_level_set_trace(ct_process.registry, trace->component, &before, NULL,
					  NULL);
	ct_trace_reset(trace);
}

static uint32_t definition_finish(struct ct_transaction *transaction, struct definition *definition,
				  struct ctrace_outcome *out)
{
	struct ct_trace *trace = transaction->traces[0];
	struct ct_wanted wanted = { .is_definition = true, .status = &definition->status };
	uint32_t rc;

	if (!definition_fill(trace, definition) ||
	    ct_dest_set_trace(ct_process.registry, trace->component, true) != CTRACE_OK)
		return definition_no_storage(definition, out);
	rc = definition_check_request(trace, definition,
				      out); /* checked again: the head may have changed */
	if (rc != CTRACE_RC_OK)
		return rc;
	definition_choose_status(definition, trace, &wanted);
	rc = ct_change_carry_out(transaction, &wanted, out);
	if (rc != CTRACE_RC_OK)
		return rc;
	ct_table_lock(); /* both or none in a forked child */
	ct_registry_set_defined(ct_process.registry, trace->component, true);
	trace->is_defined = true;
	if (trace->head != NULL)
		trace->head->subs++;
	ct_table_unlock();
	if (definition->asked->userdata != NULL)
		memcpy(definition->asked->userdata, trace->userdata, sizeof trace->userdata);
	return CTRACE_RC_OK;
}

static uint32_t definition_carry_out(struct definition *definition, struct ctrace_outcome *out)
{
	struct ct_transaction_pair pair;
	uint32_t rc;

	ct_transaction_pair_init(&pair, "DEFINE");
	rc = definition_start(&pair, definition, out);
	if (rc == CTRACE_RC_OK) {
		rc = definition_finish(&pair.trace, definition, out);
		if (rc != CTRACE_RC_OK)
			definition_undo(pair.trace.traces[0]);
	}
	ct_transaction_pair_end(&pair);
	return rc;
}

static uint32_t trace_define(const struct ctrace_define *given, struct ctrace_outcome *out)
{
	struct ctrace_define trimmed;
	const struct ctrace_define *asked = &trimmed;
	struct definition definition = { .asked = asked };
	struct ct_plist_names names;
	struct ct_shield shield;
	uint32_t rc = ct_plist_check_define(given, out);

	if (rc != CTRACE_RC_OK)
		return rc;
	trimmed = *given;
	ct_plist_trim_names(&trimmed, &names);
	rc = keywords_check(asked, out);
	if (rc == CTRACE_RC_OK && ct_thread_locked != 0)
		return ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_RECOVERY,
				      "a signal handler cannot define a trace");
	if (rc == CTRACE_RC_OK && ct_target_self() == NULL)
		rc = ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE,
				    "this process cannot be traced: no memory");
	if (rc == CTRACE_RC_OK)
		rc = ct_path_parse(asked->name, asked->sub, &definition.path, out);
	if (rc == CTRACE_RC_OK)
		rc = definition_check_name_first(&definition, out);
	if (rc != CTRACE_RC_OK)
		return rc;
	definition.attributes = attributes_of(asked);
	rc = definition_find_request(&definition, out);
	/* The rest takes locks about twenty times. */
	ct_shield_begin(&shield);
	if (rc == CTRACE_RC_OK)
		rc = definition_check(&definition, out);
	if (rc == CTRACE_RC_OK)
		rc = definition_carry_out(&definition, out);
	ct_shield_end(&shield);
	return rc;
}

uint32_t ctrace_component_define(const struct ctrace_define *asked, struct ctrace_outcome *out)
{
	CT_CANCEL_OFF();
	struct ctrace_outcome unwanted = { .rc = CTRACE_RC_OK };
	int kept = errno;
	uint32_t rc;

	out = out != NULL ? out : &unwanted;
	memset(out, 0, sizeof *out);
	rc = trace_define(asked, out);
	errno = kept;
	return rc;
}
