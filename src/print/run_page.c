/*
 * run_page.c - adds up what COBOL programs did, from the events of the COBOL run time in their
 * order.
 *
 * Called by `ctrace run` for every event, then run_page_text.c prints.  A trace may say anything:
 * an exit without an entry is ignored, an entry without an exit ends with what is around it, and
 * time that goes back counts as none.  The end of a paragraph is inferred: the next one in the same
 * program ends it.
 *
 * No time has what the trace lacks.  A gap in the events of a thread ends its paragraphs, and the
 * programs that others have called, with the last event before it.  The first program goes on.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "print/run_page_parts.h"

#include <stdlib.h>
#include <string.h>

/* Event ids: the contract of catalog/mf.*.yaml. */
enum {
	EVENT_ENTRY = 6,
	EVENT_EXIT = 7,
	EVENT_ENVEXIT = 139,
	EVENT_STOPRUN = 254,
	EVENT_RTERROR = 255,
	EVENT_RTVERSION = 1000,
	EVENT_SECTION = 1010,
	EVENT_PARAGRAPH = 1011,
	EVENT_SIGNAL = 1030
};

static const char *const item_names[RUN_ITEMS] = {
	[RUN_ITEM_PROGRAM] = "program", [RUN_ITEM_PARAGRAPH] = "paragraph",
	[RUN_ITEM_SECTION] = "section", [RUN_ITEM_SELECT] = "select",
	[RUN_ITEM_FILE] = "file",       [RUN_ITEM_STATUS] = "status",
	[RUN_ITEM_BYTES] = "bytes",     [RUN_ITEM_DURATION] = "duration",
	[RUN_ITEM_LINE] = "line",       [RUN_ITEM_TEXT] = "text",
	[RUN_ITEM_SIGNAL] = "signal",
};

/* -----------------------------------------------------------------------------------------------
 * Items
 */

/* Events of one class have their items in the same places. */
static const struct run_class *event_class(struct ct_run_page *page,
					   const struct ct_read_event *event)
{
	struct run_class *class = &page->classes[event->traced.event_id % CT_COUNT(page->classes)];
	char scratch[16];

	if (class->is_used && class->event_id == event->traced.event_id &&
	    class->type == event->type && class->names == event->names &&
	    class->item_count == event->traced.item_count)
		return class;
	*class = (struct run_class){ .is_used = true,
				     .event_id = event->traced.event_id,
				     .type = event->type,
				     .names = event->names,
				     .item_count = event->traced.item_count };
	for (unsigned i = 0; i < RUN_ITEMS; i++)
		class->items[i] = UINT32_MAX;
	for (uint32_t i = 0; i < event->traced.item_count; i++) {
		const char *name = ct_read_event_item_name(event, i, scratch);

		for (unsigned j = 0; j < RUN_ITEMS; j++)
			if (class->items[j] == UINT32_MAX && strcmp(name, item_names[j]) == 0)
				class->items[j] = i;
	}
	return class;
}

static const struct ctrace_event_item *
event_item(struct ct_run_page *page, const struct ct_read_event *event, enum run_item item)
{
	uint32_t index = event_class(page, event)->items[item];

	return index < event->traced.item_count ? &event->traced.items[index] : NULL;
}

static struct ct_span event_text(struct ct_run_page *page, const struct ct_read_event *event,
				 enum run_item which)
{
	const struct ctrace_event_item *item = event_item(page, event, which);
	struct ct_span text = { "", 0 };

	if (item == NULL || item->data == NULL)
		return text;
	text = (struct ct_span){ item->data, item->size };
	while (text.size > 0 && (text.at[text.size - 1] == ' ' || text.at[text.size - 1] == '\0'))
		text.size--;
	return text;
}

static uint64_t event_number(struct ct_run_page *page, const struct ct_read_event *event,
			     enum run_item which)
{
	const struct ctrace_event_item *item = event_item(page, event, which);

	return item != NULL ? item->value : 0;
}

/* -----------------------------------------------------------------------------------------------
 * Rows
 */

static uint64_t time_between(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

static void add_to(uint64_t *sum, uint64_t value)
{
	*sum = *sum > UINT64_MAX - value ? UINT64_MAX : *sum + value;
}

struct row_key {
	struct ct_span name, of;
};

static bool row_is(const void *items, uint32_t number, const void *key)
{
	const struct run_row *row = &((const struct run_row *)items)[number];
	const struct row_key *wanted = key;

	return strlen(row->name) == wanted->name.size &&
	       memcmp(row->name, wanted->name.at, wanted->name.size) == 0 &&
	       strlen(row->of) == wanted->of.size &&
	       memcmp(row->of, wanted->of.at, wanted->of.size) == 0;
}

static char *text_keep(struct ct_run_page *page, struct ct_span text)
{
	char *kept = ct_arena_take(&page->texts, text.size + 1);

	if (kept != NULL && text.size > 0)
		memcpy(kept, text.at, text.size);
	return kept;
}

/* Names of an event may have a NUL, and then never match a row. */
static struct ct_span span_cut(struct ct_span text)
{
	size_t size = text.size < RUN_NAME_MOST ? text.size : RUN_NAME_MOST;
	const char *nul = size > 0 ? memchr(text.at, '\0', size) : NULL;

	text.size = nul != NULL ? (size_t)(nul - text.at) : size;
	return text;
}

/* Returns the number of the row.  RUN_NONE: there is no memory. */
static uint32_t row_find(struct ct_run_page *page, struct run_table *table, struct ct_span name,
			 struct ct_span of)
{
	struct row_key key = { span_cut(name), span_cut(of) };
	uint32_t hash = ct_name_hash(key.name.at, key.name.size) ^
			(ct_name_hash(key.of.at, key.of.size) * 31);
	uint32_t found = ct_hash_table_find(&table->table, hash, row_is, table->rows, &key);
	struct run_row *rows;
	char *kept, *kept_of;

	if (found != CT_HASH_TABLE_NONE)
		return found;
	if (table->count >= CT_RUN_PAGE_ROWS)
		return 0; /* what has no row of its own */
	kept = text_keep(page, key.name);
	kept_of = text_keep(page, key.of);
	rows = ct_hash_table_reserve_items(&table->table, table->rows, sizeof *rows);
	if (kept == NULL || kept_of == NULL || rows == NULL) {
		page->failed = true;
		return RUN_NONE;
	}
	table->rows = rows;
	rows[table->count] = (struct run_row){ .name = kept, .of = kept_of };
	ct_hash_table_add(&table->table, hash, table->count);
	return table->count++;
}

/* -----------------------------------------------------------------------------------------------
 * Programs and paragraphs of a thread
 */

static bool thread_is(const void *items, uint32_t number, const void *key)
{
	const struct run_thread *thread = &((const struct run_thread *)items)[number];
	const uint32_t *wanted = key;

	return thread->process == wanted[0] && thread->tid == wanted[1];
}

static struct run_thread *thread_find(struct ct_run_page *page, const struct ct_read_event *event)
{
	uint32_t key[2] = { event->source_process != NULL ? event->source_process->index : 0,
			    event->traced.tid };
	uint32_t hash = ct_name_hash((const char *)key, sizeof key);
	uint32_t found =
		ct_hash_table_find(&page->thread_table, hash, thread_is, page->threads, key);
	struct run_thread *threads;

	if (found != CT_HASH_TABLE_NONE)
		return &page->threads[found];
	if (page->thread_count >= CT_RUN_PAGE_THREADS)
		return NULL;
	threads = ct_hash_table_reserve_items(&page->thread_table, page->threads, sizeof *threads);
	if (threads == NULL) {
		page->failed = true;
		return NULL;
	}
	page->threads = threads;
	threads[page->thread_count] = (struct run_thread){
		.process = key[0], .tid = key[1], .source_process = event->source_process
	};
	ct_hash_table_add(&page->thread_table, hash, page->thread_count);
	return &threads[page->thread_count++];
}

static void paragraph_end(struct ct_run_page *page, struct run_frame *frame, uint64_t time_ns)
{
	uint64_t whole_ns = time_between(frame->paragraph_ns, time_ns);

	if (frame->paragraph != RUN_NONE)
		add_to(&page->paragraphs.rows[frame->paragraph].self_ns,
		       time_between(frame->paragraph_nested_ns, whole_ns));
	frame->paragraph = RUN_NONE;
}

static void frame_end(struct ct_run_page *page, struct run_thread *thread, uint64_t time_ns)
{
	struct run_frame *frame = &thread->frames[--thread->depth];
	uint64_t whole_ns = time_between(frame->start_ns, time_ns);

	paragraph_end(page, frame, time_ns);
	if (frame->program != RUN_NONE) {
		struct run_row *row = &page->programs.rows[frame->program];

		add_to(&row->self_ns, time_between(frame->nested_ns, whole_ns));
		/* The time of a program that calls itself counts once. */
		if (--row->active == 0)
			add_to(&row->total_ns, whole_ns);
	}
	if (thread->depth > 0) {
		add_to(&frame[-1].nested_ns, whole_ns);
		add_to(&frame[-1].paragraph_nested_ns, whole_ns);
	}
}

static struct run_frame *frame_begin(struct ct_run_page *page, struct run_thread *thread,
				     uint32_t program, uint64_t time_ns)
{
	if (thread->depth == thread->capacity) {
		uint32_t capacity = thread->capacity != 0 ? thread->capacity * 2 : 8;
		struct run_frame *frames = reallocarray(thread->frames, capacity, sizeof *frames);

		if (frames == NULL) {
			page->failed = true;
			return NULL;
		}
		thread->frames = frames;
		thread->capacity = capacity;
	}
	thread->frames[thread->depth] = (struct run_frame){ .program = program,
							    .paragraph = RUN_NONE,
							    .start_ns = time_ns };
	return &thread->frames[thread->depth++];
}

static void program_enter(struct ct_run_page *page, struct run_thread *thread,
			  const struct ct_read_event *event)
{
	struct ct_span none = { "", 0 };
	uint32_t row =
		row_find(page, &page->programs, event_text(page, event, RUN_ITEM_PROGRAM), none);

	if (row == RUN_NONE)
		return;
	page->programs.rows[row].count++;
	if (thread == NULL || thread->depth >= CT_RUN_PAGE_DEPTH) {
		if (thread != NULL)
			thread->beyond++;
		return;
	}
	if (frame_begin(page, thread, row, event->traced.time_ns) != NULL)
		page->programs.rows[row].active++;
}

static bool frame_is_of(const struct ct_run_page *page, const struct run_frame *frame,
			struct ct_span program)
{
	const char *name =
		frame->program != RUN_NONE ? page->programs.rows[frame->program].name : NULL;

	program = span_cut(program);
	return name != NULL &&
	       (frame->program == 0 ||
		(strlen(name) == program.size && memcmp(name, program.at, program.size) == 0));
}

/* Programs that were entered later have ended too. */
static void program_leave(struct ct_run_page *page, struct run_thread *thread,
			  const struct ct_read_event *event)
{
	struct ct_span program = event_text(page, event, RUN_ITEM_PROGRAM);
	uint32_t depth;

	if (thread == NULL)
		return;
	if (thread->beyond > 0) {
		thread->beyond--;
		return;
	}
	for (depth = thread->depth; depth > 0; depth--)
		if (frame_is_of(page, &thread->frames[depth - 1], program))
			break;
	while (depth > 0 && thread->depth >= depth)
		frame_end(page, thread, event->traced.time_ns);
}

static void thread_end(struct ct_run_page *page, struct run_thread *thread, uint64_t time_ns)
{
	while (thread->depth > 0)
		frame_end(page, thread, time_ns);
	thread->beyond = 0;
}

/* Begins the time of a program that runs already. */
static void program_resume(struct ct_run_page *page, struct run_thread *thread,
			   struct ct_span program, uint64_t time_ns)
{
	struct ct_span none = { "", 0 };
	uint32_t row;

	for (uint32_t i = 0; i < thread->depth; i++)
		if (frame_is_of(page, &thread->frames[i], program))
			return;
	row = thread->depth < CT_RUN_PAGE_DEPTH ? row_find(page, &page->programs, program, none)
						: RUN_NONE;
	if (row != RUN_NONE && frame_begin(page, thread, row, time_ns) != NULL)
		page->programs.rows[row].active++;
}

/* The thread lacks events from last_ns to time_ns. */
static void thread_cut(struct ct_run_page *page, struct run_thread *thread, uint64_t time_ns)
{
	page->has_gaps = true;
	if (thread->depth == 0)
		return;
	while (thread->depth > 1)
		frame_end(page, thread, thread->last_ns);
	paragraph_end(page, thread->frames, thread->last_ns);
	thread->frames[0].start_ns += time_between(thread->last_ns, time_ns);
	thread->beyond = 0;
}

static void paragraph_begin(struct ct_run_page *page, struct run_thread *thread,
			    const struct ct_read_event *event, bool is_section)
{
	struct ct_span program = event_text(page, event, RUN_ITEM_PROGRAM);
	struct ct_span name =
		event_text(page, event, is_section ? RUN_ITEM_SECTION : RUN_ITEM_PARAGRAPH);
	struct run_frame *frame;
	struct ct_buf section;
	uint32_t row;

	ct_buf_init(&section);
	if (is_section) {
		name = span_cut(name);
		ct_buf_add(&section, name.at, name.size);
		ct_buf_add_text(&section, " SECTION");
		name = (struct ct_span){ ct_buf_text(&section), section.size };
	}
	row = row_find(page, &page->paragraphs, name, program);
	ct_buf_fini(&section);
	if (row == RUN_NONE)
		return;
	page->paragraphs.rows[row].count++;
	if (thread == NULL || thread->beyond > 0)
		return;
	/* Without entries one activation has all paragraphs.  After a gap a program may run whose
	 * entry is in it, or before. */
	if (page->has_gaps && thread->depth > 0 &&
	    !frame_is_of(page, &thread->frames[thread->depth - 1], program))
		program_resume(page, thread, program, event->traced.time_ns);
	frame = thread->depth > 0 ? &thread->frames[thread->depth - 1]
				  : frame_begin(page, thread, RUN_NONE, event->traced.time_ns);
	if (frame == NULL)
		return;
	paragraph_end(page, frame, event->traced.time_ns);
	frame->paragraph = row;
	frame->paragraph_ns = event->traced.time_ns;
	frame->paragraph_nested_ns = 0;
}

/* -----------------------------------------------------------------------------------------------
 * Errors and files
 */

static void error_add(struct ct_run_page *page, const struct ct_read_event *event,
		      struct ct_buf *text)
{
	struct ct_span program = span_cut(event_text(page, event, RUN_ITEM_PROGRAM));
	uint64_t line = event_number(page, event, RUN_ITEM_LINE);
	struct run_error *error = page->errors;
	const struct run_error *end = page->errors + page->error_count;

	page->errors_total++;
	while (error < end && (error->line != line || strcmp(error->text, ct_buf_text(text)) != 0 ||
			       strlen(error->program) != program.size ||
			       memcmp(error->program, program.at, program.size) != 0))
		error++;
	if (error == end) {
		char *kept, *kept_program;

		if (page->error_count == CT_RUN_PAGE_ERRORS)
			return;
		kept = text_keep(page, (struct ct_span){ ct_buf_text(text), text->size });
		kept_program = text_keep(page, program);
		if (kept == NULL || kept_program == NULL) {
			page->failed = true;
			return;
		}
		*error = (struct run_error){ .text = kept, .program = kept_program, .line = line };
		page->error_count++;
	}
	error->count++;
}

static void error_add_run_time(struct ct_run_page *page, const struct ct_read_event *event)
{
	struct ct_span what = span_cut(event_text(page, event, RUN_ITEM_TEXT));
	struct ct_buf text;

	ct_buf_init(&text);
	if (event->traced.event_id == EVENT_SIGNAL)
		ct_buf_add_format(&text, "signal %llu",
				  (unsigned long long)event_number(page, event, RUN_ITEM_SIGNAL));
	else
		ct_escape_add(&text, what.at, what.size);
	error_add(page, event, &text);
	ct_buf_fini(&text);
}

static void error_add_file(struct ct_run_page *page, const struct ct_read_event *event,
			   struct ct_span status)
{
	struct ct_span select = span_cut(event_text(page, event, RUN_ITEM_SELECT));
	struct ct_span file = span_cut(event_text(page, event, RUN_ITEM_FILE));
	char scratch[16];
	struct ct_buf text;

	ct_buf_init(&text);
	ct_buf_add_format(&text, "%s of ", ct_read_event_mnemonic(event, scratch));
	ct_escape_add(&text, select.at, select.size);
	ct_buf_add_text(&text, ": status ");
	ct_escape_add(&text, status.at, status.size);
	if (file.size > 0) {
		ct_buf_add_text(&text, " (");
		ct_escape_add(&text, file.at, file.size);
		ct_buf_add_text(&text, ")");
	}
	error_add(page, event, &text);
	ct_buf_fini(&text);
}

static void status_add(struct run_row *row, struct ct_span status)
{
	struct run_status *at = row->statuses;
	char text[3] = { 0 };

	if (status.size == 0 || (status.size == 2 && memcmp(status.at, "00", 2) == 0))
		return;
	for (size_t i = 0; i < 2 && i < status.size; i++)
		text[i] = status.at[i] > ' ' && status.at[i] < 0x7F ? status.at[i] : '?';
	while (at < row->statuses + RUN_STATUSES && at->count > 0 && strcmp(at->text, text) != 0)
		at++;
	if (at == row->statuses + RUN_STATUSES) {
		row->other_statuses++;
		return;
	}
	memcpy(at->text, text, sizeof at->text);
	at->count++;
}

static void file_add(struct ct_run_page *page, const struct ct_read_event *event)
{
	struct ct_span select = event_text(page, event, RUN_ITEM_SELECT);
	struct ct_span status = span_cut(event_text(page, event, RUN_ITEM_STATUS));
	struct run_row *row;
	uint32_t number;

	/* COMMIT and ROLLBACK are of no file. */
	if (select.size == 0)
		return;
	number = row_find(page, &page->files, select, event_text(page, event, RUN_ITEM_FILE));
	if (number == RUN_NONE)
		return;
	row = &page->files.rows[number];
	row->count++;
	row->is_asked |= event->traced.level < CTRACE_ERROR;
	switch (event->traced.event_id) {
	case 1003: /* READ */
	case 1004: /* READNEXT */
	case 1016: /* RETURN */
		row->reads++;
		break;
	case 1005: /* WRITE */
	case 1006: /* REWRITE */
	case 1007: /* DELETE */
	case 1015: /* RELEASE */
		row->writes++;
		break;
	default:
		break;
	}
	add_to(&row->bytes, event_number(page, event, RUN_ITEM_BYTES));
	add_to(&row->total_ns, event_number(page, event, RUN_ITEM_DURATION));
	status_add(row, status);
	if (status.size > 0 && status.at[0] >= '3')
		error_add_file(page, event, status);
}

/* -----------------------------------------------------------------------------------------------
 * The page
 */

static bool table_init(struct ct_run_page *page, struct run_table *table)
{
	struct ct_span others = { "(others)", 8 }, none = { "", 0 };

	return row_find(page, table, others, none) == 0;
}

enum ctrace_status ct_run_page_create(struct ct_run_page **out_page)
{
	struct ct_run_page *page = calloc(1, sizeof *page);

	if (page == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (!table_init(page, &page->programs) || !table_init(page, &page->paragraphs) ||
	    !table_init(page, &page->files)) {
		ct_run_page_destroy(page);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	*out_page = page;
	return CTRACE_OK;
}

static void table_fini(struct run_table *table)
{
	free(table->rows);
	ct_hash_table_fini(&table->table);
}

void ct_run_page_destroy(struct ct_run_page *page)
{
	if (page == NULL)
		return;
	for (uint32_t i = 0; i < page->thread_count; i++)
		free(page->threads[i].frames);
	free(page->threads);
	ct_hash_table_fini(&page->thread_table);
	table_fini(&page->programs);
	table_fini(&page->paragraphs);
	table_fini(&page->files);
	ct_arena_fini(&page->texts);
	free(page);
}

static void run_time_add(struct ct_run_page *page, struct run_thread *thread,
			 const struct ct_read_event *event)
{
	page->traced++;
	switch (event->traced.event_id) {
	case EVENT_ENTRY:
		program_enter(page, thread, event);
		break;
	case EVENT_EXIT:
		program_leave(page, thread, event);
		break;
	case EVENT_SECTION:
	case EVENT_PARAGRAPH:
		paragraph_begin(page, thread, event, event->traced.event_id == EVENT_SECTION);
		break;
	case EVENT_STOPRUN:
	case EVENT_ENVEXIT:
		if (thread != NULL)
			thread_end(page, thread, event->traced.time_ns);
		break;
	case EVENT_RTVERSION:
		if (page->unknown_run_time == NULL)
			page->unknown_run_time =
				text_keep(page, span_cut(event_text(page, event, RUN_ITEM_TEXT)));
		break;
	case EVENT_RTERROR:
	case EVENT_SIGNAL:
		error_add_run_time(page, event);
		break;
	default:
		break;
	}
}

void ct_run_page_add(struct ct_run_page *page, const struct ct_read_event *event)
{
	const char *component = event->traced.component;
	size_t size = event->traced.component_size;
	struct run_thread *thread = thread_find(page, event);

	page->events++;
	if (thread != NULL) {
		if (thread->last_ns != 0 && ct_read_event_follows_gap(event, thread->last_ns))
			thread_cut(page, thread, event->traced.time_ns);
		thread->last_ns = event->traced.time_ns;
	}
	if (ct_name_is(component, size, "mf.rts")) {
		run_time_add(page, thread, event);
	} else if (ct_name_is(component, size, "mf.mffh.xfh")) {
		page->traced++;
		if (event->traced.event_id > 1000)
			file_add(page, event);
	}
}

uint64_t ct_run_page_events(const struct ct_run_page *page)
{
	return page->events;
}

uint64_t ct_run_page_traced(const struct ct_run_page *page)
{
	return page->traced;
}

/* Returns the text of ASSIGN behind its first "./" and "../": the directory that these lead to is
 * not known. */
static const char *assign_base(const char *path)
{
	while (strncmp(path, "./", 2) == 0 || strncmp(path, "../", 3) == 0)
		path = strchr(path, '/') + 1;
	return path;
}

static bool path_ends_with(const char *path, const char *end)
{
	size_t size = strlen(path), end_size = strlen(end);

	return end_size > 0 && size > end_size && path[size - end_size - 1] == '/' &&
	       strcmp(path + size - end_size, end) == 0;
}

/* The row with the path of a file that was not found at first: the only one of this SELECT that
 * ends with the text of ASSIGN.  NULL: there is none. */
static struct run_row *file_find_whole(const struct run_table *files, const struct run_row *row)
{
	struct run_row *found = NULL;

	for (uint32_t i = 1; row->of[0] != '/' && i < files->count; i++) {
		struct run_row *other = &files->rows[i];

		if (other->of[0] != '/' || strcmp(other->name, row->name) != 0 ||
		    !path_ends_with(other->of, assign_base(row->of)))
			continue;
		if (found != NULL)
			return NULL;
		found = other;
	}
	return found;
}

static void statuses_add(struct run_row *row, const struct run_row *from)
{
	for (size_t i = 0; i < RUN_STATUSES && from->statuses[i].count > 0; i++) {
		struct run_status *at = row->statuses;

		while (at < row->statuses + RUN_STATUSES && at->count > 0 &&
		       strcmp(at->text, from->statuses[i].text) != 0)
			at++;
		if (at == row->statuses + RUN_STATUSES) {
			add_to(&row->other_statuses, from->statuses[i].count);
			continue;
		}
		memcpy(at->text, from->statuses[i].text, sizeof at->text);
		add_to(&at->count, from->statuses[i].count);
	}
	add_to(&row->other_statuses, from->other_statuses);
}

/* An OPEN that finds no file has the text of ASSIGN: only libcob knows which path it makes of that.
 * The kernel names the path when the file is there. */
static void files_merge(struct run_table *files)
{
	for (uint32_t i = 1; i < files->count; i++) {
		struct run_row *row = &files->rows[i];
		struct run_row *whole = file_find_whole(files, row);

		if (whole == NULL)
			continue;
		add_to(&whole->count, row->count);
		add_to(&whole->reads, row->reads);
		add_to(&whole->writes, row->writes);
		add_to(&whole->bytes, row->bytes);
		add_to(&whole->total_ns, row->total_ns);
		whole->is_asked |= row->is_asked;
		statuses_add(whole, row);
		*row = (struct run_row){ .name = row->name, .of = row->of };
	}
}

void ct_run_page_close(struct ct_run_page *page)
{
	files_merge(&page->files);
	for (uint32_t i = 0; i < page->thread_count; i++) {
		struct run_thread *thread = &page->threads[i];
		uint64_t ended_ns =
			thread->source_process != NULL ? thread->source_process->ended_ns : 0;

		thread_end(page, thread, ended_ns > thread->last_ns ? ended_ns : thread->last_ns);
	}
}
