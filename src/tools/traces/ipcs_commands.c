/*
 * ipcs_commands.c - the commands of ctrace ipcs, one after the other: MERGE gathers, SETDEF is
 * remembered, errors are shown with their place.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/ipcs_commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* ---- errors ---- */

/* The line that has the error. */
static struct ct_span text_line(const char *text, size_t size, unsigned line)
{
	const char *end = text + size;
	const char *at = text;
	const char *to;

	for (; line > 1 && at < end; line--) {
		const char *next = memchr(at, '\n', (size_t)(end - at));

		at = next != NULL ? next + 1 : end;
	}
	to = memchr(at, '\n', (size_t)(end - at));
	return ct_span_of(at, to != NULL ? to : end);
}

static void command_diagnose(struct ipcs *ipcs, const char *text, size_t size,
			     enum ct_ipcs_message message, const struct ct_diagnostic *diagnostic)
{
	struct ct_span line = text_line(text, size, diagnostic->line);
	size_t before = diagnostic->column > 0 ? diagnostic->column - 1 : 0;

	ct_ipcs_fail(ipcs, CMD_USAGE);
	(void)fflush(stdout);
	if (message != CT_ITT_NONE)
		fprintf(stderr, "%s %s\n", ct_ipcs_message_row(message)->id,
			ct_ipcs_message_row(message)->text);
	fputs("ctrace ipcs: ", stderr);
	if (diagnostic->line > 1 || ipcs->is_file)
		fprintf(stderr, "line %u, ", diagnostic->line + (ipcs->is_file ? ipcs->line : 0));
	fprintf(stderr, "column %u: " CT_DIAGNOSTIC_FORMAT "\n    ", diagnostic->column,
		CT_DIAGNOSTIC_TEXT(diagnostic));
	(void)ct_tool_print(stderr, line.at, line.size);
	fprintf(stderr, "\n    %*s^\n",
		ct_tool_print(NULL, line.at, before < line.size ? before : line.size), "");
}

static void command_refuse(struct ipcs *ipcs, const char *what)
{
	ct_ipcs_fail(ipcs, CMD_USAGE);
	(void)fflush(stdout);
	fprintf(stderr, "ctrace ipcs: %s\n", what);
}

/* ---- MERGE ---- */

static void merge_end(struct ipcs *ipcs)
{
	for (uint32_t i = 0; i < ipcs->merged_count; i++)
		ct_ipcs_command_fini(&ipcs->merged[i]);
	free(ipcs->merged);
	ipcs->merged = NULL;
	ipcs->merged_count = 0;
	ipcs->is_merge_bad = false;
}

static void merge_begin(struct ipcs *ipcs)
{
	if (ipcs->merged != NULL) {
		command_refuse(ipcs, "MERGE stands in MERGE; expected CTRACE or MERGEEND");
		return;
	}
	ipcs->merged = calloc(CT_IPCS_MERGED, sizeof *ipcs->merged);
	if (ipcs->merged == NULL)
		command_refuse(ipcs, ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
}

static void merge_run(struct ipcs *ipcs)
{
	if (ipcs->merged == NULL)
		command_refuse(ipcs, "MERGEEND without MERGE");
	else if (ipcs->is_merge_bad)
		command_refuse(ipcs, "nothing is merged: one of the subcommands has an error");
	else if (ipcs->merged_count == 0)
		command_refuse(
			ipcs,
			"nothing stands between MERGE and MERGEEND; expected 1 to 16 CTRACE subcommands");
	else
		ct_ipcs_job_run(ipcs, ipcs->merged, ipcs->merged_count, true);
	merge_end(ipcs);
}

/* Takes the command. */
static void merge_add(struct ipcs *ipcs, struct ct_ipcs_command *command)
{
	if (command->verb == CT_IPCS_CTRACE && ipcs->merged_count < CT_IPCS_MERGED) {
		ipcs->merged[ipcs->merged_count++] = *command;
		return;
	}
	ipcs->is_merge_bad = true;
	command_refuse(
		ipcs,
		command->verb == CT_IPCS_CTRACE
			? "MERGE takes at most 16 subcommands"
			: "this does not stand in MERGE; expected CTRACE COMP(name) or MERGEEND");
	ct_ipcs_command_fini(command);
}

/* ---- SETDEF ---- */

static void defaults_list(const struct ipcs *ipcs)
{
	const struct ct_ipcs_command *defaults = &ipcs->defaults;

	fputs(" SETDEF ", stdout);
	if (defaults->is_active)
		fputs("ACTIVE", stdout);
	else if (defaults->sources.count == 0)
		fputs(ipcs->reading.path_count != 0 ? "(the traces of the command line)" : "ACTIVE",
		      stdout);
	else
		fputs(defaults->source == CT_IPCS_BY_DDNAME ? "FILE(" : "DSNAME(", stdout);
	for (uint32_t i = 0; i < defaults->sources.count; i++) {
		fputs(i == 0 ? "" : ",", stdout);
		ct_tool_print(stdout, defaults->sources.at[i], strlen(defaults->sources.at[i]));
	}
	puts(defaults->sources.count != 0 ? ")" : "");
}

/* Takes the command. */
static void defaults_set(struct ipcs *ipcs, struct ct_ipcs_command *command)
{
	bool is_list = command->is_list;

	if (command->is_active || command->sources.count != 0) {
		ct_ipcs_command_fini(&ipcs->defaults);
		ipcs->defaults = *command;
	} else {
		ct_ipcs_command_fini(command);
	}
	if (is_list)
		defaults_list(ipcs);
}

/* ---- HELP ---- */

static const char ctrace_help[] =
	"CTRACE {COMP(name) [SUB((name.name...))] [SYSNAME(name)] | QUERY[(name)] [SUB((name.name...))]}\n"
	"  report:   SHORT | SUMMARY | FULL | TALLY\n"
	"  entries:  GMT | LOCAL  START(mm/dd/yy,hh.mm.ss.dddddd)  STOP(...)  EXCEPTION  LIMIT(n)\n"
	"            ENTIDLIST(hex,hex:hex...)  USEREXIT(name)  OPTIONS((text))\n"
	"  spaces:   ALL  ASIDLIST(hex,hex:hex...)  JOBLIST(name...) | JOBNAME(name...)  CURRENT  ERROR  TCBERROR\n"
	"  source:   DSNAME(path) | DATASET(path) | PATH(path) | FILE(ddname) | DDNAME(ddname) | ACTIVE | MAIN | STORAGE\n"
	"            FLAG(severity)  PRINT | NOPRINT  TERMINAL | NOTERMINAL  TEST | NOTEST\n"
	"  A tracer APPXYZ.SUBA is COMP(APPXYZ) SUB((SUBA)); * and ? stand for characters other than a dot.\n";
static const char merge_help[] =
	"MERGE\n"
	"CTRACE ...     1 to 16 of them\n"
	"MERGEEND       lists their entries in order of time, each with its command's number\n";
static const char copytrc_help[] =
	"COPYTRC {OUTDATASET(path) | OUTFILE(ddname)} [INDATASET(path...) | INFILE(ddname...)] [TYPE(CTRACE)]\n"
	"        [OPTIONS((COMP(name) SUB((name)) START(...) STOP(...) LOCAL ENTIDLIST(...) ASIDLIST(...) JOBLIST(...)))]\n"
	"  makes a new trace of the entries, each process's in order of time.\n";
static const char setdef_help[] =
	"SETDEF [DSNAME(path) | DATASET(path) | PATH(path) | FILE(ddname) | ACTIVE] [LIST]\n"
	"  says which trace the commands after it read that do not say it themselves.\n";
static const char status_help[] =
	"STATUS [DSNAME(path) | DATASET(path) | PATH(path) | FILE(ddname)]\n"
	"  says when, why and of which process a dump was made, with its signal, registers and traceback.\n";
static const char help_help[] =
	"HELP [subcommand | message]    this list, or the meaning of a message\n"
	"END                            ends the session; so does Ctrl-D\n"
	"IPCS, PROFILE, DROPDUMP and lines that begin with // are passed over: they surround a batch job.\n"
	"Keywords may be abbreviated; a line that ends with - or + is continued; /* ... */ is a comment.\n";

static const struct topic {
	const char *name;
	const char *text;
} topics[] = {
	{ "CTRACE", ctrace_help },  { "QUERY", ctrace_help },    { "MERGE", merge_help },
	{ "MERGEEND", merge_help }, { "COPYTRC", copytrc_help }, { "SETDEF", setdef_help },
	{ "STATUS", status_help },  { "HELP", help_help },       { "END", help_help },
};

/* What goes with a message is not known here. */
static void message_print(const struct ct_ipcs_message_row *row)
{
	const char *text = row->text;
	const char *mark;

	printf("%s ", row->id);
	while ((mark = strstr(text, "{}")) != NULL) {
		printf("%.*s...", (int)(mark - text), text);
		text = mark + 2;
	}
	printf("%s\n    %s\n", text, row->more);
}

/* ---- ipcs_help.c */
static void help_print(const char *topic)
{
	if (topic[0] == '\0') {
		printf("%s%s%s%s%s%s", ctrace_help, merge_help, copytrc_help, setdef_help,
		       status_help, help_help);
		return;
	}
	for (size_t i = 0; i < CT_COUNT(topics); i++)
		if (strcmp(topics[i].name, topic) == 0) {
			fputs(topics[i].text, stdout);
			return;
		}
	for (int id = CT_ITT_NONE + 1; id < CT_ITT_COUNT; id++) {
		const struct ct_ipcs_message_row *row =
			ct_ipcs_message_row((enum ct_ipcs_message)id);

		if (strcmp(row->id, topic) == 0) {
			message_print(row);
			return;
		}
	}
	fputs("There is no help on ", stdout);
	ct_tool_print(stdout, topic, strlen(topic));
	fputs("; HELP alone lists the subcommands\n", stdout);
}

/* ---- commands ---- */

/* Takes the command. */
static void command_execute(struct ipcs *ipcs, struct ct_ipcs_command *command)
{
	bool is_for_merge = ipcs->merged != NULL;

	switch (command->verb) {
	case CT_IPCS_MERGE:
		merge_begin(ipcs);
		break;
	case CT_IPCS_MERGEEND:
		merge_run(ipcs);
		break;
	case CT_IPCS_FRAME:
		break;
	case CT_IPCS_HELP:
		help_print(command->topic);
		break;
	case CT_IPCS_END:
		ipcs->has_ended = true;
		break;
	case CT_IPCS_SETDEF:
		defaults_set(ipcs, command);
		return;
	default:
		if (is_for_merge) {
			merge_add(ipcs, command);
			return;
		}
		if (command->verb == CT_IPCS_STATUS)
			ct_ipcs_job_status(ipcs, command);
		else if (command->verb == CT_IPCS_COPYTRC)
			ct_ipcs_job_copy(ipcs, command);
		else
			ct_ipcs_job_run(ipcs, command, 1, false);
	}
	ct_ipcs_command_fini(command);
}

static void command_run(struct ipcs *ipcs, const char *text, size_t size)
{
	struct ct_ipcs_command command;
	struct ct_diagnostic diagnostic;
	enum ct_ipcs_message message;

	ipcs->commands++;
	if (ct_ipcs_parse(text, size, &command, &message, &diagnostic) == CTRACE_OK) {
		command_execute(ipcs, &command);
		return;
	}
	command_diagnose(ipcs, text, size, message, &diagnostic);
	ipcs->is_merge_bad |= ipcs->merged != NULL;
	ct_ipcs_command_fini(&command);
}

void ct_ipcs_commands_run(struct ipcs *ipcs, const char *text, size_t size)
{
	while (size > 0 && !ipcs->has_ended) {
		size_t taken = ct_ipcs_command_size(text, size);

		if (!ct_ipcs_is_empty(text, taken))
			command_run(ipcs, text, taken);
		for (size_t i = 0; i < taken; i++)
			ipcs->line += text[i] == '\n';
		text += taken;
		size -= taken;
	}
}

void ct_ipcs_commands_end(struct ipcs *ipcs)
{
	if (ipcs->merged != NULL)
		command_refuse(ipcs, "MERGE has no MERGEEND: nothing was merged");
	merge_end(ipcs);
	ct_ipcs_command_fini(&ipcs->defaults);
}
