/*
 * fuzz_operator.c - any bytes as an operator's command, and as the operands of a reply.
 *
 * What must hold: a diagnostic names a column of the text and is harmless to print; what is wrong
 * leaves the results alone; names and lists end where their arrays do; and what a reply says is
 * read again from what it prints.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/operator.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

static void check_diagnostic(const struct ct_diagnostic *diagnostic, size_t size)
{
	must(diagnostic->line == 0);
	must(diagnostic->column >= 1 && diagnostic->column <= size + 1);
	check_text(diagnostic->message, sizeof diagnostic->message);
	check_text(diagnostic->expected, sizeof diagnostic->expected);
}

static bool ends(const char *text, size_t room)
{
	return memchr(text, '\0', room) != NULL;
}

/* TRACE CT may name the traces by a pattern, which is no path. */
static bool is_pattern(const char *sub)
{
	return strpbrk(sub, "*?") != NULL &&
	       strspn(sub, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@#$_.*?") == strlen(sub);
}

static void check_path(const char *sub)
{
	struct ct_sub_path path;

	must(ct_sub_parse(sub, strlen(sub), &path, NULL) == 0);
}

static void check_command(const struct ct_operator_command *command, const char *text, size_t size)
{
	must(command->kind <= CT_OPERATOR_REPLY);
	must(ends(command->component, sizeof command->component) &&
	     ends(command->sub, sizeof command->sub));
	must(ends(command->member, sizeof command->member) &&
	     ends(command->job, sizeof command->job));
	if (command->has_sub &&
	    !(command->kind == CT_OPERATOR_TRACE_CT && is_pattern(command->sub)))
		check_path(command->sub);
	must(command->name_count <= CT_OPERATOR_NAMES && command->wtr_count <= CT_OPERATOR_NAMES &&
	     command->n <= 999);
	for (uint32_t i = 0; i < command->name_count; i++)
		must(ends(command->name[i], sizeof command->name[i]) &&
		     command->name[i][0] != '\0');
	if (command->kind == CT_OPERATOR_TRACE_CT)
		must(command->component[0] != '\0' &&
		     (command->state != CTRACE_CT_NONE || command->member[0] != '\0'));
	if (command->kind == CT_OPERATOR_REPLY)
		must(command->reply_id <= 9999 && command->operands.at >= text &&
		     command->operands.at + command->operands.size <= text + size);
}

/* One reply with nothing before it says the same as the reply. */
static void check_reply(const struct ct_trace_request *reply, struct ct_span text)
{
	struct ct_diagnostic diagnostic;
	struct ct_trace_request again;
	struct ct_buf joined;
	bool is_end;

	ct_buf_init(&joined);
	ct_reply_join(CT_OPERATOR_TRACE_CT, (struct ct_span){ "", 0 }, text, &joined);
	must(!joined.failed);
	must(ct_reply_parse(joined.data, joined.size, &again, &is_end, &diagnostic) == CTRACE_OK);
	must(memcmp(&again, reply, sizeof again) == 0 && !is_end);
	ct_buf_fini(&joined);
}

static void reply_to(struct ct_span text)
{
	struct ct_diagnostic diagnostic;
	struct ct_trace_request reply;
	bool is_end;

	if (ct_reply_parse(text.at, text.size, &reply, &is_end, &diagnostic) == CTRACE_OK)
		check_reply(&reply, text);
	else
		check_diagnostic(&diagnostic, text.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ct_span text = { (const char *)data, size };
	struct ct_operator_command command;
	struct ct_diagnostic diagnostic;

	if (ct_operator_parse(text.at, size, &command, &diagnostic) != CTRACE_OK) {
		check_diagnostic(&diagnostic, size);
	} else {
		check_command(&command, text.at, size);
		if (command.kind == CT_OPERATOR_REPLY)
			reply_to(command.operands);
	}
	reply_to(text);
	return 0;
}
