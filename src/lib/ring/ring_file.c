/*
 * ring_file.c - the file behind a ring: making it, copying somebody else's.
 *
 * ct_ring_create and ct_ring_make run on the thread that needs a ring (its first event), the
 * latter also on the consumer thread; they never use malloc, so they are fit for a signal handler.
 * ct_ring_load and _persist run in recoverers and tools.  So do _open, _read_* and _count_waiting,
 * for a reader whose memory must not grow with a hostile file.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LOAD_TRIES 5
/* address space that a new ring leaves to the rest of the process */
#define OUTPUT_ROOM ((size_t)2 << 20)
/* bytes that ct_ring_count_waiting() reads at a time, at first */
#define WINDOW ((size_t)1 << 20)
#define PAGE ((size_t)4096)

static void ring_name(char out[32], uint32_t index)
{
	(void)snprintf(out, 32, "ring.%u", index);
}

/* The name of a ring without a number.  Names with this prefix are removed with the directory. */
static void new_name(char out[32], uint32_t serial)
{
	(void)snprintf(out, 32, "ring.new.%u", serial);
}

/* ---- making ---- */

/* Could a smaller ring succeed where this one failed? */
static bool lacks_room(enum ctrace_status status)
{
	return status != CTRACE_OK &&
	       (errno == EFBIG || errno == ENOSPC || errno == EDQUOT || errno == ENOMEM);
}

/* Leaves OUTPUT_ROOM free: an output's buffers and a thread's stack come after the ring, and
 * without them no output could take its events. */
static enum ctrace_status map_ring(int fd, const struct ct_file_id *id, size_t capacity,
				   void **out_address)
{
	enum ctrace_status status =
		ct_os_map_twice(fd, id, CT_RING_HEAD_SIZE, capacity, out_address);

	if (status != CTRACE_OK || ct_os_has_room(OUTPUT_ROOM))
		return status;
	(void)munmap(*out_address, CT_RING_HEAD_SIZE + 2 * capacity);
	errno = ENOMEM;
	return CTRACE_NOT_ENOUGH_MEMORY;
}

/* Leaves blocks free for the paths of an output, which the session gets when the output opens. */
static enum ctrace_status file_allocate(int fd, const struct ct_file_id *id, size_t size)
{
	enum ctrace_status status = ct_os_check_file(fd, id);
	struct statvfs disk;

	if (status == CTRACE_OK)
		status = ct_os_allocate_quietly(fd, 0, size);
	if (status != CTRACE_OK || fstatvfs(fd, &disk) != 0 ||
	    (uint64_t)disk.f_bavail * disk.f_frsize >= sizeof(struct ct_dest_paths))
		return status;
	errno = ENOSPC;
	return CTRACE_OS_ERROR;
}

static enum ctrace_status size_and_map(int fd, const struct ct_file_id *id, size_t capacity,
				       void **out_address)
{
	enum ctrace_status status = file_allocate(fd, id, CT_RING_HEAD_SIZE + capacity);

	return status == CTRACE_OK ? map_ring(fd, id, capacity, out_address) : status;
}

/* An earlier attempt that failed may have left a file of that name, which is removed.  Anything
 * else there is left alone. */
static enum ctrace_status file_make(int directory_fd, const char *name, int *out_fd,
				    struct ct_file_id *out_id)
{
	struct stat info;
	enum ctrace_status status = ct_os_make_kept(directory_fd, name, out_fd, out_id);

	if (status == CTRACE_OK || errno != EEXIST ||
	    fstatat(directory_fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(info.st_mode) || unlinkat(directory_fd, name, 0) != 0)
		return status;
	return ct_os_make_kept(directory_fd, name, out_fd, out_id);
}

/* Makes the file with the largest capacity that has room: at most *capacity, at least `least`.  Its
 * mode keeps others from opening it for writing by accident and cutting it while it is mapped. */
static enum ctrace_status make_file(int directory_fd, const char *name, size_t least,
				    size_t *capacity, void **out_address)
{
	uint64_t limit = ct_os_file_limit();
	enum ctrace_status status;
	struct ct_file_id id;
	size_t size = *capacity;
	int fd;

	while (size > least && CT_RING_HEAD_SIZE + size > limit)
		size >>= 1;
	if (CT_RING_HEAD_SIZE + size > limit)
		return CTRACE_OS_ERROR;
	if (limit != UINT64_MAX)
		ct_guard_output();
	status = file_make(directory_fd, name, &fd, &id);
	if (status != CTRACE_OK)
		return status;
	ct_os_store_in_place(fd);
	status = size_and_map(fd, &id, size, out_address);
	while (lacks_room(status) && size > least) {
		size >>= 1;
		/* the larger attempt may have left bytes */
		status = ct_os_check_file(fd, &id);
		if (status == CTRACE_OK)
			status = ct_os_truncate(fd, 0);
		if (status == CTRACE_OK)
			status = size_and_map(fd, &id, size, out_address);
	}
	if (status == CTRACE_OK)
		*capacity = size;
	else
		(void)unlinkat(directory_fd, name, 0);
	ct_os_close_file(&fd, &id);
	return status;
}

static enum ctrace_status make_private(size_t least, size_t *capacity, void **out_address)
{
	enum ctrace_status status = map_ring(-1, NULL, *capacity, out_address);

	while (lacks_room(status) && *capacity > least) {
		*capacity >>= 1;
		status = map_ring(-1, NULL, *capacity, out_address);
	}
	return status;
}

void ct_ring_write_constants(struct ct_ring *ring)
{
	ring->head->version = CT_RING_VERSION;
	ring->head->index = ring->index;
	ring->head->capacity = ring->capacity;
	__atomic_store_n(&ring->head->magic, CT_RING_MAGIC, __ATOMIC_RELEASE);
}

/* Has the process become a user who may not write to its directory? */
static bool needs_annex(const struct ct_session *session)
{
	return (errno == EACCES || errno == EPERM || errno == ENOENT || errno == EBADF) &&
	       session->head != NULL && session->head->uid != geteuid();
}

static enum ctrace_status make_in_annex(struct ct_session *session, const char *name, size_t least,
					size_t *capacity, void **out_address,
					enum ct_ring_place *out_place)
{
	uint32_t number = 0;
	int directory_fd = ct_annex_make(session, &number);
	enum ctrace_status status = CTRACE_DENIED;

	if (directory_fd >= 0)
		status = make_file(directory_fd, name, least, capacity, out_address);
	*out_place = (enum ct_ring_place)(CT_RING_IN_ANNEX + number);
	ct_os_close(&directory_fd);
	return status;
}

/* All pages are new and therefore zero. */
static void pages_touch(unsigned char *from, size_t size)
{
	if (ct_os_populate(from, size) != CTRACE_OK)
		for (size_t at = 0; at < size; at += PAGE)
			*((volatile unsigned char *)from + at) = 0;
}

/* Touches every page that a trace call writes to, in both mappings, so that it takes no fault.  The
 * second page of the head has cursors, which only consumers use. */
static void ring_set_up(struct ct_ring *ring, void *address, size_t capacity,
			enum ct_ring_place place)
{
	_Static_assert(offsetof(struct ct_ring_head, tail) + 256 <= PAGE, "in the first page");

	pages_touch(address, PAGE);
	pages_touch((unsigned char *)address + CT_RING_HEAD_SIZE, 2 * capacity);
	ring->head = address;
	ring->data = (unsigned char *)address + CT_RING_HEAD_SIZE;
	ring->capacity = capacity;
	ring->fd = -1;
	ring->is_mapped = true;
	ring->place = (uint8_t)place;
}

enum ctrace_status ct_ring_create(struct ct_ring *ring, struct ct_session *session, uint32_t index,
				  size_t capacity)
{
	const struct ct_ring_size asked = { .least = CT_RING_MIN,
					    .capacity = capacity,
					    .may_be_private = true };

	return ct_ring_create_sized(ring, session, index, &asked);
}

enum ctrace_status ct_ring_create_sized(struct ct_ring *ring, struct ct_session *session,
					uint32_t index, const struct ct_ring_size *asked)
{
	enum ctrace_status status = CTRACE_OS_ERROR;
	enum ct_ring_place place = CT_RING_IN_DIRECTORY;
	size_t capacity = asked->capacity;
	void *address = NULL;
	char name[32];

	ring_name(name, index);
	if (session->path[0] != '\0')
		status = make_file(ct_session_directory(session), name, asked->least, &capacity,
				   &address);
	if (status != CTRACE_OK && session->path[0] != '\0' && needs_annex(session))
		status = make_in_annex(session, name, asked->least, &capacity, &address, &place);
	if (status != CTRACE_OK && asked->may_be_private) {
		place = CT_RING_PRIVATE;
		status = make_private(asked->least, &capacity, &address);
	}
	if (status != CTRACE_OK)
		return status;
	ring_set_up(ring, address, capacity, place);
	ring->index = index;
	ct_ring_write_constants(ring);
	return CTRACE_OK;
}

enum ctrace_status ct_ring_make(struct ct_ring *ring, int directory_fd, uint32_t serial,
				size_t capacity)
{
	enum ctrace_status status;
	void *address = NULL;
	char name[32];

	new_name(name, serial);
	status = directory_fd < 0 ? map_ring(-1, NULL, capacity, &address)
				  : make_file(directory_fd, name, capacity, &capacity, &address);
	if (status != CTRACE_OK)
		return status;
	ring_set_up(ring, address, capacity,
		    directory_fd < 0 ? CT_RING_PRIVATE : CT_RING_IN_DIRECTORY);
	ring->index = serial;
	return CTRACE_OK;
}

/* Is the file still there, and of its full length? */
static bool ring_is_whole(const struct ct_ring *ring, int directory_fd, const char *name)
{
	struct stat info;

	return fstatat(directory_fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	       info.st_size == (off_t)(CT_RING_HEAD_SIZE + ring->capacity);
}

bool ct_ring_number(struct ct_ring *ring, int directory_fd, uint32_t index)
{
	bool has_file = ring->place == CT_RING_IN_DIRECTORY;
	char from[32], to[32];

	new_name(from, ring->index);
	ring_name(to, index);
	if (has_file && (!ring_is_whole(ring, directory_fd, from) ||
			 ct_os_rename(directory_fd, from, to) != CTRACE_OK)) {
		(void)unlinkat(directory_fd, from, 0);
		ct_ring_close(ring);
		return false;
	}
	ring->index = index;
	ct_ring_write_constants(ring);
	return true;
}

/* ---- of another process ---- */

/* Finds the directory of a ring's file.  *out_other: a directory that the caller closes, or -1.
 * Returns NOT_FOUND for a ring without a file. */
static enum ctrace_status find_directory(const struct ct_session *session, uint32_t index,
					 int *out_directory, int *out_other)
{
	uint32_t ring_place = CT_RING_IN_DIRECTORY;

	if (session->head != NULL && index < CT_RING_LIMIT)
		ring_place = __atomic_load_n(&session->head->ring_place[index], __ATOMIC_RELAXED);
	*out_directory = session->directory_fd;
	*out_other = -1;
	if (ring_place == CT_RING_IN_DIRECTORY)
		return CTRACE_OK;
	if (ring_place == CT_RING_PRIVATE || ring_place >= CT_RING_IN_ANNEX + CT_ANNEX_LIMIT)
		return CTRACE_NOT_FOUND;
	*out_other = ct_annex_open(session->head, ring_place - CT_RING_IN_ANNEX);
	*out_directory = *out_other;
	return *out_other >= 0 ? CTRACE_OK : errno == ENOENT ? CTRACE_NOT_FOUND : CTRACE_DENIED;
}

/* In an annex the directory's owner may have put anything. */
static bool is_plain_file(int fd, int annex_fd)
{
	struct stat info, directory;

	return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
	       (annex_fd < 0 || (fstat(annex_fd, &directory) == 0 && info.st_nlink == 1 &&
				 info.st_uid == directory.st_uid));
}

/* Checks that the copied head stays within its ring. */
static enum ctrace_status check_head(struct ct_ring_head *head, uint32_t index)
{
	uint64_t capacity = head->capacity;

	if (head->magic != CT_RING_MAGIC || head->version != CT_RING_VERSION ||
	    head->index != index)
		return CTRACE_DAMAGED;
	if (capacity < CT_RING_MIN || capacity > CT_RING_MAX || (capacity & (capacity - 1)) != 0)
		return CTRACE_DAMAGED;
	if (head->tail > head->head || head->oldest > head->head)
		return CTRACE_DAMAGED;
	if (head->head - head->tail > capacity && head->overflow != CT_OVERFLOW_OVERWRITE)
		return CTRACE_DAMAGED;
	if (head->overflow == CT_OVERFLOW_OVERWRITE && head->head - head->oldest > capacity)
		return CTRACE_DAMAGED;
	return CTRACE_OK;
}

/* Opens for reading and writing if allowed, else for reading.  A recoverer may write even where the
 * mode forbids it. */
enum ctrace_status ct_ring_open(const struct ct_session *session, uint32_t index, int *out_fd)
{
	int directory, other, fd;
	enum ctrace_status status = find_directory(session, index, &directory, &other);
	char name[32];

	if (status != CTRACE_OK)
		return status;
	ring_name(name, index);
	fd = session->has_lock ? ct_os_open_kept(directory, name)
			       : ct_os_high(openat(directory, name,
						   O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
	if (fd < 0)
		fd = ct_os_high(
			openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
	if (fd < 0) {
		status = errno == ENOENT                      ? CTRACE_NOT_FOUND
			 : errno == EMFILE || errno == ENFILE ? CTRACE_OS_ERROR
							      : CTRACE_DENIED;
	} else if (!is_plain_file(fd, other)) {
		ct_os_close(&fd);
		status = CTRACE_DENIED;
	}
	ct_os_close(&other);
	*out_fd = fd;
	return status;
}

/* What is copied: a file, or a private ring of the calling process. */
struct source {
	int fd;
	const struct ct_ring *own; /* NULL: the file */
};

static enum ctrace_status source_read(const struct source *source, void *out, size_t size,
				      uint64_t at, size_t *out_got)
{
	if (source->own == NULL)
		return ct_os_read_at(source->fd, out, size, at, out_got);
	/* the positions before the data that they describe */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	ct_ring_copy_racing(out, (const unsigned char *)source->own->head + at, size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	*out_got = size;
	return CTRACE_OK;
}

/* 0: it cannot be read. */
static uint64_t read_oldest_version(const struct source *source)
{
	uint64_t version = 0;
	size_t got = 0;

	if (source_read(source, &version, sizeof version,
			offsetof(struct ct_ring_head, oldest_version), &got) != CTRACE_OK ||
	    got != sizeof version)
		return 0;
	return version;
}

/* The page of a live process is not copied atomically.  Positions that contradict each other agree
 * in the next copy, and so do the position and the count of the oldest event. */
static enum ctrace_status source_read_head(const struct source *source, uint32_t index,
					   struct ct_ring_head *out)
{
	enum ctrace_status status = CTRACE_DAMAGED;
	bool is_overwrite = false;

	for (int tries = 0; tries < LOAD_TRIES && status == CTRACE_DAMAGED; tries++) {
		uint64_t version = is_overwrite ? read_oldest_version(source) : 0;
		size_t got = 0;

		status = source_read(source, out, sizeof *out, 0, &got);
		if (status == CTRACE_OK)
			status = got == sizeof *out ? check_head(out, index) : CTRACE_DAMAGED;
		if (status != CTRACE_OK || out->overflow != CT_OVERFLOW_OVERWRITE)
			continue;
		/* The last try has to do. */
		if (tries < LOAD_TRIES - 1 &&
		    (!is_overwrite || version % 2 != 0 || read_oldest_version(source) != version))
			status = CTRACE_DAMAGED;
		is_overwrite = true;
	}
	return status;
}

enum ctrace_status ct_ring_read_head(int fd, uint32_t index, struct ct_ring_head *out)
{
	return source_read_head(&(struct source){ .fd = fd }, index, out);
}

static enum ctrace_status read_part(const struct source *source, uint64_t from, uint64_t size,
				    unsigned char *out, size_t *out_got)
{
	*out_got = 0;
	return size > 0 ? source_read(source, out, size, CT_RING_HEAD_SIZE + from, out_got)
			: CTRACE_OK;
}

/* *out_end: as in ct_ring_read_data().  What is there behind it is read, too. */
static enum ctrace_status source_read_data(const struct source *source, uint64_t capacity,
					   uint64_t from, uint64_t to, unsigned char *out,
					   uint64_t *out_end)
{
	uint64_t at = from & (capacity - 1);
	uint64_t size = to - from;
	uint64_t first = size < capacity - at ? size : capacity - at;
	size_t got, got_behind = 0;
	enum ctrace_status status = read_part(source, at, first, out, &got);

	if (status == CTRACE_OK)
		status = read_part(source, 0, size - first, out + first, &got_behind);
	*out_end = from + (got < first ? got : first + got_behind);
	return status;
}

enum ctrace_status ct_ring_read_data(int fd, uint64_t capacity, uint64_t from, uint64_t to,
				     unsigned char *out, uint64_t *out_end)
{
	return source_read_data(&(struct source){ .fd = fd }, capacity, from, to, out, out_end);
}

static uint64_t first_waiting(const struct ct_ring_head *head)
{
	return head->overflow == CT_OVERFLOW_OVERWRITE && head->oldest > head->tail ? head->oldest
										    : head->tail;
}

/* Sets up a ring at that address with the constants of a checked head. */
static void set_copied(struct ct_ring *ring, const struct ct_ring_head *head, void *address)
{
	*ring = (struct ct_ring){ .head = address,
				  .data = (unsigned char *)address + CT_RING_HEAD_SIZE,
				  .capacity = head->capacity,
				  .fd = -1 };
	ct_ring_take_constants(ring, head);
}

/* A live process may have overwritten a part of the data while they were copied.  Its head, read
 * now, says how much; without a head nothing of the copy is certain. */
static void drop_overwritten(const struct source *source, uint32_t index, struct ct_ring_head *copy)
{
	struct ct_ring_head now;
	bool is_known = source_read_head(source, index, &now) == CTRACE_OK;

	if (is_known && now.oldest <= copy->oldest)
		return;
	if (!is_known || now.oldest > copy->head) {
		/* All of it.  The count is that of the events before the ring's present oldest. */
		now.oldest = copy->head;
	}
	copy->oldest = now.oldest;
	copy->oldest_count = now.oldest_count;
	copy->oldest_state = now.oldest_state;
}

/* The event at the end of what there is would be read with zeros in the place of what is missing,
 * so it gets the number of no class. */
static void blot_cut_event(const struct ct_ring *ring, const struct ct_class_image *classes,
			   uint64_t position, uint64_t end)
{
	uint64_t limit = ring->head->head;
	struct ct_event_state state = { 0 };

	while (position < end) {
		struct ct_event event = { .size = 0 };

		if (ct_event_decode(classes, ct_ring_at(ring, position), limit - position, &state,
				    &event) != CTRACE_OK) {
			position = ct_ring_next_mark(ring->head->anchors, position, limit);
			continue;
		}
		if (position + event.size > end)
			memset(ct_ring_at(ring, position), 0, sizeof(uint16_t));
		position += event.size;
	}
}

/* classes: of what is in a file; NULL: a private ring, of which nothing is missing. */
static enum ctrace_status source_load(const struct source *source, uint32_t index,
				      const struct ct_class_image *classes, struct ct_ring *ring)
{
	struct ct_ring_head copy;
	enum ctrace_status status;
	uint64_t from, end;
	void *address;

	status = source_read_head(source, index, &copy);
	if (status != CTRACE_OK)
		return status;
	status = ct_os_map_twice(-1, NULL, CT_RING_HEAD_SIZE, copy.capacity, &address);
	if (status != CTRACE_OK)
		return status;
	memcpy(address, &copy, sizeof copy);
	/* Copies only pending data: a recoverer may have thousands of rings, nearly all empty.  The
	 * head was copied first, so the data hold at least what it describes. */
	from = first_waiting(&copy);
	status = source_read_data(
		source, copy.capacity, from, copy.head,
		(unsigned char *)address + CT_RING_HEAD_SIZE + (from & (copy.capacity - 1)), &end);
	if (status != CTRACE_OK) {
		(void)munmap(address, CT_RING_HEAD_SIZE + 2 * copy.capacity);
		return status;
	}
	if (copy.overflow == CT_OVERFLOW_OVERWRITE)
		drop_overwritten(source, index, address);
	set_copied(ring, address, address);
	if (end < copy.head && classes != NULL)
		blot_cut_event(ring, classes, from, end);
	return CTRACE_OK;
}

enum ctrace_status ct_ring_load(struct ct_ring *ring, const struct ct_session *session,
				uint32_t index)
{
	const struct ct_class_image classes = ct_session_classes(session);
	struct source source = { .own = NULL };
	enum ctrace_status status = ct_ring_open(session, index, &source.fd);

	if (status != CTRACE_OK)
		return status;
	status = source_load(&source, index, &classes, ring);
	if (status == CTRACE_OK)
		ring->fd = source.fd;
	else
		ct_os_close(&source.fd);
	return status;
}

enum ctrace_status ct_ring_copy_private(struct ct_ring *ring, const struct ct_ring *own)
{
	return source_load(&(struct source){ .own = own }, own->index, NULL, ring);
}

/* Counts the whole events in a piece of a ring.  Returns their size in bytes. */
static size_t count_events(const struct ct_class_image *classes, const unsigned char *bytes,
			   size_t size, uint64_t *count)
{
	struct ct_event_state state = { 0 };
	struct ct_event event;
	size_t at = 0;

	while (at < size &&
	       ct_event_decode(classes, bytes + at, size - at, &state, &event) == CTRACE_OK) {
		*count += !event.is_mark;
		at += event.size;
	}
	return at;
}

uint64_t ct_ring_count_waiting(int fd, const struct ct_ring_head *head,
			       const struct ct_class_image *classes, uint64_t *unreadable)
{
	uint64_t position = first_waiting(head), end = 0;
	struct ct_buf window;
	size_t room = WINDOW;
	uint64_t count = 0;

	ct_buf_init(&window);
	while (position < head->head) {
		uint64_t waits = head->head - position;
		size_t size = waits < room ? (size_t)waits : room, taken;

		ct_buf_clear(&window);
		if (!ct_buf_reserve(&window, size) ||
		    ct_ring_read_data(fd, head->capacity, position, position + size,
				      (unsigned char *)window.data, &end) != CTRACE_OK)
			break;
		size = (size_t)(end - position);
		taken = count_events(classes, (const unsigned char *)window.data, size, &count);
		position += taken;
		if (taken == 0 && size == room && size < waits) {
			room *= 2; /* the event is larger than the window */
		} else if (taken == 0) {
			uint64_t next = ct_ring_next_mark(head->anchors, position, head->head);

			*unreadable += next - position;
			position = next;
			room = WINDOW;
		}
	}
	ct_buf_fini(&window);
	return count;
}

/* Returns true when the ring has been explained. */
static bool explain_ring(const struct ct_session *session, uint32_t index,
			 const struct ct_class_image *classes, struct ct_buf *out)
{
	uint32_t place = session->head->ring_place[index];
	char name[32], why[CT_DIRECTORY_WHY_SIZE];
	uint64_t unreadable = 0;
	struct ct_ring_head head;
	enum ctrace_status status;
	int fd;

	if (place == CT_RING_PRIVATE || place == CT_RING_SETTLED)
		return false;
	ring_name(name, index);
	status = ct_ring_open(session, index, &fd);
	if (status == CTRACE_OK) {
		status = ct_ring_read_head(fd, index, &head);
		if (status == CTRACE_OK)
			(void)ct_ring_count_waiting(fd, &head, classes, &unreadable);
		ct_os_close(&fd);
	}
	if (status == CTRACE_OK && unreadable + head.unreadable == 0)
		return false;
	if (out->size != 0)
		ct_buf_add_text(out, "; ");
	if (status == CTRACE_OK)
		ct_buf_add_format(out, "%s: %llu bytes cannot be read", name,
				  (unsigned long long)(unreadable + head.unreadable));
	else if (place == CT_RING_IN_DIRECTORY &&
		 ct_directory_file_is_odd(session->directory_fd, name, why))
		ct_buf_add_text(out, why);
	else
		ct_buf_add_format(out, "%s %s", name,
				  status == CTRACE_NOT_FOUND ? "is missing" : "cannot be read");
	return true;
}

uint32_t ct_ring_explain_damage(const struct ct_session *session, struct ct_buf *out)
{
	const struct ct_class_image classes = ct_session_classes(session);
	uint32_t count = 0;

	for (uint32_t i = 0; i < session->head->ring_count; i++)
		count += explain_ring(session, i, &classes, out);
	return count;
}

enum ctrace_status ct_ring_map(struct ct_ring *ring, const struct ct_session *session,
			       uint32_t index)
{
	struct ct_ring_head copy;
	enum ctrace_status status;
	struct stat info;
	void *address;
	char name[32];
	int fd;

	/* An external writer only ever gets rings whose file is in the directory. */
	if (session->head != NULL &&
	    __atomic_load_n(&session->head->ring_place[index % CT_RING_LIMIT], __ATOMIC_RELAXED) !=
		    CT_RING_IN_DIRECTORY)
		return CTRACE_NOT_FOUND;
	ring_name(name, index);
	fd = ct_os_open_kept(session->directory_fd, name);
	if (fd < 0)
		return errno == ENOENT ? CTRACE_NOT_FOUND : CTRACE_DENIED;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
	    info.st_nlink > 1)
		status = CTRACE_DENIED;
	else
		status = ct_ring_read_head(fd, index, &copy);
	if (status == CTRACE_OK && (uint64_t)info.st_size < CT_RING_HEAD_SIZE + copy.capacity)
		status = CTRACE_DAMAGED;
	if (status == CTRACE_OK)
		status = ct_os_map_twice(fd, &(struct ct_file_id){ info.st_dev, info.st_ino },
					 CT_RING_HEAD_SIZE, copy.capacity, &address);
	ct_os_close(&fd);
	if (status != CTRACE_OK)
		return status;
	set_copied(ring, &copy, address);
	ring->is_mapped = true;
	return CTRACE_OK;
}

bool ct_ring_heal(struct ct_ring *ring, struct ct_session *session)
{
	size_t size = CT_RING_HEAD_SIZE + ring->capacity;
	uint32_t index = ring->index;
	int directory, other, fd;
	struct stat info;
	char name[32];

	if (session->path[0] == '\0' || ct_session_directory(session) < 0 ||
	    find_directory(session, index, &directory, &other) != CTRACE_OK)
		return false;
	ring_name(name, index);
	if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode) ||
	    (uint64_t)info.st_size >= size) {
		ct_os_close(&other);
		return false;
	}
	fd = ct_os_open_kept(directory, name);
	ct_os_close(&other);
	if (!ct_os_is_file(fd, &(struct ct_file_id){ info.st_dev, info.st_ino }) ||
	    ct_os_allocate(fd, 0, size) != CTRACE_OK) {
		ct_os_close(&fd);
		return false;
	}
	ct_os_close(&fd);
	return true;
}

void ct_ring_close(struct ct_ring *ring)
{
	if (ring->head != NULL) {
		(void)munmap(ring->head, CT_RING_HEAD_SIZE + 2 * ring->capacity);
		ct_os_close(&ring->fd);
	}
	memset(ring, 0, sizeof *ring);
	ring->fd = -1;
}

enum ctrace_status ct_ring_persist(struct ct_ring *ring, const void *part, size_t size)
{
	if (ring->is_mapped || ring->fd < 0)
		return CTRACE_OK;
	return ct_os_write_at(ring->fd, part, size,
			      (uint64_t)((const char *)part - (const char *)ring->head));
}
