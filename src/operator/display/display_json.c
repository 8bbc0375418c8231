/*
 * display_json.c - the table of DISPLAY TRACE as one JSON document, for ctrace op --json and ctrace
 * stats --json.
 *
 * Called by the tools; pure.  ctrace-json(5) describes the members.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/display/display.h"

#include "print/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* When memory is short a value is NULL, and so is everything that contains it; then no document
 * is printed. */

static json_t *json_append(json_t *array, json_t *item)
{
	if (json_array_append_new(array, item) == 0)
		return array;
	json_decref(array);
	return NULL;
}

/* Adds the members of `more` to the object. */
static json_t *json_join(json_t *object, json_t *more)
{
	bool ok = json_object_update(object, more) == 0;

	json_decref(more);
	if (ok)
		return object;
	json_decref(object);
	return NULL;
}

/* null for an empty name */
static json_t *json_name(const char *text)
{
	return ct_json_string(text[0] != '\0' ? text : NULL);
}

/* ---- traces ---- */

static json_t *json_process(const struct ct_display *display, uint32_t index)
{
	const struct ct_display_process *process;

	if (index == CT_DISPLAY_NONE)
		return json_object();
	process = &display->processes[index];
	return json_pack("{so, so, so, so, so}", "pid", ct_json_number(process->pid), "uid",
			 ct_json_number(process->uid), "asid", ct_json_asid(process->asid), "job",
			 ct_json_string(process->jobname), "program",
			 ct_json_string(process->program));
}

static json_t *json_buffer(const struct ct_display_trace *trace)
{
	const struct ctrace_display *shown = &trace->display;

	return json_pack("{sb, so, so, so, so, so, sb}", "supported", shown->buffer != 0, "asked",
			 ct_json_number(shown->buffer_asked), "rounded",
			 ct_json_number(shown->buffer_rounded), "granted",
			 ct_json_number(shown->buffer_granted), "rings",
			 ct_json_number(trace->rings), "ring_bytes",
			 ct_json_number(trace->ring_bytes), "storage", trace->is_storage);
}

static json_t *json_filters(const struct ctrace_display *shown)
{
	json_t *asids = json_array();
	json_t *jobnames = json_array();

	for (uint32_t i = 0; i < shown->asid_count; i++)
		asids = json_append(asids, ct_json_asid(shown->asid[i]));
	for (uint32_t i = 0; i < shown->jobname_count; i++)
		jobnames = json_append(jobnames, ct_json_string(shown->jobname[i]));
	return json_pack("{so, so, sb, sb, sb}", "asids", asids, "jobs", jobnames,
			 "asids_supported", shown->asids != 0, "jobs_supported", shown->jobs != 0,
			 "filtered", shown->is_filtered != 0);
}

static json_t *json_attributes(const struct ctrace_display *shown)
{
	char userdata[2 * CTRACE_USERDATA_SIZE + 1] = "";

	for (unsigned i = 0; i < CTRACE_USERDATA_SIZE; i++)
		(void)snprintf(userdata + 2 * i, 3, "%02X", (unsigned)shown->userdata[i]);
	return json_pack("{sb, so, so, so, ss}", "modifiable", shown->mod != 0, "start_routine",
			 json_name(shown->startnam), "display_routine", json_name(shown->dispnam),
			 "format_table", json_name(shown->fmttab), "userdata", userdata);
}

static json_t *json_trace(const struct ct_display *display, const struct ct_display_trace *trace)
{
	const struct ctrace_display *shown = &trace->display;
	const char *above =
		trace->head != CT_DISPLAY_NONE ? display->traces[trace->head].name : NULL;
	json_t *object = json_pack("{so, so}", "component", ct_json_string(trace->name),
				   "component_above", ct_json_string(above));

	object = json_join(object, json_process(display, trace->process));
	object = json_join(
		object,
		json_pack("{sb, ss, so, sb, sb, sb, so}", "defined", shown->is_defined != 0, "mode",
			  ct_display_mode(shown->mode), "buffer", json_buffer(trace), "head",
			  shown->head != 0, "head_options", shown->headopts != 0, "likehead",
			  shown->likehead != 0, "sublevels", ct_json_number(shown->subs)));
	object = json_join(object, json_filters(shown));
	object = json_join(object, json_pack("{so, so, sb, so, sb}", "options",
					     ct_json_string(shown->options), "minops",
					     ct_json_string(shown->minops), "writer_supported",
					     shown->wtr != 0, "writer", json_name(shown->writer),
					     "writer_active", (int)trace->writer_is_active));
	return json_join(object, json_attributes(shown));
}

/* Shows the same traces as the text, within the same limits. */
static json_t *json_traces(const struct ct_display *display, const struct ct_display_form *form)
{
	static const struct ct_display_form roots = { .limit = CT_DISPLAY_NONE };
	json_t *traces = json_array();
	uint32_t below = 0;

	if (form == NULL)
		form = &roots;
	for (uint32_t i = 0; i < display->trace_rows.count; i++) {
		const struct ct_display_trace *trace = &display->traces[i];

		if (trace->depth == 0)
			below = 0;
		if (ct_display_shows(form, trace) &&
		    (trace->depth <= form->asked || below++ < form->limit))
			traces = json_append(traces, json_trace(display, trace));
	}
	return traces;
}

/* ---- writers ---- */

static json_t *json_trcout(const struct ct_trcout_state *trcout)
{
	char error[96];

	return json_pack("{so, so, so, so, so, so, so, so, so, sb}", "number",
			 ct_json_number(trcout->number), "path", ct_json_string(trcout->path),
			 "limit_bytes", ct_json_number(trcout->limit), "used_bytes",
			 ct_json_number(trcout->used), "events", ct_json_number(trcout->events),
			 "bytes", ct_json_number(trcout->bytes), "overwritten",
			 ct_json_number(trcout->wrapped_events), "not_written",
			 ct_json_number(trcout->full_events), "failing",
			 ct_json_string(trcout->failing != 0 ? strerror_r((int)trcout->failing,
									  error, sizeof error)
							     : NULL),
			 "open", trcout->is_open != 0);
}

json_t *ct_display_json_trcouts(const struct ct_display *display, uint32_t writer)
{
	json_t *trcouts = json_array();

	for (uint32_t i = 0; i < display->trcout_rows.count; i++)
		if (display->trcouts[i].writer == writer)
			trcouts = json_append(trcouts, json_trcout(&display->trcouts[i].state));
	return trcouts;
}

static json_t *json_links(const struct ct_display *display, uint32_t writer)
{
	json_t *links = json_array();

	for (uint32_t i = 0; i < display->link_rows.count; i++) {
		const struct ct_link_state *link = &display->links[i].state;

		if (display->links[i].writer == writer)
			links = json_append(links,
					    json_pack("{so, so, so, so, so, so}", "pid",
						      ct_json_number(link->pid), "asid",
						      ct_json_asid(link->asid), "job",
						      ct_json_string(link->jobname), "ring_count",
						      ct_json_number(link->rings), "events",
						      ct_json_number(link->events), "traces",
						      ct_json_words(link->traces)));
	}
	return links;
}

static json_t *json_waiting(const struct ct_display *display, const char *writer)
{
	json_t *waiting = json_array();

	for (uint32_t i = 0; i < display->trace_rows.count; i++) {
		const struct ct_display_trace *trace = &display->traces[i];

		if (ct_display_waits(trace, writer))
			waiting = json_append(waiting,
					      json_join(json_pack("{so}", "component",
								  ct_json_string(trace->name)),
							json_process(display, trace->process)));
	}
	return waiting;
}

/* index CT_DISPLAY_NONE: the writer does not run. */
static json_t *json_writer(const struct ct_display *display, const char *name, uint32_t index)
{
	bool is_active = index != CT_DISPLAY_NONE;
	json_t *object =
		json_pack("{so, sb}", "name", ct_json_string(name), "active", (int)is_active);

	if (is_active) {
		const struct ct_writer_state *writer = &display->writers[index].state;

		object = json_join(object,
				   json_pack("{ss, so, so, ss, sb, so, so, so, so, so, so, so}",
					     "status", ct_display_writer_status(display, index),
					     "pid", ct_json_number(writer->pid), "start_ns",
					     ct_json_number(writer->start_ns), "mode",
					     writer->nowrap ? "NOWRAP" : "WRAP", "compress",
					     (int)writer->compress, "events",
					     ct_json_number(writer->events), "bytes",
					     ct_json_number(writer->bytes), "overwritten",
					     ct_json_number(writer->wrapped_events), "not_written",
					     ct_json_number(writer->full_events), "message",
					     json_name(writer->message), "trcouts",
					     ct_display_json_trcouts(display, index), "connected",
					     json_links(display, index)));
	}
	return json_join(object, json_pack("{so}", "waiting", json_waiting(display, name)));
}

static json_t *json_writers(const struct ct_display *display,
			    const struct ct_display_writers *which)
{
	json_t *writers = json_array();
	const char *name = "";

	while ((name = ct_display_next_writer(display, which, name)) != NULL) {
		bool runs = false;

		for (uint32_t i = 0; i < display->writer_rows.count; i++) {
			if (!ct_name_is(name, strlen(name), display->writers[i].state.name))
				continue;
			runs = true;
			writers = json_append(writers, json_writer(display, name, i));
		}
		if (!runs)
			writers = json_append(writers, json_writer(display, name, CT_DISPLAY_NONE));
	}
	return writers;
}

/* ---- the document ---- */

static json_t *json_missing(const struct ct_display *display)
{
	json_t *missing = json_array();

	for (uint32_t i = 0; i < display->missing_rows.count; i++)
		missing = json_append(missing, ct_json_string(display->missing[i]));
	return missing;
}

static json_t *json_notes(const struct ct_display *display)
{
	json_t *notes = json_array();

	for (uint32_t i = 0; i < display->process_rows.count; i++) {
		const char *note = display->processes[i].note;

		if (note[0] != '\0')
			notes = json_append(
				notes, json_join(json_process(display, i),
						 json_pack("{so}", "note", ct_json_string(note))));
	}
	return notes;
}

enum ctrace_status ct_display_json(const struct ct_display *display,
				   const struct ct_display_json *what, struct ct_buf *out)
{
	json_t *object =
		json_join(ct_json_document(),
			  json_pack("{so, sb}", "time_ns", ct_json_number(display->time_ns),
				    "any_on", (int)display->is_any_on));
	char *text = NULL;

	if (what->has_traces)
		object = json_join(object,
				   json_pack("{so, so, so}", "traces",
					     json_traces(display, what->form), "missing",
					     json_missing(display), "notes", json_notes(display)));
	if (what->writers != NULL)
		object = json_join(
			object, json_pack("{so}", "writers", json_writers(display, what->writers)));
	if (!display->failed && object != NULL)
		text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(object);
	if (text == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_buf_add_text(out, text);
	ct_buf_add_char(out, '\n');
	free(text);
	return out->failed ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
}
