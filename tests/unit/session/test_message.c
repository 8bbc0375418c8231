/*
 * test_message.c - frames: what is made is read again, and what is not whole, too large or
 * another's is not believed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "session/message.h"

static struct ct_buf buf;

static int setup(void **state)
{
	(void)state;
	ct_buf_init(&buf);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ct_buf_fini(&buf);
	return 0;
}

static struct ct_span span(const char *text)
{
	return (struct ct_span){ text, strlen(text) };
}

static void assert_span(struct ct_span value, const char *expected)
{
	assert_non_null(value.at);
	assert_int_equal(value.size, strlen(expected));
	assert_memory_equal(value.at, expected, value.size);
}

/* An exact copy: a read past its end is noticed by the sanitizer. */
static enum ctrace_status parse_copy(const void *bytes, size_t size)
{
	char *copy = malloc(size != 0 ? size : 1);
	struct ct_message message;
	enum ctrace_status status;
	size_t whole;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	status = ct_message_parse(copy, size, &message, &whole);
	free(copy);
	return status;
}

static void make_sample(void)
{
	size_t start = ct_message_start(&buf, CT_VERB_LEVEL, CT_MESSAGE_ANSWER);

	ct_message_add_number(&buf, CT_FIELD_STATUS, 7);
	ct_message_add_text(&buf, CT_FIELD_COMPONENT, "app.one");
	ct_message_add(&buf, CT_FIELD_VALUE, NULL, 0);
	assert_int_equal(ct_message_end(&buf, start), CTRACE_OK);
}

static void what_is_made_is_read_again(void **state)
{
	struct ct_message message;
	struct ct_span fields, value;
	enum ct_field field;
	size_t size;

	(void)state;
	make_sample();
	assert_int_equal(ct_message_parse(buf.data, buf.size, &message, &size), CTRACE_OK);
	assert_int_equal(size, buf.size);
	assert_int_equal(message.verb, CT_VERB_LEVEL);
	assert_int_equal(message.flags, CT_MESSAGE_ANSWER);
	assert_int_equal(message.version, CT_MESSAGE_VERSION);
	assert_int_equal(ct_message_number(&message, CT_FIELD_STATUS, 1), 7);
	assert_span(ct_message_find(&message, CT_FIELD_COMPONENT), "app.one");
	assert_span(ct_message_find(&message, CT_FIELD_VALUE), "");
	assert_null(ct_message_find(&message, CT_FIELD_EMITTER).at);
	assert_int_equal(ct_message_number(&message, CT_FIELD_COMPONENT, 99), 99); /* no number */
	assert_int_equal(ct_message_number(&message, CT_FIELD_NUMBER, 98), 98);    /* not there */
	fields = message.fields;
	for (unsigned i = 0; i < 3; i++)
		assert_true(ct_message_next(&fields, &field, &value));
	assert_int_equal(field, CT_FIELD_VALUE);
	assert_false(ct_message_next(&fields, &field, &value));
}

static void a_part_of_a_frame_is_not_a_frame_yet(void **state)
{
	(void)state;
	make_sample();
	for (size_t size = 0; size < buf.size; size++)
		assert_int_equal(parse_copy(buf.data, size), CTRACE_NOT_FOUND);
	ct_buf_add_text(&buf, "more");
	assert_int_equal(parse_copy(buf.data, buf.size), CTRACE_OK);
}

static void put_u32(size_t at, uint32_t value)
{
	memcpy(buf.data + at, &value, sizeof value);
}

static void put_u16(size_t at, uint16_t value)
{
	memcpy(buf.data + at, &value, sizeof value);
}

static void damage_is_seen_as_soon_as_it_is_there(void **state)
{
	(void)state;
	make_sample();
	buf.data[2] ^= 1;
	assert_int_equal(parse_copy(buf.data, 2), CTRACE_NOT_FOUND);
	assert_int_equal(parse_copy(buf.data, 3), CTRACE_DAMAGED); /* not the magic number */
	buf.data[2] ^= 1;
	put_u32(12, CT_MESSAGE_LIMIT - CT_MESSAGE_HEAD + 1);
	/* larger than a frame may be */
	assert_int_equal(parse_copy(buf.data, CT_MESSAGE_HEAD), CTRACE_DAMAGED);
	put_u32(12, CT_MESSAGE_LIMIT - CT_MESSAGE_HEAD);
	assert_int_equal(parse_copy(buf.data, buf.size), CTRACE_NOT_FOUND);
	put_u32(12, UINT32_MAX);
	assert_int_equal(parse_copy(buf.data, buf.size), CTRACE_DAMAGED);
}

static void a_field_that_passes_the_end_is_damage(void **state)
{
	size_t last;

	(void)state;
	make_sample();
	last = buf.size - 8; /* the empty field */
	put_u32(last + 4, 1);
	assert_int_equal(parse_copy(buf.data, buf.size), CTRACE_DAMAGED);
	put_u32(last + 4, UINT32_MAX);
	assert_int_equal(parse_copy(buf.data, buf.size), CTRACE_DAMAGED);
	put_u32(last + 4, 0);
	put_u16(last + 2, 1);
	assert_int_equal(parse_copy(buf.data, buf.size), CTRACE_DAMAGED);
	put_u16(last + 2, 0);
	assert_int_equal(parse_copy(buf.data, buf.size), CTRACE_OK);
	/* ends inside the last field's head */
	put_u32(12, (uint32_t)(buf.size - CT_MESSAGE_HEAD - 3));
	assert_int_equal(parse_copy(buf.data, buf.size), CTRACE_DAMAGED);
}

static void another_version_is_whole_but_has_no_fields(void **state)
{
	struct ct_message message;
	size_t size;

	(void)state;
	make_sample();
	put_u16(4, CT_MESSAGE_VERSION + 1);
	buf.data[CT_MESSAGE_HEAD + 2] = 1; /* its fields may look in any way */
	assert_int_equal(parse_copy(buf.data, buf.size - 1), CTRACE_NOT_FOUND);
	assert_int_equal(ct_message_parse(buf.data, buf.size, &message, &size), CTRACE_UNSUPPORTED);
	assert_int_equal(size, buf.size);
	assert_int_equal(message.verb, CT_VERB_LEVEL);
	assert_int_equal(message.version, CT_MESSAGE_VERSION + 1);
	assert_int_equal(message.fields.size, 0);
}

static void an_unknown_field_is_passed_over(void **state)
{
	size_t start = ct_message_start(&buf, (enum ct_verb)4711, 0);
	struct ct_message message;
	size_t size;

	(void)state;
	ct_message_add_text(&buf, (enum ct_field)60000, "later");
	ct_message_add_number(&buf, CT_FIELD_NUMBER, 5);
	assert_int_equal(ct_message_end(&buf, start), CTRACE_OK);
	assert_int_equal(ct_message_parse(buf.data, buf.size, &message, &size), CTRACE_OK);
	assert_int_equal(message.verb, 4711);
	assert_int_equal(ct_message_number(&message, CT_FIELD_NUMBER, 0), 5);
}

static void a_frame_that_gets_too_large_is_taken_off_again(void **state)
{
	static char text[CT_MESSAGE_LIMIT + 1];
	size_t start, before;

	(void)state;
	make_sample();
	before = buf.size;
	start = ct_message_start(&buf, CT_VERB_FLUSH, 0);
	ct_message_add(&buf, CT_FIELD_VALUE, text, CT_MESSAGE_LIMIT - CT_MESSAGE_HEAD - 8);
	assert_int_equal(ct_message_end(&buf, start), CTRACE_OK); /* as large as may be */
	buf.size = before;
	start = ct_message_start(&buf, CT_VERB_FLUSH, 0);
	ct_message_add(&buf, CT_FIELD_VALUE, text, CT_MESSAGE_LIMIT - CT_MESSAGE_HEAD - 7);
	assert_int_equal(ct_message_end(&buf, start), CTRACE_UNSUPPORTED);
	assert_int_equal(buf.size, before);
	start = ct_message_start(&buf, CT_VERB_FLUSH, 0);
	ct_message_add(&buf, CT_FIELD_VALUE, text, sizeof text);
	assert_int_equal(ct_message_end(&buf, start), CTRACE_UNSUPPORTED);
	assert_false(buf.failed);
	assert_int_equal(parse_copy(buf.data, buf.size), CTRACE_OK);
	buf.failed = true; /* memory was short somewhere */
	start = ct_message_start(&buf, CT_VERB_FLUSH, 0);
	assert_int_equal(ct_message_end(&buf, start), CTRACE_NOT_ENOUGH_MEMORY);
}

static void more_is_marked_later(void **state)
{
	struct ct_message message;
	size_t size;

	(void)state;
	make_sample();
	ct_message_set_more(&buf, 0);
	assert_int_equal(ct_message_parse(buf.data, buf.size, &message, &size), CTRACE_OK);
	assert_int_equal(message.flags, CT_MESSAGE_ANSWER | CT_MESSAGE_MORE);
}

/* ---- commands ---- */

static enum ctrace_status decode(struct ct_command *out)
{
	struct ct_message message;
	size_t size;

	assert_int_equal(ct_message_parse(buf.data, buf.size, &message, &size), CTRACE_OK);
	assert_int_equal(size, buf.size);
	return ct_command_decode(&message, out);
}

static void a_command_is_the_same_at_the_other_end(void **state)
{
	struct ct_command command = { .verb = CT_VERB_DEST_SET,
				      .component = span("app.*"),
				      .emitter = span("stderr"),
				      .property = span("color"),
				      .value = span(""),
				      .list = span("textfile, stderr"),
				      .no_inherit = true,
				      .number = UINT64_MAX };
	struct ct_command other;

	(void)state;
	ct_command_encode(&buf, &command);
	assert_false(buf.failed);
	assert_int_equal(decode(&other), CTRACE_OK);
	assert_int_equal(other.verb, CT_VERB_DEST_SET);
	assert_span(other.component, "app.*");
	assert_span(other.emitter, "stderr");
	assert_span(other.property, "color");
	assert_span(other.value, "");
	assert_span(other.list, "textfile, stderr");
	assert_true(other.no_inherit);
	assert_true(other.number == UINT64_MAX);
}

static void what_is_not_said_stays_unsaid(void **state)
{
	struct ct_command command = { .verb = CT_VERB_FLUSH };
	struct ct_command other;

	(void)state;
	ct_command_encode(&buf, &command);
	assert_int_equal(buf.size, CT_MESSAGE_HEAD);
	assert_int_equal(decode(&other), CTRACE_OK);
	assert_null(other.component.at);
	assert_null(other.list.at);
	assert_false(other.no_inherit);
	assert_int_equal(other.number, 0);
}

static void levels_come_across_and_asking_for_one_does_too(void **state)
{
	const uint32_t levels[] = { CTRACE_DEBUG, CTRACE_FATAL, CTRACE_LEVEL_NONE, CT_LEVEL_UNSET,
				    CT_LEVEL_ASKED };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(levels); i++) {
		struct ct_command command = { .verb = CT_VERB_LEVEL,
					      .component = span("a"),
					      .level = levels[i] };
		struct ct_command other;

		ct_buf_clear(&buf);
		ct_command_encode(&buf, &command);
		assert_int_equal(decode(&other), CTRACE_OK);
		assert_int_equal(other.level, levels[i]);
	}
}

static void start_again(enum ct_verb verb)
{
	ct_buf_clear(&buf);
	assert_int_equal(ct_message_start(&buf, verb, 0), 0);
}

static void assert_not_a_command(void)
{
	struct ct_command other = { .verb = CT_VERB_NONE };

	assert_int_equal(ct_message_end(&buf, 0), CTRACE_OK);
	assert_int_equal(decode(&other), CTRACE_DAMAGED);
	assert_int_equal(other.verb, CT_VERB_NONE);
}

static void a_command_out_of_range_is_damage(void **state)
{
	const uint64_t levels[] = { 5, 99, 0x100000000u, 0x1FFFFFFFFu };
	char name[CTRACE_MAX_COMPONENT + 2];

	(void)state;
	memset(name, 'a', sizeof name);
	for (size_t i = 0; i < CT_COUNT(levels); i++) {
		start_again(CT_VERB_LEVEL);
		ct_message_add_number(&buf, CT_FIELD_LEVEL, levels[i]);
		assert_not_a_command();
	}
	start_again(CT_VERB_LEVEL);
	ct_message_add(&buf, CT_FIELD_LEVEL, name, 4); /* a number has eight bytes */
	assert_not_a_command();
	start_again(CT_VERB_DEST_ADD);
	ct_message_add_number(&buf, CT_FIELD_NO_INHERIT, 2);
	assert_not_a_command();
	start_again(CT_VERB_LEVEL);
	ct_message_add(&buf, CT_FIELD_COMPONENT, name, CTRACE_MAX_COMPONENT + 1);
	assert_not_a_command();
	start_again(CT_VERB_FLUSH);
	ct_message_add(&buf, CT_FIELD_NUMBER, NULL, 0);
	assert_not_a_command();
}

static void a_command_that_is_too_long_fails(void **state)
{
	static char text[CT_MESSAGE_LIMIT];
	struct ct_command command = { .verb = CT_VERB_COMPONENT_PROPERTY,
				      .value = { text, sizeof text } };

	(void)state;
	ct_command_encode(&buf, &command);
	assert_true(buf.failed);
}

/* ---- TRACE CT ---- */

static enum ctrace_status decode_trace_ct(struct ct_trace_command *out)
{
	struct ct_message message;
	size_t size;

	assert_int_equal(ct_message_parse(buf.data, buf.size, &message, &size), CTRACE_OK);
	return ct_trace_command_decode(&message, out);
}

static struct ct_trace_command trace_command;
static struct ct_trace_command other_command;

static void assert_the_same_at_the_other_end(void)
{
	memset(&other_command, 0x55, sizeof other_command);
	ct_buf_clear(&buf);
	ct_trace_command_encode(&buf, &trace_command);
	assert_int_equal(decode_trace_ct(&other_command), CTRACE_OK);
	assert_memory_equal(&other_command, &trace_command, sizeof trace_command);
}

static void trace_ct_is_the_same_at_the_other_end(void **state)
{
	struct ct_trace_request *request = &trace_command.request;

	(void)state;
	memset(&trace_command, 0, sizeof trace_command);
	(void)strcpy(trace_command.name, "APPXYZ");
	assert_the_same_at_the_other_end(); /* nothing is said */
	for (unsigned clause = CT_CLAUSE_ASID; clause < CT_CLAUSE_COUNT; clause++)
		request->has[clause] = true;
	request->disconnect = true;
	assert_the_same_at_the_other_end(); /* empty lists, and DISCONNECT */
	(void)strcpy(trace_command.sub, "A.ASID(1F)");
	request->state = CTRACE_CT_PRESET_DELETE;
	request->bufsize = UINT64_MAX;
	for (; request->asid_count < CTRACE_MAX_FILTER; request->asid_count++)
		request->asid[request->asid_count] = (uint16_t)(0xFFFF - request->asid_count);
	for (; request->jobname_count < CTRACE_MAX_FILTER; request->jobname_count++)
		(void)sprintf(request->jobname[request->jobname_count], "JOB%05u",
			      request->jobname_count);
	memset(request->options, '\t', CTRACE_MAX_OPTIONS);
	request->options_size = CTRACE_MAX_OPTIONS;
	request->disconnect = false;
	(void)strcpy(request->writer, "CTWABCD");
	trace_command.cart = UINT64_MAX;
	assert_the_same_at_the_other_end();
}

/* One field that no parser would have left so. */
static void assert_damaged(enum ct_field field, const void *data, size_t size)
{
	start_again(CT_VERB_TRACE_CT);
	ct_message_add(&buf, field, data, size);
	assert_int_equal(ct_message_end(&buf, 0), CTRACE_OK);
	assert_int_equal(decode_trace_ct(&other_command), CTRACE_DAMAGED);
}

static void a_trace_ct_that_nobody_parsed_is_damage(void **state)
{
	const uint64_t states[] = { 6, 99, 100, 104, 0x100000001u };
	static const char many[CTRACE_MAX_OPTIONS + 1] = "x";
	char jobs[17][9];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(states); i++)
		assert_damaged(CT_FIELD_STATE, &states[i], sizeof states[i]);
	assert_damaged(CT_FIELD_COMPONENT, "AB\0C", 4);
	assert_damaged(CT_FIELD_COMPONENT, "A\x7F", 2);
	assert_damaged(CT_FIELD_SUB, "\n", 1);
	assert_damaged(CT_FIELD_BUFSIZE, "64K", 3);
	assert_damaged(CT_FIELD_ASID, "\1\0\2", 3);
	assert_damaged(CT_FIELD_ASID, "\1\0\0\0", 4); /* no address space is 0 */
	memset(jobs, 0x11, sizeof jobs);
	assert_damaged(CT_FIELD_ASID, jobs, 17 * sizeof(uint16_t));
	memset(jobs, 'A', sizeof jobs);
	assert_damaged(CT_FIELD_JOBNAME, jobs, sizeof jobs[0]); /* without an end */
	for (size_t i = 0; i < CT_COUNT(jobs); i++)
		jobs[i][8] = '\0';
	assert_damaged(CT_FIELD_JOBNAME, jobs, sizeof jobs);
	assert_damaged(CT_FIELD_JOBNAME, jobs, sizeof jobs[0] - 1);
	jobs[0][3] = ',';
	assert_damaged(CT_FIELD_JOBNAME, jobs, sizeof jobs[0]);
	assert_damaged(CT_FIELD_OPTIONS, many, sizeof many);
	assert_damaged(CT_FIELD_WTR, "ABCDEFGH", 8);
}

static void a_request_has_its_party_and_an_answer_has_none(void **state)
{
	struct ct_message message;
	size_t size, start;

	(void)state;
	ct_message_set_party(3, "root@desk");
	start = ct_message_start(&buf, CT_VERB_FLUSH, 0);
	assert_int_equal(ct_message_end(&buf, start), CTRACE_OK);
	assert_int_equal(ct_message_parse(buf.data, buf.size, &message, &size), CTRACE_OK);
	assert_int_equal(ct_message_number(&message, CT_FIELD_PARTY, 0), 3);
	assert_span(ct_message_find(&message, CT_FIELD_SENDER), "root@desk");
	ct_buf_clear(&buf);
	start = ct_message_start(&buf, CT_VERB_FLUSH, CT_MESSAGE_ANSWER);
	assert_int_equal(ct_message_end(&buf, start), CTRACE_OK);
	ct_message_set_party(0, "");
	assert_int_equal(ct_message_parse(buf.data, buf.size, &message, &size), CTRACE_OK);
	assert_null(ct_message_find(&message, CT_FIELD_PARTY).at);
}

int test_message(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_made_is_read_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_part_of_a_frame_is_not_a_frame_yet, setup,
						teardown),
		cmocka_unit_test_setup_teardown(damage_is_seen_as_soon_as_it_is_there, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_field_that_passes_the_end_is_damage, setup,
						teardown),
		cmocka_unit_test_setup_teardown(another_version_is_whole_but_has_no_fields, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_unknown_field_is_passed_over, setup, teardown),
		cmocka_unit_test_setup_teardown(a_frame_that_gets_too_large_is_taken_off_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(more_is_marked_later, setup, teardown),
		cmocka_unit_test_setup_teardown(a_command_is_the_same_at_the_other_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_not_said_stays_unsaid, setup, teardown),
		cmocka_unit_test_setup_teardown(levels_come_across_and_asking_for_one_does_too,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_request_has_its_party_and_an_answer_has_none,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_command_out_of_range_is_damage, setup, teardown),
		cmocka_unit_test_setup_teardown(a_command_that_is_too_long_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(trace_ct_is_the_same_at_the_other_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_trace_ct_that_nobody_parsed_is_damage, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
