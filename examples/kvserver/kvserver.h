/*
 * kvserver.h - what the files of the key-value server share.
 *
 *     kvtrace.c      look here first: the component trace - DEFINE, start/stop and display routine,
 * entries, DELETE kvline.c       lines and requests: where the entries are traced kvserver.c
 * threads and connections kvoperator.c   the operator's line TRACE kvstore.c      the hash table
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef KVSERVER_H
#define KVSERVER_H

#include <ctrace/component.h>
#include <stdatomic.h>

#define KV_LINE 4096             /* bytes of a line, its newline included */
#define KV_ANSWER (KV_LINE + 64) /* bytes of an answer, its newline included */

enum kv_operation { KV_GET, KV_PUT, KV_DEL, KV_OPERATIONS };
enum kv_result { KV_OK, KV_NONE, KV_NO_MEMORY };

/* Bytes of a line; not terminated. */
struct kv_text {
	const char *at;
	size_t size;
};

/* ---- kvline.c */
struct kv_connection {
	int fd;
	uint32_t number;
	size_t filled;    /* bytes in `line` */
	bool is_skipping; /* the rest of a line that is too long */
	char line[KV_LINE];
	char answer[KV_ANSWER];
};
/* Answers each whole line that is there and keeps the rest.  False: the client is gone. */
bool kv_answer_lines(struct kv_connection *connection);
void kv_trace_line(const struct kv_connection *connection, uint32_t id, size_t bytes_in,
		   size_t bytes_out);
/* An answer of one line, cut at KV_ANSWER.  Returns its size. */
size_t kv_say(char answer[KV_ANSWER], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- kvstore.c.  Any thread. */
enum kv_result kv_store_get(struct kv_text key, char value[KV_LINE], size_t *out_size);
enum kv_result kv_store_put(struct kv_text key, struct kv_text value);
enum kv_result kv_store_del(struct kv_text key);
unsigned long kv_store_count(void);

/* ---- kvoperator.c: what stands behind the word TRACE.  Returns the answer's size. */
size_t kv_operator(struct kv_text line, char answer[KV_ANSWER]);

/* ---- kvtrace.c */
#define KV_COMPONENT "KVSERVER"

/* A trace: its tracer, and what its start/stop routine made of OPTIONS, in one word so that a
 * change is one store. */
struct kv_trace {
	struct ctrace_tracer tracer;
	/* bits 0-31: operations, KV_KEYS, KV_VALUES; bits 32-63: SLOW; 0: off */
	_Atomic uint64_t settings;
	void *userdata[CTRACE_USERDATA_SIZE / sizeof(void *)];
};
#define KV_KEYS (1u << 8)
#define KV_VALUES (1u << 9)
extern struct kv_trace kv_requests, kv_net, kv_store;

/* DEFINE, with the options of a parmlib member or without (NULL).  Trouble is told on standard
 * error: a server works without a trace. */
void kv_trace_start(const char *member);
void kv_trace_stop(void);

/* Is this operation traced?  The threshold comes first: while a trace is off, a load and a
 * comparison are all that it costs. */
static inline bool kv_traces(struct kv_trace *trace, enum kv_operation operation)
{
	return ctrace_enabled(&trace->tracer, CTRACE_INFO) &&
	       (atomic_load_explicit(&trace->settings, memory_order_relaxed) >> operation & 1);
}

/* Entry ids, each with its operation added, and what their binary item is. */
/* KVSERVER: a request was carried out; with KEYS its key, with VALUES its key and value as texts */
#define KV_ENTRY_REQUEST 0x10u
#define KV_ENTRY_LINE 0x20u  /* KVSERVER.NET: its line came in, its answer goes out */
#define KV_ENTRY_PROBE 0x30u /* KVSERVER.STORE: a key was looked for */
/* and without */
#define KV_ENTRY_BEGIN 0x28u   /* KVSERVER.NET: a connection begins; kv_line_entry */
#define KV_ENTRY_END 0x29u     /* KVSERVER.NET: it ends */
#define KV_ENTRY_REFUSED 0x2Au /* KVSERVER.NET: a line was too long */

struct kv_request_entry {
	uint32_t connection;
	uint8_t operation;
	uint8_t result;
	uint16_t key_size;
	uint32_t value_size;
	uint32_t microseconds;
};
struct kv_line_entry {
	uint32_t connection;
	uint32_t bytes_in;
	uint32_t bytes_out;
};
struct kv_probe_entry {
	uint32_t hash;
	uint32_t depth; /* items looked at */
};
_Static_assert(sizeof(struct kv_request_entry) == 16 && sizeof(struct kv_line_entry) == 12 &&
		       sizeof(struct kv_probe_entry) == 8,
	       "entries leave the process: no gaps");

#endif
