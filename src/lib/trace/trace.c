/*
 * trace.c - the out-of-line half of a trace call.
 *
 * Runs on the thread that traces, in signal handlers too; CTRACE() comes here when the inline path
 * cannot go on, and so do the CBL_CTF_* routines.  Under `block` it may wait for space, never
 * longer than ctrace.block.timeout without progress.  Otherwise it takes locks only at a thread's
 * first event.  The entry points keep errno.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/trace/trace.h"

#include <errno.h>
#include <signal.h>

/* an event this far from its mark needs a new mark: it holds 48 bits of its time */
#define FAR_TICKS ((uint64_t)1 << 46)

const struct ctrace_level_word ctrace_level_word_unregistered = { .level = 0 };

/* A command may change them at any time. */
static inline uint32_t dests_of(const struct ct_component_entry *entry)
{
	return __atomic_load_n(&entry->dests, __ATOMIC_RELAXED);
}

static void count_for(struct ct_session_head *head, uint32_t dests, enum ctrace_loss reason)
{
	for (; dests != 0; dests &= dests - 1)
		(void)__atomic_fetch_add(&head->dest[__builtin_ctz(dests)].lost[reason], 1,
					 __ATOMIC_RELAXED);
}

void ct_trace_count_lost(enum ctrace_loss reason, uint32_t component)
{
	struct ct_session *session = &ct_process.session;

	if (!ct_process_has_session()) {
		(void)__atomic_fetch_add(&ct_process.lost_unattached[reason], 1, __ATOMIC_RELAXED);
		return;
	}
	(void)__atomic_fetch_add(&session->head->lost[reason], 1, __ATOMIC_RELAXED);
	if (component == CT_COMPONENT_NONE)
		(void)__atomic_fetch_add(&session->head->lost_to_all[reason], 1, __ATOMIC_RELAXED);
	else
		count_for(session->head, dests_of(&session->components[component]), reason);
}

static enum ctrace_status event_count_lost(enum ctrace_loss reason, uint32_t component)
{
	ct_trace_count_lost(reason, component);
	return CTRACE_NOT_ENOUGH_MEMORY;
}

enum ctrace_status ct_trace_count_unattached(uint32_t level)
{
	uint32_t state = __atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE);

	if (level >= CTRACE_LEVEL_COUNT)
		return CTRACE_INVALID_TRACE_LEVEL;
	if (state == CT_PROCESS_CLOSED || state == CT_PROCESS_FAILED)
		return event_count_lost(CTRACE_LOSS_CLOSED, CT_COMPONENT_NONE);
	(void)__atomic_fetch_add(&ct_process.lost_early[level], 1, __ATOMIC_SEQ_CST);
	/* Another thread may have attached the process meanwhile, and moved the other counts. */
	if (ct_process_has_session())
		ct_process_hand_over_losses();
	return CTRACE_NOT_ENOUGH_MEMORY;
}

/* Counts an event as lost in a ring: for the external writer that consumes the ring, or else for
 * the component's destinations. */
static enum ctrace_status event_count_lost_in(const struct ct_process *process,
					      struct ct_ring *ring, enum ctrace_loss reason,
					      uint32_t dests)
{
	uint32_t held_by = __atomic_load_n(&ring->head->held_by, __ATOMIC_RELAXED) % CT_DEST_LIMIT;

	if (held_by != 0)
		dests = 1u << held_by;
	ct_ring_count_lost(ring, reason, dests);
	count_for(process->session.head, dests, reason);
	return CTRACE_NOT_ENOUGH_MEMORY;
}

/* ---- which ring ---- */

static uint32_t overflow_of(const struct ct_process *process,
			    const struct ct_thread_buffer *thread_buffer, uint32_t dests)
{
	uint32_t overflow = thread_buffer->ring->head->overflow;

	if (thread_buffer->ring->head->is_side && overflow != CT_OVERFLOW_OVERWRITE)
		return CT_OVERFLOW_DISCARD;
	if (overflow != CT_OVERFLOW_AUTO)
		return overflow;
	if (ct_ring_has_writer(thread_buffer->ring))
		return CT_OVERFLOW_BLOCK; /* a writer's data set is a file */
	return (__atomic_load_n(&process->file_dests, __ATOMIC_RELAXED) & dests) != 0
		       ? CT_OVERFLOW_BLOCK
		       : CT_OVERFLOW_DISCARD;
}

/* ---- space ---- */

/* Under `block`: waits until the output has moved on from `tail`.  Returns false when it made no
 * progress for the whole timeout, now or at the last try. */
static bool wait_for_output(struct ct_process *process, struct ct_ring *ring, uint64_t tail,
			    uint32_t dests)
{
	if (ring->stalled && ring->tail_at_stall == tail && (dests & ~ring->dests_at_stall) == 0)
		return false;
	if (!ring->stalled || ring->tail_at_stall != tail)
		ring->dests_at_stall = 0;
	ring->stalled = false;
	ct_process_wake_consumer_thread();
	if (ct_ring_wait_for_space(
		    ring, tail,
		    __atomic_load_n(&process->settings.block_timeout_ns, __ATOMIC_RELAXED)))
		return true;
	ring->stalled = true;
	ring->tail_at_stall = tail;
	ring->dests_at_stall |= dests;
	return false;
}

/* Counts an event as lost for lack of space.  Returns OUTPUT_ERROR when a failing destination is
 * the cause. */
static enum ctrace_status lose_for_output(struct ct_process *process, struct ct_ring *ring,
					  enum ctrace_loss reason, uint32_t dests)
{
	bool fails = (__atomic_load_n(&process->failing, __ATOMIC_RELAXED) & dests) != 0;

	(void)event_count_lost_in(process, ring, reason, dests);
	return fails ? CTRACE_OUTPUT_ERROR : CTRACE_NOT_ENOUGH_MEMORY;
}

/* Returns TIMED_OUT, and counts nothing, when a signal handler would have to wait. */
static enum ctrace_status make_space(struct ct_process *process,
				     struct ct_thread_buffer *thread_buffer, size_t size,
				     uint32_t dests)
{
	const struct ct_class_image classes = ct_session_classes(&process->session);

	ct_thread_buffer_grow(process, thread_buffer, size);
	if (size > thread_buffer->ring->capacity / 2)
		return event_count_lost_in(process, thread_buffer->ring, CTRACE_LOSS_TOO_LARGE,
					   dests);
	for (bool has_looked = false;; has_looked = true) {
		/* Loaded before the try: space that the output frees after it must not be waited
		 * for again. */
		uint64_t tail = __atomic_load_n(&thread_buffer->ring->head->tail, __ATOMIC_ACQUIRE);

		/* A child that a handler has forked in this call has no thread state yet. */
		if (ct_ring_open_window(thread_buffer->ring, thread_buffer->thread_buffer, &classes,
					ct_thread_current != NULL ? ct_thread_current->tid : 0,
					size)) {
			thread_buffer->opened_at = ct_clock_ticks();
			return CTRACE_OK;
		}
		/* For the consumer thread: a destination without progress must not keep these
		 * destinations from their events. */
		(void)__atomic_fetch_or(&thread_buffer->ring->head->turned_away, dests,
					__ATOMIC_RELAXED);
		if (overflow_of(process, thread_buffer, dests) != CT_OVERFLOW_BLOCK)
			return lose_for_output(process, thread_buffer->ring, CTRACE_LOSS_DISCARDED,
					       dests);
		if (!has_looked && ct_thread_is_in_handler())
			return CTRACE_TIMED_OUT;
		if (!wait_for_output(process, thread_buffer->ring, tail, dests))
			return lose_for_output(process, thread_buffer->ring, CTRACE_LOSS_STALLED,
					       dests);
	}
}

/* ---- reserve and commit ---- */

/* Finds space in a thread buffer that has a ring.  One reading of the clock serves two ends: it is
 * the event's time, and tells whether the window is so old that it needs a new mark.  The consumer
 * thread closes old windows of the inline path's thread buffers. */
static inline enum ctrace_status find_space(struct ct_process *process,
					    struct ct_thread_buffer *thread_buffer, size_t size,
					    uint32_t dests, struct ct_reservation *out)
{
	uint64_t ticks = ct_clock_ticks();

	if (__builtin_expect((uintptr_t)thread_buffer->thread_buffer->cur + size >
				     (uintptr_t)__atomic_load_n(&thread_buffer->thread_buffer->end,
								__ATOMIC_RELAXED),
			     0) ||
	    ticks - thread_buffer->opened_at > FAR_TICKS) {
		enum ctrace_status status = make_space(process, thread_buffer, size, dests);

		if (status != CTRACE_OK)
			return status;
		ticks = thread_buffer->opened_at;
	}
	out->at = thread_buffer->thread_buffer->cur;
	out->size = size;
	out->ticks = ticks;
	out->thread_buffer = thread_buffer;
	return CTRACE_OK;
}

/* Finds space in a thread buffer, and gives it a ring if it has none.  On success the thread buffer
 * is entered. */
static inline enum ctrace_status enter_thread_buffer(struct ct_process *process,
						     struct ct_thread *thread,
						     struct ct_thread_buffer *thread_buffer,
						     size_t size, uint32_t component,
						     uint32_t channel, struct ct_reservation *out)
{
	enum ctrace_status status = CTRACE_OK;

	if (thread_buffer->ring == NULL) {
		if (ct_thread_locked != 0)
			return event_count_lost(CTRACE_LOSS_NESTED, component);
		/* Making a ring takes long, and handlers that interrupt it would make rings of
		 * their own.  The caller's memory is read later, with its signals as they were: a
		 * wrong address there is for the program's handler. */
		ct_guard_enter();
		ct_thread_buffer_enter(thread_buffer);
		status = ct_thread_buffer_attach(process, thread, thread_buffer, component, channel,
						 size);
		ct_guard_leave();
	} else
		ct_thread_buffer_enter(thread_buffer);
	if (status == CTRACE_OK)
		status = find_space(process, thread_buffer, size,
				    dests_of(&process->session.components[component]), out);
	if (status != CTRACE_OK)
		ct_thread_buffer_leave(thread_buffer);
	return status;
}

/* Has the process had no event yet? */
static inline bool is_unopened(const struct ct_process *process)
{
	return __builtin_expect(__atomic_load_n(&process->is_unopened, __ATOMIC_RELAXED) != 0, 0);
}

/* The process's first event reports a file that cannot be written.  The consumer thread opens the
 * file while this thread makes its ring. */
static __attribute__((noinline)) enum ctrace_status
reserve_first(uint32_t component, uint32_t level, size_t size, struct ct_reservation *out)
{
	bool is_first = ct_process_open_first();
	enum ctrace_status status = ct_trace_reserve(component, level, size, out);

	out->is_first = is_first;
	if (is_first && status != CTRACE_OK)
		ct_process_await_first();
	return status;
}

enum ctrace_status ct_trace_reserve(uint32_t component, uint32_t level, size_t size,
				    struct ct_reservation *out)
{
	struct ct_process *process = ct_process_attach();
	struct ct_thread *thread = process != NULL ? ct_thread_self() : NULL;
	const struct ct_component_entry *entry;
	enum ctrace_status status;
	struct ct_thread_buffer *thread_buffer;
	uint32_t channel;

	if (process == NULL)
		return ct_trace_count_unattached(level);
	if (thread == NULL)
		return event_count_lost(ct_thread_locked != 0 ? CTRACE_LOSS_NESTED
							      : CTRACE_LOSS_NO_RING,
					component);
	if (size == 0)
		return event_count_lost(CTRACE_LOSS_TOO_LARGE, component);
	if (is_unopened(process))
		return reserve_first(component, level, size, out);
	entry = &process->session.components[component];
	channel = ct_level_word_channel(&entry->level_word);
	thread_buffer = ct_thread_buffer_choose(process, thread, component, level, channel);
	if (thread_buffer == NULL)
		return event_count_lost(CTRACE_LOSS_NESTED, component);
	out->is_first = false;
	status = enter_thread_buffer(process, thread, thread_buffer, size, component, channel, out);
	if (status == CTRACE_TIMED_OUT) {
		/* A handler must not wait, so it has a ring of its own. */
		thread_buffer = ct_thread_buffer_find_side(thread, false);
		if (thread_buffer == NULL)
			return event_count_lost(CTRACE_LOSS_NESTED, component);
		status = enter_thread_buffer(process, thread, thread_buffer, size, component,
					     channel, out);
	}
	return status;
}

enum ctrace_status ct_trace_reserve_imported(uint32_t component, size_t size, uint64_t *ticks,
					     struct ct_reservation *out)
{
	struct ct_process *process = ct_process_attach();
	struct ct_thread *thread = process != NULL ? ct_thread_self() : NULL;
	const struct ct_component_entry *entry;
	enum ctrace_status status;
	struct ct_thread_buffer *thread_buffer;

	if (process == NULL)
		return ct_trace_count_unattached(CTRACE_INFO);
	if (thread == NULL)
		return event_count_lost(ct_thread_locked != 0 ? CTRACE_LOSS_NESTED
							      : CTRACE_LOSS_NO_RING,
					component);
	if (size == 0)
		return event_count_lost(CTRACE_LOSS_TOO_LARGE, component);
	if (is_unopened(process) && ct_process_open_first())
		ct_process_await_first();
	thread_buffer = &thread->imported;
	if (ct_thread_is_calling() && !ct_thread_is_in_handler())
		ct_thread_end_calls(thread);
	if (thread_buffer->busy || ct_thread_is_calling())
		return event_count_lost(CTRACE_LOSS_NESTED, component);
	entry = &process->session.components[component];
	status = ct_thread_buffer_lead_imported(process, thread, component,
						ct_level_word_channel(&entry->level_word), size);
	if (status != CTRACE_OK)
		return status;
	ct_thread_buffer_enter(thread_buffer);
	/* Set before a window is opened, because the window's mark has this time. */
	if (*ticks < thread_buffer->ring->last_ticks)
		*ticks = thread_buffer->ring->last_ticks;
	if (*ticks - thread_buffer->ring->last_ticks > FAR_TICKS)
		ct_ring_close_window(thread_buffer->thread_buffer);
	thread_buffer->ring->last_ticks = *ticks;
	status = find_space(process, thread_buffer, size, dests_of(entry), out);
	if (status != CTRACE_OK) {
		ct_thread_buffer_leave(thread_buffer);
		/* This is a handler after all, and must not wait. */
		return status == CTRACE_TIMED_OUT
			       ? event_count_lost_in(process, thread_buffer->ring,
						     CTRACE_LOSS_DISCARDED, dests_of(entry))
			       : status;
	}
	out->is_first = false;
	return CTRACE_OK;
}

/* An event at or above the trigger makes the consumer deliver the flight recorder's history. */
static void pull_trigger(struct ct_process *process, uint32_t level)
{
	if (level >= __atomic_load_n(&process->settings.flight_trigger, __ATOMIC_RELAXED))
		(void)__atomic_fetch_add(&process->session.head->flight_wanted, 1,
					 __ATOMIC_RELEASE);
}

enum ctrace_status ct_trace_commit(struct ct_reservation *reservation, uint32_t component,
				   uint32_t level)
{
	struct ct_process *process = &ct_process;
	struct ct_thread_buffer *thread_buffer = reservation->thread_buffer;
	uint32_t dests = dests_of(&process->session.components[component]);
	bool is_kept = thread_buffer->is_kept;

	/* Set before the event is visible, so that the pass that delivers it delivers the history
	 * too. */
	if (__atomic_load_n(&process->settings.flight_trigger, __ATOMIC_RELAXED) <
		    CTRACE_LEVEL_COUNT &&
	    !is_kept)
		pull_trigger(process, level);
	CTRACE_FENCE_();
	thread_buffer->thread_buffer->cur = reservation->at + reservation->size;
	/* Publish: pairs with the acquire load in ct_ring_head_position().  Past this line the
	 * event survives SIGKILL. */
	__atomic_store_n(thread_buffer->thread_buffer->head,
			 (uint64_t)(uintptr_t)thread_buffer->thread_buffer->cur +
				 thread_buffer->thread_buffer->bias,
			 __ATOMIC_RELEASE);
	ct_thread_buffer_leave(thread_buffer);
	if (reservation->is_first)
		ct_process_await_first();
	if (__atomic_load_n(&process->consumer_thread_idle, __ATOMIC_RELAXED) != 0 && !is_kept &&
	    !ct_ring_has_writer(thread_buffer->ring))
		ct_process_wake_consumer_thread();
	return (__atomic_load_n(&process->failing, __ATOMIC_RELAXED) & dests) != 0
		       ? CTRACE_OUTPUT_ERROR
		       : CTRACE_OK;
}

/* ---- the native entry ---- */

static enum ctrace_status register_attached(struct ctrace_tracer *tracer, uint32_t level,
					    uint32_t *out_component)
{
	struct ct_process *process = ct_process_attach();
	enum ctrace_status status;
	uint32_t component;

	if (process == NULL)
		return ct_trace_count_unattached(level);
	if (tracer->name == NULL)
		return CTRACE_INVALID_COMPONENT_NAME;
	status = ct_registry_register(process->registry, tracer->name,
				      __builtin_strlen(tracer->name), &component);
	if (status == CTRACE_TIMED_OUT)
		return event_count_lost(CTRACE_LOSS_NESTED, CT_COMPONENT_NONE);
	if (status == CTRACE_NOT_ENOUGH_MEMORY)
		return event_count_lost(CTRACE_LOSS_NO_RING, CT_COMPONENT_NONE);
	if (status != CTRACE_OK)
		return status;
	if (tracer->abi == CTRACE_ABI) {
		/* other threads may store the same number here */
		__atomic_store_n(&tracer->component, component, __ATOMIC_RELAXED);
		/* Pairs with the acquire load in ctrace_level_word_(): a thread that sees the level
		 * word sees the component. */
		__atomic_store_n(&tracer->level_word, ct_process_level_word(component),
				 __ATOMIC_RELEASE);
	}
	*out_component = component;
	return CTRACE_OK;
}

/* Registers the tracer for an event of that level.  On OK its level word is the component's.  The
 * first one attaches the process, under one shield with its registration: each costs two calls. */
static enum ctrace_status register_tracer(struct ctrace_tracer *tracer, uint32_t level,
					  uint32_t *out_component)
{
	struct ct_shield shield;
	enum ctrace_status status;
	bool is_first = __atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE) == CT_PROCESS_NEW &&
			ct_thread_locked == 0;

	/* Looked at first: a wrong address is for the program's handler. */
	if (is_first && tracer->name != NULL)
		(void)*(const volatile char *)tracer->name;
	if (is_first)
		ct_shield_begin(&shield);
	status = register_attached(tracer, level, out_component);
	if (is_first)
		ct_shield_end(&shield);
	return status;
}

enum ctrace_status ct_trace_hear_bell(uint32_t component)
{
	if (!ct_process_hears_bell())
		return CTRACE_OK;
	(void)ct_process_attach();
	/* In a signal handler it stays dormant; the next call outside wakes it. */
	return ct_process_hears_bell() ? event_count_lost(CTRACE_LOSS_NESTED, component)
				       : CTRACE_OK;
}

/* The tracer has the bell for a level word.  When the process is awake, it gets its component's. */
static __attribute__((noinline)) enum ctrace_status tracer_hear_bell(struct ctrace_tracer *tracer,
								     uint32_t component)
{
	enum ctrace_status status = ct_trace_hear_bell(component);

	__atomic_store_n(&tracer->level_word, ct_process_level_word(component), __ATOMIC_RELEASE);
	return status;
}

static enum ctrace_status find_component(struct ctrace_tracer *tracer, uint32_t level,
					 uint32_t *out_component)
{
	const struct ctrace_level_word *level_word =
		__atomic_load_n(&tracer->level_word, __ATOMIC_ACQUIRE);

	if (tracer->abi != CTRACE_ABI || level_word == &ctrace_level_word_unregistered)
		return register_tracer(tracer, level, out_component);
	*out_component = __atomic_load_n(&tracer->component, __ATOMIC_RELAXED);
	return __builtin_expect(level_word == &ct_process.session.head->bell, 0)
		       ? tracer_hear_bell(tracer, *out_component)
		       : CTRACE_OK;
}

static enum ctrace_status compare_level(uint32_t component, uint32_t level)
{
	/* Pairs with the release of the new level: a thread that sees it sees its channel. */
	uint32_t threshold = __atomic_load_n(
		&ct_process.session.components[component].level_word.level, __ATOMIC_ACQUIRE);

	if (level >= CTRACE_LEVEL_COUNT)
		return CTRACE_INVALID_TRACE_LEVEL;
	if (threshold == CTRACE_LEVEL_NONE)
		return CTRACE_NOT_TRACE_ENABLED;
	return level >= threshold ? CTRACE_OK : CTRACE_NOT_TRACING_LEVEL;
}

/* ---- classes ---- */

/* The table of classes has at most a page left, so it grows.  Not in a signal handler, nor inside
 * ctrace's own locks. */
static __attribute__((noinline)) void make_room_for_classes(struct ct_process *process)
{
	if (ct_thread_locked != 0 || ct_thread_is_in_handler())
		return;
	ct_registry_add_classes(process->registry);
}

uint32_t ct_trace_class(const struct ct_event_head *head, const struct ctrace_item *items,
			uint32_t item_count)
{
	struct ct_process *process = ct_process_attach();
	uint32_t descriptors[CT_CLASS_MAX_ITEMS];

	if (process == NULL || item_count > CT_CLASS_MAX_ITEMS)
		return CT_CLASS_ANY;
	for (uint32_t i = 0; i < item_count; i++)
		descriptors[i] = ct_class_item(&items[i]);
	if (__builtin_expect(ct_class_table_is_short(process->classes.table), 0))
		make_room_for_classes(process);
	return ct_class_find(&process->classes, head, descriptors, item_count);
}

static inline bool items_are_odd(const struct ctrace_item *items, uint32_t item_count)
{
	for (uint32_t i = 0; i < item_count; i++)
		if (items[i].is_odd || (items[i].is_counted && items[i].size > UINT16_MAX))
			return true;
	return false;
}

/* Stores the class of its events in the site.  One thread does so, once.  An event of another class
 * is looked up each time. */
static void site_teach(struct ctrace_site *site, const struct ctrace_level_word *level_word,
		       const struct ct_event_head *head, uint32_t number,
		       const struct ctrace_item *items, uint32_t item_count)
{
	uint16_t none = 0;

	if (number < CT_CLASS_FIRST ||
	    __atomic_load_n(&site->class_number, __ATOMIC_RELAXED) != 0 ||
	    items_are_odd(items, item_count))
		return;
	if (!__atomic_compare_exchange_n(&site->class_number, &none, (uint16_t)number, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&site->event_id, head->event_id, __ATOMIC_RELAXED);
	__atomic_store_n(&site->level, (uint16_t)head->level, __ATOMIC_RELAXED);
	__atomic_store_n(&site->level_word, level_word, __ATOMIC_RELEASE);
}

static enum ctrace_status event_emit(struct ctrace_site *site, struct ctrace_tracer *tracer,
				     uint32_t level, uint32_t event_id,
				     const struct ctrace_item *items, uint32_t item_count)
{
	struct ct_event_head head = { .event_id = event_id, .level = level };
	struct ct_reservation reservation;
	enum ctrace_status status = find_component(tracer, level, &head.component);
	uint32_t number;

	if (status == CTRACE_OK)
		status = compare_level(head.component, level);
	if (status != CTRACE_OK)
		return status;
	number = ct_trace_class(&head, items, item_count);
	status = ct_trace_reserve(head.component, level, ct_event_size(number, items, item_count),
				  &reservation);
	if (status != CTRACE_OK)
		return status;
	ct_event_encode(reservation.at, number, reservation.ticks, &head, items, item_count);
	status = ct_trace_commit(&reservation, head.component, level);
	ct_thread_note_class(ct_thread_current, head.component, event_id, item_count, number);
	if (site != NULL && tracer->abi == CTRACE_ABI)
		site_teach(site, &ct_process.session.components[head.component].level_word, &head,
			   number, items, item_count);
	return status;
}

static __attribute__((noinline)) enum ctrace_status
emit_keeping_errno(struct ctrace_site *site, struct ctrace_tracer *tracer, uint32_t level,
		   uint32_t event_id, const struct ctrace_item *items, uint32_t item_count)
{
	int kept = errno;
	enum ctrace_status status = event_emit(site, tracer, level, event_id, items, item_count);

	errno = kept;
	return status;
}

/* ---- the short way of an event that needs nothing but the ring, as inline ---- */

/* Returns the size of the event, or 0 when these are not the items of the class, or are too large
 * for the short way. */
static inline size_t size_in_class(const struct ct_class_entry *class,
				   const struct ctrace_item *items, uint32_t item_count)
{
	size_t size = CT_EVENT_HEAD;

	for (uint32_t i = 0; i < item_count; i++) {
		if (class->items[i] != ct_class_item(&items[i]) || items[i].size > UINT16_MAX)
			return 0;
		size += ctrace_item_room_(&items[i]);
	}
	return size;
}

/* Returns the class that such an event had last on this thread, or NULL.  In a forked child the
 * thread's state is zeroed. */
static inline const struct ct_class_entry *class_recall(const struct ctrace_tracer *tracer,
							uint32_t level, uint32_t event_id,
							uint32_t item_count)
{
	struct ct_thread *thread = ct_thread_current;
	uint32_t component = __atomic_load_n(&tracer->component, __ATOMIC_RELAXED), number;
	const struct ct_class_entry *class;

	if (thread == NULL)
		return NULL;
	number = *ct_thread_class_slot(thread, component, event_id, item_count);
	class = (const struct ct_class_entry *)(uintptr_t)((uintptr_t)ct_process.session.classes +
							   number * CT_CLASS_UNIT);
	return number != 0 && class->event_id == event_id && class->component == component &&
			       class->level == level && class->item_count == item_count
		       ? class
		       : NULL;
}

static inline unsigned char *put_item(unsigned char *at, const struct ctrace_item *item)
{
	if (item->is_value || CTRACE_IS_BIG_)
		return ctrace_put_item_(at, item);
	if (item->is_counted) {
		ctrace_put_u16_(at, (uint16_t)item->size);
		at += 2;
	}
	return ct_event_put_bytes(at, item->data, item->size);
}

static inline __attribute__((always_inline)) enum ctrace_status
emit_shortly(struct ctrace_site *site, struct ctrace_tracer *tracer, uint32_t level,
	     uint32_t event_id, const struct ctrace_item *items, uint32_t item_count)
{
	const struct ctrace_level_word *level_word = ctrace_level_word_(tracer);
	struct ctrace_thread_buffer *thread_buffer;
	const struct ct_class_entry *class;
	unsigned char *at;
	size_t size;

	if (tracer->abi != CTRACE_ABI || level_word == &ctrace_level_word_unregistered ||
	    !ctrace_is_at_most_(&level_word->level, level))
		return emit_keeping_errno(site, tracer, level, event_id, items, item_count);
	/* The channel that is loaded after this is at least as new: pairs with the release stores
	 * in ct_level_publish(). */
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	class = class_recall(tracer, level, event_id, item_count);
	size = class != NULL ? size_in_class(class, items, item_count) : 0;
	at = size != 0 ? ctrace_reserve_(level_word, &thread_buffer, size) : NULL;
	if (__builtin_expect(at == NULL, 0))
		return emit_keeping_errno(site, tracer, level, event_id, items, item_count);
	at = ctrace_put_head_(thread_buffer, at, class->number);
	for (uint32_t i = 0; i < item_count; i++)
		at = put_item(at, &items[i]);
	ctrace_commit_(thread_buffer, at);
	if (__builtin_expect(!ctrace_is_at_most_(&ct_process.failing, 0), 0) &&
	    (__atomic_load_n(&ct_process.failing, __ATOMIC_RELAXED) &
	     dests_of(&ct_process.session.components[class->component])) != 0)
		return CTRACE_OUTPUT_ERROR;
	return CTRACE_OK;
}

enum ctrace_status ctrace_emit(struct ctrace_tracer *tracer, uint32_t level, uint32_t event_id,
			       const struct ctrace_item *items, uint32_t item_count)
{
	return emit_shortly(NULL, tracer, level, event_id, items, item_count);
}

/* A site without a class learns it from event_emit(), unless its items may change size without
 * saying so. */
enum ctrace_status ctrace_emit_at_(struct ctrace_site *site, struct ctrace_tracer *tracer,
				   uint32_t level, uint32_t event_id,
				   const struct ctrace_item *items, uint32_t item_count)
{
	if (__atomic_load_n(&site->class_number, __ATOMIC_RELAXED) == 0 &&
	    !items_are_odd(items, item_count))
		return emit_keeping_errno(site, tracer, level, event_id, items, item_count);
	return emit_shortly(site, tracer, level, event_id, items, item_count);
}

bool ctrace_enabled_slow_(struct ctrace_tracer *tracer, uint32_t level)
{
	int kept = errno;
	uint32_t component;
	bool enabled = find_component(tracer, level, &component) == CTRACE_OK &&
		       compare_level(component, level) == CTRACE_OK;

	errno = kept;
	return enabled;
}
