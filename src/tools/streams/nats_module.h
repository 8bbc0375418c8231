/*
 * nats_module.h - what nats.so does for the tool: copies traces into a JetStream stream and back,
 * and carries requests to other machines.
 *
 * A stream has the bytes of trace directories (BINFILE), in messages of up to half a megabyte.  A
 * message says which bytes of which file it has, so one that comes twice changes nothing, and
 * copying back needs no state.  The subject of a message is
 *
 *     <subject>.<cluster>.<host>.<job>.<trace>.<file>
 *
 * where host is in small letters, job in capitals, trace is the trace's uuid, and file is
 * `metadata` or `stream-<number>`.  The stream has the subjects `<subject>.*.*.*.*.*`, and so not
 * those of requests (below).  The metadata come as a whole each time that they have changed, and
 * once behind the packets, so that a stream that keeps only the last messages has them; the last
 * message of their subject counts.
 *
 * The address of a stream is
 * nats://[USER:PASSWORD@]HOST[:PORT][,HOST...]/STREAM[?KEY=VALUE[&KEY=VALUE...]], tls:// for TLS.
 * Its keys are in nats_address.c.
 *
 * A function returns OK, or another status with the reason in error.  One thread at a time calls
 * them; libnats has threads of its own meanwhile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_NATS_MODULE_H
#define CT_NATS_MODULE_H

#include <ctrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CT_NATS_ERROR_SIZE 512
#define CT_NATS_SERVERS_SIZE 300
/* In each directory that fetch makes: the bound of the error of the host's clock in nanoseconds, as
 * the messages name it, and "synchronised" or "unsynchronised". */
#define CT_NATS_CLOCK_FILE ".clock"

/* The servers that keep a stream, as they say it themselves. */
#define CT_NATS_COPIES 10u /* 5 at most, and while they are moved as many new ones */
enum ct_nats_state { CT_NATS_LEADS, CT_NATS_FOLLOWS, CT_NATS_BEHIND, CT_NATS_OFFLINE };
#define CT_NATS_STATES 4u
struct ct_nats_servers {
	char stream[256];
	unsigned wanted; /* copies that the stream is to have */
	unsigned count;  /* copies that there are */
	struct {
		char name[64]; /* "": of a server that is in no cluster */
		enum ct_nats_state state;
		uint64_t lag; /* messages that it lacks */
	} copies[CT_NATS_COPIES];
	bool is_lacking; /* a copy is not what it should be; a moment behind is no reason */
	/* which servers there are, and what is wrong with them: "n1 leads, n2 is offline" */
	char text[CT_NATS_SERVERS_SIZE];
	char error[CT_NATS_ERROR_SIZE]; /* why nothing is known; "": the rest is set */
};

/* Asked between two messages, and while there is nothing to do.  Returns false to end. */
typedef bool ct_nats_goes_on(void *user);

struct ct_nats_copy {
	const char *address;
	/* forward: the trace directories, and directories that have some.  fetch: one that exists,
	 * in which a directory for each trace is made. */
	char *const *paths;
	size_t path_count;
	bool follows; /* goes on until goes_on returns false */
	/* forward: the one path is a spool (lib/emit/spool.h).  Only traces with this address are
	 * sent, and those that are complete and acknowledged are removed.  Ends also when there has
	 * been no such trace for a while. */
	bool is_spool;
	/* forward: asks the stream what it has, in place of reading notes, and sends the rest */
	bool verifies;
	ct_nats_goes_on *goes_on;
	/* Called with error while `follows` tries again: once for each text in a row. */
	void (*report)(const char *error, void *user);
	/* Called with what the user has to know, although the copy goes on. */
	void (*notice)(const char *text, void *user);
	void *user;
	/* fetch: only packets that may have events between these times, since 1970; 0 and
	 * UINT64_MAX: all */
	uint64_t since_ns, until_ns;
	/* fetch: the directory is an archive: it has a note how far it is, and goes on there */
	bool is_archive;
	bool prunes;      /* ... and what it has on its disk is removed from the stream */
	uint64_t keep_ns; /* but not what is younger */
	bool is_from_now; /* fetch: nothing that the stream had before */
	/* fetch with `follows`, or NULL: called with what has come, in whole packets; the streams
	 * are then emptied.  is_repeated: some of these events may have come before, because a
	 * file was sent again or compressed. */
	void (*take)(bool is_repeated, void *user);
	/* set by the function */
	uint64_t messages;
	uint64_t bytes; /* of the traces */
	uint64_t traces;
	uint64_t left_out; /* fetch: traces whose metadata are not in the stream */
	uint64_t refused;  /* fetch: messages that would have changed what they may not change */
	/* fetch: traces of which the stream has the end's mark, and not the end */
	uint64_t incomplete;
	char error[CT_NATS_ERROR_SIZE];
	char reported[CT_NATS_ERROR_SIZE]; /* the error that was reported last */
	/* which servers keep the stream, and what is wrong with them: "n1 leads, n2 is offline" */
	char servers[CT_NATS_SERVERS_SIZE];
};

/*
 * Requests to other machines.  A responder listens to the subjects
 *
 *     <subject>.op.<host>.display    <subject>.op.ALL.display
 *     <subject>.op.<host>.command    <subject>.op.ALL.command
 *
 * with the host's name in lower case, and answers each request twice: at once, with nothing, and
 * when it is done.  They have fewer words than the messages of traces, so no stream keeps them.
 * Two names may be one word; so a request has the name itself, and a responder of another name
 * answers with nothing alone.  The servers decide who may publish to a subject.
 */

/* A request as it came. */
struct ct_nats_request {
	bool is_command;
	int64_t left_ms; /* then its sender gives up */
	const char *data;
	size_t size;
	const char
		*refusal; /* why it is not to be carried out, or NULL: only an answer is wanted */
};
/* Called for each request, on the threads of the module, for several at once.  Returns the answer,
 * which the caller frees; NULL: none is given. */
typedef char *ct_nats_serve(const struct ct_nats_request *request, size_t *out_size, void *user);
struct ct_nats_responder {
	const char *address;
	const char *host;
	ct_nats_serve *serve;
	ct_nats_goes_on *goes_on;
	/* A request came that serve is not called for; on a thread of libnats. */
	void (*refused)(const char *why, void *user);
	void *user;
	void (*ready)(void *user); /* it listens now */
	/* Called each 10 seconds, or NULL, if the address names a stream.  On the caller's thread.
	 */
	void (*look)(const struct ct_nats_servers *servers, void *user);
	char error[CT_NATS_ERROR_SIZE];
};

struct ct_nats_answer {
	const char *host; /* as it names itself, or as it was asked for */
	const char *data; /* NULL: it has not answered in time, or why says something else */
	size_t size;
	const char *why;     /* NULL, or why there is no answer */
	unsigned responders; /* that answered to the name */
};
/* Called for each host, in the order of the question, or of their names. */
typedef void ct_nats_take(const struct ct_nats_answer *answer, void *user);
struct ct_nats_question {
	const char *address;
	const char *const *hosts; /* names are compared without the case of A to Z */
	size_t host_count;        /* 0: all that answer */
	bool is_command;
	const char *request;
	size_t size;
	unsigned timeout_ms;
	ct_nats_take *take;
	void *user;
	uint32_t answered; /* set by the function */
	char error[CT_NATS_ERROR_SIZE];
};

struct ct_nats_module {
	size_t size; /* sizeof(struct ct_nats_module) it was built with */
	/* NOT_FOUND: a path is missing, or has no trace. */
	enum ctrace_status (*forward)(struct ct_nats_copy *copy);
	/* NOT_FOUND: there is no such stream. */
	enum ctrace_status (*fetch)(struct ct_nats_copy *copy);
	enum ctrace_status (*respond)(struct ct_nats_responder *responder);
	enum ctrace_status (*ask)(struct ct_nats_question *question);
	/* SYNTAX_ERROR: the address is none. */
	enum ctrace_status (*servers)(const char *address, struct ct_nats_servers *out);
	/* Stores a host's name as it stands in subjects. */
	void (*host_word)(char *out, size_t size, const char *host);
};

/* The symbol that nats.so exports: const struct ct_nats_module. */
#define CT_NATS_SYMBOL "ct_nats_module"

#endif
