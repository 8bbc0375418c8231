/*
 * operate_member.c - requests from outside: of members of the groups of ctrace.operators and
 * ctrace.operators.display, and those that ctrace respond carries out for other machines.
 *
 * Runs on the control thread.  The table in session/right.h says which party may ask what.  Here a
 * message becomes a row of the table; a destination has to be one that the configuration names.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/operate.h"

#include <stdio.h>
#include <string.h>

#include "lib/component/component.h"
#include "lib/control/trigger.h"
#include "lib/process/message_log.h"
#include "session/right.h"
#include "session/socket.h"

#define DESCRIBED 1024u /* bytes of a command in a log: a trigger's text and a name fit */
#define NS_PER_SECOND 1000000000u
#define LOGGED_A_SECOND 20u /* requests of all members together */

/* ---- groups ---- */

static void groups_get(struct ct_operators *out_operators, struct ct_operators *out_displayers)
{
	ct_registry_lock(ct_process.registry);
	*out_operators = ct_process.settings.operators;
	*out_displayers = ct_process.settings.displayers;
	ct_registry_unlock(ct_process.registry);
}

bool ct_operate_admit(int fd, struct ct_member *member)
{
	struct ct_operators operators, displayers;

	groups_get(&operators, &displayers);
	member->commands = operators.gid != 0 && ct_socket_peer_is_in(fd, operators.gid);
	return member->commands ||
	       (displayers.gid != 0 && ct_socket_peer_is_in(fd, displayers.gid));
}

void ct_operate_share(void)
{
	struct ct_operators operators, displayers;

	groups_get(&operators, &displayers);
	(void)!ct_session_share(&ct_process.session,
				displayers.gid != 0 ? displayers.gid : operators.gid);
}

/* ---- authority ---- */

static bool text_runs(struct ct_span text, enum ct_trigger_change *out_change)
{
	struct ct_diagnostic ignored;
	struct ct_trigger trigger;

	*out_change = CT_TRIGGER_SET;
	if (ct_trigger_parse(text.at, text.size, &trigger, &ignored) != CTRACE_OK)
		return false; /* it is refused as no trigger */
	*out_change = trigger.change;
	return ct_trigger_runs(&trigger);
}

/* Does the trigger that has this name now run a program? */
static bool known_trigger_runs(struct ct_span name)
{
	const struct ct_trigger_list *list = &ct_process.settings.triggers;
	char text[CT_TRIGGER_TEXT + 1] = "";
	enum ct_trigger_change ignored;

	ct_registry_lock(ct_process.registry);
	for (uint32_t i = 0; i < list->count; i++)
		if (ct_name_is(name.at, name.size, list->entry[i].name))
			memcpy(text, list->entry[i].text, sizeof list->entry[i].text);
	ct_registry_unlock(ct_process.registry);
	return text_runs((struct ct_span){ text, strlen(text) }, &ignored);
}

/* With this request, may the process run a program that it would not run otherwise? */
static bool trigger_runs(const struct ct_message *request)
{
	enum ct_trigger_change change;

	return text_runs(ct_message_find(request, CT_FIELD_VALUE), &change) ||
	       (change == CT_TRIGGER_ENABLE &&
		known_trigger_runs(ct_message_find(request, CT_FIELD_COMPONENT)));
}

/* A preset is a file in the run directory, for programs that start later. */
static bool trace_ct_is_for_later(const struct ct_message *request)
{
	uint64_t state = ct_message_number(request, CT_FIELD_STATE, CTRACE_CT_NONE);

	return state == CTRACE_CT_PRESET_PUT || state == CTRACE_CT_PRESET_DELETE;
}

/* Returns false if a name in the list is not a destination that the configuration names. */
static bool list_is_named(struct ct_span list)
{
	struct ct_span name;
	uint32_t emitter;

	while (ct_config_next_word(&list, &name))
		if (ct_emitter_find_known(name.at, name.size, &emitter) != CTRACE_OK ||
		    !ct_dest_is_named(ct_process.registry, emitter))
			return false;
	return true;
}

/* DEST=(...) among the options chooses destinations, unless a program has defined the trace: then
 * the options are for its routine. */
static bool options_are_named(const struct ct_message *request)
{
	struct ct_span name = ct_message_find(request, CT_FIELD_COMPONENT);
	uint32_t component;

	if (ct_registry_find_any(ct_process.registry, name.at, name.size, &component) ==
		    CTRACE_OK &&
	    (__atomic_load_n(&ct_registry_entry(ct_process.registry, component)->flags,
			     __ATOMIC_ACQUIRE) &
	     CT_COMPONENT_DEFINED) != 0)
		return true;
	return ct_builtin_dests_each(ct_message_find(request, CT_FIELD_OPTIONS), list_is_named);
}

static enum ct_right dest_right(const struct ct_message *request)
{
	struct ct_span emitter = ct_message_find(request, CT_FIELD_EMITTER);
	struct ct_span list = ct_message_find(request, CT_FIELD_LIST);

	if (list.at == NULL && emitter.at == NULL)
		return CT_RIGHT_DEST_SHOW;
	if (request->verb != CT_VERB_DEST_REMOVE &&
	    !list_is_named(list.at != NULL ? list : emitter))
		return CT_RIGHT_DEST_OTHER;
	return CT_RIGHT_DEST;
}

static enum ct_right trace_right(const struct ct_message *request)
{
	if (trace_ct_is_for_later(request))
		return CT_RIGHT_TRACE_LATER;
	return options_are_named(request) ? CT_RIGHT_TRACE : CT_RIGHT_DEST_OTHER;
}

static enum ct_right request_right(const struct ct_message *request)
{
	switch (request->verb) {
	case CT_VERB_IDENTIFY:
		return CT_RIGHT_IDENTIFY;
	case CT_VERB_DISPLAY:
		return CT_RIGHT_DISPLAY;
	case CT_VERB_TRIGGER_LIST:
		return CT_RIGHT_TRIGGER_LIST;
	case CT_VERB_LEVEL:
		return ct_message_find(request, CT_FIELD_LEVEL).at == NULL ? CT_RIGHT_LEVEL_SHOW
									   : CT_RIGHT_LEVEL;
	case CT_VERB_DEST_ADD:
	case CT_VERB_DEST_REMOVE:
	case CT_VERB_DEST_SET:
		return dest_right(request);
	case CT_VERB_PROPERTY_GET:
		return ct_message_find(request, CT_FIELD_EMITTER).at == NULL
			       ? CT_RIGHT_PROPERTY_SHOW
			       : CT_RIGHT_EMITTER_SHOW;
	case CT_VERB_TRACE_CT:
		return trace_right(request);
	case CT_VERB_COMPONENT_PROPERTY:
		return CT_RIGHT_PROPERTY;
	case CT_VERB_EMITTER_PROPERTY:
		return CT_RIGHT_EMITTER;
	case CT_VERB_FLUSH:
		return CT_RIGHT_FLUSH;
	case CT_VERB_ROTATE:
		return CT_RIGHT_ROTATE;
	case CT_VERB_WRITER_UP:
		return CT_RIGHT_WRITER_UP;
	case CT_VERB_RELOAD:
		return ct_message_find(request, CT_FIELD_VALUE).size == 0 ? CT_RIGHT_RELOAD
									  : CT_RIGHT_RELOAD_PATH;
	case CT_VERB_TRIGGER:
		return trigger_runs(request) ? CT_RIGHT_TRIGGER_RUN : CT_RIGHT_TRIGGER;
	default:
		return CT_RIGHT_OTHER;
	}
}

static const char *verb_name(enum ct_verb verb)
{
	static const struct {
		enum ct_verb verb;
		const char *name;
	} names[] = {
		{ CT_VERB_LEVEL, "level" },
		{ CT_VERB_DEST_ADD, "dest add" },
		{ CT_VERB_DEST_REMOVE, "dest remove" },
		{ CT_VERB_DEST_SET, "dest set" },
		{ CT_VERB_PROPERTY_GET, "prop" },
		{ CT_VERB_COMPONENT_PROPERTY, "prop" },
		{ CT_VERB_EMITTER_PROPERTY, "prop" },
		{ CT_VERB_FLUSH, "flush" },
		{ CT_VERB_ROTATE, "rotate" },
		{ CT_VERB_RELOAD, "reload" },
		{ CT_VERB_TRIGGER, "trigger" },
		{ CT_VERB_TRIGGER_LIST, "trigger list" },
		{ CT_VERB_DISPLAY, "DISPLAY TRACE" },
		{ CT_VERB_WRITER_UP, "writer" },
		{ CT_VERB_TRACE_CT, "TRACE CT" },
	};

	for (size_t i = 0; i < CT_COUNT(names); i++)
		if (names[i].verb == verb)
			return names[i].name;
	return "an unknown command";
}

static void described_add(char text[DESCRIBED], const char *before, struct ct_span value,
			  const char *after)
{
	size_t size = strlen(text);

	if (value.size != 0)
		(void)snprintf(text + size, DESCRIBED - size, "%s%.*s%s", before, (int)value.size,
			       value.at, after);
}

static void describe_trace_ct(const struct ct_message *request, char out_text[DESCRIBED])
{
	static const char *const states[] = { "", "ON", "OFF", "LIKEHEAD", "PRESET", "PRESET" };
	uint64_t state = ct_message_number(request, CT_FIELD_STATE, 0);

	(void)snprintf(out_text, DESCRIBED, "TRACE CT,%s",
		       state < CT_COUNT(states) ? states[state] : "");
	described_add(out_text, ",COMP=", ct_message_find(request, CT_FIELD_COMPONENT), "");
	described_add(out_text, ",SUB=(", ct_message_find(request, CT_FIELD_SUB), ")");
	described_add(out_text, " WTR=", ct_message_find(request, CT_FIELD_WTR), "");
	described_add(out_text, " OPTIONS=(", ct_message_find(request, CT_FIELD_OPTIONS), ")");
}

/* The value of a property may be a password. */
static void request_describe(const struct ct_message *request, char out_text[DESCRIBED])
{
	static const enum ct_field fields[] = { CT_FIELD_COMPONENT, CT_FIELD_EMITTER,
						CT_FIELD_PROPERTY, CT_FIELD_LIST, CT_FIELD_VALUE };
	const char *level;

	if (request->verb == CT_VERB_TRACE_CT) {
		describe_trace_ct(request, out_text);
		return;
	}
	(void)snprintf(out_text, DESCRIBED, "%s", verb_name(request->verb));
	for (size_t i = 0; i < CT_COUNT(fields); i++)
		if (fields[i] != CT_FIELD_VALUE || request->verb != CT_VERB_EMITTER_PROPERTY)
			described_add(out_text, " ", ct_message_find(request, fields[i]), "");
	if (request->verb == CT_VERB_LEVEL && ct_message_find(request, CT_FIELD_LEVEL).at != NULL) {
		level = ct_level_name(
			(uint32_t)ct_message_number(request, CT_FIELD_LEVEL, CT_LEVEL_UNSET));
		described_add(out_text, " ", (struct ct_span){ level, strlen(level) }, "");
	}
}

/* ---- refusals ---- */

static void refuse(const struct ct_message *request, const char *user, enum ct_right right,
		   struct ct_buf *out)
{
	struct ct_operators operators, displayers;
	const char *advice = ct_right_advice(right);
	char owner[CT_USER_NAME], text[CT_ANSWER_TEXT];

	groups_get(&operators, &displayers);
	ct_user_name(geteuid(), owner);
	if (right == CT_RIGHT_DEST_OTHER)
		(void)snprintf(text, sizeof text,
			       "%s is refused to user %s: it has %s; user %s may %s, or root",
			       verb_name(request->verb), user, ct_right_name(right), owner, advice);
	else if (!ct_right_has(right, CT_PARTY_MEMBER))
		(void)snprintf(
			text, sizeof text,
			"%s is refused to user %s: members of %s may not name files, programs and servers, nor "
			"command programs that start later; ask user %s, or root",
			verb_name(request->verb), user,
			operators.gid != 0    ? operators.name
			: displayers.gid != 0 ? displayers.name
					      : "ctrace.operators",
			owner);
	else
		(void)snprintf(
			text, sizeof text,
			"%s is refused to user %s, who may only display: ctrace.operators.display = %s; ask %s%s%suser "
			"%s, or root",
			verb_name(request->verb), user, displayers.name,
			operators.gid != 0 ? "a member of " : "",
			operators.gid != 0 ? operators.name : "", operators.gid != 0 ? ", " : "",
			owner);
	ct_answer_whole(out, request->verb, CTRACE_DENIED, text);
}

/* ---- the log ---- */

/* Prints the message, or else the status, of the answer that begins at `start`. */
static void answer_describe(const struct ct_buf *out, size_t start, char text[DESCRIBED])
{
	struct ct_message answer;
	struct ct_span message = { NULL, 0 };
	uint64_t status = CTRACE_DAMAGED;
	size_t size;

	if (!out->failed &&
	    ct_message_parse(out->data + start, out->size - start, &answer, &size) == CTRACE_OK) {
		status = ct_message_number(&answer, CT_FIELD_STATUS, CTRACE_DAMAGED);
		message = ct_message_find(&answer, CT_FIELD_MESSAGE);
	}
	if (message.size != 0)
		(void)snprintf(text, DESCRIBED, "%.*s", (int)message.size, message.at);
	else
		(void)snprintf(text, DESCRIBED, "%s",
			       status == CTRACE_OK ? "done"
			       : status < CTRACE_STATUS_COUNT
				       ? ctrace_status_text((enum ctrace_status)status)
				       : "not done");
}

/* A member must not fill the disk of the program's user.  Returns false when enough requests were
 * logged in this second.  On the control thread. */
static bool request_is_logged(const char *user, uint32_t pid)
{
	static uint64_t second_ns, logged, left_out;
	uint64_t now_ns = ct_clock_mono_ns();
	char text[64];

	if (now_ns - second_ns >= NS_PER_SECOND) {
		second_ns = now_ns;
		logged = 0;
		if (left_out != 0) {
			(void)snprintf(text, sizeof text, "%llu more requests were not logged",
				       (unsigned long long)left_out);
			ct_message_log_hardcopy(user, pid, ' ', text);
		}
		left_out = 0;
	}
	if (logged < LOGGED_A_SECOND)
		return ++logged != 0;
	left_out++;
	return false;
}

static void request_log(const struct ct_message *request, uint32_t pid, const char *user,
			bool is_display, const char *became)
{
	char command[DESCRIBED], process[CT_MESSAGE_LOG_PROCESS];
	char line[sizeof command + sizeof process + DESCRIBED + CT_USER_NAME + 64];

	if (!request_is_logged(user, pid))
		return;
	request_describe(request, command);
	ct_message_log_process(process);
	ct_message_log_hardcopy(user, pid, '>', command);
	(void)snprintf(line, sizeof line, "%s: %s", process, became);
	ct_message_log_hardcopy(user, pid, ' ', line);
	if (is_display)
		return;
	(void)snprintf(line, sizeof line, "CTR036I COMMAND OF USER %s FOR %s: %s: %s", user,
		       process, command, became);
	ct_message_log_console(line);
}

/* The sender of a request of another machine, as he claims: one word of the log. */
static void sender_name(const struct ct_message *request, char out[CT_USER_NAME])
{
	struct ct_span sender = ct_message_find(request, CT_FIELD_SENDER);
	size_t size;

	(void)snprintf(out, CT_USER_NAME, "claimed:%.*s", (int)sender.size,
		       sender.at != NULL ? sender.at : "");
	size = strlen(out);
	for (size_t i = 0; i < size; i++)
		if (out[i] <= ' ' || out[i] > '~')
			out[i] = '?';
}

static enum ct_party request_party(const struct ct_message *request, const struct ct_member *member)
{
	uint64_t party = ct_message_number(request, CT_FIELD_PARTY, CT_PARTY_OWNER);

	if (member != NULL)
		return member->commands ? CT_PARTY_MEMBER : CT_PARTY_MEMBER_DISPLAY;
	return party == CT_PARTY_HOST ? CT_PARTY_HOST : CT_PARTY_HOST_DISPLAY;
}

void ct_operate_outside(const struct ct_message *request, const struct ct_member *member,
			struct ct_buf *out)
{
	enum ct_right right = request_right(request);
	enum ct_party party = request_party(request, member);
	size_t start = out->size;
	char user[CT_USER_NAME], became[DESCRIBED];

	if (right == CT_RIGHT_DEST_OTHER && !ct_right_has(CT_RIGHT_DEST, party))
		right = CT_RIGHT_DEST; /* who only displays is told that */
	/* The question before each command is not logged. */
	if (request->verb == CT_VERB_IDENTIFY) {
		ct_operate_allowed(request, out);
		return;
	}
	if (member != NULL)
		ct_user_name(member->uid, user);
	else
		sender_name(request, user);
	if (ct_right_has(right, party))
		ct_operate_allowed(request, out);
	else
		refuse(request, user, right, out);
	answer_describe(out, start, became);
	request_log(request, member != NULL ? member->pid : 0, user,
		    ct_right_has(right, CT_PARTY_MEMBER_DISPLAY), became);
}

void ct_operate_member(const struct ct_message *request, const struct ct_member *member,
		       struct ct_buf *out, void *unused)
{
	(void)unused;
	ct_operate_outside(request, member, out);
}
