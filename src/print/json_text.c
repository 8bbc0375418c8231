/*
 * json_text.c - what the JSON documents of the tools have in common.
 *
 * Called by the printers of JSON, on the tool's only thread.  Pure, but for ct_json_print().
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/json_text.h"

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

json_t *ct_json_asid(uint32_t asid)
{
	return asid != 0 ? json_sprintf("%04X", asid) : json_null();
}

json_t *ct_json_number(uint64_t number)
{
	return json_integer(number <= INT64_MAX ? (json_int_t)number : INT64_MAX);
}

json_t *ct_json_words(const char *words)
{
	json_t *array = json_array();

	for (words += strspn(words, " "); *words != '\0'; words += strspn(words, " ")) {
		size_t size = strcspn(words, " ");

		if (json_array_append_new(array, ct_json_text(words, size)) != 0) {
			json_decref(array);
			return NULL;
		}
		words += size;
	}
	return array;
}

json_t *ct_json_document(void)
{
	json_t *document = json_object();

	(void)json_object_set_new(document, "format_version", json_integer(CT_JSON_FORMAT_VERSION));
	return document;
}

/* When memory was short, members may be missing; a document that could not be made is reported. */
bool ct_json_print(json_t *document, FILE *to)
{
	bool ok = json_dumpf(document, to, JSON_COMPACT | JSON_ENSURE_ASCII) == 0;

	(void)fputc('\n', to);
	json_decref(document);
	return ok;
}
