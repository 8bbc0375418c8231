/*
 * cbl_ctrace.h - component trace (<ctrace/component.h>) as COBOL programs call it: the CBL_CTRACE_*
 * routines.
 *
 * Their groups are the types of the copybook ctrace.cpy; docs/cobol.md has the fields.  C programs
 * use <ctrace/component.h>, which offers the same with C structures and texts.
 *
 * Conventions, the same for all routines:
 *
 *  - A group is passed BY REFERENCE.  A routine reads or writes exactly the group's size; the group
 *    need not be aligned.  Texts in it end at a NUL or at their trailing blanks.  YES, NO and the
 *    like are words in any case of letters; blank is the default.
 *  - BY VALUE 0 stands for a missing group: an input counts as zeros, an output is not written.
 *  - Any thread may call, but not in a signal handler (except CBL_CTRACE_ENTRY).  errno is kept.
 *    The library keeps no argument after the call.
 *  - As each CBL_CTF_* routine, a routine calls the CBL_CTF_TRACER_NOTIFY callbacks that wait for
 *    this thread, and carries out operators' commands that wait for this thread's routines.  It
 *    does so under no lock, but not inside another command, a routine or a callback.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CBL_CTRACE_H
#define CBL_CTRACE_H

#include <mfctf.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * CTRACE DEFINE and DELETE.  define: cblt-ctrace-define, 531 bytes.  request: cblt-ctrace-delete,
 * 142 bytes.  outcome: cblt-ctrace-outcome, 260 bytes.  Return RC: 0, 4, 8, 12, or 16 for an abend.
 * A word that a keyword does not accept is abend 00D reason 301, or 302 at DELETE; the outcome's
 * message names the keyword.  DEFINE reads the userdata and writes them back after the routine ran.
 * Source: CTRACE macro.
 */
CTF_API_ cobrtncode_t CBL_CTRACE_DEFINE(void *define, void *outcome);
CTF_API_ cobrtncode_t CBL_CTRACE_DELETE(const void *request, void *outcome);

/* TRACE CT.  command: cblt-ctrace-trace-ct, 1,399 bytes.  Returns RC.  Source: TRACE command. */
CTF_API_ cobrtncode_t CBL_CTRACE_TRACE_CT(const void *command, void *outcome);

/*
 * Fills display with a trace as DISPLAY TRACE shows it.  name: 8 bytes.  sub: 110 bytes.  Both end
 * at their first blank or NUL, if any.  display: cblt-ctrace-display, 1,608 bytes, written only
 * with RC 0.  Returns 0; 4: no such trace; 8: no memory; 12: not a trace's name.
 */
CTF_API_ cobrtncode_t CBL_CTRACE_DISPLAY(const void *name, const void *sub, void *display);

/*
 * Registers an ENTRY or program of COBOL as a routine, by name: 1 to 8 characters, as STARTNAM or
 * DISPNAM, up to a blank or NUL.  BY VALUE 0 removes the registration.  An unregistered name is
 * looked for as ENTRY or PROGRAM-ID, in upper case, in the program and the modules it has loaded;
 * of two, the one that was loaded first counts.
 *
 * The routine receives one group BY REFERENCE, a cblt-ctrace-ctss; its RETURN-CODE is SSRC.  The
 * COBOL run time is single-threaded: ctrace calls the routine only on the thread that registered it
 * or, when it was found by name, on the thread that found it first.  A command from another thread
 * of the program ends with CBL_CTRACE_SSRC_THREAD and CBL_CTRACE_SSRSNC_THREAD.  An operator's
 * command waits for the thread's next CBL_ call other than CBL_CTRACE_ENTRY and runs inside it.
 * SUCCESS; INVALID_COMPONENT_NAME: not such a name; NOT_ENOUGH_MEMORY.
 */
#define CBL_CTRACE_SSRC_THREAD UINT32_C(8)
#define CBL_CTRACE_SSRSNC_THREAD UINT32_C(0x0000C0B1)
CTF_API_ cobrtncode_t CBL_CTRACE_ROUTINE(const void *name, void *routine);

/*
 * Sends a message to whoever gave the command, from inside a routine.  console: the 8 bytes of
 * ctrace-ctss-console, BY REFERENCE, since GnuCOBOL 3.1 passes 4 bytes BY VALUE.  text: length
 * bytes, of which 126 count, up to a NUL and without trailing blanks.  SUCCESS; FAILURE: the
 * command has ended, or there is no text; NOT_ENOUGH_MEMORY.
 */
CTF_API_ cobrtncode_t CBL_CTRACE_WTO(const void *console, const void *text, cobuns32_t length);

/*
 * Keeps what the program has in storage as a trace of its own, a dump: ctrace_dump().  title:
 * length bytes, of which 100 count, up to a NUL and without trailing blanks.  SUCCESS; FAILURE:
 * nothing is in storage; OUTPUT_ERROR: the dump cannot be written; NOT_ENOUGH_MEMORY.
 */
CTF_API_ cobrtncode_t CBL_CTRACE_DUMP(const void *title, cobuns32_t length);

/*
 * Traces one entry: an event of level INFO with the number entry_id and one binary item of length
 * bytes, 0 to 65,536.  handle: from CBL_CTF_TRACER_GET for the trace's name ("APPXYZ.SUBA" for the
 * sublevel SUBA of APPXYZ).  Also in a signal handler.  The statuses of CBL_CTF_TRACE;
 * NOT_TRACE_ENABLED: the trace is off or its filters exclude this process; NOT_ENOUGH_MEMORY: the
 * entry is longer than that, or than half of the trace's buffer.
 */
CTF_API_ cobrtncode_t CBL_CTRACE_ENTRY(cobuns32_t handle, cobuns32_t entry_id, const void *data,
				       cobuns32_t length);

#ifdef __cplusplus
}
#endif
#endif
