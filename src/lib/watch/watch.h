/*
 * lib/watch/watch.h - follows the rings of this process for the events that triggers wait for,
 * and does what they say.
 *
 *     watch.c       the rows, and the thread that follows the rings
 *     watch_span.c  pairs the two ends of spans
 *     watch_end.c   triggers on the end of the process
 *     watch_act.c   dump, stop, level, start, wto
 *     watch_run.c   starts a program
 *
 * The traced threads do nothing for it.  The thread reads beside the consumer: it frees nothing,
 * and what is overwritten before it comes is counted as missed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TRIGGER_WATCH_H
#define CT_TRIGGER_WATCH_H

#include "lib/control/control.h"
#include "lib/control/trigger.h"

/* ---- watch.c */
#define CT_WATCH_COMPONENT \
	"ctrace.trigger" /* of the events about triggers; no trigger matches them */
/* Takes the triggers of the settings; starts the thread when there is one.  A trigger whose text is
 * the same keeps its counts.  Under no lock; the process is attached, or about to be. */
void ct_trigger_update(void);
/* Lets a trigger that was enabled begin anew: its limit, its count and its time. */
void ct_trigger_begin_anew(struct ct_span name);
/* Looks at the rings once more, does what is to be done, and ends the thread.  Waits for at most
 * that long. */
void ct_trigger_stop(uint64_t timeout_ns);
/* around fork */
void ct_trigger_lock(void);
void ct_trigger_unlock(void);
/* In a forked child, which has no such thread: the triggers stay, and begin to count anew. */
void ct_trigger_forked(void);
/* The state of a trigger, for operators. */
struct ct_trigger_state {
	char name[CT_TRIGGER_NAME + 1];
	char text[CT_TRIGGER_TEXT + 1];
	bool is_disabled;  /* it was set or changed so */
	bool is_used_up;   /* it has acted as often as its limit: it does no more */
	uint64_t matches;  /* events that matched */
	uint64_t unlike;   /* events that have no such item as the filter compares */
	uint64_t acts;     /* how often it acted */
	uint64_t acted_ns; /* the last time, since 1970; 0: never */
	char report[256];  /* the result then */
	bool has_failed;   /* of the last time */
};
/* False past the last.  *out_missed: events of all rings that nobody could look at. */
bool ct_trigger_state_at(uint32_t index, struct ct_trigger_state *out, uint64_t *out_missed);

/* ---- watch_span.c: on the thread, under the lock */
#define CT_WATCH_SPANS 1024u /* of a trigger: the oldest beginning is forgotten beyond */
struct ct_watch_mark {
	uint64_t key; /* two ends of one span have the same */
	uint64_t ticks;
	bool is_end;
	bool fits; /* an end that the whole filter fits */
	uint32_t event_id, level, tid;
};
struct ct_watch_spans;
/* The key of the span that the event begins or ends.  Returns false when it lacks the item. */
bool ct_watch_span_key(const struct ct_trigger *trigger, const struct ct_trigger_event *event,
		       uint64_t *out_key);
/* Returns NULL without memory. */
struct ct_watch_spans *ct_watch_spans_create(void);
/* Forgets all; accepts NULL. */
void ct_watch_spans_clear(struct ct_watch_spans *spans);
/* Returns true and the other end of the span, which no longer waits: the newest with this key.
 * Otherwise the mark waits. */
bool ct_watch_spans_pair(struct ct_watch_spans *spans, const struct ct_watch_mark *mark,
			 struct ct_watch_mark *out_other);

/* ---- watch_act.c: called by the trigger thread, or by the thread that ends the process, without a
 * lock */
struct ct_trigger_fired {
	char name[CT_TRIGGER_NAME + 1];
	uint32_t action_count;
	struct ct_trigger_action action[CT_TRIGGER_ACTIONS];
	bool is_exit;                             /* there is no event */
	int status;                               /* then: the process's */
	char component[CTRACE_MAX_COMPONENT + 1]; /* of the event; "": none */
	uint32_t event_id, level, tid;
	uint64_t span_ns; /* of a span; 0: none */
};
/* Does it all, in order.  Returns false when something failed; report: what was done, one line. */
bool ct_trigger_act(const struct ct_trigger_fired *fired, char report[256]);

/* ---- watch.c, for watch_end.c: takes the lock */
/* The next enabled trigger that fits this exit status, from *at on, which then is behind it.
 * Returns false when there is none. */
bool ct_trigger_take_exit(int status, uint32_t *at, struct ct_trigger_fired *out);
/* Do enabled triggers wait for a fatal signal, and for an exit status? */
void ct_trigger_find_ends(bool *out_has_signal, bool *out_has_exit);

/* ---- watch_end.c */
/* Installs the handlers that the triggers need.  Under no lock. */
void ct_watch_end_follow(void);
/* In a forked child. */
void ct_watch_end_forked(void);
/* Sets back the levels whose time is over; is_end: all. */
void ct_trigger_set_back(bool is_end);
bool ct_trigger_has_levels(void);    /* is there one to set back? */
void ct_trigger_forget_levels(void); /* in a forked child, which has its parent's levels */

/* ---- watch_run.c */
/* Runs a program that belongs to nobody, with at most five words, NULL behind them; it gets no
 * descriptor and no signal mask of this process.  Returns 0, or an errno. */
int ct_trigger_run(const char *path, char *const words[]);
/* On the trigger thread: takes the ends of children that keep such programs.  Returns true while
 * there are any. */
bool ct_trigger_collect(void);
/* In a forked child, which has none of them. */
void ct_trigger_forget_programs(void);

#endif
