/*
 * control_fixture.h - a session with a control thread in this very process, and peers that talk to
 * it.
 *
 * Whoever waits here waits for something that must happen; the limits only stop what hangs.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONTROL_FIXTURE_H
#define CT_CONTROL_FIXTURE_H

#include "../session/session_fixture.h"

#include "session/answer.h"
#include "session/client.h"
#include "lib/control/server.h"

#include <dirent.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#define HANGS_MS 20000

static struct ct_session session;

static UNUSED void fixture_pause(void)
{
	const struct timespec pause = { 0, 1000000 };

	(void)nanosleep(&pause, NULL);
}

static UNUSED int connect_to_us(void)
{
	int fd = -1;

	for (unsigned i = 0; i < HANGS_MS; i++) {
		if (ct_client_connect(session.path, "control", &fd) == CTRACE_OK)
			return fd;
		fixture_pause();
	}
	return -1;
}

/* All of it; false when the other end is closed. */
static UNUSED bool send_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		struct pollfd ready = { .fd = fd, .events = POLLOUT };
		ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EAGAIN && poll(&ready, 1, HANGS_MS) == 1)
			continue;
		if (sent < 0)
			return false;
		at += sent;
		size -= (size_t)sent;
	}
	return true;
}

/* What comes next, at most `size` bytes; 0 at the end, -1 when nothing comes. */
static UNUSED ssize_t receive_some(int fd, void *data, size_t size)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	ssize_t got;

	if (poll(&ready, 1, HANGS_MS) != 1)
		return -1;
	got = recv(fd, data, size, 0);
	return got < 0 && errno == ECONNRESET ? 0 : got;
}

/* One whole frame into `frame`, and nothing behind it; false when the connection ends before. */
static UNUSED bool receive_frame(int fd, char frame[CT_MESSAGE_LIMIT], struct ct_message *out)
{
	size_t size = 0, whole = CT_MESSAGE_HEAD;
	uint32_t fields;

	while (size < whole) {
		ssize_t got = receive_some(fd, frame + size, whole - size);

		if (got <= 0)
			return false;
		size += (size_t)got;
		if (size != CT_MESSAGE_HEAD || whole != CT_MESSAGE_HEAD)
			continue;
		memcpy(&fields, frame + 12, sizeof fields);
		if (fields > CT_MESSAGE_LIMIT - CT_MESSAGE_HEAD)
			return false;
		whole += fields;
	}
	return ct_message_parse(frame, size, out, &whole) == CTRACE_OK;
}

static UNUSED bool send_request(int fd, enum ct_verb verb, uint64_t number)
{
	struct ct_command command = { .verb = verb, .number = number };
	struct ct_buf buf;
	bool is_sent;

	ct_buf_init(&buf);
	ct_command_encode(&buf, &command);
	is_sent = send_all(fd, buf.data, buf.size);
	ct_buf_fini(&buf);
	return is_sent;
}

/* The status of the next answer; CTRACE_STATUS_COUNT when none comes. */
static UNUSED uint64_t receive_status(int fd)
{
	char frame[CT_MESSAGE_LIMIT];
	struct ct_message message;

	if (!receive_frame(fd, frame, &message))
		return CTRACE_STATUS_COUNT;
	return ct_message_number(&message, CT_FIELD_STATUS, CTRACE_STATUS_COUNT);
}

static UNUSED bool is_answered(int fd)
{
	return send_request(fd, CT_VERB_FLUSH, 1) && receive_status(fd) == CTRACE_OK;
}

static UNUSED bool is_ended(int fd)
{
	char byte;

	return receive_some(fd, &byte, 1) == 0;
}

static UNUSED unsigned count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned count = 0;

	while (directory != NULL && readdir(directory) != NULL)
		count++;
	if (directory != NULL)
		(void)closedir(directory);
	return count;
}

#endif
