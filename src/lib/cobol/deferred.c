/*
 * deferred.c - operators' commands for COBOL's routines: the control thread hands them over, the
 * program's thread carries them out.
 *
 * COBOL's run time knows one thread, so a routine in COBOL cannot be called on any other
 * (cbl_ctrace.c reports its thread here).  The control thread then puts the command into that
 * thread's queue and waits for a short time.  The thread finds it in its next CBL_ call, in the
 * slow half of ct_notify_deliver(), where it holds no lock, and runs it as if the program had given
 * it.
 *
 * Members are the threads that run such routines.  A queue ends with its thread, and in a forked
 * child.  Nobody is notified then, but a display shows the trace unchanged.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"

#include "lib/component/component.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_LIMIT 64u /* commands that wait for one thread */

enum deferred_state { WAITS, RUNS, DONE, DROPPED };

struct deferred {
	struct ct_thread_message message;
	enum deferred_state state;
	bool is_awaited; /* the control thread still waits for the outcome */
	struct ct_trace_command command;
	struct ctrace_outcome outcome;
};

struct member {
	struct member *next;
	const void *thread;
	struct deferred *running; /* taken out, and not ended yet */
	bool is_joined;
};

/* The last routine that was refused on this thread. */
struct refusal {
	const void *thread; /* the thread that may run it */
	uint64_t token;     /* token of its trace */
};

/* under the lock of thread_queue.c */
static struct {
	struct member *members; /* the latest first */
	struct ct_thread_message *commands;
	pthread_key_t key;
	bool is_set_up;
} deferred;

static __thread struct member self __attribute__((tls_model("initial-exec")));
static __thread struct refusal refused __attribute__((tls_model("initial-exec")));
__thread uint32_t ct_deferred_busy __attribute__((tls_model("initial-exec")));

/* ---- under the lock ---- */

/* The thread that awaits the command spends it; when there is none, this thread does. */
static void command_end(struct deferred *command, enum deferred_state state)
{
	command->state = state;
	if (command->is_awaited)
		ct_thread_queue_wake();
	else
		ct_thread_queue_spend(&command->message);
}

/* The control thread, which may await an outcome, and the other members belong to the parent.  A
 * command that the forking thread is carrying out ends normally; the child never frees those that
 * other threads are carrying out. */
void ct_deferred_forked(void)
{
	while (deferred.commands != NULL)
		ct_thread_queue_spend(ct_thread_queue_take_out(&deferred.commands));
	if (self.running != NULL)
		self.running->is_awaited = false;
	self.next = NULL;
	deferred.members = self.is_joined ? &self : NULL;
}

/* ---- members ---- */

static void member_leave(void *member)
{
	struct member **link = &deferred.members;
	struct ct_thread_message **command = &deferred.commands;

	(void)member;
	ct_thread_queue_lock();
	while (*link != NULL && *link != &self)
		link = &(*link)->next;
	if (*link != NULL)
		*link = self.next;
	while (*(command = ct_thread_queue_find(command, self.thread)) != NULL)
		command_end((struct deferred *)ct_thread_queue_take_out(command), DROPPED);
	if (self.running != NULL)
		command_end(self.running, DROPPED);
	self.running = NULL;
	self.is_joined = false;
	ct_notify_installed--;
	ct_thread_queue_unlock();
}

static bool members_set_up(void)
{
	if (!deferred.is_set_up && ct_thread_queue_set_up())
		deferred.is_set_up = pthread_key_create(&deferred.key, member_leave) == 0;
	return deferred.is_set_up;
}

void ct_deferred_join(void)
{
	if (self.is_joined || ct_thread_queue_is_closed() || ct_os_thread_is_own())
		return;
	ct_thread_queue_lock();
	if (members_set_up() && pthread_setspecific(deferred.key, &self) == 0) {
		self = (struct member){ .next = deferred.members,
					.thread = ct_ctf_thread(),
					.is_joined = true };
		deferred.members = &self;
		ct_notify_installed++;
	}
	ct_thread_queue_unlock();
}

const void *ct_deferred_thread(void)
{
	const void *thread = NULL;

	if (!ct_thread_queue_is_set_up())
		return NULL;
	ct_thread_queue_lock();
	if (deferred.members != NULL)
		thread = deferred.members->thread;
	ct_thread_queue_unlock();
	return thread;
}

void ct_deferred_refused(const void *thread, uint64_t token)
{
	refused = (struct refusal){ thread, token };
}

/* ---- the program's thread ---- */

static bool command_begin(void)
{
	struct ct_thread_message **link;

	ct_thread_queue_lock();
	link = ct_thread_queue_find(&deferred.commands, ct_ctf_thread());
	if (*link != NULL) {
		self.running = (struct deferred *)ct_thread_queue_take_out(link);
		self.running->state = RUNS;
	}
	ct_thread_queue_unlock();
	return self.running != NULL;
}

bool ct_deferred_run(void)
{
	unsigned count = 0;

	/* Not inside a command or routine: a deferred command must not be nested. */
	if (!self.is_joined || ct_deferred_busy != 0)
		return false;
	ct_deferred_busy++;
	for (; count < QUEUE_LIMIT && command_begin(); count++) {
		struct ctrace_outcome outcome;

		(void)ct_trace_ct(&self.running->command, &outcome);
		ct_thread_queue_lock();
		self.running->outcome = outcome;
		command_end(self.running, DONE);
		self.running = NULL;
		ct_thread_queue_unlock();
	}
	ct_deferred_busy--;
	return count != 0;
}

/* ---- the control thread ---- */

enum handed { HANDED, HANDED_BEHIND_OTHERS, NO_THREAD, NO_ROOM };

/* Under the lock. */
static enum handed command_append(struct deferred *command)
{
	const struct member *member = deferred.members;
	const void *thread = command->message.thread;
	struct ct_thread_message **link = &deferred.commands;
	uint32_t others;

	while (member != NULL && member->thread != thread)
		member = member->next;
	if (member == NULL)
		return NO_THREAD;
	others = member->running != NULL;
	for (; *(link = ct_thread_queue_find(link, thread)) != NULL; link = &(*link)->next)
		others++;
	if (others >= QUEUE_LIMIT)
		return NO_ROOM;
	ct_thread_queue_append(&deferred.commands, &command->message);
	return others == 0 ? HANDED : HANDED_BEHIND_OTHERS;
}

/* Under the lock.  Waits for the command for at most wait_ms, and returns its state; then nobody
 * awaits it.  DONE: *out is its outcome. */
static enum deferred_state command_await(struct deferred *command, unsigned wait_ms,
					 struct ctrace_outcome *out)
{
	uint64_t end_ns = ct_clock_mono_ns() + (uint64_t)wait_ms * 1000000u;

	command->is_awaited = true;
	while ((command->state == WAITS || command->state == RUNS) && ct_thread_queue_wait(end_ns))
		;
	command->is_awaited = false;
	if (command->state == DONE)
		*out = command->outcome;
	if (command->state == DONE || command->state == DROPPED)
		ct_thread_queue_spend(&command->message);
	return command->state;
}

/* Finds the start/stop routine's name of the trace that was refused. */
static void routine_find_name(uint64_t token, char out_name[CT_NAME_SIZE])
{
	const struct ct_trace *trace;
	struct ct_token found;

	out_name[0] = '\0';
	if (!ct_token_find(token, &found))
		return;
	ct_table_lock();
	trace = ct_table_find(found.component);
	if (trace != NULL)
		memcpy(out_name, trace->attributes.startnam, CT_NAME_SIZE);
	ct_table_unlock();
}

static void outcome_report(struct ctrace_outcome *out, enum handed handed,
			   enum deferred_state state, uint64_t token)
{
	char name[CT_NAME_SIZE];

	routine_find_name(token, name);
	if (handed == NO_ROOM) {
		(void)snprintf(out->message, sizeof out->message,
			       "%u commands wait already for the thread of routine %s", QUEUE_LIMIT,
			       name);
	} else if (handed == NO_THREAD || state == DROPPED) {
		(void)snprintf(out->message, sizeof out->message,
			       "the thread of routine %s has ended", name);
	} else {
		memset(out, 0, sizeof *out);
		(void)ct_outcome_set(out, CTRACE_RC_OK, 0, "the routine %s %s", name,
				     state == RUNS ? "is running"
						   : "runs in the program's next CBL_ call");
	}
}

bool ct_ctf_defer(const struct ct_trace_command *command, unsigned wait_ms,
		  struct ctrace_outcome *out)
{
	struct refusal refusal = refused;
	enum deferred_state state = WAITS;
	struct deferred *copy;
	enum handed handed;

	refused.thread = NULL;
	if (refusal.thread == NULL || out->rc != CTRACE_RC_REFUSED ||
	    out->ss_rc != CBL_CTRACE_SSRC_THREAD || out->ss_rsncode != CBL_CTRACE_SSRSNC_THREAD)
		return false;
	copy = malloc(sizeof *copy);
	if (copy == NULL)
		return false;
	*copy = (struct deferred){ .message.thread = refusal.thread,
				   .state = WAITS,
				   .command = *command };
	ct_thread_queue_lock();
	handed = command_append(copy);
	if (handed == HANDED && wait_ms != 0)
		state = command_await(copy, wait_ms, out);
	ct_thread_queue_unlock();
	if (handed == NO_THREAD || handed == NO_ROOM)
		free(copy);
	if (state == DONE)
		return true;
	outcome_report(out, handed, state, refusal.token);
	return false;
}
