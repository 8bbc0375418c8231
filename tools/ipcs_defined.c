/*
 * ipcs_defined.c - the traces that running processes have defined, for QUERY: their buffers' sizes and their options.
 *
 * They are asked as DISPLAY TRACE does; who does not answer has defined nothing.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ipcs_defined.h"

#include <stdlib.h>
#include <string.h>

#include "display_trace.h"

#define TIMEOUT_MS 2000u

static bool is_meant(const struct ipcs_defined *defined, uint32_t pid)
{
	for (uint32_t i = 0; i < defined->pid_count; i++)
		if (defined->pids[i] == pid)
			return true;
	return defined->is_of_all;
}

static void ask(struct ipcs_defined *defined, struct ct_peers *peers)
{
	struct ct_operator_command command = { .kind = CT_OPERATOR_DISPLAY_TRACE, .has_comp = true, .comp_all = true };
	struct ct_buf request;

	ct_buf_init(&request);
	ct_display_request(&command, &request);
	if (!request.failed) {
		ct_client_ask(peers, &request, TIMEOUT_MS);
		ct_display_gather(peers, &command, &defined->display);
	}
	ct_buf_fini(&request);
}

static void list(struct ipcs_defined *defined)
{
	const struct ct_display *display = &defined->display;

	defined->items = calloc(display->trace_rows.count + 1, sizeof *defined->items);
	for (uint32_t i = 0; i < display->trace_rows.count && defined->items != NULL; i++) {
		const struct ct_display_trace *trace = &display->traces[i];
		const struct ct_display_process *process = &display->processes[trace->process];

		if (trace->display.is_defined && is_meant(defined, process->pid))
			defined->items[defined->count++] = (struct ct_ipcs_definition){
				.name = trace->name,
				.jobname = process->jobname,
				.asid = process->asid,
				.buffer_bytes = trace->display.buffer ? trace->display.buffer_rounded : 0,
				.options = trace->display.options,
				.minops = trace->display.minops,
			};
	}
}

void ipcs_defined_open(struct ipcs_defined *defined)
{
	static const struct ct_peer_filter everybody = { 0 };
	struct ct_peers peers = { 0 };

	ct_display_init(&defined->display, ct_clock_wall_ns());
	if ((defined->is_of_all || defined->pid_count != 0) && ct_peers_find(&everybody, &peers) == CTRACE_OK)
		ask(defined, &peers);
	list(defined);
	ct_peers_fini(&peers);
}

void ipcs_defined_close(struct ipcs_defined *defined)
{
	free(defined->items);
	ct_display_fini(&defined->display);
}
