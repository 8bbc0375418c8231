/*
 * routine.c - exits: finds start/stop and display routines by name, calls them, and passes on their
 * messages.
 *
 * Runs on the thread that gave the command.  A routine is called under no lock of ctrace, because
 * it is the program's code and may call any function of the public headers.  A routine that was
 * found stays known; a loaded module is never unloaded.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A routine with a known name. */
struct known {
	struct known *next;
	char name[CT_NAME_SIZE];
	struct ct_routine routine; /* code NULL: registration removed */
};

/* Under the table's lock. */
static struct {
	struct known *known;
	struct ct_console *consoles; /* of the commands in progress */
	uint64_t last_console;
} routines;

bool (*ct_routine_find_cobol)(const char *name, struct ct_routine *out);

/* ---- by name ---- */

static struct known *routine_find_known(const char *name)
{
	struct known *at = routines.known;

	while (at != NULL && strcmp(at->name, name) != 0)
		at = at->next;
	return at;
}

/* A registered routine takes precedence over one that was found: the program may register it
 * while this thread loads a module. */
static enum ctrace_status routine_add(const char *name, const struct ct_routine *routine,
				      bool counts)
{
	size_t size = name != NULL ? strnlen(name, CT_NAME_SIZE) : 0;
	struct known *fresh;
	struct known *known;

	if (name == NULL || !ct_trace_name_is_valid(name, size))
		return CTRACE_INVALID_COMPONENT_NAME;
	fresh = calloc(1, sizeof *fresh);
	if (fresh == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	memcpy(fresh->name, name, size);
	ct_table_lock();
	known = routine_find_known(name);
	if (known == NULL) {
		known = fresh;
		known->next = routines.known;
		routines.known = known;
		fresh = NULL;
	}
	if (counts || known->routine.code == NULL)
		known->routine = *routine;
	ct_table_unlock();
	free(fresh);
	return CTRACE_OK;
}

enum ctrace_status ct_routine_add(const char *name, const struct ct_routine *routine)
{
	return routine_add(name, routine, true);
}

static uint32_t routine_invoke_c(void *code, struct ctrace_ctss *ctss)
{
	return ((ctrace_routine *)(uintptr_t)code)(ctss);
}

enum ctrace_status ctrace_routine_register(const char *name, ctrace_routine *routine)
{
	CT_CANCEL_OFF();
	struct ct_routine code = { .code = (void *)(uintptr_t)routine, .invoke = routine_invoke_c };
	int kept = errno;
	enum ctrace_status status = ct_routine_add(name, &code);

	errno = kept;
	return status;
}

/* Loads NAME.so from CTRACE_LINKLIST and finds the function NAME in it.  A name with @ or # is
 * not a C name, hence ctrace_exit_routine. */
static bool routine_load(const char *name, struct ct_routine *out, char *message, size_t size)
{
	const char *directories = ct_os_environment("CTRACE_LINKLIST");
	char file_name[CT_NAME_SIZE + 3];
	void *module;

	(void)snprintf(file_name, sizeof file_name, "%s.so", name);
	module = ct_module_open_in(directories, file_name);
	if (module == NULL) {
		(void)snprintf(
			message, size,
			"%s is not registered in this program (ctrace_routine_register() or CBL_CTRACE_ROUTINE comes first), and %s is not to be loaded from CTRACE_LINKLIST%s",
			name, file_name, directories == NULL ? ", which is not set" : "");
		return false;
	}
	out->code = dlsym(module, name);
	if (out->code == NULL)
		out->code = dlsym(module, "ctrace_exit_routine");
	out->invoke = routine_invoke_c;
	if (out->code != NULL)
		return true;
	(void)dlclose(module);
	(void)snprintf(message, size, "%s has neither a function %s nor ctrace_exit_routine",
		       file_name, name);
	return false;
}

bool ct_routine_find(const char *name, struct ct_routine *out, char *message, size_t size)
{
	const sigset_t *lifted;
	struct known *known;
	bool found;

	ct_table_lock();
	known = routine_find_known(name);
	found = known != NULL && known->routine.code != NULL;
	if (found)
		*out = known->routine;
	ct_table_unlock();
	if (found)
		return true;
	lifted = ct_shield_lift();
	found = (ct_routine_find_cobol != NULL && ct_routine_find_cobol(name, out)) ||
		routine_load(name, out, message, size);
	ct_shield_restore(lifted);
	if (!found)
		return false;
	/* Without memory the next call only searches again. */
	(void)!routine_add(name, out, false);
	ct_table_lock();
	known = routine_find_known(name);
	if (known != NULL && known->routine.code != NULL)
		*out = known->routine;
	ct_table_unlock();
	return true;
}

uint32_t ct_routine_call(const struct ct_routine *routine, struct ctrace_ctss *ctss)
{
	const sigset_t *lifted = ct_shield_lift();
	uint32_t rc = routine->invoke(routine->code, ctss);

	ct_shield_restore(lifted);
	return rc;
}

/* ---- messages ---- */

void ct_console_open(struct ct_console *console, char *text, size_t size)
{
	console->text = text;
	console->size = size;
	console->thread = ct_transaction_thread();
	ct_table_lock();
	console->number = ++routines.last_console;
	console->next = routines.consoles;
	routines.consoles = console;
	ct_table_unlock();
}

void ct_console_close(struct ct_console *console)
{
	struct ct_console **link = &routines.consoles;

	ct_table_lock();
	while (*link != console)
		link = &(*link)->next;
	*link = console->next;
	ct_table_unlock();
}

void ct_console_drop_others(void)
{
	struct ct_console **link = &routines.consoles;

	while (*link != NULL)
		if ((*link)->thread == ct_transaction_thread())
			link = &(*link)->next;
		else
			*link = (*link)->next;
}

/* Appends a line as far as it fits, without cutting a character or an escape. */
static void console_add_line(struct ct_console *console, const char *line)
{
	size_t used = strlen(console->text);
	size_t left = strlen(line);

	if (left == strspn(line, " "))
		return; /* an empty message */
	if (used != 0 && used + 2 < console->size) {
		memcpy(console->text + used, "; ", 3);
		used += 2;
	}
	while (left > 0) {
		size_t unit = ct_message_unit(line, left);

		if (used + unit >= console->size)
			break;
		memcpy(console->text + used, line, unit);
		used += unit;
		line += unit;
		left -= unit;
	}
	console->text[used] = '\0';
}

static enum ctrace_status console_write(uint64_t number, const char *line)
{
	enum ctrace_status status = CTRACE_NOT_FOUND;
	struct ct_console *console;

	ct_table_lock();
	for (console = routines.consoles; console != NULL && console->number != number;
	     console = console->next)
		;
	if (console != NULL) {
		console_add_line(console, line);
		status = CTRACE_OK;
	}
	ct_table_unlock();
	return status;
}

/* As ct_escape_add(), but keeps quotation marks: the text is not quoted here. */
static void message_add_escaped(struct ct_buf *line, const char *text, size_t size)
{
	for (size_t at = 0; at < size;) {
		const char *quote = memchr(text + at, '"', size - at);
		size_t end = quote != NULL ? (size_t)(quote - text) : size;

		ct_escape_add(line, text + at, end - at);
		if (quote != NULL)
			ct_buf_add_char(line, '"');
		at = end + 1;
	}
}

/* The bytes of the text that a message may have, whole characters only. */
static size_t message_cut(const char *text)
{
	size_t size = strnlen(text, CTRACE_MAX_WTO + 1);
	size_t used = 0;
	size_t unit;

	while (used < size &&
	       (unit = ct_message_unit(text + used, size - used)) <= CTRACE_MAX_WTO - used)
		used += unit;
	return used;
}

enum ctrace_status ctrace_wto(uint64_t console, const char *text)
{
	CT_CANCEL_OFF();
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;
	struct ct_buf line;
	int kept = errno;

	if (text == NULL)
		return CTRACE_FAILURE;
	ct_buf_init(&line);
	message_add_escaped(&line, text, message_cut(text));
	if (!line.failed)
		status = console_write(console, ct_buf_text(&line));
	ct_buf_fini(&line);
	errno = kept;
	return status;
}
