/*
 * test_preset.c - presets: kept for all processes of a run directory, whole or not at all, and
 * never through a link.
 *
 * Each step is a process of its own that attaches, as TRACE CT and DEFINE do it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

#include "lib/component/component.h"

#define TRACE "APPXYZ.ASID(0005)"
#define FILE_OF_TRACE "run/preset/" TRACE

static struct ct_trace_request request, got;

static int set_up(void **state)
{
	static const char text[] =
		"TRACEOPTS SUB(ASID(5)) PRESET(PUT) ASID(1,2F) JOBNAME(ABC) BUFSIZE(64K) OPTIONS('a=b c','it''s') WTR(WRITER)";
	struct ct_parmlib parmlib;

	assert_int_equal(ct_parmlib_parse(text, strlen(text), &parmlib, NULL, NULL), 0);
	assert_int_equal(parmlib.count, 1);
	request = parmlib.requests[0];
	ct_parmlib_fini(&parmlib);
	memset(&got, 0x5A, sizeof got);
	return fixture_setup(state);
}

static int tear_down(void **state)
{
	return unsetenv("CTRACE_ATTACH") != 0 || fixture_teardown(state) != 0;
}

/* All but where it stood in a text. */
static bool is_the_request(const struct ct_trace_request *a)
{
	struct ct_trace_request x = *a, y = request;

	memset(x.place, 0, sizeof x.place);
	memset(y.place, 0, sizeof y.place);
	return memcmp(&x, &y, sizeof x) == 0;
}

static bool is_untouched(void)
{
	static struct ct_trace_request untouched;

	memset(&untouched, 0x5A, sizeof untouched);
	return memcmp(&got, &untouched, sizeof got) == 0;
}

static void attach(void)
{
	CHILD_CHECK(ct_process_attach() != NULL);
}

static unsigned count_files(void)
{
	DIR *directory = opendir("run/preset");
	struct dirent *entry;
	unsigned count = 0;

	while (directory != NULL && (entry = readdir(directory)) != NULL)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	if (directory != NULL)
		(void)closedir(directory);
	return count;
}

/* ---- there and back ---- */

static void put_it(void)
{
	(void)umask(0);
	attach();
	CHILD_CHECK(ct_preset_put(TRACE, &request) == CTRACE_OK);
}

static void get_it(void)
{
	attach();
	CHILD_CHECK(ct_preset_get(TRACE, &got) == CTRACE_OK);
	CHILD_CHECK(is_the_request(&got));
}

static void what_one_process_puts_another_one_gets(void **state)
{
	struct stat info;

	(void)state;
	assert_int_equal(run_traced(put_it), 0);
	assert_int_equal(lstat("run/preset", &info), 0);
	assert_true(S_ISDIR(info.st_mode));
	assert_int_equal(info.st_mode & 07777, 0700);
	assert_int_equal(lstat(FILE_OF_TRACE, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_int_equal(count_files(), 1);
	assert_int_equal(run_traced(get_it), 0);
}

static void use_another_spelling(void)
{
	attach();
	CHILD_CHECK(ct_preset_put("AppXyz.Some_thing", &request) == CTRACE_OK);
	CHILD_CHECK(ct_preset_get("APPXYZ.SOME_THING", &got) == CTRACE_OK && is_the_request(&got));
	CHILD_CHECK(ct_preset_delete("appxyz.some_thing") == CTRACE_OK);
}

static void case_does_not_count(void **state)
{
	(void)state;
	assert_int_equal(run_traced(use_another_spelling), 0);
	assert_int_equal(count_files(), 0);
}

static void put_twice(void)
{
	put_it();
	request.bufsize = 128u << 10;
	put_it();
	get_it();
	CHILD_CHECK(got.bufsize == 128u << 10);
}

static void the_later_one_counts(void **state)
{
	(void)state;
	assert_int_equal(run_traced(put_twice), 0);
	assert_int_equal(count_files(), 1);
}

static void delete_it(void)
{
	attach();
	CHILD_CHECK(ct_preset_delete(TRACE) == CTRACE_OK);
	CHILD_CHECK(ct_preset_delete(TRACE) == CTRACE_NOT_FOUND);
	CHILD_CHECK(ct_preset_get(TRACE, &got) == CTRACE_NOT_FOUND);
	CHILD_CHECK(is_untouched());
}

static void what_was_deleted_is_not_found(void **state)
{
	(void)state;
	assert_int_equal(run_traced(put_it), 0);
	assert_int_equal(run_traced(delete_it), 0);
	assert_int_equal(count_files(), 0);
}

static void look_where_nothing_is(void)
{
	attach();
	CHILD_CHECK(ct_preset_get(TRACE, &got) == CTRACE_NOT_FOUND && is_untouched());
	CHILD_CHECK(ct_preset_delete(TRACE) == CTRACE_NOT_FOUND);
}

static void looking_makes_no_directory(void **state)
{
	(void)state;
	assert_int_equal(run_traced(look_where_nothing_is), 0);
	assert_false(exists("run/preset"));
}

static void use_none(void)
{
	attach();
	CHILD_CHECK(ct_preset_put(TRACE, &request) == CTRACE_DENIED);
	CHILD_CHECK(ct_preset_get(TRACE, &got) == CTRACE_DENIED && is_untouched());
	CHILD_CHECK(ct_preset_delete(TRACE) == CTRACE_DENIED);
}

static void look_without_a_run_directory(void)
{
	attach();
	CHILD_CHECK(ct_preset_put(TRACE, &request) == CTRACE_DENIED);
	CHILD_CHECK(ct_preset_get(TRACE, &got) == CTRACE_NOT_FOUND && is_untouched());
	CHILD_CHECK(ct_preset_delete(TRACE) == CTRACE_NOT_FOUND);
}

static void without_a_run_directory_there_are_none(void **state)
{
	(void)state;
	assert_int_equal(run_traced(put_it), 0);
	assert_int_equal(setenv("CTRACE_ATTACH", "0", 1), 0);
	assert_int_equal(run_traced(look_without_a_run_directory), 0);
	assert_true(exists(FILE_OF_TRACE));
}

/* ---- what is in the way ---- */

static void a_link_is_neither_followed_nor_replaced(void **state)
{
	(void)state;
	assert_int_equal(run_traced(put_it), 0);
	assert_int_equal(rename(FILE_OF_TRACE, "elsewhere"), 0);
	assert_int_equal(symlink("../../elsewhere", FILE_OF_TRACE), 0);
	assert_int_equal(run_traced(use_none), 0);
	assert_int_equal(unlink(FILE_OF_TRACE), 0);
	assert_int_equal(link("elsewhere", FILE_OF_TRACE), 0);
	assert_int_equal(run_traced(use_none), 0);
	assert_int_equal(count_files(), 1);
}

static void another_users_file_is_neither_read_nor_replaced(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(run_traced(put_it), 0);
	assert_int_equal(chown(FILE_OF_TRACE, 12345, 12345), 0);
	assert_int_equal(run_traced(use_none), 0);
	assert_int_equal(count_files(), 1);
}

static void a_directory_that_is_not_ours_alone_is_not_used(void **state)
{
	(void)state;
	assert_int_equal(run_traced(put_it), 0);
	assert_int_equal(chmod("run/preset", 0770), 0);
	assert_int_equal(run_traced(use_none), 0);
	assert_int_equal(chmod("run/preset", 0700), 0);
	assert_int_equal(rename("run/preset", "elsewhere"), 0);
	assert_int_equal(symlink("../elsewhere", "run/preset"), 0);
	assert_int_equal(run_traced(use_none), 0);
	assert_int_equal(unlink("run/preset"), 0);
	put_file("run/preset", "", 0);
	assert_int_equal(run_traced(use_none), 0);
	if (geteuid() != 0)
		return;
	assert_int_equal(unlink("run/preset"), 0);
	assert_int_equal(rename("elsewhere", "run/preset"), 0);
	assert_int_equal(chown("run/preset", 12345, 12345), 0);
	assert_int_equal(run_traced(use_none), 0);
}

static void use_strange_names(void)
{
	static const char *const names[] = { "", ".", "..", ".NEW-1", "../session", "A/B" };
	char long_name[2 * CT_TRACE_NAME_SIZE];

	attach();
	for (size_t i = 0; i < CT_COUNT(names); i++) {
		CHILD_CHECK(ct_preset_put(names[i], &request) == CTRACE_INVALID_COMPONENT_NAME);
		CHILD_CHECK(ct_preset_get(names[i], &got) == CTRACE_INVALID_COMPONENT_NAME);
		CHILD_CHECK(ct_preset_delete(names[i]) == CTRACE_INVALID_COMPONENT_NAME);
	}
	memset(long_name, 'A', sizeof long_name);
	long_name[CT_TRACE_NAME_SIZE] = '\0';
	CHILD_CHECK(ct_preset_put(long_name, &request) == CTRACE_INVALID_COMPONENT_NAME);
	long_name[CT_TRACE_NAME_SIZE - 1] = '\0';
	CHILD_CHECK(ct_preset_put(long_name, &request) == CTRACE_OK);
	CHILD_CHECK(ct_preset_get(long_name, &got) == CTRACE_OK && is_the_request(&got));
}

static void no_name_leads_out_of_the_directory(void **state)
{
	(void)state;
	assert_int_equal(run_traced(use_strange_names), 0);
}

/* ---- damage ---- */

static void get_damaged(void)
{
	attach();
	CHILD_CHECK(ct_preset_get(TRACE, &got) == CTRACE_DAMAGED && is_untouched());
}

static void what_is_no_preset_is_damaged(void **state)
{
	static const char *const texts[] = { "", "TRACEOPTS", "TRACEOPTS ON BUFSIZE(",
					     "TRACEOPTS SUB(A) ON SUB(B) ON", "\xFF" };
	char *large = malloc(CT_PARMLIB_LIMIT + 100);

	(void)state;
	assert_non_null(large);
	assert_int_equal(mkdir("run/preset", 0700), 0);
	for (size_t i = 0; i < CT_COUNT(texts); i++) {
		put_file(FILE_OF_TRACE, texts[i], strlen(texts[i]));
		assert_int_equal(run_traced(get_damaged), 0);
	}
	memset(large, ' ', CT_PARMLIB_LIMIT + 100);
	memcpy(large, "TRACEOPTS ON", 12);
	put_file(FILE_OF_TRACE, large, CT_PARMLIB_LIMIT + 100);
	free(large);
	assert_int_equal(run_traced(get_damaged), 0);
}

static void put_on_a_full_disk(void)
{
	attach();
	request.bufsize = 1u << 20;
	ct_os_fail(CT_OS_WRITE, 0, 1, ENOSPC);
	CHILD_CHECK(ct_preset_put(TRACE, &request) == CTRACE_OS_ERROR);
	request.bufsize = 64u << 10;
	CHILD_CHECK(ct_preset_get(TRACE, &got) == CTRACE_OK && is_the_request(&got));
	ct_os_fail(CT_OS_READ, 0, 1, EIO);
	CHILD_CHECK(ct_preset_get(TRACE, &got) == CTRACE_OS_ERROR);
}

static void a_full_disk_leaves_the_old_one_and_nothing_else(void **state)
{
	(void)state;
	assert_int_equal(run_traced(put_it), 0);
	assert_int_equal(run_traced(put_on_a_full_disk), 0);
	assert_int_equal(count_files(), 1);
}

/* ---- the run directory's other uses ---- */

static void count_entry(const struct ct_directory_entry *entry, void *user)
{
	unsigned *count = user;

	(void)entry;
	++*count;
}

static void recovery_and_removal_leave_presets_alone(void **state)
{
	unsigned count = 0;

	(void)state;
	assert_int_equal(run_traced(put_it), 0);
	ct_directory_each(run_dir, count_entry, &count);
	assert_int_equal(count, 0);
	assert_int_equal(recover().directories, 0);
	assert_int_equal(run_traced(get_it), 0);
	assert_int_equal(mkdir("run/7.0", 0700), 0); /* of a dead process */
	put_file("run/7.0/session", "s", 1);
	ct_directory_each(run_dir, count_entry, &count);
	assert_int_equal(count, 1);
	ct_directory_remove(run_dir, "7.0");
	assert_int_equal(run_traced(get_it), 0);
}

int test_preset(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_one_process_puts_another_one_gets, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(case_does_not_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_later_one_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_deleted_is_not_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(looking_makes_no_directory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_run_directory_there_are_none, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_link_is_neither_followed_nor_replaced, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(another_users_file_is_neither_read_nor_replaced,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_directory_that_is_not_ours_alone_is_not_used,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_name_leads_out_of_the_directory, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_preset_is_damaged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_full_disk_leaves_the_old_one_and_nothing_else,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(recovery_and_removal_leave_presets_alone, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
