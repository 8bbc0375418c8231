/*
 * test_cbl_ctrace.c - CBL_CTRACE_*: each field of each group, each keyword, and a routine on its
 * own and on a third-party thread.
 *
 * The routines here are C functions, called as COBOL's are; tests/process/cobol.sh has COBOL's own.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"

#include "lib/component/component.h"
#include "ctf_fixture.h"

#include <dlfcn.h>
#include <pthread.h>

/* Places in the groups of copy/ctrace.cpy. */
enum {
	DEFINE = 531,
	PLISTVER = 0,
	SERVICE = 4,
	BUFMIN = 8,
	BUFMAX = 12,
	BUFDFLT = 16,
	NAME = 20,
	SUB = 28,
	STARTNAM = 138
};
enum {
	DISPNAM = 146,
	PARM = 154,
	FMTTAB = 162,
	MINOPS = 170,
	USERDATA = 427,
	ASIDS = 443,
	HEAD = 467,
	HEADOPTS = 475,
	LIKEHEAD = 483
};
enum { BUFFER = 499, BUFDEFIN = 507, WTR = 515, WTRMODE = 523 };
enum { DELETE = 142, DEL_NAME = 8, DEL_SUB = 16, DELSUBS = 126, IFNOSUBS = 134 };
enum {
	OUTCOME = 260,
	RC = 0,
	RSNCODE = 4,
	REASON = 8,
	SS_RC = 12,
	SS_RSNCODE = 16,
	ABEND = 20,
	MESSAGE = 24
};
enum {
	COMMAND = 1399,
	CT_STATE = 0,
	CT_BUFSIZE = 4,
	CT_NAME = 8,
	CT_SUB = 16,
	CT_PARM = 126,
	CT_ASID = 134,
	CT_JOBNAME = 214,
	CT_OPTIONS = 358
};
enum {
	DISPLAY = 1608,
	MODE = 0,
	SHOWN_BUFFER = 8,
	IS_DEFINED = 32,
	SHOWN_HEAD = 48,
	SHOWN_ASIDS = 72,
	SHOWN_STARTNAM = 112
};
enum {
	SHOWN_WRITER = 136,
	ASID_COUNT = 144,
	SHOWN_ASID = 148,
	JOBNAME_COUNT = 180,
	SHOWN_JOBNAME = 184,
	SHOWN_OPTIONS = 312
};
enum { SHOWN_MINOPS = 1336, SHOWN_USERDATA = 1592 };

static cobuns8_t define[DEFINE], request[DELETE], command[COMMAND], outcome[OUTCOME],
	shown[DISPLAY];

static struct {
	unsigned calls;
	uint32_t answer, reason;
	const char *text; /* for CBL_CTRACE_WTO */
	cobuns32_t text_size;
	struct ctrace_ctss ctss; /* of the last call */
} seen;

static uint32_t routine(struct ctrace_ctss *ctss)
{
	seen.calls++;
	seen.ctss = *ctss;
	if (ctss->flags == CTRACE_CTSS_START)
		memcpy(ctss->userdata, "from the routine", CTRACE_USERDATA_SIZE);
	if (seen.text != NULL)
		assert_int_equal(CBL_CTRACE_WTO(&ctss->console, seen.text, seen.text_size),
				 CTF_RET_SUCCESS);
	ctss->reason = seen.reason;
	return seen.answer;
}

static void put(cobuns8_t *group, size_t at, const char *text)
{
	memcpy(group + at, text, strlen(text));
}

static void put_u32(cobuns8_t *group, size_t at, uint32_t value)
{
	memcpy(group + at, &value, 4);
}

static uint64_t get_u64(const cobuns8_t *group, size_t at)
{
	uint64_t value;

	memcpy(&value, group + at, sizeof value);
	return value;
}

static uint32_t get(const cobuns8_t *group, size_t at)
{
	return ct_cbl_load_u32(group + at);
}

/* The groups as their VALUE clauses make them, for a trace of that name; at a page's end, so that
 * nobody reads on. */
static int set_up(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof(seen));
	memset(define, ' ', sizeof(define));
	memset(define, 0, NAME);
	memset(define + USERDATA, 0, CTRACE_USERDATA_SIZE);
	put_u32(define, PLISTVER, 2);
	put_u32(define, SERVICE, 1);
	put(define, STARTNAM, "TESTSS");
	memset(request, ' ', sizeof(request));
	put_u32(request, PLISTVER, 2);
	put_u32(request, SERVICE, 2);
	memset(command, ' ', sizeof(command));
	put_u32(command, CT_STATE, CTRACE_CT_ON);
	put_u32(command, CT_BUFSIZE, 0);
	memset(outcome, 0x7F, sizeof(outcome));
	memset(shown, 0x7F, sizeof(shown));
	return CBL_CTRACE_ROUTINE("TESTSS", (void *)(uintptr_t)routine);
}

static void define_trace(const char *name, uint32_t rc)
{
	put(define, NAME, name);
	put(request, DEL_NAME, name);
	put(command, CT_NAME, name);
	assert_int_equal(CBL_CTRACE_DEFINE(define, outcome), rc);
	assert_int_equal(get(outcome, RC), rc);
}

static void abends(const char *name, uint32_t abend)
{
	define_trace(name, CTRACE_RC_ABEND);
	assert_int_equal(get(outcome, ABEND), abend);
}

static void switch_on(uint32_t rc)
{
	assert_int_equal(CBL_CTRACE_TRACE_CT(command, outcome), rc);
	assert_int_equal(get(outcome, RC), rc);
}

static void says(const char *text)
{
	char padded[OUTCOME - MESSAGE];

	memset(padded, ' ', sizeof(padded));
	memcpy(padded, text, strlen(text));
	assert_memory_equal(outcome + MESSAGE, padded, sizeof(padded));
}

static void shows(size_t at, const char *text)
{
	assert_memory_equal(shown + at, text, strlen(text));
}

/* ---- DEFINE ---- */

static void every_field_of_a_define_arrives(void **state)
{
	static const char *const words[] = { "YES     ", "NO      " };

	(void)state;
	put(define, DISPNAM, "NOSUCHDS");
	put(define, FMTTAB, "FMT");
	put(define, MINOPS, "LEAST,OF ALL");
	put_u32(define, BUFMIN, 2048);
	put_u32(define, BUFMAX, 8192);
	put_u32(define, BUFDFLT, 4096);
	put(define, USERDATA, "from the program");
	for (size_t at = ASIDS; at <= WTR; at += 8)
		if (at != LIKEHEAD && at != BUFDEFIN)
			put(define, at, "YES");
	put(define, WTRMODE, "PAGEABLE");
	define_trace("FIELDS", 0);
	/* Its minimum options were told. */
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.ctss.mode, CTRACE_MODE_MIN);
	assert_memory_equal(seen.ctss.name, "FIELDS  ", 8);
	assert_memory_equal(seen.ctss.minops, "LEAST,OF ALL", 12);
	assert_int_equal(seen.ctss.minops_size, 12);
	assert_int_equal(seen.ctss.buffer_size, 4096);
	assert_memory_equal(seen.ctss.userdata, "from the program", 16);
	assert_memory_equal(define + USERDATA, "from the routine", 16);

	put_u32(command, CT_BUFSIZE, 1024);
	switch_on(CTRACE_RC_REFUSED);
	assert_int_equal(get(outcome, REASON), CTRACE_RSN_BUFSIZE_LIMITS);
	assert_int_equal(get(outcome, RSNCODE), CTRACE_RSN_BUFSIZE_LIMITS << 8);
	put_u32(command, CT_BUFSIZE, 9000);
	switch_on(CTRACE_RC_REFUSED);
	put_u32(command, CT_BUFSIZE, 8192);
	put(command, CT_ASID, "1,FFFF");
	put(command, CT_JOBNAME, "SOMEJOB");
	put(command, CT_OPTIONS, "ONE,TWO");
	put(command, CT_OPTIONS + 1025, "WTRNAME");
	switch_on(0);
	assert_memory_equal(seen.ctss.userdata, "from the routine", 16);

	assert_int_equal(CBL_CTRACE_DISPLAY("FIELDS", NULL, shown), 0);
	assert_int_equal(get(shown, MODE), CTRACE_MODE_ON);
	assert_int_equal(get_u64(shown, SHOWN_BUFFER), 8192);
	shows(IS_DEFINED, words[0]);
	for (size_t at = SHOWN_HEAD; at < SHOWN_STARTNAM; at += 8)
		shows(at, words[at == SHOWN_HEAD + 16]); /* likehead */
	shows(SHOWN_STARTNAM, "TESTSS  NOSUCHDSFMT     WTRNAME ");
	assert_int_equal(get(shown, ASID_COUNT), 2);
	assert_memory_equal(shown + SHOWN_ASID, ((const uint16_t[]){ 1, 0xFFFF, 0 }), 6);
	assert_int_equal(get(shown, JOBNAME_COUNT), 1);
	shows(SHOWN_JOBNAME, "SOMEJOB         ");
	shows(SHOWN_OPTIONS, "ONE,TWO   ");
	shows(SHOWN_MINOPS, "LEAST,OF ALL   ");
	shows(SHOWN_USERDATA, "from the routine");

	/* Blank leaves the filters, () empties them. */
	memset(command + CT_ASID, ' ', 80);
	put(command, CT_JOBNAME, "()     ");
	switch_on(0);
	assert_int_equal(seen.ctss.asid_count, 2);
	assert_int_equal(seen.ctss.jobname_count, 0);
	assert_int_equal(CBL_CTRACE_DELETE(request, outcome), 0);
	assert_int_equal(seen.ctss.flags, CTRACE_CTSS_STOP);
}

static void a_sublevel_follows_its_head(void **state)
{
	(void)state;
	put(define, HEAD, "yes");
	put(define, HEADOPTS, "Yes");
	define_trace("HEAD", 0);
	memset(define + HEAD, 0, 8); /* LOW-VALUES are blanks too */
	memset(define + HEADOPTS, 0, 8);
	put(define, LIKEHEAD, "YES");
	put(define, SUB, "SUBA");
	define[NAME + 5] = 0;
	define_trace("HEAD", 0);
	assert_int_equal(CBL_CTRACE_DISPLAY("HEAD rest", "SUBA", shown), 0);
	shows(SHOWN_HEAD, "NO      NO      YES     ");
	put(request, IFNOSUBS, "YES");
	assert_int_equal(CBL_CTRACE_DELETE(request, outcome), CTRACE_RC_REFUSED);
	assert_int_equal(get(outcome, REASON), CTRACE_RSN_HAS_SUBS);
	put(request, DEL_SUB, "SUBA");
	assert_int_equal(CBL_CTRACE_DELETE(request, outcome), 0);
	assert_int_equal(CBL_CTRACE_DISPLAY("HEAD", "SUBA", shown), 4);
	memset(request + DEL_SUB, ' ', 110);
	assert_int_equal(CBL_CTRACE_DELETE(request, outcome), 0);
	assert_int_equal(CBL_CTRACE_DELETE(request, outcome), CTRACE_RC_EXISTS);
}

static void wrong_words_are_abends_that_name_the_keyword(void **state)
{
	(void)state;
	for (size_t at = ASIDS; at <= WTRMODE; at += 8) {
		put(define, at, "MAYBE");
		abends("WORDS", 0x301);
		memset(define + at, ' ', 8);
	}
	says("WTRMODE takes PAGEABLE, DREF or FIXED");
	put(define, BUFFER, "YESSIR");
	abends("WORDS", 0x301);
	says("BUFFER takes YES or NO");
	/* What is checked before it, comes before it. */
	put_u32(define, PLISTVER, 3);
	abends("WORDS", 0x101);
	put_u32(define, SERVICE, 2);
	abends("WORDS", 0x401);
	put(request, DELSUBS, "2");
	assert_int_equal(CBL_CTRACE_DELETE(request, outcome), CTRACE_RC_ABEND);
	assert_int_equal(get(outcome, ABEND), 0x302);
	says("DELSUBS takes YES or NO");
}

static void each_abend_has_its_cause(void **state)
{
	(void)state;
	put_u32(define, PLISTVER, 0x10002);
	abends("ABENDS", 0x101);
	put_u32(define, PLISTVER, 2);
	put_u32(define, SERVICE, 0x10001);
	abends("ABENDS", 0x401);
	put_u32(define, SERVICE, 1);
	abends("LOW case", 0x102);
	memset(define + MINOPS, 'M', 257);
	abends("ABENDS  ", 0x501);
	define[MINOPS + 256] = ' ';
	define_trace("ABENDS", 0);
	assert_int_equal(seen.ctss.minops_size, 256);
	put_u32(request, SERVICE, 1);
	assert_int_equal(CBL_CTRACE_DELETE(request, outcome), CTRACE_RC_ABEND);
	assert_int_equal(get(outcome, ABEND), 0x401);
	put_u32(request, SERVICE, 2);
	assert_int_equal(CBL_CTRACE_DELETE(request, NULL), 0);
}

/* Not of C's structures, and each says what to write instead. */
static void messages_name_the_fields(void **state)
{
	(void)state;
	put(define, WTR, "YES");
	abends("FIELDS", 0x301);
	says("WTR=YES needs WTRMODE=PAGEABLE, DREF or FIXED");
	put_u32(define, PLISTVER, 3);
	abends("FIELDS", 0x101);
	says("ctrace-plistver is not 0, 1 or 2: INITIALIZE ... WITH FILLER ALL TO VALUE sets it");
	put_u32(define, SERVICE, 2);
	abends("FIELDS", 0x401);
	says("ctrace-service is not 78-CTRACE-SERVICE-DEFINE: INITIALIZE ... WITH FILLER ALL TO VALUE sets it");
	put_u32(request, PLISTVER, 3);
	assert_int_equal(CBL_CTRACE_DELETE(request, outcome), CTRACE_RC_ABEND);
	assert_int_equal(get(outcome, ABEND), 0x302);
	says("ctrace-del-plistver is not 0, 1 or 2: INITIALIZE ... WITH FILLER ALL TO VALUE sets it");
	put_u32(request, SERVICE, 1);
	assert_int_equal(CBL_CTRACE_DELETE(request, outcome), CTRACE_RC_ABEND);
	says("ctrace-del-service is not 78-CTRACE-SERVICE-DELETE: INITIALIZE ... WITH FILLER ALL TO VALUE sets it");
	put_u32(command, CT_STATE, CTRACE_CT_PRESET_DELETE + 1);
	switch_on(CTRACE_RC_ABEND);
	assert_int_equal(get(outcome, ABEND), 0x301);
	says("ctrace-ct-state takes 78-CTRACE-CT-NONE, -ON, -OFF, -LIKEHEAD, -PRESET-PUT or -PRESET-DELETE");
	put_u32(command, CT_STATE, CTRACE_CT_ON);
	put(command, CT_PARM, "CTNAME");
	put_u32(command, CT_BUFSIZE, 1);
	switch_on(CTRACE_RC_ABEND);
	says("PARM excludes the operands that its member has: buffer size, ASID, JOBNAME, OPTIONS, WTR");
}

static void missing_groups_are_zeros(void **state)
{
	(void)state;
	assert_int_equal(CBL_CTRACE_DEFINE(NULL, outcome), CTRACE_RC_ABEND);
	assert_int_equal(get(outcome, ABEND), 0x401);
	assert_int_equal(CBL_CTRACE_DEFINE(NULL, NULL), CTRACE_RC_ABEND);
	assert_int_equal(CBL_CTRACE_DELETE(NULL, NULL), CTRACE_RC_ABEND);
	assert_int_equal(CBL_CTRACE_TRACE_CT((const void *)(uintptr_t)0x700000000, NULL),
			 CTRACE_RC_REFUSED);
	assert_int_equal(CBL_CTRACE_DISPLAY(NULL, NULL, shown), CTRACE_RC_REFUSED);
	assert_int_equal(shown[0], 0x7F);
}

static void nothing_behind_a_group_is_touched(void **state)
{
	(void)state;
	put(define, NAME, "PAGEEND");
	put(request, DEL_NAME, "PAGEEND");
	put(command, CT_NAME, "PAGEEND");
	assert_int_equal(
		CBL_CTRACE_DEFINE(at_page_end(define, DEFINE), at_page_end(outcome, OUTCOME)), 0);
	assert_int_equal(CBL_CTRACE_TRACE_CT(at_page_end(command, COMMAND), outcome), 0);
	assert_int_equal(CBL_CTRACE_DISPLAY(at_page_end("PAGEEND", 8), at_page_end(" ", 1),
					    at_page_end(shown, DISPLAY)),
			 0);
	assert_int_equal(CBL_CTRACE_DISPLAY(at_page_end("PAGEEND2", 8), NULL, shown), 4);
	assert_int_equal(CBL_CTRACE_DELETE(at_page_end(request, DELETE), outcome), 0);
	assert_int_equal(CBL_CTRACE_ROUTINE(at_page_end("EIGHTLTR", 8), (void *)(uintptr_t)routine),
			 CTF_RET_SUCCESS);
}

/* ---- routines ---- */

static void a_member_calls_the_routine_and_its_refusal_comes_back(void **state)
{
	FILE *member = fopen("CTPARM", "w");

	(void)state;
	assert_non_null(member);
	fputs("TRACEOPTS ON OPTIONS('A','B')\n", member);
	fclose(member);
	assert_int_equal(setenv("CTRACE_PARMLIB", getenv("HOME"), 1), 0);
	put(define, PARM, "CTPARM");
	seen.answer = 4;
	seen.reason = 0xABCD;
	seen.text = "B is not known \0 no more";
	seen.text_size = 20;
	define_trace("PARMLIB", CTRACE_RC_REFUSED);
	assert_int_equal(get(outcome, REASON), CTRACE_RSN_ROUTINE_REFUSED);
	assert_int_equal(get(outcome, SS_RC), 4);
	assert_int_equal(get(outcome, SS_RSNCODE), 0xABCD);
	assert_memory_equal(seen.ctss.options, "A,B", 3);
	says("B is not known");
	seen.answer = 0;
	define_trace("PARMLIB", 0);
	assert_int_equal(seen.calls, 2);
	assert_int_equal(CBL_CTRACE_DELETE(request, outcome), 0);
}

static void a_message_is_cut_and_has_an_end(void **state)
{
	char text[200];
	char cut[CTRACE_MAX_WTO + 1];
	uint64_t nobody = 77;

	(void)state;
	memset(text, 'x', sizeof(text));
	seen.text = (const char *)at_page_end(text, CTRACE_MAX_WTO);
	seen.text_size = 200;
	define_trace("MESSAGE", 0);
	switch_on(0);
	memset(cut, 'x', CTRACE_MAX_WTO);
	cut[CTRACE_MAX_WTO] = 0;
	says(cut);
	assert_int_equal(CBL_CTRACE_WTO(&nobody, "text", 4), CTF_RET_FAILURE);
	assert_int_equal(CBL_CTRACE_WTO(NULL, "text", 4), CTF_RET_FAILURE);
	/* Nothing is in storage. */
	assert_int_equal(CBL_CTRACE_DUMP("title", 5), CTF_RET_FAILURE);
	assert_int_equal(CBL_CTRACE_WTO(&nobody, NULL, 4), CTF_RET_FAILURE);
	assert_int_equal(CBL_CTRACE_DELETE(request, outcome), 0);
}

static void a_routine_has_a_name_and_can_be_taken_back(void **state)
{
	(void)state;
	assert_int_equal(CBL_CTRACE_ROUTINE("lower", (void *)(uintptr_t)routine),
			 CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(CBL_CTRACE_ROUTINE(" ", (void *)(uintptr_t)routine),
			 CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(CBL_CTRACE_ROUTINE(NULL, (void *)(uintptr_t)routine),
			 CTF_RET_INVALID_COMPONENT_NAME);
	assert_int_equal(CBL_CTRACE_ROUTINE("TESTSS", NULL), CTF_RET_SUCCESS);
	define_trace("NOCODE", CTRACE_RC_REFUSED);
	assert_int_equal(get(outcome, REASON), CTRACE_RSN_ROUTINE_NOT_LOADED);
}

static void *give_command(void *out_rc)
{
	*(int *)out_rc = CBL_CTRACE_TRACE_CT(command, outcome);
	return NULL;
}

static void a_routine_is_called_on_its_own_thread_only(void **state)
{
	pthread_t thread;
	int rc = 0;

	(void)state;
	define_trace("THREAD", 0);
	assert_int_equal(pthread_create(&thread, NULL, give_command, &rc), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(rc, CTRACE_RC_REFUSED);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(get(outcome, REASON), CTRACE_RSN_ROUTINE_REFUSED);
	assert_int_equal(get(outcome, SS_RC), CBL_CTRACE_SSRC_THREAD);
	assert_int_equal(get(outcome, SS_RSNCODE), CBL_CTRACE_SSRSNC_THREAD);
	says("a COBOL routine runs on its program's thread only: give the command there, or write the routine in C");
	switch_on(0);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(CBL_CTRACE_DELETE(request, outcome), 0);
}

struct finding {
	struct ct_routine routine;
	struct ctrace_ctss ctss;
	uint32_t answer;
};

static void *find_and_call(void *out)
{
	struct finding *finding = out;

	if (ct_cobol_find_routine("cob_is_initialized", &finding->routine))
		finding->answer = ct_routine_call(&finding->routine, &finding->ctss);
	return NULL;
}

static void a_routine_that_is_found_belongs_to_the_thread_that_found_it(void **state)
{
	char modules[4096];
	void *libcob;
	void (*start)(int, char **);
	struct ct_routine found;
	struct finding other = { .answer = 0 };
	pthread_t thread;

	(void)state;
	(void)snprintf(modules, sizeof(modules), "%s/modules", getenv("CTRACE_BUILD"));
	assert_int_equal(setenv("CTRACE_EMITTERS", modules, 1), 0);
	assert_false(ct_cobol_find_routine("cob_is_initialized", &found));
	libcob = dlopen("libcob.so.4", RTLD_NOW | RTLD_GLOBAL);
	if (libcob == NULL)
		skip();
	start = (void (*)(int, char **))(uintptr_t)dlsym(libcob, "cob_init");
	assert_non_null(start);
	/* loaded, but there is no COBOL yet */
	assert_false(ct_cobol_find_routine("cob_is_initialized", &found));
	start(0, NULL);
	assert_false(ct_cobol_find_routine("NONESUCH", &found));
	assert_true(ct_cobol_find_routine("cob_is_initialized", &found));
	assert_int_equal(ct_routine_call(&found, &other.ctss), 1);
	assert_int_equal(pthread_create(&thread, NULL, find_and_call, &other), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ptr_equal(other.routine.code, found.code);
	assert_int_equal(other.answer, CBL_CTRACE_SSRC_THREAD);
	assert_int_equal(other.ctss.reason, CBL_CTRACE_SSRSNC_THREAD);
}

/* ---- entries ---- */

static void an_entry_is_an_event(void **state)
{
	cobuns32_t handle;
	char *too_long = calloc(1, 65537);

	(void)state;
	define_trace("ENTRIES", 0);
	handle = tracer("ENTRIES");
	assert_int_equal(CBL_CTF_LEVEL(CTF_FLAG_COMPID_STRING, CTF_LEVEL_NONE, BYTES("ENTRIES ")),
			 CTF_RET_SUCCESS);
	assert_int_equal(CBL_CTRACE_ENTRY(handle, 9, "abc", 3), CTF_RET_NOT_TRACE_ENABLED);
	switch_on(0);
	assert_int_equal(CBL_CTRACE_ENTRY(handle, 0x21, "abc", 3), CTF_RET_SUCCESS);
	assert_string_equal(last_line(), "ENTRIES 33 1 616263");
	assert_int_equal(CBL_CTRACE_ENTRY(handle, 0x22, NULL, 3), CTF_RET_SUCCESS);
	assert_int_equal(CBL_CTRACE_ENTRY(handle, 0x23, too_long, 65537),
			 CTF_RET_NOT_ENOUGH_MEMORY);
	assert_int_equal(CBL_CTRACE_ENTRY(5, 0x23, "abc", 3), CTF_RET_INVALID_TRACE_HANDLE);
	assert_int_equal(CBL_CTRACE_DELETE(request, outcome), 0);
	free(too_long);
}

int test_cbl_ctrace(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_field_of_a_define_arrives, set_up),
		cmocka_unit_test_setup(a_sublevel_follows_its_head, set_up),
		cmocka_unit_test_setup(wrong_words_are_abends_that_name_the_keyword, set_up),
		cmocka_unit_test_setup(each_abend_has_its_cause, set_up),
		cmocka_unit_test_setup(messages_name_the_fields, set_up),
		cmocka_unit_test_setup(missing_groups_are_zeros, set_up),
		cmocka_unit_test_setup(nothing_behind_a_group_is_touched, set_up),
		cmocka_unit_test_setup(a_member_calls_the_routine_and_its_refusal_comes_back,
				       set_up),
		cmocka_unit_test_setup(a_message_is_cut_and_has_an_end, set_up),
		cmocka_unit_test_setup(a_routine_has_a_name_and_can_be_taken_back, set_up),
		cmocka_unit_test_setup(a_routine_is_called_on_its_own_thread_only, set_up),
		cmocka_unit_test(a_routine_that_is_found_belongs_to_the_thread_that_found_it),
		cmocka_unit_test_setup(an_entry_is_an_event, set_up),
	};

	return cmocka_run_group_tests(tests, set_up_text_file, NULL);
}
