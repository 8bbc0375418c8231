/*
 * third_party_class.c - the event classes of a third-party trace: their component, number, name and
 * level.
 *
 * Called by source_third_party.c, on the reader's thread, when a class is first met: a trace may
 * describe many thousands and hold few.  The names are the trace's own, so they may be anything;
 * finding a component costs steps of the calling stream.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/third_party_parts.h"

#include <stdlib.h>
#include <string.h>

bool ct_third_party_classes_init(struct ct_third_party_trace *trace)
{
	trace->classes = calloc(trace->tsdl->event_count + 1, sizeof *trace->classes);
	return trace->classes != NULL;
}

void ct_third_party_classes_fini(struct ct_third_party_trace *trace)
{
	for (unsigned i = 0; i < CT_THIRD_PARTY_COMPONENTS; i++) {
		while (trace->components[i] != NULL) {
			struct ct_third_party_component *next = trace->components[i]->next;

			free(trace->components[i]);
			trace->components[i] = next;
		}
	}
	free(trace->classes);
	trace->classes = NULL;
}

static const struct ct_third_party_component *
component_find(struct ct_third_party_trace *trace, const char *name, size_t size, uint64_t *steps)
{
	struct ct_third_party_component *component, **place;

	if (size > CTRACE_MAX_COMPONENT)
		size = CTRACE_MAX_COMPONENT;
	place = &trace->components[ct_name_hash(name, size) % CT_THIRD_PARTY_COMPONENTS];
	for (component = *place; component != NULL; component = component->next) {
		if (component->size == size && memcmp(component->name, name, size) == 0)
			return component;
		*steps -= *steps > 0;
	}
	component = calloc(1, sizeof *component);
	if (component == NULL)
		return NULL;
	component->id = ++trace->component_count;
	component->size = (uint32_t)size;
	memcpy(component->name, name, size);
	component->next = *place;
	*place = component;
	return component;
}

static bool text_is_number(const char *text, uint32_t *out_number)
{
	size_t size = strlen(text);
	unsigned long value;

	if (size == 0 || size > 10 || strspn(text, "0123456789") != size)
		return false;
	value = strtoul(text, NULL, 10);
	*out_number = (uint32_t)value;
	return value <= UINT32_MAX;
}

/* Returns the component for events whose names do not contain one. */
static const char *tracer_name(const struct ct_tsdl *tsdl)
{
	const char *tracer = ct_tsdl_env_text(tsdl, "tracer_name", "");

	if (strcmp(ct_tsdl_env_text(tsdl, "domain", ""), "kernel") == 0)
		return "kernel";
	return tracer[0] != '\0' ? tracer : "trace";
}

/* "shop:order" is the component shop's order; "MY.COMP:12" is MY.COMP's event 12. */
static bool class_split_name(struct ct_third_party_trace *trace, struct ct_third_party_class *class,
			     uint64_t *steps)
{
	const char *name = class->event->name, *colon = strrchr(name, ':');
	uint32_t number;

	class->event_id = (uint32_t) class->event->id;
	if (colon != NULL && text_is_number(colon + 1, &number)) {
		class->event_id = number;
	} else {
		colon = strchr(name, ':');
		class->mnemonic = colon != NULL ? colon + 1 : name;
		if (class->mnemonic[0] == '\0')
			class->mnemonic = NULL;
	}
	if (colon != NULL && colon > name) {
		class->component = component_find(trace, name, (size_t)(colon - name), steps);
	} else {
		name = tracer_name(trace->tsdl);
		class->component = component_find(trace, name, strlen(name), steps);
	}
	return class->component != NULL;
}

/* Translates a level of LTTng or syslog. */
static uint32_t level_translate(int64_t level)
{
	if (level < 0)
		return CTRACE_INFO;
	if (level <= 2)
		return CTRACE_FATAL;
	if (level == 3)
		return CTRACE_ERROR;
	if (level == 4)
		return CTRACE_WARN;
	return level <= 6 ? CTRACE_INFO : CTRACE_DEBUG;
}

struct ct_third_party_class *ct_third_party_class(struct ct_third_party_trace *trace,
						  const struct ct_tsdl_event *declared,
						  uint64_t *steps)
{
	struct ct_third_party_class *class = &trace->classes[declared->index];

	if (class->is_known)
		return class;
	class->event = declared;
	class->level = level_translate(declared->level);
	if (!class_split_name(trace, class, steps))
		return NULL;
	class->context = declared->context != NULL ? ct_third_party_root(&trace->tree) : NULL;
	class->fields = declared->fields != NULL ? ct_third_party_root(&trace->tree) : NULL;
	class->is_known = (declared->context == NULL || class->context != NULL) &&
			  (declared->fields == NULL || class->fields != NULL);
	return class->is_known ? class : NULL;
}

/* Out of line, so that calls for known classes do not pay for its large event. */
static __attribute__((noinline)) void class_look_up(const struct ct_sources *sources,
						    struct ct_third_party_class *class)
{
	/* Only each event knows the names of its items. */
	const struct ct_event_names names = { .mnemonic = class->mnemonic, .is_open = true };
	struct ct_read_event event = { .traced = { .component = class->component->name,
						   .component_size = class->component->size,
						   .event_id = class->event_id,
						   .level = class->level },
				       .names = &names };

	class->filter_result = (uint8_t)((unsigned)ct_sources_class(sources, &event) + 1);
	class->catalogued = event.component;
	class->type = event.type;
}

enum ct_filter_result ct_third_party_class_filter_result(const struct ct_sources *sources,
							 struct ct_third_party_class *class)
{
	if (class->filter_result == 0)
		class_look_up(sources, class);
	return (enum ct_filter_result)(class->filter_result - 1);
}
