/*
 * cmd_dump.c - ctrace dump: keeps what the rings of processes hold, live or dead, as traces.
 *
 * Reads the process directories and needs no answer of the processes: they may hang, be stopped, or
 * be dead.  A dead process's events in storage are removed when they are in a dump.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/dump/dump.h"
#include "operator/recovery_sweep.h"
#include "operator/target.h"

#define PATH_SIZE 4096
#define NAMES_TRIED 9u

struct dump_options {
	struct target target;
	const char *component; /* glob; NULL: every component */
	const char *title;
	const char *directory; /* -o */
	bool is_whole;         /* `directory` is the dump itself: there is one process */
	uint32_t found, made, failed;
};

/* "PAYROLL.1234.20261126-143205.dump" */
static void dump_name(char *out, size_t size, const struct ct_session_head *head)
{
	time_t now = time(NULL);
	char when[32] = "";
	struct tm local;

	if (localtime_r(&now, &local) != NULL)
		(void)strftime(when, sizeof when, "%Y%m%d-%H%M%S", &local);
	(void)snprintf(out, size, "%.*s.%" PRIu32 ".%s.dump",
		       (int)strnlen(head->jobname, sizeof head->jobname), head->jobname, head->pid,
		       when);
	for (char *at = out; *at != '\0'; at++)
		if (*at == '/' || (unsigned char)*at <= ' ')
			*at = '_';
}

static void print_place(const struct ct_directory_entry *entry)
{
	fputs("ctrace dump: ", stderr);
	ct_tool_print(stderr, entry->run_directory, strlen(entry->run_directory));
	fprintf(stderr, "/%s: ", entry->name);
}

/* The trace is on the disk.  A dead process's storage is no longer needed. */
static void storage_discard(const struct ct_directory_entry *entry)
{
	struct ct_recovery total = { .discards = entry->pid };

	ct_recover(entry->run_directory, NULL, &total, NULL, NULL);
}

static void dump_report(const char *path, const struct ct_dump_result *result)
{
	ct_tool_print(stdout, path, strlen(path));
	printf(": %" PRIu64 " event%s", result->events, result->events == 1 ? "" : "s");
	if (result->overwritten != 0)
		printf(", %" PRIu64 " before %s overwritten", result->overwritten,
		       result->overwritten == 1 ? "was" : "were");
	if (result->damaged != 0)
		printf(", %" PRIu64 " bytes are damaged", result->damaged);
	if (result->unread != 0)
		printf(", %" PRIu32 " ring%s could not be read", result->unread,
		       result->unread == 1 ? "" : "s");
	putchar('\n');
}

static void process_dump(struct dump_options *options, const struct ct_directory_entry *entry,
			 const struct ct_session_head *head)
{
	char path[PATH_SIZE], name[128];
	struct ct_dump_request request = {
		.run_directory = entry->run_directory,
		.directory = entry->name,
		.path = path,
		.title = options->title,
		.reason = "command",
		.component = options->component,
	};
	struct ct_dump_result result;
	enum ctrace_status status;
	size_t size;

	dump_name(name, sizeof name, head);
	if (options->is_whole)
		(void)snprintf(path, sizeof path, "%s", options->directory);
	else
		(void)snprintf(path, sizeof path, "%s%s%s",
			       options->directory != NULL ? options->directory : "",
			       options->directory != NULL ? "/" : "", name);
	size = strlen(path);
	for (unsigned again = 2;; again++) {
		errno = 0;
		status = ct_dump_make(&request, &result);
		if (status != CTRACE_OUTPUT_ERROR || errno != EEXIST || options->is_whole ||
		    again > NAMES_TRIED)
			break;
		/* another one in this second */
		(void)snprintf(path + size, sizeof path - size, ".%u", again);
	}
	if (status == CTRACE_NOT_FOUND)
		return; /* it has ended meanwhile */
	options->found += status == CTRACE_OK && result.events > 0;
	if (status != CTRACE_OK) {
		options->failed++;
		print_place(entry);
		if (status == CTRACE_OUTPUT_ERROR) {
			fputs("cannot write ", stderr);
			ct_tool_print(stderr, path, strlen(path));
			fprintf(stderr, ": %s\n", strerror(errno));
		} else {
			fprintf(stderr, "%s\n", ctrace_status_text(status));
		}
		return;
	}
	if (result.events == 0)
		return;
	options->made++;
	dump_report(path, &result);
	if (!entry->is_alive && options->component == NULL && result.unread == 0)
		storage_discard(entry);
}

static void directory_visit(const struct ct_directory_entry *entry, void *user)
{
	struct dump_options *options = user;
	char why[CT_DIRECTORY_WHY_SIZE];
	struct ct_session session;
	enum ctrace_status status;

	status = ct_session_load(&session, entry->run_directory, entry->name, false);
	if (status == CTRACE_NOT_FOUND)
		return;
	if (status != CTRACE_OK) {
		if (options->target.filter.pid != 0 && options->target.filter.pid != entry->pid)
			return;
		options->failed++;
		print_place(entry);
		fprintf(stderr, "%s\n",
			ct_directory_explain(entry->run_directory, entry->name, status, why));
		return;
	}
	if (ct_peer_filter_wants(&options->target.filter, session.head->pid, session.head->asid,
				 session.head->jobname))
		process_dump(options, entry, session.head);
	ct_session_close(&session, false);
}

static void run_directory_visit(const char *path, void *user)
{
	ct_directory_each(path, directory_visit, user);
}

static error_t parse_dump(int key, char *argument, struct argp_state *state)
{
	struct dump_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->target;
		return 0;
	case 'c':
		options->component = argument;
		return 0;
	case 'o':
		options->directory = argument;
		return 0;
	case 'T':
		if (strlen(argument) > CT_DUMP_TITLE)
			argp_error(state, "--title has %zu bytes; at most %u", strlen(argument),
				   CT_DUMP_TITLE);
		options->title = argument;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(
			state,
			"unexpected argument \"%s\"; --pid, --job and --asid say which processes",
			argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* -o is a directory for dumps when it exists, or when there may be several. */
static void directory_decide(struct dump_options *options)
{
	struct stat info;

	if (options->directory == NULL)
		return;
	options->is_whole =
		options->target.filter.pid != 0 && lstat(options->directory, &info) != 0;
	if (!options->is_whole)
		(void)mkdir(options->directory, 0700); /* if it cannot be made, no dump can */
}

int cmd_dump(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "component", 'c', "GLOB", 0, "Only events of components whose name matches", 0 },
		{ "output", 'o', "DIRECTORY", 0,
		  "Where the dumps are made; with --pid, and if it does not exist, the dump itself",
		  0 },
		{ "title", 'T', "TEXT", 0, "A title for STATUS of ctrace ipcs; up to 100 bytes",
		  0 },
		{ 0 },
	};
	static const struct argp_child children[] = { { &ct_target_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = rows,
		.parser = parse_dump,
		.children = children,
		.doc = "Keep what the rings of processes hold, above all what is in storage, as traces. Dead processes are dumped too."
		       "\vThe dump of a process is named JOB.PID.DATE-TIME.dump.",
	};
	struct dump_options options = { .title = "" };

	options.target.verb = argv[0];
	if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
		return CMD_USAGE;
	directory_decide(&options);
	ct_recovery_on_the_way(argv[0]);
	ct_directory_each_run_directory(run_directory_visit, &options);
	if (options.found == 0 && options.failed == 0)
		fprintf(stderr,
			"%s: no process holds such events: those in files are there already\n",
			argv[0]);
	return options.made != 0 && options.failed == 0 ? CMD_DONE : CMD_NOTHING;
}
