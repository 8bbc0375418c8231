/*
 * cbl_ctrace.c - component trace from COBOL: the CBL_CTRACE_* routines, and COBOL's routines as
 * exits.
 *
 * COBOL programs call it on their one thread.  A command of another thread is refused here
 * (invoke); deferred.c then hands it to the right thread.  Each routine reads the groups, does what
 * <ctrace/component.h> does, writes the result's group, and delivers changes to callbacks.  The
 * groups are packed; each is copied whole before use.  <cbl_ctrace.h> has the contracts.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/cobol/cobol.h"

#include "lib/component/component.h"
#include "lib/dump/dump.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the groups of copy/ctrace.cpy ---- */

#define WORD 8u /* YES, NO, PAGEABLE */
#define SUB 110u

struct define_group {
	uint32_t plistver, service;
	uint32_t bufmin, bufmax, bufdflt;
	char name[8], sub[SUB], startnam[8], dispnam[8], parm[8], fmttab[8];
	char minops[CTRACE_MAX_MINOPS + 1];
	unsigned char userdata[CTRACE_USERDATA_SIZE];
	char asids[WORD], jobs[WORD], mod[WORD], head[WORD], headopts[WORD], likehead[WORD],
		manysubs[WORD];
	char buffer[WORD], bufdefin[WORD], wtr[WORD], wtrmode[WORD];
} __attribute__((packed));

struct delete_group {
	uint32_t plistver, service;
	char name[8], sub[SUB];
	char delsubs[WORD], ifnosubs[WORD];
} __attribute__((packed));

struct outcome_group {
	uint32_t rc, rsncode, reason, ss_rc, ss_rsncode, abend;
	char message[236];
} __attribute__((packed));

struct trace_ct_group {
	uint32_t state, bufsize;
	char name[8], sub[SUB], parm[8];
	char asid[80], jobname[144];
	char options[CTRACE_MAX_OPTIONS + 1];
	char wtr[16];
} __attribute__((packed));

struct display_group {
	uint32_t mode, subs;
	uint64_t buffer_asked, buffer_rounded, buffer_granted;
	char is_defined[WORD], is_filtered[WORD], head[WORD], headopts[WORD], likehead[WORD];
	char asids[WORD], jobs[WORD], wtr[WORD], buffer[WORD], mod[WORD];
	char startnam[8], dispnam[8], fmttab[8], writer[8];
	uint32_t asid_count;
	uint16_t asid[CTRACE_MAX_FILTER];
	uint32_t jobname_count;
	char jobname[CTRACE_MAX_FILTER][8];
	char options[CTRACE_MAX_OPTIONS], minops[CTRACE_MAX_MINOPS];
	unsigned char userdata[CTRACE_USERDATA_SIZE];
} __attribute__((packed));

_Static_assert(sizeof(struct define_group) == 531 &&
		       offsetof(struct define_group, userdata) == 427 &&
		       offsetof(struct define_group, wtrmode) == 523,
	       "cblt-ctrace-define");
_Static_assert(sizeof(struct delete_group) == 142, "cblt-ctrace-delete");
_Static_assert(sizeof(struct outcome_group) == 260, "cblt-ctrace-outcome");
_Static_assert(sizeof(struct trace_ct_group) == 1399, "cblt-ctrace-trace-ct");
_Static_assert(sizeof(struct display_group) == 1608, "cblt-ctrace-display");

/* cblt-ctrace-ctss has the layout of the structure. */
#define CTSS_AT(member, at) \
	_Static_assert(offsetof(struct ctrace_ctss, member) == (at), "cblt-ctrace-ctss: " #member)
CTSS_AT(size, 0);
CTSS_AT(flags, 4);
CTSS_AT(mode, 8);
CTSS_AT(display, 12);
CTSS_AT(call_subs, 16);
CTSS_AT(reason, 20);
CTSS_AT(userdata, 24);
CTSS_AT(buffer_size, 40);
CTSS_AT(buffer_granted, 48);
CTSS_AT(console, 56);
CTSS_AT(cart, 64);
CTSS_AT(token, 72);
CTSS_AT(name, 80);
CTSS_AT(writer, 88);
CTSS_AT(sub_count, 96);
CTSS_AT(sub, 100);
CTSS_AT(asid_count, 200);
CTSS_AT(asid, 204);
CTSS_AT(jobname_count, 236);
CTSS_AT(jobname, 240);
CTSS_AT(options_size, 368);
CTSS_AT(options, 372);
CTSS_AT(minops_size, 1396);
CTSS_AT(minops, 1400);
_Static_assert(sizeof(struct ctrace_ctss) == 1656, "cblt-ctrace-ctss");

/* A group that is missing counts as zeros: no name, no service. */
static void group_read(void *out, const void *group, size_t size)
{
	if (ct_cbl_is_null(group))
		memset(out, 0, size);
	else
		memcpy(out, group, size);
}

/* A field as a terminated text of up to size + 1 bytes: up to a NUL, without trailing blanks. */
static const char *text_read(char *out, const char *field, size_t size)
{
	size = strnlen(field, size);
	while (size != 0 && field[size - 1] == ' ')
		size--;
	memcpy(out, field, size);
	out[size] = '\0';
	return out;
}
#define TEXT(texts, group, member) text_read((texts).member, (group).member, sizeof((group).member))

static void text_write(char *field, size_t size, const char *text)
{
	size_t used = strnlen(text, size);

	memcpy(field, text, used);
	memset(field + used, ' ', size - used);
}
#define PUT_TEXT(group, member, text) text_write((group).member, sizeof((group).member), text)

static cobrtncode_t outcome_answer(void *outcome, const struct ctrace_outcome *out)
{
	struct outcome_group group = {
		.rc = out->rc,
		.rsncode = out->rsncode,
		.reason = CTRACE_REASON(out->rsncode),
		.ss_rc = out->ss_rc,
		.ss_rsncode = out->ss_rsncode,
		.abend = out->abend,
	};

	PUT_TEXT(group, message, out->message);
	if (!ct_cbl_is_null(outcome))
		memcpy(outcome, &group, sizeof(group));
	ct_notify_deliver();
	return (cobrtncode_t)out->rc;
}

/* ---- keywords that take a word ---- */

struct keyword {
	const char *name;
	const char *const *words; /* ends with NULL; a word's index is its value */
	size_t from;              /* offset in the group */
	size_t to;                /* offset in the structure of <ctrace/component.h> */
};
static const char *const yes_or_no[] = { "NO", "YES", NULL };
static const char *const storage[] = { "", "PAGEABLE", "DREF", "FIXED", NULL };

#define PLACES(group, structure, member) \
	offsetof(struct group, member), offsetof(struct structure, member)
static const struct keyword define_keywords[] = {
	{ "ASIDS", yes_or_no, PLACES(define_group, ctrace_define, asids) },
	{ "JOBS", yes_or_no, PLACES(define_group, ctrace_define, jobs) },
	{ "MOD", yes_or_no, PLACES(define_group, ctrace_define, mod) },
	{ "HEAD", yes_or_no, PLACES(define_group, ctrace_define, head) },
	{ "HEADOPTS", yes_or_no, PLACES(define_group, ctrace_define, headopts) },
	{ "LIKEHEAD", yes_or_no, PLACES(define_group, ctrace_define, likehead) },
	{ "MANYSUBS", yes_or_no, PLACES(define_group, ctrace_define, manysubs) },
	{ "BUFFER", yes_or_no, PLACES(define_group, ctrace_define, buffer) },
	{ "BUFDEFIN", yes_or_no, PLACES(define_group, ctrace_define, bufdefin) },
	{ "WTR", yes_or_no, PLACES(define_group, ctrace_define, wtr) },
	{ "WTRMODE", storage, PLACES(define_group, ctrace_define, wtrmode) },
};
static const struct keyword delete_keywords[] = {
	{ "DELSUBS", yes_or_no, PLACES(delete_group, ctrace_delete, delsubs) },
	{ "IFNOSUBS", yes_or_no, PLACES(delete_group, ctrace_delete, ifnosubs) },
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool word_find(const struct keyword *keyword, const char *field, uint8_t *out)
{
	char text[WORD + 1];
	uint8_t value = 0;

	if (*text_read(text, field, WORD) == '\0') {
		*out = 0;
		return true;
	}
	while (keyword->words[value] != NULL &&
	       !ct_name_equal(keyword->words[value], strlen(keyword->words[value]), text,
			      strlen(text)))
		value++;
	if (keyword->words[value] == NULL)
		return false;
	*out = value;
	return true;
}

/* Returns the first keyword with an invalid word; NULL: none. */
static const struct keyword *keywords_read(const struct keyword *keywords, size_t count,
					   const void *group, void *out)
{
	for (const struct keyword *at = keywords; at < keywords + count; at++)
		if (!word_find(at, (const char *)group + at->from, (uint8_t *)out + at->to))
			return at;
	return NULL;
}

/* A nonzero reserved field makes the library refuse the structure at the right place in the
 * order of checks; it stands for the invalid word.  Only the message is ours. */
static void keyword_explain(const struct keyword *wrong, struct ctrace_outcome *out)
{
	if (wrong != NULL && (out->abend == 0x301 || out->abend == 0x302))
		(void)snprintf(out->message, sizeof(out->message), "%s takes %s", wrong->name,
			       wrong->words == yes_or_no ? "YES or NO" : "PAGEABLE, DREF or FIXED");
}

/* The library's messages name C members; a COBOL program needs its field names. */
static void field_explain(bool is_wrong, uint32_t abend, const char *why,
			  struct ctrace_outcome *out)
{
	if (is_wrong && out->abend == abend)
		(void)snprintf(out->message, sizeof(out->message), "%s", why);
}
#define SET_TO_VALUE "INITIALIZE ... WITH FILLER ALL TO VALUE sets it"

/* ---- DEFINE, DELETE, TRACE CT, DISPLAY TRACE ---- */

static uint16_t halfword(uint32_t number)
{
	return number <= UINT16_MAX ? (uint16_t)number : UINT16_MAX;
}

cobrtncode_t CBL_CTRACE_DEFINE(void *define, void *outcome)
{
	CT_CANCEL_OFF();
	struct define_group group;
	struct {
		char name[9], sub[SUB + 1], startnam[9], dispnam[9], parm[9], fmttab[9],
			minops[CTRACE_MAX_MINOPS + 2];
	} texts;
	struct ctrace_outcome out;
	const struct keyword *wrong;

	ct_notify_deliver();
	ct_deferred_join();
	group_read(&group, define, sizeof(group));
	struct ctrace_define request = {
		.size = sizeof(request),
		.version = halfword(group.plistver),
		.service = halfword(group.service),
		.name = TEXT(texts, group, name),
		.sub = TEXT(texts, group, sub),
		.startnam = TEXT(texts, group, startnam),
		.dispnam = TEXT(texts, group, dispnam),
		.parm = TEXT(texts, group, parm),
		.minops = TEXT(texts, group, minops),
		.fmttab = TEXT(texts, group, fmttab),
		.userdata = group.userdata,
		.bufmin = group.bufmin,
		.bufmax = group.bufmax,
		.bufdflt = group.bufdflt,
	};
	wrong = keywords_read(define_keywords, COUNT(define_keywords), &group, &request);
	request.reserved[0] = wrong != NULL;
	ct_deferred_busy++;
	(void)ctrace_component_define(&request, &out);
	ct_deferred_busy--;
	keyword_explain(wrong, &out);
	field_explain(true, 0x401, "ctrace-service is not 78-CTRACE-SERVICE-DEFINE: " SET_TO_VALUE,
		      &out);
	field_explain(true, 0x101, "ctrace-plistver is not 0, 1 or 2: " SET_TO_VALUE, &out);
	if (!ct_cbl_is_null(define))
		memcpy((char *)define + offsetof(struct define_group, userdata), group.userdata,
		       sizeof(group.userdata));
	return outcome_answer(outcome, &out);
}

cobrtncode_t CBL_CTRACE_DELETE(const void *request_group, void *outcome)
{
	CT_CANCEL_OFF();
	struct delete_group group;
	struct {
		char name[9], sub[SUB + 1];
	} texts;
	struct ctrace_outcome out;
	const struct keyword *wrong;

	ct_notify_deliver();
	group_read(&group, request_group, sizeof(group));
	struct ctrace_delete request = {
		.size = sizeof(request),
		.version = halfword(group.plistver),
		.service = halfword(group.service),
		.name = TEXT(texts, group, name),
		.sub = TEXT(texts, group, sub),
	};
	wrong = keywords_read(delete_keywords, COUNT(delete_keywords), &group, &request);
	request.reserved[0] = wrong != NULL;
	ct_deferred_busy++;
	(void)ctrace_component_delete(&request, &out);
	ct_deferred_busy--;
	keyword_explain(wrong, &out);
	field_explain(true, 0x401,
		      "ctrace-del-service is not 78-CTRACE-SERVICE-DELETE: " SET_TO_VALUE, &out);
	field_explain(group.plistver > CTRACE_PLIST_VERSION, 0x302,
		      "ctrace-del-plistver is not 0, 1 or 2: " SET_TO_VALUE, &out);
	return outcome_answer(outcome, &out);
}

/* Blank: unchanged.  "()": no filter. */
static const char *filter_read(const char *text)
{
	if (*text == '\0')
		return NULL;
	return strcmp(text, "()") == 0 ? "" : text;
}

cobrtncode_t CBL_CTRACE_TRACE_CT(const void *command_group, void *outcome)
{
	CT_CANCEL_OFF();
	struct trace_ct_group group;
	struct {
		char name[9], sub[SUB + 1], parm[9], asid[81], jobname[145],
			options[CTRACE_MAX_OPTIONS + 2], wtr[17];
	} texts;
	struct ctrace_outcome out;

	ct_notify_deliver();
	group_read(&group, command_group, sizeof(group));
	struct ctrace_trace_ct command = {
		.size = sizeof(command),
		.state = group.state,
		.name = TEXT(texts, group, name),
		.sub = TEXT(texts, group, sub),
		.parm = TEXT(texts, group, parm),
		.bufsize = group.bufsize,
		.asid = filter_read(TEXT(texts, group, asid)),
		.jobname = filter_read(TEXT(texts, group, jobname)),
		.options = *TEXT(texts, group, options) != '\0' ? texts.options : NULL,
		.wtr = *TEXT(texts, group, wtr) != '\0' ? texts.wtr : NULL,
	};
	ct_deferred_busy++;
	(void)ctrace_trace_ct(&command, &out);
	ct_deferred_busy--;
	field_explain(
		group.state > CTRACE_CT_PRESET_DELETE, 0x301,
		"ctrace-ct-state takes 78-CTRACE-CT-NONE, -ON, -OFF, -LIKEHEAD, -PRESET-PUT or -PRESET-DELETE",
		&out);
	return outcome_answer(outcome, &out);
}

static void display_print(struct display_group *group, const struct ctrace_display *display)
{
	*group = (struct display_group){
		.mode = display->mode,
		.subs = display->subs,
		.buffer_asked = display->buffer_asked,
		.buffer_rounded = display->buffer_rounded,
		.buffer_granted = display->buffer_granted,
		.asid_count = display->asid_count,
		.jobname_count = display->jobname_count,
	};
	PUT_TEXT(*group, is_defined, yes_or_no[display->is_defined != 0]);
	PUT_TEXT(*group, is_filtered, yes_or_no[display->is_filtered != 0]);
	PUT_TEXT(*group, head, yes_or_no[display->head != 0]);
	PUT_TEXT(*group, headopts, yes_or_no[display->headopts != 0]);
	PUT_TEXT(*group, likehead, yes_or_no[display->likehead != 0]);
	PUT_TEXT(*group, asids, yes_or_no[display->asids != 0]);
	PUT_TEXT(*group, jobs, yes_or_no[display->jobs != 0]);
	PUT_TEXT(*group, wtr, yes_or_no[display->wtr != 0]);
	PUT_TEXT(*group, buffer, yes_or_no[display->buffer != 0]);
	PUT_TEXT(*group, mod, yes_or_no[display->mod != 0]);
	PUT_TEXT(*group, startnam, display->startnam);
	PUT_TEXT(*group, dispnam, display->dispnam);
	PUT_TEXT(*group, fmttab, display->fmttab);
	PUT_TEXT(*group, writer, display->writer);
	PUT_TEXT(*group, options, display->options);
	PUT_TEXT(*group, minops, display->minops);
	memcpy(group->asid, display->asid, sizeof(group->asid));
	for (size_t i = 0; i < CTRACE_MAX_FILTER; i++)
		PUT_TEXT(*group, jobname[i], i < display->jobname_count ? display->jobname[i] : "");
	memcpy(group->userdata, display->userdata, sizeof(group->userdata));
}

/* Reads a name that is an argument of its own; nothing behind its end is read. */
static const char *name_read(char *out, const void *name, size_t limit)
{
	const char *text = ct_cbl_is_null(name) ? "" : name;
	size_t size = 0;

	while (size < limit && text[size] != '\0' && text[size] != ' ')
		size++;
	memcpy(out, text, size);
	out[size] = '\0';
	return out;
}

cobrtncode_t CBL_CTRACE_DISPLAY(const void *name, const void *sub, void *display)
{
	CT_CANCEL_OFF();
	char name_text[CTRACE_MAX_NAME + 1];
	char sub_text[SUB + 1];
	struct ctrace_display shown = { .size = sizeof(shown) };
	struct display_group group;
	enum ctrace_status status;

	ct_notify_deliver();
	ct_deferred_busy++;
	status = ctrace_component_display(name_read(name_text, name, CTRACE_MAX_NAME),
					  name_read(sub_text, sub, SUB), &shown);
	ct_deferred_busy--;
	if (status == CTRACE_OK && !ct_cbl_is_null(display)) {
		display_print(&group, &shown);
		memcpy(display, &group, sizeof(group));
	}
	ct_notify_deliver();
	switch (status) {
	case CTRACE_OK:
		return CTRACE_RC_OK;
	case CTRACE_NOT_FOUND:
		return CTRACE_RC_EXISTS;
	case CTRACE_NOT_ENOUGH_MEMORY:
	case CTRACE_TIMED_OUT:
		return CTRACE_RC_SYSTEM;
	default:
		return CTRACE_RC_REFUSED;
	}
}

/* ---- COBOL's routines as exits ---- */

/* An entry and the thread that may call it.  Never changed or freed, because any trace may use
 * it. */
struct routine {
	struct routine *next;
	void *code;
	const void *thread;
	ct_cobol_invoke_function *in_cobol; /* NULL: without COBOL's run time, as C */
};
static struct routine *routines; /* pushed by compare-and-swap */

/* Finds the entry of that code for that thread; thread NULL: for any. */
static struct routine *routine_find(const void *code, const void *thread)
{
	struct routine *at = __atomic_load_n(&routines, __ATOMIC_ACQUIRE);

	while (at != NULL && (at->code != code || (thread != NULL && at->thread != thread)))
		at = at->next;
	return at;
}

/* Finds the same, or creates it for `maker`.  NULL: no memory. */
static struct routine *routine_find_or_create(void *code, const void *thread, const void *maker)
{
	ct_cobol_invoke_function *in_cobol =
		(ct_cobol_invoke_function *)(uintptr_t)ct_cobol_bridge(CT_COBOL_INVOKE);
	struct routine *fresh = NULL;
	struct routine *first;
	struct routine *found;

	do {
		first = __atomic_load_n(&routines, __ATOMIC_ACQUIRE);
		found = routine_find(code, thread);
		if (found != NULL || (fresh == NULL && (fresh = malloc(sizeof(*fresh))) == NULL))
			break;
		*fresh = (struct routine){
			.next = first, .code = code, .thread = maker, .in_cobol = in_cobol
		};
		/* Publish: pairs with the acquire loads.  Another thread may have added the same
		 * entry meanwhile: look again. */
	} while (!__atomic_compare_exchange_n(&routines, &first, fresh, false, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
	if (found == NULL) {
		ct_cobol_hold_module(code);
		return fresh;
	}
	free(fresh);
	return found;
}

static uint32_t routine_invoke(void *code, struct ctrace_ctss *ctss)
{
	const struct routine *routine = code;
	uint32_t rc;

	if (routine->thread != ct_ctf_thread()) {
		ct_deferred_refused(routine->thread, ctss->token);
		(void)ctrace_wto(
			ctss->console,
			"a COBOL routine runs on its program's thread only: give the command there, or write the routine in C");
		ctss->reason = CBL_CTRACE_SSRSNC_THREAD;
		return CBL_CTRACE_SSRC_THREAD;
	}
	ct_deferred_busy++;
	rc = routine->in_cobol != NULL ? routine->in_cobol(routine->code, ctss)
				       : ((ctrace_routine *)(uintptr_t)routine->code)(ctss);
	ct_deferred_busy--;
	return rc;
}

static bool routine_describe(void *code, const void *thread, const void *maker,
			     struct ct_routine *out)
{
	struct routine *routine = routine_find_or_create(code, thread, maker);

	if (routine == NULL)
		return false;
	*out = (struct ct_routine){ .code = routine, .invoke = routine_invoke };
	return true;
}

/* The thread that finds a routine first runs it.  On one of ctrace's own threads, the thread
 * that runs the program's COBOL takes its place. */
bool ct_cobol_find_routine(const char *name, struct ct_routine *out)
{
	ct_cobol_find_function *find =
		(ct_cobol_find_function *)(uintptr_t)ct_cobol_bridge(CT_COBOL_FIND);
	void *code = find != NULL ? find(name) : NULL;
	const void *maker;

	if (code == NULL)
		return false;
	ct_deferred_join();
	maker = ct_os_thread_is_own() ? ct_deferred_thread() : ct_ctf_thread();
	return maker != NULL && routine_describe(code, NULL, maker, out);
}

cobrtncode_t CBL_CTRACE_ROUTINE(const void *name, void *routine)
{
	CT_CANCEL_OFF();
	struct ct_routine described = { .code = NULL, .invoke = routine_invoke };
	char text[CTRACE_MAX_NAME + 1];
	int kept = errno;
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

	ct_notify_deliver();
	(void)name_read(text, name, CTRACE_MAX_NAME);
	ct_deferred_join();
	if (ct_cbl_is_null(routine) ||
	    routine_describe(routine, ct_ctf_thread(), ct_ctf_thread(), &described))
		status = ct_routine_add(text, &described);
	errno = kept;
	return ct_cbl_return(status);
}

cobrtncode_t CBL_CTRACE_WTO(const void *console, const void *text, cobuns32_t length)
{
	CT_CANCEL_OFF();
	char line[CTRACE_MAX_WTO + 1];
	uint64_t number;

	ct_notify_deliver();
	if (ct_cbl_is_null(console) || ct_cbl_is_null(text))
		return ct_cbl_return(CTRACE_FAILURE);
	memcpy(&number, console, sizeof(number));
	(void)text_read(line, text, length < CTRACE_MAX_WTO ? length : CTRACE_MAX_WTO);
	return ct_cbl_return(ctrace_wto(number, line));
}

/* ---- dumps ---- */

cobrtncode_t CBL_CTRACE_DUMP(const void *title, cobuns32_t length)
{
	CT_CANCEL_OFF();
	char text[CT_DUMP_TITLE + 1] = "";

	ct_notify_deliver();
	if (!ct_cbl_is_null(title))
		(void)text_read(text, title, length < CT_DUMP_TITLE ? length : CT_DUMP_TITLE);
	return ct_cbl_return(
		ct_dump_own(&(struct ct_dump_request){ .title = text, .reason = "CBL_CTRACE_DUMP" },
			    NULL, 0, NULL));
}

/* ---- entries ---- */

cobrtncode_t CBL_CTRACE_ENTRY(cobuns32_t handle, cobuns32_t entry_id, const void *data,
			      cobuns32_t length)
{
	void *item = ct_cbl_is_null(data) ? NULL : (void *)(uintptr_t)data;
	TRACE_EVENT event = {
		.event_id = entry_id,
		.level = CTF_FLAG_LEVEL_INFO,
		.data_count = 1,
		.event_len = &length,
		.event_data = &item,
	};

	return cobctf_trace(0, (const cobuns8_t *)&handle, &event);
}
