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

#define SLOTS 128u    /* classes whose text is kept; two that want one slot take turns */
#define COPY_UNIT 16u /* the text of a class is copied in such pieces */

struct ct_line_slot {
	struct ct_line_class class;
	bool is_set;
	struct ct_buf text; /* with room for a last whole piece */
};

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
					 .slots = calloc(SLOTS, sizeof *parts->slots) };
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
	for (size_t i = 0; parts->slots != NULL && i < SLOTS; i++)
		ct_buf_fini(&parts->slots[i].text);
	free(parts->slots);
	free(parts->parts);
	*parts = (struct ct_line_parts){ 0 };
}

/* ---- the text of a class ---- */

static bool slot_is_class(const struct ct_line_slot *slot, const struct ct_line_class *class)
{
	const struct ct_line_class *is = &slot->class;

	return is->component == class->component && is->mnemonic == class->mnemonic &&
	       is->event_id == class->event_id && is->level == class->level &&
	       is->component_id == class->component_id && slot->is_set;
}

static struct ct_line_slot *slot_of(const struct ct_line_parts *parts,
				    const struct ct_line_class *class)
{
	uint64_t hash =
		((uintptr_t) class->component >> 3) * 31 + class->event_id * 7 + class->level;

	return &parts->slots[(hash ^ hash >> 8) % SLOTS];
}

static void fill_slot(struct ct_line_slot *slot, const struct ct_line_parts *parts,
		      const struct ct_line_class *class, ct_line_add_part_of *add, const void *self,
		      const void *of)
{
	struct ct_buf *text = &slot->text;

	ct_buf_clear(text);
	for (size_t i = 0; i < parts->run_count; i++)
		add(self, text, &parts->run[i], of);
	if (ct_buf_reserve(text, COPY_UNIT))
		memset(text->data + text->size, 0, COPY_UNIT);
	slot->class = *class;
	slot->is_set = !text->failed;
}

static inline void copy_slot(const struct ct_line_slot *slot, struct ct_buf *out)
{
	const char *text = slot->text.data;
	size_t size = slot->text.size;
	char *at = ct_buf_room(out, size + COPY_UNIT);

	if (at == NULL)
		return;
	for (size_t i = 0; i < size; i += COPY_UNIT)
		memcpy(at + i, text + i, COPY_UNIT);
	out->size += size;
}

/* Out of line, so that the classes that are known are spared its registers. */
static __attribute__((noinline)) void
add_new_class(struct ct_line_slot *slot, const struct ct_line_parts *parts, struct ct_buf *out,
	      const struct ct_line_class *class, ct_line_add_part_of *add, const void *self,
	      const void *of)
{
	fill_slot(slot, parts, class, add, self, of);
	out->failed |= slot->text.failed;
	copy_slot(slot, out);
}

void ct_line_parts_add_class(const struct ct_line_parts *parts, struct ct_buf *out,
			     const struct ct_line_class *class, ct_line_add_part_of *add,
			     const void *self, const void *of)
{
	struct ct_line_slot *slot = slot_of(parts, class);

	if (__builtin_expect(slot_is_class(slot, class), 1))
		copy_slot(slot, out);
	else
		add_new_class(slot, parts, out, class, add, self, of);
}
