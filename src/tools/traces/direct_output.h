/*
 * tools/traces/direct_output.h - standard output for verbs that print very much: large pieces, and
 * no copy between.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_TRACES_DIRECT_OUTPUT_H
#define CT_TOOLS_TRACES_DIRECT_OUTPUT_H

#include "base/base.h"

struct direct_output {
	struct ct_buf text; /* add to it, then call direct_output_step() */
	int write_errno;    /* why it cannot be written: then nothing more is */
	uint64_t written;
	const char *verb; /* for messages, as "ctrace show" */
	bool may_page;    /* what is more than a screen goes through a pager; the verb's to set */
};
void direct_output_init(struct direct_output *output, const char *verb);
void direct_output_fini(struct direct_output *output);
void direct_output_flush(struct direct_output *output); /* what is there is written */
#define DIRECT_OUTPUT_SIZE ((size_t)256 << 10)
static inline void direct_output_step(struct direct_output *output)
{
	if (output->text.size >= DIRECT_OUTPUT_SIZE || output->text.failed)
		direct_output_flush(output);
}
/* Flushes; false when something could not be written, reported about. */
bool direct_output_end(struct direct_output *output);

#endif
