/*
 * test_os.c - the one door to the operating system: what it refuses, and what happens when a call fails.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

static char room[64];

static int set_up(void **state)
{
	const char *folder = getenv("TMPDIR");

	(void)snprintf(room, sizeof room, "%s/os-XXXXXX", folder != NULL && strlen(folder) < 40 ? folder : "/tmp");
	(void)state;
	return mkdtemp(room) == NULL || chdir(room) != 0;
}

static int tear_down(void **state)
{
	char command[100];

	(void)state;
	(void)snprintf(command, sizeof command, "rm -rf %s", room);
	return chdir("/") != 0 || system(command) != 0;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(close(fd), 0);
}

static mode_t mode_of(const char *path)
{
	struct stat info;

	assert_int_equal(lstat(path, &info), 0);
	return info.st_mode & 07777;
}

static uint64_t size_of(const char *path)
{
	struct stat info;

	assert_int_equal(lstat(path, &info), 0);
	return (uint64_t)info.st_size;
}

static enum ctrace_status try_open(const char *path, int flags)
{
	int fd = -7;
	enum ctrace_status status = ct_os_open_file(AT_FDCWD, path, flags, &fd);

	if (status == CTRACE_OK) {
		assert_true(fd >= 0);
		ct_os_close(&fd);
		assert_int_equal(fd, -1);
	} else {
		assert_int_equal(fd, -7); /* out only on success */
		assert_int_not_equal(errno, 0);
	}
	return status;
}

static void a_new_file_has_mode_0600_whatever_the_umask_is(void **state)
{
	static const mode_t masks[] = { 0, 022, 077, 0777 };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(masks); i++) {
		mode_t before = umask(masks[i]);
		char name[] = "new0";

		name[3] = (char)('0' + i);
		assert_int_equal(try_open(name, O_RDWR | O_CREAT), CTRACE_OK);
		(void)umask(before);
		assert_int_equal(mode_of(name), 0600);
	}
}

static void the_descriptor_closes_at_exec_and_blocks_as_usual(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT | O_APPEND, &fd), CTRACE_OK);
	assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	assert_true((fcntl(fd, F_GETFL) & O_NONBLOCK) == 0);
	assert_true((fcntl(fd, F_GETFL) & O_APPEND) != 0);
	ct_os_close(&fd);
}

static void a_link_is_never_followed(void **state)
{
	(void)state;
	put("target", "precious");
	assert_int_equal(symlink("target", "link"), 0);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_equal(try_open("link", O_RDWR), CTRACE_DENIED);
	assert_int_equal(try_open("link", O_RDWR | O_CREAT | O_TRUNC), CTRACE_DENIED);
	assert_int_equal(try_open("dangling", O_RDWR | O_CREAT), CTRACE_DENIED);
	assert_int_equal(access("nowhere", F_OK), -1);
	assert_int_equal(size_of("target"), 8);
}

static void a_file_with_another_name_is_refused_untouched(void **state)
{
	(void)state;
	put("file", "precious");
	assert_int_equal(link("file", "other"), 0);
	assert_int_equal(try_open("file", O_RDWR | O_CREAT | O_TRUNC), CTRACE_DENIED);
	assert_int_equal(size_of("file"), 8);
	assert_int_equal(unlink("other"), 0);
	assert_int_equal(try_open("file", O_RDWR | O_CREAT | O_TRUNC), CTRACE_OK);
	assert_int_equal(size_of("file"), 0);
}

static void what_is_no_regular_file_is_refused_without_waiting(void **state)
{
	(void)state;
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(try_open("pipe", O_RDONLY), CTRACE_DENIED);
	assert_int_equal(try_open("pipe", O_WRONLY), CTRACE_DENIED);
	assert_int_equal(try_open("pipe", O_RDWR), CTRACE_DENIED);
	assert_int_equal(try_open("folder", O_RDONLY), CTRACE_DENIED);
	assert_int_equal(try_open("folder", O_RDWR), CTRACE_DENIED);
	assert_int_equal(try_open("/dev/null", O_RDWR), CTRACE_DENIED);
}

static void another_users_file_is_refused(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	put("theirs", "precious");
	assert_int_equal(chown("theirs", 12345, 12345), 0);
	assert_int_equal(try_open("theirs", O_RDWR | O_CREAT | O_TRUNC), CTRACE_DENIED);
	assert_int_equal(size_of("theirs"), 8);
}

static void what_is_not_there_is_not_found(void **state)
{
	(void)state;
	put("file", "x");
	assert_int_equal(try_open("missing", O_RDWR), CTRACE_NOT_FOUND);
	assert_int_equal(try_open("missing/file", O_RDWR | O_CREAT), CTRACE_NOT_FOUND);
	assert_int_equal(try_open("file/below", O_RDWR | O_CREAT), CTRACE_NOT_FOUND);
}

static void a_folder_is_made_with_its_parents_for_us_alone(void **state)
{
	mode_t before = umask(0);

	(void)state;
	assert_int_equal(ct_os_make_folder("a/b//c/"), CTRACE_OK);
	(void)umask(0777);
	assert_int_equal(ct_os_make_folder("d/e"), CTRACE_OK);
	(void)umask(before);
	assert_int_equal(mode_of("a"), 0700);
	assert_int_equal(mode_of("a/b/c"), 0700);
	assert_int_equal(mode_of("d"), 0700);
	assert_int_equal(mode_of("d/e"), 0700);
	assert_int_equal(chmod("a", 0755), 0);
	assert_int_equal(ct_os_make_folder("a/b"), CTRACE_OK);
	assert_int_equal(mode_of("a"), 0755); /* what was there stays as it was */
}

static void a_folder_that_cannot_be_made_says_so(void **state)
{
	char *long_path = malloc(5001);

	(void)state;
	assert_non_null(long_path);
	memset(long_path, 'x', 5000);
	long_path[5000] = '\0';
	put("file", "x");
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_not_equal(ct_os_make_folder(""), CTRACE_OK);
	assert_int_not_equal(ct_os_make_folder(long_path), CTRACE_OK);
	assert_int_not_equal(ct_os_make_folder("file"), CTRACE_OK);
	assert_int_not_equal(ct_os_make_folder("file/below"), CTRACE_OK);
	assert_int_not_equal(ct_os_make_folder("dangling"), CTRACE_OK);
	ct_os_fail(CT_OS_MKDIR, 1, 1, ENOSPC);
	assert_int_equal(ct_os_make_folder("p/q"), CTRACE_OS_ERROR);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(ct_os_make_folder("p/q"), CTRACE_OK);
	free(long_path);
}

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
	assert_int_equal(ct_os_read_at(fd, back, 4, UINT64_MAX, &got), CTRACE_OS_ERROR); /* no such place */
	ct_os_close(&fd);
}

static void an_append_is_one_write_and_says_how_much_went(void **state)
{
	size_t written = 0;
	int fd;

	(void)state;
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_WRONLY | O_CREAT | O_APPEND, &fd), CTRACE_OK);
	ct_os_fail(CT_OS_WRITE, 0, 2, EINTR);
	assert_int_equal(ct_os_append(fd, "abc", 3, &written), CTRACE_OK);
	assert_int_equal(written, 3);
	ct_os_fail(CT_OS_WRITE, 0, 1, ENOSPC);
	assert_int_equal(ct_os_append(fd, "def", 3, &written), CTRACE_OS_ERROR);
	assert_int_equal(size_of("f"), 3);
	ct_os_close(&fd);
}

static void a_whole_file_is_read_up_to_the_limit(void **state)
{
	struct ct_buf buf;

	(void)state;
	ct_buf_init(&buf);
	put("f", "0123456789");
	assert_int_equal(ct_os_read_file("f", 11, &buf), CTRACE_OK);
	assert_int_equal(buf.size, 10);
	ct_buf_clear(&buf);
	assert_int_not_equal(ct_os_read_file("f", 9, &buf), CTRACE_OK);
	ct_buf_clear(&buf);
	assert_int_equal(ct_os_read_file("/proc/self/cmdline", 100000, &buf), CTRACE_OK); /* a file of no size */
	assert_true(buf.size > 0);
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(ct_os_read_file("folder", 100, &buf), CTRACE_DENIED);
	assert_int_equal(ct_os_read_file("pipe", 100, &buf), CTRACE_DENIED);
	assert_int_equal(ct_os_read_file("missing", 100, &buf), CTRACE_NOT_FOUND);
	ct_buf_fini(&buf);
}

static void what_others_may_write_is_not_trusted(void **state)
{
	struct ct_buf buf;
	int fd;

	(void)state;
	ct_buf_init(&buf);
	assert_int_equal(mkdir("trusted", 0700), 0);
	assert_int_equal(ct_os_open_file(AT_FDCWD, "trusted/f", O_WRONLY | O_CREAT, &fd), CTRACE_OK);
	assert_int_equal(ct_os_write_at(fd, "text", 4, 0), CTRACE_OK);
	ct_os_close(&fd);
	assert_int_equal(ct_os_read_trusted("trusted", "f", CT_OS_OWN, 100, &buf), CTRACE_OK);
	assert_string_equal(ct_buf_text(&buf), "text");
	ct_buf_clear(&buf);
	assert_int_equal(ct_os_read_trusted("trusted", "missing", CT_OS_OWN, 100, &buf), CTRACE_NOT_FOUND);
	assert_int_equal(ct_os_read_trusted("missing", "f", CT_OS_NAMED, 100, &buf), CTRACE_NOT_FOUND);
	assert_int_equal(ct_os_read_trusted("trusted/f", "f", CT_OS_NAMED, 100, &buf), CTRACE_NOT_FOUND);
	assert_int_equal(ct_os_read_trusted(".", "trusted", CT_OS_NAMED, 100, &buf), CTRACE_DENIED);
	assert_int_equal(symlink("f", "trusted/link"), 0);
	assert_int_equal(ct_os_read_trusted("trusted", "link", CT_OS_OWN, 100, &buf), CTRACE_DENIED);
	assert_int_equal(ct_os_read_trusted("trusted", "link", CT_OS_NAMED, 100, &buf), CTRACE_OK);
	ct_buf_clear(&buf);
	assert_int_equal(chmod("trusted/f", 0660), 0);
	assert_int_equal(ct_os_read_trusted("trusted", "f", CT_OS_OWN, 100, &buf), CTRACE_DENIED);
	assert_int_equal(ct_os_read_trusted("trusted", "f", CT_OS_NAMED, 100, &buf), CTRACE_OK);
	assert_int_equal(chmod("trusted/f", 0606), 0);
	assert_int_equal(ct_os_read_trusted("trusted", "f", CT_OS_NAMED, 100, &buf), CTRACE_DENIED);
	ct_buf_fini(&buf);
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

static void closing_keeps_errno(void **state)
{
	int fd = 12345;

	(void)state;
	errno = ENOSPC;
	ct_os_close(&fd);
	assert_int_equal(fd, -1);
	ct_os_close(&fd);
	assert_int_equal(errno, ENOSPC);
}

static uint32_t word;

static void *wake_it(void *argument)
{
	(void)argument;
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	ct_os_wake(&word);
	return NULL;
}

static void a_sleeper_wakes_when_the_word_changes(void **state)
{
	pthread_t thread;

	(void)state;
	word = 0;
	ct_os_wait(&word, 1, UINT64_MAX); /* not that value: no sleep at all */
	ct_os_wait(&word, 0, 1000000);    /* ends by itself */
	assert_int_equal(pthread_create(&thread, NULL, wake_it, NULL), 0);
	while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == 0)
		ct_os_wait(&word, 0, UINT64_MAX);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

struct facts {
	uint32_t tid;
	sigset_t mask;
};

static void *tell_facts(void *argument)
{
	struct facts *facts = argument;

	facts->tid = ct_os_thread_id();
	(void)pthread_sigmask(SIG_SETMASK, NULL, &facts->mask);
	return NULL;
}

static void our_threads_take_no_signals_and_leave_the_callers_mask_alone(void **state)
{
	struct facts facts = { 0 };
	sigset_t before, after;
	pthread_t thread;

	(void)state;
	(void)pthread_sigmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(ct_os_thread_start(tell_facts, &facts, "ctrace-test", &thread), CTRACE_OK);
	(void)pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(pthread_join(thread, NULL), 0);
	for (int signal = 1; signal <= 31; signal++) {
		assert_int_equal(sigismember(&after, signal), sigismember(&before, signal));
		if (signal != SIGKILL && signal != SIGSTOP)
			assert_int_equal(sigismember(&facts.mask, signal), 1);
	}
	assert_int_not_equal(facts.tid, ct_os_thread_id());
	ct_os_fail(CT_OS_THREAD, 0, 1, EAGAIN);
	assert_int_equal(ct_os_thread_start(tell_facts, &facts, "ctrace-test", &thread), CTRACE_OS_ERROR);
}

static void a_thread_exists_until_it_has_ended(void **state)
{
	struct facts facts = { 0 };
	pthread_t thread;
	pid_t child;

	(void)state;
	assert_true(ct_os_thread_exists(ct_os_thread_id()));
	assert_int_equal(ct_os_thread_start(tell_facts, &facts, "ctrace-test", &thread), CTRACE_OK);
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* The kernel lets go of the number a moment after the join. */
	while (ct_os_thread_exists(facts.tid))
		;
	child = fork();
	if (child == 0)
		_exit(0);
	assert_false(ct_os_thread_exists((uint32_t)child)); /* of another process */
	assert_int_equal(waitpid(child, NULL, 0), child);
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

static void a_descriptor_of_ours_is_never_one_of_the_first_three(void **state)
{
	int kept = dup(0), fd;

	(void)state;
	assert_true(kept > 2);
	assert_int_equal(close(0), 0);
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT, &fd), CTRACE_OK);
	assert_true(fd > 2);
	assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	assert_int_equal(fcntl(0, F_GETFD), -1);
	ct_os_close(&fd);
	fd = ct_os_above_standard(open("f", O_RDONLY | O_CLOEXEC));
	assert_true(fd > 2);
	assert_int_equal(dup2(kept, 0), 0);
	assert_int_equal(close(kept), 0);
	assert_int_equal(ct_os_above_standard(fd), fd);
	ct_os_close(&fd);
	errno = EMFILE;
	assert_int_equal(ct_os_above_standard(-1), -1);
	assert_int_equal(errno, EMFILE);
}

static void a_descriptor_is_known_by_its_file(void **state)
{
	struct ct_file_id id, none;
	int fd, other;

	(void)state;
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT, &fd), CTRACE_OK);
	id = ct_os_file_id(fd);
	assert_true(ct_os_is_file(fd, &id));
	assert_int_equal(rename("f", "g"), 0);
	assert_true(ct_os_is_file(fd, &id)); /* by the file, not by its name */
	/* The program closes it, and gets the number for a file of its own. */
	assert_int_equal(close(fd), 0);
	errno = ENOSPC;
	assert_false(ct_os_is_file(fd, &id));
	assert_int_equal(errno, ENOSPC);
	other = open("program's", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(other, fd);
	assert_false(ct_os_is_file(fd, &id));
	ct_os_close_file(&fd, &id);
	assert_int_equal(fd, -1);
	assert_true(fcntl(other, F_GETFD) >= 0); /* still open */
	assert_int_equal(close(other), 0);
	none = ct_os_file_id(-1);
	assert_int_equal(none.inode, 0);
	assert_false(ct_os_is_file(-1, &none));
	assert_int_equal(ct_os_open_file(AT_FDCWD, "g", O_RDWR, &fd), CTRACE_OK);
	other = fd;
	ct_os_close_file(&fd, &id);
	assert_int_equal(fcntl(other, F_GETFD), -1);
}

static void a_folder_made_by_somebody_else_meanwhile_keeps_its_mode(void **state)
{
	(void)state;
	assert_int_equal(mkdir("theirs", 0755), 0);
	ct_os_fail(CT_OS_MKDIR, 0, 1, EEXIST);
	assert_int_equal(ct_os_make_folder("theirs"), CTRACE_OK);
	assert_int_equal(mode_of("theirs"), 0755);
	ct_os_fail(CT_OS_MKDIR, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_new_file_has_mode_0600_whatever_the_umask_is, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_descriptor_closes_at_exec_and_blocks_as_usual, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_link_is_never_followed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_with_another_name_is_refused_untouched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_regular_file_is_refused_without_waiting, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_users_file_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_there_is_not_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_folder_is_made_with_its_parents_for_us_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_made_says_so, set_up, tear_down),
		cmocka_unit_test_setup_teardown(writing_at_a_place_is_whole_or_an_error, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reading_is_short_only_at_the_end_of_the_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_append_is_one_write_and_says_how_much_went, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_whole_file_is_read_up_to_the_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_others_may_write_is_not_trusted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(space_is_allocated_in_real_blocks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_call_can_be_made_to_fail_after_some_that_do_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(closing_keeps_errno, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_sleeper_wakes_when_the_word_changes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(our_threads_take_no_signals_and_leave_the_callers_mask_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_thread_exists_until_it_has_ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_empty_variable_counts_as_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_descriptor_of_ours_is_never_one_of_the_first_three, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_descriptor_is_known_by_its_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_folder_made_by_somebody_else_meanwhile_keeps_its_mode, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
