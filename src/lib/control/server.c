/*
 * server.c - the control thread: serves connections, watched descriptors and tasks.
 *
 * One per traced process, with all signals blocked, asleep in poll() while there is nothing to do.
 * The program may close any descriptor at any time.  So the thread checks each before use and
 * recreates those that have gone.  It uses poll() and not epoll, which would remember closed
 * descriptors.  Other threads queue work under the lock, which is never held during a wait, and
 * wake the thread by a byte.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/server.h"
#include "session/connection.h"
#include "lib/control/task.h"
#include "lib/process/aside.h"
#include "session/socket.h"

#include <sys/resource.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FEW_DESCRIPTORS 32u /* limit of RLIMIT_NOFILE below which no thread starts */
/* a quarter of the connections: a peer that sends its request at once is served before later
 * ones displace it */
#define ACCEPTED_A_ROUND 8u
#define PAUSE_NS 100000000u /* first pause before it tries to listen again */
#define PAUSE_LIMIT_NS 10000000000u
#define STOP_NS 2000000000u

enum { WAKE_READ, WAKE_WRITE };
/* How the thread of a life rests: it has not begun, or it is about to sleep or sleeps in poll(). */
#define RESTING_UNBEGUN(LIFE) ((LIFE) << 1)
#define RESTING_IN_POLL(LIFE) ((LIFE) << 1 | 1u)

static struct {
	pthread_mutex_t lock;
	pthread_t thread;
	bool is_running;
	uint32_t life; /* atomic: number of the thread's start; another number tells an old thread
			  to end */
	uint32_t stopping; /* atomic */
	/* atomic: the life whose thread has ended its use of the server; ct_server_stop() sleeps
	 * on it */
	uint32_t ended;
	/* atomic: a life and its RESTING_ state, else 0; a thread that clears it ends the resting
	 * thread without a wait */
	uint32_t resting;
	uint32_t tid; /* atomic: of the control thread */
	struct ct_server_options options;
	/* under the lock; only the control thread changes them */
	int listener;
	struct ct_file_id listener_id;
	int wake[2]; /* a pair of sockets: unlike a pipe, a write to it cannot raise SIGPIPE */
	struct ct_file_id wake_id[2];
	/* used by the control thread only */
	struct ct_connection connections[CT_SERVER_CONNECTIONS];
	uint64_t pause_ns;
	uint64_t pause_until_ns; /* it does not listen before this time */
} server = { .lock = PTHREAD_MUTEX_INITIALIZER, .listener = -1, .wake = { -1, -1 } };

static void server_lock(void)
{
	ct_guard_lock(&server.lock);
}

static void server_unlock(void)
{
	ct_guard_unlock(&server.lock);
}

/* ---- the socket ---- */

/* The session's directory, even when the program has closed its descriptor.  *out_opened: the
 * caller closes it, or -1. */
static int directory_find(int *out_opened)
{
	const struct ct_session *session = server.options.session;
	int fd;

	*out_opened = -1;
	if (ct_os_is_file(session->directory_fd, &session->directory_id))
		return session->directory_fd;
	fd = ct_os_high(open(session->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	if (fd >= 0 && !ct_os_is_file(fd, &session->directory_id))
		ct_os_close(&fd);
	*out_opened = fd;
	return fd;
}

static int listener_make(void)
{
	int opened;
	int directory = directory_find(&opened);
	int fd = -1;

	if (directory >= 0 &&
	    ct_socket_listen(directory, server.options.session->path, "control", &fd) != CTRACE_OK)
		fd = -1;
	if (fd >= 0)
		(void)ct_socket_share(directory, "control", server.options.session->group);
	ct_os_close(&opened);
	return fd;
}

static void listener_publish(int fd)
{
	server_lock();
	ct_os_close_file(&server.listener, &server.listener_id);
	server.listener = fd;
	server.listener_id = ct_os_file_id(fd);
	server_unlock();
}

static void wake_publish(const int wake[2])
{
	server_lock();
	for (int i = 0; i < 2; i++) {
		ct_os_close_file(&server.wake[i], &server.wake_id[i]);
		server.wake[i] = wake[i];
		server.wake_id[i] = ct_os_file_id(wake[i]);
	}
	server_unlock();
}

static bool wake_is_ours(void)
{
	return ct_os_is_file(server.wake[WAKE_READ], &server.wake_id[WAKE_READ]) &&
	       ct_os_is_file(server.wake[WAKE_WRITE], &server.wake_id[WAKE_WRITE]);
}

/* Doubles the pause: descriptors may never become free, or the directory may have gone. */
static void listener_pause(void)
{
	server.pause_ns = server.pause_ns == 0               ? PAUSE_NS
			  : server.pause_ns < PAUSE_LIMIT_NS ? server.pause_ns * 2
							     : server.pause_ns;
	server.pause_until_ns = ct_clock_mono_ns() + server.pause_ns;
}

/* Recreates descriptors that the program has closed.  Without a wake-up pair the thread polls by
 * itself. */
static void server_repair(void)
{
	int wake[2], listener;
	bool has_wake = wake_is_ours();
	bool listens = ct_os_is_file(server.listener, &server.listener_id);

	if ((has_wake && listens) || ct_clock_mono_ns() < server.pause_until_ns)
		return;
	if (!has_wake) {
		has_wake = ct_socket_pair(wake) == CTRACE_OK;
		if (has_wake)
			wake_publish(wake);
	}
	if (!listens) {
		listener = listener_make();
		listener_publish(listener);
		listens = listener >= 0;
	}
	if (!has_wake || !listens)
		listener_pause();
}

bool ct_server_runs(void)
{
	bool is;

	server_lock();
	is = server.is_running;
	server_unlock();
	return is;
}

/* Under the lock.  Any thread. */
static void thread_wake(void)
{
	int kept = errno;

	if (ct_os_is_file(server.wake[WAKE_WRITE], &server.wake_id[WAKE_WRITE]))
		(void)send(server.wake[WAKE_WRITE], "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	errno = kept;
}

/* ---- connections ---- */

/* Connections of members are closed before those of the process's user and of root. */
static bool connection_yields(const struct ct_connection *one, const struct ct_connection *other)
{
	return one->member.is_member != other->member.is_member
		       ? one->member.is_member
		       : one->complete_ns < other->complete_ns;
}

/* Closes the connection without a whole request for longest, first among those of members. */
static struct ct_connection *connection_close_most_silent(void)
{
	struct ct_connection *silent = NULL;

	for (uint32_t i = 0; i < CT_SERVER_CONNECTIONS; i++) {
		struct ct_connection *one = &server.connections[i];

		if (one->fd >= 0 && (silent == NULL || connection_yields(one, silent)))
			silent = one;
	}
	if (silent != NULL)
		ct_connection_close(silent);
	return silent;
}

static struct ct_connection *connection_find_free(void)
{
	for (uint32_t i = 0; i < CT_SERVER_CONNECTIONS; i++)
		if (server.connections[i].fd < 0)
			return &server.connections[i];
	return connection_close_most_silent();
}

static bool peer_is_allowed(int fd, struct ct_member *out_member)
{
	*out_member = (struct ct_member){ .is_member = false };
	if (!ct_socket_peer(fd, &out_member->uid, &out_member->pid))
		return false;
	if (out_member->uid == 0 || out_member->uid == geteuid())
		return true;
	out_member->is_member = true;
	return server.options.admit != NULL && server.options.admit(fd, out_member);
}

static void connections_accept(void)
{
	for (uint32_t i = 0;
	     i < ACCEPTED_A_ROUND && ct_os_is_file(server.listener, &server.listener_id); i++) {
		int fd = ct_os_high(
			accept4(server.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
		struct ct_member member;

		if (fd < 0) {
			/* No descriptor is left: closes one of ours to make room.  Only for a
			 * peer that poll() has announced, because accept() reports this even
			 * when no peer waits. */
			if (i == 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED &&
			    connection_close_most_silent() == NULL)
				listener_pause();
			return;
		}
		server.pause_ns = 0;
		if (peer_is_allowed(fd, &member)) {
			struct ct_connection *connection = connection_find_free();

			ct_connection_open(connection, fd);
			connection->member = member;
			continue;
		}
		(void)__atomic_fetch_add(&server.options.session->head->control_refused, 1,
					 __ATOMIC_RELAXED);
		ct_os_close(&fd);
	}
}

/* Has it more unread answers?  A member's connection with any counts as fuller than the user's. */
static bool connection_is_fuller(const struct ct_connection *one, const struct ct_connection *other)
{
	size_t has = ct_connection_waiting(one);

	if (has == 0 || one->member.is_member == other->member.is_member)
		return has > ct_connection_waiting(other);
	return one->member.is_member || ct_connection_waiting(other) == 0;
}

/* Unread answers must not fill the program's memory. */
static void connections_limit_output(void)
{
	struct ct_connection *fullest = &server.connections[0];
	size_t total = 0;

	for (uint32_t i = 0; i < CT_SERVER_CONNECTIONS; i++) {
		struct ct_connection *one = &server.connections[i];

		total += ct_connection_waiting(one);
		if (connection_is_fuller(one, fullest))
			fullest = one;
	}
	if (total > CT_SERVER_OUTPUT)
		ct_connection_close(fullest);
}

/* ---- the rounds ---- */

enum {
	POLL_WAKE,
	POLL_LISTENER,
	POLL_CONNECTIONS,
	POLL_WATCHES = POLL_CONNECTIONS + CT_SERVER_CONNECTIONS,
	POLL_COUNT = POLL_WATCHES + CT_WATCH_LIMIT
};

struct round {
	struct pollfd fds[POLL_COUNT];
	struct ct_watch watches[CT_WATCH_LIMIT];
	/* of server.wake: the thread's own after a stop during its rest */
	int wake[2];
	struct ct_file_id wake_id[2];
	bool has_work; /* without waiting */
	uint64_t until_ns;
};

static void round_gather_connections(struct round *round)
{
	for (uint32_t i = 0; i < CT_SERVER_CONNECTIONS; i++) {
		struct ct_connection *connection = &server.connections[i];
		struct pollfd *fd = &round->fds[POLL_CONNECTIONS + i];

		if (connection->fd >= 0 && !ct_os_is_file(connection->fd, &connection->id))
			ct_connection_close(connection);
		fd->fd = connection->fd;
		fd->events = connection->fd >= 0 ? ct_connection_events(connection) : 0;
		if (connection->fd >= 0 && fd->events == 0)
			round->has_work = true;
	}
}

static void round_gather(struct round *round)
{
	bool listens = ct_clock_mono_ns() >= server.pause_until_ns;

	round->until_ns = ct_task_next_ns();
	if (!listens && server.pause_until_ns < round->until_ns)
		round->until_ns = server.pause_until_ns;
	memcpy(round->wake, server.wake, sizeof round->wake);
	memcpy(round->wake_id, server.wake_id, sizeof round->wake_id);
	/* A file of the program at that number would end each poll() at once. */
	round->fds[POLL_WAKE] = (struct pollfd){ .fd = wake_is_ours() ? server.wake[WAKE_READ] : -1,
						 .events = POLLIN };
	round->fds[POLL_LISTENER] =
		(struct pollfd){ .fd = listens ? server.listener : -1, .events = POLLIN };
	round->has_work = ct_watch_gather(round->watches, &round->fds[POLL_WATCHES]);
	round_gather_connections(round);
}

/* Packs the used entries: poll() refuses an array larger than the process's descriptor limit. */
static nfds_t round_pack(const struct round *round, struct pollfd packed[POLL_COUNT])
{
	nfds_t count = 0;

	for (uint32_t i = 0; i < POLL_COUNT; i++)
		if (round->fds[i].fd >= 0)
			packed[count++] = round->fds[i];
	return count;
}

static void round_unpack(struct round *round, const struct pollfd packed[POLL_COUNT], bool is_valid)
{
	nfds_t count = 0;

	for (uint32_t i = 0; i < POLL_COUNT; i++)
		round->fds[i].revents =
			round->fds[i].fd >= 0 && is_valid ? packed[count++].revents : 0;
}

/* Between thread_rest() and thread_rise() the thread touches nothing of the server. */
static void thread_rest(uint32_t resting)
{
	/* Publish: pairs with the exchange in ct_server_stop(). */
	__atomic_store_n(&server.resting, resting, __ATOMIC_SEQ_CST);
}

/* Ends the rest, on the thread itself or to stop it.  False: another thread has ended it. */
static bool thread_rise(uint32_t resting)
{
	return __atomic_compare_exchange_n(&server.resting, &resting, 0, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

static void round_wait(struct round *round)
{
	uint64_t now = ct_clock_mono_ns();
	uint64_t ns = round->has_work || round->until_ns <= now ? 0 : round->until_ns - now;
	struct timespec timeout = { .tv_sec = (time_t)(ns / 1000000000u),
				    .tv_nsec = (long)(ns % 1000000000u) };
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	struct pollfd packed[POLL_COUNT];
	nfds_t count = round_pack(round, packed);
	int ready =
		ppoll(packed, count,
		      round->until_ns == UINT64_MAX && !round->has_work ? NULL : &timeout, NULL);

	round_unpack(round, packed, ready >= 0);
	/* Too many entries even so, or no memory: avoids a busy loop. */
	if (ready < 0 && errno != EINTR)
		(void)nanosleep(&pause, NULL);
}

static void wake_clear(const struct pollfd *fd)
{
	char bytes[64];

	while (fd->revents != 0 &&
	       ct_os_is_file(server.wake[WAKE_READ], &server.wake_id[WAKE_READ]) &&
	       recv(server.wake[WAKE_READ], bytes, sizeof bytes, MSG_DONTWAIT) ==
		       (ssize_t)sizeof bytes)
		;
}

/* True while this is the thread of this process.  A function that it calls may fork and return
 * in the child. */
static bool thread_lives(uint32_t life)
{
	return __atomic_load_n(&server.life, __ATOMIC_ACQUIRE) == life &&
	       __atomic_load_n(&server.stopping, __ATOMIC_ACQUIRE) == 0;
}

static void round_serve_connections(const struct round *round, uint32_t life)
{
	for (uint32_t i = 0; i < CT_SERVER_CONNECTIONS && thread_lives(life); i++) {
		struct ct_connection *connection = &server.connections[i];
		const struct pollfd *fd = &round->fds[POLL_CONNECTIONS + i];

		if (connection->fd < 0 || (fd->revents == 0 && fd->events != 0))
			continue;
		if (!ct_connection_turn(connection, fd->revents, &server.options) &&
		    thread_lives(life))
			ct_connection_close(connection);
	}
}

static void round_serve_watches(const struct round *round, uint32_t life)
{
	for (uint32_t i = 0; i < CT_WATCH_LIMIT && thread_lives(life); i++) {
		const struct pollfd *fd = &round->fds[POLL_WATCHES + i];

		if (round->watches[i].ready != NULL && (fd->fd < 0 || fd->revents != 0))
			ct_watch_call(&round->watches[i], i);
	}
}

/* thread_end() leaves the pair to this thread.  It may not have sent its byte yet when something
 * else ended the poll(). */
static void round_close_wake(struct round *round)
{
	server_lock();
	for (int i = 0; i < 2; i++)
		ct_os_close_file(&round->wake[i], &round->wake_id[i]);
	server_unlock();
}

static void *server_run(void *argument)
{
	uint32_t life = (uint32_t)(uintptr_t)argument;
	struct round round;

	if (!thread_rise(RESTING_UNBEGUN(life)))
		return NULL;
	__atomic_store_n(&server.tid, ct_os_thread_id(), __ATOMIC_RELAXED);
	if (server.options.begin != NULL)
		server.options.begin(server.options.user);
	while (thread_lives(life)) {
		server_repair();
		round_gather(&round);
		thread_rest(RESTING_IN_POLL(life));
		round_wait(&round);
		if (!thread_rise(RESTING_IN_POLL(life))) {
			round_close_wake(&round);
			return NULL;
		}
		wake_clear(&round.fds[POLL_WAKE]);
		round_serve_connections(&round, life);
		if (thread_lives(life))
			connections_limit_output();
		round_serve_watches(&round, life);
		for (uint64_t now = ct_clock_mono_ns(); thread_lives(life) && ct_task_run(now);)
			;
		if (thread_lives(life) && round.fds[POLL_LISTENER].revents != 0)
			connections_accept();
	}
	__atomic_store_n(&server.ended, life, __ATOMIC_RELEASE);
	ct_os_wake(&server.ended);
	return NULL;
}

/* ---- life ---- */

static void connections_reset(void)
{
	for (uint32_t i = 0; i < CT_SERVER_CONNECTIONS; i++)
		server.connections[i] = (struct ct_connection){ .fd = -1, .passed = -1 };
}

/* A program with so few descriptors needs them itself. */
static bool process_has_few_descriptors(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < FEW_DESCRIPTORS;
}

enum ctrace_status ct_server_start(const struct ct_server_options *options)
{
	uint32_t life = server.life + 1;
	enum ctrace_status status;
	int wake[2];

	if (options->session->directory_fd < 0 || server.is_running ||
	    process_has_few_descriptors())
		return CTRACE_OK;
	connections_reset();
	server.options = *options;
	server.pause_ns = server.pause_until_ns = 0;
	server.stopping = 0;
	/* Here and not on the thread, so that a registered process can always be reached. */
	if (ct_socket_pair(wake) == CTRACE_OK)
		wake_publish(wake);
	listener_publish(listener_make());
	/* Before the thread begins, which then needs no wake-up for it. */
	if (options->task != NULL)
		(void)!ct_task_add(ct_clock_mono_ns() + (uint64_t)options->task_delay_ms * 1000000u,
				   options->task, options->user);
	__atomic_store_n(&server.life, life, __ATOMIC_RELEASE);
	thread_rest(RESTING_UNBEGUN(life));
	/* Before the thread begins too: its first tasks ask for others. */
	server_lock();
	server.is_running = true;
	server_unlock();
	status = ct_os_thread_start(server_run, (void *)(uintptr_t)life, "ctrace-control",
				    &server.thread);
	if (status != CTRACE_OK)
		ct_server_reset();
	return status;
}

static void socket_remove(void)
{
	int opened;
	int directory = directory_find(&opened);

	if (directory >= 0)
		(void)unlinkat(directory, "control", 0);
	ct_os_close(&opened);
}

/* Closes the thread's descriptors when it does not run. */
static void server_close_all(void)
{
	for (uint32_t i = 0; i < CT_SERVER_CONNECTIONS; i++)
		ct_connection_close(&server.connections[i]);
	for (int i = 0; i < 2; i++)
		ct_os_close_file(&server.wake[i], &server.wake_id[i]);
	ct_os_close_file(&server.listener, &server.listener_id);
	ct_task_reset();
}

/* Ends the thread.  A resting thread ends by itself when it wakes or begins, so this does not wait
 * for it. */
static void thread_end(void)
{
	uint64_t limit_ns = ct_aside_patience_ns(false);
	bool was_in_poll;

	if (limit_ns > STOP_NS)
		limit_ns = STOP_NS;

	server_lock();
	server.is_running = false;
	__atomic_store_n(&server.stopping, 1, __ATOMIC_RELEASE);
	was_in_poll = thread_rise(RESTING_IN_POLL(server.life));
	if (was_in_poll) {
		/* The thread may be just before poll(), and the number of a closed descriptor be
		 * another file's by then.  So this pair stays open until the thread closes it,
		 * under the lock. */
		thread_wake();
		server.wake[WAKE_READ] = server.wake[WAKE_WRITE] = -1;
	}
	if (was_in_poll || thread_rise(RESTING_UNBEGUN(server.life))) {
		server_unlock();
		(void)pthread_detach(server.thread);
		server_close_all();
		return;
	}
	thread_wake();
	server_unlock();
	/* A routine of the program that runs on that thread may call exit(); then this must not
	 * wait. */
	if (pthread_equal(server.thread, pthread_self()))
		return;
	if (ct_os_wait_until(&server.ended, server.life, limit_ns)) {
		(void)pthread_join(server.thread, NULL);
		server_close_all();
	} else {
		ct_aside_waited(limit_ns);
	}
}

void ct_server_stop(void)
{
	if (!server.is_running)
		return;
	thread_end();
	socket_remove();
}

/* The thread may have been anywhere when fork() copied the memory.  Its data stay as they are;
 * only descriptors are closed. */
void ct_server_reset(void)
{
	(void)pthread_mutex_init(&server.lock, NULL);
	for (uint32_t i = 0; i < CT_SERVER_CONNECTIONS; i++)
		ct_os_close_file(&server.connections[i].fd, &server.connections[i].id);
	connections_reset();
	ct_task_detach();
	server_close_all();
	__atomic_store_n(&server.life, server.life + 1, __ATOMIC_RELEASE);
	server.is_running = false;
}

void ct_server_check(void)
{
	bool is_well;

	server_lock();
	is_well = !server.is_running ||
		  (wake_is_ours() && ct_os_is_file(server.listener, &server.listener_id));
	if (!is_well)
		thread_wake();
	server_unlock();
}

/* ---- work for the thread ---- */

/* Wakes the thread for new work, unless it is the one that asks; TIMED_OUT when there is no thread.
 */
static enum ctrace_status thread_wake_for_work(enum ctrace_status status)
{
	server_lock();
	if (!server.is_running)
		status = CTRACE_TIMED_OUT;
	else if (status == CTRACE_OK &&
		 __atomic_load_n(&server.tid, __ATOMIC_RELAXED) != ct_os_thread_id())
		thread_wake();
	server_unlock();
	return status;
}

enum ctrace_status ct_server_watch(int fd, ct_server_ready *ready, void *user)
{
	return thread_wake_for_work(ct_server_runs() ? ct_watch_add(fd, ready, user)
						     : CTRACE_TIMED_OUT);
}

enum ctrace_status ct_server_later(unsigned delay_ms, ct_server_task *task, void *user)
{
	uint64_t due_ns = ct_clock_mono_ns() + (uint64_t)delay_ms * 1000000u;

	return thread_wake_for_work(ct_server_runs() ? ct_task_add(due_ns, task, user)
						     : CTRACE_TIMED_OUT);
}
