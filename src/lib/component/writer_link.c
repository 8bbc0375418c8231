/*
 * writer_link.c - the traced process's side of its external writers.
 *
 * Commands come here on any thread, never from a signal handler.  The server's thread handles a
 * writer's messages and its end.  A component is connected by its channel: the writer gets the
 * rings of that channel as soon as the consumer thread has released them (lib/consumer/consumer.c).
 * When a writer dies, its socket closes and its lock on the session becomes free.  Then the
 * consumer thread finishes the writer's rings, and the traces go to their own destinations until
 * the writer is back.
 *
 * The link is one socket.  The process sends CT_VERB_WRITER_CONNECT with COMPONENT (its directory),
 * NUMBER (of the writer in the session), VALUE (the first destination for it), LEVEL (how many) and
 * CONNECTION.  The writer answers with NUMBER (how many it uses), and consumes nothing before the
 * process has put CONNECTION into its session: a process that gets no answer in time gives the
 * connection up, and the writer may read the request later.  Before it ends, the writer sends
 * CT_VERB_WRITER_STOP.  The process withdraws its requests for rings and answers; then the writer
 * hands the rings back and closes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/writer_link.h"

#include "lib/control/server.h"
#include "session/client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MS 1000
#define LOOK_AGAIN_MS 50u
/* A writer that has refused a request is asked again after REFUSED_MS; one that has not answered,
 * after SILENT_MS, because each request to it takes ANSWER_MS. */
#define REFUSED_MS 1000u
#define SILENT_MS 10000u

struct link {
	int fd; /* -1: neither connected nor connecting */
	struct ct_file_id id;
	uint32_t left; /* slots of a writer that has gone, until its lock is seen to be free */
	uint32_t connections; /* how many were tried: the number of the last one */
	bool is_due;          /* link_connect_again() will look */
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct link links[CT_WRITER_LIMIT] = { [0 ... CT_WRITER_LIMIT - 1] = { .fd = -1 } };

static void links_lock(void)
{
	ct_guard_lock(&lock);
}

static void links_unlock(void)
{
	ct_guard_unlock(&lock);
}

static struct ct_session_writer *writer_at(uint32_t number)
{
	return &ct_process.session.head->writer[number];
}

/* ---- numbers ---- */

static uint32_t writer_find(const char *name, size_t size)
{
	for (uint32_t i = 1; i < CT_WRITER_LIMIT; i++)
		if (size != 0 && ct_name_is(name, size, writer_at(i)->name))
			return i;
	return 0;
}

static uint32_t writer_find_or_add(const char *name)
{
	uint32_t number = writer_find(name, strlen(name));

	for (uint32_t i = 1; number == 0 && i < CT_WRITER_LIMIT; i++) {
		if (writer_at(i)->name[0] != '\0')
			continue;
		(void)snprintf(writer_at(i)->name, sizeof writer_at(i)->name, "%s", name);
		ct_name_upper(writer_at(i)->name, strlen(writer_at(i)->name));
		number = i;
	}
	return number;
}

static uint32_t writer_slots(uint32_t number)
{
	return __atomic_load_n(&writer_at(number)->slots, __ATOMIC_ACQUIRE);
}

static uint32_t slots_mask(uint32_t slots)
{
	return (uint32_t)(((uint64_t)1 << (slots >> 8)) - 1) << (slots & 0xFF);
}

/* ---- assigning rings to writers ---- */

static uint32_t ring_writer(const struct ct_ring_head *head, void *user)
{
	(void)user;
	if (head->is_side || head->kept || head->channel == 0)
		return 0;
	return ct_channel_at(ct_process.registry, head->channel).writer;
}

static void rings_assign(void)
{
	ct_ring_pool_assign(ct_process.pool, ring_writer, NULL);
	/* It may have to release rings, and to open outputs that a writer wrote before. */
	(void)__atomic_fetch_add(&ct_process.open_wanted, 1, __ATOMIC_RELEASE);
	ct_process_wake_consumer_thread();
}

/* ---- connecting ---- */

/* Destinations that a writer has, or that a ring still names. */
static uint32_t slots_in_use(void)
{
	uint32_t used = __atomic_load_n(&ct_process.taking_over, __ATOMIC_ACQUIRE);

	for (uint32_t i = 1; i < CT_WRITER_LIMIT; i++)
		used |= slots_mask(writer_slots(i)) | slots_mask(links[i].left);
	for (uint32_t i = 0; i < ct_ring_pool_count(ct_process.pool); i++)
		used |= 1u << __atomic_load_n(&ct_ring_pool_at(ct_process.pool, i)->head->held_by,
					      __ATOMIC_ACQUIRE) %
				      CT_DEST_LIMIT;
	return used;
}

/* The longest run of free destinations, as slots; 0: none. */
static uint32_t slots_find_free(void)
{
	uint32_t used = slots_in_use();
	uint32_t best = 0;

	for (uint32_t base = CT_WRITER_SLOT; base < CT_DEST_LIMIT; base++) {
		uint32_t count = 0;

		while (base + count < CT_DEST_LIMIT && (used & 1u << (base + count)) == 0)
			count++;
		if (count > best >> 8)
			best = base | count << 8;
	}
	/* Leaves some for other writers. */
	if (best >> 8 > CT_WRITERS_SHARE && used == 0)
		best = (best & 0xFF) | CT_WRITERS_SHARE << 8;
	return best;
}

static bool socket_send_all(int fd, const char *at, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
		struct pollfd wait = { .fd = fd, .events = POLLOUT };

		if (sent < 0 && errno == EAGAIN && poll(&wait, 1, ANSWER_MS) == 1)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		size -= (size_t)sent;
	}
	return true;
}

/* Sends the request, with the directory's descriptor at its first byte. */
static bool socket_send_with_directory(int fd, const struct ct_buf *request)
{
	int directory = ct_session_directory(&ct_process.session);
	char control[CMSG_SPACE(sizeof directory)] = { 0 };
	struct iovec part = { request->data, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof control };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	if (directory < 0)
		return false;
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof directory);
	memcpy(CMSG_DATA(head), &directory, sizeof directory);
	return sendmsg(fd, &message, MSG_NOSIGNAL) == 1 &&
	       socket_send_all(fd, request->data + 1, request->size - 1);
}

/* Reads one frame.  A writer that does not answer at once is given up. */
static bool socket_receive(int fd, struct ct_buf *bytes, struct ct_message *out)
{
	uint64_t start = ct_clock_mono_ns();
	size_t size;

	while (ct_message_parse(bytes->data, bytes->size, out, &size) == CTRACE_NOT_FOUND) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int left = ANSWER_MS - (int)((ct_clock_mono_ns() - start) / 1000000u);
		ssize_t got;

		if (left <= 0 || poll(&wait, 1, left) != 1 || !ct_buf_reserve(bytes, 4096))
			return false;
		got = recv(fd, bytes->data + bytes->size, 4096, 0);
		if (got <= 0)
			return false;
		bytes->size += (size_t)got;
	}
	return ct_message_parse(bytes->data, bytes->size, out, &size) == CTRACE_OK;
}

/* Introduces this process to the writer.  Returns how many destinations the writer uses; 0: it
 * refuses, or *out_is_silent. */
static uint32_t link_introduce(uint32_t number, uint32_t slots, bool *out_is_silent)
{
	uint64_t start_ns = ct_clock_mono_ns();
	int fd = links[number].fd;
	struct ct_message answer;
	uint64_t count = 0;
	struct ct_buf bytes;
	size_t start;

	ct_buf_init(&bytes);
	start = ct_message_start(&bytes, CT_VERB_WRITER_CONNECT, 0);
	ct_message_add_text(&bytes, CT_FIELD_COMPONENT, ct_process.session.directory);
	ct_message_add_number(&bytes, CT_FIELD_NUMBER, number);
	ct_message_add_number(&bytes, CT_FIELD_VALUE, slots & 0xFF);
	ct_message_add_number(&bytes, CT_FIELD_LEVEL, slots >> 8);
	ct_message_add_number(&bytes, CT_FIELD_CONNECTION, ++links[number].connections);
	if (ct_message_end(&bytes, start) == CTRACE_OK && socket_send_with_directory(fd, &bytes)) {
		ct_buf_clear(&bytes);
		if (socket_receive(fd, &bytes, &answer) &&
		    ct_message_number(&answer, CT_FIELD_STATUS, CTRACE_FAILURE) == CTRACE_OK)
			count = ct_message_number(&answer, CT_FIELD_NUMBER, 0);
	}
	*out_is_silent = (ct_clock_mono_ns() - start_ns) / 1000000u >= ANSWER_MS;
	ct_buf_fini(&bytes);
	return count <= slots >> 8 ? (uint32_t)count : 0;
}

static bool link_ready(int fd, void *user);
static void link_connect_again(void *user);

/* One task for each link, however often a writer announces itself: the server has room for a
 * limited number of tasks.  Under the lock. */
static void link_look_again(uint32_t number, unsigned delay_ms)
{
	if (!links[number].is_due)
		links[number].is_due = ct_server_later(delay_ms, link_connect_again,
						       (void *)(uintptr_t)number) == CTRACE_OK;
}

/* Deducts the losses that the former writer's output reports: they must not appear in the next
 * one's.  A ring's counter belongs to its thread, which may be about to increment it; so the
 * former count goes into the cursor, which nobody uses now. */
static void dest_reset_losses(struct ct_dest *dest, uint32_t index)
{
	uint64_t reported = ct_dest_current(dest)->announced;

	for (uint32_t reason = 0; reason < CTRACE_LOSS_COUNT; reason++) {
		uint64_t lost = __atomic_load_n(&dest->lost[reason], __ATOMIC_RELAXED);
		uint64_t gone = lost < reported ? lost : reported;

		(void)__atomic_fetch_sub(&dest->lost[reason], gone, __ATOMIC_RELAXED);
		reported -= gone;
	}
	for (uint32_t i = 0; i < ct_ring_pool_count(ct_process.pool); i++) {
		struct ct_ring_head *head = ct_ring_pool_at(ct_process.pool, i)->head;
		const struct ct_cursor_place none = {
			.lost = 0 - __atomic_load_n(&head->lost_to[index], __ATOMIC_RELAXED)
		};

		ct_cursor_reset(&head->cursor[index], dest->sequence, &none);
	}
}

/* Prepares a destination that another writer may have used: clears that writer's position for
 * whoever takes over from this one.  No ring belongs to it now, so the store commits nothing
 * else. */
static void dest_begin(uint32_t index)
{
	struct ct_dest *dest = &ct_process.session.head->dest[index];

	(void)!ct_dest_put_path(&ct_process.session, index, ""); /* needs no room */
	dest_reset_losses(dest, index);
	memcpy(dest->emitter, "BINFILE", sizeof "BINFILE");
	memset(&dest->slot[(dest->sequence + 1) & 1], 0, sizeof dest->slot[0]);
	__atomic_store_n(&dest->sequence, dest->sequence + 1, __ATOMIC_RELEASE);
}

/* A child that was forked meanwhile may have the socket, too.  shutdown() lets the writer see the
 * end of the connection all the same. */
static void link_give_up(struct link *link)
{
	if (ct_os_is_file(link->fd, &link->id))
		(void)shutdown(link->fd, SHUT_RDWR);
	ct_os_close_file(&link->fd, &link->id);
}

/* Under the lock.  False: the writer does not run, or does not take this process now. */
static bool link_connect(uint32_t number)
{
	struct link *link = &links[number];
	char directory[4096];
	uint32_t slots = slots_find_free();
	bool is_silent;
	uint32_t count;
	char *slash;

	if (link->fd >= 0 || link->left != 0 || slots == 0 || ct_process.session.path[0] == '\0')
		return link->fd >= 0;
	memcpy(directory, ct_process.session.path, sizeof directory);
	slash = strrchr(directory, '/');
	if (slash == NULL ||
	    (size_t)(slash - directory) + sizeof "/" CT_WRITER_DIRECTORY > sizeof directory)
		return false;
	memcpy(slash, "/" CT_WRITER_DIRECTORY, sizeof "/" CT_WRITER_DIRECTORY);
	if (ct_client_connect(directory, writer_at(number)->name, &link->fd) != CTRACE_OK)
		return false;
	link->id = ct_os_file_id(link->fd); /* a forked child closes it */
	count = link_introduce(number, slots, &is_silent);
	/* It must hold its lock; else this process could not notice its death. */
	if (count == 0 || !ct_session_writer_lives(&ct_process.session, number) ||
	    ct_server_watch(link->fd, link_ready, (void *)(uintptr_t)number) != CTRACE_OK) {
		link_give_up(link);
		link_look_again(number, is_silent ? SILENT_MS : REFUSED_MS);
		return false;
	}
	for (uint32_t i = 0; i < count; i++)
		dest_begin((slots & 0xFF) + i);
	/* Pairs with the acquire load in link_is_accepted(): the destinations are the writer's, as
	 * dest_begin() left them. */
	__atomic_store_n(&writer_at(number)->connection, link->connections, __ATOMIC_RELEASE);
	__atomic_store_n(&writer_at(number)->slots, (slots & 0xFF) | count << 8, __ATOMIC_RELEASE);
	return true;
}

/* ---- losing it ---- */

/* Runs on the server's thread and repeats until the writer's lock is free: the process that
 * closed the socket may still work on our rings. */
static void link_take_over(void *user)
{
	uint32_t number = (uint32_t)(uintptr_t)user;
	struct link *link = &links[number];

	links_lock();
	if (link->left != 0 && ct_session_writer_lives(&ct_process.session, number)) {
		(void)!ct_server_later(LOOK_AGAIN_MS, link_take_over, user);
	} else if (link->left != 0) {
		(void)__atomic_fetch_or(&ct_process.taking_over, slots_mask(link->left),
					__ATOMIC_ACQ_REL);
		link->left = 0;
		ct_process_wake_consumer_thread();
		/* The writer may live: perhaps only the socket was closed. */
		link_look_again(number, LOOK_AGAIN_MS);
	}
	links_unlock();
}

/* Assigns no more rings to the writer.  Under the lock. */
static void link_detach(uint32_t number)
{
	uint32_t slots = writer_slots(number);

	if (slots == 0)
		return;
	links[number].left = slots;
	__atomic_store_n(&writer_at(number)->slots, 0, __ATOMIC_RELEASE);
	rings_assign();
}

static void link_answer_stop(int fd)
{
	struct ct_buf bytes;
	size_t start;

	ct_buf_init(&bytes);
	start = ct_message_start(&bytes, CT_VERB_WRITER_STOP, CT_MESSAGE_ANSWER);
	ct_message_add_number(&bytes, CT_FIELD_STATUS, CTRACE_OK);
	if (ct_message_end(&bytes, start) == CTRACE_OK)
		(void)socket_send_all(fd, bytes.data, bytes.size);
	ct_buf_fini(&bytes);
}

/* The writer announces its end, or has ended. */
static bool link_ready(int fd, void *user)
{
	uint32_t number = (uint32_t)(uintptr_t)user;
	struct link *link = &links[number];
	char bytes[256];
	ssize_t got;
	bool goes_on = true;

	links_lock();
	if (link->fd != fd) {
		links_unlock();
		return false;
	}
	/* The program may have closed it, as daemons do; the writer then believes that this
	 * process has ended. */
	got = ct_os_is_file(fd, &link->id) ? recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) : 0;
	if (got > 0) {
		link_detach(number);
		link_answer_stop(fd);
	} else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
		link_detach(number);
		ct_os_close_file(&link->fd, &link->id);
		(void)!ct_server_later(0, link_take_over, user);
		goes_on = false;
	}
	links_unlock();
	return goes_on;
}

/* ---- commands ---- */

enum ctrace_status ct_writer_set(const char *component, size_t size, const char *writer)
{
	uint32_t number = 0;
	enum ctrace_status status;

	links_lock();
	if (writer[0] != '\0') {
		number = writer_find_or_add(writer);
		if (number == 0) {
			links_unlock();
			return CTRACE_NOT_ENOUGH_MEMORY;
		}
		/* Before its channel is in force, so that its first event finds the right ring. */
		(void)link_connect(number);
	}
	status = ct_channel_set_writer(ct_process.registry, component, size, number);
	if (status == CTRACE_OK && writer_at(1)->name[0] != '\0')
		rings_assign();
	links_unlock();
	return status;
}

void ct_writer_reset(const char *component, size_t size)
{
	(void)!ct_channel_set_writer(ct_process.registry, component, size, CT_WRITER_UNSET);
}

bool ct_writer_is_connected(const char *writer)
{
	uint32_t number = writer[0] != '\0' ? writer_find(writer, strlen(writer)) : 0;

	return number != 0 && writer_slots(number) != 0;
}

uint32_t ct_writer_number(const char *writer)
{
	return writer[0] != '\0' ? writer_find(writer, strlen(writer)) : 0;
}

/* True when a component names this writer. */
static bool writer_is_in_use(uint32_t number)
{
	uint32_t count = ct_registry_count(ct_process.registry);

	for (uint32_t i = 0; i < count; i++)
		if (__atomic_load_n(&ct_registry_entry(ct_process.registry, i)->writer,
				    __ATOMIC_RELAXED) == number)
			return true;
	return false;
}

static void link_connect_again(void *user)
{
	uint32_t number = (uint32_t)(uintptr_t)user;

	links_lock();
	links[number].is_due = false;
	if (writer_is_in_use(number) && links[number].fd < 0) {
		/* The rings of its predecessor are not finished yet. */
		if (links[number].left != 0 || slots_find_free() == 0)
			link_look_again(number, LOOK_AGAIN_MS);
		else if (link_connect(number))
			rings_assign();
	}
	links_unlock();
}

bool ct_writer_up(const char *writer, size_t size)
{
	uint32_t number;
	bool connects;

	links_lock();
	number = writer_find(writer, size);
	if (number != 0)
		link_look_again(number, 0);
	connects = number != 0 && writer_is_in_use(number);
	links_unlock();
	return connects;
}

void ct_writer_forked(void)
{
	(void)pthread_mutex_init(&lock, NULL);
	for (uint32_t i = 1; i < CT_WRITER_LIMIT; i++) {
		ct_os_close_file(&links[i].fd, &links[i].id);
		links[i] = (struct link){ .fd = -1 };
		writer_at(i)->slots = writer_at(i)->connection = 0;
		if (writer_at(i)->name[0] != '\0')
			link_look_again(i, 0);
	}
	ct_process.taking_over = 0;
}
