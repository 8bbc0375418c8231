/*
 * bin_limit.c - LIMITSIZE of BINFILE: how large all traces in a LOCATION may become together.
 *
 * A process writes parts, which are generations.  The first part stays.  While the traces are at
 * their limit, the oldest of the other parts makes room for the next one.  The next part's metadata
 * and stream.lost have what was left out, so every reader counts it.  They exchange names
 * (bin_create.c), so that holds whenever the process is killed.  Each process keeps its first
 * and its last two parts, however many processes there are; parts are small while the limit is
 * reached.  So the traces may exceed it by some parts of each process.
 *
 * Called by emit_bin.c and bin_create.c on the thread that consumes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/binfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PART_MIN ((uint64_t)1 << 20)

static uint64_t part_size(const struct ct_bin_limit *limit, uint64_t share)
{
	return limit->total / share > PART_MIN ? limit->total / share : PART_MIN;
}

uint64_t ct_bin_limit_small(const struct ct_bin_limit *limit)
{
	return part_size(limit, 1024);
}

static DIR *directory_open(int at, const char *name)
{
	int fd = ct_os_high(openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;

	if (stream == NULL)
		ct_os_close(&fd);
	return stream;
}

/* A directory without metadata is none of ctrace's. */
static uint64_t trace_size(DIR *stream)
{
	const struct dirent *entry;
	struct stat info;
	uint64_t size = 0;

	if (fstatat(dirfd(stream), "metadata", &info, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(info.st_mode))
		return 0;
	while ((entry = readdir(stream)) != NULL)
		if (fstatat(dirfd(stream), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(info.st_mode))
			size += (uint64_t)info.st_size;
	return size;
}

/* Bytes of all traces beside this one, and of its own. */
static uint64_t traces_size(const struct ct_bin_directory *directory)
{
	DIR *all = directory_open(directory->fd, ".."), *one;
	const struct dirent *entry;
	uint64_t size = 0;

	while (all != NULL && (entry = readdir(all)) != NULL) {
		one = entry->d_name[0] != '.' ? directory_open(dirfd(all), entry->d_name) : NULL;
		if (one == NULL)
			continue;
		size += trace_size(one);
		(void)closedir(one);
	}
	if (all != NULL)
		(void)closedir(all);
	return size;
}

bool ct_bin_limit_extend(const struct ct_bin_limit *limit, struct ct_bin_directory *directory)
{
	uint64_t whole = part_size(limit, 16);

	if (limit->total == 0 || directory->size_limit >= whole ||
	    traces_size(directory) + whole > limit->total)
		return false;
	directory->size_limit = whole;
	return true;
}

void ct_bin_limit_count(struct ct_bin_limit *limit, uint32_t generation,
			const struct ctrace_batch *batch)
{
	struct ct_bin_left_out *part;

	if (limit->total == 0 || generation > CT_BIN_PARTS)
		return;
	part = &limit->parts[generation - 1].events;
	for (uint32_t i = 0; i < batch->run_count; i++) {
		const struct ctrace_run *run = &batch->runs[i];

		ct_bin_left_out_add(part, &(struct ct_bin_left_out){ .events = run->event_count,
								     .bytes = run->size,
								     .begin_ns = run->begin_ns,
								     .end_ns = run->end_ns });
	}
}

void ct_bin_left_out_add(struct ct_bin_left_out *sum, const struct ct_bin_left_out *more)
{
	if (more->events == 0)
		return;
	if (sum->events == 0 || more->begin_ns < sum->begin_ns)
		sum->begin_ns = more->begin_ns;
	if (more->end_ns > sum->end_ns)
		sum->end_ns = more->end_ns;
	sum->events += more->events;
	sum->bytes += more->bytes;
}

/* The oldest part that may go; 0: none.  What a part of an earlier opening has is not known. */
static uint32_t victim_find(const struct ct_bin_limit *limit, uint32_t present)
{
	uint32_t found = 0;

	for (uint32_t i = 2; i <= limit->used; i++)
		if (i != present && limit->parts[i - 1].is_known &&
		    (found == 0 || limit->parts[i - 1].number < limit->parts[found - 1].number))
			found = i;
	return found;
}

uint32_t ct_bin_limit_next(struct ct_bin_limit *limit, uint32_t present,
			   const struct ct_bin_directory *directory,
			   struct ct_bin_left_out *out_left_out)
{
	bool is_over = traces_size(directory) + part_size(limit, 16) > limit->total;
	uint32_t victim = victim_find(limit, present);

	*out_left_out = (struct ct_bin_left_out){ 0 };
	if (victim == 0 || (!is_over && limit->used < CT_BIN_PARTS))
		return limit->used < CT_BIN_PARTS ? limit->used + 1 : present;
	*out_left_out = limit->parts[victim - 1].left_out;
	ct_bin_left_out_add(out_left_out, &limit->parts[victim - 1].events);
	return victim;
}

void ct_bin_limit_begin(struct ct_bin_limit *limit, uint32_t generation,
			const struct ct_bin_left_out *left_out)
{
	if (generation > CT_BIN_PARTS)
		return;
	limit->parts[generation - 1] =
		(struct ct_bin_part){ .is_known = true, .number = ++limit->begun };
	if (left_out != NULL)
		limit->parts[generation - 1].left_out = *left_out;
	if (generation > limit->used)
		limit->used = generation;
}

/* ---- the mark ---- */

void ct_bin_left_out_print(struct ct_buf *out, const struct ct_bin_left_out *left_out)
{
	if (left_out == NULL || left_out->events == 0)
		return;
	ct_buf_add_format(out,
			  CT_BIN_MARK_LEFT_OUT "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
					       "\n" CT_BIN_MARK_END,
			  left_out->events, left_out->bytes, left_out->begin_ns, left_out->end_ns);
}

bool ct_bin_left_out_find(const char *text, size_t size, struct ct_bin_left_out *out)
{
	static const char mark[] = CT_BIN_MARK_LEFT_OUT;
	const char *at = memmem(text, size, mark, sizeof mark - 1);
	char line[96];

	if (at == NULL)
		return false;
	at += sizeof mark - 1;
	(void)snprintf(line, sizeof line, "%.*s",
		       (int)(text + size - at < 95 ? text + size - at : 95), at);
	return sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &out->events,
		      &out->bytes, &out->begin_ns, &out->end_ns) == 4;
}
