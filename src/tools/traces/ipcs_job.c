/*
 * ipcs_job.c - one command of ctrace ipcs: selects its traces, opens a reader for them, and reports
 * the result.
 *
 * Listings and messages go to stdout; damage goes to stderr as it is met.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/ipcs_commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/end_signal.h"
#include "lib/dump/dump.h"
#include "operator/display_trace.h"
#include "operator/recovery/recovery.h"
#include "tools/streams/stream_copy.h"
#include "tools/traces/ipcs_status.h"

#define TIMEOUT_MS 2000u /* for the processes that QUERY asks */
#define DEFINED_PIDS 64u

/* ---- the traces that running processes have defined, for QUERY ---- */

/* Asked for as DISPLAY TRACE does.  A process without a response counts as one without traces. */
struct ipcs_defined {
	bool is_of_all; /* else of these processes */
	uint32_t pids[DEFINED_PIDS];
	uint32_t pid_count;
	/* defined_open()'s; texts are the display's */
	struct ct_ipcs_definition *items;
	uint32_t count;
	struct ct_display display;
};

static bool trace_is_meant(const struct ipcs_defined *defined, uint32_t pid)
{
	for (uint32_t i = 0; i < defined->pid_count; i++)
		if (defined->pids[i] == pid)
			return true;
	return defined->is_of_all;
}

static void traces_list(struct ipcs_defined *defined)
{
	const struct ct_display *display = &defined->display;

	defined->items = calloc(display->trace_rows.count + 1, sizeof *defined->items);
	for (uint32_t i = 0; i < display->trace_rows.count && defined->items != NULL; i++) {
		const struct ct_display_trace *trace = &display->traces[i];
		const struct ct_display_process *process = &display->processes[trace->process];

		if (trace->display.is_defined && trace_is_meant(defined, process->pid))
			defined->items[defined->count++] = (struct ct_ipcs_definition){
				.name = trace->name,
				.jobname = process->jobname,
				.asid = process->asid,
				.buffer_bytes =
					trace->display.buffer ? trace->display.buffer_rounded : 0,
				.options = trace->display.options,
				.minops = trace->display.minops,
			};
	}
}

/* Called with is_of_all and pids set. */
static void defined_open(struct ipcs_defined *defined)
{
	static const struct ct_operator_command all = { .kind = CT_OPERATOR_DISPLAY_TRACE,
							.has_comp = true,
							.comp_all = true };
	static const struct target everybody = { .timeout_ms = TIMEOUT_MS };
	struct ask ask;

	ct_display_init(&defined->display, ct_clock_wall_ns());
	ct_ask_init(&ask, &everybody, NULL);
	ask.is_quiet = true;
	if ((defined->is_of_all || defined->pid_count != 0) &&
	    ct_peers_find(&everybody.filter, &ask.peers) == CTRACE_OK)
		(void)ct_display_gather(&ask, &all, &defined->display);
	traces_list(defined);
	ct_ask_fini(&ask);
}

static void defined_close(struct ipcs_defined *defined)
{
	free(defined->items);
	ct_display_fini(&defined->display);
}

#define US_PER_SECOND 1000000u
#define REPORT_LIMIT 20u /* a file of nothing but damage must not fill the terminal */

/* One command's reading. */
struct job {
	struct ipcs *ipcs;
	struct ct_ipcs_job job;
	struct ct_filter *times; /* from START and STOP; NULL: everything is read */
	uint32_t added;
	struct ipcs_defined defined; /* what the processes that are read have defined */
};

void ct_ipcs_fail(struct ipcs *ipcs, int status)
{
	if (status > ipcs->status)
		ipcs->status = status;
}

static void job_print_line(enum ct_ipcs_message id, const char *const *values)
{
	struct ct_buf text;

	ct_buf_init(&text);
	ct_ipcs_message_add(&text, id, values);
	printf("%s\n", ct_buf_text(&text));
	ct_buf_fini(&text);
}

/* ---- notes of readers; the listing reports losses ---- */

static void job_report(const struct ct_read_note *note, void *user)
{
	struct ipcs *ipcs = ((struct job *)user)->ipcs;

	if (note->kind == CT_NOTE_LOST || note->kind == CT_NOTE_MISSING)
		return;
	ct_ipcs_fail(ipcs, note->kind == CT_NOTE_UNREAD ? CMD_UNREAD : CMD_NOTHING);
	if (ipcs->reports++ >= REPORT_LIMIT)
		return;
	(void)fflush(stdout);
	fputs("ctrace ipcs: ", stderr);
	ct_tool_print(stderr, note->path, strlen(note->path));
	if (note->kind != CT_NOTE_UNREAD)
		fprintf(stderr, ", offset %" PRIu64, note->offset);
	if (note->bytes > 0)
		fprintf(stderr, ", %" PRIu64 " byte%s", note->bytes, note->bytes == 1 ? "" : "s");
	fprintf(stderr, ": %s\n", note->message);
}

static void job_note(const struct ct_read_note *note, void *user)
{
	struct ct_read_note shown = *note;

	shown.path = stream_shown_path(note->path);
	ct_ipcs_note(&shown, user);
}

/* ---- which traces ---- */

static void job_note_process(struct job *job, const char *path)
{
	struct ipcs_defined *defined = &job->defined;

	if (reading_is_process(path) && defined->pid_count < DEFINED_PIDS)
		defined->pids[defined->pid_count++] = (uint32_t)strtoul(path, NULL, 10);
}

/* The name of the stream in an address: the rest may have a password. */
static void stream_message(const char *address, const char *what)
{
	const char *name = stream_name(address);
	char shown[300];

	(void)snprintf(shown, sizeof shown, "%.*s", (int)strcspn(name, "?"), name);
	job_print_line(CT_ITT10019I, (const char *[]){ shown, what });
}

/* Each command of a session reads the same copy of the stream. */
static void job_add_stream(struct job *job, const char *address)
{
	const char *path = reading_stream(&job->ipcs->reading, address);
	enum ctrace_status status = path != NULL ? ct_reader_add(job->job.reader, path) : CTRACE_OK;

	if (path == NULL) {
		ct_ipcs_fail(job->ipcs, CMD_UNREAD);
		return;
	}
	if (status == CTRACE_OK) {
		job->added++;
		return;
	}
	stream_message(address, status == CTRACE_NOT_FOUND ? reading_stream_is_empty
							   : ctrace_status_text(status));
	ct_ipcs_fail(job->ipcs, CMD_NOTHING);
}

static void job_add_file(struct job *job, const char *path)
{
	enum ctrace_status status = ct_reader_add(job->job.reader, path);
	const char *what = status == CTRACE_NOT_FOUND || status == CTRACE_DENIED
				   ? ct_path_recognize(path)
				   : NULL;
	const char *reason =
		what != NULL ? what
		: status == CTRACE_NOT_FOUND
			? "there is no trace, process directory or traced process of that name"
		: status == CTRACE_UNSUPPORTED ? "it is not a trace that ctrace can read"
					       : ctrace_status_text(status);

	if (status == CTRACE_OK) {
		job->added++;
		job_note_process(job, path);
		return;
	}
	job_print_line(CT_ITT10019I, (const char *[]){ path, reason });
	ct_ipcs_fail(job->ipcs, CMD_NOTHING);
}

static void job_add_path(struct job *job, const char *path)
{
	if (stream_is_address(path))
		job_add_stream(job, path);
	else
		job_add_file(job, path);
}

static void job_add_process(const struct ct_directory_entry *entry, void *user)
{
	struct job *job = user;
	char *path;

	if ((entry->uid != geteuid() && geteuid() != 0) ||
	    asprintf(&path, "%s/%s", entry->run_directory, entry->name) < 0)
		return;
	/* A process that ended since is no failure. */
	if (access(path, F_OK) == 0)
		job_add_path(job, path);
	free(path);
}

static void job_add_run_directory(const char *path, void *user)
{
	ct_directory_each(path, job_add_process, user);
}

/* Returns the path of DD_NAME, dd_NAME or NAME in the environment, where COBOL programs find
 * theirs; else the name itself. */
static const char *ddname_path(const char *name)
{
	static const char *const patterns[] = { "DD_%s", "dd_%s", "%s" };
	char variable[300];

	for (size_t i = 0; i < CT_COUNT(patterns); i++) {
		const char *prefix = patterns[i];
		const char *value;

		(void)snprintf(variable, sizeof variable, "%.*s%s", (int)(strlen(prefix) - 2),
			       prefix, name);
		value = ct_os_environment(variable);
		if (value != NULL)
			return value;
	}
	return name;
}

static void job_add_sources(struct job *job, const struct ct_ipcs_command *from)
{
	for (uint32_t i = 0; i < from->sources.count; i++)
		job_add_path(job, from->source == CT_IPCS_BY_DDNAME
					  ? ddname_path(from->sources.at[i])
					  : from->sources.at[i]);
}

/* Adds the traces of the command, else of SETDEF, else of the command line, else the undelivered
 * events of traced processes. */
static void job_add_traces(struct job *job, const struct ct_ipcs_command *command)
{
	const struct ct_ipcs_command *defaults = &job->ipcs->defaults;
	const struct reading *reading = &job->ipcs->reading;
	bool is_given = command->is_active || command->sources.count != 0;
	const struct ct_ipcs_command *from = is_given ? command : defaults;

	if (from->sources.count != 0) {
		job_add_sources(job, from);
		return;
	}
	if (!from->is_active && reading->path_count != 0) {
		for (size_t i = 0; i < reading->path_count; i++)
			job_add_path(job, reading->paths[i]);
		return;
	}
	job->defined.is_of_all = true;
	ct_directory_each_run_directory(job_add_run_directory, job);
	if (job->added != 0)
		return;
	job_print_line(CT_ITT10004I,
		       (const char *[]){
			       from->is_active ? "no process is being traced"
					       : "none is named, and no process is being traced" });
	(void)ct_recovery_report_refused(reading->verb);
}

/* ---- STATUS ---- */

static void status_print(struct ipcs *ipcs, const char *path)
{
	const char *what;

	if (stream_is_address(path)) {
		stream_message(path, "a stream has no dumps");
		ct_ipcs_fail(ipcs, CMD_NOTHING);
		return;
	}
	if (ct_ipcs_status_print(path))
		return;
	what = access(path, F_OK) == 0 ? "it is no dump: it has no file " CT_DUMP_ABOUT
				       : "there is no dump of that name";
	job_print_line(CT_ITT10019I, (const char *[]){ path, what });
	ct_ipcs_fail(ipcs, CMD_NOTHING);
}

/* The dumps are those that a CTRACE would read. */
void ct_ipcs_job_status(struct ipcs *ipcs, const struct ct_ipcs_command *command)
{
	const struct ct_ipcs_command *from =
		command->is_active || command->sources.count != 0 ? command : &ipcs->defaults;
	const struct reading *reading = &ipcs->reading;

	for (uint32_t i = 0; i < from->sources.count; i++)
		status_print(ipcs, from->source == CT_IPCS_BY_DDNAME
					   ? ddname_path(from->sources.at[i])
					   : from->sources.at[i]);
	if (from->sources.count != 0)
		return;
	for (size_t i = 0; i < reading->path_count && !from->is_active; i++)
		status_print(ipcs, reading->paths[i]);
	if (reading->path_count == 0 || from->is_active) {
		job_print_line(CT_ITT10004I,
			       (const char *[]){ "STATUS is about dumps, and none is named" });
		ct_ipcs_fail(ipcs, CMD_NOTHING);
	}
}

/* Returns START and STOP as a filter, so that readers can skip the rest of a long trace. */
static struct ct_filter *command_times(const struct ct_ipcs_command *command)
{
	struct ct_diagnostic diagnostic;
	struct ct_filter *filter = NULL;
	char text[120] = "";
	size_t size = 0;

	if (command->has_start)
		size = (size_t)snprintf(text, sizeof text, "time >= \"@%" PRIu64 ".%06u\"",
					command->start_us / US_PER_SECOND,
					(unsigned)(command->start_us % US_PER_SECOND));
	if (command->has_stop)
		(void)snprintf(text + size, sizeof text - size,
			       "%stime <= \"@%" PRIu64 ".%06u999\"", size != 0 ? " && " : "",
			       command->stop_us / US_PER_SECOND,
			       (unsigned)(command->stop_us % US_PER_SECOND));
	return text[0] != '\0' && ct_filter_parse(text, 0, &filter, &diagnostic) == CTRACE_OK
		       ? filter
		       : NULL;
}

static void job_close(struct job *job)
{
	ct_reader_destroy(job->job.reader);
	ct_filter_destroy(job->times);
	job->job.reader = NULL;
	job->times = NULL;
}

/* Returns false when there is nothing to read, which is reported. */
static bool job_open(struct job *job, struct ipcs *ipcs, const struct ct_ipcs_command *command,
		     bool is_narrowed)
{
	struct ct_reader_options options = {
		.catalog = ipcs->reading.catalog,
		.filter = ipcs->reading.filter,
		.has_pairs =
			command->verb == CT_IPCS_CTRACE &&
			(command->report == CT_IPCS_SUMMARY || command->report == CT_IPCS_FULL),
		.report = job_note,
		.user = &job->job,
	};
	enum ctrace_status status;

	*job = (struct job){ .ipcs = ipcs,
			     .job = { .command = command, .also = job_report, .also_user = job } };
	if (is_narrowed && options.filter == NULL)
		options.filter = job->times = command_times(command);
	status = ct_reader_create(&options, &job->job.reader);
	if (status == CTRACE_OK)
		job_add_traces(job, command);
	else
		fprintf(stderr, "ctrace ipcs: %s\n", ctrace_status_text(status));
	if (job->added == 0)
		ct_ipcs_fail(ipcs, CMD_NOTHING);
	return job->added != 0;
}

/* ---- running ---- */

static void output_write(const char *text, size_t size, void *user)
{
	(void)user;
	(void)!fwrite(text, 1, size, stdout);
}

static bool output_is_stopped(void *user)
{
	(void)user;
	return ct_end_wanted != 0 || ferror(stdout) != 0;
}

/* Returns false when the command must be run again on all events. */
static bool jobs_run(struct ipcs *ipcs, struct ct_ipcs_job *const *jobs, uint32_t count,
		     bool is_merged, bool is_narrowed, const struct ipcs_defined *defined)
{
	struct ct_ipcs_output output = { .write = output_write,
					 .linklist = ct_os_environment("CTRACE_LINKLIST"),
					 .is_narrowed = is_narrowed,
					 .is_stopped = output_is_stopped,
					 .definitions = defined != NULL ? defined->items : NULL,
					 .definition_count = defined != NULL ? defined->count : 0 };
	enum ctrace_status status;
	uint64_t shown = 0;

	status = ct_ipcs_run(jobs, count, is_merged, &output, &shown);
	if (status == CTRACE_NOT_FOUND && is_narrowed)
		return false;
	if (status != CTRACE_OK)
		ct_ipcs_fail(ipcs, CMD_NOTHING);
	(void)fflush(stdout);
	if (status == CTRACE_NOT_FOUND)
		fputs("ctrace ipcs: no entries\n", stderr);
	else if (status != CTRACE_OK)
		fprintf(stderr, "ctrace ipcs: %s\n", ctrace_status_text(status));
	return true;
}

/* Runs within START and STOP.  When that shows nothing, runs on all events to find the reason. */
static void job_run(struct ipcs *ipcs, const struct ct_ipcs_command *command)
{
	bool is_narrowed = command->verb == CT_IPCS_CTRACE;
	struct job job;
	bool is_done;

	do {
		struct ct_ipcs_job *runnable = &job.job;

		is_done = !job_open(&job, ipcs, command, is_narrowed);
		if (!is_done) {
			defined_open(&job.defined);
			is_done = jobs_run(ipcs, &runnable, 1, false, job.times != NULL,
					   &job.defined);
			defined_close(&job.defined);
		}
		job_close(&job);
		is_narrowed = false;
	} while (!is_done);
}

static void jobs_run_merged(struct ipcs *ipcs, const struct ct_ipcs_command *commands,
			    uint32_t count)
{
	struct ct_ipcs_job *runnable[CT_IPCS_MERGED] = { NULL };
	struct job *jobs = calloc(count, sizeof *jobs);
	bool is_good = jobs != NULL;

	if (jobs == NULL)
		ct_ipcs_fail(ipcs, CMD_NOTHING);
	for (uint32_t i = 0; i < count && jobs != NULL; i++) {
		is_good &= job_open(&jobs[i], ipcs, &commands[i], false);
		runnable[i] = &jobs[i].job;
	}
	if (is_good)
		(void)jobs_run(ipcs, runnable, count, true, false, NULL);
	for (uint32_t i = 0; i < count && jobs != NULL; i++)
		job_close(&jobs[i]);
	free(jobs);
}

void ct_ipcs_job_run(struct ipcs *ipcs, const struct ct_ipcs_command *commands, uint32_t count,
		     bool is_merged)
{
	if (is_merged)
		jobs_run_merged(ipcs, commands, count);
	else
		job_run(ipcs, &commands[0]);
}

void ct_ipcs_job_copy(struct ipcs *ipcs, const struct ct_ipcs_command *command)
{
	const char *path = command->out_kind == CT_IPCS_BY_DDNAME ? ddname_path(command->out.at[0])
								  : command->out.at[0];
	struct ct_ipcs_copied copied;
	enum ctrace_status status;
	struct job job;

	if (job_open(&job, ipcs, command, true)) {
		status = ct_ipcs_copy(&job.job, path, &copied);
		if (status == CTRACE_OK) {
			printf(" COPYTRC %" PRIu64 " ENTR%s OF %u PROCESS%s COPIED TO ",
			       copied.events, copied.events == 1 ? "Y" : "IES", copied.processes,
			       copied.processes == 1 ? "" : "ES");
			ct_tool_print(stdout, path, strlen(path));
			putchar('\n');
		} else {
			const char *reason = status == CTRACE_OS_ERROR ? strerror(errno)
								       : ctrace_status_text(status);

			(void)fflush(stdout);
			fputs("ctrace ipcs: ", stderr);
			ct_tool_print(stderr, path, strlen(path));
			fprintf(stderr, ": %s\n", reason);
		}
		if (status != CTRACE_OK)
			ct_ipcs_fail(ipcs, CMD_UNWRITTEN);
		else if (copied.events == 0)
			ct_ipcs_fail(ipcs, CMD_NOTHING);
	}
	job_close(&job);
}
