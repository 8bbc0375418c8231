/*
 * copybook_decode.c - decodes a record's bytes into fields, with one call of the visitor each.
 *
 * Called by readers for each record that is shown.  The bytes may be hostile and of any length; the
 * layout is valid.  A field allocates only text for EBCDIC and hex digits, which grows to the
 * longest and stays.  ASCII texts are not copied.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook_private.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN INT64_MIN
#define COMPARED_LIMIT ((uint64_t)1 << 25)
#define HEX_SHOWN ((size_t)1 << 16) /* bytes of a bad field */

/* Memory that is reused from record to record. */
struct ct_decoding {
	struct ct_buf text;
	int64_t *counters;       /* by slot: counters of DEPENDING ON */
	const char **conditions; /* as many as the item with the most */
};

struct state {
	const struct ct_copybook *copybook;
	struct ct_decoding *decoding;
	const struct ct_field_visitor *visitor;
	const uint8_t *bytes;
	uint64_t size;
	bool is_big;
	uint32_t shown;
	uint64_t compared; /* bytes compared for conditions */
	/* the current field is incomplete, so the fields behind it are missing */
	bool is_missing;
	bool is_full, is_bad;
	char number[CT_NUMBER_TEXT];
};

/* The bytes by which the data before an item has shrunk, when tables slide. */
typedef uint64_t shrunk;

enum ctrace_status ct_decoding_create(struct ct_copybook *copybook)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < copybook->item_count; i++)
		if (copybook->items[i].condition_count > most)
			most = copybook->items[i].condition_count;
	copybook->decoding = calloc(1, sizeof *copybook->decoding);
	if (copybook->decoding == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	copybook->decoding->counters =
		calloc(copybook->slot_count + 1, sizeof *copybook->decoding->counters);
	copybook->decoding->conditions = calloc(most + 1, sizeof *copybook->decoding->conditions);
	if (copybook->decoding->counters == NULL || copybook->decoding->conditions == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	return CTRACE_OK;
}

void ct_decoding_destroy(struct ct_decoding *decoding)
{
	if (decoding == NULL)
		return;
	ct_buf_fini(&decoding->text);
	free(decoding->counters);
	free(decoding->conditions);
	free(decoding);
}

/* ---- one value */

static bool item_is_group(const struct state *state, uint32_t index)
{
	return state->copybook->items[index].end > index + 1;
}

static uint64_t record_bytes_left(const struct state *state, uint64_t at, uint64_t size)
{
	if (at >= state->size)
		return 0;
	return state->size - at < size ? state->size - at : size;
}

static struct ct_record_field field_make(const struct state *state, const struct ct_item *item,
					 uint64_t at, uint32_t occurrence)
{
	return (struct ct_record_field){ .name = item->name,
					 .kind = CT_RECORD_GROUP,
					 .depth = item->depth,
					 .offset = (uint32_t)at,
					 .size = item->size,
					 .occurrence = (int32_t)occurrence,
					 .is_filler = item->is_filler,
					 .is_redefinition = item->redefines != CT_NO_ITEM,
					 .picture = item->picture,
					 .text = "",
					 .bytes = state->bytes +
						  (at < state->size ? at : state->size),
					 .copybook = state->copybook,
					 .item = item,
					 .is_big = state->is_big };
}

/* Finds the conditions that hold.  Bounded by COMPARED_LIMIT per record: a large group with
 * thousands of conditions would take too long. */
static void field_find_conditions(struct state *state, const struct ct_item *item,
				  struct ct_record_field *field, const struct ct_digits *number)
{
	const struct ct_copybook *copybook = state->copybook;
	struct ct_record_bytes bytes = {
		.at = field->bytes,
		.size = record_bytes_left(state, field->offset, field->size),
		.is_big = state->is_big,
	};

	for (uint32_t i = 0; i < item->condition_count; i++) {
		const struct ct_condition *condition =
			&copybook->conditions[item->first_condition + i];

		state->compared += (bytes.size + 16) * condition->range_count;
		if (state->compared > COMPARED_LIMIT) {
			state->is_full = true;
			break;
		}
		if (ct_condition_holds(copybook, item, condition, bytes, number))
			state->decoding->conditions[field->condition_count++] = condition->name;
	}
	field->conditions = state->decoding->conditions;
}

static void field_show_hex(struct state *state, struct ct_record_field *field)
{
	uint64_t size = record_bytes_left(state, field->offset, field->size);
	const uint8_t *bytes = field->bytes;
	struct ct_buf *text = &state->decoding->text;

	if (size > HEX_SHOWN)
		size = HEX_SHOWN;
	ct_buf_clear(text);
	if (ct_buf_reserve(text, size * 2 + 1))
		for (uint64_t i = 0; i < size; i++) {
			text->data[text->size++] = "0123456789ABCDEF"[bytes[i] >> 4];
			text->data[text->size++] = "0123456789ABCDEF"[bytes[i] & 15];
		}
	field->text = ct_buf_text(text);
	field->text_size = text->size;
	field->is_bad = true;
	state->is_bad = true;
}

static void counter_keep(const struct state *state, const struct ct_item *item,
			 const struct ct_digits *number)
{
	__int128 value = number == NULL ? UNKNOWN : ct_digits_value(number);

	if (item->slot != CT_NO_ITEM)
		state->decoding->counters[item->slot] =
			value < -1 || value > INT32_MAX ? UNKNOWN : (int64_t)value;
}

static void field_show_text(struct state *state, struct ct_record_field *field)
{
	struct ct_buf *text = &state->decoding->text;

	field->kind = CT_RECORD_TEXT;
	if (state->copybook->encoding == CT_ENCODING_ASCII) {
		field->text = field->bytes;
		field->text_size = field->size;
		return;
	}
	ct_buf_clear(text);
	ct_encoding_add(text, state->copybook->encoding, field->bytes, field->size);
	field->text = ct_buf_text(text);
	field->text_size = text->size;
}

static void field_show_pointer(struct state *state, const struct ct_item *item,
			       struct ct_record_field *field)
{
	uint64_t value = ct_pointer_value(state->copybook, item, field->bytes, state->is_big);

	field->kind = CT_RECORD_POINTER;
	state->number[0] = '0';
	state->number[1] = 'x';
	for (unsigned i = 0; i < 16; i++)
		state->number[17 - i] = "0123456789abcdef"[value >> (i * 4) & 15];
	field->text = state->number;
	field->text_size = 18;
}

/* Shows a value, without its conditions.  Returns whether it is a number with digits. */
static bool field_show_value(struct state *state, const struct ct_item *item,
			     struct ct_record_field *field, struct ct_digits *number)
{
	if (ct_item_is_number(item)) {
		field->kind = CT_RECORD_NUMBER;
		if (!ct_digits_decode(state->copybook, item, field->bytes, state->is_big, number)) {
			field_show_hex(state, field);
			return false;
		}
		field->text = state->number;
		field->text_size = ct_digits_print(item, number, state->number);
		return true;
	}
	if (item->usage == CT_USAGE_FLOAT || item->usage == CT_USAGE_DOUBLE) {
		field->kind = CT_RECORD_NUMBER;
		field->text = state->number;
		field->text_size = ct_float_print(item, field->bytes, state->is_big, state->number);
	} else if (item->usage == CT_USAGE_POINTER) {
		field_show_pointer(state, item, field);
	} else {
		field_show_text(state, field);
	}
	return false;
}

static enum ct_field_kind item_field_kind(const struct ct_item *item)
{
	if (item->usage == CT_USAGE_POINTER)
		return CT_RECORD_POINTER;
	return ct_item_is_number(item) || item->usage == CT_USAGE_FLOAT ||
			       item->usage == CT_USAGE_DOUBLE
		       ? CT_RECORD_NUMBER
		       : CT_RECORD_TEXT;
}

static void value_decode(struct state *state, const struct ct_item *item, uint64_t at,
			 uint32_t occurrence)
{
	struct ct_record_field field = field_make(state, item, at, occurrence);
	struct ct_digits number;
	bool is_number = false;

	if (record_bytes_left(state, at, item->size) < item->size) {
		field.kind = item_field_kind(item);
		field_show_hex(state, &field);
		state->is_missing = true;
	} else {
		is_number = field_show_value(state, item, &field, &number);
		if (item->condition_count > 0)
			field_find_conditions(state, item, &field, is_number ? &number : NULL);
	}
	if (item->slot != CT_NO_ITEM)
		counter_keep(state, item, is_number ? &number : NULL);
	if (state->visitor->value != NULL)
		state->visitor->value(&field, state->visitor->user);
}

/* ---- groups and tables */

static shrunk item_decode(struct state *state, uint32_t index, uint64_t at);

static bool record_may_show(struct state *state)
{
	if (state->shown >= CT_RECORD_FIELDS_SHOWN)
		state->is_full = true;
	else
		state->shown++;
	return !state->is_full;
}

/* How tables shift later fields.  When tables slide, each table that is not full shifts everything
 * behind it.  Otherwise GnuCOBOL reserves the greatest size before later fields of the same group,
 * but not behind a group that ends with the table. */
struct moved {
	shrunk here;     /* later fields of this group */
	shrunk of_event; /* likewise, after all redefinitions of the item */
	shrunk behind;   /* fields behind the group */
};

static void moved_note(const struct state *state, uint32_t index, shrunk less, struct moved *moved)
{
	bool is_table = state->copybook->items[index].is_depending && !state->copybook->is_sliding;

	moved->here += moved->of_event;
	moved->of_event = is_table ? 0 : less;
	moved->behind = is_table ? less : 0;
}

/* Missing bytes end a group, except for other events of the same bytes, which may be shorter. */
static shrunk group_decode_children(struct state *state, uint32_t index, uint64_t at)
{
	const struct ct_item *items = state->copybook->items;
	struct moved moved = { 0, 0, 0 };
	bool is_missing = false;

	for (uint32_t child = index + 1; child < items[index].end && !state->is_full;
	     child = items[child].end) {
		bool is_event = items[child].redefines != CT_NO_ITEM;
		shrunk before = moved.here + (is_event ? 0 : moved.of_event), less;

		if (is_missing && !is_event)
			continue;
		less = item_decode(state, child, at + items[child].offset - before);
		if (!is_event)
			moved_note(state, child, less, &moved);
		is_missing |= state->is_missing;
		state->is_missing = false;
	}
	state->is_missing = is_missing;
	return moved.here + moved.of_event + moved.behind;
}

static shrunk item_decode_once(struct state *state, uint32_t index, uint64_t at,
			       uint32_t occurrence)
{
	const struct ct_item *item = &state->copybook->items[index];
	struct ct_record_field field;
	shrunk less;

	if (!record_may_show(state))
		return 0;
	if (!item_is_group(state, index)) {
		value_decode(state, item, at, occurrence);
		return 0;
	}
	field = field_make(state, item, at, occurrence);
	if (item->condition_count > 0)
		field_find_conditions(state, item, &field, NULL);
	if (state->visitor->begin_group != NULL)
		state->visitor->begin_group(&field, state->visitor->user);
	less = group_decode_children(state, index, at);
	field.conditions = NULL;
	field.condition_count = 0;
	if (state->visitor->end_group != NULL)
		state->visitor->end_group(&field, state->visitor->user);
	return less;
}

/* Returns the number of occurrences; *out_bad: the counter is out of range. */
static uint32_t table_count(const struct state *state, const struct ct_item *item, uint64_t at,
			    bool *out_bad)
{
	int64_t count;

	*out_bad = false;
	if (!item->is_depending)
		return item->occurs;
	if (item->depends == CT_NO_ITEM) {
		uint64_t room = record_bytes_left(state, at, UINT64_MAX) / item->size;

		return room < item->occurs ? (uint32_t)room : item->occurs;
	}
	count = state->decoding->counters[state->copybook->items[item->depends].slot];
	*out_bad = count < (int64_t)item->occurs_least || count > (int64_t)item->occurs;
	if (count > (int64_t)item->occurs)
		return item->occurs;
	return count < (int64_t)item->occurs_least ? item->occurs_least : (uint32_t)count;
}

static shrunk table_decode(struct state *state, uint32_t index, uint64_t at)
{
	const struct ct_item *item = &state->copybook->items[index];
	struct ct_record_field field = field_make(state, item, at, 0);
	uint32_t count = table_count(state, item, at, &field.is_bad);
	shrunk less = (uint64_t)(item->occurs - count) * item->size;

	if (!record_may_show(state))
		return 0;
	state->is_bad |= field.is_bad;
	if (state->visitor->begin_table != NULL)
		state->visitor->begin_table(&field, count, state->visitor->user);
	for (uint32_t i = 0; i < count && !state->is_missing && !state->is_full; i++) {
		shrunk of_one = item_decode_once(state, index, at, i + 1);

		at += item->size - of_one;
		less += of_one;
	}
	if (state->visitor->end_table != NULL)
		state->visitor->end_table(&field, state->visitor->user);
	return less;
}

static shrunk item_decode(struct state *state, uint32_t index, uint64_t at)
{
	if (state->copybook->items[index].occurs > 0)
		return table_decode(state, index, at);
	return item_decode_once(state, index, at, 0);
}

bool ct_copybook_decode(const struct ct_copybook *copybook, struct ct_record_bytes bytes,
			const struct ct_field_visitor *visitor, size_t *out_left_over)
{
	struct state state = { .copybook = copybook,
			       .decoding = copybook->decoding,
			       .visitor = visitor,
			       .bytes = bytes.at,
			       .size = bytes.size,
			       .is_big = bytes.is_big };
	uint64_t used = ct_copybook_size(copybook);
	size_t left_over;

	for (uint32_t i = 0; i < copybook->slot_count; i++)
		state.decoding->counters[i] = UNKNOWN;
	used -= item_decode(&state, copybook->record, 0);
	left_over = bytes.size > used ? (size_t)(bytes.size - used) : 0;
	if (out_left_over != NULL)
		*out_left_over = left_over;
	return !state.is_bad && !state.is_full && left_over == 0;
}

size_t ct_field_json_number(const struct ct_record_field *field, char out[CT_JSON_NUMBER_SIZE])
{
	const struct ct_item *item = field->item;
	struct ct_digits digits;
	double value;

	if (field->kind != CT_RECORD_NUMBER || field->is_bad)
		return 0;
	if (ct_item_is_number(item))
		return ct_digits_decode(field->copybook, item, field->bytes, field->is_big, &digits)
			       ? ct_digits_print_json(item, &digits, out)
			       : 0;
	value = ct_float_value(item, field->bytes, field->is_big);
	/* neither infinite nor no number */
	return value - value == 0 ? ct_float_print(item, field->bytes, field->is_big, out) : 0;
}
