/*
 * test_session.c - a session in memory: texts and components up to its limits, and descriptors that
 * the program closes behind our back.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "own_session_fixture.h"

#include "session/session_parts.h"

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
	assert_int_equal(ct_session_add_text(&session, longest, 0x10000, &text),
			 CTRACE_NOT_ENOUGH_MEMORY);
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

static void a_definition_is_read_within_bounds(void **state)
{
	struct ctrace_definition hostile = { .userdata = { 1 } }, found;
	struct ct_component_entry entry = { .flags = CT_COMPONENT_DESCRIBED };
	char text[5 + sizeof hostile] = "NAME";
	ct_text name;

	(void)state;
	memset(hostile.fmttab, '"', sizeof hostile.fmttab);
	memcpy(text + 5, &hostile, sizeof hostile);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	assert_int_equal(ct_session_add_text(&session, text, sizeof text, &name), CTRACE_OK);
	entry.name = (name >> 16) << 16 | 4;
	assert_true(ct_session_definition(&session, &entry, &found));
	assert_string_equal(found.fmttab, "");
	assert_int_equal(found.userdata[0], 1);
	entry.name += 2; /* ends behind the texts */
	assert_false(ct_session_definition(&session, &entry, &found));
	entry.name = UINT64_MAX;
	assert_false(ct_session_definition(&session, &entry, &found));
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
	/* no room for its end */
	assert_int_equal(ct_session_add_text(&session, text, 10, &out), CTRACE_NOT_ENOUGH_MEMORY);
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
		uint32_t count = session.head->component_count;

		assert_int_equal(ct_session_reserve_component(&session, indexes[i]), CTRACE_OK);
		session.components[indexes[i]].parent = 1;
		/* nobody reads an entry that is being written */
		assert_int_equal(session.head->component_count, count);
		ct_session_commit_component(&session, indexes[i]);
		assert_int_equal(session.head->component_count, indexes[i] + 1);
		assert_int_equal(fstat(session.file_fd, &info), 0);
		assert_true((uint64_t)info.st_blocks * 512 >=
			    (indexes[i] + 1) * sizeof(struct ct_component_entry));
	}
	assert_int_equal(ct_session_reserve_component(&session, CT_COMPONENT_LIMIT),
			 CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(ct_session_reserve_component(&session, UINT32_MAX),
			 CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(ct_session_reserve_component(&session, 3), CTRACE_OK);
	ct_session_commit_component(&session, 3);
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
	/* as much as it likes, then as little as it needs */
	ct_os_fail(CT_OS_ALLOCATE, 0, 4, ENOSPC);
	assert_int_equal(ct_session_reserve_component(&session, 5000), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(session.head->component_count, 0);
	assert_int_equal(ct_session_add_text(&session, text, sizeof text, &out),
			 CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(out, 4711);
	assert_int_equal(ct_session_add_text(&session, text, sizeof text, &out), CTRACE_OK);
	assert_int_equal(ct_session_reserve_component(&session, 5000), CTRACE_OK);
	ct_session_close(&session, true);
}

static void a_disk_that_is_nearly_full_gives_what_is_needed(void **state)
{
	ct_text out;

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	ct_os_fail(CT_OS_ALLOCATE, 0, 1, ENOSPC);
	assert_int_equal(ct_session_reserve_component(&session, 2000), CTRACE_OK);
	assert_int_equal(session.components_allocated,
			 CT_ALIGN_UP(2001 * sizeof(struct ct_component_entry), (size_t)4096));
	assert_int_equal(ct_session_add_text(&session, "text", 4, &out), CTRACE_OK);
	ct_session_close(&session, true);
}

/* ---- classes ---- */

static void classes_grow_up_to_the_limit(void **state)
{
	uint64_t most, before;
	struct stat info;

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	most = session.layout.texts_at - session.layout.classes_at;
	before = session.classes->limit;
	assert_in_range(before, 1, most / 2);
	ct_os_fail(CT_OS_ALLOCATE, 0, 2, ENOSPC);
	ct_session_add_classes(&session);
	/* a store there would be SIGBUS on a full disk */
	assert_int_equal(session.classes->limit, before);
	for (; before < most; before = session.classes->limit) {
		ct_session_add_classes(&session);
		assert_in_range(session.classes->limit, 2 * before < most ? 2 * before : most,
				most);
		assert_int_equal(fstat(session.file_fd, &info), 0);
		assert_true((uint64_t)info.st_blocks * 512 >= session.classes->limit);
	}
	assert_int_equal(session.classes->limit, most);
	ct_session_add_classes(&session);
	assert_int_equal(session.classes->limit, most);
	ct_session_close(&session, true);
}

static void the_image_of_classes_is_all_of_the_table(void **state)
{
	struct ct_class_image image;

	(void)state;
	assert_int_equal(ct_session_create(&session, NULL), CTRACE_OK);
	image = ct_session_classes(&session);
	assert_ptr_equal(image.bytes, session.classes);
	assert_int_equal(image.size, session.layout.texts_at - session.layout.classes_at);
	assert_false(image.has_names);
	ct_session_close(&session, true);
}

/* ---- where destinations write ---- */

static uint64_t blocks(void)
{
	struct stat info;

	assert_int_equal(fstat(session.file_fd, &info), 0);
	return (uint64_t)info.st_blocks * 512;
}

static void a_path_counts_with_its_slot_and_has_blocks_when_it_is_stored(void **state)
{
	uint64_t before;

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	assert_true(blocks() <= (uint64_t)76 * 1024); /* nothing of what only some processes need */
	assert_string_equal(ct_dest_path(&session, 3), "");
	assert_int_equal(ct_dest_put_path(&session, 3, ""), CTRACE_OK);
	before = blocks();
	ct_os_fail(CT_OS_ALLOCATE, 0, 1, ENOSPC);
	assert_int_equal(ct_dest_put_path(&session, 3, "/first"), CTRACE_OS_ERROR);
	/* a store there would be SIGBUS on a full disk */
	assert_int_equal(session.head->has_paths, 0);
	assert_int_equal(ct_dest_put_path(&session, 3, "/first"), CTRACE_OK);
	assert_int_equal(session.head->has_paths, 1u << 3);
	/* Of its own, and perhaps one in which the file system lists them. */
	assert_in_range(blocks(), before + sizeof(struct ct_dest_paths),
			before + sizeof(struct ct_dest_paths) + 4096);
	assert_string_equal(ct_dest_path(&session, 3), "");
	session.head->dest[3].sequence++;
	assert_string_equal(ct_dest_path(&session, 3), "/first");
	assert_int_equal(ct_dest_put_path(&session, 3, ct_dest_path(&session, 3)), CTRACE_OK);
	session.head->dest[3].sequence++;
	assert_string_equal(ct_dest_path(&session, 3), "/first");
	/* Of its own, and perhaps one in which the file system lists them. */
	assert_in_range(blocks(), before + sizeof(struct ct_dest_paths),
			before + sizeof(struct ct_dest_paths) + 4096);
	ct_session_close(&session, true);
}

static void a_text_of_an_emitter_may_have_the_reason(void **state)
{
	(void)state;
	assert_true(ct_dest_text_has_reason("nats://server: no answer"));
	assert_false(ct_dest_text_has_reason("nats://server"));
	assert_false(ct_dest_text_has_reason("/a file: with a strange name"));
	assert_false(ct_dest_text_has_reason(""));
}

/* ---- descriptors that the program closes behind our back ---- */

static void close_everything(void)
{
	static char text[0xFFFF];
	char name[256], path[4200], content[100];
	struct ct_session copy;
	ct_text out;
	int files[64], numbers[2], status;
	pid_t pid;

	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK);
	(void)snprintf(name, sizeof name, "%s", session.directory);
	numbers[0] = session.file_fd;
	numbers[1] = session.directory_fd;
	closefrom(3);
	/* Files of the program's own, two of them at the numbers that were ours. */
	for (size_t i = 0; i < CT_COUNT(files); i++) {
		(void)snprintf(path, sizeof path, "%s/own.%zu", room, i);
		files[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (i < CT_COUNT(numbers)) {
			int low = files[i];

			files[i] = fcntl(low, F_DUPFD_CLOEXEC, numbers[i]);
			CHILD_CHECK(close(low) == 0 && files[i] == numbers[i]);
		}
		CHILD_CHECK(files[i] > 2 && write(files[i], "own", 3) == 3);
	}
	for (int i = 0; i < 5; i++)
		/* grows the file */
		CHILD_CHECK(ct_session_add_text(&session, text, sizeof text, &out) == CTRACE_OK);
	CHILD_CHECK(ct_session_directory(&session) > 2);
	CHILD_CHECK(faccessat(ct_session_directory(&session), "session", F_OK, 0) == 0);
	pid = fork();
	if (pid == 0) {
		ct_session_close(&session, false);
		/* locked again */
		_exit(ct_session_load(&copy, run_dir, name, true) == CTRACE_TIMED_OUT ? 0 : 1);
	}
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	ct_session_close(&session, true);
	for (size_t i = 0; i < CT_COUNT(files); i++) {
		CHILD_CHECK(pread(files[i], content, sizeof content, 0) == 3 &&
			    memcmp(content, "own", 3) == 0);
		CHILD_CHECK(close(files[i]) == 0);
	}
}

static void a_program_may_close_every_descriptor_and_keeps_its_own(void **state)
{
	(void)state;
	run_child(close_everything);
	assert_int_equal(count_entries(run_dir), 0);
}

/* A daemon that closes all descriptors and drops its rights: it cannot open the session again, but
 * it has it mapped. */
static void drop_rights_and_grow(void)
{
	static char text[0xFFFF];
	uint64_t before;
	ct_text out;

	CHILD_CHECK(ct_session_create(&session, run_dir) == CTRACE_OK && session.path[0] != '\0');
	before = session.components_allocated;
	closefrom(3);
	CHILD_CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
	CHILD_CHECK(!ct_session_reach(&session));
	CHILD_CHECK(ct_session_reserve_component(&session, 5000) == CTRACE_OK &&
		    session.components_allocated > before);
	session.components[5000].parent = 7;
	ct_session_commit_component(&session, 5000);
	for (int i = 0; i < 5; i++)
		CHILD_CHECK(ct_session_add_text(&session, text, sizeof text, &out) == CTRACE_OK);
}

static void a_program_may_close_every_descriptor_and_drop_its_rights(void **state)
{
	struct ct_session copy;
	struct stat info;
	char name[64];

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root has rights to drop */
	(void)snprintf(name, sizeof name, "%d.0", (int)run_and_kill(drop_rights_and_grow));
	assert_int_equal(ct_session_load(&copy, run_dir, name, true), CTRACE_OK);
	assert_int_equal(copy.head->component_count, 5001);
	assert_int_equal(copy.components[5000].parent, 7);
	assert_int_equal(fstat(copy.file_fd, &info), 0);
	assert_true((uint64_t)info.st_blocks * 512 >=
		    5001 * sizeof(struct ct_component_entry) + 5 * 0xFFFF);
	ct_session_close(&copy, true);
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

/* In another process: the test's own would lose the lock of its session. */
static void ring_and_leave(void)
{
	char first[] = "first,", second[] = "second";
	const struct ct_buf requests[] = { { .data = first, .size = 6 },
					   { .data = second, .size = 6 } };

	CHILD_CHECK(ct_bell_is_dormant(session.path));
	CHILD_CHECK(ct_bell_ring(session.path) == CTRACE_OK);
	CHILD_CHECK(ct_bell_leave(session.path, &requests[0]) == CTRACE_OK);
	CHILD_CHECK(ct_bell_leave(session.path, &requests[1]) == CTRACE_OK);
}

static void find_it_awake(void)
{
	char late[] = "late";
	const struct ct_buf request = { .data = late, .size = 4 };

	CHILD_CHECK(!ct_bell_is_dormant(session.path));
	CHILD_CHECK(ct_bell_process_lives(session.path));
	CHILD_CHECK(!ct_bell_process_lives("/nothing"));
	CHILD_CHECK(ct_bell_ring(session.path) == CTRACE_NOT_FOUND);
	CHILD_CHECK(ct_bell_leave(session.path, &request) == CTRACE_TIMED_OUT);
}

static void take_left(const struct ct_buf *request, void *user)
{
	ct_buf_add(user, request->data, request->size);
}

static void who_answers_the_bell_takes_what_was_left_once(void **state)
{
	struct ct_buf taken;

	(void)state;
	ct_buf_init(&taken);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	session.head->is_dormant = CT_DORMANT;
	assert_int_equal(session.head->bell.level, CTRACE_LEVEL_NONE);
	run_child(ring_and_leave);
	assert_int_equal(session.head->bell.level, 0);
	ct_bell_answer(&session, take_left, &taken);
	assert_string_equal(ct_buf_text(&taken), "first,second");
	assert_int_equal(session.head->is_dormant, CT_AWAKE);
	run_child(find_it_awake);
	ct_bell_answer(&session, take_left, &taken);
	assert_string_equal(ct_buf_text(&taken), "first,second");
	ct_session_close(&session, true);
	ct_buf_fini(&taken);
}

/* Tools that leave requests at the same time may leave more than a list of them holds. */
static void however_many_were_left_they_are_taken_in_order(void **state)
{
	struct ct_buf taken, wanted;

	(void)state;
	ct_buf_init(&taken);
	ct_buf_init(&wanted);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	session.head->is_dormant = CT_DORMANT;
	session.head->bell.level = 0;
	for (unsigned i = 200; i-- > 0;) {
		char path[4200], text[16];
		FILE *file;

		(void)snprintf(path, sizeof path, "%s/" CT_BELL_LEFT "%u", session.path, i);
		(void)snprintf(text, sizeof text, "%u,", i);
		file = fopen(path, "we");
		assert_non_null(file);
		assert_true(fputs(text, file) >= 0 && fchmod(fileno(file), 0600) == 0);
		assert_int_equal(fclose(file), 0);
	}
	for (unsigned i = 0; i < 200; i++)
		ct_buf_add_format(&wanted, "%u,", i);
	ct_bell_answer(&session, take_left, &taken);
	assert_string_equal(ct_buf_text(&taken), ct_buf_text(&wanted));
	ct_session_close(&session, true);
	ct_buf_fini(&taken);
	ct_buf_fini(&wanted);
}

static void find_it_not_parted(void)
{
	CHILD_CHECK(!ct_bell_is_parted(session.path));
}

static void drop_user_and_look(void)
{
	struct ct_session made;
	int ready[2];
	pid_t dormant;

	CHILD_CHECK(pipe2(ready, O_CLOEXEC) == 0);
	dormant = fork();
	if (dormant == 0) {
		CHILD_CHECK(ct_session_create_dormant(&made, run_dir) == CTRACE_OK);
		made.head->is_dormant = CT_DORMANT;
		CHILD_CHECK(setuid(65534) == 0);
		CHILD_CHECK(write(ready[1], made.path, strlen(made.path) + 1) > 0);
		(void)pause();
		_exit(0);
	}
	CHILD_CHECK(read(ready[0], session.path, sizeof session.path) > 1);
	CHILD_CHECK(ct_bell_is_parted(session.path));
	CHILD_CHECK(kill(dormant, SIGKILL) == 0 && waitpid(dormant, NULL, 0) == dormant);
	CHILD_CHECK(!ct_bell_is_parted(session.path));
}

/* A dormant session lacks what events need.  Tools know when its process has changed its user. */
static void a_dormant_one_that_changed_its_user_is_known(void **state)
{
	(void)state;
	assert_int_equal(ct_session_create_dormant(&session, run_dir), CTRACE_OK);
	session.head->is_dormant = CT_DORMANT;
	assert_int_equal(session.head->asid, 0);
	assert_int_equal(session.head->sync.slot[0].point_count, 0);
	ct_session_note_clock(&session);
	assert_true(session.head->sync.slot[0].point_count >= 1);
	run_child(find_it_not_parted);
	ct_session_close(&session, true);
	if (geteuid() == 0)
		run_child(drop_user_and_look);
}

/* Also when the process has restored the length. */
static void a_cut_session_is_known(void **state)
{
	char file[4200], name[256];

	(void)state;
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	(void)snprintf(name, sizeof name, "%s", session.directory);
	(void)snprintf(file, sizeof file, "%s/session", session.path);
	assert_false(ct_directory_is_cut(run_dir, name));
	assert_false(ct_directory_is_cut(run_dir, "1.0"));
	assert_int_equal(truncate(file, 0), 0);
	assert_true(ct_directory_is_cut(run_dir, name));
	assert_true(ct_session_heal(&session));
	assert_int_equal(session.head->was_cut, 1);
	assert_true(ct_directory_is_cut(run_dir, name));
	ct_session_close(&session, true);
}

int test_session(void)
{
	const struct CMUnitTest tests[] = {
		SESSION_TEST(texts_come_back_terminated),
		SESSION_TEST(the_last_text_ends_inside_the_file),
		SESSION_TEST(a_definition_is_read_within_bounds),
		SESSION_TEST(components_have_real_blocks_up_to_the_limit),
		SESSION_TEST(a_full_disk_refuses_what_does_not_fit_and_keeps_the_rest),
		SESSION_TEST(a_disk_that_is_nearly_full_gives_what_is_needed),
		SESSION_TEST(a_path_counts_with_its_slot_and_has_blocks_when_it_is_stored),
		SESSION_TEST(classes_grow_up_to_the_limit),
		SESSION_TEST(the_image_of_classes_is_all_of_the_table),
		SESSION_TEST(the_slot_in_force_is_the_sequences),
		SESSION_TEST(a_text_of_an_emitter_may_have_the_reason),
		SESSION_TEST(a_program_may_close_every_descriptor_and_keeps_its_own),
		SESSION_TEST(a_program_may_close_every_descriptor_and_drop_its_rights),
		SESSION_TEST(who_answers_the_bell_takes_what_was_left_once),
		SESSION_TEST(a_dormant_one_that_changed_its_user_is_known),
		SESSION_TEST(a_cut_session_is_known),
		SESSION_TEST(however_many_were_left_they_are_taken_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
