/*
 * output_file.c - where an output file goes: the name from FILE, the directory from LOCATION,
 * MFTRACE_LOGS or the working directory.
 *
 * Called by TEXTFILE and BINFILE when they open a file, on the thread that consumes.  Nothing is
 * remembered: what fails now may work at the next try.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/emit/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_LIMIT ((size_t)16 << 20)

static void add_lower(struct ct_buf *out, const char *text)
{
	for (; *text != '\0'; text++)
		ct_buf_add_char(out,
				*text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text);
}

/* A program's name is not ours to trust: it names a file in the directory, not another directory.
 */
static void add_name(struct ct_buf *out, const char *text, size_t most)
{
	const char *end = text + ct_utf8_fit(text, most);

	for (; text < end; text++)
		ct_buf_add_char(out, *text == '/' ? '_' : *text);
}

static bool add_variable(struct ct_buf *out, const char *name, size_t size,
			 const struct ctrace_emitter_context *context, const char *emitter,
			 uint32_t generation, size_t most)
{
	if (ct_name_is(name, size, "APPNAME"))
		add_name(out, context->program, most);
	else if (ct_name_is(name, size, "EMITTER"))
		add_lower(out, emitter);
	else if (ct_name_is(name, size, "PID"))
		ct_buf_add_u64(out, context->pid);
	else if (ct_name_is(name, size, "GEN"))
		ct_buf_add_u64(out, generation);
	else if (ct_name_is(name, size, "PLATFORM"))
		ct_buf_add_text(out, "native");
	else
		return false;
	return true;
}

/* FILE; what it is by default when it is set to nothing. */
static const char *file_pattern(const struct ctrace_emitter_context *context,
				const struct ctrace_emitter *emitter)
{
	const char *pattern = context->property(context, "FILE");

	return pattern != NULL && pattern[0] != '\0'
		       ? pattern
		       : ct_emitter_property(emitter, "FILE", 4)->default_value;
}

/* most: bytes of the program's name. */
static void name_print(struct ct_buf *out, const struct ctrace_emitter_context *context,
		       const struct ctrace_emitter *emitter, uint32_t generation, bool has_others,
		       size_t most)
{
	const char *pattern = file_pattern(context, emitter);
	bool has_number = strcasestr(pattern, "$(GEN)") != NULL;

	while (*pattern != '\0') {
		const char *end =
			pattern[0] == '$' && pattern[1] == '(' ? strchr(pattern, ')') : NULL;

		if (end != NULL && add_variable(out, pattern + 2, (size_t)(end - pattern) - 2,
						context, emitter->name, generation, most)) {
			pattern = end + 1;
			continue;
		}
		ct_buf_add_char(out, *pattern++);
	}
	if (has_others && !has_number) {
		ct_buf_add_char(out, '_');
		ct_buf_add_u64(out, generation);
	}
}

/* The longest name between two '/'. */
static size_t longest_name(const char *path)
{
	size_t longest = 0;

	for (size_t size = 0;; path += size + 1) {
		size = strcspn(path, "/");
		longest = size > longest ? size : longest;
		if (path[size] == '\0')
			return longest;
	}
}

/* The program's name gets the room that the rest of a name leaves it. */
bool ct_file_name_print(struct ct_buf *out, const struct ctrace_emitter_context *context,
			const struct ctrace_emitter *emitter, uint32_t generation, bool has_others)
{
	size_t begin = out->size, most = CT_FILE_NAME_MOST, excess = 0;

	do {
		/* in small steps: it may stand there several times */
		most -= (excess + 3) / 4 < most ? (excess + 3) / 4 : most;
		out->size = begin;
		name_print(out, context, emitter, generation, has_others, most);
		excess = out->failed ? 0 : longest_name(ct_buf_text(out) + begin);
		excess -= excess < CT_FILE_NAME_MOST ? excess : CT_FILE_NAME_MOST;
	} while (excess > 0 && most > 0);
	return !out->failed;
}

void ct_file_say_missing(const struct ctrace_emitter_context *context, const char *path,
			 uint64_t missing, uint64_t counts)
{
	struct ct_buf text;

	if (context->failed_at == NULL)
		return;
	ct_buf_init(&text);
	ct_buf_add_text(&text, path);
	ct_buf_add_format(&text, ": %llu of %llu bytes that were delivered there are missing",
			  (unsigned long long)missing, (unsigned long long)counts);
	context->failed_at(context, ct_buf_text(&text));
	ct_buf_fini(&text);
}

bool ct_file_name_ends(const char *path, size_t size, const struct ct_buf *name)
{
	if (name->size == 0 || name->size > size ||
	    memcmp(path + size - name->size, name->data, name->size) != 0)
		return false;
	return name->data[0] == '/' ? name->size == size
				    : name->size < size && path[size - name->size - 1] == '/';
}

bool ct_file_name_beside(const char *path, uint32_t pid, unsigned number,
			 char out[CTRACE_EMITTER_PATH_SIZE])
{
	int size = number <= 1
			   ? snprintf(out, CTRACE_EMITTER_PATH_SIZE, "%s.%u", path, pid)
			   : snprintf(out, CTRACE_EMITTER_PATH_SIZE, "%s.%u.%u", path, pid, number);

	if (size >= 0 && (size_t)size < CTRACE_EMITTER_PATH_SIZE)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

/* libc's services may load libraries into the traced program: only the machine's own file is read.
 */
bool ct_file_group_find(const char *name, size_t size, uint32_t *out_group)
{
	struct ct_buf text;
	bool is_found = false;
	size_t digits = 0;

	while (digits < size && name[digits] >= '0' && name[digits] <= '9')
		digits++;
	if (size != 0 && digits == size) {
		*out_group = ct_value_number(name, size);
		return *out_group != UINT32_MAX;
	}
	ct_buf_init(&text);
	if (ct_os_read_file("/etc/group", GROUPS_LIMIT, &text) == CTRACE_OK) {
		for (const char *line = ct_buf_text(&text); line != NULL && !is_found;
		     line = strchr(line, '\n')) {
			const char *number;

			line += *line == '\n';
			if (size == 0 || strncmp(line, name, size) != 0 || line[size] != ':')
				continue;
			number = strchr(line + size + 1, ':');
			is_found = number != NULL;
			if (is_found)
				*out_group = ct_value_number(number + 1,
							     strspn(number + 1, "0123456789"));
		}
	}
	ct_buf_fini(&text);
	return is_found;
}

struct ct_file_access ct_file_access_read(const struct ctrace_emitter_context *context)
{
	struct ct_file_access access = { 0 };
	const char *mode = context->property(context, "MODE");
	const char *group;

	if (mode == NULL || !ct_file_mode_parse(mode, strlen(mode), &access.mode))
		access.mode = 0;
	group = context->property(context, "GROUP");
	if (group == NULL || group[0] == '\0' || access.mode == 0600)
		return access;
	access.has_group = ct_file_group_find(group, strlen(group), &access.group);
	access.mode = access.has_group ? 0640 : 0600;
	return access;
}

void ct_file_access_give(int fd, const struct ct_file_access *access)
{
	uint32_t mode = access->mode;
	struct stat info;

	if (mode == 0 || ct_os_stat(fd, &info) != CTRACE_OK || info.st_uid != geteuid())
		return;
	if (S_ISDIR(info.st_mode))
		mode |= (mode & 0440) >> 2;
	/* First the group: another one must never be able to read, not even for a moment. */
	if (access->has_group && info.st_gid != access->group &&
	    fchown(fd, (uid_t)-1, access->group) != 0)
		mode &= 0700;
	if ((info.st_mode & 0777) != mode)
		(void)fchmod(fd, mode);
}

bool ct_file_mode_parse(const char *text, size_t size, uint32_t *out_mode)
{
	if (size == 4 && text[0] == '0') {
		text++;
		size--;
	}
	if (size != 3 || text[0] != '6' || (text[1] != '0' && text[1] != '4') || text[2] != '0')
		return false;
	*out_mode = text[1] == '4' ? 0640 : 0600;
	return true;
}

uint32_t ct_file_generations(const struct ctrace_emitter_context *context)
{
	uint64_t generations = context->number(context, "MAXGENERATION");

	return generations > 1 && generations <= INT32_MAX ? (uint32_t)generations : 1;
}

/* directory + "/" + name; what is relative is so to the traced process's working directory. */
static bool path_join(char out_path[CTRACE_EMITTER_PATH_SIZE], const char *base,
		      const char *directory, const char *name)
{
	const char *parts[3] = { directory[0] == '/' || name[0] == '/' ? "" : base, directory,
				 name };
	size_t size = 0;

	for (size_t i = 0; i < CT_COUNT(parts); i++) {
		size_t part = strlen(parts[i]);

		if (part == 0)
			continue;
		if (size + part + 2 > CTRACE_EMITTER_PATH_SIZE) {
			errno = ENAMETOOLONG;
			return false;
		}
		if (size > 0 && out_path[size - 1] != '/')
			out_path[size++] = '/';
		memcpy(out_path + size, parts[i], part);
		size += part;
	}
	out_path[size] = '\0';
	return true;
}

static bool has_parent(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")) != NULL; at += 2)
		if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
			return true;
	return false;
}

bool ct_file_is_within(const char *location, const char *file_name)
{
	size_t size = location != NULL ? strlen(location) : 0;

	if (has_parent(file_name))
		return false;
	if (file_name[0] != '/')
		return true;
	while (size > 1 && location[size - 1] == '/')
		size--;
	return size > 0 && location[0] == '/' && strncmp(file_name, location, size) == 0 &&
	       file_name[size] == '/';
}

/* Makes a directory and its missing parents, with the access of the output. */
static enum ctrace_status make_directory(const char *path, const struct ct_file_access *file_access)
{
	char part[CTRACE_EMITTER_PATH_SIZE];
	size_t size = strlen(path), there = size;
	enum ctrace_status status;

	memcpy(part, path, size + 1);
	while (there > 0 && access(part, F_OK) != 0) {
		while (there > 0 && part[--there] != '/')
			;
		part[there] = '\0';
	}
	status = ct_os_make_directory(path);
	for (size_t i = there + 1; status == CTRACE_OK && there < size && i <= size; i++) {
		struct ct_file_id id;
		int fd;

		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (ct_os_open_directory(AT_FDCWD, part, &fd, &id) != CTRACE_OK)
			continue;
		ct_file_access_give(fd, file_access);
		ct_os_close_file(&fd, &id);
	}
	return status;
}

/* The directory that a path is in.  False: it has none but the root, or the working directory. */
static bool path_parent(const char *path, char out_directory[CTRACE_EMITTER_PATH_SIZE])
{
	char *slash;

	memcpy(out_directory, path, strlen(path) + 1);
	slash = strrchr(out_directory, '/');
	if (slash == NULL || slash == out_directory)
		return false;
	*slash = '\0';
	return true;
}

struct attempt {
	enum ctrace_status (*body)(const char *path, void *user);
	void *user;
	const struct ctrace_emitter_context *context;
	const char *file_name;
	bool makes_below; /* FILE names directories that may be made */
	char *last;       /* CTRACE_EMITTER_PATH_SIZE: what was tried last; NULL: nobody asks */
	struct ct_file_access access;
};

static bool attempt_path(const struct attempt *attempt, const char *directory, const char *name,
			 char out_path[CTRACE_EMITTER_PATH_SIZE])
{
	bool fits = path_join(out_path, attempt->context->working_directory, directory, name);

	if (fits && attempt->last != NULL)
		memcpy(attempt->last, out_path, strlen(out_path) + 1);
	return fits;
}

/* A recoverer's working directory is not that of the process, and one that was removed is not made
 * again: without it, what is relative leads nowhere.  A process that lives is in its own, also
 * where getcwd() is forbidden. */
static bool attempt_has_base(const struct attempt *attempt, const char *directory)
{
	const char *base = attempt->context->working_directory;
	char path[CTRACE_EMITTER_PATH_SIZE];
	int error;

	if (directory[0] == '/' || attempt->file_name[0] == '/' ||
	    (base[0] == '/' && access(base, F_OK) == 0) ||
	    (base[0] != '/' && !attempt->context->recovering && getcwd(path, sizeof path) == NULL &&
	     errno != ENOENT))
		return true;
	error = base[0] == '/' ? errno : ENOENT;
	if (attempt_path(attempt, directory, attempt->file_name, path) && base[0] != '/' &&
	    attempt->last != NULL)
		(void)snprintf(attempt->last, CTRACE_EMITTER_PATH_SIZE,
			       "%.2000s: the process had no working directory when it attached",
			       path);
	errno = error;
	return false;
}

static enum ctrace_status attempt_directory(const struct attempt *attempt, const char *directory,
					    bool is_to_be_made,
					    char out_path[CTRACE_EMITTER_PATH_SIZE])
{
	char path[CTRACE_EMITTER_PATH_SIZE], below[CTRACE_EMITTER_PATH_SIZE];
	enum ctrace_status status = CTRACE_OK;
	bool is_there;

	if (!attempt_has_base(attempt, directory) || !attempt_path(attempt, directory, "", path))
		return CTRACE_OS_ERROR;
	if (is_to_be_made)
		status = make_directory(path, &attempt->access);
	if (status != CTRACE_OK)
		return status;
	is_there = attempt->file_name[0] == '/' || access(path, F_OK) == 0;
	if (!attempt_path(attempt, directory, attempt->file_name, path))
		return CTRACE_OS_ERROR;
	/* The directories of a FILE below the directory for output. */
	if (attempt->makes_below && is_there && path_parent(path, below))
		status = make_directory(below, &attempt->access);
	if (status == CTRACE_OK)
		status = attempt->body(path, attempt->user);
	if (status == CTRACE_OK)
		memcpy(out_path, path, strlen(path) + 1);
	return status;
}

static enum ctrace_status attempt_run(const struct attempt *attempt, const char *run,
				      char out_path[CTRACE_EMITTER_PATH_SIZE])
{
	char directory[CTRACE_EMITTER_PATH_SIZE], path[CTRACE_EMITTER_PATH_SIZE];
	const char *location;

	if (ct_file_run_find(attempt->context, run, directory))
		return attempt_directory(attempt, directory, false, out_path);
	location = attempt->context->property(attempt->context, "LOCATION");
	if (attempt_path(attempt, location != NULL ? location : "", attempt->file_name, path) &&
	    attempt->last != NULL)
		(void)snprintf(
			attempt->last, CTRACE_EMITTER_PATH_SIZE,
			"%.2000s: the trace of its run is not there, nor as TRACE" CT_FILE_RUN_OLD
			"; give it its name back",
			path);
	errno = ENOENT;
	return CTRACE_OS_ERROR;
}

static enum ctrace_status attempt_all(const struct attempt *attempt,
				      char out_path[CTRACE_EMITTER_PATH_SIZE])
{
	const struct ctrace_emitter_context *context = attempt->context;
	char directory[CTRACE_EMITTER_PATH_SIZE], run[CT_FILE_RUN_SIZE];
	const char *location;

	if (attempt->file_name[0] == '\0') {
		errno = EINVAL;
		return CTRACE_OS_ERROR;
	}
	if (ct_file_run(context, run) != NULL)
		return attempt_run(attempt, run, out_path);
	location = context->property(context, "LOCATION");
	if (attempt->file_name[0] == '/')
		return attempt_directory(attempt, "", false, out_path);
	if (location != NULL && location[0] != '\0' && strlen(location) < sizeof directory) {
		memcpy(directory, location, strlen(location) + 1);
		if (attempt_directory(attempt, directory, true, out_path) == CTRACE_OK)
			return CTRACE_OK;
	}
	if (context->directory[0] != '\0' &&
	    attempt_directory(attempt, context->directory, false, out_path) == CTRACE_OK)
		return CTRACE_OK;
	return attempt_directory(attempt, "", false, out_path);
}

enum ctrace_status ct_file_place(const struct ctrace_emitter_context *context,
				 const char *file_name,
				 enum ctrace_status (*attempt)(const char *path, void *user),
				 void *user, char out_path[CTRACE_EMITTER_PATH_SIZE])
{
	char last[CTRACE_EMITTER_PATH_SIZE] = "";
	struct attempt this_attempt = { .body = attempt,
					.user = user,
					.context = context,
					.file_name = file_name,
					.last = last,
					.access = ct_file_access_read(context) };
	enum ctrace_status status;

	this_attempt.makes_below =
		strchr(file_name, '/') != NULL &&
		ct_file_is_within(context->property(context, "LOCATION"), file_name);
	status = attempt_all(&this_attempt, out_path);
	if (status != CTRACE_OK && last[0] != '\0')
		ct_emitter_failed_at(context, last);
	return status;
}

/* A directory that open() could use: the first one decides. */
static enum ctrace_status path_look_at(const char *path, void *user)
{
	char directory[CTRACE_EMITTER_PATH_SIZE];

	(void)user;
	if (!path_parent(path, directory)) {
		if (path[0] != '/')
			return CTRACE_NOT_FOUND;
		memcpy(directory, "/", 2);
	}
	return access(path, F_OK) == 0 || access(directory, W_OK | X_OK) == 0 ? CTRACE_OK
									      : CTRACE_DENIED;
}

/* Where open() would put a generation. */
static bool find_path(const struct ctrace_emitter_context *context,
		      const struct ctrace_emitter *emitter, uint32_t generation, bool has_others,
		      char out_path[CTRACE_EMITTER_PATH_SIZE])
{
	struct attempt attempt = { .body = path_look_at,
				   .context = context,
				   .access = ct_file_access_read(context) };
	struct ct_buf name;
	bool is_found;

	ct_buf_init(&name);
	is_found = ct_file_name_print(&name, context, emitter, generation, has_others);
	attempt.file_name = ct_buf_text(&name);
	is_found = is_found && attempt_all(&attempt, out_path) == CTRACE_OK;
	ct_buf_fini(&name);
	return is_found;
}

uint32_t ct_file_generation_first(const struct ctrace_emitter_context *context,
				  const struct ctrace_emitter *emitter)
{
	const char *inside = emitter == &ct_emit_binfile ? "/metadata" : "";
	uint32_t count = ct_file_generations(context), newest = 0;
	struct timespec newest_time = { 0, 0 };
	char path[CTRACE_EMITTER_PATH_SIZE + 16];

	for (uint32_t i = 1; i <= count && count > 1; i++) {
		struct stat info;

		if (!find_path(context, emitter, i, true, path))
			return i;
		(void)snprintf(path + strlen(path), sizeof path - strlen(path), "%s", inside);
		if (stat(path, &info) != 0)
			return i;
		if (info.st_mtim.tv_sec > newest_time.tv_sec ||
		    (info.st_mtim.tv_sec == newest_time.tv_sec &&
		     info.st_mtim.tv_nsec >= newest_time.tv_nsec)) {
			newest = i;
			newest_time = info.st_mtim;
		}
	}
	return newest % count + 1;
}

bool ct_emitter_output_path(const struct ctrace_emitter *emitter,
			    const struct ctrace_emitter_context *context,
			    char out_path[CTRACE_EMITTER_PATH_SIZE])
{
	bool has_others;

	if (emitter != &ct_emit_textfile && emitter != &ct_emit_binfile)
		return false;
	has_others = ct_file_generations(context) > 1 &&
		     (emitter == &ct_emit_binfile || context->number(context, "MULTIPROC") == 0);
	return find_path(context, emitter,
			 has_others ? ct_file_generation_first(context, emitter) : 1, has_others,
			 out_path) &&
	       access(out_path, F_OK) == 0;
}
