/*
 * watch.c - the thread that follows the rings for triggers.
 *
 * It runs only while a trigger on events is enabled.  It looks at all rings every LOOK_NS, has a
 * position of its own in each, and copies what is new there.  Rows are matched and counted under
 * the lock, which is held for a chunk at most; actions run under no lock.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/watch/watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/process/aside.h"
#include "lib/process/process.h"

#define LOOK_NS 20000000u
#define CHUNK ((size_t)64 << 10)
#define CHUNKS_A_LOOK 64u /* of a ring: the others have their turn */
#define SECOND_NS 1000000000u

struct row {
	struct ct_trigger trigger;
	struct ct_trigger_state state;
	uint64_t counted;   /* matches since it acted last, or in this second */
	uint64_t second_ns; /* the beginning of that second */
	uint64_t last_ns;   /* when it acted last, on the monotonic clock */
	bool has_acted;
	uint64_t begun; /* how often it acted, or is about to */
	/* since the thread looked last */
	bool is_due;
	struct ct_trigger_fired fired;
	struct ct_watch_spans *spans; /* of a trigger on spans; NULL: none, or no memory */
};

static struct {
	pthread_mutex_t lock;
	/* under the lock */
	struct row *rows; /* CT_TRIGGER_LIMIT of them; NULL: never any */
	uint32_t count;
	uint64_t missed;
	bool is_running;
	pthread_t thread;
	/* the thread's own */
	struct ct_cursor_place *places; /* this reader's position in each ring */
	uint32_t place_count;
	struct ct_buf chunk;
	struct ct_sync sync; /* dates spans; copied when there is a trigger on them */
	/* words that are slept on; atomic */
	uint32_t wake;
	uint32_t stopping;
	uint32_t ended;
} watch = { .lock = PTHREAD_MUTEX_INITIALIZER };

void ct_trigger_lock(void)
{
	ct_guard_lock(&watch.lock);
}

void ct_trigger_unlock(void)
{
	ct_guard_unlock(&watch.lock);
}

/* ---- matching ---- */

/* Is the row's condition met by one more match at that time? */
static bool row_counts(struct row *row, uint64_t now_ns)
{
	const struct ct_trigger *trigger = &row->trigger;

	row->state.matches++;
	row->counted++;
	if (trigger->rate != 0) {
		if (row->counted == 1 || now_ns - row->second_ns >= SECOND_NS) {
			row->second_ns = now_ns;
			row->counted = 1;
		}
		return row->counted >= trigger->rate;
	}
	return row->counted >= trigger->count;
}

static bool row_is_used_up(const struct row *row)
{
	return row->trigger.limit != 0 && row->begun >= row->trigger.limit;
}

static bool row_may_act(const struct row *row, uint64_t now_ns)
{
	if (row->is_due || row_is_used_up(row))
		return false;
	return !row->has_acted || now_ns - row->last_ns >= row->trigger.every_ns;
}

static void row_match(struct row *row, const struct ct_trigger_event *event, uint64_t span_ns,
		      uint64_t now_ns)
{
	struct ct_trigger_fired *fired = &row->fired;

	if (!row_counts(row, now_ns) || !row_may_act(row, now_ns))
		return;
	row->counted = 0;
	row->is_due = row->has_acted = true;
	row->begun++;
	row->last_ns = now_ns;
	memcpy(fired->name, row->state.name, sizeof fired->name);
	fired->action_count = row->trigger.action_count;
	memcpy(fired->action, row->trigger.action, sizeof fired->action);
	memcpy(fired->component, event->component, event->component_size);
	fired->component[event->component_size] = '\0';
	fired->event_id = event->event_id;
	fired->level = event->level;
	fired->tid = event->tid;
	fired->span_ns = span_ns;
}

/* ---- spans ---- */

static void span_match(struct row *row, const struct ct_trigger_event *event,
		       const struct ct_watch_mark *mark, uint64_t now_ns)
{
	const struct ct_trigger *trigger = &row->trigger;
	struct ct_trigger_event end = *event;
	struct ct_watch_mark other;
	uint64_t from, to;

	if (!ct_watch_spans_pair(row->spans, mark, &other))
		return;
	from = ct_sync_wall_ns(&watch.sync, mark->is_end ? other.ticks : mark->ticks);
	to = ct_sync_wall_ns(&watch.sync, mark->is_end ? mark->ticks : other.ticks);
	if (!(mark->is_end ? mark->fits : other.fits) || to < from ||
	    (ct_trigger_number)(to - from) < trigger->span.first ||
	    (ct_trigger_number)(to - from) > trigger->span.last)
		return;
	if (!mark->is_end) {
		end.event_id = other.event_id;
		end.level = other.level;
		end.tid = other.tid;
	}
	row_match(row, &end, to - from, now_ns);
}

/* An event may end one span and begin the next. */
static void row_follow_span(struct row *row, const struct ct_trigger_event *event, uint64_t ticks,
			    uint64_t now_ns)
{
	struct ct_watch_mark mark = { .ticks = ticks,
				      .event_id = event->event_id,
				      .level = event->level,
				      .tid = event->tid };

	if (row->spans == NULL || !ct_watch_span_key(&row->trigger, event, &mark.key))
		return;
	if (ct_trigger_fits_id(&row->trigger, event)) {
		mark.is_end = true;
		mark.fits = ct_trigger_fits_head(&row->trigger, event) &&
			    ct_trigger_fits_items(&row->trigger, event);
		span_match(row, event, &mark, now_ns);
	}
	if (event->event_id == row->trigger.span.begin_id) {
		mark.is_end = mark.fits = false;
		span_match(row, event, &mark, now_ns);
	}
}

/* Does the trigger look at this event at all, before its items are decoded? */
static bool row_looks(const struct row *row, const struct ct_trigger_event *event)
{
	const struct ct_trigger *trigger = &row->trigger;

	if (row->state.is_disabled || trigger->cause != CT_TRIGGER_ON_EVENT)
		return false;
	if (!trigger->has_span)
		return ct_trigger_fits_head(trigger, event);
	return (event->event_id == trigger->span.begin_id || ct_trigger_fits_id(trigger, event)) &&
	       ct_trigger_fits_component(trigger, event);
}

static bool row_needs_items(const struct row *row)
{
	return ct_trigger_has_items(&row->trigger) ||
	       (row->trigger.has_span && row->trigger.span.is_by_item);
}

/* Under the lock. */
static void event_match(const struct ct_event *decoded, uint64_t now_ns)
{
	struct ctrace_event_item items[CT_CLASS_MAX_ITEMS];
	struct ct_trigger_event event = { .component = decoded->component,
					  .component_size = decoded->component_size,
					  .level = decoded->head.level,
					  .event_id = decoded->head.event_id,
					  .tid = decoded->tid };
	bool has_items = false;

	if (event.component == NULL) {
		if (decoded->head.component >= ct_registry_count(ct_process.registry))
			return;
		event.component = ct_registry_name(ct_process.registry, decoded->head.component);
		event.component_size = strlen(event.component);
	}
	if (event.component_size > CTRACE_MAX_COMPONENT ||
	    ct_name_is(event.component, event.component_size, CT_WATCH_COMPONENT))
		return;
	for (uint32_t i = 0; i < watch.count; i++) {
		struct row *row = &watch.rows[i];

		if (!row_looks(row, &event))
			continue;
		if (!has_items && row_needs_items(row) && decoded->item_count <= CT_COUNT(items)) {
			ct_event_items(decoded, items);
			event.items = items;
			event.item_count = decoded->item_count;
			has_items = true;
		}
		if (row->trigger.has_span)
			row_follow_span(row, &event, decoded->ticks, now_ns);
		else if (ct_trigger_fits_items(&row->trigger, &event))
			row_match(row, &event, 0, now_ns);
		else
			row->state.unlike += ct_trigger_lacks_item(&row->trigger, &event);
	}
}

/* ---- following a ring ---- */

/* Matches the whole events of the chunk, and moves behind them.  Returns false when there was none.
 */
static bool chunk_match(struct ct_cursor_place *place, size_t size, uint64_t now_ns)
{
	struct ct_class_image classes = ct_session_classes(&ct_process.session);
	size_t at = 0;

	ct_trigger_lock();
	while (at < size) {
		struct ct_event_state state = place->state;
		struct ct_event event;

		if (ct_event_decode(&classes, (const unsigned char *)watch.chunk.data + at,
				    size - at, &state, &event) != CTRACE_OK)
			break;
		if (!event.is_mark)
			event_match(&event, now_ns);
		ct_ring_pass(place, &event);
		at += event.size;
	}
	ct_trigger_unlock();
	return at != 0;
}

/* An end may be among the events that nobody could look at: no later one is taken for it. */
static void spans_forget(void)
{
	for (uint32_t i = 0; i < watch.count; i++)
		ct_watch_spans_clear(watch.rows[i].spans);
}

static void sync_follow(void)
{
	bool has_spans = false;

	ct_trigger_lock();
	for (uint32_t i = 0; i < watch.count; i++)
		has_spans |= watch.rows[i].spans != NULL;
	ct_trigger_unlock();
	if (has_spans)
		ct_shared_sync_copy(&ct_process.session.head->sync, &watch.sync);
}

static void ring_look(struct ct_cursor_place *place, const struct ct_ring *ring, uint64_t now_ns)
{
	uint64_t limit = ct_ring_head_position(ring);
	size_t most = CHUNK;

	for (uint32_t i = 0; i < CHUNKS_A_LOOK && place->position != limit; i++) {
		uint64_t before = place->overwritten;
		size_t size = ct_ring_copy_aside(ring, place, limit, most, &watch.chunk);

		if (place->overwritten != before) {
			ct_trigger_lock();
			watch.missed += place->overwritten - before;
			spans_forget();
			ct_trigger_unlock();
		}
		if (size == 0) {
			limit = ct_ring_head_position(ring);
		} else if (!chunk_match(place, size, now_ns)) {
			if (size == limit - place->position) {
				place->position = limit; /* damaged */
				place->state.tid = ct_ring_owner(ring);
				return;
			}
			most *= 2; /* the event is longer */
		}
	}
}

static bool places_grow(uint32_t count)
{
	struct ct_cursor_place *places;

	if (count <= watch.place_count)
		return true;
	places = realloc(watch.places, count * sizeof *places);
	if (places == NULL)
		return false;
	memset(places + watch.place_count, 0, (count - watch.place_count) * sizeof *places);
	watch.places = places;
	watch.place_count = count;
	return true;
}

/* The events of a ring up to now, so that only later ones can be missed.  Its thread may trace
 * meanwhile: then a few of these count as missed, or a few less do. */
static uint64_t events_before(const struct ct_ring *ring)
{
	const struct ct_class_image classes = ct_session_classes(&ct_process.session);
	const uint64_t *before = ring->overflow == CT_OVERFLOW_OVERWRITE ? &ring->head->oldest_count
									 : &ring->head->consumed;

	return __atomic_load_n(before, __ATOMIC_RELAXED) + ct_ring_count_pending(ring, &classes);
}

/* What was traced before there was a trigger is not looked at.  Under the lock; no thread runs. */
static void places_begin(void)
{
	uint32_t count = ct_ring_pool_count(ct_process.pool);

	free(watch.places);
	watch.places = NULL;
	watch.place_count = 0;
	if (!places_grow(count))
		return;
	for (uint32_t i = 0; i < count; i++) {
		const struct ct_ring *ring = ct_ring_pool_at(ct_process.pool, i);

		watch.places[i].state = (struct ct_event_state){ .ticks = ct_clock_ticks(),
								 .tid = ct_ring_owner(ring) };
		watch.places[i].position = ct_ring_head_position(ring);
		watch.places[i].count = events_before(ring);
	}
}

/* A ring that is new is looked at from its beginning. */
static void rings_look(void)
{
	uint32_t count = ct_ring_pool_count(ct_process.pool);
	uint64_t now_ns = ct_clock_mono_ns();

	if (!places_grow(count))
		return;
	sync_follow();
	for (uint32_t i = 0; i < count; i++)
		ring_look(&watch.places[i], ct_ring_pool_at(ct_process.pool, i), now_ns);
}

/* ---- acting ---- */

/* The row may have been removed or replaced meanwhile. */
static void note_act(const char *name, bool has_failed, const char *report)
{
	ct_trigger_lock();
	for (uint32_t i = 0; i < watch.count; i++) {
		struct ct_trigger_state *state = &watch.rows[i].state;

		if (strcmp(state->name, name) != 0)
			continue;
		state->acts++;
		state->acted_ns = ct_clock_wall_ns();
		state->has_failed = has_failed;
		memcpy(state->report, report, strnlen(report, sizeof state->report - 1) + 1);
	}
	ct_trigger_unlock();
}

static bool due_take(struct ct_trigger_fired *out)
{
	bool has = false;

	ct_trigger_lock();
	for (uint32_t i = 0; !has && i < watch.count; i++) {
		has = watch.rows[i].is_due;
		if (has)
			*out = watch.rows[i].fired;
		watch.rows[i].is_due &= !has;
	}
	ct_trigger_unlock();
	return has;
}

static void due_act(void)
{
	struct ct_trigger_fired fired;
	char report[256];

	while (due_take(&fired)) {
		bool is_good = ct_trigger_act(&fired, report);

		note_act(fired.name, !is_good, report);
	}
}

/* ---- the thread ---- */

/* Only enabled triggers on events need the rings.  Under the lock. */
static bool has_event_rows(void)
{
	for (uint32_t i = 0; i < watch.count; i++)
		if (watch.rows[i].trigger.cause == CT_TRIGGER_ON_EVENT &&
		    !watch.rows[i].state.is_disabled)
			return true;
	return false;
}

/* Without a trigger there is nothing to follow. */
static bool thread_is_idle(void)
{
	bool has_programs = ct_trigger_collect();
	bool is_idle;

	ct_trigger_lock();
	is_idle =
		!has_programs && !has_event_rows() && watch.is_running && !ct_trigger_has_levels();
	if (is_idle) {
		watch.is_running = false;
		(void)pthread_detach(watch.thread);
	}
	ct_trigger_unlock();
	return is_idle;
}

static void *watch_run(void *unused)
{
	bool is_last = false;

	(void)unused;
	while (!is_last) {
		uint32_t wake = __atomic_load_n(&watch.wake, __ATOMIC_ACQUIRE);

		is_last = __atomic_load_n(&watch.stopping, __ATOMIC_ACQUIRE) != 0;
		rings_look();
		due_act();
		ct_trigger_set_back(is_last);
		if (!is_last && thread_is_idle())
			return NULL;
		if (!is_last)
			ct_os_wait(&watch.wake, wake, LOOK_NS);
	}
	__atomic_store_n(&watch.ended, 1, __ATOMIC_RELEASE);
	ct_os_wake(&watch.ended);
	return NULL;
}

/* Under the lock. */
static void thread_start(void)
{
	if (watch.is_running || !has_event_rows() || ct_process.pool == NULL)
		return;
	places_begin();
	watch.stopping = watch.ended = 0;
	watch.is_running =
		ct_os_thread_start(watch_run, NULL, "ctrace-trigger", &watch.thread) == CTRACE_OK;
}

void ct_trigger_stop(uint64_t timeout_ns)
{
	bool is_running;

	ct_trigger_lock();
	is_running = watch.is_running;
	watch.is_running = false;
	ct_trigger_unlock();
	if (!is_running)
		return;
	__atomic_store_n(&watch.stopping, 1, __ATOMIC_RELEASE);
	(void)__atomic_fetch_add(&watch.wake, 1, __ATOMIC_RELEASE);
	ct_os_wake(&watch.wake);
	if (ct_os_wait_until(&watch.ended, 1, timeout_ns)) {
		(void)pthread_join(watch.thread, NULL);
	} else {
		ct_aside_waited(timeout_ns);
		(void)pthread_detach(watch.thread);
	}
}

/* ---- rows ---- */

static const struct row *row_find(const struct row *rows, uint32_t count, const char *name,
				  const char *text)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(rows[i].state.name, name) == 0 && strcmp(rows[i].state.text, text) == 0)
			return &rows[i];
	return NULL;
}

static uint32_t rows_fill(struct row *rows, const struct ct_trigger_list *list)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		const char *name = list->entry[i].name, *text = list->entry[i].text;
		const struct row *old = row_find(watch.rows, watch.count, name, text);
		struct row *row = &rows[count];

		if (old != NULL) {
			*row = *old;
		} else {
			memset(row, 0, sizeof *row);
			memcpy(row->state.name, name, sizeof list->entry[i].name);
			memcpy(row->state.text, text, sizeof list->entry[i].text);
			if (ct_trigger_parse(text, strlen(text), &row->trigger, NULL) != CTRACE_OK)
				continue;
			if (row->trigger.has_span)
				row->spans = ct_watch_spans_create();
		}
		row->state.is_disabled = list->entry[i].is_disabled;
		count++;
	}
	return count;
}

/* The spans of the rows that are not taken over. */
static void spans_free(const struct row *old, uint32_t old_count, const struct row *rows,
		       uint32_t count)
{
	for (uint32_t i = 0; i < old_count; i++) {
		bool is_kept = false;

		for (uint32_t j = 0; j < count; j++)
			is_kept |= rows[j].spans == old[i].spans;
		if (!is_kept)
			free(old[i].spans);
	}
}

/* Has there been a trigger, or is there one now?  If not, nothing is allocated. */
static bool rows_are_needed(void)
{
	bool is_needed;

	ct_trigger_lock();
	ct_registry_lock(ct_process.registry);
	is_needed = watch.rows != NULL || ct_process.settings.triggers.count != 0;
	ct_registry_unlock(ct_process.registry);
	ct_trigger_unlock();
	return is_needed;
}

/* ---- the end of the process ---- */

bool ct_trigger_take_exit(int status, uint32_t *at, struct ct_trigger_fired *out)
{
	bool has = false;

	ct_trigger_lock();
	for (; !has && *at < watch.count; ++*at) {
		struct row *row = &watch.rows[*at];

		has = !row->state.is_disabled && ct_trigger_fits_exit(&row->trigger, status);
		if (!has)
			continue;
		*out = (struct ct_trigger_fired){ .is_exit = true,
						  .status = status,
						  .action_count = row->trigger.action_count };
		memcpy(out->name, row->state.name, sizeof out->name);
		memcpy(out->action, row->trigger.action, sizeof out->action);
	}
	ct_trigger_unlock();
	return has;
}

void ct_trigger_find_ends(bool *out_has_signal, bool *out_has_exit)
{
	*out_has_signal = *out_has_exit = false;
	ct_trigger_lock();
	for (uint32_t i = 0; i < watch.count; i++) {
		const struct row *row = &watch.rows[i];

		*out_has_signal |=
			!row->state.is_disabled && row->trigger.cause == CT_TRIGGER_ON_SIGNAL;
		*out_has_exit |=
			!row->state.is_disabled && row->trigger.cause == CT_TRIGGER_ON_EXIT;
	}
	ct_trigger_unlock();
}

void ct_trigger_update(void)
{
	struct ct_trigger_list *list;
	struct row *rows, *old;
	uint32_t before;

	if (!rows_are_needed())
		return;
	list = malloc(sizeof *list);
	rows = old = calloc(CT_TRIGGER_LIMIT, sizeof *rows);
	if (list != NULL && rows != NULL) {
		ct_trigger_lock();
		ct_registry_lock(ct_process.registry);
		*list = ct_process.settings.triggers;
		ct_registry_unlock(ct_process.registry);
		before = watch.count;
		watch.count = rows_fill(rows, list);
		old = watch.rows;
		spans_free(old, old != NULL ? before : 0, rows, watch.count);
		watch.rows = rows;
		thread_start();
		ct_trigger_unlock();
		ct_watch_end_follow();
	}
	free(old);
	free(list);
}

static void row_begin_anew(struct row *row)
{
	row->counted = row->begun = 0;
	row->has_acted = false;
	ct_watch_spans_clear(row->spans);
}

void ct_trigger_begin_anew(struct ct_span name)
{
	ct_trigger_lock();
	for (uint32_t i = 0; i < watch.count; i++)
		if (ct_name_is(name.at, name.size, watch.rows[i].state.name))
			row_begin_anew(&watch.rows[i]);
	ct_trigger_unlock();
}

void ct_trigger_forked(void)
{
	(void)pthread_mutex_init(&watch.lock, NULL);
	watch.is_running = false;
	watch.missed = 0;
	watch.places = NULL; /* the thread may have been changing them: they stay in its memory */
	watch.place_count = 0;
	ct_buf_init(&watch.chunk);
	for (uint32_t i = 0; i < watch.count; i++) {
		struct row *row = &watch.rows[i];

		row->state.matches = row->state.unlike = row->state.acts = row->state.acted_ns = 0;
		row->is_due = false;
		row_begin_anew(row);
	}
	ct_watch_end_forked();
	ct_trigger_forget_levels();
	ct_trigger_forget_programs();
}

bool ct_trigger_state_at(uint32_t index, struct ct_trigger_state *out, uint64_t *out_missed)
{
	bool is_there;

	ct_trigger_lock();
	is_there = index < watch.count;
	if (is_there) {
		*out = watch.rows[index].state;
		out->is_used_up = row_is_used_up(&watch.rows[index]);
	}
	*out_missed = watch.missed;
	ct_trigger_unlock();
	return is_there;
}
