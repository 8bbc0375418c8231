/*
 * export_csv.c - traces as comma-separated values (RFC 4180): a row of names, then a row an event.
 *
 * Called by ctrace export, on one thread.  A first reading finds the largest number of items, which
 * is the number of data columns.
 *
 * A spreadsheet computes a cell that begins with = + - or @, and traced texts may come from
 * strangers.  So a text that begins with one of these, a tab or a carriage return, and is no
 * decimal number, gets an apostrophe before it, which marks text for spreadsheets.  is_unguarded
 * leaves the apostrophe out.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/export/export.h"

#include <stdlib.h>
#include <string.h>

#define COLUMN_DEPTH 16u /* of groups that a column names */
#define HEADER "time,time_ns,host,pid,tid,component,event,mnemonic,level,duration_ns"

struct csv {
	struct ct_export_out out;
	struct ct_buf scratch;
	bool is_unguarded;
	bool is_begun;
	uint32_t columns; /* of data */
	/* --columns: `columns` names, each terminated; NULL: items in their own order */
	char *names;
};

/* Finds the field of a record for a column: the field with the last name, inside groups with the
 * names before it. */
struct field_search {
	struct csv *csv;
	const char *path;              /* the names that have not been found yet */
	uint32_t depths[COLUMN_DEPTH]; /* the depths of the groups that were found */
	const char *paths[COLUMN_DEPTH];
	uint32_t found;
	bool has_value;
};

static enum ctrace_status csv_open(const struct ct_export_options *options, void **out_self)
{
	struct csv *self = calloc(1, sizeof *self);

	if (self == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	ct_export_out_init(&self->out, options->fd);
	ct_buf_init(&self->scratch);
	self->is_unguarded = options->is_unguarded;
	if (options->columns != NULL) {
		self->names = strdup(options->columns);
		if (self->names == NULL) {
			free(self);
			return CTRACE_NOT_ENOUGH_MEMORY;
		}
		self->columns = 1;
		for (char *at = self->names; *at != '\0'; at++)
			if (*at == ',') {
				*at = '\0';
				self->columns++;
			}
	}
	*out_self = self;
	return CTRACE_OK;
}

static void csv_look(void *user, const struct ct_read_event *event)
{
	struct csv *self = user;

	if (self->names == NULL && event->traced.item_count > self->columns)
		self->columns = event->traced.item_count;
}

/* -----------------------------------------------------------------------------------------------
 * Cells
 */

static bool text_is_decimal(const char *text, size_t size)
{
	size_t at = size > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
	bool has_point = false;

	if (at == size)
		return false;
	for (; at < size; at++) {
		bool is_point = text[at] == '.' && !has_point && at > 0 && text[at - 1] >= '0';

		if ((text[at] < '0' || text[at] > '9') && !is_point)
			return false;
		has_point |= is_point;
	}
	return true;
}

/* Some spreadsheets also compute the wide forms of = + - @. */
static bool text_is_formula(const char *text, size_t size)
{
	static const char *const wide[] = { "\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D",
					    "\xEF\xBC\xA0" };

	if (size == 0)
		return false;
	if (text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL)
		return !text_is_decimal(text, size);
	for (size_t i = 0; i < CT_COUNT(wide); i++)
		if (size >= 3 && memcmp(text, wide[i], 3) == 0)
			return true;
	return false;
}

static bool text_needs_quotes(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] == ',' || text[i] == '"' || text[i] == '\r' || text[i] == '\n')
			return true;
	return size > 0 && (text[0] == ' ' || text[size - 1] == ' ');
}

static void add_text(struct csv *self, const char *text, size_t size)
{
	struct ct_buf *out = &self->out.text;
	bool has_guard = !self->is_unguarded && text_is_formula(text, size);
	bool has_quotes = text_needs_quotes(text, size);

	if (has_quotes)
		ct_buf_add_char(out, '"');
	if (has_guard)
		ct_buf_add_char(out, '\'');
	for (size_t i = 0, start = 0; i <= size; i++) {
		if (i < size && text[i] != '"')
			continue;
		ct_buf_add(out, text + start, i - start);
		if (i < size)
			ct_buf_add_char(out, '"');
		start = i;
	}
	if (has_quotes)
		ct_buf_add_char(out, '"');
}

/* Adds third-party text: as it is, unless it could harm a line or a terminal; then escaped. */
static void add_third_party(struct csv *self, const char *text, size_t size)
{
	size_t marks = 0;

	for (size_t i = 0; i < size; i++)
		marks += text[i] == '"' || text[i] == '\\';
	ct_buf_clear(&self->scratch);
	ct_escape_add(&self->scratch, text, size);
	if (self->scratch.size <= size + marks && !self->scratch.failed)
		add_text(self, text, size);
	else
		add_text(self, self->scratch.data, self->scratch.size);
}

static void add_names(struct csv *self, const struct ct_read_event *event)
{
	struct ct_buf names;
	char name[16];

	ct_buf_init(&names);
	for (uint32_t i = 0; i < event->traced.item_count; i++) {
		if (i > 0)
			ct_buf_add_char(&names, ' ');
		ct_buf_add_text(&names, ct_read_event_item_name(event, i, name));
	}
	add_third_party(self, names.data, names.size);
	self->out.text.failed |= names.failed;
	ct_buf_fini(&names);
}

/* Adds a value in readable form.  Integers and the catalogue's words are short; other bytes are
 * escaped or hexadecimal. */
static void add_value(struct csv *self, const struct ct_read_event *event, uint32_t index)
{
	static const struct ct_line_format format = { .format = "", .delimiter = "" };
	const struct ctrace_event_item *item = &event->traced.items[index];
	const struct ct_argument *argument = ct_read_event_argument(event, index);

	ct_buf_clear(&self->scratch);
	if ((item->type == CTRACE_TYPE_TEXT || item->type == CTRACE_TYPE_UTF8) &&
	    (argument == NULL || argument->print == CT_PRINT_DEFAULT)) {
		add_third_party(self, item->data, item->size);
		return;
	}
	ct_value_add(&self->scratch, &format, item, argument, event->source_process->is_big);
	add_text(self, self->scratch.data, self->scratch.size);
}

static void add_values(struct csv *self, const struct ct_read_event *event)
{
	uint32_t count = event->traced.item_count;
	uint32_t shown = count < self->columns ? count : self->columns;

	/* A live trace may have grown since the first reading; items without a column are left
	 * out. */
	for (uint32_t i = 0; i < shown; i++) {
		ct_buf_add_char(&self->out.text, ',');
		add_value(self, event, i);
	}
	for (uint32_t i = shown; i < self->columns; i++)
		ct_buf_add_char(&self->out.text, ',');
}

/* -----------------------------------------------------------------------------------------------
 * Columns that were chosen
 */

/* Returns the end of `name` in the path if it is the next name; else NULL. */
static const char *path_next_name(const char *path, const char *name)
{
	size_t size = strcspn(path, ".");

	return ct_name_is(path, size, name) ? path + size : NULL;
}

static void search_begin_group(const struct ct_record_field *field, void *user)
{
	struct field_search *search = user;
	const char *end = path_next_name(search->path, field->name);

	if (end == NULL || *end == '\0' || search->found == COLUMN_DEPTH)
		return;
	search->depths[search->found] = field->depth;
	search->paths[search->found++] = search->path;
	search->path = end + 1;
}

static void search_end_group(const struct ct_record_field *field, void *user)
{
	struct field_search *search = user;

	if (search->found > 0 && search->depths[search->found - 1] == field->depth)
		search->path = search->paths[--search->found];
}

static void search_take_field(const struct ct_record_field *field, void *user)
{
	struct field_search *search = user;
	const char *end = path_next_name(search->path, field->name);
	char number[CT_JSON_NUMBER_SIZE];
	size_t size = field->text_size, number_size;

	if (end == NULL || *end != '\0')
		return;
	if (search->has_value)
		/* a table adds all its values */
		ct_buf_add_char(&search->csv->scratch, ' ');
	search->has_value = true;
	while (size > 0 && field->text[size - 1] == ' ')
		size--;
	number_size = ct_field_json_number(field, number);
	if (number_size > 0)
		ct_buf_add(&search->csv->scratch, number, number_size);
	else
		ct_buf_add(&search->csv->scratch, field->text, size);
}

static void add_field(struct csv *self, const struct ct_read_event *event, uint32_t index,
		      const char *path)
{
	const struct ct_argument *argument = ct_read_event_argument(event, index);
	struct field_search search = { .csv = self, .path = path };
	const struct ct_field_visitor visitor = { .begin_group = search_begin_group,
						  .end_group = search_end_group,
						  .value = search_take_field,
						  .user = &search };
	char *copy;

	if (argument == NULL || !ct_value_is_record(&event->traced.items[index], argument))
		return;
	ct_buf_clear(&self->scratch);
	(void)ct_copybook_decode(argument->copybook,
				 (struct ct_record_bytes){ event->traced.items[index].data,
							   event->traced.items[index].size,
							   event->source_process->is_big },
				 &visitor, NULL);
	if (!search.has_value)
		return;
	copy = strndup(ct_buf_text(&self->scratch), self->scratch.size);
	if (copy == NULL)
		self->out.text.failed = true;
	else
		add_third_party(self, copy, strlen(copy));
	free(copy);
}

/* Adds the item of that name, else a field of the record whose name precedes the first point;
 * nothing when the event has neither. */
static void add_column(struct csv *self, const struct ct_read_event *event, const char *column)
{
	size_t item_size = strcspn(column, ".");
	char scratch[16];

	for (uint32_t i = 0; i < event->traced.item_count; i++) {
		const char *name = ct_read_event_item_name(event, i, scratch);

		if (ct_name_is(column, strlen(column), name)) {
			add_value(self, event, i);
			return;
		}
		if (column[item_size] == '.' && ct_name_is(column, item_size, name)) {
			add_field(self, event, i, column + item_size + 1);
			return;
		}
	}
}

static void add_columns(struct csv *self, const struct ct_read_event *event)
{
	const char *column = self->names;

	for (uint32_t i = 0; i < self->columns; i++, column += strlen(column) + 1) {
		ct_buf_add_char(&self->out.text, ',');
		add_column(self, event, column);
	}
}

static void document_begin(struct csv *self)
{
	const char *column = self->names;

	if (self->is_begun)
		return;
	self->is_begun = true;
	ct_buf_add_text(&self->out.text, HEADER);
	if (self->names == NULL)
		ct_buf_add_text(&self->out.text, ",names");
	for (uint32_t i = 0; i < self->columns; i++) {
		if (self->names == NULL) {
			ct_buf_add_format(&self->out.text, ",data%u", i + 1);
			continue;
		}
		ct_buf_add_char(&self->out.text, ',');
		add_text(self, column, strlen(column));
		column += strlen(column) + 1;
	}
	ct_buf_add_text(&self->out.text, "\r\n");
}

static void csv_add(void *user, const struct ct_read_event *event)
{
	struct csv *self = user;
	const struct ctrace_event *traced = &event->traced;
	struct ct_buf *out = &self->out.text;
	char scratch[16];
	const char *mnemonic = ct_read_event_mnemonic(event, scratch);

	document_begin(self);
	ct_export_add_time(out, traced->time_ns);
	ct_buf_add_char(out, ',');
	ct_buf_add_u64(out, traced->time_ns);
	ct_buf_add_char(out, ',');
	add_third_party(self, event->source_process->host, strlen(event->source_process->host));
	ct_buf_add_char(out, ',');
	ct_buf_add_u64(out, traced->pid);
	ct_buf_add_char(out, ',');
	ct_buf_add_u64(out, traced->tid);
	ct_buf_add_char(out, ',');
	add_third_party(self, traced->component, traced->component_size);
	ct_buf_add_char(out, ',');
	ct_buf_add_u64(out, traced->event_id);
	ct_buf_add_char(out, ',');
	add_third_party(self, mnemonic, strlen(mnemonic));
	ct_buf_add_char(out, ',');
	ct_buf_add_text(out, ct_level_name(traced->level));
	ct_buf_add_char(out, ',');
	if (event->duration_ns != CT_NO_DURATION)
		ct_buf_add_u64(out, event->duration_ns);
	if (self->names != NULL) {
		add_columns(self, event);
	} else {
		ct_buf_add_char(out, ',');
		add_names(self, event);
		add_values(self, event);
	}
	ct_buf_add_text(out, "\r\n");
	out->failed |= self->scratch.failed;
	ct_export_out_offer(&self->out);
}

static enum ctrace_status csv_end(void *user)
{
	struct csv *self = user;

	document_begin(self);
	return ct_export_out_end(&self->out);
}

static void csv_close(void *user)
{
	struct csv *self = user;

	if (self == NULL)
		return;
	ct_export_out_fini(&self->out);
	ct_buf_fini(&self->scratch);
	free(self->names);
	free(self);
}

const struct ct_exporter ct_export_csv = {
	.name = "csv",
	.has_pairs = true,
	.open = csv_open,
	.look = csv_look,
	.add = csv_add,
	.end = csv_end,
	.close = csv_close,
};
