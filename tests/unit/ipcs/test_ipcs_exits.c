/*
 * test_ipcs_exits.c - exits of components and of the user in a listing: who is asked, what answers
 * mean, and the messages for missing ones.
 *
 * Their code is compiled here: tests/golden/ipcs/codes.c answers what OPTIONS says, entry by entry.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_fixture.h"

#include <unistd.h>

#define SHOP "CTRACE COMP(APPXYZ) SUB((SUBA)) "

static char directory[4096];

static int setup(void **state)
{
	char command[9000];
	const char *source = getenv("CTRACE_SOURCE");

	if (ipcs_setup(state) != 0 || getcwd(directory, sizeof directory) == NULL)
		return -1;
	(void)snprintf(
		command, sizeof command,
		"gcc -shared -fPIC -I'%s/include' -o CODES.so '%s/tests/golden/ipcs/codes.c' && chmod 755 . CODES.so",
		source, source);
	return system(command) == 0 ? 0 : -1;
}

/* With the exits that the head of the component's catalogue names. */
static struct ipcs_said run_with(const char *exits, const char *command, const char *linklist)
{
	char text[sizeof ipcs_catalog + 200];

	(void)snprintf(text, sizeof text, "%s%s", exits, ipcs_catalog);
	return run_commands("shop.ctb", text, (const char *const[]){ command, NULL }, false,
			    linklist);
}

static void the_users_exit_hides_and_ends(void **state)
{
	struct ipcs_said said = run_with("", SHOP "USEREXIT(CODES) OPTIONS((8 0 8))", directory);

	(void)state;
	assert_int_equal(said.status, CTRACE_OK);
	assert_int_equal(said.shown, 1);
	assert_lacks(&said, " OPEN      00000001  22:13:20.000001");
	assert_has(&said, " BLOCK-RE  00000010  22:13:20.000002");
	assert_has(&said, "the final call");
	ct_buf_fini(&said.text);
	said = run_with("", SHOP "USEREXIT(CODES) OPTIONS((0 16))", directory);
	assert_int_equal(said.shown, 1);
	assert_has(&said, " OPEN      00000001  22:13:20.000001");
	assert_has(&said, "ITT10008I");
	assert_lacks(&said, "the final call");
	ct_buf_fini(&said.text);
}

static void from_the_beginning_again(void **state)
{
	struct ipcs_said said = run_with("", SHOP "USEREXIT(CODES) OPTIONS((0 0 4 0))", directory);

	(void)state;
	assert_int_equal(said.shown, 7); /* what was shown before does not count */
	ct_buf_fini(&said.text);
}

static void an_answer_that_means_nothing_is_reported(void **state)
{
	struct ipcs_said said = run_with("", SHOP "USEREXIT(CODES) OPTIONS((3 8))", directory);

	(void)state;
	assert_has(&said, "ITT10009I");
	assert_int_equal(said.shown, 7); /* and the exit is not asked any more */
	ct_buf_fini(&said.text);
}

static void the_components_filter_is_asked_before_the_users(void **state)
{
	struct ipcs_said said =
		run_with("filter: CODES\n", SHOP "USEREXIT(CODES) OPTIONS((8 0 8))", directory);

	(void)state;
	/* The second entry passes the component's, and is the first one of the user's. */
	assert_int_equal(said.status, CTRACE_NOT_FOUND);
	assert_int_equal(said.shown, 0);
	ct_buf_fini(&said.text);
}

/* The component's ends the listing: the user's, which has not, is not called for an end either. */
static void the_end_of_one_is_the_end_of_all(void **state)
{
	struct ipcs_said said =
		run_with("filter: CODES\n", SHOP "USEREXIT(CODES) OPTIONS((0 16))", directory);

	(void)state;
	assert_int_equal(said.shown, 1);
	assert_has(&said, "ITT10008I");
	assert_lacks(&said, "the final call");
	ct_buf_fini(&said.text);
}

static void a_formatter_prints_instead(void **state)
{
	struct ipcs_said said = run_with("formatter: CODES\n", SHOP "FULL OPTIONS((0))", directory);

	(void)state;
	assert_int_equal(said.shown, 7);
	assert_has(&said, "formatted\\u{1B}[31m");
	assert_lacks(&said, "    +0000 ");
	ct_buf_fini(&said.text);
	/* hexadecimal below its own */
	said = run_with("formatter: CODES\n", SHOP "FULL OPTIONS((8))", directory);
	assert_has(&said, "formatted");
	assert_has(&said, "    +0000 ");
	ct_buf_fini(&said.text);
	/* SHORT has nothing to format */
	said = run_with("formatter: CODES\n", SHOP "OPTIONS((0))", directory);
	assert_lacks(&said, "formatted");
	ct_buf_fini(&said.text);
}

static void what_is_missing_is_said_once(void **state)
{
	struct ipcs_said said = run_with("", SHOP "USEREXIT(NONE)", directory);
	const char *at;

	(void)state;
	assert_has(&said, "ITT10005I");
	assert_has(&said, "from CTRACE_LINKLIST");
	assert_int_equal(said.shown, 0); /* it cannot be selected as was said */
	assert_lacks(&said, " OPEN ");
	ct_buf_fini(&said.text);
	said = run_with("filter: NONE\nformatter: NONE\n", SHOP "FULL", NULL);
	assert_int_equal(said.shown, 7);
	assert_has(&said, "CTRACE_LINKLIST is not set");
	assert_has(&said, "ITT10006I");
	assert_has(&said, "    +0000 ");
	at = strstr(said.text.data, "ITT10006I");
	assert_null(strstr(at + 1, "ITT10006I"));
	assert_null(strstr(at + 1, "ITT10005I"));
	ct_buf_fini(&said.text);
}

#define EXITS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int test_ipcs_exits(void)
{
	const struct CMUnitTest tests[] = {
		EXITS_TEST(the_users_exit_hides_and_ends),
		EXITS_TEST(from_the_beginning_again),
		EXITS_TEST(an_answer_that_means_nothing_is_reported),
		EXITS_TEST(the_components_filter_is_asked_before_the_users),
		EXITS_TEST(the_end_of_one_is_the_end_of_all),
		EXITS_TEST(a_formatter_prints_instead),
		EXITS_TEST(what_is_missing_is_said_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
