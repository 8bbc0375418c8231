/*
 * module.c - what nats.so exports.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "parts.h"

__attribute__((visibility("default"))) const struct ct_nats_module ct_nats_module = {
	.size = sizeof(struct ct_nats_module),
	.forward = ct_nats_forward,
	.fetch = ct_nats_fetch,
};
