/*
 * fuzz_metadata.c - the metadata of a BINFILE trace, any bytes: parsed, and what was understood survives being printed and parsed again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void print_and_parse_again(const struct ct_schema *schema, const struct ct_trace_info *info)
{
	struct ct_schema *again;
	struct ct_trace_info info_again;
	struct ct_buf text = { 0 };
	size_t at;

	if (ct_schema_create(&again) != CTRACE_OK)
		return;
	ct_schema_print_trace(&text, info);
	for (uint32_t i = 1; i < ct_schema_count(schema); i++)
		ct_schema_print_class(&text, ct_schema_at(schema, i));
	if (!text.failed) {
		require(ct_schema_parse(again, text.data, text.size, &info_again, &at) == CTRACE_OK);
		require(ct_schema_count(again) == ct_schema_count(schema));
		require(memcmp(&info_again, info, sizeof info_again) == 0);
	}
	ct_buf_fini(&text);
	ct_schema_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ct_trace_info info;
	struct ct_schema *schema;
	size_t at = SIZE_MAX;

	memset(&info, 0, sizeof info);
	if (ct_schema_create(&schema) != CTRACE_OK)
		return 0;
	(void)!ct_schema_parse(schema, (const char *)data, size, &info, &at);
	require(at <= size);
	print_and_parse_again(schema, &info);
	ct_schema_destroy(schema);
	return 0;
}
