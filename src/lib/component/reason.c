/*
 * reason.c - every code of component trace: its name, its meaning, its usual cause and its cure.
 *
 * One table serves ctrace_outcome_text(), `ctrace explain` and the manual.  The look-ups are pure
 * and run on any thread, also in a signal handler.  ct_outcome_set() is called at the end of a
 * command, on its thread; it takes no lock.  Without memory an outcome has its codes and no
 * message.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SYSTEM(code, ...) \
	{ \
		CTRACE_RC_SYSTEM, CTRACE_RSN_##code, 0, #code, __VA_ARGS__ \
	}
#define REFUSED(code, ...) \
	{ \
		CTRACE_RC_REFUSED, CTRACE_RSN_##code, 0, #code, __VA_ARGS__ \
	}
#define ABEND(reason, name, ...) \
	{ \
		CTRACE_RC_ABEND, reason, 0, name, __VA_ARGS__ \
	}

/* Sorted by RC, then by reason; `ctrace explain` lists them in this order. */
static const struct ct_reason_row rows[] = {
	{ CTRACE_RC_EXISTS, 0, 0, "EXISTS",
	  "the trace was defined already, or there was none to delete",
	  "The program defined the same NAME and SUB a second time without a DELETE between; or it deleted what it never defined or had "
	  "deleted before; or PRESET(DELETE) found no preset. Definitions belong to one process: another process's do not count.",
	  "Go on: nothing was changed. To give a trace other attributes, delete it first." },

	SYSTEM(STORAGE, "there was not enough memory to carry it out",
	       "The process reached a limit of its memory (RLIMIT_AS, a control group), the file system of the run directory is full, there "
	       "are too many traces with a buffer size of their own, or too many components. The message says which.",
	       "Raise the limit, make room where the run directory is (CTRACE_RUN_DIR), or give traces the same BUFSIZE; then give the command "
	       "again."),
	SYSTEM(RECOVERY,
	       "the trace is in use by a command that waits for this thread or does not end",
	       "A start/stop or display routine commanded, deleted or defined the trace that it was called for, or one that another thread's "
	       "command holds while it waits for this one. Or a command that works on the trace, which the message names, has not ended after "
	       "five seconds: its routine waits for something, perhaps for a lock that is held round this very command.",
	       "Let the routine return first, and give the command from elsewhere. Inside the routine, ask for another buffer size through "
	       "the CTSS, and refuse by a nonzero return. Hold no lock round a ctrace command that a routine takes."),

	REFUSED(NO_HEAD, "SUB was given, but the trace above it is not defined",
		"The head was never defined in this process, was deleted (DELETE takes its sublevels along), or NAME or a part of SUB is spelt "
		"differently.",
		"Define from the top down: first NAME with HEAD=YES, then each level of SUB with HEAD=YES, the lowest last."),
	REFUSED(LIKEHEAD_OPTIONS, "LIKEHEAD=YES excludes attributes of its own",
		"LIKEHEAD=YES was coded together with ASIDS, JOBS, MINOPS, MOD, BUFFER, BUFMIN, BUFMAX, BUFDFLT, BUFDEFIN or WTR.",
		"Leave these out, since the head's are used; or leave out LIKEHEAD."),
	REFUSED(NOT_A_HEAD, "the trace above the sublevel is defined, but not as a head",
		"It was defined with HEAD=NO, which is the default.",
		"Define it with HEAD=YES: delete it, define it again, then its sublevels."),
	REFUSED(MEMBER_NOT_FOUND, "no parmlib directory has the member",
		"CTRACE_PARMLIB names the directories that are searched, with colons between; a member is a file in one of them with exactly the "
		"member's name, in upper case. None of them has that file.",
		"Look at the spelling and case of the file's name, and at CTRACE_PARMLIB as the traced process has it."),
	REFUSED(MEMBER_IO, "the member was found, but reading it failed",
		"The file system reported an error after the file had been opened: a bad disk, a lost network mount.",
		"Read the file with cat(1) as the same user; its message is the reason. The kernel's log may have more."),
	REFUSED(MEMBER_SYNTAX, "the member has an error",
		"Its text is not what the grammar of TRACEOPTS allows. The message says line, column, and what was expected there.",
		"`ctrace parmlib check` names every error of a member. A member is read again by each command that names it."),
	REFUSED(LIKEHEAD_NO_OPTIONS,
		"LIKEHEAD=YES, but there is no head whose options could be taken over",
		"The trace above was defined with HEADOPTS=NO, which is the default, and so has no options, attributes and state to share; or "
		"LIKEHEAD=YES was coded without SUB.",
		"Define the head with HEAD=YES and HEADOPTS=YES, or the sublevel without LIKEHEAD and with attributes of its own."),
	REFUSED(NOT_ACTIVE, "SUB names an ASID or a job that is not active",
		"No live process of this process's run directory has that ASID or job name: it has ended, has not begun to trace, or uses "
		"another run directory.",
		"Look for it with `ctrace list`, which shows ASID and job name of each process. Give both the same CTRACE_RUN_DIR. The job name "
		"is what CTRACE_JOBNAME says, else the program's name in upper case, cut to 8."),
	REFUSED(LIKEHEAD_DIFFERS,
		"the member says LIKEHEAD, but the attributes of the trace and of its head differ",
		"A sublevel can follow its head only when ASIDS, JOBS, MINOPS, MOD, BUFFER, BUFMIN, BUFMAX, BUFDFLT, BUFDEFIN, WTR and WTRMODE "
		"are the same for both.",
		"Define the sublevel with the head's attributes or with LIKEHEAD=YES, or say ON or OFF in the member."),
	REFUSED(LIKEHEAD_PARM, "LIKEHEAD=YES excludes PARM",
		"A sublevel that follows its head begins in the head's state, so that a member would say nothing.",
		"Leave out one of the two."),
	REFUSED(HEADOPTS_PARM, "HEADOPTS=NO excludes PARM",
		"HEAD=YES with HEADOPTS=NO, which is the default, makes a head that only groups its sublevels. It has no options that a member "
		"could set.",
		"Code HEADOPTS=YES and a STARTNAM, or name the member when the sublevels are defined."),
	REFUSED(LIKEHEAD_HEADOPTS, "LIKEHEAD=YES excludes a head with HEADOPTS=NO",
		"A sublevel that is itself a head (HEAD=YES) without options of its own cannot have its head's.",
		"Code HEADOPTS=YES, or leave out LIKEHEAD."),
	REFUSED(NO_STARTNAM, "STARTNAM is missing",
		"Every trace needs a start/stop routine, except a head with HEADOPTS=NO.",
		"Name a routine: see ctrace_routine_register() and CTRACE_LINKLIST. If the head is only to group its sublevels, code HEAD=YES "
		"and leave HEADOPTS=NO."),
	{ CTRACE_RC_REFUSED, CTRACE_RSN_NAME_NOT_ALLOWED, 1, "NAME_NOT_ALLOWED",
	  "STARTNAM is not allowed for a head with HEADOPTS=NO",
	  "HEAD=YES with HEADOPTS=NO, which is the default, makes a head that cannot be switched, so that its routine would never be called.",
	  "Leave out STARTNAM, or code HEADOPTS=YES." },
	{ CTRACE_RC_REFUSED, CTRACE_RSN_NAME_NOT_ALLOWED, 2, "NAME_NOT_ALLOWED",
	  "DISPNAM is not allowed for a head with HEADOPTS=NO",
	  "HEAD=YES with HEADOPTS=NO, which is the default, makes a head that has no state to display.",
	  "Leave out DISPNAM, or code HEADOPTS=YES." },
	REFUSED(MEMBER_SUB, "a member for DEFINE must not have SUB",
		"PARM of DEFINE sets one trace, the one that is being defined. Members with SUB are for TRACE CT.",
		"Take SUB out of the member, or keep one member for DEFINE and another one for TRACE CT."),
	REFUSED(MEMBER_PRESET_DELETE, "a member for DEFINE must not have PRESET(DELETE)",
		"Presets are made and deleted by TRACE CT before a trace is defined. DEFINE only uses them, and passes over PRESET(PUT).",
		"Move PRESET(DELETE) to a member for TRACE CT."),
	REFUSED(ROUTINE_REFUSED, "the start/stop routine returned nonzero, and nothing was changed",
		"The routine refused the options (usually 4), or lacked a resource (8). SSRC and SSRSNC have its return "
		"and reason codes, the message what it said with ctrace_wto(). A tracer that nobody defined takes LEVEL=level, "
		"DEST=(emitters) and property=value.",
		"Look SSRC and SSRSNC up in the application's documentation, correct the options, and give the command again."),
	REFUSED(NO_BUFFER, "a buffer size was given, but the trace was defined with BUFFER=NO",
		"The member or the command has a buffer size, or DEFINE has BUFDEFIN, BUFMIN, BUFMAX or BUFDFLT, while BUFFER is NO, which is "
		"the default.",
		"Define the trace with BUFFER=YES, or leave the size out. Without a size its entries go into the common ring (ctrace.buffer)."),
	REFUSED(BUFSIZE_LIMITS, "the buffer size is not between BUFMIN and BUFMAX",
		"The member's or the command's size lies outside the limits that the trace was defined with: 1024 and 2147483647 bytes, unless "
		"others were coded. K is 1024 bytes, M 1048576.",
		"Give a size inside the limits, or define the trace with wider ones."),
	REFUSED(NO_ASIDS, "the trace cannot be filtered by ASID",
		"The member or the command has ASID, while the trace was defined with ASIDS=NO, which is the default, or is a tracer that nobody "
		"defined.",
		"Leave ASID out, or define the trace with ASIDS=YES."),
	REFUSED(NO_JOBS, "the trace cannot be filtered by job name",
		"The member or the command has JOBNAME, while the trace was defined with JOBS=NO, which is the default, or is a tracer that nobody "
		"defined.",
		"Leave JOBNAME out, or define the trace with JOBS=YES."),
	REFUSED(BUFMIN_BUFMAX, "BUFMIN is greater than BUFMAX",
		"The limits are given in bytes. A BUFMIN under 1024 counts as 1024, and so does one that is not coded.",
		"Exchange them, or code a BUFMAX of at least 1024."),
	REFUSED(BUFDFLT_BUFMIN, "BUFDFLT is less than BUFMIN",
		"All three are given in bytes. A BUFMIN under 1024 counts as 1024, and so does one that is not coded.",
		"Code a BUFDFLT of at least BUFMIN, or none."),
	REFUSED(BUFDFLT_BUFMAX, "BUFDFLT is greater than BUFMAX, or BUFMAX greater than 2147483647",
		"All three are given in bytes. Without BUFMAX the limit is 2147483647, and no BUFMAX is greater.",
		"Code a BUFDFLT of at most BUFMAX, or a greater BUFMAX."),
	REFUSED(ROUTINE_NOT_LOADED, "the start/stop routine was not found",
		"The program did not make it known with ctrace_routine_register(), no COBOL ENTRY has that name, and NAME.so in the directories of "
		"CTRACE_LINKLIST is missing, cannot be loaded, or has neither a function NAME nor ctrace_exit_routine. A set-uid program does not "
		"look at CTRACE_LINKLIST.",
		"Register the routine before DEFINE, or set CTRACE_LINKLIST to the directories of NAME.so, with colons between. `ldd NAME.so` shows "
		"which libraries it lacks."),
	REFUSED(SUB_NAME, "SUB is not a valid path of sublevel names",
		"It has more than five names, an empty one, one of more than 18 characters, or one that begins with a digit or is not made of A-Z, "
		"0-9, @, # and $. The message says where.",
		"Put a dot between names. Lower-case letters and underscores are allowed in quotation marks; ASID(h) and JOBNAME(n) name a "
		"process."),
	REFUSED(PARMLIB, "the member cannot be used",
		"It is empty, does not begin with TRACEOPTS, or asks for nothing; a job name in it has a blank, comma, parenthesis or quotation "
		"mark; it has more than 1024 traces, or for DEFINE more than one; or its preset cannot be kept in the run directory. The message "
		"says which.",
		"Correct the member where the message says. Presets need a run directory that the traced process may write to, and "
		"ctrace.attach = on."),
	REFUSED(ASID_NOT_HEX, "an ASID is not a hexadecimal number",
		"An ASID has 1 to 4 of the characters 0-9 and A-F, without a prefix.",
		"Write it as `ctrace list` shows it. It is not the process id."),
	REFUSED(MEMBER_TOO_LARGE, "the member is too large",
		"A member has at most 65536 bytes, comments included.",
		"Shorten it, or divide its transactions among several members. Make sure that CTRACE_PARMLIB leads to the file that you mean."),
	REFUSED(MEMBER_NOT_READABLE,
		"the member is there, but may not be read, or everybody may write to it",
		"The traced process's user has no permission to read the file, or it is no regular file, or everybody may write to it or to its directory: then it is not known who has written it.",
		"Give that user permission to read it, put a regular file in its place, or take the others' permission to write away."),
	REFUSED(MEMBER_ALLOCATION, "the parmlib directories could not be opened",
		"CTRACE_PARMLIB is not set, or none of what it names is a directory, or the process has no memory or file descriptor left for the member. "
		"A set-uid program does not look at CTRACE_PARMLIB.",
		"Set CTRACE_PARMLIB in the environment of the traced process to directories that are there, with colons between."),
	REFUSED(ASID_TOO_LONG, "an ASID has more than four characters",
		"ASIDs go from 1 to FFFF, hexadecimal.",
		"Write it as `ctrace list` shows it. It is not the process id."),
	REFUSED(ASID_ZERO, "an ASID is zero", "ASIDs go from 1 to FFFF; no process has 0.",
		"Write it as `ctrace list` shows it. ASID() turns the filter off."),
	REFUSED(TOO_MANY_ASIDS, "more than 16 ASIDs", "One filter has room for 16 address spaces.",
		"Name fewer, or turn the filter off with ASID() and choose when reading."),
	REFUSED(JOBNAME_TOO_LONG, "a job name has more than eight characters",
		"Job names have 1 to 8 characters. A program's name is cut to 8 for its job name.",
		"Write it as `ctrace list` shows it, or set CTRACE_JOBNAME for the traced process."),
	REFUSED(TOO_MANY_JOBNAMES, "more than 16 job names", "One filter has room for 16 jobs.",
		"Name fewer, or turn the filter off with JOBNAME() and choose when reading."),
	REFUSED(BUFSIZE_TOO_LONG, "the buffer size has more than five characters",
		"BUFSIZE is up to four digits and K or M: 1K to 9999K, 1M to 2047M.",
		"Write larger sizes in M."),
	REFUSED(BUFSIZE_UNIT, "the buffer size does not end with K or M",
		"BUFSIZE has no plain bytes: 4K is 4096 of them, 1M is 1048576.",
		"Put K or M behind the number, without a blank."),
	REFUSED(BUFSIZE_NOT_DECIMAL, "the buffer size is not a decimal number",
		"In front of K or M stands something else than digits, nothing, 0, or more than 2047M.",
		"Write up to four digits and K or M: 1K to 9999K, 1M to 2047M."),
	REFUSED(OPTIONS_TOO_LONG, "the options have more than 1024 characters",
		"The strings of OPTIONS are joined by commas, which count.", "Shorten them."),
	REFUSED(MEMBER_NAME, "the name of the member does not begin with CT",
		"Members with trace options are called CT and up to six more letters, digits or national characters.",
		"Name the file and PARM so: CTAPPXYZ."),
	REFUSED(HAS_SUBS, "the trace has sublevels, and IFNOSUBS was coded",
		"IFNOSUBS deletes a head only when none of its sublevels is defined. Nothing was deleted.",
		"Delete the sublevels first, or code DELSUBS, which deletes them too."),
	REFUSED(NO_WTR, "the trace does not support an external writer",
		"The member or the command has WTR, while the trace was defined with WTR=NO, which is the default, or is a tracer that nobody "
		"defined.",
		"Leave WTR out, or define the trace with WTR=YES and a WTRMODE."),
	REFUSED(WTR_NAME, "the name of the external writer is not valid",
		"It has 1 to 7 of the characters A-Z, 0-9, @, # and $, and does not begin with a digit.",
		"Write the name with which the writer was started. WTR(DISCONNECT) disconnects."),
	REFUSED(NOT_DEFINED, "there is no trace of that name",
		"In this process nobody defined it, and no tracer of that name exists; or it has been deleted; or COMP cannot be a name.",
		"Look at the spelling: `ctrace list` shows the components of each process. SUB is written without NAME."),
	REFUSED(NOT_MODIFIABLE, "the trace is on and cannot be changed while it is",
		"It was defined with MOD=NO, which is the default.",
		"Switch it OFF, then ON with the new options, or define it with MOD=YES."),
	REFUSED(HEAD_NO_OPTIONS, "a head with HEADOPTS=NO cannot be switched",
		"Such a head only groups its sublevels. DISPLAY shows it as OFF whatever they do.",
		"Switch its sublevels, or define the head with HEADOPTS=YES."),
	REFUSED(BUFDEFIN, "the buffer size can only be set when the trace is defined",
		"It was defined with BUFDEFIN=YES, which leaves the size to DEFINE's PARM and to presets.",
		"Put the size into the member that DEFINE names or into a preset, delete the trace, and define it again."),
	REFUSED(NO_STATE, "neither the command nor the member says ON, OFF or LIKEHEAD",
		"The command left the state to the member, and the member has only options.",
		"Say ON or OFF in one of the two."),
	REFUSED(NOT_A_SUBLEVEL, "LIKEHEAD was asked for a trace that has no head",
		"The trace was defined without SUB, so that nothing is above it.",
		"Name the sublevel with SUB, or say ON or OFF."),
	REFUSED(NOT_ALL, "some of the member's transactions failed",
		"A member for TRACE CT may switch several traces. Each is a transaction: what failed changed nothing, the others took effect. The "
		"message names the first that failed.",
		"Correct that transaction and give the command again; it may repeat those that succeeded."),

	ABEND(0x101, "PLIST_VERSION", "the parameter list's version is not 0, 1 or 2",
	      "The structure was not initialised with CTRACE_DEFINE_INIT, or the program was built for a later version of ctrace.",
	      "Begin the initialiser with CTRACE_DEFINE_INIT, or install the version of ctrace that the program was built for."),
	ABEND(0x102, "COMPONENT_NAME", "NAME is not a valid component name",
	      "It has 1 to 8 of the characters A-Z, 0-9, @, # and $, and does not begin with a digit. Lower-case letters and blanks are not "
	      "among them.",
	      "Correct NAME. Names that begin with SYS are reserved by custom; ctrace takes them."),
	ABEND(0x301, "DEFINE_RESERVED",
	      "a field that has to be zero is not, or one has a value that it cannot have",
	      "The structure of DEFINE or TRACE CT was not initialised; or its size is another version's; or a YES or NO is neither; or "
	      "STARTNAM, DISPNAM or FMTTAB is no name; or HEADOPTS=YES was coded without HEAD=YES, or one of WTR=YES and WTRMODE without the "
	      "other. The message says which.",
	      "Correct the field that the message names. If it names none of yours, initialise the whole structure with "
	      "{ CTRACE_DEFINE_INIT, ... } or { CTRACE_TRACE_CT_INIT, ... }, which zeroes what is not named."),
	ABEND(0x302, "DELETE_RESERVED",
	      "a field of DELETE that has to be zero is not, or one has a value that it cannot have",
	      "The structure was not initialised; or its version or size is another one's; or DELSUBS and IFNOSUBS were both coded. The "
	      "message says which.",
	      "Correct the field that the message names. If it names none of yours, initialise the whole structure with "
	      "{ CTRACE_DELETE_INIT, ... }, which zeroes what is not named."),
	ABEND(0x401, "SERVICE", "the service is neither DEFINE nor DELETE",
	      "The structure was not initialised with CTRACE_DEFINE_INIT or CTRACE_DELETE_INIT, or was given to the other's function.",
	      "Begin the initialiser with the one that belongs to the function."),
	ABEND(0x501, "MINOPS_LENGTH", "MINOPS is longer than 256 bytes",
	      "The commas between options count. The macro's description allows 255 bytes but refuses only more than 256; so does ctrace.",
	      "Shorten the list of minimum options, and leave the rest to OPTIONS."),
};

const struct ct_reason_row *ct_reason_at(size_t index)
{
	return index < CT_COUNT(rows) ? &rows[index] : NULL;
}

const struct ct_reason_row *ct_reason_find(uint32_t rc, uint32_t reason, uint32_t low)
{
	for (size_t i = 0; i < CT_COUNT(rows); i++)
		if (rows[i].rc == rc && rows[i].reason == reason &&
		    (rows[i].low == 0 || rows[i].low == low))
			return &rows[i];
	return NULL;
}

const char *ctrace_outcome_text(const struct ctrace_outcome *outcome)
{
	const struct ct_reason_row *row = NULL;

	if (outcome != NULL && outcome->rc == CTRACE_RC_OK)
		return "done";
	if (outcome != NULL && outcome->rc == CTRACE_RC_ABEND)
		row = ct_reason_find(CTRACE_RC_ABEND, outcome->abend, 0);
	else if (outcome != NULL)
		row = ct_reason_find(outcome->rc, CTRACE_REASON(outcome->rsncode),
				     outcome->rsncode & 0xFF);
	return row != NULL ? row->meaning : "an unknown return or reason code";
}

/* ---- an outcome ---- */

/* As ct_escape_add(), but keeps our own quotation marks and existing escapes. */
static void message_add_escaped(struct ct_buf *out, const char *text)
{
	while (*text != '\0') {
		size_t size = strcspn(text, "\"\\");

		ct_escape_add(out, text, size);
		text += size;
		if (*text != '\0')
			ct_buf_add_char(out, *text++);
	}
}

/* The bytes of one character or one escape, which must not be cut. */
size_t ct_message_unit(const char *at, size_t left)
{
	unsigned char c = (unsigned char)at[0];
	const char *end;
	size_t size;

	if (c == '\\' && left > 1 && at[1] == 'u') {
		end = memchr(at, '}', left);
		size = end != NULL ? (size_t)(end - at) + 1 : left;
	} else if (c == '\\') {
		size = left > 1 && at[1] == 'x' ? 4 : 2;
	} else {
		size = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
	}
	return size < left ? size : left;
}

/* Copies whole characters and escapes as far as they fit; "..." replaces the rest. */
static void message_copy_cut(char *out, size_t capacity, const char *text, size_t size)
{
	static const char mark[] = "...";
	size_t used = 0;
	size_t next;

	if (size < capacity) {
		memcpy(out, text, size + 1);
		return;
	}
	while ((next = used + ct_message_unit(text + used, size - used)) <= capacity - sizeof mark)
		used = next;
	memcpy(out, text, used);
	memcpy(out + used, mark, sizeof mark);
}

static void outcome_set_message(struct ctrace_outcome *out, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));
static void outcome_set_message(struct ctrace_outcome *out, const char *format, va_list arguments)
{
	/* text beyond this would not fit below either: escaping never shortens */
	char text[2 * sizeof out->message];
	struct ct_buf harmless;
	const char *line;

	(void)vsnprintf(text, sizeof text, format, arguments);
	ct_buf_init(&harmless);
	message_add_escaped(&harmless, text);
	line = ct_buf_text(&harmless);
	message_copy_cut(out->message, sizeof out->message, line, strlen(line));
	ct_buf_fini(&harmless);
}

uint32_t ct_outcome_set(struct ctrace_outcome *out, uint32_t rc, uint32_t reason,
			const char *format, ...)
{
	va_list arguments;

	if (out == NULL)
		return rc;
	out->rc = rc;
	out->abend = rc == CTRACE_RC_ABEND ? reason : 0;
	out->rsncode = rc == CTRACE_RC_ABEND ? 0 : reason > 0xFF ? reason : reason << 8;
	if (format != NULL) {
		va_start(arguments, format);
		outcome_set_message(out, format, arguments);
		va_end(arguments);
	}
	return rc;
}
