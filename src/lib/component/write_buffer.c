/*
 * write_buffer.c - CTRACEWR: makes events of the entries in an application's own buffer.
 *
 * Any thread, not in a signal handler.  The entries go into the calling thread's ring for imported
 * entries, under the component's policy for a full ring.  From there they are handled as all
 * events: once this returns they survive the process.  Nothing in the buffer is trusted; it is
 * accepted whole or refused whole.  errno is kept.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <errno.h>

/* A capture under way. */
struct capture {
	uint32_t component;
	struct ct_sync sync;
	uint64_t now; /* ticks */
	size_t written;
	size_t lost;
	bool output_fails;
};

static struct ctrace_write_outcome outcome_answer(uint32_t rc, uint32_t reason)
{
	return (struct ctrace_write_outcome){ .rc = rc, .rsncode = reason << 8 };
}

/* ---- entries ---- */

/* Converts entry times to ticks with the clocks of now: the session's last clock point may be
 * old when there was nothing to trace. */
static void capture_start(struct capture *capture, uint32_t component)
{
	*capture = (struct capture){ .component = component };
	ct_shared_sync_copy(&ct_process.session.head->sync, &capture->sync);
	ct_sync_update(&capture->sync, 0);
	capture->now = ct_clock_ticks();
}

/* A time in the future would date all later entries of this ring, so the time of the capture is
 * the limit. */
static uint64_t capture_ticks(const struct capture *capture, uint64_t tod)
{
	uint64_t ticks = ct_sync_ticks(&capture->sync, ct_tod_wall_ns(tod));

	return ticks < capture->now ? ticks : capture->now;
}

static void capture_write_entry(struct capture *capture, const struct ct_cte *entry)
{
	const struct ct_event_head head = { .component = capture->component,
					    .event_id = entry->entry_id,
					    .level = CTRACE_INFO };
	const struct ctrace_item item = CTRACE_BIN(entry->data, entry->size);
	uint32_t number = ct_trace_class(&head, &item, 1);
	uint64_t ticks = capture_ticks(capture, entry->time);
	struct ct_reservation reservation;
	enum ctrace_status status = ct_trace_reserve_imported(
		capture->component, ct_event_size(number, &item, 1), &ticks, &reservation);

	if (status != CTRACE_OK) {
		capture->lost++;
	} else {
		ct_event_encode(reservation.at, number, ticks, &head, &item, 1);
		status = ct_trace_commit(&reservation, capture->component, CTRACE_INFO);
		capture->written++;
	}
	capture->output_fails |= status == CTRACE_OUTPUT_ERROR;
}

/* The buffer held `count` entries when it was checked.  Entries that its owner has damaged since
 * then are lost. */
static void capture_write_entries(struct capture *capture, const void *buffer, size_t size,
				  size_t count)
{
	size_t offset = 0;
	struct ct_cte entry;

	for (size_t i = 0; i < count; i++) {
		if (ct_cte_next(buffer, size, &offset, &entry) == CTRACE_OK) {
			capture_write_entry(capture, &entry);
		} else {
			ct_trace_count_lost(CTRACE_LOSS_DAMAGED, capture->component);
			capture->lost++;
		}
	}
}

static struct ctrace_write_outcome outcome_report(const struct capture *capture)
{
	struct ctrace_write_outcome outcome = outcome_answer(CTRACE_RC_OK, 0);

	if (capture->output_fails)
		outcome = outcome_answer(CTRACE_WR_LOST, CTRACE_WR_OUTPUT);
	else if (capture->lost != 0)
		outcome = outcome_answer(CTRACE_WR_LOST, CTRACE_WR_NO_SPACE);
	outcome.written = (uint32_t)capture->written;
	outcome.lost = (uint32_t)capture->lost;
	return outcome;
}

/* ---- the buffer ---- */

/* Pairs with the release stores in ct_level_publish(): the channel that is loaded after this is
 * at least as new. */
static bool component_is_off(uint32_t component)
{
	return __atomic_load_n(&ct_process.session.components[component].level_word.level,
			       __ATOMIC_ACQUIRE) > CTRACE_INFO;
}

/* The buffer is in state CAPTURE: a correct program changes neither it nor its TBWC. */
static struct ctrace_write_outcome buffer_write_imported(const struct ctrace_write *request,
							 const struct ct_token *token)
{
	const struct ctrace_tbwc *tbwc = request->tbwc;
	struct ctrace_write_outcome outcome =
		outcome_answer(CTRACE_WR_REFUSED, CTRACE_WR_MALFORMED);
	struct capture capture;
	size_t count;

	if (request->bufflen == 0 || request->bufflen > tbwc->size)
		return outcome_answer(CTRACE_WR_REFUSED, CTRACE_WR_LENGTH);
	if ((token->wtrmode == CTRACE_DREF || token->wtrmode == CTRACE_FIXED) && !tbwc->is_locked)
		return outcome_answer(CTRACE_WR_REFUSED, CTRACE_WR_NOT_LOCKED);
	if (component_is_off(token->component))
		return outcome_answer(CTRACE_WR_OFF, 0);
	if (!ct_cte_check(tbwc->buffer, request->bufflen, &count, &outcome.offset))
		return outcome;
	capture_start(&capture, token->component);
	capture_write_entries(&capture, tbwc->buffer, request->bufflen, count);
	return outcome_report(&capture);
}

static struct ctrace_write_outcome buffer_write(const struct ctrace_write *request)
{
	struct ctrace_write_outcome outcome;
	struct ct_token token;

	if (request == NULL || request->size < sizeof *request ||
	    !ct_token_find(request->token, &token))
		return outcome_answer(CTRACE_WR_REFUSED, CTRACE_WR_TOKEN);
	if (!token.wtr)
		return outcome_answer(CTRACE_WR_REFUSED, CTRACE_WR_NO_WTR);
	if (request->tbwc == NULL || !ct_tbwc_capture(request->tbwc))
		return outcome_answer(CTRACE_WR_REFUSED, CTRACE_WR_NOT_FULL);
	outcome = buffer_write_imported(request, &token);
	/* Before the wait for the output: the entries are in the ring, and the application may
	 * fill the buffer again. */
	ct_tbwc_release(request->tbwc,
			outcome.rc == CTRACE_WR_REFUSED ? CTRACE_TBWC_FULL : CTRACE_TBWC_AVAILABLE);
	if (request->synch == CTRACE_YES &&
	    (outcome.rc == CTRACE_RC_OK || outcome.rc == CTRACE_WR_LOST) &&
	    ct_process_flush(CTRACE_WR_SYNCH_MS) != CTRACE_OK) {
		outcome.rc = CTRACE_WR_LOST;
		outcome.rsncode = CTRACE_WR_OUTPUT << 8;
	}
	return outcome;
}

uint32_t ctrace_write_buffer(const struct ctrace_write *request, struct ctrace_write_outcome *out)
{
	CT_CANCEL_OFF();
	int kept = errno;
	struct ctrace_write_outcome outcome = buffer_write(request);

	errno = kept;
	if (out != NULL)
		*out = outcome;
	return outcome.rc;
}
