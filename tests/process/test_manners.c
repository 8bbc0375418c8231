/*
 * test_manners.c - the library as a guest: errno, the standard streams, signal masks, wrong
 * arguments, another ABI, callbacks that trace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "scenario.h"

#include <dirent.h>
#include <sched.h>
#include <mfctf.h>

static struct ctrace_tracer tracer = CTRACE_TRACER("manners");

struct text {
	char lines[4096];
};

static void collect(const char *line, void *user)
{
	struct text *text = user;
	const char *rest = strchr(line, ' ');

	assert_non_null(rest); /* without the thread's number */
	assert_true(strlen(text->lines) + strlen(rest) < sizeof text->lines);
	strcat(text->lines, rest);
}

static void check_lines(const char *expected)
{
	struct text text = { "" };

	(void)scenario_lines("out/*.log", collect, &text);
	assert_string_equal(text.lines, expected);
}

/* ---- errno, in every public function, well and badly called ---- */

#define KEEPS(call) \
	do { \
		errno = 4711; \
		(void)!(call); \
		REQUIRE(errno == 4711); \
	} while (0)

static void hear(cobuns32_t handle, cobuns32_t type, void *info)
{
	(void)handle, (void)type, (void)info;
	/* a callback of the program's own may change it; the routine that called it may not */
	errno = EBADF;
}

/* As it is called in a process that has not traced, and again in one that has. */
static void call_everything(void)
{
	static const char *const names[] = { "manners", "manners.new", "",        NULL,
					     ".bad.",   "textfile",    "binfile", "nothing" };
	char value[64];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *name = names[i];
		const cobuns8_t *id = (const cobuns8_t *)name;
		struct ctrace_tracer local = CTRACE_TRACER(name);
		const struct ctrace_item item = CTRACE_U32(1);
		cobuns32_t by_name = CTF_FLAG_COMPID_STRING | CTF_FLAG_COMP_NAME_NULL_TERM |
				     CTF_FLAG_PROP_NAME_NULL_TERM |
				     CTF_FLAG_EMITTER_NAME_NULL_TERM |
				     CTF_FLAG_PROP_VALUE_NULL_TERM;
		struct ctrace_stats stats = { .size = sizeof stats };
		struct ctrace_tracer *found;
		size_t size = sizeof value;
		cbl_x4_comp5_t handle = 0;
		cbl_x4_comp5_t length = sizeof value;
		uint32_t level;

		KEEPS(ctrace_emit(&local, CTRACE_INFO, 1, &item, 1));
		KEEPS(ctrace_enabled(&local, CTRACE_INFO));
		KEEPS(ctrace_enabled_slow_(&local, CTRACE_INFO));
		KEEPS(ctrace_tracer_get(name, &found));
		KEEPS(ctrace_configure(name));
		KEEPS(ctrace_level_set(name, CTRACE_DEBUG));
		KEEPS(ctrace_level_get(name, &level));
		KEEPS(ctrace_dest_set("manners", name, CTRACE_DEST_ADD));
		KEEPS(ctrace_dest_set(name, "nothing", CTRACE_DEST_REMOVE));
		KEEPS(ctrace_component_property_set(name, "p", "v"));
		KEEPS(ctrace_component_property_get(name, "p", value, &size));
		KEEPS(ctrace_emitter_property_set(name, "p", "v"));
		KEEPS(ctrace_emitter_property_get(name, "p", value, &size));
		KEEPS(ctrace_flush(1000));
		KEEPS((ctrace_stats_get(&stats), 0));
		KEEPS(ctrace_version() == NULL);
		KEEPS(ctrace_status_name(CTRACE_DENIED) == NULL);
		KEEPS(ctrace_status_text(CTRACE_DENIED) == NULL);
		KEEPS(ctrace_loss_name(CTRACE_LOSS_NESTED) == NULL);

		KEEPS(CBL_CTF_TRACER_GET(CTF_FLAG_COMP_NAME_NULL_TERM, id, &handle));
		TRACE_EVENT event = { .level = CTRACE_INFO };
		NOTIF_INSTALL install = { 0, handle, hear };
		unsigned char packed[44] = { 0 };
		KEEPS(cobctf_tracer_notify(TRACER_NOTIF_INSTALL, &install));
		KEEPS(CBL_CTF_TRACER_LEVEL_GET(by_name, id, &level));
		KEEPS(CBL_CTF_LEVEL(by_name, CTRACE_WARN, id));
		KEEPS(CBL_CTF_LEVEL(by_name, CTRACE_DEBUG, id));
		KEEPS(CBL_CTF_DEST(by_name | CTF_FLAG_DEST_REMOVE, id,
				   (const cobuns8_t *)"nothing"));
		KEEPS(CBL_CTF_COMP_PROPERTY_SET(by_name, id, (const cobuns8_t *)"q", "v"));
		KEEPS(CBL_CTF_COMP_PROPERTY_GET(by_name, id, (const cobuns8_t *)"q", &length,
						value));
		KEEPS(CBL_CTF_EMITTER_PROPERTY_SET(by_name, id, (const cobuns8_t *)"q", "v"));
		KEEPS(CBL_CTF_EMITTER_PROPERTY_GET(by_name, id, (const cobuns8_t *)"q", &length,
						   value));
		KEEPS(cobctf_trace(by_name, id, &event));
		KEEPS(CBL_CTF_TRACE(by_name, id, packed));
		KEEPS(CBL_CTF_TRACER_NOTIFY(TRACER_NOTIF_UNINSTALL, &install));
		KEEPS(CBL_CTF_TRACE_NOTIFY(TRACER_NOTIF_UNINSTALL, &install));
		KEEPS(cobctf_tracer_notify(TRACER_NOTIF_UNINSTALL, &install));
	}
}

static void call_everything_twice(void)
{
	call_everything();
	CTRACE(&tracer, CTRACE_FATAL, 1);
	/* Nothing can be opened any more. */
	REQUIRE(ctrace_emitter_property_set("textfile", "location", "/proc/none") == CTRACE_OK);
	call_everything();
}

static void every_function_keeps_errno(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(call_everything_twice);
	scenario_end();
}

/* ---- the standard streams ---- */

static void say_nothing(void)
{
	int fd = open("streams", O_WRONLY | O_CREAT | O_APPEND, 0600);
	struct ctrace_tracer bad = CTRACE_TRACER("a..b");

	REQUIRE(fd >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO &&
		dup2(fd, STDERR_FILENO) == STDERR_FILENO);
	CTRACE(&bad, CTRACE_INFO, 1);
	CTRACE(&tracer, CTRACE_INFO, 1);
	CTRACE(&tracer, 17, 1);
	(void)!ctrace_flush(1000);
	(void)!ctrace_configure("mftrace.dest = nothing");
	(void)!ctrace_configure("mftrace.emitter.textfile#location = /proc/none");
	CTRACE(&tracer, CTRACE_INFO, 2);
	(void)!ctrace_flush(1000);
}

static void check_no_response(const char *config, const char *run_directory)
{
	FILE *file;

	scenario_begin(config);
	if (run_directory != NULL)
		assert_int_equal(setenv("CTRACE_RUN_DIR", run_directory, 1), 0);
	scenario_run(say_nothing);
	file = fopen("streams", "r");
	assert_non_null(file);
	assert_int_equal(fgetc(file), EOF);
	(void)fclose(file);
	scenario_end();
}

static void nothing_is_ever_printed(void **state)
{
	(void)state;
	check_no_response(LINES_CONFIG, NULL);
	check_no_response(
		"this is no line\nmftrace.level = verbose\nmftrace.level = debug\nmftrace.dest = nothing\n",
		NULL);
	check_no_response(
		"mftrace.level = debug\nmftrace.dest = binfile\nmftrace.emitter.binfile#location = /proc/none\n",
		NULL);
	check_no_response(LINES_CONFIG, "/proc/none");
	check_no_response(LINES_CONFIG, "relative");
}

/* ---- the consumer thread ---- */

/* Hexadecimal words of a line of /proc/self/task/TID/status. */
static unsigned long long status_word(const char *tid, const char *key)
{
	char path[300];
	char line[256];
	unsigned long long word = 0;
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/self/task/%s/status", tid);
	file = fopen(path, "r");
	REQUIRE(file != NULL);
	while (fgets(line, sizeof line, file) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			word = strtoull(line + strlen(key), NULL, 16);
	(void)fclose(file);
	return word;
}

/* The consumer thread, its standby, or the control thread. */
static bool is_ours(const char *tid)
{
	char path[300];
	char name[64] = "";
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/self/task/%s/comm", tid);
	file = fopen(path, "r");
	REQUIRE(file != NULL);
	REQUIRE(fgets(name, sizeof name, file) != NULL);
	(void)fclose(file);
	return strcmp(name, "ctrace-consumer\n") == 0 || strcmp(name, "ctrace-control\n") == 0;
}

/* How many threads of ours have their names; *out_threads: all threads of the process. */
static unsigned count_ours(unsigned *out_threads)
{
	/* All 64 but KILL, STOP, and the two that the C library keeps for itself (32 and 33). */
	const unsigned long long blocked =
		~((1ull << (SIGKILL - 1)) | (1ull << (SIGSTOP - 1)) | (1ull << 31) | (1ull << 32));
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	unsigned ours = 0;

	REQUIRE(tasks != NULL);
	*out_threads = 0;
	while ((entry = readdir(tasks)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		++*out_threads;
		if (!is_ours(entry->d_name))
			continue;
		ours++;
		REQUIRE((status_word(entry->d_name, "SigBlk:") & blocked) == blocked);
	}
	(void)closedir(tasks);
	return ours;
}

static void look_at_our_threads(void)
{
	unsigned threads;
	sigset_t before;
	sigset_t after;

	(void)alarm(60);                              /* stops a hang */
	for (int number = 1; number < NSIG; number++) /* cmocka has handlers of its own */
		(void)signal(number, SIG_DFL);
	REQUIRE(sigprocmask(SIG_BLOCK, NULL, &before) == 0);
	CTRACE(&tracer, CTRACE_INFO, 1);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
	REQUIRE(sigprocmask(SIG_BLOCK, NULL, &after) == 0);
	REQUIRE(memcmp(&before, &after, 8) == 0);
	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) == 0)
			REQUIRE(action.sa_handler == SIG_DFL);
	}
	/* A thread that has just been started names itself when it runs. */
	while (count_ours(&threads) < 3)
		(void)sched_yield();
	REQUIRE(threads == 4); /* the consumer thread, one that stands by, the control thread */
}

static void our_threads_have_names_and_take_no_signals(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(look_at_our_threads);
	scenario_end();
}

/* ---- wrong arguments, and programs of another time ---- */

static void trace_wrongly(void)
{
	char long_name[400] = "";
	struct ctrace_tracer nameless = CTRACE_TRACER(NULL);
	struct ctrace_tracer empty = CTRACE_TRACER("");
	struct ctrace_tracer bad = CTRACE_TRACER("a..b");
	struct ctrace_tracer too_long = CTRACE_TRACER(long_name);
	struct ctrace_tracer *const wrong[] = { &nameless, &empty, &bad, &too_long };
	struct ctrace_stats stats = { .size = sizeof stats };

	memset(long_name, 'n', 256);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		CTRACE(wrong[i], CTRACE_FATAL, 1, CTRACE_STR("no"));
		REQUIRE(!ctrace_enabled(wrong[i], CTRACE_FATAL));
		REQUIRE(ctrace_emit(wrong[i], CTRACE_FATAL, 1, NULL, 0) ==
			CTRACE_INVALID_COMPONENT_NAME);
	}
	long_name[255] = '\0';
	CTRACE(&too_long, CTRACE_INFO, 2, CTRACE_STR("255 bytes are a name"));
	REQUIRE(too_long.level_word != &ctrace_level_word_unregistered);

	CTRACE(&tracer, CTRACE_INFO, 3, CTRACE_STR(NULL), CTRACE_BIN(NULL, 100),
	       CTRACE_TEXT(NULL, 7), CTRACE_XU(NULL, 4));
	for (uint32_t shift = 0; shift < 32; shift++) {
		uint32_t level = shift < 3 ? 5 + shift : UINT32_C(1) << shift;

		CTRACE(&tracer, level, 4, CTRACE_STR("no such level"));
		REQUIRE(ctrace_emit(&tracer, level, 4, NULL, 0) == CTRACE_INVALID_TRACE_LEVEL);
	}
	CTRACE(&tracer, UINT32_MAX, 4, CTRACE_STR("no such level"));
	CTRACE(&tracer, CTRACE_INFO, UINT32_MAX);
	ctrace_stats_get(&stats);
	REQUIRE(stats.emitted == 3);
	stats.size = 0;
	ctrace_stats_get(&stats);
}

static void wrong_calls_are_answered_and_leave_no_event(void **state)
{
	char expected[600];
	char name[256];

	(void)state;
	memset(name, 'n', 255);
	name[255] = '\0';
	(void)snprintf(
		expected, sizeof expected,
		" %s 2 1 \"255 bytes are a name\"\n manners 3 1 \"\"  \"\" \n manners 4294967295 1\n",
		name);
	scenario_begin(LINES_CONFIG);
	scenario_run(trace_wrongly);
	check_lines(expected);
	scenario_end();
}

static void trace_as_another_version(void)
{
	struct ctrace_tracer other = CTRACE_TRACER("manners.other");
	struct ctrace_stats stats = { .size = sizeof stats };

	other.abi = 999;
	for (uint32_t i = 1; i <= 3; i++)
		CTRACE(&other, CTRACE_INFO, i, CTRACE_U32(i), CTRACE_STR("works"));
	/* it never comes to the inline half */
	REQUIRE(other.level_word == &ctrace_level_word_unregistered);
	REQUIRE(ctrace_enabled(&other, CTRACE_DEBUG));
	REQUIRE(ctrace_level_set("manners.other", CTRACE_WARN) == CTRACE_OK);
	CTRACE(&other, CTRACE_INFO, 4);
	REQUIRE(!ctrace_enabled(&other, CTRACE_INFO));
	REQUIRE(ctrace_emit(&other, CTRACE_INFO, 4, NULL, 0) == CTRACE_NOT_TRACING_LEVEL);
	ctrace_stats_get(&stats);
	REQUIRE(stats.emitted == 3);
}

static void a_program_of_another_abi_works_out_of_line(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(trace_as_another_version);
	check_lines(
		" manners.other 1 1 1 \"works\"\n manners.other 2 1 2 \"works\"\n manners.other 3 1 3 \"works\"\n");
	scenario_end();
}

/* ---- callbacks ---- */

static unsigned heard;

static void trace_what_is_heard(cobuns32_t handle, cobuns32_t type, void *info)
{
	cbl_x4_comp5_t level = 0;

	REQUIRE(type == TRACER_NOTIF_TYPE_LEVEL_CHANGE);
	memcpy(&level, info, sizeof level);
	heard++;
	CTRACE(&tracer, CTRACE_FATAL, 5, CTRACE_U32(level));
	REQUIRE(CBL_CTF_TRACER_LEVEL_GET(0, (const cobuns8_t *)&handle, &level) == CTF_RET_SUCCESS);
	CTRACE(&tracer, CTRACE_FATAL, 6, CTRACE_U32(level));
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
}

static void trace_in_callbacks(void)
{
	NOTIF_INSTALL install = { 0, 0, trace_what_is_heard };

	REQUIRE(CBL_CTF_TRACER_GET(0, (const cobuns8_t *)"manners.child ", &install.handle) ==
		CTF_RET_SUCCESS);
	REQUIRE(cobctf_tracer_notify(TRACER_NOTIF_INSTALL, &install) == CTF_RET_SUCCESS);
	REQUIRE(ctrace_level_set("manners.child", CTRACE_WARN) == CTRACE_OK);
	REQUIRE(ctrace_configure("mftrace.level.manners.child = error") == CTRACE_OK);
	REQUIRE(ctrace_level_set(NULL, CTRACE_INFO) == CTRACE_OK); /* it has a level of its own */
	REQUIRE(heard == 2);
}

static void a_callback_may_trace_and_flush(void **state)
{
	(void)state;
	scenario_begin(LINES_CONFIG);
	scenario_run(trace_in_callbacks);
	check_lines(" manners 5 4 2\n manners 6 4 2\n manners 5 4 3\n manners 6 4 3\n");
	scenario_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_function_keeps_errno),
		cmocka_unit_test(nothing_is_ever_printed),
		cmocka_unit_test(our_threads_have_names_and_take_no_signals),
		cmocka_unit_test(wrong_calls_are_answered_and_leave_no_event),
		cmocka_unit_test(a_program_of_another_abi_works_out_of_line),
		cmocka_unit_test(a_callback_may_trace_and_flush),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
