/*
 * procedure.c - the procedure file of an external writer: its grammar.
 *
 * The tool calls it before the writer starts, on its one thread.  The text may hold any bytes;
 * nothing is read past its end.  An error makes the parser skip the word or line and report it in
 * text that is safe to print.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "writer/writer.h"
#include "base/scan.h"
#include "lib/control/control.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define PATH_LIMIT 4000u /* bytes of PATH; leaves room for file names */

#define EXPECTED_STATEMENT "TRCOUT01 to TRCOUT16, MODE=, COMPRESS= or a comment"
#define EXPECTED_NUMBER "TRCOUT01 to TRCOUT16"
#define EXPECTED_KEY "PATH=, PRIMARY=, SECONDARY= or DISP="
#define EXPECTED_DISP "OLD, MOD, NEW or SHR"
#define EXPECTED_SIZE "1 to 9999 and K, M or G, as in 50M"
#define EXPECTED_PATH "an absolute path, as in /var/trace/$(NAME), or nats://HOST/STREAM"
#define EXPECTED_ADDRESS "nats://HOST[:PORT][,HOST...]/STREAM[?KEY=VALUE&...]"

bool ct_writer_name_is_valid(const char *name, size_t size)
{
	char upper[7];

	if (size > sizeof upper)
		return false;
	memcpy(upper, name, size);
	ct_name_upper(upper, size);
	return ct_trace_name_is_valid(upper, size);
}

/* -----------------------------------------------------------------------------------------------
 * Reading a text: lines, words, errors
 */

struct parser {
	struct ct_parser text; /* its end is that of the line */
	bool has_mode;
	bool has_compress;
	struct ct_procedure *out;
};

static void parser_diagnose_word(struct parser *parser, struct ct_span word, const char *what,
				 const char *suggestion, const char *expected)
{
	ct_parser_diagnose(&parser->text, &(struct ct_finding){ .word = word,
								.what = what,
								.meant = suggestion,
								.expected = expected });
}

/* Takes the next word of the line; false at its end. */
static bool parser_next_word(struct parser *parser, struct ct_span *out_word)
{
	ct_parser_blanks(&parser->text);
	*out_word = ct_parser_until(&parser->text, CT_BLANKS);
	return out_word->size != 0;
}

/* Splits KEY=VALUE; value.at is NULL when there is no equals sign. */
static struct ct_span word_split(struct ct_span word, struct ct_span *out_value)
{
	const char *equals = memchr(word.at, '=', word.size);

	*out_value = equals != NULL ? ct_span_of(equals + 1, word.at + word.size)
				    : (struct ct_span){ NULL, 0 };
	return equals != NULL ? ct_span_of(word.at, equals) : word;
}

static bool span_is(struct ct_span span, const char *word)
{
	return ct_name_is(span.at, span.size, word);
}

/* -----------------------------------------------------------------------------------------------
 * Values
 */

/* Appends the value of the variable that begins at `at` with "$(", and returns its end; NULL
 * when it is not a variable. */
static const char *variable_expand(struct parser *parser, const char *at, const char *end,
				   struct ct_buf *path)
{
	static const char *const variables[] = { "$(NAME)", "$(HOST)" };
	const char *close = memchr(at, ')', (size_t)(end - at));
	struct ct_span variable = ct_span_of(at, close != NULL ? close + 1 : end);
	struct utsname host = { .nodename = "" };

	if (span_is(variable, variables[0])) {
		ct_buf_add_text(path, parser->out->name);
		return close + 1;
	}
	if (span_is(variable, variables[1])) {
		(void)uname(&host);
		for (char *c = host.nodename; *c != '\0'; c++)
			if (*c == '/')
				*c = '_';
		ct_buf_add_text(path, host.nodename);
		return close + 1;
	}
	parser_diagnose_word(parser, variable, "is no variable",
			     ct_suggest(variable, variables, CT_COUNT(variables)),
			     "$(NAME) or $(HOST)");
	return NULL;
}

static bool path_expand(struct parser *parser, struct ct_span value, struct ct_buf *path)
{
	const char *end = value.at + value.size;
	const char *at = value.at;

	while (at != NULL && at < end) {
		if (at[0] == '$' && at + 1 < end && at[1] == '(') {
			at = variable_expand(parser, at, end, path);
			continue;
		}
		if ((unsigned char)*at < 0x20 || *at == 0x7F) {
			parser_diagnose_word(parser, value, "has a control character", NULL,
					     EXPECTED_PATH);
			return false;
		}
		ct_buf_add_char(path, *at++);
	}
	return at != NULL;
}

/* The servers and the name of the stream; the forwarder examines the keys. */
static bool address_is_good(struct ct_span address)
{
	static const struct ctrace_property servers = { .kind = CTRACE_PROPERTY_SERVERS },
					    stream = { .kind = CTRACE_PROPERTY_WORD };
	const char *end = address.at + address.size;
	const char *hosts = (const char *)memmem(address.at, address.size, "://", 3) + 3;
	const char *slash = memchr(hosts, '/', (size_t)(end - hosts));
	const char *question;
	struct ct_diagnostic unused;

	if (slash == NULL)
		return false;
	question = memchr(slash, '?', (size_t)(end - slash));
	if (question == NULL)
		question = end;
	return question > slash + 1 &&
	       ct_property_check(&servers, ct_span_of(address.at, slash), &unused) ==
		       CT_PROPERTY_GOOD &&
	       ct_property_check(&stream, ct_span_of(slash + 1, question), &unused) ==
		       CT_PROPERTY_GOOD;
}

static void address_read(struct parser *parser, struct ct_span value, struct ct_trcout_spec *out)
{
	struct ct_buf address;

	ct_buf_init(&address);
	if (path_expand(parser, value, &address)) {
		if (address.failed || address.size > PATH_LIMIT)
			parser_diagnose_word(parser, value, "is too long", NULL,
					     "at most 4000 bytes");
		else if (!address_is_good((struct ct_span){ address.data, address.size }))
			/* It may have a password, which is not shown. */
			parser_diagnose_word(
				parser, (struct ct_span){ value.at, strcspn(value.at, ":") },
				"begins no address of a stream", NULL, EXPECTED_ADDRESS);
		else
			memcpy(out->address, ct_buf_text(&address), address.size + 1);
	}
	ct_buf_fini(&address);
}

static void path_read(struct parser *parser, struct ct_span value, struct ct_trcout_spec *out)
{
	struct ct_buf path;

	if ((value.size > 7 && memcmp(value.at, "nats://", 7) == 0) ||
	    (value.size > 6 && memcmp(value.at, "tls://", 6) == 0)) {
		address_read(parser, value, out);
		return;
	}
	if (value.size == 0 || value.at[0] != '/') {
		parser_diagnose_word(parser, value, "is no absolute path", NULL, EXPECTED_PATH);
		return;
	}
	ct_buf_init(&path);
	if (path_expand(parser, value, &path)) {
		while (path.size > 1 && path.data[path.size - 1] == '/')
			path.size--;
		if (path.failed || path.size > PATH_LIMIT)
			parser_diagnose_word(parser, value, "is too long", NULL,
					     "at most 4000 bytes");
		else if (path.size == 1)
			parser_diagnose_word(parser, value, "is no place for a data set", NULL,
					     EXPECTED_PATH);
		else
			memcpy(out->path, ct_buf_text(&path), path.size + 1);
	}
	ct_buf_fini(&path);
}

static bool size_parse(struct ct_span value, uint64_t *out_bytes)
{
	uint64_t number = 0;
	size_t digits = 0;

	while (digits < value.size && value.at[digits] >= '0' && value.at[digits] <= '9' &&
	       number <= 9999)
		number = number * 10 + (uint64_t)(value.at[digits++] - '0');
	if (number == 0 || number > 9999 || digits + 1 != value.size)
		return false;
	switch (value.at[digits] | 0x20) {
	case 'k':
		*out_bytes = number << 10;
		return true;
	case 'm':
		*out_bytes = number << 20;
		return true;
	case 'g':
		*out_bytes = number << 30;
		return true;
	default:
		return false;
	}
}

static void size_read(struct parser *parser, struct ct_span value, uint64_t *out_bytes)
{
	if (!size_parse(value, out_bytes))
		parser_diagnose_word(parser, value, "is no size", NULL, EXPECTED_SIZE);
}

/* -----------------------------------------------------------------------------------------------
 * TRCOUT
 */

enum key { KEY_PATH, KEY_PRIMARY, KEY_SECONDARY, KEY_DISP, KEY_COUNT };
static const char *const keys[KEY_COUNT] = { "PATH=", "PRIMARY=", "SECONDARY=", "DISP=" };

/* As in JCL: OLD and NEW begin anew, MOD and SHR add to what is there. */
static void disp_read(struct parser *parser, struct ct_span value, bool *out_is_rewritten)
{
	*out_is_rewritten = span_is(value, "OLD") || span_is(value, "NEW");
	if (!*out_is_rewritten && !span_is(value, "MOD") && !span_is(value, "SHR"))
		parser_diagnose_word(parser, value, "is no disposition", NULL, EXPECTED_DISP);
}

/* The key, with or without its equals sign; KEY_COUNT: not a key. */
static enum key key_find(struct ct_span key)
{
	for (unsigned i = 0; i < KEY_COUNT; i++)
		if (ct_name_equal(key.at, key.size, keys[i], strlen(keys[i]) - 1))
			return (enum key)i;
	return KEY_COUNT;
}

static void key_read(struct parser *parser, struct ct_span word, bool seen[KEY_COUNT],
		     struct ct_trcout_spec *spec)
{
	struct ct_span value;
	struct ct_span name = word_split(word, &value);
	enum key key = key_find(name);

	if (key == KEY_COUNT) {
		parser_diagnose_word(parser, name, "is not expected here",
				     ct_suggest(name, keys, KEY_COUNT), EXPECTED_KEY);
		return;
	}
	if (value.at == NULL) {
		parser_diagnose_word(parser, word, "has no equals sign and value", NULL, keys[key]);
		return;
	}
	if (seen[key]) {
		parser_diagnose_word(parser, name, "is here already", NULL, "each keyword once");
		return;
	}
	seen[key] = true;
	if (key == KEY_PATH)
		path_read(parser, value, spec);
	else if (key == KEY_DISP)
		disp_read(parser, value, &spec->is_rewritten);
	else
		size_read(parser, value, key == KEY_PRIMARY ? &spec->primary : &spec->secondary);
}

static void trcout_diagnose_missing(struct parser *parser, uint32_t number, const char *what,
				    const char *expected)
{
	char message[64];

	(void)snprintf(message, sizeof message, "TRCOUT%02u has no %s", number, what);
	ct_parser_diagnose_at(&parser->text, parser->text.end, message, expected);
}

/* 1 to 16; 0: not a data set's name. */
static uint32_t trcout_number_parse(struct ct_span word)
{
	static const char prefix[] = "TRCOUT";
	size_t size = sizeof prefix - 1;
	uint32_t number;

	if (word.size != size + 2 || !ct_name_equal(word.at, size, prefix, size))
		return 0;
	if (word.at[size] < '0' || word.at[size] > '1' || word.at[size + 1] < '0' ||
	    word.at[size + 1] > '9')
		return 0;
	number = (uint32_t)(word.at[size] - '0') * 10 + (uint32_t)(word.at[size + 1] - '0');
	return number <= CT_TRCOUT_LIMIT ? number : 0;
}

/* Inserts a data set in order of its number, which is not in the procedure yet. */
static void trcout_insert(struct ct_procedure *procedure, uint32_t number,
			  const struct ct_trcout_spec *spec)
{
	uint32_t at = procedure->trcout_count++;

	for (; at > 0 && procedure->number[at - 1] > number; at--) {
		procedure->number[at] = procedure->number[at - 1];
		procedure->trcout[at] = procedure->trcout[at - 1];
	}
	procedure->number[at] = number;
	procedure->trcout[at] = *spec;
}

static void trcout_check_others(struct parser *parser, struct ct_span word,
				const struct ct_trcout_spec *spec)
{
	const struct ct_procedure *procedure = parser->out;
	char what[64];

	for (uint32_t i = 0; i < procedure->trcout_count && spec->path[0] != '\0'; i++) {
		if (strcmp(procedure->trcout[i].path, spec->path) != 0)
			continue;
		(void)snprintf(what, sizeof what, "has the same path as TRCOUT%02u",
			       procedure->number[i]);
		parser_diagnose_word(parser, word, what, NULL, "a path of its own");
		return;
	}
}

static bool procedure_has_number(const struct ct_procedure *procedure, uint32_t number)
{
	for (uint32_t i = 0; i < procedure->trcout_count; i++)
		if (procedure->number[i] == number)
			return true;
	return false;
}

static void trcout_read(struct parser *parser, struct ct_span word)
{
	struct ct_trcout_spec spec = { .path = "" };
	uint32_t number = trcout_number_parse(word);
	bool seen[KEY_COUNT] = { false };
	struct ct_span next;

	if (number == 0) {
		parser_diagnose_word(parser, word, "is none of the data sets", NULL,
				     EXPECTED_NUMBER);
		return;
	}
	if (procedure_has_number(parser->out, number)) {
		parser_diagnose_word(parser, word, "is there already", NULL, "each data set once");
		return;
	}
	while (parser_next_word(parser, &next))
		key_read(parser, next, seen, &spec);
	if (!seen[KEY_PATH])
		trcout_diagnose_missing(parser, number, "path", "PATH=/...");
	if (!seen[KEY_PRIMARY])
		trcout_diagnose_missing(parser, number, "size", "PRIMARY=50M or the like");
	trcout_check_others(parser, word, &spec);
	trcout_insert(parser->out, number, &spec);
}

/* -----------------------------------------------------------------------------------------------
 * The other statements
 */

/* Parses one of two words.  Reports any other word and returns false. */
static bool choice_read(struct parser *parser, struct ct_span value, const char *const words[2],
			bool *out_is_second)
{
	char expected[64];

	for (unsigned i = 0; i < 2; i++)
		if (span_is(value, words[i])) {
			*out_is_second = i == 1;
			return true;
		}
	(void)snprintf(expected, sizeof expected, "%s or %s", words[0], words[1]);
	parser_diagnose_word(parser, value, "is not known", ct_suggest(value, words, 2), expected);
	return false;
}

static void setting_read(struct parser *parser, struct ct_span word, const char *const words[2],
			 bool *seen, bool *out_is_second)
{
	struct ct_span value;
	struct ct_span key = word_split(word, &value);
	struct ct_span more;

	if (value.at == NULL)
		parser_diagnose_word(parser, word, "has no equals sign and value", NULL, words[0]);
	else if (*seen)
		parser_diagnose_word(parser, key, "is there already", NULL, "each statement once");
	else
		*seen = choice_read(parser, value, words, out_is_second);
	if (parser_next_word(parser, &more))
		parser_diagnose_word(parser, more, "is not expected here", NULL,
				     "the end of the line");
}

static void statement_read(struct parser *parser, struct ct_span word)
{
	static const char *const modes[2] = { "WRAP", "NOWRAP" };
	static const char *const methods[2] = { "NO", "ZSTD" };
	static const char *const words[] = { "TRCOUT01", "MODE", "COMPRESS" };
	struct ct_span value;
	struct ct_span key = word_split(word, &value);
	bool is_nowrap = parser->out->mode == CT_WRITER_NOWRAP;

	if (span_is(key, "MODE")) {
		setting_read(parser, word, modes, &parser->has_mode, &is_nowrap);
		parser->out->mode = is_nowrap ? CT_WRITER_NOWRAP : CT_WRITER_WRAP;
	} else if (span_is(key, "COMPRESS")) {
		setting_read(parser, word, methods, &parser->has_compress, &parser->out->compress);
	} else if (key.size >= 6 && ct_name_equal(key.at, 6, "TRCOUT", 6)) {
		trcout_read(parser, word);
	} else {
		parser_diagnose_word(parser, key, "is no statement",
				     ct_suggest(key, words, CT_COUNT(words)), EXPECTED_STATEMENT);
	}
}

static void line_read(struct parser *parser)
{
	struct ct_span word;

	if (parser_next_word(parser, &word) && word.at[0] != '#' && word.at[0] != '*')
		statement_read(parser, word);
}

enum ctrace_status ct_procedure_parse(const char *name, const char *text, size_t size,
				      struct ct_procedure *out, ct_diagnose *diagnose, void *user)
{
	struct parser parser = { .out = out };
	const char *end;

	*out = (struct ct_procedure){ .mode = CT_WRITER_WRAP };
	ct_parser_start(&parser.text, name, strlen(name), "the name");
	parser.text.take = diagnose;
	parser.text.user = user;
	if (!ct_writer_name_is_valid(name, strlen(name))) {
		parser_diagnose_word(&parser, (struct ct_span){ name, strlen(name) },
				     "is not the name of a writer", NULL,
				     "1 to 7 of A-Z, 0-9, $, @ and #, no digit first");
		return CTRACE_FAILURE;
	}
	memcpy(out->name, name, strlen(name) + 1);
	ct_name_upper(out->name, strlen(name));
	ct_parser_start(&parser.text, text, size, "the procedure");
	parser.text.take = diagnose;
	parser.text.user = user;
	for (end = parser.text.end; parser.text.at < end; parser.text.at += parser.text.at < end) {
		const char *newline = memchr(parser.text.at, '\n', (size_t)(end - parser.text.at));

		parser.text.end = newline != NULL ? newline : end;
		line_read(&parser);
		parser.text.at = parser.text.end;
	}
	if (out->trcout_count == 0 && !parser.text.has_failed)
		ct_parser_diagnose_at(&parser.text, parser.text.end, "there is no TRCOUT",
				      EXPECTED_NUMBER);
	return parser.text.has_failed ? CTRACE_FAILURE : CTRACE_OK;
}
