/*
 * emit_stderr.c - STDERR (what IDEDBG is elsewhere): one event is one line of the traced program's
 * standard error.
 *
 * Runs on the consumer thread's thread of the traced process itself, where SIGPIPE is blocked.
 * Descriptor 2 belongs to the program: its flags are left alone, so it may block.  Never more than
 * PIPE_BUF bytes are written at a time, and only after poll() saw room for them, so that a reader
 * who stopped reading holds the consumer thread up for WAIT_MS, not for ever; lines of others are
 * not split either.
 *
 * A program that begins without a descriptor 2 gives this number to the next file that it opens, so
 * nothing is written to it then.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#define WAIT_MS 100
#define KEPT_MEMORY ((size_t)1 << 20) /* of lines, between events */
/* poll() reported room and write() found none: another writer was quicker */
#define TRIES 16u

struct stderr_output {
	struct ct_line_output out;
	struct ct_clock_seen clock;
	bool is_torn; /* what was written last ends within a line */
};

static bool was_closed; /* when the library was loaded */

__attribute__((constructor)) static void stderr_look(void)
{
	int kept = errno;

	was_closed = fcntl(STDERR_FILENO, F_GETFD) < 0 && errno == EBADF;
	errno = kept;
}

static enum ctrace_status stderr_open(const struct ctrace_emitter_context *context, void **out_self)
{
	enum ctrace_status status =
		ct_line_output_open(sizeof(struct stderr_output), context, out_self);

	if (status == CTRACE_OK)
		((struct stderr_output *)*out_self)->clock.steps = CT_CLOCK_UNSEEN;
	return status;
}

/* Writes at most PIPE_BUF bytes. */
static enum ctrace_status write_some(const char *data, size_t size, size_t *out_written)
{
	for (unsigned i = 0; i < TRIES; i++) {
		struct pollfd poll_2 = { .fd = STDERR_FILENO, .events = POLLOUT };
		enum ctrace_status status;

		if (poll(&poll_2, 1, WAIT_MS) == 0)
			break;
		status = ct_os_append(STDERR_FILENO, data, size < PIPE_BUF ? size : PIPE_BUF,
				      out_written);
		if (status == CTRACE_OK || errno != EAGAIN)
			return status;
	}
	errno = EAGAIN;
	return CTRACE_TIMED_OUT;
}

static enum ctrace_status put_lines(struct stderr_output *output)
{
	const char *at = output->out.lines.data;
	size_t left = output->out.lines.size;

	if (output->out.lines.failed)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (was_closed) {
		errno = EBADF;
		return CTRACE_OS_ERROR;
	}
	while (left > 0) {
		size_t written = 0;
		enum ctrace_status status = write_some(at, left, &written);

		if (status != CTRACE_OK)
			return status;
		at += written;
		left -= written;
		output->is_torn = left > 0;
	}
	ct_buf_trim(&output->out.lines, KEPT_MEMORY);
	return CTRACE_OK;
}

/* Formats the events from `first` on that fit together into PIPE_BUF bytes, at least one; returns
 * the index after them. */
static uint32_t add_lines(struct stderr_output *output, const struct ctrace_batch *batch,
			  uint32_t first)
{
	uint32_t i;

	ct_buf_trim(&output->out.lines, KEPT_MEMORY);
	if (output->is_torn)
		ct_buf_add_char(&output->out.lines, '\n');
	if (output->out.losses_due)
		ct_line_add_losses(&output->out.lines, output->out.lost, output->out.context->pid);
	for (i = first; i < batch->event_count; i++) {
		struct ct_clock_seen clock = output->clock;
		size_t before = output->out.lines.size;

		if (batch->events[i].level < output->out.settings.level)
			continue;
		ct_line_add_clock(&output->out.lines, &output->clock, &batch->events[i]);
		ct_line_add(&output->out.settings.line, &output->out.lines, &batch->events[i]);
		if (output->out.lines.size <= PIPE_BUF || before == 0)
			continue;
		output->out.lines.size = before;
		output->clock = clock;
		break;
	}
	return i;
}

static enum ctrace_status stderr_write(void *self, const struct ctrace_batch *batch)
{
	struct stderr_output *output = self;
	uint32_t done = ct_progress_resume(&output->out.progress, batch);

	while (done < batch->event_count) {
		struct ct_clock_seen clock = output->clock;
		uint32_t next = add_lines(output, batch, done);
		enum ctrace_status status = put_lines(output);

		if (status != CTRACE_OK) {
			output->clock = clock;
			ct_progress_note(&output->out.progress, batch, done);
			if (status != CTRACE_NOT_ENOUGH_MEMORY)
				ct_emitter_failed_at(
					output->out.context,
					was_closed ? "standard error: closed when the program began"
						   : "standard error");
			return status == CTRACE_NOT_ENOUGH_MEMORY ? status : CTRACE_OUTPUT_ERROR;
		}
		output->out.losses_due = false;
		done = next;
	}
	ct_progress_note(&output->out.progress, batch, done);
	return CTRACE_OK;
}

static const struct ctrace_property properties[] = {
	CT_LINE_PROPERTIES("$(TIME) $(COMPONENT) $(EVENT) $(LEVEL) $(DATA)", "3"),
	{ 0 },
};

const struct ctrace_emitter ct_emit_stderr = {
	.size = sizeof(struct ctrace_emitter),
	.name = "STDERR",
	.flags = CTRACE_EMITTER_LIVE_ONLY,
	.properties = properties,
	.open = stderr_open,
	.write = stderr_write,
	.lost = ct_line_output_lost,
	.close = ct_line_output_close,
};
