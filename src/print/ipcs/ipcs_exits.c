/*
 * ipcs_exits.c - the exits of a command: when they are loaded, which is called first, and what
 * their answers mean for the listing.
 *
 * Called by ipcs_run.c, on its thread.  Exits are third-party code in this process: reader_exit.c
 * calls them and checks their answers.  A missing exit is reported once, at its first entry.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs_listing.h"

#include <stdio.h>

static void print_exit_line(const char *text, size_t size, void *user)
{
	struct ct_ipcs_lister *lister = user;

	ct_ipcs_print_line(&lister->run->out, &lister->layout, text, size);
	ct_ipcs_offer(lister->run);
}

static struct ct_exit_context lister_context(struct ct_ipcs_lister *lister)
{
	return (struct ct_exit_context){ .options = lister->command->options,
					 .report = (int)lister->command->report,
					 .print = print_exit_line,
					 .user = lister };
}

static void report_not_loaded(struct ct_ipcs_lister *lister, const char *whose, const char *name)
{
	const char *values[] = { whose, name,
				 lister->run->output->linklist == NULL
					 ? ": CTRACE_LINKLIST is not set"
					 : " from CTRACE_LINKLIST" };

	ct_ipcs_say(lister, CT_ITT10005I, values);
}

static void component_exits_open(struct ct_ipcs_lister *lister, struct ct_ipcs_exits *exits)
{
	const struct ct_catalog_component *component = exits->component;
	const char *linklist = lister->run->output->linklist;

	if (component->filter != NULL) {
		exits->has_filter = ct_reader_exit_open(&exits->filter, CT_EXIT_FILTER, linklist,
							component->filter) == CTRACE_OK;
		if (!exits->has_filter)
			report_not_loaded(lister, "component", component->filter);
	}
	if (component->formatter != NULL) {
		exits->has_formatter = true;
		if (ct_reader_exit_open(&exits->formatter, CT_EXIT_FORMATTER, linklist,
					component->formatter) != CTRACE_OK)
			ct_ipcs_say(lister, CT_ITT10006I, (const char *[]){ component->formatter });
	}
}

/* Returns NULL when the component has no exits. */
static struct ct_ipcs_exits *component_exits_find(struct ct_ipcs_lister *lister,
						  const struct ct_read_event *event)
{
	const struct ct_catalog_component *component = event->component;
	struct ct_ipcs_exits *exits;

	if (component == NULL || (component->filter == NULL && component->formatter == NULL))
		return NULL;
	for (uint32_t i = 0; i < lister->exit_count; i++)
		if (lister->exits[i].component == component)
			return &lister->exits[i];
	if (lister->exit_count == CT_IPCS_EXITS)
		return NULL;
	exits = &lister->exits[lister->exit_count++];
	*exits = (struct ct_ipcs_exits){ .component = component };
	component_exits_open(lister, exits);
	return exits;
}

static enum ct_exit_answer exit_call(struct ct_ipcs_lister *lister, struct ct_reader_exit *exit,
				     const char *whose, const struct ct_read_event *event)
{
	struct ct_exit_context context = lister_context(lister);
	enum ct_exit_answer answer = ct_reader_exit_call(exit, event, &context);
	char code[16];

	if (answer == CT_EXIT_UNDEFINED) {
		(void)snprintf(code, sizeof code, "%d", exit->answer);
		ct_ipcs_say(lister, CT_ITT10009I, (const char *[]){ whose, exit->name, code });
	}
	if (answer == CT_EXIT_END) {
		ct_ipcs_say(lister, CT_ITT10008I, (const char *[]){ whose, exit->name });
		lister->is_terminated = true;
	}
	return answer;
}

bool ct_ipcs_exits_start(struct ct_ipcs_lister *lister)
{
	const struct ct_ipcs_command *command = lister->command;

	if (command->user_exit[0] == '\0')
		return true;
	if (ct_reader_exit_open(&lister->user_exit, CT_EXIT_FILTER, lister->run->output->linklist,
				command->user_exit) == CTRACE_OK)
		return true;
	report_not_loaded(lister, "user", command->user_exit);
	return false;
}

enum ct_exit_answer ct_ipcs_exits_filter(struct ct_ipcs_lister *lister,
					 const struct ct_read_event *event)
{
	struct ct_ipcs_exits *exits = component_exits_find(lister, event);
	enum ct_exit_answer answer = CT_EXIT_SHOW;

	if (exits != NULL && exits->has_filter)
		answer = exit_call(lister, &exits->filter, "component", event);
	if (answer == CT_EXIT_SHOW || answer == CT_EXIT_UNDEFINED)
		answer = exit_call(lister, &lister->user_exit, "user", event);
	return answer;
}

bool ct_ipcs_exits_format(struct ct_ipcs_lister *lister, const struct ct_read_event *event,
			  enum ct_exit_answer *out_answer)
{
	struct ct_ipcs_exits *exits = component_exits_find(lister, event);

	if (exits == NULL || !exits->has_formatter)
		return false;
	*out_answer = exit_call(lister, &exits->formatter, "component", event);
	return true;
}

void ct_ipcs_exits_finish(struct ct_ipcs_lister *lister)
{
	struct ct_exit_context context = lister_context(lister);

	if (lister->is_terminated)
		return;
	for (uint32_t i = 0; i < lister->exit_count; i++)
		ct_reader_exit_finish(&lister->exits[i].filter, &context);
	ct_reader_exit_finish(&lister->user_exit, &context);
	for (uint32_t i = 0; i < lister->exit_count; i++)
		ct_reader_exit_finish(&lister->exits[i].formatter, &context);
}

void ct_ipcs_exits_close(struct ct_ipcs_lister *lister)
{
	for (uint32_t i = 0; i < lister->exit_count; i++) {
		ct_reader_exit_close(&lister->exits[i].filter);
		ct_reader_exit_close(&lister->exits[i].formatter);
	}
	ct_reader_exit_close(&lister->user_exit);
}
