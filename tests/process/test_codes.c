/*
 * test_codes.c - every return code, reason and abend of CTRACE DEFINE and DELETE, each provoked in
 * a process of its own.
 *
 * A row that fails a DEFINE also shows that nothing is left of it: the trace is not known, and the
 * same name can be defined properly.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "traces.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define CODES CTRACE_DEFINE_INIT, .name = "CODES", .startnam = "CODESSS"
#define CODES_SUB CODES, .sub = "SUBA"
#define CODES_PARM CODES, .parm = "CTCODES"
#define HEAD_WITH_OPTIONS .head = { CODES, .head = YES, .headopts = YES }
#define HEAD_WITHOUT_OPTIONS .head = { CTRACE_DEFINE_INIT, .name = "CODES", .head = YES }
#define LIKE CODES_SUB, .likehead = YES
#define TEN(text) text text text text text text text text text text

struct row {
	const char *name;
	void (*body)(void); /* a whole scenario; NULL: what follows */
	bool needs_little_memory;
	bool needs_root;

	uint32_t rc;
	uint32_t reason;
	uint32_t low;
	uint32_t abend;
	void (*prepare)(void);       /* in the child, before the DEFINE */
	void (*provoke)(void);       /* instead of the DEFINE below */
	const char *member;          /* text of CTCODES; NULL: there is none */
	unsigned line, column;       /* of what is wrong in it */
	struct ctrace_define head;   /* defined before; name NULL: none */
	struct ctrace_define define; /* what fails */
	bool is_misnamed;            /* nothing can ever have its name or SUB */
};
static const struct row *row; /* that is being tried */

/* ---- a row that is a DEFINE ---- */

static void provoke_by_define(void)
{
	(void)ctrace_component_define(&row->define, &outcome);
}

/* The message names the member, then line and column. */
static bool says_where(const char *message)
{
	const char *at = strstr(message, "CTCODES");
	unsigned numbers[2] = { 0, 0 };

	for (unsigned i = 0; i < 2 && at != NULL; i++) {
		at = strpbrk(at, "0123456789");
		if (at != NULL)
			numbers[i] = (unsigned)strtoul(at, (char **)&at, 10);
	}
	if (numbers[0] == row->line && numbers[1] == row->column)
		return true;
	(void)fprintf(stderr, "# line %u, column %u expected: %s\n", row->line, row->column,
		      message);
	return false;
}

static void check_outcome(uint32_t rc)
{
	bool is_so = rc == row->rc && outcome.rc == rc && outcome.abend == row->abend &&
		     CTRACE_REASON(outcome.rsncode) == row->reason &&
		     (row->low == 0 || (outcome.rsncode & 0xFFu) == row->low);

	if (!is_so)
		(void)fprintf(stderr, "# RC %02X, reason %08X, abend %03X: %s\n", outcome.rc,
			      outcome.rsncode, outcome.abend, outcome.message);
	REQUIRE(is_so);
	REQUIRE(memchr(outcome.message, '\0', sizeof outcome.message) != NULL);
	REQUIRE(row->line == 0 || says_where(outcome.message));
	REQUIRE(ctrace_outcome_text(&outcome)[0] != '\0');
	if (row->reason != CTRACE_RSN_ROUTINE_REFUSED)
		REQUIRE(outcome.ss_rc == 0 && call_count == 0);
}

static void check_that_nothing_is_left(void)
{
	struct ctrace_display display = { .size = sizeof display };
	struct ctrace_tracer *tracer;
	enum ctrace_status status =
		ctrace_component_tracer(row->define.name, row->define.sub, &tracer);

	REQUIRE(row->is_misnamed ? status != CTRACE_OK : status == CTRACE_NOT_FOUND);
	status = ctrace_component_display(row->define.name, row->define.sub, &display);
	REQUIRE(row->is_misnamed ? status != CTRACE_OK : status == CTRACE_NOT_FOUND);
}

/* The same name, with nothing wrong, under a head that allows it. */
static void define_properly(void)
{
	answer = NULL;
	if (row->head.name != NULL)
		REQUIRE(DELETE(.name = "CODES") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "CODES", .startnam = "CODESSS", .head = YES, .headopts = YES) ==
		CTRACE_RC_OK);
	if (row->define.sub != NULL)
		REQUIRE(DEFINE(.name = "CODES",
			       .sub = row->is_misnamed ? "PROPER" : row->define.sub,
			       .startnam = "CODESSS") == CTRACE_RC_OK);
	REQUIRE(outcome.rc == 0 && outcome.rsncode == 0 && outcome.abend == 0);
}

static void provoke_row(void)
{
	register_routine("CODESSS");
	if (row->head.name != NULL)
		REQUIRE(ctrace_component_define(&row->head, &outcome) == CTRACE_RC_OK);
	if (row->member != NULL)
		write_member("CTCODES", row->member);
	if (row->prepare != NULL)
		row->prepare();
	memset(&outcome, 0xA5, sizeof outcome);
	(row->provoke != NULL ? row->provoke : provoke_by_define)();
	check_outcome(outcome.rc);
	check_that_nothing_is_left();
	define_properly();
}

static void check_row(void **state)
{
	row = *state;
	if (row->needs_little_memory && IS_SANITIZED)
		skip();
	if (row->needs_root && geteuid() != 0)
		skip();
	traces_begin(LINES_CONFIG);
	scenario_run(row->body != NULL ? row->body : provoke_row);
	traces_end();
}

/* ---- abends ---- */

/* A caller built with a later header, whose new field says something. */
static void give_a_longer_list(void)
{
	struct {
		struct ctrace_define define;
		unsigned char behind[8];
	} longer = { { CODES }, { 0 } };

	longer.define.size = sizeof longer;
	longer.behind[7] = 1;
	(void)ctrace_component_define(&longer.define, &outcome);
}

static void a_longer_list_of_zeros_is_accepted(void)
{
	struct {
		struct ctrace_define define;
		unsigned char behind[8];
	} longer = { { CODES }, { 0 } };

	register_routine("CODESSS");
	longer.define.size = sizeof longer;
	REQUIRE(ctrace_component_define(&longer.define, &outcome) == CTRACE_RC_OK);
}

static void versions_0_to_2_are_accepted(void)
{
	register_routine("CODESSS");
	for (uint16_t version = 0; version <= 2; version++) {
		struct ctrace_define define = { CODES };

		define.version = version;
		REQUIRE(ctrace_component_define(&define, &outcome) == CTRACE_RC_OK);
		REQUIRE(DELETE(.name = "CODES") == CTRACE_RC_OK);
	}
}

static void minops_of_255_and_256_bytes_are_accepted(void)
{
	register_routine("CODESSS");
	REQUIRE(DEFINE(.name = "M255", .startnam = "CODESSS",
		       .minops = TEN(TEN("m")) TEN(TEN("m")) TEN("01234") "mmmmm") == CTRACE_RC_OK);
	REQUIRE(calls[0].ctss.minops_size == 255);
	REQUIRE(DEFINE(.name = "M256", .startnam = "CODESSS",
		       .minops = TEN(TEN("m")) TEN(TEN("m")) TEN("01234") "mmmmmm") ==
		CTRACE_RC_OK);
	REQUIRE(calls[1].ctss.minops_size == 256);
}

/* A DELETE that abends leaves the trace as it is. */
static void check_delete_abend(const struct ctrace_delete *request, uint32_t abend)
{
	register_routine("CODESSS");
	REQUIRE(DEFINE(.name = "CODES", .startnam = "CODESSS") == CTRACE_RC_OK);
	REQUIRE(ctrace_component_delete(request, &outcome) == CTRACE_RC_ABEND);
	REQUIRE(outcome.rc == CTRACE_RC_ABEND && outcome.abend == abend &&
		ctrace_outcome_text(&outcome)[0] != '\0');
	REQUIRE(is_known("CODES", NULL) && shown("CODES", NULL)->is_defined);
	REQUIRE(DELETE(.name = "CODES") == CTRACE_RC_OK);
}

#define DELETE_ABEND(function, abend, ...) \
	static void function(void) \
	{ \
		check_delete_abend(&(struct ctrace_delete){ __VA_ARGS__ }, (abend)); \
	}
DELETE_ABEND(delete_with_reserved_bytes, 0x302, CTRACE_DELETE_INIT, .name = "CODES",
	     .reserved = { [5] = 1 })
DELETE_ABEND(delete_with_both_keywords, 0x302, CTRACE_DELETE_INIT, .name = "CODES", .delsubs = YES,
	     .ifnosubs = YES)
DELETE_ABEND(delete_with_a_keyword_of_2, 0x302, CTRACE_DELETE_INIT, .name = "CODES", .ifnosubs = 2)
DELETE_ABEND(delete_as_service_3, 0x401, .size = sizeof(struct ctrace_delete),
	     .version = CTRACE_PLIST_VERSION, .service = 3, .name = "CODES")
DELETE_ABEND(delete_as_service_0, 0x401, .size = sizeof(struct ctrace_delete),
	     .version = CTRACE_PLIST_VERSION, .name = "CODES")

static void delete_with_a_longer_list(void)
{
	struct {
		struct ctrace_delete request;
		unsigned char behind[8];
	} longer = { { CTRACE_DELETE_INIT, .name = "CODES" }, { 1 } };

	longer.request.size = sizeof longer;
	check_delete_abend(&longer.request, 0x302);
}

/* ---- RC 00 and 04 ---- */

static void define_and_delete(void)
{
	register_routine("CODESSS");
	REQUIRE(ctrace_component_define(&(struct ctrace_define){ CODES }, NULL) == CTRACE_RC_OK);
	REQUIRE(is_known("CODES", NULL));
	REQUIRE(ctrace_component_delete(
			&(struct ctrace_delete){ CTRACE_DELETE_INIT, .name = "CODES" }, NULL) ==
		CTRACE_RC_OK);
	REQUIRE(!is_known("CODES", NULL));
	REQUIRE(DEFINE(.name = "@#$09AZ", .startnam = "CODESSS",
		       .com = "any text, \"quoted\" or not") == CTRACE_RC_OK);
	REQUIRE(outcome.rc == 0 && outcome.rsncode == 0 && outcome.ss_rc == 0 &&
		outcome.abend == 0);
	REQUIRE(DELETE(.name = "@#$09AZ", .delsubs = YES) == CTRACE_RC_OK);
}

static void define_twice(void)
{
	register_routine("CODESSS");
	REQUIRE(DEFINE(.name = "CODES", .startnam = "CODESSS", .head = YES, .headopts = YES,
		       .minops = "LEAST") == CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "CODES", .sub = "SUBA", .startnam = "CODESSS") == CTRACE_RC_OK);
	reset_calls();
	REQUIRE(DEFINE(.name = "CODES", .startnam = "CODESSS", .fmttab = "OTHER",
		       .minops = "OTHER") == CTRACE_RC_EXISTS);
	REQUIRE(outcome.rc == CTRACE_RC_EXISTS && outcome.rsncode == 0 && outcome.abend == 0 &&
		call_count == 0);
	REQUIRE(DEFINE(.name = "CODES", .sub = "SUBA", .startnam = "CODESSS") == CTRACE_RC_EXISTS);
	REQUIRE(strcmp(shown("CODES", NULL)->minops, "LEAST") == 0 &&
		shown("CODES", NULL)->fmttab[0] == '\0');
	REQUIRE(shown("CODES", NULL)->subs == 1);
}

static void delete_what_is_not_defined(void)
{
	struct ctrace_tracer *tracer;

	REQUIRE(DELETE(.name = "CODES") == CTRACE_RC_EXISTS);
	REQUIRE(outcome.rc == CTRACE_RC_EXISTS && outcome.rsncode == 0);
	REQUIRE(DELETE(.name = "CODES", .sub = "SUBA") == CTRACE_RC_EXISTS);
	/* One that only a tracer has made is not defined either, and stays. */
	REQUIRE(ctrace_tracer_get("CODES", &tracer) == CTRACE_OK);
	REQUIRE(DELETE(.name = "CODES") == CTRACE_RC_EXISTS);
	REQUIRE(is_known("CODES", NULL));
}

/* ---- RC 08 ---- */

#define MOST_SUBS 1000000u

static uint64_t address_space(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	REQUIRE(file != NULL && fscanf(file, "%lu", &pages) == 1);
	(void)fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Sublevels until memory ends; the one that did not fit fits when there is memory again, and the
 * others have stayed. */
static void define_in_little_memory(void)
{
	struct rlimit limit;
	char sub[24];
	unsigned number = 0;

	register_routine("CODESSS");
	REQUIRE(DEFINE(.name = "CODES", .startnam = "CODESSS", .head = YES, .headopts = YES) ==
		CTRACE_RC_OK);
	REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
	limit.rlim_cur = address_space();
	REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
	do
		(void)snprintf(sub, sizeof sub, "SUB%u", number++);
	while (number < MOST_SUBS &&
	       DEFINE(.name = "CODES", .sub = sub, .startnam = "CODESSS") == CTRACE_RC_OK);
	REQUIRE(outcome.rc == CTRACE_RC_SYSTEM && reason() == CTRACE_RSN_STORAGE);
	limit.rlim_cur = limit.rlim_max;
	REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
	REQUIRE(!is_known("CODES", sub));
	REQUIRE(shown("CODES", NULL)->subs == number - 1);
	REQUIRE(DEFINE(.name = "CODES", .sub = sub, .startnam = "CODESSS") == CTRACE_RC_OK);
	REQUIRE(shown("CODES", "SUB0")->is_defined && shown("CODES", sub)->is_defined);
	REQUIRE(DELETE(.name = "CODES") == CTRACE_RC_OK);
}

static uint32_t delete_own_trace(struct ctrace_ctss *ctss)
{
	(void)ctss;
	REQUIRE(DELETE(.name = "CODES") == CTRACE_RC_SYSTEM && reason() == CTRACE_RSN_RECOVERY);
	return 0;
}

static uint32_t command_own_trace(struct ctrace_ctss *ctss)
{
	(void)ctss;
	REQUIRE(TRACE_CT(.name = "CODES", .state = CTRACE_CT_OFF) == CTRACE_RC_SYSTEM &&
		reason() == CTRACE_RSN_RECOVERY);
	return 0;
}

/* While it is being defined, switched on, and switched off. */
static void check_routine_with_own_trace(ctrace_routine *body)
{
	register_routine("CODESSS");
	answer = body;
	REQUIRE(DEFINE(.name = "CODES", .startnam = "CODESSS", .minops = "LEAST") == CTRACE_RC_OK &&
		call_count == 1);
	REQUIRE(TRACE_CT(.name = "CODES", .state = CTRACE_CT_ON) == CTRACE_RC_OK &&
		call_count == 2);
	REQUIRE(shown("CODES", NULL)->mode == ON);
	REQUIRE(TRACE_CT(.name = "CODES", .state = CTRACE_CT_OFF) == CTRACE_RC_OK &&
		call_count == 3);
	REQUIRE(shown("CODES", NULL)->mode == MIN_MODE);
	answer = NULL;
	REQUIRE(DELETE(.name = "CODES") == CTRACE_RC_OK);
}

static void routine_deletes_its_own_trace(void)
{
	check_routine_with_own_trace(delete_own_trace);
}

static void routine_commands_its_own_trace(void)
{
	check_routine_with_own_trace(command_own_trace);
}

static pthread_barrier_t both_are_inside;
static unsigned inner_refused;
static unsigned inner_done;

/* Each waits until the other's routine runs too, and commands its trace. */
static uint32_t command_the_other(struct ctrace_ctss *ctss)
{
	const char *other = HOLDS(ctss->name, "CODESA") ? "CODESB" : "CODESA";
	struct ctrace_outcome inner;

	if (ctss->flags != START || !holds(ctss->options, ctss->options_size, "OUTER"))
		return 0;
	(void)pthread_barrier_wait(&both_are_inside);
	(void)ctrace_trace_ct(&(struct ctrace_trace_ct){ CTRACE_TRACE_CT_INIT, .name = other,
							 .state = CTRACE_CT_ON,
							 .options = "INNER" },
			      &inner);
	if (inner.rc == CTRACE_RC_SYSTEM && CTRACE_REASON(inner.rsncode) == CTRACE_RSN_RECOVERY)
		(void)__atomic_add_fetch(&inner_refused, 1, __ATOMIC_RELAXED);
	else if (inner.rc == CTRACE_RC_OK)
		(void)__atomic_add_fetch(&inner_done, 1, __ATOMIC_RELAXED);
	return 0;
}

static void *switch_on(void *name)
{
	REQUIRE(TRACE_CT(.name = name, .state = CTRACE_CT_ON, .options = "OUTER") == CTRACE_RC_OK);
	return NULL;
}

/* The first one waits for the second's trace; the second would close the circle and is told so. */
static void two_routines_wait_for_each_other(void)
{
	char names[2][8] = { "CODESA", "CODESB" };
	pthread_t threads[2];

	register_routine("CODESSS");
	answer = command_the_other;
	for (unsigned i = 0; i < 2; i++)
		REQUIRE(DEFINE(.name = names[i], .startnam = "CODESSS", .mod = YES) ==
			CTRACE_RC_OK);
	for (unsigned round = 0; round < 100; round++) {
		inner_refused = 0;
		inner_done = 0;
		REQUIRE(pthread_barrier_init(&both_are_inside, NULL, 2) == 0);
		for (unsigned i = 0; i < 2; i++)
			REQUIRE(pthread_create(&threads[i], NULL, switch_on, names[i]) == 0);
		for (unsigned i = 0; i < 2; i++)
			REQUIRE(pthread_join(threads[i], NULL) == 0);
		REQUIRE(inner_refused == 1 && inner_done == 1);
	}
	for (unsigned i = 0; i < 2; i++)
		REQUIRE(DELETE(.name = names[i]) == CTRACE_RC_OK);
}

/* ---- the members that no text of a row can be ---- */

static void link_to_what_cannot_be_read(void)
{
	/* A regular file whose first page is nobody's memory: the kernel answers EIO. */
	REQUIRE(symlink("/proc/self/mem", "parmlib/CTCODES") == 0);
}

static void write_a_long_comment(void)
{
	FILE *file = fopen("parmlib/CTCODES", "w");

	REQUIRE(file != NULL && fputs("/*", file) >= 0);
	for (unsigned i = 0; i < 65536; i++)
		REQUIRE(fputc('x', file) == 'x');
	REQUIRE(fputs("*/ TRACEOPTS ON", file) >= 0 && fclose(file) == 0);
}

static void make_a_directory_of_that_name(void)
{
	REQUIRE(mkdir("parmlib/CTCODES", 0700) == 0);
}

/* Also root may not read it then. */
static void make_it_nobodys(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	REQUIRE(chmod("parmlib/CTCODES", 0) == 0);
	REQUIRE(syscall(SYS_capset, &header, none) == 0);
}

/* ---- presets that are there and cannot be read ---- */

#define PRESET_FILE "run/preset/CODES.SUBA"

static void put_preset_of_suba(void)
{
	write_member("CTPUT", "TRACEOPTS SUB(SUBA) PRESET(PUT)");
	register_routine("CODESSS");
	REQUIRE(DEFINE(.name = "CODES", .startnam = "CODESSS", .head = YES, .headopts = YES) ==
		CTRACE_RC_OK);
	REQUIRE(TRACE_CT(.name = "CODES", .parm = "CTPUT") == CTRACE_RC_OK &&
		access(PRESET_FILE, F_OK) == 0);
}

/* It is not passed over, nor is the member read in its place. */
static void check_that_define_is_refused(void)
{
	write_member("CTCODES", "TRACEOPTS ON");
	REQUIRE(DEFINE(.name = "CODES", .sub = "SUBA", .startnam = "CODESSS", .parm = "CTCODES") ==
			CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_PARMLIB);
	REQUIRE(strstr(outcome.message, "preset") != NULL &&
		strstr(outcome.message, "CODES.SUBA") != NULL);
	REQUIRE(call_count == 0 && !is_known("CODES", "SUBA") && shown("CODES", NULL)->subs == 0);
}

static void check_that_define_takes_it(void)
{
	REQUIRE(DEFINE(.name = "CODES", .sub = "SUBA", .startnam = "CODESSS", .parm = "CTCODES") ==
			CTRACE_RC_OK &&
		shown("CODES", "SUBA")->mode == ON);
}

static void presets_where_others_may_write(void)
{
	put_preset_of_suba();
	REQUIRE(chmod("run/preset", 0770) == 0);
	check_that_define_is_refused();
	REQUIRE(chmod("run/preset", 0700) == 0);
	check_that_define_takes_it();
}

static void preset_behind_a_link(void)
{
	put_preset_of_suba();
	REQUIRE(rename(PRESET_FILE, "elsewhere") == 0 &&
		symlink("../../elsewhere", PRESET_FILE) == 0);
	check_that_define_is_refused();
	REQUIRE(unlink(PRESET_FILE) == 0 && rename("elsewhere", PRESET_FILE) == 0);
	check_that_define_takes_it();
}

static void preset_of_another_user(void)
{
	put_preset_of_suba();
	REQUIRE(chown(PRESET_FILE, 12345, 12345) == 0);
	check_that_define_is_refused();
	REQUIRE(chown(PRESET_FILE, geteuid(), getegid()) == 0);
	check_that_define_takes_it();
}

static void preset_that_is_damaged(void)
{
	put_preset_of_suba();
	REQUIRE(truncate(PRESET_FILE, 0) == 0);
	check_that_define_is_refused();
	write_member("CTTAKE", "TRACEOPTS SUB(SUBA) PRESET(DELETE)");
	REQUIRE(TRACE_CT(.name = "CODES", .parm = "CTTAKE") == CTRACE_RC_OK);
	check_that_define_takes_it();
}

static void reset_parmlib(void)
{
	REQUIRE(unsetenv("CTRACE_PARMLIB") == 0);
}

static void name_directories_that_are_not_there(void)
{
	REQUIRE(setenv("CTRACE_PARMLIB", "/proc/none:/proc/version", 1) == 0);
}

static uint32_t refuse(struct ctrace_ctss *ctss)
{
	REQUIRE(ctss->flags == START && ctss->mode == ON);
	ctss->reason = 0x4711;
	REQUIRE(ctrace_wto(ctss->console, "NOT ON A SUNDAY") == CTRACE_OK);
	return 8;
}

static void let_the_routine_refuse(void)
{
	answer = refuse;
}

static void define_with_a_routine_that_refuses(void)
{
	(void)ctrace_component_define(&row->define, &outcome);
	REQUIRE(outcome.ss_rc == 8 && outcome.ss_rsncode == 0x4711);
	REQUIRE(strstr(outcome.message, "NOT ON A SUNDAY") != NULL);
}

/* ---- what is next to an error, and none ---- */

static void define_with_member(const char *text)
{
	write_member("CTCODES", text);
	if (DEFINE(.name = "CODES", .startnam = "CODESSS", .parm = "CTCODES", .asids = YES,
		   .jobs = YES, .buffer = YES) != CTRACE_RC_OK)
		(void)fprintf(stderr, "# %s: RC %02X %08X %s\n", text, outcome.rc, outcome.rsncode,
			      outcome.message);
	REQUIRE(outcome.rc == CTRACE_RC_OK);
	REQUIRE(DELETE(.name = "CODES") == CTRACE_RC_OK);
}

static void members_at_their_limits(void)
{
	register_routine("CODESSS");
	define_with_member("TRACEOPTS ON ASID(1,2,3,4,5,6,7,8,9,A,B,C,D,E,F,FFFF)");
	define_with_member("TRACEOPTS ON JOBNAME(A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,EIGHTCHR)");
	define_with_member("TRACEOPTS ON BUFSIZE(9999K)");
	define_with_member("TRACEOPTS ON BUFSIZE(1K)");
	define_with_member(
		"TRACEOPTS ON OPTIONS('" TEN(TEN(TEN("x"))) "012345678901234567890123')");
	define_with_member(
		"TRACEOPTS ON OPTIONS('" TEN(TEN(TEN("x"))) "','01234567890123456789012')");
	define_with_member("/* nothing */ TRACEOPTS /* but */ OFF /* this */");
}

static void preset_put_in_the_member(void)
{
	register_routine("CODESSS");
	define_with_member("TRACEOPTS PRESET(PUT)");
	define_with_member("TRACEOPTS PRESET(PUT) OPTIONS('X')");
	REQUIRE(call_count == 0);
}

static void buffer_sizes_at_their_limits(void)
{
	register_routine("CODESSS");
	write_member("CTCODES", "TRACEOPTS ON BUFSIZE(8K)");
	REQUIRE(DEFINE(.name = "CODES", .startnam = "CODESSS", .parm = "CTCODES", .buffer = YES,
		       .bufmin = 8192, .bufmax = 8192, .bufdflt = 8192) == CTRACE_RC_OK);
	REQUIRE(DELETE(.name = "CODES") == CTRACE_RC_OK);
	/* Less than 1,024 is raised to it, before anything is compared. */
	REQUIRE(DEFINE(.name = "CODES", .startnam = "CODESSS", .buffer = YES, .bufmin = 1,
		       .bufmax = 1024, .bufdflt = 1024) == CTRACE_RC_OK);
}

/* ---- DELETE ---- */

static void delete_ifnosubs(void)
{
	register_routine("CODESSS");
	REQUIRE(DEFINE(.name = "CODES", .startnam = "CODESSS", .head = YES, .headopts = YES) ==
		CTRACE_RC_OK);
	REQUIRE(DEFINE(.name = "CODES", .sub = "SUBA", .startnam = "CODESSS") == CTRACE_RC_OK);
	REQUIRE(DELETE(.name = "CODES", .ifnosubs = YES) == CTRACE_RC_REFUSED &&
		reason() == CTRACE_RSN_HAS_SUBS);
	REQUIRE(outcome.rc == CTRACE_RC_REFUSED && ctrace_outcome_text(&outcome)[0] != '\0');
	REQUIRE(shown("CODES", NULL)->subs == 1 && shown("CODES", "SUBA")->is_defined);
	REQUIRE(DELETE(.name = "CODES", .sub = "SUBA", .ifnosubs = YES) == CTRACE_RC_OK);
	REQUIRE(DELETE(.name = "CODES", .ifnosubs = YES) == CTRACE_RC_OK);
	REQUIRE(!is_known("CODES", NULL));
}

/* ---- the rows ---- */

#define ABEND(text, number, ...) \
	{ \
		.name = "abend " text, .rc = CTRACE_RC_ABEND, .abend = (number), __VA_ARGS__ \
	}
#define REFUSED(text, number, ...) \
	{ \
		.name = "RC 0C/" text, .rc = CTRACE_RC_REFUSED, .reason = (number), __VA_ARGS__ \
	}
#define BODY(text, function) \
	{ \
		.name = text, .body = function \
	}

static const struct row rows[] = {
	ABEND("101: version 3", 0x101,
	      .define = { .size = sizeof(struct ctrace_define),
			  .version = 3,
			  .service = CTRACE_SERVICE_DEFINE,
			  .name = "CODES",
			  .startnam = "CODESSS" }),
	BODY("abend 101: not with versions 0 to 2", versions_0_to_2_are_accepted),
	ABEND("102: begins with a digit", 0x102, .is_misnamed = true,
	      .define = { CTRACE_DEFINE_INIT, .name = "1CODES", .startnam = "CODESSS" }),
	ABEND("102: a hyphen inside", 0x102, .is_misnamed = true,
	      .define = { CTRACE_DEFINE_INIT, .name = "CO-DES", .startnam = "CODESSS" }),
	ABEND("102: a blank inside", 0x102, .is_misnamed = true,
	      .define = { CTRACE_DEFINE_INIT, .name = "CO DES", .startnam = "CODESSS" }),
	ABEND("102: a dot inside", 0x102, .is_misnamed = true,
	      .define = { CTRACE_DEFINE_INIT, .name = "CODES.A", .startnam = "CODESSS" }),
	ABEND("102: nine characters", 0x102, .is_misnamed = true,
	      .define = { CTRACE_DEFINE_INIT, .name = "CODES6789", .startnam = "CODESSS" }),
	ABEND("102: lower case", 0x102, .is_misnamed = true,
	      .define = { CTRACE_DEFINE_INIT, .name = "codes", .startnam = "CODESSS" }),
	ABEND("102: empty", 0x102, .is_misnamed = true,
	      .define = { CTRACE_DEFINE_INIT, .name = "", .startnam = "CODESSS" }),
	ABEND("301: a reserved byte", 0x301, .define = { CODES, .reserved = { [4] = 1 } }),
	ABEND("301: ASIDS neither YES nor NO", 0x301, .define = { CODES, .asids = 2 }),
	ABEND("301: MANYSUBS neither YES nor NO", 0x301, .define = { CODES, .manysubs = 0xFF }),
	ABEND("301: WTRMODE that there is not", 0x301,
	      .define = { CODES, .wtr = YES, .wtrmode = 4 }),
	ABEND("301: HEADOPTS=YES without HEAD=YES", 0x301, .define = { CODES, .headopts = YES }),
	ABEND("301: WTR=YES without WTRMODE", 0x301, .define = { CODES, .wtr = YES }),
	ABEND("301: WTRMODE without WTR=YES", 0x301,
	      .define = { CODES, .wtrmode = CTRACE_PAGEABLE }),
	ABEND("301: something behind the list", 0x301, .provoke = give_a_longer_list,
	      .define = { CODES }),
	BODY("abend 301: not with zeros behind the list", a_longer_list_of_zeros_is_accepted),
	BODY("abend 302: a reserved byte", delete_with_reserved_bytes),
	BODY("abend 302: DELSUBS and IFNOSUBS", delete_with_both_keywords),
	BODY("abend 302: IFNOSUBS neither YES nor NO", delete_with_a_keyword_of_2),
	BODY("abend 302: something behind the list", delete_with_a_longer_list),
	ABEND("401: DEFINE as service 3", 0x401,
	      .define = { .size = sizeof(struct ctrace_define),
			  .version = CTRACE_PLIST_VERSION,
			  .service = 3,
			  .name = "CODES",
			  .startnam = "CODESSS" }),
	ABEND("401: DEFINE as service 0", 0x401,
	      .define = { .size = sizeof(struct ctrace_define),
			  .version = CTRACE_PLIST_VERSION,
			  .name = "CODES",
			  .startnam = "CODESSS" }),
	BODY("abend 401: DELETE as service 3", delete_as_service_3),
	BODY("abend 401: DELETE as service 0", delete_as_service_0),
	ABEND("501: MINOPS of 257 bytes", 0x501,
	      .define = { CODES, .minops = TEN(TEN("m")) TEN(TEN("m")) TEN("01234") "mmmmmmm" }),
	BODY("abend 501: not with 255 and 256 bytes", minops_of_255_and_256_bytes_are_accepted),

	BODY("RC 00: DEFINE and DELETE", define_and_delete),
	BODY("RC 04: DEFINE of what is defined", define_twice),
	BODY("RC 04: DELETE of what is not", delete_what_is_not_defined),
	{ .name = "RC 08/06: no memory",
	  .body = define_in_little_memory,
	  .needs_little_memory = true },
	BODY("RC 08/07: a routine deletes its own trace", routine_deletes_its_own_trace),
	BODY("RC 08/07: a routine commands its own trace", routine_commands_its_own_trace),
	BODY("RC 08/07: two routines wait for each other", two_routines_wait_for_each_other),

	REFUSED("01: the head is not defined", CTRACE_RSN_NO_HEAD, .define = { CODES_SUB }),
	REFUSED("01: the next head is not defined", CTRACE_RSN_NO_HEAD, HEAD_WITH_OPTIONS,
		.is_misnamed = true, .define = { CODES, .sub = "NONE.SUBA" }),
	REFUSED("02: LIKEHEAD=YES with ASIDS", CTRACE_RSN_LIKEHEAD_OPTIONS, HEAD_WITH_OPTIONS,
		.define = { LIKE, .asids = YES }),
	REFUSED("02: LIKEHEAD=YES with JOBS", CTRACE_RSN_LIKEHEAD_OPTIONS, HEAD_WITH_OPTIONS,
		.define = { LIKE, .jobs = YES }),
	REFUSED("02: LIKEHEAD=YES with MINOPS", CTRACE_RSN_LIKEHEAD_OPTIONS, HEAD_WITH_OPTIONS,
		.define = { LIKE, .minops = "A" }),
	REFUSED("02: LIKEHEAD=YES with MOD", CTRACE_RSN_LIKEHEAD_OPTIONS, HEAD_WITH_OPTIONS,
		.define = { LIKE, .mod = YES }),
	REFUSED("02: LIKEHEAD=YES with BUFFER", CTRACE_RSN_LIKEHEAD_OPTIONS, HEAD_WITH_OPTIONS,
		.define = { LIKE, .buffer = YES }),
	REFUSED("02: LIKEHEAD=YES with BUFMIN", CTRACE_RSN_LIKEHEAD_OPTIONS, HEAD_WITH_OPTIONS,
		.define = { LIKE, .bufmin = 2048 }),
	REFUSED("02: LIKEHEAD=YES with BUFMAX", CTRACE_RSN_LIKEHEAD_OPTIONS, HEAD_WITH_OPTIONS,
		.define = { LIKE, .bufmax = 2048 }),
	REFUSED("02: LIKEHEAD=YES with BUFDFLT", CTRACE_RSN_LIKEHEAD_OPTIONS, HEAD_WITH_OPTIONS,
		.define = { LIKE, .bufdflt = 2048 }),
	REFUSED("02: LIKEHEAD=YES with BUFDEFIN", CTRACE_RSN_LIKEHEAD_OPTIONS, HEAD_WITH_OPTIONS,
		.define = { LIKE, .bufdefin = YES }),
	REFUSED("02: LIKEHEAD=YES with WTR", CTRACE_RSN_LIKEHEAD_OPTIONS, HEAD_WITH_OPTIONS,
		.define = { LIKE, .wtr = YES, .wtrmode = CTRACE_PAGEABLE }),
	REFUSED("03: HEAD=NO above it", CTRACE_RSN_NOT_A_HEAD, .head = { CODES },
		.define = { CODES_SUB }),
	REFUSED("04: no such member", CTRACE_RSN_MEMBER_NOT_FOUND, .define = { CODES_PARM }),
	REFUSED("05: the member's disk fails", CTRACE_RSN_MEMBER_IO,
		.prepare = link_to_what_cannot_be_read, .define = { CODES_PARM }),
	REFUSED("06: no word that a member has", CTRACE_RSN_MEMBER_SYNTAX, .define = { CODES_PARM },
		.member = "TRACEOPTS\n  ON\n  NONSENSE(1)\n", .line = 3, .column = 3),
	REFUSED("07: the head has no options", CTRACE_RSN_LIKEHEAD_NO_OPTIONS, HEAD_WITHOUT_OPTIONS,
		.define = { LIKE }),
	REFUSED("07: LIKEHEAD=YES without SUB", CTRACE_RSN_LIKEHEAD_NO_OPTIONS,
		.define = { CODES, .likehead = YES }),
	REFUSED("07: LIKEHEAD in the member, and the head has no options",
		CTRACE_RSN_LIKEHEAD_NO_OPTIONS, HEAD_WITHOUT_OPTIONS,
		.member = "TRACEOPTS\n LIKEHEAD\n", .line = 2, .column = 2,
		.define = { CODES_SUB, .parm = "CTCODES" }),
	REFUSED("08: no job of that name", CTRACE_RSN_NOT_ACTIVE, HEAD_WITH_OPTIONS,
		.is_misnamed = true, .define = { CODES, .sub = "JOBNAME(NOTHERE)" }),
	REFUSED("08: no address space of that number", CTRACE_RSN_NOT_ACTIVE, HEAD_WITH_OPTIONS,
		.is_misnamed = true, .define = { CODES, .sub = "ASID(FFFE)" }),
	REFUSED("09: the head has ASIDS=NO", CTRACE_RSN_LIKEHEAD_DIFFERS, HEAD_WITH_OPTIONS,
		.member = "TRACEOPTS LIKEHEAD",
		.define = { CODES_SUB, .parm = "CTCODES", .asids = YES }),
	REFUSED("09: the head has no MINOPS", CTRACE_RSN_LIKEHEAD_DIFFERS, HEAD_WITH_OPTIONS,
		.member = "TRACEOPTS LIKEHEAD",
		.define = { CODES_SUB, .parm = "CTCODES", .minops = "LEAST" }),
	REFUSED("0A: LIKEHEAD=YES with PARM", CTRACE_RSN_LIKEHEAD_PARM, HEAD_WITH_OPTIONS,
		.member = "TRACEOPTS ON", .define = { LIKE, .parm = "CTCODES" }),
	REFUSED("0B: HEADOPTS=NO with PARM", CTRACE_RSN_HEADOPTS_PARM, .member = "TRACEOPTS ON",
		.define = { CTRACE_DEFINE_INIT, .name = "CODES", .head = YES, .parm = "CTCODES" }),
	REFUSED("0C: LIKEHEAD=YES with HEADOPTS=NO", CTRACE_RSN_LIKEHEAD_HEADOPTS,
		HEAD_WITH_OPTIONS,
		.define = { CTRACE_DEFINE_INIT, .name = "CODES", .sub = "SUBA", .likehead = YES,
			    .head = YES }),
	REFUSED("0D: no STARTNAM", CTRACE_RSN_NO_STARTNAM,
		.define = { CTRACE_DEFINE_INIT, .name = "CODES" }),
	REFUSED("0D: no STARTNAM with HEADOPTS=YES", CTRACE_RSN_NO_STARTNAM,
		.define = { CTRACE_DEFINE_INIT, .name = "CODES", .head = YES, .headopts = YES }),
	REFUSED("0D: no STARTNAM with LIKEHEAD=YES", CTRACE_RSN_NO_STARTNAM, HEAD_WITH_OPTIONS,
		.define = { CTRACE_DEFINE_INIT, .name = "CODES", .sub = "SUBA", .likehead = YES }),
	REFUSED("0E01: STARTNAM with HEADOPTS=NO", CTRACE_RSN_NAME_NOT_ALLOWED, .low = 0x01,
		.define = { CODES, .head = YES }),
	REFUSED("0E02: DISPNAM with HEADOPTS=NO", CTRACE_RSN_NAME_NOT_ALLOWED, .low = 0x02,
		.define = { CTRACE_DEFINE_INIT, .name = "CODES", .dispnam = "CODESSS",
			    .head = YES }),
	REFUSED("0F: SUB in the member", CTRACE_RSN_MEMBER_SUB, .define = { CODES_PARM },
		.member = "TRACEOPTS\n SUB(SUBA) ON\n", .line = 2, .column = 2),
	REFUSED("10: PRESET(DELETE) in the member", CTRACE_RSN_MEMBER_PRESET_DELETE,
		.define = { CODES_PARM }, .member = "TRACEOPTS PRESET(DELETE)\n", .line = 1,
		.column = 11),
	REFUSED("11: the routine refuses", CTRACE_RSN_ROUTINE_REFUSED,
		.prepare = let_the_routine_refuse, .provoke = define_with_a_routine_that_refuses,
		.define = { CODES_PARM }, .member = "TRACEOPTS ON OPTIONS('SUNDAY')"),
	REFUSED("12: BUFSIZE in the member with BUFFER=NO", CTRACE_RSN_NO_BUFFER,
		.define = { CODES_PARM }, .member = "TRACEOPTS ON\n\n  BUFSIZE(64K)\n", .line = 3,
		.column = 3),
	REFUSED("12: BUFDEFIN with BUFFER=NO", CTRACE_RSN_NO_BUFFER,
		.define = { CODES, .bufdefin = YES }),
	REFUSED("12: BUFMIN with BUFFER=NO", CTRACE_RSN_NO_BUFFER,
		.define = { CODES, .bufmin = 4096 }),
	REFUSED("12: BUFMAX with BUFFER=NO", CTRACE_RSN_NO_BUFFER,
		.define = { CODES, .bufmax = 4096 }),
	REFUSED("12: BUFDFLT with BUFFER=NO", CTRACE_RSN_NO_BUFFER,
		.define = { CODES, .bufdflt = 4096 }),
	REFUSED("13: BUFSIZE below BUFMIN", CTRACE_RSN_BUFSIZE_LIMITS,
		.define = { CODES_PARM, .buffer = YES, .bufmin = 8193 },
		.member = "TRACEOPTS ON BUFSIZE(8K)\n", .line = 1, .column = 14),
	REFUSED("13: BUFSIZE above BUFMAX", CTRACE_RSN_BUFSIZE_LIMITS,
		.define = { CODES_PARM, .buffer = YES, .bufmax = 1048575 },
		.member = "TRACEOPTS ON BUFSIZE(1M)\n", .line = 1, .column = 14),
	REFUSED("14: ASID in the member with ASIDS=NO", CTRACE_RSN_NO_ASIDS,
		.define = { CODES_PARM, .jobs = YES }, .member = "TRACEOPTS\nON\nASID(1)\n",
		.line = 3, .column = 1),
	REFUSED("15: JOBNAME in the member with JOBS=NO", CTRACE_RSN_NO_JOBS,
		.define = { CODES_PARM, .asids = YES },
		.member = "TRACEOPTS\nON /* a\nlong one */ JOBNAME(A)\n", .line = 3, .column = 13),
	REFUSED("16: BUFMIN above BUFMAX", CTRACE_RSN_BUFMIN_BUFMAX,
		.define = { CODES, .buffer = YES, .bufmin = 4097, .bufmax = 4096 }),
	REFUSED("16: BUFMAX below 1,024", CTRACE_RSN_BUFMIN_BUFMAX,
		.define = { CODES, .buffer = YES, .bufmin = 1, .bufmax = 1023 }),
	REFUSED("17: BUFDFLT below BUFMIN", CTRACE_RSN_BUFDFLT_BUFMIN,
		.define = { CODES, .buffer = YES, .bufmin = 4096, .bufdflt = 4095 }),
	REFUSED("17: BUFDFLT below 1,024", CTRACE_RSN_BUFDFLT_BUFMIN,
		.define = { CODES, .buffer = YES, .bufdflt = 1023 }),
	REFUSED("18: BUFDFLT above BUFMAX", CTRACE_RSN_BUFDFLT_BUFMAX,
		.define = { CODES, .buffer = YES, .bufmax = 4096, .bufdflt = 4097 }),
	REFUSED("18: BUFDFLT above 2147483647", CTRACE_RSN_BUFDFLT_BUFMAX,
		.define = { CODES, .buffer = YES, .bufdflt = 2147483648u }),
	REFUSED("19: a STARTNAM that is nowhere", CTRACE_RSN_ROUTINE_NOT_LOADED,
		.define = { CTRACE_DEFINE_INIT, .name = "CODES", .startnam = "NOWHERE",
			    .minops = "LEAST" }),
	REFUSED("1A: SUB begins with a digit", CTRACE_RSN_SUB_NAME, HEAD_WITH_OPTIONS,
		.is_misnamed = true, .define = { CODES, .sub = "1SUB" }),
	REFUSED("1A: SUB in lower case without quotation marks", CTRACE_RSN_SUB_NAME,
		HEAD_WITH_OPTIONS, .is_misnamed = true, .define = { CODES, .sub = "suba" }),
	REFUSED("1A: SUB of 19 characters", CTRACE_RSN_SUB_NAME, HEAD_WITH_OPTIONS,
		.is_misnamed = true, .define = { CODES, .sub = "A234567890123456789" }),
	REFUSED("1A: SUB with an empty name", CTRACE_RSN_SUB_NAME, HEAD_WITH_OPTIONS,
		.is_misnamed = true, .define = { CODES, .sub = "SUBA..SUBB" }),
	REFUSED("1A: SUB of six names", CTRACE_RSN_SUB_NAME, HEAD_WITH_OPTIONS, .is_misnamed = true,
		.define = { CODES, .sub = "A.B.C.D.E.F" }),
	REFUSED("1A: SUB with a parenthesis that stays open", CTRACE_RSN_SUB_NAME,
		HEAD_WITH_OPTIONS, .is_misnamed = true, .define = { CODES, .sub = "JOBNAME(A" }),
	REFUSED("1B: no TRACEOPTS in the member", CTRACE_RSN_PARMLIB, .define = { CODES_PARM },
		.member = "\n ON\n", .line = 2, .column = 2),
	REFUSED("1B: two transactions in the member", CTRACE_RSN_PARMLIB, .define = { CODES_PARM },
		.member = "TRACEOPTS\n ON\n OFF\n", .line = 3, .column = 2),
	BODY("RC 0C/1B: others may write where presets are", presets_where_others_may_write),
	BODY("RC 0C/1B: a preset behind a link", preset_behind_a_link),
	{ .name = "RC 0C/1B: another user's preset",
	  .body = preset_of_another_user,
	  .needs_root = true },
	BODY("RC 0C/1B: a damaged preset", preset_that_is_damaged),
	REFUSED("1C: ASID in the member is not hexadecimal", CTRACE_RSN_ASID_NOT_HEX,
		.define = { CODES_PARM, .asids = YES }, .member = "TRACEOPTS ON ASID(1,2G)\n",
		.line = 1, .column = 21),
	REFUSED("1C: ASID in SUB is not hexadecimal", CTRACE_RSN_ASID_NOT_HEX, HEAD_WITH_OPTIONS,
		.is_misnamed = true, .define = { CODES, .sub = "ASID(XY)" }),
	REFUSED("1D: the member is too large", CTRACE_RSN_MEMBER_TOO_LARGE,
		.prepare = write_a_long_comment, .define = { CODES_PARM }),
	REFUSED("1F: the member is a directory", CTRACE_RSN_MEMBER_NOT_READABLE,
		.prepare = make_a_directory_of_that_name, .define = { CODES_PARM }),
	REFUSED("1F: the member may not be read", CTRACE_RSN_MEMBER_NOT_READABLE,
		.prepare = make_it_nobodys, .member = "TRACEOPTS ON", .define = { CODES_PARM }),
	REFUSED("20: CTRACE_PARMLIB is not set", CTRACE_RSN_MEMBER_ALLOCATION,
		.prepare = reset_parmlib, .define = { CODES_PARM }),
	REFUSED("20: CTRACE_PARMLIB has no directory", CTRACE_RSN_MEMBER_ALLOCATION,
		.prepare = name_directories_that_are_not_there, .define = { CODES_PARM }),
	REFUSED("21: ASID in the member has five digits", CTRACE_RSN_ASID_TOO_LONG,
		.define = { CODES_PARM, .asids = YES }, .member = "TRACEOPTS ON ASID(00001)\n",
		.line = 1, .column = 19),
	REFUSED("21: ASID in SUB has five digits", CTRACE_RSN_ASID_TOO_LONG, HEAD_WITH_OPTIONS,
		.is_misnamed = true, .define = { CODES, .sub = "ASID(00001)" }),
	REFUSED("22: ASID in the member is zero", CTRACE_RSN_ASID_ZERO,
		.define = { CODES_PARM, .asids = YES }, .member = "TRACEOPTS ON ASID(0000)\n",
		.line = 1, .column = 19),
	REFUSED("22: ASID in SUB is zero", CTRACE_RSN_ASID_ZERO, HEAD_WITH_OPTIONS,
		.is_misnamed = true, .define = { CODES, .sub = "ASID(0)" }),
	REFUSED("23: 17 ASIDs", CTRACE_RSN_TOO_MANY_ASIDS, .define = { CODES_PARM, .asids = YES },
		.member = "TRACEOPTS ON\nASID(1,2,3,4,5,6,7,8,9,A,B,C,D,E,F,10,\n11)\n", .line = 3,
		.column = 1),
	REFUSED("24: JOBNAME in the member has nine characters", CTRACE_RSN_JOBNAME_TOO_LONG,
		.define = { CODES_PARM, .jobs = YES },
		.member = "TRACEOPTS ON JOBNAME(NINECHARS)\n", .line = 1, .column = 22),
	REFUSED("24: JOBNAME in SUB has nine characters", CTRACE_RSN_JOBNAME_TOO_LONG,
		HEAD_WITH_OPTIONS, .is_misnamed = true,
		.define = { CODES, .sub = "JOBNAME(NINECHARS)" }),
	REFUSED("25: 17 job names", CTRACE_RSN_TOO_MANY_JOBNAMES,
		.define = { CODES_PARM, .jobs = YES },
		.member = "TRACEOPTS ON\nJOBNAME(A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P,\n Q)\n",
		.line = 3, .column = 2),
	REFUSED("26: BUFSIZE has six characters", CTRACE_RSN_BUFSIZE_TOO_LONG,
		.define = { CODES_PARM, .buffer = YES }, .member = "TRACEOPTS ON BUFSIZE(00064K)\n",
		.line = 1, .column = 22),
	REFUSED("27: BUFSIZE has no unit", CTRACE_RSN_BUFSIZE_UNIT,
		.define = { CODES_PARM, .buffer = YES }, .member = "TRACEOPTS ON BUFSIZE(4096)\n",
		.line = 1, .column = 22),
	REFUSED("28: BUFSIZE is not decimal", CTRACE_RSN_BUFSIZE_NOT_DECIMAL,
		.define = { CODES_PARM, .buffer = YES }, .member = "TRACEOPTS ON BUFSIZE(6X4K)\n",
		.line = 1, .column = 22),
	REFUSED("29: OPTIONS of 1,025 characters", CTRACE_RSN_OPTIONS_TOO_LONG,
		.define = { CODES_PARM },
		.member = "TRACEOPTS ON OPTIONS('" TEN(
			TEN(TEN("x"))) "0123456789012345678901234')\n"),
	REFUSED("29: OPTIONS of 1,025 characters, commas counted", CTRACE_RSN_OPTIONS_TOO_LONG,
		.define = { CODES_PARM },
		.member = "TRACEOPTS ON OPTIONS('" TEN(
			TEN(TEN("x"))) "','012345678901234567890123')\n"),
	REFUSED("2A: the member's name does not begin with CT", CTRACE_RSN_MEMBER_NAME,
		.define = { CODES, .parm = "XTCODES" }),
	BODY("RC 0C/2B: IFNOSUBS and a sublevel", delete_ifnosubs),
	REFUSED("2C: WTR in the member with WTR=NO", CTRACE_RSN_NO_WTR, .define = { CODES_PARM },
		.member = "TRACEOPTS ON\n WTR(CTWTR)\n", .line = 2, .column = 2),
	REFUSED("2D: a writer's name begins with a digit", CTRACE_RSN_WTR_NAME,
		.define = { CODES_PARM, .wtr = YES, .wtrmode = CTRACE_PAGEABLE },
		.member = "TRACEOPTS ON WTR(1WTR)\n", .line = 1, .column = 18),
	REFUSED("2D: a writer's name has eight characters", CTRACE_RSN_WTR_NAME,
		.define = { CODES_PARM, .wtr = YES, .wtrmode = CTRACE_DREF },
		.member = "TRACEOPTS ON WTR(EIGHTCHR)\n", .line = 1, .column = 18),
	BODY("RC 00: members at their limits", members_at_their_limits),
	BODY("RC 00: PRESET(PUT) in the member is ignored", preset_put_in_the_member),
	BODY("RC 00: buffer sizes at their limits", buffer_sizes_at_their_limits),
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

int main(void)
{
	struct CMUnitTest tests[ROW_COUNT];

	for (size_t i = 0; i < ROW_COUNT; i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name,
						.test_func = check_row,
						.initial_state = (void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
