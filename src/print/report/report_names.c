/*
 * report_names.c - what the events of a report refer to: processes, threads, components, types of
 * events; each of them once, as JSON.
 *
 * Called by report_pack.c for each event, and nearly always answered by one look-up in a table.  A
 * class is what events have in common: component, event id, level, and their names in the catalogue
 * or the trace.  In the page:
 *
 *     "components": [{"name", "description", "entries"}]
 *                   entries: how many of its events begin spans
 *     "types":      [{"mnemonic", "description", "pairing", "pair", "is_exception",
 *                     "span": [index of an argument that names the span, ...],
 *                     "arguments": [{"name", "description", "print", ...}]}]
 *     "named":      [{"mnemonic", "items": [name, ...]}]
 *                   names that a trace itself has
 *     "encodings":  {"ebcdic-037": its 256 characters, ...}
 *     "classes":    [[component, event id, level, type or -1, named or -1], ...]
 *     "origins":
 *                   [{"path", "host", "program", "jobname", "pid", "asid", "is_third_party"}]
 *     "threads":    [[source process, process id, thread id], ...]
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/report/report_parts.h"

#include "print/json_text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 512u /* bytes of a component's name that count; our own have at most 255 */

static const char *const pairing_names[] = {
	[CT_PAIR_NONE] = "none",
	[CT_PAIR_ENTRY] = "entry",
	[CT_PAIR_EXIT] = "exit",
	[CT_PAIR_UNTIL] = "until",
};

enum ctrace_status ct_report_names_init(struct ct_report_names *names)
{
	memset(names, 0, sizeof *names);
	names->class_list = json_array();
	names->component_list = json_array();
	names->type_list = json_array();
	names->named_list = json_array();
	names->thread_list = json_array();
	names->source_process_list = json_array();
	return names->class_list != NULL && names->component_list != NULL &&
			       names->type_list != NULL && names->named_list != NULL &&
			       names->thread_list != NULL && names->source_process_list != NULL
		       ? CTRACE_OK
		       : CTRACE_NOT_ENOUGH_MEMORY;
}

void ct_report_names_fini(struct ct_report_names *names)
{
	ct_distinct_fini(&names->classes);
	ct_distinct_fini(&names->components);
	ct_distinct_fini(&names->types);
	ct_distinct_fini(&names->named);
	ct_distinct_fini(&names->threads);
	ct_distinct_fini(&names->source_processes);
	json_decref(names->class_list);
	json_decref(names->component_list);
	json_decref(names->type_list);
	json_decref(names->named_list);
	json_decref(names->thread_list);
	json_decref(names->source_process_list);
}

/* The index of a new thing is the number that the table gave it. */
static void list_append(struct ct_report_names *names, json_t *list, json_t *thing)
{
	names->failed |= json_array_append_new(list, thing) != 0;
}

/* ---- from the catalogue */

static json_t *pack_labels(const struct ct_argument *argument)
{
	json_t *labels = json_array();

	for (uint32_t i = 0; labels != NULL && i < argument->label_count; i++) {
		char value[24]; /* JavaScript's numbers have 53 bits */

		(void)snprintf(value, sizeof value, "%" PRIu64, argument->labels[i].value);
		if (json_array_append_new(
			    labels, json_pack("[s,o]", value,
					      ct_json_string(argument->labels[i].name))) != 0) {
			json_decref(labels);
			return NULL;
		}
	}
	return labels;
}

static json_t *pack_argument(const struct ct_argument *argument)
{
	json_t *json = json_pack(
		"{s:o,s:o,s:s,s:o,s:b}", "name", ct_json_string(argument->name), "description",
		ct_json_string(argument->description), "print", ct_print_words[argument->print],
		"copybook", ct_json_string(argument->copybook_name), "is_key", argument->is_key);
	bool is_whole = json != NULL;

	if (argument->print == CT_PRINT_TIME)
		is_whole &= json_object_set_new(json, "unit_ns",
						json_integer((json_int_t)argument->unit_ns)) == 0;
	if (argument->encoding != CT_ENCODING_ASCII)
		is_whole &=
			json_object_set_new(json, "encoding",
					    json_string(ct_encoding_name(argument->encoding))) == 0;
	if (argument->label_count > 0)
		is_whole &= json_object_set_new(json, "labels", pack_labels(argument)) == 0;
	if (is_whole)
		return json;
	json_decref(json);
	return NULL;
}

static json_t *pack_type(const struct ct_event_type *type)
{
	json_t *arguments = json_array(), *span = json_array();

	for (uint32_t i = 0; i < type->span_name_count; i++)
		(void)json_array_append_new(span, json_integer((json_int_t)type->span_names[i]));
	for (uint32_t i = 0; arguments != NULL && i < type->argument_count; i++) {
		if (json_array_append_new(arguments, pack_argument(&type->arguments[i])) != 0) {
			json_decref(arguments);
			json_decref(span);
			return NULL;
		}
	}
	return json_pack("{s:o,s:o,s:s,s:I,s:b,s:o,s:o}", "mnemonic",
			 ct_json_string(type->mnemonic), "description",
			 ct_json_string(type->description), "pairing", pairing_names[type->pairing],
			 "pair", (json_int_t)type->pair_id, "is_exception", type->is_exception,
			 "span", span, "arguments", arguments);
}

static int64_t type_find(struct ct_report_names *names, const struct ct_event_type *type)
{
	uint32_t index;
	bool is_new;

	if (type == NULL)
		return -1;
	index = ct_distinct_find(&names->types, &type, sizeof(const void *), &is_new);
	if (index == CT_DISTINCT_NONE)
		return -1;
	if (is_new)
		list_append(names, names->type_list, pack_type(type));
	return index;
}

/* ---- from the trace */

static int64_t named_find(struct ct_report_names *names, const struct ct_event_names *named)
{
	json_t *items, *json;
	char *text;
	uint32_t index = CT_DISTINCT_NONE;
	bool is_new = false;

	if (named == NULL)
		return -1;
	items = json_array();
	for (uint32_t i = 0; named->items != NULL && i < named->item_count; i++)
		(void)json_array_append_new(items, ct_json_string(named->items[i]));
	json = json_pack("{s:o,s:o}", "mnemonic", ct_json_string(named->mnemonic), "items", items);
	text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
	if (text != NULL)
		index = ct_distinct_find(&names->named, text, strlen(text), &is_new);
	free(text);
	if (is_new)
		list_append(names, names->named_list, json);
	else
		json_decref(json);
	return index == CT_DISTINCT_NONE ? -1 : (int64_t)index;
}

/* ---- classes */

/* Returns how many types of spans the component has. */
static uint32_t component_count_entries(const struct ct_catalog_component *component)
{
	uint32_t count = 0;

	for (uint32_t i = 0; component != NULL && i < component->event_count; i++)
		count += component->events[i].pairing == CT_PAIR_ENTRY;
	return count;
}

static uint32_t component_find(struct ct_report_names *names, const struct ct_read_event *event,
			       size_t size)
{
	const char *description = event->component != NULL ? event->component->description : "";
	bool is_new;
	uint32_t index =
		ct_distinct_find(&names->components, event->traced.component, size, &is_new);

	if (is_new)
		list_append(names, names->component_list,
			    json_pack("{s:o,s:o,s:I}", "name",
				      ct_json_text(event->traced.component, size), "description",
				      ct_json_string(description), "entries",
				      (json_int_t)component_count_entries(event->component)));
	return index;
}

uint32_t ct_report_class(struct ct_report_names *names, const struct ct_read_event *event)
{
	struct {
		const struct ct_event_type *type;
		const char *mnemonic;
		const char *const *items;
		uint32_t item_count, event_id, level, component_size;
		char component[NAME_SIZE];
	} key; /* no padding before the name */
	size_t size =
		event->traced.component_size < NAME_SIZE ? event->traced.component_size : NAME_SIZE;
	uint32_t index, component;
	bool is_new;

	key.type = event->type;
	key.mnemonic = event->names != NULL ? event->names->mnemonic : NULL;
	key.items = event->names != NULL ? event->names->items : NULL;
	key.item_count = event->names != NULL ? event->names->item_count : 0;
	key.event_id = event->traced.event_id;
	key.level = event->traced.level;
	key.component_size = (uint32_t)size;
	memcpy(key.component, event->traced.component, size);
	index = ct_distinct_find(&names->classes, &key, offsetof(__typeof__(key), component) + size,
				 &is_new);
	if (!is_new)
		return index;
	/* there are at most as many of them as classes */
	component = component_find(names, event, size);
	list_append(names, names->class_list,
		    json_pack("[I,I,I,I,I]", (json_int_t)component, (json_int_t)key.event_id,
			      (json_int_t)key.level, (json_int_t)type_find(names, event->type),
			      (json_int_t)named_find(names, event->names)));
	return index;
}

/* ---- threads */

uint32_t ct_report_source_process(struct ct_report_names *names,
				  const struct ct_source_process *source_process)
{
	bool is_new;
	uint32_t index = ct_distinct_find(&names->source_processes, &source_process,
					  sizeof(const void *), &is_new);

	if (is_new)
		list_append(names, names->source_process_list,
			    json_pack("{s:o,s:o,s:o,s:o,s:I,s:I,s:b}", "path",
				      ct_json_string(source_process->path), "host",
				      ct_json_string(source_process->host), "program",
				      ct_json_string(source_process->program), "jobname",
				      ct_json_string(source_process->jobname), "pid",
				      (json_int_t)source_process->pid, "asid",
				      (json_int_t)source_process->asid, "is_third_party",
				      source_process->is_third_party));
	return index;
}

uint32_t ct_report_thread(struct ct_report_names *names, const struct ct_read_event *event)
{
	struct {
		const struct ct_source_process *source_process;
		uint32_t pid, tid;
	} key = { .source_process = event->source_process,
		  .pid = event->traced.pid,
		  .tid = event->traced.tid };
	bool is_new;
	uint32_t index = ct_distinct_find(&names->threads, &key, sizeof key, &is_new);

	if (is_new)
		list_append(names, names->thread_list,
			    json_pack("[I,I,I]",
				      (json_int_t)ct_report_source_process(names,
									   event->source_process),
				      (json_int_t)key.pid, (json_int_t)key.tid));
	return index;
}

/* Adds one character, even for a byte that the encoding lacks. */
static void add_character(struct ct_buf *text, enum ct_encoding encoding, unsigned char byte)
{
	size_t before = text->size;

	ct_encoding_add(text, encoding, &byte, 1);
	if (text->failed || text->size != before + 1 || (unsigned char)text->data[before] < 0x80)
		return;
	text->size = before;
	ct_buf_add_text(text, "\uFFFD");
}

static json_t *pack_encoding(enum ct_encoding encoding)
{
	struct ct_buf text;
	json_t *json;

	ct_buf_init(&text);
	for (unsigned i = 0; i < 256; i++)
		add_character(&text, encoding, (unsigned char)i);
	json = ct_json_text(text.data, text.size);
	ct_buf_fini(&text);
	return json;
}

/* The page has no character tables of its own, except Shift-JIS, which browsers know. */
static json_t *pack_encodings(void)
{
	json_t *json = json_object();

	for (unsigned i = CT_ENCODING_EBCDIC_037; i < CT_ENCODING_COUNT; i++) {
		enum ct_encoding encoding = (enum ct_encoding)i;

		if (encoding == CT_ENCODING_SHIFT_JIS || !ct_encoding_is_prepared(encoding))
			continue;
		if (json_object_set_new(json, ct_encoding_name(encoding),
					pack_encoding(encoding)) != 0) {
			json_decref(json);
			return NULL;
		}
	}
	return json;
}

bool ct_report_names_put(const struct ct_report_names *names, json_t *object)
{
	return !names->failed && json_object_set(object, "classes", names->class_list) == 0 &&
	       json_object_set(object, "components", names->component_list) == 0 &&
	       json_object_set(object, "types", names->type_list) == 0 &&
	       json_object_set(object, "named", names->named_list) == 0 &&
	       json_object_set(object, "threads", names->thread_list) == 0 &&
	       json_object_set(object, "origins", names->source_process_list) == 0 &&
	       json_object_set_new(object, "encodings", pack_encodings()) == 0;
}
