/*
 * display_fixture.h - tables for the tests of DISPLAY TRACE, in a few words each.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_DISPLAY_FIXTURE_H
#define CT_DISPLAY_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "operator/display/display.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNUSED __attribute__((unused))
#define HEAD_LINES \
	" IEE843I 14.27.14  TRACE DISPLAY\n" \
	"         SYSTEM STATUS INFORMATION\n" \
	" ST=OFF AS=OFF BR=OFF EX=ON  MT=OFF\n"
#define AT_14_27_14 1769869634000000000u /* 2026-01-31 14:27:14 UTC */

static struct ct_display table;
static struct ct_buf printed;
static const struct ct_display_form all_levels = { .levels = CT_DISPLAY_NONE,
						   .limit = CT_DISPLAY_NONE };
static const struct ct_display_form trace_alone = { .limit = CT_DISPLAY_NONE };
static const struct ct_display_form with_sub = { .asked = 1, .limit = CT_DISPLAY_NONE };

static UNUSED int start(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	ct_display_init(&table, AT_14_27_14);
	table.is_any_on = true;
	ct_buf_init(&printed);
	return 0;
}

static UNUSED int end(void **state)
{
	(void)state;
	ct_display_fini(&table);
	ct_buf_fini(&printed);
	return 0;
}

static UNUSED uint32_t add_process(uint32_t asid, const char *jobname, uint32_t pid)
{
	struct ct_display_process process = { .pid = pid, .uid = 1000, .asid = asid };

	(void)snprintf(process.jobname, sizeof process.jobname, "%s", jobname);
	(void)snprintf(process.program, sizeof process.program, "%s.exe", jobname);
	return ct_display_add_process(&table, &process);
}

/* A row with the name and what a DEFINE without keywords gives; shown: what is different. */
static UNUSED uint32_t add_trace(uint32_t process, const char *name, struct ctrace_display shown)
{
	struct ct_display_trace trace = { .process = process,
					  .writer_is_active = true,
					  .display = shown };

	trace.display.size = sizeof trace.display;
	trace.display.is_defined = 1;
	(void)snprintf(trace.name, sizeof trace.name, "%s", name);
	return ct_display_add_trace(&table, &trace);
}

/* The sample that is printed in the books, of one process. */
static UNUSED void add_sample(void)
{
	uint32_t process = add_process(0x1F, "TCPIP", 4711);

	add_trace(process, "SYSTCPIP", (struct ctrace_display){ .head = 1, .subs = 1 });
	add_trace(process, "SYSTCPIP.TCPIPROC",
		  (struct ctrace_display){ .mode = CTRACE_MODE_ON,
					   .buffer = 1,
					   .buffer_rounded = 8u << 20,
					   .asids = 1,
					   .jobs = 1,
					   .jobname_count = 1,
					   .jobname = { "EZASOKJS" },
					   .options = "SOCKAPI",
					   .wtr = 1,
					   .writer = "CTW" });
}

static UNUSED void print_long(const struct ct_display_form *form)
{
	ct_display_arrange(&table);
	ct_buf_clear(&printed);
	ct_display_print_long(&table, form, &printed);
	assert_false(table.failed);
}

#define assert_printed(text) assert_string_equal(ct_buf_text(&printed), text)

#endif
