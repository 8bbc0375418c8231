/*
 * diagnostic.c - the words of a diagnostic.
 *
 * Called by whatever reads text of people.  Pure; any thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <stdio.h>

static void text_set(char *out, size_t size, const char *text)
{
	(void)snprintf(out, size, "%s", text != NULL ? text : "");
}

void ct_diagnostic_set(struct ct_diagnostic *out, const struct ct_finding *finding)
{
	struct ct_buf message;

	ct_buf_init(&message);
	if (finding->before != NULL)
		ct_buf_add_text(&message, finding->before);
	if (finding->word.at != NULL) {
		struct ct_buf word; /* it may be an address with a password */

		ct_buf_init(&word);
		ct_property_shown(&word, (struct ct_span){ "", 0 }, finding->word);
		ct_buf_add_text(&message, message.size != 0 ? " " : "");
		ct_span_quote(&message, (struct ct_span){ ct_buf_text(&word), word.size },
			      finding->shown != 0 ? finding->shown : CT_WORD_SHOWN);
		ct_buf_fini(&word);
	}
	if (finding->what != NULL)
		ct_buf_add_format(&message, "%s%s", message.size != 0 ? " " : "", finding->what);
	if (finding->meant != NULL)
		ct_buf_add_format(&message, " (did you mean %s?)", finding->meant);
	out->code = finding->code;
	text_set(out->message, sizeof out->message, ct_buf_text(&message));
	text_set(out->expected, sizeof out->expected, finding->expected);
	ct_buf_fini(&message);
}
