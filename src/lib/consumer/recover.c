/*
 * recover.c - delivers what dead processes left in their rings, and removes their directories.
 *
 * Runs in `ctrace recover`, in other verbs before their own work, and on a thread of a traced
 * process that no other thread waits for.  The dead process's session lock is held meanwhile, so
 * two recoverers never meet.  Everything that is read may be hostile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/consumer/delivery.h"

#include <fcntl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* pause before a guest's next try; it doubles each time */
#define FIRST_PAUSE_NS 10000000000u
#define PAUSE_DOUBLINGS 9u /* up to an hour and a half */
#define OUTCOME_SIZE 160

struct orphan {
	struct ct_session session;
	struct ct_ring *rings; /* head NULL: could not be read */
	uint32_t count;
	uint32_t gone;        /* rings that were the dead process's memory */
	uint64_t damaged;     /* bytes in the others */
	struct ct_buf damage; /* what cannot be read, and how much */
	uint64_t undeliverable;
	bool is_left;                /* some events were not delivered */
	bool is_failing;             /* and a destination is why */
	struct ct_buf failures;      /* of the destinations: which, and why */
	char *places[CT_DEST_LIMIT]; /* paths, or NULL */
	struct ct_buf notes;         /* lines about the outputs */
	bool is_changed;             /* somebody has changed an output since the process died */
};

/* One directory's, for the methods of its emitters. */
struct delivery {
	const struct ct_recover_options *options;
	const struct ct_directory_entry *entry;
	struct ct_consumer *consumer;
};

struct walk {
	const struct ct_recover_options *options;
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
		orphan->gone += orphan->session.head->ring_place[i] == CT_RING_PRIVATE;
	}
	return CTRACE_OK;
}

static void close_orphan(struct orphan *orphan)
{
	for (uint32_t i = 0; orphan->rings != NULL && i < orphan->count; i++)
		ct_ring_close(&orphan->rings[i]);
	free(orphan->rings);
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++)
		free(orphan->places[dest]);
	ct_buf_fini(&orphan->damage);
	ct_buf_fini(&orphan->notes);
	ct_buf_fini(&orphan->failures);
}

/* Notes the output path of each destination of the dead process. */
static void note_places(struct orphan *orphan)
{
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++) {
		const char *path = ct_dest_path(&orphan->session, dest);

		orphan->places[dest] = path[0] != '\0' ? strdup(path) : NULL;
	}
}

/* For a process that died before it noted a place: did its output get a variant of the wanted name?
 */
static bool output_is_beside(const char *path, uint32_t pid)
{
	char suffix[16];
	size_t size = strlen(path),
	       suffix_size = (size_t)snprintf(suffix, sizeof suffix, ".%u", pid);

	return size > suffix_size && strcmp(path + size - suffix_size, suffix) == 0;
}

static void note_outputs(struct orphan *orphan, const struct ct_consumer *consumer)
{
	for (uint32_t dest = 0; dest < CT_DEST_LIMIT; dest++) {
		const char *path = consumer->places[dest].path;

		if (consumer->destinations[dest].remark[0] != '\0') {
			orphan->is_changed = true;
			ct_buf_add_format(&orphan->notes, "%s\n",
					  consumer->destinations[dest].remark);
		}
		if (path[0] == '\0' ||
		    (orphan->places[dest] != NULL
			     ? strcmp(orphan->places[dest], path) == 0
			     : !output_is_beside(path, orphan->session.head->pid)))
			continue;
		ct_buf_add_format(&orphan->notes, "events are in %s\n", path);
	}
}

static void note_failure_of(struct orphan *orphan, const struct ct_dest *dest, const char *path)
{
	struct ct_buf *out = &orphan->failures;
	const char *at = dest->failing_at[0] != '\0' ? dest->failing_at : path;

	ct_buf_add_format(out, "%.32s%s%s", dest->emitter, at[0] != '\0' ? " " : "", at);
	if (!ct_dest_text_has_reason(at))
		ct_buf_add_format(out, ": %s", strerror((int)dest->failing));
	ct_buf_add_text(out, "; ");
}

static void note_failures(struct orphan *orphan, const struct ct_consumer *consumer)
{
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++)
		if (orphan->session.head->dest[i].failing != 0)
			note_failure_of(orphan, &orphan->session.head->dest[i],
					consumer->places[i].path);
}

/* Reports where the delivery is: in its directory, and in the emitter whose method runs now. */
static void note_step(const struct delivery *delivery, bool in_method)
{
	struct ct_recover_step step = { .run_directory = delivery->entry->run_directory,
					.directory = delivery->entry->name };

	if (delivery->options->on_step == NULL)
		return;
	for (uint32_t dest = 0; in_method && delivery->consumer != NULL && dest < CT_DEST_LIMIT;
	     dest++) {
		const struct ct_destination *destination = &delivery->consumer->destinations[dest];

		if (destination->emitter == NULL || !ct_destination_is_busy(destination))
			continue;
		step.emitter = destination->emitter->name;
		step.path = destination->place->path;
	}
	delivery->options->on_step(&step, delivery->options->user);
}

static void recovery_before_method(void *user)
{
	const struct delivery *delivery = user;

	note_step(delivery, true);
	if (delivery->options->before_method != NULL)
		delivery->options->before_method(NULL);
}

static void recovery_after_method(void *user)
{
	const struct delivery *delivery = user;

	if (delivery->options->after_method != NULL)
		delivery->options->after_method(NULL);
	note_step(delivery, false);
}

static void deliver_all(struct orphan *orphan, struct delivery *delivery, uint64_t *out_delivered)
{
	/* The flight recorder's rings count when the trigger was pulled, and when a sudden death is
	 * one. */
	uint32_t flight_wanted =
		orphan->session.head->flight_at_death | orphan->session.head->flight_wanted;
	struct ct_consumer_source source = {
		.session = &orphan->session,
		.ring_count = orphan_count,
		.ring_at = orphan_ring,
		.user = orphan,
		.flight_wanted = &flight_wanted,
		.recovering = true,
		.loads_nothing = delivery->options->is_guest,
		.before_method = recovery_before_method,
		.after_method = recovery_after_method,
		.lock_user = delivery,
	};
	struct ct_consumer_result result = { 0 };
	struct ct_consumer *consumer;
	uint64_t reached;
	bool durable, are_ended = true, owes = false;

	note_places(orphan);
	orphan->is_left = orphan->is_failing = true;
	if (ct_consumer_create(&source, &consumer) != CTRACE_OK)
		return;
	delivery->consumer = consumer;
	ct_consumer_pass(consumer, true, &result);
	if (result.pending == 0 && result.failing == 0) {
		ct_consumer_announce(consumer);
		owes = ct_consumer_owes_losses(consumer);
		are_ended = ct_consumer_open_ending(consumer);
	}
	/* The rings are removed next, so their events must first be durable. */
	durable = ct_consumer_sync(consumer) == CTRACE_OK;
	if (!durable)
		ct_buf_add_format(&orphan->failures, "its output cannot be made durable: %s; ",
				  strerror(errno));
	ct_consumer_close(consumer);
	note_failures(orphan, consumer);
	note_outputs(orphan, consumer);
	ct_consumer_destroy(consumer);
	/* Counts consumed events, without those that were overwritten or undeliverable. */
	reached = result.delivered > result.gone ? result.delivered - result.gone : 0;
	*out_delivered =
		result.undeliverable == 0 || result.written > reached ? reached : result.written;
	orphan->damaged = result.damaged;
	orphan->undeliverable = result.undeliverable;
	orphan->is_failing = !durable || !are_ended || owes || result.failing != 0;
	orphan->is_left = orphan->is_failing || result.pending != 0;
}

static void recovery_report(const struct walk *walk, const struct ct_directory_entry *entry,
			    bool ok, uint64_t delivered, const char *message, struct orphan *orphan)
{
	walk->total->recovered += ok;
	walk->total->kept += !ok;
	walk->total->delivered += delivered;
	if (walk->report != NULL)
		walk->report(entry->run_directory, entry->name, ok, delivered, message,
			     ct_buf_text(&orphan->notes), walk->user);
}

static const char *outcome(const struct orphan *orphan, char buffer[OUTCOME_SIZE])
{
	if (orphan->gone != 0) {
		(void)snprintf(buffer, OUTCOME_SIZE,
			       "%u ring%s had no file: the events in it are gone",
			       (unsigned)orphan->gone, orphan->gone == 1 ? "" : "s");
		return buffer;
	}
	return orphan->undeliverable == 0
		       ? "delivered"
		       : "delivered, except to destinations that ended with the process";
}

/* Did an external writer outlive the process?  It reads its own rings, and then recovers the rest.
 */
static bool writer_works(struct ct_session *session)
{
	for (uint32_t i = 1; i < CT_WRITER_LIMIT; i++)
		if (session->head->writer[i].name[0] != '\0' && ct_session_writer_lives(session, i))
			return true;
	return false;
}

/* Sums the process's own counts of events that never reached a ring or were overwritten there. */
static uint64_t count_lost(const struct orphan *orphan)
{
	uint64_t lost = ct_loss_total(orphan->session.head->lost);

	for (uint32_t i = 0; i < orphan->count; i++)
		if (orphan->rings[i].head != NULL)
			lost += ct_ring_lost_total(&orphan->rings[i]);
	return lost;
}

/* For a process that died before it opened its output: its pending events may be for that path. */
static bool wants_output(struct ct_session *session, uint32_t dest, const char *path)
{
	static const struct ct_consumer_source source = { .loads_nothing = true };
	struct ct_destination destination;
	struct ctrace_place place;
	bool wants;

	ct_destination_init(&destination, &place, session, dest, true);
	destination.source = &source;
	wants = ct_destination_wants(&destination, path);
	ct_destination_fini(&destination);
	return wants;
}

/* Has one of its destinations an output at that path? */
static bool has_output(struct ct_session *session, const char *path)
{
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		struct ct_dest *dest = &session->head->dest[i];
		const char *present = ct_dest_path(session, i);

		if (dest->emitter[0] != '\0' &&
		    (present[0] != '\0' ? strcmp(present, path) == 0
					: wants_output(session, i, path)))
			return true;
	}
	return false;
}

/* A guest skips orphans that need a module, and orphans that failed a short time ago. */
static bool orphan_is_for_guests(const struct ct_session_head *head)
{
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		const char *emitter = head->dest[i].emitter;
		uint32_t index;

		if (emitter[0] != '\0' && head->dest[i].active != 0 &&
		    ct_emitter_find_known(emitter, strlen(emitter), &index) != CTRACE_OK)
			return false;
	}
	return head->recover_at_ns <= ct_clock_wall_ns() ||
	       head->recover_at_ns >
		       ct_clock_wall_ns() + ((uint64_t)FIRST_PAUSE_NS
					     << PAUSE_DOUBLINGS); /* the clock was set back */
}

bool ct_recover_is_storage(const struct ct_session_head *head, uint64_t *out_until_ns)
{
	*out_until_ns = head->storage_ns + head->config.keep_ns;
	return head->storage_ns != 0;
}

static bool storage_is_discarded(const struct ct_recovery *total, uint32_t pid)
{
	return total->discards == UINT32_MAX || (total->discards != 0 && total->discards == pid);
}

/* Events in storage are kept for ctrace.keep after the first recovery. */
static bool storage_is_kept(const struct ct_recovery *total, const struct ct_session_head *head)
{
	uint64_t now = ct_clock_wall_ns(), until;

	return !storage_is_discarded(total, head->pid) && ct_recover_is_storage(head, &until) &&
	       head->storage_ns <= now && now < until;
}

static bool has_storage(const struct orphan *orphan)
{
	for (uint32_t i = 0; i < orphan->count; i++) {
		const struct ct_ring *ring = &orphan->rings[i];

		if (ring->head != NULL && ring->kept == CT_KEPT_STORAGE &&
		    ring->head->oldest < ring->head->head)
			return true;
	}
	return false;
}

/* Returns true when the process has noted how it died.  A tool takes the note away before it
 * recovers; others leave it to a tool. */
static bool has_note(const struct orphan *orphan)
{
	struct stat info;

	return fstatat(orphan->session.directory_fd, CT_CRASH_FILE, &info, AT_SYMLINK_NOFOLLOW) ==
		       0 &&
	       info.st_size > (off_t)CT_CRASH_HEAD_SIZE;
}

static bool orphan_is_wanted(struct ct_session *session, const struct ct_recover_options *options)
{
	if (options->is_guest && !orphan_is_for_guests(session->head))
		return false;
	return options->path == NULL || has_output(session, options->path);
}

static void note_failure(struct ct_session *session)
{
	struct ct_session_head *head = session->head;
	uint64_t doublings =
		head->recover_tries < PAUSE_DOUBLINGS ? head->recover_tries : PAUSE_DOUBLINGS;

	if (head->recover_tries++ == 0)
		head->recover_first_ns = ct_clock_wall_ns();
	head->recover_at_ns = ct_clock_wall_ns() + ((uint64_t)FIRST_PAUSE_NS << doublings);
	(void)!ct_session_persist(session, &head->recover_at_ns,
				  offsetof(struct ct_session_head, recover_first_ns) -
					  offsetof(struct ct_session_head, recover_at_ns) +
					  sizeof head->recover_first_ns);
}

uint64_t ct_recover_until_ns(const struct ct_session_head *head)
{
	return head->recover_tries == 0 ? 0 : head->recover_first_ns + head->config.keep_ns;
}

/* A destination that never works again would keep its events for ever.  After ctrace.keep they are
 * given up, and the caller reports that. */
static bool orphan_is_given_up(const struct ct_session_head *head)
{
	uint64_t now = ct_clock_wall_ns(), until = ct_recover_until_ns(head);

	return until != 0 && head->recover_first_ns <= now && until <= now;
}

/* The session goes first: an annex without a session is seen to be abandoned, but a session without
 * its annex would look damaged. */
static void orphan_remove(const struct orphan *orphan, const struct ct_directory_entry *entry)
{
	ct_directory_remove(entry->run_directory, entry->name);
	if (orphan->session.head != NULL)
		ct_annex_remove_all(orphan->session.head);
}

static void report_discarded(const struct walk *walk, const struct ct_directory_entry *entry,
			     uint64_t delivered, struct orphan *orphan)
{
	recovery_report(walk, entry, true, delivered, CT_RECOVER_DISCARDED, orphan);
	walk->total->recovered--;
}

/* What was readable has been delivered; no other try can read the rest. */
static void settle_damaged(const struct walk *walk, const struct ct_directory_entry *entry,
			   struct orphan *orphan, uint64_t delivered)
{
	if (storage_is_discarded(walk->total, entry->pid)) {
		orphan_remove(orphan, entry);
		report_discarded(walk, entry, delivered, orphan);
		return;
	}
	note_failure(&orphan->session);
	ct_buf_add_format(&orphan->damage,
			  ", so the events in it are lost; the rest is delivered, and the "
			  "directory is kept: ctrace recover --discard=%u removes it",
			  entry->pid);
	recovery_report(walk, entry, false, delivered, ct_buf_text(&orphan->damage), orphan);
	walk->total->spoilt++;
}

/* Reports what the try has come to, and removes the directory when nothing is left. */
static void orphan_settle(const struct walk *walk, const struct ct_directory_entry *entry,
			  struct orphan *orphan, uint64_t delivered)
{
	bool is_damaged = ct_ring_explain_damage(&orphan->session, &orphan->damage) != 0;
	char buffer[OUTCOME_SIZE];

	if ((orphan->is_left || is_damaged) && orphan_is_given_up(orphan->session.head)) {
		orphan_remove(orphan, entry);
		recovery_report(walk, entry, false, delivered, CT_RECOVER_GIVEN_UP, orphan);
		walk->total->kept--;
		walk->total->given_up++;
	} else if (is_damaged && !orphan->is_failing) {
		settle_damaged(walk, entry, orphan, delivered);
	} else if (orphan->is_left) {
		note_failure(&orphan->session);
		if (is_damaged)
			ct_buf_add_format(&orphan->failures, "%s; ", ct_buf_text(&orphan->damage));
		ct_buf_add_text(&orphan->failures, "what is left is kept");
		recovery_report(walk, entry, false, delivered, ct_buf_text(&orphan->failures),
				orphan);
	} else if (orphan->session.head->storage_ns == 0 &&
		   (has_storage(orphan) || has_note(orphan)) &&
		   !storage_is_discarded(walk->total, orphan->session.head->pid)) {
		orphan->session.head->storage_ns = ct_clock_wall_ns();
		(void)!ct_session_persist(&orphan->session, &orphan->session.head->storage_ns,
					  sizeof orphan->session.head->storage_ns);
		walk->total->in_storage++;
		recovery_report(walk, entry, true, delivered, CT_RECOVER_IN_STORAGE, orphan);
		walk->total->lost += count_lost(orphan);
	} else {
		orphan_remove(orphan, entry);
		recovery_report(walk, entry, true, delivered, outcome(orphan, buffer), orphan);
		/* What was kept for its storage has been reported. */
		if (orphan->session.head->storage_ns == 0)
			walk->total->lost += count_lost(orphan);
	}
}

/* Delivers the events of a loaded directory. */
static void recover_loaded(const struct walk *walk, const struct ct_directory_entry *entry,
			   struct orphan *orphan)
{
	struct delivery delivery = { .options = walk->options, .entry = entry };
	enum ctrace_status status;
	uint64_t delivered = 0;
	char why[CT_DIRECTORY_WHY_SIZE];

	if (!walk->total->anyway && !ct_place_is_here(&orphan->session)) {
		recovery_report(walk, entry, false, 0, CT_RECOVER_ELSEWHERE, orphan);
		return;
	}
	status = load_rings(orphan);
	if (status == CTRACE_OK) {
		deliver_all(orphan, &delivery, &delivered);
		orphan_settle(walk, entry, orphan, delivered);
	} else {
		recovery_report(walk, entry, false, 0, ct_directory_explain(entry, status, why),
				orphan);
	}
	walk->total->damaged += orphan->damaged;
	walk->total->undeliverable += orphan->undeliverable;
	walk->total->gone += orphan->gone;
	walk->total->changed += orphan->is_changed;
}

static void recover_one(const struct ct_directory_entry *entry, void *user)
{
	const struct walk *walk = user;
	struct orphan orphan = { 0 };
	char why[CT_DIRECTORY_WHY_SIZE];
	enum ctrace_status status;

	if (entry->is_alive || entry->uid != (uint32_t)geteuid())
		return;
	note_step(&(const struct delivery){ .options = walk->options, .entry = entry }, false);
	status = ct_session_load(&orphan.session, entry->run_directory, entry->name, true);
	if (status == CTRACE_TIMED_OUT || status == CTRACE_NOT_FOUND)
		return; /* the process lives after all, or another recoverer was faster */
	if (status == CTRACE_OK &&
	    (storage_is_kept(walk->total, orphan.session.head) ||
	     !orphan_is_wanted(&orphan.session, walk->options) || writer_works(&orphan.session))) {
		ct_session_close(&orphan.session, false);
		return;
	}
	walk->total->directories++;
	if (status == CTRACE_OK) {
		recover_loaded(walk, entry, &orphan);
	} else if (storage_is_discarded(walk->total, entry->pid) &&
		   (status == CTRACE_DAMAGED || status == CTRACE_DENIED)) {
		orphan_remove(&orphan, entry);
		report_discarded(walk, entry, 0, &orphan);
	} else {
		recovery_report(walk, entry, false, 0, ct_directory_explain(entry, status, why),
				&orphan);
		walk->total->spoilt += status == CTRACE_DAMAGED || status == CTRACE_DENIED;
	}
	close_orphan(&orphan);
	if (status == CTRACE_OK)
		ct_session_close(&orphan.session, false);
}

void ct_recover(const char *run_directory, const struct ct_recover_options *options,
		struct ct_recovery *total, ct_recover_report *report_directory, void *user)
{
	static const struct ct_recover_options all = { .is_guest = false };
	struct walk walk = { .options = options != NULL ? options : &all,
			     .total = total,
			     .report = report_directory,
			     .user = user };

	ct_directory_each(run_directory, recover_one, &walk);
}
