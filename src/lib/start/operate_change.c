/*
 * operate_change.c - levels and destinations, as an operator changes and displays them, and how a
 * change is reported.
 *
 * Runs on the control thread.  Errors are reported before anything is changed.  Changes go through
 * ct_apply(), which calls the program's callbacks and start/stop routines.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/operate.h"

#include <stdio.h>
#include <string.h>

#define ROW_REST 1024u /* bytes of a row besides its texts, with room to spare */

void ct_operate_refuse(struct ct_buf *out, enum ct_verb verb, enum ctrace_status status,
		       struct ct_buf *message)
{
	ct_answer_whole(out, verb, status,
			message->size != 0 ? ct_buf_text(message) : ctrace_status_text(status));
}

/* ---- which components ---- */

static void diagnose_of_component(struct ct_buf *message, struct ct_span name,
				  enum ctrace_status status)
{
	if (status == CTRACE_NOT_FOUND) {
		ct_buf_add_text(message,
				ct_operate_is_glob(name) ? "no component fits " : "no component ");
		ct_span_quote(message, name, CT_OPERATE_NAME);
	} else if (status == CTRACE_INVALID_COMPONENT_NAME) {
		ct_span_quote(message, name, CT_OPERATE_NAME);
		ct_buf_add_text(
			message,
			" is no component: expected 1 to 255 bytes, nothing empty between dots, or a pattern with * and ?");
	}
}

bool ct_operate_find(const struct ct_command *command, struct ct_buf *out,
		     struct ct_matches *matches)
{
	enum ctrace_status status = ct_matches_find(command->component, matches);
	struct ct_buf message;

	if (status == CTRACE_OK)
		return true;
	ct_buf_init(&message);
	diagnose_of_component(&message, command->component, status);
	ct_operate_refuse(out, command->verb, status, &message);
	ct_buf_fini(&message);
	return false;
}

/* ---- rows ---- */

void ct_operate_begin(struct ct_answer *answer, struct ct_buf *out,
		      const struct ct_command *command, size_t count)
{
	char text[100];

	ct_answer_begin(answer, out, command->verb);
	if (count <= CT_OPERATE_ROWS)
		return;
	(void)snprintf(text, sizeof text, "%zu components; the first %u are listed", count,
		       CT_OPERATE_ROWS);
	ct_answer_add(answer, CT_FIELD_MESSAGE, text, strlen(text));
}

static size_t shown_size(const char *text)
{
	return text != NULL ? strnlen(text, CT_ANSWER_TEXT) : 0;
}

void ct_operate_add_row(struct ct_answer *answer, const struct ct_operate_row *row)
{
	ct_answer_row(answer,
		      row->subject.size + shown_size(row->old) + shown_size(row->new) + ROW_REST);
	ct_answer_add(answer, row->field, row->subject.at, row->subject.size);
	if (row->old != NULL)
		ct_answer_add(answer, CT_FIELD_OLD, row->old, strlen(row->old));
	if (row->new != NULL)
		ct_answer_add(answer, CT_FIELD_NEW, row->new, strlen(row->new));
}

void ct_operate_add_failure(struct ct_answer *answer, enum ctrace_status *worst,
			    enum ctrace_status status)
{
	const char *text = ctrace_status_text(status);

	ct_answer_add(answer, CT_FIELD_MESSAGE, text, strlen(text));
	if (*worst == CTRACE_OK)
		*worst = status;
}

/* ---- levels ---- */

/* The threshold in force, whatever the flight recorder records besides; of a name that only stands
 * above others, what it would have. */
static uint32_t level_of(const struct ct_matches *matches, size_t i)
{
	uint32_t index = matches->items[i].index;
	uint32_t level = CTRACE_LEVEL_NONE;

	if (index != CT_COMPONENT_NONE)
		return ct_channel_output_level(ct_process.registry, index);
	if (ct_level_get(ct_process.registry, matches->name.at, matches->name.size, &level) !=
	    CTRACE_OK)
		return CTRACE_LEVEL_NONE;
	return level;
}

static void answer_levels(struct ct_answer *answer, const struct ct_command *command,
			  struct ct_matches *matches)
{
	enum ctrace_status worst = CTRACE_OK;

	for (size_t i = 0; i < matches->count; i++)
		matches->items[i].old = level_of(matches, i);
	for (size_t i = 0; i < matches->count; i++) {
		struct ct_command one = *command;
		struct ct_operate_row row = { .subject = ct_match_name(matches, i),
					      .field = CT_FIELD_COMPONENT };
		enum ctrace_status status = CTRACE_OK;

		one.component = row.subject;
		if (command->level != CT_LEVEL_ASKED)
			status = ct_apply(ct_target_self(), &one);
		if (i >= CT_OPERATE_ROWS && status == CTRACE_OK)
			continue;
		row.old = ct_level_name(matches->items[i].old);
		row.new = ct_level_name(level_of(matches, i));
		ct_operate_add_row(answer, &row);
		if (status != CTRACE_OK)
			ct_operate_add_failure(answer, &worst, status);
	}
	ct_answer_set_status(answer, worst);
}

void ct_operate_level(const struct ct_command *command, struct ct_buf *out)
{
	struct ct_answer answer;
	struct ct_matches matches;

	if (!ct_operate_find(command, out, &matches))
		return;
	ct_operate_begin(&answer, out, command, matches.count);
	answer_levels(&answer, command, &matches);
	ct_answer_end(&answer);
	ct_matches_fini(&matches);
}

/* ---- emitters ---- */

static void emitters_add(struct ct_buf *text, uint32_t mask)
{
	const struct ctrace_emitter *emitter;
	const char *between = "";

	for (uint32_t i = 0; i < CT_EMITTER_LIMIT && (emitter = ct_emitter_at(i)) != NULL; i++) {
		if ((mask >> i & 1) == 0)
			continue;
		ct_buf_add_text(text, between);
		ct_buf_add_text(text, emitter->name);
		between = ", ";
	}
}

bool ct_operate_knows_emitter(struct ct_span name, uint32_t *out_emitter, struct ct_buf *message)
{
	const struct ctrace_emitter *emitter;
	const char *words[CT_EMITTER_LIMIT];
	const char *meant;
	size_t count = 0;

	if (ct_emitter_find(name.at, name.size, out_emitter) == CTRACE_OK)
		return true;
	for (uint32_t i = 0; i < CT_EMITTER_LIMIT && (emitter = ct_emitter_at(i)) != NULL; i++)
		words[count++] = emitter->name;
	meant = ct_suggest(name, words, count);
	ct_buf_add_text(message, "no emitter ");
	ct_span_quote(message, name, CT_OPERATE_NAME);
	if (meant != NULL) {
		ct_buf_add_format(message, "; did you mean %s?", meant);
	} else {
		ct_buf_add_text(message, "; there are ");
		emitters_add(message, UINT32_MAX);
	}
	return false;
}

/* ---- destinations ---- */

static uint32_t dests_of(const struct ct_match *match, struct ct_span name)
{
	uint32_t index = match->index;

	if (index == CT_COMPONENT_NONE && name.size != 0 &&
	    ct_registry_find_any(ct_process.registry, name.at, name.size, &index) != CTRACE_OK)
		index = CT_COMPONENT_NONE;
	if (index == CT_COMPONENT_NONE)
		return ct_dest_default(ct_process.registry);
	return __atomic_load_n(&ct_registry_entry(ct_process.registry, index)->dests,
			       __ATOMIC_ACQUIRE);
}

static bool emitters_are_known(const struct ct_command *command, struct ct_buf *message)
{
	struct ct_span list = command->list;
	struct ct_span name = command->emitter;
	uint32_t ignored;

	if (list.at == NULL)
		return name.at == NULL || ct_operate_knows_emitter(name, &ignored, message);
	while (ct_config_next_word(&list, &name))
		if (!ct_operate_knows_emitter(name, &ignored, message))
			return false;
	return true;
}

/* Removing from a list what is not in it: with a glob most will not have it, and that is well. */
static void diagnose_of_removal(struct ct_buf *message, struct ct_span component, uint32_t dests)
{
	if (component.size == 0)
		ct_buf_add_text(message, "the default destinations are ");
	else
		ct_buf_add_text(message,
				"it has none of that name of its own; it and those above it have ");
	emitters_add(message, dests);
	if (component.size != 0)
		ct_buf_add_text(message, ": name exactly those that it is to have");
}

struct dest_change {
	const struct ct_command *command;
	struct ct_answer *answer;
	enum ctrace_status worst;
	bool is_question;
};

static void change_dest(struct dest_change *change, const struct ct_target *quiet,
			const struct ct_matches *matches, size_t i)
{
	struct ct_command one = *change->command;
	struct ct_operate_row row = { .subject = ct_match_name(matches, i),
				      .field = CT_FIELD_COMPONENT };
	enum ctrace_status status = CTRACE_OK;
	struct ct_buf old, new, why;

	one.component = row.subject;
	if (!change->is_question)
		status = ct_apply(quiet, &one);
	if (status == CTRACE_EMITTER_NOT_FOUND && matches->is_glob)
		status = CTRACE_OK;
	if (i >= CT_OPERATE_ROWS && status == CTRACE_OK)
		return;
	ct_buf_init(&old);
	ct_buf_init(&new);
	ct_buf_init(&why);
	emitters_add(&old, matches->items[i].old);
	emitters_add(&new, dests_of(&matches->items[i], row.subject));
	row.old = ct_buf_text(&old);
	row.new = ct_buf_text(&new);
	ct_operate_add_row(change->answer, &row);
	if (status == CTRACE_EMITTER_NOT_FOUND) {
		diagnose_of_removal(&why, row.subject, matches->items[i].old);
		ct_answer_add(change->answer, CT_FIELD_MESSAGE, ct_buf_text(&why), why.size);
		change->worst = status;
	} else if (status != CTRACE_OK) {
		ct_operate_add_failure(change->answer, &change->worst, status);
	}
	ct_buf_fini(&old);
	ct_buf_fini(&new);
	ct_buf_fini(&why);
}

/* The consumer is held still once for all of them, and not again for each. */
static void change_dests(const struct ct_command *command, struct ct_answer *answer,
			 struct ct_matches *matches)
{
	const struct ct_target *self = ct_target_self();
	struct ct_target quiet = *self;
	struct dest_change change = { .command = command,
				      .answer = answer,
				      .is_question = command->list.at == NULL &&
						     command->emitter.at == NULL };

	quiet.hold = NULL;
	quiet.release = NULL;
	for (size_t i = 0; i < matches->count; i++)
		matches->items[i].old = dests_of(&matches->items[i], ct_match_name(matches, i));
	if (!change.is_question)
		self->hold(self->user);
	for (size_t i = 0; i < matches->count; i++)
		change_dest(&change, &quiet, matches, i);
	if (!change.is_question)
		self->release(self->user, 0);
	ct_answer_set_status(answer, change.worst);
}

void ct_operate_dest(const struct ct_command *command, struct ct_buf *out)
{
	struct ct_answer answer;
	struct ct_matches matches;
	struct ct_buf message;

	ct_buf_init(&message);
	if (!emitters_are_known(command, &message)) {
		ct_operate_refuse(out, command->verb, CTRACE_EMITTER_NOT_FOUND, &message);
	} else if (ct_operate_find(command, out, &matches)) {
		ct_operate_begin(&answer, out, command, matches.count);
		change_dests(command, &answer, &matches);
		ct_answer_end(&answer);
		ct_matches_fini(&matches);
	}
	ct_buf_fini(&message);
}
