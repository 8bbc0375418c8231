/*
 * session/session_parts.h - declarations shared by the files about the session file:
 *
 *     session.c         it in memory: reopened, grown, read, closed
 *     session_make.c    makes our own, new or in a forked child
 *     session_load.c    copies or maps that of another process
 *     session_keep.c    protects our own from cleaners and from truncation
 *     session_layout.c  the positions of its parts
 *     number.c          its ASID
 *     session_share.c   lets a group reach the control socket of our own
 *
 * and directory.c and annex.c, which remove abandoned ones.
 *
 * session_make.c and session_load.c call session.c, never each other; session.c calls
 * session_load.c when it closes a session loaded there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_SESSION_PARTS_H
#define CT_SESSION_SESSION_PARTS_H

#include "session/session.h"

#include <fcntl.h>

/* the parts of a session file begin at multiples of it */
#define CT_SESSION_PAGE ((uint64_t)4096)
/* A directory counts as abandoned after so long when no process can check whether its maker
 * lives. */
#define CT_ABANDONED_SECONDS 86400
/* One that its maker would have locked: a process locks its directory just after it has made it. */
#define CT_UNLOCKED_SECONDS 10

/* The lock that shows that the process lives, or that another recovers its session. */
static inline struct flock ct_session_alive_lock(void)
{
	return (struct flock){ .l_type = F_WRLCK,
			       .l_whence = SEEK_SET,
			       .l_start = CT_SESSION_LOCK_ALIVE,
			       .l_len = 1 };
}

/* ---- directory.c */
/* Removes ctrace's files in the directory open at fd, closes fd, and removes the directory from its
 * parent. */
void ct_directory_remove_open(int parent_fd, const char *name, int fd);

/* Has process pid the session file of the directory `name` mapped? */
enum ctrace_status ct_session_look_mapped(const char *name, uint32_t pid,
					  bool *out_is_mapped) CT_MUST_USE;

/* ---- session.c */
/* nothing is open or mapped then; ct_session_close() may follow */
void ct_session_init(struct ct_session *session);
/* Sets the addresses of the parts from base, where layout.size bytes are mapped. */
void ct_session_set_base(struct ct_session *session, void *base);
/* Allocates real blocks for `needed` bytes of the file from `start` on; *allocated of these exist
 * already.  Does nothing for a private session. */
enum ctrace_status ct_session_allocate(struct ct_session *session, uint64_t start,
				       uint64_t *allocated, uint64_t needed) CT_MUST_USE;
/* Reopens the session file after the program has closed it, and takes the lock that shows that we
 * live.  Returns false when the file is missing. */
bool ct_session_reach(struct ct_session *session);
/* Makes this the calling process's own session until it is closed. */
void ct_session_set_own(const struct ct_session *session);

/* ---- session_make.c */
/* Writes the identity of the process and the layout, but not yet the magic number. */
void ct_session_write_constants(struct ct_session *session, const struct ct_session_place *place);

/* ---- number.c */
/* Numbers a session that has no number yet: this process's own, in its mapped head, or the one
 * whose file is open for writing.  Returns the number; 0 when it cannot be stored. */
uint32_t ct_asid_give(int directory_fd, uint32_t *mapped, int session_fd);

/* ---- session_keep.c */
/* Locks the directory, because cleaners of temporary directories keep a locked one. */
void ct_session_guard_directory(const struct ct_session *session);

/* ---- session_load.c */
/* Removes the lock from the list of a recoverer's locks, before its file is closed. */
void ct_session_reset_lock(const struct ct_session *session);

#endif
