/*
 * span.c - pieces of a text, for parsers.
 *
 * Pure; any thread.  A word quoted in a message may be anything, so it is cut and escaped.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

struct ct_span ct_span_of(const char *from, const char *to)
{
	return (struct ct_span){ from, (size_t)(to - from) };
}

bool ct_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct ct_span ct_span_trim(struct ct_span span)
{
	while (span.size > 0 && ct_is_blank(span.at[0])) {
		span.at++;
		span.size--;
	}
	while (span.size > 0 && ct_is_blank(span.at[span.size - 1]))
		span.size--;
	return span;
}

void ct_span_quote(struct ct_buf *message, struct ct_span word, size_t limit)
{
	ct_buf_add_char(message, '"');
	ct_escape_add(message, word.at, word.size < limit ? word.size : limit);
	ct_buf_add_text(message, word.size > limit ? "...\"" : "\"");
}
