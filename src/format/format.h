/*
 * format/format.h - the bytes that writer and reader agree on: classes of events, events, and
 * packets of a Common Trace Format stream.
 *
 * An event, little-endian and packed, as ctrace/ctrace.h writes it inline:
 *
 *      offset size
 *           0    8  number of its class | the low 48 bits of its ticks << 16
 *           8       the items' bytes, one behind the other
 *
 * Its class has its component, id and level, and the type and size of each item.  An item of
 * variable size begins with its size, in 16 or 32 bits.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_FORMAT_H
#define CT_FORMAT_H

#include "base/base.h"
#include <ctrace/ctrace.h>

#include <endian.h>

/*
 * ---- event_class.c: the table of classes, in the session file.
 *
 * Entries are appended, are complete before any thread knows their number, and never change.  The
 * number of a class is the position of its entry, in units of 16 bytes from the start of the table.
 * The table suffices to read every event: for a recoverer, an external writer, the operator's tool.
 */
#define CT_CLASS_UNIT 16u
#define CT_CLASS_NUMBERS 65536u /* of 16 bits */
#define CT_CLASS_TABLE ((size_t)CT_CLASS_NUMBERS * CT_CLASS_UNIT)
#define CT_CLASS_FIRST 16u /* the first number of an entry; lower numbers are reserved: */
#define CT_CLASS_ANY 1u    /* the event itself has what other events have in their class */
#define CT_CLASS_MARK \
	2u /* a mark, not an event, but all 64 bits of the time, and the thread of the following \
	      events */

/* The size of an item in a class: bytes, up to CTRACE_MAX_ITEM_SIZE, or one of these two. */
#define CT_SIZE_COUNTED_16 CTRACE_COUNTED_ /* the item begins with its size, in 16 bits */
#define CT_SIZE_COUNTED_32 0xFFFFFDu       /* in 32 */

struct ct_class_entry {
	uint16_t number; /* its own, stored last: without it the entry is incomplete */
	uint16_t item_count;
	uint32_t component;
	uint32_t event_id;
	uint8_t level;
	uint8_t reserved[3];
	uint32_t items[]; /* type | size << 8 */
};
_Static_assert(sizeof(struct ct_class_entry) == CT_CLASS_UNIT,
	       "an entry without items is one unit");

struct ct_class_table {
	uint32_t used;  /* bytes in use, from here on; atomic */
	uint32_t limit; /* bytes with room on the disk, from here on; atomic */
	unsigned char reserved[CT_CLASS_FIRST * CT_CLASS_UNIT - 8];
};

/* A process's own table, and a cache of the classes found in it. */
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
/* Returns an item in the form of struct ct_class_entry. */
static inline uint32_t ct_class_item(const struct ctrace_item *item)
{
	uint32_t size = !item->is_counted          ? item->size
			: item->size <= UINT16_MAX ? CT_SIZE_COUNTED_16
						   : CT_SIZE_COUNTED_32;

	return (item->type & 0xFF) | size << 8;
}
/* Returns the number of the class with these items, and makes it when it is new.  Returns
 * CT_CLASS_ANY when the table has no room or the items are too many.  Any thread; async-signal-
 * safe. */
uint32_t ct_class_find(struct ct_classes *classes, const struct ct_event_head *head,
		       const uint32_t *items, uint32_t item_count);
/* True if the table will soon need more blocks.  The caller adds them if it may. */
bool ct_class_table_is_short(const struct ct_class_table *table);

/* A reader's image of a table, mapped or copied.  Its bytes may be hostile, and may change. */
struct ct_class_image {
	const unsigned char *bytes;
	size_t size;
	/* of a file: an event of CT_CLASS_ANY has the name of its component, terminated, behind the
	 * number */
	bool has_names;
};

/* ---- event.c: writes and reads an event. */
#define CT_EVENT_HEAD CTRACE_EVENT_HEAD_
#define CT_EVENT_MARK 20u /* bytes of a mark: head, ticks, thread */

/* Returns the size of an event of that class; 0 when an item is too large.  Async-signal-safe, as
 * all functions that write an event. */
size_t ct_event_size(uint32_t number, const struct ctrace_item *items, uint32_t item_count);
void ct_event_encode(unsigned char *at, uint32_t number, uint64_t ticks,
		     const struct ct_event_head *head, const struct ctrace_item *items,
		     uint32_t item_count);
void ct_event_encode_mark(unsigned char *at, uint64_t ticks, uint32_t tid);
/* Write an event of CT_CLASS_ANY by parts, for callers without an array of its items: its head,
 * then the type and size of each item.  Each returns the position behind its output; the item's
 * bytes go there. */
#define CT_EVENT_ANY_HEAD 19u
#define CT_EVENT_ANY_ITEM 5u
#define CT_EVENT_ANY_NAME \
	12u /* position of the component's name in a file; a ring has no name \
	       \ */
unsigned char *ct_event_put_any_head(unsigned char *at, uint64_t ticks,
				     const struct ct_event_head *head, uint32_t item_count);
unsigned char *ct_event_put_any_item(unsigned char *at, uint32_t type, uint32_t size);

/* Copies short items inline: a call of memcpy() costs more than most items. */
static inline __attribute__((always_inline)) unsigned char *
ct_event_put_bytes(unsigned char *at, const unsigned char *from, size_t size)
{
	unsigned char *end = at + size;

	if (size - 8 <= 8) {
		uint64_t first, last;

		memcpy(&first, from, 8);
		memcpy(&last, from + size - 8, 8);
		memcpy(at, &first, 8);
		memcpy(end - 8, &last, 8);
	} else if (size > 16) {
		for (; end - at > 16; at += 16, from += 16)
			memcpy(at, from, 16);
		memcpy(end - 16, from + (end - at) - 16, 16);
	} else if (size >= 4) {
		uint32_t first, last;

		memcpy(&first, from, 4);
		memcpy(&last, from + size - 4, 4);
		memcpy(at, &first, 4);
		memcpy(end - 4, &last, 4);
	} else if (size != 0) {
		at[0] = from[0];
		at[size / 2] = from[size / 2];
		at[size - 1] = from[size - 1];
	}
	return end;
}

/* The state of reading that an event takes from those before it: the time and the thread. */
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
	const unsigned char *items; /* of its class; NULL: the event itself has them */
	const unsigned char *data;
	size_t data_size;      /* from data to the event's end */
	const char *component; /* the name in the event, terminated; NULL: none */
	size_t component_size;
};
/* Reads the event at `at`, and moves *state on to it.  DAMAGED when it is not an event or its class
 * is missing.  BUFFER_TOO_SMALL when it does not end within `available` bytes; it may be a longer
 * event.  *state changes only on success.  Every word is read once. */
enum ctrace_status ct_event_decode(const struct ct_class_image *classes, const unsigned char *at,
				   size_t available, struct ct_event_state *state,
				   struct ct_event *out) CT_MUST_USE;
/* Loads the number of an event's class and its ticks in one load, which cannot tear. */
static inline uint64_t ct_event_word(const unsigned char *at)
{
	typedef uint64_t word __attribute__((aligned(1), may_alias));

	return le64toh(*(const volatile word *)at);
}
/* Returns all 64 bits of the time whose low 48 bits are in the word.  The time is near `ticks`, and
 * never below 0. */
static inline uint64_t ct_event_ticks(uint64_t ticks, uint64_t word)
{
	uint64_t low = word >> 16;
	int64_t difference = (int64_t)((low - ticks) << 16) >> 16;

	return difference < 0 && ticks < -(uint64_t)difference ? low : ticks + (uint64_t)difference;
}
/* The common shape of a class's events, for walking over many of them. */
#define CT_SHAPE_MORE 7
struct ct_event_shape {
	struct ct_event_head head;
	uint32_t size;         /* of an event, without the bytes of its counted items */
	uint32_t counted_at;   /* position in an event of the size of its first counted item */
	uint8_t counted_width; /* bytes of that size; 0: no counted item */
	uint8_t more;          /* counted items behind the first */
	bool is_long;          /* more than CT_SHAPE_MORE of them: the event has to be decoded */
	/* For each of them the bytes between the former counted item's end and its own size, and
	 * the bytes of that size. */
	struct {
		uint32_t gap;
		uint32_t width;
	} next[CT_SHAPE_MORE];
};
/* Returns false when the class is missing, or is CT_CLASS_ANY, whose events have no common
 * shape. */
bool ct_event_shape(const struct ct_class_image *classes, uint32_t number,
		    struct ct_event_shape *out) CT_MUST_USE;
/* The size that precedes a counted item.  Read once: the owner of the memory may change it at any
 * time. */
static inline size_t ct_event_counted(const unsigned char *at, uint32_t width)
{
	typedef uint16_t u16 __attribute__((aligned(1), may_alias));
	typedef uint32_t u32 __attribute__((aligned(1), may_alias));

	return width == 2 ? le16toh(*(const volatile u16 *)at) : le32toh(*(const volatile u32 *)at);
}
/* Returns the size of the event at `at`; its shape must not be long.  Returns 0 when it does not
 * end within `available`, or is not an event. */
static inline size_t ct_event_shape_size(const struct ct_event_shape *shape,
					 const unsigned char *at, size_t available)
{
	size_t size = shape->size, counted = 0;

	if (size > available)
		return 0;
	if (shape->counted_width != 0) {
		counted = ct_event_counted(at + shape->counted_at, shape->counted_width);
		if (counted > CTRACE_MAX_ITEM_SIZE || counted > available - size)
			return 0;
	}
	if (shape->more != 0) {
		const unsigned char *place =
			at + shape->counted_at + shape->counted_width + counted;

		for (uint32_t i = 0; i < shape->more; i++) {
			size_t item;

			/* Sizes and fixed items are part of `size`, so this one ends in it. */
			place += shape->next[i].gap;
			item = ct_event_counted(place, shape->next[i].width);
			counted += item;
			if (item > CTRACE_MAX_ITEM_SIZE || counted > available - size)
				return 0;
			place += shape->next[i].width + item;
		}
	}
	return size + counted;
}
/* Gives the items; out has room for event->item_count. */
void ct_event_items(const struct ct_event *event, struct ctrace_event_item *out);
/* True if type and size are those of an integer with a value. */
bool ct_item_is_integer(uint32_t type, uint32_t size);
/* Returns the value of an integer item; 0 for other types and for sizes not 1 to 8. */
uint64_t ct_item_value(uint32_t type, const void *data, uint32_t size);

/* The losses of all reasons.  Words of a live process may change meanwhile. */
static inline uint64_t ct_loss_total(const uint64_t lost[CTRACE_LOSS_COUNT])
{
	uint64_t total = 0;

	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		total += __atomic_load_n(&lost[i], __ATOMIC_RELAXED);
	return total;
}

#define CT_METADATA_LIMIT ((size_t)64 << 20) /* bytes of metadata that a reader accepts */

/* ---- schema.c: the classes of one trace, by number.  The metadata of the trace describe them: a
 * writer prints each class there, and a reader parses it.  Not thread-safe. */
#define CT_CLASS_LIMIT \
	4096u /* classes that ct_schema_class() makes before it uses the generic one */
#define CT_CLASS_ITEMS_TOTAL 65536u /* items of these classes */

/* The names of an event and its items in a catalogue.  Texts are terminated, and may hold anything;
 * NULL or "": none. */
struct ct_class_names {
	const char *mnemonic;
	const char *const *items; /* by index; later items have no name */
	uint32_t item_count;
};

struct ct_class {
	uint32_t number; /* the number in its events: CT_CLASS_ANY, or from CT_CLASS_FIRST on */
	uint32_t index;  /* in the schema */
	uint32_t event_id;
	uint32_t level;
	uint32_t item_count;
	const char *component;              /* terminated; escaped only in the metadata text */
	const uint32_t *items;              /* type | size << 8, as in struct ct_class_entry */
	const struct ct_class_names *names; /* NULL: none; the metadata have numbers */
	const struct ctrace_definition *definition; /* of its component; NULL: none */
};
/* Returns the item as a metadata text has it: there an integer or address of an odd size is
 * bytes. */
uint32_t ct_class_item_printed(uint32_t item);
/* True if the event has the size of the item. */
static inline bool ct_class_item_is_counted(uint32_t item)
{
	return item >> 8 == CT_SIZE_COUNTED_16 || item >> 8 == CT_SIZE_COUNTED_32;
}
/* Removes an fmttab that is no name, from a definition that may be hostile. */
void ct_definition_check(struct ctrace_definition *definition);
/* Returns NULL for a definition with neither FMTTAB nor USERDATA. */
const struct ctrace_definition *ct_definition_or_null(const struct ctrace_definition *definition);
struct ct_schema; /* a set of classes */
enum ctrace_status ct_schema_create(struct ct_schema **out_schema) CT_MUST_USE;
void ct_schema_destroy(struct ct_schema *schema);
/* Finds the names of a class.  The schema calls it once for each class that it makes, with FMTTAB
 * in place of the component when that has no names, and copies the names.  Returns false when the
 * class has none.  A NULL namer: no class has names. */
typedef bool ct_class_namer(const char *component, size_t size, uint32_t event_id,
			    struct ct_class_names *out, void *user);
void ct_schema_set_namer(struct ct_schema *schema, ct_class_namer *namer, void *user);
/* Returns the class of an event for rewriting it (ct_packet_write()), and makes it when it is new.
 * Past the limit or without memory it is the generic class. */
const struct ct_class *ct_schema_class(struct ct_schema *schema, const struct ctrace_event *event,
				       const struct ctrace_definition *definition);
/* Takes over the class of that number from a process's table, unless the schema has it. component:
 * the name of its component, which may be hostile.  DAMAGED when the table lacks the class, or the
 * schema has another class of that number.  definition: of the component, or NULL. */
enum ctrace_status ct_schema_take(struct ct_schema *schema, const struct ct_class_image *from,
				  uint32_t number, const char *component, size_t component_size,
				  const struct ctrace_definition *definition) CT_MUST_USE;
/* NULL when the schema has no such class */
const struct ct_class *ct_schema_find(const struct ct_schema *schema, uint32_t number);
/* the generic one included */
uint32_t ct_schema_count(const struct ct_schema *schema);
const struct ct_class *
ct_schema_at(const struct ct_schema *schema,
	     uint32_t index); /* 0: the generic class; then in the order of creation */
/* Adds a class that was read from metadata.  OK when the same class is there already.  DAMAGED when
 * its number is invalid or belongs to another class. */
enum ctrace_status ct_schema_add(struct ct_schema *schema,
				 const struct ct_class *class) CT_MUST_USE;
/* Reserves the number for a class that the schema lacks.  Classes that ct_schema_class() makes get
 * higher numbers. */
void ct_schema_skip(struct ct_schema *schema, uint32_t number);
/* Returns a image for ct_event_decode(), which then gives the index of the class as the event's
 * component.  Valid until the schema gets another class. */
struct ct_class_image ct_schema_image(const struct ct_schema *schema);

/* The trace-wide part of the metadata. */
struct ct_trace_info {
	uint8_t uuid[16];
	char host[256];
	char program[256];
	char system[128];
	char jobname[16];
	/* format of the lines that readers print; "", and not in the metadata: the reader's own */
	char format[512];
	uint32_t pid;
	uint32_t asid;
	uint64_t start_ns; /* identifies, with pid, the process of the trace */
	/* The machine of the process is big-endian.  Bytes that ctrace did not store as numbers,
	 * such as COBOL records, have that order. */
	bool is_big;
	/* The meaning of its ticks, for viewers: ticks a second, and the time of tick 0 since 1970.
	 * Our readers use the packets' heads instead. */
	uint64_t frequency; /* 0: ticks are nanoseconds since 1970 */
	uint64_t offset_s;
	uint64_t offset; /* and ticks besides */
	char clock[77];  /* which clock, and why; "": not known */
};
/* Makes the uuid of a new trace: random, version 4, and the lowest bit of its first byte is 1:
 * a position in a BINFILE uses the first bytes as a mark, which is never 0. */
void ct_trace_make_uuid(uint8_t uuid[16]);
/* Prints the clock's lines of the metadata.  They always have this size, so that better values can
 * overwrite them. */
#define CT_TRACE_CLOCK 192u
void ct_trace_clock_print(char out[CT_TRACE_CLOCK + 1], const struct ct_trace_info *info);
/* Sets the clock: `frequency` ticks a second (not 0), and the value `ticks` at time_ns since
 * 1970. */
void ct_trace_clock_set(struct ct_trace_info *info, uint64_t frequency, uint64_t ticks,
			uint64_t time_ns);
/* Returns the ticks of the trace at that time, for events that bring a time. */
uint64_t ct_trace_ticks(const struct ct_trace_info *info, uint64_t time_ns);
/* preamble and the generic class */
void ct_schema_print_trace(struct ct_buf *out, const struct ct_trace_info *info);
void ct_schema_print_class(struct ct_buf *out, const struct ct_class *class); /* one event block */
/* Parses the trace-wide part of a metadata text: its numbers, uuid and clock; the texts in
 * *out_info are "".  *out_at is the end of that part.  DAMAGED when ctrace did not print the text;
 * *out_at is the first difference. */
enum ctrace_status ct_schema_parse_trace(const char *text, size_t size,
					 struct ct_trace_info *out_info,
					 size_t *out_at) CT_MUST_USE;

/* ---- packet.c: writes and reads a packet of a stream file: header, context, events. */
/* The layout in a file is in packet.c. */
struct ct_packet_head {
	uint32_t magic; /* ct_packet_head_put() writes it */
	uint8_t uuid[16];
	uint32_t stream_id; /* 0 */
	uint32_t stream_instance;
	uint32_t events;      /* of the stream, up to the end of this packet, modulo 2^32 */
	uint64_t begin_ticks; /* of the first event; end_ticks: of the last */
	uint32_t content_bits;
	uint32_t packet_bits;
	/* the same since 1970: times between the two lie on a line */
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t end_ticks;
	uint64_t sequence;
	uint64_t discarded; /* running total of the stream */
	uint32_t pid;
	uint32_t tid;
};
#define CT_PACKET_HEAD 96u /* bytes of header and context */
/* a packet ends before it grows over this, unless it has only one event */
#define CT_PACKET_CONTENT (64u << 10)
/* The largest packet that a reader accepts: more than the largest event with its head and the sizes
 * of its items. */
#define CT_PACKET_MAX (CTRACE_MAX_EVENT + (64u << 10))
void ct_packet_head_put(unsigned char at[CT_PACKET_HEAD], const struct ct_packet_head *head);
/* Reads a packet head at `bytes`.  DAMAGED when it is not one of ctrace's. */
enum ctrace_status ct_packet_decode_head(const unsigned char *bytes, size_t available,
					 struct ct_packet_head *out) CT_MUST_USE;

/* Writes the packets of one stream, one behind the other.  The events of a packet belong to one
 * thread and are in order of time. */
struct ct_packet_writer {
	const struct ct_trace_info *info; /* of the trace; the caller's */
	uint32_t stream;
	uint64_t sequence; /* of the next packet */
	/* lost events of the stream so far, for the next packet; the caller sets it */
	uint64_t lost;
	uint64_t reported; /* lost events in the head of the last packet */
	uint32_t events;   /* of the stream so far, as in the heads */
	uint64_t last_ns;  /* of the last event */
	/* for the caller: all after ct_packet_end(), before it only up to packet_at; `failed`
	 * without memory */
	struct ct_buf packets;
	size_t packet_at;           /* position of the last packet in these */
	struct ct_packet_head head; /* of it */
	bool in_packet;             /* the last packet is incomplete */
};
/* Fills the head of the stream's next packet, which is written elsewhere and has so many events.
 * Returns false when that packet must be empty; the caller then asks for the next one.  Viewers
 * count losses between packets, so a stream that begins with losses begins with an empty packet. */
bool ct_packet_number(struct ct_packet_writer *writer, struct ct_packet_head *head,
		      uint32_t events) CT_MUST_USE;
/* Begins a packet; without events it only reports losses. */
void ct_packet_begin(struct ct_packet_writer *writer, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* Writes a decoded event, in a new packet when the last one cannot take it. */
void ct_packet_write(struct ct_packet_writer *writer, const struct ct_class *class,
		     const struct ctrace_event *event);
void ct_packet_end(struct ct_packet_writer *writer); /* does nothing outside a packet */
/* Returns a time that a packet can hold: viewers count signed nanoseconds, and refuse a stream in
 * which time goes back. */
uint64_t ct_packet_time(uint64_t time_ns, uint64_t previous_ns);

/* The reader's position in the time of a packet.  A slope of this many bits is exact to the
 * nanosecond over all ticks that an event can have. */
#define CT_PACKET_SLOPE 48
struct ct_packet_clock {
	struct ct_event_state state;
	uint64_t begin_ticks;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t slope; /* ns in a tick << CT_PACKET_SLOPE */
};
struct ct_packet_clock ct_packet_clock_start(const struct ct_packet_head *head);
/* Returns the time of the event that ct_event_decode() decoded last with clock->state.  Never
 * outside the packet. */
static inline uint64_t ct_packet_clock_time(const struct ct_packet_clock *clock)
{
	uint64_t ticks = clock->state.ticks > clock->begin_ticks
				 ? clock->state.ticks - clock->begin_ticks
				 : 0;
	unsigned __int128 half = (unsigned __int128)1 << (CT_PACKET_SLOPE - 1);
	unsigned __int128 ns = ((unsigned __int128)ticks * clock->slope + half) >> CT_PACKET_SLOPE;

	return ns < clock->end_ns - clock->begin_ns ? clock->begin_ns + (uint64_t)ns
						    : clock->end_ns;
}
/* Returns the offset of the first likely packet head at or after `from`; `size` when there is
 * none. */
size_t ct_packet_find(const unsigned char *bytes, size_t size, size_t from);

#endif
