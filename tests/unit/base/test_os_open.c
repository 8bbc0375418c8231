/*
 * test_os_open.c - what is refused, which descriptor a file gets, and that it is known again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "os_fixture.h"

#include <linux/fs.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

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
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT | O_APPEND, &fd),
			 CTRACE_OK);
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
	assert_int_equal(mkdir("directory", 0700), 0);
	assert_int_equal(try_open("pipe", O_RDONLY), CTRACE_DENIED);
	assert_int_equal(try_open("pipe", O_WRONLY), CTRACE_DENIED);
	assert_int_equal(try_open("pipe", O_RDWR), CTRACE_DENIED);
	assert_int_equal(try_open("directory", O_RDONLY), CTRACE_DENIED);
	assert_int_equal(try_open("directory", O_RDWR), CTRACE_DENIED);
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

static void a_directory_is_made_with_its_parents_for_us_alone(void **state)
{
	mode_t before = umask(0);

	(void)state;
	assert_int_equal(ct_os_make_directory("a/b//c/"), CTRACE_OK);
	(void)umask(0777);
	assert_int_equal(ct_os_make_directory("d/e"), CTRACE_OK);
	(void)umask(before);
	assert_int_equal(mode_of("a"), 0700);
	assert_int_equal(mode_of("a/b/c"), 0700);
	assert_int_equal(mode_of("d"), 0700);
	assert_int_equal(mode_of("d/e"), 0700);
	assert_int_equal(chmod("a", 0755), 0);
	assert_int_equal(ct_os_make_directory("a/b"), CTRACE_OK);
	assert_int_equal(mode_of("a"), 0755); /* what was there stays as it was */
}

static void a_directory_that_cannot_be_made_says_so(void **state)
{
	char *long_path = malloc(5001);

	(void)state;
	assert_non_null(long_path);
	memset(long_path, 'x', 5000);
	long_path[5000] = '\0';
	put("file", "x");
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_int_not_equal(ct_os_make_directory(""), CTRACE_OK);
	assert_int_not_equal(ct_os_make_directory(long_path), CTRACE_OK);
	assert_int_not_equal(ct_os_make_directory("file"), CTRACE_OK);
	assert_int_not_equal(ct_os_make_directory("file/below"), CTRACE_OK);
	assert_int_not_equal(ct_os_make_directory("dangling"), CTRACE_OK);
	ct_os_fail(CT_OS_MKDIR, 1, 1, ENOSPC);
	assert_int_equal(ct_os_make_directory("p/q"), CTRACE_OS_ERROR);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(ct_os_make_directory("p/q"), CTRACE_OK);
	free(long_path);
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
	/* a file of no size */
	assert_int_equal(ct_os_read_file("/proc/self/cmdline", 100000, &buf), CTRACE_OK);
	assert_true(buf.size > 0);
	assert_int_equal(mkdir("directory", 0700), 0);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(ct_os_read_file("directory", 100, &buf), CTRACE_DENIED);
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
	assert_int_equal(ct_os_open_file(AT_FDCWD, "trusted/f", O_WRONLY | O_CREAT, &fd),
			 CTRACE_OK);
	assert_int_equal(ct_os_write_at(fd, "text", 4, 0), CTRACE_OK);
	ct_os_close(&fd);
	assert_int_equal(ct_os_read_trusted("trusted", "f", CT_OS_OWN, 100, &buf), CTRACE_OK);
	assert_string_equal(ct_buf_text(&buf), "text");
	ct_buf_clear(&buf);
	assert_int_equal(ct_os_read_trusted("trusted", "missing", CT_OS_OWN, 100, &buf),
			 CTRACE_NOT_FOUND);
	assert_int_equal(ct_os_read_trusted("missing", "f", CT_OS_NAMED, 100, &buf),
			 CTRACE_NOT_FOUND);
	assert_int_equal(ct_os_read_trusted("trusted/f", "f", CT_OS_NAMED, 100, &buf),
			 CTRACE_NOT_FOUND);
	assert_int_equal(ct_os_read_trusted(".", "trusted", CT_OS_NAMED, 100, &buf), CTRACE_DENIED);
	assert_int_equal(symlink("f", "trusted/link"), 0);
	assert_int_equal(ct_os_read_trusted("trusted", "link", CT_OS_OWN, 100, &buf),
			 CTRACE_DENIED);
	assert_int_equal(ct_os_read_trusted("trusted", "link", CT_OS_NAMED, 100, &buf), CTRACE_OK);
	ct_buf_clear(&buf);
	assert_int_equal(chmod("trusted/f", 0660), 0);
	assert_int_equal(ct_os_read_trusted("trusted", "f", CT_OS_OWN, 100, &buf), CTRACE_DENIED);
	assert_int_equal(ct_os_read_trusted("trusted", "f", CT_OS_NAMED, 100, &buf), CTRACE_OK);
	assert_int_equal(chmod("trusted/f", 0606), 0);
	assert_int_equal(ct_os_read_trusted("trusted", "f", CT_OS_NAMED, 100, &buf), CTRACE_DENIED);
	ct_buf_fini(&buf);
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

static void a_directory_made_by_somebody_else_meanwhile_keeps_its_mode(void **state)
{
	(void)state;
	assert_int_equal(mkdir("theirs", 0755), 0);
	ct_os_fail(CT_OS_MKDIR, 0, 1, EEXIST);
	assert_int_equal(ct_os_make_directory("theirs"), CTRACE_OK);
	assert_int_equal(mode_of("theirs"), 0755);
	ct_os_fail(CT_OS_MKDIR, 0, 0, 0);
}

static void open_as_another_user(void)
{
	struct stat info;
	int fd;

	if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
		_exit(1);
	fd = ct_os_open_kept(AT_FDCWD, "own");
	if (fd < 3 || write(fd, "x", 1) != 1 || fstat(fd, &info) != 0 ||
	    (info.st_mode & 07777) != CT_OS_KEPT_MODE)
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
	/* Under a small limit, as high as that goes; where nothing is free there, any number
	 * above 2. */
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

/* The program closes everything between open() and the move to a high number, and gets the low
 * number for a file of its own. */
static void a_file_is_compared_with_its_name_before_it_is_touched(void **state)
{
	struct stat info;
	int fd;

	(void)state;
	assert_int_equal(system("echo precious > \"program's\"; chmod 644 \"program's\""), 0);
	ct_point_set(take_all);
	assert_int_equal(ct_os_open_file(AT_FDCWD, "f", O_RDWR | O_CREAT | O_TRUNC, &fd),
			 CTRACE_OK);
	assert_null(ct_point_reached);
	assert_int_equal(stat("program's", &info), 0);
	assert_int_equal(info.st_size, 9);
	assert_int_equal(info.st_mode & 0777, 0644);
	assert_int_equal(fcntl(3, F_GETFD), 0); /* the program's own descriptor is open as it was */
	assert_int_equal(close(3), 0);
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

static void a_directory_is_opened_by_its_own_name(void **state)
{
	struct ct_file_id id;
	struct stat info;
	int fd;

	(void)state;
	assert_int_equal(system("mkdir directory; ln -s directory link"), 0);
	assert_int_equal(ct_os_open_directory(AT_FDCWD, "directory", &fd, &id), CTRACE_OK);
	assert_true(fd >= 96);
	assert_int_equal(ct_os_stat(fd, &info), CTRACE_OK);
	assert_true(S_ISDIR(info.st_mode));
	assert_true(id.inode == info.st_ino && id.device == info.st_dev);
	ct_os_close(&fd);
	assert_int_not_equal(ct_os_open_directory(AT_FDCWD, "link", &fd, &id), CTRACE_OK);
	assert_int_equal(ct_os_stat_at(AT_FDCWD, "link", &info), CTRACE_OK);
	assert_true(S_ISLNK(info.st_mode));
	assert_int_equal(ct_os_stat_at(AT_FDCWD, "none", &info), CTRACE_NOT_FOUND);
}

/* 0: another world; 1: the same one. */
static int go_elsewhere(bool by_root, const struct ct_world *here)
{
	pid_t pid = fork();
	struct ct_world there;
	int status = -1;

	if (pid == 0) {
		if (by_root ? chroot(room) != 0 : unshare(CLONE_NEWNS) != 0)
			_exit(9);
		there = ct_os_world();
		_exit(ct_world_is_same(here, &there));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

static void another_root_or_mount_name_space_is_another_world(void **state)
{
	struct ct_world here = ct_os_world(), again = ct_os_world();

	(void)state;
	assert_true(here.root.inode != 0 && here.mount != 0);
	assert_true(ct_world_is_same(&here, &again));
	if (geteuid() != 0)
		skip(); /* only root may go */
	assert_int_equal(go_elsewhere(true, &here), 0);
	assert_int_equal(go_elsewhere(false, &here), 0);
}

/* From the same look that found it trustworthy: no later one, which may find another file. */
static void a_file_is_opened_with_what_it_is_known_by(void **state)
{
	const struct ct_file_id untouched = { 4711, 4712 };
	struct ct_file_id id = untouched, again;
	struct stat info;
	int fd = -7, other;

	(void)state;
	assert_int_equal(symlink("f", "link"), 0);
	assert_int_equal(ct_os_open_known(AT_FDCWD, "missing", O_RDWR, &fd, &id), CTRACE_NOT_FOUND);
	assert_int_equal(ct_os_open_known(AT_FDCWD, "link", O_RDWR | O_CREAT, &fd, &id),
			 CTRACE_DENIED);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(ct_os_open_known(AT_FDCWD, "pipe", O_RDWR, &fd, &id), CTRACE_DENIED);
	assert_int_equal(fd, -7); /* out only on success */
	assert_memory_equal(&id, &untouched, sizeof id);

	assert_int_equal(ct_os_open_known(AT_FDCWD, "f", O_RDWR | O_CREAT, &fd, &id), CTRACE_OK);
	assert_int_equal(stat("f", &info), 0);
	assert_true(id.device == info.st_dev && id.inode == info.st_ino);
	again = ct_os_file_id(fd);
	assert_memory_equal(&id, &again, sizeof id);
	assert_int_equal(ct_os_open_known(AT_FDCWD, "g", O_RDWR | O_CREAT, &other, &again),
			 CTRACE_OK);
	assert_int_not_equal(id.inode, again.inode);
	ct_os_close(&fd);
	ct_os_close(&other);
}

static void a_directory_is_read_through_its_descriptor(void **state)
{
	const struct dirent *entry;
	unsigned found = 0;
	DIR *directory;
	int fd;

	(void)state;
	put("f", "");
	fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	directory = ct_os_directory_stream(fd);
	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL)
		found += strcmp(entry->d_name, "f") == 0;
	assert_int_equal(found, 1);
	assert_int_equal(closedir(directory), 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1); /* the stream had it */
	assert_null(ct_os_directory_stream(-1));
	fd = open("f", O_RDONLY | O_CLOEXEC);
	assert_null(ct_os_directory_stream(fd));
	assert_int_equal(close(fd), 0);
}

static void a_kept_file_is_made_once_with_its_mode_and_size(void **state)
{
	static const mode_t masks[] = { 0, 022, 0777 };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(masks); i++) {
		mode_t before = umask(masks[i]);
		struct ct_file_id id;
		struct stat info;
		int fd, again;

		assert_int_equal(ct_os_make_kept(AT_FDCWD, "kept", &fd, &id), CTRACE_OK);
		(void)umask(before);
		assert_int_equal(mode_of("kept"), CT_OS_KEPT_MODE);
		assert_true(ct_os_is_file(fd, &id));
		assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
		assert_int_equal(ct_os_extend(fd, 100000), CTRACE_OK);
		assert_int_equal(ct_os_allocate_quietly(fd, 0, 8192), CTRACE_OK);
		assert_int_equal(fstat(fd, &info), 0);
		assert_int_equal(info.st_size, 100000);
		assert_true(info.st_blocks >= 16);
		assert_int_equal(ct_os_make_kept(AT_FDCWD, "kept", &again, &id), CTRACE_OS_ERROR);
		assert_int_equal(errno, EEXIST);
		ct_os_close(&fd);
		assert_int_equal(unlink("kept"), 0);
	}
}

int test_os_open(void)
{
	const struct CMUnitTest tests[] = {
		TEST(another_root_or_mount_name_space_is_another_world),
		TEST(a_kept_file_is_made_once_with_its_mode_and_size),
		TEST(a_kept_file_is_opened_by_its_owner_and_stays_kept),
		TEST(a_new_file_has_mode_0600_whatever_the_umask_is),
		TEST(the_descriptor_closes_at_exec_and_blocks_as_usual),
		TEST(a_link_is_never_followed),
		TEST(a_file_with_another_name_is_refused_untouched),
		TEST(what_is_no_regular_file_is_refused_without_waiting),
		TEST(another_users_file_is_refused),
		TEST(what_is_not_there_is_not_found),
		TEST(a_directory_is_made_with_its_parents_for_us_alone),
		TEST(a_directory_that_cannot_be_made_says_so),
		TEST(a_whole_file_is_read_up_to_the_limit),
		TEST(what_others_may_write_is_not_trusted),
		TEST(closing_keeps_errno),
		TEST(a_descriptor_of_ours_is_never_one_of_the_first_three),
		TEST(a_descriptor_is_known_by_its_file),
		TEST(a_directory_made_by_somebody_else_meanwhile_keeps_its_mode),
		TEST(a_descriptor_of_ours_has_a_high_number),
		TEST(a_file_is_compared_with_its_name_before_it_is_touched),
		TEST(a_file_that_cannot_be_looked_at_is_not_another_one),
		TEST(a_directory_is_opened_by_its_own_name),
		TEST(a_file_is_opened_with_what_it_is_known_by),
		TEST(a_directory_is_read_through_its_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
