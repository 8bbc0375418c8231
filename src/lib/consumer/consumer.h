/*
 * lib/consumer/consumer.h - the consumer's end: peek, merge by time, emit, commit, consume.
 *
 * One consumer works on one session: the consumer thread's on its own process, a recoverer's on a
 * dead one's.  It knows sessions, rings and emitters, and nothing of registries.  Its functions are
 * called under the consumer's lock, which the caller holds.  The lock is released while an
 * emitter's method runs, so a method that does not return holds up its own destination and nothing
 * else.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONSUMER_H
#define CT_CONSUMER_H

#include "lib/emit/emit.h"
#include "lib/ring/ring.h"

struct ct_consumer_source {
	struct ct_session *session;
	uint32_t (*ring_count)(void *user);
	struct ct_ring *(*ring_at)(void *user, uint32_t index); /* NULL: skip */
	/* Keep threads from going on in other rings, for as long as heads are read.  NULL: the
	 * order of a thread's events in different rings does not matter, or there is no thread. */
	void (*hold_moves)(void *user);
	void (*allow_moves)(void *user);
	void *user;
	/* not 0: the flight rings are consumed too; the pass that did it sets 0 */
	uint32_t *flight_wanted;
	bool recovering;    /* of a dead process: every ring is this consumer's */
	bool loads_nothing; /* when recovering: an emitter that is not loaded counts as unknown */
	/* An external writer's: the destination that it is, and whose rings it has; 0: the
	 * process's consumer thread, which has those that no writer has. */
	uint32_t held_by;
	const struct ctrace_emitter *emitter; /* of that destination */
	/* its own clock; NULL: the session's, which the pass brings up to date */
	struct ct_sync *sync;
	/* Called before and after each method of an emitter, to release and take the consumer's
	 * lock.  NULL: this consumer has one thread and no lock. */
	void (*before_method)(void *user);
	void (*after_method)(void *user);
	/* Called before an existing output is taken over: recovers the process that left it.
	 * Without the lock. */
	void (*before_open)(void *user, const char *path);
	void *lock_user;
	/* ctrace.block.timeout, which commands may change at any time: how long producers wait, and
	 * methods are waited for. NULL: methods are waited for without limit. */
	const uint64_t *block_timeout_ns;
	/* its write() sets it when it had no room: the batch is not delivered, but gone; NULL:
	 * never */
	const bool *is_dropped;
	/* CT_RELEASE_*: not CT_RELEASE_AS_WANTED, it gives its rings back whoever should have them
	 */
	const uint32_t *release;
};
enum { CT_RELEASE_AS_WANTED = 0, CT_RELEASE_FLUSH = 1, CT_RELEASE_NOW = 2 };
struct ct_consumer_result {
	uint64_t delivered; /* events this pass consumed */
	uint64_t gone;      /* of these, overwritten before it came to them */
	uint64_t pending;   /* bytes that wait in rings after it */
	uint64_t damaged;   /* bytes that could not be read, ever: passed over */
	uint64_t
		/* events, ever, whose destination was the dead process's alone: counted once for
		   each such destination */
			undeliverable;
	/* events, ever, that destinations took: counted once for each destination */
	uint64_t written;
	uint32_t failing; /* mask of destinations that fail, or whose method does not return */
	/* another thread has made a pass meanwhile; the rest of this one was left to it */
	bool is_superseded;
};
struct ct_consumer;

/* A method that runs for longer makes no progress: half of ctrace.block.timeout, at most a second;
 * 100 ms when that is 0.  A disk that is busy for less is no failure, and who waits for room gets
 * it from the other destinations in the other half. */
uint64_t ct_consumer_stuck_ns(uint64_t block_timeout_ns);
/* How much longer the methods that run may take: an event that is larger than a batch takes its
 * time. */
uint64_t ct_consumer_allowed_ns(const struct ct_consumer *consumer);
enum ctrace_status ct_consumer_create(const struct ct_consumer_source *source,
				      struct ct_consumer **out_consumer) CT_MUST_USE;
/* Closes the emitters.  A destination whose method has not returned stays as it is, and so does the
 * memory that the method uses. */
void ct_consumer_destroy(struct ct_consumer *consumer);
/* One pass: everything committed before it reaches its destinations, unless a destination fails or
 * FLUSHEVERY holds it back. flush: FLUSHEVERY does not hold back. */
void ct_consumer_pass(struct ct_consumer *consumer, bool flush,
		      struct ct_consumer_result *out_result);
/* Opens what components deliver to now and is not open; the mask of those that fail. */
uint32_t ct_consumer_open(struct ct_consumer *consumer);
/* Settings of destinations changed: the next pass closes them, and they open again with the new
 * ones where they stood. */
void ct_consumer_reopen(struct ct_consumer *consumer, uint32_t mask);
/* Another thread goes on with this consumer.  A pass that is in a method ends when the method
 * returns. */
void ct_consumer_supersede(struct ct_consumer *consumer);
/* a method runs, on whichever thread */
bool ct_consumer_is_busy(const struct ct_consumer *consumer);
/* Takes over what external writers had that have died: their destinations in `mask` are opened
 * where they stood, and closed when what was committed for them is in them. */
void ct_consumer_adopt(struct ct_consumer *consumer, uint32_t mask);
/* mask of those that it has not finished yet */
uint32_t ct_consumer_adopted(const struct ct_consumer *consumer);
/* Is a ring with that consumer this consumer's now? */
bool ct_consumer_has(const struct ct_consumer *consumer, uint32_t held_by);
/* that it had in its last pass */
uint32_t ct_consumer_ring_count(const struct ct_consumer *consumer);
/* Those of the mask that are open begin a new generation; *out_done: which do.  OK; UNSUPPORTED or
 * NOT_FOUND when none can or none is open; else why one failed, which goes on where it was. */
enum ctrace_status ct_consumer_rotate(struct ct_consumer *consumer, uint32_t mask,
				      uint32_t *out_done) CT_MUST_USE;
/* Makes what was delivered durable. */
enum ctrace_status ct_consumer_sync(struct ct_consumer *consumer) CT_MUST_USE;
/* Announces losses to destinations that have no event to go with them.  For a recoverer, after its
 * pass. */
void ct_consumer_announce(struct ct_consumer *consumer);
/* The process ends: what no recoverer can find, because its ring has no file, is counted as lost
 * for each destination that does not have it. */
void ct_consumer_give_up(struct ct_consumer *consumer);
/* Have destinations lost more than their outputs tell of?  A recoverer can still tell, if the
 * directory stays. */
bool ct_consumer_owes_losses(struct ct_consumer *consumer);
/* Ends all output properly; what cannot be delivered stays in the rings. */
void ct_consumer_close(struct ct_consumer *consumer);

/* ---- recover.c: the traces of dead processes */
struct ct_recovery {
	/* set by the caller: orphans of other name spaces are delivered here, too */
	bool anyway;
	uint32_t directories; /* orphans found */
	uint32_t recovered;   /* delivered whole and removed */
	/* a destination fails, or the directory is damaged: left for another try */
	uint32_t kept;
	/* removed, though something could not be delivered: ctrace.keep has passed */
	uint32_t given_up;
	uint64_t delivered; /* events */
	uint64_t damaged;   /* bytes of rings that could not be read */
	/* events for a destination that went with the process (its standard error) */
	uint64_t undeliverable;
	uint32_t gone; /* rings that were private memory of a process that did not end in order */
	uint64_t lost; /* events that the process itself had lost, by its counts */
};
/* Where a recovery is.  The texts are valid until on_step() returns. */
struct ct_recover_step {
	const char *run_directory, *directory;
	const char *emitter; /* whose method runs; NULL: none */
	const char *path;    /* of its output; "": not known yet */
};
struct ct_recover_options {
	/* The caller is in a traced process: it loads no emitter, and leaves alone an orphan that
	 * failed a short time ago. */
	bool is_guest;
	const char *path; /* only orphans that have an output there; NULL: all */
	/* as in struct ct_consumer_source, with NULL for its user; NULL: none */
	void (*before_method)(void *user);
	void (*after_method)(void *user);
	/* Called on the recovering thread when it comes to a directory, and round each method of an
	 * emitter; NULL: none. */
	void (*on_step)(const struct ct_recover_step *step, void *user);
	void *user; /* of on_step */
};
/* Paths of that process may lead elsewhere here: its directory is kept. */
#define CT_RECOVER_ELSEWHERE \
	"its process ran in another mount or process name space, or under another root directory: run ctrace recover there, or here with --anyway"
#define CT_RECOVER_GIVEN_UP "a destination has failed for as long as ctrace.keep says"
/* When what cannot be delivered is given up; wall clock.  0: nothing has failed yet. */
uint64_t ct_recover_until_ns(const struct ct_session_head *head);
/* Called for each directory after it was tried; message is a sentence.  elsewhere: the paths, one a
 * line, of outputs that are not where the process had them; "" when there is none.  May be NULL. */
typedef void ct_recover_report(const char *run_directory, const char *directory, bool ok,
			       uint64_t delivered, const char *message, const char *elsewhere,
			       void *user);
/* Delivers and removes the orphans of one run directory.  Never touches a directory whose process
 * lives. */
void ct_recover(const char *run_directory, const struct ct_recover_options *options,
		struct ct_recovery *total, ct_recover_report *report, void *user);

#endif
