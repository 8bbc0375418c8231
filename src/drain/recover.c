/*
 * recover.c - delivers what dead processes left in their rings, and removes their folders.
 *
 * Runs in `ctrace recover`, in other verbs on the way, and on the agent thread of a process that starts.  The dead process's session
 * lock is held meanwhile, so two recoverers never meet.  Everything that is read may be hostile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "drain/delivery.h"

#include <stdlib.h>
#include <unistd.h>

struct orphan {
	struct ct_session session;
	struct ct_ring *rings; /* head NULL: could not be read */
	uint32_t count;
	uint32_t unreadable; /* rings */
	uint64_t damaged;    /* bytes in the others */
	uint64_t undeliverable;
};

struct walk {
	struct ct_recovery *total;
	ct_recover_report *report;
	void *user;
};

static uint32_t orphan_count(void *user)
{
	return ((struct orphan *)user)->count;
}

static struct ct_ring *orphan_ring(void *user, uint32_t index)
{
	struct ct_ring *ring = &((struct orphan *)user)->rings[index];

	return ring->head != NULL ? ring : NULL;
}

static enum ctrace_status load_rings(struct orphan *orphan)
{
	orphan->count = orphan->session.head->ring_count;
	orphan->rings = calloc(orphan->count + 1u, sizeof *orphan->rings);
	if (orphan->rings == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	for (uint32_t i = 0; i < orphan->count; i++) {
		enum ctrace_status status = ct_ring_load(&orphan->rings[i], &orphan->session, i);

		if (status == CTRACE_NOT_ENOUGH_MEMORY || status == CTRACE_OS_ERROR)
			return status;
		orphan->unreadable += status != CTRACE_OK;
	}
	return CTRACE_OK;
}

static void close_orphan(struct orphan *orphan)
{
	for (uint32_t i = 0; orphan->rings != NULL && i < orphan->count; i++)
		ct_ring_close(&orphan->rings[i]);
	free(orphan->rings);
}

/* True when nothing is left to deliver. */
static bool deliver_all(struct orphan *orphan, uint64_t *out_delivered)
{
	/* The flight recorder's rings count when the trigger was pulled, and when a sudden death is one. */
	uint32_t flight_wanted = orphan->session.head->flight_at_death | orphan->session.head->flight_wanted;
	struct ct_drain_source source = {
		.session = &orphan->session,
		.ring_count = orphan_count,
		.ring_at = orphan_ring,
		.user = orphan,
		.flight_wanted = &flight_wanted,
		.recovering = true,
	};
	struct ct_drain_result result = { 0 };
	struct ct_drain *drain;
	bool durable;

	if (ct_drain_create(&source, &drain) != CTRACE_OK)
		return false;
	ct_drain_pass(drain, true, &result);
	/* The rings go next: what came from them must not be lost with the machine. */
	durable = ct_drain_sync(drain) == CTRACE_OK;
	ct_drain_close(drain);
	ct_drain_destroy(drain);
	*out_delivered = result.delivered;
	orphan->damaged = result.damaged;
	orphan->undeliverable = result.undeliverable;
	return durable && result.pending == 0 && result.failing == 0;
}

static void report(const struct walk *walk, const struct ct_folder_entry *entry, bool ok, uint64_t delivered, const char *message)
{
	walk->total->recovered += ok;
	walk->total->kept += !ok;
	walk->total->delivered += delivered;
	if (walk->report != NULL)
		walk->report(entry->run_directory, entry->name, ok, delivered, message, walk->user);
}

static const char *outcome(const struct orphan *orphan)
{
	if (orphan->damaged != 0)
		return "a part was damaged; the rest is delivered";
	return orphan->undeliverable == 0 ? "delivered" : "delivered, except to destinations that ended with the process";
}

/* An external writer that outlived the process takes what is in its rings, and then recovers the rest. */
static bool writer_works(struct ct_session *session)
{
	for (uint32_t i = 1; i < CT_WRITER_LIMIT; i++)
		if (session->head->writer[i].name[0] != '\0' && ct_session_writer_lives(session, i))
			return true;
	return false;
}

static void recover_one(const struct ct_folder_entry *entry, void *user)
{
	const struct walk *walk = user;
	struct orphan orphan = { 0 };
	enum ctrace_status status;
	uint64_t delivered = 0;

	if (entry->is_alive || entry->uid != (uint32_t)geteuid())
		return;
	status = ct_session_load(&orphan.session, entry->run_directory, entry->name, true);
	if (status == CTRACE_TIMED_OUT || status == CTRACE_NOT_FOUND)
		return; /* it lives after all, or somebody else has just recovered it */
	if (status == CTRACE_OK && writer_works(&orphan.session)) {
		ct_session_close(&orphan.session, false);
		return;
	}
	walk->total->folders++;
	if (status != CTRACE_OK) {
		report(walk, entry, false, 0, ctrace_status_text(status));
		return;
	}
	status = load_rings(&orphan);
	if (status != CTRACE_OK) {
		report(walk, entry, false, 0, ctrace_status_text(status));
	} else if (!deliver_all(&orphan, &delivered)) {
		report(walk, entry, false, delivered, "a destination is failing; what is left is kept");
	} else if (orphan.unreadable != 0) {
		report(walk, entry, false, delivered, "a ring is damaged; the rest is delivered, the folder is kept");
	} else {
		ct_folder_remove(entry->run_directory, entry->name);
		report(walk, entry, true, delivered, outcome(&orphan));
	}
	walk->total->damaged += orphan.damaged;
	walk->total->undeliverable += orphan.undeliverable;
	close_orphan(&orphan);
	ct_session_close(&orphan.session, false);
}

void ct_recover(const char *run_directory, struct ct_recovery *total, ct_recover_report *report_folder, void *user)
{
	struct walk walk = { .total = total, .report = report_folder, .user = user };

	ct_folder_each(run_directory, recover_one, &walk);
}
