/*
 * test_emit_journal.c - the JOURNAL module keeps the contract, and asks for a journal only when it
 * has an entry for it.
 *
 * What it writes is read back in tests/process/journal.sh, which starts a journald of its own.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../emit/emit_fixture.h"

static const struct ctrace_emitter *journal;

/* The module of the build directory, by the name that it has elsewhere. */
static int init_all(void **state)
{
	const char *build = getenv("CTRACE_BUILD");
	char directory[4096], command[8300];
	uint32_t index;

	(void)state;
	(void)snprintf(directory, sizeof directory, "%s/modules", build != NULL ? build : "build");
	/* Loaded from a copy that is ours alone, whatever the umask of the build was. */
	(void)snprintf(
		command, sizeof command,
		"mkdir -m 700 journal-module && install -m 600 '%s/journal.so' journal-module/",
		directory);
	if (system(command) != 0 || getcwd(directory, sizeof directory - 16) == NULL)
		return 0;
	memcpy(directory + strlen(directory), "/journal-module", 16);
	(void)setenv("CTRACE_EMITTERS", directory, 1);
	if (ct_emitter_find("WinEvent", 8, &index) == CTRACE_OK)
		journal = ct_emitter_at(index);
	return system("rm -r journal-module");
}

static void contract(void **state)
{
	uint32_t index, alias;

	(void)state;
	if (journal == NULL)
		skip(); /* built without libsystemd */
	assert_string_equal(journal->name, "JOURNAL");
	assert_int_equal(journal->flags, 0);
	assert_int_equal(ct_emitter_find("journal", 7, &index), CTRACE_OK);
	assert_int_equal(ct_emitter_find("WINEVENT", 8, &alias), CTRACE_OK);
	assert_int_equal(index, alias);
	assert_string_equal(ct_emitter_property(journal, "FORMAT", 6)->default_value, "$(DATA)");
	assert_string_equal(ct_emitter_property(journal, "LEVEL", 5)->default_value, "3");
	assert_string_equal(ct_emitter_property(journal, "DELIMCHAR", 9)->default_value, " ");
	assert_string_equal(ct_emitter_property(journal, "HEXBLOCKSIZE", 12)->default_value, "8");
	assert_string_equal(ct_emitter_property(journal, "QUOTESTRING", 11)->default_value, "TRUE");
}

/* The machine may have a journal: nothing is written to it here. */
static void events_below_level_need_no_journal(void **state)
{
	struct fixture *fixture;

	(void)state;
	if (journal == NULL)
		skip();
	fixture = fixture_create(journal);
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 1, 5), CTRACE_OK);
	fixture_close(fixture);
	fixture_destroy(fixture);
}

static void without_a_journal_writing_fails(void **state)
{
	const struct ctrace_event event = { .component = "C",
					    .component_size = 1,
					    .level = CTRACE_ERROR };
	const struct ctrace_batch batch = { .events = &event, .event_count = 1 };
	struct fixture *fixture;

	(void)state;
	if (journal == NULL || access("/run/systemd/journal/socket", F_OK) == 0)
		skip();
	fixture = fixture_create(journal);
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(journal->write(fixture->self, &batch), CTRACE_OUTPUT_ERROR);
	assert_int_equal(journal->write(fixture->self, &batch), CTRACE_OUTPUT_ERROR);
	fixture_destroy(fixture);
}

int test_journal(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contract),
		cmocka_unit_test(events_below_level_need_no_journal),
		cmocka_unit_test(without_a_journal_writing_fails),
	};

	return cmocka_run_group_tests(tests, init_all, NULL);
}
