/*
 * ctrace/status.h - every result that a ctrace function can return.
 *
 * COBOL programs receive numbers 0 to 13 from the CBL_CTF_* routines (78-CTF-RET-*, CTF_RET_*).
 * Only SUCCESS = 0 is fixed by the field; the other numbers are ours and will not change.  Numbers
 * above 13 never reach a COBOL program.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CTRACE_STATUS_H
#define CTRACE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#define CTRACE_MUST_USE __attribute__((warn_unused_result))

enum ctrace_status {
	CTRACE_OK = 0,
	CTRACE_FAILURE = 1,           /* the notify callback could not be installed or removed */
	CTRACE_NOT_ENOUGH_MEMORY = 2, /* no memory, no ring, or an event over a limit: event.h */
	/* empty, over 255 bytes, or an empty part between two dots */
	CTRACE_INVALID_COMPONENT_NAME = 3,
	CTRACE_INVALID_EMITTER_NAME = 4, /* empty or over 31 bytes */
	CTRACE_INVALID_PROP_NAME = 5,    /* empty or over 255 bytes */
	CTRACE_INVALID_TRACE_HANDLE = 6, /* not a handle that CBL_CTF_TRACER_GET gave */
	CTRACE_INVALID_TRACE_LEVEL = 7,  /* not 0 to 4 (nor 0xFFFFFFFF where "none" is meant) */
	/* no such emitter; or it is not in the list that it is to be removed from */
	CTRACE_EMITTER_NOT_FOUND = 8,
	CTRACE_PROPERTY_NOT_FOUND = 9, /* the property was never set and has no default */
	CTRACE_BUFFER_TOO_SMALL = 10,  /* the needed length is in the size argument */
	CTRACE_NOT_TRACE_ENABLED = 11, /* the component's threshold is "none" */
	CTRACE_NOT_TRACING_LEVEL = 12, /* the event's level is below the component's threshold */
	/* recorded, but a destination is failing; ctrace tries again */
	CTRACE_OUTPUT_ERROR = 13,

	CTRACE_TIMED_OUT = 14,    /* retry: the time limit was too short */
	CTRACE_SYNTAX_ERROR = 15, /* fix the input: a text has an error at a known position */
	CTRACE_NOT_FOUND = 16,    /* fix the input: no such file, process or trace */
	CTRACE_DAMAGED = 17,      /* fix the input: damaged bytes */
	/* fix the machine: permission, a symbolic link in the way, another user's file */
	CTRACE_DENIED = 18,
	CTRACE_OS_ERROR = 19, /* fix the machine: the operating system refused; errno says why */
	/* fix the input: from a newer version, or not for this machine */
	CTRACE_UNSUPPORTED = 20,
	CTRACE_STATUS_COUNT
};

/* Return the status as a word ("INVALID_TRACE_HANDLE") and as a sentence.  Any number gives a
 * static text.  Any thread, also in a signal handler. */
__attribute__((visibility("default"))) const char *ctrace_status_name(enum ctrace_status status);
__attribute__((visibility("default"))) const char *ctrace_status_text(enum ctrace_status status);

#ifdef __cplusplus
}
#endif
#endif
