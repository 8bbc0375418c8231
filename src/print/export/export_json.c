/*
 * export_json.c - traces as one JSON document of the objects of print_json.c, or as one object a
 * line.
 *
 * Called by ctrace export, on one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/export/export.h"

#include <stdlib.h>

#include "print/json_text.h"

struct json {
	struct ct_export_out out;
	bool is_lines;
	bool has_events;
};

static enum ctrace_status json_open(const struct ct_export_options *options, void **out_self)
{
	struct json *self = calloc(1, sizeof *self);

	if (self == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_export_out_init(&self->out, options->fd);
	self->is_lines = options->is_lines;
	*out_self = self;
	return CTRACE_OK;
}

static void document_begin(struct json *self)
{
	if (!self->has_events)
		ct_buf_add_format(&self->out.text, "{\"format_version\":%d,\"events\":[",
				  CT_JSON_FORMAT_VERSION);
}

static void json_add(void *user, const struct ct_read_event *event)
{
	struct json *self = user;
	struct ct_buf *text = &self->out.text;

	if (self->is_lines) {
		ct_json_add_line(text, event);
	} else {
		document_begin(self);
		ct_buf_add_text(text, self->has_events ? ",\n" : "\n");
		ct_json_add(text, event);
	}
	self->has_events = true;
	ct_export_out_offer(&self->out);
}

static enum ctrace_status json_end(void *user)
{
	struct json *self = user;

	if (!self->is_lines) {
		document_begin(self);
		ct_buf_add_text(&self->out.text, self->has_events ? "\n]}\n" : "]}\n");
	}
	return ct_export_out_end(&self->out);
}

static void json_close(void *user)
{
	struct json *self = user;

	if (self == NULL)
		return;
	ct_export_out_fini(&self->out);
	free(self);
}

const struct ct_exporter ct_export_json = {
	.name = "json",
	.has_pairs = true,
	.open = json_open,
	.add = json_add,
	.end = json_end,
	.close = json_close,
};
