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
#include "tools/streams/stream_copy.h"

#define WIDEST_NAME 48 /* a longer one moves the rest of its line */
#define MEDIAN 500u
#define P95 950u
#define P99 990u

static const char *const kind_words[CT_TALLY_NAME] = { "component", "event", "thread" };
static const char *const sort_words[] = { "events", "bytes", "name", "total", "median",
					  "p95",    "p99",   "max",  "self" };

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
	case STATS_BY_SELF:
		return row->self_ns;
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
		order = compare_texts(a->name, b->name);
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

/* Are the threads of several hosts?  Two of them may have one pid. */
static bool table_has_hosts(const struct ct_tally_table *table)
{
	for (size_t i = 1; i < table->count; i++)
		if (!row_is_beyond(&table->rows[i]) &&
		    strcmp(table->rows[i].host, table->rows[0].host) != 0)
			return true;
	return false;
}

/* What the row is about, as it is printed.  has_hosts: of threads. */
static void add_subject(struct ct_buf *out, const struct ct_tally_row *row, enum ct_tally_kind kind,
			bool has_hosts)
{
	if (row_is_beyond(row)) {
		ct_buf_add_text(out, "(others)");
		return;
	}
	if (kind == CT_TALLY_THREAD) {
		if (has_hosts) {
			const char *host = row->host[0] != '\0' ? row->host : "-";

			ct_escape_add(out, host, strlen(host));
			ct_buf_add_char(out, ' ');
		}
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

static int table_columns(const struct ct_tally_row *row, enum ct_tally_kind kind, bool has_hosts)
{
	struct ct_buf text;
	int columns;

	ct_buf_init(&text);
	add_subject(&text, row, kind, has_hosts);
	columns = ct_tool_print(NULL, ct_buf_text(&text), text.size);
	ct_buf_fini(&text);
	return columns;
}

static void add_row(struct ct_buf *out, const struct ct_tally *tally,
		    const struct ct_tally_row *row, enum ct_tally_kind kind, bool has_hosts,
		    int width)
{
	int columns = table_columns(row, kind, has_hosts);

	add_subject(out, row, kind, has_hosts);
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
	static const char *const titles[CT_TALLY_NAME] = { "COMPONENT", "EVENT", "THREAD" };
	const struct ct_tally_table *table = &tally->tables[kind];
	struct ranked *ranked = rows_rank(table, stats->sort);
	size_t count = stats->limit != 0 && stats->limit < table->count ? (size_t)stats->limit
									: table->count;
	int width = (int)strlen(titles[kind]);
	bool has_hosts = kind == CT_TALLY_THREAD && table_has_hosts(table);
	bool has_spans = false;
	struct ct_buf out;
	bool ok;

	if (ranked == NULL)
		return false;
	ct_buf_init(&out);
	for (size_t i = 0; i < count; i++) {
		int columns = table_columns(ranked[i].row, kind, has_hosts);

		if (columns > width)
			width = columns < WIDEST_NAME ? columns : WIDEST_NAME;
		has_spans |= ranked[i].row->spans != NULL;
	}
	ct_buf_add_format(
		&out, "\n%-*s  %10s  %11s  %12s%s\n", width, titles[kind], "EVENTS", "EVENTS/S",
		"BYTES",
		has_spans ? "      SPANS     TOTAL    MEDIAN       P95       P99       MAX" : "");
	for (size_t i = 0; i < count; i++)
		add_row(&out, tally, ranked[i].row, kind, has_hosts, width);
	if (count < table->count)
		ct_buf_add_format(&out, "(%zu more)\n", table->count - count);
	ok = !out.failed;
	fwrite(out.data, 1, out.size, stdout);
	ct_buf_fini(&out);
	free(ranked);
	return ok;
}

/* -----------------------------------------------------------------------------------------------
 * Names, for people
 */

struct names_table {
	const struct stats_trace *stats;
	const struct ranked *ranked;
	size_t count;
	bool has_operations; /* the rows that are operations, or else those that are spans */
	int width;           /* of the names */
	int operation_width;
};

static bool names_row_is_in(const struct names_table *table, const struct ct_tally_row *row)
{
	return !row_is_beyond(row) && row->is_operation == table->has_operations;
}

static int text_columns(const char *text)
{
	return ct_tool_print(NULL, text, strlen(text));
}

static int least_width(int width, int columns)
{
	return columns > width ? (columns < WIDEST_NAME ? columns : WIDEST_NAME) : width;
}

/* Pads a text whose characters may take other columns than bytes. */
static void add_padded(struct ct_buf *out, const char *text, int width)
{
	struct ct_buf escaped;
	int columns;

	ct_buf_init(&escaped);
	ct_escape_add(&escaped, text, strlen(text));
	columns = text_columns(ct_buf_text(&escaped));
	ct_buf_add_format(out, "%s%*s", ct_buf_text(&escaped),
			  width > columns ? width - columns : 0, "");
	ct_buf_fini(&escaped);
}

static void add_names_title(struct ct_buf *out, const struct names_table *table)
{
	char title[64];
	size_t size = 0;

	for (const char *at = table->stats->by; *at != '\0' && size < sizeof title - 1; at++)
		title[size++] = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
	title[size] = '\0';
	ct_buf_add_char(out, '\n');
	add_padded(out, title, table->width);
	if (table->has_operations)
		ct_buf_add_format(out, "  %-*s", table->operation_width, "OPERATION");
	ct_buf_add_format(out, "  %10s%s%s\n", "COUNT",
			  table->has_operations ? "         BYTES     TOTAL"
						: "     TOTAL      SELF",
			  table->has_operations ? "    MEDIAN       P95   SLOWEST  STATUSES"
						: "    MEDIAN       P95   SLOWEST");
}

static void add_statuses(struct ct_buf *out, const struct ct_tally_row *row)
{
	ct_buf_add_text(out, row->status_count > 0 ? "  " : "");
	for (unsigned i = 0; i < row->status_count; i++) {
		ct_buf_add_text(out, i > 0 ? " " : "");
		ct_escape_add(out, row->statuses[i].text, strlen(row->statuses[i].text));
		ct_buf_add_format(out, ":%" PRIu64, row->statuses[i].count);
	}
	if (row->statuses_beyond > 0)
		ct_buf_add_format(out, " others:%" PRIu64, row->statuses_beyond);
}

static void add_names_row(struct ct_buf *out, const struct names_table *table,
			  const struct ct_tally_row *row)
{
	const struct ct_histogram *spans = row->spans;

	add_padded(out, row->name, table->width);
	if (table->has_operations) {
		ct_buf_add_text(out, "  ");
		add_padded(out, row->mnemonic != NULL ? row->mnemonic : "", table->operation_width);
	}
	ct_buf_add_format(out, "  %10" PRIu64, row->events);
	if (table->has_operations)
		ct_buf_add_format(out, "  %12" PRIu64, row->moved);
	if (spans != NULL) {
		add_duration(out, spans->total);
		if (!table->has_operations)
			add_duration(out, row->self_ns);
		add_duration(out, ct_histogram_at(spans, MEDIAN));
		add_duration(out, ct_histogram_at(spans, P95));
		add_duration(out, spans->most);
	} else if (row->status_count > 0) {
		ct_buf_add_format(out, "%40s", "");
	}
	add_statuses(out, row);
	ct_buf_add_char(out, '\n');
}

static bool print_names_of(struct names_table *table)
{
	uint64_t shown = 0, limit = table->stats->limit, more = 0;
	bool is_inferred = false, ok;
	struct ct_buf out;

	table->width = text_columns(table->stats->by);
	table->operation_width = (int)strlen("OPERATION");
	for (size_t i = 0; i < table->count; i++) {
		const struct ct_tally_row *row = table->ranked[i].row;

		if (!names_row_is_in(table, row))
			continue;
		table->width = least_width(table->width, text_columns(row->name));
		if (row->mnemonic != NULL)
			table->operation_width =
				least_width(table->operation_width, text_columns(row->mnemonic));
		shown++;
	}
	if (shown == 0)
		return true;
	ct_buf_init(&out);
	add_names_title(&out, table);
	shown = 0;
	for (size_t i = 0; i < table->count; i++) {
		const struct ct_tally_row *row = table->ranked[i].row;

		if (!names_row_is_in(table, row))
			continue;
		if (limit != 0 && shown == limit) {
			more++;
			continue;
		}
		add_names_row(&out, table, row);
		is_inferred |= row->is_inferred;
		shown++;
	}
	if (more > 0)
		ct_buf_add_format(&out, "(%" PRIu64 " more)\n", more);
	if (is_inferred)
		ct_buf_add_text(&out, "(inferred: no event reports some of these ends)\n");
	ok = !out.failed;
	fwrite(out.data, 1, out.size, stdout);
	ct_buf_fini(&out);
	return ok;
}

static bool names_print(const struct stats_trace *stats, const struct ct_tally *tally)
{
	const struct ct_tally_table *rows = &tally->tables[CT_TALLY_NAME];
	struct ranked *ranked = rows_rank(rows, stats->sort);
	struct names_table table = { .stats = stats, .ranked = ranked, .count = rows->count };
	bool ok;

	if (ranked == NULL)
		return false;
	if (rows->count == 0)
		printf("\nno event has a value of \"%s\"\n", stats->by);
	ok = print_names_of(&table);
	table.has_operations = true;
	ok = print_names_of(&table) && ok;
	if (rows->beyond > 0)
		printf("(others: %" PRIu64 ")\n", rows->beyond);
	free(ranked);
	return ok;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void print_servers(void)
{
	const char *stream, *servers;

	for (size_t i = 0; stream_servers_next(i, &stream, &servers); i++) {
		if (servers[0] == '\0')
			continue;
		fputs("stream ", stdout);
		ct_tool_print(stdout, stream, strcspn(stream, "?"));
		fputs(": ", stdout);
		ct_tool_print(stdout, servers, strlen(servers));
		fputc('\n', stdout);
	}
}

static json_t *json_streams(void)
{
	json_t *rows = json_array();
	const char *stream, *servers;

	for (size_t i = 0; stream_servers_next(i, &stream, &servers); i++) {
		json_t *row = json_object();
		char name[256];

		(void)snprintf(name, sizeof name, "%.*s", (int)strcspn(stream, "?"), stream);
		(void)json_object_set_new(row, "stream", ct_json_string(name));
		(void)json_object_set_new(row, "servers", ct_json_string(servers));
		(void)json_array_append_new(rows, row);
	}
	return rows;
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
	print_servers();
	return ok;
}

static bool stats_print_text(const struct stats_trace *stats, const struct ct_tally *tally,
			     const struct ct_read_totals *totals)
{
	bool ok = table_print_head(tally, totals);

	if (stats->kind == CT_TALLY_NAME)
		return ok && names_print(stats, tally);
	for (unsigned kind = 0; kind < CT_TALLY_NAME && ok; kind++)
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

static json_t *json_name(json_t *object, const struct ct_tally_row *row)
{
	json_t *statuses = json_array();

	(void)json_object_set_new(object, "name", ct_json_string(row->name));
	(void)json_object_set_new(object, "by", ct_json_string(row->what));
	(void)json_object_set_new(object, "component", ct_json_string(row->component));
	add_number(object, "event", row->event_id);
	(void)json_object_set_new(object, "mnemonic", ct_json_string(row->mnemonic));
	(void)json_object_set_new(object, "operation", json_boolean(row->is_operation));
	(void)json_object_set_new(object, "inferred", json_boolean(row->is_inferred));
	add_number(object, "count", row->events);
	add_number(object, "bytes", row->moved);
	add_number(object, "self_ns", row->self_ns);
	add_json_spans(object, row->spans);
	for (unsigned i = 0; i < row->status_count; i++)
		(void)json_array_append_new(
			statuses,
			json_pack("{s:o, s:o}", "status", ct_json_string(row->statuses[i].text),
				  "count", ct_json_number(row->statuses[i].count)));
	(void)json_object_set_new(object, "statuses", statuses);
	add_number(object, "other_statuses", row->statuses_beyond);
	return object;
}

static json_t *json_row(const struct ct_tally *tally, const struct ct_tally_row *row,
			enum ct_tally_kind kind)
{
	json_t *object = json_object();

	if (kind == CT_TALLY_NAME)
		return json_name(object, row);
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
	static const char *const names[CT_TALLY_KINDS] = { "components", "events", "threads",
							   "names" };
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
	const char *stream, *servers;
	bool ok = true;

	add_number(document, "first_ns", tally->first_ns);
	add_number(document, "last_ns", tally->last_ns);
	add_number(document, "count", tally->events);
	add_number(document, "bytes", tally->bytes);
	add_number(document, "lost", totals->discarded);
	add_number(document, "damages", totals->damages);
	if (stream_servers_next(0, &stream, &servers))
		(void)json_object_set_new(document, "streams", json_streams());
	for (unsigned kind = 0; kind < CT_TALLY_KINDS && ok; kind++)
		if (stats->has_kind ? stats->kind == kind : kind != CT_TALLY_NAME)
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
	stats->reading.has_inferred = true;
	if (!reading_open(&stats->reading))
		return reading_end(&stats->reading, 0);
	if (stats->by != NULL && !ct_tally_by_is_known(stats->reading.catalog, stats->by)) {
		fprintf(stderr,
			"ctrace stats: --by: \"%s\" is no table, and no argument in a catalogue; expected component, event, thread or an argument, as program, paragraph, statement, select or file\n",
			stats->by);
		reading_close(&stats->reading);
		return CMD_USAGE;
	}
	if (stats->by != NULL && !stats->has_sort)
		stats->sort = STATS_BY_TOTAL;
	ct_tally_init(&tally);
	if (stats->by != NULL)
		ct_tally_want_names(&tally, stats->by);
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
