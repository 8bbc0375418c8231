/*
 * settings.c - the settings of the whole process before the configuration changes them.
 *
 * Called once when a process attaches, and by tools that check a configuration.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/registry/registry.h"

#include <string.h>

#define DEFAULT_RING ((uint64_t)1 << 20)
#define DEFAULT_BLOCK_TIMEOUT_NS ((uint64_t)1000 * 1000 * 1000)

void ct_settings_init(struct ct_settings *settings)
{
	/* Overflow 0 is CT_OVERFLOW_AUTO.  The entries of the triggers stay as they are, for only
	 * those up to the count are read: a process without triggers touches no page for them. */
	memset(settings, 0, offsetof(struct ct_settings, triggers.entry));
	settings->buffer = DEFAULT_RING;
	settings->flight_trigger = CT_TRIGGER_NONE;
	settings->block_timeout_ns = DEFAULT_BLOCK_TIMEOUT_NS;
	settings->flight_buffer = DEFAULT_RING;
	settings->keep_ns = CT_SESSION_KEEP_NS;
	settings->attach = true;
}
