/*
 * session/session.h - what one traced process leaves in the run directory for operators, readers and recoverers.
 *
 *     <run directory>/<pid>.<n>/          0700; made as ".new..." and renamed when complete
 *         session                         this file's structures; the process holds a POSIX lock on it while it lives
 *         ring.0, ring.1 ...              ring/ring.h
 *
 * The session file is sparse with fixed places for its parts, so that it grows without moving:
 *
 *     0          struct ct_session_head
 *     1 MiB      struct ct_component_entry [CT_COMPONENT_LIMIT]
 *     64 MiB     texts: names, paths, settings; appended, never changed
 *
 * Words that several processes touch are listed in docs/CONCURRENCY.md.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_H
#define CT_SESSION_H

#include "base/base.h"
#include <ctrace/ctrace.h>
#include <ctrace/emitter.h>

#define CT_SESSION_MAGIC 0x4E4F495353455343u /* "CSESSION" */
#define CT_SESSION_VERSION 2u
#define CT_COMPONENT_LIMIT 1048576u
#define CT_SESSION_COMPONENTS (1u << 20)
#define CT_SESSION_TEXTS (64u << 20)
#define CT_SESSION_SIZE (256u << 20)
#define CT_DEST_LIMIT 32u
#define CT_RING_LIMIT 4096u

/* A text in the session: offset from CT_SESSION_TEXTS << 16 | size.  0: none. */
typedef uint64_t ct_text;

struct ct_component_entry {
	struct ctrace_gate gate;
	uint32_t dests;  /* resolved: bit n = emitter n of the process */
	uint32_t parent; /* index, or CT_COMPONENT_NONE */
	ct_text name;    /* 0 until registered or configured; replaced by the first registration's spelling */
	uint32_t flags;
	uint32_t writer;    /* number of its external writer, from 1; 0: none */
	uint64_t delivered; /* events that its first destination, or its writer, has; who delivers adds */
	uint64_t bytes;     /* of these, in the ring */
};
#define CT_COMPONENT_NONE 0xFFFFFFFFu
#define CT_COMPONENT_REGISTERED 1u /* by a tracer */
#define CT_COMPONENT_DEFINED 2u    /* by component trace */
#define CT_COMPONENT_KNOWN 3u      /* by either; otherwise it is only configured, or a parent of something */
#define CT_COMPONENT_HIDDEN 4u     /* neither, and nothing but component trace has made it: deleted, or never defined after all */

/* A destination's state.  The drain writes slot[(sequence + 1) & 1], then publishes sequence + 1: one store commits a batch. */
struct ct_dest_slot {
	uint64_t offset;
	uint64_t extra;
	uint64_t delivered; /* events */
	char path[CTRACE_EMITTER_PATH_SIZE];
};
struct ct_dest {
	uint64_t sequence;
	struct ct_dest_slot slot[2];
	char emitter[32];  /* "" : unused */
	ct_text settings;  /* "NAME=value\n" of every property the user set; in values \ is "\\" and newline "\n" */
	uint32_t active;   /* some component delivers here */
	uint32_t failing;  /* errno of the present failure, 0 when it works */
	uint64_t failures; /* incidents */
	uint64_t reserved[3];
};

/*
 * An external writer that some component is connected to.  It has the destinations `slots`: base | count << 8, one a TRCOUT; 0 while it is
 * not connected.  While it is, it holds the lock of CT_SESSION_LOCK_WRITER + its number on the session file: so everybody sees whether it lives.
 */
#define CT_WRITER_LIMIT 16u /* numbers 1 to 15 */
#define CT_WRITER_SLOT 16u  /* destinations from here on are writers' */
struct ct_session_writer {
	char name[16]; /* "": unused; never changed */
	uint32_t slots;
	uint32_t pid;
	uint64_t connects; /* times */
};
#define CT_SESSION_LOCK_ALIVE 0u /* bytes of the session file that locks are on */
#define CT_SESSION_LOCK_WRITER 16u

struct ct_session_head {
	uint64_t magic;
	uint32_t version;
	uint32_t abi;
	uint32_t pid;
	uint32_t uid;
	uint32_t asid;
	uint32_t reserved;
	uint64_t start_ns;
	char boot_id[40];
	char jobname[16];
	char host[256];
	char program[256];
	char system[128];
	ct_text command_line;
	ct_text working_folder;
	ct_text log_folder; /* MFTRACE_LOGS */
	uint32_t component_count;
	uint32_t ring_count;
	uint64_t texts_size;
	uint64_t lost[CTRACE_LOSS_COUNT]; /* of events that never reached a ring */
	uint32_t flight_at_death;  /* ctrace.flight.trigger = signal: what the flight rings hold is delivered after a sudden death */
	uint32_t flight_wanted;    /* the trigger was pulled: deliver what the flight rings hold; the pass that does clears it */
	uint64_t control_refused;  /* connections of other users */
	uint64_t control_requests; /* answered */
	struct ct_sync sync;
	struct ct_session_writer writer[CT_WRITER_LIMIT];
	struct ct_dest dest[CT_DEST_LIMIT];
};

/* A session in memory: mapped (our own) or copied with pread (somebody else's, who may truncate it under us). */
struct ct_session {
	struct ct_session_head *head;
	struct ct_component_entry *components;
	const char *texts;
	size_t texts_capacity; /* bytes that may be read at texts */
	bool is_mapped;
	int folder_fd; /* -1: private, in memory only (no run directory) */
	int file_fd;
	struct ct_file_id folder_id;   /* what the two were opened for: programs close descriptors that are not theirs, */
	struct ct_file_id file_id;     /* and get the same numbers for files of their own */
	char folder[256];              /* "1234.0"; "" when private */
	char path[4096];               /* absolute folder path; "" when private */
	uint64_t components_allocated; /* bytes with real blocks behind them */
	uint64_t texts_allocated;
};

/* ---- folder.c: the run directory */
/* The run directory's path (CTRACE_RUN_DIR, /run/ctrace, XDG_RUNTIME_DIR/ctrace, /tmp/ctrace-<uid>), made when missing.  DENIED when
 * it is a link, another user's, or others may write to it.  configured: ctrace.run_dir, or NULL. */
enum ctrace_status ct_folder_run_directory(const char *configured, char out_path[4096]) CT_MUST_USE;
/* Every run directory that this user may look into (root: those of all users), without making any. */
void ct_folder_each_run_directory(void (*each)(const char *path, void *user), void *user);
/* Each traced process's folder in a run directory. */
struct ct_folder_entry {
	const char *run_directory;
	const char *name;
	uint32_t pid;
	uint32_t uid;
	bool is_alive; /* its process holds the lock */
};
void ct_folder_each(const char *run_directory, void (*each)(const struct ct_folder_entry *entry, void *user), void *user);
/* Removes a folder and the files ctrace made in it. */
void ct_folder_remove(const char *run_directory, const char *name);

/* ---- session_make.c: this process's own */
/* Makes this process's session: a folder in run_directory, or private memory when it is NULL or cannot be made. */
enum ctrace_status ct_session_create(struct ct_session *session, const char *run_directory) CT_MUST_USE;
/* In a forked child: puts a session of its own, with the same content, at the same addresses. */
enum ctrace_status ct_session_fork(struct ct_session *session, const char *run_directory) CT_MUST_USE;

/* ---- session.c */
void ct_session_close(struct ct_session *session, bool remove_folder);
/* Is this the folder of the calling process itself?  Its session file must never be opened a second time: closing it would drop the
 * process's lock. */
bool ct_session_is_own(const char *run_directory, const char *name);
/* The folder, for making a ring in it; -1 when it cannot be reached any more.  Under the pool's lock. */
int ct_session_folder(struct ct_session *session);
/* Makes room for component index; then its entry may be written. */
enum ctrace_status ct_session_add_component(struct ct_session *session, uint32_t index) CT_MUST_USE;
enum ctrace_status ct_session_add_text(struct ct_session *session, const char *text, size_t size, ct_text *out_text) CT_MUST_USE;
/* The text, terminated, and its size; "" and 0 for 0 or what is out of bounds. */
const char *ct_session_text(const struct ct_session *session, ct_text text, size_t *out_size);
/* The slot in force of a destination. */
struct ct_dest_slot *ct_dest_current(struct ct_dest *dest);

/* ---- session_load.c: somebody else's */
/* Copies somebody else's.  want_lock: also takes its lock, and fails with TIMED_OUT when its process is alive or another one is
 * recovering it.  Everything in the copy is within bounds; DAMAGED when that cannot be had. */
enum ctrace_status ct_session_load(struct ct_session *session, const char *run_directory, const char *name, bool want_lock) CT_MUST_USE;
/* Who somebody else is, from the head of its file alone, without a lock.  jobname: terminated, whatever is in the file. */
enum ctrace_status ct_session_identify(const char *run_directory, const char *name, uint32_t *out_asid,
				       char out_jobname[16]) CT_MUST_USE;
/* Writes a changed part of the head of a loaded copy back to the file; nothing to do for a mapped one. */
enum ctrace_status ct_session_persist(struct ct_session *session, const void *part, size_t size) CT_MUST_USE;
/* Maps that of a live process of the same user, whose folder is open at `folder` (taken over, whatever the answer is), for external writer
 * number `writer` of it, whose lock it takes until it is closed.  DENIED;
 * UNSUPPORTED; DAMAGED; TIMED_OUT: that writer lives already. */
enum ctrace_status ct_session_map(struct ct_session *session, int folder, uint32_t writer) CT_MUST_USE;
/* Does external writer number `writer` of the process hold its lock? */
bool ct_session_writer_lives(struct ct_session *session, uint32_t writer);

#endif
