/*
 * stats_trace.c - ctrace stats PATH: reads traces once, and prints what they hold in numbers.
 *
 * Memory is that of the tally, bounded whatever the trace's size.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/stats_trace.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "cli/progress_line.h"
#include "print/json_text.h"

#define WIDEST_NAME 48 /* a longer one moves the rest of its line */
#define MEDIAN 500u
#define P95 950u
#define P99 990u

static const char *const kind_words[CT_TALLY_KINDS] = { "component", "event", "thread" };
static const char *const sort_words[] = { "events", "bytes", "name", "total",
					  "median", "p95",   "p99",  "max" };

bool ct_stats_kind_parse(const char *word, enum ct_tally_kind *out_kind)
{
	for (size_t i = 0; i < CT_COUNT(kind_words); i++) {
		if (strcasecmp(word, kind_words[i]) != 0)
			continue;
		*out_kind = (enum ct_tally_kind)i;
		return true;
	}
	return false;
}

bool ct_stats_sort_parse(const char *word, enum stats_sort *out_sort)
{
	for (size_t i = 0; i < CT_COUNT(sort_words); i++) {
		if (strcasecmp(word, sort_words[i]) != 0)
			continue;
		*out_sort = (enum stats_sort)i;
		return true;
	}
	return false;
}

/* -----------------------------------------------------------------------------------------------
 * Order
 */

/* What the row is sorted by, the greatest first. */
static uint64_t row_weight(const struct ct_tally_row *row, enum stats_sort sort)
{
	const struct ct_histogram *spans = row->spans;

	switch (sort) {
	case STATS_BY_BYTES:
		return row->bytes;
	case STATS_BY_TOTAL:
		return spans != NULL ? spans->total : 0;
	case STATS_BY_MEDIAN:
		return spans != NULL ? ct_histogram_at(spans, MEDIAN) : 0;
	case STATS_BY_P95:
		return spans != NULL ? ct_histogram_at(spans, P95) : 0;
	case STATS_BY_P99:
		return spans != NULL ? ct_histogram_at(spans, P99) : 0;
	case STATS_BY_MAX:
		return spans != NULL ? spans->most : 0;
	case STATS_BY_NAME:
		return 0;
	default:
		return row->events;
	}
}

struct ranked {
	const struct ct_tally_row *row;
	uint64_t weight;
};

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a != NULL ? a : "", b != NULL ? b : "");
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int row_compare_name(const struct ct_tally_row *a, const struct ct_tally_row *b)
{
	int order = compare_texts(a->component, b->component);

	if (order == 0)
		order = compare_texts(a->program, b->program);
	if (order == 0)
		order = compare_numbers(a->pid, b->pid);
	if (order == 0)
		order = compare_numbers(a->event_id, b->event_id);
	return order != 0 ? order : compare_numbers(a->tid, b->tid);
}

static bool row_is_beyond(const struct ct_tally_row *row)
{
	return row->component == NULL && row->host == NULL;
}

/* The row of what had no room comes last. */
static int row_compare_rank(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	if (row_is_beyond(a->row) != row_is_beyond(b->row))
		return row_is_beyond(a->row) ? 1 : -1;
	return a->weight != b->weight ? compare_numbers(b->weight, a->weight)
				      : row_compare_name(a->row, b->row);
}

/* NULL without memory. */
static struct ranked *rows_rank(const struct ct_tally_table *table, enum stats_sort sort)
{
	struct ranked *ranked = calloc(table->count + 1, sizeof *ranked);

	for (size_t i = 0; ranked != NULL && i < table->count; i++)
		ranked[i] = (struct ranked){ .row = &table->rows[i],
					     .weight = row_weight(&table->rows[i], sort) };
	if (ranked != NULL && table->count > 1)
		qsort(ranked, table->count, sizeof *ranked, row_compare_rank);
	return ranked;
}

/* -----------------------------------------------------------------------------------------------
 * For people
 */

static void add_duration(struct ct_buf *out, uint64_t ns)
{
	struct ct_buf text;

	ct_buf_init(&text);
	ct_tally_add_duration(&text, ns);
	ct_buf_add_format(out, "  %8s", ct_buf_text(&text));
	ct_buf_fini(&text);
}

static void add_spans(struct ct_buf *out, const struct ct_histogram *spans)
{
	ct_buf_add_format(out, "  %9" PRIu64, spans->count);
	add_duration(out, spans->total);
	add_duration(out, ct_histogram_at(spans, MEDIAN));
	add_duration(out, ct_histogram_at(spans, P95));
	add_duration(out, ct_histogram_at(spans, P99));
	add_duration(out, spans->most);
	if (spans->unplaced > 0)
		ct_buf_add_format(out, "  (percentiles without %" PRIu64 ")", spans->unplaced);
}

/* What the row is about, as it is printed. */
static void add_subject(struct ct_buf *out, const struct ct_tally_row *row, enum ct_tally_kind kind)
{
	if (row_is_beyond(row)) {
		ct_buf_add_text(out, "(others)");
		return;
	}
	if (kind == CT_TALLY_THREAD) {
		ct_escape_add(out, row->program, strlen(row->program));
		ct_buf_add_format(out, "%s%u %u", row->program[0] != '\0' ? " " : "", row->pid,
				  row->tid);
		return;
	}
	ct_escape_add(out, row->component, strlen(row->component));
	if (kind != CT_TALLY_EVENT)
		return;
	ct_buf_add_format(out, " %u", row->event_id);
	if (row->mnemonic != NULL) {
		ct_buf_add_char(out, ' ');
		ct_escape_add(out, row->mnemonic, strlen(row->mnemonic));
	}
}

static int table_columns(const struct ct_tally_row *row, enum ct_tally_kind kind)
{
	struct ct_buf text;
	int columns;

	ct_buf_init(&text);
	add_subject(&text, row, kind);
	columns = ct_tool_print(NULL, ct_buf_text(&text), text.size);
	ct_buf_fini(&text);
	return columns;
}

static void add_row(struct ct_buf *out, const struct ct_tally *tally,
		    const struct ct_tally_row *row, enum ct_tally_kind kind, int width)
{
	int columns = table_columns(row, kind);

	add_subject(out, row, kind);
	ct_buf_add_format(out, "%*s  %10" PRIu64, width > columns ? width - columns : 0, "",
			  row->events);
	/* Events that all have one time have no rate. */
	if (ct_tally_duration_ns(tally) != 0)
		ct_buf_add_format(out, "  %11.1f",
				  ct_tally_rate(row->events, ct_tally_duration_ns(tally)));
	else
		ct_buf_add_format(out, "  %11s", "-");
	ct_buf_add_format(out, "  %12" PRIu64, row->bytes);
	if (row->spans != NULL)
		add_spans(out, row->spans);
	ct_buf_add_char(out, '\n');
}

static bool print_table(const struct stats_trace *stats, const struct ct_tally *tally,
			enum ct_tally_kind kind)
{
	static const char *const titles[CT_TALLY_KINDS] = { "COMPONENT", "EVENT", "THREAD" };
	const struct ct_tally_table *table = &tally->tables[kind];
	struct ranked *ranked = rows_rank(table, stats->sort);
	size_t count = stats->limit != 0 && stats->limit < table->count ? (size_t)stats->limit
									: table->count;
	int width = (int)strlen(titles[kind]);
	bool has_spans = false;
	struct ct_buf out;
	bool ok;

	if (ranked == NULL)
		return false;
	ct_buf_init(&out);
	for (size_t i = 0; i < count; i++) {
		int columns = table_columns(ranked[i].row, kind);

		if (columns > width)
			width = columns < WIDEST_NAME ? columns : WIDEST_NAME;
		has_spans |= ranked[i].row->spans != NULL;
	}
	ct_buf_add_format(
		&out, "\n%-*s  %10s  %11s  %12s%s\n", width, titles[kind], "EVENTS", "EVENTS/S",
		"BYTES",
		has_spans ? "      SPANS     TOTAL    MEDIAN       P95       P99       MAX" : "");
	for (size_t i = 0; i < count; i++)
		add_row(&out, tally, ranked[i].row, kind, width);
	if (count < table->count)
		ct_buf_add_format(&out, "(%zu more)\n", table->count - count);
	ok = !out.failed;
	fwrite(out.data, 1, out.size, stdout);
	ct_buf_fini(&out);
	free(ranked);
	return ok;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static bool table_print_head(const struct ct_tally *tally, const struct ct_read_totals *totals)
{
	struct ct_buf out;
	bool ok;

	ct_buf_init(&out);
	ct_buf_add_format(&out, "%" PRIu64 " event%s, %" PRIu64 " bytes, in ", tally->events,
			  plural(tally->events), tally->bytes);
	ct_tally_add_duration(&out, tally->last_ns - tally->first_ns);
	if (totals->discarded > 0)
		ct_buf_add_format(&out, ", %" PRIu64 " lost", totals->discarded);
	ct_buf_add_text(&out, ": from ");
	ct_line_add_date(&out, tally->first_ns);
	ct_buf_add_char(&out, ' ');
	ct_line_add_time(&out, tally->first_ns);
	ct_buf_add_text(&out, " to ");
	ct_line_add_date(&out, tally->last_ns);
	ct_buf_add_char(&out, ' ');
	ct_line_add_time(&out, tally->last_ns);
	ok = !out.failed;
	printf("%s\n", ct_buf_text(&out));
	ct_buf_fini(&out);
	return ok;
}

static bool stats_print_text(const struct stats_trace *stats, const struct ct_tally *tally,
			     const struct ct_read_totals *totals)
{
	bool ok = table_print_head(tally, totals);

	for (unsigned kind = 0; kind < CT_TALLY_KINDS && ok; kind++)
		if (!stats->has_kind || stats->kind == kind)
			ok = print_table(stats, tally, (enum ct_tally_kind)kind);
	return ok;
}

/* -----------------------------------------------------------------------------------------------
 * For programs
 */

static void add_number(json_t *object, const char *name, uint64_t number)
{
	(void)json_object_set_new(object, name, ct_json_number(number));
}

static void add_json_spans(json_t *object, const struct ct_histogram *spans)
{
	json_t *member = spans != NULL ? json_object() : json_null();

	if (spans != NULL) {
		add_number(member, "count", spans->count);
		add_number(member, "total_ns", spans->total);
		add_number(member, "min_ns", spans->least);
		add_number(member, "median_ns", ct_histogram_at(spans, MEDIAN));
		add_number(member, "p95_ns", ct_histogram_at(spans, P95));
		add_number(member, "p99_ns", ct_histogram_at(spans, P99));
		add_number(member, "max_ns", spans->most);
		add_number(member, "unplaced", spans->unplaced);
	}
	(void)json_object_set_new(object, "spans", member);
}

static json_t *json_levels(const struct ct_tally_row *row)
{
	json_t *object = json_object();

	for (uint32_t level = 0; level < CTRACE_LEVEL_COUNT; level++)
		add_number(object, ct_level_name(level), row->levels[level]);
	return object;
}

static json_t *json_row(const struct ct_tally *tally, const struct ct_tally_row *row,
			enum ct_tally_kind kind)
{
	json_t *object = json_object();

	if (kind == CT_TALLY_THREAD) {
		(void)json_object_set_new(object, "host", ct_json_string(row->host));
		(void)json_object_set_new(object, "program", ct_json_string(row->program));
		add_number(object, "pid", row->pid);
		add_number(object, "tid", row->tid);
	} else {
		(void)json_object_set_new(object, "component", ct_json_string(row->component));
	}
	if (kind == CT_TALLY_EVENT) {
		add_number(object, "event", row->event_id);
		(void)json_object_set_new(object, "mnemonic", ct_json_string(row->mnemonic));
	}
	add_number(object, "count", row->events);
	(void)json_object_set_new(
		object, "per_second",
		json_real(ct_tally_rate(row->events, ct_tally_duration_ns(tally))));
	add_number(object, "bytes", row->bytes);
	(void)json_object_set_new(object, "levels", json_levels(row));
	add_json_spans(object, row->spans);
	return object;
}

static bool add_json_table(const struct stats_trace *stats, json_t *document,
			   const struct ct_tally *tally, enum ct_tally_kind kind)
{
	static const char *const names[CT_TALLY_KINDS] = { "components", "events", "threads" };
	const struct ct_tally_table *table = &tally->tables[kind];
	struct ranked *ranked = rows_rank(table, stats->sort);
	json_t *rows = json_array();

	for (size_t i = 0;
	     ranked != NULL && i < table->count && (stats->limit == 0 || i < stats->limit); i++)
		(void)json_array_append_new(rows, json_row(tally, ranked[i].row, kind));
	(void)json_object_set_new(document, names[kind], rows);
	free(ranked);
	return ranked != NULL;
}

static bool stats_print_json(const struct stats_trace *stats, const struct ct_tally *tally,
			     const struct ct_read_totals *totals)
{
	json_t *document = ct_json_document();
	bool ok = true;

	add_number(document, "first_ns", tally->first_ns);
	add_number(document, "last_ns", tally->last_ns);
	add_number(document, "count", tally->events);
	add_number(document, "bytes", tally->bytes);
	add_number(document, "lost", totals->discarded);
	add_number(document, "damages", totals->damages);
	for (unsigned kind = 0; kind < CT_TALLY_KINDS && ok; kind++)
		if (!stats->has_kind || stats->kind == kind)
			ok = add_json_table(stats, document, tally, (enum ct_tally_kind)kind);
	return ct_json_print(document, stdout) && ok;
}

/* -----------------------------------------------------------------------------------------------
 * The way
 */

int ct_stats_trace(struct stats_trace *stats)
{
	struct ct_tally tally;
	const struct ct_read_event *event;
	bool ok = true;
	uint64_t events;
	int exit_status;

	stats->reading.shows_progress = true;
	stats->reading.has_pairs = true;
	if (!reading_open(&stats->reading))
		return reading_end(&stats->reading, 0);
	ct_tally_init(&tally);
	while ((event = ct_reader_next(stats->reading.reader)) != NULL)
		ct_tally_add(&tally, event);
	events = tally.events;
	progress_clear();
	if (stats->is_json)
		ok = stats_print_json(stats, &tally, ct_reader_totals(stats->reading.reader));
	else if (events > 0)
		ok = stats_print_text(stats, &tally, ct_reader_totals(stats->reading.reader));
	if (!ok || tally.failed)
		fputs("ctrace stats: not enough memory\n", stderr);
	ok = ok && !tally.failed;
	ct_tally_fini(&tally);
	exit_status = reading_end(&stats->reading, events);
	return exit_status == CMD_DONE && !ok ? CMD_NOTHING : exit_status;
}
