/*
 * status.c - every status and every reason for a loss, as a word and as a sentence.
 *
 * Pure look-ups in static tables; any thread, also in a signal handler.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/status.h>

#include "base/base.h"
#include <ctrace/event.h>

struct status_row {
	const char *name;
	const char *text;
};

static const struct status_row statuses[CTRACE_STATUS_COUNT] = {
	[CTRACE_OK] = { "SUCCESS", "done" },
	[CTRACE_FAILURE] = { "FAILURE", "the callback could not be installed or removed" },
	[CTRACE_NOT_ENOUGH_MEMORY] = { "NOT_ENOUGH_MEMORY",
				       "there is not enough memory, or the event has over 4,096 items, over 65,536 bytes in one, or over half of its ring: ctrace.buffer makes rings larger" },
	[CTRACE_INVALID_COMPONENT_NAME] = { "INVALID_COMPONENT_NAME",
					    "a component name has 1 to 255 bytes and no empty part between dots" },
	[CTRACE_INVALID_EMITTER_NAME] = { "INVALID_EMITTER_NAME",
					  "an emitter name has 1 to 31 bytes" },
	[CTRACE_INVALID_PROP_NAME] = { "INVALID_PROP_NAME", "a property name has 1 to 255 bytes" },
	[CTRACE_INVALID_TRACE_HANDLE] = { "INVALID_TRACE_HANDLE",
					  "this is not a handle that CBL_CTF_TRACER_GET gave" },
	[CTRACE_INVALID_TRACE_LEVEL] = { "INVALID_TRACE_LEVEL",
					 "a level is 0 (debug) to 4 (fatal)" },
	[CTRACE_EMITTER_NOT_FOUND] = { "EMITTER_NOT_FOUND",
				       "there is no such emitter, or it is not in the list" },
	[CTRACE_PROPERTY_NOT_FOUND] = { "PROPERTY_NOT_FOUND", "the property was never set" },
	[CTRACE_BUFFER_TOO_SMALL] = { "BUFFER_TOO_SMALL", "the buffer is too small for the value" },
	[CTRACE_NOT_TRACE_ENABLED] = { "NOT_TRACE_ENABLED",
				       "the component is not enabled for tracing" },
	[CTRACE_NOT_TRACING_LEVEL] = { "NOT_TRACING_LEVEL",
				       "the event's level is below the component's threshold" },
	[CTRACE_OUTPUT_ERROR] = { "OUTPUT_ERROR",
				  "a destination is failing; the event waits and is tried again" },
	[CTRACE_TIMED_OUT] = { "TIMED_OUT", "it took longer than the time given" },
	[CTRACE_SYNTAX_ERROR] = { "SYNTAX_ERROR", "the text has an error" },
	[CTRACE_NOT_FOUND] = { "NOT_FOUND", "there is no such file, process or trace" },
	[CTRACE_DAMAGED] = { "DAMAGED", "the bytes are not what they should be" },
	[CTRACE_DENIED] = { "DENIED",
			    "permission denied, a link in the way, or another user's file" },
	[CTRACE_OS_ERROR] = { "OS_ERROR", "the operating system refused" },
	[CTRACE_UNSUPPORTED] = { "UNSUPPORTED", "made by another version, or for another machine" },
};

static const char *const losses[CTRACE_LOSS_COUNT] = {
	[CTRACE_LOSS_DISCARDED] = "discarded", [CTRACE_LOSS_OVERWRITTEN] = "overwritten",
	[CTRACE_LOSS_STALLED] = "stalled",     [CTRACE_LOSS_TOO_LARGE] = "too-large",
	[CTRACE_LOSS_NESTED] = "nested",       [CTRACE_LOSS_NO_RING] = "no-ring",
	[CTRACE_LOSS_CLOSED] = "closed",       [CTRACE_LOSS_UNDELIVERABLE] = "undeliverable",
	[CTRACE_LOSS_DAMAGED] = "damaged",
};

const char *ctrace_status_name(enum ctrace_status status)
{
	return (unsigned)status < CTRACE_STATUS_COUNT ? statuses[status].name : "UNKNOWN";
}

const char *ctrace_status_text(enum ctrace_status status)
{
	return (unsigned)status < CTRACE_STATUS_COUNT ? statuses[status].text : "an unknown status";
}

const char *ctrace_loss_name(enum ctrace_loss reason)
{
	return (unsigned)reason < CTRACE_LOSS_COUNT ? losses[reason] : "unknown";
}
