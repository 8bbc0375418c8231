/*
 * read/packet_index.h - where in a stream file a time is, found from packet heads alone.
 *
 *     struct ct_packet_place place;
 *     if (ct_packet_index_find(fd, info.uuid, since_ns, &place) == CTRACE_OK)   reading goes on at
 * place.offset
 *
 * Called by binfile_packets.c before it reads the first packet, on one thread; keeps nothing
 * between calls, and does not move the descriptor's own offset.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PACKET_INDEX_H
#define CT_PACKET_INDEX_H

#include "format/format.h"

struct ct_packet_place {
	/* of the first packet that may have an event at since_ns or later; the file's size: none
	 * has */
	uint64_t offset;
	bool has_before;              /* the packet that ends at offset is known: */
	struct ct_packet_head before; /* so what was lost between the two can be told */
	uint32_t reads;               /* of the file, each of at most 64 KiB */
};

/* The first packet of the trace with that uuid whose end_ns is at or after since_ns.  The packets
 * of a stream are in time order, so this bisects.  Where the file is damaged between the last
 * packet that is before the time and the first that is not, offset is where the damage begins:
 * nothing that could be read is passed over, and the caller finds and tells of the damage as ever.
 * OS_ERROR: the file cannot be read; offset is 0 then. */
enum ctrace_status ct_packet_index_find(int fd, const uint8_t uuid[16], uint64_t since_ns,
					struct ct_packet_place *out) CT_MUST_USE;

/* The first and the last packet of the trace in the file, from their heads alone; *out_reads as
 * above.  DAMAGED: the file does not begin with one, or packets do not follow one another to its
 * end, as while one is being written.  NOT_FOUND: it is empty. */
enum ctrace_status ct_packet_index_ends(int fd, const uint8_t uuid[16],
					struct ct_packet_head *out_first,
					struct ct_packet_head *out_last,
					uint32_t *out_reads) CT_MUST_USE;

#endif
