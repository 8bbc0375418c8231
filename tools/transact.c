/*
 * transact.c - asks processes for the transactions of a TRACE CT, and says what came of them.
 *
 * Called by the operator's tools.  All processes are asked at once, each for all transactions in their order.  A process that does not
 * have the trace is no failure, unless none has it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "transact.h"

#include <stdlib.h>
#include <string.h>

#include "component/component.h"

void ct_transactions_init(struct transactions *all)
{
	memset(all, 0, sizeof *all);
	ct_buf_init(&all->request);
}

void ct_transactions_fini(struct transactions *all)
{
	free(all->items);
	ct_buf_fini(&all->request);
}

/* ---- what is asked ---- */

static struct transaction *add_item(struct transactions *all)
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

static void add_one(struct transactions *all, const struct ctrace_trace_ct *command, const char *place, bool is_of_glob)
{
	struct transaction *transaction = add_item(all);

	if (transaction == NULL)
		return;
	(void)snprintf(transaction->component, sizeof transaction->component, "%s", command->name);
	(void)snprintf(transaction->sub, sizeof transaction->sub, "%s", command->sub != NULL ? command->sub : "");
	(void)snprintf(transaction->place, sizeof transaction->place, "%s%s", place, place[0] != '\0' ? " " : "");
	transaction->is_preset = command->state >= CTRACE_CT_PRESET_PUT;
	transaction->is_of_glob = is_of_glob;
	ct_trace_ct_encode(&all->request, command);
	all->failed = all->failed || all->request.failed;
}

void ct_transact_say_nobody(const struct target *target, struct wto *wto)
{
	const struct ct_peer_filter *filter = &target->filter;
	bool is_for_all = filter->pid == 0 && filter->asid == 0 && filter->jobname == NULL;

	ct_wto(wto, CTR011I, is_for_all ? "is running" : "matches --job, --asid or --pid", NULL);
}

/* What one that is silent has is not known. */
static void say_none_fits(const struct trace_names *names, const char *glob, const char *place, const struct target *target,
			  struct wto *wto)
{
	char where[50];

	(void)snprintf(where, sizeof where, "%s%s", place, place[0] != '\0' ? " " : "");
	if (names->peers.count == 0)
		ct_transact_say_nobody(target, wto);
	else if (ct_transact_say_silent(&names->peers, wto) == 0)
		ct_wto(wto, CTR014I, where, "a trace that fits ", glob, NULL);
}

/* Each trace that the globs mean, by its whole name. */
static void add_glob(struct transactions *all, const struct ctrace_trace_ct *command, const char *place, const struct target *target,
		     struct wto *wto)
{
	bool has_sub = command->sub != NULL && command->sub[0] != '\0';
	struct ctrace_trace_ct one = *command;
	char glob[2 * CTRACE_MAX_COMPONENT + 2];
	struct trace_names names;

	(void)snprintf(glob, sizeof glob, "%s%s%s", command->name, has_sub ? "." : "", has_sub ? command->sub : "");
	if (!ct_trace_names_get(target, glob, &names)) {
		all->failed = true;
		return;
	}
	if (names.count == 0) {
		say_none_fits(&names, glob, place, target, wto);
		all->refused++;
	}
	for (size_t i = 0; i < names.count; i++) {
		one.name = names.items[i];
		one.sub = NULL;
		add_one(all, &one, place, true);
	}
	ct_trace_names_fini(&names);
}

void ct_transactions_add(struct transactions *all, const struct ctrace_trace_ct *command, const char *place,
			 const struct target *target, struct wto *wto)
{
	if (ct_is_glob(command->name) || (command->sub != NULL && ct_is_glob(command->sub)))
		add_glob(all, command, place, target, wto);
	else
		add_one(all, command, place, false);
}

/* ---- what is answered ---- */

enum answer_kind { ANSWER_DONE, ANSWER_REFUSED, ANSWER_ABSENT, ANSWER_GONE };

struct answer {
	enum answer_kind kind;
	struct ctrace_outcome outcome;
	char message[256]; /* when there is no outcome: why */
};
/* [process][transaction] */
struct answers {
	struct answer *items;
	size_t transactions;
};

static void copy_message(struct answer *answer, const char *text, size_t size)
{
	size_t most = sizeof answer->message - 1;

	size = size < most ? size : most;
	memcpy(answer->message, text, size);
	answer->message[size] = '\0';
}

static bool read_outcome(const struct ct_message *message, struct ctrace_outcome *out)
{
	struct ct_span bytes = ct_message_find(message, CT_FIELD_OUTCOME);

	memset(out, 0, sizeof *out);
	if (bytes.at == NULL || bytes.size < offsetof(struct ctrace_outcome, message))
		return false;
	memcpy(out, bytes.at, bytes.size < sizeof *out ? bytes.size : sizeof *out);
	out->message[sizeof out->message - 1] = '\0';
	return true;
}

static bool is_absent(const struct transaction *transaction, const struct ctrace_outcome *outcome)
{
	uint32_t reason = CTRACE_REASON(outcome->rsncode);

	return outcome->rc == CTRACE_RC_REFUSED &&
	       (reason == CTRACE_RSN_NOT_DEFINED || (transaction->is_preset && reason == CTRACE_RSN_NO_HEAD));
}

static void read_answer(const struct transaction *transaction, const struct ct_message *message, struct answer *out)
{
	uint64_t status = ct_message_number(message, CT_FIELD_STATUS, CTRACE_OK);
	struct ct_span text = ct_message_find(message, CT_FIELD_MESSAGE);

	if (read_outcome(message, &out->outcome)) {
		out->kind = ANSWER_REFUSED;
		if (out->outcome.rc == CTRACE_RC_OK)
			out->kind = ANSWER_DONE;
		else if (is_absent(transaction, &out->outcome))
			out->kind = ANSWER_ABSENT;
		return;
	}
	out->kind = status == CTRACE_OK ? ANSWER_DONE : status == CTRACE_NOT_FOUND ? ANSWER_ABSENT : ANSWER_REFUSED;
	if (text.at != NULL)
		copy_message(out, text.at, text.size);
	else if (out->kind == ANSWER_REFUSED)
		copy_message(out, ctrace_status_text((enum ctrace_status)status),
			     strlen(ctrace_status_text((enum ctrace_status)status)));
	out->outcome.rc = out->kind == ANSWER_DONE ? CTRACE_RC_OK : UINT32_MAX;
}

/* A process's frames are answered in order; what is missing at the end has no answer. */
static void read_peer(const struct transactions *all, const struct ct_peer *peer, struct answer *answers)
{
	struct ct_message message;
	size_t at = 0;
	size_t i = 0;

	for (size_t j = 0; j < all->count; j++)
		answers[j].kind = ANSWER_GONE;
	while (i < all->count && ct_client_next(peer, &at, &message)) {
		if (message.verb == CT_VERB_TRACE_CT)
			read_answer(&all->items[i], &message, &answers[i]);
		i += (message.flags & CT_MESSAGE_MORE) == 0;
	}
}

/* ---- what is said ---- */

void ct_trace_print(const char *component, const char *sub, struct ct_buf *out)
{
	const char *dot = strchr(component, '.');

	if (sub[0] != '\0')
		ct_buf_add_format(out, "COMP=%s SUB=(%s)", component, sub);
	else if (dot != NULL)
		ct_buf_add_format(out, "COMP=%.*s SUB=(%s)", (int)(dot - component), component, dot + 1);
	else
		ct_buf_add_format(out, "COMP=%s", component);
}

static void print_process(const struct ct_peer *peer, struct ct_buf *out)
{
	ct_buf_add_format(out, "process %u ASID %04X JOBNAME %.*s", peer->pid, peer->asid, (int)sizeof peer->jobname, peer->jobname);
}

/* "CTAPP00:3:5 COMP=ABC SUB=(A) process 1234 ASID 0012 JOBNAME ABC" */
static void print_subject(const struct transaction *transaction, const struct ct_peer *peer, struct ct_buf *out)
{
	ct_buf_add_text(out, transaction->place);
	ct_trace_print(transaction->component, transaction->sub, out);
	ct_buf_add_char(out, ' ');
	print_process(peer, out);
}

static void print_codes(const struct ctrace_outcome *outcome, struct ct_buf *out)
{
	if (outcome->rc == CTRACE_RC_ABEND)
		ct_buf_add_format(out, "10 abend 00D reason %08X", outcome->abend);
	else if (outcome->rsncode != 0)
		ct_buf_add_format(out, "%02X reason %02X", outcome->rc, CTRACE_REASON(outcome->rsncode));
	else
		ct_buf_add_format(out, "%02X", outcome->rc);
}

/* ctrace's own message says what the reason says, and more. */
static bool says_all(const struct ctrace_outcome *outcome)
{
	static const uint32_t reasons[] = { CTRACE_RSN_BUFSIZE_LIMITS, CTRACE_RSN_NO_ASIDS,       CTRACE_RSN_NO_JOBS,
					    CTRACE_RSN_NO_WTR,         CTRACE_RSN_NOT_MODIFIABLE, CTRACE_RSN_HEAD_NO_OPTIONS,
					    CTRACE_RSN_BUFDEFIN,       CTRACE_RSN_NO_STATE,       CTRACE_RSN_NO_HEAD };

	if (outcome->message[0] == '\0' || outcome->rc == CTRACE_RC_ABEND)
		return false;
	for (size_t i = 0; i < CT_COUNT(reasons); i++)
		if (outcome->rc == CTRACE_RC_REFUSED && CTRACE_REASON(outcome->rsncode) == reasons[i])
			return true;
	return outcome->rc == CTRACE_RC_EXISTS;
}

static void print_detail(const struct ctrace_outcome *outcome, struct ct_buf *out)
{
	if (says_all(outcome)) {
		ct_buf_add_text(out, outcome->message);
		return;
	}
	ct_buf_add_text(out, ctrace_outcome_text(outcome));
	if (outcome->ss_rc != 0 || outcome->ss_rsncode != 0)
		ct_buf_add_format(out, "; the routine's RC %02X reason %08X", outcome->ss_rc, outcome->ss_rsncode);
	if (outcome->message[0] != '\0')
		ct_buf_add_format(out, "; %s", outcome->message);
}

static void say_refused(const struct transaction *transaction, const struct ct_peer *peer, const struct answer *answer, struct wto *wto)
{
	struct ct_buf subject, codes, detail;

	ct_buf_init(&subject);
	ct_buf_init(&codes);
	ct_buf_init(&detail);
	print_subject(transaction, peer, &subject);
	if (answer->kind == ANSWER_GONE) {
		ct_wto(wto, CTR013I, ct_buf_text(&subject), "gave an answer that ends before this transaction", NULL);
	} else if (answer->outcome.rc == UINT32_MAX) {
		ct_wto(wto, CTR012I, ct_buf_text(&subject), "08", answer->message, NULL);
	} else {
		print_codes(&answer->outcome, &codes);
		print_detail(&answer->outcome, &detail);
		ct_wto(wto, CTR012I, ct_buf_text(&subject), ct_buf_text(&codes), ct_buf_text(&detail), NULL);
	}
	ct_buf_fini(&subject);
	ct_buf_fini(&codes);
	ct_buf_fini(&detail);
}

static void say_done(const struct transaction *transaction, const struct ct_peer *peer, const struct answer *answer, struct wto *wto)
{
	const char *message = answer->outcome.message[0] != '\0' ? answer->outcome.message : answer->message;
	struct ct_buf subject;

	if (message[0] == '\0')
		return;
	ct_buf_init(&subject);
	print_subject(transaction, peer, &subject);
	ct_wto(wto, CTR010I, ct_buf_text(&subject), message, NULL);
	ct_buf_fini(&subject);
}

static void say_nobody_has(struct transaction *transaction, const struct target *target, struct wto *wto)
{
	struct ct_buf name, hint;

	ct_buf_init(&name);
	ct_buf_init(&hint);
	ct_trace_print(transaction->component, transaction->sub, &name);
	ct_trace_names_hint(target, transaction, &hint);
	ct_wto(wto, CTR014I, transaction->place, ct_buf_text(&name), ct_buf_text(&hint), NULL);
	ct_buf_fini(&name);
	ct_buf_fini(&hint);
	transaction->failed++;
}

/* A preset is one file for all processes: when one has carried it out, the others find nothing more to do. */
static bool is_moot(const struct transaction *transaction, const struct answer *answer)
{
	return transaction->is_preset && transaction->done != 0 && answer->outcome.rc == CTRACE_RC_EXISTS;
}

static bool is_failure(const struct transaction *transaction, const struct ct_peer *peer, const struct answer *answer)
{
	if (answer->kind == ANSWER_GONE)
		return peer->answer.size != 0; /* else it is told once for the process */
	return answer->kind == ANSWER_REFUSED && !is_moot(transaction, answer);
}

static void settle(struct transaction *transaction, const struct ct_peers *peers, const struct answer *column, size_t stride,
		   struct wto *wto)
{
	for (size_t i = 0; i < peers->count; i++)
		transaction->done += column[i * stride].kind == ANSWER_DONE;
	for (size_t i = 0; i < peers->count; i++) {
		const struct answer *answer = &column[i * stride];
		const struct ct_peer *peer = &peers->items[i];

		if (answer->kind == ANSWER_DONE)
			say_done(transaction, peer, answer, wto);
		if (!is_failure(transaction, peer, answer))
			continue;
		transaction->failed++;
		say_refused(transaction, peer, answer, wto);
	}
}

/* ---- all of them ---- */

uint32_t ct_transact_say_silent(const struct ct_peers *peers, struct wto *wto)
{
	uint32_t silent = 0;

	for (size_t i = 0; i < peers->count; i++) {
		const char *silence = ct_target_silence(&peers->items[i]);
		struct ct_buf name;

		if (silence == NULL)
			continue;
		ct_buf_init(&name);
		print_process(&peers->items[i], &name);
		ct_wto(wto, CTR013I, ct_buf_text(&name), silence, NULL);
		ct_buf_fini(&name);
		silent++;
	}
	return silent;
}

static void say_result(const struct transactions *all, uint32_t silent, struct wto *wto)
{
	uint64_t done = 0;
	uint64_t failed = (uint64_t)silent + all->refused;

	for (size_t i = 0; i < all->count; i++) {
		done += all->items[i].done;
		failed += all->items[i].failed;
	}
	ct_wto(wto, ITT038I, done == 0 ? "NONE" : failed == 0 ? "ALL" : "SOME", NULL);
	if ((done == 0 || failed != 0) && wto->worst < CMD_NOTHING)
		wto->worst = CMD_NOTHING;
}

static bool settle_all(struct transactions *all, const struct ct_peers *peers, const struct target *target, uint32_t *out_silent,
		       struct wto *wto)
{
	struct answer *answers = calloc(peers->count * all->count + 1, sizeof *answers);

	if (answers == NULL)
		return false;
	for (size_t i = 0; i < peers->count; i++)
		read_peer(all, &peers->items[i], &answers[i * all->count]);
	for (size_t i = 0; i < all->count; i++) {
		struct transaction *transaction = &all->items[i];

		settle(transaction, peers, &answers[i], all->count, wto);
	}
	*out_silent = ct_transact_say_silent(peers, wto);
	for (size_t i = 0; i < all->count && *out_silent == 0; i++) { /* what one that is silent has is not known */
		struct transaction *transaction = &all->items[i];

		if (transaction->done == 0 && transaction->failed == 0 && !transaction->is_of_glob)
			say_nobody_has(transaction, target, wto);
	}
	free(answers);
	return true;
}

void ct_transactions_run(struct transactions *all, const struct target *target, struct wto *wto)
{
	struct ct_peers peers = { 0 };
	uint32_t silent = 0;
	bool is_short = all->failed;

	ct_tool_recover_on_the_way(target->verb);
	if (!is_short && all->count != 0) {
		is_short = ct_peers_find(&target->filter, &peers) == CTRACE_NOT_ENOUGH_MEMORY;
		if (!is_short && peers.count == 0)
			ct_transact_say_nobody(target, wto);
	}
	if (!is_short && peers.count != 0) {
		ct_client_ask(&peers, &all->request, target->timeout_ms);
		is_short = !settle_all(all, &peers, target, &silent, wto);
	}
	ct_peers_fini(&peers);
	if (is_short)
		ct_wto(wto, CTR030I, NULL);
	say_result(all, silent, wto);
}
