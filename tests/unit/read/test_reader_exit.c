/*
 * test_reader_exit.c - exits: found by name, called with what they were promised, judged by what
 * they answer.
 *
 * Their code is compiled here: tests/golden/ipcs/codes.c answers what its options say.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "event_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#include "read/reader_exit.h"

static char directory[4096];
static char printed[256];

static void print(const char *text, size_t size, void *user)
{
	(void)user;
	(void)snprintf(printed, sizeof printed, "%.*s", (int)size, text);
}

static bool compile(const char *source, const char *name)
{
	char command[9000];

	(void)snprintf(command, sizeof command,
		       "gcc -shared -fPIC -I'%s/include' -o '%s' '%s/%s' && chmod 755 '%s'",
		       getenv("CTRACE_SOURCE"), name, getenv("CTRACE_SOURCE"), source, name);
	return system(command) == 0;
}

static int setup(void **state)
{
	(void)state;
	if (getcwd(directory, sizeof directory) == NULL ||
	    !compile("tests/golden/ipcs/codes.c", "CODES.so"))
		return -1;
	return compile("examples/reader-exit/culprit.c", "culprit.so") ? 0 : -1;
}

static enum ct_exit_answer call(struct ct_reader_exit *exit, const char *options)
{
	struct ct_exit_context context = { .options = options, .report = 2, .print = print };
	struct ct_read_event event = event_of(NULL, 0);

	return ct_reader_exit_call(exit, &event, &context);
}

static void answers(void **state)
{
	static const struct {
		const char *options;
		enum ct_exit_kind kind;
		enum ct_exit_answer first, second;
	} cases[] = {
		{ "0", CT_EXIT_FILTER, CT_EXIT_SHOW, CT_EXIT_SHOW },
		{ "8 0", CT_EXIT_FILTER, CT_EXIT_HIDE, CT_EXIT_SHOW },
		{ "12 8", CT_EXIT_FILTER, CT_EXIT_SHOW, CT_EXIT_SHOW },
		{ "4 8", CT_EXIT_FILTER, CT_EXIT_AGAIN, CT_EXIT_HIDE },
		{ "16 8", CT_EXIT_FILTER, CT_EXIT_END, CT_EXIT_SHOW },
		{ "3 8", CT_EXIT_FILTER, CT_EXIT_UNDEFINED, CT_EXIT_SHOW },
		{ "-1 8", CT_EXIT_FILTER, CT_EXIT_UNDEFINED, CT_EXIT_SHOW },
		{ "0 8", CT_EXIT_FORMATTER, CT_EXIT_SHOW, CT_EXIT_HIDE },
		{ "12 0", CT_EXIT_FORMATTER, CT_EXIT_SHOW, CT_EXIT_HIDE },
		{ "4 0", CT_EXIT_FORMATTER, CT_EXIT_UNDEFINED, CT_EXIT_HIDE },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		struct ct_reader_exit exit;

		assert_int_equal(ct_reader_exit_open(&exit, cases[i].kind, directory, "CODES"),
				 CTRACE_OK);
		if (call(&exit, cases[i].options) != cases[i].first ||
		    call(&exit, cases[i].options) != cases[i].second)
			fail_msg("%s", cases[i].options);
		ct_reader_exit_close(&exit);
	}
}

static void reading_again_ends(void **state)
{
	struct ct_reader_exit exit;

	(void)state;
	/* in any case */
	assert_int_equal(ct_reader_exit_open(&exit, CT_EXIT_FILTER, directory, "codes"), CTRACE_OK);
	for (unsigned i = 0; i < CT_EXIT_REREADS; i++)
		assert_int_equal(call(&exit, "4"), CT_EXIT_AGAIN);
	assert_int_equal(call(&exit, "4"), CT_EXIT_UNDEFINED);
	ct_reader_exit_close(&exit);
}

static void the_final_call(void **state)
{
	struct ct_exit_context context = { .options = "12", .print = print };
	struct ct_reader_exit exit;

	(void)state;
	assert_int_equal(ct_reader_exit_open(&exit, CT_EXIT_FILTER, directory, "CODES"), CTRACE_OK);
	printed[0] = '\0';
	ct_reader_exit_finish(&exit, &context);
	assert_string_equal(printed, "the final call");
	(void)call(&exit, "12");
	printed[0] = '\0';
	ct_reader_exit_finish(&exit, &context); /* not after 12 */
	assert_string_equal(printed, "");
	ct_reader_exit_close(&exit);
}

static void what_an_exit_is_reported(void **state)
{
	struct ct_exit_context context = { .print = print };
	struct ctrace_event_item item = text_item("abc");
	struct ct_read_event event = event_of(&item, 1);
	struct ct_reader_exit exit;

	(void)state;
	assert_int_equal(ct_reader_exit_open(&exit, CT_EXIT_FORMATTER, directory, "CULPRIT"),
			 CTRACE_OK);
	assert_int_equal(ct_reader_exit_call(&exit, &event, &context), CT_EXIT_SHOW);
	assert_string_equal(printed, "    255 in thread 4712 of RTS32: 1 items, 3 bytes");
	event.traced.item_count = 0;
	assert_int_equal(ct_reader_exit_call(&exit, &event, &context), CT_EXIT_HIDE);
	ct_reader_exit_close(&exit);
}

static void what_is_not_loaded(void **state)
{
	struct ct_reader_exit exit;

	(void)state;
	assert_int_equal(ct_reader_exit_open(&exit, CT_EXIT_FILTER, directory, "NONE"),
			 CTRACE_NOT_FOUND);
	assert_int_equal(call(&exit, ""), CT_EXIT_SHOW);
	assert_int_equal(ct_reader_exit_open(&exit, CT_EXIT_FORMATTER, NULL, "CODES"),
			 CTRACE_NOT_FOUND);
	assert_int_equal(call(&exit, ""), CT_EXIT_HIDE);
	assert_int_equal(ct_reader_exit_open(&exit, CT_EXIT_FILTER, directory, "../x"),
			 CTRACE_NOT_FOUND);
	assert_int_equal(ct_reader_exit_open(&exit, CT_EXIT_FILTER, directory, ""),
			 CTRACE_NOT_FOUND);
	assert_int_equal(chmod("CODES.so", 0777), 0); /* anybody could have written it */
	assert_int_equal(ct_reader_exit_open(&exit, CT_EXIT_FILTER, directory, "CODES"),
			 CTRACE_NOT_FOUND);
	assert_int_equal(chmod("CODES.so", 0755), 0);
}

int test_reader_exit(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
		cmocka_unit_test(reading_again_ends),
		cmocka_unit_test(the_final_call),
		cmocka_unit_test(what_an_exit_is_reported),
		cmocka_unit_test(what_is_not_loaded),
	};
	return cmocka_run_group_tests(tests, setup, NULL);
}
