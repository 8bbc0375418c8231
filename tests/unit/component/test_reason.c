/*
 * test_reason.c - every code of component trace has a row that people can use, and an outcome says
 * which it is.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/component/component.h"

#define LONGEST_MEANING 100u
#define LONGEST_ADVICE 500u

/* ---- the table against the header ---- */

struct constant {
	char name[64];
	uint32_t reason;
};
static struct constant constants[100];
static size_t constant_count;

/* What the public header calls CTRACE_RSN_*. */
static int read_constants(void **state)
{
	const char *source = getenv("CTRACE_SOURCE");
	char path[4096], line[512];
	FILE *header;

	(void)state;
	(void)snprintf(path, sizeof path, "%s/include/ctrace/component.h",
		       source != NULL ? source : ".");
	header = fopen(path, "r");
	if (header == NULL)
		return 1;
	while (fgets(line, sizeof line, header) != NULL) {
		struct constant *constant = &constants[constant_count];

		if (constant_count < CT_COUNT(constants) &&
		    sscanf(line, "#define CTRACE_RSN_%63s 0x%" SCNx32 "u", constant->name,
			   &constant->reason) == 2)
			constant_count++;
	}
	return fclose(header);
}

static const struct ct_reason_row *find_row(const struct constant *constant)
{
	const struct ct_reason_row *row;

	for (size_t i = 0; (row = ct_reason_at(i)) != NULL; i++)
		if (strcmp(row->name, constant->name) == 0 && row->reason == constant->reason)
			return row;
	return NULL;
}

static const struct constant *find_constant(const struct ct_reason_row *row)
{
	for (size_t i = 0; i < constant_count; i++)
		if (strcmp(row->name, constants[i].name) == 0 && row->reason == constants[i].reason)
			return &constants[i];
	return NULL;
}

static void every_constant_has_a_row(void **state)
{
	(void)state;
	assert_true(constant_count > 50);
	for (size_t i = 0; i < constant_count; i++)
		if (find_row(&constants[i]) == NULL)
			fail_msg("CTRACE_RSN_%s has none", constants[i].name);
}

static void every_row_has_a_constant(void **state)
{
	const struct ct_reason_row *row;

	(void)state;
	for (size_t i = 0; (row = ct_reason_at(i)) != NULL; i++)
		if ((row->rc == CTRACE_RC_SYSTEM || row->rc == CTRACE_RC_REFUSED) &&
		    find_constant(row) == NULL)
			fail_msg("%s is none", row->name);
}

static void the_codes_are_those_that_are_documented(void **state)
{
	static const uint32_t abends[] = { 0x101, 0x102, 0x301, 0x302, 0x401, 0x501 };

	(void)state;
	assert_non_null(ct_reason_find(CTRACE_RC_EXISTS, 0, 0));
	for (uint32_t reason = 1; reason <= 0xFF; reason++) {
		bool is_documented =
			(reason <= 0x2D && reason != 0x1E) || (reason >= 0x81 && reason <= 0x87);

		assert_int_equal(ct_reason_find(CTRACE_RC_SYSTEM, reason, 0) != NULL,
				 reason == 6 || reason == 7);
		assert_int_equal(ct_reason_find(CTRACE_RC_REFUSED, reason, 1) != NULL,
				 is_documented);
		assert_null(ct_reason_find(CTRACE_RC_EXISTS, reason, 0));
	}
	for (size_t i = 0; i < CT_COUNT(abends); i++)
		assert_non_null(ct_reason_find(CTRACE_RC_ABEND, abends[i], 0));
	assert_null(ct_reason_find(CTRACE_RC_ABEND, 0x103, 0));
	assert_null(ct_reason_find(CTRACE_RC_OK, 0, 0));
}

static void the_low_byte_counts_where_it_is_documented_and_only_there(void **state)
{
	(void)state;
	assert_non_null(strstr(ct_reason_find(CTRACE_RC_REFUSED, 0x0E, 1)->meaning, "STARTNAM"));
	assert_non_null(strstr(ct_reason_find(CTRACE_RC_REFUSED, 0x0E, 2)->meaning, "DISPNAM"));
	assert_null(ct_reason_find(CTRACE_RC_REFUSED, 0x0E, 0));
	assert_null(ct_reason_find(CTRACE_RC_REFUSED, 0x0E, 3));
	assert_ptr_equal(ct_reason_find(CTRACE_RC_REFUSED, 0x13, 0),
			 ct_reason_find(CTRACE_RC_REFUSED, 0x13, 0xFF));
}

/* ---- texts ---- */

static void check_sentences(const char *name, const char *text)
{
	size_t size = strlen(text);

	if (size < 10 || size > LONGEST_ADVICE || text[size - 1] != '.' ||
	    strstr(text, "  ") != NULL || islower((unsigned char)text[0]))
		fail_msg("%s: %s", name, text);
	for (size_t i = 0; i < size; i++)
		assert_true(text[i] >= ' ' && text[i] < 0x7F);
}

static void every_row_has_texts_of_some_use(void **state)
{
	const struct ct_reason_row *row, *other;

	(void)state;
	for (size_t i = 0; (row = ct_reason_at(i)) != NULL; i++) {
		size_t size = strlen(row->meaning);

		assert_true(strlen(row->name) > 4 && strlen(row->name) < 22);
		assert_int_equal(strspn(row->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"),
				 strlen(row->name));
		if (size < 10 || size > LONGEST_MEANING || row->meaning[size - 1] == '.' ||
		    strpbrk(row->meaning, "\n\t\"") != NULL)
			fail_msg("%s: %s", row->name, row->meaning);
		check_sentences(row->name, row->cause);
		check_sentences(row->name, row->cure);
		for (size_t j = 0; j < i; j++) {
			other = ct_reason_at(j);
			assert_string_not_equal(row->meaning, other->meaning);
			assert_string_not_equal(row->cause, row->cure);
		}
	}
}

/* ---- outcomes ---- */

static struct ctrace_outcome out;

static int clean(void **state)
{
	(void)state;
	memset(&out, 0, sizeof out);
	return 0;
}

static void an_outcome_has_the_codes_where_the_macro_has_them(void **state)
{
	(void)state;
	out.ss_rc = 5;
	assert_int_equal(ct_outcome_set(&out, CTRACE_RC_REFUSED, CTRACE_RSN_BUFSIZE_LIMITS, NULL),
			 0x0C);
	assert_int_equal(out.rc, 0x0C);
	assert_int_equal(out.rsncode, 0x1300);
	assert_int_equal(out.abend, 0);
	assert_int_equal(out.ss_rc, 5);
	assert_int_equal(ct_outcome_set(&out, CTRACE_RC_REFUSED, 0x0E02, NULL), 0x0C);
	assert_int_equal(out.rsncode, 0x0E02);
	assert_int_equal(ct_outcome_set(&out, CTRACE_RC_ABEND, 0x302, NULL), 0x10);
	assert_int_equal(out.rsncode, 0);
	assert_int_equal(out.abend, 0x302);
	assert_int_equal(ct_outcome_set(&out, CTRACE_RC_EXISTS, 0, NULL), 4);
	assert_int_equal(out.rsncode, 0);
	assert_int_equal(out.abend, 0);
	assert_int_equal(ct_outcome_set(NULL, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE, "%d", 1), 8);
}

static void its_text_is_the_rows_meaning(void **state)
{
	const struct ct_reason_row *row;

	(void)state;
	assert_string_equal(ctrace_outcome_text(&out), "done");
	for (size_t i = 0; (row = ct_reason_at(i)) != NULL; i++) {
		(void)ct_outcome_set(&out, row->rc,
				     row->low != 0 ? row->reason << 8 | row->low : row->reason,
				     NULL);
		assert_ptr_equal(ctrace_outcome_text(&out), row->meaning);
	}
	/* xxxxRRxx */
	out = (struct ctrace_outcome){ .rc = CTRACE_RC_REFUSED, .rsncode = 0x12341356 };
	assert_ptr_equal(ctrace_outcome_text(&out),
			 ct_reason_find(CTRACE_RC_REFUSED, 0x13, 0)->meaning);
}

static void any_other_numbers_are_answered_too(void **state)
{
	static const struct ctrace_outcome strange[] = {
		{ .rc = 0x0C, .rsncode = 0x1E00 },
		{ .rc = 0x0C },
		{ .rc = 0x14 },
		{ .rc = UINT32_MAX, .rsncode = UINT32_MAX },
		{ .rc = CTRACE_RC_ABEND },
		{ .rc = CTRACE_RC_ABEND, .abend = UINT32_MAX },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(strange); i++)
		assert_string_equal(ctrace_outcome_text(&strange[i]),
				    "an unknown return or reason code");
	assert_non_null(ctrace_outcome_text(NULL));
}

static const char *message(const char *quoted)
{
	(void)ct_outcome_set(&out, CTRACE_RC_REFUSED, CTRACE_RSN_MEMBER_SYNTAX, "line %u: \"%s\"",
			     7u, quoted);
	return out.message;
}

static void a_message_is_one_harmless_line(void **state)
{
	(void)state;
	assert_string_equal(message("plain"), "line 7: \"plain\"");
	assert_string_equal(message("a\nb\x1B[31m\x7F"), "line 7: \"a\\nb\\u{1B}[31m\\u{7F}\"");
	assert_string_equal(message("\xFF"), "line 7: \"\\xFF\"");
	assert_string_equal(message("\xE2\x80\xAE"), "line 7: \"\\u{202E}\"");
	assert_string_equal(message("\xC3\xA4"), "line 7: \"\xC3\xA4\"");
	assert_string_equal(message("was \\u{1B} before"), "line 7: \"was \\u{1B} before\"");
}

static void a_message_that_is_not_given_stays(void **state)
{
	(void)state;
	(void)message("said");
	(void)ct_outcome_set(&out, CTRACE_RC_REFUSED, CTRACE_RSN_ROUTINE_REFUSED, NULL);
	assert_string_equal(out.message, "line 7: \"said\"");
}

/* Of a text that is repeated behind `before`: all fits, or it ends with "..." behind a whole one.
 */
static void check_cut(const char *before, const char *unit, const char *escaped, size_t count)
{
	char text[4096];
	size_t begin = strlen(before);
	size_t size = strlen(escaped);
	size_t shown;

	memcpy(text, before, begin + 1);
	for (size_t i = 0; i < count; i++)
		memcpy(text + begin + i * strlen(unit), unit, strlen(unit) + 1);
	(void)ct_outcome_set(&out, CTRACE_RC_REFUSED, CTRACE_RSN_MEMBER_SYNTAX, "%s", text);
	shown = strlen(out.message);
	assert_true(shown < sizeof out.message);
	if (begin + size * count < sizeof out.message) {
		assert_int_equal(shown, begin + size * count);
		return;
	}
	assert_string_equal(out.message + shown - 3, "...");
	assert_int_equal((shown - 3 - begin) % size, 0);
	assert_true(shown + size >= sizeof out.message); /* one more would not have fitted */
	for (size_t at = begin; at + 3 < shown; at += size)
		assert_memory_equal(out.message + at, escaped, size);
}

static void a_message_is_cut_behind_a_whole_character_or_escape(void **state)
{
	static const struct {
		const char *unit, *escaped;
	} rows[] = {
		{ "x", "x" },
		{ "\xC3\xA4", "\xC3\xA4" },
		{ "\xE2\x82\xAC", "\xE2\x82\xAC" },
		{ "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80" },
		{ "\n", "\\n" },
		{ "\x1B", "\\u{1B}" },
		{ "\xE2\x80\xAE", "\\u{202E}" },
		{ "\xFF", "\\xFF" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++)
		for (size_t count = 1; count < 800; count += count < 260 ? 1 : 97)
			for (const char *before = "1234567"; *before != '\0'; before++)
				check_cut(before, rows[i].unit, rows[i].escaped, count);
}

static void any_text_may_be_in_a_message(void **state)
{
	static const char bytes[] = "\\\\u{x\"\xC3\xF0\x9F}\\";
	char text[300];
	unsigned random = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t size = (random >> 8) % sizeof text;

		for (size_t i = 0; i < size; i++) {
			random = random * 1103515245u + 12345u;
			text[i] = bytes[(random >> 16) % (sizeof bytes - 1)];
		}
		text[size] = '\0';
		(void)ct_outcome_set(&out, CTRACE_RC_REFUSED, CTRACE_RSN_MEMBER_SYNTAX, "%s", text);
		assert_true(strnlen(out.message, sizeof out.message) < sizeof out.message);
	}
}

int test_reason(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_constant_has_a_row),
		cmocka_unit_test(every_row_has_a_constant),
		cmocka_unit_test(the_codes_are_those_that_are_documented),
		cmocka_unit_test(the_low_byte_counts_where_it_is_documented_and_only_there),
		cmocka_unit_test(every_row_has_texts_of_some_use),
		cmocka_unit_test_setup(an_outcome_has_the_codes_where_the_macro_has_them, clean),
		cmocka_unit_test_setup(its_text_is_the_rows_meaning, clean),
		cmocka_unit_test(any_other_numbers_are_answered_too),
		cmocka_unit_test_setup(a_message_is_one_harmless_line, clean),
		cmocka_unit_test_setup(a_message_that_is_not_given_stays, clean),
		cmocka_unit_test_setup(a_message_is_cut_behind_a_whole_character_or_escape, clean),
		cmocka_unit_test_setup(any_text_may_be_in_a_message, clean),
	};

	return cmocka_run_group_tests(tests, read_constants, NULL);
}
