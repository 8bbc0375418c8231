/*
 * event_fixture.h - events as readers see them, made by hand: for tests of what prints them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_VIEW_FIXTURE_H
#define CT_VIEW_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "read/read.h"

#define UNUSED __attribute__((unused))

static UNUSED const struct ct_source_process event_source_process = { .path = "/traces/app.ctb",
								      .host = "asterix",
								      .program = "rts32",
								      .jobname = "RTS32",
								      .pid = 4711,
								      .asid = 0x1A };
static UNUSED const struct ct_line_format event_line = { .delimiter = " ",
							 .hex_block_size = 4,
							 .quote_strings = true };

static inline struct ctrace_event_item text_item(const char *text)
{
	return (struct ctrace_event_item){ .type = CTRACE_TYPE_TEXT,
					   .size = (uint32_t)strlen(text),
					   .data = text };
}

static inline struct ctrace_event_item binary_item(const void *bytes, uint32_t size)
{
	return (struct ctrace_event_item){ .type = CTRACE_TYPE_BINARY,
					   .size = size,
					   .data = bytes };
}

/* Its bytes do not count: the value does. */
static inline struct ctrace_event_item number_item(uint32_t type, uint32_t size, uint64_t value)
{
	static const unsigned char bytes[8];

	return (struct ctrace_event_item){
		.type = type, .size = size, .data = bytes, .value = value
	};
}

/* Each event is a scope of its own, since tests change its names. */
static inline struct ct_read_event event_of(const struct ctrace_event_item *items, uint32_t count)
{
	static uint32_t scopes;

	return (struct ct_read_event){
		.traced = {
			.time_ns = 1700000000123456789u,
			.component = "MF.RTS",
			.component_size = 6,
			.event_id = 255,
			.level = CTRACE_ERROR,
			.pid = 4711,
			.tid = 4712,
			.item_count = count,
			.items = items,
		},
		.source_process = &event_source_process,
		.scope = ++scopes,
		.sequence = 7,
		.duration_ns = CT_NO_DURATION,
	};
}

/* A catalogue of one text, in memory; the test ends when it is not right. */
static UNUSED void event_diagnose(const char *path, const struct ct_diagnostic *diagnostic,
				  void *user)
{
	(void)user;
	fail_msg("%s:%u:%u: %s; expected %s", path, diagnostic->line, diagnostic->column,
		 diagnostic->message, diagnostic->expected);
}

static UNUSED struct ct_catalog *event_catalog(const char *path, const char *text)
{
	struct ct_catalog *catalog;

	assert_int_equal(ct_catalog_create(&catalog), CTRACE_OK);
	assert_int_equal(ct_catalog_parse(catalog, path, text, strlen(text), event_diagnose, NULL),
			 CTRACE_OK);
	return catalog;
}

/* What the catalogue says of the event becomes part of it. */
static UNUSED void event_describe(struct ct_read_event *event, const struct ct_catalog *catalog)
{
	event->component = ct_catalog_component(catalog, event->traced.component,
						event->traced.component_size);
	assert_non_null(event->component);
	event->type = ct_catalog_event(event->component, event->traced.event_id);
}

#endif
