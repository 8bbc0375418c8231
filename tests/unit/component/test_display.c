/*
 * test_display.c - a trace as it is shown: what is known, and what its display routine makes of
 * that.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "component_fixture.h"

#define YES CTRACE_YES

static void define_shown(const char *dispnam)
{
	register_routine("SHOWNSS");
	register_routine("SHOWNDS");
	CHILD_CHECK(DEFINE(.name = "SHOWN", .startnam = "SHOWNSS", .dispnam = dispnam,
			   .fmttab = "FMT", .minops = "LEAST", .asids = YES, .buffer = YES,
			   .bufdflt = 5000, .mod = YES, .userdata = (char[16]){ "userdata" },
			   HEAD_KEYWORDS) == CTRACE_RC_OK);
	CHILD_CHECK(TRACE_CT(.name = "SHOWN", .state = CTRACE_CT_ON, .options = "KNOWN",
			     .asid = "1,2") == CTRACE_RC_OK);
	reset_calls();
}

/* ---- what is known ---- */

static void all_that_is_known_is_shown(void)
{
	const struct ctrace_display *display;

	define_shown(NULL);
	CHILD_CHECK(DEFINE(.name = "SHOWN", .sub = "LIKE", .startnam = "SHOWNSS",
			   .likehead = YES) == CTRACE_RC_OK);
	reset_calls();
	display = shown("SHOWN", NULL);
	CHILD_CHECK(display->size == sizeof *display && display->is_defined &&
		    display->mode == CTRACE_MODE_ON && display->subs == 1);
	CHILD_CHECK(display->head && display->headopts && !display->likehead && display->asids &&
		    !display->jobs && !display->wtr);
	CHILD_CHECK(display->buffer && display->mod && display->buffer_asked == 5000 &&
		    display->buffer_rounded == 5000);
	CHILD_CHECK(display->buffer_granted == ct_status_granted(5000) &&
		    strcmp(display->fmttab, "FMT") == 0);
	CHILD_CHECK(strcmp(display->startnam, "SHOWNSS") == 0 && display->dispnam[0] == '\0' &&
		    display->writer[0] == '\0');
	CHILD_CHECK(display->asid_count == 2 && display->asid[1] == 2 &&
		    strcmp(display->options, "KNOWN") == 0);
	CHILD_CHECK(strcmp(display->minops, "LEAST") == 0 &&
		    memcmp(display->userdata, "userdata", 9) == 0);
	display = shown("SHOWN", "LIKE"); /* its head's attributes and state, its own routine */
	CHILD_CHECK(display->likehead && display->mode == CTRACE_MODE_ON && display->asids &&
		    display->mod && !display->head);
	CHILD_CHECK(strcmp(display->options, "KNOWN") == 0 &&
		    strcmp(display->minops, "LEAST") == 0 && display->fmttab[0] == '\0');
	CHILD_CHECK(call_count == 0); /* the start/stop routine has nothing to do with it */
}

static void a_tracer_that_nobody_defined_is_shown_too(void)
{
	struct ctrace_tracer *made, *same;

	CHILD_CHECK(ctrace_tracer_get("unit.made", &made) == CTRACE_OK);
	CHILD_CHECK(ctrace_configure("ctrace.buffer.unit.made = 128k") == CTRACE_OK);
	CHILD_CHECK(!shown("unit.made", NULL)->is_defined &&
		    shown("UNIT.MADE", NULL)->mode == CTRACE_MODE_ON);
	CHILD_CHECK(shown("unit.made", NULL)->buffer_asked == 128u << 10 &&
		    shown("unit.made", NULL)->buffer_granted == 128u << 10);
	CHILD_CHECK(ctrace_level_set("unit.made", CTRACE_LEVEL_NONE) == CTRACE_OK);
	CHILD_CHECK(shown("unit.made", NULL)->mode == CTRACE_MODE_OFF);
	CHILD_CHECK(ctrace_component_tracer("unit", "MADE", &same) == CTRACE_OK && same == made);
}

/* In words that its built-in start/stop routine takes: what it has of its own, not what it
 * inherits. */
static void a_tracer_has_its_settings_as_options(void)
{
	struct ctrace_tracer *made;

	CHILD_CHECK(ctrace_tracer_get("opt.made", &made) == CTRACE_OK);
	CHILD_CHECK(shown("opt.made", NULL)->options[0] == '\0');
	CHILD_CHECK(TRACE_CT(.name = "opt.made", .state = CTRACE_CT_ON, .options = "LEVEL=WARN") ==
		    CTRACE_RC_OK);
	CHILD_CHECK(strcmp(shown("opt.made", NULL)->options, "LEVEL=WARN") == 0);
	CHILD_CHECK(TRACE_CT(.name = "opt.made", .state = CTRACE_CT_ON,
			     .options = "DEST=(STDERR,ES)") == CTRACE_RC_OK);
	CHILD_CHECK(strncmp(shown("opt.made", NULL)->options, "LEVEL=DEBUG,DEST=(", 18) == 0);
	CHILD_CHECK(TRACE_CT(.name = "opt.made", .state = CTRACE_CT_ON,
			     .options = shown("opt.made", NULL)->options) == CTRACE_RC_OK);
	CHILD_CHECK(TRACE_CT(.name = "opt.made", .state = CTRACE_CT_OFF) == CTRACE_RC_OK);
	CHILD_CHECK(strncmp(shown("opt.made", NULL)->options, "DEST=(", 6) == 0);
	CHILD_CHECK(strstr(shown("opt.made", NULL)->options, "STDERR") != NULL &&
		    strstr(shown("opt.made", NULL)->options, "ES") != NULL);
}

static void what_is_not_there_is_not_shown(void)
{
	struct ctrace_display display = { .size = sizeof display, .subs = 4711 };
	struct ctrace_tracer *found = NULL;

	attach();
	errno = 4711;
	CHILD_CHECK(ctrace_component_display("NOTHERE", NULL, &display) == CTRACE_NOT_FOUND);
	CHILD_CHECK(ctrace_component_tracer("NOTHERE", "SUB", &found) == CTRACE_NOT_FOUND);
	CHILD_CHECK(ctrace_component_display(NULL, NULL, &display) ==
		    CTRACE_INVALID_COMPONENT_NAME);
	CHILD_CHECK(ctrace_component_display("A..B", NULL, &display) ==
		    CTRACE_INVALID_COMPONENT_NAME);
	CHILD_CHECK(ctrace_component_tracer("A", "lower", &found) == CTRACE_INVALID_COMPONENT_NAME);
	CHILD_CHECK(ctrace_component_display("A", NULL, NULL) == CTRACE_FAILURE);
	CHILD_CHECK(display.subs == 4711 && found == NULL && errno == 4711);
}

/* A name of the other face may be so long that no SUB fits behind it: what was cut would be another
 * trace's. */
static void what_does_not_fit_is_not_there(void)
{
	struct ctrace_tracer *made, *found;
	char name[CTRACE_MAX_COMPONENT + 1];

	memset(name, 'x', 250);
	memcpy(name + 250, ".SUBA", 6);
	CHILD_CHECK(ctrace_tracer_get(name, &made) == CTRACE_OK &&
		    ctrace_component_tracer(name, NULL, &found) == CTRACE_OK);
	CHILD_CHECK(TRACE_CT(.name = name, .state = CTRACE_CT_ON) == CTRACE_RC_OK);
	name[250] = '\0';
	CHILD_CHECK(ctrace_component_tracer(name, "SUBAXYZ", &found) == CTRACE_NOT_FOUND);
}

static void an_older_programs_shorter_structure_is_filled_as_far_as_it_goes(void)
{
	struct ctrace_display display;

	define_shown(NULL);
	memset(&display, 0xA5, sizeof display);
	display.size = offsetof(struct ctrace_display, subs);
	CHILD_CHECK(ctrace_component_display("SHOWN", NULL, &display) == CTRACE_OK &&
		    display.mode == CTRACE_MODE_ON);
	CHILD_CHECK(display.size == offsetof(struct ctrace_display, subs) &&
		    display.subs == 0xA5A5A5A5);
}

/* ---- the display routine ---- */

static uint32_t flag, result, options_size;

static uint32_t correct(struct ctrace_ctss *ctss)
{
	ctss->display = flag;
	ctss->buffer_size = 8192;
	ctss->options_size = options_size;
	memset(ctss->options, 'c', sizeof ctss->options);
	memset(ctss->userdata, 'd', sizeof ctss->userdata);
	return result;
}

static void a_display_routine_is_given_what_is_known(void)
{
	define_shown("SHOWNDS");
	trace_of("SHOWN")->status->buffer_rounded = 8192;
	(void)shown("SHOWN", NULL);
	CHILD_CHECK(call_count == 1 &&
		    was_called(0, "SHOWN", NULL, CTRACE_CTSS_DISPLAY, CTRACE_MODE_ON) &&
		    calls[0].buffer_size == 8192);
	CHILD_CHECK(calls[0].options_size == 5 && calls[0].console != 0 &&
		    calls[0].token == ct_token_of(trace_of("SHOWN")));
}

static void what_it_says_is_shown_and_nothing_more(void)
{
	define_shown("SHOWNDS");
	answer = correct;
	flag = CTRACE_CTSS_SHOW_MIN;
	options_size = 3;
	CHILD_CHECK(shown("SHOWN", NULL)->mode == CTRACE_MODE_MIN &&
		    strcmp(shown("SHOWN", NULL)->options, "ccc") == 0);
	CHILD_CHECK(shown("SHOWN", NULL)->buffer_rounded == 8192 &&
		    shown("SHOWN", NULL)->buffer_asked == 5000);
	options_size = CTRACE_MAX_OPTIONS;
	CHILD_CHECK(strlen(shown("SHOWN", NULL)->options) == CTRACE_MAX_OPTIONS);
	/* It is a display: the trace itself is as it was, but for its userdata. */
	answer = NULL;
	CHILD_CHECK(shown("SHOWN", NULL)->mode == CTRACE_MODE_ON &&
		    strcmp(shown("SHOWN", NULL)->options, "KNOWN") == 0);
	CHILD_CHECK(shown("SHOWN", NULL)->userdata[15] == 'd');
}

static void what_it_says_badly_counts_for_nothing(void)
{
	define_shown("SHOWNDS");
	answer = correct;
	options_size = 3;
	for (flag = 0; flag <= 0x100; flag++)
		if (flag != CTRACE_CTSS_SHOW_ON && flag != CTRACE_CTSS_SHOW_OFF &&
		    flag != CTRACE_CTSS_SHOW_MIN)
			CHILD_CHECK(shown("SHOWN", NULL)->mode == CTRACE_MODE_ON &&
				    strcmp(shown("SHOWN", NULL)->options, "KNOWN") == 0);
	flag = CTRACE_CTSS_SHOW_OFF;
	options_size = CTRACE_MAX_OPTIONS + 1;
	CHILD_CHECK(shown("SHOWN", NULL)->mode == CTRACE_MODE_OFF &&
		    strcmp(shown("SHOWN", NULL)->options, "KNOWN") == 0);
	result = 8;
	options_size = 3;
	CHILD_CHECK(shown("SHOWN", NULL)->mode == CTRACE_MODE_ON &&
		    strcmp(shown("SHOWN", NULL)->options, "KNOWN") == 0);
	/* nor does one that is nowhere */
	CHILD_CHECK(ctrace_routine_register("SHOWNDS", NULL) == CTRACE_OK);
	CHILD_CHECK(shown("SHOWN", NULL)->mode == CTRACE_MODE_ON);
}

static void what_it_says_is_off_is_not_filtered(void)
{
	register_routine("FILTERSS");
	CHILD_CHECK(DEFINE(.name = "FILTER", .startnam = "FILTERSS", .dispnam = "FILTERSS",
			   .asids = YES) == CTRACE_RC_OK);
	CHILD_CHECK(TRACE_CT(.name = "FILTER", .state = CTRACE_CT_ON, .asid = "FFF0") ==
		    CTRACE_RC_OK);
	CHILD_CHECK(shown("FILTER", NULL)->is_filtered == 1);
	answer = correct;
	flag = CTRACE_CTSS_SHOW_OFF;
	CHILD_CHECK(shown("FILTER", NULL)->is_filtered == 0);
}

static uint32_t show_itself(struct ctrace_ctss *ctss)
{
	(void)ctss;
	CHILD_CHECK(shown("SHOWN", NULL)->is_defined &&
		    shown("SHOWN", NULL)->mode == CTRACE_MODE_ON);
	return 0;
}

static void a_routine_may_display_its_own_trace(void)
{
	define_shown("SHOWNDS");
	answer = show_itself;
	(void)shown("SHOWN", NULL);
	CHILD_CHECK(call_count == 1);
	/* From the start/stop routine: the state before the change. */
	CHILD_CHECK(TRACE_CT(.name = "SHOWN", .state = CTRACE_CT_OFF) == CTRACE_RC_OK &&
		    call_count == 2);
}

int test_display(void)
{
	const struct CMUnitTest tests[] = {
		IN_CHILD(all_that_is_known_is_shown),
		IN_CHILD(a_tracer_that_nobody_defined_is_shown_too),
		IN_CHILD(a_tracer_has_its_settings_as_options),
		IN_CHILD(what_is_not_there_is_not_shown),
		IN_CHILD(what_does_not_fit_is_not_there),
		IN_CHILD(an_older_programs_shorter_structure_is_filled_as_far_as_it_goes),
		IN_CHILD(a_display_routine_is_given_what_is_known),
		IN_CHILD(what_it_says_is_shown_and_nothing_more),
		IN_CHILD(what_it_says_badly_counts_for_nothing),
		IN_CHILD(what_it_says_is_off_is_not_filtered),
		IN_CHILD(a_routine_may_display_its_own_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
