/*
 * repair_metadata.c - reads the classes of a trace whose metadata are damaged, and prints the
 * metadata of its copy.
 *
 * Called by repair.c, on one thread, with text that may be hostile.  A class that cannot be read
 * has no number, so no event is decoded by it.  A damaged trace-wide part is replaced by a new one,
 * which holds only the types that the classes use.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/repair/repair_trace.h"

#include "lib/emit/binfile.h"
#include "read/binfile_metadata.h"

#include <fcntl.h>
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

/* Classes do not depend on the process that wrote them. */
enum ctrace_status ct_repair_read_classes(struct ct_repair_trace *trace)
{
	enum ctrace_status status = ct_schema_create(&trace->schema);

	/* ct_repair_trace_info() has reported why there is no text. */
	if (status != CTRACE_OK || trace->text.size == 0)
		return status;
	return ct_repair_classes(trace->repair, trace->metadata_path,
				 (struct ct_span){ trace->text.data, trace->text.size },
				 trace->schema);
}

/* A comment in the metadata counts the losses of the streams before this trace.  It is copied
 * unchanged if it is one comment. */
static void add_lost_mark(struct ct_buf *out, const struct ct_buf *text)
{
	size_t end = 0;
	const char *mark =
		text->size > 0 ? ct_bin_mark_find(text->data, text->size, CT_BIN_MARK_LOST, &end)
			       : NULL;
	size_t size;

	if (mark == NULL)
		return;
	size = end - (size_t)(mark - text->data);
	if (memmem(mark + 2, size - 2, "*/", 2) == mark + size - (sizeof CT_BIN_MARK_END - 1))
		ct_buf_add(out, mark, size);
}

/* Copies the marks of steps of the wall clock. */
static void add_clock_marks(struct ct_buf *out, const struct ct_buf *text)
{
	struct ct_bin_clock_mark mark;

	for (size_t at = 0; ct_bin_clock_mark_next(text->data, text->size, &at, &mark);)
		ct_bin_clock_mark_add(out, &mark);
}

/* Marks the metadata of a copy that lacks packets.  Without this mark, a gap in such a copy looks
 * like a wrong number. */
static const char gaps_mark[] = "/* ctrace repair: packets are missing */\n";

bool ct_repair_has_gaps(const struct ct_buf *text)
{
	return text->size > 0 &&
	       memmem(text->data, text->size, gaps_mark, sizeof gaps_mark - 1) != NULL;
}

enum ctrace_status ct_repair_write_metadata(struct ct_repair_trace *trace, bool has_gaps)
{
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;
	struct ct_buf out;
	size_t end;
	int fd = -1;

	ct_buf_init(&out);
	ct_schema_print_trace(&out, &trace->info);
	add_lost_mark(&out, &trace->text);
	add_clock_marks(&out, &trace->text);
	/* The process may find the copy at the path of its directory. */
	if (trace->text.size > 0 && ct_bin_mark_find(trace->text.data, trace->text.size,
						     CT_BIN_MARK_OWN_NUMBERS, &end) != NULL)
		ct_buf_add_text(&out, CT_BIN_MARK_OWN_NUMBERS CT_BIN_MARK_END);
	if (has_gaps || ct_repair_has_gaps(&trace->text))
		ct_buf_add_text(&out, gaps_mark);
	for (uint32_t i = 1; i < ct_schema_count(trace->schema); i++)
		ct_schema_print_class(&out, ct_schema_at(trace->schema, i));
	ct_buf_add_text(&out, CT_BIN_MARK_CLOSED);
	ct_buf_add(&out, trace->closed.data, trace->closed.size);
	ct_buf_add_text(&out, CT_BIN_MARK_END);
	if (!out.failed)
		status =
			ct_os_open_file(trace->to_fd, "metadata", O_WRONLY | O_CREAT | O_EXCL, &fd);
	if (status == CTRACE_OK)
		status = ct_os_write_at(fd, out.data, out.size, 0);
	ct_os_close(&fd);
	ct_buf_fini(&out);
	return status;
}
