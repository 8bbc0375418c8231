/*
 * wto.c - the messages that operators see, all of them in one table.
 *
 * Called by ctrace op and ctrace console.  Texts may come from anywhere: whatever could forge a
 * line or a terminal sequence is escaped.  ITT and IEE messages are z/OS's own; CTR messages are
 * ours.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/wto.h"

#include "operator/hardcopy.h"

#include <string.h>
#include <time.h>

static const struct wto_row rows[WTO_COUNT] = {
	[ITT006A] = { "ITT006A", WTO_DONE, "SPECIFY OPERAND(S) FOR TRACE CT COMMAND",
		      "TRACE CT waits for a REPLY with this number." },
	[IEE094D] = { "IEE094D", WTO_DONE, "SPECIFY OPERAND(S) FOR DUMP COMMAND",
		      "DUMP waits for a REPLY with this number." },
	[IEA794I] = { "IEA794I", WTO_DONE,
		      "SVC DUMP HAS CAPTURED: REQUESTED BY DUMP COMMAND DUMP TITLE={}",
		      "At least one process was dumped." },
	[IEA611I] = { "IEA611I", WTO_DONE, "{} DUMP ON {} FOR ASIDS({}): {}",
		      "COMPLETE, or PARTIAL when rings could not be read; the path of the dump, the process, and how many events it has." },
	[ITT038I] = { "ITT038I", WTO_DONE,
		      "{} OF THE TRANSACTIONS REQUESTED VIA THE TRACE CT COMMAND WERE SUCCESSFULLY EXECUTED.",
		      "ALL, SOME or NONE.  A transaction is one trace in one process." },
	[ITT107I] = { "ITT107I", WTO_DONE, "CTRACE WRITER {} ENDED ABNORMALLY.",
		      "The external writer was killed or has failed.  Its traces go to their own destinations; TRACE CT,WTRSTART starts it again." },
	[ITT110I] = { "ITT110I", WTO_DONE, "INITIALIZATION OF CTRACE WRITER {} COMPLETE.",
		      "The external writer runs." },
	[ITT111I] = { "ITT111I", WTO_DONE,
		      "CTRACE WRITER {} TERMINATED BECAUSE OF A WTRSTOP REQUEST.",
		      "The external writer has closed its data sets and ended." },
	[IEE600I] = { "IEE600I", WTO_DONE, "REPLY TO {} IS;{}", "The reply was understood." },
	[IEE727I] = { "IEE727I", WTO_DONE, "SLIP TRAP ID={} {}",
		      "SET, ENABLED or DISABLED: what the command has done with the trap." },
	[CTR001E] = { "CTR001E", WTO_DIAGNOSTIC, "Column {}: {}; expected {}",
		      "The command cannot be parsed.  Nothing was done." },
	[CTR002E] = { "CTR002E", WTO_DIAGNOSTIC, "Reply, column {}: {}; expected {}",
		      "The operands of a reply cannot be parsed.  The prompt is outstanding as before." },
	[CTR003I] = { "CTR003I", WTO_REFUSED, "Reply {} is not outstanding",
		      "D R lists the outstanding replies." },
	[CTR004I] = { "CTR004I", WTO_REFUSED, "A reply needs its number: {} are outstanding",
		      "R without a number is understood when exactly one reply is outstanding." },
	[CTR005I] = { "CTR005I", WTO_DONE, "Reply {} is withdrawn; nothing is done of: {}",
		      "CANCEL was replied." },
	[CTR006I] = { "CTR006I", WTO_DONE, "Reply {} is outstanding for {}: {}{}{}",
		      "The number, how long it has been waiting (hh.mm.ss), the command, and the replies so far." },
	[CTR007I] = { "CTR007I", WTO_DONE, "No reply is outstanding", "The answer to D R." },
	[CTR008I] = { "CTR008I", WTO_REFUSED, "Outstanding replies cannot be kept in {}: {}",
		      "The directory reply of the run directory cannot be used.  The command was not carried out." },
	[CTR009I] = { "CTR009I", WTO_REFUSED, "All numbers of replies are taken",
		      "D R lists them; R nn,CANCEL withdraws one." },
	[CTR010I] = { "CTR010I", WTO_DONE, "{}: {}",
		      "A successful transaction has a message: the trace, the process, the text." },
	[CTR011I] = { "CTR011I", WTO_REFUSED, "No traced process {}",
		      "There was no process to ask." },
	[CTR012I] = { "CTR012I", WTO_REFUSED, "{}: RC {}: {}",
		      "A transaction was refused and changed nothing.  The message has the trace, the process, return and reason code in "
		      "hexadecimal with their meaning, those of the start/stop routine when it was called, and a message of it or of ctrace." },
	[CTR013I] = { "CTR013I", WTO_REFUSED, "{} {}",
		      "The state in this process is not known, and ITT038I does not count it as done there.  A process that did not answer in "
		      "time, because it was stopped or busy, still carries the command out when it continues." },
	[CTR014I] = { "CTR014I", WTO_REFUSED, "{}No running process has {}{}",
		      "The message names the nearest existing one." },
	[CTR015I] = { "CTR015I", WTO_REFUSED, "Member {} cannot be used: {} (reason {}){}",
		      "Nothing was done." },
	[CTR016I] = { "CTR016I", WTO_REFUSED, "{}: {}; expected {} (reason {})",
		      "An error in a member: its position, and the reason of CTRACE DEFINE.  All errors are listed; nothing was done." },
	[CTR017I] = { "CTR017I", WTO_REFUSED,
		      "{}: SUB is in the command and in the member: RC 0C reason 0F",
		      "Only one of them may have SUB.  This statement was skipped." },
	[CTR018I] = { "CTR018I", WTO_REFUSED,
		      "{}: the command and the member contradict each other: RC 0C reason 06",
		      "The command says OFF and the member ON, or both have a size, and not the same.  "
		      "This statement of the member was skipped." },
	[CTR019I] = { "CTR019I", WTO_REFUSED,
		      "No reply is outstanding: there is nothing to reply to",
		      "TRACE CT without PARM asks for one; D R lists them." },
	[CTR020I] = { "CTR020I", WTO_REFUSED, "Writer {} is running already", "WTRSTOP ends it." },
	[CTR021I] = { "CTR021I", WTO_REFUSED, "Writer {} was not started: {}",
		      "The reason comes from the writer or from the system." },
	[CTR022I] = { "CTR022I", WTO_REFUSED, "Writer {} is not running", "Nothing was stopped." },
	[CTR023I] = { "CTR023I", WTO_REFUSED, "Writer {} cannot be stopped: {}",
		      "The writer still runs." },
	[CTR024I] = { "CTR024I", WTO_REFUSED, "Writer {} is still stopping after {} seconds",
		      "It writes the waiting events; NOFLUSH would not.  Its log reports its end." },
	[CTR025I] = { "CTR025I", WTO_REFUSED, "The command was interrupted",
		      "Ctrl-C.  Processes that already had the command still carry it out; D TRACE shows it." },
	[CTR026I] = { "CTR026I", WTO_REFUSED,
		      "{}: neither the command nor the member says ON, OFF or LIKEHEAD: RC 0C reason 85",
		      "Put ON or OFF into the command, or into this statement of the member, which was skipped." },
	[CTR027I] = { "CTR027I", WTO_REFUSED, "Reply {} cannot be used: {}: {}",
		      "The file of this prompt cannot be read, or is not one of ours.  R nn,CANCEL removes it." },
	[CTR028I] = { "CTR028I", WTO_REFUSED, "Writer {} {}",
		      "Its traces, and the number of events that it has written, are not known." },
	[CTR029I] = { "CTR029I", WTO_REFUSED, "{}More than 65536 traces fit {}",
		      "The command was carried out for the first 65536.  A narrower pattern reaches the others." },
	[CTR030I] = { "CTR030I", WTO_REFUSED, "Not enough memory",
		      "Nothing was done, or not everything." },
	[CTR031I] = { "CTR031I", WTO_REFUSED, "{} is not dumped: {}",
		      "The process cannot be read, or the dump cannot be written." },
	[CTR032I] = { "CTR032I", WTO_REFUSED,
		      "Nothing is dumped: no such process holds such events{}",
		      "Events that are in files already are not in storage.  ctrace list shows the processes." },
	[CTR033I] = { "CTR033I", WTO_DONE, "SLIP trap {} is deleted", "SLIP DEL was done." },
	[CTR034I] = { "CTR034I", WTO_REFUSED, "SLIP trap {}: {}{}",
		      "The process, or the run directory, did not take the command." },
	[IEA992I] = { "IEA992I", WTO_DONE, "SLIP TRAP ID={} MATCHED.  JOBNAME={}, ASID={}.",
		      "A trap has matched in this process.  CTR035I says what it did." },
	[CTR035I] = { "CTR035I", WTO_DONE, "TRIGGER {} OF {}: {}",
		      "A trigger has acted in this process; what it did." },
	[CTR036I] = { "CTR036I", WTO_DONE, "COMMAND OF USER {} FOR {}: {}: {}",
		      "A member of ctrace.operators, or who says to be claimed:USER@HOST on another machine, has given this process a command, or tried to; what became of it." },
	[CTR038I] = { "CTR038I", WTO_REFUSED, "{}: {}; expected {}",
		      "An error in a member IEASLPxx, with its position.  All errors are listed; nothing was done." },
	[CTR101W] = { "CTR101W", WTO_DONE,
		      "TRCOUT{} IS FULL: {}. WHAT COMES NOW IS COUNTED AND NOT WRITTEN",
		      "A writer reports this once, when a data set without WRAP is full." },
	[CTR102E] = { "CTR102E", WTO_DONE, "TRCOUT{} CANNOT BE WRITTEN: {}",
		      "A writer reports each kind of error once, and tries again." },
	[CTR103E] = { "CTR103E", WTO_DONE, "TRCOUT{} CANNOT BE OPENED: {}: {}",
		      "The writer has not started." },
	[CTR104E] = { "CTR104E", WTO_DONE, "NO THREAD FOR A TRCOUT",
		      "The writer has not started." },
	[CTR105E] = { "CTR105E", WTO_DONE, "CTRACE WRITER {} IS RUNNING ALREADY ({})",
		      "A run directory can have one running writer of each name." },
	[CTR106E] = { "CTR106E", WTO_DONE, "CTRACE WRITER {}: {}: {}",
		      "The writer has not started: the directory writer of the run directory cannot be used." },
	[CTR107E] = { "CTR107E", WTO_DONE,
		      "PROCESS {} HAS TRUNCATED ITS SESSION OR A RING: IT IS DISCONNECTED",
		      "The writer goes on without this process." },
	[IEE735I] = { "IEE735I", WTO_DONE, "hh.mm.ss SLIP DISPLAY",
		      "The answer to DISPLAY SLIP: for each process its traps, and what they do." },
	[IEE843I] = { "IEE843I", WTO_DONE, "hh.mm.ss TRACE DISPLAY",
		      "The answer to DISPLAY TRACE; ctrace-display(7) explains its fields." },
};

const struct wto_row *ct_wto_row(enum wto_id id)
{
	return &rows[id];
}

static FILE *message_stream(const struct wto *wto, enum wto_severity severity)
{
	if (severity != WTO_DIAGNOSTIC || wto->is_console)
		return stdout;
	/* so that both streams stay in order where they are one terminal */
	fflush(stdout);
	return stderr;
}

static void print_time(const struct wto *wto, FILE *to)
{
	time_t now = time(NULL);
	struct tm local;

	if (wto->is_console && localtime_r(&now, &local) != NULL)
		fprintf(to, "%02d.%02d.%02d ", local.tm_hour, local.tm_min, local.tm_sec);
}

/* Prints the row's text up to its next {}.  Returns the rest. */
static const char *print_up_to_text(const char *text, FILE *to)
{
	const char *end = strstr(text, "{}");

	if (end == NULL) {
		fputs(text, to);
		return NULL;
	}
	fwrite(text, 1, (size_t)(end - text), to);
	return end + 2;
}

/* The reply's number stands before it. */
static bool message_is_prompt(enum wto_id id)
{
	return id == ITT006A || id == IEE094D;
}

static void message_log(enum wto_id id, const char *const *texts)
{
	const char *at = rows[id].text;
	const char *mark;
	struct ct_buf line;

	ct_buf_init(&line);
	if (message_is_prompt(id))
		ct_buf_add_format(&line, "*%s ", *texts++);
	ct_buf_add_format(&line, "%s ", rows[id].code);
	while ((mark = strstr(at, "{}")) != NULL && *texts != NULL) {
		ct_buf_add(&line, at, (size_t)(mark - at));
		ct_buf_add_text(&line, *texts++);
		at = mark + 2;
	}
	ct_buf_add_text(&line, at);
	if (!line.failed)
		ct_hardcopy_answer(line.data, line.size);
	ct_buf_fini(&line);
}

void ct_wto_texts(struct wto *wto, enum wto_id id, const char *const *texts)
{
	const struct wto_row *row = &rows[id];
	FILE *to = message_stream(wto, row->severity);
	const char *at = row->text;
	const char *const *all = texts;

	print_time(wto, to);
	if (message_is_prompt(id))
		fprintf(to, "*%s ", *texts++);
	fprintf(to, "%s ", row->code);
	while ((at = print_up_to_text(at, to)) != NULL && *texts != NULL) {
		ct_tool_print(to, *texts, strlen(*texts));
		texts++;
	}
	fputc('\n', to);
	fflush(to);
	message_log(id, all);
	if ((int)row->severity > wto->worst)
		wto->worst = (int)row->severity;
}

/* Counts the characters of the text before this byte.  A byte that begins no character belongs
 * to the one before it. */
static unsigned count_characters(struct ct_span text, size_t before)
{
	unsigned count = 0;

	for (size_t i = 0; i < before; i++)
		count += i >= text.size || ((unsigned char)text.at[i] & 0xC0) != 0x80;
	return count;
}

void ct_wto_diagnostic(struct wto *wto, enum wto_id id, struct ct_span text,
		       const struct ct_diagnostic *diagnostic)
{
	FILE *to = message_stream(wto, WTO_DIAGNOSTIC);
	size_t before = diagnostic->column != 0 ? diagnostic->column - 1 : 0;
	char column[16];

	(void)snprintf(column, sizeof column, "%u", count_characters(text, before) + 1);
	ct_wto(wto, id, column, diagnostic->message, diagnostic->expected, NULL);
	if (!wto->has_caret)
		return;
	ct_tool_print(to, text.at, text.size);
	fprintf(to, "\n%*s\n",
		ct_tool_print(NULL, text.at, before < text.size ? before : text.size) + 1, "^");
	fflush(to);
}

void ct_wto_fail(struct wto *wto)
{
	if (wto->worst < CMD_NOTHING)
		wto->worst = CMD_NOTHING;
}

void ct_wto_note_printed(struct wto *wto, const char *writer, const char *text)
{
	struct wto_printed *line = &wto->printed[wto->printed_count++ % WTO_PRINTED];

	(void)snprintf(line->writer, sizeof line->writer, "%s", writer);
	(void)snprintf(line->text, sizeof line->text, "%s", text);
}

void ct_wto_line(const struct wto *wto, const char *text, size_t size)
{
	print_time(wto, stdout);
	ct_tool_print(stdout, text, size);
	putchar('\n');
}
