/*
 * memory.c - notes that an allocation of this process has failed.
 *
 * The ctrace tool notes every failed allocation (src/cli/allocate.c).  Each verb checks it before
 * it gives a file its name or ends with success.  A traced process does not: the library counts its
 * losses instead.  Any thread may call.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

#include <stdatomic.h>

static atomic_bool has_lacked; /* only ever set; publishes nothing else */
static void (*on_first)(void); /* set before a second thread exists */

void ct_memory_on_lack(void (*call)(void))
{
	on_first = call;
}

void ct_memory_note_lack(void)
{
	if (!atomic_exchange_explicit(&has_lacked, true, memory_order_relaxed) && on_first != NULL)
		on_first();
}

bool ct_memory_has_lacked(void)
{
	return atomic_load_explicit(&has_lacked, memory_order_relaxed);
}
