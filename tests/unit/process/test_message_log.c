/*
 * test_message_log.c - messages for consoles in the run directory, and for the hardcopy log.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "process_fixture.h"

#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/process/message_log.h"
#include "lib/process/process.h"

#define FORKS 500u

static void text_read(const char *path, struct ct_buf *out)
{
	ct_buf_init(out);
	CHILD_CHECK(ct_os_read_file(path, 1u << 20, out) == CTRACE_OK);
}

static void messages_path(char path[4200])
{
	(void)snprintf(path, 4200, "%s/" CT_MESSAGE_LOG, run_dir);
}

static void write_messages(void)
{
	char path[4200], process[CT_MESSAGE_LOG_PROCESS], expected[200];
	struct ct_buf text;
	struct stat info;

	CHILD_CHECK(ct_process_attach() != NULL);
	messages_path(path);
	ct_message_log_console("first");
	ct_message_log_console("a\nforged \033[2J line");
	text_read(path, &text);
	CHILD_CHECK(strstr(ct_buf_text(&text), " first\n") == text.data + 8);
	CHILD_CHECK(strchr(ct_buf_text(&text), '\033') == NULL);
	CHILD_CHECK(strchr(strchr(ct_buf_text(&text), '\n') + 1, '\n') ==
		    text.data + text.size - 1);
	CHILD_CHECK(stat(path, &info) == 0 && (info.st_mode & 07777) == 0600);
	ct_buf_fini(&text);
	/* a long one is begun anew */
	CHILD_CHECK(truncate(path, (off_t)CT_MESSAGE_LOG_LIMIT + 1) == 0);
	ct_message_log_console("last");
	text_read(path, &text);
	CHILD_CHECK(strcmp(ct_buf_text(&text) + 8, " last\n") == 0);
	ct_buf_fini(&text);
	(void)snprintf(expected, sizeof expected, "process %d JOBNAME ", (int)getpid());
	ct_message_log_process(process);
	CHILD_CHECK(strncmp(process, expected, strlen(expected)) == 0);
	/* without ctrace.log nothing happens */
	ct_message_log_hardcopy("anna", 4711, '>', "level shop debug");
}

static void messages_are_lines_in_the_run_directory(void **state)
{
	(void)state;
	assert_int_equal(run_traced(write_messages), 0);
}

static void write_through_a_link(void)
{
	char path[4200];
	struct stat info;

	CHILD_CHECK(ct_process_attach() != NULL);
	messages_path(path);
	put_file("victim", "", 0);
	CHILD_CHECK(symlink("../victim", path) == 0);
	ct_message_log_console("text");
	CHILD_CHECK(stat("victim", &info) == 0 && info.st_size == 0);
}

static void links_are_not_followed(void **state)
{
	(void)state;
	assert_int_equal(run_traced(write_through_a_link), 0);
}

static void write_hardcopy(void)
{
	struct ct_buf text;
	char path[4200];

	(void)snprintf(path, sizeof path, "%s/hardcopy", room);
	CHILD_CHECK(ct_process_attach() != NULL);
	memcpy(ct_process.settings.log, path, strlen(path));
	ct_process.settings.log_size = (uint32_t)strlen(path);
	ct_message_log_hardcopy("anna", 4711, '>', "level shop debug");
	ct_message_log_hardcopy("anna", 4711, ' ', "done");
	text_read(path, &text);
	CHILD_CHECK(strstr(ct_buf_text(&text), " anna 4711 > level shop debug\n") != NULL);
	CHILD_CHECK(strstr(ct_buf_text(&text), " anna 4711   done\n") != NULL);
	ct_buf_fini(&text);
}

static void a_line_of_a_hardcopy_log_cannot_be_forged(void **state)
{
	struct ct_buf line;

	(void)state;
	ct_buf_init(&line);
	ct_message_log_add_hardcopy(&line, "NOW ", "anna", 4711, '>',
				    (struct ct_span){ "a\nb!", 3 });
	assert_string_equal(ct_buf_text(&line), "NOW anna 4711 > a\\nb");
	ct_buf_fini(&line);
}

static void the_hardcopy_log_has_its_lines(void **state)
{
	(void)state;
	assert_int_equal(run_traced(write_hardcopy), 0);
}

static void *write_on(void *stopping)
{
	while (__atomic_load_n((bool *)stopping, __ATOMIC_RELAXED) == false)
		ct_message_log_console("text");
	return NULL;
}

/* A child that hangs is killed by its alarm. */
static void fork_while_another_thread_writes(void)
{
	bool stopping = false;
	pthread_t thread;

	CHILD_CHECK(ct_process_attach() != NULL);
	CHILD_CHECK(pthread_create(&thread, NULL, write_on, &stopping) == 0);
	for (unsigned i = 0; i < FORKS; i++) {
		time_t now = time(NULL);
		pid_t child = fork();
		struct tm local;
		int status;

		if (child == 0) {
			(void)alarm(60);
			_exit(localtime_r(&now, &local) == NULL);
		}
		CHILD_CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	}
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	CHILD_CHECK(pthread_join(thread, NULL) == 0);
}

static void a_forked_child_may_ask_for_the_time(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fork_while_another_thread_writes), 0);
}

int test_message_log(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(messages_are_lines_in_the_run_directory,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(links_are_not_followed, fixture_setup,
						fixture_teardown),
		cmocka_unit_test(a_line_of_a_hardcopy_log_cannot_be_forged),
		cmocka_unit_test_setup_teardown(the_hardcopy_log_has_its_lines, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_forked_child_may_ask_for_the_time, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
