/*
 * fuzz_message.c - any bytes as what an operator sends: frames, fields, commands.
 *
 * What must hold: what a message points to lies in its frame; a command that was understood is
 * understood again when it is sent on; and a byte more never unsays that a frame is whole.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_fields(const struct ct_message *message, const char *from, const char *to)
{
	struct ct_span fields = message->fields;
	struct ct_span value;
	enum ct_field field;

	while (ct_message_next(&fields, &field, &value)) {
		must(value.at >= from && value.at + value.size <= to);
		must(ct_message_find(message, field).at != NULL);
	}
	must(fields.size == 0);
}

static bool is_same(struct ct_span a, struct ct_span b)
{
	return (a.at == NULL) == (b.at == NULL) && a.size == b.size &&
	       (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

static void check_command(const struct ct_message *message)
{
	struct ct_command command, again;
	struct ct_message other;
	struct ct_buf buf;
	size_t size;

	if (ct_command_decode(message, &command) != CTRACE_OK)
		return;
	must(command.component.size <= CTRACE_MAX_COMPONENT);
	ct_buf_init(&buf);
	ct_command_encode(&buf, &command);
	must(!buf.failed);
	must(ct_message_parse(buf.data, buf.size, &other, &size) == CTRACE_OK && size == buf.size);
	must(ct_command_decode(&other, &again) == CTRACE_OK);
	must(again.verb == command.verb && again.number == command.number &&
	     again.no_inherit == command.no_inherit);
	must(is_same(again.component, command.component) &&
	     is_same(again.emitter, command.emitter) && is_same(again.property, command.property) &&
	     is_same(again.value, command.value) && is_same(again.list, command.list));
	must((command.verb != CT_VERB_LEVEL && command.verb != CT_VERB_FLIGHT_LEVEL) ||
	     again.level == command.level);
	ct_buf_fini(&buf);
}

static void check_trace_ct(const struct ct_message *message)
{
	static struct ct_trace_command command, again;
	struct ct_message other;
	struct ct_buf buf;
	size_t size;

	if (ct_trace_command_decode(message, &command) != CTRACE_OK)
		return;
	ct_buf_init(&buf);
	ct_trace_command_encode(&buf, &command);
	must(!buf.failed);
	must(ct_message_parse(buf.data, buf.size, &other, &size) == CTRACE_OK);
	must(ct_trace_command_decode(&other, &again) == CTRACE_OK &&
	     memcmp(&again, &command, sizeof command) == 0);
	ct_buf_fini(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data;
	size_t left = size;

	while (left > 0) {
		struct ct_message message;
		size_t frame = 0, ignored;
		enum ctrace_status status = ct_message_parse(at, left, &message, &frame);

		if (status != CTRACE_OK && status != CTRACE_UNSUPPORTED)
			return 0;
		must(frame >= CT_MESSAGE_HEAD && frame <= CT_MESSAGE_LIMIT && frame <= left);
		must(ct_message_parse(at, frame, &message, &ignored) == status);
		must(ct_message_parse(at, frame - 1, &message, &ignored) == CTRACE_NOT_FOUND);
		must(ct_message_parse(at, left, &message, &frame) == status);
		check_fields(&message, at, at + frame);
		if (status == CTRACE_OK) {
			check_command(&message);
			check_trace_ct(&message);
		}
		at += frame;
		left -= frame;
	}
	return 0;
}
