/*
 * cobctf.c - trace an event: CBL_CTF_TRACE for COBOL's packed group, cobctf_trace for a C structure.
 *
 * Runs on the traced thread, also in a signal handler; never allocates or locks once the thread has a ring and the component
 * its name, and keeps errno.  The arrays and items are the caller's and are read during the call only; nothing of what they say is
 * believed beyond the space that was reserved for it.
 *
 * The usual call - a component that writes to the thread's common ring - is put through the inline half of <ctrace/ctrace.h>;
 * whatever that refuses goes to record/trace.c.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ctf/ctf.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define FEW_ITEMS 16u

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
_Static_assert(sizeof(struct packed_event) == 44 && offsetof(struct packed_event, event_len) == 20 &&
		       offsetof(struct packed_event, event_data) == 36,
	       "cblt-trc-event has 44 bytes, its pointers at 20, 28 and 36");

/* The caller's arrays.  A stride of 0 repeats the first element: a uniform array, or one that is missing. */
struct item_arrays {
	const unsigned char *len;
	const unsigned char *type;
	const unsigned char *data;
	size_t meta_stride[2]; /* of len, type */
	size_t data_stride;
};

struct event {
	uint32_t id;
	uint32_t level;
	uint32_t count;
	bool forced;
	struct item_arrays items;
};

static const unsigned char nothing[sizeof(void *)];

INLINE void event_set_items(struct event *event, cobuns32_t flags, const void *len, const void *type, const void *data)
{
	size_t stride = flags & CTF_FLAG_ARRAY_DATA ? 0 : 4;

	event->items.len = len != NULL ? len : nothing;
	event->items.type = type != NULL ? type : nothing;
	event->items.data = data != NULL ? data : nothing;
	event->items.meta_stride[0] = len != NULL ? stride : 0;
	event->items.meta_stride[1] = type != NULL ? stride : 0;
	event->items.data_stride = data != NULL ? sizeof(void *) : 0;
}

/* Is it an integer that has a class of its size?  Whatever else has its size in front of it. */
INLINE bool is_integer(uint32_t type, uint32_t size)
{
	return type >= CTRACE_TYPE_COMP5 && type != CTRACE_TYPE_UTF8 && size - 1 < 8;
}

INLINE struct ctrace_item event_item(const struct event *event, size_t index)
{
	uint32_t size = ct_cbl_load_u32(event->items.len + index * event->items.meta_stride[0]);
	uint32_t type = ct_cbl_load_u32(event->items.type + index * event->items.meta_stride[1]);
	const void *data;

	memcpy(&data, event->items.data + index * event->items.data_stride, sizeof(data));
	if (type == CTRACE_TYPE_ADDRESS)
		return CTRACE_ADDR(data);
	if (type >= CTRACE_TYPE_COUNT)
		type = CTRACE_TYPE_BINARY;
	return ctrace_item_bytes_(type, data, size, data == NULL || !is_integer(type, size), true);
}

/* ---- more items than a class may have ---- */

#define ANY_HEAD 19u /* of the event, and of what it says instead of a class */
#define ANY_ITEM 5u  /* type and size of each item */

/* Bytes of the event; 0 when an item or the number of them is beyond the limits. */
static size_t any_size(const struct event *event)
{
	size_t size = ANY_HEAD;

	if (event->count > CTRACE_MAX_ITEMS)
		return 0;
	for (size_t i = 0; i < event->count; i++) {
		struct ctrace_item item = event_item(event, i);

		if (item.size > CTRACE_MAX_ITEM_SIZE)
			return 0;
		size += ANY_ITEM + item.size;
	}
	return size;
}

/* The arrays are read a second time: should another thread have changed them, sizes are cut to what was reserved, and what is then
 * missing is made up, so that the event stays whole. */
static void put_any_items(const struct event *event, unsigned char *at, unsigned char *end)
{
	for (size_t i = 0; i < event->count; i++) {
		struct ctrace_item item = event_item(event, i);
		size_t room = (size_t)(end - at) - ANY_ITEM * (event->count - i);
		uint32_t size = i + 1 == event->count || item.size > room ? (uint32_t)room : item.size;
		uint32_t given = item.size < size ? item.size : size;

		*at = (unsigned char)item.type;
		memcpy(at + 1, &size, 4);
		at += ANY_ITEM;
		if (item.is_value)
			memcpy(at, &item.value, given);
		else if (given != 0)
			memcpy(at, item.data, given);
		memset(at + given, 0, size - given);
		at += size;
	}
}

/* A forced event goes where the least event of the component's threshold goes, though it keeps its own level. */
static uint32_t routing_level(uint32_t component, const struct event *event)
{
	uint32_t threshold = event->forced ? ct_route_output_level(ct_process.registry, component) : CTRACE_LEVEL_NONE;

	return threshold != CTRACE_LEVEL_NONE && threshold > event->level ? threshold : event->level;
}

/* The way round: no ring yet, no room, a ring of the component's own, an interrupted trace call, too large.  items: NULL when there are
 * more than a class has. */
static __attribute__((noinline)) enum ctrace_status record_slowly(const struct ct_event_head *head, const struct event *event,
								  const struct ctrace_item *items)
{
	uint32_t number = items != NULL ? ct_trace_class(head, items, event->count) : CT_CLASS_ANY;
	struct ct_reservation reservation;
	int saved_errno = errno;
	size_t size = items != NULL ? ct_event_size(number, items, event->count) : any_size(event);
	enum ctrace_status status = ct_trace_reserve(head->component, routing_level(head->component, event), size, &reservation);

	if (status == CTRACE_OK) {
		uint64_t ticks = ct_clock_ticks();

		ct_event_encode(reservation.at, number, ticks, head, items, items != NULL ? event->count : 0);
		if (items == NULL) {
			uint16_t count = (uint16_t)event->count;

			memcpy(reservation.at + ANY_HEAD - 2, &count, 2);
			put_any_items(event, reservation.at + ANY_HEAD, reservation.at + size);
		}
		status = ct_trace_commit(&reservation, head->component, event->level);
	}
	errno = saved_errno;
	return status;
}

/* The items of an event, read once: should another thread change the arrays meanwhile, that changes nothing. */
struct taken {
	const void *data[FEW_ITEMS]; /* of an address, itself */
	uint32_t size[FEW_ITEMS];
	uint32_t descriptor[FEW_ITEMS];
};

/* Their bytes in the ring: 0 when one is too large. */
INLINE size_t take_items(const struct event *event, struct taken *taken)
{
	size_t size = CT_EVENT_HEAD;
	uint32_t largest = 0;

	for (size_t i = 0; i < event->count; i++) {
		struct ctrace_item item = event_item(event, i);

		taken->data[i] = item.is_value ? (const void *)(uintptr_t)item.value : item.data;
		taken->size[i] = item.size;
		taken->descriptor[i] = item.type | (item.is_counted ? CT_SIZE_COUNTED_16 : item.size) << 8;
		size += item.size + (item.is_counted ? 2u : 0u);
		largest |= item.size;
	}
	return largest <= UINT16_MAX ? size : 0;
}

INLINE unsigned char *put_items(unsigned char *at, const struct taken *taken, uint32_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (taken->descriptor[i] >> 8 == CT_SIZE_COUNTED_16) {
			memcpy(at, &taken->size[i], 2);
			at += 2;
		}
		if (taken->descriptor[i] == (CTRACE_TYPE_ADDRESS | 8u << 8))
			memcpy(at, &taken->data[i], 8);
		else if (taken->size[i] != 0)
			memcpy(at, taken->data[i], taken->size[i]);
		at += taken->size[i];
	}
	return at;
}

static __attribute__((noinline)) enum ctrace_status record_many(uint32_t component, const struct event *event)
{
	const struct ct_event_head head = { .component = component, .event_id = event->id, .level = event->level };
	struct ctrace_item items[CT_CLASS_MAX_ITEMS];

	if (event->count > CT_CLASS_MAX_ITEMS)
		return record_slowly(&head, event, NULL);
	for (size_t i = 0; i < event->count; i++)
		items[i] = event_item(event, i);
	return record_slowly(&head, event, items);
}

INLINE enum ctrace_status record(struct ct_component_entry *entry, uint32_t component, const struct event *event)
{
	const struct ct_event_head head = { .component = component, .event_id = event->id, .level = event->level };
	uint32_t number = CT_CLASS_ANY, failing;
	struct ctrace_lane *lane = NULL;
	unsigned char *at = NULL;
	struct taken taken;
	size_t size;

	/* A thread with lanes is one of a process that is attached, and has not forked since. */
	if (__builtin_expect(ctrace_lanes_self == NULL || event->count > FEW_ITEMS, 0))
		return record_many(component, event);
	size = take_items(event, &taken);
	if (__builtin_expect(size != 0, 1))
		number = ct_class_find(&ct_process.classes, &head, taken.descriptor, event->count);
	if (__builtin_expect(number != CT_CLASS_ANY, 1))
		at = ctrace_reserve_(&entry->gate, &lane, size);
	if (__builtin_expect(at == NULL, 0))
		return record_many(component, event);
	ctrace_commit_(lane, put_items(ctrace_put_head_(at, number), &taken, event->count));
	failing = __atomic_load_n(&ct_process.failing, __ATOMIC_RELAXED);
	if (__builtin_expect(failing != 0, 0) && (failing & __atomic_load_n(&entry->dests, __ATOMIC_RELAXED)))
		return CTRACE_OUTPUT_ERROR;
	return CTRACE_OK;
}

/* The component of a name, registered when it is new: then, and only then, this locks. */
static __attribute__((noinline)) enum ctrace_status register_component(const void *name, size_t size, uint32_t *out_component)
{
	int saved_errno = errno;
	struct ct_process *process = ct_process_attach();
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

	if (process != NULL)
		status = ct_registry_register(process->registry, name, size, out_component);
	if (status == CTRACE_NOT_ENOUGH_MEMORY)
		ct_trace_count_lost(process == NULL ? CTRACE_LOSS_CLOSED : CTRACE_LOSS_NO_RING, CT_COMPONENT_NONE);
	errno = saved_errno;
	return status;
}

static enum ctrace_status find_component(cobuns32_t flags, const unsigned char *name, uint32_t *out_component)
{
	size_t size = ct_cbl_name_size(name, (flags & CTF_FLAG_COMP_NAME_NULL_TERM) != 0, CTRACE_MAX_COMPONENT);
	uint32_t state = __atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE);

	if (size == 0 || size > CTRACE_MAX_COMPONENT)
		return CTRACE_INVALID_COMPONENT_NAME;
	if (state != CT_PROCESS_NEW && state != CT_PROCESS_FAILED && ct_process.registry != NULL &&
	    ct_registry_find(ct_process.registry, (const char *)name, size, out_component) == CTRACE_OK)
		return CTRACE_OK;
	if (ct_component_check_name((const char *)name, size) != CTRACE_OK)
		return CTRACE_INVALID_COMPONENT_NAME;
	return register_component(name, size, out_component);
}

INLINE enum ctrace_status identify(cobuns32_t flags, const unsigned char *component_id, uint32_t *out_component)
{
	if (flags & CTF_FLAG_COMPID_STRING)
		return find_component(flags, component_id, out_component);
	if (ct_cbl_is_null(component_id) || *component_id != CT_HANDLE_MARK)
		return CTRACE_INVALID_TRACE_HANDLE;
	return ct_handle_component(ct_cbl_load_u32(component_id), out_component);
}

/* In the order of the checks that <mfctf.h> promises. */
INLINE enum ctrace_status trace(cobuns32_t flags, const unsigned char *component_id, struct event *event)
{
	struct ct_component_entry *entry;
	enum ctrace_status status;
	uint32_t component;
	uint32_t threshold;

	event->forced = (flags & CTF_FLAG_FORCE_OUTPUT) != 0;
	status = identify(flags, component_id, &component);
	if (status != CTRACE_OK)
		return status;
	if (__builtin_expect(event->level >= CTRACE_LEVEL_COUNT, 0)) {
		if (!event->forced)
			return CTRACE_INVALID_TRACE_LEVEL;
		event->level = CTRACE_FATAL;
	}
	entry = ct_registry_entry(ct_process.registry, component);
	/* Pairs with the release stores in ct_level_publish(): the route that is loaded later is at
	 * least as new. */
	threshold = __atomic_load_n(&entry->gate.level, __ATOMIC_ACQUIRE);
	if (event->level < threshold) {
		if (threshold == CTRACE_LEVEL_NONE)
			return CTRACE_NOT_TRACE_ENABLED;
		if (!event->forced)
			return CTRACE_NOT_TRACING_LEVEL;
	}
	return record(entry, component, event);
}

cobrtncode_t CBL_CTF_TRACE(cobuns32_t flags, const cobuns8_t *component_id, const void *trace_event)
{
	struct packed_event packed;
	struct event event;

	ct_notify_deliver();
	if (ct_cbl_is_null(trace_event))
		return CTF_RET_FAILURE;
	memcpy(&packed, trace_event, sizeof(packed));
	event.id = packed.event_id;
	event.level = packed.level;
	event.count = packed.data_count;
	event_set_items(&event, flags, packed.event_len, packed.event_type, packed.event_data);
	return (cobrtncode_t)trace(flags, component_id, &event);
}

cobrtncode_t cobctf_trace(cobuns32_t flags, const cobuns8_t *component_id, TRACE_EVENT *trace_event)
{
	struct event event;

	ct_notify_deliver_changes();
	if (ct_cbl_is_null(trace_event))
		return CTF_RET_FAILURE;
	event.id = trace_event->event_id;
	event.level = trace_event->level;
	event.count = trace_event->data_count;
	event_set_items(&event, flags, trace_event->event_len, trace_event->event_type, trace_event->event_data);
	return (cobrtncode_t)trace(flags, component_id, &event);
}
