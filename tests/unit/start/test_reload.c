/*
 * test_reload.c - the configuration file read again: what changes, what stays, what is said of it,
 * and that nothing is lost meanwhile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

#include <ctrace/component.h>
#include <sys/stat.h>

static char message[256];
static unsigned diagnostics;

/* The fixture's configuration, which traces into out/trace.log, with `more`. */
static void rewrite(const char *more)
{
	FILE *file = fopen("config", "w");

	CHILD_CHECK(file != NULL);
	CHILD_CHECK(
		fprintf(file,
			"mftrace.level = debug\nmftrace.dest = textfile\nmftrace.emitter.textfile#location = %s/out\n"
			"mftrace.emitter.textfile#file = trace.log\nmftrace.emitter.textfile#format = $(EVENT)\n"
			"ctrace.block.timeout = 60s\n%s",
			room, more) > 0);
	CHILD_CHECK(fclose(file) == 0);
}

static void write_only(const char *text)
{
	FILE *file = fopen("config", "w");

	CHILD_CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void reload(void)
{
	enum ctrace_status status = ct_reload("", &diagnostics, message);

	if (status != CTRACE_OK)
		(void)fprintf(stderr, "%s\n", message);
	CHILD_CHECK(status == CTRACE_OK);
}

static bool says(const char *text)
{
	if (strstr(message, text) != NULL)
		return true;
	(void)fprintf(stderr, "said \"%s\", not \"%s\"\n", message, text);
	return false;
}

static uint32_t level_of(const char *component)
{
	uint32_t level = 77;

	CHILD_CHECK(ctrace_level_get(component, &level) == CTRACE_OK);
	return level;
}

static uint32_t dests_of(const char *component)
{
	uint32_t index;

	CHILD_CHECK(ct_registry_register(ct_process.registry, component, strlen(component),
					 &index) == CTRACE_OK);
	return ct_registry_entry(ct_process.registry, index)->dests;
}

/* ---- what changes ---- */

static void follow_the_file(void)
{
	char value[100];
	size_t size = sizeof value;

	CHILD_CHECK(ct_process_attach() != NULL);
	CHILD_CHECK(ctrace_level_set("by.program", CTRACE_FATAL) == CTRACE_OK);
	CHILD_CHECK(ctrace_component_property_set("by.program", "colour", "red") == CTRACE_OK);
	rewrite("mftrace.level.a = error\nmftrace.dest.a.b = (stderr)\nmftrace.comp.a#p = 1\nctrace.overflow = discard\n");
	reload();
	CHILD_CHECK(says("/config is in force"));
	CHILD_CHECK(strchr(message, ';') == NULL);
	CHILD_CHECK(level_of("a.b") == CTRACE_ERROR && level_of("by.program") == CTRACE_DEBUG);
	CHILD_CHECK(dests_of("a.b") == 4 && dests_of("a") == 1);
	CHILD_CHECK(ctrace_component_property_get("a", "p", value, &size) == CTRACE_OK &&
		    strcmp(value, "1") == 0);
	size = sizeof value;
	CHILD_CHECK(ctrace_component_property_get("by.program", "colour", value, &size) ==
		    CTRACE_PROPERTY_NOT_FOUND);
	CHILD_CHECK(ct_process.settings.overflow == CT_OVERFLOW_DISCARD);
	rewrite("");
	reload();
	CHILD_CHECK(level_of("a.b") == CTRACE_DEBUG && dests_of("a.b") == 1);
	size = sizeof value;
	CHILD_CHECK(ctrace_component_property_get("a", "p", value, &size) ==
		    CTRACE_PROPERTY_NOT_FOUND);
	CHILD_CHECK(ct_process.settings.overflow == CT_OVERFLOW_AUTO);
	write_only("");
	reload();
	CHILD_CHECK(level_of("a.b") == CTRACE_LEVEL_NONE &&
		    ct_dest_default(ct_process.registry) == 1);
	/* Or a recovery in this process would open its file, and with closing it drop its lock. */
	CHILD_CHECK(ct_session_is_own(run_dir, ct_process.session.directory));
}

static void what_the_file_says_now_is_in_force(void **state)
{
	(void)state;
	assert_int_equal(run_traced(follow_the_file), 0);
}

static uint32_t reported[16];
static unsigned reported_count;

static void note(uint32_t handle, uint32_t type, void *parameter)
{
	(void)handle;
	CHILD_CHECK(type == TRACER_NOTIF_TYPE_LEVEL_CHANGE && reported_count < 16);
	reported[reported_count++] = *(const uint32_t *)parameter;
}

static void hear_of_it(void)
{
	cbl_x4_comp5_t handle;
	NOTIF_INSTALL install = { .callback = note };

	CHILD_CHECK(CBL_CTF_TRACER_GET(CTF_FLAG_COMP_NAME_NULL_TERM, (const cobuns8_t *)"a.b",
				       &handle) == CTF_RET_SUCCESS);
	install.handle = handle;
	CHILD_CHECK(cobctf_tracer_notify(TRACER_NOTIF_INSTALL, &install) == CTF_RET_SUCCESS);
	rewrite("mftrace.level = warn\nmftrace.level.a = error\nmftrace.level.a = info\n");
	reload();
	CHILD_CHECK(reported_count == 1 && reported[0] == CTRACE_INFO);
	reload();
	CHILD_CHECK(reported_count == 1);
	rewrite("mftrace.level = info\n");
	reload();
	CHILD_CHECK(reported_count == 1);
}

static void a_change_is_reported_once_with_its_last_value(void **state)
{
	(void)state;
	assert_int_equal(run_traced(hear_of_it), 0);
}

static void reopen_one(void)
{
	CHILD_CHECK(emit(0) == CTRACE_OK);
	CHILD_CHECK(ctrace_flush(10000) == CTRACE_OK);
	rewrite("mftrace.level.a = error\n");
	reload();
	CHILD_CHECK(emit(1) == CTRACE_OK);
	CHILD_CHECK(ctrace_flush(10000) == CTRACE_OK);
	/* Whoever opens a file writes a header. */
	CHILD_CHECK(system("test $(grep -c MFTRACE out/trace.log) = 1") == 0);
	rewrite("mftrace.emitter.textfile#file = other.log\n");
	CHILD_CHECK(emit(2) == CTRACE_OK);
	reload();
	CHILD_CHECK(emit(3) == CTRACE_OK);
}

static void only_destinations_with_other_settings_are_reopened(void **state)
{
	(void)state;
	assert_int_equal(run_traced(reopen_one), 0);
	assert_lines(0, 4);
	/* What was traced before goes by the old settings. */
	assert_int_equal(
		system("test $(grep -vc '^#' out/trace.log) = 3 && test $(grep -v '^#' out/other.log) = 3"),
		0);
}

/* ---- what is said ---- */

static void fail_to_read(void)
{
	CHILD_CHECK(ctrace_level_set("a", CTRACE_FATAL) == CTRACE_OK);
	CHILD_CHECK(ct_reload("/nonexistent/config", &diagnostics, message) == CTRACE_NOT_FOUND);
	CHILD_CHECK(says(
		"/nonexistent/config cannot be read: No such file or directory; nothing was changed"));
	CHILD_CHECK(ct_reload(room, &diagnostics, message) != CTRACE_OK);
	CHILD_CHECK(says("cannot be read: it is no file; nothing was changed"));
	CHILD_CHECK(truncate("config", 5 << 20) == 0);
	CHILD_CHECK(ct_reload("", &diagnostics, message) != CTRACE_OK);
	CHILD_CHECK(says("it is larger than a configuration can be"));
	CHILD_CHECK(unlink("config") == 0);
	CHILD_CHECK(ct_reload("", &diagnostics, message) == CTRACE_NOT_FOUND);
	CHILD_CHECK(unsetenv("MFTRACE_CONFIG") == 0);
	CHILD_CHECK(ct_reload("", &diagnostics, message) == CTRACE_NOT_FOUND);
	CHILD_CHECK(says("MFTRACE_CONFIG"));
	rewrite("");
	ct_os_fail(CT_OS_MAP, 0, 1, ENOMEM);
	CHILD_CHECK(ct_reload("config", &diagnostics, message) == CTRACE_NOT_ENOUGH_MEMORY);
	CHILD_CHECK(says("nothing was changed: "));
	CHILD_CHECK(level_of("a") == CTRACE_FATAL && level_of("b") == CTRACE_DEBUG);
	CHILD_CHECK(ct_reload("config", &diagnostics, message) == CTRACE_OK);
	CHILD_CHECK(level_of("a") == CTRACE_DEBUG);
}

static void a_file_that_cannot_be_read_changes_nothing(void **state)
{
	(void)state;
	assert_int_equal(run_traced(fail_to_read), 0);
}

static void read_with_diagnostics(void)
{
	char path[200];

	CHILD_CHECK(ct_process_attach() != NULL);
	rewrite("nonsense\nmftrace.level.a = error\nmftrace.level.b = loud\nmftrace.dest.c = nosuchemitter\n");
	reload();
	CHILD_CHECK(
		says("; 3 lines were not understood, the first is line 7: ctrace config check ") &&
		diagnostics == 3);
	CHILD_CHECK(level_of("a") == CTRACE_ERROR);
	rewrite("nonsense\nmftrace.application = some-other-program\nnonsense\n");
	reload();
	CHILD_CHECK(says(
		", and says nothing of this program: mftrace.application in line 8 is another's"));
	CHILD_CHECK(strstr(message, "understood") == NULL);
	CHILD_CHECK(level_of("a") == CTRACE_LEVEL_NONE);
	rewrite("mftrace.level.a = fatal\nx\n");
	(void)snprintf(path, sizeof path, "%s/config", room);
	CHILD_CHECK(ct_reload(path, &diagnostics, message) == CTRACE_OK);
	CHILD_CHECK(says("; 1 line was not understood, line 8: ctrace config check ") &&
		    diagnostics == 1);
	CHILD_CHECK(says(path));
}

static void diagnostics_are_counted(void **state)
{
	(void)state;
	assert_int_equal(run_traced(read_with_diagnostics), 0);
}

static void change_what_holds_later(void)
{
	CHILD_CHECK(ct_process_attach() != NULL);
	rewrite("ctrace.attach = off\nctrace.run.directory = /x\nctrace.buffer = 256k\nctrace.flight.buffer = 128k\n"
		"ctrace.flight.trigger = signal\nctrace.block.timeout = 5s\n");
	reload();
	CHILD_CHECK(says(
		"is in force; ctrace.attach and ctrace.run.directory hold from the next start on; "
		"ctrace.buffer and ctrace.flight.buffer hold for rings made from now on"));
	CHILD_CHECK(ct_process.settings.buffer == 256 << 10 &&
		    ct_process.settings.flight_buffer == 128 << 10);
	CHILD_CHECK(ct_process.settings.block_timeout_ns == 5000000000u);
	CHILD_CHECK(ct_process.session.head->flight_at_death == 1);
	CHILD_CHECK(emit(0) == CTRACE_OK);
	reload();
	CHILD_CHECK(strchr(message, ';') == NULL);
	CHILD_CHECK(setenv("CTRACE_ATTACH", "1", 1) == 0);
	rewrite("ctrace.attach = off\nctrace.run.directory = /x\nctrace.buffer = 512k\n");
	reload();
	CHILD_CHECK(says("is in force; ctrace.attach holds from the next start on; "
			 "ctrace.buffer and ctrace.flight.buffer hold for rings made from now on"));
	CHILD_CHECK(ct_process.session.head->flight_at_death == 0);
	CHILD_CHECK(count_run_directories() == 1);
}

static void what_holds_only_later_is_said(void **state)
{
	(void)state;
	assert_int_equal(run_traced(change_what_holds_later), 0);
}

static void move_away(void)
{
	CHILD_CHECK(setenv("MFTRACE_CONFIG", "config", 1) == 0);
	CHILD_CHECK(ct_process_attach() != NULL);
	CHILD_CHECK(level_of("a") == CTRACE_DEBUG);
	rewrite("mftrace.level = warn\n");
	CHILD_CHECK(chdir("/") == 0);
	reload();
	CHILD_CHECK(level_of("a") == CTRACE_WARN);
	CHILD_CHECK(chdir(room) == 0);
}

static void a_relative_path_is_that_of_the_start(void **state)
{
	(void)state;
	assert_int_equal(run_traced(move_away), 0);
}

/* ---- component trace ---- */

static uint32_t agree(struct ctrace_ctss *ctss)
{
	ctss->reason = 0;
	return 0;
}

static void define(const char *name)
{
	const struct ctrace_define define = { CTRACE_DEFINE_INIT,     .name = name,
					      .startnam = "AGREE",    .head = CTRACE_YES,
					      .headopts = CTRACE_YES, .buffer = CTRACE_YES,
					      .mod = CTRACE_YES };

	struct ctrace_outcome outcome;

	if (ctrace_component_define(&define, &outcome) != CTRACE_RC_OK)
		(void)fprintf(stderr, "%s\n", outcome.message);
	CHILD_CHECK(outcome.rc == CTRACE_RC_OK);
}

static void command(const char *name, uint32_t state, const char *options, uint64_t bufsize)
{
	const struct ctrace_trace_ct command = { CTRACE_TRACE_CT_INIT, .state = state, .name = name,
						 .options = options, .bufsize = bufsize };

	CHILD_CHECK(ctrace_trace_ct(&command, NULL) == CTRACE_RC_OK);
}

static struct ctrace_display shown(const char *name)
{
	struct ctrace_display display = { .size = sizeof display };

	CHILD_CHECK(ctrace_component_display(name, NULL, &display) == CTRACE_OK);
	return display;
}

static uint64_t ring_of(const char *name)
{
	uint32_t index;

	CHILD_CHECK(ct_registry_find(ct_process.registry, name, strlen(name), &index) == CTRACE_OK);
	return ct_channel_at(ct_process.registry,
			     ct_level_word_channel(
				     &ct_registry_entry(ct_process.registry, index)->level_word))
		.buffer;
}

static void delete_trace(const char *name)
{
	const struct ctrace_delete request = { CTRACE_DELETE_INIT, .name = name };

	CHILD_CHECK(ctrace_component_delete(&request, NULL) == CTRACE_RC_OK);
}

static void operate_and_reload(void)
{
	struct ctrace_tracer *tracers[3];

	CHILD_CHECK(ctrace_routine_register("AGREE", agree) == CTRACE_OK);
	CHILD_CHECK(ctrace_tracer_get("COMMAND", &tracers[0]) == CTRACE_OK);
	CHILD_CHECK(ctrace_tracer_get("OFF", &tracers[1]) == CTRACE_OK);
	CHILD_CHECK(ctrace_tracer_get("LEVEL", &tracers[2]) == CTRACE_OK);
	define("COMMAND");
	define("OFF");
	define("LEVEL");
	CHILD_CHECK(shown("LEVEL").mode == CTRACE_MODE_ON && level_of("LEVEL") == CTRACE_INFO);
	command("COMMAND", CTRACE_CT_ON, "A,B", 256 << 10);
	command("OFF", CTRACE_CT_OFF, NULL, 0);
	rewrite("mftrace.level.command = fatal\nmftrace.level.off = debug\nmftrace.level.level = warn\n"
		"mftrace.dest.command = (es)\nctrace.buffer.command = 64k\nctrace.buffer.level = 128k\n");
	reload();
	/* What TRACE CT has made of them. */
	CHILD_CHECK(shown("COMMAND").mode == CTRACE_MODE_ON &&
		    strcmp(shown("COMMAND").options, "A,B") == 0);
	CHILD_CHECK(level_of("COMMAND") != CTRACE_FATAL &&
		    level_of("COMMAND") != CTRACE_LEVEL_NONE);
	CHILD_CHECK(ring_of("COMMAND") == 256 << 10);
	CHILD_CHECK(shown("OFF").mode == CTRACE_MODE_OFF && level_of("OFF") == CTRACE_LEVEL_NONE);
	/* On by the file's doing, and nobody has said anything else. */
	CHILD_CHECK(shown("LEVEL").mode == CTRACE_MODE_ON && level_of("LEVEL") == CTRACE_WARN);
	CHILD_CHECK(ring_of("LEVEL") == 128 << 10);
	CHILD_CHECK(dests_of("COMMAND") == 8);
	/* Deleted, they are what the file says now. */
	delete_trace("COMMAND");
	delete_trace("OFF");
	delete_trace("LEVEL");
	CHILD_CHECK(level_of("COMMAND") == CTRACE_FATAL && ring_of("COMMAND") == 64 << 10);
	CHILD_CHECK(level_of("OFF") == CTRACE_DEBUG);
	CHILD_CHECK(level_of("LEVEL") == CTRACE_WARN);
}

static void what_commands_have_made_of_a_trace_stays(void **state)
{
	(void)state;
	configure("mftrace.level.level = info\nmftrace.level.off = info\n");
	assert_int_equal(run_traced(operate_and_reload), 0);
}

/* ---- nothing is lost ---- */

#define RELOADS 1000u

static uint32_t stop_tracing;

static void *keep_tracing(void *argument)
{
	uint32_t *count = argument;

	while (__atomic_load_n(&stop_tracing, __ATOMIC_ACQUIRE) == 0)
		CTRACE(&tracer, CTRACE_INFO, (*count)++);
	return NULL;
}

/* Each number below count stands in out/trace.log once, as far as their number and sum tell. */
static bool has_all(uint32_t count)
{
	uint64_t lines = 0, sum = 0;
	char *line = NULL;
	size_t size = 0;
	FILE *file = fopen("out/trace.log", "r");

	CHILD_CHECK(file != NULL);
	while (getline(&line, &size, file) > 0) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		lines++;
		sum += strtoul(line, NULL, 10);
	}
	free(line);
	CHILD_CHECK(fclose(file) == 0);
	return lines == count && sum == (uint64_t)count * (count - 1) / 2;
}

/* Level, destinations, ring and the file's settings are said in another way each time; INFO and
 * TEXTFILE are so by both.  What a level word had turned away meanwhile would be missing, though it
 * were counted nowhere. */
static void reload_while_tracing(void)
{
	struct ctrace_stats now;
	pthread_t thread;
	uint32_t count = 0;

	CHILD_CHECK(emit(count++) == CTRACE_OK);
	CHILD_CHECK(pthread_create(&thread, NULL, keep_tracing, &count) == 0);
	for (unsigned i = 0; i < RELOADS; i++) {
		if (i % 2 == 0)
			rewrite("mftrace.level = none\nmftrace.level.unit = info\nmftrace.dest.unit = es\n"
				"mftrace.emitter.textfile#hexblocksize = 4\nctrace.buffer.unit = 128k\n");
		else
			rewrite("mftrace.level.unit.test = info\nctrace.flight.level.unit.test = debug\n");
		reload();
	}
	__atomic_store_n(&stop_tracing, 1, __ATOMIC_RELEASE);
	CHILD_CHECK(pthread_join(thread, NULL) == 0);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	now = stats();
	(void)fprintf(stderr, "# %u events over %u reloads\n", count, RELOADS);
	CHILD_CHECK(count > RELOADS);
	CHILD_CHECK(now.emitted == count && now.delivered == count && lost_total(&now) == 0);
	CHILD_CHECK(has_all(count));
}

static void a_thread_that_traces_on_loses_nothing(void **state)
{
	(void)state;
	configure("ctrace.block.timeout = 60s\n");
	assert_int_equal(run_traced(reload_while_tracing), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_reload(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_the_file_says_now_is_in_force),
		TEST(a_change_is_reported_once_with_its_last_value),
		TEST(only_destinations_with_other_settings_are_reopened),
		TEST(a_file_that_cannot_be_read_changes_nothing),
		TEST(diagnostics_are_counted),
		TEST(what_holds_only_later_is_said),
		TEST(a_relative_path_is_that_of_the_start),
		TEST(what_commands_have_made_of_a_trace_stays),
		TEST(a_thread_that_traces_on_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
