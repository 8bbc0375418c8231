/*
 * json_text.c - a text of another process or file as a JSON string.
 *
 * Called by the printers of JSON, on the tool's only thread.  Pure.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/json_text.h"

#include "base/base.h"
#include <string.h>

json_t *ct_json_text(const char *text, size_t size)
{
	struct ct_buf escaped;
	json_t *json;

	if (text == NULL)
		return json_null();
	json = json_stringn(text, size);
	if (json != NULL)
		return json;
	ct_buf_init(&escaped);
	ct_escape_add(&escaped, text, size);
	json = !escaped.failed ? json_stringn(ct_buf_text(&escaped), escaped.size) : NULL;
	ct_buf_fini(&escaped);
	return json;
}

json_t *ct_json_string(const char *text)
{
	return ct_json_text(text, text != NULL ? strlen(text) : 0);
}
