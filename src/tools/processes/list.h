/*
 * tools/processes/list.h - what ctrace list has gathered about a process, for its printers.
 *
 * cmd_list.c gathers, and prints for people; list_json.c prints for programs.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_PROCESSES_LIST_H
#define CT_TOOLS_PROCESSES_LIST_H

#include <stdio.h>

#include "session/session.h"

/* The counters of all rings of one process together. */
struct list_counters {
	uint64_t delivered;
	uint64_t lost[CTRACE_LOSS_COUNT];
	/* events that an external writer took while its data set was full */
	uint64_t no_room;
	uint64_t lost_total; /* with these */
	uint64_t in_storage; /* events */
	uint64_t wrapped;    /* events that were in storage and were overwritten there */
	uint64_t pending;    /* events */
	uint64_t pending_bytes;
	uint64_t bytes; /* ever written into them */
	uint32_t rings;
	uint64_t unreadable_bytes; /* of a dead process's rings */
	uint32_t unreadable;       /* further rings, which cannot be read at all */
	uint32_t first_unreadable; /* the number of one of them */
	uint32_t hidden;   /* further rings, in private memory: their events are not counted */
	uint64_t capacity; /* bytes, of all */
	uint32_t fullest;  /* percent */
};

/* One process while it is printed. */
struct list_process {
	const struct ct_directory_entry *entry;
	struct ct_session session;
	uint32_t *order; /* indexes of the components to show, by name */
	uint32_t count;
	struct list_counters counters;
};

/* ---- list_gather.c */
/* Gathers the components to show, by name.  component: a glob, or NULL.  all: includes
 * components that are only configured.  Returns false when memory is short. */
bool ct_list_gather_components(struct list_process *process, const char *component, bool all);
/* delivered + pending + lost_total is what was emitted, when the process is idle. */
void ct_list_gather_counters(const struct ct_session *session, struct list_counters *counters);
/* Prints which clock the process's events have, and why. */
void ct_list_clock_print(const struct ct_session *session, char out[CT_CLOCK_TEXT]);
/* of a component */
const char *ct_list_name(const struct ct_session *session, uint32_t index, size_t *out_size);
/* Returns true if events go to the destination now, or went there before. */
bool ct_list_shows(struct ct_dest *dest);
/* Returns how many events the destination did not get. */
uint64_t ct_list_lost_to(struct ct_dest *dest);
/* The failure of a destination, copied from the session. */
#define CT_LIST_FAILING_AT 256u
struct list_failure {
	uint32_t failing; /* errno; 0: it works */
	/* a call into its emitter has not returned since then; 0: none */
	uint64_t stuck_since_ns;
	/* the destination's path, or the end of a long one; "": no path, or unknown */
	char at[CT_LIST_FAILING_AT];
};
void ct_list_take_failure(struct list_failure *failure, const struct ct_session *session,
			  uint32_t index);
/* Returns the failure without its path; NULL when the destination works. */
#define CT_LIST_FAILURE 100
const char *ct_list_failure(const struct list_failure *failure, char buffer[CT_LIST_FAILURE]);
/* "FAILING: /tmp/x.log: No such file or directory" behind `separator`; nothing when it works.
 * Returns whether it fails. */
bool ct_list_print_failure(FILE *to, const char *separator, const struct list_failure *failure);
const char *ct_list_level(uint32_t level);
/* "/etc/app.cfg: read", and what is wrong with it; "none: ..." when the process has none. */
void ct_list_config_print(const struct ct_session *session, struct ct_buf *out);
/* Returns why processes got no directory. */
const char *ct_list_unattached_why(int error);
/* "ctrace list: 9 processes could not attach in ..." on a stream, when there were such processes.
 * Returns whether there were. */
bool ct_list_print_unattached(FILE *to, const char *before, const char *run_directory);
const char *ct_list_state(const struct ct_directory_entry *entry);

/* ---- list_json.c */
struct json_t;
/* The configuration of a process; null: it has none. */
struct json_t *ct_list_json_config(const struct ct_session *session);
/* Of a destination: "failing" and "failing_at". */
void ct_list_json_failure(struct json_t *object, const struct list_failure *failure);
struct json_t *ct_list_json(const struct list_process *process);
/* One object a line.  False when memory is short. */
bool ct_list_print_json(const struct list_process *process);

#endif
