/*
 * test_directory.c - the run directory: which one, whom it is trusted to, and who in it lives.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session_fixture.h"

#include <sys/file.h>
#include <sys/prctl.h>
#include <time.h>

static int set_up(void **state)
{
	(void)state;
	enter_room();
	return unsetenv("CTRACE_RUN_DIR") != 0 || unsetenv("XDG_RUNTIME_DIR") != 0;
}

static int tear_down(void **state)
{
	(void)state;
	leave_room();
	return 0;
}

static mode_t mode_of(const char *path)
{
	struct stat info;

	assert_int_equal(lstat(path, &info), 0);
	return info.st_mode & 07777;
}

static void a_missing_one_is_made_for_us_alone(void **state)
{
	char path[4096];
	mode_t before = umask(0);

	(void)state;
	assert_int_equal(setenv("CTRACE_RUN_DIR", "x/y/run", 1), 0);
	assert_int_equal(ct_directory_run_directory(NULL, path), CTRACE_OK);
	(void)umask(before);
	assert_int_equal(mode_of("x/y/run"), 0700);
}

static void the_environment_goes_before_what_is_configured(void **state)
{
	char path[4096], expected[200];

	(void)state;
	assert_int_equal(ct_directory_run_directory("configured", path), CTRACE_OK);
	assert_int_equal(ct_directory_of_user(path), CTRACE_OK);
	assert_int_equal(ct_directory_run_directory("configured", path), CTRACE_OK);
	(void)snprintf(expected, sizeof expected, "%s/configured", room);
	assert_string_equal(path, expected);
	assert_int_equal(setenv("CTRACE_RUN_DIR", "from-environment", 1), 0);
	assert_int_equal(ct_directory_run_directory("configured", path), CTRACE_OK);
	(void)snprintf(expected, sizeof expected, "%s/from-environment", room);
	assert_string_equal(path, expected);
}

/* `ctrace doctor` has made the directory, and removed it again. */
static void none_is_made_for_a_process_whose_directory_is_left(void **state)
{
	char path[4096];

	(void)state;
	assert_int_equal(setenv("CTRACE_RUN_DIR", "removed/run", 1), 0);
	assert_int_equal(setenv("CTRACE_LEAVE_DIRECTORY", "1", 1), 0);
	assert_true(ct_directory_is_left());
	assert_int_equal(ct_directory_run_directory(NULL, path), CTRACE_NOT_FOUND);
	assert_int_not_equal(access("removed", F_OK), 0);
	assert_int_equal(setenv("CTRACE_LEAVE_DIRECTORY", "losses", 1), 0);
	assert_false(ct_directory_is_left());
	assert_int_equal(ct_directory_run_directory(NULL, path), CTRACE_OK);
	assert_int_equal(unsetenv("CTRACE_LEAVE_DIRECTORY"), 0);
}

static void the_path_is_absolute_so_that_the_program_may_go_elsewhere(void **state)
{
	char path[4096], expected[200];

	(void)state;
	assert_int_equal(ct_directory_run_directory("run", path), CTRACE_OK);
	assert_string_equal(path, run_dir);
	assert_int_equal(ct_directory_run_directory("run///", path), CTRACE_OK);
	assert_string_equal(path, run_dir);
	(void)snprintf(expected, sizeof expected, "%s/./run/", room);
	assert_int_equal(ct_directory_run_directory(expected, path), CTRACE_OK);
	assert_string_equal(path, run_dir);
}

static void a_link_is_refused_however_it_is_spelt(void **state)
{
	char path[4096] = "unchanged";

	(void)state;
	assert_int_equal(symlink("run", "link"), 0);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_equal(ct_directory_run_directory("link", path), CTRACE_DENIED);
	assert_int_equal(ct_directory_run_directory("link/", path), CTRACE_DENIED);
	assert_int_equal(ct_directory_run_directory("dangling", path), CTRACE_DENIED);
	assert_false(exists("nowhere"));
	assert_string_equal(path, "unchanged");
}

static void one_that_others_may_write_to_is_refused(void **state)
{
	static const mode_t modes[] = { 0720, 0702, 0777, 01777 };
	char path[4096];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(modes); i++) {
		assert_int_equal(chmod("run", modes[i]), 0);
		assert_int_equal(ct_directory_run_directory("run", path), CTRACE_DENIED);
	}
	assert_int_equal(chmod("run", 0755), 0); /* others may look */
	assert_int_equal(ct_directory_run_directory("run", path), CTRACE_OK);
}

static void another_users_is_refused(void **state)
{
	char path[4096];

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown("run", 12345, 12345), 0);
	assert_int_equal(ct_directory_run_directory("run", path), CTRACE_DENIED);
}

static void a_file_in_its_place_is_refused(void **state)
{
	char path[4096];

	(void)state;
	put_file("file", "", 0);
	assert_int_not_equal(ct_directory_run_directory("file", path), CTRACE_OK);
	assert_int_not_equal(ct_directory_run_directory("file/below", path), CTRACE_OK);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
	char path[4096];
	char *long_path = malloc(9000);

	(void)state;
	assert_non_null(long_path);
	for (size_t size = 4096; size < 9000; size += size < 4100 ? 1 : 1000) {
		memset(long_path, 'x', size);
		for (size_t i = 50; i < size; i += 100)
			long_path[i] = '/';
		long_path[size] = '\0';
		assert_int_not_equal(ct_directory_run_directory(long_path, path), CTRACE_OK);
	}
	free(long_path);
}

static void the_user_without_a_setting_gets_his_runtime_directory(void **state)
{
	char path[4096], expected[200];

	(void)state;
	assert_int_equal(setenv("XDG_RUNTIME_DIR", room, 1), 0);
	if (geteuid() == 0)
		skip(); /* root's own goes first, and is not for tests to make */
	assert_int_equal(ct_directory_run_directory(NULL, path), CTRACE_OK);
	(void)snprintf(expected, sizeof expected, "%s/ctrace", room);
	assert_string_equal(path, expected);
}

/* ---- what is in it ---- */

static struct ct_directory_entry found[32];
static char names[32][256];
static unsigned found_count;

static void note(const struct ct_directory_entry *entry, void *user)
{
	(void)user;
	if (found_count < CT_COUNT(found)) {
		found[found_count] = *entry;
		(void)snprintf(names[found_count], sizeof names[0], "%s", entry->name);
	}
	found_count++;
}

static void look(void)
{
	found_count = 0;
	ct_directory_each(run_dir, note, NULL);
}

static void only_directories_with_a_process_number_count(void **state)
{
	(void)state;
	assert_int_equal(mkdir("run/123.0", 0700), 0);
	assert_int_equal(mkdir("run/abc", 0700), 0);
	assert_int_equal(mkdir("run/0.1", 0700), 0);
	assert_int_equal(mkdir("run/17", 0700), 0);
	put_file("run/55.0", "", 0);
	put_file("run/asid", "", 0);
	assert_int_equal(symlink("123.0", "run/66.0"), 0);
	look();
	assert_int_equal(found_count, 1);
	assert_string_equal(names[0], "123.0");
	assert_int_equal(found[0].pid, 123);
	assert_int_equal(found[0].uid, geteuid());
	assert_false(found[0].is_alive);
}

static void the_one_that_was_changed_last_comes_last(void **state)
{
	static const char *const in_order[] = { "300.0", "100.0", "400.1", "200.0" };

	(void)state;
	for (unsigned made = 0; made < CT_COUNT(in_order); made++) {
		unsigned i = (made + 2) % CT_COUNT(in_order);
		const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
						   { .tv_sec = 1000 + i / 2, .tv_nsec = i } };
		char path[64];

		(void)snprintf(path, sizeof path, "run/%s", in_order[i]);
		assert_int_equal(mkdir(path, 0700), 0);
		assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	}
	look();
	assert_int_equal(found_count, CT_COUNT(in_order));
	for (unsigned i = 0; i < found_count; i++)
		assert_string_equal(names[i], in_order[i]);
}

static void a_run_directory_that_is_not_there_has_none(void **state)
{
	(void)state;
	found_count = 0;
	ct_directory_each("nowhere", note, NULL);
	assert_int_equal(found_count, 0);
}

static int ready[2], done[2];

static void live_until_reported(void)
{
	struct ct_session session;
	char byte;

	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK && session.path[0] != '\0');
	CHILD_CHECK(write(ready[1], "r", 1) == 1);
	CHILD_CHECK(read(done[0], &byte, 1) == 1);
	(void)raise(SIGKILL);
}

static void a_process_lives_until_it_is_killed(void **state)
{
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(done), 0);
	pid = fork();
	if (pid == 0)
		live_until_reported();
	assert_int_equal(read(ready[0], &byte, 1), 1);
	look();
	assert_int_equal(found_count, 1);
	assert_true(found[0].is_alive);
	assert_int_equal(found[0].pid, pid);
	look(); /* looking does not take the lock away */
	assert_true(found[0].is_alive);
	assert_int_equal(write(done[1], "d", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	look();
	assert_int_equal(found_count, 1);
	assert_false(found[0].is_alive);
}

static void look_at_ourselves(void)
{
	struct ct_session session;
	int status;
	pid_t other;

	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK);
	look();
	CHILD_CHECK(found_count == 1 && found[0].is_alive);
	other = fork();
	if (other == 0) {
		/* As another process sees it after that: the look has not dropped the lock. */
		memset(&found, 0, sizeof found);
		/* forgets whose directory it is; the parent's lock stays */
		ct_session_close(&session, false);
		look();
		_exit(found_count == 1 && found[0].is_alive ? 0 : 1);
	}
	CHILD_CHECK(waitpid(other, &status, 0) == other);
	CHILD_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_process_that_looks_at_itself_lives_on_for_others(void **state)
{
	(void)state;
	run_child(look_at_ourselves);
}

/* As after setuid(), which not even its own user may look into. */
static void live_unseen(void)
{
	struct ct_session session;
	char byte;

	CHILD_CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK && session.path[0] != '\0');
	CHILD_CHECK(prctl(PR_SET_DUMPABLE, 0) == 0);
	CHILD_CHECK(close(session.file_fd) == 0);
	CHILD_CHECK(write(ready[1], "r", 1) == 1);
	CHILD_CHECK(read(done[0], &byte, 1) == 1);
	(void)raise(SIGKILL);
}

static bool other_user_sees_it_alive(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		CHILD_CHECK(setresgid(65534, 65534, 65534) == 0 &&
			    setresuid(65534, 65534, 65534) == 0);
		look();
		CHILD_CHECK(found_count == 1);
		_exit(found[0].is_alive ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 1);
	return WEXITSTATUS(status) == 0;
}

static void a_process_that_cannot_be_looked_into_lives(void **state)
{
	uint64_t other = 1;
	char byte, path[100];
	struct stat info;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can become another user */
	for (memcpy(path, room, sizeof room); path[0] != '\0'; *strrchr(path, '/') = '\0')
		if (stat(path, &info) == 0 && (info.st_mode & 1) == 0)
			assert_int_equal(chmod(path, 0711), 0);
	assert_int_equal(chown("run", 65534, 65534), 0);
	assert_int_equal(pipe(ready) | pipe(done), 0);
	pid = fork();
	if (pid == 0)
		live_unseen();
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_true(other_user_sees_it_alive());
	/* Another process has its number by now, and cannot be looked into either. */
	(void)snprintf(path, sizeof path, "run/%d.0/session", (int)pid);
	poke_file(path, offsetof(struct ct_session_head, process_start), &other, sizeof other);
	assert_false(other_user_sees_it_alive());
	assert_int_equal(write(done[1], "d", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(other_user_sees_it_alive());
}

static void live_without_the_lock(void)
{
	struct ct_session session;
	char byte;

	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK);
	/* as a daemon does that closes all there are; the lock goes with it */
	CHILD_CHECK(close(session.file_fd) == 0);
	CHILD_CHECK(write(ready[1], "r", 1) == 1);
	CHILD_CHECK(read(done[0], &byte, 1) == 1);
	(void)raise(SIGKILL);
}

static void
a_process_that_has_closed_its_descriptors_lives_as_long_as_it_maps_its_session(void **state)
{
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(done), 0);
	pid = fork();
	if (pid == 0)
		live_without_the_lock();
	assert_int_equal(read(ready[0], &byte, 1), 1);
	look();
	assert_int_equal(found_count, 1);
	assert_true(found[0].is_alive);
	assert_int_equal(write(done[1], "d", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	look();
	assert_false(found[0].is_alive);
}

static pid_t dead_process(void)
{
	pid_t dead = fork();

	if (dead == 0)
		_exit(0);
	assert_int_equal(waitpid(dead, NULL, 0), dead);
	return dead;
}

/* A directory that is being made by process pid of a name space; how long ago. */
static void make_new_directory(char path[64], pid_t pid, uint64_t space, long age_seconds)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_NOW },
				     { .tv_sec = time(NULL) - age_seconds } };
	char file[100];

	(void)snprintf(path, 64, "run/.new-%d-%llu-1f", (int)pid, (unsigned long long)space);
	assert_int_equal(mkdir(path, 0700), 0);
	(void)snprintf(file, sizeof file, "%s/session", path);
	put_file(file, "x", 1);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void what_a_dead_maker_left_half_made_is_removed(void **state)
{
	uint64_t space = ct_place_here().process_space;
	char dead[64], living[64];

	(void)state;
	assert_true(space != 0);
	make_new_directory(dead, dead_process(), space, 0);
	make_new_directory(living, 1, space, 1000000);
	look();
	assert_int_equal(found_count, 0);
	assert_false(exists(dead));
	assert_true(exists(living));
}

static void of_another_name_space_only_what_is_old_is_removed(void **state)
{
	uint64_t space = ct_place_here().process_space + 1;
	char young[64], old[64];

	(void)state;
	make_new_directory(young, dead_process(), space, 80000);
	make_new_directory(old, dead_process(), space, 90000);
	assert_int_equal(mkdir("run/.new-7-nonsense", 0700), 0);
	look();
	assert_true(exists(young));
	assert_false(exists(old));
	assert_true(exists("run/.new-7-nonsense"));
}

/* The name space 0: a process makes or removes its own directory, and holds its lock. */
static void of_a_maker_only_what_is_not_locked_is_removed(void **state)
{
	char dead[64], living[64];
	int fd;

	(void)state;
	make_new_directory(dead, dead_process(), 0, 60);
	make_new_directory(living, 1, 0, 60);
	fd = open(living, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
	look();
	assert_false(exists(dead));
	assert_true(exists(living));
	assert_int_equal(close(fd), 0);
	look();
	assert_false(exists(living));
}

/* A tool that watches the run directory looks before the maker has locked it. */
static void of_a_maker_a_young_one_stays(void **state)
{
	char young[64];

	(void)state;
	make_new_directory(young, dead_process(), 0, 0);
	look();
	assert_true(exists(young));
}

static int lock_ready[2], lock_done[2];

/* It lives in another name space: its number says nothing, its lock does. */
static void hold_a_lock(const char *directory)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	char file[100], byte;
	int fd;

	(void)snprintf(file, sizeof file, "%s/session", directory);
	fd = open(file, O_RDWR | O_CLOEXEC);
	CHILD_CHECK(fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0);
	CHILD_CHECK(write(lock_ready[1], "r", 1) == 1);
	CHILD_CHECK(read(lock_done[0], &byte, 1) == 1);
	_exit(0);
}

static void one_whose_session_is_locked_is_not_removed(void **state)
{
	char path[64], byte;
	pid_t pid;

	(void)state;
	make_new_directory(path, dead_process(), ct_place_here().process_space, 0);
	assert_int_equal(pipe(lock_ready) | pipe(lock_done), 0);
	pid = fork();
	if (pid == 0)
		hold_a_lock(path);
	assert_int_equal(read(lock_ready[0], &byte, 1), 1);
	look();
	assert_true(exists(path));
	assert_int_equal(write(lock_done[1], "d", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	look();
	assert_false(exists(path));
}

static void removing_takes_our_files_and_no_others(void **state)
{
	(void)state;
	assert_int_equal(mkdir("run/7.0", 0700), 0);
	put_file("run/7.0/session", "s", 1);
	put_file("run/7.0/ring.0", "r", 1);
	put_file("run/7.0/ring.17", "r", 1);
	put_file("run/7.0/control", "c", 1);
	ct_directory_remove(run_dir, "7.0");
	assert_false(exists("run/7.0"));

	put_file("outside", "precious", 8);
	assert_int_equal(mkdir("elsewhere", 0700), 0);
	put_file("elsewhere/session", "precious", 8);
	assert_int_equal(symlink("../elsewhere", "run/8.0"), 0);
	ct_directory_remove(run_dir, "8.0");
	assert_true(exists("elsewhere/session"));

	assert_int_equal(mkdir("run/9.0", 0700), 0);
	assert_int_equal(symlink("../../outside", "run/9.0/ring.0"), 0);
	ct_directory_remove(run_dir, "9.0");
	assert_true(exists("outside"));
	ct_directory_remove(run_dir, "not there");
	ct_directory_remove("no such run directory", "7.0");
}

static void a_process_removes_its_own(void **state)
{
	struct ct_session session;
	char path[4200];

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	(void)snprintf(path, sizeof path, "%s/ring.0", session.path);
	put_file(path, "r", 1);
	session.head->ring_count = 1;
	ct_directory_remove_own(&session);
	assert_false(exists(session.path));
	ct_session_close(&session, false);

	/* With a ring that is kept ready, and after the program has closed all descriptors. */
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	(void)snprintf(path, sizeof path, "%s/ring.new.3", session.path);
	put_file(path, "r", 1);
	assert_int_equal(close(session.directory_fd), 0);
	ct_directory_remove_own(&session);
	assert_false(exists(session.path));
	ct_session_close(&session, false);
	ct_directory_remove_own(&session); /* private */
}

static void a_directory_that_is_being_removed_is_never_seen_in_part(void **state)
{
	(void)state;
	/* Somebody's own file keeps the directory; but it must not look like a process whose
	 * session is damaged. */
	assert_int_equal(mkdir("run/7.0", 0700), 0);
	put_file("run/7.0/session", "s", 1);
	put_file("run/7.0/notes of mine", "n", 1);
	ct_directory_remove(run_dir, "7.0");
	look();
	assert_int_equal(found_count, 0);
}

static unsigned directories;
static char last_directory[4096];

static void note_directory(const char *path, void *user)
{
	(void)user;
	directories++;
	(void)snprintf(last_directory, sizeof last_directory, "%s", path);
}

static void looking_for_run_directories_makes_none(void **state)
{
	(void)state;
	directories = 0;
	assert_int_equal(setenv("CTRACE_RUN_DIR", "missing", 1), 0);
	ct_directory_each_run_directory(note_directory, NULL);
	assert_int_equal(directories, 0);
	assert_false(exists("missing"));
	assert_int_equal(setenv("CTRACE_RUN_DIR", run_dir, 1), 0);
	ct_directory_each_run_directory(note_directory, NULL);
	assert_int_equal(directories, 1);
	assert_string_equal(last_directory, run_dir);
	assert_int_equal(chmod("run", 0777), 0);
	ct_directory_each_run_directory(note_directory, NULL);
	assert_int_equal(directories, 1);
}

/* Of another user: for requests to its processes alone. */
static void one_that_a_member_may_look_into_is_operated(void **state)
{
	char path[4096];

	(void)state;
	assert_int_equal(unsetenv("CTRACE_RUN_DIR"), 0);
	assert_false(ct_directory_is_operated(path));
	assert_int_equal(setenv("CTRACE_RUN_DIR", run_dir, 1), 0);
	assert_false(ct_directory_is_operated(path)); /* one's own */
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown("run", 12345, 54321) | chmod("run", 0750), 0);
	assert_true(ct_directory_is_operated(path)); /* root looks anywhere */
	assert_string_equal(path, run_dir);
	assert_int_equal(chmod("run", 0770), 0);
	assert_false(ct_directory_is_operated(path)); /* the group may put something there */
	assert_int_equal(chmod("run", 0750) | symlink("run", "link"), 0);
	assert_int_equal(setenv("CTRACE_RUN_DIR", "link/", 1), 0);
	assert_false(ct_directory_is_operated(path));
	assert_int_equal(setenv("CTRACE_RUN_DIR", run_dir, 1), 0);
	directories = 0;
	ct_directory_each_run_directory(note_directory, NULL);
	assert_int_equal(directories, 0);
}

static char last_reason[CT_DIRECTORY_WHY_SIZE];

static void note_refused(const char *path, const char *why, void *user)
{
	note_directory(path, user);
	(void)snprintf(last_reason, sizeof last_reason, "%s", why);
}

static void one_that_is_refused_comes_with_the_reason(void **state)
{
	static const struct {
		const char *path, *why; /* NULL: it is not refused */
	} rows[] = { { "missing", NULL },
		     { "run", NULL },
		     { "link", "it is a symbolic link" },
		     { "file", "it is a file" },
		     { "open", "others may write to it (mode 0777)" },
		     { "others", "it belongs to user 12345" } };

	(void)state;
	assert_int_equal(symlink("run", "link"), 0);
	put_file("file", "", 0);
	assert_int_equal(mkdir("open", 0700) | chmod("open", 0777) | mkdir("others", 0700), 0);
	/* only root can give a directory away */
	for (size_t i = 0; i < CT_COUNT(rows) - (chown("others", 12345, 12345) != 0); i++) {
		directories = 0;
		assert_int_equal(setenv("CTRACE_RUN_DIR", rows[i].path, 1), 0);
		ct_directory_each_refused(note_refused, NULL);
		assert_int_equal(directories, rows[i].why != NULL);
		if (rows[i].why == NULL)
			continue;
		assert_string_equal(last_directory, rows[i].path);
		/* Behind it stand whose it is and what to do. */
		assert_memory_equal(last_reason, rows[i].why, strlen(rows[i].why));
		assert_non_null(strchr(last_reason, ';'));
	}
	assert_false(exists("missing"));
}

static const char *explain(const char *name, bool is_alive, char why[CT_DIRECTORY_WHY_SIZE])
{
	const struct ct_directory_entry entry = {
		.run_directory = run_dir, .name = name, .pid = 17, .is_alive = is_alive
	};

	return ct_directory_explain(&entry, CTRACE_DAMAGED, why);
}

static void what_is_wrong_with_a_directory_is_explained(void **state)
{
#define NEXT ": no event in it can be read; ctrace recover --discard=17 removes the directory"
	char why[CT_DIRECTORY_WHY_SIZE] = "", name[5000];

	(void)state;
	assert_int_equal(mkdir("run/17.0", 0700), 0);
	assert_string_equal(explain("17.0", false, why), "its session file is missing" NEXT);
	put_file("run/17.0/session", "", 0);
	assert_string_equal(explain("17.0", false, why), "its session file was emptied" NEXT);
	assert_string_equal(explain("17.0", true, why), CT_DIRECTORY_CUT);
	put_file("run/17.0/session", "x", 1);
	assert_string_equal(explain("17.0", false, why), "its session file is cut or damaged" NEXT);
	assert_int_equal(unlink("run/17.0/session"), 0);
	assert_int_equal(symlink("/dev/null", "run/17.0/session"), 0);
	assert_string_equal(explain("17.0", false, why),
			    "session is a symbolic link, not a file" NEXT);
	assert_int_equal(mkfifo("run/17.0/ring.1", 0600), 0);
	assert_true(ct_directory_file_is_odd(AT_FDCWD, "run/17.0/ring.1", why));
	assert_string_equal(why, "ring.1 is a FIFO, not a file");
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	assert_string_equal(explain(name, false, why), ctrace_status_text(CTRACE_DAMAGED));
}

int test_directory(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_missing_one_is_made_for_us_alone, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_environment_goes_before_what_is_configured,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(none_is_made_for_a_process_whose_directory_is_left,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			the_path_is_absolute_so_that_the_program_may_go_elsewhere, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_link_is_refused_however_it_is_spelt, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_that_others_may_write_to_is_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(another_users_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_in_its_place_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_path_that_is_too_long_is_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			the_user_without_a_setting_gets_his_runtime_directory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_directories_with_a_process_number_count,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_one_that_was_changed_last_comes_last, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_run_directory_that_is_not_there_has_none, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_process_lives_until_it_is_killed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_looks_at_itself_lives_on_for_others,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_a_dead_maker_left_half_made_is_removed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(of_another_name_space_only_what_is_old_is_removed,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_a_maker_only_what_is_not_locked_is_removed,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_a_maker_a_young_one_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_whose_session_is_locked_is_not_removed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_cannot_be_looked_into_lives, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(removing_takes_our_files_and_no_others, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_process_removes_its_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_directory_that_is_being_removed_is_never_seen_in_part, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_a_member_may_look_into_is_operated, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_that_is_refused_comes_with_the_reason, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_wrong_with_a_directory_is_explained, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(looking_for_run_directories_makes_none, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_process_that_has_closed_its_descriptors_lives_as_long_as_it_maps_its_session,
			set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
