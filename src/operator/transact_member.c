/*
 * transact_member.c - TRACE CT with PARM: a member becomes transactions.
 *
 * Called by the operator's tools.  The member is read here, once, so that all processes do the
 * same, and so that its errors are reported before anything is done.  First the member's writer is
 * started, then the statements are carried out in order, then a writer is stopped.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/transact.h"

#include <string.h>

#include "lib/component/component.h"
#include "operator/writer_control.h"

struct reading {
	const char *path;
	struct wto *wto;
};

static void report_diagnostic(const struct ct_diagnostic *diagnostic, void *user)
{
	const struct reading *reading = user;
	char place[4200];
	char number[16];

	(void)snprintf(place, sizeof place, "%s:%u:%u", reading->path, diagnostic->line,
		       diagnostic->column);
	(void)snprintf(number, sizeof number, "0C %02X", diagnostic->code);
	ct_wto(reading->wto, CTR016I, place, diagnostic->message, diagnostic->expected, number,
	       NULL);
}

void ct_member_report_unreadable(struct wto *wto, const char *member, const char *path,
				 uint32_t reason)
{
	const struct ct_reason_row *row = ct_reason_find(CTRACE_RC_REFUSED, reason, 0);
	const char *directories = ct_os_environment("CTRACE_PARMLIB");
	char where[4300] = "";
	char number[16];

	(void)snprintf(number, sizeof number, "0C %02X", reason);
	if (path[0] != '\0')
		(void)snprintf(where, sizeof where, ": %s", path);
	else if (directories != NULL && reason != CTRACE_RSN_MEMBER_NAME)
		(void)snprintf(where, sizeof where, ": CTRACE_PARMLIB=%.4000s", directories);
	ct_wto(wto, CTR015I, member, row != NULL ? row->meaning : "", number, where, NULL);
}

/* ---- the statements ---- */

static void statement_place(const char *member, const struct ct_trace_request *statement,
			    char out[48])
{
	enum ct_clause clause = CT_CLAUSE_SUB;

	while (clause < CT_CLAUSE_COUNT && !statement->has[clause])
		clause++;
	if (clause < CT_CLAUSE_COUNT)
		(void)snprintf(out, 48, "%.8s:%u:%u", member, statement->place[clause].line,
			       statement->place[clause].column);
	else
		(void)snprintf(out, 48, "%.8s", member);
}

/* Returns true when the command says OFF and the statement ON, or when both have a size for the
 * command's trace, and not the same. */
static bool statement_contradicts(const struct ct_operator_command *command,
				  const struct ct_trace_request *statement)
{
	if (statement->state == CTRACE_CT_ON && command->state == CTRACE_CT_OFF)
		return true;
	return statement->has[CT_CLAUSE_BUFSIZE] && !statement->has[CT_CLAUSE_SUB] &&
	       command->bufsize != 0 && statement->bufsize != command->bufsize;
}

static void statement_add(struct transactions *all, const struct ct_operator_command *command,
			  const struct ct_trace_request *statement)
{
	char place[48];

	statement_place(command->member, statement, place);
	if (statement->has[CT_CLAUSE_SUB] && command->has_sub) {
		ct_wto(all->ask.wto, CTR017I, place, NULL);
		all->refused++;
		return;
	}
	if (statement_contradicts(command, statement)) {
		ct_wto(all->ask.wto, CTR018I, place, NULL);
		all->refused++;
		return;
	}
	if (statement->state == CTRACE_CT_NONE &&
	    command->state == CTRACE_CT_NONE) { /* reported here once, or each process would report
						   it, even one without the trace */
		ct_wto(all->ask.wto, CTR026I, place, NULL);
		all->refused++;
		return;
	}
	ct_transactions_add(all, command, statement, place);
}

/* ---- the member ---- */

static void statements_run(const struct ct_operator_command *command,
			   const struct ct_parmlib *parmlib, const struct target *target,
			   struct wto *wto)
{
	struct transactions all;

	ct_transactions_init(&all, target, wto);
	for (uint32_t i = 0; i < parmlib->count; i++)
		statement_add(&all, command, &parmlib->requests[i]);
	ct_transactions_run(&all);
	ct_transactions_fini(&all);
}

static void member_run(const struct ct_operator_command *command, const struct ct_parmlib *parmlib,
		       const struct target *target, struct wto *wto)
{
	struct writer_start start = { .name = parmlib->wtrstart,
				      .has_mode = parmlib->nowrap,
				      .nowrap = parmlib->nowrap,
				      .may_run = true };

	/* Without its writer a trace would go to its destinations instead, which the member did
	 * not ask for. */
	if (parmlib->wtrstart[0] != '\0' && !ct_writer_start(&start, wto)) {
		ct_wto(wto, ITT038I, "NONE", NULL);
		return;
	}
	if (parmlib->count != 0)
		statements_run(command, parmlib, target, wto);
	if (parmlib->wtrstop[0] != '\0')
		(void)ct_writer_stop(parmlib->wtrstop, false, wto);
}

void ct_member_run(const struct ct_operator_command *command, const struct target *target,
		   struct wto *wto)
{
	char path[4096];
	struct reading reading = { .path = path, .wto = wto };
	struct ct_parmlib parmlib = { 0 };
	struct ct_buf text;
	uint32_t reason;

	ct_buf_init(&text);
	reason = ct_parmlib_read(command->member, &text, path);
	if (reason != 0) {
		ct_member_report_unreadable(wto, command->member, path, reason);
	} else {
		reason = ct_parmlib_parse(text.data, text.size, &parmlib, report_diagnostic,
					  &reading);
		if (reason > 0xFF)
			ct_wto(wto, CTR030I, NULL);
		else if (reason == 0)
			member_run(command, &parmlib, target, wto);
		ct_parmlib_fini(&parmlib);
	}
	if (reason != 0)
		ct_wto(wto, ITT038I, "NONE", NULL);
	ct_buf_fini(&text);
}
