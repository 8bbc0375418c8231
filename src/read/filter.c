/*
 * filter.c - stand-in.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/read.h"

#include <stdlib.h>

__attribute__((weak)) enum ctrace_status ct_filter_parse(const char *text, uint64_t now_ns, struct ct_filter **out_filter, struct ct_complaint *out_complaint) { (void)text; (void)now_ns; (void)out_complaint; *out_filter = NULL; return CTRACE_OK; }
__attribute__((weak)) struct ct_filter *ct_filter_and(struct ct_filter *a, struct ct_filter *b) { return a != NULL ? a : b; }
__attribute__((weak)) void ct_filter_destroy(struct ct_filter *filter) { (void)filter; }
__attribute__((weak)) bool ct_filter_accepts(const struct ct_filter *filter, const struct ct_view *view) { (void)filter; (void)view; return true; }
__attribute__((weak)) enum ct_verdict ct_filter_class(const struct ct_filter *filter, const struct ct_view *view) { (void)filter; (void)view; return CT_VERDICT_MAYBE; }
__attribute__((weak)) void ct_filter_times(const struct ct_filter *filter, uint64_t *a, uint64_t *b) { (void)filter; *a = 0; *b = UINT64_MAX; }
__attribute__((weak)) unsigned ct_filter_uses(const struct ct_filter *filter) { (void)filter; return 0; }
