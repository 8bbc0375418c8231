/*
 * test_ipcs_select.c - which events a command means.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_parse_fixture.h"

static bool is_named(const char *component, const char *sub, const char *name)
{
	return ct_ipcs_names(component, sub, name, strlen(name));
}

static void names(void **state)
{
	(void)state;
	assert_true(is_named("APPXYZ", "SUBA", "APPXYZ.SUBA") &&
		    is_named("appxyz", "suba", "APPXYZ.SUBA"));
	assert_true(is_named("APPXYZ.SUBA", "", "APPXYZ.SUBA") && is_named("A", "B.C", "a.b.c") &&
		    is_named("A.B", "C", "A.B.C"));
	assert_false(is_named("APPXYZ", "", "APPXYZ.SUBA") ||
		     is_named("APPXYZ", "SUBA", "APPXYZ") || is_named("A", "B", "A.B.C"));
	assert_false(is_named("A", "B", "AB") || is_named("A.B", "", "A") || is_named("", "", "A"));
	assert_true(is_named("A*", "?", "APPXYZ.B") && is_named("A", "*", "A.B") &&
		    is_named("*", "*.*", "A.B.C"));
	assert_false(is_named("A*", "", "A.B") || is_named("A", "*", "A.B.C"));
	assert_true(is_named("A", "ASID(F)", "A.ASID(000F)") &&
		    is_named("A", "ASID(000f).X", "A.ASID(F).X"));
	assert_false(is_named("A", "ASID(F)", "A.ASID(00F0)") ||
		     is_named("A", "ASID()", "A.ASID(0)"));
	assert_true(is_named("A", "JOBNAME(a.b)", "A.JOBNAME(A.B)"));
	assert_int_equal(ct_ipcs_head_size("A(1.2).B", 8), 6);
	assert_int_equal(ct_ipcs_head_size("AB", 2), 2);
}

static void systems(void **state)
{
	struct ct_source_process source_process = { .host = "mainframe1.example.org" };
	struct ct_ipcs_command command = { .sysname = "" };
	char name[9];

	(void)state;
	ct_ipcs_sysname("mainframe1.example.org", name);
	assert_string_equal(name, "MAINFRAM");
	ct_ipcs_sysname("a.b", name);
	assert_string_equal(name, "A");
	ct_ipcs_sysname("", name);
	assert_string_equal(name, "");
	assert_true(ct_ipcs_is_of_system(&command, &source_process));
	strcpy(command.sysname, "mainfram");
	assert_true(ct_ipcs_is_of_system(&command, &source_process));
	strcpy(command.sysname, "MAINFRAME1.EXAMPLE.ORG");
	assert_true(ct_ipcs_is_of_system(&command, &source_process));
	strcpy(command.sysname, "MAINFRAME1");
	assert_false(ct_ipcs_is_of_system(&command, &source_process));
}

static const struct ct_source_process source_process = { .host = "mvs1",
							 .jobname = "SHOP",
							 .asid = 0x1A };
static const struct ct_source_process third_party = { .host = "",
						      .jobname = "",
						      .is_third_party = true };
static const struct ct_catalog_component marked = { .name = "X", .has_exception = true },
					 unmarked = { .name = "X" };
static const struct ct_event_type plain_type = { .event_id = 5 },
				  exception_type = { .event_id = 5, .is_exception = true };

static struct ct_read_event event = {
	.traced = { .time_ns = 1700000000000001000u,
		    .component = "X",
		    .component_size = 1,
		    .event_id = 5 },
	.source_process = &source_process,
};

static void assert_choice(const char *text, enum ct_ipcs_choice choice)
{
	struct ct_ipcs_command command;

	parse_good(text, &command);
	if (ct_ipcs_select(&command, &event) != choice)
		fail_msg("%s: %d", text, ct_ipcs_select(&command, &event));
	ct_ipcs_command_fini(&command);
}

static void operands(void **state)
{
	(void)state;
	assert_choice("CTRACE COMP(X)", CT_IPCS_CHOSEN);
	assert_choice("CTRACE COMP(Y)", CT_IPCS_OTHER_TRACE);
	assert_choice("CTRACE COMP(X) SYSNAME(MVS2)", CT_IPCS_OTHER);
	assert_choice(
		"CTRACE COMP(X) START(11/14/23,22.13.20.000001) STOP(11/14/23,22.13.20.000001)",
		CT_IPCS_CHOSEN);
	assert_choice("CTRACE COMP(X) START(11/14/23,22.13.20.000002)", CT_IPCS_OTHER_TIME);
	assert_choice("CTRACE COMP(X) STOP(11/14/23,22.13.20.000000)", CT_IPCS_OTHER_TIME);
	assert_choice("CTRACE COMP(X) ENTIDLIST(1:4,6)", CT_IPCS_OTHER);
	assert_choice("CTRACE COMP(X) ENTIDLIST(1,4:6)", CT_IPCS_CHOSEN);
	assert_choice("CTRACE COMP(X) ASIDLIST(1A)", CT_IPCS_CHOSEN);
	assert_choice("CTRACE COMP(X) ASIDLIST(1B)", CT_IPCS_OTHER);
	assert_choice("CTRACE COMP(X) JOBLIST(shop)", CT_IPCS_CHOSEN);
	assert_choice("CTRACE COMP(X) JOBLIST(SHO)", CT_IPCS_OTHER);
	assert_choice("CTRACE COMP(X) JOBLIST(SHO) ASIDLIST(1A)", CT_IPCS_CHOSEN);
	assert_choice("CTRACE COMP(X) JOBLIST(SHO) ALL", CT_IPCS_CHOSEN);
}

static void what_is_not_supported(void **state)
{
	(void)state;
	assert_choice("CTRACE COMP(X) EXCEPTION", CT_IPCS_NO_EXCEPTIONS);
	event.component = &unmarked;
	event.type = &plain_type;
	assert_choice("CTRACE COMP(X) EXCEPTION", CT_IPCS_NO_EXCEPTIONS);
	event.component = &marked;
	assert_choice("CTRACE COMP(X) EXCEPTION", CT_IPCS_OTHER);
	event.type = &exception_type;
	assert_choice("CTRACE COMP(X) EXCEPTION", CT_IPCS_CHOSEN);
	event.source_process = &third_party;
	assert_choice("CTRACE COMP(X) ASIDLIST(1)", CT_IPCS_NO_ASID);
	assert_choice("CTRACE COMP(X) JOBLIST(A)", CT_IPCS_NO_JOBNAME);
	assert_choice("CTRACE COMP(X) ALL", CT_IPCS_CHOSEN);
}

int test_ipcs_select(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(systems),
		cmocka_unit_test(operands),
		cmocka_unit_test(what_is_not_supported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
