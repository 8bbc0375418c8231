/*
 * third_party_trace.c - the data that the streams of a third-party trace share: its metadata, the
 * first bytes of its packets, and its processes.
 *
 * Called by source_third_party.c, on the reader's thread.  The metadata may be hostile: their size
 * and all memory kept for them are bounded, and parts that are not understood are reported.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/third_party_parts.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIAGNOSTICS_SHOWN 8u
#define SOURCE_PROCESS_PLACES (2 * CT_THIRD_PARTY_SOURCE_PROCESSES)

struct ct_third_party_process {
	uint32_t pid;
	const struct ct_source_process *source_process; /* NULL: the slot is free */
};

/* -----------------------------------------------------------------------------------------------
 * The metadata
 */

struct diagnostics {
	struct ct_sources *sources;
	const char *path;
	unsigned count;
};

void ct_third_party_report(struct ct_sources *sources, const char *path, const char *message)
{
	struct ct_read_note note = { .kind = CT_NOTE_UNKNOWN, .path = path, .message = message };

	ct_sources_note(sources, &note);
}

static void report_diagnostic(const struct ct_diagnostic *diagnostic, struct ct_span piece,
			      void *user)
{
	struct diagnostics *diagnostics = user;
	char message[500];

	(void)piece;
	if (diagnostics->count++ >= DIAGNOSTICS_SHOWN)
		return;
	(void)snprintf(message, sizeof message, "line %u, column %u: " CT_DIAGNOSTIC_FORMAT,
		       diagnostic->line, diagnostic->column, CT_DIAGNOSTIC_TEXT(diagnostic));
	ct_third_party_report(diagnostics->sources, diagnostics->path, message);
}

/* Reports a ctrace trace whose part before the event classes was changed: it is not recognized as
 * one. */
static void report_if_ours(const struct ct_third_party_trace *trace, struct ct_sources *sources,
			   const struct ct_buf *text)
{
	/* a viewer that rewrites such a trace drops the names of types */
	static const char type[] = ":= ct_time48;";
	struct ct_trace_info info;
	size_t at = 0;

	if (text->size == 0 || memmem(text->data, text->size, type, sizeof type - 1) == NULL ||
	    ct_schema_parse_trace(text->data, text->size, &info, &at) == CTRACE_OK)
		return;
	ct_sources_damage(
		sources, trace->metadata_path, at, 0,
		"not as ctrace writes it, so times, levels and items may be wrong; ctrace repair makes a readable copy");
}

static enum ctrace_status read_metadata(struct ct_third_party_trace *trace,
					struct ct_sources *sources)
{
	struct diagnostics diagnostics = { .sources = sources, .path = trace->metadata_path };
	struct ct_buf bytes = { 0 }, text = { 0 };
	const char *message = NULL;
	enum ctrace_status status =
		ct_os_read_file(trace->metadata_path, CT_TSDL_TEXT_LIMIT, &bytes);

	if (status == CTRACE_OK)
		status = ct_tsdl_text(bytes.data, bytes.size, &text, &message);
	ct_buf_fini(&bytes);
	if (message != NULL)
		ct_third_party_report(sources, trace->metadata_path, message);
	report_if_ours(trace, sources, &text);
	if (status == CTRACE_OK || status == CTRACE_DAMAGED)
		status = ct_tsdl_parse(text.data, text.size, report_diagnostic, &diagnostics,
				       &trace->tsdl);
	ct_buf_fini(&text);
	return status;
}

/* Computes the first bytes of a packet with the usual header, by which packets are found again. */
static void packet_begin_find(struct ct_third_party_trace *trace)
{
	const struct ct_tsdl *tsdl = trace->tsdl;
	const struct ct_tsdl_type *header = tsdl->packet_header, *magic, *uuid;
	uint32_t bytes = CT_THIRD_PARTY_MAGIC;

	if (header == NULL || header->count == 0)
		return;
	magic = header->fields[0].type;
	if (strcmp(header->fields[0].name->text, "magic") != 0 || magic->kind != CT_TSDL_INTEGER ||
	    magic->size != 32)
		return;
	bytes = magic->order == CT_ORDER_BE || (magic->order == CT_ORDER_NATIVE && tsdl->is_big)
			? htobe32(bytes)
			: htole32(bytes);
	memcpy(trace->begin, &bytes, sizeof bytes);
	trace->has_magic = true;
	uuid = header->count > 1 ? header->fields[1].type : NULL;
	if (!tsdl->has_uuid || uuid == NULL || strcmp(header->fields[1].name->text, "uuid") != 0 ||
	    uuid->kind != CT_TSDL_ARRAY || uuid->length != 16 ||
	    uuid->element->kind != CT_TSDL_INTEGER || uuid->element->size != 8 || uuid->align > 32)
		return;
	memcpy(trace->begin + 4, tsdl->uuid, sizeof tsdl->uuid);
	trace->has_uuid = true;
}

/* -----------------------------------------------------------------------------------------------
 * Processes
 */

static const struct ct_source_process *source_process_make(const struct ct_third_party_trace *trace,
							   struct ct_sources *sources, uint32_t pid,
							   const char *program)
{
	const struct ct_tsdl *tsdl = trace->tsdl;
	uint32_t own = (uint32_t)ct_tsdl_env_number(tsdl, "vpid", 0);
	bool is_own = pid == own || pid == 0;
	struct ct_process_key key = {
		.host = ct_tsdl_env_text(tsdl, "hostname", ""),
		.program = program[0] != '\0' ? program
			   : is_own           ? ct_tsdl_env_text(tsdl, "procname", "")
					      : "",
		.jobname = ct_tsdl_env_text(tsdl, "jobname", ""),
		.path = trace->directory,
		.pid = pid != 0 ? pid : own,
		.asid = (uint32_t)ct_tsdl_env_number(tsdl, "asid", 0),
		.started_ns = is_own ? (uint64_t)ct_tsdl_env_number(tsdl, "start_ns", 0) : 0,
		.is_third_party = true,
		.is_big = tsdl->is_big,
	};

	return ct_sources_source_process(sources, &key);
}

const struct ct_source_process *
ct_third_party_trace_source_process(struct ct_third_party_trace *trace, struct ct_sources *sources,
				    uint32_t pid, const char *program)
{
	struct ct_third_party_process *process;
	uint32_t at = pid * 2654435761u;

	if (trace->processes == NULL)
		trace->processes = calloc(SOURCE_PROCESS_PLACES, sizeof *trace->processes);
	if (trace->processes == NULL)
		return trace->source_process;
	while (process = &trace->processes[at % SOURCE_PROCESS_PLACES],
	       process->source_process != NULL && process->pid != pid)
		at++;
	if (process->source_process == NULL) {
		const struct ct_source_process *source_process =
			trace->process_count < CT_THIRD_PARTY_SOURCE_PROCESSES
				? source_process_make(trace, sources, pid, program)
				: NULL;

		if (source_process == NULL)
			return trace->source_process;
		trace->process_count++;
		*process = (struct ct_third_party_process){ .pid = pid,
							    .source_process = source_process };
	}
	return process->source_process;
}

/* -----------------------------------------------------------------------------------------------
 * The trace
 */

void ct_third_party_trace_unref(struct ct_third_party_trace *trace)
{
	if (trace == NULL || --trace->users > 0)
		return;
	ct_third_party_classes_fini(trace);
	ct_third_party_tree_fini(&trace->tree);
	ct_tsdl_destroy(trace->tsdl);
	free(trace->headers);
	free(trace->contexts);
	free(trace->processes);
	free(trace->directory);
	free(trace->metadata_path);
	free(trace);
}

static enum ctrace_status trace_init(struct ct_third_party_trace *trace, struct ct_sources *sources,
				     const char *directory)
{
	enum ctrace_status status;

	trace->users = 1;
	trace->directory = strdup(directory);
	if (trace->directory == NULL ||
	    asprintf(&trace->metadata_path, "%s/metadata", directory) < 0)
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = read_metadata(trace, sources);
	if (status != CTRACE_OK)
		return status;
	trace->headers = calloc(trace->tsdl->stream_count, sizeof(struct ct_third_party_place *));
	trace->contexts = calloc(trace->tsdl->stream_count, sizeof(struct ct_third_party_place *));
	if (!ct_third_party_classes_init(trace) || trace->headers == NULL ||
	    trace->contexts == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	packet_begin_find(trace);
	trace->source_process = source_process_make(trace, sources, 0, "");
	return trace->source_process != NULL ? CTRACE_OK : CTRACE_NOT_ENOUGH_MEMORY;
}

enum ctrace_status ct_third_party_trace_open(struct ct_sources *sources, const char *directory,
					     struct ct_third_party_trace **out_trace)
{
	struct ct_third_party_trace *trace = calloc(1, sizeof *trace);
	enum ctrace_status status =
		trace != NULL ? trace_init(trace, sources, directory) : CTRACE_NOT_ENOUGH_MEMORY;

	if (status == CTRACE_OK)
		*out_trace = trace;
	else
		ct_third_party_trace_unref(trace);
	return status;
}
