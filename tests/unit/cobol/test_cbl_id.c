/*
 * test_cbl_id.c - names, handles and NULL as COBOL passes them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"
#include "ctf_fixture.h"

static void null_is_what_has_no_low_half(void **state)
{
	(void)state;
	assert_true(ct_cbl_is_null(NULL));
	/* BY VALUE 0 with rubbish above */
	assert_true(ct_cbl_is_null((const void *)(uintptr_t)0x7FFF00000000));
	assert_false(ct_cbl_is_null(state));
}

static void name_ends_at_its_terminator(void **state)
{
	(void)state;
	assert_int_equal(ct_cbl_name_size("mycomp rest", false, 255), 6);
	/* a NUL ends a space-terminated name too */
	assert_int_equal(ct_cbl_name_size("mycomp\0rest ", false, 255), 6);
	/* but a space is part of a NUL-terminated one */
	assert_int_equal(ct_cbl_name_size("my comp", true, 255), 7);
	assert_int_equal(ct_cbl_name_size("", true, 255), 0);
	assert_int_equal(ct_cbl_name_size(" x", false, 255), 0);
	assert_int_equal(ct_cbl_name_size(NULL, false, 255), 0);
}

static void name_is_not_read_behind_its_terminator(void **state)
{
	(void)state;
	assert_int_equal(ct_cbl_name_size(at_page_end("abc ", 4), false, 255), 3);
	assert_int_equal(ct_cbl_name_size(at_page_end("abc", 4), true, 255), 3);
	assert_int_equal(ct_cbl_name_size(at_page_end(" ", 1), false, 255), 0);
}

static void long_name_is_not_read_further_than_its_limit(void **state)
{
	char longest[256], text[257];

	(void)state;
	memset(longest, 'n', sizeof(longest));
	assert_int_equal(ct_cbl_name_size(at_page_end(longest, 256), false, 255), 256);
	longest[255] = ' ';
	assert_int_equal(ct_cbl_name_size(at_page_end(longest, 256), false, 255), 255);
	assert_true(ct_cbl_name_copy(longest, false, 255, text));
	assert_int_equal(strlen(text), 255);
	longest[255] = 'n';
	assert_false(ct_cbl_name_copy(at_page_end(longest, 256), false, 255, text));
	assert_false(ct_cbl_name_copy(" ", false, 255, text));
}

static void default_is_nothing_in_any_form(void **state)
{
	const cobuns32_t text = CTF_FLAG_COMPID_STRING,
			 nul = CTF_FLAG_COMPID_STRING | CTF_FLAG_COMP_NAME_NULL_TERM;
	const cbl_x4_comp5_t zero = 0;

	(void)state;
	assert_true(ct_cbl_is_default(0, NULL));
	assert_true(ct_cbl_is_default(text, NULL));
	assert_true(ct_cbl_is_default(0, &zero));
	assert_true(ct_cbl_is_default(0, at_page_end(" ", 1)));
	assert_true(ct_cbl_is_default(text, at_page_end(" ", 1)));
	assert_true(ct_cbl_is_default(text, at_page_end("", 1)));
	assert_true(ct_cbl_is_default(nul, at_page_end("", 1)));
	assert_false(ct_cbl_is_default(nul, " x"));
	assert_false(ct_cbl_is_default(text, "x "));
}

static void handle_is_checked_on_each_use(void **state)
{
	cbl_x4_comp5_t handle = tracer("id.one");
	uint32_t component = 99999;

	(void)state;
	assert_int_not_equal(handle, 0);
	assert_int_equal(((const unsigned char *)&handle)[0], CT_HANDLE_MARK);
	assert_int_equal(ct_handle_component(handle, &component), CTRACE_OK);
	assert_string_equal(ct_registry_name(ct_process.registry, component), "id.one");
	assert_int_equal(ct_handle_component(0, &component), CTRACE_INVALID_TRACE_HANDLE);
	assert_int_equal(ct_handle_component(handle ^ 1, &component), CTRACE_INVALID_TRACE_HANDLE);
	assert_int_equal(ct_handle_component(ct_handle_of(ct_registry_count(ct_process.registry)),
					     &component),
			 CTRACE_INVALID_TRACE_HANDLE);
	assert_int_equal(ct_handle_component(0xFFFFFFFF, &component), CTRACE_INVALID_TRACE_HANDLE);
}

/* "id" was never asked for by name: it is only the parent of "id.one". */
static void parent_that_nobody_registered_has_no_handle(void **state)
{
	uint32_t own, component;

	(void)state;
	(void)tracer("id.one");
	assert_int_equal(ct_registry_find(ct_process.registry, "id.one", 6, &own), CTRACE_OK);
	for (uint32_t i = 0; i < ct_registry_count(ct_process.registry); i++) {
		if (ct_handle_component(ct_handle_of(i), &component) == CTRACE_OK)
			assert_string_not_equal(ct_registry_name(ct_process.registry, i), "id");
	}
}

static void component_id_becomes_a_name(void **state)
{
	char name[CTRACE_MAX_COMPONENT + 1];
	cbl_x4_comp5_t handle = tracer("id.two");
	const cobuns32_t text = CTF_FLAG_COMPID_STRING;

	(void)state;
	assert_int_equal(ct_cbl_component(0, &handle, name), CTRACE_OK);
	assert_string_equal(name, "id.two");
	assert_int_equal(ct_cbl_component(text, "other ", name), CTRACE_OK);
	assert_string_equal(name, "other");
	assert_int_equal(ct_cbl_component(0, "other ", name), CTRACE_INVALID_TRACE_HANDLE);
	assert_int_equal(ct_cbl_component(0, NULL, name), CTRACE_INVALID_TRACE_HANDLE);
	assert_int_equal(ct_cbl_component(text, NULL, name), CTRACE_INVALID_COMPONENT_NAME);
	assert_int_equal(ct_cbl_component(text, "a..b ", name), CTRACE_INVALID_COMPONENT_NAME);
	/* A text of one byte is not read as a handle of four. */
	assert_int_equal(ct_cbl_component(0, at_page_end("x", 1), name),
			 CTRACE_INVALID_TRACE_HANDLE);
}

static void only_documented_statuses_are_returned(void **state)
{
	(void)state;
	for (int status = CTRACE_OK; status <= CTRACE_OUTPUT_ERROR; status++)
		assert_int_equal(ct_cbl_return((enum ctrace_status)status), status);
	assert_int_equal(ct_cbl_return(CTRACE_OS_ERROR), CTF_RET_NOT_ENOUGH_MEMORY);
	assert_int_equal(ct_cbl_return(CTRACE_DAMAGED), CTF_RET_FAILURE);
}

int test_cbl_id(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(null_is_what_has_no_low_half),
		cmocka_unit_test(name_ends_at_its_terminator),
		cmocka_unit_test(name_is_not_read_behind_its_terminator),
		cmocka_unit_test(long_name_is_not_read_further_than_its_limit),
		cmocka_unit_test(default_is_nothing_in_any_form),
		cmocka_unit_test(handle_is_checked_on_each_use),
		cmocka_unit_test(parent_that_nobody_registered_has_no_handle),
		cmocka_unit_test(component_id_becomes_a_name),
		cmocka_unit_test(only_documented_statuses_are_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
