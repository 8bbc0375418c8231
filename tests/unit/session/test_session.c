/*
 * test_session.c - the session file: made, forked, found by others, and loaded whatever is in it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session_fixture.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

static struct ct_session session;

static int set_up(void **state)
{
	(void)state;
	enter_room();
	return unsetenv("CTRACE_JOBNAME") != 0 || unsetenv("MFTRACE_LOGS") != 0;
}

static int tear_down(void **state)
{
	(void)state;
	leave_room();
	return 0;
}

static const char *text_of(const struct ct_session *of, ct_text text)
{
	size_t size;
	const char *at = ct_session_text(of, text, &size);

	assert_int_equal(strlen(at), size);
	return at;
}

/* ---- making ---- */

static void without_a_run_directory_it_is_private_memory(void **state)
{
	(void)state;
	assert_int_equal(ct_session_create(&session, NULL), CTRACE_OK);
	assert_string_equal(session.path, "");
	assert_int_equal(session.folder_fd, -1);
	assert_int_equal(session.head->magic, CT_SESSION_MAGIC);
	assert_int_equal(session.head->pid, getpid());
	ct_session_close(&session, true);
	assert_null(session.head);
}

static void it_says_whose_it_is(void **state)
{
	char folder[256], here[200];

	(void)state;
	assert_int_equal(setenv("CTRACE_JOBNAME", "payroll-2026", 1), 0);
	assert_int_equal(setenv("MFTRACE_LOGS", "/var/log/x", 1), 0);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	assert_int_equal(session.head->version, CT_SESSION_VERSION);
	assert_int_equal(session.head->abi, CTRACE_ABI);
	assert_int_equal(session.head->uid, geteuid());
	assert_string_equal(session.head->jobname, "PAYROLL-");
	assert_string_equal(session.head->program, program_invocation_short_name);
	assert_true(strlen(session.head->host) > 0);
	assert_true(strlen(session.head->system) > 0);
	assert_int_equal(strlen(session.head->boot_id), 36);
	assert_string_equal(text_of(&session, session.head->log_folder), "/var/log/x");
	assert_non_null(getcwd(here, sizeof here));
	assert_string_equal(text_of(&session, session.head->working_folder), here);
	assert_true(strstr(text_of(&session, session.head->command_line), "test_session") != NULL);
	assert_true(session.head->sync.count >= 1);
	(void)snprintf(folder, sizeof folder, "%s/%d.0", run_dir, (int)getpid());
	assert_string_equal(session.path, folder);
	assert_true(ct_session_is_own(run_dir, session.folder));
	assert_false(ct_session_is_own(run_dir, "1.0"));
	ct_session_close(&session, true);
	assert_false(exists(folder));
	assert_false(ct_session_is_own(run_dir, strrchr(folder, '/') + 1));
}

static void its_files_are_for_us_alone(void **state)
{
	mode_t before = umask(0);
	struct stat info;

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	(void)umask(before);
	assert_int_equal(fstat(session.folder_fd, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	assert_int_equal(fstat(session.file_fd, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_true((fcntl(session.file_fd, F_GETFD) & FD_CLOEXEC) != 0);
	ct_session_close(&session, true);
}

static void a_process_that_attaches_again_gets_another_folder_and_asid(void **state)
{
	struct ct_session second;

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	assert_int_equal(ct_session_create(&second, run_dir), CTRACE_OK);
	assert_string_not_equal(session.folder, second.folder);
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
		assert_true(session.head->asid >= 1 && session.head->asid <= 0xFFFF);
		if (rows[i].last <= 0xFFFF)
			assert_int_equal(session.head->asid, rows[i].next);
		ct_session_close(&session, true);
	}
	put_file("run/asid", "x", 1);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	assert_int_equal(session.head->asid, 1);
	ct_session_close(&session, true);
}

static unsigned count_entries(const char *folder)
{
	char command[200];
	unsigned count = 0;
	FILE *pipe;

	(void)snprintf(command, sizeof command, "find %s -mindepth 1 ! -name asid | wc -l", folder);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%u", &count), 1);
	assert_int_equal(pclose(pipe), 0);
	return count;
}

static void any_failing_call_leaves_a_private_session_and_no_litter(void **state)
{
	static const struct {
		enum ct_os_call call;
		int error;
	} faults[] = { { CT_OS_OPEN, EMFILE }, { CT_OS_TRUNCATE, EFBIG }, { CT_OS_ALLOCATE, ENOSPC }, { CT_OS_MAP, ENOMEM } };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(faults); i++) {
		ct_os_fail(faults[i].call, 0, 1, faults[i].error);
		assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
		assert_string_equal(session.path, "");
		assert_int_equal(session.folder_fd, -1);
		assert_int_equal(session.file_fd, -1);
		assert_int_equal(count_entries(run_dir), 0);
		ct_session_close(&session, true);
	}
	assert_int_equal(ct_session_create(&session, "/nonexistent/run"), CTRACE_OK);
	assert_string_equal(session.path, "");
	ct_session_close(&session, true);
}

static void make_one(void)
{
	(void)!ct_session_create(&session, run_dir);
}

/* Lets a child make its session and kills it right after the system call that gives the folder its name. */
static pid_t kill_after_naming(void)
{
	bool is_entry = true;
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
	for (;;) {
		struct user_regs_struct registers;

		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
		assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &registers), 0);
		if (!is_entry && registers.orig_rax == SYS_renameat2) {
			assert_int_equal(kill(pid, SIGKILL), 0);
			assert_int_equal(waitpid(pid, &status, 0), pid);
			return pid;
		}
		is_entry = !is_entry;
	}
}

static void a_folder_with_a_name_is_complete_also_when_its_maker_is_killed_at_once(void **state)
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

/* ---- texts and components ---- */

static void texts_come_back_terminated(void **state)
{
	static char longest[0x10000];
	ct_text texts[3], text;
	size_t size;

	(void)state;
	memset(longest, 'l', sizeof longest);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	assert_int_equal(ct_session_add_text(&session, "one", 3, &texts[0]), CTRACE_OK);
	assert_int_equal(ct_session_add_text(&session, "", 0, &texts[1]), CTRACE_OK);
	assert_int_equal(ct_session_add_text(&session, longest, 0xFFFF, &texts[2]), CTRACE_OK);
	assert_int_equal(ct_session_add_text(&session, longest, 0x10000, &text), CTRACE_NOT_ENOUGH_MEMORY);
	assert_string_equal(text_of(&session, texts[0]), "one");
	assert_string_equal(text_of(&session, texts[1]), "");
	assert_int_equal(strlen(text_of(&session, texts[2])), 0xFFFF);
	assert_string_equal(ct_session_text(&session, 0, &size), "");
	assert_int_equal(size, 0);
	for (uint64_t at = session.head->texts_size; at < UINT64_MAX >> 17; at = at * 2 + 1) {
		assert_string_equal(ct_session_text(&session, at << 16 | 1, &size), "");
		assert_int_equal(size, 0);
	}
	ct_session_close(&session, true);
}

static void the_last_text_ends_inside_the_file(void **state)
{
	uint64_t limit = CT_SESSION_SIZE - CT_SESSION_TEXTS;
	char text[64] = "01234567890123456789";
	ct_text out;

	(void)state;
	assert_int_equal(ct_session_create(&session, NULL), CTRACE_OK);
	session.head->texts_size = limit - 10;
	assert_int_equal(ct_session_add_text(&session, text, 11, &out), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(ct_session_add_text(&session, text, 10, &out), CTRACE_NOT_ENOUGH_MEMORY); /* no room for its end */
	assert_int_equal(session.head->texts_size, limit - 10);
	assert_int_equal(ct_session_add_text(&session, text, 9, &out), CTRACE_OK);
	assert_string_equal(text_of(&session, out), "012345678");
	assert_int_equal(ct_session_add_text(&session, text, 0, &out), CTRACE_NOT_ENOUGH_MEMORY);
	ct_session_close(&session, true);
}

static void components_have_real_blocks_up_to_the_limit(void **state)
{
	static const uint32_t indexes[] = { 0, 1, 2047, 2048, 100000, CT_COMPONENT_LIMIT - 1 };
	struct stat info;

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	for (size_t i = 0; i < CT_COUNT(indexes); i++) {
		assert_int_equal(ct_session_add_component(&session, indexes[i]), CTRACE_OK);
		assert_int_equal(session.head->component_count, indexes[i] + 1);
		session.components[indexes[i]].parent = 1;
		assert_int_equal(fstat(session.file_fd, &info), 0);
		assert_true((uint64_t)info.st_blocks * 512 >= (indexes[i] + 1) * sizeof(struct ct_component_entry));
	}
	assert_int_equal(ct_session_add_component(&session, CT_COMPONENT_LIMIT), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(ct_session_add_component(&session, UINT32_MAX), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(ct_session_add_component(&session, 3), CTRACE_OK);
	assert_int_equal(session.head->component_count, CT_COMPONENT_LIMIT);
	ct_session_close(&session, true);
}

static void a_full_disk_refuses_what_does_not_fit_and_keeps_the_rest(void **state)
{
	static char text[0xFFFF];
	ct_text out = 4711;

	(void)state;
	memset(text, 't', sizeof text);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	ct_os_fail(CT_OS_ALLOCATE, 0, 2, ENOSPC);
	assert_int_equal(ct_session_add_component(&session, 5000), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(session.head->component_count, 0);
	assert_int_equal(ct_session_add_text(&session, text, sizeof text, &out), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(out, 4711);
	assert_int_equal(ct_session_add_text(&session, text, sizeof text, &out), CTRACE_OK);
	assert_int_equal(ct_session_add_component(&session, 5000), CTRACE_OK);
	ct_session_close(&session, true);
}

/* ---- the lock ---- */

static void others_find_a_live_one_locked(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	assert_int_equal(ct_session_load(&(struct ct_session){ 0 }, run_dir, session.folder, true), CTRACE_DENIED); /* our own: never */
	pid = fork();
	if (pid == 0) {
		struct ct_session copy;
		char name[256];

		(void)snprintf(name, sizeof name, "%s", session.folder);
		ct_session_close(&session, false); /* a child's end does not end its parent's life */
		CHILD_CHECK(ct_session_load(&copy, run_dir, name, true) == CTRACE_TIMED_OUT);
		CHILD_CHECK(copy.folder_fd == -1 && copy.file_fd == -1);
		CHILD_CHECK(ct_session_load(&copy, run_dir, name, false) == CTRACE_OK);
		CHILD_CHECK(copy.head->pid == (uint32_t)getppid());
		ct_session_close(&copy, false);
		CHILD_CHECK(ct_session_load(&copy, run_dir, name, true) == CTRACE_TIMED_OUT); /* reading did not end it either */
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	ct_session_close(&session, true);
}

static void two_recoverers_never_meet(void **state)
{
	char name[64];
	int status;
	pid_t pid = run_and_kill(make_one);

	(void)state;
	(void)snprintf(name, sizeof name, "%d.0", (int)pid);
	assert_int_equal(ct_session_load(&session, run_dir, name, true), CTRACE_OK);
	pid = fork();
	if (pid == 0)
		_exit(ct_session_load(&session, run_dir, name, true) == CTRACE_TIMED_OUT ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	ct_session_close(&session, false);
}

static void exec_away(void)
{
	struct ct_session other;
	char byte = 0;
	int pipes[2];
	pid_t pid;

	CHILD_CHECK(pipe(pipes) == 0);
	pid = fork();
	if (pid == 0) {
		CHILD_CHECK(ct_session_create(&other, run_dir) == CTRACE_OK);
		CHILD_CHECK(dup2(pipes[1], 1) == 1);
		(void)execlp("sh", "sh", "-c", "echo x; exec sleep 100", (char *)NULL);
		_exit(99);
	}
	CHILD_CHECK(read(pipes[0], &byte, 1) == 1 && byte == 'x');
	(void)snprintf(room, sizeof room, "%d.0", (int)pid);
	CHILD_CHECK(ct_session_load(&other, run_dir, room, true) == CTRACE_OK);
	(void)kill(pid, SIGKILL);
}

static void a_program_that_takes_over_by_exec_does_not_keep_it_alive(void **state)
{
	(void)state;
	run_child(exec_away);
}

/* ---- fork ---- */

static const struct ctrace_gate *gate;

static void fork_and_check(void)
{
	uint32_t parent = session.head->pid;
	char parent_path[4096];

	(void)snprintf(parent_path, sizeof parent_path, "%s", session.path);
	CHILD_CHECK(ct_session_fork(&session, run_dir) == CTRACE_OK);
	CHILD_CHECK(session.head->pid == (uint32_t)getpid() && parent != session.head->pid);
	CHILD_CHECK(strcmp(session.path, parent_path) != 0);
	CHILD_CHECK(&session.components[2].gate == gate && gate->level == 3);
	CHILD_CHECK(strcmp(ct_session_text(&session, session.components[2].name, &(size_t){ 0 }), "comp.two") == 0);
	CHILD_CHECK(session.head->ring_count == 0);
	CHILD_CHECK(session.head->lost[CTRACE_LOSS_NESTED] == 0);
	CHILD_CHECK(session.head->dest[1].sequence == 0 && session.head->dest[1].slot[0].offset == 0);
	CHILD_CHECK(session.head->dest[1].slot[1].path[0] == '\0');
	CHILD_CHECK(strcmp(session.head->dest[1].emitter, "BINFILE") == 0);
	session.components[2].gate.level = 1;
	CHILD_CHECK(gate->level == 1);
	ct_session_close(&session, true);
	CHILD_CHECK(!exists(session.path));
}

static void fork_to_private(void)
{
	CHILD_CHECK(ct_session_fork(&session, "/nonexistent") == CTRACE_OK);
	CHILD_CHECK(session.path[0] == '\0' && gate->level == 3);
	CHILD_CHECK(session.head->pid == (uint32_t)getpid());
}

static void make_parent(void)
{
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	assert_int_equal(ct_session_add_component(&session, 2), CTRACE_OK);
	assert_int_equal(ct_session_add_text(&session, "comp.two", 8, &session.components[2].name), CTRACE_OK);
	session.components[2].gate.level = 3;
	gate = &session.components[2].gate;
	session.head->ring_count = 5;
	session.head->lost[CTRACE_LOSS_NESTED] = 9;
	session.head->dest[1].sequence = 7;
	session.head->dest[1].slot[0].offset = 99;
	(void)snprintf(session.head->dest[1].slot[1].path, 10, "/x");
	(void)snprintf(session.head->dest[1].emitter, 10, "BINFILE");
}

static void a_forked_child_has_its_own_at_the_same_address(void **state)
{
	(void)state;
	make_parent();
	run_child(fork_and_check);
	assert_int_equal(gate->level, 3); /* the child changed its own */
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
	childs.file_fd = dup(session.file_fd);
	childs.folder_fd = dup(session.folder_fd);
	{
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			CHILD_CHECK(ct_session_fork(&childs, run_dir) == CTRACE_OK);
			CHILD_CHECK(childs.texts_allocated >= childs.head->texts_size);
			CHILD_CHECK(childs.texts_capacity == childs.head->texts_size);
			CHILD_CHECK(strlen(ct_session_text(&childs, out, &(size_t){ 0 })) == 0xFFFF);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	ct_session_close(&session, true);
}

/* ---- descriptors that the program closes behind our back ---- */

static void close_everything(void)
{
	static char text[0xFFFF];
	char name[256], path[4200], content[100];
	struct ct_session copy;
	ct_text out;
	int files[64], status;
	pid_t pid;

	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK);
	(void)snprintf(name, sizeof name, "%s", session.folder);
	for (int fd = 3; fd < 100; fd++)
		(void)close(fd);
	/* Files of the program's own, at the numbers that were ours. */
	for (size_t i = 0; i < CT_COUNT(files); i++) {
		(void)snprintf(path, sizeof path, "%s/own.%zu", room, i);
		files[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		CHILD_CHECK(files[i] > 2 && write(files[i], "own", 3) == 3);
	}
	for (int i = 0; i < 5; i++)
		CHILD_CHECK(ct_session_add_text(&session, text, sizeof text, &out) == CTRACE_OK); /* grows the file */
	CHILD_CHECK(ct_session_folder(&session) > 2);
	CHILD_CHECK(faccessat(ct_session_folder(&session), "session", F_OK, 0) == 0);
	pid = fork();
	if (pid == 0) {
		ct_session_close(&session, false);
		_exit(ct_session_load(&copy, run_dir, name, true) == CTRACE_TIMED_OUT ? 0 : 1); /* locked again */
	}
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	ct_session_close(&session, true);
	for (size_t i = 0; i < CT_COUNT(files); i++) {
		CHILD_CHECK(pread(files[i], content, sizeof content, 0) == 3 && memcmp(content, "own", 3) == 0);
		CHILD_CHECK(close(files[i]) == 0);
	}
}

static void a_program_may_close_every_descriptor_and_keeps_its_own(void **state)
{
	(void)state;
	run_child(close_everything);
	assert_int_equal(count_entries(run_dir), 0);
}

/* ---- somebody else's, whatever it holds ---- */

static char dead_name[64];
static char dead_file[200];

static void make_rich(void)
{
	ct_text out;

	make_one();
	for (uint32_t i = 0; i < 20; i++) {
		char name[20];

		(void)snprintf(name, sizeof name, "component.%u", i);
		(void)!ct_session_add_component(&session, i);
		(void)!ct_session_add_text(&session, name, strlen(name), &session.components[i].name);
	}
	(void)!ct_session_add_text(&session, "FILE=x\n", 7, &out);
	session.head->dest[0].settings = out;
	(void)snprintf(session.head->dest[0].emitter, 32, "TEXTFILE");
	memset(session.head->dest[0].slot[0].path, 'p', CTRACE_EMITTER_PATH_SIZE); /* no end */
	memset(session.head->program, 'g', sizeof session.head->program);
}

static void make_dead(void)
{
	pid_t pid = run_and_kill(make_rich);

	(void)snprintf(dead_name, sizeof dead_name, "%d.0", (int)pid);
	(void)snprintf(dead_file, sizeof dead_file, "%s/%s/session", run_dir, dead_name);
}

/* Touches everything that a recoverer or a tool would. */
static void use(struct ct_session *loaded)
{
	size_t size;
	const struct ct_session_head *head = loaded->head;

	assert_true(strlen(head->boot_id) < sizeof head->boot_id);
	assert_true(strlen(head->jobname) < sizeof head->jobname);
	assert_true(strlen(head->host) < sizeof head->host);
	assert_true(strlen(head->program) < sizeof head->program);
	assert_true(strlen(head->system) < sizeof head->system);
	assert_true(head->ring_count <= CT_RING_LIMIT);
	(void)strlen(ct_session_text(loaded, head->command_line, &size));
	(void)strlen(ct_session_text(loaded, head->working_folder, &size));
	for (uint32_t i = 0; i < head->component_count; i++) {
		const char *name = ct_session_text(loaded, loaded->components[i].name, &size);

		for (size_t at = 0; at <= size; at++)
			(void)*(const volatile char *)(name + at);
		(void)strlen(name);
	}
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		struct ct_dest *dest = &loaded->head->dest[i];

		assert_true(strlen(dest->emitter) < sizeof dest->emitter);
		assert_true(strlen(ct_dest_current(dest)->path) < CTRACE_EMITTER_PATH_SIZE);
		(void)strlen(ct_session_text(loaded, dest->settings, &size));
	}
	(void)ct_sync_wall_ns(&head->sync, ct_clock_ticks());
}

static void a_dead_ones_content_is_copied_and_bounded(void **state)
{
	size_t size;

	(void)state;
	make_dead();
	assert_int_equal(ct_session_load(&session, run_dir, dead_name, true), CTRACE_OK);
	assert_false(session.is_mapped);
	assert_int_equal(session.head->component_count, 20);
	assert_string_equal(ct_session_text(&session, session.components[19].name, &size), "component.19");
	use(&session);
	ct_session_close(&session, false);
}

static void a_file_cut_anywhere_is_damaged_but_harmless(void **state)
{
	static const uint64_t ends[] = { 0,
					 1,
					 8,
					 100,
					 4095,
					 4096,
					 sizeof(struct ct_session_head) - 1,
					 sizeof(struct ct_session_head),
					 CT_SESSION_COMPONENTS,
					 CT_SESSION_COMPONENTS + 1,
					 CT_SESSION_COMPONENTS + 19 * 32 + 31,
					 CT_SESSION_COMPONENTS + 20 * 32,
					 CT_SESSION_TEXTS,
					 CT_SESSION_TEXTS + 1,
					 CT_SESSION_TEXTS + 50 };

	(void)state;
	make_dead();
	for (size_t i = CT_COUNT(ends); i-- > 0;) {
		enum ctrace_status status;

		assert_int_equal(truncate(dead_file, (off_t)ends[i]), 0);
		status = ct_session_load(&session, run_dir, dead_name, true);
		assert_int_equal(status, CTRACE_DAMAGED);
		assert_null(session.head);
		assert_int_equal(session.file_fd, -1);
	}
}

static void any_byte_may_be_changed(void **state)
{
	struct ct_session_head *head = malloc(sizeof *head);
	uint64_t seed = 88172645463325252u;
	unsigned loaded = 0;
	int fd;

	(void)state;
	assert_non_null(head);
	make_dead();
	fd = open(dead_file, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, head, sizeof *head, 0), (ssize_t)sizeof *head);
	for (int round = 0; round < 3000; round++) {
		unsigned char byte;
		size_t at;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		/* Mostly where the counts and numbers are. */
		at = (size_t)(seed >> 8) % (round % 4 == 0 ? sizeof *head : offsetof(struct ct_session_head, dest));
		byte = round % 3 == 0 ? 0xFF : (unsigned char)seed;
		/* The size of the texts: no more than is quick to copy a thousand times. */
		if (at >= offsetof(struct ct_session_head, texts_size) + 2 && at < offsetof(struct ct_session_head, texts_size) + 4)
			continue;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		/* No lock: closing this descriptor's twin in the load would drop it. */
		if (ct_session_load(&session, run_dir, dead_name, false) == CTRACE_OK) {
			use(&session);
			ct_session_close(&session, false);
			loaded++;
		}
		assert_int_equal(pwrite(fd, head, sizeof *head, 0), (ssize_t)sizeof *head);
	}
	assert_true(loaded > 100);
	assert_int_equal(close(fd), 0);
	free(head);
}

static void names_that_point_anywhere_are_harmless(void **state)
{
	static const ct_text texts[] = {
		0, 1, 0xFFFF, UINT64_MAX, UINT64_MAX - 0xFFFF, 1ull << 63, 1ull << 16 | 0xFFFF, 0xFFFFFFFFull << 16
	};

	(void)state;
	make_dead();
	for (size_t i = 0; i < CT_COUNT(texts); i++) {
		for (uint64_t entry = 0; entry < 20; entry++)
			poke_file(dead_file, CT_SESSION_COMPONENTS + 32 * entry + offsetof(struct ct_component_entry, name), &texts[i],
				  8);
		assert_int_equal(ct_session_load(&session, run_dir, dead_name, true), CTRACE_OK);
		use(&session);
		ct_session_close(&session, false);
	}
}

static void another_version_is_unsupported_and_another_file_damaged(void **state)
{
	uint32_t version = CT_SESSION_VERSION + 1;
	uint64_t magic = 0;

	(void)state;
	make_dead();
	poke_file(dead_file, offsetof(struct ct_session_head, version), &version, sizeof version);
	assert_int_equal(ct_session_load(&session, run_dir, dead_name, true), CTRACE_UNSUPPORTED);
	poke_file(dead_file, 0, &magic, sizeof magic);
	assert_int_equal(ct_session_load(&session, run_dir, dead_name, true), CTRACE_DAMAGED);
}

static void links_and_pipes_in_its_place_are_refused_without_waiting(void **state)
{
	char long_name[400];

	(void)state;
	make_dead();
	assert_int_equal(symlink(dead_name, "run/55.0"), 0);
	assert_int_equal(ct_session_load(&session, run_dir, "55.0", false), CTRACE_DENIED);
	assert_int_equal(mkdir("run/56.0", 0700), 0);
	assert_int_equal(symlink(dead_file, "run/56.0/session"), 0);
	assert_int_equal(ct_session_load(&session, run_dir, "56.0", false), CTRACE_DENIED);
	assert_int_equal(mkdir("run/57.0", 0700), 0);
	assert_int_equal(mkfifo("run/57.0/session", 0600), 0);
	assert_int_not_equal(ct_session_load(&session, run_dir, "57.0", false), CTRACE_OK);
	assert_int_not_equal(ct_session_load(&session, run_dir, "57.0", true), CTRACE_OK);
	assert_int_equal(ct_session_load(&session, run_dir, "58.0", true), CTRACE_NOT_FOUND);
	assert_int_equal(mkdir("run/59.0", 0700), 0);
	assert_int_equal(ct_session_load(&session, run_dir, "59.0", true), CTRACE_NOT_FOUND);
	memset(long_name, 'n', sizeof long_name);
	long_name[399] = '\0';
	assert_int_equal(ct_session_load(&session, run_dir, long_name, true), CTRACE_DENIED);
}

/* ---- who somebody else is ---- */

static void who_it_was_is_read_from_the_head_alone(void **state)
{
	char jobname[16] = "unchanged";
	uint32_t asid = 77;
	char blank[16];

	(void)state;
	assert_int_equal(setenv("CTRACE_JOBNAME", "payroll", 1), 0);
	make_dead();
	assert_int_equal(ct_session_identify(run_dir, dead_name, &asid, jobname), CTRACE_OK);
	assert_int_equal(asid, 1);
	assert_string_equal(jobname, "PAYROLL");
	memset(blank, 'x', sizeof blank);
	poke_file(dead_file, offsetof(struct ct_session_head, jobname), blank, sizeof blank); /* not terminated */
	assert_int_equal(ct_session_identify(run_dir, dead_name, &asid, jobname), CTRACE_OK);
	assert_int_equal(strlen(jobname), sizeof jobname - 1);
	assert_int_equal(truncate(dead_file, offsetof(struct ct_session_head, host)), 0);
	assert_int_equal(ct_session_identify(run_dir, dead_name, &asid, jobname), CTRACE_OK);
}

static void who_cannot_be_read_is_nobody(void **state)
{
	uint32_t version = CT_SESSION_VERSION + 1;
	char jobname[16] = "unchanged";
	uint32_t asid = 77;

	(void)state;
	make_dead();
	assert_int_equal(ct_session_identify(run_dir, "58.0", &asid, jobname), CTRACE_NOT_FOUND);
	assert_int_equal(symlink(dead_name, "run/55.0"), 0);
	assert_int_equal(ct_session_identify(run_dir, "55.0", &asid, jobname), CTRACE_DENIED);
	ct_os_fail(CT_OS_READ, 0, 1, EIO);
	assert_int_equal(ct_session_identify(run_dir, dead_name, &asid, jobname), CTRACE_OS_ERROR);
	poke_file(dead_file, offsetof(struct ct_session_head, version), &version, sizeof version);
	assert_int_equal(ct_session_identify(run_dir, dead_name, &asid, jobname), CTRACE_UNSUPPORTED);
	poke_file(dead_file, 0, "xxxxxxxx", 8);
	assert_int_equal(ct_session_identify(run_dir, dead_name, &asid, jobname), CTRACE_DAMAGED);
	assert_int_equal(truncate(dead_file, 100), 0);
	assert_int_equal(ct_session_identify(run_dir, dead_name, &asid, jobname), CTRACE_DAMAGED);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	assert_int_equal(ct_session_identify(run_dir, session.folder, &asid, jobname), CTRACE_DENIED); /* ourselves */
	ct_session_close(&session, true);
	assert_int_equal(asid, 77);
	assert_string_equal(jobname, "unchanged");
}

static void a_changed_part_is_written_back(void **state)
{
	(void)state;
	make_dead();
	assert_int_equal(ct_session_load(&session, run_dir, dead_name, true), CTRACE_OK);
	session.head->dest[3].sequence = 42;
	assert_int_equal(ct_session_persist(&session, &session.head->dest[3].sequence, 8), CTRACE_OK);
	session.head->dest[4].sequence = 43; /* not persisted */
	ct_os_fail(CT_OS_WRITE, 0, 1, EIO);
	assert_int_equal(ct_session_persist(&session, &session.head->dest[4].sequence, 8), CTRACE_OS_ERROR);
	ct_session_close(&session, false);
	assert_int_equal(ct_session_load(&session, run_dir, dead_name, true), CTRACE_OK);
	assert_int_equal(session.head->dest[3].sequence, 42);
	assert_int_equal(session.head->dest[4].sequence, 0);
	ct_session_close(&session, false);
}

static void memory_and_disk_that_fail_say_so(void **state)
{
	(void)state;
	make_dead();
	for (unsigned skip = 0; skip < 3; skip++) {
		ct_os_fail(CT_OS_READ, skip, 1, EIO);
		assert_int_equal(ct_session_load(&session, run_dir, dead_name, true), CTRACE_OS_ERROR);
		assert_null(session.head);
	}
	assert_int_equal(ct_session_load(&session, run_dir, dead_name, true), CTRACE_OK);
	ct_session_close(&session, false);
}

static void the_slot_in_force_is_the_sequences(void **state)
{
	struct ct_dest dest = { 0 };

	(void)state;
	assert_ptr_equal(ct_dest_current(&dest), &dest.slot[0]);
	dest.sequence = 1;
	assert_ptr_equal(ct_dest_current(&dest), &dest.slot[1]);
	dest.sequence = UINT64_MAX;
	assert_ptr_equal(ct_dest_current(&dest), &dest.slot[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_run_directory_it_is_private_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(it_says_whose_it_is, set_up, tear_down),
		cmocka_unit_test_setup_teardown(its_files_are_for_us_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_attaches_again_gets_another_folder_and_asid, set_up, tear_down),
		cmocka_unit_test_setup_teardown(asids_run_from_1_to_ffff_and_begin_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_failing_call_leaves_a_private_session_and_no_litter, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_folder_with_a_name_is_complete_also_when_its_maker_is_killed_at_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(texts_come_back_terminated, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_last_text_ends_inside_the_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(components_have_real_blocks_up_to_the_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_full_disk_refuses_what_does_not_fit_and_keeps_the_rest, set_up, tear_down),
		cmocka_unit_test_setup_teardown(others_find_a_live_one_locked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(two_recoverers_never_meet, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_program_that_takes_over_by_exec_does_not_keep_it_alive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_forked_child_has_its_own_at_the_same_address, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_forked_child_without_a_run_directory_goes_private, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_parent_that_went_on_does_not_make_the_childs_copy_too_short, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_dead_ones_content_is_copied_and_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_cut_anywhere_is_damaged_but_harmless, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_byte_may_be_changed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_that_point_anywhere_are_harmless, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_version_is_unsupported_and_another_file_damaged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(links_and_pipes_in_its_place_are_refused_without_waiting, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_it_was_is_read_from_the_head_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_cannot_be_read_is_nobody, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_changed_part_is_written_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_and_disk_that_fail_say_so, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_slot_in_force_is_the_sequences, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_program_may_close_every_descriptor_and_keeps_its_own, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
