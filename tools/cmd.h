/*
 * cmd.h - the verbs of the ctrace tool and the few things that they share.
 *
 * Each verb is one function in its own file and one row in ctrace.c.  A verb parses its own arguments with argp (argv[0] is
 * "ctrace VERB"), prints results on stdout and mistakes on stderr, and returns its exit status; whether stdout took
 * everything is checked once, when the tool ends.  The tool has one thread, and beside it that of recovery_watch.c, which
 * prints only for `ctrace recover`.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_CMD_H
#define CT_TOOLS_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses of every verb. */
enum {
	CMD_DONE = 0,
	CMD_NOTHING = 1, /* nothing found, or the input is damaged: said on stderr */
	CMD_USAGE = 2,
	CMD_UNREAD = 2,    /* a part of the input cannot be read at all */
	CMD_UNWRITTEN = 2, /* the output cannot be written: 1 reports the result of reading */
	CMD_NO_MEMORY = 2  /* whatever a verb returns, when an allocation has failed */
};

int cmd_show(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_parmlib(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_level(int argc, char **argv);
int cmd_dest(int argc, char **argv);
int cmd_prop(int argc, char **argv);
int cmd_reload(int argc, char **argv);
int cmd_flush(int argc, char **argv);
int cmd_rotate(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_tail(int argc, char **argv);
int cmd_op(int argc, char **argv);
int cmd_console(int argc, char **argv);
int cmd_writer(int argc, char **argv);
int cmd_ipcs(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_salvage(int argc, char **argv);
int cmd_catalog(int argc, char **argv);

/* Prints text that another process or file gave: as it is when it is plain, escaped when it could forge lines or terminal
 * sequences.  Gives the number of columns that it takes; with `to` NULL it only does that. */
int ct_tool_print(FILE *to, const char *text, size_t size);

/* True if the word is digits only, at least one: a process id, where a process may be named. */
bool ct_tool_is_number(const char *word);

/* True if the path is a folder that can be read and has nothing in it. */
bool ct_tool_is_empty_folder(const char *path);

/* Delivers and removes what dead processes left in every run directory that this user may look into, and reports nothing.  What
 * cannot be delivered stays for `ctrace recover`, which reports why.  A recovery that makes no progress is reported and goes on
 * alone, on its thread; `verb` is for the message. */
void ct_tool_recover_on_the_way(const char *verb);
/* Reports on stderr the run directories that would be the user's and may not be used, and why; gives their number. */
uint32_t ct_tool_say_refused(const char *verb);

#endif
