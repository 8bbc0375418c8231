/*
 * cmd_console.c - ctrace console: an operator's console.
 *
 * Reads commands until it is ended.  Before each command it shows what is new: prompts of other
 * operators, lines of external writers' logs, and messages of processes.  Everything goes to stdout
 * with the time before it, as one log.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/console_input.h"
#include "operator/operator_run.h"
#include "tools/hosts/hosts_ask.h"
#include "cli/run_directory.h"
#include "operator/writer_control.h"
#include "lib/process/message_log.h"
#include "session/session.h"
#include "writer/writer.h"

#define PROMPT_NUMBERS 10u   /* that the prompt names */
#define SHOWN_AT_ONCE 65536u /* bytes of a log; the rest comes before the next prompt */
#define CONSOLE_LOGS 64u     /* files that are followed; more are not */

/* ---- the writers' logs, <run directory>/writer/NAME.log ----
 *
 * A log that has become shorter was begun anew, and is shown from its begin. */

struct console_log {
	char name[32]; /* "CTW.log" */
	off_t shown;   /* bytes, whole lines */
};
struct console_logs {
	int directory_fd; /* -1: it cannot be used, and there is nothing to show */
	int run_fd;       /* the run directory, which has the messages of processes; likewise */
	struct console_log messages;
	/* A line that the console has shown itself and that the writer's log has not shown yet;
	 * "": free */
	struct wto_printed expected[WTO_PRINTED];
	unsigned next_expected;
	size_t count;
	struct console_log items[CONSOLE_LOGS];
};

static bool name_is_log(const char *name)
{
	size_t size = strlen(name);

	return size > 4 && size < sizeof((struct console_log *)NULL)->name &&
	       strcmp(name + size - 4, ".log") == 0;
}

/* The log of that name, followed from now on when it was not; NULL: there are too many. */
static struct console_log *log_find(struct console_logs *logs, const char *name)
{
	struct console_log *log;

	for (size_t i = 0; i < logs->count; i++)
		if (strcmp(logs->items[i].name, name) == 0)
			return &logs->items[i];
	if (logs->count == CONSOLE_LOGS)
		return NULL;
	log = &logs->items[logs->count++];
	memset(log, 0, sizeof *log);
	memcpy(log->name, name, strlen(name) + 1);
	return log;
}

/* "17.25.01 " */
static bool line_has_time(const char *line, size_t size)
{
	static const char form[] = "00.00.00 ";

	for (size_t i = 0; i < sizeof form - 1; i++)
		if (i >= size ||
		    (form[i] == '0' ? line[i] < '0' || line[i] > '9' : line[i] != form[i]))
			return false;
	return true;
}

/* Is this the line that the console has already printed?  Once. */
static bool line_is_expected(struct console_logs *logs, const struct console_log *log,
			     const char *line, size_t size)
{
	for (size_t i = 0; i < CT_COUNT(logs->expected); i++) {
		struct wto_printed *printed = &logs->expected[i];
		size_t length = strlen(printed->text);

		if (length == 0 || size < length || memcmp(printed->text, line, length) != 0 ||
		    !ct_name_is(log->name, strlen(log->name) - 4, printed->writer))
			continue;
		/* one that was cut is a beginning */
		if (size != length && length + 1 != sizeof printed->text)
			continue;
		printed->text[0] = '\0';
		return true;
	}
	return false;
}

/* With the writer's name before it, and its own time before that where it has one.  A message of a
 * process says itself whose it is. */
static void print_line(const struct console_log *log, const struct wto *wto, const char *line,
		       size_t size)
{
	const struct wto plain = { 0 };
	size_t time_size = line_has_time(line, size) ? 9 : 0;
	bool is_writers = strcmp(log->name, CT_MESSAGE_LOG) != 0;
	char text[4096];
	int length = snprintf(text, sizeof text, "%.*s%.*s%s%.*s", (int)time_size, line,
			      is_writers ? (int)(strlen(log->name) - 4) : 0, log->name,
			      is_writers ? ": " : "", (int)(size - time_size), line + time_size);

	ct_wto_line(time_size != 0 ? &plain : wto, text,
		    (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* Whole lines only; the rest is not complete yet. */
static void log_show_lines(struct console_logs *logs, struct console_log *log,
			   const struct wto *wto, const char *text, size_t size)
{
	const char *end;

	while (size != 0 && (end = memchr(text, '\n', size)) != NULL) {
		size_t line = (size_t)(end - text);

		size_t time_size = line_has_time(text, line) ? 9 : 0;

		if (!line_is_expected(logs, log, text + time_size, line - time_size))
			print_line(log, wto, text, line);
		log->shown += (off_t)line + 1;
		text += line + 1;
		size -= line + 1;
	}
}

/* wto NULL: only notes how far it goes. */
static void log_follow(struct console_logs *logs, struct console_log *log, const struct wto *wto)
{
	int directory_fd = log == &logs->messages ? logs->run_fd : logs->directory_fd;
	static char text[SHOWN_AT_ONCE];
	struct stat info;
	ssize_t size = 0;
	int fd;

	if (ct_os_open_file(directory_fd, log->name, O_RDONLY, &fd) != CTRACE_OK)
		return;
	if (fstat(fd, &info) == 0) {
		if (wto == NULL)
			log->shown = info.st_size;
		else if (info.st_size < log->shown)
			log->shown = 0;
		if (wto != NULL && info.st_size > log->shown)
			size = pread(fd, text, sizeof text, log->shown);
	}
	ct_os_close(&fd);
	if (size > 0)
		log_show_lines(logs, log, wto, text, (size_t)size);
	if (size == (ssize_t)sizeof text && memchr(text, '\n', sizeof text) == NULL)
		log->shown += size; /* no line is so long */
}

static void logs_follow(struct console_logs *logs, const struct wto *wto)
{
	int fd = openat(logs->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (directory == NULL) {
		ct_os_close(&fd);
		return;
	}
	while ((entry = readdir(directory)) != NULL) {
		struct console_log *log =
			name_is_log(entry->d_name) ? log_find(logs, entry->d_name) : NULL;

		if (log != NULL)
			log_follow(logs, log, wto);
	}
	(void)closedir(directory);
}

/* Lines that the logs already have are not shown. */
static void logs_open(struct console_logs *logs)
{
	char path[4096];

	memset(logs, 0, sizeof *logs);
	logs->run_fd = -1;
	memcpy(logs->messages.name, CT_MESSAGE_LOG, sizeof CT_MESSAGE_LOG);
	if (ct_directory_run_directory(NULL, path) == CTRACE_OK)
		logs->run_fd = ct_os_high(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (logs->run_fd >= 0)
		log_follow(logs, &logs->messages, NULL);
	if (ct_run_directory_open(CT_WRITER_DIRECTORY, CT_RUN_OF_PROCESSES, path,
				  &logs->directory_fd) != CTRACE_OK) {
		logs->directory_fd = -1;
		return;
	}
	logs_follow(logs, NULL);
}

static void logs_close(struct console_logs *logs)
{
	ct_os_close(&logs->directory_fd);
	ct_os_close(&logs->run_fd);
}

/* Lines that a command has just shown are not shown again from the writers' logs. */
static void logs_expect(struct console_logs *logs, struct wto *wto)
{
	unsigned first = wto->printed_count > WTO_PRINTED ? wto->printed_count - WTO_PRINTED : 0;

	for (unsigned i = first; i < wto->printed_count; i++)
		logs->expected[logs->next_expected++ % WTO_PRINTED] = wto->printed[i % WTO_PRINTED];
	wto->printed_count = 0;
}

/* Prints the lines that are new. */
static void logs_show(struct console_logs *logs, const struct wto *wto)
{
	if (logs->run_fd >= 0)
		log_follow(logs, &logs->messages, wto);
	if (logs->directory_fd >= 0)
		logs_follow(logs, wto);
}

struct console {
	struct dialogue dialogue;
	struct console_logs logs;
	unsigned *numbers; /* of the prompts that were outstanding before the last command */
	size_t count;
};

/* ---- what has come meanwhile ---- */

static bool numbers_contain(const unsigned *numbers, size_t count, unsigned number)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

static void prompts_show(struct console *console)
{
	unsigned own = console->dialogue.prompted;
	unsigned *numbers = NULL;
	size_t count = 0;

	if (!ct_operator_numbers(&console->dialogue, &numbers, &count))
		return;
	for (size_t i = 0; i < count; i++)
		if (numbers[i] != own &&
		    !numbers_contain(console->numbers, console->count, numbers[i]))
			ct_operator_prompt(&console->dialogue, numbers[i]);
	console->dialogue.prompted = 0;
	free(console->numbers);
	console->numbers = numbers;
	console->count = count;
}

/* "[2 replies outstanding: 1 2] ctrace> " */
static void print_prompt(const struct console *console, struct ct_buf *out)
{
	ct_buf_clear(out);
	if (console->count != 0) {
		ct_buf_add_format(out, "[%zu %s outstanding:", console->count,
				  console->count == 1 ? "reply" : "replies");
		for (size_t i = 0; i < console->count && i < PROMPT_NUMBERS; i++)
			ct_buf_add_format(out, " %u", console->numbers[i]);
		ct_buf_add_text(out, console->count > PROMPT_NUMBERS ? " ...] " : "] ");
	}
	ct_buf_add_text(out, "ctrace> ");
}

/* ---- commands of the console's own ---- */

static const char help[] =
	"TRACE CT,ON|nnnnK|nnnnM|OFF,COMP=name[,SUB=(sub)]            asks for operands: R nn,...\n"
	"TRACE CT[,ON|OFF],COMP=name[,SUB=(sub)],PARM=member          takes them from a member\n"
	"TRACE CT,WTRSTART=name[,WRAP|NOWRAP]                         starts an external writer\n"
	"TRACE CT,WTRSTOP=name[,FLUSH|NOFLUSH]                        stops one\n"
	"D TRACE[,COMP=name[,SUB=(sub)][,N=nnn][,SUBLEVEL]][,WTR=name] shows traces and writers\n"
	"D R                                                          lists prompts that wait for a reply\n"
	"R nn[,ASID=(h,...)][,JOBNAME=(n,...)][,OPTIONS=(o,...)][,WTR=name|DISCONNECT][,CONT|,END]\n"
	"                                                             replies; END carries the command out\n"
	"R nn,CANCEL                                                  withdraws the command\n"
	"HELP [message]                                               this list, or the meaning of a message\n"
	"QUIT, EXIT, END                                              end the console; so does Ctrl-D\n";

/* The texts of a message are not known here. */
static void print_row_text(const char *text)
{
	const char *mark;

	while ((mark = strstr(text, "{}")) != NULL) {
		printf("%.*s...", (int)(mark - text), text);
		text = mark + 2;
	}
	fputs(text, stdout);
}

static void print_help(struct ct_span code)
{
	for (int id = 0; id < WTO_COUNT; id++) {
		const struct wto_row *row = ct_wto_row((enum wto_id)id);

		if (ct_name_is(code.at, code.size, row->code)) {
			printf("%s ", row->code);
			print_row_text(row->text);
			printf("\n    %s\n", row->more);
			return;
		}
	}
	if (code.size != 0) {
		fputs("There is no message ", stdout);
		ct_tool_print(stdout, code.at, code.size);
		fputs("; HELP alone lists the commands, and ctrace explain has the return and reason codes\n",
		      stdout);
		return;
	}
	fputs(help, stdout);
}

static struct ct_span line_next_word(struct ct_span *line)
{
	const char *end = line->at + line->size;
	const char *from = line->at;
	const char *to;

	while (from < end && ct_is_blank(*from))
		from++;
	to = from;
	while (to < end && !ct_is_blank(*to))
		to++;
	*line = ct_span_of(to, end);
	return ct_span_of(from, to);
}

/* The result of a command that runs in a process of its own. */
struct reported {
	unsigned prompted;
	struct wto wto;
};
_Static_assert(sizeof(struct reported) <= 4096, "one write to a pipe, as a whole");

/* Holds SIGINT back.  The console on a terminal does so except while a line is typed: an interrupt
 * at any other time is meant for the command, or for the next line. */
static void interrupt_hold(bool is_held)
{
	sigset_t interrupt;

	(void)sigemptyset(&interrupt);
	(void)sigaddset(&interrupt, SIGINT);
	(void)sigprocmask(is_held ? SIG_BLOCK : SIG_UNBLOCK, &interrupt, NULL);
}

static void command_run_and_report(struct dialogue *dialogue, const char *line, size_t size,
				   int report_fd)
{
	struct reported reported;

	(void)signal(SIGINT, SIG_DFL);
	interrupt_hold(false);
	ct_operator_run(dialogue, line, size);
	fflush(stdout);
	reported = (struct reported){ .prompted = dialogue->prompted, .wto = dialogue->wto };
	(void)!write(report_fd, &reported, sizeof reported);
	/* not exit(): history, editor and the check of stdout at the end are the console's */
	_exit(0);
}

static void command_wait(struct dialogue *dialogue, pid_t child, int report_fd)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct reported reported;
	struct sigaction kept;
	int status = 0;

	/* A result, or the end of the command, ends the read: processes that the command
	 * started, as a writer, do not inherit the pipe. */
	if (read(report_fd, &reported, sizeof reported) == (ssize_t)sizeof reported) {
		dialogue->prompted = reported.prompted;
		dialogue->wto = reported.wto;
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	/* Throws away the console's own copy of the interrupt. */
	(void)sigaction(SIGINT, &ignore, &kept);
	(void)sigaction(SIGINT, &kept, NULL);
	if (WIFSIGNALED(status)) {
		putchar('\n');
		ct_wto(&dialogue->wto, CTR025I, NULL);
	}
}

/* Runs the command in a process of its own: Ctrl-C ends the command, whatever it waits for, and
 * not the console. */
static void command_run_apart(struct dialogue *dialogue, const char *line, size_t size)
{
	pid_t child = -1;
	sigset_t pending;
	int ends[2] = { -1, -1 };

	fflush(NULL);
	if (pipe2(ends, O_CLOEXEC) == 0) {
		child = fork();
		if (child == 0)
			command_run_and_report(dialogue, line, size, ends[1]);
		ct_os_close(&ends[1]);
	}
	/* One that came before the fork was not sent to the command. */
	if (child > 0 && sigpending(&pending) == 0 && sigismember(&pending, SIGINT) == 1)
		(void)kill(child, SIGINT);
	if (child > 0)
		command_wait(dialogue, child, ends[0]);
	ct_os_close(&ends[0]);
	if (child < 0) {
		interrupt_hold(false);
		ct_operator_run(dialogue, line, size);
		interrupt_hold(true);
	}
}

/* Returns false when the console is to end. */
static bool line_run(struct console *console, const char *line, size_t size)
{
	struct ct_span rest = { line, size };
	struct ct_span word = line_next_word(&rest);
	struct ct_span second = line_next_word(&rest);

	if (ct_name_is(word.at, word.size, "HELP") || ct_name_is(word.at, word.size, "?"))
		print_help(second);
	else if (second.size == 0 &&
		 (ct_name_is(word.at, word.size, "QUIT") ||
		  ct_name_is(word.at, word.size, "EXIT") || ct_name_is(word.at, word.size, "END")))
		return false;
	else if (console->dialogue.wto.has_caret)
		command_run_apart(&console->dialogue, line, size);
	else
		ct_operator_run(&console->dialogue, line, size);
	return true;
}

static void console_run(struct console *console)
{
	enum console_line kind;
	struct ct_buf prompt;
	const char *line;
	size_t size;

	ct_buf_init(&prompt);
	do {
		ct_writers_report_ended(&console->dialogue.wto);
		logs_expect(&console->logs, &console->dialogue.wto);
		logs_show(&console->logs, &console->dialogue.wto);
		prompts_show(console);
		print_prompt(console, &prompt);
		fflush(stdout);
		kind = ct_console_input_read(ct_buf_text(&prompt), &line, &size);
	} while (kind == CONSOLE_CANCELLED ||
		 (kind == CONSOLE_LINE && line_run(console, line, size)));
	logs_show(&console->logs, &console->dialogue.wto);
	ct_buf_fini(&prompt);
}

static error_t parse_console(int key, char *argument, struct argp_state *state)
{
	struct console *console = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &console->dialogue.target;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_console(int argc, char **argv)
{
	static const struct argp_child children[] = { { &ct_target_argp, 0, "Which processes:", 1 },
						      { 0 } };
	static const struct argp argp = {
		.parser = parse_console,
		.children = children,
		.doc = "An operator's console: give commands to traced processes until QUIT. HELP lists them.",
	};
	struct console console = { .dialogue.wto.is_console = true, .dialogue.route = hosts_route };

	if (argp_parse(&argp, argc, argv, 0, NULL, &console) != 0)
		return CMD_USAGE;
	(void)setlocale(LC_CTYPE, ""); /* what a character is, while a line is edited */
	ct_operator_start();
	logs_open(&console.logs);
	console.dialogue.wto.has_caret = ct_console_input_open(NULL);
	interrupt_hold(console.dialogue.wto.has_caret);
	console_run(&console);
	ct_console_input_close();
	logs_close(&console.logs);
	free(console.numbers);
	return CMD_DONE;
}
