/*
 * procedure.c - the procedure file of an external writer.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/writer.h"

bool ct_writer_name_is_valid(const char *name, size_t size)
{
	return size <= 7 && ct_trace_name_is_valid(name, size);
}
