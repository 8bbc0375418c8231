/*
 * repair_metadata.c - reads the classes of a trace whose metadata are damaged.
 *
 * Called by repair.c, on one thread, with text that may be hostile.  A class that cannot be read
 * has no number, so no event is decoded by it.  A damaged trace-wide part is replaced by a new one,
 * which holds only the types that the classes use.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/repair/repair.h"

#include "read/binfile_metadata.h"

#include <string.h>

struct work {
	struct ct_repair *repair;
	const char *path;
	size_t end;   /* of the parsed text */
	size_t shift; /* bytes that the parsed text has in front of those of the file */
};

static void report_damage(size_t at, size_t size, void *user)
{
	const struct work *work = user;
	const struct ct_repair_note note = { .path = work->path,
					     .offset = at - work->shift,
					     .bytes = size,
					     .message = at + size < work->end
								? "not understood"
								: "not understood from here on" };

	work->repair->damages++;
	work->repair->report(&note, work->repair->user);
}

static void report_class(size_t at, size_t size, void *user)
{
	((struct work *)user)->repair->lost_classes++;
	report_damage(at, size, user);
}

/* Finds the first block of a class; the generic class belongs to the trace-wide part. */
static const char *find_class(struct ct_span text)
{
	static const char block[] = "\nevent {\n",
			  generic[] = "\nevent {\n\tname = \"ctrace:any\";";
	const char *end = text.at + text.size, *at = text.at;

	while (at < end && (at = memmem(at, (size_t)(end - at), block, sizeof block - 1)) != NULL) {
		if ((size_t)(end - at) < sizeof generic - 1 ||
		    memcmp(at, generic, sizeof generic - 1) != 0)
			return at;
		at++;
	}
	return end;
}

/* Parses the text from its first class on, behind a newly printed trace-wide part: its own is
 * damaged at `at`. */
static enum ctrace_status parse_behind_other(struct work *work, struct ct_span text, size_t at,
					     struct ct_schema *schema)
{
	const char *class = find_class(text);
	size_t skipped = (size_t)(class - text.at), front;
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;
	struct ct_buf whole;

	ct_buf_init(&whole);
	ct_schema_print_trace(&whole, &(struct ct_trace_info){ .frequency = 0 });
	front = whole.size;
	ct_buf_add(&whole, class, text.size - skipped);
	report_damage(at, at < skipped ? skipped - at : 0, work);
	work->end = whole.size;
	work->shift = front - skipped;
	if (!whole.failed)
		status =
			ct_binfile_classes_parse(schema, (struct ct_span){ whole.data, whole.size },
						 front, report_class, work);
	ct_buf_fini(&whole);
	return status;
}

enum ctrace_status ct_repair_classes(struct ct_repair *repair, const char *path,
				     struct ct_span text, struct ct_schema *schema)
{
	struct work work = { .repair = repair, .path = path, .end = text.size };
	struct ct_trace_info info;
	size_t at;

	if (ct_schema_parse_trace(text.at, text.size, &info, &at) == CTRACE_OK)
		return ct_binfile_classes_parse(schema, text, at, report_class, &work);
	return parse_behind_other(&work, text, at, schema);
}
