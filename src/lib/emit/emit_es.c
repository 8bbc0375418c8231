/*
 * emit_es.c - ES, the trace table of an Enterprise Server: a name that configurations use, and no
 * output.
 *
 * SILENT: nothing below is called, and no event is decoded on its behalf.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

static enum ctrace_status es_open(const struct ctrace_emitter_context *context, void **out_self)
{
	(void)context;
	*out_self = NULL;
	return CTRACE_OK;
}

static enum ctrace_status es_write(void *self, const struct ctrace_batch *batch)
{
	(void)self;
	(void)batch;
	return CTRACE_OK;
}

static void es_close(void *self)
{
	(void)self;
}

static const struct ctrace_property properties[] = {
	{ "LEVEL", CTRACE_PROPERTY_LEVEL, "0", "Accepted and without effect." },
	{ 0 },
};

const struct ctrace_emitter ct_emit_es = {
	.size = sizeof(struct ctrace_emitter),
	.name = "ES",
	.flags = CTRACE_EMITTER_SILENT,
	.properties = properties,
	.open = es_open,
	.write = es_write,
	.close = es_close,
};
