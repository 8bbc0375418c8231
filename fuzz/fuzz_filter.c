/*
 * fuzz_filter.c - any bytes as a filter, and what it says of events.
 *
 * What must hold: a diagnostic names a column of the text and is harmless to print; what is said of
 * a class, and of times, holds for each of its events; two filters are as both of them; and what
 * `not` stands before is the opposite.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW ((uint64_t)1700000000000000000)

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* ---- events */

static const struct ct_label labels[] = {
	{ 0, "NONE" }, { 1, "READ" }, { 2, "WRITE" }, { 4, "LOCK" }
};
static const char copybook_text[] = "       01 REC.\n"
				    "          05 ID-NUMBER PIC 9(4).\n"
				    "          05 NAME PIC X(6).\n"
				    "          05 LINES OCCURS 2.\n"
				    "             10 AMOUNT PIC S9(3)V99 COMP-3.\n";
static const struct ctrace_event_item items[] = {
	{ CTRACE_TYPE_COMP5, 4, "\3\0\0\0", 3 },
	{ CTRACE_TYPE_COMPXS, 8, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFE", (uint64_t)-2 },
	{ CTRACE_TYPE_TEXT, 6, "ADA   ", 0 },
	{ CTRACE_TYPE_BINARY, 16, "0042GRACE \x12\x34\x5C\x00\x10\x0C", 0 },
	{ CTRACE_TYPE_TEXT, 5, "12.50", 0 },
	{ CTRACE_TYPE_BINARY, 3, "\xC1\xC4\xC1", 0 },
	{ CTRACE_TYPE_COMP5, 0, NULL, 0 },
	{ CTRACE_TYPE_ADDRESS, 8, NULL, 0x7FFC00000000 },
	{ 77, 2, "zz", 1 },
};
static struct ct_argument arguments[] = {
	{ .name = "bits",
	  .description = "",
	  .print = CT_PRINT_FLAGS,
	  .labels = labels,
	  .label_count = 4 },
	{ .name = "mode",
	  .description = "",
	  .print = CT_PRINT_ENUMERATION,
	  .labels = labels,
	  .label_count = 4 },
	{ .name = "NAME", .description = "" },
	{ .name = "rec", .description = "", .print = CT_PRINT_RECORD },
	{ .name = "text", .description = "" },
	{ .name = "old",
	  .description = "",
	  .print = CT_PRINT_TEXT,
	  .encoding = CT_ENCODING_EBCDIC_037 },
};
static struct ct_event_type types[] = {
	{ .event_id = 7,
	  .mnemonic = "OPEN",
	  .pairing = CT_PAIR_ENTRY,
	  .pair_id = 8,
	  .match = -1,
	  .argument_count = 6,
	  .arguments = arguments },
	{ .event_id = 8,
	  .mnemonic = "OPEN-X",
	  .pairing = CT_PAIR_EXIT,
	  .pair_id = 7,
	  .match = -1,
	  .argument_count = 1,
	  .arguments = arguments },
};
static const char *const names_of_items[] = { "msg", "len", NULL };
static const struct ct_event_names names = { .mnemonic = "sys_read",
					     .items = names_of_items,
					     .item_count = 2 };
static const struct ct_source_process source_process = {
	.path = "", .host = "alpha", .program = "prog", .jobname = "JOB1", .pid = 5, .asid = 0x1F
};

#define VIEWS 12u
static struct ct_read_event event_of(unsigned number)
{
	struct ct_read_event event = {
		.traced = { .time_ns = NOW - number * (uint64_t)60000000000,
			    .component = number % 2 ? "MF.RTS" : "APP.DB",
			    .component_size = 6,
			    .event_id = 7 + number % 3,
			    .level = number % 5,
			    .pid = 5,
			    .tid = 6,
			    .item_count = number % 4 == 3 ? 0 : CT_COUNT(items),
			    .items = items },
		.source_process = &source_process,
		.names = number % 3 == 2 ? &names : NULL,
		.sequence = number,
		.duration_ns = CT_NO_DURATION,
	};

	if (number % 3 < 2)
		event.type = &types[number % 3];
	if (number % 3 == 1)
		event.duration_ns = 2000000 * number;
	return event;
}

/* ---- what must hold */

static void check_text(const char *text, size_t room)
{
	size_t size = strnlen(text, room);

	must(size < room);
	for (size_t i = 0; i < size; i++)
		must((unsigned char)text[i] >= 0x20 && text[i] != 0x7F);
}

static void check_diagnostic(const struct ct_diagnostic *diagnostic, size_t size)
{
	must(diagnostic->line == 0);
	must(diagnostic->column >= 1 && diagnostic->column <= size + 1);
	must(diagnostic->message[0] != '\0');
	check_text(diagnostic->message, sizeof diagnostic->message);
	check_text(diagnostic->expected, sizeof diagnostic->expected);
}

static void check_event(const struct ct_filter *filter, const struct ct_read_event *event,
			bool is_accepted)
{
	struct ct_read_event class = {
		.traced = { .component = event->traced.component,
			    .component_size = event->traced.component_size,
			    .event_id = event->traced.event_id,
			    .level = event->traced.level },
		.names = event->names,
		.type = event->type,
	};
	enum ct_filter_result filter_result = ct_filter_class(filter, &class);
	uint64_t since_ns, until_ns;

	must(filter_result != CT_FILTER_RESULT_NEVER || !is_accepted);
	must(filter_result != CT_FILTER_RESULT_ALWAYS || is_accepted);
	ct_filter_times(filter, &since_ns, &until_ns);
	must(!is_accepted ||
	     (event->traced.time_ns >= since_ns && event->traced.time_ns <= until_ns));
}

/* The opposite; NULL when the expression is as deep or as long as one may be. */
static struct ct_filter *opposite_of(const char *text)
{
	struct ct_diagnostic diagnostic;
	struct ct_filter *filter = NULL;
	struct ct_buf other;

	ct_buf_init(&other);
	ct_buf_add_text(&other, "not (");
	ct_buf_add_text(&other, text);
	ct_buf_add_char(&other, ')');
	if (ct_filter_parse(ct_buf_text(&other), NOW, &filter, &diagnostic) != CTRACE_OK)
		must(strstr(diagnostic.message, "deep") != NULL ||
		     strstr(diagnostic.message, "long") != NULL);
	ct_buf_fini(&other);
	return filter;
}

static void check_filter(struct ct_filter *filter, const char *text)
{
	struct ct_filter *opposite = opposite_of(text), *both;
	bool accepted[VIEWS];

	for (unsigned i = 0; i < VIEWS; i++) {
		struct ct_read_event event = event_of(i);

		accepted[i] = ct_filter_accepts(filter, &event);
		check_event(filter, &event, accepted[i]);
		must(opposite == NULL || ct_filter_accepts(opposite, &event) != accepted[i]);
	}
	if (opposite == NULL) {
		ct_filter_destroy(filter);
		return;
	}
	both = ct_filter_and(filter, opposite);
	for (unsigned i = 0; i < VIEWS; i++) {
		struct ct_read_event event = event_of(i);

		must(!ct_filter_accepts(both, &event));
	}
	ct_filter_destroy(both);
}

static void open_copybook(void)
{
	const struct ct_copybook_options options = { .encoding = CT_ENCODING_ASCII };
	struct ct_copybook *copybook = NULL;
	struct ct_diagnostic diagnostic;
	struct ct_buf path;

	if (arguments[3].copybook != NULL)
		return;
	ct_buf_init(&path);
	must(ct_copybook_parse("rec.cpy", copybook_text, sizeof copybook_text - 1, &options,
			       &copybook, &diagnostic, &path) == CTRACE_OK);
	ct_buf_fini(&path);
	arguments[3].copybook = copybook; /* for good */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct ct_filter *filter = NULL;
	struct ct_diagnostic diagnostic;

	must(text != NULL);
	open_copybook();
	memcpy(text, data, size);
	text[size] = '\0';
	if (ct_filter_parse(text, NOW, &filter, &diagnostic) != CTRACE_OK)
		check_diagnostic(&diagnostic, strlen(text));
	else
		check_filter(filter, text);
	free(text);
	return 0;
}
