/*
 * test_presets.c - presets: kept for a sublevel by the name that was said, in force when that is
 * defined.
 *
 * The codes of what fails are in test_codes.c, what the tracer of the same name sees of it in
 * test_faces.c.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "traces.h"

#include <sys/resource.h>

/* ---- presets of an address space, each step in a process of its own ---- */

static void begin_as(const char *jobname)
{
	REQUIRE(setenv("CTRACE_JOBNAME", jobname, 1) == 0);
	register_routine("SPACESS");
	REQUIRE(DEFINE(.name = "SPACE", .startnam = "SPACESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
}

static void put_preset_of_me(void)
{
	write_member("CTPUT", "TRACEOPTS SUB(JOBNAME(ME)) PRESET(PUT) OPTIONS('PRESET')");
	REQUIRE(TRACE_CT(.name = "SPACE", .parm = "CTPUT") == CTRACE_RC_OK && no_call());
	shared->number[0] = own_asid();
}

static void delete_preset_of_me(void)
{
	write_member("CTTAKE", "TRACEOPTS SUB(JOBNAME(ME)) PRESET(DELETE)");
	REQUIRE(TRACE_CT(.name = "SPACE", .parm = "CTTAKE") == CTRACE_RC_OK && no_call());
	REQUIRE(TRACE_CT(.name = "SPACE", .parm = "CTTAKE") == CTRACE_RC_EXISTS);
}

static void put_while_me_lives(void)
{
	begin_as("ME");
	put_preset_of_me();
}

static void put_while_nobody_is_me(void)
{
	begin_as("NOTME");
	put_preset_of_me();
}

static void delete_while_me_lives(void)
{
	begin_as("ME");
	delete_preset_of_me();
}

static void delete_while_nobody_is_me(void)
{
	begin_as("NOTME");
	delete_preset_of_me();
}

static void define_own_space(const char *sub, bool has_preset)
{
	char trace[32];

	(void)snprintf(trace, sizeof trace, "SPACE.ASID(%04X)", own_asid());
	REQUIRE(DEFINE(.name = "SPACE", .sub = sub, .startnam = "SPACESS") == CTRACE_RC_OK);
	REQUIRE(!has_preset || has_options(&calls[0].ctss, "PRESET"));
	REQUIRE(has_preset ? only_call(trace, START, ON) : no_call());
	REQUIRE(DELETE(.name = "SPACE", .sub = sub) == CTRACE_RC_OK);
	reset_calls();
}

static void define_own_space_by_both_names(bool has_preset)
{
	char by_asid[16];

	begin_as("ME");
	REQUIRE(own_asid() != shared->number[0]);
	(void)snprintf(by_asid, sizeof by_asid, "ASID(%X)", own_asid());
	define_own_space("JOBNAME(ME)", has_preset);
	define_own_space(by_asid, has_preset);
}

static void find_the_preset(void)
{
	define_own_space_by_both_names(true);
}

static void find_no_preset(void)
{
	define_own_space_by_both_names(false);
}

static void a_preset_is_kept_by_the_name_that_was_said(void **state)
{
	static void (*const puts[])(void) = { put_while_me_lives, put_while_nobody_is_me };
	static void (*const deletes[])(void) = { delete_while_me_lives, delete_while_nobody_is_me };

	(void)state;
	traces_begin(LINES_CONFIG);
	for (unsigned i = 0; i < 4; i++) {
		scenario_run(puts[i / 2]);
		assert_int_equal(system("test \"$(ls -A run/preset)\" = 'SPACE.JOBNAME(ME)'"), 0);
		scenario_run(find_the_preset);
		scenario_run(deletes[i % 2]);
		assert_int_equal(system("test -z \"$(ls -A run/preset)\""), 0);
		scenario_run(find_no_preset);
	}
	traces_end();
}

/* A descriptor is for what is there. */
static void a_define_without_presets_takes_no_descriptor(void)
{
	struct rlimit limit, none;

	register_routine("TABLESS");
	REQUIRE(DEFINE(.name = "TABLE", .startnam = "TABLESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(access("run/preset", F_OK) != 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = limit.rlim_max };
	REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
	REQUIRE(open("config", O_RDONLY) < 0 && errno == EMFILE);
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "OTHER", .startnam = "TABLESS") == CTRACE_RC_OK);
	REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0); /* sanitizers look around at the end */
}

static const struct test_row rows[] = {
	TEST(a_define_without_presets_takes_no_descriptor),
};

int main(void)
{
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(a_preset_is_kept_by_the_name_that_was_said),
	};

	return traces_run(rows, sizeof rows / sizeof rows[0], alone,
			  sizeof alone / sizeof alone[0]);
}
