/*
 * culprit.c - exits of one's own for `ctrace ipcs`: which thread got into trouble, and what had it
 * done before?
 *
 *     cc -shared -fPIC -I/usr/local/include -o CULPRIT.so culprit.c
 *     CTRACE_LINKLIST=$PWD ctrace ipcs 'CTRACE COMP(SHOP) USEREXIT(CULPRIT) OPTIONS((99))' trace
 *
 * As a filter it hides everything until it meets the entry id that OPTIONS says (or, without
 * OPTIONS, an error); then it has the trace read again, and shows that thread's entries up to
 * there.  As a formatter (`formatter: CULPRIT` in the catalogue) it prints one line an entry.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/reader.h>

#include <stdio.h>
#include <stdlib.h>

/* What is kept from call to call: zero at first, as a work area is. */
struct work {
	int is_second_reading;
	unsigned thread;
	uint64_t sequence; /* of the entry that was meant */
	unsigned long shown;
};

static int is_trouble(const struct ctrace_exit_call *call)
{
	if (call->options[0] != '\0')
		return call->event->event_id == strtoul(call->options, NULL, 16);
	return call->event->level >= CTRACE_ERROR;
}

__attribute__((visibility("default"))) int ctrace_filter_exit(const struct ctrace_exit_call *call)
{
	struct work *work = call->work_area;
	char text[80];

	if (call->is_done) {
		int size = snprintf(text, sizeof text, "CULPRIT: %lu entries of thread %u",
				    work->shown, work->thread);

		call->print(call, text, (size_t)size);
		return CTRACE_EXIT_FORMAT;
	}
	if (!work->is_second_reading) {
		if (!is_trouble(call))
			return CTRACE_EXIT_BYPASS;
		work->is_second_reading = 1;
		work->thread = call->event->tid;
		work->sequence = call->sequence;
		return CTRACE_EXIT_REREAD;
	}
	if (call->event->tid != work->thread || call->sequence > work->sequence)
		return CTRACE_EXIT_BYPASS;
	work->shown++;
	return CTRACE_EXIT_FORMAT;
}

__attribute__((visibility("default"))) int ctrace_format_exit(const struct ctrace_exit_call *call)
{
	size_t bytes = 0;
	char text[120];
	int size;

	if (call->is_done)
		return CTRACE_EXIT_FORMAT;
	if (call->event->item_count == 0)
		/* nothing to say: ctrace shows it as it would without us */
		return CTRACE_EXIT_BYPASS;
	for (uint32_t i = 0; i < call->event->item_count; i++)
		bytes += call->event->items[i].size;
	size = snprintf(text, sizeof text, "    %s in thread %u of %s: %u items, %zu bytes",
			call->mnemonic, call->event->tid, call->jobname, call->event->item_count,
			bytes);
	call->print(call, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
	return CTRACE_EXIT_FORMAT;
}
