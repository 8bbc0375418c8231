/*
 * nats_forward.h - the parts of a forwarder: nats_forward.c, nats_note.c, nats_publish.c,
 * nats_spool.c, nats_verify.c.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_NATS_FORWARD_H
#define CT_NATS_FORWARD_H

#include "nats_parts.h"

#include "format/format.h"

#include <pthread.h>

#define UNDER_WAY 16 /* messages */
#define ACKNOWLEDGE_MS 10000
#define BODY_MAX ((size_t)512 << 10)

/* A checksum of what was sent. */
struct ct_nats_sum {
	uint64_t value; /* FNV-1a */
};

struct ct_nats_file {
	struct ct_nats_file *next;
	char name[64];
	uint64_t sent;          /* bytes that were sent */
	struct ct_nats_sum sum; /* of these */
	uint64_t acknowledged;  /* bytes that the servers have */
	struct ct_nats_sum acknowledged_sum;
	uint64_t limit;  /* bytes that may be sent in this pass */
	uint64_t seen;   /* its length in the last pass */
	int64_t changed; /* the time of its last change, when it was compared last */
	/* how often it was begun again; of the metadata: the bytes of the streams that were sent
	 * when it was sent last */
	uint64_t restarts;
	uint64_t acknowledged_restarts;
};

struct ct_nats_trace {
	struct ct_nats_trace *next;
	char *path;
	struct ct_trace_info info;
	char uuid[33];
	bool is_open;     /* a process has it open */
	bool is_begun;    /* its note was read */
	bool is_verified; /* it was compared with what the stream has */
	/* in the ids of its messages, because the servers lack what they had; 0: nothing */
	int64_t sent_again_ms;
	bool is_acknowledged;       /* the servers have all that was sent */
	bool is_noted;              /* the note is that of the present state */
	struct ct_nats_place place; /* its last message that the servers acknowledged */
	/* of a spool: */
	bool is_there;    /* found in this pass */
	bool is_complete; /* no process has it open or will write to it */
	bool is_sent;     /* in this pass all its bytes were sent, or had been before */
	int64_t since_ms; /* complete and acknowledged since; 0: it is not */
	struct ct_nats_file *files;
	struct ct_nats_file metadata;
};

#define ACKNOWLEDGED 64u /* traces between two calls: no more than messages under way, mostly */

struct ct_nats_forwarder {
	struct ct_nats_copy *copy;
	struct ct_nats_address address;
	struct ct_nats_link link;
	struct ct_nats_trace *traces;
	unsigned char *body; /* BODY_MAX bytes */
	size_t body_max;
	uint32_t under_way;
	pthread_mutex_t lock; /* of the next two, which a thread of libnats writes */
	struct ct_nats_place acknowledged[ACKNOWLEDGED]; /* the last message of each trace */
	unsigned acknowledged_count;
	int failed;              /* atomic: a message was not acknowledged */
	int has_refusal;         /* atomic: refusal is set */
	char refusal[256];       /* why the first message of them failed */
	uint64_t reconnects;     /* of the connection, when the stream was looked at last */
	int64_t unsettled_since; /* ms since 1970; 0: all was acknowledged */
	bool has_sent;           /* in this pass */
	bool has_skipped;        /* in this pass: something cannot be read, see copy->error */
	bool has_reported_loss;  /* that servers have lost what notes say they acknowledged */
	int64_t measure_at_ms;   /* the spool is not measured before */
	int64_t look_at_ms;      /* the next look at the stream */
	bool has_reported_room; /* since the last note that was written: there is no room for one */
};

#define CT_NATS_SUM_EMPTY ((struct ct_nats_sum){ UINT64_C(0xCBF29CE484222325) })
static inline struct ct_nats_sum ct_nats_sum_add(struct ct_nats_sum sum, const unsigned char *bytes,
						 size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum.value = (sum.value ^ bytes[i]) * UINT64_C(0x100000001B3);
	return sum;
}

/* Bytes of a file that one message has. */
struct ct_nats_chunk {
	const unsigned char *bytes;
	size_t size;
	uint64_t offset;
	uint64_t total;       /* metadata: of all parts */
	uint64_t packed_size; /* of the whole file */
	bool begins;          /* with a packet */
	uint64_t first_ns, last_ns;
	uint64_t version;       /* part of the message's id */
	bool is_complete;       /* metadata of a trace that is closed, behind all its packets */
	struct ct_nats_sum sum; /* of the file up to its end */
};

/* Stores the reason in copy->error, and returns the status. */
enum ctrace_status ct_nats_forward_fail(struct ct_nats_forwarder *forward,
					enum ctrace_status status, const char *path,
					const char *what);

/* ---- nats_note.c */
bool ct_nats_name_is_stream(const char *name);
/* Returns the file of that name; makes it when it is new.  NULL without memory. */
struct ct_nats_file *ct_nats_file_find(struct ct_nats_trace *trace, const char *name);
/* Reads the note, if there is one for this trace and this stream. */
void ct_nats_note_read(const struct ct_nats_forwarder *forward, struct ct_nats_trace *trace);
/* Called when the servers have acknowledged all messages: writes the notes that are not of the
 * present state.  Of a spool whose file system is full they stay due: the next call tries again. */
enum ctrace_status ct_nats_notes_write(struct ct_nats_forwarder *forward);

/* ---- nats_spool.c */
/* Adds the traces of the spool that have this address, and drops those that are gone. */
enum ctrace_status ct_nats_spool_look(struct ct_nats_forwarder *forward);
/* Called when the servers have acknowledged all messages: removes what is sent and complete, after
 * the time that the address names; earlier what takes more than half of the spool's size. */
void ct_nats_spool_remove(struct ct_nats_forwarder *forward);
/* Is it complete?  text: its metadata. */
bool ct_nats_spool_is_complete(const struct ct_nats_trace *trace, const char *text, size_t size);

/* ---- nats_forward.c */
enum ctrace_status ct_nats_trace_add(struct ct_nats_forwarder *forward, const char *path);
void ct_nats_trace_free(struct ct_nats_trace *trace);

/* ---- nats_verify.c */
/* Adds the bytes of the file from *at to `end` to the sum.  False: they cannot be read. */
bool ct_nats_sum_go_on(struct ct_nats_forwarder *forward, int fd, uint64_t *at, uint64_t end,
		       struct ct_nats_sum *sum);
/* Asks the stream what it has of the trace, whose files are known, and makes what it lacks due. */
enum ctrace_status ct_nats_trace_verify(struct ct_nats_forwarder *forward,
					struct ct_nats_trace *trace);

/* ---- nats_publish.c */
/* For libnats, on a thread of its own: a message was acknowledged or refused. */
void ct_nats_publish_ended(jsCtx *context, natsMsg *message, jsPubAck *acknowledged,
			   jsPubAckErr *error, void *user);
enum ctrace_status ct_nats_message_send(struct ct_nats_forwarder *forward,
					struct ct_nats_trace *trace, const char *name,
					const struct ct_nats_chunk *chunk);
/* The subject of its messages of that file; "*": of all. */
void ct_nats_trace_subject(const struct ct_nats_forwarder *forward,
			   const struct ct_nats_trace *trace, const char *name, char *out,
			   size_t size);
/* Waits until the servers have all messages.  False: one failed, and all since the last call that
 * succeeded are to be sent again. */
bool ct_nats_messages_wait(struct ct_nats_forwarder *forward);
/* The same in *out_is_settled.  Then removes the traces of a spool that are complete and sent, and
 * notes how far the others are. */
enum ctrace_status ct_nats_messages_settle(struct ct_nats_forwarder *forward, bool *out_is_settled);
/* Forgets what was sent of the trace; its note is read again. */
void ct_nats_trace_reset(struct ct_nats_trace *trace);
/* Looks at the stream, and makes it when it is missing.  What its servers have lost of the traces
 * is sent again, and reported. */
enum ctrace_status ct_nats_stream_check(struct ct_nats_forwarder *forward);
/* Have the servers still what the trace's note says?  If not, sends it again and reports that. */
void ct_nats_trace_compare(struct ct_nats_forwarder *forward, struct ct_nats_trace *trace);
/* How often libnats has connected again. */
uint64_t ct_nats_reconnects(const struct ct_nats_forwarder *forward);

#endif
