/*
 * point.c - named points in the code where a test can hold a thread.
 *
 * ct_point("name") stands between two steps where another thread or the program may act: between a
 * look at a descriptor and the write to it, for example.  A test sets a hook, which runs on the
 * thread at the point, with the locks that the thread holds.  Without a hook a point costs one
 * load.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/base.h"

ct_point_hook *ct_point_reached;

void ct_point_set(ct_point_hook *hook)
{
	__atomic_store_n(&ct_point_reached, hook, __ATOMIC_RELAXED);
}
