/*
 * test_session_keep.c - the files of a live process stay young, and as long as their mappings.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "own_session_fixture.h"

#include <sys/file.h>

#include "lib/ring/ring.h"
#include "session/session_parts.h"

static struct ct_ring ring;

static void make_old(const char *name)
{
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	assert_int_equal(utimensat(session.directory_fd, name, old, 0), 0);
}

static bool is_young(const char *name)
{
	struct stat info;

	assert_int_equal(fstatat(session.directory_fd, name, &info, 0), 0);
	return info.st_mtime > 1000000 && info.st_atime > 1000000;
}

static void make_live(void)
{
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	assert_int_equal(ct_ring_create(&ring, &session, 0, CT_RING_MIN), CTRACE_OK);
	session.head->ring_count = 1;
}

static void a_touch_makes_everything_young(void **state)
{
	(void)state;
	make_live();
	make_old("session");
	make_old("ring.0");
	make_old(".");
	ct_session_touch(&session);
	assert_true(is_young("session") && is_young("ring.0") && is_young("."));
	/* A cleaner asks for the directory's lock. */
	{
		int fd = open(session.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
		assert_int_equal(close(fd), 0);
	}
	ct_ring_close(&ring);
	ct_session_close(&session, true);
	/* Private memory has nothing to touch. */
	assert_int_equal(ct_session_create(&session, NULL), CTRACE_OK);
	ct_session_touch(&session);
	ct_session_guard_directory(&session);
	assert_false(ct_session_heal(&session));
	ct_session_close(&session, true);
}

/* Closed by the program, with the lock that shows that it lives. */
static void close_and_touch(void)
{
	char name[256];
	int status;
	pid_t pid;

	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK);
	(void)snprintf(name, sizeof name, "%s", session.directory);
	CHILD_CHECK(close(session.file_fd) == 0 && close(session.directory_fd) == 0);
	ct_session_touch(&session);
	pid = fork();
	if (pid == 0) {
		ct_session_close(&session, false);
		_exit(ct_session_load(&session, run_dir, name, true) == CTRACE_TIMED_OUT ? 0 : 1);
	}
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	ct_session_close(&session, true);
}

static void a_touch_locks_again_what_the_program_has_closed(void **state)
{
	(void)state;
	run_child(close_and_touch);
}

static void a_session_that_was_cut_is_made_whole_at_once(void **state)
{
	struct ct_session copy;
	struct stat info;
	char path[5000], name[256];

	(void)state;
	make_live();
	assert_int_equal(ct_session_reserve_component(&session, 3000), CTRACE_OK);
	ct_session_commit_component(&session, 3000);
	assert_int_equal(ct_dest_put_path(&session, 2, "/x"), CTRACE_OK);
	assert_false(ct_session_heal(&session));
	(void)snprintf(path, sizeof path, "%s/session", session.path);
	assert_int_equal(chmod(path, 0600) | truncate(path, 0), 0);
	assert_true(ct_session_lengthen(&session)); /* as the handler of SIGBUS does */
	assert_false(ct_session_lengthen(&session));
	assert_false(ct_session_heal(&session));
	assert_int_equal(chmod(path, 0600) | truncate(path, 0), 0);
	assert_true(ct_session_heal(&session));
	assert_false(ct_session_heal(&session));
	assert_int_equal(fstat(session.file_fd, &info), 0);
	assert_int_equal(info.st_size, session.layout.size);
	assert_true((uint64_t)info.st_blocks * 512 >=
		    sizeof(struct ct_session_head) + sizeof(struct ct_dest_paths) +
			    3001 * sizeof(struct ct_component_entry));
	assert_int_equal(session.head->has_paths, 1u << 2);
	/* No store kills, no trace call finds itself enabled, and readers see a process. */
	session.components[3000].parent = 1;
	assert_int_equal(session.components[2999].level_word.level, CTRACE_LEVEL_NONE);
	assert_int_equal(session.head->pid, getpid());
	(void)snprintf(name, sizeof name, "%s", session.directory);
	(void)snprintf(path, sizeof path, "%s", session.path);
	if (fork() == 0) {
		ct_session_close(&session, false);
		_exit(ct_session_load(&copy, run_dir, name, false) == CTRACE_OK &&
				      copy.head->component_count == 3001
			      ? 0
			      : 1);
	}
	{
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	ct_ring_close(&ring);
	ct_session_close(&session, true);
}

/* ---- another user than root, who owns the files ---- */

static void try_to_cut(void)
{
	char path[5000];

	CHILD_CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK && session.path[0] != '\0');
	CHILD_CHECK(ct_ring_create(&ring, &session, 0, CT_RING_MIN) == CTRACE_OK &&
		    ring.place == CT_RING_IN_DIRECTORY);
	for (int i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof path, "%s/%s", session.path,
			       i == 0 ? "session" : "ring.0");
		CHILD_CHECK(open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) == -1 && errno == EACCES);
		CHILD_CHECK(truncate(path, 0) == -1 && errno == EACCES);
	}
	/* Our own ways in: an external writer's, and the process's own when it has lost its
	 * descriptor. */
	CHILD_CHECK(ct_ring_map(&(struct ct_ring){ 0 }, &session, 0) == CTRACE_OK);
	CHILD_CHECK(close(session.file_fd) == 0 && ct_session_reach(&session));
	for (int i = 0; i < 2; i++) {
		struct stat info;

		(void)snprintf(path, sizeof path, "%s/%s", session.path,
			       i == 0 ? "session" : "ring.0");
		CHILD_CHECK(stat(path, &info) == 0 && (info.st_mode & 07777) == CT_OS_KEPT_MODE);
	}
	session.head->ring_count = 1;
}

static void recover_as_the_owner(const char *name)
{
	CHILD_CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
	CHILD_CHECK(ct_session_load(&session, run_dir, name, true) == CTRACE_OK);
	CHILD_CHECK(ct_session_persist(&session, &session.head->asid, 4) == CTRACE_OK);
	CHILD_CHECK(ct_ring_load(&ring, &session, 0) == CTRACE_OK);
	CHILD_CHECK(ct_ring_persist(&ring, &ring.head->tail, 8) == CTRACE_OK);
	_exit(0);
}

static void its_owner_does_not_cut_it_by_accident(void **state)
{
	char path[64], name[64];
	struct stat info;
	int status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can become another user */
	for (memcpy(path, room, sizeof room); path[0] != '\0'; *strrchr(path, '/') = '\0')
		if (stat(path, &info) == 0 && (info.st_mode & 1) == 0)
			assert_int_equal(chmod(path, 0711), 0);
	assert_int_equal(chown("run", 65534, 65534), 0);
	(void)snprintf(name, sizeof name, "%d.0", (int)run_and_kill(try_to_cut));
	pid = fork();
	if (pid == 0)
		recover_as_the_owner(name);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int test_session_keep(void)
{
	const struct CMUnitTest tests[] = {
		SESSION_TEST(a_touch_makes_everything_young),
		SESSION_TEST(a_touch_locks_again_what_the_program_has_closed),
		SESSION_TEST(a_session_that_was_cut_is_made_whole_at_once),
		SESSION_TEST(its_owner_does_not_cut_it_by_accident),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
