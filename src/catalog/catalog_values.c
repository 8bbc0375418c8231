/*
 * catalog_values.c - reads keys and values of a catalogue: texts, names, numbers, words; finds
 * duplicates.
 *
 * Called by all files that read a catalogue's tree, on the same thread.  Each function reports
 * errors itself and returns false or NULL.  Reading goes on with the next value, so that all errors
 * of a file are reported at once.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "catalog/catalog_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECTED_NUMBER "digits, or 0x and hexadecimal digits"

void ct_load_diagnose(struct ct_load *load, const struct ct_yaml *node, const char *what,
		      const char *expected)
{
	ct_catalog_diagnostics_add(
		load->diagnostics, &node->place,
		&(struct ct_catalog_diagnostic){ .what = what, .expected = expected });
}

static void node_diagnose(struct ct_load *load, const struct ct_yaml *node, const char *what,
			  const char *suggestion, const char *expected)
{
	ct_catalog_diagnostics_add(load->diagnostics, &node->place,
				   &(struct ct_catalog_diagnostic){ .word = ct_yaml_value(node),
								    .what = what,
								    .suggestion = suggestion,
								    .expected = expected });
}

void ct_load_diagnose_word(struct ct_load *load, const struct ct_yaml *node, const char *what,
			   const char *expected)
{
	node_diagnose(load, node, what, NULL, expected);
}

bool ct_load_charge(struct ct_load *load, const struct ct_yaml *node, uint32_t count)
{
	if (load->status != CTRACE_OK)
		return false;
	if (load->budget->reads >= count) {
		load->budget->reads -= count;
		return true;
	}
	ct_load_diagnose(
		load, node, "with this there is too much in the catalogue",
		"at most 1,048,576 keys and values in all files, those that aliases repeat included");
	load->status = CTRACE_DAMAGED;
	return false;
}

void *ct_load_keep(struct ct_load *load, size_t count, size_t size)
{
	void *kept = ct_arena_take(&load->file->arena, count * size);

	if (kept == NULL)
		load->status = CTRACE_NOT_ENOUGH_MEMORY;
	return kept;
}

bool ct_load_is_nothing(const struct ct_yaml *node)
{
	node = ct_yaml_value(node);
	return node->kind == CT_YAML_SCALAR && node->is_plain &&
	       (node->count == 0 || strcmp(node->text, "~") == 0 ||
		strcmp(node->text, "null") == 0);
}

/* ---- maps ---- */

static uint32_t keys_find(const struct ct_load_keys *keys, const struct ct_yaml *key)
{
	uint32_t index = 0;

	while (index < keys->count && (strlen(keys->names[index]) != key->count ||
				       memcmp(keys->names[index], key->text, key->count) != 0))
		index++;
	return index;
}

/* Reports an unknown key.  A key without a value is often the rest of a text with a comma. */
static void key_diagnose_unknown(struct ct_load *load, const struct ct_load_keys *keys,
				 const struct ct_yaml *key, const struct ct_yaml *word)
{
	const char *suggestion =
		ct_suggest((struct ct_span){ word->text, word->count }, keys->names, keys->count);
	bool is_rest = suggestion == NULL && ct_load_is_nothing(key->next) &&
		       key->place.line == key->next->place.line;
	char what[80];

	(void)snprintf(what, sizeof what, "is no key of %s", keys->what);
	node_diagnose(
		load, key, what, suggestion,
		is_rest ? "a key and its value; or quotation marks around the text before it, when the comma belongs to that"
			: keys->expected);
}

static void map_take_pair(struct ct_load *load, const struct ct_load_keys *keys,
			  const struct ct_yaml *key, const struct ct_yaml **values)
{
	const struct ct_yaml *word = ct_yaml_value(key);
	uint32_t index;

	if (word->kind != CT_YAML_SCALAR) {
		ct_load_diagnose(load, key, "this is no key", keys->expected);
		return;
	}
	index = keys_find(keys, word);
	if (index == keys->count) {
		key_diagnose_unknown(load, keys, key, word);
	} else if (values[index] != NULL) {
		ct_load_diagnose_word(load, key, "is there twice", "each key once");
	} else {
		values[index] = key->next;
	}
}

bool ct_load_map(struct ct_load *load, const struct ct_yaml *node, const struct ct_load_keys *keys,
		 const struct ct_yaml **out_values)
{
	const struct ct_yaml *map = ct_yaml_value(node);

	memset(out_values, 0, keys->count * sizeof(const struct ct_yaml *));
	if (map->kind != CT_YAML_MAP) {
		char what[80];

		(void)snprintf(what, sizeof what, "%s has keys and values", keys->what);
		ct_load_diagnose(load, node, what, keys->expected);
		return false;
	}
	if (!ct_load_charge(load, node, map->count))
		return false;
	for (const struct ct_yaml *key = map->first; key != NULL; key = key->next->next)
		map_take_pair(load, keys, key, out_values);
	return true;
}

/* ---- texts ---- */

/* Returns the scalar, or NULL. */
static const struct ct_yaml *node_take_scalar(struct ct_load *load, const struct ct_yaml *node,
					      const char *expected)
{
	const struct ct_yaml *scalar;

	if (node == NULL)
		return NULL;
	scalar = ct_yaml_value(node);
	if (scalar->kind == CT_YAML_SCALAR)
		return scalar;
	ct_load_diagnose(load, node,
			 scalar->kind == CT_YAML_LIST ? "this is a list" : "this is a map",
			 expected);
	return NULL;
}

const char *ct_load_text(struct ct_load *load, const struct ct_yaml *node)
{
	const struct ct_yaml *scalar = node_take_scalar(load, node, "a text");

	if (scalar == NULL)
		return NULL;
	if (ct_load_is_nothing(node))
		return "";
	if (scalar->count > CT_CATALOG_TEXT)
		ct_load_diagnose_word(load, node, "is too long", "at most 4,095 bytes");
	else if (strlen(scalar->text) != scalar->count)
		ct_load_diagnose(load, node, "there is a NUL in this text", "a text without \\0");
	else
		return scalar->text;
	return NULL;
}

static bool char_is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool char_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool char_is_allowed(char c, const struct ct_load_letters *letters)
{
	if (letters->marks == NULL)
		return (unsigned char)c > ' ' && c != 0x7F;
	if (letters->marks[0] == '*')
		return (unsigned char)c >= ' ' && c != 0x7F;
	return char_is_letter(c) || char_is_digit(c) ||
	       (c != '\0' && strchr(letters->marks, c) != NULL);
}

static const char *name_check(const struct ct_yaml *scalar, const struct ct_load_letters *letters)
{
	if (scalar->count == 0)
		return "is empty";
	if (scalar->count > letters->limit)
		return "is too long";
	if (letters->begins_with_letter && !char_is_letter(scalar->text[0]) &&
	    scalar->text[0] != '_')
		return "does not begin with a letter";
	for (uint32_t i = 0; i < scalar->count; i++)
		if (!char_is_allowed(scalar->text[i], letters))
			return "has a character that may not be there";
	return NULL;
}

const char *ct_load_name(struct ct_load *load, const struct ct_yaml *node,
			 const struct ct_load_letters *letters)
{
	const struct ct_yaml *scalar = node_take_scalar(load, node, letters->expected);
	const char *diagnostic;

	if (scalar == NULL)
		return NULL;
	diagnostic = name_check(scalar, letters);
	if (diagnostic == NULL)
		return scalar->text;
	ct_load_diagnose_word(load, node, diagnostic, letters->expected);
	return NULL;
}

/* ---- numbers and words ---- */

static unsigned char_digit(char c)
{
	if (char_is_digit(c))
		return (unsigned)(c - '0');
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Returns the error, or NULL. */
static const char *number_parse(const char *text, size_t size, uint64_t *out_value)
{
	unsigned base = 10;
	uint64_t value = 0;

	if (size > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
		base = 16;
		text += 2;
		size -= 2;
	}
	if (size == 0)
		return "is no number";
	for (size_t i = 0; i < size; i++) {
		unsigned digit = char_digit(text[i]);

		if (digit >= base)
			return "is no number";
		if (value > (UINT64_MAX - digit) / base)
			return "is too large";
		value = value * base + digit;
	}
	*out_value = value;
	return NULL;
}

bool ct_load_number(struct ct_load *load, const struct ct_yaml *node, bool with_sign,
		    uint64_t *out_value)
{
	const char *expected =
		with_sign ? "digits, with or without a minus, or 0x and hexadecimal digits"
			  : EXPECTED_NUMBER;
	const struct ct_yaml *scalar = node_take_scalar(load, node, expected);
	const char *diagnostic;
	bool is_negative;
	uint64_t value = 0;

	if (scalar == NULL)
		return false;
	is_negative = with_sign && scalar->count > 1 && scalar->text[0] == '-';
	diagnostic = number_parse(scalar->text + is_negative, scalar->count - is_negative, &value);
	if (diagnostic == NULL && is_negative && value > (uint64_t)1 << 63)
		diagnostic = "is too small";
	if (diagnostic != NULL) {
		ct_load_diagnose_word(load, node, diagnostic, expected);
		return false;
	}
	*out_value = is_negative ? 0 - value : value;
	return true;
}

bool ct_load_id(struct ct_load *load, const struct ct_yaml *node, uint32_t *out_id)
{
	uint64_t value;

	if (!ct_load_number(load, node, false, &value))
		return false;
	if (value > UINT32_MAX) {
		ct_load_diagnose_word(load, node, "is too large",
				      "an event id of at most 4294967295 (0xFFFFFFFF)");
		return false;
	}
	*out_id = (uint32_t)value;
	return true;
}

/* Returns the index of the word, or count. */
static uint32_t word_find(const struct ct_yaml *scalar, const char *const *words, uint32_t count)
{
	uint32_t index = 0;

	while (index < count && !ct_name_is(scalar->text, scalar->count, words[index]))
		index++;
	return index;
}

bool ct_load_word(struct ct_load *load, const struct ct_yaml *node, const char *const *words,
		  uint32_t count, const char *expected, uint32_t *out_index)
{
	const struct ct_yaml *scalar = node_take_scalar(load, node, expected);
	uint32_t index;

	if (scalar == NULL)
		return false;
	index = word_find(scalar, words, count);
	if (index == count) {
		node_diagnose(
			load, node, "is none of these words",
			ct_suggest((struct ct_span){ scalar->text, scalar->count }, words, count),
			expected);
		return false;
	}
	*out_index = index;
	return true;
}

bool ct_load_flag(struct ct_load *load, const struct ct_yaml *node, bool *out_flag)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on" };
	uint32_t index;

	if (!ct_load_word(load, node, words, CT_COUNT(words), "true or false", &index))
		return false;
	*out_flag = (index & 1) != 0;
	return true;
}

bool ct_load_encoding(struct ct_load *load, const struct ct_yaml *node,
		      enum ct_encoding *out_encoding)
{
	const struct ct_yaml *scalar;
	enum ct_encoding encoding;

	if (node == NULL)
		return false;
	scalar = ct_yaml_value(node);
	if (scalar->kind == CT_YAML_SCALAR &&
	    ct_encoding_parse(scalar->text, scalar->count, &encoding) &&
	    ct_encoding_prepare(encoding)) {
		*out_encoding = encoding;
		return true;
	}
	/* An unknown encoding does not reject the catalogue: texts keep the previous encoding. */
	ct_catalog_diagnostics_add(
		load->diagnostics, &node->place,
		&(struct ct_catalog_diagnostic){
			.word = scalar,
			.what = "is no encoding that is known here, and is left out",
			.expected = CT_ENCODING_NAMES,
			.is_note = true });
	return false;
}

bool ct_load_dialect(struct ct_load *load, const struct ct_yaml *node, enum ct_dialect *out_dialect)
{
	static const char *const words[] = { "default", "gnucobol", "mf", "ibm" };
	static const enum ct_dialect dialects[] = { CT_DIALECT_DEFAULT, CT_DIALECT_DEFAULT,
						    CT_DIALECT_MF, CT_DIALECT_IBM };
	uint32_t index;

	if (!ct_load_word(load, node, words, CT_COUNT(words), "default, gnucobol, mf or ibm",
			  &index))
		return false;
	*out_dialect = dialects[index];
	return true;
}

/* ---- duplicates ---- */

struct ct_load_entry *ct_load_entries(struct ct_load *load, uint32_t count)
{
	if (count > load->entry_capacity) {
		struct ct_load_entry *entries = realloc(load->entries, count * sizeof *entries);

		if (entries == NULL) {
			load->status = CTRACE_NOT_ENOUGH_MEMORY;
			return NULL;
		}
		load->entries = entries;
		load->entry_capacity = count;
	}
	return load->entries;
}

static int name_compare(const char *a, const char *b)
{
	for (;; a++, b++) {
		int x = *a >= 'a' && *a <= 'z' ? *a - 'a' + 'A' : (unsigned char)*a;
		int y = *b >= 'a' && *b <= 'z' ? *b - 'a' + 'A' : (unsigned char)*b;

		if (x != y || x == 0)
			return x - y;
	}
}

static int entry_compare(const struct ct_load_entry *a, const struct ct_load_entry *b)
{
	if (a->name != NULL)
		return name_compare(a->name, b->name);
	return a->value < b->value ? -1 : a->value > b->value;
}

/* Sorts equal entries in the order of the text, so that the later one is the error. */
static int entry_compare_position(const void *one, const void *other)
{
	const struct ct_load_entry *a = one;
	const struct ct_load_entry *b = other;
	int by = entry_compare(a, b);

	if (by != 0)
		return by;
	if (a->node->place.line != b->node->place.line)
		return a->node->place.line < b->node->place.line ? -1 : 1;
	return a->node->place.column < b->node->place.column
		       ? -1
		       : a->node->place.column > b->node->place.column;
}

void ct_load_unique(struct ct_load *load, uint32_t count, const char *what, const char *expected)
{
	char message[120];

	qsort(load->entries, count, sizeof *load->entries, entry_compare_position);
	for (uint32_t i = 1; i < count; i++) {
		const struct ct_load_entry *entry = &load->entries[i];

		if (entry_compare(entry - 1, entry) != 0)
			continue;
		(void)snprintf(message, sizeof message, "%s of another, on line %u", what,
			       entry[-1].node->place.line + 1);
		ct_load_diagnose_word(load, entry->node, message, expected);
		if (entry->is_bad != NULL)
			*entry->is_bad = true;
	}
}
