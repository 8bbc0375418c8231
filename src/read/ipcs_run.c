/*
 * ipcs_run.c - runs CTRACE and QUERY over a reader, or several CTRACEs merged over one reader each.
 *
 * Called by ctrace ipcs for each command, on its only thread.  What is said about a listing stands in it, where its cause is.  Everything
 * kept is bounded, but for what readers keep themselves.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/ipcs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT_ENOUGH 32768u
#define COMPONENTS 16u  /* whose exits are kept */
#define UNKNOWN_IDS 64u /* that are told */
#define NAMES_TOLD 10u  /* of traces that there are */
#define TAG_WIDTH 4u

struct run;

/* The exits of one component's catalogue. */
struct component_exits {
	const struct ct_catalog_component *component;
	struct ct_reader_exit filter;
	struct ct_reader_exit formatter;
	bool has_filter, has_formatter;
};

/* One command that is being listed. */
struct lister {
	struct run *run;
	struct ct_ipcs_job *job;
	const struct ct_ipcs_command *command;
	struct ct_ipcs_layout layout;
	const struct ct_view *next; /* the entry to be listed; NULL: read on */
	bool is_at_end;
	bool is_terminated; /* by an exit */
	uint64_t shown;
	uint64_t of_trace;          /* events of the trace that is meant */
	uint64_t first_ns, last_ns; /* of them */
	uint64_t in_time;           /* of them */
	struct ct_ipcs_traces traces;
	struct ct_ipcs_tallies tallies;
	struct component_exits exits[COMPONENTS];
	uint32_t exit_count;
	struct ct_reader_exit user_exit;
	uint32_t unknown[UNKNOWN_IDS];
	uint32_t unknown_count;
	unsigned unsupported; /* a bit for each choice that ITT10007I was said for */
	bool has_told_no_catalog;
};

struct run {
	const struct ct_ipcs_output *output;
	struct ct_buf out;
	struct lister *listers;
	size_t count;
	bool is_merged;
	bool has_heading;
	bool is_spaced; /* the last line is empty */
	int64_t day;    /* of the last date line */
};

/* ---- output ---- */

static void flush(struct run *run)
{
	if (run->out.size != 0)
		run->output->write(run->out.data, run->out.size, run->output->user);
	ct_buf_clear(&run->out);
}

static void offer(struct run *run)
{
	if (run->out.size >= OUT_ENOUGH)
		flush(run);
}

static void say(struct lister *lister, enum ct_ipcs_message id, const char *const *values)
{
	if (lister->layout.tag != 0)
		ct_buf_add_format(&lister->run->out, "%02u. ", lister->layout.tag);
	ct_ipcs_message_add(&lister->run->out, id, values);
	ct_buf_add_char(&lister->run->out, '\n');
}

static void print_exit_line(const char *text, size_t size, void *user)
{
	struct lister *lister = user;

	ct_ipcs_print_line(&lister->run->out, &lister->layout, text, size);
	offer(lister->run);
}

/* ---- losses ---- */

static bool is_same_gap(const struct ct_ipcs_gap *gap, const struct ct_read_note *note)
{
	return gap->from_ns == note->to_ns && strncmp(gap->path, note->path, sizeof gap->path - 1) == 0;
}

void ct_ipcs_note(const struct ct_read_note *note, void *user)
{
	struct ct_ipcs_job *job = user;
	struct ct_ipcs_gap *gap = &job->more_gaps;

	if (job->also != NULL)
		job->also(note, job->also_user);
	if (note->trouble != CT_TROUBLE_MISSING && note->trouble != CT_TROUBLE_LOST)
		return;
	if (note->origin != NULL && !ct_ipcs_is_of_system(job->command, note->origin))
		return;
	if (job->gap_count != 0 && is_same_gap(&job->gaps[job->gap_count - 1], note)) {
		gap = &job->gaps[job->gap_count - 1];
	} else if (job->gap_count < CT_IPCS_GAPS) {
		gap = &job->gaps[job->gap_count++];
		*gap = (struct ct_ipcs_gap){ .from_ns = note->to_ns };
		(void)snprintf(gap->path, sizeof gap->path, "%s", note->path);
	}
	if (note->trouble == CT_TROUBLE_MISSING)
		gap->packets += note->events;
	else
		gap->events += note->events;
}

static void say_gap(struct lister *lister, const struct ct_ipcs_gap *gap)
{
	char what[80];
	const char *values[] = { what, gap->path };

	if (gap->packets != 0 && gap->events != 0)
		(void)snprintf(what, sizeof what, "%" PRIu64 " packets and %" PRIu64 " events", gap->packets, gap->events);
	else
		(void)snprintf(what, sizeof what, "%" PRIu64 " %s%s", gap->packets + gap->events,
			       gap->packets != 0 ? "packet" : "event", gap->packets + gap->events == 1 ? "" : "s");
	say(lister, CT_ITT10016I, values);
}

/* Those before this time. */
static void say_gaps(struct lister *lister, uint64_t time_ns)
{
	struct ct_ipcs_job *job = lister->job;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < job->gap_count; i++) {
		if (job->gaps[i].from_ns > time_ns)
			job->gaps[kept++] = job->gaps[i];
		else
			say_gap(lister, &job->gaps[i]);
	}
	job->gap_count = kept;
}

static void say_last_gaps(struct lister *lister)
{
	struct ct_ipcs_job *job = lister->job;

	say_gaps(lister, UINT64_MAX);
	if (job->more_gaps.packets + job->more_gaps.events == 0)
		return;
	(void)snprintf(job->more_gaps.path, sizeof job->more_gaps.path, "several places");
	say_gap(lister, &job->more_gaps);
	job->more_gaps = (struct ct_ipcs_gap){ 0 };
}

/* ---- exits ---- */

static struct ct_exit_context context_of(struct lister *lister)
{
	return (struct ct_exit_context){
		.options = lister->command->options, .report = (int)lister->command->report, .print = print_exit_line, .user = lister
	};
}

static void say_not_loaded(struct lister *lister, const char *whose, const char *name)
{
	const char *values[] = { whose, name,
				 lister->run->output->linklist == NULL ? ": CTRACE_LINKLIST is not set" : " from CTRACE_LINKLIST" };

	say(lister, CT_ITT10005I, values);
}

static void open_component_exits(struct lister *lister, struct component_exits *exits)
{
	const struct ct_catalog_component *component = exits->component;
	const char *linklist = lister->run->output->linklist;

	if (component->filter != NULL) {
		exits->has_filter = ct_reader_exit_open(&exits->filter, CT_EXIT_FILTER, linklist, component->filter) == CTRACE_OK;
		if (!exits->has_filter)
			say_not_loaded(lister, "component", component->filter);
	}
	if (component->formatter != NULL) {
		exits->has_formatter = true;
		if (ct_reader_exit_open(&exits->formatter, CT_EXIT_FORMATTER, linklist, component->formatter) != CTRACE_OK)
			say(lister, CT_ITT10006I, (const char *[]){ component->formatter });
	}
}

/* NULL: its component has none. */
static struct component_exits *exits_of(struct lister *lister, const struct ct_view *view)
{
	const struct ct_catalog_component *component = view->component;
	struct component_exits *exits;

	if (component == NULL || (component->filter == NULL && component->formatter == NULL))
		return NULL;
	for (uint32_t i = 0; i < lister->exit_count; i++)
		if (lister->exits[i].component == component)
			return &lister->exits[i];
	if (lister->exit_count == COMPONENTS)
		return NULL;
	exits = &lister->exits[lister->exit_count++];
	*exits = (struct component_exits){ .component = component };
	open_component_exits(lister, exits);
	return exits;
}

static enum ct_exit_answer ask(struct lister *lister, struct ct_reader_exit *exit, const char *whose, const struct ct_view *view)
{
	struct ct_exit_context context = context_of(lister);
	enum ct_exit_answer answer = ct_reader_exit_call(exit, view, &context);
	char code[16];

	if (answer == CT_EXIT_UNDEFINED) {
		(void)snprintf(code, sizeof code, "%d", exit->answer);
		say(lister, CT_ITT10009I, (const char *[]){ whose, exit->name, code });
	}
	if (answer == CT_EXIT_END) {
		say(lister, CT_ITT10008I, (const char *[]){ whose, exit->name });
		lister->is_terminated = true;
	}
	return answer;
}

/* The component's first, then the user's. */
static enum ct_exit_answer ask_filters(struct lister *lister, const struct ct_view *view)
{
	struct component_exits *exits = exits_of(lister, view);
	enum ct_exit_answer answer = CT_EXIT_SHOW;

	if (exits != NULL && exits->has_filter)
		answer = ask(lister, &exits->filter, "component", view);
	if (answer == CT_EXIT_SHOW || answer == CT_EXIT_UNDEFINED)
		answer = ask(lister, &lister->user_exit, "user", view);
	return answer;
}

static void finish_exits(struct lister *lister)
{
	struct ct_exit_context context = context_of(lister);

	if (lister->is_terminated)
		return;
	for (uint32_t i = 0; i < lister->exit_count; i++)
		ct_reader_exit_finish(&lister->exits[i].filter, &context);
	ct_reader_exit_finish(&lister->user_exit, &context);
	for (uint32_t i = 0; i < lister->exit_count; i++)
		ct_reader_exit_finish(&lister->exits[i].formatter, &context);
}

/* ---- the next entry of a command ---- */

static void forget(struct lister *lister)
{
	ct_ipcs_traces_fini(&lister->traces);
	ct_ipcs_tallies_clear(&lister->tallies);
	lister->shown = lister->of_trace = lister->in_time = 0;
	lister->job->gap_count = 0;
	lister->job->more_gaps = (struct ct_ipcs_gap){ 0 };
	lister->run->has_heading = lister->run->is_merged && lister->run->has_heading;
}

static void say_unsupported(struct lister *lister, enum ct_ipcs_choice choice, const struct ct_view *view)
{
	const char *what = choice == CT_IPCS_NO_EXCEPTIONS ? "EXCEPTION" : choice == CT_IPCS_NO_ASID ? "ASID" : "JOBNAME";

	if ((lister->unsupported & 1u << choice) != 0)
		return;
	lister->unsupported |= 1u << choice;
	say(lister, CT_ITT10007I, (const char *[]){ what, view->event.component });
}

static void count(struct lister *lister, const struct ct_view *view, enum ct_ipcs_choice choice)
{
	if (choice == CT_IPCS_OTHER_TRACE) {
		ct_ipcs_traces_note(&lister->traces, &view->event);
		return;
	}
	if (lister->of_trace++ == 0)
		lister->first_ns = view->event.time_ns;
	lister->last_ns = view->event.time_ns;
	lister->in_time += choice != CT_IPCS_OTHER_TIME;
}

/* Is everything that follows too late?  What is read is in time order. */
static bool is_past(const struct lister *lister, const struct ct_view *view)
{
	return lister->command->has_stop && lister->in_time != 0 && view->event.time_ns / 1000u > lister->command->stop_us;
}

static bool is_wanted(struct lister *lister, const struct ct_view *view)
{
	enum ct_ipcs_choice choice = ct_ipcs_select(lister->command, view);

	count(lister, view, choice);
	if (choice >= CT_IPCS_NO_EXCEPTIONS)
		say_unsupported(lister, choice, view);
	return choice == CT_IPCS_CHOSEN;
}

static const struct ct_view *next_view(const struct lister *lister)
{
	const struct ct_ipcs_output *output = lister->run->output;

	if (output->is_stopped != NULL && output->is_stopped(output->user))
		return NULL;
	return ct_reader_next(lister->job->reader);
}

/* Makes lister->next the next entry, or is_at_end true. */
static void read_on(struct lister *lister)
{
	while (lister->next == NULL && !lister->is_at_end) {
		const struct ct_view *view = next_view(lister);
		enum ct_exit_answer answer;

		if (view == NULL || is_past(lister, view)) {
			lister->is_at_end = true;
			return;
		}
		if (!is_wanted(lister, view))
			continue;
		answer = ask_filters(lister, view);
		if (answer == CT_EXIT_AGAIN) {
			forget(lister);
			lister->is_at_end = ct_reader_rewind(lister->job->reader) != CTRACE_OK;
		} else if (answer == CT_EXIT_END) {
			lister->is_at_end = true;
		} else if (answer != CT_EXIT_HIDE) {
			lister->next = view;
		}
		offer(lister->run);
	}
}

/* ---- entries ---- */

static bool has_told_id(struct lister *lister, uint32_t id)
{
	for (uint32_t i = 0; i < lister->unknown_count; i++)
		if (lister->unknown[i] == id)
			return true;
	if (lister->unknown_count == UNKNOWN_IDS)
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

static void say_what_is_unknown(struct lister *lister, const struct ct_view *view)
{
	const struct ct_ipcs_command *command = lister->command;
	char sub[CTRACE_MAX_COMPONENT + 16], id[9];

	if (view->component != NULL && view->type == NULL && !has_told_id(lister, view->event.event_id)) {
		(void)snprintf(id, sizeof id, "%08X", view->event.event_id);
		say(lister, CT_ITT10010I, (const char *[]){ id });
	}
	if (view->component != NULL || view->names != NULL || command->report == CT_IPCS_SHORT || lister->has_told_no_catalog)
		return;
	lister->has_told_no_catalog = true;
	print_sub(sub, sizeof sub, command->sub);
	say(lister, CT_ITT10013I, (const char *[]){ command->component, sub });
}

static void print_heading(struct lister *lister, uint64_t time_ns)
{
	struct run *run = lister->run;
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
static void print_data(struct lister *lister, const struct ct_view *view)
{
	struct component_exits *exits = exits_of(lister, view);

	if (exits != NULL && exits->has_formatter) {
		enum ct_exit_answer answer = ask(lister, &exits->formatter, "component", view);

		lister->is_at_end |= answer == CT_EXIT_END;
		if (answer == CT_EXIT_HIDE || answer == CT_EXIT_UNDEFINED)
			ct_ipcs_print_full(&lister->run->out, &lister->layout, view);
	} else if (lister->command->report == CT_IPCS_SUMMARY) {
		ct_ipcs_print_summary(&lister->run->out, &lister->layout, view);
	} else {
		ct_ipcs_print_full(&lister->run->out, &lister->layout, view);
	}
}

static void print_entry(struct lister *lister, const struct ct_view *view)
{
	struct run *run = lister->run;

	say_what_is_unknown(lister, view);
	print_heading(lister, view->event.time_ns);
	ct_ipcs_print_entry(&run->out, &lister->layout, view);
	run->is_spaced = lister->command->report != CT_IPCS_SHORT;
	if (!run->is_spaced)
		return;
	ct_ipcs_print_elapsed(&run->out, &lister->layout, view);
	print_data(lister, view);
	ct_buf_add_char(&run->out, '\n');
}

static void take(struct lister *lister)
{
	const struct ct_view *view = lister->next;

	lister->next = NULL;
	say_gaps(lister, view->event.time_ns);
	if (lister->command->report == CT_IPCS_TALLY)
		ct_ipcs_tallies_note(&lister->tallies, view);
	else
		print_entry(lister, view);
	lister->shown++;
	if (lister->command->limit != 0 && lister->shown >= lister->command->limit)
		lister->is_at_end = true;
	offer(lister->run);
}

/* ---- the end ---- */

/* Is this trace a sublevel, at any depth, of what is meant? */
static bool is_below(const struct ct_ipcs_command *command, const struct ct_ipcs_trace *trace)
{
	for (size_t size = 0; size < trace->name_size; size++)
		if (trace->name[size] == '.' && ct_ipcs_names(command->component, command->sub, trace->name, size))
			return true;
	return false;
}

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

/* Those that there are, or those below what is meant; how many. */
static uint32_t list_traces(const struct lister *lister, bool is_of_those_below, struct ct_buf *list)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < lister->traces.count; i++) {
		const struct ct_ipcs_trace *trace = &lister->traces.at[i];

		if (is_of_those_below && !is_below(lister->command, trace))
			continue;
		if (found++ >= NAMES_TOLD)
			continue;
		if (found > 1)
			ct_buf_add_text(list, ", ");
		add_trace_name(list, trace);
	}
	if (found > NAMES_TOLD)
		ct_buf_add_format(list, " and %u more", found - NAMES_TOLD);
	return found;
}

static void say_no_trace(struct lister *lister)
{
	const struct ct_ipcs_command *command = lister->command;
	char sub[CTRACE_MAX_COMPONENT + 16];
	struct ct_buf list;

	print_sub(sub, sizeof sub, command->sub);
	ct_ipcs_traces_sort(&lister->traces);
	ct_buf_init(&list);
	if (list_traces(lister, true, &list) != 0) {
		say(lister, CT_ITT10003I, (const char *[]){ command->component, sub, ct_buf_text(&list) });
		ct_buf_fini(&list);
		return;
	}
	ct_buf_add_text(&list, "; there are: ");
	if (list_traces(lister, false, &list) == 0) {
		ct_buf_clear(&list);
		ct_buf_add_text(&list, ": the input has no entries");
	}
	say(lister, CT_ITT10015I, (const char *[]){ command->component, sub, ct_buf_text(&list) });
	ct_buf_fini(&list);
}

static void say_no_time(struct lister *lister)
{
	struct ct_buf from, to;

	ct_buf_init(&from);
	ct_buf_init(&to);
	ct_ipcs_print_time(&from, lister->first_ns, lister->layout.is_local);
	ct_ipcs_print_time(&to, lister->last_ns, lister->layout.is_local);
	say(lister, CT_ITT10012I, (const char *[]){ ct_buf_text(&from), ct_buf_text(&to) });
	ct_buf_fini(&from);
	ct_buf_fini(&to);
}

static void end_lister(struct lister *lister)
{
	struct run *run = lister->run;

	say_last_gaps(lister);
	if (lister->command->report == CT_IPCS_TALLY && lister->shown != 0) {
		ct_ipcs_tallies_sort(&lister->tallies);
		if (run->is_merged)
			ct_buf_add_char(&run->out, '\n');
		ct_ipcs_print_title(&run->out, lister->command);
		ct_ipcs_print_date(&run->out, &(struct ct_ipcs_layout){ .is_local = lister->layout.is_local },
				   lister->tallies.first_ns);
		ct_ipcs_print_tally(&run->out, &lister->tallies);
	}
	finish_exits(lister);
	if (lister->of_trace == 0 && !lister->is_terminated)
		say_no_trace(lister);
	else if (lister->in_time == 0 && !lister->is_terminated)
		say_no_time(lister);
}

/* ---- QUERY ---- */

static bool is_asked_for(const struct ct_ipcs_command *command, const struct ct_ipcs_trace *trace)
{
	if (command->component[0] == '\0')
		return true;
	if (command->sub[0] != '\0')
		return ct_ipcs_names(command->component, command->sub, trace->name, trace->name_size);
	return ct_ipcs_names(command->component, "", trace->name, trace->name_size) || is_below(command, trace);
}

static void run_query(struct lister *lister)
{
	const struct ct_ipcs_command *command = lister->command;
	const struct ct_view *view;

	while ((view = next_view(lister)) != NULL)
		ct_ipcs_traces_note(&lister->traces, &view->event);
	ct_ipcs_traces_sort(&lister->traces);
	for (uint32_t i = 0; i < lister->traces.count; i++) {
		const struct ct_ipcs_trace *trace = &lister->traces.at[i];

		if (!is_asked_for(command, trace))
			continue;
		if (lister->shown++ == 0)
			ct_ipcs_print_query_title(&lister->run->out);
		ct_ipcs_print_query(&lister->run->out, trace, command->component[0] != '\0', command->is_local);
		offer(lister->run);
	}
	if (lister->traces.others != 0)
		ct_buf_add_format(&lister->run->out, " AND MORE TRACES, WITH %" PRIu64 " ENTRIES\n", lister->traces.others);
	say_last_gaps(lister);
	if (lister->shown == 0 && command->component[0] != '\0')
		say_no_trace(lister);
}

/* ---- the run ---- */

/* Is there more than one system in what is read? */
static bool has_systems(const struct ct_reader *reader)
{
	const struct ct_origin *first = ct_reader_origin(reader, 0);
	const struct ct_origin *origin;

	for (size_t i = 1; (origin = ct_reader_origin(reader, i)) != NULL; i++)
		if (strcmp(origin->host, first->host) != 0)
			return true;
	return false;
}

/* False: the user's exit is missing, and the command cannot select what it should. */
static bool start_lister(struct lister *lister)
{
	const struct ct_ipcs_command *command = lister->command;

	if (command->user_exit[0] == '\0')
		return true;
	if (ct_reader_exit_open(&lister->user_exit, CT_EXIT_FILTER, lister->run->output->linklist, command->user_exit) == CTRACE_OK)
		return true;
	say_not_loaded(lister, "user", command->user_exit);
	return false;
}

static void run_fini(struct run *run)
{
	for (size_t i = 0; i < run->count; i++) {
		struct lister *lister = &run->listers[i];

		ct_ipcs_traces_fini(&lister->traces);
		ct_ipcs_tallies_fini(&lister->tallies);
		for (uint32_t at = 0; at < lister->exit_count; at++) {
			ct_reader_exit_close(&lister->exits[at].filter);
			ct_reader_exit_close(&lister->exits[at].formatter);
		}
		ct_reader_exit_close(&lister->user_exit);
	}
	free(run->listers);
	ct_buf_fini(&run->out);
}

static bool run_init(struct run *run, struct ct_ipcs_job *const *jobs)
{
	bool has_sysname = false;

	ct_buf_init(&run->out);
	run->listers = calloc(run->count, sizeof *run->listers);
	if (run->listers == NULL)
		return false;
	for (size_t i = 0; i < run->count; i++)
		has_sysname |= jobs[i]->command->sysname[0] != '\0' || has_systems(jobs[i]->reader);
	for (size_t i = 0; i < run->count; i++)
		run->listers[i] = (struct lister){
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

static void print_merged(struct run *run)
{
	struct ct_buf text;

	ct_buf_add_text(&run->out, "********** MERGED TRACES ***********\n");
	for (size_t i = 0; i < run->count; i++) {
		ct_buf_init(&text);
		ct_ipcs_text_add(&text, run->listers[i].command);
		ct_buf_add_format(&run->out, "%02u. ", (unsigned)i + 1);
		ct_ipcs_add_plain(&run->out, text.data, text.size);
		ct_buf_add_char(&run->out, '\n');
		ct_buf_fini(&text);
	}
	ct_buf_add_char(&run->out, '\n');
}

/* The lister with the earliest entry; of several the first one.  NULL: there is none left. */
static struct lister *earliest(struct run *run)
{
	struct lister *found = NULL;

	for (size_t i = 0; i < run->count; i++) {
		struct lister *lister = &run->listers[i];

		read_on(lister);
		if (lister->next != NULL && (found == NULL || lister->next->event.time_ns < found->next->event.time_ns))
			found = lister;
	}
	return found;
}

static bool is_without_entries(const struct run *run)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->listers[i].shown != 0 || run->listers[i].is_terminated)
			return false;
	return true;
}

static void run_listers(struct run *run)
{
	struct lister *lister;

	if (run->is_merged)
		print_merged(run);
	for (size_t i = 0; i < run->count; i++)
		run->listers[i].is_at_end = run->listers[i].is_terminated = !start_lister(&run->listers[i]);
	while ((lister = earliest(run)) != NULL)
		take(lister);
	if (run->output->is_narrowed && is_without_entries(run)) {
		ct_buf_clear(&run->out);
		return;
	}
	for (size_t i = 0; i < run->count; i++)
		end_lister(&run->listers[i]);
}

enum ctrace_status ct_ipcs_run(struct ct_ipcs_job *const *jobs, size_t count_of_jobs, bool is_merged,
			       const struct ct_ipcs_output *output, uint64_t *out_shown)
{
	struct run run = { .output = output, .count = count_of_jobs, .is_merged = is_merged };
	enum ctrace_status status = CTRACE_OK;
	uint64_t shown = 0;
	bool has_failed = false;

	if (!run_init(&run, jobs))
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (jobs[0]->command->verb == CT_IPCS_QUERY)
		run_query(&run.listers[0]);
	else
		run_listers(&run);
	for (size_t i = 0; i < run.count; i++) {
		shown += run.listers[i].shown;
		has_failed |= run.listers[i].traces.has_failed || run.listers[i].tallies.has_failed;
	}
	if (run.out.failed || has_failed)
		status = CTRACE_NOT_ENOUGH_MEMORY;
	else if (shown == 0)
		status = CTRACE_NOT_FOUND;
	flush(&run);
	run_fini(&run);
	*out_shown = shown;
	return status;
}
