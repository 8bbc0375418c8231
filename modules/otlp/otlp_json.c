/*
 * otlp_json.c - a message of OTLP as OTLP/JSON, by the descriptions that protobuf-c generates.
 *
 * Called by otlp_export.c, on one thread.  The rules are those of proto3's JSON, with the
 * exceptions of OTLP: ids of traces and spans are hexadecimal, and values of enumerations are
 * numbers.  Members with their default value are left out.  What comes out is ASCII.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "otlp/otlp.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void add_unit(struct ct_buf *out, uint32_t unit)
{
	ct_buf_add(out, "\\u", 2);
	ct_buf_add_hex(out, unit, 4, false);
}

/* The text is UTF-8: ct_otlp_pool_text() made it. */
static void add_string(struct ct_buf *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *end = at + strlen(text);

	ct_buf_add_char(out, '"');
	while (at < end) {
		const unsigned char *start = at;
		uint32_t code = 0xFFFD;
		size_t size;

		while (at < end && *at >= 0x20 && *at < 0x7F && *at != '"' && *at != '\\')
			at++;
		ct_buf_add(out, start, (size_t)(at - start));
		if (at == end)
			break;
		size = ct_utf8_decode(at, end, &code);
		at += size != 0 ? size : 1;
		if (code == '"' || code == '\\') {
			ct_buf_add_char(out, '\\');
			ct_buf_add_char(out, (char)code);
		} else if (code < 0x10000) {
			add_unit(out, code);
		} else {
			add_unit(out, 0xD800 + ((code - 0x10000) >> 10));
			add_unit(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
		}
	}
	ct_buf_add_char(out, '"');
}

static void add_base64(struct ct_buf *out, const uint8_t *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	ct_buf_add_char(out, '"');
	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		uint32_t group = (uint32_t)bytes[i] << 16 |
				 (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (left > 2 ? bytes[i + 2] : 0u);

		ct_buf_add_char(out, digits[group >> 18]);
		ct_buf_add_char(out, digits[group >> 12 & 63]);
		ct_buf_add_char(out, left > 1 ? digits[group >> 6 & 63] : '=');
		ct_buf_add_char(out, left > 2 ? digits[group & 63] : '=');
	}
	ct_buf_add_char(out, '"');
}

static void add_id(struct ct_buf *out, const uint8_t *bytes, size_t size)
{
	ct_buf_add_char(out, '"');
	for (size_t i = 0; i < size; i++)
		ct_buf_add_hex(out, bytes[i], 2, false);
	ct_buf_add_char(out, '"');
}

static bool name_is_id(const char *name)
{
	return strcmp(name, "trace_id") == 0 || strcmp(name, "span_id") == 0 ||
	       strcmp(name, "parent_span_id") == 0;
}

/* "time_unix_nano" is timeUnixNano. */
static void add_name(struct ct_buf *out, const char *name)
{
	ct_buf_add_char(out, '"');
	for (; *name != '\0'; name++) {
		if (*name == '_' && name[1] >= 'a' && name[1] <= 'z')
			ct_buf_add_char(out, (char)(*++name - 'a' + 'A'));
		else
			ct_buf_add_char(out, *name);
	}
	ct_buf_add_text(out, "\":");
}

static void add_double(struct ct_buf *out, double value)
{
	if (!isfinite(value)) {
		ct_buf_add_text(out, isnan(value) ? "\"NaN\""
				     : value > 0  ? "\"Infinity\""
						  : "\"-Infinity\"");
		return;
	}
	ct_buf_add_format(out, "%.17g", value);
}

static size_t member_size(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	case PROTOBUF_C_TYPE_DOUBLE:
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		return 8;
	default:
		return 4;
	}
}

static void add_value(struct ct_buf *out, const ProtobufCFieldDescriptor *field, const void *at)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_STRING:
		add_string(out, *(char *const *)at);
		return;
	case PROTOBUF_C_TYPE_MESSAGE:
		ct_otlp_json_add(out, *(const ProtobufCMessage *const *)at);
		return;
	case PROTOBUF_C_TYPE_BYTES: {
		const ProtobufCBinaryData *bytes = at;

		if (name_is_id(field->name))
			add_id(out, bytes->data, bytes->len);
		else
			add_base64(out, bytes->data, bytes->len);
		return;
	}
	case PROTOBUF_C_TYPE_DOUBLE:
		add_double(out, *(const double *)at);
		return;
	case PROTOBUF_C_TYPE_INT64: /* 64 bits are text in proto3's JSON */
		ct_buf_add_format(out, "\"%" PRId64 "\"", *(const int64_t *)at);
		return;
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		ct_buf_add_format(out, "\"%" PRIu64 "\"", *(const uint64_t *)at);
		return;
	case PROTOBUF_C_TYPE_BOOL:
		ct_buf_add_text(out, *(const protobuf_c_boolean *)at ? "true" : "false");
		return;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		ct_buf_add_u64(out, *(const uint32_t *)at);
		return;
	default: /* int32 and enumerations */
		ct_buf_add_i64(out, *(const int32_t *)at);
	}
}

/* Has the member its default value? */
static bool value_is_default(ProtobufCType type, const void *at)
{
	static const char zeros[8];

	if (type == PROTOBUF_C_TYPE_STRING)
		return *(char *const *)at == NULL || **(char *const *)at == '\0';
	if (type == PROTOBUF_C_TYPE_BYTES)
		return ((const ProtobufCBinaryData *)at)->len == 0;
	return memcmp(at, zeros, member_size(type)) == 0;
}

static void add_array(struct ct_buf *out, const ProtobufCFieldDescriptor *field, size_t count,
		      const void *at)
{
	const char *element = *(const char *const *)at;

	ct_buf_add_char(out, '[');
	for (size_t i = 0; i < count; i++, element += member_size(field->type)) {
		if (i > 0)
			ct_buf_add_char(out, ',');
		add_value(out, field, element);
	}
	ct_buf_add_char(out, ']');
}

void ct_otlp_json_add(struct ct_buf *out, const ProtobufCMessage *message)
{
	const ProtobufCMessageDescriptor *descriptor = message->descriptor;
	bool has_members = false;

	ct_buf_add_char(out, '{');
	for (unsigned i = 0; i < descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
		const char *at = (const char *)message + field->offset;
		const char *quantifier = (const char *)message + field->quantifier_offset;
		bool is_array = field->label == PROTOBUF_C_LABEL_REPEATED;
		size_t count = is_array ? *(const size_t *)(const void *)quantifier : 0;

		if (is_array ? count == 0
		    : (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0
			    ? *(const uint32_t *)(const void *)quantifier != field->id
			    : value_is_default(field->type, at))
			continue;
		if (has_members)
			ct_buf_add_char(out, ',');
		has_members = true;
		add_name(out, field->name);
		if (is_array)
			add_array(out, field, count, at);
		else
			add_value(out, field, at);
	}
	ct_buf_add_char(out, '}');
}
