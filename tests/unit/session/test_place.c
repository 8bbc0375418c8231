/*
 * test_place.c - whether a path means the same file to two processes, and whether a pid the same
 * process.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "own_session_fixture.h"

#include <sched.h>

/* ---- places ---- */

static void set_path(uint32_t dest, const char *path)
{
	assert_int_equal(ct_dest_put_path(&session, dest, path), CTRACE_OK);
	session.head->dest[dest].sequence++;
}

static void what_the_kernel_prints_is_read_once(void **state)
{
	char boot[40], text[8];

	(void)state;
	assert_int_equal(ct_place_read("no such file", text, sizeof text), 0);
	assert_string_equal(text, "");
	assert_int_equal(ct_place_read("/proc/self/stat", text, sizeof text), sizeof text - 1);
	ct_place_boot(boot);
	assert_int_equal(strlen(boot), 36);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	ct_session_note_origin(&session, true);
	assert_string_equal(session.head->boot_id, boot);
	ct_session_close(&session, true);
}

static void where_we_are_is_here(void **state)
{
	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	ct_session_note_origin(&session, true);
	assert_true(session.head->place.root_inode != 0 && session.head->place.mount_space != 0 &&
		    session.head->place.process_space != 0);
	assert_true(ct_place_is_here(&session));
	set_path(1, "/nonexistent/x/out.log"); /* a directory that is gone is made again */
	assert_true(ct_place_is_here(&session));
	ct_session_close(&session, true);
}

static void another_root_or_name_space_is_elsewhere(void **state)
{
	struct ct_session_place here;

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	ct_session_note_origin(&session, true);
	here = session.head->place;
	session.head->place.root_device++;
	assert_false(ct_place_is_here(&session));
	session.head->place = here;
	session.head->place.root_inode++;
	assert_false(ct_place_is_here(&session));
	session.head->place = here;
	session.head->place.mount_space++;
	assert_false(ct_place_is_here(&session));
	session.head->place = here;
	session.head->place.process_space++;
	assert_false(ct_place_is_here(&session));
	/* Not known, where there is no /proc. */
	session.head->place.process_space = session.head->place.mount_space = 0;
	assert_true(ct_place_is_here(&session));
	ct_session_close(&session, true);
}

/* Of another boot nothing is left but the root directory's inode. */
static void what_another_boot_had_does_not_count(void **state)
{
	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	ct_session_note_origin(&session, true);
	session.head->place.mount_space++;
	session.head->place.root_device++;
	assert_false(ct_place_is_here(&session));
	session.head->boot_id[0] = session.head->boot_id[0] == 'a' ? 'b' : 'a';
	assert_true(ct_place_is_here(&session));
	session.head->place.root_inode++;
	assert_false(ct_place_is_here(&session));
	ct_session_close(&session, true);
}

/* A service has name spaces of its own, and others when it is started again. */
static void outputs_that_are_in_the_same_directories_are_here(void **state)
{
	char path[200];

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	ct_session_note_origin(&session, true);
	assert_int_equal(mkdir("out", 0700) | mkdir("log", 0700), 0);
	(void)snprintf(path, sizeof path, "%s/out/a.log", room);
	set_path(1, path);
	ct_place_note(&session, 1);
	(void)snprintf(path, sizeof path, "%s/log/b.log", room);
	set_path(2, path);
	ct_place_note(&session, 2);
	session.head->place.mount_space++;
	assert_true(ct_place_is_here(&session));
	assert_int_equal(mkdir("other", 0700) | rmdir("log") | rename("other", "log"), 0);
	assert_false(ct_place_is_here(&session));
	set_path(2, "");
	assert_true(ct_place_is_here(&session));
	set_path(3, "/x.log"); /* never noted */
	assert_false(ct_place_is_here(&session));
	ct_place_note(&session, 3);
	session.head->place.mount_space++;
	assert_true(ct_place_is_here(&session));
	set_path(3, "x.log");
	assert_false(ct_place_is_here(&session));
	ct_session_close(&session, true);
}

static void live_in_a_mount_space_of_our_own(void)
{
	CHILD_CHECK(unshare(CLONE_NEWNS) == 0);
	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK);
	ct_session_note_origin(&session, true);
}

static void live_under_another_root(void)
{
	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK);
	ct_session_note_origin(&session, true);
	CHILD_CHECK(chroot(room) == 0);
	set_path(1, "/out/a.log"); /* that the process opened after it had gone there */
	ct_place_note(&session, 1);
}

static void a_process_that_has_gone_elsewhere_is_elsewhere(void **state)
{
	static void (*const lives[])(void) = { live_in_a_mount_space_of_our_own,
					       live_under_another_root };
	char name[64];

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root may go */
	for (size_t i = 0; i < CT_COUNT(lives); i++) {
		(void)snprintf(name, sizeof name, "%d.0", (int)run_and_kill(lives[i]));
		assert_int_equal(ct_session_load(&session, run_dir, name, true), CTRACE_OK);
		assert_false(ct_place_is_here(&session));
		ct_session_close(&session, false);
	}
}

/* ---- processes ---- */

static void a_process_began_once(void **state)
{
	uint64_t start = ct_place_process_start((uint32_t)getpid());
	int status;
	pid_t child;

	(void)state;
	assert_true(start > 0);
	assert_int_equal(ct_place_process_start((uint32_t)getpid()), start);
	child = fork();
	if (child == 0)
		_exit(0);
	assert_true(ct_place_process_start((uint32_t)child) >= start);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(ct_place_process_start((uint32_t)child), 0);
	assert_int_equal(ct_place_process_start(0), 0);
}

int test_place(void)
{
	const struct CMUnitTest tests[] = {
		SESSION_TEST(what_the_kernel_prints_is_read_once),
		SESSION_TEST(where_we_are_is_here),
		SESSION_TEST(another_root_or_name_space_is_elsewhere),
		SESSION_TEST(what_another_boot_had_does_not_count),
		SESSION_TEST(outputs_that_are_in_the_same_directories_are_here),
		SESSION_TEST(a_process_that_has_gone_elsewhere_is_elsewhere),
		SESSION_TEST(a_process_began_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
