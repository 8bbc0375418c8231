/*
 * test_routine.c - exits by name: of the program, of COBOL, of modules; and what they say to
 * whoever gave the command.
 *
 * The modules are compiled by the test.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "component_fixture.h"

#include <semaphore.h>

static char why[236];
static struct ct_routine found;

static bool find(const char *name)
{
	memset(&found, 0, sizeof found);
	(void)snprintf(why, sizeof why, "nothing was said");
	return ct_routine_find(name, &found, why, sizeof why);
}

/* What the routine of that name answers. */
static uint32_t answer_of(const char *name)
{
	struct ctrace_ctss ctss = { .size = sizeof ctss };

	CHILD_CHECK(find(name));
	return ct_routine_call(&found, &ctss);
}

/* ---- of the program ---- */

static uint32_t answer_one(struct ctrace_ctss *ctss)
{
	ctss->reason = 0x101;
	return 1;
}

static uint32_t answer_two(struct ctrace_ctss *ctss)
{
	ctss->reason = 0x202;
	return 2;
}

static void what_is_registered_is_called(void)
{
	struct ctrace_ctss ctss = { .size = sizeof ctss };

	errno = 4711;
	CHILD_CHECK(ctrace_routine_register("ONE", answer_one) == CTRACE_OK);
	CHILD_CHECK(ctrace_routine_register("$@#45678", answer_two) == CTRACE_OK && errno == 4711);
	CHILD_CHECK(find("ONE") && ct_routine_call(&found, &ctss) == 1 && ctss.reason == 0x101);
	CHILD_CHECK(find("$@#45678") && ct_routine_call(&found, &ctss) == 2 &&
		    ctss.reason == 0x202);
	CHILD_CHECK(!find("ON") && !find("ONE2") && !find("$@#4567"));
}

static void the_later_registration_counts_and_none_takes_it_back(void)
{
	CHILD_CHECK(ctrace_routine_register("ONE", answer_one) == CTRACE_OK &&
		    answer_of("ONE") == 1);
	CHILD_CHECK(ctrace_routine_register("ONE", answer_two) == CTRACE_OK &&
		    answer_of("ONE") == 2);
	CHILD_CHECK(ctrace_routine_register("ONE", NULL) == CTRACE_OK && !find("ONE"));
	CHILD_CHECK(ctrace_routine_register("ONE", NULL) == CTRACE_OK &&
		    ctrace_routine_register("NEVER", NULL) == CTRACE_OK);
	CHILD_CHECK(!find("ONE") && !find("NEVER"));
	CHILD_CHECK(ctrace_routine_register("ONE", answer_one) == CTRACE_OK &&
		    answer_of("ONE") == 1);
}

static uint32_t invoke_other(void *code, struct ctrace_ctss *ctss)
{
	ctss->reason = 0x303;
	return *(const uint32_t *)code;
}

/* COBOL's are called in a way of their own. */
static void what_is_no_c_function_is_added_with_its_way_to_call_it(void)
{
	static uint32_t code = 17;
	const struct ct_routine other = { .code = &code, .invoke = invoke_other },
				none = { .invoke = invoke_other };
	struct ctrace_ctss ctss = { .size = sizeof ctss };

	CHILD_CHECK(ctrace_routine_register("ONE", answer_one) == CTRACE_OK);
	CHILD_CHECK(ct_routine_add("ONE", &other) == CTRACE_OK); /* the later one counts */
	CHILD_CHECK(find("ONE") && ct_routine_call(&found, &ctss) == 17 && ctss.reason == 0x303);
	CHILD_CHECK(ct_routine_add("ONE", &none) == CTRACE_OK && !find("ONE"));
	CHILD_CHECK(ct_routine_add("one", &other) == CTRACE_INVALID_COMPONENT_NAME &&
		    ct_routine_add(NULL, &other) == CTRACE_INVALID_COMPONENT_NAME);
}

static void what_is_no_name_is_refused(void)
{
	static const char *const names[] = { NULL,  "",          "1ONE", "one",   "ONE ",
					     "O.E", "NINECHARS", "\xC4", "../ONE" };

	for (size_t i = 0; i < CT_COUNT(names); i++)
		CHILD_CHECK(ctrace_routine_register(names[i], answer_one) ==
			    CTRACE_INVALID_COMPONENT_NAME);
}

static void who_is_nowhere_is_named(void)
{
	CHILD_CHECK(!find("NOWHERE"));
	CHILD_CHECK(
		strcmp(why,
		       "NOWHERE is not registered in this program (ctrace_routine_register() or CBL_CTRACE_ROUTINE comes first), and NOWHERE.so is not to be loaded from CTRACE_LINKLIST, "
		       "which is not set") == 0);
	CHILD_CHECK(setenv("CTRACE_LINKLIST", room, 1) == 0 && !find("NOWHERE"));
	CHILD_CHECK(
		strcmp(why,
		       "NOWHERE is not registered in this program (ctrace_routine_register() or CBL_CTRACE_ROUTINE comes first), and NOWHERE.so is not to be loaded from CTRACE_LINKLIST") ==
		0);
}

/* ---- of modules ---- */

/* room/directory/module.so, in which `code` stands. */
static void build(const char *directory, const char *module, const char *code)
{
	char command[2000];

	put_file("module.c", code, strlen(code));
	(void)snprintf(command, sizeof command,
		       "umask 022 && mkdir -p %s && cc -shared -fPIC -w -o '%s/%s.so' module.c",
		       directory, directory, module);
	CHILD_CHECK(system(command) == 0);
}

static void search(const char *first, const char *second)
{
	char list[300];

	(void)snprintf(list, sizeof list, "%s/%s:%s/%s", room, first, room, second);
	CHILD_CHECK(setenv("CTRACE_LINKLIST", list, 1) == 0);
}

static void a_module_has_the_function_of_its_name_or_ctrace_exit_routine(void)
{
	build("a", "NAMED",
	      "unsigned NAMED(void *c) { return 3; } unsigned ctrace_exit_routine(void *c) { return 9; }");
	build("a", "OTHER#", "unsigned ctrace_exit_routine(void *c) { return 4; }");
	build("a", "EMPTY", "unsigned something_else(void *c) { return 5; }");
	put_file("a/TEXT.so", "no module", 9);
	search("none", "a");
	CHILD_CHECK(answer_of("NAMED") == 3 && answer_of("OTHER#") == 4);
	CHILD_CHECK(!find("EMPTY") &&
		    strcmp(why, "EMPTY.so has neither a function EMPTY nor ctrace_exit_routine") ==
			    0);
	CHILD_CHECK(!find("TEXT") && !find("named"));
}

static void what_was_found_once_stays_known(void)
{
	build("a", "STAYS", "static unsigned calls; unsigned STAYS(void *c) { return ++calls; }");
	build("b", "STAYS", "unsigned STAYS(void *c) { return 99; }");
	search("a", "b");
	CHILD_CHECK(answer_of("STAYS") == 1);
	CHILD_CHECK(unlink("a/STAYS.so") == 0 && answer_of("STAYS") == 2);
	CHILD_CHECK(unsetenv("CTRACE_LINKLIST") == 0 && answer_of("STAYS") == 3);
}

static bool has_cobol_been_asked;

static uint32_t invoke_as_cobol(void *code, struct ctrace_ctss *ctss)
{
	return code == &found && ctss->size == sizeof *ctss ? 7 : 0;
}

static bool find_entry(const char *name, struct ct_routine *out)
{
	has_cobol_been_asked = true;
	CHILD_CHECK(ct_thread_locked == 0);
	*out = (struct ct_routine){ .code = &found, .invoke = invoke_as_cobol };
	return strcmp(name, "BOTH") == 0;
}

static void the_program_goes_before_cobol_and_cobol_before_modules(void)
{
	build("a", "BOTH", "unsigned BOTH(void *c) { return 5; }");
	build("a", "ALONE", "unsigned ALONE(void *c) { return 6; }");
	search("a", "b");
	ct_routine_find_cobol = find_entry;
	CHILD_CHECK(ctrace_routine_register("BOTH", answer_one) == CTRACE_OK &&
		    answer_of("BOTH") == 1 && !has_cobol_been_asked);
	CHILD_CHECK(ctrace_routine_register("BOTH", NULL) == CTRACE_OK && answer_of("BOTH") == 7 &&
		    has_cobol_been_asked);
	CHILD_CHECK(answer_of("ALONE") == 6);
	/* And the program's own again, although another one has been found meanwhile. */
	CHILD_CHECK(ctrace_routine_register("ALONE", answer_two) == CTRACE_OK &&
		    answer_of("ALONE") == 2);
	CHILD_CHECK(ctrace_routine_register("ALONE", NULL) == CTRACE_OK && answer_of("ALONE") == 6);
}

/* While it is looked for, here in COBOL, another thread registers one. */
static bool register_meanwhile(const char *name, struct ct_routine *out)
{
	CHILD_CHECK(ctrace_routine_register(name, answer_two) == CTRACE_OK);
	*out = (struct ct_routine){ .code = &found, .invoke = invoke_as_cobol };
	return true;
}

static void what_was_registered_meanwhile_goes_before_what_was_found(void)
{
	ct_routine_find_cobol = register_meanwhile;
	CHILD_CHECK(answer_of("BOTH") == 2);
	ct_routine_find_cobol = NULL;
	CHILD_CHECK(answer_of("BOTH") == 2);
}

/* ---- messages ---- */

static void a_message_reaches_the_command_that_listens(void)
{
	char outer_text[100] = "", inner_text[100] = "";
	struct ct_console outer, inner;

	errno = 4711;
	ct_console_open(&outer, outer_text, sizeof outer_text);
	CHILD_CHECK(ctrace_wto(outer.number, "FIRST") == CTRACE_OK &&
		    strcmp(outer_text, "FIRST") == 0);
	ct_console_open(&inner, inner_text, sizeof inner_text); /* a routine that gives a command */
	CHILD_CHECK(inner.number != outer.number);
	CHILD_CHECK(ctrace_wto(inner.number, "INNER") == CTRACE_OK &&
		    ctrace_wto(outer.number, "SECOND") == CTRACE_OK);
	ct_console_close(&inner);
	CHILD_CHECK(ctrace_wto(inner.number, "TOO LATE") == CTRACE_NOT_FOUND &&
		    strcmp(inner_text, "INNER") == 0);
	CHILD_CHECK(ctrace_wto(outer.number, "  ") == CTRACE_OK &&
		    strcmp(outer_text, "FIRST; SECOND") == 0);
	ct_console_close(&outer);
	CHILD_CHECK(ctrace_wto(outer.number, "TOO LATE") == CTRACE_NOT_FOUND &&
		    strstr(outer_text, "LATE") == NULL);
	CHILD_CHECK(ctrace_wto(0, "NOBODY") == CTRACE_NOT_FOUND &&
		    ctrace_wto(UINT64_MAX, "NOBODY") == CTRACE_NOT_FOUND);
	CHILD_CHECK(ctrace_wto(outer.number, NULL) == CTRACE_FAILURE && errno == 4711);
}

static const char *said(const char *text)
{
	static char line[1000];
	struct ct_console console;

	line[0] = '\0';
	ct_console_open(&console, line, sizeof line);
	CHILD_CHECK(ctrace_wto(console.number, text) == CTRACE_OK);
	ct_console_close(&console);
	return line;
}

static void a_message_is_one_harmless_line(void)
{
	CHILD_CHECK(strcmp(said("plain 'and' \"quoted\""), "plain 'and' \"quoted\"") == 0);
	CHILD_CHECK(strcmp(said("\""), "\"") == 0 && strcmp(said("\"\"x\""), "\"\"x\"") == 0);
	CHILD_CHECK(strcmp(said("a\nb\tc\x1B[31m\x7F"), "a\\nb\\tc\\u{1B}[31m\\u{7F}") == 0);
	CHILD_CHECK(strcmp(said("\xC3\xA4 \xE2\x80\xAE \xFF \\"),
			   "\xC3\xA4 \\u{202E} \\xFF \\\\") == 0);
}

static void a_message_is_cut_and_stays_inside_its_buffer(void)
{
	struct {
		char text[40];
		char behind[8];
	} small = { .behind = "behind!" };
	struct ct_console console;
	char longest[200];

	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	CHILD_CHECK(strlen(said(longest)) == CTRACE_MAX_WTO);
	longest[CTRACE_MAX_WTO] = '\0';
	CHILD_CHECK(strcmp(said(longest), longest) == 0);
	ct_console_open(&console, small.text, sizeof small.text);
	for (unsigned i = 0; i < 20; i++)
		CHILD_CHECK(ctrace_wto(console.number, "SEVEN B") == CTRACE_OK);
	CHILD_CHECK(ctrace_wto(console.number, longest) == CTRACE_OK);
	ct_console_close(&console);
	CHILD_CHECK(strlen(small.text) < sizeof small.text && strcmp(small.behind, "behind!") == 0);
	CHILD_CHECK(strncmp(small.text, "SEVEN B; SEVEN B; SEVEN B; SEVEN B; ", 36) == 0);
}

/* What does not fit is left out from a whole character, or escape, on. */
static void a_message_is_cut_behind_a_whole_character_or_escape(void)
{
	char text[236] = "", line[CTRACE_MAX_WTO + 2];
	struct ct_console console;

	memset(line, '\x1B', sizeof line - 1);
	line[sizeof line - 1] = '\0';
	ct_console_open(&console, text, sizeof text);
	CHILD_CHECK(ctrace_wto(console.number, line) == CTRACE_OK);
	ct_console_close(&console);
	CHILD_CHECK(strlen(text) == 39 * strlen("\\u{1B}") && text[strlen(text) - 1] == '}');
	memset(line, 'x', CTRACE_MAX_WTO - 1);
	memcpy(line + CTRACE_MAX_WTO - 1, "\xC3\xA4", 3);
	CHILD_CHECK(strlen(said(line)) == CTRACE_MAX_WTO - 1);
}

static uint64_t console_number; /* atomic; of the console that is open now, or was */
static uint32_t is_over;        /* atomic */

static void *speak(void *argument)
{
	(void)argument;
	while (__atomic_load_n(&is_over, __ATOMIC_RELAXED) == 0)
		(void)ctrace_wto(__atomic_load_n(&console_number, __ATOMIC_RELAXED), "SAID");
	return NULL;
}

/* A console's memory is its command's: nobody writes there once it is closed. */
static void nobody_speaks_to_a_command_that_is_over(void)
{
	pthread_t threads[4];
	unsigned heard = 0;

	for (unsigned i = 0; i < 4; i++)
		CHILD_CHECK(pthread_create(&threads[i], NULL, speak, NULL) == 0);
	for (unsigned round = 0; round < 20000 || heard < 100; round++) {
		struct ct_console console;
		char text[16] = "";

		ct_console_open(&console, text, sizeof text);
		__atomic_store_n(&console_number, console.number, __ATOMIC_RELAXED);
		if (round % 100 == 0)
			(void)sched_yield();
		ct_console_close(&console);
		CHILD_CHECK(text[0] == '\0' || strncmp(text, "SAID", 4) == 0);
		heard += text[0] != '\0';
		memset(text, 'x', sizeof text);
		memset(&console, 0xA5, sizeof console);
		for (unsigned i = 0; i < sizeof text; i++)
			CHILD_CHECK(text[i] == 'x');
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < 4; i++)
		CHILD_CHECK(pthread_join(threads[i], NULL) == 0);
}

static sem_t listens;

static void *listen_for_ever(void *argument)
{
	struct ct_console console;
	char text[16] = "";

	ct_console_open(&console, text, sizeof text);
	console_number = console.number;
	CHILD_CHECK(sem_post(&listens) == 0);
	for (;;)
		(void)pause();
	return argument;
}

static void *overwrite_the_stack(void *argument)
{
	char bytes[200000];

	memset(bytes, 'x', sizeof bytes);
	__asm__ volatile("" ::"r"(bytes) : "memory");
	return argument;
}

/* The stack that the other thread's console was on is another thread's in the child. */
static void a_forked_child_does_not_speak_to_others_commands(void)
{
	pthread_t thread;
	int status;
	pid_t pid;

	CHILD_CHECK(sem_init(&listens, 0, 0) == 0 &&
		    pthread_create(&thread, NULL, listen_for_ever, NULL) == 0);
	while (sem_wait(&listens) != 0)
		;
	pid = fork();
	if (pid == 0) {
		CHILD_CHECK(pthread_create(&thread, NULL, overwrite_the_stack, NULL) == 0 &&
			    pthread_join(thread, NULL) == 0);
		CHILD_CHECK(ctrace_wto(console_number, "TOO LATE") == CTRACE_NOT_FOUND &&
			    ctrace_wto(0, "NOBODY") == CTRACE_NOT_FOUND);
		_exit(0);
	}
	CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	_exit(0);
}

int test_routine(void)
{
	const struct CMUnitTest tests[] = {
		IN_CHILD(what_is_registered_is_called),
		IN_CHILD(the_later_registration_counts_and_none_takes_it_back),
		IN_CHILD(what_is_no_c_function_is_added_with_its_way_to_call_it),
		IN_CHILD(what_is_no_name_is_refused),
		IN_CHILD(who_is_nowhere_is_named),
		IN_CHILD(a_module_has_the_function_of_its_name_or_ctrace_exit_routine),
		IN_CHILD(what_was_found_once_stays_known),
		IN_CHILD(the_program_goes_before_cobol_and_cobol_before_modules),
		IN_CHILD(what_was_registered_meanwhile_goes_before_what_was_found),
		IN_CHILD(a_message_reaches_the_command_that_listens),
		IN_CHILD(a_message_is_one_harmless_line),
		IN_CHILD(a_message_is_cut_and_stays_inside_its_buffer),
		IN_CHILD(a_message_is_cut_behind_a_whole_character_or_escape),
		IN_CHILD(nobody_speaks_to_a_command_that_is_over),
		IN_CHILD(a_forked_child_does_not_speak_to_others_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
