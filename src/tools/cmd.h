/*
 * tools/cmd.h - the verbs of the ctrace tool.
 *
 * Each verb is one function in its own file and one row in ctrace.c.  A verb parses its own
 * arguments with argp (argv[0] is "ctrace VERB"), prints results on stdout and errors on stderr,
 * and returns its exit status; whether stdout took everything is checked once, when the tool ends.
 * The tool has one thread, and beside it that of recovery_watch.c, which prints only for `ctrace
 * recover`, that of top_stream.c, and those of the libraries that `ctrace respond` uses.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_CMD_H
#define CT_TOOLS_CMD_H

#include "cli/cli.h"

int cmd_show(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_trigger(int argc, char **argv);
int cmd_dump(int argc, char **argv);
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
int cmd_open(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_repair(int argc, char **argv);
int cmd_catalog(int argc, char **argv);
int cmd_forward(int argc, char **argv);
int cmd_archive(int argc, char **argv);
int cmd_respond(int argc, char **argv);

#endif
