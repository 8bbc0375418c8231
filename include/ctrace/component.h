/*
 * ctrace/component.h - component trace: the CTRACE macro, its exits and its buffers, as C.
 *
 *     struct ctrace_outcome out;
 *     struct ctrace_define define = { CTRACE_DEFINE_INIT, .name = "APPXYZ",
 *             .startnam = "APPXYZSS", .head = CTRACE_YES, .headopts = CTRACE_YES,
 *             .parm = "CTAPPXYZ" };
 *     struct ctrace_delete request = { CTRACE_DELETE_INIT, .name = "APPXYZ" };
 *
 *     ctrace_component_define(&define, &out);
 *     ctrace_entry(tracer, 0x21, data, size);
 *     ctrace_component_delete(&request, &out);
 *
 * A trace and the tracer of the same name are one: APPXYZ with SUB=SUBA.SUBB is the tracer
 * "APPXYZ.SUBA.SUBB".  docs/component-trace.md explains every keyword and code.
 *
 * Unless a function says otherwise, any thread may call it, but not in a signal handler.  errno is
 * kept.  The structures belong to the caller, and the library keeps no argument after the call.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CTRACE_COMPONENT_H
#define CTRACE_COMPONENT_H

#include <ctrace/ctrace.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CTRACE_NO 0u /* the default of every keyword that is YES or NO */
#define CTRACE_YES 1u
#define CTRACE_PAGEABLE 1u /* WTRMODE; 0: not coded */
#define CTRACE_DREF 2u
#define CTRACE_FIXED 3u

#define CTRACE_MAX_NAME 8u       /* NAME, STARTNAM, DISPNAM, PARM, FMTTAB, a job name */
#define CTRACE_MAX_SUB_LEVELS 5u /* names in a SUB path */
#define CTRACE_MAX_SUB_NAME 18u  /* bytes of each of these names */
#define CTRACE_MAX_FILTER 16u    /* ASIDs; job names */
#define CTRACE_MAX_OPTIONS 1024u
#define CTRACE_MAX_MINOPS 256u /* the macro's text says 255; its abend is for more than 256 */
#define CTRACE_MAX_WTO 126u
#define CTRACE_USERDATA_SIZE 16u

/*
 * -----------------------------------------------------------------------------------------------
 * Results.  Source: CTRACE macro, return and reason codes (docs/component-trace.md, Codes).
 */
#define CTRACE_RC_OK 0x00u
#define CTRACE_RC_EXISTS \
	0x04u                   /* DEFINE: already defined.  DELETE: not defined.  No reason code \
				 */
#define CTRACE_RC_SYSTEM 0x08u  /* the environment; see the reason code */
#define CTRACE_RC_REFUSED 0x0Cu /* see the reason code */
/* the macro ends with abend 00D; here the call returns with the reason in `abend` */
#define CTRACE_RC_ABEND 0x10u

/* The third byte of a reason code. */
#define CTRACE_REASON(rsncode) (((rsncode) >> 8) & 0xFFu)

/* Reasons of RC 08 */
#define CTRACE_RSN_STORAGE 0x06u
/* Here: a command that waits for this thread works on the trace, or one that has not ended
 * within five seconds. */
#define CTRACE_RSN_RECOVERY 0x07u
/* Reasons of RC 0C */
#define CTRACE_RSN_NO_HEAD 0x01u
#define CTRACE_RSN_LIKEHEAD_OPTIONS 0x02u
#define CTRACE_RSN_NOT_A_HEAD 0x03u
#define CTRACE_RSN_MEMBER_NOT_FOUND 0x04u
#define CTRACE_RSN_MEMBER_IO 0x05u
#define CTRACE_RSN_MEMBER_SYNTAX 0x06u
#define CTRACE_RSN_LIKEHEAD_NO_OPTIONS 0x07u
#define CTRACE_RSN_NOT_ACTIVE 0x08u
#define CTRACE_RSN_LIKEHEAD_DIFFERS 0x09u
#define CTRACE_RSN_LIKEHEAD_PARM 0x0Au
#define CTRACE_RSN_HEADOPTS_PARM 0x0Bu
#define CTRACE_RSN_LIKEHEAD_HEADOPTS 0x0Cu
#define CTRACE_RSN_NO_STARTNAM 0x0Du
#define CTRACE_RSN_NAME_NOT_ALLOWED 0x0Eu /* xxxx0E01 STARTNAM, xxxx0E02 DISPNAM */
#define CTRACE_RSN_MEMBER_SUB 0x0Fu
#define CTRACE_RSN_MEMBER_PRESET_DELETE 0x10u
#define CTRACE_RSN_ROUTINE_REFUSED 0x11u
#define CTRACE_RSN_NO_BUFFER 0x12u
#define CTRACE_RSN_BUFSIZE_LIMITS 0x13u
#define CTRACE_RSN_NO_ASIDS 0x14u
#define CTRACE_RSN_NO_JOBS 0x15u
#define CTRACE_RSN_BUFMIN_BUFMAX 0x16u
#define CTRACE_RSN_BUFDFLT_BUFMIN 0x17u
#define CTRACE_RSN_BUFDFLT_BUFMAX 0x18u
#define CTRACE_RSN_ROUTINE_NOT_LOADED 0x19u
#define CTRACE_RSN_SUB_NAME 0x1Au
#define CTRACE_RSN_PARMLIB 0x1Bu
#define CTRACE_RSN_ASID_NOT_HEX 0x1Cu
#define CTRACE_RSN_MEMBER_TOO_LARGE 0x1Du
#define CTRACE_RSN_MEMBER_NOT_READABLE 0x1Fu
#define CTRACE_RSN_MEMBER_ALLOCATION 0x20u
#define CTRACE_RSN_ASID_TOO_LONG 0x21u
#define CTRACE_RSN_ASID_ZERO 0x22u
#define CTRACE_RSN_TOO_MANY_ASIDS 0x23u
#define CTRACE_RSN_JOBNAME_TOO_LONG 0x24u
#define CTRACE_RSN_TOO_MANY_JOBNAMES 0x25u
#define CTRACE_RSN_BUFSIZE_TOO_LONG 0x26u
#define CTRACE_RSN_BUFSIZE_UNIT 0x27u
#define CTRACE_RSN_BUFSIZE_NOT_DECIMAL 0x28u
#define CTRACE_RSN_OPTIONS_TOO_LONG 0x29u
#define CTRACE_RSN_MEMBER_NAME 0x2Au
#define CTRACE_RSN_HAS_SUBS 0x2Bu
#define CTRACE_RSN_NO_WTR 0x2Cu
#define CTRACE_RSN_WTR_NAME 0x2Du
/* Our own reasons, of ctrace_trace_ct() and ctrace_component_display().  The macro has none for
 * errors that only a command can make. */
#define CTRACE_RSN_NOT_DEFINED 0x81u     /* no trace of that name */
#define CTRACE_RSN_NOT_MODIFIABLE 0x82u  /* the trace is on and was defined with MOD=NO */
#define CTRACE_RSN_HEAD_NO_OPTIONS 0x83u /* a head with HEADOPTS=NO cannot be switched */
/* BUFDEFIN=YES: only DEFINE or a preset may set the size */
#define CTRACE_RSN_BUFDEFIN 0x84u
/* neither the command nor the member has ON, OFF or LIKEHEAD */
#define CTRACE_RSN_NO_STATE 0x85u
#define CTRACE_RSN_NOT_A_SUBLEVEL 0x86u /* LIKEHEAD for a trace that has no head */
/* some of the member's transactions failed; the message names the first */
#define CTRACE_RSN_NOT_ALL 0x87u

struct ctrace_outcome {
	uint32_t rc;      /* CTRACE_RC_* */
	uint32_t rsncode; /* xxxxRRxx; 0 with RC 00 and 04 */
	/* SSRC: return code of the start/stop routine; 0 when it was not called */
	uint32_t ss_rc;
	uint32_t ss_rsncode; /* SSRSNC: its reason */
	/* 0, or the reason of abend 00D: 0x101, 0x102, 0x301, 0x302, 0x401, 0x501 */
	uint32_t abend;
	/* for people, terminated: the error and its position, or the routine's message
	 * (ctrace_wto()); "" */
	char message[236];
};

/* Returns one sentence for an outcome's codes: "the parmlib member was not found".  Static text;
 * any numbers give one.  Any thread, also in a signal handler. */
CTRACE_API_ const char *ctrace_outcome_text(const struct ctrace_outcome *outcome);

/*
 * -----------------------------------------------------------------------------------------------
 * CTRACE DEFINE and DELETE.  Source: CTRACE macro.  All or nothing: a call that does not return
 * RC 00 has changed nothing.  Each returns out->rc; `out` may be NULL.
 */
#define CTRACE_PLIST_VERSION 2u /* 0 and 1 are accepted too */
#define CTRACE_SERVICE_DEFINE 1u
#define CTRACE_SERVICE_DELETE 2u

/* Texts are terminated; NULL or "" means "not coded".  Names may be padded with blanks to 8
 * characters, as constants of the macro are.  YES or NO is CTRACE_YES or CTRACE_NO. */
struct ctrace_define {
	uint32_t size;    /* sizeof(struct ctrace_define) */
	uint16_t version; /* CTRACE_PLIST_VERSION */
	uint16_t service; /* CTRACE_SERVICE_DEFINE */
	const char *name; /* NAME: 1 to 8 of A-Z 0-9 @ # $, not beginning with a digit */
	/* SUB: 1 to 5 names with dots between; also ASID(h), JOBNAME(n) and 'quoted' names */
	const char *sub;
	const char *startnam; /* STARTNAM: the start/stop routine */
	const char *dispnam;  /* DISPNAM: the display routine */
	const char *parm;     /* PARM: a member of CTRACE_PARMLIB whose name begins with CT */
	/* MINOPS: options that are always in effect; at most CTRACE_MAX_MINOPS bytes */
	const char *minops;
	const char *fmttab; /* FMTTAB: the catalogue component that formats it */
	const char *com;    /* COM: a comment, without effect */
	/* USERDATA: CTRACE_USERDATA_SIZE bytes; DEFINE reads them and writes them back after the
	 * routine ran; NULL: zeros */
	void *userdata;
	uint64_t bufmin;  /* BUFMIN, bytes; 0 is 1024; a smaller value is raised to it */
	uint64_t bufmax;  /* BUFMAX, bytes; 0 is 2147483647 */
	uint64_t bufdflt; /* BUFDFLT, bytes; 0 is NODFLT */
	uint8_t asids;    /* ASIDS: may be filtered by address space */
	uint8_t jobs;     /* JOBS: may be filtered by job name */
	uint8_t mod;      /* MOD: may be changed while it is on */
	uint8_t head;     /* HEAD: may have sublevels */
	uint8_t headopts; /* HEADOPTS: this head has options of its own */
	uint8_t likehead; /* LIKEHEAD: has its head's options, attributes and state */
	uint8_t manysubs; /* MANYSUBS: a hint, without effect here */
	uint8_t buffer;   /* BUFFER: a buffer size may be given */
	uint8_t bufdefin; /* BUFDEFIN: a buffer size only at DEFINE or in a preset */
	uint8_t wtr;      /* WTR: may be written by an external writer */
	/* WTRMODE: CTRACE_PAGEABLE, CTRACE_DREF or CTRACE_FIXED; needed with WTR */
	uint8_t wtrmode;
	uint8_t reserved[5]; /* zero */
};
#define CTRACE_DEFINE_INIT \
	.size = sizeof(struct ctrace_define), .version = CTRACE_PLIST_VERSION, \
	.service = CTRACE_SERVICE_DEFINE

struct ctrace_delete {
	uint32_t size; /* sizeof(struct ctrace_delete) */
	uint16_t version;
	uint16_t service; /* CTRACE_SERVICE_DELETE */
	const char *name;
	const char *sub;
	const char *com;
	uint8_t delsubs;  /* DELSUBS: delete the sublevels too; the default */
	uint8_t ifnosubs; /* IFNOSUBS: only when there are no sublevels; not together with DELSUBS
			   */
	uint8_t reserved[6];
};
#define CTRACE_DELETE_INIT \
	.size = sizeof(struct ctrace_delete), .version = CTRACE_PLIST_VERSION, \
	.service = CTRACE_SERVICE_DELETE

CTRACE_API_ uint32_t ctrace_component_define(const struct ctrace_define *define,
					     struct ctrace_outcome *out);
CTRACE_API_ uint32_t ctrace_component_delete(const struct ctrace_delete *request,
					     struct ctrace_outcome *out);

/*
 * -----------------------------------------------------------------------------------------------
 * Exits: the start/stop and the display routine.  Source: CTRACE macro, STARTNAM and DISPNAM
 * (docs/component-trace.md, Exits).
 *
 * ctrace calls a routine on the thread that gave the command, under no lock, for one command of a
 * trace at a time.  A routine may define, delete and trace.  It may not delete or command the trace
 * it is called for (RC 08, reason 07).
 */
#define CTRACE_CTSS_START 0x80u   /* CTSSSTRT: start, or change options; at `mode` */
#define CTRACE_CTSS_STOP 0x40u    /* CTSSSTOP: stop, or fall back to the minimum options */
#define CTRACE_CTSS_DISPLAY 0x20u /* CTSSDSPI: a call of the display routine */

#define CTRACE_MODE_OFF 0u
#define CTRACE_MODE_MIN 1u /* off, but the options of MINOPS are in effect */
#define CTRACE_MODE_ON 2u

/* CTSS.  Without padding: COBOL's cblt-ctrace-ctss (ctrace.cpy) has the same bytes.  Valid
 * during the call only. */
struct ctrace_ctss {
	uint32_t size;
	uint32_t flags; /* one of CTRACE_CTSS_* */
	uint32_t mode;  /* start/stop: the mode that is asked for.  CTRACE_MODE_* */
	/* out, display routine: CTSSDON, CTSSDOFF or CTSSDMIN: CTRACE_CTSS_SHOW_* */
	uint32_t display;
	/* out, CTSSRNSS: with CTRACE_YES the routines of LIKEHEAD sublevels are called too */
	uint32_t call_subs;
	/* out: the reason for a nonzero return */
	uint32_t reason;
	unsigned char userdata[CTRACE_USERDATA_SIZE]; /* in and out, CTSSUSRD */
	/* in: bytes asked for; out: bytes after the routine's rounding, CTSSBUFS */
	uint64_t buffer_size;
	/* bytes of each thread's ring for this trace; 0: no ring of its own */
	uint64_t buffer_granted;
	uint64_t console; /* receiver of ctrace_wto() messages */
	/* CART: a number of the operator's command, the same in all processes; else 0 */
	uint64_t cart;
	uint64_t token;                      /* for ctrace_write_buffer() */
	char name[CTRACE_MAX_NAME];          /* NAME, padded with blanks */
	char writer[CTRACE_MAX_NAME];        /* external writer, padded; blank: none */
	uint32_t sub_count;                  /* CTSSSNTP, STAB: number of names in the path */
	char sub[CTRACE_MAX_SUB_LEVELS][20]; /* each padded with blanks */
	uint32_t asid_count;                 /* 0: not filtered */
	uint16_t asid[CTRACE_MAX_FILTER];
	uint32_t jobname_count;                           /* 0: not filtered */
	char jobname[CTRACE_MAX_FILTER][CTRACE_MAX_NAME]; /* padded with blanks */
	uint32_t options_size;                            /* in; display routine: out */
	/* as written, with commas; not terminated */
	char options[CTRACE_MAX_OPTIONS];
	uint32_t minops_size;
	char minops[CTRACE_MAX_MINOPS];
};
#define CTRACE_CTSS_SHOW_ON 0x80u
#define CTRACE_CTSS_SHOW_OFF 0x40u
#define CTRACE_CTSS_SHOW_MIN 0x20u

/*
 * A routine.  Returns 0, or a value for SSRC: by custom 4 for a bad option, 8 for an error of the
 * environment; ctss->reason has details.  A nonzero return of a start/stop routine undoes the
 * command. At DELETE the caller receives it, and the trace is deleted all the same.  After a
 * nonzero return of a display routine, or without a SHOW flag, the display shows what ctrace knows.
 * A routine must not take a lock that the program holds during a ctrace command: other commands
 * wait at most five seconds for the command that called the routine.
 */
typedef uint32_t ctrace_routine(struct ctrace_ctss *ctss);

/* Registers a routine of this program by name: 1 to 8 characters, as STARTNAM.  routine NULL
 * removes the registration.  ctrace looks for a routine first here, then among COBOL's ENTRYs if
 * the program uses COBOL, then as NAME.so in the directories of CTRACE_LINKLIST (colons
 * between).  In NAME.so it is the function NAME or ctrace_exit_routine.  INVALID_COMPONENT_NAME:
 * not such a name; NOT_ENOUGH_MEMORY. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status ctrace_routine_register(const char *name,
								       ctrace_routine *routine);

/* Sends a message to whoever gave the command, from inside a routine.  console: ctss->console.
 * text: one line, cut at CTRACE_MAX_WTO bytes; unprintable characters are escaped.  It appears
 * in outcome.message or on the operator's console.  NOT_FOUND: the command has ended; FAILURE:
 * text is NULL; NOT_ENOUGH_MEMORY. */
CTRACE_API_ enum ctrace_status ctrace_wto(uint64_t console, const char *text);

/*
 * -----------------------------------------------------------------------------------------------
 * TRACE CT and DISPLAY TRACE, as a program gives them.  Source: TRACE and DISPLAY TRACE commands
 * (docs/component-trace.md, Commands and the display).
 */
#define CTRACE_CT_NONE 0u /* the member has the state */
#define CTRACE_CT_ON 1u
#define CTRACE_CT_OFF 2u
#define CTRACE_CT_LIKEHEAD 3u
#define CTRACE_CT_PRESET_PUT 4u /* for a sublevel that is not defined yet but whose head is */
#define CTRACE_CT_PRESET_DELETE 5u

struct ctrace_trace_ct {
	uint32_t size;
	uint32_t state;   /* CTRACE_CT_* */
	const char *name; /* COMP */
	const char *sub;  /* SUB, without enclosing parentheses */
	/* PARM: every statement of the member is carried out as a transaction.  Together with
	 * one of the following: abend 301 */
	const char *parm;
	uint64_t bufsize;    /* bytes; 0: not given */
	const char *asid;    /* "1,2F"; "": no filter; NULL: unchanged */
	const char *jobname; /* likewise */
	const char *options; /* replaces the options; NULL: none */
	const char *wtr;     /* a writer's name, or "DISCONNECT"; NULL: unchanged */
};
#define CTRACE_TRACE_CT_INIT .size = sizeof(struct ctrace_trace_ct)

/* Carries out the command and returns out->rc.  out may be NULL.  OFF also clears the filters
 * and disconnects the writer. */
CTRACE_API_ uint32_t ctrace_trace_ct(const struct ctrace_trace_ct *command,
				     struct ctrace_outcome *out);

/* A trace as DISPLAY TRACE shows it: the known state, corrected by the display routine. */
struct ctrace_display {
	uint32_t size;           /* set by the caller: sizeof(struct ctrace_display) */
	uint32_t mode;           /* CTRACE_MODE_* */
	uint64_t buffer_asked;   /* bytes: by member, command or BUFDFLT; 0: none */
	uint64_t buffer_rounded; /* bytes after the start/stop or display routine's rounding */
	uint64_t buffer_granted; /* each thread's ring for this trace; 0: the common one */
	uint32_t subs;           /* direct sublevels */
	uint8_t is_defined;      /* by DEFINE; 0: only a tracer of this name exists */
	uint8_t head;
	uint8_t headopts;
	uint8_t likehead; /* it follows its head now */
	uint8_t asids;
	uint8_t jobs;
	uint8_t wtr;
	uint8_t buffer;
	uint8_t mod;
	uint8_t is_filtered; /* on, but its filters leave this process out */
	uint8_t reserved[2];
	char writer[CTRACE_MAX_NAME + 1];
	char fmttab[CTRACE_MAX_NAME + 1];
	char startnam[CTRACE_MAX_NAME + 1];
	char dispnam[CTRACE_MAX_NAME + 1];
	uint32_t asid_count;
	uint16_t asid[CTRACE_MAX_FILTER];
	uint32_t jobname_count;
	char jobname[CTRACE_MAX_FILTER][CTRACE_MAX_NAME + 1];
	char options[CTRACE_MAX_OPTIONS + 1];
	char minops[CTRACE_MAX_MINOPS + 1];
	unsigned char userdata[CTRACE_USERDATA_SIZE];
};
/* Fills *out for a trace; calls its display routine, too.  NOT_FOUND: no such trace or tracer;
 * INVALID_COMPONENT_NAME: name or sub is not valid; FAILURE: out is NULL; NOT_ENOUGH_MEMORY;
 * TIMED_OUT: a command that does not end works on the trace. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status
ctrace_component_display(const char *name, const char *sub, struct ctrace_display *out);

/*
 * -----------------------------------------------------------------------------------------------
 * Entries through the ring
 */

/* Sets *out_tracer to the tracer of a trace, for CTRACE() and ctrace_entry().  The tracer is
 * valid for the life of the process.  After DELETE it traces nothing until the trace is defined
 * again, unless ctrace_tracer_get() returned it before: then it traces as it did before DEFINE.
 * NOT_FOUND: no trace or tracer of this name exists; INVALID_COMPONENT_NAME; FAILURE: out_tracer
 * is NULL; NOT_ENOUGH_MEMORY. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status
ctrace_component_tracer(const char *name, const char *sub, struct ctrace_tracer **out_tracer);

/*
 * Traces one entry: an event of level INFO with the number entry_id and one binary item.  The
 * trace's mode, filters and buffer size apply.  length: 0 to 65,536 bytes; a longer entry counts as
 * too large.  Any thread, also in a signal handler; costs as much as CTRACE().
 */
CTRACE_INLINE_ void ctrace_entry(struct ctrace_tracer *tracer, uint32_t entry_id, const void *data,
				 size_t length)
{
	CTRACE(tracer, CTRACE_INFO, entry_id, CTRACE_BIN(data, length));
}

/*
 * -----------------------------------------------------------------------------------------------
 * Buffers that the application fills itself: CTEs, TBWCs (CTRACECS) and CTRACEWR.  Source: CTRACECS
 * and CTRACEWR macros (docs/component-trace.md, Entries and buffers).
 *
 *     CTE     0  u16 length      whole, both length fields included
 *             2  u16 offset      of the data from the start of the CTE; at least 16
 *             4  u32 entry id
 *             8  u64 time        TOD: 2^-12 microseconds since 1900-01-01 UTC, ctrace_tod()
 *            16  ... data
 *       end - 2  u16 length      again, so that a reader can walk backwards
 *
 * All fields have the machine's byte order.  A buffer holds CTEs from its start without gaps; the
 * rest of it is zeros.
 */
struct ctrace_cte {
	uint16_t length;
	uint16_t offset;
	uint32_t entry_id;
	uint64_t time;
};
#define CTRACE_CTE_OVERHEAD 18u
#define CTRACE_MAX_CTE_DATA 61440u

/* Returns the time now, as a CTE has it.  Async-signal-safe. */
CTRACE_API_ uint64_t ctrace_tod(void);

/* Adds an entry at buffer + *used and advances *used past it.  data NULL adds an entry without
 * data.  Returns false and changes nothing when the entry does not fit into `size` bytes,
 * data_size is over CTRACE_MAX_CTE_DATA, or buffer or used is NULL.  The bytes after *used keep
 * their values.  Only one thread may fill a buffer at a time.  Async-signal-safe. */
CTRACE_API_ bool ctrace_cte_add(void *buffer, size_t size, size_t *used, uint32_t entry_id,
				const void *data, size_t data_size);

#define CTRACE_TBWC_AVAILABLE 1u
#define CTRACE_TBWC_FILLING 2u /* by the application */
#define CTRACE_TBWC_FULL 3u    /* by the application */
/* by ctrace_write_buffer(), which makes it AVAILABLE once it has read the entries */
#define CTRACE_TBWC_CAPTURE 4u

/* One for each buffer: the buffer's state and number in one word, and its address.  Zero it,
 * then call ctrace_tbwc_init(). */
struct ctrace_tbwc {
	uint64_t word; /* state << 32 | sequence; changed by compare-and-swap only */
	void *buffer;
	uint64_t size;
	uint32_t is_locked; /* its pages are locked in memory */
	uint32_t reserved;
};

/* Ties a TBWC to its buffer and makes it AVAILABLE with number 0.  mode: CTRACE_PAGEABLE;
 * CTRACE_DREF or CTRACE_FIXED lock the buffer's pages in memory.  After a failure it is not
 * tied. DENIED: RLIMIT_MEMLOCK forbids the lock; OS_ERROR: the system refused it; UNSUPPORTED:
 * tbwc or buffer is NULL, the mode is another, or the size is 0 or larger than memory.  A page
 * is locked once however many buffers share it: unlocking one buffer unlocks the shared page.  A
 * forked child's pages are not locked. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status
ctrace_tbwc_init(struct ctrace_tbwc *tbwc, void *buffer, size_t size, uint32_t mode);
/* Unlocks the pages; the buffer stays with the application.  Not while ctrace_write_buffer()
 * reads it.  NULL does nothing. */
CTRACE_API_ void ctrace_tbwc_fini(struct ctrace_tbwc *tbwc);
/* Return 0 when tbwc is NULL.  Any thread, also in a signal handler. */
CTRACE_API_ uint32_t ctrace_tbwc_state(const struct ctrace_tbwc *tbwc);
CTRACE_API_ uint32_t ctrace_tbwc_sequence(const struct ctrace_tbwc *tbwc);

/* CTRACECS: the new state of a TBWC and the conditions for it. */
struct ctrace_tbwc_change {
	uint32_t mode;           /* MODE: CTRACE_TBWC_AVAILABLE, _FILLING or _FULL */
	uint32_t testmode;       /* TESTMODE: only from this state; 0: from any */
	const uint32_t *testseq; /* TESTSEQ#: only with this number; NULL: any */
	const uint32_t *buffseq; /* BUFFSEQ#: its new number; NULL: unchanged */
};
/* Changes a TBWC by one compare-and-swap.  Returns true when the change was made.  Returns false
 * (CSLABEL) when the state or number is another, mode is none of the three,
 * ctrace_write_buffer() is reading the buffer, or tbwc or change is NULL.  Any thread, also in a
 * signal handler. */
CTRACE_API_ bool ctrace_tbwc_change(struct ctrace_tbwc *tbwc,
				    const struct ctrace_tbwc_change *change);

/* CTRACEWR: RC, returned and in out->rc */
/* the trace is off, or its filters exclude this process: nothing written, the buffer is
 * AVAILABLE */
#define CTRACE_WR_OFF 0x04u
#define CTRACE_WR_LOST 0x08u    /* entries were lost; they are counted */
#define CTRACE_WR_REFUSED 0x0Cu /* nothing was written; the TBWC is unchanged */
/* its reasons, for CTRACE_REASON() */
#define CTRACE_WR_NO_SPACE 0x01u /* 08: the ring was full */
#define CTRACE_WR_OUTPUT 0x02u   /* 08: a destination is failing, or SYNCH=YES waited in vain */
/* 0C: the token is not of a defined trace; or request is NULL or too short */
#define CTRACE_WR_TOKEN 0x01u
#define CTRACE_WR_NOT_FULL 0x02u /* 0C: the TBWC's state is not FULL, or there is no TBWC */
#define CTRACE_WR_LENGTH 0x03u   /* 0C: the length is 0 or larger than the TBWC's buffer */
/* 0C: the lengths of an entry disagree, or an entry passes the end; out->offset is its offset */
#define CTRACE_WR_MALFORMED 0x04u
/* 0C: WTRMODE asks for locked storage, but the TBWC's is not locked */
#define CTRACE_WR_NOT_LOCKED 0x05u
#define CTRACE_WR_NO_WTR 0x06u    /* 0C: the trace was defined with WTR=NO */
#define CTRACE_WR_SYNCH_MS 10000u /* milliseconds that SYNCH=YES waits at most */

struct ctrace_write {
	uint32_t size; /* sizeof(struct ctrace_write) */
	/* SYNCH: CTRACE_YES waits until the entries are in their destinations */
	uint32_t synch;
	uint64_t token;           /* TOKEN: ctss->token */
	struct ctrace_tbwc *tbwc; /* TBWCADDR; BUFFADDR is its buffer */
	/* BUFFLEN: bytes of the buffer that hold entries and zeros behind them */
	uint64_t bufflen;
};
#define CTRACE_WRITE_INIT .size = sizeof(struct ctrace_write)
struct ctrace_write_outcome {
	uint32_t rc;
	uint32_t rsncode;
	uint32_t written; /* entries */
	uint32_t lost;    /* entries */
	uint64_t offset;  /* CTRACE_WR_MALFORMED: of the first bad entry */
};
/*
 * Takes the entries of a FULL buffer.  Each becomes an event of level INFO: its entry id is the
 * number, its data one binary item, its time the event's time.  The time is at most the time of
 * this call, and at least that of the entry that this thread wrote before.  A full ring follows its
 * policy, as with any event.  Returns out->rc; out may be NULL.
 */
CTRACE_API_ uint32_t ctrace_write_buffer(const struct ctrace_write *request,
					 struct ctrace_write_outcome *out);

#ifdef __cplusplus
}
#endif
#endif
