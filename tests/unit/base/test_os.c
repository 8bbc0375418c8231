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
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
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

struct origins {
	sigset_t mask;
	bool is_own, has_mask;
	bool child_is_own;
	int policy, cpus;
};

static void *look_at_origins(void *argument)
{
	struct origins *origins = argument;
	cpu_set_t cpus;
	int status;
	pid_t pid;

	origins->is_own = ct_os_thread_is_own();
	origins->has_mask = ct_os_thread_mask(&origins->mask);
	origins->policy = sched_getscheduler(0);
	(void)sched_getaffinity(0, sizeof cpus, &cpus);
	origins->cpus = CPU_COUNT(&cpus);
	pid = fork();
	if (pid == 0) {
		sigset_t mask;

		ct_os_thread_child();
		(void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
		for (int signal = 1; signal <= 31; signal++)
			if (sigismember(&mask, signal) != sigismember(&origins->mask, signal))
				_exit(1);
		_exit(ct_os_thread_is_own() ? 2 : 0);
	}
	origins->child_is_own = waitpid(pid, &status, 0) != pid || status != 0;
	return NULL;
}

/* Whatever the thread is that starts them; what it blocks is known to them, also when it starts
 * them in a locked section. */
static void our_threads_are_ordinary_and_know_the_programs_mask(void **state)
{
	const struct sched_param none = { .sched_priority = 0 };
	struct origins origins = { .policy = -1 };
	cpu_set_t all, one;
	sigset_t mask;
	pthread_t thread;

	(void)state;
	assert_false(ct_os_thread_mask(&mask));
	ct_os_thread_child(); /* nothing, here */
	(void)sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	assert_int_equal(sched_setscheduler(0, SCHED_BATCH, &none), 0);
	ct_guard_enter();
	assert_int_equal(ct_os_thread_start(look_at_origins, &origins, "ctrace-test", &thread), CTRACE_OK);
	ct_guard_leave();
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
	assert_true(origins.is_own && origins.has_mask && !origins.child_is_own);
	assert_int_equal(origins.policy, SCHED_OTHER);
	assert_int_equal(origins.cpus, CPU_COUNT(&all));
	assert_int_equal(sigismember(&origins.mask, SIGTERM), 0);
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
	fd = ct_os_high(open("f", O_RDONLY | O_CLOEXEC));
	assert_true(fd > 2);
	assert_int_equal(dup2(kept, 0), 0);
	assert_int_equal(close(kept), 0);
	assert_int_equal(ct_os_high(fd), fd);
	ct_os_close(&fd);
	errno = EMFILE;
	assert_int_equal(ct_os_high(-1), -1);
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
	assert_true(other >= 0);
	assert_int_equal(dup2(other, fd), fd);
	assert_int_equal(close(other), 0);
	other = fd;
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

/* ---- allocating ---- */

/* An allocation of more than this is interrupted, as by a timer that is faster than the file system; 0: every one, UINT64_MAX: none. */
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

/* 0: its blocks are written in place; 77: there can be no such file system here. */
static int store_on_btrfs(void)
{
	int fd, flags = 0;

	if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    system("exec >/dev/null 2>&1; truncate -s 120M image && mkfs.btrfs -q image && mkdir m && mount -o loop image m") != 0)
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

static void a_file_system_that_copies_is_told_not_to(void **state)
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
	child = fork();
	if (child == 0)
		_exit(store_on_btrfs());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip(); /* no right to mount, or no btrfs */
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- kept files ---- */

static void open_as_another_user(void)
{
	struct stat info;
	int fd;

	if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
		_exit(1);
	fd = ct_os_open_kept(AT_FDCWD, "own");
	if (fd < 3 || write(fd, "x", 1) != 1 || fstat(fd, &info) != 0 || (info.st_mode & 07777) != CT_OS_KEPT_MODE)
		_exit(2);
	if (ct_os_open_kept(AT_FDCWD, "other") != -1 || errno != EACCES)
		_exit(3);
	if (ct_os_open_kept(AT_FDCWD, "none") != -1 || errno != ENOENT)
		_exit(4);
	if (ct_os_open_kept(AT_FDCWD, "link") != -1 || errno != ELOOP)
		_exit(5);
	_exit(0);
}

static void a_kept_file_is_opened_by_its_owner_and_stays_kept(void **state)
{
	int fd, status;
	pid_t child;

	(void)state;
	if (geteuid() != 0)
		skip(); /* root opens anything */
	for (int i = 0; i < 2; i++) {
		fd = open(i == 0 ? "own" : "other", O_RDWR | O_CREAT | O_CLOEXEC, 0400);
		assert_true(fd >= 0);
		assert_int_equal(close(fd), 0);
	}
	assert_int_equal(chown("own", 65534, 65534) | symlink("own", "link") | chmod(".", 0755), 0);
	child = fork();
	if (child == 0)
		open_as_another_user();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void a_descriptor_of_ours_has_a_high_number(void **state)
{
	struct rlimit before, few;
	int fd, low;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT, &fd), CTRACE_OK);
	assert_true(fd >= 96 && fd < 1024);
	assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	low = open("f", O_RDONLY | O_CLOEXEC);
	assert_true(low < 96); /* the number for a moment is free again */
	ct_os_close(&fd);
	/* Under a small limit, as high as that goes; where nothing is free there, any number above 2. */
	few = (struct rlimit){ .rlim_cur = 8, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR, &fd), CTRACE_OK);
	assert_int_equal(fd, 6);
	assert_int_equal(fcntl(low, F_DUPFD_CLOEXEC, 6), 7);
	ct_os_close(&low);
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR, &low), CTRACE_OK);
	assert_true(low > 2 && low < 6);
	ct_os_close(&low);
	ct_os_close(&fd);
	fd = 7;
	ct_os_close(&fd);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void take_all(const char *name)
{
	if (strcmp(name, "os.opened") != 0)
		return;
	ct_point_set(NULL);
	assert_int_equal(close_range(3, ~0u, 0), 0);
	assert_true(open("program's", O_RDWR | O_CREAT, 0600) >= 0);
}

/* The program closes everything between open() and the move to a high number, and gets the low number for a file of its own. */
static void a_file_is_compared_with_its_name_before_it_is_touched(void **state)
{
	struct stat info;
	int fd;

	(void)state;
	assert_int_equal(system("echo precious > \"program's\"; chmod 644 \"program's\""), 0);
	ct_point_set(take_all);
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT | O_TRUNC, &fd), CTRACE_OK);
	assert_null(ct_point_reached);
	assert_int_equal(stat("program's", &info), 0);
	assert_int_equal(info.st_size, 9);
	assert_int_equal(info.st_mode & 0777, 0644);
	assert_int_equal(fcntl(3, F_GETFD), 0); /* the program's own descriptor is open as it was */
	assert_int_equal(close(3), 0);
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

static void a_file_that_cannot_be_looked_at_is_not_another_one(void **state)
{
	struct ct_file_id id;
	int fd;

	(void)state;
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT, &fd), CTRACE_OK);
	id = ct_os_file_id(fd);
	assert_int_equal(ct_os_identify(fd, &id), CT_OS_SAME);
	ct_os_fail(CT_OS_STAT, 0, 1, ESTALE);
	assert_int_equal(ct_os_identify(fd, &id), CT_OS_UNCLEAR);
	ct_os_fail(CT_OS_STAT, 0, 1, EIO);
	assert_false(ct_os_is_file(fd, &id));
	id.inode++;
	assert_int_equal(ct_os_identify(fd, &id), CT_OS_OTHER);
	assert_int_equal(ct_os_identify(-1, &id), CT_OS_OTHER);
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

static void a_folder_is_opened_by_its_own_name(void **state)
{
	struct stat info;
	int fd;

	(void)state;
	assert_int_equal(system("mkdir folder; ln -s folder link"), 0);
	assert_int_equal(ct_os_open_folder(AT_FDCWD, "folder", &fd), CTRACE_OK);
	assert_true(fd >= 96);
	assert_int_equal(ct_os_stat(fd, &info), CTRACE_OK);
	assert_true(S_ISDIR(info.st_mode));
	ct_os_close(&fd);
	assert_int_not_equal(ct_os_open_folder(AT_FDCWD, "link", &fd), CTRACE_OK);
	assert_int_equal(ct_os_stat_at(AT_FDCWD, "link", &info), CTRACE_OK);
	assert_true(S_ISLNK(info.st_mode));
	assert_int_equal(ct_os_stat_at(AT_FDCWD, "none", &info), CTRACE_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_allocation_that_signals_interrupt_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_size_limit_is_what_the_process_has, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_system_that_copies_is_told_not_to, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_kept_file_is_opened_by_its_owner_and_stays_kept, set_up, tear_down),
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
		cmocka_unit_test_setup_teardown(our_threads_are_ordinary_and_know_the_programs_mask, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_thread_exists_until_it_has_ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_empty_variable_counts_as_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_descriptor_of_ours_is_never_one_of_the_first_three, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_descriptor_is_known_by_its_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_folder_made_by_somebody_else_meanwhile_keeps_its_mode, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_descriptor_of_ours_has_a_high_number, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_is_compared_with_its_name_before_it_is_touched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_interruption_costs_another_try, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_cannot_be_looked_at_is_not_another_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(renaming_aside_replaces_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_folder_is_opened_by_its_own_name, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
