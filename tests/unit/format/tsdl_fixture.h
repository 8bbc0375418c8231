/*
 * tsdl_fixture.h - what the tests of types in metadata share: the fields of an event, and what is
 * reported about.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TSDL_FIXTURE_H
#define CT_TSDL_FIXTURE_H

#include "third_party_fixture.h"

#define BASICS \
	"typealias integer { size = 8; } := u8;\n" \
	"typealias integer { size = 32; signed = true; byte_order = be; base = hex; } := unsigned long int;\n"

static UNUSED struct ct_tsdl *tsdl;

/* The fields of the only event, of which this is the text. */
static UNUSED const struct ct_tsdl_type *fields_of(const char *text)
{
	char whole[2048];

	(void)snprintf(whole, sizeof whole, BASICS "event { fields := struct { %s }; };", text);
	ct_tsdl_destroy(tsdl);
	tsdl = parse_well(whole);
	assert_int_equal(tsdl->event_count, 1);
	return tsdl->events[0].fields;
}

static UNUSED void refuses(const char *text, const char *diagnostic)
{
	char whole[4096];

	(void)snprintf(whole, sizeof whole, BASICS "%s", text);
	ct_tsdl_destroy(tsdl);
	tsdl = parse(whole);
	assert_string_equal(said, diagnostic);
}

static UNUSED int teardown(void **state)
{
	(void)state;
	ct_tsdl_destroy(tsdl);
	tsdl = NULL;
	return 0;
}

#endif
