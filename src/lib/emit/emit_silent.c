/*
 * emit_silent.c - emitters that are a name, and no output.
 *
 * ES is the trace table of an Enterprise Server: configurations name it.  STORAGE is the
 * destination of what stays in the rings: a component that has no other gets rings that nobody
 * consumes and that overwrite their oldest events.  SILENT: nothing below is called, and no event
 * is decoded on their behalf.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

static enum ctrace_status silent_open(const struct ctrace_emitter_context *context, void **out_self)
{
	(void)context;
	*out_self = NULL;
	return CTRACE_OK;
}

static enum ctrace_status silent_write(void *self, const struct ctrace_batch *batch)
{
	(void)self;
	(void)batch;
	return CTRACE_OK;
}

static void silent_close(void *self)
{
	(void)self;
}

static const struct ctrace_property es_properties[] = {
	{ "LEVEL", CTRACE_PROPERTY_LEVEL, "0", "Accepted and without effect." },
	{ 0 },
};

const struct ctrace_emitter ct_emit_es = {
	.size = sizeof(struct ctrace_emitter),
	.name = "ES",
	.flags = CTRACE_EMITTER_SILENT,
	.properties = es_properties,
	.open = silent_open,
	.write = silent_write,
	.close = silent_close,
};

static const struct ctrace_property no_properties[] = { { 0 } };

const struct ctrace_emitter ct_emit_storage = {
	.size = sizeof(struct ctrace_emitter),
	.name = "STORAGE",
	.flags = CTRACE_EMITTER_SILENT,
	.properties = no_properties,
	.open = silent_open,
	.write = silent_write,
	.close = silent_close,
};
