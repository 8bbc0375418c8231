/*
 * filter_fixture.h - what the filter's tests share: an event with everything in it, and whether an
 * expression accepts it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_FILTER_FIXTURE_H
#define CT_FILTER_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "read/read.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNUSED __attribute__((unused))

#define SECOND ((uint64_t)1000000000)
/* 2023-11-14 22:13:20 UTC */
#define NOW (1700000000u * SECOND)

#define TEXT_ITEM(text) \
	{ \
		.type = CTRACE_TYPE_TEXT, .size = sizeof(text) - 1, .data = (text) \
	}
#define U32_ITEM(number) \
	{ \
		.type = CTRACE_TYPE_COMP5, .size = 4, .data = "\0\0\0", .value = (number) \
	}
#define S32_ITEM(number) \
	{ \
		.type = CTRACE_TYPE_COMP5S, .size = 4, .data = "\0\0\0", \
		.value = (uint64_t)(int64_t)(number) \
	}

static const struct ct_label the_modes[] = { { 1, "READ" }, { 2, "WRITE" }, { 4, "LOCK" } };
static const struct ct_argument the_arguments[] = {
	{ .name = "rows", .description = "" },
	{ .name = "mode",
	  .description = "",
	  .print = CT_PRINT_ENUMERATION,
	  .labels = the_modes,
	  .label_count = 3 },
	{ .name = "bits",
	  .description = "",
	  .print = CT_PRINT_FLAGS,
	  .labels = the_modes,
	  .label_count = 3 },
	{ .name = "CUST-NAME", .description = "" },
};
static const struct ct_event_type the_type = { .event_id = 7,
					       .mnemonic = "OPEN",
					       .description = "",
					       .pairing = CT_PAIR_EXIT,
					       .pair_id = 6,
					       .match = -1,
					       .argument_count = 4,
					       .arguments = the_arguments };
static const struct ctrace_event_item the_items[] = {
	U32_ITEM(150), U32_ITEM(2),        U32_ITEM(3), TEXT_ITEM("ADA LOVELACE   "),
	S32_ITEM(-5),  TEXT_ITEM("12.50"),
};
static const struct ct_source_process the_source_process = { .index = 3,
							     .path = "x",
							     .host = "alpha",
							     .program = "PayRoll",
							     .jobname = "PAYJOB",
							     .pid = 4711,
							     .asid = 0x1F };

/* Event 7 "OPEN" of MF.RTS, level WARN, three milliseconds after its entry. */
static UNUSED struct ct_read_event the_event(void)
{
	return (struct ct_read_event){ .traced = { .time_ns = NOW,
						   .component = "MF.RTS",
						   .component_size = 6,
						   .event_id = 7,
						   .level = CTRACE_WARN,
						   .pid = 4711,
						   .tid = 4712,
						   .item_count = CT_COUNT(the_items),
						   .items = the_items },
				       .source_process = &the_source_process,
				       .type = &the_type,
				       .sequence = 1000,
				       .duration_ns = 3000000 };
}

static UNUSED struct ct_filter *parse(const char *text)
{
	struct ct_diagnostic diagnostic;
	struct ct_filter *filter = NULL;

	if (ct_filter_parse(text, NOW, &filter, &diagnostic) != CTRACE_OK)
		fail_msg("\"%s\", column %u: %s; expected %s", text, diagnostic.column,
			 diagnostic.message, diagnostic.expected);
	return filter;
}

static UNUSED bool accepts(const char *text, const struct ct_read_event *event)
{
	struct ct_filter *filter = parse(text);
	bool is_accepted = ct_filter_accepts(filter, event);

	ct_filter_destroy(filter);
	return is_accepted;
}

/* Asserts that each accepts the event, or none does. */
static UNUSED void assert_all(const char *const *texts, size_t count, bool wanted,
			      const struct ct_read_event *event)
{
	for (size_t i = 0; i < count; i++)
		if (accepts(texts[i], event) != wanted)
			fail_msg("%s: %s", wanted ? "refused" : "accepted", texts[i]);
}

static UNUSED int use_utc(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	return 0;
}

#endif
