/*
 * test_path.c - what a NAME and a SUB are called in the registry, in a preset, and in a CTSS.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "component_fixture.h"

static struct ct_path path;

static bool parse(const char *name, const char *sub)
{
	memset(&outcome, 0, sizeof outcome);
	memset(&path, 0xA5, sizeof path);
	return ct_path_parse(name, sub, &path, &outcome) == CTRACE_RC_OK;
}

static bool is_path(const char *name, const char *by_job, size_t head_size, bool is_active)
{
	bool is_so = strcmp(path.name, name) == 0 && strcmp(path.by_job, by_job) == 0 &&
		     path.head_size == head_size && path.is_active == is_active;

	if (!is_so)
		(void)fprintf(stderr, "%s, %s, %zu, %d\n", path.name, path.by_job, path.head_size,
			      path.is_active);
	return is_so;
}

static void names_of_a_sub_stand_behind_the_name(void)
{
	attach();
	CHILD_CHECK(parse("APPXYZ", NULL) && is_path("APPXYZ", "APPXYZ", 0, true));
	CHILD_CHECK(parse("APPXYZ", "") && is_path("APPXYZ", "APPXYZ", 0, true));
	CHILD_CHECK(parse("APPXYZ", "SUBA") && is_path("APPXYZ.SUBA", "APPXYZ.SUBA", 6, true));
	CHILD_CHECK(parse("APPXYZ", "SUBA.'sub_b'") &&
		    is_path("APPXYZ.SUBA.sub_b", "APPXYZ.SUBA.sub_b", 11, true));
	CHILD_CHECK(parse("A", "B.C.D.E.F") && is_path("A.B.C.D.E.F", "A.B.C.D.E.F", 9, true));
	/* A tracer of the other face. */
	CHILD_CHECK(parse("mf.rts", "ERR") && is_path("mf.rts.ERR", "mf.rts.ERR", 6, true));
}

static void the_longest_path_has_room(void)
{
	static const char part[] = "A23456789012345678";
	char sub[120], name[140];

	attach();
	(void)snprintf(sub, sizeof sub, "%s.%s.%s.%s.%s", part, part, part, part, part);
	(void)snprintf(name, sizeof name, "A2345678.%s", sub);
	CHILD_CHECK(parse("A2345678", sub) && is_path(name, name, 8 + 4 * 19, true));
}

static void our_address_space_has_one_name(void)
{
	char sub[32], name[64];
	unsigned asid;

	attach();
	asid = ct_space_self().asid;
	(void)snprintf(name, sizeof name, "APPXYZ.ASID(%04X)", asid);
	(void)snprintf(sub, sizeof sub, "ASID(%x)", asid);
	CHILD_CHECK(parse("APPXYZ", sub) && is_path(name, "APPXYZ.JOBNAME(OURJOB)", 6, true));
	(void)snprintf(sub, sizeof sub, "asid( %04X )", asid);
	CHILD_CHECK(parse("APPXYZ", sub) && is_path(name, "APPXYZ.JOBNAME(OURJOB)", 6, true));
	CHILD_CHECK(parse("APPXYZ", "JOBNAME(OURJOB)") &&
		    is_path(name, "APPXYZ.JOBNAME(OURJOB)", 6, true));
	CHILD_CHECK(parse("APPXYZ", "JOBNAME(ourjob)") &&
		    is_path(name, "APPXYZ.JOBNAME(OURJOB)", 6, true));
	(void)snprintf(sub, sizeof sub, "'x'.ASID(%X).Y", asid);
	(void)snprintf(name, sizeof name, "APPXYZ.x.ASID(%04X).Y", asid);
	CHILD_CHECK(parse("APPXYZ", sub) && is_path(name, "APPXYZ.x.JOBNAME(OURJOB).Y", 19, true));
}

static void one_that_nobody_is_keeps_what_was_said(void)
{
	attach();
	CHILD_CHECK(parse("APPXYZ", "ASID(FFF0)") &&
		    is_path("APPXYZ.ASID(FFF0)", "APPXYZ.ASID(FFF0)", 6, false));
	CHILD_CHECK(parse("APPXYZ", "JOBNAME(NOBODY)") &&
		    is_path("APPXYZ.JOBNAME(NOBODY)", "APPXYZ.JOBNAME(NOBODY)", 6, false));
	CHILD_CHECK(parse("APPXYZ", "JOBNAME(OURJOB).ASID(FFF0)") && !path.is_active &&
		    strstr(path.name, ").ASID(FFF0)") != NULL);
	CHILD_CHECK(parse("APPXYZ", "ASID(FFF0).JOBNAME(OURJOB)") && !path.is_active);
}

static void what_is_no_path_is_diagnosed_about_where_it_is(void)
{
	static const struct {
		const char *sub;
		uint32_t reason;
		const char *column;
	} rows[] = {
		{ "SUBA.1UB", CTRACE_RSN_SUB_NAME, "column 6" },
		{ "A.B.C.D.E.F", CTRACE_RSN_SUB_NAME, "column 10" },
		{ "SUBA.", CTRACE_RSN_SUB_NAME, "column 6" },
		{ "ASID(XYZ)", CTRACE_RSN_ASID_NOT_HEX, "column 6" },
		{ "ASID(12345)", CTRACE_RSN_ASID_TOO_LONG, "column 6" },
		{ "X.ASID(0)", CTRACE_RSN_ASID_ZERO, "column 8" },
		{ "JOBNAME(NINECHARS)", CTRACE_RSN_JOBNAME_TOO_LONG, "column 9" },
	};

	attach();
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		CHILD_CHECK(!parse("APPXYZ", rows[i].sub) && outcome.rc == CTRACE_RC_REFUSED &&
			    reason() == rows[i].reason);
		CHILD_CHECK(strstr(outcome.message, rows[i].column) != NULL &&
			    strstr(outcome.message, "expected ") != NULL);
	}
	CHILD_CHECK((unsigned char)path.name[0] == 0xA5); /* written on success only */
}

static void a_ctss_has_the_names_padded_with_blanks(void)
{
	struct ctrace_ctss ctss;

	memset(&ctss, 0xA5, sizeof ctss);
	ct_path_fill("APPXYZ", &ctss);
	CHILD_CHECK(HOLDS(ctss.name, "APPXYZ") && ctss.sub_count == 0 && HOLDS(ctss.sub[0], "") &&
		    HOLDS(ctss.sub[4], ""));
	ct_path_fill("A2345678.B23456789012345678.ASID(0005).D.E.F", &ctss);
	CHILD_CHECK(HOLDS(ctss.name, "A2345678") && ctss.sub_count == 5 &&
		    HOLDS(ctss.sub[0], "B23456789012345678"));
	CHILD_CHECK(HOLDS(ctss.sub[1], "ASID(0005)") && HOLDS(ctss.sub[2], "D") &&
		    HOLDS(ctss.sub[4], "F"));
	/* A tracer's name may have more and longer parts: what has no room is left out. */
	ct_path_fill("longername.a23456789012345678901.b.c.d.e.f", &ctss);
	CHILD_CHECK(HOLDS(ctss.name, "longerna") && ctss.sub_count == 5 &&
		    HOLDS(ctss.sub[0], "a2345678901234567890"));
	CHILD_CHECK(HOLDS(ctss.sub[4], "e"));
}

int test_path(void)
{
	const struct CMUnitTest tests[] = {
		IN_CHILD(names_of_a_sub_stand_behind_the_name),
		IN_CHILD(the_longest_path_has_room),
		IN_CHILD(our_address_space_has_one_name),
		IN_CHILD(one_that_nobody_is_keeps_what_was_said),
		IN_CHILD(what_is_no_path_is_diagnosed_about_where_it_is),
		IN_CHILD(a_ctss_has_the_names_padded_with_blanks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
