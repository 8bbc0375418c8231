/*
 * writer_server.c - the life of an external writer: takes its name, starts its worker, serves
 * requests until its end, and removes its socket.  writer_server_links.c has the connected
 * processes.
 *
 * ct_writer_run() serves sockets on the calling thread; the worker writes (ring_consumer.c).  A
 * process connects and passes its directory's descriptor.  Its socket stays open as long as both
 * live.  When it closes, the process has ended: the writer writes the events left in its rings and
 * then recovers its directory.  To end, the writer asks each process to withdraw its rings, writes
 * the committed events (FLUSH) or not (NOFLUSH), hands the rings back and exits.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/writer_server.h"

#include "session/client.h"
#include "session/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define UP_MS 2000u
#define BUSY_MS 5 /* between rounds while the end of a release is awaited */
#define IDLE_MS 1000
#define COME_NS 10000000000u /* for processes that have said that they connect */
#define COMING_UNKNOWN UINT32_MAX
/* a peer that sends its request at once is served before later ones displace it */
#define ACCEPTED_A_ROUND 8u
#define ANSWER_MS 5000 /* of a writer that may be dying: then it closes the connection */
#define LOCK_TRIES 100u
#define LOCK_TRY_MS 10
#define DEAF_MS 100 /* pause after accept() failed for want of descriptors */

void ct_writer_server_report(const char *text, void *user)
{
	struct ct_writer_server *writer_server = user;

	(void)pthread_mutex_lock(&writer_server->message_lock);
	(void)snprintf(writer_server->message, sizeof writer_server->message, "%.255s", text);
	writer_server->options->message(text, writer_server->options->user);
	(void)pthread_mutex_unlock(&writer_server->message_lock);
}

/* ---- the answers: its state, to a process that connects, and to WTRSTOP ----
 *
 * The answer to WTRSTOP is sent when the writer has ended.  Counters of the TRCOUTs are read
 * under their lock. */

static void server_answer_status(struct ct_buf *answer, enum ct_verb verb,
				 enum ctrace_status status, uint64_t number)
{
	size_t start = ct_message_start(answer, verb, CT_MESSAGE_ANSWER);

	ct_message_add_number(answer, CT_FIELD_STATUS, status);
	ct_message_add_number(answer, CT_FIELD_NUMBER, number);
	if (status != CTRACE_OK)
		ct_message_add_text(answer, CT_FIELD_MESSAGE, ctrace_status_text(status));
	(void)!ct_message_end(answer, start);
}

static void state_describe_trcout(const struct ct_trcout_group *group, uint32_t index,
				  struct ct_trcout_state *out)
{
	const struct ct_trcout *trcout = &group->trcout[index];

	*out = (struct ct_trcout_state){ .size = sizeof *out,
					 .number = group->procedure->number[index],
					 .limit = trcout->limit,
					 .used = trcout->used,
					 .events = trcout->events,
					 .bytes = trcout->bytes,
					 .wrapped_events = trcout->wrapped_events,
					 .full_events = trcout->full_events,
					 .is_open = index == group->open,
					 .failing = trcout->failing };
	(void)snprintf(out->path, sizeof out->path, "%s", trcout->spec->path);
}

static void state_describe(struct ct_writer_server *writer_server, struct ct_writer_state *out,
			   struct ct_trcout_state trcouts[CT_TRCOUT_LIMIT])
{
	const struct ct_procedure *procedure = writer_server->options->procedure;
	struct ct_trcout_group *group = &writer_server->group;

	*out = (struct ct_writer_state){ .size = sizeof *out,
					 .pid = (uint32_t)getpid(),
					 .start_ns = writer_server->start_ns,
					 .nowrap = procedure->mode == CT_WRITER_NOWRAP,
					 .compress = procedure->compress,
					 .stopping = writer_server->stopping,
					 .trcouts = group->count,
					 .links = writer_server->link_count };
	(void)snprintf(out->name, sizeof out->name, "%s", procedure->name);
	ct_ring_consumer_lock(group);
	for (uint32_t i = 0; i < group->count; i++) {
		state_describe_trcout(group, i, &trcouts[i]);
		out->events += trcouts[i].events;
		out->bytes += trcouts[i].bytes;
		out->wrapped_events += trcouts[i].wrapped_events;
	}
	out->full_events = group->full_events;
	out->is_full = group->is_full;
	ct_ring_consumer_unlock(group);
	(void)pthread_mutex_lock(&writer_server->message_lock);
	memcpy(out->message, writer_server->message, sizeof out->message);
	(void)pthread_mutex_unlock(&writer_server->message_lock);
}

static void state_answer(struct ct_writer_server *writer_server, struct ct_buf *answer)
{
	static struct ct_trcout_state trcouts[CT_TRCOUT_LIMIT];
	struct ct_writer_state state;
	size_t start = ct_message_start(answer, CT_VERB_WRITER_STATUS,
					CT_MESSAGE_ANSWER | CT_MESSAGE_MORE);

	state_describe(writer_server, &state, trcouts);
	ct_message_add_number(answer, CT_FIELD_STATUS, CTRACE_OK);
	ct_message_add(answer, CT_FIELD_WRITER, &state, sizeof state);
	(void)!ct_message_end(answer, start);
	for (uint32_t i = 0; i < writer_server->group.count; i++) {
		start = ct_message_start(answer, CT_VERB_WRITER_STATUS,
					 CT_MESSAGE_ANSWER | CT_MESSAGE_MORE);
		ct_message_add(answer, CT_FIELD_TRCOUT, &trcouts[i], sizeof trcouts[i]);
		(void)!ct_message_end(answer, start);
	}
	for (uint32_t i = 0; i < writer_server->link_count; i++) {
		struct ct_link_state link;

		ct_link_describe(writer_server->links[i], &link);
		start = ct_message_start(answer, CT_VERB_WRITER_STATUS,
					 CT_MESSAGE_ANSWER | CT_MESSAGE_MORE);
		ct_message_add(answer, CT_FIELD_LINK, &link, sizeof link);
		(void)!ct_message_end(answer, start);
	}
	start = ct_message_start(answer, CT_VERB_WRITER_STATUS, CT_MESSAGE_ANSWER);
	(void)!ct_message_end(answer, start);
}

/* A process's answer to links_ask_back(): its consumer thread is ready for the rings. */
static void link_note_answer(struct ct_writer_server *writer_server)
{
	if (writer_server->current->link != NULL && writer_server->stopping)
		ct_link_release(writer_server->current->link, writer_server->stop_release);
}

/* Answers a message of writer_server->current. */
static void server_answer(const struct ct_message *request, struct ct_buf *out, void *user)
{
	struct ct_writer_server *writer_server = user;
	uint32_t count = 0;
	enum ctrace_status status;

	if ((request->flags & CT_MESSAGE_ANSWER) != 0) {
		link_note_answer(writer_server);
		return;
	}
	switch (request->verb) {
	case CT_VERB_WRITER_CONNECT:
		status = ct_writer_server_add_link(writer_server, request, &count);
		server_answer_status(out, request->verb, status, count);
		return;
	case CT_VERB_WRITER_STATUS:
		state_answer(writer_server, out);
		return;
	case CT_VERB_WRITER_STOP:
		writer_server->current->waits_for_end = true;
		ct_writer_server_begin_end(writer_server,
					   ct_message_number(request, CT_FIELD_NUMBER, 1) != 0
						   ? CT_RELEASE_FLUSH
						   : CT_RELEASE_NOW);
		return;
	default:
		server_answer_status(out, request->verb, CTRACE_UNSUPPORTED, 0);
		return;
	}
}

/* ---- the sockets: connected processes, operators, and strangers ----
 *
 * The thread never waits for one peer.  When connections or descriptors run out, the peer without a
 * request for longest is closed.  Only this user and root are accepted. */

static void caller_remove(struct ct_writer_server *writer_server, uint32_t index)
{
	struct ct_caller *caller = writer_server->callers[index];

	if (caller->link != NULL)
		ct_link_release(caller->link, CT_RELEASE_FLUSH);
	ct_connection_close(&caller->connection);
	free(caller);
	writer_server->callers[index] = writer_server->callers[--writer_server->caller_count];
}

/* Closes the connection without a request for longest, so that idle connections cannot keep a
 * process out.  False: each has a link or waits for the end. */
static bool caller_remove_most_silent(struct ct_writer_server *writer_server)
{
	uint32_t silent = writer_server->caller_count;

	for (uint32_t i = 0; i < writer_server->caller_count; i++) {
		const struct ct_caller *caller = writer_server->callers[i];

		if (caller->link == NULL && !caller->waits_for_end &&
		    (silent == writer_server->caller_count ||
		     caller->connection.complete_ns <
			     writer_server->callers[silent]->connection.complete_ns))
			silent = i;
	}
	if (silent == writer_server->caller_count)
		return false;
	caller_remove(writer_server, silent);
	return true;
}

static bool caller_is_allowed(int fd)
{
	uint32_t uid, pid;

	return ct_socket_peer(fd, &uid, &pid) && (uid == geteuid() || uid == 0);
}

static void callers_accept(struct ct_writer_server *writer_server)
{
	for (uint32_t i = 0; i < ACCEPTED_A_ROUND; i++) {
		int fd = ct_os_high(accept4(writer_server->listen_fd, NULL, NULL,
					    SOCK_NONBLOCK | SOCK_CLOEXEC));
		struct ct_caller *caller;

		if (fd < 0) {
			/* Without a free descriptor accept() reports this even when no peer
			 * waits.  Only for the first one has poll() announced a peer. */
			if (i == 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
				writer_server->is_deaf = !caller_remove_most_silent(writer_server);
			return;
		}
		caller = caller_is_allowed(fd) &&
					 (writer_server->caller_count < CT_WRITER_SERVER_CALLERS ||
					  caller_remove_most_silent(writer_server))
				 ? calloc(1, sizeof *caller)
				 : NULL;
		if (caller == NULL) {
			ct_os_close(&fd);
			continue;
		}
		ct_connection_open(&caller->connection, fd);
		writer_server->callers[writer_server->caller_count++] = caller;
	}
}

static bool callers_are_busy(const struct ct_writer_server *writer_server)
{
	for (uint32_t i = 0; i < writer_server->caller_count; i++)
		if (ct_connection_events(&writer_server->callers[i]->connection) == 0)
			return true;
	return false;
}

/* Waits for a connection, a request, the stop descriptor or the time-out, and serves all that
 * are ready. */
static void server_serve(struct ct_writer_server *writer_server)
{
	static struct pollfd fds[CT_WRITER_SERVER_CALLERS + 2];
	uint32_t count = writer_server->caller_count;
	int timeout = callers_are_busy(writer_server)              ? 0
		      : writer_server->is_starting                 ? BUSY_MS
		      : ct_writer_server_is_waiting(writer_server) ? BUSY_MS
		      : writer_server->is_deaf                     ? DEAF_MS
								   : IDLE_MS;

	for (uint32_t i = 0; i < count; i++)
		fds[i] = (struct pollfd){ .fd = writer_server->callers[i]->connection.fd,
					  .events = ct_connection_events(
						  &writer_server->callers[i]->connection) };
	fds[count] = (struct pollfd){ .fd = writer_server->is_deaf ? -1 : writer_server->listen_fd,
				      .events = POLLIN };
	writer_server->is_deaf = false;
	fds[count + 1] =
		(struct pollfd){ .fd = writer_server->stopping ? -1
							       : *writer_server->options->stop_fd,
				 .events = POLLIN };
	if (poll(fds, count + 2, timeout) < 0 && errno != EINTR)
		return;
	for (uint32_t i = count; i > 0; i--) {
		writer_server->current = writer_server->callers[i - 1];
		if (!ct_connection_turn(&writer_server->current->connection, fds[i - 1].revents,
					&writer_server->serve))
			caller_remove(writer_server, i - 1);
	}
	writer_server->current = NULL;
	if ((fds[count].revents & POLLIN) != 0)
		callers_accept(writer_server);
	if (fds[count + 1].revents != 0)
		ct_writer_server_begin_end(writer_server, CT_RELEASE_FLUSH);
}

/* At the end: answers WTRSTOP now that the data sets are closed, and closes all sockets.  Requests
 * that have not been read get no answer. */
static void server_hang_up(struct ct_writer_server *writer_server)
{
	for (uint32_t i = 0; i < writer_server->caller_count; i++) {
		struct ct_connection *connection = &writer_server->callers[i]->connection;

		if (writer_server->callers[i]->waits_for_end)
			server_answer_status(&connection->out, CT_VERB_WRITER_STOP, CTRACE_OK, 0);
		if (ct_connection_waiting(connection) != 0)
			(void)ct_connection_turn(connection, POLLOUT, &writer_server->serve);
	}
	while (writer_server->caller_count > 0)
		caller_remove(writer_server, writer_server->caller_count - 1);
}

/* ---- the name ---- */

/* True when no other user can put a socket there under our name. */
static bool directory_is_private(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && info.st_uid == geteuid() &&
	       (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool ct_writer_is_alive(const char *directory, const char *name)
{
	const struct ct_command status = { .verb = CT_VERB_WRITER_STATUS };
	const char *slash = strrchr(directory, '/');
	struct ct_peer peer = { .is_writer = true };
	struct ct_buf request;
	bool is_alive;

	(void)snprintf(peer.run_directory, sizeof peer.run_directory, "%.*s",
		       (int)(slash - directory), directory);
	(void)snprintf(peer.directory, sizeof peer.directory, "%s", slash + 1);
	(void)snprintf(peer.jobname, sizeof peer.jobname, "%s", name);
	ct_buf_init(&peer.answer);
	ct_buf_init(&request);
	ct_command_encode(&request, &status);
	ct_client_ask(&(struct ct_peers){ &peer, 1 }, &request, ANSWER_MS);
	/* One that is stopped does not answer, but listens. */
	is_alive = peer.answer.size > 0 || peer.status == CTRACE_TIMED_OUT;
	ct_buf_fini(&request);
	ct_buf_fini(&peer.answer);
	return is_alive;
}

/* Waits for the lock of a writer that has just been killed, or of an operator who looks for one.
 * Returns false when another writer has it. */
static bool name_lock(const struct ct_writer_server *writer_server)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if (fcntl(writer_server->lock_fd, F_OFD_SETLK, &lock) == 0)
			return true;
		if (ct_writer_is_alive(writer_server->directory,
				       writer_server->options->procedure->name))
			return false;
		(void)poll(NULL, 0, LOCK_TRY_MS);
	}
	return false;
}

static enum ctrace_status server_take_name(struct ct_writer_server *writer_server)
{
	char name[CTRACE_MAX_NAME + 8];
	enum ctrace_status status = ct_os_make_directory(writer_server->directory);

	if (status == CTRACE_NOT_FOUND) /* a file, or a link to nowhere */
		return CTRACE_DENIED;
	if (status != CTRACE_OK)
		return status;
	writer_server->directory_fd =
		open(writer_server->directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (writer_server->directory_fd < 0)
		return errno == ELOOP || errno == ENOTDIR ? CTRACE_DENIED : CTRACE_OS_ERROR;
	if (!directory_is_private(writer_server->directory_fd))
		return CTRACE_DENIED;
	(void)snprintf(name, sizeof name, "%s.lock", writer_server->options->procedure->name);
	status = ct_os_open_file(writer_server->directory_fd, name, O_RDWR | O_CREAT,
				 &writer_server->lock_fd);
	if (status != CTRACE_OK)
		return status;
	if (!name_lock(writer_server))
		return CTRACE_TIMED_OUT;
	return ct_socket_listen(writer_server->directory_fd, writer_server->directory,
				writer_server->options->procedure->name, &writer_server->listen_fd);
}

static void server_leave_name(struct ct_writer_server *writer_server)
{
	if (writer_server->listen_fd >= 0)
		(void)unlinkat(writer_server->directory_fd, writer_server->options->procedure->name,
			       0);
	ct_os_close(&writer_server->listen_fd);
	ct_os_close(&writer_server->lock_fd);
	ct_os_close(&writer_server->directory_fd);
	while (writer_server->lock_count > 0)
		ct_os_close(&writer_server->locks[--writer_server->lock_count]);
}

static int server_fail_to_start(struct ct_writer_server *writer_server, enum ctrace_status status)
{
	const char *name = writer_server->options->procedure->name;
	const char *why = status == CTRACE_OS_ERROR ? strerror(errno)
			  : status == CTRACE_DENIED
				  ? "it is no directory of this user's, or others may write to it"
				  : ctrace_status_text(status);
	char text[4400];

	if (status == CTRACE_TIMED_OUT)
		(void)snprintf(text, sizeof text,
			       "CTR105E CTRACE WRITER %s IS RUNNING ALREADY (%s)", name,
			       writer_server->directory);
	else
		(void)snprintf(text, sizeof text, "CTR106E CTRACE WRITER %s: %s: %s", name,
			       writer_server->directory, why);
	ct_writer_server_report(text, writer_server);
	server_leave_name(writer_server);
	return 1;
}

/* ---- the worker ---- */

static void report_unopened(struct ct_writer_server *writer_server, uint32_t index,
			    enum ctrace_status status)
{
	const struct ct_procedure *procedure = writer_server->options->procedure;
	const char *why = status == CTRACE_BUFFER_TOO_SMALL
				  ? "it is full, as are the others; DISP=OLD writes it anew"
			  : errno != 0 ? strerror(errno)
				       : "it is not ours";
	char text[4400];

	(void)snprintf(text, sizeof text, "CTR103E TRCOUT%02u CANNOT BE OPENED: %s: %s",
		       procedure->number[index], procedure->trcout[index].path, why);
	ct_writer_server_report(text, writer_server);
}

static bool server_lock_directories(struct ct_writer_server *writer_server)
{
	const struct ct_procedure *procedure = writer_server->options->procedure;

	for (uint32_t i = 0; i < procedure->trcout_count; i++) {
		enum ctrace_status status;

		errno = 0;
		status = ct_trcout_lock_directory(&procedure->trcout[i],
						  &writer_server->locks[writer_server->lock_count]);
		if (status != CTRACE_OK) {
			report_unopened(writer_server, i, status);
			return false;
		}
		writer_server->lock_count++;
	}
	return true;
}

static bool worker_start(struct ct_writer_server *writer_server)
{
	struct ct_trcout_group *group = &writer_server->group;
	enum ctrace_status status;
	uint32_t index;

	*group = (struct ct_trcout_group){ .procedure = writer_server->options->procedure,
					   .stop = &writer_server->stop,
					   .links = writer_server->links,
					   .link_count = &writer_server->link_count,
					   .message = ct_writer_server_report,
					   .user = writer_server };
	(void)pthread_mutex_init(&group->lock, NULL);
	if (!server_lock_directories(writer_server))
		return false;
	errno = 0;
	status = ct_trcout_group_open(group, &index);
	if (status != CTRACE_OK) {
		report_unopened(writer_server, index, status);
		return false;
	}
	writer_server->has_worker = ct_os_thread_start(ct_ring_consumer_run, group, "ctrace-trcout",
						       &group->thread) == CTRACE_OK;
	if (!writer_server->has_worker)
		ct_writer_server_report("CTR104E NO THREAD FOR A TRCOUT", writer_server);
	return writer_server->has_worker;
}

static void worker_stop(struct ct_writer_server *writer_server)
{
	__atomic_store_n(&writer_server->stop, 1, __ATOMIC_RELEASE);
	ct_os_wake(&writer_server->stop);
	if (writer_server->has_worker)
		(void)pthread_join(writer_server->group.thread, NULL);
	ct_trcout_group_close(&writer_server->group);
}

/* ---- life ---- */

/* Makes processes connect that named this writer before it started, and counts them.  Runs on a
 * thread of its own: a process that is connecting answers only after the server has served it. */
static void *server_call_processes(void *user)
{
	struct ct_writer_server *writer_server = user;
	const struct ct_peer_filter everybody = { 0 };
	struct ct_message answer;
	struct ct_peers peers;
	struct ct_buf request;
	uint32_t coming = 0;
	size_t start;

	ct_buf_init(&request);
	start = ct_message_start(&request, CT_VERB_WRITER_UP, 0);
	ct_message_add_text(&request, CT_FIELD_VALUE, writer_server->options->procedure->name);
	if (ct_message_end(&request, start) == CTRACE_OK &&
	    ct_peers_find(&everybody, &peers) == CTRACE_OK) {
		ct_client_ask(&peers, &request, UP_MS);
		for (size_t i = 0; i < peers.count; i++) {
			size_t at = 0;

			if (peers.items[i].status == CTRACE_OK &&
			    ct_client_next(&peers.items[i], &at, &answer))
				coming += ct_message_number(&answer, CT_FIELD_NUMBER, 0) != 0;
		}
		ct_peers_fini(&peers);
	}
	ct_buf_fini(&request);
	__atomic_store_n(&writer_server->coming, coming, __ATOMIC_RELEASE);
	return NULL;
}

static void server_turn(struct ct_writer_server *writer_server)
{
	server_serve(writer_server);
	ct_writer_server_part_from_damaged(writer_server);
	ct_writer_server_remove_done(writer_server);
	if (writer_server->stopping)
		ct_writer_server_press_on(writer_server);
}

static uint32_t links_connected(const struct ct_writer_server *writer_server)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < writer_server->link_count; i++) {
		ct_guard_link(writer_server->links[i]);
		count += ct_link_is_connected(writer_server->links[i]);
		ct_guard_link(NULL);
	}
	return count;
}

/* Serves until the processes are connected that named this writer: then ITT110I means that no
 * ring is made any more whose events go elsewhere; rings that are there are handed over soon.  One
 * that has said so and does not come delays the writer for COME_NS. */
static void server_await_links(struct ct_writer_server *writer_server)
{
	uint64_t until = ct_clock_mono_ns() + COME_NS;
	uint32_t coming = COMING_UNKNOWN;
	pthread_t thread;
	bool has_thread;

	writer_server->is_starting = true;
	writer_server->coming = COMING_UNKNOWN;
	has_thread = ct_os_thread_start(server_call_processes, writer_server, "ctrace-call",
					&thread) == CTRACE_OK;
	if (!has_thread)
		(void)server_call_processes(writer_server);
	while (coming == COMING_UNKNOWN ||
	       (links_connected(writer_server) < coming && !writer_server->stopping &&
		ct_clock_mono_ns() < until)) {
		server_turn(writer_server);
		coming = __atomic_load_n(&writer_server->coming, __ATOMIC_ACQUIRE);
	}
	if (has_thread)
		(void)pthread_join(thread, NULL);
	writer_server->is_starting = false;
}

static int server_run(struct ct_writer_server *writer_server)
{
	enum ctrace_status status = server_take_name(writer_server);

	if (status != CTRACE_OK)
		return server_fail_to_start(writer_server, status);
	if (!worker_start(writer_server)) {
		worker_stop(writer_server);
		server_leave_name(writer_server);
		return 1;
	}
	server_await_links(writer_server);
	writer_server->options->ready(writer_server->options->user);
	while (!writer_server->stopping || writer_server->link_count != 0)
		server_turn(writer_server);
	worker_stop(writer_server);
	server_hang_up(writer_server);
	server_leave_name(writer_server);
	return 0;
}

/* A link takes three descriptors, and some for each data set that it writes to. */
static void descriptors_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int ct_writer_run(const struct ct_writer_options *options)
{
	struct ct_writer_server *writer_server = calloc(1, sizeof *writer_server);
	int result;

	if (writer_server == NULL)
		return 1;
	descriptors_raise_limit();
	ct_guard_start();
	writer_server->options = options;
	writer_server->serve = (struct ct_server_options){ .takes_descriptor = true,
							   .answer = server_answer,
							   .user = writer_server };
	writer_server->directory_fd = writer_server->lock_fd = writer_server->listen_fd = -1;
	writer_server->start_ns = ct_clock_wall_ns();
	(void)pthread_mutex_init(&writer_server->message_lock, NULL);
	(void)snprintf(writer_server->directory, sizeof writer_server->directory,
		       "%s/" CT_WRITER_DIRECTORY, options->run_directory);
	result = server_run(writer_server);
	free(writer_server);
	return result;
}
