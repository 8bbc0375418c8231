/*
 * ipcs_report.c - messages within a listing: losses at their time, unknown entries, and why nothing
 * was shown.
 *
 * Called by ipcs_run.c, on its thread; ct_ipcs_note() by the reader, while ipcs_run.c asks it for
 * the next event.  All state is bounded, and losses beyond the bound are reported as a total.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs_listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OUT_ENOUGH 32768u
#define NAMES_SHOWN 10u /* of existing traces */

void ct_ipcs_flush(struct ct_ipcs_listing *run)
{
	if (run->out.size != 0)
		run->output->write(run->out.data, run->out.size, run->output->user);
	ct_buf_clear(&run->out);
}

void ct_ipcs_offer(struct ct_ipcs_listing *run)
{
	if (run->out.size >= OUT_ENOUGH)
		ct_ipcs_flush(run);
}

void ct_ipcs_report_message(struct ct_ipcs_lister *lister, enum ct_ipcs_message id,
			    const char *const *values)
{
	if (lister->layout.tag != 0)
		ct_buf_add_format(&lister->run->out, "%02u. ", lister->layout.tag);
	ct_ipcs_message_add(&lister->run->out, id, values);
	ct_buf_add_char(&lister->run->out, '\n');
}

/* ---- losses ---- */

static bool gap_is_same(const struct ct_ipcs_gap *gap, const struct ct_read_note *note)
{
	return gap->from_ns == note->to_ns &&
	       strncmp(gap->path, note->path, sizeof gap->path - 1) == 0;
}

void ct_ipcs_note(const struct ct_read_note *note, void *user)
{
	struct ct_ipcs_job *job = user;
	struct ct_ipcs_gap *gap = &job->more_gaps;

	if (job->also != NULL)
		job->also(note, job->also_user);
	if (note->kind != CT_NOTE_MISSING && note->kind != CT_NOTE_LOST)
		return;
	if (note->source_process != NULL &&
	    !ct_ipcs_is_of_system(job->command, note->source_process))
		return;
	if (job->gap_count != 0 && gap_is_same(&job->gaps[job->gap_count - 1], note)) {
		gap = &job->gaps[job->gap_count - 1];
	} else if (job->gap_count < CT_IPCS_GAPS) {
		gap = &job->gaps[job->gap_count++];
		*gap = (struct ct_ipcs_gap){ .from_ns = note->to_ns };
		(void)snprintf(gap->path, sizeof gap->path, "%s", note->path);
	}
	if (note->kind == CT_NOTE_MISSING)
		gap->packets += note->events;
	else
		gap->events += note->events;
}

static void report_gap(struct ct_ipcs_lister *lister, const struct ct_ipcs_gap *gap)
{
	char what[80];
	const char *values[] = { what, gap->path };

	if (gap->packets != 0 && gap->events != 0)
		(void)snprintf(what, sizeof what, "%" PRIu64 " packets and %" PRIu64 " events",
			       gap->packets, gap->events);
	else
		(void)snprintf(what, sizeof what, "%" PRIu64 " %s%s", gap->packets + gap->events,
			       gap->packets != 0 ? "packet" : "event",
			       gap->packets + gap->events == 1 ? "" : "s");
	ct_ipcs_report_message(lister, CT_ITT10016I, values);
}

void ct_ipcs_report_gaps(struct ct_ipcs_lister *lister, uint64_t time_ns)
{
	struct ct_ipcs_job *job = lister->job;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < job->gap_count; i++) {
		if (job->gaps[i].from_ns > time_ns)
			job->gaps[kept++] = job->gaps[i];
		else
			report_gap(lister, &job->gaps[i]);
	}
	job->gap_count = kept;
}

void ct_ipcs_report_last_gaps(struct ct_ipcs_lister *lister)
{
	struct ct_ipcs_job *job = lister->job;

	ct_ipcs_report_gaps(lister, UINT64_MAX);
	if (job->more_gaps.packets + job->more_gaps.events == 0)
		return;
	(void)snprintf(job->more_gaps.path, sizeof job->more_gaps.path, "several places");
	report_gap(lister, &job->more_gaps);
	job->more_gaps = (struct ct_ipcs_gap){ 0 };
}

/* ---- what is not known ---- */

void ct_ipcs_report_unsupported(struct ct_ipcs_lister *lister, enum ct_ipcs_choice choice,
				const struct ct_read_event *event)
{
	const char *what = choice == CT_IPCS_NO_EXCEPTIONS ? "EXCEPTION"
			   : choice == CT_IPCS_NO_ASID     ? "ASID"
							   : "JOBNAME";

	if ((lister->unsupported & 1u << choice) != 0)
		return;
	lister->unsupported |= 1u << choice;
	ct_ipcs_report_message(lister, CT_ITT10007I,
			       (const char *[]){ what, event->traced.component });
}

static bool id_is_reported(struct ct_ipcs_lister *lister, uint32_t id)
{
	for (uint32_t i = 0; i < lister->unknown_count; i++)
		if (lister->unknown[i] == id)
			return true;
	if (lister->unknown_count == CT_IPCS_UNKNOWN)
		return true;
	lister->unknown[lister->unknown_count++] = id;
	return false;
}

/* " SUB((Y))" */
static void print_sub(char *out, size_t size, const char *sub)
{
	out[0] = '\0';
	if (sub[0] != '\0')
		(void)snprintf(out, size, " SUB((%s))", sub);
}

/* " nor for MYFMT, which its FMTTAB names (--catalog, CTRACE_CATALOG)" */
static void print_format_table(char *out, size_t size, const struct ctrace_definition *definition)
{
	out[0] = '\0';
	if (definition != NULL && definition->fmttab[0] != '\0')
		(void)snprintf(out, size,
			       " nor for %s, which its FMTTAB names (--catalog, CTRACE_CATALOG)",
			       definition->fmttab);
}

void ct_ipcs_report_unknown(struct ct_ipcs_lister *lister, const struct ct_read_event *event)
{
	const struct ct_ipcs_command *command = lister->command;
	char sub[CTRACE_MAX_COMPONENT + 16], id[9], table[80];

	if (event->component != NULL && event->type == NULL &&
	    !id_is_reported(lister, event->traced.event_id)) {
		(void)snprintf(id, sizeof id, "%08X", event->traced.event_id);
		ct_ipcs_report_message(lister, CT_ITT10010I, (const char *[]){ id });
	}
	if (event->component != NULL || event->names != NULL || command->report == CT_IPCS_SHORT ||
	    lister->has_reported_no_catalog)
		return;
	lister->has_reported_no_catalog = true;
	print_sub(sub, sizeof sub, command->sub);
	print_format_table(table, sizeof table, event->definition);
	ct_ipcs_report_message(lister, CT_ITT10013I,
			       (const char *[]){ command->component, sub, table });
}

/* ---- why nothing was shown ---- */

static void add_trace_name(struct ct_buf *list, const struct ct_ipcs_trace *trace)
{
	size_t head = ct_ipcs_head_size(trace->name, trace->name_size);

	ct_buf_add_text(list, "COMP(");
	ct_buf_add(list, trace->name, head);
	ct_buf_add_char(list, ')');
	if (head < trace->name_size) {
		ct_buf_add_text(list, " SUB((");
		ct_buf_add(list, trace->name + head + 1, trace->name_size - head - 1);
		ct_buf_add_text(list, "))");
	}
}

/* Lists all traces, or those below the selected one.  Returns how many. */
static uint32_t list_traces(const struct ct_ipcs_lister *lister, bool is_of_those_below,
			    struct ct_buf *list)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < lister->traces.count; i++) {
		const struct ct_ipcs_trace *trace = &lister->traces.at[i];

		if (is_of_those_below && !ct_ipcs_is_below(lister->command, trace))
			continue;
		if (found++ >= NAMES_SHOWN)
			continue;
		if (found > 1)
			ct_buf_add_text(list, ", ");
		add_trace_name(list, trace);
	}
	if (found > NAMES_SHOWN)
		ct_buf_add_format(list, " and %u more", found - NAMES_SHOWN);
	return found;
}

/* Returns true if a running process has defined the trace, and all that it traced is delivered. */
static bool trace_is_defined(const struct ct_ipcs_lister *lister)
{
	const struct ct_ipcs_command *command = lister->command;
	const struct ct_ipcs_output *output = lister->run->output;

	for (uint32_t i = 0; i < output->definition_count; i++)
		if (ct_ipcs_names(command->component, command->sub, output->definitions[i].name,
				  strlen(output->definitions[i].name)))
			return true;
	return false;
}

void ct_ipcs_report_no_trace(struct ct_ipcs_lister *lister)
{
	const struct ct_ipcs_command *command = lister->command;
	char sub[CTRACE_MAX_COMPONENT + 16];
	struct ct_buf list;

	print_sub(sub, sizeof sub, command->sub);
	ct_ipcs_traces_sort(&lister->traces);
	ct_buf_init(&list);
	ct_buf_add_text(&list, "; there are: ");
	if (list_traces(lister, true, &list) != 0 || trace_is_defined(lister)) {
		if (trace_is_defined(lister))
			ct_buf_clear(&list);
		ct_ipcs_report_message(
			lister, CT_ITT10003I,
			(const char *[]){ command->component, sub, ct_buf_text(&list) });
		ct_buf_fini(&list);
		return;
	}
	if (list_traces(lister, false, &list) == 0) {
		ct_buf_clear(&list);
		ct_buf_add_text(&list, ": the input has no entries");
	}
	ct_ipcs_report_message(lister, CT_ITT10015I,
			       (const char *[]){ command->component, sub, ct_buf_text(&list) });
	ct_buf_fini(&list);
}

void ct_ipcs_report_no_time(struct ct_ipcs_lister *lister)
{
	struct ct_buf from, to;

	ct_buf_init(&from);
	ct_buf_init(&to);
	ct_ipcs_print_time(&from, lister->first_ns, lister->layout.is_local);
	ct_ipcs_print_time(&to, lister->last_ns, lister->layout.is_local);
	ct_ipcs_report_message(lister, CT_ITT10012I,
			       (const char *[]){ ct_buf_text(&from), ct_buf_text(&to) });
	ct_buf_fini(&from);
	ct_buf_fini(&to);
}
