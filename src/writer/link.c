/*
 * link.c - a traced process's side of its external writers.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/writer.h"

enum ctrace_status ct_writer_set(const char *component, size_t size, const char *writer)
{
	(void)component;
	(void)size;
	(void)writer;
	return CTRACE_OK;
}
