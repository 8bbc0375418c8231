/*
 * print_ipcs_query.c - which traces there are, as CTRACE QUERY lists them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/ipcs/ipcs.h"

#include <string.h>

#include "operator/display.h"

void ct_ipcs_print_query_title(struct ct_buf *out)
{
	ct_buf_add_text(out, " COMPONENT TRACE QUERY SUMMARY\n");
}

void ct_ipcs_print_query(struct ct_buf *out, const struct ct_ipcs_trace *trace, bool has_times,
			 bool is_local)
{
	size_t head = ct_ipcs_head_size(trace->name, trace->name_size);

	ct_buf_add_text(out, " COMP(");
	ct_ipcs_add_plain(out, trace->name, head);
	ct_buf_add_char(out, ')');
	if (head < trace->name_size) {
		ct_buf_add_text(out, "SUBNAME((");
		ct_ipcs_add_plain(out, trace->name + head + 1, trace->name_size - head - 1);
		ct_buf_add_text(out, "))");
	}
	ct_buf_add_char(out, '\n');
	if (!has_times || trace->count == 0)
		return;
	ct_buf_add_text(out, " START = ");
	ct_ipcs_print_time(out, trace->first_ns, is_local);
	ct_buf_add_text(out, "\n STOP  = ");
	ct_ipcs_print_time(out, trace->last_ns, is_local);
	ct_buf_add_char(out, '\n');
}

static void add_options(struct ct_buf *out, const char *options)
{
	ct_buf_add_text(out, " OPTIONS: ");
	ct_ipcs_add_plain(out, options[0] != '\0' ? options : "*NONE*",
			  options[0] != '\0' ? strlen(options) : 6);
	ct_buf_add_char(out, '\n');
}

void ct_ipcs_print_definition(struct ct_buf *out, const struct ct_ipcs_definition *definition,
			      bool is_one_of_several)
{
	if (is_one_of_several) {
		ct_buf_add_format(out, " ASID=%04X JOBNAME=", definition->asid);
		ct_ipcs_add_plain(out, definition->jobname, strlen(definition->jobname));
		ct_buf_add_char(out, '\n');
	}
	ct_buf_add_text(out, " Buffer size: ");
	if (definition->buffer_bytes != 0)
		ct_display_add_size(out, definition->buffer_bytes);
	else
		ct_buf_add_text(out, "*NONE*");
	ct_buf_add_char(out, '\n');
	add_options(out, definition->options);
	add_options(out, definition->minops);
}
