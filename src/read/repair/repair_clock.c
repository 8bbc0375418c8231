/*
 * repair_clock.c - what the ticks of a trace are, by what its packets say of them.
 *
 * Called by repair.c, on one thread, with heads that may be hostile.  Each head says its beginning
 * and its end in ticks and in nanoseconds. Heads that go on from each other evenly make a chain:
 * the clock is that of the chain with the most heads, so that neither a damaged head nor a step of
 * the wall clock counts.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/repair/repair.h"

#define NS_A_SECOND 1000000000u
#define NS_SHORT 10000u /* a frequency from less is too rough for what comes after */
#define HEADS_SURE 8u   /* so many do not go on from each other by accident */
/* Between 1 MHz and 100 GHz, or it is no counter. */
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

	/* The process knew its clock a little better, or worse, than the metadata do. */
	return off <= wanted / 100 + NS_A_SECOND / 1000;
}

/* 0: too short to know it. */
static uint64_t frequency_of(const struct ct_repair_chain *chain, uint64_t least_ns)
{
	uint64_t ticks = chain->end_ticks - chain->begin_ticks,
		 ns = chain->end_ns - chain->begin_ns;
	unsigned __int128 frequency =
		ns > 0 && ns >= least_ns ? ((unsigned __int128)ticks * NS_A_SECOND + ns / 2) / ns
					 : 0;

	return frequency <= INT64_MAX ? (uint64_t)frequency : 0;
}

static bool is_likely(const struct ct_repair_chain *chain)
{
	unsigned __int128 ticks = chain->end_ticks - chain->begin_ticks,
			  ns = chain->end_ns - chain->begin_ns;

	return ticks <= (ns + NS_SHORT) * MOST_TICKS_A_NS &&
	       ns <= (ticks + NS_SHORT) * MOST_NS_A_TICK;
}

/* The chain with the head behind it; false: they do not make one. */
static bool extend(const struct ct_repair_chain *chain, const struct ct_packet_head *head,
		   struct ct_repair_chain *out)
{
	uint64_t frequency = frequency_of(chain, NS_SHORT);

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
	return is_likely(out);
}

static bool is_better(const struct ct_repair_chain *a, const struct ct_repair_chain *b)
{
	return a->heads > b->heads ||
	       (a->heads == b->heads && a->end_ns - a->begin_ns > b->end_ns - b->begin_ns);
}

void ct_repair_clock_add(struct ct_repair_clock *clock, const struct ct_packet_head *head)
{
	struct ct_repair_chain chain;

	if (!extend(&clock->last, head, &chain))
		chain = (struct ct_repair_chain){ 1, head->begin_ticks, head->end_ticks,
						  head->begin_ns, head->end_ns };
	if (!is_likely(&chain))
		return;
	clock->last = chain;
	if (is_better(&chain, &clock->best))
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
	/* Its wall clock may have been set since. */
	return is_own || ct_repair_is_span(frequency, begin_ns, 0);
}

uint64_t ct_repair_clock_set(const struct ct_repair_clock *clock, struct ct_trace_info *info)
{
	const struct ct_repair_chain *best = &clock->best;
	uint64_t frequency = frequency_of(best, 1);

	/* Unknown: right at one moment. */
	ct_trace_clock_set(info, frequency != 0 ? frequency : NS_A_SECOND, best->begin_ticks,
			   best->begin_ns);
	return frequency;
}
