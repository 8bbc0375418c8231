/*
 * native.c - the control half of ctrace/ctrace.h: settings and queries of a C program.
 *
 * The traced program calls it on any of its threads, not in a signal handler.  It keeps errno.  A
 * change is in force when the function returns, and the program's callbacks have run.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/control.h"

#include <errno.h>
#include <string.h>

/* No valid name is longer; nothing beyond is read. */
#define NAME_READ 256u

static struct ct_span span_of_name(const char *name)
{
	return (struct ct_span){ name, name == NULL ? 0 : strnlen(name, NAME_READ) };
}

static struct ct_span span_of_text(const char *text)
{
	return (struct ct_span){ text == NULL ? "" : text, text == NULL ? 0 : strlen(text) };
}

static enum ctrace_status command_apply(const struct ct_command *command)
{
	CT_CANCEL_OFF();
	int saved = errno;
	const struct ct_target *target = ct_target_self();
	enum ctrace_status status =
		target == NULL ? CTRACE_NOT_ENOUGH_MEMORY : ct_apply(target, command);

	errno = saved;
	return status;
}

enum ctrace_status ctrace_configure(const char *line)
{
	CT_CANCEL_OFF();
	int saved = errno;
	struct ct_command command = { .verb = CT_VERB_NONE };
	enum ctrace_status status = CTRACE_SYNTAX_ERROR;

	if (line != NULL)
		status = ct_config_parse_line(line, strlen(line), &command, NULL);
	errno = saved;
	if (status != CTRACE_OK || command.verb == CT_VERB_NONE)
		return status;
	status = command_apply(&command);
	return status == CTRACE_EMITTER_NOT_FOUND ? CTRACE_SYNTAX_ERROR : status;
}

bool ctrace_has_command_line_(void)
{
	return __atomic_load_n(&ct_process.settings.command_line, __ATOMIC_RELAXED);
}

enum ctrace_status ctrace_tracer_get(const char *name, struct ctrace_tracer **out_tracer)
{
	CT_CANCEL_OFF();
	int saved = errno;
	struct ct_span component = span_of_name(name);
	enum ctrace_status status = ct_component_check_name(component.at, component.size);
	struct ct_registry *registry;
	uint32_t index;

	if (status != CTRACE_OK)
		return status;
	if (out_tracer == NULL)
		return CTRACE_FAILURE;
	registry = ct_registry_self();
	status = CTRACE_NOT_ENOUGH_MEMORY;
	if (registry != NULL)
		status = ct_registry_register(registry, component.at, component.size, &index);
	if (status == CTRACE_OK) {
		*out_tracer = ct_registry_tracer(registry, index);
		__atomic_store_n(&(*out_tracer)->level_word, ct_process_level_word(index),
				 __ATOMIC_RELEASE);
	}
	errno = saved;
	return status;
}

enum ctrace_status ctrace_level_set(const char *component, uint32_t level)
{
	struct ct_command command = { .verb = CT_VERB_LEVEL,
				      .component = span_of_name(component),
				      .level = level };

	if (level >= CTRACE_LEVEL_COUNT && level != CTRACE_LEVEL_NONE)
		return CTRACE_INVALID_TRACE_LEVEL;
	return command_apply(&command);
}

enum ctrace_status ctrace_level_get(const char *component, uint32_t *out_level)
{
	CT_CANCEL_OFF();
	int saved = errno;
	struct ct_span name = span_of_name(component);
	struct ct_registry *registry;
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

	if (out_level == NULL)
		return CTRACE_FAILURE;
	registry = ct_registry_self();
	if (registry != NULL)
		status = ct_level_get(registry, name.at, name.size, out_level);
	errno = saved;
	return status;
}

enum ctrace_status ctrace_dest_set(const char *component, const char *emitter, uint32_t how)
{
	struct ct_command command = {
		.verb = (how & CTRACE_DEST_REMOVE) != 0 ? CT_VERB_DEST_REMOVE : CT_VERB_DEST_ADD,
		.component = span_of_name(component),
		.emitter = span_of_name(emitter),
		.no_inherit = (how & CTRACE_DEST_NOINHERIT) != 0,
	};

	return command_apply(&command);
}

enum ctrace_status ctrace_component_property_set(const char *component, const char *property,
						 const char *value)
{
	struct ct_command command = {
		.verb = CT_VERB_COMPONENT_PROPERTY,
		.component = span_of_name(component),
		.property = span_of_name(property),
		.value = span_of_text(value),
	};

	return command_apply(&command);
}

enum ctrace_status ctrace_emitter_property_set(const char *emitter, const char *property,
					       const char *value)
{
	struct ct_command command = {
		.verb = CT_VERB_EMITTER_PROPERTY,
		.emitter = span_of_name(emitter),
		.property = span_of_name(property),
		.value = span_of_text(value),
	};

	return command_apply(&command);
}

/* Copies a getter's value: on entry *size is the room with the NUL, on return the length without
 * it. */
static enum ctrace_status value_give(struct ct_buf *text, char *value, size_t *size)
{
	size_t room = *size;

	*size = text->size;
	if (value == NULL)
		return CTRACE_OK;
	if (room <= text->size)
		return CTRACE_BUFFER_TOO_SMALL;
	if (text->size != 0)
		memcpy(value, text->data, text->size);
	value[text->size] = '\0';
	return CTRACE_OK;
}

enum ctrace_status ctrace_component_property_get(const char *component, const char *property,
						 char *value, size_t *size)
{
	CT_CANCEL_OFF();
	int saved = errno;
	struct ct_span name = span_of_name(component);
	struct ct_span key = span_of_name(property);
	struct ct_registry *registry;
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;
	struct ct_buf text;

	if (size == NULL)
		return CTRACE_FAILURE;
	ct_buf_init(&text);
	registry = ct_registry_self();
	if (registry != NULL)
		status = ct_component_property_get(registry, name.at, name.size, key.at, key.size,
						   &text);
	if (status == CTRACE_OK)
		status = value_give(&text, value, size);
	ct_buf_fini(&text);
	errno = saved;
	return status;
}

enum ctrace_status ctrace_emitter_property_get(const char *emitter, const char *property,
					       char *value, size_t *size)
{
	CT_CANCEL_OFF();
	int saved = errno;
	struct ct_span name = span_of_name(emitter);
	struct ct_span key = span_of_name(property);
	struct ct_registry *registry;
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;
	struct ct_buf text;
	uint32_t index;

	if (size == NULL)
		return CTRACE_FAILURE;
	ct_buf_init(&text);
	registry = ct_registry_self();
	if (registry != NULL)
		status = ct_emitter_find(name.at, name.size, &index);
	if (status == CTRACE_OK)
		status = ct_emitter_property_get(registry, index, key.at, key.size, &text);
	if (status == CTRACE_OK)
		status = value_give(&text, value, size);
	ct_buf_fini(&text);
	errno = saved;
	return status;
}
