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
 * child.  Nobody is notified then, but a display shows the trace unchanged.  Carrying out a command
 * frees nothing; the next hand-over frees the spent commands.
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
	struct deferred *next;
	const void *thread;
	enum deferred_state state;
	bool is_awaited; /* the control thread still waits for the outcome */
	struct ct_trace_command command;
	struct ctrace_outcome outcome;
};

struct member {
	struct member *next;
	const void *thread;
	bool is_joined;
};

/* The last routine that was refused on this thread. */
struct refusal {
	const void *thread; /* the thread that may run it */
	uint64_t token;     /* token of its trace */
};

static struct {
	pthread_mutex_t lock;
	struct member *members; /* the latest first */
	struct deferred *first; /* oldest */
	struct deferred *spent;
	uint32_t ended; /* atomic: raised when a command is done or dropped */
	pthread_key_t key;
	bool is_set_up;
} deferred = { .lock = PTHREAD_MUTEX_INITIALIZER };

static __thread struct member self __attribute__((tls_model("initial-exec")));
static __thread struct refusal refused __attribute__((tls_model("initial-exec")));
static __thread bool is_forking __attribute__((tls_model("initial-exec")));
/* from before fork() */
static __thread int cancel_state __attribute__((tls_model("initial-exec")));
__thread uint32_t ct_deferred_busy __attribute__((tls_model("initial-exec")));

/* ---- the lock ---- */

/* A signal handler that interrupts a locked section finds ct_thread_locked set and does nothing. */
static void queue_lock(void)
{
	ct_guard_lock(&deferred.lock);
}

static void queue_unlock(void)
{
	ct_guard_unlock(&deferred.lock);
}

static void command_spend(struct deferred *command)
{
	command->next = deferred.spent;
	deferred.spent = command;
}

static void commands_free_spent(void)
{
	while (deferred.spent != NULL) {
		struct deferred *command = deferred.spent;

		deferred.spent = command->next;
		free(command);
	}
}

static void command_take_out(struct deferred *command)
{
	struct deferred **link = &deferred.first;

	while (*link != command)
		link = &(*link)->next;
	*link = command->next;
}

static void command_end_wait(struct deferred *command, enum deferred_state state)
{
	command->state = state;
	(void)__atomic_sub_fetch(&ct_notify_waiting, 1, __ATOMIC_RELAXED);
}

/* Drops the commands for a thread that will not take them; NULL: for all threads. */
static void commands_drop(const void *thread)
{
	struct deferred **link = &deferred.first;

	while (*link != NULL) {
		struct deferred *command = *link;

		if ((thread != NULL && command->thread != thread) ||
		    (command->state != WAITS && command->state != RUNS)) {
			link = &command->next;
			continue;
		}
		if (command->state == WAITS)
			command_end_wait(command, DROPPED);
		command->state = DROPPED;
		if (command->is_awaited) {
			link = &command->next;
			continue;
		}
		*link = command->next;
		command_spend(command);
	}
}

/* ---- fork: as in notify.c, outside the runtime's own handlers ---- */

static void queue_lock_for_fork(void)
{
	cancel_state = ct_cancel_off();
	is_forking = true;
	CTRACE_FENCE_();
	pthread_mutex_lock(&deferred.lock);
}

static void queue_unlock_after_fork(void)
{
	pthread_mutex_unlock(&deferred.lock);
	CTRACE_FENCE_();
	is_forking = false;
	ct_cancel_restore(&cancel_state);
}

/* In the child only this thread exists: the control thread, which may wait for an outcome, and
 * the other members belong to the parent. */
static void queue_unlock_in_child(void)
{
	for (struct deferred *command = deferred.first; command != NULL; command = command->next)
		command->is_awaited = false;
	/* A command that the forking thread is carrying out ends normally. */
	for (struct deferred **link = &deferred.first; *link != NULL;) {
		struct deferred *command = *link;

		if (command->state == RUNS && command->thread == ct_ctf_thread()) {
			link = &command->next;
			continue;
		}
		*link = command->next;
		if (command->state == WAITS)
			command_end_wait(command, DROPPED);
		command_spend(command);
	}
	self.next = NULL;
	deferred.members = self.is_joined ? &self : NULL;
	queue_unlock_after_fork();
}

/* ---- members ---- */

static void member_leave(void *member)
{
	struct member **link = &deferred.members;

	(void)member;
	queue_lock();
	while (*link != NULL && *link != &self)
		link = &(*link)->next;
	if (*link != NULL)
		*link = self.next;
	commands_drop(self.thread);
	self.is_joined = false;
	ct_notify_installed--;
	queue_unlock();
	(void)__atomic_fetch_add(&deferred.ended, 1, __ATOMIC_RELEASE);
	ct_os_wake(&deferred.ended);
}

static bool members_set_up(void)
{
	if (!deferred.is_set_up && pthread_key_create(&deferred.key, member_leave) == 0)
		deferred.is_set_up = pthread_atfork(queue_lock_for_fork, queue_unlock_after_fork,
						    queue_unlock_in_child) == 0;
	return deferred.is_set_up;
}

void ct_deferred_join(void)
{
	if (self.is_joined || ct_thread_locked != 0 || ct_os_thread_is_own())
		return;
	queue_lock();
	if (members_set_up() && pthread_setspecific(deferred.key, &self) == 0) {
		self = (struct member){ .next = deferred.members,
					.thread = ct_ctf_thread(),
					.is_joined = true };
		deferred.members = &self;
		ct_notify_installed++;
	}
	queue_unlock();
}

const void *ct_deferred_thread(void)
{
	const void *thread = NULL;

	queue_lock();
	if (deferred.members != NULL)
		thread = deferred.members->thread;
	queue_unlock();
	return thread;
}

void ct_deferred_refused(const void *thread, uint64_t token)
{
	refused = (struct refusal){ thread, token };
}

/* ---- the program's thread ---- */

static struct deferred *command_next_for_me(void)
{
	struct deferred *command;

	queue_lock();
	for (command = deferred.first; command != NULL; command = command->next)
		if (command->state == WAITS && command->thread == ct_ctf_thread())
			break;
	if (command != NULL)
		command_end_wait(command, RUNS);
	queue_unlock();
	return command;
}

static void command_end(struct deferred *command, const struct ctrace_outcome *outcome)
{
	queue_lock();
	command->outcome = *outcome;
	command->state = DONE;
	if (!command->is_awaited) {
		command_take_out(command);
		command_spend(command);
	}
	queue_unlock();
	(void)__atomic_fetch_add(&deferred.ended, 1, __ATOMIC_RELEASE);
	ct_os_wake(&deferred.ended);
}

bool ct_deferred_run(void)
{
	struct deferred *command;
	unsigned count = 0;

	/* Not inside a command or routine: a deferred command must not be nested. */
	if (!self.is_joined || ct_deferred_busy != 0 || is_forking)
		return false;
	ct_deferred_busy++;
	for (; count < QUEUE_LIMIT && (command = command_next_for_me()) != NULL; count++) {
		struct ctrace_outcome outcome;

		(void)ct_trace_ct(&command->command, &outcome);
		command_end(command, &outcome);
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
	struct deferred **link = &deferred.first;
	uint32_t others = 0;

	while (member != NULL && member->thread != command->thread)
		member = member->next;
	if (member == NULL)
		return NO_THREAD;
	for (; *link != NULL; link = &(*link)->next)
		others += (*link)->thread == command->thread && (*link)->state != DONE;
	if (others >= QUEUE_LIMIT)
		return NO_ROOM;
	*link = command;
	(void)__atomic_add_fetch(&ct_notify_waiting, 1, __ATOMIC_RELAXED);
	return others == 0 ? HANDED : HANDED_BEHIND_OTHERS;
}

static enum deferred_state command_state(const struct deferred *command)
{
	enum deferred_state state;

	queue_lock();
	state = command->state;
	queue_unlock();
	return state;
}

/* Waits for the command for at most wait_ms, and returns its state; then nobody awaits it.
 * DONE: *out is its outcome. */
static enum deferred_state command_await(struct deferred *command, unsigned wait_ms,
					 struct ctrace_outcome *out)
{
	uint64_t end = ct_clock_mono_ns() + (uint64_t)wait_ms * 1000000u;
	enum deferred_state state;

	for (;;) {
		uint32_t word = __atomic_load_n(&deferred.ended, __ATOMIC_ACQUIRE);
		uint64_t now = ct_clock_mono_ns();

		state = command_state(command);
		if (state == DONE || state == DROPPED || now >= end)
			break;
		ct_os_wait(&deferred.ended, word, end - now);
	}
	queue_lock();
	state = command->state;
	command->is_awaited = false;
	if (state == DONE)
		*out = command->outcome;
	if (state == DONE || state == DROPPED) {
		command_take_out(command);
		command_spend(command);
	}
	queue_unlock();
	return state;
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
	*copy = (struct deferred){ .thread = refusal.thread, .state = WAITS, .command = *command };
	queue_lock();
	commands_free_spent();
	handed = command_append(copy);
	copy->is_awaited = handed == HANDED && wait_ms != 0;
	queue_unlock();
	if (handed == NO_THREAD || handed == NO_ROOM)
		free(copy);
	else if (handed == HANDED && wait_ms != 0)
		state = command_await(copy, wait_ms, out);
	if (state == DONE)
		return true;
	outcome_report(out, handed, state, refusal.token);
	return false;
}
