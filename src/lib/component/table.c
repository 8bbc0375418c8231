/*
 * table.c - the traces: by component, by head and sublevel; and commands' transactions on them.
 *
 * Commands come here, on any thread of the program, never from a signal handler.  The lock is held
 * for a look-up or a link, never while a routine runs; longer work is done in a transaction.  A
 * deleted trace keeps its memory for the next definition of its name.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 1024u
#define CHUNKS (CT_COMPONENT_LIMIT / CHUNK)

/* A thread that waits for a trace. */
struct waiter {
	struct waiter *next;
	const void *thread;
	const struct ct_trace *trace;
};

static struct {
	pthread_mutex_t lock;
	/* atomic: incremented under the lock when a transaction ends or a waiter should look again;
	 * waiters sleep on it */
	uint32_t released;
	/* malloc'ed, as are the traces and their members, so that a leak checker finds all of it
	 * in use */
	struct ct_trace **chunks[CHUNKS];
	struct waiter *waiters;
	uint32_t waiter_count;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * A routine may need a mutex of the program that the waiting thread holds: a deadlock that no
 * transaction shows.  Five seconds is longer than a routine should take, and short for a person.
 */
uint64_t ct_transaction_limit_ns = UINT64_C(5000000000);

static __thread char thread_mark __attribute__((tls_model("initial-exec")));

/* The transaction that this thread last failed to wait for. */
static __thread struct {
	uint32_t component, tid;
	const char *command;
	bool is_operators;
} blocker __attribute__((tls_model("initial-exec")));

const void *ct_transaction_thread(void)
{
	return &thread_mark;
}

/* A signal handler that interrupts a locked section finds ct_thread_locked set and does nothing. */
void ct_table_lock(void)
{
	ct_guard_lock(&table.lock);
}

void ct_table_unlock(void)
{
	ct_guard_unlock(&table.lock);
}

/* ---- the index ---- */

struct ct_trace *ct_table_find(uint32_t component)
{
	struct ct_trace **chunk = table.chunks[component / CHUNK];

	return chunk != NULL ? chunk[component % CHUNK] : NULL;
}

struct ct_trace *ct_table_make(uint32_t component)
{
	struct ct_trace ***chunk = &table.chunks[component / CHUNK];
	struct ct_trace **slot;

	if (*chunk == NULL)
		*chunk = calloc(CHUNK, sizeof(struct ct_trace *));
	if (*chunk == NULL)
		return NULL;
	slot = &(*chunk)[component % CHUNK];
	if (*slot == NULL) {
		*slot = calloc(1, sizeof **slot);
		if (*slot != NULL)
			(*slot)->component = component;
	}
	return *slot;
}

void ct_table_each(void (*each)(struct ct_trace *trace, void *user), void *user)
{
	for (uint32_t i = 0; i < CHUNKS; i++)
		for (uint32_t j = 0; table.chunks[i] != NULL && j < CHUNK; j++)
			if (table.chunks[i][j] != NULL)
				each(table.chunks[i][j], user);
}

/* ---- heads and sublevels ---- */

void ct_table_link(struct ct_trace *trace, struct ct_trace *head)
{
	trace->head = head;
	trace->previous_sub = NULL;
	trace->next_sub = head->first_sub;
	if (head->first_sub != NULL)
		head->first_sub->previous_sub = trace;
	head->first_sub = trace;
}

void ct_table_unlink(struct ct_trace *trace)
{
	if (trace->head == NULL)
		return;
	if (trace->previous_sub != NULL)
		trace->previous_sub->next_sub = trace->next_sub;
	else
		trace->head->first_sub = trace->next_sub;
	if (trace->next_sub != NULL)
		trace->next_sub->previous_sub = trace->previous_sub;
	trace->head = trace->next_sub = trace->previous_sub = NULL;
}

struct ct_trace *ct_table_next(const struct ct_trace *top, struct ct_trace *at, bool prune)
{
	if (!prune && at->first_sub != NULL)
		return at->first_sub;
	while (at != top) {
		if (at->next_sub != NULL)
			return at->next_sub;
		at = at->head;
	}
	return NULL;
}

/* ---- transactions ---- */

void ct_transaction_init(struct ct_transaction *transaction, const char *command)
{
	*transaction = (struct ct_transaction){ .thread = ct_transaction_thread(),
						.is_operators = ct_os_thread_is_own(),
						.command = command };
}

bool ct_transaction_is_mine(const struct ct_trace *trace)
{
	return trace->transaction != NULL && trace->transaction->thread == ct_transaction_thread();
}

static const struct ct_trace *thread_awaits(const void *thread)
{
	const struct waiter *at = table.waiters;

	while (at != NULL && at->thread != thread)
		at = at->next;
	return at != NULL ? at->trace : NULL;
}

/* Would waiting for this trace deadlock?  Follows the threads from the one that has the trace: each
 * waits for the next.  A thread that was woken may still be in the list, so the chain may be a
 * cycle: no more steps are taken than there are waiters. */
static bool trace_waits_for_me(const struct ct_trace *trace)
{
	for (uint32_t steps = 0;
	     trace != NULL && trace->transaction != NULL && steps <= table.waiter_count; steps++) {
		if (ct_transaction_is_mine(trace))
			return true;
		trace = thread_awaits(trace->transaction->thread);
	}
	return false;
}

static void waiters_wake(void)
{
	(void)__atomic_fetch_add(&table.released, 1, __ATOMIC_RELEASE);
	ct_os_wake(&table.released);
}

static void waiter_add(struct waiter *waiter)
{
	waiter->next = table.waiters;
	table.waiters = waiter;
	table.waiter_count++;
}

/* It may be missing in a child that a waiting thread's signal handler has forked. */
static void waiter_remove(const struct waiter *waiter)
{
	struct waiter **link = &table.waiters;

	while (*link != NULL && *link != waiter)
		link = &(*link)->next;
	if (*link == NULL)
		return;
	*link = waiter->next;
	table.waiter_count--;
}

static void blocker_note(const struct ct_trace *trace)
{
	blocker.component = trace->component;
	blocker.tid = trace->transaction->tid;
	blocker.command = trace->transaction->command;
	blocker.is_operators = trace->transaction->is_operators;
}

/*
 * Sleeps under no lock, with the thread's own signal mask.  A thread that has waited for the whole
 * limit marks the transaction, and every other waiter is refused at once: a routine that hangs
 * costs the program the limit once.
 */
static enum ct_transaction_result trace_wait_for(struct ct_trace *trace, bool gives_way)
{
	struct waiter self = { .thread = ct_transaction_thread(), .trace = trace };
	enum ct_transaction_result result = CT_TRANSACTION_OK;
	bool is_over = false;
	uint64_t start_ns;

	if (trace->transaction == NULL)
		return CT_TRANSACTION_OK;
	if (gives_way && trace_waits_for_me(trace))
		return CT_TRANSACTION_REFUSED;
	waiter_add(&self);
	/* A thread that waits for this one in a cycle looks again and is refused. */
	if (!gives_way)
		waiters_wake();
	start_ns = ct_clock_mono_ns();
	while (trace->transaction != NULL && result == CT_TRANSACTION_OK) {
		/* incremented under the lock only */
		uint32_t word = __atomic_load_n(&table.released, __ATOMIC_RELAXED);
		uint64_t waited_ns = ct_clock_mono_ns() - start_ns;
		const sigset_t *lifted;

		if (gives_way && trace_waits_for_me(trace)) {
			result = CT_TRANSACTION_REFUSED;
		} else if (is_over || trace->transaction->is_overdue ||
			   waited_ns >= ct_transaction_limit_ns) {
			trace->transaction->is_overdue |= trace->transaction->since_ns <= start_ns;
			blocker_note(trace);
			result = CT_TRANSACTION_TIMED_OUT;
		} else {
			ct_table_unlock();
			lifted = ct_shield_lift();
			is_over = !ct_os_wait(&table.released, word,
					      ct_transaction_limit_ns - waited_ns);
			ct_shield_restore(lifted);
			ct_table_lock();
		}
	}
	waiter_remove(&self);
	return result;
}

uint32_t ct_transaction_waiters(void)
{
	uint32_t count;

	ct_table_lock();
	count = table.waiter_count;
	ct_table_unlock();
	return count;
}

enum ct_transaction_result ct_transaction_wait(struct ct_trace *trace)
{
	return trace_wait_for(trace, true);
}

static bool transaction_append(struct ct_transaction *transaction, struct ct_trace *trace)
{
	if (transaction->count == transaction->capacity) {
		uint32_t capacity = transaction->capacity != 0 ? transaction->capacity * 2 : 8;
		struct ct_trace **traces =
			realloc(transaction->traces, capacity * sizeof(struct ct_trace *));

		if (traces == NULL)
			return false;
		transaction->traces = traces;
		transaction->capacity = capacity;
	}
	if (transaction->count == 0) {
		transaction->since_ns = ct_clock_mono_ns();
		transaction->tid = ct_os_thread_id();
	}
	transaction->traces[transaction->count++] = trace;
	trace->transaction = transaction;
	return true;
}

enum ct_transaction_result ct_transaction_add(struct ct_transaction *transaction,
					      struct ct_trace *trace)
{
	enum ct_transaction_result result = ct_transaction_wait(trace);

	if (result == CT_TRANSACTION_OK && !transaction_append(transaction, trace))
		return CT_TRANSACTION_NO_MEMORY;
	return result;
}

/* Traces in the transaction do not change any more.  A trace of another command may be deleted, or
 * get sublevels, before that command ends.  So after a wait the search starts at the top again. */
enum ct_transaction_result ct_transaction_add_tree(struct ct_transaction *transaction,
						   struct ct_trace *trace, bool followers)
{
	struct ct_trace *at = trace;

	while (at != NULL) {
		bool leave_out = followers && at != trace && !at->follows;

		if (leave_out || at->transaction == transaction) {
			at = ct_table_next(trace, at, leave_out);
		} else if (at->transaction == NULL) {
			if (!transaction_append(transaction, at))
				return CT_TRANSACTION_NO_MEMORY;
		} else {
			enum ct_transaction_result result = trace_wait_for(
				at, !transaction->is_firm || ct_transaction_is_mine(at));

			if (result != CT_TRANSACTION_OK)
				return result;
			at = trace;
		}
	}
	return CT_TRANSACTION_OK;
}

void ct_transaction_release(struct ct_transaction *transaction)
{
	ct_table_lock();
	for (uint32_t i = 0; i < transaction->count; i++)
		transaction->traces[i]->transaction = NULL;
	if (table.waiters != NULL)
		waiters_wake();
	ct_table_unlock();
	free(transaction->traces);
	ct_transaction_init(transaction, NULL);
}

static uint32_t blocker_outcome(struct ctrace_outcome *out)
{
	const char *command = blocker.command != NULL ? blocker.command : "a command";
	const char *name = ct_registry_name(ct_process.registry, blocker.component);
	char who[32];

	(void)snprintf(who, sizeof who, blocker.is_operators ? "an operator" : "thread %u",
		       (unsigned)blocker.tid);
	return ct_outcome_set(
		out, CTRACE_RC_SYSTEM, CTRACE_RSN_RECOVERY,
		"%s is in use by %s of %s, which does not end: has its routine a lock that is not free?",
		name, command, who);
}

uint32_t ct_transaction_outcome(enum ct_transaction_result result, const char *name,
				struct ctrace_outcome *out)
{
	if (result == CT_TRANSACTION_NO_MEMORY)
		return ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE,
				      "no memory for a command about %s", name);
	if (result == CT_TRANSACTION_REFUSED)
		return ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_RECOVERY,
				      "%s is in use by a command that waits for this one", name);
	if (result == CT_TRANSACTION_TIMED_OUT)
		return blocker_outcome(out);
	return CTRACE_RC_OK;
}

/* ---- definitions ---- */

struct ct_trace *ct_trace_find_defined(const char *name, size_t size)
{
	struct ct_trace *trace = NULL;
	uint32_t component;

	if (ct_registry_find_any(ct_process.registry, name, size, &component) == CTRACE_OK)
		trace = ct_table_find(component);
	return trace != NULL && (trace->is_defined ||
				 (ct_transaction_is_mine(trace) && trace->generation != 0))
		       ? trace
		       : NULL;
}

void ct_trace_describe(const struct ct_trace *trace)
{
	struct ctrace_definition definition = { .fmttab = "" };

	_Static_assert(sizeof definition.fmttab > CTRACE_MAX_NAME &&
			       sizeof definition.userdata == CTRACE_USERDATA_SIZE,
		       "a definition has room for FMTTAB and USERDATA");
	memcpy(definition.fmttab, trace->attributes.fmttab, sizeof trace->attributes.fmttab);
	memcpy(definition.userdata, trace->userdata, sizeof definition.userdata);
	ct_registry_describe(ct_process.registry, trace->component,
			     ct_definition_or_null(&definition));
}

void ct_trace_reset(struct ct_trace *trace)
{
	struct ct_status *status;
	char *minops;

	ct_table_lock();
	status = trace->status;
	minops = trace->attributes.minops;
	trace->status = NULL;
	memset(&trace->attributes, 0, sizeof trace->attributes);
	memset(trace->userdata, 0, sizeof trace->userdata);
	trace->follows = trace->is_leaving = false;
	ct_table_unlock();
	ct_registry_describe(ct_process.registry, trace->component, NULL);
	free(status);
	free(minops);
}

void ct_trace_restore_ring(const struct ct_trace *trace)
{
	const char *name = ct_registry_name(ct_process.registry, trace->component);

	if (ct_registry_configured(ct_process.registry, trace->component).buffer !=
	    trace->buffer_before)
		(void)!ct_channel_set_buffer(ct_process.registry, name, strlen(name),
					     trace->buffer_before);
	if (ct_registry_configured(ct_process.registry, trace->component).writer !=
	    trace->writer_before)
		(void)!ct_channel_set_writer(ct_process.registry, name, strlen(name),
					     trace->writer_before);
	(void)!ct_dest_set_trace(ct_process.registry, trace->component, false);
}

/* ---- tokens ---- */

uint64_t ct_token_of(const struct ct_trace *trace)
{
	return (uint64_t)trace->generation << 32 | (trace->component + 1u);
}

bool ct_token_find(uint64_t token, struct ct_token *out)
{
	uint32_t component = (uint32_t)token - 1u;
	const struct ct_trace *trace = NULL;
	bool is_valid;

	ct_table_lock();
	if (component < CT_COMPONENT_LIMIT)
		trace = ct_table_find(component);
	/* Also during DEFINE: the routine has the token before any other thread sees the trace. */
	is_valid = trace != NULL && ct_token_of(trace) == token &&
		   (trace->is_defined || trace->transaction != NULL);
	if (is_valid) {
		while (trace->attributes.likehead && trace->head != NULL)
			trace = trace->head;
		*out = (struct ct_token){ component, trace->attributes.wtrmode,
					  trace->attributes.wtr };
	}
	ct_table_unlock();
	return is_valid;
}

/* ---- fork ---- */

static void trace_find_interrupted(struct ct_trace *trace, void *user)
{
	struct ct_trace **found = user;

	if (trace->is_interrupted)
		*found = trace;
}

/* No other thread is here before the child has attached. */
void ct_table_reset_interrupted(void)
{
	struct ct_trace *trace;

	do {
		struct ct_level_trace level = { .minimum = CTRACE_LEVEL_NONE };

		trace = NULL;
		ct_table_lock();
		ct_table_each(trace_find_interrupted, &trace);
		ct_table_unlock();
		if (trace == NULL)
			return;
		trace->is_interrupted = false;
		level.level = trace->level_before;
		ct_trace_restore_ring(trace);
		(void)!ct_level_set_trace(ct_process.registry, trace->component, &level, NULL,
					  NULL);
		ct_trace_reset(trace);
	} while (true);
}

/* Another thread's command does not go on in the child.  Its definition never existed. */
static void trace_free_from_others(struct ct_trace *trace, void *user)
{
	(void)user;
	if (trace->transaction == NULL || ct_transaction_is_mine(trace))
		return;
	trace->transaction = NULL;
	trace->is_leaving = false; /* its definition goes on */
	if (trace->is_defined)
		return;
	/* else its definition has not begun yet */
	trace->is_interrupted = trace->attributes.bufmin != 0;
	ct_table_unlink(trace);
}

void ct_table_unlock_in_child(void)
{
	table.waiters = NULL;
	table.waiter_count = 0;
	ct_table_each(trace_free_from_others, NULL);
	ct_console_drop_others();
	(void)pthread_mutex_init(&table.lock, NULL);
	ct_guard_leave();
}
