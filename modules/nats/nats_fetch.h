/*
 * nats_fetch.h - the parts of a copy from a stream.
 *
 *     nats_fetch.c    the messages of the stream, in their order
 *     nats_copied.c   the copies: directories, metadata, files
 *     nats_late.c     messages that come after their successors, or never
 *     nats_lead.c     hosts whose clocks are ahead
 *     nats_archive.c  an archive that is continued
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_NATS_FETCH_H
#define CT_NATS_FETCH_H

#include "nats_parts.h"

/* A message that came before the bytes that stand before its own. */
struct ct_nats_waiting {
	struct ct_nats_waiting *next; /* with a larger offset */
	natsMsg *message;
	uint64_t offset;
	uint64_t sequence; /* its number in the stream */
	int64_t since_ms;
};

/* Which bytes of a file the copy has.  A byte of the file is in the copy at its offset less base.
 */
struct ct_nats_extent {
	uint64_t base;         /* offset of the first byte, and the bytes of closed gaps */
	uint64_t floor;        /* offset behind the last closed gap: bytes before are not taken */
	uint64_t end;          /* offset behind the last byte */
	uint64_t packet_begin; /* offset of the last packet */
	uint64_t packet_end;   /* offset behind it; a part of it may not be there */
	uint64_t packet_sequence; /* number of the message in which it begins */
	bool is_begun;
};

struct ct_nats_copied {
	struct ct_nats_copied *next;
	char name[64];
	int fd; /* -1: not open now */
	uint64_t used;
	struct ct_nats_extent has;
	struct ct_nats_waiting *waiting;
	/* before its gaps were closed at the end of an archive, which reopens them */
	struct ct_nats_extent had;
	uint64_t reopens; /* the number of the first message that waited; 0: none */
	bool is_taken;    /* a part of it was handed over and removed */
	uint64_t restarts;
	uint64_t first_sequence; /* of its messages in the stream */
	bool is_whole;           /* a compressed file: the copy has all of it */
	bool is_replaced;        /* by the same file, compressed */
};

struct ct_nats_copied_trace {
	struct ct_nats_copied_trace *next;
	char uuid[33];
	char host[128];     /* a word of the subject */
	char subject[1024]; /* of its messages, without the file */
	char *path;
	struct ct_nats_copied *files;
	bool has_metadata;
	/* of the host's clock, as the messages say: the largest bound of its error */
	uint64_t clock_error_ns;
	bool has_clock, is_unsynchronised;
	bool is_clock_new; /* its file has older values */
	bool is_changed;   /* bytes of streams came */
	bool is_hidden;    /* it has nothing new: its metadata have another name */
	bool is_other;     /* of a host or job whose name is the same word in subjects */
	bool is_closed;    /* an archive has all of it, and its end: nothing is changed */
	bool is_refused;   /* that was reported */
	bool is_complete;  /* its last metadata came behind all its packets */
	bool is_whole;     /* the copy has its first message: the metadata before its packets */
	/* numbers of its messages in the stream */
	uint64_t first_sequence;
	uint64_t metadata_sequence; /* of the first message of the last whole metadata; 0: none */
	uint64_t parts_sequence;    /* of the first part of metadata that are not complete */
	/* numbers of messages that the stream may still have, times 2, plus 1 for metadata */
	uint64_t *stored;
	size_t stored_count, stored_room;
	/* messages were not copied, because a part before them is missing; they stay */
	bool has_left;
	char *parts; /* of metadata that are not complete */
	uint64_t parts_size, parts_got;
};

struct ct_nats_fetcher {
	struct ct_nats_copy *copy;
	struct ct_nats_address address;
	struct ct_nats_link link;
	struct ct_nats_copied_trace *traces;
	uint64_t uses;
	uint32_t open_count;
	uint64_t waiting_bytes; /* of messages that wait for others */
	/* of what was not handed over */
	uint64_t new_bytes;
	int64_t new_since_ms;
	bool is_repeated;
	char filter[1400];         /* the subjects that are copied */
	uint64_t sequence;         /* of the last message that was taken */
	struct ct_nats_place last; /* the same message */
	int64_t again_from; /* after the servers have gone back: messages before were taken; ns */
	char consumer[64];  /* the name of the servers' consumer; libnats makes another one at times
			     */
	uint64_t taken;     /* how many messages of the consumer */
	/* of the last message that the stream had; a copy that follows goes on behind it */
	/* Destroyed when the connection is closed: in libnats 3.4, a message that comes while its
	 * subscription is destroyed leaves a lock behind, and the thread that reads waits for it.
	 */
	natsSubscription *subscription;
	uint64_t last_sequence;
	/* of an archive */
	int directory;    /* -1: no archive */
	bool is_changed;  /* since the note was written */
	int64_t noted_ms; /* when it was written */
};

/* ---- nats_fetch.c */
/* Stores the reason in copy->error, and returns the status. */
enum ctrace_status ct_nats_fetch_fail(struct ct_nats_fetcher *fetch, enum ctrace_status status,
				      const char *path, const char *what);
/* Forgets the numbers of messages, which have changed.  is_new: the stream was made anew, and the forwarders
 * send everything again, each file for the first time; else the servers have gone back. */
void ct_nats_fetch_renumber(struct ct_nats_fetcher *fetch, bool is_new);
/* Returns how many messages the consumer has after the first `taken`.  At least 1 when it has sent
 * one that has not arrived here, or does not answer.  Stores the consumer's name unless out_name is
 * NULL. */
uint64_t ct_nats_consumer_pending(natsSubscription *subscription, uint64_t taken,
				  char out_name[64]);

/* ---- nats_copied.c */
/* A header's number; 0 when it is missing. */
uint64_t ct_nats_header_number(natsMsg *message, const char *name);
bool ct_nats_header_is_there(natsMsg *message, const char *name);
/* Finds the trace that the message is of, or begins its copy.  *out is NULL, with OK, when the
 * message is not of ctrace. */
enum ctrace_status ct_nats_trace_find(struct ct_nats_fetcher *fetch, natsMsg *message,
				      struct ct_nats_copied_trace **out);
/* The host in the subject of a trace's messages. */
bool ct_nats_subject_host(const char *subject, char out[128]);
/* Has the copy what the message has, whose body has that size? */
bool ct_nats_copy_has(const struct ct_nats_copied_trace *trace, const char *name, natsMsg *message,
		      uint64_t size);
/* A trace that is closed: is the message one that would change it?  Reports that. */
bool ct_nats_closed_refuse(struct ct_nats_fetcher *fetch, struct ct_nats_copied_trace *trace,
			   const char *name, natsMsg *message);
/* Returns the trace of a message's subject that the copy has; NULL: none. */
struct ct_nats_copied_trace *ct_nats_trace_known(const struct ct_nats_fetcher *fetch,
						 const char *subject);
/* Removes what was handed over; what comes later is new. */
void ct_nats_trace_empty(struct ct_nats_fetcher *fetch, struct ct_nats_copied_trace *trace);
/* Returns the file of that name; makes it when it is new.  NULL without memory. */
struct ct_nats_copied *ct_nats_copied_find(struct ct_nats_copied_trace *trace, const char *name);
bool ct_nats_file_open(struct ct_nats_fetcher *fetch, const struct ct_nats_copied_trace *trace,
		       struct ct_nats_copied *file, int flags);
/* Begins the copy of the file with the byte at that offset. */
bool ct_nats_file_begin(struct ct_nats_fetcher *fetch, const struct ct_nats_copied_trace *trace,
			struct ct_nats_copied *file, uint64_t offset, uint64_t sequence);
/* Puts the bytes of a message, which do not begin behind the end of the copy, in their place. */
enum ctrace_status ct_nats_bytes_put(struct ct_nats_fetcher *fetch,
				     struct ct_nats_copied_trace *trace,
				     struct ct_nats_copied *file, natsMsg *message,
				     uint64_t sequence);
enum ctrace_status ct_nats_metadata_take(struct ct_nats_fetcher *fetch,
					 struct ct_nats_copied_trace *trace, natsMsg *message);
/* Takes, writes and reads what is known of the host's clock. */
void ct_nats_clock_take(struct ct_nats_copied_trace *trace, natsMsg *message);
enum ctrace_status ct_nats_clock_write(struct ct_nats_fetcher *fetch,
				       struct ct_nats_copied_trace *trace);
void ct_nats_clock_read(struct ct_nats_copied_trace *trace);
bool ct_nats_name_is_packed(const char *name);
/* Of a file that is there compressed in part, the copy keeps what is not compressed. */
void ct_nats_packed_end(struct ct_nats_fetcher *fetch, struct ct_nats_copied_trace *trace);
/* Has the copy all that the trace's closing mark names?  False without a mark. */
bool ct_nats_copy_is_closed(const struct ct_nats_copied_trace *trace);
/* Removes a closing mark that names more than the copy has. */
enum ctrace_status ct_nats_mark_remove(struct ct_nats_fetcher *fetch,
				       struct ct_nats_copied_trace *trace);

/* ---- nats_lead.c */
/* How far the clock of any host that is copied is ahead of the servers' clock, ns. */
uint64_t ct_nats_lead(const struct ct_nats_fetcher *fetch);

/* ---- nats_late.c */
/* Takes the bytes of a file: puts them in their place, or keeps the message, which then is no
 * longer the caller's. */
enum ctrace_status ct_nats_bytes_take(struct ct_nats_fetcher *fetch,
				      struct ct_nats_copied_trace *trace, const char *name,
				      natsMsg **message);
/* The number of the first message that waits for another one; UINT64_MAX: none. */
uint64_t ct_nats_waiting_sequence(const struct ct_nats_copied *file);
/* Closes the gaps for which messages have waited too long. */
enum ctrace_status ct_nats_late_look(struct ct_nats_fetcher *fetch);
/* Closes all gaps.  An archive reopens them when it goes on. */
enum ctrace_status ct_nats_late_end(struct ct_nats_fetcher *fetch);
void ct_nats_late_reopen(struct ct_nats_fetcher *fetch);
/* Forgets the messages of a file that wait. */
void ct_nats_late_remove(struct ct_nats_fetcher *fetch, struct ct_nats_copied *file);

/* ---- nats_prune.c: removing from the stream what an archive has */
/* Notes that the stream has a message of the trace. */
enum ctrace_status ct_nats_prune_note(struct ct_nats_copied_trace *trace, uint64_t sequence,
				      bool is_metadata);
/* Notes which messages the stream still has up to the archive's note. */
enum ctrace_status ct_nats_prune_open(struct ct_nats_fetcher *fetch);
/* Removes the messages that the note on the disk covers. */
enum ctrace_status ct_nats_prune(struct ct_nats_fetcher *fetch);

/* ---- nats_archive.c: an archive that is continued */
/* Does a note say what the copy has of the file? */
bool ct_nats_file_is_noted(const struct ct_nats_copied *file);
/* Locks the directory, and reads the note of an earlier archive.  Writes one when there is none. */
enum ctrace_status ct_nats_archive_open(struct ct_nats_fetcher *fetch);
/* Makes what was copied durable, and notes it.  With `prunes`, removes it from the stream. */
enum ctrace_status ct_nats_archive_note(struct ct_nats_fetcher *fetch);
void ct_nats_archive_close(struct ct_nats_fetcher *fetch);

#endif
