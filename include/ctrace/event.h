/*
 * ctrace/event.h - an event as a reader or an emitter sees it: decoded, not yet printed.
 *
 * Everything here is borrowed: it is valid until the function that received the event returns.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CTRACE_EVENT_H
#define CTRACE_EVENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Levels: an event is recorded when its level is at or above its component's threshold. */
enum { CTRACE_DEBUG = 0, CTRACE_INFO = 1, CTRACE_WARN = 2, CTRACE_ERROR = 3, CTRACE_FATAL = 4 };
#define CTRACE_LEVEL_NONE 0xFFFFFFFFu /* as a threshold: not enabled for tracing */
#define CTRACE_LEVEL_COUNT 5u

/* Item types, numbered as cblte-trcevt-event-type is. */
enum ctrace_item_type {
	CTRACE_TYPE_BINARY = 0,
	CTRACE_TYPE_TEXT = 1,    /* local encoding */
	CTRACE_TYPE_ADDRESS = 2, /* the value itself, 8 bytes */
	CTRACE_TYPE_COMP5 = 3,   /* unsigned, native byte order */
	CTRACE_TYPE_COMPX = 4,   /* unsigned, most significant byte first */
	CTRACE_TYPE_UTF8 = 5,
	CTRACE_TYPE_COMP5S = 6, /* signed, native byte order */
	CTRACE_TYPE_COMPXS = 7  /* signed, most significant byte first */
};
#define CTRACE_TYPE_COUNT 8u

#define CTRACE_MAX_ITEMS 4096u      /* items an event */
#define CTRACE_MAX_ITEM_SIZE 65536u /* bytes an item */
/* Bytes of an event: 8, the items, and up to 5 more for each.  An event also takes at most half
 * of its ring: 512 KiB with the default ring of 1 MiB, more with a larger ctrace.buffer. */
#define CTRACE_MAX_EVENT (24u + CTRACE_MAX_ITEMS * (5u + CTRACE_MAX_ITEM_SIZE))
#define CTRACE_MAX_COMPONENT 255u /* bytes a component name */
#define CTRACE_MAX_EMITTER 31u    /* bytes an emitter name */
#define CTRACE_MAX_PROPERTY 255u  /* bytes a property name */

/* One data item.  value holds integers of 1 to 8 bytes (sign-extended) and addresses.  For every
 * other item value is 0, and only the bytes count. */
struct ctrace_event_item {
	uint32_t type; /* enum ctrace_item_type */
	uint32_t size; /* bytes at data */
	/* As the program gave them; but COMP5, COMP5S and addresses with a value are little-endian
	 * on every machine. */
	const void *data;
	uint64_t value;
};

/* Settings of the wall clock up to an event.  Slewing, as NTP does it, does not count. */
struct ctrace_clock {
	uint32_t steps; /* number of settings since the process attached */
	uint32_t reserved;
	int64_t total_ns;     /* sum of all settings; negative: back */
	uint64_t set_at_ns;   /* the new time at the last setting */
	uint64_t set_back_ns; /* time_ns + set_back_ns never goes back within a stream */
};

struct ctrace_event {
	uint64_t time_ns;      /* since 1970-01-01 00:00 UTC */
	const char *component; /* as first registered; terminated, and counted below */
	uint32_t component_size;
	uint32_t component_id; /* stable within one process */
	uint32_t event_id;
	uint32_t level; /* 0 to 4 */
	uint32_t pid;
	uint32_t tid;
	uint32_t stream; /* which of the batch's streams (rings) it came from */
	uint32_t item_count;
	const struct ctrace_event_item *items;
	const struct ctrace_clock *clock; /* for emitters; NULL: not known */
};

/* Why a traced event is not in the output.  Counted per ring and per process. */
enum ctrace_loss {
	CTRACE_LOSS_DISCARDED = 0,   /* ring full: the newest was dropped */
	CTRACE_LOSS_OVERWRITTEN = 1, /* ring full: the oldest was overwritten */
	/* ring full and the output made no progress within ctrace.block.timeout */
	CTRACE_LOSS_STALLED = 2,
	CTRACE_LOSS_TOO_LARGE = 3, /* over a limit above, or over half of its ring */
	/* traced in a signal handler: one that interrupted ctrace twice, came before the process
	 * had traced outside of handlers, or would have had to wait for another thread */
	CTRACE_LOSS_NESTED = 4,
	CTRACE_LOSS_NO_RING = 5, /* no ring could be made (memory, disk, limits) */
	CTRACE_LOSS_CLOSED = 6,  /* traced after the library had shut down */
	/* its destination is gone, made no progress, or accepted nothing until the process ended */
	CTRACE_LOSS_UNDELIVERABLE = 7,
	CTRACE_LOSS_DAMAGED = 8, /* found damaged in the ring or the file */
	CTRACE_LOSS_COUNT
};

/* Returns the reason as a word: "discarded", "overwritten" ...  Static text. */
__attribute__((visibility("default"))) const char *ctrace_loss_name(enum ctrace_loss reason);

#ifdef __cplusplus
}
#endif
#endif
