/*
 * dialect.c - names of COBOL's dialects.
 *
 * Called by the readers of a copybook's options.  Pure; any thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/copybook/copybook.h"

bool ct_dialect_parse(const char *text, size_t size, enum ct_dialect *out_dialect)
{
	static const char *const names[] = { "default", "mf", "ibm", "gnucobol" };

	for (size_t i = 0; i < CT_COUNT(names); i++)
		if (ct_name_is(text, size, names[i])) {
			*out_dialect = i == 3 ? CT_DIALECT_DEFAULT : (enum ct_dialect)i;
			return true;
		}
	return false;
}

const char *ct_dialect_name(enum ct_dialect dialect)
{
	return dialect == CT_DIALECT_MF ? "mf" : dialect == CT_DIALECT_IBM ? "ibm" : "default";
}
