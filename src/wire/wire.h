/*
 * wire/wire.h - the bytes that writer and reader agree on: classes of events, events, and packets of a Common Trace Format
 * stream.
 *
 * An event, little-endian and packed, as ctrace/ctrace.h writes it inline:
 *
 *      offset size
 *           0    8  number of its class | ticks << 16: the low 48 bits
 *           8       the items' bytes, one behind the other
 *
 * Its class says what component it is of, its id and level, and of each item the type and the size.  An item whose size is not
 * the class's has it in front: 16 bits, or 32.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_WIRE_H
#define CT_WIRE_H

#include "base/base.h"
#include <ctrace/ctrace.h>

/*
 * ---- event_class.c: the table of classes, in the session file.
 *
 * Entries are appended, complete before their number is known to anybody, and never changed.  The number of a class is where its
 * entry is, in units of 16 bytes from the start of the table.  Whoever has the table can read every event: a recoverer, an external
 * writer, the operator's tool.
 */
#define CT_CLASS_UNIT 16u
#define CT_CLASS_TABLE ((size_t)65536 * CT_CLASS_UNIT) /* the most that numbers of 16 bits can reach */
#define CT_CLASS_FIRST 16u                             /* the first number of an entry; those before are reserved: */
#define CT_CLASS_ANY 1u                                /* the event says itself what the others have in their class */
#define CT_CLASS_MARK 2u                               /* no event: all 64 bits of the time, and the thread of what follows */

/* What item sizes of a class mean: bytes, up to CTRACE_MAX_ITEM_SIZE, or these two. */
#define CT_SIZE_COUNTED_16 CTRACE_COUNTED_ /* the item begins with its size, in 16 bits */
#define CT_SIZE_COUNTED_32 0xFFFFFDu       /* in 32 */

struct ct_class_entry {
	uint16_t number; /* its own, stored last: an entry without it is not complete */
	uint16_t item_count;
	uint32_t component;
	uint32_t event_id;
	uint8_t level;
	uint8_t reserved[3];
	uint32_t items[]; /* type | size << 8 */
};
_Static_assert(sizeof(struct ct_class_entry) == CT_CLASS_UNIT, "an entry without items is one unit");

struct ct_class_table {
	uint32_t used;  /* bytes from here that are taken; atomic */
	uint32_t limit; /* bytes from here that have room on the disk; atomic */
	unsigned char reserved[CT_CLASS_FIRST * CT_CLASS_UNIT - 8];
};

/* A process's own table, and where it has found classes in it. */
#define CT_CLASS_SLOTS 16384u
struct ct_classes {
	struct ct_class_table *table;
	uint16_t slots[CT_CLASS_SLOTS]; /* numbers, by hash; 0: free */
};
void ct_class_table_start(struct ct_class_table *table, size_t limit);
#define CT_CLASS_MAX_ITEMS 256u
struct ct_event_head {
	uint32_t component;
	uint32_t event_id;
	uint32_t level;
};
/* What a class says of an item. */
static inline uint32_t ct_class_item(const struct ctrace_item *item)
{
	uint32_t size = !item->is_counted ? item->size : item->size <= UINT16_MAX ? CT_SIZE_COUNTED_16 : CT_SIZE_COUNTED_32;

	return (item->type & 0xFF) | size << 8;
}
/* The number of the class that has these items, made when there is none; CT_CLASS_ANY when there is no room for one, or they are too
 * many.  Any thread; async-signal-safe. */
uint32_t ct_class_find(struct ct_classes *classes, const struct ct_event_head *head, const uint32_t *items, uint32_t item_count);
/* Does it need more room than the table has blocks for?  Then who may do so gives it more. */
bool ct_class_table_is_short(const struct ct_class_table *table);

/* Somebody's table as a reader has it: mapped, or a copy.  Its bytes may be hostile, and may change. */
struct ct_class_view {
	const unsigned char *bytes;
	size_t size;
};

/* ---- event.c: an event, written and read. */
#define CT_EVENT_HEAD CTRACE_EVENT_HEAD_
#define CT_EVENT_MARK 20u /* bytes of a mark: head, ticks, thread */

/* Bytes that an event of that class takes; 0 when an item is too large.  async-signal-safe, as the next two */
size_t ct_event_size(uint32_t number, const struct ctrace_item *items, uint32_t item_count);
void ct_event_encode(unsigned char *at, uint32_t number, uint64_t ticks, const struct ct_event_head *head,
		     const struct ctrace_item *items, uint32_t item_count);
void ct_event_encode_mark(unsigned char *at, uint64_t ticks, uint32_t tid);

/* What an event has from those before it: where reading is in time, and in whose events. */
struct ct_event_state {
	uint64_t ticks;
	uint32_t tid;
	uint32_t reserved;
};
struct ct_event {
	size_t size;  /* bytes to the next */
	bool is_mark; /* no event */
	uint32_t number;
	struct ct_event_head head;
	uint32_t tid;
	uint64_t ticks;
	uint32_t item_count;
	const unsigned char *items; /* of its class; NULL: in the event itself */
	const unsigned char *data;
};
/* Reads the event at `at`, and moves *state on to it.  DAMAGED when it is none, or there is no such class; BUFFER_TOO_SMALL when it does
 * not end within `available` bytes, and so may be one that is longer.  Then *state stays.  Every word is read once. */
enum ctrace_status ct_event_decode(const struct ct_class_view *classes, const unsigned char *at, size_t available,
				   struct ct_event_state *state, struct ct_event *out) CT_MUST_USE;
/* The items; room for event->item_count in out. */
void ct_event_items(const struct ct_event *event, struct ctrace_event_item *out);
/* The value of an integer item (0 for other types and for sizes not 1 to 8). */
uint64_t ct_item_value(uint32_t type, const void *data, uint32_t size);

/* ---- schema.c: event classes.  A class is (component, event id, level, shape); it is printed into the metadata of a
 * Common Trace Format trace and read back from there.  Not thread-safe. */
#define CT_CLASS_LIMIT 4096u        /* named classes a trace; then the generic one */
#define CT_CLASS_ITEMS 256u         /* items a named class; longer events take the generic one */
#define CT_CLASS_ITEMS_TOTAL 65536u /* items of all named classes: bounds the metadata to some MB */
#define CT_CLASS_GENERIC 0u         /* id of the generic class */

/* A shape is one byte an item: the kind in the high nibble, the width in bytes (1-8) or the size of the length field (1, 2, 4)
 * in the low one. */
enum ct_kind {
	CT_KIND_BINARY = 0x00, /* | length field size */
	CT_KIND_TEXT = 0x10,
	CT_KIND_ADDRESS = 0x20, /* | 8 */
	CT_KIND_COMP5 = 0x30,   /* | width */
	CT_KIND_COMPX = 0x40,
	CT_KIND_UTF8 = 0x50,
	CT_KIND_COMP5S = 0x60,
	CT_KIND_COMPXS = 0x70
};
uint8_t ct_shape_of(uint32_t type, uint32_t size); /* integers of 0 or over 8 bytes count as binary */

/* What a catalogue calls an event and its items.  Texts are whatever a catalogue has, terminated; NULL or "": none. */
struct ct_class_names {
	const char *mnemonic;
	const char *const *items; /* by index; items past item_count have none */
	uint32_t item_count;
};

struct ct_class {
	uint32_t id;
	uint32_t event_id;
	uint32_t level;
	uint32_t item_count;
	const char *component; /* terminated; escaped only in the metadata text */
	const uint8_t *shape;
	const struct ct_class_names *names; /* NULL: none, and the metadata have numbers */
};
struct ct_schema; /* a set of classes */
enum ctrace_status ct_schema_create(struct ct_schema **out_schema) CT_MUST_USE;
void ct_schema_destroy(struct ct_schema *schema);
/* Is asked for the names of each class that ct_schema_class() makes, once; its answer is copied.  False: there are none.  NULL: nobody is. */
typedef bool ct_class_namer(const char *component, size_t size, uint32_t event_id, struct ct_class_names *out, void *user);
void ct_schema_set_namer(struct ct_schema *schema, ct_class_namer *namer, void *user);
/* The class of an event, made when it is new; the generic class past the limit or without memory.  *out_is_new says whether
 * its text has yet to be appended to the metadata. */
const struct ct_class *ct_schema_class(struct ct_schema *schema, const struct ctrace_event *event, bool *out_is_new);
const struct ct_class *ct_schema_find(const struct ct_schema *schema, uint32_t id); /* NULL when there is none */
uint32_t ct_schema_count(const struct ct_schema *schema); /* the generic one included: ids run from 0 to count - 1 */
/* A class as read from metadata.  DAMAGED when its id is not the next one, unless the same class is there already. */
enum ctrace_status ct_schema_add(struct ct_schema *schema, const struct ct_class *class) CT_MUST_USE;

/* The trace-wide part of the metadata. */
struct ct_trace_info {
	uint8_t uuid[16];
	char host[256];
	char program[256];
	char system[128];
	char jobname[16];
	char format[512]; /* what lines readers are to print; "", and not in the metadata: the reader's own */
	uint32_t pid;
	uint32_t asid;
	uint64_t start_ns; /* with pid: which process made the trace */
};
void ct_schema_print_trace(struct ct_buf *out, const struct ct_trace_info *info); /* preamble and the generic class */
void ct_schema_print_class(struct ct_buf *out, const struct ct_class *class);     /* one event block */
/* Reads a metadata text written by the two above: adds its classes, but for those that are there already.  DAMAGED with the byte offset of the first thing that is
 * not understood in *out_at; classes before it are kept. */
enum ctrace_status ct_schema_parse(struct ct_schema *schema, const char *text, size_t size, struct ct_trace_info *out_info,
				   size_t *out_at) CT_MUST_USE;
/* Reads only the trace-wide part; *out_at is where it ends, or the first thing that is not understood. */
enum ctrace_status ct_schema_parse_trace(const char *text, size_t size, struct ct_trace_info *out_info, size_t *out_at) CT_MUST_USE;

/* ---- packet.c: one packet of a stream file: header, context, events; and back. */
struct ct_packet_head {
	uint8_t uuid[16];
	uint32_t stream_instance;
	uint32_t pid;
	uint32_t tid;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t content_bits;
	uint64_t packet_bits;
	uint64_t sequence;
	uint64_t discarded; /* running total of the stream */
};
#define CT_PACKET_HEAD 76u            /* bytes of header and context */
#define CT_PACKET_CONTENT (64u << 10) /* a packet is ended before it would grow over this, unless it holds one event only */
/* What a reader accepts: more than the largest event takes, with its head and the lengths of its items. */
#define CT_PACKET_MAX (CTRACE_MAX_EVENT + (64u << 10))
void ct_packet_begin(struct ct_buf *out, const struct ct_packet_head *head);
/* The event's time as a packet can hold it: viewers count signed nanoseconds, and refuse a stream in which time goes back. */
uint64_t ct_packet_time(const struct ctrace_event *event, uint64_t previous_ns);
/* The most bytes that the event can take in a packet. */
size_t ct_packet_event_room(const struct ctrace_event *event);
/* Appends one event; events of a packet are in time order and of one thread. */
void ct_packet_add(struct ct_buf *out, const struct ct_class *class, const struct ctrace_event *event, uint64_t *previous_ns);
/* Completes the packet that begins at `start` in out: writes the sizes, the end time and the counters. */
void ct_packet_end(struct ct_buf *out, size_t start, const struct ct_packet_head *head);
/* Reads a packet head at `bytes`.  DAMAGED when it is none of ours. */
enum ctrace_status ct_packet_decode_head(const unsigned char *bytes, size_t available, struct ct_packet_head *out,
					 size_t *out_head_size) CT_MUST_USE;
/* Reads the event at *offset of the packet content and moves *offset behind it.  items has room for CTRACE_MAX_ITEMS.  DAMAGED, or
 * NOT_FOUND when the schema lacks its class.  Time starts at the packet's begin_ns.  The caller fills in pid, tid and stream. */
enum ctrace_status ct_packet_decode_event(const struct ct_schema *schema, const unsigned char *packet, size_t content_size,
					  size_t *offset, uint64_t *previous_ns, struct ctrace_event *out,
					  struct ctrace_event_item *items) CT_MUST_USE;
/* The same in two steps, for a reader that looks at the class before it decodes, or passes the event over.  The first moves *offset to the
 * items, and *previous_ns on: the event's time.  The second fills in items and item_count, for the generic class also component and event id. */
enum ctrace_status ct_packet_decode_event_head(const unsigned char *packet, size_t content_size, size_t *offset, uint64_t *previous_ns,
					       uint32_t *out_class, uint32_t *out_level) CT_MUST_USE;
enum ctrace_status ct_packet_decode_items(const struct ct_class *class, const unsigned char *packet, size_t content_size,
					  size_t *offset, struct ctrace_event *event, struct ctrace_event_item *items) CT_MUST_USE;
/* Not for the generic class. */
enum ctrace_status ct_packet_skip_items(const struct ct_class *class, const unsigned char *packet, size_t content_size,
					size_t *offset) CT_MUST_USE;
/* Offset of the next thing that looks like a packet head at or after `from`; `size` when there is none. */
size_t ct_packet_find(const unsigned char *bytes, size_t size, size_t from);

#endif
