/*
 * operator/reply_table.h - the prompts of TRACE CT that wait for a reply.
 *
 *     <run directory>/reply/7       one a number: 0600, lines of `key text`
 *
 * They are files, so that the reply may come from another terminal, or tomorrow.  Who opens the
 * table holds its lock until it is closed: two operators cannot get the same number, nor answer the
 * same prompt twice.  A file is complete when it has its name.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_REPLY_TABLE_H
#define CT_TOOLS_REPLY_TABLE_H

#include "operator/operator.h"

#define REPLY_MOST 9999u
#define REPLY_OPERANDS 8192u
#define REPLY_JOB 256u

struct reply_entry {
	unsigned number;  /* 1 to 9999 */
	uint64_t time_ns; /* when it was asked, since 1970 */
	uint32_t pid;     /* who the command is for; 0, 0, "": all */
	uint32_t asid;
	char job[REPLY_JOB];
	char command[CT_OPERATOR_LINE + 1];
	char operands[REPLY_OPERANDS]; /* that were replied so far */
};
struct reply_table {
	char path[4096]; /* for messages, also when it cannot be opened */
	int directory_fd;
};
/* Statuses of ct_run_directory_open(), and TIMED_OUT: somebody has held the lock for five seconds.
 */
enum ctrace_status ct_reply_table_open(struct reply_table *table) CT_MUST_USE;
void ct_reply_table_close(struct reply_table *table);
/* With the lowest number that is free, which is put into *entry.  NOT_FOUND: there is none. */
enum ctrace_status ct_reply_add(struct reply_table *table, struct reply_entry *entry) CT_MUST_USE;
enum ctrace_status ct_reply_replace(struct reply_table *table,
				    const struct reply_entry *entry) CT_MUST_USE;
/* NOT_FOUND; DAMAGED: the file is not one of ours. */
enum ctrace_status ct_reply_find(struct reply_table *table, unsigned number,
				 struct reply_entry *out) CT_MUST_USE;
enum ctrace_status ct_reply_remove(struct reply_table *table, unsigned number) CT_MUST_USE;
/* The numbers that are outstanding, ascending; *out_numbers is freed by the caller. */
enum ctrace_status ct_reply_numbers(struct reply_table *table, unsigned **out_numbers,
				    size_t *out_count) CT_MUST_USE;

#endif
