/*
 * shop_points.h - trace points of every kind of field that LTTng knows: numbers of all sizes and
 * both byte orders, text, floating point, an enumeration with a range, arrays and sequences.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
/* clang-format off */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER shop
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./shop_points.h"
#if !defined(SHOP_POINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define SHOP_POINTS_H
#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_ENUM(shop, state,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("OPEN", 1)
		lttng_ust_field_enum_range("BUSY", 2, 9)
		lttng_ust_field_enum_value("CLOSED", -1)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(shop, order,
	LTTNG_UST_TP_ARGS(int, number, const char *, customer, double, price, int, state),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, number, number)
		lttng_ust_field_integer_hex(unsigned long, address, (unsigned long)number * 0x1111)
		lttng_ust_field_integer(int8_t, tiny, (int8_t)-number)
		lttng_ust_field_integer(uint16_t, half, (uint16_t)(number * 1000))
		lttng_ust_field_integer_network(uint32_t, wire, (uint32_t)number)
		lttng_ust_field_string(customer, customer)
		lttng_ust_field_float(double, price, price)
		lttng_ust_field_float(float, rate, (float)(price / 3))
		lttng_ust_field_enum(shop, state, int, state, state)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(shop, order, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

LTTNG_UST_TRACEPOINT_EVENT(shop, lists,
	LTTNG_UST_TP_ARGS(int *, triple, const char *, bytes, size_t, count),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_array(int, triple, triple, 3)
		lttng_ust_field_array_text(char, code, bytes, 4)
		lttng_ust_field_sequence(uint8_t, octets, bytes, size_t, count)
		lttng_ust_field_sequence_text(char, words, bytes, size_t, count)
		lttng_ust_field_sequence_hex(uint16_t, pairs, (const uint16_t *)(const void *)triple, uint8_t, 3)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(shop, lists, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE)

LTTNG_UST_TRACEPOINT_EVENT(shop, nothing, LTTNG_UST_TP_ARGS(void), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_LOGLEVEL(shop, nothing, LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT)
#endif
#include <lttng/tracepoint-event.h>
