/*
 * test_space.c - which live processes of the run directory have an ASID or a job name.
 *
 * The other address spaces are processes that attach and wait; who looks for them is another one.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

#include <poll.h>
#include <sys/syscall.h>

#include "lib/component/component.h"

struct peer {
	pid_t pid;
	uint16_t asid;
};
static struct peer peers[3];
static struct ct_space found;

/* Attaches under that name and says its ASID; then waits for its end. */
static void live_as(const char *jobname, int to_parent)
{
	uint16_t asid;

	CHILD_CHECK(setenv("CTRACE_JOBNAME", jobname, 1) == 0);
	CHILD_CHECK(ct_process_attach() != NULL);
	asid = ct_space_self().asid;
	CHILD_CHECK(write(to_parent, &asid, sizeof asid) == sizeof asid);
	for (;;)
		(void)pause();
}

static struct peer start_peer(const char *jobname)
{
	struct peer peer;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	peer.pid = fork();
	if (peer.pid == 0)
		live_as(jobname, ends[1]);
	assert_true(peer.pid > 0);
	assert_int_equal(read(ends[0], &peer.asid, sizeof peer.asid), sizeof peer.asid);
	assert_int_equal(close(ends[0]), 0);
	assert_int_equal(close(ends[1]), 0);
	return peer;
}

static void end_peers(void)
{
	for (size_t i = 0; i < CT_COUNT(peers); i++) {
		if (peers[i].pid <= 0)
			continue;
		(void)kill(peers[i].pid, SIGKILL);
		(void)waitpid(peers[i].pid, NULL, 0);
		peers[i].pid = 0;
	}
}

static int tear_down(void **state)
{
	end_peers();
	return unsetenv("CTRACE_JOBNAME") != 0 || unsetenv("CTRACE_ATTACH") != 0 ||
	       fixture_teardown(state) != 0;
}

/* ---- ourselves ---- */

static void look_for_ourselves(void)
{
	struct ct_space self;

	CHILD_CHECK(setenv("CTRACE_JOBNAME", "lonely", 1) == 0);
	CHILD_CHECK(ct_process_attach() != NULL);
	self = ct_space_self();
	CHILD_CHECK(self.asid == ct_process.session.head->asid &&
		    strcmp(self.jobname, "LONELY") == 0);
	CHILD_CHECK(ct_space_find_asid(self.asid, &found));
	CHILD_CHECK(found.asid == self.asid && strcmp(found.jobname, "LONELY") == 0);
	memset(&found, 0, sizeof found);
	CHILD_CHECK(ct_space_find_jobname("LONELY", &found) && found.asid == self.asid);
}

static void we_are_an_address_space_ourselves(void **state)
{
	(void)state;
	assert_int_equal(run_traced(look_for_ourselves), 0);
}

static void look_in_private(void)
{
	char path[4096];

	look_for_ourselves();
	CHILD_CHECK(!ct_space_run_directory(path));
	CHILD_CHECK(!ct_space_find_jobname("PEER", &found) &&
		    !ct_space_find_asid(peers[0].asid, &found));
}

static void a_process_that_keeps_to_itself_sees_itself_alone(void **state)
{
	uint32_t last = 0x11;

	(void)state;
	put_file("run/asid", &last, sizeof last); /* its own number is 1 */
	peers[0] = start_peer("peer");
	assert_int_equal(setenv("CTRACE_ATTACH", "0", 1), 0);
	assert_int_equal(run_traced(look_in_private), 0);
}

static void look_before_attaching(void)
{
	CHILD_CHECK(ct_space_self().asid == 0 && ct_space_self().jobname[0] == '\0');
	CHILD_CHECK(!ct_space_find_asid(1, &found) && !ct_space_find_jobname("", &found));
}

static void a_process_without_a_session_is_none(void **state)
{
	(void)state;
	assert_int_equal(run_traced(look_before_attaching), 0);
}

/* ---- others ---- */

static void look_for_peers(void)
{
	char path[4096];

	CHILD_CHECK(setenv("CTRACE_JOBNAME", "looker", 1) == 0);
	CHILD_CHECK(ct_process_attach() != NULL);
	CHILD_CHECK(ct_space_run_directory(path) && strcmp(path, run_dir) == 0);
	CHILD_CHECK(ct_space_find_asid(peers[0].asid, &found));
	CHILD_CHECK(found.asid == peers[0].asid && strcmp(found.jobname, "FIRST") == 0);
	CHILD_CHECK(ct_space_find_jobname("SECOND", &found));
	CHILD_CHECK(found.asid == peers[1].asid && strcmp(found.jobname, "SECOND") == 0);
}

static void others_are_found_by_asid_and_by_job_name(void **state)
{
	(void)state;
	peers[0] = start_peer("first");
	peers[1] = start_peer("second");
	assert_int_not_equal(peers[0].asid, peers[1].asid);
	assert_int_equal(run_traced(look_for_peers), 0);
}

static void look_for_nobody(void)
{
	CHILD_CHECK(ct_process_attach() != NULL);
	found = (struct ct_space){ .asid = 0x77, .jobname = "SAME" };
	CHILD_CHECK(!ct_space_find_asid(0, &found) && !ct_space_find_asid(0xFFF0, &found));
	CHILD_CHECK(!ct_space_find_jobname("FIRS", &found) &&
		    !ct_space_find_jobname("FIRST2", &found));
	CHILD_CHECK(!ct_space_find_jobname("", &found));
	CHILD_CHECK(found.asid == 0x77 && strcmp(found.jobname, "SAME") == 0);
}

static void who_is_not_there_is_not_found(void **state)
{
	(void)state;
	peers[0] = start_peer("first");
	assert_int_equal(run_traced(look_for_nobody), 0);
}

/* Not our child: its end is seen through a descriptor of the process. */
static void end_and_wait(pid_t pid)
{
	struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };

	CHILD_CHECK(end.fd >= 0);
	CHILD_CHECK(kill(pid, SIGKILL) == 0);
	CHILD_CHECK(poll(&end, 1, -1) == 1);
	CHILD_CHECK(close(end.fd) == 0);
}

static void look_before_and_after_its_end(void)
{
	CHILD_CHECK(ct_process_attach() != NULL);
	CHILD_CHECK(ct_space_find_asid(peers[0].asid, &found) &&
		    ct_space_find_jobname("MORTAL", &found));
	end_and_wait(peers[0].pid);
	CHILD_CHECK(!ct_space_find_asid(peers[0].asid, &found));
	CHILD_CHECK(!ct_space_find_jobname("MORTAL", &found));
}

static void who_has_ended_is_not_found_although_its_directory_is_there(void **state)
{
	(void)state;
	peers[0] = start_peer("mortal");
	assert_int_equal(run_traced(look_before_and_after_its_end), 0);
}

static void look_from_elsewhere(void)
{
	CHILD_CHECK(setenv("CTRACE_RUN_DIR", "other", 1) == 0);
	CHILD_CHECK(ct_process_attach() != NULL);
	CHILD_CHECK(!ct_space_find_jobname("FIRST", &found));
}

static void another_run_directory_is_another_world(void **state)
{
	(void)state;
	peers[0] = start_peer("first");
	assert_int_equal(run_traced(look_from_elsewhere), 0);
}

/* ---- several of one name ---- */

static void look_for_the_lowest(void)
{
	CHILD_CHECK(setenv("CTRACE_JOBNAME", "looker", 1) == 0);
	CHILD_CHECK(ct_process_attach() != NULL);
	CHILD_CHECK(ct_space_find_jobname("MANY", &found) && found.asid == 1);
}

static void look_for_our_own_name(void)
{
	CHILD_CHECK(setenv("CTRACE_JOBNAME", "many", 1) == 0);
	CHILD_CHECK(ct_process_attach() != NULL);
	CHILD_CHECK(ct_space_self().asid > 1);
	CHILD_CHECK(ct_space_find_jobname("MANY", &found) && found.asid == ct_space_self().asid);
}

/* The lowest is the last, the second and the first of three: in whatever order a directory is read,
 * it is not always at the same place. */
static void of_several_with_one_name_it_is_ourselves_or_the_lowest(void **state)
{
	(void)state;
	for (uint32_t last = 0xFFFD; last <= 0xFFFF; last++) {
		put_file("run/asid", &last, sizeof last);
		for (size_t i = 0; i < CT_COUNT(peers); i++)
			peers[i] = start_peer("many");
		assert_int_equal(peers[0xFFFF - last].asid, 1);
		assert_int_equal(run_traced(look_for_the_lowest), 0);
		assert_int_equal(run_traced(look_for_our_own_name), 0);
		end_peers();
	}
}

/* ---- the lock ---- */

static void look_and_stay_locked(void)
{
	char path[4200];
	int status;
	pid_t other;

	CHILD_CHECK(ct_process_attach() != NULL);
	CHILD_CHECK(!ct_space_find_jobname("NOBODY", &found)); /* looks at all there are */
	(void)snprintf(path, sizeof path, "%s/session", ct_process.session.path);
	other = fork();
	if (other == 0) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
		int fd = open(path, O_RDWR | O_CLOEXEC);

		_exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK &&
				      lock.l_pid == getppid()
			      ? 0
			      : 1);
	}
	CHILD_CHECK(waitpid(other, &status, 0) == other);
	CHILD_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void looking_does_not_drop_the_lock_that_shows_that_we_live(void **state)
{
	(void)state;
	peers[0] = start_peer("first");
	assert_int_equal(run_traced(look_and_stay_locked), 0);
}

int test_space(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(we_are_an_address_space_ourselves, fixture_setup,
						tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_keeps_to_itself_sees_itself_alone,
						fixture_setup, tear_down),
		cmocka_unit_test_setup_teardown(a_process_without_a_session_is_none, fixture_setup,
						tear_down),
		cmocka_unit_test_setup_teardown(others_are_found_by_asid_and_by_job_name,
						fixture_setup, tear_down),
		cmocka_unit_test_setup_teardown(who_is_not_there_is_not_found, fixture_setup,
						tear_down),
		cmocka_unit_test_setup_teardown(
			who_has_ended_is_not_found_although_its_directory_is_there, fixture_setup,
			tear_down),
		cmocka_unit_test_setup_teardown(another_run_directory_is_another_world,
						fixture_setup, tear_down),
		cmocka_unit_test_setup_teardown(
			of_several_with_one_name_it_is_ourselves_or_the_lowest, fixture_setup,
			tear_down),
		cmocka_unit_test_setup_teardown(
			looking_does_not_drop_the_lock_that_shows_that_we_live, fixture_setup,
			tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
