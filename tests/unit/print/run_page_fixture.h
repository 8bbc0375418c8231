/*
 * run_page_fixture.h - what the tests of the page of a run share: events of the COBOL run time, one
 * after the other.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_RUN_PAGE_FIXTURE_H
#define CT_RUN_PAGE_FIXTURE_H

#include "../read/event_fixture.h"

#include "print/run_page_parts.h"

static struct ct_run_page *page;
static struct ct_source_process process_of_run = {
	.path = "", .host = "", .program = "", .jobname = "", .format = ""
};

static uint32_t level_of_event;
static bool is_after_loss; /* the next event */

static int page_setup(void **state)
{
	(void)state;
	process_of_run.index = 0;
	level_of_event = CTRACE_DEBUG;
	return ct_run_page_create(&page) == CTRACE_OK ? 0 : -1;
}

static int page_teardown(void **state)
{
	(void)state;
	ct_run_page_destroy(page);
	return 0;
}

#define PAGE_TEST(name) cmocka_unit_test_setup_teardown(name, page_setup, page_teardown)

static void give(const char *component, uint32_t id, uint64_t time_ns, const char *const *names,
		 const struct ctrace_event_item *items, uint32_t count)
{
	const struct ct_event_names named = { .mnemonic = "OPEN",
					      .items = names,
					      .item_count = count };
	struct ct_read_event event = event_of(items, count);

	event.traced.component = component;
	event.traced.component_size = (uint32_t)strlen(component);
	event.traced.event_id = id;
	event.traced.time_ns = time_ns;
	event.traced.tid = 1;
	event.traced.level = level_of_event;
	event.is_after_loss = is_after_loss;
	is_after_loss = false;
	event.names = &named;
	event.type = NULL;
	event.source_process = &process_of_run;
	memset(page->classes, 0, sizeof page->classes); /* names are on the stack here */
	ct_run_page_add(page, &event);
}

/* 6 ENTRY, 7 EXIT, 254 STOPRUN */
static UNUSED void program(uint32_t id, const char *name, uint64_t time_ns)
{
	static const char *const names[] = { "flags", "program" };
	struct ctrace_event_item items[] = { number_item(CTRACE_TYPE_COMP5, 4, 0),
					     text_item(name) };

	give("MF.RTS", id, time_ns, names, items, 2);
}

static UNUSED void paragraph(const char *name, const char *of, uint64_t time_ns)
{
	static const char *const names[] = { "program", "paragraph" };
	struct ctrace_event_item items[] = { text_item(of), text_item(name) };

	give("mf.rts", 1011, time_ns, names, items, 2);
}

static UNUSED void section(const char *name, const char *of, uint64_t time_ns)
{
	static const char *const names[] = { "program", "section" };
	struct ctrace_event_item items[] = { text_item(of), text_item(name) };

	give("mf.rts", 1010, time_ns, names, items, 2);
}

static UNUSED void file(uint32_t id, const char *select, const char *path, const char *status,
			uint32_t bytes)
{
	static const char *const names[] = { "select",   "file",    "status", "bytes",
					     "duration", "program", "line" };
	struct ctrace_event_item items[] = { text_item(select),
					     text_item(path),
					     text_item(status),
					     number_item(CTRACE_TYPE_COMP5, 4, bytes),
					     number_item(CTRACE_TYPE_COMP5, 8, 1000),
					     text_item("MAIN"),
					     number_item(CTRACE_TYPE_COMP5, 4, 7) };

	give("mf.mffh.xfh", id, 1, names, items, 7);
}

static UNUSED void failure(const char *text, const char *of, uint32_t line)
{
	static const char *const names[] = { "program", "text", "line" };
	struct ctrace_event_item items[] = { text_item(of), text_item(text),
					     number_item(CTRACE_TYPE_COMP5, 4, line) };

	give("mf.rts", 255, 1, names, items, 3);
}

#endif
