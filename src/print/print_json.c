/*
 * print_json.c - an event as one JSON object, by itself on a line or in a document: ctrace-json(5).
 *
 * Called by the tools, on one thread.  Whatever bytes the traced program gave, what comes out is
 * valid JSON, in ASCII, on one line, harmless on a terminal.  A text that is not UTF-8 is shown
 * with each wrong byte as the character of that number, and again, exactly, as hexadecimal digits
 * in "hex":
 *
 *     {"format_version":1,"time":"2026-01-31T14:12:27.993000000Z","time_ns":1769868747993000000,"component":"MF.RTS","event":255,"level":"ERROR",
 *      "pid":1234,"tid":1235,"data":[{"type":"comp5","value":173},{"type":"text","value":"myprog"},
 *      {"type":"binary","value":"0A0B"},{"type":"address","value":"0x00007FFF12345678"}]}
 *
 * What is known of the event besides stands between tid and data - host, job, asid, mnemonic,
 * description, duration_ns, span, inferred - and in its items: "name", "text" (a time, flags, an
 * enumeration as people read it), and for a COBOL record its fields, nested:
 *
 *     {"type":"binary","value":"F1F2...","name":"CUSTOMER","record":{"CUST-ID":12,"CUST-NAME":"ADA","ORDERS":[{"AMOUNT":1.50},...]}}
 *
 * A field whose bytes do not fit its picture is {"hex":"..."}; names of conditions that hold stand
 * in "NAME.88".
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/print.h"

#include "print/json_text.h"

#include <string.h>
#include <time.h>

#define NS_PER_SECOND 1000000000u

/* A literal: its length is known, so it is copied by a few stores. */
#define ADD(out, literal) ct_buf_add_short(out, literal, sizeof(literal) - 1)

static void add_unit(struct ct_buf *out, uint32_t unit)
{
	ct_buf_add(out, "\\u", 2);
	ct_buf_add_hex(out, unit, 4, false);
}

static void add_code(struct ct_buf *out, uint32_t code)
{
	if (code == '"' || code == '\\') {
		ct_buf_add_char(out, '\\');
		ct_buf_add_char(out, (char)code);
	} else if (code >= 0x20 && code < 0x7F) {
		ct_buf_add_char(out, (char)code);
	} else if (code < 0x10000) {
		add_unit(out, code);
	} else {
		add_unit(out, 0xD800 + ((code - 0x10000) >> 10));
		add_unit(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
	}
}

/* The code point at `at`, and its length; 0 when the bytes are not UTF-8. */
static size_t utf8_decode(const unsigned char *at, size_t left, uint32_t *out_code)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = at[0] < 0x80   ? 1
			: at[0] < 0xC2 ? 0
			: at[0] < 0xE0 ? 2
			: at[0] < 0xF0 ? 3
			: at[0] < 0xF5 ? 4
				       : 0;
	uint32_t code = length <= 1 ? at[0] : at[0] & (0x7Fu >> length);

	if (length == 0 || length > left)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xC0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3Fu);
	}
	if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
		return 0;
	*out_code = code;
	return length;
}

/* How many bytes stand for themselves: those that ct_escape_put_plain() copies. */
static size_t plain_run(const unsigned char *at, size_t size)
{
	size_t run = 0;

	while (run < size && at[run] >= 0x20 && at[run] < 0x7F && at[run] != '"' && at[run] != '\\')
		run++;
	return run;
}

/* True when all of it was UTF-8.  Out of line, so that plain texts are spared its registers. */
static __attribute__((noinline)) bool add_hostile(struct ct_buf *out, const void *text, size_t size)
{
	const unsigned char *at = text;
	bool is_clean = true;

	ct_buf_add_char(out, '"');
	while (size > 0) {
		size_t plain = plain_run(at, size);
		uint32_t code;
		size_t length;

		ct_buf_add(out, at, plain);
		at += plain;
		size -= plain;
		if (size == 0)
			break;
		length = utf8_decode(at, size, &code);

		if (length == 0) {
			is_clean = false;
			code = *at;
			length = 1;
		}
		add_code(out, code);
		at += length;
		size -= length;
	}
	ct_buf_add_char(out, '"');
	return is_clean;
}

/* True when all of it was UTF-8. */
static inline bool add_string(struct ct_buf *out, const void *text, size_t size)
{
	char *at = ct_buf_room(out, size + 2);

	if (at == NULL)
		return true;
	*at = '"';
	at = ct_escape_put_plain(at + 1, text, size);
	if (at == NULL)
		return add_hostile(out, text, size);
	*at = '"';
	ct_buf_end(out, at + 1);
	return true;
}

static void add_hex(struct ct_buf *out, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	ct_buf_add_char(out, '"');
	for (size_t i = 0; i < size; i++)
		ct_buf_add_hex(out, bytes[i], 2, true);
	ct_buf_add_char(out, '"');
}

/* -----------------------------------------------------------------------------------------------
 * COBOL records
 */

struct record {
	struct ct_buf *out;
	bool needs_comma;
	uint32_t fillers;
};

static void member_begin(struct record *record, const struct ct_record_field *field)
{
	if (record->needs_comma)
		ct_buf_add_char(record->out, ',');
	record->needs_comma = true;
	if (field->occurrence > 0)
		return;
	/* Names must differ; fillers all have one. */
	if (field->is_filler) {
		ct_buf_add_format(record->out, "\"FILLER.%u\":", ++record->fillers);
		return;
	}
	(void)add_string(record->out, field->name, strlen(field->name));
	ct_buf_add_char(record->out, ':');
}

static void record_begin_group(const struct ct_record_field *field, void *user)
{
	struct record *record = user;

	if (field->depth > 0)
		member_begin(record, field);
	ct_buf_add_char(record->out, '{');
	record->needs_comma = false;
}

static void record_end_group(const struct ct_record_field *field, void *user)
{
	struct record *record = user;

	(void)field;
	ct_buf_add_char(record->out, '}');
	record->needs_comma = true;
}

static void record_begin_table(const struct ct_record_field *field, uint32_t count, void *user)
{
	struct record *record = user;
	struct ct_record_field whole = *field;

	(void)count;
	whole.occurrence = 0;
	member_begin(record, &whole);
	ct_buf_add_char(record->out, '[');
	record->needs_comma = false;
}

static void record_end_table(const struct ct_record_field *field, void *user)
{
	struct record *record = user;

	(void)field;
	ct_buf_add_char(record->out, ']');
	record->needs_comma = true;
}

/* By its value: DISPLAY's text has zeros, signs and no points where JSON may not, and what is
 * infinite is none. */
static void add_field_number(struct ct_buf *out, const struct ct_record_field *field)
{
	char number[CT_JSON_NUMBER_SIZE];
	size_t size = ct_field_json_number(field, number);

	if (size > 0)
		ct_buf_add(out, number, size);
	else
		(void)add_string(out, field->text, field->text_size);
}

static void record_value(const struct ct_record_field *field, void *user)
{
	struct record *record = user;
	size_t size = field->text_size;

	member_begin(record, field);
	if (field->is_bad) {
		ADD(record->out, "{\"hex\":");
		(void)add_string(record->out, field->text, size);
		ct_buf_add_char(record->out, '}');
	} else if (field->kind == CT_RECORD_NUMBER) {
		add_field_number(record->out, field);
	} else {
		while (field->kind == CT_RECORD_TEXT && size > 0 && field->text[size - 1] == ' ')
			size--;
		(void)add_string(record->out, field->text, size);
	}
	if (field->condition_count == 0 || field->occurrence > 0)
		return;
	ADD(record->out, ",\"");
	ct_buf_add_text(record->out, field->name);
	ADD(record->out, ".88\":[");
	for (uint32_t i = 0; i < field->condition_count; i++) {
		if (i > 0)
			ct_buf_add_char(record->out, ',');
		(void)add_string(record->out, field->conditions[i], strlen(field->conditions[i]));
	}
	ct_buf_add_char(record->out, ']');
}

void ct_json_add_record(struct ct_buf *out, const struct ct_copybook *copybook,
			struct ct_record_bytes bytes)
{
	struct record record = { .out = out };
	struct ct_field_visitor visitor = {
		.begin_group = record_begin_group,
		.end_group = record_end_group,
		.begin_table = record_begin_table,
		.end_table = record_end_table,
		.value = record_value,
		.user = &record,
	};

	(void)ct_copybook_decode(copybook, bytes, &visitor, NULL);
}

/* -----------------------------------------------------------------------------------------------
 * Items
 */

static void add_text(struct ct_buf *out, const struct ctrace_event_item *item)
{
	if (add_string(out, item->data, item->size))
		return;
	ADD(out, ",\"hex\":");
	add_hex(out, item->data, item->size);
}

static void add_typed(struct ct_buf *out, const struct ctrace_event_item *item)
{
#define HEAD(name) \
	{ \
		sizeof(name) + sizeof("{\"type\":\"\",\"value\":") - 2, \
			"{\"type\":\"" name "\",\"value\":" \
	}
	/* All have one size, so that a few stores copy each. */
	static const struct {
		size_t size;
		char text[32];
	} heads[CTRACE_TYPE_COUNT] = {
		[CTRACE_TYPE_BINARY] = HEAD("binary"), [CTRACE_TYPE_TEXT] = HEAD("text"),
		[CTRACE_TYPE_UTF8] = HEAD("utf8"),     [CTRACE_TYPE_COMP5] = HEAD("comp5"),
		[CTRACE_TYPE_COMPX] = HEAD("compx"),   [CTRACE_TYPE_ADDRESS] = HEAD("address"),
		[CTRACE_TYPE_COMP5S] = HEAD("comp5s"), [CTRACE_TYPE_COMPXS] = HEAD("compxs"),
	};
	uint32_t type = item->type < CTRACE_TYPE_COUNT ? item->type : CTRACE_TYPE_BINARY;
	bool is_number = item->size >= 1 && item->size <= 8;
	char *at = ct_buf_room(out, sizeof heads[type].text);

	if (at == NULL)
		return;
	memcpy(at, heads[type].text, sizeof heads[type].text);
	out->size += heads[type].size;
	if (type == CTRACE_TYPE_TEXT || type == CTRACE_TYPE_UTF8) {
		add_text(out, item);
	} else if (type == CTRACE_TYPE_ADDRESS) {
		ADD(out, "\"0x");
		ct_buf_add_hex(out, item->value, 16, true);
		ct_buf_add_char(out, '"');
	} else if (type == CTRACE_TYPE_BINARY || !is_number) {
		add_hex(out, item->data, item->size);
	} else if (type == CTRACE_TYPE_COMP5S || type == CTRACE_TYPE_COMPXS) {
		ct_buf_add_i64(out, (int64_t)item->value);
	} else {
		ct_buf_add_u64(out, item->value);
	}
}

/* What the catalogue makes of the value, as text; nothing when that is the value itself. */
static void add_meaning(struct ct_buf *out, const struct ctrace_event_item *item,
			const struct ct_argument *argument, bool is_big)
{
	static const struct ct_line_format plain = { .delimiter = "", .hex_block_size = 0 };
	struct ct_buf text;

	if (ct_value_is_record(item, argument)) {
		ADD(out, ",\"record\":");
		ct_json_add_record(out, argument->copybook,
				   (struct ct_record_bytes){ item->data, item->size, is_big });
		return;
	}
	if (argument->print == CT_PRINT_RECORD ||
	    (argument->print == CT_PRINT_DEFAULT && argument->encoding == CT_ENCODING_ASCII))
		return;
	ct_buf_init(&text);
	ct_value_add(&text, &plain, item, argument, is_big);
	ADD(out, ",\"text\":");
	(void)add_string(out, text.data, text.size);
	ct_buf_fini_into(&text, out);
}

static void add_item(struct ct_buf *out, const struct ct_read_event *event, uint32_t index)
{
	const struct ct_event_type *type = event->type;
	bool is_described = type != NULL && index < type->argument_count;
	char scratch[16];

	add_typed(out, &event->traced.items[index]);
	if (is_described || (event->names != NULL && event->names->items != NULL &&
			     index < event->names->item_count)) {
		const char *name = ct_read_event_item_name(event, index, scratch);

		ADD(out, ",\"name\":");
		(void)add_string(out, name, strlen(name));
	}
	if (is_described)
		add_meaning(out, &event->traced.items[index], ct_read_event_argument(event, index),
			    event->source_process->is_big);
	ADD(out, "}");
}

#define SECOND_FORMAT "\"time\":\"%Y-%m-%dT%H:%M:%S."
#define SECOND_SIZE (sizeof("\"time\":\"2026-01-31T14:12:27.") - 1)
#define NUMBER_HEAD "Z\",\"time_ns\":"
#define FRACTION_SIZE 9u
/* The last second printed by this thread: most events share it with the one before. */
struct second {
	uint64_t begin_ns;
	uint64_t span_ns; /* NS_PER_SECOND; 0: none was printed */
	char text[32];    /* "time":"2026-01-31T14:12:27. */
	size_t head_size;
	char head[40]; /* Z","time_ns":1769868747 */
};
static _Thread_local struct second last_second;

static __attribute__((noinline)) void render_second(struct second *second, uint64_t number)
{
	time_t seconds = (time_t)number;
	struct tm parts;

	if (gmtime_r(&seconds, &parts) == NULL ||
	    strftime(second->text, sizeof second->text, SECOND_FORMAT, &parts) == 0)
		memcpy(second->text, "\"time\":\"1970-01-01T00:00:00.", SECOND_SIZE);
	memcpy(second->head, NUMBER_HEAD, sizeof(NUMBER_HEAD) - 1);
	second->head_size =
		(size_t)(ct_put_u64(second->head + sizeof(NUMBER_HEAD) - 1, number) - second->head);
	second->begin_ns = number * NS_PER_SECOND;
	second->span_ns = NS_PER_SECOND;
}

/* 64 bits of nanoseconds end in the year 2554: the texts of all seconds have one size. */
static void add_time(struct ct_buf *out, uint64_t time_ns)
{
	struct second *second = &last_second;
	char *at =
		ct_buf_room(out, SECOND_SIZE + FRACTION_SIZE + sizeof second->head + FRACTION_SIZE);
	char *fraction;
	unsigned rest;

	if (at == NULL)
		return;
	if (time_ns - second->begin_ns >= second->span_ns)
		render_second(second, time_ns / NS_PER_SECOND);
	memcpy(at, second->text, SECOND_SIZE);
	fraction = at + SECOND_SIZE;
	rest = (unsigned)(time_ns - second->begin_ns);
	*fraction = (char)('0' + rest / 100000000);
	for (unsigned i = 4; i-- > 0; rest /= 100)
		(void)ct_put_two(fraction + 1 + 2 * i, rest % 100);
	at = fraction + FRACTION_SIZE;
	memcpy(at, second->head, sizeof second->head);
	if (second->begin_ns == 0) { /* no zeros before the number */
		at = ct_put_u64(at + sizeof(NUMBER_HEAD) - 1, time_ns);
	} else {
		at += second->head_size;
		memcpy(at, fraction, FRACTION_SIZE);
		at += FRACTION_SIZE;
	}
	ct_buf_end(out, at);
}

#define ADD_NUMBER(out, name, value) (ADD(out, ",\"" name "\":"), ct_buf_add_u64(out, value))
#define ADD_NAME(out, name, text) \
	(ADD(out, ",\"" name "\":"), (void)add_string(out, text, strlen(text)))

static void add_asid(struct ct_buf *out, uint32_t asid)
{
	ADD(out, ",\"asid\":\"");
	ct_buf_add_hex(out, asid, 4, true);
	ct_buf_add_char(out, '"');
}

static void add_source_process(struct ct_buf *out, const struct ct_read_event *event)
{
	char jobname[17];

	if (event->source_process == NULL)
		return;
	ct_read_event_jobname(event, jobname);
	if (event->source_process->host[0] != '\0')
		ADD_NAME(out, "host", event->source_process->host);
	if (event->source_process->program[0] != '\0')
		ADD_NAME(out, "program", event->source_process->program);
	if (jobname[0] != '\0')
		ADD_NAME(out, "job", jobname);
	if (ct_read_event_asid(event) != 0)
		add_asid(out, ct_read_event_asid(event));
}

static void add_type(struct ct_buf *out, const struct ct_read_event *event)
{
	const char *mnemonic = event->type != NULL    ? event->type->mnemonic
			       : event->names != NULL ? event->names->mnemonic
						      : NULL;

	if (mnemonic != NULL && mnemonic[0] != '\0')
		ADD_NAME(out, "mnemonic", mnemonic);
	if (event->type != NULL && event->type->description[0] != '\0')
		ADD_NAME(out, "description", event->type->description);
}

/* What the events of a class, thread and source process have in common: the text before the
 * sequence number, and the text behind it up to the span. */
#define COMMONS 64u /* texts that are kept; two that want one place take turns */
#define COMMON_SIZE 448u
struct common_key {
	const char *component, *mnemonic;
	const struct ct_source_process *source_process;
	uint32_t scope, event_id, level, pid, tid;
	uint32_t reserved; /* 0; no padding, so that keys are compared as bytes */
};
struct common {
	struct common_key key;
	uint32_t before_size, behind_size;
	char text[COMMON_SIZE];
};
static _Thread_local struct common commons[COMMONS];

static struct common *common_at(const struct common_key *key)
{
	return &commons[(((uintptr_t)key->component >> 3) + key->event_id + key->tid * 7) %
			COMMONS];
}

static void add_before_sequence(struct ct_buf *out, const struct ctrace_event *traced)
{
	ADD(out, ",\"component\":");
	(void)add_string(out, traced->component, traced->component_size);
	ADD_NUMBER(out, "event", traced->event_id);
	ADD_NAME(out, "level", ct_level_name(traced->level));
	ADD_NUMBER(out, "pid", traced->pid);
	ADD_NUMBER(out, "tid", traced->tid);
	ADD(out, ",\"seq\":");
}

/* An item may be the event's job name or asid. */
static bool type_has_marked_item(const struct ct_event_type *type)
{
	for (uint32_t i = 0; type != NULL && i < type->argument_count; i++)
		if (type->arguments[i].is_asid || type->arguments[i].is_jobname)
			return true;
	return false;
}

/* Prints the common text, and keeps it when other events can share it. */
static __attribute__((noinline)) void
add_new_common(struct ct_buf *out, const struct ct_read_event *event, const struct common_key *key)
{
	struct common *common = common_at(key);
	size_t start = out->size, before, behind, number;

	add_before_sequence(out, &event->traced);
	before = out->size - start;
	ct_buf_add_u64(out, event->sequence);
	number = out->size - start;
	add_source_process(out, event);
	add_type(out, event);
	behind = out->size - start - number;
	if (out->failed || event->scope == 0 || before + behind > COMMON_SIZE ||
	    type_has_marked_item(event->type))
		return;
	memcpy(common->text, out->data + start, before);
	memcpy(common->text + before, out->data + start + number, behind);
	common->before_size = (uint32_t)before;
	common->behind_size = (uint32_t)behind;
	common->key = *key;
}

static void add_common(struct ct_buf *out, const struct ct_read_event *event)
{
	const struct ctrace_event *traced = &event->traced;
	const struct common_key key = {
		.component = traced->component,
		.mnemonic = event->names != NULL ? event->names->mnemonic : NULL,
		.source_process = event->source_process,
		.scope = event->scope,
		.event_id = traced->event_id,
		.level = traced->level,
		.pid = traced->pid,
		.tid = traced->tid,
	};
	const struct common *common = common_at(&key);
	char *at;

	if (event->scope == 0 || memcmp(&common->key, &key, sizeof key) != 0) {
		add_new_common(out, event, &key);
		return;
	}
	at = ct_buf_room(out, COMMON_SIZE + CT_U64_DIGITS);
	if (at == NULL)
		return;
	memcpy(at, common->text, common->before_size);
	at = ct_put_u64(at + common->before_size, event->sequence);
	memcpy(at, common->text + common->before_size, common->behind_size);
	ct_buf_end(out, at + common->behind_size);
}

static void add_members(struct ct_buf *out, const struct ct_read_event *event)
{
	add_time(out, event->traced.time_ns);
	add_common(out, event);
	if (event->span_id != 0)
		ADD_NUMBER(out, "span", event->span_id);
	if (event->duration_ns != CT_NO_DURATION)
		ADD_NUMBER(out, "duration_ns", event->duration_ns);
	if (event->is_inferred)
		ADD(out, ",\"inferred\":true");
	ADD(out, ",\"data\":[");
	for (uint32_t i = 0; i < event->traced.item_count; i++) {
		if (i > 0)
			ADD(out, ",");
		add_item(out, event, i);
	}
	ADD(out, "]}");
}

void ct_json_add(struct ct_buf *out, const struct ct_read_event *event)
{
	ADD(out, "{");
	add_members(out, event);
}

#define TEXT_OF(macro) #macro
#define LINE_HEAD(version) "{\"format_version\":" TEXT_OF(version) ","

void ct_json_add_line(struct ct_buf *out, const struct ct_read_event *event)
{
	ADD(out, LINE_HEAD(CT_JSON_FORMAT_VERSION));
	add_members(out, event);
	ADD(out, "\n");
}
