/*
 * packet_index.c - where in a stream file a time is.
 *
 * Called by binfile_packets.c, on one thread, with files that may be hostile.  A place in the
 * middle is guessed, the next head behind it is looked for, and its times say which half it is in;
 * the last stretch is hopped through from packet to packet.  A packet's bytes may hold whole
 * packets as data, of the same trace even: so what is found must also stand between its neighbours
 * in number and in time, and be followed by others.  What cannot be decided by that, or not with so
 * many reads, is left to the caller, who reads from the last place that is known to be before the
 * time.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/packet_index.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW ((size_t)64 << 10)
#define GLANCE ((size_t)512)        /* read where only a head is wanted */
#define SMALL ((size_t)4 << 10)     /* where packets are smaller, what is read for one has many */
#define STRETCH ((uint64_t)1 << 18) /* so much is hopped through */
/* bytes: a packet that has more is that of one large event, and there are few of them */
#define ORDINARY ((uint64_t)1 << 20)
#define PARTS 8u /* places that are tried, when there is damage at the others */
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
	/* Every packet that begins before `low` is before the time; the one that ends there, when
	 * it is known: */
	uint64_t low;
	bool has_before;
	struct ct_packet_head before;
	/* The packet at `high` is not before it; at the file's end there is none. */
	uint64_t high;
	bool has_after;
	struct ct_packet_head after;
};

/* At least `size` bytes at `at`, or all that the file has; `ahead`: how many to read when they have
 * to be read. */
static const unsigned char *look(struct search *search, uint64_t at, size_t size, size_t ahead,
				 size_t *out_available)
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

static bool head_at(struct search *search, uint64_t at, size_t ahead, struct ct_packet_head *out)
{
	size_t available;
	const unsigned char *bytes = look(search, at, CT_PACKET_HEAD, ahead, &available);

	return ct_packet_decode_head(bytes, available, out) == CTRACE_OK &&
	       memcmp(out->uuid, search->uuid, sizeof out->uuid) == 0;
}

/* May it come between the two that are known? */
static bool fits(const struct search *search, const struct ct_packet_head *head)
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

/* Is `head` the next packet behind the one before it?  Numbers run on, but where something is
 * missing. */
static bool follows(const struct ct_packet_head *head, const struct ct_packet_head *before)
{
	return head->stream_instance == before->stream_instance &&
	       head->sequence == before->sequence + 1 && head->begin_ns >= before->end_ns;
}

/* So much is read for the head of the packet behind this one. */
static size_t ahead_of(const struct ct_packet_head *head)
{
	return head->packet_bits / 8 < SMALL ? WINDOW : GLANCE;
}

/* Do packets follow from here for longer than any item is?  Then they are not another packet's
 * data: the length before each item breaks a chain that somebody has traced in pieces. */
static bool is_chain(struct search *search, uint64_t start, const struct ct_packet_head *first)
{
	struct ct_packet_head head = *first;
	uint64_t at = start;

	while (at - start < ORDINARY) {
		struct ct_packet_head next;

		at += head.packet_bits / 8;
		if (!head_at(search, at, ahead_of(&head), &next) || !follows(&next, &head))
			return false;
		head = next;
	}
	return true;
}

/* A packet of ours, and not another one's data?  That it is before the time is believed only of
 * what certainly is one: otherwise what is wanted could be passed over.  That it is not, only costs
 * time where it is wrong. */
static bool is_packet(struct search *search, uint64_t at, const struct ct_packet_head *head)
{
	struct ct_packet_head next;

	if (!fits(search, head))
		return false;
	if (head->end_ns < search->since_ns)
		return is_chain(search, at, head);
	return at + head->packet_bits / 8 == search->size ||
	       (head_at(search, at + head->packet_bits / 8, GLANCE, &next) && follows(&next, head));
}

/* Moves *at on to the head of a packet of this trace, before `end`.  False: there is none, or it
 * would take more than `reads` reads in all. */
static bool find_head(struct search *search, uint64_t *at, uint64_t end, uint32_t reads,
		      struct ct_packet_head *out)
{
	while (*at < end && search->status == CTRACE_OK && search->reads < reads) {
		size_t available, found;
		const unsigned char *bytes = look(search, *at, CT_PACKET_HEAD, WINDOW, &available);

		if (available < CT_PACKET_HEAD)
			return false;
		found = ct_packet_find(bytes, available, 0);
		if (found == available) {
			*at += available - (CT_PACKET_HEAD - 1);
			continue;
		}
		*at += found;
		if (*at < end && head_at(search, *at, GLANCE, out))
			return true;
		++*at;
	}
	return false;
}

/* The first packet at or after `from`, unless a large one is before it: those are hopped over. */
static bool find_packet(struct search *search, uint64_t from, uint64_t *out_at,
			struct ct_packet_head *out_head)
{
	uint64_t end = from + ORDINARY < search->high ? from + ORDINARY : search->high;

	for (*out_at = from; find_head(search, out_at, end, READS_TO_BISECT, out_head); ++*out_at)
		if (is_packet(search, *out_at, out_head))
			return true;
	return false;
}

/* Tries places between low and `end`, the middle one first.  True: it has become less; *end is
 * where to go on below. */
static bool narrow(struct search *search, uint64_t *end)
{
	static const unsigned order[PARTS - 1] = { 4, 5, 3, 6, 2, 7, 1 };

	for (size_t i = 0; i < CT_COUNT(order); i++) {
		uint64_t guess = search->low + (*end - search->low) / PARTS * order[i];
		struct ct_packet_head head;
		uint64_t at;

		if (!find_packet(search, guess, &at, &head))
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

/* The end of the file, where nothing is a chain, is left to hopping. */
static void bisect(struct search *search)
{
	uint64_t end = search->size > ORDINARY ? search->size - ORDINARY : 0;

	while (end > search->low && end - search->low > STRETCH &&
	       search->reads < READS_TO_BISECT && search->status == CTRACE_OK)
		if (!narrow(search, &end))
			break;
}

/* Goes past the packet at low, when that is before the time. */
static bool hop_once(struct search *search)
{
	size_t ahead = search->has_before ? ahead_of(&search->before) : GLANCE;
	struct ct_packet_head head;

	if (search->low >= search->high || !head_at(search, search->low, ahead, &head) ||
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
	/* The first packet says more than how the rest begins: what is no later than it is none of
	 * the rest. */
	(void)hop_once(&search);
	bisect(&search);
	while (search.reads < READS_TO_HOP && hop_once(&search))
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

/* Do packets follow one another from here to the end of the file?  The last of them. */
static bool reaches_end(struct search *search, uint64_t at, struct ct_packet_head *out_last)
{
	struct ct_packet_head head;
	bool is_first = true;

	while (at < search->size && search->reads < READS_TO_HOP) {
		if (!head_at(search, at, is_first ? GLANCE : ahead_of(out_last), &head) ||
		    (!is_first && !follows(&head, out_last)))
			return false;
		is_first = false;
		*out_last = head;
		at += head.packet_bits / 8;
	}
	return at == search->size;
}

/* The last packet begins in the last `size` bytes. */
static bool find_last_within(struct search *search, uint64_t size, struct ct_packet_head *out_last)
{
	struct ct_packet_head head;

	for (uint64_t at = search->size > size ? search->size - size : 0;
	     find_head(search, &at, search->size, READS_TO_HOP, &head); at++)
		if (reaches_end(search, at, out_last))
			return true;
	return false;
}

/* It is mostly no larger than a window. */
static bool find_last(struct search *search, struct ct_packet_head *out_last)
{
	return find_last_within(search, WINDOW, out_last) ||
	       find_last_within(search, ORDINARY, out_last) ||
	       find_last_within(search, CT_PACKET_MAX, out_last);
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
	found = head_at(&search, 0, GLANCE, out_first) && find_last(&search, out_last) &&
		out_last->stream_instance == out_first->stream_instance &&
		out_last->begin_ns >= out_first->begin_ns;
	free(search.window);
	*out_reads = search.reads;
	return search.status != CTRACE_OK ? search.status : found ? CTRACE_OK : CTRACE_DAMAGED;
}
