/*
 * ctrace/ctrace.h - trace from C and C++, inline to the ring.
 *
 *     static struct ctrace_tracer tracer = CTRACE_TRACER("mycomp");
 *     CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_TEXT(info, 10), CTRACE_U32(n));
 *
 * A disabled call loads one word, branches, and evaluates none of its arguments.  An enabled one
 * writes an event into the calling thread's ring: no lock, no system call, no allocation, no
 * read-modify-write instruction.  Any thread may call, also in a signal handler, before main() and
 * in an atexit handler; errno is kept.  A signal handler may be the first to call: its events are
 * counted (CTRACE_LOSS_NESTED) until the program traces outside of handlers.
 *
 * What this header inlines - struct ctrace_level_word, struct ctrace_thread_buffer, struct
 * ctrace_tracer, struct ctrace_site and the event (drawn in docs/ARCHITECTURE.md) - is ABI.
 * CTRACE_ABI names its version; a program built against another version goes through ctrace_emit()
 * and still works.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CTRACE_CTRACE_H
#define CTRACE_CTRACE_H

#include <ctrace/event.h>
#include <ctrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CTRACE_ABI 4u

#define CTRACE_API_ __attribute__((visibility("default")))
#define CTRACE_INLINE_ static inline __attribute__((always_inline, unused))

/* -----------------------------------------------------------------------------------------------
 * ABI
 */

/* One word pair per component, in the session file.  Only commands write it. */
struct ctrace_level_word {
	uint32_t level;         /* resolved threshold; CTRACE_LEVEL_NONE: not enabled */
	uint32_t thread_buffer; /* offset of the thread's buffer for this component, in bytes from
				   the first */
};

/* A component as a call site knows it.  Static storage; the library fills it at the first enabled
 * call and never keeps its address, so a module that holds one may be unloaded. */
struct ctrace_tracer {
	const struct ctrace_level_word *level_word;
	const char *name;
	uint32_t component;
	uint32_t abi;
};

/* The producer's half of a ring, 32 bytes.  Only the owning thread reads and writes it, except
 * `end`: the consumer clears `end` so that the next event takes the slow path and wakes it.  A
 * thread buffer of zeros has no room; its events go by ctrace_emit(). */
struct ctrace_thread_buffer {
	unsigned char *cur; /* the next event goes here */
	unsigned char *end; /* contiguous free space ends here */
	uint64_t bias;      /* address + bias = position in the ring */
	uint64_t *head;     /* published position, in the ring file */
};
#define CTRACE_THREAD_BUFFERS_ 64u
#define CTRACE_CALLING_ 2048   /* the size of a thread's buffers */
#define CTRACE_MONOTONIC_ 4096 /* twice that */

/* The class of a call site's events, known once one has been traced.  Static storage; the
 * library fills it once. */
struct ctrace_site {
	/* of the component that the class belongs to; NULL: no class yet */
	const struct ctrace_level_word *level_word;
	uint32_t event_id;
	uint16_t class_number;
	uint16_t level;
};

/* One data item on its way into an event. */
struct ctrace_item {
	const void *data;
	uint64_t value; /* replaces data when is_value */
	uint32_t size;  /* bytes; CTRACE_TOO_LONG_ marks an item over the limit */
	uint32_t type;
	uint32_t is_value;
	/* the size precedes the bytes: the next event may have another size */
	uint16_t is_counted;
	/* the size may change but no size precedes the bytes: not for the inline path */
	uint16_t is_odd;
};

#define CTRACE_EVENT_HEAD_ 8u
#define CTRACE_TOO_LONG_ 0xFFFFFFu
#define CTRACE_COUNTED_ 0xFFFFFEu

extern CTRACE_API_ const struct ctrace_level_word ctrace_level_word_unregistered;
/* The calling thread's buffers: CTRACE_THREAD_BUFFERS_ of them, at an address that is a multiple
 * of twice their size.  As many again follow, which never have room.  While the thread is inside
 * a trace call, the bit CTRACE_CALLING_ is set and ctrace_thread_buffers_self leads to the
 * second half. Before a thread's first event it leads to others without room.  So every thread
 * buffer that it leads to may be read.  On x86-64 the bit CTRACE_MONOTONIC_ of a buffer with room
 * says which clock its events have: set, nanoseconds of CLOCK_MONOTONIC; not set, the processor's
 * counter.  Elsewhere buffers with room have the counter. */
extern CTRACE_API_ __thread struct ctrace_thread_buffer *ctrace_thread_buffers_self
	__attribute__((tls_model("initial-exec")));

/* A static tracer.  NAME is a string constant.  The first call registers the component. */
#define CTRACE_TRACER(NAME) \
	{ \
		&ctrace_level_word_unregistered, (NAME), 0, CTRACE_ABI \
	}

/* -----------------------------------------------------------------------------------------------
 * Items.  Pointers are read during the call only; a NULL pointer is an empty item.  Sizes are
 * bytes, 0 to 65,536: an event with a longer item is not recorded and counts as
 * CTRACE_LOSS_TOO_LARGE.
 */
CTRACE_INLINE_ struct ctrace_item ctrace_item_bytes_(uint32_t type, const void *data, size_t size,
						     bool is_counted, bool is_constant)
{
	struct ctrace_item item;
	item.data = data;
	item.value = 0;
	item.type = type;
	item.is_value = 0;
	item.size = data == 0                      ? 0u
		    : size <= CTRACE_MAX_ITEM_SIZE ? (uint32_t)size
						   : CTRACE_TOO_LONG_;
	item.is_counted = is_counted;
	item.is_odd = !is_counted && (data == 0 || !is_constant);
	return item;
}

CTRACE_INLINE_ struct ctrace_item ctrace_item_value_(uint32_t type, uint64_t value, uint32_t size)
{
	struct ctrace_item item;
	item.data = 0;
	item.value = value;
	item.size = size;
	item.type = type;
	item.is_value = 1;
	item.is_counted = 0;
	item.is_odd = 0;
	return item;
}

CTRACE_INLINE_ struct ctrace_item ctrace_item_string_(const char *text)
{
	return ctrace_item_bytes_(CTRACE_TYPE_TEXT, text, text == 0 ? (size_t)0 : strlen(text),
				  true, false);
}

/* True for an integer constant of the language, whatever the optimizer may find out.  All events
 * of such a call site have the same size. */
#ifdef __cplusplus
#define CTRACE_CONSTANT_(n) 0
#else
#define CTRACE_CONSTANT_(n) \
	_Generic(1 ? (void *)((intptr_t)(n)*0) : (int *)0, int * : 1, default : 0)
#endif

#define CTRACE_BIN(p, n) \
	ctrace_item_bytes_(CTRACE_TYPE_BINARY, (p), (size_t)(n), !CTRACE_CONSTANT_(n), \
			   CTRACE_CONSTANT_(n))
#define CTRACE_TEXT(p, n) \
	ctrace_item_bytes_(CTRACE_TYPE_TEXT, (p), (size_t)(n), !CTRACE_CONSTANT_(n), \
			   CTRACE_CONSTANT_(n))
#define CTRACE_UTF8(p, n) \
	ctrace_item_bytes_(CTRACE_TYPE_UTF8, (p), (size_t)(n), !CTRACE_CONSTANT_(n), \
			   CTRACE_CONSTANT_(n))
#define CTRACE_STR(s) ctrace_item_string_((s))
#define CTRACE_ADDR(p) ctrace_item_value_(CTRACE_TYPE_ADDRESS, (uint64_t)(uintptr_t)(p), 8)
#define CTRACE_U8(v) ctrace_item_value_(CTRACE_TYPE_COMP5, (uint8_t)(v), 1)
#define CTRACE_U16(v) ctrace_item_value_(CTRACE_TYPE_COMP5, (uint16_t)(v), 2)
#define CTRACE_U32(v) ctrace_item_value_(CTRACE_TYPE_COMP5, (uint32_t)(v), 4)
#define CTRACE_U64(v) ctrace_item_value_(CTRACE_TYPE_COMP5, (uint64_t)(v), 8)
#define CTRACE_I8(v) ctrace_item_value_(CTRACE_TYPE_COMP5S, (uint8_t)(int8_t)(v), 1)
#define CTRACE_I16(v) ctrace_item_value_(CTRACE_TYPE_COMP5S, (uint16_t)(int16_t)(v), 2)
#define CTRACE_I32(v) ctrace_item_value_(CTRACE_TYPE_COMP5S, (uint32_t)(int32_t)(v), 4)
#define CTRACE_I64(v) ctrace_item_value_(CTRACE_TYPE_COMP5S, (uint64_t)(int64_t)(v), 8)
#define CTRACE_XU(p, n) \
	ctrace_item_bytes_(CTRACE_TYPE_COMPX, (p), (size_t)(n), false, CTRACE_CONSTANT_(n))
#define CTRACE_XI(p, n) \
	ctrace_item_bytes_(CTRACE_TYPE_COMPXS, (p), (size_t)(n), false, CTRACE_CONSTANT_(n))

/* -----------------------------------------------------------------------------------------------
 * Tracing
 */

#if defined(__SANITIZE_THREAD__)
#define CTRACE_SANITIZES_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CTRACE_SANITIZES_ 1
#endif
#endif
#ifndef CTRACE_SANITIZES_
#define CTRACE_SANITIZES_ 0
#endif

/*
 * Loads of words that other threads write, compared at once.  x86-64 has one instruction for it;
 * compilers make two.
 */
#if defined(__x86_64__) && defined(__LP64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && \
	!CTRACE_SANITIZES_
#define CTRACE_COMPARES_ 1
#else
#define CTRACE_COMPARES_ 0
#endif

#if CTRACE_COMPARES_
/* Relaxed. */
CTRACE_INLINE_ bool ctrace_is_at_most_(const uint32_t *word, uint32_t value)
{
	bool is;
	__asm__ volatile("cmpl %2, %1" : "=@ccbe"(is) : "m"(*word), "ri"(value));
	return is;
}

/* Relaxed. */
CTRACE_INLINE_ bool ctrace_is_before_(unsigned char *const *word, const unsigned char *value)
{
	bool is;
	__asm__ volatile("cmpq %2, %1" : "=@ccb"(is) : "m"(*word), "r"(value));
	return is;
}

/* Acquire: every load of x86-64 is. */
CTRACE_INLINE_ bool ctrace_is_level_word_(const struct ctrace_level_word *const *word,
					  const struct ctrace_level_word *value)
{
	bool is;
	__asm__ volatile("cmpq %2, %1" : "=@cce"(is) : "m"(*word), "r"(value));
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	return is;
}
#else
CTRACE_INLINE_ bool ctrace_is_at_most_(const uint32_t *word, uint32_t value)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED) <= value;
}

CTRACE_INLINE_ bool ctrace_is_before_(unsigned char *const *word, const unsigned char *value)
{
	return (uintptr_t)__atomic_load_n(word, __ATOMIC_RELAXED) < (uintptr_t)value;
}

CTRACE_INLINE_ bool ctrace_is_level_word_(const struct ctrace_level_word *const *word,
					  const struct ctrace_level_word *value)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE) == value;
}
#endif

/* Pairs with the release store that registers the tracer: a thread that sees the component's
 * level word also sees its number. */
CTRACE_INLINE_ const struct ctrace_level_word *
ctrace_level_word_(const struct ctrace_tracer *tracer)
{
	return __atomic_load_n(&tracer->level_word, __ATOMIC_ACQUIRE);
}

/* True when the level word lets the event through, and for a tracer that is not registered yet:
 * ctrace_emit() decides then. */
CTRACE_INLINE_ bool ctrace_passes_(const struct ctrace_level_word *level_word, uint32_t level)
{
	return __builtin_expect(ctrace_is_at_most_(&level_word->level, level), 0);
}

/* Registers the tracer if needed; then returns what ctrace_enabled() returns. */
CTRACE_API_ bool ctrace_enabled_slow_(struct ctrace_tracer *tracer, uint32_t level);

/* Returns true when an event of this level would be recorded now.  Use it to guard costly
 * preparation.  Any thread, also in a signal handler. */
CTRACE_INLINE_ bool ctrace_enabled(struct ctrace_tracer *tracer, uint32_t level)
{
	const struct ctrace_level_word *level_word = ctrace_level_word_(tracer);
	return ctrace_passes_(level_word, level) &&
	       (level_word != &ctrace_level_word_unregistered ||
		ctrace_enabled_slow_(tracer, level));
}

/*
 * The out-of-line half of CTRACE(): registers the tracer, creates the thread's ring, waits or
 * counts when the ring is full, and writes the event.  Also a complete way to trace items that are
 * in an array.  item_count is at most CTRACE_MAX_ITEMS; items are read during the call only.  Any
 * thread, also in a signal handler, where it never waits.  Returns what CBL_CTF_TRACE returns: OK;
 * NOT_TRACE_ENABLED and NOT_TRACING_LEVEL when the threshold keeps the event out;
 * INVALID_TRACE_LEVEL; INVALID_COMPONENT_NAME; NOT_ENOUGH_MEMORY when the event is lost;
 * OUTPUT_ERROR when a destination is known to fail.  The call opens no destination itself.  The
 * call that registers the first enabled component waits until the consumer thread has tried the
 * output, at most ctrace.block.timeout.
 */
CTRACE_API_ enum ctrace_status ctrace_emit(struct ctrace_tracer *tracer, uint32_t level,
					   uint32_t event_id, const struct ctrace_item *items,
					   uint32_t item_count);

/* ctrace_emit() for a call site: also stores the class of its events in the site. */
CTRACE_API_ enum ctrace_status ctrace_emit_at_(struct ctrace_site *site,
					       struct ctrace_tracer *tracer, uint32_t level,
					       uint32_t event_id, const struct ctrace_item *items,
					       uint32_t item_count);

/* CTRACE(struct ctrace_tracer *, level, event id, 0 to 16 items).  A statement.  Level and event id
 * may be variables. */
#define CTRACE(...) CTRACE_CAT_(CTRACE_WITH_, CTRACE_COUNT_(__VA_ARGS__))(__VA_ARGS__)

/* -----------------------------------------------------------------------------------------------
 * Control.  Not for signal handlers.  Any thread; each is in force when it returns.
 */

/* Sets *out_tracer to the tracer of a component and creates it when there is none.  The same
 * name gives the same pointer, which stays valid for the life of the process.
 * INVALID_COMPONENT_NAME: the name is empty, over 255 bytes or has an empty part;
 * NOT_ENOUGH_MEMORY. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status ctrace_tracer_get(const char *name,
								 struct ctrace_tracer **out_tracer);

/* Applies one line of the configuration's grammar (docs/configuration.md): "mftrace.level.mycomp
 * = debug".  SYNTAX_ERROR: `ctrace config check` would report an error, also when the line only
 * names something unknown. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status ctrace_configure(const char *line);

/* Sets the threshold of a component, or the default one when component is NULL or "".  level: 0
 * to 4 or CTRACE_LEVEL_NONE.  INVALID_COMPONENT_NAME; INVALID_TRACE_LEVEL; NOT_ENOUGH_MEMORY.
 * TIMED_OUT: the level is set, but a command that does not end works on the component trace of
 * that name and will replace it. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status ctrace_level_set(const char *component,
								uint32_t level);
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status ctrace_level_get(const char *component,
								uint32_t *out_level);

/* Adds or removes an emitter.  component NULL or "" is the default list.  The rules and statuses
 * are those of CBL_CTF_DEST (<mfctf.h>). */
#define CTRACE_DEST_ADD 0u
#define CTRACE_DEST_REMOVE 1u
#define CTRACE_DEST_NOINHERIT 2u
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status ctrace_dest_set(const char *component,
							       const char *emitter, uint32_t how);

/* Properties are text.  A getter copies at most *size bytes including a NUL.  It stores the
 * length without the NUL in *size, also with BUFFER_TOO_SMALL.  value NULL asks for the length
 * only. PROPERTY_NOT_FOUND: the property was never set and has no default. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status
ctrace_component_property_set(const char *component, const char *property, const char *value);
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status ctrace_component_property_get(const char *component,
									     const char *property,
									     char *value,
									     size_t *size);
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status
ctrace_emitter_property_set(const char *emitter, const char *property, const char *value);
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status
ctrace_emitter_property_get(const char *emitter, const char *property, char *value, size_t *size);

/* Waits until all events that any thread committed before the call are in their destinations.
 * TIMED_OUT: they are not after timeout_ms milliseconds.  OUTPUT_ERROR: a destination is
 * failing. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status ctrace_flush(uint32_t timeout_ms);

/* Copies what the calling process has in storage into a new trace, a dump, in the directory of the
 * setting ctrace.dump.directory.  title: up to 100 bytes, or NULL.  out_path gets the dump's path;
 * it may be NULL.  Another dump within the same second is the one before.  Not for signal handlers.
 * NOT_FOUND: nothing is in storage.  OUTPUT_ERROR: the dump cannot be written.  TIMED_OUT: the file
 * system does not answer; the dump may be made later.  OS_ERROR: the process has no file of its
 * session. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status ctrace_dump(const char *title, char *out_path,
							   size_t size);
/*
 * For libctrace-cobol.so.  print writes where the COBOL program is, as lines "key: value", into out
 * and returns their bytes, at most room.  A dump calls it on any thread, and in a handler of a
 * fault; NULL: no longer.  The result is not 0 while ctrace.dump.on asks for a dump; other threads
 * change it.  A run-time error makes a dump if ctrace.dump.on has cobol-error.  A
 * handler of a fatal signal notes it, with siginfo_t and ucontext_t, if ctrace.dump.on asks for it.
 */
CTRACE_API_ const uint32_t *ctrace_dump_place_(size_t (*print)(char *out, size_t room));
CTRACE_API_ void ctrace_dump_error_(const char *text, size_t size);
CTRACE_API_ void ctrace_dump_signal_(int number, const void *info, const void *context);

/* For libctrace-cobol.so: returns false when ctrace.command.line is off. */
CTRACE_API_ bool ctrace_has_command_line_(void);

/* The events that this process has traced.  emitted is always the sum of delivered, pending and all
 * lost.  Events that newer ones have overwritten in storage count as lost. */
struct ctrace_stats {
	size_t size;                      /* set by the caller: sizeof(struct ctrace_stats) */
	uint64_t emitted;                 /* events that passed their threshold */
	uint64_t delivered;               /* in every destination they were bound for */
	uint64_t pending;                 /* in a ring, or in storage */
	uint64_t lost[CTRACE_LOSS_COUNT]; /* by reason */
	uint32_t rings;                   /* rings used so far */
	uint32_t components;
};
CTRACE_API_ void ctrace_stats_get(struct ctrace_stats *stats); /* NULL: does nothing */

/* The version as text: "0.9.0".  Static.  Any thread, also in a signal handler. */
CTRACE_API_ const char *ctrace_version(void);

/* -----------------------------------------------------------------------------------------------
 * The inline half.  Reads top to bottom: reserve, put, commit.
 */

#if defined(__x86_64__) && defined(__LP64__)
#define CTRACE_HAS_INLINE_ 1
#define CTRACE_HAS_MONOTONIC_ 1
CTRACE_INLINE_ uint64_t ctrace_ticks_(void)
{
	return __builtin_ia32_rdtsc();
}

/* The consumer has read the ring's cache lines on another processor.  This prefetches, for
 * writing, the line that this thread reaches about fifty events later. */
#define CTRACE_AHEAD_ 1024
CTRACE_INLINE_ void ctrace_take_ahead_(const unsigned char *cur)
{
	__asm__ volatile("prefetchw %0" : : "m"(cur[CTRACE_AHEAD_]));
}

CTRACE_INLINE_ void ctrace_begin_call_(void)
{
	__asm__ volatile("orq %1, %0"
			 : "+m"(ctrace_thread_buffers_self)
			 : "i"(CTRACE_CALLING_)
			 : "cc");
}

CTRACE_INLINE_ void ctrace_end_call_(void)
{
	__asm__ volatile("andq %1, %0"
			 : "+m"(ctrace_thread_buffers_self)
			 : "i"(~CTRACE_CALLING_)
			 : "cc");
}
#else
#define CTRACE_HAS_MONOTONIC_ 0
#if defined(__aarch64__) && defined(__LP64__)
#define CTRACE_HAS_INLINE_ 1
/* Every process may read this counter, and all processors have the same value.  No barrier keeps
 * the processor from reading it early: the consumer corrects a time that goes back. */
CTRACE_INLINE_ uint64_t ctrace_ticks_(void)
{
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

/* As on x86-64. */
#define CTRACE_AHEAD_ 1024
CTRACE_INLINE_ void ctrace_take_ahead_(const unsigned char *cur)
{
	__builtin_prefetch(cur + CTRACE_AHEAD_, 1, 3);
}
#else
#define CTRACE_HAS_INLINE_ 0
CTRACE_INLINE_ uint64_t ctrace_ticks_(void)
{
	return 0;
}

CTRACE_INLINE_ void ctrace_take_ahead_(const unsigned char *cur)
{
	(void)cur;
}
#endif

/* A signal handler may come between the load and the store.  It leaves the word as it was, but for
 * one that makes the thread's first event: ct_thread_self() repairs the address that is lost
 * then. */
CTRACE_INLINE_ void ctrace_begin_call_(void)
{
	uintptr_t self = (uintptr_t)__atomic_load_n(&ctrace_thread_buffers_self, __ATOMIC_RELAXED);
	__atomic_store_n(&ctrace_thread_buffers_self,
			 (struct ctrace_thread_buffer *)(self | (uintptr_t)CTRACE_CALLING_),
			 __ATOMIC_RELAXED);
}

CTRACE_INLINE_ void ctrace_end_call_(void)
{
	uintptr_t self = (uintptr_t)__atomic_load_n(&ctrace_thread_buffers_self, __ATOMIC_RELAXED);
	__atomic_store_n(&ctrace_thread_buffers_self,
			 (struct ctrace_thread_buffer *)(self & ~(uintptr_t)CTRACE_CALLING_),
			 __ATOMIC_RELAXED);
}
#endif

/* Keeps the compiler from moving the thread's own accesses.  A signal handler on this thread
 * depends on their order. */
#define CTRACE_FENCE_() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/*
 * Reserves `size` bytes of this thread's ring for a component; NULL when there is no room.  From
 * here on the bit CTRACE_CALLING_ sends a signal handler that interrupts this thread to the side
 * ring. A handler that came earlier has finished when this thread goes on.  If the bit was set
 * before, the thread buffer has no room, and the bit belongs to the interrupted call, which clears
 * it.
 */
CTRACE_INLINE_ unsigned char *ctrace_reserve_(const struct ctrace_level_word *level_word,
					      struct ctrace_thread_buffer **out_thread_buffer,
					      size_t size)
{
	uintptr_t offset = __atomic_load_n(&level_word->thread_buffer, __ATOMIC_RELAXED);
	struct ctrace_thread_buffer *thread_buffer;
	unsigned char *cur;
	/* ThreadSanitizer does not see how the library hands a ring over.  Its suppression covers
	 * what the library itself writes.  Our own builds check the inline half too. */
#if CTRACE_SANITIZES_ && !defined(CTRACE_OWN_BUILD_)
	return 0;
#endif
	if (!CTRACE_HAS_INLINE_)
		return 0;
	thread_buffer =
		(struct ctrace_thread_buffer *)(offset + (uintptr_t)ctrace_thread_buffers_self);
	ctrace_begin_call_();
	CTRACE_FENCE_();
	cur = thread_buffer->cur;
	if (__builtin_expect(ctrace_is_before_(&thread_buffer->end,
					       (unsigned char *)((uintptr_t)cur + size)),
			     0)) {
		if (((uintptr_t)thread_buffer & CTRACE_CALLING_) == 0)
			ctrace_end_call_();
		return 0;
	}
	if (cur == 0)
		__builtin_unreachable(); /* nothing fits before `end`; saves the caller a test */
	ctrace_take_ahead_(cur);
	*out_thread_buffer = thread_buffer;
	return cur;
}

/* Publishes the event: pairs with the acquire load of head in ct_ring_peek().  Past the store
 * the event survives SIGKILL. */
CTRACE_INLINE_ void ctrace_commit_(struct ctrace_thread_buffer *thread_buffer, unsigned char *next)
{
	uint64_t position = (uint64_t)(uintptr_t)next;
	CTRACE_FENCE_();
	thread_buffer->cur = next;
	position += thread_buffer->bias;
	CTRACE_FENCE_(); /* also makes the compiler compute the sum in one instruction */
	__atomic_store_n(thread_buffer->head, position, __ATOMIC_RELEASE);
	CTRACE_FENCE_();
	ctrace_end_call_();
}

/* The integers of an event are little-endian on every machine, so that every other machine reads
 * the event. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define CTRACE_IS_BIG_ 1
#else
#define CTRACE_IS_BIG_ 0
#endif

CTRACE_INLINE_ void ctrace_put_u16_(unsigned char *at, uint16_t value)
{
	if (CTRACE_IS_BIG_)
		value = __builtin_bswap16(value);
	memcpy(at, &value, 2);
}

CTRACE_INLINE_ void ctrace_put_u32_(unsigned char *at, uint32_t value)
{
	if (CTRACE_IS_BIG_)
		value = __builtin_bswap32(value);
	memcpy(at, &value, 4);
}

CTRACE_INLINE_ void ctrace_put_u64_(unsigned char *at, uint64_t value)
{
	if (CTRACE_IS_BIG_)
		value = __builtin_bswap64(value);
	memcpy(at, &value, 8);
}

/* Writes an item that the program has in memory.  A big-endian machine reverses an integer in
 * native order. */
CTRACE_INLINE_ void ctrace_put_data_(unsigned char *at, uint32_t type, const void *data,
				     size_t size)
{
	if (CTRACE_IS_BIG_ && size <= 8 &&
	    (type == CTRACE_TYPE_COMP5 || type == CTRACE_TYPE_COMP5S)) {
		size_t i;
		for (i = 0; i < size; i++)
			at[i] = ((const unsigned char *)data)[size - 1 - i];
	} else {
		memcpy(at, data, size);
	}
}

/* True when the class that the site knows is the class of this event.  Pairs with the release
 * store of the site's level word: a thread that sees it sees the class.  A constant event id or
 * level cannot differ from the site's. */
CTRACE_INLINE_ bool ctrace_site_is_(const struct ctrace_site *site,
				    const struct ctrace_level_word *level_word, uint32_t level,
				    bool is_level_constant, uint32_t event_id, bool is_id_constant)
{
	return ctrace_is_level_word_(&site->level_word, level_word) &&
	       (is_level_constant || site->level == level) &&
	       (is_id_constant || site->event_id == event_id);
}

/* Bytes that the inline path needs for an item.  An item that the inline path cannot take needs
 * more than any thread buffer has. */
CTRACE_INLINE_ size_t ctrace_item_room_(const struct ctrace_item *item)
{
	if (item->is_counted)
		return item->size <= UINT16_MAX ? item->size + (size_t)2 : CTRACE_TOO_LONG_;
	return item->size;
}

/* Only for the jump in ctrace_put_head_(): it is not a function that can be called. */
#if CTRACE_HAS_MONOTONIC_
CTRACE_API_ void ctrace_monotonic_(void);
#endif

/* Returns true when the thread buffer has the times of CLOCK_MONOTONIC. */
CTRACE_INLINE_ bool ctrace_is_monotonic_(const struct ctrace_thread_buffer *thread_buffer)
{
	return CTRACE_HAS_MONOTONIC_ && ((uintptr_t)thread_buffer & CTRACE_MONOTONIC_) != 0;
}

CTRACE_INLINE_ unsigned char *ctrace_put_head_(const struct ctrace_thread_buffer *thread_buffer,
					       unsigned char *at, uint16_t number)
{
#if CTRACE_HAS_MONOTONIC_
	uint32_t low, high;
	uint16_t last;

	/* A call would have the program's function save registers at its beginning, also while
	 * nothing is traced.  So ctrace_monotonic_ is no function: it finds in RAX where to go on,
	 * leaves the time in RDX, and changes nothing else. */
	__asm__ volatile("testl %3, %k2\n\t"
			 "jz 1f\n\t"
			 "leaq 2f(%%rip), %%rax\n\t"
			 "jmp *ctrace_monotonic_@GOTPCREL(%%rip)\n"
			 "2:\tmovl %%edx, %%eax\n\t"
			 "shrq $32, %%rdx\n\t"
			 "jmp 3f\n"
			 "1:\trdtsc\n"
			 "3:"
			 : "=a"(low), "=d"(high)
			 : "r"(thread_buffer), "i"(CTRACE_MONOTONIC_)
			 : "cc");
	last = (uint16_t)high;
	memcpy(at, &number, 2);
	memcpy(at + 2, &low, 4);
	memcpy(at + 6, &last, 2);
#else
	(void)thread_buffer;
	ctrace_put_u64_(at, number | ctrace_ticks_() << 16);
#endif
	return at + CTRACE_EVENT_HEAD_;
}

CTRACE_INLINE_ unsigned char *ctrace_put_bytes_(unsigned char *at, const struct ctrace_item *item)
{
	if (item->is_value) {
		if (item->size == 1) {
			*at = (unsigned char)item->value;
		} else if (item->size == 2) {
			ctrace_put_u16_(at, (uint16_t)item->value);
		} else if (item->size == 4) {
			ctrace_put_u32_(at, (uint32_t)item->value);
		} else {
			ctrace_put_u64_(at, item->value);
		}
	} else if (item->size != 0) {
		/* No thread buffer takes CTRACE_TOO_LONG_ bytes: such an item never comes here.
		 * This lets the compiler know. */
		if (item->size > CTRACE_MAX_ITEM_SIZE)
			__builtin_unreachable();
		ctrace_put_data_(at, item->type, item->data, item->size);
	}
	return at + item->size;
}

CTRACE_INLINE_ unsigned char *ctrace_put_item_(unsigned char *at, const struct ctrace_item *item)
{
	if (item->is_counted) {
		ctrace_put_u16_(at, (uint16_t)item->size);
		at += 2;
	}
	return ctrace_put_bytes_(at, item);
}

/* clang-format off */
/* Argument counting and one expansion per item count: plain C11 and C++17, no compiler extension. */
#define CTRACE_CAT2_(a, b) a##b
#define CTRACE_CAT_(a, b) CTRACE_CAT2_(a, b)
#define CTRACE_COUNT_(...) \
	CTRACE_PICK_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, too_few, too_few, 0)
#define CTRACE_PICK_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, n, ...) n

#define CTRACE_EACH_0_(M)
#define CTRACE_EACH_1_(M, a) M(0, a)
#define CTRACE_EACH_2_(M, a, b) CTRACE_EACH_1_(M, a) M(1, b)
#define CTRACE_EACH_3_(M, a, b, c) CTRACE_EACH_2_(M, a, b) M(2, c)
#define CTRACE_EACH_4_(M, a, b, c, d) CTRACE_EACH_3_(M, a, b, c) M(3, d)
#define CTRACE_EACH_5_(M, a, b, c, d, e) CTRACE_EACH_4_(M, a, b, c, d) M(4, e)
#define CTRACE_EACH_6_(M, a, b, c, d, e, f) CTRACE_EACH_5_(M, a, b, c, d, e) M(5, f)
#define CTRACE_EACH_7_(M, a, b, c, d, e, f, g) CTRACE_EACH_6_(M, a, b, c, d, e, f) M(6, g)
#define CTRACE_EACH_8_(M, a, b, c, d, e, f, g, h) CTRACE_EACH_7_(M, a, b, c, d, e, f, g) M(7, h)
#define CTRACE_EACH_9_(M, a, b, c, d, e, f, g, h, i) CTRACE_EACH_8_(M, a, b, c, d, e, f, g, h) M(8, i)
#define CTRACE_EACH_10_(M, a, b, c, d, e, f, g, h, i, j) CTRACE_EACH_9_(M, a, b, c, d, e, f, g, h, i) M(9, j)
#define CTRACE_EACH_11_(M, a, b, c, d, e, f, g, h, i, j, k) CTRACE_EACH_10_(M, a, b, c, d, e, f, g, h, i, j) M(10, k)
#define CTRACE_EACH_12_(M, a, b, c, d, e, f, g, h, i, j, k, l) CTRACE_EACH_11_(M, a, b, c, d, e, f, g, h, i, j, k) M(11, l)
#define CTRACE_EACH_13_(M, a, b, c, d, e, f, g, h, i, j, k, l, m) \
	CTRACE_EACH_12_(M, a, b, c, d, e, f, g, h, i, j, k, l) M(12, m)
#define CTRACE_EACH_14_(M, a, b, c, d, e, f, g, h, i, j, k, l, m, n) \
	CTRACE_EACH_13_(M, a, b, c, d, e, f, g, h, i, j, k, l, m) M(13, n)
#define CTRACE_EACH_15_(M, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) \
	CTRACE_EACH_14_(M, a, b, c, d, e, f, g, h, i, j, k, l, m, n) M(14, o)
#define CTRACE_EACH_16_(M, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
	CTRACE_EACH_15_(M, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) M(15, p)

#define CTRACE_HOLD_(i, item) const struct ctrace_item ctrace_i##i##_ = (item);
#define CTRACE_SIZE_(i, item) +ctrace_item_room_(&ctrace_i##i##_)
#define CTRACE_ODD_(i, item) || ctrace_i##i##_.is_odd
#define CTRACE_DATA_(i, item) ctrace_at_ = ctrace_put_item_(ctrace_at_, &ctrace_i##i##_);
#define CTRACE_LIST_(i, item) ctrace_i##i##_,

/* HOLD, ODD ... are the item list, expanded by the five macros above. */
#define CTRACE_BODY_(n, t, l, id, HOLD, ODD, SIZE, DATA, LIST) \
	do { \
		struct ctrace_tracer *ctrace_t_ = (t); \
		const struct ctrace_level_word *ctrace_g_ = ctrace_level_word_(ctrace_t_); \
		const uint32_t ctrace_l_ = (uint32_t)(l); \
		if (ctrace_passes_(ctrace_g_, ctrace_l_)) { \
			static struct ctrace_site ctrace_site_; \
			/* Nothing is evaluated for a tracer that is not known yet, and off: neither an id nor, below, an item. */ \
			if (!CTRACE_CONSTANT_(id) && __builtin_expect(ctrace_g_ == &ctrace_level_word_unregistered, 0) && \
			    !ctrace_enabled_slow_(ctrace_t_, ctrace_l_)) \
				break; \
			const uint32_t ctrace_id_ = (uint32_t)(id); \
			const bool ctrace_known_ = \
				ctrace_site_is_(&ctrace_site_, ctrace_g_, ctrace_l_, CTRACE_CONSTANT_(l), ctrace_id_, CTRACE_CONSTANT_(id)); \
			if (__builtin_expect(!ctrace_known_, 0) && ctrace_g_ == &ctrace_level_word_unregistered && \
			    !ctrace_enabled_slow_(ctrace_t_, ctrace_l_)) \
				break; \
			HOLD \
			struct ctrace_thread_buffer *ctrace_thread_buffer_ = 0; \
			unsigned char *ctrace_at_ = 0; \
			if (__builtin_expect(ctrace_known_, 1) && !(false ODD)) \
				ctrace_at_ = ctrace_reserve_(ctrace_g_, &ctrace_thread_buffer_, CTRACE_EVENT_HEAD_ SIZE); \
			if (__builtin_expect(ctrace_at_ != 0, 1)) { \
				ctrace_at_ = ctrace_put_head_(ctrace_thread_buffer_, ctrace_at_, ctrace_site_.class_number); \
				DATA \
				ctrace_commit_(ctrace_thread_buffer_, ctrace_at_); \
			} else { \
				const struct ctrace_item ctrace_items_[(n) + 1] = { LIST ctrace_item_value_(0, 0, 0) }; \
				(void)ctrace_emit_at_(&ctrace_site_, ctrace_t_, ctrace_l_, ctrace_id_, ctrace_items_, (n)); \
			} \
		} \
	} while (0)

#define CTRACE_WITH_0(t_, l_, id_) \
	CTRACE_BODY_(0u, t_, l_, id_, CTRACE_EACH_0_(CTRACE_HOLD_), \
		     CTRACE_EACH_0_(CTRACE_ODD_), \
		     CTRACE_EACH_0_(CTRACE_SIZE_), \
		     CTRACE_EACH_0_(CTRACE_DATA_), \
		     CTRACE_EACH_0_(CTRACE_LIST_))
#define CTRACE_WITH_1(t_, l_, id_, a) \
	CTRACE_BODY_(1u, t_, l_, id_, CTRACE_EACH_1_(CTRACE_HOLD_, a), \
		     CTRACE_EACH_1_(CTRACE_ODD_, a), \
		     CTRACE_EACH_1_(CTRACE_SIZE_, a), \
		     CTRACE_EACH_1_(CTRACE_DATA_, a), \
		     CTRACE_EACH_1_(CTRACE_LIST_, a))
#define CTRACE_WITH_2(t_, l_, id_, a, b) \
	CTRACE_BODY_(2u, t_, l_, id_, CTRACE_EACH_2_(CTRACE_HOLD_, a, b), \
		     CTRACE_EACH_2_(CTRACE_ODD_, a, b), \
		     CTRACE_EACH_2_(CTRACE_SIZE_, a, b), \
		     CTRACE_EACH_2_(CTRACE_DATA_, a, b), \
		     CTRACE_EACH_2_(CTRACE_LIST_, a, b))
#define CTRACE_WITH_3(t_, l_, id_, a, b, c) \
	CTRACE_BODY_(3u, t_, l_, id_, CTRACE_EACH_3_(CTRACE_HOLD_, a, b, c), \
		     CTRACE_EACH_3_(CTRACE_ODD_, a, b, c), \
		     CTRACE_EACH_3_(CTRACE_SIZE_, a, b, c), \
		     CTRACE_EACH_3_(CTRACE_DATA_, a, b, c), \
		     CTRACE_EACH_3_(CTRACE_LIST_, a, b, c))
#define CTRACE_WITH_4(t_, l_, id_, a, b, c, d) \
	CTRACE_BODY_(4u, t_, l_, id_, CTRACE_EACH_4_(CTRACE_HOLD_, a, b, c, d), \
		     CTRACE_EACH_4_(CTRACE_ODD_, a, b, c, d), \
		     CTRACE_EACH_4_(CTRACE_SIZE_, a, b, c, d), \
		     CTRACE_EACH_4_(CTRACE_DATA_, a, b, c, d), \
		     CTRACE_EACH_4_(CTRACE_LIST_, a, b, c, d))
#define CTRACE_WITH_5(t_, l_, id_, a, b, c, d, e) \
	CTRACE_BODY_(5u, t_, l_, id_, CTRACE_EACH_5_(CTRACE_HOLD_, a, b, c, d, e), \
		     CTRACE_EACH_5_(CTRACE_ODD_, a, b, c, d, e), \
		     CTRACE_EACH_5_(CTRACE_SIZE_, a, b, c, d, e), \
		     CTRACE_EACH_5_(CTRACE_DATA_, a, b, c, d, e), \
		     CTRACE_EACH_5_(CTRACE_LIST_, a, b, c, d, e))
#define CTRACE_WITH_6(t_, l_, id_, a, b, c, d, e, f) \
	CTRACE_BODY_(6u, t_, l_, id_, CTRACE_EACH_6_(CTRACE_HOLD_, a, b, c, d, e, f), \
		     CTRACE_EACH_6_(CTRACE_ODD_, a, b, c, d, e, f), \
		     CTRACE_EACH_6_(CTRACE_SIZE_, a, b, c, d, e, f), \
		     CTRACE_EACH_6_(CTRACE_DATA_, a, b, c, d, e, f), \
		     CTRACE_EACH_6_(CTRACE_LIST_, a, b, c, d, e, f))
#define CTRACE_WITH_7(t_, l_, id_, a, b, c, d, e, f, g) \
	CTRACE_BODY_(7u, t_, l_, id_, CTRACE_EACH_7_(CTRACE_HOLD_, a, b, c, d, e, f, g), \
		     CTRACE_EACH_7_(CTRACE_ODD_, a, b, c, d, e, f, g), \
		     CTRACE_EACH_7_(CTRACE_SIZE_, a, b, c, d, e, f, g), \
		     CTRACE_EACH_7_(CTRACE_DATA_, a, b, c, d, e, f, g), \
		     CTRACE_EACH_7_(CTRACE_LIST_, a, b, c, d, e, f, g))
#define CTRACE_WITH_8(t_, l_, id_, a, b, c, d, e, f, g, h) \
	CTRACE_BODY_(8u, t_, l_, id_, CTRACE_EACH_8_(CTRACE_HOLD_, a, b, c, d, e, f, g, h), \
		     CTRACE_EACH_8_(CTRACE_ODD_, a, b, c, d, e, f, g, h), \
		     CTRACE_EACH_8_(CTRACE_SIZE_, a, b, c, d, e, f, g, h), \
		     CTRACE_EACH_8_(CTRACE_DATA_, a, b, c, d, e, f, g, h), \
		     CTRACE_EACH_8_(CTRACE_LIST_, a, b, c, d, e, f, g, h))
#define CTRACE_WITH_9(t_, l_, id_, a, b, c, d, e, f, g, h, i) \
	CTRACE_BODY_(9u, t_, l_, id_, CTRACE_EACH_9_(CTRACE_HOLD_, a, b, c, d, e, f, g, h, i), \
		     CTRACE_EACH_9_(CTRACE_ODD_, a, b, c, d, e, f, g, h, i), \
		     CTRACE_EACH_9_(CTRACE_SIZE_, a, b, c, d, e, f, g, h, i), \
		     CTRACE_EACH_9_(CTRACE_DATA_, a, b, c, d, e, f, g, h, i), \
		     CTRACE_EACH_9_(CTRACE_LIST_, a, b, c, d, e, f, g, h, i))
#define CTRACE_WITH_10(t_, l_, id_, a, b, c, d, e, f, g, h, i, j) \
	CTRACE_BODY_(10u, t_, l_, id_, CTRACE_EACH_10_(CTRACE_HOLD_, a, b, c, d, e, f, g, h, i, j), \
		     CTRACE_EACH_10_(CTRACE_ODD_, a, b, c, d, e, f, g, h, i, j), \
		     CTRACE_EACH_10_(CTRACE_SIZE_, a, b, c, d, e, f, g, h, i, j), \
		     CTRACE_EACH_10_(CTRACE_DATA_, a, b, c, d, e, f, g, h, i, j), \
		     CTRACE_EACH_10_(CTRACE_LIST_, a, b, c, d, e, f, g, h, i, j))
#define CTRACE_WITH_11(t_, l_, id_, a, b, c, d, e, f, g, h, i, j, k) \
	CTRACE_BODY_(11u, t_, l_, id_, CTRACE_EACH_11_(CTRACE_HOLD_, a, b, c, d, e, f, g, h, i, j, k), \
		     CTRACE_EACH_11_(CTRACE_ODD_, a, b, c, d, e, f, g, h, i, j, k), \
		     CTRACE_EACH_11_(CTRACE_SIZE_, a, b, c, d, e, f, g, h, i, j, k), \
		     CTRACE_EACH_11_(CTRACE_DATA_, a, b, c, d, e, f, g, h, i, j, k), \
		     CTRACE_EACH_11_(CTRACE_LIST_, a, b, c, d, e, f, g, h, i, j, k))
#define CTRACE_WITH_12(t_, l_, id_, a, b, c, d, e, f, g, h, i, j, k, l) \
	CTRACE_BODY_(12u, t_, l_, id_, CTRACE_EACH_12_(CTRACE_HOLD_, a, b, c, d, e, f, g, h, i, j, k, l), \
		     CTRACE_EACH_12_(CTRACE_ODD_, a, b, c, d, e, f, g, h, i, j, k, l), \
		     CTRACE_EACH_12_(CTRACE_SIZE_, a, b, c, d, e, f, g, h, i, j, k, l), \
		     CTRACE_EACH_12_(CTRACE_DATA_, a, b, c, d, e, f, g, h, i, j, k, l), \
		     CTRACE_EACH_12_(CTRACE_LIST_, a, b, c, d, e, f, g, h, i, j, k, l))
#define CTRACE_WITH_13(t_, l_, id_, a, b, c, d, e, f, g, h, i, j, k, l, m) \
	CTRACE_BODY_(13u, t_, l_, id_, CTRACE_EACH_13_(CTRACE_HOLD_, a, b, c, d, e, f, g, h, i, j, k, l, m), \
		     CTRACE_EACH_13_(CTRACE_ODD_, a, b, c, d, e, f, g, h, i, j, k, l, m), \
		     CTRACE_EACH_13_(CTRACE_SIZE_, a, b, c, d, e, f, g, h, i, j, k, l, m), \
		     CTRACE_EACH_13_(CTRACE_DATA_, a, b, c, d, e, f, g, h, i, j, k, l, m), \
		     CTRACE_EACH_13_(CTRACE_LIST_, a, b, c, d, e, f, g, h, i, j, k, l, m))
#define CTRACE_WITH_14(t_, l_, id_, a, b, c, d, e, f, g, h, i, j, k, l, m, n) \
	CTRACE_BODY_(14u, t_, l_, id_, CTRACE_EACH_14_(CTRACE_HOLD_, a, b, c, d, e, f, g, h, i, j, k, l, m, n), \
		     CTRACE_EACH_14_(CTRACE_ODD_, a, b, c, d, e, f, g, h, i, j, k, l, m, n), \
		     CTRACE_EACH_14_(CTRACE_SIZE_, a, b, c, d, e, f, g, h, i, j, k, l, m, n), \
		     CTRACE_EACH_14_(CTRACE_DATA_, a, b, c, d, e, f, g, h, i, j, k, l, m, n), \
		     CTRACE_EACH_14_(CTRACE_LIST_, a, b, c, d, e, f, g, h, i, j, k, l, m, n))
#define CTRACE_WITH_15(t_, l_, id_, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) \
	CTRACE_BODY_(15u, t_, l_, id_, CTRACE_EACH_15_(CTRACE_HOLD_, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o), \
		     CTRACE_EACH_15_(CTRACE_ODD_, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o), \
		     CTRACE_EACH_15_(CTRACE_SIZE_, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o), \
		     CTRACE_EACH_15_(CTRACE_DATA_, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o), \
		     CTRACE_EACH_15_(CTRACE_LIST_, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o))
#define CTRACE_WITH_16(t_, l_, id_, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) \
	CTRACE_BODY_(16u, t_, l_, id_, CTRACE_EACH_16_(CTRACE_HOLD_, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p), \
		     CTRACE_EACH_16_(CTRACE_ODD_, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p), \
		     CTRACE_EACH_16_(CTRACE_SIZE_, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p), \
		     CTRACE_EACH_16_(CTRACE_DATA_, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p), \
		     CTRACE_EACH_16_(CTRACE_LIST_, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p))
/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif
