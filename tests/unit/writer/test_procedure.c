/*
 * test_procedure.c - procedure files: every statement, every error with its place, whatever the
 * bytes are.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "writer/writer.h"

static struct ct_procedure procedure;
static char diagnostics[8192];

static void keep(const struct ct_diagnostic *diagnostic, void *user)
{
	size_t used = strlen(diagnostics);

	assert_ptr_equal(user, &procedure);
	(void)snprintf(diagnostics + used, sizeof diagnostics - used, "%u:%u: %s; expected %s\n",
		       diagnostic->line, diagnostic->column, diagnostic->message,
		       diagnostic->expected);
}

static enum ctrace_status parse_as(const char *name, const char *text)
{
	diagnostics[0] = '\0';
	return ct_procedure_parse(name, text, strlen(text), &procedure, keep, &procedure);
}

static void understood(const char *text)
{
	assert_int_equal(parse_as("ctw1", text), CTRACE_OK);
	assert_string_equal(diagnostics, "");
}

static void refused(const char *text, const char *wanted)
{
	assert_int_equal(parse_as("CTW1", text), CTRACE_FAILURE);
	assert_string_equal(diagnostics, wanted);
	assert_int_equal(ct_procedure_parse("CTW1", text, strlen(text), &procedure, NULL, NULL),
			 CTRACE_FAILURE);
}

/* ---- what is understood ---- */

static void everything(void **state)
{
	(void)state;
	understood("# a comment\r\n"
		   "* another\n"
		   "\n"
		   "   \t\n"
		   "TRCOUT16 PATH=/var/trace/last PRIMARY=1G\n"
		   "  trcout02  secondary=10m primary=9999K\tpath=/var/trace/kvs2///\r\n"
		   "TRCOUT01 PATH=/var/trace/kvs1 PRIMARY=50M SECONDARY=2G\n"
		   "mode=nowrap\n"
		   "  COMPRESS=Zstd  ");
	assert_string_equal(procedure.name, "CTW1");
	assert_int_equal(procedure.mode, CT_WRITER_NOWRAP);
	assert_true(procedure.compress);
	assert_int_equal(procedure.trcout_count, 3);
	assert_int_equal(procedure.number[0], 1);
	assert_string_equal(procedure.trcout[0].path, "/var/trace/kvs1");
	assert_int_equal(procedure.trcout[0].primary, 50u << 20);
	assert_int_equal(procedure.trcout[0].secondary, 2ull << 30);
	assert_int_equal(procedure.number[1], 2);
	assert_string_equal(procedure.trcout[1].path, "/var/trace/kvs2");
	assert_int_equal(procedure.trcout[1].primary, 9999u << 10);
	assert_int_equal(procedure.trcout[1].secondary, 10u << 20);
	assert_int_equal(procedure.number[2], 16);
	assert_int_equal(procedure.trcout[2].secondary, 0);
}

static void least(void **state)
{
	(void)state;
	understood("TRCOUT01 PATH=/a PRIMARY=1K");
	assert_int_equal(procedure.mode, CT_WRITER_WRAP);
	assert_false(procedure.compress);
	assert_int_equal(procedure.trcout_count, 1);
	assert_int_equal(procedure.trcout[0].primary, 1024);
	understood("TRCOUT01 PATH=/a PRIMARY=1K\nMODE=WRAP\nCOMPRESS=NO\n");
	assert_int_equal(procedure.mode, CT_WRITER_WRAP);
	assert_false(procedure.compress);
}

static void all_sixteen(void **state)
{
	struct ct_buf text;

	(void)state;
	ct_buf_init(&text);
	for (unsigned i = 0; i < CT_TRCOUT_LIMIT; i++)
		ct_buf_add_format(&text, "TRCOUT%02u PATH=/t/%u PRIMARY=%uM\n", (i * 7) % 16 + 1,
				  (i * 7) % 16 + 1, (i * 7) % 16 + 1);
	understood(ct_buf_text(&text));
	assert_int_equal(procedure.trcout_count, CT_TRCOUT_LIMIT);
	for (unsigned i = 0; i < CT_TRCOUT_LIMIT; i++) {
		char path[16];

		(void)snprintf(path, sizeof path, "/t/%u", i + 1);
		assert_int_equal(procedure.number[i], i + 1);
		assert_string_equal(procedure.trcout[i].path, path);
		assert_int_equal(procedure.trcout[i].primary, (uint64_t)(i + 1) << 20);
	}
	ct_buf_fini(&text);
}

static void variables(void **state)
{
	struct utsname host;
	char wanted[400];

	(void)state;
	assert_int_equal(uname(&host), 0);
	understood("TRCOUT01 PATH=/t/$(HOST)/x$(name)$y$ PRIMARY=1M");
	(void)snprintf(wanted, sizeof wanted, "/t/%s/xCTW1$y$", host.nodename);
	assert_string_equal(procedure.trcout[0].path, wanted);
	refused("TRCOUT01 PATH=/t/$(NMAE) PRIMARY=1M",
		"1:18: \"$(NMAE)\" is no variable (did you mean $(NAME)?); expected $(NAME) or $(HOST)\n");
	refused("TRCOUT01 PATH=/t/$(HOST PRIMARY=1M",
		"1:18: \"$(HOST\" is no variable (did you mean $(HOST)?); expected $(NAME) or $(HOST)\n");
	refused("TRCOUT01 PATH=/t/$() PRIMARY=1M",
		"1:18: \"$()\" is no variable; expected $(NAME) or $(HOST)\n");
}

/* ---- errors ---- */

static void statements(void **state)
{
	(void)state;
	refused("\n\nTRCUOT01 PATH=/a PRIMARY=1M\n  MOD=WRAP\nhello\n",
		"3:1: \"TRCUOT01\" is no statement (did you mean TRCOUT01?); expected TRCOUT01 to TRCOUT16, MODE=, COMPRESS= or a comment\n"
		"4:3: \"MOD\" is no statement (did you mean MODE?); expected TRCOUT01 to TRCOUT16, MODE=, COMPRESS= or a comment\n"
		"5:1: \"hello\" is no statement; expected TRCOUT01 to TRCOUT16, MODE=, COMPRESS= or a comment\n");
	refused("TRCOUT01 PATH=/a PRIMARY=1M\nMODE=WARP\nCOMPRESS=\nMODE=WRAP MODE=WRAP\nMODE=NOWRAP\nCOMPRESS",
		"2:6: \"WARP\" is not known (did you mean WRAP?); expected WRAP or NOWRAP\n"
		"3:10: \"\" is not known; expected NO or ZSTD\n"
		"4:11: \"MODE=WRAP\" is not expected here; expected the end of the line\n"
		"5:1: \"MODE\" is there already; expected each statement once\n"
		"6:1: \"COMPRESS\" has no equals sign and value; expected NO\n");
	refused("", "1:1: there is no TRCOUT; expected TRCOUT01 to TRCOUT16\n");
	refused("MODE=WRAP\n# nothing\n",
		"2:10: there is no TRCOUT; expected TRCOUT01 to TRCOUT16\n");
}

static void data_sets(void **state)
{
	static const char *const none[] = { "TRCOUT",   "TRCOUT1",  "TRCOUT00",  "TRCOUT17",
					    "TRCOUT20", "TRCOUT0A", "TRCOUT001", "TRCOUT01=/a" };
	char text[100], wanted[200];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(none); i++) {
		(void)snprintf(text, sizeof text, "%s PATH=/a PRIMARY=1M", none[i]);
		(void)snprintf(
			wanted, sizeof wanted,
			"1:1: \"%s\" is none of the data sets; expected TRCOUT01 to TRCOUT16\n",
			none[i]);
		refused(text, wanted);
	}
	refused("TRCOUT01 PATH=/a PRIMARY=1M\nTRCOUT01 PATH=/b PRIMARY=1M\n",
		"2:1: \"TRCOUT01\" is there already; expected each data set once\n");
	refused("TRCOUT03 PATH=/a/ PRIMARY=1M\nTRCOUT02 PATH=/a PRIMARY=1M\n",
		"2:1: \"TRCOUT02\" has the same path as TRCOUT03; expected a path of its own\n");
	refused("TRCOUT01\nTRCOUT02 PRIMARY=1M\n TRCOUT03 PATH=/c",
		"1:9: TRCOUT01 has no path; expected PATH=/...\n"
		"1:9: TRCOUT01 has no size; expected PRIMARY=50M or the like\n"
		"2:20: TRCOUT02 has no path; expected PATH=/...\n"
		"3:18: TRCOUT03 has no size; expected PRIMARY=50M or the like\n");
}

static void addresses(void **state)
{
	static const char *const wrong[] = { "nats://h", "nats://h/", "nats://h/a.b", "nats:///S",
					     "nats://u:secret@h x/S" };
	char text[200];

	(void)state;
	understood("TRCOUT01 PATH=nats://h1:4222,h2/$(NAME)?cluster=a PRIMARY=1M");
	assert_string_equal(procedure.trcout[0].address, "nats://h1:4222,h2/CTW1?cluster=a");
	assert_string_equal(procedure.trcout[0].path, "");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		(void)snprintf(text, sizeof text, "TRCOUT01 PATH=%s PRIMARY=1M", wrong[i]);
		assert_int_not_equal(parse_as("ctw1", text), CTRACE_OK);
		assert_non_null(strstr(diagnostics, "begins no address of a stream"));
		assert_null(strstr(diagnostics, "secret"));
	}
}

static void keywords(void **state)
{
	(void)state;
	refused("TRCOUT01 PAHT=/a PATH=/a PRIMRY=1M PRIMARY=1M PATH=/b PRIMARY PRIMARY=2M more",
		"1:10: \"PAHT\" is not expected here (did you mean PATH=?); expected PATH=, PRIMARY=, SECONDARY= or DISP=\n"
		"1:26: \"PRIMRY\" is not expected here (did you mean PRIMARY=?); expected PATH=, PRIMARY=, SECONDARY= or DISP=\n"
		"1:47: \"PATH\" is here already; expected each keyword once\n"
		"1:55: \"PRIMARY\" has no equals sign and value; expected PRIMARY=\n"
		"1:63: \"PRIMARY\" is here already; expected each keyword once\n"
		"1:74: \"more\" is not expected here; expected PATH=, PRIMARY=, SECONDARY= or DISP=\n");
}

static void sizes(void **state)
{
	static const char *const none[] = { "",
					    "0K",
					    "K",
					    "1",
					    "10000K",
					    "1KB",
					    "-1K",
					    "+1K",
					    "1 K",
					    "1T",
					    "1.5M",
					    "0x1K",
					    "99999999999999999999M" };
	char text[100];

	(void)state;
	for (size_t i = 0; i < CT_COUNT(none); i++) {
		(void)snprintf(text, sizeof text, "TRCOUT01 PATH=/a PRIMARY=%s", none[i]);
		assert_int_equal(parse_as("CTW", text), CTRACE_FAILURE);
		assert_non_null(strstr(diagnostics,
				       "is no size; expected 1 to 9999 and K, M or G, as in 50M"));
	}
	refused("TRCOUT01 PATH=/a PRIMARY=1M SECONDARY=0M",
		"1:39: \"0M\" is no size; expected 1 to 9999 and K, M or G, as in 50M\n");
}

static void paths(void **state)
{
	char text[5000] = "TRCOUT01 PRIMARY=1M PATH=/";
	size_t used = strlen(text);

	(void)state;
	refused("TRCOUT01 PRIMARY=1M PATH=a/b",
		"1:26: \"a/b\" is no absolute path; expected an absolute path, as in /var/trace/$(NAME), or nats://HOST/STREAM\n");
	refused("TRCOUT01 PRIMARY=1M PATH=",
		"1:26: \"\" is no absolute path; expected an absolute path, as in /var/trace/$(NAME), or nats://HOST/STREAM\n");
	refused("TRCOUT01 PRIMARY=1M PATH=//",
		"1:26: \"//\" is no place for a data set; expected an absolute path, as in /var/trace/$(NAME), or nats://HOST/STREAM\n");
	refused("TRCOUT01 PRIMARY=1M PATH=/a\033[2J",
		"1:26: \"/a\\u{1B}[2J\" has a control character; expected an absolute path, as in "
		"/var/trace/$(NAME), or nats://HOST/STREAM\n");
	refused("TRCOUT01 PRIMARY=1M PATH=/a\177",
		"1:26: \"/a\\u{7F}\" has a control character; expected an absolute path, as in "
		"/var/trace/$(NAME), or nats://HOST/STREAM\n");
	memset(text + used, 'x', 3999);
	text[used + 3999] = '\0';
	understood(text);
	assert_int_equal(strlen(procedure.trcout[0].path), 4000);
	text[used + 3999] = 'x';
	text[used + 4000] = '\0';
	assert_int_equal(parse_as("CTW", text), CTRACE_FAILURE);
	assert_non_null(strstr(diagnostics, "is too long; expected at most 4000 bytes"));
}

static void names(void **state)
{
	(void)state;
	assert_true(ct_writer_name_is_valid("A", 1));
	assert_true(ct_writer_name_is_valid("ctw@#$1", 7));
	assert_false(ct_writer_name_is_valid("CTWRITER", 8));
	assert_false(ct_writer_name_is_valid("", 0));
	assert_false(ct_writer_name_is_valid("1A", 2));
	assert_false(ct_writer_name_is_valid("../A", 4));
	assert_int_equal(parse_as("../A", "TRCOUT01 PATH=/a PRIMARY=1M"), CTRACE_FAILURE);
	assert_non_null(strstr(diagnostics, "\"../A\" is not the name of a writer"));
}

static void not_terminated(void **state)
{
	static const char text[] = "TRCOUT01 PATH=/a PRIMARY=1MMODE=WRAP";
	static const char nul[] = "TRCOUT01 PATH=/a\0b PRIMARY=1M";

	(void)state;
	assert_int_equal(ct_procedure_parse("CTW", text, 27, &procedure, NULL, NULL), CTRACE_OK);
	diagnostics[0] = '\0';
	assert_int_equal(
		ct_procedure_parse("CTW", nul, sizeof nul - 1, &procedure, keep, &procedure),
		CTRACE_FAILURE);
	assert_non_null(strstr(diagnostics, "has a control character"));
}

int test_procedure(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything),  cmocka_unit_test(least),
		cmocka_unit_test(all_sixteen), cmocka_unit_test(variables),
		cmocka_unit_test(statements),  cmocka_unit_test(data_sets),
		cmocka_unit_test(keywords),    cmocka_unit_test(sizes),
		cmocka_unit_test(paths),       cmocka_unit_test(names),
		cmocka_unit_test(addresses),   cmocka_unit_test(not_terminated),
	};

	return cmocka_run_group_tests_name("writer/procedure", tests, NULL, NULL);
}
