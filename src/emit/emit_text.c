/*
 * emit_text.c - TEXTFILE: one event is one line of a file.
 *
 * Runs on the thread that drains.  A batch is formatted in memory and written with as few write(2) as possible; when one fails, the
 * file is cut back to where it stood, also over a change of generations, and the same events come again later.  With MULTIPROC
 * the file belongs to several processes: each holds its lock during a batch, and then everything is as with a file of one's own.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "emit/emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_SIZE (256u << 10) /* formatted text is written when there is so much of it */
#define DEFAULT_FILE_KB 0x2800u

struct textfile {
	const struct ctrace_emitter_context *context;
	struct ct_line_settings settings;
	enum ct_text_sharing sharing;
	uint32_t generations; /* with CT_TEXT_GENERATION */
	uint64_t file_limit;  /* bytes, the same */
	struct ct_text_file file;
	struct ct_buf lines; /* formatted, not written */
	uint64_t lost[CTRACE_LOSS_COUNT];
	bool losses_due; /* lost is not in the output */
	pid_t owner;
};

/* What a failed batch goes back to. */
struct mark {
	struct ct_text_file file;
	bool is_left; /* the file is not the current one any more: mark holds its descriptor */
	bool losses_due;
};

static void read_sharing(struct textfile *text)
{
	const struct ctrace_emitter_context *context = text->context;
	uint64_t generations = context->number(context, "MAXGENERATION");
	uint64_t size_kb = context->number(context, "MAXFILESIZE");

	text->sharing = CT_TEXT_OWN;
	if (context->number(context, "MULTIPROC") != 0) {
		text->sharing = CT_TEXT_SHARED;
		return;
	}
	if (generations < 2 || generations > INT32_MAX)
		return;
	text->sharing = CT_TEXT_GENERATION;
	text->generations = (uint32_t)generations;
	if (size_kb == 0 || size_kb > INT64_MAX / 1024)
		size_kb = DEFAULT_FILE_KB;
	text->file_limit = size_kb * 1024;
}

static enum ctrace_status open_file(struct textfile *text)
{
	const struct ctrace_emitter_context *context = text->context;

	if (context->place->path[0] != '\0' && ct_text_file_resume(&text->file, context, text->sharing) == CTRACE_OK)
		return CTRACE_OK;
	return ct_text_file_create(&text->file, context, 1, text->sharing);
}

static enum ctrace_status text_open(const struct ctrace_emitter_context *context, void **out_self)
{
	struct textfile *text = calloc(1, sizeof *text);
	enum ctrace_status status;

	if (text == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	text->context = context;
	text->owner = getpid();
	ct_buf_init(&text->lines);
	ct_text_file_init(&text->file);
	status = ct_line_settings_init(&text->settings, context);
	if (status != CTRACE_OK)
		goto undo_alloc;
	read_sharing(text);
	status = open_file(text);
	if (status != CTRACE_OK)
		goto undo_settings;
	ct_text_file_get_place(&text->file, context->place);
	*out_self = text;
	return CTRACE_OK;

undo_settings:
	ct_line_settings_fini(&text->settings);
undo_alloc:
	free(text);
	return status;
}

/* Writes what is formatted. */
static enum ctrace_status put_lines(struct textfile *text)
{
	enum ctrace_status status;

	if (text->lines.failed)
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = ct_os_write_at(text->file.fd, text->lines.data, text->lines.size, text->file.size);
	if (status != CTRACE_OK)
		return status;
	text->file.size += text->lines.size;
	ct_buf_clear(&text->lines);
	return CTRACE_OK;
}

/* Goes on in the next generation, which is begun empty. */
static enum ctrace_status turn(struct textfile *text, struct mark *mark)
{
	uint32_t next = text->file.generation % text->generations + 1;
	enum ctrace_status status = put_lines(text);

	if (status != CTRACE_OK)
		return status;
	if (mark->is_left) {
		ct_text_file_close(&text->file);
	} else {
		mark->is_left = true;
		text->file.fd = -1;
	}
	/* A batch so large that the generations come round: what the mark stands for is overwritten. */
	if (next == mark->file.generation)
		ct_text_file_close(&mark->file);
	return ct_text_file_create(&text->file, text->context, next, text->sharing);
}

static bool is_full(const struct textfile *text)
{
	return text->sharing == CT_TEXT_GENERATION && text->file.size + text->lines.size >= text->file_limit;
}

/* What stands before the next line: a new file's header, losses that are not in the output yet. */
static void add_heading(struct textfile *text)
{
	if (text->file.header_due) {
		ct_text_header_add(&text->lines, text->context, text->settings.format.format);
		text->file.header_due = false;
	}
	if (text->losses_due) {
		ct_line_add_losses(&text->lines, text->lost, text->context->pid);
		text->losses_due = false;
	}
}

static enum ctrace_status put_batch(struct textfile *text, const struct ctrace_batch *batch, struct mark *mark)
{
	enum ctrace_status status;

	for (uint32_t i = 0; i < batch->event_count; i++) {
		if (batch->events[i].level < text->settings.level)
			continue;
		if (is_full(text)) {
			status = turn(text, mark);
			if (status != CTRACE_OK)
				return status;
		}
		if (text->file.header_due || text->losses_due)
			add_heading(text);
		ct_line_add(&text->lines, &text->settings.format, &batch->events[i]);
		if (text->lines.size < CHUNK_SIZE)
			continue;
		status = put_lines(text);
		if (status != CTRACE_OK)
			return status;
	}
	if (text->losses_due && text->settings.level < CTRACE_LEVEL_COUNT)
		add_heading(text);
	return text->lines.size > 0 || text->lines.failed ? put_lines(text) : CTRACE_OK;
}

/* Takes everything back that was written since the mark; errno is kept for whoever reports the failure. */
static void cut_back(struct textfile *text, struct mark *mark)
{
	int error = errno;

	ct_buf_clear(&text->lines);
	text->losses_due = mark->losses_due;
	if (mark->is_left && text->file.fd >= 0) {
		/* Begun by this batch; nothing else is in it. */
		(void)unlink(text->file.path);
		ct_text_file_close(&text->file);
	}
	text->file = mark->file;
	if (text->file.fd >= 0)
		text->file.cut_due = ct_os_truncate(text->file.fd, text->file.size) != CTRACE_OK;
	errno = error;
}

/* Makes sure that there is a file to write to. */
static enum ctrace_status make_ready(struct textfile *text)
{
	enum ctrace_status status = CTRACE_NOT_FOUND;

	if (text->file.fd >= 0)
		status = ct_text_file_check(&text->file, text->sharing);
	if (status != CTRACE_NOT_FOUND)
		return status;
	ct_text_file_close(&text->file);
	return ct_text_file_create(&text->file, text->context, text->file.generation, text->sharing);
}

static enum ctrace_status write_own(struct textfile *text, const struct ctrace_batch *batch)
{
	struct mark mark = { 0 };
	enum ctrace_status status = make_ready(text);

	if (status != CTRACE_OK)
		return status;
	mark.file = text->file;
	mark.losses_due = text->losses_due;
	status = put_batch(text, batch, &mark);
	if (status != CTRACE_OK)
		cut_back(text, &mark);
	else if (mark.is_left)
		ct_text_file_close(&mark.file);
	return status;
}

/* The lock is needed to look at the file, and the file to lock it: a file that was replaced meanwhile is given up for the new one. */
static enum ctrace_status write_shared(struct textfile *text, const struct ctrace_batch *batch)
{
	enum ctrace_status status;

	if (text->file.fd < 0) {
		status = ct_text_file_create(&text->file, text->context, 1, text->sharing);
		if (status != CTRACE_OK)
			return status;
	}
	status = ct_text_file_lock(&text->file);
	if (status != CTRACE_OK)
		return status;
	status = ct_text_file_check(&text->file, text->sharing);
	if (status == CTRACE_OK) {
		struct mark mark = { .file = text->file, .losses_due = text->losses_due };

		status = put_batch(text, batch, &mark);
		if (status != CTRACE_OK)
			cut_back(text, &mark);
		text->file.cut_due = false; /* what could not be cut now may have somebody else's lines behind it later */
	}
	ct_text_file_unlock(&text->file);
	return status;
}

static enum ctrace_status text_write(void *self, const struct ctrace_batch *batch)
{
	struct textfile *text = self;
	enum ctrace_status status;

	if (text->sharing == CT_TEXT_SHARED) {
		status = write_shared(text, batch);
		if (status == CTRACE_NOT_FOUND) {
			ct_text_file_close(&text->file);
			status = write_shared(text, batch);
		}
	} else {
		status = write_own(text, batch);
	}
	if (status != CTRACE_OK)
		return status == CTRACE_NOT_ENOUGH_MEMORY ? status : CTRACE_OUTPUT_ERROR;
	ct_text_file_get_place(&text->file, text->context->place);
	return CTRACE_OK;
}

static void text_lost(void *self, const uint64_t totals[CTRACE_LOSS_COUNT])
{
	struct textfile *text = self;

	if (memcmp(text->lost, totals, sizeof text->lost) == 0)
		return;
	memcpy(text->lost, totals, sizeof text->lost);
	text->losses_due = true;
}

static enum ctrace_status text_flush(void *self)
{
	struct textfile *text = self;

	return text->file.fd < 0 || ct_os_sync(text->file.fd) == CTRACE_OK ? CTRACE_OK : CTRACE_OUTPUT_ERROR;
}

/*
 * The new file is begun here and not by the next event: so the drain commits where it is before anything is in it, and a recoverer never
 * finds events in a file that it does not know of.  One without an event has begun already.
 */
static enum ctrace_status text_rotate(void *self)
{
	struct textfile *text = self;
	bool is_in_place = ct_text_file_is_in_place(&text->file);
	uint32_t generation = text->file.generation;
	struct ct_text_file next;
	enum ctrace_status status;

	if (is_in_place && text->sharing != CT_TEXT_GENERATION)
		return CTRACE_UNSUPPORTED;
	if (is_in_place && text->file.size == 0)
		return CTRACE_OK;
	if (is_in_place)
		generation = generation % text->generations + 1;
	ct_text_file_init(&next);
	status = ct_text_file_create(&next, text->context, generation, text->sharing);
	if (status != CTRACE_OK)
		return status == CTRACE_NOT_ENOUGH_MEMORY ? status : CTRACE_OUTPUT_ERROR;
	ct_text_file_close(&text->file);
	text->file = next;
	ct_text_file_get_place(&text->file, text->context->place);
	return CTRACE_OK;
}

static void text_close(void *self)
{
	struct textfile *text = self;
	const struct ctrace_batch only_losses = { .size = sizeof only_losses };

	/* A forked child closes what it inherited, but the file is its parent's. */
	if (text->losses_due && text->owner == getpid())
		(void)text_write(text, &only_losses);
	ct_text_file_close(&text->file);
	ct_buf_fini(&text->lines);
	ct_line_settings_fini(&text->settings);
	free(text);
}

static const struct ctrace_property properties[] = {
	CT_LINE_PROPERTIES(CT_LINE_FORMAT, "0"),
	{ "FILE", CTRACE_PROPERTY_TEXT, "$(APPNAME).$(EMITTER).$(PID).log", "The file's name; _$(GEN) is added with MAXGENERATION." },
	{ "FLUSHEVERY", CTRACE_PROPERTY_NUMBER, "1", "Events that may wait before they are written; 0: until there is a good deal." },
	{ "LOCATION", CTRACE_PROPERTY_TEXT, NULL, "The folder; made when missing.  Else MFTRACE_LOGS, else the working folder." },
	{ "MAXFILESIZE", CTRACE_PROPERTY_NUMBER, "0x00002800", "KB in a file before the next generation; with MAXGENERATION only." },
	{ "MAXGENERATION", CTRACE_PROPERTY_NUMBER, "1", "Files that are kept; the oldest is overwritten." },
	{ "MULTIPROC", CTRACE_PROPERTY_SWITCH, "FALSE", "Several processes share the file; there are no generations then." },
	{ 0 },
};

const struct ctrace_emitter ct_emit_textfile = {
	.size = sizeof(struct ctrace_emitter),
	.name = "TEXTFILE",
	.flags = CTRACE_EMITTER_FILE,
	.properties = properties,
	.open = text_open,
	.write = text_write,
	.lost = text_lost,
	.flush = text_flush,
	.close = text_close,
	.rotate = text_rotate,
};
