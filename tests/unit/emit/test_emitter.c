/*
 * test_emitter.c - names, aliases, indexes and property tables; at most 16 emitters a process.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "emit_fixture.h"
#include <sys/stat.h>

static const struct ctrace_emitter *found(const char *name)
{
	uint32_t index = UINT32_MAX;

	assert_int_equal(ct_emitter_find(name, strlen(name), &index), CTRACE_OK);
	return ct_emitter_at(index);
}

static void built_in_in_any_case(void **state)
{
	(void)state;
	assert_ptr_equal(found("TEXTFILE"), &ct_emit_textfile);
	assert_ptr_equal(found("TextFile"), &ct_emit_textfile);
	assert_ptr_equal(found("binfile"), &ct_emit_binfile);
	assert_ptr_equal(found("STDERR"), &ct_emit_stderr);
	assert_ptr_equal(found("es"), &ct_emit_es);
	assert_ptr_equal(found("IdeDbg"), &ct_emit_stderr);
}

/* Indexes are bits of masks that live in session files: they never move. */
static void indexes_are_fixed(void **state)
{
	(void)state;
	assert_ptr_equal(ct_emitter_at(0), &ct_emit_textfile);
	assert_ptr_equal(ct_emitter_at(1), &ct_emit_binfile);
	assert_ptr_equal(ct_emitter_at(2), &ct_emit_stderr);
	assert_ptr_equal(ct_emitter_at(3), &ct_emit_es);
	assert_ptr_equal(ct_emitter_at(4), &ct_emit_nats);
	assert_ptr_equal(ct_emitter_at(CT_EMITTER_STORAGE), &ct_emit_storage);
	assert_null(ct_emitter_at(6));
	assert_null(ct_emitter_at(CT_EMITTER_LIMIT));
	assert_null(ct_emitter_at(UINT32_MAX));
}

static void names_that_are_refused(void **state)
{
	char name[64];
	uint32_t index = 77;

	(void)state;
	memset(name, 'x', sizeof name);
	assert_int_equal(ct_emitter_find("", 0, &index), CTRACE_INVALID_EMITTER_NAME);
	assert_int_equal(ct_emitter_find(name, 32, &index), CTRACE_INVALID_EMITTER_NAME);
	assert_int_equal(ct_emitter_find(name, 31, &index), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ct_emitter_find("TEXTFIL", 7, &index), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(ct_emitter_find("TEXTFILE2", 9, &index), CTRACE_EMITTER_NOT_FOUND);
	/* a COBOL field with a NUL in it */
	assert_int_equal(ct_emitter_find("TEXTFILE\0x", 10, &index), CTRACE_OK);
	assert_int_equal(index, 0);
	index = 77;
	assert_int_equal(ct_emitter_find("../x", 4, &index), CTRACE_EMITTER_NOT_FOUND);
	assert_int_equal(index, 77);
}

static void what_is_known_is_found_under_a_lock_too(void **state)
{
	uint32_t index = 77;

	(void)state;
	assert_int_equal(ct_emitter_find_known("idedbg", 6, &index), CTRACE_OK);
	assert_ptr_equal(ct_emitter_at(index), &ct_emit_stderr);
	assert_int_equal(ct_emitter_find_known("", 0, &index), CTRACE_INVALID_EMITTER_NAME);
	ct_guard_enter();
	assert_ptr_equal(found("TEXTFILE"), &ct_emit_textfile);
	ct_guard_leave();
}

static void complete_tables(void **state)
{
	(void)state;
	for (uint32_t i = 0; ct_emitter_at(i) != NULL; i++) {
		const struct ctrace_emitter *emitter = ct_emitter_at(i);

		assert_int_equal(emitter->size, sizeof *emitter);
		assert_non_null(emitter->open);
		assert_non_null(emitter->write);
		assert_non_null(emitter->close);
		assert_non_null(emitter->properties);
		for (const struct ctrace_property *row = emitter->properties; row->name != NULL;
		     row++) {
			char upper[64] = { 0 };

			memcpy(upper, row->name, strlen(row->name));
			ct_name_upper(upper, strlen(upper));
			assert_string_equal(row->name, upper);
			assert_int_equal(row->help[strlen(row->help) - 1], '.');
			assert_ptr_equal(ct_emitter_property(emitter, row->name, strlen(row->name)),
					 row);
		}
	}
}

static void documented_defaults(void **state)
{
	static const struct {
		const struct ctrace_emitter *emitter;
		const char *name, *value;
	} rows[] = {
		{ &ct_emit_textfile, "delimchar", " " },
		{ &ct_emit_textfile, "FILE", "$(APPNAME).$(EMITTER).$(PID).log" },
		{ &ct_emit_textfile, "FlushEvery", "1" },
		{ &ct_emit_textfile, "FORMAT", "$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)" },
		{ &ct_emit_textfile, "HEXBLOCKSIZE", "8" },
		{ &ct_emit_textfile, "LEVEL", "0" },
		{ &ct_emit_textfile, "LOCATION", NULL },
		{ &ct_emit_textfile, "MAXFILESIZE", "0x00002800" },
		{ &ct_emit_textfile, "MAXGENERATION", "1" },
		{ &ct_emit_textfile, "MULTIPROC", "FALSE" },
		{ &ct_emit_textfile, "QUOTESTRING", "TRUE" },
		{ &ct_emit_stderr, "DELIMCHAR", " " },
		{ &ct_emit_stderr, "FORMAT", "$(TIME) $(COMPONENT) $(EVENT) $(LEVEL) $(DATA)" },
		{ &ct_emit_stderr, "HEXBLOCKSIZE", "8" },
		{ &ct_emit_stderr, "LEVEL", "3" },
		{ &ct_emit_stderr, "QUOTESTRING", "TRUE" },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		const struct ctrace_property *row =
			ct_emitter_property(rows[i].emitter, rows[i].name, strlen(rows[i].name));

		assert_non_null(row);
		if (rows[i].value == NULL)
			assert_null(row->default_value);
		else
			assert_string_equal(row->default_value, rows[i].value);
	}
	assert_null(ct_emitter_property(&ct_emit_textfile, "NOSUCH", 6));
	assert_null(ct_emitter_property(&ct_emit_textfile, "", 0));
	assert_null(ct_emitter_property(&(struct ctrace_emitter){ .properties = NULL }, "FILE", 4));
}

/* The last test: it fills the table of the process. */
static void as_many_as_there_is_room_for(void **state)
{
	const char *parent = getenv("TMPDIR"), *root = getenv("CTRACE_SOURCE");
	char directory[256], command[4096], name[32];
	uint32_t index = 0, count = 6;

	(void)state;
	(void)umask(022);
	(void)snprintf(directory, sizeof directory, "%s/emitter.XXXXXX",
		       parent != NULL ? parent : "/tmp");
	assert_non_null(mkdtemp(directory));
	(void)snprintf(
		command, sizeof command,
		"cd '%s' && sed 's/\"COUNT\"/NAME/' '%s/examples/emitter-count/count.c' > m.c && "
		"for i in $(seq 10 40); do cc -shared -fPIC -w -I'%s/include' \"-DNAME=\\\"M$i\\\"\" -o m$i.so m.c || exit 1; done",
		directory, root != NULL ? root : ".", root != NULL ? root : ".");
	assert_int_equal(system(command), 0);
	assert_int_equal(setenv("CTRACE_EMITTERS", directory, 1), 0);
	/* Not by who may not load, and not under a lock. */
	assert_int_equal(ct_emitter_find_known("m10", 3, &index), CTRACE_EMITTER_NOT_FOUND);
	ct_guard_enter();
	assert_int_equal(ct_emitter_find("m10", 3, &index), CTRACE_EMITTER_NOT_FOUND);
	ct_guard_leave();
	for (unsigned i = 10; i <= 40; i++) {
		enum ctrace_status status;

		(void)snprintf(name, sizeof name, "m%u", i);
		status = ct_emitter_find(name, strlen(name), &index);
		assert_int_equal(status,
				 count < CT_EMITTER_LIMIT ? CTRACE_OK : CTRACE_EMITTER_NOT_FOUND);
		if (status != CTRACE_OK)
			continue;
		assert_int_equal(index, count++);
		ct_name_upper(name, strlen(name));
		assert_string_equal(ct_emitter_at(index)->name, name);
	}
	assert_int_equal(count, CT_EMITTER_LIMIT);
	/* Known ones are still found, without their file. */
	fixture_remove_directory(directory);
	assert_int_equal(ct_emitter_find_known("M12", 3, &index), CTRACE_OK);
	assert_int_equal(index, 8);
	assert_ptr_equal(found("textfile"), &ct_emit_textfile);
}

static unsigned rotations;

static enum ctrace_status count_rotation(void *self)
{
	(void)self;
	rotations++;
	return CTRACE_OK;
}

/* What is behind the size that an emitter was built with is not looked at. */
static void methods_that_came_later(void **state)
{
	struct ctrace_emitter emitter = ct_emit_es;

	(void)state;
	assert_int_equal(ct_emitter_rotate(&emitter, NULL), CTRACE_UNSUPPORTED);
	emitter.rotate = count_rotation;
	emitter.size = offsetof(struct ctrace_emitter, rotate);
	assert_int_equal(ct_emitter_rotate(&emitter, NULL), CTRACE_UNSUPPORTED);
	assert_int_equal(rotations, 0);
	emitter.size = sizeof emitter;
	assert_int_equal(ct_emitter_rotate(&emitter, NULL), CTRACE_OK);
	assert_int_equal(rotations, 1);
}

int test_emitter(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(built_in_in_any_case),
		cmocka_unit_test(indexes_are_fixed),
		cmocka_unit_test(names_that_are_refused),
		cmocka_unit_test(complete_tables),
		cmocka_unit_test(documented_defaults),
		cmocka_unit_test(as_many_as_there_is_room_for),
		cmocka_unit_test(what_is_known_is_found_under_a_lock_too),
		cmocka_unit_test(methods_that_came_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
