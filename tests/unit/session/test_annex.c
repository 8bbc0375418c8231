/*
 * test_annex.c - rings of a process that has become another user: in an annex, found again by root,
 * whatever that user puts there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "own_session_fixture.h"

#include "lib/ring/ring.h"

#define NOBODY 65534u

static char users_directory[100]; /* of the other user: an XDG_RUNTIME_DIR */
static char annex_path[300];

/* The other user may go through the directories above the room. */
static void open_way(void)
{
	char path[64];
	struct stat info;

	memcpy(path, room, sizeof path);
	for (; path[0] != '\0'; *strrchr(path, '/') = '\0') {
		assert_int_equal(stat(path, &info), 0);
		if ((info.st_mode & 1) == 0)
			assert_int_equal(chmod(path, 0711), 0);
	}
}

static int set_up_users(void **state)
{
	if (set_up(state) != 0)
		return 1;
	(void)snprintf(users_directory, sizeof users_directory, "%s/user", room);
	assert_int_equal(mkdir(users_directory, 0700), 0);
	assert_int_equal(setenv("XDG_RUNTIME_DIR", users_directory, 1), 0);
	assert_int_equal(setenv("CTRACE_RUN_DIR", run_dir, 1), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(users_directory, NOBODY, NOBODY), 0);
	open_way();
	return 0;
}

/* From here on this process is the other user, for good. */
static void become_nobody(void)
{
	CHILD_CHECK(setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
		    setresuid(NOBODY, NOBODY, NOBODY) == 0);
}

static struct ct_ring made;

/* A process that attaches as root and makes its second ring as nobody. */
static void drop_rights(void)
{
	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK && session.path[0] != '\0');
	ct_session_note_origin(&session, true);
	CHILD_CHECK(ct_ring_create(&made, &session, 0, CT_RING_MIN) == CTRACE_OK &&
		    made.place == CT_RING_IN_DIRECTORY);
	become_nobody();
	CHILD_CHECK(ct_ring_create(&made, &session, 1, CT_RING_MIN) == CTRACE_OK);
	CHILD_CHECK(made.place == CT_RING_IN_ANNEX);
	made.head->lost[0] = 4711;
	session.head->ring_place[1] = made.place;
	session.head->ring_count = 2;
}

/* Runs that, kills it, and loads what it left. */
static void load_what_it_left(char name[64])
{
	(void)snprintf(name, 64, "%d.0", (int)run_and_kill(drop_rights));
	assert_int_equal(ct_session_load(&session, run_dir, name, true), CTRACE_OK);
	(void)snprintf(annex_path, sizeof annex_path, "%s/ctrace/annex-%s", users_directory, name);
	assert_string_equal(session.head->annex[0].path, annex_path);
	assert_int_equal(session.head->annex[0].uid, NOBODY);
}

#define NEEDS_ROOT() \
	do { \
		if (geteuid() != 0) \
			skip(); /* only root can become another user */ \
	} while (0)

static void a_ring_made_after_the_rights_are_dropped_is_found_by_root(void **state)
{
	struct ct_ring ring;
	struct stat info;
	char name[64];

	(void)state;
	NEEDS_ROOT();
	load_what_it_left(name);
	assert_int_equal(stat(annex_path, &info), 0);
	assert_true(info.st_uid == NOBODY && (info.st_mode & 07777) == 0700);
	assert_int_equal(ct_ring_load(&ring, &session, 0), CTRACE_OK);
	ct_ring_close(&ring);
	assert_int_equal(ct_ring_load(&ring, &session, 1), CTRACE_OK);
	assert_int_equal(ring.head->lost[0], 4711);
	assert_int_equal(ct_ring_persist(&ring, ring.head, 8), CTRACE_OK);
	ct_ring_close(&ring);
	/* never an external writer's */
	assert_int_equal(ct_ring_map(&ring, &session, 1), CTRACE_NOT_FOUND);
	ct_directory_remove(run_dir, name);
	ct_annex_remove_all(session.head);
	assert_false(exists(annex_path));
	assert_int_equal(count_entries(run_dir), 0);
	ct_session_close(&session, false);
}

static void make_twice(void)
{
	uint32_t number = 9;
	int fd;

	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK);
	ct_session_note_origin(&session, true);
	become_nobody();
	fd = ct_annex_make(&session, &number);
	CHILD_CHECK(fd > 2 && number == 0 && close(fd) == 0);
	fd = ct_annex_make(&session, &number);
	CHILD_CHECK(fd > 2 && number == 0 && close(fd) == 0);
	CHILD_CHECK(session.head->annex[1].path[0] == '\0');
	/* Somebody has taken it away: there is none, and the ring will be memory. */
	(void)snprintf(annex_path, sizeof annex_path, "%s/session", session.head->annex[0].path);
	CHILD_CHECK(unlink(annex_path) == 0 && rmdir(session.head->annex[0].path) == 0);
	CHILD_CHECK(ct_annex_make(&session, &number) == -1);
	CHILD_CHECK(ct_ring_create(&made, &session, 1, CT_RING_MIN) == CTRACE_OK &&
		    made.place == CT_RING_PRIVATE);
}

static void a_user_has_one(void **state)
{
	(void)state;
	NEEDS_ROOT();
	(void)run_and_kill(make_twice);
}

static void make_without_a_directory(void)
{
	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK);
	ct_session_note_origin(&session, true);
	become_nobody();
	CHILD_CHECK(setenv("XDG_RUNTIME_DIR", "/nonexistent", 1) == 0);
	for (uint32_t i = 0; i < CT_ANNEX_LIMIT; i++) { /* of users that it was before */
		session.head->annex[i].uid = 1000 + i;
		(void)snprintf(session.head->annex[i].path, 20, "/x/annex-1.0");
	}
	CHILD_CHECK(ct_ring_create(&made, &session, 1, CT_RING_MIN) == CTRACE_OK &&
		    made.place == CT_RING_PRIVATE);
}

static void without_any_the_ring_is_memory(void **state)
{
	(void)state;
	NEEDS_ROOT();
	(void)run_and_kill(make_without_a_directory);
}

/* ---- an owner who is hostile ---- */

static void what_its_owner_puts_there_leads_nowhere(void **state)
{
	struct ct_ring ring;
	char name[64], path[500], saved[400];

	(void)state;
	NEEDS_ROOT();
	load_what_it_left(name);
	(void)snprintf(path, sizeof path, "%s/ring.1", annex_path);
	(void)snprintf(saved, sizeof saved, "%s/saved", users_directory);
	assert_int_equal(rename(path, saved), 0);
	assert_int_equal(ct_ring_load(&ring, &session, 1), CTRACE_NOT_FOUND);
	assert_int_equal(symlink(saved, path), 0);
	assert_int_equal(ct_ring_load(&ring, &session, 1), CTRACE_DENIED);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(link(saved, path), 0); /* perhaps of another's file */
	assert_int_equal(ct_ring_load(&ring, &session, 1), CTRACE_DENIED);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(ct_ring_load(&ring, &session, 1), CTRACE_DENIED);
	assert_int_equal(unlink(path), 0);
	put_file(path, "root's", 6);
	assert_int_equal(ct_ring_load(&ring, &session, 1), CTRACE_DENIED);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rename(saved, path), 0);
	assert_int_equal(chmod(annex_path, 0777), 0);
	assert_int_equal(ct_ring_load(&ring, &session, 1), CTRACE_DENIED);
	assert_int_equal(chmod(annex_path, 0700), 0);
	assert_int_equal(ct_ring_load(&ring, &session, 1), CTRACE_OK);
	ct_ring_close(&ring);
	/* A link in place of the directory, or of the one that it is in: nothing behind it is
	 * touched. */
	assert_int_equal(rename(annex_path, saved), 0);
	assert_int_equal(symlink(saved, annex_path), 0);
	assert_int_equal(ct_ring_load(&ring, &session, 1), CTRACE_DENIED);
	ct_annex_remove_all(session.head);
	(void)snprintf(path, sizeof path, "%s/ring.1", saved);
	assert_true(exists(path));
	ct_session_close(&session, false);
}

static void a_path_that_is_none_of_an_annex_is_not_followed(void **state)
{
	static const char *const paths[] = { "",
					     "annex-7.0",
					     "/",
					     "/annex-7.0",
					     "/etc",
					     "/etc/annex-8.0",
					     "/etc/annex-7",
					     "/tmp/annex-77.0" };
	struct ct_session_head *head = calloc(1, sizeof *head);

	(void)state;
	assert_non_null(head);
	head->pid = 7;
	for (size_t i = 0; i < CT_COUNT(paths); i++) {
		(void)snprintf(head->annex[0].path, sizeof head->annex[0].path, "%s", paths[i]);
		assert_int_equal(ct_annex_open(head, 0), -1);
		ct_annex_remove_all(head);
	}
	memset(head->annex[0].path, 'x', sizeof head->annex[0].path); /* no end */
	assert_int_equal(ct_annex_open(head, 0), -1);
	/* A directory of another user than the head says. */
	assert_int_equal(mkdir("annex-7.0", 0700), 0);
	(void)snprintf(head->annex[0].path, sizeof head->annex[0].path, "%s/annex-7.0", room);
	head->annex[0].uid = geteuid() + 1;
	assert_int_equal(ct_annex_open(head, 0), -1);
	ct_annex_remove_all(head);
	assert_true(exists("annex-7.0"));
	free(head);
}

/* ---- abandoned ones ---- */

static void note_nothing(const struct ct_directory_entry *entry, void *user)
{
	(void)entry;
	++*(unsigned *)user;
}

static void one_whose_session_is_gone_is_removed(void **state)
{
	char name[64], directory[200], link_path[400];
	unsigned count = 0;

	(void)state;
	NEEDS_ROOT();
	load_what_it_left(name);
	(void)snprintf(directory, sizeof directory, "%s/ctrace", users_directory);
	ct_directory_each(directory, note_nothing, &count);
	assert_int_equal(count, 0); /* it is no session */
	assert_true(exists(annex_path));
	ct_directory_remove(run_dir, name);
	/* In another mount name space the path says nothing. */
	(void)snprintf(link_path, sizeof link_path, "%s/session", annex_path);
	assert_int_equal(unlink(link_path), 0);
	assert_int_equal(symlink("1 /nowhere/7.0", link_path), 0);
	ct_directory_each(directory, note_nothing, &count);
	assert_true(exists(annex_path));
	assert_int_equal(unlink(link_path), 0);
	/* without a name it may be somebody's in a moment */
	ct_directory_each(directory, note_nothing, &count);
	assert_true(exists(annex_path));
	ct_session_close(&session, false);

	load_what_it_left(name);
	ct_directory_remove(run_dir, name);
	ct_directory_each(directory, note_nothing, &count);
	assert_false(exists(annex_path));
	ct_session_close(&session, false);
}

#define ANNEX_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_users, tear_down)

int test_annex(void)
{
	const struct CMUnitTest tests[] = {
		ANNEX_TEST(a_ring_made_after_the_rights_are_dropped_is_found_by_root),
		ANNEX_TEST(a_user_has_one),
		ANNEX_TEST(without_any_the_ring_is_memory),
		ANNEX_TEST(what_its_owner_puts_there_leads_nowhere),
		ANNEX_TEST(a_path_that_is_none_of_an_annex_is_not_followed),
		ANNEX_TEST(one_whose_session_is_gone_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
