/*
 * nats_parts.h - the parts of nats.so: nats_address.c, nats_link.c and what uses them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_NATS_PARTS_H
#define CT_NATS_PARTS_H

#include "base/base.h"
#include "tools/streams/nats_module.h"

#include <nats/nats.h>

/* ---- nats_address.c */

#define CT_NATS_TEXT 256

struct ct_nats_address {
	char servers[1024]; /* as libnats takes them, with the scheme, commas between */
	bool uses_tls;
	char stream[CT_NATS_TEXT];
	char subject[CT_NATS_TEXT]; /* ctrace; or, without has_subject, the stream's */
	bool has_subject;           /* the address names it */
	char cluster[CT_NATS_TEXT]; /* default; of a reader *: any */
	char host[CT_NATS_TEXT];    /* of a reader; *: any */
	char job[CT_NATS_TEXT];
	char credentials[CT_NATS_TEXT];
	char ca[CT_NATS_TEXT];
	char certificate[CT_NATS_TEXT];
	char key[CT_NATS_TEXT];
	/* The word of this user in the subjects of answers: _INBOX.<inbox>.>; else the user's name,
	 * or "" if the address has none. */
	char inbox[CT_NATS_TEXT];
	int64_t replicas;  /* of a stream that is made; 1 */
	int64_t max_age;   /* seconds; 0: no limit */
	int64_t max_bytes; /* 0: no limit */
	int64_t linger;    /* seconds for which a spool keeps what was acknowledged */
	int64_t spool_size;
};
/* On any status but OK says in error what was found, and what was expected.  Without needs_stream
 * the stream may be missing. */
enum ctrace_status ct_nats_address_parse(const char *text, bool needs_stream,
					 struct ct_nats_address *out,
					 char error[CT_NATS_ERROR_SIZE]);
/* Replaces what a token of a subject may not have. */
void ct_nats_token(char *out, size_t size, const char *text);
/* The words of a host and of a job in the subjects of messages: small letters, and capitals.  So a
 * reader finds what a filter accepts, which compares them whatever the case. */
void ct_nats_host_token(char *out, size_t size, const char *host);
void ct_nats_job_token(char *out, size_t size, const char *job);

/* ---- nats_standing.c */

#define CT_NATS_CONNECT_MS 5000 /* for an attempt to connect to a server */
/* natsConnection_Connect(), which gives up a server that stands still. */
natsStatus ct_nats_connect_watched(natsConnection **out_connection, natsOptions *options);

/* ---- nats_link.c: the connection */

struct ct_nats_link {
	natsConnection *connection;
	jsCtx *context;
	int64_t payload_max;     /* bytes of a message */
	int64_t max_bytes;       /* that the stream keeps; 0: no limit */
	uint64_t first_sequence; /* the number of the first message of the stream */
	uint64_t last_sequence;  /* the number of the stream's last message */
	int64_t created;         /* when the stream was made, ns since 1970 */
	bool may_not_ask;        /* for a message by its number */
	struct ct_nats_servers servers;
};
#define CT_NATS_REQUEST_MS 10000
/* A message of the stream that its reader or its sender knows again. */
#define CT_NATS_ID_SIZE 160u
struct ct_nats_place {
	uint64_t sequence;        /* 0: none */
	int64_t time;             /* when the servers took it, ns since 1970; 0: not known */
	char id[CT_NATS_ID_SIZE]; /* its Nats-Msg-Id; "": it had none */
};
/* Why the last call of libnats on this thread failed.  libnats keeps the text. */
const char *ct_nats_reason(natsStatus status);
/* Returns what the servers last refused on the connection, such as a permission, or NULL.  libnats
 * keeps the text. */
const char *ct_nats_refusal(natsConnection *connection);
/* Why a request to the servers failed: they do not answer one that they refuse. */
const char *ct_nats_request_reason(natsConnection *connection, natsStatus status);
/* Connects, without a look at the stream. */
enum ctrace_status ct_nats_connect(natsConnection **out_connection,
				   const struct ct_nats_address *address,
				   char error[CT_NATS_ERROR_SIZE]);
/* Connects, and looks at the stream as below. */
enum ctrace_status ct_nats_link_open(struct ct_nats_link *link, struct ct_nats_address *address,
				     bool makes, char error[CT_NATS_ERROR_SIZE]);
/* Looks at the stream with a connection that is open, for at most wait_ms. */
enum ctrace_status ct_nats_link_look(struct ct_nats_link *link, struct ct_nats_address *address,
				     int64_t wait_ms, bool makes, char error[CT_NATS_ERROR_SIZE]);
/* Looks at the stream.  With `makes`, makes it when there is none.  When the address names no
 * subject, it gets that of the stream; a subject that the stream has not is an error of a reader.
 */
enum ctrace_status ct_nats_stream_look(struct ct_nats_link *link, struct ct_nats_address *address,
				       bool makes, char error[CT_NATS_ERROR_SIZE]);
/* Stores in the copy which servers keep the stream.  Calls copy->notice when one of them is
 * lacking, once for each text in a row. */
void ct_nats_servers_note(const struct ct_nats_link *link, const struct ct_nats_address *address,
			  struct ct_nats_copy *copy);
enum ct_nats_kept {
	CT_NATS_KEPT, /* the stream has it, or has removed it in order, or may not be asked */
	CT_NATS_ENDS_BEFORE, /* the servers have gone back, and the stream ends before it */
	CT_NATS_ANOTHER,     /* they have gone back, and another message has its number */
};
/* Needs a look at the stream; looks again where the stream ends before the message. */
enum ct_nats_kept ct_nats_place_look(struct ct_nats_link *link, struct ct_nats_address *address,
				     const struct ct_nats_place *place, struct ct_nats_copy *copy);
/* Says what the servers have lost, unless `kept` is KEPT.  what: "were copied". */
void ct_nats_lost_notice(const struct ct_nats_link *link, const struct ct_nats_address *address,
			 const struct ct_nats_place *place, enum ct_nats_kept kept,
			 const char *what, struct ct_nats_copy *copy);
void ct_nats_link_close(struct ct_nats_link *link);
/* Waits a fifth of a second.  Returns false when the copy is to end. */
bool ct_nats_wait(const struct ct_nats_copy *copy);
/* Calls copy->notice. */
void ct_nats_notice(struct ct_nats_copy *copy, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Reports copy->error, unless it was reported last. */
void ct_nats_report(struct ct_nats_copy *copy);
/* Reports copy->error and waits, as above. */
bool ct_nats_retry(struct ct_nats_copy *copy);

/* ---- the messages */
#define CT_NATS_ID "Nats-Msg-Id"
#define CT_NATS_FILE "Ctrace-File"       /* its name */
#define CT_NATS_NAME "Ctrace-Name"       /* of the trace's directory */
#define CT_NATS_OFFSET "Ctrace-Offset"   /* in the file */
#define CT_NATS_SIZE "Ctrace-Size"       /* of the metadata, or of a .zst file, as a whole */
#define CT_NATS_BEGINS "Ctrace-Begins"   /* yes: the first byte begins a packet */
#define CT_NATS_LAST "Ctrace-Last"       /* the end of the last packet, ns since 1970 */
#define CT_NATS_FIRST "Ctrace-First"     /* the beginning of the first one */
#define CT_NATS_RESTART "Ctrace-Restart" /* the file is sent for the n-th time */
/* The sum of the file's bytes up to the end of the message, hexadecimal (nats_forward.h). */
#define CT_NATS_SUM "Ctrace-Sum"
/* Of metadata: yes: all packets of the trace were sent before, and it is closed. */
#define CT_NATS_COMPLETE "Ctrace-Complete"
/* The bound of the error of the sender's clock, ns, and "yes" if nothing synchronises the clock; of
 * traces of the sender's own machine. */
#define CT_NATS_CLOCK "Ctrace-Clock-Error"
#define CT_NATS_UNSYNCHRONISED "Ctrace-Clock-Unsynchronised"
/* The time of the sender's clock, ns since 1970; likewise. */
#define CT_NATS_SENT "Ctrace-Sent"
#define CT_NATS_METADATA "metadata"

/* ---- nats_respond.c: requests */

/* Of an answer: who answers.  Of a request: whom it is for; without it, the word of the subject. */
#define CT_NATS_HOST "Ctrace-Host"
#define CT_NATS_TIMEOUT "Ctrace-Timeout" /* milliseconds that the sender waits */
#define CT_NATS_INBOX "_INBOX."          /* what subjects of answers begin with */
/* Makes a new subject for answers; terminated. */
void ct_nats_inbox_make(char out[2 * CT_NATS_TEXT], const struct ct_nats_address *address);
/* The word of a machine in the subjects of requests. */
void ct_nats_op_word(char *out, size_t size, const char *host);
/* As ct_nats_address_parse(), for an address that needs no stream. */
enum ctrace_status ct_nats_servers_parse(const char *text, struct ct_nats_address *out,
					 char error[CT_NATS_ERROR_SIZE]);
/* Whether the servers have refused the subject; they have answered what was sent before. */
bool ct_nats_is_forbidden(natsConnection *connection, const char *subject);

enum ctrace_status ct_nats_forward(struct ct_nats_copy *copy);
enum ctrace_status ct_nats_fetch(struct ct_nats_copy *copy);
enum ctrace_status ct_nats_respond(struct ct_nats_responder *responder);
enum ctrace_status ct_nats_ask(struct ct_nats_question *question);
enum ctrace_status ct_nats_servers(const char *address, struct ct_nats_servers *out);

#endif
