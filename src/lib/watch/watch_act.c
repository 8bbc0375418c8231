/*
 * watch_act.c - what a trigger does.
 *
 * On the trigger thread, under no lock: callbacks and start/stop routines of the program may be
 * called from here, as for an operator's command.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/watch/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/component/component.h"
#include "lib/dump/crash.h"
#include "lib/dump/dump.h"
#include "lib/process/aside.h"
#include "lib/process/message_log.h"
#include "lib/process/process.h"

#define LEVELS CT_TRIGGER_LIMIT /* components whose level is set for a time */

/* Event ids of CT_WATCH_COMPONENT. */
enum { EVENT_ACTED = 1, EVENT_FAILED = 2, EVENT_WTO = 3 };

static void report_add(char report[256], const char *text)
{
	size_t size = strlen(report);

	(void)snprintf(report + size, 256 - size, "%s%s", size != 0 ? ", " : "", text);
}

/* ---- dump ---- */

static bool act_dump(const struct ct_trigger_fired *fired, char report[256])
{
	char path[4096], reason[sizeof "trigger " + CT_TRIGGER_NAME], details[512], text[200];
	char span[64] = "";
	const struct ct_dump_request request = {
		.title = "", .reason = reason, .details = details, .may_be_empty = fired->is_exit
	};
	enum ctrace_status status;
	uint64_t events;

	(void)snprintf(reason, sizeof reason, "trigger %s", fired->name);
	if (fired->span_ns != 0)
		(void)snprintf(span, sizeof span, "span: %llu ns\n",
			       (unsigned long long)fired->span_ns);
	if (fired->is_exit)
		(void)snprintf(details, sizeof details, "trigger: %s\nexit: %d\n", fired->name,
			       fired->status);
	else
		(void)snprintf(details, sizeof details,
			       "trigger: %s\nevent: %.255s %u %s\nthread: %u\n%s", fired->name,
			       fired->component, fired->event_id, ct_level_name(fired->level),
			       fired->tid, span);
	status = ct_dump_own(&request, path, sizeof path, &events);
	if (status == CTRACE_OK) {
		const char *slash = strrchr(path, '/');

		(void)snprintf(text, sizeof text, "dump %.120s of %llu events",
			       slash != NULL ? slash + 1 : path, (unsigned long long)events);
	} else if (status == CTRACE_OUTPUT_ERROR) {
		(void)snprintf(text, sizeof text, "no dump: %s", strerrorname_np(errno));
	} else {
		(void)snprintf(text, sizeof text, "no dump: %s",
			       status == CTRACE_NOT_FOUND ? "no ring holds an event"
							  : ctrace_status_text(status));
	}
	if (status != CTRACE_OK && fired->is_exit)
		ct_crash_leave(reason);
	report_add(report, text);
	return status == CTRACE_OK;
}

/* ---- levels ---- */

/* Levels that are set for a time.  The trigger thread's own. */
static struct {
	uint64_t until_ns; /* 0: free */
	uint32_t before;   /* its own level, or CT_LEVEL_UNSET */
	uint32_t level;    /* the one that was set */
	char component[CTRACE_MAX_COMPONENT + 1];
} levels[LEVELS];

static enum ctrace_status level_set(const char *component, uint32_t level)
{
	const struct ct_command command = { .verb = CT_VERB_LEVEL,
					    .component = { component, strlen(component) },
					    .level = level };

	return ct_apply(ct_process.target, &command);
}

/* The level that the component itself has. */
static uint32_t level_own(const char *component)
{
	uint32_t index;

	if (ct_registry_find_any(ct_process.registry, component, strlen(component), &index) !=
	    CTRACE_OK)
		return CT_LEVEL_UNSET;
	return ct_registry_configured(ct_process.registry, index).level;
}

static bool act_level_for(const struct ct_trigger_fired *fired,
			  const struct ct_trigger_action *action, char report[256])
{
	uint32_t at = LEVELS;
	char text[80];

	for (uint32_t i = 0; i < LEVELS; i++) {
		bool is_it = levels[i].until_ns != 0 &&
			     strcmp(levels[i].component, fired->component) == 0;

		if (is_it || (at == LEVELS && levels[i].until_ns == 0))
			at = i;
		if (is_it)
			break;
	}
	if (at == LEVELS) {
		report_add(report, "no level: too many are set for a time");
		return false;
	}
	if (levels[at].until_ns == 0) {
		levels[at].before = level_own(fired->component);
		memcpy(levels[at].component, fired->component, sizeof levels[at].component);
	}
	levels[at].level = action->level;
	levels[at].until_ns = ct_clock_mono_ns() + action->ns;
	if (level_set(fired->component, action->level) != CTRACE_OK) {
		levels[at].until_ns = 0;
		report_add(report, "the level cannot be set");
		return false;
	}
	(void)snprintf(text, sizeof text, "level %s for a time", ct_level_name(action->level));
	report_add(report, text);
	return true;
}

void ct_trigger_set_back(bool is_end)
{
	uint64_t now_ns = ct_clock_mono_ns();

	for (uint32_t i = 0; i < LEVELS; i++) {
		if (levels[i].until_ns == 0 || (!is_end && now_ns < levels[i].until_ns))
			continue;
		levels[i].until_ns = 0;
		/* Somebody has changed it since: that holds. */
		if (level_own(levels[i].component) == levels[i].level)
			(void)!level_set(levels[i].component, levels[i].before);
	}
}

bool ct_trigger_has_levels(void)
{
	for (uint32_t i = 0; i < LEVELS; i++)
		if (levels[i].until_ns != 0)
			return true;
	return false;
}

void ct_trigger_forget_levels(void)
{
	memset(levels, 0, sizeof levels);
}

static bool act_stop(const struct ct_trigger_fired *fired, char report[256])
{
	bool is_good = level_set(fired->component, CTRACE_LEVEL_NONE) == CTRACE_OK;

	report_add(report, is_good ? "stopped" : "the trace cannot be stopped");
	return is_good;
}

/* ---- start ---- */

/* As TRACE CT,ON; a component without a component trace gets the level debug. */
static bool act_start(const struct ct_trigger_action *action, char report[256])
{
	struct ct_trace_command command = { .request = { .state = CTRACE_CT_ON } };
	struct ctrace_outcome outcome = { .rc = CTRACE_RC_OK };
	bool is_good;
	char text[200];

	memcpy(command.name, action->text, strlen(action->text) + 1);
	is_good = ct_trace_ct(&command, &outcome) < CTRACE_RC_REFUSED;
	if (!is_good && CTRACE_REASON(outcome.rsncode) == CTRACE_RSN_NOT_DEFINED)
		is_good = level_set(action->text, CTRACE_DEBUG) == CTRACE_OK;
	(void)snprintf(text, sizeof text, "%s %.128s", is_good ? "started" : "cannot start",
		       action->text);
	report_add(report, text);
	return is_good;
}

/* ---- run ---- */

static bool act_run(const struct ct_trigger_fired *fired, const struct ct_trigger_action *action,
		    char report[256])
{
	char pid[16], event[16], path[CT_TRIGGER_WORD + 1], name[CT_TRIGGER_NAME + 1];
	char component[CTRACE_MAX_COMPONENT + 1];
	char *words[] = { path, name, pid, component, event, NULL };
	char text[200];
	int error;

	if (!__atomic_load_n(&ct_process.settings.runs_programs, __ATOMIC_RELAXED)) {
		report_add(report,
			   "no program: ctrace.run.programs = on is not in the configuration");
		return false;
	}
	(void)snprintf(path, sizeof path, "%s", action->text);
	(void)snprintf(name, sizeof name, "%s", fired->name);
	(void)snprintf(pid, sizeof pid, "%u", ct_process.session.head->pid);
	(void)snprintf(component, sizeof component, "%s", fired->component);
	(void)snprintf(event, sizeof event, "%u", fired->event_id);
	error = ct_trigger_run(path, words);
	(void)snprintf(text, sizeof text, "%s %.128s%s%s", error == 0 ? "ran" : "cannot run",
		       action->text, error != 0 ? ": " : "",
		       error != 0 ? strerrorname_np(error) : "");
	report_add(report, text);
	return error == 0;
}

/* ---- all of it ---- */

static bool action_do(const struct ct_trigger_fired *fired, const struct ct_trigger_action *action,
		      char report[256])
{
	switch (action->act) {
	case CT_TRIGGER_DUMP:
		return act_dump(fired, report);
	case CT_TRIGGER_STOP:
		return act_stop(fired, report);
	case CT_TRIGGER_LEVEL_FOR:
		return act_level_for(fired, action, report);
	case CT_TRIGGER_START:
		return act_start(action, report);
	case CT_TRIGGER_RUN:
		return act_run(fired, action, report);
	case CT_TRIGGER_WTO:
		report_add(report, "message");
		return true;
	}
	return false;
}

/* An event of the component CT_WATCH_COMPONENT: the trigger, what it did, and the event that
 * matched.
 */
static void note_event(const struct ct_trigger_fired *fired, bool has_wto, bool is_good,
		       const char *report)
{
	struct ctrace_item items[] = { CTRACE_STR(fired->name), CTRACE_STR(report),
				       CTRACE_STR(fired->component), CTRACE_U32(fired->event_id) };
	struct ctrace_tracer *tracer;

	if (ctrace_tracer_get(CT_WATCH_COMPONENT, &tracer) != CTRACE_OK)
		return;
	(void)!ctrace_emit(tracer, !is_good || has_wto ? CTRACE_WARN : CTRACE_INFO,
			   !is_good  ? EVENT_FAILED
			   : has_wto ? EVENT_WTO
				     : EVENT_ACTED,
			   items, CT_COUNT(items));
}

struct message {
	struct ct_aside aside;
	char text[512];
};

static void message_run(struct ct_aside *self)
{
	const char *text = ((struct message *)(void *)self)->text;
	char user[CT_USER_NAME];

	ct_message_log_console(text);
	ct_user_name(geteuid(), user);
	ct_message_log_hardcopy(user, ct_process.session.head->pid, ' ', text);
}

static void message_write(const char *text)
{
	struct message *message = malloc(sizeof *message);

	if (message == NULL)
		return;
	message->aside = (struct ct_aside){ .work = message_run };
	(void)snprintf(message->text, sizeof message->text, "%s", text);
	if (ct_aside_run(&message->aside))
		free(message);
}

/* A name that SLIP can have is that of a trap, whoever has set it: D SLIP lists it. */
static void note_message(const struct ct_trigger_fired *fired, const char *report)
{
	const struct ct_session_head *head = ct_process.session.head;
	char process[CT_MESSAGE_LOG_PROCESS], text[512];

	if (strlen(fired->name) <= CT_TRIGGER_SLIP_ID) {
		(void)snprintf(text, sizeof text,
			       "IEA992I SLIP TRAP ID=%s MATCHED.  JOBNAME=%.15s, ASID=%04X.",
			       fired->name, head->jobname, (unsigned)head->asid);
		message_write(text);
	}
	ct_message_log_process(process);
	(void)snprintf(text, sizeof text, "CTR035I TRIGGER %s OF %s: %s", fired->name, process,
		       report);
	message_write(text);
}

bool ct_trigger_act(const struct ct_trigger_fired *fired, char report[256])
{
	bool is_good = true, has_wto = false;

	report[0] = '\0';
	for (uint32_t i = 0; i < fired->action_count; i++) {
		is_good &= action_do(fired, &fired->action[i], report);
		has_wto |= fired->action[i].act == CT_TRIGGER_WTO;
	}
	note_event(fired, has_wto, is_good, report);
	note_message(fired, report);
	return is_good;
}
