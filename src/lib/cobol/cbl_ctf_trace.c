/*
 * cbl_ctf_trace.c - trace an event: CBL_CTF_TRACE for COBOL's packed group, cobctf_trace for a C
 * structure.
 *
 * Runs on the traced thread, also in a signal handler, and keeps errno.  It never allocates or
 * locks once the thread has a ring and the component its name.  The arrays and items belong to the
 * caller and are read during the call only.  Their contents are never trusted beyond the reserved
 * space.
 *
 * The usual call takes the short path, from the arrays straight into the ring through the inline
 * half of <ctrace/ctrace.h>.  It needs a component by handle or by a name seen before, a ring that
 * the inline half may use, and a class that the thread has traced before.  Nothing is visible to
 * others before the event is whole.  Where the short path cannot go on, the long path starts anew:
 * it makes all checks, in the order that <mfctf.h> promises, and creates what is missing.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"

#include <errno.h>
#include <stddef.h>
#include <endian.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* cblt-trc-event: the members of TRACE_EVENT without padding. */
struct packed_event {
	uint32_t version;
	uint32_t flags;
	uint32_t event_id;
	uint32_t level;
	uint32_t data_count;
	const unsigned char *event_len;
	const unsigned char *event_type;
	const unsigned char *event_data;
} __attribute__((packed));
_Static_assert(sizeof(struct packed_event) == 44 &&
		       offsetof(struct packed_event, event_len) == 20 &&
		       offsetof(struct packed_event, event_data) == 36,
	       "cblt-trc-event has 44 bytes, its pointers at 20, 28 and 36");

/* The event in either structure.  A missing array is NULL. */
struct event {
	uint32_t id;
	uint32_t level;
	uint32_t count;
	uint32_t flags;
	const unsigned char *len;
	const unsigned char *type;
	const unsigned char *data;
};

/* The step between elements of `len` or `type`: 0 in a uniform array, which has one element. */
INLINE size_t event_stride(const struct event *event)
{
	return event->flags & CTF_FLAG_ARRAY_DATA ? 0 : 4;
}

INLINE bool event_is_forced(const struct event *event)
{
	return (event->flags & CTF_FLAG_FORCE_OUTPUT) != 0;
}

/* True for an integer whose class has its size.  Any other item has its size in front of it. */
INLINE bool is_integer(uint32_t type, uint32_t size)
{
	return type >= CTRACE_TYPE_COMP5 && type != CTRACE_TYPE_UTF8 && size - 1 < 8;
}

/* ---- the long way ---- */

INLINE struct ctrace_item event_item(const struct event *event, size_t index)
{
	size_t stride = event_stride(event);
	uint32_t size = event->len != NULL ? ct_cbl_load_u32(event->len + index * stride) : 0;
	uint32_t type = event->type != NULL ? ct_cbl_load_u32(event->type + index * stride)
					    : CTRACE_TYPE_BINARY;
	const void *data = NULL;

	if (event->data != NULL)
		memcpy(&data, event->data + index * sizeof(void *), sizeof(data));
	if (type == CTRACE_TYPE_ADDRESS)
		return CTRACE_ADDR(data);
	if (type >= CTRACE_TYPE_COUNT)
		type = CTRACE_TYPE_BINARY;
	return ctrace_item_bytes_(type, data, size, data == NULL || !is_integer(type, size), true);
}

/* More items than a class may have. */

/* Bytes of the event; 0 when an item or the number of items is over the limits. */
static size_t event_any_size(const struct event *event)
{
	size_t size = CT_EVENT_ANY_HEAD;

	if (event->count > CTRACE_MAX_ITEMS)
		return 0;
	for (size_t i = 0; i < event->count; i++) {
		struct ctrace_item item = event_item(event, i);

		if (item.size > CTRACE_MAX_ITEM_SIZE)
			return 0;
		size += CT_EVENT_ANY_ITEM + item.size;
	}
	return size;
}

/* The arrays are read a second time.  If another thread has changed them, sizes are cut to the
 * reserved space and missing bytes are filled, so that the event stays whole. */
static void event_put_any_items(const struct event *event, unsigned char *at, unsigned char *end)
{
	for (size_t i = 0; i < event->count; i++) {
		struct ctrace_item item = event_item(event, i);
		size_t room = (size_t)(end - at) - CT_EVENT_ANY_ITEM * (event->count - i);
		uint32_t size =
			i + 1 == event->count || item.size > room ? (uint32_t)room : item.size;
		uint32_t given = item.size < size ? item.size : size;

		at = ct_event_put_any_item(at, item.type, size);
		if (item.is_value)
			memcpy(at, &(const uint64_t){ htole64(item.value) }, given);
		else if (given != 0)
			ctrace_put_data_(at, item.type, item.data, given);
		memset(at + given, 0, size - given);
		at += size;
	}
}

/* A forced event goes where the lowest event over the component's threshold goes, but keeps its
 * own level. */
static uint32_t event_routing_level(uint32_t component, const struct event *event)
{
	uint32_t threshold = event_is_forced(event)
				     ? ct_channel_output_level(ct_process.registry, component)
				     : CTRACE_LEVEL_NONE;

	return threshold != CTRACE_LEVEL_NONE && threshold > event->level ? threshold
									  : event->level;
}

/* items: NULL when there are more than a class can have. */
static enum ctrace_status event_record_items(const struct ct_event_head *head,
					     const struct event *event,
					     const struct ctrace_item *items)
{
	uint32_t number = items != NULL ? ct_trace_class(head, items, event->count) : CT_CLASS_ANY;
	struct ct_reservation reservation;
	size_t size =
		items != NULL ? ct_event_size(number, items, event->count) : event_any_size(event);
	enum ctrace_status status = ct_trace_reserve(
		head->component, event_routing_level(head->component, event), size, &reservation);

	if (status == CTRACE_OK) {
		if (items != NULL)
			ct_event_encode(reservation.at, number, reservation.ticks, head, items,
					event->count);
		else
			event_put_any_items(event,
					    ct_event_put_any_head(reservation.at, reservation.ticks,
								  head, event->count),
					    reservation.at + size);
		status = ct_trace_commit(&reservation, head->component, event->level);
		ct_thread_note_class(ct_thread_current, head->component, event->id, event->count,
				     number);
	}
	return status;
}

static enum ctrace_status event_record(uint32_t component, const struct event *event)
{
	const struct ct_event_head head = { .component = component,
					    .event_id = event->id,
					    .level = event->level };
	struct ctrace_item items[CT_CLASS_MAX_ITEMS];

	if (event->count > CT_CLASS_MAX_ITEMS)
		return event_record_items(&head, event, NULL);
	for (size_t i = 0; i < event->count; i++)
		items[i] = event_item(event, i);
	return event_record_items(&head, event, items);
}

/*
 * Components by the address of the name that a trace call passed; each use compares the name letter
 * by letter.  Any thread, and signal handlers, read and write these words.  Each word is complete
 * by itself, and components are never freed.
 */
#define NAMES 32u
static const struct ctrace_tracer *names[2][NAMES];

INLINE const struct ctrace_tracer **name_slot(cobuns32_t flags, const unsigned char *name)
{
	return &names[(flags & CTF_FLAG_COMP_NAME_NULL_TERM) != 0][((uintptr_t)name >> 3) % NAMES];
}

static void name_remember(cobuns32_t flags, const unsigned char *name, size_t size,
			  uint32_t component)
{
	const struct ctrace_tracer *tracer = ct_registry_tracer(ct_process.registry, component);
	const char *own = ct_registry_name(ct_process.registry, component);

	/* Release: pairs with the acquire load in find_name(). */
	if (strlen(own) == size && memcmp(own, name, size) == 0)
		__atomic_store_n(name_slot(flags, name), tracer, __ATOMIC_RELEASE);
}

/* The component of a name.  It locks only when the name is new and must be registered. */
static enum ctrace_status component_register(const void *name, size_t size, uint32_t level,
					     uint32_t *out_component)
{
	struct ct_process *process = ct_process_attach();
	enum ctrace_status status;

	if (process == NULL)
		return ct_trace_count_unattached(level);
	status = ct_registry_register(process->registry, name, size, out_component);
	if (status == CTRACE_NOT_ENOUGH_MEMORY || status == CTRACE_TIMED_OUT)
		ct_trace_count_lost(status == CTRACE_TIMED_OUT ? CTRACE_LOSS_NESTED
							       : CTRACE_LOSS_NO_RING,
				    CT_COMPONENT_NONE);
	return status == CTRACE_TIMED_OUT ? CTRACE_NOT_ENOUGH_MEMORY : status;
}

static enum ctrace_status component_find(cobuns32_t flags, const unsigned char *name,
					 uint32_t level, uint32_t *out_component)
{
	size_t size = ct_cbl_name_size(name, (flags & CTF_FLAG_COMP_NAME_NULL_TERM) != 0,
				       CTRACE_MAX_COMPONENT);
	uint32_t state = __atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE);

	if (size == 0 || size > CTRACE_MAX_COMPONENT)
		return CTRACE_INVALID_COMPONENT_NAME;
	if (state != CT_PROCESS_NEW && state != CT_PROCESS_FAILED && ct_process.registry != NULL &&
	    ct_registry_find(ct_process.registry, (const char *)name, size, out_component) ==
		    CTRACE_OK) {
		name_remember(flags, name, size, *out_component);
		return CTRACE_OK;
	}
	if (ct_component_check_name((const char *)name, size) != CTRACE_OK)
		return CTRACE_INVALID_COMPONENT_NAME;
	return component_register(name, size, level, out_component);
}

static enum ctrace_status event_identify(const struct event *event,
					 const unsigned char *component_id, uint32_t *out_component)
{
	if (event->flags & CTF_FLAG_COMPID_STRING)
		return component_find(event->flags, component_id,
				      event_is_forced(event) ? CTRACE_FATAL : event->level,
				      out_component);
	if (ct_cbl_is_null(component_id) || *component_id != CT_HANDLE_MARK)
		return CTRACE_INVALID_TRACE_HANDLE;
	return ct_handle_component(ct_cbl_load_u32(component_id), out_component);
}

/* Makes the checks in the order that <mfctf.h> promises. */
static enum ctrace_status event_trace(const unsigned char *component_id, struct event *event)
{
	enum ctrace_status status;
	uint32_t component;
	uint32_t threshold;

	status = event_identify(event, component_id, &component);
	if (status != CTRACE_OK)
		return status;
	if (event->level >= CTRACE_LEVEL_COUNT) {
		if (!event_is_forced(event))
			return CTRACE_INVALID_TRACE_LEVEL;
		event->level = CTRACE_FATAL;
	}
	status = ct_trace_hear_bell(component);
	if (status != CTRACE_OK)
		return status;
	/* Pairs with the release stores in ct_level_publish(): the channel that is loaded after
	 * this is at least as new. */
	threshold = __atomic_load_n(
		&ct_registry_entry(ct_process.registry, component)->level_word.level,
		__ATOMIC_ACQUIRE);
	if (event->level < threshold) {
		if (threshold == CTRACE_LEVEL_NONE)
			return CTRACE_NOT_TRACE_ENABLED;
		if (!event_is_forced(event))
			return CTRACE_NOT_TRACING_LEVEL;
	}
	return event_record(component, event);
}

static cobrtncode_t event_trace_keeping_errno(const unsigned char *component_id, struct event event)
{
	int saved_errno = errno;
	enum ctrace_status status = event_trace(component_id, &event);

	errno = saved_errno;
	return (cobrtncode_t)status;
}

/* ---- the short way ---- */

#define NOT_SHORT ((enum ctrace_status)0xFFFF) /* no status: the long path must answer */

/* The component of a name seen before; NULL when it is unknown.  Reads nothing behind the
 * terminator. */
INLINE const struct ctrace_tracer *find_name(cobuns32_t flags, const unsigned char *name)
{
	const struct ctrace_tracer *tracer =
		__atomic_load_n(name_slot(flags, name), __ATOMIC_ACQUIRE);
	const unsigned char *own;

	if (tracer == NULL || ct_cbl_is_null(name))
		return NULL;
	own = (const unsigned char *)__atomic_load_n(&tracer->name, __ATOMIC_RELAXED);
	for (; *own != 0; own++, name++)
		if (*name != *own)
			return NULL;
	return *name == 0 || (*name == ' ' && (flags & CTF_FLAG_COMP_NAME_NULL_TERM) == 0) ? tracer
											   : NULL;
}

/* Finds the component's entry if the program knows the component. */
INLINE bool find_entry(cobuns32_t flags, const unsigned char *component_id,
		       struct ct_component_entry **out_entry, uint32_t *out_component)
{
	struct ct_component_entry *entry;

	if (flags & CTF_FLAG_COMPID_STRING) {
		const struct ctrace_tracer *tracer = find_name(flags, component_id);

		if (tracer == NULL)
			return false;
		*out_component = tracer->component;
		*out_entry = entry = &ct_process.session.components[tracer->component];
		return (__atomic_load_n(&entry->flags, __ATOMIC_RELAXED) & CT_COMPONENT_KNOWN) != 0;
	}
	if (ct_cbl_is_null(component_id) || *component_id != CT_HANDLE_MARK)
		return false;
	*out_component = ct_handle_index(ct_cbl_load_u32(component_id));
	if (ctrace_is_at_most_(&ct_process.session.component_count, *out_component))
		return false;
	*out_entry = entry = &ct_process.session.components[*out_component];
	return (__atomic_load_n(&entry->flags, __ATOMIC_RELAXED) & CT_COMPONENT_REGISTERED) != 0;
}

/* The status of an event that its component's threshold excludes. */
INLINE enum ctrace_status refuse(cobuns32_t flags, uint32_t level, uint32_t threshold)
{
	/* A child that cannot trace knows no handles. */
	if (!ct_process_has_session() || ct_process_hears_bell() || level >= CTRACE_LEVEL_COUNT)
		return NOT_SHORT;
	if (threshold == CTRACE_LEVEL_NONE)
		return CTRACE_NOT_TRACE_ENABLED;
	return (flags & CTF_FLAG_FORCE_OUTPUT) != 0 ? NOT_SHORT : CTRACE_NOT_TRACING_LEVEL;
}

/* Writes an item into the ring.  Each word of the arrays is read once, so a change by another
 * thread has no effect.  Returns the position of the next item; NULL: the item does not fit its
 * class or the ring. */
INLINE unsigned char *put_item(struct ctrace_thread_buffer *thread_buffer, unsigned char *at,
			       uint32_t type, uint32_t size, const unsigned char *data,
			       const uint32_t *descriptor)
{
	if (__builtin_expect(data == NULL, 0))
		return NULL;
	if (type <= CTRACE_TYPE_TEXT || type == CTRACE_TYPE_UTF8) {
		if (__builtin_expect(*descriptor != (type | CT_SIZE_COUNTED_16 << 8), 0))
			return NULL;
		if (__builtin_expect(size > UINT16_MAX, 0))
			return NULL;
		if (__builtin_expect(ctrace_is_before_(&thread_buffer->end, at + 2 + size), 0))
			return NULL;
		ctrace_put_u16_(at, (uint16_t)size);
		return ct_event_put_bytes(at + 2, data, size);
	}
	if (type == CTRACE_TYPE_ADDRESS)
		size = sizeof(data);
	if (*descriptor != (type | size << 8) || size - 1 >= 8 || type >= CTRACE_TYPE_COUNT ||
	    ctrace_is_before_(&thread_buffer->end, at + size))
		return NULL;
	if (type == CTRACE_TYPE_ADDRESS) {
		ctrace_put_u64_(at, (uintptr_t)data);
		return at + sizeof(data);
	}
	if (CTRACE_IS_BIG_) {
		ctrace_put_data_(at, type, data, size);
		return at + size;
	}
	return ct_event_put_bytes(at, data, size);
}

typedef cobrtncode_t trace_function(cobuns32_t flags, const cobuns8_t *component_id,
				    const void *trace_event);
typedef cobrtncode_t put_function(cobuns32_t flags, const cobuns8_t *component_id,
				  const void *trace_event,
				  struct ctrace_thread_buffer *thread_buffer, unsigned char *at,
				  const struct ct_class_entry *class);

/* One of the two structures.  Both have the event id and the level at the same offsets. */
struct layout {
	size_t len_at, type_at, data_at;
	trace_function *trace;     /* the long path */
	put_function *put_several; /* the short path for events of several items */
};
#define ID_AT offsetof(struct packed_event, event_id)
#define LEVEL_AT offsetof(struct packed_event, level)
#define COUNT_AT offsetof(struct packed_event, data_count)
_Static_assert(offsetof(TRACE_EVENT, event_id) == ID_AT &&
		       offsetof(TRACE_EVENT, level) == LEVEL_AT &&
		       offsetof(TRACE_EVENT, data_count) == COUNT_AT && LEVEL_AT == ID_AT + 4,
	       "the two begin alike");
_Static_assert(offsetof(struct ct_class_entry, level) ==
			       offsetof(struct ct_class_entry, event_id) + 4 &&
		       sizeof(struct ct_class_entry) == offsetof(struct ct_class_entry, level) + 4,
	       "a level is followed by zeros");

INLINE const unsigned char *load_pointer(const unsigned char *at)
{
	const unsigned char *pointer;

	memcpy(&pointer, at, sizeof(pointer));
	return pointer;
}

INLINE uint64_t load_u64(const void *at)
{
	uint64_t value;

	memcpy(&value, at, 8);
	return value;
}

/* True when it is the class of such events. */
INLINE bool class_is(const struct ct_class_entry *class, uint32_t component,
		     const unsigned char *event)
{
	if (__builtin_expect(load_u64(&class->event_id) != load_u64(event + ID_AT), 0))
		return false;
	if (__builtin_expect(class->component != component, 0))
		return false;
	return class->item_count == ct_cbl_load_u32(event + COUNT_AT);
}

/* Commits the event and returns the status of CBL_CTF_TRACE. */
INLINE cobrtncode_t finish(struct ctrace_thread_buffer *thread_buffer, unsigned char *at,
			   const struct ct_class_entry *class)
{
	uint32_t failing;

	ctrace_commit_(thread_buffer, at);
	if (__builtin_expect(ctrace_is_at_most_(&ct_process.failing, 0), 1))
		return CTF_RET_SUCCESS;
	failing = __atomic_load_n(&ct_process.failing, __ATOMIC_RELAXED);
	if ((failing & __atomic_load_n(&ct_process.session.components[class->component].dests,
				       __ATOMIC_RELAXED)) != 0)
		return CTF_RET_OUTPUT_ERROR;
	return CTF_RET_SUCCESS;
}

/* Writes the only item. */
INLINE unsigned char *put_one(struct ctrace_thread_buffer *thread_buffer, unsigned char *at,
			      const unsigned char *event, const struct layout *layout,
			      const struct ct_class_entry *class)
{
	const unsigned char *len = load_pointer(event + layout->len_at), *type, *data;

	if (__builtin_expect(len == NULL, 0))
		return NULL;
	type = load_pointer(event + layout->type_at);
	if (__builtin_expect(type == NULL, 0))
		return NULL;
	data = load_pointer(event + layout->data_at);
	if (__builtin_expect(data == NULL, 0))
		return NULL;
	return put_item(thread_buffer, at, ct_cbl_load_u32(type), ct_cbl_load_u32(len),
			load_pointer(data), &class->items[0]);
}

/* Writes all items of an event that has several. */
INLINE unsigned char *put_several(struct ctrace_thread_buffer *thread_buffer, unsigned char *at,
				  cobuns32_t flags, const unsigned char *event,
				  const struct layout *layout, const struct ct_class_entry *class)
{
	const unsigned char *len = load_pointer(event + layout->len_at),
			    *type = load_pointer(event + layout->type_at),
			    *data = load_pointer(event + layout->data_at);
	size_t stride = flags & CTF_FLAG_ARRAY_DATA ? 0 : 4;

	if (len == NULL || type == NULL || data == NULL)
		return NULL;
	for (uint32_t i = 0; i < class->item_count && at != NULL; i++) {
		at = put_item(thread_buffer, at, ct_cbl_load_u32(type), ct_cbl_load_u32(len),
			      load_pointer(data), &class->items[i]);
		len += stride;
		type += stride;
		data += sizeof(void *);
	}
	return at;
}

INLINE cobrtncode_t finish_or_trace(cobuns32_t flags, const unsigned char *component_id,
				    const unsigned char *event, const struct layout *layout,
				    struct ctrace_thread_buffer *thread_buffer, unsigned char *at,
				    const struct ct_class_entry *class)
{
	if (__builtin_expect(at != NULL, 1))
		return finish(thread_buffer, at, class);
	ctrace_end_call_();
	return layout->trace(flags, component_id, event);
}

/* Each path ends with a tail call, so the usual event needs no stack. */
INLINE cobrtncode_t trace_shortly(cobuns32_t flags, const unsigned char *component_id,
				  const unsigned char *event, const struct layout *layout)
{
	const struct ct_class_entry *class;
	struct ct_component_entry *entry;
	struct ctrace_thread_buffer *thread_buffer = NULL;
	uint32_t component, level, number;
	unsigned char *at;

	if (__builtin_expect(ct_notify_waits() || ct_cbl_is_null(event), 0))
		return layout->trace(flags, component_id, event);
	if (__builtin_expect(!find_entry(flags, component_id, &entry, &component), 0))
		return layout->trace(flags, component_id, event);
	level = ct_cbl_load_u32(event + LEVEL_AT);
	/* The channel that is loaded after this is at least as new: pairs with the release
	 * stores in ct_level_publish(). */
	if (__builtin_expect(!ctrace_is_at_most_(&entry->level_word.level, level), 0)) {
		enum ctrace_status status = refuse(
			flags, level, __atomic_load_n(&entry->level_word.level, __ATOMIC_RELAXED));

		return status != NOT_SHORT ? (cobrtncode_t)status
					   : layout->trace(flags, component_id, event);
	}
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	at = ctrace_reserve_(&entry->level_word, &thread_buffer, CT_EVENT_HEAD);
	if (__builtin_expect(at == NULL, 0))
		return layout->trace(flags, component_id, event);
	number = *ct_thread_class_slot(ct_thread_buffer_thread(thread_buffer), component,
				       ct_cbl_load_u32(event + ID_AT),
				       ct_cbl_load_u32(event + COUNT_AT));
	class = (const struct ct_class_entry *)(const void *)((const unsigned char *)
								      ct_process.session.classes +
							      number * CT_CLASS_UNIT);
	if (__builtin_expect(number == 0 || !class_is(class, component, event), 0))
		return finish_or_trace(flags, component_id, event, layout, thread_buffer, NULL,
				       class);
	at = ctrace_put_head_(thread_buffer, at, class->number);
	if (class->item_count == 1)
		return finish_or_trace(flags, component_id, event, layout, thread_buffer,
				       put_one(thread_buffer, at, event, layout, class), class);
	return class->item_count == 0
		       ? finish(thread_buffer, at, class)
		       : layout->put_several(flags, component_id, event, thread_buffer, at, class);
}

/* ---- the two structures ---- */

static __attribute__((noinline)) cobrtncode_t
trace_group(cobuns32_t flags, const cobuns8_t *component_id, const void *trace_event)
{
	const struct packed_event *group = trace_event;

	ct_notify_deliver();
	if (ct_cbl_is_null(trace_event))
		return CTF_RET_FAILURE;
	return event_trace_keeping_errno(component_id,
					 (struct event){ group->event_id, group->level,
							 group->data_count, flags, group->event_len,
							 group->event_type, group->event_data });
}

static put_function trace_several_of_group;
static const struct layout layout_of_group = { offsetof(struct packed_event, event_len),
					       offsetof(struct packed_event, event_type),
					       offsetof(struct packed_event, event_data),
					       trace_group, trace_several_of_group };

static __attribute__((noinline)) cobrtncode_t
trace_several_of_group(cobuns32_t flags, const cobuns8_t *component_id, const void *trace_event,
		       struct ctrace_thread_buffer *thread_buffer, unsigned char *at,
		       const struct ct_class_entry *class)
{
	at = put_several(thread_buffer, at, flags, trace_event, &layout_of_group, class);
	return finish_or_trace(flags, component_id, trace_event, &layout_of_group, thread_buffer,
			       at, class);
}

cobrtncode_t CBL_CTF_TRACE(cobuns32_t flags, const cobuns8_t *component_id, const void *trace_event)
{
	return trace_shortly(flags, component_id, trace_event, &layout_of_group);
}

static __attribute__((noinline)) cobrtncode_t
trace_structure(cobuns32_t flags, const cobuns8_t *component_id, const void *trace_event)
{
	const TRACE_EVENT *event = trace_event;

	ct_notify_deliver_changes();
	if (ct_cbl_is_null(trace_event))
		return CTF_RET_FAILURE;
	return event_trace_keeping_errno(
		component_id, (struct event){ event->event_id, event->level, event->data_count,
					      flags, (const unsigned char *)event->event_len,
					      (const unsigned char *)event->event_type,
					      (const unsigned char *)event->event_data });
}

static put_function trace_several_of_structure;
static const struct layout layout_of_structure = { offsetof(TRACE_EVENT, event_len),
						   offsetof(TRACE_EVENT, event_type),
						   offsetof(TRACE_EVENT, event_data),
						   trace_structure, trace_several_of_structure };

static __attribute__((noinline)) cobrtncode_t
trace_several_of_structure(cobuns32_t flags, const cobuns8_t *component_id, const void *trace_event,
			   struct ctrace_thread_buffer *thread_buffer, unsigned char *at,
			   const struct ct_class_entry *class)
{
	at = put_several(thread_buffer, at, flags, trace_event, &layout_of_structure, class);
	return finish_or_trace(flags, component_id, trace_event, &layout_of_structure,
			       thread_buffer, at, class);
}

cobrtncode_t cobctf_trace(cobuns32_t flags, const cobuns8_t *component_id, TRACE_EVENT *trace_event)
{
	return trace_shortly(flags, component_id, (const unsigned char *)trace_event,
			     &layout_of_structure);
}
