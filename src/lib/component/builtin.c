/*
 * builtin.c - TRACE CT for a tracer that no program has defined: its built-in start/stop routine.
 *
 * Runs on the thread that gave the command.  The options are those of configuration lines:
 * 'LEVEL=INFO', 'DEST=(TEXTFILE,STDERR)', and any other 'name=value', a property of the component.
 * All options are checked before the first takes effect.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include "lib/component/writer_link.h"

#include <string.h>

/* Takes one option from a list; commas inside parentheses do not separate. */
static bool option_next(struct ct_span *list, struct ct_span *out_option)
{
	unsigned depth = 0;
	size_t size = 0;

	if (list->size == 0)
		return false;
	while (size < list->size && (list->at[size] != ',' || depth != 0)) {
		depth += list->at[size] == '(';
		depth -= list->at[size] == ')' && depth != 0;
		size++;
	}
	*out_option = (struct ct_span){ list->at, size };
	size += size < list->size;
	list->at += size;
	list->size -= size;
	return true;
}

static bool option_split(struct ct_span option, struct ct_span *out_name, struct ct_span *out_value)
{
	const char *equals = memchr(option.at, '=', option.size);

	if (equals == NULL || equals == option.at)
		return false;
	*out_name = (struct ct_span){ option.at, (size_t)(equals - option.at) };
	*out_value = (struct ct_span){ equals + 1, option.size - out_name->size - 1 };
	return true;
}

static struct ct_span list_without_parentheses(struct ct_span list)
{
	if (list.size >= 2 && list.at[0] == '(' && list.at[list.size - 1] == ')')
		return (struct ct_span){ list.at + 1, list.size - 2 };
	return list;
}

static bool dests_are_known(struct ct_span list)
{
	struct ct_span name;
	uint32_t emitter;
	bool known = false;

	while (ct_config_next_word(&list, &name)) {
		if (ct_emitter_find(name.at, name.size, &emitter) != CTRACE_OK)
			return false;
		known = true;
	}
	return known;
}

bool ct_builtin_dests_each(struct ct_span options, bool (*each)(struct ct_span list))
{
	struct ct_span option, name, value;

	while (option_next(&options, &option))
		if (option_split(option, &name, &value) && ct_name_is(name.at, name.size, "DEST") &&
		    !each(list_without_parentheses(value)))
			return false;
	return true;
}

/* Parses an option into a command; CT_VERB_NONE and *out_why when it is not valid. */
static struct ct_command option_command(struct ct_span component, struct ct_span option,
					const char **out_why)
{
	struct ct_command command = { .verb = CT_VERB_NONE, .component = component };
	struct ct_span name;
	struct ct_span value;

	*out_why = "is not LEVEL=..., DEST=(...) or property=...";
	if (!option_split(option, &name, &value))
		return command;
	if (ct_name_is(name.at, name.size, "LEVEL")) {
		*out_why = "has no level: none, debug, info, warn, error, fatal";
		if (ct_level_parse(value.at, value.size, &command.level))
			command.verb = CT_VERB_LEVEL;
	} else if (ct_name_is(name.at, name.size, "DEST")) {
		*out_why = "has an unknown emitter";
		command.list = list_without_parentheses(value);
		if (dests_are_known(command.list))
			command.verb = CT_VERB_DEST_ADD;
	} else {
		*out_why = "is no property";
		command.property = name;
		command.value = value;
		if (name.size <= CTRACE_MAX_PROPERTY)
			command.verb = CT_VERB_COMPONENT_PROPERTY;
	}
	return command;
}

/* With `target` NULL only checks the options.  The caller applies *level. */
static uint32_t options_apply(const struct ct_target *target, struct ct_span component,
			      const struct ct_trace_request *request, uint32_t *level,
			      struct ctrace_outcome *out)
{
	struct ct_span list = { request->options, request->options_size };
	struct ct_span option;

	while (option_next(&list, &option)) {
		const char *why;
		struct ct_command command = option_command(component, option, &why);

		if (command.verb == CT_VERB_NONE) {
			out->ss_rc = 4;
			return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_ROUTINE_REFUSED,
					      "option %.*s %s", (int)option.size, option.at, why);
		}
		if (command.verb == CT_VERB_LEVEL)
			*level = command.level;
		else if (target != NULL && ct_apply(target, &command) != CTRACE_OK)
			return ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE,
					      "no memory for option %.*s", (int)option.size,
					      option.at);
	}
	return CTRACE_RC_OK;
}

static uint32_t request_check(const struct ct_trace_request *request, struct ctrace_outcome *out)
{
	if (request->asid_count != 0)
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_NO_ASIDS,
				      "only a trace that a program has defined has filters");
	if (request->jobname_count != 0)
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_NO_JOBS,
				      "only a trace that a program has defined has filters");
	return CTRACE_RC_OK;
}

static enum ctrace_status builtin_set_writer(struct ct_span component,
					     const struct ct_trace_request *request)
{
	if (request->state == CTRACE_CT_OFF || request->disconnect)
		ct_writer_reset(component.at, component.size);
	else if (request->has[CT_CLAUSE_WTR])
		return ct_writer_set(component.at, component.size, request->writer);
	return CTRACE_OK;
}

uint32_t ct_builtin_command(const char *name, const struct ct_trace_request *request,
			    struct ctrace_outcome *out)
{
	const struct ct_target *target = ct_target_self();
	struct ct_span component = { name, strlen(name) };
	struct ct_command level = { .verb = CT_VERB_LEVEL,
				    .component = component,
				    .level = CTRACE_DEBUG };
	enum ctrace_status status = CTRACE_OK;
	uint32_t rc = request_check(request, out);

	if (rc == CTRACE_RC_OK)
		rc = options_apply(NULL, component, request, &level.level, out);
	if (rc != CTRACE_RC_OK)
		return rc;
	if (request->has[CT_CLAUSE_BUFSIZE])
		status = ct_channel_set_buffer(target->registry, component.at, component.size,
					       ct_status_granted(request->bufsize));
	if (status == CTRACE_OK)
		status = builtin_set_writer(component, request);
	if (status == CTRACE_OK)
		rc = options_apply(target, component, request, &level.level, out);
	if (request->state == CTRACE_CT_OFF)
		level.level = CTRACE_LEVEL_NONE;
	else if (request->state == CTRACE_CT_LIKEHEAD)
		level.level = CT_LEVEL_UNSET;
	if (status == CTRACE_OK && rc == CTRACE_RC_OK)
		status = ct_apply(target, &level);
	if (status != CTRACE_OK)
		return ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE,
				      "no memory to change the tracer");
	if (rc == CTRACE_RC_OK && request->state != CTRACE_CT_OFF && request->writer[0] != '\0' &&
	    !ct_writer_is_connected(request->writer))
		return ct_outcome_set(out, CTRACE_RC_OK, 0, CT_NO_WRITER, request->writer);
	return rc;
}
