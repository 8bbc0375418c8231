/*
 * transact.c - asks processes for the transactions of a TRACE CT, and reports the results.
 *
 * Called by the operator's tools.  All processes are asked at once, each for all transactions in
 * their order.  A process without the trace is a failure only when no process has the trace.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/transact.h"
#include "operator/recovery/recovery.h"

#include <stdlib.h>
#include <string.h>

#include "lib/component/component.h"
#include "operator/component_names.h"

#define MOST_SUBS_SHOWN 8u

void ct_transactions_init(struct transactions *all, const struct target *target, struct wto *wto)
{
	memset(all, 0, sizeof *all);
	all->cart = ct_clock_wall_ns();
	ct_ask_init(&all->ask, target, wto);
}

void ct_transactions_fini(struct transactions *all)
{
	free(all->items);
	ct_ask_fini(&all->ask);
}

/* ---- what is asked ---- */

static struct transaction *item_add(struct transactions *all)
{
	if (all->count == all->capacity) {
		size_t capacity = all->capacity != 0 ? all->capacity * 2 : 16;
		struct transaction *items = reallocarray(all->items, capacity, sizeof *items);

		if (items == NULL) {
			all->failed = true;
			return NULL;
		}
		all->items = items;
		all->capacity = capacity;
	}
	memset(&all->items[all->count], 0, sizeof *all->items);
	return &all->items[all->count++];
}

static void item_add_trace(struct transactions *all, const struct ct_trace_command *command,
			   const char *place, bool is_of_glob)
{
	struct transaction *transaction = item_add(all);

	if (transaction == NULL)
		return;
	memcpy(transaction->component, command->name, sizeof transaction->component);
	memcpy(transaction->sub, command->sub, sizeof transaction->sub);
	(void)snprintf(transaction->place, sizeof transaction->place, "%s%s", place,
		       place[0] != '\0' ? " " : "");
	transaction->is_preset = command->request.state >= CTRACE_CT_PRESET_PUT;
	transaction->is_of_glob = is_of_glob;
	ct_trace_command_encode(&all->ask.request, command);
	all->failed = all->failed || all->ask.request.failed;
}

/* Returns true if there is a process to ask.  Reports only the first time that there is none. */
static bool peers_find(struct transactions *all)
{
	if (!all->has_looked)
		all->failed |= ct_ask_find(&all->ask) == CTRACE_NOT_ENOUGH_MEMORY;
	all->has_looked = true;
	return all->ask.peers.count != 0;
}

/* Adds each trace that matches the patterns, by its full name. */
static void items_add_pattern(struct transactions *all, const struct ct_trace_command *command,
			      const char *place)
{
	struct ct_trace_command one = *command;
	char pattern[2 * CTRACE_MAX_COMPONENT + 2];
	char where[50];
	struct component_names names;

	if (!peers_find(all)) {
		all->refused++;
		return;
	}
	(void)snprintf(pattern, sizeof pattern, "%s%s%s", command->name,
		       command->sub[0] != '\0' ? "." : "", command->sub);
	(void)snprintf(where, sizeof where, "%s%s", place, place[0] != '\0' ? " " : "");
	ct_component_names_get(&all->ask.peers, pattern, &names);
	all->failed |= names.failed;
	if (names.count == 0) {
		ct_wto(all->ask.wto, CTR014I, where, "a trace that fits ", pattern, NULL);
		all->refused++;
	}
	if (names.is_cut) {
		ct_wto(all->ask.wto, CTR029I, where, pattern, NULL);
		all->refused++;
	}
	one.sub[0] = '\0';
	for (size_t i = 0; i < names.count; i++) {
		(void)snprintf(one.name, sizeof one.name, "%s", names.items[i]);
		item_add_trace(all, &one, place, true);
	}
	ct_component_names_fini(&names);
}

void ct_transactions_add(struct transactions *all, const struct ct_operator_command *command,
			 const struct ct_trace_request *request, const char *place)
{
	struct ct_trace_command one = { .request = *request, .cart = all->cart };
	struct ct_buf sub;

	ct_buf_init(&sub);
	if (request->has[CT_CLAUSE_SUB])
		ct_sub_print(&request->sub, &sub);
	memcpy(one.name, command->component, sizeof one.name);
	(void)snprintf(one.sub, sizeof one.sub, "%s",
		       command->has_sub ? command->sub : ct_buf_text(&sub));
	all->failed |= sub.failed;
	ct_buf_fini(&sub);
	if (request->state == CTRACE_CT_NONE)
		one.request.state = command->state;
	/* The command's size is the default of the request. */
	if (!request->has[CT_CLAUSE_BUFSIZE] && command->bufsize != 0) {
		one.request.has[CT_CLAUSE_BUFSIZE] = true;
		one.request.bufsize = command->bufsize;
	}
	if (ct_is_pattern(one.name) || ct_is_pattern(one.sub))
		items_add_pattern(all, &one, place);
	else
		item_add_trace(all, &one, place, false);
}

/* ---- what is answered ---- */

enum answer_kind { ANSWER_GONE, ANSWER_DONE, ANSWER_REFUSED, ANSWER_ABSENT };

struct answer {
	enum answer_kind kind;
	struct ctrace_outcome outcome;
	char message[256]; /* the reason, when there is no outcome */
};
/* All answers: [process][transaction].  A missing answer is ANSWER_GONE. */
struct answers {
	const struct transactions *all;
	struct answer *items;
};

static void message_copy(struct answer *answer, const char *text, size_t size)
{
	size_t most = sizeof answer->message - 1;

	size = size < most ? size : most;
	memcpy(answer->message, text, size);
	answer->message[size] = '\0';
}

static bool outcome_read(const struct ct_message *message, struct ctrace_outcome *out)
{
	struct ct_span bytes = ct_message_find(message, CT_FIELD_OUTCOME);

	memset(out, 0, sizeof *out);
	if (bytes.at == NULL || bytes.size < offsetof(struct ctrace_outcome, message))
		return false;
	memcpy(out, bytes.at, bytes.size < sizeof *out ? bytes.size : sizeof *out);
	out->message[sizeof out->message - 1] = '\0';
	return true;
}

static bool outcome_is_absent(const struct transaction *transaction,
			      const struct ctrace_outcome *outcome)
{
	uint32_t reason = CTRACE_REASON(outcome->rsncode);

	return outcome->rc == CTRACE_RC_REFUSED &&
	       (reason == CTRACE_RSN_NOT_DEFINED ||
		(transaction->is_preset && reason == CTRACE_RSN_NO_HEAD));
}

static void answer_read(const struct transaction *transaction, const struct ct_message *message,
			struct answer *out)
{
	uint64_t status = ct_message_number(message, CT_FIELD_STATUS, CTRACE_OK);
	struct ct_span text = ct_message_find(message, CT_FIELD_MESSAGE);

	if (outcome_read(message, &out->outcome)) {
		out->kind = ANSWER_REFUSED;
		if (out->outcome.rc == CTRACE_RC_OK)
			out->kind = ANSWER_DONE;
		else if (outcome_is_absent(transaction, &out->outcome))
			out->kind = ANSWER_ABSENT;
		return;
	}
	out->kind = status == CTRACE_OK          ? ANSWER_DONE
		    : status == CTRACE_NOT_FOUND ? ANSWER_ABSENT
						 : ANSWER_REFUSED;
	if (text.at != NULL)
		message_copy(out, text.at, text.size);
	else if (out->kind == ANSWER_REFUSED)
		message_copy(out, ctrace_status_text((enum ctrace_status)status),
			     strlen(ctrace_status_text((enum ctrace_status)status)));
	out->outcome.rc = out->kind == ANSWER_DONE ? CTRACE_RC_OK : UINT32_MAX;
}

static void frame_take(const struct ct_peer *peer, size_t request, const struct ct_message *frame,
		       void *user)
{
	const struct answers *answers = user;
	const struct transactions *all = answers->all;

	if (frame != NULL && frame->verb == CT_VERB_TRACE_CT && request < all->count)
		answer_read(&all->items[request], frame,
			    &answers->items[(size_t)(peer - all->ask.peers.items) * all->count +
					    request]);
}

/* ---- messages ---- */

static void print_trace(const char *component, const char *sub, struct ct_buf *out)
{
	const char *dot = strchr(component, '.');

	if (sub[0] != '\0')
		ct_buf_add_format(out, "COMP=%s SUB=(%s)", component, sub);
	else if (dot != NULL)
		ct_buf_add_format(out, "COMP=%.*s SUB=(%s)", (int)(dot - component), component,
				  dot + 1);
	else
		ct_buf_add_format(out, "COMP=%s", component);
}

/* "CTAPP00:3:5 COMP=ABC SUB=(A) process 1234 ASID 0012 JOBNAME ABC" */
static void print_subject(const struct transaction *transaction, const struct ct_peer *peer,
			  struct ct_buf *out)
{
	ct_buf_add_text(out, transaction->place);
	print_trace(transaction->component, transaction->sub, out);
	ct_buf_add_char(out, ' ');
	ct_ask_add_process(out, peer);
}

static void print_codes(const struct ctrace_outcome *outcome, struct ct_buf *out)
{
	if (outcome->rc == CTRACE_RC_ABEND)
		ct_buf_add_format(out, "10 abend 00D reason %08X", outcome->abend);
	else if (outcome->rsncode != 0)
		ct_buf_add_format(out, "%02X reason %02X", outcome->rc,
				  CTRACE_REASON(outcome->rsncode));
	else
		ct_buf_add_format(out, "%02X", outcome->rc);
}

/* Returns true if ctrace's own message includes the text of the reason. */
static bool message_covers_reason(const struct ctrace_outcome *outcome)
{
	static const uint32_t reasons[] = { CTRACE_RSN_BUFSIZE_LIMITS, CTRACE_RSN_NO_ASIDS,
					    CTRACE_RSN_NO_JOBS,        CTRACE_RSN_NO_WTR,
					    CTRACE_RSN_NOT_MODIFIABLE, CTRACE_RSN_HEAD_NO_OPTIONS,
					    CTRACE_RSN_BUFDEFIN,       CTRACE_RSN_NO_STATE,
					    CTRACE_RSN_NO_HEAD };

	if (outcome->message[0] == '\0' || outcome->rc == CTRACE_RC_ABEND)
		return false;
	for (size_t i = 0; i < CT_COUNT(reasons); i++)
		if (outcome->rc == CTRACE_RC_REFUSED &&
		    CTRACE_REASON(outcome->rsncode) == reasons[i])
			return true;
	return outcome->rc == CTRACE_RC_EXISTS;
}

static void print_detail(const struct ctrace_outcome *outcome, struct ct_buf *out)
{
	if (message_covers_reason(outcome)) {
		ct_buf_add_text(out, outcome->message);
		return;
	}
	ct_buf_add_text(out, ctrace_outcome_text(outcome));
	if (outcome->ss_rc != 0 || outcome->ss_rsncode != 0)
		ct_buf_add_format(out, "; the routine's RC %02X reason %08X", outcome->ss_rc,
				  outcome->ss_rsncode);
	if (outcome->message[0] != '\0')
		ct_buf_add_format(out, "; %s", outcome->message);
}

static void report_answer_refused(const struct transaction *transaction, const struct ct_peer *peer,
				  const struct answer *answer, struct wto *wto)
{
	struct ct_buf subject, codes, detail;

	ct_buf_init(&subject);
	ct_buf_init(&codes);
	ct_buf_init(&detail);
	print_subject(transaction, peer, &subject);
	if (answer->kind == ANSWER_GONE) {
		ct_wto(wto, CTR013I, ct_buf_text(&subject),
		       "gave an answer that ends before this transaction", NULL);
	} else if (answer->outcome.rc == UINT32_MAX) {
		ct_wto(wto, CTR012I, ct_buf_text(&subject), "08", answer->message, NULL);
	} else {
		print_codes(&answer->outcome, &codes);
		print_detail(&answer->outcome, &detail);
		ct_wto(wto, CTR012I, ct_buf_text(&subject), ct_buf_text(&codes),
		       ct_buf_text(&detail), NULL);
	}
	ct_buf_fini(&subject);
	ct_buf_fini(&codes);
	ct_buf_fini(&detail);
}

static void report_done(const struct transaction *transaction, const struct ct_peer *peer,
			const struct answer *answer, struct wto *wto)
{
	const char *message =
		answer->outcome.message[0] != '\0' ? answer->outcome.message : answer->message;
	struct ct_buf subject;

	if (message[0] == '\0')
		return;
	ct_buf_init(&subject);
	print_subject(transaction, peer, &subject);
	ct_wto(wto, CTR010I, ct_buf_text(&subject), message, NULL);
	ct_buf_fini(&subject);
}

/* Adds the trace on the same level whose name is spelt most nearly so. */
static bool hint_nearest(const struct ct_peers *peers, const char *name, struct ct_buf *out)
{
	char pattern[2 * CTRACE_MAX_COMPONENT + 2];
	struct component_names names;
	const char *nearest;
	size_t size = 0;

	for (const char *dot = name; dot != NULL && size + 2 < sizeof pattern;
	     dot = strchr(dot + 1, '.')) {
		pattern[size++] = '*';
		pattern[size++] = '.';
	}
	pattern[size - 1] = '\0';
	ct_component_names_get(peers, pattern, &names);
	nearest = ct_suggest((struct ct_span){ name, strlen(name) },
			     (const char *const *)names.items, names.count);
	if (nearest != NULL) {
		ct_buf_add_text(out, "; the nearest is ");
		print_trace(nearest, "", out);
	}
	ct_component_names_fini(&names);
	return nearest != NULL;
}

/* Adds the sublevels of the trace, if the trace exists. */
static void hint_subs(const struct ct_peers *peers, const char *component, struct ct_buf *out)
{
	char pattern[CTRACE_MAX_COMPONENT + 3];
	struct component_names names;

	(void)snprintf(pattern, sizeof pattern, "%s.*", component);
	ct_component_names_get(peers, pattern, &names);
	for (size_t i = 0; i < names.count && i < MOST_SUBS_SHOWN; i++)
		ct_buf_add_format(out, "%s(%s)", i == 0 ? "; it has SUB=" : ", ",
				  names.items[i] + strlen(component) + 1);
	if (names.count > MOST_SUBS_SHOWN)
		ct_buf_add_text(out, ", ...");
	ct_component_names_fini(&names);
}

static void report_nobody_has(const struct ask *ask, struct transaction *transaction)
{
	bool has_sub = transaction->sub[0] != '\0';
	char whole[2 * CTRACE_MAX_COMPONENT + 2];
	struct ct_buf name, hint;

	ct_buf_init(&name);
	ct_buf_init(&hint);
	print_trace(transaction->component, transaction->sub, &name);
	(void)snprintf(whole, sizeof whole, "%s%s%s", transaction->component, has_sub ? "." : "",
		       transaction->sub);
	if (!hint_nearest(&ask->peers, whole, &hint) && has_sub)
		hint_subs(&ask->peers, transaction->component, &hint);
	ct_wto(ask->wto, CTR014I, transaction->place, ct_buf_text(&name), ct_buf_text(&hint), NULL);
	ct_buf_fini(&name);
	ct_buf_fini(&hint);
	transaction->failed++;
}

/* A preset is one file for all processes: when one process has changed it, the others find
 * nothing to do. */
static bool answer_is_moot(const struct transaction *transaction, const struct answer *answer)
{
	return transaction->is_preset && transaction->done != 0 &&
	       answer->outcome.rc == CTRACE_RC_EXISTS;
}

static bool answer_is_failure(const struct transaction *transaction, const struct ct_peer *peer,
			      const struct answer *answer)
{
	if (answer->kind == ANSWER_GONE)
		/* a missing answer is reported once for the process */
		return peer->answer.size != 0;
	return answer->kind == ANSWER_REFUSED && !answer_is_moot(transaction, answer);
}

static void item_settle(const struct ask *ask, struct transaction *transaction,
			const struct answer *column, size_t stride)
{
	const struct ct_peers *peers = &ask->peers;

	for (size_t i = 0; i < peers->count; i++)
		transaction->done += column[i * stride].kind == ANSWER_DONE;
	for (size_t i = 0; i < peers->count; i++) {
		const struct answer *answer = &column[i * stride];
		const struct ct_peer *peer = &peers->items[i];

		if (answer->kind == ANSWER_DONE)
			report_done(transaction, peer, answer, ask->wto);
		if (!answer_is_failure(transaction, peer, answer))
			continue;
		transaction->failed++;
		report_answer_refused(transaction, peer, answer, ask->wto);
	}
}

/* ---- all of them ---- */

static void report_result(const struct transactions *all, uint32_t silent)
{
	uint64_t done = 0;
	uint64_t failed = (uint64_t)silent + all->refused;

	for (size_t i = 0; i < all->count; i++) {
		done += all->items[i].done;
		failed += all->items[i].failed;
	}
	ct_wto(all->ask.wto, ITT038I, done == 0 ? "NONE" : failed == 0 ? "ALL" : "SOME", NULL);
	if (done == 0 || failed != 0)
		ct_wto_fail(all->ask.wto);
}

/* Returns how many gave no response. */
static uint32_t items_settle(struct transactions *all)
{
	struct answers answers = { .all = all,
				   .items = calloc(all->ask.peers.count * all->count,
						   sizeof *answers.items) };
	uint32_t silent;

	if (answers.items == NULL) {
		all->failed = true;
		return 0;
	}
	ct_ask_send(&all->ask);
	ct_ask_fold(&all->ask, frame_take, &answers);
	for (size_t i = 0; i < all->count; i++)
		item_settle(&all->ask, &all->items[i], &answers.items[i], all->count);
	silent = ct_ask_report(&all->ask);
	for (size_t i = 0; i < all->count && silent == 0;
	     i++) { /* the traces of a process without a response are not known */
		struct transaction *transaction = &all->items[i];

		if (transaction->done == 0 && transaction->failed == 0 && !transaction->is_of_glob)
			report_nobody_has(&all->ask, transaction);
	}
	free(answers.items);
	return silent;
}

void ct_transactions_run(struct transactions *all)
{
	uint32_t silent = 0;

	if (!all->failed && all->count != 0 && peers_find(all) && !all->failed)
		silent = items_settle(all);
	if (all->failed)
		ct_wto(all->ask.wto, CTR030I, NULL);
	report_result(all, silent);
}
