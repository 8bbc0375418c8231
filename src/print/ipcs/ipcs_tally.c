/*
 * ipcs_tally.c - how often each entry was traced, and how far apart in time.
 *
 * Called by the run for every entry that TALLY counts.  Ids are the traced program's: past a bound
 * they are only counted.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs.h"

#include <stdlib.h>
#include <string.h>

void ct_ipcs_tallies_clear(struct ct_ipcs_tallies *tallies)
{
	for (uint32_t i = 0; i < tallies->count; i++)
		free(tallies->at[i].description);
	free(tallies->at);
	ct_hash_table_fini(&tallies->table);
	*tallies = (struct ct_ipcs_tallies){ 0 };
}

void ct_ipcs_tallies_fini(struct ct_ipcs_tallies *tallies)
{
	ct_ipcs_tallies_clear(tallies);
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
