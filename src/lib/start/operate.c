/*
 * operate.c - what a traced process does with an operator's request.
 *
 * Runs on the control thread, under no lock; routines and callbacks of the program may be called
 * from here.  A request that is not understood changes nothing, and every request is answered.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/operate.h"

#include <stdio.h>
#include <string.h>

#include "lib/component/writer_link.h"
#include "lib/watch/watch.h"

/* ---- DISPLAY TRACE: the matching traces in their present state ----
 *
 * A program with a hundred thousand sublevels is looked through in a few milliseconds; only what is
 * shown costs more, and that is bounded. */

#define NAME_LIMIT (2 * CTRACE_MAX_COMPONENT + 1)

struct wanted {
	struct ct_span name; /* a name, or a pattern in levels */
	bool is_all;
	uint64_t depth;
};

static bool answer_fits(struct ct_span wanted, struct ct_span name)
{
	return ct_glob_match_levels(wanted.at, wanted.size, name.at, name.size);
}

/* Does the name match, or one of its nearest `depth` ancestors? */
static bool trace_is_wanted(const struct wanted *wanted, struct ct_span name)
{
	if (wanted->is_all || answer_fits(wanted->name, name))
		return true;
	for (uint64_t depth = wanted->depth; depth > 0; depth--) {
		while (name.size > 0 && name.at[name.size - 1] != '.')
			name.size--;
		if (name.size == 0)
			return false;
		name.size--;
		if (answer_fits(wanted->name, name))
			return true;
	}
	return false;
}

/* The rings of the trace's channel.  Traces with the same settings share a channel. */
static void add_rings(struct ct_answer *answer, uint32_t index)
{
	uint32_t channel =
		ct_level_word_channel(&ct_registry_entry(ct_process.registry, index)->level_word);
	uint32_t count = ct_ring_pool_count(ct_process.pool);
	uint64_t rings = 0, bytes = 0;

	for (uint32_t i = 0; i < count && channel != 0; i++) {
		const struct ct_ring *ring = ct_ring_pool_at(ct_process.pool, i);

		if (ring->head->channel == channel && ct_ring_is_used(ring->head)) {
			rings++;
			bytes += ring->capacity;
		}
	}
	ct_message_add_number(answer->out, CT_FIELD_RINGS, rings);
	ct_message_add_number(answer->out, CT_FIELD_RING_BYTES, bytes);
	ct_message_add_number(answer->out, CT_FIELD_STORAGE,
			      ct_channel_at(ct_process.registry, channel).is_storage);
}

/* A trace may be deleted while we look: then it is not shown.  True when it was. */
static bool add_trace(struct ct_answer *answer, uint32_t index)
{
	struct ct_span name = ct_operate_name(index);
	struct ctrace_display display = { .size = sizeof display };
	char terminated[CTRACE_MAX_COMPONENT + 1];

	(void)snprintf(terminated, sizeof terminated, "%.*s", (int)name.size, name.at);
	if (ctrace_component_display(terminated, NULL, &display) != CTRACE_OK)
		return false;
	ct_answer_row(answer, name.size + sizeof display + 96);
	ct_message_add(answer->out, CT_FIELD_COMPONENT, name.at, name.size);
	ct_message_add(answer->out, CT_FIELD_DISPLAY, &display, sizeof display);
	ct_message_add_number(answer->out, CT_FIELD_ACTIVE,
			      display.writer[0] != '\0' && ct_writer_is_connected(display.writer));
	if (display.buffer_granted != 0)
		add_rings(answer, index);
	return true;
}

static uint64_t count_wanted(const struct wanted *wanted)
{
	uint64_t count = 0;

	for (uint32_t i = ct_operate_next_known(0); i != CT_COMPONENT_NONE;
	     i = ct_operate_next_known(i + 1))
		count += trace_is_wanted(wanted, ct_operate_name(i));
	return count;
}

static void add_traces(struct ct_answer *answer, const struct wanted *wanted)
{
	uint64_t shown = 0;

	for (uint32_t i = ct_operate_next_known(0);
	     i != CT_COMPONENT_NONE && shown < CT_OPERATE_ROWS; i = ct_operate_next_known(i + 1))
		if (trace_is_wanted(wanted, ct_operate_name(i)))
			shown += add_trace(answer, i);
}

/* A name of which only sublevels exist means all of them. */
static uint64_t count_or_descend(struct wanted *wanted)
{
	uint64_t count = count_wanted(wanted);

	if (count != 0 || ct_operate_is_glob(wanted->name) || !ct_operate_is_ancestor(wanted->name))
		return count;
	wanted->depth = NAME_LIMIT;
	return count_wanted(wanted);
}

static void answer_all(struct wanted *wanted, struct ct_buf *out)
{
	struct ct_answer answer;
	struct ct_buf message;
	uint64_t count = count_or_descend(wanted);

	ct_buf_init(&message);
	ct_answer_begin(&answer, out, CT_VERB_DISPLAY);
	if (count == 0) {
		ct_answer_set_status(&answer, CTRACE_NOT_FOUND);
		ct_buf_add_text(&message,
				ct_operate_is_glob(wanted->name) ? "no trace fits " : "no trace ");
		ct_span_quote(&message, wanted->name, CT_OPERATE_NAME);
	} else if (count > CT_OPERATE_ROWS) {
		ct_buf_add_format(&message, "%llu traces; the first %u are shown",
				  (unsigned long long)count, CT_OPERATE_ROWS);
	}
	if (message.size != 0)
		ct_answer_add(&answer, CT_FIELD_MESSAGE, ct_buf_text(&message), message.size);
	add_traces(&answer, wanted);
	ct_answer_end(&answer);
	ct_buf_fini(&message);
}

/* COMP and SUB as one name, as the trace has it: an address space may be written in several ways.
 * False when it is no path of a trace that was defined: a tracer may have any name. */
static bool join_path(struct ct_span comp, struct ct_span sub, struct ct_path *out_path)
{
	char name[CTRACE_MAX_COMPONENT + 1], text[CTRACE_MAX_COMPONENT + 1];
	struct ctrace_outcome ignored;

	if (comp.size == 0 || comp.size > CTRACE_MAX_COMPONENT - CT_SUB_ROOM ||
	    sub.size > CTRACE_MAX_COMPONENT || memchr(sub.at, '\0', sub.size) != NULL ||
	    ct_component_check_name(comp.at, comp.size) != CTRACE_OK)
		return false;
	(void)snprintf(name, sizeof name, "%.*s", (int)comp.size, comp.at);
	(void)snprintf(text, sizeof text, "%.*s", (int)sub.size, sub.at);
	return ct_path_parse(name, text, out_path, &ignored) == CTRACE_RC_OK;
}

/* Joins both texts with a dot; a pattern in either applies to the whole name. */
static void join_text(struct ct_span comp, struct ct_span sub, struct ct_buf *out)
{
	ct_buf_add(out, comp.at, comp.size);
	ct_buf_add_char(out, '.');
	ct_buf_add(out, sub.at, sub.size);
}

static void operate_display(const struct ct_message *request, struct ct_buf *out)
{
	struct ct_span comp = ct_message_find(request, CT_FIELD_COMPONENT);
	struct ct_span sub = ct_message_find(request, CT_FIELD_SUB);
	struct wanted wanted = { .name = comp,
				 .depth = ct_message_number(request, CT_FIELD_DEPTH, 0) };
	struct ct_path path;
	struct ct_buf joined;

	ct_buf_init(&joined);
	wanted.is_all = comp.size == 0;
	if (wanted.is_all)
		wanted.name = (struct ct_span){ "*", 1 };
	if (sub.size != 0 && !ct_operate_is_glob(wanted.name) && !ct_operate_is_glob(sub) &&
	    join_path(comp, sub, &path)) {
		wanted.name = (struct ct_span){ path.name, strlen(path.name) };
	} else if (sub.size != 0) {
		join_text(wanted.name, sub, &joined);
		wanted.name = (struct ct_span){ joined.data, joined.size };
	}
	if (joined.failed || wanted.name.size > NAME_LIMIT)
		ct_answer_whole(out, CT_VERB_DISPLAY, CTRACE_INVALID_COMPONENT_NAME,
				"COMP and SUB are longer than the name of a trace");
	else
		answer_all(&wanted, out);
	ct_buf_fini(&joined);
}

#define IDENTIFY_COMPONENTS 65536u /* that an answer has; an operator takes no more */
#define IDENTIFY_ROW 16u           /* bytes of a row besides its name */
#define FLUSH_LIMIT_MS 900u        /* the others wait meanwhile */
/* likewise, for the program's next call, in which its routine in COBOL runs */
#define ROUTINE_WAIT_MS 250u

/* ---- the process as a whole ---- */

static void operate_flush(const struct ct_command *command, struct ct_buf *out)
{
	enum ctrace_status status = ctrace_flush(
		command->number < FLUSH_LIMIT_MS ? (uint32_t)command->number : FLUSH_LIMIT_MS);

	ct_answer_whole(out, command->verb, status,
			status != CTRACE_OK ? ctrace_status_text(status) : NULL);
}

static void answer_rotation(const struct ct_command *command, uint32_t mask, struct ct_buf *out)
{
	static const char done[] = "a new generation";
	const struct ctrace_emitter *emitter;
	struct ct_answer answer;
	uint32_t rotated = 0;
	enum ctrace_status status = ct_consumer_thread_rotate(mask, &rotated);

	ct_answer_begin(&answer, out, command->verb);
	/* Nothing that is open has generations: no row, and well. */
	if (status != CTRACE_OK && status != CTRACE_NOT_FOUND &&
	    (status != CTRACE_UNSUPPORTED || command->emitter.at != NULL)) {
		ct_answer_set_status(&answer, status);
		ct_answer_add(&answer, CT_FIELD_MESSAGE, ctrace_status_text(status),
			      strlen(ctrace_status_text(status)));
	}
	for (uint32_t i = 0; i < CT_EMITTER_LIMIT && (emitter = ct_emitter_at(i)) != NULL; i++) {
		if ((rotated >> i & 1) == 0)
			continue;
		ct_answer_add(&answer, CT_FIELD_EMITTER, emitter->name, strlen(emitter->name));
		ct_answer_add(&answer, CT_FIELD_NEW, done, sizeof done - 1);
	}
	ct_answer_end(&answer);
}

static void operate_rotate(const struct ct_command *command, struct ct_buf *out)
{
	uint32_t emitter = 0;
	struct ct_buf message;

	ct_buf_init(&message);
	if (command->emitter.at == NULL)
		answer_rotation(command, UINT32_MAX, out);
	else if (ct_operate_knows_emitter(command->emitter, &emitter, &message))
		answer_rotation(command, 1u << emitter, out);
	else
		ct_operate_refuse(out, command->verb, CTRACE_EMITTER_NOT_FOUND, &message);
	ct_buf_fini(&message);
}

static void operate_reload(const struct ct_command *command, struct ct_buf *out)
{
	struct ct_span path = command->value;
	char text[4096] = "";
	char message[256] = "";
	struct ct_answer answer;
	enum ctrace_status status;
	unsigned diagnostics;

	if (path.size >= sizeof text ||
	    (path.size != 0 && (path.at[0] != '/' || memchr(path.at, '\0', path.size) != NULL))) {
		ct_answer_whole(out, command->verb, CTRACE_SYNTAX_ERROR,
				"expected the absolute path of a configuration file");
		return;
	}
	if (path.size != 0)
		memcpy(text, path.at, path.size);
	status = ct_reload(text, &diagnostics, message);
	if (status != CTRACE_OK && message[0] == '\0')
		(void)strncpy(message, ctrace_status_text(status), sizeof message - 1);
	ct_answer_begin(&answer, out, command->verb);
	ct_answer_set_status(&answer, status);
	ct_answer_add(&answer, CT_FIELD_MESSAGE, message, strlen(message));
	ct_message_add_number(answer.out, CT_FIELD_NUMBER, diagnostics);
	ct_answer_end(&answer);
}

static void operate_writer_up(const struct ct_command *command, struct ct_buf *out)
{
	char writer[CTRACE_MAX_NAME + 1];
	struct ct_answer answer;

	if (command->value.size == 0 ||
	    ct_writer_parse(command->value.at, command->value.size, writer) != 0) {
		ct_answer_whole(out, command->verb, CTRACE_SYNTAX_ERROR,
				"expected the name of an external writer, of 1 to 7 characters");
		return;
	}
	ct_answer_begin(&answer, out, command->verb);
	ct_message_add_number(out, CT_FIELD_NUMBER, ct_writer_up(writer, strlen(writer)));
	ct_answer_end(&answer);
}

/* ---- triggers ---- */

static void operate_trigger(const struct ct_command *command, struct ct_buf *out)
{
	struct ct_diagnostic diagnostic = { .line = 0 };
	struct ct_trigger trigger;
	enum ctrace_status status =
		ct_trigger_parse(command->value.at, command->value.size, &trigger, &diagnostic);
	const char *no_programs = NULL;
	char text[512];

	if (status != CTRACE_OK) {
		(void)snprintf(text, sizeof text, CT_DIAGNOSTIC_FORMAT,
			       CT_DIAGNOSTIC_TEXT(&diagnostic));
		ct_answer_whole(out, command->verb, status, text);
		return;
	}
	if (ct_trigger_runs(&trigger) &&
	    !__atomic_load_n(&ct_process.settings.runs_programs, __ATOMIC_RELAXED))
		no_programs =
			"the trigger is set, but runs no program: ctrace.run.programs is off in the configuration";
	status = ct_apply(ct_target_self(), command);
	if (status == CTRACE_OK && trigger.change == CT_TRIGGER_ENABLE)
		ct_trigger_begin_anew(command->component);
	ct_answer_whole(
		out, command->verb, status,
		status == CTRACE_OK          ? no_programs
		: status == CTRACE_NOT_FOUND ? "there is no such trigger"
		: status == CTRACE_NOT_ENOUGH_MEMORY
			? "there are 16 triggers, and no more can be"
			: "not a trigger's name; expected 1 to 32 letters, digits, _ and -");
}

static void add_trigger(struct ct_answer *answer, const struct ct_trigger_state *state,
			uint64_t missed)
{
	struct ct_buf counts;

	ct_buf_init(&counts);
	ct_buf_add_format(&counts, "%s%s (matched %llu", state->is_disabled ? "disabled " : "",
			  state->text, (unsigned long long)state->matches);
	if (state->unlike != 0)
		ct_buf_add_format(&counts, ", %llu without such an item",
				  (unsigned long long)state->unlike);
	if (missed != 0)
		ct_buf_add_format(&counts, ", missed %llu", (unsigned long long)missed);
	ct_buf_add_format(&counts, ", acted %llu", (unsigned long long)state->acts);
	if (state->is_used_up)
		ct_buf_add_text(&counts, ", no more until it is enabled");
	if (state->acts != 0)
		ct_buf_add_format(&counts, ", last: %s", state->report);
	ct_buf_add_char(&counts, ')');
	ct_answer_row(answer, sizeof *state + counts.size);
	ct_answer_add(answer, CT_FIELD_COMPONENT, state->name, strlen(state->name));
	ct_message_add_number(answer->out, CT_FIELD_STATE,
			      !state->is_disabled && !state->is_used_up);
	ct_answer_add(answer, CT_FIELD_NEW, ct_buf_text(&counts), counts.size);
	ct_buf_fini(&counts);
}

static void operate_trigger_list(const struct ct_command *command, struct ct_buf *out)
{
	struct ct_trigger_state state;
	struct ct_answer answer;
	uint64_t missed;

	ct_answer_begin(&answer, out, command->verb);
	for (uint32_t i = 0; ct_trigger_state_at(i, &state, &missed); i++)
		add_trigger(&answer, &state, missed);
	ct_answer_end(&answer);
}

/* For an operator who may not read the session. */
static void operate_identify(const struct ct_command *command, struct ct_buf *out)
{
	const struct ct_session_head *head = ct_process.session.head;
	struct ct_answer answer;
	uint32_t count = 0;

	ct_answer_begin(&answer, out, command->verb);
	ct_message_add_number(out, CT_FIELD_NUMBER, head->asid);
	ct_message_add_text(out, CT_FIELD_JOBNAME, head->jobname);
	ct_message_add_text(out, CT_FIELD_VALUE, head->program);
	for (uint32_t i = ct_operate_next_known(0);
	     i != CT_COMPONENT_NONE && count < IDENTIFY_COMPONENTS;
	     i = ct_operate_next_known(i + 1), count++) {
		struct ct_span name = ct_operate_name(i);

		ct_answer_row(&answer, name.size + IDENTIFY_ROW);
		ct_message_add(out, CT_FIELD_COMPONENT, name.at, name.size);
	}
	ct_answer_end(&answer);
}

/* ---- TRACE CT ---- */

/* A trace that this process does not have is no failure where others have it: the status tells it
 * apart. */
static void answer_outcome(const struct ctrace_outcome *outcome, struct ct_buf *out)
{
	bool is_absent = outcome->rc == CTRACE_RC_REFUSED &&
			 CTRACE_REASON(outcome->rsncode) == CTRACE_RSN_NOT_DEFINED;
	struct ct_answer answer;

	ct_answer_begin(&answer, out, CT_VERB_TRACE_CT);
	if (is_absent)
		ct_answer_set_status(&answer, CTRACE_NOT_FOUND);
	if (outcome->message[0] != '\0')
		ct_answer_add(&answer, CT_FIELD_MESSAGE, outcome->message,
			      strnlen(outcome->message, sizeof outcome->message));
	ct_message_add(out, CT_FIELD_OUTCOME, outcome, sizeof *outcome);
	ct_answer_end(&answer);
}

static void operate_trace_ct(const struct ct_message *request, struct ct_buf *out)
{
	struct ctrace_outcome outcome = { .rc = CTRACE_RC_OK };
	struct ct_trace_command command;
	enum ctrace_status status = ct_trace_command_decode(request, &command);

	if (status != CTRACE_OK) {
		ct_answer_whole(out, CT_VERB_TRACE_CT, status, "that is no TRACE CT");
		return;
	}
	(void)ct_trace_ct(&command, &outcome);
	(void)ct_ctf_defer(&command, ROUTINE_WAIT_MS, &outcome);
	answer_outcome(&outcome, out);
}

/* ---- which it is ---- */

/* Every request that a traced process carries out. */
static const struct request_row {
	enum ct_verb verb;
	/* one of the two: with the operands decoded as a command's, or with the message */
	void (*operate)(const struct ct_command *command, struct ct_buf *out);
	void (*operate_message)(const struct ct_message *request, struct ct_buf *out);
} rows[] = {
	{ CT_VERB_LEVEL, ct_operate_level, NULL },
	{ CT_VERB_DEST_ADD, ct_operate_dest, NULL },
	{ CT_VERB_DEST_REMOVE, ct_operate_dest, NULL },
	{ CT_VERB_DEST_SET, ct_operate_dest, NULL },
	{ CT_VERB_COMPONENT_PROPERTY, ct_operate_property, NULL },
	{ CT_VERB_EMITTER_PROPERTY, ct_operate_property, NULL },
	{ CT_VERB_PROPERTY_GET, ct_operate_property, NULL },
	{ CT_VERB_TRIGGER, operate_trigger, NULL },
	{ CT_VERB_TRIGGER_LIST, operate_trigger_list, NULL },
	{ CT_VERB_FLUSH, operate_flush, NULL },
	{ CT_VERB_ROTATE, operate_rotate, NULL },
	{ CT_VERB_RELOAD, operate_reload, NULL },
	{ CT_VERB_WRITER_UP, operate_writer_up, NULL },
	{ CT_VERB_IDENTIFY, operate_identify, NULL },
	{ CT_VERB_TRACE_CT, NULL, operate_trace_ct },
	{ CT_VERB_DISPLAY, NULL, operate_display },
};

static void request_carry_out(const struct ct_message *request, struct ct_buf *out)
{
	const struct request_row *row = NULL;
	struct ct_command command;
	enum ctrace_status status;

	for (size_t i = 0; row == NULL && i < CT_COUNT(rows); i++)
		if (rows[i].verb == request->verb)
			row = &rows[i];
	if (row != NULL && row->operate_message != NULL) {
		row->operate_message(request, out);
		return;
	}
	status = ct_command_decode(request, &command);
	if (status != CTRACE_OK)
		ct_answer_whole(out, request->verb, status,
				"the command's operands are not what they may be");
	else if (row == NULL)
		ct_answer_whole(out, request->verb, CTRACE_UNSUPPORTED,
				"a traced process does not carry this command out");
	else
		row->operate(&command, out);
}

void ct_operate_allowed(const struct ct_message *request, struct ct_buf *out)
{
	if ((request->flags & CT_MESSAGE_ANSWER) != 0)
		ct_answer_whole(out, request->verb, CTRACE_DAMAGED,
				"that is an answer and no request");
	else if (ct_target_self() == NULL)
		ct_answer_whole(out, request->verb, CTRACE_TIMED_OUT,
				"the process is about to end");
	else
		request_carry_out(request, out);
}

void ct_operate(const struct ct_message *request, struct ct_buf *out, void *user)
{
	(void)user;
	if (ct_message_find(request, CT_FIELD_PARTY).at != NULL)
		ct_operate_outside(request, NULL, out);
	else
		ct_operate_allowed(request, out);
}
