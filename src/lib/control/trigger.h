/*
 * lib/control/trigger.h - a trigger: what to watch for, how often, and what to do.
 *
 *     trigger_parse.c   the value of the key ctrace.trigger.NAME
 *     trigger_match.c   an event against a trigger's tests
 *     trigger_list.c    the triggers of a process, as texts
 *
 * Pure; any thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_CONTROL_TRIGGER_H
#define CT_CONTROL_TRIGGER_H

#include "base/base.h"
#include "lib/registry/registry.h"
#include <ctrace/event.h>

#define CT_TRIGGER_TESTS 8u   /* comparisons of a filter */
#define CT_TRIGGER_RANGES 8u  /* values and ranges of a comparison */
#define CT_TRIGGER_ACTIONS 4u /* of a trigger */
#define CT_TRIGGER_WORD 128u  /* bytes of a text in a filter, and of an action's operand */
#define CT_TRIGGER_COUNT_MAX 1000000000u

__extension__ typedef __int128 ct_trigger_number; /* signed and unsigned numbers of 64 bits */

enum ct_trigger_field {
	CT_TRIGGER_COMPONENT,
	CT_TRIGGER_LEVEL,
	CT_TRIGGER_EVENT,
	CT_TRIGGER_THREAD,
	CT_TRIGGER_DATA,
	CT_TRIGGER_STATUS /* of the process's exit */
};
/* What a trigger waits for. */
enum ct_trigger_cause {
	CT_TRIGGER_ON_EVENT,
	CT_TRIGGER_ON_SIGNAL, /* a fatal one; no tests */
	CT_TRIGGER_ON_EXIT    /* one test */
};
struct ct_trigger_test {
	enum ct_trigger_field field;
	bool is_text;     /* `text`, else the ranges */
	bool is_glob;     /* `text` is a pattern */
	bool is_inverted; /* != and !~ */
	bool is_any;      /* data: any item, else the item number `item`, from 0 */
	uint32_t item;
	uint32_t range_count;
	struct {
		ct_trigger_number first, last; /* inclusive */
	} range[CT_TRIGGER_RANGES];
	char text[CT_TRIGGER_WORD + 1];
	size_t text_size;
};

enum ct_trigger_act {
	CT_TRIGGER_DUMP,
	CT_TRIGGER_STOP,      /* the event's component gets the level none */
	CT_TRIGGER_LEVEL_FOR, /* the event's component has `level` for `ns` */
	CT_TRIGGER_START,     /* `text`: a component */
	CT_TRIGGER_RUN,       /* `text`: the path of a program */
	CT_TRIGGER_WTO
};
struct ct_trigger_action {
	enum ct_trigger_act act;
	uint32_t level;
	uint64_t ns;
	char text[CT_TRIGGER_WORD + 1];
};

/* What a text asks for.  All but the first are one word, and have nothing else. */
enum ct_trigger_change {
	CT_TRIGGER_SET,
	CT_TRIGGER_OFF,    /* "off": there is no such trigger */
	CT_TRIGGER_ENABLE, /* "enable", "disable": the trigger stays, and may act or may not */
	CT_TRIGGER_DISABLE
};

struct ct_trigger {
	enum ct_trigger_change change;
	enum ct_trigger_cause cause;
	bool is_disabled; /* "disabled" precedes "when" */
	uint32_t begin;   /* where "when" begins in the text */
	uint32_t test_count;
	struct ct_trigger_test test[CT_TRIGGER_TESTS]; /* all must hold */
	/* The event ends a span that `begin_id` of the same component began: the innermost of its
	 * thread, or the last one with the same value in the item. */
	bool has_span;
	struct {
		uint32_t begin_id;
		bool is_by_item;
		uint32_t item;                 /* from 0 */
		ct_trigger_number first, last; /* of its duration in ns, inclusive */
	} span;
	uint64_t count;    /* it acts at the n-th match; 0: at each */
	uint64_t rate;     /* it acts when so many match within a second; 0: no such condition */
	uint64_t limit;    /* it acts at most so often; 0: no limit */
	uint64_t every_ns; /* it acts at most once in this time; 1 s unless it says so */
	uint32_t action_count;
	struct ct_trigger_action action[CT_TRIGGER_ACTIONS];
};

/* ---- trigger_parse.c: "[disabled] when FILTER [span ID [by dataN] > TIME] [count N] [rate
 * N/s] [once | every TIME] do ACTION[, ACTION]", "when signal do dump", "when exit != 0 do ACTION",
 * or a word of enum ct_trigger_change. SYNTAX_ERROR: the diagnostic's column is one of the text. */
enum ctrace_status ct_trigger_parse(const char *text, size_t size, struct ct_trigger *out,
				    struct ct_diagnostic *out_diagnostic) CT_MUST_USE;
/* A name is 1 to CT_TRIGGER_NAME letters, digits, _ and -. */
bool ct_trigger_name_is_good(const char *name, size_t size);

/* ---- trigger_match.c */
struct ct_trigger_event {
	const char *component; /* terminated */
	size_t component_size;
	uint32_t level, event_id, tid;
	uint32_t item_count;
	const struct ctrace_event_item *items;
};
/* Do all tests of the component, the level and the event's id hold?  The items need not be there.
 */
bool ct_trigger_fits_head(const struct ct_trigger *trigger, const struct ct_trigger_event *event);
/* Do all the others hold too? */
bool ct_trigger_fits_items(const struct ct_trigger *trigger, const struct ct_trigger_event *event);
/* Does a trigger on the exit fit this status? */
bool ct_trigger_fits_exit(const struct ct_trigger *trigger, int status);
/* Does the event lack an item of the kind that a test compares: a number, or a text?  Then it fits
 * neither the test nor its opposite. */
bool ct_trigger_lacks_item(const struct ct_trigger *trigger, const struct ct_trigger_event *event);
/* Does it run a program? */
bool ct_trigger_runs(const struct ct_trigger *trigger);
/* Does it need the items? */
bool ct_trigger_has_items(const struct ct_trigger *trigger);
/* Do the tests of the component hold, and those of the event's id?  The latter are tests of the end
 * of a span, whatever else is compared there. */
bool ct_trigger_fits_component(const struct ct_trigger *trigger,
			       const struct ct_trigger_event *event);
bool ct_trigger_fits_id(const struct ct_trigger *trigger, const struct ct_trigger_event *event);

/* ---- trigger_list.c */
/* Sets, replaces, changes or removes a trigger.  SYNTAX_ERROR: the text is no trigger.
 * NOT_ENOUGH_MEMORY: there are CT_TRIGGER_LIMIT already.  NOT_FOUND: there is none to change or to
 * remove. */
enum ctrace_status ct_trigger_list_set(struct ct_trigger_list *list, struct ct_span name,
				       struct ct_span text) CT_MUST_USE;

#endif
