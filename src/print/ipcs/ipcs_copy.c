/*
 * ipcs_copy.c - COPYTRC: the events that a command selects, as a new trace.
 *
 * Called by ctrace ipcs, on its only thread.  The exporter for Common Trace Format writes the
 * trace; this file selects the events.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs.h"

#include "print/export/export.h"

/* Returns true if this process is met for the first time.  Bounded by the number of processes. */
static bool process_is_new(struct ct_buf *met, uint32_t index)
{
	while (met->size <= index && !met->failed)
		ct_buf_add_char(met, 0);
	if (met->failed || met->data[index] != 0)
		return false;
	met->data[index] = 1;
	return true;
}

/* Receives notes while events are copied: losses are counted in the copy too. */
struct notes {
	void *exporter;
	ct_read_report *also;
	void *also_user;
};

static void note_pass_on(const struct ct_read_note *note, void *user)
{
	const struct notes *notes = user;

	if (note->kind == CT_NOTE_LOST)
		ct_export_trace.lost(notes->exporter, note);
	if (notes->also != NULL)
		notes->also(note, notes->also_user);
}

static void event_copy(const struct ct_ipcs_command *command, struct ct_reader *reader,
		       void *exporter, struct ct_ipcs_copied *copied)
{
	const struct ct_read_event *event;
	struct ct_buf met;

	ct_buf_init(&met);
	while ((event = ct_reader_next(reader)) != NULL) {
		if (ct_ipcs_select(command, event) != CT_IPCS_CHOSEN)
			continue;
		ct_export_trace.add(exporter, event);
		copied->events++;
		copied->processes += process_is_new(&met, event->source_process->index);
	}
	ct_buf_fini(&met);
}

enum ctrace_status ct_ipcs_copy(struct ct_ipcs_job *job, const char *path,
				struct ct_ipcs_copied *out)
{
	struct ct_export_options options = { .fd = -1, .directory = path };
	struct notes notes = { .also = job->also, .also_user = job->also_user };
	struct ct_ipcs_copied copied = { 0 };
	enum ctrace_status status;

	status = ct_export_trace.open(&options, &notes.exporter);
	if (status != CTRACE_OK)
		return status;
	job->also = note_pass_on;
	job->also_user = &notes;
	event_copy(job->command, job->reader, notes.exporter, &copied);
	job->also = notes.also;
	job->also_user = notes.also_user;
	status = ct_export_trace.end(notes.exporter);
	ct_export_trace.close(notes.exporter);
	if (status == CTRACE_OK)
		*out = copied;
	return status;
}
