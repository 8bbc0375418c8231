/*
 * change_ask.c - asks running processes to change something, and understands what they answer.
 *
 * Called by the verbs level, dest, prop, reload, flush and rotate.  Answers come from other people's processes: every text is copied
 * as it is and only made harmless when it is printed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "change.h"

#include <stdlib.h>
#include <string.h>

#include "cmd.h"

void ct_change_init(struct change *change)
{
	memset(change, 0, sizeof(*change));
	change->empty = "\"\"";
	ct_buf_init(&change->request);
}

void ct_change_fini(struct change *change)
{
	for (size_t i = 0; i < change->count; i++) {
		free(change->rows[i].property);
		free(change->rows[i].subject);
		free(change->rows[i].old);
		free(change->rows[i].now);
		free(change->rows[i].said);
	}
	free(change->rows);
	ct_peers_fini(&change->peers);
	ct_buf_fini(&change->request);
}

/* ---- rows ---- */

void ct_change_set(struct change *change, char **text, struct ct_span value)
{
	char *copy = NULL;

	if (value.at != NULL) {
		copy = malloc(value.size + 1);
		if (copy == NULL) {
			change->failed = true;
			return;
		}
		memcpy(copy, value.at, value.size);
		copy[value.size] = '\0';
	}
	free(*text);
	*text = copy;
}

struct change_row *ct_change_add(struct change *change, const struct ct_peer *peer, struct ct_span subject)
{
	struct change_row *rows = change->rows;
	struct change_row *row;

	if ((change->count & (change->count + 1)) == 0) /* 0, 1, 3, 7...: full */
		rows = reallocarray(rows, change->count * 2 + 1, sizeof(*rows));
	if (rows == NULL) {
		change->failed = true;
		return NULL;
	}
	change->rows = rows;
	row = &rows[change->count++];
	*row = (struct change_row){ .peer = peer };
	ct_change_set(change, &row->subject, subject);
	return row;
}

/* The row of this component in the same process, when an answer before has made one. */
static struct change_row *find_row(struct change *change, const struct ct_peer *peer, struct ct_span subject)
{
	for (size_t i = change->count; i > 0 && change->rows[i - 1].peer == peer; i--) {
		struct change_row *row = &change->rows[i - 1];

		if (row->subject != NULL && ct_name_is(subject.at, subject.size, row->subject))
			return row;
	}
	return NULL;
}

/* ---- answers ---- */

/* While one process's answer is read. */
struct reading {
	struct change *change;
	const struct ct_peer *peer;
	enum ctrace_status status; /* of the answer that is being read */
	struct change_row *row;    /* the one that fields belong to; NULL: the process as a whole */
	struct ct_span said;       /* by the process as a whole */
	bool has_failed_row;       /* some row says what went wrong */
	bool is_repeated;          /* an answer before may have rows of the same components */
};

static void begin_row(struct reading *reading, struct ct_span subject)
{
	reading->row = reading->is_repeated ? find_row(reading->change, reading->peer, subject) : NULL;
	if (reading->row == NULL)
		reading->row = ct_change_add(reading->change, reading->peer, subject);
}

static void read_field(struct reading *reading, enum ct_field field, struct ct_span value)
{
	struct change_row *row = reading->row;

	switch (field) {
	case CT_FIELD_COMPONENT:
	case CT_FIELD_EMITTER:
		begin_row(reading, value);
		return;
	case CT_FIELD_PROPERTY:
		if (row != NULL)
			ct_change_set(reading->change, &row->property, value);
		return;
	case CT_FIELD_OLD:
		/* Of several commands in one request the first knows what was. */
		if (row != NULL && row->old == NULL && row->now == NULL)
			ct_change_set(reading->change, &row->old, value);
		return;
	case CT_FIELD_NEW:
	case CT_FIELD_VALUE:
		if (row != NULL)
			ct_change_set(reading->change, &row->now, value);
		return;
	case CT_FIELD_MESSAGE:
		if (row == NULL) {
			reading->said = value;
			return;
		}
		ct_change_set(reading->change, &row->said, value);
		row->failed |= reading->status != CTRACE_OK;
		reading->has_failed_row |= row->failed;
		return;
	case CT_FIELD_NUMBER: /* which is there when it is not 0 */
		reading->change->failed |= reading->change->has_mistakes && value.size == sizeof(uint64_t) &&
					   memcmp(value.at, &(uint64_t){ 0 }, sizeof(uint64_t)) != 0;
		return;
	default:
		return;
	}
}

static bool has_rows(const struct change *change, const struct ct_peer *peer)
{
	return change->count != 0 && change->rows[change->count - 1].peer == peer;
}

/* What the process said of the whole request is a row of its own, unless a row says already what went wrong. */
static void end_answer(const struct reading *reading)
{
	struct change *change = reading->change;
	bool is_known = has_rows(change, reading->peer);
	struct ct_span said = reading->said;
	struct change_row *row;

	if (reading->has_failed_row || (!is_known && reading->status == CTRACE_NOT_FOUND && change->subject != NULL))
		return;
	if (said.at == NULL && reading->status != CTRACE_OK)
		said.at = ctrace_status_text(reading->status);
	else if (said.at == NULL && !is_known)
		said.at = change->done;
	if (said.at == NULL)
		return;
	if (reading->said.at == NULL)
		said.size = strlen(said.at);
	row = ct_change_add(change, reading->peer, (struct ct_span){ 0 });
	if (row == NULL)
		return;
	row->failed = reading->status != CTRACE_OK;
	ct_change_set(change, &row->said, said);
}

static void read_frame(struct reading *reading, const struct ct_message *message, bool is_first)
{
	struct ct_span fields = message->fields;
	enum ct_field field;
	struct ct_span value;

	if (is_first) {
		reading->status = (enum ctrace_status)ct_message_number(message, CT_FIELD_STATUS, CTRACE_OK);
		reading->row = NULL;
		reading->said = (struct ct_span){ 0 };
		reading->has_failed_row = false;
	}
	while (ct_message_next(&fields, &field, &value))
		read_field(reading, field, value);
}

static void add_silence(struct change *change, const struct ct_peer *peer, const char *silence)
{
	struct change_row *row;

	change->failed = true;
	/* It is said on stderr already; the document for programs has it as well. */
	row = change->target.is_json ? ct_change_add(change, peer, (struct ct_span){ 0 }) : NULL;
	if (row != NULL) {
		row->failed = true;
		ct_change_set(change, &row->said, (struct ct_span){ silence, strlen(silence) });
	}
}

/* By name; what concerns the process as a whole comes last. */
static int compare_rows(const void *a, const void *b)
{
	const struct change_row *one = a;
	const struct change_row *other = b;

	if (one->subject == NULL || other->subject == NULL)
		return (one->subject == NULL) - (other->subject == NULL);
	if (one->property != NULL && other->property != NULL && strcasecmp(one->subject, other->subject) == 0)
		return strcasecmp(one->property, other->property);
	return strcasecmp(one->subject, other->subject);
}

void ct_change_read(struct change *change, const struct ct_peer *peer)
{
	struct reading reading = { .change = change, .peer = peer };
	const char *silence = ct_target_silence(peer);
	size_t first = change->count;
	struct ct_message message;
	bool is_first = true;
	size_t at = 0;

	if (silence != NULL)
		add_silence(change, peer, silence);
	while (ct_client_next(peer, &at, &message)) {
		read_frame(&reading, &message, is_first);
		is_first = (message.flags & CT_MESSAGE_MORE) == 0;
		if (is_first)
			end_answer(&reading);
		reading.is_repeated |= is_first;
	}
	if (change->count != first)
		qsort(change->rows + first, change->count - first, sizeof(*change->rows), compare_rows);
}

void ct_change_ask(struct change *change)
{
	ct_target_ask_these(&change->target, &change->request, &change->peers);
	for (size_t i = 0; i < change->peers.count; i++)
		ct_change_read(change, &change->peers.items[i]);
}

/* ---- the way of a verb ---- */

static void forget_others(struct change *change)
{
	struct ct_peers *peers = &change->peers;
	size_t kept = 0;

	for (size_t i = 0; i < peers->count; i++) {
		if (!ct_change_has(&peers->items[i], change->subject)) {
			ct_buf_fini(&peers->items[i].answer);
			continue;
		}
		if (kept != i)
			peers->items[kept] = peers->items[i];
		kept++;
	}
	/* Nobody is forgotten before the names of all were looked at. */
	if (kept == 0)
		ct_change_complain_nobody(change);
	peers->count = kept;
}

enum ctrace_status ct_change_find(struct change *change)
{
	enum ctrace_status status = ct_target_find(&change->target, &change->peers);

	if (status != CTRACE_OK || change->subject == NULL || change->subject[0] == '\0')
		return status;
	forget_others(change);
	return change->peers.count == 0 ? CTRACE_NOT_FOUND : CTRACE_OK;
}

int ct_change_finish(struct change *change)
{
	bool is_all_well = change->count != 0 && !change->failed;

	if (change->count == 0 && !change->failed && change->subject != NULL)
		ct_change_complain_nobody(change);
	for (size_t i = 0; i < change->count; i++)
		is_all_well &= !change->rows[i].failed;
	ct_change_print_people(change);
	if (change->target.is_json && !ct_change_print_json(change)) {
		fprintf(stderr, "%s: not enough memory\n", change->target.verb);
		return CMD_NOTHING;
	}
	return is_all_well ? CMD_DONE : CMD_NOTHING;
}

void ct_change_gather(struct change *change)
{
	if (change->request.failed)
		fprintf(stderr, "%s: the request is too long\n", change->target.verb);
	if (change->request.failed || ct_change_find(change) != CTRACE_OK)
		change->failed = true;
	else
		ct_change_ask(change);
}

int ct_change_run(struct change *change)
{
	ct_change_gather(change);
	return ct_change_finish(change);
}
