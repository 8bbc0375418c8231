/*
 * test_setup.c - the configuration file and the environment, as a process attaches.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

static struct ct_settings settings;

/* As a process that attaches does. */
static void attach_settings(void)
{
	struct ct_setup_file file;

	ct_setup_file_init(&file);
	assert_true(ct_setup_load_modules(&file));
	ct_setup_read_settings(&file, &settings);
	ct_setup_file_fini(&file);
}

static void read_settings(const char *config)
{
	put_file("config", config, strlen(config));
	memset(&settings, 0xA5, sizeof settings);
	attach_settings();
}

static void without_a_file_the_defaults_hold(void **state)
{
	(void)state;
	assert_int_equal(unsetenv("MFTRACE_CONFIG"), 0);
	read_settings("ctrace.attach = off\n");
	assert_true(settings.attach);
	assert_string_equal(settings.run_directory, "");
	assert_int_equal(settings.buffer, CT_RING_DEFAULT);
	assert_int_equal(settings.overflow, CT_OVERFLOW_AUTO);
	assert_int_equal(setenv("MFTRACE_CONFIG", "/nonexistent/config", 1), 0);
	read_settings("");
	assert_true(settings.attach);
}

static void what_is_needed_before_a_session_is_read_first(void **state)
{
	(void)state;
	read_settings(
		"ctrace.attach = off\nctrace.run.directory = /some/where\nctrace.buffer = 64k\n");
	assert_false(settings.attach);
	assert_string_equal(settings.run_directory, "/some/where");
	read_settings("ctrace.attach = off\nctrace.attach = on\n"); /* the last one counts */
	assert_true(settings.attach);
}

static void the_environment_has_the_last_word_on_attaching(void **state)
{
	(void)state;
	assert_int_equal(setenv("CTRACE_ATTACH", "0", 1), 0);
	read_settings("ctrace.attach = on\n");
	assert_false(settings.attach);
	assert_int_equal(setenv("CTRACE_ATTACH", "1", 1), 0);
	read_settings("ctrace.attach = off\n");
	assert_true(settings.attach);
	assert_int_equal(unsetenv("CTRACE_ATTACH"), 0);
}

static void diagnostics_change_nothing_and_stop_nothing(void **state)
{
	(void)state;
	read_settings(
		"nonsense\nctrace.attach = maybe\n= = =\n\x01\xFF\xFE\nctrace.nosuch = 1\nctrace.run.directory = /x\n");
	assert_string_equal(settings.run_directory, "/x");
	read_settings("");
	assert_true(settings.attach);
}

static void another_programs_entries_before_its_name_are_discarded(void **state)
{
	char config[300];

	(void)state;
	read_settings(
		"ctrace.attach = off\nmftrace.application = some-other-program\nctrace.run.directory = /x\n");
	assert_true(settings.attach);
	(void)snprintf(config, sizeof config,
		       "ctrace.attach = off\nmftrace.application = %s\nctrace.run.directory = /x\n",
		       program_invocation_short_name);
	read_settings(config);
	assert_false(settings.attach);
	assert_string_equal(settings.run_directory, "/x");
}

static void a_file_that_is_no_file_or_too_large_is_not_read(void **state)
{
	char *large = malloc((size_t)5 << 20);
	char path[200];

	(void)state;
	assert_non_null(large);
	memset(large, '\n', (size_t)5 << 20);
	memcpy(large, "ctrace.attach = off\n", 20);
	put_file("config", large, (size_t)5 << 20);
	free(large);
	attach_settings();
	assert_true(settings.attach);
	(void)snprintf(path, sizeof path, "%s/pipe", room);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(setenv("MFTRACE_CONFIG", path, 1), 0);
	attach_settings(); /* does not wait for a writer */
	assert_true(settings.attach);
}

/* Without a file there is nothing to load; with one nothing is in force yet. */
static void loading_reads_the_file_and_changes_nothing(void **state)
{
	uint32_t index;

	(void)state;
	attach_settings();
	configure("mftrace.dest = ES, NOSUCH\nmftrace.emitter.nosuch#file = x\nnonsense\n");
	attach_settings();
	assert_int_equal(ct_process.state, CT_PROCESS_NEW);
	assert_int_equal(ct_emitter_find_known("NOSUCH", 6, &index), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ct_thread_locked, 0);
}

static void apply_and_look(void)
{
	static struct ctrace_tracer quiet = CTRACE_TRACER("unit.quiet");

	CHILD_CHECK(ct_process_attach() != NULL);
	CHILD_CHECK(ct_process.settings.buffer == 128 << 10);
	CHILD_CHECK(ct_process.settings.overflow == CT_OVERFLOW_DISCARD);
	CHILD_CHECK(ct_process.settings.block_timeout_ns == 250000000);
	CHILD_CHECK(ctrace_enabled(&tracer, CTRACE_DEBUG));
	CHILD_CHECK(!ctrace_enabled(&quiet, CTRACE_WARN) && ctrace_enabled(&quiet, CTRACE_ERROR));
	for (uint32_t i = 0; i < 10; i++)
		(void)emit(i);
}

static void everything_is_applied_before_the_first_event(void **state)
{
	(void)state;
	configure(
		"ctrace.buffer = 128k\nctrace.overflow = discard\nctrace.block.timeout = 250ms\nmftrace.level.unit.quiet = error\n"
		"mftrace.dest.unit.quiet = nosuchemitter\n");
	assert_int_equal(run_traced(apply_and_look), 0);
	assert_lines(0, 10);
}

/* ---- the second word of the command line ---- */

static char **long_arguments(const char *second)
{
	static char *arguments[1003];
	static char word[] = "0123456789012345678901234567890123456789";

	arguments[0] = (char *)(uintptr_t) "test_setup";
	arguments[1] = (char *)(uintptr_t)second;
	for (int i = 2; i < 1002; i++)
		arguments[i] = word;
	arguments[1002] = NULL;
	return arguments;
}

static char own_path[4096];

static void run_with_a_long_command_line(void)
{
	(void)execv(own_path, long_arguments("as-a-program"));
}

static void run_as_another(void)
{
	(void)execv(own_path, long_arguments("as-another"));
}

static void a_program_is_known_by_its_first_argument_however_many_follow(void **state)
{
	ssize_t size = readlink("/proc/self/exe", own_path, sizeof own_path - 1);

	(void)state;
	assert_true(size > 0);
	own_path[size] = '\0';
	configure("mftrace.application = (as-a-program)\n");
	assert_int_equal(run_traced(run_with_a_long_command_line), 0);
	assert_lines(0, 10);
	assert_int_equal(run_traced(run_as_another), 0);
	assert_lines(0, 10);
}

extern char **test_arguments;

static int run_as_a_program(void)
{
	for (uint32_t i = 0; i < 10; i++)
		(void)emit(i);
	return 0;
}

int test_setup(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_file_the_defaults_hold, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(what_is_needed_before_a_session_is_read_first,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_environment_has_the_last_word_on_attaching,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(diagnostics_change_nothing_and_stop_nothing,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			another_programs_entries_before_its_name_are_discarded, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(a_file_that_is_no_file_or_too_large_is_not_read,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(loading_reads_the_file_and_changes_nothing,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(everything_is_applied_before_the_first_event,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_program_is_known_by_its_first_argument_however_many_follow, fixture_setup,
			fixture_teardown),
	};

	if (test_arguments[1] != NULL && strncmp(test_arguments[1], "as-a", 4) == 0)
		return run_as_a_program();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
