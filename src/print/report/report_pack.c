/*
 * report_pack.c - the events of a report: six columns, packed while they come, and a description of
 * everything else.
 *
 * Called by `ctrace report` for each event, in the order of their times.  Numbers are as
 * ct_column_add_number() writes them; those marked (+-) as ct_column_add_difference() does.  In the
 * columns, for each event:
 *
 *     time     (+-) nanoseconds since the event before it; the first event: since "first_ns"
 *     class    number in "classes" (report_names.c)
 *     thread   number in "threads"
 *     items    bytes of what follows; how many items; for each item
 *              a byte: type (3 bits), 8 when it is cut, its size (4 bits; 15: a number follows)
 *              when it is cut, its original size; its bytes
 *
 * and only for events that begin or end a span, or have a record:
 *
 *     spans    events since the last entry * 4 + (0: it begins one; 1: it ends one; 2: one ended
 *              before it, as is inferred; 3: it reports a whole one); (+-) its span id minus the
 *              last; how many spans are around it; unless it begins: its duration + 1, 0 when it is
 *              not known
 *     records  events since the last entry; index of the item; size; a record (report_record.c)
 *
 * The page is bounded (report.h).  What it lacks is counted, and both the page and the tool report
 * it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/report/report_parts.h"

#include "print/json_text.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define IS_CUT 8u
#define SIZE_SHIFT 4
#define SIZE_FOLLOWS 15u

static bool columns_open(struct ct_report *report)
{
	for (int i = 0; i < CT_COLUMN_COUNT; i++)
		if (ct_column_init(&report->columns[i]) != CTRACE_OK)
			return false;
	return true;
}

enum ctrace_status ct_report_create(const struct ct_report_options *options,
				    struct ct_report **out_report)
{
	struct ct_report *report = calloc(1, sizeof *report);

	if (report == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	report->limit = options->limit > 0 ? options->limit : CT_REPORT_LIMIT;
	report->paths = json_array();
	report->notes = json_array();
	report->title = options->title != NULL ? strdup(options->title) : NULL;
	if (!columns_open(report) || ct_report_names_init(&report->names) != CTRACE_OK ||
	    ct_report_records_init(&report->records) != CTRACE_OK || report->paths == NULL ||
	    report->notes == NULL || (options->title != NULL && report->title == NULL)) {
		ct_report_destroy(report);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	*out_report = report;
	return CTRACE_OK;
}

void ct_report_destroy(struct ct_report *report)
{
	if (report == NULL)
		return;
	for (int i = 0; i < CT_COLUMN_COUNT; i++)
		ct_column_fini(&report->columns[i]);
	ct_report_names_fini(&report->names);
	ct_report_records_fini(&report->records);
	ct_buf_fini(&report->items);
	json_decref(report->paths);
	json_decref(report->notes);
	free(report->title);
	free(report);
}

void ct_report_count(const struct ct_report *report, struct ct_report_counts *out_counts)
{
	*out_counts = report->counts;
}

/* ---- items */

static void put_number(struct ct_buf *out, uint64_t value)
{
	unsigned char bytes[10];

	ct_buf_add(out, bytes, ct_number_put(bytes, value));
}

static void put_item(struct ct_buf *out, const struct ctrace_event_item *item)
{
	bool is_cut = item->size > CT_REPORT_ITEM_SIZE;
	uint32_t size = is_cut ? CT_REPORT_ITEM_SIZE : item->size;
	uint32_t code = size < SIZE_FOLLOWS ? size : SIZE_FOLLOWS;

	ct_buf_add_char(out, (char)(item->type | (is_cut ? IS_CUT : 0) | code << SIZE_SHIFT));
	if (code == SIZE_FOLLOWS)
		put_number(out, size);
	if (is_cut)
		put_number(out, item->size);
	ct_buf_add(out, item->data, size);
}

static void add_items(struct ct_report *report, const struct ctrace_event *traced)
{
	struct ct_column *column = &report->columns[CT_COLUMN_ITEMS];
	struct ct_buf *out = &report->items;

	if (traced->item_count > 0 && column->size >= CT_REPORT_ITEMS_SIZE) {
		report->counts.without_items++;
		ct_column_add_number(column, 0);
		return;
	}
	ct_buf_clear(out);
	put_number(out, traced->item_count);
	for (uint32_t i = 0; i < traced->item_count; i++)
		put_item(out, &traced->items[i]);
	report->failed |= out->failed;
	ct_column_add_number(column, out->size);
	ct_column_add(column, out->data, out->size);
}

/* ---- spans, records */

enum { SPAN_BEGIN, SPAN_END, SPAN_INFERRED, SPAN_WHOLE };

static void add_span(struct ct_report *report, const struct ct_read_event *event)
{
	struct ct_column *column = &report->columns[CT_COLUMN_SPANS];
	bool is_end = event->duration_ns != CT_NO_DURATION ||
		      (event->type != NULL && event->type->pairing == CT_PAIR_EXIT);
	unsigned kind = event->is_inferred ? SPAN_INFERRED
			: event->is_whole  ? SPAN_WHOLE
			: is_end           ? SPAN_END
					   : SPAN_BEGIN;

	if (event->span_id == 0)
		return;
	ct_column_add_number(column, (report->counts.events - report->span_row) << 2 | kind);
	ct_column_add_difference(column, (int64_t)(event->span_id - report->span_id));
	ct_column_add_number(column, event->depth);
	if (is_end)
		ct_column_add_number(column, event->duration_ns + 1);
	report->span_row = report->counts.events;
	report->span_id = event->span_id;
}

static bool item_is_record(const struct ct_read_event *event, uint32_t index)
{
	return ct_value_is_record(&event->traced.items[index],
				  ct_read_event_argument(event, index));
}

static void add_record(struct ct_report *report, const struct ct_read_event *event, uint32_t index)
{
	struct ct_column *column = &report->columns[CT_COLUMN_RECORDS];
	const struct ct_buf *record;

	if (column->size >= CT_REPORT_RECORDS_SIZE) {
		report->counts.without_records++;
		return;
	}
	record = ct_report_record(&report->records, ct_read_event_argument(event, index)->copybook,
				  &event->traced.items[index], event->source_process->is_big);
	report->failed |= record->failed;
	ct_column_add_number(column, report->counts.events - report->record_row);
	ct_column_add_number(column, index);
	ct_column_add_number(column, record->size);
	ct_column_add(column, record->data, record->size);
	report->record_row = report->counts.events;
}

static void add_records(struct ct_report *report, const struct ct_read_event *event)
{
	for (uint32_t i = 0;
	     event->type != NULL && i < event->type->argument_count && i < event->traced.item_count;
	     i++)
		if (item_is_record(event, i))
			add_record(report, event, i);
}

/* ---- events */

static void add_time(struct ct_report *report, uint64_t time_ns)
{
	if (report->counts.events == 0)
		report->first_ns = report->last_ns = time_ns;
	ct_column_add_difference(&report->columns[CT_COLUMN_TIME],
				 (int64_t)(time_ns - report->last_ns));
	report->last_ns = time_ns;
}

void ct_report_pass(struct ct_report *report)
{
	report->counts.is_full = true;
}

bool ct_report_add(struct ct_report *report, const struct ct_read_event *event)
{
	uint32_t class, thread;

	if (event->is_inferred) {
		add_span(report, event);
		return true;
	}
	if (report->counts.events == report->limit) {
		report->counts.is_full = true;
		return false;
	}
	class = ct_report_class(&report->names, event);
	thread = class != CT_DISTINCT_NONE ? ct_report_thread(&report->names, event)
					   : CT_DISTINCT_NONE;
	if (thread == CT_DISTINCT_NONE) {
		report->counts.left_out++;
		return true;
	}
	add_time(report, event->traced.time_ns);
	ct_column_add_number(&report->columns[CT_COLUMN_CLASS], class);
	ct_column_add_number(&report->columns[CT_COLUMN_THREAD], thread);
	add_items(report, &event->traced);
	add_span(report, event);
	add_records(report, event);
	report->counts.events++;
	return true;
}

/* ---- what is no column */

void ct_report_add_path(struct ct_report *report, const char *path)
{
	report->failed |= json_array_append_new(report->paths, ct_json_string(path)) != 0;
}

/* Times have more digits than JavaScript's numbers can hold. */
static json_t *pack_time(uint64_t time_ns)
{
	char text[24];

	if (time_ns == 0)
		return json_null();
	(void)snprintf(text, sizeof text, "%" PRIu64, time_ns);
	return json_string(text);
}

void ct_report_note(struct ct_report *report, const struct ct_read_note *note)
{
	static const char *const kinds[] = {
		[CT_NOTE_DAMAGE] = "damage",   [CT_NOTE_UNREAD] = "unknown",
		[CT_NOTE_LOST] = "lost",       [CT_NOTE_MISSING] = "missing",
		[CT_NOTE_UNKNOWN] = "unknown", [CT_NOTE_CLOCK] = "clock"
	};
	uint32_t source_process = CT_DISTINCT_NONE;
	json_t *json;

	if (json_array_size(report->notes) == CT_REPORT_NOTES) {
		report->notes_left_out++;
		return;
	}
	if (note->source_process != NULL)
		source_process = ct_report_source_process(&report->names, note->source_process);
	json = json_pack("{s:s,s:o,s:o,s:I,s:I,s:I,s:o,s:o,s:I}", "kind", kinds[note->kind],
			 "message", ct_json_string(note->message), "path",
			 ct_json_string(note->path), "offset", (json_int_t)note->offset, "bytes",
			 (json_int_t)note->bytes, "events", (json_int_t)note->events, "from_ns",
			 pack_time(note->from_ns), "to_ns", pack_time(note->to_ns), "origin",
			 source_process == CT_DISTINCT_NONE ? (json_int_t)-1
							    : (json_int_t)source_process);
	report->failed |= json_array_append_new(report->notes, json) != 0;
}

static json_t *events_describe(const struct ct_report *report)
{
	const struct ct_report_counts *counts = &report->counts;

	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:b}", "events", (json_int_t)counts->events, "limit",
			 (json_int_t)report->limit, "left_out", (json_int_t)counts->left_out,
			 "without_items", (json_int_t)counts->without_items, "without_records",
			 (json_int_t)counts->without_records, "is_full", counts->is_full);
}

static json_t *totals_describe(const struct ct_read_totals *totals)
{
	return json_pack("{s:I,s:I,s:I,s:I}", "events", (json_int_t)totals->events, "discarded",
			 (json_int_t)totals->discarded, "damages", (json_int_t)totals->damages,
			 "damaged_bytes", (json_int_t)totals->damaged_bytes);
}

json_t *ct_report_describe(const struct ct_report *report, const struct ct_read_totals *totals)
{
	json_t *json =
		json_pack("{s:i,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:O,s:O,s:I}", "format", 1, "version",
			  CT_VERSION, "title", ct_json_string(report->title), "made_ns",
			  pack_time(ct_clock_wall_ns()), "first_ns", pack_time(report->first_ns),
			  "last_ns", pack_time(report->last_ns), "counts", events_describe(report),
			  "totals", totals_describe(totals), "paths", report->paths, "notes",
			  report->notes, "notes_left_out", (json_int_t)report->notes_left_out);

	if (json != NULL && !report->failed && ct_report_names_put(&report->names, json) &&
	    ct_report_records_put(&report->records, json))
		return json;
	json_decref(json);
	return NULL;
}
