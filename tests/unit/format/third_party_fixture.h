/*
 * third_party_fixture.h - what the tests of third-party traces share: metadata as a text in the
 * test, and what is said of it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_THIRD_PARTY_FIXTURE_H
#define CT_THIRD_PARTY_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "read/third_party.h"
#include "format/tsdl_parse.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNUSED __attribute__((unused))

/* "LINE:COLUMN message" of each diagnostic, one a line. */
static char said[2048];

static UNUSED void note_diagnostic(const struct ct_diagnostic *diagnostic, struct ct_span piece,
				   void *user)
{
	size_t size = strlen(said);

	(void)piece;
	(void)user;
	(void)snprintf(said + size, sizeof said - size, "%u:%u %s\n", diagnostic->line,
		       diagnostic->column, diagnostic->message);
}

/* NULL: it is not understood. */
static UNUSED struct ct_tsdl *parse(const char *text)
{
	struct ct_tsdl *tsdl = NULL;
	size_t size = strlen(text);
	char *exact = malloc(size + 1);

	said[0] = '\0';
	assert_non_null(exact);
	memcpy(exact, text, size);
	if (ct_tsdl_parse(exact, size, note_diagnostic, NULL, &tsdl) != CTRACE_OK)
		assert_null(tsdl);
	free(exact);
	return tsdl;
}

static UNUSED struct ct_tsdl *parse_well(const char *text)
{
	struct ct_tsdl *tsdl = parse(text);

	assert_string_equal(said, "");
	assert_non_null(tsdl);
	return tsdl;
}

/* A parser at the beginning of the text, for the parts that stand alone. */
static UNUSED void begin_parser(struct ct_tsdl_parser *parser, const char *text)
{
	*parser = (struct ct_tsdl_parser){ .tsdl = calloc(1, sizeof *parser->tsdl) };
	assert_non_null(parser->tsdl);
	ct_tsdl_scan_begin(&parser->scan, text, strlen(text));
}

static UNUSED void end_parser(struct ct_tsdl_parser *parser)
{
	ct_hash_table_fini(&parser->table);
	free(parser->names);
	free(parser->fields.data);
	free(parser->labels.data);
	free(parser->path.data);
	free(parser->streams.data);
	free(parser->events.data);
	ct_tsdl_destroy(parser->tsdl);
}

#endif
