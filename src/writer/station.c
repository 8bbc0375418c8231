/*
 * station.c - an external writer as a whole: its socket, its links to traced processes, its TRCOUTs, its end.
 *
 * ct_writer_run() serves sockets on the calling thread and leaves writing to the workers (intake.c).  A process connects and hands in its
 * folder's descriptor; its socket stays open as long as both live.  When it closes, the process has ended: what waits in its rings is
 * written, and then its folder is recovered.  When the writer is to end, it asks each process to want its rings back, writes what was
 * committed (FLUSH) or not (NOFLUSH), gives the rings back and goes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/intake.h"

#include "control/client.h"
#include "control/connection.h"
#include "control/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS (CT_LINK_LIMIT + 32u)
#define UP_MS 300u
#define BUSY_MS 5 /* between looks while somebody waits for the workers */
#define IDLE_MS 1000
#define ACCEPTED_A_ROUND 8u    /* who came with a request is heard before a crowd pushes it out */
#define DEAF_MS 100            /* where nobody can be heard for want of descriptors */
#define ASK_NS 1000000000u     /* how long a process may take to want its rings back */
#define GIVE_UP_NS 5000000000u /* how long the end may take without progress */

struct caller {
	struct ct_connection connection;
	struct ct_link *link; /* NULL: an operator */
	bool waits_for_end;   /* an operator who said WTRSTOP */
};

struct station {
	const struct ct_writer_options *options;
	struct ct_server_options serve;
	char folder[4096]; /* <run directory>/writer */
	int folder_fd, lock_fd, listen_fd;
	uint64_t start_ns;
	struct caller *callers[CONNECTIONS];
	uint32_t caller_count;
	struct caller *current;
	struct ct_link *links[CT_LINK_LIMIT];
	uint32_t link_count;
	bool is_deaf; /* it could not accept */
	struct ct_trcout trcouts[CT_TRCOUT_LIMIT];
	int claims[CT_TRCOUT_LIMIT]; /* of their folders */
	uint32_t claim_count;
	uint32_t workers; /* that run */
	uint32_t stop;    /* theirs */
	bool stopping;
	uint32_t stop_release; /* CT_RELEASE_FLUSH or _NOW */
	uint64_t stop_ns;
	uint64_t progress, progress_ns;
	pthread_mutex_t message_lock;
	char message[256];
};

/* Any thread. */
static void tell(const char *text, void *user)
{
	struct station *station = user;

	(void)pthread_mutex_lock(&station->message_lock);
	(void)snprintf(station->message, sizeof station->message, "%.255s", text);
	station->options->message(text, station->options->user);
	(void)pthread_mutex_unlock(&station->message_lock);
}

static void lock_all(struct station *station)
{
	for (uint32_t i = 0; i < station->workers; i++)
		ct_intake_lock(&station->trcouts[i]);
}

static void unlock_all(struct station *station)
{
	for (uint32_t i = station->workers; i > 0; i--)
		ct_intake_unlock(&station->trcouts[i - 1]);
}

/* ------------------------------------------------------------------------------------------------------------
 * Links
 */

static enum ctrace_status add_link(struct station *station, const struct ct_message *request, uint32_t *out_count)
{
	uint64_t number = ct_message_number(request, CT_FIELD_NUMBER, 0);
	uint64_t base = ct_message_number(request, CT_FIELD_VALUE, 0);
	uint64_t count = ct_message_number(request, CT_FIELD_LEVEL, 0);
	struct caller *caller = station->current;
	struct ct_link *link;
	enum ctrace_status status;
	int folder = caller->connection.passed;

	if (number == 0 || number >= CT_WRITER_LIMIT || base < CT_WRITER_SLOT || count == 0 || base > CT_DEST_LIMIT ||
	    count > CT_DEST_LIMIT - base || folder < 0 || caller->link != NULL)
		return CTRACE_DAMAGED;
	if (station->stopping || station->link_count == CT_LINK_LIMIT)
		return CTRACE_NOT_ENOUGH_MEMORY;
	caller->connection.passed = -1;
	if (count > station->workers)
		count = station->workers;
	status = ct_link_create(folder, (uint32_t)number, (uint32_t)base, (uint32_t)count, &link);
	if (status != CTRACE_OK)
		return status;
	lock_all(station);
	station->links[station->link_count++] = link;
	unlock_all(station);
	caller->link = link;
	*out_count = (uint32_t)count;
	return CTRACE_OK;
}

static struct caller *caller_of(const struct station *station, const struct ct_link *link)
{
	for (uint32_t i = 0; i < station->caller_count; i++)
		if (station->callers[i]->link == link)
			return station->callers[i];
	return NULL;
}

static void release(struct ct_link *link, uint32_t how)
{
	__atomic_store_n(&link->release, how, __ATOMIC_RELEASE);
}

/* Everybody's data are out, and nobody works on it any more. */
static void remove_link(struct station *station, uint32_t index)
{
	struct ct_link *link = station->links[index];
	struct caller *caller = caller_of(station, link);
	struct ct_recovery ignored = { 0 };

	lock_all(station);
	station->links[index] = station->links[--station->link_count];
	unlock_all(station);
	if (caller != NULL) {
		caller->link = NULL;
		caller->connection.is_ending = true;
	}
	ct_link_destroy(link);
	/* The process has ended: what else it left goes where it belongs. */
	if (caller == NULL)
		ct_recover(station->options->run_directory, &ignored, NULL, NULL);
}

/* One process that truncates its own files is not the end of the others. */
static void part_from_damaged(struct station *station)
{
	char text[200];

	for (uint32_t i = 0; i < station->link_count; i++) {
		struct ct_link *link = station->links[i];

		if (__atomic_load_n(&link->is_damaged, __ATOMIC_ACQUIRE) == 0 || link->release == CT_RELEASE_NOW)
			continue;
		(void)snprintf(text, sizeof text, "CTR107E PROCESS %u HAS TRUNCATED ITS SESSION OR A RING: IT IS DISCONNECTED",
			       link->pid);
		tell(text, station);
		release(link, CT_RELEASE_NOW);
	}
}

static void remove_done(struct station *station)
{
	for (uint32_t i = station->link_count; i > 0; i--) {
		struct ct_link *link = station->links[i - 1];
		uint32_t all = (uint32_t)(((uint64_t)1 << link->count) - 1);

		if (__atomic_load_n(&link->release, __ATOMIC_RELAXED) != CT_RELEASE_AS_WANTED &&
		    __atomic_load_n(&link->done, __ATOMIC_ACQUIRE) == all)
			remove_link(station, i - 1);
	}
}

static bool is_waiting(const struct station *station)
{
	for (uint32_t i = 0; i < station->link_count; i++)
		if (station->links[i]->release != CT_RELEASE_AS_WANTED)
			return true;
	return station->stopping;
}

/* ------------------------------------------------------------------------------------------------------------
 * The end
 */

static void ask_back(struct station *station)
{
	for (uint32_t i = 0; i < station->caller_count; i++) {
		struct caller *caller = station->callers[i];
		size_t start;

		if (caller->link == NULL)
			continue;
		start = ct_message_start(&caller->connection.out, CT_VERB_WRITER_STOP, 0);
		(void)!ct_message_end(&caller->connection.out, start);
	}
}

static void begin_end(struct station *station, uint32_t how)
{
	if (station->stopping)
		return;
	station->stopping = true;
	station->stop_release = how;
	station->stop_ns = station->progress_ns = ct_clock_mono_ns();
	ask_back(station);
}

/* Whoever does not answer, or whose data set cannot be written, must not keep us for ever: its own agent has the rings then. */
static void press_on(struct station *station)
{
	uint64_t now = ct_clock_mono_ns();
	uint64_t events = 0;

	for (uint32_t i = 0; i < station->link_count; i++) {
		events += __atomic_load_n(&station->links[i]->events, __ATOMIC_RELAXED);
		if (station->links[i]->release == CT_RELEASE_AS_WANTED && now - station->stop_ns > ASK_NS)
			release(station->links[i], station->stop_release);
	}
	if (events != station->progress)
		station->progress_ns = now;
	station->progress = events;
	for (uint32_t i = 0; i < station->link_count && now - station->progress_ns > GIVE_UP_NS; i++)
		release(station->links[i], CT_RELEASE_NOW);
}

/* ------------------------------------------------------------------------------------------------------------
 * Answers
 */

static void answer_status(struct ct_buf *answer, enum ct_verb verb, enum ctrace_status status, uint64_t number)
{
	size_t start = ct_message_start(answer, verb, CT_MESSAGE_ANSWER);

	ct_message_add_number(answer, CT_FIELD_STATUS, status);
	ct_message_add_number(answer, CT_FIELD_NUMBER, number);
	if (status != CTRACE_OK)
		ct_message_add_text(answer, CT_FIELD_MESSAGE, ctrace_status_text(status));
	(void)!ct_message_end(answer, start);
}

static void describe_trcout(struct ct_trcout *trcout, struct ct_trcout_state *out)
{
	const struct ct_trcout_spec *spec = &trcout->procedure->trcout[trcout->index];

	*out = (struct ct_trcout_state){ .size = sizeof *out, .number = trcout->procedure->number[trcout->index] };
	ct_intake_lock(trcout);
	out->limit = trcout->limit;
	out->used = trcout->used;
	out->events = trcout->events;
	out->bytes = trcout->bytes;
	out->wrapped_events = trcout->wrapped_events;
	out->full_events = trcout->full_events;
	out->failing = trcout->failing;
	ct_intake_unlock(trcout);
	(void)snprintf(out->path, sizeof out->path, "%s", spec->path);
}

static void describe(struct station *station, struct ct_writer_state *out, struct ct_trcout_state trcouts[CT_TRCOUT_LIMIT])
{
	const struct ct_procedure *procedure = station->options->procedure;
	uint32_t full = 0;

	*out = (struct ct_writer_state){ .size = sizeof *out,
					 .pid = (uint32_t)getpid(),
					 .start_ns = station->start_ns,
					 .nowrap = procedure->mode == CT_WRITER_NOWRAP,
					 .compress = procedure->compress,
					 .stopping = station->stopping,
					 .trcouts = station->workers,
					 .links = station->link_count };
	(void)snprintf(out->name, sizeof out->name, "%s", procedure->name);
	for (uint32_t i = 0; i < station->workers; i++) {
		describe_trcout(&station->trcouts[i], &trcouts[i]);
		out->events += trcouts[i].events;
		out->bytes += trcouts[i].bytes;
		out->wrapped_events += trcouts[i].wrapped_events;
		out->full_events += trcouts[i].full_events;
		full += trcouts[i].full_events != 0;
	}
	out->is_full = full == station->workers;
	(void)pthread_mutex_lock(&station->message_lock);
	memcpy(out->message, station->message, sizeof out->message);
	(void)pthread_mutex_unlock(&station->message_lock);
}

static void answer_state(struct station *station, struct ct_buf *answer)
{
	static struct ct_trcout_state trcouts[CT_TRCOUT_LIMIT];
	struct ct_writer_state state;
	size_t start = ct_message_start(answer, CT_VERB_WRITER_STATUS, CT_MESSAGE_ANSWER | CT_MESSAGE_MORE);

	describe(station, &state, trcouts);
	ct_message_add_number(answer, CT_FIELD_STATUS, CTRACE_OK);
	ct_message_add(answer, CT_FIELD_WRITER, &state, sizeof state);
	(void)!ct_message_end(answer, start);
	for (uint32_t i = 0; i < station->workers; i++) {
		start = ct_message_start(answer, CT_VERB_WRITER_STATUS, CT_MESSAGE_ANSWER | CT_MESSAGE_MORE);
		ct_message_add(answer, CT_FIELD_TRCOUT, &trcouts[i], sizeof trcouts[i]);
		(void)!ct_message_end(answer, start);
	}
	for (uint32_t i = 0; i < station->link_count; i++) {
		struct ct_link_state link;

		ct_link_describe(station->links[i], &link);
		start = ct_message_start(answer, CT_VERB_WRITER_STATUS, CT_MESSAGE_ANSWER | CT_MESSAGE_MORE);
		ct_message_add(answer, CT_FIELD_LINK, &link, sizeof link);
		(void)!ct_message_end(answer, start);
	}
	start = ct_message_start(answer, CT_VERB_WRITER_STATUS, CT_MESSAGE_ANSWER);
	(void)!ct_message_end(answer, start);
}

/* A process's answer to ask_back(): its agent is ready for them. */
static void note_answer(struct station *station)
{
	if (station->current->link != NULL && station->stopping)
		release(station->current->link, station->stop_release);
}

static void answer(const struct ct_message *request, struct ct_buf *out, void *user)
{
	struct station *station = user;
	uint32_t count = 0;
	enum ctrace_status status;

	if ((request->flags & CT_MESSAGE_ANSWER) != 0) {
		note_answer(station);
		return;
	}
	switch (request->verb) {
	case CT_VERB_WRITER_CONNECT:
		status = add_link(station, request, &count);
		answer_status(out, request->verb, status, count);
		return;
	case CT_VERB_WRITER_STATUS:
		answer_state(station, out);
		return;
	case CT_VERB_WRITER_STOP:
		station->current->waits_for_end = true;
		begin_end(station, ct_message_number(request, CT_FIELD_NUMBER, 1) != 0 ? CT_RELEASE_FLUSH : CT_RELEASE_NOW);
		return;
	default:
		answer_status(out, request->verb, CTRACE_UNSUPPORTED, 0);
		return;
	}
}

/* ------------------------------------------------------------------------------------------------------------
 * Serving
 */

static void remove_caller(struct station *station, uint32_t index)
{
	struct caller *caller = station->callers[index];

	if (caller->link != NULL)
		release(caller->link, CT_RELEASE_FLUSH);
	ct_connection_close(&caller->connection);
	free(caller);
	station->callers[index] = station->callers[--station->caller_count];
}

/* A crowd that says nothing must not keep a process out.  False: there is none who is not linked, or waits for the end. */
static bool remove_most_silent(struct station *station)
{
	uint32_t silent = station->caller_count;

	for (uint32_t i = 0; i < station->caller_count; i++) {
		const struct caller *caller = station->callers[i];

		if (caller->link == NULL && !caller->waits_for_end &&
		    (silent == station->caller_count ||
		     caller->connection.complete_ns < station->callers[silent]->connection.complete_ns))
			silent = i;
	}
	if (silent == station->caller_count)
		return false;
	remove_caller(station, silent);
	return true;
}

static bool may_call(int fd)
{
	uint32_t uid;

	return ct_socket_peer(fd, &uid) && (uid == geteuid() || uid == 0);
}

static void accept_callers(struct station *station)
{
	for (uint32_t i = 0; i < ACCEPTED_A_ROUND; i++) {
		int fd = ct_os_above_standard(accept4(station->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
		struct caller *caller;

		if (fd < 0) {
			/* Without a descriptor this is answered also when nobody else is there; of the first one poll() has told. */
			if (i == 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
				station->is_deaf = !remove_most_silent(station);
			return;
		}
		caller = may_call(fd) && (station->caller_count < CONNECTIONS || remove_most_silent(station))
				 ? calloc(1, sizeof *caller)
				 : NULL;
		if (caller == NULL) {
			ct_os_close(&fd);
			continue;
		}
		ct_connection_open(&caller->connection, fd);
		station->callers[station->caller_count++] = caller;
	}
}

static bool is_busy(const struct station *station)
{
	for (uint32_t i = 0; i < station->caller_count; i++)
		if (ct_connection_events(&station->callers[i]->connection) == 0)
			return true;
	return false;
}

static void serve_once(struct station *station)
{
	static struct pollfd fds[CONNECTIONS + 2];
	uint32_t count = station->caller_count;
	int timeout = is_busy(station) ? 0 : is_waiting(station) ? BUSY_MS : station->is_deaf ? DEAF_MS : IDLE_MS;

	for (uint32_t i = 0; i < count; i++)
		fds[i] = (struct pollfd){ .fd = station->callers[i]->connection.fd,
					  .events = ct_connection_events(&station->callers[i]->connection) };
	fds[count] = (struct pollfd){ .fd = station->is_deaf ? -1 : station->listen_fd, .events = POLLIN };
	station->is_deaf = false;
	fds[count + 1] = (struct pollfd){ .fd = station->stopping ? -1 : *station->options->stop_fd, .events = POLLIN };
	if (poll(fds, count + 2, timeout) < 0 && errno != EINTR)
		return;
	for (uint32_t i = count; i > 0; i--) {
		station->current = station->callers[i - 1];
		if (!ct_connection_turn(&station->current->connection, fds[i - 1].revents, &station->serve))
			remove_caller(station, i - 1);
	}
	station->current = NULL;
	if ((fds[count].revents & POLLIN) != 0)
		accept_callers(station);
	if (fds[count + 1].revents != 0)
		begin_end(station, CT_RELEASE_FLUSH);
}

/* ------------------------------------------------------------------------------------------------------------
 * Life
 */

/* Nobody else may put a socket there that takes our name. */
static bool is_private(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static enum ctrace_status take_name(struct station *station)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char name[CTRACE_MAX_NAME + 8];
	enum ctrace_status status = ct_os_make_folder(station->folder);

	if (status == CTRACE_NOT_FOUND) /* a file, or a link to nowhere */
		return CTRACE_DENIED;
	if (status != CTRACE_OK)
		return status;
	station->folder_fd = open(station->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (station->folder_fd < 0)
		return errno == ELOOP || errno == ENOTDIR ? CTRACE_DENIED : CTRACE_OS_ERROR;
	if (!is_private(station->folder_fd))
		return CTRACE_DENIED;
	(void)snprintf(name, sizeof name, "%s.lock", station->options->procedure->name);
	status = ct_os_open_file(station->folder_fd, name, O_RDWR | O_CREAT, &station->lock_fd);
	if (status != CTRACE_OK)
		return status;
	if (fcntl(station->lock_fd, F_OFD_SETLK, &lock) != 0)
		return CTRACE_TIMED_OUT;
	return ct_socket_listen(station->folder_fd, station->folder, station->options->procedure->name, &station->listen_fd);
}

static bool claim(struct station *station, const struct ct_trcout *trcout)
{
	if (ct_trcout_claim(trcout, &station->claims[station->claim_count]) != CTRACE_OK)
		return false;
	station->claim_count++;
	return true;
}

static bool start_workers(struct station *station)
{
	const struct ct_procedure *procedure = station->options->procedure;

	for (uint32_t i = 0; i < procedure->trcout_count; i++) {
		struct ct_trcout *trcout = &station->trcouts[i];
		char text[4400];

		*trcout = (struct ct_trcout){ .procedure = procedure,
					      .index = i,
					      .stop = &station->stop,
					      .links = station->links,
					      .link_count = &station->link_count,
					      .message = tell,
					      .user = station };
		(void)pthread_mutex_init(&trcout->lock, NULL);
		errno = 0;
		if (!claim(station, trcout) || ct_trcout_open(trcout) != CTRACE_OK) {
			(void)snprintf(text, sizeof text, "CTR103E TRCOUT%02u CANNOT BE OPENED: %s: %s", procedure->number[i],
				       procedure->trcout[i].path, errno != 0 ? strerror(errno) : "it is not ours");
			tell(text, station);
			return false;
		}
		if (ct_os_thread_start(ct_intake_run, trcout, "ctrace-trcout", &trcout->thread) != CTRACE_OK) {
			tell("CTR104E NO THREAD FOR A TRCOUT", station);
			return false;
		}
		station->workers++;
	}
	return true;
}

/* Who named us before we came connects now. */
static void call_processes(struct station *station)
{
	const struct ct_peer_filter everybody = { 0 };
	struct ct_peers peers;
	struct ct_buf request;
	size_t start;

	ct_buf_init(&request);
	start = ct_message_start(&request, CT_VERB_WRITER_UP, 0);
	ct_message_add_text(&request, CT_FIELD_VALUE, station->options->procedure->name);
	if (ct_message_end(&request, start) == CTRACE_OK && ct_peers_find(&everybody, &peers) == CTRACE_OK) {
		ct_client_ask(&peers, &request, UP_MS);
		ct_peers_fini(&peers);
	}
	ct_buf_fini(&request);
}

static void stop_workers(struct station *station)
{
	__atomic_store_n(&station->stop, 1, __ATOMIC_RELEASE);
	ct_os_wake(&station->stop);
	for (uint32_t i = 0; i < station->workers; i++) {
		ct_os_wake(&station->stop);
		(void)pthread_join(station->trcouts[i].thread, NULL);
	}
}

/* Who said WTRSTOP hears that the data sets are closed, and sees the socket close. */
static void answer_waiting(struct station *station)
{
	for (uint32_t i = 0; i < station->caller_count; i++) {
		struct ct_connection *connection = &station->callers[i]->connection;

		if (station->callers[i]->waits_for_end)
			answer_status(&connection->out, CT_VERB_WRITER_STOP, CTRACE_OK, 0);
		(void)ct_connection_turn(connection, POLLOUT, &station->serve);
	}
	while (station->caller_count > 0)
		remove_caller(station, station->caller_count - 1);
}

static void leave_name(struct station *station)
{
	if (station->listen_fd >= 0)
		(void)unlinkat(station->folder_fd, station->options->procedure->name, 0);
	ct_os_close(&station->listen_fd);
	ct_os_close(&station->lock_fd);
	ct_os_close(&station->folder_fd);
	while (station->claim_count > 0)
		ct_os_close(&station->claims[--station->claim_count]);
}

static int fail_to_start(struct station *station, enum ctrace_status status)
{
	const char *name = station->options->procedure->name;
	const char *why = status == CTRACE_OS_ERROR ? strerror(errno)
			  : status == CTRACE_DENIED ? "it is no folder of this user's, or others may write to it"
						    : ctrace_status_text(status);
	char text[4400];

	if (status == CTRACE_TIMED_OUT)
		(void)snprintf(text, sizeof text, "CTR105E CTRACE WRITER %s IS RUNNING ALREADY (%s)", name, station->folder);
	else
		(void)snprintf(text, sizeof text, "CTR106E CTRACE WRITER %s: %s: %s", name, station->folder, why);
	tell(text, station);
	leave_name(station);
	return 1;
}

static int run(struct station *station)
{
	enum ctrace_status status = take_name(station);

	if (status != CTRACE_OK)
		return fail_to_start(station, status);
	if (!start_workers(station)) {
		stop_workers(station);
		leave_name(station);
		return 1;
	}
	station->options->ready(station->options->user);
	call_processes(station);
	while (!station->stopping || station->link_count != 0) {
		serve_once(station);
		part_from_damaged(station);
		remove_done(station);
		if (station->stopping)
			press_on(station);
	}
	stop_workers(station);
	answer_waiting(station);
	leave_name(station);
	return 0;
}

/* A link takes three descriptors, and some for each data set that it writes to. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int ct_writer_run(const struct ct_writer_options *options)
{
	struct station *station = calloc(1, sizeof *station);
	int result;

	if (station == NULL)
		return 1;
	raise_limit();
	ct_guard_start();
	station->options = options;
	station->serve = (struct ct_server_options){ .takes_descriptor = true, .answer = answer, .user = station };
	station->folder_fd = station->lock_fd = station->listen_fd = -1;
	station->start_ns = ct_clock_wall_ns();
	(void)pthread_mutex_init(&station->message_lock, NULL);
	(void)snprintf(station->folder, sizeof station->folder, "%s/" CT_WRITER_FOLDER, options->run_directory);
	result = run(station);
	free(station);
	return result;
}
