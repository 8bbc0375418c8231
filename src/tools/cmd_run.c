/*
 * cmd_run.c - ctrace run PROGRAM: runs it with tracing of the COBOL run time, and prints what it
 * did.
 *
 *     runs/run_examine.c  the program's file: can a library be loaded before libcob?
 *     runs/cobol_library.c  the library that is loaded
 *     runs/run_trace.c    the directory of the trace
 *     runs/run_config.c   the configuration of the run
 *     runs/run_program.c  the run: streams, signals and exit status are the program's
 *     runs/run_losses.c   the events that are not in the trace
 *     runs/run_follow.c   --tail
 *     runs/run_processes.c  what the program has left running
 *     print/run_page.c  the page
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"
#include "tools/traces/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/progress_line.h"
#include "lib/emit/emit.h"
#include "operator/recovery/recovery.h"
#include "print/run_page.h"
#include "tools/runs/cobol_library.h"
#include "tools/runs/run_follow.h"
#include "tools/runs/run_losses.h"
#include "tools/runs/run_processes.h"
#include "tools/runs/run_program.h"
#include "tools/runs/run_report.h"
#include "tools/runs/run_trace.h"

#define LIBRARY COBOL_LIBRARY
#define DESCRIPTORS 8u /* of a process with one traced thread: man/ctrace-cobol.7 lists them */
#define LIMIT_DEFAULT ((uint64_t)1 << 30)
#define LIMIT_LEAST ((uint64_t)8 << 20)
#define FEW_DESCRIPTORS 24u
#define SHELL_SIGNAL 128 /* a shell's exit status of what a signal has ended is above it */
/* Tracing takes some 20 MiB of it; a COBOL program has 45 MiB when it begins. */
#define ADDRESSES_LEAST ((uint64_t)256 << 20)

enum {
	OPTION_LEVEL = 256,
	OPTION_FILES,
	OPTION_CALLS,
	OPTION_PARAGRAPHS,
	OPTION_STATEMENTS,
	OPTION_RECORDS,
	OPTION_IO,
	OPTION_REPORT,
	OPTION_CONFIG,
	OPTION_TAIL,
	OPTION_LIMIT_SIZE,
	OPTION_SUMMARY
};

enum summary { SUMMARY_AUTO, SUMMARY_ALWAYS, SUMMARY_NEVER };

struct verb {
	struct run_wanted wanted;
	const char *output; /* -o; NULL: by the program's name */
	bool has_name;      /* -o was given */
	const char *report; /* or NULL */
	bool tails;
	enum summary summary;
	char **words; /* the program and its arguments */
	struct run_program_kind kind;
	char library[PATH_MAX];
	struct run_trace trace;
	struct run_config config;
	struct run_program program;
	struct run_follow *follow; /* or NULL */
	struct run_losses losses;
	struct run_unseen unseen;
	uint64_t started_ns;
	uint64_t ended_ns; /* wall clock: the program had ended */
};

/* -----------------------------------------------------------------------------------------------
 * Before the program runs
 */

static bool library_find(struct verb *verb)
{
	if (!cobol_library_find(verb->library))
		return run_report(
			LIBRARY,
			"it is not beside ctrace and not installed; build ctrace where cobc and the header libcob.h are (make, make install)");
	if (strpbrk(verb->library, " :") != NULL)
		return run_report(
			verb->library,
			"LD_PRELOAD takes no path with a blank or a colon; move ctrace to another directory, or install it");
	return true;
}

/* A name that cannot be written is reported before the program has run for hours. */
static bool report_is_possible(const struct verb *verb)
{
	const char *slash;
	struct stat info;
	char *directory;
	bool is_good;

	if (verb->report == NULL)
		return true;
	if (stat(verb->report, &info) == 0 && S_ISDIR(info.st_mode))
		return run_report(verb->report,
				  "it is a directory; name a file in it for the report");
	slash = strrchr(verb->report, '/');
	directory = slash == NULL ? strdup(".")
				  : strndup(verb->report, (size_t)(slash - verb->report + 1));
	is_good = directory != NULL && access(directory, W_OK | X_OK) == 0;
	free(directory);
	return is_good || run_report(verb->report, strerror(errno));
}

/* PROGRAM.ctb; when that cannot be had, as while another run writes to it, PROGRAM.PID.ctb. */
static bool trace_open(struct verb *verb)
{
	const char *slash = strrchr(verb->words[0], '/');
	const char *base = slash != NULL ? slash + 1 : verb->words[0];
	static char name[PATH_MAX]; /* until the tool ends */
	int size = (int)ct_utf8_fit(base, CT_FILE_NAME_MOST);

	if (verb->has_name)
		return run_trace_open(&verb->trace, verb->output);
	verb->output = name;
	(void)snprintf(name, sizeof name, "%.*s.ctb", size, base);
	if (run_trace_open(&verb->trace, name))
		return true;
	(void)snprintf(name, sizeof name, "%.*s.%d.ctb", size, base, (int)getpid());
	return run_trace_open(&verb->trace, name);
}

/* What tracing takes is no longer the program's, also where nothing is traced in the end.  Returns
 * true after a report. */
static bool address_space_is_small(const struct verb *verb)
{
	uint64_t limit = ct_os_address_limit();
	char what[160];

	if (limit >= ADDRESSES_LEAST)
		return false;
	(void)snprintf(
		what, sizeof what,
		"its limit of %" PRIu64
		" KiB of address space (ulimit -v) has no room for tracing, which is from %u KiB on",
		limit / 1024, (unsigned)(ADDRESSES_LEAST / 1024));
	(void)run_report(verb->words[0], what);
	return true;
}

/* With fewer descriptors a later step fails, and reports another reason. */
static bool descriptors_suffice(const struct verb *verb)
{
	int fds[DESCRIPTORS], count = 0, error = 0;

	while (count < (int)CT_COUNT(fds) &&
	       (fds[count] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0)
		count++;
	error = errno;
	for (int i = 0; i < count; i++)
		(void)close(fds[i]);
	return count == (int)CT_COUNT(fds) || run_report(verb->words[0], strerror(error));
}

/* Returns 0, or the exit status after a report. */
static int verb_prepare(struct verb *verb)
{
	int exit_status = descriptors_suffice(verb)
				  ? run_program_examine(verb->words[0], &verb->kind)
				  : RUN_FAILED;

	if (exit_status != 0)
		return exit_status;
	if (!library_find(verb) || !report_is_possible(verb) ||
	    !run_config_read(&verb->config, &verb->wanted, verb->words))
		return RUN_FAILED;
	return 0;
}

/* Makes the files that are removed at the end of the run. */
static bool files_make(struct verb *verb)
{
	if (!trace_open(verb))
		return false;
	if (run_config_write(&verb->config, &verb->wanted, &verb->trace))
		return true;
	run_trace_discard(&verb->trace);
	return false;
}

/* A program that lacks descriptors reports a file that it cannot open, and its user does not look
 * for the reason here. */
static void report_few_descriptors(const struct verb *verb)
{
	struct rlimit limit;
	char what[160];

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= FEW_DESCRIPTORS)
		return;
	(void)snprintf(
		what, sizeof what,
		"tracing takes some %u of its %u descriptors (ulimit -n): it may be unable to open a file; raise the limit",
		DESCRIPTORS, (unsigned)limit.rlim_cur);
	run_report_now(verb->words[0], what);
}

static int program_start(struct verb *verb)
{
	int exit_status;

	verb->program.words = verb->words;
	verb->program.preload = verb->library;
	verb->program.config = verb->config.path;
	verb->program.directory = verb->config.directory;
	if (verb->tails)
		verb->follow = run_follow_open(verb->config.path);
	if (verb->follow != NULL) {
		verb->program.follow = run_follow_step;
		verb->program.follow_user = verb->follow;
		verb->program.follow_fd = run_follow_fd(verb->follow);
	}
	report_few_descriptors(verb);
	verb->started_ns = ct_clock_mono_ns();
	exit_status = run_program_start(&verb->program);
	if (exit_status == 0)
		return 0;
	run_follow_close(verb->follow);
	run_trace_discard(&verb->trace);
	return exit_status;
}

/* -----------------------------------------------------------------------------------------------
 * After it has ended
 */

static bool summary_is_wanted(const struct verb *verb)
{
	return verb->summary == SUMMARY_ALWAYS ||
	       (verb->summary == SUMMARY_AUTO && isatty(STDERR_FILENO));
}

/* What leaves no sign behind. */
#define NOT_SEEN \
	"A COBOL program is not traced as another user (su, setpriv), without its environment " \
	"(env -i), set-uid, in a container, with libcob linked statically (link it again, with " \
	"-lcob), or with libcob loaded by dlopen (load " LIBRARY " before it)"

/* Reports why no COBOL program was traced.  The page has only what was traced. */
static void report_untraced(const struct verb *verb)
{
	bool is_cobol = verb->kind.is_elf && verb->kind.needs_libcob;

	if (verb->unseen.inner > 0) {
		if (verb->summary != SUMMARY_NEVER)
			(void)run_report(verb->words[0],
					 verb->unseen.inner == 1
						 ? "the ctrace run inside has the trace"
						 : "the ctrace runs inside have the traces");
		return;
	}
	if (verb->summary == SUMMARY_NEVER &&
	    (!is_cobol || run_wanted_level(&verb->wanted) > CTRACE_INFO))
		return;
	if (verb->kind.is_elf && !verb->kind.needs_libcob)
		(void)run_report(
			verb->words[0],
			"nothing of a COBOL run time was traced: the program does not need libcob.so. " NOT_SEEN);
	else if (run_wanted_level(&verb->wanted) > CTRACE_INFO)
		(void)run_report(
			verb->words[0],
			"nothing was traced: this --level has only warnings and errors, and there was none");
	else if (verb->kind.is_elf)
		(void)run_report(
			verb->words[0],
			"nothing of the COBOL run time was traced, although the program needs libcob.so: it ended before the run time"
			" began (ctrace doctor looks at a program)");
	else
		(void)run_report(
			verb->words[0],
			"nothing of a COBOL run time was traced: no COBOL program that it started could be. " NOT_SEEN);
}

static int terminal_width(void)
{
	struct winsize window;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col
										   : 0;
}

/* "./payroll ended with exit status 3 after 1.23 s" */
static void subject_add(const struct verb *verb, uint64_t ran_ns, struct ct_buf *out)
{
	int how = verb->program.how, number = WIFSIGNALED(how) ? WTERMSIG(how) : 0;

	ct_buf_add_text(out, verb->words[0]);
	if (number != 0 && sigabbrev_np(number) != NULL)
		ct_buf_add_format(out, " was ended by SIG%s (%s)", sigabbrev_np(number),
				  strsignal(number));
	else if (number != 0)
		ct_buf_add_format(out, " was ended by signal %d (%s)", number, strsignal(number));
	else
		ct_buf_add_format(out, " ended with exit status %d", WEXITSTATUS(how));
	ct_buf_add_text(out, " after ");
	ct_run_page_add_time(out, ran_ns);
}

/* The sentences that the page has in place of tables that were not asked for. */
struct untraced {
	char texts[RUN_PARTS][RUN_UNTRACED_SIZE];
};

static struct ct_run_page_untraced untraced_find(const struct run_wanted *wanted,
						 struct untraced *out)
{
	const char *why[RUN_PARTS];

	for (unsigned i = 0; i < RUN_PARTS; i++)
		why[i] = run_wanted_untraced(wanted, (enum run_part)i, out->texts[i]);
	return (struct ct_run_page_untraced){ .programs = why[RUN_PROGRAMS],
					      .paragraphs = why[RUN_PARAGRAPHS],
					      .files = why[RUN_FILES],
					      .records = run_wanted_level(wanted) > CTRACE_DEBUG };
}

static void page_print(struct verb *verb, struct ct_run_page *page, const char *losses,
		       uint64_t ran_ns)
{
	struct untraced untraced;
	struct ct_run_page_options options = {
		.width = terminal_width(),
		.trace = verb->output,
		.report = verb->report,
		.losses = losses,
		.files = verb->wanted.file_names,
		.untraced = untraced_find(&verb->wanted, &untraced),
	};
	struct ct_buf subject, text;

	ct_buf_init(&subject);
	ct_buf_init(&text);
	subject_add(verb, ran_ns, &subject);
	options.subject = ct_buf_text(&subject);
	ct_run_page_print(page, &options, &text);
	progress_clear();
	fwrite(text.data, 1, text.size, stderr);
	ct_buf_fini(&text);
	ct_buf_fini(&subject);
}

static void report_losses(const struct verb *verb, struct ct_buf *lines)
{
	size_t begin = 0;

	for (size_t i = 0; i < lines->size; i++)
		if (lines->data[i] == '\n') {
			lines->data[i] = '\0';
			(void)run_report(verb->trace.shown, lines->data + begin);
			begin = i + 1;
		}
}

/* The events that are not in the trace are reported also when no page is wanted. */
static void trace_conclude(struct verb *verb, struct ct_run_page *page, uint64_t discarded,
			   uint64_t ran_ns)
{
	struct ct_buf lines;

	ct_buf_init(&lines);
	run_losses_add(&verb->losses, ct_run_page_events(page), discarded, &lines);
	if (ct_run_page_traced(page) > 0 && summary_is_wanted(verb))
		page_print(verb, page, ct_buf_text(&lines), ran_ns);
	else
		report_losses(verb, &lines);
	ct_buf_fini(&lines);
}

/* Reads the trace once: the rest of --tail, and what the page is made of.  Returns the events of
 * the run time, and those that the trace reports as lost. */
static uint64_t trace_read(struct verb *verb, uint64_t ran_ns, bool is_whole)
{
	char *paths[] = { verb->trace.path };
	struct ct_run_page *page = NULL;
	const struct ct_read_event *event;
	struct reading reading;
	uint64_t traced, discarded;

	reading_init(&reading, "ctrace run");
	reading_paths(&reading, paths, 1);
	reading.shows_progress = true;
	reading.losses_are_known = true;
	reading.has_pairs = verb->follow != NULL;
	if (ct_run_page_create(&page) != CTRACE_OK || !reading_open(&reading)) {
		ct_run_page_destroy(page);
		reading_close(&reading);
		return 1; /* reported */
	}
	while ((is_whole || ct_run_page_traced(page) == 0) &&
	       (event = ct_reader_next(reading.reader)) != NULL) {
		ct_run_page_add(page, event);
		if (verb->follow != NULL)
			run_follow_rest(verb->follow, event);
	}
	ct_reader_process_ended(reading.reader, (uint32_t)verb->program.child, verb->ended_ns);
	progress_clear();
	discarded = is_whole ? ct_reader_totals(reading.reader)->discarded : 0;
	traced = ct_run_page_traced(page) + discarded;
	trace_conclude(verb, page, discarded, ran_ns);
	ct_run_page_destroy(page);
	reading_close(&reading);
	return traced;
}

static void report_make(const struct verb *verb)
{
	char name[] = "ctrace report", output[] = "-o";
	char *words[] = { name, output, (char *)(uintptr_t)verb->report,
			  (char *)(uintptr_t)verb->trace.path, NULL };

	if (verb->report != NULL && run_trace_has_some(&verb->trace) &&
	    cmd_report(CT_COUNT(words) - 1, words) != CMD_DONE)
		(void)run_report(verb->report, "there is no page, or it is not complete");
}

/* Nothing could be written. */
static void untraced_conclude(const struct verb *verb)
{
	struct ct_buf lines;

	ct_buf_init(&lines);
	run_losses_add(&verb->losses, 0, 0, &lines);
	report_losses(verb, &lines);
	ct_buf_fini(&lines);
}

static void report_running(const struct verb *verb, const struct run_process *process)
{
	char what[PATH_MAX];
	char name[64];

	(void)snprintf(name, sizeof name, "process %" PRIu32 " (%s)", process->pid, process->name);
	if (process->is_traced)
		(void)snprintf(
			what, sizeof what,
			"it still runs and traces into %s; the page has what was there so far",
			verb->trace.shown);
	else
		(void)snprintf(
			what, sizeof what,
			"it still runs; a COBOL program that it starts from now on is not traced");
	(void)run_report(name, what);
}

/* Processes that the program has left in the background.  Returns whether one still traces. */
static bool report_background(const struct verb *verb, size_t *out_count)
{
	struct run_process processes[RUN_PROCESSES_MOST];
	size_t count = run_processes_find(verb->config.path, processes);
	bool is_traced = false;

	*out_count = count;
	for (size_t i = 0; i < count && i < RUN_PROCESSES_MOST; i++) {
		is_traced |= processes[i].is_traced;
		if (verb->summary != SUMMARY_NEVER)
			report_running(verb, &processes[i]);
	}
	if (count > RUN_PROCESSES_MOST && verb->summary != SUMMARY_NEVER)
		fprintf(stderr, "ctrace run: %zu more processes still run\n",
			count - RUN_PROCESSES_MOST);
	return is_traced;
}

/* Steps of a script that ran as another user.  Returns whether there were any. */
static bool report_unread(const struct verb *verb)
{
	unsigned count = verb->unseen.unread;
	char what[160];

	if (count == 0)
		return false;
	(void)snprintf(
		what, sizeof what,
		"%s%u program%s ran untraced, as another user who cannot read the configuration of the run",
		count + verb->unseen.inner == RUN_UNSEEN_MOST ? "at least " : "", count,
		count == 1 ? "" : "s");
	(void)run_report(verb->words[0], what);
	return true;
}

/* Delivers what killed processes have left in their rings.  Returns how many of the run's process
 * directories remain. */
static uint32_t losses_gather(struct verb *verb)
{
	struct run_losses left;

	if (verb->losses.dead == 0)
		return verb->losses.processes;
	ct_recovery_on_the_way("ctrace run");
	run_losses_gather(verb->trace.run, &left);
	verb->losses.waiting = left.waiting;
	verb->losses.failing = left.failing;
	return left.processes;
}

/* Returns how many events of the run time are in the trace; 1: some. */
static uint64_t trace_look(struct verb *verb, uint64_t ran_ns)
{
	bool has_run_time = run_losses_left_out(verb->trace.path, &verb->losses.left_out);
	bool is_whole =
		summary_is_wanted(verb) || verb->follow != NULL ||
		verb->losses.waiting + verb->losses.lost_total + verb->losses.left_out.events > 0 ||
		verb->losses.unattached.count > 0;

	/* The reader reports a catalogue that cannot be read. */
	is_whole = is_whole || ct_os_environment("CTRACE_CATALOG") != NULL ||
		   ct_os_environment("MFTRACE_ANNOTATIONS") != NULL;
	report_make(verb);
	if (has_run_time && !is_whole)
		return 1;
	if (run_trace_has_some(&verb->trace))
		return trace_read(verb, ran_ns, is_whole);
	untraced_conclude(verb);
	return 0;
}

static void verb_conclude(struct verb *verb)
{
	uint64_t ran_ns = ct_clock_mono_ns() - verb->started_ns;
	size_t running = 0;
	uint64_t traced;
	bool has_left, is_traced, is_explained;
	uint32_t left;

	verb->ended_ns = ct_clock_wall_ns();
	run_trace_end(&verb->trace);
	if (verb->follow != NULL)
		run_follow_end(verb->follow);
	run_config_unseen(&verb->config, &verb->unseen);
	is_explained = report_unread(verb);
	run_losses_gather(verb->trace.run, &verb->losses);
	run_losses_find_unattached(verb->ended_ns - ran_ns, &verb->losses);
	verb->losses.is_killed =
		WIFSIGNALED(verb->program.how) || WEXITSTATUS(verb->program.how) > SHELL_SIGNAL;
	has_left = run_program_has_left(&verb->program);
	is_traced = (has_left || verb->losses.alive > 0) && report_background(verb, &running);
	left = losses_gather(verb);
	traced = trace_look(verb, ran_ns);
	is_explained |= verb->losses.unattached.count > 0;
	if (traced + verb->losses.waiting + verb->losses.lost_total == 0 && running == 0 &&
	    !is_explained)
		report_untraced(verb);
	run_follow_close(verb->follow);
	if (left == 0 && !has_left)
		run_trace_done(&verb->trace);
	if (!is_traced && left == 0)
		run_trace_discard(&verb->trace);
}

/* -----------------------------------------------------------------------------------------------
 * The verb
 */

static void refuse_pid(const struct argp_state *state)
{
	argp_failure(
		state, CMD_USAGE, 0,
		"a running program cannot be traced afterwards: it has found the functions of libcob already, and no library gets in front of"
		" them. Start it with ctrace run. Or start programs with LD_PRELOAD=" LIBRARY
		" and levels of none: then operators switch tracing on in the running program, with ctrace level, ctrace prop and TRACE CT");
}

/* A name that is empty, as of a variable that is not set in a script. */
static const char *parse_name(const char *name, const char *option, const struct argp_state *state)
{
	if (name[0] == '\0')
		argp_error(state, "%s has an empty name", option);
	return name;
}

static void parse_level(struct verb *verb, char *word, const struct argp_state *state)
{
	uint32_t level;

	if (!ct_level_parse(word, strlen(word), &level) || level > CTRACE_FATAL)
		argp_error(state, "no level: \"%s\"; expected debug, info, warn, error or fatal",
			   word);
	verb->wanted.level = ct_level_name(level);
}

static void parse_files(struct verb *verb, const char *names, const struct argp_state *state)
{
	verb->wanted.files = true;
	verb->wanted.file_names = names;
	for (const char *at = names; at != NULL && *at != '\0'; at++)
		if ((unsigned char)*at < ' ' || *at == '=')
			argp_error(state, "no name of a file: \"%s\"", names);
	if (names != NULL && names[strspn(names, ", ")] == '\0')
		argp_error(state, "--files= without a name; expected --files or --files=NAME,NAME");
}

static void parse_summary(struct verb *verb, const char *word, const struct argp_state *state)
{
	static const char *const words[] = { "auto", "always", "never" };

	for (size_t i = 0; i < CT_COUNT(words); i++)
		if (strcasecmp(word, words[i]) == 0) {
			verb->summary = (enum summary)i;
			return;
		}
	argp_error(state, "\"%s\" is none of auto, always and never", word);
}

static void parse_limit(struct verb *verb, const char *word, const struct argp_state *state)
{
	uint64_t size = 0;

	if (strcasecmp(word, "none") != 0 &&
	    (!ct_size_parse(word, strlen(word), &size) || size < LIMIT_LEAST))
		argp_error(state,
			   "no size: \"%s\"; expected none, or at least 8M, such as 500M or 10G",
			   word);
	verb->wanted.limit_kb = size / 1024;
}

static void parse_report(struct verb *verb, const char *name, const struct argp_state *state)
{
	if (strcmp(name, "-") == 0)
		argp_error(state, "standard output is the program's: name a file for the report");
	verb->report = parse_name(name, "--report", state);
}

static error_t parse_run(int key, char *argument, struct argp_state *state)
{
	struct verb *verb = state->input;

	switch (key) {
	case OPTION_LEVEL:
		parse_level(verb, argument, state);
		return 0;
	case OPTION_FILES:
		parse_files(verb, argument, state);
		return 0;
	case OPTION_CALLS:
		verb->wanted.calls = true;
		return 0;
	case OPTION_PARAGRAPHS:
		verb->wanted.paragraphs = true;
		return 0;
	case OPTION_STATEMENTS:
		verb->wanted.statements = true;
		return 0;
	case OPTION_RECORDS:
		verb->wanted.records = true;
		return 0;
	case OPTION_IO:
		verb->wanted.io = true;
		return 0;
	case OPTION_REPORT:
		parse_report(verb, argument, state);
		return 0;
	case OPTION_CONFIG:
		verb->wanted.user_config = parse_name(argument, "--config", state);
		return 0;
	case OPTION_TAIL:
		verb->tails = true;
		return 0;
	case OPTION_LIMIT_SIZE:
		parse_limit(verb, argument, state);
		return 0;
	case OPTION_SUMMARY:
		parse_summary(verb, argument, state);
		return 0;
	case 'o':
		verb->output = parse_name(argument, "-o", state);
		verb->has_name = true;
		return 0;
	case 'p':
		refuse_pid(state);
		return 0;
	case ARGP_KEY_ARG:
		verb->words = &state->argv[state->next - 1];
		state->next = state->argc; /* the rest is the program's */
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "a program is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Tracing stops no program: without a trace or a report that was asked for, it runs untraced. */
static int untraced_run(const struct verb *verb, int exit_status, bool is_refused)
{
	run_report_release(is_refused ? "" : "; the program runs untraced");
	run_program_release(&verb->program);
	return is_refused ? exit_status : run_program_exec(verb->words);
}

int cmd_run(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ NULL, 0, NULL, 0,
		  "What is traced; files, calls and paragraphs if none of these is given:", 1 },
		{ "files", OPTION_FILES, "NAMES", OPTION_ARG_OPTIONAL,
		  "Files, or those of these names in SELECT or of these base names", 1 },
		{ "calls", OPTION_CALLS, NULL, 0, "Programs: entry, exit, search, load, CANCEL",
		  1 },
		{ "paragraphs", OPTION_PARAGRAPHS, NULL, 0,
		  "Sections and paragraphs; needs cobc -ftrace or -ftraceall", 1 },
		{ "statements", OPTION_STATEMENTS, NULL, 0, "Statements; needs cobc -ftraceall",
		  1 },
		{ NULL, 0, NULL, 0, "Besides:", 2 },
		{ "records", OPTION_RECORDS, NULL, 0, "The contents of records", 2 },
		{ "io", OPTION_IO, NULL, 0, "The texts of DISPLAY and ACCEPT", 2 },
		{ "level", OPTION_LEVEL, "LEVEL", 0,
		  "Only events of this level and above; debug by default", 2 },
		{ "config", OPTION_CONFIG, "FILE", 0,
		  "A configuration that goes before; MFTRACE_CONFIG by default", 2 },
		{ "output", 'o', "TRACE", 0,
		  "The directory of the trace; PROGRAM.ctb by default. One of an earlier run becomes TRACE.old",
		  3 },
		{ "report", OPTION_REPORT, "FILE", 0, "A page for a browser, as by ctrace report",
		  3 },
		{ "limit-size", OPTION_LIMIT_SIZE, "SIZE", 0,
		  "Keep the first and the last parts of a trace that becomes larger; 1G by default, none: no limit",
		  3 },
		{ "tail", OPTION_TAIL, NULL, 0, "Print events while the program runs", 3 },
		{ "summary", OPTION_SUMMARY, "WHEN", 0,
		  "Print the page at the end: auto (on a terminal, the default), always, never",
		  3 },
		{ "pid", 'p', "PID", OPTION_HIDDEN, NULL, 3 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = rows,
		.parser = parse_run,
		.args_doc = "PROGRAM [ARGUMENT...]",
		.doc = "Run a COBOL program, compiled as it may be, with tracing of its run time: programs, paragraphs, files, errors. "
		       "Its standard streams, signals and exit status are its own. Afterwards a page is printed on standard error.\v"
		       "Exit status: that of PROGRAM; a signal that ends PROGRAM ends ctrace too. 125 ctrace has failed, 126 PROGRAM "
		       "cannot be executed, 127 there is no PROGRAM, 2 usage.",
	};
	struct verb verb = { .summary = SUMMARY_AUTO, .wanted.limit_kb = LIMIT_DEFAULT / 1024 };
	int exit_status;

	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &verb) != 0)
		return CMD_USAGE;
	/* Without these, files are traced by default. */
	if (verb.wanted.calls || verb.wanted.paragraphs || verb.wanted.statements)
		verb.wanted.files |= verb.wanted.records;
	run_program_hold(&verb.program);
	run_report_hold();
	exit_status = verb_prepare(&verb);
	if (exit_status == 0 && address_space_is_small(&verb))
		return untraced_run(&verb, RUN_FAILED, false);
	if (exit_status == 0)
		exit_status = files_make(&verb) ? program_start(&verb) : RUN_FAILED;
	if (exit_status != 0)
		return untraced_run(&verb, exit_status,
				    exit_status != RUN_FAILED || verb.has_name ||
					    verb.report != NULL || verb.wanted.user_config != NULL);
	run_report_drop();
	run_program_wait(&verb.program);
	verb_conclude(&verb);
	return run_program_end(&verb.program);
}
