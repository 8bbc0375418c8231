/*
 * fuzz_procedure.c - any bytes as a writer's procedure file.
 *
 * What must hold: every diagnostic names a place in the text and is harmless to print, their lines
 * come in order, there is one exactly when the text is refused, and what is accepted is within its
 * bounds.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/writer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	size_t size;
	unsigned lines;
	unsigned last_line;
	unsigned diagnostics;
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

	must(diagnostic->line >= 1 && diagnostic->line <= input->lines &&
	     diagnostic->line >= input->last_line);
	must(diagnostic->column >= 1 && diagnostic->column <= input->size + 1);
	input->last_line = diagnostic->line;
	input->diagnostics++;
	check_text(diagnostic->message, sizeof diagnostic->message);
	check_text(diagnostic->expected, sizeof diagnostic->expected);
}

static void check_procedure(const struct ct_procedure *procedure)
{
	must(procedure->trcout_count >= 1 && procedure->trcout_count <= CT_TRCOUT_LIMIT);
	for (uint32_t i = 0; i < procedure->trcout_count; i++) {
		const struct ct_trcout_spec *spec = &procedure->trcout[i];

		must(procedure->number[i] >= 1 && procedure->number[i] <= CT_TRCOUT_LIMIT);
		must(i == 0 || procedure->number[i] > procedure->number[i - 1]);
		must(spec->path[0] == '/' && spec->path[1] != '\0' &&
		     strnlen(spec->path, sizeof spec->path) < sizeof spec->path);
		must(spec->primary >= 1024 && spec->primary <= 9999ull << 30 &&
		     spec->secondary <= 9999ull << 30);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ct_procedure procedure;
	struct input input = { .size = size, .lines = 1 };
	/* exactly so many bytes: a read past them is seen */
	char *text = malloc(size != 0 ? size : 1);
	enum ctrace_status status;

	must(text != NULL);
	if (size != 0)
		memcpy(text, data, size);
	for (size_t i = 0; i < size; i++)
		input.lines += text[i] == '\n';
	status = ct_procedure_parse("FUZZ", text, size, &procedure, take_diagnostic, &input);
	must((status == CTRACE_OK) == (input.diagnostics == 0));
	if (status == CTRACE_OK)
		check_procedure(&procedure);
	free(text);
	return 0;
}
