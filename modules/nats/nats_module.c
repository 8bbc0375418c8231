/*
 * nats_module.c - what nats.so exports.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "nats_parts.h"

__attribute__((visibility("default"))) const struct ct_nats_module ct_nats_module = {
	.size = sizeof(struct ct_nats_module),
	.forward = ct_nats_forward,
	.fetch = ct_nats_fetch,
	.respond = ct_nats_respond,
	.ask = ct_nats_ask,
	.servers = ct_nats_servers,
	.host_word = ct_nats_token,
};
