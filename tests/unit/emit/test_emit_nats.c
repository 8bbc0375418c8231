/*
 * test_emit_nats.c - the emitter NATS: the address from its properties, segments, the limit of the
 * spool, and what a recoverer marks.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bin_fixture.h"

#include "lib/emit/spool.h"

#include <glob.h>

static char failed_at[1000];

static void failed(const struct ctrace_emitter_context *context, const char *what)
{
	(void)context;
	(void)snprintf(failed_at, sizeof failed_at, "%s", what);
}

static int set_up(void **state)
{
	struct fixture *f;

	if (fixture_setup(state) != 0)
		return -1;
	f = *state;
	f->context.failed_at = failed;
	failed_at[0] = '\0';
	return setenv("CTRACE_SPOOL", f->directory, 1);
}

static void nats_open(struct fixture *f, const char *properties)
{
	(void)snprintf(f->properties, sizeof f->properties, "%s", properties);
	assert_int_equal(ct_emit_nats.open(&f->context, &f->self), CTRACE_OK);
}

static void nats_close(struct fixture *f, bool is_ending)
{
	f->context.ending = is_ending;
	ct_emit_nats.close(f->self);
	f->context.ending = false;
	f->self = NULL;
}

static enum ctrace_status nats_write(struct fixture *f, struct ctrace_stream *stream, uint32_t size)
{
	static char text[32768];
	struct ctrace_event_item item;
	struct ctrace_event event;
	struct ctrace_batch batch = {
		.size = sizeof batch,
		.events = &event,
		.event_count = 1,
		.streams = stream,
		.stream_count = 1,
	};

	memset(text, 'x', size);
	text[size] = '\0';
	event = text_event(f, &item, "APP", 1, text);
	return write_as_runs(&ct_emit_nats, f->self, &batch);
}

static size_t segments(void)
{
	glob_t found;
	size_t count = 0;

	if (glob("*.ctb", 0, NULL, &found) == 0)
		count = found.gl_pathc;
	globfree(&found);
	return count;
}

static void address_is(struct fixture *f, const char *properties, const char *wanted)
{
	static char address[CT_SPOOL_ADDRESS_SIZE], boot[CT_SPOOL_BOOT_SIZE];

	nats_open(f, properties);
	assert_true(ct_spool_get_address(f->place.path, address, boot));
	assert_string_equal(address, wanted);
	nats_close(f, true);
	memset(&f->place, 0, sizeof f->place);
	f->context.start_ns++;
}

static void the_address_is_made_of_the_properties(void **state)
{
	struct fixture *f = *state;

	address_is(f, "URL=nats://h1:4222\nSTREAM=TRACES\n", "nats://h1:4222/TRACES");
	address_is(f, "URL=nats://u:p@h1, nats://h2:1\nSTREAM=S\n", "nats://u:p@h1,h2:1/S");
	address_is(
		f,
		"URL=tls://h\nSTREAM=S\nCA=/a/ca.pem\nCERT=/a/b&c%\nCLUSTER=c\nCREDENTIALS=/u.creds\n"
		"KEY=/k\nMAXAGE=7d\nMAXBYTES=10G\nREPLICAS=3\nSUBJECT=acme.t\n",
		"tls://h/S?ca=/a/ca.pem&certificate=/a/b%26c%25&cluster=c&credentials=/u.creds&key=/k&"
		"maxage=7d&maxbytes=10G&replicas=3&subject=acme.t");
}

static void wrong_properties_are_explained(void **state)
{
	static const struct {
		const char *properties, *text;
	} wrong[] = {
		{ "STREAM=S\n", "mftrace.emitter.NATS#URL: it is not set; expected the servers" },
		{ "URL=h\nSTREAM=S\n", "mftrace.emitter.NATS#URL: no address of servers:" },
		{ "URL=nats://h\nSTREAM=a b\n",
		  "mftrace.emitter.NATS#STREAM: not a name: \"a b\"" },
		{ "URL=nats://h\nSTREAM=S\nKEY=k\n",
		  "mftrace.emitter.NATS#KEY: not an absolute path" },
		{ "URL=nats://h\nSTREAM=S\nREPLICAS=0\n",
		  "mftrace.emitter.NATS#REPLICAS: not a number" },
		{ "URL=nats://h\nSTREAM=S\nMAXAGE=7\n",
		  "mftrace.emitter.NATS#MAXAGE: not a time: \"7\"; expected a number and s, m" },
		{ "URL=nats://h\nSTREAM=S\nMAXBYTES=1\n",
		  "mftrace.emitter.NATS#MAXBYTES: too small: \"1\"; expected at least 1M" },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < CT_COUNT(wrong); i++) {
		(void)snprintf(f->properties, sizeof f->properties, "%s", wrong[i].properties);
		assert_int_not_equal(ct_emit_nats.open(&f->context, &f->self), CTRACE_OK);
		assert_memory_equal(failed_at, wrong[i].text, strlen(wrong[i].text));
	}
	f->self = NULL;
	assert_int_equal(segments(), 0);
}

#define GOOD "URL=nats://h\nSTREAM=S\n"

static void hostile_programs_get_a_segment_of_their_own(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	f->context.program = "../.$(PID) x";
	nats_open(f, GOOD);
	assert_int_equal(nats_write(f, &stream, 10), CTRACE_OK);
	nats_close(f, true);
	assert_int_equal(access("______PID__x.4711.17979cfe362a0000.1.ctb/metadata", F_OK), 0);
}

static void a_full_spool_refuses(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	enum ctrace_status status = CTRACE_OK;
	struct ct_spool_state used;
	unsigned written = 0;

	nats_open(f, GOOD "SPOOLSIZE=512K\n");
	while (status == CTRACE_OK && written < 100) {
		status = nats_write(f, &stream, 30000);
		written += status == CTRACE_OK;
	}
	assert_int_equal(status, CTRACE_BUFFER_TOO_SMALL);
	assert_int_equal(errno, EDQUOT);
	assert_non_null(strstr(failed_at, "is full (ctrace.spool.size)"));
	assert_in_range(written, 8, 17);
	assert_true(segments() > 3);
	assert_true(ct_spool_measure(".", &used));
	assert_in_range(used.bytes, 256 << 10, 512 << 10);
	/* A forwarder makes room. */
	assert_int_equal(system("rm -r *.1.ctb *.2.ctb *.3.ctb"), 0);
	assert_int_equal(nats_write(f, &stream, 30000), CTRACE_OK);
	nats_close(f, true);
	/* Another process begins none. */
	memset(&f->place, 0, sizeof f->place);
	f->context.start_ns++;
	(void)snprintf(f->properties, sizeof f->properties, GOOD "SPOOLSIZE=64K\n");
	assert_int_equal(ct_emit_nats.open(&f->context, &f->self), CTRACE_BUFFER_TOO_SMALL);
	f->self = NULL;
}

static void another_address_begins_a_segment(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };

	nats_open(f, GOOD);
	assert_int_equal(nats_write(f, &stream, 10), CTRACE_OK);
	nats_close(f, false);
	nats_open(f, GOOD);
	assert_int_equal(segments(), 1);
	assert_int_equal(nats_write(f, &stream, 10), CTRACE_OK);
	nats_close(f, false);
	nats_open(f, "URL=nats://other\nSTREAM=S\n");
	assert_int_equal(segments(), 2);
	nats_close(f, true);
}

static void a_recoverer_marks_the_last_segment(void **state)
{
	struct fixture *f = *state;
	struct ctrace_stream stream = { .id = 0 };
	char path[CTRACE_EMITTER_PATH_SIZE + 20];

	nats_open(f, GOOD);
	assert_int_equal(nats_write(f, &stream, 10), CTRACE_OK);
	(void)snprintf(path, sizeof path, "%s/" CT_SPOOL_ENDED, f->place.path);
	f->context.uncommitted = true; /* the process was killed: no mark of BINFILE */
	nats_close(f, false);
	f->context.uncommitted = false;
	assert_int_not_equal(access(path, F_OK), 0);
	f->context.recovering = true;
	assert_int_equal(setenv("CTRACE_SPOOL", "/nonexistent", 1), 0);
	nats_open(f, GOOD);
	nats_close(f, true);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(segments(), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fixture_teardown)

int test_emit_nats(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_address_is_made_of_the_properties),
		TEST(wrong_properties_are_explained),
		TEST(hostile_programs_get_a_segment_of_their_own),
		TEST(a_full_spool_refuses),
		TEST(another_address_begins_a_segment),
		TEST(a_recoverer_marks_the_last_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
