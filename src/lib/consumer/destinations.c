/*
 * destinations.c - what is done to all destinations of a drain at once: opened, rotated, made
 * durable, ended.
 *
 * Runs under the drain's lock, which is released while an emitter's method runs.  Then another
 * thread may go on with the drain: `turn` says so.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/consumer/delivery.h"

/* Its events go to a writer: the process need not open a file for them. */
static bool has_writer(const struct ct_session *session, const struct ct_component_entry *entry)
{
	uint32_t writer = __atomic_load_n(&entry->writer, __ATOMIC_RELAXED);

	return writer != 0 && __atomic_load_n(&session->head->writer[writer % CT_WRITER_LIMIT].slots, __ATOMIC_ACQUIRE) != 0;
}

uint32_t ct_drain_open(struct ct_drain *drain)
{
	const struct ct_session *session = drain->source.session;
	uint32_t count = __atomic_load_n(&session->head->component_count, __ATOMIC_ACQUIRE);
	uint32_t turn = drain->turn;
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct ct_component_entry *entry = &session->components[i];

		if ((__atomic_load_n(&entry->flags, __ATOMIC_ACQUIRE) & CT_COMPONENT_KNOWN) != 0 &&
		    __atomic_load_n(&entry->gate.level, __ATOMIC_RELAXED) != CTRACE_LEVEL_NONE && !has_writer(session, entry))
			wanted |= __atomic_load_n(&entry->dests, __ATOMIC_RELAXED);
	}
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++) {
		struct ct_destination *destination = &drain->destinations[dest];

		if ((wanted & 1u << dest) == 0 || ct_destination_is_busy(destination))
			continue;
		ct_destination_close_if_wanted(destination);
		if (drain->turn == turn)
			(void)ct_destination_open(destination, false);
		if (drain->turn != turn)
			break;
	}
	return ct_drain_stuck(drain);
}

void ct_drain_reopen(struct ct_drain *drain, uint32_t mask)
{
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++) {
		struct ct_destination *destination = &drain->destinations[dest];

		if ((mask & 1u << dest) == 0)
			continue;
		destination->retry_at_ns = 0;
		/* One that is not open takes the new settings when it opens; one whose method runs may be opening with the old ones. */
		destination->reopen_wanted = destination->self != NULL || ct_destination_is_busy(destination);
	}
}

bool ct_drain_is_busy(const struct ct_drain *drain)
{
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++)
		if (ct_destination_is_busy(&drain->destinations[dest]))
			return true;
	return false;
}

enum ctrace_status ct_drain_sync(struct ct_drain *drain)
{
	enum ctrace_status status = CTRACE_OK;

	for (uint32_t dest = 0; dest < CT_DEST_LIMIT && status == CTRACE_OK; dest++)
		status = ct_destination_sync(&drain->destinations[dest]);
	return status;
}

void ct_drain_close(struct ct_drain *drain)
{
	uint32_t turn;

	ct_custody_report_late(drain);
	turn = drain->turn;
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT && drain->turn == turn; dest++) {
		struct ct_destination *destination = &drain->destinations[dest];

		if (ct_destination_is_busy(destination))
			continue;
		/* What was lost after its last event. */
		ct_losses_report(drain, destination, NULL);
		ct_destination_end(destination);
	}
}

enum ctrace_status ct_drain_rotate(struct ct_drain *drain, uint32_t mask, uint32_t *out_done)
{
	enum ctrace_status worst = CTRACE_NOT_FOUND;
	bool has_failed = false;
	uint32_t done = 0;

	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++) {
		enum ctrace_status status = CTRACE_NOT_FOUND;

		if ((mask & 1u << dest) != 0)
			status = ct_destination_is_busy(&drain->destinations[dest]) ? CTRACE_TIMED_OUT
										    : ct_destination_rotate(&drain->destinations[dest]);
		if (status == CTRACE_OK)
			done |= 1u << dest;
		else if (status != CTRACE_NOT_FOUND && !has_failed)
			worst = status;
		has_failed |= status != CTRACE_OK && status != CTRACE_NOT_FOUND && status != CTRACE_UNSUPPORTED;
	}
	*out_done = done;
	return done != 0 && !has_failed ? CTRACE_OK : worst;
}
