/*
 * thread_files.c - lines of events in a file for each thread, in a directory.
 *
 * Part of ctrace show --split=thread.  There may be more threads than a process may have open
 * files: lines are gathered in memory, and a file is open only while its lines are appended.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/processes/thread_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

#define FILE_WAITING ((size_t)64 << 10) /* bytes: then they are written */
#define ALL_WAITING ((size_t)64 << 20)
#define NAME_LIMIT 80u /* of a host or a program, in the name of a file */

bool thread_files_open(struct thread_files *files, const char *directory, const char *suffix)
{
	*files = (struct thread_files){ .directory = directory, .suffix = suffix, .fd = -1 };
	files->is_made = mkdir(directory, 0700) == 0;
	if (!files->is_made && errno != EEXIST)
		return false;
	files->fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (files->fd < 0)
		return false;
	if (ct_tool_is_empty_directory(directory))
		return true;
	(void)close(files->fd);
	files->fd = -1;
	errno = ENOTEMPTY;
	return false;
}

/* Hosts and programs may be called anything. */
static void name_add(struct ct_buf *out, const char *text)
{
	for (size_t i = 0; *text != '\0' && i < NAME_LIMIT; text++, i++) {
		bool is_plain = (*text >= 'A' && *text <= 'Z') || (*text >= 'a' && *text <= 'z') ||
				(*text >= '0' && *text <= '9') || strchr("_-+", *text) != NULL;

		ct_buf_add_char(out, is_plain ? *text : '_');
	}
	ct_buf_add_char(out, '.');
}

static bool items_grow(struct thread_files *files)
{
	uint32_t capacity = files->capacity != 0 ? 2 * files->capacity : 16;
	struct thread_file *items = realloc(files->items, capacity * sizeof *items);

	if (items == NULL)
		return false;
	files->items = items;
	files->capacity = capacity;
	return true;
}

static struct thread_file *file_find(struct thread_files *files, const struct ct_read_event *event)
{
	uint32_t index = CT_DISTINCT_NONE;
	struct ct_buf name;
	bool is_new = false;

	ct_buf_init(&name);
	if (files->has_host && event->source_process->host[0] != '\0')
		name_add(&name, event->source_process->host);
	if (event->source_process->program[0] != '\0')
		name_add(&name, event->source_process->program);
	ct_buf_add_format(&name, "%u.%u.%s", event->traced.pid, event->traced.tid, files->suffix);
	if (!name.failed && (files->names.count < files->capacity || items_grow(files)))
		index = ct_distinct_find(&files->names, name.data, name.size, &is_new);
	ct_buf_fini(&name);
	if (index == CT_DISTINCT_NONE) {
		files->error = files->names.count == CT_DISTINCT_LIMIT ? EMFILE : ENOMEM;
		return NULL;
	}
	if (is_new) {
		files->items[index] = (struct thread_file){ 0 };
		ct_buf_init(&files->items[index].text);
	}
	return &files->items[index];
}

static void file_name(const struct thread_files *files, uint32_t index, char out[NAME_MAX + 1])
{
	size_t size;
	const char *key = ct_distinct_key(&files->names, index, &size);

	(void)snprintf(out, NAME_MAX + 1, "%.*s", (int)size, key);
}

static void file_write(struct thread_files *files, uint32_t index)
{
	struct thread_file *file = &files->items[index];
	char name[NAME_MAX + 1];
	int fd;

	if (file->text.size == 0 || files->error != 0)
		return;
	file_name(files, index, name);
	fd = openat(files->fd, name,
		    file->is_begun ? O_WRONLY | O_APPEND | O_CLOEXEC
				   : O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	if (fd < 0) {
		files->error = errno;
		return;
	}
	file->is_begun = true;
	if (!ct_tool_write(fd, file->text.data, file->text.size))
		files->error = errno;
	if (close(fd) != 0 && files->error == 0)
		files->error = errno;
	if (file->text.failed && files->error == 0)
		files->error = ENOMEM;
	/* Not only emptied: all of them together would be too much. */
	ct_buf_fini(&file->text);
	ct_buf_init(&file->text);
}

static void files_write(struct thread_files *files)
{
	for (uint32_t i = 0; i < files->names.count; i++)
		file_write(files, i);
	files->waiting = 0;
}

struct ct_buf *thread_files_begin(struct thread_files *files, const struct ct_read_event *event)
{
	struct thread_file *file = files->error == 0 ? file_find(files, event) : NULL;

	if (file != NULL && file->text.size >= FILE_WAITING) {
		files->waiting -=
			files->waiting < file->text.size ? files->waiting : file->text.size;
		file_write(files, (uint32_t)(file - files->items));
	}
	/* A line is not long, and exactness does not matter here. */
	files->waiting += 128;
	if (files->waiting >= ALL_WAITING)
		files_write(files);
	return files->error == 0 && file != NULL ? &file->text : NULL;
}

/* Half of the lines of some threads would look like all. */
static void files_remove(const struct thread_files *files)
{
	char name[NAME_MAX + 1];

	for (uint32_t i = 0; i < files->names.count; i++)
		if (files->items[i].is_begun) {
			file_name(files, i, name);
			(void)unlinkat(files->fd, name, 0);
		}
	if (files->is_made)
		(void)rmdir(files->directory);
}

bool thread_files_end(struct thread_files *files, const char *verb)
{
	files_write(files);
	if (files->error != 0)
		files_remove(files);
	for (uint32_t i = 0; i < files->names.count; i++)
		ct_buf_fini(&files->items[i].text);
	if (files->fd >= 0)
		(void)close(files->fd);
	free(files->items);
	ct_distinct_fini(&files->names);
	if (files->error == 0)
		return true;
	fprintf(stderr, "%s: ", verb);
	ct_tool_print(stderr, files->directory, strlen(files->directory));
	fprintf(stderr, ": %s\n", strerror(files->error));
	return false;
}
