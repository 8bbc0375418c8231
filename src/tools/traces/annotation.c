/*
 * annotation.c - annotation files of another product's CTF become catalogues.
 *
 * Called by the readers of traces and by ctrace catalog, on the tool's only thread; libexpat
 * parses.  The files may be hostile: sizes are bounded, and entities of their own are refused.
 *
 * The format is not published; what is known is that there is an XML file a component, which has
 * events by their number, and for each its arguments by their index with a description.  So an
 * element is an event when its name says so and it has a number, and an argument when it has an
 * index within an event; names and descriptions are attributes, elements or texts.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/annotation.h"

#include <dirent.h>
#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "catalog/catalog.h"
#include "lib/registry/registry.h"

#define FILE_LIMIT ((size_t)4 << 20)
#define ARGUMENTS 256u
#define EVENTS 65536u
#define TEXT_SIZE 200u
#define ARGUMENT_SIZE 24u /* of an item's name, the NUL included */

struct argument {
	uint32_t index;
	char name[TEXT_SIZE], description[TEXT_SIZE];
};
struct event {
	uint32_t id;
	uint32_t order; /* in the file */
	char mnemonic[CT_MNEMONIC_SIZE];
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
	bool has_encoding; /* the file has one that the parser does not know, and ctrace does */
	enum ct_encoding encoding;
	XML_Parser parser;
};

/* -----------------------------------------------------------------------------------------------
 * Elements
 */

static bool name_has_part(const char *name, const char *part)
{
	return strcasestr(name, part) != NULL;
}

/* The value of the first of these attributes that is there. */
static const char *attribute_find(const char **attributes, const char *const *names)
{
	for (; *names != NULL; names++)
		for (size_t i = 0; attributes[i] != NULL; i += 2)
			if (strcasecmp(attributes[i], *names) == 0)
				return attributes[i + 1];
	return NULL;
}

/* Decimal, also with zeros before it, or 0x and hexadecimal. */
static bool number_parse(const char *text, uint32_t *out)
{
	unsigned long long value;
	char *end;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
	if (errno != 0 || *end != '\0' || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

static void text_set(char *out, const char *text)
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

static const char *const id_names[] = { "id",    "number", "eventid", "event-id",
					"event", "value",  NULL };
static const char *const index_names[] = { "index", "idx", "position", "number", "id", NULL };
static const char *const name_names[] = { "mnemonic", "name", "label", "title", NULL };
static const char *const description_names[] = { "description", "desc",  "text",
						 "annotation",  "value", NULL };

static bool event_begin(struct document *document, const char **attributes)
{
	struct event *events;
	uint32_t id;

	if (!number_parse(attribute_find(attributes, id_names), &id) || document->count == EVENTS)
		return false;
	events = reallocarray(document->events, document->count + 1, sizeof *events);
	if (events == NULL) {
		document->lacks_memory = true;
		return false;
	}
	document->events = events;
	events[document->count] = (struct event){ .id = id, .order = document->count };
	document->count++;
	text_set(last_event(document)->name, attribute_find(attributes, name_names));
	text_set(last_event(document)->description, attribute_find(attributes, description_names));
	document->event_depth = document->depth;
	document->text = last_event(document)->description;
	return true;
}

static bool argument_begin(struct document *document, const char **attributes)
{
	struct event *event = last_event(document);
	struct argument *arguments;
	uint32_t index;

	if (!number_parse(attribute_find(attributes, index_names), &index) || index >= ARGUMENTS ||
	    event->count == ARGUMENTS)
		return false;
	arguments = reallocarray(event->arguments, event->count + 1, sizeof *arguments);
	if (arguments == NULL) {
		document->lacks_memory = true;
		return false;
	}
	event->arguments = arguments;
	arguments[event->count++] = (struct argument){ .index = index };
	text_set(last_argument(document)->name, attribute_find(attributes, name_names));
	text_set(last_argument(document)->description,
		 attribute_find(attributes, description_names));
	document->has_zero |= index == 0;
	document->argument_depth = document->depth;
	document->text = last_argument(document)->description;
	return true;
}

/* <name> and <description> within an event or an argument.  Other elements, as a list of
 * arguments, have no text of their own. */
static void text_begin(struct document *document, const char *name)
{
	bool is_name = name_has_part(name, "name") || name_has_part(name, "mnemonic") ||
		       name_has_part(name, "title");
	bool is_description = name_has_part(name, "desc") || name_has_part(name, "text") ||
			      name_has_part(name, "annotation");

	document->text = NULL;
	if (!is_name && !is_description)
		return;
	if (document->argument_depth != 0)
		document->text = is_name ? last_argument(document)->name
					 : last_argument(document)->description;
	else
		document->text =
			is_name ? last_event(document)->name : last_event(document)->description;
	document->text[0] = '\0';
}

/* A title such as "The run-time system" is no component name. */
static void component_set(struct document *document, const char *text)
{
	size_t size = text != NULL ? strlen(text) : 0;

	if (size == 0 || size >= TEXT_SIZE || ct_component_check_name(text, size) != CTRACE_OK)
		return;
	if (memchr(text, ' ', size) == NULL && ct_escape_is_plain(text, size))
		text_set(document->component, text);
}

static void element_begin(void *user, const char *name, const char **attributes)
{
	static const char *const component_names[] = { "component", "name", NULL };
	struct document *document = user;

	document->depth++;
	if (document->event_depth == 0) {
		if (name_has_part(name, "event") && event_begin(document, attributes))
			return;
		if (document->component[0] == '\0' &&
		    (document->depth == 1 || name_has_part(name, "component")))
			component_set(document, attribute_find(attributes, component_names));
		return;
	}
	if (document->argument_depth == 0 && argument_begin(document, attributes))
		return;
	text_begin(document, name);
}

static void element_end(void *user, const char *name)
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

static void characters_add(void *user, const char *text, int size)
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

/* An entity that the document defines may stand for gigabytes. */
static void entity_refuse(void *user, const char *name, int is_parameter, const char *value,
			  int size, const char *base, const char *system, const char *public,
			  const char *notation)
{
	struct document *document = user;

	(void)name, (void)is_parameter, (void)value, (void)size, (void)base, (void)system,
		(void)public, (void)notation;
	(void)XML_StopParser(document->parser, XML_FALSE);
}

/* -----------------------------------------------------------------------------------------------
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
		unsigned char c = (unsigned char)text[i];
		bool is_c1 = c == 0xC2 && i + 1 < size && (unsigned char)text[i + 1] < 0xA0;

		if (c == '"' || c == '\\')
			ct_buf_add_char(out, '\\');
		ct_buf_add_char(out, c < ' ' || c == 0x7F || is_c1 ? ' ' : text[i]);
		i += is_c1;
	}
	ct_buf_add_char(out, '"');
}

/* Makes a name that catalogues allow from free text; "" when nothing is left. */
static void name_make(char *out, size_t size, const char *text, bool is_upper)
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

static const char *event_title(const char *name, const char *description)
{
	return name[0] != '\0' ? name : description;
}

/* Nameless events and items are called EVENT-7 and data2 by ctrace, so such names from the file
 * could belong to another one. */
static bool name_is_placeholder(const char *name, const char *prefix)
{
	size_t size = strlen(prefix);

	return strncmp(name, prefix, size) == 0 &&
	       strspn(name + size, "0123456789") == strlen(name + size);
}

static int event_compare_id(const void *a, const void *b)
{
	const struct event *one = a, *other = b;

	if (one->id != other->id)
		return one->id < other->id ? -1 : 1;
	return one->order < other->order ? -1 : one->order > other->order;
}

/* Sorts by id.  Of two events with one id the first in the file counts. */
static void events_sort(struct document *document)
{
	uint32_t kept = 0;

	qsort(document->events, document->count, sizeof *document->events, event_compare_id);
	for (uint32_t i = 0; i < document->count; i++) {
		if (kept > 0 && document->events[kept - 1].id == document->events[i].id)
			free(document->events[i].arguments);
		else
			document->events[kept++] = document->events[i];
	}
	document->count = kept;
}

static int event_compare_mnemonic(const void *a, const void *b)
{
	const struct event *const *one = a, *const *other = b;
	int order = strcmp((*one)->mnemonic, (*other)->mnemonic);

	return order != 0 ? order : event_compare_id(*one, *other);
}

/* Gives each event its own mnemonic; a duplicate or missing one becomes its number. */
static void events_name(struct document *document)
{
	struct event **events = malloc(document->count * sizeof(struct event *));

	if (events == NULL) {
		document->lacks_memory = true;
		return;
	}
	for (uint32_t i = 0; i < document->count; i++) {
		struct event *event = &document->events[i];

		name_make(event->mnemonic, sizeof event->mnemonic,
			  event_title(event->name, event->description), true);
		events[i] = event;
	}
	qsort(events, document->count, sizeof(struct event *), event_compare_mnemonic);
	for (uint32_t i = document->count; i-- > 0;) {
		char *mnemonic = events[i]->mnemonic;

		if (mnemonic[0] == '\0' || name_is_placeholder(mnemonic, "EVENT-") ||
		    (i > 0 && strcmp(mnemonic, events[i - 1]->mnemonic) == 0))
			(void)snprintf(mnemonic, CT_MNEMONIC_SIZE, "EVENT-%u", events[i]->id);
	}
	free(events);
}

static const struct argument *event_argument_at(const struct event *event, uint32_t index)
{
	for (uint32_t i = 0; i < event->count; i++)
		if (event->arguments[i].index == index)
			return &event->arguments[i];
	return NULL;
}

/* Gives the item a name that no earlier item has. */
static void argument_name(char names[ARGUMENTS][ARGUMENT_SIZE], uint32_t item,
			  const struct argument *argument)
{
	char *name = names[item];

	name[0] = '\0';
	if (argument != NULL)
		name_make(name, ARGUMENT_SIZE, event_title(argument->name, argument->description),
			  false);
	for (uint32_t i = 0; i < item && name[0] != '\0'; i++)
		if (strcmp(names[i], name) == 0)
			name[0] = '\0';
	if (name[0] == '\0' || name_is_placeholder(name, "data"))
		(void)snprintf(name, ARGUMENT_SIZE, "data%u", item + 1);
}

static void add_arguments(struct ct_buf *out, const struct event *event, uint32_t first)
{
	char names[ARGUMENTS][ARGUMENT_SIZE];
	uint32_t count = 0;

	for (uint32_t i = 0; i < event->count; i++)
		if (event->arguments[i].index >= first + count)
			count = event->arguments[i].index - first + 1;
	if (count > 0)
		ct_buf_add_text(out, "    arguments:\n");
	for (uint32_t item = 0; item < count; item++) {
		const struct argument *argument = event_argument_at(event, first + item);

		argument_name(names, item, argument);
		ct_buf_add_format(out, "      - {name: \"%s\"", names[item]);
		if (argument != NULL && argument->description[0] != '\0') {
			ct_buf_add_text(out, ", description: ");
			add_quoted(out, argument->description);
		}
		ct_buf_add_text(out, "}\n");
	}
}

static void add_catalog(struct ct_buf *out, const struct document *document)
{
	ct_buf_add_text(out, "component: ");
	add_quoted(out, document->component);
	ct_buf_add_text(out, "\nevents:\n");
	for (uint32_t i = 0; i < document->count; i++) {
		const struct event *event = &document->events[i];

		ct_buf_add_format(out, "  %u:\n    mnemonic: \"%s\"\n", event->id, event->mnemonic);
		if (event->description[0] != '\0' || event->name[0] != '\0') {
			ct_buf_add_text(out, "    description: ");
			add_quoted(out, event_title(event->description, event->name));
			ct_buf_add_char(out, '\n');
		}
		add_arguments(out, event, document->has_zero ? 0 : 1);
	}
}

/* -----------------------------------------------------------------------------------------------
 * Files
 */

/* libexpat does not know the encoding: the text is converted and parsed again. */
static int encoding_note(void *user, const XML_Char *name, XML_Encoding *info)
{
	struct document *document = user;

	(void)info;
	document->has_encoding = ct_encoding_parse(name, strlen(name), &document->encoding) &&
				 !ct_encoding_is_ebcdic(document->encoding) &&
				 ct_encoding_prepare(document->encoding);
	return XML_STATUS_ERROR;
}

static bool text_parse(struct document *document, const struct ct_buf *text)
{
	XML_SetUserData(document->parser, document);
	XML_SetElementHandler(document->parser, element_begin, element_end);
	XML_SetCharacterDataHandler(document->parser, characters_add);
	XML_SetEntityDeclHandler(document->parser, entity_refuse);
	XML_SetUnknownEncodingHandler(document->parser, encoding_note, document);
	return XML_Parse(document->parser, text->data, (int)text->size, 1) == XML_STATUS_OK;
}

static void document_parse(struct document *document, const struct ct_buf *text,
			   struct annotation_result *result)
{
	bool is_good = text_parse(document, text);
	struct ct_buf converted;

	if (!is_good && document->has_encoding) {
		ct_buf_init(&converted);
		ct_encoding_add(&converted, document->encoding, text->data, text->size);
		document->lacks_memory |= converted.failed;
		/* The encoding in the file's declaration no longer applies. */
		is_good = !converted.failed && XML_ParserReset(document->parser, "UTF-8") &&
			  text_parse(document, &converted);
		ct_buf_fini(&converted);
	}
	if (is_good)
		return;
	result->line = (uint32_t)XML_GetCurrentLineNumber(document->parser);
	(void)snprintf(result->message, sizeof result->message, "no good XML: %s",
		       XML_ErrorString(XML_GetErrorCode(document->parser)));
}

/* A component that the file does not name gets the file's name. */
static void component_name(struct document *document, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	char text[TEXT_SIZE];

	(void)snprintf(text, sizeof text, "%.*s",
		       (int)(dot != NULL ? dot - name : (ptrdiff_t)strlen(name)), name);
	if (document->component[0] == '\0')
		component_set(document, text);
}

/* Completes one catalogue in which no name occurs twice. */
static void document_complete(struct document *document, const char *path,
			      struct annotation_result *result)
{
	if (document->count == 0) {
		(void)snprintf(result->message, sizeof result->message, "no event was found in it");
		return;
	}
	component_name(document, path);
	if (document->component[0] == '\0')
		(void)snprintf(result->message, sizeof result->message,
			       "neither its text nor its name has a component");
	(void)snprintf(result->component, sizeof result->component, "%s", document->component);
	events_sort(document);
	events_name(document);
}

static void result_note_unread(struct annotation_result *result)
{
	result->is_unread = true;
	(void)snprintf(result->message, sizeof result->message, "%s",
		       errno == EINVAL ? "it is no regular file" : strerror(errno));
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
		result_note_unread(result);
	else
		document_parse(&document, &text, result);
	if (result->message[0] == '\0' && !document.lacks_memory)
		document_complete(&document, path, result);
	if (document.lacks_memory)
		(void)snprintf(result->message, sizeof result->message, "%s",
			       ctrace_status_text(CTRACE_NOT_ENOUGH_MEMORY));
	result->events = document.count;
	if (result->message[0] == '\0')
		add_catalog(out, &document);
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

static int entry_is_annotation(const struct dirent *entry)
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
	count = scandir(path, &entries, entry_is_annotation, alphasort);
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
