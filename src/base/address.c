/*
 * address.c - what people may see of an address, and of the value of a property.
 *
 * The one place where logins leave a text before it is listed, logged or sent.  Called by tools, by
 * modules, and on the consumer and the control thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <string.h>

#define AUTHORITY_ENDS " \t\n\"/?#"

/* The bytes of a login, up to the last @ before the host ends.  A password may have an @, and one
 * with a slash or a question mark is wrong but still a password: then it ends at the last @ of the
 * word. */
static size_t login_size(const char *at)
{
	size_t authority = strcspn(at, AUTHORITY_ENDS), word = strcspn(at, " \t\n\"");
	const char *sign = memrchr(at, '@', authority);

	/* user:pa/ss@host, but not host/path?a=b@c: a colon that no port follows */
	if (sign == NULL && memchr(at, ':', authority) != NULL &&
	    strspn(at + strcspn(at, ":") + 1, "0123456789") != authority - strcspn(at, ":") - 1 &&
	    at[0] != '[')
		sign = memrchr(at, '@', word);
	return sign != NULL ? (size_t)(sign - at) + 1 : 0;
}

void ct_address_shown(char *out, size_t size, const char *text)
{
	bool has_scheme = strstr(text, "://") != NULL, is_http = false;
	size_t at = 0;

	if (!has_scheme && strcspn(text, ":") < strcspn(text, "@"))
		text += login_size(text);
	while (*text != '\0' && at + 1 < size) {
		if (strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0)
			is_http = true;
		else if (strchr(" \t\n\"", *text) != NULL)
			is_http = false;
		if (is_http && *text == '?') {
			text += strcspn(text, " \t\n\"");
			continue;
		}
		out[at++] = *text;
		if (strncmp(text++, "://", 3) != 0)
			continue;
		for (int i = 0; i < 2 && at + 1 < size; i++)
			out[at++] = *text++;
		text += login_size(text);
	}
	if (size > 0)
		out[at] = '\0';
}

/* Names of properties whose value is a secret, or may be one. */
static bool name_is_secret(struct ct_span name)
{
	static const char *const words[] = { "HEADER", "PASSWORD", "PASSWD", "TOKEN",
					     "SECRET", "LOGIN",    "APIKEY" };
	char upper[CTRACE_MAX_PROPERTY + 1];

	if (name.size >= sizeof upper)
		return true;
	memcpy(upper, name.at, name.size);
	upper[name.size] = '\0';
	ct_name_upper(upper, name.size);
	for (size_t i = 0; i < CT_COUNT(words); i++)
		if (strstr(upper, words[i]) != NULL)
			return true;
	return false;
}

void ct_property_shown(struct ct_buf *out, struct ct_span name, struct ct_span value)
{
	size_t start = out->size;

	if (name_is_secret(name)) {
		ct_buf_add_text(out, value.size != 0 ? "(hidden)" : "");
	} else if (memchr(value.at, '@', value.size) == NULL &&
		   memchr(value.at, '?', value.size) == NULL) {
		ct_buf_add(out, value.at, value.size);
	} else if (ct_buf_reserve(out, value.size + 1)) {
		struct ct_buf text;

		ct_buf_init(&text);
		ct_buf_add(&text, value.at, value.size);
		ct_address_shown(out->data + start, value.size + 1, ct_buf_text(&text));
		out->size = start + strlen(out->data + start);
		ct_buf_fini(&text);
	}
}
