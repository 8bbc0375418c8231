/*
 * client.c - an operator's end of the control sockets: finds the processes, and sends one request
 * to all of them at once.
 *
 * Runs in tools, on one thread; ct_client_connect() also in a traced process, on any.  Answers come
 * from other processes and may hold anything.  Each must consist of valid frames.  A limit bounds
 * all answers together; past it the longest is dropped first.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/answer.h"
#include "session/client.h"
#include "session/socket.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT_ONCE 128u /* connections; further processes wait for a free one */
#define READ_SIZE 65536u
#define RETRY_NS 5000000u /* before another try at a process whose queue is full */
#define RESETS 50u        /* tries after a reset */
#define IDENTIFY_MS 1000u /* for all processes of another user to report their identity */

/* ---- finding processes ---- */

struct search {
	const struct ct_peer_filter *filter;
	struct ct_peers *peers;
	size_t capacity;
	bool failed;
	bool is_operated; /* the run directory is another user's: its sessions cannot be read */
};

/* The program's name, from the head of its session. */
static void peer_read_program(struct ct_peer *peer)
{
	char path[sizeof peer->run_directory + sizeof peer->directory + 16];
	size_t got;
	int fd;

	(void)snprintf(path, sizeof path, "%s/%s/session", peer->run_directory, peer->directory);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || ct_os_read_at(fd, peer->program, sizeof peer->program,
				    offsetof(struct ct_session_head, program), &got) != CTRACE_OK)
		peer->program[0] = '\0';
	peer->program[sizeof peer->program - 1] = '\0';
	ct_os_close(&fd);
}

bool ct_peer_filter_wants(const struct ct_peer_filter *filter, uint32_t pid, uint32_t asid,
			  const char *jobname)
{
	return (filter->pid == 0 || filter->pid == pid) &&
	       (filter->asid == 0 || filter->asid == asid) &&
	       (filter->jobname == NULL || ct_glob_match(filter->jobname, strlen(filter->jobname),
							 jobname, strnlen(jobname, 16)));
}

static bool search_has_room(struct search *search)
{
	size_t capacity = search->capacity != 0 ? search->capacity * 2 : 16;
	struct ct_peer *items;

	if (search->peers->count < search->capacity)
		return true;
	items = realloc(search->peers->items, capacity * sizeof *items);
	if (items == NULL) {
		search->failed = true;
		return false;
	}
	search->peers->items = items;
	search->capacity = capacity;
	return true;
}

static void search_look_at(const struct ct_directory_entry *entry, void *user)
{
	struct search *search = user;
	struct ct_peer *peer;

	if (!entry->is_alive || (search->filter->pid != 0 && search->filter->pid != entry->pid) ||
	    !search_has_room(search))
		return;
	peer = &search->peers->items[search->peers->count];
	memset(peer, 0, sizeof *peer);
	if (snprintf(peer->run_directory, sizeof peer->run_directory, "%s", entry->run_directory) >=
		    (int)sizeof peer->run_directory ||
	    snprintf(peer->directory, sizeof peer->directory, "%s", entry->name) >=
		    (int)sizeof peer->directory)
		return;
	peer->pid = entry->pid;
	peer->uid = entry->uid;
	if (!search->is_operated) {
		enum ctrace_status status = ct_session_identify(entry->run_directory, entry->name,
								&peer->asid, peer->jobname);

		peer->is_cut = (status == CTRACE_OK || status == CTRACE_DAMAGED) &&
			       ct_directory_is_cut(entry->run_directory, entry->name);
		if ((status != CTRACE_OK && !peer->is_cut) ||
		    !ct_peer_filter_wants(search->filter, peer->pid, peer->asid, peer->jobname))
			return;
		if (!peer->is_cut)
			peer_read_program(peer);
	}
	ct_buf_init(&peer->answer);
	search->peers->count++;
}

static void search_look_into(const char *path, void *user)
{
	ct_directory_each(path, search_look_at, user);
}

/* ---- processes of another user, of whose ctrace.operators this user is a member ---- */

static void text_take(const struct ct_message *answer, enum ct_field field, char *out, size_t room)
{
	struct ct_span text = ct_message_find(answer, field);

	(void)snprintf(out, room, "%.*s", (int)text.size, text.at != NULL ? text.at : "");
}

/* Takes what the process reports about itself.  A process that does not answer has no ASID and no
 * job name here; the verb reports it. */
static void peer_take_identity(struct ct_peer *peer)
{
	struct ct_message answer;
	size_t at = 0;

	if (peer->status == CTRACE_OK && ct_client_next(peer, &at, &answer)) {
		peer->asid = (uint32_t)ct_message_number(&answer, CT_FIELD_NUMBER, 0);
		text_take(&answer, CT_FIELD_JOBNAME, peer->jobname, sizeof peer->jobname);
		text_take(&answer, CT_FIELD_VALUE, peer->program, sizeof peer->program);
	}
	peer->known = peer->answer;
	ct_buf_init(&peer->answer);
}

static void search_ask(struct search *search, size_t first)
{
	const struct ct_command who = { .verb = CT_VERB_IDENTIFY };
	struct ct_peers found = { search->peers->items + first, search->peers->count - first };
	struct ct_buf request;

	ct_buf_init(&request);
	ct_command_encode(&request, &who);
	ct_client_ask(&found, &request, IDENTIFY_MS);
	ct_buf_fini(&request);
	search->peers->count = first;
	for (size_t i = 0; i < found.count; i++) {
		struct ct_peer *peer = &found.items[i];

		peer_take_identity(peer);
		if (peer->status != CTRACE_NOT_FOUND &&
		    ct_peer_filter_wants(search->filter, peer->pid, peer->asid, peer->jobname))
			search->peers->items[search->peers->count++] = *peer;
		else
			ct_buf_fini(&peer->known);
	}
}

static void search_operated(struct search *search)
{
	size_t first = search->peers->count;
	char path[4096];

	if (search->failed || !ct_directory_is_operated(path))
		return;
	search->is_operated = true;
	ct_directory_each(path, search_look_at, search);
	if (search->peers->count != first)
		search_ask(search, first);
}

static int peers_compare_asid(const void *a, const void *b)
{
	const struct ct_peer *one = a, *other = b;

	if (one->asid != other->asid)
		return one->asid < other->asid ? -1 : 1;
	return one->pid < other->pid ? -1 : one->pid > other->pid;
}

enum ctrace_status ct_peers_find(const struct ct_peer_filter *filter, struct ct_peers *out)
{
	struct ct_peers peers = { NULL, 0 };
	struct search search = { .filter = filter, .peers = &peers };

	ct_directory_each_run_directory(search_look_into, &search);
	search_operated(&search);
	if (search.failed) {
		ct_peers_fini(&peers);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	if (peers.count != 0)
		qsort(peers.items, peers.count, sizeof peers.items[0], peers_compare_asid);
	*out = peers;
	return CTRACE_OK;
}

void ct_peers_fini(struct ct_peers *peers)
{
	for (size_t i = 0; i < peers->count; i++) {
		ct_buf_fini(&peers->items[i].answer);
		ct_buf_fini(&peers->items[i].known);
	}
	free(peers->items);
	*peers = (struct ct_peers){ NULL, 0 };
}

/* ---- connecting ---- */

/* True if the peer is root or the owner of the directory: nobody else makes sockets there.  A link
 * there may lead to a socket of this user in another directory. */
static bool peer_may_answer(int fd, int directory)
{
	struct stat info;
	uint32_t uid, pid;

	if (!ct_socket_peer(fd, &uid, &pid))
		return false;
	return uid == 0 || (fstat(directory, &info) == 0 && info.st_uid == uid);
}

enum ctrace_status ct_client_connect(const char *directory, const char *name, int *out_fd)
{
	/* O_PATH: an operator of the directory's group may go through it and not list it. */
	int directory_fd =
		ct_os_high(open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	enum ctrace_status status;
	int fd = -1;

	if (directory_fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? CTRACE_NOT_FOUND
		       : errno == EACCES                   ? CTRACE_DENIED
							   : CTRACE_OS_ERROR;
	status = ct_socket_connect(directory_fd, directory, name, &fd);
	if (status == CTRACE_OK && !peer_may_answer(fd, directory_fd)) {
		ct_os_close(&fd);
		status = CTRACE_DENIED;
	}
	ct_os_close(&directory_fd);
	if (status == CTRACE_OK)
		*out_fd = fd;
	return status;
}

/* ---- asking ---- */

/* One conversation. */
struct talk {
	struct ct_peer *peer; /* NULL: free */
	int fd;               /* -1: not connected yet, or to be connected again */
	size_t sent;
	size_t parsed;  /* bytes of the answer that are whole frames */
	size_t answers; /* whole answers */
	/* monotonic: a dormant process was rung, and has until then; 0: it was not */
	uint64_t rung_until_ns;
	uint64_t silent_until_ns; /* monotonic: it is not dormant and does not listen; 0: it may */
	unsigned resets;
	bool is_left; /* it closed the connection without an answer, and has until then to end */
};

struct asking {
	const struct ct_buf *request;
	size_t requests;
	uint64_t until_ns;
	struct ct_peers *peers;
	size_t kept; /* bytes of all answers or more */
	char bytes[READ_SIZE];
	struct talk talks[AT_ONCE];
};

static size_t count_frames(const struct ct_buf *request)
{
	struct ct_message message;
	size_t count = 0, size;

	for (size_t at = 0;
	     ct_message_parse(request->data + at, request->size - at, &message, &size) == CTRACE_OK;
	     at += size)
		count++;
	return count;
}

static void talk_end(struct talk *talk, enum ctrace_status status)
{
	if (talk->peer != NULL)
		talk->peer->status = status;
	ct_os_close(&talk->fd);
	talk->peer = NULL;
}

/* The whole answer is there: its status is that of its first frame. */
static void talk_end_well(struct talk *talk)
{
	struct ct_message first;
	size_t size;
	uint64_t status = CTRACE_DAMAGED;

	if (ct_message_parse(talk->peer->answer.data, talk->peer->answer.size, &first, &size) ==
	    CTRACE_OK)
		status = ct_message_number(&first, CT_FIELD_STATUS, CTRACE_DAMAGED);
	talk_end(talk, status < CTRACE_STATUS_COUNT ? (enum ctrace_status)status : CTRACE_DAMAGED);
}

/* Returns true while a process that has no socket, or closed ours, may have one or end. */
static bool talk_waits(struct talk *talk, const char *path)
{
	uint64_t now = ct_clock_mono_ns();

	if (talk->silent_until_ns == 0)
		talk->silent_until_ns = now + (uint64_t)CT_CLIENT_RING_MS * 1000000u;
	return now < talk->silent_until_ns && ct_bell_process_lives(path);
}

/* The process is not dormant: it has just woken and listens, it begins or ends, or it never
 * listens. */
static void talk_to_awake(struct talk *talk, const char *path)
{
	enum ctrace_status status = ct_client_connect(path, "control", &talk->fd);

	if (status == CTRACE_NOT_FOUND && talk_waits(talk, path))
		return; /* the next turn tries again */
	/* It may be busy: then the next turn tries again. */
	if (status != CTRACE_OK && status != CTRACE_TIMED_OUT)
		talk_end(talk, status);
}

/* Nobody listens: the process is dormant, or has ended. */
static void talk_ring(struct talk *talk, const char *path, const struct asking *asking)
{
	uint64_t now = ct_clock_mono_ns();
	uint64_t until = now + (uint64_t)CT_CLIENT_RING_MS * 1000000u;
	enum ctrace_status status;

	if (talk->rung_until_ns == 0) {
		ct_point("client.silent");
		if (ct_dormant_answer(talk->peer, asking->request) ||
		    ct_dormant_refuse(talk->peer, path, asking->request)) {
			talk_end_well(talk);
			return;
		}
		status = ct_bell_ring(path);
		if (status == CTRACE_NOT_FOUND) {
			talk_to_awake(talk, path);
			return;
		}
		/* the request must be left before our time is over */
		talk->rung_until_ns =
			until < asking->until_ns ? until : asking->until_ns - 2 * RETRY_NS;
		if (status != CTRACE_OK)
			talk_end(talk, status);
		return;
	}
	if (now < talk->rung_until_ns)
		return;
	status = ct_dormant_leave(talk->peer, path, asking->request);
	if (status == CTRACE_TIMED_OUT)
		talk_to_awake(talk, path);
	else if (talk->peer->answer.size != 0)
		talk_end_well(talk);
	else
		talk_end(talk, status);
}

static void talk_open(struct talk *talk, const struct asking *asking)
{
	char path[sizeof talk->peer->run_directory + sizeof talk->peer->directory + 2];
	enum ctrace_status status;

	if (talk->peer->is_cut) {
		ct_answer_all(&talk->peer->answer, asking->request, CTRACE_DAMAGED,
			      CT_DIRECTORY_CUT);
		talk_end_well(talk);
		return;
	}
	(void)snprintf(path, sizeof path, "%s/%s", talk->peer->run_directory,
		       talk->peer->directory);
	if (talk->is_left) {
		if (!talk_waits(talk, path))
			talk_end(talk, CTRACE_NOT_FOUND);
		return;
	}
	status = ct_client_connect(path, talk->peer->is_writer ? talk->peer->jobname : "control",
				   &talk->fd);
	if (status == CTRACE_OK)
		return;
	if (status == CTRACE_NOT_FOUND && !talk->peer->is_writer)
		talk_ring(talk, path, asking);
	else if (status != CTRACE_TIMED_OUT)
		talk_end(talk, status);
}

/* Returns false when the other end is gone; the answer so far may still be read. */
static bool talk_send(struct talk *talk, const struct ct_buf *request)
{
	while (talk->sent < request->size) {
		ssize_t sent = send(talk->fd, request->data + talk->sent,
				    request->size - talk->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN;
		talk->sent += (size_t)sent;
	}
	return true;
}

/* Counts the received frames; returns true when the talk is over. */
static bool talk_take_frames(struct talk *talk, size_t requests)
{
	struct ct_buf *answer = &talk->peer->answer;
	struct ct_message message;
	size_t size;

	for (;;) {
		enum ctrace_status status = ct_message_parse(
			answer->data + talk->parsed, answer->size - talk->parsed, &message, &size);

		if (status == CTRACE_NOT_FOUND)
			return false;
		if (status == CTRACE_OK && (message.flags & CT_MESSAGE_ANSWER) == 0)
			status = CTRACE_DAMAGED;
		if (status != CTRACE_OK) {
			answer->size = talk->parsed;
			talk_end(talk, status);
			return true;
		}
		talk->parsed += size;
		if ((message.flags & CT_MESSAGE_MORE) == 0 && ++talk->answers == requests) {
			answer->size = talk->parsed;
			talk_end_well(talk);
			return true;
		}
	}
}

/* The peer closed before its answer was whole: it ended, or it refused us before it read
 * anything. */
static void talk_end_early(struct talk *talk)
{
	struct ct_buf *answer = &talk->peer->answer;
	bool is_partial = answer->size != talk->parsed;

	answer->size = talk->parsed;
	if (talk->answers != 0 && !is_partial) {
		talk_end_well(talk);
	} else if (talk->parsed != 0 || is_partial || talk->peer->is_writer) {
		talk_end(talk,
			 talk->parsed == 0 && !is_partial ? CTRACE_NOT_FOUND : CTRACE_DAMAGED);
	} else {
		/* It may have done the request: it is not asked twice. */
		ct_os_close(&talk->fd);
		talk->is_left = true;
	}
}

/* The connection was reset before any answer, so the request was not read.  The peer has just
 * replaced its socket, or other connections displaced ours. */
static bool talk_begin_again(struct talk *talk)
{
	if (talk->peer->answer.size != 0 || ++talk->resets > RESETS)
		return false;
	ct_os_close(&talk->fd);
	talk->sent = 0;
	return true;
}

static struct ct_peer *longest_answer(const struct ct_peers *peers, size_t *out_sum)
{
	struct ct_peer *longest = &peers->items[0];

	*out_sum = 0;
	for (size_t i = 0; i < peers->count; i++) {
		*out_sum += peers->items[i].answer.size;
		if (peers->items[i].answer.size > longest->answer.size)
			longest = &peers->items[i];
	}
	return longest;
}

/* Drops the longest answer, whole or not, so a peer that floods us harms no other. */
static void asking_make_room(struct asking *asking)
{
	while (asking->kept > CT_CLIENT_KEEPS) {
		struct ct_peer *peer = longest_answer(asking->peers, &asking->kept);

		if (asking->kept <= CT_CLIENT_KEEPS) /* some have been dropped meanwhile */
			return;
		for (size_t i = 0; i < AT_ONCE; i++)
			if (asking->talks[i].peer == peer)
				talk_end(&asking->talks[i], CTRACE_NOT_ENOUGH_MEMORY);
		peer->status = CTRACE_NOT_ENOUGH_MEMORY;
		asking->kept -= peer->answer.size;
		ct_buf_fini(&peer->answer);
		ct_buf_init(&peer->answer);
	}
}

static void talk_receive(struct talk *talk, struct asking *asking)
{
	struct ct_buf *answer = &talk->peer->answer;
	ssize_t got;

	for (;;) {
		got = recv(talk->fd, asking->bytes, sizeof asking->bytes, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		if (got < 0 && errno == ECONNRESET && talk_begin_again(talk))
			return;
		if (got <= 0) {
			talk_end_early(talk);
			return;
		}
		ct_buf_add(answer, asking->bytes, (size_t)got);
		if (answer->failed) {
			talk_end(talk, CTRACE_NOT_ENOUGH_MEMORY);
			return;
		}
		asking->kept += (size_t)got;
		(void)talk_take_frames(talk, asking->requests);
		asking_make_room(asking);
		if (talk->peer == NULL)
			return;
	}
}

static void talk_turn(struct talk *talk, struct asking *asking)
{
	/* Another peer's answer may have ended this talk. */
	if (talk->peer != NULL && talk->fd < 0)
		talk_open(talk, asking);
	if (talk->peer == NULL || talk->fd < 0)
		return;
	if (talk->sent < asking->request->size && !talk_send(talk, asking->request))
		talk->sent = asking->request->size;
	talk_receive(talk, asking);
}

/* Waits for any of the talks.  Returns false without a talk, or when the time is over. */
static bool asking_wait(struct asking *asking)
{
	struct pollfd fds[AT_ONCE];
	struct talk *talks[AT_ONCE];
	uint64_t now = ct_clock_mono_ns();
	uint64_t until = asking->until_ns;
	struct timespec timeout;
	nfds_t count = 0;
	bool is_any = false;

	for (size_t i = 0; i < AT_ONCE; i++) {
		struct talk *talk = &asking->talks[i];

		if (talk->peer == NULL)
			continue;
		is_any = true;
		if (talk->fd < 0) {
			until = now + RETRY_NS < until ? now + RETRY_NS : until;
			continue;
		}
		talks[count] = talk;
		fds[count] = (struct pollfd){ .fd = talk->fd, .events = POLLIN };
		fds[count++].events |= talk->sent < asking->request->size ? POLLOUT : 0;
	}
	if (!is_any || now >= asking->until_ns)
		return false;
	timeout = (struct timespec){ .tv_sec = (time_t)((until - now) / 1000000000u),
				     .tv_nsec = (long)((until - now) % 1000000000u) };
	if (ppoll(fds, count, &timeout, NULL) < 0)
		count = 0;
	for (nfds_t i = 0; i < count; i++)
		if (fds[i].revents != 0)
			talk_turn(talks[i], asking);
	for (size_t i = 0; i < AT_ONCE; i++)
		if (asking->talks[i].peer != NULL && asking->talks[i].fd < 0)
			talk_turn(&asking->talks[i], asking);
	return true;
}

/* Gives the free talks to peers that have not been asked yet. */
static void asking_begin_more(struct asking *asking, struct ct_peers *peers, size_t *next)
{
	for (size_t i = 0; i < AT_ONCE && *next < peers->count; i++) {
		struct talk *talk = &asking->talks[i];

		while (talk->peer == NULL && *next < peers->count) {
			struct ct_peer *peer = &peers->items[(*next)++];

			if (peer->is_done)
				continue;
			*talk = (struct talk){ .peer = peer, .fd = -1 };
			ct_buf_clear(&peer->answer);
			talk_turn(talk, asking);
		}
	}
}

void ct_client_ask(struct ct_peers *peers, const struct ct_buf *request, unsigned timeout_ms)
{
	struct asking asking = { .request = request,
				 .requests = count_frames(request),
				 .peers = peers };
	size_t next = 0;

	asking.until_ns = ct_clock_mono_ns() + (uint64_t)timeout_ms * 1000000u;
	do {
		asking_begin_more(&asking, peers, &next);
	} while (asking_wait(&asking));
	for (size_t i = 0; i < AT_ONCE; i++) {
		if (asking.talks[i].peer == NULL)
			continue;
		asking.talks[i].peer->answer.size = asking.talks[i].parsed;
		talk_end(&asking.talks[i], CTRACE_TIMED_OUT);
	}
	for (; next < peers->count; next++)
		if (!peers->items[next].is_done)
			peers->items[next].status = CTRACE_TIMED_OUT;
}

bool ct_client_next(const struct ct_peer *peer, size_t *at, struct ct_message *out)
{
	size_t size;

	if (*at >= peer->answer.size ||
	    ct_message_parse(peer->answer.data + *at, peer->answer.size - *at, out, &size) !=
		    CTRACE_OK)
		return false;
	*at += size;
	return true;
}
