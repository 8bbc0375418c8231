/*
 * fuzz_parmlib.c - any bytes as a member of CTRACE_PARMLIB: parsed, reported about, printed, parsed
 * again.
 *
 * What must hold: every diagnostic names a place in the text and is harmless to print, they come in
 * the order of the text, the first one's reason is the answer, and what was understood is
 * understood again when it is printed as a member.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/control.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const char *text;
	size_t size;
	unsigned lines;
	unsigned last_line;
	unsigned last_column;
	uint32_t first_reason;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_text(const char *text, size_t room)
{
	size_t size = strnlen(text, room);

	must(size > 0 && size < room - 1); /* nor cut */
	for (size_t i = 0; i < size; i++)
		must((unsigned char)text[i] >= 0x20 && text[i] != 0x7F);
}

static void take_diagnostic(const struct ct_diagnostic *diagnostic, void *user)
{
	struct input *input = user;
	uint32_t reason = diagnostic->code;

	must(reason != 0 && reason <= 0xFF);
	if (input->first_reason == 0)
		input->first_reason = reason;
	must(diagnostic->line >= 1 && diagnostic->line <= input->lines);
	must(diagnostic->column >= 1 && diagnostic->column <= input->size + 1);
	must(diagnostic->line > input->last_line ||
	     (diagnostic->line == input->last_line && diagnostic->column >= input->last_column));
	input->last_line = diagnostic->line;
	input->last_column = diagnostic->column;
	check_text(diagnostic->message, sizeof diagnostic->message);
	check_text(diagnostic->expected, sizeof diagnostic->expected);
}

static unsigned count_lines(const char *text, size_t size)
{
	unsigned count = 1;

	for (size_t i = 0; i < size; i++)
		count += text[i] == '\n';
	return count;
}

static void must_be_same(const struct ct_trace_request *a, const struct ct_trace_request *b)
{
	must(a->state == b->state && memcmp(a->has, b->has, sizeof a->has) == 0);
	must(memcmp(&a->sub, &b->sub, sizeof a->sub) == 0);
	must(a->asid_count == b->asid_count && memcmp(a->asid, b->asid, sizeof a->asid) == 0);
	must(a->jobname_count == b->jobname_count &&
	     memcmp(a->jobname, b->jobname, sizeof a->jobname) == 0);
	must(a->bufsize == b->bufsize && a->disconnect == b->disconnect &&
	     strcmp(a->writer, b->writer) == 0);
	must(a->options_size == b->options_size &&
	     memcmp(a->options, b->options, a->options_size + 1) == 0);
}

static void check_request(const struct ct_trace_request *request)
{
	struct ct_parmlib again;
	struct ct_buf text;

	must(request->options_size <= CTRACE_MAX_OPTIONS &&
	     strlen(request->options) == request->options_size);
	ct_buf_init(&text);
	ct_parmlib_print(request, &text);
	must(!text.failed);
	must(ct_parmlib_parse(text.data, text.size, &again, NULL, NULL) == 0);
	must(again.count == 1);
	must_be_same(request, &again.requests[0]);
	ct_parmlib_fini(&again);
	ct_buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .text = (const char *)data,
			       .size = size,
			       .lines = count_lines((const char *)data, size) };
	struct ct_parmlib parmlib;
	uint32_t reason = ct_parmlib_parse(input.text, size, &parmlib, take_diagnostic, &input);

	must(reason == input.first_reason);
	for (uint32_t i = 0; reason == 0 && i < parmlib.count; i++)
		check_request(&parmlib.requests[i]);
	ct_parmlib_fini(&parmlib);
	return 0;
}
