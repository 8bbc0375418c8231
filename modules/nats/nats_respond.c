/*
 * nats_respond.c - answers the requests that come for this machine.
 *
 * A thread of libnats takes each request, answers at once that it has come, so that who asks knows
 * whom to wait for, and puts it into the queue of displays or of commands.  Each queue has a thread
 * that carries out one after the other, so displays never hold up a command.  Senders have turns: a
 * flood of one sender waits until the next request of each other sender is answered.  A sender is
 * the word behind CT_NATS_INBOX: the user of the sender's address, or else one run of the tool.
 *
 * A request has its sender's patience, counted from its arrival here: no clock of the sender is
 * used, and the threads of libnats only move requests into the queues, so they wait nowhere else.
 * One whose sender has given up is not carried out, and a verb that still runs then is ended.  What
 * is too much for a queue is refused at once, in the answer too.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_parts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define TIMEOUT_MS 10000 /* of a sender that does not say it */
#define TIMEOUT_MOST_MS 60000
#define QUEUE_MOST 2048u               /* requests */
#define QUEUE_BYTES ((size_t)16 << 20) /* of them */
#define SENDER_MOST 256u               /* requests of one sender */
#define END_SECONDS 5                  /* for a verb that runs at the end */
#define LOOK_MS 10000                  /* between two looks at the stream */
#define LOOK_WAIT_MS 2000              /* for the answer: the end of the responder waits as long */

struct waiting {
	struct waiting *next;
	natsMsg *request;
	const char *sender; /* the word behind CT_NATS_INBOX */
	size_t sender_size;
	uint64_t turn; /* the queue is in this order */
	int64_t until_ms;
};

/* The requests of one kind, and the thread that serves them. */
struct queue {
	struct service *service;
	bool is_command;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t has_changed;
	/* under the lock */
	struct waiting *first;
	unsigned count;
	size_t bytes;
	uint64_t turn; /* of the last one that was taken out */
	bool is_ending;
};

struct service {
	const struct ct_nats_responder *responder;
	natsConnection *connection;
	struct queue queues[2]; /* displays, commands */
};

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

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
	ct_address_shown(shown, sizeof shown, text);
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

/* ---- the queues ---- */

static bool sender_is_same(const struct waiting *one, const struct waiting *other)
{
	return one->sender_size == other->sender_size &&
	       memcmp(one->sender, other->sender, one->sender_size) == 0;
}

static void waiting_destroy(struct waiting *one)
{
	natsMsg_Destroy(one->request);
	free(one);
}

/* Takes the last one out, which is of the sender with the most turns to come, if there is too much.
 * Under the lock. */
static struct waiting *queue_drop(struct queue *queue)
{
	struct waiting **at = &queue->first, *one;

	if (queue->count <= QUEUE_MOST && queue->bytes <= QUEUE_BYTES)
		return NULL;
	while ((*at)->next != NULL)
		at = &(*at)->next;
	one = *at;
	*at = NULL;
	queue->count--;
	queue->bytes -= (size_t)natsMsg_GetDataLength(one->request);
	return one;
}

static void waiting_refuse(const struct queue *queue, struct waiting *one);

static void queue_add(struct queue *queue, struct waiting *one)
{
	struct waiting **at = &queue->first, *dropped;
	unsigned of_sender = 0;

	(void)pthread_mutex_lock(&queue->lock);
	one->turn = queue->turn;
	for (const struct waiting *other = queue->first; other != NULL; other = other->next) {
		if (!sender_is_same(one, other))
			continue;
		of_sender++;
		if (other->turn >= one->turn)
			one->turn = other->turn + 1;
	}
	if (of_sender >= SENDER_MOST) {
		(void)pthread_mutex_unlock(&queue->lock);
		waiting_refuse(queue, one);
		return;
	}
	while (*at != NULL && (*at)->turn <= one->turn)
		at = &(*at)->next;
	one->next = *at;
	*at = one;
	queue->count++;
	queue->bytes += (size_t)natsMsg_GetDataLength(one->request);
	(void)pthread_cond_signal(&queue->has_changed);
	dropped = queue_drop(queue);
	(void)pthread_mutex_unlock(&queue->lock);
	while (dropped != NULL) {
		waiting_refuse(queue, dropped);
		(void)pthread_mutex_lock(&queue->lock);
		dropped = queue_drop(queue);
		(void)pthread_mutex_unlock(&queue->lock);
	}
}

/* Waits for the next one.  Returns NULL at the end. */
static struct waiting *queue_take(struct queue *queue)
{
	struct waiting *one;

	(void)pthread_mutex_lock(&queue->lock);
	while (queue->first == NULL && !queue->is_ending)
		(void)pthread_cond_wait(&queue->has_changed, &queue->lock);
	one = queue->is_ending ? NULL : queue->first;
	if (one != NULL) {
		queue->first = one->next;
		queue->count--;
		queue->bytes -= (size_t)natsMsg_GetDataLength(one->request);
		queue->turn = one->turn;
	}
	(void)pthread_mutex_unlock(&queue->lock);
	return one;
}

/* ---- on a queue's thread ---- */

/* Returns the reason why the request is not carried out, or NULL. */
static const char *request_refuse(const struct service *service, const struct waiting *waiting,
				  char why[CT_NATS_ERROR_SIZE])
{
	const char *asked = NULL;

	if (now_ms() >= waiting->until_ms)
		return "its sender has given up: other requests came first";
	if (natsConnection_Flush(service->connection) != NATS_OK)
		return "the servers do not take the answer";
	if (ct_nats_is_forbidden(service->connection, natsMsg_GetReply(waiting->request)))
		return "permissions: the user of the address may not answer; it has to publish "
		       "_INBOX.>";
	if (natsMsgHeader_Get(waiting->request, CT_NATS_HOST, &asked) != NATS_OK || asked == NULL ||
	    strcasecmp(asked, service->responder->host) == 0)
		return NULL;
	(void)snprintf(why, CT_NATS_ERROR_SIZE, "it is for the machine %.200s", asked);
	return why;
}

/* Answers, with the refusal if there is one, and is done with the request. */
static void waiting_serve(const struct queue *queue, struct waiting *waiting, const char *refusal)
{
	const struct service *service = queue->service;
	const struct ct_nats_responder *responder = service->responder;
	const struct ct_nats_request request = {
		.is_command = queue->is_command,
		.left_ms = waiting->until_ms - now_ms(),
		.data = natsMsg_GetData(waiting->request),
		.size = (size_t)natsMsg_GetDataLength(waiting->request),
		.refusal = refusal,
	};
	size_t size = 0;
	char *answer = responder->serve(&request, &size, responder->user);

	if (answer != NULL &&
	    answer_send(service->connection, waiting->request, responder->host, answer, size) ==
		    NATS_OK &&
	    refusal == NULL)
		(void)natsConnection_Flush(service->connection);
	free(answer);
	waiting_destroy(waiting);
}

static void waiting_refuse(const struct queue *queue, struct waiting *one)
{
	waiting_serve(queue, one, "too many requests wait on this machine; try again later");
}

static void request_serve(const struct queue *queue, struct waiting *waiting)
{
	const struct ct_nats_responder *responder = queue->service->responder;
	char text[CT_NATS_ERROR_SIZE];
	const char *why = request_refuse(queue->service, waiting, text);

	if (why == NULL) {
		waiting_serve(queue, waiting, NULL);
		return;
	}
	responder->refused(why, responder->user);
	waiting_destroy(waiting);
}

static void *queue_run(void *argument)
{
	struct queue *queue = argument;
	struct waiting *waiting;

	while ((waiting = queue_take(queue)) != NULL)
		request_serve(queue, waiting);
	return NULL;
}

/* ---- on a thread of libnats ---- */

static int64_t request_until(natsMsg *request)
{
	const char *text = NULL;
	long timeout_ms = TIMEOUT_MS;

	if (natsMsgHeader_Get(request, CT_NATS_TIMEOUT, &text) == NATS_OK && text != NULL)
		timeout_ms = strtol(text, NULL, 10);
	if (timeout_ms <= 0 || timeout_ms > TIMEOUT_MOST_MS)
		timeout_ms = TIMEOUT_MS;
	return now_ms() + timeout_ms;
}

static void request_take(natsConnection *connection, natsSubscription *subscription,
			 natsMsg *request, void *user)
{
	struct service *service = user;
	const struct ct_nats_responder *responder = service->responder;
	const char *kind = request_kind(subscription, request), *why = NULL;
	bool is_command = strcmp(kind, "command") == 0;
	struct waiting *waiting = NULL;

	if (!is_command && strcmp(kind, "display") != 0)
		why = "it is no request that ctrace --host has sent to this machine";
	else if ((waiting = calloc(1, sizeof *waiting)) == NULL)
		why = "there is not enough memory";
	else if (answer_send(connection, request, responder->host, NULL, 0) != NATS_OK)
		why = "the servers do not take the answer";
	if (why != NULL) {
		responder->refused(why, responder->user);
		free(waiting);
		natsMsg_Destroy(request);
		return;
	}
	waiting->request = request;
	waiting->sender = natsMsg_GetReply(request) + sizeof CT_NATS_INBOX - 1;
	waiting->sender_size = strcspn(waiting->sender, ".");
	waiting->until_ms = request_until(request);
	queue_add(&service->queues[is_command], waiting);
}

static bool queue_start(struct queue *queue, struct service *service, bool is_command)
{
	*queue = (struct queue){ .service = service,
				 .is_command = is_command,
				 .lock = PTHREAD_MUTEX_INITIALIZER,
				 .has_changed = PTHREAD_COND_INITIALIZER };
	return pthread_create(&queue->thread, NULL, queue_run, queue) == 0;
}

/* Returns false when a verb still runs: its thread uses the connection. */
static bool queue_end(struct queue *queue)
{
	struct timespec limit;

	(void)pthread_mutex_lock(&queue->lock);
	queue->is_ending = true;
	(void)pthread_cond_signal(&queue->has_changed);
	(void)pthread_mutex_unlock(&queue->lock);
	(void)clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += END_SECONDS;
	return pthread_timedjoin_np(queue->thread, NULL, &limit) == 0;
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

/* Reports which servers keep the stream of the address.  connection: NULL before there is one. */
static void stream_look(const struct ct_nats_responder *responder, natsConnection *connection,
			struct ct_nats_address *address)
{
	struct ct_nats_link link = { .connection = connection };
	char error[CT_NATS_ERROR_SIZE] = "the servers cannot be reached";

	if (responder->look == NULL || address->stream[0] == '\0')
		return;
	if (connection == NULL ||
	    ct_nats_link_look(&link, address, LOOK_WAIT_MS, false, error) != CTRACE_OK) {
		link.servers = (struct ct_nats_servers){ .count = 0 };
		memcpy(link.servers.stream, address->stream, sizeof link.servers.stream);
		memcpy(link.servers.error, error, sizeof link.servers.error);
	}
	jsCtx_Destroy(link.context);
	responder->look(&link.servers, responder->user);
}

enum ctrace_status ct_nats_respond(struct ct_nats_responder *responder)
{
	const struct ct_nats_copy waits = { .goes_on = responder->goes_on,
					    .user = responder->user };
	static struct service service; /* a thread that still runs at the end uses it */
	natsSubscription *subscriptions[2] = { NULL };
	natsConnection *connection = NULL;
	bool is_idle;
	struct ct_nats_address address;
	char host[CT_NATS_TEXT], subject[2 * CT_NATS_TEXT + 16];
	enum ctrace_status status =
		ct_nats_servers_parse(responder->address, &address, responder->error);

	if (status != CTRACE_OK)
		return status;
	stream_look(responder, NULL, &address);
	do {
		status = ct_nats_connect(&connection, &address, responder->error);
	} while (status == CTRACE_OUTPUT_ERROR && ct_nats_wait(&waits));
	if (status != CTRACE_OK)
		return status;
	service = (struct service){ .responder = responder, .connection = connection };
	if (!queue_start(&service.queues[0], &service, false) ||
	    !queue_start(&service.queues[1], &service, true)) {
		(void)snprintf(responder->error, CT_NATS_ERROR_SIZE, "no thread can be made");
		return CTRACE_NOT_ENOUGH_MEMORY; /* the process ends */
	}
	ct_nats_op_word(host, sizeof host, responder->host);
	for (unsigned i = 0; i < 2 && status == CTRACE_OK; i++) {
		natsStatus got;

		(void)snprintf(subject, sizeof subject, "%s.op.%s.*", address.subject,
			       i == 0 ? host : "ALL");
		got = natsConnection_Subscribe(&subscriptions[i], connection, subject, request_take,
					       &service);
		if (got == NATS_OK)
			got = natsConnection_Flush(connection);
		if (got != NATS_OK || ct_nats_is_forbidden(connection, subject))
			status = subject_fail(responder, subject, got);
	}
	if (status == CTRACE_OK) {
		int64_t look_at_ms = 0;

		responder->ready(responder->user);
		do {
			if (now_ms() < look_at_ms)
				continue;
			stream_look(responder, connection, &address);
			look_at_ms = now_ms() + LOOK_MS;
		} while (ct_nats_wait(&waits));
	}
	for (unsigned i = 0; i < 2; i++)
		natsSubscription_Destroy(subscriptions[i]);
	is_idle = queue_end(&service.queues[0]);
	if (queue_end(&service.queues[1]) && is_idle)
		natsConnection_Destroy(connection);
	return status;
}
