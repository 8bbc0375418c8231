/*
 * lib/start/start.h - start and stop: shared by the files of lib/start.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_START_H
#define CT_START_H

#include "lib/component/component.h"
#include "lib/control/server.h"
#include "lib/cobol/cobol.h"
#include "lib/consumer/consumer.h"
#include "lib/trace/trace.h"

/* ---- consumer_thread.c, consumer_threads.c: the thread that consumes */
/* The consumer and its lock.  Lock order: consumer, registry, pool. */
void ct_consumer_thread_lock(void);
void ct_consumer_thread_unlock(void);
struct ct_consumer *ct_consumer_thread_consumer(void); /* under the lock; NULL when there is none */
/* The consumer and its first thread are made when something needs them, or by
 * ct_consumer_thread_begin(). */
void ct_consumer_thread_start(struct ct_process *process, const char *run_directory);
void ct_consumer_thread_begin(void);
/* address space for the consumer, its batches and a thread */
#define CT_CONSUMER_THREAD_ROOM ((size_t)8 << 20)
/* Async-signal-safe. */
void ct_consumer_thread_wake(void);
/* Starts watching the consumer thread's methods.  Under no lock. */
void ct_consumer_thread_watch(void);
/* Does work that a short process does not need.  Called on the control thread
 * CT_CONSUMER_THREAD_SETTLE_AFTER_MS after the start.  It starts watching the consumer thread's
 * methods.  CT_CONSUMER_THREAD_RECOVER_AFTER_MS after the start the recovery of other processes
 * begins, once. */
void ct_consumer_thread_settle(void *unused);
#define CT_CONSUMER_THREAD_SETTLE_AFTER_MS 20u
/* a shorter process recovers no other */
#define CT_CONSUMER_THREAD_RECOVER_AFTER_MS 1000u
/* One pass on the calling thread, under the lock. */
void ct_consumer_thread_pass(bool flush);
/* Delivers what can be delivered, closes the output and ends the threads.  Returns after
 * ctrace.block.timeout x 5 plus a second at the latest; false when the output took longer, or
 * hangs. */
bool ct_consumer_thread_stop(void);
/* Waits until everything committed before is delivered.  Returns OUTPUT_ERROR when a destination
 * fails, or TIMED_OUT. Under no lock. */
enum ctrace_status ct_consumer_thread_flush(uint64_t timeout_ns) CT_MUST_USE;
/* Ask the consumer thread to open the destinations in use; wait until it has tried, at most that
 * long.  Under no lock. */
void ct_consumer_thread_ask_open(void);
void ct_consumer_thread_await_open(uint64_t timeout_ns);
/* Around fork: waits until the consumer thread is not in a pass.  Returns false when a pass does
 * not end. */
bool ct_consumer_thread_pause(void);
void ct_consumer_thread_resume(void);
/* In a forked child, which has none of the parent's threads.  is_paused: the files are closed, and
 * nothing is written to them. */
void ct_consumer_thread_reset(bool is_paused);

/* ---- recovery.c: a thread that recovers the traces of dead processes */
/* Starts it for a run directory.  Once in the life of a process. */
void ct_recovery_start(const char *run_directory);

/* ---- rotate.c */
/* Begins a new generation of the open destinations in the mask of emitters, after everything
 * committed before is delivered; *out_done: which have one.  Returns NOT_FOUND when none is open,
 * UNSUPPORTED when none can, TIMED_OUT after ctrace.block.timeout x 5 or while another rotation
 * runs; else why one failed.  Under no lock. */
enum ctrace_status ct_consumer_thread_rotate(uint32_t mask, uint32_t *out_done) CT_MUST_USE;

/* ---- reload.c */
/* Replaces the configuration by that of the file; path "": the process's own, MFTRACE_CONFIG.
 * message: always one terminated line: what was not understood, what takes effect only later, or
 * why nothing was changed.  *out_diagnostics: number of lines that were not understood.  Under no
 * lock, not in a signal handler.  Returns NOT_FOUND without a readable file, DENIED, OS_ERROR or
 * NOT_ENOUGH_MEMORY. */
enum ctrace_status ct_reload(const char *path, unsigned *out_diagnostics,
			     char message[256]) CT_MUST_USE;
/* Replaces it by an empty one: nothing is traced.  On the control thread. */
void ct_reload_empty(void);

/* ---- run_watch.c: on the control thread, 20 ms after the start and then once a second */
void ct_run_watch(void *unused);

/* ---- last_thread.c: ends a process that only threads of ours have left */
/* On the control thread: looks, and asks for its next look. */
void ct_last_thread_watch(void *unused);
/* On the consumer thread: looks if no control thread does. */
void ct_last_thread_look(void);
/* When the library is loaded, and in a child of fork(2), but not in one of clone(2). */
void ct_last_thread_begin(void);
void ct_last_thread_reset(void); /* in each child */

/* ---- start.c: the destructor, once; on any thread of the program */
void ct_process_end(void);

/* ---- operate.c: the control thread's answers (a ct_server_answer) */
void ct_operate(const struct ct_message *request, struct ct_buf *out, void *user);

/* ---- operate_member.c: members of ctrace.operators and ctrace.operators.display */
/* Lets them reach the control socket, or nobody any more, as the settings say.  The process is
 * attached, or about to be.  Under no lock. */
void ct_operate_share(void);
/* The control thread's: is the peer a member (a ct_server_admit), and the answer to one (a
 * ct_server_answer_member).  Each request is logged. */
bool ct_operate_admit(int fd, struct ct_member *member);
void ct_operate_member(const struct ct_message *request, const struct ct_member *member,
		       struct ct_buf *out, void *unused);

#define CT_SETUP_PATH_SIZE 4096u

/* ---- setup.c: configuration and environment -> settings and registry */
/* This process's data for comparison with mftrace.application. */
struct ct_setup_self {
	struct ct_program program;
	char path[4096];
	char words[4096];
};
/* The configuration file of a process that attaches. */
struct ct_setup_file {
	struct ct_buf text;
	enum ctrace_status status;
	int error;    /* errno when the file could not be read; 0: it was read, or there is none */
	bool is_read; /* there is a file, and text and self are valid */
	struct ct_setup_self self;
};
void ct_setup_file_init(struct ct_setup_file *file);
void ct_setup_file_fini(struct ct_setup_file *file);
/* Reads the file and loads the modules that the configuration names.  Called before the attach lock
 * and under no other, because nothing is loaded under it.  Returns false when this thread is doing
 * so already: a module's constructor traces, and the process cannot attach yet. */
bool ct_setup_load_modules(struct ct_setup_file *file) CT_MUST_USE;
/* Settings that are needed before there is a session. */
void ct_setup_read_settings(const struct ct_setup_file *file, struct ct_settings *settings);
/* Returns NOT_ENOUGH_MEMORY when some settings are not in force. */
enum ctrace_status ct_setup_apply_configuration(const struct ct_setup_file *file,
						const struct ct_target *target,
						struct ct_session *session) CT_MUST_USE;
/* Applies the triggers that operators keep in the run directory ("": none) for processes that come.
 */
#define CT_SETUP_KEPT "triggers"   /* the file */
#define CT_SETUP_KEPT_LIMIT 65536u /* its bytes */
void ct_setup_apply_kept(const char *run_directory, const struct ct_target *target);
/* True if ct_directory_is_left(), and with CTRACE_LEAVE_DIRECTORY=losses: `ctrace run` reads the
 * counters of a process that has lost events, and removes its directory. */
bool ct_setup_leaves_losses(void);
/* The result of reading a configuration file, kept in the session for operators. */
struct ct_setup_result {
	int error; /* errno when it could not be read; 0: it was read */
	unsigned diagnostics;
	unsigned first_diagnostic; /* its line */
	unsigned stopped_at;       /* mftrace.application that is another's; 0: none */
	bool lacks_memory;         /* some of it is not in force */
};
void ct_setup_publish(struct ct_session *session, const char *path,
		      const struct ct_setup_result *result, const struct ct_settings *settings);
/* Gives `asked`, or the path in MFTRACE_CONFIG.  A relative path starts at the working directory at
 * attach time.  Returns false when there is neither. */
bool ct_setup_find_path(const struct ct_session *session, const char *asked,
			char out_path[CT_SETUP_PATH_SIZE]);
/* at most 4 MiB */
enum ctrace_status ct_setup_read_file(const char *path, struct ct_buf *out_text) CT_MUST_USE;
/* Applies the parts of a configuration that are for `program` (NULL: this process).  *result begins
 * empty. */
void ct_setup_apply_text(const struct ct_buf *text, const struct ct_program *program,
			 const struct ct_target *target, struct ct_setup_result *result);
/* the environment overrides the file */
void ct_setup_override(struct ct_settings *settings);

/* ---- start.c: held while attaching; taken before every other lock */
void ct_attach_lock(void);
void ct_attach_unlock(void);
void ct_attach_unlock_in_child(bool is_held);

/* ---- fork.c: a child's first steps, also if it was made without the handlers (a raw clone) */
void ct_fork_reset(bool consumer_thread_is_paused);

#endif
