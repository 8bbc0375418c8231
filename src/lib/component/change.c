/*
 * change.c - one change of a trace: calls its routine, then puts the change in force, or undoes
 * all.
 *
 * Runs on the thread that gave the command.  Its transaction covers the trace and the sublevels
 * that follow it.  It holds no lock, because the routines belong to the program.  What may fail
 * comes before the first routine is called, as far as possible.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include "lib/component/writer_link.h"

#include <stdlib.h>
#include <string.h>

static const char *trace_name(const struct ct_trace *trace)
{
	return ct_registry_name(ct_process.registry, trace->component);
}

/* ---- asking a routine ---- */

void ct_change_fill(const struct ct_trace *trace, const struct ct_status *status, uint32_t flags,
		    struct ctrace_ctss *out)
{
	const char *minops = ct_trace_attributes(trace)->minops;

	memset(out, 0, sizeof *out);
	out->size = sizeof *out;
	out->flags = flags;
	out->mode = status->mode;
	memcpy(out->userdata, trace->userdata, sizeof out->userdata);
	out->buffer_size = status->buffer_asked;
	out->buffer_granted = ct_status_granted(status->buffer_rounded);
	out->cart = ct_command_cart();
	out->token = ct_token_of(trace);
	ct_path_fill(trace_name(trace), out);
	ct_pad(out->writer, sizeof out->writer, status->writer, strlen(status->writer));
	out->asid_count = status->asid_count;
	memcpy(out->asid, status->asid, sizeof out->asid);
	out->jobname_count = status->jobname_count;
	for (uint32_t i = 0; i < CTRACE_MAX_FILTER; i++)
		ct_pad(out->jobname[i], sizeof out->jobname[i], status->jobname[i],
		       i < status->jobname_count ? strlen(status->jobname[i]) : 0);
	out->options_size = (uint32_t)strlen(status->options);
	memcpy(out->options, status->options, out->options_size);
	if (minops != NULL) {
		out->minops_size = (uint32_t)strlen(minops);
		memcpy(out->minops, minops, out->minops_size);
	}
}

uint32_t ct_change_call(struct ct_trace *trace, struct ct_status *status, uint32_t flags,
			bool *out_call_subs, struct ctrace_outcome *out)
{
	char message[sizeof out->message] = "";
	struct ct_console console;
	struct ct_routine routine;
	struct ctrace_ctss ctss;

	if (trace->attributes.startnam[0] == '\0')
		return CTRACE_RC_OK;
	if (!ct_routine_find(trace->attributes.startnam, &routine, message, sizeof message))
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_ROUTINE_NOT_LOADED, "%s",
				      message);
	ct_change_fill(trace, status, flags, &ctss);
	ct_console_open(&console, message, sizeof message);
	ctss.console = console.number;
	out->ss_rc = ct_routine_call(&routine, &ctss);
	ct_console_close(&console);
	out->ss_rsncode = out->ss_rc != 0 ? ctss.reason : 0;
	if (message[0] != '\0')
		memcpy(out->message, message, sizeof out->message);
	if (out->ss_rc != 0)
		return ct_outcome_set(
			out, CTRACE_RC_REFUSED, CTRACE_RSN_ROUTINE_REFUSED,
			message[0] != '\0' ? NULL
					   : "%s returned %X, reason %X, for OPTIONS=(%.80s)",
			trace->attributes.startnam, out->ss_rc, out->ss_rsncode, status->options);
	memcpy(trace->userdata, ctss.userdata, sizeof trace->userdata);
	ct_trace_describe(trace);
	if (status->buffer_asked != 0)
		status->buffer_rounded = ctss.buffer_size;
	if (out_call_subs != NULL)
		*out_call_subs = ctss.call_subs == CTRACE_YES;
	return CTRACE_RC_OK;
}

/* ---- in force ---- */

enum ctrace_status ct_change_publish(const struct ct_trace *trace)
{
	const struct ct_target *target = ct_target_self();
	struct ct_level_trace level = { .level = CTRACE_LEVEL_NONE,
					.minimum = ct_trace_attributes(trace)->minops != NULL
							   ? CTRACE_DEBUG
							   : CTRACE_LEVEL_NONE };

	if (trace->follows) {
		level.level = CT_LEVEL_UNSET;
	} else if (trace->status != NULL && trace->status->mode == CTRACE_MODE_ON) {
		level.level = trace->status->level;
		level.excluded = ct_status_is_excluded(trace->status);
	}
	/* While a child attaches, there is no target and no callback to call. */
	return ct_level_set_trace(ct_process.registry, trace->component, &level,
				  target != NULL ? target->changed : NULL,
				  target != NULL ? target->changed_user : NULL);
}

/* The ring size of the trace; without one, its head's or the configured one. */
static bool trace_set_buffer(const struct ct_trace *trace, bool follows,
			     const struct ct_status *status)
{
	const char *name = trace_name(trace);
	uint64_t bytes = follows ? 0 : ct_status_granted(status->buffer_rounded);

	if (bytes == 0)
		bytes = trace->buffer_before;
	if (ct_registry_configured(ct_process.registry, trace->component).buffer == bytes)
		return true;
	return ct_channel_set_buffer(ct_process.registry, name, strlen(name), bytes) == CTRACE_OK;
}

/* A trace that is on, or keeps its MINOPS, uses the writer that it names, or none.  Any other
 * uses its head's. */
static bool trace_set_writer(const struct ct_trace *trace, bool follows,
			     const struct ct_status *status)
{
	const char *name = trace_name(trace);
	uint32_t now = ct_registry_configured(ct_process.registry, trace->component).writer;

	if (follows || status->mode == CTRACE_MODE_OFF) {
		if (now != CT_WRITER_UNSET)
			ct_writer_reset(name, strlen(name));
		return true;
	}
	if (status->writer[0] == '\0' ? now == 0
				      : now == ct_writer_number(status->writer) &&
						ct_writer_is_connected(status->writer))
		return true;
	return ct_writer_set(name, strlen(name), status->writer) == CTRACE_OK;
}

static bool status_is_default(const struct ct_status *status,
			      const struct ct_attributes *attributes)
{
	return status->mode != CTRACE_MODE_ON && status->buffer_asked == attributes->bufdflt &&
	       status->buffer_rounded == attributes->bufdflt;
}

/* Most traces are off or follow their head, and need no status of their own. */
static bool status_reserve(struct ct_trace *trace, const struct ct_wanted *wanted,
			   struct ct_status **out_status)
{
	*out_status = NULL;
	if (wanted->follows || status_is_default(wanted->status, ct_trace_attributes(trace)))
		return true;
	*out_status = malloc(sizeof **out_status);
	return *out_status != NULL;
}

/* ---- the end of a command ---- */

void ct_transaction_end(struct ct_transaction *transaction)
{
	for (uint32_t i = 0; i < transaction->count; i++) {
		struct ct_trace *trace = transaction->traces[i];
		bool is_unsettled;

		ct_table_lock();
		is_unsettled = trace->is_unsettled && trace->is_defined;
		trace->is_unsettled = false;
		ct_table_unlock();
		if (is_unsettled)
			(void)!ct_change_publish(trace);
	}
	ct_transaction_release(transaction);
}

void ct_transaction_pair_init(struct ct_transaction_pair *pair, const char *command)
{
	ct_transaction_init(&pair->head, command);
	ct_transaction_init(&pair->trace, command);
}

void ct_transaction_pair_end(struct ct_transaction_pair *pair)
{
	ct_transaction_end(&pair->trace);
	ct_transaction_end(&pair->head);
}

/* ---- the change ---- */

/* A change under way: the former state, and the routines that have accepted the new one. */
struct change {
	struct ct_transaction *transaction;
	struct ct_status former;
	struct ct_status status;
	uint32_t reported; /* number of the transaction's traces whose routine has accepted */
	bool former_follows;
};

static uint32_t status_flags(const struct ct_status *status, bool is_definition)
{
	if (status->mode == CTRACE_MODE_ON || (is_definition && status->mode == CTRACE_MODE_MIN))
		return CTRACE_CTSS_START;
	return CTRACE_CTSS_STOP;
}

/* Calls the routines that had accepted again, with the former status. */
static void change_undo(struct change *change)
{
	struct ctrace_outcome ignored = { .rc = CTRACE_RC_OK };

	while (change->reported > 0) {
		struct ct_status former = change->former;

		(void)ct_change_call(change->transaction->traces[--change->reported], &former,
				     status_flags(&former, false), NULL, &ignored);
	}
}

/* The head's routine may have defined sublevels that follow it. */
static uint32_t transaction_add_followers(struct ct_transaction *transaction,
					  struct ctrace_outcome *out)
{
	enum ct_transaction_result result;

	ct_table_lock();
	result = ct_transaction_add_tree(transaction, transaction->traces[0], true);
	ct_table_unlock();
	return ct_transaction_outcome(result, trace_name(transaction->traces[0]), out);
}

/* Calls the head's routine first, then its followers' if the head's routine asks for it. */
static uint32_t change_call_all(struct change *change, const struct ct_wanted *wanted,
				struct ctrace_outcome *out)
{
	uint32_t flags = status_flags(&change->status, wanted->is_definition);
	struct ct_transaction *transaction = change->transaction;
	bool call_subs = false;
	uint32_t rc =
		ct_change_call(transaction->traces[0], &change->status, flags, &call_subs, out);

	if (rc != CTRACE_RC_OK)
		return rc;
	change->reported = 1;
	if (call_subs)
		rc = transaction_add_followers(transaction, out);
	for (uint32_t i = 1; call_subs && rc == CTRACE_RC_OK && i < transaction->count; i++) {
		struct ct_status status = change->status;

		rc = ct_change_call(transaction->traces[i], &status, flags, NULL, out);
		if (rc == CTRACE_RC_OK)
			change->reported = i + 1;
	}
	return rc;
}

static void trace_replace_status(struct ct_trace *trace, struct ct_status *status, bool follows)
{
	ct_table_lock();
	trace->status = status;
	trace->follows = follows;
	ct_table_unlock();
}

/* On entry *kept is the memory for the new status; on success, the old status. */
static bool trace_put_in_force(struct ct_trace *trace, bool follows, const struct ct_status *status,
			       struct ct_status **kept)
{
	struct ct_status *former = trace->status;
	bool followed = trace->follows;

	if (*kept != NULL)
		**kept = *status;
	trace_replace_status(trace, *kept, follows);
	if (ct_change_publish(trace) == CTRACE_OK) {
		*kept = former;
		return true;
	}
	trace_replace_status(trace, former, followed);
	return false;
}

/* Warns a user who filters by the ASID of a process that has ended. */
static void outcome_report_excluded(const struct ct_wanted *wanted, struct ctrace_outcome *out)
{
	struct ct_space self = ct_space_self();

	if (!wanted->follows && wanted->status->mode == CTRACE_MODE_ON && out->message[0] == '\0' &&
	    ct_status_is_excluded(wanted->status))
		(void)ct_outcome_set(
			out, CTRACE_RC_OK, 0,
			"in force; the filters leave this process, ASID(%04X) JOBNAME(%s), out",
			(unsigned)self.asid, self.jobname);
}

/* Warns about a writer that does not run.  No event is lost, but the data go elsewhere. */
static void outcome_report_no_writer(const struct ct_wanted *wanted, struct ctrace_outcome *out)
{
	const char *writer = wanted->status->writer;

	if (!wanted->follows && wanted->status->mode == CTRACE_MODE_ON && writer[0] != '\0' &&
	    out->message[0] == '\0' && !ct_writer_is_connected(writer))
		(void)ct_outcome_set(out, CTRACE_RC_OK, 0, CT_NO_WRITER, writer);
}

uint32_t ct_change_carry_out(struct ct_transaction *transaction, const struct ct_wanted *wanted,
			     struct ctrace_outcome *out)
{
	struct ct_trace *trace = transaction->traces[0];
	struct change change = { .transaction = transaction,
				 .status = *wanted->status,
				 .former_follows = trace->follows };
	struct ct_status *kept;
	uint32_t rc = CTRACE_RC_OK;

	ct_status_get(trace, &change.former);
	if (!status_reserve(trace, wanted, &kept))
		return ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE,
				      "no memory for the trace's status");
	if (!trace_set_buffer(trace, wanted->follows, &change.status)) {
		rc = ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE,
				    "no ring of that size: there are too many sizes in use");
		goto undo_status;
	}
	if (wanted->call)
		rc = change_call_all(&change, wanted, out);
	if (rc != CTRACE_RC_OK)
		goto undo_reported;
	/* The routine may have rounded the size. */
	if (!trace_set_buffer(trace, wanted->follows, &change.status)) {
		rc = ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE,
				    "no ring of the size that the routine made of it");
		goto undo_reported;
	}
	if (!trace_set_writer(trace, wanted->follows, &change.status)) {
		rc = ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE,
				    "no ring for writer %s: there are too many in use",
				    change.status.writer);
		goto undo_reported;
	}
	if (!trace_put_in_force(trace, wanted->follows, &change.status, &kept)) {
		rc = ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE,
				    "no memory to change the threshold");
		goto undo_reported;
	}
	free(kept);
	outcome_report_excluded(wanted, out);
	outcome_report_no_writer(wanted, out);
	return CTRACE_RC_OK;

undo_reported:
	change_undo(&change);
	(void)trace_set_buffer(trace, change.former_follows, &change.former);
	(void)trace_set_writer(trace, change.former_follows, &change.former);
undo_status:
	free(kept);
	return rc;
}
