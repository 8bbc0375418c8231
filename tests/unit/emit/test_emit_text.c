/*
 * test_emit_text.c - TEXTFILE driven as the consumer drives it: exact files, generations, failures,
 * recovery, MULTIPROC.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "emit_fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define LOG "mymain.textfile.17356.log"
#define MARK "# -MFTRACE Text Emitter-\n"

static int init(void **state)
{
	*state = fixture_create(&ct_emit_textfile);
	return 0;
}

static int fini(void **state)
{
	for (unsigned call = 0; call < CT_OS_CALL_COUNT; call++)
		ct_os_fail((enum ct_os_call)call, 0, 0, 0);
	fixture_destroy(*state);
	return 0;
}

static uint64_t size_of(const struct fixture *fixture, const char *name)
{
	char *text = fixture_read(fixture, name);
	uint64_t size = strlen(text);

	free(text);
	return size;
}

static void assert_place(const struct fixture *fixture, const char *name, uint32_t generation)
{
	char path[1024];

	(void)snprintf(path, sizeof path, "%s/%s", fixture->directory, name);
	assert_string_equal(fixture->place.path, path);
	assert_int_equal(fixture->place.offset, size_of(fixture, name));
	assert_int_equal((uint32_t)fixture->place.extra, generation);
}

/* Bytes of one event's line; the header's size depends on nothing that changes. */
static uint64_t line_size(void)
{
	return strlen("15:12:27.993 MF.RTS 255 1 \"e000000\"\n");
}

static void whole_file_byte_for_byte(void **state)
{
	struct fixture *fixture = *state;
	struct stat info;
	char path[1024], *text;
	mode_t before = umask(0);

	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	(void)umask(before);
	assert_int_equal(fixture_write(fixture, 0, 2), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 2, 1), CTRACE_OK);
	text = fixture_read(fixture, LOG);
	assert_memory_equal(text, MARK, strlen(MARK));
	assert_non_null(
		strstr(text, "# Format           = $(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)\n"
			     "15:12:27.993 MF.RTS 255 1 \"e000000\"\n"
			     "15:12:27.993 MF.RTS 255 1 \"e000001\"\n"
			     "15:12:27.993 MF.RTS 255 1 \"e000002\"\n"));
	free(text);
	assert_int_equal(fixture_count(fixture, LOG, MARK), 1);
	assert_place(fixture, LOG, 1);
	(void)snprintf(path, sizeof path, "%s/" LOG, fixture->directory);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
}

static void properties_shape_the_line(void **state)
{
	struct fixture *fixture = *state;
	char *text;

	fixture_set(fixture, "FORMAT", "$(EVENT):$(DATA)");
	fixture_set(fixture, "DELIMCHAR", "/");
	fixture_set(fixture, "QUOTESTRING", "FALSE");
	fixture_set(fixture, "FILE", "x.$(PLATFORM)");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 7, 1), CTRACE_OK);
	text = fixture_read(fixture, "x.native");
	assert_non_null(strstr(text, "# Format           = $(EVENT):$(DATA)\n255:/e000007\n"));
	free(text);
}

static void level_filters(void **state)
{
	struct fixture *fixture = *state;
	struct ctrace_batch batch;

	fixture_set(fixture, "LEVEL", "2");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	batch = fixture_batch(fixture, 0, 3);
	fixture->events[1].level = CTRACE_WARN;
	assert_int_equal(ct_emit_textfile.write(fixture->self, &batch), CTRACE_OK);
	assert_int_equal(fixture_count(fixture, LOG, "MF.RTS"), 1);
	assert_int_equal(fixture_count(fixture, LOG, "e000001"), 1);
	fixture_close(fixture);
	fixture_set(fixture, "LEVEL", "9999");
	memset(&fixture->place, 0, sizeof fixture->place);
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	batch = fixture_batch(fixture, 0, 3);
	fixture->events[1].level = CTRACE_FATAL;
	ct_emit_textfile.lost(fixture->self, (uint64_t[CTRACE_LOSS_COUNT]){ 1 });
	assert_int_equal(ct_emit_textfile.write(fixture->self, &batch), CTRACE_OK);
	fixture_close(fixture);
	assert_int_equal(fixture_count(fixture, LOG, "MF.RTS"), 1);
	assert_int_equal(fixture_count(fixture, LOG, "Lost"), 0);
}

static void existing_file_is_appended_to(void **state)
{
	struct fixture *fixture = *state;

	fixture_put(fixture, LOG, "what was there\n");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 1), CTRACE_OK);
	assert_int_equal(fixture_count(fixture, LOG, "what was there\n" MARK), 1);
	assert_place(fixture, LOG, 1);
}

static void hostile_paths_are_refused(void **state)
{
	struct fixture *fixture = *state;
	char command[8192];

	fixture_put(fixture, "victim", "untouched\n");
	for (unsigned kind = 0; kind < 4; kind++) {
		static const char *const make[] = { "ln -s victim", "ln victim", "mkfifo",
						    "mkdir" };

		(void)snprintf(command, sizeof command, "cd '%s' && rm -rf %s && %s %s",
			       fixture->directory, LOG, make[kind], LOG);
		assert_int_equal(system(command), 0);
		assert_int_not_equal(fixture_open(fixture), CTRACE_OK);
		assert_null(fixture->self);
	}
	assert_int_equal(size_of(fixture, "victim"), strlen("untouched\n"));
	assert_string_equal(fixture->place.path, "");
}

/* A batch is larger than what is formatted at a time. */
static void large_batches(void **state)
{
	struct fixture *fixture = *state;
	static char text[65536];
	struct ctrace_batch batch;

	memset(text, 'x', sizeof text);
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	batch = fixture_batch(fixture, 0, 100);
	for (unsigned i = 0; i < 100; i++)
		fixture->items[i] = (struct ctrace_event_item){ .type = CTRACE_TYPE_TEXT,
								.size = sizeof text,
								.data = text };
	assert_int_equal(ct_emit_textfile.write(fixture->self, &batch), CTRACE_OK);
	assert_int_equal(fixture_count(fixture, LOG, "x\"\n"), 100);
	assert_place(fixture, LOG, 1);
	/* And when it fails late, nothing of it stays. */
	uint64_t before = fixture->place.offset;
	ct_os_fail(CT_OS_WRITE, 10, 1, ENOSPC);
	assert_int_equal(ct_emit_textfile.write(fixture->self, &batch), CTRACE_OUTPUT_ERROR);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(fixture->place.offset, before);
	assert_int_equal(size_of(fixture, LOG), before);
}

static void generations_turn_when_the_next_record_finds_them_full(void **state)
{
	struct fixture *fixture = *state;
	uint64_t header, in_file;
	uint32_t next;

	fixture_set(fixture, "MAXGENERATION", "3");
	fixture_set(fixture, "MAXFILESIZE", "0x1");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_place(fixture, LOG "_1", 1);
	assert_int_equal(fixture_write(fixture, 0, 1), CTRACE_OK);
	header = size_of(fixture, LOG "_1") - line_size();
	in_file = (1024 - header + line_size() - 1) / line_size();
	/* Up to the limit one at a time, then in the middle of a batch. */
	for (uint32_t i = 1; i < in_file; i++)
		assert_int_equal(fixture_write(fixture, i, 1), CTRACE_OK);
	assert_place(fixture, LOG "_1", 1);
	assert_true(fixture->place.offset >= 1024 && fixture->place.offset - line_size() < 1024);
	next = (uint32_t)in_file;
	assert_int_equal(fixture_write(fixture, next, 1), CTRACE_OK);
	assert_place(fixture, LOG "_2", 2);
	assert_int_equal(fixture_write(fixture, next + 1, (uint32_t)in_file), CTRACE_OK);
	assert_place(fixture, LOG "_3", 3);
	assert_int_equal(fixture_check_events(fixture, LOG "_1", 0), in_file);
	assert_int_equal(fixture_check_events(fixture, LOG "_2", next), 2 * in_file);
	assert_int_equal(fixture_check_events(fixture, LOG "_3", 2 * next), 2 * in_file + 1);
	/* After the last comes the first, overwritten. */
	assert_int_equal(fixture_write(fixture, 2 * next + 1, (uint32_t)in_file), CTRACE_OK);
	assert_place(fixture, LOG "_1", 1);
	assert_int_equal(fixture_check_events(fixture, LOG "_1", 3 * next), 3 * in_file + 1);
	for (unsigned i = 1; i <= 3; i++) {
		char name[64];

		(void)snprintf(name, sizeof name, LOG "_%u", i);
		assert_int_equal(fixture_count(fixture, name, MARK), 1);
	}
	assert_int_equal(size_of(fixture, LOG), 0);
}

/* A file of exactly MAXFILESIZE is full; one that a byte is missing from takes another record. */
static void generations_turn_at_the_byte(void **state)
{
	static char text[2048];

	(void)state;
	memset(text, 'x', sizeof text);
	for (uint32_t missing = 0; missing < 2; missing++) {
		struct fixture *fixture = fixture_create(&ct_emit_textfile);
		struct ctrace_batch batch;

		fixture_set(fixture, "MAXGENERATION", "2");
		fixture_set(fixture, "MAXFILESIZE", "1");
		fixture_set(fixture, "FILE", "t$(GEN)");
		assert_int_equal(fixture_open(fixture), CTRACE_OK);
		assert_int_equal(fixture_write(fixture, 0, 1), CTRACE_OK);
		batch = fixture_batch(fixture, 1, 1);
		fixture->items[0].data = text;
		fixture->items[0].size =
			(uint32_t)(1024 - missing - fixture->place.offset - (line_size() - 7));
		assert_int_equal(ct_emit_textfile.write(fixture->self, &batch), CTRACE_OK);
		assert_int_equal(fixture->place.offset, 1024 - missing);
		assert_int_equal(fixture_write(fixture, 2, 1), CTRACE_OK);
		assert_int_equal((uint32_t)fixture->place.extra, missing ? 1 : 2);
		assert_int_equal(fixture_write(fixture, 3, 1), CTRACE_OK);
		assert_int_equal((uint32_t)fixture->place.extra, 2);
		fixture_destroy(fixture);
	}
}

static void a_batch_larger_than_all_generations(void **state)
{
	struct fixture *fixture = *state;
	uint32_t first = UINT32_MAX;

	fixture_set(fixture, "MAXGENERATION", "2");
	fixture_set(fixture, "MAXFILESIZE", "1");
	fixture_set(fixture, "FILE", "g$(GEN).log");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 1000), CTRACE_OK);
	/* The last two files hold the last events without a gap. */
	for (unsigned i = 1; i <= 2; i++) {
		char name[64], *text;

		(void)snprintf(name, sizeof name, "g%u.log", i);
		text = fixture_read(fixture, name);
		uint32_t at = (uint32_t)strtoul(strstr(text, "\"e") + 2, NULL, 10);
		free(text);
		first = at < first ? at : first;
	}
	(void)snprintf(fixture->texts[0], sizeof fixture->texts[0], "e%06u", first);
	char name[8] = "g1.log";
	name[1] = fixture_count(fixture, "g1.log", fixture->texts[0]) == 1 ? '1' : '2';
	first = fixture_check_events(fixture, name, first);
	name[1] = name[1] == '1' ? '2' : '1';
	assert_int_equal(fixture_check_events(fixture, name, first), 1000);

	/* When such a batch fails, it can be written again. */
	ct_os_fail(CT_OS_WRITE, 7, 1, EIO);
	assert_int_equal(fixture_write(fixture, 1000, 1000), CTRACE_OUTPUT_ERROR);
	assert_int_equal(fixture_write(fixture, 1000, 1000), CTRACE_OK);
	assert_int_equal(fixture_count(fixture, "g1.log", "e001999") +
				 fixture_count(fixture, "g2.log", "e001999"),
			 1);
	assert_int_equal(fixture_count(fixture, "g1.log", MARK), 1);
	assert_int_equal(fixture_count(fixture, "g2.log", MARK), 1);
}

/* A failure at every place that can fail: the output stands where it stood, and goes on without a
 * gap when it works again. */
static void every_failure_is_taken_back(void **state)
{
	static const enum ct_os_call calls[] = { CT_OS_WRITE, CT_OS_OPEN, CT_OS_TRUNCATE };
	static const int errors[] = { ENOSPC, EIO, EDQUOT };

	(void)state;
	for (unsigned generations = 0; generations < 2; generations++) {
		for (size_t call = 0; call < CT_COUNT(calls); call++) {
			for (unsigned skip = 0; skip < 6; skip++) {
				struct fixture *fixture = fixture_create(&ct_emit_textfile);
				struct ctrace_place before;
				enum ctrace_status status;
				uint32_t end;
				int error;

				if (generations != 0) {
					fixture_set(fixture, "MAXGENERATION", "9");
					fixture_set(fixture, "MAXFILESIZE", "1");
				}
				fixture_set(fixture, "FILE", generations != 0 ? "t$(GEN)" : "t1");
				assert_int_equal(fixture_open(fixture), CTRACE_OK);
				assert_int_equal(fixture_write(fixture, 0, 5), CTRACE_OK);
				before = fixture->place;
				ct_os_fail(calls[call], skip, 3, errors[call]);
				errno = 0;
				status = fixture_write(fixture, 5, 60);
				error = errno;
				ct_os_fail(calls[call], 0, 0, 0);
				if (status != CTRACE_OK) {
					assert_int_equal(status, CTRACE_OUTPUT_ERROR);
					assert_int_equal(error, errors[call]);
					assert_memory_equal(&fixture->place, &before,
							    sizeof before);
					/* Unless cutting is what fails, the file is what it was. */
					if (calls[call] != CT_OS_TRUNCATE)
						assert_int_equal(size_of(fixture, "t1"),
								 before.offset);
				}
				if (status != CTRACE_OK)
					assert_int_equal(fixture_write(fixture, 5, 60), CTRACE_OK);
				end = 0;
				for (unsigned i = 1; i <= (uint32_t)fixture->place.extra; i++) {
					char name[16];

					(void)snprintf(name, sizeof name, "t%u", i);
					end = fixture_check_events(fixture, name, end);
					assert_int_equal(fixture_count(fixture, name, MARK), 1);
				}
				assert_int_equal(end, 65);
				fixture_destroy(fixture);
			}
		}
	}
}

/* Cutting back fails too: the bytes beyond the place do not count, and are gone before the next
 * batch. */
static void cutting_back_later(void **state)
{
	struct fixture *fixture = *state;
	static char text[65536];
	struct ctrace_batch batch;

	memset(text, 'x', sizeof text);
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 1), CTRACE_OK);
	batch = fixture_batch(fixture, 1, 8);
	for (unsigned i = 0; i < 8; i++)
		fixture->items[i] = (struct ctrace_event_item){ .type = CTRACE_TYPE_TEXT,
								.size = sizeof text,
								.data = text };
	ct_os_fail(CT_OS_WRITE, 1, 1, ENOSPC);
	ct_os_fail(CT_OS_TRUNCATE, 0, 2, EIO);
	assert_int_equal(ct_emit_textfile.write(fixture->self, &batch), CTRACE_OUTPUT_ERROR);
	assert_int_equal(errno, ENOSPC);
	assert_true(size_of(fixture, LOG) > fixture->place.offset);
	assert_int_equal(fixture_write(fixture, 1, 1), CTRACE_OUTPUT_ERROR);
	assert_int_equal(errno, EIO);
	assert_int_equal(fixture_write(fixture, 1, 1), CTRACE_OK);
	assert_place(fixture, LOG, 1);
	assert_int_equal(fixture_check_events(fixture, LOG, 0), 2);
}

static void removed_and_replaced_files(void **state)
{
	struct fixture *fixture = *state;
	char command[8192];

	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 2), CTRACE_OK);
	(void)snprintf(command, sizeof command, "rm '%s/%s'", fixture->directory, LOG);
	assert_int_equal(system(command), 0);
	assert_int_equal(fixture_write(fixture, 2, 2), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, LOG, 2), 4);
	assert_int_equal(fixture_count(fixture, LOG, MARK), 1);

	(void)snprintf(command, sizeof command, "cd '%s' && mv %s old && echo '# new' > %s",
		       fixture->directory, LOG, LOG);
	assert_int_equal(system(command), 0);
	assert_int_equal(fixture_write(fixture, 4, 2), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, "old", 2), 4);
	assert_int_equal(fixture_check_events(fixture, LOG, 4), 6);
	assert_int_equal(fixture_count(fixture, LOG, "# new\n" MARK), 1);

	/* Emptied in place: no hole. */
	(void)snprintf(command, sizeof command, ": > '%s/%s'", fixture->directory, LOG);
	assert_int_equal(system(command), 0);
	assert_int_equal(fixture_write(fixture, 6, 2), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, LOG, 6), 8);
	assert_int_equal(fixture_count(fixture, LOG, MARK), 1);

	/* Added to by hand: not overwritten. */
	(void)snprintf(command, sizeof command, "echo '# note' >> '%s/%s'", fixture->directory,
		       LOG);
	assert_int_equal(system(command), 0);
	assert_int_equal(fixture_write(fixture, 8, 1), CTRACE_OK);
	assert_int_equal(fixture_count(fixture, LOG, "# note\n"), 1);
	assert_int_equal(fixture_check_events(fixture, LOG, 6), 9);
}

static void works_again_when_the_directory_is_back(void **state)
{
	struct fixture *fixture = *state;
	char command[8192], name[64];

	fixture_set(fixture, "LOCATION", "logs");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 1), CTRACE_OK);
	ct_os_fail(CT_OS_OPEN, 0, 1000, EMFILE);
	(void)snprintf(command, sizeof command, "rm -r '%s/logs'", fixture->directory);
	assert_int_equal(system(command), 0);
	assert_int_equal(fixture_write(fixture, 1, 1), CTRACE_OUTPUT_ERROR);
	assert_int_equal(errno, EMFILE);
	assert_int_equal(fixture_write(fixture, 1, 1), CTRACE_OUTPUT_ERROR);
	ct_os_fail(CT_OS_OPEN, 0, 0, 0);
	assert_int_equal(fixture_write(fixture, 1, 1), CTRACE_OK);
	(void)snprintf(name, sizeof name, "logs/%s", LOG);
	assert_int_equal(fixture_check_events(fixture, name, 1), 2);
}

/* The process dies after any write: whoever recovers opens at the last committed place. */
static void recovery_cuts_and_continues(void **state)
{
	struct fixture *fixture = *state;
	struct ctrace_place committed;

	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 3), CTRACE_OK);
	committed = fixture->place;
	assert_int_equal(fixture_write(fixture, 3, 4), CTRACE_OK);
	fixture_close(fixture);

	fixture->place = committed;
	fixture->context.recovering = true;
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(size_of(fixture, LOG), committed.offset);
	assert_int_equal(fixture_write(fixture, 3, 5), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, LOG, 0), 8);
	assert_int_equal(fixture_count(fixture, LOG, MARK), 1);
	assert_place(fixture, LOG, 1);
}

/* Its last lines are not committed, and would be there twice if it were opened at its end. */
static void recovery_waits_for_a_file_that_cannot_be_looked_at(void **state)
{
	struct fixture *fixture = *state;
	struct ctrace_place committed;

	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 3), CTRACE_OK);
	committed = fixture->place;
	assert_int_equal(fixture_write(fixture, 3, 4), CTRACE_OK);
	fixture_close(fixture);

	fixture->place = committed;
	fixture->context.recovering = true;
	ct_os_fail(CT_OS_STAT, 0, 1, EIO);
	assert_int_equal(fixture_open(fixture), CTRACE_OS_ERROR);
	ct_os_fail(CT_OS_STAT, 0, 1, ENOMEM);
	assert_int_equal(fixture_open(fixture), CTRACE_NOT_ENOUGH_MEMORY);
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 3, 4), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, LOG, 0), 7);
}

/* Only the opening was committed: the first batch is cut off with its header, what was there before
 * stays. */
static void recovery_from_the_opening(void **state)
{
	struct fixture *fixture = *state;
	struct ctrace_place committed;

	fixture_put(fixture, LOG, "# what was there\n");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	committed = fixture->place;
	assert_int_equal(fixture_write(fixture, 0, 3), CTRACE_OK);
	fixture_close(fixture);

	fixture->place = committed;
	fixture->context.recovering = true;
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 4), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, LOG, 0), 4);
	assert_int_equal(fixture_count(fixture, LOG, MARK), 1);
	assert_int_equal(fixture_count(fixture, LOG, "# what was there\n" MARK), 1);
}

static struct ctrace_place kept_place;

static enum ctrace_status keep_place(const struct ctrace_emitter_context *context)
{
	kept_place = *context->place;
	return CTRACE_OK;
}

/* Killed behind the write, and before the batch was committed: all that counts is what write()
 * itself committed.  A part of the batch is in the file before. */
static void recovery_over_a_turn_of_generations(void **state)
{
	struct fixture *fixture = *state;

	fixture_set(fixture, "MAXGENERATION", "12");
	fixture_set(fixture, "MAXFILESIZE", "1");
	fixture_set(fixture, "FILE", "t$(GEN)");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 30), CTRACE_OK);
	assert_int_equal((uint32_t)fixture->place.extra, 2);
	fixture->context.commit = keep_place;
	for (uint32_t turned = 0; turned < 2; turned++) {
		uint32_t first = 30 + turned * 20, end = 0;

		fixture_close(fixture);
		fixture->context.recovering = false;
		assert_int_equal(fixture_open(fixture), CTRACE_OK);
		/* One turn, then three. */
		assert_int_equal(fixture_write(fixture, first, turned ? 70 : 20), CTRACE_OK);
		fixture_close(fixture);
		fixture->place = kept_place;
		fixture->context.recovering = true;
		assert_int_equal(fixture_open(fixture), CTRACE_OK);
		/* until something is delivered */
		assert_memory_equal(&fixture->place, &kept_place, sizeof kept_place);
		assert_int_equal(fixture_write(fixture, first, turned ? 80 : 20), CTRACE_OK);
		for (unsigned i = 1; i <= (uint32_t)fixture->place.extra; i++) {
			char name[16];

			(void)snprintf(name, sizeof name, "t%u", i);
			end = fixture_check_events(fixture, name, end);
			/* another one where it was opened again */
			assert_true(fixture_count(fixture, name, MARK) >= 1);
		}
		assert_int_equal(end, turned ? 130 : 50);
	}
	fixture->context.commit = NULL;
}

/* ---- rotate: an operator wants a new file ---- */

static void rename_to(const struct fixture *fixture, const char *name, const char *other)
{
	char from[512], to[512];

	(void)snprintf(from, sizeof from, "%s/%s", fixture->directory, name);
	(void)snprintf(to, sizeof to, "%s/%s", fixture->directory, other);
	assert_int_equal(rename(from, to), 0);
}

static enum ctrace_status rotate(struct fixture *fixture)
{
	return ct_emitter_rotate(fixture->emitter, fixture->self);
}

static void rotating_turns_generations(void **state)
{
	struct fixture *fixture = *state;

	fixture_set(fixture, "MAXGENERATION", "3");
	fixture_set(fixture, "FILE", "t$(GEN)");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	/* Nothing has been written to the first: it is new as it is. */
	assert_int_equal(rotate(fixture), CTRACE_OK);
	assert_place(fixture, "t1", 1);
	for (uint32_t first = 0; first < 80; first += 20) {
		assert_int_equal(fixture_write(fixture, first, 20), CTRACE_OK);
		assert_int_equal(rotate(fixture), CTRACE_OK);
		assert_int_equal(rotate(fixture), CTRACE_OK); /* asked twice: one */
		assert_int_equal(fixture->place.offset, 0);
	}
	/* 1, 2, 3 and 1 again; 2 has been begun empty. */
	assert_int_equal(fixture_check_events(fixture, "t1", 60), 80);
	assert_int_equal(fixture_check_events(fixture, "t3", 40), 60);
	assert_int_equal(size_of(fixture, "t2"), 0);
	assert_int_equal(fixture_write(fixture, 80, 1), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, "t2", 80), 81);
	assert_int_equal(fixture_count(fixture, "t2", MARK), 1);
	assert_place(fixture, "t2", 2);
}

static void rotating_a_single_file_goes_by_its_name(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned shared = 0; shared < 2; shared++) {
		fixture_set(fixture, "FILE", shared ? "shared" : "own");
		fixture_set(fixture, "MULTIPROC", shared ? "TRUE" : "FALSE");
		memset(&fixture->place, 0, sizeof fixture->place);
		assert_int_equal(fixture_open(fixture), CTRACE_OK);
		assert_int_equal(fixture_write(fixture, 0, 2), CTRACE_OK);
		assert_int_equal(rotate(fixture), CTRACE_UNSUPPORTED);
		assert_int_equal(fixture_write(fixture, 2, 1), CTRACE_OK);
		rename_to(fixture, shared ? "shared" : "own", "old");
		assert_int_equal(rotate(fixture), CTRACE_OK);
		assert_int_equal(fixture->place.offset, 0);
		assert_int_equal(rotate(fixture), CTRACE_UNSUPPORTED);
		assert_int_equal(fixture_write(fixture, 3, 4), CTRACE_OK);
		assert_int_equal(fixture_check_events(fixture, "old", 0), 3);
		assert_int_equal(fixture_check_events(fixture, shared ? "shared" : "own", 3), 7);
		assert_int_equal(fixture_count(fixture, shared ? "shared" : "own", MARK), 1);
		fixture_close(fixture);
	}
}

/* Renamed, and nobody says so: the next event sees it. */
static void a_renamed_file_is_followed_by_a_new_one(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 2), CTRACE_OK);
	rename_to(fixture, LOG, "old");
	assert_int_equal(fixture_write(fixture, 2, 2), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, "old", 0), 2);
	assert_int_equal(fixture_check_events(fixture, LOG, 2), 4);
}

static void what_cannot_be_rotated_goes_on(void **state)
{
	struct fixture *fixture = *state;
	struct ctrace_place before;

	fixture_set(fixture, "MAXGENERATION", "3");
	fixture_set(fixture, "FILE", "t$(GEN)");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 5), CTRACE_OK);
	before = fixture->place;
	ct_os_fail(CT_OS_OPEN, 0, 1000, EMFILE);
	assert_int_equal(rotate(fixture), CTRACE_OUTPUT_ERROR);
	ct_os_fail(CT_OS_OPEN, 0, 0, 0);
	assert_memory_equal(&before, &fixture->place, sizeof before);
	assert_int_equal(fixture_write(fixture, 5, 5), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, "t1", 0), 10);
	assert_int_equal(fixture_write(fixture, 10, 1), CTRACE_OK);
}

/* Killed when the new file has events that are not committed: its place is, so they are found and
 * cut. */
static void recovery_after_rotating(void **state)
{
	struct fixture *fixture = *state;
	struct ctrace_place committed;

	fixture_set(fixture, "MAXGENERATION", "3");
	fixture_set(fixture, "FILE", "t$(GEN)");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 5), CTRACE_OK);
	assert_int_equal(rotate(fixture), CTRACE_OK);
	committed = fixture->place;
	assert_int_equal(fixture_write(fixture, 5, 5), CTRACE_OK);
	fixture_close(fixture);

	fixture->place = committed;
	fixture->context.recovering = true;
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 5, 7), CTRACE_OK);
	assert_int_equal(
		fixture_check_events(fixture, "t2", fixture_check_events(fixture, "t1", 0)), 12);
	assert_int_equal(fixture_count(fixture, "t2", MARK), 1);
}

/* FILE without $(PID): another process has used the file since.  What it wrote stays. */
static void recovery_spares_what_others_wrote(void **state)
{
	struct fixture *fixture = *state;
	struct fixture *other = fixture_create(&ct_emit_textfile);

	for (unsigned only_opened = 0; only_opened < 2; only_opened++) {
		char path[1024];
		struct ctrace_place committed;

		(void)snprintf(path, sizeof path, "%s/shared%u.log", fixture->directory,
			       only_opened);
		fixture_set(fixture, "FILE", path);
		memset(&fixture->place, 0, sizeof fixture->place);
		fixture->context.recovering = false;
		assert_int_equal(fixture_open(fixture), CTRACE_OK);
		if (!only_opened)
			assert_int_equal(fixture_write(fixture, 0, 1), CTRACE_OK);
		committed = fixture->place;
		fixture_close(fixture);

		fixture_set(other, "FILE", path);
		other->context.pid = 4711;
		memset(&other->place, 0, sizeof other->place);
		assert_int_equal(fixture_open(other), CTRACE_OK);
		assert_int_equal(fixture_write(other, 500, 3), CTRACE_OK);
		fixture_close(other);

		fixture->place = committed;
		fixture->context.recovering = true;
		assert_int_equal(fixture_open(fixture), CTRACE_OK);
		assert_int_equal(fixture_write(fixture, 1, 1), CTRACE_OK);
		fixture_close(fixture);
		assert_int_equal(fixture_count(fixture, path, "\"e00050"), 3);
		assert_int_equal(fixture_count(fixture, path, "e000001"), 1);
	}
	fixture_destroy(other);
}

static void recovery_when_the_file_is_shorter_or_gone(void **state)
{
	struct fixture *fixture = *state;
	char command[8192];

	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 3), CTRACE_OK);
	fixture_close(fixture);
	fixture->context.recovering = true;
	fixture_put(fixture, LOG, "# short\n");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 3, 1), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, LOG, 3), 4);
	fixture_close(fixture);
	(void)snprintf(command, sizeof command, "rm '%s/%s'", fixture->directory, LOG);
	assert_int_equal(system(command), 0);
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 4, 1), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, LOG, 4), 5);
	assert_int_equal(fixture_count(fixture, LOG, MARK), 1);
	fixture_close(fixture);
	/* A place that is no path, from a damaged session: the output begins afresh. */
	memset(fixture->place.path, 'x', sizeof fixture->place.path);
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 5, 1), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, LOG, 4), 6);
}

/* Settings changed in a live process: it goes on in the same file, with a header that says so. */
static void reopening_with_other_settings(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 1), CTRACE_OK);
	fixture_close(fixture);
	fixture_set(fixture, "FORMAT", "new $(EVENT)");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 1, 1), CTRACE_OK);
	assert_int_equal(fixture_count(fixture, LOG, MARK), 2);
	assert_int_equal(
		fixture_count(fixture, LOG, "# Format           = new $(EVENT)\nnew 255\n"), 1);
	assert_int_equal(fixture_count(fixture, LOG, "e000000"), 1);
}

/* FILE and MAXGENERATION lead to another file at once; LOCATION holds for the next file that is
 * made. */
static void reopening_with_another_name(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 1), CTRACE_OK);
	fixture_close(fixture);
	fixture_set(fixture, "LOCATION", "elsewhere");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 1, 1), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, LOG, 0), 2);
	fixture_close(fixture);
	fixture_set(fixture, "FILE", "other.log");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 2, 1), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, "elsewhere/other.log", 2), 3);
	fixture_close(fixture);
	fixture_set(fixture, "MAXGENERATION", "5");
	fixture_set(fixture, "MAXFILESIZE", "1");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 3, 50), CTRACE_OK);
	assert_int_equal((uint32_t)fixture->place.extra, 3);
	fixture_close(fixture);
	/* And generations that were begun are not begun again. */
	fixture_set(fixture, "DELIMCHAR", "\t");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal((uint32_t)fixture->place.extra, 3);
	fixture_close(fixture);
	assert_int_equal(
		fixture_check_events(
			fixture, "elsewhere/other.log_3",
			fixture_check_events(
				fixture, "elsewhere/other.log_2",
				fixture_check_events(fixture, "elsewhere/other.log_1", 3))),
		53);
}

/* Two at a time with the same FILE and without MULTIPROC: neither writes over the other. */
static void a_busy_file_is_left_alone(void **state)
{
	struct fixture *fixture = *state;
	struct fixture *other = fixture_create(&ct_emit_textfile);
	char path[1024];

	(void)snprintf(path, sizeof path, "%s/same.log", fixture->directory);
	fixture_set(fixture, "FILE", path);
	fixture_set(other, "FILE", path);
	other->context.pid = 4711;
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_open(other), CTRACE_OK);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(fixture_write(fixture, i, 1), CTRACE_OK);
		assert_int_equal(fixture_write(other, i, 1), CTRACE_OK);
	}
	assert_int_equal(fixture_check_events(fixture, "same.log", 0), 10);
	assert_int_equal(fixture_check_events(fixture, "same.log.4711", 0), 10);
	fixture_close(other);
	assert_int_equal(fixture_open(other), CTRACE_OK);
	assert_int_equal(fixture_write(other, 10, 1), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, "same.log.4711", 0), 11);
	fixture_destroy(other);
}

static void losses_are_reported(void **state)
{
	struct fixture *fixture = *state;
	uint64_t totals[CTRACE_LOSS_COUNT] = { 0 };

	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	ct_emit_textfile.lost(fixture->self, totals);
	assert_int_equal(fixture_write(fixture, 0, 1), CTRACE_OK);
	assert_int_equal(fixture_count(fixture, LOG, "Lost"), 0);
	totals[CTRACE_LOSS_DISCARDED] = 7;
	ct_emit_textfile.lost(fixture->self, totals);
	ct_os_fail(CT_OS_WRITE, 0, 1, EIO);
	assert_int_equal(fixture_write(fixture, 1, 1), CTRACE_OUTPUT_ERROR);
	ct_emit_textfile.lost(fixture->self, totals);
	assert_int_equal(fixture_write(fixture, 1, 1), CTRACE_OK);
	ct_emit_textfile.lost(fixture->self, totals);
	assert_int_equal(fixture_write(fixture, 2, 1), CTRACE_OK);
	assert_int_equal(
		fixture_count(fixture, LOG, "\n# Lost             = 7 discarded (process 17356)\n"),
		1);
	/* Losses after the last event. */
	totals[CTRACE_LOSS_STALLED] = 1;
	ct_emit_textfile.lost(fixture->self, totals);
	fixture_close(fixture);
	assert_int_equal(
		fixture_count(fixture, LOG,
			      "\n# Lost             = 7 discarded, 1 stalled (process 17356)\n"),
		1);
	assert_int_equal(fixture_check_events(fixture, LOG, 0), 3);
}

/* A forked child closes what it inherited: the parent's file and lock must not notice. */
static void closing_in_a_forked_child(void **state)
{
	struct fixture *fixture = *state;
	struct fixture *other = fixture_create(&ct_emit_textfile);
	uint64_t totals[CTRACE_LOSS_COUNT] = { 1 };
	char path[1024];
	int status;
	pid_t child;

	(void)snprintf(path, sizeof path, "%s/same.log", fixture->directory);
	fixture_set(fixture, "FILE", path);
	fixture_set(other, "FILE", path);
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 1), CTRACE_OK);
	ct_emit_textfile.lost(fixture->self, totals);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		ct_emit_textfile.close(fixture->self);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(fixture_count(fixture, "same.log", "Lost"), 0);
	assert_int_equal(fixture_open(other), CTRACE_OK);
	assert_string_not_equal(other->place.path, path);
	assert_int_equal(fixture_write(fixture, 1, 1), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, "same.log", 0), 2);
	fixture_destroy(other);
}

/* One of several writers of a shared file; what it writes says who it is. */
static void write_as(struct fixture *fixture, unsigned writer, unsigned batches)
{
	fixture->context.pid = 1000 + writer;
	if (fixture_open(fixture) != CTRACE_OK)
		_exit(1);
	for (unsigned i = 0; i < batches; i++) {
		if (fixture_write(fixture, writer * 100000 + i * 5, 5) != CTRACE_OK)
			i--;
	}
	ct_emit_textfile.close(fixture->self);
	_exit(0);
}

static void several_processes_append_whole_lines(void **state)
{
	enum { WRITERS = 4, BATCHES = 200 };
	struct fixture *fixture = *state;
	uint32_t next[WRITERS] = { 0 };
	char *text, *rest;

	fixture_set(fixture, "MULTIPROC", "true");
	fixture_set(fixture, "MAXGENERATION", "3");
	fixture_set(fixture, "MAXFILESIZE", "1");
	fixture_set(fixture, "FILE", "shared.log");
	for (unsigned i = 0; i < WRITERS; i++) {
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0)
			write_as(fixture, i, BATCHES);
	}
	for (unsigned i = 0; i < WRITERS; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(fixture_count(fixture, "shared.log", MARK), 1);
	text = rest = fixture_read(fixture, "shared.log");
	for (char *line = strsep(&rest, "\n"); rest != NULL; line = strsep(&rest, "\n")) {
		const char *number = strstr(line, "\"e");

		if (line[0] == '#')
			continue;
		assert_non_null(number);
		assert_int_equal(strlen(line) + 1, line_size());
		unsigned value = (unsigned)strtoul(number + 2, NULL, 10);
		assert_in_range(value / 100000, 0, WRITERS - 1);
		assert_int_equal(value % 100000, next[value / 100000]++);
	}
	for (unsigned i = 0; i < WRITERS; i++)
		assert_int_equal(next[i], BATCHES * 5);
	free(text);
}

static void shared_file_failures(void **state)
{
	struct fixture *fixture = *state;
	struct fixture *other = fixture_create(&ct_emit_textfile);
	char path[1024], command[16384];

	(void)snprintf(path, sizeof path, "%s/shared.log", fixture->directory);
	fixture_set(fixture, "FILE", path);
	fixture_set(other, "FILE", path);
	fixture_set(fixture, "MULTIPROC", "1");
	fixture_set(other, "MULTIPROC", "1");
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_open(other), CTRACE_OK);
	ct_os_fail(CT_OS_WRITE, 0, 1, ENOSPC);
	assert_int_equal(fixture_write(fixture, 0, 3), CTRACE_OUTPUT_ERROR);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(size_of(fixture, path), 0);
	assert_int_equal(fixture_write(other, 0, 2), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 2, 3), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, path, 0), 5);
	/* Not while another process is at it. */
	int lock = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	assert_int_equal(fixture_write(fixture, 5, 1), CTRACE_OUTPUT_ERROR);
	close(lock);
	assert_int_equal(fixture_check_events(fixture, path, 0), 5);
	/* Somebody was killed within a line: ours stand on lines of their own. */
	(void)snprintf(command, sizeof command, "printf 'half a li' >> '%s'", path);
	assert_int_equal(system(command), 0);
	assert_int_equal(fixture_write(other, 5, 1), CTRACE_OK);
	assert_int_equal(fixture_count(fixture, path,
				       "\nhalf a li\n15:12:27.993 MF.RTS 255 1 \"e000005\"\n"),
			 1);
	/* Moved away: both go on in one new file. */
	(void)snprintf(command, sizeof command, "mv '%s' '%s.old'", path, path);
	assert_int_equal(system(command), 0);
	assert_int_equal(fixture_write(fixture, 6, 1), CTRACE_OK);
	assert_int_equal(fixture_write(other, 7, 1), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, path, 6), 8);
	assert_int_equal(fixture_count(fixture, path, MARK), 1);
	/* Recovery appends and does not cut. */
	fixture_close(fixture);
	fixture->context.recovering = true;
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 8, 1), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, path, 6), 9);
	fixture_destroy(other);
}

static void flush_is_a_sync(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 1), CTRACE_OK);
	assert_int_equal(ct_emit_textfile.flush(fixture->self), CTRACE_OK);
	ct_os_fail(CT_OS_FSYNC, 0, 1, EIO);
	assert_int_equal(ct_emit_textfile.flush(fixture->self), CTRACE_OUTPUT_ERROR);
}

/* The system itself refuses in the middle of a write: part of the batch is in the file for a
 * moment. */
static void file_size_limit(void **state)
{
	struct fixture *fixture = *state;
	struct rlimit before, limit;
	sigset_t xfsz;

	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 3), CTRACE_OK);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = fixture->place.offset + 100;
	(void)sigemptyset(&xfsz);
	(void)sigaddset(&xfsz, SIGXFSZ);
	assert_int_equal(sigprocmask(SIG_BLOCK, &xfsz, NULL), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	enum ctrace_status status = fixture_write(fixture, 3, 20);
	int error = errno;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(status, CTRACE_OUTPUT_ERROR);
	assert_int_equal(error, EFBIG);
	assert_place(fixture, LOG, 1);
	assert_int_equal(fixture_write(fixture, 3, 20), CTRACE_OK);
	assert_int_equal(fixture_check_events(fixture, LOG, 0), 23);
}

static int init_all(void **state)
{
	(void)state;
	(void)setenv("TZ", "UTC0", 1);
	tzset();
	return 0;
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, init, fini)

/* ---- a program that closes every descriptor, or leaves its root directory ---- */

static const char *wanted_point;
static unsigned points_to_pass;

static void take_at_point(const char *name)
{
	if (strcmp(name, wanted_point) != 0 || points_to_pass-- > 0)
		return;
	ct_point_set(NULL);
	assert_int_equal(close_range(3, ~0u, 0), 0);
	for (unsigned i = 0; i < 40; i++) {
		int fd = open("program", O_RDWR | O_CREAT, 0600);

		assert_true(fd >= 0);
		assert_int_equal(pwrite(fd, "precious\n", 9, 0), 9);
	}
}

/* Held between the look at a descriptor and its use, while the program closes everything and opens
 * files of its own. */
static void programs_files_are_never_ours(void **state)
{
	static const char *const points[] = { "os.opened", "os.write", "os.truncate" };
	char before[4096];
	unsigned held = 0;

	(void)state;
	assert_non_null(getcwd(before, sizeof before));
	for (unsigned generations = 0; generations < 2; generations++) {
		for (size_t point = 0; point < CT_COUNT(points); point++) {
			for (unsigned skip = 0; skip < 3; skip++) {
				struct fixture *fixture = fixture_create(&ct_emit_textfile);
				enum ctrace_status status;

				assert_int_equal(chdir(fixture->directory), 0);
				fixture_set(fixture, "FILE", "t$(GEN)");
				fixture_set(fixture, "MAXGENERATION", generations != 0 ? "9" : "1");
				fixture_set(fixture, "MAXFILESIZE", "1");
				assert_int_equal(fixture_open(fixture), CTRACE_OK);
				assert_int_equal(fixture_write(fixture, 0, 20), CTRACE_OK);
				wanted_point = points[point];
				points_to_pass = skip;
				ct_point_set(take_at_point);
				status = fixture_write(fixture, 20, 20);
				held += ct_point_reached == NULL;
				ct_point_set(NULL);
				if (status != CTRACE_OK &&
				    fixture_write(fixture, 20, 20) != CTRACE_OK)
					fail_msg("%s %u %u: %s", points[point], skip, generations,
						 strerror(errno));
				if (access("program", F_OK) == 0) {
					assert_int_equal(size_of(fixture, "program"), 9);
					assert_int_equal(
						fixture_count(fixture, "program", "precious\n"), 1);
				}
				fixture_close(fixture);
				if (generations != 0)
					assert_int_equal(
						fixture_check_events(
							fixture, "t2",
							fixture_check_events(fixture, "t1", 0)),
						40);
				else
					assert_int_equal(fixture_check_events(fixture, "t1", 0),
							 40);
				assert_int_equal(close_range(3, ~0u, 0), 0);
				assert_int_equal(chdir(before), 0);
				fixture_destroy(fixture);
			}
		}
	}
	assert_true(held >= 5);
}

/* The path leads nowhere, or elsewhere, in the new root directory.  The descriptor is good, and is
 * written to; and when somebody outside renames the file, the new one is in the same directory. */
static void leaving_the_root_directory_changes_nothing(void **state)
{
	struct fixture *fixture = *state;
	char jail[512], inside[2048];
	pid_t child;
	int how;

	if (geteuid() != 0)
		skip();
	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(fixture_write(fixture, 0, 5), CTRACE_OK);
	(void)snprintf(jail, sizeof jail, "%s/jail", fixture->directory);
	(void)snprintf(inside, sizeof inside, "mkdir -p %s%s && echo theirs > %s%s/" LOG, jail,
		       fixture->directory, jail, fixture->directory);
	assert_int_equal(system(inside), 0);
	(void)fflush(NULL);
	child = fork();
	if (child == 0) {
		if (chroot(jail) != 0 || chdir("/") != 0)
			_exit(2);
		if (fixture_write(fixture, 5, 5) != CTRACE_OK)
			_exit(3);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(how, 0);
	assert_int_equal(fixture_check_events(fixture, LOG, 0), 10);
	child = fork();
	if (child == 0) {
		rename_to(fixture, LOG, "old");
		if (chroot(jail) != 0 || chdir("/") != 0)
			_exit(2);
		_exit(fixture_write(fixture, 10, 5) == CTRACE_OK ? 0 : 3);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(how, 0);
	assert_int_equal(fixture_check_events(fixture, LOG, 10), 15);
	(void)snprintf(inside, sizeof inside, "grep -qx theirs %s%s/" LOG, jail,
		       fixture->directory);
	assert_int_equal(system(inside), 0);
}

/* ---- a file whose last user was killed ---- */

static void leave_uncommitted(struct fixture *fixture, struct ctrace_place *out_committed)
{
	struct ctrace_batch batch = fixture_batch(fixture, 0, 4);
	char path[512];
	int fd;

	assert_int_equal(fixture_open(fixture), CTRACE_OK);
	assert_int_equal(ct_emit_textfile.write(fixture->self, &batch), CTRACE_OK);
	*out_committed = fixture->place;
	assert_int_equal(fixture_write(fixture, 4, 6), CTRACE_OK);
	fixture_close(fixture);
	(void)snprintf(path, sizeof path, "%s/" LOG, fixture->directory);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "15:12:27.99", 11), 11);
	(void)close(fd);
}

/* Another process appends before anybody recovers: no half line, and the recovered events are not
 * there twice. */
static void another_process_first_and_recovery_later(void **state)
{
	struct fixture *fixture = *state;
	struct ctrace_place place;
	uint64_t pid = fixture->context.pid;

	fixture_set(fixture, "FILE", LOG);
	for (unsigned is_open = 0; is_open < 2; is_open++) {
		struct ctrace_place none = { 0 };
		char beside[64], command[512];
		void *other;

		fixture->place = none;
		fixture->context.recovering = false;
		leave_uncommitted(fixture, &place);
		fixture->place = none;
		fixture->context.pid = 99;
		assert_int_equal(fixture_open(fixture), CTRACE_OK);
		assert_int_equal(fixture_write(fixture, 500, 3), CTRACE_OK);
		other = fixture->self;
		if (!is_open)
			fixture_close(fixture);
		fixture->context.pid = (uint32_t)pid;
		fixture->context.recovering = true;
		fixture->place = place;
		assert_int_equal(fixture_open(fixture), CTRACE_OK);
		/* until something is delivered */
		assert_string_equal(fixture->place.path, place.path);
		assert_int_equal(fixture_write(fixture, 4, 10), CTRACE_OK);
		fixture_close(fixture);
		(void)snprintf(beside, sizeof beside, LOG ".%u", (unsigned)pid);
		for (unsigned i = 0; i < 14; i++) {
			char wanted[16];

			(void)snprintf(wanted, sizeof wanted, "e%06u", i);
			assert_int_equal(fixture_count(fixture, LOG, wanted) +
						 fixture_count(fixture, beside, wanted),
					 1);
		}
		assert_int_equal(fixture_count(fixture, LOG, "15:12:27.99\n"), 0);
		if (is_open)
			ct_emit_textfile.close(other);
		fixture->self = NULL;
		(void)snprintf(command, sizeof command, "rm -f %s/" LOG "*", fixture->directory);
		assert_int_equal(system(command), 0);
	}
}

int test_emit_text(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(whole_file_byte_for_byte),
		WITH_FIXTURE(properties_shape_the_line),
		WITH_FIXTURE(level_filters),
		WITH_FIXTURE(existing_file_is_appended_to),
		WITH_FIXTURE(hostile_paths_are_refused),
		WITH_FIXTURE(large_batches),
		WITH_FIXTURE(generations_turn_when_the_next_record_finds_them_full),
		cmocka_unit_test(generations_turn_at_the_byte),
		WITH_FIXTURE(a_batch_larger_than_all_generations),
		WITH_FIXTURE(every_failure_is_taken_back),
		WITH_FIXTURE(cutting_back_later),
		WITH_FIXTURE(removed_and_replaced_files),
		WITH_FIXTURE(works_again_when_the_directory_is_back),
		WITH_FIXTURE(recovery_cuts_and_continues),
		WITH_FIXTURE(recovery_waits_for_a_file_that_cannot_be_looked_at),
		WITH_FIXTURE(recovery_from_the_opening),
		WITH_FIXTURE(recovery_over_a_turn_of_generations),
		WITH_FIXTURE(rotating_turns_generations),
		WITH_FIXTURE(rotating_a_single_file_goes_by_its_name),
		WITH_FIXTURE(a_renamed_file_is_followed_by_a_new_one),
		WITH_FIXTURE(what_cannot_be_rotated_goes_on),
		WITH_FIXTURE(recovery_after_rotating),
		WITH_FIXTURE(recovery_spares_what_others_wrote),
		WITH_FIXTURE(recovery_when_the_file_is_shorter_or_gone),
		WITH_FIXTURE(reopening_with_other_settings),
		WITH_FIXTURE(reopening_with_another_name),
		WITH_FIXTURE(a_busy_file_is_left_alone),
		WITH_FIXTURE(losses_are_reported),
		WITH_FIXTURE(closing_in_a_forked_child),
		WITH_FIXTURE(several_processes_append_whole_lines),
		WITH_FIXTURE(shared_file_failures),
		WITH_FIXTURE(flush_is_a_sync),
		WITH_FIXTURE(file_size_limit),
		WITH_FIXTURE(leaving_the_root_directory_changes_nothing),
		WITH_FIXTURE(another_process_first_and_recovery_later),
		cmocka_unit_test(programs_files_are_never_ours),
	};

	return cmocka_run_group_tests(tests, init_all, NULL);
}
