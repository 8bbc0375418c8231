/*
 * operator_run.c - carries out an operator's commands: TRACE CT, DUMP, DISPLAY, REPLY.
 *
 * Called by ctrace op and ctrace console, for one command after the other.  A TRACE CT without a
 * member, or a DUMP, prompts for operands and waits in the table of replies.  The operator who
 * replies END carries it out.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/operator_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/own_setting.h"
#include "operator/display_trace.h"
#include "operator/dump_run.h"
#include "operator/hardcopy.h"
#include "operator/slip.h"
#include "operator/transact.h"
#include "operator/writer_control.h"
#include "operator/reply_table.h"
#include "print/json_text.h"

#define PARMLIB_DIRECTORY "/etc/ctrace/parmlib"

void ct_operator_start(void)
{
	const char *directories = ct_os_environment("CTRACE_PARMLIB");
	char why[200];

	if (directories == NULL)
		(void)setenv("CTRACE_PARMLIB", PARMLIB_DIRECTORY, 1);
	if (!ct_hardcopy_open(why))
		fprintf(stderr, "ctrace: commands are not logged: %s\n", why);
}

/* ---- the table of replies ---- */

static void report_table(struct dialogue *dialogue, const struct reply_table *table,
			 enum ctrace_status status)
{
	const char *why = status == CTRACE_OS_ERROR ? strerror(errno) : ctrace_status_text(status);

	ct_wto(&dialogue->wto, CTR008I, table->path, why, NULL);
}

/* The file of one prompt is missing, damaged or cannot be read. */
static void report_entry_file(struct dialogue *dialogue, const struct reply_table *table,
			      unsigned number, enum ctrace_status status)
{
	const char *why = status == CTRACE_OS_ERROR ? strerror(errno) : ctrace_status_text(status);
	char name[16], path[4200];

	(void)snprintf(name, sizeof name, "%02u", number);
	(void)snprintf(path, sizeof path, "%s/%u", table->path, number);
	ct_wto(&dialogue->wto, CTR027I, name, path, why, NULL);
}

static bool table_open(struct dialogue *dialogue, struct reply_table *table)
{
	enum ctrace_status status = ct_reply_table_open(table);

	if (status != CTRACE_OK)
		report_table(dialogue, table, status);
	return status == CTRACE_OK;
}

bool ct_operator_numbers(struct dialogue *dialogue, unsigned **out_numbers, size_t *out_count)
{
	struct reply_table table;
	enum ctrace_status status;

	if (!table_open(dialogue, &table))
		return false;
	status = ct_reply_numbers(&table, out_numbers, out_count);
	if (status != CTRACE_OK)
		report_table(dialogue, &table, status);
	ct_reply_table_close(&table);
	return status == CTRACE_OK;
}

static const char *number_text(unsigned number, char out[16])
{
	(void)snprintf(out, 16, "%02u", number);
	return out;
}

static void prompt_show(struct dialogue *dialogue, unsigned number, enum ct_operator_kind kind)
{
	char text[16];

	ct_wto(&dialogue->wto, kind == CT_OPERATOR_DUMP ? IEE094D : ITT006A,
	       number_text(number, text), NULL);
	dialogue->prompted = number;
}

void ct_operator_prompt(struct dialogue *dialogue, unsigned number)
{
	struct ct_operator_command command = { .kind = CT_OPERATOR_TRACE_CT };
	struct ct_diagnostic ignored;
	struct reply_entry entry;
	struct reply_table table;

	if (!table_open(dialogue, &table))
		return;
	if (ct_reply_find(&table, number, &entry) == CTRACE_OK)
		(void)!ct_operator_parse(entry.command, strlen(entry.command), &command, &ignored);
	ct_reply_table_close(&table);
	prompt_show(dialogue, number, command.kind);
}

/* What was replied to a command that asks. */
struct reply {
	struct ct_trace_request trace; /* to TRACE CT */
	struct ct_dump_reply dump;     /* to DUMP */
	bool is_end;
};

static enum ctrace_status reply_parse(enum ct_operator_kind kind, struct ct_span text,
				      struct reply *out, struct ct_diagnostic *diagnostic)
{
	enum ctrace_status status;

	if (kind != CT_OPERATOR_DUMP)
		return ct_reply_parse(text.at, text.size, &out->trace, &out->is_end, diagnostic);
	status = ct_dump_reply_parse(text.at, text.size, &out->dump, diagnostic);
	if (status == CTRACE_OK)
		out->is_end = out->dump.is_end;
	return status;
}

/* ---- TRACE CT ---- */

static void trace_ct_transact(struct dialogue *dialogue, const struct target *target,
			      const struct ct_operator_command *command,
			      const struct ct_trace_request *reply)
{
	struct transactions all;

	ct_transactions_init(&all, target, &dialogue->wto);
	ct_transactions_add(&all, command, reply, "");
	ct_transactions_run(&all);
	ct_transactions_fini(&all);
}

/* ---- DUMP ---- */

static void dump_report(struct ct_dump_run *run, const struct ct_dump_one *one)
{
	struct dialogue *dialogue = run->user;
	const char *path = one->path != NULL ? one->path : one->entry->name;
	bool is_complete = one->result.unread == 0 && one->result.damaged == 0;
	char asid[16], count[150], rings[50] = "";

	if (one->status != CTRACE_OK) {
		ct_wto(&dialogue->wto, CTR031I, path, one->why, NULL);
		return;
	}
	(void)snprintf(asid, sizeof asid, "%04X", one->head->asid);
	if (one->result.unread != 0)
		(void)snprintf(rings, sizeof rings, ", %" PRIu32 " ring%s not read",
			       one->result.unread, one->result.unread == 1 ? "" : "s");
	(void)snprintf(count, sizeof count, "%" PRIu64 " event%s, %" PRIu64 " before overwritten%s",
		       one->result.events, one->result.events == 1 ? "" : "s",
		       one->result.overwritten, rings);
	ct_wto(&dialogue->wto, IEA611I, is_complete ? "COMPLETE" : "PARTIAL", path, asid, count,
	       NULL);
}

static void dump_run(struct dialogue *dialogue, const struct target *target,
		     const struct ct_operator_command *command, const struct ct_dump_reply *reply)
{
	struct ct_dump_run run = { .filter = target->filter,
				   .reply = reply,
				   .title = command->title,
				   .reason = "DUMP command",
				   .report = dump_report,
				   .user = dialogue };
	char directory[4096];
	struct ct_buf refused;

	if (ct_own_setting(CT_VERB_DUMP_DIRECTORY, directory, sizeof directory)) {
		(void)mkdir(directory, 0700); /* if it cannot be made, no dump can */
		run.directory = directory;
	}
	ct_dump_run(&run);
	if (run.made != 0)
		ct_wto(&dialogue->wto, IEA794I, command->title, NULL);
	if (run.made != 0 || run.failed != 0)
		return;
	ct_buf_init(&refused);
	ct_ask_add_refused(&refused);
	ct_wto(&dialogue->wto, CTR032I, ct_buf_text(&refused), NULL);
	ct_buf_fini(&refused);
}

/* The reply is complete. */
static void command_finish(struct dialogue *dialogue, const struct target *target,
			   const struct ct_operator_command *command, const struct reply *reply)
{
	if (command->kind == CT_OPERATOR_DUMP)
		dump_run(dialogue, target, command, &reply->dump);
	else
		trace_ct_transact(dialogue, target, command, &reply->trace);
}

/* ---- prompts ---- */

/* --reply: the reply was given in advance. */
static void command_answer_at_once(struct dialogue *dialogue,
				   const struct ct_operator_command *command)
{
	char folded[CT_OPERATOR_LINE + 2];
	struct ct_span text = { folded, strnlen(dialogue->reply, sizeof folded) };
	struct ct_diagnostic diagnostic;
	struct reply reply;

	memcpy(folded, dialogue->reply, text.size);
	ct_operator_fold(folded, text.size);
	if (reply_parse(command->kind, text, &reply, &diagnostic) != CTRACE_OK)
		ct_wto_diagnostic(&dialogue->wto, CTR002E, text, &diagnostic);
	else
		command_finish(dialogue, &dialogue->target, command, &reply);
}

static void job_copy(struct reply_entry *entry, const char *job)
{
	(void)snprintf(entry->job, sizeof entry->job, "%s", job != NULL ? job : "");
}

static void command_prompt(struct dialogue *dialogue, const char *text, size_t size,
			   enum ct_operator_kind kind)
{
	const struct ct_peer_filter *filter = &dialogue->target.filter;
	struct reply_entry entry = { .time_ns = ct_clock_wall_ns(),
				     .pid = filter->pid,
				     .asid = filter->asid };
	struct reply_table table;
	enum ctrace_status status;

	job_copy(&entry, filter->jobname);
	(void)snprintf(entry.command, sizeof entry.command, "%.*s", (int)size, text);
	if (!table_open(dialogue, &table))
		return;
	status = ct_reply_add(&table, &entry);
	if (status == CTRACE_NOT_FOUND)
		ct_wto(&dialogue->wto, CTR009I, NULL);
	else if (status != CTRACE_OK)
		report_table(dialogue, &table, status);
	ct_reply_table_close(&table);
	if (status == CTRACE_OK)
		prompt_show(dialogue, entry.number, kind);
}

/* TRACE CT without a member, and DUMP. */
static void command_ask(struct dialogue *dialogue, const char *text, size_t size,
			const struct ct_operator_command *command)
{
	if (dialogue->reply != NULL)
		command_answer_at_once(dialogue, command);
	else
		command_prompt(dialogue, text, size, command->kind);
}

/* ---- REPLY ---- */

static bool reply_is_cancel(struct ct_span operands)
{
	while (operands.size != 0 && ct_is_blank(operands.at[0])) {
		operands.at++;
		operands.size--;
	}
	while (operands.size != 0 && ct_is_blank(operands.at[operands.size - 1]))
		operands.size--;
	return ct_name_is(operands.at, operands.size, "CANCEL");
}

static void entry_cancel(struct dialogue *dialogue, struct reply_table *table,
			 const struct reply_entry *entry)
{
	enum ctrace_status status = ct_reply_remove(table, entry->number);
	char number[16];

	if (status != CTRACE_OK) {
		report_entry_file(dialogue, table, entry->number, status);
		return;
	}
	ct_wto(&dialogue->wto, CTR005I, number_text(entry->number, number), entry->command, NULL);
}

/* Appends the reply to the entry's operands.  Returns false, and reports it, when there is no
 * room. */
static bool entry_join_reply(struct dialogue *dialogue, const struct reply_table *table,
			     struct reply_entry *entry, enum ct_operator_kind kind,
			     struct ct_span operands)
{
	struct ct_buf joined;
	bool fits;

	ct_buf_init(&joined);
	ct_reply_join(kind, (struct ct_span){ entry->operands, strlen(entry->operands) }, operands,
		      &joined);
	fits = !joined.failed && joined.size < sizeof entry->operands;
	if (fits)
		(void)snprintf(entry->operands, sizeof entry->operands, "%s", ct_buf_text(&joined));
	else
		report_table(dialogue, table, CTRACE_NOT_ENOUGH_MEMORY);
	ct_buf_fini(&joined);
	return fits;
}

/* Returns true if the entry is a TRACE CT or DUMP with a reply.  Otherwise the file is not
 * ours. */
static bool entry_parse(const struct reply_entry *entry, struct ct_operator_command *command,
			struct reply *reply)
{
	struct ct_span operands = { entry->operands, strlen(entry->operands) };
	struct ct_diagnostic ignored;

	return ct_operator_parse(entry->command, strlen(entry->command), command, &ignored) ==
		       CTRACE_OK &&
	       (command->kind == CT_OPERATOR_TRACE_CT || command->kind == CT_OPERATOR_DUMP) &&
	       reply_parse(command->kind, operands, reply, &ignored) == CTRACE_OK;
}

/* Applies a reply to an entry of the open table.  Returns true when *command is to be carried
 * out; the entry is then removed, so that nobody else carries it out. */
static bool entry_take_reply(struct dialogue *dialogue, struct reply_table *table,
			     struct reply_entry *entry, struct ct_span operands,
			     struct ct_span whole, struct ct_operator_command *command,
			     struct reply *reply)
{
	struct ct_diagnostic diagnostic;
	char folded[CT_OPERATOR_LINE + 1];
	enum ctrace_status status;
	char text[16];
	bool is_end;

	if (reply_is_cancel(operands)) {
		entry_cancel(dialogue, table, entry);
		return false;
	}
	if (!entry_parse(entry, command, reply)) {
		report_entry_file(dialogue, table, entry->number, CTRACE_DAMAGED);
		return false;
	}
	(void)snprintf(folded, sizeof folded, "%.*s", (int)operands.size, operands.at);
	ct_operator_fold(folded, operands.size);
	if (reply_parse(command->kind, (struct ct_span){ folded, operands.size }, reply,
			&diagnostic) != CTRACE_OK) {
		diagnostic.column += operands.size != 0 ? (unsigned)(operands.at - whole.at) : 0;
		ct_wto_diagnostic(&dialogue->wto, CTR002E, whole, &diagnostic);
		prompt_show(dialogue, entry->number, command->kind);
		return false;
	}
	is_end = reply->is_end;
	ct_wto(&dialogue->wto, IEE600I, number_text(entry->number, text), folded, NULL);
	operands.at = folded;
	if (entry_join_reply(dialogue, table, entry, command->kind, operands) && is_end &&
	    entry_parse(entry, command, reply)) {
		status = ct_reply_remove(table, entry->number);
		if (status != CTRACE_OK)
			report_entry_file(dialogue, table, entry->number, status);
		return status == CTRACE_OK;
	}
	status = ct_reply_replace(table, entry);
	if (status != CTRACE_OK)
		report_table(dialogue, table, status);
	prompt_show(dialogue, entry->number, command->kind);
	return false;
}

/* Returns the number of the prompt that the reply is for; 0, and reports it, when that is not
 * clear. */
static unsigned reply_number(struct dialogue *dialogue, struct reply_table *table,
			     const struct ct_operator_command *command)
{
	enum ctrace_status status;
	unsigned *numbers = NULL;
	unsigned number = 0;
	char text[24];
	size_t count;

	if (command->has_reply_id)
		return command->reply_id;
	status = ct_reply_numbers(table, &numbers, &count);
	if (status != CTRACE_OK) {
		report_table(dialogue, table, status);
		return 0;
	}
	if (count == 1)
		number = numbers[0];
	(void)snprintf(text, sizeof text, "%zu", count);
	if (count > 1)
		ct_wto(&dialogue->wto, CTR004I, text, NULL);
	else if (count == 0)
		ct_wto(&dialogue->wto, CTR019I, NULL);
	free(numbers);
	return number;
}

/* An entry that cannot be read can still be withdrawn. */
static bool entry_find(struct dialogue *dialogue, struct reply_table *table,
		       const struct ct_operator_command *command, bool is_to_go,
		       struct reply_entry *out)
{
	unsigned number = reply_number(dialogue, table, command);
	enum ctrace_status status;
	char text[16];

	if (number == 0 && !command->has_reply_id)
		return false;
	status = ct_reply_find(table, number, out);
	if (status == CTRACE_NOT_FOUND) {
		ct_wto(&dialogue->wto, CTR003I, number_text(number, text), NULL);
	} else if (status != CTRACE_OK && is_to_go) {
		(void)snprintf(out->command, sizeof out->command, "a command that cannot be read");
		status = CTRACE_OK;
	} else if (status != CTRACE_OK) {
		report_entry_file(dialogue, table, number, status);
	}
	return status == CTRACE_OK;
}

static void reply_run(struct dialogue *dialogue, const char *text, size_t size,
		      const struct ct_operator_command *request)
{
	struct ct_span operands =
		request->operands.at != NULL ? request->operands : (struct ct_span){ text, 0 };
	struct target target = dialogue->target;
	struct ct_operator_command command;
	struct reply_table table;
	struct reply_entry entry;
	struct reply reply;
	bool is_end;

	if (!table_open(dialogue, &table))
		return;
	is_end = entry_find(dialogue, &table, request, reply_is_cancel(operands), &entry) &&
		 entry_take_reply(dialogue, &table, &entry, operands,
				  (struct ct_span){ text, size }, &command, &reply);
	ct_reply_table_close(&table);
	if (!is_end)
		return;
	target.filter = (struct ct_peer_filter){ .pid = entry.pid, .asid = entry.asid };
	target.filter.jobname = entry.job[0] != '\0' ? entry.job : NULL;
	command_finish(dialogue, &target, &command, &reply);
}

/* ---- DISPLAY ---- */

static void report_entry(struct dialogue *dialogue, const struct reply_entry *entry)
{
	uint64_t now = ct_clock_wall_ns();
	uint64_t seconds = now > entry->time_ns ? (now - entry->time_ns) / 1000000000u : 0;
	char number[16], age[48];

	(void)snprintf(age, sizeof age, "%02" PRIu64 ".%02u.%02u", seconds / 3600,
		       (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
	ct_wto(&dialogue->wto, CTR006I, number_text(entry->number, number), age, entry->command,
	       entry->operands[0] != '\0' ? "; " : "", entry->operands, NULL);
}

/* Adds an outstanding reply to the JSON document: ctrace-json(5). */
static void reply_json_add(json_t *replies, const struct reply_entry *entry)
{
	json_t *object = json_object();

	(void)json_object_set_new(object, "number", json_integer((json_int_t)entry->number));
	(void)json_object_set_new(object, "asked_ns",
				  json_integer((json_int_t)(entry->time_ns & INT64_MAX)));
	(void)json_object_set_new(object, "command", ct_json_string(entry->command));
	(void)json_object_set_new(object, "operands", ct_json_string(entry->operands));
	(void)json_object_set_new(object, "pid",
				  entry->pid != 0 ? json_integer((json_int_t)entry->pid)
						  : json_null());
	(void)json_object_set_new(object, "asid", ct_json_asid(entry->asid));
	(void)json_object_set_new(object, "job",
				  ct_json_string(entry->job[0] != '\0' ? entry->job : NULL));
	(void)json_array_append_new(replies, object);
}

static bool reply_json_print(json_t *replies)
{
	json_t *document = ct_json_document();
	bool ok =
		json_object_set_new(document, "time_ns", ct_json_number(ct_clock_wall_ns())) == 0 &&
		json_object_set_new(document, "replies", replies) == 0;

	return ct_json_print(document, stdout) && ok;
}

/* Shows all entries in order of their numbers; replies NULL: as text. */
static void entries_show(struct dialogue *dialogue, struct reply_table *table, json_t *replies)
{
	struct reply_entry entry;
	enum ctrace_status status;
	unsigned *numbers;
	size_t count;

	status = ct_reply_numbers(table, &numbers, &count);
	if (status != CTRACE_OK) {
		report_table(dialogue, table, status);
		return;
	}
	if (count == 0 && replies == NULL)
		ct_wto(&dialogue->wto, CTR007I, NULL);
	for (size_t i = 0; i < count; i++) {
		status = ct_reply_find(table, numbers[i], &entry);
		if (status == CTRACE_OK && replies != NULL)
			reply_json_add(replies, &entry);
		else if (status == CTRACE_OK)
			report_entry(dialogue, &entry);
		else if (status != CTRACE_NOT_FOUND)
			report_entry_file(dialogue, table, numbers[i], status);
	}
	free(numbers);
}

static void display_replies(struct dialogue *dialogue)
{
	json_t *replies = dialogue->target.is_json ? json_array() : NULL;
	struct reply_table table;

	if (table_open(dialogue, &table)) {
		entries_show(dialogue, &table, replies);
		ct_reply_table_close(&table);
	}
	if (dialogue->target.is_json && !reply_json_print(replies))
		ct_wto(&dialogue->wto, CTR030I, NULL);
	fflush(stdout);
}

static void display_trace(struct dialogue *dialogue, const struct ct_operator_command *command)
{
	enum ctrace_status status;
	struct ct_buf text;

	ct_buf_init(&text);
	status = ct_display_trace(command, &dialogue->target, &text, &dialogue->wto);
	if (status == CTRACE_NOT_ENOUGH_MEMORY)
		ct_wto(&dialogue->wto, CTR030I, NULL);
	else if (text.size != 0)
		fwrite(text.data, 1, text.size, stdout);
	fflush(stdout);
	ct_hardcopy_answer(text.data, text.size);
	if (status != CTRACE_OK)
		ct_wto_fail(&dialogue->wto);
	ct_buf_fini(&text);
}

/* ---- a command ---- */

static void command_carry_out(struct dialogue *dialogue, const char *text, size_t size,
			      const struct ct_operator_command *command)
{
	struct writer_start start = { .name = command->member,
				      .has_mode = command->has_wrap,
				      .nowrap = command->nowrap };

	switch (command->kind) {
	case CT_OPERATOR_NONE:
		break;
	case CT_OPERATOR_TRACE_CT:
		if (command->member[0] != '\0')
			ct_member_run(command, &dialogue->target, &dialogue->wto);
		else
			command_ask(dialogue, text, size, command);
		break;
	case CT_OPERATOR_DUMP:
		command_ask(dialogue, text, size, command);
		break;
	case CT_OPERATOR_WTRSTART:
		(void)ct_writer_start(&start, &dialogue->wto);
		break;
	case CT_OPERATOR_WTRSTOP:
		(void)ct_writer_stop(command->job, command->noflush, &dialogue->wto);
		break;
	case CT_OPERATOR_DISPLAY_TRACE:
		display_trace(dialogue, command);
		break;
	case CT_OPERATOR_DISPLAY_REPLIES:
		display_replies(dialogue);
		break;
	case CT_OPERATOR_SLIP_SET:
	case CT_OPERATOR_SLIP_MOD:
	case CT_OPERATOR_SLIP_DEL:
	case CT_OPERATOR_DISPLAY_SLIP:
		ct_slip_run(dialogue, command);
		break;
	case CT_OPERATOR_SET_SLIP:
		ct_slip_member_run(dialogue, command->member);
		break;
	case CT_OPERATOR_REPLY:
		reply_run(dialogue, text, size, command);
		break;
	}
}

void ct_operator_run(struct dialogue *dialogue, const char *text, size_t size)
{
	struct ct_operator_command command;
	struct ct_diagnostic diagnostic;
	int routed = CMD_DONE;

	ct_hardcopy_command(text, size);
	if (!dialogue->target.is_json)
		ct_writers_report_ended(&dialogue->wto);
	if (dialogue->route != NULL && dialogue->route(text, size, &routed))
		dialogue->wto.worst = dialogue->wto.worst > routed ? dialogue->wto.worst : routed;
	else if (ct_operator_parse(text, size, &command, &diagnostic) != CTRACE_OK)
		ct_wto_diagnostic(&dialogue->wto, CTR001E, (struct ct_span){ text, size },
				  &diagnostic);
	else
		command_carry_out(dialogue, text, size, &command);
}
