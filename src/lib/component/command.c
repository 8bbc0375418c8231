/*
 * command.c - TRACE CT, and commands of the other interface for a defined trace.
 *
 * Runs on the thread that gave the command, not in a signal handler.  A transaction covers the
 * trace and the sublevels that follow it, so that commands for the same traces run one after the
 * other.  It holds no lock while it carries out the change.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/component/component.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- one transaction ---- */

/* Begins a transaction on a defined trace and its followers.  Returns the RC. */
static uint32_t command_begin(struct ct_transaction_pair *pair, const struct ct_path *path,
			      uint32_t component, bool likehead, struct ctrace_outcome *out)
{
	enum ct_transaction_result result = CT_TRANSACTION_OK;
	struct ct_trace *trace;
	bool is_defined;

	ct_table_lock();
	trace = ct_table_find(component);
	/* The head comes first, in the same order as in commands for the head.  A trace that
	 * is to follow its head must not miss a change of the head. */
	if (likehead && trace != NULL && trace->head != NULL &&
	    !ct_transaction_is_mine(trace->head))
		result = ct_transaction_add(&pair->head, trace->head);
	if (trace != NULL && result == CT_TRANSACTION_OK)
		result = ct_transaction_add_tree(&pair->trace, trace, true);
	is_defined = trace != NULL && trace->is_defined;
	ct_table_unlock();
	if (result != CT_TRANSACTION_OK)
		return ct_transaction_outcome(result, path->name, out);
	if (!is_defined)
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_NOT_DEFINED,
				      "no trace %s is defined", path->name);
	return CTRACE_RC_OK;
}

static uint32_t request_carry_out(struct ct_transaction *transaction,
				  const struct ct_trace_request *request, const char *source,
				  struct ctrace_outcome *out)
{
	struct ct_trace *trace = transaction->traces[0];
	struct ct_status status;
	struct ct_wanted wanted = { .call = true, .status = &status };
	uint32_t rc = ct_status_check(trace, request, CT_FROM_COMMAND, source, out);

	if (rc != CTRACE_RC_OK)
		return rc;
	if (ct_only_groups(&trace->attributes))
		return ct_outcome_set(
			out, CTRACE_RC_REFUSED, CTRACE_RSN_HEAD_NO_OPTIONS,
			"the head was defined with HEADOPTS=NO: name one of its sublevels with SUB");
	ct_status_get(trace, &status);
	if (status.mode == CTRACE_MODE_ON && request->state != CTRACE_CT_OFF &&
	    !ct_trace_attributes(trace)->mod)
		return ct_outcome_set(
			out, CTRACE_RC_REFUSED, CTRACE_RSN_NOT_MODIFIABLE,
			"the trace is on and was defined with MOD=NO: switch it OFF first");
	wanted.follows = request->state == CTRACE_CT_LIKEHEAD;
	if (wanted.follows)
		ct_status_get(trace->head, &status);
	else
		ct_status_merge(&status, request, ct_trace_attributes(trace));
	rc = ct_change_carry_out(transaction, &wanted, out);
	return rc;
}

static uint32_t preset_change(const struct ct_path *path, const struct ct_trace_request *request,
			      struct ctrace_outcome *out)
{
	struct ct_trace *head = NULL;
	enum ctrace_status status;
	uint32_t component;
	bool is_head;

	ct_table_lock();
	if (path->head_size != 0 && ct_registry_find_any(ct_process.registry, path->name,
							 path->head_size, &component) == CTRACE_OK)
		head = ct_table_find(component);
	if (head != NULL && !head->is_defined)
		head = NULL;
	is_head = head != NULL && head->attributes.head;
	ct_table_unlock();
	if (path->head_size == 0)
		return ct_outcome_set(
			out, CTRACE_RC_REFUSED, CTRACE_RSN_NO_HEAD,
			"PRESET is for a sublevel: neither the command nor the member says SUB");
	if (head == NULL)
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_NO_HEAD,
				      "PRESET: the head of %s is not defined", path->name);
	if (!is_head)
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_NOT_A_HEAD,
				      "PRESET: the level above %s is no head", path->name);
	/* By the name as given: a job that runs now will have another ASID when it runs again. */
	status = request->state == CTRACE_CT_PRESET_PUT ? ct_preset_put(path->given, request)
							: ct_preset_delete(path->given);
	if (status == CTRACE_NOT_FOUND)
		return ct_outcome_set(out, CTRACE_RC_EXISTS, 0, "there is no preset for %s",
				      path->given);
	if (status != CTRACE_OK)
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_PARMLIB,
				      "the preset of %s cannot be kept: %s", path->name,
				      ctrace_status_text(status));
	return CTRACE_RC_OK;
}

/* A thread that knows a trace waits for commands that work on it, perhaps a DEFINE. */
static enum ct_transaction_result component_wait(uint32_t component)
{
	enum ct_transaction_result result = CT_TRANSACTION_OK;
	struct ct_trace *trace;
	uint32_t flags = __atomic_load_n(&ct_registry_entry(ct_process.registry, component)->flags,
					 __ATOMIC_ACQUIRE);

	ct_table_lock();
	trace = ct_table_find(component);
	if (trace != NULL && ((flags & CT_COMPONENT_KNOWN) != 0 || ct_transaction_is_mine(trace)))
		result = ct_transaction_wait(trace);
	ct_table_unlock();
	return result;
}

static uint32_t request_transact(const struct ct_path *path, const struct ct_trace_request *request,
				 const char *source, struct ctrace_outcome *out)
{
	enum ct_transaction_result result = CT_TRANSACTION_OK;
	struct ct_transaction_pair pair;
	uint32_t component;
	uint32_t rc;

	if (request->state == CTRACE_CT_PRESET_PUT || request->state == CTRACE_CT_PRESET_DELETE)
		return preset_change(path, request, out);
	if (request->state == CTRACE_CT_NONE)
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_NO_STATE,
				      "neither ON, OFF nor LIKEHEAD is given for %s", path->name);
	if (ct_registry_find_any(ct_process.registry, path->name, strlen(path->name), &component) ==
	    CTRACE_OK)
		result = component_wait(component);
	if (result != CT_TRANSACTION_OK)
		return ct_transaction_outcome(result, path->name, out);
	if (ct_registry_find(ct_process.registry, path->name, strlen(path->name), &component) !=
	    CTRACE_OK)
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_NOT_DEFINED,
				      "no trace %s is defined", path->name);
	if ((__atomic_load_n(&ct_registry_entry(ct_process.registry, component)->flags,
			     __ATOMIC_ACQUIRE) &
	     CT_COMPONENT_DEFINED) == 0)
		return ct_builtin_command(path->name, request, out);
	ct_transaction_pair_init(&pair, "TRACE CT");
	rc = command_begin(&pair, path, component, request->state == CTRACE_CT_LIKEHEAD, out);
	if (rc == CTRACE_RC_OK)
		rc = request_carry_out(&pair.trace, request, source, out);
	ct_transaction_pair_end(&pair);
	return rc;
}

/* ---- a command ---- */

/* A tracer of the other interface may have any name.  has_more: a SUB or member extends it. */
static uint32_t command_check_name(const char *name, bool has_more, struct ctrace_outcome *out)
{
	size_t size = name != NULL ? strnlen(name, CTRACE_MAX_COMPONENT + 1) : 0;

	if (ct_component_check_name(name, size) != CTRACE_OK ||
	    (size > CTRACE_MAX_COMPONENT - CT_SUB_ROOM && has_more))
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_NOT_DEFINED,
				      "COMP is not the name of a trace");
	if (ct_target_self() == NULL)
		return ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_STORAGE,
				      "this process cannot be traced: no memory");
	return CTRACE_RC_OK;
}

static uint32_t command_check(const struct ctrace_trace_ct *command, struct ctrace_outcome *out)
{
	if (command->size < sizeof *command || command->state > CTRACE_CT_PRESET_DELETE)
		return ct_outcome_set(
			out, CTRACE_RC_ABEND, 0x301,
			"struct ctrace_trace_ct: size or state is not what it may be");
	if (ct_is_coded(command->parm) &&
	    (command->bufsize != 0 || command->asid != NULL || command->jobname != NULL ||
	     command->options != NULL || command->wtr != NULL))
		return ct_outcome_set(
			out, CTRACE_RC_ABEND, 0x301,
			"PARM excludes the operands that its member has: buffer size, ASID, JOBNAME, OPTIONS, WTR");
	return command_check_name(command->name,
				  ct_is_coded(command->sub) || ct_is_coded(command->parm), out);
}

static uint32_t request_read_asids(const char *text, struct ct_trace_request *request)
{
	struct ct_span list = { text, strlen(text) };
	struct ct_span word;
	uint32_t reason = 0;

	while (reason == 0 && ct_config_next_word(&list, &word)) {
		if (request->asid_count == CTRACE_MAX_FILTER)
			return CTRACE_RSN_TOO_MANY_ASIDS;
		reason = ct_asid_parse(word.at, word.size, &request->asid[request->asid_count++]);
	}
	return reason;
}

static uint32_t request_read_jobnames(const char *text, struct ct_trace_request *request)
{
	struct ct_span list = { text, strlen(text) };
	struct ct_span word;
	uint32_t reason = 0;

	while (reason == 0 && ct_config_next_word(&list, &word)) {
		if (request->jobname_count == CTRACE_MAX_FILTER)
			return CTRACE_RSN_TOO_MANY_JOBNAMES;
		reason = ct_jobname_parse(word.at, word.size,
					  request->jobname[request->jobname_count++]);
	}
	return reason;
}

static uint32_t request_read_options(const char *text, struct ct_trace_request *request)
{
	size_t size = strnlen(text, CTRACE_MAX_OPTIONS + 1);

	if (size > CTRACE_MAX_OPTIONS)
		return CTRACE_RSN_OPTIONS_TOO_LONG;
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7F)
			return CTRACE_RSN_MEMBER_SYNTAX;
	memcpy(request->options, text, size);
	request->options_size = size;
	return 0;
}

static uint32_t request_read_writer(const char *text, struct ct_trace_request *request)
{
	request->disconnect = ct_name_is(text, strlen(text), "DISCONNECT");
	return request->disconnect ? 0 : ct_writer_parse(text, strlen(text), request->writer);
}

/* Converts the structure to a request.  Returns the RC. */
static uint32_t request_read(const struct ctrace_trace_ct *command,
			     struct ct_trace_request *request, struct ctrace_outcome *out)
{
	const struct {
		const char *name, *text;
		uint32_t (*read)(const char *text, struct ct_trace_request *request);
	} operands[] = { { "ASID", command->asid, request_read_asids },
			 { "JOBNAME", command->jobname, request_read_jobnames },
			 { "OPTIONS", command->options, request_read_options },
			 { "WTR", command->wtr, request_read_writer } };

	memset(request, 0, sizeof *request);
	request->state = command->state;
	request->bufsize = command->bufsize;
	request->has[CT_CLAUSE_BUFSIZE] = command->bufsize != 0;
	request->has[CT_CLAUSE_ASID] = command->asid != NULL;
	request->has[CT_CLAUSE_JOBNAME] = command->jobname != NULL;
	request->has[CT_CLAUSE_OPTIONS] = command->options != NULL;
	request->has[CT_CLAUSE_WTR] = command->wtr != NULL;
	for (size_t i = 0; i < CT_COUNT(operands); i++) {
		uint32_t reason =
			operands[i].text != NULL ? operands[i].read(operands[i].text, request) : 0;

		if (reason != 0)
			return ct_outcome_set(out, CTRACE_RC_REFUSED, reason, "%s=(%.100s)",
					      operands[i].name, operands[i].text);
	}
	return CTRACE_RC_OK;
}

/* One statement of a member.  Its own SUB and state count, else the command's. */
static uint32_t statement_transact(const struct ctrace_trace_ct *command,
				   const struct ct_trace_request *statement,
				   struct ctrace_outcome *out)
{
	struct ct_trace_request request = *statement;
	struct ct_path path;
	uint32_t rc;

	if (request.state == CTRACE_CT_NONE)
		request.state = command->state;
	if (request.has[CT_CLAUSE_SUB] && command->sub != NULL && command->sub[0] != '\0')
		return ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_MEMBER_SUB,
				      "SUB is in the command and, line %u, in member %s",
				      request.place[CT_CLAUSE_SUB].line, command->parm);
	if (request.has[CT_CLAUSE_SUB]) {
		ct_path_build(command->name, &request.sub, &path);
	} else {
		rc = ct_path_parse(command->name, command->sub, &path, out);
		if (rc != CTRACE_RC_OK)
			return rc;
	}
	return request_transact(&path, &request, command->parm, out);
}

/* Names the member's statement unless the message begins with its position already. */
static void statement_name(const struct ctrace_trace_ct *command,
			   const struct ct_trace_request *statement, struct ctrace_outcome *out)
{
	char message[sizeof out->message];
	enum ct_clause clause = statement->has[CT_CLAUSE_SUB] ? CT_CLAUSE_SUB : CT_CLAUSE_STATE;
	size_t size = strlen(command->parm);

	memcpy(message, out->message, sizeof message);
	if (statement->has[clause] &&
	    (strncmp(message, command->parm, size) != 0 || message[size] != ':'))
		(void)snprintf(out->message, sizeof out->message, "%s:%u:%u: %.200s", command->parm,
			       statement->place[clause].line, statement->place[clause].column,
			       message);
}

/* Carries out every statement; the outcome is the first failure's. */
static uint32_t member_run(const struct ctrace_trace_ct *command, struct ctrace_outcome *out)
{
	struct ctrace_outcome one;
	struct ct_parmlib parmlib;
	uint32_t failed = 0;
	uint32_t rc = ct_member_read(command->parm, &parmlib, out);
	bool has_writer;

	if (rc != CTRACE_RC_OK)
		return rc;
	has_writer = parmlib.wtrstart[0] != '\0' || parmlib.wtrstop[0] != '\0';
	for (uint32_t i = 0; i < parmlib.count; i++) {
		memset(&one, 0, sizeof one);
		if (statement_transact(command, &parmlib.requests[i], &one) == CTRACE_RC_OK) {
			if (failed == 0)
				*out = one;
		} else if (failed++ == 0) {
			*out = one;
			statement_name(command, &parmlib.requests[i], out);
		}
	}
	if (failed != 0 && failed < parmlib.count)
		(void)ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_NOT_ALL, NULL);
	if (parmlib.count == 0)
		(void)ct_outcome_set(out, CTRACE_RC_REFUSED, CTRACE_RSN_NO_STATE,
				     "member %s says nothing of a trace%s", command->parm,
				     has_writer ? "; WTRSTART and WTRSTOP have no effect here"
						: "");
	else if (has_writer && out->rc == CTRACE_RC_OK && out->message[0] == '\0')
		(void)ct_outcome_set(
			out, CTRACE_RC_OK, 0,
			"WTRSTART and WTRSTOP are an operator's: a program cannot start or stop a writer");
	ct_parmlib_fini(&parmlib);
	return out->rc;
}

static uint32_t command_run(const void *from, struct ctrace_outcome *out)
{
	const struct ctrace_trace_ct *command = from;
	struct ct_trace_request request;
	struct ct_path path;
	uint32_t rc;

	if (command == NULL)
		return ct_outcome_set(out, CTRACE_RC_ABEND, 0x301, "no command");
	rc = command_check(command, out);
	if (rc != CTRACE_RC_OK)
		return rc;
	if (ct_is_coded(command->parm))
		return member_run(command, out);
	rc = ct_path_parse(command->name, command->sub, &path, out);
	if (rc == CTRACE_RC_OK)
		rc = request_read(command, &request, out);
	return rc == CTRACE_RC_OK ? request_transact(&path, &request, NULL, out) : rc;
}

static uint32_t command_run_parsed(const void *from, struct ctrace_outcome *out)
{
	const struct ct_trace_command *command = from;
	struct ct_path path;
	uint32_t rc = command_check_name(command->name, command->sub[0] != '\0', out);

	if (rc == CTRACE_RC_OK)
		rc = ct_path_parse(command->name, command->sub, &path, out);
	return rc == CTRACE_RC_OK ? request_transact(&path, &command->request, NULL, out) : rc;
}

/* Runs in the program's thread and keeps errno. */
static uint32_t command_enter(uint32_t (*run_it)(const void *from, struct ctrace_outcome *out),
			      const void *from, struct ctrace_outcome *out)
{
	CT_CANCEL_OFF();
	struct ctrace_outcome unwanted = { .rc = CTRACE_RC_OK };
	int kept = errno;
	uint32_t rc;

	out = out != NULL ? out : &unwanted;
	memset(out, 0, sizeof *out);
	if (ct_thread_locked != 0)
		rc = ct_outcome_set(out, CTRACE_RC_SYSTEM, CTRACE_RSN_RECOVERY,
				    "a signal handler cannot give a command");
	else
		rc = run_it(from, out);
	errno = kept;
	return rc;
}

uint32_t ctrace_trace_ct(const struct ctrace_trace_ct *command, struct ctrace_outcome *out)
{
	return command_enter(command_run, command, out);
}

/* Routines that an operator's command calls run on the thread of the command. */
static __thread uint64_t command_cart;

uint64_t ct_command_cart(void)
{
	return command_cart;
}

uint32_t ct_trace_ct(const struct ct_trace_command *command, struct ctrace_outcome *out)
{
	uint32_t rc;

	command_cart = command->cart;
	rc = command_enter(command_run_parsed, command, out);
	command_cart = 0;
	return rc;
}

/* ---- commands of the other interface ---- */

/* CBL_CTF_LEVEL or the like has set the trace's own threshold: calls its routine when this
 * switches the trace on or off. */
static void trace_follow_level(struct ct_transaction *transaction, uint32_t level)
{
	struct ct_trace *trace = transaction->traces[0];
	struct ct_status status;
	struct ct_wanted wanted = { .call = true, .status = &status };
	struct ctrace_outcome ignored = { .rc = CTRACE_RC_OK };

	if (!trace->is_defined || level == CT_LEVEL_UNSET)
		return;
	ct_status_get(trace, &status);
	if (!trace->follows && status.mode == CTRACE_MODE_ON && level != CTRACE_LEVEL_NONE) {
		if (trace->status != NULL)
			trace->status->level = level;
		/* a command that this thread waited for may have set another level */
		(void)!ct_change_publish(trace);
		return;
	}
	if (!trace->follows && status.mode != CTRACE_MODE_ON && level == CTRACE_LEVEL_NONE)
		return;
	if (level == CTRACE_LEVEL_NONE) {
		struct ct_trace_request off = { .state = CTRACE_CT_OFF };

		ct_status_merge(&status, &off, ct_trace_attributes(trace));
	} else {
		status.mode = CTRACE_MODE_ON;
		status.level = level;
	}
	/* Refused, or a head without options: restores the former level. */
	if (ct_only_groups(&trace->attributes) ||
	    ct_change_carry_out(transaction, &wanted, &ignored) != CTRACE_RC_OK)
		(void)!ct_change_publish(trace);
}

void ct_component_change(const struct ct_change *change, void *user)
{
	enum ct_transaction_result result = CT_TRANSACTION_REFUSED;
	struct ct_transaction transaction;
	struct ct_trace *trace;
	uint32_t level;

	(void)user;
	if (change->kind != CT_CHANGE_LEVEL)
		return;
	level = ct_registry_configured(ct_process.registry, change->component).level;
	ct_transaction_init(&transaction, "a level command");
	ct_table_lock();
	trace = ct_table_find(change->component);
	if (trace != NULL && (trace->is_defined || trace->transaction != NULL))
		result = ct_transaction_add_tree(&transaction, trace, true);
	/* Either this thread's own command is working on the trace (the change is its own, or
	 * its routine set the threshold), or the command has not ended in time.  In both cases
	 * that command settles the threshold when it ends. */
	if (trace != NULL &&
	    (result == CT_TRANSACTION_REFUSED || result == CT_TRANSACTION_TIMED_OUT))
		trace->is_unsettled = true;
	if (result == CT_TRANSACTION_TIMED_OUT && change->out_status != NULL)
		*change->out_status = CTRACE_TIMED_OUT;
	ct_table_unlock();
	if (result == CT_TRANSACTION_OK)
		trace_follow_level(&transaction, level);
	ct_transaction_end(&transaction);
}

/* ---- a forked child ---- */

static void trace_publish_filtered(struct ct_trace *trace, void *user)
{
	(void)user;
	if (trace->is_defined && trace->status != NULL &&
	    (trace->status->asid_count != 0 || trace->status->jobname_count != 0))
		(void)!ct_change_publish(trace);
}

void ct_component_forked(void)
{
	ct_table_reset_interrupted();
	ct_table_lock();
	ct_table_each(trace_publish_filtered, NULL);
	ct_table_unlock();
}
