/*
 * lib/trace/trace.h - the producer's end: each thread's buffers, and the out-of-line trace call.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_RECORD_H
#define CT_RECORD_H

#include "lib/process/process.h"
#include <pthread.h>

/* ---- thread.c: a thread's buffers.  Lives in memory that a forked child sees zeroed
 * (MADV_WIPEONFORK). */
struct ct_thread_buffer {
	/* `own`, or that of its channel in `inlined` of the thread; NULL before it gets its ring */
	struct ctrace_thread_buffer *thread_buffer;
	struct ctrace_thread_buffer own;
	struct ct_ring *ring;
	uint64_t opened_at;       /* ticks: its window was */
	struct ct_ring_kind kind; /* of its full-size ring */
	/* monotonic: no larger ring could be had; not tried again before */
	uint64_t grow_at_ns;
	uint64_t lap_end;   /* position at which the ring has come round since */
	uint64_t lap_at_ns; /* monotonic: this time */
	/* block: output made no progress since this tail; do not wait again until it moves, */
	uint64_t tail_at_stall;
	uint32_t dests_at_stall; /* unless the event is for another destination than these */
	bool stalled;
	bool busy;      /* inside a call */
	bool is_nested; /* that call is a signal handler's, which interrupted another */
	bool is_flight; /* its ring is one */
};
#define CT_SIDE_THREAD_BUFFERS 16u
#define CT_THREAD_BUFFERS_ALIGN (2 * CTRACE_CALLING_)
#define CT_THREAD_CLASSES 1024u
struct ct_thread {
	/* Those that the inline path may use, by channel, and as many that never have room:
	 * ctrace_thread_buffers_self leads to one or the other. */
	_Alignas(CT_THREAD_BUFFERS_ALIGN) struct ctrace_thread_buffer inlined[CT_CHANNEL_LIMIT];
	struct ctrace_thread_buffer calling[CT_CHANNEL_LIMIT];
	/* In one page with the thread buffer that nearly every thread has: a thread that hardly
	 * traces touches no other. */
	uint32_t tid; /* 0: a forked child, whose parent's state this was */
	struct ct_thread *next_free;
	struct ct_thread_buffer common; /* channel 0 */
	/* Numbers of classes that the thread has traced through COBOL's face, by a hash of what its
	 * events are; 0: none. */
	uint16_t classes[CT_THREAD_CLASSES];
	/* For signal handlers that interrupt a trace call or find the program's ring full.
	 * Handlers that interrupt each other take one each. */
	struct ct_thread_buffer side[CT_SIDE_THREAD_BUFFERS];
	uint32_t side_events; /* that looked for a side thread buffer */
	struct ct_thread_buffer flight;
	/* for ctrace_write_buffer(); its ring changes with the component's channel */
	struct ct_thread_buffer imported;
	struct ct_thread_buffer channels[CT_CHANNEL_LIMIT];
};
_Static_assert(sizeof(struct ctrace_thread_buffer[CTRACE_THREAD_BUFFERS_]) == CTRACE_CALLING_ &&
		       offsetof(struct ct_thread, calling) == CTRACE_CALLING_,
	       "one bit of their addresses tells the two apart");
/* Is the thread inside a trace call?  Then we are in a signal handler, or the call was left by
 * siglongjmp(). */
static inline bool ct_thread_is_calling(void)
{
	return ((uintptr_t)ctrace_thread_buffers_self & CTRACE_CALLING_) != 0;
}
/* Whose it is, of the thread buffers that the inline path uses. */
static inline struct ct_thread *ct_thread_buffer_thread(struct ctrace_thread_buffer *thread_buffer)
{
	return (struct ct_thread *)(void *)((uintptr_t)thread_buffer &
					    ~(uintptr_t)(CT_THREAD_BUFFERS_ALIGN - 1));
}
/* The calling thread's state, made when it has none; NULL when that is impossible or it is inside
 * ctrace's own locks. */
struct ct_thread *ct_thread_self(void);
enum ctrace_status ct_thread_start_up(void) CT_MUST_USE; /* once a process */
/* we are in a signal handler that interrupted a trace call */
bool ct_thread_is_in_call(void);
/* the trace calls that it was in were left by siglongjmp() */
void ct_thread_end_calls(struct ct_thread *thread);
void ct_thread_forget_all(bool is_in_call); /* in a forked child */
/* the calling thread traces no more through its rings: exit */
void ct_thread_leave(void);

/* What ctrace_thread_buffers_self leads to on a thread without a state: thread buffers without
 * room. */
extern struct ctrace_thread_buffer ct_no_thread_buffers[2 * CT_CHANNEL_LIMIT];
/* The thread's state where there is one, else NULL or, in a forked child, its parent's, zeroed. */
extern __thread struct ct_thread *ct_thread_current __attribute__((tls_model("initial-exec")));
/* ---- handler.c */
/* a signal handler of the program runs on this thread: some microseconds, async-signal-safe */
bool ct_thread_is_in_handler(void);
/* ---- thread_buffer.c: which of a thread's rings an event goes into */
/* The thread buffer for an event.  A signal handler that interrupted a trace call gets a side
 * thread buffer; NULL when all side thread buffers are in use: the event is to be counted.  When no
 * handler runs, the thread has left the interrupted call by siglongjmp(): then the call is ended.
 */
struct ct_thread_buffer *ct_thread_buffer_choose(struct ct_process *process,
						 struct ct_thread *thread, uint32_t component,
						 uint32_t level, uint32_t channel);
/* A side thread buffer that is not in use; NULL: none. */
struct ct_thread_buffer *ct_thread_buffer_find_side(struct ct_thread *thread);
/* Round a call on a thread buffer: signal handlers take a side thread buffer meanwhile. */
void ct_thread_buffer_enter(struct ct_thread_buffer *thread_buffer);
void ct_thread_buffer_leave(struct ct_thread_buffer *thread_buffer);
/* Gives a thread buffer its ring: the first event of this thread there, of `size` bytes.
 * NOT_ENOUGH_MEMORY: counted. */
enum ctrace_status ct_thread_buffer_attach(struct ct_process *process, struct ct_thread *thread,
					   struct ct_thread_buffer *thread_buffer,
					   uint32_t component, uint32_t channel,
					   size_t size) CT_MUST_USE;
/* The thread buffer goes on in a larger ring, until a record of `size` bytes has room or the ring
 * is of its full size; also when the ring comes round so soon that whoever looks into it (ctrace
 * tail) would miss events.  Between ct_thread_buffer_enter() and _leave().  Where no larger ring
 * can be had, or in a signal handler inside one of our locks, the thread buffer stays as it is. */
void ct_thread_buffer_grow(struct ct_process *process, struct ct_thread_buffer *thread_buffer,
			   size_t size);
/* The imported thread buffer follows the component: the ring of another channel, or of the
 * recorder, goes back to the pool. */
enum ctrace_status ct_thread_buffer_lead_imported(struct ct_process *process,
						  struct ct_thread *thread, uint32_t component,
						  uint32_t channel, size_t size) CT_MUST_USE;
/* its ring goes to the pool, with what is in it */
void ct_thread_buffer_give_back(struct ct_thread_buffer *thread_buffer);

/* ---- trace.c */
struct ct_reservation {
	unsigned char *at;
	size_t size;
	/* the event makes its thread buffer's ring: signals stay blocked until it is committed */
	bool is_guarded;
	bool is_first; /* valid when is_guarded: it is the process's first event */
	struct ct_thread_buffer *thread_buffer;
};
/* The class of such an event, made when there is none.  Async-signal-safe. */
uint32_t ct_trace_class(const struct ct_event_head *head, const struct ctrace_item *items,
			uint32_t item_count);
/*
 * Space for an event of `size` bytes (from ct_event_size(); 0 counts as too large) of a component,
 * under its channel, policy and flight recorder.  OK: fill it, then ct_trace_commit().
 * NOT_ENOUGH_MEMORY, or OUTPUT_ERROR when that is why: counted as lost.  Async-signal-safe once the
 * thread has a ring. The level has been compared already.  errno may change: entry points save it.
 */
enum ctrace_status ct_trace_reserve(uint32_t component, uint32_t level, size_t size,
				    struct ct_reservation *out) CT_MUST_USE;
/*
 * The same for an entry that an application buffered (ctrace_write_buffer()), of level INFO.  It is
 * older than what the thread has traced since, and the events of a ring must not go back in time:
 * so such entries have rings of their own, and *ticks, the entry's own time, is raised to that of
 * the last entry of the ring when it is before that.  Not in a signal handler.
 */
enum ctrace_status ct_trace_reserve_imported(uint32_t component, size_t size, uint64_t *ticks,
					     struct ct_reservation *out) CT_MUST_USE;
/* Publishes it.  OK, or OUTPUT_ERROR when a destination of the component is failing. */
enum ctrace_status ct_trace_commit(struct ct_reservation *reservation, uint32_t component,
				   uint32_t level);
/* An event that has no ring.  component: whose it is, for its destinations; CT_COMPONENT_NONE:
 * nobody knows. */
void ct_trace_count_lost(enum ctrace_loss reason, uint32_t component);

#endif
