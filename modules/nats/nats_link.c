/*
 * nats_link.c - the connection to the servers, and the stream.
 *
 * libnats connects again by itself, to any of the servers, for as long as it takes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_parts.h"

#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RECONNECT_MS 250
#define WAIT_NS 200000000
/* for a message; and in which servers that were just started have read what they keep */
#define PLACE_MS 2000
/* A server that stands still, or is cut off, closes no connection.  After this time without a byte
 * libnats connects to another one. */
#define STILL_MS 10000
#define HEARD_OF_NS 1000000000
/* The words of a subject behind the first: cluster, host, job, trace and file.  Requests to other
 * machines have three, so no stream keeps them. */
#define MESSAGES ".*.*.*.*.*"

const char *ct_nats_reason(natsStatus status)
{
	const char *detail = nats_GetLastError(NULL);
	/* "(conn.c:2088): ": the place in the sources of libnats */
	const char *end = detail != NULL && detail[0] == '(' ? strstr(detail, "): ") : NULL;

	detail = end != NULL ? end + 3 : detail;
	return detail != NULL && detail[0] != '\0' ? detail : natsStatus_GetText(status);
}

const char *ct_nats_refusal(natsConnection *connection)
{
	const char *last = NULL;

	(void)natsConnection_GetLastError(connection, &last);
	return last != NULL && last[0] != '\0' ? last : NULL;
}

const char *ct_nats_request_reason(natsConnection *connection, natsStatus status)
{
	const char *refusal = status == NATS_TIMEOUT ? ct_nats_refusal(connection) : NULL;

	return refusal != NULL ? refusal : ct_nats_reason(status);
}

void ct_nats_inbox_make(char out[2 * CT_NATS_TEXT], const struct ct_nats_address *address)
{
	natsInbox *inbox = NULL;
	bool is_made = natsInbox_Create(&inbox) == NATS_OK;

	(void)snprintf(out, 2 * (size_t)CT_NATS_TEXT, CT_NATS_INBOX "%s%s%s", address->inbox,
		       address->inbox[0] != '\0' ? "." : "",
		       is_made ? inbox + sizeof CT_NATS_INBOX - 1 : "none");
	natsInbox_Destroy(inbox);
}

static enum ctrace_status link_fail(char error[CT_NATS_ERROR_SIZE], const char *what,
				    const char *which, natsStatus status)
{
	const char *reason = ct_nats_reason(status);
	size_t size;

	if (status == NATS_OK)
		return CTRACE_OK;
	(void)snprintf(error, CT_NATS_ERROR_SIZE, "%s ", what);
	ct_address_shown(error + strlen(error), CT_NATS_ERROR_SIZE / 2, which);
	size = strlen(error);
	(void)snprintf(error + size, CT_NATS_ERROR_SIZE - size, ": %s", reason);
	switch (status) {
	case NATS_NOT_FOUND:
		return CTRACE_NOT_FOUND;
	case NATS_NO_MEMORY:
		return CTRACE_NOT_ENOUGH_MEMORY;
	case NATS_TIMEOUT:
		return CTRACE_TIMED_OUT;
	default:
		return CTRACE_OUTPUT_ERROR;
	}
}

static natsStatus options_set(natsOptions *options, const struct ct_nats_address *address)
{
	const char *servers[16];
	char texts[sizeof address->servers];
	char *rest = texts, *server;
	int count = 0;
	natsStatus status;

	memcpy(texts, address->servers, sizeof texts);
	while (count < 16 && (server = strsep(&rest, ",")) != NULL)
		servers[count++] = server;
	status = natsOptions_SetServers(options, servers, count);
	if (status == NATS_OK)
		status = natsOptions_SetName(options, "ctrace");
	if (status == NATS_OK)
		status = natsOptions_SetTimeout(options, CT_NATS_CONNECT_MS);
	if (status == NATS_OK)
		status = natsOptions_SetMaxReconnect(options, -1);
	if (status == NATS_OK)
		status = natsOptions_SetReconnectWait(options, RECONNECT_MS);
	if (status == NATS_OK)
		status = natsOptions_SetWriteDeadline(options, STILL_MS);
	if (status == NATS_OK)
		status = natsOptions_SetPingInterval(options, STILL_MS / 2);
	if (status == NATS_OK)
		status = natsOptions_SetMaxPingsOut(options, 2);
	if (status == NATS_OK && address->uses_tls)
		status = natsOptions_SetSecure(options, true);
	if (status == NATS_OK && address->ca[0] != '\0')
		status = natsOptions_LoadCATrustedCertificates(options, address->ca);
	if (status == NATS_OK && address->certificate[0] != '\0')
		status = natsOptions_LoadCertificatesChain(options, address->certificate,
							   address->key);
	if (status == NATS_OK && address->inbox[0] != '\0') {
		char prefix[sizeof CT_NATS_INBOX + CT_NATS_TEXT];

		(void)snprintf(prefix, sizeof prefix, CT_NATS_INBOX "%s", address->inbox);
		status = natsOptions_SetCustomInboxPrefix(options, prefix);
	}
	if (status == NATS_OK && address->credentials[0] != '\0')
		status = natsOptions_SetUserCredentialsFromFiles(options, address->credentials,
								 NULL);
	return status;
}

static natsStatus stream_make(jsCtx *context, const struct ct_nats_address *address,
			      jsStreamInfo **out_info)
{
	char subjects[CT_NATS_TEXT + sizeof MESSAGES];
	const char *list[] = { subjects };
	jsStreamConfig config;
	natsStatus status = jsStreamConfig_Init(&config);

	(void)snprintf(subjects, sizeof subjects, "%s" MESSAGES, address->subject);
	config.Name = address->stream;
	config.Subjects = list;
	config.SubjectsLen = 1;
	config.Storage = js_FileStorage;
	config.Replicas = address->replicas;
	config.MaxAge = address->max_age * 1000000000;
	config.MaxBytes = address->max_bytes > 0 ? address->max_bytes : -1;
	config.Discard = js_DiscardOld;
	if (status == NATS_OK)
		status = js_AddStream(out_info, context, &config, NULL, NULL);
	return status;
}

/* libnats names no reason for some of them. */
static bool files_are_readable(const struct ct_nats_address *address,
			       char error[CT_NATS_ERROR_SIZE])
{
	const struct {
		const char *key, *path;
	} files[] = {
		{ "credentials", address->credentials },
		{ "ca", address->ca },
		{ "certificate", address->certificate },
		{ "key", address->key },
	};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (files[i].path[0] != '\0' && access(files[i].path, R_OK) != 0) {
			(void)snprintf(error, CT_NATS_ERROR_SIZE, "%s=%s in the address: %s",
				       files[i].key, files[i].path, strerror(errno));
			return false;
		}
	return true;
}

/* The first server whose name is not known.  libnats reports it as one that does not answer. */
static bool unknown_explain(const struct ct_nats_address *address, char *out, size_t size)
{
	char texts[sizeof address->servers];
	char *rest = texts, *server;

	memcpy(texts, address->servers, sizeof texts);
	while ((server = strsep(&rest, ",")) != NULL) {
		const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM };
		struct addrinfo *found = NULL;
		char *host = strstr(server, "://") + 3, *at_sign = strrchr(host, '@');
		int error;

		host = at_sign != NULL ? at_sign + 1 : host;
		if (host[0] == '[')
			continue;
		host[strcspn(host, ":")] = '\0';
		error = getaddrinfo(host, NULL, &wanted, &found);
		if (error == 0) {
			freeaddrinfo(found);
			continue;
		}
		(void)snprintf(out, size, "%.100s: %s", host, gai_strerror(error));
		return true;
	}
	return false;
}

/* Why servers that listen do not accept the connection: what to look at. */
static const char *refusal_explain(const struct ct_nats_address *address, natsStatus status)
{
	const char *reason = ct_nats_reason(status);

	if (status == NATS_SECURE_CONNECTION_WANTED)
		return address->servers[0] == 't'
			       ? "; the server has no TLS, so the address begins with nats://"
			       : "; the server has no TLS, which ca=, certificate= and key= in the "
				 "address require";
	if (strstr(reason, "Authorization") != NULL)
		return "; look at the user, the password or the credentials of the address";
	if (strstr(reason, "issuer certificate") != NULL || strstr(reason, "self") != NULL)
		return "; ca= in the address names the authorities that sign the servers' "
		       "certificates";
	/* A server closes the connection without a word. */
	if (address->uses_tls && (strstr(reason, "SSL_") != NULL || strstr(reason, "PONG") != NULL))
		return address->certificate[0] != '\0'
			       ? "; the server does not accept certificate= of the address"
			       : "; the server may want certificate= and key= in the address";
	if (strstr(reason, "PONG") != NULL)
		return "; the server took the connection and then stood still or ended it";
	return "";
}

enum ctrace_status ct_nats_connect(natsConnection **out_connection,
				   const struct ct_nats_address *address,
				   char error[CT_NATS_ERROR_SIZE])
{
	natsOptions *options = NULL;
	natsStatus status;
	enum ctrace_status result;
	size_t size;

	if (!files_are_readable(address, error))
		return CTRACE_OUTPUT_ERROR;
	status = natsOptions_Create(&options);

	if (status == NATS_OK)
		status = options_set(options, address);
	if (status != NATS_OK) {
		natsOptions_Destroy(options);
		return link_fail(error, "settings of", address->servers, status);
	}
	status = ct_nats_connect_watched(out_connection, options);
	natsOptions_Destroy(options);
	result = link_fail(error, "cannot connect to", address->servers, status);
	size = result != CTRACE_OK ? strlen(error) : 0;
	if (status == NATS_NO_SERVER) {
		const char *reason = ct_nats_reason(status);

		size -= strlen(reason) < size ? strlen(reason) : size;
		if (!unknown_explain(address, error + size, CT_NATS_ERROR_SIZE - size))
			(void)snprintf(error + size, CT_NATS_ERROR_SIZE - size,
				       "no server answers there");
	} else if (result != CTRACE_OK)
		(void)snprintf(error + size, CT_NATS_ERROR_SIZE - size, "%s",
			       refusal_explain(address, status));
	return result;
}

enum ctrace_status ct_nats_link_open(struct ct_nats_link *link, struct ct_nats_address *address,
				     bool makes, char error[CT_NATS_ERROR_SIZE])
{
	enum ctrace_status result;

	*link = (struct ct_nats_link){ .connection = NULL };
	result = ct_nats_connect(&link->connection, address, error);
	if (result != CTRACE_OK)
		return result;
	link->payload_max = natsConnection_GetMaxPayload(link->connection);
	result = ct_nats_link_look(link, address, CT_NATS_REQUEST_MS, makes, error);
	if (result != CTRACE_OK)
		ct_nats_link_close(link);
	return result;
}

enum ctrace_status ct_nats_link_look(struct ct_nats_link *link, struct ct_nats_address *address,
				     int64_t wait_ms, bool makes, char error[CT_NATS_ERROR_SIZE])
{
	jsOptions js_options;
	natsStatus status;

	(void)jsOptions_Init(&js_options);
	js_options.Wait = wait_ms;
	status = natsConnection_JetStream(&link->context, link->connection, &js_options);
	if (status == NATS_OK)
		return ct_nats_stream_look(link, address, makes, error);
	(void)link_fail(error, "stream", address->stream, status);
	return CTRACE_OUTPUT_ERROR;
}

/* Another stream has the subjects: which, and what to do. */
static void overlap_explain(struct ct_nats_link *link, const struct ct_nats_address *address,
			    char error[CT_NATS_ERROR_SIZE])
{
	static const char begin[] = "\"streams\":[\"";
	char request[CT_NATS_TEXT + 64], other[CT_NATS_TEXT] = "another stream";
	natsMsg *reply = NULL;

	(void)snprintf(request, sizeof request, "{\"subject\":\"%s" MESSAGES "\"}",
		       address->subject);
	if (natsConnection_RequestString(&reply, link->connection, "$JS.API.STREAM.NAMES", request,
					 CT_NATS_REQUEST_MS) == NATS_OK) {
		const char *data = natsMsg_GetData(reply);
		const char *name = strstr(data, begin);

		if (name != NULL)
			(void)sscanf(name + sizeof begin - 1, "%255[^\"]", other);
		natsMsg_Destroy(reply);
	}
	(void)snprintf(error, CT_NATS_ERROR_SIZE,
		       "stream %.100s cannot be made: %.100s has the subjects %.100s" MESSAGES
		       "; name that stream, or other subjects, such as ?subject=%.60s2",
		       address->stream, other, address->subject, address->subject);
}

/* Adds to the reason of a failure what to look at, or puts it in the place of the reason. */
static void stream_explain(const struct ct_nats_link *link, const struct ct_nats_address *address,
			   natsStatus status, char error[CT_NATS_ERROR_SIZE])
{
	size_t size = strlen(error);

	if (status == NATS_TIMEOUT && ct_nats_refusal(link->connection) != NULL)
		(void)snprintf(error, CT_NATS_ERROR_SIZE, "stream %.100s: %.300s", address->stream,
			       ct_nats_request_reason(link->connection, status));
	else if (status == NATS_TIMEOUT)
		(void)snprintf(error, CT_NATS_ERROR_SIZE,
			       "stream %.100s: the servers do not answer a request about it in %d "
			       "seconds; more than half of a cluster's servers have to run, and to "
			       "reach each other",
			       address->stream, CT_NATS_REQUEST_MS / 1000);
	else if (strstr(error, "no suitable peers") != NULL ||
		 strstr(error, "replicas > 1 not supported") != NULL)
		(void)snprintf(error + size, CT_NATS_ERROR_SIZE - size,
			       "; replicas=%d in the address wants more servers than there are "
			       "with room for the stream",
			       (int)address->replicas);
}

/* The beginning of the stream's subjects, as ctrace makes them: "acme.>", or "acme.*.*.*.*.*".
 * Those of a mirror are not known. */
static void subject_take(struct ct_nats_address *address, const jsStreamConfig *config)
{
	static const char *const ends[] = { ".*.*.*.*.*", ".>" };
	char found[CT_NATS_TEXT] = "";

	if (config == NULL || address->has_subject)
		return;
	for (int i = 0; i < config->SubjectsLen; i++) {
		const char *subject = config->Subjects[i];

		for (size_t j = 0; j < sizeof ends / sizeof *ends; j++) {
			size_t size = strlen(subject), end = strlen(ends[j]);

			if (size <= end || size - end >= sizeof found ||
			    strcmp(subject + size - end, ends[j]) != 0 ||
			    strcspn(subject, "*>") < size - end)
				continue;
			/* One of several: the name that ctrace gives. */
			if (found[0] == '\0' || strncmp(subject, "ctrace.", 7) == 0)
				(void)snprintf(found, sizeof found, "%.*s", (int)(size - end),
					       subject);
			break;
		}
	}
	if (found[0] != '\0')
		memcpy(address->subject, found, sizeof found);
}

/* May the stream have messages of the address's subject?  Those of a mirror are not known. */
static bool subject_is_there(const struct ct_nats_address *address, const jsStreamConfig *config)
{
	char begin[CT_NATS_TEXT + 1];
	bool is_there = config == NULL || config->SubjectsLen == 0;

	(void)snprintf(begin, sizeof begin, "%s.", address->subject);
	for (int i = 0; !is_there && i < config->SubjectsLen; i++) {
		size_t literal = strcspn(config->Subjects[i], "*>"), size = strlen(begin);

		is_there =
			strncmp(config->Subjects[i], begin, literal < size ? literal : size) == 0;
	}
	return is_there;
}

__attribute__((format(printf, 2, 3))) static void text_add(struct ct_nats_servers *servers,
							   const char *format, ...)
{
	size_t used = strlen(servers->text);
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(servers->text + used, sizeof servers->text - used, format, arguments);
	va_end(arguments);
}

/* A follower is often behind for a moment.  One that the leader still hears from catches up. */
static bool peer_lacks(const jsPeerInfo *peer, bool is_new)
{
	return peer->Offline || (!peer->Current && !is_new && peer->Active > HEARD_OF_NS);
}

static void copy_add(struct ct_nats_servers *servers, const char *name, enum ct_nats_state state,
		     uint64_t lag)
{
	if (servers->count >= CT_NATS_COPIES)
		return;
	(void)snprintf(servers->copies[servers->count].name, sizeof servers->copies->name, "%s",
		       name != NULL ? name : "?");
	servers->copies[servers->count].state = state;
	servers->copies[servers->count].lag = lag;
	servers->count++;
}

static void text_make(struct ct_nats_servers *servers, bool has_leader)
{
	static const char *const words[CT_NATS_STATES] = { "leads", "follows", "is behind",
							   "is offline" };

	if (!has_leader)
		text_add(servers, "no server leads");
	for (unsigned i = 0; i < servers->count; i++) {
		enum ct_nats_state state = servers->copies[i].state;

		text_add(servers, "%s%s %s", servers->text[0] != '\0' ? ", " : "",
			 servers->copies[i].name,
			 state == CT_NATS_LEADS && servers->count == 1 ? "alone" : words[state]);
		if (state >= CT_NATS_BEHIND && servers->copies[i].lag > 0)
			text_add(servers, " by %llu messages",
				 (unsigned long long)servers->copies[i].lag);
	}
	if (servers->count < servers->wanted)
		text_add(servers, "; %u of %u copies", servers->count, servers->wanted);
}

/* is_new: the stream has just been made; its servers have to find each other. */
static void servers_describe(struct ct_nats_servers *out, const char *stream,
			     const jsStreamInfo *info, bool is_new)
{
	const jsClusterInfo *cluster = info->Cluster;
	bool has_leader = cluster != NULL && cluster->Leader != NULL;

	*out = (struct ct_nats_servers){
		.wanted = info->Config != NULL ? (unsigned)info->Config->Replicas : 1,
	};
	(void)snprintf(out->stream, sizeof out->stream, "%s", stream);
	if (cluster == NULL) {
		copy_add(out, "", CT_NATS_LEADS, 0);
		return;
	}
	if (has_leader)
		copy_add(out, cluster->Leader, CT_NATS_LEADS, 0);
	for (int i = 0; i < cluster->ReplicasLen; i++) {
		const jsPeerInfo *peer = cluster->Replicas[i];

		out->is_lacking |= peer_lacks(peer, is_new);
		copy_add(out, peer->Name,
			 peer->Offline   ? CT_NATS_OFFLINE
			 : peer->Current ? CT_NATS_FOLLOWS
					 : CT_NATS_BEHIND,
			 peer->Lag);
	}
	out->is_lacking |= out->count < out->wanted;
	text_make(out, has_leader);
}

void ct_nats_servers_note(const struct ct_nats_link *link, const struct ct_nats_address *address,
			  struct ct_nats_copy *copy)
{
	if (strcmp(copy->servers, link->servers.text) == 0)
		return;
	memcpy(copy->servers, link->servers.text, sizeof copy->servers);
	if (link->servers.is_lacking)
		ct_nats_notice(copy, "stream %.100s: not every copy has what comes: %s",
			       address->stream, link->servers.text);
}

enum ctrace_status ct_nats_stream_look(struct ct_nats_link *link, struct ct_nats_address *address,
				       bool makes, char error[CT_NATS_ERROR_SIZE])
{
	char servers[CT_NATS_ERROR_SIZE / 2];
	jsStreamInfo *info = NULL;
	natsStatus status = js_GetStreamInfo(&info, link->context, address->stream, NULL, NULL);
	bool has_subject = true, is_new = status == NATS_NOT_FOUND && makes;

	if (is_new)
		status = stream_make(link->context, address, &info);
	if (status == NATS_OK) {
		subject_take(address, info->Config);
		has_subject = makes || subject_is_there(address, info->Config);
		if (!has_subject)
			(void)snprintf(error, CT_NATS_ERROR_SIZE,
				       "stream %.100s has the subjects %.150s, and %s%.100s%s",
				       address->stream, info->Config->Subjects[0],
				       address->has_subject ? "not those of subject="
							    : "is none of ",
				       address->subject,
				       address->has_subject ? "; leave it out of the address" : "");
		servers_describe(&link->servers, address->stream, info, is_new);
		link->created = info->Created;
		link->first_sequence = info->State.FirstSeq;
		link->last_sequence = info->State.LastSeq;
		link->max_bytes = info->Config != NULL && info->Config->MaxBytes > 0
					  ? info->Config->MaxBytes
					  : 0;
	}
	jsStreamInfo_Destroy(info);
	if (status == NATS_OK)
		return has_subject ? CTRACE_OK : CTRACE_SYNTAX_ERROR;
	if (status == NATS_NOT_FOUND) {
		ct_address_shown(servers, sizeof servers, address->servers);
		(void)snprintf(error, CT_NATS_ERROR_SIZE,
			       "there is no stream %.100s at %.200s; ctrace forward makes one",
			       address->stream, servers);
		return CTRACE_NOT_FOUND;
	}
	if (status == NATS_NO_RESPONDERS) {
		ct_address_shown(servers, sizeof servers, address->servers);
		(void)snprintf(error, CT_NATS_ERROR_SIZE,
			       "no server at %.200s has JetStream; nats-server has it with -js, or "
			       "with jetstream in its configuration",
			       servers);
		return CTRACE_OUTPUT_ERROR;
	}
	(void)link_fail(error, "stream", address->stream, status);
	if (strstr(error, "overlap") != NULL)
		overlap_explain(link, address, error);
	else
		stream_explain(link, address, status, error);
	return CTRACE_OUTPUT_ERROR;
}

/* One of that number is another one when it has another id or time. */
static bool message_is_another(struct ct_nats_link *link, const struct ct_nats_address *address,
			       const struct ct_nats_place *place)
{
	natsMsg *message = NULL;
	const char *id = NULL;
	jsOptions request;
	bool is_another = false;
	natsStatus got;

	if (link->may_not_ask)
		return false;
	(void)jsOptions_Init(&request);
	request.Wait = PLACE_MS;
	got = js_GetMsg(&message, link->context, address->stream, place->sequence, &request, NULL);
	if (got == NATS_OK) {
		if (natsMsgHeader_Get(message, CT_NATS_ID, &id) != NATS_OK || id == NULL)
			id = "";
		is_another = strcmp(id, place->id) != 0 ||
			     (place->time != 0 && natsMsg_GetTime(message) != place->time);
	}
	link->may_not_ask = got == NATS_TIMEOUT && ct_nats_refusal(link->connection) != NULL;
	natsMsg_Destroy(message);
	return is_another;
}

enum ct_nats_kept ct_nats_place_look(struct ct_nats_link *link, struct ct_nats_address *address,
				     const struct ct_nats_place *place, struct ct_nats_copy *copy)
{
	int64_t end_ms = nats_Now() + PLACE_MS;

	while (place->sequence > link->last_sequence && nats_Now() < end_ms && ct_nats_wait(copy))
		if (ct_nats_stream_look(link, address, false, copy->error) != CTRACE_OK)
			return CT_NATS_KEPT;
	if (place->sequence > link->last_sequence)
		return CT_NATS_ENDS_BEFORE;
	return place->sequence > 0 && message_is_another(link, address, place) ? CT_NATS_ANOTHER
									       : CT_NATS_KEPT;
}

void ct_nats_lost_notice(const struct ct_nats_link *link, const struct ct_nats_address *address,
			 const struct ct_nats_place *place, enum ct_nats_kept kept,
			 const char *what, struct ct_nats_copy *copy)
{
	if (kept == CT_NATS_ENDS_BEFORE)
		ct_nats_notice(
			copy,
			"stream %.100s: the servers have lost messages %llu to %llu, which %s",
			address->stream, (unsigned long long)link->last_sequence + 1,
			(unsigned long long)place->sequence, what);
	else
		ct_nats_notice(copy,
			       "stream %.100s: the servers have gone back: message %llu and some "
			       "before it are other ones than those which %s",
			       address->stream, (unsigned long long)place->sequence, what);
}

void ct_nats_link_close(struct ct_nats_link *link)
{
	jsCtx_Destroy(link->context);
	natsConnection_Destroy(link->connection);
	*link = (struct ct_nats_link){ .connection = NULL };
}

enum ctrace_status ct_nats_servers(const char *text, struct ct_nats_servers *out)
{
	struct ct_nats_address address;
	struct ct_nats_link link;
	char error[CT_NATS_ERROR_SIZE] = "";
	enum ctrace_status status = ct_nats_address_parse(text, true, &address, error);
	bool is_address = status == CTRACE_OK;

	if (is_address)
		status = ct_nats_link_open(&link, &address, false, error);
	if (status == CTRACE_OK) {
		*out = link.servers;
		ct_nats_link_close(&link);
	} else {
		*out = (struct ct_nats_servers){ .count = 0 };
		memcpy(out->error, error, sizeof out->error);
		if (is_address)
			memcpy(out->stream, address.stream, sizeof out->stream);
	}
	return status;
}

bool ct_nats_wait(const struct ct_nats_copy *copy)
{
	static const struct timespec time = { 0, WAIT_NS };

	(void)nanosleep(&time, NULL);
	return copy->goes_on(copy->user);
}

void ct_nats_notice(struct ct_nats_copy *copy, const char *format, ...)
{
	char text[CT_NATS_ERROR_SIZE];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	copy->notice(text, copy->user);
}

void ct_nats_report(struct ct_nats_copy *copy)
{
	if (strcmp(copy->error, copy->reported) == 0)
		return;
	memcpy(copy->reported, copy->error, sizeof copy->reported);
	copy->report(copy->error, copy->user);
}

bool ct_nats_retry(struct ct_nats_copy *copy)
{
	ct_nats_report(copy);
	return ct_nats_wait(copy);
}
