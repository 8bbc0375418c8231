/*
 * ipcs_tally.c - TALLY: how often each entry was traced, and how far apart in time.
 *
 * Called by the run for every entry that TALLY counts, and to print the tables.  Ids are the traced
 * program's: past a bound they are only counted.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void ct_ipcs_tallies_fini(struct ct_ipcs_tallies *tallies)
{
	for (uint32_t i = 0; i < tallies->count; i++)
		free(tallies->at[i].description);
	free(tallies->at);
	ct_hash_table_fini(&tallies->table);
	*tallies = (struct ct_ipcs_tallies){ 0 };
}

struct key {
	uint32_t event_id, component_hash;
};

static bool tally_is_same(const void *items, uint32_t number, const void *wanted)
{
	const struct ct_ipcs_tally *tally = (const struct ct_ipcs_tally *)items + number;
	const struct key *key = wanted;

	return tally->event_id == key->event_id && tally->component_hash == key->component_hash;
}

static uint32_t tally_hash(const struct key *key)
{
	return key->event_id * 2654435761u ^ key->component_hash;
}

static struct ct_ipcs_tally *tally_add(struct ct_ipcs_tallies *tallies,
				       const struct ct_read_event *event, const struct key *key)
{
	struct ct_ipcs_tally *at, *tally;
	struct ct_buf mnemonic;
	size_t size;

	if (tallies->count == CT_IPCS_TALLIES) {
		tallies->others++;
		return NULL;
	}
	at = ct_hash_table_reserve_items(&tallies->table, tallies->at, sizeof *at);
	if (at == NULL) {
		tallies->has_failed = true;
		return NULL;
	}
	tallies->at = at;
	tally = &at[tallies->count];
	*tally = (struct ct_ipcs_tally){ .event_id = key->event_id,
					 .component_hash = key->component_hash,
					 .least_ns = UINT64_MAX };
	ct_buf_init(&mnemonic);
	ct_ipcs_print_mnemonic(&mnemonic, event);
	size = mnemonic.size < sizeof tally->mnemonic ? mnemonic.size : sizeof tally->mnemonic - 1;
	memcpy(tally->mnemonic, ct_buf_text(&mnemonic), size);
	tally->description = strdup(ct_ipcs_description(event));
	tallies->has_failed |= mnemonic.failed || tally->description == NULL;
	ct_buf_fini(&mnemonic);
	ct_hash_table_add(&tallies->table, tally_hash(key), tallies->count++);
	return tally;
}

static unsigned interval_decade(uint64_t interval_ns)
{
	uint64_t below_ns = 1000;
	unsigned decade = 0;

	for (; decade < CT_IPCS_DECADES - 1 && interval_ns >= below_ns; decade++)
		below_ns *= 10;
	return decade;
}

static void tally_note_interval(struct ct_ipcs_tally *tally, uint64_t time_ns)
{
	uint64_t interval_ns = time_ns > tally->last_ns ? time_ns - tally->last_ns : 0;

	tally->sum_ns += (double)interval_ns;
	if (interval_ns < tally->least_ns)
		tally->least_ns = interval_ns;
	if (interval_ns > tally->most_ns)
		tally->most_ns = interval_ns;
	tally->decades[interval_decade(interval_ns)]++;
}

void ct_ipcs_tallies_note(struct ct_ipcs_tallies *tallies, const struct ct_read_event *event)
{
	const struct key key = { event->traced.event_id,
				 ct_name_hash(event->traced.component,
					      event->traced.component_size) };
	uint32_t found = ct_hash_table_find(&tallies->table, tally_hash(&key), tally_is_same,
					    tallies->at, &key);
	struct ct_ipcs_tally *tally =
		found != CT_HASH_TABLE_NONE ? &tallies->at[found] : tally_add(tallies, event, &key);

	if (tallies->events++ == 0)
		tallies->first_ns = event->traced.time_ns;
	tallies->last_ns = event->traced.time_ns;
	if (tally == NULL)
		return;
	if (tally->count++ != 0)
		tally_note_interval(tally, event->traced.time_ns);
	tally->last_ns = event->traced.time_ns;
}

static int tally_compare(const void *a, const void *b)
{
	const struct ct_ipcs_tally *left = a;
	const struct ct_ipcs_tally *right = b;

	if (left->event_id != right->event_id)
		return left->event_id < right->event_id ? -1 : 1;
	return left->component_hash < right->component_hash
		       ? -1
		       : left->component_hash > right->component_hash;
}

void ct_ipcs_tallies_sort(struct ct_ipcs_tallies *tallies)
{
	if (tallies->count != 0)
		qsort(tallies->at, tallies->count, sizeof *tallies->at, tally_compare);
}

/* ---- the tables of CTRACE TALLY: counts and mean intervals, and how intervals are spread ---- */

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
