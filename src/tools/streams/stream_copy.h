/*
 * tools/streams/stream_copy.h - traces in JetStream streams: what the verbs have in common.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_STREAMS_STREAM_COPY_H
#define CT_TOOLS_STREAMS_STREAM_COPY_H

#include "tools/streams/nats_module.h"

/* Loads nats.so.  NULL, when that fails; it is reported. */
const struct ct_nats_module *stream_module(const char *verb);
/* Reports why the module failed.  Returns the verb's exit status. */
int stream_end(const char *verb, const char *error, enum ctrace_status status);
/* True if the word is the address of a stream: nats:// or tls://. */
bool stream_is_address(const char *word);
/* The name of the stream in an address, up to a question mark or the end. */
const char *stream_name(const char *address);
/* What a server does for its copy of a stream: leads, follows, behind or offline. */
const char *stream_state_name(enum ct_nats_state state);
/* Copies traces into a stream, or from one.  Reports a failure as the verb's.  Returns the verb's
 * exit status.  Ends early when SIGINT or SIGTERM came (cli/end_signal.h). */
int stream_forward(const char *verb, struct ct_nats_copy *copy);
int stream_fetch(const char *verb, struct ct_nats_copy *copy);
/* Reports how much was copied. */
void stream_report_total(const char *verb, const struct ct_nats_copy *copy);
/* Copies of a stream the packets that may have events between these times, 0 and UINT64_MAX for
 * all, into a directory of their own, which disappears when the tool ends. NULL, when that fails;
 * it is reported.  A second call for the same packets returns the same copy. */
const char *stream_fetch_temporary(const char *verb, const char *address, uint64_t since_ns,
				   uint64_t until_ns);

/* The streams that were copied: which servers keep them, as the servers said.  False past the last.
 */
bool stream_servers_next(size_t index, const char **out_stream, const char **out_servers);

/* Returns the path as messages show it: of such a copy, the name of the stream stands in place of
 * the directory.  The text is good until the next call. */
const char *stream_shown_path(const char *path);

/* Copies what comes to a stream into such a directory, part by part, until goes_on() returns false.
 * Calls take for each part, in which each trace has whole packets; the part is then removed.
 * is_repeated: some of its events may have been in an earlier part.  since_ns: packets with events
 * since then; 0: all; UINT64_MAX: what comes from now on.  Returns the verb's exit status. */
struct stream_parts {
	uint64_t since_ns;
	bool (*goes_on)(void *user);
	void (*take)(const char *directory, bool is_repeated, void *user);
	void *user;
};
int stream_follow(const char *verb, const char *address, const struct stream_parts *parts);

#endif
