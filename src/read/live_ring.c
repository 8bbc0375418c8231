/*
 * live_ring.c - follows one ring of a live process, which neither helps nor notices it.
 *
 * Called by source_live.c, on one thread.  Consumed bytes stay in the ring until the producer
 * wraps, so a follower that looks often enough sees every event.  It reads the head, then the
 * bytes, then the head again: the second head bounds the bytes that the producer may have
 * overwritten meanwhile.  Everything is read with pread and may be hostile or torn.  Bytes that may
 * be torn are counted, not returned.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEAD_BYTES offsetof(struct ct_ring_head, cursor)
#define CHUNKS_A_LOOK 4u
/* looks; a torn head is whole at the next look */
#define STUCK_LIMIT 4u

/* -----------------------------------------------------------------------------------------------
 * The head
 */

static bool head_is_sane(const struct ct_ring_head *head, uint32_t index)
{
	uint64_t capacity = head->capacity;

	if (head->magic != CT_RING_MAGIC || head->version != CT_RING_VERSION ||
	    head->index != index)
		return false;
	if (capacity < CT_RING_MIN || capacity > CT_RING_MAX || (capacity & (capacity - 1)) != 0)
		return false;
	if (head->tail > head->head || head->oldest > head->head)
		return false;
	if (head->head - (head->overflow == CT_OVERFLOW_OVERWRITE ? head->oldest : head->tail) >
	    capacity)
		return false;
	return head->head <= UINT64_MAX / 2; /* or sums of positions and sizes overflow */
}

static enum ctrace_status head_read(int fd, uint32_t index, struct ct_ring_head *out)
{
	size_t got = 0;
	enum ctrace_status status = ct_os_read_at(fd, out, HEAD_BYTES, 0, &got);

	if (status != CTRACE_OK)
		return status;
	return got == HEAD_BYTES && head_is_sane(out, index) ? CTRACE_OK : CTRACE_DAMAGED;
}

static bool head_read_again(const struct ct_live_ring *ring, struct ct_ring_head *out)
{
	return head_read(ring->fd, ring->index, out) == CTRACE_OK &&
	       out->capacity == ring->capacity &&
	       (out->overflow == CT_OVERFLOW_OVERWRITE) == ring->is_overwrite;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Returns the position from which on all bytes are intact if they were read before this head.  The
 * producer never writes past oldest, or tail, + capacity, nor past the end of its window, which it
 * publishes in the head before it writes there.
 */
static uint64_t head_safe_position(const struct ct_ring_head *head)
{
	uint64_t written = head->window > head->head ? head->window : head->head;

	if (head->overflow == CT_OVERFLOW_OVERWRITE)
		return head->oldest;
	return least_of(head->tail, written > head->capacity ? written - head->capacity : 0);
}

/* Returns the first safe position where an event begins: a window's mark, the tail, or the
 * oldest. */
static uint64_t head_first_event(const struct ct_ring_head *head, struct ct_event_state *out_state)
{
	uint64_t safe = head_safe_position(head), first = head->tail;

	*out_state = head->overflow == CT_OVERFLOW_OVERWRITE ? head->oldest_state
							     : ct_ring_tail_state(head);
	if (head->overflow == CT_OVERFLOW_OVERWRITE)
		return head->oldest;
	for (unsigned i = 0; i < CT_RING_ANCHORS && i < head->anchor_count; i++)
		if (head->anchors[i] >= safe && head->anchors[i] < first)
			first = head->anchors[i];
	return first;
}

/* Returns the decoder state at the head, from the mark of the last window. */
static struct ct_event_state head_state(int fd, const struct ct_ring_head *head)
{
	struct ct_event_state state = ct_ring_tail_state(head);
	const struct ct_class_image none = { 0 };
	unsigned char mark[CT_EVENT_MARK];
	struct ct_event event;
	uint64_t last = 0, end;

	for (unsigned i = 0; i < CT_RING_ANCHORS && i < head->anchor_count; i++)
		if (head->anchors[i] > last && head->anchors[i] <= head->head &&
		    head->head - head->anchors[i] <= head->capacity)
			last = head->anchors[i];
	if (head->head - last >= sizeof mark &&
	    ct_ring_read_data(fd, head->capacity, last, last + sizeof mark, mark, &end) ==
		    CTRACE_OK &&
	    end == last + sizeof mark)
		(void)!ct_event_decode(&none, mark, sizeof mark, &state, &event);
	return state;
}

/* -----------------------------------------------------------------------------------------------
 * Opening
 */

enum ctrace_status ct_live_ring_open(struct ct_live_ring *ring, int directory_fd, uint32_t index,
				     const struct ct_class_image *classes, bool from_start)
{
	enum ctrace_status status = CTRACE_DAMAGED;
	struct ct_ring_head head;
	struct stat info;
	char name[32];
	int fd;

	(void)snprintf(name, sizeof name, "ring.%u", index);
	fd = openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT                     ? CTRACE_NOT_FOUND
		       : errno == EACCES || errno == ELOOP ? CTRACE_DENIED
							   : CTRACE_OS_ERROR;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
		for (unsigned tries = 0; tries < STUCK_LIMIT && status == CTRACE_DAMAGED; tries++)
			status = head_read(fd, index, &head);
	if (status == CTRACE_OK && head.kept == CT_KEPT_FLIGHT)
		status = CTRACE_UNSUPPORTED;
	if (status != CTRACE_OK) {
		ct_os_close(&fd);
		return status;
	}
	*ring = (struct ct_live_ring){ .fd = fd,
				       .index = index,
				       .is_overwrite = head.overflow == CT_OVERFLOW_OVERWRITE,
				       .capacity = head.capacity,
				       .classes = classes,
				       .chunk = CT_LIVE_CHUNK,
				       .position = head.head,
				       .state = head_state(fd, &head),
				       .lost_at_first = from_start ? 0 : ct_loss_total(head.lost) };
	if (from_start)
		ring->position = head_first_event(&head, &ring->state);
	ct_buf_init(&ring->waiting);
	return CTRACE_OK;
}

void ct_live_ring_close(struct ct_live_ring *ring)
{
	ct_os_close(&ring->fd);
	ct_buf_fini(&ring->waiting);
}

/* -----------------------------------------------------------------------------------------------
 * Looking
 */

static bool event_keep(struct ct_live_ring *ring, struct ct_live_look *look,
		       const struct ct_event *event, const unsigned char *bytes)
{
	struct ct_live_stamp stamp = { .time_ns = ct_sync_wall_ns(look->sync, event->ticks),
				       .arrival_ns = look->now_ns,
				       .state = ring->state,
				       .size = event->size };

	if (!ct_buf_reserve(&ring->waiting, sizeof stamp + event->size))
		return false;
	ct_buf_add(&ring->waiting, &stamp, sizeof stamp);
	ct_buf_add(&ring->waiting, bytes, event->size);
	look->room -= least_of(look->room, sizeof stamp + event->size);
	return true;
}

/* Keeps the whole events from the chunk's start on, and moves behind them. */
static bool chunk_keep_events(struct ct_live_ring *ring, struct ct_live_look *look, size_t size,
			      bool *out_is_cut)
{
	const unsigned char *chunk = (const unsigned char *)look->chunk.data;
	struct ct_event_state state = ring->state;
	uint64_t start = ring->position;
	struct ct_event event;
	size_t at = 0;

	*out_is_cut = false;
	while (at < size && look->room != 0) {
		enum ctrace_status status =
			ct_event_decode(ring->classes, chunk + at, size - at, &state, &event);

		*out_is_cut = status == CTRACE_BUFFER_TOO_SMALL;
		if (status != CTRACE_OK)
			break;
		if (!event.is_mark && !event_keep(ring, look, &event, chunk + at))
			look->totals->missed_bytes += event.size;
		ring->state = state;
		at += event.size;
	}
	ring->position += at;
	return ring->position != start;
}

/* The producer has wrapped: skips to the first intact event. */
static void ring_skip_overwritten(struct ct_live_ring *ring, const struct ct_live_look *look,
				  const struct ct_ring_head *head)
{
	uint64_t next = head_first_event(head, &ring->state); /* never before the safe position */

	look->totals->missed_bytes += next - ring->position;
	ring->position = next;
}

/* Counts a look without a whole event, since the head may have been torn.  After STUCK_LIMIT looks
 * skips to the head: each position follows from the event before, so the rest cannot be found. */
static void ring_note_stuck(struct ct_live_ring *ring, const struct ct_live_look *look,
			    const struct ct_ring_head *head)
{
	if (++ring->stuck < STUCK_LIMIT)
		return;
	look->totals->damaged_bytes +=
		head->head > ring->position ? head->head - ring->position : 0;
	ring->position = head->head;
	ring->state = head_state(ring->fd, head);
	ring->stuck = 0;
}

/* Reads up to the head, a chunk at most.  Returns false when this look can read no more. */
static bool ring_look_once(struct ct_live_ring *ring, struct ct_live_look *look,
			   struct ct_ring_head *head)
{
	uint64_t waits = head->head - ring->position;
	size_t size = (size_t)least_of(waits, ring->chunk);
	uint64_t before = head->head, end;
	bool is_cut;

	ct_buf_clear(&look->chunk);
	if (!ct_buf_reserve(&look->chunk, size) ||
	    ct_ring_read_data(ring->fd, ring->capacity, ring->position, ring->position + size,
			      (unsigned char *)look->chunk.data, &end) != CTRACE_OK ||
	    end != ring->position + size)
		return false;
	/* The bytes are read before the head: the producer moves its words before it writes beyond
	 * them. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!head_read_again(ring, head) || head->head < before)
		return false;
	if (ring->position < head_safe_position(head)) {
		ring_skip_overwritten(ring, look, head);
		return true;
	}
	if (!chunk_keep_events(ring, look, size, &is_cut) && look->room != 0) {
		if (!is_cut || size == waits) {
			ring_note_stuck(ring, look, head);
			return false;
		}
		ring->chunk *= 2; /* the event is longer than the chunk */
		return true;
	}
	ring->stuck = 0;
	return true;
}

bool ct_live_ring_look(struct ct_live_ring *ring, struct ct_live_look *look)
{
	uint64_t start = ring->position;
	struct ct_ring_head head;

	if (!head_read_again(ring, &head))
		return false;
	ring->lost = ct_loss_total(head.lost) - ring->lost_at_first;
	if (head.head < ring->position) {
		ring_note_stuck(ring, look, &head);
		return false;
	}
	/* Bytes that may be overwritten need not be read. */
	if (ring->position < head_safe_position(&head))
		ring_skip_overwritten(ring, look, &head);
	for (unsigned i = 0; i < CHUNKS_A_LOOK && look->room != 0 && ring->position < head.head &&
			     ring_look_once(ring, look, &head);
	     i++)
		;
	return ring->position != start;
}

/* -----------------------------------------------------------------------------------------------
 * Waiting events
 */

bool ct_live_ring_first(const struct ct_live_ring *ring, struct ct_live_stamp *out_stamp,
			struct ct_event *out_event)
{
	const char *at = ring->waiting.data + ring->first;

	if (ring->first == ring->waiting.size)
		return false;
	memcpy(out_stamp, at, sizeof *out_stamp);
	/* The event was whole when it was kept. */
	return ct_event_decode(
		       ring->classes, (const unsigned char *)at + sizeof *out_stamp,
		       out_stamp->size,
		       &(struct ct_event_state){ out_stamp->state.ticks, out_stamp->state.tid, 0 },
		       out_event) == CTRACE_OK;
}

void ct_live_ring_pop(struct ct_live_ring *ring)
{
	struct ct_live_stamp stamp;

	if (ring->first < ring->waiting.size) {
		memcpy(&stamp, ring->waiting.data + ring->first, sizeof stamp);
		ring->first += sizeof stamp + stamp.size;
	}
	if (ring->first == ring->waiting.size) {
		ct_buf_clear(&ring->waiting);
		ring->first = 0;
	} else if (ring->first > CT_LIVE_CHUNK && ring->first > ring->waiting.size / 2) {
		memmove(ring->waiting.data, ring->waiting.data + ring->first,
			ring->waiting.size - ring->first);
		ring->waiting.size -= ring->first;
		ring->first = 0;
	}
}
