/*
 * trigger_keep.c - the triggers in the run directory, for processes that come.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/trigger_keep.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/start/start.h"

#define KEY "ctrace.trigger."

/* The other lines of the file, and whether one was this trigger's. */
static bool kept_copy(const char *name, const struct ct_buf *old, struct ct_buf *out)
{
	const char *at = old->data, *end = at + old->size;
	bool was_there = false;

	while (at < end) {
		const char *line = at;
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct ct_command command;
		bool is_it;

		stop = stop != NULL ? stop : end;
		at = stop < end ? stop + 1 : end;
		is_it = ct_config_parse_line(line, (size_t)(stop - line), &command, NULL) ==
				CTRACE_OK &&
			command.verb == CT_VERB_TRIGGER &&
			ct_name_is(command.component.at, command.component.size, name);
		was_there |= is_it;
		if (is_it || stop == line)
			continue;
		ct_buf_add(out, line, (size_t)(stop - line));
		ct_buf_add_char(out, '\n');
	}
	return was_there;
}

static bool kept_write(int directory, const struct ct_buf *text)
{
	static const char fresh[] = CT_SETUP_KEPT ".new";
	int fd;
	bool is_good;

	(void)unlinkat(directory, fresh, 0);
	fd = openat(directory, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	is_good = fd >= 0 && ct_os_write_at(fd, text->data, text->size, 0) == CTRACE_OK &&
		  fsync(fd) == 0;
	ct_os_close(&fd);
	return is_good && renameat(directory, fresh, directory, CT_SETUP_KEPT) == 0;
}

/* Under a lock of the directory: of two commands at a time none loses the other's line. */
static bool kept_change(const char *name, struct ct_span text_new, int directory, const char *path,
			bool *out_was_there)
{
	struct ct_buf old, text;
	bool is_good;

	ct_buf_init(&old);
	ct_buf_init(&text);
	if (ct_os_read_trusted(path, CT_SETUP_KEPT, CT_OS_OWN, CT_SETUP_KEPT_LIMIT, &old) !=
	    CTRACE_OK)
		ct_buf_clear(&old);
	*out_was_there = kept_copy(name, &old, &text);
	if (text_new.at != NULL) {
		ct_buf_add_text(&text, KEY);
		ct_buf_add_text(&text, name);
		ct_buf_add_text(&text, " = ");
		ct_buf_add(&text, text_new.at, text_new.size);
		ct_buf_add_char(&text, '\n');
	}
	is_good = !text.failed &&
		  ((text_new.at == NULL && !*out_was_there) || kept_write(directory, &text));
	ct_buf_fini(&old);
	ct_buf_fini(&text);
	return is_good;
}

bool ct_trigger_keep(const char *name, struct ct_span text, bool *out_was_there)
{
	char path[PATH_MAX];
	int directory = -1;
	bool is_good = false;

	*out_was_there = false;
	/* What another user's later processes do is that user's business. */
	if (ct_directory_is_operated(path))
		return true;
	if (ct_directory_of_user(path) == CTRACE_OK)
		directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory >= 0 && flock(directory, LOCK_EX) == 0)
		is_good = kept_change(name, text, directory, path, out_was_there);
	ct_os_close(&directory);
	return is_good;
}
