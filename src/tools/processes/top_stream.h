/*
 * tools/processes/top_stream.h - the numbers of what comes to a stream, for ctrace top.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_PROCESSES_TOP_STREAM_H
#define CT_TOOLS_PROCESSES_TOP_STREAM_H

#include "session/client.h"
#include "tools/processes/stats.h"

/* Components of processes that are counted, at most; beyond that the processes that have been
 * silent longest are forgotten. */
#define TOP_STREAM_LIMIT 10000u
#define TOP_STREAM_SILENT_S 600u /* a process that has sent nothing for so long is forgotten */

struct top_stream;
/* Starts a thread that follows the stream from now on.  It reports on stderr.  The address and the
 * filter are borrowed.  NULL: it cannot be started; that is reported. */
struct top_stream *top_stream_open(const char *address, const struct ct_peer_filter *filter);
/* A descriptor that becomes readable when the thread has ended by itself: the stream cannot be
 * followed. */
int top_stream_fd(const struct top_stream *stream);
/* Gives the numbers since the beginning.  ct_stats_fini() is needed in any case. */
void top_stream_gather(struct top_stream *stream, struct stats *stats);
/* Ends the thread and frees everything.  *out_status: the exit status of a verb that follows a
 * stream.  Returns false when a server keeps the thread for more than a second: then it goes on,
 * and the process must end by _exit(). */
bool top_stream_close(struct top_stream *stream, int *out_status) CT_MUST_USE;

#endif
