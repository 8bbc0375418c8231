/*
 * format/format.h - the bytes that writer and reader agree on: classes of events, events, and
 * packets of a Common Trace Format stream.
 *
 * An event, little-endian and packed, as ctrace/ctrace.h writes it inline:
 *
 *      offset size
 *           0    8  number of its class | ticks << 16: the low 48 bits
 *           8       the items' bytes, one behind the other
 *
 * Its class says what component it is of, its id and level, and of each item the type and the size.
 * An item whose size is not the class's has it in front: 16 bits, or 32.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_FORMAT_H
#define CT_FORMAT_H

#include "base/base.h"
#include <ctrace/ctrace.h>

/*
 * ---- event_class.c: the table of classes, in the session file.
 *
 * Entries are appended, complete before their number is known to anybody, and never changed.  The
 * number of a class is where its entry is, in units of 16 bytes from the start of the table.
 * Whoever has the table can read every event: a recoverer, an external writer, the operator's tool.
 */
#define CT_CLASS_UNIT 16u
#define CT_CLASS_NUMBERS 65536u /* of 16 bits */
#define CT_CLASS_TABLE ((size_t)CT_CLASS_NUMBERS * CT_CLASS_UNIT)
#define CT_CLASS_FIRST 16u /* the first number of an entry; those before are reserved: */
#define CT_CLASS_ANY 1u    /* the event says itself what the others have in their class */
#define CT_CLASS_MARK 2u   /* no event: all 64 bits of the time, and the thread of what follows */

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
_Static_assert(sizeof(struct ct_class_entry) == CT_CLASS_UNIT,
	       "an entry without items is one unit");

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
	uint32_t size = !item->is_counted          ? item->size
			: item->size <= UINT16_MAX ? CT_SIZE_COUNTED_16
						   : CT_SIZE_COUNTED_32;

	return (item->type & 0xFF) | size << 8;
}
/* The number of the class that has these items, made when there is none; CT_CLASS_ANY when there is
 * no room for one, or they are too many.  Any thread; async-signal-safe. */
uint32_t ct_class_find(struct ct_classes *classes, const struct ct_event_head *head,
		       const uint32_t *items, uint32_t item_count);
/* Does it need more room than the table has blocks for?  Then who may do so gives it more. */
bool ct_class_table_is_short(const struct ct_class_table *table);

/* Somebody's table as a reader has it: mapped, or a copy.  Its bytes may be hostile, and may
 * change. */
struct ct_class_view {
	const unsigned char *bytes;
	size_t size;
	/* of a file: an event of CT_CLASS_ANY has the name of its component behind the number,
	 * terminated */
	bool has_names;
};

/* ---- event.c: an event, written and read. */
#define CT_EVENT_HEAD CTRACE_EVENT_HEAD_
#define CT_EVENT_MARK 20u /* bytes of a mark: head, ticks, thread */

/* Bytes that an event of that class takes; 0 when an item is too large.  Async-signal-safe, as all
 * that writes an event. */
size_t ct_event_size(uint32_t number, const struct ctrace_item *items, uint32_t item_count);
void ct_event_encode(unsigned char *at, uint32_t number, uint64_t ticks,
		     const struct ct_event_head *head, const struct ctrace_item *items,
		     uint32_t item_count);
void ct_event_encode_mark(unsigned char *at, uint64_t ticks, uint32_t tid);
/* An event of CT_CLASS_ANY by parts, for callers without an array of its items: its head, then of
 * each item the type and the size, behind which its bytes go.  They give where to go on. */
#define CT_EVENT_ANY_HEAD 19u
#define CT_EVENT_ANY_ITEM 5u
#define CT_EVENT_ANY_NAME 12u /* where in a file the component's name stands, which is in no ring \
			       */
unsigned char *ct_event_put_any_head(unsigned char *at, uint64_t ticks,
				     const struct ct_event_head *head, uint32_t item_count);
unsigned char *ct_event_put_any_item(unsigned char *at, uint32_t type, uint32_t size);

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
	size_t data_size;      /* from there to the event's end */
	const char *component; /* the name that it has itself, terminated; NULL: it has none */
	size_t component_size;
};
/* Reads the event at `at`, and moves *state on to it.  DAMAGED when it is none, or there is no such
 * class; BUFFER_TOO_SMALL when it does not end within `available` bytes, and so may be one that is
 * longer.  Then *state stays.  Every word is read once. */
enum ctrace_status ct_event_decode(const struct ct_class_view *classes, const unsigned char *at,
				   size_t available, struct ct_event_state *state,
				   struct ct_event *out) CT_MUST_USE;
/* The number of an event's class, and its ticks: one load, which nobody can tear. */
static inline uint64_t ct_event_word(const unsigned char *at)
{
	typedef uint64_t word __attribute__((aligned(1), may_alias));

	return *(const volatile word *)at;
}
/* All 64 bits of the time of which that word has 48, and which is not far from `ticks`: never below
 * 0. */
static inline uint64_t ct_event_ticks(uint64_t ticks, uint64_t word)
{
	uint64_t low = word >> 16;
	int64_t difference = (int64_t)((low - ticks) << 16) >> 16;

	return difference < 0 && ticks < -(uint64_t)difference ? low : ticks + (uint64_t)difference;
}
/* What all events of a class have in common, for whoever walks over many of them. */
struct ct_event_shape {
	struct ct_event_head head;
	uint32_t size;         /* of an event, but for what its counted items have */
	uint32_t counted_at;   /* where in an event the size of its only counted item stands */
	uint8_t counted_width; /* of that; 0: it has no such item */
	bool is_long;          /* it has several counted items: to be decoded */
};
/* False: there is no such class, or it has a name of its own for each event (CT_CLASS_ANY). */
bool ct_event_shape(const struct ct_class_view *classes, uint32_t number,
		    struct ct_event_shape *out) CT_MUST_USE;
/* Bytes of the event at `at`, whose shape is not long; 0: it does not end within `available`, or is
 * none. */
static inline size_t ct_event_shape_size(const struct ct_event_shape *shape,
					 const unsigned char *at, size_t available)
{
	size_t size = shape->size, counted = 0;

	if (size > available)
		return 0;
	if (shape->counted_width != 0) {
		typedef uint16_t u16 __attribute__((aligned(1), may_alias));
		typedef uint32_t u32 __attribute__((aligned(1), may_alias));

		/* Read once: its owner may change it meanwhile. */
		counted = shape->counted_width == 2
				  ? *(const volatile u16 *)(at + shape->counted_at)
				  : *(const volatile u32 *)(at + shape->counted_at);
		if (counted > CTRACE_MAX_ITEM_SIZE || counted > available - size)
			return 0;
	}
	return size + counted;
}
/* The items; room for event->item_count in out. */
void ct_event_items(const struct ct_event *event, struct ctrace_event_item *out);
/* Of a type and a size that have a value. */
bool ct_item_is_integer(uint32_t type, uint32_t size);
/* The value of an integer item (0 for other types and for sizes not 1 to 8). */
uint64_t ct_item_value(uint32_t type, const void *data, uint32_t size);

#define CT_METADATA_LIMIT ((size_t)64 << 20) /* bytes of metadata that are read */

/* ---- schema.c: the classes of one trace, by number: what its metadata say.  Each is printed into
 * the metadata and read back from there. Not thread-safe. */
#define CT_CLASS_LIMIT 4096u        /* classes that ct_schema_class() makes; then the generic one */
#define CT_CLASS_ITEMS_TOTAL 65536u /* items of those */

/* What a catalogue calls an event and its items.  Texts are whatever a catalogue has, terminated;
 * NULL or "": none. */
struct ct_class_names {
	const char *mnemonic;
	const char *const *items; /* by index; items past item_count have none */
	uint32_t item_count;
};

struct ct_class {
	uint32_t number; /* what its events have: CT_CLASS_ANY, or from CT_CLASS_FIRST on */
	uint32_t index;  /* in the schema */
	uint32_t event_id;
	uint32_t level;
	uint32_t item_count;
	const char *component;              /* terminated; escaped only in the metadata text */
	const uint32_t *items;              /* type | size << 8, as in struct ct_class_entry */
	const struct ct_class_names *names; /* NULL: none, and the metadata have numbers */
};
/* What a metadata text has for an item: an integer or an address of an odd size is bytes there. */
uint32_t ct_class_item_printed(uint32_t item);
/* Its size stands in the event. */
static inline bool ct_class_item_is_counted(uint32_t item)
{
	return item >> 8 == CT_SIZE_COUNTED_16 || item >> 8 == CT_SIZE_COUNTED_32;
}
struct ct_schema; /* a set of classes */
enum ctrace_status ct_schema_create(struct ct_schema **out_schema) CT_MUST_USE;
void ct_schema_destroy(struct ct_schema *schema);
/* Is asked for the names of each class that ct_schema_class() makes, once; its answer is copied.
 * False: there are none.  NULL: nobody is. */
typedef bool ct_class_namer(const char *component, size_t size, uint32_t event_id,
			    struct ct_class_names *out, void *user);
void ct_schema_set_namer(struct ct_schema *schema, ct_class_namer *namer, void *user);
/* The class that an event gets when it is written anew (ct_packet_write()), made when it is new;
 * the generic class past the limit or without memory. */
const struct ct_class *ct_schema_class(struct ct_schema *schema, const struct ctrace_event *event);
/* The class of that number in a process's table, taken over when it is not here yet; component: its
 * name, which may be hostile too. DAMAGED: there is no such class, or this schema has another one
 * of that number. */
enum ctrace_status ct_schema_take(struct ct_schema *schema, const struct ct_class_view *from,
				  uint32_t number, const char *component,
				  size_t component_size) CT_MUST_USE;
/* NULL when there is none */
const struct ct_class *ct_schema_find(const struct ct_schema *schema, uint32_t number);
/* the generic one included */
uint32_t ct_schema_count(const struct ct_schema *schema);
const struct ct_class *
ct_schema_at(const struct ct_schema *schema,
	     uint32_t index); /* 0: the generic one; in the order of their making */
/* A class as read from metadata.  DAMAGED when its number cannot be, or is another one's, unless
 * the same class is there already. */
enum ctrace_status ct_schema_add(struct ct_schema *schema,
				 const struct ct_class *class) CT_MUST_USE;
/* The number is some class's that is not here: what ct_schema_class() makes gets a number behind
 * that class. */
void ct_schema_skip(struct ct_schema *schema, uint32_t number);
/* For ct_event_decode(), which then gives the index of the class as the event's component.  Until
 * the schema has another class. */
struct ct_class_view ct_schema_view(const struct ct_schema *schema);

/* The trace-wide part of the metadata. */
struct ct_trace_info {
	uint8_t uuid[16];
	char host[256];
	char program[256];
	char system[128];
	char jobname[16];
	/* what lines readers are to print; "", and not in the metadata: the reader's own */
	char format[512];
	uint32_t pid;
	uint32_t asid;
	uint64_t start_ns; /* with pid: which process made the trace */
	/* What its ticks are, for viewers: how many a second, and when 0 was, since 1970.  Our
	 * readers go by the packets' heads. */
	uint64_t frequency; /* 0: ticks are nanoseconds since 1970 */
	uint64_t offset_s;
	uint64_t offset; /* and ticks */
};
void ct_trace_make_uuid(uint8_t uuid[16]); /* of a trace that begins now: random, version 4 */
/* The lines of the metadata that say what the ticks are: always of this size, so that better ones
 * can be put in their place. */
#define CT_TRACE_CLOCK 192u
void ct_trace_clock_print(char out[CT_TRACE_CLOCK + 1], const struct ct_trace_info *info);
/* Its ticks are so many a second (not 0), and were `ticks` at that time since 1970. */
void ct_trace_clock_set(struct ct_trace_info *info, uint64_t frequency, uint64_t ticks,
			uint64_t time_ns);
/* Ticks of such a trace at that time, for events that come with a time. */
uint64_t ct_trace_ticks(const struct ct_trace_info *info, uint64_t time_ns);
/* preamble and the generic class */
void ct_schema_print_trace(struct ct_buf *out, const struct ct_trace_info *info);
void ct_schema_print_class(struct ct_buf *out, const struct ct_class *class); /* one event block */
/* Whose trace a text is of: the numbers, the uuid and the clock of its trace-wide part; its texts
 * are "".  *out_at is where that part ends. DAMAGED: it is not one that was printed; *out_at is
 * where it first differs. */
enum ctrace_status ct_schema_parse_trace(const char *text, size_t size,
					 struct ct_trace_info *out_info,
					 size_t *out_at) CT_MUST_USE;

/* ---- packet.c: one packet of a stream file: header, context, events; and back. */
/* As it is in a file (packet.c). */
struct ct_packet_head {
	uint32_t magic; /* ct_packet_head_put() writes it */
	uint8_t uuid[16];
	uint32_t stream_id; /* 0 */
	uint32_t stream_instance;
	uint32_t unused;      /* 0 */
	uint64_t begin_ticks; /* of the first event and of the last */
	uint32_t content_bits;
	uint32_t packet_bits;
	/* the same, since 1970: times between the two are on the line between them */
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t end_ticks;
	uint64_t sequence;
	uint64_t discarded; /* running total of the stream */
	uint32_t pid;
	uint32_t tid;
};
#define CT_PACKET_HEAD 96u /* bytes of header and context */
/* a packet is ended before it would grow over this, unless it holds one event only */
#define CT_PACKET_CONTENT (64u << 10)
/* What a reader accepts: more than the largest event takes, with its head and the lengths of its
 * items. */
#define CT_PACKET_MAX (CTRACE_MAX_EVENT + (64u << 10))
void ct_packet_head_put(unsigned char at[CT_PACKET_HEAD], const struct ct_packet_head *head);
/* Reads a packet head at `bytes`.  DAMAGED when it is none of ours. */
enum ctrace_status ct_packet_decode_head(const unsigned char *bytes, size_t available,
					 struct ct_packet_head *out) CT_MUST_USE;

/* Writes the packets of one stream, one behind the other.  A packet's events are of one thread and
 * in time order. */
struct ct_packet_writer {
	const struct ct_trace_info *info; /* of the trace; the caller's */
	uint32_t stream;
	uint64_t sequence; /* of the next packet */
	/* events of the stream so far, as the next packet is to say; to be set by the caller */
	uint64_t lost;
	uint64_t told;    /* as the last packet says */
	uint64_t last_ns; /* of the last event */
	/* for the caller to take, behind ct_packet_end(), or up to packet_at; `failed` without
	 * memory */
	struct ct_buf packets;
	size_t packet_at;           /* where in these the last one begins */
	struct ct_packet_head head; /* of it */
	bool in_packet;             /* it is not complete yet */
};
/* What the stream says of its next packet, for one that is written elsewhere.  False: it has to be
 * empty, and the next one is asked for again: viewers count losses between packets, so when some
 * come before the first one of a stream, an empty one comes before them. */
bool ct_packet_number(struct ct_packet_writer *writer, struct ct_packet_head *head) CT_MUST_USE;
/* Begins a packet; without events it only tells of losses. */
void ct_packet_begin(struct ct_packet_writer *writer, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* Writes an event that comes decoded, in a new packet when it does not go into the last one. */
void ct_packet_write(struct ct_packet_writer *writer, const struct ct_class *class,
		     const struct ctrace_event *event);
void ct_packet_end(struct ct_packet_writer *writer); /* nothing when it has ended */
/* A time as a packet can hold it: viewers count signed nanoseconds, and refuse a stream in which
 * time goes back. */
uint64_t ct_packet_time(uint64_t time_ns, uint64_t previous_ns);

/* Where reading is in a packet's time.  A slope of so many bits is exact to the nanosecond for as
 * many ticks as an event can have. */
#define CT_PACKET_SLOPE 48
struct ct_packet_clock {
	struct ct_event_state state;
	uint64_t begin_ticks;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t slope; /* ns in a tick << CT_PACKET_SLOPE */
};
struct ct_packet_clock ct_packet_clock_start(const struct ct_packet_head *head);
/* Time of the event that was decoded last, by ct_event_decode() with clock->state; never outside
 * the packet. */
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
/* Offset of the next thing that looks like a packet head at or after `from`; `size` when there is
 * none. */
size_t ct_packet_find(const unsigned char *bytes, size_t size, size_t from);

#endif
