/*
 * report_record.c - COBOL records in a report: decoded here, where the copybooks are, shown by the
 * page.
 *
 * Called by report_pack.c for each item that has a copybook in the catalogue.  The layout of a
 * field stands once in the page's "fields": [name, kind, bytes, picture, is filler, is
 * redefinition].  A record is a sequence of
 *
 *     1 + number of the field, offset in the record, occurrence,
 *     flags (1: its bytes do not fit, 2: conditions hold),
 *     then of a value:  size of the text, the text, and with flag 2 how many conditions, and their
 *                       numbers in "conditions"
 *     of a group:       its fields, 0
 *     of a table:       its occurrences, 0
 *
 * Each number is as ct_column_add_number() writes it.  A record ends after its last byte.  A record
 * that is cut ends early, inside its open groups.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/report/report_parts.h"

#include "print/json_text.h"
#include <string.h>

#define IS_BAD 1u
#define HAS_CONDITIONS 2u

static const char *const kind_names[] = { [CT_RECORD_TEXT] = "text",
					  [CT_RECORD_NUMBER] = "number",
					  [CT_RECORD_POINTER] = "pointer",
					  [CT_RECORD_GROUP] = "group" };

enum ctrace_status ct_report_records_init(struct ct_report_records *records)
{
	memset(records, 0, sizeof *records);
	ct_buf_init(&records->record);
	records->field_list = json_array();
	records->condition_list = json_array();
	return records->field_list != NULL && records->condition_list != NULL
		       ? CTRACE_OK
		       : CTRACE_NOT_ENOUGH_MEMORY;
}

void ct_report_records_fini(struct ct_report_records *records)
{
	ct_distinct_fini(&records->fields);
	ct_distinct_fini(&records->conditions);
	json_decref(records->field_list);
	json_decref(records->condition_list);
	ct_buf_fini(&records->record);
}

static void add_number(struct ct_report_records *records, uint64_t value)
{
	unsigned char bytes[10];

	ct_buf_add(&records->record, bytes, ct_number_put(bytes, value));
}

static uint32_t field_find(struct ct_report_records *records, const struct ct_record_field *field,
			   const char *kind)
{
	struct {
		const char *name, *picture, *kind; /* the copybook's, and constants */
		uint32_t size, flags;
	} key = { field->name, field->picture, kind, field->size,
		  (uint32_t)field->is_filler << 1 | field->is_redefinition };
	bool is_new;
	uint32_t index = ct_distinct_find(&records->fields, &key, sizeof key, &is_new);

	if (is_new)
		records->failed |=
			json_array_append_new(
				records->field_list,
				json_pack("[o,s,I,o,b,b]", ct_json_string(field->name), kind,
					  (json_int_t)field->size, ct_json_string(field->picture),
					  field->is_filler, field->is_redefinition)) != 0;
	return index;
}

/* Returns false when the field is left out. */
static bool add_field(struct ct_report_records *records, const struct ct_record_field *field,
		      const char *kind, size_t more)
{
	uint32_t index;

	records->is_cut |=
		records->record.size + more + 40 + (size_t)records->depth > CT_REPORT_RECORD_SIZE;
	if (records->is_cut)
		return false;
	index = field_find(records, field, kind);
	if (index == CT_DISTINCT_NONE) {
		records->is_cut = true;
		return false;
	}
	add_number(records, (uint64_t)index + 1);
	add_number(records, field->offset);
	add_number(records, field->occurrence > 0 ? (uint64_t)field->occurrence : 0);
	add_number(records, (field->is_bad ? IS_BAD : 0) |
				    (field->condition_count > 0 ? HAS_CONDITIONS : 0));
	return true;
}

static void record_begin_group(const struct ct_record_field *field, void *user)
{
	struct ct_report_records *records = user;

	if (add_field(records, field, kind_names[CT_RECORD_GROUP], 0))
		records->depth++;
}

static void record_begin_table(const struct ct_record_field *field, uint32_t count, void *user)
{
	struct ct_report_records *records = user;

	(void)count;
	if (add_field(records, field, "table", 0))
		records->depth++;
}

static void record_end_group(const struct ct_record_field *field, void *user)
{
	struct ct_report_records *records = user;

	(void)field;
	if (records->is_cut || records->depth == 0)
		return;
	add_number(records, 0);
	records->depth--;
}

static void add_conditions(struct ct_report_records *records, const struct ct_record_field *field)
{
	add_number(records, field->condition_count);
	for (uint32_t i = 0; i < field->condition_count; i++) {
		const char *name = field->conditions[i];
		bool is_new;
		uint32_t index =
			ct_distinct_find(&records->conditions, name, strlen(name), &is_new);

		if (is_new)
			records->failed |= json_array_append_new(records->condition_list,
								 ct_json_string(name)) != 0;
		add_number(records, index == CT_DISTINCT_NONE ? 0 : index);
	}
}

static void record_value(const struct ct_record_field *field, void *user)
{
	struct ct_report_records *records = user;

	if (!add_field(records, field, kind_names[field->kind],
		       field->text_size + 5 * (size_t)field->condition_count))
		return;
	add_number(records, field->text_size);
	ct_buf_add(&records->record, field->text, field->text_size);
	if (field->condition_count > 0)
		add_conditions(records, field);
}

const struct ct_buf *ct_report_record(struct ct_report_records *records,
				      const struct ct_copybook *copybook,
				      const struct ctrace_event_item *item, bool is_big)
{
	const struct ct_field_visitor visitor = { .begin_group = record_begin_group,
						  .end_group = record_end_group,
						  .begin_table = record_begin_table,
						  .end_table = record_end_group,
						  .value = record_value,
						  .user = records };

	ct_buf_clear(&records->record);
	records->depth = 0;
	records->is_cut = false;
	/* what does not fit is marked */
	(void)ct_copybook_decode(copybook,
				 (struct ct_record_bytes){ item->data, item->size, is_big },
				 &visitor, NULL);
	return &records->record;
}

bool ct_report_records_put(const struct ct_report_records *records, json_t *object)
{
	return !records->failed && json_object_set(object, "fields", records->field_list) == 0 &&
	       json_object_set(object, "conditions", records->condition_list) == 0;
}
