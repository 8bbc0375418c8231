/*
 * ctrace.c - the ctrace tool: finds the verb and runs it.
 *
 * Everything that a verb does is in its cmd_*.c; here are the table of verbs, help, and the exit
 * status.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/allocate.h"
#include "base/base.h"
#include "tools/hosts/hosts_ask.h"
#include "tools/hosts/request.h"
#include "tools/options_file.h"
#include "operator/recovery/recovery_watch.h"

#define DESCRIPTORS_NEEDED 32u

enum { OPTION_HOST = 256 };

struct verb {
	const char *name;
	const char *arguments;
	const char *help;
	int (*run)(int argc, char **argv);
	bool goes_on; /* also when it could not do one of many things */
	bool reads;   /* traces: it takes --options=FILE */
};

static int cmd_help(int argc, char **argv);

/* What argp and getopt call us, however we were started. */
static char tool_name[] = "ctrace";

static const struct verb verbs[] = {
	{ "run", "PROGRAM [ARG...]", "run and trace a COBOL program", cmd_run, true, false },
	{ "show", "[PATH|PID...]", "print traces, merged by time", cmd_show, false, true },
	{ "ipcs", "[COMMAND...] [PATH...]", "format traces as IPCS does", cmd_ipcs, false, true },
	{ "report", "PATH... -o FILE", "make a page of pictures and tables", cmd_report, false,
	  true },
	{ "open", "[PATH|PID...]", "show that page in a browser", cmd_open, false, true },
	{ "export", "-f FORMAT PATH...", "write traces for other tools", cmd_export, false, true },
	{ "diff", "A B", "compare two runs", cmd_diff, false, true },
	{ "repair", "PATH -o DIRECTORY", "copy the sound part of a damaged trace", cmd_repair,
	  false, false },
	{ "catalog", "check FILE...", "check and print catalogues of events", cmd_catalog, false,
	  false },
	{ "list", "", "show traced processes and their components", cmd_list, false, false },
	{ "doctor", "PROGRAM [ARG...] | PID | ADDRESS", "find out why nothing is traced",
	  cmd_doctor, true, false },
	{ "stats", "[PATH...]", "count events of processes or traces", cmd_stats, false, true },
	{ "top", "[ADDRESS]", "a screen of live components by rate", cmd_top, true, false },
	{ "tail", "[ADDRESS]", "print events as they are traced", cmd_tail, false, true },
	{ "level", "COMPONENT [LEVEL]", "show or change levels", cmd_level, false, false },
	{ "dest", "COMPONENT [LIST]", "show or change destinations", cmd_dest, false, false },
	{ "prop", "COMPONENT [NAME [VALUE]]", "show or change properties", cmd_prop, false, false },
	{ "reload", "[CONFIG]", "read the configuration again", cmd_reload, false, false },
	{ "flush", "", "deliver waiting events", cmd_flush, false, false },
	{ "rotate", "[EMITTER]", "begin new generations of files", cmd_rotate, false, false },
	{ "op", "'COMMAND'...", "give operator commands, such as TRACE CT", cmd_op, false, false },
	{ "console", "", "an operator's console", cmd_console, true, false },
	{ "writer", "NAME", "run an external writer", cmd_writer, true, false },
	{ "dump", "[-o DIRECTORY]", "keep what is in storage as a trace", cmd_dump, false, false },
	{ "trigger", "add|list|remove", "act when an event matches", cmd_trigger, false, false },
	{ "recover", "[RUN-DIRECTORY...]", "deliver events of dead processes", cmd_recover, true,
	  false },
	{ "forward", "PATH... ADDRESS", "copy traces, or a spool, into a stream", cmd_forward, true,
	  false },
	{ "archive", "ADDRESS DIRECTORY", "copy traces from a stream", cmd_archive, true, false },
	{ "respond", "[ADDRESS]", "answer other machines", cmd_respond, true, false },
	{ "config", "check [FILE]", "check a configuration file", cmd_config, false, false },
	{ "parmlib", "check MEMBER...", "check or print members of component trace", cmd_parmlib,
	  false, false },
	{ "explain", "[RC [REASON]]", "explain a code of component trace", cmd_explain, false,
	  false },
	{ "help", "[VERB]", "explain a verb, or list all of them", cmd_help, false, false },
};

static const struct verb *verb_find(const char *name)
{
	if (strcmp(name, "salvage") == 0) /* the former name, which scripts may still use */
		name = "repair";
	for (size_t i = 0; i < CT_COUNT(verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

/* The verb that was probably meant, or NULL.  Its beginning will do. */
static const char *verb_nearest(const char *name)
{
	const char *names[CT_COUNT(verbs)];
	size_t size = strlen(name);

	for (size_t i = 0; i < CT_COUNT(verbs); i++) {
		names[i] = verbs[i].name;
		if (size > 1 && strncmp(names[i], name, size) == 0)
			return names[i];
	}
	return ct_suggest((struct ct_span){ name, size }, names, CT_COUNT(names));
}

static int verb_diagnose_unknown(const char *name)
{
	const char *nearest = verb_nearest(name);

	fputs("ctrace: unknown verb \"", stderr);
	ct_tool_print(stderr, name, strlen(name));
	if (nearest != NULL)
		fprintf(stderr, "\"; did you mean \"%s\"?\n", nearest);
	else
		fputs("\"\n", stderr);
	fputs("Try 'ctrace --help' for the list of verbs.\n", stderr);
	return CMD_USAGE;
}

/* argc and argv are the words from the verb on. */
static int verb_run(const struct verb *verb, int argc, char **argv)
{
	static char name[64];

	/* argp and getopt call the program by argv[0] in everything that they print. */
	snprintf(name, sizeof(name), "ctrace %s", verb->name);
	argv[0] = name;
	allocate_name(name, verb->goes_on);
	if (verb->reads && !options_file_expand(name, &argc, &argv))
		return CMD_USAGE;
	return verb->run(argc, argv);
}

static void print_version(FILE *to, struct argp_state *state)
{
	(void)state;
	fputs("ctrace " CT_VERSION "\n", to);
}

static void print_verbs(FILE *to)
{
	fputs("Verbs:\n", to);
	for (size_t i = 0; i < CT_COUNT(verbs); i++)
		fprintf(to, "  %-8s%-25s%s\n", verbs[i].name, verbs[i].arguments, verbs[i].help);
}

/* Appends the rows of the table to the text after the options. */
static char *add_verbs(int key, const char *text, void *input)
{
	char *out = NULL;
	size_t size = 0;
	FILE *to;

	(void)input;
	if (key != ARGP_KEY_HELP_EXTRA)
		return (char *)(uintptr_t)text;
	to = open_memstream(&out, &size);
	if (to == NULL)
		return NULL;
	print_verbs(to);
	fputs("\n'ctrace help VERB' and 'man ctrace-VERB' explain a verb.", to);
	if (!allocate_close_stream(to)) {
		free(out);
		return NULL;
	}
	return out;
}

/* What stands before the verb. */
struct before_verb {
	int verb_at;
	const char *hosts; /* NULL: this machine */
};

static error_t parse_before_verb(int key, char *argument, struct argp_state *state)
{
	struct before_verb *before = state->input;

	switch (key) {
	case OPTION_HOST:
		before->hosts = argument;
		return 0;
	case ARGP_KEY_ARG:
		before->verb_at = state->next - 1;
		state->next = state->argc; /* the rest is the verb's to parse */
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_state_help(state, stderr, ARGP_HELP_STD_USAGE & ~(unsigned)ARGP_HELP_EXIT_ERR);
		print_verbs(stderr);
		exit(CMD_USAGE);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options_before_verb[] = {
	{ "host", OPTION_HOST, "LIST", 0,
	  "do it on these machines (h1,h2), or on all that answer ('*'), by the servers of CTRACE_NATS",
	  0 },
	{ 0 },
};

static const struct argp argp_main = {
	.options = options_before_verb,
	.parser = parse_before_verb,
	.args_doc = "VERB [ARGUMENT...]",
	.doc = "Show and change the tracing of the programs of this machine.",
	.help_filter = add_verbs,
};

static error_t parse_help(int key, char *argument, struct argp_state *state)
{
	const char **name = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (*name != NULL)
		argp_error(state, "one verb at a time");
	*name = argument;
	return 0;
}

static int cmd_help(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_help,
		.args_doc = "[VERB]",
		.doc = "Explain a verb, or list all of them.",
	};
	char help[] = "--help";
	const char *name = NULL;
	char *arguments[] = { NULL, help, NULL };
	const struct verb *verb;

	if (argp_parse(&argp, argc, argv, 0, NULL, &name) != 0)
		return CMD_USAGE;
	if (name == NULL) {
		char *everything[] = { tool_name, help, NULL };

		return argp_parse(&argp_main, 2, everything, 0, NULL, NULL) != 0 ? CMD_USAGE
										 : CMD_DONE;
	}
	verb = verb_find(name);
	if (verb == NULL)
		return verb_diagnose_unknown(name);
	return verb_run(verb, 2, arguments);
}

/* An earlier write to stdout failed and its errno is gone, so the output is incomplete.  Writing
 * one more byte finds the reason again. */
static int stdout_find_error(void)
{
	return write(STDOUT_FILENO, "\n", 1) < 0 ? errno : 0;
}

/* A full disk behind stdout must not look like success.  Runs at exit, since argp exits by itself
 * after --help. */
static void stdout_check(void)
{
	bool failed = ferror(stdout) != 0;
	bool pending = __fpending(stdout) != 0;
	int error = failed ? stdout_find_error() : 0;

	errno = 0;
	if (fclose(stdout) == 0 && !failed)
		return;
	if (error != 0)
		errno = error;
	/* started without one, and nothing was printed */
	if (errno == EBADF && !failed && !pending)
		return;
	fprintf(stderr, "ctrace: cannot write the output: %s\n",
		errno != 0 ? strerror(errno) : "write error");
	_exit(CMD_UNWRITTEN);
}

/* A failed allocation outweighs the verb's own exit status.  Also runs after --help, where argp
 * exits. */
static void memory_check(void)
{
	if (!allocate_has_failed())
		return;
	(void)fflush(stdout);
	_exit(CMD_NO_MEMORY);
}

/* A recovery without progress may hold locks that exit() would wait for.  Runs last of our
 * handlers. */
static void end_without_recovery(int exit_status, void *unused)
{
	(void)unused;
	if (ct_recovery_runs())
		_exit(exit_status);
}

/* Started without standard descriptors, the tool must not print into the next file that it opens.
 */
static void descriptors_reserve(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null",
				   /* the lowest: fd.  Its use fails with EBADF; programs that the
				    * tool starts have what the tool was given */
				   (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/* With fewer descriptors a verb could not tell what is missing from what it cannot open.  `run` has
 * the program's limit. */
static bool descriptors_suffice(const struct verb *verb)
{
	struct rlimit limit;

	if (strcmp(verb->name, "run") == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur >= DESCRIPTORS_NEEDED)
		return true;
	fprintf(stderr,
		"ctrace: at most %llu files may be open, and ctrace needs %u: raise the limit, as with ulimit -n\n",
		(unsigned long long)limit.rlim_cur, DESCRIPTORS_NEEDED);
	return false;
}

static void file_size_note(int number)
{
	(void)number;
}

int main(int argc, char **argv)
{
	struct sigaction file_size;
	const struct verb *verb;
	struct before_verb before = { 0 };

	descriptors_reserve();
	/* A file that becomes too large is reported.  Programs that the tool starts have the
	 * default again. */
	if (sigaction(SIGXFSZ, NULL, &file_size) == 0 && file_size.sa_handler == SIG_DFL) {
		file_size.sa_handler = file_size_note;
		(void)sigaction(SIGXFSZ, &file_size, NULL);
	}
	request_party_take();
	json_set_alloc_funcs(malloc, free); /* ours */
	allocate_init();
	if (argc > 0)
		argv[0] = tool_name;
	argp_err_exit_status = CMD_USAGE;
	argp_program_version_hook = print_version;
	/* The last one is called first. */
	if (on_exit(end_without_recovery, NULL) != 0 || atexit(stdout_check) != 0 ||
	    atexit(memory_check) != 0)
		return CMD_NO_MEMORY;
	if (argp_parse(&argp_main, argc, argv, ARGP_IN_ORDER, NULL, &before) != 0 ||
	    before.verb_at == 0)
		return CMD_USAGE;
	if (before.hosts != NULL)
		return hosts_ask(before.hosts, (size_t)(argc - before.verb_at),
				 argv + before.verb_at);
	verb = verb_find(argv[before.verb_at]);
	if (verb == NULL && strcmp(argv[before.verb_at], "version") == 0) {
		print_version(stdout, NULL);
		return CMD_DONE;
	}
	if (verb == NULL)
		return verb_diagnose_unknown(argv[before.verb_at]);
	if (!descriptors_suffice(verb))
		return CMD_NOTHING;
	return verb_run(verb, argc - before.verb_at, argv + before.verb_at);
}
