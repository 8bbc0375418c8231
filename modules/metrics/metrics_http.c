/*
 * metrics_http.c - metrics.so: answers GET /metrics, by libmicrohttpd.
 *
 * One thread of libmicrohttpd serves all connections, so two requests never read the processes at
 * once.  Idle connections are closed soon, and one whose request has not come, or whose answer is
 * not taken, within REQUEST_SECONDS is closed too.  There is always room for a new connection: from
 * OLD_CONNECTIONS on, each new one closes the oldest, which has had the longest time; from
 * ADDRESS_CONNECTIONS of its address on, the oldest of that address.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/processes/metrics.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 256u /* of the 1024 descriptors that a process usually has */
#define OLD_CONNECTIONS 192u
#define ADDRESS_CONNECTIONS 64u
#define IDLE_SECONDS 3u
#define REQUEST_SECONDS 10
#define CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* The open connections, the oldest first.  The thread of libmicrohttpd alone uses them. */
struct open_connection {
	struct open_connection *next, *before;
	int fd;
	struct in6_addr address; /* of the client */
	time_t since;            /* accepted, or the last answer was taken */
};
static struct open_connection *oldest, *newest;
static unsigned open_count;

static time_t now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

static void connection_append(struct open_connection *one)
{
	one->since = now();
	one->next = NULL;
	one->before = newest;
	*(newest != NULL ? &newest->next : &oldest) = one;
	newest = one;
	open_count++;
}

static void connection_remove(struct open_connection *one)
{
	*(one->before != NULL ? &one->before->next : &oldest) = one->next;
	*(one->next != NULL ? &one->next->before : &newest) = one->before;
	open_count--;
}

static struct in6_addr address_of(const struct sockaddr *name)
{
	struct in6_addr address = { 0 };

	if (name->sa_family == AF_INET6)
		address = ((const struct sockaddr_in6 *)(const void *)name)->sin6_addr;
	else if (name->sa_family == AF_INET)
		memcpy(&address, &((const struct sockaddr_in *)(const void *)name)->sin_addr,
		       sizeof(struct in_addr));
	return address;
}

static bool is_of(const struct open_connection *one, const struct in6_addr *address)
{
	return memcmp(&one->address, address, sizeof *address) == 0;
}

/* For a new one from there.  libmicrohttpd finds the end of those that are shut, and closes them.
 */
static void connections_make_room(const struct in6_addr *address)
{
	time_t at = now();
	unsigned count = open_count, count_there = 0;

	for (const struct open_connection *one = oldest; one != NULL; one = one->next)
		count_there += is_of(one, address);
	for (struct open_connection *one = oldest; one != NULL; one = one->next) {
		bool is_there = is_of(one, address);

		if (count <= OLD_CONNECTIONS && at - one->since <= REQUEST_SECONDS &&
		    (!is_there || count_there <= ADDRESS_CONNECTIONS))
			continue;
		(void)shutdown(one->fd, SHUT_RDWR);
		count--;
		count_there -= is_there;
	}
}

static void connection_notify(void *unused, struct MHD_Connection *connection, void **state,
			      enum MHD_ConnectionNotificationCode what)
{
	struct open_connection *one = *state;

	(void)unused;
	if (what == MHD_CONNECTION_NOTIFY_CLOSED && one != NULL) {
		connection_remove(one);
		free(one);
	} else if (what == MHD_CONNECTION_NOTIFY_STARTED && (one = malloc(sizeof *one)) != NULL) {
		one->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				  ->connect_fd;
		one->address = address_of(
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
				->client_addr);
		connection_append(one);
		*state = one;
		connections_make_room(&one->address);
	}
}

/* The next request of the connection has its own time. */
static void request_ended(void *unused, struct MHD_Connection *connection, void **unused_state,
			  enum MHD_RequestTerminationCode unused_code)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct open_connection *one = info != NULL ? info->socket_context : NULL;

	(void)unused;
	(void)unused_state;
	(void)unused_code;
	if (one == NULL)
		return;
	connection_remove(one);
	connection_append(one);
}

static enum MHD_Result text_answer(struct MHD_Connection *connection, unsigned code,
				   const char *text)
{
	/* libmicrohttpd does not write to a buffer that is MHD_RESPMEM_PERSISTENT. */
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	if (response == NULL)
		return MHD_NO;
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				      "text/plain; charset=utf-8");
	result = MHD_queue_response(connection, code, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result metrics_answer(struct MHD_Connection *connection,
				      const struct ct_metrics_server *server)
{
	size_t size = 0;
	char *text = server->text(server->user, &size);
	struct MHD_Response *response;
	enum MHD_Result result;

	if (text == NULL)
		return text_answer(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
				   "not enough memory\n");
	response = MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
	if (response == NULL)
		return MHD_NO; /* the text is freed */
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, CONTENT_TYPE);
	result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

/* Called first when the headers are there, and then for the body, which is not read. */
static enum MHD_Result request_serve(void *user, struct MHD_Connection *connection, const char *url,
				     const char *method, const char *version, const char *data,
				     size_t *data_size, void **state)
{
	static char seen;

	(void)version;
	(void)data;
	if (*state == NULL) {
		*state = &seen;
		return MHD_YES;
	}
	if (*data_size != 0) {
		*data_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return text_answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				   "expected GET /metrics\n");
	if (strcmp(url, "/metrics") != 0)
		return text_answer(connection, MHD_HTTP_NOT_FOUND, "the metrics are at /metrics\n");
	return metrics_answer(connection, user);
}

/* Splits HOST:PORT, [HOST]:PORT or PORT. */
static bool address_split(const char *address, char host[96], char port[8])
{
	const char *colon = strrchr(address, ':');
	const char *begin = address, *end = colon != NULL ? colon : address;
	const char *number = colon != NULL ? colon + 1 : address;

	if (end > begin + 1 && *begin == '[' && end[-1] == ']') {
		begin++;
		end--;
	} else if (memchr(begin, ':', (size_t)(end - begin)) != NULL) {
		return false; /* an address of IPv6 without brackets */
	}
	if ((size_t)(end - begin) >= 96 || number[0] == '\0' || strlen(number) > 5 ||
	    strspn(number, "0123456789") != strlen(number) ||
	    strtoul(number, NULL, 10) > UINT16_MAX || (colon != NULL && end == begin))
		return false;
	(void)snprintf(host, 96, "%.*s", (int)(end - begin), begin);
	(void)snprintf(port, 8, "%s", number);
	return true;
}

static int socket_listen(const struct addrinfo *info)
{
	static const int on = 1;
	int fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC, info->ai_protocol);

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, info->ai_addr, info->ai_addrlen) != 0 || listen(fd, (int)CONNECTIONS) != 0) {
		int error = errno;

		(void)close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static void address_show(struct ct_metrics_server *server)
{
	struct sockaddr_storage storage = { .ss_family = AF_UNSPEC };
	struct sockaddr *name = (struct sockaddr *)(void *)&storage;
	socklen_t size = sizeof storage;
	char host[80], port[8];

	if (getsockname(server->fd, name, &size) == 0 &&
	    getnameinfo(name, size, host, sizeof host, port, sizeof port,
			NI_NUMERICHOST | NI_NUMERICSERV) == 0)
		(void)snprintf(server->shown, sizeof server->shown,
			       storage.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

static enum ctrace_status metrics_listen(struct ct_metrics_server *server)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	char host[96], port[8];
	int got;

	if (!address_split(server->address, host, port)) {
		(void)snprintf(server->error, CT_METRICS_ERROR_SIZE,
			       "\"%.100s\" is no address for metrics; expected HOST:PORT, "
			       "[HOST]:PORT or PORT",
			       server->address);
		return CTRACE_SYNTAX_ERROR;
	}
	got = getaddrinfo(host[0] != '\0' ? host : "127.0.0.1", port, &hints, &found);
	if (got == 0) {
		server->fd = socket_listen(found);
		freeaddrinfo(found);
	}
	if (server->fd >= 0)
		return CTRACE_OK;
	(void)snprintf(server->error, CT_METRICS_ERROR_SIZE, "cannot listen at %.100s: %.100s",
		       server->address, got != 0 ? gai_strerror(got) : strerror(errno));
	return CTRACE_OUTPUT_ERROR;
}

static enum ctrace_status metrics_start(struct ct_metrics_server *server)
{
	enum ctrace_status status;

	server->fd = -1;
	status = metrics_listen(server);
	if (status != CTRACE_OK)
		return status;
	address_show(server);
	server->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL, NULL, request_serve,
		server, MHD_OPTION_LISTEN_SOCKET, server->fd, MHD_OPTION_CONNECTION_LIMIT,
		CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
		MHD_OPTION_NOTIFY_CONNECTION, connection_notify, NULL, MHD_OPTION_NOTIFY_COMPLETED,
		request_ended, NULL, MHD_OPTION_END);
	if (server->daemon != NULL)
		return CTRACE_OK;
	(void)close(server->fd);
	(void)snprintf(server->error, CT_METRICS_ERROR_SIZE,
		       "cannot serve metrics at %.100s: %.100s", server->address, strerror(errno));
	return CTRACE_OUTPUT_ERROR;
}

/* The daemon closes the socket. */
static void metrics_stop(struct ct_metrics_server *server)
{
	MHD_stop_daemon(server->daemon);
}

__attribute__((visibility("default"))) const struct ct_metrics_module ct_metrics_module = {
	.size = sizeof(struct ct_metrics_module),
	.start = metrics_start,
	.stop = metrics_stop,
};
