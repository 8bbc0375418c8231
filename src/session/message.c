/*
 * message.c - encodes and decodes the frames between operators, processes and external writers.
 *
 * Called by the control thread of a traced process, by tools and by external writers.  A received
 * frame may be hostile: every size is compared with the available bytes before it is used, and
 * nothing is allocated.  A message points into the bytes of its frame.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/message.h"
#include "session/trace_name.h"

#include <stdio.h>
#include <string.h>

#define FIELD_HEAD 8u

struct frame_head {
	uint32_t magic;
	uint16_t version;
	uint16_t verb;
	uint32_t flags;
	uint32_t size;
};
_Static_assert(sizeof(struct frame_head) == CT_MESSAGE_HEAD, "the head of a frame");

struct field_head {
	uint16_t tag;
	uint16_t zero;
	uint32_t size;
};
_Static_assert(sizeof(struct field_head) == FIELD_HEAD, "the head of a field");

/* ---- encoding ---- */

#define SENDER_SIZE 256u

static struct {
	uint32_t party; /* 0: the owner, and no field */
	char sender[SENDER_SIZE];
} from;

void ct_message_set_party(uint32_t party, const char *sender)
{
	from.party = party;
	(void)snprintf(from.sender, sizeof from.sender, "%s", sender);
}

size_t ct_message_start(struct ct_buf *out, enum ct_verb verb, uint32_t flags)
{
	const struct frame_head head = { .magic = CT_MESSAGE_MAGIC,
					 .version = CT_MESSAGE_VERSION,
					 .verb = (uint16_t)verb,
					 .flags = flags };
	size_t start = out->size;

	ct_buf_add(out, &head, sizeof head);
	if (from.party != 0 && (flags & CT_MESSAGE_ANSWER) == 0) {
		ct_message_add_number(out, CT_FIELD_PARTY, from.party);
		ct_message_add_text(out, CT_FIELD_SENDER, from.sender);
	}
	return start;
}

void ct_message_add(struct ct_buf *out, enum ct_field field, const void *data, size_t size)
{
	const struct field_head head = { .tag = (uint16_t)field, .size = (uint32_t)size };

	if (size > CT_MESSAGE_LIMIT) {
		/* A frame with this field is too large to send.  One byte too many shows that to
		 * ct_message_end(). */
		(void)ct_buf_reserve(out, CT_MESSAGE_LIMIT);
		if (!out->failed) {
			memset(out->data + out->size, 0, CT_MESSAGE_LIMIT);
			out->size += CT_MESSAGE_LIMIT;
		}
		return;
	}
	ct_buf_add(out, &head, sizeof head);
	if (size != 0)
		ct_buf_add(out, data, size);
}

void ct_message_add_text(struct ct_buf *out, enum ct_field field, const char *text)
{
	ct_message_add(out, field, text, strlen(text));
}

void ct_message_add_number(struct ct_buf *out, enum ct_field field, uint64_t number)
{
	ct_message_add(out, field, &number, sizeof number);
}

void ct_message_set_more(struct ct_buf *out, size_t start)
{
	uint32_t flags;

	if (out->failed)
		return;
	memcpy(&flags, out->data + start + offsetof(struct frame_head, flags), sizeof flags);
	flags |= CT_MESSAGE_MORE;
	memcpy(out->data + start + offsetof(struct frame_head, flags), &flags, sizeof flags);
}

enum ctrace_status ct_message_end(struct ct_buf *out, size_t start)
{
	size_t whole = out->size - start;
	uint32_t size = (uint32_t)(whole - CT_MESSAGE_HEAD);

	if (out->failed || whole > CT_MESSAGE_LIMIT) {
		out->size = start;
		return out->failed ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_UNSUPPORTED;
	}
	memcpy(out->data + start + offsetof(struct frame_head, size), &size, sizeof size);
	return CTRACE_OK;
}

/* ---- decoding ---- */

bool ct_message_next(struct ct_span *fields, enum ct_field *out_field, struct ct_span *out_value)
{
	struct field_head head;

	if (fields->size < sizeof head)
		return false;
	memcpy(&head, fields->at, sizeof head);
	if (head.zero != 0 || head.size > fields->size - sizeof head)
		return false;
	*out_field = (enum ct_field)head.tag;
	*out_value = (struct ct_span){ fields->at + sizeof head, head.size };
	fields->at += sizeof head + head.size;
	fields->size -= sizeof head + head.size;
	return true;
}

/* True if the bytes are a sequence of whole fields. */
static bool fields_are_whole(struct ct_span fields)
{
	enum ct_field field;
	struct ct_span value;

	while (ct_message_next(&fields, &field, &value))
		;
	return fields.size == 0;
}

/* False if the bytes cannot be the beginning of a head, even an incomplete one. */
static bool head_could_begin(const void *bytes, size_t size)
{
	const uint32_t magic = CT_MESSAGE_MAGIC;

	return size == 0 || memcmp(bytes, &magic, size < sizeof magic ? size : sizeof magic) == 0;
}

enum ctrace_status ct_message_parse(const void *bytes, size_t size, struct ct_message *out,
				    size_t *out_size)
{
	struct frame_head head;
	struct ct_message message;
	size_t whole;

	if (!head_could_begin(bytes, size))
		return CTRACE_DAMAGED;
	if (size < sizeof head)
		return CTRACE_NOT_FOUND;
	memcpy(&head, bytes, sizeof head);
	if (head.size > CT_MESSAGE_LIMIT - CT_MESSAGE_HEAD)
		return CTRACE_DAMAGED;
	whole = sizeof head + head.size;
	if (size < whole)
		return CTRACE_NOT_FOUND;
	message = (struct ct_message){ .verb = (enum ct_verb)head.verb,
				       .flags = head.flags,
				       .version = head.version };
	message.fields = (struct ct_span){ (const char *)bytes + sizeof head, head.size };
	if (head.version != CT_MESSAGE_VERSION)
		message.fields.size = 0;
	else if (!fields_are_whole(message.fields))
		return CTRACE_DAMAGED;
	*out = message;
	*out_size = whole;
	return head.version == CT_MESSAGE_VERSION ? CTRACE_OK : CTRACE_UNSUPPORTED;
}

struct ct_span ct_message_find(const struct ct_message *message, enum ct_field field)
{
	struct ct_span fields = message->fields;
	enum ct_field found;
	struct ct_span value;

	while (ct_message_next(&fields, &found, &value))
		if (found == field)
			return value;
	return (struct ct_span){ NULL, 0 };
}

uint64_t ct_message_number(const struct ct_message *message, enum ct_field field,
			   uint64_t otherwise)
{
	struct ct_span value = ct_message_find(message, field);
	uint64_t number;

	if (value.at == NULL || value.size != sizeof number)
		return otherwise;
	memcpy(&number, value.at, sizeof number);
	return number;
}

/* ---- commands ---- */

static const struct {
	enum ct_field field;
	size_t offset;
	size_t limit; /* bytes */
} texts[] = {
	{ CT_FIELD_COMPONENT, offsetof(struct ct_command, component), CTRACE_MAX_COMPONENT },
	{ CT_FIELD_EMITTER, offsetof(struct ct_command, emitter), CTRACE_MAX_COMPONENT },
	{ CT_FIELD_PROPERTY, offsetof(struct ct_command, property), CTRACE_MAX_COMPONENT },
	{ CT_FIELD_VALUE, offsetof(struct ct_command, value), CT_MESSAGE_LIMIT },
	{ CT_FIELD_LIST, offsetof(struct ct_command, list), CT_MESSAGE_LIMIT },
};

static bool verb_has_level(enum ct_verb verb)
{
	return verb == CT_VERB_LEVEL || verb == CT_VERB_FLIGHT_LEVEL;
}

void ct_command_encode(struct ct_buf *out, const struct ct_command *command)
{
	size_t start = ct_message_start(out, command->verb, 0);

	for (size_t i = 0; i < CT_COUNT(texts); i++) {
		const struct ct_span *text =
			(const struct ct_span *)(const void *)((const char *)command +
							       texts[i].offset);

		if (text->at != NULL)
			ct_message_add(out, texts[i].field, text->at, text->size);
	}
	if (command->no_inherit)
		ct_message_add_number(out, CT_FIELD_NO_INHERIT, 1);
	if (verb_has_level(command->verb) && command->level != CT_LEVEL_ASKED)
		ct_message_add_number(out, CT_FIELD_LEVEL, command->level);
	if (command->number != 0)
		ct_message_add_number(out, CT_FIELD_NUMBER, command->number);
	if (ct_message_end(out, start) != CTRACE_OK)
		out->failed = true;
}

/* Takes a number that may be absent.  Returns false when the field is not a number, or is above the
 * limit. */
static bool message_take_number(const struct ct_message *message, enum ct_field field,
				uint64_t otherwise, uint64_t limit, uint64_t *out)
{
	struct ct_span value = ct_message_find(message, field);

	*out = ct_message_number(message, field, otherwise);
	return value.at == NULL || (value.size == sizeof *out && *out <= limit);
}

static bool number_is_level(uint64_t level)
{
	return level < CTRACE_LEVEL_COUNT || level == CTRACE_LEVEL_NONE ||
	       level == CT_LEVEL_UNSET || level == CT_LEVEL_ASKED;
}

enum ctrace_status ct_command_decode(const struct ct_message *message, struct ct_command *out)
{
	struct ct_command command = { .verb = message->verb };
	uint64_t no_inherit, level;

	for (size_t i = 0; i < CT_COUNT(texts); i++) {
		struct ct_span text = ct_message_find(message, texts[i].field);

		if (text.size > texts[i].limit)
			return CTRACE_DAMAGED;
		memcpy((char *)&command + texts[i].offset, &text, sizeof text);
	}
	if (!message_take_number(message, CT_FIELD_NO_INHERIT, 0, 1, &no_inherit) ||
	    !message_take_number(message, CT_FIELD_LEVEL,
				 verb_has_level(message->verb) ? CT_LEVEL_ASKED : 0, UINT32_MAX,
				 &level) ||
	    !message_take_number(message, CT_FIELD_NUMBER, 0, UINT64_MAX, &command.number) ||
	    !number_is_level(level))
		return CTRACE_DAMAGED;
	command.no_inherit = no_inherit != 0;
	command.level = (uint32_t)level;
	*out = command;
	return CTRACE_OK;
}

/* ---- TRACE CT ---- */

void ct_trace_command_encode(struct ct_buf *out, const struct ct_trace_command *command)
{
	const struct ct_trace_request *request = &command->request;
	size_t start = ct_message_start(out, CT_VERB_TRACE_CT, 0);

	ct_message_add_text(out, CT_FIELD_COMPONENT, command->name);
	ct_message_add_text(out, CT_FIELD_SUB, command->sub);
	ct_message_add_number(out, CT_FIELD_STATE, request->state);
	if (request->has[CT_CLAUSE_BUFSIZE])
		ct_message_add_number(out, CT_FIELD_BUFSIZE, request->bufsize);
	if (request->has[CT_CLAUSE_ASID])
		ct_message_add(out, CT_FIELD_ASID, request->asid,
			       request->asid_count * sizeof request->asid[0]);
	if (request->has[CT_CLAUSE_JOBNAME])
		ct_message_add(out, CT_FIELD_JOBNAME, request->jobname,
			       request->jobname_count * sizeof request->jobname[0]);
	if (request->has[CT_CLAUSE_OPTIONS])
		ct_message_add(out, CT_FIELD_OPTIONS, request->options, request->options_size);
	if (request->has[CT_CLAUSE_WTR])
		ct_message_add_text(out, CT_FIELD_WTR, request->disconnect ? "" : request->writer);
	if (command->cart != 0)
		ct_message_add_number(out, CT_FIELD_CART, command->cart);
	if (ct_message_end(out, start) != CTRACE_OK)
		out->failed = true;
}

/* Copies a field as a terminated text; an absent field is empty.  Returns false when it is too
 * long, or has a character that no such text may have. */
static bool message_take_text(const struct ct_message *message, enum ct_field field, char *out,
			      size_t limit, size_t *out_size)
{
	struct ct_span value = ct_message_find(message, field);

	if (value.size > limit)
		return false;
	for (size_t i = 0; i < value.size; i++)
		if (((unsigned char)value.at[i] < ' ' && value.at[i] != '\t') ||
		    value.at[i] == 0x7F)
			return false;
	if (value.size != 0)
		memcpy(out, value.at, value.size);
	out[value.size] = '\0';
	*out_size = value.size;
	return true;
}

/* Copies the values of a list.  Returns false when they are not whole, or too many. */
static bool value_take_list(struct ct_span value, void *out, size_t size, uint32_t *out_count)
{
	if (value.size % size != 0 || value.size / size > CTRACE_MAX_FILTER)
		return false;
	if (value.size != 0)
		memcpy(out, value.at, value.size);
	*out_count = (uint32_t)(value.size / size);
	return true;
}

static bool message_take_filters(const struct ct_message *message, struct ct_trace_request *request)
{
	struct ct_span asids = ct_message_find(message, CT_FIELD_ASID);
	struct ct_span jobnames = ct_message_find(message, CT_FIELD_JOBNAME);

	request->has[CT_CLAUSE_ASID] = asids.at != NULL;
	request->has[CT_CLAUSE_JOBNAME] = jobnames.at != NULL;
	if (!value_take_list(asids, request->asid, sizeof request->asid[0], &request->asid_count) ||
	    !value_take_list(jobnames, request->jobname, sizeof request->jobname[0],
			     &request->jobname_count))
		return false;
	for (uint32_t i = 0; i < request->asid_count; i++)
		if (request->asid[i] == 0)
			return false;
	for (uint32_t i = 0; i < request->jobname_count; i++) {
		size_t size = strnlen(jobnames.at + i * sizeof request->jobname[0],
				      sizeof request->jobname[0]);

		if (ct_jobname_parse(jobnames.at + i * sizeof request->jobname[0], size,
				     request->jobname[i]) != 0)
			return false;
	}
	return true;
}

static bool message_take_writer(const struct ct_message *message, struct ct_trace_request *request)
{
	struct ct_span value = ct_message_find(message, CT_FIELD_WTR);

	request->has[CT_CLAUSE_WTR] = value.at != NULL;
	request->disconnect = value.at != NULL && value.size == 0;
	return value.size == 0 || ct_writer_parse(value.at, value.size, request->writer) == 0;
}

enum ctrace_status ct_trace_command_decode(const struct ct_message *message,
					   struct ct_trace_command *out)
{
	struct ct_trace_request *request = &out->request;
	uint64_t state;
	size_t size;

	memset(out, 0, sizeof *out);
	request->has[CT_CLAUSE_BUFSIZE] = ct_message_find(message, CT_FIELD_BUFSIZE).at != NULL;
	request->has[CT_CLAUSE_OPTIONS] = ct_message_find(message, CT_FIELD_OPTIONS).at != NULL;
	if (!message_take_number(message, CT_FIELD_STATE, CTRACE_CT_NONE, CTRACE_CT_PRESET_DELETE,
				 &state) ||
	    !message_take_number(message, CT_FIELD_BUFSIZE, 0, UINT64_MAX, &request->bufsize) ||
	    !message_take_text(message, CT_FIELD_COMPONENT, out->name, CTRACE_MAX_COMPONENT,
			       &size) ||
	    !message_take_text(message, CT_FIELD_SUB, out->sub, CTRACE_MAX_COMPONENT, &size) ||
	    !message_take_text(message, CT_FIELD_OPTIONS, request->options, CTRACE_MAX_OPTIONS,
			       &request->options_size) ||
	    !message_take_filters(message, request) || !message_take_writer(message, request))
		return CTRACE_DAMAGED;
	request->state = (uint32_t)state;
	out->cart = ct_message_number(message, CT_FIELD_CART, 0);
	return CTRACE_OK;
}
