/*
 * test_socket.c - sockets in directories: any length of path, modes, who is at the other end, and
 * why nobody is.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session_fixture.h"

#include <grp.h>
#include <sys/socket.h>

#include "session/socket.h"

static int setup(void **state)
{
	(void)state;
	enter_room();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	leave_room();
	return 0;
}

static int open_room(void);

/* More groups than there is room for without malloc(); the last one counts too. */
static void groups_of_a_peer(void **state)
{
	gid_t groups[200];
	int directory = open_room();
	int listener, client, server;
	pid_t child;
	int status;

	(void)state;
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < CT_COUNT(groups); i++)
		groups[i] = 50000 + (gid_t)i;
	child = fork();
	if (child == 0) {
		CHILD_CHECK(setgroups(CT_COUNT(groups), groups) == 0);
		CHILD_CHECK(ct_socket_listen(directory, room, "here", &listener) == CTRACE_OK);
		CHILD_CHECK(ct_socket_connect(directory, room, "here", &client) == CTRACE_OK);
		server = accept(listener, NULL, NULL);
		CHILD_CHECK(server >= 0);
		CHILD_CHECK(ct_socket_peer_is_in(server, 50000));
		CHILD_CHECK(ct_socket_peer_is_in(server, 50199));
		CHILD_CHECK(!ct_socket_peer_is_in(server, 50200));
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	(void)close(directory);
}

static void a_socket_of_a_group(void **state)
{
	int directory = open_room();
	struct stat info;
	int listener;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(ct_socket_listen(directory, room, "here", &listener), CTRACE_OK);
	assert_true(ct_socket_share(directory, "here", 54321));
	assert_int_equal(stat("here", &info), 0);
	assert_int_equal(info.st_mode & 0777, 0660);
	assert_int_equal(info.st_gid, 54321);
	assert_true(ct_socket_share(directory, "here", 0));
	assert_int_equal(stat("here", &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	assert_false(ct_socket_share(directory, "nothing", 54321));
	/* what is no socket is not given away */
	put_file("file", "", 0);
	assert_false(ct_socket_share(directory, "file", 54321));
	(void)close(listener);
	(void)close(directory);
}

static int open_room(void)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void assert_ours(int fd)
{
	assert_true(fd > 2);
	assert_true((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	assert_true((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
}

static void who_listens_can_be_connected_to(void **state)
{
	int directory = open_room();
	int listener, client, server;
	uint32_t uid = 4711, pid = 0;

	(void)state;
	assert_int_equal(ct_socket_listen(directory, room, "here", &listener), CTRACE_OK);
	assert_int_equal(ct_socket_connect(directory, room, "here", &client), CTRACE_OK);
	server = accept(listener, NULL, NULL);
	assert_true(server >= 0);
	assert_ours(listener);
	assert_ours(client);
	assert_true(ct_socket_peer(client, &uid, &pid));
	assert_int_equal(uid, geteuid());
	assert_true(ct_socket_peer(server, &uid, &pid));
	assert_int_equal(uid, geteuid());
	assert_int_equal(pid, getpid());
	assert_true(ct_socket_peer_is_in(server, getegid()));
	assert_false(ct_socket_peer_is_in(server, 54321));
	assert_int_equal(write(client, "x", 1), 1);
	(void)close(client);
	(void)close(server);
	(void)close(listener);
	(void)close(directory);
}

static void it_takes_the_place_of_what_was_there(void **state)
{
	int directory = open_room();
	int first, second, client;
	struct stat info;

	(void)state;
	assert_int_equal(ct_socket_listen(directory, room, "here", &first), CTRACE_OK);
	assert_int_equal(ct_socket_listen(directory, room, "here", &second), CTRACE_OK);
	assert_int_equal(ct_socket_connect(directory, room, "here", &client), CTRACE_OK);
	assert_true(accept(first, NULL, NULL) < 0);
	(void)close(client);
	(void)close(first);
	(void)close(second);
	put_file("plain", "x", 1);
	assert_int_equal(symlink("plain", "link"), 0);
	assert_int_equal(ct_socket_listen(directory, room, "link", &first), CTRACE_OK);
	assert_int_equal(lstat("link", &info), 0);
	assert_true(S_ISSOCK(info.st_mode));
	assert_int_equal(stat("plain", &info), 0); /* the link went, not what it pointed to */
	assert_int_equal(info.st_size, 1);
	(void)close(first);
	(void)close(directory);
}

static void its_mode_does_not_depend_on_the_umask(void **state)
{
	const mode_t masks[] = { 0, 0777 };
	int directory = open_room();

	(void)state;
	for (size_t i = 0; i < CT_COUNT(masks); i++) {
		mode_t before = umask(masks[i]);
		struct stat info;
		int fd;

		assert_int_equal(ct_socket_listen(directory, room, "here", &fd), CTRACE_OK);
		(void)umask(before);
		assert_int_equal(lstat("here", &info), 0);
		assert_int_equal(info.st_mode & 07777, 0600);
		(void)close(fd);
	}
	(void)close(directory);
}

static void the_path_may_be_longer_than_an_address(void **state)
{
	char name[201], path[300];
	int directory, listener, client;

	(void)state;
	memset(name, 'x', 200);
	name[200] = '\0';
	assert_int_equal(mkdir(name, 0700), 0);
	(void)snprintf(path, sizeof path, "%s/%s", room, name);
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(ct_socket_listen(directory, path, "here", &listener), CTRACE_OK);
	assert_int_equal(ct_socket_connect(directory, path, "here", &client), CTRACE_OK);
	(void)close(client);
	(void)close(listener);
	(void)close(directory);
}

static void why_nobody_is_there_is_reported(void **state)
{
	int directory = open_room();
	int clients[400];
	int listener, fd = 4711;
	unsigned count = 0;
	enum ctrace_status status;

	(void)state;
	assert_int_equal(ct_socket_connect(directory, room, "nobody", &fd), CTRACE_NOT_FOUND);
	put_file("plain", "x", 1);
	assert_int_equal(ct_socket_connect(directory, room, "plain", &fd), CTRACE_NOT_FOUND);
	assert_int_equal(ct_socket_listen(directory, room, "here", &listener), CTRACE_OK);
	do {
		status = ct_socket_connect(directory, room, "here", &fd);
		if (status == CTRACE_OK)
			clients[count++] = fd;
	} while (status == CTRACE_OK && count < CT_COUNT(clients));
	assert_int_equal(status, CTRACE_TIMED_OUT); /* its queue is full */
	while (count > 0)
		(void)close(clients[--count]);
	(void)close(listener);
	assert_int_equal(ct_socket_connect(directory, room, "here", &fd), CTRACE_NOT_FOUND);
	(void)close(directory);
}

static void connect_as_another(void)
{
	int directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd;

	CHILD_CHECK(setuid(65534) == 0);
	CHILD_CHECK(ct_socket_connect(directory, room, "here", &fd) == CTRACE_DENIED);
}

static void the_mode_keeps_others_out(void **state)
{
	int directory = open_room();
	int listener;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(room, 0755), 0);
	assert_int_equal(ct_socket_listen(directory, room, "here", &listener), CTRACE_OK);
	run_child(connect_as_another);
	(void)close(listener);
	(void)close(directory);
}

static void a_name_that_is_too_long_is_refused(void **state)
{
	int directory = open_room();
	char name[200];
	int fd;

	(void)state;
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	assert_int_equal(ct_socket_listen(directory, room, name, &fd), CTRACE_OS_ERROR);
	assert_int_equal(ct_socket_connect(directory, room, name, &fd), CTRACE_OS_ERROR);
	(void)close(directory);
}

static void the_standard_descriptors_stay_free(void)
{
	int fds[2], fd, directory;

	for (int i = 0; i < 3; i++)
		(void)close(i);
	directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* 0 */
	if (ct_socket_pair(fds) != CTRACE_OK || fds[0] <= 2 || fds[1] <= 2 ||
	    fcntl(1, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0)
		_exit(1);
	if (ct_socket_listen(directory, room, "here", &fd) != CTRACE_OK || fd <= 2)
		_exit(2);
	if (ct_socket_connect(directory, room, "here", &fd) != CTRACE_OK || fd <= 2 ||
	    fcntl(1, F_GETFD) >= 0)
		_exit(3);
	if (write(fds[0], "x", 1) != 1)
		_exit(4);
}

static void descriptors_below_three_are_never_taken(void **state)
{
	(void)state;
	run_child(the_standard_descriptors_stay_free);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int test_socket(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_listens_can_be_connected_to),
		TEST(groups_of_a_peer),
		TEST(a_socket_of_a_group),
		TEST(it_takes_the_place_of_what_was_there),
		TEST(its_mode_does_not_depend_on_the_umask),
		TEST(the_path_may_be_longer_than_an_address),
		TEST(why_nobody_is_there_is_reported),
		TEST(the_mode_keeps_others_out),
		TEST(a_name_that_is_too_long_is_refused),
		TEST(descriptors_below_three_are_never_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
