/*
 * session/trace_name.h - the names and numbers of component trace, as members, commands, macros and
 * requests write them.
 *
 * Pure; any thread.  A reason is a CTRACE_RSN_* of ctrace/component.h, 0 for a valid text.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_SESSION_TRACE_NAME_H
#define CT_SESSION_TRACE_NAME_H

#include "session/command.h"

/* NAME and the like: 1 to 8 of A-Z 0-9 @ # $, no digit first */
bool ct_trace_name_is_valid(const char *name, size_t size);

/* SUB's path: 1A, or 1C, 21, 22, 24 for an ASID or job name in it.  diagnostic (may be NULL): line
 * 0, the column in the text. */
uint32_t ct_sub_parse(const char *text, size_t size, struct ct_sub_path *out,
		      struct ct_diagnostic *diagnostic) CT_MUST_USE;

/* 1C, 21, 22 */
uint32_t ct_asid_parse(const char *text, size_t size, uint16_t *out_asid) CT_MUST_USE;
/* Upper case, padded with NULs.  24; 1B for an empty one or a character that no job name has
 * (blank, comma, parenthesis, quote). */
uint32_t ct_jobname_parse(const char *text, size_t size,
			  char out_jobname[CTRACE_MAX_NAME + 1]) CT_MUST_USE;
/* nnnnK, nnnnM: 26, 27, 28 */
uint32_t ct_bufsize_parse(const char *text, size_t size, uint64_t *out_bytes) CT_MUST_USE;
/* 2D */
uint32_t ct_writer_parse(const char *text, size_t size,
			 char out_writer[CTRACE_MAX_NAME + 1]) CT_MUST_USE;
/* Describes why the four above, or SUB, refused a text with this reason. line 0, column 1. */
void ct_trace_diagnose(uint32_t reason, struct ct_span text, struct ct_diagnostic *out);

#endif
