/*
 * live_ring.c - follows one ring of a live process, which neither helps nor notices.
 *
 * Called by source_live.c, on one thread.  What a ring's consumer has consumed stays in its memory until the producer comes round, so
 * a follower that looks often enough sees everything.  It reads the head, then the bytes, then the head again: the second tells which of
 * the bytes the producer cannot have touched meanwhile.  Everything is read with pread and may be hostile or torn; what is not surely
 * whole is never given, but counted.
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
#define STUCK_LIMIT 4u /* looks; a head that was read while it was being written is whole at the next */

/* ------------------------------------------------------------------------------------------------------------
 * The head
 */

static bool is_sane(const struct ct_ring_head *head, uint32_t index)
{
	uint64_t capacity = head->capacity;

	if (head->magic != CT_RING_MAGIC || head->version != CT_RING_VERSION || head->index != index)
		return false;
	if (capacity < CT_RING_MIN || capacity > CT_RING_MAX || (capacity & (capacity - 1)) != 0)
		return false;
	if (((head->head | head->tail | head->oldest) & 7) != 0 || head->tail > head->head || head->oldest > head->head)
		return false;
	if (head->head - (head->overflow == CT_OVERFLOW_OVERWRITE ? head->oldest : head->tail) > capacity)
		return false;
	return head->head <= UINT64_MAX / 2; /* or sums of positions and sizes might overflow */
}

static enum ctrace_status read_head(int fd, uint32_t index, struct ct_ring_head *out)
{
	size_t got = 0;
	enum ctrace_status status = ct_os_read_at(fd, out, HEAD_BYTES, 0, &got);

	if (status != CTRACE_OK)
		return status;
	return got == HEAD_BYTES && is_sane(out, index) ? CTRACE_OK : CTRACE_DAMAGED;
}

static bool read_again(const struct ct_live_ring *ring, struct ct_ring_head *out)
{
	return read_head(ring->fd, ring->index, out) == CTRACE_OK && out->capacity == ring->capacity &&
	       (out->overflow == CT_OVERFLOW_OVERWRITE) == ring->is_overwrite;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The last place at or before the head where a round of the ring begins; a record always begins there. */
static uint64_t round_start(const struct ct_ring_head *head)
{
	return head->head & ~(head->capacity - 1);
}

/*
 * From here on everything is as it was written, if it was read before this head was.  The producer writes nothing past oldest, or
 * tail, + capacity; nor past the window that it has opened at or before head, which has CT_RING_WINDOW bytes at most and does not
 * reach into the next round.
 */
static uint64_t safe_from(const struct ct_ring_head *head)
{
	uint64_t written;

	if (head->overflow == CT_OVERFLOW_OVERWRITE)
		return head->oldest;
	written = least(head->head + CT_RING_WINDOW, round_start(head) + head->capacity);
	return least(head->tail, written > head->capacity ? written - head->capacity : 0);
}

/* The first place that is safe and where a record surely begins. */
static uint64_t first_record(const struct ct_ring_head *head)
{
	return head->overflow == CT_OVERFLOW_OVERWRITE ? head->oldest : least(head->tail, round_start(head));
}

static uint64_t lost_in(const struct ct_ring_head *head)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		sum += head->lost[i];
	return sum;
}

/* ------------------------------------------------------------------------------------------------------------
 * Opening
 */

enum ctrace_status ct_live_ring_open(struct ct_live_ring *ring, int folder_fd, uint32_t index, bool from_start)
{
	enum ctrace_status status = CTRACE_DAMAGED;
	struct ct_ring_head head;
	struct stat info;
	char name[32];
	int fd;

	(void)snprintf(name, sizeof name, "ring.%u", index);
	fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? CTRACE_NOT_FOUND : errno == EACCES || errno == ELOOP ? CTRACE_DENIED : CTRACE_OS_ERROR;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
		for (unsigned tries = 0; tries < STUCK_LIMIT && status == CTRACE_DAMAGED; tries++)
			status = read_head(fd, index, &head);
	if (status == CTRACE_OK && head.is_flight != 0)
		status = CTRACE_UNSUPPORTED;
	if (status != CTRACE_OK) {
		ct_os_close(&fd);
		return status;
	}
	*ring = (struct ct_live_ring){ .fd = fd,
				       .index = index,
				       .is_overwrite = head.overflow == CT_OVERFLOW_OVERWRITE,
				       .capacity = head.capacity,
				       .position = from_start ? first_record(&head) : head.head,
				       .lost_at_first = from_start ? 0 : lost_in(&head) };
	ct_buf_init(&ring->waiting);
	return CTRACE_OK;
}

void ct_live_ring_close(struct ct_live_ring *ring)
{
	ct_os_close(&ring->fd);
	ct_buf_fini(&ring->waiting);
}

/* ------------------------------------------------------------------------------------------------------------
 * Looking
 */

static bool keep(struct ct_live_ring *ring, struct ct_live_look *look, const struct ct_record *record, const unsigned char *bytes)
{
	struct ct_live_stamp stamp = { .time_ns = ct_sync_wall_ns(look->sync, record->head.ticks), .arrival_ns = look->now_ns };

	if (!ct_buf_reserve(&ring->waiting, sizeof stamp + record->size))
		return false;
	ct_buf_add(&ring->waiting, &stamp, sizeof stamp);
	ct_buf_add(&ring->waiting, bytes, record->size);
	look->room -= least(look->room, sizeof stamp + record->size);
	return true;
}

/* Keeps the whole records that begin at the chunk's start, and moves behind them. */
static bool keep_records(struct ct_live_ring *ring, struct ct_live_look *look, size_t size)
{
	uint64_t start = ring->position;
	struct ct_record record;
	size_t at = 0;

	while (at < size && look->room != 0 && ct_record_decode(look->chunk + at, size - at, &record) == CTRACE_OK) {
		if (!record.is_padding && !keep(ring, look, &record, look->chunk + at))
			look->totals->missed_bytes += record.size;
		at += record.size;
	}
	ring->position += at;
	return ring->position != start;
}

/* Is there nothing between our place and the end of the round?  What looks like it is hardly anything else. */
static bool is_padding_up_to(const struct ct_live_ring *ring, uint64_t next)
{
	uint64_t offset = ring->position & (ring->capacity - 1);
	struct {
		uint16_t units, count;
		uint32_t component;
	} record = { 0 };
	size_t got = 0;

	if (next - ring->position != ring->capacity - offset)
		return false;
	return ct_os_read_at(ring->fd, &record, sizeof record, CT_RING_HEAD_SIZE + offset, &got) == CTRACE_OK && got == sizeof record &&
	       record.component == CT_RECORD_PADDING && record.units * 8u == next - ring->position;
}

/* The producer has come round; what is whole begins further on. */
static void skip_overwritten(struct ct_live_ring *ring, const struct ct_live_look *look, const struct ct_ring_head *head)
{
	uint64_t next = first_record(head); /* which is not before what is safe */

	if (!is_padding_up_to(ring, next))
		look->totals->missed_bytes += next - ring->position;
	ring->position = next;
}

/* Nothing whole is at our place: perhaps the head was read while it was written.  If not, what follows cannot be found: sizes chain. */
static void note_stuck(struct ct_live_ring *ring, const struct ct_live_look *look, const struct ct_ring_head *head)
{
	if (++ring->stuck < STUCK_LIMIT)
		return;
	look->totals->damaged_bytes += head->head > ring->position ? head->head - ring->position : 0;
	ring->position = head->head;
	ring->stuck = 0;
}

/* Reads up to the end of the round or the chunk; false when there is nothing more to be had at this look. */
static bool look_once(struct ct_live_ring *ring, struct ct_live_look *look, struct ct_ring_head *head)
{
	uint64_t offset = ring->position & (ring->capacity - 1);
	size_t size = (size_t)least(least(head->head - ring->position, ring->capacity - offset), CT_LIVE_CHUNK);
	uint64_t before = head->head;
	size_t got = 0;

	if (ct_os_read_at(ring->fd, look->chunk, size, CT_RING_HEAD_SIZE + offset, &got) != CTRACE_OK || got != size)
		return false;
	/* The bytes first, then the head: the producer moves its words before it writes where they did not allow it. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!read_again(ring, head) || head->head < before)
		return false;
	if (ring->position < safe_from(head)) {
		skip_overwritten(ring, look, head);
		return true;
	}
	if (!keep_records(ring, look, size) && look->room != 0) {
		note_stuck(ring, look, head);
		return false;
	}
	ring->stuck = 0;
	return true;
}

bool ct_live_ring_look(struct ct_live_ring *ring, struct ct_live_look *look)
{
	uint64_t start = ring->position;
	struct ct_ring_head head;

	if (!read_again(ring, &head))
		return false;
	ring->lost = lost_in(&head) - ring->lost_at_first;
	if (head.head < ring->position) {
		note_stuck(ring, look, &head);
		return false;
	}
	/* Of what may be gone nothing need be read. */
	if (ring->position < safe_from(&head))
		skip_overwritten(ring, look, &head);
	for (unsigned i = 0; i < CHUNKS_A_LOOK && look->room != 0 && ring->position < head.head && look_once(ring, look, &head); i++)
		;
	return ring->position != start;
}

/* ------------------------------------------------------------------------------------------------------------
 * What waits
 */

bool ct_live_ring_first(const struct ct_live_ring *ring, struct ct_live_stamp *out_stamp, struct ct_record *out_record)
{
	const char *at = ring->waiting.data + ring->first;

	if (ring->first == ring->waiting.size)
		return false;
	memcpy(out_stamp, at, sizeof *out_stamp);
	/* It was whole when it came. */
	return ct_record_decode((const unsigned char *)at + sizeof *out_stamp, ring->waiting.size - ring->first - sizeof *out_stamp,
				out_record) == CTRACE_OK;
}

void ct_live_ring_pop(struct ct_live_ring *ring)
{
	struct ct_live_stamp stamp;
	struct ct_record record;

	if (ct_live_ring_first(ring, &stamp, &record))
		ring->first += sizeof stamp + record.size;
	if (ring->first == ring->waiting.size) {
		ct_buf_clear(&ring->waiting);
		ring->first = 0;
	} else if (ring->first > CT_LIVE_CHUNK && ring->first > ring->waiting.size / 2) {
		memmove(ring->waiting.data, ring->waiting.data + ring->first, ring->waiting.size - ring->first);
		ring->waiting.size -= ring->first;
		ring->first = 0;
	}
}
