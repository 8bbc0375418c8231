/*
 * cmd_writer.c - ctrace writer NAME: an external writer, in the foreground.
 *
 * Finds and checks the procedure, reports to systemd or to the process that started it when it is
 * ready, prints messages with their time on stderr, and ends in order at SIGTERM, SIGINT or
 * WTRSTOP.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "cli/service.h"
#include "writer/writer.h"

struct writer {
	const char *name;
	int mode; /* enum ct_writer_mode; -1: the procedure's */
	bool only_check;
	int ready_fd; /* who started us waits there; -1: nobody */
	char path[4096];
	struct ct_procedure procedure;
	bool failed;
};

/* ---- the procedure ---- */

static void procedure_diagnose(const struct ct_diagnostic *diagnostic, void *user)
{
	const struct writer *writer = user;

	ct_tool_diagnose(writer->path, diagnostic);
	fputc('\n', stderr);
}

/* For the TRCOUTs that are streams. */
static bool spool_use(struct writer *writer)
{
	char path[4096], why[CT_PRIVATE_WHY_SIZE];

	if (ct_procedure_use_spool(&writer->procedure, path, why) == CTRACE_OK)
		return true;
	fprintf(stderr, "ctrace writer: the spool ");
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, " cannot be used: %s; CTRACE_SPOOL names another\n",
		why[0] != '\0' ? why : strerror(errno));
	return false;
}

static bool procedure_read(struct writer *writer)
{
	enum ctrace_status status;
	struct ct_buf text;
	bool ok = false;

	ct_buf_init(&text);
	status = ct_procedure_read(writer->name, &text, writer->path);
	if (status != CTRACE_OK) {
		const char *why =
			status == CTRACE_OS_ERROR ? strerror(errno)
			: status == CTRACE_DENIED
				? "it is no file, or others may write to it or its directory"
				: ctrace_status_text(status);

		fprintf(stderr, "ctrace writer: procedure %s cannot be used: ", writer->name);
		ct_tool_print(stderr, writer->path, strlen(writer->path));
		fprintf(stderr, ": %s; CTRACE_PROCLIB says where procedures are\n", why);
	} else {
		ok = ct_procedure_parse(writer->name, text.data, text.size, &writer->procedure,
					procedure_diagnose, writer) == CTRACE_OK;
	}
	ct_buf_fini(&text);
	if (ok && writer->mode >= 0)
		writer->procedure.mode = (enum ct_writer_mode)writer->mode;
	return ok && spool_use(writer);
}

/* ---- messages ---- */

static void starter_report(struct writer *writer, const char *text)
{
	if (writer->ready_fd < 0)
		return;
	(void)!write(writer->ready_fd, text, strlen(text));
	(void)!write(writer->ready_fd, "\n", 1);
	(void)close(writer->ready_fd);
	writer->ready_fd = -1;
}

/* Any thread; one write, so that lines stay whole. */
static void print_message(const char *text, void *user)
{
	struct writer *writer = user;
	time_t now = time(NULL);
	char line[600], when[16] = "";
	struct tm local;
	int size;

	if (localtime_r(&now, &local) != NULL)
		(void)strftime(when, sizeof when, "%H.%M.%S", &local);
	size = snprintf(line, sizeof line, "%s %s\n", when, text);
	(void)!write(STDERR_FILENO, line, size < (int)sizeof line ? (size_t)size : sizeof line - 1);
	/* Before the writer is ready, a message is the reason why it will not be. */
	if (writer->ready_fd >= 0)
		starter_report(writer, text);
}

static void writer_be_ready(void *user)
{
	struct writer *writer = user;
	char text[200];

	starter_report(writer, "ready");
	(void)snprintf(text, sizeof text, "ITT110I INITIALIZATION OF CTRACE WRITER %s COMPLETE.",
		       writer->procedure.name);
	print_message(text, writer);
	(void)snprintf(text, sizeof text, "READY=1\nSTATUS=Writing %u data sets",
		       writer->procedure.trcout_count);
	ct_systemd_notify(text);
}

/* ---- options ---- */

enum { OPTION_WRAP = 256, OPTION_NOWRAP, OPTION_CHECK, OPTION_READY };

static error_t writer_parse(int key, char *argument, struct argp_state *state)
{
	struct writer *writer = state->input;

	switch (key) {
	case OPTION_WRAP:
		writer->mode = CT_WRITER_WRAP;
		return 0;
	case OPTION_NOWRAP:
		writer->mode = CT_WRITER_NOWRAP;
		return 0;
	case OPTION_CHECK:
		writer->only_check = true;
		return 0;
	case OPTION_READY:
		writer->ready_fd = (int)strtol(argument, NULL, 10);
		return 0;
	case ARGP_KEY_ARG:
		if (writer->name != NULL)
			argp_error(state, "one writer at a time");
		if (!ct_writer_name_is_valid(argument, strlen(argument)))
			argp_error(state,
				   "a writer's name has 1 to 7 of A-Z 0-9 @ # $, no digit first");
		writer->name = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int writer_run(struct writer *writer)
{
	static char run_directory[4096];
	struct ct_writer_options options = { .procedure = &writer->procedure,
					     .run_directory = run_directory,
					     .ready = writer_be_ready,
					     .message = print_message,
					     .user = writer };
	char text[200];
	sigset_t signals;
	int stop_fd;
	int result;

	if (ct_directory_run_directory(NULL, run_directory) != CTRACE_OK) {
		fputs("ctrace writer: there is no run directory that can be used; CTRACE_RUN_DIR names one\n",
		      stderr);
		return CMD_NOTHING;
	}
	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &signals, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	stop_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	options.stop_fd = &stop_fd;
	result = ct_writer_run(&options);
	if (result != 0)
		return CMD_NOTHING;
	ct_systemd_notify("STOPPING=1");
	(void)snprintf(text, sizeof text,
		       "ITT111I CTRACE WRITER %s TERMINATED BECAUSE OF A WTRSTOP REQUEST.",
		       writer->procedure.name);
	print_message(text, writer);
	return CMD_DONE;
}

int cmd_writer(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "wrap", OPTION_WRAP, NULL, 0,
		  "Overwrite the oldest data when the data sets are full", 0 },
		{ "nowrap", OPTION_NOWRAP, NULL, 0, "Stop writing when the data sets are full", 0 },
		{ "check", OPTION_CHECK, NULL, 0, "Only check the procedure", 0 },
		{ "ready-fd", OPTION_READY, "FD", OPTION_HIDDEN, "Say there when it is ready", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = rows,
		.parser = writer_parse,
		.args_doc = "NAME",
		.doc = "Run an external writer: write the events of the traces that are connected to it (WTR=NAME), instead of their processes, to "
		       "the data sets of its procedure.\vThe procedure is the file NAME in a directory of CTRACE_PROCLIB, or in "
		       "/etc/ctrace/proclib.  The writer ends at SIGTERM, SIGINT or TRACE CT,WTRSTOP=NAME.\n\nExit status: 0 the writer ended in order, "
		       "1 it could not be started, 2 usage, or no memory.",
	};
	struct writer writer = { .mode = -1, .ready_fd = -1 };

	if (argp_parse(&argp, argc, argv, 0, NULL, &writer) != 0)
		return CMD_USAGE;
	if (!procedure_read(&writer)) {
		char text[80];

		(void)snprintf(text, sizeof text,
			       "its procedure cannot be used: ctrace writer --check %.8s says why",
			       writer.name);
		starter_report(&writer, text);
		return CMD_NOTHING;
	}
	return writer.only_check ? CMD_DONE : writer_run(&writer);
}
