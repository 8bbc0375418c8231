/*
 * destinations.c - operations on all destinations of a consumer: open, rotate, make durable, end.
 *
 * Runs under the consumer's lock, which is released while an emitter's method runs.  Then another
 * thread may go on with the consumer: `turn` says so.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/consumer/delivery.h"

/* Do its events go to a writer?  Then the process need not open a file for them. */
static bool has_writer(const struct ct_session *session, const struct ct_component_entry *entry)
{
	uint32_t writer = __atomic_load_n(&entry->writer, __ATOMIC_RELAXED);

	return writer != 0 &&
	       __atomic_load_n(&session->head->writer[writer % CT_WRITER_LIMIT].slots,
			       __ATOMIC_ACQUIRE) != 0;
}

uint32_t ct_consumer_open(struct ct_consumer *consumer)
{
	const struct ct_session *session = consumer->source.session;
	uint32_t count = __atomic_load_n(&session->head->component_count, __ATOMIC_ACQUIRE);
	uint32_t turn = consumer->turn;
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct ct_component_entry *entry = &session->components[i];

		if ((__atomic_load_n(&entry->flags, __ATOMIC_ACQUIRE) & CT_COMPONENT_KNOWN) != 0 &&
		    __atomic_load_n(&entry->level_word.level, __ATOMIC_RELAXED) !=
			    CTRACE_LEVEL_NONE &&
		    !has_writer(session, entry))
			wanted |= __atomic_load_n(&entry->dests, __ATOMIC_RELAXED);
	}
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++) {
		struct ct_destination *destination = &consumer->destinations[dest];

		if ((wanted & 1u << dest) == 0 || ct_destination_is_busy(destination))
			continue;
		ct_destination_close_if_wanted(destination);
		if (consumer->turn == turn)
			(void)ct_destination_open(destination, false);
		if (consumer->turn != turn)
			break;
	}
	return ct_consumer_stuck(consumer);
}

void ct_consumer_reopen(struct ct_consumer *consumer, uint32_t mask)
{
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++) {
		struct ct_destination *destination = &consumer->destinations[dest];

		if ((mask & 1u << dest) == 0)
			continue;
		destination->retry_at_ns = 0;
		/* One that is not open takes the new settings when it opens; one whose method runs
		 * may be opening with the old ones. */
		destination->reopen_wanted =
			destination->self != NULL || ct_destination_is_busy(destination);
	}
}

bool ct_consumer_is_busy(const struct ct_consumer *consumer)
{
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++)
		if (ct_destination_is_busy(&consumer->destinations[dest]))
			return true;
	return false;
}

enum ctrace_status ct_consumer_sync(struct ct_consumer *consumer)
{
	enum ctrace_status status = CTRACE_OK;

	for (uint32_t dest = 0; dest < CT_DEST_LIMIT && status == CTRACE_OK; dest++)
		status = ct_destination_sync(&consumer->destinations[dest]);
	return status;
}

bool ct_consumer_open_ending(struct ct_consumer *consumer)
{
	bool are_open = true;

	for (uint32_t dest = 0; dest < CT_EMITTER_LIMIT; dest++)
		are_open &= ct_destination_open_ending(&consumer->destinations[dest]);
	return are_open;
}

void ct_consumer_close(struct ct_consumer *consumer)
{
	uint32_t turn;

	ct_ownership_report_late(consumer);
	turn = consumer->turn;
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT && consumer->turn == turn; dest++) {
		struct ct_destination *destination = &consumer->destinations[dest];

		if (ct_destination_is_busy(destination))
			continue;
		/* Reports losses after its last event. */
		ct_losses_report(consumer, destination, NULL);
		ct_destination_end(destination);
	}
}

enum ctrace_status ct_consumer_rotate(struct ct_consumer *consumer, uint32_t mask,
				      uint32_t *out_done)
{
	enum ctrace_status worst = CTRACE_NOT_FOUND;
	bool has_failed = false;
	uint32_t done = 0;

	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++) {
		enum ctrace_status status = CTRACE_NOT_FOUND;

		if ((mask & 1u << dest) != 0)
			status = ct_destination_is_busy(&consumer->destinations[dest])
					 ? CTRACE_TIMED_OUT
					 : ct_destination_rotate(&consumer->destinations[dest]);
		if (status == CTRACE_OK)
			done |= 1u << dest;
		else if (status != CTRACE_NOT_FOUND && !has_failed)
			worst = status;
		has_failed |= status != CTRACE_OK && status != CTRACE_NOT_FOUND &&
			      status != CTRACE_UNSUPPORTED;
	}
	*out_done = done;
	return done != 0 && !has_failed ? CTRACE_OK : worst;
}
