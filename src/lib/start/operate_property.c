/*
 * operate_property.c - properties of components and emitters, as an operator changes and asks for
 * them.
 *
 * Runs on the control thread.  An emitter that says which properties it has is given no other, and
 * no value that its table does not allow; a component may have any.  A question without a name is
 * for all of them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/operate.h"

#include <string.h>

/* ---- properties of components ---- */

/* What a property is now; false when it was never set. */
static bool component_value(struct ct_span component, struct ct_span property,
			    struct ct_buf *out_value)
{
	ct_buf_clear(out_value);
	return ct_component_property_get(ct_process.registry, component.at, component.size,
					 property.at, property.size, out_value) == CTRACE_OK;
}

static void answer_component_property(struct ct_answer *answer, const struct ct_command *command,
				      const struct ct_matches *matches)
{
	enum ctrace_status worst = CTRACE_OK;
	struct ct_buf old, new;

	ct_buf_init(&old);
	ct_buf_init(&new);
	for (size_t i = 0; i < matches->count; i++) {
		struct ct_command one = *command;
		struct ct_operate_row row = { .subject = ct_match_name(matches, i),
					      .field = CT_FIELD_COMPONENT };
		enum ctrace_status status;

		one.component = row.subject;
		row.old = component_value(row.subject, command->property, &old) ? ct_buf_text(&old)
										: NULL;
		status = ct_apply(ct_target_self(), &one);
		if (i >= CT_OPERATE_ROWS && status == CTRACE_OK)
			continue;
		row.new = component_value(row.subject, command->property, &new) ? ct_buf_text(&new)
										: NULL;
		ct_operate_add_row(answer, &row);
		if (status != CTRACE_OK)
			ct_operate_add_failure(answer, &worst, status);
	}
	ct_answer_set_status(answer, worst);
	ct_buf_fini(&old);
	ct_buf_fini(&new);
}

/* Reports the components that have it; returns true when there is one. */
static bool report_component_property(struct ct_answer *answer, const struct ct_command *command,
				      const struct ct_matches *matches)
{
	struct ct_buf value;
	uint32_t reported = 0;

	ct_buf_init(&value);
	for (size_t i = 0; i < matches->count && reported < CT_OPERATE_ROWS; i++) {
		struct ct_span name = ct_match_name(matches, i);

		if (!component_value(name, command->property, &value))
			continue;
		ct_answer_row(answer, name.size + CT_ANSWER_TEXT + 64u);
		ct_answer_add(answer, CT_FIELD_COMPONENT, name.at, name.size);
		ct_answer_add(answer, CT_FIELD_VALUE, ct_buf_text(&value), value.size);
		reported++;
	}
	ct_buf_fini(&value);
	return reported != 0;
}

/* ---- all of a component's or an emitter's ---- */

/* What a property of an emitter is, without a password. */
static void answer_add_shown(struct ct_answer *answer, enum ct_field field, struct ct_span name,
			     struct ct_span value)
{
	struct ct_buf shown;

	ct_buf_init(&shown);
	ct_property_shown(&shown, name, value);
	ct_answer_add(answer, field, ct_buf_text(&shown), shown.size);
	ct_buf_fini(&shown);
}

struct listing {
	struct ct_answer *answer;
	enum ct_field field;
	struct ct_span owner;
	const struct ctrace_emitter *emitter;
	uint32_t count; /* rows */
};

static void list_property(const char *name, size_t name_size, const char *value, size_t value_size,
			  void *user)
{
	struct listing *listing = user;

	if (listing->count >= CT_OPERATE_ROWS)
		return;
	ct_answer_row(listing->answer, listing->owner.size + name_size + CT_ANSWER_TEXT + 64u);
	ct_answer_add(listing->answer, listing->field, listing->owner.at, listing->owner.size);
	ct_answer_add(listing->answer, CT_FIELD_PROPERTY, name, name_size);
	if (value != NULL && listing->field == CT_FIELD_EMITTER)
		answer_add_shown(listing->answer, CT_FIELD_VALUE,
				 (struct ct_span){ name, name_size },
				 (struct ct_span){ value, value_size });
	else if (value != NULL)
		ct_answer_add(listing->answer, CT_FIELD_VALUE, value, value_size);
	listing->count++;
}

static void list_components(struct listing *listing, const struct ct_matches *matches)
{
	for (size_t i = 0; i < matches->count; i++) {
		uint32_t index;

		listing->owner = ct_match_name(matches, i);
		if (ct_registry_find_any(ct_process.registry, listing->owner.at,
					 listing->owner.size, &index) == CTRACE_OK)
			ct_component_property_each(ct_process.registry, index, list_property,
						   listing);
	}
}

/* Lists properties that were set but are not in the emitter's table. */
static void list_other(const char *name, size_t name_size, const char *value, size_t value_size,
		       void *user)
{
	const struct listing *listing = user;

	if (ct_emitter_property(listing->emitter, name, name_size) == NULL)
		list_property(name, name_size, value, value_size, user);
}

static void list_emitter(struct listing *listing, uint32_t emitter)
{
	const struct ctrace_property *row = ct_emitter_at(emitter)->properties;
	struct ct_buf value;

	listing->emitter = ct_emitter_at(emitter);
	listing->owner = (struct ct_span){ listing->emitter->name, strlen(listing->emitter->name) };
	ct_buf_init(&value);
	for (; row != NULL && row->name != NULL; row++) {
		size_t size = strlen(row->name);

		ct_buf_clear(&value);
		if (ct_emitter_property_get(ct_process.registry, emitter, row->name, size,
					    &value) == CTRACE_OK)
			list_property(row->name, size, ct_buf_text(&value), value.size, listing);
		else
			list_property(row->name, size, NULL, 0, listing);
	}
	ct_buf_fini(&value);
	ct_emitter_property_each(ct_process.registry, emitter, list_other, listing);
}

static void diagnose_of_property(struct ct_answer *answer, const struct ct_command *command)
{
	struct ct_buf message;

	ct_buf_init(&message);
	ct_buf_add_text(&message, command->property.size == 0 ? "no property" : "property ");
	if (command->property.size != 0)
		ct_span_quote(&message, command->property, CT_OPERATE_NAME);
	ct_buf_add_text(&message, command->property.size == 0 ? " was ever set" : " was never set");
	ct_answer_add(answer, CT_FIELD_MESSAGE, ct_buf_text(&message), message.size);
	ct_answer_set_status(answer, CTRACE_PROPERTY_NOT_FOUND);
	ct_buf_fini(&message);
}

static void operate_component_property(const struct ct_command *command, struct ct_buf *out)
{
	struct ct_answer answer;
	struct ct_matches matches;

	if (!ct_operate_find(command, out, &matches))
		return;
	if (command->verb == CT_VERB_COMPONENT_PROPERTY) {
		ct_operate_begin(&answer, out, command, matches.count);
		answer_component_property(&answer, command, &matches);
	} else {
		struct listing listing = { .answer = &answer, .field = CT_FIELD_COMPONENT };

		ct_answer_begin(&answer, out, command->verb);
		if (command->property.size == 0)
			list_components(&listing, &matches);
		if (command->property.size == 0
			    ? listing.count == 0
			    : !report_component_property(&answer, command, &matches))
			diagnose_of_property(&answer, command);
	}
	ct_answer_end(&answer);
	ct_matches_fini(&matches);
}

/* ---- properties of emitters ---- */

/* An emitter with a table of properties accepts only those. */
static bool has_property(const struct ctrace_emitter *emitter, struct ct_span property,
			 struct ct_buf *message)
{
	const struct ctrace_property *row = emitter->properties;
	const char *between = "";

	if (row == NULL || ct_emitter_property(emitter, property.at, property.size) != NULL)
		return true;
	ct_buf_add_format(message, "%s has no property ", emitter->name);
	ct_span_quote(message, property, CT_OPERATE_NAME);
	ct_buf_add_text(message, row->name != NULL ? "; it has " : "; it has none");
	for (; row->name != NULL; row++, between = ", ")
		ct_buf_add_format(message, "%s%s", between, row->name);
	return false;
}

/* As people may see it. */
static bool emitter_value(uint32_t emitter, struct ct_span property, struct ct_buf *out_value)
{
	struct ct_buf value;
	bool is_set;

	ct_buf_init(&value);
	ct_buf_clear(out_value);
	is_set = ct_emitter_property_get(ct_process.registry, emitter, property.at, property.size,
					 &value) == CTRACE_OK;
	if (is_set)
		ct_property_shown(out_value, property,
				  (struct ct_span){ ct_buf_text(&value), value.size });
	ct_buf_fini(&value);
	return is_set;
}

static void answer_emitter_property(const struct ct_command *command, uint32_t emitter,
				    struct ct_buf *out)
{
	const char *name = ct_emitter_at(emitter)->name;
	struct ct_operate_row row = { .subject = { name, strlen(name) },
				      .field = CT_FIELD_EMITTER };
	enum ctrace_status status;
	struct ct_answer answer;
	struct ct_buf old, new;

	ct_buf_init(&old);
	ct_buf_init(&new);
	ct_answer_begin(&answer, out, command->verb);
	row.old = emitter_value(emitter, command->property, &old) ? ct_buf_text(&old) : NULL;
	status = ct_apply(ct_target_self(), command);
	row.new = emitter_value(emitter, command->property, &new) ? ct_buf_text(&new) : NULL;
	ct_operate_add_row(&answer, &row);
	if (status != CTRACE_OK) {
		enum ctrace_status worst = CTRACE_OK;

		ct_operate_add_failure(&answer, &worst, status);
		ct_answer_set_status(&answer, worst);
	}
	ct_answer_end(&answer);
	ct_buf_fini(&old);
	ct_buf_fini(&new);
}

static void report_emitter_property(const struct ct_command *command, uint32_t emitter,
				    struct ct_buf *out)
{
	const char *name = ct_emitter_at(emitter)->name;
	struct ct_answer answer;
	struct ct_buf value;

	ct_buf_init(&value);
	ct_answer_begin(&answer, out, command->verb);
	if (command->property.size == 0) {
		struct listing listing = { .answer = &answer, .field = CT_FIELD_EMITTER };

		list_emitter(&listing, emitter);
		if (listing.count == 0)
			diagnose_of_property(&answer, command);
	} else if (emitter_value(emitter, command->property, &value)) {
		ct_answer_add(&answer, CT_FIELD_EMITTER, name, strlen(name));
		ct_answer_add(&answer, CT_FIELD_VALUE, ct_buf_text(&value), value.size);
	} else {
		diagnose_of_property(&answer, command);
	}
	ct_answer_end(&answer);
	ct_buf_fini(&value);
}

/* What people write is checked; what programs set is not. */
static bool is_good_value(const struct ct_command *command, struct ct_buf *message)
{
	struct ct_diagnostic diagnostic;

	if (command->verb != CT_VERB_EMITTER_PROPERTY ||
	    ct_config_check_property(command, &diagnostic) != CT_PROPERTY_WRONG)
		return true;
	ct_buf_add_format(message, CT_DIAGNOSTIC_FORMAT, CT_DIAGNOSTIC_TEXT(&diagnostic));
	return false;
}

static void operate_emitter_property(const struct ct_command *command, struct ct_buf *out)
{
	struct ct_buf message;
	uint32_t emitter;

	ct_buf_init(&message);
	if (!ct_operate_knows_emitter(command->emitter, &emitter, &message))
		ct_operate_refuse(out, command->verb, CTRACE_EMITTER_NOT_FOUND, &message);
	else if (command->property.size != 0 &&
		 !has_property(ct_emitter_at(emitter), command->property, &message))
		ct_operate_refuse(out, command->verb, CTRACE_PROPERTY_NOT_FOUND, &message);
	else if (!is_good_value(command, &message))
		ct_operate_refuse(out, command->verb, CTRACE_SYNTAX_ERROR, &message);
	else if (command->verb == CT_VERB_EMITTER_PROPERTY)
		answer_emitter_property(command, emitter, out);
	else
		report_emitter_property(command, emitter, out);
	ct_buf_fini(&message);
}

void ct_operate_property(const struct ct_command *command, struct ct_buf *out)
{
	struct ct_command one = *command;

	if ((one.property.size == 0 && one.verb != CT_VERB_PROPERTY_GET) ||
	    one.property.size > CTRACE_MAX_PROPERTY) {
		ct_answer_whole(out, one.verb, CTRACE_INVALID_PROP_NAME,
				"expected the name of a property, of 1 to 255 bytes");
		return;
	}
	if (one.value.at == NULL)
		one.value = (struct ct_span){ "", 0 };
	if (one.verb == CT_VERB_EMITTER_PROPERTY ||
	    (one.verb == CT_VERB_PROPERTY_GET && one.emitter.at != NULL))
		operate_emitter_property(&one, out);
	else if (one.component.size == 0)
		ct_answer_whole(
			out, one.verb, CTRACE_INVALID_COMPONENT_NAME,
			"a property belongs to a component or an emitter: expected its name");
	else
		operate_component_property(&one, out);
}
