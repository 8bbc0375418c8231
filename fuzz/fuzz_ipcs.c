/*
 * fuzz_ipcs.c - any bytes as commands of ctrace ipcs, one after the other as from a file.
 *
 * What must hold: the commands are all of the text; a diagnostic names a place of its command and
 * is harmless to print; lists and names end where their arrays do; and what a command says is the
 * same when it is read again from what it prints.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs.h"

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

	must(size > 0 && size < room);
	for (size_t i = 0; i < size; i++)
		must((unsigned char)text[i] >= 0x20 && text[i] != 0x7F);
}

static void check_diagnostic(const struct ct_diagnostic *diagnostic, const char *text, size_t size)
{
	unsigned line = 1;
	size_t start = 0;

	for (size_t i = 0; i < size && line < diagnostic->line; i++)
		if (text[i] == '\n') {
			line++;
			start = i + 1;
		}
	must(diagnostic->line == line);
	must(diagnostic->column >= 1 && diagnostic->column <= size - start + 1);
	check_text(diagnostic->message, sizeof diagnostic->message);
	check_text(diagnostic->expected, sizeof diagnostic->expected);
}

static bool ends(const char *text, size_t room)
{
	return memchr(text, '\0', room) != NULL;
}

static void check_ranges(const struct ct_ipcs_ranges *ranges)
{
	must(ranges->count <= CT_IPCS_LISTED);
	for (uint32_t i = 0; i < ranges->count; i++)
		must(ranges->at[i].first <= ranges->at[i].last);
}

static void check_command(const struct ct_ipcs_command *command)
{
	must(ends(command->component, sizeof command->component) &&
	     ends(command->sub, sizeof command->sub));
	must(ends(command->sysname, sizeof command->sysname) &&
	     ends(command->user_exit, sizeof command->user_exit));
	must(ends(command->topic, sizeof command->topic));
	must(command->limit <= 99999999);
	must(!command->has_start || !command->has_stop || command->start_us <= command->stop_us);
	must(command->jobs.count <= CT_IPCS_LISTED && command->sources.count <= CT_IPCS_LISTED);
	must((command->verb == CT_IPCS_COPYTRC) == (command->out.count == 1));
	must(command->verb != CT_IPCS_CTRACE || command->component[0] != '\0');
	check_ranges(&command->ids);
	check_ranges(&command->asids);
}

static void check_again(const struct ct_ipcs_command *command)
{
	struct ct_ipcs_command again;
	struct ct_diagnostic diagnostic;
	enum ct_ipcs_message message;
	struct ct_buf text, twice;

	if (command->verb != CT_IPCS_CTRACE && command->verb != CT_IPCS_QUERY)
		return;
	ct_buf_init(&text);
	ct_buf_init(&twice);
	ct_ipcs_text_add(&text, command);
	must(!text.failed);
	must(text.size > CT_IPCS_LINE ||
	     ct_ipcs_parse(text.data, text.size, &again, &message, &diagnostic) == CTRACE_OK);
	if (text.size <= CT_IPCS_LINE) {
		ct_ipcs_text_add(&twice, &again);
		must(text.size == twice.size && memcmp(text.data, twice.data, text.size) == 0);
		ct_ipcs_command_fini(&again);
	}
	ct_buf_fini(&text);
	ct_buf_fini(&twice);
}

static void check_one(const char *text, size_t size)
{
	struct ct_ipcs_command command;
	struct ct_diagnostic diagnostic;
	enum ct_ipcs_message message;

	if (ct_ipcs_parse(text, size, &command, &message, &diagnostic) != CTRACE_OK) {
		must(message < CT_ITT_COUNT);
		check_diagnostic(&diagnostic, text, size);
	} else {
		must(message == CT_ITT_NONE);
		check_command(&command);
		check_again(&command);
	}
	ct_ipcs_command_fini(&command);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	while (size > 0) {
		size_t taken = ct_ipcs_command_size(text, size);

		must(taken > 0 && taken <= size);
		if (!ct_ipcs_is_empty(text, taken))
			check_one(text, taken);
		text += taken;
		size -= taken;
	}
	return 0;
}
