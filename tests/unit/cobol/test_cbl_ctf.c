/*
 * test_cbl_ctf.c - CBL_CTF_TRACER_GET, CBL_CTF_TRACER_LEVEL_GET, CBL_CTF_LEVEL, CBL_CTF_DEST: each
 * flag and each status.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"
#include "ctf_fixture.h"

#define TEXT CTF_FLAG_COMPID_STRING
#define NUL (CTF_FLAG_COMPID_STRING | CTF_FLAG_COMP_NAME_NULL_TERM)
#define RESERVED 0x0FFFFFFCu /* bits that no routine here gives a meaning to */

static cobuns32_t level_of(const char *name)
{
	cbl_x4_comp5_t level = 77;

	assert_int_equal(CBL_CTF_TRACER_LEVEL_GET(NUL, BYTES(name), &level), CTF_RET_SUCCESS);
	return level;
}

/* ---- CBL_CTF_TRACER_GET ---- */

static void get_gives_one_handle_a_name(void **state)
{
	cbl_x4_comp5_t a = 0, b = 0, c = 0, d = 0;

	(void)state;
	assert_int_equal(CBL_CTF_TRACER_GET(0, BYTES("get.a rest"), &a), CTF_RET_SUCCESS);
	assert_int_equal(CBL_CTF_TRACER_GET(0, BYTES("GET.A "), &b), CTF_RET_SUCCESS);
	assert_int_equal(CBL_CTF_TRACER_GET(CTF_FLAG_COMP_NAME_NULL_TERM, BYTES("Get.a"), &c),
			 CTF_RET_SUCCESS);
	assert_int_equal(CBL_CTF_TRACER_GET(0, BYTES("get.b "), &d), CTF_RET_SUCCESS);
	assert_int_not_equal(a, 0);
	assert_int_equal(a, b);
	assert_int_equal(a, c);
	assert_int_not_equal(a, d);
}

static void get_honours_bit_30_alone_and_ignores_the_others(void **state)
{
	cbl_x4_comp5_t spaced = 0, plain = 0, reserved = 0;

	(void)state;
	assert_int_equal(CBL_CTF_TRACER_GET(CTF_FLAG_COMP_NAME_NULL_TERM, BYTES("get c"), &spaced),
			 CTF_RET_SUCCESS);
	assert_int_equal(CBL_CTF_TRACER_GET(0, BYTES("get c"), &plain), CTF_RET_SUCCESS);
	assert_int_not_equal(spaced, plain);
	assert_int_equal(CBL_CTF_TRACER_GET(0xBFFFFFFF, BYTES("get c"), &reserved),
			 CTF_RET_SUCCESS);
	assert_int_equal(plain, reserved);
}

static void get_refuses_a_bad_name(void **state)
{
	char longest[257];
	cbl_x4_comp5_t handle = 5;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	assert_int_equal(CBL_CTF_TRACER_GET(0, NULL, &handle), CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(CBL_CTF_TRACER_GET(0, BYTES(" "), &handle),
			 CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(CBL_CTF_TRACER_GET(0, BYTES(""), &handle), CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(CBL_CTF_TRACER_GET(0, BYTES("a..b "), &handle),
			 CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(CBL_CTF_TRACER_GET(0, BYTES(".a "), &handle),
			 CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(CBL_CTF_TRACER_GET(0, at_page_end(longest, 256), &handle),
			 CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(handle, 5);
	longest[255] = ' ';
	assert_int_equal(CBL_CTF_TRACER_GET(0, BYTES(longest), &handle), CTF_RET_SUCCESS);
	assert_int_not_equal(handle, 5);
}

static void get_writes_where_a_cobol_item_may_be(void **state)
{
	unsigned char group[7] = { 0 };
	cbl_x4_comp5_t handle;

	(void)state;
	assert_int_equal(
		CBL_CTF_TRACER_GET(0, BYTES("get.d "), (cbl_x4_comp5_t *)(void *)(group + 1)),
		CTF_RET_SUCCESS);
	memcpy(&handle, group + 1, 4);
	assert_int_equal(handle, tracer("get.d"));
	assert_int_equal(group[0] | group[5] | group[6], 0);
	assert_int_equal(CBL_CTF_TRACER_GET(0, BYTES("get.d "), NULL), CTF_RET_SUCCESS);
}

/* ---- CBL_CTF_LEVEL, CBL_CTF_TRACER_LEVEL_GET ---- */

static void level_is_set_by_name_and_by_handle(void **state)
{
	cbl_x4_comp5_t handle = tracer("lev.a"), level = 77;

	(void)state;
	for (cobuns32_t want = CTF_FLAG_LEVEL_DEBUG; want <= CTF_FLAG_LEVEL_FATAL; want++) {
		assert_int_equal(CBL_CTF_LEVEL(TEXT | RESERVED, want, BYTES("LEV.A ")),
				 CTF_RET_SUCCESS);
		assert_int_equal(
			CBL_CTF_TRACER_LEVEL_GET(RESERVED, (const cobuns8_t *)&handle, &level),
			CTF_RET_SUCCESS);
		assert_int_equal(level, want);
	}
	assert_int_equal(CBL_CTF_LEVEL(0, CTF_LEVEL_NONE, (const cobuns8_t *)&handle),
			 CTF_RET_SUCCESS);
	assert_int_equal(level_of("lev.a"), CTF_LEVEL_NONE);
}

static void level_inherits(void **state)
{
	(void)state;
	(void)tracer("lev.b.c.d");
	assert_int_equal(CBL_CTF_LEVEL(NUL, CTF_FLAG_LEVEL_ERROR, BYTES("lev.b")), CTF_RET_SUCCESS);
	assert_int_equal(level_of("lev.b.c.d"), CTF_FLAG_LEVEL_ERROR);
	assert_int_equal(CBL_CTF_LEVEL(NUL, CTF_FLAG_LEVEL_DEBUG, BYTES("lev.b.c")),
			 CTF_RET_SUCCESS);
	assert_int_equal(CBL_CTF_LEVEL(NUL, CTF_FLAG_LEVEL_FATAL, BYTES("lev.b")), CTF_RET_SUCCESS);
	assert_int_equal(level_of("lev.b.c.d"), CTF_FLAG_LEVEL_DEBUG);
	assert_int_equal(level_of("lev.b"), CTF_FLAG_LEVEL_FATAL);
}

static void default_level_has_many_names(void **state)
{
	const cbl_x4_comp5_t zero = 0;
	cbl_x4_comp5_t level = 77;
	const struct {
		cobuns32_t flags;
		const cobuns8_t *id;
	} defaults[] = {
		{ 0, NULL },
		{ TEXT, NULL },
		{ NUL, NULL },
		{ 0, BYTES(" ") },
		{ 0, (const cobuns8_t *)&zero },
		{ TEXT, BYTES(" ") },
		{ TEXT, BYTES("") },
		{ NUL, BYTES("") },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		assert_int_equal(
			CBL_CTF_LEVEL(defaults[i].flags, (cobuns32_t)(i % 5), defaults[i].id),
			CTF_RET_SUCCESS);
		assert_int_equal(
			CBL_CTF_TRACER_LEVEL_GET(defaults[i].flags, defaults[i].id, &level),
			CTF_RET_SUCCESS);
		assert_int_equal(level, i % 5);
		assert_int_equal(level_of("lev.never.seen"), i % 5);
	}
	assert_int_equal(CBL_CTF_LEVEL(0, CTF_LEVEL_NONE, NULL), CTF_RET_SUCCESS);
	assert_int_equal(level_of("lev.never.seen"), CTF_LEVEL_NONE);
}

static void level_refuses(void **state)
{
	cbl_x4_comp5_t level = 77, wrong = 0x12345678;

	(void)state;
	assert_int_equal(CBL_CTF_LEVEL(TEXT, 5, BYTES("lev.a ")), CTF_RET_INVALID_TRACE_LEVEL);
	assert_int_equal(CBL_CTF_LEVEL(0, 0xFFFFFFFE, NULL), CTF_RET_INVALID_TRACE_LEVEL);
	assert_int_equal(CBL_CTF_LEVEL(0, 0, (const cobuns8_t *)&wrong),
			 CTF_RET_INVALID_TRACE_HANDLE);
	/* the id is checked first */
	assert_int_equal(CBL_CTF_LEVEL(0, 5, (const cobuns8_t *)&wrong),
			 CTF_RET_INVALID_TRACE_HANDLE);
	assert_int_equal(CBL_CTF_LEVEL(TEXT, 0, BYTES("a. ")), CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(CBL_CTF_TRACER_LEVEL_GET(0, (const cobuns8_t *)&wrong, &level),
			 CTF_RET_INVALID_TRACE_HANDLE);
	assert_int_equal(CBL_CTF_TRACER_LEVEL_GET(TEXT, BYTES("a..b "), &level),
			 CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(level, 77);
	assert_int_equal(CBL_CTF_TRACER_LEVEL_GET(0, NULL, NULL), CTF_RET_SUCCESS);
}

/* As the documented example calls it: flags 0 and a name. */
static void level_get_takes_a_name_for_a_handle(void **state)
{
	cbl_x4_comp5_t level = 77, not_a_name;

	(void)state;
	assert_int_equal(CBL_CTF_LEVEL(TEXT, CTF_FLAG_LEVEL_WARN, BYTES("mycomp ")),
			 CTF_RET_SUCCESS);
	assert_int_equal(CBL_CTF_TRACER_LEVEL_GET(0, BYTES("mycomp "), &level), CTF_RET_SUCCESS);
	assert_int_equal(level, CTF_FLAG_LEVEL_WARN);
	assert_int_equal(CBL_CTF_LEVEL(TEXT, CTF_FLAG_LEVEL_FATAL, BYTES("RTS ")), CTF_RET_SUCCESS);
	assert_int_equal(CBL_CTF_TRACER_LEVEL_GET(0, BYTES("RTS "), &level), CTF_RET_SUCCESS);
	assert_int_equal(level, CTF_FLAG_LEVEL_FATAL);
	not_a_name = htole32(12345); /* no letters in memory */
	assert_int_equal(CBL_CTF_TRACER_LEVEL_GET(0, (const cobuns8_t *)&not_a_name, &level),
			 CTF_RET_INVALID_TRACE_HANDLE);
}

/* The same in the example of CBL_CTF_LEVEL: a name in a field, flags 0. */
static void level_takes_a_name_for_a_handle(void **state)
{
	(void)state;
	(void)tracer("MF.RTS.ERR");
	assert_int_equal(CBL_CTF_LEVEL(0, CTF_FLAG_LEVEL_WARNING, BYTES("MF.RTS ")),
			 CTF_RET_SUCCESS);
	assert_int_equal(level_of("mf.rts"), CTF_FLAG_LEVEL_WARN);
	assert_int_equal(level_of("MF.RTS.ERR"), CTF_FLAG_LEVEL_WARN);
	assert_int_equal(CBL_CTF_LEVEL(0, 5, BYTES("MF.RTS ")), CTF_RET_INVALID_TRACE_LEVEL);
	assert_int_equal(CBL_CTF_LEVEL(0, CTF_LEVEL_NONE, BYTES("MF.RTS ")), CTF_RET_SUCCESS);
	assert_int_equal(level_of("mf.rts"), CTF_LEVEL_NONE);
}

static void name_for_a_handle_may_be_short_or_third_party(void **state)
{
	const cobuns8_t *names[] = {
		at_page_end("A   ", 4),
		at_page_end("Q ", 2),
		at_page_end("xy", 3), /* NUL */
		BYTES("Öl "),
		BYTES("Größe"),
		BYTES("日本 x"),
		BYTES("4711 "),
		BYTES("a rest of a field "),
	};
	const char *wanted[] = { "A", "Q", "xy", "Öl", "Größe", "日本", "4711", "a" };
	cbl_x4_comp5_t level;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		level = 77;
		assert_int_equal(CBL_CTF_LEVEL(0, (cobuns32_t)(i % 5), names[i]), CTF_RET_SUCCESS);
		assert_int_equal(CBL_CTF_TRACER_LEVEL_GET(0, names[i], &level), CTF_RET_SUCCESS);
		assert_int_equal(level, i % 5);
		assert_int_equal(level_of(wanted[i]), i % 5);
		assert_int_equal(CBL_CTF_LEVEL(NUL, CTF_LEVEL_NONE, BYTES(wanted[i])),
				 CTF_RET_SUCCESS);
	}
}

static void number_is_no_name(void **state)
{
	const cbl_x4_comp5_t numbers[] = { 12345,      0xFFFFFFFF, 0x80808080,
					   0x12345678, 0x00000A41, 0x2241,
					   0x7F4141,   0xFF41,     CT_HANDLE_MARK | 0x41414100 };
	cbl_x4_comp5_t level = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		/* in memory as written here on every machine */
		const cbl_x4_comp5_t number = htole32(numbers[i]);
		const cobuns8_t *id = at_page_end(&number, 4);

		assert_int_equal(CBL_CTF_TRACER_LEVEL_GET(0, id, &level),
				 CTF_RET_INVALID_TRACE_HANDLE);
		assert_int_equal(CBL_CTF_LEVEL(0, 1, id), CTF_RET_INVALID_TRACE_HANDLE);
	}
	assert_int_equal(level, 77);
}

/* ---- CBL_CTF_DEST ---- */

static uint32_t dests_of(const char *name)
{
	uint32_t index;

	(void)tracer(name);
	assert_int_equal(ct_registry_find(ct_process.registry, name, strlen(name), &index),
			 CTRACE_OK);
	return ct_registry_entry(ct_process.registry, index)->dests;
}

static uint32_t bit_of(const char *emitter)
{
	uint32_t index;

	assert_int_equal(ct_emitter_find(emitter, strlen(emitter), &index), CTRACE_OK);
	return 1u << index;
}

static void dest_adds_removes_and_cuts_off(void **state)
{
	cbl_x4_comp5_t handle = tracer("dest.a");
	const cobuns8_t *id = (const cobuns8_t *)&handle;
	uint32_t inherited = dests_of("dest.a");

	(void)state;
	assert_int_equal(CBL_CTF_DEST(CTF_FLAG_DEST_ADD | (RESERVED & ~CTF_FLAG_DEST_NOINHERIT), id,
				      BYTES("BinFile ")),
			 CTF_RET_SUCCESS);
	assert_int_equal(dests_of("dest.a"), inherited | bit_of("binfile"));
	assert_int_equal(CBL_CTF_DEST(CTF_FLAG_DEST_ADD | CTF_FLAG_DEST_NOINHERIT | TEXT,
				      BYTES("DEST.A "), BYTES("ES ")),
			 CTF_RET_SUCCESS);
	assert_int_equal(dests_of("dest.a"), bit_of("binfile") | bit_of("es"));
	assert_int_equal(
		CBL_CTF_DEST(CTF_FLAG_DEST_REMOVE | CTF_FLAG_DEST_NOINHERIT, id, BYTES("es ")),
		CTF_RET_SUCCESS);
	assert_int_equal(dests_of("dest.a"), bit_of("binfile"));
	/* An empty list inherits again, although it was cut off. */
	assert_int_equal(CBL_CTF_DEST(CTF_FLAG_DEST_REMOVE | CTF_FLAG_EMITTER_NAME_NULL_TERM, id,
				      BYTES("BINFILE")),
			 CTF_RET_SUCCESS);
	assert_int_equal(dests_of("dest.a"), inherited);
}

static void default_list_is_never_empty(void **state)
{
	const cobuns8_t *no = NULL;

	(void)state;
	assert_int_equal(dests_of("dest.b"), bit_of("textfile"));
	assert_int_equal(
		CBL_CTF_DEST(CTF_FLAG_DEST_ADD | CTF_FLAG_DEST_NOINHERIT, no, BYTES("es ")),
		CTF_RET_SUCCESS);
	assert_int_equal(CBL_CTF_DEST(CTF_FLAG_DEST_REMOVE, BYTES(" "), BYTES("textfile ")),
			 CTF_RET_SUCCESS);
	assert_int_equal(dests_of("dest.b"), bit_of("es"));
	assert_int_equal(CBL_CTF_DEST(CTF_FLAG_DEST_REMOVE | TEXT, BYTES(" "), BYTES("es ")),
			 CTF_RET_SUCCESS);
	assert_int_equal(dests_of("dest.b"), bit_of("textfile"));
	assert_int_equal(CBL_CTF_DEST(CTF_FLAG_DEST_REMOVE, no, BYTES("TextFile ")),
			 CTF_RET_SUCCESS);
	assert_int_equal(dests_of("dest.b"), bit_of("textfile"));
}

static void dest_refuses(void **state)
{
	cbl_x4_comp5_t wrong = 0x12345678;
	char longest[33];

	(void)state;
	memset(longest, 'e', sizeof(longest));
	assert_int_equal(CBL_CTF_DEST(0, NULL, BYTES("NoSuchThing ")), CTF_RET_EMITTER_NOT_FOUND);
	assert_int_equal(CBL_CTF_DEST(CTF_FLAG_EMITTER_NAME_NULL_TERM, NULL, BYTES("textfile es")),
			 CTF_RET_EMITTER_NOT_FOUND);
	assert_int_equal(
		CBL_CTF_DEST(CTF_FLAG_DEST_REMOVE | TEXT, BYTES("dest.c "), BYTES("binfile ")),
		CTF_RET_EMITTER_NOT_FOUND);
	assert_int_equal(CBL_CTF_DEST(0, NULL, BYTES(" ")), CTF_RET_INVALID_EMITTER_NAME);
	assert_int_equal(CBL_CTF_DEST(0, NULL, NULL), CTF_RET_INVALID_EMITTER_NAME);
	assert_int_equal(CBL_CTF_DEST(0, NULL, at_page_end(longest, 32)),
			 CTF_RET_INVALID_EMITTER_NAME);
	assert_int_equal(CBL_CTF_DEST(TEXT, BYTES("a..b "), BYTES("textfile ")),
			 CTF_RET_INVALID_COMP_NAME);
	assert_int_equal(CBL_CTF_DEST(0, (const cobuns8_t *)&wrong, BYTES("textfile ")),
			 CTF_RET_INVALID_TRACE_HANDLE);
	assert_int_equal(CBL_CTF_DEST(0, (const cobuns8_t *)&wrong, NULL),
			 CTF_RET_INVALID_TRACE_HANDLE);
}

static void errno_is_kept(void **state)
{
	cbl_x4_comp5_t out;

	(void)state;
	errno = 4711;
	(void)CBL_CTF_TRACER_GET(0, BYTES("errno.a "), &out);
	assert_int_equal(errno, 4711);
	(void)CBL_CTF_LEVEL(TEXT, 1, BYTES("errno.a "));
	assert_int_equal(errno, 4711);
	(void)CBL_CTF_TRACER_LEVEL_GET(TEXT, BYTES("errno.b "), &out);
	assert_int_equal(errno, 4711);
	(void)CBL_CTF_DEST(TEXT, BYTES("errno.a "), BYTES("nosuch "));
	assert_int_equal(errno, 4711);
}

int test_cbl_ctf(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(get_gives_one_handle_a_name),
		cmocka_unit_test(get_honours_bit_30_alone_and_ignores_the_others),
		cmocka_unit_test(get_refuses_a_bad_name),
		cmocka_unit_test(get_writes_where_a_cobol_item_may_be),
		cmocka_unit_test(level_is_set_by_name_and_by_handle),
		cmocka_unit_test(level_inherits),
		cmocka_unit_test(default_level_has_many_names),
		cmocka_unit_test(level_refuses),
		cmocka_unit_test(level_get_takes_a_name_for_a_handle),
		cmocka_unit_test(level_takes_a_name_for_a_handle),
		cmocka_unit_test(name_for_a_handle_may_be_short_or_third_party),
		cmocka_unit_test(number_is_no_name),
		cmocka_unit_test(dest_adds_removes_and_cuts_off),
		cmocka_unit_test(default_list_is_never_empty),
		cmocka_unit_test(dest_refuses),
		cmocka_unit_test(errno_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
