/*
 * session/session.h - the files that one traced process leaves in the run directory, for operators,
 * readers and recoverers.
 *
 *     <run directory>/<pid>.<n>/    0700; made as ".new..." and renamed when complete
 *         session                   the structures below; the live process holds a POSIX lock on it
 *         ring.0, ring.1 ...        lib/ring/ring.h
 *
 * The session file is sparse, and its parts never move when it grows.  The head has their positions
 * (struct ct_session_layout):
 *
 *                       no limit   under RLIMIT_FSIZE, or a 32nd of RLIMIT_AS
 *     components at     1 MiB      behind the head
 *     classes at        63 MiB     behind a quarter of the rest
 *     texts at          64 MiB     behind another sixteenth
 *     size              256 MiB    up to the limit
 *     components        CT_COMPONENT_LIMIT, or as many as fit
 *
 *     0                 struct ct_session_head
 *     CT_SESSION_PATHS  struct ct_dest_paths [CT_DEST_LIMIT]; only those in has_paths are used
 *     components_at     struct ct_component_entry [ct_session_component_limit()]
 *     classes_at        struct ct_class_table: the classes of the events in the rings
 *     texts_at          names, paths, settings; appended, never changed
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
#define CT_SESSION_VERSION 12u
#define CT_COMPONENT_LIMIT 1048576u
#define CT_SESSION_COMPONENTS (1u << 20) /* the layout where nothing limits the size of a file */
#define CT_SESSION_CLASSES (63u << 20)
#define CT_SESSION_TEXTS (64u << 20)
#define CT_SESSION_SIZE (256u << 20) /* and the largest there is */
#define CT_DEST_LIMIT 32u
#define CT_RING_LIMIT 4096u

/* A text in the session: its offset from the start of the texts << 16 | its size. 0: none. */
typedef uint64_t ct_text;

#define CT_LEVEL_UNSET 0xFFFFFFFEu /* own level: none, the parent's level counts */
struct ct_component_entry {
	struct ctrace_level_word level_word;
	uint32_t dests;  /* resolved: bit n = emitter n of the process */
	uint32_t parent; /* index, or CT_COMPONENT_NONE */
	/* 0 until registered or configured; replaced by the first registration's spelling */
	ct_text name;
	uint32_t flags;
	uint32_t writer; /* number of its external writer, from 1; 0: none */
	/* events that its first destination, or its writer, has; the deliverer adds */
	uint64_t delivered;
	uint64_t bytes; /* of these events, in the ring */
};
#define CT_COMPONENT_NONE 0xFFFFFFFFu
#define CT_COMPONENT_REGISTERED 1u /* by a tracer */
#define CT_COMPONENT_DEFINED 2u    /* by component trace */
/* by either; others are only configured, or the parent of some component */
#define CT_COMPONENT_KNOWN 3u
/* neither; only component trace made it, and deleted it or never defined it */
#define CT_COMPONENT_HIDDEN 4u
/* a struct ctrace_definition is behind the terminator of its name */
#define CT_COMPONENT_DESCRIBED 8u

/* A destination's state.  The consumer writes slot[(sequence + 1) & 1], then publishes sequence +
 * 1: one store commits a batch. */
struct ct_dest_slot {
	uint64_t offset;
	uint64_t extra;
	uint64_t delivered; /* events */
	uint64_t lost;      /* events that were in a ring and did not reach this destination */
	uint64_t announced; /* losses of all kinds that its output reports */
};
/* The output path of each slot; "": none.  It is not in the slot because few destinations ever have
 * a path. */
struct ct_dest_paths {
	char at[2][CTRACE_EMITTER_PATH_SIZE];
};
struct ct_dest {
	uint64_t sequence;
	struct ct_dest_slot slot[2];
	char emitter[32]; /* "" : unused */
	/* "NAME=value\n" of every property the user set; in values \ is "\\" and newline "\n" */
	ct_text settings;
	uint32_t active;   /* some component delivers to it */
	uint32_t failing;  /* errno of the present failure, 0 when it works */
	uint64_t failures; /* incidents */
	/* events for it that never entered a ring, by reason; traced threads add */
	uint64_t lost[CTRACE_LOSS_COUNT];
	/* wall clock: start of a call into the emitter that has not returned; 0: none */
	uint64_t stuck_since_ns;
	uint64_t directory_device; /* of the directory of its path; 0: not known */
	uint64_t directory_inode;
	/* the subject of the present failure, or the end of a long one; "": its path, or not
	 * known */
	char failing_at[256];
};
/* Returns true when failing_at has the reason too: errno's text would be a second one. */
static inline bool ct_dest_text_has_reason(const char *failing_at)
{
	return failing_at[0] != '/' && strstr(failing_at, ": ") != NULL;
}

/*
 * An external writer that some component is connected to.  `slots` are its destinations, one a
 * TRCOUT: base | count << 8; 0 while it is not connected.  A connected writer locks byte
 * CT_SESSION_LOCK_WRITER + its number of the session file, so every process sees whether it lives.
 */
#define CT_WRITER_LIMIT 16u          /* numbers 1 to 15 */
#define CT_WRITER_SLOT 16u           /* destinations from here on are writers' */
#define CT_WRITER_DIRECTORY "writer" /* in a run directory: NAME (the socket), NAME.log */
struct ct_session_writer {
	char name[16]; /* "": unused; never changed */
	uint32_t slots;
	/* The number of the connection that the process has accepted.  A writer consumes nothing
	 * over any other connection: the process may have offered the same destinations to another
	 * writer. */
	uint32_t connection;
};
#define CT_SESSION_LOCK_ALIVE 0u /* bytes of the session file that are locked */
#define CT_SESSION_LOCK_WRITER 16u

/* Positions of the parts of a session file.  Chosen when the file is made, never changed. */
struct ct_session_layout {
	uint64_t components_at;
	uint64_t classes_at; /* the components end here */
	uint64_t texts_at;   /* the classes end here */
	uint64_t size;       /* of the file, and of its mapping */
};

/* The memory of a ring. */
enum ct_ring_place {
	CT_RING_IN_DIRECTORY = 0, /* a file beside the session */
	/* private memory, for lack of room for a file; it is lost with the process */
	CT_RING_PRIVATE = 1,
	CT_RING_IN_ANNEX = 2, /* a file in annex number place - CT_RING_IN_ANNEX */
	/* none: the ring was private, and the process counted its events when it ended */
	CT_RING_SETTLED = 255,
};

/* A second directory of a process that has changed its user, in a run directory of the new user
 * (annex.c). */
#define CT_ANNEX_LIMIT 4u
struct ct_session_annex {
	uint32_t uid; /* its owner */
	uint32_t reserved;
	char path[248]; /* "": unused */
};

/* Where paths lead.  A path names the same file for two processes if all members are equal. 0: not
 * known. */
struct ct_session_place {
	uint64_t root_device;
	uint64_t root_inode;
	uint64_t mount_space; /* inode of /proc/self/ns/mnt */
	uint64_t process_space;
};

/* The configuration file, as last read. */
struct ct_session_config {
	ct_text path;              /* absolute; 0: there is none */
	uint32_t error;            /* errno of a failed read; 0: the file was read */
	uint32_t diagnostics;      /* number of lines that were not understood */
	uint32_t first_diagnostic; /* the line of the first */
	/* the line of mftrace.application that names another program; 0: none */
	uint32_t stopped_at;
	uint64_t keep_ns; /* ctrace.keep: for how long recovery is tried */
};
/* Whether a thread answers operators. */
enum ct_dormant { CT_AWAKE = 0, CT_DORMANT = 1, CT_ATTACHING = 2 /* not yet */ };
#define CT_SESSION_KEEP_NS 604800000000000u /* 7 days */

struct ct_session_head {
	uint64_t magic;
	uint32_t version;
	uint32_t abi;
	uint32_t pid;
	uint32_t uid;
	uint32_t asid;    /* 0: none yet (number.c) */
	uint32_t was_cut; /* 1: somebody truncated the file (session_keep.c) */
	uint64_t start_ns;
	struct ct_session_layout layout;
	struct ct_session_place place; /* from where its paths lead */
	/* clock ticks since the boot; identifies the process together with the pid. 0: not known */
	uint64_t process_start;
	char boot_id[40];
	char jobname[16];
	char host[256];
	char program[256];
	char system[128];
	ct_text command_line;
	ct_text working_directory; /* absolute; 0: it was removed, or its path is too long */
	ct_text log_directory;     /* MFTRACE_LOGS */
	uint32_t component_count;
	uint32_t ring_count;
	uint64_t texts_size;
	uint64_t lost[CTRACE_LOSS_COUNT]; /* events that no ring counts */
	/* of these, events whose component is not known: every destination announces them */
	uint64_t lost_to_all[CTRACE_LOSS_COUNT];
	/* ctrace.flight.trigger = signal: the flight rings are delivered after a sudden death */
	uint32_t flight_at_death;
	/* the trigger was pulled: the next pass delivers the flight rings and clears this */
	uint32_t flight_wanted;
	uint64_t control_refused;  /* refused connections, of other users */
	uint64_t control_requests; /* answered requests */
	/* larger rings that a traced thread had to make itself: none was ready */
	uint64_t late_rings;
	/* wall clock: recovery failed; a guest does not try again before */
	uint64_t recover_at_ns;
	uint64_t recover_tries;
	uint64_t recover_first_ns; /* wall clock: the first failed try */
	/* wall clock: recovery has delivered everything but the events in storage; 0: not yet */
	uint64_t storage_ns;
	struct ct_session_config config;
	/* The level word of every tracer while the process is dormant.  Its level is NONE until an
	 * operator rings (bell.c), or the process wakes.  Then it is 0, for ever. */
	struct ctrace_level_word bell;
	uint32_t is_dormant; /* enum ct_dormant, atomic */
	uint32_t reserved_bell;
	struct ct_shared_sync sync;
	uint32_t has_paths; /* bit n: the paths of destination n have blocks */
	uint32_t reserved_paths;
	struct ct_session_writer writer[CT_WRITER_LIMIT];
	struct ct_dest dest[CT_DEST_LIMIT];
	struct ct_session_annex annex[CT_ANNEX_LIMIT];
	uint8_t ring_place[CT_RING_LIMIT]; /* enum ct_ring_place, of the rings below ring_count */
	/* Raised when a ring's `consumer` or `wanted` changes, and when a thread continues in
	 * another ring.  Each pass loads it.  It is the last member, so an external writer's next
	 * pass notices when somebody has cut the file. */
	uint32_t ring_moves;
};
#define CT_SESSION_PATHS CT_ALIGN_UP((uint64_t)sizeof(struct ct_session_head), 4096u)
#define CT_SESSION_PATHS_SIZE ((uint64_t)CT_DEST_LIMIT * sizeof(struct ct_dest_paths))
/* The first ones, TEXTFILE's and BINFILE's, have their blocks from the start: without a place no
 * destination delivers, and the run directory may be full when a dormant process wakes. */
#define CT_SESSION_HEAD_BLOCKS (CT_SESSION_PATHS + 2 * sizeof(struct ct_dest_paths))

/* A session in memory.  Our own is mapped.  That of another process is copied with pread, because
 * the process may truncate the file at any time. */
struct ct_session {
	struct ct_session_head *head;
	struct ct_session_layout layout; /* read from the head once and checked */
	struct ct_dest_paths *paths;     /* use ct_dest_path() */
	struct ct_component_entry *components;
	struct ct_class_table *classes; /* in a copy: no longer than classes_size */
	size_t classes_size;
	const char *texts;
	size_t texts_capacity; /* readable bytes at texts */
	bool is_mapped;
	bool is_scratch;                    /* a copy whose changes nobody else sees */
	bool has_lock;                      /* the session is a dead process's, which we recover */
	enum ct_os_file_system file_system; /* of our own session's directory */
	int directory_fd;                   /* -1: private, in memory only (no run directory) */
	int file_fd;
	/* the two open files: a program may close descriptors that are not its own */
	struct ct_file_id directory_id;
	struct ct_file_id file_id; /* and get the same numbers for its own files */
	struct ct_world world;     /* our own session: the world of the head's place */
	uint32_t group;            /* our own session: ct_session_share(); 0: none */
	uint32_t pid, uid;         /* our own session: of the process */
	char directory[256];       /* "1234.0"; "" when private */
	char path[4096];           /* absolute directory path; "" when private */
	/* our own session: the head's count may rise while a forked child still maps it */
	uint32_t component_count;
	uint64_t components_allocated; /* bytes backed by real blocks */
	uint64_t classes_allocated;
	uint64_t texts_allocated;
	uint32_t paths_allocated; /* bit n: this process has made room for the paths of destination
				     n */
};

/* ---- directory.c: the run directory */
/* Gives the path of the run directory (CTRACE_RUN_DIR, /run/ctrace, XDG_RUNTIME_DIR/ctrace,
 * /tmp/ctrace-<uid>) and makes the directory when missing.  DENIED when it is a link, belongs to
 * another user, or others may write to it. configured: ctrace.run_dir, or NULL. */
enum ctrace_status ct_directory_run_directory(const char *configured,
					      char out_path[4096]) CT_MUST_USE;
/* CTRACE_LEAVE_DIRECTORY: `ctrace doctor` inspects the directory of the process after its end.  It
 * has made the run directory, and removes both: a process that comes later makes none. */
bool ct_directory_is_left(void);
/* Calls each for every run directory that this user may read (root: those of all users).  Makes
 * none. */
void ct_directory_each_run_directory(void (*each)(const char *path, void *user), void *user);
/* Calls each for every run directory of the present user that exists and is refused. why completes
 * a sentence: "it is a symbolic link". */
#define CT_DIRECTORY_WHY_SIZE 200
typedef void ct_directory_refused(const char *path, const char *why, void *user);
void ct_directory_each_refused(ct_directory_refused *each, void *user);
/* The directory of a traced process. ct_directory_each() visits those of a run directory, the last
 * changed one last. */
struct ct_directory_entry {
	const char *run_directory;
	const char *name;
	uint32_t pid;
	uint32_t uid;
	bool is_alive; /* its process holds the lock; the lock of a recoverer does not count */
};
void ct_directory_each(const char *run_directory,
		       void (*each)(const struct ct_directory_entry *entry, void *user),
		       void *user);
/*
 * Processes that got no directory in a run directory are counted there, in the file of the last
 * number: who makes the run directory makes it, so that the count needs no new block.  After a day
 * without another one the count begins again.
 */
#define CT_UNATTACHED_SECONDS 86400u
struct ct_unattached {
	uint32_t count; /* 0: none */
	uint32_t pid;   /* of the last one, as are the others */
	int32_t error;  /* errno */
	uint32_t reserved;
	uint64_t at_ns; /* wall clock */
	uint64_t lost;  /* events that such processes had not delivered when they ended */
	char program[16];
};
/* Makes the file in a new run directory. */
void ct_unattached_make_room(const char *run_directory);
/* Counts the calling process; error 0: it ends, and adds its lost events.  Does nothing when the
 * run directory cannot be written. */
void ct_unattached_note(const char *run_directory, int error, uint64_t lost);
/* Returns false when none was counted during the last day. */
bool ct_unattached_read(const char *run_directory, struct ct_unattached *out);
/* Returns true when somebody has truncated the session file.  Its process has lost its names and
 * levels, and stops tracing. */
bool ct_directory_is_cut(const char *run_directory, const char *name);
#define CT_DIRECTORY_CUT \
	"its session file was truncated, so it is traced no more until it starts again"
/* Explains why a directory cannot be loaded, from its session file if that shows it, else by the
 * text of the status.  Returns out_why or a constant. */
const char *ct_directory_explain(const struct ct_directory_entry *entry, enum ctrace_status status,
				 char out_why[CT_DIRECTORY_WHY_SIZE]) CT_MUST_USE;
/* Is something else there than a regular file?  Then out_why is "ring.0 is a FIFO, not a file". */
bool ct_directory_file_is_odd(int directory_fd, const char *name,
			      char out_why[CT_DIRECTORY_WHY_SIZE]);
/* Removes a directory and ctrace's files in it.  _own removes the directory of makes this process's
 * own session session, by the names that it knows. */
void ct_directory_remove(const char *run_directory, const char *name);
void ct_directory_remove_own(struct ct_session *session);
/* The file of a process directory that says of what the process died: lib/dump/crash.h.  It has a
 * note when it is longer than its head. */
#define CT_CRASH_FILE "crash"
#define CT_CRASH_HEAD_SIZE 4608u
#define CT_CRASH_NOTE_SIZE 8192u
/* Gives a run directory that the present user may write to: the requested one if it is the user's,
 * else the user's default. */
enum ctrace_status ct_directory_of_user(char out_path[4096]) CT_MUST_USE;

/* True when CTRACE_RUN_DIR names another user's run directory that this user may look into, as a
 * member of that user's ctrace.operators may.  It is then used for requests to its processes, and
 * for nothing else. */
bool ct_directory_is_operated(char out_path[4096]);
/* ---- annex.c: directories for the rings of a process that may no longer write to its own.  Called
 * under the pool's lock, and by recoverers. */
/* Opens the annex of the present user; makes it and notes it in the head if necessary.  Returns -1
 * when that fails.  The caller closes it. */
int ct_annex_make(struct ct_session *session, uint32_t *out_number);
/* Opens an annex of a copied session.  Returns -1 when it is missing, or when others than its user
 * may write to it.  The caller closes it. */
int ct_annex_open(const struct ct_session_head *head, uint32_t number);
/* Removes all annexes of a removed session. */
void ct_annex_remove_all(const struct ct_session_head *head);
/* Removes an annex whose session is gone.  Keeps it when that cannot be determined. */
void ct_annex_remove_abandoned(int run_fd, const char *name);

/* ---- place.c: name spaces, roots and lives of processes */
struct ct_session_place ct_place_here(void);
uint64_t
ct_place_process_space(void); /* its last member: the inode of /proc/self/ns/pid; 0: not known */
/* Reads a file of the kernel with one read(2), because a second would make the kernel print all
 * again.  Terminates it, and returns its size; "" and 0 without the file. */
size_t ct_place_read(const char *path, char *out, size_t size);
void ct_place_boot(char out[40]); /* the id of this boot, as text */
/* Notes in the session from where its paths lead, and the directory of the path that destination
 * `index` has just got. */
void ct_place_note(struct ct_session *session, uint32_t index);
/* True if the paths in a copied session lead to the same files for this process. */
bool ct_place_is_here(const struct ct_session *session);
/* Returns the start of the process in clock ticks since the boot; 0 when it is not visible. */
uint64_t ct_place_process_start(uint32_t pid);

/* ---- session_share.c */
/* Lets the members of a group reach our own session's control socket: the group may list the run
 * directory, and go through the session's.  gid 0: nobody but the owner goes there any more.  The
 * files stay their owner's.  Returns false when this user may not give a directory to the group;
 * then nothing is shared. */
bool ct_session_share(struct ct_session *session, uint32_t gid);

/* ---- session_make.c: this process's own */
/* Makes this process's session: a directory in run_directory, or private memory when that is NULL
 * or the directory cannot be made. */
enum ctrace_status ct_session_create(struct ct_session *session,
				     const char *run_directory) CT_MUST_USE;
/* The same without what only events need: ct_session_note_clock(), ct_session_note_origin(). */
enum ctrace_status ct_session_create_dormant(struct ct_session *session,
					     const char *run_directory) CT_MUST_USE;
/* In a forked child: puts the child's own session at the same addresses, with the components that
 * existed at the fork.  Without the same two. */
enum ctrace_status ct_session_fork(struct ct_session *session,
				   const char *run_directory) CT_MUST_USE;
/* Begins the relation of ticks and time.  The clock has been chosen. */
void ct_session_note_clock(struct ct_session *session);
/* Notes what is needed where events are delivered: the ASID, the boot, the host, the command line,
 * and from where paths lead.  A dormant process does without.  Under the registry's lock, once. */
void ct_session_note_origin(struct ct_session *session, bool has_command_line);
/* Notes the start of the process in a session that other processes see.  The look-up in /proc takes
 * long, so a short process does without.  Until then a process of its number counts as this one. */
void ct_session_note_start(struct ct_session *session);

/* ---- session_keep.c: preserves the files of a live process.  Consumer thread only. */
/* Refreshes the times of all files of the session, for cleaners of temporary directories.  Reopens
 * and relocks the session file when the program has closed it.  Once an hour is enough. */
void ct_session_touch(struct ct_session *session);
/* Restores the size of the session file after somebody has cut it, because a store beyond its end
 * would kill the program.  The content of the cut part is lost.  Returns true when the file had
 * been cut. */
bool ct_session_heal(struct ct_session *session);
/* Only the size, as a signal handler may. */
bool ct_session_lengthen(struct ct_session *session);

/* ---- bell.c: an operator's way to a dormant process, which has no control socket */
/* True if the process in this directory has not started its control thread. */
bool ct_bell_is_dormant(const char *directory);
/* Returns false when the process has ended, also when its parent has not waited for it yet, or has
 * left its directory.  True: it lives, or the session cannot be read. */
bool ct_bell_process_lives(const char *directory);
/* True if the dormant process in this directory is another user now than the directory's, so that
 * it can neither listen there nor take what is left there. */
bool ct_bell_is_parted(const char *directory);
/* Makes the next trace call of a dormant process wake it.  NOT_FOUND: it is not dormant; DENIED:
 * the session is not the owner's of the directory, or this user may not write it. */
enum ctrace_status ct_bell_ring(const char *directory) CT_MUST_USE;
/* Leaves a request of whole frames to a dormant process that was rung: it carries the request out
 * when it wakes, once.  TIMED_OUT: it is awake, and the request is not left; ask by its socket.
 * DENIED; OS_ERROR. */
enum ctrace_status ct_bell_leave(const char *directory, const struct ct_buf *request) CT_MUST_USE;
/* The process has its control socket, and is dormant no more.  Passes on the requests that were
 * left, in the order in which they came. */
#define CT_BELL_LEFT "ask." /* followed by a number */
void ct_bell_answer(struct ct_session *session,
		    void (*take)(const struct ct_buf *request, void *user), void *user);

/* ---- session_layout.c */
/* Returns the layout of a file of at most `limit` bytes; its size is 0 when even the smallest does
 * not fit. */
struct ct_session_layout ct_session_layout_for(uint64_t limit);
/* True if the parts are in order, begin on pages, end within CT_SESSION_SIZE and leave room for the
 * head. */
bool ct_session_layout_holds(const struct ct_session_layout *layout);
/* Returns the number of components that fit. */
uint32_t ct_session_component_limit(const struct ct_session_layout *layout);

/* ---- session.c */
void ct_session_close(struct ct_session *session, bool remove_directory);
/* True if this is the directory of the calling process, or of another copy of the library in it.
 * Its session file must never be opened a second time: closing it would drop the process's lock. */
bool ct_session_is_own(const char *run_directory, const char *name);
/* Returns the directory, for making a ring in it; -1 when it can no longer be reached.  Under the
 * pool's lock. */
int ct_session_directory(struct ct_session *session);
/* Makes room for the component of this index.  The caller may then write its entry; readers do not
 * read it yet. */
enum ctrace_status ct_session_reserve_component(struct ct_session *session,
						uint32_t index) CT_MUST_USE;
/* Publishes the complete entry to readers. */
void ct_session_commit_component(struct ct_session *session, uint32_t index);
/* Makes room for more classes, up to the limit.  Under the registry's lock, as all functions that
 * add. */
void ct_session_add_classes(struct ct_session *session);
/* Returns the classes, for reading events. */
struct ct_class_image ct_session_classes(const struct ct_session *session);
enum ctrace_status ct_session_add_text(struct ct_session *session, const char *text, size_t size,
				       ct_text *out_text) CT_MUST_USE;
/* Returns the text, terminated, and its size; "" and 0 for 0 or a text out of bounds. */
const char *ct_session_text(const struct ct_session *session, ct_text text, size_t *out_size);
/* Gives what CTRACE DEFINE said of the component.  Returns false when that is nothing.  The session
 * may be another process's, and hostile: fmttab is a name or "". */
bool ct_session_definition(const struct ct_session *session, const struct ct_component_entry *entry,
			   struct ctrace_definition *out);
/* Returns a destination's slot in force. */
struct ct_dest_slot *ct_dest_current(struct ct_dest *dest);
/* Returns the path in force of destination `index`; "" without one.  Terminated in a copy. */
const char *ct_dest_path(const struct ct_session *session, uint32_t index);
/* Stores the path for the destination's next slot; it takes effect together with the slot.  Makes
 * room for it first: OS_ERROR when the run directory is full.  On the thread that writes the
 * slot. */
enum ctrace_status ct_dest_put_path(struct ct_session *session, uint32_t index,
				    const char *path) CT_MUST_USE;

/* ---- session_load.c: sessions of other processes */
/* Copies the session of another process. want_lock: also takes its lock.  TIMED_OUT when its
 * process is alive, or when any process, this one included, is recovering it.  NOT_FOUND when
 * another process has just removed it.  Everything in the copy is within bounds, else DAMAGED. */
enum ctrace_status ct_session_load(struct ct_session *session, const char *run_directory,
				   const char *name, bool want_lock) CT_MUST_USE;
/* Copies the calling process's own session, which ct_session_load() must not open: its lock would
 * end with that.  NOT_FOUND: it has no file. */
enum ctrace_status ct_session_copy(const struct ct_session *own,
				   struct ct_session *out) CT_MUST_USE;
/* In a forked child: closes the descriptors of sessions that the parent has locked.  Otherwise the
 * child would keep the locks. */
void ct_session_reset_loaded(void);
/* Reads the identity of another process from the head of its file, without a lock. jobname is
 * always terminated. */
enum ctrace_status ct_session_identify(const char *run_directory, const char *name,
				       uint32_t *out_asid, char out_jobname[16]) CT_MUST_USE;
/* Copies the classes again: a live process may have added some or completed one.  Returns false
 * when they cannot be read. */
bool ct_session_load_classes(struct ct_session *session);
/* Writes a changed part of a copy's head or paths back to the file.  Does nothing for a mapped
 * session. */
enum ctrace_status ct_session_persist(struct ct_session *session, const void *part,
				      size_t size) CT_MUST_USE;
/* Maps the session of a live process of the same user, for its external writer number `writer`.
 * Takes over `directory`, its open directory, in every case.  Holds the writer's lock until the
 * session is closed.  DENIED; UNSUPPORTED; DAMAGED; TIMED_OUT when that writer already lives. */
enum ctrace_status ct_session_map(struct ct_session *session, int directory,
				  uint32_t writer) CT_MUST_USE;
/* True if external writer number `writer` of the process holds its lock. */
bool ct_session_writer_lives(struct ct_session *session, uint32_t writer);

#endif
