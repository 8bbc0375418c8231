/*
 * ring_pool.c - this process's rings: made on demand, returned when their thread ends, used
 * again.
 *
 * A ring that is returned keeps its content.  A mark names the owner of each window, so the next
 * owner continues after it.  Traced threads take a ring at their first event, change to a larger
 * one when it is full, and return it at their end, under the pool's lock.  ct_ring_pool_count() and
 * ct_ring_pool_at() take no lock, for the consumer thread.
 *
 * The file of a new ring is made under no lock and under a temporary name, because that takes a
 * hundred times as long as the rest.  It gets its number under the lock.  So rings are numbered in
 * the order in which they become usable, and readers see no unfinished ring.
 *
 * A thread that fills its ring changes to a larger one.  The consumer thread makes that ring before
 * it is needed, with every page in the process's page table, and the thread takes it with a few
 * stores: no lock, no system call, no page fault.  A thread that fills its ring sooner takes the
 * ring in stock, and makes one itself only when there is none.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/ring/ring.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

/* pause before the next try after there was no room for a larger ring */
#define AGAIN_NS 1000000000u
/* a process that ends sooner after its first event pays for no ring in stock */
#define STOCK_AFTER_NS 5000000u
/* rings in stock: one for a process with one thread that traces, this many for others */
#define STOCK 2u

struct ct_ring_pool {
	pthread_mutex_t lock;
	struct ct_session *session;
	/* in a forked child: the parent's rings are private empty memory, which stays */
	bool is_parted;
	uint32_t count; /* atomic; rings[0 .. count) are complete */
	/* under the lock */
	uint32_t serial;  /* of the next ring to be made; readers see its number, not this */
	uint32_t makers;  /* threads that are making a ring; fork sleeps on it */
	bool has_waiters; /* a thread sleeps on makers */
	uint32_t small;   /* number of rings of the least capacity that were made */
	bool wants_spare; /* atomic: the consumer thread is to make a spare ring */
	bool wants_stock; /* atomic: the consumer thread is to fill the stock */
	bool is_held;     /* atomic: see ct_ring_pool_hold() */
	/* Atomic: rings for threads that fill their ring before a larger one is made, or NULL.
	 * Those that have an owner already are none. */
	struct ct_ring *stock[STOCK];
	struct ct_ring_kind stock_kind; /* of the process's first ring that may grow */
	uint64_t stock_at_ns;           /* monotonic: not before this */
	/* a ring of the least capacity, with a file but no number; head NULL: none */
	struct ct_ring spare;
	struct ct_ring rings[CT_RING_LIMIT];
	struct ct_ring_kind kinds[CT_RING_LIMIT];
};

/* Under the lock. */
static void ring_set_owner(struct ct_ring *ring, uint32_t tid, size_t full)
{
	__atomic_store_n(&ring->may_grow, ring->capacity < full, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->full, full, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->owner_tid, tid, __ATOMIC_RELEASE);
}

/* No thread waits for room in the ring any more, so no destination has to be passed over for it. */
static void ring_clear_waits(struct ct_ring *ring)
{
	__atomic_store_n(&ring->head->waiting, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->head->turned_away, 0, __ATOMIC_RELAXED);
}

/* Makes a ring that is ready the thread's.  Of several threads one gets it. */
static bool ring_claim(struct ct_ring *ring, uint32_t tid)
{
	uint32_t ready = CT_RING_READY;

	return __atomic_compare_exchange_n(&ring->owner_tid, &ready, tid, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* Under the lock.  The ring that was made for its owner is free too, unless the owner has it. */
static void ring_set_free(struct ct_ring *ring)
{
	struct ct_ring *next = __atomic_exchange_n(&ring->next, NULL, __ATOMIC_ACQ_REL);

	ring_clear_waits(ring);
	ring_set_owner(ring, 0, 0);
	if (next != NULL)
		(void)ring_claim(next, 0);
}

uint32_t ct_ring_owner(const struct ct_ring *ring)
{
	uint32_t owner = __atomic_load_n(&ring->owner_tid, __ATOMIC_ACQUIRE);

	return owner != CT_RING_READY ? owner : 0;
}

/* The first pool is static: a mapping would cost each process a call. */
enum ctrace_status ct_ring_pool_create(struct ct_session *session, struct ct_ring_pool **out_pool)
{
	static struct ct_ring_pool first;
	static bool is_taken;
	void *address = &first;
	enum ctrace_status status = CTRACE_OK;

	if (__atomic_exchange_n(&is_taken, true, __ATOMIC_RELAXED))
		status = ct_os_map(-1, sizeof(struct ct_ring_pool), false, &address);
	if (status != CTRACE_OK)
		return status;
	*out_pool = address;
	(void)pthread_mutex_init(&(*out_pool)->lock, NULL);
	(*out_pool)->session = session;
	return CTRACE_OK;
}

void ct_ring_pool_lock(struct ct_ring_pool *pool)
{
	ct_guard_lock(&pool->lock);
}

void ct_ring_pool_lock_whole(struct ct_ring_pool *pool)
{
	uint32_t makers;

	for (ct_ring_pool_lock(pool); (makers = pool->makers) != 0; ct_ring_pool_lock(pool)) {
		pool->has_waiters = true;
		ct_ring_pool_unlock(pool);
		ct_os_wait(&pool->makers, makers, UINT64_MAX);
	}
}

void ct_ring_pool_unlock(struct ct_ring_pool *pool)
{
	ct_guard_unlock(&pool->lock);
}

/* Compares all but the capacity.  The caller compares that with the capacity a ring was requested
 * with: where there was no room for it, each short-lived thread would make a ring of its own. */
static bool kinds_are_equal(const struct ct_ring_kind *a, const struct ct_ring_kind *b)
{
	return a->channel == b->channel && a->overflow == b->overflow && a->is_side == b->is_side &&
	       a->kept == b->kept && a->is_imported == b->is_imported;
}

/* Prefers an empty ring.  any_size: no ring of the wanted size can be made. */
static struct ct_ring *ring_find_free(struct ct_ring_pool *pool, const struct ct_ring_kind *kind,
				      const struct ct_ring_size *asked, bool any_size)
{
	struct ct_ring *found = NULL;

	for (uint32_t i = 0; i < pool->count; i++) {
		struct ct_ring *ring = &pool->rings[i];

		/* The owner is not in the head, where another process could give one ring to two
		 * threads. */
		if (__atomic_load_n(&ring->owner_tid, __ATOMIC_ACQUIRE) != 0 ||
		    !kinds_are_equal(&pool->kinds[i], kind) ||
		    (pool->kinds[i].capacity != kind->capacity && !any_size))
			continue;
		if (ring->capacity < asked->least ||
		    (ring->place == CT_RING_PRIVATE && !asked->may_be_private))
			continue;
		if (ct_ring_is_empty(ring))
			return ring;
		if (found == NULL)
			found = ring;
	}
	return found;
}

/* Returns the wanted consumer of ring `index`, whose components are connected to that external
 * writer.  A writer never gets a ring without a file that it can map.  Under the lock. */
static uint32_t wanted_consumer(const struct ct_ring_pool *pool, uint32_t index, uint32_t writer)
{
	uint32_t slots =
		writer != 0 ? __atomic_load_n(
				      &pool->session->head->writer[writer % CT_WRITER_LIMIT].slots,
				      __ATOMIC_ACQUIRE)
			    : 0;

	if (pool->rings[index].place != CT_RING_IN_DIRECTORY)
		return 0;
	return slots != 0 ? (slots & 0xFF) + index % (slots >> 8) : 0;
}

void ct_ring_pool_assign(struct ct_ring_pool *pool,
			 uint32_t (*writer_of)(const struct ct_ring_head *head, void *user),
			 void *user)
{
	ct_ring_pool_lock(pool);
	for (uint32_t i = 0; i < pool->count; i++) {
		struct ct_ring_head *head = pool->rings[i].head;

		__atomic_store_n(&head->wanted, wanted_consumer(pool, i, writer_of(head, user)),
				 __ATOMIC_RELEASE);
	}
	ct_ring_note_move(pool->session);
	ct_ring_pool_unlock(pool);
}

static void write_kind(struct ct_ring *ring, const struct ct_ring_kind *kind)
{
	ring->head->channel = kind->channel;
	ring->head->overflow = kind->overflow;
	ring->head->is_side = kind->is_side;
	ring->head->kept = kind->kept;
	ring->head->is_imported = kind->is_imported;
}

/* Finds the directory for rings.  *out_fd is -1 in a process without one.  Returns false when the
 * directory cannot be reached. */
static bool find_directory(struct ct_ring_pool *pool, int *out_fd)
{
	*out_fd = pool->session->path[0] != '\0' ? ct_session_directory(pool->session) : -1;
	return *out_fd >= 0 || pool->session->path[0] == '\0';
}

/* Under the lock, which is released while the ring is made.  Returns false when none was made;
 * other threads may have taken and added rings meanwhile. */
static bool make_unnumbered(struct ct_ring_pool *pool, int directory_fd, size_t capacity,
			    struct ct_ring *out)
{
	uint32_t serial = pool->serial++;
	bool is_made;

	__atomic_store_n(&pool->makers, pool->makers + 1, __ATOMIC_RELAXED);
	ct_ring_pool_unlock(pool);
	is_made = ct_ring_make(out, directory_fd, serial, capacity) == CTRACE_OK;
	ct_point("pool.made");
	ct_ring_pool_lock(pool);
	__atomic_store_n(&pool->makers, pool->makers - 1, __ATOMIC_RELAXED);
	if (pool->has_waiters)
		ct_os_wake(&pool->makers);
	pool->has_waiters = false;
	return is_made;
}

/* Gives the number `count` to the spare ring or to a new one.  Under the lock, like
 * make_unnumbered(). */
static bool make_numbered(struct ct_ring_pool *pool, size_t capacity, struct ct_ring *out)
{
	int directory_fd;

	if (!find_directory(pool, &directory_fd))
		return false;
	if (capacity == CT_RING_MIN && pool->spare.head != NULL) {
		*out = pool->spare;
		pool->spare = (struct ct_ring){ 0 };
		if (ct_ring_number(out, directory_fd, pool->count))
			return true;
	}
	return make_unnumbered(pool, directory_fd, capacity, out) &&
	       ct_ring_number(out, directory_fd, pool->count);
}

/* tid: its first owner.  `asked` NULL: of that kind's capacity, or none. */
static struct ct_ring *make_ring(struct ct_ring_pool *pool, const struct ct_ring_kind *kind,
				 const struct ct_ring_size *asked, uint32_t tid)
{
	struct ct_ring made = { 0 };
	struct ct_ring *ring;
	uint32_t index;

	if (pool->count + pool->makers >= CT_RING_LIMIT)
		return NULL;
	if (!make_numbered(pool, kind->capacity, &made) &&
	    (asked == NULL ||
	     ct_ring_create_sized(&made, pool->session, pool->count, asked) != CTRACE_OK))
		return NULL;
	index = pool->count;
	ring = &pool->rings[index];
	*ring = made;
	ring_set_owner(ring, tid, kind->full);
	pool->kinds[index] = *kind;
	write_kind(ring, kind);
	ct_ring_take_constants(ring, ring->head);
	/* no thread has had the ring yet */
	ring->head->held_by = wanted_consumer(pool, index, kind->writer);
	ring->head->wanted = ring->head->held_by;
	__atomic_store_n(&pool->session->head->ring_place[index], ring->place, __ATOMIC_RELAXED);
	__atomic_store_n(&pool->count, index + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&pool->session->head->ring_count, index + 1, __ATOMIC_RELEASE);
	/* A second small ring means that more threads will come. */
	if (kind->capacity == CT_RING_MIN && ++pool->small > 1) {
		__atomic_store_n(&pool->wants_spare, true, __ATOMIC_RELAXED);
		if (pool->small == STOCK && pool->stock_kind.capacity != 0)
			__atomic_store_n(&pool->wants_stock, true, __ATOMIC_RELAXED);
	}
	return ring;
}

static void stock_spare(struct ct_ring_pool *pool)
{
	struct ct_ring made = { 0 };
	int directory_fd;

	if (!__atomic_load_n(&pool->wants_spare, __ATOMIC_RELAXED))
		return;
	ct_ring_pool_lock(pool);
	__atomic_store_n(&pool->wants_spare, false, __ATOMIC_RELAXED);
	if (pool->spare.head == NULL && find_directory(pool, &directory_fd) &&
	    make_unnumbered(pool, directory_fd, CT_RING_MIN, &made))
		pool->spare = made;
	ct_ring_pool_unlock(pool);
}

/* Under the lock.  Returns a ring of that kind that is ready for a thread, or NULL. */
static struct ct_ring *make_ready(struct ct_ring_pool *pool, const struct ct_ring_kind *kind)
{
	const struct ct_ring_size asked = { .least = kind->capacity, .capacity = kind->capacity };
	struct ct_ring *ring = ring_find_free(pool, kind, &asked, false);

	/* The owner will note its move: the page of that word is in the page table then. */
	ct_ring_note_move(pool->session);
	if (ring == NULL)
		return make_ring(pool, kind, NULL, CT_RING_READY);
	ring_set_owner(ring, CT_RING_READY, kind->full);
	return ring;
}

static bool ring_is_ready(const struct ct_ring *ring)
{
	return ring != NULL && __atomic_load_n(&ring->owner_tid, __ATOMIC_RELAXED) == CT_RING_READY;
}

static void stock_larger(struct ct_ring_pool *pool, uint64_t now_ns)
{
	if (!__atomic_load_n(&pool->wants_stock, __ATOMIC_RELAXED))
		return;
	ct_ring_pool_lock(pool);
	if (now_ns >= pool->stock_at_ns) {
		uint32_t count = pool->small > 1 ? STOCK : 1;

		__atomic_store_n(&pool->wants_stock, false, __ATOMIC_RELAXED);
		for (uint32_t i = 0; i < count; i++)
			if (!ring_is_ready(pool->stock[i]))
				__atomic_store_n(&pool->stock[i],
						 make_ready(pool, &pool->stock_kind),
						 __ATOMIC_RELEASE);
	}
	ct_ring_pool_unlock(pool);
}

/* Returns true when the owner of a ring fills it so fast that it may soon need a larger one: the
 * ring comes round within CT_RING_ROUND_NS, and then a half of it within any such time. */
static bool ring_is_outgrown(struct ct_ring *ring, uint64_t now_ns)
{
	uint64_t head;

	if (ring->capacity >= __atomic_load_n(&ring->full, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&ring->next, __ATOMIC_RELAXED) != NULL || ct_ring_owner(ring) == 0)
		return false;
	head = ct_ring_head_position(ring);
	if (now_ns >= ring->paced_at_ns + CT_RING_ROUND_NS) {
		ring->paced_at_ns = now_ns;
		ring->paced_from = head;
	}
	return now_ns >= ring->paced_at_ns && head - ring->paced_from >= ring->capacity / 2;
}

static void make_next(struct ct_ring_pool *pool, struct ct_ring *ring)
{
	struct ct_ring_kind kind = pool->kinds[ring->index];
	uint32_t owner = ct_ring_owner(ring);
	struct ct_ring *next;

	ct_ring_pool_lock(pool);
	kind.full = __atomic_load_n(&ring->full, __ATOMIC_RELAXED);
	kind.capacity = ct_ring_next_capacity(ring->capacity, kind.full, 0);
	next = make_ready(pool, &kind);
	ring->paced_from = ct_ring_head_position(ring);
	ring->paced_at_ns = ct_clock_mono_ns() + (next == NULL ? AGAIN_NS : 0);
	/* While it was made the lock was free. */
	if (next != NULL && ct_ring_owner(ring) == owner)
		__atomic_store_n(&ring->next, next, __ATOMIC_RELEASE);
	else if (next != NULL)
		(void)ring_claim(next, 0);
	ct_ring_pool_unlock(pool);
}

void ct_ring_pool_stock(struct ct_ring_pool *pool)
{
	uint32_t count = ct_ring_pool_count(pool);
	uint64_t now_ns = ct_clock_mono_ns();

	for (uint32_t i = 0; i < count; i++)
		if (ring_is_outgrown(&pool->rings[i], now_ns))
			make_next(pool, &pool->rings[i]);
	stock_larger(pool, now_ns);
	stock_spare(pool);
}

struct ct_ring *ct_ring_pool_take(struct ct_ring_pool *pool, const struct ct_ring_kind *kind,
				  uint32_t tid)
{
	const struct ct_ring_size asked = { .least = CT_RING_MIN,
					    .capacity = kind->capacity,
					    .may_be_private = true };
	struct ct_ring *ring;

	errno = 0;
	ct_guard_enter(); /* also while the lock is not held */
	if (!ct_guard_lock_in_trace(&pool->lock)) {
		ct_guard_leave();
		errno = EBUSY;
		return NULL;
	}
	ring = ring_find_free(pool, kind, &asked, false);
	if (ring == NULL)
		ring = make_ring(pool, kind, &asked, tid);
	if (ring == NULL)
		ring = ring_find_free(pool, kind, &asked, true);
	if (ring != NULL)
		ring_set_owner(ring, tid, kind->full);
	if (kind->capacity < kind->full && pool->stock_kind.capacity == 0) {
		pool->stock_kind = *kind;
		pool->stock_kind.capacity =
			kind->full < CT_RING_DEFAULT ? kind->full : CT_RING_DEFAULT;
		pool->stock_at_ns = ct_clock_mono_ns() + STOCK_AFTER_NS;
		__atomic_store_n(&pool->wants_stock, true, __ATOMIC_RELAXED);
	}
	ct_ring_pool_unlock(pool);
	ct_guard_leave();
	return ring;
}

void ct_ring_pool_hold(struct ct_ring_pool *pool)
{
	ct_ring_pool_lock(pool);
	__atomic_store_n(&pool->is_held, true, __ATOMIC_RELAXED);
	/* Pairs with the fence in begin_move(): a thread that has not noted its move by the
	 * consumer's next load of `ring_moves` finds is_held. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void ct_ring_pool_release(struct ct_ring_pool *pool)
{
	__atomic_store_n(&pool->is_held, false, __ATOMIC_RELAXED);
	ct_ring_pool_unlock(pool);
}

/* A pass that sees the first event of the larger ring looks at the heads again, and so sees the
 * last event of the smaller one.  A pass that cannot get an unchanged look holds the move up; then
 * a handler, which must not wait, does not move. */
static bool begin_move(struct ct_ring_pool *pool)
{
	ct_ring_note_move(pool->session);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&pool->is_held, __ATOMIC_RELAXED))
		return true;
	if (!ct_guard_lock_in_trace(&pool->lock))
		return false;
	ct_ring_pool_unlock(pool);
	return true;
}

/* Returns true when there is a ring that may replace `ring` for an event of `size` bytes. */
static bool ring_suits(const struct ct_ring_pool *pool, const struct ct_ring *larger,
		       const struct ct_ring *ring, const struct ct_ring_kind *kind, size_t size)
{
	return larger != NULL && larger->capacity > ring->capacity &&
	       larger->capacity <= kind->full && larger->capacity / 2 >= size &&
	       larger->place == ring->place && kinds_are_equal(&pool->kinds[larger->index], kind);
}

static struct ct_ring *take_stock(struct ct_ring_pool *pool, const struct ct_ring *ring,
				  const struct ct_ring_kind *kind, size_t size)
{
	__atomic_store_n(&pool->wants_stock, true, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < STOCK; i++) {
		struct ct_ring *larger = __atomic_load_n(&pool->stock[i], __ATOMIC_ACQUIRE);

		if (ring_suits(pool, larger, ring, kind, size) &&
		    ring_claim(larger, ct_ring_owner(ring)))
			return larger;
	}
	return NULL;
}

struct ct_ring *ct_ring_pool_take_ready(struct ct_ring_pool *pool, struct ct_ring *ring,
					const struct ct_ring_kind *kind, size_t size)
{
	/* Pair with the release stores after the ring was made. */
	struct ct_ring *larger = __atomic_load_n(&ring->next, __ATOMIC_ACQUIRE);
	uint32_t tid = ct_ring_owner(ring);

	if (!ring_suits(pool, larger, ring, kind, size) || !ring_claim(larger, tid))
		larger = take_stock(pool, ring, kind, size);
	if (larger == NULL)
		return NULL;
	__atomic_store_n(&larger->full, kind->full, __ATOMIC_RELAXED);
	__atomic_store_n(&larger->may_grow, larger->capacity < kind->full, __ATOMIC_RELAXED);
	if (begin_move(pool))
		return larger;
	__atomic_store_n(&larger->owner_tid, CT_RING_READY, __ATOMIC_RELEASE);
	return NULL;
}

void ct_ring_pool_leave(struct ct_ring *ring)
{
	struct ct_ring *next = __atomic_exchange_n(&ring->next, NULL, __ATOMIC_ACQ_REL);

	ring_clear_waits(ring);
	__atomic_store_n(&ring->full, 0, __ATOMIC_RELAXED);
	/* its pending events hold no producer up */
	__atomic_store_n(&ring->may_grow, true, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->owner_tid, 0, __ATOMIC_RELEASE);
	if (next != NULL)
		(void)ring_claim(next, 0);
}

struct ct_ring *ct_ring_pool_grow(struct ct_ring_pool *pool, struct ct_ring *ring,
				  const struct ct_ring_kind *kind)
{
	const struct ct_ring_size asked = { .least = 2 * ring->capacity,
					    .capacity = kind->capacity,
					    .may_be_private = ring->place == CT_RING_PRIVATE };
	struct ct_ring *larger;

	ct_guard_enter(); /* as in ct_ring_pool_take() */
	if (!ct_guard_lock_in_trace(&pool->lock)) {
		ct_guard_leave();
		return NULL;
	}
	larger = ring_find_free(pool, kind, &asked, false);
	if (larger == NULL)
		larger = make_ring(pool, kind, &asked, ring->owner_tid);
	ct_point("pool.grown");
	if (larger != NULL) {
		ring_set_owner(larger, ring->owner_tid, kind->full);
		ct_ring_note_move(pool->session);
		(void)__atomic_fetch_add(&pool->session->head->late_rings, 1, __ATOMIC_RELAXED);
	}
	ct_ring_pool_unlock(pool);
	ct_guard_leave();
	return larger;
}

void ct_ring_pool_give_back(struct ct_ring_pool *pool, struct ct_ring *ring)
{
	ct_ring_pool_lock(pool);
	ring_set_free(ring);
	ct_ring_pool_unlock(pool);
}

void ct_ring_pool_reap(struct ct_ring_pool *pool, struct ct_ring *ring, uint32_t tid)
{
	ct_ring_pool_lock(pool);
	/* Before the lock was taken, the thread may have given the ring back and another one may
	 * have taken it, even one with the same id. */
	if (ring->owner_tid == tid && !ct_os_thread_exists(tid))
		ring_set_free(ring);
	ct_ring_pool_unlock(pool);
}

uint32_t ct_ring_pool_heal(struct ct_ring_pool *pool)
{
	uint32_t healed = 0;

	ct_ring_pool_lock(pool);
	for (uint32_t i = 0; i < pool->count && !pool->is_parted; i++) {
		struct ct_ring *ring = &pool->rings[i];

		if (ring->place == CT_RING_PRIVATE)
			continue;
		healed += ct_ring_heal(ring, pool->session);
		/* Also when the handler of SIGBUS has restored the length (lib/dump/crash.c). */
		if (ring->head->magic == CT_RING_MAGIC)
			continue;
		write_kind(ring, &pool->kinds[i]);
		ct_ring_write_constants(ring);
	}
	ct_ring_pool_unlock(pool);
	return healed;
}

uint32_t ct_ring_pool_count(const struct ct_ring_pool *pool)
{
	return __atomic_load_n(&pool->count, __ATOMIC_ACQUIRE);
}

struct ct_ring *ct_ring_pool_at(const struct ct_ring_pool *pool, uint32_t index)
{
	return (struct ct_ring *)(uintptr_t)&pool->rings[index];
}

void ct_ring_pool_detach(struct ct_ring_pool *pool)
{
	for (uint32_t i = 0; i < pool->count; i++)
		(void)mmap(pool->rings[i].head, CT_RING_HEAD_SIZE + 2 * pool->rings[i].capacity,
			   PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	for (uint32_t i = 0; i < pool->count; i++)
		pool->rings[i].next = NULL;
	memset(pool->stock, 0, sizeof pool->stock);
	pool->is_parted = true;
}

enum ctrace_status ct_ring_pool_reset(struct ct_ring_pool **pool)
{
	struct ct_ring_pool *parent = *pool;

	ct_ring_close(&parent->spare);
	/* The interrupted call has pointers to the parent's rings and goes on with them. */
	if (parent->is_parted)
		return ct_ring_pool_create(parent->session, pool);
	for (uint32_t i = 0; i < parent->count; i++)
		ct_ring_close(&parent->rings[i]);
	parent->serial = parent->makers = parent->small = 0;
	parent->wants_spare = parent->wants_stock = parent->has_waiters = parent->is_held = false;
	memset(parent->stock, 0, sizeof parent->stock);
	parent->stock_kind = (struct ct_ring_kind){ 0 };
	memset(parent->rings, 0, parent->count * sizeof parent->rings[0]);
	parent->count = 0;
	(void)pthread_mutex_init(&parent->lock, NULL);
	return CTRACE_OK;
}
