/*
 * ipcs_defined.c - the traces that running processes have defined, for QUERY: their buffers' sizes
 * and their options.
 *
 * Asks the processes as DISPLAY TRACE does.  A process without a response counts as one without
 * traces.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/ipcs_defined.h"

#include <stdlib.h>
#include <string.h>

#include "operator/display_trace.h"

#define TIMEOUT_MS 2000u

static bool trace_is_meant(const struct ipcs_defined *defined, uint32_t pid)
{
	for (uint32_t i = 0; i < defined->pid_count; i++)
		if (defined->pids[i] == pid)
			return true;
	return defined->is_of_all;
}

static void traces_list(struct ipcs_defined *defined)
{
	const struct ct_display *display = &defined->display;

	defined->items = calloc(display->trace_rows.count + 1, sizeof *defined->items);
	for (uint32_t i = 0; i < display->trace_rows.count && defined->items != NULL; i++) {
		const struct ct_display_trace *trace = &display->traces[i];
		const struct ct_display_process *process = &display->processes[trace->process];

		if (trace->display.is_defined && trace_is_meant(defined, process->pid))
			defined->items[defined->count++] = (struct ct_ipcs_definition){
				.name = trace->name,
				.jobname = process->jobname,
				.asid = process->asid,
				.buffer_bytes =
					trace->display.buffer ? trace->display.buffer_rounded : 0,
				.options = trace->display.options,
				.minops = trace->display.minops,
			};
	}
}

void ipcs_defined_open(struct ipcs_defined *defined)
{
	static const struct ct_operator_command all = { .kind = CT_OPERATOR_DISPLAY_TRACE,
							.has_comp = true,
							.comp_all = true };
	static const struct target everybody = { .timeout_ms = TIMEOUT_MS };
	struct ask ask;

	ct_display_init(&defined->display, ct_clock_wall_ns());
	ct_ask_init(&ask, &everybody, NULL);
	ask.is_quiet = true;
	if ((defined->is_of_all || defined->pid_count != 0) &&
	    ct_peers_find(&everybody.filter, &ask.peers) == CTRACE_OK)
		(void)ct_display_gather(&ask, &all, &defined->display);
	traces_list(defined);
	ct_ask_fini(&ask);
}

void ipcs_defined_close(struct ipcs_defined *defined)
{
	free(defined->items);
	ct_display_fini(&defined->display);
}
