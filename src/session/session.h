/*
 * session/session.h - what one traced process leaves in the run directory for operators, readers
 * and recoverers.
 *
 *     <run directory>/<pid>.<n>/          0700; made as ".new..." and renamed when complete
 *         session                         this file's structures; the process holds a POSIX lock on
 * it while it lives ring.0, ring.1 ...              lib/ring/ring.h
 *
 * The session file is sparse, and its parts never move when it grows.  The head says where they are
 * (struct ct_session_layout):
 *
 *                     components at   classes at   texts at   size
 *     no limit        1 MiB           63 MiB       64 MiB     256 MiB     room for
 * CT_COMPONENT_LIMIT components RLIMIT_FSIZE    behind the head, a quarter of the rest, a
 * sixteenth, up to the limit
 *
 *     0               struct ct_session_head
 *     CT_SESSION_PATHS  struct ct_dest_paths [CT_DEST_LIMIT]: blocks only for the destinations in
 * has_paths components_at   struct ct_component_entry [ct_session_component_limit()] classes_at
 * struct ct_class_table: what the events of its rings are texts_at        texts: names, paths,
 * settings; appended, never changed
 *
 * Words that several processes touch are listed in docs/CONCURRENCY.md.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_H
#define CT_SESSION_H

#include "format/format.h"
#include <ctrace/ctrace.h>
#include <ctrace/emitter.h>

#define CT_SESSION_MAGIC 0x4E4F495353455343u /* "CSESSION" */
#define CT_SESSION_VERSION 9u
#define CT_COMPONENT_LIMIT 1048576u
#define CT_SESSION_COMPONENTS (1u << 20) /* the layout where nothing limits the size of a file */
#define CT_SESSION_CLASSES (63u << 20)
#define CT_SESSION_TEXTS (64u << 20)
#define CT_SESSION_SIZE (256u << 20) /* and the largest there is */
#define CT_DEST_LIMIT 32u
#define CT_RING_LIMIT 4096u

/* A text in the session: offset from the start of the texts << 16 | size.  0: none. */
typedef uint64_t ct_text;

#define CT_LEVEL_UNSET 0xFFFFFFFEu /* own level: the parent's counts */
struct ct_component_entry {
	struct ctrace_level_word level_word;
	uint32_t dests;  /* resolved: bit n = emitter n of the process */
	uint32_t parent; /* index, or CT_COMPONENT_NONE */
	/* 0 until registered or configured; replaced by the first registration's spelling */
	ct_text name;
	uint32_t flags;
	uint32_t writer; /* number of its external writer, from 1; 0: none */
	/* events that its first destination, or its writer, has; who delivers adds */
	uint64_t delivered;
	uint64_t bytes; /* of these, in the ring */
};
#define CT_COMPONENT_NONE 0xFFFFFFFFu
#define CT_COMPONENT_REGISTERED 1u /* by a tracer */
#define CT_COMPONENT_DEFINED 2u    /* by component trace */
/* by either; otherwise it is only configured, or a parent of something */
#define CT_COMPONENT_KNOWN 3u
/* neither, and nothing but component trace has made it: deleted, or never defined after all */
#define CT_COMPONENT_HIDDEN 4u

/* A destination's state.  The consumer writes slot[(sequence + 1) & 1], then publishes sequence +
 * 1: one store commits a batch. */
struct ct_dest_slot {
	uint64_t offset;
	uint64_t extra;
	uint64_t delivered; /* events */
	uint64_t lost;      /* events that were in a ring, and that this destination did not get */
	uint64_t announced; /* losses of all kinds that its output tells of */
};
/* Where the output of each slot is; "": it has none.  Apart from the slots: nearly all destinations
 * never have one. */
struct ct_dest_paths {
	char at[2][CTRACE_EMITTER_PATH_SIZE];
};
struct ct_dest {
	uint64_t sequence;
	struct ct_dest_slot slot[2];
	char emitter[32]; /* "" : unused */
	/* "NAME=value\n" of every property the user set; in values \ is "\\" and newline "\n" */
	ct_text settings;
	uint32_t active;   /* some component delivers here */
	uint32_t failing;  /* errno of the present failure, 0 when it works */
	uint64_t failures; /* incidents */
	/* events for it that never were in a ring, by reason; traced threads add */
	uint64_t lost[CTRACE_LOSS_COUNT];
	/* wall clock; the call into the emitter that has not returned began then; 0: none */
	uint64_t stuck_since_ns;
	uint64_t directory_device; /* of the directory that its path is in; 0: not known */
	uint64_t directory_inode;
	/* what the present failure is about, its end when it is longer; "": its path, or not known
	 */
	char failing_at[256];
};

/*
 * An external writer that some component is connected to.  It has the destinations `slots`: base |
 * count << 8, one a TRCOUT; 0 while it is not connected.  While it is, it holds the lock of
 * CT_SESSION_LOCK_WRITER + its number on the session file: so everybody sees whether it lives.
 */
#define CT_WRITER_LIMIT 16u          /* numbers 1 to 15 */
#define CT_WRITER_SLOT 16u           /* destinations from here on are writers' */
#define CT_WRITER_DIRECTORY "writer" /* in a run directory: NAME (the socket), NAME.log */
struct ct_session_writer {
	char name[16]; /* "": unused; never changed */
	uint32_t slots;
	uint32_t pid;
	uint64_t connects; /* times */
};
#define CT_SESSION_LOCK_ALIVE 0u /* bytes of the session file that locks are on */
#define CT_SESSION_LOCK_WRITER 16u

/* Where the parts of a session file are.  Chosen when the file is made, never changed. */
struct ct_session_layout {
	uint64_t components_at;
	uint64_t classes_at; /* the components end here */
	uint64_t texts_at;   /* the classes end here */
	uint64_t size;       /* of the file, and of its mapping */
};

/* Where a ring's bytes are. */
enum ct_ring_place {
	CT_RING_IN_DIRECTORY = 0, /* a file beside the session */
	/* memory of the process alone: there was no room for a file.  It dies with the process */
	CT_RING_PRIVATE = 1,
	CT_RING_IN_ANNEX = 2, /* a file in annex number place - CT_RING_IN_ANNEX */
	/* in the session alone: it was private, and the process counted what it held when it ended
	 */
	CT_RING_SETTLED = 255,
};

/* A second directory of a process that is another user by now, in a run directory of that user
 * (annex.c). */
#define CT_ANNEX_LIMIT 4u
struct ct_session_annex {
	uint32_t uid; /* its owner */
	uint32_t reserved;
	char path[248]; /* "": unused */
};

/* Where paths lead: two processes for which all of it is equal mean the same file by the same path.
 * 0: not known. */
struct ct_session_place {
	uint64_t root_device;
	uint64_t root_inode;
	uint64_t mount_space; /* inode of /proc/self/ns/mnt */
	uint64_t process_space;
};

/* The configuration file, as it was read last. */
struct ct_session_config {
	ct_text path;              /* absolute; 0: there is none */
	uint32_t error;            /* errno of why it could not be read; 0: it was */
	uint32_t diagnostics;      /* lines that were not understood */
	uint32_t first_diagnostic; /* the line of the first */
	/* the line of mftrace.application that names another program; 0: none */
	uint32_t stopped_at;
	uint64_t keep_ns; /* ctrace.keep: how long recovering is tried */
};
#define CT_SESSION_KEEP_NS 604800000000000u /* 7 days */

struct ct_session_head {
	uint64_t magic;
	uint32_t version;
	uint32_t abi;
	uint32_t pid;
	uint32_t uid;
	uint32_t asid;
	uint32_t reserved;
	uint64_t start_ns;
	struct ct_session_layout layout;
	struct ct_session_place place; /* where its paths lead from */
	/* clock ticks since the boot: with the pid it names the process.  0: not known */
	uint64_t process_start;
	char boot_id[40];
	char jobname[16];
	char host[256];
	char program[256];
	char system[128];
	ct_text command_line;
	ct_text working_directory;
	ct_text log_directory; /* MFTRACE_LOGS */
	uint32_t component_count;
	uint32_t ring_count;
	uint64_t texts_size;
	uint64_t lost[CTRACE_LOSS_COUNT]; /* of events that no ring counts */
	/* of these, events of no known component: every destination announces them */
	uint64_t lost_to_all[CTRACE_LOSS_COUNT];
	/* ctrace.flight.trigger = signal: what the flight rings hold is delivered after a sudden
	 * death */
	uint32_t flight_at_death;
	/* the trigger was pulled: deliver what the flight rings hold; the pass that does clears it
	 */
	uint32_t flight_wanted;
	uint64_t control_refused;  /* connections of other users */
	uint64_t control_requests; /* answered */
	/* wall clock: recovering failed; a guest does not try again before */
	uint64_t recover_at_ns;
	uint64_t recover_tries;
	uint64_t recover_first_ns; /* wall clock: the first of these failed */
	struct ct_session_config config;
	struct ct_shared_sync sync;
	uint32_t has_paths; /* destinations whose paths have blocks */
	uint32_t reserved_paths;
	struct ct_session_writer writer[CT_WRITER_LIMIT];
	struct ct_dest dest[CT_DEST_LIMIT];
	struct ct_session_annex annex[CT_ANNEX_LIMIT];
	uint8_t ring_place[CT_RING_LIMIT]; /* enum ct_ring_place, of the rings below ring_count */
	/* Raised when a ring's `consumer` or `wanted` changes, and when a thread goes on in another
	 * ring.  Each pass loads it.  It is at the end, so that an external writer's next pass
	 * notices when somebody has cut the file. */
	uint32_t ring_moves;
};
#define CT_SESSION_PATHS CT_ALIGN_UP((uint64_t)sizeof(struct ct_session_head), 4096u)
#define CT_SESSION_PATHS_SIZE ((uint64_t)CT_DEST_LIMIT * sizeof(struct ct_dest_paths))

/* A session in memory: mapped (our own) or copied with pread (somebody else's, who may truncate it
 * under us). */
struct ct_session {
	struct ct_session_head *head;
	struct ct_session_layout layout; /* read from the head once, and checked */
	struct ct_dest_paths *paths;     /* use ct_dest_path() */
	struct ct_component_entry *components;
	struct ct_class_table *classes; /* of a copy: no longer than classes_size */
	size_t classes_size;
	const char *texts;
	size_t texts_capacity; /* bytes that may be read at texts */
	bool is_mapped;
	bool has_lock;    /* of a dead process, which we recover */
	int directory_fd; /* -1: private, in memory only (no run directory) */
	int file_fd;
	/* what the two were opened for: programs close descriptors that are not theirs, */
	struct ct_file_id directory_id;
	struct ct_file_id file_id; /* and get the same numbers for files of their own */
	struct ct_world world;     /* of our own: in which the head's place was noted */
	char directory[256];       /* "1234.0"; "" when private */
	char path[4096];           /* absolute directory path; "" when private */
	/* of our own: that of the head goes on while a forked child still maps it */
	uint32_t component_count;
	uint64_t components_allocated; /* bytes with real blocks behind them */
	uint64_t classes_allocated;
	uint64_t texts_allocated;
	uint32_t paths_allocated; /* destinations whose paths this process has made room for */
};

/* ---- directory.c: the run directory */
/* The run directory's path (CTRACE_RUN_DIR, /run/ctrace, XDG_RUNTIME_DIR/ctrace,
 * /tmp/ctrace-<uid>), made when missing.  DENIED when it is a link, another user's, or others may
 * write to it.  configured: ctrace.run_dir, or NULL. */
enum ctrace_status ct_directory_run_directory(const char *configured,
					      char out_path[4096]) CT_MUST_USE;
/* Every run directory that this user may look into (root: those of all users), without making any.
 */
void ct_directory_each_run_directory(void (*each)(const char *path, void *user), void *user);
/* Those that the present user would have, and that are there and refused; why is a sentence's part:
 * "it is a symbolic link". */
#define CT_DIRECTORY_WHY_SIZE 100
typedef void ct_directory_refused(const char *path, const char *why, void *user);
void ct_directory_each_refused(ct_directory_refused *each, void *user);
/* Each traced process's directory in a run directory, the one that was changed last at the end. */
struct ct_directory_entry {
	const char *run_directory;
	const char *name;
	uint32_t pid;
	uint32_t uid;
	bool is_alive; /* its process holds the lock; a recoverer that does so does not count */
};
void ct_directory_each(const char *run_directory,
		       void (*each)(const struct ct_directory_entry *entry, void *user),
		       void *user);
/* Why a directory cannot be loaded, where its files show it; else the status's own text.  Gives
 * out_why or a constant. */
const char *ct_directory_explain(const char *run_directory, const char *name,
				 enum ctrace_status status,
				 char out_why[CT_DIRECTORY_WHY_SIZE]) CT_MUST_USE;
/* Removes a directory and the files ctrace made in it; that of this process's own session, by what
 * is known to be there. */
void ct_directory_remove(const char *run_directory, const char *name);
void ct_directory_remove_own(struct ct_session *session);
/* A run directory that the present user may write to: the one that was asked for, if it is the
 * user's, else the user's own. */
enum ctrace_status ct_directory_of_user(char out_path[4096]) CT_MUST_USE;

/* ---- annex.c: for rings of a process that may not write to its directory any more.  Under the
 * pool's lock, and in recoverers. */
/* The annex of the present user, made and noted in the head when there is none; -1: there can be
 * none.  The caller closes it. */
int ct_annex_make(struct ct_session *session, uint32_t *out_number);
/* The annex of somebody's copy; -1 when it is not there, or not that user's alone.  The caller
 * closes it. */
int ct_annex_open(const struct ct_session_head *head, uint32_t number);
/* Removes all annexes of a session that is gone. */
void ct_annex_remove_all(const struct ct_session_head *head);
/* Removes one whose session is gone; leaves it where that cannot be seen. */
void ct_annex_remove_abandoned(int run_fd, const char *name);

/* ---- place.c: name spaces, roots and lives of processes */
struct ct_session_place ct_place_here(void);
uint64_t ct_place_process_space(void); /* of it, the inode of /proc/self/ns/pid; 0: not known */
/* What one read of a file of the kernel gives, terminated; "" when there is none.  A second one
 * would make the kernel print all again. */
size_t ct_place_read(const char *path, char *out, size_t size);
void ct_place_boot(char out[40]); /* the number of this boot, as text */
/* Notes in the session where its paths lead from, and where destination `index`, which has just got
 * one, is. */
void ct_place_note(struct ct_session *session, uint32_t index);
/* Do the paths in somebody's copy lead to the same places for us? */
bool ct_place_is_here(const struct ct_session *session);
/* When the process began, in clock ticks since the boot; 0 when that cannot be seen. */
uint64_t ct_place_process_start(uint32_t pid);

/* ---- session_make.c: this process's own */
/* Makes this process's session: a directory in run_directory, or private memory when it is NULL or
 * cannot be made. */
enum ctrace_status ct_session_create(struct ct_session *session,
				     const char *run_directory) CT_MUST_USE;
/* In a forked child: puts a session of its own at the same addresses, with the components that
 * there were at the fork. */
enum ctrace_status ct_session_fork(struct ct_session *session,
				   const char *run_directory) CT_MUST_USE;

/* ---- session_keep.c: what keeps a live process's files.  On the consumer thread. */
/* Refreshes the times of all its files, which cleaners of temporary directories look at.  Opens and
 * locks the session again when the program has closed it.  Once an hour is enough. */
void ct_session_touch(struct ct_session *session);
/* Makes the session file as long as it was, where somebody has cut it: a store beyond its end
 * would kill the program.  What was in the cut part is gone.  True when that had to be done. */
bool ct_session_heal(struct ct_session *session);

/* ---- session_layout.c */
/* The layout of a file of at most `limit` bytes; size 0 when not even the least fits. */
struct ct_session_layout ct_session_layout_for(uint64_t limit);
/* Are the parts in order, page by page, within CT_SESSION_SIZE, with room for the head? */
bool ct_session_layout_holds(const struct ct_session_layout *layout);
/* How many components there is room for. */
uint32_t ct_session_component_limit(const struct ct_session_layout *layout);

/* ---- session.c */
void ct_session_close(struct ct_session *session, bool remove_directory);
/* Is this the directory of the calling process itself?  Its session file must never be opened a
 * second time: closing it would drop the process's lock. */
bool ct_session_is_own(const char *run_directory, const char *name);
/* The directory, for making a ring in it; -1 when it cannot be reached any more.  Under the pool's
 * lock. */
int ct_session_directory(struct ct_session *session);
/* Makes room for the component of this index: its entry may be written, and no reader looks at it
 * yet. */
enum ctrace_status ct_session_reserve_component(struct ct_session *session,
						uint32_t index) CT_MUST_USE;
/* The entry is complete: readers may find it. */
void ct_session_commit_component(struct ct_session *session, uint32_t index);
/* Makes room for more classes, as far as there can be more.  Under the registry's lock, as the
 * others that add. */
void ct_session_add_classes(struct ct_session *session);
/* The classes, for reading events. */
struct ct_class_view ct_session_classes(const struct ct_session *session);
enum ctrace_status ct_session_add_text(struct ct_session *session, const char *text, size_t size,
				       ct_text *out_text) CT_MUST_USE;
/* The text, terminated, and its size; "" and 0 for 0 or what is out of bounds. */
const char *ct_session_text(const struct ct_session *session, ct_text text, size_t *out_size);
/* The slot in force of a destination. */
struct ct_dest_slot *ct_dest_current(struct ct_dest *dest);
/* The path in force of destination `index`; "" when it has none.  Terminated in a copy. */
const char *ct_dest_path(const struct ct_session *session, uint32_t index);
/* Stores the path that its next slot is to have, which counts as soon as that slot does.  Makes
 * room for it first: OS_ERROR when the run directory is full.  On the thread that writes the slot.
 */
enum ctrace_status ct_dest_put_path(struct ct_session *session, uint32_t index,
				    const char *path) CT_MUST_USE;

/* ---- session_load.c: somebody else's */
/* Copies somebody else's.  want_lock: also takes its lock, and fails with TIMED_OUT when its
 * process is alive or another one is recovering it, this process included; with NOT_FOUND when
 * another one has just removed it.  Everything in the copy is within bounds; DAMAGED when that
 * cannot be had. */
enum ctrace_status ct_session_load(struct ct_session *session, const char *run_directory,
				   const char *name, bool want_lock) CT_MUST_USE;
/* In a forked child: closes the descriptors of sessions that the parent has locked; otherwise the
 * child would keep the locks. */
void ct_session_forget_loaded(void);
/* Who somebody else is, from the head of its file alone, without a lock.  jobname: terminated,
 * whatever is in the file. */
enum ctrace_status ct_session_identify(const char *run_directory, const char *name,
				       uint32_t *out_asid, char out_jobname[16]) CT_MUST_USE;
/* Copies the classes again: of a live process there may be more by now, and one that was incomplete
 * may be complete.  False when they could not be read. */
bool ct_session_load_classes(struct ct_session *session);
/* Writes a changed part of the head, or of the paths, of a loaded copy back to the file; nothing to
 * do for a mapped one. */
enum ctrace_status ct_session_persist(struct ct_session *session, const void *part,
				      size_t size) CT_MUST_USE;
/* Maps that of a live process of the same user, whose directory is open at `directory` (taken over,
 * whatever the answer is), for external writer number `writer` of it, whose lock it takes until it
 * is closed.  DENIED; UNSUPPORTED; DAMAGED; TIMED_OUT: that writer lives already. */
enum ctrace_status ct_session_map(struct ct_session *session, int directory,
				  uint32_t writer) CT_MUST_USE;
/* Does external writer number `writer` of the process hold its lock? */
bool ct_session_writer_lives(struct ct_session *session, uint32_t writer);

#endif
