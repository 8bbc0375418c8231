/*
 * read/stream_file.h - the bytes of a stream file, of a BINFILE trace or a third-party one, seen
 * through a window.
 *
 *     bytes = ct_stream_file_look(&file, sources, at, size, &available);
 *     bytes[0] ... bytes[available - 1]   are the bytes of the file from `at` on
 *
 * Called by the parts of a source, on the reader's thread.  The layout is public so that
 * ct_stream_file_look() is inlined.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_STREAM_FILE_H
#define CT_READ_STREAM_FILE_H

#include "read/source.h"

#define CT_STREAM_WINDOW ((size_t)64 << 10)
#define CT_STREAM_PACKED ".zst" /* suffix of a compressed file */
#define CT_STREAM_ENDS_INSIDE "the file ends inside a packet"

struct ct_stream_file {
	struct ct_source *source; /* owner of the path and holder of the window */
	bool may_be_packed;       /* the file may be, or become, compressed */
	/* bytes to read when no more are asked for; 0: fill the window */
	size_t read_size;
	/* at the first opening; 0: not opened yet, or empty */
	uint64_t size;
	uint64_t asked;        /* bytes read in all: the cost of reading the file */
	unsigned char *window; /* NULL: none */
	size_t capacity;
	size_t window_size;
	uint64_t window_at;
	/* the decompressed file; -1: none, or decompression failed */
	int unpacked_fd;
	bool is_unpacked;
	bool has_failed; /* reading failed, which was reported */
};

/* Uses the caller's storage.  The path is in `source`, and changes when the file is compressed
 * meanwhile. */
void ct_stream_file_init(struct ct_stream_file *file, struct ct_source *source, bool may_be_packed);
void ct_stream_file_fini(struct ct_stream_file *file);
/* Frees the window; the next look reads it again. */
void ct_stream_file_release(struct ct_stream_file *file, struct ct_sources *sources);
/* The slow half of ct_stream_file_look(). */
const unsigned char *ct_stream_file_move(struct ct_stream_file *file, struct ct_sources *sources,
					 uint64_t at, size_t size, size_t *out_available);
/* Returns the bytes from `at`: `size` of them, or as many as the file has; none when it cannot be
 * read.  Borrowed until the next look. */
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
/* Returns a descriptor for reading the whole file, or -1 on failure.  ct_stream_file_close() gives
 * it back and sets it to -1. */
int ct_stream_file_open(struct ct_stream_file *file, struct ct_sources *sources);
void ct_stream_file_close(struct ct_stream_file *file, int *fd);
/* Is it a compressed file whose uncompressed original is in the directory too? */
bool ct_stream_file_is_second(const char *directory, const char *name);

#endif
