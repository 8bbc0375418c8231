/*
 * config.c - the grammar of the configuration file, one line at a time.
 *
 * Runs when a process attaches, in ctrace_configure(), and in `ctrace config check`.  It changes
 * only its outputs.  Any bytes are allowed: a line becomes a command or a diagnostic.  The texts of
 * a command point into the line.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/control.h"
#include "lib/control/trigger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORD_SHOWN 60u /* bytes of a quoted word in a message */
#define PATH_SIZE 4096u
#define MOST_SECONDS 1000000u
#define MOST_DAYS 36500u

struct parser {
	const char *line;
	struct ct_command *command;
	struct ct_diagnostic *diagnostic; /* or NULL */
};

/* ---- spans ---- */

static const char *span_end(struct ct_span span)
{
	return span.at + span.size;
}

/* The first c, or the end. */
static const char *span_find(struct ct_span span, char c)
{
	const char *at = span.size == 0 ? NULL : memchr(span.at, c, span.size);

	return at != NULL ? at : span_end(span);
}

static const char *span_find_blank(struct ct_span span)
{
	const char *at = span.at;

	while (at < span_end(span) && !ct_is_blank(*at))
		at++;
	return at;
}

/* ---- diagnostics ---- */

/* `what "word" (did you mean suggestion?)`; word.at NULL and suggestion NULL omit their parts. */
static enum ctrace_status config_diagnose(const struct parser *parser, const char *at,
					  const char *what, struct ct_span word,
					  const char *suggestion, const char *expected)
{
	if (parser->diagnostic == NULL)
		return CTRACE_SYNTAX_ERROR;
	parser->diagnostic->line = 0;
	parser->diagnostic->column = (unsigned)(at - parser->line) + 1;
	ct_diagnostic_set(parser->diagnostic, &(struct ct_finding){ .before = what,
								    .word = word,
								    .meant = suggestion,
								    .expected = expected,
								    .shown = WORD_SHOWN });
	return CTRACE_SYNTAX_ERROR;
}

static const struct ct_span no_word;

/* ---- values ---- */

struct word {
	const char *word;
	uint64_t number;
};

static const struct word overflow_words[] = {
	{ "block", CT_OVERFLOW_BLOCK },
	{ "discard", CT_OVERFLOW_DISCARD },
	{ "overwrite", CT_OVERFLOW_OVERWRITE },
	{ "auto", CT_OVERFLOW_AUTO },
};
static const struct word clock_words[] = {
	{ "auto", CT_CLOCK_AUTO },
	{ "counter", CT_CLOCK_USE_COUNTER },
	{ "monotonic", CT_CLOCK_USE_MONOTONIC },
};
static const struct word switch_words[] = {
	{ "on", 1 },  { "yes", 1 }, { "y", 1 }, { "true", 1 },  { "enabled", 1 },  { "1", 1 },
	{ "off", 0 }, { "no", 0 },  { "n", 0 }, { "false", 0 }, { "disabled", 0 }, { "0", 0 },
};
static const struct word trigger_words[] = {
	{ "off", CT_TRIGGER_NONE }, { "signal", CT_TRIGGER_SIGNAL }, { "debug", CTRACE_DEBUG },
	{ "info", CTRACE_INFO },    { "warn", CTRACE_WARN },         { "error", CTRACE_ERROR },
	{ "fatal", CTRACE_FATAL },
};

#define MOST_COUNT 10000u
#define MOST_WORDS 16u
_Static_assert(CT_COUNT(switch_words) <= MOST_WORDS, "word_parse() copies the words");

static enum ctrace_status word_parse(const struct parser *parser, struct ct_span value,
				     const struct word *words, size_t count, const char *expected)
{
	const char *list[MOST_WORDS];

	for (size_t i = 0; i < count; i++) {
		list[i] = words[i].word;
		if (ct_name_is(value.at, value.size, words[i].word)) {
			parser->command->number = words[i].number;
			return CTRACE_OK;
		}
	}
	return config_diagnose(parser, value.at, "unknown value", value,
			       ct_suggest(value, list, count), expected);
}

static enum ctrace_status level_parse(const struct parser *parser, struct ct_span value)
{
	if (ct_level_parse(value.at, value.size, &parser->command->level))
		return CTRACE_OK;
	return config_diagnose(parser, value.at, "unknown level", value,
			       ct_suggest_level(value, true),
			       "none, debug, info, warn, error or fatal");
}

/* Parses decimal digits at the start of value; *out_rest is the text after them.  False: no
 * digit, or past UINT64_MAX. */
static bool digits_parse(struct ct_span value, uint64_t *out_number, struct ct_span *out_rest)
{
	uint64_t number = 0;
	size_t i = 0;

	for (; i < value.size && value.at[i] >= '0' && value.at[i] <= '9'; i++)
		if (__builtin_mul_overflow(number, 10u, &number) ||
		    __builtin_add_overflow(number, (unsigned)(value.at[i] - '0'), &number))
			return false;
	*out_number = number;
	*out_rest = ct_span_trim(ct_span_of(value.at + i, span_end(value)));
	return i != 0;
}

static enum ctrace_status size_parse(const struct parser *parser, struct ct_span value)
{
	static const char expected[] = "a size up to 1024M: bytes, or a number with K or M";
	uint64_t size;
	struct ct_span unit;

	if (!digits_parse(value, &size, &unit))
		return config_diagnose(parser, value.at, "not a size:", value, NULL, expected);
	if (ct_name_is(unit.at, unit.size, "k"))
		size = size <= CT_RING_MAX ? size << 10 : size;
	else if (ct_name_is(unit.at, unit.size, "m"))
		size = size <= CT_RING_MAX ? size << 20 : size;
	else if (unit.size != 0)
		return config_diagnose(parser, unit.at, "unknown unit", unit, NULL, expected);
	if (size == 0 || size > CT_RING_MAX)
		return config_diagnose(parser, value.at,
				       size == 0 ? "too small:" : "too large:", value, NULL,
				       expected);
	parser->command->number = ct_ring_capacity(size);
	return CTRACE_OK;
}

static enum ctrace_status spool_size_parse(const struct parser *parser, struct ct_span value)
{
	uint64_t size;

	if (ct_size_parse(value.at, value.size, &size))
		return CTRACE_OK;
	return config_diagnose(parser, value.at, "not a size:", value, NULL,
			       "bytes, or a number with K, M, G or T, such as 500M or 10G");
}

static enum ctrace_status time_parse(const struct parser *parser, struct ct_span value)
{
	static const char expected[] =
		"a time up to 1000000s: a number of milliseconds, or one with ms or s";
	uint64_t scale = 1000u * 1000u;
	uint64_t number;
	struct ct_span unit;

	if (!digits_parse(value, &number, &unit))
		return config_diagnose(parser, value.at, "not a time:", value, NULL, expected);
	if (ct_name_is(unit.at, unit.size, "s"))
		scale = 1000u * 1000u * 1000u;
	else if (unit.size != 0 && !ct_name_is(unit.at, unit.size, "ms"))
		return config_diagnose(parser, unit.at, "unknown unit", unit, NULL, expected);
	if (number > MOST_SECONDS * (uint64_t)1000u * 1000u * 1000u / scale)
		return config_diagnose(parser, value.at, "too long:", value, NULL, expected);
	parser->command->number = number * scale;
	return CTRACE_OK;
}

static enum ctrace_status age_parse(const struct parser *parser, struct ct_span value)
{
	static const char expected[] =
		"a number with s, m, h or d, such as 90s, 5m, 12h or 7d, up to 36500d";
	uint64_t seconds, number;
	struct ct_span unit;

	if (!digits_parse(value, &number, &unit))
		return config_diagnose(parser, value.at, "not a time:", value, NULL, expected);
	if (unit.size != 1 || strchr("sSmMhHdD", unit.at[0]) == NULL)
		return config_diagnose(parser, unit.at,
				       unit.size == 0 ? "no unit behind" : "unknown unit",
				       unit.size == 0 ? value : unit, NULL, expected);
	seconds = (unit.at[0] | 0x20) == 'd'   ? 86400u
		  : (unit.at[0] | 0x20) == 'h' ? 3600u
		  : (unit.at[0] | 0x20) == 'm' ? 60u
					       : 1u;
	if (number > (uint64_t)MOST_DAYS * 86400u / seconds)
		return config_diagnose(parser, value.at, "too long:", value, NULL, expected);
	parser->command->number = number * seconds * 1000000000u;
	return CTRACE_OK;
}

/* Removes parentheses around a value, if any; false when one of the two is missing. */
static bool parentheses_parse(struct ct_span value, struct ct_span *out_inner, bool *out_has_them)
{
	bool opens = value.size > 0 && value.at[0] == '(';
	bool closes = value.size > 0 && value.at[value.size - 1] == ')';

	if (opens != closes)
		return false;
	*out_inner =
		opens ? ct_span_trim(ct_span_of(value.at + 1, value.at + value.size - 1)) : value;
	*out_has_them = opens;
	return true;
}

bool ct_config_next_word(struct ct_span *list, struct ct_span *out_name)
{
	const char *at = list->at;
	const char *end = span_end(*list);
	const char *start;

	while (at < end && (ct_is_blank(*at) || *at == ','))
		at++;
	start = at;
	while (at < end && !ct_is_blank(*at) && *at != ',')
		at++;
	*list = ct_span_of(at, end);
	if (at == start)
		return false;
	*out_name = ct_span_of(start, at);
	return true;
}

static enum ctrace_status dests_parse(const struct parser *parser, struct ct_span value)
{
	static const char expected[] =
		"emitter names, separated by commas or blanks, all in parentheses or none";
	struct ct_span names;
	struct ct_span name;
	size_t count = 0;

	if (!parentheses_parse(value, &parser->command->list, &parser->command->no_inherit))
		return config_diagnose(parser, value.at, "only one parenthesis round", value, NULL,
				       expected);
	names = parser->command->list;
	for (; ct_config_next_word(&names, &name); count++) {
		if (name.size > CTRACE_MAX_EMITTER)
			return config_diagnose(parser, name.at,
					       "too long for an emitter name:", name, NULL,
					       "at most 31 bytes");
		if (memchr(name.at, '(', name.size) != NULL ||
		    memchr(name.at, ')', name.size) != NULL)
			return config_diagnose(parser, name.at, "misplaced parenthesis in", name,
					       NULL, expected);
	}
	if (count == 0)
		return config_diagnose(parser, value.at, "no destination", no_word, NULL, expected);
	return CTRACE_OK;
}

static enum ctrace_status application_parse(const struct parser *parser, struct ct_span value)
{
	static const char expected[] =
		"a program's name or path, or that of what a trigger runs in parentheses";
	struct ct_span inner;
	bool has_them;

	if (!parentheses_parse(value, &inner, &has_them))
		return config_diagnose(parser, value.at, "only one parenthesis round", value, NULL,
				       expected);
	if (inner.size == 0)
		return config_diagnose(parser, value.at, "no name", no_word, NULL, expected);
	return CTRACE_OK;
}

static enum ctrace_status path_parse(const struct parser *parser, struct ct_span value)
{
	if (value.size == 0 || value.at[0] != '/' || value.size >= PATH_SIZE)
		return config_diagnose(parser, value.at, "not an absolute path:", value, NULL,
				       "a directory's path that begins with /");
	return CTRACE_OK;
}

static enum ctrace_status log_parse(const struct parser *parser, struct ct_span value)
{
	if (ct_name_is(value.at, value.size, "JOURNAL"))
		return CTRACE_OK;
	if (value.size == 0 || value.at[0] != '/' || value.size >= PATH_SIZE)
		return config_diagnose(parser, value.at, "not an absolute path:", value, NULL,
				       "a file's path that begins with /, or journal");
	return CTRACE_OK;
}

/* Whether the machine has the group is seen when it is applied. */
static enum ctrace_status group_parse(const struct parser *parser, struct ct_span value)
{
	bool is_name = value.size != 0 && value.size < CT_OPERATORS_NAME;

	for (size_t i = 0; is_name && i < value.size; i++)
		is_name = (unsigned char)value.at[i] > ' ' && strchr(":,()#", value.at[i]) == NULL;
	if (is_name)
		return CTRACE_OK;
	return config_diagnose(parser, value.at, "not the name of a group:", value, NULL,
			       "one group, by its name or its number");
}

static enum ctrace_status encoding_parse(const struct parser *parser, struct ct_span value)
{
	enum ct_encoding encoding;

	if (ct_encoding_parse(value.at, value.size, &encoding))
		return CTRACE_OK;
	return config_diagnose(parser, value.at, "unknown encoding", value, NULL,
			       CT_ENCODING_NAMES);
}

static enum ctrace_status count_parse(const struct parser *parser, struct ct_span value)
{
	uint64_t number;
	struct ct_span unit;

	if (!digits_parse(value, &number, &unit) || unit.size != 0 || number == 0 ||
	    number > MOST_COUNT)
		return config_diagnose(parser, value.at, "not such a number:", value, NULL,
				       "1 to 10000");
	parser->command->number = number;
	return CTRACE_OK;
}

static const struct word dump_on_words[] = {
	{ "off", 0 },
	{ "fatal-signal", CT_DUMP_ON_SIGNAL },
	{ "abort", CT_DUMP_ON_ABORT },
	{ "exit-status", CT_DUMP_ON_EXIT },
	{ "cobol-error", CT_DUMP_ON_COBOL },
};

static enum ctrace_status dump_on_parse(const struct parser *parser, struct ct_span value)
{
	static const char expected[] =
		"off, or some of fatal-signal, abort, exit-status and cobol-error";
	struct ct_span word = value;
	uint64_t mask = 0;
	enum ctrace_status status = CTRACE_OK;

	if (value.size == 0)
		return config_diagnose(parser, value.at, "no value", no_word, NULL, expected);
	while (status == CTRACE_OK && ct_config_next_word(&value, &word)) {
		status = word_parse(parser, word, dump_on_words, CT_COUNT(dump_on_words), expected);
		mask |= parser->command->number;
	}
	parser->command->number = mask;
	return status;
}

bool ct_config_expand(const struct ct_command *command, unsigned index, struct ct_command *out)
{
	/* The emitters that are always there.  JOURNAL, a module, would be loaded into every
	 * program. */
	static const struct {
		enum ct_verb verb;
		const char *emitter, *property;
	} properties[] = {
		{ CT_VERB_ENCODING, "TEXTFILE", "ENCODING" },
		{ CT_VERB_ENCODING, "BINFILE", "ENCODING" },
		{ CT_VERB_ENCODING, "STDERR", "ENCODING" },
		{ CT_VERB_ENCODING, "NATS", "ENCODING" },
		{ CT_VERB_SPOOL_LINGER, "NATS", "LINGER" },
		{ CT_VERB_SPOOL_SIZE, "NATS", "SPOOLSIZE" },
	};

	for (size_t i = 0; i < CT_COUNT(properties); i++) {
		if (properties[i].verb != command->verb || index-- != 0)
			continue;
		*out = (struct ct_command){
			.verb = CT_VERB_EMITTER_PROPERTY,
			.emitter = { properties[i].emitter, strlen(properties[i].emitter) },
			.property = { properties[i].property, strlen(properties[i].property) },
			.value = command->value,
		};
		return true;
	}
	return false;
}

/* The emitter of a module is known once it is loaded: ct_setup_load_modules(). */
static const struct ctrace_property *property_find(const struct ct_command *command)
{
	uint32_t index;

	if (ct_emitter_find_known(command->emitter.at, command->emitter.size, &index) != CTRACE_OK)
		return NULL;
	return ct_emitter_property(ct_emitter_at(index), command->property.at,
				   command->property.size);
}

enum ct_property_finding ct_config_check_property(const struct ct_command *command,
						  struct ct_diagnostic *out)
{
	const struct ctrace_property *row = property_find(command);

	return row != NULL ? ct_property_check(row, command->value, out) : CT_PROPERTY_GOOD;
}

static enum ctrace_status property_parse(const struct parser *parser, struct ct_span value)
{
	struct ct_diagnostic diagnostic;

	if (ct_config_check_property(parser->command, &diagnostic) != CT_PROPERTY_WRONG)
		return CTRACE_OK;
	if (parser->diagnostic != NULL) {
		*parser->diagnostic = diagnostic;
		parser->diagnostic->column += (unsigned)(value.at - parser->line);
	}
	return CTRACE_SYNTAX_ERROR;
}

static enum ctrace_status trigger_parse(const struct parser *parser, struct ct_span value)
{
	struct ct_diagnostic diagnostic;
	struct ct_trigger trigger;

	if (ct_trigger_parse(value.at, value.size, &trigger, &diagnostic) == CTRACE_OK)
		return CTRACE_OK;
	if (parser->diagnostic != NULL) {
		*parser->diagnostic = diagnostic;
		parser->diagnostic->column += (unsigned)(value.at - parser->line);
	}
	return CTRACE_SYNTAX_ERROR;
}

static enum ctrace_status value_parse(const struct parser *parser, enum ct_value_kind kind,
				      struct ct_span value)
{
	parser->command->value = value;
	switch (kind) {
	case CT_VALUE_TEXT:
		return CTRACE_OK;
	case CT_VALUE_PROPERTY:
		return property_parse(parser, value);
	case CT_VALUE_APPLICATION:
		return application_parse(parser, value);
	case CT_VALUE_LEVEL:
		return level_parse(parser, value);
	case CT_VALUE_DESTS:
		return dests_parse(parser, value);
	case CT_VALUE_SIZE:
		return size_parse(parser, value);
	case CT_VALUE_SPOOL_SIZE:
		return spool_size_parse(parser, value);
	case CT_VALUE_TIME:
		return time_parse(parser, value);
	case CT_VALUE_AGE:
		return age_parse(parser, value);
	case CT_VALUE_OVERFLOW:
		return word_parse(parser, value, overflow_words, CT_COUNT(overflow_words),
				  "block, discard, overwrite or auto");
	case CT_VALUE_TRIGGER:
		return word_parse(parser, value, trigger_words, CT_COUNT(trigger_words),
				  "debug, info, warn, error, fatal, signal or off");
	case CT_VALUE_CLOCK:
		return word_parse(parser, value, clock_words, CT_COUNT(clock_words),
				  "auto, counter or monotonic");
	case CT_VALUE_SWITCH:
		return word_parse(parser, value, switch_words, CT_COUNT(switch_words), "on or off");
	case CT_VALUE_PATH:
		return path_parse(parser, value);
	case CT_VALUE_LOG:
		return log_parse(parser, value);
	case CT_VALUE_GROUP:
		return group_parse(parser, value);
	case CT_VALUE_ENCODING:
		return encoding_parse(parser, value);
	case CT_VALUE_FULL_TRIGGER:
		return trigger_parse(parser, value);
	case CT_VALUE_COUNT:
		return count_parse(parser, value);
	case CT_VALUE_DUMP_ON:
		return dump_on_parse(parser, value);
	}
	return CTRACE_SYNTAX_ERROR;
}

/* ---- keys ---- */

/* `rest` is the text after the keyword: ".COMPONENT#PROPERTY", ".COMPONENT" or nothing. */
static bool subject_fits(enum ct_subject subject, struct ct_span rest)
{
	bool has_name = rest.size > 0 && rest.at[0] == '.';
	bool has_property = span_find(rest, '#') != span_end(rest);

	switch (subject) {
	case CT_SUBJECT_NONE:
		return rest.size == 0;
	case CT_SUBJECT_ANY_COMPONENT:
		return rest.size == 0 || (has_name && !has_property);
	case CT_SUBJECT_COMPONENT:
	case CT_SUBJECT_NAME:
		return has_name && !has_property;
	case CT_SUBJECT_COMPONENT_PROPERTY:
	case CT_SUBJECT_EMITTER_PROPERTY:
		return has_name && has_property;
	}
	return false;
}

static enum ctrace_status component_parse(const struct parser *parser, struct ct_span name)
{
	static const char expected[] = "a dotted name of 1 to 255 bytes: no blank, no empty part";

	if (ct_component_check_name(name.at, name.size) != CTRACE_OK ||
	    span_find_blank(name) != span_end(name))
		return config_diagnose(parser, name.at, "not a component name:", name, NULL,
				       expected);
	parser->command->component = name;
	return CTRACE_OK;
}

static enum ctrace_status emitter_parse(const struct parser *parser, struct ct_span name)
{
	if (name.size == 0 || name.size > CTRACE_MAX_EMITTER ||
	    span_find_blank(name) != span_end(name))
		return config_diagnose(parser, name.at, "not an emitter name:", name, NULL,
				       "1 to 31 bytes without a blank");
	parser->command->emitter = name;
	return CTRACE_OK;
}

static enum ctrace_status name_parse(const struct parser *parser, struct ct_span name)
{
	if (!ct_trigger_name_is_good(name.at, name.size))
		return config_diagnose(parser, name.at, "not a trigger's name:", name, NULL,
				       "1 to 32 letters, digits, _ and -");
	parser->command->component = name;
	return CTRACE_OK;
}

static enum ctrace_status subject_parse(const struct parser *parser, enum ct_subject subject,
					struct ct_span rest)
{
	struct ct_span name;
	struct ct_span property;
	const char *mark = span_find(rest, '#');
	enum ctrace_status status;

	if (rest.size == 0)
		return CTRACE_OK;
	name = ct_span_trim(ct_span_of(rest.at + 1, mark));
	if (subject == CT_SUBJECT_NAME)
		return name_parse(parser, name);
	if (mark == span_end(rest))
		return component_parse(parser, name);
	property = ct_span_trim(ct_span_of(mark + 1, span_end(rest)));
	status = subject == CT_SUBJECT_EMITTER_PROPERTY ? emitter_parse(parser, name)
							: component_parse(parser, name);
	if (status != CTRACE_OK)
		return status;
	if (property.size == 0 || property.size > CTRACE_MAX_PROPERTY)
		return config_diagnose(parser, property.at, "not a property name:", property, NULL,
				       "1 to 255 bytes after the #");
	parser->command->property = property;
	return CTRACE_OK;
}

static bool key_begins_with(struct ct_span key, const char *keyword, struct ct_span *out_rest)
{
	size_t size = strlen(keyword);

	if (key.size < size || !ct_name_is(key.at, size, keyword))
		return false;
	if (key.size > size && key.at[size] != '.' && key.at[size] != '#')
		return false;
	*out_rest = ct_span_of(key.at + size, span_end(key));
	return true;
}

/* As many dotted parts of the key as the keyword has. */
static struct ct_span key_front(struct ct_span key, const char *keyword)
{
	const char *end = key.at;

	for (; end < span_end(key) && *end != '#' && (*end != '.' || strchr(keyword, '.') != NULL);
	     end++)
		if (*end == '.')
			keyword = strchr(keyword, '.') + 1;
	return ct_span_of(key.at, end);
}

static enum ctrace_status key_diagnose_unknown(const struct parser *parser, struct ct_span key)
{
	bool is_ours = key.size >= 7 && ct_name_is(key.at, 7, "ctrace.");
	const struct ct_verb_row *row;
	const char *suggestion = NULL;

	for (size_t i = 0; suggestion == NULL && (row = ct_verb_row_at(i)) != NULL; i++)
		if (row->key != NULL)
			suggestion =
				ct_suggest(ct_span_trim(key_front(key, row->key)), &row->key, 1);
	return config_diagnose(
		parser, key.at, "unknown key", key, suggestion,
		is_ours ? "ctrace.buffer, ctrace.overflow, ctrace.attach, ctrace.run.directory, ctrace.flight.level, ctrace.trigger or another key of mftrace.cfg(5)"
			: "mftrace.level, mftrace.dest, mftrace.comp, mftrace.emitter, mftrace.encoding, mftrace.application or a ctrace. key");
}

static enum ctrace_status key_diagnose_form(const struct parser *parser,
					    const struct ct_verb_row *row, struct ct_span key,
					    struct ct_span rest)
{
	char expected[sizeof parser->diagnostic->expected];

	(void)snprintf(expected, sizeof expected, "%s%s%s", row->key, row->subject_grammar,
		       row->subject == CT_SUBJECT_ANY_COMPONENT &&
				       span_find(rest, '#') != span_end(rest)
			       ? "; properties are set by mftrace.comp.COMPONENT#PROPERTY"
			       : "");
	return config_diagnose(parser, rest.at, "wrong form of key", key, NULL, expected);
}

static enum ctrace_status pair_parse(const struct parser *parser, struct ct_span key,
				     struct ct_span value)
{
	const struct ct_verb_row *nearest = NULL;
	const struct ct_verb_row *row;
	struct ct_span rest = no_word;
	enum ctrace_status status;

	for (size_t i = 0; (row = ct_verb_row_at(i)) != NULL; i++) {
		if (row->key == NULL || !key_begins_with(key, row->key, &rest))
			continue;
		nearest = row;
		if (!subject_fits(row->subject, rest))
			continue;
		status = subject_parse(parser, row->subject, rest);
		if (status != CTRACE_OK)
			return status;
		parser->command->verb = row->verb;
		return value_parse(parser, row->value, value);
	}
	return nearest != NULL ? key_diagnose_form(parser, nearest, key, rest)
			       : key_diagnose_unknown(parser, key);
}

/* ---- lines ---- */

static enum ctrace_status line_parse(const struct parser *parser, struct ct_span line)
{
	struct ct_span text = ct_span_trim(line);
	const char *equals = span_find(text, '=');
	const char *nul = span_find(text, '\0');
	struct ct_span key = ct_span_trim(ct_span_of(text.at, equals));

	if (line.size > CT_CONFIG_LINE_MAX)
		return config_diagnose(parser, line.at + CT_CONFIG_LINE_MAX, "line too long",
				       no_word, NULL, "at most 65536 bytes");
	if (text.size == 0 || text.at[0] == '#')
		return CTRACE_OK;
	if (nul != span_end(text))
		return config_diagnose(parser, nul, "NUL byte", no_word, NULL, "text");
	if (span_find(text, '\n') != span_end(text))
		return config_diagnose(parser, span_find(text, '\n'), "more than one line", no_word,
				       NULL, "one line at a time");
	if (equals == span_end(text))
		return config_diagnose(parser, equals, "no \"=\" after", text, NULL, "KEY = VALUE");
	if (key.size == 0)
		return config_diagnose(parser, equals, "no key before \"=\"", no_word, NULL,
				       "KEY = VALUE");
	return pair_parse(parser, key, ct_span_trim(ct_span_of(equals + 1, span_end(text))));
}

enum ctrace_status ct_config_parse_line(const char *line, size_t size, struct ct_command *out,
					struct ct_diagnostic *diagnostic)
{
	struct ct_command command = { .verb = CT_VERB_NONE };
	struct parser parser = { line, &command, diagnostic };
	enum ctrace_status status = line_parse(&parser, (struct ct_span){ line, size });

	if (status == CTRACE_OK)
		*out = command;
	return status;
}

/* ---- the program that a trigger runs ---- */

static bool is_beginning_of(struct ct_span word, const char *whole)
{
	return word.size > 0 && word.size <= strlen(whole) &&
	       memcmp(word.at, whole, word.size) == 0;
}

/* True for an option of cobcrun whose value is the next word.  The value may be in the same
 * word: -M x, -Mx, -module x, --module=x, -c x. */
static bool option_takes_next_word(const char *option)
{
	struct ct_span name = { option + 1, strlen(option + 1) };

	if (name.size > 0 && name.at[0] == '-')
		name = (struct ct_span){ name.at + 1, name.size - 1 };
	return (name.size == 1 && name.at[0] == 'M') || is_beginning_of(name, "module") ||
	       is_beginning_of(name, "config");
}

const char *ct_config_triggered(const char *trigger, const char *words, size_t size)
{
	const char *end = words + size;
	bool has_options = strcmp(trigger, "cobcrun") == 0;

	while (has_options && words < end && words[0] == '-' && words[1] != '\0') {
		const char *option = words;

		words += strlen(words) + 1;
		has_options = strcmp(option, "--") != 0;
		if (has_options && option_takes_next_word(option) && words < end)
			words += strlen(words) + 1;
	}
	return words < end ? words : NULL;
}

/* ---- files ---- */

const char *ct_config_unread(int error, char buffer[CT_CONFIG_UNREAD])
{
	if (error == EFBIG)
		return "it is larger than a configuration can be";
	return error == EINVAL ? "it is no file" : strerror_r(error, buffer, CT_CONFIG_UNREAD);
}

static struct ct_span base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash != NULL ? slash + 1 : path;

	return (struct ct_span){ base, strlen(base) };
}

/* True when `name` is the path, its last part, or that without its extension. */
static bool names_program(struct ct_span name, const char *path)
{
	struct ct_span base;
	const char *dot;

	if (path == NULL)
		return false;
	base = base_name(path);
	dot = strrchr(base.at, '.');
	return ct_name_is(name.at, name.size, path) || ct_name_is(name.at, name.size, base.at) ||
	       (dot != NULL && ct_name_equal(name.at, name.size, base.at, (size_t)(dot - base.at)));
}

static bool application_fits(struct ct_span value, const struct ct_program *program)
{
	struct ct_span name = value;
	bool is_triggered = false;

	(void)parentheses_parse(value, &name, &is_triggered);
	if (is_triggered)
		return names_program(name, program->first_argument);
	return names_program(name, program->name) || names_program(name, program->path);
}

static void line_give(const struct ct_command *command, unsigned number,
		      const struct ct_config_reader *reader)
{
	struct ct_command one;

	if (!ct_config_expand(command, 0, &one)) {
		reader->command(command, number, reader->user);
		return;
	}
	for (unsigned i = 0; ct_config_expand(command, i, &one); i++)
		reader->command(&one, number, reader->user);
}

/* False: the rest of the file is not for this program. */
static bool line_read(struct ct_span line, unsigned number, const struct ct_program *program,
		      const struct ct_config_reader *reader)
{
	struct ct_diagnostic diagnostic;
	struct ct_command command;

	if (ct_config_parse_line(line.at, line.size, &command,
				 reader->diagnose != NULL ? &diagnostic : NULL) != CTRACE_OK) {
		if (reader->diagnose != NULL) {
			diagnostic.line = number;
			reader->diagnose(&diagnostic, reader->user);
		}
		return true;
	}
	if (command.verb == CT_VERB_APPLICATION && program != NULL &&
	    !application_fits(command.value, program))
		return false;
	if (command.verb != CT_VERB_NONE && reader->command != NULL)
		line_give(&command, number, reader);
	return true;
}

void ct_config_read(const char *text, size_t size, const struct ct_program *program,
		    const struct ct_config_reader *reader, unsigned *out_stopped_at)
{
	struct ct_span rest = { text, size };
	unsigned number = 1;

	/* the mark that some editors put before UTF-8 */
	if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
		rest = ct_span_of(text + 3, text + size);
	for (; rest.size > 0; number++) {
		const char *end = span_find(rest, '\n');

		if (!line_read(ct_span_of(rest.at, end), number, program, reader)) {
			if (reader->reset != NULL)
				reader->reset(reader->user);
			if (out_stopped_at != NULL)
				*out_stopped_at = number;
			return;
		}
		rest = ct_span_of(end < span_end(rest) ? end + 1 : end, span_end(rest));
	}
}
