/*
 * run_page_text.c - prints the page of a run: tables that fit the terminal, numbers for people.
 *
 * Called once, after the last event.  Names come from traced programs, and are escaped.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/run_page_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_ROWS 10u
#define LEAST_NAME 12 /* columns that a name keeps on a narrow terminal */
#define COLUMNS_MOST 7u

/* -----------------------------------------------------------------------------------------------
 * Numbers
 */

void ct_run_page_add_count(struct ct_buf *out, uint64_t count)
{
	char digits[32];
	int size = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);

	for (int i = 0; i < size; i++) {
		if (i > 0 && (size - i) % 3 == 0)
			ct_buf_add_char(out, ',');
		ct_buf_add_char(out, digits[i]);
	}
}

/* Three digits: "1.23", "12.3", "123". */
static void add_scaled(struct ct_buf *out, double value, const char *unit)
{
	ct_buf_add_format(out, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
}

void ct_run_page_add_bytes(struct ct_buf *out, uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		ct_buf_add_format(out, "%llu B", (unsigned long long)bytes);
		return;
	}
	for (; value >= 999.5 && unit + 1 < CT_COUNT(units); unit++)
		value /= 1024;
	add_scaled(out, value, units[unit]);
}

void ct_run_page_add_time(struct ct_buf *out, uint64_t ns)
{
	static const char *const units[] = { "us", "ms", "s" };
	double value = (double)ns / 1000;
	size_t unit = 0;

	if (ns < 1000) {
		ct_buf_add_format(out, "%llu ns", (unsigned long long)ns);
		return;
	}
	for (; value >= 999.5 && unit + 1 < CT_COUNT(units); unit++)
		value /= 1000;
	if (unit + 1 < CT_COUNT(units) || value < 999.5) {
		add_scaled(out, value, units[unit]);
		return;
	}
	ct_run_page_add_count(out, (uint64_t)value);
	ct_buf_add_text(out, " s");
}

/* -----------------------------------------------------------------------------------------------
 * Tables
 */

/* The cells of a table, row by row, as texts behind each other. */
struct grid {
	unsigned columns;
	unsigned flexible; /* the column that is cut when a line is too long */
	bool is_number[COLUMNS_MOST];
	bool no_records;     /* operations on records were not traced: no number of them is known */
	struct ct_buf cells; /* each ends with a NUL */
};

/* Characters of UTF-8; names of COBOL are narrow. */
static int text_columns(const char *text)
{
	int columns = 0;

	for (; *text != '\0'; text++)
		columns += ((unsigned char)*text & 0xC0) != 0x80;
	return columns;
}

static void grid_add(struct grid *grid, const char *cell)
{
	ct_buf_add(&grid->cells, cell, strlen(cell) + 1);
}

static void grid_add_name(struct grid *grid, const char *name)
{
	ct_escape_add(&grid->cells, name, strlen(name));
	ct_buf_add_char(&grid->cells, '\0');
}

static void grid_add_number(struct grid *grid, void (*add)(struct ct_buf *, uint64_t),
			    uint64_t number)
{
	add(&grid->cells, number);
	ct_buf_add_char(&grid->cells, '\0');
}

/* Cuts a cell that is too wide: of a path the end counts. */
static void add_cut(struct ct_buf *out, const char *cell, int width)
{
	int surplus = text_columns(cell) - width + 3;

	if (text_columns(cell) <= width) {
		ct_buf_add_text(out, cell);
		return;
	}
	ct_buf_add_text(out, "...");
	for (; surplus > 0 && *cell != '\0'; surplus--)
		for (cell++; ((unsigned char)*cell & 0xC0) == 0x80;)
			cell++;
	ct_buf_add_text(out, cell);
}

static void grid_print(struct grid *grid, int width, struct ct_buf *out)
{
	int widths[COLUMNS_MOST] = { 0 }, whole = -2;
	const char *end = grid->cells.data + grid->cells.size, *cell = grid->cells.data;

	for (unsigned i = 0; cell < end; i++, cell += strlen(cell) + 1) {
		int columns = text_columns(cell);

		if (columns > widths[i % grid->columns])
			widths[i % grid->columns] = columns;
	}
	for (unsigned i = 0; i < grid->columns; i++)
		whole += widths[i] + 2;
	if (width > 0 && whole > width) {
		int *flexible = &widths[grid->flexible];

		*flexible = *flexible - (whole - width) > LEAST_NAME ? *flexible - (whole - width)
								     : LEAST_NAME;
	}
	cell = grid->cells.data;
	for (unsigned i = 0; cell < end; i++, cell += strlen(cell) + 1) {
		unsigned column = i % grid->columns;
		bool is_last = column + 1 == grid->columns;
		int columns = text_columns(cell);
		int pad = widths[column] > columns ? widths[column] - columns : 0;

		ct_buf_add_format(out, "%*s", grid->is_number[column] ? pad : 0, "");
		if (column == grid->flexible)
			add_cut(out, cell, widths[column]);
		else
			ct_buf_add_text(out, cell);
		if (is_last)
			ct_buf_add_char(out, '\n');
		else
			ct_buf_add_format(out, "%*s", (grid->is_number[column] ? 0 : pad) + 2, "");
	}
	ct_buf_fini(&grid->cells);
}

/* ---- which rows ---- */

static uint64_t row_weight(const struct run_row *row)
{
	return row->self_ns > row->total_ns ? row->self_ns : row->total_ns;
}

static int row_compare(const void *x, const void *y)
{
	const struct run_row *a = *(const struct run_row *const *)x;
	const struct run_row *b = *(const struct run_row *const *)y;
	int order;

	if (row_weight(a) != row_weight(b))
		return row_weight(a) < row_weight(b) ? 1 : -1;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	order = strcmp(a->name, b->name);
	return order != 0 ? order : strcmp(a->of, b->of);
}

/* Is the file one of `NAME,...`? */
static bool row_is_named(const struct run_row *row, const char *names)
{
	const char *slash = strrchr(row->of, '/');
	const char *base = slash != NULL ? slash + 1 : row->of;

	while (*names != '\0') {
		size_t size = strcspn(names, ",");

		if (size > 0 &&
		    (ct_name_is(names, size, row->name) || ct_name_is(names, size, base)))
			return true;
		names += size;
		names += *names == ',';
	}
	return false;
}

/* The errors of all files are traced; a file that was not asked for has no row for them. */
static bool row_is_shown(const struct run_row *row, const char *names)
{
	return row->count > 0 && (names == NULL || row->is_asked || row_is_named(row, names));
}

/* Returns the rows that something is counted in, the longest first; NULL without memory. */
static const struct run_row **rows_sort(const struct run_table *table, const char *names,
					uint32_t *out_count)
{
	const struct run_row **rows = calloc(table->count + 1, sizeof(const struct run_row *));

	*out_count = 0;
	for (uint32_t i = 0; rows != NULL && i < table->count; i++)
		if (row_is_shown(&table->rows[i], names))
			rows[(*out_count)++] = &table->rows[i];
	if (*out_count > 1)
		qsort(rows, *out_count, sizeof *rows, row_compare);
	return rows;
}

struct table_print {
	const char *untraced; /* a sentence that takes the place of the table; NULL: none does */
	const char *nothing;  /* a sentence; NULL: another one explains it */
	const char *names;    /* of the rows, NAME,...; NULL: all */
	bool no_records;
	void (*begin)(struct grid *grid);
	void (*row)(struct grid *grid, const struct run_row *row);
};

static void table_add(struct ct_buf *out, const struct run_table *table,
		      const struct table_print *print, const struct ct_run_page_options *options)
{
	uint32_t count, most = options->rows != 0 ? options->rows : USUAL_ROWS;
	const struct run_row **rows;
	struct grid grid = { .columns = 1, .no_records = print->no_records };

	if (print->untraced != NULL) {
		ct_buf_add_format(out, "\n%s\n", print->untraced);
		return;
	}
	rows = rows_sort(table, print->names, &count);
	if (rows == NULL || count == 0) {
		const char *why = rows == NULL ? "There is no memory left." : print->nothing;

		if (why != NULL)
			ct_buf_add_format(out, "\n%s\n", why);
		free(rows);
		return;
	}
	ct_buf_add_char(out, '\n');
	ct_buf_init(&grid.cells);
	print->begin(&grid);
	for (uint32_t i = 0; i < count && i < most; i++)
		print->row(&grid, rows[i]);
	grid_print(&grid, options->width, out);
	if (count > most) {
		ct_buf_add_char(out, '(');
		ct_run_page_add_count(out, count - most);
		ct_buf_add_text(out, " more)\n");
	}
	free(rows);
}

/* ---- the tables ---- */

static void programs_begin(struct grid *grid)
{
	static const char *const titles[] = { "PROGRAM", "CALLS", "TOTAL", "SELF" };

	grid->columns = CT_COUNT(titles);
	for (unsigned i = 0; i < CT_COUNT(titles); i++) {
		grid->is_number[i] = i > 0;
		grid_add(grid, titles[i]);
	}
}

static void programs_row(struct grid *grid, const struct run_row *row)
{
	grid_add_name(grid, row->name);
	grid_add_number(grid, ct_run_page_add_count, row->count);
	grid_add_number(grid, ct_run_page_add_time, row->total_ns);
	grid_add_number(grid, ct_run_page_add_time, row->self_ns);
}

static void paragraphs_begin(struct grid *grid)
{
	static const char *const titles[] = { "PARAGRAPH", "PROGRAM", "RUNS", "TIME (INFERRED)" };

	grid->columns = CT_COUNT(titles);
	for (unsigned i = 0; i < CT_COUNT(titles); i++) {
		grid->is_number[i] = i > 1;
		grid_add(grid, titles[i]);
	}
}

static void paragraphs_row(struct grid *grid, const struct run_row *row)
{
	grid_add_name(grid, row->name);
	grid_add_name(grid, row->of);
	grid_add_number(grid, ct_run_page_add_count, row->count);
	grid_add_number(grid, ct_run_page_add_time, row->self_ns);
}

static void files_begin(struct grid *grid)
{
	static const char *const titles[] = { "FILE", "READS",  "WRITES", "BYTES",
					      "TIME", "STATUS", "PATH" };

	grid->columns = CT_COUNT(titles);
	grid->flexible = CT_COUNT(titles) - 1;
	for (unsigned i = 0; i < CT_COUNT(titles); i++) {
		grid->is_number[i] = i > 0 && i < 5;
		grid_add(grid, titles[i]);
	}
}

/* "10 once, 23 x 5": what is not 00. */
static void grid_add_statuses(struct grid *grid, const struct run_row *row)
{
	struct ct_buf *out = &grid->cells;
	bool is_first = true;

	for (size_t i = 0; i < RUN_STATUSES && row->statuses[i].count > 0; i++) {
		ct_buf_add_format(out, "%s%s", is_first ? "" : ", ", row->statuses[i].text);
		if (row->statuses[i].count > 1) {
			ct_buf_add_text(out, " x ");
			ct_run_page_add_count(out, row->statuses[i].count);
		}
		is_first = false;
	}
	if (row->other_statuses > 0)
		ct_buf_add_text(out, ", ...");
	if (is_first)
		ct_buf_add_text(out, "00");
	ct_buf_add_char(out, '\0');
}

static void grid_add_records(struct grid *grid, const struct run_row *row)
{
	for (unsigned i = 0; grid->no_records && i < 3; i++)
		grid_add(grid, "-");
	if (grid->no_records)
		return;
	grid_add_number(grid, ct_run_page_add_count, row->reads);
	grid_add_number(grid, ct_run_page_add_count, row->writes);
	grid_add_number(grid, ct_run_page_add_bytes, row->bytes);
}

static void files_row(struct grid *grid, const struct run_row *row)
{
	grid_add_name(grid, row->name);
	grid_add_records(grid, row);
	grid_add_number(grid, ct_run_page_add_time, row->total_ns);
	grid_add_statuses(grid, row);
	grid_add_name(grid, row->of);
}

/* -----------------------------------------------------------------------------------------------
 * Errors, and where the trace is
 */

static void errors_add(struct ct_buf *out, const struct ct_run_page *page)
{
	uint64_t shown = 0;

	if (page->errors_total == 0)
		return;
	ct_buf_add_text(out, "\nERRORS\n");
	for (uint32_t i = 0; i < page->error_count; i++) {
		const struct run_error *error = &page->errors[i];

		shown += error->count;
		ct_buf_add_text(out, error->text);
		if (error->program[0] != '\0') {
			ct_buf_add_text(out, ", in ");
			ct_escape_add(out, error->program, strlen(error->program));
		}
		if (error->line > 0)
			ct_buf_add_format(out, ", line %llu", (unsigned long long)error->line);
		if (error->count > 1) {
			ct_buf_add_text(out, " (");
			ct_run_page_add_count(out, error->count);
			ct_buf_add_text(out, " times)");
		}
		ct_buf_add_char(out, '\n');
	}
	if (shown < page->errors_total) {
		ct_buf_add_char(out, '(');
		ct_run_page_add_count(out, page->errors_total - shown);
		ct_buf_add_text(out, " more)\n");
	}
}

static void end_add(struct ct_buf *out, const struct ct_run_page *page,
		    const struct ct_run_page_options *options)
{
	ct_buf_add_text(out, "\nTRACE\n");
	if (options->losses != NULL)
		ct_buf_add_text(out, options->losses);
	if (page->has_gaps)
		ct_buf_add_text(out,
				"times do not include what the trace lacks between its events\n");
	ct_buf_add_text(out, "ctrace show ");
	ct_escape_add_typed(out, options->trace);
	if (options->report != NULL) {
		ct_buf_add_text(out, "\nreport: ");
		ct_escape_add_typed(out, options->report);
	} else {
		ct_buf_add_text(out, "\nctrace report ");
		ct_escape_add_typed(out, options->trace);
	}
	ct_buf_add_char(out, '\n');
}

/* A table without a row says what is known of the reason.  What a run time of another version does
 * is not traced: one sentence takes the place of all tables without rows. */
static void tables_add(struct ct_buf *out, const struct ct_run_page *page,
		       const struct ct_run_page_options *options)
{
	bool is_known = page->unknown_run_time == NULL;
	const struct table_print programs = {
		.untraced = options->untraced.programs,
		.nothing = is_known ? "The trace has no entry of a program." : NULL,
		.begin = programs_begin,
		.row = programs_row
	};
	const struct table_print paragraphs = {
		.untraced = options->untraced.paragraphs,
		.nothing = is_known
				   ? "The trace has no paragraph: the programs have none, or were\n"
				     "compiled without -ftrace or -ftraceall."
				   : NULL,
		.begin = paragraphs_begin,
		.row = paragraphs_row
	};
	const struct table_print files = {
		.untraced = options->untraced.files,
		.nothing = !is_known ? NULL
			   : options->files != NULL
				   ? "The trace has none of the files that --files names."
				   : "The trace has no file.",
		.names = options->files,
		.no_records = options->untraced.records,
		.begin = files_begin,
		.row = files_row
	};

	if (!is_known) {
		ct_buf_add_char(out, '\n');
		ct_escape_add(out, page->unknown_run_time, strlen(page->unknown_run_time));
		ct_buf_add_text(out, ".\n");
	}
	table_add(out, &page->programs, &programs, options);
	table_add(out, &page->paragraphs, &paragraphs, options);
	table_add(out, &page->files, &files, options);
}

void ct_run_page_print(struct ct_run_page *page, const struct ct_run_page_options *options,
		       struct ct_buf *out)
{
	ct_run_page_close(page);
	if (options->subject != NULL) {
		ct_escape_add(out, options->subject, strlen(options->subject));
		ct_buf_add_text(out, ": ");
	}
	ct_run_page_add_count(out, page->events);
	ct_buf_add_format(out, " event%s\n", page->events == 1 ? "" : "s");
	if (page->failed)
		ct_buf_add_text(out, "There was not enough memory to count all of them.\n");
	tables_add(out, page, options);
	errors_add(out, page);
	end_add(out, page, options);
}
