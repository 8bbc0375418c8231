/*
 * tsdl_text.c - gets the text of a metadata file, which may be plain or, as LTTng writes it, in
 * packets.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "format/tsdl.h"

#include <endian.h>
#include <string.h>

/*
 * What a metadata packet begins with; sizes are in bits and count it:
 *
 *     0 magic 4 | 4 uuid 16 | 20 checksum 4 | 24 content size 4 | 28 packet size 4 | 32 compression
 * 1 | 33 encryption 1 | 34 checksum scheme 1 | 35 major 1 | 36 minor 1
 */
#define MAGIC 0x75D11D57u
#define HEAD_SIZE 37u

static uint32_t get_u32(const char *bytes, bool is_big)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof value);
	return is_big ? be32toh(value) : le32toh(value);
}

/* Appends the text of the packet at *at and moves *at behind the packet. */
static enum ctrace_status packet_take(const char *bytes, size_t size, size_t *at, bool is_big,
				      struct ct_buf *out, const char **out_message)
{
	const char *head = bytes + *at;
	size_t left = size - *at, content, packet;

	if (left < HEAD_SIZE || get_u32(head, is_big) != MAGIC) {
		*out_message = "the metadata end inside a packet";
		return CTRACE_DAMAGED;
	}
	if (head[32] != 0 || head[33] != 0) {
		*out_message = head[32] != 0
				       ? "the metadata are compressed, which ctrace does not read"
				       : "the metadata are encrypted, which ctrace does not read";
		return CTRACE_UNSUPPORTED;
	}
	content = get_u32(head + 24, is_big) / 8;
	packet = get_u32(head + 28, is_big) / 8;
	if (content < HEAD_SIZE || packet < content) {
		*out_message = "a packet of the metadata has sizes that cannot be";
		return CTRACE_DAMAGED;
	}
	ct_buf_add(out, head + HEAD_SIZE, (content < left ? content : left) - HEAD_SIZE);
	if (content > left) {
		*out_message = "the metadata end inside a packet";
		return CTRACE_DAMAGED;
	}
	*at += packet < left ? packet : left;
	return CTRACE_OK;
}

static enum ctrace_status packets_take(const char *bytes, size_t size, bool is_big,
				       struct ct_buf *out, const char **out_message)
{
	enum ctrace_status status = CTRACE_OK;

	for (size_t at = 0; at < size && status == CTRACE_OK;)
		status = packet_take(bytes, size, &at, is_big, out, out_message);
	return status;
}

/* Metadata of format 2 are JSON, with a record separator before each piece. */
static bool is_json(const char *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && (bytes[at] == '\x1E' || bytes[at] == ' ' || bytes[at] == '\n' ||
			     bytes[at] == '\r' || bytes[at] == '\t'))
		at++;
	return at < size && (bytes[at] == '{' || bytes[at] == '[');
}

enum ctrace_status ct_tsdl_text(const char *bytes, size_t size, struct ct_buf *out,
				const char **out_message)
{
	enum ctrace_status status = CTRACE_OK;

	*out_message = NULL;
	if (size >= 4 && get_u32(bytes, false) == MAGIC)
		status = packets_take(bytes, size, false, out, out_message);
	else if (size >= 4 && get_u32(bytes, true) == MAGIC)
		status = packets_take(bytes, size, true, out, out_message);
	else
		ct_buf_add(out, bytes, size);
	if (status == CTRACE_OK && is_json(out->data, out->size)) {
		*out_message = "Common Trace Format 2; ctrace reads 1.8";
		return CTRACE_UNSUPPORTED;
	}
	if (out->failed) {
		*out_message = ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	return status;
}
