/*
 * read/binfile_metadata.h - parses the metadata of a BINFILE trace, which may be damaged or
 * hostile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_READ_BINFILE_METADATA_H
#define CT_READ_BINFILE_METADATA_H

#include "format/format.h"

/* Like ct_schema_parse_trace(), and fills in the texts of the trace-wide part. */
enum ctrace_status ct_binfile_info_parse(const char *text, size_t size,
					 struct ct_trace_info *out_info,
					 size_t *out_at) CT_MUST_USE;
/* Called for each piece of the text that is not understood. */
typedef void ct_binfile_damage(size_t at, size_t size, void *user);
/* Adds the classes behind the trace-wide part, which ends at `at`, unless the schema has them.
 * Only a class that is not understood is left out. */
enum ctrace_status ct_binfile_classes_parse(struct ct_schema *schema, struct ct_span text,
					    size_t at, ct_binfile_damage *damage,
					    void *user) CT_MUST_USE;

#endif
