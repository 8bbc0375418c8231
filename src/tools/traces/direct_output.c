/*
 * direct_output.c - standard output for verbs that print very much.
 *
 * Part of ctrace show.  Text is gathered in one buffer and written from it with write(2).  Earlier
 * output of stdio is flushed first.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/direct_output.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/pager.h"

void direct_output_init(struct direct_output *output, const char *verb)
{
	*output = (struct direct_output){ .verb = verb };
	(void)fflush(stdout);
	/* One growth instead of a dozen; without memory now there may be some later. */
	(void)ct_buf_reserve(&output->text, 2 * DIRECT_OUTPUT_SIZE);
	ct_buf_clear(&output->text);
}

void direct_output_fini(struct direct_output *output)
{
	ct_buf_fini(&output->text);
}

/* Another process may have made the descriptor non-blocking. */
static bool output_wait(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, -1) >= 0 || errno == EINTR;
}

/* Before the first bytes are written. */
static void output_begin(struct direct_output *output, bool is_end)
{
	if (output->may_page && (!is_end || pager_is_worth(output->text.data, output->text.size)))
		pager_start(output->verb);
	output->may_page = false;
}

static void output_flush(struct direct_output *output, bool is_end)
{
	size_t done = 0;

	output_begin(output, is_end);

	if (output->text.failed && output->write_errno == 0)
		output->write_errno = ENOMEM;
	while (done < output->text.size && output->write_errno == 0) {
		ssize_t written =
			write(STDOUT_FILENO, output->text.data + done, output->text.size - done);

		if (written < 0 && errno != EINTR && (errno != EAGAIN || !output_wait()))
			output->write_errno = errno;
		done += written > 0 ? (size_t)written : 0;
	}
	output->written += done;
	ct_buf_clear(&output->text);
}

void direct_output_flush(struct direct_output *output)
{
	output_flush(output, false);
}

bool direct_output_end(struct direct_output *output)
{
	output_flush(output, true);
	if (output->write_errno == 0 || (output->write_errno == EPIPE && pager_is_started()))
		return true;
	fprintf(stderr, "%s: cannot write the output: %s\n", output->verb,
		strerror(output->write_errno));
	return false;
}
