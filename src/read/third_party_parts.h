/*
 * read/third_party_parts.h - what the source of a third-party trace's events is made of: its trace,
 * its classes and the packets of each stream.
 *
 *     source_third_party.c {events} -> third_party_packets.c {which packet} -> third_party_decode.c
 * {which fields} -> stream_file.c {which bytes}
 *                               -> third_party_class.c {which class} -> third_party_trace.c {whose}
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_THIRD_PARTY_PARTS_H
#define CT_READ_THIRD_PARTY_PARTS_H

#include "read/third_party.h"
#include "read/stream_file.h"

/* ---- third_party_trace.c: what all streams of a trace share */
#define CT_THIRD_PARTY_MAGIC 0xC1FC1FC1u
#define CT_THIRD_PARTY_COMPONENTS 256u        /* places of the table */
#define CT_THIRD_PARTY_SOURCE_PROCESSES 4096u /* processes of a trace that are told apart */

struct ct_third_party_component;
struct ct_third_party_class;
struct ct_third_party_process;
struct ct_third_party_trace {
	unsigned users;
	char *directory;
	char *metadata_path;
	struct ct_tsdl *tsdl;
	struct ct_third_party_tree tree;
	struct ct_third_party_place **headers, **contexts; /* by the stream's index */
	uint64_t stamp;
	bool has_magic; /* packets begin with it */
	bool has_uuid;  /* and with the UUID behind it */
	unsigned char begin[20];
	bool has_told_cut;
	const struct ct_source_process *source_process;
	struct ct_third_party_process *processes;
	uint32_t process_count;
	/* third_party_class.c's */
	struct ct_third_party_class *classes; /* by the event's index */
	struct ct_third_party_component *components[CT_THIRD_PARTY_COMPONENTS];
	uint32_t component_count;
};
/* The trace in directory, with one user.  UNSUPPORTED when its metadata cannot be understood, which
 * is told. */
enum ctrace_status ct_third_party_trace_open(struct ct_sources *sources, const char *directory,
					     struct ct_third_party_trace **out_trace) CT_MUST_USE;
void ct_third_party_trace_unref(struct ct_third_party_trace *trace);
/* Whose the events of this process are: the trace's own when there are too many to tell apart. */
const struct ct_source_process *
ct_third_party_trace_source_process(struct ct_third_party_trace *trace, struct ct_sources *sources,
				    uint32_t pid, const char *program);
/* Tells of something there that ctrace does not read. */
void ct_third_party_tell(struct ct_sources *sources, const char *path, const char *message);

/* ---- third_party_class.c: what events are of one description in the metadata */

/* The provider of events, or the tracer. */
struct ct_third_party_component {
	struct ct_third_party_component *next;
	uint32_t id;
	uint32_t size;
	char name[CTRACE_MAX_COMPONENT + 1];
};
struct ct_third_party_class {
	bool is_known;
	const struct ct_tsdl_event *event;
	const struct ct_third_party_component *component;
	const struct ct_event_type *type;
	const struct ct_catalog_component *catalogued;
	const char *mnemonic; /* or NULL */
	uint32_t event_id;
	uint32_t level;
	uint8_t filter_result; /* one more than enum ct_filter_result; 0: not asked yet */
	struct ct_third_party_place *context, *fields;
};
/* the trace has its metadata; false without memory */
bool ct_third_party_classes_init(struct ct_third_party_trace *trace);
void ct_third_party_classes_fini(struct ct_third_party_trace *trace);
/* NULL without memory.  Looking for its component takes steps. */
struct ct_third_party_class *ct_third_party_class(struct ct_third_party_trace *trace,
						  const struct ct_tsdl_event *event,
						  uint64_t *steps);
/* What the reader wants of such events; sets type and catalogued. */
enum ct_filter_result ct_third_party_class_filter_result(const struct ct_sources *sources,
							 struct ct_third_party_class *class);

/* ---- third_party_packets.c: where reading is in a stream, and how its bits are read */
struct ct_third_party_packets {
	struct ct_stream_file file;
	struct ct_third_party_trace *trace;
	uint64_t steps; /* that may still be made: what bounds the time the stream can take */
	/* the packet; sizes in bytes, places of events in bits */
	const struct ct_tsdl_stream *stream;
	uint64_t packet_at;
	uint64_t packet_size; /* 0: there is none, or it is not known */
	uint64_t content;     /* bits of it that are there */
	/* bit of the next event; set at each packet, moved by the one who reads events */
	uint64_t at;
	struct ct_third_party_clock clock;
	uint64_t begin_ns, end_ns; /* 0: not known */
	uint64_t sequence, discarded;
	bool has_sequence, has_discarded; /* of the packet before, at least */
	bool is_cut;
	bool has_ended; /* nothing of the stream is read any more */
	bool has_packet_pid;
	uint32_t packet_pid, packet_tid;
	/* while a head is read; between packets the one's who reads events */
	struct ct_third_party_items context_items;
	/* what the packet's context says of all its events */
	struct ct_third_party_items packet_items;
	struct ct_third_party_scope scopes[CT_SCOPE_COUNT];
};
/* The caller's storage. */
void ct_third_party_packets_init(struct ct_third_party_packets *packets,
				 struct ct_third_party_trace *trace, struct ct_source *source);
void ct_third_party_packets_fini(struct ct_third_party_packets *packets);
/* There is a stream that has not ended: before anything else. */
bool ct_third_party_packets_begin(struct ct_third_party_packets *packets,
				  struct ct_sources *sources);
/* Makes what follows the present packet the present one; one without content where there was
 * damage, which is told, or where nothing is wanted of it.  False at the end of the file. */
bool ct_third_party_packets_next(struct ct_third_party_packets *packets,
				 struct ct_sources *sources);
/* Nothing can be read at `at`: tells so, and goes on where this packet ends, or else with whatever
 * looks like the next one. */
void ct_third_party_packets_skip(struct ct_third_party_packets *packets, struct ct_sources *sources,
				 uint64_t at, const char *message);
/* Reads in one go what begins at the bit `at` of the packet and ends before the bit `end`: calls
 * back with a decoder that stands there, again with more bytes as long as that says MORE.  The
 * clock is moved only when it says OK. */
typedef enum ct_third_party_result ct_third_party_read(void *user, struct ct_sources *sources,
						       struct ct_third_party_decoder *decoder);
enum ct_third_party_result ct_third_party_packets_read(struct ct_third_party_packets *packets,
						       struct ct_sources *sources,
						       struct ct_third_party_decoder *decoder,
						       uint64_t at, uint64_t end,
						       ct_third_party_read *read, void *user);
/* It cannot be read, for that reason: BAD. */
enum ct_third_party_result ct_third_party_bad(struct ct_third_party_decoder *decoder,
					      const char *message);

#endif
