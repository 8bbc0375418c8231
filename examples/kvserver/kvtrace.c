/*
 * kvtrace.c - the server's component trace: three traces that an operator switches while it runs.
 *
 *     KVSERVER          the head: one entry a request
 *     KVSERVER.NET      LIKEHEAD=YES: connections, and bytes a request; does what its head does
 *     KVSERVER.STORE    the hash table's work; has a state and options of its own
 *
 * Look first at kv_trace_start(), which defines them, and at start_stop(), which makes OPTIONS one
 * word that the threads look at (kv_traces() in kvserver.h).  Options, with commas between:
 *
 *     GET  PUT  DEL     these operations; none of them: all
 *     KEYS  VALUES      with the key; with key and value
 *     SLOW=n            only requests that took n microseconds or more
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "kvserver.h"

#include <stdio.h>
#include <stdlib.h>

#define START_STOP "KVSTART"
#define DISPLAY "KVDISPLY"
#define ALL_OPERATIONS ((1u << KV_OPERATIONS) - 1)

/* ss_rsncode, when a routine refuses */
enum { REASON_UNKNOWN = 1, REASON_NOT_A_NUMBER };

struct kv_trace kv_requests = { .tracer = CTRACE_TRACER(KV_COMPONENT),
				.userdata = { &kv_requests } };
struct kv_trace kv_net = { .tracer = CTRACE_TRACER(KV_COMPONENT ".NET"), .userdata = { &kv_net } };
struct kv_trace kv_store = { .tracer = CTRACE_TRACER(KV_COMPONENT ".STORE"),
			     .userdata = { &kv_store } };

static const struct {
	const char *name;
	uint32_t bit;
} words[] = {
	{ "GET", 1u << KV_GET }, { "PUT", 1u << KV_PUT }, { "DEL", 1u << KV_DEL },
	{ "KEYS", KV_KEYS },     { "VALUES", KV_VALUES },
};
#define WORDS (sizeof(words) / sizeof(words[0]))

/* The trace that a routine is called for: USERDATA is handed through from DEFINE. */
static struct kv_trace *trace_of(const struct ctrace_ctss *ctss)
{
	struct kv_trace *trace;

	memcpy(&trace, ctss->userdata, sizeof(trace));
	return trace;
}

/* Tells the operator why, and answers what start_stop() returns. */
static uint32_t refuse(struct ctrace_ctss *ctss, uint32_t reason, const char *what,
		       const char *option)
{
	char text[CTRACE_MAX_WTO + 1];

	snprintf(text, sizeof(text),
		 "%s \"%.24s\"; options are GET PUT DEL KEYS VALUES SLOW=microseconds", what,
		 option);
	ctrace_wto(ctss->console, text);
	ctss->reason = reason;
	return 4;
}

static uint32_t add_option(struct ctrace_ctss *ctss, const char *option, uint64_t *settings)
{
	for (size_t i = 0; i < WORDS; i++)
		if (strcmp(option, words[i].name) == 0) {
			*settings |= words[i].bit;
			return 0;
		}
	if (strncmp(option, "SLOW=", 5) == 0) {
		size_t digits = strspn(option + 5, "0123456789");

		if (digits == 0 || digits > 9 || option[5 + digits] != '\0')
			return refuse(ctss, REASON_NOT_A_NUMBER,
				      "not a number of microseconds:", option + 5);
		*settings = (*settings & UINT32_MAX) | (uint64_t)strtoul(option + 5, NULL, 10)
							       << 32;
		return 0;
	}
	return refuse(ctss, REASON_UNKNOWN, "unknown option", option);
}

/* 0, or what start_stop() returns. */
static uint32_t parse_options(struct ctrace_ctss *ctss, uint64_t *out_settings)
{
	char options[CTRACE_MAX_OPTIONS + 1];
	uint64_t settings = 0;
	char *rest = NULL;

	memcpy(options, ctss->options, ctss->options_size);
	options[ctss->options_size] = '\0';
	for (char *option = strtok_r(options, ",", &rest); option != NULL;
	     option = strtok_r(NULL, ",", &rest)) {
		uint32_t rc = add_option(ctss, option, &settings);

		if (rc != 0)
			return rc;
	}
	if ((settings & ALL_OPERATIONS) == 0)
		settings |= ALL_OPERATIONS;
	*out_settings = settings;
	return 0;
}

/* STARTNAM.  One store puts a whole set of options in force, so a thread never sees half of them.
 */
static uint32_t start_stop(struct ctrace_ctss *ctss)
{
	uint64_t settings = 0;

	if (ctss->flags & CTRACE_CTSS_START) {
		uint32_t rc = parse_options(ctss, &settings);

		if (rc != 0)
			return rc;
	}
	atomic_store(&trace_of(ctss)->settings, settings);
	/* NET, which is LIKEHEAD, has settings of its own to change */
	ctss->call_subs = CTRACE_YES;
	return 0;
}

/* DISPNAM.  What is in force, which is more than was said when no operation was named. */
static uint32_t display(struct ctrace_ctss *ctss)
{
	uint64_t settings = atomic_load(&trace_of(ctss)->settings);
	size_t size = 0;

	ctss->display = settings == 0 ? CTRACE_CTSS_SHOW_OFF : CTRACE_CTSS_SHOW_ON;
	for (size_t i = 0; i < WORDS; i++)
		if (settings & words[i].bit)
			size += (size_t)snprintf(ctss->options + size, sizeof(ctss->options) - size,
						 "%s%s", size == 0 ? "" : ",", words[i].name);
	if (settings >> 32 != 0)
		size += (size_t)snprintf(ctss->options + size, sizeof(ctss->options) - size,
					 ",SLOW=%u", (unsigned)(settings >> 32));
	ctss->options_size = (uint32_t)size;
	return 0;
}

/* A request's result: RC 00, or why not on standard error. */
static bool is_done(const char *request, const struct ctrace_outcome *out)
{
	if (out->rc == CTRACE_RC_OK && out->ss_rc == 0)
		return true;
	fprintf(stderr, "kvserver: %s: RC %02X reason %02X: %s: %s\n", request, (unsigned)out->rc,
		(unsigned)CTRACE_REASON(out->rsncode), ctrace_outcome_text(out), out->message);
	return false;
}

static bool define(const char *request, const struct ctrace_define *define)
{
	struct ctrace_outcome out;

	ctrace_component_define(define, &out);
	return is_done(request, &out);
}

void kv_trace_start(const char *member)
{
	struct ctrace_define head = {
		CTRACE_DEFINE_INIT,
		.name = KV_COMPONENT,
		.startnam = START_STOP,
		.dispnam = DISPLAY,
		.parm = member,
		.userdata = kv_requests.userdata,
		.head = CTRACE_YES,
		.headopts = CTRACE_YES,
		.mod = CTRACE_YES, /* may be changed while it is on */
		.asids = CTRACE_YES,
		.jobs = CTRACE_YES,
		.buffer = CTRACE_YES,
		.wtr = CTRACE_YES,
		.wtrmode = CTRACE_PAGEABLE,
	};
	struct ctrace_define net = {
		CTRACE_DEFINE_INIT,
		.name = KV_COMPONENT,
		.sub = "NET",
		.startnam = START_STOP,
		/* everything else is the head's */
		.dispnam = DISPLAY,
		.userdata = kv_net.userdata,
		.likehead = CTRACE_YES,
	};
	struct ctrace_define store = {
		CTRACE_DEFINE_INIT,     .name = KV_COMPONENT, .sub = "STORE",
		.startnam = START_STOP, .dispnam = DISPLAY,   .userdata = kv_store.userdata,
		.mod = CTRACE_YES,
	};

	if (ctrace_routine_register(START_STOP, start_stop) != CTRACE_OK ||
	    ctrace_routine_register(DISPLAY, display) != CTRACE_OK)
		return;
	if (!define("DEFINE " KV_COMPONENT, &head)) {
		/* an error in the member does not keep an operator from tracing later */
		head.parm = NULL;
		if (member == NULL || !define("DEFINE " KV_COMPONENT " without PARM", &head))
			return;
	}
	define("DEFINE " KV_COMPONENT ".NET", &net);
	define("DEFINE " KV_COMPONENT ".STORE", &store);
}

/* DELETE of the head takes the sublevels with it; each that is on is stopped by its routine first.
 */
void kv_trace_stop(void)
{
	struct ctrace_outcome out;

	ctrace_component_delete(&(struct ctrace_delete){ CTRACE_DELETE_INIT, .name = KV_COMPONENT },
				&out);
	is_done("DELETE " KV_COMPONENT, &out);
}
