/*
 * dormant.c - answers an operator's request in place of a dormant process, from its session.
 *
 * Runs in tools.  A dormant process traces nothing, has no destination open, no trigger and no
 * defined trace.  So its session answers what only asks, and what is about components that the
 * process does not have.  Everything else is the process's own to answer, and it is woken for it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/answer.h"
#include "session/client.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

#define NAME_SIZE (2 * CTRACE_MAX_COMPONENT + 2)
#define ROW_REST 4096u /* of a row, besides its name */

static const char left_text[] = "is dormant; the change takes effect at its next trace call";
static const char parted_text[] =
	"is dormant, and has changed its user since it began: it cannot be woken; start it again with a "
	"configuration (MFTRACE_CONFIG) that sets a level, then it listens before it changes its user";
static const char asked_text[] = "is dormant, and made no trace call in time to answer";

/* ---- which components ---- */

/* What a request is about: a name, or a pattern; "": the process. */
struct subject {
	char name[NAME_SIZE];
	uint64_t depth;   /* sublevels below a match that belong to it */
	bool is_levelled; /* the wildcards of a pattern stay within a level */
};

static bool subject_is_pattern(const struct subject *subject)
{
	return strpbrk(subject->name, "*?") != NULL;
}

static bool subject_fits(const struct subject *subject, const char *name, size_t size)
{
	size_t wanted = strlen(subject->name);

	return subject->is_levelled ? ct_glob_match_levels(subject->name, wanted, name, size)
	       : subject_is_pattern(subject) ? ct_glob_match(subject->name, wanted, name, size)
					     : ct_name_equal(subject->name, wanted, name, size);
}

/* Returns true when the name fits, or one of its nearest `depth` ancestors. */
static bool subject_has(const struct subject *subject, const char *name, size_t size)
{
	uint64_t depth = subject->depth;

	while (!subject_fits(subject, name, size)) {
		while (size > 0 && name[size - 1] != '.')
			size--;
		if (size == 0 || depth-- == 0)
			return false;
		size--;
	}
	return true;
}

static uint32_t next_known(const struct ct_session *session, const struct subject *subject,
			   uint32_t from, struct ct_span *out_name)
{
	for (uint32_t i = from; i < session->head->component_count; i++) {
		const struct ct_component_entry *entry = &session->components[i];

		if ((entry->flags & CT_COMPONENT_KNOWN) == 0)
			continue;
		out_name->at = ct_session_text(session, entry->name, &out_name->size);
		if (subject_has(subject, out_name->at, out_name->size))
			return i;
	}
	return CT_COMPONENT_NONE;
}

/* A name of which only sublevels exist means all of them. */
static bool is_ancestor(const struct ct_session *session, const struct subject *subject)
{
	struct subject below = *subject;
	struct ct_span name;

	below.depth = CTRACE_MAX_COMPONENT;
	return !subject_is_pattern(subject) &&
	       next_known(session, &below, 0, &name) != CT_COMPONENT_NONE;
}

static void subject_set(struct subject *subject, struct ct_span name, struct ct_span sub)
{
	*subject = (struct subject){ .depth = 0 };
	(void)snprintf(subject->name, sizeof subject->name, "%.*s%s%.*s", (int)name.size,
		       name.at != NULL ? name.at : "", sub.size != 0 ? "." : "", (int)sub.size,
		       sub.at != NULL ? sub.at : "");
}

/* ---- answers ---- */

static bool answer_absent(const struct subject *subject, enum ct_verb verb, struct ct_buf *out)
{
	struct ct_buf message;

	ct_buf_init(&message);
	ct_buf_add_text(&message,
			subject_is_pattern(subject) ? "no component fits " : "no component ");
	ct_span_quote(&message, (struct ct_span){ subject->name, strlen(subject->name) },
		      CTRACE_MAX_COMPONENT);
	ct_answer_whole(out, verb, CTRACE_NOT_FOUND, ct_buf_text(&message));
	ct_buf_fini(&message);
	return true;
}

/* Only a tracer of the name exists, and it has no settings. */
static void add_display(struct ct_answer *answer)
{
	const struct ctrace_display display = { .size = sizeof display,
						.mode = CTRACE_MODE_OFF,
						.wtr = 1 };

	ct_message_add(answer->out, CT_FIELD_DISPLAY, &display, sizeof display);
	ct_message_add_number(answer->out, CT_FIELD_ACTIVE, 0);
}

/* Its level is NONE.  Its destinations are those that it would have. */
static void add_value(struct ct_answer *answer, const struct ct_session *session, enum ct_verb verb,
		      uint32_t component)
{
	struct ct_buf text;

	ct_buf_init(&text);
	if (verb == CT_VERB_LEVEL)
		ct_buf_add_text(&text, ct_level_name(CTRACE_LEVEL_NONE));
	for (uint32_t i = 0; verb == CT_VERB_DEST_SET && i < CT_DEST_LIMIT; i++)
		if ((session->components[component].dests >> i & 1) != 0)
			ct_buf_add_format(&text, "%s%.31s", text.size != 0 ? ", " : "",
					  session->head->dest[i].emitter);
	ct_answer_add(answer, CT_FIELD_OLD, ct_buf_text(&text), text.size);
	ct_answer_add(answer, CT_FIELD_NEW, ct_buf_text(&text), text.size);
	ct_buf_fini(&text);
}

/* A row for each component that the subject has. */
static bool answer_rows(const struct ct_session *session, const struct subject *subject,
			enum ct_verb verb, struct ct_buf *out)
{
	bool is_display = verb == CT_VERB_DISPLAY;
	struct ct_answer answer;
	struct ct_span name;
	uint32_t at = next_known(session, subject, 0, &name);

	if (at == CT_COMPONENT_NONE)
		return answer_absent(subject, verb, out);
	ct_answer_begin(&answer, out, verb);
	for (; at != CT_COMPONENT_NONE; at = next_known(session, subject, at + 1, &name)) {
		ct_answer_row(&answer, name.size + ROW_REST +
					       (is_display ? sizeof(struct ctrace_display) : 0));
		ct_answer_add(&answer, CT_FIELD_COMPONENT, name.at, name.size);
		if (is_display)
			add_display(&answer);
		else
			add_value(&answer, session, verb, at);
	}
	ct_answer_end(&answer);
	return true;
}

static bool answer_display(const struct ct_session *session, const struct ct_message *request,
			   struct ct_buf *out)
{
	struct subject subject;
	struct ct_span name = ct_message_find(request, CT_FIELD_COMPONENT);

	if (name.size == 0)
		name = (struct ct_span){ "*", 1 };
	subject_set(&subject, name, ct_message_find(request, CT_FIELD_SUB));
	subject.is_levelled = true;
	subject.depth = ct_message_number(request, CT_FIELD_DEPTH, 0);
	/* "*" alone is every trace, on any level */
	if (strcmp(subject.name, "*") == 0 &&
	    ct_message_find(request, CT_FIELD_COMPONENT).size == 0)
		subject.depth = CTRACE_MAX_COMPONENT;
	else if (is_ancestor(session, &subject) &&
		 next_known(session, &subject, 0, &name) == CT_COMPONENT_NONE)
		subject.depth = CTRACE_MAX_COMPONENT;
	return answer_rows(session, &subject, CT_VERB_DISPLAY, out);
}

static bool command_asks(const struct ct_command *command)
{
	return (command->verb == CT_VERB_LEVEL && command->level == CT_LEVEL_ASKED) ||
	       (command->verb == CT_VERB_DEST_SET && command->list.at == NULL &&
		command->emitter.at == NULL);
}

/* A change of a component, or its level.  What the process has is its own to change. */
static bool answer_component(const struct ct_session *session, const struct ct_message *request,
			     struct ct_buf *out)
{
	struct subject subject;
	struct ct_command command;
	struct ct_span name;
	bool is_known;

	if (ct_command_decode(request, &command) != CTRACE_OK || command.component.size == 0)
		return false;
	subject_set(&subject, command.component, (struct ct_span){ NULL, 0 });
	is_known = next_known(session, &subject, 0, &name) != CT_COMPONENT_NONE;
	if (is_known && command_asks(&command))
		return answer_rows(session, &subject, command.verb, out);
	return !is_known && !is_ancestor(session, &subject) &&
	       answer_absent(&subject, command.verb, out);
}

static bool answer_trace_ct(const struct ct_session *session, const struct ct_message *request,
			    struct ct_buf *out)
{
	struct ct_trace_command command;
	struct subject subject;
	struct ct_span name;

	if (ct_trace_command_decode(request, &command) != CTRACE_OK)
		return false;
	subject_set(&subject, (struct ct_span){ command.name, strlen(command.name) },
		    (struct ct_span){ command.sub, strlen(command.sub) });
	return next_known(session, &subject, 0, &name) == CT_COMPONENT_NONE &&
	       answer_absent(&subject, CT_VERB_TRACE_CT, out);
}

/* Returns false when only the process can answer. */
static bool answer_one(const struct ct_session *session, const struct ct_message *request,
		       struct ct_buf *out)
{
	switch (request->verb) {
	case CT_VERB_FLUSH:
	case CT_VERB_ROTATE:
	case CT_VERB_TRIGGER_LIST:
	case CT_VERB_WRITER_UP:
		ct_answer_whole(out, request->verb, CTRACE_OK, NULL);
		return true;
	case CT_VERB_DISPLAY:
		return answer_display(session, request, out);
	case CT_VERB_LEVEL:
	case CT_VERB_DEST_ADD:
	case CT_VERB_DEST_REMOVE:
	case CT_VERB_DEST_SET:
	case CT_VERB_COMPONENT_PROPERTY:
		return answer_component(session, request, out);
	case CT_VERB_TRACE_CT:
		return answer_trace_ct(session, request, out);
	default:
		return false;
	}
}

bool ct_dormant_answer(struct ct_peer *peer, const struct ct_buf *request)
{
	struct ct_session session;
	struct ct_message message;
	bool is_answered =
		ct_session_load(&session, peer->run_directory, peer->directory, false) == CTRACE_OK;
	size_t size;

	if (!is_answered)
		return false;
	is_answered = session.head->is_dormant == CT_DORMANT;
	ct_buf_clear(&peer->answer);
	for (size_t at = 0; is_answered && ct_message_parse(request->data + at, request->size - at,
							    &message, &size) == CTRACE_OK;
	     at += size)
		is_answered = answer_one(&session, &message, &peer->answer);
	ct_session_close(&session, false);
	if (!is_answered)
		ct_buf_clear(&peer->answer);
	return is_answered && !peer->answer.failed;
}

bool ct_dormant_refuse(struct ct_peer *peer, const char *directory, const struct ct_buf *request)
{
	if (!ct_bell_is_parted(directory))
		return false;
	ct_answer_all(&peer->answer, request, CTRACE_DENIED, parted_text);
	return peer->answer.size != 0;
}

/* ---- requests that were left ---- */

static bool is_question(const struct ct_message *request)
{
	struct ct_command command;

	return request->verb == CT_VERB_PROPERTY_GET || request->verb == CT_VERB_IDENTIFY ||
	       (ct_command_decode(request, &command) == CTRACE_OK && command_asks(&command));
}

enum ctrace_status ct_dormant_leave(struct ct_peer *peer, const char *directory,
				    const struct ct_buf *request)
{
	struct ct_message message;
	enum ctrace_status status = CTRACE_OK;
	size_t size;

	if (ct_message_parse(request->data, request->size, &message, &size) != CTRACE_OK)
		return CTRACE_DAMAGED;
	if (is_question(&message)) {
		ct_answer_whole(&peer->answer, message.verb, CTRACE_FAILURE, asked_text);
		return CTRACE_FAILURE;
	}
	status = ct_bell_leave(directory, request);
	if (status != CTRACE_OK)
		return status;
	for (size_t at = 0;
	     ct_message_parse(request->data + at, request->size - at, &message, &size) == CTRACE_OK;
	     at += size)
		ct_answer_whole(&peer->answer, message.verb, CTRACE_OK,
				at == 0 || message.verb == CT_VERB_TRACE_CT ? left_text : NULL);
	return CTRACE_OK;
}
