/*
 * test_dump.c - a dump has what the rings held at one moment, and changes nothing of the process.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

#include "lib/dump/crash.h"
#include "lib/dump/dump.h"

static struct ctrace_tracer stored = CTRACE_TRACER("STORED");
static struct ctrace_tracer other = CTRACE_TRACER("OTHER");

static enum ctrace_status dump(const char *path, const char *component,
			       struct ct_dump_result *result)
{
	const struct ct_dump_request request = {
		.own = &ct_process.session,
		.path = path,
		.title = "a title\nof two lines",
		.reason = "test",
		.component = component,
		.details = "detail: one\n",
	};

	return ct_dump_make(&request, result);
}

static void store(const char *more)
{
	char text[200];
	int size = snprintf(text, sizeof text, "mftrace.level = debug\nmftrace.dest = storage\n%s",
			    more);

	configure("");
	put_file("config", text, (size_t)size);
}

static void trace(struct ctrace_tracer *from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		CTRACE(from, CTRACE_INFO, 7, CTRACE_U32(i), CTRACE_TEXT("counted", i % 8));
}

static void about_has(const char *path, const char *line)
{
	char name[300], text[4096] = "";
	FILE *file;

	(void)snprintf(name, sizeof name, "%s/" CT_DUMP_ABOUT, path);
	file = fopen(name, "r");
	CHILD_CHECK(file != NULL);
	CHILD_CHECK(fread(text, 1, sizeof text - 1, file) > 0);
	(void)fclose(file);
	CHILD_CHECK(strstr(text, line) != NULL);
}

static void body_dumps_itself(void)
{
	const struct ct_dump_request own = { .title = "",
					     .reason = "test",
					     .details = "detail: two\n" };
	char name[CT_DUMP_NAME_SIZE], path[300] = "", again[300] = "";
	uint64_t events = 0;
	enum ctrace_status status;

	CHILD_CHECK(ctrace_dump("none", path, sizeof path) == CTRACE_NOT_FOUND && path[0] == '\0');
	trace(&stored, 5);
	status = ctrace_dump("a title", path, sizeof path);
	CHILD_CHECK(status == CTRACE_OK && exists(path));
	about_has(path, "title: a title\n");
	about_has(path, "reason: ctrace_dump\n");
	ct_dump_name(ct_process.session.head, name);
	CHILD_CHECK(strstr(name, ".dump") != NULL);
	/* for another reason */
	status = ct_dump_own(&own, again, sizeof again, &events);
	CHILD_CHECK(status == CTRACE_OK && exists(again) && strcmp(path, again) != 0);
	CHILD_CHECK(events == 5);
	about_has(again, "detail: two\n");
	ct_dump_sweep(again);
	CHILD_CHECK(exists(again));
	CHILD_CHECK(ct_dump_make_room("dumps", 2, UINT64_MAX, "") == 0);
	CHILD_CHECK(ct_dump_make_room("dumps", 1, UINT64_MAX, strrchr(again, '/') + 1) == 1);
	CHILD_CHECK(!exists(path) && exists(again));
	CHILD_CHECK(ct_dump_make_room("dumps", 1, 1, "") == 1 && !exists(again));
	ct_crash_follow(&ct_process); /* ctrace.dump.on = off: nothing is installed */
	CHILD_CHECK(!ct_crash_ends_process());
	ct_crash_leave("trigger X"); /* the directory has to stay for the dump */
	CHILD_CHECK(ct_crash_ends_process());
}

static void a_process_dumps_itself(void **state)
{
	char here[1000], more[1100];

	(void)state;
	assert_non_null(getcwd(here, sizeof here));
	(void)snprintf(more, sizeof more, "ctrace.dump.directory = %s/dumps\n", here);
	store(more);
	assert_int_equal(run_traced(body_dumps_itself), 0);
}

static size_t print_place(char *out, size_t size)
{
	return (size_t)snprintf(out, size, "paragraph: here\n");
}

static void body_has_an_error(void)
{
	char place[CT_DUMP_PLACE], path[300] = "";

	trace(&stored, 5);
	CHILD_CHECK(ct_dump_print_code_place(place) == 0);
	CHILD_CHECK(*ctrace_dump_place_(print_place) != 0);
	CHILD_CHECK(ct_dump_print_code_place(place) == strlen("paragraph: here\n"));
	ctrace_dump_signal_(SIGSEGV, NULL, NULL); /* not asked for */
	CHILD_CHECK(!ct_dump_error_was_dumped());
	errno = EXDEV;
	ctrace_dump_error_("of two\nlines", strlen("of two\nlines"));
	CHILD_CHECK(errno == EXDEV && ct_dump_error_was_dumped());
	/* within the same second, or a second later */
	CHILD_CHECK(ct_dump_own(&(struct ct_dump_request){ .title = "",
							   .reason = "COBOL run-time error",
							   .details = "error: of two\\nlines\n" },
				path, sizeof path, NULL) == CTRACE_OK);
	about_has(path, "error: of two\\nlines\n");
	about_has(path, "paragraph: here\n");
	(void)ctrace_dump_place_(NULL);
	CHILD_CHECK(ct_dump_print_code_place(place) == 0);
}

static void a_run_time_error_is_dumped(void **state)
{
	(void)state;
	store("ctrace.dump.on = cobol-error\n");
	assert_int_equal(run_traced(body_has_an_error), 0);
}

static void body_dumps(void)
{
	struct ct_dump_result result;

	trace(&stored, 1000);
	trace(&other, 10);
	CHILD_CHECK(dump("one", NULL, &result) == CTRACE_OK);
	CHILD_CHECK(result.events == 1010 && result.overwritten == 0 && result.damaged == 0 &&
		    result.unread == 0);
	about_has("one", "title: a title\\nof two lines\n");
	about_has("one", "reason: test\n");
	about_has("one", "events: 1010\n");
	about_has("one", "component: STORED DEBUG\n");
	about_has("one", "detail: one\n");
	/* Nothing was taken out of the rings. */
	CHILD_CHECK(dump("two", NULL, &result) == CTRACE_OK);
	CHILD_CHECK(result.events == 1010);
	CHILD_CHECK(dump("three", "stor*", &result) == CTRACE_OK);
	CHILD_CHECK(result.events == 1000);
	CHILD_CHECK(dump("four", "NONE", &result) == CTRACE_OK);
	CHILD_CHECK(result.events == 0 && !exists("four"));
}

static void it_has_what_the_rings_hold(void **state)
{
	(void)state;
	store("");
	assert_int_equal(run_traced(body_dumps), 0);
}

static void body_wraps(void)
{
	struct ct_dump_result result;

	trace(&stored, 100000);
	CHILD_CHECK(dump("one", NULL, &result) == CTRACE_OK);
	CHILD_CHECK(result.overwritten > 0);
	CHILD_CHECK(result.events + result.overwritten == 100000);
	CHILD_CHECK(result.events > 500);
}

static void what_was_overwritten_is_counted(void **state)
{
	(void)state;
	store("ctrace.buffer = 64K\n");
	assert_int_equal(run_traced(body_wraps), 0);
}

static uint32_t is_over;

static void *traces_until_over(void *unused)
{
	while (__atomic_load_n(&is_over, __ATOMIC_RELAXED) == 0)
		trace(&stored, 100);
	return unused;
}

static void body_dumps_while_it_traces(void)
{
	pthread_t threads[4];
	struct ct_dump_result result;
	char path[16];

	trace(&stored, 1); /* attaches */
	for (unsigned i = 0; i < 4; i++)
		CHILD_CHECK(pthread_create(&threads[i], NULL, traces_until_over, NULL) == 0);
	for (unsigned i = 0; i < 30; i++) {
		(void)snprintf(path, sizeof path, "dump%u", i);
		CHILD_CHECK(dump(path, NULL, &result) == CTRACE_OK);
		CHILD_CHECK(result.damaged == 0 && result.unread == 0);
	}
	CHILD_CHECK(result.events > 0);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < 4; i++)
		CHILD_CHECK(pthread_join(threads[i], NULL) == 0);
}

static void threads_trace_meanwhile(void **state)
{
	(void)state;
	store("ctrace.buffer = 256K\n");
	assert_int_equal(run_traced(body_dumps_while_it_traces), 0);
}

static void body_fails(void)
{
	struct ct_dump_result result;
	struct dirent *entry;
	DIR *directory;

	trace(&stored, 10);
	CHILD_CHECK(mkdir("there", 0700) == 0);
	CHILD_CHECK(dump("there", NULL, &result) == CTRACE_OUTPUT_ERROR && errno == EEXIST);
	CHILD_CHECK(dump("config/x", NULL, &result) == CTRACE_OUTPUT_ERROR && errno == ENOTDIR);
	CHILD_CHECK(dump("", NULL, &result) == CTRACE_OUTPUT_ERROR);
	directory = opendir(".");
	CHILD_CHECK(directory != NULL);
	while ((entry = readdir(directory)) != NULL)
		CHILD_CHECK(strstr(entry->d_name, ".new.") == NULL);
	(void)closedir(directory);
}

static void on_failure_nothing_is_left(void **state)
{
	(void)state;
	store("");
	assert_int_equal(run_traced(body_fails), 0);
}

/* Of dumps in one second each has a name of its own.  A link in the place of the temporary
 * directory is not followed. */
static void body_dumps_twice(void)
{
	struct ct_dump_request request = { .own = &ct_process.session,
					   .title = "",
					   .reason = "test" };
	const struct ct_session_head *head;
	struct ct_dump_result result;
	char path[2][300], link[300];

	trace(&stored, 10);
	head = ct_process.session.head;
	CHILD_CHECK(mkdir("dumps", 0700) == 0 && mkdir("others", 0700) == 0);
	for (unsigned i = 0; i < 2; i++) {
		CHILD_CHECK(ct_dump_make_in("dumps", head, &request, path[i], sizeof path[i],
					    &result) == CTRACE_OK);
		CHILD_CHECK(result.events == 10 && exists(path[i]));
	}
	CHILD_CHECK(strcmp(path[0], path[1]) != 0);
	CHILD_CHECK(ct_dump_make_in("dumps", head, &request, link, 20, &result) ==
			    CTRACE_OUTPUT_ERROR &&
		    errno == ENAMETOOLONG);
	CHILD_CHECK(close(open("others/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == 0);
	(void)snprintf(link, sizeof link, ".one.new.%u", (unsigned)getpid());
	CHILD_CHECK(symlink("others", link) == 0);
	CHILD_CHECK(dump("one", NULL, &result) != CTRACE_OK && exists("others/file"));
	CHILD_CHECK(ct_dump_remove(AT_FDCWD, path[0]) && !exists(path[0]));
}

static void dumps_have_names_of_their_own(void **state)
{
	(void)state;
	store("");
	assert_int_equal(run_traced(body_dumps_twice), 0);
}

static void no_such_process(void **state)
{
	const struct ct_dump_request request = { .run_directory = run_dir,
						 .directory = "999999.0",
						 .path = "none",
						 .title = "",
						 .reason = "test" };
	struct ct_dump_result result;

	(void)state;
	assert_int_equal(ct_dump_make(&request, &result), CTRACE_NOT_FOUND);
	assert_false(exists("none"));
}

/* A child is forked while another thread makes a dump: the child can make one of its own. */
static void body_dumps_in_a_child(void)
{
	char path[300] = "", again[300] = "";

	trace(&stored, 10);
	CHILD_CHECK(ctrace_dump("", path, sizeof path) == CTRACE_OK);
	ct_dump_forked();
	CHILD_CHECK(ctrace_dump("", again, sizeof again) == CTRACE_OK && exists(again));
	CHILD_CHECK(strcmp(path, again) != 0); /* not the parent's */
}

static void a_forked_child_can_dump(void **state)
{
	(void)state;
	store("");
	assert_int_equal(run_traced(body_dumps_in_a_child), 0);
}

int test_dump(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_process_dumps_itself, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_run_time_error_is_dumped, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(it_has_what_the_rings_hold, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(what_was_overwritten_is_counted, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(threads_trace_meanwhile, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(on_failure_nothing_is_left, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(dumps_have_names_of_their_own, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_forked_child_can_dump, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(no_such_process, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
