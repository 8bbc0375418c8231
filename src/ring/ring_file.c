/*
 * ring_file.c - the file behind a ring: making it, copying somebody else's.
 *
 * ct_ring_create runs on the thread that needs a ring (its first event); it never uses malloc, so also in a signal handler.
 * ct_ring_load and _persist run in recoverers and tools.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOAD_TRIES 5

static void ring_name(char out[32], uint32_t index)
{
	(void)snprintf(out, 32, "ring.%u", index);
}

enum ctrace_status ct_ring_create(struct ct_ring *ring, struct ct_session *session, uint32_t index, size_t capacity)
{
	size_t size = CT_RING_HEAD_SIZE + capacity;
	enum ctrace_status status = CTRACE_OK;
	void *address = NULL;
	char name[32];
	int fd = -1;

	ring_name(name, index);
	if (session->path[0] != '\0') {
		status = ct_os_open_file(ct_session_folder(session), name, O_RDWR | O_CREAT | O_TRUNC, &fd);
		if (status == CTRACE_OK)
			status = ct_os_allocate(fd, 0, size);
	}
	if (status == CTRACE_OK)
		status = ct_os_map(fd, size, fd >= 0, &address);
	if (status != CTRACE_OK) {
		if (fd >= 0)
			(void)unlinkat(ct_session_folder(session), name, 0);
		ct_os_close(&fd);
		return status;
	}
	ct_os_close(&fd);
	/* Every page is touched now, so that no trace call takes the fault. */
	memset(address, 0, size);
	ring->head = address;
	ring->data = (unsigned char *)address + CT_RING_HEAD_SIZE;
	ring->capacity = capacity;
	ring->fd = -1;
	ring->is_mapped = true;
	ring->head->version = CT_RING_VERSION;
	ring->head->index = index;
	ring->head->capacity = capacity;
	__atomic_store_n(&ring->head->magic, CT_RING_MAGIC, __ATOMIC_RELEASE);
	return CTRACE_OK;
}

/* From here on the copy of a head page can be trusted to stay within its ring. */
static enum ctrace_status check_head(struct ct_ring_head *head, uint32_t index)
{
	uint64_t capacity = head->capacity;

	if (head->magic != CT_RING_MAGIC || head->version != CT_RING_VERSION || head->index != index)
		return CTRACE_DAMAGED;
	if (capacity < CT_RING_MIN || capacity > CT_RING_MAX || (capacity & (capacity - 1)) != 0)
		return CTRACE_DAMAGED;
	if ((head->head & 7) != 0 || (head->tail & 7) != 0 || (head->oldest & 7) != 0)
		return CTRACE_DAMAGED;
	if (head->tail > head->head || head->oldest > head->head)
		return CTRACE_DAMAGED;
	if (head->head - head->tail > capacity && head->overflow != CT_OVERFLOW_OVERWRITE)
		return CTRACE_DAMAGED;
	if (head->overflow == CT_OVERFLOW_OVERWRITE && head->head - head->oldest > capacity)
		return CTRACE_DAMAGED;
	return CTRACE_OK;
}

/* A live process's page is not copied in one go: positions that contradict each other agree in the next copy. */
static enum ctrace_status read_head(int fd, struct ct_ring_head *head, uint32_t index)
{
	enum ctrace_status status = CTRACE_DAMAGED;

	for (int tries = 0; tries < LOAD_TRIES && status == CTRACE_DAMAGED; tries++) {
		size_t got = 0;

		status = ct_os_read_at(fd, head, sizeof *head, 0, &got);
		if (status == CTRACE_OK)
			status = got == sizeof *head ? check_head(head, index) : CTRACE_DAMAGED;
	}
	return status;
}

static enum ctrace_status read_part(int fd, unsigned char *data, uint64_t from, uint64_t to)
{
	size_t got = 0;
	enum ctrace_status status = CTRACE_OK;

	if (from < to)
		status = ct_os_read_at(fd, data + from, to - from, CT_RING_HEAD_SIZE + from, &got);
	return status != CTRACE_OK || got == to - from ? status : CTRACE_DAMAGED;
}

/* Only what waits in the ring is read: a recoverer may have thousands of rings, nearly all of them empty. */
static enum ctrace_status read_pending(int fd, const struct ct_ring_head *head, unsigned char *data)
{
	uint64_t first = head->overflow == CT_OVERFLOW_OVERWRITE && head->oldest > head->tail ? head->oldest : head->tail;
	uint64_t from = first & (head->capacity - 1);
	uint64_t size = head->head - first;
	uint64_t to_end = head->capacity - from;
	enum ctrace_status status = read_part(fd, data, from, from + (size < to_end ? size : to_end));

	if (status == CTRACE_OK && size > to_end)
		status = read_part(fd, data, 0, size - to_end);
	return status;
}

enum ctrace_status ct_ring_load(struct ct_ring *ring, const struct ct_session *session, uint32_t index)
{
	struct ct_ring_head copy;
	enum ctrace_status status;
	void *address;
	char name[32];
	int fd;

	ring_name(name, index);
	fd = ct_os_above_standard(openat(session->folder_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
	if (fd < 0)
		fd = openat(session->folder_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? CTRACE_NOT_FOUND : CTRACE_DENIED;
	status = read_head(fd, &copy, index);
	if (status != CTRACE_OK)
		goto undo_open;
	status = ct_os_map(-1, CT_RING_HEAD_SIZE + copy.capacity, false, &address);
	if (status != CTRACE_OK)
		goto undo_open;
	memcpy(address, &copy, sizeof copy);
	/* The head was copied first: what the data hold by now is at least what it speaks of, unless it was overwritten, which the
	 * reader of a live process checks by looking at the head again. */
	status = read_pending(fd, &copy, (unsigned char *)address + CT_RING_HEAD_SIZE);
	if (status != CTRACE_OK)
		goto undo_map;
	ring->head = address;
	ring->data = (unsigned char *)address + CT_RING_HEAD_SIZE;
	ring->capacity = copy.capacity;
	ring->fd = fd;
	ring->is_mapped = false;
	ring->lane = NULL;
	return CTRACE_OK;

undo_map:
	(void)munmap(address, CT_RING_HEAD_SIZE + copy.capacity);
undo_open:
	ct_os_close(&fd);
	return status;
}

enum ctrace_status ct_ring_map(struct ct_ring *ring, const struct ct_session *session, uint32_t index)
{
	struct ct_ring_head copy;
	enum ctrace_status status;
	struct stat info;
	void *address;
	char name[32];
	int fd;

	ring_name(name, index);
	status = ct_os_open_file(session->folder_fd, name, O_RDWR, &fd);
	if (status != CTRACE_OK)
		return status;
	status = read_head(fd, &copy, index);
	if (status == CTRACE_OK && (fstat(fd, &info) != 0 || (uint64_t)info.st_size < CT_RING_HEAD_SIZE + copy.capacity))
		status = CTRACE_DAMAGED;
	if (status == CTRACE_OK)
		status = ct_os_map(fd, CT_RING_HEAD_SIZE + copy.capacity, true, &address);
	ct_os_close(&fd);
	if (status != CTRACE_OK)
		return status;
	*ring = (struct ct_ring){ .head = address,
				  .data = (unsigned char *)address + CT_RING_HEAD_SIZE,
				  .capacity = copy.capacity,
				  .fd = -1,
				  .is_mapped = true };
	return CTRACE_OK;
}

void ct_ring_close(struct ct_ring *ring)
{
	if (ring->head != NULL) {
		(void)munmap(ring->head, CT_RING_HEAD_SIZE + ring->capacity);
		ct_os_close(&ring->fd);
	}
	memset(ring, 0, sizeof *ring);
	ring->fd = -1;
}

enum ctrace_status ct_ring_persist(struct ct_ring *ring, const void *part, size_t size)
{
	if (ring->is_mapped)
		return CTRACE_OK;
	return ct_os_write_at(ring->fd, part, size, (uint64_t)((const char *)part - (const char *)ring->head));
}
