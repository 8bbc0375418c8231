/*
 * test_operate_member.c - what each request needs of who asks: to display, to command, or to be the
 * process's user.  tests/process/operators.py does it with real users.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operate_fixture.h"

#include "lib/process/process.h"
#include "session/socket.h"

static struct ct_member member = { .is_member = true, .uid = 4711, .pid = 1 };

/* The answer's status to a member who sends what is in `request`. */
static enum ctrace_status ask_encoded(bool commands)
{
	struct ct_message message;
	uint64_t status;
	size_t size;

	ct_buf_clear(&answer);
	CHILD_CHECK(ct_message_parse(request.data, request.size, &message, &size) == CTRACE_OK);
	member.commands = commands;
	ct_operate_member(&message, &member, &answer, NULL);
	CHILD_CHECK(ct_message_parse(answer.data, answer.size, &message, &size) == CTRACE_OK);
	status = ct_message_number(&message, CT_FIELD_STATUS, CTRACE_DAMAGED);
	return (enum ctrace_status)status;
}

static enum ctrace_status ask(const struct ct_command *command, bool commands)
{
	ct_buf_clear(&request);
	ct_command_encode(&request, command);
	return ask_encoded(commands);
}

static void ask_everything(void)
{
	static const struct ct_span app = { "app", 3 }, textfile = { "TEXTFILE", 8 },
				    file = { "FILE", 4 }, path = { "/tmp/x", 6 },
				    stop = { "when event = 1 do stop", 22 },
				    run = { "when event = 1 do run:/bin/true", 31 }, t = { "T", 1 };
	const struct {
		struct ct_command command;
		bool displays, commands; /* is it allowed */
	} rows[] = {
		{ { .verb = CT_VERB_IDENTIFY }, true, true },
		{ { .verb = CT_VERB_DISPLAY }, true, true },
		{ { .verb = CT_VERB_TRIGGER_LIST }, true, true },
		{ { .verb = CT_VERB_LEVEL, .component = app, .level = CT_LEVEL_ASKED },
		  true,
		  true },
		{ { .verb = CT_VERB_LEVEL, .component = app, .level = CTRACE_INFO }, false, true },
		{ { .verb = CT_VERB_DEST_ADD, .component = app }, true, true },
		{ { .verb = CT_VERB_DEST_ADD, .component = app, .emitter = textfile },
		  false,
		  true },
		{ { .verb = CT_VERB_DEST_SET, .component = app, .list = textfile }, false, true },
		{ { .verb = CT_VERB_PROPERTY_GET, .component = app, .property = file },
		  true,
		  true },
		{ { .verb = CT_VERB_PROPERTY_GET, .emitter = textfile, .property = file },
		  false,
		  false },
		{ { .verb = CT_VERB_COMPONENT_PROPERTY,
		    .component = app,
		    .property = file,
		    .value = path },
		  false,
		  true },
		{ { .verb = CT_VERB_EMITTER_PROPERTY,
		    .emitter = textfile,
		    .property = file,
		    .value = path },
		  false,
		  false },
		{ { .verb = CT_VERB_TRIGGER, .component = t, .value = stop }, false, true },
		{ { .verb = CT_VERB_TRIGGER, .component = t, .value = run }, false, false },
		{ { .verb = CT_VERB_FLUSH }, false, true },
		{ { .verb = CT_VERB_ROTATE }, false, true },
		{ { .verb = CT_VERB_RELOAD }, false, true },
		{ { .verb = CT_VERB_RELOAD, .value = path }, false, false },
		{ { .verb = CT_VERB_RUN_DIRECTORY, .value = path }, false, false },
		{ { .verb = CT_VERB_OPERATORS, .value = path }, false, false },
	};

	make_tracer("app");
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		CHILD_CHECK((ask(&rows[i].command, false) != CTRACE_DENIED) == rows[i].displays);
		CHILD_CHECK((ask(&rows[i].command, true) != CTRACE_DENIED) == rows[i].commands);
	}
}

static void each_request_needs_its_authority(void **state)
{
	(void)state;
	assert_int_equal(run_traced(ask_everything), 0);
}

static void change_trigger(const char *name, const char *value, bool is_allowed)
{
	const struct ct_command change = { .verb = CT_VERB_TRIGGER,
					   .component = span_of(name),
					   .value = span_of(value) };

	CHILD_CHECK((ask(&change, true) != CTRACE_DENIED) == is_allowed);
}

static void change_triggers(void)
{
	static const struct ct_command runs = {
		.verb = CT_VERB_TRIGGER,
		.component = { "RUNS", 4 },
		.value = { "disabled when event = 1 do run:/bin/true", 40 }
	};

	make_tracer("app");
	CHECK_TEXT(
		carry_out(&runs),
		"SUCCESS the trigger is set, but runs no program: ctrace.run.programs is off in the "
		"configuration");
	change_trigger("STOPS", "disabled when event = 1 do stop", true);
	change_trigger("STOPS", "enable", true);
	change_trigger("RUNS", "enable", false);
	change_trigger("runs", " Enable ", false);
	CHILD_CHECK(ct_process.settings.triggers.entry[0].is_disabled);
	change_trigger("RUNS", "disable", true);
	change_trigger("RUNS", "off", true);
	change_trigger("RUNS", "enable", true); /* there is none */
}

static void a_member_does_not_enable_what_runs_a_program(void **state)
{
	(void)state;
	assert_int_equal(run_traced(change_triggers), 0);
}

static void trace_ct_in_each_state(void)
{
	struct ct_trace_command command = { .name = "APP", .sub = "NEW" };

	make_tracer("app");
	for (uint32_t at = CTRACE_CT_NONE; at <= CTRACE_CT_PRESET_DELETE; at++) {
		bool is_preset = at == CTRACE_CT_PRESET_PUT || at == CTRACE_CT_PRESET_DELETE;

		command.request.state = at;
		ct_buf_clear(&request);
		ct_trace_command_encode(&request, &command);
		CHILD_CHECK((ask_encoded(true) == CTRACE_DENIED) == is_preset);
		CHILD_CHECK(ask_encoded(false) == CTRACE_DENIED);
	}
}

static void a_member_keeps_no_preset(void **state)
{
	(void)state;
	assert_int_equal(run_traced(trace_ct_in_each_state), 0);
}

static void admit_by_group(void)
{
	struct ct_member who = { .is_member = true };
	int ends[2];

	make_tracer("app");
	CHILD_CHECK(ct_socket_pair(ends) == CTRACE_OK);
	CHILD_CHECK(!ct_operate_admit(ends[0], &who)); /* no group is named */
	ct_operate_share();
	CHILD_CHECK(ct_process.session.group == 0);
	ct_process.settings.displayers.gid = 54321;
	CHILD_CHECK(ct_operate_admit(ends[0], &who) == ct_socket_peer_is_in(ends[0], 54321));
	if (geteuid() == 0) {
		ct_operate_share();
		CHILD_CHECK(ct_process.session.group == 54321);
	}
	if (getegid() != 0) {
		ct_process.settings.operators.gid = getegid();
		CHILD_CHECK(ct_operate_admit(ends[0], &who) && who.commands);
	}
}

static void a_member_is_admitted(void **state)
{
	(void)state;
	assert_int_equal(run_traced(admit_by_group), 0);
}

int test_operate_member(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_request_needs_its_authority, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_member_does_not_enable_what_runs_a_program,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_member_keeps_no_preset, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_member_is_admitted, fixture_setup,
						fixture_teardown)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
