/*
 * paragraphs_subject.c - a traced program for tests of spans without an exit: it traces as the
 * COBOL run time's library does, to mf.rts and mf.mffh.xfh, with times that are known.
 *
 * paragraphs_subject CUSTOMERS [slow | killed | bare] - the program PAYROLL has the sections
 * MAIN and CLOSING. MAIN's paragraph INIT opens CUSTFILE; for each customer LOOP reads CUSTFILE and
 * calls TAXCALC, a program with the paragraph RATES, which writes AUDIT; CLOSING's paragraph FINISH
 * closes both, and STOP RUN ends the program.  Every record that CUSTFILE has no customer for has
 * status 23.  slow: RATES takes 30 milliseconds more and each customer is read twice. killed: the
 * process ends in the last LOOP without another event.  bare: no ENTRY and no EXIT.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct ctrace_tracer rts = CTRACE_TRACER("mf.rts");
static struct ctrace_tracer files = CTRACE_TRACER("mf.mffh.xfh");
static int is_slow, is_killed, is_bare;

enum { ENTRY = 6, EXIT = 7, STOPRUN = 254, SECTION = 1010, PARAGRAPH = 1011 };
enum { OPEN = 1001, CLOSE = 1002, READ = 1003, WRITE = 1005 };

static void rest(long ns)
{
	struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

static void program(unsigned id, const char *name, const char *caller, unsigned line)
{
	if (!is_bare)
		CTRACE(&rts, CTRACE_INFO, id, CTRACE_U32(0), CTRACE_U32(0), CTRACE_STR(name),
		       CTRACE_STR(name), CTRACE_STR(caller), CTRACE_U32(line));
}

static void place(unsigned id, const char *in, const char *name, unsigned line)
{
	CTRACE(&rts, CTRACE_DEBUG, id, CTRACE_STR(in), CTRACE_STR(name), CTRACE_U32(line));
}

static void file(unsigned id, const char *select, const char *status, unsigned bytes, long ns)
{
	rest(ns);
	CTRACE(&files, CTRACE_INFO, id, CTRACE_STR(select),
	       CTRACE_STR(select[0] == 'C' ? "data/customers.dat" : "data/audit.log"),
	       CTRACE_U32(select[0] == 'C' ? 3 : 1), CTRACE_U32(select[0] == 'C' ? 1 : 2),
	       CTRACE_U32(0), CTRACE_STR(status), CTRACE_U32(bytes), CTRACE_U64((uint64_t)ns),
	       CTRACE_STR("PAYROLL"), CTRACE_U32(57));
}

static void taxcalc(void)
{
	program(ENTRY, "TAXCALC", "PAYROLL", 61);
	place(PARAGRAPH, "TAXCALC", "RATES", 20);
	rest(is_slow ? 30000000 : 200000);
	file(WRITE, "AUDIT", "00", 80, 50000);
	program(EXIT, "TAXCALC", "PAYROLL", 61);
}

static void customer(unsigned number, int is_last)
{
	place(PARAGRAPH, "PAYROLL", "LOOP", 55);
	for (int i = 0; i <= is_slow; i++)
		file(READ, "CUSTFILE", number % 5 == 4 ? "23" : "00", number % 5 == 4 ? 0 : 120,
		     100000);
	taxcalc();
	rest(100000);
	if (is_last && is_killed)
		_Exit(ctrace_flush(10000) != CTRACE_OK);
}

int main(int argc, char **argv)
{
	unsigned customers = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 3;

	is_slow = argc > 2 && strcmp(argv[2], "slow") == 0;
	is_killed = argc > 2 && strcmp(argv[2], "killed") == 0;
	is_bare = argc > 2 && strcmp(argv[2], "bare") == 0;
	program(ENTRY, "PAYROLL", "", 0);
	place(SECTION, "PAYROLL", "MAIN", 40);
	place(PARAGRAPH, "PAYROLL", "INIT", 42);
	file(OPEN, "CUSTFILE", "00", 0, 100000);
	file(OPEN, "AUDIT", "00", 0, 100000);
	for (unsigned i = 0; i < customers; i++)
		customer(i, i + 1 == customers);
	place(SECTION, "PAYROLL", "CLOSING", 80);
	place(PARAGRAPH, "PAYROLL", "FINISH", 82);
	file(CLOSE, "CUSTFILE", "00", 0, 100000);
	file(CLOSE, "AUDIT", "00", 0, 100000);
	CTRACE(&rts, CTRACE_INFO, STOPRUN, CTRACE_I32(0), CTRACE_STR("PAYROLL"), CTRACE_U32(90));
	return ctrace_flush(10000) != CTRACE_OK;
}
