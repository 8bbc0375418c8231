/*
 * stream.c - the streams of line sequential files, without a lock at each character.
 *
 * libcob reads and writes such a file character by character, and a process with two threads pays
 * for a lock each time.  This library has brought the second thread, and only the COBOL thread uses
 * the file: so its stream needs no lock, and a character is taken from the buffer in place.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cobol_runtime/file.h"

#include <stdio_ext.h>

/* The stream that was used last, if it has no lock; NULL: not known. */
static FILE *stream_last;

void ct_stream_opened(const cob_file *file)
{
	/* After an OPEN that failed the pointer may lead to a stream that was closed. */
	bool is_open = file != NULL && ct_run_unit_version_is_known &&
		       file->organization == COB_ORG_LINE_SEQUENTIAL && file->file_status != NULL &&
		       file->file_status[0] == '0' && file->fd >= 0;
	FILE *stream = is_open ? file->file : NULL;

	stream_last = NULL;
	if (stream != NULL && stream != stdin && stream != stdout && stream != stderr)
		(void)__fsetlocking(stream, FSETLOCKING_BYCALLER);
}

void ct_stream_closed(void)
{
	stream_last = NULL;
}

static bool stream_has_lock(FILE *stream)
{
	if (stream == stream_last)
		return false;
	if (__fsetlocking(stream, FSETLOCKING_QUERY) != FSETLOCKING_BYCALLER)
		return true;
	stream_last = stream;
	return false;
}

int ct_stream_getc(FILE *stream)
{
	return stream_has_lock(stream) ? getc(stream) : getc_unlocked(stream);
}

int ct_stream_putc(int character, FILE *stream)
{
	return stream_has_lock(stream) ? putc(character, stream) : putc_unlocked(character, stream);
}
