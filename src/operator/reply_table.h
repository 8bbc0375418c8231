/*
 * operator/reply_table.h - the prompts of TRACE CT that wait for a reply.
 *
 *     <run directory>/reply/7       one a number: 0600, lines of `key text`
 *
 * They are files, so that the reply may come from another terminal, or tomorrow.  An open table
 * holds its lock: two operators cannot get the same number, nor answer the same prompt twice.  A
 * file gets its name when it is complete.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_REPLY_TABLE_H
#define CT_OPERATOR_REPLY_TABLE_H

#include "operator/operator.h"

#define REPLY_MOST 9999u
#define REPLY_OPERANDS 8192u
#define REPLY_JOB 256u

struct reply_entry {
	unsigned number;  /* 1 to 9999 */
	uint64_t time_ns; /* when it was asked, since 1970 */
	uint32_t pid;     /* the processes of the command; 0, 0, "": all */
	uint32_t asid;
	char job[REPLY_JOB];
	char command[CT_OPERATOR_LINE + 1];
	char operands[REPLY_OPERANDS]; /* the operands of the replies so far */
};
struct reply_table {
	char path[4096]; /* for messages, even if the table cannot be opened */
	int directory_fd;
};
/* Returns a status of ct_run_directory_open(), or TIMED_OUT: another process has held the lock
 * for five seconds. */
enum ctrace_status ct_reply_table_open(struct reply_table *table) CT_MUST_USE;
void ct_reply_table_close(struct reply_table *table);
/* Adds the entry under the lowest free number, and stores the number in *entry.  Returns
 * NOT_FOUND when no number is free. */
enum ctrace_status ct_reply_add(struct reply_table *table, struct reply_entry *entry) CT_MUST_USE;
enum ctrace_status ct_reply_replace(struct reply_table *table,
				    const struct reply_entry *entry) CT_MUST_USE;
/* Returns NOT_FOUND; DAMAGED when the file is not one of ours. */
enum ctrace_status ct_reply_find(struct reply_table *table, unsigned number,
				 struct reply_entry *out) CT_MUST_USE;
enum ctrace_status ct_reply_remove(struct reply_table *table, unsigned number) CT_MUST_USE;
/* Returns the outstanding numbers in ascending order; the caller frees *out_numbers. */
enum ctrace_status ct_reply_numbers(struct reply_table *table, unsigned **out_numbers,
				    size_t *out_count) CT_MUST_USE;

#endif
