/*
 * print/report/report_parts.h - what the files of the report share: columns, tables of distinct
 * things, and the report itself.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_PRINT_REPORT_REPORT_PARTS_H
#define CT_PRINT_REPORT_REPORT_PARTS_H

#include "print/distinct.h"
#include "print/report/report.h"

#include <jansson.h>
#include <zlib.h>

/* ---- report_column.c: a sequence of bytes that is packed while it grows (zlib, RFC 1950). */
#define CT_COLUMN_PENDING 65536u
struct ct_column {
	z_stream stream;
	struct ct_buf packed;
	unsigned char *pending; /* not yet packed */
	size_t fill;
	uint64_t size; /* of what was added */
	bool is_open;
	bool failed; /* memory was short: the column is of no use */
};
enum ctrace_status ct_column_init(struct ct_column *column) CT_MUST_USE;
void ct_column_fini(struct ct_column *column);
void ct_column_add(struct ct_column *column, const void *bytes, size_t size);
/* seven bits a byte, the lowest first; the top bit marks that more follow */
void ct_column_add_number(struct ct_column *column, uint64_t value);
/* writes 0, -1, 1, -2 ... as the numbers 0, 1, 2, 3 ... */
void ct_column_add_difference(struct ct_column *column, int64_t value);
enum ctrace_status ct_column_finish(struct ct_column *column) CT_MUST_USE; /* packed is complete */
size_t ct_number_put(unsigned char out[10], uint64_t value);

/* ---- report_names.c: who and what the events are: each thing once, as JSON. */
struct ct_report_names {
	struct ct_distinct classes, components, types, named, threads, source_processes;
	json_t *class_list, *component_list, *type_list, *named_list, *thread_list,
		*source_process_list;
	bool failed;
};
enum ctrace_status ct_report_names_init(struct ct_report_names *names) CT_MUST_USE;
void ct_report_names_fini(struct ct_report_names *names);
/* Each returns the number of the class, thread or process; CT_DISTINCT_NONE when there is no
 * room. */
uint32_t ct_report_class(struct ct_report_names *names, const struct ct_read_event *event);
uint32_t ct_report_thread(struct ct_report_names *names, const struct ct_read_event *event);
uint32_t ct_report_source_process(struct ct_report_names *names,
				  const struct ct_source_process *source_process);
/* Sets members of the object: "classes", "components", ... */
bool ct_report_names_put(const struct ct_report_names *names, json_t *object);

/* ---- report_record.c: records that copybooks describe: the layout of each field once, its text
 * for each event. */
/* bytes of one record in the page; a longer record is cut and marked */
#define CT_REPORT_RECORD_SIZE 16384u
struct ct_report_records {
	struct ct_distinct fields, conditions;
	json_t *field_list, *condition_list;
	struct ct_buf record; /* the record being made */
	unsigned depth;
	bool is_cut;
	bool failed;
};
enum ctrace_status ct_report_records_init(struct ct_report_records *records) CT_MUST_USE;
void ct_report_records_fini(struct ct_report_records *records);
/* Returns the record as bytes (see report_record.c), borrowed until the next call. */
const struct ct_buf *ct_report_record(struct ct_report_records *records,
				      const struct ct_copybook *copybook,
				      const struct ctrace_event_item *item, bool is_big);
bool ct_report_records_put(const struct ct_report_records *records, json_t *object);

/* ---- the report: report_pack.c fills it, report_page.c writes it */
enum ct_report_column {
	CT_COLUMN_TIME,
	CT_COLUMN_CLASS,
	CT_COLUMN_THREAD,
	CT_COLUMN_ITEMS,
	CT_COLUMN_SPANS,
	CT_COLUMN_RECORDS,
	CT_COLUMN_COUNT
};
struct ct_report {
	struct ct_column columns[CT_COLUMN_COUNT];
	struct ct_report_names names;
	struct ct_report_records records;
	struct ct_report_counts counts;
	struct ct_buf items; /* of the event being added */
	json_t *paths, *notes;
	char *title; /* or NULL */
	uint64_t limit;
	uint64_t first_ns, last_ns;    /* of the events */
	uint64_t span_row, record_row; /* the event that the last entry of the column belongs to */
	uint64_t span_id;
	uint64_t notes_left_out;
	bool failed;
};
/* Returns everything outside of the columns as one JSON document; NULL when memory was short. */
json_t *ct_report_describe(const struct ct_report *report, const struct ct_read_totals *totals);

#endif
