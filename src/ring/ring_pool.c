/*
 * ring_pool.c - this process's rings: made on demand, given back when their thread ends, used again.
 *
 * A ring that is given back keeps what is in it: a mark says of each window whose it is, so the next owner goes on behind it.  take and
 * give_back run on traced threads (first event, thread end) under the pool's lock; count and at are lock-free, for the agent.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ring/ring.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

struct ct_ring_pool {
	pthread_mutex_t lock;
	struct ct_session *session;
	bool is_parted; /* in a forked child: the parent's rings are private empty memory, which stays */
	uint32_t count; /* atomic; rings[0 .. count) are complete */
	struct ct_ring rings[CT_RING_LIMIT];
	struct ct_ring_kind kinds[CT_RING_LIMIT];
};

/* Under the lock. */
static void set_owner(struct ct_ring *ring, uint32_t tid)
{
	__atomic_store_n(&ring->owner_tid, tid, __ATOMIC_RELEASE);
}

uint32_t ct_ring_owner(const struct ct_ring *ring)
{
	return __atomic_load_n(&ring->owner_tid, __ATOMIC_ACQUIRE);
}

enum ctrace_status ct_ring_pool_create(struct ct_session *session, struct ct_ring_pool **out_pool)
{
	void *address;
	enum ctrace_status status = ct_os_map(-1, sizeof(struct ct_ring_pool), false, &address);

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

void ct_ring_pool_unlock(struct ct_ring_pool *pool)
{
	ct_guard_unlock(&pool->lock);
}

/* By the capacity that it was made for: threads that come and go for want of room would make a ring each. */
static bool kinds_are_equal(const struct ct_ring_kind *a, const struct ct_ring_kind *b)
{
	return a->route == b->route && a->overflow == b->overflow && a->capacity == b->capacity && a->is_side == b->is_side &&
	       a->is_flight == b->is_flight && a->is_captured == b->is_captured;
}

static struct ct_ring *find_free(struct ct_ring_pool *pool, const struct ct_ring_kind *kind)
{
	for (uint32_t i = 0; i < pool->count; i++) {
		struct ct_ring *ring = &pool->rings[i];

		/* Not by the head: another process that writes there could give two threads one ring. */
		if (ring->owner_tid == 0 && kinds_are_equal(&pool->kinds[i], kind))
			return ring;
	}
	return NULL;
}

/* Who should have ring number `index`, whose components are connected to that external writer: never a writer, when the ring is no
 * file that it can map.  Under the lock. */
static uint32_t wanted_consumer(const struct ct_ring_pool *pool, uint32_t index, uint32_t writer)
{
	uint32_t slots =
		writer != 0 ? __atomic_load_n(&pool->session->head->writer[writer % CT_WRITER_LIMIT].slots, __ATOMIC_ACQUIRE) : 0;

	if (pool->rings[index].place != CT_RING_IN_FOLDER)
		return 0;
	return slots != 0 ? (slots & 0xFF) + index % (slots >> 8) : 0;
}

void ct_ring_pool_assign(struct ct_ring_pool *pool, uint32_t (*writer_of)(const struct ct_ring_head *head, void *user), void *user)
{
	ct_ring_pool_lock(pool);
	for (uint32_t i = 0; i < pool->count; i++) {
		struct ct_ring_head *head = pool->rings[i].head;

		__atomic_store_n(&head->wanted, wanted_consumer(pool, i, writer_of(head, user)), __ATOMIC_RELEASE);
	}
	ct_ring_pool_unlock(pool);
}

static void write_kind(struct ct_ring *ring, const struct ct_ring_kind *kind)
{
	ring->head->route = kind->route;
	ring->head->overflow = kind->overflow;
	ring->head->is_side = kind->is_side;
	ring->head->is_flight = kind->is_flight;
	ring->head->is_captured = kind->is_captured;
}

static struct ct_ring *make_ring(struct ct_ring_pool *pool, const struct ct_ring_kind *kind)
{
	uint32_t index = pool->count;
	struct ct_ring *ring;

	if (index >= CT_RING_LIMIT)
		return NULL;
	ring = &pool->rings[index];
	if (ct_ring_create(ring, pool->session, index, kind->capacity) != CTRACE_OK)
		return NULL;
	pool->kinds[index] = *kind;
	write_kind(ring, kind);
	ct_ring_take_constants(ring, ring->head);
	ring->head->consumer = wanted_consumer(pool, index, kind->writer); /* nobody has had it yet */
	ring->head->wanted = ring->head->consumer;
	__atomic_store_n(&pool->session->head->ring_place[index], ring->place, __ATOMIC_RELAXED);
	__atomic_store_n(&pool->count, index + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&pool->session->head->ring_count, index + 1, __ATOMIC_RELEASE);
	return ring;
}

struct ct_ring *ct_ring_pool_take(struct ct_ring_pool *pool, const struct ct_ring_kind *kind, uint32_t tid)
{
	struct ct_ring *ring;

	ct_ring_pool_lock(pool);
	ring = find_free(pool, kind);
	if (ring == NULL)
		ring = make_ring(pool, kind);
	if (ring != NULL)
		set_owner(ring, tid);
	ct_ring_pool_unlock(pool);
	return ring;
}

void ct_ring_pool_give_back(struct ct_ring_pool *pool, struct ct_ring *ring)
{
	ct_ring_pool_lock(pool);
	set_owner(ring, 0);
	ct_ring_pool_unlock(pool);
}

void ct_ring_pool_reap(struct ct_ring_pool *pool, struct ct_ring *ring, uint32_t tid)
{
	ct_ring_pool_lock(pool);
	/* Between the caller's look and the lock it may have given the ring back, and another have taken it: one of its number too. */
	if (ring->owner_tid == tid && !ct_os_thread_exists(tid))
		set_owner(ring, 0);
	ct_ring_pool_unlock(pool);
}

uint32_t ct_ring_pool_heal(struct ct_ring_pool *pool)
{
	uint32_t healed = 0;

	ct_ring_pool_lock(pool);
	for (uint32_t i = 0; i < pool->count && !pool->is_parted; i++) {
		struct ct_ring *ring = &pool->rings[i];

		if (ring->place == CT_RING_PRIVATE || !ct_ring_heal(ring, pool->session))
			continue;
		healed++;
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

void ct_ring_pool_part(struct ct_ring_pool *pool)
{
	for (uint32_t i = 0; i < pool->count; i++)
		(void)mmap(pool->rings[i].head, CT_RING_HEAD_SIZE + 2 * pool->rings[i].capacity, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	pool->is_parted = true;
}

void ct_ring_pool_forget(struct ct_ring_pool *pool)
{
	for (uint32_t i = 0; i < pool->count && !pool->is_parted; i++)
		ct_ring_close(&pool->rings[i]);
	memset(pool->rings, 0, pool->count * sizeof pool->rings[0]);
	pool->is_parted = false;
	pool->count = 0;
	(void)pthread_mutex_init(&pool->lock, NULL);
}
