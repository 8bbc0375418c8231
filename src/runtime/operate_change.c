/*
 * operate_change.c - levels, destinations and properties, as an operator changes and asks for them.
 *
 * Runs on the control thread.  What is wrong is said before anything is changed; what is changed goes through ct_apply(), so that the
 * program's callbacks and start/stop routines hear of it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/operate.h"

#include <string.h>

#define NAME_SHOWN 64u   /* bytes of a name in a message */
#define NUMBER_FIELD 64u /* bytes of the small fields of a row, with room to spare */

static const struct ct_target *target(void)
{
	return ct_target_self();
}

static void refuse(struct ct_buf *out, enum ct_verb verb, enum ctrace_status status, struct ct_buf *message)
{
	ct_answer_whole(out, verb, status, message->size != 0 ? ct_buf_text(message) : ctrace_status_text(status));
}

/* ---- which components ---- */

static void complain_of_component(struct ct_buf *message, struct ct_span name, enum ctrace_status status)
{
	if (status == CTRACE_NOT_FOUND) {
		ct_buf_add_text(message, ct_operate_is_glob(name) ? "no component fits " : "no component ");
		ct_span_quote(message, name, NAME_SHOWN);
	} else if (status == CTRACE_INVALID_COMPONENT_NAME) {
		ct_span_quote(message, name, NAME_SHOWN);
		ct_buf_add_text(message,
				" is no component: expected 1 to 255 bytes, nothing empty between dots, or a pattern with * and ?");
	}
}

/* Finds them, or answers why not. */
static bool find_components(const struct ct_command *command, struct ct_buf *out, struct ct_matches *matches)
{
	enum ctrace_status status = ct_matches_find(command->component, matches);
	struct ct_buf message;

	if (status == CTRACE_OK)
		return true;
	ct_buf_init(&message);
	complain_of_component(&message, command->component, status);
	refuse(out, command->verb, status, &message);
	ct_buf_fini(&message);
	return false;
}

/* ---- rows ---- */

static void begin(struct ct_answer *answer, struct ct_buf *out, const struct ct_command *command, size_t count)
{
	char text[100];

	ct_answer_begin(answer, out, command->verb);
	if (count <= CT_OPERATE_ROWS)
		return;
	(void)snprintf(text, sizeof text, "%zu components; the first %u are listed", count, CT_OPERATE_ROWS);
	ct_answer_add(answer, CT_FIELD_MESSAGE, text, strlen(text));
}

struct row {
	struct ct_span subject;
	enum ct_field field; /* of the subject */
	const char *old;     /* terminated; NULL: none */
	const char *new;
};

static void add_row(struct ct_answer *answer, const struct row *row)
{
	ct_answer_row(answer, row->subject.size + 2 * CT_ANSWER_TEXT + NUMBER_FIELD);
	ct_answer_add(answer, row->field, row->subject.at, row->subject.size);
	if (row->old != NULL)
		ct_answer_add(answer, CT_FIELD_OLD, row->old, strlen(row->old));
	if (row->new != NULL)
		ct_answer_add(answer, CT_FIELD_NEW, row->new, strlen(row->new));
}

/* One of several could not be changed: the others were, and the answer has the first one's reason. */
static void add_failure(struct ct_answer *answer, enum ctrace_status *worst, enum ctrace_status status)
{
	const char *text = ctrace_status_text(status);

	ct_answer_add(answer, CT_FIELD_MESSAGE, text, strlen(text));
	if (*worst == CTRACE_OK)
		*worst = status;
}

/* ---- levels ---- */

/* The threshold in force; of a name that only stands above others, what it would have. */
static uint32_t level_of(const struct ct_matches *matches, size_t i)
{
	uint32_t index = matches->items[i].index;
	uint32_t level = CTRACE_LEVEL_NONE;

	if (index != CT_COMPONENT_NONE)
		return __atomic_load_n(&ct_registry_entry(ct_process.registry, index)->gate.level, __ATOMIC_RELAXED);
	if (ct_level_get(ct_process.registry, matches->name.at, matches->name.size, &level) != CTRACE_OK)
		return CTRACE_LEVEL_NONE;
	return level;
}

static void answer_levels(struct ct_answer *answer, const struct ct_command *command, struct ct_matches *matches)
{
	enum ctrace_status worst = CTRACE_OK;

	for (size_t i = 0; i < matches->count; i++)
		matches->items[i].old = level_of(matches, i);
	for (size_t i = 0; i < matches->count; i++) {
		struct ct_command one = *command;
		struct row row = { .subject = ct_match_name(matches, i), .field = CT_FIELD_COMPONENT };
		enum ctrace_status status = CTRACE_OK;

		one.component = row.subject;
		if (command->level != CT_LEVEL_ASKED)
			status = ct_apply(target(), &one);
		if (i >= CT_OPERATE_ROWS && status == CTRACE_OK)
			continue;
		row.old = ct_level_name(matches->items[i].old);
		row.new = ct_level_name(level_of(matches, i));
		add_row(answer, &row);
		if (status != CTRACE_OK)
			add_failure(answer, &worst, status);
	}
	ct_answer_set_status(answer, worst);
}

void ct_operate_level(const struct ct_command *command, struct ct_buf *out)
{
	struct ct_answer answer;
	struct ct_matches matches;

	if (!find_components(command, out, &matches))
		return;
	begin(&answer, out, command, matches.count);
	answer_levels(&answer, command, &matches);
	ct_answer_end(&answer);
	ct_matches_fini(&matches);
}

/* ---- emitters ---- */

void ct_operate_add_emitters(struct ct_buf *text, uint32_t mask)
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
	ct_span_quote(message, name, NAME_SHOWN);
	if (meant != NULL) {
		ct_buf_add_format(message, "; did you mean %s?", meant);
	} else {
		ct_buf_add_text(message, "; there are ");
		ct_operate_add_emitters(message, UINT32_MAX);
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
	return __atomic_load_n(&ct_registry_entry(ct_process.registry, index)->dests, __ATOMIC_ACQUIRE);
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
static void complain_of_removal(struct ct_buf *message, struct ct_span component, uint32_t dests)
{
	if (component.size == 0)
		ct_buf_add_text(message, "the default destinations are ");
	else
		ct_buf_add_text(message, "it has none of that name of its own; it and those above it have ");
	ct_operate_add_emitters(message, dests);
	if (component.size != 0)
		ct_buf_add_text(message, ": name exactly those that it is to have");
}

struct dest_change {
	const struct ct_command *command;
	struct ct_answer *answer;
	enum ctrace_status worst;
	bool is_question;
};

static void change_dest(struct dest_change *change, const struct ct_target *quiet, const struct ct_matches *matches, size_t i)
{
	struct ct_command one = *change->command;
	struct row row = { .subject = ct_match_name(matches, i), .field = CT_FIELD_COMPONENT };
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
	ct_operate_add_emitters(&old, matches->items[i].old);
	ct_operate_add_emitters(&new, dests_of(&matches->items[i], row.subject));
	row.old = ct_buf_text(&old);
	row.new = ct_buf_text(&new);
	add_row(change->answer, &row);
	if (status == CTRACE_EMITTER_NOT_FOUND) {
		complain_of_removal(&why, row.subject, matches->items[i].old);
		ct_answer_add(change->answer, CT_FIELD_MESSAGE, ct_buf_text(&why), why.size);
		change->worst = status;
	} else if (status != CTRACE_OK) {
		add_failure(change->answer, &change->worst, status);
	}
	ct_buf_fini(&old);
	ct_buf_fini(&new);
	ct_buf_fini(&why);
}

/* The drain is held still once for all of them, and not again for each. */
static void change_dests(const struct ct_command *command, struct ct_answer *answer, struct ct_matches *matches)
{
	const struct ct_target *self = target();
	struct ct_target quiet = *self;
	struct dest_change change = { .command = command,
				      .answer = answer,
				      .is_question = command->list.at == NULL && command->emitter.at == NULL };

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
		refuse(out, command->verb, CTRACE_EMITTER_NOT_FOUND, &message);
	} else if (find_components(command, out, &matches)) {
		begin(&answer, out, command, matches.count);
		change_dests(command, &answer, &matches);
		ct_answer_end(&answer);
		ct_matches_fini(&matches);
	}
	ct_buf_fini(&message);
}

/* ---- properties of components ---- */

/* What a property is now; false when it was never set. */
static bool component_value(struct ct_span component, struct ct_span property, struct ct_buf *out_value)
{
	ct_buf_clear(out_value);
	return ct_component_property_get(ct_process.registry, component.at, component.size, property.at, property.size, out_value) ==
	       CTRACE_OK;
}

static void answer_component_property(struct ct_answer *answer, const struct ct_command *command, const struct ct_matches *matches)
{
	enum ctrace_status worst = CTRACE_OK;
	struct ct_buf old, new;

	ct_buf_init(&old);
	ct_buf_init(&new);
	for (size_t i = 0; i < matches->count; i++) {
		struct ct_command one = *command;
		struct row row = { .subject = ct_match_name(matches, i), .field = CT_FIELD_COMPONENT };
		enum ctrace_status status;

		one.component = row.subject;
		row.old = component_value(row.subject, command->property, &old) ? ct_buf_text(&old) : NULL;
		status = ct_apply(target(), &one);
		if (i >= CT_OPERATE_ROWS && status == CTRACE_OK)
			continue;
		row.new = component_value(row.subject, command->property, &new) ? ct_buf_text(&new) : NULL;
		add_row(answer, &row);
		if (status != CTRACE_OK)
			add_failure(answer, &worst, status);
	}
	ct_answer_set_status(answer, worst);
	ct_buf_fini(&old);
	ct_buf_fini(&new);
}

/* Those that have it; true when there is one. */
static bool tell_component_property(struct ct_answer *answer, const struct ct_command *command, const struct ct_matches *matches)
{
	struct ct_buf value;
	uint32_t told = 0;

	ct_buf_init(&value);
	for (size_t i = 0; i < matches->count && told < CT_OPERATE_ROWS; i++) {
		struct ct_span name = ct_match_name(matches, i);

		if (!component_value(name, command->property, &value))
			continue;
		ct_answer_row(answer, name.size + CT_ANSWER_TEXT + NUMBER_FIELD);
		ct_answer_add(answer, CT_FIELD_COMPONENT, name.at, name.size);
		ct_answer_add(answer, CT_FIELD_VALUE, ct_buf_text(&value), value.size);
		told++;
	}
	ct_buf_fini(&value);
	return told != 0;
}

static void complain_of_property(struct ct_answer *answer, const struct ct_command *command)
{
	struct ct_buf message;

	ct_buf_init(&message);
	ct_buf_add_text(&message, "property ");
	ct_span_quote(&message, command->property, NAME_SHOWN);
	ct_buf_add_text(&message, " was never set");
	ct_answer_add(answer, CT_FIELD_MESSAGE, ct_buf_text(&message), message.size);
	ct_answer_set_status(answer, CTRACE_PROPERTY_NOT_FOUND);
	ct_buf_fini(&message);
}

static void operate_component_property(const struct ct_command *command, struct ct_buf *out)
{
	struct ct_answer answer;
	struct ct_matches matches;

	if (!find_components(command, out, &matches))
		return;
	if (command->verb == CT_VERB_COMPONENT_PROPERTY) {
		begin(&answer, out, command, matches.count);
		answer_component_property(&answer, command, &matches);
	} else {
		ct_answer_begin(&answer, out, command->verb);
		if (!tell_component_property(&answer, command, &matches))
			complain_of_property(&answer, command);
	}
	ct_answer_end(&answer);
	ct_matches_fini(&matches);
}

/* ---- properties of emitters ---- */

/* One that tells which properties it has is only given those. */
static bool has_property(const struct ctrace_emitter *emitter, struct ct_span property, struct ct_buf *message)
{
	const struct ctrace_property *row = emitter->properties;
	const char *between = "";

	if (row == NULL || ct_emitter_property(emitter, property.at, property.size) != NULL)
		return true;
	ct_buf_add_format(message, "%s has no property ", emitter->name);
	ct_span_quote(message, property, NAME_SHOWN);
	ct_buf_add_text(message, row->name != NULL ? "; it has " : "; it has none");
	for (; row->name != NULL; row++, between = ", ")
		ct_buf_add_format(message, "%s%s", between, row->name);
	return false;
}

static bool emitter_value(uint32_t emitter, struct ct_span property, struct ct_buf *out_value)
{
	ct_buf_clear(out_value);
	return ct_emitter_property_get(ct_process.registry, emitter, property.at, property.size, out_value) == CTRACE_OK;
}

static void answer_emitter_property(const struct ct_command *command, uint32_t emitter, struct ct_buf *out)
{
	const char *name = ct_emitter_at(emitter)->name;
	struct row row = { .subject = { name, strlen(name) }, .field = CT_FIELD_EMITTER };
	enum ctrace_status status;
	struct ct_answer answer;
	struct ct_buf old, new;

	ct_buf_init(&old);
	ct_buf_init(&new);
	ct_answer_begin(&answer, out, command->verb);
	row.old = emitter_value(emitter, command->property, &old) ? ct_buf_text(&old) : NULL;
	status = ct_apply(target(), command);
	row.new = emitter_value(emitter, command->property, &new) ? ct_buf_text(&new) : NULL;
	add_row(&answer, &row);
	if (status != CTRACE_OK) {
		enum ctrace_status worst = CTRACE_OK;

		add_failure(&answer, &worst, status);
		ct_answer_set_status(&answer, worst);
	}
	ct_answer_end(&answer);
	ct_buf_fini(&old);
	ct_buf_fini(&new);
}

static void tell_emitter_property(const struct ct_command *command, uint32_t emitter, struct ct_buf *out)
{
	const char *name = ct_emitter_at(emitter)->name;
	struct ct_answer answer;
	struct ct_buf value;

	ct_buf_init(&value);
	ct_answer_begin(&answer, out, command->verb);
	if (emitter_value(emitter, command->property, &value)) {
		ct_answer_add(&answer, CT_FIELD_EMITTER, name, strlen(name));
		ct_answer_add(&answer, CT_FIELD_VALUE, ct_buf_text(&value), value.size);
	} else {
		complain_of_property(&answer, command);
	}
	ct_answer_end(&answer);
	ct_buf_fini(&value);
}

static void operate_emitter_property(const struct ct_command *command, struct ct_buf *out)
{
	struct ct_buf message;
	uint32_t emitter;

	ct_buf_init(&message);
	if (!ct_operate_knows_emitter(command->emitter, &emitter, &message))
		refuse(out, command->verb, CTRACE_EMITTER_NOT_FOUND, &message);
	else if (!has_property(ct_emitter_at(emitter), command->property, &message))
		refuse(out, command->verb, CTRACE_PROPERTY_NOT_FOUND, &message);
	else if (command->verb == CT_VERB_EMITTER_PROPERTY)
		answer_emitter_property(command, emitter, out);
	else
		tell_emitter_property(command, emitter, out);
	ct_buf_fini(&message);
}

void ct_operate_property(const struct ct_command *command, struct ct_buf *out)
{
	struct ct_command one = *command;

	if (one.property.size == 0 || one.property.size > CTRACE_MAX_PROPERTY) {
		ct_answer_whole(out, one.verb, CTRACE_INVALID_PROP_NAME, "expected the name of a property, of 1 to 255 bytes");
		return;
	}
	if (one.value.at == NULL)
		one.value = (struct ct_span){ "", 0 };
	if (one.verb == CT_VERB_EMITTER_PROPERTY || (one.verb == CT_VERB_PROPERTY_GET && one.emitter.at != NULL))
		operate_emitter_property(&one, out);
	else if (one.component.size == 0)
		ct_answer_whole(out, one.verb, CTRACE_INVALID_COMPONENT_NAME,
				"a property belongs to a component or an emitter: expected its name");
	else
		operate_component_property(&one, out);
}
