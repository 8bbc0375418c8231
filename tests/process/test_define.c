/*
 * test_define.c - CTRACE DEFINE and DELETE at work: exits and what they are given, sublevels, filters, buffers, many threads.
 *
 * The codes of what fails are in test_codes.c, what the tracer of the same name sees of it in test_faces.c.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "traces.h"

#include <semaphore.h>
#include <sys/resource.h>

#define YES CTRACE_YES
#define HEAD_KEYWORDS .head = CTRACE_YES, .headopts = CTRACE_YES
#define TURN(trace, path, what) TRACE_CT(.name = (trace), .sub = (path), .state = (what))

/* ---- the example of the macro's documentation ---- */

static uint32_t define_appxyz(void *userdata)
{
	return DEFINE(.name = "APPXYZ", .startnam = "APPXYZSS", .headopts = YES, .head = YES, .asids = CTRACE_NO, .jobs = CTRACE_NO,
		      .buffer = YES, .bufdefin = CTRACE_NO, .bufdflt = 5000, .manysubs = YES, .wtr = YES, .wtrmode = CTRACE_PAGEABLE,
		      .parm = "CTAPPXYZ", .mod = YES, .userdata = userdata);
}

static void write_ctappxyz(void)
{
	write_member("CTAPPXYZ",
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
	REQUIRE(DEFINE(.name = "APPXYZ", .sub = "SUBA", .startnam = "APPXYZSS", .likehead = YES) == CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, "MAIN,RARE") && HOLDS(calls[0].ctss.sub[0], "SUBA"));
	REQUIRE(only_call("APPXYZ.SUBA", START, ON));
	REQUIRE(DEFINE(.name = "APPXYZ", .sub = "SUBB", .startnam = "APPXYZSS") == CTRACE_RC_OK && no_call());

	REQUIRE(shown("APPXYZ", NULL)->subs == 2 && shown("APPXYZ", "SUBA")->mode == ON && shown("APPXYZ", "SUBA")->likehead == 1);
	REQUIRE(shown("APPXYZ", "SUBB")->mode == OFF && shown("APPXYZ", "SUBB")->likehead == 0);
	enter(NULL, 0x21);
	enter("SUBA", 0x22);
	enter("SUBB", 0x23); /* is off */
	REQUIRE(TURN("APPXYZ", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK && only_call("APPXYZ", STOP, OFF));
	enter(NULL, 0x24);
	enter("SUBA", 0x25);
	REQUIRE(DELETE(.name = "APPXYZ") == CTRACE_RC_OK && no_call());
	REQUIRE(!is_known("APPXYZ", NULL) && !is_known("APPXYZ", "SUBA") && !is_known("APPXYZ", "SUBB"));
}

static void the_documented_example_works_as_it_stands(void **state)
{
	(void)state;
	traces_begin(LINES_CONFIG);
	scenario_run(run_the_example);
	assert_int_equal(scenario_lines("out/*.log", NULL, NULL), 2);
	assert_int_equal(system("grep -qE '^[0-9]+ APPXYZ 33 1 ' out/*.log && grep -qE '^[0-9]+ APPXYZ.SUBA 34 1 ' out/*.log"), 0);
	traces_end();
}

static void run_the_example_from_a_module(void)
{
	unsigned char userdata[CTRACE_USERDATA_SIZE] = { 0 };

	write_ctappxyz();
	REQUIRE(define_appxyz(userdata) == CTRACE_RC_OK);
	REQUIRE(userdata[0] == 1);
	REQUIRE(TRACE_CT(.name = "APPXYZ", .state = CTRACE_CT_ON, .options = "NO") == CTRACE_RC_REFUSED);
	REQUIRE(reason() == CTRACE_RSN_ROUTINE_REFUSED && outcome.ss_rc == 4 && outcome.ss_rsncode == 0x22);
	REQUIRE(strcmp(shown("APPXYZ", NULL)->options, "MAIN,RARE") == 0);
	/* One whose name C does not allow is the function ctrace_exit_routine. */
	userdata[0] = 0;
	REQUIRE(DEFINE(.name = "OTHER", .startnam = "OTHER#SS", .minops = "LEAST", .userdata = userdata) == CTRACE_RC_OK);
	REQUIRE(userdata[0] == 1);
	/* The program's own goes before the module's. */
	register_routine("APPXYZSS");
	REQUIRE(DEFINE(.name = "OWN", .startnam = "APPXYZSS", .minops = "LEAST") == CTRACE_RC_OK && only_call("OWN", START, MIN_MODE));
	REQUIRE(DEFINE(.name = "EMPTY", .startnam = "EMPTYSS", .minops = "LEAST") == CTRACE_RC_REFUSED);
	REQUIRE(reason() == CTRACE_RSN_ROUTINE_NOT_LOADED && strstr(outcome.message, "EMPTYSS") != NULL);
	REQUIRE(!is_known("EMPTY", NULL));
}

static void build_module(const char *source, const char *module, const char *more)
{
	char command[2000];

	(void)snprintf(
		command, sizeof command,
		"mkdir -p modules && cc -shared -fPIC -O2 -I'%s/include' -o 'modules/%s.so' '%s/tests/process/%s' %s -L'%s' -lctrace",
		getenv("CTRACE_SOURCE"), module, getenv("CTRACE_SOURCE"), source, more, getenv("CTRACE_BUILD"));
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
	(void)snprintf(list, sizeof list, "/proc/none:%s/modules", scenario_folder);
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
	REQUIRE(define_appxyz(userdata) == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_ROUTINE_REFUSED);
	REQUIRE(outcome.ss_rc == 8 && outcome.ss_rsncode == 0x1234);
	REQUIRE(memcmp(userdata, "as it was before", sizeof userdata) == 0);
	REQUIRE(!is_known("APPXYZ", NULL));
	REQUIRE(DEFINE(.name = "APPXYZ", .sub = "SUBA", .startnam = "APPXYZSS") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_NO_HEAD);
	/* The tracer of that name is as if nothing had been. */
	REQUIRE(ctrace_tracer_get("APPXYZ", &tracer) == CTRACE_OK && ctrace_enabled(tracer, CTRACE_DEBUG));
	REQUIRE(ctrace_level_get("APPXYZ", &level) == CTRACE_OK && level == CTRACE_DEBUG);
	answer = NULL;
	forget_calls();
	REQUIRE(define_appxyz(userdata) == CTRACE_RC_OK && memcmp(calls[0].ctss.userdata, "as it was before", 16) == 0);
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
	REQUIRE(ctss->userdata[0] == first && memcmp(ctss->userdata + 1, "123456789ABCDEF", 15) == 0);
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
	REQUIRE(DEFINE(.name = "STATE", .startnam = "STATESS", .minops = "LEAST", .userdata = userdata, .mod = YES, .asids = YES,
		       .jobs = YES, .buffer = YES, .bufdflt = 5000) == CTRACE_RC_OK);
	REQUIRE(was_called(0, "STATE", START, MIN_MODE));
	check_common(&calls[0].ctss, '0');
	REQUIRE(has_options(&calls[0].ctss, "") && calls[0].ctss.asid_count == 0 && calls[0].ctss.jobname_count == 0);
	REQUIRE(calls[0].ctss.buffer_size == 5000);
	REQUIRE(userdata[0] == '1');

	asid = own_asid();
	(void)snprintf(asids, sizeof asids, "%X,2F", asid);
	REQUIRE(TRACE_CT(.name = "STATE", .state = CTRACE_CT_ON, .bufsize = 16384, .asid = asids, .jobname = JOBNAME ",EIGHTCHR",
			 .options = "A,B=(C,D)") == CTRACE_RC_OK);
	REQUIRE(was_called(1, "STATE", START, ON));
	check_common(&calls[1].ctss, '1');
	REQUIRE(has_options(&calls[1].ctss, "A,B=(C,D)") && calls[1].ctss.buffer_size == 16384);
	REQUIRE(calls[1].ctss.asid_count == 2 && calls[1].ctss.asid[0] == asid && calls[1].ctss.asid[1] == 0x2F);
	REQUIRE(calls[1].ctss.jobname_count == 2 && HOLDS(calls[1].ctss.jobname[0], JOBNAME) &&
		HOLDS(calls[1].ctss.jobname[1], "EIGHTCHR"));

	/* A change: options are replaced, what is not named stays. */
	REQUIRE(TRACE_CT(.name = "STATE", .state = CTRACE_CT_ON, .options = "C") == CTRACE_RC_OK);
	REQUIRE(was_called(2, "STATE", START, ON));
	check_common(&calls[2].ctss, '2');
	REQUIRE(has_options(&calls[2].ctss, "C") && calls[2].ctss.buffer_size == 16384);
	REQUIRE(calls[2].ctss.asid_count == 2 && calls[2].ctss.asid[0] == asid && calls[2].ctss.jobname_count == 2);
	REQUIRE(TRACE_CT(.name = "STATE", .state = CTRACE_CT_ON, .asid = "") == CTRACE_RC_OK);
	REQUIRE(was_called(3, "STATE", START, ON));
	REQUIRE(has_options(&calls[3].ctss, "") && calls[3].ctss.asid_count == 0 && calls[3].ctss.jobname_count == 2);

	REQUIRE(TURN("STATE", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK);
	REQUIRE(was_called(4, "STATE", STOP, MIN_MODE));
	check_common(&calls[4].ctss, '4');
	REQUIRE(has_options(&calls[4].ctss, "") && calls[4].ctss.asid_count == 0 && calls[4].ctss.jobname_count == 0);
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
	REQUIRE(DEFINE(.name = "TABLE", .startnam = "TABLESS", .minops = minops, .parm = parm) == CTRACE_RC_OK);
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
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS", .parm = "CTOFF") == CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, "PRESET") && only_call("TABLE.SUBA", START, ON));
	REQUIRE(DELETE(.name = "TABLE", .sub = "SUBA") == CTRACE_RC_OK && only_call("TABLE.SUBA", STOP, OFF));
	/* It stays until it is deleted. */
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS") == CTRACE_RC_OK && only_call("TABLE.SUBA", START, ON));
	REQUIRE(DELETE(.name = "TABLE", .sub = "SUBA") == CTRACE_RC_OK && only_call("TABLE.SUBA", STOP, OFF));
	REQUIRE(TRACE_CT(.name = "TABLE", .parm = "CTTAKE") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS", .parm = "CTOFF") == CTRACE_RC_OK && no_call());
}

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
	forget_calls();
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

/* ---- LIKEHEAD ---- */

/* Defines TABLE.SUBA LIKEHEAD under a head in that state, and takes both back. */
static void define_likehead_and_expect(const char *minops, uint32_t state, uint32_t mode)
{
	REQUIRE(DEFINE(.name = "TABLE", .startnam = "TABLESS", HEAD_KEYWORDS, .minops = minops) == CTRACE_RC_OK);
	if (state == CTRACE_CT_ON)
		REQUIRE(TRACE_CT(.name = "TABLE", .state = state, .options = "HEADS") == CTRACE_RC_OK);
	forget_calls();
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS", .likehead = YES) == CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, state == CTRACE_CT_ON ? "HEADS" : "") || mode == OFF);
	REQUIRE(mode == OFF ? no_call() : only_call("TABLE.SUBA", START, mode));
	REQUIRE(shown("TABLE", "SUBA")->mode == mode && shown("TABLE", "SUBA")->likehead == 1);
	REQUIRE(records("TABLE", "SUBA") == (mode != OFF));
	REQUIRE(DELETE(.name = "TABLE") == CTRACE_RC_OK);
	forget_calls();
}

static void likehead_calls_it_with_the_heads_state(void)
{
	register_routine("TABLESS");
	define_likehead_and_expect(NULL, CTRACE_CT_OFF, OFF);
	define_likehead_and_expect("LEAST", CTRACE_CT_OFF, MIN_MODE);
	define_likehead_and_expect(NULL, CTRACE_CT_ON, ON);
	define_likehead_and_expect("LEAST", CTRACE_CT_ON, ON);
}

static void a_member_may_say_likehead(void)
{
	register_routine("TABLESS");
	write_member("CTLIKE", "TRACEOPTS LIKEHEAD");
	REQUIRE(DEFINE(.name = "TABLE", .startnam = "TABLESS", HEAD_KEYWORDS, .minops = "LEAST", .mod = YES) == CTRACE_RC_OK);
	REQUIRE(TRACE_CT(.name = "TABLE", .state = CTRACE_CT_ON, .options = "HEADS") == CTRACE_RC_OK);
	forget_calls();
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS", .parm = "CTLIKE", .minops = "LEAST", .mod = YES) ==
		CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, "HEADS") && only_call("TABLE.SUBA", START, ON));
	REQUIRE(shown("TABLE", "SUBA")->likehead == 1);
	REQUIRE(TURN("TABLE", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK && shown("TABLE", "SUBA")->mode == MIN_MODE);
}

static void a_head_without_options_cannot_be_switched(void)
{
	register_routine("TABLESS");
	write_member("CTON", "TRACEOPTS ON");
	REQUIRE(DEFINE(.name = "TABLE", .head = YES) == CTRACE_RC_OK);
	REQUIRE(TURN("TABLE", NULL, CTRACE_CT_ON) == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_HEAD_NO_OPTIONS);
	REQUIRE(TURN("TABLE", NULL, CTRACE_CT_OFF) == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_HEAD_NO_OPTIONS);
	REQUIRE(shown("TABLE", NULL)->mode == OFF && shown("TABLE", NULL)->headopts == 0 && no_call());
	/* Its sublevels are independent of it. */
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS", .parm = "CTON") == CTRACE_RC_OK);
	REQUIRE(only_call("TABLE.SUBA", START, ON) && shown("TABLE", NULL)->mode == OFF && shown("TABLE", "SUBA")->mode == ON);
	REQUIRE(DELETE(.name = "TABLE") == CTRACE_RC_OK && only_call("TABLE.SUBA", STOP, OFF));
}

/* Minimum options are options, too. */
static void a_head_without_options_has_no_minimum_options(void)
{
	struct ctrace_tracer *below;
	uint32_t level;

	register_routine("TABLESS");
	REQUIRE(ctrace_tracer_get("TABLE.BELOW", &below) == CTRACE_OK && ctrace_enabled(below, CTRACE_DEBUG));
	REQUIRE(DEFINE(.name = "TABLE", .head = YES, .minops = "LEAST") == CTRACE_RC_OK);
	REQUIRE(shown("TABLE", NULL)->mode == OFF && shown("TABLE", NULL)->minops[0] == '\0' && !records("TABLE", NULL));
	REQUIRE(ctrace_level_get("TABLE", &level) == CTRACE_OK && level == CTRACE_LEVEL_NONE);
	REQUIRE(!ctrace_enabled(below, CTRACE_FATAL));
	REQUIRE(DEFINE(.name = "TABLE", .sub = "SUBA", .startnam = "TABLESS") == CTRACE_RC_OK);
	REQUIRE(shown("TABLE", "SUBA")->mode == OFF && !records("TABLE", "SUBA") && no_call());
}

/* ---- DELETE ---- */

static void delete_stops_what_is_active_deepest_first(void)
{
	register_routine("TREESS");
	write_member("CTON", "TRACEOPTS ON");
	REQUIRE(DEFINE(.name = "TREE", .startnam = "TREESS", HEAD_KEYWORDS, .parm = "CTON") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TREE", .sub = "A", .startnam = "TREESS", HEAD_KEYWORDS, .parm = "CTON") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TREE", .sub = "A.B", .startnam = "TREESS", .parm = "CTON") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TREE", .sub = "A.OFF", .startnam = "TREESS") == CTRACE_RC_OK);
	forget_calls();
	REQUIRE(DELETE(.name = "TREE", .delsubs = YES) == CTRACE_RC_OK);
	REQUIRE(call_count == 3);
	REQUIRE(was_called(0, "TREE.A.B", STOP, OFF) && was_called(1, "TREE.A", STOP, OFF) && was_called(2, "TREE", STOP, OFF));
	REQUIRE(!is_known("TREE", NULL) && !is_known("TREE", "A") && !is_known("TREE", "A.B") && !is_known("TREE", "A.OFF"));
}

/* Only the branch that is named. */
static void delete_leaves_what_is_beside_it(void)
{
	register_routine("TREESS");
	REQUIRE(DEFINE(.name = "TREE", .startnam = "TREESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TREE", .sub = "A", .startnam = "TREESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TREE", .sub = "A.B", .startnam = "TREESS") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "TREE", .sub = "AA", .startnam = "TREESS") == CTRACE_RC_OK);
	REQUIRE(DELETE(.name = "TREE", .sub = "A") == CTRACE_RC_OK);
	REQUIRE(!is_known("TREE", "A") && !is_known("TREE", "A.B") && is_known("TREE", "AA") && is_known("TREE", NULL));
	REQUIRE(shown("TREE", NULL)->subs == 1);
	REQUIRE(DEFINE(.name = "TREE", .sub = "A.B", .startnam = "TREESS") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_NO_HEAD);
}

static uint32_t refuse_to_stop(struct ctrace_ctss *ctss)
{
	ctss->reason = 0x77;
	return ctss->flags == STOP ? 12 : 0;
}

static void a_stop_that_fails_at_delete_is_told_and_keeps_nothing(void)
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
	REQUIRE(TURN("TREE", NULL, CTRACE_CT_OFF) == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_ROUTINE_REFUSED);
	REQUIRE(outcome.ss_rc == 12 && outcome.ss_rsncode == 0x77 && shown("TREE", NULL)->mode == ON && records("TREE", NULL));
}

/* ---- sublevels ---- */

static void sublevels_go_down_to_five(void)
{
	static const char *const subs[] = { "A", "A.B", "A.B.C", "A.B.C.D", "A.B.C.D.E234567890123456#8" };
	struct ctrace_tracer *tracer, *same;

	register_routine("DEEPSS");
	REQUIRE(DEFINE(.name = "DEEP", .startnam = "DEEPSS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	for (unsigned i = 0; i < 5; i++)
		REQUIRE(DEFINE(.name = "DEEP", .sub = subs[i], .startnam = "DEEPSS", HEAD_KEYWORDS, .likehead = YES) == CTRACE_RC_OK);
	REQUIRE(TURN("DEEP", subs[4], CTRACE_CT_ON) == CTRACE_RC_OK);
	REQUIRE(calls[0].ctss.sub_count == 5 && HOLDS(calls[0].ctss.sub[0], "A") && HOLDS(calls[0].ctss.sub[4], "E234567890123456#8"));
	REQUIRE(only_call("DEEP.A.B.C.D.E234567890123456#8", START, ON));
	REQUIRE(ctrace_component_tracer("DEEP", subs[4], &tracer) == CTRACE_OK);
	REQUIRE(ctrace_tracer_get("DEEP.A.B.C.D.E234567890123456#8", &same) == CTRACE_OK && tracer == same);
	REQUIRE(DEFINE(.name = "DEEP", .sub = "A.B.C.D.E.F", .startnam = "DEEPSS") == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_SUB_NAME);
	for (unsigned i = 0; i < 5; i++)
		REQUIRE(shown("DEEP", subs[i])->is_defined && shown("DEEP", subs[i])->subs == (i < 4));
}

static void quoted_names_have_lower_case_and_underscores(void)
{
	struct ctrace_tracer *tracer, *same;

	register_routine("QUOTESS");
	REQUIRE(DEFINE(.name = "QUOTE", .startnam = "QUOTESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "QUOTE", .sub = "'sub_a'", .startnam = "QUOTESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "QUOTE", .sub = "'sub_a'.\"Other_1\"", .startnam = "QUOTESS") == CTRACE_RC_OK);
	REQUIRE(TURN("QUOTE", "'sub_a'.'Other_1'", CTRACE_CT_ON) == CTRACE_RC_OK);
	REQUIRE(HOLDS(calls[0].ctss.sub[0], "sub_a") && HOLDS(calls[0].ctss.sub[1], "Other_1"));
	REQUIRE(only_call("QUOTE.sub_a.Other_1", START, ON));
	REQUIRE(ctrace_component_tracer("QUOTE", "'sub_a'.'Other_1'", &tracer) == CTRACE_OK);
	REQUIRE(ctrace_tracer_get("QUOTE.sub_a.Other_1", &same) == CTRACE_OK && tracer == same);
	REQUIRE(ctrace_enabled(same, CTRACE_DEBUG));
}

static void an_address_space_and_its_job_are_one_sublevel(void)
{
	struct ctrace_tracer *by_asid, *by_job;
	char sub[32];

	register_routine("SPACESS");
	REQUIRE(DEFINE(.name = "SPACE", .startnam = "SPACESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	(void)snprintf(sub, sizeof sub, "ASID(%X)", own_asid());
	REQUIRE(DEFINE(.name = "SPACE", .sub = sub, .startnam = "SPACESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "SPACE", .sub = "JOBNAME(" JOBNAME ")", .startnam = "SPACESS") == CTRACE_RC_EXISTS);
	(void)snprintf(sub, sizeof sub, "ASID(%04x)", own_asid());
	REQUIRE(DEFINE(.name = "SPACE", .sub = sub, .startnam = "SPACESS") == CTRACE_RC_EXISTS);
	REQUIRE(ctrace_component_tracer("SPACE", sub, &by_asid) == CTRACE_OK);
	REQUIRE(ctrace_component_tracer("SPACE", "JOBNAME(" JOBNAME ")", &by_job) == CTRACE_OK && by_asid == by_job);
	REQUIRE(shown("SPACE", NULL)->subs == 1);
	REQUIRE(DEFINE(.name = "SPACE", .sub = "JOBNAME(" JOBNAME ").SUBA", .startnam = "SPACESS") == CTRACE_RC_OK);
	REQUIRE(DELETE(.name = "SPACE", .sub = "JOBNAME(" JOBNAME ")") == CTRACE_RC_OK && shown("SPACE", NULL)->subs == 0);
}

static bool is_like(const char *sub, uint32_t mode, const char *options, bool likehead)
{
	const struct ctrace_display *display = shown("LIKE", sub);

	return display->mode == mode && strcmp(display->options, options) == 0 && display->likehead == likehead &&
	       records("LIKE", sub) == (mode != OFF);
}

static void define_three_levels(void)
{
	register_routine("LIKESS");
	REQUIRE(DEFINE(.name = "LIKE", .startnam = "LIKESS", HEAD_KEYWORDS, .mod = YES) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "LIKE", .sub = "A", .startnam = "LIKESS", HEAD_KEYWORDS, .likehead = YES) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "LIKE", .sub = "A.B", .startnam = "LIKESS", .likehead = YES) == CTRACE_RC_OK);
	forget_calls();
}

static void what_follows_its_head_changes_with_it(void)
{
	define_three_levels();
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "X") == CTRACE_RC_OK);
	REQUIRE(only_call("LIKE", START, ON)); /* the routine has not asked for the others */
	REQUIRE(is_like(NULL, ON, "X", false) && is_like("A", ON, "X", true) && is_like("A.B", ON, "X", true));
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "Y") == CTRACE_RC_OK);
	REQUIRE(is_like("A.B", ON, "Y", true));

	/* Set by itself it follows no more. */
	REQUIRE(TURN("LIKE", "A.B", CTRACE_CT_OFF) == CTRACE_RC_OK);
	REQUIRE(is_like("A.B", OFF, "", false) && is_like("A", ON, "Y", true));
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "Z") == CTRACE_RC_OK);
	REQUIRE(is_like("A.B", OFF, "", false) && is_like("A", ON, "Z", true));
	forget_calls();
	REQUIRE(TURN("LIKE", "A.B", CTRACE_CT_LIKEHEAD) == CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, "Z") && only_call("LIKE.A.B", START, ON));
	REQUIRE(is_like("A.B", ON, "Z", true));
	REQUIRE(TURN("LIKE", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK);
	REQUIRE(is_like(NULL, OFF, "", false) && is_like("A", OFF, "", true) && is_like("A.B", OFF, "", true));

	/* One in the middle takes those below with it. */
	REQUIRE(TRACE_CT(.name = "LIKE", .sub = "A", .state = CTRACE_CT_ON, .options = "M") == CTRACE_RC_OK);
	REQUIRE(is_like(NULL, OFF, "", false) && is_like("A", ON, "M", false) && is_like("A.B", ON, "M", true));
	REQUIRE(TURN("LIKE", "A", CTRACE_CT_LIKEHEAD) == CTRACE_RC_OK);
	REQUIRE(is_like("A", OFF, "", true) && is_like("A.B", OFF, "", true));
	REQUIRE(TURN("LIKE", NULL, CTRACE_CT_LIKEHEAD) == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_NOT_A_SUBLEVEL);
}

static uint32_t ask_for_the_others(struct ctrace_ctss *ctss)
{
	ctss->call_subs = ctss->sub_count == 0 ? CTRACE_YES : CTRACE_NO;
	return 0;
}

static void routines_of_followers_are_called_when_the_heads_asks(void)
{
	define_three_levels();
	REQUIRE(DEFINE(.name = "LIKE", .sub = "OWN", .startnam = "LIKESS") == CTRACE_RC_OK);
	answer = ask_for_the_others;
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "X") == CTRACE_RC_OK && call_count == 3);
	REQUIRE(was_called(0, "LIKE", START, ON) && was_called(1, "LIKE.A", START, ON) && was_called(2, "LIKE.A.B", START, ON));
	REQUIRE(has_options(&calls[1].ctss, "X") && has_options(&calls[2].ctss, "X"));
	forget_calls();
	/* Who follows no more is not called, nor who follows that one. */
	REQUIRE(TRACE_CT(.name = "LIKE", .sub = "A", .state = CTRACE_CT_ON, .options = "M") == CTRACE_RC_OK);
	REQUIRE(only_call("LIKE.A", START, ON));
	REQUIRE(TURN("LIKE", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK && only_call("LIKE", STOP, OFF));
	REQUIRE(shown("LIKE", "OWN")->mode == OFF);
}

/* The last of the three refuses everything but how it was. */
static const char *agreed;

static uint32_t refuse_what_is_new(struct ctrace_ctss *ctss)
{
	ctss->call_subs = CTRACE_YES;
	ctss->userdata[0]++;
	ctss->reason = 0x99;
	return ctss->sub_count == 2 && !has_options(ctss, agreed) ? 8 : 0;
}

static void a_follower_that_refuses_undoes_all_of_it(void)
{
	const struct call *last_of_head = NULL, *last_of_a = NULL;

	define_three_levels();
	answer = refuse_what_is_new;
	agreed = "OLD";
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "OLD") == CTRACE_RC_OK && call_count == 3);
	forget_calls();
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "NEW") == CTRACE_RC_REFUSED);
	REQUIRE(reason() == CTRACE_RSN_ROUTINE_REFUSED && outcome.ss_rc == 8 && outcome.ss_rsncode == 0x99);
	REQUIRE(is_like(NULL, ON, "OLD", false) && is_like("A", ON, "OLD", true) && is_like("A.B", ON, "OLD", true));
	/* Those who had agreed to the new have heard that it stays as it was. */
	REQUIRE(call_count == 5);
	REQUIRE(was_called(0, "LIKE", START, ON) && has_options(&calls[0].ctss, "NEW"));
	REQUIRE(was_called(1, "LIKE.A", START, ON) && has_options(&calls[1].ctss, "NEW"));
	REQUIRE(was_called(2, "LIKE.A.B", START, ON) && has_options(&calls[2].ctss, "NEW"));
	for (unsigned i = 3; i < 5; i++) {
		REQUIRE(calls[i].ctss.flags == START && calls[i].ctss.mode == ON && has_options(&calls[i].ctss, "OLD"));
		if (calls[i].ctss.sub_count == 0)
			last_of_head = &calls[i];
		else
			last_of_a = &calls[i];
	}
	REQUIRE(last_of_head != NULL && last_of_a != NULL);
	REQUIRE(TURN("LIKE", NULL, CTRACE_CT_OFF) == CTRACE_RC_REFUSED);
	REQUIRE(is_like("A.B", ON, "OLD", true));
	agreed = "";
	REQUIRE(TURN("LIKE", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK && is_like("A.B", OFF, "", true));
}

/* From OFF, too: then they are stopped. */
static void a_follower_that_refuses_to_start_has_the_others_stopped(void)
{
	define_three_levels();
	answer = refuse_what_is_new;
	agreed = "OLD";
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "NEW") == CTRACE_RC_REFUSED && call_count == 5);
	REQUIRE(calls[3].ctss.flags == STOP && calls[3].ctss.mode == OFF && calls[4].ctss.flags == STOP && calls[4].ctss.mode == OFF);
	REQUIRE(is_like(NULL, OFF, "", false) && is_like("A", OFF, "", true) && is_like("A.B", OFF, "", true));
}

static uint32_t define_a_follower(struct ctrace_ctss *ctss)
{
	if (ctss->sub_count > 0 || ctss->flags != START)
		return 0;
	ctss->call_subs = CTRACE_YES;
	REQUIRE(DEFINE(.name = "LIKE", .sub = "MADE", .startnam = "LIKESS", .likehead = YES) == CTRACE_RC_OK);
	return 0;
}

static void expect_that_the_new_follower_was_started(void)
{
	REQUIRE(call_count == 2 && was_called(0, "LIKE", START, ON) && was_called(1, "LIKE.MADE", START, ON));
	REQUIRE(has_options(&calls[1].ctss, "X") && is_like("MADE", ON, "X", true));
	REQUIRE(DELETE(.name = "LIKE") == CTRACE_RC_OK);
	forget_calls();
}

static void a_follower_that_its_heads_routine_defines_is_called_too(void)
{
	register_routine("LIKESS");
	write_member("CTON", "TRACEOPTS ON OPTIONS('X')");
	answer = define_a_follower;
	REQUIRE(DEFINE(.name = "LIKE", .startnam = "LIKESS", HEAD_KEYWORDS, .parm = "CTON") == CTRACE_RC_OK);
	expect_that_the_new_follower_was_started();
	REQUIRE(DEFINE(.name = "LIKE", .startnam = "LIKESS", HEAD_KEYWORDS) == CTRACE_RC_OK && no_call());
	REQUIRE(TRACE_CT(.name = "LIKE", .state = CTRACE_CT_ON, .options = "X") == CTRACE_RC_OK);
	expect_that_the_new_follower_was_started();
}

static void switch_many(unsigned count)
{
	char sub[24];

	register_routine("MANYSS");
	answer = ask_for_the_others;
	REQUIRE(DEFINE(.name = "MANY", .startnam = "MANYSS", HEAD_KEYWORDS, .manysubs = count > 15 ? YES : CTRACE_NO) == CTRACE_RC_OK);
	for (unsigned i = 0; i < count; i++) {
		(void)snprintf(sub, sizeof sub, "S%u", i);
		REQUIRE(DEFINE(.name = "MANY", .sub = sub, .startnam = "MANYSS", .likehead = YES) == CTRACE_RC_OK);
	}
	REQUIRE(shown("MANY", NULL)->subs == count && no_call());
	for (unsigned round = 0; round < 2; round++) {
		bool is_on = round == 0;

		REQUIRE(TURN("MANY", NULL, is_on ? CTRACE_CT_ON : CTRACE_CT_OFF) == CTRACE_RC_OK);
		REQUIRE(call_count == 1 + count);
		forget_calls();
		for (unsigned i = 0; i < count; i++) {
			(void)snprintf(sub, sizeof sub, "S%u", i);
			REQUIRE(shown("MANY", sub)->mode == (is_on ? ON : OFF) && records("MANY", sub) == is_on);
		}
	}
	REQUIRE(DELETE(.name = "MANY") == CTRACE_RC_OK && no_call());
	for (unsigned i = 0; i < count; i++) {
		(void)snprintf(sub, sizeof sub, "S%u", i);
		REQUIRE(!is_known("MANY", sub));
	}
}

static void one_child_and_3000_behave_alike(void)
{
	switch_many(1);
	switch_many(3000);
}

/* ---- MINOPS ---- */

static void minimum_options_stay_in_effect(void)
{
	uint64_t before;
	struct ctrace_tracer *tracer;

	register_routine("LEASTSS");
	REQUIRE(DEFINE(.name = "LEAST", .startnam = "LEASTSS", .minops = "MINIMUM") == CTRACE_RC_OK);
	REQUIRE(ctrace_component_tracer("LEAST", NULL, &tracer) == CTRACE_OK);
	for (unsigned round = 0; round < 3; round++) {
		if (round == 1)
			REQUIRE(TURN("LEAST", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK);
		if (round == 2)
			REQUIRE(ctrace_level_set("LEAST", CTRACE_LEVEL_NONE) == CTRACE_OK);
		REQUIRE(shown("LEAST", NULL)->mode == MIN_MODE && strcmp(shown("LEAST", NULL)->minops, "MINIMUM") == 0);
		before = events_emitted();
		ctrace_entry(tracer, 1, NULL, 0);
		REQUIRE(events_emitted() == before + 1);
	}
	REQUIRE(DELETE(.name = "LEAST") == CTRACE_RC_OK);
	before = events_emitted();
	ctrace_entry(tracer, 1, NULL, 0);
	REQUIRE(events_emitted() == before);
}

/* ---- filters ---- */

static bool is_filtered(bool expected)
{
	const struct ctrace_display *display = shown("FILTER", NULL);

	return display->mode == ON && (display->is_filtered != 0) == expected && records("FILTER", NULL) == !expected;
}

#define FILTER(...) TRACE_CT(.name = "FILTER", .state = CTRACE_CT_ON, __VA_ARGS__)

static void a_trace_can_be_for_some_address_spaces_only(void)
{
	char others[200] = "", asids[300];
	unsigned count = 0;

	register_routine("FILTERSS");
	REQUIRE(DEFINE(.name = "FILTER", .startnam = "FILTERSS", .asids = YES, .jobs = YES, .mod = YES) == CTRACE_RC_OK);
	for (uint32_t asid = 0xFF00; count < 15; asid++)
		if (asid != own_asid()) {
			(void)snprintf(others + strlen(others), 8, "%s%X", count == 0 ? "" : ",", asid);
			count++;
		}
	REQUIRE(FILTER(.asid = others) == CTRACE_RC_OK && is_filtered(true) && shown("FILTER", NULL)->asid_count == 15);
	(void)snprintf(asids, sizeof asids, "%s,%x", others, own_asid());
	REQUIRE(FILTER(.asid = asids) == CTRACE_RC_OK && is_filtered(false) && shown("FILTER", NULL)->asid_count == 16);
	(void)snprintf(asids, sizeof asids, "%s,%x,EEEE", others, own_asid());
	REQUIRE(FILTER(.asid = asids) == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_TOO_MANY_ASIDS);
	REQUIRE(is_filtered(false) && shown("FILTER", NULL)->asid_count == 16);
	REQUIRE(FILTER(.asid = "FFFE") == CTRACE_RC_OK && is_filtered(true));
	REQUIRE(FILTER(.options = "X") == CTRACE_RC_OK && is_filtered(true)); /* not given: stays */
	REQUIRE(FILTER(.asid = "") == CTRACE_RC_OK && is_filtered(false));
	REQUIRE(FILTER(.asid = "XYZ") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_ASID_NOT_HEX);

	/* OFF clears them. */
	REQUIRE(FILTER(.asid = "FFFE", .jobname = "OTHER") == CTRACE_RC_OK && is_filtered(true));
	forget_calls();
	REQUIRE(TURN("FILTER", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK);
	REQUIRE(calls[0].ctss.asid_count == 0 && calls[0].ctss.jobname_count == 0 && only_call("FILTER", STOP, OFF));
	REQUIRE(shown("FILTER", NULL)->asid_count == 0 && shown("FILTER", NULL)->jobname_count == 0);
	REQUIRE(TURN("FILTER", NULL, CTRACE_CT_ON) == CTRACE_RC_OK && is_filtered(false));
}

static void a_trace_can_be_for_some_jobs_only(void)
{
	char own[16];

	register_routine("FILTERSS");
	REQUIRE(DEFINE(.name = "FILTER", .startnam = "FILTERSS", .asids = YES, .jobs = YES, .mod = YES) == CTRACE_RC_OK);
	REQUIRE(FILTER(.jobname = "OTHER") == CTRACE_RC_OK && is_filtered(true));
	REQUIRE(FILTER(.jobname = "A,B,C,D,E,F,G,H,I,J,K,L,M,N,O," JOBNAME) == CTRACE_RC_OK && is_filtered(false));
	REQUIRE(shown("FILTER", NULL)->jobname_count == 16 && strcmp(shown("FILTER", NULL)->jobname[15], JOBNAME) == 0);
	REQUIRE(FILTER(.jobname = "A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q") == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_TOO_MANY_JOBNAMES);
	REQUIRE(FILTER(.jobname = "NINECHARS") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_JOBNAME_TOO_LONG);
	REQUIRE(is_filtered(false));
	/* With both lists an address space has to be in both. */
	(void)snprintf(own, sizeof own, "%X", own_asid());
	REQUIRE(FILTER(.asid = own) == CTRACE_RC_OK && is_filtered(false));
	REQUIRE(FILTER(.jobname = "OTHER") == CTRACE_RC_OK && is_filtered(true));
	REQUIRE(FILTER(.asid = "FFFE", .jobname = JOBNAME) == CTRACE_RC_OK && is_filtered(true));
	REQUIRE(FILTER(.asid = "", .jobname = "") == CTRACE_RC_OK && is_filtered(false));
}

static void a_trace_without_filters_refuses_them(void)
{
	register_routine("FILTERSS");
	REQUIRE(DEFINE(.name = "FILTER", .startnam = "FILTERSS", .mod = YES) == CTRACE_RC_OK);
	REQUIRE(FILTER(.asid = "1") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_NO_ASIDS);
	REQUIRE(FILTER(.jobname = "A") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_NO_JOBS);
	REQUIRE(FILTER(.bufsize = 8192) == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_NO_BUFFER);
	REQUIRE(FILTER(.wtr = "CTWTR") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_NO_WTR);
	REQUIRE(shown("FILTER", NULL)->mode == OFF && no_call());
}

/* What the minimum options still record here hides no filter. */
static void a_filter_is_shown_also_with_minimum_options(void)
{
	register_routine("FILTERSS");
	REQUIRE(DEFINE(.name = "FILTER", .startnam = "FILTERSS", .asids = YES, .mod = YES, .minops = "LEAST") == CTRACE_RC_OK);
	REQUIRE(shown("FILTER", NULL)->mode == MIN_MODE && !shown("FILTER", NULL)->is_filtered);
	REQUIRE(FILTER(.asid = "FFFE") == CTRACE_RC_OK);
	REQUIRE(shown("FILTER", NULL)->mode == ON && shown("FILTER", NULL)->is_filtered && records("FILTER", NULL));
	REQUIRE(FILTER(.asid = "") == CTRACE_RC_OK);
	REQUIRE(shown("FILTER", NULL)->mode == ON && !shown("FILTER", NULL)->is_filtered && records("FILTER", NULL));
}

/* ---- MOD, and what else a command may not ---- */

static void a_trace_with_mod_no_is_not_changed_while_it_is_on(void)
{
	register_routine("FIXEDSS");
	REQUIRE(DEFINE(.name = "FIXED", .startnam = "FIXEDSS") == CTRACE_RC_OK);
	REQUIRE(TRACE_CT(.name = "FIXED", .state = CTRACE_CT_ON, .options = "A") == CTRACE_RC_OK && only_call("FIXED", START, ON));
	REQUIRE(TRACE_CT(.name = "FIXED", .state = CTRACE_CT_ON, .options = "B") == CTRACE_RC_REFUSED);
	REQUIRE(reason() == CTRACE_RSN_NOT_MODIFIABLE && no_call() && strcmp(shown("FIXED", NULL)->options, "A") == 0);
	REQUIRE(TURN("FIXED", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK && only_call("FIXED", STOP, OFF));
	REQUIRE(TRACE_CT(.name = "FIXED", .state = CTRACE_CT_ON, .options = "B") == CTRACE_RC_OK && only_call("FIXED", START, ON));
	REQUIRE(strcmp(shown("FIXED", NULL)->options, "B") == 0);
}

static void commands_that_make_no_sense_are_refused(void)
{
	struct ctrace_display display = { .size = sizeof display };

	register_routine("PLAINSS");
	write_member("CTEMPTY", "TRACEOPTS OPTIONS('X')");
	write_member("CTON", "TRACEOPTS ON OPTIONS('X')");
	REQUIRE(TURN("NONE", NULL, CTRACE_CT_ON) == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_NOT_DEFINED);
	REQUIRE(ctrace_component_display("NONE", NULL, &display) == CTRACE_NOT_FOUND);
	REQUIRE(ctrace_component_display("", NULL, &display) == CTRACE_INVALID_COMPONENT_NAME);
	REQUIRE(DEFINE(.name = "PLAIN", .startnam = "PLAINSS", .buffer = YES, .bufdefin = YES) == CTRACE_RC_OK);
	REQUIRE(TURN("PLAIN", NULL, CTRACE_CT_NONE) == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_NO_STATE);
	REQUIRE(TRACE_CT(.name = "PLAIN", .parm = "CTEMPTY") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_NO_STATE);
	REQUIRE(TRACE_CT(.name = "PLAIN", .state = CTRACE_CT_ON, .bufsize = 8192) == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_BUFDEFIN);
	REQUIRE(no_call() && shown("PLAIN", NULL)->mode == OFF);
	/* The state of the command and the options of the member go together. */
	REQUIRE(TRACE_CT(.name = "PLAIN", .parm = "CTEMPTY", .state = CTRACE_CT_ON) == CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, "X") && only_call("PLAIN", START, ON));
	REQUIRE(TURN("PLAIN", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK && only_call("PLAIN", STOP, OFF));
	REQUIRE(TRACE_CT(.name = "PLAIN", .parm = "CTON") == CTRACE_RC_OK && only_call("PLAIN", START, ON));
}

static void a_command_with_parm_takes_no_operand_of_the_member(void)
{
	static const struct ctrace_trace_ct commands[] = {
#define WITH_PARM CTRACE_TRACE_CT_INIT, .name = "PLAIN", .parm = "CTON", .state = CTRACE_CT_ON
		{ WITH_PARM, .bufsize = 8192 }, { WITH_PARM, .asid = "" },   { WITH_PARM, .jobname = "" },
		{ WITH_PARM, .options = "" },   { WITH_PARM, .wtr = "CTW" },
	};

	register_routine("PLAINSS");
	write_member("CTON", "TRACEOPTS ON");
	REQUIRE(DEFINE(.name = "PLAIN", .startnam = "PLAINSS", .asids = YES, .jobs = YES, .buffer = YES, .wtr = YES,
		       .wtrmode = CTRACE_PAGEABLE) == CTRACE_RC_OK);
	for (unsigned i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		REQUIRE(ctrace_trace_ct(&commands[i], &outcome) == CTRACE_RC_ABEND && outcome.abend == 0x301);
		REQUIRE(no_call() && shown("PLAIN", NULL)->mode == OFF);
	}
	REQUIRE(TRACE_CT(.name = "PLAIN", .parm = "CTON") == CTRACE_RC_OK && only_call("PLAIN", START, ON));
}

static void options_are_one_line_of_text(void)
{
	static const char *const texts[] = { "A\nB", "\tA", "A\x1B[2J", "A\x7F", "\x01" };

	register_routine("PLAINSS");
	REQUIRE(DEFINE(.name = "PLAIN", .startnam = "PLAINSS") == CTRACE_RC_OK);
	for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		REQUIRE(TRACE_CT(.name = "PLAIN", .state = CTRACE_CT_ON, .options = texts[i]) == CTRACE_RC_REFUSED);
		REQUIRE(reason() == CTRACE_RSN_MEMBER_SYNTAX && no_call() && shown("PLAIN", NULL)->mode == OFF);
	}
	REQUIRE(TRACE_CT(.name = "PLAIN", .state = CTRACE_CT_ON, .options = "\xC3\xA4 ~") == CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, "\xC3\xA4 ~"));
}

/* Each statement of a member is a transaction of its own. */
static void a_member_may_be_carried_out_in_part(void)
{
	register_routine("PARTSS");
	write_member("CTPART", "TRACEOPTS\n SUB(A) ON OPTIONS('X')\n SUB(NONE) ON\n SUB(B) ON ASID(1)\n SUB(C) ON\n");
	write_member("CTALL", "TRACEOPTS SUB(A) OFF SUB(C) OFF");
	REQUIRE(DEFINE(.name = "PART", .head = YES) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "PART", .sub = "A", .startnam = "PARTSS") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "PART", .sub = "B", .startnam = "PARTSS") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "PART", .sub = "C", .startnam = "PARTSS") == CTRACE_RC_OK);
	REQUIRE(TRACE_CT(.name = "PART", .parm = "CTPART") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_NOT_ALL);
	REQUIRE(strstr(outcome.message, "NONE") != NULL); /* the first of the two that failed */
	REQUIRE(call_count == 2 && was_called(0, "PART.A", START, ON) && was_called(1, "PART.C", START, ON));
	REQUIRE(shown("PART", "A")->mode == ON && shown("PART", "B")->mode == OFF && shown("PART", "C")->mode == ON);
	REQUIRE(TRACE_CT(.name = "PART", .parm = "CTALL") == CTRACE_RC_OK);
	REQUIRE(shown("PART", "A")->mode == OFF && shown("PART", "C")->mode == OFF);
}

static void expect_refusal_at(const char *member, const char *text, uint32_t expected, const char *place)
{
	write_member(member, text);
	REQUIRE(TRACE_CT(.name = "PART", .parm = member) == CTRACE_RC_REFUSED && reason() == expected);
	REQUIRE(strncmp(outcome.message, place, strlen(place)) == 0);
}

static void what_fails_of_a_member_is_named_with_its_place(void)
{
	register_routine("PARTSS");
	REQUIRE(DEFINE(.name = "PART", .head = YES) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "PART", .sub = "A", .startnam = "PARTSS") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "PART", .sub = "B", .startnam = "PARTSS") == CTRACE_RC_OK);
	REQUIRE(TURN("PART", "A", CTRACE_CT_ON) == CTRACE_RC_OK);
	forget_calls();
	/* A is on and has MOD=NO; the head has no options. */
	expect_refusal_at("CT82", "TRACEOPTS\n\n   SUB(A) ON\n", CTRACE_RSN_NOT_MODIFIABLE, "CT82:3:4: ");
	expect_refusal_at("CT83", "TRACEOPTS\n  ON\n", CTRACE_RSN_HEAD_NO_OPTIONS, "CT83:2:3: ");
	expect_refusal_at("CT81", "TRACEOPTS\n SUB(NONE) ON\n", CTRACE_RSN_NOT_DEFINED, "CT81:2:2: ");
	/* What says its place itself says it once. */
	expect_refusal_at("CT14", "TRACEOPTS SUB(B) ON\n  ASID(1)\n", CTRACE_RSN_NO_ASIDS, "CT14:2:3: the trace");
	REQUIRE(no_call());
	expect_refusal_at("CTSOME", "TRACEOPTS\n SUB(B) ON\n SUB(A) ON\n SUB(NONE) ON\n", CTRACE_RSN_NOT_ALL, "CTSOME:3:2: ");
	REQUIRE(only_call("PART.B", START, ON));
	/* Of all that failed the first one's reason. */
	expect_refusal_at("CTNO", "TRACEOPTS\n SUB(NONE) ON\n SUB(A) ON\n", CTRACE_RSN_NOT_DEFINED, "CTNO:2:2: ");
}

/* ---- buffers ---- */

static unsigned rings_of(uint64_t data_size)
{
	unsigned count = 0;
	glob_t found;

	if (glob("run/[0-9]*/ring.*", 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct stat info;

		if (stat(found.gl_pathv[i], &info) == 0 && (uint64_t)info.st_size == data_size + 4096)
			count++;
	}
	globfree(&found);
	return count;
}

static uint32_t show_a_larger_buffer(struct ctrace_ctss *ctss)
{
	if (ctss->flags == CTRACE_CTSS_DISPLAY) {
		ctss->display = CTRACE_CTSS_SHOW_ON;
		ctss->buffer_size += 100;
	} else {
		ctss->buffer_size = (ctss->buffer_size + 4095) / 4096 * 4096;
	}
	return 0;
}

static void a_buffer_is_asked_rounded_and_granted(void)
{
	const struct ctrace_display *display;
	uint64_t granted;
	struct ctrace_tracer *tracer;

	register_routine("BUFFERSS");
	answer = show_a_larger_buffer;
	REQUIRE(DEFINE(.name = "BUFFER", .startnam = "BUFFERSS", .buffer = YES, .bufdflt = 5000, .mod = YES) == CTRACE_RC_OK);
	REQUIRE(ctrace_component_tracer("BUFFER", NULL, &tracer) == CTRACE_OK);
	REQUIRE(TURN("BUFFER", NULL, CTRACE_CT_ON) == CTRACE_RC_OK && calls[0].ctss.buffer_size == 5000);
	display = shown("BUFFER", NULL);
	granted = display->buffer_granted;
	REQUIRE(display->buffer == 1 && display->buffer_asked == 5000 && display->buffer_rounded == 8192);
	REQUIRE(granted >= 8192 && (granted & (granted - 1)) == 0);
	REQUIRE(rings_of(granted) == 0);
	ctrace_entry(tracer, 1, "x", 1);
	REQUIRE(rings_of(granted) == 1);

	REQUIRE(TRACE_CT(.name = "BUFFER", .state = CTRACE_CT_ON, .bufsize = 3u << 20) == CTRACE_RC_OK);
	display = shown("BUFFER", NULL);
	REQUIRE(display->buffer_asked == 3u << 20 && display->buffer_rounded == 3u << 20 && display->buffer_granted == 4u << 20);
	ctrace_entry(tracer, 2, "x", 1);
	REQUIRE(rings_of(4u << 20) == 1);
	/* What its display routine says counts. */
	REQUIRE(DEFINE(.name = "SHOW", .startnam = "BUFFERSS", .dispnam = "BUFFERSS", .buffer = YES, .bufdflt = 5000) == CTRACE_RC_OK);
	REQUIRE(TURN("SHOW", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	display = shown("SHOW", NULL);
	REQUIRE(display->buffer_asked == 5000 && display->buffer_rounded == 8192 + 100);
	REQUIRE(DEFINE(.name = "NOBUF", .startnam = "BUFFERSS") == CTRACE_RC_OK && TURN("NOBUF", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	display = shown("NOBUF", NULL);
	REQUIRE(display->buffer == 0 && display->buffer_asked == 0 && display->buffer_rounded == 0 && display->buffer_granted == 0);
}

static void a_members_size_goes_before_the_default(void)
{
	register_routine("BUFFERSS");
	write_member("CTSIZE", "TRACEOPTS ON BUFSIZE(128K)");
	/* BUFDEFIN=YES allows it here. */
	REQUIRE(DEFINE(.name = "BUFFER", .startnam = "BUFFERSS", .parm = "CTSIZE", .buffer = YES, .bufdefin = YES, .bufdflt = 5000) ==
		CTRACE_RC_OK);
	REQUIRE(calls[0].ctss.buffer_size == 128u << 10 && only_call("BUFFER", START, ON));
	REQUIRE(shown("BUFFER", NULL)->buffer_asked == 128u << 10 && shown("BUFFER", NULL)->buffer_granted == 128u << 10);
}

static uint64_t granted_to(const char *name)
{
	return shown(name, NULL)->buffer_granted;
}

/* What the configuration gives a name is there before it is defined, and again when it is deleted. */
static void define_what_has_a_configured_buffer(void)
{
	struct ctrace_tracer *tracer;

	register_routine("BUFFERSS");
	REQUIRE(ctrace_tracer_get("BUFFER", &tracer) == CTRACE_OK && granted_to("BUFFER") == 256u << 10);
	REQUIRE(DEFINE(.name = "BUFFER", .startnam = "BUFFERSS") == CTRACE_RC_OK);
	REQUIRE(granted_to("BUFFER") == 256u << 10 && shown("BUFFER", NULL)->buffer_asked == 0);
	REQUIRE(TURN("BUFFER", NULL, CTRACE_CT_ON) == CTRACE_RC_OK && granted_to("BUFFER") == 256u << 10);
	ctrace_entry(tracer, 1, "x", 1);
	REQUIRE(rings_of(256u << 10) == 1);
	REQUIRE(DELETE(.name = "BUFFER") == CTRACE_RC_OK && granted_to("BUFFER") == 256u << 10);

	REQUIRE(DEFINE(.name = "BUFFER", .startnam = "BUFFERSS", .buffer = YES, .bufdflt = 1u << 20) == CTRACE_RC_OK);
	REQUIRE(TURN("BUFFER", NULL, CTRACE_CT_ON) == CTRACE_RC_OK && granted_to("BUFFER") == 1u << 20);
	ctrace_entry(tracer, 2, "x", 1);
	REQUIRE(rings_of(1u << 20) == 1);
	REQUIRE(DELETE(.name = "BUFFER") == CTRACE_RC_OK && granted_to("BUFFER") == 256u << 10);
}

static void a_configured_buffer_is_shown_and_comes_back(void **state)
{
	(void)state;
	traces_begin(LINES_CONFIG "ctrace.buffer.BUFFER = 256k\n");
	scenario_run(define_what_has_a_configured_buffer);
	traces_end();
}

/* ---- the external writer ---- */

static bool has_writer(const char *writer)
{
	bool is_so = call_count == 1 && HOLDS(calls[0].ctss.writer, writer) && strcmp(shown("WRITER", NULL)->writer, writer) == 0;

	forget_calls();
	return is_so;
}

static void a_writer_stays_until_it_is_disconnected(void)
{
	register_routine("WRITERSS");
	write_member("CTWTR", "TRACEOPTS ON WTR(CTW)");
	REQUIRE(DEFINE(.name = "WRITER", .startnam = "WRITERSS", .parm = "CTWTR", .wtr = YES, .wtrmode = CTRACE_FIXED, .mod = YES) ==
		CTRACE_RC_OK);
	REQUIRE(has_writer("CTW") && shown("WRITER", NULL)->wtr == 1);
	REQUIRE(TURN("WRITER", NULL, CTRACE_CT_ON) == CTRACE_RC_OK && has_writer("CTW"));
	REQUIRE(TRACE_CT(.name = "WRITER", .state = CTRACE_CT_ON, .wtr = "OTHER") == CTRACE_RC_OK && has_writer("OTHER"));
	REQUIRE(TRACE_CT(.name = "WRITER", .state = CTRACE_CT_ON, .wtr = "DISCONNECT") == CTRACE_RC_OK && has_writer(""));
	REQUIRE(TRACE_CT(.name = "WRITER", .state = CTRACE_CT_ON, .wtr = "CTW") == CTRACE_RC_OK && has_writer("CTW"));
	REQUIRE(TRACE_CT(.name = "WRITER", .state = CTRACE_CT_ON, .wtr = "1W") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_WTR_NAME);
	REQUIRE(TRACE_CT(.name = "WRITER", .state = CTRACE_CT_ON, .wtr = "disConnect") == CTRACE_RC_OK && has_writer(""));
	REQUIRE(TRACE_CT(.name = "WRITER", .state = CTRACE_CT_ON, .wtr = "CTW") == CTRACE_RC_OK && has_writer("CTW"));
	REQUIRE(TURN("WRITER", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK && has_writer(""));
}

/* ---- the display routine ---- */

static uint32_t shown_flag;
static uint32_t shown_rc;

static uint32_t show_other_things(struct ctrace_ctss *ctss)
{
	if (ctss->flags != CTRACE_CTSS_DISPLAY)
		return 0;
	ctss->display = shown_flag;
	ctss->options_size = 5;
	memcpy(ctss->options, "OTHER", 5);
	ctss->userdata[0] = 'd';
	return shown_rc;
}

static void a_display_routine_corrects_what_is_shown(void)
{
	static const struct {
		uint32_t flag, rc, mode;
		const char *options;
	} cases[] = {
		{ CTRACE_CTSS_SHOW_OFF, 0, OFF, "OTHER" }, { CTRACE_CTSS_SHOW_MIN, 0, MIN_MODE, "OTHER" },
		{ CTRACE_CTSS_SHOW_ON, 0, ON, "OTHER" },   { 0, 0, ON, "GIVEN" },
		{ CTRACE_CTSS_SHOW_OFF, 4, ON, "GIVEN" },
	};

	register_routine("SHOWSS");
	answer = show_other_things;
	REQUIRE(DEFINE(.name = "SHOW", .startnam = "SHOWSS", .dispnam = "SHOWSS") == CTRACE_RC_OK);
	REQUIRE(TRACE_CT(.name = "SHOW", .state = CTRACE_CT_ON, .options = "GIVEN") == CTRACE_RC_OK);
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct ctrace_display *display;

		shown_flag = cases[i].flag;
		shown_rc = cases[i].rc;
		forget_calls();
		display = shown("SHOW", NULL);
		REQUIRE(display->mode == cases[i].mode && strcmp(display->options, cases[i].options) == 0);
		REQUIRE(call_count == 1 && calls[0].ctss.flags == CTRACE_CTSS_DISPLAY && has_options(&calls[0].ctss, "GIVEN"));
		REQUIRE(strcmp(display->startnam, "SHOWSS") == 0 && strcmp(display->dispnam, "SHOWSS") == 0);
		REQUIRE(records("SHOW", NULL)); /* it is only shown differently */
	}
}

/* ---- what the tool lists ---- */

static uint32_t refuse_the_refused(struct ctrace_ctss *ctss)
{
	return HOLDS(ctss->name, "REFUSED") || (ctss->sub_count == 1 && HOLDS(ctss->sub[0], "REFUSED")) ? 8 : 0;
}

static bool is_listed(const char *name)
{
	char command[100];

	(void)snprintf(command, sizeof command, "grep -qwF '%s' tool.out", name);
	return system(command) == 0;
}

static void only_what_there_is_is_listed(void)
{
	register_routine("LISTSS");
	answer = refuse_the_refused;
	REQUIRE(DEFINE(.name = "STAYS", .startnam = "LISTSS", HEAD_KEYWORDS, .minops = "LEAST") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "STAYS", .sub = "SUBA", .startnam = "LISTSS") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "STAYS", .sub = "REFUSED", .startnam = "LISTSS", .minops = "LEAST") == CTRACE_RC_REFUSED);
	REQUIRE(DEFINE(.name = "REFUSED", .startnam = "LISTSS", .minops = "LEAST") == CTRACE_RC_REFUSED);
	REQUIRE(DEFINE(.name = "DELETED", .startnam = "LISTSS", HEAD_KEYWORDS, .minops = "LEAST") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "DELETED", .sub = "SUBA", .startnam = "LISTSS", .minops = "LEAST") == CTRACE_RC_OK);
	REQUIRE(run_tool("list --all") == 0);
	REQUIRE(is_listed("STAYS") && is_listed("STAYS.SUBA") && is_listed("DELETED") && is_listed("DELETED.SUBA"));
	REQUIRE(!is_listed("REFUSED"));
	REQUIRE(DELETE(.name = "DELETED") == CTRACE_RC_OK && run_tool("list --all") == 0);
	REQUIRE(is_listed("STAYS") && is_listed("STAYS.SUBA") && !is_listed("DELETED") && !is_listed("REFUSED"));
}

/* ---- many threads ---- */

#define THREADS 8u
#define ROUNDS 200u

static pthread_barrier_t together;
static unsigned defined[ROUNDS];
static unsigned deleted[ROUNDS];

static void *define_and_delete(void *argument)
{
	unsigned number = (unsigned)(uintptr_t)argument;
	char own[16], common[16];

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint32_t rc;

		(void)snprintf(own, sizeof own, "OWN%u", number);
		(void)snprintf(common, sizeof common, "ALL%u", round);
		REQUIRE(DEFINE(.name = own, .startnam = "RACESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
		REQUIRE(DEFINE(.name = own, .sub = "SUBA", .startnam = "RACESS", .minops = "LEAST") == CTRACE_RC_OK);
		(void)pthread_barrier_wait(&together);
		rc = DEFINE(.name = common, .startnam = "RACESS", .minops = "LEAST");
		REQUIRE(rc == CTRACE_RC_OK || rc == CTRACE_RC_EXISTS);
		if (rc == CTRACE_RC_OK)
			(void)__atomic_add_fetch(&defined[round], 1, __ATOMIC_RELAXED);
		REQUIRE(shown(common, NULL)->mode == MIN_MODE);
		(void)pthread_barrier_wait(&together);
		rc = DELETE(.name = common);
		REQUIRE(rc == CTRACE_RC_OK || rc == CTRACE_RC_EXISTS);
		if (rc == CTRACE_RC_OK)
			(void)__atomic_add_fetch(&deleted[round], 1, __ATOMIC_RELAXED);
		REQUIRE(DELETE(.name = own) == CTRACE_RC_OK);
	}
	return NULL;
}

static void of_many_defines_of_one_name_one_wins(void)
{
	pthread_t threads[THREADS];

	register_routine("RACESS");
	REQUIRE(pthread_barrier_init(&together, NULL, THREADS) == 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, define_and_delete, (void *)i) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
	for (unsigned round = 0; round < ROUNDS; round++)
		REQUIRE(defined[round] == 1 && deleted[round] == 1);
	/* Each definition was started once and stopped once. */
	REQUIRE(call_count == 2 * ROUNDS + 2 * ROUNDS * THREADS);
}

static struct ctrace_tracer inside = CTRACE_TRACER("INSIDE");

static uint32_t define_a_sublevel(struct ctrace_ctss *ctss)
{
	uint64_t before = events_emitted();

	if (ctss->sub_count > 0 || ctss->flags != START)
		return 0;
	REQUIRE(DEFINE(.name = "BUSY", .sub = "MADE", .startnam = "BUSYSS", .likehead = YES) == CTRACE_RC_OK);
	CTRACE(&inside, CTRACE_INFO, 1);
	REQUIRE(events_emitted() == before + 1);
	return 0;
}

static void a_routine_may_define_a_sublevel_and_trace(void)
{
	register_routine("BUSYSS");
	REQUIRE(DEFINE(.name = "BUSY", .startnam = "BUSYSS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	answer = define_a_sublevel;
	REQUIRE(TURN("BUSY", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	REQUIRE(shown("BUSY", NULL)->subs == 1 && shown("BUSY", "MADE")->mode == ON && records("BUSY", "MADE"));
}

static sem_t is_inside, may_go_on;

static uint32_t stay_inside(struct ctrace_ctss *ctss)
{
	if (!HOLDS(ctss->name, "HELD"))
		return 0;
	REQUIRE(sem_post(&is_inside) == 0);
	while (sem_wait(&may_go_on) != 0)
		;
	return 0;
}

static void *switch_held_on(void *argument)
{
	(void)argument;
	REQUIRE(TURN("HELD", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	return NULL;
}

static void a_routine_that_takes_its_time_holds_nobody_else_up(void)
{
	pthread_t thread;

	register_routine("HELDSS");
	REQUIRE(sem_init(&is_inside, 0, 0) == 0 && sem_init(&may_go_on, 0, 0) == 0);
	REQUIRE(DEFINE(.name = "HELD", .startnam = "HELDSS") == CTRACE_RC_OK);
	answer = stay_inside;
	REQUIRE(pthread_create(&thread, NULL, switch_held_on, NULL) == 0);
	while (sem_wait(&is_inside) != 0)
		;
	REQUIRE(DEFINE(.name = "FREE", .startnam = "HELDSS", .minops = "LEAST") == CTRACE_RC_OK);
	REQUIRE(TURN("FREE", NULL, CTRACE_CT_ON) == CTRACE_RC_OK && shown("FREE", NULL)->mode == ON);
	REQUIRE(DELETE(.name = "FREE") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "HELD", .startnam = "HELDSS") == CTRACE_RC_EXISTS);
	REQUIRE(is_known("HELD", NULL) && !records("HELD", NULL)); /* the routine has not agreed yet */
	REQUIRE(sem_post(&may_go_on) == 0);
	REQUIRE(pthread_join(thread, NULL) == 0);
	REQUIRE(records("HELD", NULL));
}

/* ---- errno ---- */

static void errno_is_kept(void)
{
	struct ctrace_display display = { .size = sizeof display };
	struct ctrace_tracer *tracer;

	errno = 4711;
	REQUIRE(ctrace_routine_register("ERRNOSS", noting_routine) == CTRACE_OK && errno == 4711);
	REQUIRE(DEFINE(.name = "ERRNO", .startnam = "ERRNOSS") == CTRACE_RC_OK && errno == 4711);
	REQUIRE(DEFINE(.name = "OTHER", .startnam = "ERRNOSS", .parm = "CTNONE") == CTRACE_RC_REFUSED && errno == 4711);
	REQUIRE(DEFINE(.name = "OTHER", .startnam = "NOWHERE", .minops = "A") == CTRACE_RC_REFUSED && errno == 4711);
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
	TEST(a_define_without_presets_takes_no_descriptor),
	TEST(likehead_calls_it_with_the_heads_state),
	TEST(a_member_may_say_likehead),
	TEST(a_head_without_options_cannot_be_switched),
	TEST(a_head_without_options_has_no_minimum_options),
	TEST(delete_stops_what_is_active_deepest_first),
	TEST(delete_leaves_what_is_beside_it),
	TEST(a_stop_that_fails_at_delete_is_told_and_keeps_nothing),
	TEST(sublevels_go_down_to_five),
	TEST(quoted_names_have_lower_case_and_underscores),
	TEST(an_address_space_and_its_job_are_one_sublevel),
	TEST(what_follows_its_head_changes_with_it),
	TEST(routines_of_followers_are_called_when_the_heads_asks),
	TEST(a_follower_that_its_heads_routine_defines_is_called_too),
	TEST(a_follower_that_refuses_undoes_all_of_it),
	TEST(a_follower_that_refuses_to_start_has_the_others_stopped),
	TEST(one_child_and_3000_behave_alike),
	TEST(minimum_options_stay_in_effect),
	TEST(a_trace_can_be_for_some_address_spaces_only),
	TEST(a_trace_can_be_for_some_jobs_only),
	TEST(a_trace_without_filters_refuses_them),
	TEST(a_filter_is_shown_also_with_minimum_options),
	TEST(a_trace_with_mod_no_is_not_changed_while_it_is_on),
	TEST(commands_that_make_no_sense_are_refused),
	TEST(a_command_with_parm_takes_no_operand_of_the_member),
	TEST(options_are_one_line_of_text),
	TEST(a_member_may_be_carried_out_in_part),
	TEST(what_fails_of_a_member_is_named_with_its_place),
	TEST(a_buffer_is_asked_rounded_and_granted),
	TEST(a_members_size_goes_before_the_default),
	TEST(a_writer_stays_until_it_is_disconnected),
	TEST(a_display_routine_corrects_what_is_shown),
	TEST(only_what_there_is_is_listed),
	TEST(of_many_defines_of_one_name_one_wins),
	TEST(a_routine_may_define_a_sublevel_and_trace),
	TEST(a_routine_that_takes_its_time_holds_nobody_else_up),
	TEST(errno_is_kept),
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

int main(void)
{
	struct CMUnitTest tests[4 + ROW_COUNT] = {
		cmocka_unit_test(the_documented_example_works_as_it_stands),
		cmocka_unit_test(routines_come_from_modules_of_the_linklist),
		cmocka_unit_test(a_preset_is_kept_by_the_name_that_was_said),
		cmocka_unit_test(a_configured_buffer_is_shown_and_comes_back),
	};

	for (size_t i = 0; i < ROW_COUNT; i++)
		tests[4 + i] = (struct CMUnitTest){ .name = rows[i].name,
						    .test_func = try_test,
						    .initial_state = (void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
