/*
 * lib/cobol/cobol.h - the COBOL-callable face: what its files share, and the functions that the
 * runtime wires in.
 *
 *     cbl_id.c        arguments as COBOL passes them: names, handles, BY VALUE 0
 *     cbl_ctf.c       components, levels, destinations
 *     cbl_property.c  properties
 *     cbl_ctf_trace.c        events: CBL_CTF_TRACE, cobctf_trace
 *     notify.c        callbacks: CBL_CTF_TRACER_NOTIFY, cobctf_tracer_notify
 *     cbl_ctrace.c    component trace: CBL_CTRACE_*, COBOL's routines as exits
 *     deferred.c      commands from outside that wait for the thread that COBOL's routines run on
 *     cobol_bridge.c  a module of its own, linked with libcob: finds and calls COBOL entries
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

/* COBOL's BY VALUE 0 fills 32 bits of an argument register; what the others hold is anybody's
 * guess. */
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
 * A handle is its component's index, marked in the byte that comes first in memory.  So neither a
 * blank field nor a zero one can be a handle, and both can mean "the default" as in the documented
 * examples; and a name is not one either.
 */
#define CT_HANDLE_MARK 0xC7u
static inline uint32_t ct_handle_of(uint32_t component)
{
	return component << 8 | CT_HANDLE_MARK;
}
/* The registered component of a handle.  INVALID_TRACE_HANDLE when there is none. */
enum ctrace_status ct_handle_component(uint32_t handle, uint32_t *out_component) CT_MUST_USE;

/* Bytes of a name up to its terminator: a space or NUL, or only a NUL; limit + 1 when there is none
 * within limit + 1 bytes.  0 for NULL.  Reads nothing behind the terminator. */
size_t ct_cbl_name_size(const void *name, bool null_terminated, size_t limit);
/* The same into a terminated text of limit + 1 bytes.  False when the name is empty or over the
 * limit. */
bool ct_cbl_name_copy(const void *name, bool null_terminated, size_t limit, char *out);
/* True when the component-id means "the default". */
bool ct_cbl_is_default(cobuns32_t flags, const void *component_id);
/* The name of a component-id that is not the default: a handle's component, or the text.
 * INVALID_COMPONENT_NAME, INVALID_TRACE_HANDLE. */
enum ctrace_status ct_cbl_component(cobuns32_t flags, const void *component_id,
				    char out[CTRACE_MAX_COMPONENT + 1]) CT_MUST_USE;
/* The status as a program gets it: what only exists inside ctrace is a failure.  Tells this
 * thread's callbacks of what changed. */
cobrtncode_t ct_cbl_return(enum ctrace_status status);

/* ---- notify.c */

/* The registry's sink for changes; the runtime passes it with each change that it makes.  Under no
 * lock, on the thread that made the change.  Calls what was installed by cobctf_tracer_notify(),
 * leaves the rest for the installing threads. */
void ct_notify_change(const struct ct_change *change, void *user);

/* How long an uninstallation waits for the callback to return.  Tests set it before there are
 * threads. */
extern uint64_t ct_notify_limit_ns;

/* Changes and commands that wait for a thread; only a hint to look. */
extern uint32_t ct_notify_waiting __attribute__((visibility("hidden")));
/* Callbacks that this thread installed and that wait for its calls; one more when commands may wait
 * for it. */
extern __thread uint32_t ct_notify_installed __attribute__((tls_model("initial-exec")));
/* may_command: also carries out the commands that wait for the thread. */
void ct_notify_deliver_slowly(bool may_command);

/* May something wait for the calling thread? */
static inline bool ct_notify_waits(void)
{
	return __builtin_expect(!ctrace_is_at_most_(&ct_notify_waiting, 0), 0) &&
	       ct_notify_installed != 0;
}

/* At the beginning and end of each CBL_ call: tells the calling thread's callbacks of the changes
 * that wait for it, and carries out the commands from outside that its routines in COBOL are for.
 */
static inline void ct_notify_deliver(void)
{
	if (ct_notify_waits())
		ct_notify_deliver_slowly(true);
}

/* The same for calls that C programs make in signal handlers, too: no commands, since these
 * allocate. */
static inline void ct_notify_deliver_changes(void)
{
	if (ct_notify_waits())
		ct_notify_deliver_slowly(false);
}

/* The same address for a thread and for its copy in a forked child. */
static inline const void *ct_ctf_thread(void)
{
	return &ct_notify_installed;
}

/* What the bridge to the COBOL run time has by that name: NULL when there is no COBOL in this
 * process, or no bridge. */
void *ct_cobol_bridge(const char *symbol);

/* Keeps the module that the code is in loaded for the life of the process, also when COBOL's CANCEL
 * unloads it.  Not only while it may be called: libcob finds again what is still loaded, and then
 * counts on it.  Under no lock. */
void ct_cobol_hold_module(const void *code);

/* ---- cbl_ctrace.c */

struct ct_routine;
/* Finds a routine among COBOL's entries, for lib/component/routine.c; the runtime wires it in.  Any
 * thread, under no lock. */
bool ct_cobol_find_routine(const char *name, struct ct_routine *out);

/* ---- deferred.c: commands from outside for COBOL's routines */
/*
 * Hands a TRACE CT over to the program's thread that has to run it, which does so in its next CBL_
 * call; to be called by who just had ct_trace_ct() of it on this thread, with its outcome, whatever
 * that is.  True: it has been carried out within wait_ms, and *out is its outcome.  False and
 * out->rc 0: it waits for the thread; out->message says so.  False and another rc: *out is as it
 * was, because that was no refusal for the thread's sake, or with another message, because the
 * thread takes no more.  Does not wait when others wait already.
 */
struct ct_trace_command;
bool ct_ctf_defer(const struct ct_trace_command *command, unsigned wait_ms,
		  struct ctrace_outcome *out);
/* This thread of the program runs COBOL's routines: until it ends commands can be handed over to
 * it. */
void ct_deferred_join(void);
/* the one that joined last and lives; NULL when there is none */
const void *ct_deferred_thread(void);
/* A routine that only `thread` may run was to be called on this one, for the trace of that token.
 */
void ct_deferred_refused(const void *thread, uint64_t token);
/* Carries out what waits for this thread, under no lock; was there anything? */
bool ct_deferred_run(void);
/* This thread is in a command or a routine: others have to wait. */
extern __thread uint32_t ct_deferred_busy __attribute__((tls_model("initial-exec")));

/* ---- cobol_bridge.c, in the module cobol.so.  Found by these names. */
#define CT_COBOL_MODULE "cobol"
/* Calls a callback of CBL_CTF_TRACER_NOTIFY. */
typedef void ct_cobol_call_function(void *callback, uint32_t handle, uint32_t type,
				    void *parameter);
#define CT_COBOL_CALL "ct_cobol_call"
/* Calls an entry with one parameter BY REFERENCE and gives its RETURN-CODE. */
typedef uint32_t ct_cobol_invoke_function(void *routine, void *parameter);
#define CT_COBOL_INVOKE "ct_cobol_invoke"
/* The entry or program of that name in what the run time has loaded; NULL when there is none or the
 * run time has not been started.  Loads nothing, says nothing. */
typedef void *ct_cobol_find_function(const char *name);
#define CT_COBOL_FIND "ct_cobol_find"

#endif
