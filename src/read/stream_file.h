/*
 * read/stream_file.h - the bytes of a stream file, of a BINFILE trace or a third-party one, seen
 * through a window.
 *
 *     bytes = ct_stream_file_look(&file, sources, at, size, &available);   then bytes[0] to
 * bytes[available - 1] are those from `at` on
 *
 * Called by the parts of a source, on the reader's thread.  The layout stands here because reading
 * an event begins with a look.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_STREAM_FILE_H
#define CT_READ_STREAM_FILE_H

#include "read/source.h"

#define CT_STREAM_WINDOW ((size_t)64 << 10)
#define CT_STREAM_PACKED ".zst" /* what the name of a compressed file ends in */
#define CT_STREAM_ENDS_INSIDE "the file ends inside a packet"

struct ct_stream_file {
	struct ct_source *source; /* whose path it is, and who holds the window */
	bool may_be_packed;       /* the file may be compressed, or become so meanwhile */
	/* so much is read where no more is asked for; 0: all that there is room for */
	size_t glance;
	/* when it was first opened; 0: it was not, or there is nothing in it */
	uint64_t size;
	uint64_t asked;        /* of the file in all: what reading it costs */
	unsigned char *window; /* NULL: nothing is held */
	size_t capacity;
	size_t window_size;
	uint64_t window_at;
	/* what the compressed file has become; -1: it is none, or that has failed */
	int unpacked_fd;
	bool is_unpacked;
	bool has_failed; /* it could not be read, and that was told */
};

/* The caller's storage.  `source` has its path, which changes when its file is compressed
 * meanwhile. */
void ct_stream_file_init(struct ct_stream_file *file, struct ct_source *source, bool may_be_packed);
void ct_stream_file_fini(struct ct_stream_file *file);
/* Gives the window back, whose bytes are gone; the next look has one again. */
void ct_stream_file_release(struct ct_stream_file *file, struct ct_sources *sources);
/* The slow half of ct_stream_file_look(). */
const unsigned char *ct_stream_file_move(struct ct_stream_file *file, struct ct_sources *sources,
					 uint64_t at, size_t size, size_t *out_available);
/* The bytes from `at`, `size` of them or as many as the file has; none when it cannot be read.
 * Borrowed until the next look. */
static inline const unsigned char *ct_stream_file_look(struct ct_stream_file *file,
						       struct ct_sources *sources, uint64_t at,
						       size_t size, size_t *out_available)
{
	if (at < file->window_at || at - file->window_at > file->window_size ||
	    size > file->window_size - (size_t)(at - file->window_at))
		return ct_stream_file_move(file, sources, at, size, out_available);
	*out_available = file->window_size - (size_t)(at - file->window_at);
	return file->window + (at - file->window_at);
}
/* A descriptor to read all of it, -1: it cannot be.  The second gives it back, and sets it to -1.
 */
int ct_stream_file_open(struct ct_stream_file *file, struct ct_sources *sources);
void ct_stream_file_close(struct ct_stream_file *file, int *fd);
/* The name is that of a compressed file, and what it was made of is in the directory too. */
bool ct_stream_file_is_second(const char *directory, const char *name);

#endif
