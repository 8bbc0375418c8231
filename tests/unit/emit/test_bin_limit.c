/*
 * test_bin_limit.c - the parts of a BINFILE that share the room of a LOCATION, and the mark of a
 * `ctrace run`.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

static void what_is_left_out_is_found_again(void **state)
{
	const struct ct_bin_left_out first = { 3, 40, 100, 200 }, second = { 5, 60, 50, 150 },
				     none = { 0, 0, 1, 1000 };
	struct ct_bin_left_out sum = { 0 }, found = { 0 };
	struct ct_buf text = { 0 };

	(void)state;
	ct_bin_left_out_print(&text, &sum); /* nothing to report */
	assert_int_equal(text.size, 0);
	ct_bin_left_out_add(&sum, &first);
	ct_bin_left_out_add(&sum, &none);
	ct_bin_left_out_add(&sum, &second);
	assert_false(ct_bin_left_out_find("", 0, &found));
	ct_buf_add_text(&text, "trace {};\n");
	ct_bin_left_out_print(&text, &sum);
	assert_true(ct_bin_left_out_find(text.data, text.size, &found));
	assert_int_equal(found.events, 8);
	assert_int_equal(found.bytes, 100);
	assert_int_equal(found.begin_ns, 50);
	assert_int_equal(found.end_ns, 200);
	/* A text that ends in the middle is no mark. */
	for (size_t size = 0; size < text.size - sizeof CT_BIN_MARK_END - 4; size++)
		assert_false(ct_bin_left_out_find(text.data, size, &found));
	ct_buf_fini(&text);
}

/* The model: the first part stays; each other one that goes is the oldest, never the present one;
 * the events of parts and of what they left out are all events. */
static void the_oldest_part_but_the_first_makes_room(void **state)
{
	struct ct_bin_limit limit = { .total = 1 }; /* reached at once */
	struct ct_bin_directory directory = { .fd = open(".", O_RDONLY | O_DIRECTORY) };
	const struct ctrace_run run = { .event_count = 7, .size = 70, .begin_ns = 1, .end_ns = 2 };
	const struct ctrace_batch batch = { .runs = &run, .run_count = 1 };
	uint32_t present = 1, before = 0;

	(void)state;
	ct_bin_limit_begin(&limit, present, NULL);
	for (unsigned i = 1; i < 1000; i++) {
		struct ct_bin_left_out left_out;
		uint64_t events = 0;
		uint32_t next;

		ct_bin_limit_count(&limit, present, &batch);
		for (uint32_t part = 0; part < limit.used; part++)
			events +=
				limit.parts[part].events.events + limit.parts[part].left_out.events;
		assert_int_equal(events, (uint64_t)7 * i);
		assert_false(ct_bin_limit_extend(&limit, &directory));
		next = ct_bin_limit_next(&limit, present, &directory, &left_out);
		assert_int_not_equal(next, 1);
		assert_int_not_equal(next, present);
		assert_true(i < 3 || next == before);
		ct_bin_limit_begin(&limit, next, &left_out);
		before = present;
		present = next;
	}
	assert_int_equal(limit.used, 3);
	assert_true(ct_bin_limit_small(&limit) > 0);
	(void)close(directory.fd);
}

/* Other directories in LOCATION are not the trace's to count. */
static void only_traces_count(void **state)
{
	static const char *const names[] = { "all/trace", "all/other" };
	struct ct_bin_limit limit = { .total = (uint64_t)64 << 20 };
	struct ct_bin_directory directory = { 0 };
	int fds[CT_COUNT(names)], file;

	(void)state;
	(void)mkdir("all", 0700);
	for (size_t i = 0; i < CT_COUNT(names); i++) {
		(void)mkdir(names[i], 0700);
		fds[i] = open(names[i], O_RDONLY | O_DIRECTORY);
		file = openat(fds[i], "large", O_WRONLY | O_CREAT, 0600);
		assert_int_equal(ftruncate(file, (off_t)limit.total), 0);
		(void)close(file);
	}
	directory.fd = fds[0];
	assert_true(ct_bin_limit_extend(&limit, &directory));
	for (size_t i = CT_COUNT(names); i-- > 0;) {
		directory.size_limit = 0;
		file = openat(fds[i], "metadata", O_WRONLY | O_CREAT, 0600);
		(void)close(file);
		assert_false(ct_bin_limit_extend(&limit, &directory));
		(void)unlinkat(fds[i], "metadata", 0);
		(void)unlinkat(fds[i], "large", 0);
		(void)close(fds[i]);
		(void)rmdir(names[i]);
	}
	(void)rmdir("all");
}

static void mark_put(const char *text)
{
	int fd = open("run/" CT_FILE_RUN_MARK, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

static void a_run_runs_ends_or_was_killed(void **state)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char location[4096];
	int fd;

	(void)state;
	assert_non_null(getcwd(location, sizeof location - 8));
	(void)strcat(location, "/run");
	assert_int_equal(ct_file_run_look(location, "12ab"), CT_FILE_RUN_UNKNOWN);
	(void)mkdir("run", 0700);
	mark_put("12ab");
	assert_int_equal(ct_file_run_look(location, "12ab"), CT_FILE_RUN_ENDED);
	assert_int_equal(ct_file_run_look(location, "12ac"), CT_FILE_RUN_UNKNOWN);
	assert_int_equal(ct_file_run_look("run", "12ab"), CT_FILE_RUN_UNKNOWN);
	mark_put("12ab" CT_FILE_RUN_GOES_ON);
	assert_int_equal(ct_file_run_look(location, "12ab"), CT_FILE_RUN_KILLED);
	fd = open("run/" CT_FILE_RUN_MARK, O_RDWR);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &whole), 0);
	assert_int_equal(ct_file_run_look(location, "12ab"), CT_FILE_RUN_RUNS);
	(void)rename("run", "run.old");
	assert_int_equal(ct_file_run_look(location, "12ab"), CT_FILE_RUN_RUNS);
	(void)close(fd);
	assert_int_equal(ct_file_run_look(location, "12ab"), CT_FILE_RUN_KILLED);
	(void)unlink("run.old/" CT_FILE_RUN_MARK);
	(void)rmdir("run.old");
}

static void the_socket_has_the_name_of_the_directory(void **state)
{
	struct sockaddr_un name;
	size_t size = ct_file_run_socket("/tmp/ctrace-run.AbCd12/mftrace.cfg", &name);

	(void)state;
	assert_int_equal(size, offsetof(struct sockaddr_un, sun_path) + 18);
	assert_memory_equal(name.sun_path, "\0ctrace-run.AbCd12", 18);
	assert_int_equal(ct_file_run_socket("/tmp/ctrace-ran.AbCd12/mftrace.cfg", &name), 0);
	assert_int_equal(ct_file_run_socket("ctrace-run.AbCd12/mftrace.cfg", &name), 0);
	assert_int_equal(ct_file_run_socket("/etc/mftrace.cfg", &name), 0);
	assert_int_equal(ct_file_run_socket("", &name), 0);
}

static void a_run_hears_what_its_trace_does_not_have(void **state)
{
	static const char config[] = "/tmp/ctrace-run.HearIt/mftrace.cfg";
	struct sockaddr_un name;
	size_t size = ct_file_run_socket(config, &name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	char byte = 'x';

	(void)state;
	assert_int_equal(bind(fd, (const struct sockaddr *)&name, (socklen_t)size), 0);
	ct_file_run_report("/etc/mftrace.cfg", CT_FILE_RUN_INNER); /* no run's */
	assert_int_equal(recv(fd, &byte, 1, 0), -1);
	ct_file_run_report(config, CT_FILE_RUN_INNER);
	assert_int_equal(recv(fd, &byte, 1, 0), 1);
	assert_int_equal(byte, CT_FILE_RUN_INNER);
	assert_int_equal(close(fd), 0);
}

int test_bin_limit(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_left_out_is_found_again),
		cmocka_unit_test(the_oldest_part_but_the_first_makes_room),
		cmocka_unit_test(only_traces_count),
		cmocka_unit_test(the_socket_has_the_name_of_the_directory),
		cmocka_unit_test(a_run_hears_what_its_trace_does_not_have),
		cmocka_unit_test(a_run_runs_ends_or_was_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
