/*
 * delete.c - CTRACE DELETE.
 *
 * Runs on the thread of the program that calls it; any number at a time, not in a signal handler.
 * Its transaction covers the whole tree of the trace.  The routines of active traces clean up, the
 * deepest first; then the whole tree is removed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <errno.h>
#include <string.h>

/* Calls its routine to clean up.  The caller receives the result, but the trace goes anyway. */
static void trace_stop(struct ct_trace *trace, struct ctrace_outcome *out)
{
	struct ctrace_outcome one = { .rc = CTRACE_RC_OK };
	struct ct_status status;

	ct_status_get(trace, &status);
	if (status.mode == CTRACE_MODE_OFF || ct_only_groups(&trace->attributes))
		return;
	status.mode = CTRACE_MODE_OFF;
	memset(status.options, 0, sizeof status.options);
	(void)ct_change_call(trace, &status, CTRACE_CTSS_STOP, NULL, &one);
	if (out->ss_rc == 0 && one.message[0] != '\0')
		memcpy(out->message, one.message, sizeof out->message);
	if (out->ss_rc == 0) {
		out->ss_rc = one.ss_rc;
		out->ss_rsncode = one.ss_rsncode;
	}
}

static void trace_remove(struct ct_trace *trace)
{
	struct ct_level_trace level = { .level = trace->level_before,
					.minimum = CTRACE_LEVEL_NONE };
	const struct ct_target *target = ct_target_self();
	struct ct_shield shield;

	ct_shield_begin(
		&shield); /* for one trace at a time, so that signals are handled in between */
	ct_table_lock();  /* both or none in a forked child */
	ct_registry_set_defined(ct_process.registry, trace->component, false);
	trace->is_defined = false;
	if (trace->head != NULL)
		trace->head->subs--;
	ct_table_unlink(trace);
	ct_table_unlock();
	ct_trace_restore_ring(trace);
	(void)!ct_level_set_trace(ct_process.registry, trace->component, &level,
				  target != NULL ? target->changed : NULL,
				  target != NULL ? target->changed_user : NULL);
	ct_trace_reset(trace);
	ct_shield_end(&shield);
}

/* A transaction lists heads first; so the loop runs from its end. */
static void transaction_remove_traces(const struct ct_transaction *transaction,
				      struct ctrace_outcome *out)
{
	for (uint32_t i = transaction->count; i > 0; i--)
		trace_stop(transaction->traces[i - 1], out);
	for (uint32_t i = transaction->count; i > 0; i--)
		trace_remove(transaction->traces[i - 1]);
}

/* A sublevel's routine may be waiting for the trace that this thread holds; it is refused.  A
 * sublevel that another command keeps in use stays, below an undefined head; it can still be
 * deleted by its own name. */
void ct_delete_subs(struct ct_trace *trace)
{
	struct ctrace_outcome ignored = { .rc = CTRACE_RC_OK };
	enum ct_transaction_result result = CT_TRANSACTION_OK;
	bool has_sub;

	do {
		struct ct_transaction transaction;

		ct_transaction_init(&transaction, "DELETE");
		transaction.is_firm = true;
		ct_table_lock();
		trace->is_leaving = true;
		has_sub = trace->first_sub != NULL;
		if (has_sub)
			result = ct_transaction_add_tree(&transaction, trace->first_sub, false);
		ct_table_unlock();
		if (result == CT_TRANSACTION_OK)
			transaction_remove_traces(&transaction, &ignored);
		ct_transaction_release(&transaction);
	} while (has_sub && result == CT_TRANSACTION_OK);
}

static uint32_t transaction_begin_delete(struct ct_transaction *transaction,
					 const struct ct_path *path, bool only_without_subs,
					 struct ctrace_outcome *out)
{
	struct ct_trace *trace;
	enum ct_transaction_result result;

	trace = ct_trace_find_defined(path->name, strlen(path->name));
	if (trace == NULL)
		return ct_outcome_set(out, CTRACE_RC_EXISTS, 0, "%s is not defined", path->name);
	result = ct_transaction_add_tree(transaction, trace, false);
	if (result != CT_TRANSACTION_OK)
		return ct_transaction_outcome(result, path->name, out);
	if (!trace->is_defined) /* another DELETE was faster */
		return ct_outcome_set(out, CTRACE_RC_EXISTS, 0, "%s is not defined", path->name);
	if (only_without_subs && trace->first_sub != NULL)
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_HAS_SUBS,
				      "IFNOSUBS: %s has %u sublevels", path->name, trace->subs);
	for (uint32_t i = 0; i < transaction->count; i++)
		transaction->traces[i]->is_leaving = true;
	return CTRACE_RC_OK;
}

static uint32_t delete_carry_out(const struct ctrace_delete *asked, struct ctrace_outcome *out)
{
	struct ct_transaction transaction;
	char room[CTRACE_MAX_NAME + 1];
	struct ct_path path;
	const char *name;
	uint32_t rc = ct_plist_check_delete(asked, out);

	if (rc != CTRACE_RC_OK)
		return rc;
	if (ct_thread_locked != 0)
		return ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_RECOVERY,
				      "a signal handler cannot delete a trace");
	name = ct_plist_trim(asked->name, room);
	if (!ct_is_coded(name) || !ct_trace_name_is_valid(name, strnlen(name, CT_NAME_SIZE)) ||
	    ct_process_attach() == NULL)
		return ct_outcome_set(out, CTRACE_RC_EXISTS, 0, "no such trace is defined");
	rc = ct_path_parse(name, asked->sub, &path, out);
	if (rc != CTRACE_RC_OK)
		return rc;
	ct_transaction_init(&transaction, "DELETE");
	ct_table_lock();
	rc = transaction_begin_delete(&transaction, &path, asked->ifnosubs == CTRACE_YES, out);
	ct_table_unlock();
	if (rc == CTRACE_RC_OK)
		transaction_remove_traces(&transaction, out);
	ct_transaction_release(&transaction);
	return rc;
}

uint32_t ctrace_component_delete(const struct ctrace_delete *asked, struct ctrace_outcome *out)
{
	CT_CANCEL_OFF();
	struct ctrace_outcome unwanted = { .rc = CTRACE_RC_OK };
	int kept = errno;
	uint32_t rc;

	out = out != NULL ? out : &unwanted;
	memset(out, 0, sizeof *out);
	rc = delete_carry_out(asked, out);
	errno = kept;
	return rc;
}
