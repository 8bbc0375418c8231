/*
 * emit_text.c - TEXTFILE: one event is one line of a file.
 *
 * Runs on the thread that consumes.  A batch is formatted in memory and written with as few
 * write(2) as possible; when one fails, the file is cut back to where it stood, also over a change
 * of generations, and the same events come again later.  With MULTIPROC the file belongs to several
 * processes: each holds its lock during a batch, and then everything is as with a file of one's
 * own.
 *
 * A new file is committed as the place before a line goes there.  When a part of the batch is in
 * the generation before, the place records where that began: a recoverer does not write the lines
 * again that it finds there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the header of a file: whose trace it is, and how to read it ---- */

/* Quotes and backslashes are as harmless here as they are usual in a command line, so they stay as
 * they are; the rest of what could spoil a line is escaped. */
static void header_add_value(struct ct_buf *out, const char *value)
{
	while (*value != '\0') {
		size_t size = strcspn(value, "\"\\");

		ct_escape_add(out, value, size);
		value += size;
		size = strspn(value, "\"\\");
		ct_buf_add(out, value, size);
		value += size;
	}
}

static void header_add_label(struct ct_buf *out, const char *label)
{
	static const char blanks[] = "                ";
	size_t size = strlen(label);

	ct_buf_add_text(out, "# ");
	ct_buf_add(out, label, size);
	ct_buf_add(out, blanks, sizeof blanks - 1 - size);
	ct_buf_add_text(out, " = ");
}

static void header_add_line(struct ct_buf *out, const char *label, const char *value)
{
	header_add_label(out, label);
	header_add_value(out, value);
	ct_buf_add_char(out, '\n');
}

static void header_add(struct ct_buf *out, const struct ctrace_emitter_context *context,
		       const char *format)
{
	uint64_t now = ct_clock_wall_ns();

	ct_buf_add_text(out, CT_TEXT_HEADER_MARK);
	header_add_line(out, "CommandLine", context->command_line);
	header_add_label(out, "ProcessId");
	ct_buf_add_u64(out, context->pid);
	ct_buf_add_char(out, '\n');
	header_add_label(out, "Date");
	ct_line_add_date(out, now);
	ct_buf_add_char(out, '\n');
	header_add_label(out, "Time");
	ct_line_add_time(out, now);
	ct_buf_add_char(out, '\n');
	header_add_line(out, "Operating System", context->system);
	header_add_line(out, "Computer Name", context->host);
	header_add_line(out, "Format", format);
}

/* formatted text is written when there is so much of it */
#define CHUNK_SIZE (256u << 10)
#define KEPT_MEMORY (4 * (size_t)CHUNK_SIZE) /* of lines, between writes */
#define DEFAULT_FILE_KB 0x2800u

struct textfile {
	struct ct_line_output out; /* its lines: formatted, not written */
	enum ct_text_sharing sharing;
	uint32_t generations; /* with CT_TEXT_GENERATION */
	uint64_t file_limit;  /* bytes, the same */
	struct ct_text_file file;
	/* in a recoverer: lines that are in the file and need not be written */
	struct ct_text_seen seen;
	struct ct_clock_seen clock;
	pid_t owner;
};

/* The state that a failed batch is reset to. */
struct mark {
	struct ct_text_file file;
	/* not 0: the file is not the current one any more: mark holds its descriptors */
	uint32_t turns;
	bool losses_due;
	struct ct_clock_seen clock;
};

static void read_sharing(struct textfile *text)
{
	const struct ctrace_emitter_context *context = text->out.context;
	uint64_t size_kb = context->number(context, "MAXFILESIZE");

	text->sharing = CT_TEXT_OWN;
	if (context->number(context, "MULTIPROC") != 0) {
		text->sharing = CT_TEXT_SHARED;
		return;
	}
	text->generations = ct_file_generations(context);
	if (text->generations == 1)
		return;
	text->sharing = CT_TEXT_GENERATION;
	if (size_kb == 0)
		size_kb = DEFAULT_FILE_KB;
	text->file_limit = size_kb * 1024;
}

/* Another process has written behind the place, so uncommitted lines of the dead process cannot
 * be cut off.  A recoverer that was killed may have delivered some of them already: in this
 * file, or in the file `<name>.<process>`. */
static void load_seen(struct textfile *text)
{
	const struct ctrace_place *place = text->out.context->place;
	uint32_t pid = text->out.context->pid;
	char beside[CTRACE_EMITTER_PATH_SIZE];

	ct_text_seen_load(&text->seen, place->path, place->offset, pid);
	for (unsigned i = 1; i <= CT_FILE_BESIDE_LIMIT; i++)
		if (ct_file_name_beside(place->path, pid, i, beside))
			ct_text_seen_load(&text->seen, beside, 0, pid);
}

/* The process was killed within a batch that had begun in an earlier generation. */
static void load_split(struct textfile *text)
{
	const struct ctrace_emitter_context *context = text->out.context;
	const struct ctrace_place *place = context->place;
	uint32_t generation, turns = ct_text_file_turns(place, &generation);
	char path[CTRACE_EMITTER_PATH_SIZE];

	for (uint32_t back = turns; back > 0; back--) {
		uint64_t other = (generation - 1 + (uint64_t)text->generations * turns - back) %
					 text->generations +
				 1;

		/* A generation that was overwritten since holds a later part, or nothing that
		 * counts. */
		if (back < text->generations &&
		    ct_text_file_other_generation(context, generation, (uint32_t)other, path))
			ct_text_seen_load(&text->seen, path, back == turns ? place->offset : 0,
					  context->pid);
	}
}

/* Lines that were delivered are no longer there.  A file that is gone was put away, as logs are. */
static void say_changed(const struct ctrace_emitter_context *context, enum ctrace_status status,
			uint64_t size)
{
	uint64_t counts = context->place->offset;

	if (status == CTRACE_OK && size < counts)
		ct_file_say_missing(context, context->place->path, counts - size, counts);
}

static enum ctrace_status open_file(struct textfile *text)
{
	const struct ctrace_emitter_context *context = text->out.context;
	enum ctrace_status status = CTRACE_NOT_FOUND;
	uint32_t generation;
	bool is_recovering = context->recovering && text->sharing != CT_TEXT_SHARED &&
			     context->place->path[0] == '/';

	/* Resuming comes first: it may cut off half a line, but no whole one. */
	if (context->place->path[0] == '/')
		status = ct_text_file_resume(&text->file, context, text->sharing);
	if (is_recovering && ct_text_file_turns(context->place, &generation) == 0)
		say_changed(context, status, text->file.size);
	if (is_recovering && text->sharing == CT_TEXT_GENERATION &&
	    ct_text_file_turns(context->place, &generation) != 0)
		load_split(text);
	else if (is_recovering &&
		 (status == CTRACE_TIMED_OUT ||
		  (status == CTRACE_OK && text->file.size != context->place->offset)))
		load_seen(text);
	if (status == CTRACE_OK)
		return CTRACE_OK;
	/* The file is there, perhaps with lines behind the place, and may be looked at later. */
	if (status == CTRACE_OS_ERROR || status == CTRACE_NOT_ENOUGH_MEMORY)
		return status;
	return ct_text_file_create(&text->file, context,
				   text->sharing == CT_TEXT_GENERATION
					   ? ct_file_generation_first(context, &ct_emit_textfile)
					   : 1,
				   text->sharing, NULL);
}

static enum ctrace_status text_open(const struct ctrace_emitter_context *context, void **out_self)
{
	void *self;
	enum ctrace_status status = ct_line_output_open(sizeof(struct textfile), context, &self);
	struct textfile *text = status == CTRACE_OK ? self : NULL;

	if (text == NULL)
		return status;
	text->owner = getpid();
	text->clock.steps = CT_CLOCK_UNSEEN;
	ct_text_file_init(&text->file);
	read_sharing(text);
	status = open_file(text);
	if (status != CTRACE_OK) {
		ct_text_seen_fini(&text->seen);
		ct_line_output_close(text);
		return status;
	}
	/* Until something is delivered, the old place is the position of the seen lines. */
	if (text->seen.count == 0)
		ct_text_file_get_place(&text->file, context->place);
	*out_self = text;
	return CTRACE_OK;
}

/* ---- the next file ---- */

static enum ctrace_status commit_place(const struct textfile *text)
{
	const struct ctrace_emitter_context *context = text->out.context;

	ct_text_file_get_place(&text->file, context->place);
	/* A shared file is not cut back to its place. */
	return context->commit != NULL && text->sharing != CT_TEXT_SHARED ? context->commit(context)
									  : CTRACE_OK;
}

/* Goes over to a file that holds nothing of ours yet.  When the place cannot be committed,
 * everything is as it was. */
static enum ctrace_status file_go_over(struct textfile *text, uint32_t generation)
{
	struct ct_text_file before = text->file, next;
	enum ctrace_status status;

	ct_text_file_drop_lost(&before);
	ct_text_file_init(&next);
	status = ct_text_file_create(&next, text->out.context, generation, text->sharing, &before);
	if (status != CTRACE_OK)
		return status;
	/* The program closed our descriptor in the middle of a batch: the lines of that batch do
	 * not count. */
	if (before.cut_due && next.id.inode == before.id.inode &&
	    next.id.device == before.id.device && before.size < next.size) {
		next.size = before.size;
		next.cut_due = true;
	}
	text->file = next;
	status = next.cut_due ? ct_text_file_cut(&text->file) : CTRACE_OK;
	if (status == CTRACE_OK)
		status = commit_place(text);
	if (status == CTRACE_OK) {
		ct_text_file_close(&before);
		return CTRACE_OK;
	}
	text->file = before;
	if (before.fd >= 0)
		ct_text_file_get_place(&before, text->out.context->place);
	if (next.size == 0)
		(void)unlink(next.path);
	ct_text_file_close(&next);
	return status;
}

/* Makes sure that there is a file to write to. */
static enum ctrace_status file_make_ready(struct textfile *text)
{
	enum ctrace_status status = ct_text_file_check(&text->file, text->sharing);

	return status == CTRACE_NOT_FOUND ? file_go_over(text, text->file.generation) : status;
}

/* ---- a batch ---- */

/* Writes what is formatted. */
static enum ctrace_status put_lines(struct textfile *text)
{
	enum ctrace_status status;

	if (text->out.lines.failed)
		return CTRACE_NOT_ENOUGH_MEMORY;
	status = ct_text_file_write(&text->file, text->out.lines.data, text->out.lines.size);
	if (status == CTRACE_OK)
		ct_buf_trim(&text->out.lines, KEPT_MEMORY);
	return status;
}

/* Goes on in the next generation, which is begun empty, and is the place before a line is in it. */
static enum ctrace_status generation_turn(struct textfile *text, struct mark *mark)
{
	const struct ctrace_emitter_context *context = text->out.context;
	uint32_t generation = text->file.generation % text->generations + 1;
	enum ctrace_status status = put_lines(text);
	bool is_begun = mark->turns != 0 || text->file.size != mark->file.size;
	struct ct_text_file next;

	if (status != CTRACE_OK)
		return status;
	/* A batch so large that the generations come round: what the mark stands for is
	 * overwritten. */
	if (generation == mark->file.generation && mark->turns != 0) {
		ct_text_file_close(&mark->file);
		mark->file.id = (struct ct_file_id){ 0, 0 };
	}
	ct_text_file_init(&next);
	status = ct_text_file_create(&next, context, generation, text->sharing, &text->file);
	if (status != CTRACE_OK)
		return status;
	if (mark->turns++ != 0)
		ct_text_file_close(&text->file);
	text->file = next;
	ct_text_file_get_place(&text->file, context->place);
	if (is_begun)
		ct_text_file_split_place(context->place, mark->file.size, mark->turns);
	return context->commit != NULL ? context->commit(context) : CTRACE_OK;
}

/* A recoverer begins no generation: the next one may be a later process's by now. */
static bool file_is_full(const struct textfile *text)
{
	return text->sharing == CT_TEXT_GENERATION && !text->out.context->recovering &&
	       text->file.size + text->out.lines.size >= text->file_limit;
}

/* What stands before the next line: a new file's header, losses that are not in the output yet. */
static void add_heading(struct textfile *text)
{
	if (text->file.header_due) {
		header_add(&text->out.lines, text->out.context,
			   text->out.settings.line.format.format);
		text->file.header_due = false;
	}
	if (text->out.losses_due) {
		ct_line_add_losses(&text->out.lines, text->out.lost, text->out.context->pid);
		text->out.losses_due = false;
	}
}

static void add_line(struct textfile *text, const struct ctrace_event *event)
{
	size_t before;

	if (text->file.header_due || text->out.losses_due)
		add_heading(text);
	ct_line_add_clock(&text->out.lines, &text->clock, event);
	before = text->out.lines.size;
	ct_line_add(&text->out.settings.line, &text->out.lines, event);
	if (text->seen.count > 0 && !text->out.lines.failed &&
	    ct_text_seen_take(&text->seen, text->out.lines.data + before,
			      text->out.lines.size - before))
		text->out.lines.size = before;
}

static enum ctrace_status put_batch(struct textfile *text, const struct ctrace_batch *batch,
				    struct mark *mark)
{
	enum ctrace_status status;

	for (uint32_t i = 0; i < batch->event_count; i++) {
		if (batch->events[i].level < text->out.settings.level)
			continue;
		if (file_is_full(text)) {
			status = generation_turn(text, mark);
			if (status != CTRACE_OK)
				return status;
		}
		add_line(text, &batch->events[i]);
		if (text->out.lines.size < CHUNK_SIZE)
			continue;
		status = put_lines(text);
		if (status != CTRACE_OK)
			return status;
	}
	if (text->out.losses_due)
		add_heading(text);
	return text->out.lines.size > 0 || text->out.lines.failed ? put_lines(text) : CTRACE_OK;
}

/* Takes back everything that was written since the mark.  Keeps errno, for the report of the
 * failure. */
static void file_cut_back(struct textfile *text, const struct mark *mark)
{
	int error = errno;

	ct_buf_trim(&text->out.lines, KEPT_MEMORY);
	text->out.losses_due = mark->losses_due;
	text->clock = mark->clock;
	if (mark->turns != 0) {
		struct ct_text_file begun = text->file;

		text->file = mark->file;
		/* This batch began the file, and nothing else is in it.  It is removed once it is
		 * no longer the place. */
		if (commit_place(text) == CTRACE_OK)
			(void)unlink(begun.path);
		ct_text_file_close(&begun);
	}
	text->file.size = mark->file.size;
	text->file.header_due = mark->file.header_due;
	(void)!ct_text_file_cut(&text->file);
	errno = error;
}

static enum ctrace_status write_own(struct textfile *text, const struct ctrace_batch *batch)
{
	enum ctrace_status status = file_make_ready(text);
	struct mark mark = { .file = text->file,
			     .losses_due = text->out.losses_due,
			     .clock = text->clock };

	if (status != CTRACE_OK)
		return status;
	status = put_batch(text, batch, &mark);
	if (status != CTRACE_OK)
		file_cut_back(text, &mark);
	else if (mark.turns != 0)
		ct_text_file_close(&mark.file);
	return status;
}

/* The lock is needed to look at the file, and the file to lock it: a file that was replaced
 * meanwhile is given up for the new one. */
static enum ctrace_status write_shared(struct textfile *text, const struct ctrace_batch *batch)
{
	enum ctrace_status status;

	if (text->file.fd < 0) {
		status =
			ct_text_file_create(&text->file, text->out.context, 1, text->sharing, NULL);
		if (status != CTRACE_OK)
			return status;
	}
	status = ct_text_file_lock(&text->file);
	if (status != CTRACE_OK)
		return status;
	status = ct_text_file_check(&text->file, text->sharing);
	if (status == CTRACE_OK) {
		struct mark mark = { .file = text->file,
				     .losses_due = text->out.losses_due,
				     .clock = text->clock };

		status = put_batch(text, batch, &mark);
		if (status != CTRACE_OK)
			file_cut_back(text, &mark);
		/* bytes that cannot be cut now may have another process's lines behind them later
		 */
		text->file.cut_due = false;
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
	ct_text_file_get_place(&text->file, text->out.context->place);
	return CTRACE_OK;
}

static const struct ctrace_batch only_losses = { .size = sizeof only_losses };

/* A recoverer flushes once, and then removes what else knows of the losses. */
static enum ctrace_status text_flush(void *self)
{
	struct textfile *text = self;

	if (text->out.context->recovering && text->out.losses_due &&
	    text_write(text, &only_losses) != CTRACE_OK)
		return CTRACE_OUTPUT_ERROR;
	return text->file.fd < 0 || ct_os_sync(text->file.fd) == CTRACE_OK ? CTRACE_OK
									   : CTRACE_OUTPUT_ERROR;
}

/*
 * The new file is begun here and not by the next event: so the consumer commits where it is before
 * anything is in it, and a recoverer never finds events in a file that it does not know of.  One
 * without an event has begun already.
 */
static enum ctrace_status text_rotate(void *self)
{
	struct textfile *text = self;
	bool is_in_place = ct_text_file_is_in_place(&text->file);
	enum ctrace_status status;

	if (is_in_place && text->sharing != CT_TEXT_GENERATION)
		return CTRACE_UNSUPPORTED;
	if (is_in_place && text->file.size == 0)
		return CTRACE_OK;
	status = file_go_over(text, is_in_place ? text->file.generation % text->generations + 1
						: text->file.generation);
	return status == CTRACE_OK || status == CTRACE_NOT_ENOUGH_MEMORY ? status
									 : CTRACE_OUTPUT_ERROR;
}

static void text_close(void *self)
{
	struct textfile *text = self;

	/* A forked child closes what it inherited, but the file is its parent's. */
	if (text->out.losses_due && text->owner == getpid())
		(void)text_write(text, &only_losses);
	ct_text_file_close(&text->file);
	ct_text_seen_fini(&text->seen);
	ct_line_output_close(text);
}

static const struct ctrace_property properties[] = {
	CT_LINE_PROPERTIES(CT_LINE_FORMAT, "0"),
	{ "FILE", CTRACE_PROPERTY_FILE, "$(APPNAME).$(EMITTER).$(PID).log",
	  "The file's name; _$(GEN) is added with MAXGENERATION." },
	{ "FLUSHEVERY", CTRACE_PROPERTY_NUMBER, "1",
	  "Events that may wait before they are written; 0: until there is a good deal." },
	CT_FILE_ACCESS_PROPERTIES,
	{ "LOCATION", CTRACE_PROPERTY_DIRECTORY, NULL,
	  "The directory; made when missing.  Else MFTRACE_LOGS, else the working directory." },
	{ "MAXFILESIZE", CTRACE_PROPERTY_NUMBER, "0x00002800",
	  "KB in a file before the next generation; with MAXGENERATION only." },
	{ "MAXGENERATION", CTRACE_PROPERTY_NUMBER, "1",
	  "Files that are kept; the oldest is overwritten." },
	{ "MULTIPROC", CTRACE_PROPERTY_SWITCH, "FALSE",
	  "Several processes share the file; there are no generations then." },
	{ 0 },
};

const struct ctrace_emitter ct_emit_textfile = {
	.size = sizeof(struct ctrace_emitter),
	.name = "TEXTFILE",
	.flags = CTRACE_EMITTER_FILE,
	.properties = properties,
	.open = text_open,
	.write = text_write,
	.lost = ct_line_output_lost,
	.flush = text_flush,
	.close = text_close,
	.rotate = text_rotate,
};
