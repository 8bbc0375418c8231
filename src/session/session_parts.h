/*
 * session/session_parts.h - what the files about the session file share:
 *
 *     session.c       it in memory: reached again, grown, looked into, closed
 *     session_make.c  our own comes to be, new or in a forked child
 *     session_load.c  somebody else's, copied or mapped
 *     session_keep.c  our own, kept from cleaners and from whoever cuts it
 *     session_layout.c  where its parts are
 *
 * and directory.c and annex.c, which remove what was left behind.
 *
 * session_make.c and session_load.c call session.c, never each other; session.c calls
 * session_load.c to end what that began.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_SESSION_PARTS_H
#define CT_SESSION_SESSION_PARTS_H

#include "session/session.h"

#include <fcntl.h>

#define CT_SESSION_PAGE ((uint64_t)4096) /* the parts of a session file begin at multiples of it \
					  */
/* What nobody can ask about whether its process lives counts as left behind after so long. */
#define CT_ABANDONED_SECONDS 86400

/* That its process lives, or that somebody recovers it. */
static inline struct flock ct_session_alive_lock(void)
{
	return (struct flock){ .l_type = F_WRLCK,
			       .l_whence = SEEK_SET,
			       .l_start = CT_SESSION_LOCK_ALIVE,
			       .l_len = 1 };
}

/* ---- directory.c */
/* Removes the files of ctrace in a directory that is open as fd, which it closes, and then the
 * directory from its parent. */
void ct_directory_remove_open(int parent_fd, const char *name, int fd);

/* ---- session.c */
/* nothing open, nothing mapped: ct_session_close() may follow */
void ct_session_init(struct ct_session *session);
/* Its parts are at base, where layout.size bytes are mapped. */
void ct_session_set_base(struct ct_session *session, void *base);
/* Real blocks for `needed` bytes from `start` of the file on, of which *allocated there are
 * already; nothing to do for a private one. */
enum ctrace_status ct_session_allocate(struct ct_session *session, uint64_t start,
				       uint64_t *allocated, uint64_t needed) CT_MUST_USE;
/* Opens the file again when the program has closed it behind our back, with the lock that shows
 * that we live.  False: it is not there. */
bool ct_session_reach(struct ct_session *session);
/* From now on this is the calling process's own, until it is closed. */
void ct_session_set_own(const struct ct_session *session);

/* ---- session_make.c */
/* Who the process is, and the layout; not yet the magic number. */
void ct_session_write_constants(struct ct_session *session, const struct ct_session_place *place);

/* ---- session_keep.c */
/* Locks the directory: cleaners of temporary directories leave a directory alone that is locked. */
void ct_session_guard_directory(const struct ct_session *session);

/* ---- session_load.c */
/* Removes the lock from the list of a recoverer's locks: its file is about to be closed. */
void ct_session_forget_lock(const struct ct_session *session);

#endif
