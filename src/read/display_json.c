/*
 * display_json.c - what DISPLAY TRACE knows as one JSON document, for ctrace op --json and ctrace stats --json.
 *
 * Called by the tools; pure.  The members are described in ctrace-json(5).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/display.h"

#include "read/json_text.h"

#include <stdlib.h>
#include <string.h>

/* What memory was too short for is missing: the document is not given then. */
static void set(json_t *object, const char *key, json_t *value, bool *failed)
{
	*failed |= json_object_set_new(object, key, value) != 0;
}

static void append(json_t *array, json_t *value, bool *failed)
{
	*failed |= json_array_append_new(array, value) != 0;
}

static void set_text(json_t *object, const char *key, const char *text, bool *failed)
{
	set(object, key, ct_json_text(text, strlen(text)), failed);
}

/* null for what is not there. */
static void set_name(json_t *object, const char *key, const char *text, bool *failed)
{
	set(object, key, text[0] != '\0' ? ct_json_text(text, strlen(text)) : json_null(), failed);
}

static void set_number(json_t *object, const char *key, uint64_t number, bool *failed)
{
	set(object, key, ct_json_number(number), failed);
}

static void set_bool(json_t *object, const char *key, bool value, bool *failed)
{
	set(object, key, json_boolean(value), failed);
}

/* ---- traces ---- */

static void set_process(json_t *object, const struct ct_display *display, uint32_t index, bool *failed)
{
	const struct ct_display_process *process;

	if (index == CT_DISPLAY_NONE)
		return;
	process = &display->processes[index];
	set_number(object, "pid", process->pid, failed);
	set_number(object, "uid", process->uid, failed);
	set(object, "asid", ct_json_asid(process->asid), failed);
	set_text(object, "job", process->jobname, failed);
	set_text(object, "program", process->program, failed);
}

static json_t *json_buffer(const struct ctrace_display *shown, bool *failed)
{
	json_t *object = json_object();

	set_bool(object, "supported", shown->buffer != 0, failed);
	set_number(object, "asked", shown->buffer_asked, failed);
	set_number(object, "rounded", shown->buffer_rounded, failed);
	set_number(object, "granted", shown->buffer_granted, failed);
	return object;
}

static void set_filters(json_t *object, const struct ctrace_display *shown, bool *failed)
{
	json_t *asids = json_array();
	json_t *jobnames = json_array();

	for (uint32_t i = 0; i < shown->asid_count; i++)
		append(asids, ct_json_asid(shown->asid[i]), failed);
	for (uint32_t i = 0; i < shown->jobname_count; i++)
		append(jobnames, ct_json_text(shown->jobname[i], strlen(shown->jobname[i])), failed);
	set(object, "asids", asids, failed);
	set(object, "jobs", jobnames, failed);
	set_bool(object, "asids_supported", shown->asids != 0, failed);
	set_bool(object, "jobs_supported", shown->jobs != 0, failed);
	set_bool(object, "filtered", shown->is_filtered != 0, failed);
}

static void set_attributes(json_t *object, const struct ctrace_display *shown, bool *failed)
{
	struct ct_buf userdata;

	set_bool(object, "modifiable", shown->mod != 0, failed);
	set_name(object, "start_routine", shown->startnam, failed);
	set_name(object, "display_routine", shown->dispnam, failed);
	set_name(object, "format_table", shown->fmttab, failed);
	ct_buf_init(&userdata);
	for (unsigned i = 0; i < CTRACE_USERDATA_SIZE; i++)
		ct_buf_add_hex(&userdata, shown->userdata[i], 2, true);
	*failed |= userdata.failed;
	set_text(object, "userdata", ct_buf_text(&userdata), failed);
	ct_buf_fini(&userdata);
}

static json_t *json_trace(const struct ct_display *display, const struct ct_display_trace *trace, bool *failed)
{
	const struct ctrace_display *shown = &trace->display;
	json_t *object = json_object();

	set_text(object, "component", trace->name, failed);
	set(object, "component_above",
	    trace->head != CT_DISPLAY_NONE ? ct_json_text(display->traces[trace->head].name, strlen(display->traces[trace->head].name))
					   : json_null(),
	    failed);
	set_process(object, display, trace->process, failed);
	set_bool(object, "defined", shown->is_defined != 0, failed);
	set_text(object, "mode", ct_display_mode(shown->mode), failed);
	set(object, "buffer", json_buffer(shown, failed), failed);
	set_bool(object, "head", shown->head != 0, failed);
	set_bool(object, "head_options", shown->headopts != 0, failed);
	set_bool(object, "likehead", shown->likehead != 0, failed);
	set_number(object, "sublevels", shown->subs, failed);
	set_filters(object, shown, failed);
	set_text(object, "options", shown->options, failed);
	set_text(object, "minops", shown->minops, failed);
	set_bool(object, "writer_supported", shown->wtr != 0, failed);
	set_name(object, "writer", shown->writer, failed);
	set_bool(object, "writer_active", trace->writer_is_active, failed);
	set_attributes(object, shown, failed);
	return object;
}

/* The same as the text shows, below the same limits. */
static json_t *json_traces(const struct ct_display *display, const struct ct_display_form *form, bool *failed)
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
		if (!ct_display_shows(form, trace) || (trace->depth > form->asked && below++ >= form->limit))
			continue;
		append(traces, json_trace(display, trace, failed), failed);
	}
	return traces;
}

/* ---- writers ---- */

static json_t *json_trcouts(const struct ct_display *display, uint32_t writer, bool *failed)
{
	json_t *trcouts = json_array();
	char error[96];

	for (uint32_t i = 0; i < display->trcout_rows.count; i++) {
		const struct ct_display_trcout *trcout = &display->trcouts[i];
		json_t *object;

		if (trcout->writer != writer)
			continue;
		object = json_object();
		set_number(object, "number", trcout->number, failed);
		set_text(object, "path", trcout->path, failed);
		set_number(object, "limit_bytes", trcout->limit, failed);
		set_number(object, "used_bytes", trcout->used, failed);
		set_number(object, "events", trcout->events, failed);
		set_number(object, "bytes", trcout->bytes, failed);
		set_number(object, "overwritten", trcout->wrapped_events, failed);
		set_number(object, "not_written", trcout->full_events, failed);
		set_name(object, "failing", trcout->failing != 0 ? strerror_r((int)trcout->failing, error, sizeof error) : "", failed);
		append(trcouts, object, failed);
	}
	return trcouts;
}

static json_t *json_links(const struct ct_display *display, uint32_t writer, bool *failed)
{
	json_t *links = json_array();

	for (uint32_t i = 0; i < display->link_rows.count; i++) {
		const struct ct_display_link *link = &display->links[i];
		json_t *object;

		if (link->writer != writer)
			continue;
		object = json_object();
		set_number(object, "pid", link->pid, failed);
		set(object, "asid", ct_json_asid(link->asid), failed);
		set_text(object, "job", link->jobname, failed);
		set_number(object, "ring_count", link->rings, failed);
		set_number(object, "events", link->events, failed);
		set(object, "traces", ct_json_words(link->traces), failed);
		append(links, object, failed);
	}
	return links;
}

static json_t *json_waiting(const struct ct_display *display, const char *writer, bool *failed)
{
	json_t *waiting = json_array();

	for (uint32_t i = 0; i < display->trace_rows.count; i++) {
		json_t *object;

		if (!ct_display_waits(&display->traces[i], writer))
			continue;
		object = json_object();
		set_text(object, "component", display->traces[i].name, failed);
		set_process(object, display, display->traces[i].process, failed);
		append(waiting, object, failed);
	}
	return waiting;
}

static void set_writer(json_t *object, const struct ct_display *display, uint32_t index, bool *failed)
{
	const struct ct_display_writer *writer = &display->writers[index];

	set_text(object, "status", ct_display_writer_status(display, index), failed);
	set_number(object, "pid", writer->pid, failed);
	set_number(object, "start_ns", writer->start_ns, failed);
	set_text(object, "mode", writer->nowrap ? "NOWRAP" : "WRAP", failed);
	set_bool(object, "compress", writer->compress, failed);
	set_number(object, "events", writer->events, failed);
	set_number(object, "bytes", writer->bytes, failed);
	set_number(object, "overwritten", writer->wrapped_events, failed);
	set_number(object, "not_written", writer->full_events, failed);
	set_name(object, "message", writer->message, failed);
	set(object, "trcouts", json_trcouts(display, index, failed), failed);
	set(object, "connected", json_links(display, index, failed), failed);
}

/* index CT_DISPLAY_NONE: it does not run. */
static json_t *json_writer(const struct ct_display *display, const char *name, uint32_t index, bool *failed)
{
	json_t *object = json_object();

	set_text(object, "name", name, failed);
	set_bool(object, "active", index != CT_DISPLAY_NONE, failed);
	if (index != CT_DISPLAY_NONE)
		set_writer(object, display, index, failed);
	set(object, "waiting", json_waiting(display, name, failed), failed);
	return object;
}

static json_t *json_writers(const struct ct_display *display, const struct ct_display_writers *which, bool *failed)
{
	json_t *writers = json_array();
	const char *name = "";

	while ((name = ct_display_next_writer(display, which, name)) != NULL) {
		bool runs = false;

		for (uint32_t i = 0; i < display->writer_rows.count; i++) {
			if (!ct_name_is(name, strlen(name), display->writers[i].name))
				continue;
			runs = true;
			append(writers, json_writer(display, name, i, failed), failed);
		}
		if (!runs)
			append(writers, json_writer(display, name, CT_DISPLAY_NONE, failed), failed);
	}
	return writers;
}

/* ---- the document ---- */

static json_t *json_notes(const struct ct_display *display, bool *failed)
{
	json_t *notes = json_array();

	for (uint32_t i = 0; i < display->process_rows.count; i++) {
		json_t *object;

		if (display->processes[i].note[0] == '\0')
			continue;
		object = json_object();
		set_process(object, display, i, failed);
		set_text(object, "note", display->processes[i].note, failed);
		append(notes, object, failed);
	}
	return notes;
}

enum ctrace_status ct_display_json(const struct ct_display *display, const struct ct_display_json *what, struct ct_buf *out)
{
	json_t *object = ct_json_document();
	bool failed = display->failed;
	char *text = NULL;

	set_number(object, "time_ns", display->time_ns, &failed);
	set_bool(object, "any_on", display->is_any_on, &failed);
	if (what->has_traces) {
		json_t *missing = json_array();

		for (uint32_t i = 0; i < display->missing_rows.count; i++)
			append(missing, ct_json_text(display->missing[i], strlen(display->missing[i])), &failed);
		set(object, "traces", json_traces(display, what->form, &failed), &failed);
		set(object, "missing", missing, &failed);
		set(object, "notes", json_notes(display, &failed), &failed);
	}
	if (what->writers != NULL)
		set(object, "writers", json_writers(display, what->writers, &failed), &failed);
	if (!failed)
		text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(object);
	if (text == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_buf_add_text(out, text);
	ct_buf_add_char(out, '\n');
	free(text);
	return out->failed ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
}
