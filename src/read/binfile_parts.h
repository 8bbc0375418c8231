/*
 * read/binfile_parts.h - the parts of a BINFILE source: its trace and the packets of each stream.
 *
 *     source_bin.c {events} -> binfile_packets.c {which packet} -> stream_file.c {which bytes}
 *                           -> binfile_trace.c {which class}
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_BINFILE_PARTS_H
#define CT_READ_BINFILE_PARTS_H

#include "read/stream_file.h"

/* ---- binfile_trace.c: the data that all streams of a trace share */

/* The facts about a class's events that are known before they are decoded. */
struct ct_binfile_class {
	uint32_t number; /* 0: not met yet */
	enum ct_filter_result filter_result;
	uint32_t component_size;
	/* size 0: an event must be decoded to find its size */
	struct ct_event_shape shape;
	const struct ct_class *class;
	/* the names in the metadata, or NULL; never moves, since read events point to it */
	struct ct_event_names *names;
	const struct ct_catalog_component *component;
	const struct ct_event_type *type;
};
struct ct_binfile_trace {
	unsigned users;
	char *metadata_path;
	size_t metadata_size;
	size_t clock_at; /* steps of the clock before this position in the metadata have been
			  * reported */
	struct ct_schema *schema;
	struct ct_trace_info info;
	uint64_t left_out_ns; /* a time within what was left out before this directory; or 0 */
	const struct ct_source_process *source_process;
	struct ct_class_image image;      /* of the schema */
	struct ct_binfile_class *classes; /* by index; made when a class is first met */
	uint32_t class_count;
};
/* Opens the trace in directory, with one user.  Reports damage in its metadata.  Returns
 * UNSUPPORTED when they are not of a BINFILE trace. */
enum ctrace_status ct_binfile_trace_open(struct ct_sources *sources, const char *directory,
					 struct ct_binfile_trace **out_trace) CT_MUST_USE;
void ct_binfile_trace_unref(struct ct_binfile_trace *trace);
/* The slow half of ct_binfile_class(). */
const struct ct_binfile_class *ct_binfile_class_find(struct ct_binfile_trace *trace,
						     const struct ct_sources *sources,
						     uint32_t number);
/* Returns the class of that number, borrowed until the next call; NULL without memory, and when
 * there is none. */
static inline const struct ct_binfile_class *
ct_binfile_class(struct ct_binfile_trace *trace, const struct ct_sources *sources, uint32_t number)
{
	const struct ct_class_entry *entries = (const void *)trace->image.bytes;

	if (number < trace->image.size / CT_CLASS_UNIT) {
		/* A number may lead into another class's entry. */
		uint32_t index = entries[number].component;

		if (index < trace->class_count && trace->classes[index].number == number)
			return &trace->classes[index];
	}
	return ct_binfile_class_find(trace, sources, number);
}
/* Called for an event whose class is unknown: reads the metadata again if they have grown.  Returns
 * true if they had. */
bool ct_binfile_trace_grow(struct ct_binfile_trace *trace, struct ct_sources *sources);

/* ---- binfile_packets.c: the position in a stream */
struct ct_binfile_packets {
	struct ct_stream_file file;
	const struct ct_binfile_trace *trace;
	struct ct_packet_head head;
	uint64_t packet_at;
	uint64_t packet_size;
	size_t content; /* bytes of content in the file */
	bool is_cut;    /* the file ends inside the packet */
	bool has_head;  /* head is at least that of the packet before */
	/* offset of the next event; set at each packet, moved by source_bin.c */
	size_t offset;
	struct ct_packet_clock clock; /* clock at the event before it */
};
/* Moves to the first packet that may have an event at since_ns or later; on failure stays at the
 * beginning of the file. */
void ct_binfile_packets_seek(struct ct_binfile_packets *packets, struct ct_sources *sources);
/* Finds when the first and the last packet begin, from their heads.  Returns false when that cannot
 * be known without reading everything. */
bool ct_binfile_packets_ends(struct ct_binfile_packets *packets, struct ct_sources *sources,
			     uint64_t *out_first_ns, uint64_t *out_last_ns);
/* Moves to the next packet.  The packet has no content after damage, which is reported.  Returns
 * false at the end of the file. */
bool ct_binfile_packets_next(struct ct_binfile_packets *packets, struct ct_sources *sources);
/* The file ended inside the current packet: returns true when more of it has been written since. */
bool ct_binfile_packets_grow(struct ct_binfile_packets *packets, struct ct_sources *sources);
/* Reports that nothing can be read at `at`, and moves to the next readable packet behind the
 * beginning of the current one. */
void ct_binfile_packets_skip(struct ct_binfile_packets *packets, struct ct_sources *sources,
			     uint64_t at, const char *message);

#endif
