/*
 * emit_storage.c - STORAGE, the destination of what stays in the rings: a name, and no output.
 *
 * A component that has no other destination gets rings that nobody consumes and that overwrite
 * their oldest events.  Nothing below is called for these.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

static enum ctrace_status storage_open(const struct ctrace_emitter_context *context,
				       void **out_self)
{
	(void)context;
	*out_self = NULL;
	return CTRACE_OK;
}

static enum ctrace_status storage_write(void *self, const struct ctrace_batch *batch)
{
	(void)self;
	(void)batch;
	return CTRACE_OK;
}

static void storage_close(void *self)
{
	(void)self;
}

static const struct ctrace_property properties[] = { { 0 } };

const struct ctrace_emitter ct_emit_storage = {
	.size = sizeof(struct ctrace_emitter),
	.name = "STORAGE",
	.flags = CTRACE_EMITTER_SILENT,
	.properties = properties,
	.open = storage_open,
	.write = storage_write,
	.close = storage_close,
};
