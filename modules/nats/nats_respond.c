/*
 * nats_respond.c - answers the requests that come for this machine.
 *
 * Each subscription has a thread of libnats, on which requests are served one after the other.  The
 * first answer is sent at once, so that who asks knows whom to wait for.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void ct_nats_op_word(char *out, size_t size, const char *host)
{
	ct_nats_token(out, size, host);
	for (; *out != '\0'; out++)
		if (*out >= 'A' && *out <= 'Z')
			*out = (char)(*out - 'A' + 'a');
}

enum ctrace_status ct_nats_servers_parse(const char *text, struct ct_nats_address *out,
					 char error[CT_NATS_ERROR_SIZE])
{
	const char *hosts = strstr(text, "://");
	bool is_known = strncmp(text, "nats://", 7) == 0 || strncmp(text, "tls://", 6) == 0;
	char shown[CT_NATS_ERROR_SIZE / 2];

	if (is_known && hosts[3] != '\0' && strchr("/?", hosts[3]) == NULL)
		return ct_nats_address_parse(text, false, out, error);
	ct_nats_shown(shown, sizeof shown, text);
	(void)snprintf(error, CT_NATS_ERROR_SIZE,
		       "\"%s\" is no address of servers; expected "
		       "nats://HOST[:PORT][,HOST...][?KEY=VALUE&...]",
		       shown);
	return CTRACE_SYNTAX_ERROR;
}

bool ct_nats_is_forbidden(natsConnection *connection, const char *subject)
{
	char quoted[2 * CT_NATS_TEXT + 32];
	const char *last = NULL;

	(void)snprintf(quoted, sizeof quoted, "\"%s\"", subject);
	(void)natsConnection_GetLastError(connection, &last);
	return last != NULL && strstr(last, "Permissions Violation") != NULL &&
	       strstr(last, quoted) != NULL;
}

static natsStatus answer_send(natsConnection *connection, natsMsg *request, const char *host,
			      const char *data, size_t size)
{
	natsMsg *answer = NULL;
	natsStatus status =
		natsMsg_Create(&answer, natsMsg_GetReply(request), NULL, data, (int)size);

	if (status == NATS_OK)
		status = natsMsgHeader_Set(answer, CT_NATS_HOST, host);
	if (status == NATS_OK)
		status = natsConnection_PublishMsg(connection, answer);
	if (status == NATS_OK)
		status = natsConnection_Flush(connection);
	natsMsg_Destroy(answer);
	return status;
}

/* Returns the last word of the subject.  A server may deliver a message of a stream, of any
 * subject, to a subject that a reader of the stream names: such a message is not sent by somebody
 * who may send requests.  It has a subject of its own, and a reply for the stream. */
static const char *request_kind(natsSubscription *subscription, natsMsg *request)
{
	const char *pattern = natsSubscription_GetSubject(subscription);
	size_t size = strlen(pattern) - 1; /* without the "*" */
	const char *subject = natsMsg_GetSubject(request), *reply = natsMsg_GetReply(request);

	if (strncmp(subject, pattern, size) != 0 || reply == NULL ||
	    strncmp(reply, CT_NATS_INBOX, sizeof CT_NATS_INBOX - 1) != 0)
		return "";
	return subject + size;
}

/* Returns the reason why the request is not carried out, or NULL. */
static const char *request_refuse(const struct ct_nats_responder *responder,
				  natsConnection *connection, natsMsg *request, const char *kind,
				  char why[CT_NATS_ERROR_SIZE])
{
	const char *asked = NULL;

	if (strcmp(kind, "command") != 0 && strcmp(kind, "display") != 0)
		return "it is no request that ctrace --host has sent to this machine";
	if (answer_send(connection, request, responder->host, NULL, 0) != NATS_OK)
		return "the servers do not take the answer";
	if (ct_nats_is_forbidden(connection, natsMsg_GetReply(request)))
		return "permissions: the user of the address may not answer; it has to publish "
		       "_INBOX.>";
	if (natsMsgHeader_Get(request, CT_NATS_HOST, &asked) != NATS_OK || asked == NULL ||
	    strcasecmp(asked, responder->host) == 0)
		return NULL;
	(void)snprintf(why, CT_NATS_ERROR_SIZE, "it is for the machine %.200s", asked);
	return why;
}

static void request_serve(natsConnection *connection, natsSubscription *subscription,
			  natsMsg *request, void *user)
{
	const struct ct_nats_responder *responder = user;
	const char *kind = request_kind(subscription, request);
	char text[CT_NATS_ERROR_SIZE];
	const char *why = request_refuse(responder, connection, request, kind, text);
	char *answer = NULL;
	size_t size = 0;

	if (why != NULL)
		responder->refused(why, responder->user);
	else
		answer = responder->serve(strcmp(kind, "command") == 0, natsMsg_GetData(request),
					  (size_t)natsMsg_GetDataLength(request), &size,
					  responder->user);
	if (answer != NULL)
		(void)answer_send(connection, request, responder->host, answer, size);
	free(answer);
	natsMsg_Destroy(request);
}

static enum ctrace_status subject_fail(struct ct_nats_responder *responder, const char *subject,
				       natsStatus status)
{
	if (status == NATS_OK)
		(void)snprintf(responder->error, CT_NATS_ERROR_SIZE,
			       "permissions: the user of the address may not subscribe to %.200s",
			       subject);
	else
		(void)snprintf(responder->error, CT_NATS_ERROR_SIZE, "%.200s: %.200s", subject,
			       ct_nats_reason(status));
	return CTRACE_OUTPUT_ERROR;
}

enum ctrace_status ct_nats_respond(struct ct_nats_responder *responder)
{
	const struct ct_nats_copy waits = { .goes_on = responder->goes_on,
					    .user = responder->user };
	natsSubscription *subscriptions[2] = { NULL };
	natsConnection *connection = NULL;
	struct ct_nats_address address;
	char host[CT_NATS_TEXT], subject[2 * CT_NATS_TEXT + 16];
	enum ctrace_status status =
		ct_nats_servers_parse(responder->address, &address, responder->error);

	if (status != CTRACE_OK)
		return status;
	do {
		status = ct_nats_connect(&connection, &address, responder->error);
	} while (status == CTRACE_OUTPUT_ERROR && ct_nats_wait(&waits));
	if (status != CTRACE_OK)
		return status;
	ct_nats_op_word(host, sizeof host, responder->host);
	for (unsigned i = 0; i < 2 && status == CTRACE_OK; i++) {
		natsStatus got;

		(void)snprintf(subject, sizeof subject, "%s.op.%s.*", address.subject,
			       i == 0 ? host : "ALL");
		got = natsConnection_Subscribe(&subscriptions[i], connection, subject,
					       request_serve, responder);
		if (got == NATS_OK)
			got = natsConnection_Flush(connection);
		if (got != NATS_OK || ct_nats_is_forbidden(connection, subject))
			status = subject_fail(responder, subject, got);
	}
	if (status == CTRACE_OK) {
		responder->ready(responder->user);
		while (ct_nats_wait(&waits))
			continue;
	}
	for (unsigned i = 0; i < 2; i++)
		natsSubscription_Destroy(subscriptions[i]);
	natsConnection_Destroy(connection);
	return status;
}
