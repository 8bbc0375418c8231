/*
 * kvstore.c - the hash table, and the trace KVSERVER.STORE of what it costs to find a key.
 *
 * Look first at kv_store_get().  Entries are traced when the lock has been given back, so that a
 * trace that waits for its output keeps nobody else from the table.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "kvserver.h"

#include <pthread.h>
#include <stdlib.h>

struct item {
	struct item *next;
	uint32_t hash;
	uint32_t key_size;
	uint32_t value_size;
	char bytes[]; /* the key, then the value */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct item **buckets;
static size_t bucket_count; /* a power of two, or 0 */
static unsigned long item_count;

/* FNV-1a */
static uint32_t hash_of(struct kv_text key)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < key.size; i++)
		hash = (hash ^ (unsigned char)key.at[i]) * 16777619u;
	return hash;
}

/* Where the pointer to the item is, or where one would be added; NULL while there are no buckets.
 * Counts what it looks at. */
static struct item **find(struct kv_text key, struct kv_probe_entry *probe)
{
	struct item **at = bucket_count == 0 ? NULL : &buckets[probe->hash & (bucket_count - 1)];

	for (; at != NULL && *at != NULL; at = &(*at)->next) {
		probe->depth++;
		if ((*at)->hash == probe->hash && (*at)->key_size == key.size &&
		    memcmp((*at)->bytes, key.at, key.size) == 0)
			break;
	}
	return at;
}

/* Doubles the buckets when there are as many items.  False: there is no memory, and none are there
 * yet. */
static bool make_room(void)
{
	size_t count = bucket_count == 0 ? 1024 : bucket_count * 2;
	struct item **wider;

	if (item_count < bucket_count)
		return true;
	wider = calloc(count, sizeof(*wider));
	if (wider == NULL)
		return bucket_count != 0; /* chains get longer instead */
	for (size_t i = 0; i < bucket_count; i++)
		for (struct item *item = buckets[i], *next; item != NULL; item = next) {
			next = item->next;
			item->next = wider[item->hash & (count - 1)];
			wider[item->hash & (count - 1)] = item;
		}
	free(buckets);
	buckets = wider;
	bucket_count = count;
	return true;
}

static struct item *make_item(uint32_t hash, struct kv_text key, struct kv_text value)
{
	struct item *item = malloc(sizeof(*item) + key.size + value.size);

	if (item == NULL)
		return NULL;
	*item = (struct item){ .hash = hash,
			       .key_size = (uint32_t)key.size,
			       .value_size = (uint32_t)value.size };
	memcpy(item->bytes, key.at, key.size);
	memcpy(item->bytes + key.size, value.at, value.size);
	return item;
}

static void trace_probe(enum kv_operation operation, const struct kv_probe_entry *probe)
{
	if (kv_traces(&kv_store, operation))
		ctrace_entry(&kv_store.tracer, KV_ENTRY_PROBE + operation, probe, sizeof(*probe));
}

enum kv_result kv_store_get(struct kv_text key, char value[KV_LINE], size_t *out_size)
{
	struct kv_probe_entry probe = { .hash = hash_of(key) };
	struct item **at;
	bool is_there;

	pthread_rwlock_rdlock(&lock);
	at = find(key, &probe);
	is_there = at != NULL && *at != NULL;
	if (is_there) {
		memcpy(value, (*at)->bytes + (*at)->key_size, (*at)->value_size);
		*out_size = (*at)->value_size;
	}
	pthread_rwlock_unlock(&lock);
	trace_probe(KV_GET, &probe);
	return is_there ? KV_OK : KV_NONE;
}

enum kv_result kv_store_put(struct kv_text key, struct kv_text value)
{
	struct kv_probe_entry probe = { .hash = hash_of(key) };
	struct item *item = make_item(probe.hash, key, value);
	struct item *old = NULL;
	bool has_room;

	pthread_rwlock_wrlock(&lock);
	has_room = item != NULL && make_room();
	if (has_room) {
		struct item **at = find(key, &probe);

		old = *at;
		item->next = old == NULL ? NULL : old->next;
		item_count += old == NULL;
		*at = item;
	}
	pthread_rwlock_unlock(&lock);
	free(has_room ? old : item);
	trace_probe(KV_PUT, &probe);
	return has_room ? KV_OK : KV_NO_MEMORY;
}

enum kv_result kv_store_del(struct kv_text key)
{
	struct kv_probe_entry probe = { .hash = hash_of(key) };
	struct item *old = NULL;
	struct item **at;
	bool was_there;

	pthread_rwlock_wrlock(&lock);
	at = find(key, &probe);
	was_there = at != NULL && *at != NULL;
	if (was_there) {
		old = *at;
		*at = old->next;
		item_count--;
	}
	pthread_rwlock_unlock(&lock);
	free(old);
	trace_probe(KV_DEL, &probe);
	return was_there ? KV_OK : KV_NONE;
}

unsigned long kv_store_count(void)
{
	unsigned long count;

	pthread_rwlock_rdlock(&lock);
	count = item_count;
	pthread_rwlock_unlock(&lock);
	return count;
}
