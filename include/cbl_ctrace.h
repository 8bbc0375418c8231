/*
 * cbl_ctrace.h - component trace (<ctrace/component.h>) as COBOL programs call it: the CBL_CTRACE_*
 * routines.
 *
 * The groups that they take are the types of the copybook ctrace.cpy; docs/cobol.md has their
 * fields.  C programs use <ctrace/component.h>, which has the same with C's structures and texts.
 *
 * Conventions, the same for all routines:
 *
 *  - A group is passed BY REFERENCE.  Exactly its size is read or written; it need not be aligned.
 * Texts in it end at a NUL, or their trailing blanks do not count; YES, NO and the like are words,
 * in any case of letters, and blank is the default.
 *  - BY VALUE 0 stands for a group that is missing: one to be read counts as zeros, one to be
 * written is not written.
 *  - Any thread may call, not in a signal handler, except CBL_CTRACE_ENTRY.  errno is kept. Nothing
 * given is kept after the call.
 *  - Callbacks of CBL_CTF_TRACER_NOTIFY that wait for this thread are called, as in each CBL_CTF_*
 * routine, and operators' commands that wait for its routines are carried out, under no lock: not
 * inside another command, a routine or a callback.
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
 * 142 bytes.  outcome: cblt-ctrace-outcome, 260 bytes.  Give RC: 0, 4, 8, 12, or 16 for an abend.
 * A word that a keyword does not have is abend 00D reason 301, of DELETE 302; the outcome's message
 * names the keyword.  The userdata of a define are read and, after the routine ran, written.
 */
CTF_API_ cobrtncode_t CBL_CTRACE_DEFINE(void *define, void *outcome);
CTF_API_ cobrtncode_t CBL_CTRACE_DELETE(const void *request, void *outcome);

/* TRACE CT.  command: cblt-ctrace-trace-ct, 1,399 bytes.  Gives RC. */
CTF_API_ cobrtncode_t CBL_CTRACE_TRACE_CT(const void *command, void *outcome);

/*
 * A trace as DISPLAY TRACE shows it.  name: 8 bytes.  sub: 110 bytes.  Both end at their first
 * blank or NUL, if there is one. display: cblt-ctrace-display, 1,608 bytes, written only with RC 0.
 * Gives 0; 4, there is no such trace; 8, no memory; 12, it is not a trace's name.
 */
CTF_API_ cobrtncode_t CBL_CTRACE_DISPLAY(const void *name, const void *sub, void *display);

/*
 * Makes an ENTRY or program of COBOL known as a routine, by name: 1 to 8 characters, as STARTNAM or
 * DISPNAM, ending at a blank or NUL if there is one.  BY VALUE 0 takes it back.  What is not made
 * known so is found as the ENTRY or PROGRAM-ID of that name, in upper case, of the program and of
 * the modules that it has loaded; of two the one that was loaded first.
 *
 * The routine is called with one group BY REFERENCE, a cblt-ctrace-ctss, and its RETURN-CODE is
 * SSRC.  The COBOL run time is single-threaded: it is called only on the thread that registered it
 * or, when it was found by name, that found it first.  A command that another thread gives is
 * answered for it, with CBL_CTRACE_SSRC_THREAD and CBL_CTRACE_SSRSNC_THREAD; an operator's waits
 * for the thread's next CBL_ call other than CBL_CTRACE_ENTRY, and is carried out inside it.
 * INVALID_COMPONENT_NAME, NOT_ENOUGH_MEMORY, SUCCESS.
 */
#define CBL_CTRACE_SSRC_THREAD UINT32_C(8)
#define CBL_CTRACE_SSRSNC_THREAD UINT32_C(0x0000C0B1)
CTF_API_ cobrtncode_t CBL_CTRACE_ROUTINE(const void *name, void *routine);

/*
 * A message to whoever gave the command, from inside a routine.  console: the 8 bytes of
 * ctrace-ctss-console, BY REFERENCE, since GnuCOBOL 3.1 passes 4 bytes BY VALUE.  text: length
 * bytes of which 126 count, without trailing blanks; it ends at a NUL before. FAILURE (that command
 * is over, or there is no text), NOT_ENOUGH_MEMORY, SUCCESS.
 */
CTF_API_ cobrtncode_t CBL_CTRACE_WTO(const void *console, const void *text, cobuns32_t length);

/*
 * One entry: an event with the number entry_id, of level INFO, and one binary item of length bytes,
 * 0 to 65,536.  handle: what CBL_CTF_TRACER_GET gives for the trace's name, "APPXYZ.SUBA" for the
 * sublevel SUBA of APPXYZ.  Also in a signal handler. The statuses of CBL_CTF_TRACE:
 * NOT_TRACE_ENABLED when the trace is off or its filters leave this process out; NOT_ENOUGH_MEMORY
 * when the entry is longer than that, or than half of the trace's buffer.
 */
CTF_API_ cobrtncode_t CBL_CTRACE_ENTRY(cobuns32_t handle, cobuns32_t entry_id, const void *data,
				       cobuns32_t length);

#ifdef __cplusplus
}
#endif
#endif
