/*
 * ctrace/component.h - component trace: the CTRACE macro, its exits and its buffers, as C.
 *
 *     struct ctrace_outcome out;
 *     ctrace_component_define(&(struct ctrace_define){ CTRACE_DEFINE_INIT, .name = "APPXYZ",
 * .startnam = "APPXYZSS", .head = CTRACE_YES, .headopts = CTRACE_YES, .parm = "CTAPPXYZ" }, &out);
 *     ctrace_entry(tracer, 0x21, data, size);
 *     ctrace_component_delete(&(struct ctrace_delete){ CTRACE_DELETE_INIT, .name = "APPXYZ" },
 * &out);
 *
 * A trace and the tracer of the same name are one: APPXYZ with SUB=SUBA.SUBB is the tracer
 * "APPXYZ.SUBA.SUBB".  Every keyword and code, and what it means here, is in
 * docs/component-trace.md.  Unless a function says otherwise: any thread may call it, not in a
 * signal handler; errno is kept; nothing given is kept after the call; the structures are the
 * caller's.
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
#define CTRACE_PAGEABLE 1u /* WTRMODE; 0 is "not coded" */
#define CTRACE_DREF 2u
#define CTRACE_FIXED 3u

#define CTRACE_MAX_NAME 8u       /* NAME, STARTNAM, DISPNAM, PARM, FMTTAB, a job name */
#define CTRACE_MAX_SUB_LEVELS 5u /* of a SUB path */
#define CTRACE_MAX_SUB_NAME 18u  /* of one of its names */
#define CTRACE_MAX_FILTER 16u    /* ASIDs; job names */
#define CTRACE_MAX_OPTIONS 1024u
#define CTRACE_MAX_MINOPS 256u /* the macro's text says 255, its abend more than 256 */
#define CTRACE_MAX_WTO 126u
#define CTRACE_USERDATA_SIZE 16u

/* -----------------------------------------------------------------------------------------------
 * Results.  seed: CTRACE macro, tables 1 and 2.
 */
#define CTRACE_RC_OK 0x00u
#define CTRACE_RC_EXISTS 0x04u  /* DEFINE: already defined.  DELETE: not defined.  No reason code \
				 */
#define CTRACE_RC_SYSTEM 0x08u  /* the environment; see the reason code */
#define CTRACE_RC_REFUSED 0x0Cu /* see the reason code */
/* an abend 00D in the macro: here the call returns, with the reason in `abend` */
#define CTRACE_RC_ABEND 0x10u

/* What the third byte of a reason code says. */
#define CTRACE_REASON(rsncode) (((rsncode) >> 8) & 0xFFu)

/* Reasons of RC 08 */
#define CTRACE_RSN_STORAGE 0x06u
/* Here: the trace is in use by a command that waits for this thread, or has not ended after five
 * seconds. */
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
/* Ours, of ctrace_trace_ct() and ctrace_component_display(): the macro has none for what only a
 * command can do wrong. */
#define CTRACE_RSN_NOT_DEFINED 0x81u     /* no trace of that name */
#define CTRACE_RSN_NOT_MODIFIABLE 0x82u  /* it is on, and MOD=NO */
#define CTRACE_RSN_HEAD_NO_OPTIONS 0x83u /* a head with HEADOPTS=NO cannot be switched */
/* BUFDEFIN=YES: the size is set when the trace is defined only */
#define CTRACE_RSN_BUFDEFIN 0x84u
/* neither the command nor the member says ON, OFF or LIKEHEAD */
#define CTRACE_RSN_NO_STATE 0x85u
#define CTRACE_RSN_NOT_A_SUBLEVEL 0x86u /* LIKEHEAD for a trace that has no head */
/* some of the member's transactions failed; the message names the first */
#define CTRACE_RSN_NOT_ALL 0x87u

struct ctrace_outcome {
	uint32_t rc;      /* CTRACE_RC_* */
	uint32_t rsncode; /* xxxxRRxx; 0 with RC 00 and 04 */
	/* SSRC: what the start/stop routine returned, 0 when it was not called */
	uint32_t ss_rc;
	uint32_t ss_rsncode; /* SSRSNC: its reason */
	/* 0, or the reason of abend 00D: 0x101, 0x102, 0x301, 0x302, 0x401, 0x501 */
	uint32_t abend;
	/* for people, terminated: what is wrong and where, or what the routine said (ctrace_wto());
	 * "" */
	char message[236];
};

/* One sentence for an outcome's codes: "the parmlib member was not found".  Static; any numbers are
 * answered.  Any thread, also in a signal handler. */
CTRACE_API_ const char *ctrace_outcome_text(const struct ctrace_outcome *outcome);

/* -----------------------------------------------------------------------------------------------
 * CTRACE DEFINE and DELETE.  seed: CTRACE macro.  All or nothing: what does not end with RC 00 has
 * changed nothing. Each returns out->rc; `out` may be NULL.
 */
#define CTRACE_PLIST_VERSION 2u /* 0 and 1 are accepted too */
#define CTRACE_SERVICE_DEFINE 1u
#define CTRACE_SERVICE_DELETE 2u

/* Texts are terminated; NULL or "" is "not coded".  A YES or NO takes CTRACE_YES or CTRACE_NO. */
struct ctrace_define {
	uint32_t size;    /* sizeof(struct ctrace_define) */
	uint16_t version; /* CTRACE_PLIST_VERSION */
	uint16_t service; /* CTRACE_SERVICE_DEFINE */
	const char *name; /* NAME: 1 to 8 of A-Z 0-9 @ # $, not beginning with a digit */
	/* SUB: 1 to 5 names with dots between; ASID(h), JOBNAME(n) and 'quoted' ones too */
	const char *sub;
	const char *startnam; /* STARTNAM: the start/stop routine */
	const char *dispnam;  /* DISPNAM: the display routine */
	const char *parm;     /* PARM: a member of CTRACE_PARMLIB whose name begins with CT */
	/* MINOPS: options that are always in effect; at most CTRACE_MAX_MINOPS bytes */
	const char *minops;
	const char *fmttab; /* FMTTAB: the format table; kept for readers */
	const char *com;    /* COM: a comment, without effect */
	/* USERDATA: CTRACE_USERDATA_SIZE bytes, read and, after the routine ran, written; NULL:
	 * zeros */
	void *userdata;
	uint64_t bufmin;  /* BUFMIN, bytes; 0 is 1024, and less is raised to it */
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
	uint8_t bufdefin; /* BUFDEFIN: but only at DEFINE or in a preset */
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
	uint8_t delsubs;  /* DELSUBS: its sublevels too; the default */
	uint8_t ifnosubs; /* IFNOSUBS: only when it has none; not together with DELSUBS */
	uint8_t reserved[6];
};
#define CTRACE_DELETE_INIT \
	.size = sizeof(struct ctrace_delete), .version = CTRACE_PLIST_VERSION, \
	.service = CTRACE_SERVICE_DELETE

CTRACE_API_ uint32_t ctrace_component_define(const struct ctrace_define *define,
					     struct ctrace_outcome *out);
CTRACE_API_ uint32_t ctrace_component_delete(const struct ctrace_delete *request,
					     struct ctrace_outcome *out);

/* -----------------------------------------------------------------------------------------------
 * Exits: the start/stop and the display routine.  spec: component-trace.md sections 2 and 3.
 *
 * Called on the thread that gave the command, one command of a trace at a time, under no lock: a
 * routine may define, delete, trace.  It may not delete, or command, the trace it is called for (RC
 * 08, reason 07).
 */
#define CTRACE_CTSS_START 0x80u   /* CTSSSTRT: start, or change options; at `mode` */
#define CTRACE_CTSS_STOP 0x40u    /* CTSSSTOP: stop, or fall back to the minimum options */
#define CTRACE_CTSS_DISPLAY 0x20u /* CTSSDSPI: the display routine is asked */

#define CTRACE_MODE_OFF 0u
#define CTRACE_MODE_MIN 1u /* off, but the options of MINOPS are in effect */
#define CTRACE_MODE_ON 2u

/* CTSS.  Without gaps, so that COBOL's CTRACE-CTSS (ctrace.cpy) is the same bytes.  Valid during
 * the call only. */
struct ctrace_ctss {
	uint32_t size;
	uint32_t flags; /* one of CTRACE_CTSS_* */
	uint32_t mode;  /* start/stop: the mode that is wanted.  CTRACE_MODE_* */
	/* out, display routine: CTSSDON, CTSSDOFF or CTSSDMIN: CTRACE_CTSS_SHOW_* */
	uint32_t display;
	/* out, CTSSRNSS: CTRACE_YES calls the routines of LIKEHEAD sublevels too */
	uint32_t call_subs;
	/* out: the reason that goes with a nonzero return */
	uint32_t reason;
	unsigned char userdata[CTRACE_USERDATA_SIZE]; /* in and out, CTSSUSRD */
	/* in: bytes asked for; out: what the routine rounded it to, CTSSBUFS */
	uint64_t buffer_size;
	/* bytes of each thread's ring for it; 0: it has none of its own */
	uint64_t buffer_granted;
	uint64_t console;                    /* who is to hear of it: for ctrace_wto() */
	uint64_t cart;                       /* CART of a command from a console; else 0 */
	uint64_t token;                      /* for ctrace_write_buffer() */
	char name[CTRACE_MAX_NAME];          /* NAME, padded with blanks */
	char writer[CTRACE_MAX_NAME];        /* external writer, padded; blank: none */
	uint32_t sub_count;                  /* CTSSSNTP, STAB: the names of its path */
	char sub[CTRACE_MAX_SUB_LEVELS][20]; /* each padded with blanks */
	uint32_t asid_count;                 /* 0: not filtered */
	uint16_t asid[CTRACE_MAX_FILTER];
	uint32_t jobname_count;                           /* 0: not filtered */
	char jobname[CTRACE_MAX_FILTER][CTRACE_MAX_NAME]; /* padded with blanks */
	uint32_t options_size;                            /* in; display routine: out */
	/* as written, commas between; not terminated */
	char options[CTRACE_MAX_OPTIONS];
	uint32_t minops_size;
	char minops[CTRACE_MAX_MINOPS];
};
#define CTRACE_CTSS_SHOW_ON 0x80u
#define CTRACE_CTSS_SHOW_OFF 0x40u
#define CTRACE_CTSS_SHOW_MIN 0x20u

/*
 * A routine.  Returns 0, or what SSRC is to say: by custom 4 for a bad option, 8 for trouble with
 * the environment; ctss->reason says more.  A start/stop routine's nonzero return undoes the
 * command; at DELETE it is told to the caller, and the trace goes all the same.  A display
 * routine's, or no SHOW flag, leaves the display as it is known.  It takes no lock that the program
 * holds round a ctrace command: a command waits for five seconds at most for the one that the
 * routine belongs to.
 */
typedef uint32_t ctrace_routine(struct ctrace_ctss *ctss);

/* Makes a routine of this program known by name (1 to 8 characters, as STARTNAM); NULL takes it
 * back.  What is not known so is looked for among COBOL's ENTRYs, where there is COBOL, and then as
 * NAME.so in the directories of CTRACE_LINKLIST (colons between), in which it is the function NAME,
 * or ctrace_exit_routine.  INVALID_COMPONENT_NAME, NOT_ENOUGH_MEMORY. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status ctrace_routine_register(const char *name,
								       ctrace_routine *routine);

/* A message to whoever gave the command, from inside a routine: console is ctss->console.  One
 * line, cut at CTRACE_MAX_WTO; what is not printable is escaped.  It comes in outcome.message, or
 * at the operator's console.  NOT_FOUND when that command is over. */
CTRACE_API_ enum ctrace_status ctrace_wto(uint64_t console, const char *text);

/* -----------------------------------------------------------------------------------------------
 * TRACE CT and DISPLAY TRACE, as a program gives them.  spec: component-trace.md section 6.
 */
#define CTRACE_CT_NONE 0u /* the member says which */
#define CTRACE_CT_ON 1u
#define CTRACE_CT_OFF 2u
#define CTRACE_CT_LIKEHEAD 3u
#define CTRACE_CT_PRESET_PUT 4u /* for a sublevel that is not defined yet; its head is */
#define CTRACE_CT_PRESET_DELETE 5u

struct ctrace_trace_ct {
	uint32_t size;
	uint32_t state;   /* CTRACE_CT_* */
	const char *name; /* COMP */
	const char *sub;  /* SUB, without parentheses round it */
	/* PARM: its statements are carried out, each a transaction.  With what follows: abend 301
	 */
	const char *parm;
	uint64_t bufsize;    /* bytes; 0: not given */
	const char *asid;    /* "1,2F"; "": no filter; NULL: stays as it is */
	const char *jobname; /* likewise */
	const char *options; /* replaces the options; NULL: none */
	const char *wtr;     /* a writer's name, or "DISCONNECT"; NULL: stays as it is */
};
#define CTRACE_TRACE_CT_INIT .size = sizeof(struct ctrace_trace_ct)

/* Carries it out; returns out->rc.  OFF also clears the filters and disconnects the writer. */
CTRACE_API_ uint32_t ctrace_trace_ct(const struct ctrace_trace_ct *command,
				     struct ctrace_outcome *out);

/* A trace as DISPLAY TRACE shows it: what was recorded, corrected by its display routine. */
struct ctrace_display {
	uint32_t size;           /* set by the caller: sizeof(struct ctrace_display) */
	uint32_t mode;           /* CTRACE_MODE_* */
	uint64_t buffer_asked;   /* bytes: by member, command or BUFDFLT; 0: none */
	uint64_t buffer_rounded; /* what the start/stop or display routine made of it */
	uint64_t buffer_granted; /* each thread's ring for this trace; 0: the common one */
	uint32_t subs;           /* direct sublevels */
	uint8_t is_defined;      /* by DEFINE; 0: only a tracer has made it */
	uint8_t head;
	uint8_t headopts;
	uint8_t likehead; /* follows its head now */
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
/* Asks the display routine, too.  NOT_FOUND; INVALID_COMPONENT_NAME; TIMED_OUT when a command that
 * works on the trace does not end. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status
ctrace_component_display(const char *name, const char *sub, struct ctrace_display *out);

/* -----------------------------------------------------------------------------------------------
 * Entries, by way of the ring
 */

/* Returns the tracer of a trace, for CTRACE() and ctrace_entry().  The tracer is valid for the life
 * of the process.  After DELETE it traces nothing until the trace is defined again, unless
 * ctrace_tracer_get() returned it before: then it traces as it did before DEFINE. Returns NOT_FOUND
 * when no trace of this name was defined, and ctrace_tracer_get() has made no tracer of it. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status
ctrace_component_tracer(const char *name, const char *sub, struct ctrace_tracer **out_tracer);

/*
 * One entry: an event with the number entry_id and one binary item, of level INFO.  Follows the
 * trace's mode, filters and buffer size. length is 0 to 65,536 bytes; a longer one is counted as
 * too large.  Any thread, also in a signal handler; costs what CTRACE() costs.
 */
CTRACE_INLINE_ void ctrace_entry(struct ctrace_tracer *tracer, uint32_t entry_id, const void *data,
				 size_t length)
{
	CTRACE(tracer, CTRACE_INFO, entry_id, CTRACE_BIN(data, length));
}

/* -----------------------------------------------------------------------------------------------
 * Buffers that the application fills itself: CTEs, TBWCs (CTRACECS) and CTRACEWR.  spec:
 * component-trace.md section 4.
 *
 *     CTE     0  u16 length      whole, both length fields included
 *             2  u16 offset      where the data begin, from the CTE's begin; at least 16
 *             4  u32 entry id
 *             8  u64 time        TOD: 2^-12 microseconds since 1900-01-01 UTC, ctrace_tod()
 *            16  ... data
 *       end - 2  u16 length      again, so that a reader can walk backwards
 *
 * in the machine's byte order.  A buffer holds them from its begin without gaps; what is left at
 * its end is zeros.
 */
struct ctrace_cte {
	uint16_t length;
	uint16_t offset;
	uint32_t entry_id;
	uint64_t time;
};
#define CTRACE_CTE_OVERHEAD 18u
#define CTRACE_MAX_CTE_DATA 61440u

/* The time now, as a CTE has it.  Async-signal-safe. */
CTRACE_API_ uint64_t ctrace_tod(void);

/* Puts an entry at buffer + *used and moves *used behind it; data NULL is an empty one.  False, and
 * nothing done, when it does not fit into `size` bytes, data_size is over CTRACE_MAX_CTE_DATA, or
 * there is no buffer or `used`.  What is behind *used stays as it is.  The caller sees to it that
 * one thread at a time fills a buffer.  Async-signal-safe. */
CTRACE_API_ bool ctrace_cte_add(void *buffer, size_t size, size_t *used, uint32_t entry_id,
				const void *data, size_t data_size);

#define CTRACE_TBWC_AVAILABLE 1u
#define CTRACE_TBWC_FILLING 2u /* by the application */
#define CTRACE_TBWC_FULL 3u    /* by the application */
/* by ctrace_write_buffer(), which makes it AVAILABLE when it has the entries */
#define CTRACE_TBWC_CAPTURE 4u

/* One a buffer: its state and number in one word, and where it is.  Zero it, then
 * ctrace_tbwc_init(). */
struct ctrace_tbwc {
	uint64_t word; /* state << 32 | sequence; changed by compare-and-swap only */
	void *buffer;
	uint64_t size;
	uint32_t is_locked; /* its pages are locked in memory */
	uint32_t reserved;
};

/* Ties a TBWC to its buffer and makes it AVAILABLE with number 0.  mode: CTRACE_PAGEABLE, or
 * CTRACE_DREF or CTRACE_FIXED, which lock the buffer's pages in memory.  DENIED when RLIMIT_MEMLOCK
 * does not allow that, OS_ERROR when the machine does not, UNSUPPORTED without a TBWC or a buffer,
 * with another mode or a size that no memory has; then it is not tied.  Pages are locked once,
 * however often: buffers that are locked should not share one, or the first that is unlocked
 * unlocks the other's.  A forked child's pages are not locked. */
CTRACE_API_ CTRACE_MUST_USE enum ctrace_status
ctrace_tbwc_init(struct ctrace_tbwc *tbwc, void *buffer, size_t size, uint32_t mode);
/* Unlocks the pages.  The buffer is the application's and stays.  Not while it is being imported;
 * NULL is fine. */
CTRACE_API_ void ctrace_tbwc_fini(struct ctrace_tbwc *tbwc);
/* 0 without a TBWC. */
CTRACE_API_ uint32_t ctrace_tbwc_state(const struct ctrace_tbwc *tbwc);
CTRACE_API_ uint32_t ctrace_tbwc_sequence(const struct ctrace_tbwc *tbwc);

/* CTRACECS: what is to become of a TBWC, and on what condition. */
struct ctrace_tbwc_change {
	uint32_t mode;           /* MODE: CTRACE_TBWC_AVAILABLE, _FILLING or _FULL */
	uint32_t testmode;       /* TESTMODE: only from this state; 0: from any */
	const uint32_t *testseq; /* TESTSEQ#: only with this number; NULL: any */
	const uint32_t *buffseq; /* BUFFSEQ#: its new number; NULL: as it is */
};
/* One compare-and-swap.  True when it was made; false (CSLABEL) when the state or number is
 * another, the mode is none of the three, the buffer is being imported, or there is no TBWC or
 * change.  Any thread, also in a signal handler. */
CTRACE_API_ bool ctrace_tbwc_change(struct ctrace_tbwc *tbwc,
				    const struct ctrace_tbwc_change *change);

/* CTRACEWR: RC in the return value and out->rc */
/* the trace is off, or filtered out here: nothing was written, the buffer is AVAILABLE */
#define CTRACE_WR_OFF 0x04u
#define CTRACE_WR_LOST 0x08u    /* entries were lost; they are counted */
#define CTRACE_WR_REFUSED 0x0Cu /* nothing was written; the buffer is as it was */
/* and reasons, where CTRACE_REASON() finds them */
#define CTRACE_WR_NO_SPACE 0x01u /* 08: the ring was full */
#define CTRACE_WR_OUTPUT 0x02u   /* 08: a destination is failing, or SYNCH=YES waited in vain */
/* 0C: not the token of a trace that is defined; no request, or one too short */
#define CTRACE_WR_TOKEN 0x01u
#define CTRACE_WR_NOT_FULL 0x02u /* 0C: the TBWC's state is not FULL; no TBWC */
#define CTRACE_WR_LENGTH 0x03u   /* 0C: the length is 0 or more than the TBWC's buffer has */
/* 0C: the entries' lengths disagree, or one passes the end; out->offset says which */
#define CTRACE_WR_MALFORMED 0x04u
/* 0C: WTRMODE asks for storage that is locked, and the TBWC's is not */
#define CTRACE_WR_NOT_LOCKED 0x05u
#define CTRACE_WR_NO_WTR 0x06u    /* 0C: the trace was defined with WTR=NO */
#define CTRACE_WR_SYNCH_MS 10000u /* how long SYNCH=YES waits at most */

struct ctrace_write {
	uint32_t size; /* sizeof(struct ctrace_write) */
	/* SYNCH: CTRACE_YES waits until the entries are in their destinations */
	uint32_t synch;
	uint64_t token;           /* TOKEN: ctss->token */
	struct ctrace_tbwc *tbwc; /* TBWCADDR; BUFFADDR is its buffer */
	/* BUFFLEN: bytes of the buffer that hold entries, or zeros behind them */
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
 * Takes the entries of a FULL buffer: each becomes an event of level INFO with its entry id as
 * number, its data as one binary item, and its own time.  Not a time after this call, nor before
 * that of the entry that this thread wrote last: there it gets that one.  Under the policy of a
 * full ring, as every event.  Answers out->rc; out may be NULL.
 */
CTRACE_API_ uint32_t ctrace_write_buffer(const struct ctrace_write *request,
					 struct ctrace_write_outcome *out);

#ifdef __cplusplus
}
#endif
#endif
