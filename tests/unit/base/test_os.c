/*
 * test_os.c - calls on what is open: short ones, interrupted ones, and those that a test makes
 * fail.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "os_fixture.h"
#include "../../sanitizer.h"

#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void writing_at_a_place_is_whole_or_an_error(void **state)
{
	char big[100000], back[100000];
	size_t got;
	int fd;

	(void)state;
	memset(big, 'b', sizeof big);
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT, &fd), CTRACE_OK);
	assert_int_equal(ct_os_write_at(fd, big, sizeof big, 10), CTRACE_OK);
	assert_int_equal(ct_os_read_at(fd, back, sizeof back, 10, &got), CTRACE_OK);
	assert_int_equal(got, sizeof big);
	assert_memory_equal(back, big, sizeof big);
	ct_os_fail(CT_OS_WRITE, 0, 1, EINTR);
	assert_int_equal(ct_os_write_at(fd, "again", 5, 0), CTRACE_OK);
	ct_os_fail(CT_OS_WRITE, 0, 1, ENOSPC);
	assert_int_equal(ct_os_write_at(fd, "never", 5, 0), CTRACE_OS_ERROR);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(ct_os_read_at(fd, back, 5, 0, &got), CTRACE_OK);
	assert_memory_equal(back, "again", 5);
	assert_int_equal(ct_os_write_at(fd, "", 0, 0), CTRACE_OK);
	ct_os_close(&fd);
}

static void reading_is_short_only_at_the_end_of_the_file(void **state)
{
	char back[16];
	size_t got = 77;
	int fd;

	(void)state;
	put("f", "0123456789");
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDONLY, &fd), CTRACE_OK);
	assert_int_equal(ct_os_read_at(fd, back, 16, 4, &got), CTRACE_OK);
	assert_int_equal(got, 6);
	assert_int_equal(ct_os_read_at(fd, back, 16, 10, &got), CTRACE_OK);
	assert_int_equal(got, 0);
	ct_os_fail(CT_OS_READ, 0, 3, EINTR);
	assert_int_equal(ct_os_read_at(fd, back, 4, 0, &got), CTRACE_OK);
	assert_int_equal(got, 4);
	ct_os_fail(CT_OS_READ, 0, 1, EIO);
	got = 77;
	assert_int_equal(ct_os_read_at(fd, back, 4, 0, &got), CTRACE_OS_ERROR);
	assert_int_equal(got, 77);
	/* no such place */
	assert_int_equal(ct_os_read_at(fd, back, 4, UINT64_MAX, &got), CTRACE_OS_ERROR);
	ct_os_close(&fd);
}

static void an_append_is_one_write_and_says_how_much_went(void **state)
{
	size_t written = 0;
	int fd;

	(void)state;
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_WRONLY | O_CREAT | O_APPEND, &fd),
			 CTRACE_OK);
	ct_os_fail(CT_OS_WRITE, 0, 2, EINTR);
	assert_int_equal(ct_os_append(fd, "abc", 3, &written), CTRACE_OK);
	assert_int_equal(written, 3);
	ct_os_fail(CT_OS_WRITE, 0, 1, ENOSPC);
	assert_int_equal(ct_os_append(fd, "def", 3, &written), CTRACE_OS_ERROR);
	assert_int_equal(size_of("f"), 3);
	ct_os_close(&fd);
}

static void space_is_allocated_in_real_blocks(void **state)
{
	struct stat info;
	int fd;

	(void)state;
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT, &fd), CTRACE_OK);
	assert_int_equal(ct_os_allocate(fd, 0, 1 << 20), CTRACE_OK);
	assert_int_equal(fstat(fd, &info), 0);
	assert_int_equal(info.st_size, 1 << 20);
	assert_true(info.st_blocks * 512 >= 1 << 20);
	ct_os_fail(CT_OS_ALLOCATE, 0, 1, ENOSPC);
	assert_int_equal(ct_os_allocate(fd, 1 << 20, 1 << 20), CTRACE_OS_ERROR);
	ct_os_close(&fd);
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDONLY, &fd), CTRACE_OK);
	assert_int_not_equal(ct_os_allocate(fd, 0, 1 << 21), CTRACE_OK);
	ct_os_close(&fd);
}

static void any_call_can_be_made_to_fail_after_some_that_do_not(void **state)
{
	void *address = NULL;
	int fd;

	(void)state;
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT, &fd), CTRACE_OK);
	ct_os_fail(CT_OS_TRUNCATE, 2, 1, EIO);
	assert_int_equal(ct_os_truncate(fd, 10), CTRACE_OK);
	assert_int_equal(ct_os_truncate(fd, 20), CTRACE_OK);
	assert_int_equal(ct_os_truncate(fd, 30), CTRACE_OS_ERROR);
	assert_int_equal(size_of("f"), 20);
	assert_int_equal(ct_os_truncate(fd, 30), CTRACE_OK);
	ct_os_fail(CT_OS_FSYNC, 0, 1, EIO);
	assert_int_equal(ct_os_sync(fd), CTRACE_OS_ERROR);
	assert_int_equal(ct_os_sync(fd), CTRACE_OK);
	ct_os_fail(CT_OS_MAP, 0, 1, ENOMEM);
	assert_int_equal(ct_os_map(fd, 4096, true, &address), CTRACE_NOT_ENOUGH_MEMORY);
	assert_null(address);
	ct_os_fail(CT_OS_OPEN, 0, 1, EMFILE);
	assert_int_equal(try_open("f", O_RDONLY), CTRACE_OS_ERROR);
	assert_int_equal(try_open("f", O_RDONLY), CTRACE_OK);
	ct_os_fail(CT_OS_TRUNCATE, 0, 1, EIO);
	assert_int_equal(try_open("f", O_RDWR | O_TRUNC), CTRACE_OS_ERROR);
	ct_os_close(&fd);
}

static void an_empty_variable_counts_as_none(void **state)
{
	(void)state;
	assert_int_equal(setenv("CTRACE_TEST_VARIABLE", "", 1), 0);
	assert_null(ct_os_environment("CTRACE_TEST_VARIABLE"));
	assert_int_equal(setenv("CTRACE_TEST_VARIABLE", "x", 1), 0);
	assert_string_equal(ct_os_environment("CTRACE_TEST_VARIABLE"), "x");
	assert_int_equal(unsetenv("CTRACE_TEST_VARIABLE"), 0);
	assert_null(ct_os_environment("CTRACE_TEST_VARIABLE"));
}

/* An allocation of more than this is interrupted, as by a timer that is faster than the file
 * system; 0: every one, UINT64_MAX: none. */
static uint64_t interrupted_above = UINT64_MAX;
static unsigned allocations;

int posix_fallocate(int fd, off_t offset, off_t size)
{
	allocations++;
	if ((uint64_t)size > interrupted_above || interrupted_above == 0)
		return EINTR;
	return fallocate(fd, 0, offset, size) == 0 ? 0 : errno;
}

static void an_allocation_that_signals_interrupt_ends(void **state)
{
	struct stat info;
	int fd;

	(void)state;
	assert_int_equal(ct_os_open_file(AT_FDCWD, "file", O_RDWR | O_CREAT, &fd), CTRACE_OK);
	(void)alarm(60); /* in place of a hang */
	/* What a signal undoes is done in pieces that are faster. */
	interrupted_above = 1 << 20;
	assert_int_equal(ct_os_allocate(fd, 4096, (5 << 20) + 1), CTRACE_OK);
	assert_int_equal(fstat(fd, &info), 0);
	assert_int_equal(info.st_size, 4096 + (5 << 20) + 1);
	interrupted_above = 0;
	errno = 0;
	allocations = 0;
	assert_int_equal(ct_os_allocate(fd, 0, 4096), CTRACE_OS_ERROR);
	assert_int_equal(errno, EINTR);
	assert_true(allocations > 10);
	interrupted_above = UINT64_MAX;
	(void)alarm(0);
	assert_int_equal(close(fd), 0);
}

static void a_file_size_limit_is_what_the_process_has(void **state)
{
	struct rlimit limit, before;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 12345;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(ct_os_file_limit(), 12345);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	if (before.rlim_cur == RLIM_INFINITY)
		assert_true(ct_os_file_limit() == UINT64_MAX);
}

static void an_address_limit_is_what_the_process_has(void **state)
{
	struct rlimit limit, before;

	(void)state;
	if (IS_SANITIZED)
		skip();
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)1 << 40;
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	assert_int_equal(ct_os_address_limit(), (uint64_t)1 << 40);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	if (before.rlim_cur == RLIM_INFINITY)
		assert_true(ct_os_address_limit() == UINT64_MAX);
}

/* 0: its blocks are written in place; 77: there can be no such file system here. */
static int store_on_btrfs(void)
{
	int fd, flags = 0;

	if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    system("exec >/dev/null 2>&1; truncate -s 120M image && mkfs.btrfs -q image && mkdir m && mount -o loop image m") !=
		    0)
		return 77;
	if (ct_os_open_file(AT_FDCWD, "m/file", O_RDWR | O_CREAT, &fd) != CTRACE_OK)
		return 1;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0 || (flags & FS_NOCOW_FL) != 0)
		return 2;
	ct_os_store_in_place(fd);
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0 || (flags & FS_NOCOW_FL) == 0)
		return 3;
	(void)close(fd);
	return umount("m") == 0 ? 0 : 4;
}

static void a_file_system_that_copies_is_reported_not_to(void **state)
{
	int fd, status;
	pid_t child;

	(void)state;
	assert_int_equal(ct_os_open_file(AT_FDCWD, "file", O_RDWR | O_CREAT, &fd), CTRACE_OK);
	errno = 4711;
	ct_os_store_in_place(fd); /* nothing on others */
	ct_os_store_in_place(-1);
	assert_int_equal(errno, 4711);
	assert_int_equal(close(fd), 0);
	fd = memfd_create("memory", MFD_CLOEXEC);
	assert_int_equal(ct_os_file_system(fd), CT_OS_MEMORY);
	assert_int_equal(close(fd), 0);
	assert_int_equal(ct_os_file_system(fd), CT_OS_AFAR);
	fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* not known as a disk's */
	assert_int_equal(ct_os_file_system(fd), CT_OS_AFAR);
	assert_int_equal(close(fd), 0);
	child = fork();
	if (child == 0)
		_exit(store_on_btrfs());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip(); /* no right to mount, or no btrfs */
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* ext4 notes each truncation to nothing, and writes such a file to the disk when it is closed. */
static void a_file_of_the_size_already_is_not_truncated(void **state)
{
	const struct timespec then[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	struct stat info;
	int fd;

	(void)state;
	assert_int_equal(ct_os_open_file(AT_FDCWD, "same", O_RDWR | O_CREAT, &fd), CTRACE_OK);
	for (uint64_t size = 0; size <= 10; size += 10) {
		assert_int_equal(ct_os_truncate(fd, size), CTRACE_OK);
		assert_int_equal(futimens(fd, then), 0);
		assert_int_equal(ct_os_truncate(fd, size), CTRACE_OK);
		assert_int_equal(fstat(fd, &info), 0);
		assert_int_equal(info.st_size, size);
		assert_int_equal(info.st_mtim.tv_sec, 1);
	}
	assert_int_equal(ct_os_truncate(fd, 9), CTRACE_OK);
	assert_int_equal(size_of("same"), 9);
	ct_os_close(&fd);
}

static void an_interruption_costs_another_try(void **state)
{
	struct stat info;
	int fd;

	(void)state;
	ct_os_fail(CT_OS_OPEN, 0, 3, EINTR);
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT, &fd), CTRACE_OK);
	ct_os_fail(CT_OS_TRUNCATE, 0, 3, EINTR);
	assert_int_equal(ct_os_truncate(fd, 5), CTRACE_OK);
	ct_os_fail(CT_OS_FSYNC, 0, 3, EINTR);
	assert_int_equal(ct_os_sync(fd), CTRACE_OK);
	ct_os_fail(CT_OS_ALLOCATE, 0, 20, EINTR);
	assert_int_equal(ct_os_allocate(fd, 0, (3u << 20) + 5), CTRACE_OK);
	assert_int_equal(fstat(fd, &info), 0);
	assert_int_equal(info.st_size, (3 << 20) + 5);
	/* But not for ever. */
	ct_os_fail(CT_OS_ALLOCATE, 0, 1u << 30, EINTR);
	assert_int_equal(ct_os_allocate(fd, 0, 1 << 20), CTRACE_OS_ERROR);
	assert_int_equal(errno, EINTR);
	ct_os_fail(CT_OS_ALLOCATE, 0, 0, 0);
	ct_os_close(&fd);
}

static void renaming_aside_replaces_nothing(void **state)
{
	(void)state;
	assert_int_equal(system("mkdir a b; echo x > a/x; echo y > b/y; echo z > c"), 0);
	assert_int_equal(ct_os_rename_aside("a", "b"), CTRACE_OS_ERROR);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(ct_os_rename_aside("a", "c"), CTRACE_OS_ERROR);
	assert_int_equal(ct_os_rename_aside("a", "d"), CTRACE_OK);
	assert_int_equal(access("d/x", F_OK), 0);
	assert_int_equal(ct_os_rename(AT_FDCWD, "c", "d/x"), CTRACE_OK);
	assert_int_equal(ct_os_rename(AT_FDCWD, "nothing", "d/x"), CTRACE_NOT_FOUND);
}

static void two_names_are_exchanged_or_nothing_changes(void **state)
{
	(void)state;
	assert_int_equal(system("mkdir a b; echo x > a/x; echo y > b/y"), 0);
	assert_int_equal(ct_os_exchange("a", "c"), CTRACE_NOT_FOUND);
	ct_os_fail(CT_OS_RENAME, 0, 1, EINVAL);
	assert_int_equal(ct_os_exchange("a", "b"), CTRACE_UNSUPPORTED);
	assert_int_equal(access("a/x", F_OK), 0);
	assert_int_equal(ct_os_exchange("a", "b"), CTRACE_OK);
	assert_int_equal(access("a/y", F_OK), 0);
	assert_int_equal(access("b/x", F_OK), 0);
}

static void a_fault_is_for_one_kind_of_call_and_ends(void **state)
{
	(void)state;
	ct_os_fail(CT_OS_READ, 1, 1, EIO);
	errno = 0;
	assert_false(ct_os_must_fail(CT_OS_WRITE));
	assert_false(ct_os_must_fail(CT_OS_READ));
	assert_int_equal(errno, 0);
	assert_true(ct_os_must_fail(CT_OS_READ));
	assert_int_equal(errno, EIO);
	assert_false(ct_os_must_fail(CT_OS_READ));
}

static void a_status_says_what_the_caller_can_do(void **state)
{
	static const struct {
		int error;
		enum ctrace_status status;
	} rows[] = { { ENOENT, CTRACE_NOT_FOUND },
		     { ENOTDIR, CTRACE_NOT_FOUND },
		     { EACCES, CTRACE_DENIED },
		     { ELOOP, CTRACE_DENIED },
		     { ENOMEM, CTRACE_NOT_ENOUGH_MEMORY },
		     { ENOSPC, CTRACE_OS_ERROR },
		     { EIO, CTRACE_OS_ERROR } };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		errno = rows[i].error;
		assert_int_equal(ct_os_status(), rows[i].status);
	}
}

static void only_the_file_that_is_meant_is_mapped(void **state)
{
	struct ct_file_id id;
	void *address = NULL;
	int other = open("other", O_RDWR | O_CREAT, 0600);
	int fd = open("meant", O_RDWR | O_CREAT, 0600);

	(void)state;
	id = ct_os_file_id(fd);
	assert_int_equal(ct_os_check_file(fd, &id), CTRACE_OK);
	assert_int_equal(ct_os_map_file(fd, &id, 4096, &address), CTRACE_OK);
	assert_int_equal(munmap(address, 4096), 0);
	address = NULL;
	assert_int_equal(dup2(other, fd), fd);
	assert_int_equal(ct_os_map_file(fd, &id, 4096, &address), CTRACE_OS_ERROR);
	assert_int_equal(errno, ESTALE);
	address = NULL;
	assert_int_equal(ct_os_map_twice(fd, &id, 4096, 4096, &address), CTRACE_OS_ERROR);
	assert_null(address);
	ct_os_close(&fd);
	ct_os_close(&other);
}

static void what_is_mapped_twice_is_populated_at_once(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char present[5] = { 0 };
	struct ct_file_id id;
	void *address;
	char *at;
	int fd;

	(void)state;
	for (unsigned with_file = 0; with_file < 2; with_file++) {
		fd = with_file ? open("twice", O_RDWR | O_CREAT, 0600) : -1;
		assert_int_equal(with_file ? ct_os_allocate(fd, 0, 3 * page) : CTRACE_OK,
				 CTRACE_OK);
		id = ct_os_file_id(fd);
		assert_int_equal(ct_os_map_twice(fd, &id, page, 2 * page, &address), CTRACE_OK);
		at = address;
		if (ct_os_populate(address, 5 * page) == CTRACE_OK) { /* Linux 5.14 */
			assert_int_equal(mincore(address, 5 * page, present), 0);
			for (size_t i = 0; i < CT_COUNT(present); i++)
				assert_int_equal(present[i] & 1, 1);
		}
		at[page] = 'a';
		assert_int_equal(at[3 * page], 'a');
		assert_int_equal(munmap(address, 5 * page), 0);
		ct_os_close(&fd);
	}
	assert_int_not_equal(ct_os_populate(NULL, page), CTRACE_OK);
}

/* 3,000 rooms of 64 GiB would not fit side by side: none of them stays. */
static void room_is_only_looked_for(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3000; i++)
		assert_true(ct_os_has_room((size_t)1 << 36));
	errno = 0;
	assert_false(ct_os_has_room((size_t)1 << 60)); /* more than there are addresses */
	assert_int_equal(errno, ENOMEM);
	ct_os_fail(CT_OS_MAP, 0, 1, ENOMEM);
	errno = 0;
	assert_false(ct_os_has_room(4096));
	assert_int_equal(errno, ENOMEM);
	assert_true(ct_os_has_room(4096));
}

/* More pieces than one call takes, some of them empty. */
static void pieces_are_written_one_behind_the_other_or_not_at_all(void **state)
{
	static struct iovec pieces[3000];
	char text[] = "abcdefgh", back[9000];
	size_t size = 0, got;
	int fd;

	(void)state;
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT, &fd), CTRACE_OK);
	for (size_t i = 0; i < CT_COUNT(pieces); i++) {
		pieces[i] = (struct iovec){ text + i % 4, i % 5 };
		size += i % 5;
	}
	ct_os_fail(CT_OS_WRITE, 1, 1, EINTR);
	assert_int_equal(ct_os_write_pieces_at(fd, pieces, CT_COUNT(pieces), 7), CTRACE_OK);
	assert_int_equal(ct_os_read_at(fd, back, sizeof back, 0, &got), CTRACE_OK);
	assert_int_equal(got, 7 + size);
	for (size_t i = 0, at = 7; i < CT_COUNT(pieces); at += i % 5, i++)
		assert_memory_equal(back + at, text + i % 4, i % 5);
	ct_os_fail(CT_OS_WRITE, 0, 1, ENOSPC);
	pieces[0] = (struct iovec){ text, 8 };
	assert_int_equal(ct_os_write_pieces_at(fd, pieces, 1, 7 + size), CTRACE_OS_ERROR);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(size_of("f"), 7 + size);
	pieces[0] = (struct iovec){ text, 0 };
	assert_int_equal(ct_os_write_pieces_at(fd, pieces, 1, 0), CTRACE_OK);
	ct_os_close(&fd);
}

/* A file size limit cuts the write inside a piece. */
static void a_piece_that_was_written_in_part_goes_on_where_it_stopped(void **state)
{
	const struct rlimit limit = { 10, RLIM_INFINITY };
	char text[] = "0123456789", back[20];
	struct iovec pieces[] = { { text, 6 }, { text, 10 } };
	struct rlimit before;
	enum ctrace_status status;
	size_t got;
	int fd;

	(void)state;
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT, &fd), CTRACE_OK);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	status = ct_os_write_pieces_at(fd, pieces, 2, 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(status, CTRACE_OS_ERROR); /* the rest has no room */
	assert_int_equal(pieces[0].iov_len, 6);
	assert_ptr_equal(pieces[1].iov_base, text + 4);
	assert_int_equal(pieces[1].iov_len, 6);
	assert_int_equal(ct_os_write_pieces_at(fd, &pieces[1], 1, 10), CTRACE_OK);
	assert_int_equal(ct_os_read_at(fd, back, sizeof back, 0, &got), CTRACE_OK);
	assert_int_equal(got, 16);
	assert_memory_equal(back, "0123450123456789", 16);
	ct_os_close(&fd);
}

static volatile sig_atomic_t was_on_stack;

static void note_stack(int number)
{
	(void)number;
	was_on_stack = ct_os_on_signal_stack();
}

static void a_handler_on_its_own_stack_is_seen(void **state)
{
	static char other_stack[65536];
	const stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof other_stack };
	struct sigaction action = { .sa_handler = note_stack, .sa_flags = SA_ONSTACK };
	stack_t before;

	(void)state;
	assert_int_equal(sigaltstack(&stack, &before), 0);
	assert_false(ct_os_on_signal_stack());
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_true(was_on_stack);
	action.sa_flags = 0;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_false(was_on_stack);
	assert_int_equal(sigaltstack(&before, NULL), 0);
}

int test_os(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_allocation_that_signals_interrupt_ends),
		TEST(only_the_file_that_is_meant_is_mapped),
		TEST(what_is_mapped_twice_is_populated_at_once),
		TEST(room_is_only_looked_for),
		TEST(a_file_size_limit_is_what_the_process_has),
		TEST(an_address_limit_is_what_the_process_has),
		TEST(a_file_system_that_copies_is_reported_not_to),
		TEST(writing_at_a_place_is_whole_or_an_error),
		TEST(pieces_are_written_one_behind_the_other_or_not_at_all),
		TEST(a_piece_that_was_written_in_part_goes_on_where_it_stopped),
		TEST(reading_is_short_only_at_the_end_of_the_file),
		TEST(an_append_is_one_write_and_says_how_much_went),
		TEST(space_is_allocated_in_real_blocks),
		TEST(any_call_can_be_made_to_fail_after_some_that_do_not),
		TEST(an_empty_variable_counts_as_none),
		TEST(a_file_of_the_size_already_is_not_truncated),
		TEST(an_interruption_costs_another_try),
		TEST(renaming_aside_replaces_nothing),
		TEST(two_names_are_exchanged_or_nothing_changes),
		TEST(a_fault_is_for_one_kind_of_call_and_ends),
		TEST(a_status_says_what_the_caller_can_do),
		TEST(a_handler_on_its_own_stack_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
