/*
 * annotation.c - annotation files of another product's CTF become catalogues.
 *
 * Called by the readers of traces and by ctrace catalog, on the tool's only thread; libexpat parses.  The files may be hostile: sizes are bounded,
 * and entities of their own are refused.
 *
 * The format is not published; what is known is that there is an XML file a component, which has events by their number, and for each its
 * arguments by their index with a description.  So an element is an event when its name says so and it has a number, and an argument when it has
 * an index within an event; names and descriptions are attributes, elements or texts.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "annotation.h"

#include <dirent.h>
#include <errno.h>
#include <expat.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "catalog/catalog.h"

#define FILE_LIMIT ((size_t)4 << 20)
#define ARGUMENTS 256u
#define EVENTS 65536u
#define TEXT_SIZE 200u

struct argument {
	uint32_t index;
	char name[TEXT_SIZE], description[TEXT_SIZE];
};
struct event {
	uint32_t id;
	char name[TEXT_SIZE], description[TEXT_SIZE];
	struct argument *arguments;
	uint32_t count;
};
struct document {
	char component[TEXT_SIZE];
	struct event *events;
	uint32_t count;
	unsigned depth, event_depth, argument_depth; /* 0: not within one */
	char *text;                                  /* where characters go; NULL: nowhere */
	bool has_zero;                               /* arguments are counted from 0 */
	bool lacks_memory;
	XML_Parser parser;
};

/* ------------------------------------------------------------------------------------------------------------
 * Elements
 */

static bool has_part(const char *name, const char *part)
{
	return strcasestr(name, part) != NULL;
}

/* The value of the first of these attributes that is there. */
static const char *attribute(const char **attributes, const char *const *names)
{
	for (; *names != NULL; names++)
		for (size_t i = 0; attributes[i] != NULL; i += 2)
			if (strcasecmp(attributes[i], *names) == 0)
				return attributes[i + 1];
	return NULL;
}

static bool number_of(const char *text, uint32_t *out)
{
	unsigned long long value;
	char *end;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno != 0 || *end != '\0' || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

static void set_text(char *out, const char *text)
{
	if (text != NULL)
		(void)snprintf(out, TEXT_SIZE, "%s", text);
}

static struct event *last_event(struct document *document)
{
	return &document->events[document->count - 1];
}

static struct argument *last_argument(struct document *document)
{
	struct event *event = last_event(document);

	return &event->arguments[event->count - 1];
}

static const char *const id_names[] = { "id", "number", "eventid", "event-id", "event", "value", NULL };
static const char *const index_names[] = { "index", "idx", "position", "number", "id", NULL };
static const char *const name_names[] = { "mnemonic", "name", "label", "title", NULL };
static const char *const description_names[] = { "description", "desc", "text", "annotation", "value", NULL };

static bool begin_event(struct document *document, const char **attributes)
{
	struct event *events;
	uint32_t id;

	if (!number_of(attribute(attributes, id_names), &id) || document->count == EVENTS)
		return false;
	events = reallocarray(document->events, document->count + 1, sizeof *events);
	if (events == NULL) {
		document->lacks_memory = true;
		return false;
	}
	document->events = events;
	events[document->count++] = (struct event){ .id = id };
	set_text(last_event(document)->name, attribute(attributes, name_names));
	set_text(last_event(document)->description, attribute(attributes, description_names));
	document->event_depth = document->depth;
	document->text = last_event(document)->description;
	return true;
}

static bool begin_argument(struct document *document, const char **attributes)
{
	struct event *event = last_event(document);
	struct argument *arguments;
	uint32_t index;

	if (!number_of(attribute(attributes, index_names), &index) || index >= ARGUMENTS || event->count == ARGUMENTS)
		return false;
	arguments = reallocarray(event->arguments, event->count + 1, sizeof *arguments);
	if (arguments == NULL) {
		document->lacks_memory = true;
		return false;
	}
	event->arguments = arguments;
	arguments[event->count++] = (struct argument){ .index = index };
	set_text(last_argument(document)->name, attribute(attributes, name_names));
	set_text(last_argument(document)->description, attribute(attributes, description_names));
	document->has_zero |= index == 0;
	document->argument_depth = document->depth;
	document->text = last_argument(document)->description;
	return true;
}

/* <name> and <description> within an event or an argument; what else there is, as a list of arguments, has no text of its own. */
static void begin_text(struct document *document, const char *name)
{
	bool is_name = has_part(name, "name") || has_part(name, "mnemonic") || has_part(name, "title");
	bool is_description = has_part(name, "desc") || has_part(name, "text") || has_part(name, "annotation");

	document->text = NULL;
	if (!is_name && !is_description)
		return;
	if (document->argument_depth != 0)
		document->text = is_name ? last_argument(document)->name : last_argument(document)->description;
	else
		document->text = is_name ? last_event(document)->name : last_event(document)->description;
	document->text[0] = '\0';
}

static void begin_element(void *user, const char *name, const char **attributes)
{
	static const char *const component_names[] = { "component", "name", NULL };
	struct document *document = user;

	document->depth++;
	if (document->event_depth == 0) {
		if (has_part(name, "event") && begin_event(document, attributes))
			return;
		if (document->component[0] == '\0' && (document->depth == 1 || has_part(name, "component")))
			set_text(document->component, attribute(attributes, component_names));
		return;
	}
	if (document->argument_depth == 0 && begin_argument(document, attributes))
		return;
	begin_text(document, name);
}

static void end_element(void *user, const char *name)
{
	struct document *document = user;

	(void)name;
	document->text = NULL;
	if (document->depth == document->argument_depth)
		document->argument_depth = 0;
	if (document->depth == document->event_depth)
		document->event_depth = 0;
	document->depth--;
}

static void add_characters(void *user, const char *text, int size)
{
	const struct document *document = user;
	char *out = document->text;
	size_t length = out != NULL ? strlen(out) : 0;

	for (int i = 0; out != NULL && i < size && length + 1 < TEXT_SIZE; i++) {
		bool is_blank = (unsigned char)text[i] <= ' ';

		/* Line breaks and indentation are one blank. */
		if (is_blank && (length == 0 || out[length - 1] == ' '))
			continue;
		out[length++] = is_blank ? ' ' : text[i];
		out[length] = '\0';
	}
}

/* An entity of the document's own may stand for gigabytes. */
static void refuse_entity(void *user, const char *name, int is_parameter, const char *value, int size, const char *base,
			  const char *system, const char *public, const char *notation)
{
	struct document *document = user;

	(void)name, (void)is_parameter, (void)value, (void)size, (void)base, (void)system, (void)public, (void)notation;
	(void)XML_StopParser(document->parser, XML_FALSE);
}

/* ------------------------------------------------------------------------------------------------------------
 * The catalogue
 */

static void add_quoted(struct ct_buf *out, const char *text)
{
	size_t size = strlen(text);

	while (size > 0 && text[size - 1] == ' ')
		size--;
	/* A text that was cut may end inside a character. */
	while (size == TEXT_SIZE - 1 && ((unsigned char)text[size - 1] & 0xC0) == 0x80)
		size--;
	if (size == TEXT_SIZE - 1 || (size > 0 && (unsigned char)text[size - 1] >= 0xC0))
		size--;
	ct_buf_add_char(out, '"');
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '"' || text[i] == '\\')
			ct_buf_add_char(out, '\\');
		ct_buf_add_char(out, text[i]);
	}
	ct_buf_add_char(out, '"');
}

/* A name that a catalogue allows, of what people wrote; "" when nothing is left. */
static void make_name(char *out, size_t size, const char *text, bool is_upper)
{
	size_t length = 0;

	for (; *text != '\0' && length + 1 < size; text++) {
		unsigned char c = (unsigned char)*text;
		bool is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';

		if (is_letter)
			out[length++] = (char)(is_upper ? c & ~0x20 : c | 0x20);
		else if ((c >= '0' && c <= '9' && length > 0) || c == '_')
			out[length++] = (char)c;
		else if (length > 0 && out[length - 1] != '-')
			out[length++] = '-';
	}
	while (length > 0 && out[length - 1] == '-')
		length--;
	out[length] = '\0';
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The event's mnemonic: of its name or its description, and no other's of this component.  Names in use are kept in a tree. */
static void make_mnemonic(char *out, const struct event *event, void **used)
{
	char *own, **found;

	make_name(out, CT_MNEMONIC_SIZE, event->name[0] != '\0' ? event->name : event->description, true);
	if (out[0] == '\0' || tfind(out, used, by_text) != NULL)
		(void)snprintf(out, CT_MNEMONIC_SIZE, "EVENT-%u", event->id);
	own = strdup(out);
	found = own != NULL ? tsearch(own, used, by_text) : NULL;
	if (found == NULL || *found != own)
		free(own);
}

static const struct argument *argument_at(const struct event *event, uint32_t index)
{
	for (uint32_t i = 0; i < event->count; i++)
		if (event->arguments[i].index == index)
			return &event->arguments[i];
	return NULL;
}

static void add_arguments(struct ct_buf *out, const struct event *event, uint32_t first)
{
	uint32_t end = first;

	for (uint32_t i = 0; i < event->count; i++)
		if (event->arguments[i].index >= end)
			end = event->arguments[i].index + 1;
	if (end > first)
		ct_buf_add_text(out, "    arguments:\n");
	for (uint32_t index = first; index < end; index++) {
		const struct argument *argument = argument_at(event, index);
		char name[24] = "";

		if (argument != NULL)
			make_name(name, sizeof name, argument->name[0] != '\0' ? argument->name : argument->description, false);
		for (uint32_t i = first; i < index && name[0] != '\0'; i++) {
			const struct argument *other = argument_at(event, i);
			char taken[24] = "";

			if (other != NULL)
				make_name(taken, sizeof taken, other->name[0] != '\0' ? other->name : other->description, false);
			if (strcmp(taken, name) == 0)
				name[0] = '\0';
		}
		ct_buf_add_text(out, "      - {name: ");
		if (name[0] != '\0')
			ct_buf_add_format(out, "\"%s\"", name);
		else
			ct_buf_add_format(out, "data%u", index - first + 1);
		if (argument != NULL && argument->description[0] != '\0') {
			ct_buf_add_text(out, ", description: ");
			add_quoted(out, argument->description);
		}
		ct_buf_add_text(out, "}\n");
	}
}

static int by_id(const void *a, const void *b)
{
	const struct event *one = a, *other = b;

	return one->id < other->id ? -1 : one->id > other->id;
}

static void add_catalog(struct ct_buf *out, struct document *document, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	void *used = NULL;

	qsort(document->events, document->count, sizeof *document->events, by_id);
	if (document->component[0] == '\0')
		(void)snprintf(document->component, TEXT_SIZE, "%.*s", (int)(dot != NULL ? dot - name : (ptrdiff_t)strlen(name)), name);
	ct_buf_add_text(out, "component: ");
	add_quoted(out, document->component);
	ct_buf_add_text(out, "\nevents:\n");
	for (uint32_t i = 0; i < document->count; i++) {
		const struct event *event = &document->events[i];
		char mnemonic[CT_MNEMONIC_SIZE];

		if (i > 0 && document->events[i - 1].id == event->id)
			continue;
		make_mnemonic(mnemonic, event, &used);
		ct_buf_add_format(out, "  %u:\n    mnemonic: \"%s\"\n", event->id, mnemonic);
		if (event->description[0] != '\0' || event->name[0] != '\0') {
			ct_buf_add_text(out, "    description: ");
			add_quoted(out, event->description[0] != '\0' ? event->description : event->name);
			ct_buf_add_char(out, '\n');
		}
		add_arguments(out, event, document->has_zero ? 0 : 1);
	}
	tdestroy(used, free);
}

/* ------------------------------------------------------------------------------------------------------------
 * Files
 */

static void parse(struct document *document, const struct ct_buf *text, struct annotation_result *result)
{
	XML_SetUserData(document->parser, document);
	XML_SetElementHandler(document->parser, begin_element, end_element);
	XML_SetCharacterDataHandler(document->parser, add_characters);
	XML_SetEntityDeclHandler(document->parser, refuse_entity);
	if (XML_Parse(document->parser, text->data, (int)text->size, 1) == XML_STATUS_OK)
		return;
	result->line = (uint32_t)XML_GetCurrentLineNumber(document->parser);
	(void)snprintf(result->message, sizeof result->message, "no good XML: %s", XML_ErrorString(XML_GetErrorCode(document->parser)));
}

void annotation_read(const char *path, struct ct_buf *out, struct annotation_result *result)
{
	struct document document = { .parser = XML_ParserCreate(NULL) };
	struct ct_buf text;

	*result = (struct annotation_result){ 0 };
	ct_buf_init(&text);
	if (document.parser == NULL)
		document.lacks_memory = true;
	else if (ct_os_read_file(path, FILE_LIMIT, &text) != CTRACE_OK)
		(void)snprintf(result->message, sizeof result->message, "%s", strerror(errno));
	else
		parse(&document, &text, result);
	if (document.lacks_memory)
		(void)snprintf(result->message, sizeof result->message, "%s", ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
	else if (result->message[0] == '\0' && document.count == 0)
		(void)snprintf(result->message, sizeof result->message, "no event was found in it");
	result->events = document.count;
	if (result->message[0] == '\0')
		add_catalog(out, &document, path);
	for (uint32_t i = 0; i < document.count; i++)
		free(document.events[i].arguments);
	free(document.events);
	if (document.parser != NULL)
		XML_ParserFree(document.parser);
	ct_buf_fini(&text);
}

bool annotation_is_name(const char *path)
{
	size_t size = strlen(path);

	return size > 4 && strcasecmp(path + size - 4, ".xml") == 0;
}

static int is_annotation(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && annotation_is_name(entry->d_name);
}

bool annotation_each(const char *path, void (*take)(const char *path, void *user), void *user)
{
	struct dirent **entries;
	struct stat info;
	int count;

	if (stat(path, &info) != 0)
		return false;
	if (!S_ISDIR(info.st_mode)) {
		take(path, user);
		return true;
	}
	count = scandir(path, &entries, is_annotation, alphasort);
	for (int i = 0; i < count; i++) {
		char *file;

		if (asprintf(&file, "%s/%s", path, entries[i]->d_name) >= 0) {
			take(file, user);
			free(file);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return count >= 0;
}
