/*
 * test_output_file.c - names from FILE, directories from LOCATION, MFTRACE_LOGS and the working
 * directory.
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

static const struct ctrace_property properties[] = {
	{ "LOCATION", CTRACE_PROPERTY_DIRECTORY, NULL, "" }, CT_FILE_ACCESS_PROPERTIES, { 0 }
};
static const struct ctrace_emitter emitter = { .size = sizeof emitter,
					       .name = "TEST",
					       .properties = properties };

static int init(void **state)
{
	*state = fixture_create(&emitter);
	return 0;
}

static int fini(void **state)
{
	fixture_destroy(*state);
	return 0;
}

static void assert_name(struct fixture *fixture, const char *pattern, uint32_t generation,
			const char *expected)
{
	struct ct_buf name;

	ct_buf_init(&name);
	fixture_set(fixture, "FILE", pattern);
	assert_true(
		ct_file_name_print(&name, &fixture->context, &ct_emit_textfile, generation, false));
	assert_string_equal(ct_buf_text(&name), expected);
	ct_buf_fini(&name);
}

static void every_pseudo_variable(void **state)
{
	struct fixture *fixture = *state;

	assert_name(fixture, "$(APPNAME).$(EMITTER).$(PID).log", 1, "mymain.textfile.17356.log");
	assert_name(fixture, "x_$(GEN)", 12, "x_12");
	assert_name(fixture, "$(PLATFORM)-$(gen)", 3, "native-3");
	assert_name(fixture, "$(RUNUNIT)$(", 1, "$(RUNUNIT)$(");
	assert_name(fixture, "$$(PID)$)", 1, "$17356$)");
	assert_name(fixture, "", 1, "mymain.textfile.17356.log");
	fixture->context.program = "../../etc/x";
	assert_name(fixture, "$(APPNAME)", 1, ".._.._etc_x");
}

/* Names that are made of this one fit into 255 bytes. */
static void a_long_program_gets_the_room_that_the_rest_leaves(void **state)
{
	static const char *const patterns[] = {
		"$(APPNAME).$(EMITTER).$(PID).ctb", "$(APPNAME)",
		"a/$(APPNAME)/$(APPNAME)$(APPNAME).log",
		"0123456789012345678901234567890123456789012345678901234567890123456789$(APPNAME)"
	};
	struct fixture *fixture = *state;
	char program[256];
	struct ct_buf name;

	for (size_t i = 0; i < sizeof program - 1; i++)
		program[i] = "\xc3\xa4"[i % 2];
	program[sizeof program - 2] = '\0';
	fixture->context.program = program;
	for (size_t i = 0; i < CT_COUNT(patterns); i++) {
		ct_buf_init(&name);
		fixture_set(fixture, "FILE", patterns[i]);
		assert_true(
			ct_file_name_print(&name, &fixture->context, &ct_emit_binfile, 12, true));
		for (const char *at = ct_buf_text(&name); *at != '\0'; at += *at == '/') {
			assert_in_range(strcspn(at, "/"), 1, CT_FILE_NAME_MOST);
			at += strcspn(at, "/");
		}
		ct_buf_fini(&name);
	}
	program[100] = '\0';
	ct_buf_init(&name);
	fixture_set(fixture, "FILE", patterns[3]);
	assert_true(ct_file_name_print(&name, &fixture->context, &ct_emit_binfile, 1, false));
	assert_int_equal(name.size, 170); /* whole */
	ct_buf_fini(&name);
}

struct attempts {
	unsigned count;
	char last[4096];
	const char *refuse; /* paths that begin with it */
};

static enum ctrace_status attempt(const char *path, void *user)
{
	struct attempts *attempts = user;

	attempts->count++;
	(void)snprintf(attempts->last, sizeof attempts->last, "%s", path);
	if (attempts->refuse != NULL &&
	    strncmp(path, attempts->refuse, strlen(attempts->refuse)) == 0) {
		errno = EACCES;
		return CTRACE_DENIED;
	}
	return CTRACE_OK;
}

static enum ctrace_status place(struct fixture *fixture, const char *name,
				struct attempts *attempts, char *out_path)
{
	return ct_file_place(&fixture->context, name, attempt, attempts, out_path);
}

static void location_is_made_with_0700(void **state)
{
	struct fixture *fixture = *state;
	struct attempts attempts = { 0 };
	char path[CTRACE_EMITTER_PATH_SIZE], expected[8192], location[8192];
	struct stat info;
	mode_t before = umask(0);

	(void)snprintf(location, sizeof location, "%s/a/b", fixture->directory);
	(void)snprintf(expected, sizeof expected, "%s/a/b/x.log", fixture->directory);
	fixture_set(fixture, "LOCATION", location);
	fixture->context.directory = "/nowhere";
	assert_int_equal(place(fixture, "x.log", &attempts, path), CTRACE_OK);
	(void)umask(before);
	assert_string_equal(path, expected);
	assert_int_equal(attempts.count, 1);
	assert_int_equal(stat(location, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
}

static mode_t mode_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static mode_t mode_of(const char *format, ...)
{
	char path[4096];
	struct stat info;
	va_list list;

	va_start(list, format);
	(void)vsnprintf(path, sizeof path, format, list);
	va_end(list);
	return stat(path, &info) == 0 ? info.st_mode & 07777 : 0;
}

static void directories_that_file_names_are_made_within_the_output(void **state)
{
	struct fixture *fixture = *state;
	struct attempts attempts = { 0 };
	char path[4096], name[512], location[400];

	assert_int_equal(place(fixture, "a/b/f.log", &attempts, path), CTRACE_OK);
	assert_int_equal(mode_of("%s/a", fixture->directory), 0700);
	assert_int_equal(mode_of("%s/a/b", fixture->directory), 0700);
	/* MFTRACE_LOGS itself is not made, and nothing in it. */
	(void)snprintf(name, sizeof name, "%s/logs", fixture->directory);
	fixture->context.directory = name;
	assert_int_equal(place(fixture, "c/f.log", &attempts, path), CTRACE_OK);
	assert_int_equal(mode_of("%s/logs", fixture->directory), 0);
	fixture->context.directory = "";
	assert_int_equal(place(fixture, "x/../y/f.log", &attempts, path), CTRACE_OK);
	assert_int_equal(mode_of("%s/x", fixture->directory), 0);
	/* An absolute one: only below LOCATION. */
	(void)snprintf(name, sizeof name, "%s/loc/d/f.log", fixture->directory);
	assert_int_equal(place(fixture, name, &attempts, path), CTRACE_OK);
	assert_int_equal(mode_of("%s/loc", fixture->directory), 0);
	(void)snprintf(location, sizeof location, "%s/loc/", fixture->directory);
	fixture_set(fixture, "LOCATION", location);
	assert_int_equal(place(fixture, name, &attempts, path), CTRACE_OK);
	assert_int_equal(mode_of("%s/loc/d", fixture->directory), 0700);
}

static void what_is_within_the_output(void **state)
{
	(void)state;
	assert_true(ct_file_is_within(NULL, "a/b"));
	assert_true(ct_file_is_within(NULL, "a..b/..c"));
	assert_false(ct_file_is_within(NULL, "../a"));
	assert_false(ct_file_is_within("/l", "a/.."));
	assert_false(ct_file_is_within(NULL, "/l/a"));
	assert_true(ct_file_is_within("/l", "/l/a"));
	assert_true(ct_file_is_within("/l//", "/l/a"));
	assert_false(ct_file_is_within("/l", "/la/b"));
	assert_false(ct_file_is_within("/l", "/l/../b"));
	assert_false(ct_file_is_within("l", "/l/a"));
}

static void the_group_may_read(void **state)
{
	struct fixture *fixture = *state;
	struct ct_file_access access;
	char number[16];
	int fd = openat(AT_FDCWD, fixture->directory, O_TMPFILE | O_RDWR, 0600);
	struct stat info;

	access = ct_file_access_read(&fixture->context);
	assert_int_equal(access.mode, 0);
	ct_file_access_give(fd, &access);
	assert_int_equal(fstat(fd, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	fixture_set(fixture, "MODE", "0640");
	access = ct_file_access_read(&fixture->context);
	ct_file_access_give(fd, &access);
	assert_int_equal(fstat(fd, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0640);
	/* Never for others, whatever is asked for. */
	fixture_set(fixture, "MODE", "0644");
	assert_int_equal(ct_file_access_read(&fixture->context).mode, 0);
	/* A group that there is not must not become another one. */
	fixture_set(fixture, "GROUP", "no-such-group");
	access = ct_file_access_read(&fixture->context);
	assert_int_equal(access.mode, 0600);
	ct_file_access_give(fd, &access);
	assert_int_equal(fstat(fd, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	(void)snprintf(number, sizeof number, "%u", (unsigned)getegid());
	fixture_set(fixture, "GROUP", number);
	access = ct_file_access_read(&fixture->context);
	assert_true(access.has_group);
	assert_int_equal(access.group, getegid());
	assert_int_equal(access.mode, 0640);
	fixture_set(fixture, "GROUP", "root");
	access = ct_file_access_read(&fixture->context);
	assert_int_equal(access.group, 0);
	/* Of a group that we cannot give files to. */
	if (geteuid() != 0) {
		ct_file_access_give(fd, &access);
		assert_int_equal(fstat(fd, &info), 0);
		assert_int_equal(info.st_mode & 0777, 0600);
	}
	close(fd);
}

static void directories_are_open_to_the_group_too(void **state)
{
	struct fixture *fixture = *state;
	struct attempts attempts = { 0 };
	char path[4096];

	fixture_set(fixture, "LOCATION", "up/loc");
	fixture_set(fixture, "MODE", "0640");
	assert_int_equal(place(fixture, "sub/f", &attempts, path), CTRACE_OK);
	assert_int_equal(mode_of("%s/up", fixture->directory), 0750);
	assert_int_equal(mode_of("%s/up/loc", fixture->directory), 0750);
	assert_int_equal(mode_of("%s/up/loc/sub", fixture->directory), 0750);
	assert_int_equal(mode_of("%s", fixture->directory), 0700); /* was there */
}

static void relative_directories_are_the_programs(void **state)
{
	struct fixture *fixture = *state;
	struct attempts attempts = { 0 };
	char path[CTRACE_EMITTER_PATH_SIZE], expected[8192];

	fixture_set(fixture, "LOCATION", "logs/");
	(void)snprintf(expected, sizeof expected, "%s/logs/x.log", fixture->directory);
	assert_int_equal(place(fixture, "x.log", &attempts, path), CTRACE_OK);
	assert_string_equal(path, expected);
}

static void each_directory_is_the_fallback_of_the_one_before(void **state)
{
	struct fixture *fixture = *state;
	struct attempts attempts = { 0 };
	char path[CTRACE_EMITTER_PATH_SIZE], expected[8192];

	/* A LOCATION that cannot be made is not tried; MFTRACE_LOGS is. */
	fixture_set(fixture, "LOCATION", "/proc/no/such");
	fixture->context.directory = "/logs";
	assert_int_equal(place(fixture, "x.log", &attempts, path), CTRACE_OK);
	assert_string_equal(path, "/logs/x.log");
	assert_int_equal(attempts.count, 1);

	attempts = (struct attempts){ .refuse = "/logs" };
	(void)snprintf(expected, sizeof expected, "%s/x.log", fixture->directory);
	assert_int_equal(place(fixture, "x.log", &attempts, path), CTRACE_OK);
	assert_string_equal(path, expected);
	assert_int_equal(attempts.count, 2);

	fixture->context.directory = "";
	fixture_set(fixture, "LOCATION", "");
	attempts = (struct attempts){ 0 };
	assert_int_equal(place(fixture, "x.log", &attempts, path), CTRACE_OK);
	assert_string_equal(path, expected);

	/* When all fail, the last failure is told and no path. */
	attempts = (struct attempts){ .refuse = "/" };
	memcpy(path, "kept", 5);
	assert_int_equal(place(fixture, "x.log", &attempts, path), CTRACE_DENIED);
	assert_int_equal(errno, EACCES);
	assert_string_equal(path, "kept");
}

static void absolute_file_is_tried_alone(void **state)
{
	struct fixture *fixture = *state;
	struct attempts attempts = { 0 };
	char path[CTRACE_EMITTER_PATH_SIZE];

	fixture_set(fixture, "LOCATION", "logs");
	assert_int_equal(place(fixture, "/var/x.log", &attempts, path), CTRACE_OK);
	assert_string_equal(path, "/var/x.log");
	attempts.refuse = "/var";
	assert_int_equal(place(fixture, "/var/x.log", &attempts, path), CTRACE_DENIED);
	assert_int_equal(attempts.count, 2);
	assert_int_not_equal(place(fixture, "", &attempts, path), CTRACE_OK);
}

static void paths_too_long_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct attempts attempts = { 0 };
	char path[CTRACE_EMITTER_PATH_SIZE], name[CTRACE_EMITTER_PATH_SIZE + 10];

	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	assert_int_equal(place(fixture, name, &attempts, path), CTRACE_OS_ERROR);
	assert_int_equal(errno, ENAMETOOLONG);
	assert_int_equal(attempts.count, 0);
	/* The longest that fits. */
	name[0] = '/';
	name[CTRACE_EMITTER_PATH_SIZE - 2] = '\0';
	assert_int_equal(place(fixture, name, &attempts, path), CTRACE_OK);
	assert_string_equal(path, name);
	/* A LOCATION longer than a path counts as one that fails. */
	memset(name, 'n', sizeof name - 1);
	fixture_set(fixture, "LOCATION", name);
	assert_int_equal(place(fixture, "x", &attempts, path), CTRACE_OK);
}

/* What open() would take over: nothing when the name is free, and of generations the one that it
 * would begin with. */
static void path_that_open_would_take_over(void **state)
{
	struct fixture *fixture = fixture_create(&ct_emit_textfile);
	char path[CTRACE_EMITTER_PATH_SIZE], wanted[512];

	(void)state;
	fixture_set(fixture, "FILE", "t");
	assert_false(ct_emitter_output_path(&ct_emit_textfile, &fixture->context, path));
	fixture_put(fixture, "t", "x");
	assert_true(ct_emitter_output_path(&ct_emit_textfile, &fixture->context, path));
	(void)snprintf(wanted, sizeof wanted, "%s/t", fixture->directory);
	assert_string_equal(path, wanted);
	assert_false(ct_emitter_output_path(&ct_emit_stderr, &fixture->context, path));
	fixture_set(fixture, "MAXGENERATION", "2");
	fixture_put(fixture, "t_1", "x");
	assert_false(ct_emitter_output_path(&ct_emit_textfile, &fixture->context, path));
	fixture_put(fixture, "t_2", "x");
	assert_true(ct_emitter_output_path(&ct_emit_textfile, &fixture->context, path));
	(void)snprintf(wanted, sizeof wanted, "%s/t_1", fixture->directory);
	assert_string_equal(path, wanted);
	fixture_destroy(fixture);
}

/* The first that is free, else the one behind the newest: what others left goes last. */
static void generation_to_begin_with(void **state)
{
	struct fixture *fixture = fixture_create(&ct_emit_textfile);
	char command[1024];

	(void)state;
	fixture_set(fixture, "FILE", "t$(GEN)");
	assert_int_equal(ct_file_generation_first(&fixture->context, &ct_emit_textfile), 1);
	fixture_set(fixture, "MAXGENERATION", "3");
	assert_int_equal(ct_file_generation_first(&fixture->context, &ct_emit_textfile), 1);
	fixture_put(fixture, "t1", "x");
	fixture_put(fixture, "t3", "x");
	assert_int_equal(ct_file_generation_first(&fixture->context, &ct_emit_textfile), 2);
	fixture_put(fixture, "t2", "x");
	(void)snprintf(command, sizeof command,
		       "cd %s && touch -d @3 t1 && touch -d @5 t2 && touch -d @4 t3",
		       fixture->directory);
	assert_int_equal(system(command), 0);
	assert_int_equal(ct_file_generation_first(&fixture->context, &ct_emit_textfile), 3);
	(void)snprintf(command, sizeof command, "touch -d @6 %s/t3", fixture->directory);
	assert_int_equal(system(command), 0);
	assert_int_equal(ct_file_generation_first(&fixture->context, &ct_emit_textfile), 1);
	fixture_destroy(fixture);
}

static void mark_make(const char *directory, const char *run)
{
	char path[4200];
	FILE *file;

	(void)mkdir(directory, 0700);
	(void)snprintf(path, sizeof path, "%s/" CT_FILE_RUN_MARK, directory);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(run, file);
	assert_int_equal(fclose(file), 0);
}

/* The next run renames the directory, and its own one gets the name. */
static void a_run_writes_to_its_own_directory_only(void **state)
{
	struct fixture *fixture = *state;
	struct attempts attempts = { 0 };
	char here[300], old[310], path[4096], expected[4096];

	(void)snprintf(here, sizeof here, "%s/run.ctb", fixture->directory);
	(void)snprintf(old, sizeof old, "%s" CT_FILE_RUN_OLD, here);
	mark_make(here, "0001");
	fixture_set(fixture, "LOCATION", here);
	fixture_set(fixture, "RUN", "0001");
	assert_int_equal(place(fixture, "x.ctb", &attempts, path), CTRACE_OK);
	(void)snprintf(expected, sizeof expected, "%s/x.ctb", here);
	assert_string_equal(path, expected);

	assert_int_equal(rename(here, old), 0);
	mark_make(here, "0002");
	assert_int_equal(place(fixture, "x.ctb", &attempts, path), CTRACE_OK);
	(void)snprintf(expected, sizeof expected, "%s/x.ctb", old);
	assert_string_equal(path, expected);
	(void)snprintf(path, sizeof path, "%s/y.ctb", here);
	assert_true(ct_file_run_follow(&fixture->context, "0001", path));
	(void)snprintf(expected, sizeof expected, "%s/y.ctb", old);
	assert_string_equal(path, expected);

	attempts = (struct attempts){ .refuse = fixture->directory };
	assert_int_not_equal(place(fixture, "x.ctb", &attempts, path), CTRACE_OK);
	assert_int_equal(attempts.count, 1); /* no other directory is tried */

	mark_make(old, "0003");
	attempts = (struct attempts){ 0 };
	assert_int_not_equal(place(fixture, "x.ctb", &attempts, path), CTRACE_OK);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(attempts.count, 0);
}

int test_output_file(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_pseudo_variable, init, fini),
		cmocka_unit_test_setup_teardown(a_long_program_gets_the_room_that_the_rest_leaves,
						init, fini),
		cmocka_unit_test_setup_teardown(location_is_made_with_0700, init, fini),
		cmocka_unit_test_setup_teardown(
			directories_that_file_names_are_made_within_the_output, init, fini),
		cmocka_unit_test(what_is_within_the_output),
		cmocka_unit_test_setup_teardown(the_group_may_read, init, fini),
		cmocka_unit_test_setup_teardown(directories_are_open_to_the_group_too, init, fini),
		cmocka_unit_test_setup_teardown(relative_directories_are_the_programs, init, fini),
		cmocka_unit_test_setup_teardown(each_directory_is_the_fallback_of_the_one_before,
						init, fini),
		cmocka_unit_test_setup_teardown(absolute_file_is_tried_alone, init, fini),
		cmocka_unit_test_setup_teardown(paths_too_long_are_refused, init, fini),
		cmocka_unit_test(path_that_open_would_take_over),
		cmocka_unit_test(generation_to_begin_with),
		cmocka_unit_test_setup_teardown(a_run_writes_to_its_own_directory_only, init, fini),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
