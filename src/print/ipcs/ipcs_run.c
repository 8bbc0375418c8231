/*
 * ipcs_run.c - runs CTRACE and QUERY over a reader, or several CTRACEs merged over one reader each:
 * the entries, their order, and the calls of exits.
 *
 * Called by ctrace ipcs for each command, on its only thread.  Everything kept is bounded, but for
 * what readers keep themselves.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs_listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- exits: which is called first, and what their answers mean for the listing ----
 *
 * Exits are third-party code in this process: reader_exit.c calls them and checks their answers.  A
 * missing exit is reported once, at its first entry. */

static void print_exit_line(const char *text, size_t size, void *user)
{
	struct ct_ipcs_lister *lister = user;

	ct_ipcs_print_line(&lister->run->out, &lister->layout, text, size);
	ct_ipcs_offer(lister->run);
}

static struct ct_exit_context lister_context(struct ct_ipcs_lister *lister)
{
	return (struct ct_exit_context){ .options = lister->command->options,
					 .report = (int)lister->command->report,
					 .print = print_exit_line,
					 .user = lister };
}

static void report_not_loaded(struct ct_ipcs_lister *lister, const char *whose, const char *name)
{
	const char *values[] = { whose, name,
				 lister->run->output->linklist == NULL
					 ? ": CTRACE_LINKLIST is not set"
					 : " from CTRACE_LINKLIST" };

	ct_ipcs_report_message(lister, CT_ITT10005I, values);
}

static void component_exits_open(struct ct_ipcs_lister *lister, struct ct_ipcs_exits *exits)
{
	const struct ct_catalog_component *component = exits->component;
	const char *linklist = lister->run->output->linklist;

	if (component->filter != NULL) {
		exits->has_filter = ct_reader_exit_open(&exits->filter, CT_EXIT_FILTER, linklist,
							component->filter) == CTRACE_OK;
		if (!exits->has_filter)
			report_not_loaded(lister, "component", component->filter);
	}
	if (component->formatter != NULL) {
		exits->has_formatter = true;
		if (ct_reader_exit_open(&exits->formatter, CT_EXIT_FORMATTER, linklist,
					component->formatter) != CTRACE_OK)
			ct_ipcs_report_message(lister, CT_ITT10006I,
					       (const char *[]){ component->formatter });
	}
}

/* Returns NULL when the component has no exits. */
static struct ct_ipcs_exits *component_exits_find(struct ct_ipcs_lister *lister,
						  const struct ct_read_event *event)
{
	const struct ct_catalog_component *component = event->component;
	struct ct_ipcs_exits *exits;

	if (component == NULL || (component->filter == NULL && component->formatter == NULL))
		return NULL;
	for (uint32_t i = 0; i < lister->exit_count; i++)
		if (lister->exits[i].component == component)
			return &lister->exits[i];
	if (lister->exit_count == CT_IPCS_EXITS)
		return NULL;
	exits = &lister->exits[lister->exit_count++];
	*exits = (struct ct_ipcs_exits){ .component = component };
	component_exits_open(lister, exits);
	return exits;
}

static enum ct_exit_answer exit_call(struct ct_ipcs_lister *lister, struct ct_reader_exit *exit,
				     const char *whose, const struct ct_read_event *event)
{
	struct ct_exit_context context = lister_context(lister);
	enum ct_exit_answer answer = ct_reader_exit_call(exit, event, &context);
	char code[16];

	if (answer == CT_EXIT_UNDEFINED) {
		(void)snprintf(code, sizeof code, "%d", exit->answer);
		ct_ipcs_report_message(lister, CT_ITT10009I,
				       (const char *[]){ whose, exit->name, code });
	}
	if (answer == CT_EXIT_END) {
		ct_ipcs_report_message(lister, CT_ITT10008I, (const char *[]){ whose, exit->name });
		lister->is_terminated = true;
	}
	return answer;
}

/* Returns false when the user's exit is missing, so that the command cannot select; this is
 * reported. */
static bool exits_start(struct ct_ipcs_lister *lister)
{
	const struct ct_ipcs_command *command = lister->command;

	if (command->user_exit[0] == '\0')
		return true;
	if (ct_reader_exit_open(&lister->user_exit, CT_EXIT_FILTER, lister->run->output->linklist,
				command->user_exit) == CTRACE_OK)
		return true;
	report_not_loaded(lister, "user", command->user_exit);
	return false;
}

/* Calls the component's filter first, then the user's. */
static enum ct_exit_answer exits_filter(struct ct_ipcs_lister *lister,
					const struct ct_read_event *event)
{
	struct ct_ipcs_exits *exits = component_exits_find(lister, event);
	enum ct_exit_answer answer = CT_EXIT_SHOW;

	if (exits != NULL && exits->has_filter)
		answer = exit_call(lister, &exits->filter, "component", event);
	if (answer == CT_EXIT_SHOW || answer == CT_EXIT_UNDEFINED)
		answer = exit_call(lister, &lister->user_exit, "user", event);
	return answer;
}

/* Returns false when the component has no formatter. */
static bool exits_format(struct ct_ipcs_lister *lister, const struct ct_read_event *event,
			 enum ct_exit_answer *out_answer)
{
	struct ct_ipcs_exits *exits = component_exits_find(lister, event);

	if (exits == NULL || !exits->has_formatter)
		return false;
	*out_answer = exit_call(lister, &exits->formatter, "component", event);
	return true;
}

/* Calls each exit for the last time, unless one of them has ended the listing. */
static void exits_finish(struct ct_ipcs_lister *lister)
{
	struct ct_exit_context context = lister_context(lister);

	if (lister->is_terminated)
		return;
	for (uint32_t i = 0; i < lister->exit_count; i++)
		ct_reader_exit_finish(&lister->exits[i].filter, &context);
	ct_reader_exit_finish(&lister->user_exit, &context);
	for (uint32_t i = 0; i < lister->exit_count; i++)
		ct_reader_exit_finish(&lister->exits[i].formatter, &context);
}

static void exits_close(struct ct_ipcs_lister *lister)
{
	for (uint32_t i = 0; i < lister->exit_count; i++) {
		ct_reader_exit_close(&lister->exits[i].filter);
		ct_reader_exit_close(&lister->exits[i].formatter);
	}
	ct_reader_exit_close(&lister->user_exit);
}

#define TAG_WIDTH 4u

/* ---- the next entry of a command ---- */

static void lister_reset(struct ct_ipcs_lister *lister)
{
	ct_ipcs_traces_fini(&lister->traces);
	ct_ipcs_tallies_fini(&lister->tallies);
	lister->shown = lister->of_trace = lister->in_time = 0;
	lister->job->gap_count = 0;
	lister->job->more_gaps = (struct ct_ipcs_gap){ 0 };
	lister->run->has_heading = lister->run->is_merged && lister->run->has_heading;
}

static void lister_count(struct ct_ipcs_lister *lister, const struct ct_read_event *event,
			 enum ct_ipcs_choice choice)
{
	if (choice == CT_IPCS_OTHER_TRACE) {
		ct_ipcs_traces_note(&lister->traces, &event->traced);
		return;
	}
	if (lister->of_trace++ == 0)
		lister->first_ns = event->traced.time_ns;
	lister->last_ns = event->traced.time_ns;
	lister->in_time += choice != CT_IPCS_OTHER_TIME;
}

/* Returns true if all later events are too late, since events come in time order. */
static bool event_is_past(const struct ct_ipcs_lister *lister, const struct ct_read_event *event)
{
	return lister->command->has_stop && lister->in_time != 0 &&
	       event->traced.time_ns / 1000u > lister->command->stop_us;
}

static bool event_is_wanted(struct ct_ipcs_lister *lister, const struct ct_read_event *event)
{
	enum ct_ipcs_choice choice = ct_ipcs_select(lister->command, event);

	lister_count(lister, event, choice);
	if (choice >= CT_IPCS_NO_EXCEPTIONS)
		ct_ipcs_report_unsupported(lister, choice, event);
	return choice == CT_IPCS_CHOSEN;
}

static const struct ct_read_event *lister_next_event(const struct ct_ipcs_lister *lister)
{
	const struct ct_ipcs_output *output = lister->run->output;

	if (output->is_stopped != NULL && output->is_stopped(output->user))
		return NULL;
	return ct_reader_next(lister->job->reader);
}

/* Makes lister->next the next entry, or is_at_end true. */
static void lister_read_on(struct ct_ipcs_lister *lister)
{
	while (lister->next == NULL && !lister->is_at_end) {
		const struct ct_read_event *event = lister_next_event(lister);
		enum ct_exit_answer answer;

		if (event == NULL || event_is_past(lister, event)) {
			lister->is_at_end = true;
			return;
		}
		if (!event_is_wanted(lister, event))
			continue;
		answer = exits_filter(lister, event);
		if (answer == CT_EXIT_AGAIN) {
			lister_reset(lister);
			lister->is_at_end = ct_reader_rewind(lister->job->reader) != CTRACE_OK;
		} else if (answer == CT_EXIT_END) {
			lister->is_at_end = true;
		} else if (answer != CT_EXIT_HIDE) {
			lister->next = event;
		}
		ct_ipcs_offer(lister->run);
	}
}

/* ---- entries ---- */

static void print_heading(struct ct_ipcs_lister *lister, uint64_t time_ns)
{
	struct ct_ipcs_listing *run = lister->run;
	int64_t day = ct_ipcs_day(&lister->layout, time_ns);

	if (run->has_heading && day == run->day)
		return;
	if (run->has_heading && !run->is_spaced)
		ct_buf_add_char(&run->out, '\n');
	if (!run->has_heading && !run->is_merged)
		ct_ipcs_print_title(&run->out, lister->command);
	ct_ipcs_print_date(&run->out, &lister->layout, time_ns);
	ct_buf_add_char(&run->out, '\n');
	if (!run->has_heading) {
		ct_ipcs_print_heading(&run->out, &lister->layout);
		ct_buf_add_char(&run->out, '\n');
	}
	run->has_heading = true;
	run->day = day;
}

/* The lines below the entry's own. */
static void print_data(struct ct_ipcs_lister *lister, const struct ct_read_event *event)
{
	enum ct_exit_answer answer;

	if (exits_format(lister, event, &answer)) {
		lister->is_at_end |= answer == CT_EXIT_END;
		if (answer == CT_EXIT_HIDE || answer == CT_EXIT_UNDEFINED)
			ct_ipcs_print_full(&lister->run->out, &lister->layout, event);
	} else if (lister->command->report == CT_IPCS_SUMMARY) {
		ct_ipcs_print_summary(&lister->run->out, &lister->layout, event);
	} else {
		ct_ipcs_print_full(&lister->run->out, &lister->layout, event);
	}
}

static void print_entry(struct ct_ipcs_lister *lister, const struct ct_read_event *event)
{
	struct ct_ipcs_listing *run = lister->run;

	ct_ipcs_report_unknown(lister, event);
	print_heading(lister, event->traced.time_ns);
	ct_ipcs_print_entry(&run->out, &lister->layout, event);
	run->is_spaced = lister->command->report != CT_IPCS_SHORT;
	if (!run->is_spaced)
		return;
	ct_ipcs_print_elapsed(&run->out, &lister->layout, event);
	print_data(lister, event);
	ct_buf_add_char(&run->out, '\n');
}

static void lister_take(struct ct_ipcs_lister *lister)
{
	const struct ct_read_event *event = lister->next;

	lister->next = NULL;
	ct_ipcs_report_gaps(lister, event->traced.time_ns);
	if (lister->command->report == CT_IPCS_TALLY)
		ct_ipcs_tallies_note(&lister->tallies, event);
	else
		print_entry(lister, event);
	lister->shown++;
	if (lister->command->limit != 0 && lister->shown >= lister->command->limit)
		lister->is_at_end = true;
	ct_ipcs_offer(lister->run);
}

/* ---- the end ---- */

static void lister_end(struct ct_ipcs_lister *lister)
{
	struct ct_ipcs_listing *run = lister->run;

	ct_ipcs_report_last_gaps(lister);
	if (lister->command->report == CT_IPCS_TALLY && lister->shown != 0) {
		ct_ipcs_tallies_sort(&lister->tallies);
		if (run->is_merged)
			ct_buf_add_char(&run->out, '\n');
		ct_ipcs_print_title(&run->out, lister->command);
		ct_ipcs_print_date(&run->out,
				   &(struct ct_ipcs_layout){ .is_local = lister->layout.is_local },
				   lister->tallies.first_ns);
		ct_ipcs_print_tally(&run->out, &lister->tallies);
	}
	exits_finish(lister);
	if (lister->of_trace == 0 && !lister->is_terminated)
		ct_ipcs_report_no_trace(lister);
	else if (lister->in_time == 0 && !lister->is_terminated)
		ct_ipcs_report_no_time(lister);
}

/* ---- QUERY ---- */

static bool trace_is_asked_for(const struct ct_ipcs_command *command,
			       const struct ct_ipcs_trace *trace)
{
	if (command->component[0] == '\0')
		return true;
	if (command->sub[0] != '\0')
		return ct_ipcs_names(command->component, command->sub, trace->name,
				     trace->name_size);
	return ct_ipcs_names(command->component, "", trace->name, trace->name_size) ||
	       ct_ipcs_is_below(command, trace);
}

/* Prints how running processes have defined the trace. */
static void print_definitions(struct ct_ipcs_lister *lister, const struct ct_ipcs_trace *trace)
{
	const struct ct_ipcs_output *output = lister->run->output;
	uint32_t count = 0;

	for (uint32_t i = 0; i < output->definition_count; i++)
		count += ct_name_is(trace->name, trace->name_size, output->definitions[i].name);
	for (uint32_t i = 0; i < output->definition_count; i++)
		if (ct_name_is(trace->name, trace->name_size, output->definitions[i].name))
			ct_ipcs_print_definition(&lister->run->out, &output->definitions[i],
						 count > 1);
}

static void lister_note_traces(struct ct_ipcs_lister *lister)
{
	const struct ct_ipcs_output *output = lister->run->output;
	const struct ct_read_event *event;

	while ((event = lister_next_event(lister)) != NULL)
		ct_ipcs_traces_note(&lister->traces, &event->traced);
	for (uint32_t i = 0; i < output->definition_count; i++)
		ct_ipcs_traces_name(&lister->traces, output->definitions[i].name,
				    strlen(output->definitions[i].name));
}

static void run_query(struct ct_ipcs_lister *lister)
{
	const struct ct_ipcs_command *command = lister->command;

	lister_note_traces(lister);
	ct_ipcs_traces_sort(&lister->traces);
	for (uint32_t i = 0; i < lister->traces.count; i++) {
		const struct ct_ipcs_trace *trace = &lister->traces.at[i];

		if (!trace_is_asked_for(command, trace))
			continue;
		if (lister->shown++ == 0)
			ct_ipcs_print_query_title(&lister->run->out);
		ct_ipcs_print_query(&lister->run->out, trace, command->component[0] != '\0',
				    command->is_local);
		if (command->component[0] != '\0')
			print_definitions(lister, trace);
		ct_ipcs_offer(lister->run);
	}
	if (lister->traces.others != 0)
		ct_buf_add_format(&lister->run->out, " AND MORE TRACES, WITH %" PRIu64 " ENTRIES\n",
				  lister->traces.others);
	ct_ipcs_report_last_gaps(lister);
	if (lister->shown == 0 && command->component[0] != '\0')
		ct_ipcs_report_no_trace(lister);
}

/* ---- the run ---- */

/* Returns true if the traces are of more than one system. */
static bool reader_has_systems(const struct ct_reader *reader)
{
	const struct ct_source_process *first = ct_reader_source_process(reader, 0);
	const struct ct_source_process *source_process;

	for (size_t i = 1; (source_process = ct_reader_source_process(reader, i)) != NULL; i++)
		if (strcmp(source_process->host, first->host) != 0)
			return true;
	return false;
}

static void run_fini(struct ct_ipcs_listing *run)
{
	for (size_t i = 0; i < run->count; i++) {
		struct ct_ipcs_lister *lister = &run->listers[i];

		ct_ipcs_traces_fini(&lister->traces);
		ct_ipcs_tallies_fini(&lister->tallies);
		exits_close(lister);
	}
	free(run->listers);
	ct_buf_fini(&run->out);
}

static bool run_init(struct ct_ipcs_listing *run, struct ct_ipcs_job *const *jobs)
{
	bool has_sysname = false;

	ct_buf_init(&run->out);
	run->listers = calloc(run->count, sizeof *run->listers);
	if (run->listers == NULL)
		return false;
	for (size_t i = 0; i < run->count; i++)
		has_sysname |=
			jobs[i]->command->sysname[0] != '\0' || reader_has_systems(jobs[i]->reader);
	for (size_t i = 0; i < run->count; i++)
		run->listers[i] = (struct ct_ipcs_lister){
			.run = run,
			.job = jobs[i],
			.command = jobs[i]->command,
			.layout = {
				.has_sysname = has_sysname,
				.is_local = jobs[i]->command->is_local,
				.tag = run->is_merged ? (unsigned)i + 1 : 0,
				.indent = run->is_merged ? TAG_WIDTH : 0,
			},
		};
	return true;
}

static void print_merged(struct ct_ipcs_listing *run)
{
	struct ct_buf text;

	ct_buf_add_text(&run->out, "********** MERGED TRACES ***********\n");
	for (size_t i = 0; i < run->count; i++) {
		ct_buf_init(&text);
		ct_ipcs_text_add(&text, run->listers[i].command);
		ct_buf_add_format(&run->out, "%02u. ", (unsigned)i + 1);
		ct_ipcs_add_plain(&run->out, text.data, text.size);
		ct_buf_add_char(&run->out, '\n');
		ct_buf_fini_into(&text, &run->out);
	}
	ct_buf_add_char(&run->out, '\n');
}

/* Returns the lister with the earliest entry, the first of several; NULL when there is none
 * left. */
static struct ct_ipcs_lister *lister_earliest(struct ct_ipcs_listing *run)
{
	struct ct_ipcs_lister *found = NULL;

	for (size_t i = 0; i < run->count; i++) {
		struct ct_ipcs_lister *lister = &run->listers[i];

		lister_read_on(lister);
		if (lister->next != NULL &&
		    (found == NULL || lister->next->traced.time_ns < found->next->traced.time_ns))
			found = lister;
	}
	return found;
}

static bool lister_is_without_entries(const struct ct_ipcs_listing *run)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->listers[i].shown != 0 || run->listers[i].is_terminated)
			return false;
	return true;
}

static void listers_run(struct ct_ipcs_listing *run)
{
	struct ct_ipcs_lister *lister;

	if (run->is_merged)
		print_merged(run);
	for (size_t i = 0; i < run->count; i++)
		run->listers[i].is_at_end = run->listers[i].is_terminated =
			!exits_start(&run->listers[i]);
	while ((lister = lister_earliest(run)) != NULL)
		lister_take(lister);
	if (run->output->is_narrowed && lister_is_without_entries(run)) {
		ct_buf_clear(&run->out);
		return;
	}
	for (size_t i = 0; i < run->count; i++)
		lister_end(&run->listers[i]);
}

enum ctrace_status ct_ipcs_run(struct ct_ipcs_job *const *jobs, size_t count_of_jobs,
			       bool is_merged, const struct ct_ipcs_output *output,
			       uint64_t *out_shown)
{
	struct ct_ipcs_listing run = { .output = output,
				       .count = count_of_jobs,
				       .is_merged = is_merged };
	enum ctrace_status status = CTRACE_OK;
	uint64_t shown = 0;
	bool has_failed = false;

	if (!run_init(&run, jobs))
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (jobs[0]->command->verb == CT_IPCS_QUERY)
		run_query(&run.listers[0]);
	else
		listers_run(&run);
	for (size_t i = 0; i < run.count; i++) {
		shown += run.listers[i].shown;
		has_failed |= run.listers[i].traces.has_failed || run.listers[i].tallies.has_failed;
	}
	if (run.out.failed || has_failed)
		status = CTRACE_NOT_ENOUGH_MEMORY;
	else if (shown == 0)
		status = CTRACE_NOT_FOUND;
	ct_ipcs_flush(&run);
	run_fini(&run);
	*out_shown = shown;
	return status;
}
