/*
 * cmd_explain.c - `ctrace explain CODE...`: what a return, reason or abend code of component trace
 * means, or a message, and what to do.
 *
 * Codes are read as programs and people write them: 0C 13, RC=0C RSN=00001300, 00D-102, S00D, 0C
 * xxxx13xx as in the manuals of z/OS, 12 19 as COBOL prints them.  The texts are the library's own
 * table, and those of the messages; the codes of CTRACEWR are here.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/component/component.h"
#include "operator/wto.h"
#include "print/ipcs/ipcs.h"

#define ABEND_CODE 0x0Du /* 00D, as it is written; the library answers CTRACE_RC_ABEND */
#define WIDTH 78u

struct explain {
	bool is_all;
	bool is_write;   /* the codes are those of CTRACEWR */
	bool is_decimal; /* the return code is no hexadecimal one that there is, but a decimal one
			  */
	const char *message; /* the id of a message; NULL: none */
	unsigned count;      /* numbers that were read */
	uint32_t rc;
	uint32_t reason; /* RR, a whole reason code when it is more than FF, or an abend's */
};

/* ---- printing ---- */

/* "0C", "13": the second is "" when the row has no reason. */
static void row_name_codes(const struct ct_reason_row *row, char rc[8], char reason[12])
{
	bool is_abend = row->rc == CTRACE_RC_ABEND;

	(void)snprintf(rc, 8, is_abend ? "00D" : "%02X", (unsigned)row->rc);
	reason[0] = '\0';
	if (is_abend)
		(void)snprintf(reason, 12, "%03" PRIX32, row->reason);
	else if (row->low != 0)
		(void)snprintf(reason, 12, "%02" PRIX32 "%02X", row->reason, (unsigned)row->low);
	else if (row->reason != 0)
		(void)snprintf(reason, 12, "%02" PRIX32, row->reason);
}

/* Words, as many a line as go into WIDTH; further lines begin below the first word. */
static void print_wrapped(const char *label, const char *text)
{
	size_t indent = strlen(label);
	size_t column = indent;
	const char *blank = "";

	fputs(label, stdout);
	while (*text != '\0') {
		size_t size = strcspn(text, " ");

		if (column + 1 + size > WIDTH) {
			printf("\n%*s", (int)indent, "");
			column = indent;
			blank = "";
		}
		printf("%s%.*s", blank, (int)size, text);
		column += strlen(blank) + size;
		blank = " ";
		text += size;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_row(const struct ct_reason_row *row)
{
	char rc[8], reason[12], sentence[256];

	row_name_codes(row, rc, reason);
	printf("%s %s%s%s: %s\n", row->rc == CTRACE_RC_ABEND ? "Abend" : "RC", rc,
	       reason[0] != '\0' ? ", reason " : "", reason, row->name);
	(void)snprintf(sentence, sizeof sentence, "%s.", row->meaning);
	sentence[0] = (char)toupper((unsigned char)sentence[0]);
	print_wrapped("  ", sentence);
	print_wrapped("  Cause: ", row->cause);
	print_wrapped("  Cure:  ", row->cure);
}

static int rows_list(void)
{
	const struct ct_reason_row *row;

	for (size_t i = 0; (row = ct_reason_at(i)) != NULL; i++) {
		char rc[8], reason[12];

		row_name_codes(row, rc, reason);
		printf("%-3s %-4s  %-21s  %s\n", rc, reason, row->name, row->meaning);
	}
	return CMD_DONE;
}

/* ---- CTRACEWR ---- */

static const struct write_row {
	uint32_t rc, reason;
	const char *meaning, *cure;
} write_rows[] = {
	{ CTRACE_RC_OK, 0,
	  "All entries were imported; with SYNCH=YES they are in their destinations.",
	  "Go on: the buffer is AVAILABLE." },
	{ CTRACE_WR_OFF, 0,
	  "Nothing was written: the trace is off, a filter excludes this process, or the threshold is above INFO.",
	  "Switch the trace on if the entries are wanted. The buffer is AVAILABLE." },
	{ CTRACE_WR_LOST, CTRACE_WR_NO_SPACE,
	  "The ring had no room for some entries, which are counted in `lost`.",
	  "Give the trace a larger BUFSIZE, or hand over smaller buffers more often." },
	{ CTRACE_WR_LOST, CTRACE_WR_OUTPUT,
	  "A destination is failing and is tried again, or SYNCH=YES has waited for 10 seconds.",
	  "`ctrace list` names the destination and its error. The entries wait in the ring." },
	{ CTRACE_WR_REFUSED, CTRACE_WR_TOKEN, "The token belongs to no defined trace.",
	  "Take the token from the CTSS of the start/stop routine. It is valid until the trace is deleted." },
	{ CTRACE_WR_REFUSED, CTRACE_WR_NOT_FULL, "The buffer is not FULL.",
	  "Set FULL with CTRACECS before CTRACEWR." },
	{ CTRACE_WR_REFUSED, CTRACE_WR_LENGTH, "The length is 0, or larger than the buffer.",
	  "Give the length of the entries." },
	{ CTRACE_WR_REFUSED, CTRACE_WR_MALFORMED,
	  "Entries are malformed; `offset` is the position of the first.",
	  "Check CTELENP, CTEOFF and CTELENE of this entry, and that zeros follow the last one." },
	{ CTRACE_WR_REFUSED, CTRACE_WR_NOT_LOCKED,
	  "WTRMODE asks for locked storage, and the buffer is not locked.",
	  "Give ctrace_tbwc_init() the same WTRMODE, and raise RLIMIT_MEMLOCK if it fails." },
	{ CTRACE_WR_REFUSED, CTRACE_WR_NO_WTR, "The trace was defined with WTR=NO.",
	  "Define it with WTR=YES and WTRMODE." },
};

static int write_codes_explain(const struct explain *explain)
{
	unsigned printed = 0;

	for (size_t i = 0; i < CT_COUNT(write_rows); i++) {
		const struct write_row *row = &write_rows[i];

		if ((explain->count != 0 && explain->rc != row->rc) ||
		    (explain->count == 2 && explain->reason != row->reason))
			continue;
		if (printed++ != 0)
			putchar('\n');
		printf("CTRACEWR RC %02X", (unsigned)row->rc);
		if (row->reason != 0)
			printf(", reason %02X", (unsigned)row->reason);
		putchar('\n');
		print_wrapped("  ", row->meaning);
		print_wrapped("  Cure:  ", row->cure);
	}
	if (printed != 0)
		return CMD_DONE;
	fputs("ctrace explain: CTRACEWR has the codes 00, 04, 08 with 01 and 02, 0C with 01 to 06\n",
	      stderr);
	return CMD_USAGE;
}

/* ---- messages ---- */

/* What goes with a message is not known here. */
static void message_print(const char *id, const char *text, const char *more)
{
	const char *mark;

	printf("%s ", id);
	while ((mark = strstr(text, "{}")) != NULL) {
		printf("%.*s...", (int)(mark - text), text);
		text = mark + 2;
	}
	puts(text);
	print_wrapped("  ", more);
}

static int message_explain(const char *id)
{
	for (int i = 0; i < WTO_COUNT; i++) {
		const struct wto_row *row = ct_wto_row((enum wto_id)i);

		if (strcasecmp(row->code, id) == 0) {
			message_print(row->code, row->text, row->more);
			return CMD_DONE;
		}
	}
	for (int i = CT_ITT_NONE + 1; i < CT_ITT_COUNT; i++) {
		const struct ct_ipcs_message_row *row =
			ct_ipcs_message_row((enum ct_ipcs_message)i);

		if (strcasecmp(row->id, id) == 0) {
			message_print(row->id, row->text, row->more);
			return CMD_DONE;
		}
	}
	fprintf(stderr, "ctrace explain: ctrace has no message %s\n", id);
	return CMD_USAGE;
}

/* ITT10003I, CTR012I, IEE843I: three letters, digits, a letter. */
static bool word_is_message(const char *word, size_t size)
{
	static const char *const kinds[] = { "ITT", "CTR", "IEE" };
	size_t digits;

	if (size < 7 || !isalpha((unsigned char)word[size - 1]))
		return false;
	digits = strspn(word + 3, "0123456789");
	for (size_t i = 0; i < CT_COUNT(kinds); i++)
		if (strncasecmp(word, kinds[i], 3) == 0)
			return digits + 4 == size;
	return false;
}

/* ---- which rows ---- */

static bool row_is_wanted(const struct explain *explain, const struct ct_reason_row *row)
{
	bool is_whole = row->rc != CTRACE_RC_ABEND && explain->reason > 0xFF;
	uint32_t reason = is_whole ? CTRACE_REASON(explain->reason) : explain->reason;
	uint32_t low = is_whole ? explain->reason & 0xFF : 0;

	if (explain->count == 1)
		return true;
	return row->reason == reason && (row->low == 0 || low == 0 || row->low == low);
}

static const struct ct_reason_row *row_find_first(uint32_t rc)
{
	const struct ct_reason_row *row;

	for (size_t i = 0; (row = ct_reason_at(i)) != NULL; i++)
		if (row->rc == rc)
			return row;
	return NULL;
}

static int codes_diagnose_unknown(const struct explain *explain)
{
	const struct ct_reason_row *row = row_find_first(explain->rc);
	const char *separator = "";
	char rc[8], reason[12];

	if (row == NULL) {
		fprintf(stderr,
			"ctrace explain: unknown return code %02" PRIX32
			"; there are 00, 04, 08, 0C and the abend 00D\n",
			explain->rc);
		return CMD_USAGE;
	}
	row_name_codes(row, rc, reason);
	fprintf(stderr, "ctrace explain: %s has no reason %02" PRIX32, rc, explain->reason);
	if (reason[0] != '\0')
		fputs(", but ", stderr);
	for (size_t i = 0; (row = ct_reason_at(i)) != NULL; i++) {
		if (row->rc != explain->rc)
			continue;
		row_name_codes(row, rc, reason);
		fprintf(stderr, "%s%s", separator, reason);
		separator = ", ";
	}
	fputc('\n', stderr);
	return CMD_USAGE;
}

static int codes_explain(const struct explain *explain)
{
	const struct ct_reason_row *row;
	unsigned printed = 0;

	if (explain->rc == CTRACE_RC_OK) {
		puts("RC 00: OK\n  It was done. There is no reason code.");
		return CMD_DONE;
	}
	for (size_t i = 0; (row = ct_reason_at(i)) != NULL; i++) {
		if (row->rc != explain->rc || !row_is_wanted(explain, row))
			continue;
		if (printed++ != 0)
			putchar('\n');
		print_row(row);
	}
	return printed != 0 ? CMD_DONE : codes_diagnose_unknown(explain);
}

/* ---- the command line ---- */

static bool word_is_of(const char *word, size_t size, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strlen(*list) == size && strncasecmp(*list, word, size) == 0)
			return true;
	return false;
}

/* xxxx2Bxx, as manuals of z/OS print a reason code whose other bytes do not count. */
static bool read_masked(const char *word, size_t size, uint32_t *out_number)
{
	char digits[3] = "";

	if (size != 8 || strspn(word, "xX") != 4 || strspn(word + 6, "xX") < 2)
		return false;
	memcpy(digits, word + 4, 2);
	if (strspn(digits, "0123456789ABCDEFabcdef") != 2)
		return false;
	*out_number = (uint32_t)strtoul(digits, NULL, 16);
	return true;
}

static bool rc_is_known(uint32_t rc)
{
	return rc == CTRACE_RC_OK || rc == ABEND_CODE || row_find_first(rc) != NULL;
}

/* COBOL prints RC 0C as 12, and an abend's 10 as 16; no return code is 12 or 16 in hexadecimal. */
static bool read_decimal(const char *word, size_t size, uint32_t *out_number)
{
	char digits[11] = "";
	unsigned long number;

	if (size == 0 || size >= sizeof digits || strspn(word, "0123456789") < size)
		return false;
	memcpy(digits, word, size);
	number = strtoul(digits, NULL, 10);
	*out_number = (uint32_t)number;
	return number <= UINT32_MAX;
}

/* 0C, 0x0C, 00001300: hexadecimal, as they are written everywhere. */
static bool read_number(const char *word, size_t size, uint32_t *out_number)
{
	char digits[9] = "";

	if (size > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) {
		word += 2;
		size -= 2;
	}
	if (size == 0 || size >= sizeof digits)
		return false;
	memcpy(digits, word, size);
	if (strspn(digits, "0123456789ABCDEFabcdef") != size)
		return false;
	*out_number = (uint32_t)strtoul(digits, NULL, 16);
	return true;
}

/* What is wrong, or NULL. */
static const char *word_take(struct explain *explain, const char *word, size_t size)
{
	static const char *const of_rc[] = { "RC", "ABEND", NULL };
	static const char *const of_reason[] = { "RSN", "RSNCODE", "REASON", NULL };
	uint32_t number, decimal;

	if (word_is_of(word, size, of_rc))
		return explain->count == 0 ? NULL : "the return code stands before the reason code";
	if (word_is_of(word, size, of_reason))
		return explain->count == 1 ? NULL : "the return code stands before the reason code";
	if (size == 8 && strncasecmp(word, "CTRACEWR", size) == 0) {
		explain->is_write = true;
		return NULL;
	}
	if (size == 4 && (word[0] == 'S' || word[0] == 's')) { /* S00D */
		word++;
		size--;
	}
	if (!(explain->count == 1 && explain->is_decimal ? read_decimal(word, size, &number)
							 : read_number(word, size, &number)) &&
	    !read_masked(word, size, &number))
		return "codes are hexadecimal numbers of at most 8 digits";
	if (explain->count == 2)
		return "one return code and one reason code at a time";
	if (explain->count == 0 && read_decimal(word, size, &decimal) && !rc_is_known(number) &&
	    (decimal == CTRACE_RC_REFUSED || decimal == CTRACE_RC_ABEND)) {
		explain->is_decimal = true;
		number = decimal;
	}
	if (explain->count++ == 0)
		explain->rc = number == ABEND_CODE ? CTRACE_RC_ABEND : number;
	else
		explain->reason = number;
	return NULL;
}

static void argument_take(struct explain *explain, const char *argument, struct argp_state *state)
{
	static const char separators[] = " =-,/";

	if (word_is_message(argument, strlen(argument))) {
		explain->message = argument;
		return;
	}
	for (argument += strspn(argument, separators); *argument != '\0';
	     argument += strspn(argument, separators)) {
		size_t size = strcspn(argument, separators);
		const char *diagnostic = word_take(explain, argument, size);

		if (diagnostic != NULL)
			argp_error(state, "%s", diagnostic);
		argument += size;
	}
}

static error_t parse_explain(int key, char *argument, struct argp_state *state)
{
	struct explain *explain = state->input;

	switch (key) {
	case 'a':
		explain->is_all = true;
		return 0;
	case ARGP_KEY_ARG:
		argument_take(explain, argument, state);
		return 0;
	case ARGP_KEY_END:
		if (explain->is_all && (explain->count != 0 || explain->is_write))
			argp_error(state, "either --all or a code");
		if (explain->message != NULL && (explain->count != 0 || explain->is_write))
			argp_error(state, "either a message or a code");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_explain(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "all", 'a', NULL, 0, "List every code, one on each line, as without RC", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_explain,
		.args_doc = "[[CTRACEWR] RC [REASON]]\nMESSAGE",
		.doc = "Explain a return and reason code of component trace, an abend or a message: 0C 13, RC=0C RSN=00001300, 00D-102, CTRACEWR 08 01, "
		       "ITT038I.\vRC alone: all of its reasons. Codes are hexadecimal, or decimal as COBOL prints them: 12 19.",
	};
	struct explain explain = { 0 };

	if (argp_parse(&argp, argc, argv, 0, NULL, &explain) != 0)
		return CMD_USAGE;
	if (explain.message != NULL)
		return message_explain(explain.message);
	if (explain.is_write)
		return write_codes_explain(&explain);
	return explain.count == 0 ? rows_list() : codes_explain(&explain);
}
