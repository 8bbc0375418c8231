/*
 * ipcs_help.c - HELP at ctrace ipcs.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/ipcs_commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

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
static const char help_help[] =
	"HELP [subcommand | message]    this list, or the meaning of a message\n"
	"END                            ends the session; so does Ctrl-D\n"
	"Keywords may be abbreviated; a line that ends with - or + is continued; /* ... */ is a comment.\n";

static const struct topic {
	const char *name;
	const char *text;
} topics[] = {
	{ "CTRACE", ctrace_help },  { "QUERY", ctrace_help },    { "MERGE", merge_help },
	{ "MERGEEND", merge_help }, { "COPYTRC", copytrc_help }, { "SETDEF", setdef_help },
	{ "HELP", help_help },      { "END", help_help },
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

void ct_ipcs_help(const char *topic)
{
	if (topic[0] == '\0') {
		printf("%s%s%s%s%s", ctrace_help, merge_help, copytrc_help, setdef_help, help_help);
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
