/*
 * line_settings.c - what all emitters of lines have: their properties, and losses that are to be a
 * line.
 *
 * Called on the thread that consumes.  A property's text is borrowed only until the next one is
 * asked for, hence the copies.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <stdlib.h>
#include <string.h>

static char *copy_property(const struct ctrace_emitter_context *context, const char *name)
{
	const char *value = context->property(context, name);

	return strdup(value != NULL ? value : "");
}

/* What \ and this letter stand for; 0: themselves. */
static char escaped(char letter)
{
	return letter == 't' ? '\t' : letter == 's' ? ' ' : letter == '\\' ? '\\' : 0;
}

/* A blank or tab at an end of a value is cut off by the configuration file, so it can be written as
 * \s or \t. */
static void unescape(char *text)
{
	char *out = text;

	for (const char *at = text; *at != '\0'; at++) {
		char character = at[0] == '\\' ? escaped(at[1]) : 0;

		*out++ = character != 0 ? character : *at;
		at += character != 0;
	}
	*out = '\0';
}

static uint32_t number_within_32_bits(const struct ctrace_emitter_context *context,
				      const char *name)
{
	uint64_t value = context->number(context, name);

	return value <= UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* LEVEL is a number in the field's files, but its name is as good. */
uint32_t ct_line_settings_level(const struct ctrace_emitter_context *context)
{
	const char *text = context->property(context, "LEVEL");
	uint32_t level;

	if (text != NULL && ct_level_parse(text, strlen(text), &level))
		return level;
	return number_within_32_bits(context, "LEVEL");
}

/* The consuming thread loads no module; the command that set the property has loaded it. */
enum ct_encoding ct_encoding_setting(const struct ctrace_emitter_context *context)
{
	const char *name = context->property(context, "ENCODING");
	enum ct_encoding encoding;

	if (name == NULL || !ct_encoding_parse(name, strlen(name), &encoding))
		return CT_ENCODING_ASCII;
	if (!ct_encoding_is_prepared(encoding) &&
	    (ct_os_thread_is_own() || !ct_encoding_prepare(encoding)))
		return CT_ENCODING_ASCII;
	return encoding;
}

static enum ctrace_status init_line(struct ct_line_settings *settings,
				    const struct ctrace_emitter_context *context)
{
	const struct ct_line_format format = {
		.format = settings->texts[0],
		.delimiter = settings->texts[1],
		.hex_block_size = number_within_32_bits(context, "HEXBLOCKSIZE"),
		.quote_strings = context->number(context, "QUOTESTRING") != 0,
		.program = context->program,
		.encoding = ct_encoding_setting(context),
	};

	return ct_line_printer_init(&settings->line, &format);
}

enum ctrace_status ct_line_settings_init(struct ct_line_settings *settings,
					 const struct ctrace_emitter_context *context)
{
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

	*settings = (struct ct_line_settings){ 0 };
	settings->texts[0] = copy_property(context, "FORMAT");
	settings->texts[1] = copy_property(context, "DELIMCHAR");
	if (settings->texts[0] != NULL && settings->texts[1] != NULL) {
		unescape(settings->texts[1]);
		status = init_line(settings, context);
	}
	if (status != CTRACE_OK) {
		ct_line_settings_fini(settings);
		return status;
	}
	settings->level = ct_line_settings_level(context);
	return CTRACE_OK;
}

void ct_line_settings_fini(struct ct_line_settings *settings)
{
	ct_line_printer_fini(&settings->line);
	free(settings->texts[0]);
	free(settings->texts[1]);
	*settings = (struct ct_line_settings){ 0 };
}

enum ctrace_status ct_line_output_open(size_t size, const struct ctrace_emitter_context *context,
				       void **out_self)
{
	struct ct_line_output *output = calloc(1, size);
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

	if (output != NULL)
		status = ct_line_settings_init(&output->settings, context);
	if (status != CTRACE_OK) {
		free(output);
		return status;
	}
	output->context = context;
	ct_buf_init(&output->lines);
	*out_self = output;
	return CTRACE_OK;
}

void ct_line_output_lost(void *self, const uint64_t totals[CTRACE_LOSS_COUNT])
{
	struct ct_line_output *output = self;

	if (output->settings.level >= CTRACE_LEVEL_COUNT ||
	    memcmp(output->lost, totals, sizeof output->lost) == 0)
		return;
	memcpy(output->lost, totals, sizeof output->lost);
	output->losses_due = true;
}

void ct_line_output_close(void *self)
{
	struct ct_line_output *output = self;

	ct_buf_fini(&output->lines);
	ct_line_settings_fini(&output->settings);
	free(output);
}
