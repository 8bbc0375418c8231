/*
 * test_config.c - the grammar of the configuration file: each form of line, each error with its
 * place, whole files.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/control/control.h"

static struct ct_command command;
static struct ct_diagnostic diagnostic;

static bool parse(const char *line)
{
	memset(&command, 0x55, sizeof command);
	return ct_config_parse_line(line, strlen(line), &command, &diagnostic) == CTRACE_OK;
}

static void assert_span(struct ct_span span, const char *text)
{
	assert_int_equal(span.size, strlen(text));
	assert_memory_equal(span.at, text, span.size);
}

/* The line is refused at `column` with exactly these words. */
static void assert_diagnostic(const char *line, unsigned column, const char *message,
			      const char *expected)
{
	memset(&diagnostic, 0, sizeof diagnostic);
	assert_false(parse(line));
	assert_string_equal(diagnostic.message, message);
	assert_string_equal(diagnostic.expected, expected);
	assert_int_equal(diagnostic.column, column);
	assert_int_equal(ct_config_parse_line(line, strlen(line), &command, NULL),
			 CTRACE_SYNTAX_ERROR);
}

static void nothing_to_do(void **state)
{
	static const char *const lines[] = { "",    "   ", "\t\r", "# mftrace.level = nonsense",
					     "  #", "#=" };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(lines); i++) {
		assert_true(parse(lines[i]));
		assert_int_equal(command.verb, CT_VERB_NONE);
	}
}

static void levels(void **state)
{
	static const struct {
		const char *line;
		uint32_t level;
	} cases[] = {
		{ "mftrace.level=none", CTRACE_LEVEL_NONE },
		{ "mftrace.level=DEBUG", 0 },
		{ "mftrace.level=Info", 1 },
		{ "mftrace.level=warn", 2 },
		{ "mftrace.level=error", 3 },
		{ "mftrace.level=FATAL", 4 },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		assert_true(parse(cases[i].line));
		assert_int_equal(command.verb, CT_VERB_LEVEL);
		assert_int_equal(command.component.size, 0);
		assert_int_equal(command.level, cases[i].level);
	}
	assert_true(parse("  MFTRACE.Level.MF.Rts \t=  info \r"));
	assert_int_equal(command.verb, CT_VERB_LEVEL);
	assert_span(command.component, "MF.Rts");
	assert_int_equal(command.level, CTRACE_INFO);
	assert_true(parse("mftrace.level.mfbsi = none"));
	assert_span(command.component, "mfbsi");
}

static void destinations(void **state)
{
	struct ct_span name;

	(void)state;
	assert_true(parse("mftrace.dest = TEXTFILE, binfile  stderr,"));
	assert_int_equal(command.verb, CT_VERB_DEST_DEFAULT);
	assert_false(command.no_inherit);
	assert_true(ct_config_next_word(&command.list, &name));
	assert_span(name, "TEXTFILE");
	assert_true(ct_config_next_word(&command.list, &name));
	assert_span(name, "binfile");
	assert_true(ct_config_next_word(&command.list, &name));
	assert_span(name, "stderr");
	assert_false(ct_config_next_word(&command.list, &name));
	assert_false(ct_config_next_word(&command.list, &name));

	assert_true(parse("mftrace.dest.a.b = ( BINFILE )"));
	assert_int_equal(command.verb, CT_VERB_DEST_ADD);
	assert_span(command.component, "a.b");
	assert_true(command.no_inherit);
	assert_span(command.list, "BINFILE");
	assert_true(parse("mftrace.dest.a.b = BINFILE"));
	assert_false(command.no_inherit);
}

static void properties(void **state)
{
	(void)state;
	assert_true(parse("mftrace.comp.mf.rts#all = true"));
	assert_int_equal(command.verb, CT_VERB_COMPONENT_PROPERTY);
	assert_span(command.component, "mf.rts");
	assert_span(command.property, "all");
	assert_span(command.value, "true");
	assert_true(parse("mftrace.comp.mf.mffh.xfh#file:*.DAT_1-2=on"));
	assert_span(command.property, "file:*.DAT_1-2");
	assert_true(parse("mftrace.emitter.TextFile#Format = $(TIME) = #$(DATA)  "));
	assert_int_equal(command.verb, CT_VERB_EMITTER_PROPERTY);
	assert_span(command.emitter, "TextFile");
	assert_span(command.property, "Format");
	assert_span(command.value, "$(TIME) = #$(DATA)");
	assert_true(parse("mftrace.emitter.textfile#delimchar ="));
	assert_span(command.value, "");
	assert_true(parse("mftrace.emitter.es # level = 9999"));
	assert_span(command.emitter, "es");
	assert_span(command.property, "level");
}

static void applications(void **state)
{
	(void)state;
	assert_true(parse("mftrace.application = myprog"));
	assert_int_equal(command.verb, CT_VERB_APPLICATION);
	assert_span(command.value, "myprog");
	assert_true(parse("mftrace.application=(myprog)"));
	assert_span(command.value, "(myprog)");
}

static void sizes_and_times(void **state)
{
	static const struct {
		const char *line;
		uint64_t number;
	} cases[] = {
		{ "ctrace.buffer = 1048576", 1u << 20 },
		{ "ctrace.buffer = 1M", 1u << 20 },
		{ "ctrace.buffer = 100k", 128u << 10 },
		{ "ctrace.buffer = 3 M", 4u << 20 },
		{ "ctrace.buffer = 1", CT_RING_MIN },
		{ "ctrace.buffer = 1024M", CT_RING_MAX },
		{ "ctrace.flight.buffer = 65537", 128u << 10 },
		{ "ctrace.block.timeout = 250", 250000000u },
		{ "ctrace.block.timeout = 250 ms", 250000000u },
		{ "ctrace.block.timeout = 0", 0 },
		{ "ctrace.block.timeout = 2s", 2000000000u },
		{ "ctrace.block.timeout = 1000000S", 1000000u * (uint64_t)1000000000u },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		assert_true(parse(cases[i].line));
		assert_int_equal(command.number, cases[i].number);
		assert_int_equal(command.component.size, 0);
	}
	assert_true(parse("ctrace.buffer.a.b = 64K"));
	assert_int_equal(command.verb, CT_VERB_BUFFER);
	assert_span(command.component, "a.b");
}

static void words(void **state)
{
	static const struct {
		const char *line;
		enum ct_verb verb;
		uint64_t number;
	} cases[] = {
		{ "ctrace.overflow = block", CT_VERB_OVERFLOW, CT_OVERFLOW_BLOCK },
		{ "ctrace.overflow = Discard", CT_VERB_OVERFLOW, CT_OVERFLOW_DISCARD },
		{ "ctrace.overflow.x = overwrite", CT_VERB_OVERFLOW, CT_OVERFLOW_OVERWRITE },
		{ "ctrace.overflow = auto", CT_VERB_OVERFLOW, CT_OVERFLOW_AUTO },
		{ "ctrace.attach = off", CT_VERB_ATTACH, 0 },
		{ "ctrace.attach = YES", CT_VERB_ATTACH, 1 },
		{ "ctrace.attach = 0", CT_VERB_ATTACH, 0 },
		{ "ctrace.flight.trigger = error", CT_VERB_FLIGHT_TRIGGER, CTRACE_ERROR },
		{ "ctrace.flight.trigger = signal", CT_VERB_FLIGHT_TRIGGER, CT_TRIGGER_SIGNAL },
		{ "ctrace.flight.trigger = off", CT_VERB_FLIGHT_TRIGGER, CT_TRIGGER_NONE },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		assert_true(parse(cases[i].line));
		assert_int_equal(command.verb, cases[i].verb);
		assert_int_equal(command.number, cases[i].number);
	}
	assert_true(parse("ctrace.flight.level.a = debug"));
	assert_int_equal(command.verb, CT_VERB_FLIGHT_LEVEL);
	assert_int_equal(command.level, CTRACE_DEBUG);
	assert_span(command.component, "a");
	assert_true(parse("ctrace.dump.on = abort, fatal-signal, cobol-error"));
	assert_int_equal(command.verb, CT_VERB_DUMP_ON);
	assert_int_equal(command.number, CT_DUMP_ON_ABORT | CT_DUMP_ON_SIGNAL | CT_DUMP_ON_COBOL);
	assert_true(parse("ctrace.dump.on = off"));
	assert_int_equal(command.number, 0);
	assert_true(parse("ctrace.dump.keep = 3"));
	assert_int_equal(command.number, 3);
	assert_true(parse("ctrace.run.directory = /var/run/my traces"));
	assert_int_equal(command.verb, CT_VERB_RUN_DIRECTORY);
	assert_span(command.value, "/var/run/my traces");
}

#define LEVELS "none, debug, info, warn, error or fatal"
#define KEYS \
	"mftrace.level, mftrace.dest, mftrace.comp, mftrace.emitter, mftrace.encoding, mftrace.application or a ctrace. key"
#define OUR_KEYS \
	"ctrace.buffer, ctrace.overflow, ctrace.attach, ctrace.run.directory, ctrace.flight.level, ctrace.trigger or another key of mftrace.cfg(5)"
#define LIST "emitter names, separated by commas or blanks, all in parentheses or none"
#define NAME "a dotted name of 1 to 255 bytes: no blank, no empty part"
#define SIZE "a size up to 1024M: bytes, or a number with K or M"
#define TIME "a time up to 1000000s: a number of milliseconds, or one with ms or s"

static void diagnostics_in_lines_and_keys(void **state)
{
	(void)state;
	assert_diagnostic("ctrace.dump.keep = 0", 20, "not such a number: \"0\"", "1 to 10000");
	assert_diagnostic("ctrace.dump.on = abort signal", 24, "unknown value \"signal\"",
			  "off, or some of fatal-signal, abort, exit-status and cobol-error");
	assert_diagnostic("mftrace.level", 14, "no \"=\" after \"mftrace.level\"", "KEY = VALUE");
	assert_diagnostic("  hello", 8, "no \"=\" after \"hello\"", "KEY = VALUE");
	assert_diagnostic(" = info", 2, "no key before \"=\"", "KEY = VALUE");
	assert_diagnostic("level = info", 1, "unknown key \"level\"", KEYS);
	assert_diagnostic("mftrace.levle = info", 1,
			  "unknown key \"mftrace.levle\" (did you mean mftrace.level?)", KEYS);
	assert_diagnostic("  mftrce.level.MF.RTS = info", 3,
			  "unknown key \"mftrce.level.MF.RTS\" (did you mean mftrace.level?)",
			  KEYS);
	assert_diagnostic("mftrace.comps.MF#x = 1", 1,
			  "unknown key \"mftrace.comps.MF#x\" (did you mean mftrace.comp?)", KEYS);
	assert_diagnostic(
		"ctrace.flight.lvel.a = debug", 1,
		"unknown key \"ctrace.flight.lvel.a\" (did you mean ctrace.flight.level?)",
		OUR_KEYS);
	assert_diagnostic("ctrace.ring = 1M", 1, "unknown key \"ctrace.ring\"", OUR_KEYS);
	assert_diagnostic("mftrace.levels.x = info", 1,
			  "unknown key \"mftrace.levels.x\" (did you mean mftrace.level?)", KEYS);
	assert_diagnostic(
		"mftrace.level.MF.DEBUGCOMMS#ALL = TRUE", 14,
		"wrong form of key \"mftrace.level.MF.DEBUGCOMMS#ALL\"",
		"mftrace.level[.COMPONENT]; properties are set by mftrace.comp.COMPONENT#PROPERTY");
	assert_diagnostic("mftrace.comp.MF = 1", 13, "wrong form of key \"mftrace.comp.MF\"",
			  "mftrace.comp.COMPONENT#PROPERTY");
	assert_diagnostic("mftrace.comp = 1", 13, "wrong form of key \"mftrace.comp\"",
			  "mftrace.comp.COMPONENT#PROPERTY");
	assert_diagnostic("ctrace.attach.x = on", 14, "wrong form of key \"ctrace.attach.x\"",
			  "ctrace.attach");
	assert_diagnostic("ctrace.flight.level = debug", 20,
			  "wrong form of key \"ctrace.flight.level\"",
			  "ctrace.flight.level.COMPONENT");
	assert_diagnostic("mftrace.level.a..b = info", 15, "not a component name: \"a..b\"", NAME);
	assert_diagnostic("mftrace.level. = info", 15, "not a component name: \"\"", NAME);
	assert_diagnostic("mftrace.level.my comp = info", 15, "not a component name: \"my comp\"",
			  NAME);
	assert_diagnostic("mftrace.emitter.#x = 1", 17, "not an emitter name: \"\"",
			  "1 to 31 bytes without a blank");
	assert_diagnostic("mftrace.emitter.a b#x = 1", 17, "not an emitter name: \"a b\"",
			  "1 to 31 bytes without a blank");
	assert_diagnostic("mftrace.comp.a# = 1", 16, "not a property name: \"\"",
			  "1 to 255 bytes after the #");
	assert_diagnostic("mftrace.level = info\nmftrace.dest = ES", 21, "more than one line",
			  "one line at a time");
}

static void diagnostics_in_values(void **state)
{
	(void)state;
	assert_diagnostic("mftrace.level = inof", 17, "unknown level \"inof\" (did you mean info?)",
			  LEVELS);
	assert_diagnostic("mftrace.level =", 16, "unknown level \"\"", LEVELS);
	assert_diagnostic("mftrace.level = 5", 17, "unknown level \"5\" (did you mean none?)",
			  LEVELS);
	assert_diagnostic("mftrace.dest =", 15, "no destination", LIST);
	assert_diagnostic("mftrace.dest = ()", 16, "no destination", LIST);
	assert_diagnostic("mftrace.dest = (", 16, "only one parenthesis round \"(\"", LIST);
	assert_diagnostic("mftrace.dest.a = (BINFILE", 18,
			  "only one parenthesis round \"(BINFILE\"", LIST);
	assert_diagnostic("mftrace.dest.a = (A)(B)", 19, "misplaced parenthesis in \"A)(B\"", LIST);
	assert_diagnostic("mftrace.dest = a, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", 19,
			  "too long for an emitter name: \"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"",
			  "at most 31 bytes");
	assert_diagnostic("ctrace.buffer = big", 17, "not a size: \"big\"", SIZE);
	assert_diagnostic("ctrace.buffer = 1G", 18, "unknown unit \"G\"", SIZE);
	assert_diagnostic("ctrace.buffer = 1025M", 17, "too large: \"1025M\"", SIZE);
	assert_diagnostic("ctrace.buffer = 0", 17, "too small: \"0\"", SIZE);
	assert_diagnostic("ctrace.buffer = 18446744073709551616", 17,
			  "not a size: \"18446744073709551616\"", SIZE);
	assert_diagnostic("ctrace.buffer = 18014398509481985K", 17,
			  "too large: \"18014398509481985K\"", SIZE);
	assert_diagnostic("ctrace.buffer = -1", 17, "not a size: \"-1\"", SIZE);
	assert_diagnostic("ctrace.block.timeout = 1h", 25, "unknown unit \"h\"", TIME);
	assert_diagnostic("ctrace.block.timeout = 1000001s", 24, "too long: \"1000001s\"", TIME);
	assert_diagnostic("ctrace.block.timeout = s", 24, "not a time: \"s\"", TIME);
	assert_diagnostic("ctrace.overflow = blokc", 19,
			  "unknown value \"blokc\" (did you mean block?)",
			  "block, discard, overwrite or auto");
	assert_diagnostic("ctrace.attach = maybe", 17, "unknown value \"maybe\"", "on or off");
	assert_diagnostic("ctrace.flight.trigger = none", 25, "unknown value \"none\"",
			  "debug, info, warn, error, fatal, signal or off");
	assert_diagnostic("ctrace.run.directory = run", 24, "not an absolute path: \"run\"",
			  "a directory's path that begins with /");
	assert_diagnostic(
		"mftrace.application = (x", 23, "only one parenthesis round \"(x\"",
		"a program's name or path, or that of what a trigger runs in parentheses");
	assert_diagnostic(
		"mftrace.application = ( )", 23, "no name",
		"a program's name or path, or that of what a trigger runs in parentheses");
}

static void hostile_text_is_made_harmless(void **state)
{
	char line[400];

	(void)state;
	assert_diagnostic("\x1b[2J\"\xff = x", 1, "unknown key \"\\u{1B}[2J\\\"\\xFF\"", KEYS);
	memset(line, 'y', sizeof line);
	memcpy(line, "mftrace.level = ", 16);
	line[sizeof line - 1] = '\0';
	assert_false(parse(line));
	assert_memory_equal(diagnostic.message, "unknown level \"yyyy", 19);
	assert_memory_equal(diagnostic.message + strlen(diagnostic.message) - 4, "...\"", 4);
	memset(line + 16, 0x1b, sizeof line - 17);
	assert_false(parse(line));
	assert_true(strlen(diagnostic.message) < sizeof diagnostic.message);
}

static void nul_and_length(void **state)
{
	size_t size = CT_CONFIG_LINE_MAX;
	char *line = malloc(size + 1);

	(void)state;
	assert_non_null(line);
	assert_int_equal(ct_config_parse_line("mftrace\0.level = info", 21, &command, &diagnostic),
			 CTRACE_SYNTAX_ERROR);
	assert_string_equal(diagnostic.message, "NUL byte");
	assert_int_equal(diagnostic.column, 8);
	memset(line, ' ', size + 1);
	memcpy(line, "mftrace.emitter.TEXTFILE#FORMAT = x", 35);
	line[size - 1] = 'y';
	assert_int_equal(ct_config_parse_line(line, size, &command, &diagnostic), CTRACE_OK);
	assert_int_equal(command.value.size, size - 34);
	assert_int_equal(ct_config_parse_line(line, size + 1, &command, &diagnostic),
			 CTRACE_SYNTAX_ERROR);
	assert_string_equal(diagnostic.message, "line too long");
	free(line);
}

/* ---- files ---- */

static char heard[2000];

static void hear(const char *format, ...)
{
	size_t size = strlen(heard);
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(heard + size, sizeof heard - size, format, arguments);
	va_end(arguments);
}

static void hear_command(const struct ct_command *given, unsigned line, void *user)
{
	assert_ptr_equal(user, heard);
	hear("%u:verb %d;", line, (int)given->verb);
}

static void hear_diagnostic(const struct ct_diagnostic *given, void *user)
{
	assert_ptr_equal(user, heard);
	hear("%u:%u:%s;", given->line, given->column, given->message);
}

static void hear_reset(void *user)
{
	assert_ptr_equal(user, heard);
	hear("forget;");
}

static const struct ct_config_reader reader = { hear_command, hear_diagnostic, hear_reset, heard };
static const struct ct_program program = { "myprog", "/opt/bin/myprog.exe", "/x/batch.int" };

static unsigned read_text(const char *text, size_t size)
{
	unsigned stopped_at = 0;

	heard[0] = '\0';
	ct_config_read(text, size, &program, &reader, &stopped_at);
	return stopped_at;
}

static void a_file_is_read_to_its_end(void **state)
{
	static const char text[] = "# comment\r\n"
				   "\r\n"
				   "mftrace.level = info\r\n"
				   "bad\n"
				   "mftrace.dest = ES\n"
				   "mftrace.leve\0l = info\n"
				   "ctrace.attach = on";

	(void)state;
	assert_int_equal(read_text(text, sizeof text - 1), 0);
	assert_string_equal(
		heard, "3:verb 1;4:4:no \"=\" after \"bad\";5:verb 2;6:13:NUL byte;7:verb 14;");
	read_text("\xEF\xBB\xBFmftrace.level = info\n", 24);
	assert_string_equal(heard, "1:verb 1;");
	read_text("", 0);
	assert_string_equal(heard, "");
	read_text("\n\n\n", 3);
	assert_string_equal(heard, "");
}

static void a_long_line_is_skipped(void **state)
{
	size_t size = 200000;
	char *text = malloc(size);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	memcpy(text + size - 22, "\nmftrace.level = info\n", 22);
	read_text(text, size);
	assert_string_equal(heard, "1:65537:line too long;2:verb 1;");
	free(text);
}

static unsigned application(const char *name)
{
	char text[200];

	return read_text(
		text,
		(size_t)snprintf(text, sizeof text,
				 "mftrace.level=info\nmftrace.application = %s\nmftrace.dest=ES\n",
				 name));
}

static void an_application_is_recognised(void **state)
{
	static const char *const ours[] = { "myprog",          "MYPROG",  "/opt/bin/myprog.exe",
					    "myprog.exe",      "(batch)", "(batch.int)",
					    "( /x/batch.int )" };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(ours); i++) {
		assert_int_equal(application(ours[i]), 0);
		assert_string_equal(heard, "1:verb 1;2:verb 7;3:verb 2;");
	}
}

static void another_application_resets_and_stops(void **state)
{
	static const char *const others[] = { "other", "(myprog)",        "batch",
					      "my",    "/opt/bin/myprog", "myprog.exe.old" };
	static const struct ct_program alone = { "myprog", "/opt/bin/myprog", NULL };
	static const struct ct_config_reader deaf = { 0 };
	unsigned stopped_at = 0;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(others); i++) {
		assert_int_equal(application(others[i]), 2);
		assert_string_equal(heard, "1:verb 1;forget;");
	}
	ct_config_read("mftrace.application=(x)", 23, &alone, &deaf, &stopped_at);
	assert_int_equal(stopped_at, 1);
	ct_config_read("mftrace.application=(x)\nbad", 27, NULL, &deaf, NULL); /* anybody's */
}

static void encoding_is_a_property_of_four_emitters(void **state)
{
	static const char *const emitters[] = { "TEXTFILE", "BINFILE", "STDERR", "NATS" };
	const struct ct_command all = { .verb = CT_VERB_ENCODING, .value = { "latin-1", 7 } };
	struct ct_command one;

	(void)state;
	for (unsigned i = 0; i < CT_COUNT(emitters); i++) {
		assert_true(ct_config_expand(&all, i, &one));
		assert_int_equal(one.verb, CT_VERB_EMITTER_PROPERTY);
		assert_true(ct_name_is(one.emitter.at, one.emitter.size, emitters[i]));
		assert_true(ct_name_is(one.property.at, one.property.size, "ENCODING"));
		assert_ptr_equal(one.value.at, all.value.at);
	}
	assert_false(ct_config_expand(&all, CT_COUNT(emitters), &one));
	read_text("ctrace.spool.size = 64M\nctrace.spool.size = 1P\nctrace.spool.size = 0\n", 69);
	assert_string_equal(heard, "1:verb 6;2:21:not a size: \"1P\";3:21:not a size: \"0\";");
	read_text("mftrace.encoding = IBM1141\nmftrace.encoding = klingon\n", 54);
	assert_string_equal(
		heard, "1:verb 6;1:verb 6;1:verb 6;1:verb 6;2:20:unknown encoding \"klingon\";");
}

#define TRIGGERED(trigger, words) ct_config_triggered(trigger, words, sizeof(words))

static void program_of_cobcrun_is_behind_its_options(void **state)
{
	(void)state;
	assert_string_equal(TRIGGERED("cobcrun", "prog\0-M"), "prog");
	assert_string_equal(TRIGGERED("cobcrun", "-M\0libctrace\0prog\0x"), "prog");
	assert_string_equal(TRIGGERED("cobcrun", "-Mlibctrace\0prog"), "prog");
	assert_string_equal(TRIGGERED("cobcrun", "-module\0libctrace\0prog"), "prog");
	assert_string_equal(TRIGGERED("cobcrun", "--mod=libctrace\0-c\0my.cfg\0-v\0prog"), "prog");
	assert_string_equal(TRIGGERED("cobcrun", "--conf\0my.cfg\0--\0-prog"), "-prog");
	assert_string_equal(TRIGGERED("cobcrun", "-\0prog"), "-");
	assert_null(TRIGGERED("cobcrun", "-M\0libctrace"));
	assert_null(TRIGGERED("cobcrun", "-M"));
	assert_null(ct_config_triggered("cobcrun", "", 0));
	assert_string_equal(TRIGGERED("run", "-M\0prog"), "-M");
}

static enum ct_property_finding check_property(const char *emitter, const char *property,
					       const char *value)
{
	const struct ct_command one = {
		.verb = CT_VERB_EMITTER_PROPERTY,
		.emitter = { emitter, strlen(emitter) },
		.property = { property, strlen(property) },
		.value = { value, strlen(value) },
	};

	memset(&diagnostic, 0, sizeof diagnostic);
	return ct_config_check_property(&one, &diagnostic);
}

static void a_property_is_checked_where_it_is_known(void **state)
{
	(void)state;
	assert_int_equal(check_property("TEXTFILE", "MAXGENERATION", "3"), CT_PROPERTY_GOOD);
	assert_int_equal(check_property("textfile", "maxgeneration", "many"), CT_PROPERTY_WRONG);
	assert_int_equal(diagnostic.column, 1);
	assert_true(diagnostic.message[0] != '\0' && diagnostic.expected[0] != '\0');
	assert_int_equal(check_property("TEXTFILE", "NONESUCH", "many"), CT_PROPERTY_GOOD);
	assert_int_equal(check_property("NONESUCH", "MAXGENERATION", "many"), CT_PROPERTY_GOOD);
}

static void a_file_that_is_not_read_has_a_reason(void **state)
{
	char buffer[CT_CONFIG_UNREAD];

	(void)state;
	assert_string_equal(ct_config_unread(EFBIG, buffer),
			    "it is larger than a configuration can be");
	assert_string_equal(ct_config_unread(EINVAL, buffer), "it is no file");
	assert_string_equal(ct_config_unread(EACCES, buffer), "Permission denied");
}

int test_config(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_do),
		cmocka_unit_test(levels),
		cmocka_unit_test(destinations),
		cmocka_unit_test(properties),
		cmocka_unit_test(applications),
		cmocka_unit_test(sizes_and_times),
		cmocka_unit_test(words),
		cmocka_unit_test(diagnostics_in_lines_and_keys),
		cmocka_unit_test(diagnostics_in_values),
		cmocka_unit_test(hostile_text_is_made_harmless),
		cmocka_unit_test(nul_and_length),
		cmocka_unit_test(a_file_is_read_to_its_end),
		cmocka_unit_test(a_long_line_is_skipped),
		cmocka_unit_test(an_application_is_recognised),
		cmocka_unit_test(program_of_cobcrun_is_behind_its_options),
		cmocka_unit_test(encoding_is_a_property_of_four_emitters),
		cmocka_unit_test(another_application_resets_and_stops),
		cmocka_unit_test(a_property_is_checked_where_it_is_known),
		cmocka_unit_test(a_file_that_is_not_read_has_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
