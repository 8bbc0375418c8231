/*
 * test_commands.c - TRACE CT and the display: filters, MOD, members, buffers, the writer, what is
 * shown.
 *
 * The codes of what fails are in test_codes.c, what the tracer of the same name sees of it in
 * test_faces.c.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "traces.h"

/* ---- filters ---- */

static bool is_filtered(bool expected)
{
	const struct ctrace_display *display = shown("FILTER", NULL);

	return display->mode == ON && (display->is_filtered != 0) == expected &&
	       records("FILTER", NULL) == !expected;
}

#define FILTER(...) TRACE_CT(.name = "FILTER", .state = CTRACE_CT_ON, __VA_ARGS__)

static void a_trace_can_be_for_some_address_spaces_only(void)
{
	char others[200] = "", asids[300];
	unsigned count = 0;

	register_routine("FILTERSS");
	REQUIRE(DEFINE(.name = "FILTER", .startnam = "FILTERSS", .asids = YES, .jobs = YES,
		       .mod = YES) == CTRACE_RC_OK);
	for (uint32_t asid = 0xFF00; count < 15; asid++)
		if (asid != own_asid()) {
			(void)snprintf(others + strlen(others), 8, "%s%X", count == 0 ? "" : ",",
				       asid);
			count++;
		}
	REQUIRE(FILTER(.asid = others) == CTRACE_RC_OK && is_filtered(true) &&
		shown("FILTER", NULL)->asid_count == 15);
	(void)snprintf(asids, sizeof asids, "%s,%x", others, own_asid());
	REQUIRE(FILTER(.asid = asids) == CTRACE_RC_OK && is_filtered(false) &&
		shown("FILTER", NULL)->asid_count == 16);
	(void)snprintf(asids, sizeof asids, "%s,%x,EEEE", others, own_asid());
	REQUIRE(FILTER(.asid = asids) == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_TOO_MANY_ASIDS);
	REQUIRE(is_filtered(false) && shown("FILTER", NULL)->asid_count == 16);
	REQUIRE(FILTER(.asid = "FFFE") == CTRACE_RC_OK && is_filtered(true));
	REQUIRE(FILTER(.options = "X") == CTRACE_RC_OK && is_filtered(true)); /* not given: stays */
	REQUIRE(FILTER(.asid = "") == CTRACE_RC_OK && is_filtered(false));
	REQUIRE(FILTER(.asid = "XYZ") == CTRACE_RC_REFUSED && reason() == CTRACE_RSN_ASID_NOT_HEX);

	/* OFF clears them. */
	REQUIRE(FILTER(.asid = "FFFE", .jobname = "OTHER") == CTRACE_RC_OK && is_filtered(true));
	reset_calls();
	REQUIRE(TURN("FILTER", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK);
	REQUIRE(calls[0].ctss.asid_count == 0 && calls[0].ctss.jobname_count == 0 &&
		only_call("FILTER", STOP, OFF));
	REQUIRE(shown("FILTER", NULL)->asid_count == 0 &&
		shown("FILTER", NULL)->jobname_count == 0);
	REQUIRE(TURN("FILTER", NULL, CTRACE_CT_ON) == CTRACE_RC_OK && is_filtered(false));
}

static void a_trace_can_be_for_some_jobs_only(void)
{
	char own[16];

	register_routine("FILTERSS");
	REQUIRE(DEFINE(.name = "FILTER", .startnam = "FILTERSS", .asids = YES, .jobs = YES,
		       .mod = YES) == CTRACE_RC_OK);
	REQUIRE(FILTER(.jobname = "OTHER") == CTRACE_RC_OK && is_filtered(true));
	REQUIRE(FILTER(.jobname = "A,B,C,D,E,F,G,H,I,J,K,L,M,N,O," JOBNAME) == CTRACE_RC_OK &&
		is_filtered(false));
	REQUIRE(shown("FILTER", NULL)->jobname_count == 16 &&
		strcmp(shown("FILTER", NULL)->jobname[15], JOBNAME) == 0);
	REQUIRE(FILTER(.jobname = "A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,Q") == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_TOO_MANY_JOBNAMES);
	REQUIRE(FILTER(.jobname = "NINECHARS") == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_JOBNAME_TOO_LONG);
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
	REQUIRE(DEFINE(.name = "FILTER", .startnam = "FILTERSS", .asids = YES, .mod = YES,
		       .minops = "LEAST") == CTRACE_RC_OK);
	REQUIRE(shown("FILTER", NULL)->mode == MIN_MODE && !shown("FILTER", NULL)->is_filtered);
	REQUIRE(FILTER(.asid = "FFFE") == CTRACE_RC_OK);
	REQUIRE(shown("FILTER", NULL)->mode == ON && shown("FILTER", NULL)->is_filtered &&
		records("FILTER", NULL));
	REQUIRE(FILTER(.asid = "") == CTRACE_RC_OK);
	REQUIRE(shown("FILTER", NULL)->mode == ON && !shown("FILTER", NULL)->is_filtered &&
		records("FILTER", NULL));
}

/* ---- MOD, and what else a command may not ---- */

static void a_trace_with_mod_no_is_not_changed_while_it_is_on(void)
{
	register_routine("FIXEDSS");
	REQUIRE(DEFINE(.name = "FIXED", .startnam = "FIXEDSS") == CTRACE_RC_OK);
	REQUIRE(TRACE_CT(.name = "FIXED", .state = CTRACE_CT_ON, .options = "A") == CTRACE_RC_OK &&
		only_call("FIXED", START, ON));
	REQUIRE(TRACE_CT(.name = "FIXED", .state = CTRACE_CT_ON, .options = "B") ==
		CTRACE_RC_REFUSED);
	REQUIRE(reason() == CTRACE_RSN_NOT_MODIFIABLE && no_call() &&
		strcmp(shown("FIXED", NULL)->options, "A") == 0);
	REQUIRE(TURN("FIXED", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK &&
		only_call("FIXED", STOP, OFF));
	REQUIRE(TRACE_CT(.name = "FIXED", .state = CTRACE_CT_ON, .options = "B") == CTRACE_RC_OK &&
		only_call("FIXED", START, ON));
	REQUIRE(strcmp(shown("FIXED", NULL)->options, "B") == 0);
}

static void commands_that_make_no_sense_are_refused(void)
{
	struct ctrace_display display = { .size = sizeof display };

	register_routine("PLAINSS");
	write_member("CTEMPTY", "TRACEOPTS OPTIONS('X')");
	write_member("CTON", "TRACEOPTS ON OPTIONS('X')");
	REQUIRE(TURN("NONE", NULL, CTRACE_CT_ON) == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_NOT_DEFINED);
	REQUIRE(ctrace_component_display("NONE", NULL, &display) == CTRACE_NOT_FOUND);
	REQUIRE(ctrace_component_display("", NULL, &display) == CTRACE_INVALID_COMPONENT_NAME);
	REQUIRE(DEFINE(.name = "PLAIN", .startnam = "PLAINSS", .buffer = YES, .bufdefin = YES) ==
		CTRACE_RC_OK);
	REQUIRE(TURN("PLAIN", NULL, CTRACE_CT_NONE) == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_NO_STATE);
	REQUIRE(TRACE_CT(.name = "PLAIN", .parm = "CTEMPTY") == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_NO_STATE);
	REQUIRE(TRACE_CT(.name = "PLAIN", .state = CTRACE_CT_ON, .bufsize = 8192) ==
			CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_BUFDEFIN);
	REQUIRE(no_call() && shown("PLAIN", NULL)->mode == OFF);
	/* The state of the command and the options of the member go together. */
	REQUIRE(TRACE_CT(.name = "PLAIN", .parm = "CTEMPTY", .state = CTRACE_CT_ON) ==
		CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, "X") && only_call("PLAIN", START, ON));
	REQUIRE(TURN("PLAIN", NULL, CTRACE_CT_OFF) == CTRACE_RC_OK &&
		only_call("PLAIN", STOP, OFF));
	REQUIRE(TRACE_CT(.name = "PLAIN", .parm = "CTON") == CTRACE_RC_OK &&
		only_call("PLAIN", START, ON));
}

static void a_command_with_parm_takes_no_operand_of_the_member(void)
{
	static const struct ctrace_trace_ct commands[] = {
#define WITH_PARM CTRACE_TRACE_CT_INIT, .name = "PLAIN", .parm = "CTON", .state = CTRACE_CT_ON
		{ WITH_PARM, .bufsize = 8192 }, { WITH_PARM, .asid = "" },
		{ WITH_PARM, .jobname = "" },   { WITH_PARM, .options = "" },
		{ WITH_PARM, .wtr = "CTW" },
	};

	register_routine("PLAINSS");
	write_member("CTON", "TRACEOPTS ON");
	REQUIRE(DEFINE(.name = "PLAIN", .startnam = "PLAINSS", .asids = YES, .jobs = YES,
		       .buffer = YES, .wtr = YES, .wtrmode = CTRACE_PAGEABLE) == CTRACE_RC_OK);
	for (unsigned i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		REQUIRE(ctrace_trace_ct(&commands[i], &outcome) == CTRACE_RC_ABEND &&
			outcome.abend == 0x301);
		REQUIRE(no_call() && shown("PLAIN", NULL)->mode == OFF);
	}
	REQUIRE(TRACE_CT(.name = "PLAIN", .parm = "CTON") == CTRACE_RC_OK &&
		only_call("PLAIN", START, ON));
}

static void options_are_one_line_of_text(void)
{
	static const char *const texts[] = { "A\nB", "\tA", "A\x1B[2J", "A\x7F", "\x01" };

	register_routine("PLAINSS");
	REQUIRE(DEFINE(.name = "PLAIN", .startnam = "PLAINSS") == CTRACE_RC_OK);
	for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		REQUIRE(TRACE_CT(.name = "PLAIN", .state = CTRACE_CT_ON, .options = texts[i]) ==
			CTRACE_RC_REFUSED);
		REQUIRE(reason() == CTRACE_RSN_MEMBER_SYNTAX && no_call() &&
			shown("PLAIN", NULL)->mode == OFF);
	}
	REQUIRE(TRACE_CT(.name = "PLAIN", .state = CTRACE_CT_ON, .options = "\xC3\xA4 ~") ==
		CTRACE_RC_OK);
	REQUIRE(has_options(&calls[0].ctss, "\xC3\xA4 ~"));
}

/* Each statement of a member is a transaction of its own. */
static void a_member_may_be_carried_out_in_part(void)
{
	register_routine("PARTSS");
	write_member(
		"CTPART",
		"TRACEOPTS\n SUB(A) ON OPTIONS('X')\n SUB(NONE) ON\n SUB(B) ON ASID(1)\n SUB(C) ON\n");
	write_member("CTALL", "TRACEOPTS SUB(A) OFF SUB(C) OFF");
	REQUIRE(DEFINE(.name = "PART", .head = YES) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "PART", .sub = "A", .startnam = "PARTSS") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "PART", .sub = "B", .startnam = "PARTSS") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "PART", .sub = "C", .startnam = "PARTSS") == CTRACE_RC_OK);
	REQUIRE(TRACE_CT(.name = "PART", .parm = "CTPART") == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_NOT_ALL);
	REQUIRE(strstr(outcome.message, "NONE") != NULL); /* the first of the two that failed */
	REQUIRE(call_count == 2 && was_called(0, "PART.A", START, ON) &&
		was_called(1, "PART.C", START, ON));
	REQUIRE(shown("PART", "A")->mode == ON && shown("PART", "B")->mode == OFF &&
		shown("PART", "C")->mode == ON);
	REQUIRE(TRACE_CT(.name = "PART", .parm = "CTALL") == CTRACE_RC_OK);
	REQUIRE(shown("PART", "A")->mode == OFF && shown("PART", "C")->mode == OFF);
}

static void expect_refusal_at(const char *member, const char *text, uint32_t expected,
			      const char *place)
{
	write_member(member, text);
	REQUIRE(TRACE_CT(.name = "PART", .parm = member) == CTRACE_RC_REFUSED &&
		reason() == expected);
	REQUIRE(strncmp(outcome.message, place, strlen(place)) == 0);
}

static void what_fails_of_a_member_is_named_with_its_place(void)
{
	register_routine("PARTSS");
	REQUIRE(DEFINE(.name = "PART", .head = YES) == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "PART", .sub = "A", .startnam = "PARTSS") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "PART", .sub = "B", .startnam = "PARTSS") == CTRACE_RC_OK);
	REQUIRE(TURN("PART", "A", CTRACE_CT_ON) == CTRACE_RC_OK);
	reset_calls();
	/* A is on and has MOD=NO; the head has no options. */
	expect_refusal_at("CT82", "TRACEOPTS\n\n   SUB(A) ON\n", CTRACE_RSN_NOT_MODIFIABLE,
			  "CT82:3:4: ");
	expect_refusal_at("CT83", "TRACEOPTS\n  ON\n", CTRACE_RSN_HEAD_NO_OPTIONS, "CT83:2:3: ");
	expect_refusal_at("CT81", "TRACEOPTS\n SUB(NONE) ON\n", CTRACE_RSN_NOT_DEFINED,
			  "CT81:2:2: ");
	/* What says its place itself says it once. */
	expect_refusal_at("CT14", "TRACEOPTS SUB(B) ON\n  ASID(1)\n", CTRACE_RSN_NO_ASIDS,
			  "CT14:2:3: the trace");
	REQUIRE(no_call());
	expect_refusal_at("CTSOME", "TRACEOPTS\n SUB(B) ON\n SUB(A) ON\n SUB(NONE) ON\n",
			  CTRACE_RSN_NOT_ALL, "CTSOME:3:2: ");
	REQUIRE(only_call("PART.B", START, ON));
	/* Of all that failed the first one's reason. */
	expect_refusal_at("CTNO", "TRACEOPTS\n SUB(NONE) ON\n SUB(A) ON\n", CTRACE_RSN_NOT_DEFINED,
			  "CTNO:2:2: ");
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

		/* its head has two pages */
		if (stat(found.gl_pathv[i], &info) == 0 &&
		    (uint64_t)info.st_size == data_size + 8192)
			count++;
	}
	globfree(&found);
	return count;
}

/* Traces until the thread has a ring of that size: it begins with a small one. */
static void fill_up_to(struct ctrace_tracer *tracer, uint64_t size)
{
	static const char data[4096];

	for (uint32_t i = 0; i < 100000 && rings_of(size) == 0; i++)
		ctrace_entry(tracer, i, data, sizeof data);
	REQUIRE(rings_of(size) >= 1); /* another may be ready */
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
	REQUIRE(DEFINE(.name = "BUFFER", .startnam = "BUFFERSS", .buffer = YES, .bufdflt = 5000,
		       .mod = YES) == CTRACE_RC_OK);
	REQUIRE(ctrace_component_tracer("BUFFER", NULL, &tracer) == CTRACE_OK);
	REQUIRE(TURN("BUFFER", NULL, CTRACE_CT_ON) == CTRACE_RC_OK &&
		calls[0].ctss.buffer_size == 5000);
	display = shown("BUFFER", NULL);
	granted = display->buffer_granted;
	REQUIRE(display->buffer == 1 && display->buffer_asked == 5000 &&
		display->buffer_rounded == 8192);
	REQUIRE(granted >= 8192 && (granted & (granted - 1)) == 0);
	REQUIRE(rings_of(granted) == 0);
	ctrace_entry(tracer, 1, "x", 1);
	REQUIRE(rings_of(granted) == 1);

	REQUIRE(TRACE_CT(.name = "BUFFER", .state = CTRACE_CT_ON, .bufsize = 3u << 20) ==
		CTRACE_RC_OK);
	display = shown("BUFFER", NULL);
	REQUIRE(display->buffer_asked == 3u << 20 && display->buffer_rounded == 3u << 20 &&
		display->buffer_granted == 4u << 20);
	fill_up_to(tracer, 4u << 20);
	/* What its display routine says counts. */
	REQUIRE(DEFINE(.name = "SHOW", .startnam = "BUFFERSS", .dispnam = "BUFFERSS", .buffer = YES,
		       .bufdflt = 5000) == CTRACE_RC_OK);
	REQUIRE(TURN("SHOW", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	display = shown("SHOW", NULL);
	REQUIRE(display->buffer_asked == 5000 && display->buffer_rounded == 8192 + 100);
	REQUIRE(DEFINE(.name = "NOBUF", .startnam = "BUFFERSS") == CTRACE_RC_OK &&
		TURN("NOBUF", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	display = shown("NOBUF", NULL);
	REQUIRE(display->buffer == 0 && display->buffer_asked == 0 &&
		display->buffer_rounded == 0 && display->buffer_granted == 0);
}

static void a_members_size_goes_before_the_default(void)
{
	register_routine("BUFFERSS");
	write_member("CTSIZE", "TRACEOPTS ON BUFSIZE(128K)");
	/* BUFDEFIN=YES allows it here. */
	REQUIRE(DEFINE(.name = "BUFFER", .startnam = "BUFFERSS", .parm = "CTSIZE", .buffer = YES,
		       .bufdefin = YES, .bufdflt = 5000) == CTRACE_RC_OK);
	REQUIRE(calls[0].ctss.buffer_size == 128u << 10 && only_call("BUFFER", START, ON));
	REQUIRE(shown("BUFFER", NULL)->buffer_asked == 128u << 10 &&
		shown("BUFFER", NULL)->buffer_granted == 128u << 10);
}

static uint64_t granted_to(const char *name)
{
	return shown(name, NULL)->buffer_granted;
}

/* What the configuration gives a name is there before it is defined, and again when it is deleted.
 */
static void define_what_has_a_configured_buffer(void)
{
	struct ctrace_tracer *tracer;

	register_routine("BUFFERSS");
	REQUIRE(ctrace_tracer_get("BUFFER", &tracer) == CTRACE_OK &&
		granted_to("BUFFER") == 256u << 10);
	REQUIRE(DEFINE(.name = "BUFFER", .startnam = "BUFFERSS") == CTRACE_RC_OK);
	REQUIRE(granted_to("BUFFER") == 256u << 10 && shown("BUFFER", NULL)->buffer_asked == 0);
	REQUIRE(TURN("BUFFER", NULL, CTRACE_CT_ON) == CTRACE_RC_OK &&
		granted_to("BUFFER") == 256u << 10);
	fill_up_to(tracer, 256u << 10);
	REQUIRE(DELETE(.name = "BUFFER") == CTRACE_RC_OK && granted_to("BUFFER") == 256u << 10);

	REQUIRE(DEFINE(.name = "BUFFER", .startnam = "BUFFERSS", .buffer = YES,
		       .bufdflt = 1u << 20) == CTRACE_RC_OK);
	REQUIRE(TURN("BUFFER", NULL, CTRACE_CT_ON) == CTRACE_RC_OK &&
		granted_to("BUFFER") == 1u << 20);
	fill_up_to(tracer, 1u << 20);
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
	bool is_so = call_count == 1 && HOLDS(calls[0].ctss.writer, writer) &&
		     strcmp(shown("WRITER", NULL)->writer, writer) == 0;

	reset_calls();
	return is_so;
}

static void a_writer_stays_until_it_is_disconnected(void)
{
	register_routine("WRITERSS");
	write_member("CTWTR", "TRACEOPTS ON WTR(CTW)");
	REQUIRE(DEFINE(.name = "WRITER", .startnam = "WRITERSS", .parm = "CTWTR", .wtr = YES,
		       .wtrmode = CTRACE_FIXED, .mod = YES) == CTRACE_RC_OK);
	REQUIRE(has_writer("CTW") && shown("WRITER", NULL)->wtr == 1);
	REQUIRE(TURN("WRITER", NULL, CTRACE_CT_ON) == CTRACE_RC_OK && has_writer("CTW"));
	REQUIRE(TRACE_CT(.name = "WRITER", .state = CTRACE_CT_ON, .wtr = "OTHER") == CTRACE_RC_OK &&
		has_writer("OTHER"));
	REQUIRE(TRACE_CT(.name = "WRITER", .state = CTRACE_CT_ON, .wtr = "DISCONNECT") ==
			CTRACE_RC_OK &&
		has_writer(""));
	REQUIRE(TRACE_CT(.name = "WRITER", .state = CTRACE_CT_ON, .wtr = "CTW") == CTRACE_RC_OK &&
		has_writer("CTW"));
	REQUIRE(TRACE_CT(.name = "WRITER", .state = CTRACE_CT_ON, .wtr = "1W") ==
			CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_WTR_NAME);
	REQUIRE(TRACE_CT(.name = "WRITER", .state = CTRACE_CT_ON, .wtr = "disConnect") ==
			CTRACE_RC_OK &&
		has_writer(""));
	REQUIRE(TRACE_CT(.name = "WRITER", .state = CTRACE_CT_ON, .wtr = "CTW") == CTRACE_RC_OK &&
		has_writer("CTW"));
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
		{ CTRACE_CTSS_SHOW_OFF, 0, OFF, "OTHER" },
		{ CTRACE_CTSS_SHOW_MIN, 0, MIN_MODE, "OTHER" },
		{ CTRACE_CTSS_SHOW_ON, 0, ON, "OTHER" },
		{ 0, 0, ON, "GIVEN" },
		{ CTRACE_CTSS_SHOW_OFF, 4, ON, "GIVEN" },
	};

	register_routine("SHOWSS");
	answer = show_other_things;
	REQUIRE(DEFINE(.name = "SHOW", .startnam = "SHOWSS", .dispnam = "SHOWSS") == CTRACE_RC_OK);
	REQUIRE(TRACE_CT(.name = "SHOW", .state = CTRACE_CT_ON, .options = "GIVEN") ==
		CTRACE_RC_OK);
	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct ctrace_display *display;

		shown_flag = cases[i].flag;
		shown_rc = cases[i].rc;
		reset_calls();
		display = shown("SHOW", NULL);
		REQUIRE(display->mode == cases[i].mode &&
			strcmp(display->options, cases[i].options) == 0);
		REQUIRE(call_count == 1 && calls[0].ctss.flags == CTRACE_CTSS_DISPLAY &&
			has_options(&calls[0].ctss, "GIVEN"));
		REQUIRE(strcmp(display->startnam, "SHOWSS") == 0 &&
			strcmp(display->dispnam, "SHOWSS") == 0);
		REQUIRE(records("SHOW", NULL)); /* it is only shown differently */
	}
}

/* ---- what the tool lists ---- */

static uint32_t refuse_the_refused(struct ctrace_ctss *ctss)
{
	return HOLDS(ctss->name, "REFUSED") ||
			       (ctss->sub_count == 1 && HOLDS(ctss->sub[0], "REFUSED"))
		       ? 8
		       : 0;
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
	REQUIRE(DEFINE(.name = "STAYS", .startnam = "LISTSS", HEAD_KEYWORDS, .minops = "LEAST") ==
		CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "STAYS", .sub = "SUBA", .startnam = "LISTSS") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "STAYS", .sub = "REFUSED", .startnam = "LISTSS",
		       .minops = "LEAST") == CTRACE_RC_REFUSED);
	REQUIRE(DEFINE(.name = "REFUSED", .startnam = "LISTSS", .minops = "LEAST") ==
		CTRACE_RC_REFUSED);
	REQUIRE(DEFINE(.name = "DELETED", .startnam = "LISTSS", HEAD_KEYWORDS, .minops = "LEAST") ==
		CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "DELETED", .sub = "SUBA", .startnam = "LISTSS", .minops = "LEAST") ==
		CTRACE_RC_OK);
	REQUIRE(run_tool("list --all") == 0);
	REQUIRE(is_listed("STAYS") && is_listed("STAYS.SUBA") && is_listed("DELETED") &&
		is_listed("DELETED.SUBA"));
	REQUIRE(!is_listed("REFUSED"));
	REQUIRE(DELETE(.name = "DELETED") == CTRACE_RC_OK && run_tool("list --all") == 0);
	REQUIRE(is_listed("STAYS") && is_listed("STAYS.SUBA") && !is_listed("DELETED") &&
		!is_listed("REFUSED"));
}

static const struct test_row rows[] = {
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
};

int main(void)
{
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(a_configured_buffer_is_shown_and_comes_back),
	};

	return traces_run(rows, sizeof rows / sizeof rows[0], alone,
			  sizeof alone / sizeof alone[0]);
}
