/*
 * console_input.c - line editing, history and completion for an operator's console.
 *
 * Called by ctrace console, on its only thread.  While a line is being typed Ctrl-C throws it away;
 * at other times it ends the tool, as everywhere.  libedit reads characters through
 * editor_read_character() here, because by itself it would go on after a signal.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/console_input.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "base/base.h"
#include "cli/line_edit.h"
#include "lib/emit/emit.h"

#define HISTORY_LINES 1000

static struct {
	EditLine *editor; /* NULL: stdin is no terminal */
	History *history;
	const struct console_kind *kind;
	sigset_t while_waiting; /* SIGINT comes only while a character is waited for */
	char history_path[4096];
	const char *prompt;
	char *line; /* getline()'s; the terminal's, without its end */
	size_t capacity;
} input;

static const struct ct_edit_module *edit; /* while there is an editor */
static volatile sig_atomic_t interrupted;

static void interrupt_note(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
}

/* ---- libedit's questions ---- */

static char *editor_get_prompt(EditLine *editor)
{
	(void)editor;
	return (char *)(uintptr_t)input.prompt;
}

/* 1, 0 at the end, -1 when the line is thrown away. */
static int editor_read_character(EditLine *editor, wchar_t *out)
{
	mbstate_t state = { 0 };

	(void)editor;
	for (;;) {
		struct pollfd news = { .fd = STDIN_FILENO, .events = POLLIN };
		ssize_t got;
		char byte;

		(void)ppoll(&news, 1, NULL, &input.while_waiting);
		if (interrupted)
			return -1;
		got = read(STDIN_FILENO, &byte, 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return (int)got;
		switch (mbrtowc(out, &byte, 1, &state)) {
		case (size_t)-2:
			break; /* more of it follows */
		case (size_t)-1:
			memset(&state, 0, sizeof state);
			break; /* no character: passed over */
		default:
			return 1;
		}
	}
}

/* clang-format off */
static const struct console_keyword operator_keywords[] = {
	{ " ", "TRACE CT," }, { " ", "DISPLAY " }, { " ", "REPLY " }, { " ", "HELP" }, { " ", "QUIT" }, { " ", "EXIT" },
	{ "T", "CT," }, { "TD", "COMP=" }, { "TD", "SUB=(" }, { "T", "PARM=" },
	{ "T", "WTRSTART=" }, { "T", "WTRSTOP=" }, { "T", "WRAP" }, { "T", "NOWRAP" }, { "T", "FLUSH" }, { "T", "NOFLUSH" },
	{ "D", "TRACE" }, { "D", "SUBLEVEL" }, { "DR", "WTR=" },
	{ "R", "ASID=(" }, { "R", "JOBNAME=(" }, { "R", "OPTIONS=(" }, { "R", "DISCONNECT" }, { "R", "CONT" }, { "R", "CANCEL" },
};
/* clang-format on */
static const struct console_kind operator_console = { operator_keywords,
						      CT_COUNT(operator_keywords), "history" };

/* What is being typed: the word before the cursor, and which keywords it can be. */
struct typed {
	const char *word;
	size_t size;
	char command;
};

static struct typed editor_typed(const LineInfo *info)
{
	struct typed typed = { .word = info->cursor };
	const char *from = info->buffer;

	while (from < info->cursor && *from == ' ')
		from++;
	while (typed.word > from && strchr(" ,(=", typed.word[-1]) == NULL)
		typed.word--;
	typed.size = (size_t)(info->cursor - typed.word);
	typed.command = typed.word == from ? ' ' : (char)(*from & ~0x20);
	return typed;
}

static bool keyword_fits(const struct console_keyword *keyword, const struct typed *typed)
{
	return typed->size != 0 && strchr(keyword->commands, typed->command) != NULL &&
	       strncasecmp(keyword->text, typed->word, typed->size) == 0;
}

/* Puts in what all keywords that fit have in common. */
static unsigned char editor_complete(EditLine *editor, int key)
{
	const struct console_keyword *keywords = input.kind->keywords;
	struct typed typed = editor_typed(edit->line(editor));
	const char *found = NULL;
	size_t common = 0;
	char more[32];

	(void)key;
	for (size_t i = 0; i < input.kind->count; i++) {
		const char *text = keywords[i].text;
		size_t same = 0;

		if (!keyword_fits(&keywords[i], &typed))
			continue;
		while (found != NULL && same < common && text[same] == found[same])
			same++;
		common = found != NULL ? same : strlen(text);
		found = text;
	}
	if (found == NULL || common <= typed.size)
		return CC_REFRESH_BEEP;
	(void)snprintf(more, sizeof more, "%.*s", (int)(common - typed.size), found + typed.size);
	return edit->insertstr(editor, more) == 0 ? CC_REFRESH : CC_ERROR;
}

/* ---- history ---- */

/* False: there is no place for one. */
static bool history_find(char path[4096])
{
	const char *state = ct_os_environment("XDG_STATE_HOME");
	const char *home = ct_os_environment("HOME");
	char directory[4096];

	if (state != NULL) {
		if (snprintf(directory, sizeof directory, "%s/ctrace", state) >=
			    (int)sizeof directory ||
		    ct_os_make_directory(directory) != CTRACE_OK)
			return false;
		return snprintf(path, 4096, "%s/%s", directory, input.kind->history) < 4096;
	}
	return home != NULL &&
	       snprintf(path, 4096, "%s/.ctrace_%s", home, input.kind->history) < 4096;
}

static void history_open(void)
{
	HistEvent event;

	input.history = edit->history_init();
	if (input.history == NULL)
		return;
	(void)edit->history(input.history, &event, H_SETSIZE, HISTORY_LINES);
	(void)edit->history(input.history, &event, H_SETUNIQUE, 1);
	if (history_find(input.history_path))
		(void)edit->history(input.history, &event, H_LOAD, input.history_path);
	else
		input.history_path[0] = '\0';
	(void)edit->set(input.editor, EL_HIST, edit->history, input.history);
}

static void history_add(const char *line)
{
	HistEvent event;
	mode_t kept;

	if (input.history == NULL || line[strspn(line, " \t\n")] == '\0')
		return;
	(void)edit->history(input.history, &event, H_ENTER, line);
	if (input.history_path[0] == '\0')
		return;
	kept = umask(077);
	(void)edit->history(input.history, &event, H_SAVE, input.history_path);
	(void)umask(kept);
}

/* ---- lines ---- */

static const struct ct_edit_module *edit_find(void)
{
	void *handle = ct_module_open("edit");
	const struct ct_edit_module *module = handle != NULL ? dlsym(handle, CT_EDIT_MODULE) : NULL;

	return module != NULL && module->size >= sizeof *module ? module : NULL;
}

bool ct_console_input_open(const struct console_kind *kind)
{
	input.kind = kind != NULL ? kind : &operator_console;
	if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1)
		return false;
	edit = edit_find();
	input.editor = edit != NULL ? edit->init("ctrace", stdin, stdout, stderr) : NULL;
	if (input.editor == NULL)
		return false;
	(void)edit->set(input.editor, EL_PROMPT, editor_get_prompt);
	(void)edit->set(input.editor, EL_EDITOR, "emacs");
	(void)edit->set(input.editor, EL_SIGNAL, 0);
	(void)edit->set(input.editor, EL_GETCFN, editor_read_character);
	(void)edit->set(input.editor, EL_ADDFN, "ctrace-complete", "complete a keyword",
			editor_complete);
	(void)edit->set(input.editor, EL_BIND, "^I", "ctrace-complete", NULL);
	history_open();
	(void)edit->source(input.editor, NULL);
	return true;
}

void ct_console_input_close(void)
{
	if (input.history != NULL)
		edit->history_end(input.history);
	if (input.editor != NULL)
		edit->end(input.editor);
	free(input.line);
	memset(&input, 0, sizeof input);
}

static void line_trim(char *line, size_t *size)
{
	while (*size > 0 && (line[*size - 1] == '\n' || line[*size - 1] == '\r'))
		(*size)--;
	line[*size] = '\0';
}

static enum console_line stream_read(const char **out_line, size_t *out_size)
{
	ssize_t got = getline(&input.line, &input.capacity, stdin);
	size_t size = (size_t)got;

	if (got < 0)
		return CONSOLE_END;
	line_trim(input.line, &size);
	*out_line = input.line;
	*out_size = size;
	return CONSOLE_LINE;
}

/* el_gets() with Ctrl-C at hand. */
static const char *editor_read_line(int *count)
{
	struct sigaction action = { .sa_handler = interrupt_note };
	struct sigaction kept;
	sigset_t interrupt, mask;
	const char *line;

	interrupted = 0;
	edit->resize(input.editor);
	(void)sigemptyset(&interrupt);
	(void)sigaddset(&interrupt, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &interrupt, &mask);
	input.while_waiting = mask;
	(void)sigdelset(&input.while_waiting, SIGINT);
	(void)sigaction(SIGINT, &action, &kept);
	line = edit->gets(input.editor, count);
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	(void)sigaction(SIGINT, &kept, NULL);
	return line;
}

enum console_line ct_console_input_read(const char *prompt, const char **out_line, size_t *out_size)
{
	const char *line;
	int count = 0;

	if (input.editor == NULL)
		return stream_read(out_line, out_size);
	input.prompt = prompt;
	line = editor_read_line(&count);
	if (interrupted) {
		putchar('\n');
		return CONSOLE_CANCELLED;
	}
	if (line == NULL || count <= 0) {
		putchar('\n');
		return CONSOLE_END;
	}
	free(input.line);
	input.line = strndup(line, (size_t)count);
	if (input.line == NULL)
		return CONSOLE_CANCELLED;
	history_add(input.line);
	*out_size = (size_t)count;
	line_trim(input.line, out_size);
	*out_line = input.line;
	return CONSOLE_LINE;
}
