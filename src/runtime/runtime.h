/*
 * runtime/runtime.h - start and stop: what the files of the runtime share.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_RUNTIME_H
#define CT_RUNTIME_H

#include "component/component.h"
#include "control/control.h"
#include "ctf/ctf.h"
#include "drain/drain.h"
#include "record/record.h"

/* ---- agent.c: the thread that drains */
/* The drain and its lock.  Lock order: drain, registry, pool. */
void ct_agent_lock(void);
void ct_agent_unlock(void);
struct ct_drain *ct_agent_drain(void); /* under the lock; NULL when there is none */
enum ctrace_status ct_agent_start(struct ct_process *process, const char *run_directory) CT_MUST_USE;
/* One pass on the calling thread, under the lock. */
void ct_agent_pass(bool flush);
/* Ends the thread.  False when it does not end in time: it hangs in some output. */
bool ct_agent_stop(void);
/* Round fork: waits until the agent is not in a pass.  False when it does not come to the end of one. */
bool ct_agent_pause(void);
void ct_agent_resume(void);
/* In a forked child: the thread is the parent's.  is_paused: so are the files, which are closed here without a word. */
void ct_agent_forget(bool is_paused);

/* ---- setup.c: configuration and environment -> settings and registry */
/* Settings that are needed before there is a session. */
void ct_setup_read_settings(struct ct_settings *settings);
void ct_setup_apply_configuration(const struct ct_target *target);

/* ---- runtime.c: round attaching; taken before every other lock */
void ct_attach_lock(void);
void ct_attach_unlock(void);
void ct_attach_unlock_in_child(void);

/* ---- fork.c: what a child does, also one that was made without the handlers (a raw clone) */
void ct_fork_forget_parent(bool agent_is_paused);

#endif
