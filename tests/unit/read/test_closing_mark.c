/*
 * test_closing_mark.c - what the files of a closed trace lack is reported once, with its place;
 * what is being replaced is no damage.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "stream_fixture.h"

static struct reading found;
static char all[512]; /* a line a report: trouble, path, offset, bytes, message */

static void note(const struct ct_read_note *note, void *user)
{
	size_t size = strlen(all);

	(void)user;
	note_report(note, &found);
	(void)snprintf(all + size, sizeof all - size, "%s %s %u %u %s\n",
		       note->kind == CT_NOTE_UNREAD ? "unread" : "damage", note->path,
		       (unsigned)note->offset, (unsigned)note->bytes, note->message);
}

static void check(const char *only)
{
	uint8_t uuid[16];
	struct ct_buf text = { 0 };
	struct ct_trace_info info = { 0 };
	size_t at;

	assert_int_equal(ct_os_read_file("t.ctb/metadata", (size_t)1 << 20, &text), CTRACE_OK);
	if (ct_schema_parse_trace(text.data, text.size, &info, &at) == CTRACE_OK)
		memcpy(uuid, info.uuid, sizeof uuid);
	else
		memset(uuid, 0, sizeof uuid);
	ct_buf_fini(&text);
	memset(&found, 0, sizeof found);
	all[0] = '\0';
	ct_closing_mark_check("t.ctb", only, uuid, note, NULL);
}

static void assert_found(const char *only, const char *wanted)
{
	check(only);
	assert_string_equal(all, wanted);
}

/* A trace of the streams 0, 1 and lost, whose sizes the mark says. */
static void make_three(struct fixture *f)
{
	struct ct_buf text = { 0 };
	char *mark;

	make(f);
	assert_int_equal(
		system("cp t.ctb/stream.0 t.ctb/stream.1 && cp t.ctb/stream.0 t.ctb/stream.lost"),
		0);
	assert_int_equal(ct_os_read_file("t.ctb/metadata", (size_t)1 << 20, &text), CTRACE_OK);
	mark = memmem(text.data, text.size, "/* closed\n", 10);
	assert_non_null(mark);
	text.size = (size_t)(mark - text.data);
	ct_buf_add_format(&text,
			  "/* closed\nstream.0 %zu 5\nstream.1 %zu\nstream.lost %zu 100\n*/\n",
			  packet_at[PACKETS], packet_at[PACKETS], packet_at[PACKETS]);
	put_file("t.ctb/metadata", &text);
	ct_buf_fini(&text);
}

static void what_is_as_the_mark_says(void **state)
{
	make_three(*state);
	assert_found(NULL, "");
	assert_int_equal(system("echo more >>t.ctb/stream.1"), 0);
	assert_found(NULL, "");
	(void)compress_stream("stream.0");
	assert_found(NULL, ""); /* both are there */
	assert_int_equal(unlink("t.ctb/stream.0"), 0);
	assert_found(NULL, "");
	assert_found("stream.0.zst", "");
	/* Whoever reads it reports that. */
	assert_int_equal(truncate("t.ctb/stream.1", (off_t)packet_at[3] + 1), 0);
	assert_found(NULL, "");
	assert_int_equal(system("rm t.ctb/stream.1 && ln -s nothing t.ctb/stream.1"), 0);
	assert_found(NULL, "");
}

static void what_is_missing(void **state)
{
	char wanted[512];
	unsigned size, cut;

	make_three(*state);
	size = (unsigned)packet_at[PACKETS];
	cut = (unsigned)packet_at[7];
	assert_int_equal(system("rm t.ctb/stream.lost && : >t.ctb/stream.0"), 0);
	assert_int_equal(truncate("t.ctb/stream.1", (off_t)cut), 0);
	(void)snprintf(
		wanted, sizeof wanted,
		"unread t.ctb/stream.0 0 0 the file is empty; metadata says that it had %u bytes\n"
		"damage t.ctb/stream.1 %u %u the file ends here; metadata says that it had %u bytes\n"
		"unread t.ctb/stream.lost 0 0 the file is missing; metadata says that it had %u bytes\n",
		size, cut, size - cut, size, size);
	assert_found(NULL, wanted);
	*(strchr(wanted, '\n') + 1) = '\0';
	assert_found("stream.0", wanted);
	assert_found("stream.10", "");
	/* A compressed one that is empty is as bad. */
	assert_int_equal(system("rm t.ctb/stream.0 && : >t.ctb/stream.0.zst"), 0);
	(void)snprintf(
		wanted, sizeof wanted,
		"unread t.ctb/stream.0.zst 0 0 the file is empty; metadata says that it had %u bytes\n",
		size);
	assert_found("stream.0.zst", wanted);
}

/* Nothing is known of a directory without a mark, nor of one that was gone on with. */
static void without_a_mark(void **state)
{
	make_three(*state);
	assert_int_equal(unlink("t.ctb/stream.1"), 0);
	check(NULL);
	assert_int_equal(found.reports, 1);
	assert_int_equal(system("cp t.ctb/metadata m && echo '/**/' >>t.ctb/metadata"), 0);
	assert_found(NULL, "");
	assert_int_equal(system("sed '/closed$/,$d' m >t.ctb/metadata"), 0);
	assert_found(NULL, "");
	assert_int_equal(system(": >t.ctb/metadata"), 0);
	assert_found(NULL, "");
	assert_int_equal(unlink("t.ctb/metadata"), 0);
	ct_closing_mark_check("t.ctb", NULL, (const uint8_t[16]){ 0 }, note, NULL);
	ct_closing_mark_check("nowhere", NULL, (const uint8_t[16]){ 0 }, note, NULL);
	assert_string_equal(all, "");
}

/* A line that nobody writes ends it. */
static void hostile_marks(void **state)
{
	static const struct {
		const char *lines;
		unsigned reports;
	} marks[] = {
		{ "stream.5 1\nstream.6 2\n", 2 },
		{ "stream.5 0\nstream.6 2\n", 1 },
		{ "stream.6 1\nstream.6 1\nstream.7 1\n", 1 },
		{ "stream.6 1\nstream.5 1\n", 1 },
		{ "stream.lost 1\nstream.lost 1\nstream.5 1\n", 1 },
		{ "stream.5 99999999999999999999999\n", 0 },
		{ "stream.5 -1\n", 0 },
		{ "stream.65536 1\n", 0 },
		{ "stream.5  1\n", 0 },
		{ "stream.5\n", 0 },
		{ "../t 1\n", 0 },
		{ "stream.5 1", 0 }, /* the end of the mark is behind it, and the end of the text */
		{ "stream.5 1\nstream.6 x\n", 1 },
		{ "stream.5 1 0\nstream.6 2 1\n", 2 },
	};

	(void)state;
	assert_int_equal(mkdir("t.ctb", 0700), 0);
	for (size_t i = 0; i < CT_COUNT(marks); i++) {
		struct ct_buf text = { 0 };

		ct_buf_add_format(&text, "/* closed\n%s*/\n", marks[i].lines);
		put_file("t.ctb/metadata", &text);
		check(NULL);
		assert_int_equal(found.reports, marks[i].reports);
		ct_buf_fini(&text);
	}
}

/* -----------------------------------------------------------------------------------------------
 * Meanwhile
 */

static void put_new_metadata(const char *name)
{
	if (strcmp(name, "closing_mark.measured") == 0)
		assert_int_equal(system("sed -i s/uuid/uuie/ t.ctb/metadata"), 0);
}

static void removed_and_replaced_meanwhile(void **state)
{
	make_three(*state);
	assert_int_equal(unlink("t.ctb/stream.1"), 0);
	ct_point_set(put_new_metadata);
	assert_found(NULL, "");
	ct_point_set(NULL);
	check(NULL);
	assert_int_equal(found.reports, 1); /* they stay so */
}

/* The streams are gone, and the new metadata do not have their name yet. */
static void about_to_be_replaced(void **state)
{
	int ready[2], end[2], status;
	char byte;
	pid_t child;

	make_three(*state);
	assert_int_equal(unlink("t.ctb/stream.1"), 0);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(end), 0);
	child = fork();
	if (child == 0) {
		int directory = open("t.ctb", O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
		struct ct_file_id id;

		(void)close(end[1]);
		if (ct_bin_lock_open(directory, CT_BIN_TEMPORARY, O_CREAT, &fd, &id) != CTRACE_OK ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		(void)!read(end[0], &byte, 1);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_found(NULL, "");
	assert_int_equal(close(end[1]), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	check(NULL);
	assert_int_equal(found.reports, 1); /* its process died before it was done */
}

int test_closing_mark(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_is_as_the_mark_says),
		TEST(what_is_missing),
		TEST(without_a_mark),
		TEST(hostile_marks),
		TEST(removed_and_replaced_meanwhile),
		TEST(about_to_be_replaced),
	};

	return cmocka_run_group_tests_name("read/closing_mark", tests, NULL, NULL);
}
