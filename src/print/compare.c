/*
 * compare.c - finds what differs between two runs: rows that are new, gone, more or less frequent,
 * slower or faster.
 *
 * Called by ctrace diff, on its one thread.  Pure.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/tally.h"

#include <stdlib.h>
#include <string.h>

#define MEDIAN 500u

struct comparison {
	const struct ct_tally *a, *b;
	const struct ct_compare_options *options;
	struct ct_tally_change *changes;
	size_t count, capacity;
	bool failed;
};

const char *ct_difference_name(enum ct_difference difference)
{
	static const char *const names[CT_DIFFERENT_COUNT] = { "new",   "gone",   "more",
							       "fewer", "slower", "faster" };

	return (unsigned)difference < CT_DIFFERENT_COUNT ? names[difference] : "?";
}

static void change_add(struct comparison *comparison, const struct ct_tally_change *change)
{
	struct ct_tally_change *changes = comparison->changes;

	if (comparison->count == comparison->capacity) {
		size_t capacity = comparison->capacity != 0 ? 2 * comparison->capacity : 64;

		changes = reallocarray(changes, capacity, sizeof *changes);
		if (changes == NULL) {
			comparison->failed = true;
			return;
		}
		comparison->changes = changes;
		comparison->capacity = capacity;
	}
	changes[comparison->count++] = *change;
}

/* -----------------------------------------------------------------------------------------------
 * One row
 */

static double comparison_size(const struct comparison *comparison, const struct ct_tally *tally,
			      uint64_t events)
{
	return comparison->options->has_rates && comparison->options->kind != CT_TALLY_NAME
		       ? ct_tally_rate(events, ct_tally_duration_ns(tally))
		       : (double)events;
}

static void row_compare_counts(struct comparison *comparison, const struct ct_tally_row *a,
			       const struct ct_tally_row *b)
{
	struct ct_tally_change change = { .a = a, .b = b };

	change.was = a != NULL ? comparison_size(comparison, comparison->a, a->events) : 0;
	change.is = b != NULL ? comparison_size(comparison, comparison->b, b->events) : 0;
	if (a == NULL || b == NULL) {
		change.difference = a == NULL ? CT_DIFFERENT_NEW : CT_DIFFERENT_GONE;
		change_add(comparison, &change);
		return;
	}
	change.difference = change.is > change.was ? CT_DIFFERENT_MORE : CT_DIFFERENT_FEWER;
	change.ratio = change.is > change.was ? change.is / change.was : change.was / change.is;
	if (change.ratio >= comparison->options->ratio)
		change_add(comparison, &change);
}

static double span_time(const struct ct_compare_options *options, const struct ct_histogram *spans)
{
	return (double)(options->kind == CT_TALLY_NAME ? spans->total
						       : ct_histogram_at(spans, MEDIAN));
}

static void row_compare_spans(struct comparison *comparison, const struct ct_tally_row *a,
			      const struct ct_tally_row *b)
{
	const struct ct_compare_options *options = comparison->options;
	struct ct_tally_change change = { .a = a, .b = b };
	double least, most;

	if (a == NULL || b == NULL || a->spans == NULL || b->spans == NULL)
		return;
	if (options->kind != CT_TALLY_NAME &&
	    (a->spans->count < options->min_count || b->spans->count < options->min_count))
		return;
	change.was = span_time(options, a->spans);
	change.is = span_time(options, b->spans);
	change.difference = change.is > change.was ? CT_DIFFERENT_SLOWER : CT_DIFFERENT_FASTER;
	least = change.is > change.was ? change.was : change.is;
	most = change.is > change.was ? change.is : change.was;
	if (most - least < (double)options->min_ns)
		return;
	/* a median of 0 before counts as 1 ns */
	change.ratio = least > 0 ? most / least : most;
	if (change.ratio >= options->ratio)
		change_add(comparison, &change);
}

/* -----------------------------------------------------------------------------------------------
 * All rows
 */

static int row_compare(const struct ct_tally_row *a, const struct ct_tally_row *b)
{
	int order = strcmp(a->component, b->component);

	if (order == 0)
		order = (a->event_id > b->event_id) - (a->event_id < b->event_id);
	return order != 0 || a->name == NULL || b->name == NULL ? order : strcmp(a->name, b->name);
}

static int row_compare_pointers(const void *a, const void *b)
{
	return row_compare(*(const struct ct_tally_row *const *)a,
			   *(const struct ct_tally_row *const *)b);
}

/* The rows with names, by name and id; NULL without memory. */
static const struct ct_tally_row **rows_sorted(const struct ct_tally_table *table,
					       size_t *out_count)
{
	const struct ct_tally_row **rows = calloc(table->count + 1, sizeof(struct ct_tally_row *));

	*out_count = 0;
	for (size_t i = 0; rows != NULL && i < table->count; i++)
		if (table->rows[i].component != NULL)
			rows[(*out_count)++] = &table->rows[i];
	if (*out_count > 1)
		qsort(rows, *out_count, sizeof(struct ct_tally_row *), row_compare_pointers);
	return rows;
}

static void rows_compare_pair(struct comparison *comparison, const struct ct_tally_row *a,
			      const struct ct_tally_row *b)
{
	uint64_t least = comparison->options->min_count;

	/* A paragraph or a file that is there once counts, too. */
	if (comparison->options->kind != CT_TALLY_NAME && (a == NULL || a->events < least) &&
	    (b == NULL || b->events < least))
		return;
	row_compare_counts(comparison, a, b);
	row_compare_spans(comparison, a, b);
}

static int change_compare_size(const void *x, const void *y)
{
	const struct ct_tally_change *a = x, *b = y;
	double a_size = a->ratio != 0 ? a->ratio : a->was + a->is,
	       b_size = b->ratio != 0 ? b->ratio : b->was + b->is;

	if (a->difference != b->difference)
		return a->difference < b->difference ? -1 : 1;
	if (a_size != b_size)
		return a_size > b_size ? -1 : 1;
	return row_compare(a->a != NULL ? a->a : a->b, b->a != NULL ? b->a : b->b);
}

enum ctrace_status ct_compare(const struct ct_tally *a, const struct ct_tally *b,
			      const struct ct_compare_options *options,
			      struct ct_tally_change **out_changes, size_t *out_count)
{
	struct comparison comparison = { .a = a, .b = b, .options = options };
	size_t a_count, b_count, i = 0, k = 0;
	const struct ct_tally_row **a_rows = rows_sorted(&a->tables[options->kind], &a_count);
	const struct ct_tally_row **b_rows = rows_sorted(&b->tables[options->kind], &b_count);

	comparison.failed = a_rows == NULL || b_rows == NULL;
	while (!comparison.failed && (i < a_count || k < b_count)) {
		int order = i == a_count   ? 1
			    : k == b_count ? -1
					   : row_compare(a_rows[i], b_rows[k]);

		rows_compare_pair(&comparison, order <= 0 ? a_rows[i] : NULL,
				  order >= 0 ? b_rows[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
	free(a_rows);
	free(b_rows);
	if (comparison.failed) {
		free(comparison.changes);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	if (comparison.count > 1)
		qsort(comparison.changes, comparison.count, sizeof *comparison.changes,
		      change_compare_size);
	*out_changes = comparison.changes;
	*out_count = comparison.count;
	return CTRACE_OK;
}
