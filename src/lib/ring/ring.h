/*
 * lib/ring/ring.h - spans of bytes between two threads, one of which may be dead.
 *
 * A ring is a file of one head page and `capacity` bytes of data.  One thread produces, one
 * consumer at a time consumes. Positions count bytes since the ring was made; position % capacity
 * is the place.  The data are mapped twice in a row, so an event is in one piece wherever it
 * begins.
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
#define CT_RING_MIN (32u << 10) /* also what a thread's first ring has */
/* the next ring of a thread that has filled one is so many times as large */
#define CT_RING_GROWTH 8u
#define CT_RING_MAX (1u << 30)
/* a thread's side ring, for signal handlers that interrupt a trace call */
#define CT_RING_SIDE (64u << 10)
/* space granted to the inline path at a time, at most, and a quarter of the ring; it begins with a
 * mark */
#define CT_RING_WINDOW (512u << 10)
#define CT_RING_ANCHORS 8u

/* The capacity of a ring that is asked to have so many bytes. */
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

/* A place in a ring, and what belongs to it. */
struct ct_cursor_place {
	uint64_t position;
	/* events before position, ever: delivered, lost to overwriting, or found damaged */
	uint64_t count;
	uint64_t overwritten; /* of these, went before this destination had them */
	/* of these, passed over because this destination made no progress while others needed the
	 * room */
	uint64_t lost;
	uint64_t offset;             /* the emitter's own: ctrace_stream.offset */
	uint64_t stream_sequence;    /* the emitter's own: ctrace_stream.sequence */
	uint64_t stream_extra;       /* the emitter's own: ctrace_stream.extra */
	struct ct_event_state state; /* of reading, at position */
};

/* Where a destination stands in a ring: `next` when next_sequence is not 0 and not above the
 * destination's published sequence, else `now`.  So publishing one word commits a batch for all
 * rings at once. */
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
	/* 0: a thread's ring; otherwise that of the components with this channel */
	uint32_t channel;
	uint32_t is_flight; /* consumed on a trigger only */
	uint32_t is_side;
	uint32_t overflow; /* enum ct_overflow, as configured */
	/* of entries that ctrace_write_buffer() took: they bring times of their own */
	uint32_t is_imported;
	uint8_t pad0[20];
	/* the producer's */
	_Alignas(CT_CACHE_LINE) uint64_t head;
	uint64_t window;         /* nothing behind this position is being written */
	uint64_t oldest;         /* overwrite: nothing before this position is valid */
	uint64_t oldest_count;   /* overwrite: events before oldest, ever */
	uint64_t oldest_version; /* odd while these are being written */
	struct ct_event_state oldest_state;
	/* where windows begin, the last ones: reading can begin there, with a mark */
	uint64_t anchors[CT_RING_ANCHORS];
	uint64_t anchor_count; /* ever */
	uint64_t lost[CTRACE_LOSS_COUNT];
	uint32_t waiting; /* the producer sleeps on tail_word */
	/* destinations of events that found no room; the consumer clears it when it has made some
	 */
	uint32_t turned_away;
	/* of lost[], by the destination that the event was for: once for each */
	uint64_t lost_to[CT_DEST_LIMIT];
	/* the consumer's */
	_Alignas(CT_CACHE_LINE) uint64_t tail;
	struct ct_tail_state {
		uint64_t position;
		struct ct_event_state state;
	} tail_state[2];   /* the one whose position is tail; the other is being written, or of the
			      tail before */
	uint64_t consumed; /* events before tail, ever */
	uint64_t overwritten; /* of these, went before they were delivered */
	uint64_t undelivered; /* of these, damaged or with a destination that is gone */
	uint32_t tail_word;   /* low bits of tail, to sleep on */
	uint32_t
		/* who has it: 0 the process's consumer thread, else the destination (CT_WRITER_SLOT
		   ...) of an external writer.  Only who has it hands it on, or the consumer thread
		   for a writer that is dead */
			held_by;
	uint32_t wanted;      /* who should have it; the process's */
	uint64_t passed_over; /* of consumed, not in every destination: one was passed over */
	uint64_t unwritten;   /* of consumed, not in a writer's data set, which was full (NOWRAP) */
	_Alignas(CT_CACHE_LINE) struct ct_cursor cursor[CT_DEST_LIMIT];
};
_Static_assert(sizeof(struct ct_ring_head) <= CT_RING_HEAD_SIZE, "the head of a ring is two pages");

/* A ring in memory. */
struct ct_ring {
	struct ct_ring_head *head;
	unsigned char *data;
	size_t capacity;
	/* The head's constants, taken once by ct_ring_take_constants().  The consumer goes by
	 * these: whoever owns the file may write over those in the head at any time. */
	uint32_t index;
	uint32_t overflow;
	bool is_flight;
	int fd; /* of a loaded copy, for persisting; else -1 */
	bool is_mapped;
	uint8_t place; /* enum ct_ring_place */
	/* 0: free.  Not in the file: a process that wrote over it there could give two threads one
	 * ring */
	uint32_t owner_tid;
	/* of the owner; the consumer thread closes its window to be woken.  Atomic; the memory
	 * stays for ever */
	struct ctrace_thread_buffer *thread_buffer;
	uint32_t bound; /* destinations that its consumer has found events for */
	bool owes_wake; /* its consumer has freed something, and has woken nobody since */
	/* its owner goes on in a larger ring before it loses anything, or has done so.  Atomic */
	bool may_grow;
	/* is_imported: of its last event; the owner's, handed on under the pool's lock */
	uint64_t last_ticks;
};

/* Where a position is.  The whole capacity may be read and written from there on, as the data are
 * mapped twice in a row. */
static inline unsigned char *ct_ring_at(const struct ct_ring *ring, uint64_t position)
{
	return ring->data + (position & (ring->capacity - 1));
}

/* From a head that is complete: this process's own, or a copy that has been checked. */
static inline void ct_ring_take_constants(struct ct_ring *ring, const struct ct_ring_head *head)
{
	ring->index = head->index;
	ring->overflow = head->overflow;
	ring->is_flight = head->is_flight != 0;
}

/* The consumer of a ring, or who should have it, has changed: consumes look at the consumers of all
 * rings again. */
static inline void ct_ring_note_move(const struct ct_session *of)
{
	/* Pairs with the acquire load of a consumer: what was stored before it can be seen. */
	(void)__atomic_fetch_add(&of->head->ring_moves, 1, __ATOMIC_RELEASE);
}

/* Does an external writer consumer it?  Then nobody need wake the consumer thread. */
static inline bool ct_ring_has_writer(const struct ct_ring *ring)
{
	return __atomic_load_n(&ring->head->held_by, __ATOMIC_RELAXED) != 0;
}

/* ---- ring_file.c */
/* Makes ring number `index`.  Where a file of that capacity is too large, or has no room, the
 * capacity is halved, and halved again.  The file is in the process's annex when the process has
 * become another user.  Where no file can be made the ring is private memory.  ring->place and
 * ring->capacity say which. */
enum ctrace_status ct_ring_create(struct ct_ring *ring, struct ct_session *session, uint32_t index,
				  size_t capacity) CT_MUST_USE;
/* The same, but of at least `least` bytes; and private memory only when that is allowed. */
struct ct_ring_size {
	size_t least;
	size_t capacity;
	bool may_be_private;
};
enum ctrace_status ct_ring_create_sized(struct ct_ring *ring, struct ct_session *session,
					uint32_t index,
					const struct ct_ring_size *asked) CT_MUST_USE;
/* In two steps, for a pool that makes rings while other threads take theirs.  ct_ring_make() makes
 * a file of exactly that capacity, or private memory when there is no directory (-1).  When it
 * fails, ct_ring_create_sized() knows what else may do.  `serial` is used once in a process.
 * ct_ring_number() gives the ring its number.  False: the file is not as it was made, the ring is
 * closed and its file removed. */
enum ctrace_status ct_ring_make(struct ct_ring *ring, int directory_fd, uint32_t serial,
				size_t capacity) CT_MUST_USE;
bool ct_ring_number(struct ct_ring *ring, int directory_fd, uint32_t index) CT_MUST_USE;
/* Copies the ring of another process's session with pread: its head, and the data that wait.
 * Everything in the copy is within bounds. NOT_FOUND for a ring without a file; a private ring has
 * none. */
enum ctrace_status ct_ring_load(struct ct_ring *ring, const struct ct_session *session,
				uint32_t index) CT_MUST_USE;
/* The same in parts, for a reader that does not want all of it at once: a descriptor; the head,
 * checked as that of a copy is; the bytes between two positions.  Neither position may be past the
 * head, and they may not be further apart than the ring is long. */
enum ctrace_status ct_ring_open(const struct ct_session *session, uint32_t index,
				int *out_fd) CT_MUST_USE;
enum ctrace_status ct_ring_read_head(int fd, uint32_t index, struct ct_ring_head *out) CT_MUST_USE;
enum ctrace_status ct_ring_read_data(int fd, uint64_t capacity, uint64_t from, uint64_t to,
				     unsigned char *out) CT_MUST_USE;
/* How many events wait in it: as ct_ring_count_pending(), without a copy. */
uint64_t ct_ring_count_waiting(int fd, const struct ct_ring_head *head,
			       const struct ct_class_view *classes);
/* Maps the ring of a live process's session (ct_session_map()), for an external writer.  NOT_FOUND
 * as above. */
enum ctrace_status ct_ring_map(struct ct_ring *ring, const struct ct_session *session,
			       uint32_t index) CT_MUST_USE;
void ct_ring_close(struct ct_ring *ring);
/* of a new one, or of one whose head was cut away */
void ct_ring_write_constants(struct ct_ring *ring);
/* Makes the ring's file as long as its mapping, all zero, where somebody has cut it.  True when
 * that had to be done. */
bool ct_ring_heal(struct ct_ring *ring, struct ct_session *session);
enum ctrace_status ct_ring_persist(struct ct_ring *ring, const void *part, size_t size) CT_MUST_USE;

/* ---- ring_write.c: the producer's half.  Only on the owning thread; never locks or allocates. */
/* Gives the thread buffer a window of at least `size` bytes behind a mark of this thread and, under
 * overwrite, drops the oldest.  False when the consumer has to move first. */
bool ct_ring_open_window(struct ct_ring *ring, struct ctrace_thread_buffer *thread_buffer,
			 const struct ct_class_view *classes, uint32_t tid, size_t size);
/* Can the thread buffer have such a window, and nothing be overwritten for it? */
bool ct_ring_fits(const struct ct_ring *ring, const struct ctrace_thread_buffer *thread_buffer,
		  size_t size);
/* Closes the window, so that the next event comes by the slow path. */
void ct_ring_close_window(struct ctrace_thread_buffer *thread_buffer);
/* Sleeps until the consumer moved or timeout_ns passed; true when it moved. */
bool ct_ring_wait_for_space(struct ct_ring *ring, uint64_t tail_seen, uint64_t timeout_ns);
/* dests: the destinations that the event was for. */
void ct_ring_count_lost(struct ct_ring *ring, enum ctrace_loss reason, uint32_t dests);

/* ---- ring_read.c: the consumer's half.  One consumer at a time. */
/* acquire: everything before it may be read */
uint64_t ct_ring_head_position(const struct ct_ring *ring);
/* The event at place->position, which is before `limit` = a head position.  Under overwrite it is
 * copied into scratch, which grows.  OK: place stays, until ct_ring_pass().  DAMAGED, also when the
 * two positions cannot be of one ring.  NOT_ENOUGH_MEMORY for scratch: of out only the size is
 * valid.  NOT_FOUND: it was overwritten, and place stands at the oldest event, its counts
 * corrected. */
enum ctrace_status ct_ring_peek(const struct ct_ring *ring, const struct ct_class_view *classes,
				struct ct_cursor_place *place, uint64_t limit,
				struct ct_buf *scratch, struct ct_event *out) CT_MUST_USE;
/* Moves place behind the event that ct_ring_peek() found there. */
static inline void ct_ring_pass(struct ct_cursor_place *place, const struct ct_event *event)
{
	place->position += event->size;
	place->count += !event->is_mark;
	place->state = (struct ct_event_state){ .ticks = event->ticks, .tid = event->tid };
}
/* The state of reading at the tail. */
struct ct_event_state ct_ring_tail_state(const struct ct_ring_head *head);
/* Frees everything before place.  Wakes the producer when a quarter of the ring is free; else
 * ct_ring_wake() does so later. */
void ct_ring_consume(struct ct_ring *ring, const struct ct_cursor_place *place);
/* Wakes a producer that waits, if something was freed since it was woken last. */
void ct_ring_wake(struct ct_ring *ring);
bool ct_ring_is_empty(const struct ct_ring *ring);
uint64_t ct_ring_lost_total(const struct ct_ring *ring); /* all reasons */
uint64_t ct_ring_count_pending(const struct ct_ring *ring,
			       const struct ct_class_view *classes); /* events between tail and head
									that are still there */
/* events behind tail that are not: the consumer has not noticed yet */
uint64_t ct_ring_count_overwritten(const struct ct_ring *ring);

/* The place in force of a cursor, given its destination's published sequence. */
struct ct_cursor_place ct_cursor_get(const struct ct_cursor *cursor, uint64_t dest_sequence);
/* Prepares the place that will be in force when the destination publishes dest_sequence + 1. */
void ct_cursor_prepare(struct ct_cursor *cursor, uint64_t dest_sequence,
		       const struct ct_cursor_place *next);
/* Puts `place` in force at once, given the destination's published sequence. */
void ct_cursor_reset(struct ct_cursor *cursor, uint64_t dest_sequence,
		     const struct ct_cursor_place *place);

/* ---- ring_pool.c: this process's rings.  Made on demand, given back when their thread ends, used
 * again. */
struct ct_ring_pool;
enum ctrace_status ct_ring_pool_create(struct ct_session *session,
				       struct ct_ring_pool **out_pool) CT_MUST_USE;
/* A free ring of that kind, or a new one, now owned by tid.  NULL when none can be had.  Takes the
 * pool's lock, but makes a ring's file under none; does not allocate from malloc.  A ring keeps its
 * policy for life: what is in it was counted by it. */
struct ct_ring_kind {
	uint32_t channel;
	uint32_t overflow; /* enum ct_overflow */
	size_t capacity;
	size_t full; /* what the owner may grow to; not above capacity: it stays in this ring */
	/* number of the external writer that is to have it, if it is connected; 0: none */
	uint32_t writer;
	bool is_side;
	bool is_flight;
	bool is_imported;
};
struct ct_ring *ct_ring_pool_take(struct ct_ring_pool *pool, const struct ct_ring_kind *kind,
				  uint32_t tid);
/* A larger ring for the owner of `ring`, which goes back to the pool with what is in it.  NULL, and
 * nothing has changed: none can be had, or only private memory in place of a file. */
struct ct_ring *ct_ring_pool_grow(struct ct_ring_pool *pool, struct ct_ring *ring,
				  const struct ct_ring_kind *kind);
void ct_ring_pool_give_back(struct ct_ring_pool *pool, struct ct_ring *ring); /* by its owner */
/* its thread; 0: free.  Lock-free */
uint32_t ct_ring_owner(const struct ct_ring *ring);
/* Gives back the ring of thread tid, which has ended without doing so; nothing when the ring has
 * another owner by now. */
void ct_ring_pool_reap(struct ct_ring_pool *pool, struct ct_ring *ring, uint32_t tid);
/* Says of each ring who should have it: the writer of its components, if that is connected, else
 * the consumer thread. */
void ct_ring_pool_assign(struct ct_ring_pool *pool,
			 uint32_t (*writer_of)(const struct ct_ring_head *head, void *user),
			 void *user);
/* Makes the files of rings as long as they were, where somebody has cut them: a store beyond the
 * end of its file would kill the program.  The events in the cut part are gone.  Returns how
 * many files were cut.  One system call a ring.  The consumer thread calls it. */
uint32_t ct_ring_pool_heal(struct ct_ring_pool *pool);
uint32_t ct_ring_pool_count(const struct ct_ring_pool *pool); /* rings made; never falls */
struct ct_ring *ct_ring_pool_at(const struct ct_ring_pool *pool, uint32_t index);
/* While it is locked no ring gets another owner, and there is no new ring. */
void ct_ring_pool_lock(struct ct_ring_pool *pool);
void ct_ring_pool_lock_whole(struct ct_ring_pool *pool); /* fork: when no thread is making a ring */
void ct_ring_pool_unlock(struct ct_ring_pool *pool);
/* Keeps a ring of the least capacity ready, from the second one on that was needed.  The consumer
 * thread calls it. */
void ct_ring_pool_stock(struct ct_ring_pool *pool);
/* In a child that was forked in the middle of a trace call, which may yet write there: puts empty
 * private memory in place of the parent's rings. */
void ct_ring_pool_part(struct ct_ring_pool *pool);
/* in a forked child: unmaps the parent's rings, starts empty */
void ct_ring_pool_forget(struct ct_ring_pool *pool);

#endif
