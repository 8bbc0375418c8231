/*
 * lib/consumer/consumer.h - the consumer's half: peek, merge by time, emit, commit, consume.
 *
 * One consumer works on one session: the consumer thread's on its own process, a recoverer's on a
 * dead process.  It knows sessions, rings and emitters, but no registry.  Its functions are called
 * under the consumer's lock, which the caller holds.  The lock is released while an emitter's
 * method runs, so a method that does not return holds up its own destination and nothing else.
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
	/* Keep threads from moving to other rings while heads are read.  NULL: the order of a
	 * thread's events in different rings does not matter, or no thread lives. */
	void (*hold_moves)(void *user);
	void (*allow_moves)(void *user);
	void *user;
	/* not 0: the flight rings are consumed too; the pass that has done so sets 0 */
	uint32_t *flight_wanted;
	bool recovering;    /* the process is dead: every ring is this consumer's */
	bool loads_nothing; /* when recovering: an emitter that is not loaded is unknown */
	/* The destination of an external writer, which consumes the rings held by it.  0: the
	 * process's consumer thread, which consumes the rings that no writer holds. */
	uint32_t held_by;
	const struct ctrace_emitter *emitter; /* of that destination; NULL: by its name */
	/* its own clock; NULL: the session's, which the pass updates */
	struct ct_sync *sync;
	/* Called before and after each method of an emitter, to release and take the consumer's
	 * lock.  NULL: this consumer has one thread and no lock. */
	void (*before_method)(void *user);
	void (*after_method)(void *user);
	/* Called without the lock before an existing output is taken over: recovers the process
	 * that left the output. */
	void (*before_open)(void *user, const char *path);
	void *lock_user;
	/* ctrace.block.timeout, which commands may change at any time: the limit for waiting
	 * producers and for waiting on methods.  NULL: no limit for methods. */
	const uint64_t *block_timeout_ns;
	/* bytes of its batches, if its output is of limited size; 0: 64 KiB */
	size_t batch_bytes;
	/* set by its write() when it had no room: the batch is lost, not delivered; NULL: never */
	const bool *is_dropped;
	/* CT_RELEASE_*.  Unless CT_RELEASE_AS_WANTED, it gives all its rings back */
	const uint32_t *release;
};
enum { CT_RELEASE_AS_WANTED = 0, CT_RELEASE_FLUSH = 1, CT_RELEASE_NOW = 2 };
struct ct_consumer_result {
	uint64_t delivered; /* events this pass consumed */
	uint64_t gone;      /* of these, overwritten before the consumer read them */
	uint64_t pending;   /* bytes that are pending in rings after it */
	uint64_t damaged;   /* unreadable bytes that were skipped, ever */
	/* events, ever, for destinations that ended with the dead process: counted once for each */
	uint64_t undeliverable;
	/* events, ever, that destinations accepted: counted once for each destination */
	uint64_t written;
	uint32_t failing; /* mask of destinations that fail, or whose method does not return */
	/* another thread took over during this pass and does the rest */
	bool is_superseded;
};
struct ct_consumer;

/* Returns the time after which a running method counts as stuck: half of ctrace.block.timeout, at
 * most a second; 100 ms when the timeout is 0.  A disk that is busy for less is no failure. Waiting
 * producers get room from the other destinations in the other half. */
uint64_t ct_consumer_stuck_ns(uint64_t block_timeout_ns);
/* Returns how much longer the running methods may take, because an event may be larger than a
 * batch. */
uint64_t ct_consumer_allowed_ns(const struct ct_consumer *consumer);
enum ctrace_status ct_consumer_create(const struct ct_consumer_source *source,
				      struct ct_consumer **out_consumer) CT_MUST_USE;
/* Closes the emitters. A destination whose method has not returned is left alone, with the memory
 * that the method uses. */
void ct_consumer_destroy(struct ct_consumer *consumer);
/* Makes one pass: everything committed before it reaches its destinations, unless a destination
 * fails or FLUSHEVERY holds events back.  flush: ignores FLUSHEVERY. */
void ct_consumer_pass(struct ct_consumer *consumer, bool flush,
		      struct ct_consumer_result *out_result);
/* Opens the destinations that components deliver to.  Returns the mask of those that fail. */
uint32_t ct_consumer_open(struct ct_consumer *consumer);
/* Notes that settings of destinations changed.  The next pass closes them.  They open again with
 * the new settings and go on from their position. */
void ct_consumer_reopen(struct ct_consumer *consumer, uint32_t mask);
/* Lets another thread go on with this consumer.  A pass that is inside a method ends when the
 * method returns. */
void ct_consumer_supersede(struct ct_consumer *consumer);
/* does a method run, on any thread? */
bool ct_consumer_is_busy(const struct ct_consumer *consumer);
/* Takes over from dead external writers: opens their destinations in `mask` at their positions, and
 * closes them when everything committed for them is written. */
void ct_consumer_take_over(struct ct_consumer *consumer, uint32_t mask);
/* mask of taken-over destinations that are not finished yet */
uint32_t ct_consumer_taken_over(const struct ct_consumer *consumer);
/* Does this consumer consume the rings that `held_by` holds? */
bool ct_consumer_has(const struct ct_consumer *consumer, uint32_t held_by);
/* rings of its last pass */
uint32_t ct_consumer_ring_count(const struct ct_consumer *consumer);
/* Open destinations in the mask begin a new generation; *out_done: which did.  Returns UNSUPPORTED
 * when none can, NOT_FOUND when none is open, else why one failed; that one goes on in its present
 * generation. */
enum ctrace_status ct_consumer_rotate(struct ct_consumer *consumer, uint32_t mask,
				      uint32_t *out_done) CT_MUST_USE;
/* Makes delivered events durable. */
enum ctrace_status ct_consumer_sync(struct ct_consumer *consumer) CT_MUST_USE;
/* For a recoverer that has delivered all events: opens the outputs that are to learn that their
 * process has ended (CTRACE_EMITTER_ENDS).  Returns false when one cannot be opened. */
bool ct_consumer_open_ending(struct ct_consumer *consumer);
/* Announces losses to destinations that have no further event.  For a recoverer, after its pass. */
void ct_consumer_announce(struct ct_consumer *consumer);
/* At the end of the process: counts the events of rings without a file as lost for each destination
 * that lacks them, because no recoverer can find them. */
void ct_consumer_give_up(struct ct_consumer *consumer);
/* Have destinations lost more than their outputs report?  A recoverer can still report it if the
 * directory stays. */
bool ct_consumer_owes_losses(struct ct_consumer *consumer);
/* Closes all output in order; undelivered events stay in the rings. */
void ct_consumer_close(struct ct_consumer *consumer);

/* ---- recover.c: the traces of dead processes */
struct ct_recovery {
	/* set by the caller: delivers orphans of other name spaces, too */
	bool anyway;
	/* set by the caller: the process whose events in storage are discarded; 0: none;
	 * UINT32_MAX: all */
	uint32_t discards;
	uint32_t directories; /* orphans found */
	uint32_t recovered;   /* delivered whole and removed */
	uint32_t in_storage;  /* delivered; kept for the events in storage */
	/* left for another try: a destination fails, or the directory is damaged */
	uint32_t kept;
	/* removed although events were undelivered: ctrace.keep has passed */
	uint32_t given_up;
	uint32_t spoilt;    /* kept, and no try can read the rest */
	uint32_t changed;   /* had an output that somebody has changed */
	uint64_t delivered; /* events */
	uint64_t damaged;   /* bytes of rings that could not be read */
	/* events for a destination that ended with the process (its standard error) */
	uint64_t undeliverable;
	uint32_t gone; /* rings in private memory of a process that did not end in order */
	uint64_t lost; /* events that the process had lost, by its own counts */
};
/* The step that a recovery is at.  The texts are valid until on_step() returns. */
struct ct_recover_step {
	const char *run_directory, *directory;
	const char *emitter; /* whose method runs; NULL: none */
	const char *path;    /* of its output; "": not known yet */
};
struct ct_recover_options {
	/* The caller is in a traced process: it loads no emitter, and skips an orphan that failed a
	 * short time ago. */
	bool is_guest;
	const char *path; /* only orphans that have an output there; NULL: all */
	/* as in struct ct_consumer_source, with NULL for its user; NULL: none */
	void (*before_method)(void *user);
	void (*after_method)(void *user);
	/* Called on the recovering thread at each directory, and before and after each method of an
	 * emitter; NULL: none. */
	void (*on_step)(const struct ct_recover_step *step, void *user);
	void *user; /* of on_step */
};
/* That process's paths may mean other files here, so its directory is kept. */
#define CT_RECOVER_ELSEWHERE \
	"its process ran in another mount or process name space, or under another root directory: run ctrace recover there, or here with --anyway"
#define CT_RECOVER_IN_STORAGE \
	"what was in storage stays: ctrace list --dead, ctrace dump, ctrace recover --discard"
#define CT_RECOVER_GIVEN_UP "a destination has failed for as long as ctrace.keep says"
#define CT_RECOVER_DISCARDED "what could not be read is discarded"
/* Returns the wall time at which undeliverable events are given up.  0: nothing has failed yet. */
uint64_t ct_recover_until_ns(const struct ct_session_head *head);
/* Has recovery delivered everything but the events in storage?  These are removed then. */
bool ct_recover_is_storage(const struct ct_session_head *head, uint64_t *out_until_ns);
/* Called for each directory after the try; message is a sentence.  notes: lines about outputs that
 * are not where, or not what, the process had, or "".  May be NULL. */
typedef void ct_recover_report(const char *run_directory, const char *directory, bool ok,
			       uint64_t delivered, const char *message, const char *notes,
			       void *user);
/* Delivers and removes the orphans of one run directory.  Never touches a directory whose process
 * lives. */
void ct_recover(const char *run_directory, const struct ct_recover_options *options,
		struct ct_recovery *total, ct_recover_report *report, void *user);

#endif
