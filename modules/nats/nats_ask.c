/*
 * nats_ask.c - sends a request to other machines, and gathers their answers.
 *
 * A responder answers at once that it has begun.  So of all machines those are waited for that have
 * begun; nobody has to list the machines that there are.  Each machine that is asked by its name
 * has a subject for its answers, <inbox>.<number>, so each answer belongs to one machine.
 *
 * The answers are handed over when all are there, so that two displays can be compared.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define BEGIN_MS 500 /* in which a responder begins, when all machines are asked */

struct host {
	struct host *next;
	unsigned number; /* the position in the list of names */
	char name[CT_NATS_TEXT];
	natsMsg *answer;
	bool is_absent;             /* nobody listens, or why has a reason */
	bool is_other;              /* a machine whose name is the same word has refused */
	unsigned responders;        /* that have begun */
	char why[CT_NATS_TEXT * 3]; /* "": it has not answered */
};

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Finds the host of that name, or adds one: at the end, or in the order of the names. */
static struct host *host_find(struct host **hosts, const char *name, bool is_sorted)
{
	struct host **at = hosts, *host;
	unsigned number = 0;

	while (*at != NULL && strcasecmp((*at)->name, name) != 0 &&
	       !(is_sorted && strcasecmp((*at)->name, name) > 0)) {
		at = &(*at)->next;
		number++;
	}
	if (*at != NULL && strcasecmp((*at)->name, name) == 0)
		return *at;
	host = calloc(1, sizeof *host);
	if (host == NULL)
		return NULL;
	(void)snprintf(host->name, sizeof host->name, "%s", name);
	host->number = number;
	host->next = *at;
	*at = host;
	return host;
}

/* Is nobody waited for but machines that begin late? */
static bool all_are_done(const struct host *hosts, bool *out_has_other)
{
	*out_has_other = false;
	for (; hosts != NULL; hosts = hosts->next) {
		bool waits = hosts->answer == NULL && !hosts->is_absent;

		if (waits && (!hosts->is_other || hosts->responders > 0))
			return false;
		*out_has_other |= waits;
	}
	return true;
}

/* *out_is_forbidden: the user may not publish to the subject. */
static natsStatus request_send(natsConnection *connection, const struct ct_nats_question *question,
			       const char *subject, const char *reply, const char *host,
			       bool *out_is_forbidden)
{
	natsMsg *request = NULL;
	char timeout[16];
	natsStatus status =
		natsMsg_Create(&request, subject, reply, question->request, (int)question->size);

	(void)snprintf(timeout, sizeof timeout, "%u", question->timeout_ms);
	if (status == NATS_OK)
		status = natsMsgHeader_Set(request, CT_NATS_TIMEOUT, timeout);
	if (status == NATS_OK && host != NULL)
		status = natsMsgHeader_Set(request, CT_NATS_HOST, host);
	if (status == NATS_OK)
		status = natsConnection_PublishMsg(connection, request);
	if (status == NATS_OK)
		status = natsConnection_Flush(connection);
	natsMsg_Destroy(request);
	*out_is_forbidden = status == NATS_OK && ct_nats_is_forbidden(connection, subject);
	return status;
}

static void forbidden_explain(char *out, size_t size, const struct ct_nats_question *question,
			      const char *subject)
{
	(void)snprintf(out, size,
		       "permissions: the user of the address may not send %s (subject %.400s)",
		       question->is_command ? "commands" : "displays", subject);
}

static enum ctrace_status question_fail(struct ct_nats_question *question, natsStatus status)
{
	char shown[CT_NATS_ERROR_SIZE / 2];

	ct_address_shown(shown, sizeof shown, question->address);
	(void)snprintf(question->error, CT_NATS_ERROR_SIZE, "%.200s: %.200s", shown,
		       ct_nats_reason(status));
	return CTRACE_OUTPUT_ERROR;
}

/* The host whose subject of answers it is, or NULL. */
static struct host *host_of_reply(struct host *hosts, natsMsg *answer)
{
	const char *word = strrchr(natsMsg_GetSubject(answer), '.');
	char *end;
	unsigned long number = strtoul(word + 1, &end, 10);

	while (hosts != NULL && (*end != '\0' || hosts->number != number))
		hosts = hosts->next;
	return hosts;
}

/* May keep the answer.  Returns false then. */
static bool answer_take(const struct ct_nats_question *question, natsMsg *answer,
			struct host **hosts)
{
	struct host *host = question->host_count > 0 ? host_of_reply(*hosts, answer) : NULL;
	const char *name = NULL;

	if (natsMsgHeader_Get(answer, CT_NATS_HOST, &name) != NATS_OK || name == NULL)
		return true; /* such as that of a stream with these subjects */
	if (question->host_count == 0)
		host = host_find(hosts, name, true);
	if (host == NULL)
		return true;
	if (strcasecmp(host->name, name) != 0) {
		host->is_other = true;
		(void)snprintf(host->why, sizeof host->why,
			       "the machine that listens there is %.200s", name);
		return true;
	}
	(void)snprintf(host->name, sizeof host->name, "%s", name);
	if (natsMsg_GetDataLength(answer) == 0)
		host->responders++;
	if (natsMsg_GetDataLength(answer) == 0 || host->answer != NULL)
		return true;
	host->answer = answer;
	return false;
}

/* Takes what has come.  Returns true if nobody listens to the subject of the last request: the
 * servers say so before they answer the flush behind it, and libnats does not say of which. */
static bool answers_take(const struct ct_nats_question *question, natsSubscription *inbox,
			 struct host **hosts)
{
	bool is_nobody = false;
	uint64_t count = 0;

	while (natsSubscription_QueuedMsgs(inbox, &count) == NATS_OK && count > 0) {
		natsMsg *answer = NULL;
		natsStatus status = natsSubscription_NextMsg(&answer, inbox, 1);

		is_nobody |= status == NATS_NO_RESPONDERS;
		if (status == NATS_OK && answer_take(question, answer, hosts))
			natsMsg_Destroy(answer);
		else if (status != NATS_OK && status != NATS_NO_RESPONDERS)
			break;
	}
	return is_nobody;
}

static enum ctrace_status question_send(natsConnection *connection,
					struct ct_nats_question *question,
					const struct ct_nats_address *address, const char *inbox,
					natsSubscription *answers, struct host **hosts)
{
	const char *kind = question->is_command ? "command" : "display";
	char subject[2 * CT_NATS_TEXT + 16], reply[2 * CT_NATS_TEXT + 16], word[CT_NATS_TEXT];
	bool is_forbidden = false;
	natsStatus status = NATS_OK;

	if (question->host_count == 0) {
		(void)snprintf(subject, sizeof subject, "%s.op.ALL.%s", address->subject, kind);
		(void)snprintf(reply, sizeof reply, "%s.all", inbox);
		status = request_send(connection, question, subject, reply, NULL, &is_forbidden);
		if (is_forbidden) {
			forbidden_explain(question->error, CT_NATS_ERROR_SIZE, question, subject);
			return CTRACE_OUTPUT_ERROR;
		}
	}
	for (struct host *host = *hosts;
	     question->host_count > 0 && host != NULL && status == NATS_OK; host = host->next) {
		ct_nats_op_word(word, sizeof word, host->name);
		(void)snprintf(subject, sizeof subject, "%s.op.%s.%s", address->subject, word,
			       kind);
		(void)snprintf(reply, sizeof reply, "%s.%u", inbox, host->number);
		status = request_send(connection, question, subject, reply, host->name,
				      &is_forbidden);
		if (is_forbidden) {
			forbidden_explain(host->why, sizeof host->why, question, subject);
			host->is_absent = true;
		}
		if (answers_take(question, answers, hosts))
			host->is_absent = true;
	}
	return status == NATS_OK ? CTRACE_OK : question_fail(question, status);
}

static void answers_gather(struct ct_nats_question *question, natsSubscription *inbox,
			   struct host **hosts)
{
	int64_t end = now_ms() + question->timeout_ms, begun = now_ms() + BEGIN_MS;

	for (;;) {
		int64_t now = now_ms(), left = end - now;
		natsMsg *answer = NULL;
		bool has_other;

		if (all_are_done(*hosts, &has_other)) {
			if (question->host_count > 0 && !has_other)
				return;
			left = begun - now < left ? begun - now : left;
		}
		if (left <= 0)
			return;
		if (natsSubscription_NextMsg(&answer, inbox, left) == NATS_OK &&
		    answer_take(question, answer, hosts))
			natsMsg_Destroy(answer);
	}
}

/* Hands the answers over. */
static void hosts_take(struct ct_nats_question *question, struct host *hosts, bool is_asked)
{
	while (hosts != NULL) {
		struct host *host = hosts;
		struct ct_nats_answer answer = { .host = host->name,
						 .why = host->why[0] != '\0' ? host->why : NULL,
						 .responders = host->responders };

		if (host->answer != NULL) {
			answer.data = natsMsg_GetData(host->answer);
			answer.size = (size_t)natsMsg_GetDataLength(host->answer);
			question->answered++;
		}
		if (host->responders > 0)
			answer.why = NULL;
		if (is_asked)
			question->take(&answer, question->user);
		hosts = host->next;
		natsMsg_Destroy(host->answer);
		free(host);
	}
}

/* Subscribes to where the answers come. */
static enum ctrace_status inbox_open(natsConnection *connection, struct ct_nats_question *question,
				     const char *inbox, natsSubscription **out)
{
	char subject[2 * CT_NATS_TEXT + 2];
	natsStatus status;

	(void)snprintf(subject, sizeof subject, "%s.*", inbox);
	status = natsConnection_SubscribeSync(out, connection, subject);
	if (status == NATS_OK)
		status = natsConnection_Flush(connection);
	if (status != NATS_OK)
		return question_fail(question, status);
	if (!ct_nats_is_forbidden(connection, subject))
		return CTRACE_OK;
	(void)snprintf(question->error, CT_NATS_ERROR_SIZE,
		       "permissions: the user of the address may not subscribe to %.*s.>, where "
		       "the answers come",
		       (int)(strrchr(inbox, '.') - inbox), inbox);
	return CTRACE_OUTPUT_ERROR;
}

enum ctrace_status ct_nats_ask(struct ct_nats_question *question)
{
	natsConnection *connection = NULL;
	natsSubscription *subscription = NULL;
	char inbox[2 * CT_NATS_TEXT];
	struct ct_nats_address address;
	struct host *hosts = NULL;
	enum ctrace_status status =
		ct_nats_servers_parse(question->address, &address, question->error);

	if (status == CTRACE_OK)
		status = ct_nats_connect(&connection, &address, question->error);
	if (status != CTRACE_OK)
		return status;
	for (size_t i = 0; i < question->host_count; i++)
		if (host_find(&hosts, question->hosts[i], false) == NULL)
			status = CTRACE_NOT_ENOUGH_MEMORY;
	ct_nats_inbox_make(inbox, &address);
	if (status == CTRACE_OK)
		status = inbox_open(connection, question, inbox, &subscription);
	if (status == CTRACE_OK)
		status = question_send(connection, question, &address, inbox, subscription, &hosts);
	if (status == CTRACE_OK)
		answers_gather(question, subscription, &hosts);
	hosts_take(question, hosts, status == CTRACE_OK);
	natsSubscription_Destroy(subscription);
	natsConnection_Destroy(connection);
	return status;
}
