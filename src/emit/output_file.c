/*
 * output_file.c - where an output file goes: the name from FILE, the folder from LOCATION, MFTRACE_LOGS or the working folder.
 *
 * Called by TEXTFILE and BINFILE when they open a file, on the thread that drains.  Nothing is remembered: what fails now may work
 * at the next try.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "emit/emit.h"

#include <errno.h>
#include <string.h>

static void add_lower(struct ct_buf *out, const char *text)
{
	for (; *text != '\0'; text++)
		ct_buf_add_char(out, *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text);
}

/* A program's name is not ours to trust: it names a file in the folder, not another folder. */
static void add_name(struct ct_buf *out, const char *text)
{
	for (; *text != '\0'; text++)
		ct_buf_add_char(out, *text == '/' ? '_' : *text);
}

static bool add_variable(struct ct_buf *out, const char *name, size_t size, const struct ctrace_emitter_context *context,
			 const char *emitter, uint32_t generation)
{
	if (ct_name_is(name, size, "APPNAME"))
		add_name(out, context->program);
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

void ct_file_name_expand(struct ct_buf *out, const char *pattern, const struct ctrace_emitter_context *context, const char *emitter,
			 uint32_t generation)
{
	while (*pattern != '\0') {
		const char *end = pattern[0] == '$' && pattern[1] == '(' ? strchr(pattern, ')') : NULL;

		if (end != NULL && add_variable(out, pattern + 2, (size_t)(end - pattern) - 2, context, emitter, generation)) {
			pattern = end + 1;
			continue;
		}
		ct_buf_add_char(out, *pattern++);
	}
}

/* folder + "/" + name; what is relative is so to the traced process's working folder. */
static bool join(char out_path[CTRACE_EMITTER_PATH_SIZE], const char *base, const char *folder, const char *name)
{
	const char *parts[3] = { folder[0] == '/' || name[0] == '/' ? "" : base, folder, name };
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

struct attempt {
	enum ctrace_status (*body)(const char *path, void *user);
	void *user;
	const struct ctrace_emitter_context *context;
	const char *file_name;
};

static enum ctrace_status try_folder(const struct attempt *attempt, const char *folder, bool make_folder,
				     char out_path[CTRACE_EMITTER_PATH_SIZE])
{
	const char *base = attempt->context->working_folder;
	char path[CTRACE_EMITTER_PATH_SIZE];
	enum ctrace_status status;

	if (make_folder) {
		if (!join(path, base, folder, ""))
			return CTRACE_OS_ERROR;
		status = ct_os_make_folder(path);
		if (status != CTRACE_OK)
			return status;
	}
	if (!join(path, base, folder, attempt->file_name))
		return CTRACE_OS_ERROR;
	status = attempt->body(path, attempt->user);
	if (status == CTRACE_OK)
		memcpy(out_path, path, strlen(path) + 1);
	return status;
}

enum ctrace_status ct_file_place(const struct ctrace_emitter_context *context, const char *file_name,
				 enum ctrace_status (*attempt)(const char *path, void *user), void *user,
				 char out_path[CTRACE_EMITTER_PATH_SIZE])
{
	const struct attempt this_attempt = { .body = attempt, .user = user, .context = context, .file_name = file_name };
	const char *location = context->property(context, "LOCATION");
	char folder[CTRACE_EMITTER_PATH_SIZE];

	if (file_name[0] == '\0') {
		errno = EINVAL;
		return CTRACE_OS_ERROR;
	}
	if (file_name[0] == '/')
		return try_folder(&this_attempt, "", false, out_path);
	if (location != NULL && location[0] != '\0' && strlen(location) < sizeof folder) {
		memcpy(folder, location, strlen(location) + 1);
		if (try_folder(&this_attempt, folder, true, out_path) == CTRACE_OK)
			return CTRACE_OK;
	}
	if (context->folder[0] != '\0' && try_folder(&this_attempt, context->folder, false, out_path) == CTRACE_OK)
		return CTRACE_OK;
	return try_folder(&this_attempt, context->working_folder, false, out_path);
}
