/*
 * repair_clock.c - computes the clock of a trace from its packet heads.
 *
 * Called by repair.c, on one thread, with heads that may be hostile.  Each head has its beginning
 * and its end in ticks and in nanoseconds.  Heads whose times fit one steady clock make a chain.
 * The longest chain gives the clock, so a damaged head or a step of the wall clock does not count.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/repair/repair.h"

#define NS_A_SECOND 1000000000u
#define NS_SHORT 10000u /* a shorter span gives too rough a frequency */
#define HEADS_SURE 8u   /* a chain of so many is no accident */
/* A counter runs between 1 MHz and 100 GHz. */
#define MOST_TICKS_A_NS 100u
#define MOST_NS_A_TICK 1000u

uint64_t ct_repair_span_ns(uint64_t frequency, uint64_t ticks)
{
	unsigned __int128 ns = (unsigned __int128)ticks * NS_A_SECOND / frequency;

	return ns <= INT64_MAX ? (uint64_t)ns : INT64_MAX;
}

bool ct_repair_is_span(uint64_t frequency, uint64_t ticks, uint64_t ns)
{
	uint64_t wanted = ct_repair_span_ns(frequency, ticks),
		 off = wanted > ns ? wanted - ns : ns - wanted;

	/* The process and the metadata may know the frequency with different precision. */
	return off <= wanted / 100 + NS_A_SECOND / 1000;
}

/* Returns 0 when the chain is too short. */
static uint64_t chain_frequency(const struct ct_repair_chain *chain, uint64_t least_ns)
{
	uint64_t ticks = chain->end_ticks - chain->begin_ticks,
		 ns = chain->end_ns - chain->begin_ns;
	unsigned __int128 frequency =
		ns > 0 && ns >= least_ns ? ((unsigned __int128)ticks * NS_A_SECOND + ns / 2) / ns
					 : 0;

	return frequency <= INT64_MAX ? (uint64_t)frequency : 0;
}

static bool chain_is_likely(const struct ct_repair_chain *chain)
{
	unsigned __int128 ticks = chain->end_ticks - chain->begin_ticks,
			  ns = chain->end_ns - chain->begin_ns;

	return ticks <= (ns + NS_SHORT) * MOST_TICKS_A_NS &&
	       ns <= (ticks + NS_SHORT) * MOST_NS_A_TICK;
}

/* Extends the chain by the head.  Returns false when the head does not fit. */
static bool chain_extend(const struct ct_repair_chain *chain, const struct ct_packet_head *head,
			 struct ct_repair_chain *out)
{
	uint64_t frequency = chain_frequency(chain, NS_SHORT);

	if (chain->heads == 0 || head->begin_ticks < chain->end_ticks ||
	    head->begin_ns < chain->end_ns)
		return false;
	if (frequency != 0 && !ct_repair_is_span(frequency, head->end_ticks - chain->end_ticks,
						 head->end_ns - chain->end_ns))
		return false;
	*out = *chain;
	out->heads++;
	out->end_ticks = head->end_ticks;
	out->end_ns = head->end_ns;
	return chain_is_likely(out);
}

static bool chain_is_better(const struct ct_repair_chain *a, const struct ct_repair_chain *b)
{
	return a->heads > b->heads ||
	       (a->heads == b->heads && a->end_ns - a->begin_ns > b->end_ns - b->begin_ns);
}

void ct_repair_clock_add(struct ct_repair_clock *clock, const struct ct_packet_head *head)
{
	struct ct_repair_chain chain;

	if (!chain_extend(&clock->last, head, &chain))
		chain = (struct ct_repair_chain){ 1, head->begin_ticks, head->end_ticks,
						  head->begin_ns, head->end_ns };
	if (!chain_is_likely(&chain))
		return;
	clock->last = chain;
	if (chain_is_better(&chain, &clock->best))
		clock->best = chain;
}

bool ct_repair_clock_agrees(const struct ct_repair_clock *clock, const struct ct_trace_info *info,
			    bool is_own)
{
	const struct ct_repair_chain *best = &clock->best;
	uint64_t frequency = info->frequency != 0 ? info->frequency : NS_A_SECOND, begin, begin_ns;

	if (best->heads < (is_own ? HEADS_SURE : 1))
		return true;
	if (!ct_repair_is_span(frequency, best->end_ticks - best->begin_ticks,
			       best->end_ns - best->begin_ns))
		return false;
	begin = ct_trace_ticks(info, best->begin_ns);
	begin_ns =
		begin > best->begin_ticks ? begin - best->begin_ticks : best->begin_ticks - begin;
	/* The wall clock of the trace's own process may have been set since. */
	return is_own || ct_repair_is_span(frequency, begin_ns, 0);
}

uint64_t ct_repair_clock_set(const struct ct_repair_clock *clock, struct ct_trace_info *info)
{
	const struct ct_repair_chain *best = &clock->best;
	uint64_t frequency = chain_frequency(best, 1);

	/* With an unknown frequency, only the time of the first head is right. */
	ct_trace_clock_set(info, frequency != 0 ? frequency : NS_A_SECOND, best->begin_ticks,
			   best->begin_ns);
	return frequency;
}
