/*
 * reader_exit.c - filter and formatting exits: finds them by name, calls them and acts on their
 * answers.
 *
 * Called by printers, on the tool's only thread, never in the traced program.  An exit is the
 * user's own code; it is loaded under the rules for all modules, and the caller escapes the text
 * that it prints.  A module is never unloaded, since it may have started threads or registered
 * handlers.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/reader_exit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One call; the exit sees only the first member. */
struct call {
	struct ctrace_exit_call exit; /* first, since exit_print() casts it to struct call */
	const struct ct_exit_context *context;
};

/* Tries NAME.so as given, in upper case, and in lower case. */
static void *module_open(const char *linklist, const char *name)
{
	char file_name[CTRACE_MAX_EMITTER + 4];
	size_t size = strlen(name);
	void *module;

	if (size == 0 || size > CTRACE_MAX_EMITTER)
		return NULL;
	(void)snprintf(file_name, sizeof file_name, "%s.so", name);
	module = ct_module_open_in(linklist, file_name);
	if (module == NULL) {
		ct_name_upper(file_name, size);
		module = ct_module_open_in(linklist, file_name);
	}
	for (size_t i = 0; i < size; i++)
		if (file_name[i] >= 'A' && file_name[i] <= 'Z')
			file_name[i] = (char)(file_name[i] - 'A' + 'a');
	return module != NULL ? module : ct_module_open_in(linklist, file_name);
}

enum ctrace_status ct_reader_exit_open(struct ct_reader_exit *exit, enum ct_exit_kind kind,
				       const char *linklist, const char *name)
{
	void *code;

	*exit = (struct ct_reader_exit){ .kind = kind };
	(void)snprintf(exit->name, sizeof exit->name, "%s", name);
	exit->module = module_open(linklist, name);
	if (exit->module == NULL)
		return CTRACE_NOT_FOUND;
	code = dlsym(exit->module,
		     kind == CT_EXIT_FILTER ? "ctrace_filter_exit" : "ctrace_format_exit");
	if (code == NULL)
		return CTRACE_NOT_FOUND;
	exit->work_area = calloc(1, CTRACE_EXIT_WORK_AREA);
	if (exit->work_area == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	exit->code = (ctrace_exit *)(uintptr_t)code;
	exit->is_open = true;
	return CTRACE_OK;
}

void ct_reader_exit_close(struct ct_reader_exit *exit)
{
	free(exit->work_area);
	*exit = (struct ct_reader_exit){ 0 };
}

static void exit_print(const struct ctrace_exit_call *call, const char *text, size_t size)
{
	const struct ct_exit_context *context = ((const struct call *)(const void *)call)->context;

	if (context->print != NULL && text != NULL)
		context->print(text, size, context->user);
}

static const unsigned char no_userdata[sizeof(((struct ctrace_definition *)NULL)->userdata)];

static struct call exit_make_call(const struct ct_reader_exit *exit,
				  const struct ct_exit_context *context)
{
	return (struct call){
		.exit = {
			.size = sizeof(struct ctrace_exit_call),
			.mnemonic = "",
			.description = "",
			.host = "",
			.jobname = "",
			.options = context->options != NULL ? context->options : "",
			.report = context->report,
			.work_area = exit->work_area,
			.print = exit_print,
			.userdata = no_userdata,
		},
		.context = context,
	};
}

static enum ct_exit_answer exit_default_answer(const struct ct_reader_exit *exit)
{
	return exit->kind == CT_EXIT_FILTER ? CT_EXIT_SHOW : CT_EXIT_HIDE;
}

static enum ct_exit_answer exit_judge(struct ct_reader_exit *exit, int answer)
{
	exit->answer = answer;
	switch (answer) {
	case CTRACE_EXIT_FORMAT:
		return CT_EXIT_SHOW;
	case CTRACE_EXIT_BYPASS:
		return CT_EXIT_HIDE;
	case CTRACE_EXIT_NO_MORE:
		exit->code = NULL;
		return CT_EXIT_SHOW;
	case CTRACE_EXIT_TERMINATE:
		exit->code = NULL;
		return CT_EXIT_END;
	case CTRACE_EXIT_REREAD:
		if (exit->kind == CT_EXIT_FILTER && exit->rereads++ < CT_EXIT_REREADS)
			return CT_EXIT_AGAIN;
		break;
	default:
		break;
	}
	exit->code = NULL;
	return CT_EXIT_UNDEFINED;
}

enum ct_exit_answer ct_reader_exit_call(struct ct_reader_exit *exit,
					const struct ct_read_event *event,
					const struct ct_exit_context *context)
{
	char jobname[17], scratch[16];
	struct call call;

	if (exit->code == NULL)
		return exit_default_answer(exit);
	call = exit_make_call(exit, context);
	ct_read_event_jobname(event, jobname);
	call.exit.event = &event->traced;
	call.exit.mnemonic = ct_read_event_mnemonic(event, scratch);
	call.exit.description = event->type != NULL && event->type->description != NULL
					? event->type->description
					: "";
	call.exit.host = event->source_process->host;
	call.exit.jobname = jobname;
	call.exit.asid = ct_read_event_asid(event);
	call.exit.sequence = event->sequence;
	if (event->definition != NULL)
		call.exit.userdata = event->definition->userdata;
	return exit_judge(exit, exit->code(&call.exit));
}

void ct_reader_exit_finish(struct ct_reader_exit *exit, const struct ct_exit_context *context)
{
	struct call call;

	if (exit->code == NULL)
		return;
	call = exit_make_call(exit, context);
	call.exit.is_done = 1;
	(void)exit->code(&call.exit);
}
