/*
 * line_parts.c - a FORMAT as parts, and the text that the lines of one class of events have in
 * common.
 *
 * Lines are what TEXTFILE and `ctrace show` spend their time with.  So a FORMAT is parsed once, and
 * what is the same for all events of a class - mostly everything between the time and the data - is
 * put together at the class's first event and copied from then on.  Used by the emitters of lines,
 * on the thread that consumes, and by the reader's printer.  One thread at a time.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <stdlib.h>
#include <string.h>

static const struct ct_line_name *find_name(const char *at, const struct ct_line_name *names,
					    size_t count, size_t *out_size)
{
	const char *end = at[0] == '$' && at[1] == '(' ? strchr(at, ')') : NULL;

	for (size_t i = 0; end != NULL && i < count; i++) {
		if (!ct_name_is(at + 2, (size_t)(end - at - 2), names[i].name))
			continue;
		*out_size = (size_t)(end - at + 1);
		return &names[i];
	}
	return NULL;
}

/* A part for each variable and for each text between two: a variable begins with '$'. */
static size_t count_parts(const char *format)
{
	size_t count = 1;

	for (; *format != '\0'; format++)
		count += *format == '$' ? 2 : 0;
	return count;
}

static void add_text(struct ct_line_parts *parts, const char *from, const char *to)
{
	if (from < to)
		parts->parts[parts->count++] = (struct ct_line_part){ .variable = CT_LINE_TEXT,
								      .is_of_class = true,
								      .text = from,
								      .size = (size_t)(to - from) };
}

static void format_parse(struct ct_line_parts *parts, const char *format,
			 const struct ct_line_name *names, size_t name_count)
{
	const char *start = format, *at = format;

	while (*at != '\0') {
		size_t size = 0;
		const struct ct_line_name *name = find_name(at, names, name_count, &size);

		if (name == NULL) {
			at++;
			continue;
		}
		add_text(parts, start, at);
		parts->parts[parts->count++] =
			(struct ct_line_part){ .variable = name->variable,
					       .is_of_class = name->is_of_class };
		at += size;
		start = at;
	}
	add_text(parts, start, at);
}

/* The parts from `first` on that are the same for all events of a class: how many; 0 when there is
 * no variable among them. */
static size_t run_at(const struct ct_line_parts *parts, size_t first)
{
	bool has_variable = false;
	size_t end;

	for (end = first; end < parts->count && parts->parts[end].is_of_class; end++)
		has_variable |= parts->parts[end].variable != CT_LINE_TEXT;
	return has_variable ? end - first : 0;
}

/* The longest run becomes one part.  Its own parts stand behind the others. */
static void take_run(struct ct_line_parts *parts, size_t capacity)
{
	struct ct_line_part *run = parts->parts + capacity;
	size_t first = 0, count = 0;

	for (size_t i = 0; i < parts->count; i++) {
		size_t size = run_at(parts, i);

		if (size <= count)
			continue;
		first = i;
		count = size;
		i += size - 1;
	}
	parts->run = run;
	parts->run_count = count;
	if (count == 0)
		return;
	memcpy(run, parts->parts + first, count * sizeof *run);
	parts->parts[first] = (struct ct_line_part){ .variable = CT_LINE_CLASS };
	memmove(parts->parts + first + 1, parts->parts + first + count,
		(parts->count - first - count) * sizeof *parts->parts);
	parts->count -= count - 1;
}

enum ctrace_status ct_line_parts_init(struct ct_line_parts *parts, const char *format,
				      const struct ct_line_name *names, size_t name_count)
{
	size_t capacity = count_parts(format);

	*parts = (struct ct_line_parts){ .parts = calloc(2 * capacity, sizeof *parts->parts),
					 .slots = calloc(CT_LINE_SLOTS, sizeof *parts->slots) };
	if (parts->parts == NULL || parts->slots == NULL) {
		ct_line_parts_fini(parts);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	format_parse(parts, format, names, name_count);
	take_run(parts, capacity);
	return CTRACE_OK;
}

void ct_line_parts_fini(struct ct_line_parts *parts)
{
	for (size_t i = 0; parts->slots != NULL && i < CT_LINE_SLOTS; i++)
		ct_buf_fini(&parts->slots[i].text);
	free(parts->slots);
	free(parts->parts);
	*parts = (struct ct_line_parts){ 0 };
}

/* ---- the text of a class ---- */

void ct_line_slot_fill(struct ct_line_slot *slot, const struct ct_line_parts *parts,
		       const struct ct_line_class *class, ct_line_add_part_of *add,
		       const void *self, const void *of)
{
	struct ct_buf *text = &slot->text;

	ct_buf_clear(text);
	for (size_t i = 0; i < parts->run_count; i++)
		add(self, text, &parts->run[i], of);
	if (ct_buf_reserve(text, CT_LINE_PIECE))
		memset(text->data + text->size, 0, CT_LINE_PIECE);
	slot->class = *class;
	slot->is_set = !text->failed;
}
