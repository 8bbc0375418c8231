/*
 * read/binfile_parts.h - what the source of a BINFILE trace's events is made of: its trace and the
 * packets of each stream.
 *
 *     source_bin.c {events} -> binfile_packets.c {which packet} -> stream_file.c {which bytes}
 *                           -> binfile_trace.c {which class}
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_BINFILE_PARTS_H
#define CT_READ_BINFILE_PARTS_H

#include "read/stream_file.h"

/* ---- binfile_trace.c: what all streams of a trace share */

/* What is known of a class's events before they are decoded. */
struct ct_binfile_class {
	uint32_t number; /* 0: it was not met yet */
	enum ct_filter_result filter_result;
	uint32_t component_size;
	/* its size is 0 when events are to be decoded to know theirs */
	struct ct_event_shape shape;
	const struct ct_class *class;
	/* what the metadata call it, or NULL; never moves: views point to it */
	struct ct_event_names *names;
	const struct ct_catalog_component *component;
	const struct ct_event_type *type;
};
struct ct_binfile_trace {
	unsigned users;
	char *metadata_path;
	size_t metadata_size;
	size_t clock_at; /* steps of the clock before this place in the metadata were told */
	struct ct_schema *schema;
	struct ct_trace_info info;
	const struct ct_source_process *source_process;
	struct ct_class_view view;        /* of the schema */
	struct ct_binfile_class *classes; /* by index; made when a class is first met */
	uint32_t class_count;
};
/* The trace in directory, with one user.  UNSUPPORTED when its metadata are not ours; what is
 * damaged in them is told. */
enum ctrace_status ct_binfile_trace_open(struct ct_sources *sources, const char *directory,
					 struct ct_binfile_trace **out_trace) CT_MUST_USE;
void ct_binfile_trace_unref(struct ct_binfile_trace *trace);
/* The slow half of ct_binfile_class(). */
const struct ct_binfile_class *ct_binfile_class_find(struct ct_binfile_trace *trace,
						     const struct ct_sources *sources,
						     uint32_t number);
/* The class of that number; borrowed until the next call.  NULL without memory, and when there is
 * none. */
static inline const struct ct_binfile_class *
ct_binfile_class(struct ct_binfile_trace *trace, const struct ct_sources *sources, uint32_t number)
{
	const struct ct_class_entry *entries = (const void *)trace->view.bytes;

	if (number < trace->view.size / CT_CLASS_UNIT) {
		/* A number may lead into another class's entry. */
		uint32_t index = entries[number].component;

		if (index < trace->class_count && trace->classes[index].number == number)
			return &trace->classes[index];
	}
	return ct_binfile_class_find(trace, sources, number);
}
/* An event has a number that there is no class for: reads the metadata again when they have grown.
 * True when they had. */
bool ct_binfile_trace_grow(struct ct_binfile_trace *trace, struct ct_sources *sources);

/* ---- binfile_packets.c: where reading is in a stream */
struct ct_binfile_packets {
	struct ct_stream_file file;
	const struct ct_binfile_trace *trace;
	struct ct_packet_head head;
	uint64_t packet_at;
	uint64_t packet_size;
	size_t content; /* bytes of it that are there */
	bool is_cut;    /* the file ends inside it */
	bool has_head;  /* head is that of the packet before, at least */
	/* of the next event; set at each packet, moved by the one who reads events */
	size_t offset;
	struct ct_packet_clock clock; /* where the event before it was in time */
};
/* Begins where the first event at since_ns can be; else it begins with the file. */
void ct_binfile_packets_seek(struct ct_binfile_packets *packets, struct ct_sources *sources);
/* When the first packet begins, and when the last one does, from their heads.  False: that cannot
 * be known without reading all. */
bool ct_binfile_packets_ends(struct ct_binfile_packets *packets, struct ct_sources *sources,
			     uint64_t *out_first_ns, uint64_t *out_last_ns);
/* Makes what follows the present packet the present one; one without content where there was
 * damage, which is told.  False at the end of the file. */
bool ct_binfile_packets_next(struct ct_binfile_packets *packets, struct ct_sources *sources);
/* The file ended inside the present packet: true when more of it is there by now, as when somebody
 * is writing it. */
bool ct_binfile_packets_grow(struct ct_binfile_packets *packets, struct ct_sources *sources);
/* Nothing can be read at `at`: tells so, and goes on with the next packet that can be, behind the
 * beginning of the present one. */
void ct_binfile_packets_skip(struct ct_binfile_packets *packets, struct ct_sources *sources,
			     uint64_t at, const char *message);

#endif
