/*
 * otlp_value.c - items of events as attributes: numbers, texts, bytes, and the fields of a COBOL
 * record as nested attributes.
 *
 * Called by otlp_map.c, on one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "otlp/otlp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ANY(NAME) OPENTELEMETRY__PROTO__COMMON__V1__ANY_VALUE__VALUE_##NAME
#define EXACT_DIGITS 15u /* of a decimal number that a double keeps */
/* groups and tables in each other */
#define DEPTH_LIMIT (2 * CT_COPYBOOK_DEPTH)

typedef Opentelemetry__Proto__Common__V1__KeyValueList otlp_pairs;
typedef Opentelemetry__Proto__Common__V1__ArrayValue otlp_array;

static ct_otlp_any *any_create(struct ct_otlp_pool *pool)
{
	ct_otlp_any *any = ct_otlp_pool_take(pool, sizeof *any);

	if (any != NULL)
		opentelemetry__proto__common__v1__any_value__init(any);
	return any;
}

/* key belongs to the pool, or outlives the request. */
static ct_otlp_any *add_under(struct ct_otlp_pool *pool, struct ct_otlp_list *attributes, char *key)
{
	ct_otlp_pair *pair = ct_otlp_pool_take(pool, sizeof *pair);
	ct_otlp_any *any = any_create(pool);

	if (pair == NULL || any == NULL || key == NULL)
		return NULL;
	opentelemetry__proto__common__v1__key_value__init(pair);
	pair->key = key;
	pair->value = any;
	ct_otlp_list_add(pool, attributes, pair);
	return any;
}

ct_otlp_any *ct_otlp_add(struct ct_otlp_pool *pool, struct ct_otlp_list *attributes,
			 const char *key)
{
	return add_under(pool, attributes, (char *)(uintptr_t)key);
}

static void set_int(ct_otlp_any *any, int64_t value)
{
	if (any == NULL)
		return;
	any->value_case = ANY(INT_VALUE);
	any->int_value = value;
}

void ct_otlp_set_text(struct ct_otlp_pool *pool, ct_otlp_any *any, const void *text, size_t size)
{
	char *copy = any != NULL ? ct_otlp_pool_text(pool, text, size) : NULL;

	if (copy == NULL)
		return;
	any->value_case = ANY(STRING_VALUE);
	any->string_value = copy;
}

static void set_bytes(struct ct_otlp_pool *pool, ct_otlp_any *any, const void *bytes, size_t size)
{
	void *copy = any != NULL ? ct_otlp_pool_take(pool, size + 1) : NULL;

	if (copy == NULL)
		return;
	if (size > 0)
		memcpy(copy, bytes, size);
	any->value_case = ANY(BYTES_VALUE);
	any->bytes_value.data = copy;
	any->bytes_value.len = size;
}

void ct_otlp_add_text(struct ct_otlp_pool *pool, struct ct_otlp_list *attributes, const char *key,
		      const char *text)
{
	ct_otlp_set_text(pool, ct_otlp_add(pool, attributes, key), text, strlen(text));
}

void ct_otlp_add_int(struct ct_otlp_pool *pool, struct ct_otlp_list *attributes, const char *key,
		     int64_t value)
{
	set_int(ct_otlp_add(pool, attributes, key), value);
}

/* -----------------------------------------------------------------------------------------------
 * COBOL records
 */

/* A group (pairs) or a table (values) that is being filled. */
struct level {
	ct_otlp_any *any;
	struct ct_otlp_list list;
	bool is_table;
	uint32_t fillers;
};

struct record {
	struct ct_otlp_pool *pool;
	ct_otlp_any *root;
	struct level levels[DEPTH_LIMIT];
	uint32_t depth;
	uint32_t skipped; /* groups within that are too deep */
};

/* Returns the value of a new member of the current group or table. */
static ct_otlp_any *member_add(struct record *record, const struct ct_record_field *field,
			       bool is_element)
{
	struct level *level = record->depth > 0 ? &record->levels[record->depth - 1] : NULL;
	char filler[24];
	ct_otlp_any *any;

	if (level == NULL)
		return record->root;
	if (is_element && level->is_table) {
		any = any_create(record->pool);
		if (any != NULL)
			ct_otlp_list_add(record->pool, &level->list, any);
		return any;
	}
	if (field->is_filler)
		(void)snprintf(filler, sizeof filler, "FILLER.%u", ++level->fillers);
	return add_under(record->pool, &level->list,
			 field->is_filler ? ct_otlp_pool_text(record->pool, filler, strlen(filler))
					  : ct_otlp_pool_text(record->pool, field->name,
							      strlen(field->name)));
}

static void level_begin(struct record *record, ct_otlp_any *any, bool is_table)
{
	if (record->depth == DEPTH_LIMIT || any == NULL) {
		record->skipped++;
		return;
	}
	record->levels[record->depth++] = (struct level){ .any = any, .is_table = is_table };
}

static void level_end(struct record *record)
{
	struct level *level;

	if (record->skipped > 0) {
		record->skipped--;
		return;
	}
	level = &record->levels[--record->depth];
	if (level->is_table) {
		otlp_array *array = ct_otlp_pool_take(record->pool, sizeof *array);

		if (array == NULL)
			return;
		opentelemetry__proto__common__v1__array_value__init(array);
		array->values = (ct_otlp_any **)level->list.items;
		array->n_values = level->list.count;
		level->any->value_case = ANY(ARRAY_VALUE);
		level->any->array_value = array;
	} else {
		otlp_pairs *pairs = ct_otlp_pool_take(record->pool, sizeof *pairs);

		if (pairs == NULL)
			return;
		opentelemetry__proto__common__v1__key_value_list__init(pairs);
		pairs->values = (ct_otlp_pair **)level->list.items;
		pairs->n_values = level->list.count;
		level->any->value_case = ANY(KVLIST_VALUE);
		level->any->kvlist_value = pairs;
	}
}

static void record_begin_group(const struct ct_record_field *field, void *user)
{
	struct record *record = user;

	level_begin(record, record->skipped > 0 ? NULL : member_add(record, field, true), false);
}

static void record_end_group(const struct ct_record_field *field, void *user)
{
	(void)field;
	level_end(user);
}

static void record_begin_table(const struct ct_record_field *field, uint32_t count, void *user)
{
	struct record *record = user;

	(void)count;
	level_begin(record, record->skipped > 0 ? NULL : member_add(record, field, false), true);
}

/* An integer stays one.  A number with a point becomes a double if that keeps its digits, else
 * text. */
static void set_number(struct ct_otlp_pool *pool, ct_otlp_any *any,
		       const struct ct_record_field *field)
{
	char number[CT_JSON_NUMBER_SIZE + 1];
	size_t size = ct_field_json_number(field, number);
	size_t digits = 0;
	char *end;

	if (any == NULL)
		return;
	if (size == 0) {
		ct_otlp_set_text(pool, any, field->text, field->text_size);
		return;
	}
	number[size] = '\0';
	if (strpbrk(number, ".eE") == NULL) {
		long long value;

		errno = 0;
		value = strtoll(number, &end, 10);
		if (errno == 0) {
			set_int(any, value);
			return;
		}
	}
	for (const char *at = number; *at != '\0' && *at != 'e' && *at != 'E'; at++)
		digits += *at >= '0' && *at <= '9' && (digits > 0 || *at != '0');
	if (digits > EXACT_DIGITS && strpbrk(number, "eE") == NULL) {
		ct_otlp_set_text(pool, any, number, size);
		return;
	}
	any->value_case = ANY(DOUBLE_VALUE);
	any->double_value = strtod(number, NULL);
}

static void add_conditions(struct record *record, const struct ct_record_field *field)
{
	struct level *level = &record->levels[record->depth - 1];
	struct ct_buf name;
	ct_otlp_any *any;

	ct_buf_init(&name);
	ct_buf_add_format(&name, "%s.88", field->name);
	any = add_under(record->pool, &level->list,
			ct_otlp_pool_text(record->pool, ct_buf_text(&name), name.size));
	ct_buf_fini(&name);
	level_begin(record, any, true);
	for (uint32_t i = 0; i < field->condition_count; i++)
		ct_otlp_set_text(record->pool, member_add(record, field, true),
				 field->conditions[i], strlen(field->conditions[i]));
	level_end(record);
}

static void record_value(const struct ct_record_field *field, void *user)
{
	struct record *record = user;
	size_t size = field->text_size;
	ct_otlp_any *any;

	if (record->skipped > 0)
		return;
	any = member_add(record, field, true);
	if (any == NULL)
		return;
	if (field->is_bad) /* its text has two digits a byte that there is */
		set_bytes(record->pool, any, field->bytes, size / 2);
	else if (field->kind == CT_RECORD_NUMBER)
		set_number(record->pool, any, field);
	else {
		while (field->kind == CT_RECORD_TEXT && size > 0 && field->text[size - 1] == ' ')
			size--;
		ct_otlp_set_text(record->pool, any, field->text, size);
	}
	if (field->condition_count > 0 && record->depth > 0 &&
	    !record->levels[record->depth - 1].is_table)
		add_conditions(record, field);
}

static void record_end_table(const struct ct_record_field *field, void *user)
{
	(void)field;
	level_end(user);
}

static void set_record(struct ct_otlp_pool *pool, ct_otlp_any *any,
		       const struct ctrace_event_item *item, const struct ct_copybook *copybook,
		       bool is_big)
{
	struct record record = { .pool = pool, .root = any };
	const struct ct_field_visitor visitor = {
		.begin_group = record_begin_group,
		.end_group = record_end_group,
		.begin_table = record_begin_table,
		.end_table = record_end_table,
		.value = record_value,
		.user = &record,
	};

	(void)ct_copybook_decode(copybook,
				 (struct ct_record_bytes){ item->data, item->size, is_big },
				 &visitor, NULL);
}

/* -----------------------------------------------------------------------------------------------
 * Items
 */

const char *ct_otlp_item_name(const struct ct_read_event *event, uint32_t index)
{
	if (event->type != NULL && index < event->type->argument_count)
		return event->type->arguments[index].name;
	if (event->names != NULL && event->names->items != NULL && index < event->names->item_count)
		return event->names->items[index];
	return NULL;
}

static void set_integer(struct ct_otlp_pool *pool, ct_otlp_any *any,
			const struct ctrace_event_item *item)
{
	char digits[CT_U64_DIGITS];

	if (item->type == CTRACE_TYPE_COMP5S || item->type == CTRACE_TYPE_COMPXS ||
	    item->value <= INT64_MAX)
		set_int(any, (int64_t)item->value);
	else
		ct_otlp_set_text(pool, any, digits,
				 (size_t)(ct_put_u64(digits, item->value) - digits));
}

static void set_encoded(struct ct_otlp_pool *pool, ct_otlp_any *any,
			const struct ctrace_event_item *item, enum ct_encoding encoding,
			struct ct_buf *scratch)
{
	if (encoding == CT_ENCODING_ASCII) {
		ct_otlp_set_text(pool, any, item->data, item->size);
		return;
	}
	ct_buf_clear(scratch);
	ct_encoding_add(scratch, encoding, item->data, item->size);
	ct_otlp_set_text(pool, any, scratch->data, scratch->size);
	pool->failed |= scratch->failed;
}

/* As people read it: a time, flags, an enumeration. */
static void set_printed(struct ct_otlp_pool *pool, ct_otlp_any *any,
			const struct ctrace_event_item *item, const struct ct_argument *argument,
			struct ct_buf *scratch)
{
	static const struct ct_line_format plain = { .format = "", .delimiter = "" };

	ct_buf_clear(scratch);
	ct_value_add(scratch, &plain, item, argument, false);
	ct_otlp_set_text(pool, any, scratch->data, scratch->size);
	pool->failed |= scratch->failed;
}

static void set_item(struct ct_otlp_pool *pool, ct_otlp_any *any,
		     const struct ctrace_event_item *item, const struct ct_argument *argument,
		     enum ct_encoding encoding, bool is_big, struct ct_buf *scratch)
{
	enum ct_print print = argument != NULL ? argument->print : CT_PRINT_DEFAULT;
	bool is_plain = print == CT_PRINT_DEFAULT || print == CT_PRINT_RECORD;
	bool is_number = item->size >= 1 && item->size <= 8;

	if (argument != NULL && argument->encoding != CT_ENCODING_ASCII)
		encoding = argument->encoding;
	if (argument != NULL && ct_value_is_record(item, argument)) {
		set_record(pool, any, item, argument->copybook, is_big);
		return;
	}
	switch (item->type) {
	case CTRACE_TYPE_TEXT:
		set_encoded(pool, any, item, encoding, scratch);
		return;
	case CTRACE_TYPE_UTF8:
		ct_otlp_set_text(pool, any, item->data, item->size);
		return;
	case CTRACE_TYPE_ADDRESS:
		set_printed(pool, any, item, is_plain ? NULL : argument, scratch);
		return;
	case CTRACE_TYPE_COMP5:
	case CTRACE_TYPE_COMPX:
	case CTRACE_TYPE_COMP5S:
	case CTRACE_TYPE_COMPXS:
		if (!is_number)
			break;
		if (is_plain || print == CT_PRINT_DECIMAL || print == CT_PRINT_TEXT)
			set_integer(pool, any, item);
		else
			set_printed(pool, any, item, argument, scratch);
		return;
	default:
		if (print == CT_PRINT_TEXT) {
			set_encoded(pool, any, item, encoding, scratch);
			return;
		}
		if (is_number && !is_plain && print != CT_PRINT_HEX) {
			set_printed(pool, any, item, argument, scratch);
			return;
		}
	}
	set_bytes(pool, any, item->data, item->size);
}

void ct_otlp_add_item(struct ct_otlp_pool *pool, struct ct_otlp_list *attributes,
		      const struct ct_read_event *event, uint32_t index, enum ct_encoding encoding,
		      struct ct_buf *scratch)
{
	const char *name = ct_otlp_item_name(event, index);
	char number[24];
	ct_otlp_any *any;

	if (name == NULL) {
		(void)snprintf(number, sizeof number, "item.%u", index + 1);
		name = number;
	}
	any = add_under(pool, attributes, ct_otlp_pool_text(pool, name, strlen(name)));
	if (any != NULL)
		set_item(pool, any, &event->traced.items[index],
			 ct_read_event_argument(event, index), encoding,
			 event->source_process->is_big, scratch);
}
