/*
 * lib/trace/trace.h - the producer's end: each thread's buffers, and the out-of-line trace call.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TRACE_H
#define CT_TRACE_H

#include "lib/process/process.h"
#include <pthread.h>

/* ---- thread.c: a thread's buffers.  Lives in memory that a forked child sees zeroed
 * (MADV_WIPEONFORK). */
struct ct_thread_buffer {
	/* `own`, or the thread's `inlined` one of that channel; NULL before the ring is attached */
	struct ctrace_thread_buffer *thread_buffer;
	struct ctrace_thread_buffer own;
	struct ct_ring *ring;
	uint64_t opened_at;       /* ticks: when its window was opened */
	struct ct_ring_kind kind; /* of its full-size ring */
	/* monotonic: no larger ring could be made; the next try is not before this */
	uint64_t grow_at_ns;
	uint64_t lap_end;   /* position at which the present lap of the ring ends */
	uint64_t lap_at_ns; /* monotonic: when the present lap began */
	bool busy;          /* inside a call */
	bool is_nested;     /* that call is in a signal handler that interrupted another call */
	bool is_kept;       /* its ring is the flight recorder's, or in storage */
};
#define CT_SIDE_THREAD_BUFFERS 16u
#define CT_SIDE_STORAGE 2u /* behind these, for components in storage */
#define CT_SIDE_ALL (CT_SIDE_THREAD_BUFFERS + CT_SIDE_STORAGE)
#define CT_THREAD_BUFFERS_ALIGN (2 * CTRACE_CALLING_)
#define CT_THREAD_ALIGN (2 * CTRACE_MONOTONIC_)
#define CT_THREAD_CLASSES 1024u
struct ct_thread {
	/* The buffers of the inline path, by channel, and as many that never have room.
	 * ctrace_thread_buffers_self points to one array or the other. */
	_Alignas(CT_THREAD_BUFFERS_ALIGN) struct ctrace_thread_buffer inlined[CT_CHANNEL_LIMIT];
	struct ctrace_thread_buffer calling[CT_CHANNEL_LIMIT];
	/* In one page with the common thread buffer, so that a thread that hardly traces touches
	 * one page. */
	uint32_t tid; /* 0: a forked child, and the state was its parent's */
	struct ct_thread *next_free;
	struct ct_thread_buffer common; /* channel 0 */
	/* Numbers of classes that the thread has traced out of line, by a hash of the event's
	 * description; 0: none. */
	uint16_t classes[CT_THREAD_CLASSES];
	/* For signal handlers that interrupt a trace call or find the program's ring full.  Nested
	 * handlers take one each. */
	struct ct_thread_buffer side[CT_SIDE_ALL];
	uint32_t side_events; /* events that needed a side thread buffer */
	struct ct_thread_buffer flight;
	/* for ctrace_write_buffer(); its ring changes with the component's channel */
	struct ct_thread_buffer imported;
	struct ct_thread_buffer channels[CT_CHANNEL_LIMIT];
};
/* From one thread's state to the next: the bit CTRACE_MONOTONIC_ of their addresses is the same. */
#define CT_THREAD_STRIDE \
	((sizeof(struct ct_thread) + CT_THREAD_ALIGN - 1) / CT_THREAD_ALIGN * CT_THREAD_ALIGN)
_Static_assert(sizeof(struct ctrace_thread_buffer[CTRACE_THREAD_BUFFERS_]) == CTRACE_CALLING_ &&
		       offsetof(struct ct_thread, calling) == CTRACE_CALLING_,
	       "one bit of their addresses tells the two apart");
/* Is the thread inside a trace call?  Then a signal handler runs, or the call was left by
 * siglongjmp(). */
static inline bool ct_thread_is_calling(void)
{
	return ((uintptr_t)ctrace_thread_buffers_self & CTRACE_CALLING_) != 0;
}
/* Returns the thread of a buffer of the inline path. */
static inline struct ct_thread *ct_thread_buffer_thread(struct ctrace_thread_buffer *thread_buffer)
{
	return (struct ct_thread *)(void *)((uintptr_t)thread_buffer &
					    ~(uintptr_t)(CT_THREAD_BUFFERS_ALIGN - 1));
}
/* The slot where a thread keeps the class that such an event had last. */
static inline uint16_t *ct_thread_class_slot(struct ct_thread *thread, uint32_t component,
					     uint32_t event_id, uint32_t count)
{
	return &thread->classes[((component * 8u + count) * 8u + event_id) % CT_THREAD_CLASSES];
}
/* Notes the class of such events.  A call that a handler has interrupted and forked may end in the
 * child, where the thread has no state yet. */
static inline void ct_thread_note_class(struct ct_thread *thread, uint32_t component,
					uint32_t event_id, uint32_t count, uint32_t number)
{
	if (thread != NULL && number >= CT_CLASS_FIRST)
		*ct_thread_class_slot(thread, component, event_id, count) = (uint16_t)number;
}
/* Returns the calling thread's state, made on first use; NULL when that is impossible, or when the
 * thread is inside ctrace's own locks. */
struct ct_thread *ct_thread_self(void);
enum ctrace_status ct_thread_start_up(void) CT_MUST_USE; /* once a process */
/* is this a signal handler that interrupted a trace call? */
bool ct_thread_is_in_call(void);
/* ends the trace calls that the thread left by siglongjmp() */
void ct_thread_end_calls(struct ct_thread *thread);
void ct_thread_reset_all(bool is_in_call); /* in a forked child */
/* at exit: the calling thread no longer traces through its rings */
void ct_thread_leave(void);

/* Thread buffers without room, which ctrace_thread_buffers_self points to on a thread without a
 * state. */
extern struct ctrace_thread_buffer ct_no_thread_buffers[2 * CT_CHANNEL_LIMIT];
/* The thread's state, or NULL.  In a forked child it may be the parent's, zeroed. */
extern __thread struct ct_thread *ct_thread_current __attribute__((tls_model("initial-exec")));
/* ---- thread_buffer.c: which of a thread's rings an event goes into */
/* Returns the thread buffer for an event.  A signal handler that interrupted a trace call gets a
 * side thread buffer.  Returns NULL when all side thread buffers are in use; the caller counts the
 * event as lost.  If no handler runs, the thread has left the interrupted call by siglongjmp(), and
 * the call is ended. */
struct ct_thread_buffer *ct_thread_buffer_choose(struct ct_process *process,
						 struct ct_thread *thread, uint32_t component,
						 uint32_t level, uint32_t channel);
/* Returns a side thread buffer that is not in use, or NULL. */
struct ct_thread_buffer *ct_thread_buffer_find_side(struct ct_thread *thread, bool is_storage);
/* Enclose a call on a thread buffer: in between, signal handlers take a side thread buffer. */
void ct_thread_buffer_enter(struct ct_thread_buffer *thread_buffer);
void ct_thread_buffer_leave(struct ct_thread_buffer *thread_buffer);
/* Gives a thread buffer its ring, for its first event of `size` bytes.  Returns NOT_ENOUGH_MEMORY
 * after it has counted the event as lost. */
enum ctrace_status ct_thread_buffer_attach(struct ct_process *process, struct ct_thread *thread,
					   struct ct_thread_buffer *thread_buffer,
					   uint32_t component, uint32_t channel,
					   size_t size) CT_MUST_USE;
/* Moves the thread buffer to larger rings until a record of `size` bytes has room or the ring has
 * its full size.  Also moves it when the ring comes round so soon that a reader (ctrace tail) would
 * miss events.  Between ct_thread_buffer_enter() and _leave().  Changes nothing when no larger ring
 * can be made, or in a signal handler inside one of ctrace's locks. */
void ct_thread_buffer_grow(struct ct_process *process, struct ct_thread_buffer *thread_buffer,
			   size_t size);
/* Makes the imported thread buffer follow the component's channel.  A ring of another channel, or
 * of the recorder, goes back to the pool. */
enum ctrace_status ct_thread_buffer_lead_imported(struct ct_process *process,
						  struct ct_thread *thread, uint32_t component,
						  uint32_t channel, size_t size) CT_MUST_USE;
/* its ring goes to the pool with its content */
void ct_thread_buffer_give_back(struct ct_thread_buffer *thread_buffer);

/* ---- trace.c */
struct ct_reservation {
	unsigned char *at;
	size_t size;
	uint64_t ticks; /* the event's time, later than everything in the ring */
	bool is_first;  /* the process's first event: its commit waits for the files' opening */
	struct ct_thread_buffer *thread_buffer;
};
/* Returns the class of such an event, made on first use.  Async-signal-safe. */
uint32_t ct_trace_class(const struct ct_event_head *head, const struct ctrace_item *items,
			uint32_t item_count);
/*
 * Space for an event of `size` bytes (from ct_event_size(); 0 counts as too large) of a component,
 * under its channel, policy and flight recorder.  On OK the caller fills it and calls
 * ct_trace_commit().  Returns NOT_ENOUGH_MEMORY, or OUTPUT_ERROR when a failing output is the
 * cause, after counting the event as lost.  Async-signal-safe once the thread has a ring.  The
 * caller has compared the level. errno may change: entry points save it.
 */
enum ctrace_status ct_trace_reserve(uint32_t component, uint32_t level, size_t size,
				    struct ct_reservation *out) CT_MUST_USE;
/*
 * Like ct_trace_reserve(), for an entry of level INFO that an application buffered
 * (ctrace_write_buffer()).  The entry is older than the thread's events since, and the events of a
 * ring must not go back in time.  So such entries have rings of their own.  *ticks, the entry's
 * time, is raised to the time of the ring's last entry if it is earlier.  Not in a signal handler.
 */
enum ctrace_status ct_trace_reserve_imported(uint32_t component, size_t size, uint64_t *ticks,
					     struct ct_reservation *out) CT_MUST_USE;
/* Publishes the event.  Returns OUTPUT_ERROR when a destination of the component is failing. */
enum ctrace_status ct_trace_commit(struct ct_reservation *reservation, uint32_t component,
				   uint32_t level);
/* Counts an event as lost after ct_process_attach() has returned NULL.  Returns NOT_ENOUGH_MEMORY,
 * or INVALID_TRACE_LEVEL without counting. */
enum ctrace_status ct_trace_count_unattached(uint32_t level);
/* Called for an event before its level is compared: a dormant process whose bell has been rung
 * wakes.  Returns NOT_ENOUGH_MEMORY, and counts the event, where it cannot. */
enum ctrace_status ct_trace_hear_bell(uint32_t component);
/* Counts an event without a ring as lost, for the destinations of its component. CT_COMPONENT_NONE:
 * the component is unknown. */
void ct_trace_count_lost(enum ctrace_loss reason, uint32_t component);

#endif
