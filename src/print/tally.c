/*
 * tally.c - rows of numbers from events: per component, event, thread and name.
 *
 * Called by ctrace stats and ctrace diff for every event, on one thread.  Memory is bounded by the
 * limits in tally.h, whatever the trace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/tally.h"

#include <stdlib.h>
#include <string.h>

/* What makes two rows the same. */
struct key {
	enum ct_tally_kind kind;
	const struct ct_read_event *event;
	uint32_t hash;
	/* of CT_TALLY_NAME: event is that which has the items */
	const struct ct_buf *name;
	const struct ct_tally_subject *subject;
};

void ct_tally_init(struct ct_tally *tally)
{
	*tally = (struct ct_tally){ .pages_left = CT_TALLY_PAGES };
}

static void row_fini(struct ct_tally_row *row)
{
	free(row->component);
	free(row->mnemonic);
	free(row->name);
	free(row->what);
	free(row->statuses);
	free(row->host);
	free(row->program);
	if (row->spans != NULL)
		ct_histogram_fini(row->spans);
	free(row->spans);
}

void ct_tally_fini(struct ct_tally *tally)
{
	for (unsigned kind = 0; kind < CT_TALLY_KINDS; kind++) {
		struct ct_tally_table *table = &tally->tables[kind];

		for (size_t i = 0; i < table->count; i++)
			row_fini(&table->rows[i]);
		free(table->rows);
		ct_hash_table_fini(&table->table);
	}
	ct_distinct_fini(&tally->types);
	free(tally->ways);
	ct_buf_fini(&tally->name);
	*tally = (struct ct_tally){ .pages_left = 0 };
}

void ct_tally_want_names(struct ct_tally *tally, const char *by)
{
	tally->has_names = true;
	tally->by = by;
}

/* -----------------------------------------------------------------------------------------------
 * Finding a row
 */

static uint32_t hash_bytes(uint32_t hash, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash;
}

static uint32_t hash_mix(uint32_t hash, uint32_t number)
{
	hash = (hash ^ number) * 0x85EBCA77u;
	return hash ^ hash >> 15;
}

/* A thread's row knows its process by texts, which two processes may share, and by its source
 * process. */
static inline bool row_is(const void *items, uint32_t number, const void *wanted)
{
	const struct ct_tally_row *row = (const struct ct_tally_row *)items + number;
	const struct key *key = wanted;
	const struct ct_read_event *event = key->event;

	if (key->kind == CT_TALLY_THREAD)
		return row->tid == event->traced.tid &&
		       row->event_id == event->source_process->index;
	return (key->kind == CT_TALLY_COMPONENT || row->event_id == event->traced.event_id) &&
	       strlen(row->component) == event->traced.component_size &&
	       memcmp(row->component, event->traced.component, event->traced.component_size) == 0;
}

static bool row_is_named(const void *items, uint32_t number, const void *wanted)
{
	const struct ct_tally_row *row = (const struct ct_tally_row *)items + number;
	const struct key *key = wanted;

	return strlen(row->name) == key->name->size &&
	       memcmp(row->name, key->name->data, key->name->size) == 0 &&
	       row_is(items, number, wanted);
}

static bool row_init(struct ct_tally_row *row, const struct key *key)
{
	const struct ct_read_event *event = key->event;
	char scratch[16];
	const char *mnemonic;

	*row = (struct ct_tally_row){ .level = event->traced.level };
	if (key->kind == CT_TALLY_THREAD) {
		row->host = strdup(event->source_process->host);
		row->program = strdup(event->source_process->program);
		row->pid = event->traced.pid;
		row->tid = event->traced.tid;
		row->event_id = event->source_process->index;
		return row->host != NULL && row->program != NULL;
	}
	row->component = strndup(event->traced.component, event->traced.component_size);
	if (key->kind == CT_TALLY_COMPONENT || row->component == NULL)
		return row->component != NULL;
	row->event_id = event->traced.event_id;
	if (key->kind == CT_TALLY_NAME) {
		row->is_operation = key->subject->is_operation;
		row->name = strndup(key->name->data, key->name->size);
		row->what = strdup(key->subject->what);
		if (row->name == NULL || row->what == NULL)
			return false;
	}
	mnemonic = ct_read_event_mnemonic(event, scratch);
	row->mnemonic = mnemonic != scratch ? strdup(mnemonic) : NULL;
	return mnemonic == scratch || row->mnemonic != NULL;
}

/* Returns the row without a name, which the hash table does not have. */
static struct ct_tally_row *row_find_beyond(struct ct_tally_table *table)
{
	if (table->beyond++ == 0)
		table->rows[table->count++] = (struct ct_tally_row){ .level = CTRACE_LEVEL_NONE };
	return &table->rows[table->count - 1];
}

/* Inline, since it is called for every event, and names are a call of their own. */
static inline __attribute__((always_inline)) struct ct_tally_row *
row_find(struct ct_tally_table *table, const struct key *key, ct_hash_table_is *is)
{
	struct ct_tally_row *rows, *row;
	uint32_t found = ct_hash_table_find(&table->table, key->hash, is, table->rows, key);

	if (found != CT_HASH_TABLE_NONE)
		return &table->rows[found];
	/* Also for the row without a name. */
	rows = ct_hash_table_reserve_items(&table->table, table->rows, sizeof *rows);
	if (rows == NULL)
		return NULL;
	table->rows = rows;
	if (table->count >= CT_TALLY_ROWS)
		return row_find_beyond(table);
	row = &rows[table->count];
	if (!row_init(row, key)) {
		row_fini(row);
		return NULL;
	}
	ct_hash_table_add(&table->table, key->hash, (uint32_t)table->count++);
	return row;
}

/* -----------------------------------------------------------------------------------------------
 * Counting
 */

/* Estimates the event's size in a ring: 2 bytes too much for an item whose size its class fixes. */
static uint64_t event_size(const struct ctrace_event *traced)
{
	uint64_t size = CT_EVENT_HEAD;

	for (uint32_t i = 0; i < traced->item_count; i++)
		size += traced->items[i].size + (traced->items[i].size > 8 ? 2u : 0u);
	return size;
}

static void row_count_span(struct ct_tally *tally, struct ct_tally_row *row,
			   const struct ct_read_event *event)
{
	if (event->duration_ns == CT_NO_DURATION)
		return;
	if (row->spans == NULL)
		row->spans = calloc(1, sizeof *row->spans);
	if (row->spans == NULL)
		tally->failed = true;
	else
		ct_histogram_add(row->spans, event->duration_ns, &tally->pages_left);
}

static void row_count_event(struct ct_tally *tally, const struct key *key, uint64_t bytes)
{
	const struct ct_read_event *event = key->event;
	struct ct_tally_row *row = row_find(&tally->tables[key->kind], key, row_is);

	if (row == NULL) {
		tally->failed = true;
		return;
	}
	/* the event that began the span was counted when it came */
	if (!event->is_inferred) {
		row->events++;
		row->bytes += bytes;
		row->levels[event->traced.level % CTRACE_LEVEL_COUNT]++;
	}
	row_count_span(tally, row, event);
}

/* Success is 0, 00, and so on. */
static bool status_is_success(const struct ct_buf *text)
{
	for (size_t i = 0; i < text->size; i++)
		if (text->data[i] != '0')
			return false;
	return true;
}

static void row_count_status(struct ct_tally *tally, struct ct_tally_row *row,
			     const struct ct_buf *text)
{
	struct ct_tally_status *status;
	char word[sizeof status->text] = "";
	unsigned at = 0;

	memcpy(word, text->data, text->size < sizeof word ? text->size : sizeof word - 1);
	if (row->statuses == NULL)
		row->statuses = calloc(CT_TALLY_STATUSES, sizeof *row->statuses);
	if (row->statuses == NULL) {
		tally->failed = true;
		return;
	}
	while (at < row->status_count && strcmp(row->statuses[at].text, word) != 0)
		at++;
	if (at == CT_TALLY_STATUSES) {
		row->statuses_beyond++;
		return;
	}
	status = &row->statuses[at];
	if (at == row->status_count) {
		memcpy(status->text, word, sizeof word);
		row->status_count++;
	}
	status->count++;
}

/* The role's item of an operation; NULL when it has none. */
static const struct ctrace_event_item *role_item(const struct ct_read_event *event,
						 enum ct_argument_role role)
{
	uint32_t index = event->type->roles[role];

	return index != 0 && index <= event->traced.item_count ? &event->traced.items[index - 1]
							       : NULL;
}

static void row_count_operation(struct ct_tally *tally, struct ct_tally_row *row,
				const struct ct_read_event *event)
{
	const struct ctrace_event_item *item = role_item(event, CT_ARGUMENT_ROLE_BYTES);

	if (item != NULL)
		row->moved += item->value;
	if (role_item(event, CT_ARGUMENT_ROLE_STATUS) == NULL)
		return;
	ct_buf_clear(&tally->name); /* the row has it */
	(void)ct_item_name_add(&tally->name, event,
			       event->type->roles[CT_ARGUMENT_ROLE_STATUS] - 1);
	if (!status_is_success(&tally->name))
		row_count_status(tally, row, &tally->name);
}

static __attribute__((noinline)) void count_name(struct ct_tally *tally,
						 const struct ct_read_event *event)
{
	struct ct_tally_subject subject;
	struct key key = { .kind = CT_TALLY_NAME, .name = &tally->name, .subject = &subject };
	struct ct_tally_row *row;
	uint32_t hash;

	if (!ct_tally_find_name(tally, event, &subject))
		return;
	key.event = subject.of;
	hash = hash_bytes(2166136261u, subject.of->traced.component,
			  subject.of->traced.component_size);
	hash = hash_bytes(hash, tally->name.data, tally->name.size);
	key.hash = hash_mix(hash ^ hash >> 15, subject.of->traced.event_id);
	row = row_find(&tally->tables[CT_TALLY_NAME], &key, row_is_named);
	if (row == NULL) {
		tally->failed = true;
		return;
	}
	row->events++;
	row->is_inferred |= event->is_inferred;
	row_count_span(tally, row, event);
	if (event->duration_ns != CT_NO_DURATION)
		row->self_ns += event->self_ns;
	if (subject.is_operation)
		row_count_operation(tally, row, event);
}

void ct_tally_add(struct ct_tally *tally, const struct ct_read_event *event)
{
	uint32_t hash =
		hash_bytes(2166136261u, event->traced.component, event->traced.component_size);
	struct key key = { .kind = CT_TALLY_COMPONENT, .event = event, .hash = hash ^ hash >> 15 };
	uint64_t bytes = event_size(&event->traced);

	if (event->is_inferred)
		bytes = 0;
	else if (tally->events == 0 || event->traced.time_ns < tally->first_ns)
		tally->first_ns = event->traced.time_ns;
	if (event->traced.time_ns > tally->last_ns)
		tally->last_ns = event->traced.time_ns;
	tally->events += !event->is_inferred;
	tally->bytes += bytes;
	row_count_event(tally, &key, bytes);
	key.kind = CT_TALLY_EVENT;
	key.hash = hash_mix(hash, event->traced.event_id);
	row_count_event(tally, &key, bytes);
	key.kind = CT_TALLY_THREAD;
	key.hash = hash_mix(hash_mix(0x9E3779B9u, event->source_process->index), event->traced.tid);
	row_count_event(tally, &key, bytes);
	if (tally->has_names)
		count_name(tally, event);
}

uint64_t ct_tally_duration_ns(const struct ct_tally *tally)
{
	return tally->last_ns > tally->first_ns ? tally->last_ns - tally->first_ns : 0;
}

double ct_tally_rate(uint64_t count, uint64_t duration_ns)
{
	return duration_ns != 0 ? (double)count * 1e9 / (double)duration_ns : 0;
}

void ct_tally_add_duration(struct ct_buf *out, uint64_t ns)
{
	static const struct {
		double size;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };

	for (size_t i = 0; i < CT_COUNT(units); i++) {
		double value = (double)ns / units[i].size;

		/* A value that would round up to 1000 is 1.00 of the next unit. */
		if (value >= 0.9995) {
			ct_buf_add_format(out,
					  value < 9.995   ? "%.2f%s"
					  : value < 99.95 ? "%.1f%s"
							  : "%.0f%s",
					  value, units[i].name);
			return;
		}
	}
	ct_buf_add_format(out, "%uns", (unsigned)ns);
}
