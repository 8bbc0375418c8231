/*
 * test_session_load.c - somebody else's session: who has its lock, who it is, and a copy that is
 * within bounds whatever the file holds.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "own_session_fixture.h"

#include <sys/syscall.h>

/* ---- the lock ---- */

static void others_find_a_live_one_locked(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	/* our own: never */
	assert_int_equal(
		ct_session_load(&(struct ct_session){ 0 }, run_dir, session.directory, true),
		CTRACE_DENIED);
	pid = fork();
	if (pid == 0) {
		struct ct_session copy;
		char name[256];

		(void)snprintf(name, sizeof name, "%s", session.directory);
		/* a child's end does not end its parent's life */
		ct_session_close(&session, false);
		CHILD_CHECK(ct_session_load(&copy, run_dir, name, true) == CTRACE_TIMED_OUT);
		CHILD_CHECK(copy.directory_fd == -1 && copy.file_fd == -1);
		CHILD_CHECK(ct_session_load(&copy, run_dir, name, false) == CTRACE_OK);
		CHILD_CHECK(copy.head->pid == (uint32_t)getppid());
		ct_session_close(&copy, false);
		/* reading did not end it either */
		CHILD_CHECK(ct_session_load(&copy, run_dir, name, true) == CTRACE_TIMED_OUT);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	ct_session_close(&session, true);
}

/* A copy of our own leaves its lock alone: others still find it alive. */
static void a_copy_of_our_own_keeps_the_lock(void **state)
{
	struct ct_session copy;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	assert_int_equal(ct_session_copy(&session, &copy), CTRACE_OK);
	assert_string_equal(copy.path, session.path);
	assert_int_equal(copy.head->pid, session.head->pid);
	assert_ptr_not_equal(copy.head, session.head);
	ct_session_close(&copy, false);
	pid = fork();
	if (pid == 0) {
		char name[256];

		(void)snprintf(name, sizeof name, "%s", session.directory);
		ct_session_close(&session, false);
		CHILD_CHECK(ct_session_load(&copy, run_dir, name, true) == CTRACE_TIMED_OUT);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	ct_session_close(&session, true);
	assert_int_equal(ct_session_create(&session, NULL), CTRACE_OK);
	assert_int_equal(ct_session_copy(&session, &copy), CTRACE_NOT_FOUND);
	ct_session_close(&session, true);
}

/* What happens just before a lock is asked for. */
static void (*before_lock)(void);

int fcntl(int fd, int command, ...)
{
	void *argument;
	va_list arguments;

	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (before_lock != NULL && (command == F_SETLK || command == F_OFD_SETLK)) {
		void (*act)(void) = before_lock;

		before_lock = NULL;
		act();
	}
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

static char lock_name[64];

static void recover_it(void)
{
	ct_directory_remove(run_dir, lock_name);
}

/* Another recoverer was faster: it is neither damaged nor there. */
static void one_that_was_removed_before_the_lock_is_not_there(void **state)
{
	(void)state;
	(void)snprintf(lock_name, sizeof lock_name, "%d.0", (int)run_and_kill(make_one));
	before_lock = recover_it;
	assert_int_equal(ct_session_load(&session, run_dir, lock_name, true), CTRACE_NOT_FOUND);
	assert_null(before_lock);
	assert_int_equal(count_entries(run_dir), 0);
}

static bool can_be_recovered(const char *name)
{
	struct ct_session other;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		enum ctrace_status loaded;

		ct_session_reset_loaded();
		loaded = ct_session_load(&other, run_dir, name, true);
		_exit(loaded == CTRACE_OK ? 0 : loaded == CTRACE_TIMED_OUT ? 1 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) == 0;
}

static void note_alive(const struct ct_directory_entry *entry, void *user)
{
	*(unsigned *)user += entry->is_alive;
}

static void looking_at_what_we_recover_does_not_drop_the_lock(void **state)
{
	unsigned alive = 0;
	char jobname[16];
	uint32_t asid;

	(void)state;
	(void)snprintf(lock_name, sizeof lock_name, "%d.0", (int)run_and_kill(make_one));
	assert_int_equal(ct_session_load(&session, run_dir, lock_name, true), CTRACE_OK);
	/* As another thread does that looks for an address space. */
	ct_directory_each(run_dir, note_alive, &alive);
	/* a recoverer's lock is no sign of life; below, it keeps other recoverers out */
	assert_int_equal(alive, 0);
	assert_int_equal(ct_session_identify(run_dir, lock_name, &asid, jobname), CTRACE_OK);
	assert_int_equal(ct_session_load(&(struct ct_session){ 0 }, run_dir, lock_name, true),
			 CTRACE_TIMED_OUT);
	assert_false(can_be_recovered(lock_name));
	ct_session_close(&session, false);
	assert_true(can_be_recovered(lock_name));
}

/* A child that was forked meanwhile, and lives on. */
static void a_child_does_not_keep_its_parents_lock(void **state)
{
	int done_pipe[2], ready_pipe[2];
	char byte = 0;
	pid_t pid;

	(void)state;
	(void)snprintf(lock_name, sizeof lock_name, "%d.0", (int)run_and_kill(make_one));
	assert_int_equal(ct_session_load(&session, run_dir, lock_name, true), CTRACE_OK);
	assert_int_equal(pipe(done_pipe) | pipe(ready_pipe), 0);
	pid = fork();
	if (pid == 0) {
		ct_session_reset_loaded();
		(void)!write(ready_pipe[1], "r", 1);
		(void)!read(done_pipe[0], &byte, 1);
		_exit(0);
	}
	assert_int_equal(read(ready_pipe[0], &byte, 1), 1);
	assert_false(can_be_recovered(lock_name)); /* the child's end did not drop it */
	ct_session_close(&session, false);
	assert_true(can_be_recovered(lock_name));
	assert_int_equal(write(done_pipe[1], "d", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (int i = 0; i < 2; i++)
		assert_int_equal(close(done_pipe[i]) | close(ready_pipe[i]), 0);
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
		(void)!ct_session_reserve_component(&session, i);
		(void)!ct_session_add_text(&session, name, strlen(name),
					   &session.components[i].name);
		ct_session_commit_component(&session, i);
	}
	(void)!ct_session_add_text(&session, "FILE=x\n", 7, &out);
	session.head->dest[0].settings = out;
	(void)snprintf(session.head->dest[0].emitter, 32, "TEXTFILE");
	(void)!ct_dest_put_path(&session, 0, "p");
	memset(session.paths[0].at, 'p', sizeof session.paths[0].at); /* no end */
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
	(void)strlen(ct_session_text(loaded, head->working_directory, &size));
	for (uint32_t i = 0; i < head->component_count; i++) {
		const char *name = ct_session_text(loaded, loaded->components[i].name, &size);

		for (size_t at = 0; at <= size; at++)
			(void)*(const volatile char *)(name + at);
		(void)strlen(name);
	}
	for (uint32_t i = 0; i < CT_DEST_LIMIT; i++) {
		struct ct_dest *dest = &loaded->head->dest[i];

		assert_true(strlen(dest->emitter) < sizeof dest->emitter);
		assert_true(strlen(ct_dest_path(loaded, i)) < CTRACE_EMITTER_PATH_SIZE);
		(void)strlen(ct_session_text(loaded, dest->settings, &size));
	}
	(void)ct_sync_wall_ns(&head->sync.slot[head->sync.version % 2], ct_clock_ticks());
}

static void a_dead_ones_content_is_copied_and_bounded(void **state)
{
	size_t size;

	(void)state;
	make_dead();
	assert_int_equal(ct_session_load(&session, run_dir, dead_name, true), CTRACE_OK);
	assert_false(session.is_mapped);
	assert_int_equal(session.head->component_count, 20);
	assert_string_equal(ct_session_text(&session, session.components[19].name, &size),
			    "component.19");
	use(&session);
	ct_session_close(&session, false);
}

/* As another process adds them; in a copy there are those that it had used. */
static void classes_that_were_added_are_copied_again(void **state)
{
	uint32_t used = sizeof(struct ct_class_table), more = 100 * CT_CLASS_UNIT;
	struct ct_class_image image;

	(void)state;
	make_dead();
	assert_int_equal(ct_session_load(&session, run_dir, dead_name, false), CTRACE_OK);
	assert_int_equal(ct_session_classes(&session).size, used);
	poke_file(dead_file, session.layout.classes_at, &more, sizeof more);
	poke_file(dead_file, session.layout.classes_at + more - 4, "last", 4);
	assert_int_equal(ct_session_classes(&session).size, used);
	assert_true(ct_session_load_classes(&session));
	image = ct_session_classes(&session);
	assert_int_equal(image.size, more);
	assert_memory_equal(image.bytes + more - 4, "last", 4);
	/* One was completed meanwhile. */
	poke_file(dead_file, session.layout.classes_at + more - 4, "done", 4);
	assert_true(ct_session_load_classes(&session));
	image = ct_session_classes(&session);
	assert_memory_equal(image.bytes + more - 4, "done", 4);
	/* A table says that it is larger than there is room. */
	poke_file(dead_file, session.layout.classes_at, "\xFF\xFF\xFF\xFF", 4);
	assert_true(ct_session_load_classes(&session));
	assert_int_equal(ct_session_classes(&session).size,
			 session.layout.texts_at - session.layout.classes_at);
	assert_int_equal(truncate(dead_file, (off_t)session.layout.classes_at), 0);
	assert_false(ct_session_load_classes(&session));
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
		at = (size_t)(seed >> 8) %
		     (round % 4 == 0 ? sizeof *head : offsetof(struct ct_session_head, dest));
		byte = round % 3 == 0 ? 0xFF : (unsigned char)seed;
		/* The size of the texts: no more than is quick to copy a thousand times. */
		if (at >= offsetof(struct ct_session_head, texts_size) + 2 &&
		    at < offsetof(struct ct_session_head, texts_size) + 4)
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
	static const ct_text texts[] = { 0,
					 1,
					 0xFFFF,
					 UINT64_MAX,
					 UINT64_MAX - 0xFFFF,
					 1ull << 63,
					 1ull << 16 | 0xFFFF,
					 0xFFFFFFFFull << 16 };

	(void)state;
	make_dead();
	for (size_t i = 0; i < CT_COUNT(texts); i++) {
		for (uint64_t entry = 0; entry < 20; entry++)
			poke_file(dead_file,
				  CT_SESSION_COMPONENTS + 32 * entry +
					  offsetof(struct ct_component_entry, name),
				  &texts[i], 8);
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
	/* left by a dormant process that was killed while it ended */
	assert_int_equal(ct_session_load(&session, run_dir, "59.0", true), CTRACE_NOT_FOUND);
	assert_int_equal(access("run/59.0", F_OK), -1);
	assert_int_equal(mkdir("run/59.0", 0700), 0);
	put_file("run/59.0/ring.0", "", 0);
	/* nobody has removed the directory */
	assert_int_equal(ct_session_load(&session, run_dir, "59.0", true), CTRACE_DAMAGED);
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
	/* not terminated */
	poke_file(dead_file, offsetof(struct ct_session_head, jobname), blank, sizeof blank);
	assert_int_equal(ct_session_identify(run_dir, dead_name, &asid, jobname), CTRACE_OK);
	assert_int_equal(strlen(jobname), sizeof jobname - 1);
	assert_int_equal(truncate(dead_file, offsetof(struct ct_session_head, host)), 0);
	assert_int_equal(ct_session_identify(run_dir, dead_name, &asid, jobname), CTRACE_OK);
}

/* The file of numbers stays its user's, also when root was the first to number a process there. */
static void root_numbers_the_processes_of_a_user(void **state)
{
	const uid_t user = 65534;
	char jobname[16];
	uint32_t asid = 0, again = 0;
	struct stat info;

	(void)state;
	make_dead();
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(run_dir, user, user) | chown(dead_file, user, user), 0);
	dead_file[strlen(dead_file) - strlen("/session")] = '\0';
	assert_int_equal(chown(dead_file, user, user), 0);
	dead_file[strlen(dead_file)] = '/';
	assert_int_equal(ct_session_identify(run_dir, dead_name, &asid, jobname), CTRACE_OK);
	assert_int_equal(asid, 1);
	assert_int_equal(stat("run/asid", &info), 0);
	assert_int_equal(info.st_uid, user);
	poke_file(dead_file, offsetof(struct ct_session_head, asid), &again, sizeof again);
	assert_int_equal(ct_session_identify(run_dir, dead_name, &again, jobname), CTRACE_OK);
	assert_int_equal(again, 2);
	/* what is there stays */
	assert_int_equal(ct_session_identify(run_dir, dead_name, &again, jobname), CTRACE_OK);
	assert_int_equal(again, 2);
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
	assert_int_equal(ct_session_identify(run_dir, dead_name, &asid, jobname),
			 CTRACE_UNSUPPORTED);
	poke_file(dead_file, 0, "xxxxxxxx", 8);
	assert_int_equal(ct_session_identify(run_dir, dead_name, &asid, jobname), CTRACE_DAMAGED);
	assert_int_equal(truncate(dead_file, 100), 0);
	assert_int_equal(ct_session_identify(run_dir, dead_name, &asid, jobname), CTRACE_DAMAGED);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	/* ourselves */
	assert_int_equal(ct_session_identify(run_dir, session.directory, &asid, jobname),
			 CTRACE_DENIED);
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
	assert_int_equal(ct_session_persist(&session, &session.head->dest[3].sequence, 8),
			 CTRACE_OK);
	session.head->dest[4].sequence = 43; /* not persisted */
	ct_os_fail(CT_OS_WRITE, 0, 1, EIO);
	assert_int_equal(ct_session_persist(&session, &session.head->dest[4].sequence, 8),
			 CTRACE_OS_ERROR);
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
		assert_int_equal(ct_session_load(&session, run_dir, dead_name, true),
				 CTRACE_OS_ERROR);
		assert_null(session.head);
	}
	assert_int_equal(ct_session_load(&session, run_dir, dead_name, true), CTRACE_OK);
	ct_session_close(&session, false);
}

/* ---- mapped by an external writer ---- */

static int open_directory(const char *name)
{
	char path[200];
	int fd;

	(void)snprintf(path, sizeof path, "%s/%s", run_dir, name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd > 2);
	return fd;
}

static void one_writer_of_a_number_maps_it_and_is_seen_to_live(void **state)
{
	struct ct_session second, copy;

	(void)state;
	make_dead();
	assert_int_equal(ct_session_map(&session, open_directory(dead_name), 3), CTRACE_OK);
	assert_true(session.is_mapped);
	assert_int_equal(session.head->component_count, 20);
	assert_int_equal(ct_session_map(&second, open_directory(dead_name), 3), CTRACE_TIMED_OUT);
	assert_int_equal(second.directory_fd, -1);
	assert_int_equal(ct_session_map(&second, open_directory(dead_name), 4), CTRACE_OK);
	session.head->dest[2].sequence = 42;
	assert_int_equal(second.head->dest[2].sequence, 42); /* the file itself */
	ct_session_close(&second, false);
	assert_int_equal(ct_session_load(&copy, run_dir, dead_name, false), CTRACE_OK);
	assert_true(ct_session_writer_lives(&copy, 3));
	assert_false(ct_session_writer_lives(&copy, 4));
	ct_session_close(&copy, false);
	assert_int_equal(ct_session_load(&copy, run_dir, dead_name, false), CTRACE_OK);
	assert_true(ct_session_writer_lives(&copy, 3)); /* closing a copy does not end its life */
	ct_session_close(&session, false);
	assert_false(ct_session_writer_lives(&copy, 3));
	ct_session_close(&copy, false);
}

static void what_is_no_session_is_not_mapped(void **state)
{
	uint32_t version = CT_SESSION_VERSION + 1;

	(void)state;
	make_dead();
	poke_file(dead_file, offsetof(struct ct_session_head, version), &version, sizeof version);
	assert_int_equal(ct_session_map(&session, open_directory(dead_name), 1),
			 CTRACE_UNSUPPORTED);
	poke_file(dead_file, 0, "xxxxxxxx", 8);
	assert_int_equal(ct_session_map(&session, open_directory(dead_name), 1), CTRACE_DAMAGED);
	assert_int_equal(truncate(dead_file, CT_SESSION_SIZE - 1), 0);
	assert_int_equal(ct_session_map(&session, open_directory(dead_name), 1), CTRACE_DAMAGED);
	assert_int_equal(unlink(dead_file), 0);
	assert_int_equal(ct_session_map(&session, open_directory(dead_name), 1), CTRACE_NOT_FOUND);
	assert_int_equal(mkfifo(dead_file, 0600), 0);
	assert_int_equal(ct_session_map(&session, open_directory(dead_name), 1), CTRACE_DAMAGED);
	assert_int_equal(session.directory_fd, -1);
	assert_int_equal(session.file_fd, -1);
}

int test_session_load(void)
{
	const struct CMUnitTest tests[] = {
		SESSION_TEST(others_find_a_live_one_locked),
		SESSION_TEST(a_copy_of_our_own_keeps_the_lock),
		SESSION_TEST(two_recoverers_never_meet),
		SESSION_TEST(one_that_was_removed_before_the_lock_is_not_there),
		SESSION_TEST(looking_at_what_we_recover_does_not_drop_the_lock),
		SESSION_TEST(a_child_does_not_keep_its_parents_lock),
		SESSION_TEST(a_program_that_takes_over_by_exec_does_not_keep_it_alive),
		SESSION_TEST(a_dead_ones_content_is_copied_and_bounded),
		SESSION_TEST(classes_that_were_added_are_copied_again),
		SESSION_TEST(a_file_cut_anywhere_is_damaged_but_harmless),
		SESSION_TEST(any_byte_may_be_changed),
		SESSION_TEST(names_that_point_anywhere_are_harmless),
		SESSION_TEST(another_version_is_unsupported_and_another_file_damaged),
		SESSION_TEST(links_and_pipes_in_its_place_are_refused_without_waiting),
		SESSION_TEST(who_it_was_is_read_from_the_head_alone),
		SESSION_TEST(root_numbers_the_processes_of_a_user),
		SESSION_TEST(who_cannot_be_read_is_nobody),
		SESSION_TEST(a_changed_part_is_written_back),
		SESSION_TEST(memory_and_disk_that_fail_say_so),
		SESSION_TEST(one_writer_of_a_number_maps_it_and_is_seen_to_live),
		SESSION_TEST(what_is_no_session_is_not_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
