/*
 * line_store.c - lines that wait to be printed: the last ones, or all in the other order.
 *
 * Part of ctrace show and ctrace tail.  Lines go to the newer of two spools.  When the newer spool
 * has as many lines as are wanted, the older one is emptied and the two are swapped.  So at most
 * twice as many lines are kept, and no line is moved.  In a spool each line stands between two
 * copies of its size, so that the spool can be read from either end.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/line_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/temporary_file.h"

#define MEMORY_LIMIT ((size_t)16 << 20) /* bytes of a spool */
/* bytes that are read from a file at a time; more for a longer line */
#define WINDOW_SIZE ((size_t)1 << 20)

typedef uint32_t line_size;

/* -----------------------------------------------------------------------------------------------
 * Spools
 */

static void spool_clear(struct line_spool *spool)
{
	ct_buf_fini(&spool->memory);
	ct_os_close(&spool->fd);
	*spool = (struct line_spool){ .fd = -1 };
}

/* Opens a file in the directory for temporary files, or as a last resort in memory that can be
 * swapped. */
static int spool_file_open(void)
{
	int fd = ct_temporary_open(ct_temporary_directory("/tmp"));

	return fd >= 0 ? fd : ct_temporary_open("/tmp");
}

static bool spool_write(struct line_spool *spool)
{
	size_t done = 0;

	if (spool->fd < 0)
		spool->fd = spool_file_open();
	while (spool->fd >= 0 && done < spool->memory.size) {
		ssize_t written = pwrite(spool->fd, spool->memory.data + done,
					 spool->memory.size - done, (off_t)(spool->filed + done));

		if (written < 0 && errno != EINTR)
			return false;
		done += written > 0 ? (size_t)written : 0;
	}
	if (spool->fd < 0)
		return false;
	spool->filed += spool->memory.size;
	ct_buf_clear(&spool->memory);
	return true;
}

void line_store_init(struct line_store *store, uint64_t wanted)
{
	*store = (struct line_store){ .wanted = wanted };
	for (unsigned i = 0; i < 2; i++) {
		ct_buf_init(&store->spools[i].memory);
		store->spools[i].fd = -1;
	}
}

void line_store_fini(struct line_store *store)
{
	spool_clear(&store->spools[0]);
	spool_clear(&store->spools[1]);
}

void line_store_add(struct line_store *store, const void *line, size_t size)
{
	struct line_spool *spool = &store->spools[1];
	line_size length = (line_size)size;
	size_t before;

	if (store->write_errno != 0)
		return;
	if (spool->count == store->wanted) {
		spool_clear(&store->spools[0]);
		store->spools[0] = *spool;
		*spool = (struct line_spool){ .fd = -1 };
	}
	if (spool->memory.size + size > MEMORY_LIMIT && spool->memory.size > 0 &&
	    !spool_write(spool)) {
		store->write_errno = errno;
		return;
	}
	before = spool->memory.size;
	ct_buf_add(&spool->memory, &length, sizeof length);
	ct_buf_add(&spool->memory, line, size);
	ct_buf_add(&spool->memory, &length, sizeof length);
	if (spool->memory.failed) {
		spool->memory.size = before; /* half a line cannot be read back */
		store->write_errno = ENOMEM;
	} else {
		spool->count++;
	}
}

/* -----------------------------------------------------------------------------------------------
 * Reading a spool again
 */

/* A section of the spool that is in memory. */
struct window {
	struct line_spool *spool;
	struct ct_buf bytes; /* offset in the file */
	uint64_t from;
};

static bool window_load(struct window *window, uint64_t from, size_t size)
{
	size_t got = 0;

	ct_buf_clear(&window->bytes);
	if (!ct_buf_reserve(&window->bytes, size) ||
	    ct_os_read_at(window->spool->fd, window->bytes.data, size, from, &got) != CTRACE_OK ||
	    got != size) {
		errno = window->bytes.failed ? ENOMEM : errno != 0 ? errno : EIO;
		return false;
	}
	window->bytes.size = size;
	window->from = from;
	return true;
}

/* Returns `size` bytes of the spool from offset `at`; NULL, with errno, when they cannot be
 * read. No line, and no copy of a size, is partly in the file and partly in memory. */
static const char *window_bytes_at(struct window *window, uint64_t at, size_t size,
				   bool is_backward)
{
	const struct line_spool *spool = window->spool;
	size_t more = size < WINDOW_SIZE ? WINDOW_SIZE : size;
	uint64_t from = at;

	if (at >= spool->filed)
		return spool->memory.data + (at - spool->filed);
	if (at >= window->from && at + size <= window->from + window->bytes.size)
		return window->bytes.data + (at - window->from);
	if (is_backward)
		from = at + size > more ? at + size - more : 0;
	if (more > spool->filed - from)
		more = (size_t)(spool->filed - from);
	return window_load(window, from, more) ? window->bytes.data + (at - from) : NULL;
}

static bool window_size_at(struct window *window, uint64_t at, bool is_backward,
			   line_size *out_size)
{
	const char *bytes = window_bytes_at(window, at, sizeof *out_size, is_backward);

	if (bytes != NULL)
		memcpy(out_size, bytes, sizeof *out_size);
	return bytes != NULL;
}

/* Skips `skip` lines, then passes on up to `count`.  Clears *is_wanted when the callback wants
 * no more lines. */
static bool spool_each(struct line_spool *spool, uint64_t skip, uint64_t count, bool is_backward,
		       line_store_take *take, void *user, bool *is_wanted)
{
	uint64_t end = spool->filed + spool->memory.size, at = is_backward ? end : 0;
	struct window window = { .spool = spool };
	bool is_good = true;

	ct_buf_init(&window.bytes);
	for (; is_good && *is_wanted && count > 0 && (is_backward ? at > 0 : at < end);
	     skip -= skip > 0) {
		uint64_t place = is_backward ? at - sizeof(line_size) : at;
		const char *line = NULL;
		line_size size = 0;

		is_good = window_size_at(&window, place, is_backward, &size);
		place = is_backward ? place - size : place + sizeof size;
		at = is_backward ? place - sizeof size : place + size + sizeof size;
		if (!is_good || skip > 0)
			continue;
		line = window_bytes_at(&window, place, size, is_backward);
		is_good = line != NULL;
		*is_wanted = is_good && take(line, size, user);
		count--;
	}
	ct_buf_fini(&window.bytes);
	return is_good;
}

bool line_store_each(struct line_store *store, bool is_backward, line_store_take *take, void *user)
{
	struct line_spool *older = &store->spools[0], *newer = &store->spools[1];
	uint64_t old_wanted = store->wanted > newer->count ? store->wanted - newer->count : 0;
	uint64_t old_skip = older->count > old_wanted ? older->count - old_wanted : 0;
	bool is_wanted = true;

	if (is_backward)
		return spool_each(newer, 0, store->wanted, true, take, user, &is_wanted) &&
		       spool_each(older, 0, old_wanted, true, take, user, &is_wanted);
	return spool_each(older, old_skip, UINT64_MAX, false, take, user, &is_wanted) &&
	       spool_each(newer, 0, UINT64_MAX, false, take, user, &is_wanted);
}
