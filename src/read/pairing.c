/*
 * pairing.c - stand-in.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/read.h"

enum ctrace_status ct_pairing_create(struct ct_pairing_state **out_state) { *out_state = NULL; return CTRACE_OK; }
void ct_pairing_destroy(struct ct_pairing_state *state) { (void)state; }
void ct_pairing_note(struct ct_pairing_state *state, struct ct_view *view) { (void)state; (void)view; }
