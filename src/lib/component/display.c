/*
 * display.c - a trace as DISPLAY TRACE shows it, and the tracer of a trace.
 *
 * Runs on the calling thread, not in a signal handler.  The display routine belongs to the program:
 * it is called in a transaction on the trace and under no lock.  Only a valid result of it counts.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <errno.h>
#include <string.h>

static enum ctrace_status trace_find(const char *name, const char *sub, struct ct_path *out_path,
				     uint32_t *out_component)
{
	struct ctrace_outcome ignored;
	size_t size = name != NULL ? strnlen(name, CTRACE_MAX_COMPONENT + 1) : 0;
	enum ctrace_status status = ct_component_check_name(name, size);

	if (status != CTRACE_OK)
		return status;
	if (ct_is_coded(sub) && size > CTRACE_MAX_COMPONENT - CT_SUB_ROOM)
		return CTRACE_NOT_FOUND; /* no name is that long: a cut one would match another
					    trace */
	if (ct_process_attach() == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (ct_path_parse(name, sub, out_path, &ignored) != CTRACE_RC_OK)
		return CTRACE_INVALID_COMPONENT_NAME;
	return ct_registry_find(ct_process.registry, out_path->name, strlen(out_path->name),
				out_component);
}

enum ctrace_status ctrace_component_tracer(const char *name, const char *sub,
					   struct ctrace_tracer **out_tracer)
{
	CT_CANCEL_OFF();
	int kept = errno;
	struct ct_path path;
	uint32_t component;
	enum ctrace_status status = trace_find(name, sub, &path, &component);

	if (status == CTRACE_OK && out_tracer == NULL)
		status = CTRACE_FAILURE;
	if (status == CTRACE_OK) {
		*out_tracer = ct_registry_tracer(ct_process.registry, component);
		__atomic_store_n(&(*out_tracer)->level_word, ct_process_level_word(component),
				 __ATOMIC_RELEASE);
	}
	errno = kept;
	return status;
}

/* ---- what is known ---- */

static void display_set_status(struct ctrace_display *shown, const struct ct_status *status)
{
	shown->mode = status->mode;
	shown->buffer_asked = status->buffer_asked;
	shown->buffer_rounded = status->buffer_rounded;
	memcpy(shown->writer, status->writer, sizeof shown->writer);
	shown->asid_count = status->asid_count;
	memcpy(shown->asid, status->asid, sizeof shown->asid);
	shown->jobname_count = status->jobname_count;
	memcpy(shown->jobname, status->jobname, sizeof shown->jobname);
	memcpy(shown->options, status->options, sizeof shown->options);
}

static void display_set_attributes(struct ctrace_display *shown, const struct ct_trace *trace)
{
	const struct ct_attributes *attributes = ct_trace_attributes(trace);

	shown->is_defined = 1;
	shown->subs = trace->subs;
	shown->head = trace->attributes.head;
	shown->headopts = trace->attributes.headopts;
	shown->likehead = trace->follows;
	memcpy(shown->startnam, trace->attributes.startnam, sizeof shown->startnam);
	memcpy(shown->dispnam, trace->attributes.dispnam, sizeof shown->dispnam);
	memcpy(shown->fmttab, trace->attributes.fmttab, sizeof shown->fmttab);
	memcpy(shown->userdata, trace->userdata, sizeof shown->userdata);
	shown->asids = attributes->asids;
	shown->jobs = attributes->jobs;
	shown->wtr = attributes->wtr;
	shown->buffer = attributes->buffer;
	shown->mod = attributes->mod;
	if (attributes->minops != NULL)
		memcpy(shown->minops, attributes->minops, strlen(attributes->minops));
}

/* ---- the display routine ---- */

static void display_correct(struct ctrace_display *shown, const struct ctrace_ctss *ctss)
{
	static const struct {
		uint32_t flag, mode;
	} modes[] = { { CTRACE_CTSS_SHOW_ON, CTRACE_MODE_ON },
		      { CTRACE_CTSS_SHOW_OFF, CTRACE_MODE_OFF },
		      { CTRACE_CTSS_SHOW_MIN, CTRACE_MODE_MIN } };

	for (size_t i = 0; i < CT_COUNT(modes); i++) {
		if (ctss->display != modes[i].flag)
			continue;
		shown->mode = modes[i].mode;
		shown->is_filtered &= ctss->display == CTRACE_CTSS_SHOW_ON;
		shown->buffer_rounded = ctss->buffer_size;
		if (ctss->options_size <= CTRACE_MAX_OPTIONS) {
			memset(shown->options, 0, sizeof shown->options);
			memcpy(shown->options, ctss->options, ctss->options_size);
		}
	}
}

static void display_call_routine(struct ct_trace *trace, const struct ct_status *status,
				 struct ctrace_display *shown)
{
	char message[sizeof((struct ctrace_outcome *)0)->message] = "";
	struct ct_routine routine;
	struct ct_console console;
	struct ctrace_ctss ctss;

	if (trace->attributes.dispnam[0] == '\0' ||
	    !ct_routine_find(trace->attributes.dispnam, &routine, message, sizeof message))
		return;
	ct_change_fill(trace, status, CTRACE_CTSS_DISPLAY, &ctss);
	ctss.buffer_size = status->buffer_rounded;
	ct_console_open(&console, message, sizeof message);
	ctss.console = console.number;
	if (ct_routine_call(&routine, &ctss) == 0) {
		display_correct(shown, &ctss);
		memcpy(trace->userdata, ctss.userdata, sizeof trace->userdata);
		ct_trace_describe(trace);
	}
	ct_console_close(&console);
}

/* ---- both ---- */

/* Shows the tracer's own settings as options of the built-in start/stop routine (builtin.c);
 * none if they do not fit. */
static void display_set_own(struct ctrace_display *shown, const struct ct_configured *own)
{
	const char *mark = "DEST=(";
	struct ct_buf text;

	ct_buf_init(&text);
	if (own->level != CT_LEVEL_UNSET && own->level != CTRACE_LEVEL_NONE)
		ct_buf_add_format(&text, "LEVEL=%s", ct_level_name(own->level));
	for (uint32_t i = 0; i < CT_EMITTER_LIMIT; i++) {
		const struct ctrace_emitter *emitter =
			(own->dests & 1u << i) != 0 ? ct_emitter_at(i) : NULL;

		if (emitter == NULL)
			continue;
		if (mark[0] == 'D' && text.size != 0)
			ct_buf_add_char(&text, ',');
		ct_buf_add_text(&text, mark);
		ct_buf_add_text(&text, emitter->name);
		mark = ",";
	}
	if (mark[0] == ',')
		ct_buf_add_char(&text, ')');
	if (!text.failed && text.size < sizeof shown->options)
		memcpy(shown->options, ct_buf_text(&text), text.size);
	ct_buf_fini(&text);
}

static void display_set_tracer(struct ctrace_display *shown, uint32_t component)
{
	uint32_t level = __atomic_load_n(
		&ct_registry_entry(ct_process.registry, component)->level_word.level,
		__ATOMIC_RELAXED);
	struct ct_configured own = ct_registry_configured(ct_process.registry, component);
	uint32_t writer = own.writer;

	shown->mode = level == CTRACE_LEVEL_NONE ? CTRACE_MODE_OFF : CTRACE_MODE_ON;
	shown->buffer_asked = shown->buffer_rounded = own.buffer;
	shown->buffer_granted = shown->buffer_asked;
	shown->wtr = 1;
	display_set_own(shown, &own);
	if (writer != CT_WRITER_UNSET && writer != 0)
		memcpy(shown->writer, ct_process.session.head->writer[writer].name,
		       sizeof shown->writer - 1);
}

/* The ring size that the registry has for it or its head. */
static uint64_t trace_buffer_granted(const struct ct_trace *trace)
{
	while (trace->follows && trace->head != NULL)
		trace = trace->head;
	return ct_registry_configured(ct_process.registry, trace->component).buffer;
}

static void display_set_trace(struct ctrace_display *shown, struct ct_trace *trace, bool may_ask)
{
	struct ct_status status;

	ct_status_get(trace, &status);
	display_set_status(shown, &status);
	shown->buffer_granted = trace_buffer_granted(trace);
	display_set_attributes(shown, trace);
	shown->is_filtered = status.mode == CTRACE_MODE_ON && ct_status_is_excluded(&status);
	if (may_ask)
		display_call_routine(trace, &status, shown);
}

/* A routine may display the trace that it is called for, or one whose command waits for this
 * thread.  Nothing else can change that trace, so the known state is shown, without a routine.
 * A command that does not end may still change it: TIMED_OUT. */
static enum ctrace_status display_show(uint32_t component, struct ctrace_display *shown)
{
	enum ct_transaction_result result = CT_TRANSACTION_OK;
	struct ct_transaction transaction;
	struct ct_trace *trace;
	bool is_mine;

	ct_transaction_init(&transaction, "DISPLAY TRACE");
	ct_table_lock();
	trace = ct_table_find(component);
	is_mine = trace != NULL && ct_transaction_is_mine(trace);
	if (trace != NULL && !is_mine)
		result = ct_transaction_add(&transaction, trace);
	ct_table_unlock();
	if (result == CT_TRANSACTION_TIMED_OUT)
		return CTRACE_TIMED_OUT;
	if (trace != NULL && (trace->is_defined || is_mine))
		display_set_trace(shown, trace, result == CT_TRANSACTION_OK && !is_mine);
	else
		display_set_tracer(shown, component);
	ct_transaction_end(&transaction);
	return result == CT_TRANSACTION_NO_MEMORY ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
}

enum ctrace_status ctrace_component_display(const char *name, const char *sub,
					    struct ctrace_display *out)
{
	CT_CANCEL_OFF();
	struct ctrace_display shown = { 0 };
	int kept = errno;
	struct ct_path path;
	uint32_t component;
	enum ctrace_status status =
		out == NULL ? CTRACE_FAILURE : trace_find(name, sub, &path, &component);

	if (status == CTRACE_OK)
		status = display_show(component, &shown);
	if (status == CTRACE_OK) {
		shown.size = out->size;
		memcpy(out, &shown, out->size < sizeof shown ? out->size : sizeof shown);
	}
	errno = kept;
	return status;
}
