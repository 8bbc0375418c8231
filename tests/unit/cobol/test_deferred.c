/*
 * test_deferred.c - commands from another thread reach the routines of the thread that registered
 * them, inside its next call.
 *
 * The program is the main thread; its routine is a C function, called as COBOL's are.  The operator
 * is another thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"

#include "lib/component/component.h"
#include "ctf_fixture.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#define LONG_MS 60000u

/* ---- the program ---- */

static struct {
	unsigned calls;
	uint32_t answer;
	bool calls_back; /* traces inside the routine */
	unsigned depth, deepest;
	pthread_t thread;
	char options[16][16];
} seen;

static void make_a_call(void)
{
	assert_int_equal(CBL_CTF_LEVEL(CTF_FLAG_COMPID_STRING, CTRACE_INFO, BYTES("UNRELATED ")),
			 CTF_RET_SUCCESS);
}

static uint32_t routine(struct ctrace_ctss *ctss)
{
	(void)snprintf(seen.options[seen.calls % 16], sizeof seen.options[0], "%.*s",
		       (int)ctss->options_size, ctss->options);
	seen.calls++;
	seen.thread = pthread_self();
	if (++seen.depth > seen.deepest)
		seen.deepest = seen.depth;
	if (seen.calls_back)
		make_a_call();
	(void)ctrace_wto(ctss->console, "Said by the routine.");
	seen.depth--;
	ctss->reason = seen.answer != 0 ? 7 : 0;
	return seen.answer;
}

static void define_trace(const char *name)
{
	struct ctrace_define define = { CTRACE_DEFINE_INIT,     .name = name,
					.startnam = "APPSS",    .head = CTRACE_YES,
					.headopts = CTRACE_YES, .mod = CTRACE_YES };

	assert_int_equal(CBL_CTRACE_ROUTINE("APPSS", (void *)(uintptr_t)routine), CTF_RET_SUCCESS);
	assert_int_equal(ctrace_component_define(&define, NULL), CTRACE_RC_OK);
}

static void delete_trace(const char *name)
{
	const struct ctrace_delete request = { CTRACE_DELETE_INIT, .name = name };

	seen.answer = 0;
	assert_int_equal(ctrace_component_delete(&request, NULL), CTRACE_RC_OK);
}

static int set_up(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof seen);
	define_trace("APP");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	delete_trace("APP");
	assert_int_equal(__atomic_load_n(&ct_notify_waiting, __ATOMIC_RELAXED), 0);
	return 0;
}

static uint32_t mode_of(const char *name)
{
	struct ctrace_display display = { .size = sizeof display };

	assert_int_equal(ctrace_component_display(name, NULL, &display), CTRACE_OK);
	return display.mode;
}

/* ---- the operator ---- */

struct sender {
	struct ct_trace_command command;
	unsigned wait_ms;
	pthread_t thread;
	bool answer;
	struct ctrace_outcome outcome;
	uint32_t is_over;
};

static void *command_from_outside(void *argument)
{
	struct sender *sender = argument;
	struct ct_trace_command command = sender->command;

	/* The command is gone when it is carried out. */
	(void)ct_trace_ct(&command, &sender->outcome);
	sender->answer = ct_ctf_defer(&command, sender->wait_ms, &sender->outcome);
	memset(&command, '#', sizeof command);
	__atomic_store_n(&sender->is_over, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void begin(struct sender *sender, const char *name, const char *options, unsigned wait_ms)
{
	struct ct_trace_request *request = &sender->command.request;

	*sender = (struct sender){ .command = { .request = { .state = CTRACE_CT_ON } },
				   .wait_ms = wait_ms };
	(void)strcpy(sender->command.name, name);
	request->has[CT_CLAUSE_OPTIONS] = options != NULL;
	request->options_size = options != NULL ? strlen(options) : 0;
	memcpy(request->options, options != NULL ? options : "", request->options_size);
	assert_int_equal(pthread_create(&sender->thread, NULL, command_from_outside, sender), 0);
}

static void end(struct sender *sender)
{
	assert_int_equal(pthread_join(sender->thread, NULL), 0);
}

static bool is_over(const struct sender *sender)
{
	return __atomic_load_n(&sender->is_over, __ATOMIC_ACQUIRE) != 0;
}

/* Gives a command that is not waited for. */
static void hand_over(struct sender *sender, const char *name, const char *options)
{
	begin(sender, name, options, 0);
	end(sender);
}

static void assert_waits(const struct sender *sender)
{
	assert_false(sender->answer);
	assert_int_equal(sender->outcome.rc, CTRACE_RC_OK);
	assert_int_equal(sender->outcome.rsncode, 0);
	assert_int_equal(sender->outcome.ss_rc, 0);
	assert_string_equal(sender->outcome.message,
			    "the routine APPSS runs in the program's next CBL_ call");
}

/* ---- tests ---- */

static void the_next_call_carries_it_out_and_the_operator_has_the_outcome(void **state)
{
	struct sender sender;

	(void)state;
	begin(&sender, "APP", "FIRST", LONG_MS);
	while (!is_over(&sender))
		make_a_call();
	end(&sender);
	assert_true(sender.answer);
	assert_int_equal(sender.outcome.rc, CTRACE_RC_OK);
	assert_string_equal(sender.outcome.message, "Said by the routine.");
	assert_int_equal(seen.calls, 1);
	assert_string_equal(seen.options[0], "FIRST");
	assert_true(pthread_equal(seen.thread, pthread_self()));
	assert_int_equal(mode_of("APP"), CTRACE_MODE_ON);
}

static void the_routines_refusal_comes_back_too(void **state)
{
	struct sender sender;

	(void)state;
	seen.answer = 4;
	begin(&sender, "APP", "BAD", LONG_MS);
	while (!is_over(&sender))
		make_a_call();
	end(&sender);
	assert_true(sender.answer);
	assert_int_equal(sender.outcome.rc, CTRACE_RC_REFUSED);
	assert_int_equal(sender.outcome.ss_rc, 4);
	assert_int_equal(sender.outcome.ss_rsncode, 7);
	assert_int_equal(mode_of("APP"), CTRACE_MODE_OFF);
}

/* Each kind of call will do; errno and the call's own status stay what they are. */
static void every_kind_of_call_does(void **state)
{
	cbl_x4_comp5_t handle = tracer("CALLS");
	struct sender sender;
	cobuns8_t event[44] = { 0 };
	uint64_t nobody = 77;

	(void)state;
	hand_over(&sender, "APP", "1");
	assert_waits(&sender);
	assert_int_equal(seen.calls, 0);
	errno = 4711;
	memcpy(event + 8, &(const uint32_t){ 1 }, 4);
	memcpy(event + 12, &(const uint32_t){ CTRACE_INFO }, 4);
	assert_int_equal(CBL_CTF_TRACE(0, (const cobuns8_t *)&handle, event), CTF_RET_SUCCESS);
	assert_int_equal(errno, 4711);
	assert_int_equal(seen.calls, 1);
	hand_over(&sender, "APP", "2");
	assert_int_equal(CBL_CTRACE_WTO(&nobody, "text", 4), CTF_RET_FAILURE);
	assert_int_equal(seen.calls, 2);
	hand_over(&sender, "APP", "3");
	assert_int_equal(CBL_CTF_TRACER_NOTIFY(0, NULL), CTF_RET_FAILURE);
	assert_int_equal(seen.calls, 3);
	/* Except those that C programs make in signal handlers. */
	hand_over(&sender, "APP", "4");
	assert_int_equal(CBL_CTRACE_ENTRY(handle, 1, "x", 1), CTF_RET_SUCCESS);
	assert_int_equal(seen.calls, 3);
	make_a_call();
	assert_int_equal(seen.calls, 4);
	assert_string_equal(seen.options[3], "4");
}

static void they_are_carried_out_in_order_and_only_the_first_is_waited_for(void **state)
{
	struct sender senders[8];
	char options[8][16];

	(void)state;
	hand_over(&senders[0], "APP", "0");
	for (unsigned i = 1; i < 8; i++) {
		(void)snprintf(options[i], sizeof options[i], "%u", i);
		begin(&senders[i], "APP", options[i], LONG_MS);
		end(&senders[i]); /* nobody makes a call: it would take a minute */
		assert_waits(&senders[i]);
	}
	make_a_call();
	assert_int_equal(seen.calls, 8);
	for (unsigned i = 1; i < 8; i++)
		assert_string_equal(seen.options[i], options[i]);
	make_a_call();
	assert_int_equal(seen.calls, 8);
}

static struct sender inner;

static uint32_t operated_routine(struct ctrace_ctss *ctss)
{
	if (seen.calls++ == 0) {
		begin(&inner, "OTHER", "X", LONG_MS);
		end(&inner); /* the thread is here: it would take a minute */
	}
	(void)ctss;
	return 0;
}

static void nor_is_one_behind_a_command_that_runs(void **state)
{
	struct sender sender;

	(void)state;
	define_trace("OTHER");
	assert_int_equal(CBL_CTRACE_ROUTINE("APPSS", (void *)(uintptr_t)operated_routine),
			 CTF_RET_SUCCESS);
	hand_over(&sender, "APP", "X");
	make_a_call();
	assert_waits(&inner);
	assert_int_equal(seen.calls, 2);
	assert_int_equal(mode_of("OTHER"), CTRACE_MODE_ON);
	assert_int_equal(CBL_CTRACE_ROUTINE("APPSS", (void *)(uintptr_t)routine), CTF_RET_SUCCESS);
	delete_trace("OTHER");
}

static void there_is_an_end_to_the_queue(void **state)
{
	struct sender sender;

	(void)state;
	for (unsigned i = 0; i < 64; i++) {
		hand_over(&sender, "APP", "X");
		assert_waits(&sender);
	}
	hand_over(&sender, "APP", "X");
	assert_false(sender.answer);
	assert_int_equal(sender.outcome.rc, CTRACE_RC_REFUSED);
	assert_int_equal(sender.outcome.ss_rc, CBL_CTRACE_SSRC_THREAD);
	assert_string_equal(sender.outcome.message,
			    "64 commands wait already for the thread of routine APPSS");
	make_a_call();
	assert_int_equal(seen.calls, 64);
	hand_over(&sender, "APP", "X");
	assert_waits(&sender);
	make_a_call();
	assert_int_equal(seen.calls, 65);
}

static void what_was_no_refusal_is_left_alone(void **state)
{
	struct ct_trace_command command = { .name = "NONESUCH",
					    .request = { .state = CTRACE_CT_ON } };
	struct ctrace_outcome outcome, before;

	(void)state;
	assert_int_equal(ct_trace_ct(&command, &outcome), CTRACE_RC_REFUSED);
	before = outcome;
	assert_false(ct_ctf_defer(&command, LONG_MS, &outcome));
	assert_memory_equal(&outcome, &before, sizeof before);
	/* A routine's own answer that looks like it. */
	(void)strcpy(command.name, "APP");
	seen.answer = CBL_CTRACE_SSRC_THREAD;
	assert_int_equal(ct_trace_ct(&command, &outcome), CTRACE_RC_REFUSED);
	outcome.ss_rsncode = CBL_CTRACE_SSRSNC_THREAD;
	before = outcome;
	assert_false(ct_ctf_defer(&command, LONG_MS, &outcome));
	assert_memory_equal(&outcome, &before, sizeof before);
}

/* A routine that makes calls is not interrupted by the next command. */
static void commands_do_not_nest(void **state)
{
	struct sender senders[3];

	(void)state;
	seen.calls_back = true;
	for (unsigned i = 0; i < 3; i++)
		hand_over(&senders[i], "APP", "X");
	make_a_call();
	assert_int_equal(seen.calls, 3);
	assert_int_equal(seen.deepest, 1);
	/* Nor are the routines of the program's own commands. */
	for (unsigned i = 0; i < 3; i++)
		hand_over(&senders[i], "APP", "X");
	delete_trace("APP");
	assert_int_equal(seen.deepest, 1);
	define_trace("APP");
	make_a_call();
}

static unsigned callbacks, calls_in_callback;

static void callback(uint32_t handle, uint32_t type, void *parameter)
{
	(void)handle;
	(void)type;
	(void)parameter;
	callbacks++;
	make_a_call();
	calls_in_callback += seen.calls;
}

/* What the command changes is told to the program's callbacks, in the same call; a callback is not
 * interrupted by a command. */
static void callbacks_hear_of_it(void **state)
{
	NOTIF_INSTALL install = { .handle = tracer("APP"), .callback = callback };
	struct sender sender;

	(void)state;
	assert_int_equal(CBL_CTF_TRACER_NOTIFY(TRACER_NOTIF_INSTALL, &install), CTF_RET_SUCCESS);
	hand_over(&sender, "APP", "X");
	callbacks = calls_in_callback = 0;
	make_a_call();
	assert_int_equal(seen.calls, 1);
	assert_int_equal(callbacks, 1);
	hand_over(&sender, "APP", "X");
	assert_int_equal(CBL_CTF_TRACER_NOTIFY(TRACER_NOTIF_UNINSTALL, &install), CTF_RET_SUCCESS);
	assert_int_equal(seen.calls, 2);
}

/* ---- ends ---- */

static pthread_barrier_t barrier;

static void *short_program(void *argument)
{
	(void)argument;
	define_trace("SHORT");
	(void)pthread_barrier_wait(&barrier);
	(void)pthread_barrier_wait(&barrier);
	return NULL;
}

static void a_queue_ends_with_its_thread(void **state)
{
	struct sender senders[2];
	pthread_t program;

	(void)state;
	assert_int_equal(CBL_CTRACE_ROUTINE("APPSS", NULL), CTF_RET_SUCCESS);
	assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
	assert_int_equal(pthread_create(&program, NULL, short_program, NULL), 0);
	(void)pthread_barrier_wait(&barrier);
	begin(&senders[0], "SHORT", "X", LONG_MS);
	while (__atomic_load_n(&ct_notify_waiting, __ATOMIC_RELAXED) == 0)
		;
	hand_over(&senders[1], "SHORT", "X");
	assert_waits(&senders[1]);
	make_a_call(); /* not this thread's */
	assert_int_equal(__atomic_load_n(&ct_notify_waiting, __ATOMIC_RELAXED), 2);
	(void)pthread_barrier_wait(&barrier);
	assert_int_equal(pthread_join(program, NULL), 0);
	end(&senders[0]);
	assert_false(senders[0].answer);
	assert_int_equal(senders[0].outcome.rc, CTRACE_RC_REFUSED);
	assert_string_equal(senders[0].outcome.message, "the thread of routine APPSS has ended");
	assert_int_equal(__atomic_load_n(&ct_notify_waiting, __ATOMIC_RELAXED), 0);
	/* And who comes later hears the same. */
	hand_over(&senders[1], "SHORT", "X");
	assert_false(senders[1].answer);
	assert_int_equal(senders[1].outcome.rc, CTRACE_RC_REFUSED);
	assert_string_equal(senders[1].outcome.message, "the thread of routine APPSS has ended");
	assert_int_equal(seen.calls, 0);
	assert_int_equal(pthread_barrier_destroy(&barrier), 0);
	delete_trace("SHORT");
	assert_int_equal(CBL_CTRACE_ROUTINE("APPSS", (void *)(uintptr_t)routine), CTF_RET_SUCCESS);
}

static void a_forked_child_has_none_of_them(void **state)
{
	struct sender senders[2];
	int status;
	pid_t child;

	(void)state;
	begin(&senders[0], "APP", "X", LONG_MS);
	while (__atomic_load_n(&ct_notify_waiting, __ATOMIC_RELAXED) == 0)
		;
	hand_over(&senders[1], "APP", "X");
	(void)fflush(NULL);
	child = fork();
	if (child == 0) {
		struct sender sender;

		if (__atomic_load_n(&ct_notify_waiting, __ATOMIC_RELAXED) != 0)
			_exit(1);
		make_a_call();
		if (seen.calls != 0)
			_exit(2);
		/* It can be operated itself. */
		hand_over(&sender, "APP", "CHILD");
		make_a_call();
		_exit(seen.calls == 1 && strcmp(seen.options[0], "CHILD") == 0 ? 0 : 3);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	make_a_call();
	end(&senders[0]);
	assert_true(senders[0].answer);
	assert_int_equal(seen.calls, 2);
}

static uint32_t forking_routine(struct ctrace_ctss *ctss)
{
	(void)ctss;
	seen.calls++;
	return fork() == 0 ? 99 : 0;
}

/* In the child the command ends as it would have. */
static void a_routine_may_fork(void **state)
{
	struct sender sender;
	pid_t self = getpid();
	int status;

	(void)state;
	assert_int_equal(CBL_CTRACE_ROUTINE("APPSS", (void *)(uintptr_t)forking_routine),
			 CTF_RET_SUCCESS);
	hand_over(&sender, "APP", "X");
	(void)fflush(NULL);
	make_a_call();
	if (getpid() != self) {
		make_a_call();
		_exit(seen.calls == 1 ? 0 : 1);
	}
	assert_true(wait(&status) > 0);
	assert_int_equal(status, 0);
	assert_int_equal(mode_of("APP"), CTRACE_MODE_ON);
	assert_int_equal(CBL_CTRACE_ROUTINE("APPSS", (void *)(uintptr_t)routine), CTF_RET_SUCCESS);
}

/* Many senders, and a program that never stops making calls: each command is carried out once. */
static void *many_commands(void *argument)
{
	unsigned *handed = argument;

	for (unsigned i = 0; i < 500; i++) {
		struct sender sender = { .command = { .name = "APP",
						      .request = { .state = CTRACE_CT_ON } },
					 .wait_ms = i % 3 };

		(void)command_from_outside(&sender);
		*handed += sender.answer || sender.outcome.rc == CTRACE_RC_OK;
	}
	return NULL;
}

static void each_is_carried_out_once(void **state)
{
	pthread_t threads[4];
	unsigned handed[4] = { 0 };
	unsigned sum = 0;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, many_commands, &handed[i]), 0);
	for (unsigned i = 0; i < 4; i++)
		while (pthread_tryjoin_np(threads[i], NULL) != 0)
			make_a_call();
	make_a_call();
	for (unsigned i = 0; i < 4; i++)
		sum += handed[i];
	assert_true(sum > 0);
	assert_int_equal(seen.calls, sum);
}

/* ---- whose routine is it? ---- */

static bool was_found;
static struct ct_routine found;
static uint32_t answer;

static void *find_on_own_thread(void *argument)
{
	struct ctrace_ctss ctss = { .size = sizeof ctss };

	was_found = ct_cobol_find_routine(argument, &found);
	answer = was_found ? ct_routine_call(&found, &ctss) : 0;
	return NULL;
}

/* The control thread may be the first that looks for a routine: it is not to run it. */
static void a_thread_of_ctraces_own_never_runs_cobol(void **state)
{
	char modules[4096];
	void *libcob = dlopen("libcob.so.4", RTLD_NOW | RTLD_GLOBAL);
	void (*start)(int, char **);
	pthread_t thread;

	(void)state;
	if (libcob == NULL)
		skip();
	(void)snprintf(modules, sizeof(modules), "%s/modules", getenv("CTRACE_BUILD"));
	assert_int_equal(setenv("CTRACE_EMITTERS", modules, 1), 0);
	start = (void (*)(int, char **))(uintptr_t)dlsym(libcob, "cob_init");
	assert_non_null(start);
	start(0, NULL);
	assert_int_equal(ct_os_thread_start(find_on_own_thread,
					    (void *)(uintptr_t) "cob_is_initialized", "test",
					    &thread),
			 CTRACE_OK);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(was_found);
	assert_int_equal(answer, CBL_CTRACE_SSRC_THREAD);
	assert_int_equal(
		ct_routine_call(&found,
				&(struct ctrace_ctss){ .size = sizeof(struct ctrace_ctss) }),
		1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int test_deferred(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_next_call_carries_it_out_and_the_operator_has_the_outcome),
		TEST(the_routines_refusal_comes_back_too),
		TEST(every_kind_of_call_does),
		TEST(they_are_carried_out_in_order_and_only_the_first_is_waited_for),
		TEST(nor_is_one_behind_a_command_that_runs),
		TEST(there_is_an_end_to_the_queue),
		TEST(what_was_no_refusal_is_left_alone),
		TEST(commands_do_not_nest),
		TEST(callbacks_hear_of_it),
		TEST(a_queue_ends_with_its_thread),
		TEST(a_forked_child_has_none_of_them),
		TEST(a_routine_may_fork),
		TEST(each_is_carried_out_once),
		TEST(a_thread_of_ctraces_own_never_runs_cobol),
	};

	return cmocka_run_group_tests(tests, set_up_text_file, NULL);
}
