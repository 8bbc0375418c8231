/*
 * source.c - finds the streams of events in the directories, files and processes that people name.
 *
 * Called by the tools, on one thread.  The input may be hostile, or change while it is read; only
 * its name is trusted.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A struct ct_source_process and the texts that it points to. */
struct source_process {
	struct ct_source_process base;
	char *texts[5];
};

void ct_sources_init(struct ct_sources *sources, ct_read_report *report, void *user)
{
	static uint32_t scopes; /* readers run on one thread */

	*sources = (struct ct_sources){ .scope = ++scopes,
					.report = report,
					.report_user = user,
					.until_ns = UINT64_MAX,
					.may_hold = CT_SOURCES_HOLD };
}

static void source_process_destroy(struct source_process *source_process)
{
	if (source_process == NULL)
		return;
	for (size_t i = 0; i < CT_COUNT(source_process->texts); i++)
		free(source_process->texts[i]);
	free(source_process->base.left_out_ns);
	free(source_process);
}

void ct_sources_fini(struct ct_sources *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		sources->items[i]->destroy(sources->items[i]);
	for (size_t i = 0; i < sources->source_process_count; i++)
		source_process_destroy((struct source_process *)sources->source_processes[i]);
	free(sources->items);
	free(sources->source_processes);
	free(sources->heap);
	free(sources->directories);
	*sources = (struct ct_sources){ 0 };
}

enum ctrace_status ct_sources_take(struct ct_sources *sources, struct ct_source *source)
{
	struct ct_source **items =
		reallocarray(sources->items, sources->count + 1, sizeof(struct ct_source *));

	if (items == NULL) {
		source->destroy(source);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	sources->items = items;
	source->order = sources->count;
	items[sources->count++] = source;
	return CTRACE_OK;
}

void ct_source_fini(struct ct_source *source)
{
	free(source->path);
	free(source->items);
}

void ct_sources_hold(struct ct_sources *sources, const struct ct_source *source, size_t bytes)
{
	/* Asks the sources in turn, each at most once, but never the source whose event the caller
	 * holds. */
	for (size_t i = 0; i < sources->count && sources->held + bytes > sources->may_hold; i++) {
		struct ct_source *other = sources->items[sources->released++ % sources->count];
		bool is_given = sources->is_given && other == sources->heap[0];

		if (other != source && other->release != NULL && !is_given)
			other->release(other, sources);
	}
	sources->held += bytes;
}

bool ct_source_reserve(struct ct_source *source, size_t count)
{
	struct ctrace_event_item *items;

	if (count <= source->item_capacity)
		return true;
	items = reallocarray(source->items, count, sizeof *items);
	if (items == NULL)
		return false;
	source->items = items;
	source->item_capacity = count;
	return true;
}

/* -----------------------------------------------------------------------------------------------
 * Source processes
 */

static bool source_process_matches(const struct source_process *source_process,
				   const struct ct_process_key *key, const char *host)
{
	return key->started_ns != 0 && source_process->base.started_ns == key->started_ns &&
	       source_process->base.pid == key->pid && strcmp(source_process->base.host, host) == 0;
}

static const char *text_or_none(const char *text)
{
	return text != NULL ? text : "";
}

static struct source_process *source_process_create(const struct ct_process_key *key)
{
	const char *const texts[] = { key->host, key->program, key->jobname, key->path,
				      key->format };
	struct source_process *source_process = calloc(1, sizeof *source_process);

	if (source_process == NULL)
		return NULL;
	for (size_t i = 0; i < CT_COUNT(texts); i++) {
		source_process->texts[i] = strdup(text_or_none(texts[i]));
		if (source_process->texts[i] == NULL) {
			source_process_destroy(source_process);
			return NULL;
		}
	}
	source_process->base = (struct ct_source_process){
		.host = source_process->texts[0],
		.program = source_process->texts[1],
		.jobname = source_process->texts[2],
		.path = source_process->texts[3],
		.format = source_process->texts[4],
		.pid = key->pid,
		.asid = key->asid,
		.started_ns = key->started_ns,
		.ended_ns = key->ended_ns,
		.is_third_party = key->is_third_party,
		.is_big = key->is_big,
	};
	return source_process;
}

/* Completes what only one kind of source knows: the files of a process its format, its rings
 * whether it lives. */
static const struct ct_source_process *
source_process_complete(struct source_process *source_process, const struct ct_process_key *key)
{
	char *format = key->format != NULL && source_process->texts[4][0] == '\0'
			       ? strdup(key->format)
			       : NULL;

	if (key->ended_ns > source_process->base.ended_ns)
		source_process->base.ended_ns = key->ended_ns;
	if (format == NULL)
		return &source_process->base;
	free(source_process->texts[4]);
	source_process->texts[4] = format;
	source_process->base.format = format;
	return &source_process->base;
}

const struct ct_source_process *ct_sources_source_process(struct ct_sources *sources,
							  const struct ct_process_key *key)
{
	struct ct_source_process **source_processes;
	struct source_process *source_process;

	for (size_t i = 0; i < sources->source_process_count; i++)
		if (source_process_matches((struct source_process *)sources->source_processes[i],
					   key, text_or_none(key->host)))
			return source_process_complete(
				(struct source_process *)sources->source_processes[i], key);
	source_processes =
		reallocarray(sources->source_processes, sources->source_process_count + 1,
			     sizeof(struct ct_source_process *));
	if (source_processes == NULL)
		return NULL;
	sources->source_processes = source_processes;
	source_process = source_process_create(key);
	if (source_process == NULL)
		return NULL;
	source_process->base.index = (uint32_t)sources->source_process_count;
	source_processes[sources->source_process_count++] = &source_process->base;
	return &source_process->base;
}

void ct_sources_left_out(struct ct_sources *sources, const struct ct_source_process *source_process,
			 uint64_t time_ns)
{
	struct ct_source_process *process = sources->source_processes[source_process->index];
	uint64_t *times = process->left_out_count < CT_LEFT_OUT_MOST
				  ? reallocarray(process->left_out_ns, process->left_out_count + 1,
						 sizeof *times)
				  : NULL;

	if (times == NULL)
		return;
	process->left_out_ns = times;
	times[process->left_out_count++] = time_ns;
}

/* -----------------------------------------------------------------------------------------------
 * Classes of events
 */

/* Could the filter accept the event at the other end of the span that this event begins or ends? */
static bool may_accept_other_end(const struct ct_sources *sources,
				 const struct ct_read_event *event)
{
	struct ct_read_event other = *event;

	other.names = NULL;
	other.traced.event_id = event->type->pair_id;
	other.type = ct_catalog_event(event->component, event->type->pair_id);
	for (uint32_t level = 0; level < CTRACE_LEVEL_COUNT; level++) {
		other.traced.level = level;
		if (other.type != NULL && other.type->severity != CTRACE_LEVEL_NONE &&
		    level != other.type->severity && level != event->traced.level)
			continue;
		if (ct_filter_class(sources->filter, &other) != CT_FILTER_RESULT_NEVER)
			return true;
	}
	return false;
}

static bool event_is_for_pairs(const struct ct_sources *sources, const struct ct_read_event *event)
{
	const struct ct_event_type *type = event->type;

	if (!sources->has_pairs || type == NULL)
		return false;
	/* Any span's end, and other events too, may end spans that have no exit. */
	if (type->is_until || (event->component->has_until && type->pairing != CT_PAIR_NONE))
		return true;
	return type->pairing != CT_PAIR_NONE &&
	       (!sources->pairs_are_shown || may_accept_other_end(sources, event));
}

/* The catalogue's entry for the component, or else the one that CTRACE DEFINE named by FMTTAB. */
static const struct ct_catalog_component *format_table(const struct ct_catalog *catalog,
						       const struct ct_read_event *event)
{
	const struct ct_catalog_component *component = ct_catalog_component(
		catalog, event->traced.component, event->traced.component_size);

	if (component != NULL || event->definition == NULL || event->definition->fmttab[0] == '\0')
		return component;
	return ct_catalog_component(catalog, event->definition->fmttab,
				    strlen(event->definition->fmttab));
}

enum ct_filter_result ct_sources_class(const struct ct_sources *sources,
				       struct ct_read_event *event)
{
	enum ct_filter_result filter_result;

	event->component = sources->catalog != NULL ? format_table(sources->catalog, event) : NULL;
	event->type = event->component != NULL
			      ? ct_catalog_event(event->component, event->traced.event_id)
			      : NULL;
	filter_result = sources->filter != NULL ? ct_filter_class(sources->filter, event)
						: CT_FILTER_RESULT_ALWAYS;
	return filter_result == CT_FILTER_RESULT_NEVER && event_is_for_pairs(sources, event)
		       ? CT_FILTER_RESULT_MAYBE
		       : filter_result;
}

/* -----------------------------------------------------------------------------------------------
 * Reports
 */

void ct_sources_note(struct ct_sources *sources, const struct ct_read_note *note)
{
	switch (note->kind) {
	case CT_NOTE_LOST:
		sources->totals.discarded += note->events;
		break;
	case CT_NOTE_UNREAD:
	case CT_NOTE_DAMAGE:
	case CT_NOTE_MISSING:
		sources->totals.unread += note->kind == CT_NOTE_UNREAD;
		sources->totals.damages++;
		sources->totals.damaged_bytes += note->bytes;
		break;
	case CT_NOTE_UNKNOWN:
	case CT_NOTE_CLOCK:
		break;
	}
	if (sources->report != NULL)
		sources->report(note, sources->report_user);
}

void ct_sources_damage(struct ct_sources *sources, const char *path, uint64_t offset,
		       uint64_t bytes, const char *message)
{
	struct ct_read_note note = { .kind = CT_NOTE_DAMAGE,
				     .path = path,
				     .offset = offset,
				     .bytes = bytes,
				     .message = message };

	ct_sources_note(sources, &note);
}

void ct_sources_clock(struct ct_sources *sources, const char *path,
		      const struct ct_source_process *source_process,
		      const struct ct_clock_step *step)
{
	struct ct_buf text;
	struct ct_read_note note = { .kind = CT_NOTE_CLOCK,
				     .path = path,
				     .from_ns = step->at_ns,
				     .to_ns = step->at_ns,
				     .source_process = source_process };

	ct_buf_init(&text);
	if (step->by_ns != 0) {
		ct_buf_add_text(&text, "the clock was set ");
		ct_line_add_step(&text, step->by_ns);
		ct_buf_add_text(&text, " at ");
		ct_line_add_date(&text, step->at_ns);
		ct_buf_add_char(&text, ' ');
		ct_line_add_time(&text, step->at_ns);
	} else {
		ct_buf_add_text(&text, "the clock had been set");
	}
	/* A step back and forth leaves some nanoseconds: the error of reading the clocks. */
	if (step->ahead_ns >= 1000000u) {
		ct_buf_add_text(&text, "; times from there on are ahead of it by ");
		ct_line_add_seconds(&text, step->ahead_ns);
	}
	note.message = ct_buf_text(&text);
	ct_sources_note(sources, &note);
	ct_buf_fini(&text);
}

void ct_source_lost_text(char *out, size_t size, uint64_t events)
{
	(void)snprintf(out, size, "%llu event%s discarded before this", (unsigned long long)events,
		       events == 1 ? " was" : "s were");
}

/* -----------------------------------------------------------------------------------------------
 * Directories and files
 */

/* Reports a trace or directory that cannot be read, so the output lacks its events. */
static void report_unread(struct ct_sources *sources, const char *path, const char *why)
{
	struct ct_read_note note = { .kind = CT_NOTE_UNREAD, .path = path, .message = why };

	ct_sources_note(sources, &note);
}

static void report_status(struct ct_sources *sources, const char *path, enum ctrace_status status)
{
	const char *why = status == CTRACE_OS_ERROR      ? strerror(errno)
			  : status == CTRACE_DENIED      ? ct_path_recognize(path)
			  : status == CTRACE_UNSUPPORTED ? "not a trace that ctrace can read"
							 : NULL;

	report_unread(sources, path, why != NULL ? why : ctrace_status_text(status));
}

/* Reports an error of the system that may hide a trace. */
static void report_refusal(struct ct_sources *sources, const char *path)
{
	if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP &&
	    errno != ENAMETOOLONG)
		report_unread(sources, path, strerror(errno));
}

static bool has_file(struct ct_sources *sources, const char *directory, const char *name)
{
	struct stat info;
	char *path;
	bool found;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return false;
	found = stat(path, &info) == 0;
	if (!found)
		report_refusal(sources, path);
	found = found && S_ISREG(info.st_mode);
	free(path);
	return found;
}

/* True for a directory that this user may not search. */
static bool directory_is_closed(const char *directory)
{
	struct stat info;

	return stat(directory, &info) == 0 && S_ISDIR(info.st_mode) &&
	       faccessat(AT_FDCWD, directory, X_OK, AT_EACCESS) != 0 && errno == EACCES;
}

/* directory is absolute and without links; its parent is the run directory. */
static enum ctrace_status add_run_directory(struct ct_sources *sources, char *directory)
{
	char *slash = strrchr(directory, '/');

	if (slash == NULL || slash == directory || slash[1] == '\0')
		return CTRACE_NOT_FOUND;
	*slash = '\0';
	return ct_source_ring_add(sources, directory, slash + 1);
}

/* Adds a BINFILE trace or one of another tracer. */
static enum ctrace_status add_trace(struct ct_sources *sources, const char *directory,
				    const char *only)
{
	enum ctrace_status status = ct_source_bin_add(sources, directory, only);

	return status == CTRACE_UNSUPPORTED ? ct_source_third_party_add(sources, directory, only)
					    : status;
}

static enum ctrace_status add_one_directory(struct ct_sources *sources, const char *path)
{
	char *directory;
	enum ctrace_status status;

	if (has_file(sources, path, "metadata"))
		return add_trace(sources, path, NULL);
	if (!has_file(sources, path, "session"))
		return directory_is_closed(path) ? CTRACE_DENIED : CTRACE_NOT_FOUND;
	directory = realpath(path, NULL);
	if (directory == NULL)
		return CTRACE_NOT_FOUND;
	status = add_run_directory(sources, directory);
	free(directory);
	return status;
}

/* nested directories: an LTTng session has ust/uid/USER/64-bit below it */
#define DEPTH 4u

static enum ctrace_status add_entries(struct ct_sources *sources, const char *directory,
				      unsigned depth);

/* Adds a directory inside one that the user named. */
static enum ctrace_status add_directory(struct ct_sources *sources, const char *path,
					unsigned depth)
{
	enum ctrace_status status = add_entries(sources, path, depth);

	/* A directory with streams but no metadata is a trace whose events are missing from the
	 * output. */
	if (status == CTRACE_NOT_FOUND && ct_path_has_streams(path)) {
		report_unread(sources, path, ct_path_recognize(path));
		return CTRACE_OK;
	}
	return status;
}

static enum ctrace_status add_entry(struct ct_sources *sources, const char *path, unsigned depth)
{
	enum ctrace_status status = add_one_directory(sources, path);
	struct stat info;

	if (status != CTRACE_NOT_FOUND || depth == 0)
		return status;
	if (lstat(path, &info) != 0) {
		report_refusal(sources, path);
		return status;
	}
	return S_ISDIR(info.st_mode) ? add_directory(sources, path, depth) : status;
}

/* Adds the entries of a directory.  Returns OK also when every trace in it is unreadable: that is
 * reported. */
static enum ctrace_status add_entries(struct ct_sources *sources, const char *directory,
				      unsigned depth)
{
	enum ctrace_status result = CTRACE_NOT_FOUND;
	struct dirent **entries;
	int count = scandir(directory, &entries, NULL, versionsort);

	if (count < 0)
		return errno == EACCES   ? CTRACE_DENIED
		       : errno == ENOMEM ? CTRACE_NOT_ENOUGH_MEMORY
					 : CTRACE_NOT_FOUND;
	for (int i = 0; i < count; i++) {
		enum ctrace_status status = CTRACE_NOT_FOUND;
		char *path = NULL;

		if (entries[i]->d_name[0] != '.')
			status = asprintf(&path, "%s/%s", directory, entries[i]->d_name) >= 0
					 ? add_entry(sources, path, depth - 1)
					 : CTRACE_NOT_ENOUGH_MEMORY;
		if (status != CTRACE_OK && status != CTRACE_NOT_FOUND)
			report_status(sources, path != NULL ? path : directory, status);
		if (status != CTRACE_NOT_FOUND)
			result = CTRACE_OK;
		free(path);
		free(entries[i]);
	}
	free(entries);
	return result;
}

static enum ctrace_status add_stream_file(struct ct_sources *sources, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	char *directory = slash == NULL   ? strdup(".")
			  : slash == path ? strdup("/")
					  : strndup(path, (size_t)(slash - path));
	enum ctrace_status status = CTRACE_NOT_FOUND;

	if (directory == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	/* People name the metadata file as other viewers want it; they mean the trace. */
	if (has_file(sources, directory, "metadata"))
		status = add_trace(sources, directory, strcmp(name, "metadata") == 0 ? NULL : name);
	free(directory);
	return status;
}

/* -----------------------------------------------------------------------------------------------
 * Processes
 */

struct process_search {
	struct ct_sources *sources;
	uint32_t pid;
	enum ctrace_status result;
};

static void try_process(const struct ct_directory_entry *entry, void *user)
{
	struct process_search *search = user;
	enum ctrace_status status;

	if (entry->pid != search->pid)
		return;
	status = ct_source_ring_add(search->sources, entry->run_directory, entry->name);
	if (search->result != CTRACE_OK)
		search->result = status;
}

static void try_run_directory(const char *path, void *user)
{
	ct_directory_each(path, try_process, user);
}

static enum ctrace_status add_process(struct ct_sources *sources, const char *digits)
{
	struct process_search search = { .sources = sources, .result = CTRACE_NOT_FOUND };
	size_t size = strlen(digits);

	if (size == 0 || size > 9 || strspn(digits, "0123456789") != size)
		return CTRACE_NOT_FOUND;
	search.pid = (uint32_t)strtoul(digits, NULL, 10);
	ct_directory_each_run_directory(try_run_directory, &search);
	return search.result;
}

/* -----------------------------------------------------------------------------------------------
 * Further directories of one name.  The generations of app.ctb are app.ctb_1, app.ctb_2.  The
 * events of process 1234 are in app.ctb.1234 or app.ctb_2.1234.2 when another process had the name,
 * or took it over after a crash.
 */

/* Returns the position behind the mark and its digits, or `text` when there are none. */
static const char *skip_number(const char *text, char mark)
{
	size_t digits = text[0] == mark ? strspn(text + 1, "0123456789") : 0;

	return digits != 0 ? text + 1 + digits : text;
}

/* *out_pid: the process in the name; 0: none. */
static bool name_is_generation(const char *name, const char *stem, size_t stem_size,
			       uint32_t *out_pid)
{
	const char *process;

	if (stem_size == 0 || strncmp(name, stem, stem_size) != 0 || name[stem_size] == '\0')
		return false;
	process = skip_number(name + stem_size, '_');
	*out_pid = process[0] == '.' ? (uint32_t)strtoul(process + 1, NULL, 10) : 0;
	for (const char *at = process; *at != '\0'; at = process) {
		process = skip_number(at, '.');
		if (process == at)
			return false;
	}
	return true;
}

/* Is it a trace of that process?  Other programs number their copies in the same way. */
static bool trace_is_of_process(const char *directory, uint32_t pid)
{
	struct ct_trace_info info;
	struct ct_buf text;
	bool is_same = false;
	size_t end;
	char *path;

	if (asprintf(&path, "%s/metadata", directory) < 0)
		return false;
	ct_buf_init(&text);
	if (ct_os_read_file(path, CT_METADATA_LIMIT, &text) == CTRACE_OK)
		is_same = ct_schema_parse_trace(text.data, text.size, &info, &end) == CTRACE_OK &&
			  info.pid == pid;
	ct_buf_fini(&text);
	free(path);
	return is_same;
}

/* Remembers a directory.  Returns false when it is known already and one of the two was added for
 * another name: its events would appear twice. */
static bool note_directory(struct ct_sources *sources, const char *path, bool is_implied)
{
	struct ct_source_directory *directories;
	struct stat info;

	if (stat(path, &info) != 0)
		return true;
	for (size_t i = 0; i < sources->directory_count; i++) {
		const struct ct_source_directory *directory = &sources->directories[i];

		if (directory->id.device == info.st_dev && directory->id.inode == info.st_ino &&
		    (is_implied || directory->is_implied))
			return false;
	}
	directories = reallocarray(sources->directories, sources->directory_count + 1,
				   sizeof *directories);
	if (directories == NULL)
		return true;
	sources->directories = directories;
	directories[sources->directory_count++] =
		(struct ct_source_directory){ { info.st_dev, info.st_ino }, is_implied };
	return true;
}

/* Adds the further directories of a name, but not the directory of exactly that name. */
static enum ctrace_status add_others_of_name(struct ct_sources *sources, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *stem = slash != NULL ? slash + 1 : path;
	char *directory = slash != NULL ? strndup(path, (size_t)(slash - path + 1)) : strdup("./");
	enum ctrace_status result = CTRACE_NOT_FOUND;
	struct dirent **entries;
	int count = directory != NULL ? scandir(directory, &entries, NULL, versionsort) : -1;
	uint32_t pid;

	for (int i = 0; i < count; i++) {
		char *other;

		if (name_is_generation(entries[i]->d_name, stem, strlen(stem), &pid) &&
		    asprintf(&other, "%s%s", directory, entries[i]->d_name) >= 0) {
			enum ctrace_status status = CTRACE_NOT_FOUND;

			if (has_file(sources, other, "metadata") &&
			    (pid == 0 || trace_is_of_process(other, pid)))
				status = note_directory(sources, other, true)
						 ? add_one_directory(sources, other)
						 : CTRACE_OK;
			else if (pid == 0 &&
				 (directory_is_closed(other) || ct_path_has_streams(other)))
				status = CTRACE_DENIED;
			if (status != CTRACE_OK && status != CTRACE_NOT_FOUND)
				report_status(sources, other, status);
			if (status != CTRACE_NOT_FOUND)
				result = CTRACE_OK;
			free(other);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	free(directory);
	return result;
}

enum ctrace_status ct_sources_add(struct ct_sources *sources, const char *path)
{
	enum ctrace_status status;
	struct stat info;

	if (stat(path, &info) != 0) {
		if (errno == EACCES)
			return CTRACE_DENIED;
		status = add_process(sources, path);
		return status == CTRACE_NOT_FOUND ? add_others_of_name(sources, path) : status;
	}
	if (S_ISREG(info.st_mode))
		return add_stream_file(sources, path);
	if (!S_ISDIR(info.st_mode))
		return CTRACE_NOT_FOUND;
	if (!note_directory(sources, path, false))
		return CTRACE_OK;
	status = add_one_directory(sources, path);
	if (status == CTRACE_NOT_FOUND)
		status = add_entries(sources, path, DEPTH);
	/* An output directory that was created but never used: its process may have taken another
	 * name. */
	if (status == CTRACE_NOT_FOUND) {
		status = add_others_of_name(sources, path);
		if (status == CTRACE_OK && ct_path_has_streams(path))
			report_unread(sources, path, ct_path_recognize(path));
		return status;
	}
	/* A slash at the end means this directory alone. */
	if (status == CTRACE_OK && has_file(sources, path, "metadata"))
		(void)add_others_of_name(sources, path);
	return status;
}
