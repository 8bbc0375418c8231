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
#define DEFAULT_DUMPS 10u
#define DEFAULT_DUMP_BYTES ((uint64_t)1 << 30)
#define DEFAULT_BLOCK_TIMEOUT_NS ((uint64_t)1000 * 1000 * 1000)

void ct_settings_init(struct ct_settings *settings)
{
	const size_t first = offsetof(struct ct_settings, buffer);

	/* Overflow 0 is CT_OVERFLOW_AUTO.  What is behind the end of a text, or of the list of
	 * triggers, stays as it is: most processes set none and touch no page for them. */
	settings->triggers.count = 0;
	memset((char *)settings + first, 0, offsetof(struct ct_settings, run_directory) - first);
	settings->run_directory[0] = '\0';
	settings->buffer = DEFAULT_RING;
	settings->flight_trigger = CT_TRIGGER_NONE;
	settings->block_timeout_ns = DEFAULT_BLOCK_TIMEOUT_NS;
	settings->flight_buffer = DEFAULT_RING;
	settings->keep_ns = CT_SESSION_KEEP_NS;
	settings->attach = true;
	settings->command_line = true;
	settings->dump_keep = DEFAULT_DUMPS;
	settings->dump_size = DEFAULT_DUMP_BYTES;
}
