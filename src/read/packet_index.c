/*
 * packet_index.c - finds the position of a time in a stream file.
 *
 * Called by binfile_packets.c, on one thread, with files that may be hostile.  The search bisects:
 * it guesses a position in the middle, finds the next head behind it, and its times select a half.
 * It hops through the last stretch from packet to packet.  A packet's data may contain whole
 * packets, even of the same trace.  So a head must also fit between its neighbours in number and
 * time, and be followed by others.  When that does not decide, or takes too many reads, the caller
 * reads from the last position that is known to be before the time.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/packet_index.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW ((size_t)64 << 10)
#define HEAD_READ ((size_t)512)     /* bytes to read for a head alone */
#define SMALL ((size_t)4 << 10)     /* of smaller packets, one read covers many */
#define STRETCH ((uint64_t)1 << 18) /* bytes to hop through */
/* bytes; a larger packet holds one large event, which is rare */
#define ORDINARY ((uint64_t)1 << 20)
#define PARTS 8u /* positions to try when others are damaged */
#define READS_TO_BISECT 4096u
#define READS_TO_HOP 8192u

struct search {
	int fd;
	const uint8_t *uuid;
	uint64_t since_ns;
	uint64_t size; /* of the file */
	unsigned char *window;
	uint64_t window_at;
	size_t window_size;
	uint32_t reads;
	enum ctrace_status status;
	/* Every packet that begins before `low` is before the time.  `before` ends at `low`, if
	 * known. */
	uint64_t low;
	bool has_before;
	struct ct_packet_head before;
	/* The packet at `high` is not before the time; at the end of the file there is none. */
	uint64_t high;
	bool has_after;
	struct ct_packet_head after;
};

/* Returns at least `size` bytes at `at`, or all that the file has; `ahead`: how many to read if the
 * window lacks them. */
static const unsigned char *search_look(struct search *search, uint64_t at, size_t size,
					size_t ahead, size_t *out_available)
{
	*out_available = 0;
	if (at >= search->size || search->status != CTRACE_OK)
		return search->window;
	if (size > search->size - at)
		size = (size_t)(search->size - at);
	if (at < search->window_at || at - search->window_at > search->window_size ||
	    size > search->window_size - (size_t)(at - search->window_at)) {
		search->window_size = 0;
		search->window_at = at;
		search->status =
			ct_os_read_at(search->fd, search->window, ahead, at, &search->window_size);
		search->reads++;
		if (search->status != CTRACE_OK)
			return search->window;
	}
	*out_available = search->window_size - (size_t)(at - search->window_at);
	return search->window + (at - search->window_at);
}

static bool search_head_at(struct search *search, uint64_t at, size_t ahead,
			   struct ct_packet_head *out)
{
	size_t available;
	const unsigned char *bytes = search_look(search, at, CT_PACKET_HEAD, ahead, &available);

	return ct_packet_decode_head(bytes, available, out) == CTRACE_OK &&
	       memcmp(out->uuid, search->uuid, sizeof out->uuid) == 0;
}

/* Does the packet fit between the two known ones? */
static bool head_fits(const struct search *search, const struct ct_packet_head *head)
{
	const struct ct_packet_head *before = &search->before, *after = &search->after;

	if (search->has_before &&
	    (head->stream_instance != before->stream_instance ||
	     head->sequence <= before->sequence || head->begin_ns < before->end_ns))
		return false;
	return !search->has_after ||
	       (head->stream_instance == after->stream_instance &&
		head->sequence < after->sequence && head->end_ns <= after->begin_ns);
}

/* Is `head` the packet after `before`?  Numbers are consecutive unless packets are missing. */
static bool head_follows(const struct ct_packet_head *head, const struct ct_packet_head *before)
{
	return head->stream_instance == before->stream_instance &&
	       head->sequence == before->sequence + 1 && head->begin_ns >= before->end_ns;
}

/* Returns the bytes to read for the head of the packet behind this one. */
static size_t head_ahead(const struct ct_packet_head *head)
{
	return head->packet_bits / 8 < SMALL ? WINDOW : HEAD_READ;
}

/* Do packets follow from here for longer than any item?  Then they are not data of another packet:
 * the length before each item breaks a chain that a program has traced in pieces. */
static bool search_is_chain(struct search *search, uint64_t start,
			    const struct ct_packet_head *first)
{
	struct ct_packet_head head = *first;
	uint64_t at = start;

	while (at - start < ORDINARY) {
		struct ct_packet_head next;

		at += head.packet_bits / 8;
		if (!search_head_at(search, at, head_ahead(&head), &next) ||
		    !head_follows(&next, &head))
			return false;
		head = next;
	}
	return true;
}

/* Is it a packet of the trace, and not the data of another packet?  A packet before the time needs
 * proof, since a false one would skip wanted events.  A false packet after the time only costs
 * reads. */
static bool search_is_packet(struct search *search, uint64_t at, const struct ct_packet_head *head)
{
	struct ct_packet_head next;

	if (!head_fits(search, head))
		return false;
	if (head->end_ns < search->since_ns)
		return search_is_chain(search, at, head);
	return at + head->packet_bits / 8 == search->size ||
	       (search_head_at(search, at + head->packet_bits / 8, HEAD_READ, &next) &&
		head_follows(&next, head));
}

/* Moves *at to the next head of this trace before `end`.  Returns false when there is none, or when
 * the search would take more than `reads` reads in all. */
static bool search_find_head(struct search *search, uint64_t *at, uint64_t end, uint32_t reads,
			     struct ct_packet_head *out)
{
	while (*at < end && search->status == CTRACE_OK && search->reads < reads) {
		size_t available, found;
		const unsigned char *bytes =
			search_look(search, *at, CT_PACKET_HEAD, WINDOW, &available);

		if (available < CT_PACKET_HEAD)
			return false;
		found = ct_packet_find(bytes, available, 0);
		if (found == available) {
			*at += available - (CT_PACKET_HEAD - 1);
			continue;
		}
		*at += found;
		if (*at < end && search_head_at(search, *at, HEAD_READ, out))
			return true;
		++*at;
	}
	return false;
}

/* Finds the first packet at or after `from`, but not behind a large packet: those are hopped
 * over. */
static bool search_find_packet(struct search *search, uint64_t from, uint64_t *out_at,
			       struct ct_packet_head *out_head)
{
	uint64_t end = from + ORDINARY < search->high ? from + ORDINARY : search->high;

	for (*out_at = from; search_find_head(search, out_at, end, READS_TO_BISECT, out_head);
	     ++*out_at)
		if (search_is_packet(search, *out_at, out_head))
			return true;
	return false;
}

/* Tries positions between low and `end`, the middle first.  Returns true when the range has shrunk;
 * *end is then its new end. */
static bool search_narrow(struct search *search, uint64_t *end)
{
	static const unsigned order[PARTS - 1] = { 4, 5, 3, 6, 2, 7, 1 };

	for (size_t i = 0; i < CT_COUNT(order); i++) {
		uint64_t guess = search->low + (*end - search->low) / PARTS * order[i];
		struct ct_packet_head head;
		uint64_t at;

		if (!search_find_packet(search, guess, &at, &head))
			continue;
		if (head.end_ns < search->since_ns) {
			search->low = at + head.packet_bits / 8;
			search->before = head;
			search->has_before = true;
			if (*end < search->low)
				*end = search->low;
		} else {
			search->high = at;
			search->after = head;
			search->has_after = true;
			*end = guess;
		}
		return true;
	}
	return false;
}

/* Leaves the end of the file, where no chain is long enough, to hopping. */
static void search_bisect(struct search *search)
{
	uint64_t end = search->size > ORDINARY ? search->size - ORDINARY : 0;

	while (end > search->low && end - search->low > STRETCH &&
	       search->reads < READS_TO_BISECT && search->status == CTRACE_OK)
		if (!search_narrow(search, &end))
			break;
}

/* Moves past the packet at low if it is before the time. */
static bool search_hop(struct search *search)
{
	size_t ahead = search->has_before ? head_ahead(&search->before) : HEAD_READ;
	struct ct_packet_head head;

	if (search->low >= search->high || !search_head_at(search, search->low, ahead, &head) ||
	    head.end_ns >= search->since_ns || head.packet_bits / 8 > search->size - search->low ||
	    (search->has_before && head.begin_ns < search->before.end_ns))
		return false;
	search->low += head.packet_bits / 8;
	search->before = head;
	search->has_before = true;
	return true;
}

enum ctrace_status ct_packet_index_find(int fd, const uint8_t uuid[16], uint64_t since_ns,
					struct ct_packet_place *out)
{
	struct search search = { .fd = fd, .uuid = uuid, .since_ns = since_ns };
	struct stat info;

	*out = (struct ct_packet_place){ 0 };
	if (fstat(fd, &info) != 0)
		return CTRACE_OS_ERROR;
	search.size = search.high = (uint64_t)info.st_size;
	search.window = malloc(WINDOW);
	if (search.window == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	/* The first packet sets a bound: an earlier head is not of this stream. */
	(void)search_hop(&search);
	search_bisect(&search);
	while (search.reads < READS_TO_HOP && search_hop(&search))
		;
	free(search.window);
	if (search.status != CTRACE_OK)
		return search.status;
	*out = (struct ct_packet_place){ .offset = search.low,
					 .has_before = search.has_before,
					 .before = search.before,
					 .reads = search.reads };
	return CTRACE_OK;
}

/* Do packets follow one another from here to the end of the file?  Returns the last of them. */
static bool search_reaches_end(struct search *search, uint64_t at, struct ct_packet_head *out_last)
{
	struct ct_packet_head head;
	bool is_first = true;

	while (at < search->size && search->reads < READS_TO_HOP) {
		if (!search_head_at(search, at, is_first ? HEAD_READ : head_ahead(out_last),
				    &head) ||
		    (!is_first && !head_follows(&head, out_last)))
			return false;
		is_first = false;
		*out_last = head;
		at += head.packet_bits / 8;
	}
	return at == search->size;
}

/* Finds the last packet if it begins in the last `size` bytes. */
static bool search_find_last_within(struct search *search, uint64_t size,
				    struct ct_packet_head *out_last)
{
	struct ct_packet_head head;

	for (uint64_t at = search->size > size ? search->size - size : 0;
	     search_find_head(search, &at, search->size, READS_TO_HOP, &head); at++)
		if (search_reaches_end(search, at, out_last))
			return true;
	return false;
}

/* Most last packets are no larger than a window. */
static bool search_find_last(struct search *search, struct ct_packet_head *out_last)
{
	return search_find_last_within(search, WINDOW, out_last) ||
	       search_find_last_within(search, ORDINARY, out_last) ||
	       search_find_last_within(search, CT_PACKET_MAX, out_last);
}

enum ctrace_status ct_packet_index_ends(int fd, const uint8_t uuid[16],
					struct ct_packet_head *out_first,
					struct ct_packet_head *out_last, uint32_t *out_reads)
{
	struct search search = { .fd = fd, .uuid = uuid };
	struct stat info;
	bool found;

	*out_reads = 0;
	if (fstat(fd, &info) != 0)
		return CTRACE_OS_ERROR;
	search.size = search.high = (uint64_t)info.st_size;
	if (search.size == 0)
		return CTRACE_NOT_FOUND;
	search.window = malloc(WINDOW);
	if (search.window == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	found = search_head_at(&search, 0, HEAD_READ, out_first) &&
		search_find_last(&search, out_last) &&
		out_last->stream_instance == out_first->stream_instance &&
		out_last->begin_ns >= out_first->begin_ns;
	free(search.window);
	*out_reads = search.reads;
	return search.status != CTRACE_OK ? search.status : found ? CTRACE_OK : CTRACE_DAMAGED;
}
