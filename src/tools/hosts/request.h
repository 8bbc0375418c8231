/*
 * tools/hosts/request.h - a request to another machine: the words of a verb, and what it has
 * printed there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_HOSTS_REQUEST_H
#define CT_TOOLS_HOSTS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* What the words of a verb do on a machine. */
enum request_kind {
	REQUEST_DISPLAY, /* shows something */
	REQUEST_COMMAND, /* changes something */
	REQUEST_REFUSED, /* is no verb for other machines */
};
#define REQUEST_WHY 256u
/* The environment of a verb that a responder runs: "command user@host" or "display user@host". */
#define REQUEST_PARTY "CTRACE_REQUEST"
#define REQUEST_AS_COMMAND "command"
#define REQUEST_AS_DISPLAY "display"
/* Reads it, and removes it from the environment: what this process asks has that party. */
void request_party_take(void);
/* REQUEST_REFUSED: why says what was found, and what was expected. */
/* The table of session/right.h decides. */
enum request_kind request_kind_of(size_t count, char *const *words, char why[REQUEST_WHY]);

/* Returns what a name of a machine has to be, or NULL if this is one. */
const char *host_name_fault(const char *name);

#define REQUEST_WORDS 64u /* at most, of at most 4,096 bytes each */

struct request {
	char *words[REQUEST_WORDS + 1]; /* "level", "kvs.net", NULL */
	size_t count;
	char *user; /* who sent it, user@machine, as he says; "" */
	void *json; /* has the texts */
};
/* Returns the request as text, which the caller frees; NULL without memory. */
char *request_encode(size_t count, char *const *words);
/* False: it is no request. */
bool request_decode(const char *data, size_t size, struct request *out);
void request_fini(struct request *request);

struct answer {
	int status; /* of the verb */
	const char *out, *err;
	void *json;
};
/* Returns the answer as text, which the caller frees; bytes that are no UTF-8 become "?". */
char *answer_encode(int status, const char *out, size_t out_size, const char *err, size_t err_size);
bool answer_decode(const char *data, size_t size, struct answer *out);
void answer_fini(struct answer *answer);

#endif
