/*
 * lib/dump/dump.h - dumps: what the rings of a process hold at one moment, as a trace of its own.
 *
 * Used by the tool, for any process whose process directory it may read, and by a traced process
 * for itself.  The rings are copied while their threads go on: no thread waits for a dump.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_DUMP_H
#define CT_DUMP_H

#include "session/session.h"

#define CT_DUMP_TITLE 100u /* bytes of a title; DUMP COMM takes as many */
/* the file of a dump that says when and why it was made: lines "key: value" */
#define CT_DUMP_ABOUT ".dump"

struct ct_ring_pool;
struct ct_dump_request {
	/* the calling process's own session; NULL: the process is named by the next two */
	const struct ct_session *own;
	/* its rings; without them those in private memory cannot be read */
	const struct ct_ring_pool *own_rings;
	const char *run_directory; /* of the process directory */
	const char *directory;     /* the process directory: "1234.0" */
	const char *path;          /* of the dump; nothing may be there */
	const char *title;         /* "": none */
	const char *reason;        /* "command", "trigger NAME", "signal SIGSEGV" ... */
	const char *component;     /* a glob: only these components' events; NULL: all */
	/* further globs, with NULL behind the last; NULL: none */
	const char *const *components;
	/* further lines "key: value" for CT_DUMP_ABOUT, each with a line end; NULL: none */
	const char *details;
	bool may_be_empty; /* the reason is worth a dump also when the rings hold no event */
};
struct ct_dump_result {
	bool is_made;
	uint64_t events;
	uint64_t overwritten; /* events that the rings held earlier */
	uint64_t damaged;     /* bytes that could not be read */
	uint32_t unread;      /* rings */
	uint32_t hidden; /* of these: private memory of another process, which alone can dump it */
};
/*
 * Makes a dump; without any event, it makes none unless it may be empty.  It is complete when its
 * path exists: until then it has another name, which begins with a dot.  Any thread may call it; it
 * allocates and writes files.
 *
 * OK, else: NOT_FOUND there is no such process directory.  DENIED, UNSUPPORTED, DAMAGED it cannot
 * be read.  NOT_ENOUGH_MEMORY.  OUTPUT_ERROR the dump cannot be written: errno (EEXIST: something
 * is at the path).  On failure nothing is left.
 */
enum ctrace_status ct_dump_make(const struct ct_dump_request *request,
				struct ct_dump_result *out_result) CT_MUST_USE;

/* ---- dump_keep.c: dumps in the directory of many */
#define CT_DUMP_NAME_SIZE 128u
/* "PAYROLL.1234.20261126-143205.dump", with the present time. */
void ct_dump_name(const struct ct_session_head *head, char out[CT_DUMP_NAME_SIZE]);
/* Makes a dump of that name in the directory; "": in the current one.  Of several in a second the
 * later ones have ".2" to ".9" behind it.  path gets the path, and request->path points to it. */
enum ctrace_status ct_dump_make_in(const char *directory, const struct ct_session_head *head,
				   struct ct_dump_request *request, char *path, size_t room,
				   struct ct_dump_result *out_result) CT_MUST_USE;
/* Removes the files of a dump, and its directory.  No link is followed.  Returns false when the
 * directory stays. */
bool ct_dump_remove(int directory_fd, const char *name);
/* Removes from the directory of a dump those of this user that nobody makes any more: their names
 * begin with a dot and end in ".new.PID", they are a minute old, and no process has the lock that
 * the maker takes. */
void ct_dump_sweep(const char *path);
/* Removes this user's oldest dumps, except the one of this name, until at most `keep` of at most
 * `size` bytes in all are left.  Returns how many it has removed. */
uint32_t ct_dump_make_room(const char *path, uint32_t keep, uint64_t size, const char *except);

/* ---- dump_own.c: the calling process, into ctrace.dump.directory; NOT_FOUND: nothing is in
 * storage.  TIMED_OUT: the file system does not answer; the dump may be made later.  OS_ERROR: the
 * process has no run directory, so its session cannot be copied.  Of the
 * request only title, reason, details and may_be_empty count.  Another dump within the same second
 * for a reason of the same kind is the one before.  out_path and out_events may be NULL. */
enum ctrace_status ct_dump_own(const struct ct_dump_request *request, char *out_path, size_t size,
			       uint64_t *out_events) CT_MUST_USE;
/* In a forked child: another thread of the parent may have been making a dump. */
void ct_dump_forked(void);
/* The same for dump.c, which ct_dump_forked() calls. */
void ct_dump_make_forked(void);
/* Prints where the COBOL program is, as lines of CT_DUMP_ABOUT.  Returns their bytes; 0: nobody
 * knows.  Async-signal-safe. */
#define CT_DUMP_PLACE 600u
size_t ct_dump_print_code_place(char out[CT_DUMP_PLACE]);
/* Has a run-time error made a dump?  The end that it causes is the same failure. */
bool ct_dump_error_was_dumped(void);
struct ct_process;
/* Prints the directory of its dumps and their limits as lines of CT_CRASH_FILE.  The directory is
 * absolute unless the process's working directory is not known.  Returns their size; 0 without
 * room.
 */
int ct_dump_print_place(const struct ct_process *process, char *out, size_t room);

#endif
