/*
 * change_ask.c - asks running processes to change something, and prints what they answer, in
 * columns or as one JSON document.
 *
 * Called by the verbs level, dest, prop, reload, flush and rotate.  Answers come from other
 * people's processes: every text is copied as it is and made harmless only when it is printed.
 * Without --json, failures go to stderr and the rest to stdout.  The manual pages of the verbs
 * describe the members of the JSON, which keep their meaning; new ones may come.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/change.h"

#include <stdlib.h>
#include <string.h>

#include "operator/component_names.h"
#include "print/json_text.h"

/* A longer name shifts only its own line. */
#define WIDEST_NAME 60

void ct_change_init(struct change *change)
{
	memset(change, 0, sizeof(*change));
	change->empty = "\"\"";
	ct_ask_init(&change->ask, &change->target, NULL);
}

void ct_change_fini(struct change *change)
{
	for (size_t i = 0; i < change->count; i++) {
		free(change->rows[i].property);
		free(change->rows[i].subject);
		free(change->rows[i].old);
		free(change->rows[i].now);
		free(change->rows[i].report);
	}
	free(change->rows);
	ct_ask_fini(&change->ask);
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

static struct change_row *row_add(struct change *change, const struct ct_peer *peer,
				  struct ct_span subject)
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

/* Returns the row of this component in the same process, if an earlier answer has made one. */
static struct change_row *row_find(struct change *change, const struct ct_peer *peer,
				   struct ct_span subject)
{
	for (size_t i = change->count; i > 0 && change->rows[i - 1].peer == peer; i--) {
		struct change_row *row = &change->rows[i - 1];

		if (row->subject != NULL && ct_name_is(subject.at, subject.size, row->subject))
			return row;
	}
	return NULL;
}

/* ---- answers ---- */

/* State while answers are read. */
struct reading {
	struct change *change;
	const struct ct_peer *peer;
	bool is_inside;            /* the first frame of an answer was read */
	enum ctrace_status status; /* of the answer */
	/* the row of the fields that follow; NULL: they concern the process as a whole */
	struct change_row *row;
	struct ct_span report; /* text about the process as a whole */
	bool has_failed_row;   /* a row of the answer reports the failure */
	/* an earlier answer may have rows of the same components */
	bool is_repeated;
};

static void row_begin(struct reading *reading, struct ct_span subject)
{
	reading->row =
		reading->is_repeated ? row_find(reading->change, reading->peer, subject) : NULL;
	if (reading->row == NULL)
		reading->row = row_add(reading->change, reading->peer, subject);
}

static void field_read(struct reading *reading, enum ct_field field, struct ct_span value)
{
	struct change_row *row = reading->row;

	switch (field) {
	case CT_FIELD_COMPONENT:
	case CT_FIELD_EMITTER:
		row_begin(reading, value);
		return;
	case CT_FIELD_PROPERTY:
		if (row != NULL)
			ct_change_set(reading->change, &row->property, value);
		return;
	case CT_FIELD_OLD:
		/* With several commands in one request, only the first knows the old value. */
		if (row != NULL && row->old == NULL && row->now == NULL)
			ct_change_set(reading->change, &row->old, value);
		return;
	case CT_FIELD_NEW:
	case CT_FIELD_VALUE:
		if (row != NULL)
			ct_change_set(reading->change, &row->now, value);
		return;
	case CT_FIELD_STATE:
		if (row != NULL && value.size == sizeof(uint64_t)) {
			row->has_state = true;
			row->is_enabled = memcmp(value.at, &(uint64_t){ 0 }, sizeof(uint64_t)) != 0;
		}
		return;
	case CT_FIELD_MESSAGE:
		if (row == NULL) {
			reading->report = value;
			return;
		}
		ct_change_set(reading->change, &row->report, value);
		row->failed |= reading->status != CTRACE_OK;
		reading->has_failed_row |= row->failed;
		return;
	case CT_FIELD_NUMBER: /* the field is only there when it is not 0 */
		reading->change->failed |=
			reading->change->has_diagnostics && value.size == sizeof(uint64_t) &&
			memcmp(value.at, &(uint64_t){ 0 }, sizeof(uint64_t)) != 0;
		return;
	default:
		return;
	}
}

static bool answer_has_rows(const struct change *change, const struct ct_peer *peer)
{
	return change->count != 0 && change->rows[change->count - 1].peer == peer;
}

/* Makes a row of the process's text about the whole request, unless a row already reports the
 * failure. */
static void answer_end(const struct reading *reading)
{
	struct change *change = reading->change;
	bool is_known = answer_has_rows(change, reading->peer);
	struct ct_span report = reading->report;
	struct change_row *row;

	if (reading->has_failed_row ||
	    (!is_known && reading->status == CTRACE_NOT_FOUND && change->subject != NULL))
		return;
	if (report.at == NULL && reading->status != CTRACE_OK)
		report.at = ctrace_status_text(reading->status);
	else if (report.at == NULL && !is_known)
		report.at = change->done;
	if (report.at == NULL)
		return;
	if (reading->report.at == NULL)
		report.size = strlen(report.at);
	row = row_add(change, reading->peer, (struct ct_span){ 0 });
	if (row == NULL)
		return;
	row->status = reading->status;
	row->failed = reading->status != CTRACE_OK;
	ct_change_set(change, &row->report, report);
}

static void row_add_no_response(struct change *change, const struct ct_peer *peer)
{
	const char *no_response = ct_ask_no_response(peer);
	struct change_row *row;

	change->failed = true;
	/* stderr has it already; the JSON document reports it as well. */
	row = change->target.is_json ? row_add(change, peer, (struct ct_span){ 0 }) : NULL;
	if (row != NULL) {
		row->failed = true;
		ct_change_set(change, &row->report,
			      (struct ct_span){ no_response, strlen(no_response) });
	}
}

static void frame_read(const struct ct_peer *peer, size_t request, const struct ct_message *message,
		       void *user)
{
	struct reading *reading = user;
	struct ct_span fields;
	enum ct_field field;
	struct ct_span value;

	if (peer != reading->peer || (!reading->is_inside && message != NULL))
		*reading = (struct reading){ .change = reading->change,
					     .peer = peer,
					     .is_repeated = request != 0 };
	if (message == NULL) {
		row_add_no_response(reading->change, peer);
		return;
	}
	if (!reading->is_inside)
		reading->status =
			(enum ctrace_status)ct_message_number(message, CT_FIELD_STATUS, CTRACE_OK);
	fields = message->fields;
	while (ct_message_next(&fields, &field, &value))
		field_read(reading, field, value);
	reading->is_inside = (message->flags & CT_MESSAGE_MORE) != 0;
	if (!reading->is_inside)
		answer_end(reading);
}

/* Rows of a process are sorted by name; the row about the process as a whole comes last. */
static int row_compare(const void *a, const void *b)
{
	const struct change_row *one = a;
	const struct change_row *other = b;

	if (one->peer != other->peer)
		return one->peer < other->peer ? -1 : 1;
	if (one->subject == NULL || other->subject == NULL)
		return (one->subject == NULL) - (other->subject == NULL);
	if (one->property != NULL && other->property != NULL &&
	    strcasecmp(one->subject, other->subject) == 0)
		return strcasecmp(one->property, other->property);
	return strcasecmp(one->subject, other->subject);
}

void ct_change_read(struct change *change)
{
	struct reading reading = { .change = change };

	(void)ct_ask_report(&change->ask);
	ct_ask_fold(&change->ask, frame_read, &reading);
	if (change->count != 0)
		qsort(change->rows, change->count, sizeof(*change->rows), row_compare);
}

/* ---- who is asked ---- */

void ct_change_check_component(const char *name, struct argp_state *state)
{
	if (name[0] != '\0' && !ct_is_pattern(name) &&
	    ct_component_check_name(name, strlen(name)) != CTRACE_OK)
		argp_error(
			state,
			"\"%s\" is not a component; expected a dotted name of 1 to 255 bytes, or a pattern with * and ?",
			name);
}

static void diagnose_nobody_has(const struct change *change)
{
	struct ct_span subject = { change->subject, strlen(change->subject) };
	bool is_pattern = ct_is_pattern(change->subject);
	struct component_names names = { .items = NULL };
	const char *nearest = NULL;

	if (!is_pattern) {
		ct_component_names_get(&change->ask.peers, NULL, &names);
		nearest = ct_suggest(subject, (const char *const *)names.items, names.count);
	}
	fprintf(stderr, "%s: no running process has %s \"", change->target.verb,
		is_pattern ? "a component like" : "the component");
	ct_tool_print(stderr, subject.at, subject.size);
	fputc('"', stderr);
	if (nearest != NULL && ct_name_is(subject.at, subject.size, nearest)) {
		fputs("; the process that had it has just ended", stderr);
	} else if (nearest != NULL) {
		fputs("; did you mean \"", stderr);
		ct_tool_print(stderr, nearest, strlen(nearest));
		fputs("\"?", stderr);
	} else if (change->hint != NULL) {
		fprintf(stderr, "; %s", change->hint);
	}
	fputc('\n', stderr);
	ct_component_names_fini(&names);
}

static void peers_drop_others(struct change *change)
{
	struct ct_peers *peers = &change->ask.peers;
	struct ct_peer *kept = peers->items;

	for (size_t i = 0; i < peers->count; i++)
		/* a cut session has no names: the process itself is reported */
		if (peers->items[i].is_cut || ct_component_is_of(&peers->items[i], change->subject))
			*kept++ = peers->items[i];
	/* No peer is dropped before the names of all were looked at. */
	if (kept == peers->items)
		diagnose_nobody_has(change);
	peers->count = (size_t)(kept - peers->items);
}

enum ctrace_status ct_change_find(struct change *change)
{
	enum ctrace_status status = ct_ask_find(&change->ask);

	if (status != CTRACE_OK || change->subject == NULL || change->subject[0] == '\0')
		return status;
	peers_drop_others(change);
	return change->ask.peers.count == 0 ? CTRACE_NOT_FOUND : CTRACE_OK;
}

/* ---- for people ---- */

struct widths {
	int pid;
	int jobname;
	int subject;
	int property;
};

static void width_widen(int *width, int columns)
{
	if (columns > *width)
		*width = columns < WIDEST_NAME ? columns : WIDEST_NAME;
}

static const char *row_subject(const struct change_row *row)
{
	return row->subject[0] != '\0' ? row->subject : "default";
}

static struct widths rows_measure(const struct change *change)
{
	struct widths widths = { 0 };

	for (size_t i = 0; i < change->count; i++) {
		const struct change_row *row = &change->rows[i];

		if (row->failed)
			continue;
		width_widen(&widths.pid, snprintf(NULL, 0, "%u", (unsigned)row->peer->pid));
		width_widen(&widths.jobname,
			    ct_tool_print(NULL, row->peer->jobname, strlen(row->peer->jobname)));
		if (row->subject != NULL)
			width_widen(&widths.subject, ct_tool_print(NULL, row_subject(row),
								   strlen(row_subject(row))));
		if (row->property != NULL)
			width_widen(&widths.property,
				    ct_tool_print(NULL, row->property, strlen(row->property)));
	}
	return widths;
}

static void print_cell(const char *text, int width)
{
	int printed = ct_tool_print(stdout, text, strlen(text));

	printf("%*s", width > printed ? width - printed + 2 : 2, "");
}

/* Prints in quotes, so that blanks at an end can be seen. */
static void print_quoted(const char *value)
{
	putchar('"');
	ct_tool_print(stdout, value, strlen(value));
	putchar('"');
}

static void print_value(const struct change *change, const char *value)
{
	if (value == NULL)
		fputs("not set", stdout);
	else if (value[0] == '\0')
		fputs(change->empty, stdout);
	else if (value[0] == ' ' || value[strlen(value) - 1] == ' ')
		print_quoted(value);
	else
		ct_tool_print(stdout, value, strlen(value));
}

static bool value_is_same(const struct change_row *row)
{
	return row->old != NULL && row->now != NULL && strcmp(row->old, row->now) == 0;
}

static void print_values(const struct change *change, const struct change_row *row)
{
	if (value_is_same(row) && !change->is_question) {
		fputs("is ", stdout);
		print_value(change, row->now);
		fputs(" already", stdout);
		return;
	}
	if (!change->is_question) {
		print_value(change, row->old);
		fputs(" -> ", stdout);
	}
	print_value(change, row->now);
}

static void print_row(const struct change *change, const struct change_row *row,
		      const struct widths *widths)
{
	bool has_values = row->old != NULL || row->now != NULL || row->property != NULL;

	printf("%*u ", widths->pid, (unsigned)row->peer->pid);
	print_cell(row->peer->jobname, widths->jobname);
	if (row->subject != NULL)
		print_cell(row_subject(row), widths->subject);
	if (row->property != NULL)
		print_cell(row->property, widths->property);
	if (has_values)
		print_values(change, row);
	if (row->report != NULL) {
		fputs(has_values ? "; " : "", stdout);
		ct_tool_print(stdout, row->report, strlen(row->report));
	}
	putchar('\n');
}

static void print_failed(const struct change *change, const struct change_row *row)
{
	fprintf(stderr, "%s: ", change->target.verb);
	ct_ask_print_name(stderr, row->peer);
	if (row->subject != NULL) {
		fputc(' ', stderr);
		ct_tool_print(stderr, row_subject(row), strlen(row_subject(row)));
	}
	fputs(": ", stderr);
	if (row->report != NULL)
		ct_tool_print(stderr, row->report, strlen(row->report));
	fputc('\n', stderr);
}

static void rows_print_people(const struct change *change)
{
	struct widths widths = rows_measure(change);

	for (size_t i = 0; i < change->count; i++) {
		const struct change_row *row = &change->rows[i];

		if (row->failed && ct_ask_no_response(row->peer) == NULL)
			print_failed(change, row);
		else if (!row->failed && !change->target.is_json)
			print_row(change, row, &widths);
	}
}

/* ---- for programs ---- */

static json_t *row_json(const struct change *change, const struct change_row *row)
{
	const struct ct_peer *peer = row->peer;
	json_t *object = json_object();

	json_object_set_new(object, "pid", json_integer((json_int_t)peer->pid));
	json_object_set_new(object, "asid", ct_json_asid(peer->asid));
	json_object_set_new(object, "job", ct_json_string(peer->jobname));
	json_object_set_new(object, "program", ct_json_string(peer->program));
	if (row->subject != NULL)
		json_object_set_new(object, change->is_emitter ? "emitter" : "component",
				    ct_json_string(row->subject));
	if (change->property != NULL || row->property != NULL)
		json_object_set_new(
			object, "property",
			ct_json_string(row->property != NULL ? row->property : change->property));
	if (row->failed) {
		json_object_set_new(object, "error", ct_json_string(row->report));
		return object;
	}
	if (row->has_state)
		json_object_set_new(object, "enabled", json_boolean(row->is_enabled));
	if (change->is_question) {
		json_object_set_new(object, "value", ct_json_string(row->now));
	} else if (row->old != NULL || row->now != NULL) {
		json_object_set_new(object, "old", ct_json_string(row->old));
		json_object_set_new(object, "new", ct_json_string(row->now));
	}
	if (row->report != NULL)
		json_object_set_new(object, "message", ct_json_string(row->report));
	return object;
}

static bool rows_print_json(const struct change *change)
{
	json_t *document = ct_json_document();
	json_t *list = json_array();

	for (size_t i = 0; i < change->count; i++)
		json_array_append_new(list, row_json(change, &change->rows[i]));
	json_object_set_new(document, "results", list);
	return ct_json_print(document, stdout);
}

/* ---- the way of a verb ---- */

int ct_change_finish(struct change *change)
{
	bool is_all_well = change->count != 0 && !change->failed;

	if (change->count == 0 && !change->failed && change->subject != NULL)
		diagnose_nobody_has(change);
	for (size_t i = 0; i < change->count; i++)
		is_all_well &= !change->rows[i].failed;
	rows_print_people(change);
	if (change->target.is_json && !rows_print_json(change)) {
		fprintf(stderr, "%s: not enough memory\n", change->target.verb);
		return CMD_NOTHING;
	}
	return is_all_well ? CMD_DONE : CMD_NOTHING;
}

void ct_change_gather(struct change *change)
{
	if (change->ask.request.failed)
		fprintf(stderr, "%s: the request is too long\n", change->target.verb);
	if (change->ask.request.failed || ct_change_find(change) != CTRACE_OK) {
		change->failed = true;
	} else {
		ct_ask_send(&change->ask);
		ct_change_read(change);
	}
}

int ct_change_run(struct change *change)
{
	ct_change_gather(change);
	return ct_change_finish(change);
}
