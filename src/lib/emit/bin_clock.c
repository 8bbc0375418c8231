/*
 * bin_clock.c - the clock of a BINFILE trace: what its ticks are, and its times when somebody sets
 * the wall clock.
 *
 * Called by emit_bin.c, bin_stream.c and bin_create.c on the thread that consumes, and by the
 * readers. Viewers refuse a stream in which time goes back.  So times run on at their usual speed
 * when the clock is set back: they are ahead of it by that much, until it is set forward again.
 * Each step is a comment in the metadata, with by how much times are ahead of the clock from there
 * on:
 *
 *     by -3600000000000 at 1789999999000000000 ahead 3600000000000 base 0
 *
 * "at" is the first event after the step, as its stream has it.  "base" is how far the clock had
 * been set back before the trace began, which is not in its times.  A new generation goes on with
 * the times of the former one.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/binfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_SIZE 128u
#define NS_A_SECOND 1000000000u

/* ---- ticks ---- */

/* Gives the wall time by then. */
static uint64_t take_clock(struct ct_trace_info *info, const struct ctrace_emitter_context *context)
{
	struct ctrace_counter counter;

	context->counter(context, &counter);
	/* The frequency is not known yet.  This value is right at the moment, and is rewritten
	 * soon. */
	ct_trace_clock_set(info, counter.frequency != 0 ? counter.frequency : NS_A_SECOND,
			   counter.ticks, counter.wall_ns);
	memcpy(info->clock, counter.clock, sizeof info->clock);
	return counter.wall_ns;
}

void ct_bin_info_clock(struct ct_trace_info *info, const struct ctrace_emitter_context *context)
{
	info->frequency = info->offset_s = info->offset = 0;
	if (context->counter != NULL)
		(void)take_clock(info, context);
}

void ct_bin_directory_find_clock(struct ct_bin_directory *directory, const struct ct_buf *text)
{
	static const char beginning[] = "\nclock {\n\tname = trace;\n";
	const char *found = memmem(text->data, text->size, beginning, sizeof beginning - 1);
	size_t at = found != NULL ? (size_t)(found - text->data) + sizeof beginning - 1 : 0;

	directory->clock_at = found != NULL && text->size - at > CT_TRACE_CLOCK &&
					      text->data[at + CT_TRACE_CLOCK - 1] == '\n'
				      ? at
				      : 0;
}

void ct_bin_directory_set_clock(struct ct_bin_directory *directory,
				const struct ctrace_emitter_context *context, uint64_t now_ns)
{
	uint64_t since_ns = directory->info.start_ns;
	char lines[CT_TRACE_CLOCK + 1];
	int error = errno;

	/* The ticks of rewritten events follow the clock's first description. */
	if (directory->converts || directory->clock_at == 0 || directory->info.frequency == 0 ||
	    context->counter == NULL || now_ns < since_ns ||
	    now_ns - since_ns < 2 * directory->clock_span_ns)
		return;
	now_ns = take_clock(&directory->info, context);
	directory->clock_span_ns = now_ns > since_ns ? now_ns - since_ns : 0;
	ct_trace_clock_print(lines, &directory->info);
	if (ct_os_is_file(directory->metadata_fd, &directory->metadata_id))
		(void)!ct_os_write_at(directory->metadata_fd, lines, CT_TRACE_CLOCK,
				      directory->clock_at);
	errno = error;
}
/* ---- steps ---- */

void ct_bin_clock_mark_add(struct ct_buf *out, const struct ct_bin_clock_mark *mark)
{
	ct_buf_add_format(out,
			  CT_BIN_MARK_CLOCK "by %" PRId64 " at %" PRIu64 " ahead %" PRIu64
					    " base %" PRIu64 "\n" CT_BIN_MARK_END,
			  mark->by_ns, mark->at_ns, mark->ahead_ns, mark->base_ns);
}

/* The first event, or one after a step. */
static void clock_change(struct ct_bin_clock *clock, const struct ctrace_event *event,
			 struct ct_buf *metadata)
{
	const struct ctrace_clock *now = event->clock;
	bool is_first = !clock->has_begun;
	struct ct_bin_clock_mark mark;

	/* Its thread was interrupted between reading the ticks and committing: the event is from
	 * before a step that is noted already. */
	if (clock->steps != CT_BIN_CLOCK_UNKNOWN && now->steps < clock->steps)
		return;
	if (is_first)
		clock->base_ns = now->set_back_ns;
	clock->has_begun = true;
	mark = (struct ct_bin_clock_mark){ .at_ns = event->time_ns + now->set_back_ns -
						    clock->base_ns,
					   .ahead_ns = now->set_back_ns > clock->base_ns
							       ? now->set_back_ns - clock->base_ns
							       : 0,
					   .base_ns = clock->base_ns };
	/* In a directory that was opened again, the steps made meanwhile are unknown, but not their
	 * sum. */
	if (clock->steps == CT_BIN_CLOCK_UNKNOWN)
		mark.by_ns = (int64_t)(clock->ahead_ns - mark.ahead_ns);
	else
		mark.by_ns = (int64_t)((uint64_t)now->total_ns - (uint64_t)clock->total_ns);
	clock->steps = now->steps;
	clock->total_ns = now->total_ns;
	clock->ahead_ns = mark.ahead_ns;
	if (mark.by_ns != 0 || (is_first && mark.base_ns != 0))
		ct_bin_clock_mark_add(metadata, &mark);
}

uint64_t ct_bin_clock_time(struct ct_bin_clock *clock, const struct ctrace_event *event,
			   struct ct_buf *metadata)
{
	if (event->clock == NULL)
		return event->time_ns;
	if (event->clock->steps != clock->steps)
		clock_change(clock, event, metadata);
	return event->time_ns + event->clock->set_back_ns - clock->base_ns;
}

void ct_bin_clock_inherit(struct ct_bin_clock *clock, const struct ct_bin_clock *from,
			  struct ct_buf *metadata)
{
	struct ct_bin_clock_mark mark = { .ahead_ns = from->ahead_ns, .base_ns = from->base_ns };

	*clock = *from;
	if (mark.ahead_ns != 0 || mark.base_ns != 0)
		ct_bin_clock_mark_add(metadata, &mark);
}

/* -----------------------------------------------------------------------------------------------
 * Reading
 */

bool ct_bin_clock_mark_next(const char *text, size_t size, size_t *at,
			    struct ct_bin_clock_mark *out)
{
	const size_t head_size = sizeof CT_BIN_MARK_CLOCK - 1;
	char line[LINE_MAX_SIZE];

	while (*at < size) {
		const char *mark = memmem(text + *at, size - *at, CT_BIN_MARK_CLOCK, head_size),
			   *from, *end;
		size_t left;
		int used = 0;

		if (mark == NULL)
			break;
		from = mark + head_size;
		*at = (size_t)(from - text);
		left = size - *at;
		end = memchr(from, '\n', left);
		if (end == NULL || (size_t)(end - from) >= sizeof line ||
		    left - (size_t)(end - from) < sizeof CT_BIN_MARK_END ||
		    memcmp(end + 1, CT_BIN_MARK_END, sizeof CT_BIN_MARK_END - 1) != 0)
			continue;
		memcpy(line, from, (size_t)(end - from));
		line[end - from] = '\0';
		if (sscanf(line,
			   "by %" SCNd64 " at %" SCNu64 " ahead %" SCNu64 " base %" SCNu64 "%n",
			   &out->by_ns, &out->at_ns, &out->ahead_ns, &out->base_ns, &used) == 4 &&
		    line[used] == '\0')
			return true;
	}
	return false;
}

void ct_bin_clock_take(struct ct_bin_clock *clock, const char *text, size_t size)
{
	struct ct_bin_clock_mark mark;

	clock->has_begun = true;
	for (size_t at = 0; ct_bin_clock_mark_next(text, size, &at, &mark);) {
		clock->base_ns = mark.base_ns;
		clock->ahead_ns = mark.ahead_ns;
	}
}
