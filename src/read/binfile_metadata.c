/*
 * binfile_metadata.c - finds the process and the event classes of a BINFILE trace in its metadata,
 * which tsdl.c parses.
 *
 * Called by readers and `ctrace repair`, on one thread, with text that may be hostile.  The
 * trace-wide part must be what ctrace prints, so packet and event heads are those of every ctrace
 * trace.  The types of a class's fields determine its items, whatever their names: a class with any
 * other type is refused.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/binfile_metadata.h"

#include "format/tsdl.h"
#include "format/metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_LIMIT 3072u /* a format of 511 bytes, each escaped to six; other texts are shorter */

/* Reverses ct_escape_add().  Returns false when the text does not fit. */
static bool text_unescape(char *out, size_t capacity, const char *text, size_t size)
{
	char plain[TEXT_LIMIT];

	if (size >= sizeof plain)
		return false;
	plain[ct_tsdl_unescape(text, size, plain)] = '\0';
	return (size_t)snprintf(out, capacity, "%s", plain) < capacity;
}

static void damage_ignore(const struct ct_diagnostic *diagnostic, struct ct_span piece, void *user)
{
	(void)diagnostic;
	(void)piece;
	(void)user;
}

static bool env_copy(char *out, size_t capacity, const struct ct_tsdl *tsdl, const char *name)
{
	const char *text = ct_tsdl_env_text(tsdl, name, "");

	return text_unescape(out, capacity, text, strlen(text));
}

enum ctrace_status ct_binfile_info_parse(const char *text, size_t size,
					 struct ct_trace_info *out_info, size_t *out_at)
{
	struct ct_trace_info info;
	struct ct_tsdl *tsdl = NULL;
	enum ctrace_status status = ct_schema_parse_trace(text, size, &info, out_at);

	if (status == CTRACE_OK)
		status = ct_tsdl_parse(text, *out_at, damage_ignore, NULL, &tsdl);
	if (status == CTRACE_OK &&
	    (!env_copy(info.host, sizeof info.host, tsdl, "hostname") ||
	     !env_copy(info.program, sizeof info.program, tsdl, "procname") ||
	     !env_copy(info.system, sizeof info.system, tsdl, "sysname") ||
	     !env_copy(info.jobname, sizeof info.jobname, tsdl, "jobname") ||
	     !env_copy(info.format, sizeof info.format, tsdl, "format")))
		status = CTRACE_DAMAGED;
	if (status == CTRACE_OK)
		*out_info = info;
	ct_tsdl_destroy(tsdl);
	return status == CTRACE_UNSUPPORTED ? CTRACE_DAMAGED : status;
}

/* -----------------------------------------------------------------------------------------------
 * Classes
 */

/* A parsed class, with the memory that it points to. */
struct parsed_class {
	struct ct_class class;
	struct ct_class_names names;
	struct ctrace_definition definition;
	char component[CTRACE_MAX_COMPONENT + 1];
	uint32_t items[CT_CLASS_MAX_ITEMS];
	const char *item_names[CT_CLASS_MAX_ITEMS];
};

/* Returns the item of an integer of whole bytes; 0 for a type that ctrace does not write. */
static uint32_t type_integer_item(const struct ct_tsdl_type *type)
{
	bool is_big = type->order == CT_ORDER_BE;
	uint32_t size = type->size / 8 << 8;

	if (type->kind != CT_TSDL_INTEGER || type->size % 8 != 0 || type->align != 8 ||
	    type->encoding != CT_ENCODED_NOT)
		return 0;
	if (type->base == 16)
		return type->size == 64 && !type->is_signed && !is_big ? CTRACE_TYPE_ADDRESS | size
								       : 0;
	if (type->is_signed)
		return (is_big ? CTRACE_TYPE_COMPXS : CTRACE_TYPE_COMP5S) | size;
	return (is_big ? CTRACE_TYPE_COMPX : CTRACE_TYPE_COMP5) | size;
}

/* Finds the item of a byte array, whose length is in its type or in the field before it.  Viewers
 * see both kinds of texts alike; the names of their types differ. */
static bool type_bytes_item(const struct ct_tsdl_type *type, const struct ct_tsdl_type *length,
			    uint32_t *out_item)
{
	uint32_t counted = length != NULL ? type_integer_item(length) : 0;
	const struct ct_tsdl_type *byte = type->element;
	uint64_t size = type->length;

	if (type->kind != (length != NULL ? CT_TSDL_SEQUENCE : CT_TSDL_ARRAY) ||
	    byte->kind != CT_TSDL_INTEGER || byte->size != 8 || byte->align != 8)
		return false;
	if (counted == (CTRACE_TYPE_COMP5 | 2u << 8))
		size = CT_SIZE_COUNTED_16;
	else if (counted == (CTRACE_TYPE_COMP5 | 4u << 8))
		size = CT_SIZE_COUNTED_32;
	else if (length != NULL || size > CTRACE_MAX_ITEM_SIZE)
		return false;
	*out_item = (uint32_t)size << 8;
	if (byte->encoding == CT_ENCODED_NOT)
		*out_item |= CTRACE_TYPE_BINARY;
	else if (byte->alias != NULL && strcmp(byte->alias->text, "ct_utf8") == 0)
		*out_item |= CTRACE_TYPE_UTF8;
	else
		*out_item |= CTRACE_TYPE_TEXT;
	return true;
}

/* "_rows" -> "rows".  An item without a name is called by its number, and gets NULL. */
static bool item_name_parse(const char *text, uint32_t number, bool has_names,
			    const char **out_name)
{
	char numbered[24];

	(void)snprintf(numbered, sizeof numbered, "_data%u", number);
	*out_name = strcmp(text, numbered) != 0 ? text + 1 : NULL;
	return *out_name == NULL ||
	       (has_names && text[0] == '_' && text[1] != '\0' && strlen(text) <= CT_METADATA_NAME);
}

static bool items_parse(const struct ct_tsdl_type *fields, struct parsed_class *parsed,
			bool has_names)
{
	uint32_t *count = &parsed->class.item_count;

	for (uint32_t i = 0; i < fields->count; i++) {
		const struct ct_tsdl_type *length =
			fields->fields[i].is_length ? fields->fields[i++].type : NULL;
		const struct ct_tsdl_field *field = &fields->fields[i];
		uint32_t item = type_integer_item(field->type);

		if (*count == CT_CLASS_MAX_ITEMS ||
		    (item == 0 && !type_bytes_item(field->type, length, &item)) ||
		    !item_name_parse(field->name->text, *count + 1, has_names,
				     &parsed->item_names[*count]))
			return false;
		parsed->items[(*count)++] = item;
	}
	return fields->align <= 8;
}

/* Parses an id of decimal digits only. */
static bool event_id_parse(const char *text, size_t size, uint32_t *out_id)
{
	unsigned long long id = strtoull(text, NULL, 10);

	*out_id = (uint32_t)id;
	return size > 0 && size <= 20 && strspn(text, "0123456789") == size && id <= UINT32_MAX;
}

/* "?fmttab=MYFMT&userdata=00..." */
static bool definition_parse(const char *text, struct ctrace_definition *out)
{
	static const char fmttab[] = CT_METADATA_FMTTAB, userdata[] = CT_METADATA_USERDATA;
	const char *end = strstr(text, userdata);
	size_t size;

	if (strncmp(text, fmttab, sizeof fmttab - 1) != 0 || end == NULL)
		return false;
	text += sizeof fmttab - 1;
	size = (size_t)(end - text);
	if (size >= sizeof out->fmttab)
		return false;
	memcpy(out->fmttab, text, size);
	ct_definition_check(out);
	end = ct_uuid_parse(end + sizeof userdata - 1, out->userdata);
	return end != NULL && *end == '\0';
}

/* The uri of a class: "ctrace:event/12", and the definition of its component. */
static bool event_uri_parse(const char *uri, struct parsed_class *parsed)
{
	static const char prefix[] = CT_METADATA_URI;
	size_t size;

	if (strncmp(uri, prefix, sizeof prefix - 1) != 0)
		return false;
	uri += sizeof prefix - 1;
	size = strcspn(uri, "?");
	if (!event_id_parse(uri, size, &parsed->class.event_id))
		return false;
	if (uri[size] == '\0')
		return true;
	parsed->class.definition = &parsed->definition;
	return definition_parse(uri + size, &parsed->definition);
}

/* "MY.COMP:12": the component and its event id.  "MY.COMP:OPEN": its id is in the uri. */
static bool event_name_parse(const struct ct_tsdl_event *event, struct parsed_class *parsed)
{
	const char *colon = strrchr(event->name, ':');

	if (colon == NULL || !text_unescape(parsed->component, sizeof parsed->component,
					    event->name, (size_t)(colon - event->name)))
		return false;
	if (event->uri == NULL)
		return event_id_parse(colon + 1, strlen(colon + 1), &parsed->class.event_id);
	parsed->names.mnemonic = colon + 1;
	return event_uri_parse(event->uri, parsed);
}

static bool class_parse(const struct ct_tsdl_event *event, struct parsed_class *parsed)
{
	bool has_names = event->uri != NULL;
	uint32_t level = 0;

	while (level < CTRACE_LEVEL_COUNT && ct_metadata_loglevels[level] != event->level)
		level++;
	parsed->class =
		(struct ct_class){ .number = event->id < CT_CLASS_NUMBERS ? (uint32_t)event->id : 0,
				   .level = level,
				   .component = parsed->component,
				   .items = parsed->items,
				   .names = has_names ? &parsed->names : NULL };
	parsed->names = (struct ct_class_names){ .items = parsed->item_names };
	parsed->definition = (struct ctrace_definition){ .fmttab = "" };
	if (event->stream_id != 0 || event->context != NULL || event->fields == NULL ||
	    !event_name_parse(event, parsed) || !items_parse(event->fields, parsed, has_names))
		return false;
	parsed->names.item_count = parsed->class.item_count;
	return true;
}

/* Sorts by position in the text: the first of two classes with one number wins. */
static int block_compare(const void *a, const void *b)
{
	const struct ct_tsdl_event *one = a, *other = b;

	return one->block.at < other->block.at ? -1 : one->block.at > other->block.at;
}

struct reading {
	const char *text;
	ct_binfile_damage *damage;
	void *user;
};

static void damage_report(const struct ct_diagnostic *diagnostic, struct ct_span piece, void *user)
{
	const struct reading *reading = user;

	(void)diagnostic;
	reading->damage((size_t)(piece.at - reading->text), piece.size, reading->user);
}

enum ctrace_status ct_binfile_classes_parse(struct ct_schema *schema, struct ct_span text,
					    size_t at, ct_binfile_damage *damage, void *user)
{
	struct reading reading = { .text = text.at, .damage = damage, .user = user };
	struct parsed_class parsed;
	struct ct_tsdl *tsdl;
	enum ctrace_status status =
		ct_tsdl_parse(text.at, text.size, damage_report, &reading, &tsdl);

	if (status != CTRACE_OK)
		return status == CTRACE_UNSUPPORTED ? CTRACE_OK : status;
	qsort(tsdl->events, tsdl->event_count, sizeof *tsdl->events, block_compare);
	for (size_t i = 0; i < tsdl->event_count && status != CTRACE_NOT_ENOUGH_MEMORY; i++) {
		const struct ct_tsdl_event *event = &tsdl->events[i];

		if (event->is_unknown || event->block.at < text.at + at)
			continue;
		status = class_parse(event, &parsed) ? ct_schema_add(schema, &parsed.class)
						     : CTRACE_DAMAGED;
		if (status == CTRACE_DAMAGED)
			damage_report(NULL, event->block, &reading);
	}
	ct_tsdl_destroy(tsdl);
	return status == CTRACE_NOT_ENOUGH_MEMORY ? status : CTRACE_OK;
}
