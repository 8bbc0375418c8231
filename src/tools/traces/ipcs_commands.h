/*
 * tools/traces/ipcs_commands.h - a run of ctrace ipcs: commands that follow each other, and what
 * they remember.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRACES_IPCS_COMMANDS_H
#define CT_TOOLS_TRACES_IPCS_COMMANDS_H

#include "print/ipcs/ipcs.h"
#include "tools/traces/reading.h"

struct ipcs {
	struct reading reading;          /* options, and the paths of the command line */
	struct ct_ipcs_command defaults; /* SETDEF: where the trace is */
	struct ct_ipcs_command *merged;  /* between MERGE and MERGEEND; NULL: not there */
	uint32_t merged_count;
	bool is_merge_bad; /* one of its commands has an error */
	bool has_ended;    /* END */
	int status;        /* the worst so far */
	bool is_file;      /* commands are lines of a file: errors have the line */
	unsigned line;     /* lines of it before the command */
	uint64_t commands; /* that were given */
	uint64_t reports;  /* lines about damage so far */
};

/* Carries out the commands of a text: lines, with those that continue them. */
void ct_ipcs_commands_run(struct ipcs *ipcs, const char *text, size_t size);
/* No more commands come. */
void ct_ipcs_commands_end(struct ipcs *ipcs);

/* ---- ipcs_job.c: one command over the traces that it means */
void ct_ipcs_job_run(struct ipcs *ipcs, const struct ct_ipcs_command *commands, uint32_t count,
		     bool is_merged);
void ct_ipcs_job_copy(struct ipcs *ipcs, const struct ct_ipcs_command *command);
void ct_ipcs_job_status(struct ipcs *ipcs, const struct ct_ipcs_command *command);
/* The command's status, if it is worse than what was. */
void ct_ipcs_fail(struct ipcs *ipcs, int status);

#endif
