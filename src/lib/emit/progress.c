/*
 * progress.c - how far into a batch an output came that cannot be cut back.
 *
 * A pipe or the journal cannot take back half a batch; when it fails, the same events come again.
 * Those that are out already are recognised by the last of them and left out.  Should the batch
 * have changed before that event, all of it is written: an event may then appear twice, but none is
 * missing.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

uint32_t ct_progress_resume(const struct ct_progress *progress, const struct ctrace_batch *batch)
{
	const struct ctrace_event *last;

	if (progress->done == 0 || progress->done > batch->event_count)
		return 0;
	last = &batch->events[progress->done - 1];
	if (last->time_ns != progress->time_ns || last->tid != progress->tid ||
	    last->event_id != progress->event_id || last->component_id != progress->component_id)
		return 0;
	return progress->done;
}

void ct_progress_note(struct ct_progress *progress, const struct ctrace_batch *batch, uint32_t done)
{
	const struct ctrace_event *last;

	*progress = (struct ct_progress){ 0 };
	if (done == 0 || done >= batch->event_count)
		return;
	last = &batch->events[done - 1];
	*progress = (struct ct_progress){
		.done = done,
		.event_id = last->event_id,
		.component_id = last->component_id,
		.tid = last->tid,
		.time_ns = last->time_ns,
	};
}
