/*
 * watch_span.c - pairs the events that begin and end the spans of one trigger.
 *
 * The events of a ring come in their order, but those of one ring before those of the next.  So an
 * end may come before its beginning, and either waits for the other.  The memory is fixed: each
 * event that waits overwrites the oldest one.
 *
 *     buckets -> the newest that waits with such a key -> older ones
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/watch/watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"

#define BUCKETS 1024u

struct waiting {
	struct ct_watch_mark mark;
	uint32_t older; /* index from 1; 0: none */
	bool is_used;
};

struct ct_watch_spans {
	struct waiting waiting[CT_WATCH_SPANS];
	uint32_t bucket[BUCKETS]; /* index from 1 */
	uint32_t next;            /* the oldest, which is overwritten next */
	uint32_t ends;            /* how many ends wait */
};

struct ct_watch_spans *ct_watch_spans_create(void)
{
	return calloc(1, sizeof(struct ct_watch_spans));
}

void ct_watch_spans_clear(struct ct_watch_spans *spans)
{
	if (spans != NULL)
		memset(spans, 0, sizeof *spans);
}

/* A component has one spelling in a process. */
bool ct_watch_span_key(const struct ct_trigger *trigger, const struct ct_trigger_event *event,
		       uint64_t *out_key)
{
	uint64_t hash = ct_hash_bytes(CT_HASH_START, event->component, event->component_size);
	const struct ctrace_event_item *item;
	uint64_t value = event->tid;

	if (!trigger->span.is_by_item) {
		*out_key = ct_hash_bytes(hash, &value, sizeof value);
		return true;
	}
	if (trigger->span.item >= event->item_count)
		return false;
	item = &event->items[trigger->span.item];
	if (ct_item_is_integer(item->type, item->size)) {
		value = ct_item_value(item->type, item->data, item->size);
		*out_key = ct_hash_bytes(hash, &value, sizeof value);
	} else {
		*out_key = ct_hash_bytes(hash, item->data, item->size);
	}
	return true;
}

static void waiting_remove(struct ct_watch_spans *spans, uint32_t index)
{
	struct waiting *waiting = &spans->waiting[index - 1];
	uint32_t *link = &spans->bucket[waiting->mark.key % BUCKETS];

	while (*link != index)
		link = &spans->waiting[*link - 1].older;
	*link = waiting->older;
	waiting->is_used = false;
	spans->ends -= waiting->mark.is_end;
}

static void waiting_add(struct ct_watch_spans *spans, const struct ct_watch_mark *mark)
{
	uint32_t index = spans->next + 1;
	struct waiting *waiting = &spans->waiting[spans->next];
	uint32_t *bucket = &spans->bucket[mark->key % BUCKETS];

	spans->next = index % CT_WATCH_SPANS;
	if (waiting->is_used)
		waiting_remove(spans, index);
	*waiting = (struct waiting){ .mark = *mark, .older = *bucket, .is_used = true };
	*bucket = index;
	spans->ends += mark->is_end;
}

bool ct_watch_spans_pair(struct ct_watch_spans *spans, const struct ct_watch_mark *mark,
			 struct ct_watch_mark *out_other)
{
	uint32_t at = spans->bucket[mark->key % BUCKETS];

	if (!mark->is_end && spans->ends == 0)
		at = 0;
	/* An event that ends a span and begins another is not the end of the latter. */
	while (at != 0) {
		const struct ct_watch_mark *other = &spans->waiting[at - 1].mark;

		if (other->key == mark->key && other->is_end != mark->is_end &&
		    (mark->is_end ? other->ticks <= mark->ticks : mark->ticks < other->ticks)) {
			*out_other = *other;
			waiting_remove(spans, at);
			return true;
		}
		at = spans->waiting[at - 1].older;
	}
	waiting_add(spans, mark);
	return false;
}
