/*
 * bell.c - an operator's way to a dormant process, which has no thread and no control socket.
 *
 * The level word of its tracers is one word of its session, the bell.  An operator's tool rings it:
 * it stores a level there that every event passes, so the next trace call takes the slow path and
 * wakes the process.  The tool then asks by the socket, as always.  When the process makes no trace
 * call in time, the tool leaves the request as a file, which the process takes when it wakes.  One
 * of the two removes the file: when the process does, it carries the request out; when the tool
 * does, the request is withdrawn.
 * docs/CONCURRENCY.md has the order of the steps.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/session_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEFT_LIMIT 64u /* requests that wait for a process */
#define LEFT_SIZE ((size_t)1 << 20)

/* ---- the operator's side */

/* What a tool has open of a process. */
struct bell {
	int directory;
	int session;
	uint32_t uid; /* the owner's */
	uint32_t gid;
};

static void bell_close(struct bell *bell)
{
	ct_os_close(&bell->directory);
	ct_os_close(&bell->session);
}

/* Nobody else may have made the session: what is written to it must be the owner's own file. */
static enum ctrace_status bell_open(struct bell *bell, const char *path, int access)
{
	struct stat directory, session;

	bell->session = -1;
	bell->directory = ct_os_high(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	if (bell->directory >= 0)
		bell->session = access == O_RDWR
					? ct_os_open_kept(bell->directory, "session")
					: ct_os_high(openat(bell->directory, "session",
							    O_RDONLY | O_NOFOLLOW | O_CLOEXEC |
								    O_NONBLOCK));
	if (bell->session >= 0 && fstat(bell->directory, &directory) == 0 &&
	    fstat(bell->session, &session) == 0 && S_ISREG(session.st_mode) &&
	    session.st_nlink == 1 && session.st_uid == directory.st_uid &&
	    (directory.st_mode & 022) == 0) {
		bell->uid = directory.st_uid;
		bell->gid = directory.st_gid;
		return CTRACE_OK;
	}
	if (bell->directory < 0 && errno == ENOENT)
		return CTRACE_NOT_FOUND;
	bell_close(bell);
	return CTRACE_DENIED;
}

/* Nobody wakes a process that was killed.  One in another name space has the lock. */
static bool process_lives(int session, uint32_t pid)
{
	struct flock lock = ct_session_alive_lock();

	return kill((pid_t)pid, 0) == 0 || errno != ESRCH ||
	       (fcntl(session, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK);
}

static bool head_is_dormant(int session)
{
	struct {
		uint64_t magic;
		uint32_t version, abi, pid;
	} first;
	uint32_t is_dormant = 0;
	size_t got;

	return ct_os_read_at(session, &first, sizeof first, 0, &got) == CTRACE_OK &&
	       got == sizeof first && first.magic == CT_SESSION_MAGIC &&
	       first.version == CT_SESSION_VERSION &&
	       ct_os_read_at(session, &is_dormant, sizeof is_dormant,
			     offsetof(struct ct_session_head, is_dormant), &got) == CTRACE_OK &&
	       got == sizeof is_dormant && is_dormant != CT_AWAKE &&
	       process_lives(session, first.pid);
}

bool ct_bell_is_dormant(const char *directory)
{
	struct bell bell;
	bool is_dormant = false;

	if (bell_open(&bell, directory, O_RDONLY) == CTRACE_OK) {
		is_dormant = head_is_dormant(bell.session);
		bell_close(&bell);
	}
	return is_dormant;
}

bool ct_bell_process_lives(const char *directory)
{
	struct flock lock = ct_session_alive_lock();
	struct bell bell;
	enum ctrace_status status = bell_open(&bell, directory, O_RDONLY);
	bool lives = status != CTRACE_NOT_FOUND;

	if (status == CTRACE_OK) {
		lives = fcntl(bell.session, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
		bell_close(&bell);
	}
	return lives;
}

/* Returns false when the process is not visible. */
static bool process_read_user(pid_t pid, uint32_t *out_uid)
{
	char path[64], text[2048];
	const char *line;

	(void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	line = ct_place_read(path, text, sizeof text) != 0 ? strstr(text, "\nUid:") : NULL;
	return line != NULL && sscanf(line, "\nUid: %*u %" SCNu32, out_uid) == 1;
}

bool ct_bell_is_parted(const char *directory)
{
	struct flock lock = ct_session_alive_lock();
	struct bell bell;
	uint32_t uid;
	bool is_parted;

	if (bell_open(&bell, directory, O_RDONLY) != CTRACE_OK)
		return false;
	/* The lock names the process also where another one has its number in the session. */
	is_parted = head_is_dormant(bell.session) && fcntl(bell.session, F_GETLK, &lock) == 0 &&
		    lock.l_type != F_UNLCK && lock.l_pid > 0 &&
		    process_read_user(lock.l_pid, &uid) && uid != bell.uid && uid != 0;
	bell_close(&bell);
	return is_parted;
}

enum ctrace_status ct_bell_ring(const char *directory)
{
	const uint32_t rung = 0;
	struct bell bell;
	enum ctrace_status status;

	if (!ct_bell_is_dormant(directory))
		return CTRACE_NOT_FOUND;
	status = bell_open(&bell, directory, O_RDWR);
	if (status != CTRACE_OK)
		return status;
	status = ct_os_write_at(bell.session, &rung, sizeof rung,
				offsetof(struct ct_session_head, bell.level));
	bell_close(&bell);
	return status;
}

/* Gives the number of a request's file; false for another file. */
static bool left_number(const char *name, unsigned long *out)
{
	char *end;

	if (strncmp(name, CT_BELL_LEFT, sizeof CT_BELL_LEFT - 1) != 0)
		return false;
	*out = strtoul(name + sizeof CT_BELL_LEFT - 1, &end, 10);
	return *end == '\0' && end != name + sizeof CT_BELL_LEFT - 1;
}

struct left {
	unsigned long numbers[LEFT_LIMIT];
	size_t count;
};

/* Keeps the lowest numbers, sorted. */
static void left_add(struct left *left, unsigned long number)
{
	size_t at = left->count;

	while (at > 0 && left->numbers[at - 1] > number)
		at--;
	if (at == LEFT_LIMIT)
		return;
	left->count += left->count < LEFT_LIMIT;
	memmove(&left->numbers[at + 1], &left->numbers[at],
		(left->count - at - 1) * sizeof left->numbers[0]);
	left->numbers[at] = number;
}

/* Lists the oldest requests that wait, in the order in which they came. */
static void left_list(int directory, struct left *left)
{
	int copy = ct_os_high(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	DIR *entries = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *entry;
	unsigned long number;

	left->count = 0;
	if (entries == NULL) {
		ct_os_close(&copy);
		return;
	}
	while ((entry = readdir(entries)) != NULL)
		if (left_number(entry->d_name, &number))
			left_add(left, number);
	(void)closedir(entries);
}

static void left_name(char out[64], unsigned long number)
{
	(void)snprintf(out, 64, CT_BELL_LEFT "%lu", number);
}

/* Gives the file its name, with a number after those of the requests that wait already. */
static enum ctrace_status left_publish(int directory, const char *temporary, char out_name[64])
{
	struct left left;
	unsigned long number;

	left_list(directory, &left);
	if (left.count == LEFT_LIMIT)
		return CTRACE_NOT_ENOUGH_MEMORY;
	number = left.count != 0 ? left.numbers[left.count - 1] + 1 : 0;
	for (unsigned tries = 0; tries < LEFT_LIMIT; tries++, number++) {
		left_name(out_name, number);
		if (syscall(SYS_renameat2, directory, temporary, directory, out_name,
			    1 /* RENAME_NOREPLACE */) == 0)
			return CTRACE_OK;
		if (errno != EEXIST)
			break;
	}
	return CTRACE_OS_ERROR;
}

static enum ctrace_status left_write(const struct bell *bell, const char *temporary,
				     const struct ct_buf *request)
{
	int fd = openat(bell->directory, temporary,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	enum ctrace_status status;

	if (fd < 0)
		return errno == EACCES || errno == EPERM ? CTRACE_DENIED : CTRACE_OS_ERROR;
	status = ct_os_write_at(fd, request->data, request->size, 0);
	/* the process of another user must be able to read what root leaves */
	if (status == CTRACE_OK &&
	    (fchmod(fd, 0600) != 0 ||
	     (bell->uid != geteuid() && fchown(fd, bell->uid, bell->gid) != 0)))
		status = CTRACE_OS_ERROR;
	ct_os_close(&fd);
	return status;
}

enum ctrace_status ct_bell_leave(const char *directory, const struct ct_buf *request)
{
	char temporary[64], name[64];
	struct bell bell;
	enum ctrace_status status = bell_open(&bell, directory, O_RDONLY);

	if (status != CTRACE_OK)
		return status;
	(void)snprintf(temporary, sizeof temporary, CT_BELL_LEFT "new-%u", (unsigned)getpid());
	(void)unlinkat(bell.directory, temporary, 0);
	status = request->size <= LEFT_SIZE ? left_write(&bell, temporary, request)
					    : CTRACE_NOT_ENOUGH_MEMORY;
	if (status == CTRACE_OK)
		status = left_publish(bell.directory, temporary, name);
	if (status != CTRACE_OK)
		(void)unlinkat(bell.directory, temporary, 0);
	/* Pairs with ct_bell_answer(): the process sees the file, or we see that it is awake. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (status == CTRACE_OK && !head_is_dormant(bell.session) &&
	    unlinkat(bell.directory, name, 0) == 0)
		status = CTRACE_TIMED_OUT;
	bell_close(&bell);
	return status;
}

/* ---- the process's side */

/* Reads the request, and removes it.  It stays empty when it is not ours to carry out.  Returns
 * false when it was not removed. */
static bool left_take(int directory, const char *name, struct ct_buf *out)
{
	struct stat info;
	int fd =
		ct_os_high(openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
	bool is_read = false;

	if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1 &&
	    info.st_uid == geteuid() && (info.st_mode & 077) == 0 && info.st_size > 0 &&
	    (size_t)info.st_size <= LEFT_SIZE) {
		size_t got = 0;

		is_read =
			ct_buf_reserve(out, (size_t)info.st_size) &&
			ct_os_read_at(fd, out->data, (size_t)info.st_size, 0, &got) == CTRACE_OK &&
			got == (size_t)info.st_size;
		out->size = is_read ? got : 0;
	}
	ct_os_close(&fd);
	return unlinkat(directory, name, 0) == 0;
}

/* Returns true when there may be more of them, and some have gone. */
static bool left_take_some(int directory, void (*take)(const struct ct_buf *request, void *user),
			   void *user)
{
	struct left left;
	bool are_fewer = false;

	left_list(directory, &left);
	for (size_t i = 0; i < left.count; i++) {
		struct ct_buf request;
		char name[64];

		ct_buf_init(&request);
		left_name(name, left.numbers[i]);
		if (left_take(directory, name, &request)) {
			are_fewer = true;
			if (request.size != 0)
				take(&request, user);
		}
		ct_buf_fini(&request);
	}
	return are_fewer && left.count == LEFT_LIMIT;
}

void ct_bell_answer(struct ct_session *session,
		    void (*take)(const struct ct_buf *request, void *user), void *user)
{
	int directory;

	/* Pairs with ct_bell_leave().  The bell stays rung: the tracers of the process come by
	 * once more, for their own level words. */
	__atomic_store_n(&session->head->is_dormant, CT_AWAKE, __ATOMIC_SEQ_CST);
	if (__atomic_exchange_n(&session->head->bell.level, 0, __ATOMIC_SEQ_CST) ==
		    CTRACE_LEVEL_NONE ||
	    session->path[0] == '\0' || (directory = ct_session_directory(session)) < 0)
		return;
	/* Tools that number their requests at the same time may leave more than a list holds. */
	while (left_take_some(directory, take, user))
		;
}
