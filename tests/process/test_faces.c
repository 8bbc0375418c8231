/*
 * test_faces.c - one node, two faces: what the tracer of a name (mfctf.h, ctrace/ctrace.h) shows of
 * its component trace, and the other way round.
 *
 * The table in docs/component-trace.md of what each face shows of the other is what these tests
 * show.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "traces.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <mfctf.h>
#include <semaphore.h>
#include <sys/syscall.h>

#define BY_NAME \
	(CTF_FLAG_COMPID_STRING | CTF_FLAG_COMP_NAME_NULL_TERM | CTF_FLAG_PROP_NAME_NULL_TERM | \
	 CTF_FLAG_PROP_VALUE_NULL_TERM)

/* The level as the CTF face reports it. */
static uint32_t level_of(const char *component)
{
	uint32_t native, level;

	REQUIRE(CBL_CTF_TRACER_LEVEL_GET(BY_NAME, (const cobuns8_t *)component, &level) ==
		CTF_RET_SUCCESS);
	REQUIRE(ctrace_level_get(component, &native) == CTRACE_OK && native == level);
	return level;
}

static cbl_x4_comp5_t handle_of(const char *component)
{
	cbl_x4_comp5_t handle = 0;

	REQUIRE(CBL_CTF_TRACER_GET(CTF_FLAG_COMP_NAME_NULL_TERM, (const cobuns8_t *)component,
				   &handle) == CTF_RET_SUCCESS);
	return handle;
}

static struct ctrace_tracer *tracer_of(const char *component)
{
	struct ctrace_tracer *tracer;

	REQUIRE(ctrace_tracer_get(component, &tracer) == CTRACE_OK);
	return tracer;
}

static struct ctrace_tracer *trace_of(const char *name, const char *sub)
{
	struct ctrace_tracer *tracer;

	REQUIRE(ctrace_component_tracer(name, sub, &tracer) == CTRACE_OK);
	return tracer;
}

static cobrtncode_t trace_by_handle(cbl_x4_comp5_t handle)
{
	TRACE_EVENT event = { .event_id = 7, .level = CTF_FLAG_LEVEL_INFO };

	return cobctf_trace(0, (const cobuns8_t *)&handle, &event);
}

/* ---- one node ---- */

static void a_defined_trace_is_the_tracer_of_its_name(void)
{
	cbl_x4_comp5_t handle;

	register_routine("NODESS");
	REQUIRE(DEFINE(.name = "NODE", .startnam = "NODESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "NODE", .sub = "SUBA", .startnam = "NODESS") == CTRACE_RC_OK);
	REQUIRE(tracer_of("NODE") == trace_of("NODE", NULL) &&
		tracer_of("NODE.SUBA") == trace_of("NODE", "SUBA"));
	/* the tracer's name may be in any case */
	REQUIRE(tracer_of("node.suba") == trace_of("NODE", "SUBA"));
	handle = handle_of("Node.SubA");
	REQUIRE(trace_by_handle(handle) == CTF_RET_NOT_TRACE_ENABLED);
	REQUIRE(TURN("NODE", "SUBA", CTRACE_CT_ON) == CTRACE_RC_OK);
	REQUIRE(trace_by_handle(handle) == CTF_RET_SUCCESS &&
		level_of("NODE.SUBA") == CTRACE_DEBUG);
	REQUIRE(TURN("NODE", "SUBA", CTRACE_CT_OFF) == CTRACE_RC_OK);
	REQUIRE(trace_by_handle(handle) == CTF_RET_NOT_TRACE_ENABLED &&
		level_of("NODE.SUBA") == CTRACE_LEVEL_NONE);
}

static void a_tracer_is_the_trace_that_is_defined_later(void)
{
	struct ctrace_tracer *tracer = tracer_of("NODE.SUBA");
	struct ctrace_display display = { .size = sizeof display };
	cbl_x4_comp5_t handle = handle_of("NODE.SUBA");

	register_routine("NODESS");
	REQUIRE(trace_of("NODE", "SUBA") == tracer);
	/* by the default level */
	REQUIRE(shown("NODE", "SUBA")->is_defined == 0 && shown("NODE", "SUBA")->mode == ON);
	/* Its parent is a part of a name and nothing more. */
	REQUIRE(ctrace_component_display("NODE", NULL, &display) == CTRACE_NOT_FOUND &&
		!is_known("NODE", NULL));
	REQUIRE(DEFINE(.name = "NODE", .startnam = "NODESS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "NODE", .sub = "SUBA", .startnam = "NODESS", .minops = "LEAST") ==
		CTRACE_RC_OK);
	REQUIRE(trace_of("NODE", "SUBA") == tracer && handle_of("NODE.SUBA") == handle);
	REQUIRE(shown("NODE", "SUBA")->is_defined == 1 && shown("NODE", "SUBA")->mode == MIN_MODE);
	REQUIRE(DELETE(.name = "NODE") == CTRACE_RC_OK);
	REQUIRE(trace_of("NODE", "SUBA") == tracer && handle_of("NODE.SUBA") == handle &&
		!is_known("NODE", NULL));
	REQUIRE(shown("NODE", "SUBA")->is_defined == 0 &&
		trace_by_handle(handle) == CTF_RET_SUCCESS);
}

static void properties_and_destinations_belong_to_the_node(void)
{
	char value[16];
	size_t size = sizeof value;

	register_routine("NODESS");
	REQUIRE(ctrace_component_property_set("NODE", "colour", "blue") == CTRACE_OK);
	REQUIRE(DEFINE(.name = "NODE", .startnam = "NODESS") == CTRACE_RC_OK);
	REQUIRE(ctrace_component_property_get("NODE", "colour", value, &size) == CTRACE_OK &&
		strcmp(value, "blue") == 0);
	REQUIRE(ctrace_dest_set("NODE", "es", CTRACE_DEST_ADD | CTRACE_DEST_NOINHERIT) ==
		CTRACE_OK);
	REQUIRE(TURN("NODE", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	REQUIRE(ctrace_dest_set("NODE", "es", CTRACE_DEST_REMOVE) == CTRACE_OK);
	REQUIRE(DELETE(.name = "NODE") == CTRACE_RC_OK);
	size = sizeof value;
	REQUIRE(ctrace_component_property_get("NODE", "colour", value, &size) == CTRACE_OK &&
		strcmp(value, "blue") == 0);
}

/* ---- DEFINE: what was there before ---- */

/* The state that a DEFINE finds: START at ON with that level, or nothing at all. */
static void define_and_expect(const char *name, const char *parm, uint32_t level)
{
	uint32_t before = level_of(name);

	REQUIRE(DEFINE(.name = name, .startnam = "FIRSTSS", .parm = parm) == CTRACE_RC_OK);
	REQUIRE(level == CTRACE_LEVEL_NONE ? no_call() : only_call(name, START, ON));
	REQUIRE(level_of(name) == level &&
		shown(name, NULL)->mode == (level == CTRACE_LEVEL_NONE ? OFF : ON));
	REQUIRE(DELETE(.name = name) == CTRACE_RC_OK);
	REQUIRE(level_of(name) == before);
	reset_calls();
}

#define FIRST_CONFIG \
	LINES_CONFIG \
	"mftrace.level.SETINFO = info\n" \
	"mftrace.level.setnone = none\n" \
	"mftrace.level.PARENT = warn\n"

static void define_begins_with_what_was_set_on_that_very_name(void)
{
	register_routine("FIRSTSS");
	write_member("CTON", "TRACEOPTS ON");
	write_member("CTOFF", "TRACEOPTS OFF");
	write_member("CTEMPTY", "TRACEOPTS");
	define_and_expect("SETINFO", NULL, CTRACE_INFO);
	define_and_expect("SETNONE", NULL, CTRACE_LEVEL_NONE);
	define_and_expect("PLAIN", NULL, CTRACE_LEVEL_NONE); /* the default level is not its own */
	REQUIRE(CBL_CTF_LEVEL(BY_NAME, CTF_FLAG_LEVEL_ERROR, (const cobuns8_t *)"LATER") ==
		CTF_RET_SUCCESS);
	define_and_expect("LATER", NULL, CTRACE_ERROR);
	/* A member goes before it. */
	define_and_expect("SETINFO", "CTOFF", CTRACE_LEVEL_NONE);
	define_and_expect("SETINFO", "CTON", CTRACE_DEBUG);
	define_and_expect("SETNONE", "CTON", CTRACE_DEBUG);
	/* Nor is the parent's level its own. */
	REQUIRE(DEFINE(.name = "PARENT", .startnam = "FIRSTSS", HEAD_KEYWORDS) == CTRACE_RC_OK &&
		only_call("PARENT", START, ON));
	REQUIRE(DEFINE(.name = "PARENT", .sub = "SUBA", .startnam = "FIRSTSS") == CTRACE_RC_OK &&
		no_call());
	REQUIRE(level_of("PARENT") == CTRACE_WARN && level_of("PARENT.SUBA") == CTRACE_LEVEL_NONE);
	/* But one that follows it has it. */
	REQUIRE(DEFINE(.name = "PARENT", .sub = "SUBB", .startnam = "FIRSTSS", .likehead = YES) ==
		CTRACE_RC_OK);
	REQUIRE(only_call("PARENT.SUBB", START, ON) && level_of("PARENT.SUBB") == CTRACE_WARN);
}

static void a_preset_goes_before_what_was_set(void)
{
	register_routine("FIRSTSS");
	write_member("CTPUT", "TRACEOPTS SUB(SUBA) PRESET(PUT) OPTIONS('PRESET')");
	REQUIRE(DEFINE(.name = "PARENT", .startnam = "FIRSTSS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(TRACE_CT(.name = "PARENT", .parm = "CTPUT") == CTRACE_RC_OK);
	REQUIRE(ctrace_level_set("PARENT.SUBA", CTRACE_ERROR) == CTRACE_OK);
	reset_calls();
	REQUIRE(DEFINE(.name = "PARENT", .sub = "SUBA", .startnam = "FIRSTSS") == CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, "PRESET") && only_call("PARENT.SUBA", START, ON));
	REQUIRE(level_of("PARENT.SUBA") == CTRACE_DEBUG);
}

static void delete_leaves_the_tracer_as_it_was(void)
{
	struct ctrace_tracer *tracer = tracer_of("BEFORE");
	uint64_t emitted;

	register_routine("FIRSTSS");
	/* Inherited before, inherited after. */
	REQUIRE(DEFINE(.name = "BEFORE", .startnam = "FIRSTSS") == CTRACE_RC_OK &&
		level_of("BEFORE") == CTRACE_LEVEL_NONE);
	REQUIRE(DELETE(.name = "BEFORE") == CTRACE_RC_OK && level_of("BEFORE") == CTRACE_DEBUG);
	REQUIRE(ctrace_level_set(NULL, CTRACE_ERROR) == CTRACE_OK &&
		level_of("BEFORE") == CTRACE_ERROR);
	/* Its own before, its own after, whatever it was switched to meanwhile. */
	REQUIRE(ctrace_level_set("BEFORE", CTRACE_WARN) == CTRACE_OK);
	REQUIRE(DEFINE(.name = "BEFORE", .startnam = "FIRSTSS", .mod = YES, .minops = "LEAST",
		       .asids = YES) == CTRACE_RC_OK);
	REQUIRE(TRACE_CT(.name = "BEFORE", .state = CTRACE_CT_ON, .asid = "FFFE") == CTRACE_RC_OK);
	REQUIRE(DELETE(.name = "BEFORE") == CTRACE_RC_OK && level_of("BEFORE") == CTRACE_WARN);
	REQUIRE(!ctrace_enabled(tracer, CTRACE_INFO) && ctrace_enabled(tracer, CTRACE_WARN));

	/* What only DEFINE had made traces nothing, although the default level would let it. */
	REQUIRE(ctrace_level_set(NULL, CTRACE_DEBUG) == CTRACE_OK);
	REQUIRE(DEFINE(.name = "MADE", .startnam = "FIRSTSS") == CTRACE_RC_OK &&
		TURN("MADE", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	tracer = trace_of("MADE", NULL);
	REQUIRE(ctrace_enabled(tracer, CTRACE_DEBUG));
	REQUIRE(DELETE(.name = "MADE") == CTRACE_RC_OK && !is_known("MADE", NULL));
	emitted = events_emitted();
	ctrace_entry(tracer, 1, NULL, 0);
	REQUIRE(events_emitted() == emitted);
	REQUIRE(DEFINE(.name = "MADE", .startnam = "FIRSTSS") == CTRACE_RC_OK &&
		trace_of("MADE", NULL) == tracer);
	REQUIRE(TURN("MADE", NULL, CTRACE_CT_ON) == CTRACE_RC_OK &&
		ctrace_enabled(tracer, CTRACE_DEBUG));
}

/* ---- level commands reach a defined trace ---- */

static void a_level_switches_a_defined_trace(void)
{
	cbl_x4_comp5_t handle;

	register_routine("LEVELSS");
	REQUIRE(DEFINE(.name = "LEVEL", .startnam = "LEVELSS") == CTRACE_RC_OK);
	handle = handle_of("LEVEL");
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_INFO) == CTRACE_OK &&
		only_call("LEVEL", START, ON));
	REQUIRE(shown("LEVEL", NULL)->mode == ON && level_of("LEVEL") == CTRACE_INFO);
	REQUIRE(ctrace_level_set("level", CTRACE_LEVEL_NONE) == CTRACE_OK &&
		only_call("LEVEL", STOP, OFF));
	REQUIRE(shown("LEVEL", NULL)->mode == OFF && level_of("LEVEL") == CTRACE_LEVEL_NONE);

	REQUIRE(CBL_CTF_LEVEL(0, CTF_FLAG_LEVEL_FATAL, (const cobuns8_t *)&handle) ==
			CTF_RET_SUCCESS &&
		only_call("LEVEL", START, ON));
	REQUIRE(shown("LEVEL", NULL)->mode == ON && level_of("LEVEL") == CTRACE_FATAL);
	REQUIRE(CBL_CTF_LEVEL(BY_NAME, CTF_LEVEL_NONE, (const cobuns8_t *)"LEVEL") ==
			CTF_RET_SUCCESS &&
		only_call("LEVEL", STOP, OFF));
	REQUIRE(ctrace_configure("mftrace.level.LEVEL = debug") == CTRACE_OK &&
		only_call("LEVEL", START, ON));
	REQUIRE(ctrace_configure("mftrace.level.LEVEL = none") == CTRACE_OK &&
		only_call("LEVEL", STOP, OFF));

	/* Switched on by one face, off by the other. */
	REQUIRE(TRACE_CT(.name = "LEVEL", .state = CTRACE_CT_ON, .options = "X") == CTRACE_RC_OK &&
		only_call("LEVEL", START, ON));
	REQUIRE(level_of("LEVEL") == CTRACE_DEBUG);
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_LEVEL_NONE) == CTRACE_OK &&
		only_call("LEVEL", STOP, OFF));
	REQUIRE(shown("LEVEL", NULL)->mode == OFF && shown("LEVEL", NULL)->options[0] == '\0');
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_ERROR) == CTRACE_OK &&
		only_call("LEVEL", START, ON));
	REQUIRE(TURN("LEVEL", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK &&
		only_call("LEVEL", STOP, OFF));
	REQUIRE(level_of("LEVEL") == CTRACE_LEVEL_NONE);
	/* The default level is not its own, and switches nothing. */
	REQUIRE(ctrace_level_set(NULL, CTRACE_INFO) == CTRACE_OK && no_call() &&
		shown("LEVEL", NULL)->mode == OFF);
}

static void a_level_switches_down_to_the_minimum_options(void)
{
	register_routine("LEVELSS");
	REQUIRE(DEFINE(.name = "LEVEL", .startnam = "LEVELSS", .minops = "LEAST") == CTRACE_RC_OK &&
		only_call("LEVEL", START, MIN_MODE));
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_INFO) == CTRACE_OK &&
		only_call("LEVEL", START, ON));
	REQUIRE(shown("LEVEL", NULL)->mode == ON);
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_LEVEL_NONE) == CTRACE_OK &&
		only_call("LEVEL", STOP, MIN_MODE));
	REQUIRE(shown("LEVEL", NULL)->mode == MIN_MODE && records("LEVEL", NULL));
	/* Also where the minimum records as much as the trace did. */
	REQUIRE(TURN("LEVEL", NULL, CTRACE_CT_ON) == CTRACE_RC_OK && only_call("LEVEL", START, ON));
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_LEVEL_NONE) == CTRACE_OK &&
		only_call("LEVEL", STOP, MIN_MODE));
	REQUIRE(shown("LEVEL", NULL)->mode == MIN_MODE && records("LEVEL", NULL));
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_DEBUG) == CTRACE_OK &&
		only_call("LEVEL", START, ON));
	REQUIRE(shown("LEVEL", NULL)->mode == ON);
}

static void a_level_switches_off_what_is_filtered_out(void)
{
	register_routine("LEVELSS");
	REQUIRE(DEFINE(.name = "LEVEL", .startnam = "LEVELSS", .asids = YES, .mod = YES) ==
		CTRACE_RC_OK);
	REQUIRE(TRACE_CT(.name = "LEVEL", .state = CTRACE_CT_ON, .asid = "FFFE") == CTRACE_RC_OK &&
		!records("LEVEL", NULL));
	reset_calls();
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_INFO) == CTRACE_OK && !records("LEVEL", NULL));
	REQUIRE(shown("LEVEL", NULL)->mode == ON && shown("LEVEL", NULL)->is_filtered);
	reset_calls();
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_LEVEL_NONE) == CTRACE_OK &&
		only_call("LEVEL", STOP, OFF));
	REQUIRE(shown("LEVEL", NULL)->mode == OFF && shown("LEVEL", NULL)->asid_count == 0);
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_INFO) == CTRACE_OK && records("LEVEL", NULL));
}

static uint32_t refuse_all(struct ctrace_ctss *ctss)
{
	(void)ctss;
	return 8;
}

static void a_level_that_the_routine_refuses_goes_back(void)
{
	register_routine("LEVELSS");
	REQUIRE(DEFINE(.name = "LEVEL", .startnam = "LEVELSS", .mod = YES) == CTRACE_RC_OK);
	answer = refuse_all;
	(void)!ctrace_level_set("LEVEL", CTRACE_DEBUG);
	REQUIRE(shown("LEVEL", NULL)->mode == OFF && level_of("LEVEL") == CTRACE_LEVEL_NONE &&
		!records("LEVEL", NULL));
	answer = NULL;
	REQUIRE(TRACE_CT(.name = "LEVEL", .state = CTRACE_CT_ON, .options = "X") == CTRACE_RC_OK);
	answer = refuse_all;
	(void)!CBL_CTF_LEVEL(BY_NAME, CTF_LEVEL_NONE, (const cobuns8_t *)"LEVEL");
	REQUIRE(shown("LEVEL", NULL)->mode == ON && level_of("LEVEL") == CTRACE_DEBUG &&
		records("LEVEL", NULL));
	REQUIRE(strcmp(shown("LEVEL", NULL)->options, "X") == 0);
	/* Who can be switched again is. */
	answer = NULL;
	reset_calls();
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_LEVEL_NONE) == CTRACE_OK &&
		only_call("LEVEL", STOP, OFF));
}

static void a_level_reaches_those_that_follow_and_parts_one_that_followed(void)
{
	register_routine("LEVELSS");
	REQUIRE(DEFINE(.name = "LEVEL", .startnam = "LEVELSS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "LEVEL", .sub = "A", .startnam = "LEVELSS", .likehead = YES) ==
		CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "LEVEL", .sub = "OWN", .startnam = "LEVELSS") == CTRACE_RC_OK &&
		no_call());
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_WARN) == CTRACE_OK &&
		only_call("LEVEL", START, ON));
	REQUIRE(shown("LEVEL", "A")->mode == ON && shown("LEVEL", "A")->likehead &&
		level_of("LEVEL.A") == CTRACE_WARN);
	REQUIRE(shown("LEVEL", "OWN")->mode == OFF && level_of("LEVEL.OWN") == CTRACE_LEVEL_NONE);
	REQUIRE(ctrace_level_set("LEVEL.A", CTRACE_LEVEL_NONE) == CTRACE_OK &&
		only_call("LEVEL.A", STOP, OFF));
	REQUIRE(shown("LEVEL", "A")->mode == OFF && !shown("LEVEL", "A")->likehead &&
		shown("LEVEL", NULL)->mode == ON);
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_DEBUG) == CTRACE_OK &&
		level_of("LEVEL.A") == CTRACE_LEVEL_NONE);
	reset_calls();
	REQUIRE(TURN("LEVEL", "A", CTRACE_CT_LIKEHEAD) == CTRACE_RC_OK &&
		only_call("LEVEL.A", START, ON));
	REQUIRE(shown("LEVEL", "A")->likehead && level_of("LEVEL.A") == CTRACE_DEBUG);
}

static void a_level_does_not_switch_a_head_without_options(void)
{
	register_routine("LEVELSS");
	REQUIRE(DEFINE(.name = "LEVEL", .head = YES) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "LEVEL", .sub = "A", .startnam = "LEVELSS") == CTRACE_RC_OK);
	(void)!ctrace_level_set("LEVEL", CTRACE_DEBUG);
	REQUIRE(shown("LEVEL", NULL)->mode == OFF && shown("LEVEL", "A")->mode == OFF &&
		level_of("LEVEL.A") == CTRACE_LEVEL_NONE);
	REQUIRE(no_call() && level_of("LEVEL") == CTRACE_LEVEL_NONE);
}

/* ---- TRACE CT reaches a tracer that nobody defined ---- */

static void see_only(const char *name, uint32_t mode)
{
	REQUIRE(shown(name, NULL)->is_defined == 0 && shown(name, NULL)->mode == mode &&
		records(name, NULL) == (mode != OFF));
}

static void switch_a_plain_tracer(void)
{
	struct ctrace_tracer *tracer;
	char value[16];
	size_t size = sizeof value;
	int errors = open("errors", O_WRONLY | O_CREAT | O_APPEND, 0600);

	REQUIRE(errors >= 0 && dup2(errors, STDERR_FILENO) == STDERR_FILENO);
	REQUIRE(ctrace_level_set(NULL, CTRACE_LEVEL_NONE) == CTRACE_OK);
	tracer = tracer_of("PLAIN");
	see_only("PLAIN", OFF);
	REQUIRE(TURN("PLAIN", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	see_only("PLAIN", ON);
	REQUIRE(level_of("PLAIN") == CTRACE_DEBUG);
	REQUIRE(TURN("PLAIN", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK);
	see_only("PLAIN", OFF);
	REQUIRE(level_of("PLAIN") == CTRACE_LEVEL_NONE);
	REQUIRE(TRACE_CT(.name = "PLAIN", .state = CTRACE_CT_ON,
			 .options = "LEVEL=INFO,DEST=(STDERR),myprop=7") == CTRACE_RC_OK);
	see_only("PLAIN", ON);
	REQUIRE(level_of("PLAIN") == CTRACE_INFO);
	REQUIRE(ctrace_component_property_get("PLAIN", "myprop", value, &size) == CTRACE_OK &&
		strcmp(value, "7") == 0);
	CTRACE(tracer, CTRACE_DEBUG, 41);
	CTRACE(tracer, CTRACE_ERROR, 42); /* STDERR itself begins with errors */
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
}

static void trace_ct_switches_a_tracer_that_nobody_defined(void **state)
{
	(void)state;
	traces_begin(LINES_CONFIG);
	scenario_run(switch_a_plain_tracer);
	assert_int_equal(
		system("test $(grep -c PLAIN errors) = 1 && grep PLAIN errors | grep -qw 42"), 0);
	traces_end();
}

static void trace_ct_takes_a_tracers_member_and_its_path(void)
{
	REQUIRE(ctrace_level_set(NULL, CTRACE_LEVEL_NONE) == CTRACE_OK);
	(void)tracer_of("plain.sub.deeper");
	write_member("CTPLAIN", "TRACEOPTS ON OPTIONS('LEVEL=WARN','myprop=a b')");
	/* The tracer's name, in any case of letters, with its dots or as a path. */
	REQUIRE(TRACE_CT(.name = "PLAIN", .sub = "SUB.DEEPER", .parm = "CTPLAIN") == CTRACE_RC_OK);
	REQUIRE(level_of("plain.sub.deeper") == CTRACE_WARN);
	REQUIRE(TURN("plain.sub.deeper", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK);
	REQUIRE(level_of("plain.sub.deeper") == CTRACE_LEVEL_NONE);
}

static void a_wrong_option_changes_nothing_of_a_tracer(void)
{
	static const char *const wrong[] = { "LEVEL=LOUD", "LEVEL=INFO,DEST=(NOWHERE)",
					     "LEVEL=INFO,NONSENSE", "DEST=()" };
	char value[8];
	size_t size = sizeof value;

	(void)tracer_of("PLAIN");
	for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		REQUIRE(ctrace_level_set("PLAIN", CTRACE_ERROR) == CTRACE_OK);
		REQUIRE(TRACE_CT(.name = "PLAIN", .state = CTRACE_CT_ON, .options = wrong[i]) ==
			CTRACE_RC_REFUSED);
		REQUIRE(reason() == CTRACE_RSN_ROUTINE_REFUSED && outcome.ss_rc == 4 &&
			outcome.message[0] != '\0');
		REQUIRE(level_of("PLAIN") == CTRACE_ERROR);
	}
	REQUIRE(TRACE_CT(.name = "PLAIN", .state = CTRACE_CT_ON,
			 .options = "myprop=1,LEVEL=LOUD") == CTRACE_RC_REFUSED);
	REQUIRE(ctrace_component_property_get("PLAIN", "myprop", value, &size) ==
		CTRACE_PROPERTY_NOT_FOUND);
	REQUIRE(TRACE_CT(.name = "PLAIN", .state = CTRACE_CT_ON, .asid = "1") ==
			CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_NO_ASIDS);
	REQUIRE(TRACE_CT(.name = "PLAIN", .state = CTRACE_CT_ON, .jobname = "A") ==
			CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_NO_JOBS);
	REQUIRE(level_of("PLAIN") == CTRACE_ERROR);
	REQUIRE(TRACE_CT(.name = "PLAIN", .state = CTRACE_CT_ON, .wtr = "CTWTR") == CTRACE_RC_OK);
	REQUIRE(strcmp(shown("PLAIN", NULL)->writer, "CTWTR") == 0);
}

/* ---- callbacks ---- */

static unsigned heard_count;
static uint32_t heard_level;
static cobuns32_t heard_handle;

static void hear(cobuns32_t handle, cobuns32_t type, void *info)
{
	if (type != TRACER_NOTIF_TYPE_LEVEL_CHANGE)
		return;
	heard_count++;
	heard_handle = handle;
	memcpy(&heard_level, info, sizeof heard_level);
}

static bool heard(cobuns32_t handle, uint32_t level)
{
	bool is_so = heard_count == 1 && heard_handle == handle && heard_level == level;

	if (!is_so)
		(void)fprintf(stderr, "# heard %u times, last %x of %u\n", heard_count, heard_level,
			      heard_handle);
	heard_count = 0;
	return is_so;
}

static uint32_t signals_in_callbacks, signals_seen;

static void see_signal(int signal)
{
	(void)signal;
	signals_seen++;
}

static void hear_and_raise(cobuns32_t handle, cobuns32_t type, void *info)
{
	(void)handle;
	(void)type;
	(void)info;
	signals_in_callbacks++;
	REQUIRE(raise(SIGUSR1) == 0 && signals_seen == signals_in_callbacks);
}

/* DEFINE and DELETE block signals while they work, but not while a callback of the program runs. */
static void a_callback_gets_the_signals_of_its_program(void)
{
	const struct sigaction action = { .sa_handler = see_signal };
	NOTIF_INSTALL install = { .callback = hear_and_raise };

	REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
	install.handle = handle_of("RAISED");
	REQUIRE(cobctf_tracer_notify(TRACER_NOTIF_INSTALL, &install) == CTF_RET_SUCCESS);
	register_routine("RAISEDSS");
	REQUIRE(DEFINE(.name = "RAISED", .startnam = "RAISEDSS") == CTRACE_RC_OK);
	REQUIRE(TURN("RAISED", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK);
	signals_in_callbacks = signals_seen = 0;
	REQUIRE(DELETE(.name = "RAISED") == CTRACE_RC_OK && signals_in_callbacks != 0);
	REQUIRE(cobctf_tracer_notify(TRACER_NOTIF_UNINSTALL, &install) == CTF_RET_SUCCESS);
}

static void callbacks_hear_of_commands(void)
{
	NOTIF_INSTALL install = { .callback = hear };

	register_routine("HEARSS");
	REQUIRE(DEFINE(.name = "HEAR", .startnam = "HEARSS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "HEAR", .sub = "A", .startnam = "HEARSS", .likehead = YES) ==
		CTRACE_RC_OK);
	install.handle = handle_of("HEAR.A");
	REQUIRE(cobctf_tracer_notify(TRACER_NOTIF_INSTALL, &install) == CTF_RET_SUCCESS);
	/* Of the sublevel that follows, too. */
	REQUIRE(TURN("HEAR", NULL, CTRACE_CT_ON) == CTRACE_RC_OK &&
		heard(install.handle, CTRACE_DEBUG));
	REQUIRE(TURN("HEAR", "A", CTRACE_CT_OFF) == CTRACE_RC_OK &&
		heard(install.handle, CTF_LEVEL_NONE));
	REQUIRE(TURN("HEAR", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK && heard_count == 0);
	/* What is refused never was. */
	answer = refuse_all;
	REQUIRE(TURN("HEAR", "A", CTRACE_CT_ON) == CTRACE_RC_REFUSED && heard_count == 0);
	answer = NULL;
	REQUIRE(TURN("HEAR", "A", CTRACE_CT_ON) == CTRACE_RC_OK &&
		heard(install.handle, CTRACE_DEBUG));
	/* After DELETE it is as the default level has it; and commands to a tracer that nobody has
	 * defined are heard, too. */
	REQUIRE(DELETE(.name = "HEAR") == CTRACE_RC_OK &&
		(heard_count == 0 || heard_level == CTRACE_DEBUG));
	heard_count = 0;
	REQUIRE(TURN("HEAR", "A", CTRACE_CT_OFF) == CTRACE_RC_OK &&
		heard(install.handle, CTF_LEVEL_NONE));
	REQUIRE(cobctf_tracer_notify(TRACER_NOTIF_UNINSTALL, &install) == CTF_RET_SUCCESS);
}

static void *switch_hear_on(void *argument)
{
	(void)argument;
	REQUIRE(TURN("HEAR", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	return NULL;
}

/* One that was installed for COBOL waits for the installing thread's next call. */
static void cobol_callbacks_hear_of_commands_on_their_thread(void)
{
	NOTIF_INSTALL install = { .callback = hear };
	pthread_t thread;

	register_routine("HEARSS");
	REQUIRE(DEFINE(.name = "HEAR", .startnam = "HEARSS") == CTRACE_RC_OK);
	install.handle = handle_of("HEAR");
	REQUIRE(CBL_CTF_TRACER_NOTIFY(TRACER_NOTIF_INSTALL, &install) == CTF_RET_SUCCESS);
	REQUIRE(pthread_create(&thread, NULL, switch_hear_on, NULL) == 0 &&
		pthread_join(thread, NULL) == 0);
	REQUIRE(heard_count == 0);
	REQUIRE(level_of("HEAR") == CTRACE_DEBUG && heard(install.handle, CTRACE_DEBUG));
	REQUIRE(TURN("HEAR", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK);
	REQUIRE(level_of("HEAR") == CTRACE_LEVEL_NONE && heard(install.handle, CTF_LEVEL_NONE));
	REQUIRE(CBL_CTF_TRACER_NOTIFY(TRACER_NOTIF_UNINSTALL, &install) == CTF_RET_SUCCESS);
}

/* A routine may use the other face, for its own trace too: it sees the level that was. */
static uint32_t look_at_the_level(struct ctrace_ctss *ctss)
{
	shared->number[ctss->flags == START ? 1 : 2] = level_of("INSIDE");
	return 0;
}

static void a_routine_sees_the_level_that_is_still_in_force(void)
{
	register_routine("INSIDESS");
	answer = look_at_the_level;
	REQUIRE(DEFINE(.name = "INSIDE", .startnam = "INSIDESS") == CTRACE_RC_OK);
	REQUIRE(TURN("INSIDE", NULL, CTRACE_CT_ON) == CTRACE_RC_OK &&
		shared->number[1] == CTRACE_LEVEL_NONE);
	REQUIRE(TURN("INSIDE", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK &&
		shared->number[2] == CTRACE_DEBUG);
}

/* ---- a level that a routine sets for a trace that its command works on ---- */

static const char *level_name; /* that the routine sets; NULL: none */
static uint32_t level_given;
static uint32_t answer_given;

static uint32_t set_a_level(struct ctrace_ctss *ctss)
{
	(void)ctss;
	if (level_name != NULL)
		REQUIRE(ctrace_level_set(level_name, level_given) == CTRACE_OK);
	return answer_given;
}

static bool is_at(const char *name, uint32_t mode, uint32_t level)
{
	return shown(name, NULL)->mode == mode && level_of(name) == level &&
	       ctrace_enabled(tracer_of(name), CTRACE_FATAL) == (level != CTRACE_LEVEL_NONE);
}

static void a_level_that_a_start_routine_sets_gives_way(void)
{
	register_routine("LEVELSS");
	REQUIRE(DEFINE(.name = "LEVEL", .startnam = "LEVELSS", .mod = YES) == CTRACE_RC_OK);
	answer = set_a_level;
	level_name = "LEVEL";
	level_given = CTRACE_DEBUG;
	answer_given = 8;
	REQUIRE(TURN("LEVEL", NULL, CTRACE_CT_ON) == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_ROUTINE_REFUSED);
	REQUIRE(is_at("LEVEL", OFF, CTRACE_LEVEL_NONE));
	answer_given = 0;
	level_given = CTRACE_ERROR;
	REQUIRE(TURN("LEVEL", NULL, CTRACE_CT_ON) == CTRACE_RC_OK &&
		is_at("LEVEL", ON, CTRACE_DEBUG));
	/* Also when it is the other face whose command it is. */
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_LEVEL_NONE) == CTRACE_OK &&
		is_at("LEVEL", OFF, CTRACE_LEVEL_NONE));
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_WARN) == CTRACE_OK &&
		is_at("LEVEL", ON, CTRACE_WARN));
	answer_given = 8;
	level_given = CTRACE_LEVEL_NONE;
	REQUIRE(TURN("LEVEL", NULL, CTRACE_CT_OFF) == CTRACE_RC_REFUSED &&
		is_at("LEVEL", ON, CTRACE_WARN));
}

static void a_level_that_a_display_routine_sets_gives_way(void)
{
	register_routine("LEVELSS");
	REQUIRE(DEFINE(.name = "LEVEL", .startnam = "LEVELSS", .dispnam = "LEVELSS") ==
		CTRACE_RC_OK);
	answer = set_a_level;
	level_name = "LEVEL";
	level_given = CTRACE_DEBUG;
	REQUIRE(shown("LEVEL", NULL)->mode == OFF);
	level_name = NULL;
	REQUIRE(is_at("LEVEL", OFF, CTRACE_LEVEL_NONE));
	REQUIRE(ctrace_level_set("LEVEL", CTRACE_INFO) == CTRACE_OK);
	level_name = "LEVEL";
	level_given = CTRACE_LEVEL_NONE;
	REQUIRE(shown("LEVEL", NULL)->mode == ON);
	level_name = NULL;
	REQUIRE(is_at("LEVEL", ON, CTRACE_INFO));
}

static void a_level_that_a_heads_routine_sets_parts_nobody(void)
{
	register_routine("LEVELSS");
	REQUIRE(DEFINE(.name = "LEVEL", .startnam = "LEVELSS", HEAD_KEYWORDS) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "LEVEL", .sub = "A", .startnam = "LEVELSS", .likehead = YES) ==
		CTRACE_RC_OK);
	answer = set_a_level;
	level_name = "LEVEL.A";
	level_given = CTRACE_WARN;
	REQUIRE(TURN("LEVEL", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	level_name = NULL;
	REQUIRE(shown("LEVEL", "A")->likehead && shown("LEVEL", "A")->mode == ON &&
		level_of("LEVEL.A") == CTRACE_DEBUG);
	REQUIRE(TURN("LEVEL", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK);
	REQUIRE(shown("LEVEL", "A")->likehead && shown("LEVEL", "A")->mode == OFF &&
		level_of("LEVEL.A") == CTRACE_LEVEL_NONE);
}

/* ---- commands for what another thread is defining just now ---- */

static sem_t is_inside, may_go_on;

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		;
}

/* In the first call only: the one by DEFINE. */
static uint32_t stay_inside(struct ctrace_ctss *ctss)
{
	(void)ctss;
	if (call_count == 1) {
		REQUIRE(sem_post(&is_inside) == 0);
		wait_for(&may_go_on);
	}
	return 0;
}

static void *define_held(void *argument)
{
	const char *parm = argument;

	REQUIRE(DEFINE(.name = "HELD", .startnam = "HELDSS", .parm = parm,
		       .minops = parm == NULL ? "LEAST" : NULL) == CTRACE_RC_OK);
	return NULL;
}

/* A command on a thread of its own. */
struct command_thread {
	pthread_t thread;
	void (*body)(void);
	sem_t looks;   /* raised before it sleeps on a word of the library, and at its end */
	bool has_done; /* what it was to do */
};
static __thread struct command_thread *self; /* NULL on any other thread */

/*
 * Found before the C library's by libctrace.so, which waits for another command in
 * syscall(SYS_futex, ..., FUTEX_WAIT, ...); its locks are the C library's and do not come by here.
 * So a command that waits is told from one that is held up for a moment.
 */
__attribute__((visibility("default"))) long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long arguments[6];
	va_list list;

	va_start(list, number);
	for (unsigned i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	if (self != NULL && number == SYS_futex && (arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT)
		REQUIRE(sem_post(&self->looks) == 0);
	return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
		    arguments[5]);
}

static void *run_command(void *argument)
{
	self = argument;
	self->body();
	__atomic_store_n(&self->has_done, true, __ATOMIC_RELEASE);
	REQUIRE(sem_post(&self->looks) == 0);
	return NULL;
}

/* Starts it, and comes back when it sleeps or has done. */
static bool waits(struct command_thread *command, void (*body)(void))
{
	*command = (struct command_thread){ .body = body };
	REQUIRE(sem_init(&command->looks, 0, 0) == 0);
	REQUIRE(pthread_create(&command->thread, NULL, run_command, command) == 0);
	wait_for(&command->looks);
	return !__atomic_load_n(&command->has_done, __ATOMIC_ACQUIRE);
}

static void command_held(void)
{
	REQUIRE(TRACE_CT(.name = "HELD", .state = CTRACE_CT_ON, .options = "myprop=7") ==
		CTRACE_RC_OK);
}

static void command_what_is_not_there(void)
{
	REQUIRE(TRACE_CT(.name = "HELD", .state = CTRACE_CT_ON) == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_NOT_DEFINED);
}

static void set_level_of_held(void)
{
	REQUIRE(ctrace_level_set("HELD", CTRACE_WARN) == CTRACE_OK);
}

static void switch_held_off(void)
{
	REQUIRE(ctrace_level_set("HELD", CTRACE_LEVEL_NONE) == CTRACE_OK);
}

/* Switched on by a member, or off with minimum options. */
static pthread_t begin_to_define_held(const char *parm)
{
	pthread_t thread;

	reset_calls();
	register_routine("HELDSS");
	answer = stay_inside;
	REQUIRE(sem_init(&is_inside, 0, 0) == 0 && sem_init(&may_go_on, 0, 0) == 0);
	REQUIRE(pthread_create(&thread, NULL, define_held, (void *)(uintptr_t)parm) == 0);
	wait_for(&is_inside);
	return thread;
}

static void end_to_define_held(pthread_t thread, struct command_thread *command)
{
	REQUIRE(sem_post(&may_go_on) == 0);
	REQUIRE(pthread_join(thread, NULL) == 0 && pthread_join(command->thread, NULL) == 0);
	answer = NULL;
}

static void a_command_for_a_tracer_waits_for_its_definition(void)
{
	struct command_thread command;
	char value[8];
	size_t size = sizeof value;
	pthread_t thread;

	(void)tracer_of("HELD");
	thread = begin_to_define_held(NULL);
	REQUIRE(waits(&command, command_held));
	end_to_define_held(thread, &command);
	REQUIRE(call_count == 2 && was_called(0, "HELD", START, MIN_MODE) &&
		was_called(1, "HELD", START, ON));
	REQUIRE(has_options(&calls[1].ctss, "myprop=7") && shown("HELD", NULL)->mode == ON);
	REQUIRE(ctrace_component_property_get("HELD", "myprop", value, &size) ==
		CTRACE_PROPERTY_NOT_FOUND);
}

static void a_command_for_a_name_that_nobody_knows_does_not_wait(void)
{
	struct command_thread command;
	pthread_t thread = begin_to_define_held(NULL);

	REQUIRE(!waits(&command, command_what_is_not_there));
	end_to_define_held(thread, &command);
	REQUIRE(only_call("HELD", START, MIN_MODE) && shown("HELD", NULL)->mode == MIN_MODE);
}

static void define_held_and_meanwhile(const char *parm, void (*body)(void))
{
	struct command_thread command;
	pthread_t thread = begin_to_define_held(parm);

	REQUIRE(waits(&command, body));
	end_to_define_held(thread, &command);
}

static void a_level_that_is_set_meanwhile_is_in_force_after_define(void)
{
	(void)tracer_of("HELD");
	write_member("CTON", "TRACEOPTS ON");
	define_held_and_meanwhile("CTON", set_level_of_held);
	REQUIRE(only_call("HELD", START, ON) && is_at("HELD", ON, CTRACE_WARN));
	REQUIRE(DELETE(.name = "HELD") == CTRACE_RC_OK);
	define_held_and_meanwhile("CTON", switch_held_off);
	REQUIRE(call_count == 2 && was_called(0, "HELD", START, ON) &&
		was_called(1, "HELD", STOP, OFF));
	REQUIRE(is_at("HELD", OFF, CTRACE_LEVEL_NONE) && DELETE(.name = "HELD") == CTRACE_RC_OK);
	/* Its minimum options record all the same; but it is on. */
	define_held_and_meanwhile(NULL, set_level_of_held);
	REQUIRE(call_count == 2 && was_called(0, "HELD", START, MIN_MODE) &&
		was_called(1, "HELD", START, ON));
	REQUIRE(is_at("HELD", ON, CTRACE_DEBUG));
}

static void define_begins_with_what_was_set(void **state)
{
	(void)state;
	traces_begin(FIRST_CONFIG);
	scenario_run(define_begins_with_what_was_set_on_that_very_name);
	traces_end();
}

static const struct test_row rows[] = {
	TEST(a_defined_trace_is_the_tracer_of_its_name),
	TEST(a_tracer_is_the_trace_that_is_defined_later),
	TEST(properties_and_destinations_belong_to_the_node),
	TEST(a_preset_goes_before_what_was_set),
	TEST(delete_leaves_the_tracer_as_it_was),
	TEST(a_level_switches_a_defined_trace),
	TEST(a_level_switches_down_to_the_minimum_options),
	TEST(a_level_switches_off_what_is_filtered_out),
	TEST(a_level_that_the_routine_refuses_goes_back),
	TEST(a_level_reaches_those_that_follow_and_parts_one_that_followed),
	TEST(a_level_does_not_switch_a_head_without_options),
	TEST(trace_ct_takes_a_tracers_member_and_its_path),
	TEST(a_wrong_option_changes_nothing_of_a_tracer),
	TEST(a_callback_gets_the_signals_of_its_program),
	TEST(callbacks_hear_of_commands),
	TEST(cobol_callbacks_hear_of_commands_on_their_thread),
	TEST(a_routine_sees_the_level_that_is_still_in_force),
	TEST(a_level_that_a_start_routine_sets_gives_way),
	TEST(a_level_that_a_display_routine_sets_gives_way),
	TEST(a_level_that_a_heads_routine_sets_parts_nobody),
	TEST(a_command_for_a_tracer_waits_for_its_definition),
	TEST(a_command_for_a_name_that_nobody_knows_does_not_wait),
	TEST(a_level_that_is_set_meanwhile_is_in_force_after_define),
};

int main(void)
{
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(define_begins_with_what_was_set),
		cmocka_unit_test(trace_ct_switches_a_tracer_that_nobody_defined),
	};

	return traces_run(rows, sizeof rows / sizeof rows[0], alone,
			  sizeof alone / sizeof alone[0]);
}
