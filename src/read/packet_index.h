/*
 * read/packet_index.h - finds the position of a time in a stream file from packet heads alone.
 *
 *     struct ct_packet_place place;
 *     if (ct_packet_index_find(fd, info.uuid, since_ns, &place) == CTRACE_OK)
 *             reading goes on at place.offset
 *
 * Called by binfile_packets.c before it reads the first packet, on one thread; keeps nothing
 * between calls, and does not move the descriptor's own offset.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_PACKET_INDEX_H
#define CT_READ_PACKET_INDEX_H

#include "format/format.h"

struct ct_packet_place {
	/* first packet that may have an event at since_ns or later; the file's size: none */
	uint64_t offset;
	bool has_before;              /* the packet that ends at offset is known */
	struct ct_packet_head before; /* so that losses between the two can be reported */
	uint32_t reads;               /* of the file, each of at most 64 KiB */
};

/* Finds the first packet of the trace with that uuid whose end_ns is at or after since_ns, by
 * bisection: the packets of a stream are in time order.  If the file is damaged between the last
 * packet before the time and the first one after it, offset is where the damage begins.  So no
 * readable event is skipped, and the caller finds and reports the damage as usual.  Returns
 * OS_ERROR, and sets offset to 0, when the file cannot be read. */
enum ctrace_status ct_packet_index_find(int fd, const uint8_t uuid[16], uint64_t since_ns,
					struct ct_packet_place *out) CT_MUST_USE;

/* Finds the first and the last packet of the trace in the file, from their heads alone; *out_reads
 * as above.  Returns DAMAGED when the file does not begin with a packet, or packets do not follow
 * one another to its end, as while one is being written; NOT_FOUND when it is empty. */
enum ctrace_status ct_packet_index_ends(int fd, const uint8_t uuid[16],
					struct ct_packet_head *out_first,
					struct ct_packet_head *out_last,
					uint32_t *out_reads) CT_MUST_USE;

#endif
