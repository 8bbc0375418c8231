/*
 * lib/ring/ring.h - spans of bytes between two threads, one of which may be dead.
 *
 * A ring is a file of one head page and `capacity` bytes of data.  One thread produces, one
 * consumer at a time consumes.  Positions count bytes since the ring was made; position % capacity
 * is the offset in the data.  The data are mapped twice in a row, so an event is in one piece
 * wherever it begins.
 *
 *      pages 0, 1:  constants | producer's words | consumer's words | one cursor a destination
 *      pages 2+:    data
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_RING_H
#define CT_RING_H

#include "session/session.h"
#include "format/format.h"

#define CT_RING_MAGIC 0x474E495252544343u
#define CT_RING_VERSION 5u
#define CT_RING_HEAD_SIZE 8192u
#define CT_RING_DEFAULT (1u << 20)
#define CT_RING_MIN (32u << 10) /* also the capacity of a thread's first ring */
/* a thread that fills its ring gets one that is this many times as large */
#define CT_RING_GROWTH 8u
#define CT_RING_MAX (1u << 30)
/* a thread's side ring, for signal handlers that interrupt a trace call */
#define CT_RING_SIDE (64u << 10)
/* the inline path gets at most this much at a time, and at most a quarter of the ring; a mark
 * stands first */
#define CT_RING_WINDOW (512u << 10)
#define CT_RING_ANCHORS 8u
/* a thread whose ring comes round within this gets a larger one: ctrace tail reads every 50 ms */
#define CT_RING_ROUND_NS 100000000u
/* the owner of a ring that is ready and that no thread has taken yet */
#define CT_RING_READY UINT32_MAX

/* Returns the capacity of the next ring after one of `capacity` bytes (0: a thread's first ring),
 * for an event of `size` bytes. */
static inline size_t ct_ring_next_capacity(size_t capacity, size_t full, size_t size)
{
	size_t next = capacity == 0 ? CT_RING_MIN : capacity * CT_RING_GROWTH;

	while (next < full && next / 2 < size)
		next *= 2;
	return next < full ? next : full;
}

/* Returns the capacity of a ring for so many bytes. */
static inline uint64_t ct_ring_capacity(uint64_t bytes)
{
	uint64_t capacity = CT_RING_MIN;

	while (capacity < bytes && capacity < CT_RING_MAX)
		capacity <<= 1;
	return capacity;
}

enum ct_overflow {
	CT_OVERFLOW_AUTO = 0, /* block where a file destination is set, else discard */
	CT_OVERFLOW_BLOCK = 1,
	CT_OVERFLOW_DISCARD = 2,
	CT_OVERFLOW_OVERWRITE = 3
};

/* Does a consumer take the events of a ring? */
enum ct_kept {
	CT_KEPT_NOT = 0,
	CT_KEPT_FLIGHT = 1, /* the flight recorder's: on a trigger */
	CT_KEPT_STORAGE = 2 /* of traces in storage: never */
};

/* A position in a ring, with the counts and the decoder's state there. */
struct ct_cursor_place {
	uint64_t position;
	/* events before position, ever: delivered, lost to overwriting, or found damaged */
	uint64_t count;
	uint64_t overwritten; /* of these, overwritten before this destination had them */
	/* of these, passed over because this destination made no progress while others needed the
	 * room */
	uint64_t lost;
	uint64_t offset;             /* the emitter's own: ctrace_stream.offset */
	uint64_t stream_sequence;    /* the emitter's own: ctrace_stream.sequence */
	uint64_t stream_extra;       /* the emitter's own: ctrace_stream.extra */
	struct ct_event_state state; /* the decoder's, at position */
};

/* The position of a destination in a ring.  `next` is in force when next_sequence is not 0 and not
 * above the destination's published sequence; else `now` is.  So publishing one word commits a
 * batch for all rings at once. */
struct ct_cursor {
	struct ct_cursor_place now;
	struct ct_cursor_place next;
	uint64_t next_sequence;
};

struct ct_ring_head {
	/* constants */
	uint64_t magic;
	uint32_t version;
	uint32_t index;    /* its number in the process: ring.<index>, stream id */
	uint64_t capacity; /* power of two */
	/* 0: the thread's common ring; else the ring for components of this channel */
	uint32_t channel;
	uint32_t kept; /* enum ct_kept */
	uint32_t is_side;
	uint32_t overflow; /* enum ct_overflow, as configured */
	/* its entries come from ctrace_write_buffer() and carry times of their own */
	uint32_t is_imported;
	uint8_t pad0[20];
	/* the producer's */
	_Alignas(CT_CACHE_LINE) uint64_t head;
	uint64_t window;         /* nothing behind this position is being written */
	uint64_t oldest;         /* overwrite: nothing before this position is valid */
	uint64_t oldest_count;   /* overwrite: events before oldest, ever */
	uint64_t oldest_version; /* odd while these are being written */
	struct ct_event_state oldest_state;
	/* the beginnings of the last windows: a mark stands there, so a reader can begin */
	uint64_t anchors[CT_RING_ANCHORS];
	uint64_t anchor_count; /* ever */
	uint64_t lost[CTRACE_LOSS_COUNT];
	uint32_t waiting; /* the producer sleeps on tail_word */
	/* mask of destinations of events that found no room; the consumer clears it when it has
	 * freed some */
	uint32_t turned_away;
	/* lost[] by destination: an event counts once for each destination that it was for */
	uint64_t lost_to[CT_DEST_LIMIT];
	/* the consumer's */
	_Alignas(CT_CACHE_LINE) uint64_t tail;
	struct ct_tail_state {
		uint64_t position;
		struct ct_event_state state;
	} tail_state[2]; /* the slot whose position is `tail` is valid; the other is being written,
			    or is older */
	uint64_t consumed;    /* events before tail, ever */
	uint64_t overwritten; /* of these, overwritten before delivery */
	uint64_t undelivered; /* of these, damaged or with a destination that is gone */
	uint32_t tail_word;   /* low bits of tail, to sleep on */
	/* The ring's consumer.  0: the process's consumer thread; else the destination
	 * (CT_WRITER_SLOT ...) of an external writer.  Only the present consumer hands the ring
	 * over; the consumer thread does so for a dead writer. */
	uint32_t held_by;
	/* the consumer that should have the ring; only the process writes it */
	uint32_t wanted;
	uint64_t passed_over; /* of consumed, missing in a destination that was passed over */
	/* of consumed, missing in a writer's data set (NOWRAP), or a spool, that was full */
	uint64_t unwritten;
	uint64_t unreadable; /* bytes in which a recoverer found no event */
	_Alignas(CT_CACHE_LINE) struct ct_cursor cursor[CT_DEST_LIMIT];
};
_Static_assert(sizeof(struct ct_ring_head) <= CT_RING_HEAD_SIZE, "the head of a ring is two pages");

/* A ring in memory. */
struct ct_ring {
	struct ct_ring_head *head;
	unsigned char *data;
	size_t capacity;
	/* Copies of the head's constants, made once by ct_ring_take_constants().  The consumer uses
	 * these, because the owner of the file may overwrite the head at any time. */
	uint32_t index;
	uint32_t overflow;
	uint32_t kept; /* enum ct_kept */
	int fd;        /* of a loaded copy, for persisting; else -1 */
	bool is_mapped;
	uint8_t place; /* enum ct_ring_place */
	/* 0: free.  It is not in the file, where a process that overwrites it could give one ring
	 * to two threads. */
	uint32_t owner_tid;
	/* The owner's.  The consumer thread closes its window so that the next event wakes it.
	 * Atomic; the memory is never freed. */
	struct ctrace_thread_buffer *thread_buffer;
	uint32_t bound; /* mask of destinations for which the consumer has found events */
	bool owes_wake; /* the consumer has freed space and has not woken the producer since */
	/* The owner moves to a larger ring before it loses an event, or has moved.  Atomic. */
	bool may_grow;
	/* the capacity that the owner may grow to.  Atomic */
	size_t full;
	/* The larger ring that the consumer thread has made for the owner, or NULL.  Atomic. */
	struct ct_ring *next;
	/* the consumer thread's: the head at a time, from which it knows the owner's pace */
	uint64_t paced_from;
	uint64_t paced_at_ns;
	/* is_imported: the time of the last event.  Only the owner uses it; the pool's lock orders
	 * owners. */
	uint64_t last_ticks;
	/* block: the output has made no progress since this tail.  No wait until the tail moves,
	 * also for the next owner. */
	uint64_t tail_at_stall;
	uint32_t dests_at_stall; /* unless the event is for a destination outside this mask */
	bool stalled;
};

/* Returns the address of a position.  The whole capacity can be read and written from there,
 * because the data are mapped twice in a row. */
static inline unsigned char *ct_ring_at(const struct ct_ring *ring, uint64_t position)
{
	return ring->data + (position & (ring->capacity - 1));
}

/* `head` is complete: this process's own, or a checked copy. */
static inline void ct_ring_take_constants(struct ct_ring *ring, const struct ct_ring_head *head)
{
	ring->index = head->index;
	ring->overflow = head->overflow;
	ring->kept = head->kept;
}

/* Notes that the consumer of a ring, or its wanted consumer, has changed.  Consumers then look at
 * the consumers of all rings again. */
static inline void ct_ring_note_move(const struct ct_session *of)
{
	/* Pairs with a consumer's acquire load, which makes the stores before it visible. */
	(void)__atomic_fetch_add(&of->head->ring_moves, 1, __ATOMIC_RELEASE);
}

/* Does an external writer consume the ring?  Then the consumer thread need not be woken. */
static inline bool ct_ring_has_writer(const struct ct_ring *ring)
{
	return __atomic_load_n(&ring->head->held_by, __ATOMIC_RELAXED) != 0;
}

/* ---- ring_file.c */
/* Makes ring number `index`.  The capacity is halved until the file has room.  The file is in the
 * process's annex when the process has become another user.  If no file can be made, the ring is
 * private memory.  ring->place and ring->capacity report the result. */
enum ctrace_status ct_ring_create(struct ct_ring *ring, struct ct_session *session, uint32_t index,
				  size_t capacity) CT_MUST_USE;
/* Like ct_ring_create(), but of at least `least` bytes, and in private memory only if
 * may_be_private. */
struct ct_ring_size {
	size_t least;
	size_t capacity;
	bool may_be_private;
};
enum ctrace_status ct_ring_create_sized(struct ct_ring *ring, struct ct_session *session,
					uint32_t index,
					const struct ct_ring_size *asked) CT_MUST_USE;
/* Make a ring in two steps, for a pool that makes rings while other threads take theirs.
 * ct_ring_make() makes a file of exactly that capacity, or private memory if directory_fd is -1.
 * When it fails, ct_ring_create_sized() tries what else may do.  `serial` is used once in a
 * process. ct_ring_number() gives the ring its number.  It returns false when the file is no longer
 * as it was made; then the ring is closed and its file removed. */
enum ctrace_status ct_ring_make(struct ct_ring *ring, int directory_fd, uint32_t serial,
				size_t capacity) CT_MUST_USE;
bool ct_ring_number(struct ct_ring *ring, int directory_fd, uint32_t index) CT_MUST_USE;
/* Copies the ring of another process's session with pread: its head, and the pending data.
 * Everything in the copy is within bounds.  What is missing of a file that was cut is no event in
 * the copy.  Returns NOT_FOUND for a private ring, which has no file. */
enum ctrace_status ct_ring_load(struct ct_ring *ring, const struct ct_session *session,
				uint32_t index) CT_MUST_USE;
/* The same for a private ring of the calling process, while its thread goes on. */
enum ctrace_status ct_ring_copy_private(struct ct_ring *ring,
					const struct ct_ring *own) CT_MUST_USE;
/* Copies bytes of a ring, which its producer may be writing.  The caller finds out whether the copy
 * is torn, and discards it. */
void ct_ring_copy_racing(unsigned char *to, const unsigned char *from, size_t size);
/* The steps of ct_ring_load(), for a reader that wants less than the whole ring: a descriptor; the
 * checked head; the bytes between two positions.  Both positions are at or before the head and at
 * most `capacity` apart.  *out_end: where the bytes end in a file that was cut, else `to`. */
enum ctrace_status ct_ring_open(const struct ct_session *session, uint32_t index,
				int *out_fd) CT_MUST_USE;
enum ctrace_status ct_ring_read_head(int fd, uint32_t index, struct ct_ring_head *out) CT_MUST_USE;
enum ctrace_status ct_ring_read_data(int fd, uint64_t capacity, uint64_t from, uint64_t to,
				     unsigned char *out, uint64_t *out_end) CT_MUST_USE;
/* Returns the number of pending events, like ct_ring_count_pending(), but without a copy of the
 * ring.  Adds the pending bytes in which there is no event to *unreadable. */
uint64_t ct_ring_count_waiting(int fd, const struct ct_ring_head *head,
			       const struct ct_class_image *classes, uint64_t *unreadable);
/* Adds what of a dead process's rings cannot be read: "ring.2 is missing; ring.3: 768 bytes cannot
 * be read".  Returns the number of such rings.  Waiting rings are walked. */
uint32_t ct_ring_explain_damage(const struct ct_session *session, struct ct_buf *out);
/* Maps the ring of a live process's session (ct_session_map()), for an external writer.  Returns
 * NOT_FOUND for a private ring. */
enum ctrace_status ct_ring_map(struct ct_ring *ring, const struct ct_session *session,
			       uint32_t index) CT_MUST_USE;
void ct_ring_close(struct ct_ring *ring);
/* for a new ring, or one whose head was cut off */
void ct_ring_write_constants(struct ct_ring *ring);
/* If the ring's file was cut, extends it with zeros to the length of its mapping.  Returns true
 * when it was cut. */
bool ct_ring_heal(struct ct_ring *ring, struct ct_session *session);
enum ctrace_status ct_ring_persist(struct ct_ring *ring, const void *part, size_t size) CT_MUST_USE;

/* ---- ring_write.c: the producer's half.  Only on the owning thread; never locks or allocates. */
/* Gives the thread buffer a window of at least `size` bytes behind a mark of this thread.  Under
 * overwrite, drops the oldest events.  Returns false when the consumer has to free space first. */
bool ct_ring_open_window(struct ct_ring *ring, struct ctrace_thread_buffer *thread_buffer,
			 const struct ct_class_image *classes, uint32_t tid, size_t size);
/* Can the thread buffer get such a window without overwriting events? */
bool ct_ring_fits(const struct ct_ring *ring, const struct ctrace_thread_buffer *thread_buffer,
		  size_t size);
/* Closes the window, so that the next event takes the slow path. */
void ct_ring_close_window(struct ctrace_thread_buffer *thread_buffer);
/* Sleeps until the consumer moved or timeout_ns passed; returns true when it moved. */
bool ct_ring_wait_for_space(struct ct_ring *ring, uint64_t tail_seen, uint64_t timeout_ns);
/* dests: mask of the event's destinations. */
void ct_ring_count_lost(struct ct_ring *ring, enum ctrace_loss reason, uint32_t dests);

/* ---- ring_read.c: the consumer's half.  One consumer at a time. */
/* acquire: everything before the position may be read */
uint64_t ct_ring_head_position(const struct ct_ring *ring);
/* Decodes the event at place->position, which is before `limit`, a head position.  Under overwrite
 * it copies the event into scratch, which grows.  On OK, place stays until ct_ring_pass().  Returns
 * DAMAGED for damage, and when the two positions cannot belong to one ring.  Returns
 * NOT_ENOUGH_MEMORY when scratch cannot grow; then only the size in out is valid.  Returns
 * NOT_FOUND when the event was overwritten; then place is at the oldest event, its counts
 * corrected. */
enum ctrace_status ct_ring_peek(const struct ct_ring *ring, const struct ct_class_image *classes,
				struct ct_cursor_place *place, uint64_t limit,
				struct ct_buf *scratch, struct ct_event *out) CT_MUST_USE;
/* For a reader beside the consumer, which frees nothing and may be late: copies at most `most`
 * bytes from place->position on, up to `limit`, a head position, and returns their number.  0: they
 * were overwritten; then place is at the oldest event, its counts corrected. */
size_t ct_ring_copy_aside(const struct ct_ring *ring, struct ct_cursor_place *place, uint64_t limit,
			  size_t most, struct ct_buf *out);
/* Moves place behind the event that ct_ring_peek() found there. */
static inline void ct_ring_pass(struct ct_cursor_place *place, const struct ct_event *event)
{
	place->position += event->size;
	place->count += !event->is_mark;
	place->state = (struct ct_event_state){ .ticks = event->ticks, .tid = event->tid };
}
/* Returns where events can be read again behind damage at `position`: at the next of the head's
 * anchors; else `limit`. */
uint64_t ct_ring_next_mark(const uint64_t marks[CT_RING_ANCHORS], uint64_t position,
			   uint64_t limit);
/* Returns the decoder's state at the tail. */
struct ct_event_state ct_ring_tail_state(const struct ct_ring_head *head);
/* Frees everything before place.  Wakes the producer when a quarter of the ring is free; else
 * ct_ring_wake() does so later. */
void ct_ring_consume(struct ct_ring *ring, const struct ct_cursor_place *place);
/* Wakes a waiting producer if space was freed since the last wake-up. */
void ct_ring_wake(struct ct_ring *ring);
bool ct_ring_is_empty(const struct ct_ring *ring);
/* Returns false for a ring that has been made and that no thread has needed so far. */
static inline bool ct_ring_is_used(const struct ct_ring_head *head)
{
	return __atomic_load_n(&head->head, __ATOMIC_RELAXED) != 0;
}
uint64_t ct_ring_lost_total(const struct ct_ring *ring); /* all reasons */
uint64_t ct_ring_count_pending(const struct ct_ring *ring,
			       /* events between tail and head that were not overwritten */
			       const struct ct_class_image *classes);
/* events behind the tail that were overwritten, which the consumer has not noticed yet */
uint64_t ct_ring_count_overwritten(const struct ct_ring *ring);

/* Returns the position in force, given the destination's published sequence. */
struct ct_cursor_place ct_cursor_get(const struct ct_cursor *cursor, uint64_t dest_sequence);
/* Prepares the position that will be in force when the destination publishes dest_sequence + 1. */
void ct_cursor_prepare(struct ct_cursor *cursor, uint64_t dest_sequence,
		       const struct ct_cursor_place *next);
/* Puts `place` in force at once, given the destination's published sequence. */
void ct_cursor_reset(struct ct_cursor *cursor, uint64_t dest_sequence,
		     const struct ct_cursor_place *place);

/* ---- ring_pool.c: this process's rings: made on demand, given back when their thread ends,
 * reused. */
struct ct_ring_pool;
enum ctrace_status ct_ring_pool_create(struct ct_session *session,
				       struct ct_ring_pool **out_pool) CT_MUST_USE;
/* What a thread needs of a ring.  A ring keeps its policy for life, because its events were counted
 * by that policy. */
struct ct_ring_kind {
	uint32_t channel;
	uint32_t overflow; /* enum ct_overflow */
	size_t capacity;
	/* the capacity that the owner may grow to; at most `capacity`: it stays in this ring */
	size_t full;
	/* number of the external writer that should consume it while connected; 0: none */
	uint32_t writer;
	bool is_side;
	enum ct_kept kept;
	bool is_imported;
};
/* Returns a free ring of that kind, or a new one, now owned by tid; NULL when none can be made.
 * Takes the pool's lock, but makes a ring's file under no lock.  Never allocates from malloc.  NULL
 * with errno EBUSY: in a signal handler that would have to wait for the lock. */
struct ct_ring *ct_ring_pool_take(struct ct_ring_pool *pool, const struct ct_ring_kind *kind,
				  uint32_t tid);
/* Returns a larger ring for the owner of `ring`, which keeps `ring` until ct_ring_pool_leave().
 * ct_ring_pool_take_ready() takes one that is ready, for an event of `size` bytes: without a lock
 * and a system call.  ct_ring_pool_grow() makes one, and counts it in `late_rings` of the session.
 * Both return NULL, and change nothing, when there is none, or only private memory instead of a
 * file. */
struct ct_ring *ct_ring_pool_take_ready(struct ct_ring_pool *pool, struct ct_ring *ring,
					const struct ct_ring_kind *kind, size_t size);
struct ct_ring *ct_ring_pool_grow(struct ct_ring_pool *pool, struct ct_ring *ring,
				  const struct ct_ring_kind *kind);
/* The owner uses a larger ring now; `ring` goes back to the pool with its content.  Lock-free. */
void ct_ring_pool_leave(struct ct_ring *ring);
void ct_ring_pool_give_back(struct ct_ring_pool *pool, struct ct_ring *ring); /* by its owner */
/* the owner's thread id; 0: no thread has it.  Lock-free */
uint32_t ct_ring_owner(const struct ct_ring *ring);
/* Gives back the ring of thread tid, which ended without doing so.  Does nothing when the ring has
 * another owner by now. */
void ct_ring_pool_reap(struct ct_ring_pool *pool, struct ct_ring *ring, uint32_t tid);
/* Sets the wanted consumer of each ring: the writer of its components if connected, else the
 * consumer thread. */
void ct_ring_pool_assign(struct ct_ring_pool *pool,
			 uint32_t (*writer_of)(const struct ct_ring_head *head, void *user),
			 void *user);
/* Extends ring files that were cut to their former length: a store beyond the end of its file would
 * kill the program.  The events in the cut part are gone.  Returns how many files were cut.  One
 * system call a ring.  The consumer thread calls it. */
uint32_t ct_ring_pool_heal(struct ct_ring_pool *pool);
uint32_t ct_ring_pool_count(const struct ct_ring_pool *pool); /* rings made; never falls */
struct ct_ring *ct_ring_pool_at(const struct ct_ring_pool *pool, uint32_t index);
/* While the pool is locked, no ring is added, and none is taken but by ct_ring_pool_take_ready().
 */
void ct_ring_pool_lock(struct ct_ring_pool *pool);
/* In between no thread begins to use another ring. */
void ct_ring_pool_hold(struct ct_ring_pool *pool);
void ct_ring_pool_release(struct ct_ring_pool *pool);
/* for fork: once no thread is making a ring */
void ct_ring_pool_lock_whole(struct ct_ring_pool *pool);
void ct_ring_pool_unlock(struct ct_ring_pool *pool);
/* Makes what threads may need soon: a larger ring for each that uses a good part of its ring; one
 * or two for threads that fill their ring before that; a spare ring of the least capacity for the
 * next thread, once a second one was needed.  The consumer thread calls it. */
void ct_ring_pool_stock(struct ct_ring_pool *pool);
/* In a child that was forked inside a trace call, which may still write: replaces the parent's
 * rings by empty private memory. */
void ct_ring_pool_detach(struct ct_ring_pool *pool);
/* In a forked child: unmaps the parent's rings and starts empty.  After ct_ring_pool_detach() the
 * parent's pool and its private rings stay for the interrupted call, and *pool is another one.
 * NOT_ENOUGH_MEMORY: there is none, and *pool is as it was. */
enum ctrace_status ct_ring_pool_reset(struct ct_ring_pool **pool) CT_MUST_USE;

#endif
