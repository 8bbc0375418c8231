/*
 * property_check.c - what is wrong with the value of an emitter's property.
 *
 * Called where people write values: for a line of the configuration and for `ctrace prop`.  Any
 * thread; names of groups are looked up in /etc/group.  A program's own calls may set any value,
 * and are not checked.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <string.h>

#include "format/format.h"

#define WORD_SHOWN 60u /* bytes of somebody's text in a message */
#define NAME_SHOWN 31u

static const char *const no_words[] = { "" };
static const char *const compression_words[] = { "zstd", "no" };
static const char *const switch_words[] = { "ON",  "YES", "Y", "TRUE",  "ENABLED",
					    "OFF", "NO",  "N", "FALSE", "DISABLED" };
static const char *const level_words[] = { "debug", "info", "warn", "error", "fatal", "none" };
static const char *const line_variables[] = { "APPNAME", "COMPONENT", "DATA",    "DATE",   "EVENT",
					      "LEVEL",   "PID",       "PROCESS", "THREAD", "TIME" };
static const char *const reader_variables[] = { "APPNAME",   "ASID",     "COMPONENT",   "DATA",
						"DATE",      "DELTA",    "DESCRIPTION", "DURATION",
						"EVENT",     "HOST",     "JOBNAME",     "LEVEL",
						"LEVELNAME", "MNEMONIC", "PID",         "PROCESS",
						"SEQ",       "THREAD",   "TIME" };
static const char *const file_variables[] = { "APPNAME", "EMITTER", "GEN", "PID", "PLATFORM" };

struct words {
	const char *const *items;
	size_t count;
	bool are_levels;
};
#define WORDS(ARRAY) ((struct words){ ARRAY, CT_COUNT(ARRAY), false })
#define LEVELS ((struct words){ level_words, CT_COUNT(level_words), true })
#define NO_WORDS ((struct words){ no_words, 0, false })

static bool words_have(struct words words, struct ct_span text)
{
	for (size_t i = 0; i < words.count; i++)
		if (ct_name_is(text.at, text.size, words.items[i]))
			return true;
	return false;
}

/* `what "word" (did you mean suggestion?)` */
static enum ct_property_finding finding_wrong(struct ct_diagnostic *out, const char *what,
					      struct ct_span word, struct words words,
					      const char *expected)
{
	const char *suggestion = words.are_levels ? ct_suggest_level(word, true)
						  : ct_suggest(word, words.items, words.count);

	*out = (struct ct_diagnostic){ .column = 1 };
	ct_diagnostic_set(out, &(struct ct_finding){ .before = what,
						     .word = word,
						     .meant = suggestion,
						     .expected = expected,
						     .shown = WORD_SHOWN });
	return CT_PROPERTY_WRONG;
}

/* ---- numbers and words ---- */

enum number { NUMBER_GOOD, NUMBER_LARGE, NUMBER_NONE };

static enum number number_of(struct ct_span value)
{
	bool is_hex = value.size > 2 && value.at[0] == '0' && (value.at[1] | 0x20) == 'x';
	uint64_t number = 0;
	size_t i = is_hex ? 2 : 0;

	if (i == value.size)
		return NUMBER_NONE;
	for (; i < value.size; i++) {
		char c = value.at[i];
		unsigned letter = (unsigned)((c | 0x20) - 'a');

		if (c >= '0' && c <= '9')
			number = number * (is_hex ? 16u : 10u) + (unsigned)(c - '0');
		else if (is_hex && letter < 6)
			number = number * 16u + 10u + letter;
		else
			return NUMBER_NONE;
		if (number > UINT32_MAX)
			number = (uint64_t)UINT32_MAX + 1;
	}
	return number <= UINT32_MAX ? NUMBER_GOOD : NUMBER_LARGE;
}

static enum ct_property_finding check_number(struct ct_span value, struct words words,
					     const char *what, const char *expected,
					     struct ct_diagnostic *out)
{
	switch (number_of(value)) {
	case NUMBER_GOOD:
		return CT_PROPERTY_GOOD;
	case NUMBER_LARGE:
		return finding_wrong(out, "too large:", value, NO_WORDS,
				     "a number up to 4294967295, of 32 bits");
	case NUMBER_NONE:
		break;
	}
	return words_have(words, value) ? CT_PROPERTY_GOOD
					: finding_wrong(out, what, value, words, expected);
}

static enum ct_property_finding check_mode(struct ct_span value, struct ct_diagnostic *out)
{
	uint32_t mode;

	if (ct_file_mode_parse(value.at, value.size, &mode))
		return CT_PROPERTY_GOOD;
	return finding_wrong(out, "not a mode:", value, NO_WORDS,
			     "0600, or 0640 for the group to read; others never may");
}

static enum ct_property_finding check_encoding(struct ct_span value, struct ct_diagnostic *out)
{
	enum ct_encoding encoding;

	if (value.size == 0 || ct_encoding_parse(value.at, value.size, &encoding))
		return CT_PROPERTY_GOOD;
	return finding_wrong(out, "unknown encoding", value, NO_WORDS, CT_ENCODING_NAMES);
}

static enum ct_property_finding check_compression(struct ct_span value, struct ct_diagnostic *out)
{
	if (value.size == 0 || words_have(WORDS(compression_words), value))
		return CT_PROPERTY_GOOD;
	return finding_wrong(out, "unknown compression", value, WORDS(compression_words),
			     "zstd or no");
}

/* The program may run on another machine, or the group be made later: worth a word, but no error.
 */
static enum ct_property_finding check_group(struct ct_span value, struct ct_diagnostic *out)
{
	uint32_t group;

	if (value.size == 0 || ct_file_group_find(value.at, value.size, &group))
		return CT_PROPERTY_GOOD;
	(void)finding_wrong(out, "no such group:", value, NO_WORDS,
			    "nobody but their owner may read the files then");
	return CT_PROPERTY_ODD;
}

/* ---- paths ---- */

/* "C:\CTF\TXT", "\\server\share", "logs\txt": here that would be one name.  In an absolute path a
 * backslash is a letter of a name. */
static bool is_of_windows(struct ct_span path)
{
	unsigned letter = path.size > 1 ? (unsigned)((path.at[0] | 0x20) - 'a') : 26u;

	return (letter < 26 && path.at[1] == ':' && (path.size == 2 || path.at[2] == '/')) ||
	       (path.size > 0 && path.at[0] != '/' && memchr(path.at, '\\', path.size) != NULL);
}

static enum ct_property_finding check_path(struct ct_span value, const char *expected,
					   struct ct_diagnostic *out)
{
	if (is_of_windows(value))
		return finding_wrong(out, "a path of Windows:", value, NO_WORDS, expected);
	return value.size < CTRACE_EMITTER_PATH_SIZE
		       ? CT_PROPERTY_GOOD
		       : finding_wrong(out, "too long:", value, NO_WORDS,
				       "a path of at most 4095 bytes");
}

/* ---- variables ---- */

/* A name that is no variable stays in the text as it is, so it is worth a word but no error:
 * $(RUNUNIT) means something elsewhere. */
static enum ct_property_finding check_variables(struct ct_span value, struct words words,
						struct ct_diagnostic *out)
{
	enum ct_variable_fault fault;
	struct ct_span name;
	unsigned column;

	fault = ct_variable_find_fault(value, words.items, words.count, &name);
	if (fault == CT_VARIABLE_GOOD)
		return CT_PROPERTY_GOOD;
	column = (unsigned)(name.at - value.at) - 1;
	if (name.size > NAME_SHOWN)
		name.size = NAME_SHOWN;
	if (fault == CT_VARIABLE_OPEN)
		(void)finding_wrong(out, "no \")\" after", name, NO_WORDS,
				    "it stays in the text as it is");
	else
		(void)finding_wrong(out, "no such variable:", name, words,
				    "it stays in the text as it is");
	out->column = column;
	return CT_PROPERTY_ODD;
}

/* Of an emitter that writes no lines: it is kept for readers, which know more variables. */
static enum ct_property_finding check_reader_format(struct ct_span value, struct ct_diagnostic *out)
{
	if (value.size < sizeof((struct ct_trace_info *)NULL)->format)
		return check_variables(value, WORDS(reader_variables), out);
	(void)finding_wrong(
		out, "too long:", value, NO_WORDS,
		"a FORMAT of more than 511 bytes is not kept: ctrace show prints its own line");
	return CT_PROPERTY_ODD;
}

/* ---- addresses of streams ---- */

static bool number_with_unit(const char *text, size_t size, const char *units, uint64_t *out_number,
			     char *out_unit)
{
	uint64_t number = 0;
	size_t i = 0;

	for (; i < size && text[i] >= '0' && text[i] <= '9'; i++)
		if (__builtin_mul_overflow(number, 10u, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number))
			return false;
	*out_number = number;
	*out_unit = '\0';
	if (i == 0)
		return false;
	if (i + 1 == size && strchr(units, text[i]) != NULL && text[i] != '\0')
		*out_unit = text[i++];
	return i == size;
}

bool ct_size_parse(const char *text, size_t size, uint64_t *out_bytes)
{
	static const char units[] = "kmgtKMGT";
	uint64_t number;
	char unit;
	unsigned shift;

	if (!number_with_unit(text, size, units, &number, &unit) || number == 0)
		return false;
	shift = unit != '\0' ? (unsigned)((strchr(units, unit) - units) % 4 + 1) * 10 : 0;
	*out_bytes = number << shift;
	return *out_bytes >> shift == number && *out_bytes <= (uint64_t)INT64_MAX;
}

static enum ct_property_finding check_size(struct ct_span value, struct ct_diagnostic *out)
{
	uint64_t bytes;

	if (value.size == 0 || ct_size_parse(value.at, value.size, &bytes))
		return CT_PROPERTY_GOOD;
	return finding_wrong(out, "not a size:", value, NO_WORDS,
			     "bytes, or a number with K, M, G or T, such as 500M or 10G");
}

/* A stream that keeps less discards what a forwarder sends before anybody reads it. */
static enum ct_property_finding check_capacity(struct ct_span value, struct ct_diagnostic *out)
{
	uint64_t bytes;

	if (value.size == 0 || !ct_size_parse(value.at, value.size, &bytes) ||
	    bytes >= (uint64_t)1 << 20)
		return check_size(value, out);
	return finding_wrong(out, "too small:", value, NO_WORDS,
			     "at least 1M, such as 500M or 10G: a smaller stream discards traces "
			     "before they are read");
}

#define AGE_MIN 60u /* seconds */
#define AGE_MAX (INT64_MAX / 1000000000)

/* at_least: seconds. */
static enum ct_property_finding check_age(struct ct_span value, uint64_t at_least,
					  struct ct_diagnostic *out)
{
	static const struct {
		char unit;
		uint32_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	uint64_t number = 0, seconds = 0;
	bool is_time;
	char unit;

	if (value.size == 0)
		return CT_PROPERTY_GOOD;
	is_time = number_with_unit(value.at, value.size, "smhd", &number, &unit);
	is_time = is_time && unit != '\0';
	if (is_time)
		for (size_t i = 0; i < CT_COUNT(units); i++)
			if (units[i].unit == unit)
				seconds = number <= AGE_MAX / units[i].seconds
						  ? number * units[i].seconds
						  : (uint64_t)AGE_MAX + 1;
	if (is_time && seconds >= at_least && seconds <= AGE_MAX)
		return CT_PROPERTY_GOOD;
	if (seconds != 0 && seconds < at_least)
		return finding_wrong(out, "too short:", value, NO_WORDS,
				     "at least 1m, such as 12h or 7d: a shorter time discards "
				     "traces before they are read");
	return finding_wrong(out, seconds != 0 ? "too long:" : "not a time:", value, NO_WORDS,
			     "a number and s, m, h or d, such as 90s, 12h or 7d, up to 106751d");
}

static enum ct_property_finding check_copies(struct ct_span value, struct ct_diagnostic *out)
{
	if (value.size == 0 || (value.size == 1 && value.at[0] >= '1' && value.at[0] <= '5'))
		return CT_PROPERTY_GOOD;
	return finding_wrong(out, "not a number of servers:", value, NO_WORDS, "1 to 5");
}

#define ADDRESS_TEXT 255u /* bytes of a part of an address */
#define ADDRESS_SERVERS 900u

static enum ct_property_finding check_file_path(struct ct_span value, struct ct_diagnostic *out)
{
	static const char expected[] = "a file's path that begins with /, of at most 255 bytes";

	if (value.size == 0)
		return CT_PROPERTY_GOOD;
	for (size_t i = 0; i < value.size; i++)
		if ((unsigned char)value.at[i] < 0x20 || value.at[i] == 0x7F)
			return finding_wrong(out, "a control character in", value, NO_WORDS,
					     expected);
	if (value.at[0] == '/' && value.size <= ADDRESS_TEXT)
		return CT_PROPERTY_GOOD;
	return finding_wrong(out, value.at[0] == '/' ? "too long:" : "not an absolute path:", value,
			     NO_WORDS, expected);
}

/* Words of a subject, with dots between when has_dots. */
static enum ct_property_finding check_subject(struct ct_span value, bool has_dots,
					      struct ct_diagnostic *out)
{
	const char *expected = has_dots ? "words with dots between, without blanks, * and >, as in "
					  "ctrace or acme.traces"
					: "one word without blanks and . * > / \\";
	bool begins = true;

	for (size_t i = 0; i < value.size; i++) {
		unsigned char byte = (unsigned char)value.at[i];
		bool is_dot = byte == '.' && has_dots;

		if (byte <= ' ' || byte == 0x7F || (!is_dot && strchr(".*>/\\", byte) != NULL) ||
		    (is_dot && (begins || i + 1 == value.size)))
			return finding_wrong(out, "not a name:", value, NO_WORDS, expected);
		begins = is_dot;
	}
	return value.size <= ADDRESS_TEXT
		       ? CT_PROPERTY_GOOD
		       : finding_wrong(out, "too long:", value, NO_WORDS, "at most 255 bytes");
}

static size_t scheme_size(struct ct_span text)
{
	static const char *const schemes[] = { "nats://", "tls://" };

	for (size_t i = 0; i < CT_COUNT(schemes); i++)
		if (text.size >= strlen(schemes[i]) &&
		    memcmp(text.at, schemes[i], strlen(schemes[i])) == 0)
			return strlen(schemes[i]);
	return 0;
}

/* HOST, HOST:PORT, [ADDRESS]:PORT */
static bool host_is_good(struct ct_span host)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.-_[]:%";
	const char *colon = host.size != 0 ? memrchr(host.at, ':', host.size) : NULL;
	size_t name = colon != NULL ? (size_t)(colon - host.at) : host.size;
	uint32_t port = 0;

	if (colon != NULL && memchr(colon, ']', host.size - name) == NULL) {
		size_t digits = host.size - name - 1;

		for (size_t i = 1; i <= digits; i++)
			if (colon[i] < '0' || colon[i] > '9')
				return false;
		port = digits >= 1 && digits <= 5 ? ct_value_number(colon + 1, digits) : 0;
		if (port == 0 || port > UINT16_MAX)
			return false;
	} else {
		name = host.size;
	}
	for (size_t i = 0; i < name; i++)
		if (memchr(letters, host.at[i], sizeof letters - 1) == NULL)
			return false;
	return name != 0;
}

/* Whatever is before an @ is a password, and is not shown. */
static enum ct_property_finding check_servers(struct ct_span value, struct ct_diagnostic *out)
{
	static const char expected[] =
		"the servers alone, such as nats://host1:4222,host2:4222; STREAM names the stream";
	size_t scheme = scheme_size(value);
	struct ct_span rest = { value.at + scheme, value.size - scheme };
	const char *at_sign = rest.size != 0 ? memchr(rest.at, '@', rest.size) : NULL;

	if (value.size == 0)
		return CT_PROPERTY_GOOD;
	if (scheme == 0)
		return finding_wrong(
			out, "no address of servers:",
			(struct ct_span){ value.at, strcspn(value.at, ":@") < value.size
							    ? strcspn(value.at, ":@")
							    : value.size },
			NO_WORDS, expected);
	if (at_sign != NULL) {
		for (const char *at = rest.at; at < at_sign; at++)
			if ((unsigned char)*at <= ' ' || strchr("/?,", *at) != NULL)
				return finding_wrong(
					out, "before the @ in URL:", (struct ct_span){ at, 1 },
					NO_WORDS, "USER:PASSWORD without blanks and / ? ,");
		rest = ct_span_of(at_sign + 1, rest.at + rest.size);
	}
	if (value.size > ADDRESS_SERVERS)
		return finding_wrong(out, "too long:", rest, NO_WORDS, "at most 900 bytes");
	for (bool is_first = true; is_first || rest.size != 0; is_first = false) {
		const char *end = rest.at + rest.size;
		const char *comma = rest.size != 0 ? memchr(rest.at, ',', rest.size) : NULL;
		struct ct_span host =
			ct_span_trim(ct_span_of(rest.at, comma != NULL ? comma : end));
		size_t again = is_first ? 0 : scheme_size(host);

		if (again != 0 && again != scheme)
			return finding_wrong(out, "another scheme than the first:", host, NO_WORDS,
					     expected);
		host = ct_span_of(host.at + again, host.at + host.size);
		if (!host_is_good(host) || (comma != NULL && comma + 1 == end))
			return finding_wrong(out, "not a server:", host, NO_WORDS, expected);
		rest = ct_span_of(comma != NULL ? comma + 1 : end, end);
	}
	return CT_PROPERTY_GOOD;
}

/* ---- */

enum ct_property_finding ct_property_check(const struct ctrace_property *row, struct ct_span value,
					   struct ct_diagnostic *out)
{
	enum ct_property_finding finding;

	switch (row->kind) {
	case CTRACE_PROPERTY_TEXT:
		return CT_PROPERTY_GOOD;
	case CTRACE_PROPERTY_NUMBER:
		return check_number(
			value, WORDS(switch_words), "not a number:",
			"decimal digits, or 0x and hexadecimal ones; no unit behind them", out);
	case CTRACE_PROPERTY_SWITCH:
		return check_number(value, WORDS(switch_words), "neither on nor off:",
				    "ON, YES, TRUE or 1; OFF, NO, FALSE or 0", out);
	case CTRACE_PROPERTY_LEVEL:
		return check_number(value, LEVELS, "unknown level",
				    "debug, info, warn, error, fatal, none or a number", out);
	case CTRACE_PROPERTY_FORMAT:
		return row->default_value == NULL
			       ? check_reader_format(value, out)
			       : check_variables(value, WORDS(line_variables), out);
	case CTRACE_PROPERTY_FILE:
		finding = check_path(
			value, "a name with / between directories, such as logs/$(APPNAME).log",
			out);
		return finding != CT_PROPERTY_GOOD
			       ? finding
			       : check_variables(value, WORDS(file_variables), out);
	case CTRACE_PROPERTY_DIRECTORY:
		return check_path(value, "a directory's path, such as /var/tmp/traces", out);
	case CTRACE_PROPERTY_MODE:
		return check_mode(value, out);
	case CTRACE_PROPERTY_ENCODING:
		return check_encoding(value, out);
	case CTRACE_PROPERTY_GROUP:
		return check_group(value, out);
	case CTRACE_PROPERTY_COMPRESS:
		return check_compression(value, out);
	case CTRACE_PROPERTY_PATH:
		return check_file_path(value, out);
	case CTRACE_PROPERTY_SERVERS:
		return check_servers(value, out);
	case CTRACE_PROPERTY_WORD:
		return check_subject(value, false, out);
	case CTRACE_PROPERTY_SUBJECT:
		return check_subject(value, true, out);
	case CTRACE_PROPERTY_COPIES:
		return check_copies(value, out);
	case CTRACE_PROPERTY_AGE:
		return check_age(value, AGE_MIN, out);
	case CTRACE_PROPERTY_DURATION:
		return check_age(value, 0, out);
	case CTRACE_PROPERTY_SIZE:
		return check_size(value, out);
	case CTRACE_PROPERTY_CAPACITY:
		return check_capacity(value, out);
	}
	return CT_PROPERTY_GOOD;
}
