/*
 * ipcs_copy.c - COPYTRC: the events that a command means, as a new trace.
 *
 * Called by ctrace ipcs, on its only thread.  What is written and how is the exporter's for Common Trace Format; here is only which events.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/ipcs.h"

#include "read/export.h"

/* Has this process been met before?  Bounded by how many processes there are. */
static bool is_new(struct ct_buf *met, uint32_t index)
{
	while (met->size <= index && !met->failed)
		ct_buf_add_char(met, 0);
	if (met->failed || met->data[index] != 0)
		return false;
	met->data[index] = 1;
	return true;
}

static void copy(const struct ct_ipcs_command *command, struct ct_reader *reader, void *exporter, struct ct_ipcs_copied *copied)
{
	const struct ct_view *view;
	struct ct_buf met;

	ct_buf_init(&met);
	while ((view = ct_reader_next(reader)) != NULL) {
		if (ct_ipcs_select(command, view) != CT_IPCS_CHOSEN)
			continue;
		ct_export_trace.add(exporter, view);
		copied->events++;
		copied->processes += is_new(&met, view->origin->index);
	}
	ct_buf_fini(&met);
}

enum ctrace_status ct_ipcs_copy(const struct ct_ipcs_command *command, struct ct_reader *reader, const char *path,
				struct ct_ipcs_copied *out)
{
	struct ct_export_options options = { .fd = -1, .folder = path };
	struct ct_ipcs_copied copied = { 0 };
	enum ctrace_status status;
	void *exporter;

	status = ct_export_trace.open(&options, &exporter);
	if (status != CTRACE_OK)
		return status;
	copy(command, reader, exporter, &copied);
	status = ct_export_trace.end(exporter);
	ct_export_trace.close(exporter);
	if (status == CTRACE_OK)
		*out = copied;
	return status;
}
