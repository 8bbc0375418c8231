/*
 * lib/component/component.h - component trace: the interface between its files, and what the
 * runtime and the COBOL interface use of it.
 *
 *     plist.c         checks the macros' structures before anything uses them
 *     define.c        CTRACE DEFINE: the order of the checks, all or nothing
 *     delete.c        CTRACE DELETE
 *     command.c       TRACE CT, and level commands of the other interface for a defined trace
 *     change.c        one change: routines called, then in force, or all undone
 *     builtin.c       TRACE CT for a tracer that nobody defined
 *     trace_status.c  mode, options, filters, buffer: checks a request and applies it
 *     path.c          makes the name of a component from NAME and SUB
 *     member.c        a parmlib member, with the position of each error
 *     table.c         the traces: index, heads and sublevels, transactions of commands
 *     routine.c       exits: found by name, called under no lock
 *     display.c       a trace as DISPLAY TRACE shows it
 *     preset.c        PRESET: kept in the run directory for traces that are not defined yet
 *     space.c         address spaces: ASIDs and job names of the processes of a run directory
 *     reason.c        every code: its meaning, its cause, its cure
 *     tbwc.c  cte.c  write_buffer.c     CTRACECS, entries, CTRACEWR
 *
 * A command works on its traces in a transaction and under no lock.  The table's lock is
 * held for short sections and never while a routine runs.  Lock order: attach, consumer, emitter
 * names, table, registry, pool.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_COMPONENT_H
#define CT_COMPONENT_H

#include "lib/control/control.h"
#include <ctrace/component.h>

#define CT_BUFMIN 1024u
#define CT_BUFMAX 2147483647u
#define CT_NAME_SIZE (CTRACE_MAX_NAME + 1u)
/* NAME.SUB.SUB as in the registry, terminated */
#define CT_TRACE_NAME_SIZE (CTRACE_MAX_COMPONENT + 1u)
/* bytes that a SUB adds to a name at most */
#define CT_SUB_ROOM (CTRACE_MAX_SUB_LEVELS * (CTRACE_MAX_SUB_NAME + 1u))

struct ct_trace;

/* ---- reason.c */
struct ct_reason_row {
	uint32_t rc;      /* 04, 08, 0C, or CTRACE_RC_ABEND */
	uint32_t reason;  /* RR; the whole reason of an abend; 0: the RC has no reasons */
	uint32_t low;     /* 0E01, 0E02: the low byte; else 0 */
	const char *name; /* "MEMBER_NOT_FOUND" */
	/* one sentence in lower case, without a full stop: the result of ctrace_outcome_text() */
	const char *meaning;
	const char *cause; /* a sentence or two */
	const char *cure;  /* what to do */
};
const struct ct_reason_row *ct_reason_at(size_t index); /* NULL past the last */
/* low: the low byte of the reason code; ignored where the row has none.  NULL: no such code. */
const struct ct_reason_row *ct_reason_find(uint32_t rc, uint32_t reason, uint32_t low);

/* Fills an outcome's codes and returns rc.  reason is RR, or RR << 8 | low byte (0x0E01) when it
 * is over 0xFF; with CTRACE_RC_ABEND it is the abend's reason, and rsncode is 0.  format NULL
 * keeps the message.  Otherwise the message is one line, escaped, and cut with "..." where it is
 * too long.  out may be NULL; the caller sets ss_rc and ss_rsncode. */
uint32_t ct_outcome_set(struct ctrace_outcome *out, uint32_t rc, uint32_t reason,
			const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A command's message about an external writer that does not run. */
#define CT_NO_WRITER "writer %s is not running: entries go to the destinations until it is started"

/* ---- plist.c */
bool ct_is_coded(const char *text); /* neither NULL nor empty */
/* Returns the name without the blanks that pad it to 8 characters, in `room`; any other name as it
 * is. */
const char *ct_plist_trim(const char *name, char room[CTRACE_MAX_NAME + 1]);
struct ct_plist_names {
	char name[CTRACE_MAX_NAME + 1], startnam[CTRACE_MAX_NAME + 1], dispnam[CTRACE_MAX_NAME + 1],
		fmttab[CTRACE_MAX_NAME + 1], parm[CTRACE_MAX_NAME + 1];
};
/* Does so for each name of a copy of a structure that is checked. */
void ct_plist_trim_names(struct ctrace_define *asked, struct ct_plist_names *room);
/* Check the structure alone: 401, 101, 301, 102, 501 for DEFINE; 401, 302 for DELETE.  Nothing
 * beyond the structure's size is read. */
uint32_t ct_plist_check_define(const struct ctrace_define *asked,
			       struct ctrace_outcome *out) CT_MUST_USE;
uint32_t ct_plist_check_delete(const struct ctrace_delete *asked,
			       struct ctrace_outcome *out) CT_MUST_USE;

/* ---- delete.c */
/* Deletes the sublevels that a routine has defined below a trace whose own definition failed. */
void ct_delete_subs(struct ct_trace *trace);

/* Returns the bytes of the character or escape at `at`, which must not be cut; at most left. */
size_t ct_message_unit(const char *at, size_t left);

/* ---- space.c */
struct ct_space {
	uint16_t asid;
	char jobname[CTRACE_MAX_NAME + 1];
};
struct ct_space ct_space_self(void);
/* The directory of our session; false when the process has none. */
bool ct_space_run_directory(char out_path[4096]);
/* Finds a live process of our run directory by ASID or job name.  Of several with one job name:
 * this process if it is one of them, else the one with the lowest ASID. */
bool ct_space_find_asid(uint16_t asid, struct ct_space *out);
bool ct_space_find_jobname(const char *jobname, struct ct_space *out);

/* ---- preset.c: files in the run directory's directory `preset`, named by the trace, upper case */
/* name: as in the registry.  NOT_FOUND: no preset to read or delete; DENIED: also without a run
 * directory; DAMAGED: not a single request; INVALID_COMPONENT_NAME: no file can have that name;
 * NOT_ENOUGH_MEMORY; OS_ERROR. */
enum ctrace_status ct_preset_put(const char *name,
				 const struct ct_trace_request *request) CT_MUST_USE;
enum ctrace_status ct_preset_get(const char *name, struct ct_trace_request *out) CT_MUST_USE;
enum ctrace_status ct_preset_delete(const char *name) CT_MUST_USE;

/* ---- routine.c */
struct ct_routine;
typedef uint32_t ct_routine_invoke(void *code, struct ctrace_ctss *ctss);
struct ct_routine {
	void *code;
	ct_routine_invoke *invoke;
};
/* As ctrace_routine_register(), for a routine that is not a C function (COBOL's).  code NULL
 * removes the registration. */
enum ctrace_status ct_routine_add(const char *name, const struct ct_routine *routine) CT_MUST_USE;
/* Finds a routine by name and loads its module when needed.  False: message has the reason. */
bool ct_routine_find(const char *name, struct ct_routine *out, char *message, size_t size);
/* The runtime sets it: looks among COBOL's ENTRYs.  May be NULL. */
extern bool (*ct_routine_find_cobol)(const char *name, struct ct_routine *out);
uint32_t ct_routine_call(const struct ct_routine *routine, struct ctrace_ctss *ctss);
/* A command's console: ctrace_wto() messages go into `text` from open to close, terminated, cut,
 * lines joined by "; ". */
struct ct_console {
	struct ct_console *next;
	const void *thread;
	uint64_t number;
	char *text;
	size_t size;
};
void ct_console_open(struct ct_console *console, char *text, size_t size);
void ct_console_close(struct ct_console *console);
/* In a forked child, under the table's lock: removes the consoles of other threads' commands,
 * which are on stacks that no longer exist. */
void ct_console_drop_others(void);

/* ---- path.c */
/* The trace of a NAME and a SUB, as the registry names it: ASID(h) and JOBNAME(n) of one address
 * space both become ASID(hhhh). */
struct ct_path {
	char name[CT_TRACE_NAME_SIZE];
	char by_job[CT_TRACE_NAME_SIZE]; /* the same with JOBNAME(n) in place of an ASID */
	char given[CT_TRACE_NAME_SIZE];  /* the same as the caller spelled it: the key of presets */
	/* of the head's name, which is the beginning of `name`; 0: no head */
	size_t head_size;
	bool is_active; /* each of its address spaces has a live process */
};
uint32_t ct_path_parse(const char *name, const char *sub, struct ct_path *out_path,
		       struct ctrace_outcome *out) CT_MUST_USE;
/* Builds a path from names that have been parsed. */
void ct_path_build(const char *name, const struct ct_sub_path *sub, struct ct_path *out_path);
/* Copies a text into a field and pads it with blanks. */
void ct_pad(char *field, size_t room, const char *text, size_t size);
/* Fills the names of a CTSS, padded with blanks. */
void ct_path_fill(const char *name, struct ctrace_ctss *ctss);

/* ---- table.c */
struct ct_attributes {
	char startnam[CT_NAME_SIZE];
	char dispnam[CT_NAME_SIZE];
	char fmttab[CT_NAME_SIZE];
	bool asids, jobs, mod, head, headopts, buffer, bufdefin, wtr;
	/* set by DEFINE; a sublevel that a member made LIKEHEAD has attributes of its own */
	bool likehead;
	uint8_t wtrmode;
	uint32_t bufmin, bufmax, bufdflt; /* bytes; bufdflt 0: NODFLT */
	char *minops;                     /* NULL: none */
};
/* Mode, options and filters of a trace.  A trace that follows its head uses the head's. */
struct ct_status {
	uint32_t mode;  /* CTRACE_MODE_* */
	uint32_t level; /* threshold while ON */
	uint64_t buffer_asked;
	uint64_t buffer_rounded;
	uint32_t asid_count;
	uint32_t jobname_count;
	char writer[CT_NAME_SIZE];
	uint16_t asid[CTRACE_MAX_FILTER];
	char jobname[CTRACE_MAX_FILTER][CT_NAME_SIZE];
	char options[CTRACE_MAX_OPTIONS + 1];
};
struct ct_transaction;
struct ct_trace;
/* Puts FMTTAB and USERDATA into the session, for those who write the trace's events. */
void ct_trace_describe(const struct ct_trace *trace);
struct ct_trace {
	uint32_t component;  /* registry index */
	uint32_t generation; /* number of the definition; part of its token */
	bool is_defined;     /* false while DEFINE works on it, and after DELETE */
	bool is_unsettled;   /* a routine has set its threshold outside its command */
	bool is_leaving;     /* DELETE works on it: no trace may be defined below it */
	bool is_interrupted; /* in a forked child: another thread was defining or deleting it */
	bool follows;        /* LIKEHEAD state */
	uint32_t subs;       /* direct sublevels that are defined */
	struct ct_trace *head;
	struct ct_trace *first_sub;
	struct ct_trace *next_sub;
	struct ct_trace *previous_sub;
	/* the command that works on it; no other command changes the members below; status
	 * changes under the lock, too */
	struct ct_transaction *transaction;
	struct ct_status *status; /* NULL: OFF, with nothing set */
	struct ct_attributes attributes;
	unsigned char userdata[CTRACE_USERDATA_SIZE];
	uint32_t level_before;  /* own threshold before DEFINE; DELETE restores it */
	uint64_t buffer_before; /* own ring size before DEFINE */
	uint32_t writer_before; /* own writer's number before DEFINE */
};

/*
 * A command's transaction: the traces that no other command may work on meanwhile.  A command that
 * needs another command's trace waits for it.  It is refused when waiting would deadlock: the other
 * command waits, directly or not, for this thread.  It waits at most ct_transaction_limit_ns,
 * because the other command may be in a routine that never returns.
 */
struct ct_transaction {
	const void *thread;
	uint32_t tid;
	bool is_operators; /* on one of ctrace's own threads */
	bool is_firm;      /* if it and another wait for each other, the other is refused */
	/* a thread has waited for the whole limit; nobody waits for this transaction any more */
	bool is_overdue;
	const char *command;      /* "TRACE CT", for messages; static.  NULL: not named */
	uint64_t since_ns;        /* CLOCK_MONOTONIC: when it got its first trace */
	struct ct_trace **traces; /* heads before their sublevels */
	uint32_t count;
	uint32_t capacity;
};
enum ct_transaction_result {
	CT_TRANSACTION_OK,
	CT_TRANSACTION_REFUSED,   /* the other command waits for this thread */
	CT_TRANSACTION_TIMED_OUT, /* the other command does not end */
	CT_TRANSACTION_NO_MEMORY
};
/* How long a command waits for another one.  Tests set it before they start threads. */
extern uint64_t ct_transaction_limit_ns;

/* Find the trace of a component; NULL when there never was one.  make creates it; NULL: no
 * memory. Under the lock. */
struct ct_trace *ct_table_find(uint32_t component);
struct ct_trace *ct_table_make(uint32_t component);
/* Put a trace below its head, and remove it there.  Under the lock, in a transaction. */
void ct_table_link(struct ct_trace *trace, struct ct_trace *head);
void ct_table_unlink(struct ct_trace *trace);
/* Returns the trace after `at` in the tree of `top`, heads first; NULL at the end.  prune skips
 * the sublevels of `at`. */
struct ct_trace *ct_table_next(const struct ct_trace *top, struct ct_trace *at, bool prune);
/* under the lock */
void ct_table_each(void (*each)(struct ct_trace *trace, void *user), void *user);

/* command: static, for messages; may be NULL */
void ct_transaction_init(struct ct_transaction *transaction, const char *command);
/* Adds one trace to the transaction.  Under the lock, which is released while it waits: the caller
 * must read again what it read before. */
enum ct_transaction_result ct_transaction_add(struct ct_transaction *transaction,
					      struct ct_trace *trace) CT_MUST_USE;
/* Adds the whole tree of a trace; with followers only the sublevels that follow it. */
enum ct_transaction_result ct_transaction_add_tree(struct ct_transaction *transaction,
						   struct ct_trace *trace,
						   bool followers) CT_MUST_USE;
uint32_t
ct_transaction_waiters(void); /* threads that wait for a transaction now.  Takes the lock */
/* Waits until no other command works on the trace. */
enum ct_transaction_result ct_transaction_wait(struct ct_trace *trace) CT_MUST_USE;
/* True when this thread's command, or a command that called it, works on the trace. */
bool ct_transaction_is_mine(const struct ct_trace *trace);
/* Identifies the thread: the same in a thread and its copy in a forked child. */
const void *ct_transaction_thread(void);
void ct_transaction_release(struct ct_transaction *transaction); /* takes the lock */
/* RC 00 for OK; else the RC of a command that failed to add `name`. */
uint32_t ct_transaction_outcome(enum ct_transaction_result result, const char *name,
				struct ctrace_outcome *out);

/* Finds a defined trace by name.  A trace that this thread is defining counts, for its routine's
 * sake.  Under the lock. */
struct ct_trace *ct_trace_find_defined(const char *name, size_t size);
/* In a forked child that attaches: removes the unfinished definitions and deletions of other
 * threads. */
void ct_table_reset_interrupted(void);
/* Resets a trace to the undefined state; its memory and its generation stay. */
void ct_trace_reset(struct ct_trace *trace);
/* Restores the ring size and the writer from before DEFINE. */
void ct_trace_restore_ring(const struct ct_trace *trace);
uint64_t ct_token_of(const struct ct_trace *trace);
/* The trace of a token, for ctrace_write_buffer(). */
struct ct_token {
	uint32_t component;
	uint8_t wtrmode;
	bool wtr;
};
bool ct_token_find(uint64_t token, struct ct_token *out);
void ct_table_lock(void);
void ct_table_unlock(void);
void ct_table_unlock_in_child(void); /* fork.c: ends the transactions of other threads */

/* ---- trace_status.c */
/* True for a head with HEADOPTS=NO: it groups its sublevels and is never switched. */
bool ct_only_groups(const struct ct_attributes *attributes);
/* The effective attributes of a trace: its head's if it was defined LIKEHEAD. */
const struct ct_attributes *ct_trace_attributes(const struct ct_trace *trace);
/* Copies the effective status: its head's if it follows.  Takes the table's lock. */
void ct_status_get(const struct ct_trace *trace, struct ct_status *out);
/* Checks whether the trace accepts a request; the answer depends on where it comes from.  0, or
 * the RC with `out` filled.  source: the member, or NULL. */
enum ct_request_from { CT_FROM_DEFINE, CT_FROM_PRESET, CT_FROM_COMMAND };
uint32_t ct_status_check(const struct ct_trace *trace, const struct ct_trace_request *request,
			 enum ct_request_from from, const char *source,
			 struct ctrace_outcome *out) CT_MUST_USE;
/* Applies a request with state ON or OFF to a status. */
void ct_status_merge(struct ct_status *status, const struct ct_trace_request *request,
		     const struct ct_attributes *attributes);
/* True when the filters of a trace that is on exclude this process. */
bool ct_status_is_excluded(const struct ct_status *status);
/* Bytes of each thread's ring for a buffer of that size; 0 for 0. */
uint64_t ct_status_granted(uint64_t buffer_size);

/* ---- change.c */
/* The state that a change is to reach. */
struct ct_wanted {
	bool follows;
	bool call;                      /* call its routine */
	bool is_definition;             /* its first state */
	const struct ct_status *status; /* the head's, when it follows */
};
/* Carries out one change.  The transaction has the trace and its followers.  Calls its
 * routine and, if that asks for it, the followers' routines; then the status is in force.  0, or
 * the RC, and nothing has changed. */
uint32_t ct_change_carry_out(struct ct_transaction *transaction, const struct ct_wanted *wanted,
			     struct ctrace_outcome *out) CT_MUST_USE;
/* Calls the start/stop routine of one trace for a status, if it has one.  Returns the RC; `out`
 * has the routine's results. */
uint32_t ct_change_call(struct ct_trace *trace, struct ct_status *status, uint32_t flags,
			bool *out_call_subs, struct ctrace_outcome *out);
/* Fills a CTSS from a trace and a status. */
void ct_change_fill(const struct ct_trace *trace, const struct ct_status *status, uint32_t flags,
		    struct ctrace_ctss *out);
/* A command's transactions: on its trace and, if the trace is to follow its head, on the head,
 * which must not change meanwhile. */
struct ct_transaction_pair {
	struct ct_transaction head;
	struct ct_transaction trace;
};
void ct_transaction_pair_init(struct ct_transaction_pair *pair,
			      const char *command); /* static: "DEFINE" */
void ct_transaction_pair_end(struct ct_transaction_pair *pair);
/* Ends a transaction.  Thresholds that routines have set meanwhile are replaced by those that the
 * command has set. */
void ct_transaction_end(struct ct_transaction *transaction);
/* Writes a trace's threshold to the registry. */
enum ctrace_status ct_change_publish(const struct ct_trace *trace) CT_MUST_USE;

/* ---- member.c */
/* Reads and parses a member; after an error `out` names member, line and column. */
uint32_t ct_member_read(const char *member, struct ct_parmlib *out_parmlib,
			struct ctrace_outcome *out) CT_MUST_USE;

/* ---- builtin.c: TRACE CT for a tracer that nobody defined:
 * OPTIONS=('LEVEL=INFO','DEST=(TEXTFILE)','name=value') */
uint32_t ct_builtin_command(const char *name, const struct ct_trace_request *request,
			    struct ctrace_outcome *out) CT_MUST_USE;

/* Calls for the list of each DEST of the options, and returns true if it does so for all. */
bool ct_builtin_dests_each(struct ct_span options, bool (*each)(struct ct_span list));

/* ---- tbwc.c */
/* FULL to CAPTURE: acquires the bytes that the application filled in.  False: it is not FULL. */
bool ct_tbwc_capture(struct ctrace_tbwc *tbwc);
/* CAPTURE to AVAILABLE or FULL, with the same number.  Only after ct_tbwc_capture(). */
void ct_tbwc_release(struct ctrace_tbwc *tbwc, uint32_t state);

/* ---- cte.c: the entries of a buffer, which its owner may change meanwhile: each byte that
 * matters is read once */
struct ct_cte {
	uint32_t entry_id;
	uint64_t time; /* TOD */
	const unsigned char *data;
	size_t size;
};
/* Decodes the entry at *offset and advances *offset past it.  NOT_FOUND: only zeros are left.
 * DAMAGED: neither an entry nor zeros. */
enum ctrace_status ct_cte_next(const void *buffer, size_t size, size_t *offset,
			       struct ct_cte *out) CT_MUST_USE;
/* Checks that a buffer holds entries to its end.  Gives their number, or the offset of the first
 * bad one. */
bool ct_cte_check(const void *buffer, size_t size, size_t *out_count,
		  uint64_t *out_bad_offset) CT_MUST_USE;
uint64_t ct_tod_wall_ns(uint64_t tod); /* ns since 1970; 0 for earlier times */

/* ---- command.c */
/* ctrace_trace_ct() for an operator's command, which is parsed already. */
uint32_t ct_trace_ct(const struct ct_trace_command *command, struct ctrace_outcome *out);
/* The CART of the operator's command that runs on this thread; 0: none does. */
uint64_t ct_command_cart(void);
/* The runtime's sink for threshold changes: calls the routine of a trace that the other
 * interface has switched. */
void ct_component_change(const struct ct_change *change, void *user);
/* A forked child has another ASID: resolves its filters again. */
void ct_component_forked(void);

#endif
