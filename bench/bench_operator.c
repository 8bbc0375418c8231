/*
 * bench_operator.c - the operator of bench_operate: another program, which keeps a traced process's
 * control thread at work.
 *
 *     bench_operator disturb RUN-DIRECTORY PID      takes orders, a letter each: d displays all
 * traces, o and s change the level of BENCH.OTHER and of BENCH.OPER 100 times a second, f that of
 * BENCH.OPER without a pause, b is busy with itself, n does nothing.  As soon as an order is being
 * carried out, a line tells of the one before: requests made, and nanoseconds. bench_operator
 * status RUN-DIRECTORY WRITER    tells events, bytes, wrapped and full events of an external writer
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/client.h"
#include "session/session.h"
#include "writer/writer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PERIOD_NS 10000000u
#define BUSY_BYTES 65536u

static void __attribute__((noreturn)) die(const char *what, const char *why)
{
	fprintf(stderr, "bench_operator: %s: %s\n", what, why);
	exit(2);
}

/* ---- a request and its answer */

static void send_all(int fd, const struct ct_buf *request)
{
	if (request->failed ||
	    send(fd, request->data, request->size, MSG_NOSIGNAL) != (ssize_t)request->size)
		die("cannot ask", strerror(errno));
}

/* Is the whole answer there?  A frame of it must not be damaged, nor a refusal. */
static bool is_whole(const struct ct_buf *answer)
{
	struct ct_message message;
	size_t size;
	enum ctrace_status status;

	for (size_t at = 0; (status = ct_message_parse(answer->data + at, answer->size - at,
						       &message, &size)) == CTRACE_OK;
	     at += size) {
		if (ct_message_number(&message, CT_FIELD_STATUS, CTRACE_OK) != CTRACE_OK)
			die("refused", ct_message_find(&message, CT_FIELD_MESSAGE).at != NULL
					       ? "with a message"
					       : "without a message");
		if ((message.flags & CT_MESSAGE_MORE) == 0)
			return true;
	}
	if (status != CTRACE_NOT_FOUND)
		die("the answer", "is damaged");
	return false;
}

static void ask(int fd, const struct ct_buf *request, struct ct_buf *answer)
{
	send_all(fd, request);
	ct_buf_clear(answer);
	while (!is_whole(answer)) {
		struct pollfd item = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (!ct_buf_reserve(answer, CT_MESSAGE_LIMIT) || poll(&item, 1, 10000) != 1)
			die("no answer", strerror(errno));
		got = recv(fd, answer->data + answer->size, CT_MESSAGE_LIMIT, 0);
		if (got <= 0)
			die("the other end", "has gone");
		answer->size += (size_t)got;
	}
}

static int reach(const char *directory, const char *name)
{
	int fd = -1;

	if (ct_client_connect(directory, name, &fd) != CTRACE_OK)
		die(directory, "nobody listens there");
	return fd;
}

/* ---- a writer's status */

static int tell_status(const char *run_directory, const char *name)
{
	struct ct_buf request, answer;
	struct ct_writer_state state = { 0 };
	struct ct_message message;
	struct ct_span found;
	char directory[4200];
	size_t start, size;

	ct_buf_init(&request);
	ct_buf_init(&answer);
	start = ct_message_start(&request, CT_VERB_WRITER_STATUS, 0);
	if (ct_message_end(&request, start) != CTRACE_OK)
		die("status", "no memory");
	(void)snprintf(directory, sizeof directory, "%.4000s/" CT_WRITER_DIRECTORY, run_directory);
	ask(reach(directory, name), &request, &answer);
	if (ct_message_parse(answer.data, answer.size, &message, &size) != CTRACE_OK)
		die("status", "is damaged");
	found = ct_message_find(&message, CT_FIELD_WRITER);
	if (found.at == NULL)
		die("status", "is empty");
	memcpy(&state, found.at, found.size < sizeof state ? found.size : sizeof state);
	printf("%llu %llu %llu %llu\n", (unsigned long long)state.events,
	       (unsigned long long)state.bytes, (unsigned long long)state.wrapped_events,
	       (unsigned long long)state.full_events);
	return 0;
}

/* ---- disturbing */

struct disturber {
	const char *run_directory;
	uint32_t pid;
	/* -1: not connected yet: the process may not have attached when we start */
	int fd;
	struct ct_buf request[2]; /* they take turns */
	struct ct_buf answer;
	uint64_t requests;
	char busy[2][BUSY_BYTES];
};

static void connect_to(struct disturber *self)
{
	const struct ct_peer_filter filter = { .pid = self->pid };
	struct ct_peers peers;
	char path[4400];

	if (ct_peers_find(&filter, &peers) != CTRACE_OK || peers.count != 1)
		die(self->run_directory, "the process is not there");
	(void)snprintf(path, sizeof path, "%.4096s/%.256s", peers.items[0].run_directory,
		       peers.items[0].directory);
	self->fd = reach(path, "control");
	ct_peers_fini(&peers);
}

static void encode_display(struct ct_buf *request)
{
	size_t start;

	ct_buf_clear(request);
	start = ct_message_start(request, CT_VERB_DISPLAY, 0);
	ct_message_add_text(request, CT_FIELD_COMPONENT, "");
	ct_message_add_number(request, CT_FIELD_DEPTH, CTRACE_MAX_COMPONENT);
	if (ct_message_end(request, start) != CTRACE_OK)
		die("display", "no memory");
}

static void encode_level(struct ct_buf *request, const char *component, uint32_t level)
{
	const struct ct_command command = { .verb = CT_VERB_LEVEL,
					    .component = { component, strlen(component) },
					    .level = level };

	ct_buf_clear(request);
	ct_command_encode(request, &command);
}

static void prepare(struct disturber *self, char order)
{
	const char *component = order == 'o' ? "BENCH.OTHER" : "BENCH.OPER";

	for (uint32_t i = 0; i < 2; i++) {
		if (order == 'd')
			encode_display(&self->request[i]);
		else
			encode_level(&self->request[i], component,
				     i == 0 ? CTRACE_DEBUG : CTRACE_INFO);
	}
}

static void disturb_once(struct disturber *self, char order)
{
	if (order == 'b')
		memcpy(self->busy[self->requests & 1], self->busy[~self->requests & 1], BUSY_BYTES);
	else if (order != 'n')
		ask(self->fd, &self->request[self->requests & 1], &self->answer);
	self->requests++;
}

/* Is there another order?  Waits for it until the next request is due. */
static bool next_order(char order, uint64_t due_ns, char *out_order)
{
	struct pollfd item = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec limit = { 0, 0 };
	uint64_t now = ct_clock_mono_ns();
	bool is_paced = order == 'o' || order == 's';

	if (is_paced && due_ns > now)
		limit.tv_nsec = (long)(due_ns - now);
	if (ppoll(&item, 1, order == 'n' ? NULL : &limit, NULL) != 1)
		return false;
	if (read(STDIN_FILENO, out_order, 1) != 1)
		exit(0);
	return true;
}

static void obey(struct disturber *self)
{
	uint64_t begin = ct_clock_mono_ns(), due = begin;
	char order = 'n', next;

	for (;;) {
		uint64_t now;

		if (!next_order(order, due, &next)) {
			due += PERIOD_NS;
			disturb_once(self, order);
			continue;
		}
		now = ct_clock_mono_ns();
		if (self->fd < 0)
			connect_to(self);
		printf("%llu %llu\n", (unsigned long long)(order == 'n' ? 0 : self->requests),
		       (unsigned long long)(now - begin));
		order = next;
		self->requests = 0;
		prepare(self, order);
		begin = ct_clock_mono_ns();
		disturb_once(self, order);
		due = begin + PERIOD_NS;
		(void)fflush(stdout); /* it has begun */
	}
}

int main(int argc, char **argv)
{
	static struct disturber self = { .fd = -1 };

	if (argc == 4 && strcmp(argv[1], "status") == 0)
		return tell_status(argv[2], argv[3]);
	if (argc != 4 || strcmp(argv[1], "disturb") != 0) {
		fprintf(stderr,
			"usage: bench_operator disturb RUN-DIRECTORY PID | status RUN-DIRECTORY WRITER\n");
		return 2;
	}
	self.run_directory = argv[2];
	self.pid = (uint32_t)strtoul(argv[3], NULL, 10);
	ct_buf_init(&self.request[0]);
	ct_buf_init(&self.request[1]);
	ct_buf_init(&self.answer);
	obey(&self);
	return 0;
}
