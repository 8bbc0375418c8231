/*
 * test_destination.c - one destination: what its emitter is told, how its failures are noted, and
 * the store that commits.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "consumer_fixture.h"

static struct ct_destination destination;
static struct ctrace_place place;

static struct ct_dest *dest(void)
{
	return &session.head->dest[output_a.index];
}

static void init(uint32_t index, bool recovering)
{
	memset(&place, 0, sizeof place);
	ct_destination_init(&destination, &place, &session, index, recovering);
}

static void begin(bool recovering)
{
	make_process(1, CT_OVERFLOW_DISCARD);
	init(output_a.index, recovering);
}

static void end(void)
{
	ct_destination_fini(&destination);
	drop_process();
}

static void set_text(ct_text *text, const char *value)
{
	assert_int_equal(ct_session_add_text(&session, value, strlen(value), text), CTRACE_OK);
}

static void it_opens_once_and_closes_once(void **state)
{
	(void)state;
	begin(false);
	assert_true(ct_destination_open(&destination, false));
	assert_true(ct_destination_open(&destination, false));
	assert_true(ct_destination_open(&destination, true));
	assert_int_equal(output_a.opens, 1);
	assert_int_equal(dest()->active, 1);
	ct_destination_close(&destination);
	ct_destination_close(&destination);
	assert_int_equal(output_a.closes, 1);
	assert_true(ct_destination_open(&destination, false));
	assert_int_equal(output_a.opens, 2);
	end();
	assert_int_equal(output_a.closes, 2);
}

static void its_last_close_is_reported_to_be_that(void **state)
{
	(void)state;
	begin(false);
	assert_true(ct_destination_open(&destination, false));
	ct_destination_close(&destination);
	assert_false(destination.context.ending);
	assert_true(ct_destination_open(&destination, false));
	ct_destination_end(&destination);
	assert_true(destination.context.ending);
	assert_int_equal(output_a.closes, 2);
	assert_true(ct_destination_open(&destination, false));
	assert_false(destination.context.ending);
	end();
}

static void the_emitter_is_reported_whose_events_it_gets(void **state)
{
	const struct ctrace_emitter_context *context = &destination.context;

	(void)state;
	begin(false);
	set_text(&session.head->log_directory, "/logs");
	set_text(&session.head->command_line, "payroll -x");
	assert_true(ct_destination_open(&destination, false));
	assert_int_equal(context->size, sizeof *context);
	assert_int_equal(context->pid, getpid());
	assert_int_equal(context->asid, session.head->asid);
	assert_string_equal(context->program, session.head->program);
	assert_string_equal(context->host, session.head->host);
	assert_string_equal(context->directory, "/logs");
	assert_string_equal(context->command_line, "payroll -x");
	assert_int_equal(context->working_directory[0], '/');
	assert_int_equal(context->start_ns, session.head->start_ns);
	assert_false(context->recovering);
	assert_ptr_equal(context->place, destination.place);
	end();
}

static void a_property_is_what_was_set_else_its_default_else_nothing(void **state)
{
	const struct ctrace_emitter_context *context = &destination.context;

	(void)state;
	begin(false);
	set_text(&dest()->settings,
		 "FILE=a\\nb\\\\c=d\nEMPTY=\nSwitch=on\nno equals sign\n=x\nNUMBER=0x1F\\");
	assert_true(ct_destination_open(&destination, false));
	assert_string_equal(context->property(context, "file"), "a\nb\\c=d");
	assert_string_equal(context->property(context, "EMPTY"), "");
	assert_string_equal(context->property(context, "COLOUR"), "grey");
	assert_null(context->property(context, "NOSUCH"));
	assert_null(context->property(context, "no equals sign"));
	assert_int_equal(context->number(context, "SWITCH"), 1);
	assert_int_equal(context->number(context, "COLOUR"), 0);
	assert_int_equal(context->number(context, "NOSUCH"), 0);
	assert_string_equal(context->property(context, "NUMBER"), "0x1F\\");
	end();
}

static void a_failure_is_one_incident_until_it_works_again(void **state)
{
	(void)state;
	begin(false);
	output_a.fail_opens = 2;
	assert_false(ct_destination_open(&destination, false));
	assert_int_equal(dest()->failing, ENOSPC);
	assert_int_equal(dest()->failures, 1);
	assert_false(ct_destination_open(&destination, false)); /* not yet to be tried */
	assert_int_equal(output_a.opens, 1);
	assert_false(ct_destination_open(&destination, true));
	assert_int_equal(output_a.opens, 2);
	assert_int_equal(dest()->failures, 1);
	assert_true(ct_destination_open(&destination, true));
	assert_int_equal(dest()->failing, 0);
	errno = 0;
	ct_destination_failed(&destination);
	assert_int_equal(dest()->failing, EIO); /* never 0 */
	assert_int_equal(dest()->failures, 2);
	/* Somebody else took what it failed to write. */
	ct_destination_has_all(&destination);
	assert_int_equal(dest()->failing, 0);
	ct_destination_close(&destination);
	ct_destination_failed(&destination);
	ct_destination_has_all(&destination); /* it cannot be opened: that is so still */
	assert_int_equal(dest()->failing, EIO);
	end();
}

static void a_failure_has_the_name_that_its_emitter_gives(void **state)
{
	char longest[2 * sizeof dest()->failing_at];

	(void)state;
	begin(false);
	output_a.fail_opens = 3;
	output_a.failed_at = "/nosuch/x";
	assert_false(ct_destination_open(&destination, true));
	assert_string_equal(dest()->failing_at, "/nosuch/x");
	output_a.failed_at = NULL;
	assert_false(ct_destination_open(&destination, true));
	assert_string_equal(dest()->failing_at, "");
	memset(longest, '/', sizeof longest);
	memcpy(longest + sizeof longest - 4, "end", 4);
	output_a.failed_at = longest;
	assert_false(ct_destination_open(&destination, true));
	assert_string_equal(dest()->failing_at,
			    longest + sizeof longest - sizeof dest()->failing_at);
	assert_true(ct_destination_open(&destination, true));
	assert_string_equal(dest()->failing_at, "");
	end();
}

static void the_commit_is_one_store(void **state)
{
	uint64_t sequence;

	(void)state;
	begin(false);
	assert_true(ct_destination_open(&destination, false));
	for (uint64_t i = 1; i <= 5; i++) {
		struct ct_dest before = *dest();
		struct ct_dest_paths paths_before = session.paths[destination.index];
		const struct ct_dest_slot *in_force;

		destination.place->offset = 100 * i;
		destination.place->extra = i;
		(void)snprintf(destination.place->path, sizeof destination.place->path, "/file.%u",
			       (unsigned)(i / 2));
		sequence = dest()->sequence;
		assert_int_equal(ct_destination_commit(&destination, 10), CTRACE_OK);
		assert_int_equal(dest()->sequence, sequence + 1);
		in_force = ct_dest_current(dest());
		assert_int_equal(in_force->offset, 100 * i);
		assert_int_equal(in_force->extra, i);
		assert_int_equal(in_force->delivered, 10 * i);
		assert_string_equal(ct_dest_path(&session, destination.index),
				    destination.place->path);
		/* Killed before that store: the place from before is there, untouched. */
		assert_memory_equal(&dest()->slot[sequence & 1], &before.slot[sequence & 1],
				    sizeof before.slot[0]);
		assert_memory_equal(session.paths[destination.index].at[sequence & 1],
				    paths_before.at[sequence & 1], sizeof paths_before.at[0]);
	}
	end();
}

static char dead_name[64];

/* The fixture's emitters have no rotate(); TEXTFILE has. */
static void a_new_generation_is_committed_before_it_has_an_event(void **state)
{
	static const char settings[] = "FILE=rotated$(GEN)\nMAXGENERATION=2\n";
	uint64_t sequence;
	uint32_t textfile;

	(void)state;
	begin(false);
	assert_int_equal(ct_destination_rotate(&destination), CTRACE_NOT_FOUND);
	assert_true(ct_destination_open(&destination, false));
	assert_int_equal(ct_destination_rotate(&destination), CTRACE_UNSUPPORTED);
	ct_destination_fini(&destination);

	assert_int_equal(ct_emitter_find("TEXTFILE", 8, &textfile), CTRACE_OK);
	init(textfile, false);
	set_text(&session.head->dest[textfile].settings, settings);
	assert_true(ct_destination_open(&destination, false));
	destination.place->path[0] = '\0'; /* as if the file had been removed: */
	assert_int_equal(unlink(ct_dest_path(&session, textfile)), 0);
	sequence = session.head->dest[textfile].sequence;
	assert_int_equal(ct_destination_rotate(&destination), CTRACE_OK);
	assert_true(session.head->dest[textfile].sequence > sequence);
	assert_non_null(strstr(ct_dest_path(&session, textfile), "/rotated1"));
	assert_int_equal(access(ct_dest_path(&session, textfile), F_OK), 0);
	end();
}

static void make_dead(void)
{
	begin(false);
	CHILD_CHECK(ct_destination_open(&destination, false));
	destination.place->offset = 7;
	destination.place->extra = 3;
	CHILD_CHECK(ct_destination_commit(&destination, 5) == CTRACE_OK);
}

static void load_dead(void)
{
	(void)snprintf(dead_name, sizeof dead_name, "%d.0", (int)run_and_kill(make_dead));
	assert_int_equal(ct_session_load(&session, run_dir, dead_name, true), CTRACE_OK);
	init(output_a.index, true);
}

static void a_recoverer_continues_at_the_place_in_force(void **state)
{
	(void)state;
	put_file("TESTA.out", "0\n1\n2\n3\n4\n", 10);
	load_dead();
	assert_int_equal(destination.place->offset, 7);
	assert_int_equal(destination.place->extra, 3);
	assert_string_equal(destination.place->path, output_a.path);
	assert_true(ct_destination_open(&destination, true));
	assert_true(destination.context.recovering);
	{
		struct stat info;

		assert_int_equal(stat(output_a.path, &info), 0);
		assert_int_equal(info.st_size, 7);
	}
	ct_destination_fini(&destination);
	ct_session_close(&session, false);
}

static void a_commit_that_cannot_be_persisted_has_not_happened(void **state)
{
	(void)state;
	for (unsigned skip = 0; skip < 2; skip++) {
		uint64_t sequence;

		load_dead();
		assert_true(ct_destination_open(&destination, true));
		sequence = dest()->sequence;
		destination.place->offset = 99;
		ct_os_fail(CT_OS_WRITE, skip, 1, EIO);
		assert_int_equal(ct_destination_commit(&destination, 1), CTRACE_OS_ERROR);
		/* In memory as in the file. */
		assert_int_equal(dest()->sequence, sequence);
		assert_int_not_equal(ct_dest_current(dest())->offset, 99);
		ct_destination_fini(&destination);
		ct_session_close(&session, false);
		assert_int_equal(ct_session_load(&session, run_dir, dead_name, true), CTRACE_OK);
		assert_int_equal(dest()->sequence, sequence);
		ct_session_close(&session, false);
	}
}

/* Without a first commit nobody could cut off what would be written next. */
static void an_output_whose_beginning_is_not_committed_gets_nothing(void **state)
{
	(void)state;
	begin(false);
	ct_os_fail(CT_OS_ALLOCATE, 0, 100, ENOSPC);
	for (unsigned i = 0; i < 2; i++) {
		assert_false(ct_destination_open(&destination, true));
		assert_null(destination.self);
		assert_int_equal(dest()->failing, ENOSPC);
	}
	ct_os_fail(CT_OS_ALLOCATE, 0, 0, 0);
	assert_true(ct_destination_open(&destination, true));
	end();
}

static void what_was_not_committed_is_cut_off_before_the_next_try(void **state)
{
	(void)state;
	begin(false);
	assert_true(ct_destination_open(&destination, true));
	destination.place->offset = 7;
	assert_int_equal(ct_destination_commit(&destination, 5), CTRACE_OK);
	destination.place->offset = 99;
	errno = ENOSPC;
	ct_destination_uncommitted(&destination);
	assert_int_equal(dest()->failing, ENOSPC);
	assert_int_equal(destination.place->offset, 7);
	assert_int_equal(output_a.closes, 1);
	assert_true(ct_destination_open(&destination, true));
	assert_int_equal(output_a.opens, 2);
	end();
}

static void a_dead_processs_emitter_is_found_by_its_name(void **state)
{
	(void)state;
	load_dead();
	(void)snprintf(dest()->emitter, sizeof dest()->emitter, "testb");
	assert_true(ct_destination_open(&destination, true));
	assert_int_equal(output_b.opens, 1);
	ct_destination_fini(&destination);
	init(output_a.index, true);
	(void)snprintf(dest()->emitter, sizeof dest()->emitter, "nosuch");
	assert_false(ct_destination_open(&destination, true));
	assert_int_equal(dest()->failing, ENOENT);
	dest()->emitter[0] = '\0';
	assert_false(ct_destination_open(&destination, true));
	ct_destination_fini(&destination);
	ct_session_close(&session, false);
}

static void a_silent_one_is_never_opened(void **state)
{
	uint32_t index;

	(void)state;
	assert_int_equal(ct_emitter_find("ES", 2, &index), CTRACE_OK);
	make_process(1, CT_OVERFLOW_DISCARD);
	init(index, false);
	assert_true(ct_destination_open(&destination, false));
	assert_false(ct_destination_writes(&destination));
	assert_null(destination.self);
	end();
}

static void what_only_its_own_process_could_write_is_not_tried_by_a_recoverer(void **state)
{
	uint32_t index;

	(void)state;
	assert_int_equal(ct_emitter_find("STDERR", 6, &index), CTRACE_OK);
	make_process(1, CT_OVERFLOW_DISCARD);
	(void)snprintf(session.head->dest[index].emitter, 32, "STDERR");
	init(index, true);
	assert_true(ct_destination_open(&destination, true));
	assert_false(ct_destination_writes(&destination));
	ct_destination_fini(&destination);
	init(index, false);
	assert_true(ct_destination_open(&destination, true));
	assert_true(ct_destination_writes(&destination));
	end();
}

int test_destination(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_opens_once_and_closes_once, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(its_last_close_is_reported_to_be_that,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_emitter_is_reported_whose_events_it_gets,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_property_is_what_was_set_else_its_default_else_nothing, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(a_failure_is_one_incident_until_it_works_again,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_failure_has_the_name_that_its_emitter_gives,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_commit_is_one_store, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_new_generation_is_committed_before_it_has_an_event, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(a_recoverer_continues_at_the_place_in_force,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			an_output_whose_beginning_is_not_committed_gets_nothing, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			what_was_not_committed_is_cut_off_before_the_next_try, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(a_commit_that_cannot_be_persisted_has_not_happened,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_dead_processs_emitter_is_found_by_its_name,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_silent_one_is_never_opened, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(
			what_only_its_own_process_could_write_is_not_tried_by_a_recoverer,
			fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, make_emitters, drop_emitters);
}
