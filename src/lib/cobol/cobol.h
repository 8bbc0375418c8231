/*
 * lib/cobol/cobol.h - the interface that COBOL programs call: what its files share, and the
 * functions that the runtime installs.
 *
 *     cbl_id.c         arguments as COBOL passes them: names, handles, BY VALUE 0
 *     cbl_ctf.c        components, levels, destinations
 *     cbl_property.c   properties
 *     cbl_ctf_trace.c  events: CBL_CTF_TRACE, cobctf_trace
 *     thread_queue.c   messages addressed to threads: the next two files use them
 *     notify.c         callbacks: CBL_CTF_TRACER_NOTIFY, cobctf_tracer_notify
 *     deferred.c       operators' commands that wait for the thread of COBOL's routines
 *     cbl_ctrace.c     component trace: CBL_CTRACE_*, COBOL's routines as exits
 *     cobol_bridge.c   a module of its own, linked with libcob: finds and calls COBOL entries
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_COBOL_H
#define CT_COBOL_H

#include "lib/trace/trace.h"
#include <cbl_ctrace.h>
#include <ctrace/component.h>
#include <mfctf.h>

/* ---- cbl_id.c */

/* COBOL's BY VALUE 0 fills 32 bits of an argument register; the other bits are undefined. */
static inline bool ct_cbl_is_null(const void *argument)
{
	return (uint32_t)(uintptr_t)argument == 0;
}

static inline uint32_t ct_cbl_load_u32(const void *at)
{
	uint32_t value;
	__builtin_memcpy(&value, at, 4);
	return value;
}

/*
 * A handle is its component's index, with a mark in the byte that is first in memory.  So a blank
 * or zero field is never a handle and can mean "the default", as in the documented examples.  No
 * name is a handle either.
 */
#define CT_HANDLE_MARK 0xC7u
static inline uint32_t ct_handle_of(uint32_t component)
{
	return CTRACE_IS_BIG_ ? CT_HANDLE_MARK << 24 | component : component << 8 | CT_HANDLE_MARK;
}
static inline bool ct_handle_is_marked(uint32_t handle)
{
	return (CTRACE_IS_BIG_ ? handle >> 24 : handle & 0xFF) == CT_HANDLE_MARK;
}
static inline uint32_t ct_handle_index(uint32_t handle)
{
	return CTRACE_IS_BIG_ ? handle & 0xFFFFFF : handle >> 8;
}
/* The registered component of a handle.  INVALID_TRACE_HANDLE: there is none. */
enum ctrace_status ct_handle_component(uint32_t handle, uint32_t *out_component) CT_MUST_USE;

/* Bytes of a name up to its terminator: a space or NUL, or only a NUL.  limit + 1 when there is
 * none within limit + 1 bytes; 0 for NULL.  Reads nothing behind the terminator. */
size_t ct_cbl_name_size(const void *name, bool null_terminated, size_t limit);
/* Copies the name, terminated, into limit + 1 bytes.  False: the name is empty or over the
 * limit. */
bool ct_cbl_name_copy(const void *name, bool null_terminated, size_t limit, char *out);
/* True when the component-id means "the default". */
bool ct_cbl_is_default(cobuns32_t flags, const void *component_id);
/* The name of a component-id that is not the default: of a handle's component, or the text.
 * INVALID_COMPONENT_NAME; INVALID_TRACE_HANDLE. */
enum ctrace_status ct_cbl_component(cobuns32_t flags, const void *component_id,
				    char out[CTRACE_MAX_COMPONENT + 1]) CT_MUST_USE;
/* Delivers changes to this thread's callbacks, and returns the status as a program gets it: a
 * status that exists only inside ctrace becomes FAILURE. */
cobrtncode_t ct_cbl_return(enum ctrace_status status);

/* ---- thread_queue.c: messages addressed to threads.  Lock, unlock and is_closed are called under
 * no lock, the other functions under the lock of the queue. */

/* The first member of a message from malloc(), which the queue frees when it is spent. */
struct ct_thread_message {
	struct ct_thread_message *next;
	const void *thread; /* the addressed thread, as ct_ctf_thread() returned it there */
};
/* Number of messages that wait for their threads: a hint to look. */
extern uint32_t ct_notify_waiting __attribute__((visibility("hidden")));
/* Number of callbacks that this thread installed and runs in its own calls, plus one when
 * commands may wait for it. */
extern __thread uint32_t ct_notify_installed __attribute__((tls_model("initial-exec")));

/* The same address for a thread and for its copy in a forked child. */
static inline const void *ct_ctf_thread(void)
{
	return &ct_notify_installed;
}

void ct_thread_queue_lock(void);
void ct_thread_queue_unlock(void);
/* True in a signal handler that interrupted a section of a lock of ctrace, or fork(). */
bool ct_thread_queue_is_closed(void);
/* fork() finds the lock free from the first call on.  Under the lock.  False: no memory. */
bool ct_thread_queue_set_up(void);
/* Was that call made?  Before it there is nothing to look for, and a thread that took the lock
 * could leave it locked to a forked child. */
bool ct_thread_queue_is_set_up(void);
/* Frees the spent messages, then adds the message at the end of the list. */
void ct_thread_queue_append(struct ct_thread_message **list, struct ct_thread_message *message);
/* The link to the first message for the thread, from this link on; to the NULL at the end when
 * there is none. */
struct ct_thread_message **ct_thread_queue_find(struct ct_thread_message **link,
						const void *thread);
/* Returns the message, which no longer waits and belongs to the caller. */
struct ct_thread_message *ct_thread_queue_take_out(struct ct_thread_message **link) CT_MUST_USE;
/* The message is not used any more. */
void ct_thread_queue_spend(struct ct_thread_message *message);
/* Releases the lock and sleeps until ct_thread_queue_wake(), or until the monotonic time end_ns.
 * It may return earlier.  False, at once: the time has come. */
bool ct_thread_queue_wait(uint64_t end_ns) CT_MUST_USE;
void ct_thread_queue_wake(void);

/* ---- notify.c */

/* The registry's sink for changes; the runtime passes it with each change.  Under no lock, on
 * the thread that made the change.  Calls the callbacks of cobctf_tracer_notify() and leaves the
 * others to the installing threads. */
void ct_notify_change(const struct ct_change *change, void *user);

/* How long an uninstallation waits for the callback to return.  Tests set it before they start
 * threads. */
extern uint64_t ct_notify_limit_ns;

/* may_command: also carries out the commands that wait for the thread. */
void ct_notify_deliver_slowly(bool may_command);
/* In a forked child, under the queue's lock. */
void ct_notify_forked(void);

/* True when something may wait for the calling thread. */
static inline bool ct_notify_waits(void)
{
	return __builtin_expect(!ctrace_is_at_most_(&ct_notify_waiting, 0), 0) &&
	       ct_notify_installed != 0;
}

/* At the start and end of each CBL_ call: delivers the waiting changes to the calling thread's
 * callbacks, and carries out the operators' commands for its COBOL routines. */
static inline void ct_notify_deliver(void)
{
	if (ct_notify_waits())
		ct_notify_deliver_slowly(true);
}

/* The same without commands, which allocate: for calls that C programs may make in signal
 * handlers. */
static inline void ct_notify_deliver_changes(void)
{
	if (ct_notify_waits())
		ct_notify_deliver_slowly(false);
}

/* A function of the module that is linked with libcob; NULL when the process has no COBOL or no
 * such module. */
void *ct_cobol_bridge(const char *symbol);

/* Keeps the module of the code loaded for the life of the process, also when COBOL's CANCEL
 * unloads it: libcob finds modules that are still loaded again and relies on them.  Under no
 * lock. */
void ct_cobol_hold_module(const void *code);

/* ---- cbl_ctrace.c */

struct ct_routine;
/* Finds a routine among COBOL's entries, for lib/component/routine.c; the runtime installs it.
 * Any thread, under no lock. */
bool ct_cobol_find_routine(const char *name, struct ct_routine *out);

/* ---- deferred.c: commands from outside for COBOL's routines */
/*
 * Hands a TRACE CT over to the program's thread that must run it, which does so in its next CBL_
 * call.  The caller has just called ct_trace_ct() for the command on this thread; *out is its
 * outcome. True: the thread has carried it out within wait_ms milliseconds, and *out is the new
 * outcome.  False and out->rc 0: the command waits for the thread; out->message says so.  False and
 * another rc: *out is unchanged because the refusal had another cause, or it has a new message
 * because the thread has ended or its queue is full.  It does not wait when other commands are
 * waiting already.
 */
struct ct_trace_command;
bool ct_ctf_defer(const struct ct_trace_command *command, unsigned wait_ms,
		  struct ctrace_outcome *out);
/* This thread of the program runs COBOL's routines: it accepts commands until it ends. */
void ct_deferred_join(void);
/* the latest living thread that joined; NULL: none */
const void *ct_deferred_thread(void);
/* Notes that a routine of the trace with that token was to be called on this thread, but only
 * `thread` may run it. */
void ct_deferred_refused(const void *thread, uint64_t token);
/* Carries out the commands that wait for this thread, under no lock.  True: there was one. */
bool ct_deferred_run(void);
/* In a forked child, under the queue's lock. */
void ct_deferred_forked(void);
/* Nonzero while this thread is in a command or a routine: other commands wait. */
extern __thread uint32_t ct_deferred_busy __attribute__((tls_model("initial-exec")));

/* ---- cobol_bridge.c, in the module cobol.so.  Found by these names. */
#define CT_COBOL_MODULE "cobol"
/* Calls a callback of CBL_CTF_TRACER_NOTIFY. */
typedef void ct_cobol_call_function(void *callback, uint32_t handle, uint32_t type,
				    void *parameter);
#define CT_COBOL_CALL "ct_cobol_call"
/* Calls an entry with one parameter BY REFERENCE and returns its RETURN-CODE. */
typedef uint32_t ct_cobol_invoke_function(void *routine, void *parameter);
#define CT_COBOL_INVOKE "ct_cobol_invoke"
/* The entry or program of that name in the modules that the run time has loaded; NULL: none, or
 * the run time has not been started.  It loads and prints nothing. */
typedef void *ct_cobol_find_function(const char *name);
#define CT_COBOL_FIND "ct_cobol_find"

#endif
