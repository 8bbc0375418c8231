/*
 * lib/component/component.h - component trace: what its files share, and what the runtime and the
 * COBOL face take from it.
 *
 *     plist.c         the macros' structures, before they are believed
 *     define.c        CTRACE DEFINE: the order of the checks, all or nothing
 *     delete.c        CTRACE DELETE
 *     command.c       TRACE CT, and level commands of the other face, for a trace that is there
 *     change.c        one change: routines called, then in force, or all undone
 *     builtin.c       TRACE CT for a tracer that nobody defined
 *     trace_status.c  mode, options, filters, buffer: what a request may ask, and what it makes of
 * a status path.c          NAME and SUB become the name of a component member.c        a parmlib
 * member, with the place of what is wrong in it table.c         the traces: the index, heads and
 * sublevels, who works on which routine.c       exits: found by name, called under no lock
 *     display.c       a trace as DISPLAY TRACE shows it
 *     preset.c        PRESET: kept in the run directory for what is not yet defined
 *     space.c         address spaces: ASIDs and job names of the processes of a run directory
 *     reason.c        every code: what it means, its cause, its cure
 *     tbwc.c  cte.c  write_buffer.c     CTRACECS, entries, CTRACEWR
 *
 * A command claims the traces that it is about, works on them under no lock, and gives them back.
 * The table's lock is held for moments and never while a routine runs.  Lock order: attach,
 * consumer, emitter names, table, registry, pool.
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
/* NAME.SUB.SUB as the registry has it, terminated */
#define CT_TRACE_NAME_SIZE (CTRACE_MAX_COMPONENT + 1u)
/* bytes that a SUB adds to a name at most */
#define CT_SUB_ROOM (CTRACE_MAX_SUB_LEVELS * (CTRACE_MAX_SUB_NAME + 1u))

struct ct_trace;

/* ---- reason.c */
struct ct_reason_row {
	uint32_t rc;      /* 04, 08, 0C, or CTRACE_RC_ABEND */
	uint32_t reason;  /* RR; of an abend its whole reason; 0: the RC has none */
	uint32_t low;     /* 0E01, 0E02: the low byte; else 0 */
	const char *name; /* "MEMBER_NOT_FOUND" */
	/* one sentence, without a full stop, in lower case: what ctrace_outcome_text() answers */
	const char *meaning;
	const char *cause; /* a sentence or two */
	const char *cure;  /* what to do */
};
const struct ct_reason_row *ct_reason_at(size_t index); /* NULL past the last */
/* low: the low byte of the reason code; of no account where the row has none. */
const struct ct_reason_row *ct_reason_find(uint32_t rc, uint32_t reason, uint32_t low);

/* Fills an outcome's codes; reason is RR, or RR << 8 | low byte (0x0E01) when it is more than 0xFF,
 * or an abend's reason with CTRACE_RC_ABEND, which leaves rsncode 0.  format NULL leaves the
 * message; else it is one line, harmless whatever it quotes, and cut with
 * "..." where it is too long.  out may be NULL; ss_rc and ss_rsncode are the caller's.  Returns rc.
 */
uint32_t ct_outcome_set(struct ctrace_outcome *out, uint32_t rc, uint32_t reason,
			const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What a command answers that names an external writer which is not there. */
#define CT_NO_WRITER "writer %s is not running: entries go to the destinations until it is started"

/* ---- plist.c */
bool ct_is_coded(const char *text); /* neither NULL nor empty */
/* The structure alone: 401, 101, 301, 102, 501; 401, 302.  Reads nothing of a structure beyond its
 * size. */
uint32_t ct_plist_check_define(const struct ctrace_define *asked,
			       struct ctrace_outcome *out) CT_MUST_USE;
uint32_t ct_plist_check_delete(const struct ctrace_delete *asked,
			       struct ctrace_outcome *out) CT_MUST_USE;

/* ---- delete.c */
/* Deletes what a routine has defined below a trace that is not to be defined after all. */
void ct_delete_subs(struct ct_trace *trace);

/* The bytes of the one character or escape at `at`, none of which is to stand alone; at most left.
 */
size_t ct_message_unit(const char *at, size_t left);

/* ---- space.c */
struct ct_space {
	uint16_t asid;
	char jobname[CTRACE_MAX_NAME + 1];
};
struct ct_space ct_space_self(void);
/* The directory that our session is in; false while we keep to ourselves. */
bool ct_space_run_directory(char out_path[4096]);
/* Is there a live process with this ASID, or job name, in our run directory?  Several of one job
 * name: ourselves if we are one of them, else the one with the lowest ASID. */
bool ct_space_find_asid(uint16_t asid, struct ct_space *out);
bool ct_space_find_jobname(const char *jobname, struct ct_space *out);

/* ---- preset.c: files in the run directory's directory `preset`, named by the trace in upper case
 */
/* OK; NOT_FOUND when there is none to read or delete; DENIED, also without a run directory; DAMAGED
 * when it is no single request; NOT_ENOUGH_MEMORY; OS_ERROR; INVALID_COMPONENT_NAME when a file
 * cannot have that name.  name: as the registry has it. */
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
/* As ctrace_routine_register(), for a routine that is not a C function (COBOL's).  code NULL takes
 * it back. */
enum ctrace_status ct_routine_add(const char *name, const struct ct_routine *routine) CT_MUST_USE;
/* The one of that name, loading it when needed.  False: message says why. */
bool ct_routine_find(const char *name, struct ct_routine *out, char *message, size_t size);
/* Set by the runtime: looks among COBOL's ENTRYs.  May be NULL. */
extern bool (*ct_routine_find_cobol)(const char *name, struct ct_routine *out);
uint32_t ct_routine_call(const struct ct_routine *routine, struct ctrace_ctss *ctss);
/* What ctrace_wto() says to a console goes into `text` from open to close: terminated, cut, lines
 * joined by "; ". */
struct ct_console {
	struct ct_console *next;
	const void *thread;
	uint64_t number;
	char *text;
	size_t size;
};
void ct_console_open(struct ct_console *console, char *text, size_t size);
void ct_console_close(struct ct_console *console);
/* In a forked child, under the table's lock: commands of other threads listen no more; their
 * consoles are on stacks that are gone. */
void ct_console_forget_others(void);

/* ---- path.c */
/* Which trace a NAME and a SUB mean, as the registry names it: ASID(h) and JOBNAME(n) of one
 * address space are ASID(hhhh). */
struct ct_path {
	char name[CT_TRACE_NAME_SIZE];
	char by_job[CT_TRACE_NAME_SIZE]; /* the same with JOBNAME(n) where an ASID is */
	char given[CT_TRACE_NAME_SIZE];  /* the same as it was said: what presets are kept by */
	/* of the head's name, which `name` begins with; 0: it has none */
	size_t head_size;
	bool is_active; /* every address space that it names has a process now */
};
uint32_t ct_path_parse(const char *name, const char *sub, struct ct_path *out_path,
		       struct ctrace_outcome *out) CT_MUST_USE;
/* The same of names that have been parsed. */
void ct_path_build(const char *name, const struct ct_sub_path *sub, struct ct_path *out_path);
/* A text in a field that is padded with blanks. */
void ct_pad(char *field, size_t room, const char *text, size_t size);
/* Its names, padded with blanks, for a CTSS. */
void ct_path_fill(const char *name, struct ctrace_ctss *ctss);

/* ---- table.c */
struct ct_attributes {
	char startnam[CT_NAME_SIZE];
	char dispnam[CT_NAME_SIZE];
	char fmttab[CT_NAME_SIZE];
	bool asids, jobs, mod, head, headopts, buffer, bufdefin, wtr;
	/* DEFINE's; a sublevel that was LIKEHEAD by a member only has attributes of its own */
	bool likehead;
	uint8_t wtrmode;
	uint32_t bufmin, bufmax, bufdflt; /* bytes; bufdflt 0: NODFLT */
	char *minops;                     /* NULL: none */
};
/* What a trace does.  Of a trace that follows its head, the head's counts. */
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
struct ct_claim;
struct ct_trace {
	uint32_t component;  /* registry index */
	uint32_t generation; /* of the definition; part of its token */
	bool is_defined;     /* false while DEFINE works on it, and after DELETE */
	bool is_unsettled;   /* a routine has set its threshold behind its command's back */
	bool is_leaving;     /* DELETE works on it: nothing is defined below it any more */
	bool is_interrupted; /* in a forked child: another thread was defining or deleting it */
	bool follows;        /* LIKEHEAD state */
	uint32_t subs;       /* direct sublevels that are defined */
	struct ct_trace *head;
	struct ct_trace *first_sub;
	struct ct_trace *next_sub;
	struct ct_trace *previous_sub;
	/* the command that works on it and alone changes what follows; status under the lock, too
	 */
	struct ct_claim *claim;
	struct ct_status *status; /* NULL: OFF, with nothing set */
	struct ct_attributes attributes;
	unsigned char userdata[CTRACE_USERDATA_SIZE];
	uint32_t level_before;  /* own threshold before it was defined; DELETE puts it back */
	uint64_t buffer_before; /* likewise its own ring size */
	uint32_t writer_before; /* and its own writer's number */
};

/*
 * A command's claim: the traces that no other command may work on meanwhile.  A command that needs
 * a trace of another waits for it, unless that one waits, in the end, for this thread: then the
 * answer is no, because nobody would ever go on.  Nor does it wait for longer than
 * ct_claim_limit_ns: the command that it waits for may be in a routine that never returns.
 */
struct ct_claim {
	const void *thread;
	uint32_t tid;
	bool is_operators; /* on a thread of ctrace's own */
	bool is_firm;      /* of two that wait for each other, the other one is refused */
	/* somebody has waited for the whole limit: nobody waits for it any more */
	bool is_overdue;
	const char *command;      /* "TRACE CT", for messages; static.  NULL: not named */
	uint64_t since_ns;        /* CLOCK_MONOTONIC: since when it has its first trace */
	struct ct_trace **traces; /* heads before their sublevels */
	uint32_t count;
	uint32_t capacity;
};
enum ct_claimed {
	CT_CLAIMED,
	CT_CLAIM_REFUSED,   /* the command that has it waits for this thread */
	CT_CLAIM_TIMED_OUT, /* the command that has it does not end */
	CT_CLAIM_NO_MEMORY
};
/* How long a command waits for another one.  Tests set it before there are threads. */
extern uint64_t ct_claim_limit_ns;

/* The trace of a component, NULL when there never was one; made when `make`, NULL then when memory
 * is short.  Under the lock. */
struct ct_trace *ct_table_find(uint32_t component);
struct ct_trace *ct_table_make(uint32_t component);
/* Puts a trace below its head, and takes it away.  Under the lock, by who has claimed it. */
void ct_table_link(struct ct_trace *trace, struct ct_trace *head);
void ct_table_unlink(struct ct_trace *trace);
/* The trace after `at` in the tree of `top`, heads first; NULL at the end. */
struct ct_trace *ct_table_next(const struct ct_trace *top, struct ct_trace *at, bool prune);
/* under the lock */
void ct_table_each(void (*each)(struct ct_trace *trace, void *user), void *user);

void ct_claim_init(struct ct_claim *claim);
/* Claims one; under the lock, which is given back while it waits: what was read before is old then.
 */
enum ct_claimed ct_claim_one(struct ct_claim *claim, struct ct_trace *trace) CT_MUST_USE;
/* Claims the whole tree of a trace; or, `followers`, of its sublevels those that follow it. */
enum ct_claimed ct_claim_tree(struct ct_claim *claim, struct ct_trace *trace,
			      bool followers) CT_MUST_USE;
uint32_t ct_claim_waiters(void); /* threads that wait for a claim now.  Takes the lock */
/* Waits until nobody else works on it. */
enum ct_claimed ct_claim_wait(struct ct_trace *trace) CT_MUST_USE;
/* this thread's: of this command or of one that it was called by */
bool ct_claim_is_mine(const struct ct_trace *trace);
/* who `mine` is: the same for a thread and for its copy in a forked child */
const void *ct_claim_thread(void);
void ct_claim_release(struct ct_claim *claim); /* takes the lock */
/* RC 00 for CLAIMED; else what a command answers that wanted to claim `name`. */
uint32_t ct_claim_outcome(enum ct_claimed claimed, const char *name, struct ctrace_outcome *out);

/* The trace of a name, if it is defined; one that this thread is defining counts, for its routine's
 * sake.  Under the lock. */
struct ct_trace *ct_trace_find_defined(const char *name, size_t size);
/* In a forked child that attaches: takes back what is left of what other threads were defining or
 * deleting. */
void ct_table_forget_interrupted(void);
/* Makes it what a trace is that nobody has defined; its place in memory and its generation stay. */
void ct_trace_forget(struct ct_trace *trace);
/* Gives it the ring size and the writer that it had before it was defined. */
void ct_trace_restore_ring(const struct ct_trace *trace);
uint64_t ct_token_of(const struct ct_trace *trace);
/* For ctrace_write_buffer(): the trace of a token. */
struct ct_token {
	uint32_t component;
	uint8_t wtrmode;
	bool wtr;
};
bool ct_token_find(uint64_t token, struct ct_token *out);
void ct_table_lock(void);
void ct_table_unlock(void);
void ct_table_unlock_in_child(void); /* fork.c: what other threads claimed is free again */

/* ---- trace_status.c */
/* A head with HEADOPTS=NO: it groups its sublevels and is never switched. */
bool ct_only_groups(const struct ct_attributes *attributes);
/* The attributes that count for a trace: of one that was defined LIKEHEAD, its head's. */
const struct ct_attributes *ct_trace_attributes(const struct ct_trace *trace);
/* What it does; of one that follows, what its head does.  Takes the table's lock. */
void ct_status_get(const struct ct_trace *trace, struct ct_status *out);
/* May the trace be asked that?  From whom it comes decides what is allowed.  0, or the RC with
 * `out` filled; source: the member, or NULL. */
enum ct_request_from { CT_FROM_DEFINE, CT_FROM_PRESET, CT_FROM_COMMAND };
uint32_t ct_status_check(const struct ct_trace *trace, const struct ct_trace_request *request,
			 enum ct_request_from from, const char *source,
			 struct ctrace_outcome *out) CT_MUST_USE;
/* What becomes of a status by a request; state ON or OFF. */
void ct_status_merge(struct ct_status *status, const struct ct_trace_request *request,
		     const struct ct_attributes *attributes);
/* Do the filters of a trace that is on leave this process out? */
bool ct_status_is_excluded(const struct ct_status *status);
/* Bytes of each thread's ring for a buffer of that size; 0 for 0. */
uint64_t ct_status_granted(uint64_t buffer_size);

/* ---- change.c */
/* What a trace is to become. */
struct ct_wanted {
	bool follows;
	bool call;                      /* its routine */
	bool is_definition;             /* its first state */
	const struct ct_status *status; /* when it follows: its head's */
};
/* Under a claim of it and of those that follow it: its routine and, if that says so, theirs; then
 * the status is in force.  0, or the RC, and nothing has changed. */
uint32_t ct_change_carry_out(struct ct_claim *claim, const struct ct_wanted *wanted,
			     struct ctrace_outcome *out) CT_MUST_USE;
/* Calls the start/stop routine of one trace for a status, if it has one.  RC; `out` has what it
 * returned. */
uint32_t ct_change_call(struct ct_trace *trace, struct ct_status *status, uint32_t flags,
			bool *out_call_subs, struct ctrace_outcome *out);
/* A CTSS for a trace in a state. */
void ct_change_fill(const struct ct_trace *trace, const struct ct_status *status, uint32_t flags,
		    struct ctrace_ctss *out);
/* A command's claims: of its trace and, when that is to follow it, of its head, which must not
 * change meanwhile. */
struct ct_claims {
	struct ct_claim head;
	struct ct_claim trace;
};
void ct_claims_init(struct ct_claims *claims, const char *command); /* static: "DEFINE" */
void ct_claims_end(struct ct_claims *claims);
/* Releases a claim: what routines have set meanwhile gives way to what the command made of its
 * traces. */
void ct_claim_end(struct ct_claim *claim);
/* Puts what the trace does into the registry. */
enum ctrace_status ct_change_publish(const struct ct_trace *trace) CT_MUST_USE;

/* ---- member.c */
/* Reads and parses a member; the outcome names member, line and column. */
uint32_t ct_member_read(const char *member, struct ct_parmlib *out_parmlib,
			struct ctrace_outcome *out) CT_MUST_USE;

/* ---- builtin.c: TRACE CT for a tracer that nobody defined:
 * OPTIONS=('LEVEL=INFO','DEST=(TEXTFILE)','name=value') */
uint32_t ct_builtin_command(const char *name, const struct ct_trace_request *request,
			    struct ctrace_outcome *out) CT_MUST_USE;

/* ---- tbwc.c */
/* FULL to CAPTURE: acquires what its filler put into the buffer.  False when it is not FULL. */
bool ct_tbwc_capture(struct ctrace_tbwc *tbwc);
/* CAPTURE to AVAILABLE or FULL, with the same number.  By who imported it only. */
void ct_tbwc_release(struct ctrace_tbwc *tbwc, uint32_t state);

/* ---- cte.c: the entries of a buffer, which its owner may change while we read: nothing is read
 * twice and believed twice */
struct ct_cte {
	uint32_t entry_id;
	uint64_t time; /* TOD */
	const unsigned char *data;
	size_t size;
};
/* The entry at *offset, which moves behind it.  NOT_FOUND: there are no more, and what is left is
 * zeros.  DAMAGED: what stands there is neither. */
enum ctrace_status ct_cte_next(const void *buffer, size_t size, size_t *offset,
			       struct ct_cte *out) CT_MUST_USE;
/* Is it entries to its end?  How many, or the offset of the first that is none. */
bool ct_cte_check(const void *buffer, size_t size, size_t *out_count,
		  uint64_t *out_bad_offset) CT_MUST_USE;
uint64_t ct_tod_wall_ns(uint64_t tod); /* ns since 1970; 0 for what is before that */

/* ---- command.c */
/* ctrace_trace_ct() of an operator's command, which is parsed. */
uint32_t ct_trace_ct(const struct ct_trace_command *command, struct ctrace_outcome *out);
/* A threshold was changed by the other face: the routine of a trace that this switches is told. The
 * runtime's sink. */
void ct_component_change(const struct ct_change *change, void *user);
/* A forked child has another ASID: its filters are resolved anew. */
void ct_component_forked(void);

#endif
