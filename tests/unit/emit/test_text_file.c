/*
 * test_text_file.c - the open file on its own: locks, generations' names, and what resuming does to
 * bytes behind the place.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "emit_fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>

static int init(void **state)
{
	*state = fixture_create(&ct_emit_textfile);
	return 0;
}

static int fini(void **state)
{
	fixture_destroy(*state);
	return 0;
}

static const char *name_of(const struct ct_text_file *file)
{
	return strrchr(file->path, '/') + 1;
}

static void names_of_generations(void **state)
{
	static const struct {
		const char *file;
		enum ct_text_sharing sharing;
		const char *name;
	} rows[] = {
		{ "a.log", CT_TEXT_OWN, "a.log" },
		{ "b$(GEN).log", CT_TEXT_OWN, "b2.log" },
		{ "c$(GEN).log", CT_TEXT_GENERATION, "c2.log" },
		{ "d$(gen).log", CT_TEXT_GENERATION, "d2.log" },
		{ "e.log", CT_TEXT_GENERATION, "e.log_2" },
		{ "f.log", CT_TEXT_SHARED, "f.log" },
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		struct ct_text_file file;

		ct_text_file_init(&file);
		fixture_set(fixture, "FILE", rows[i].file);
		assert_int_equal(
			ct_text_file_create(&file, &fixture->context, 2, rows[i].sharing, NULL),
			CTRACE_OK);
		assert_string_equal(name_of(&file), rows[i].name);
		assert_int_equal(file.generation, 2);
		assert_true(file.header_due);
		ct_text_file_close(&file);
		assert_int_equal(file.fd, -1);
	}
}

static void generations_begin_empty_others_continue(void **state)
{
	static const enum ct_text_sharing sharings[] = { CT_TEXT_OWN, CT_TEXT_GENERATION,
							 CT_TEXT_SHARED };
	struct fixture *fixture = *state;

	fixture_set(fixture, "FILE", "x$(GEN)");
	for (size_t i = 0; i < CT_COUNT(sharings); i++) {
		struct ct_text_file file;

		fixture_put(fixture, "x1", "before\n");
		ct_text_file_init(&file);
		assert_int_equal(
			ct_text_file_create(&file, &fixture->context, 1, sharings[i], NULL),
			CTRACE_OK);
		assert_int_equal(file.size, sharings[i] == CT_TEXT_GENERATION ? 0 : 7);
		assert_int_equal(file.header_due, sharings[i] != CT_TEXT_SHARED);
		ct_text_file_close(&file);
	}
}

/* A failed opening leaves no descriptor behind. */
static void failures_leak_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct ct_text_file file;

	fixture->context.recovering = true;
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;

	fixture_set(fixture, "FILE", "x");
	ct_text_file_init(&file);
	for (unsigned i = 0; i < 100; i++) {
		ct_os_fail(CT_OS_TRUNCATE, 0, 9, EIO);
		assert_int_equal(
			ct_text_file_create(&file, &fixture->context, 1, CT_TEXT_GENERATION, NULL),
			CTRACE_OS_ERROR);
		assert_int_equal(file.fd, -1);
		ct_os_fail(CT_OS_TRUNCATE, 0, 0, 0);
		(void)snprintf(fixture->place.path, sizeof fixture->place.path, "%s/x_1",
			       fixture->directory);
		fixture_put(fixture, "x_1", "tail\n");
		fixture->place.offset = 0;
		ct_os_fail(CT_OS_TRUNCATE, 0, 9, EIO);
		fixture_put(fixture, "x_1",
			    "# -MFTRACE Text Emitter-\n# ProcessId        = 17356\n");
		assert_int_equal(ct_text_file_resume(&file, &fixture->context, CT_TEXT_OWN),
				 CTRACE_OS_ERROR);
		assert_int_equal(file.fd, -1);
		ct_os_fail(CT_OS_TRUNCATE, 0, 0, 0);
	}
	close(before);
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(before, after);
	close(after);
}

struct tail {
	const char *text; /* of the file; the place is behind "start\n" */
	bool header_due;
	uint64_t size; /* after resuming */
};

static void what_resuming_cuts(void **state)
{
#define HEADER(PID) \
	"# -MFTRACE Text Emitter-\n# CommandLine      = x\n# ProcessId        = " PID "\n"
	static const struct tail tails[] = {
		{ "start\n", false, 6 },
		{ "sta", false, 3 },
		{ "start\nline\nline\nhalf", false, 6 },
		{ "start\nline # -MFTRACE Text Emitter-\n", false, 6 },
		{ "start\n" HEADER("17356") "line\nhal", true, 6 },
		{ "start\n" HEADER("17356") "line\n" HEADER("99") "other\n", true, 0 },
		{ "start\n" HEADER("99") "other\n", true, 0 },
		{ "start\n" HEADER("99") "other\n", false, 0 },
		{ "start\n" HEADER("17356") "line\n", false, 0 },
		{ "start\nline\n" HEADER("99") "other\n", false, 0 },
		{ "start\nhalf of a header: # -MFTR", false, 6 },
		{ "start\n# -MFTR", true, 6 },
		{ "start\n# -MFTRACE Text Emitter-\n# CommandLine      = x\n# Proc", true, 6 },
		{ "start\n# a note", true, 0 },
	};
	struct fixture *fixture = *state;

	fixture->context.recovering = true;
	for (size_t i = 0; i < CT_COUNT(tails); i++) {
		uint64_t whole = strlen(tails[i].text);
		struct ct_text_file file;
		struct stat info;

		fixture_put(fixture, "t", tails[i].text);
		memset(&fixture->place, 0, sizeof fixture->place);
		(void)snprintf(fixture->place.path, sizeof fixture->place.path, "%s/t",
			       fixture->directory);
		fixture->place.offset = 6;
		fixture->place.extra = 3 | (tails[i].header_due ? 1ull << 63 : 0);
		ct_text_file_init(&file);
		assert_int_equal(ct_text_file_resume(&file, &fixture->context, CT_TEXT_OWN),
				 CTRACE_OK);
		assert_int_equal(file.size, tails[i].size == 0 ? whole : tails[i].size);
		assert_int_equal(fstat(file.fd, &info), 0);
		assert_int_equal(info.st_size, file.size);
		assert_int_equal(file.generation, 3);
		/* Behind another's lines begins a file of its own, so to say. */
		assert_int_equal(file.header_due, tails[i].size == 0 || tails[i].header_due);
		ct_text_file_close(&file);
	}
#undef HEADER
}

/* The command line is so long that the search does not see whose header it is: it is not ours to
 * cut. */
static void headers_of_long_commands(void **state)
{
	struct fixture *fixture = *state;
	static char text[40000];
	static const char head[] = "start\n# -MFTRACE Text Emitter-\n# CommandLine      = ";
	struct ct_text_file file;

	memset(text, 'x', sizeof text - 1);
	memcpy(text, head, sizeof head - 1);
	fixture_put(fixture, "t", text);
	fixture->context.recovering = true;
	(void)snprintf(fixture->place.path, sizeof fixture->place.path, "%s/t", fixture->directory);
	fixture->place.offset = 6;
	fixture->place.extra = 1 | 1ull << 63;
	ct_text_file_init(&file);
	assert_int_equal(ct_text_file_resume(&file, &fixture->context, CT_TEXT_OWN), CTRACE_OK);
	assert_int_equal(file.size, sizeof text - 1);
	/* What ends within a line gets an end before ours begins. */
	assert_int_equal(ct_text_file_check(&file, CT_TEXT_OWN), CTRACE_OK);
	assert_int_equal(file.size, sizeof text);
	assert_int_equal(fixture_count(fixture, "t", "x\n"), 1);
	ct_text_file_close(&file);
}

/* A header that lies across two windows of the search. */
static void headers_at_every_offset(void **state)
{
	struct fixture *fixture = *state;
	static char text[40000];
	const char mark[] = "\n# -MFTRACE Text Emitter-\n";

	fixture->context.recovering = true;
	(void)snprintf(fixture->place.path, sizeof fixture->place.path, "%s/t", fixture->directory);
	fixture->place.offset = 6;
	fixture->place.extra = 1;
	for (size_t at = 16384 - 40; at < 16384 + 20; at++) {
		struct ct_text_file file;

		memset(text, 'x', sizeof text - 1);
		memcpy(text, "start\n", 6);
		memcpy(text + at, mark, sizeof mark - 1);
		fixture_put(fixture, "t", text);
		ct_text_file_init(&file);
		assert_int_equal(ct_text_file_resume(&file, &fixture->context, CT_TEXT_OWN),
				 CTRACE_OK);
		assert_int_equal(file.size, sizeof text - 1);
		ct_text_file_close(&file);
	}
}

static void resuming_what_another_process_has(void **state)
{
	struct fixture *fixture = *state;
	struct ct_text_file file;
	char path[1024];
	int other;

	fixture->context.recovering = true;
	fixture_put(fixture, "t", "start\nbehind\n");
	(void)snprintf(path, sizeof path, "%s/t", fixture->directory);
	memcpy(fixture->place.path, path, strlen(path) + 1);
	fixture->place.offset = 6;
	other = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(other, LOCK_EX), 0);
	ct_text_file_init(&file);
	assert_int_equal(ct_text_file_resume(&file, &fixture->context, CT_TEXT_OWN),
			 CTRACE_TIMED_OUT);
	assert_int_equal(fixture_count(fixture, "t", "behind"), 1);
	close(other);
	assert_int_equal(ct_text_file_resume(&file, &fixture->context, CT_TEXT_OWN), CTRACE_OK);
	ct_text_file_close(&file);
}

/* A process that is stopped while it holds the lock holds nobody else up for ever. */
static void shared_lock_is_given_up(void **state)
{
	struct fixture *fixture = *state;
	struct ct_text_file one, two;

	fixture_set(fixture, "FILE", "s");
	ct_text_file_init(&one);
	ct_text_file_init(&two);
	assert_int_equal(ct_text_file_create(&one, &fixture->context, 1, CT_TEXT_SHARED, NULL),
			 CTRACE_OK);
	assert_int_equal(ct_text_file_create(&two, &fixture->context, 1, CT_TEXT_SHARED, NULL),
			 CTRACE_OK);
	assert_int_equal(ct_text_file_lock(&one), CTRACE_OK);
	assert_int_equal(ct_text_file_lock(&two), CTRACE_TIMED_OUT);
	assert_int_equal(errno, EWOULDBLOCK);
	ct_text_file_unlock(&one);
	assert_int_equal(ct_text_file_lock(&two), CTRACE_OK);
	ct_text_file_close(&two);
	assert_int_equal(ct_text_file_lock(&one), CTRACE_OK);
	ct_text_file_close(&one);
}

/* A program that closes descriptors that are not its own, and opens files of its own there. */
static void a_descriptor_that_the_program_took_is_left_alone(void **state)
{
	static const enum ct_text_sharing sharings[] = { CT_TEXT_OWN, CT_TEXT_GENERATION,
							 CT_TEXT_SHARED };
	struct fixture *fixture = *state;

	for (size_t i = 0; i < CT_COUNT(sharings); i++) {
		struct ct_text_file file;
		int taken;

		ct_text_file_init(&file);
		fixture_set(fixture, "FILE", "taken.log");
		assert_int_equal(
			ct_text_file_create(&file, &fixture->context, 1, sharings[i], NULL),
			CTRACE_OK);
		assert_int_equal(close(file.fd), 0);
		assert_int_equal(ct_text_file_check(&file, sharings[i]), CTRACE_NOT_FOUND);
		taken = open("/dev/null", O_RDWR);
		assert_int_equal(dup2(taken, file.fd), file.fd);
		assert_int_equal(close(taken), 0);
		taken = file.fd;
		assert_int_equal(ct_text_file_check(&file, sharings[i]), CTRACE_NOT_FOUND);
		assert_int_equal(ct_text_file_lock(&file), CTRACE_NOT_FOUND);
		ct_text_file_close(&file);
		assert_int_equal(file.fd, -1);
		assert_int_equal(close(taken), 0);
	}
}

static void places_come_back_as_they_went(void **state)
{
	struct fixture *fixture = *state;
	struct ct_text_file file, again;

	fixture_set(fixture, "FILE", "p");
	ct_text_file_init(&file);
	assert_int_equal(ct_text_file_create(&file, &fixture->context, 7, CT_TEXT_GENERATION, NULL),
			 CTRACE_OK);
	for (unsigned due = 0; due < 2; due++) {
		fixture_put(fixture, "p_7", due ? "" : "12345");
		file.size = due ? 0 : 5;
		file.header_due = due != 0;
		ct_text_file_get_place(&file, &fixture->place);
		assert_int_equal(fixture->place.offset, file.size);
		ct_text_file_close(&file);
		fixture->context.recovering = true;
		ct_text_file_init(&again);
		assert_int_equal(ct_text_file_resume(&again, &fixture->context, CT_TEXT_GENERATION),
				 CTRACE_OK);
		assert_string_equal(again.path, file.path);
		assert_int_equal(again.size, file.size);
		assert_int_equal(again.generation, 7);
		assert_int_equal(again.header_due, due);
		ct_text_file_close(&again);
	}
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, init, fini)

int test_text_file(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(names_of_generations),
		WITH_FIXTURE(generations_begin_empty_others_continue),
		WITH_FIXTURE(failures_leak_nothing),
		WITH_FIXTURE(what_resuming_cuts),
		WITH_FIXTURE(headers_of_long_commands),
		WITH_FIXTURE(headers_at_every_offset),
		WITH_FIXTURE(resuming_what_another_process_has),
		WITH_FIXTURE(shared_lock_is_given_up),
		WITH_FIXTURE(a_descriptor_that_the_program_took_is_left_alone),
		WITH_FIXTURE(places_come_back_as_they_went),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
