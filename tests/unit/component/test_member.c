/*
 * test_member.c - a member is read as a whole, or its first error is said with its place.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "component_fixture.h"

static struct ct_parmlib parmlib;

static uint32_t read_member(const char *member)
{
	memset(&outcome, 0, sizeof outcome);
	return ct_member_read(member, &parmlib, &outcome);
}

static bool is_refused(const char *member, uint32_t expected, const char *message)
{
	bool is_so = read_member(member) == CTRACE_RC_REFUSED && outcome.rc == CTRACE_RC_REFUSED &&
		     reason() == expected && strstr(outcome.message, message) != NULL;

	if (!is_so)
		(void)fprintf(stderr, "%X %X %s\n", outcome.rc, outcome.rsncode, outcome.message);
	return is_so;
}

static void all_of_a_member_is_read(void)
{
	write_member("CTGOOD", "/* two traces */ TRACEOPTS\n  ON OPTIONS('A','B')\n  SUB(X) OFF\n");
	CHILD_CHECK(read_member("CTGOOD") == CTRACE_RC_OK && outcome.message[0] == '\0');
	CHILD_CHECK(parmlib.count == 2 && parmlib.requests[0].state == CTRACE_CT_ON &&
		    strcmp(parmlib.requests[0].options, "A,B") == 0);
	CHILD_CHECK(parmlib.requests[1].state == CTRACE_CT_OFF &&
		    parmlib.requests[1].sub.count == 1);
	CHILD_CHECK(parmlib.requests[1].place[CT_CLAUSE_SUB].line == 3 &&
		    parmlib.requests[1].place[CT_CLAUSE_SUB].column == 3);
	ct_parmlib_fini(&parmlib);
	write_member("CTEMPTY", "TRACEOPTS WTRSTART(WRITER)");
	CHILD_CHECK(read_member("CTEMPTY") == CTRACE_RC_OK && parmlib.count == 0 &&
		    strcmp(parmlib.wtrstart, "WRITER") == 0);
	ct_parmlib_fini(&parmlib);
}

static void the_first_diagnostic_is_said_with_its_place(void)
{
	write_member("CTBAD", "TRACEOPTS\n  ON\n  ASID(0) BUFSIZE(1X)\n  NONSENSE(1)\n");
	CHILD_CHECK(is_refused("CTBAD", CTRACE_RSN_ASID_ZERO,
			       "CTBAD:3:8: \"0\" is zero; expected 1 to 4 hexadecimal digits"));
	write_member("CTBAD2", "TRACEOPTS\nNONSENSE\n ASID(0)\n");
	CHILD_CHECK(is_refused("CTBAD2", CTRACE_RSN_MEMBER_SYNTAX, "CTBAD2:2:1: \"NONSENSE\""));
	write_member("CTBAD3", "TRACEOPTS /* ON");
	CHILD_CHECK(is_refused("CTBAD3", CTRACE_RSN_MEMBER_SYNTAX, "CTBAD3:1:"));
}

static void a_diagnostic_of_many_bytes_is_still_one_line(void)
{
	static char text[60000];

	memset(text, '\x1B', sizeof text - 1);
	memcpy(text, "TRACEOPTS ON ", 13);
	write_member("CTESC", text);
	CHILD_CHECK(is_refused("CTESC", CTRACE_RSN_MEMBER_SYNTAX, "CTESC:1:14: "));
	for (size_t i = 0; outcome.message[i] != '\0'; i++)
		CHILD_CHECK(outcome.message[i] >= ' ' && outcome.message[i] < 0x7F);
}

static void a_member_that_cannot_be_read_is_named_with_its_place(void)
{
	char path[200];

	(void)snprintf(path, sizeof path, "member CTFOLDER: %s/parmlib/CTFOLDER", room);
	CHILD_CHECK(mkdir("parmlib/CTFOLDER", 0755) == 0);
	CHILD_CHECK(is_refused("CTFOLDER", CTRACE_RSN_MEMBER_NOT_READABLE, path));
	CHILD_CHECK(is_refused("CTNONE", CTRACE_RSN_MEMBER_NOT_FOUND, "member CTNONE"));
	CHILD_CHECK(is_refused("NOCT", CTRACE_RSN_MEMBER_NAME, "PARM=NOCT"));
	CHILD_CHECK(is_refused("CT/../X", CTRACE_RSN_MEMBER_NAME, "PARM=CT/../X"));
}

static void a_member_that_is_too_large_is_refused(void)
{
	static char text[CT_PARMLIB_LIMIT + 2];

	memset(text, ' ', CT_PARMLIB_LIMIT);
	memcpy(text, "TRACEOPTS ON", 12);
	write_member("CTMOST", text);
	CHILD_CHECK(read_member("CTMOST") == CTRACE_RC_OK && parmlib.count == 1);
	ct_parmlib_fini(&parmlib);
	text[CT_PARMLIB_LIMIT] = ' ';
	write_member("CTLARGE", text);
	CHILD_CHECK(is_refused("CTLARGE", CTRACE_RSN_MEMBER_TOO_LARGE, "member CTLARGE"));
}

int test_member(void)
{
	const struct CMUnitTest tests[] = {
		IN_CHILD(all_of_a_member_is_read),
		IN_CHILD(the_first_diagnostic_is_said_with_its_place),
		IN_CHILD(a_diagnostic_of_many_bytes_is_still_one_line),
		IN_CHILD(a_member_that_cannot_be_read_is_named_with_its_place),
		IN_CHILD(a_member_that_is_too_large_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
