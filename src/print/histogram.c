/*
 * histogram.c - counts numbers by size in bounded memory, for percentiles within 0.4 %.
 *
 * Called by tally.c.  tally.h explains the layout.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/tally.h"

#include <stdlib.h>

#define BITS 7u /* bits of a value that select its bucket, below its highest bit */
_Static_assert(CT_HISTOGRAM_BUCKETS == 1u << BITS && CT_HISTOGRAM_PAGES == 64 - BITS + 1,
	       "one page a doubling");

static unsigned value_page(uint64_t value)
{
	return value < CT_HISTOGRAM_BUCKETS ? 0 : 64 - (unsigned)__builtin_clzll(value) - BITS;
}

static unsigned value_bucket(uint64_t value, unsigned page)
{
	return page == 0 ? (unsigned)value
			 : (unsigned)(value >> (page - 1)) & (CT_HISTOGRAM_BUCKETS - 1);
}

static uint64_t bucket_middle(unsigned page, unsigned bucket)
{
	uint64_t width;

	if (page == 0)
		return bucket;
	width = (uint64_t)1 << (page - 1);
	return (CT_HISTOGRAM_BUCKETS + (uint64_t)bucket) * width + width / 2;
}

void ct_histogram_add(struct ct_histogram *histogram, uint64_t value, size_t *pages_left)
{
	unsigned page = value_page(value);

	if (histogram->count == 0 || value < histogram->least)
		histogram->least = value;
	if (value > histogram->most)
		histogram->most = value;
	histogram->count++;
	if (__builtin_add_overflow(histogram->total, value, &histogram->total))
		histogram->total = UINT64_MAX;
	if (histogram->pages[page] == NULL && *pages_left > 0) {
		histogram->pages[page] = calloc(CT_HISTOGRAM_BUCKETS, sizeof(uint64_t));
		*pages_left -= histogram->pages[page] != NULL;
	}
	if (histogram->pages[page] != NULL)
		histogram->pages[page][value_bucket(value, page)]++;
	else
		histogram->unplaced++;
}

uint64_t ct_histogram_at(const struct ct_histogram *histogram, unsigned permille)
{
	uint64_t placed = histogram->count - histogram->unplaced;
	uint64_t wanted = placed / 1000 * permille + (placed % 1000 * permille + 999) / 1000;
	uint64_t passed = 0;

	if (placed == 0)
		return histogram->most;
	if (wanted == 0)
		wanted = 1;
	for (unsigned page = 0; page < CT_HISTOGRAM_PAGES; page++) {
		for (unsigned i = 0; histogram->pages[page] != NULL && i < CT_HISTOGRAM_BUCKETS;
		     i++) {
			uint64_t value = bucket_middle(page, i);

			passed += histogram->pages[page][i];
			if (passed >= wanted)
				return value < histogram->least  ? histogram->least
				       : value > histogram->most ? histogram->most
								 : value;
		}
	}
	return histogram->most;
}

void ct_histogram_fini(struct ct_histogram *histogram)
{
	for (unsigned page = 0; page < CT_HISTOGRAM_PAGES; page++)
		free(histogram->pages[page]);
	*histogram = (struct ct_histogram){ 0 };
}
