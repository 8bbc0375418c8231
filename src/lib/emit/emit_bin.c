/*
 * emit_bin.c - BINFILE: a directory that is a Common Trace Format 1.8 trace, one stream file a
 * ring.
 *
 * Runs on the thread that consumes.  Here are the properties, the choice of the directory, and
 * generations: a generation is a directory, the next one begins with the batch for which the
 * present one has no room, and the oldest is replaced.  The new directory is committed as the place
 * before an event goes there, so whenever a process is killed, its recoverer goes on in one
 * directory only.  A recoverer begins no generation.  Bytes behind the committed place of a stream
 * do not count, and a recoverer learns that place only when the stream has events.
 *
 * MULTIPROC changes nothing, since every process has a directory of its own: one that another
 * process has open is left alone, ours then ends in ".<pid>".  One that another process left
 * without closing it is renamed, and ends in the number of that process.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/binfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FILE_KB 0x2800u
/* between two looks at the directory and the metadata while batches follow each other */
#define LOOK_NS 1000000000u

struct binfile {
	const struct ctrace_emitter_context *context;
	struct ct_trace_info info;
	uint32_t generations; /* 1: no limit to the size */
	uint32_t generation;  /* from 1 */
	uint64_t size_limit;  /* bytes in a generation */
	struct ct_bin_limit limit;
	uint64_t lost; /* all reasons, as reported */
	struct ct_file_access access;
	bool compresses; /* compresses directories that are closed for good */
	struct ct_bin_directory *directory;
	struct ct_event_names *names; /* or NULL */
	struct ct_bin_text texts;
};

static void copy_text(char *to, size_t capacity, const char *from)
{
	(void)snprintf(to, capacity, "%s", from != NULL ? from : "");
}

void ct_bin_info_fill(struct ct_trace_info *info, const struct ctrace_emitter_context *context)
{
	const char *format;

	*info = (struct ct_trace_info){ .pid = context->pid,
					.asid = context->asid,
					.start_ns = context->start_ns,
					.is_big = CTRACE_IS_BIG_ };
	copy_text(info->host, sizeof info->host, context->host);
	copy_text(info->program, sizeof info->program, context->program);
	copy_text(info->system, sizeof info->system, context->system);
	copy_text(info->jobname, sizeof info->jobname, context->jobname);
	format = context->property(context, "FORMAT");
	/* A truncated format would be a different one. */
	if (format != NULL && strlen(format) < sizeof info->format)
		copy_text(info->format, sizeof info->format, format);
}

static void read_properties(struct binfile *bin)
{
	const struct ctrace_emitter_context *context = bin->context;
	uint64_t size_kb = context->number(context, "MAXFILESIZE");
	const char *compression;

	bin->generations = ct_file_generations(context);
	bin->access = ct_file_access_read(context);
	if (size_kb == 0)
		size_kb = DEFAULT_FILE_KB;
	bin->size_limit = size_kb * 1024;
	if (bin->generations == 1 && !context->recovering)
		bin->limit.total = context->number(context, "LIMITSIZE") * 1024;
	bin->texts.encoding = ct_encoding_setting(context);
	compression = context->property(context, "COMPRESS");
	bin->compresses = !context->recovering && compression != NULL &&
			  ct_name_is(compression, strlen(compression), "ZSTD");
}

/* -----------------------------------------------------------------------------------------------
 * Where
 */

struct attempt {
	struct ct_bin_open_mode mode;
	uint32_t pid;
	struct ct_bin_directory *directory;
};

static enum ctrace_status attempt_path(const char *path, void *user)
{
	struct attempt *attempt = user;
	char beside[CTRACE_EMITTER_PATH_SIZE];
	enum ctrace_status status;

	ct_bin_pack_let_go(path);
	status = ct_bin_directory_create(path, &attempt->mode, &attempt->directory);
	attempt->mode.is_beside = true;
	for (unsigned i = 1; i <= CT_FILE_BESIDE_LIMIT && status == CTRACE_TIMED_OUT; i++) {
		if (!ct_file_name_beside(path, attempt->pid, i, beside))
			return CTRACE_OS_ERROR;
		status = ct_bin_directory_create(beside, &attempt->mode, &attempt->directory);
	}
	attempt->mode.is_beside = false;
	if (status == CTRACE_TIMED_OUT)
		errno = EBUSY;
	return status;
}

static bool print_name(struct ct_buf *out, const struct binfile *bin, uint32_t generation)
{
	return ct_file_name_print(out, bin->context, &ct_emit_binfile, generation,
				  bin->generations > 1 ||
					  (bin->limit.total != 0 && generation > 1));
}

/* Sets up a new or continued directory with the emitter's settings. */
static void directory_set_up(struct binfile *bin, struct ct_bin_directory *directory)
{
	ct_event_names_use(bin->names, directory->schema);
	directory->is_recovered = bin->context->recovering;
	directory->context = bin->context;
	directory->access = bin->access;
	directory->texts = &bin->texts;
	if (bin->limit.total != 0)
		directory->size_limit = ct_bin_limit_small(&bin->limit);
	else
		directory->size_limit =
			bin->generations > 1 && !bin->context->recovering ? bin->size_limit : 0;
}

/* Opens the directory of the place.  That of a run may have got another name. */
static enum ctrace_status resume_directory(const struct binfile *bin,
					   struct ct_bin_directory **out_directory)
{
	struct ctrace_place place = *bin->context->place;
	char run[CT_FILE_RUN_SIZE];

	if (ct_file_run(bin->context, run) != NULL &&
	    !ct_file_run_follow(bin->context, run, place.path))
		return CTRACE_NOT_FOUND;
	return ct_bin_directory_resume(&place, &bin->info, out_directory);
}

static enum ctrace_status create_directory(struct binfile *bin, uint32_t generation,
					   const struct ct_bin_open_mode *mode,
					   struct ct_bin_directory **out_directory)
{
	struct attempt attempt = { .mode = *mode, .pid = bin->context->pid };
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;
	char path[CTRACE_EMITTER_PATH_SIZE];
	char run[CT_FILE_RUN_SIZE];
	struct ct_buf name;

	/* Events that are written anew come with a time. */
	if (bin->texts.encoding == CT_ENCODING_ASCII)
		ct_bin_info_clock(&bin->info, bin->context);
	attempt.mode.info = &bin->info;
	attempt.mode.access = bin->access;
	attempt.mode.run = ct_file_run(bin->context, run);
	ct_buf_init(&name);
	if (print_name(&name, bin, generation))
		status = ct_file_place(bin->context, ct_buf_text(&name), attempt_path, &attempt,
				       path);
	ct_buf_fini(&name);
	if (status == CTRACE_OK) {
		directory_set_up(bin, attempt.directory);
		*out_directory = attempt.directory;
	}
	return status;
}

/* Used when there is no place.  A recoverer replaces no other process's directory: the name may be
 * a later process's by now. */
static enum ctrace_status create_first(struct binfile *bin, struct ct_bin_directory *from)
{
	const struct ct_bin_open_mode mode = { .from = from,
					       .may_continue = true,
					       .may_replace_others = !bin->context->recovering };

	bin->generation = ct_file_generation_first(bin->context, &ct_emit_binfile);
	return create_directory(bin, bin->generation, &mode, &bin->directory);
}

/* FILE names another directory now.  It follows the one of the place, which reports what was lost
 * until now. */
static enum ctrace_status create_after(struct binfile *bin)
{
	struct ct_bin_directory *before;
	enum ctrace_status status = resume_directory(bin, &before);
	uint64_t reported;

	if (status != CTRACE_OK)
		return create_first(bin, NULL);
	reported = before->lost_reported;
	ct_bin_take_back_lost(before, UINT64_MAX);
	status = create_first(bin, before);
	if (status != CTRACE_OK)
		(void)!ct_bin_write_lost(before, reported);
	ct_bin_directory_close(before);
	return status;
}

/* Does FILE still name the directory of the place? */
static bool directory_is_named(const struct binfile *bin, const char *path)
{
	struct ct_buf name;
	bool is_same;

	ct_buf_init(&name);
	is_same = print_name(&name, bin, bin->generation) &&
		  ct_file_name_ends(path, strlen(path), &name);
	ct_buf_fini(&name);
	return is_same;
}

/* A directory that is there and is no longer what its process left. */
static void say_changed(const struct binfile *bin, enum ctrace_status status)
{
	const struct ctrace_emitter_context *context = bin->context;
	struct ct_buf text;

	ct_buf_init(&text);
	ct_buf_add_format(&text, "%s/metadata", context->place->path);
	if (status == CTRACE_DAMAGED ||
	    (status == CTRACE_NOT_FOUND && access(context->place->path, F_OK) == 0 &&
	     access(ct_buf_text(&text), F_OK) != 0)) {
		ct_buf_add_text(&text, ": it is not what the process wrote");
		if (context->failed_at != NULL)
			context->failed_at(context, ct_buf_text(&text));
	}
	ct_buf_fini(&text);
}

static enum ctrace_status open_directory(struct binfile *bin)
{
	const struct ctrace_place *place = bin->context->place;
	enum ctrace_status status;

	if (place->path[0] != '/' || memchr(place->path, '\0', sizeof place->path) == NULL)
		return create_first(bin, NULL);
	bin->generation = (uint32_t)place->extra != 0 ? (uint32_t)place->extra : 1;
	/* A live process reopens because a setting changed. */
	if (!bin->context->recovering && !directory_is_named(bin, place->path))
		return create_after(bin);
	status = resume_directory(bin, &bin->directory);
	/* The directory is gone, belongs to another process, or is unreadable, and is not touched.
	 */
	if (bin->context->recovering)
		say_changed(bin, status);
	if (status == CTRACE_NOT_FOUND || status == CTRACE_DAMAGED || status == CTRACE_TIMED_OUT)
		return create_directory(bin, bin->generation, &(const struct ct_bin_open_mode){ 0 },
					&bin->directory);
	if (status != CTRACE_OK)
		return status;
	directory_set_up(bin, bin->directory);
	if (bin->context->recovering)
		ct_bin_hidden_remove(bin->directory);
	status = ct_bin_settle_lost(bin->directory);
	if (status != CTRACE_OK)
		ct_bin_directory_close(bin->directory);
	return status;
}

/* Returns true when the directory holds an event. */
static bool directory_is_begun(const struct binfile *bin)
{
	return bin->directory->size > bin->directory->metadata_size;
}

static void note_place(const struct binfile *bin)
{
	struct ctrace_place *place = bin->context->place;

	if (strcmp(place->path, bin->directory->path) != 0)
		memcpy(place->path, bin->directory->path, strlen(bin->directory->path) + 1);
	place->offset = bin->directory->metadata_size;
	place->extra = bin->generation;
	place->lost = bin->directory->lost_reported;
}

static enum ctrace_status bin_open(const struct ctrace_emitter_context *context, void **out_self)
{
	struct binfile *bin = calloc(1, sizeof *bin);
	enum ctrace_status status;

	if (bin == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	bin->context = context;
	ct_bin_info_fill(&bin->info, context);
	read_properties(bin);
	/* A recoverer reads its own catalogue, and no file that a dead process names. */
	bin->names = ct_event_names_open(
		context->recovering ? NULL : context->property(context, "CATALOG"));
	status = open_directory(bin);
	if (status != CTRACE_OK) {
		ct_event_names_close(bin->names);
		free(bin);
		return status;
	}
	bin->limit.used = bin->generation;
	if (bin->generation <= CT_BIN_PARTS && !directory_is_begun(bin))
		ct_bin_limit_begin(&bin->limit, bin->generation, NULL);
	note_place(bin);
	*out_self = bin;
	return CTRACE_OK;
}

/* -----------------------------------------------------------------------------------------------
 * Writing
 */

static enum ctrace_status commit_place(const struct binfile *bin)
{
	const struct ctrace_emitter_context *context = bin->context;

	return context->commit != NULL ? context->commit(context) : CTRACE_OK;
}

/* For good. */
static void close_directory(const struct binfile *bin, struct ct_bin_directory *directory,
			    bool is_last)
{
	if (bin->compresses)
		ct_bin_pack(directory, is_last);
	else
		ct_bin_directory_close(directory);
}

/*
 * Goes over to a directory that was just made.  The old one is ended while the place still is in
 * it, and the place is committed before an event goes to the new one.
 */
static enum ctrace_status directory_go_over(struct binfile *bin, struct ct_bin_directory *next,
					    uint32_t generation)
{
	struct ct_bin_directory *before = bin->directory;
	uint32_t generation_before = bin->generation;
	enum ctrace_status status;

	ct_bin_directory_set_clock(before, bin->context, CT_BIN_CLOCK_LAST);
	if (!before->was_changed)
		ct_bin_directory_end(before);
	bin->directory = next;
	bin->generation = generation;
	note_place(bin);
	status = commit_place(bin);
	if (status != CTRACE_OK) {
		bin->directory = before;
		bin->generation = generation_before;
		note_place(bin);
		ct_bin_directory_reopen(before);
		/* It has the only count of the events that it replaced. */
		if (next->left_out != 0)
			ct_bin_directory_close(next);
		else
			ct_bin_directory_discard(next);
		return status;
	}
	close_directory(bin, before, false);
	return CTRACE_OK;
}

/* A full directory is followed by the next generation; one that was removed, by one in its place.
 */
static enum ctrace_status generation_begin_next(struct binfile *bin, bool is_full)
{
	struct ct_bin_left_out left_out = { 0 };
	const struct ct_bin_open_mode mode = { .from = bin->directory,
					       .left_out = &left_out,
					       .may_replace_own = is_full,
					       .may_replace_others = !bin->context->recovering };
	uint32_t generation = bin->generation;
	struct ct_bin_directory *next;
	enum ctrace_status status;

	if (is_full && bin->limit.total != 0)
		generation = ct_bin_limit_next(&bin->limit, generation, bin->directory, &left_out);
	else if (is_full)
		generation = generation % bin->generations + 1;
	status = create_directory(bin, generation, &mode, &next);
	if (status != CTRACE_OK)
		return status;
	status = directory_go_over(bin, next, generation);
	if (status == CTRACE_OK)
		ct_bin_limit_begin(&bin->limit, generation, &left_out);
	return status;
}

/* Writes into the directory, or into the next generation when it is gone. */
static enum ctrace_status write_looking(struct binfile *bin, const struct ctrace_batch *batch)
{
	enum ct_bin_presence presence = ct_bin_directory_look(bin->directory);
	enum ctrace_status status = CTRACE_OK;

	if (presence == CT_BIN_UNCLEAR)
		return CTRACE_OUTPUT_ERROR;
	if (presence == CT_BIN_GONE)
		status = generation_begin_next(bin, false);
	return status == CTRACE_OK ? ct_bin_write(bin->directory, batch) : status;
}

/* A removed directory has no stream file with a name, and a program that closes all descriptors
 * closes those of the streams.  So one look at each stream's file is enough for most batches. */
static enum ctrace_status write_where_it_is(struct binfile *bin, const struct ctrace_batch *batch)
{
	struct ct_bin_directory *directory = bin->directory;
	enum ctrace_status status = CTRACE_NOT_FOUND;

	directory->looks_late = ct_clock_mono_ns() - directory->looked_at_ns < LOOK_NS;
	if (directory->looks_late)
		status = ct_bin_write(directory, batch);
	directory->looks_late = false;
	return status == CTRACE_NOT_FOUND ? write_looking(bin, batch) : status;
}

static enum ctrace_status bin_write(void *self, const struct ctrace_batch *batch)
{
	struct binfile *bin = self;
	enum ctrace_status status = write_where_it_is(bin, batch);

	if (status == CTRACE_NOT_FOUND && bin->directory->was_changed) {
		status = generation_begin_next(bin, false);
		if (status == CTRACE_OK)
			status = ct_bin_write(bin->directory, batch);
	}
	if (status == CTRACE_BUFFER_TOO_SMALL && ct_bin_limit_extend(&bin->limit, bin->directory))
		status = ct_bin_write(bin->directory, batch);
	if (status == CTRACE_BUFFER_TOO_SMALL) {
		status = generation_begin_next(bin, true);
		if (status == CTRACE_OK)
			status = ct_bin_write(bin->directory, batch);
	}
	if (status != CTRACE_OK)
		return status == CTRACE_NOT_ENOUGH_MEMORY ? status : CTRACE_OUTPUT_ERROR;
	if (batch->run_count > 0)
		ct_bin_directory_set_clock(bin->directory, bin->context,
					   batch->runs[batch->run_count - 1].end_ns);
	ct_bin_limit_count(&bin->limit, bin->generation, batch);
	note_place(bin);
	return CTRACE_OK;
}

/* The new directory is made here and not by the next event, so that the consumer commits where it
 * is before anything is in it.  One without an event has begun already. */
static enum ctrace_status bin_rotate(void *self)
{
	struct binfile *bin = self;
	enum ct_bin_presence presence = ct_bin_directory_look(bin->directory);
	bool is_in_place = presence == CT_BIN_HERE && ct_bin_directory_is_in_place(bin->directory);
	enum ctrace_status status;

	if (presence == CT_BIN_UNCLEAR)
		return CTRACE_OUTPUT_ERROR;
	if (is_in_place && bin->generations == 1)
		return CTRACE_UNSUPPORTED;
	if (is_in_place && !directory_is_begun(bin))
		return CTRACE_OK;
	status = generation_begin_next(bin, is_in_place);
	return status == CTRACE_OK || status == CTRACE_NOT_ENOUGH_MEMORY ? status
									 : CTRACE_OUTPUT_ERROR;
}

static void bin_lost(void *self, const uint64_t totals[CTRACE_LOSS_COUNT])
{
	((struct binfile *)self)->lost = ct_loss_total(totals);
}

/* A recoverer flushes once, and then removes what else knows of the losses. */
static enum ctrace_status bin_flush(void *self)
{
	struct binfile *bin = self;
	enum ctrace_status status = CTRACE_OK;

	if (bin->context->recovering && bin->lost > 0)
		status = ct_bin_write_lost(bin->directory, bin->lost);
	if (status == CTRACE_OK)
		status = ct_bin_sync(bin->directory);
	return status == CTRACE_OK ? CTRACE_OK : CTRACE_OUTPUT_ERROR;
}

/* Losses that no packet reports (after the last event of a ring, or before there was one) are
 * reported now.  Where that cannot be done the trace is whole, and the place records what it
 * reports.
 */
static void bin_close(void *self)
{
	struct binfile *bin = self;
	bool is_owner = bin->directory->owner_pid == (uint32_t)getpid();
	bool is_whole = !bin->context->uncommitted;

	if (is_owner && is_whole && ct_bin_directory_look(bin->directory) == CT_BIN_HERE) {
		if (bin->lost > 0)
			ct_bin_report_lost(bin->directory, bin->lost, bin->context->place);
		if (bin->directory->is_recovered)
			(void)!ct_bin_settle(bin->directory, true);
		ct_bin_directory_set_clock(bin->directory, bin->context, CT_BIN_CLOCK_LAST);
		if (bin->context->ending && bin->compresses)
			ct_bin_directory_end(bin->directory);
	}
	if (is_owner && bin->context->ending)
		close_directory(bin, bin->directory, true);
	else if (is_whole)
		ct_bin_directory_close(bin->directory);
	else
		ct_bin_directory_free(bin->directory); /* a closing mark would count all bytes */
	ct_event_names_close(bin->names);
	ct_bin_text_fini(&bin->texts);
	free(bin);
}

static const struct ctrace_property properties[] = {
	{ "CATALOG", CTRACE_PROPERTY_TEXT, NULL,
	  "Files and directories, colons between, that name events in the metadata (built-in, as the last: ctrace's own); else CTRACE_CATALOG, or MFTRACE_ANNOTATIONS." },
	{ "COMPRESS", CTRACE_PROPERTY_COMPRESS, "no",
	  "zstd: generations that are full, and the directory of a process that has ended, have compressed streams." },
	CT_ENCODING_PROPERTY,
	{ "FILE", CTRACE_PROPERTY_FILE, "$(APPNAME).$(EMITTER).$(PID).ctb",
	  "The directory's name; _$(GEN) is added with MAXGENERATION." },
	{ "FLUSHEVERY", CTRACE_PROPERTY_NUMBER, "1",
	  "Events that may wait before they are written; 0: until there is a good deal." },
	{ "FORMAT", CTRACE_PROPERTY_FORMAT, NULL,
	  "The line that ctrace show prints an event by; at most 511 bytes.  Unset: its own." },
	CT_FILE_ACCESS_PROPERTIES,
	{ "LEVEL", CTRACE_PROPERTY_LEVEL, "0",
	  "Events below this level are not written; 5 or more silences." },
	{ "LIMITSIZE", CTRACE_PROPERTY_NUMBER, "0",
	  "KB of all traces in LOCATION; the first and the last parts are kept.  Without MAXGENERATION; 0: no limit." },
	{ "LOCATION", CTRACE_PROPERTY_DIRECTORY, NULL,
	  "Where the directory is; made when missing.  Else MFTRACE_LOGS, else the working directory." },
	{ "MAXFILESIZE", CTRACE_PROPERTY_NUMBER, "0x00002800",
	  "KB in a directory before the next generation; with MAXGENERATION only." },
	{ "MAXGENERATION", CTRACE_PROPERTY_NUMBER, "1",
	  "Directories that are kept; the oldest is overwritten." },
	{ "MULTIPROC", CTRACE_PROPERTY_SWITCH, "FALSE",
	  "Accepted; changes nothing, since every process has a directory of its own." },
	{ "RUN", CTRACE_PROPERTY_TEXT, NULL,
	  "Set by ctrace run: its number.  Then only the LOCATION that has this number is written to." },
	{ 0 },
};

const struct ctrace_emitter ct_emit_binfile = {
	.size = sizeof(struct ctrace_emitter),
	.name = "BINFILE",
	.flags = CTRACE_EMITTER_FILE | CTRACE_EMITTER_RUNS,
	.properties = properties,
	.open = bin_open,
	.write = bin_write,
	.lost = bin_lost,
	.flush = bin_flush,
	.close = bin_close,
	.rotate = bin_rotate,
};
