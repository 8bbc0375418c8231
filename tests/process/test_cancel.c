/*
 * test_cancel.c - a thread that is cancelled inside any call of the library, or inside a routine or
 * callback of the program that the call runs, leaves nothing behind: no lock, no transaction, no
 * notification.
 *
 * Each call is made once by a thread that has a cancellation pending, in a traced process of its
 * own.  The call returns, and the thread ends at its own next cancellation point; then another
 * thread makes the same call, and the process forks.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "traces.h"

#include <cbl_ctrace.h>
#include <mfctf.h>

#define HANG_SECONDS 60u /* stops a hang */
#define BY_NAME \
	(CTF_FLAG_COMPID_STRING | CTF_FLAG_COMP_NAME_NULL_TERM | CTF_FLAG_PROP_NAME_NULL_TERM | \
	 CTF_FLAG_PROP_VALUE_NULL_TERM)
#define BYTES(text) ((const cobuns8_t *)(text))

/* The calls share what they need of each other; answers are of no account here, since each is made
 * twice. */
static cbl_x4_comp5_t handle;
static struct ctrace_tracer last = CTRACE_TRACER("last");
static struct ctrace_tracer *tracer;
static struct ctrace_tbwc tbwc;
static unsigned char buffer[256];
static int cancel_type = PTHREAD_CANCEL_DEFERRED;
static unsigned in_program; /* calls of the program's routines and callbacks */

/* What a routine of the program may do: here a cancellation acts, if anywhere. */
static void stay_in_the_program(void)
{
	int former;

	in_program++;
	(void)pthread_setcanceltype(cancel_type, &former);
	pthread_testcancel();
	(void)close(-1);
}

static uint32_t routine(struct ctrace_ctss *ctss)
{
	stay_in_the_program();
	return ctrace_wto(ctss->console, "said") == CTRACE_OK ? 0 : 8;
}

static void callback(cobuns32_t of, cobuns32_t type, void *info)
{
	(void)of;
	(void)type;
	(void)info;
	stay_in_the_program();
}

/* ---- the calls ---- */

#define CALL(name, call) \
	static void name##_now(void) \
	{ \
		(void)!(call); \
	}
#define LIST_OF_CALLS(CALL) \
	CALL(configure, ctrace_configure("mftrace.comp.CANCEL#colour = green")) \
	CALL(tracer_get, ctrace_tracer_get("new.name", &tracer)) \
	CALL(level_set, ctrace_level_set("CANCEL", CTRACE_WARN)) \
	CALL(level_get, ctrace_level_get("CANCEL", &(uint32_t){ 0 })) \
	CALL(dest_set, ctrace_dest_set("CANCEL", "BINFILE", CTRACE_DEST_ADD)) \
	CALL(component_property_set, ctrace_component_property_set("CANCEL", "colour", "blue")) \
	CALL(component_property_get, \
	     ctrace_component_property_get("CANCEL", "colour", (char[64]){ 0 }, &(size_t){ 64 })) \
	CALL(emitter_property_set, ctrace_emitter_property_set("TEXTFILE", "DELIMCHAR", "|")) \
	CALL(emitter_property_get, \
	     ctrace_emitter_property_get("NOSUCH", "FILE", (char[64]){ 0 }, &(size_t){ 64 })) \
	CALL(flush, ctrace_flush(60000)) \
	CALL(stats_get, \
	     (ctrace_stats_get(&(struct ctrace_stats){ .size = sizeof(struct ctrace_stats) }), 0)) \
	CALL(define, DEFINE(.name = "FRESH", .startnam = "CANCELSS", .parm = "CTON")) \
	CALL(delete, DELETE(.name = "CANCEL")) \
	CALL(trace_ct, TRACE_CT(.name = "CANCEL", .parm = "CTON")) \
	CALL(display, ctrace_component_display( \
			      "CANCEL", NULL, \
			      &(struct ctrace_display){ .size = sizeof(struct ctrace_display) })) \
	CALL(component_tracer, ctrace_component_tracer("CANCEL", NULL, &tracer)) \
	CALL(routine_register, ctrace_routine_register("OTHERSS", routine)) \
	CALL(wto, ctrace_wto(1, "nobody listens")) \
	CALL(write_buffer, write_one()) \
	CALL(cbl_tracer_get, \
	     CBL_CTF_TRACER_GET(BY_NAME, BYTES("other.name"), &(cbl_x4_comp5_t){ 0 })) \
	CALL(cbl_level_get, \
	     CBL_CTF_TRACER_LEVEL_GET(BY_NAME, BYTES("CANCEL"), &(cbl_x4_comp5_t){ 0 })) \
	CALL(cbl_level, CBL_CTF_LEVEL(BY_NAME, CTF_FLAG_LEVEL_ERROR, BYTES("CANCEL"))) \
	CALL(cbl_dest, CBL_CTF_DEST(BY_NAME | CTF_FLAG_EMITTER_NAME_NULL_TERM, BYTES("CANCEL"), \
				    BYTES("STDERR"))) \
	CALL(cbl_property_set, \
	     CBL_CTF_COMP_PROPERTY_SET(BY_NAME, BYTES("CANCEL"), BYTES("colour"), "red")) \
	CALL(cbl_property_get, \
	     CBL_CTF_COMP_PROPERTY_GET(BY_NAME, BYTES("CANCEL"), BYTES("colour"), \
				       &(cbl_x4_comp5_t){ 16 }, (char[16]){ 0 })) \
	CALL(cbl_emitter_set, \
	     CBL_CTF_EMITTER_PROPERTY_SET(BY_NAME | CTF_FLAG_EMITTER_NAME_NULL_TERM, \
					  BYTES("TEXTFILE"), BYTES("LEVEL"), "1")) \
	CALL(cbl_emitter_get, CBL_CTF_EMITTER_PROPERTY_GET( \
				      BY_NAME | CTF_FLAG_EMITTER_NAME_NULL_TERM, BYTES("NOSUCH"), \
				      BYTES("LEVEL"), &(cbl_x4_comp5_t){ 16 }, (char[16]){ 0 })) \
	CALL(cbl_notify, install(CBL_CTF_TRACER_NOTIFY)) \
	CALL(cbl_notify_misspelt, install(CBL_CTF_TRACE_NOTIFY)) \
	CALL(cbl_trace, trace_heard()) \
	CALL(cbl_define, CBL_CTRACE_DEFINE(NULL, NULL)) \
	CALL(cbl_delete, CBL_CTRACE_DELETE(NULL, NULL)) \
	CALL(cbl_trace_ct, CBL_CTRACE_TRACE_CT(NULL, NULL)) \
	CALL(cbl_display, CBL_CTRACE_DISPLAY("CANCEL", "", NULL)) \
	CALL(cbl_routine, CBL_CTRACE_ROUTINE("THIRDSS", (void *)(uintptr_t)routine)) \
	CALL(cbl_wto, CBL_CTRACE_WTO(&(uint64_t){ 1 }, "nobody", 6)) \
	CALL(cbl_dump, CBL_CTRACE_DUMP("title", 5)) \
	CALL(dump, ctrace_dump("title", NULL, 0)) \
	CALL(fork, fork_once())

static uint32_t write_one(void)
{
	struct ctrace_display display = { .size = sizeof display };
	struct ctrace_write request = {
		.size = sizeof request, .tbwc = &tbwc, .bufflen = 64, .synch = YES
	};

	(void)!ctrace_component_display("CANCEL", NULL, &display);
	return ctrace_write_buffer(&request, NULL);
}

static cobrtncode_t install(cobrtncode_t (*notify)(cobuns32_t, const void *))
{
	NOTIF_INSTALL request = { .handle = handle, .callback = callback };

	(void)notify(TRACER_NOTIF_INSTALL, &request);
	return notify(TRACER_NOTIF_UNINSTALL, &request);
}

static void *set_from_outside(void *unused)
{
	REQUIRE(ctrace_component_property_set("heard", "colour",
					      unused != NULL ? "white" : "black") == CTRACE_OK);
	return unused;
}

/* A callback for COBOL waits for the next call of the thread that installed it, be it one for an
 * event. */
static void install_for_this_thread(void)
{
	NOTIF_INSTALL request = { .callback = callback };
	pthread_t thread;

	REQUIRE(CBL_CTF_TRACER_GET(BY_NAME, BYTES("heard"), &request.handle) == CTF_RET_SUCCESS);
	(void)CBL_CTF_TRACER_NOTIFY(TRACER_NOTIF_INSTALL, &request);
	for (unsigned i = 0; i < 2; i++)
		REQUIRE(pthread_create(&thread, NULL, set_from_outside, i == 0 ? NULL : &handle) ==
				0 &&
			pthread_join(thread, NULL) == 0);
}

static cobrtncode_t trace_heard(void)
{
	TRACE_EVENT event = { .event_id = 7, .level = CTF_FLAG_LEVEL_INFO };

	return cobctf_trace(BY_NAME, BYTES("heard"), &event);
}

static int fork_once(void)
{
	int status, former;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	/* waitpid() is a cancellation point of our own */
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &former);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	(void)pthread_setcancelstate(former, &former);
	return status;
}

LIST_OF_CALLS(CALL)

static const struct call_row {
	const char *name;
	void (*now)(void);
} rows[] = {
#define ROW(name, call) { #name, name##_now },
	LIST_OF_CALLS(ROW)
};
static const struct call_row *row;

/* ---- one call ---- */

static void *call_cancelled(void *has_returned)
{
	install_for_this_thread();
	REQUIRE(pthread_cancel(pthread_self()) == 0);
	row->now();
	*(bool *)has_returned = true;
	pthread_testcancel();
	return NULL;
}

static void *call_again(void *unused)
{
	row->now();
	return unused;
}

static void begin_all(void)
{
	NOTIF_INSTALL request = { .callback = callback };

	(void)alarm(HANG_SECONDS);
	write_member("CTON", "TRACEOPTS ON OPTIONS('X')");
	REQUIRE(ctrace_routine_register("CANCELSS", routine) == CTRACE_OK);
	REQUIRE(DEFINE(.name = "CANCEL", .startnam = "CANCELSS", .dispnam = "CANCELSS",
		       .mod = YES) == CTRACE_RC_OK);
	REQUIRE(TURN("CANCEL", NULL, CTRACE_CT_ON) == CTRACE_RC_OK);
	REQUIRE(CBL_CTF_TRACER_GET(BY_NAME, BYTES("CANCEL"), &handle) == CTF_RET_SUCCESS);
	request.handle = handle;
	REQUIRE(cobctf_tracer_notify(TRACER_NOTIF_INSTALL, &request) == CTF_RET_SUCCESS);
	REQUIRE(ctrace_tbwc_init(&tbwc, buffer, sizeof buffer, CTRACE_PAGEABLE) == CTRACE_OK);
}

static void call_it(void)
{
	pthread_t thread;
	void *result;
	bool has_returned = false;

	begin_all();
	REQUIRE(pthread_create(&thread, NULL, call_cancelled, &has_returned) == 0 &&
		pthread_join(thread, &result) == 0);
	/* One that acts at once acts at the end of the call, where nothing is held any more; some C
	 * libraries lose the result then. */
	REQUIRE(cancel_type == PTHREAD_CANCEL_ASYNCHRONOUS ||
		(has_returned && result == PTHREAD_CANCELED));
	cancel_type = PTHREAD_CANCEL_DEFERRED;
	REQUIRE(pthread_create(&thread, NULL, call_again, NULL) == 0 &&
		pthread_join(thread, NULL) == 0);
	row->now();
	REQUIRE(fork_once() == 0);
	/* The next event of another thread, and an orderly end. */
	(void)CBL_CTF_LEVEL(BY_NAME, CTF_FLAG_LEVEL_DEBUG, BYTES("CANCEL"));
	CTRACE(&last, CTRACE_INFO, 1);
	REQUIRE(ctrace_flush(60000) == CTRACE_OK);
}

static void every_call(int type)
{
	unsigned failed = 0;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int status;

		traces_begin(LINES_CONFIG);
		row = &rows[i];
		cancel_type = type;
		status = scenario_wait(scenario_start(call_it));
		traces_end();
		if (status == 0)
			continue;
		failed++;
		(void)fprintf(stderr, "# %s: status %x\n", row->name, (unsigned)status);
	}
	assert_int_equal(failed, 0);
}

static void a_cancellation_waits_for_the_end_of_each_call(void **state)
{
	(void)state;
	every_call(PTHREAD_CANCEL_DEFERRED);
}

static void a_cancellation_that_acts_at_once_leaves_nothing_behind(void **state)
{
	(void)state;
	/* The sanitizer does not hear of frames that are left at any instruction, and reports what
	 * comes to lie there. */
	if (IS_SANITIZED)
		skip();
	every_call(PTHREAD_CANCEL_ASYNCHRONOUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cancellation_waits_for_the_end_of_each_call),
		cmocka_unit_test(a_cancellation_that_acts_at_once_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
