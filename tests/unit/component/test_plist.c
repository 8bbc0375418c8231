/*
 * test_plist.c - the macros' structures before they are believed.
 *
 * What DEFINE and DELETE make of each reason is in tests/process/test_codes.c; here is where the
 * looking ends.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "component_fixture.h"

#include <sys/mman.h>

static void what_is_coded(void)
{
	CHILD_CHECK(!ct_is_coded(NULL) && !ct_is_coded("") && ct_is_coded(" ") && ct_is_coded("A"));
}

/* Memory that ends where the next page cannot be read. */
static char *before_the_end(const void *data, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHILD_CHECK(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
	return memcpy(pages + page - size, data, size);
}

static void nothing_is_read_behind_a_structure(void)
{
	const struct ctrace_define define = { CTRACE_DEFINE_INIT, .name = "UNIT",
					      .startnam = "UNITSS" };
	const struct ctrace_delete delete = { CTRACE_DELETE_INIT, .name = "UNIT" };

	CHILD_CHECK(ct_plist_check_define((void *)before_the_end(&define, sizeof define),
					  &outcome) == CTRACE_RC_OK);
	CHILD_CHECK(ct_plist_check_delete((void *)before_the_end(&delete, sizeof delete),
					  &outcome) == CTRACE_RC_OK);
}

static void nothing_is_read_behind_a_text(void)
{
	struct ctrace_define define = { CTRACE_DEFINE_INIT, .name = "UNIT", .startnam = "UNITSS" };

	define.name = before_the_end("LONGNAME9", 9); /* without its end */
	CHILD_CHECK(ct_plist_check_define(&define, &outcome) == CTRACE_RC_ABEND &&
		    outcome.abend == 0x102);
	define.name = "UNIT";
	define.startnam = before_the_end("LONGNAME9", 9);
	CHILD_CHECK(ct_plist_check_define(&define, &outcome) == CTRACE_RC_ABEND &&
		    outcome.abend == 0x301);
}

/* A larger structure of a later version goes as long as what we do not know of it is not used. */
static void a_larger_structure_goes_while_its_rest_is_zero(void)
{
	struct {
		struct ctrace_define define;
		char more[8];
	} larger = { .define = { CTRACE_DEFINE_INIT, .name = "UNIT", .startnam = "UNITSS" } };

	larger.define.size = sizeof larger;
	CHILD_CHECK(ct_plist_check_define(&larger.define, &outcome) == CTRACE_RC_OK);
	larger.more[7] = 1;
	CHILD_CHECK(ct_plist_check_define(&larger.define, &outcome) == CTRACE_RC_ABEND &&
		    outcome.abend == 0x301);
	larger.define.size = UINT32_MAX;
	CHILD_CHECK(ct_plist_check_define(&larger.define, &outcome) == CTRACE_RC_ABEND &&
		    outcome.abend == 0x301);
	larger.define.size = sizeof larger.define - 1;
	CHILD_CHECK(ct_plist_check_define(&larger.define, &outcome) == CTRACE_RC_ABEND &&
		    outcome.abend == 0x301);
}

static void the_service_and_version_are_looked_at_first(void)
{
	struct ctrace_define define = { CTRACE_DEFINE_INIT };
	struct ctrace_delete delete = { CTRACE_DELETE_INIT, .delsubs = CTRACE_YES,
					.ifnosubs = CTRACE_YES };

	CHILD_CHECK(ct_plist_check_define(NULL, &outcome) == CTRACE_RC_ABEND &&
		    outcome.abend == 0x401);
	define.version = 3;
	CHILD_CHECK(ct_plist_check_define(&define, &outcome) == CTRACE_RC_ABEND &&
		    outcome.abend == 0x101);
	define.service = CTRACE_SERVICE_DELETE;
	CHILD_CHECK(ct_plist_check_define(&define, &outcome) == CTRACE_RC_ABEND &&
		    outcome.abend == 0x401);
	CHILD_CHECK(ct_plist_check_delete(NULL, &outcome) == CTRACE_RC_ABEND &&
		    outcome.abend == 0x401);
	CHILD_CHECK(ct_plist_check_delete(&delete, &outcome) == CTRACE_RC_ABEND &&
		    outcome.abend == 0x302);
}

/* As constants of the macro are. */
static void names_may_be_padded_with_blanks(void)
{
	struct ctrace_define define = { CTRACE_DEFINE_INIT, .name = "PADDED  ",
					.startnam = "UNIT    " };
	struct ctrace_delete delete = { CTRACE_DELETE_INIT, .name = "PADDED  " };
	char padded[CTRACE_MAX_NAME + 1];

	CHILD_CHECK(strcmp(ct_plist_trim("A       ", padded), "A") == 0 &&
		    strcmp(ct_plist_trim("        ", padded), "") == 0 &&
		    ct_plist_trim(NULL, padded) == NULL);
	CHILD_CHECK(strcmp(ct_plist_trim(" A", padded), " A") == 0 &&
		    strcmp(ct_plist_trim("A        ", padded), "A        ") == 0);
	CHILD_CHECK(ct_plist_check_define(&define, &outcome) == CTRACE_RC_OK);
	define.startnam = NULL;
	define.head = CTRACE_YES;
	CHILD_CHECK(ctrace_component_define(&define, &outcome) == CTRACE_RC_OK);
	define.name = "PADDED";
	CHILD_CHECK(ctrace_component_define(&define, &outcome) == CTRACE_RC_EXISTS);
	CHILD_CHECK(ctrace_component_delete(&delete, &outcome) == CTRACE_RC_OK);
	define.name = "PAD DED";
	CHILD_CHECK(ctrace_component_define(&define, &outcome) == CTRACE_RC_ABEND &&
		    outcome.abend == 0x102);
}

int test_plist(void)
{
	const struct CMUnitTest tests[] = {
		IN_CHILD(what_is_coded),
		IN_CHILD(nothing_is_read_behind_a_structure),
		IN_CHILD(nothing_is_read_behind_a_text),
		IN_CHILD(a_larger_structure_goes_while_its_rest_is_zero),
		IN_CHILD(the_service_and_version_are_looked_at_first),
		IN_CHILD(names_may_be_padded_with_blanks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
