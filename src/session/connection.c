/*
 * connection.c - one operator's connection to a traced process: frames in, answers out, never
 * waiting for the peer.
 *
 * Runs on the control thread.  A peer may be slow, silent, flooding or hostile.  It costs at most a
 * buffer of one frame, and one request a turn.  While an answer waits for it, the thread reads no
 * more from it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/connection.h"

#include "session/answer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define READ_SIZE 16384u
#define KEPT_SIZE 65536u /* a larger buffer is freed when it is empty */

void ct_connection_open(struct ct_connection *connection, int fd)
{
	*connection = (struct ct_connection){
		.id = ct_os_file_id(fd), .fd = fd, .passed = -1, .complete_ns = ct_clock_mono_ns()
	};
	ct_buf_init(&connection->in);
	ct_buf_init(&connection->out);
}

void ct_connection_close(struct ct_connection *connection)
{
	ct_os_close_file(&connection->fd, &connection->id);
	ct_os_close(&connection->passed);
	ct_buf_fini(&connection->in);
	ct_buf_fini(&connection->out);
}

size_t ct_connection_waiting(const struct ct_connection *connection)
{
	return connection->out.size - connection->out_at;
}

short ct_connection_events(const struct ct_connection *connection)
{
	if (ct_connection_waiting(connection) != 0)
		return POLLOUT;
	return connection->has_frame || connection->is_ending ? 0 : POLLIN;
}

/* ---- out ---- */

static void buf_empty(struct ct_buf *buf)
{
	if (buf->capacity > KEPT_SIZE)
		ct_buf_fini(buf);
	else
		ct_buf_clear(buf);
}

static bool connection_send(struct ct_connection *connection)
{
	while (ct_connection_waiting(connection) != 0) {
		ssize_t sent = send(connection->fd, connection->out.data + connection->out_at,
				    ct_connection_waiting(connection), MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN;
		connection->out_at += (size_t)sent;
	}
	buf_empty(&connection->out);
	connection->out_at = 0;
	return true;
}

/* ---- in ---- */

/* Moves the unserved bytes to the beginning. */
static void connection_compact(struct ct_connection *connection)
{
	struct ct_buf *in = &connection->in;

	if (connection->in_at == in->size) {
		buf_empty(in);
	} else if (connection->in_at != 0) {
		memmove(in->data, in->data + connection->in_at, in->size - connection->in_at);
		in->size -= connection->in_at;
	}
	connection->in_at = 0;
}

/* Returns the descriptor that came with the message.  There is room for one; the kernel closes any
 * other. */
static int message_find_descriptor(struct msghdr *message)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(message);
	int fd;

	if (head == NULL || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
	    head->cmsg_len != CMSG_LEN(sizeof fd))
		return -1;
	memcpy(&fd, CMSG_DATA(head), sizeof fd);
	return ct_os_high(fd);
}

static bool connection_receive(struct ct_connection *connection, bool takes_descriptor)
{
	struct ct_buf *in = &connection->in;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec part;
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t got;

	connection_compact(connection);
	if (!ct_buf_reserve(in, READ_SIZE))
		return false;
	part = (struct iovec){ in->data + in->size, READ_SIZE };
	if (takes_descriptor && connection->passed < 0) {
		message.msg_control = control;
		/* not CMSG_SPACE(): it is rounded up, and has room for two */
		message.msg_controllen = CMSG_LEN(sizeof(int));
	}
	do {
		got = recvmsg(connection->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN;
	if (message.msg_controllen != 0)
		connection->passed = message_find_descriptor(&message);
	in->size += (size_t)got;
	connection->has_frame = true;
	connection->is_ending = connection->is_ending || got == 0;
	return true;
}

/* Whoever gave up has closed the other end: the request waited longer than its sender did, as when
 * this process was stopped. */
static bool peer_has_gone(const struct ct_connection *connection)
{
	struct pollfd peer = { .fd = connection->fd };

	return poll(&peer, 1, 0) == 1 && (peer.revents & POLLHUP) != 0;
}

static void connection_serve(struct ct_connection *connection,
			     const struct ct_server_options *options)
{
	struct ct_message request;
	size_t size;
	enum ctrace_status status;

	connection->has_frame = false;
	if (connection->in.size == connection->in_at)
		return;
	status = ct_message_parse(connection->in.data + connection->in_at,
				  connection->in.size - connection->in_at, &request, &size);
	if (status == CTRACE_NOT_FOUND)
		return;
	if (status == CTRACE_DAMAGED) {
		ct_answer_whole(&connection->out, CT_VERB_NONE, CTRACE_DAMAGED,
				"that is no request");
		connection->is_ending = true;
		return;
	}
	connection->complete_ns = ct_clock_mono_ns();
	if (!options->takes_descriptor && peer_has_gone(connection)) {
		connection->in_at = connection->in.size;
		connection->is_ending = true;
		return;
	}
	if (status == CTRACE_UNSUPPORTED)
		ct_answer_whole(&connection->out, request.verb, CTRACE_UNSUPPORTED,
				"this process speaks another version of the protocol");
	else if (connection->member.is_member &&
		 !options->admit(connection->fd, &connection->member))
		ct_answer_whole(&connection->out, request.verb, CTRACE_DENIED,
				"the group of this operator is admitted no longer");
	else if (connection->member.is_member)
		options->answer_member(&request, &connection->member, &connection->out,
				       options->user);
	else
		options->answer(&request, &connection->out, options->user);
	if (options->session != NULL)
		(void)__atomic_fetch_add(&options->session->head->control_requests, 1,
					 __ATOMIC_RELAXED);
	connection->in_at += size;
	connection->has_frame = true;
}

bool ct_connection_turn(struct ct_connection *connection, short revents,
			const struct ct_server_options *options)
{
	if (!ct_os_is_file(connection->fd, &connection->id))
		return false;
	if (ct_connection_waiting(connection) != 0) {
		if (revents != 0 && !connection_send(connection))
			return false;
		return ct_connection_waiting(connection) != 0 || !connection->is_ending ||
		       connection->has_frame;
	}
	if (!connection->has_frame && !connection->is_ending && revents != 0 &&
	    !connection_receive(connection, options->takes_descriptor))
		return false;
	if (connection->has_frame)
		connection_serve(connection, options);
	/* The request may have run the program's own code, which may have closed every
	 * descriptor. */
	if (connection->out.failed || !ct_os_is_file(connection->fd, &connection->id) ||
	    !connection_send(connection))
		return false;
	return ct_connection_waiting(connection) != 0 || connection->has_frame ||
	       !connection->is_ending;
}
