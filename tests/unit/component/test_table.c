/*
 * test_table.c - the traces: their index and tree, and transactions of many threads, in a forked
 * child too.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "component_fixture.h"

#include <semaphore.h>

/* ---- the index ---- */

static struct ct_trace *make(uint32_t component)
{
	struct ct_trace *trace;

	ct_table_lock();
	trace = ct_table_make(component);
	ct_table_unlock();
	CHILD_CHECK(trace != NULL && trace->component == component && !trace->is_defined &&
		    trace->transaction == NULL);
	return trace;
}

static unsigned visits[4];

static void count_visit(struct ct_trace *trace, void *user)
{
	const struct ct_trace **traces = user;

	for (unsigned i = 0; i < 4; i++)
		visits[i] += traces[i] == trace;
}

static void a_trace_is_made_once_and_keeps_its_place(void)
{
	static const uint32_t components[4] = { 0, 1023, 1024, CT_COMPONENT_LIMIT - 1 };
	struct ct_trace *traces[4];

	for (unsigned i = 0; i < 4; i++) {
		CHILD_CHECK(ct_table_find(components[i]) == NULL);
		traces[i] = make(components[i]);
	}
	CHILD_CHECK(ct_table_find(1) == NULL && ct_table_find(4711) == NULL);
	for (unsigned i = 0; i < 4; i++)
		CHILD_CHECK(ct_table_find(components[i]) == traces[i] &&
			    make(components[i]) == traces[i]);
	ct_table_lock();
	ct_table_each(count_visit, traces);
	ct_table_unlock();
	CHILD_CHECK(visits[0] == 1 && visits[1] == 1 && visits[2] == 1 && visits[3] == 1);
	CHILD_CHECK(ct_thread_locked == 0);
}

/* ---- heads and sublevels ---- */

/* Trace number n below number head; the test's traces are components of that number. */
static struct ct_trace *make_sub(uint32_t component, struct ct_trace *head)
{
	struct ct_trace *trace = make(component);

	ct_table_lock();
	ct_table_link(trace, head);
	ct_table_unlock();
	return trace;
}

/* The tree of `top` as digits, in the order of the walk; below `pruned` nothing. */
static const char *walk(struct ct_trace *top, const struct ct_trace *pruned)
{
	static __thread char text[32];
	size_t size = 0;

	ct_table_lock();
	for (struct ct_trace *at = top; at != NULL && size + 1 < sizeof text;
	     at = ct_table_next(top, at, at == pruned))
		text[size++] = (char)('0' + at->component);
	ct_table_unlock();
	text[size] = '\0';
	return text;
}

static void a_tree_is_walked_heads_first(void)
{
	struct ct_trace *top = make(1);
	struct ct_trace *a = make_sub(2, top), *b = make_sub(3, top), *c = make_sub(4, top);
	struct ct_trace *deep = make_sub(6, make_sub(5, b));

	CHILD_CHECK(strcmp(walk(top, NULL), "143562") == 0 && strcmp(walk(b, NULL), "356") == 0 &&
		    strcmp(walk(deep, NULL), "6") == 0);
	CHILD_CHECK(strcmp(walk(top, b), "1432") == 0 && strcmp(walk(top, top), "1") == 0);
	ct_table_lock();
	ct_table_unlink(b); /* in the middle, with what is below it */
	ct_table_unlock();
	CHILD_CHECK(strcmp(walk(top, NULL), "142") == 0 && strcmp(walk(b, NULL), "356") == 0 &&
		    b->head == NULL);
	ct_table_lock();
	ct_table_unlink(c); /* the first */
	ct_table_unlink(a); /* the last and only */
	ct_table_unlink(a); /* is in no tree */
	ct_table_unlock();
	CHILD_CHECK(strcmp(walk(top, NULL), "1") == 0 && top->first_sub == NULL);
}

/* ---- transactions ---- */

static enum ct_transaction_result transaction_add(struct ct_transaction *transaction,
						  struct ct_trace *trace)
{
	enum ct_transaction_result result;

	ct_table_lock();
	result = ct_transaction_add(transaction, trace);
	ct_table_unlock();
	return result;
}

static enum ct_transaction_result transaction_add_tree(struct ct_transaction *transaction,
						       struct ct_trace *trace, bool followers)
{
	enum ct_transaction_result result;

	ct_table_lock();
	result = ct_transaction_add_tree(transaction, trace, followers);
	ct_table_unlock();
	return result;
}

/* The transaction's traces as digits. */
static const char *traces_of(const struct ct_transaction *transaction)
{
	static __thread char text[32];

	for (uint32_t i = 0; i < transaction->count && i + 1 < sizeof text; i++) {
		CHILD_CHECK(transaction->traces[i]->transaction == transaction);
		text[i] = (char)('0' + transaction->traces[i]->component);
		text[i + 1] = '\0';
	}
	return transaction->count != 0 ? text : "";
}

static void *find_third_party(void *trace)
{
	CHILD_CHECK(!ct_transaction_is_mine(trace));
	return NULL;
}

static void a_thread_does_not_wait_for_itself(void)
{
	struct ct_trace *trace = make(1);
	struct ct_transaction first, second;
	pthread_t thread;

	ct_transaction_init(&first, NULL);
	ct_transaction_init(&second, NULL);
	CHILD_CHECK(!ct_transaction_is_mine(trace) &&
		    transaction_add(&first, trace) == CT_TRANSACTION_OK &&
		    ct_transaction_is_mine(trace));
	CHILD_CHECK(pthread_create(&thread, NULL, find_third_party, trace) == 0 &&
		    pthread_join(thread, NULL) == 0);
	/* As from the routine that it is called for. */
	CHILD_CHECK(transaction_add(&second, trace) == CT_TRANSACTION_REFUSED &&
		    transaction_add_tree(&second, trace, false) == CT_TRANSACTION_REFUSED);
	ct_transaction_release(&second);
	CHILD_CHECK(trace->transaction == &first);
	ct_transaction_release(&first);
	CHILD_CHECK(trace->transaction == NULL && first.count == 0 && first.traces == NULL);
	ct_transaction_release(&first); /* one that has nothing */
	CHILD_CHECK(transaction_add(&second, trace) == CT_TRANSACTION_OK);
	ct_transaction_release(&second);
}

static void a_tree_is_added_with_its_followers_or_whole(void)
{
	struct ct_trace *top = make(1);
	struct ct_trace *own = make_sub(3, top), *follower = make_sub(2, top);
	struct ct_transaction transaction;

	make_sub(5, own)->follows = true; /* of one that does not follow */
	follower->follows = true;
	make_sub(4, follower)->follows = true;
	ct_transaction_init(&transaction, NULL);
	CHILD_CHECK(transaction_add_tree(&transaction, top, true) == CT_TRANSACTION_OK &&
		    strcmp(traces_of(&transaction), "124") == 0);
	ct_transaction_release(&transaction);
	CHILD_CHECK(transaction_add_tree(&transaction, top, false) == CT_TRANSACTION_OK &&
		    strcmp(traces_of(&transaction), "12435") == 0);
	ct_transaction_release(&transaction);
	CHILD_CHECK(transaction_add_tree(&transaction, own, true) == CT_TRANSACTION_OK &&
		    strcmp(traces_of(&transaction), "35") == 0);
	ct_transaction_release(&transaction);
}

static pthread_barrier_t barrier;
static struct ct_trace *traces[8];
static unsigned refusals; /* atomic */

/* Adds its own trace, then its neighbour's, in a ring of threads. */
static void *add_own_and_next(void *argument)
{
	unsigned own = *(unsigned *)argument, count = ((unsigned *)argument)[1];
	struct ct_transaction transaction;

	ct_transaction_init(&transaction, NULL);
	CHILD_CHECK(transaction_add(&transaction, traces[own]) == CT_TRANSACTION_OK);
	(void)pthread_barrier_wait(&barrier);
	if (transaction_add(&transaction, traces[(own + 1) % count]) == CT_TRANSACTION_REFUSED)
		(void)__atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED);
	ct_transaction_release(&transaction);
	return NULL;
}

static void ring_of(unsigned count)
{
	unsigned arguments[8][2];
	pthread_t threads[8];

	refusals = 0;
	CHILD_CHECK(pthread_barrier_init(&barrier, NULL, count) == 0);
	for (unsigned i = 0; i < count; i++) {
		arguments[i][0] = i;
		arguments[i][1] = count;
		CHILD_CHECK(pthread_create(&threads[i], NULL, add_own_and_next, arguments[i]) == 0);
	}
	for (unsigned i = 0; i < count; i++)
		CHILD_CHECK(pthread_join(threads[i], NULL) == 0);
	CHILD_CHECK(refusals == 1);
	for (unsigned i = 0; i < count; i++)
		CHILD_CHECK(traces[i]->transaction == NULL);
}

/* The one who would close it is refused; when he has given back what he had, the others go on. */
static void a_ring_of_waiters_is_never_closed(void)
{
	for (unsigned i = 0; i < 8; i++)
		traces[i] = make(i);
	for (unsigned round = 0; round < 50; round++) {
		ring_of(2);
		ring_of(3);
		ring_of(8);
	}
}

/* ---- others define and delete meanwhile ---- */

static sem_t is_begun, may_finish;

/* As DEFINE does it: trace 4 below trace 2, whose definition takes its time, and comes to nothing
 * when `argument` is NULL. */
static void *define_slowly(void *argument)
{
	struct ct_trace *trace = make(4);
	struct ct_transaction transaction;

	ct_transaction_init(&transaction, NULL);
	ct_table_lock();
	CHILD_CHECK(ct_transaction_add(&transaction, trace) == CT_TRANSACTION_OK);
	ct_table_link(trace, ct_table_find(2));
	ct_table_unlock();
	CHILD_CHECK(sem_post(&is_begun) == 0);
	while (sem_wait(&may_finish) != 0)
		;
	ct_table_lock();
	trace->is_defined = argument != NULL;
	if (argument == NULL)
		ct_table_unlink(trace);
	ct_table_unlock();
	ct_transaction_release(&transaction);
	return NULL;
}

static struct ct_transaction tree;

/* The other thread may finish from now on, but must take the lock for it: it gets it when this one
 * waits. */
static void *add_the_tree(void *top)
{
	ct_transaction_init(&tree, NULL);
	ct_table_lock();
	CHILD_CHECK(sem_post(&may_finish) == 0);
	CHILD_CHECK(ct_transaction_add_tree(&tree, top, false) == CT_TRANSACTION_OK);
	ct_table_unlock();
	return NULL;
}

static void add_around_a_definition(bool succeeds, const char *expected)
{
	struct ct_trace *top = make(1);
	pthread_t definer, adder;

	CHILD_CHECK(sem_init(&is_begun, 0, 0) == 0 && sem_init(&may_finish, 0, 0) == 0);
	(void)make_sub(3, make_sub(2, top));
	(void)make_sub(5, top);
	CHILD_CHECK(pthread_create(&definer, NULL, define_slowly, succeeds ? top : NULL) == 0);
	while (sem_wait(&is_begun) != 0)
		;
	CHILD_CHECK(pthread_create(&adder, NULL, add_the_tree, top) == 0);
	CHILD_CHECK(pthread_join(definer, NULL) == 0 && pthread_join(adder, NULL) == 0);
	CHILD_CHECK(strcmp(traces_of(&tree), expected) == 0 &&
		    strcmp(walk(top, NULL), expected) == 0);
}

static void a_tree_has_what_was_being_defined_below_it(void)
{
	add_around_a_definition(true, "15243");
}

static void a_tree_has_not_what_came_to_nothing(void)
{
	add_around_a_definition(false, "1523");
}

/* The top itself goes while one waits for it. */
static void *delete_top(void *argument)
{
	struct ct_transaction transaction;

	ct_transaction_init(&transaction, NULL);
	CHILD_CHECK(transaction_add_tree(&transaction, argument, false) == CT_TRANSACTION_OK);
	CHILD_CHECK(sem_post(&is_begun) == 0);
	while (sem_wait(&may_finish) != 0)
		;
	ct_table_lock();
	for (uint32_t i = transaction.count; i > 0; i--) {
		transaction.traces[i - 1]->is_defined = false;
		ct_table_unlink(transaction.traces[i - 1]);
	}
	ct_table_unlock();
	ct_transaction_release(&transaction);
	return NULL;
}

static void who_waited_for_a_tree_that_went_has_its_top_alone(void)
{
	struct ct_trace *top = make(1);
	pthread_t deleter, adder;

	CHILD_CHECK(sem_init(&is_begun, 0, 0) == 0 && sem_init(&may_finish, 0, 0) == 0);
	make_sub(2, top)->is_defined = top->is_defined = true;
	CHILD_CHECK(pthread_create(&deleter, NULL, delete_top, top) == 0);
	while (sem_wait(&is_begun) != 0)
		;
	CHILD_CHECK(pthread_create(&adder, NULL, add_the_tree, top) == 0);
	CHILD_CHECK(pthread_join(deleter, NULL) == 0 && pthread_join(adder, NULL) == 0);
	CHILD_CHECK(strcmp(traces_of(&tree), "1") == 0 && !top->is_defined);
}

/* One that holds the lower part wants the upper one, as a routine of a sublevel does that commands
 * its head. */
static void *hold_sub_and_want_top(void *argument)
{
	struct ct_transaction transaction;

	(void)argument;
	ct_transaction_init(&transaction, NULL);
	CHILD_CHECK(transaction_add(&transaction, traces[1]) == CT_TRANSACTION_OK);
	(void)pthread_barrier_wait(&barrier);
	if (transaction_add(&transaction, traces[0]) == CT_TRANSACTION_REFUSED)
		(void)__atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED);
	ct_transaction_release(&transaction);
	return NULL;
}

static void a_tree_and_a_part_of_it_do_not_wait_for_each_other(void)
{
	struct ct_transaction transaction;
	pthread_t thread;

	traces[0] = make(1);
	traces[1] = make_sub(2, traces[0]);
	CHILD_CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
	for (unsigned round = 0; round < 50; round++) {
		refusals = 0;
		ct_transaction_init(&transaction, NULL);
		CHILD_CHECK(transaction_add(&transaction, traces[0]) == CT_TRANSACTION_OK);
		CHILD_CHECK(pthread_create(&thread, NULL, hold_sub_and_want_top, NULL) == 0);
		(void)pthread_barrier_wait(&barrier);
		if (transaction_add_tree(&transaction, traces[0], false) == CT_TRANSACTION_REFUSED)
			(void)__atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED);
		else
			CHILD_CHECK(strcmp(traces_of(&transaction), "12") == 0);
		ct_transaction_release(&transaction);
		CHILD_CHECK(pthread_join(thread, NULL) == 0 && refusals == 1);
	}
}

/* ---- tokens ---- */

static void a_token_is_of_one_definition(void)
{
	struct ct_trace *trace = make(CT_COMPONENT_LIMIT - 1);
	struct ct_token token = { .component = 4711 };
	uint64_t first, second;

	trace->generation = 1;
	first = ct_token_of(trace);
	CHILD_CHECK(!ct_token_find(first, &token)); /* nobody has defined it */
	trace->is_defined = true;
	trace->attributes.wtr = true;
	trace->attributes.wtrmode = CTRACE_DREF;
	CHILD_CHECK(ct_token_find(first, &token));
	CHILD_CHECK(token.component == CT_COMPONENT_LIMIT - 1 && token.wtr &&
		    token.wtrmode == CTRACE_DREF);
	trace->is_defined = false;
	CHILD_CHECK(!ct_token_find(first, &token));
	trace->generation++;
	trace->is_defined = true;
	second = ct_token_of(trace);
	CHILD_CHECK(second != first && !ct_token_find(first, &token) &&
		    ct_token_find(second, &token));
}

static void a_token_of_anything_is_looked_at(void)
{
	static const uint64_t strange[] = {
		0,          1,          2,          CT_COMPONENT_LIMIT, CT_COMPONENT_LIMIT + 1,
		0xFFFFFFFF, 1ULL << 32, UINT64_MAX, UINT64_MAX << 32,   (uint64_t)1 << 32 | 0x8000
	};
	struct ct_token token;

	make(0)->is_defined = false;
	for (size_t i = 0; i < CT_COUNT(strange); i++)
		CHILD_CHECK(!ct_token_find(strange[i], &token));
}

static void a_token_of_what_is_like_its_head_has_the_heads_attributes(void)
{
	struct ct_trace *top = make(1), *sub = make_sub(2, top), *deep = make_sub(3, sub);
	struct ct_token token;

	top->is_defined = sub->is_defined = deep->is_defined = true;
	top->attributes = (struct ct_attributes){ .wtr = true, .wtrmode = CTRACE_FIXED };
	sub->attributes.likehead = deep->attributes.likehead = true;
	CHILD_CHECK(ct_token_find(ct_token_of(deep), &token) && token.component == 3 && token.wtr &&
		    token.wtrmode == CTRACE_FIXED);
	deep->attributes.likehead = false;
	CHILD_CHECK(ct_token_find(ct_token_of(deep), &token) && token.component == 3 && !token.wtr);
}

/* ---- fork ---- */

static sem_t may_end;

/* Works on trace 1, which is defined, and defines trace 2 below it. */
static void *work_on_two(void *argument)
{
	struct ct_transaction transaction;

	(void)argument;
	ct_transaction_init(&transaction, NULL);
	ct_table_lock();
	CHILD_CHECK(ct_transaction_add(&transaction, traces[1]) == CT_TRANSACTION_OK &&
		    ct_transaction_add(&transaction, traces[2]) == CT_TRANSACTION_OK);
	ct_table_link(traces[2], traces[1]);
	ct_table_unlock();
	CHILD_CHECK(sem_post(&is_begun) == 0);
	while (sem_wait(&may_end) != 0)
		;
	CHILD_CHECK(traces[1]->transaction == &transaction &&
		    traces[2]->transaction == &transaction && traces[2]->head == traces[1]);
	ct_transaction_release(&transaction);
	return NULL;
}

static void look_in_the_child(void)
{
	struct ct_transaction transaction;

	CHILD_CHECK(ct_thread_locked == 0); /* fork() calls ct_table_unlock_in_child() */
	CHILD_CHECK(traces[1]->transaction == NULL && traces[1]->is_defined &&
		    traces[1]->first_sub == NULL);
	CHILD_CHECK(traces[2]->transaction == NULL && !traces[2]->is_defined &&
		    traces[2]->head == NULL);
	CHILD_CHECK(ct_transaction_is_mine(traces[0])); /* our own command goes on */
	ct_transaction_init(&transaction, NULL);
	CHILD_CHECK(transaction_add(&transaction, traces[0]) == CT_TRANSACTION_REFUSED);
	CHILD_CHECK(transaction_add_tree(&transaction, traces[1], false) == CT_TRANSACTION_OK &&
		    transaction_add(&transaction, traces[2]) == CT_TRANSACTION_OK);
	ct_transaction_release(&transaction);
	_exit(0);
}

static void a_forked_child_has_its_own_threads_transactions_alone(void)
{
	struct ct_transaction transaction;
	pthread_t thread;
	int status;
	pid_t pid;

	attach();
	for (unsigned i = 0; i < 3; i++)
		traces[i] = make(i);
	traces[0]->is_defined = traces[1]->is_defined = true;
	ct_transaction_init(&transaction, NULL);
	CHILD_CHECK(transaction_add(&transaction, traces[0]) == CT_TRANSACTION_OK);
	CHILD_CHECK(sem_init(&is_begun, 0, 0) == 0 && sem_init(&may_end, 0, 0) == 0);
	CHILD_CHECK(pthread_create(&thread, NULL, work_on_two, NULL) == 0);
	while (sem_wait(&is_begun) != 0)
		;
	pid = fork();
	if (pid == 0)
		look_in_the_child();
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHILD_CHECK(sem_post(&may_end) == 0 && pthread_join(thread, NULL) == 0);
	ct_transaction_release(&transaction);
}

/* ---- a storm ---- */

enum { STORM_THREADS = 8, STORM_ROUNDS = 4000, STORM_TRACES = 13 };
/* who works on a trace; a plain word, which its transaction protects */
static unsigned owners[STORM_TRACES];

static unsigned storm_head(unsigned trace)
{
	return (trace - 1) / 3;
}

static void work(const struct ct_transaction *transaction, unsigned self)
{
	for (uint32_t i = 0; i < transaction->count; i++) {
		CHILD_CHECK(owners[transaction->traces[i]->component] == 0);
		owners[transaction->traces[i]->component] = self;
	}
	for (uint32_t i = 0; i < transaction->count; i++) {
		CHILD_CHECK(owners[transaction->traces[i]->component] == self);
		owners[transaction->traces[i]->component] = 0;
	}
}

static bool is_whole(const struct ct_transaction *transaction, struct ct_trace *top)
{
	uint32_t count = 0;

	ct_table_lock();
	for (struct ct_trace *at = top; at != NULL; at = ct_table_next(top, at, false))
		count += at->transaction == transaction ? 1 : transaction->count + 1;
	ct_table_unlock();
	return count == transaction->count;
}

/* As DEFINE and DELETE: a leaf comes below its head, in no other transaction, or goes. */
static void turn_leaf(struct ct_transaction *transaction, unsigned number)
{
	struct ct_trace *leaf, *head;

	ct_table_lock();
	leaf = ct_table_find(number);
	head = ct_table_find(storm_head(number));
	while (leaf->transaction != NULL ||
	       (head->transaction != NULL && !ct_transaction_is_mine(head)))
		if (ct_transaction_wait(leaf->transaction != NULL ? leaf : head) !=
		    CT_TRANSACTION_OK)
			goto refused;
	CHILD_CHECK(ct_transaction_add(transaction, leaf) == CT_TRANSACTION_OK);
	if (leaf->head == NULL)
		ct_table_link(leaf, head);
	else
		ct_table_unlink(leaf);
refused:
	ct_table_unlock();
}

static void *storm(void *argument)
{
	unsigned self = *(unsigned *)argument + 1, random = self * 2654435761u;

	for (unsigned round = 0; round < STORM_ROUNDS; round++) {
		struct ct_transaction outer, inner;
		unsigned first, second;

		random = random * 1103515245u + 12345u;
		first = (random >> 16) % STORM_TRACES;
		second = (random >> 8) % STORM_TRACES;
		ct_transaction_init(&outer, NULL);
		ct_transaction_init(&inner, NULL);
		if (first > 3 && (random & 1) == 0)
			turn_leaf(&outer, first);
		else if (transaction_add_tree(&outer, ct_table_find(first), false) ==
			 CT_TRANSACTION_OK)
			CHILD_CHECK(is_whole(&outer, ct_table_find(first)));
		/* A command from a routine: what it holds stays. */
		if (transaction_add_tree(&inner, ct_table_find(second), false) == CT_TRANSACTION_OK)
			work(&inner, self);
		ct_transaction_release(&inner);
		work(&outer, self);
		ct_transaction_release(&outer);
	}
	return NULL;
}

/* ---- a transaction that does not end ---- */

struct attempt {
	struct ct_trace *trace;
	enum ct_transaction_result result;
	struct ctrace_outcome outcome;
};

static void *try_to_add(void *argument)
{
	struct attempt *attempt = argument;
	struct ct_transaction transaction;

	ct_transaction_init(&transaction, NULL);
	memset(&attempt->outcome, 0, sizeof attempt->outcome);
	attempt->result = transaction_add(&transaction, attempt->trace);
	(void)ct_transaction_outcome(attempt->result, "unit", &attempt->outcome);
	ct_transaction_release(&transaction);
	return NULL;
}

static enum ct_transaction_result added_by_another(struct attempt *attempt)
{
	pthread_t thread;

	CHILD_CHECK(pthread_create(&thread, NULL, try_to_add, attempt) == 0 &&
		    pthread_join(thread, NULL) == 0);
	return attempt->result;
}

static void nobody_waits_for_ever(void)
{
	struct attempt attempt = { .trace = NULL };
	struct ct_transaction transaction, other;
	char thread[32];

	attach();
	CHILD_CHECK(emit(1) == CTRACE_OK);
	attempt.trace = make(0); /* the fixture's tracer, unit.test */
	ct_transaction_init(&transaction, "TRACE CT");
	CHILD_CHECK(transaction_add(&transaction, attempt.trace) == CT_TRANSACTION_OK &&
		    transaction.since_ns != 0 && !transaction.is_overdue);
	ct_transaction_limit_ns = 1000000;
	CHILD_CHECK(added_by_another(&attempt) == CT_TRANSACTION_TIMED_OUT &&
		    transaction.is_overdue && ct_transaction_waiters() == 0);
	CHILD_CHECK(attempt.outcome.rc == CTRACE_RC_SYSTEM &&
		    CTRACE_REASON(attempt.outcome.rsncode) == CTRACE_RSN_RECOVERY);
	(void)snprintf(thread, sizeof thread, "of thread %u,", (unsigned)gettid());
	CHILD_CHECK(strstr(attempt.outcome.message, ct_registry_name(ct_process.registry, 0)) !=
		    NULL);
	CHILD_CHECK(strstr(attempt.outcome.message, "TRACE CT") != NULL &&
		    strstr(attempt.outcome.message, thread) != NULL);
	/* Whoever comes now does not wait at all. */
	ct_transaction_limit_ns = UINT64_MAX;
	CHILD_CHECK(added_by_another(&attempt) == CT_TRANSACTION_TIMED_OUT);
	ct_transaction_release(&transaction);
	CHILD_CHECK(added_by_another(&attempt) == CT_TRANSACTION_OK &&
		    attempt.outcome.rc == CTRACE_RC_OK);
	/* A transaction that began while somebody waited for another one is not overdue. */
	ct_transaction_init(&other, NULL);
	CHILD_CHECK(transaction_add(&other, attempt.trace) == CT_TRANSACTION_OK &&
		    !other.is_overdue);
	ct_transaction_release(&other);
}

static void many_threads_neither_hang_nor_meet(void)
{
	unsigned numbers[STORM_THREADS];
	pthread_t threads[STORM_THREADS];

	(void)make(0);
	for (unsigned i = 1; i < STORM_TRACES; i++)
		(void)make_sub(i, ct_table_find(storm_head(i)));
	for (unsigned i = 0; i < STORM_THREADS; i++) {
		numbers[i] = i;
		CHILD_CHECK(pthread_create(&threads[i], NULL, storm, &numbers[i]) == 0);
	}
	for (unsigned i = 0; i < STORM_THREADS; i++)
		CHILD_CHECK(pthread_join(threads[i], NULL) == 0);
	for (unsigned i = 0; i < STORM_TRACES; i++)
		CHILD_CHECK(ct_table_find(i)->transaction == NULL);
}

int test_table(void)
{
	const struct CMUnitTest tests[] = {
		IN_CHILD(a_trace_is_made_once_and_keeps_its_place),
		IN_CHILD(a_tree_is_walked_heads_first),
		IN_CHILD(a_thread_does_not_wait_for_itself),
		IN_CHILD(a_tree_is_added_with_its_followers_or_whole),
		IN_CHILD(a_ring_of_waiters_is_never_closed),
		IN_CHILD(a_tree_has_what_was_being_defined_below_it),
		IN_CHILD(a_tree_has_not_what_came_to_nothing),
		IN_CHILD(who_waited_for_a_tree_that_went_has_its_top_alone),
		IN_CHILD(a_tree_and_a_part_of_it_do_not_wait_for_each_other),
		IN_CHILD(a_token_is_of_one_definition),
		IN_CHILD(a_token_of_anything_is_looked_at),
		IN_CHILD(a_token_of_what_is_like_its_head_has_the_heads_attributes),
		IN_CHILD(a_forked_child_has_its_own_threads_transactions_alone),
		IN_CHILD(nobody_waits_for_ever),
		IN_CHILD(many_threads_neither_hang_nor_meet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
