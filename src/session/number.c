/*
 * number.c - the file of a run directory that has the last ASID, and the count of processes that
 * got no directory there.
 *
 * A process takes its ASID when it is to trace.  A dormant process has none until somebody looks at
 * it: the first tool that loads its session takes one for it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/session_parts.h"

#include <errno.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES 5u /* a millisecond apart */

/* Tries for a few milliseconds only: the holder of the lock may be stopped for ever, for example by
 * a debugger. */
static bool file_lock_soon(int fd)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (unsigned tries = 0; tries < LOCK_TRIES; tries++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		(void)nanosleep(&pause, NULL);
	}
	return false;
}

/* Returns a number that hardly any other process has. */
static uint32_t asid_make_random(void)
{
	uint64_t mixed = ((uint64_t)getpid() << 20 ^ ct_clock_wall_ns()) * 0x9E3779B97F4A7C15u;

	return (uint32_t)(mixed >> 32) % 0xFFFF + 1;
}

/* Returns the next number of the run directory: 1 to FFFF, then 1 again. */
static uint32_t asid_take_next(int fd)
{
	uint32_t last = 0;
	size_t got;

	if (ct_os_read_at(fd, &last, sizeof last, 0, &got) != CTRACE_OK || got != sizeof last)
		last = 0;
	last = last % 0xFFFF + 1;
	return ct_os_write_at(fd, &last, sizeof last, 0) == CTRACE_OK ? last : 1;
}

/* Under the lock of the file of numbers, which everybody takes who numbers a session. */
static uint32_t asid_store(uint32_t *mapped, int session_fd, uint32_t asid)
{
	const off_t at = offsetof(struct ct_session_head, asid);
	uint32_t present = 0;
	size_t got;

	if (mapped != NULL) {
		present = __atomic_load_n(mapped, __ATOMIC_RELAXED);
		if (present == 0)
			__atomic_store_n(mapped, asid, __ATOMIC_RELAXED);
		return present != 0 ? present : asid;
	}
	if (ct_os_read_at(session_fd, &present, sizeof present, (uint64_t)at, &got) == CTRACE_OK &&
	    got == sizeof present && present != 0)
		return present; /* another process was faster */
	return ct_os_write_at(session_fd, &asid, sizeof asid, (uint64_t)at) == CTRACE_OK ? asid : 0;
}

/* For a tool: root must not leave a file that its user's processes cannot use, nor refuse theirs.
 */
static int asid_open_of(int directory_fd)
{
	int fd = ct_os_high(openat(directory_fd, "../asid",
				   O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
	struct stat directory, info;

	if (fd >= 0 && fstat(directory_fd, &directory) == 0 && fstat(fd, &info) == 0 &&
	    S_ISREG(info.st_mode) && info.st_nlink == 1 &&
	    (info.st_uid == directory.st_uid ||
	     (info.st_size == 0 && fchown(fd, directory.st_uid, directory.st_gid) == 0)))
		return fd;
	ct_os_close(&fd);
	return -1;
}

uint32_t ct_asid_give(int directory_fd, uint32_t *mapped, int session_fd)
{
	uint32_t asid;
	int fd = -1;

	if (mapped == NULL)
		fd = asid_open_of(directory_fd);
	else if (ct_os_open_file(directory_fd, "../asid", O_RDWR | O_CREAT, &fd) != CTRACE_OK)
		fd = -1;
	asid = fd < 0 ? 1 : file_lock_soon(fd) ? asid_take_next(fd) : asid_make_random();
	asid = asid_store(mapped, session_fd, asid);
	ct_os_close(&fd);
	return asid;
}

/* ---- processes without a directory ---- */

#define UNATTACHED_AT 64u /* after the last number, in the same block */

static bool unattached_is_old(const struct ct_unattached *noted)
{
	uint64_t now = ct_clock_wall_ns();

	return noted->at_ns > now ||
	       now - noted->at_ns > (uint64_t)CT_UNATTACHED_SECONDS * 1000000000u;
}

/* A full file system lets the block be written again, and gives no new one. */
void ct_unattached_make_room(const char *run_directory)
{
	static const unsigned char none[UNATTACHED_AT + sizeof(struct ct_unattached)];
	int run_fd = open(run_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = -1;

	if (run_fd >= 0 &&
	    ct_os_open_file(run_fd, "asid", O_RDWR | O_CREAT | O_EXCL, &fd) == CTRACE_OK)
		(void)!ct_os_write_at(fd, none, sizeof none, 0);
	ct_os_close(&fd);
	ct_os_close(&run_fd);
}

void ct_unattached_note(const char *run_directory, int error, uint64_t lost)
{
	struct ct_unattached noted = { 0 };
	int run_fd = open(run_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t got;
	int fd = -1;

	if (run_fd >= 0 && ct_os_open_file(run_fd, "asid", O_RDWR | O_CREAT, &fd) == CTRACE_OK &&
	    file_lock_soon(fd)) {
		if (ct_os_read_at(fd, &noted, sizeof noted, UNATTACHED_AT, &got) != CTRACE_OK ||
		    got != sizeof noted || unattached_is_old(&noted))
			noted.count = 0, noted.lost = 0;
		noted.count += error != 0;
		noted.lost += lost;
		noted.pid = (uint32_t)getpid();
		noted.error = error != 0 ? error : noted.error;
		noted.at_ns = ct_clock_wall_ns();
		(void)snprintf(noted.program, sizeof noted.program, "%s",
			       program_invocation_short_name);
		(void)!ct_os_write_at(fd, &noted, sizeof noted, UNATTACHED_AT);
	}
	ct_os_close(&fd);
	ct_os_close(&run_fd);
}

bool ct_unattached_read(const char *run_directory, struct ct_unattached *out)
{
	char path[4096 + sizeof "/asid"];
	size_t got = 0;
	int fd;

	(void)snprintf(path, sizeof path, "%s/asid", run_directory);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	if (ct_os_read_at(fd, out, sizeof *out, UNATTACHED_AT, &got) != CTRACE_OK)
		got = 0;
	ct_os_close(&fd);
	out->program[sizeof out->program - 1] = '\0';
	return got == sizeof *out && out->count != 0 && !unattached_is_old(out);
}
