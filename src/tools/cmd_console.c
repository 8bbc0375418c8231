/*
 * cmd_console.c - ctrace console: an operator's console.
 *
 * Reads commands until it is ended.  Before each command it shows what is new: prompts of other
 * operators, and lines of external writers' logs.  Everything goes to stdout with the time before
 * it, as one log.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/console_input.h"
#include "tools/console_logs.h"
#include "operator/operator_run.h"

#define PROMPT_NUMBERS 10u /* that the prompt names */

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

static void command_run_and_report(struct dialogue *dialogue, const char *line, size_t size,
				   int report_fd)
{
	struct reported reported;

	(void)signal(SIGINT, SIG_DFL);
	ct_operator_run(dialogue, line, size);
	fflush(stdout);
	reported = (struct reported){ .prompted = dialogue->prompted, .wto = dialogue->wto };
	(void)!write(report_fd, &reported, sizeof reported);
	/* not exit(): history, editor and what stdout has to say of its end are the console's */
	_exit(0);
}

static void command_wait(struct dialogue *dialogue, pid_t child, int report_fd)
{
	struct reported reported;
	int status = 0;

	/* A result, or the end of the command, ends the read: processes that the command
	 * started, as a writer, do not inherit the pipe. */
	if (read(report_fd, &reported, sizeof reported) == (ssize_t)sizeof reported) {
		dialogue->prompted = reported.prompted;
		dialogue->wto = reported.wto;
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status)) {
		putchar('\n');
		ct_wto(&dialogue->wto, CTR025I, NULL);
	}
}

/* Runs the command in a process of its own: Ctrl-C ends the command, whatever it waits for, and
 * not the console. */
static void command_run_apart(struct dialogue *dialogue, const char *line, size_t size)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction kept;
	pid_t child;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		ct_operator_run(dialogue, line, size);
		return;
	}
	fflush(NULL);
	(void)sigaction(SIGINT, &ignore, &kept);
	child = fork();
	if (child == 0)
		command_run_and_report(dialogue, line, size, ends[1]);
	ct_os_close(&ends[1]);
	if (child > 0)
		command_wait(dialogue, child, ends[0]);
	ct_os_close(&ends[0]);
	(void)sigaction(SIGINT, &kept, NULL);
	if (child < 0)
		ct_operator_run(dialogue, line, size);
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
		ct_console_logs_expect(&console->logs, &console->dialogue.wto);
		ct_console_logs_show(&console->logs, &console->dialogue.wto);
		prompts_show(console);
		print_prompt(console, &prompt);
		fflush(stdout);
		kind = ct_console_input_read(ct_buf_text(&prompt), &line, &size);
	} while (kind == CONSOLE_CANCELLED ||
		 (kind == CONSOLE_LINE && line_run(console, line, size)));
	ct_console_logs_show(&console->logs, &console->dialogue.wto);
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
	struct console console = { .dialogue.wto.is_console = true };

	if (argp_parse(&argp, argc, argv, 0, NULL, &console) != 0)
		return CMD_USAGE;
	(void)setlocale(LC_CTYPE, ""); /* what a character is, while a line is edited */
	ct_operator_start();
	ct_console_logs_open(&console.logs);
	console.dialogue.wto.has_caret = ct_console_input_open(NULL);
	console_run(&console);
	ct_console_input_close();
	ct_console_logs_close(&console.logs);
	free(console.numbers);
	return CMD_DONE;
}
