/*
 * test_define.c - CTRACE DEFINE and DELETE at work: the documented example, exits and what they are
 * given, when they are called.
 *
 * The codes of what fails are in test_codes.c, what the tracer of the same name sees of it in
 * test_faces.c.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "traces.h"

/* ---- the example of the macro's documentation ---- */

static uint32_t define_appxyz(void *userdata)
{
	return DEFINE(.name = "APPXYZ", .startnam = "APPXYZSS", .headopts = YES, .head = YES,
		      .asids = CTRACE_NO, .jobs = CTRACE_NO, .buffer = YES, .bufdefin = CTRACE_NO,
		      .bufdflt = 5000, .manysubs = YES, .wtr = YES, .wtrmode = CTRACE_PAGEABLE,
		      .parm = "CTAPPXYZ", .mod = YES, .userdata = userdata);
}

static void write_ctappxyz(void)
{
	write_member(
		"CTAPPXYZ",
		"/* what APPXYZ traces when nobody\n   says otherwise */\nTRACEOPTS\n  ON\n  OPTIONS('MAIN','RARE')\n");
}

static void enter(const char *sub, uint32_t entry_id)
{
	struct ctrace_tracer *tracer;

	REQUIRE(ctrace_component_tracer("APPXYZ", sub, &tracer) == CTRACE_OK);
	ctrace_entry(tracer, entry_id, "\1\2\3", 3);
}

static void run_the_example(void)
{
	register_routine("APPXYZSS");
	write_ctappxyz();
	REQUIRE(define_appxyz(NULL) == CTRACE_RC_OK);
	REQUIRE(outcome.rsncode == 0 && outcome.ss_rc == 0 && outcome.ss_rsncode == 0);
	REQUIRE(has_options(&calls[0].ctss, "MAIN,RARE") && calls[0].ctss.buffer_size == 5000);
	REQUIRE(only_call("APPXYZ", START, ON));
	REQUIRE(DEFINE(.name = "APPXYZ", .sub = "SUBA", .startnam = "APPXYZSS", .likehead = YES) ==
		CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, "MAIN,RARE") && HOLDS(calls[0].ctss.sub[0], "SUBA"));
	REQUIRE(only_call("APPXYZ.SUBA", START, ON));
	REQUIRE(DEFINE(.name = "APPXYZ", .sub = "SUBB", .startnam = "APPXYZSS") == CTRACE_RC_OK &&
		no_call());

	REQUIRE(shown("APPXYZ", NULL)->subs == 2 && shown("APPXYZ", "SUBA")->mode == ON &&
		shown("APPXYZ", "SUBA")->likehead == 1);
	REQUIRE(shown("APPXYZ", "SUBB")->mode == OFF && shown("APPXYZ", "SUBB")->likehead == 0);
	enter(NULL, 0x21);
	enter("SUBA", 0x22);
	enter("SUBB", 0x23); /* is off */
	REQUIRE(TURN("APPXYZ", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK &&
		only_call("APPXYZ", STOP, OFF));
	enter(NULL, 0x24);
	enter("SUBA", 0x25);
	REQUIRE(DELETE(.name = "APPXYZ") == CTRACE_RC_OK && no_call());
	REQUIRE(!is_known("APPXYZ", NULL) && !is_known("APPXYZ", "SUBA") &&
		!is_known("APPXYZ", "SUBB"));
}

static void the_documented_example_works_as_it_stands(void **state)
{
	(void)state;
	traces_begin(LINES_CONFIG);
	scenario_run(run_the_example);
	assert_int_equal(scenario_lines("out/*.log", NULL, NULL), 2);
	assert_int_equal(
		system("grep -qE '^[0-9]+ APPXYZ 33 1 ' out/*.log && grep -qE '^[0-9]+ APPXYZ.SUBA 34 1 ' out/*.log"),
		0);
	traces_end();
}

static void run_the_example_from_a_module(void)
{
	unsigned char userdata[CTRACE_USERDATA_SIZE] = { 0 };

	write_ctappxyz();
	REQUIRE(define_appxyz(userdata) == CTRACE_RC_OK);
	REQUIRE(userdata[0] == 1);
	REQUIRE(TRACE_CT(.name = "APPXYZ", .state = CTRACE_CT_ON, .options = "NO") ==
		CTRACE_RC_REFUSED);
	REQUIRE(reason() == CTRACE_RSN_ROUTINE_REFUSED && outcome.ss_rc == 4 &&
		outcome.ss_rsncode == 0x22);
	REQUIRE(strcmp(shown("APPXYZ", NULL)->options, "MAIN,RARE") == 0);
	/* One whose name C does not allow is the function ctrace_exit_routine. */
	userdata[0] = 0;
	REQUIRE(DEFINE(.name = "OTHER", .startnam = "OTHER#SS", .minops = "LEAST",
		       .userdata = userdata) == CTRACE_RC_OK);
	REQUIRE(userdata[0] == 1);
	/* The program's own goes before the module's. */
	register_routine("APPXYZSS");
	REQUIRE(DEFINE(.name = "OWN", .startnam = "APPXYZSS", .minops = "LEAST") == CTRACE_RC_OK &&
		only_call("OWN", START, MIN_MODE));
	REQUIRE(DEFINE(.name = "EMPTY", .startnam = "EMPTYSS", .minops = "LEAST") ==
		CTRACE_RC_REFUSED);
	REQUIRE(reason() == CTRACE_RSN_ROUTINE_NOT_LOADED &&
		strstr(outcome.message, "EMPTYSS") != NULL);
	REQUIRE(!is_known("EMPTY", NULL));
}

static void build_module(const char *source, const char *module, const char *more)
{
	char command[2000];

	(void)snprintf(
		command, sizeof command,
		"mkdir -p modules && cc -shared -fPIC -O2 -I'%s/include' -o 'modules/%s.so' '%s/tests/process/%s' %s -L'%s' -lctrace",
		getenv("CTRACE_SOURCE"), module, getenv("CTRACE_SOURCE"), source, more,
		getenv("CTRACE_BUILD"));
	assert_int_equal(system(command), 0);
}

static void routines_come_from_modules_of_the_linklist(void **state)
{
	char list[400];

	(void)state;
	traces_begin(LINES_CONFIG);
	build_module("routine_plugin.c", "APPXYZSS", "");
	build_module("routine_plugin.c", "OTHER#SS", "-Wl,--defsym=ctrace_exit_routine=APPXYZSS");
	build_module("plugin.c", "EMPTYSS", "");
	(void)snprintf(list, sizeof list, "/proc/none:%s/modules", scenario_directory);
	assert_int_equal(setenv("CTRACE_LINKLIST", list, 1), 0);
	scenario_run(run_the_example_from_a_module);
	traces_end();
}

/* What it writes before it refuses is of no account. */
static uint32_t refuse_to_start(struct ctrace_ctss *ctss)
{
	memset(ctss->userdata, 0xEE, sizeof ctss->userdata);
	ctss->buffer_size = 1;
	ctss->reason = 0x1234;
	return ctss->flags == START ? 8 : 0;
}

static void a_routine_that_refuses_undoes_the_define(void)
{
	unsigned char userdata[CTRACE_USERDATA_SIZE] = "as it was before";
	struct ctrace_tracer *tracer;
	uint32_t level;

	register_routine("APPXYZSS");
	write_ctappxyz();
	answer = refuse_to_start;
	REQUIRE(define_appxyz(userdata) == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_ROUTINE_REFUSED);
	REQUIRE(outcome.ss_rc == 8 && outcome.ss_rsncode == 0x1234);
	REQUIRE(memcmp(userdata, "as it was before", sizeof userdata) == 0);
	REQUIRE(!is_known("APPXYZ", NULL));
	REQUIRE(DEFINE(.name = "APPXYZ", .sub = "SUBA", .startnam = "APPXYZSS") ==
			CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_NO_HEAD);
	/* The tracer of that name is as if nothing had been. */
	REQUIRE(ctrace_tracer_get("APPXYZ", &tracer) == CTRACE_OK &&
		ctrace_enabled(tracer, CTRACE_DEBUG));
	REQUIRE(ctrace_level_get("APPXYZ", &level) == CTRACE_OK && level == CTRACE_DEBUG);
	answer = NULL;
	reset_calls();
	REQUIRE(define_appxyz(userdata) == CTRACE_RC_OK &&
		memcmp(calls[0].ctss.userdata, "as it was before", 16) == 0);
}

/* ---- what a routine is given, and what it gives back ---- */

static uint32_t count_and_round(struct ctrace_ctss *ctss)
{
	ctss->userdata[0]++;
	ctss->buffer_size = (ctss->buffer_size + 4095) / 4096 * 4096;
	return 0;
}

static void check_common(const struct ctrace_ctss *ctss, unsigned char first)
{
	REQUIRE(HOLDS(ctss->name, "STATE") && ctss->sub_count == 0 && HOLDS(ctss->writer, ""));
	REQUIRE(ctss->token != 0 && ctss->token == calls[0].ctss.token && ctss->console != 0);
	REQUIRE(ctss->userdata[0] == first &&
		memcmp(ctss->userdata + 1, "123456789ABCDEF", 15) == 0);
	REQUIRE(ctss->minops_size == 5 && memcmp(ctss->minops, "LEAST", 5) == 0);
}

static void the_routine_is_given_all_of_the_state(void)
{
	unsigned char userdata[CTRACE_USERDATA_SIZE];
	char asids[16];
	uint32_t asid;

	memcpy(userdata, "0123456789ABCDEF", sizeof userdata);
	register_routine("STATESS");
	answer = count_and_round;
	REQUIRE(DEFINE(.name = "STATE", .startnam = "STATESS", .minops = "LEAST",
		       .userdata = userdata, .mod = YES, .asids = YES, .jobs = YES, .buffer = YES,
		       .bufdflt = 5000) == CTRACE_RC_OK);
	REQUIRE(was_called(0, "STATE", START, MIN_MODE));
	check_common(&calls[0].ctss, '0');
	REQUIRE(has_options(&calls[0].ctss, "") && calls[0].ctss.asid_count == 0 &&
		calls[0].ctss.jobname_count == 0);
	REQUIRE(calls[0].ctss.buffer_size == 5000);
	REQUIRE(userdata[0] == '1');

	asid = own_asid();
	(void)snprintf(asids, sizeof asids, "%X,2F", asid);
	REQUIRE(TRACE_CT(.name = "STATE", .state = CTRACE_CT_ON, .bufsize = 16384, .asid = asids,
			 .jobname = JOBNAME ",EIGHTCHR", .options = "A,B=(C,D)") == CTRACE_RC_OK);
	REQUIRE(was_called(1, "STATE", START, ON));
	check_common(&calls[1].ctss, '1');
	REQUIRE(has_options(&calls[1].ctss, "A,B=(C,D)") && calls[1].ctss.buffer_size == 16384);
	REQUIRE(calls[1].ctss.asid_count == 2 && calls[1].ctss.asid[0] == asid &&
		calls[1].ctss.asid[1] == 0x2F);
	REQUIRE(calls[1].ctss.jobname_count == 2 && HOLDS(calls[1].ctss.jobname[0], JOBNAME) &&
		HOLDS(calls[1].ctss.jobname[1], "EIGHTCHR"));

	/* A change: options are replaced, what is not named stays. */
	REQUIRE(TRACE_CT(.name = "STATE", .state = CTRACE_CT_ON, .options = "C") == CTRACE_RC_OK);
	REQUIRE(was_called(2, "STATE", START, ON));
	check_common(&calls[2].ctss, '2');
	REQUIRE(has_options(&calls[2].ctss, "C") && calls[2].ctss.buffer_size == 16384);
	REQUIRE(calls[2].ctss.asid_count == 2 && calls[2].ctss.asid[0] == asid &&
		calls[2].ctss.jobname_count == 2);
	REQUIRE(TRACE_CT(.name = "STATE", .state = CTRACE_CT_ON, .asid = "") == CTRACE_RC_OK);
	REQUIRE(was_called(3, "STATE", START, ON));
	REQUIRE(has_options(&calls[3].ctss, "") && calls[3].ctss.asid_count == 0 &&
		calls[3].ctss.jobname_count == 2);

	REQUIRE(TURN("STATE", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK);
	REQUIRE(was_called(4, "STATE", STOP, MIN_MODE));
	check_common(&calls[4].ctss, '4');
	REQUIRE(has_options(&calls[4].ctss, "") && calls[4].ctss.asid_count == 0 &&
		calls[4].ctss.jobname_count == 0);
	REQUIRE(DELETE(.name = "STATE") == CTRACE_RC_OK);
	REQUIRE(call_count == 6 && was_called(5, "STATE", STOP, OFF));
	check_common(&calls[5].ctss, '5');
	REQUIRE(userdata[0] == '1'); /* the caller's area is DEFINE's only */
}

static void userdata_is_zeros_when_it_is_not_coded(void)
{
	static const unsigned char zeros[CTRACE_USERDATA_SIZE];

	register_routine("STATESS");
	REQUIRE(DEFINE(.name = "STATE", .startnam = "STATESS", .minops = "LEAST") == CTRACE_RC_OK);
	REQUIRE(memcmp(calls[0].ctss.userdata, zeros, sizeof zeros) == 0);
	REQUIRE(memcmp(shown("STATE", NULL)->userdata, zeros, sizeof zeros) == 0);
}

static void a_message_reaches_who_gave_the_command_and_nobody_later(void)
{
	register_routine("STATESS");
	REQUIRE(DEFINE(.name = "STATE", .startnam = "STATESS", .minops = "LEAST") == CTRACE_RC_OK);
	REQUIRE(ctrace_wto(calls[0].ctss.console, "TOO LATE") == CTRACE_NOT_FOUND);
	REQUIRE(ctrace_wto(0, "NOBODY") == CTRACE_NOT_FOUND);
}

/* ---- when it is called ---- */

static void define_and_expect(const char *minops, const char *parm, uint32_t mode)
{
	REQUIRE(DEFINE(.name = "TABLE", .startnam = "TABLESS", .minops = minops, .parm = parm) ==
		CTRACE_RC_OK);
	REQUIRE(mode == OFF ? no_call() : only_call("TABLE", START, mode));
	REQUIRE(shown("TABLE", NULL)->mode == mode);
	REQUIRE(DELETE(.name = "TABLE") == CTRACE_RC_OK);
	REQUIRE(mode == OFF ? no_call() : only_call("TABLE", STOP, OFF));
}

static void define_calls_the_routine_when_the_state_changes(void)
{
	register_routine("TABLESS");
	write_member("CTON", "TRACEOPTS ON");
	write_member("CTOFF", "TRACEOPTS OFF");
	define_and_expect(NULL, NULL, OFF);
	define_and_expect("LEAST", NULL, MIN_MODE);
	define_and_expect(NULL, "CTON", ON);
	define_and_expect("LEAST", "CTON", ON);
	define_and_expect(NULL, "CTOFF", OFF);
	define_and_expect("LEAST", "CTOFF", MIN_MODE);
}

static void a_preset_counts_instead_of_the_member(void)
{
	register_routine("TABLESS");
	write_member("CTOFF", "TRACEOPTS OFF");
	write_member("CTPUT", "TRACEOPTS SUB(SUBA) PRESET(PUT) OPTIONS('PRESET')");
	write_member("CTTAKE", "TRACEOPTS SUB(SUBA) PRESET(DELETE)");
	REQUIRE(DEFINE(.name = "TABLE", .startnam = "TABLESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(TRACE_CT(.name = "TABLE", .parm = "CTPUT") == CTRACE_RC_OK && no_call());
	REQUIRE(!is_known("TABLE", "SUBA"));
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS", .parm = "CTOFF") ==
		CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, "PRESET") && only_call("TABLE.SUBA", START, ON));
	REQUIRE(DELETE(.name = "TABLE", .sub = "SUBA") == CTRACE_RC_OK &&
		only_call("TABLE.SUBA", STOP, OFF));
	/* It stays until it is deleted. */
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS") == CTRACE_RC_OK &&
		only_call("TABLE.SUBA", START, ON));
	REQUIRE(DELETE(.name = "TABLE", .sub = "SUBA") == CTRACE_RC_OK &&
		only_call("TABLE.SUBA", STOP, OFF));
	REQUIRE(TRACE_CT(.name = "TABLE", .parm = "CTTAKE") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS", .parm = "CTOFF") ==
			CTRACE_RC_OK &&
		no_call());
}

/* ---- DELETE ---- */

static void delete_stops_what_is_active_deepest_first(void)
{
	register_routine("TREESS");
	write_member("CTON", "TRACEOPTS ON");
	REQUIRE(DEFINE(.name = "TREE", .startnam = "TREESS", HEAD_KEYWORDS, .parm = "CTON") ==
		CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TREE", .sub = "A", .startnam = "TREESS", HEAD_KEYWORDS,
		       .parm = "CTON") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TREE", .sub = "A.B", .startnam = "TREESS", .parm = "CTON") ==
		CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TREE", .sub = "A.OFF", .startnam = "TREESS") == CTRACE_RC_OK);
	reset_calls();
	REQUIRE(DELETE(.name = "TREE", .delsubs = YES) == CTRACE_RC_OK);
	REQUIRE(call_count == 3);
	REQUIRE(was_called(0, "TREE.A.B", STOP, OFF) && was_called(1, "TREE.A", STOP, OFF) &&
		was_called(2, "TREE", STOP, OFF));
	REQUIRE(!is_known("TREE", NULL) && !is_known("TREE", "A") && !is_known("TREE", "A.B") &&
		!is_known("TREE", "A.OFF"));
}

/* Only the branch that is named. */
static void delete_leaves_what_is_beside_it(void)
{
	register_routine("TREESS");
	REQUIRE(DEFINE(.name = "TREE", .startnam = "TREESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TREE", .sub = "A", .startnam = "TREESS", HEAD_KEYWORDS) ==
		CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TREE", .sub = "A.B", .startnam = "TREESS") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TREE", .sub = "AA", .startnam = "TREESS") == CTRACE_RC_OK);
	REQUIRE(DELETE(.name = "TREE", .sub = "A") == CTRACE_RC_OK);
	REQUIRE(!is_known("TREE", "A") && !is_known("TREE", "A.B") && is_known("TREE", "AA") &&
		is_known("TREE", NULL));
	REQUIRE(shown("TREE", NULL)->subs == 1);
	REQUIRE(DEFINE(.name = "TREE", .sub = "A.B", .startnam = "TREESS") == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_NO_HEAD);
}

static uint32_t refuse_to_stop(struct ctrace_ctss *ctss)
{
	ctss->reason = 0x77;
	return ctss->flags == STOP ? 12 : 0;
}

static void a_stop_that_fails_at_delete_is_reported_and_keeps_nothing(void)
{
	register_routine("TREESS");
	answer = refuse_to_stop;
	REQUIRE(DEFINE(.name = "TREE", .startnam = "TREESS", .minops = "LEAST") == CTRACE_RC_OK);
	REQUIRE(DELETE(.name = "TREE") == CTRACE_RC_OK);
	REQUIRE(outcome.ss_rc == 12 && outcome.ss_rsncode == 0x77);
	REQUIRE(!is_known("TREE", NULL));
	REQUIRE(DEFINE(.name = "TREE", .startnam = "TREESS") == CTRACE_RC_OK);
	/* But a command is undone by it. */
	REQUIRE(TURN("TREE", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	REQUIRE(TURN("TREE", NULL, CTRACE_CT_OFF) == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_ROUTINE_REFUSED);
	REQUIRE(outcome.ss_rc == 12 && outcome.ss_rsncode == 0x77 &&
		shown("TREE", NULL)->mode == ON && records("TREE", NULL));
}

/* ---- errno ---- */

static void errno_is_kept(void)
{
	struct ctrace_display display = { .size = sizeof display };
	struct ctrace_tracer *tracer;

	errno = 4711;
	REQUIRE(ctrace_routine_register("ERRNOSS", noting_routine) == CTRACE_OK && errno == 4711);
	REQUIRE(DEFINE(.name = "ERRNO", .startnam = "ERRNOSS") == CTRACE_RC_OK && errno == 4711);
	REQUIRE(DEFINE(.name = "OTHER", .startnam = "ERRNOSS", .parm = "CTNONE") ==
			CTRACE_RC_REFUSED &&
		errno == 4711);
	REQUIRE(DEFINE(.name = "OTHER", .startnam = "NOWHERE", .minops = "A") ==
			CTRACE_RC_REFUSED &&
		errno == 4711);
	REQUIRE(TURN("ERRNO", NULL, CTRACE_CT_ON) == CTRACE_RC_OK && errno == 4711);
	REQUIRE(TRACE_CT(.name = "ERRNO", .parm = "CTNONE") == CTRACE_RC_REFUSED && errno == 4711);
	REQUIRE(ctrace_component_display("ERRNO", NULL, &display) == CTRACE_OK && errno == 4711);
	REQUIRE(ctrace_component_tracer("ERRNO", NULL, &tracer) == CTRACE_OK && errno == 4711);
	REQUIRE(DELETE(.name = "ERRNO") == CTRACE_RC_OK && errno == 4711);
}

static const struct test_row rows[] = {
	TEST(a_routine_that_refuses_undoes_the_define),
	TEST(the_routine_is_given_all_of_the_state),
	TEST(userdata_is_zeros_when_it_is_not_coded),
	TEST(a_message_reaches_who_gave_the_command_and_nobody_later),
	TEST(define_calls_the_routine_when_the_state_changes),
	TEST(a_preset_counts_instead_of_the_member),
	TEST(delete_stops_what_is_active_deepest_first),
	TEST(delete_leaves_what_is_beside_it),
	TEST(a_stop_that_fails_at_delete_is_reported_and_keeps_nothing),
	TEST(errno_is_kept),
};

int main(void)
{
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(the_documented_example_works_as_it_stands),
		cmocka_unit_test(routines_come_from_modules_of_the_linklist),
	};

	return traces_run(rows, sizeof rows / sizeof rows[0], alone,
			  sizeof alone / sizeof alone[0]);
}
