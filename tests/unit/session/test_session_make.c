/*
 * test_session_make.c - a session comes to be: whose it is, what is left when that fails, and its
 * copy in a forked child.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "own_session_fixture.h"

#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* ---- making ---- */

static void without_a_run_directory_it_is_private_memory(void **state)
{
	(void)state;
	assert_int_equal(ct_session_create(&session, NULL), CTRACE_OK);
	assert_string_equal(session.path, "");
	assert_int_equal(session.directory_fd, -1);
	assert_int_equal(session.head->magic, CT_SESSION_MAGIC);
	assert_int_equal(session.head->pid, getpid());
	ct_session_close(&session, true);
	assert_null(session.head);
}

static void it_says_whose_it_is(void **state)
{
	char directory[256], here[200];

	(void)state;
	assert_int_equal(setenv("CTRACE_JOBNAME", "payroll-2026", 1), 0);
	assert_int_equal(setenv("MFTRACE_LOGS", "/var/log/x", 1), 0);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	ct_session_note_origin(&session, true);
	assert_int_equal(session.head->version, CT_SESSION_VERSION);
	assert_int_equal(session.head->abi, CTRACE_ABI);
	assert_int_equal(session.head->uid, geteuid());
	assert_string_equal(session.head->jobname, "PAYROLL-");
	assert_string_equal(session.head->program, program_invocation_short_name);
	assert_true(strlen(session.head->host) > 0);
	assert_true(strlen(session.head->system) > 0);
	assert_int_equal(strlen(session.head->boot_id), 36);
	assert_string_equal(text_of(&session, session.head->log_directory), "/var/log/x");
	assert_non_null(getcwd(here, sizeof here));
	assert_string_equal(text_of(&session, session.head->working_directory), here);
	assert_true(strstr(text_of(&session, session.head->command_line), "test_session_make") !=
		    NULL);
	assert_true(session.head->sync.slot[0].point_count >= 1);
	assert_int_equal(session.head->process_start, 0);
	ct_session_note_start(&session);
	assert_int_equal(session.head->process_start, ct_place_process_start((uint32_t)getpid()));
	assert_true(session.head->process_start > 0);
	(void)snprintf(directory, sizeof directory, "%s/%d.0", run_dir, (int)getpid());
	assert_string_equal(session.path, directory);
	assert_true(ct_session_is_own(run_dir, session.directory));
	assert_false(ct_session_is_own(run_dir, "1.0"));
	ct_session_close(&session, true);
	assert_false(exists(directory));
	assert_false(ct_session_is_own(run_dir, strrchr(directory, '/') + 1));
}

static void its_files_are_for_us_alone(void **state)
{
	mode_t before = umask(0);
	struct stat info;

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	(void)umask(before);
	assert_int_equal(fstat(session.directory_fd, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	assert_int_equal(fstat(session.file_fd, &info), 0);
	assert_int_equal(info.st_mode & 07777, CT_OS_KEPT_MODE);
	assert_true((fcntl(session.file_fd, F_GETFD) & FD_CLOEXEC) != 0);
	ct_session_close(&session, true);
}

static void a_process_that_attaches_again_gets_another_directory_and_asid(void **state)
{
	struct ct_session second;

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	ct_session_note_origin(&session, true);
	assert_int_equal(ct_session_create(&second, run_dir), CTRACE_OK);
	ct_session_note_origin(&second, true);
	assert_string_not_equal(session.directory, second.directory);
	assert_int_equal(second.head->asid, session.head->asid + 1);
	ct_session_close(&second, true);
	ct_session_close(&session, true);
}

static void asids_run_from_1_to_ffff_and_begin_again(void **state)
{
	static const struct {
		uint32_t last, next;
	} rows[] = { { 0, 1 }, { 1, 2 }, { 0xFFFE, 0xFFFF }, { 0xFFFF, 1 }, { 0xFFFFFFFF, 1 } };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		put_file("run/asid", &rows[i].last, 4);
		assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
		ct_session_note_origin(&session, true);
		assert_true(session.head->asid >= 1 && session.head->asid <= 0xFFFF);
		if (rows[i].last <= 0xFFFF)
			assert_int_equal(session.head->asid, rows[i].next);
		ct_session_close(&session, true);
	}
	put_file("run/asid", "x", 1);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	ct_session_note_origin(&session, true);
	assert_int_equal(session.head->asid, 1);
	ct_session_close(&session, true);
}

/* Somebody who has the file of numbers locked, and is stopped, holds nobody up. */
static void a_file_of_numbers_that_stays_locked_is_not_waited_for(void **state)
{
	int fd;

	(void)state;
	put_file("run/asid", &(uint32_t){ 7 }, 4);
	fd = open("run/asid", O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	(void)alarm(60); /* in place of a hang */
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	ct_session_note_origin(&session, true);
	(void)alarm(0);
	assert_string_not_equal(session.path, "");
	assert_true(session.head->asid >= 1 && session.head->asid <= 0xFFFF);
	ct_session_close(&session, true);
	assert_int_equal(flock(fd, LOCK_UN), 0);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	ct_session_note_origin(&session, true);
	assert_int_equal(session.head->asid, 8);
	ct_session_close(&session, true);
	assert_int_equal(close(fd), 0);
}

static void any_failing_call_leaves_a_private_session_and_no_litter(void **state)
{
	static const struct {
		enum ct_os_call call;
		unsigned skip, times;
		int error;
	} faults[] = { { CT_OS_OPEN, 0, 1, EMFILE },     { CT_OS_TRUNCATE, 0, 100, EFBIG },
		       { CT_OS_TRUNCATE, 0, 1, EIO },    { CT_OS_ALLOCATE, 0, 1, ENOSPC },
		       { CT_OS_ALLOCATE, 1, 2, ENOSPC }, { CT_OS_ALLOCATE, 2, 2, ENOSPC },
		       { CT_OS_MAP, 0, 100, ENOMEM } };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(faults); i++) {
		ct_os_fail(faults[i].call, faults[i].skip, faults[i].times, faults[i].error);
		assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
		ct_os_fail(faults[i].call, 0, 0, 0);
		assert_string_equal(session.path, "");
		assert_int_equal(session.directory_fd, -1);
		assert_int_equal(session.file_fd, -1);
		assert_int_equal(count_entries(run_dir), 0);
		ct_session_close(&session, true);
	}
	assert_int_equal(ct_session_create(&session, "/dev/null/run"), CTRACE_OK);
	assert_string_equal(session.path, "");
	ct_session_close(&session, true);
}

/* A session that is as small as it has to be works as any other, up to its own limits. */
static void use_it_up(void)
{
	uint32_t limit = ct_session_component_limit(&session.layout);
	static char text[1000];
	ct_text out;

	assert_string_not_equal(session.path, "");
	assert_true(ct_session_layout_holds(&session.head->layout));
	assert_int_equal(ct_session_reserve_component(&session, limit - 1), CTRACE_OK);
	session.components[limit - 1].flags = 7;
	assert_int_equal(ct_session_reserve_component(&session, limit), CTRACE_NOT_ENOUGH_MEMORY);
	while (ct_session_add_text(&session, text, sizeof text, &out) == CTRACE_OK)
		;
	assert_true(session.head->texts_size + sizeof text >=
		    session.layout.size - session.layout.texts_at);
	assert_int_equal(session.components[limit - 1].flags, 7);
}

#define LEAST (436 << 10) /* bytes of the smallest session file: docs/ARCHITECTURE.md names it */

static void a_file_size_limit_makes_it_smaller(void **state)
{
	static const rlim_t too_low[] = { LEAST - 1, 102400 }; /* the second is less than a head */
	static const rlim_t limits[] = { LEAST, 1024000, 102400000, 307200000 };
	struct rlimit limit, before;
	struct stat info;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	for (size_t i = 0; i < CT_COUNT(limits); i++) {
		/* SIGXFSZ is at its default: nothing here may raise it. */
		limit.rlim_cur = limits[i];
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
		assert_int_equal(fstat(session.file_fd, &info), 0);
		assert_true((rlim_t)info.st_size <= limits[i] &&
			    (uint64_t)info.st_size == session.layout.size);
		if (limits[i] < 2000000)
			use_it_up();
		ct_session_close(&session, true);
		assert_int_equal(count_entries(run_dir), 0);
	}
	for (size_t i = 0; i < CT_COUNT(too_low); i++) {
		limit.rlim_cur = too_low[i];
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
		assert_string_equal(session.path, "");
		assert_int_equal(session.layout.size, CT_SESSION_SIZE);
		assert_int_equal(count_entries(run_dir), 0);
		ct_session_close(&session, true);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

static void little_memory_makes_it_smaller(void **state)
{
	(void)state;
	for (unsigned times = 1; times <= 9; times++) {
		ct_os_fail(CT_OS_MAP, 0, times, ENOMEM);
		assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
		assert_string_not_equal(session.path, "");
		assert_int_equal(session.layout.size, CT_SESSION_SIZE >> times);
		if (times > 6)
			use_it_up();
		ct_session_close(&session, true);
	}
}

/* Lets a child make its session and kills it right after the system call that gives the directory
 * its name. */
static pid_t kill_after_naming(void)
{
	bool is_rename = false;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		(void)raise(SIGSTOP);
		make_one();
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSTOPPED(status)) {
		(void)kill(pid, SIGKILL);
		return -1;
	}
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD), 0);
	for (;;) {
		struct __ptrace_syscall_info call;

		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
		assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof call, &call) > 0);
		if (call.op == PTRACE_SYSCALL_INFO_ENTRY) {
			is_rename = call.entry.nr == SYS_renameat2;
		} else if (call.op == PTRACE_SYSCALL_INFO_EXIT && is_rename) {
			assert_int_equal(kill(pid, SIGKILL), 0);
			assert_int_equal(waitpid(pid, &status, 0), pid);
			return pid;
		}
	}
}

static void a_directory_with_a_name_is_complete_also_when_its_maker_is_killed_at_once(void **state)
{
	char name[64];
	pid_t pid = kill_after_naming();

	(void)state;
	if (pid < 0)
		skip(); /* tracing of processes is forbidden here */
	(void)snprintf(name, sizeof name, "%d.0", (int)pid);
	assert_int_equal(ct_session_load(&session, run_dir, name, true), CTRACE_OK);
	assert_int_equal(session.head->pid, pid);
	ct_session_close(&session, false);
}

/* ---- fork ---- */

static const struct ctrace_level_word *level_word;

static void fork_and_check(void)
{
	uint32_t parent = session.head->pid;
	char parent_path[4096];

	(void)snprintf(parent_path, sizeof parent_path, "%s", session.path);
	CHILD_CHECK(ct_session_fork(&session, run_dir) == CTRACE_OK);
	CHILD_CHECK(session.head->pid == (uint32_t)getpid() && parent != session.head->pid);
	CHILD_CHECK(strcmp(session.path, parent_path) != 0);
	CHILD_CHECK(&session.components[2].level_word == level_word && level_word->level == 3);
	CHILD_CHECK(strcmp(ct_session_text(&session, session.components[2].name, &(size_t){ 0 }),
			   "comp.two") == 0);
	CHILD_CHECK(session.head->ring_count == 0);
	CHILD_CHECK(session.head->lost[CTRACE_LOSS_NESTED] == 0);
	CHILD_CHECK(session.head->dest[1].sequence == 0 &&
		    session.head->dest[1].slot[0].offset == 0);
	CHILD_CHECK(ct_dest_path(&session, 1)[0] == '\0');
	CHILD_CHECK(strcmp(session.head->dest[1].emitter, "BINFILE") == 0);
	session.components[2].level_word.level = 1;
	CHILD_CHECK(level_word->level == 1);
	ct_session_close(&session, true);
	CHILD_CHECK(!exists(session.path));
}

static void fork_to_private(void)
{
	CHILD_CHECK(ct_session_fork(&session, "/dev/null") == CTRACE_OK);
	CHILD_CHECK(session.path[0] == '\0' && level_word->level == 3);
	CHILD_CHECK(session.head->pid == (uint32_t)getpid());
}

static void make_parent(void)
{
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	assert_int_equal(ct_session_reserve_component(&session, 2), CTRACE_OK);
	assert_int_equal(ct_session_add_text(&session, "comp.two", 8, &session.components[2].name),
			 CTRACE_OK);
	session.components[2].level_word.level = 3;
	ct_session_commit_component(&session, 2);
	level_word = &session.components[2].level_word;
	session.head->ring_count = 5;
	session.head->lost[CTRACE_LOSS_NESTED] = 9;
	session.head->dest[1].sequence = 7;
	session.head->dest[1].slot[0].offset = 99;
	assert_int_equal(ct_dest_put_path(&session, 1, "/x"), CTRACE_OK);
	session.head->dest[1].sequence++;
	(void)snprintf(session.head->dest[1].emitter, 10, "BINFILE");
}

static void a_forked_child_has_its_own_at_the_same_address(void **state)
{
	(void)state;
	make_parent();
	run_child(fork_and_check);
	assert_int_equal(level_word->level, 3); /* the child changed its own */
	assert_int_equal(session.head->pid, getpid());
	assert_true(exists(session.path));
	ct_session_close(&session, true);
}

static void a_forked_child_without_a_run_directory_goes_private(void **state)
{
	(void)state;
	make_parent();
	run_child(fork_to_private);
	ct_session_close(&session, true);
}

static void a_parent_that_went_on_does_not_make_the_childs_copy_too_short(void **state)
{
	static char text[0xFFFF];
	struct ct_session childs;
	ct_text out;

	(void)state;
	memset(text, 't', sizeof text);
	make_parent();
	childs = session; /* what a child knows of its parent: as it was at the fork */
	for (int i = 0; i < 5; i++)
		assert_int_equal(ct_session_add_text(&session, text, sizeof text, &out), CTRACE_OK);
	assert_true(session.texts_allocated > childs.texts_allocated);
	for (uint32_t i = 3; i < 3000; i++) { /* registered since, by the parent alone */
		assert_int_equal(ct_session_reserve_component(&session, i), CTRACE_OK);
		session.components[i].flags = CT_COMPONENT_REGISTERED;
		session.components[i].dests = 2;
		ct_session_commit_component(&session, i);
	}
	childs.file_fd = dup(session.file_fd);
	childs.directory_fd = dup(session.directory_fd);
	{
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			CHILD_CHECK(ct_session_fork(&childs, run_dir) == CTRACE_OK);
			CHILD_CHECK(childs.texts_allocated >= childs.head->texts_size);
			CHILD_CHECK(childs.head->component_count == 3);
			CHILD_CHECK(ct_session_reserve_component(&childs, 2999) == CTRACE_OK);
			for (uint32_t i = 3; i < 3000; i++)
				CHILD_CHECK(childs.components[i].flags == 0 &&
					    childs.components[i].dests == 0);
			CHILD_CHECK(childs.texts_capacity == childs.head->texts_size);
			CHILD_CHECK(strlen(ct_session_text(&childs, out, &(size_t){ 0 })) ==
				    0xFFFF);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	ct_session_close(&session, true);
}

static void processes_without_a_directory_are_counted_for_a_day(void **state)
{
	const uint64_t long_ago = 1;
	struct ct_unattached noted;

	(void)state;
	ct_unattached_make_room(run_dir);
	assert_false(ct_unattached_read(run_dir, &noted));
	ct_unattached_note(run_dir, ENOSPC, 0);
	ct_unattached_note(run_dir, EMFILE, 0);
	ct_unattached_make_room(run_dir);
	ct_unattached_note(run_dir, 0, 5); /* it ends */
	assert_true(ct_unattached_read(run_dir, &noted));
	assert_int_equal(noted.count, 2);
	assert_int_equal(noted.error, EMFILE);
	assert_int_equal(noted.lost, 5);
	assert_int_equal(noted.pid, getpid());
	assert_string_equal(noted.program, program_invocation_short_name);
	poke_file("run/asid", 64 + offsetof(struct ct_unattached, at_ns), &long_ago,
		  sizeof long_ago);
	assert_false(ct_unattached_read(run_dir, &noted));
	ct_unattached_note(run_dir, ENOSPC, 0);
	assert_true(ct_unattached_read(run_dir, &noted));
	assert_int_equal(noted.count, 1);
	assert_int_equal(noted.lost, 0);
}

int test_session_make(void)
{
	const struct CMUnitTest tests[] = {
		SESSION_TEST(without_a_run_directory_it_is_private_memory),
		SESSION_TEST(it_says_whose_it_is),
		SESSION_TEST(its_files_are_for_us_alone),
		SESSION_TEST(a_process_that_attaches_again_gets_another_directory_and_asid),
		SESSION_TEST(asids_run_from_1_to_ffff_and_begin_again),
		SESSION_TEST(a_file_of_numbers_that_stays_locked_is_not_waited_for),
		SESSION_TEST(any_failing_call_leaves_a_private_session_and_no_litter),
		SESSION_TEST(a_file_size_limit_makes_it_smaller),
		SESSION_TEST(little_memory_makes_it_smaller),
		SESSION_TEST(
			a_directory_with_a_name_is_complete_also_when_its_maker_is_killed_at_once),
		SESSION_TEST(a_forked_child_has_its_own_at_the_same_address),
		SESSION_TEST(a_forked_child_without_a_run_directory_goes_private),
		SESSION_TEST(a_parent_that_went_on_does_not_make_the_childs_copy_too_short),
		SESSION_TEST(processes_without_a_directory_are_counted_for_a_day),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
