/*
 * print_ipcs_tally.c - the tables of CTRACE TALLY: counts and mean intervals, and how intervals are
 * spread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs.h"

#include <inttypes.h>
#include <string.h>

#define NS_PER_US 1000.0
#define BAR 40u

static double mean_ns(const struct ct_ipcs_tally *tally)
{
	return tally->sum_ns / (double)(tally->count - 1);
}

static void add_us(struct ct_buf *out, double ns)
{
	ct_buf_add_format(out, "%14.3f", ns / NS_PER_US);
}

static void add_name(struct ct_buf *out, const struct ct_ipcs_tally *tally)
{
	unsigned columns = 0;

	for (const char *at = tally->mnemonic; *at != '\0'; at++)
		columns += ((unsigned char)*at & 0xC0) != 0x80;
	ct_buf_add_text(out, tally->mnemonic);
	for (; columns < 10; columns++)
		ct_buf_add_char(out, ' ');
	ct_buf_add_format(out, "%08X", tally->event_id);
}

static void add_count(struct ct_buf *out, const struct ct_ipcs_tally *tally)
{
	const char *description = tally->description != NULL ? tally->description : "";

	ct_buf_add_format(out, " %10" PRIu64 "  ", tally->count);
	if (tally->count > 1)
		add_us(out, mean_ns(tally));
	else
		ct_buf_add_format(out, "%14s", "-");
	ct_buf_add_text(out, "  ");
	add_name(out, tally);
	if (description[0] != '\0') {
		ct_buf_add_text(out, "  ");
		ct_ipcs_add_plain(out, description, strlen(description));
	}
	ct_buf_add_char(out, '\n');
}

/* "<      10 us        12  ****" */
static void add_decade(struct ct_buf *out, const struct ct_ipcs_tally *tally, unsigned decade,
		       uint64_t most)
{
	static const char *const limits[CT_IPCS_DECADES] = {
		"<    1 us", "<   10 us", "<  100 us", "<    1 ms", "<   10 ms",
		"<  100 ms", "<    1 s ", "<   10 s ", ">=  10 s "
	};
	uint64_t count = tally->decades[decade];
	unsigned stars = (unsigned)((double)count / (double)most * BAR + 0.5);

	ct_buf_add_format(out, "     %s  %10" PRIu64 "  ", limits[decade], count);
	for (unsigned i = 0; i < stars || (i == 0 && count != 0); i++)
		ct_buf_add_char(out, '*');
	while (out->size > 0 && out->data[out->size - 1] == ' ')
		out->size--;
	ct_buf_add_char(out, '\n');
}

/* From the first decade that has an interval to the last one. */
static void add_histogram(struct ct_buf *out, const struct ct_ipcs_tally *tally)
{
	unsigned first = CT_IPCS_DECADES, last = 0;
	uint64_t most = 1;

	for (unsigned i = 0; i < CT_IPCS_DECADES; i++) {
		if (tally->decades[i] == 0)
			continue;
		if (first == CT_IPCS_DECADES)
			first = i;
		last = i;
		if (tally->decades[i] > most)
			most = tally->decades[i];
	}
	for (unsigned i = first; i <= last && i < CT_IPCS_DECADES; i++)
		add_decade(out, tally, i, most);
}

static void add_intervals(struct ct_buf *out, const struct ct_ipcs_tally *tally)
{
	ct_buf_add_char(out, ' ');
	add_name(out, tally);
	ct_buf_add_text(out, "  ");
	add_us(out, (double)tally->least_ns);
	ct_buf_add_text(out, "  ");
	add_us(out, mean_ns(tally));
	ct_buf_add_text(out, "  ");
	add_us(out, (double)tally->most_ns);
	ct_buf_add_char(out, '\n');
	add_histogram(out, tally);
}

static bool has_intervals(const struct ct_ipcs_tallies *tallies)
{
	for (uint32_t i = 0; i < tallies->count; i++)
		if (tallies->at[i].count > 1)
			return true;
	return false;
}

void ct_ipcs_print_tally(struct ct_buf *out, const struct ct_ipcs_tallies *tallies)
{
	ct_buf_add_text(out, " INTERVALS ARE IN MICROSECONDS\n\n");
	ct_buf_add_text(out, "      COUNT        INTERVAL  MNEMONIC  ENTRY ID  DESCRIPTION\n");
	ct_buf_add_text(out, " ----------  --------------  --------  --------  -----------\n");
	for (uint32_t i = 0; i < tallies->count; i++)
		add_count(out, &tallies->at[i]);
	ct_buf_add_format(out, "\n TOTAL ENTRIES = %" PRIu64 "\n", tallies->events);
	if (tallies->others != 0)
		ct_buf_add_format(out, " OF MORE ENTRY IDS THAN ARE LISTED = %" PRIu64 "\n",
				  tallies->others);
	if (!has_intervals(tallies))
		return;
	ct_buf_add_text(out,
			"\n MNEMONIC  ENTRY ID         MINIMUM            MEAN         MAXIMUM\n");
	ct_buf_add_text(out,
			" --------  --------  --------------  --------------  --------------\n");
	for (uint32_t i = 0; i < tallies->count; i++)
		if (tallies->at[i].count > 1)
			add_intervals(out, &tallies->at[i]);
}
