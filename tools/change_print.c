/*
 * change_print.c - prints what running processes have changed: for people in columns, for programs as one JSON document.
 *
 * For people what went wrong goes to stderr, the rest to stdout.  The members of the JSON are in the manual pages of the verbs and
 * keep their meaning; new ones may come.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "change.h"

#include <string.h>

#include "cmd.h"
#include "read/json_text.h"

/* A longer name moves the rest of its line to the right, not that of all others. */
#define WIDEST_NAME 60

/* ---- for people ---- */

struct widths {
	int pid;
	int jobname;
	int subject;
	int property;
};

static void widen(int *width, int columns)
{
	if (columns > *width)
		*width = columns < WIDEST_NAME ? columns : WIDEST_NAME;
}

static const char *subject_of(const struct change_row *row)
{
	return row->subject[0] != '\0' ? row->subject : "default";
}

static struct widths measure(const struct change *change)
{
	struct widths widths = { 0 };

	for (size_t i = 0; i < change->count; i++) {
		const struct change_row *row = &change->rows[i];

		if (row->failed)
			continue;
		widen(&widths.pid, snprintf(NULL, 0, "%u", (unsigned)row->peer->pid));
		widen(&widths.jobname, ct_tool_print(NULL, row->peer->jobname, strlen(row->peer->jobname)));
		if (row->subject != NULL)
			widen(&widths.subject, ct_tool_print(NULL, subject_of(row), strlen(subject_of(row))));
		if (row->property != NULL)
			widen(&widths.property, ct_tool_print(NULL, row->property, strlen(row->property)));
	}
	return widths;
}

static void print_cell(const char *text, int width)
{
	int printed = ct_tool_print(stdout, text, strlen(text));

	printf("%*s", width > printed ? width - printed + 2 : 2, "");
}

/* Blanks at an end would not be seen. */
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

static bool is_same(const struct change_row *row)
{
	return row->old != NULL && row->now != NULL && strcmp(row->old, row->now) == 0;
}

static void print_values(const struct change *change, const struct change_row *row)
{
	if (is_same(row) && !change->is_question) {
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

static void print_row(const struct change *change, const struct change_row *row, const struct widths *widths)
{
	bool has_values = row->old != NULL || row->now != NULL || row->property != NULL;

	printf("%*u ", widths->pid, (unsigned)row->peer->pid);
	print_cell(row->peer->jobname, widths->jobname);
	if (row->subject != NULL)
		print_cell(subject_of(row), widths->subject);
	if (row->property != NULL)
		print_cell(row->property, widths->property);
	if (has_values)
		print_values(change, row);
	if (row->said != NULL) {
		fputs(has_values ? "; " : "", stdout);
		ct_tool_print(stdout, row->said, strlen(row->said));
	}
	putchar('\n');
}

static void print_failed(const struct change *change, const struct change_row *row)
{
	fprintf(stderr, "%s: ", change->target.verb);
	ct_target_print_name(stderr, row->peer);
	if (row->subject != NULL) {
		fputc(' ', stderr);
		ct_tool_print(stderr, subject_of(row), strlen(subject_of(row)));
	}
	fputs(": ", stderr);
	if (row->said != NULL)
		ct_tool_print(stderr, row->said, strlen(row->said));
	fputc('\n', stderr);
}

void ct_change_print_people(const struct change *change)
{
	struct widths widths = measure(change);

	for (size_t i = 0; i < change->count; i++) {
		const struct change_row *row = &change->rows[i];

		if (row->failed && ct_target_silence(row->peer) == NULL)
			print_failed(change, row);
		else if (!row->failed && !change->target.is_json)
			print_row(change, row, &widths);
	}
}

/* ---- for programs ---- */

static json_t *json_row(const struct change *change, const struct change_row *row)
{
	const struct ct_peer *peer = row->peer;
	json_t *object = json_object();

	json_object_set_new(object, "pid", json_integer((json_int_t)peer->pid));
	json_object_set_new(object, "asid", ct_json_asid(peer->asid));
	json_object_set_new(object, "job", ct_json_string(peer->jobname));
	json_object_set_new(object, "program", ct_json_string(peer->program));
	if (row->subject != NULL)
		json_object_set_new(object, change->is_emitter ? "emitter" : "component", ct_json_string(row->subject));
	if (change->property != NULL || row->property != NULL)
		json_object_set_new(object, "property", ct_json_string(row->property != NULL ? row->property : change->property));
	if (row->failed) {
		json_object_set_new(object, "error", ct_json_string(row->said));
		return object;
	}
	if (change->is_question) {
		json_object_set_new(object, "value", ct_json_string(row->now));
	} else if (row->old != NULL || row->now != NULL) {
		json_object_set_new(object, "old", ct_json_string(row->old));
		json_object_set_new(object, "new", ct_json_string(row->now));
	}
	if (row->said != NULL)
		json_object_set_new(object, "message", ct_json_string(row->said));
	return object;
}

bool ct_change_print_json(const struct change *change)
{
	json_t *document = ct_json_document();
	json_t *list = json_array();

	for (size_t i = 0; i < change->count; i++)
		json_array_append_new(list, json_row(change, &change->rows[i]));
	json_object_set_new(document, "results", list);
	return ct_json_print(document, stdout);
}
