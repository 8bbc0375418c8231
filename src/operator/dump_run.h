/*
 * operator/dump_run.h - dumps of processes, for ctrace dump and the operator's command DUMP.
 *
 * Reads the process directories and needs no answer of the processes: they may hang, be stopped, or
 * be dead.  A dead process's events in storage are removed when they are in a dump.  Called on the
 * tool's thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_OPERATOR_DUMP_RUN_H
#define CT_OPERATOR_DUMP_RUN_H

#include "lib/dump/dump.h"
#include "operator/operator.h"
#include "session/client.h"

/* What became of one process. */
struct ct_dump_one {
	const struct ct_directory_entry *entry;
	const struct ct_session_head *head; /* NULL: it cannot be read */
	const char *path;                   /* of the dump; NULL: none was tried */
	/* OK: the dump is made; else `why` has the reason */
	enum ctrace_status status;
	const char *why;
	struct ct_dump_result result;
};
struct ct_dump_run {
	struct ct_peer_filter filter;
	/* further processes and components, by the reply to DUMP; NULL: all */
	const struct ct_dump_reply *reply;
	const char *component; /* a glob; NULL: all */
	const char *title, *reason;
	const char *directory; /* where the dumps are made; NULL: the current directory */
	bool is_whole;         /* `directory` is the dump itself: there is one process */
	void (*report)(struct ct_dump_run *run, const struct ct_dump_one *one);
	void *user;
	/* set by ct_dump_run(); meant: the processes that the filter and the reply select */
	uint32_t meant, made, failed;
};
/* Dumps every process that is meant and holds events.  Reports each of these, and each that cannot
 * be read or dumped. */
void ct_dump_run(struct ct_dump_run *run);

#endif
