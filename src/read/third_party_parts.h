/*
 * read/third_party_parts.h - the parts of a third-party source: the trace, its classes and the
 * packets of each stream.
 *
 *     source_third_party.c {events}
 *         -> third_party_packets.c {which packet} -> stream_file.c {which bytes}
 *         -> third_party_decode.c {which fields}
 *         -> third_party_class.c {which class}
 *         -> third_party_trace.c {which process}
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_THIRD_PARTY_PARTS_H
#define CT_READ_THIRD_PARTY_PARTS_H

#include "read/third_party.h"
#include "read/stream_file.h"

/* ---- third_party_trace.c: the data that all streams of a trace share */
#define CT_THIRD_PARTY_MAGIC 0xC1FC1FC1u
#define CT_THIRD_PARTY_COMPONENTS 256u        /* buckets of the table */
#define CT_THIRD_PARTY_SOURCE_PROCESSES 4096u /* distinguished processes of a trace */

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
	bool has_reported_cut;
	const struct ct_source_process *source_process;
	struct ct_third_party_process *processes;
	uint32_t process_count;
	/* state of third_party_class.c */
	struct ct_third_party_class *classes; /* by the event's index */
	struct ct_third_party_component *components[CT_THIRD_PARTY_COMPONENTS];
	uint32_t component_count;
};
/* Opens the trace in directory, with one user.  Returns UNSUPPORTED, and reports the reason, when
 * its metadata cannot be understood. */
enum ctrace_status ct_third_party_trace_open(struct ct_sources *sources, const char *directory,
					     struct ct_third_party_trace **out_trace) CT_MUST_USE;
void ct_third_party_trace_unref(struct ct_third_party_trace *trace);
/* Returns the source process of events of this process: the trace's own when there are too many
 * processes to distinguish. */
const struct ct_source_process *
ct_third_party_trace_source_process(struct ct_third_party_trace *trace, struct ct_sources *sources,
				    uint32_t pid, const char *program);
/* Reports a part of the trace that ctrace cannot read. */
void ct_third_party_report(struct ct_sources *sources, const char *path, const char *message);

/* ---- third_party_class.c: the event classes of the metadata */

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
	uint8_t filter_result; /* one more than enum ct_filter_result; 0: unknown yet */
	struct ct_third_party_place *context, *fields;
};
/* Called when the trace has its metadata.  Returns false without memory. */
bool ct_third_party_classes_init(struct ct_third_party_trace *trace);
void ct_third_party_classes_fini(struct ct_third_party_trace *trace);
/* Returns NULL without memory.  Finding the component costs steps. */
struct ct_third_party_class *ct_third_party_class(struct ct_third_party_trace *trace,
						  const struct ct_tsdl_event *event,
						  uint64_t *steps);
/* Returns the filter result of such events; sets type and catalogued. */
enum ct_filter_result ct_third_party_class_filter_result(const struct ct_sources *sources,
							 struct ct_third_party_class *class);

/* ---- third_party_packets.c: the position in a stream, and its bits */
struct ct_third_party_packets {
	struct ct_stream_file file;
	struct ct_third_party_trace *trace;
	uint64_t steps; /* steps left, which bound the time that the stream can take */
	/* the packet: sizes in bytes, positions of events in bits */
	const struct ct_tsdl_stream *stream;
	uint64_t packet_at;
	uint64_t packet_size; /* 0: none, or unknown */
	uint64_t content;     /* bits of content in the file */
	/* bit of the next event; set at each packet, moved by source_third_party.c */
	uint64_t at;
	struct ct_third_party_clock clock;
	uint64_t begin_ns, end_ns; /* 0: unknown */
	uint64_t sequence, discarded;
	bool has_sequence, has_discarded; /* known from the previous packet */
	bool is_cut;
	bool has_ended; /* the stream is not read any further */
	bool has_packet_pid;
	uint32_t packet_pid, packet_tid;
	/* used while a head is read; between packets source_third_party.c uses it */
	struct ct_third_party_items context_items;
	/* items of the packet's context, which all its events get */
	struct ct_third_party_items packet_items;
	struct ct_third_party_scope scopes[CT_SCOPE_COUNT];
};
/* Uses the caller's storage. */
void ct_third_party_packets_init(struct ct_third_party_packets *packets,
				 struct ct_third_party_trace *trace, struct ct_source *source);
void ct_third_party_packets_fini(struct ct_third_party_packets *packets);
/* Opens the stream at the first call, which precedes all others.  Returns false at its end. */
bool ct_third_party_packets_begin(struct ct_third_party_packets *packets,
				  struct ct_sources *sources);
/* Moves to the next packet.  The packet has no content after damage, which is reported, or when its
 * events are not wanted.  Returns false at the end of the file. */
bool ct_third_party_packets_next(struct ct_third_party_packets *packets,
				 struct ct_sources *sources);
/* Reports that nothing can be read at `at`, and moves to the end of this packet, or else to the
 * next position that looks like a packet. */
void ct_third_party_packets_skip(struct ct_third_party_packets *packets, struct ct_sources *sources,
				 uint64_t at, const char *message);
/* Reads the bits from `at` to at most `end` of the packet in one go.  Calls read() with a decoder
 * at `at`, and again with more bytes as long as read() returns MORE.  Moves the clock only when
 * read() returns OK. */
typedef enum ct_third_party_result ct_third_party_read(void *user, struct ct_sources *sources,
						       struct ct_third_party_decoder *decoder);
enum ct_third_party_result ct_third_party_packets_read(struct ct_third_party_packets *packets,
						       struct ct_sources *sources,
						       struct ct_third_party_decoder *decoder,
						       uint64_t at, uint64_t end,
						       ct_third_party_read *read, void *user);
/* Sets the decoder's message and returns BAD. */
enum ct_third_party_result ct_third_party_bad(struct ct_third_party_decoder *decoder,
					      const char *message);

#endif
