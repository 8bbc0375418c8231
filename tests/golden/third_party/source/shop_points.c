/*
 * shop_points.c - the code of shop_points.h's trace points.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "shop_points.h"
