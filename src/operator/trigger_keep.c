/*
 * trigger_keep.c - the triggers in the run directory, for processes that come.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/trigger_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/control/trigger.h"
#include "lib/start/start.h"

#define KEY "ctrace.trigger."

#define DISABLED "disabled "

static void line_add(struct ct_buf *out, const char *name, struct ct_span text,
		     const struct ct_trigger *trigger, bool is_disabled)
{
	ct_buf_add_text(out, KEY);
	ct_buf_add_text(out, name);
	ct_buf_add_text(out, is_disabled ? " = " DISABLED : " = ");
	ct_buf_add(out, text.at + trigger->begin, text.size - trigger->begin);
	ct_buf_add_char(out, '\n');
}

/* Copies the lines of the file, except this trigger's: it is changed, or left out, and its text
 * goes to *before.  Returns the number of other triggers. */
static uint32_t kept_copy(const char *name, const struct ct_buf *old, enum ct_trigger_change change,
			  struct ct_buf *before, struct ct_buf *out)
{
	const char *at = old->data, *end = at + old->size;
	uint32_t others = 0;

	while (at < end) {
		const char *line = at;
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct ct_command command;
		struct ct_trigger trigger;
		bool is_trigger, is_it;

		stop = stop != NULL ? stop : end;
		at = stop < end ? stop + 1 : end;
		is_trigger = ct_config_parse_line(line, (size_t)(stop - line), &command, NULL) ==
				     CTRACE_OK &&
			     command.verb == CT_VERB_TRIGGER;
		is_it = is_trigger &&
			ct_name_is(command.component.at, command.component.size, name);
		others += is_trigger && !is_it;
		if (is_it) {
			ct_buf_clear(before);
			ct_buf_add(before, command.value.at, command.value.size);
		}
		if (is_it && (change == CT_TRIGGER_SET || change == CT_TRIGGER_OFF))
			continue;
		if (is_it &&
		    ct_trigger_parse(command.value.at, command.value.size, &trigger, NULL) ==
			    CTRACE_OK &&
		    trigger.change == CT_TRIGGER_SET) {
			line_add(out, name, command.value, &trigger, change == CT_TRIGGER_DISABLE);
			continue;
		}
		if (stop == line)
			continue;
		ct_buf_add(out, line, (size_t)(stop - line));
		ct_buf_add_char(out, '\n');
	}
	return others;
}

static bool kept_write(int directory, const struct ct_buf *text)
{
	static const char fresh[] = CT_SETUP_KEPT ".new";
	int fd, error;
	bool is_good;

	(void)unlinkat(directory, fresh, 0);
	fd = openat(directory, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	is_good = fd >= 0 && ct_os_write_at(fd, text->data, text->size, 0) == CTRACE_OK &&
		  fsync(fd) == 0;
	ct_os_close(&fd);
	if (is_good && renameat(directory, fresh, directory, CT_SETUP_KEPT) == 0)
		return true;
	error = errno;
	(void)unlinkat(directory, fresh, 0);
	errno = error;
	return false;
}

static void kept_read(const char *path, struct ct_buf *out)
{
	if (ct_os_read_trusted(path, CT_SETUP_KEPT, CT_OS_OWN, CT_SETUP_KEPT_LIMIT, out) !=
	    CTRACE_OK)
		ct_buf_clear(out);
}

/* Under a lock of the directory: of two commands at a time none loses the other's line. */
static const char *kept_change(const char *name, struct ct_span text_new, int directory,
			       const char *path, struct ct_buf *before)
{
	struct ct_trigger trigger;
	struct ct_buf old, text;
	const char *why = NULL;
	uint32_t others;
	bool is_set;

	if (ct_trigger_parse(text_new.at, text_new.size, &trigger, NULL) != CTRACE_OK)
		return "not a trigger";
	is_set = trigger.change == CT_TRIGGER_SET;
	ct_buf_init(&old);
	ct_buf_init(&text);
	kept_read(path, &old);
	others = kept_copy(name, &old, trigger.change, before, &text);
	if (is_set)
		line_add(&text, name, text_new, &trigger, trigger.is_disabled);
	if (text.failed || before->failed)
		why = strerror(ENOMEM);
	else if (is_set && others >= CT_TRIGGER_LIMIT)
		why = "16 triggers are kept, and no more can be";
	else if ((is_set || before->size != 0) && !kept_write(directory, &text))
		why = strerror(errno);
	ct_buf_fini(&old);
	ct_buf_fini(&text);
	return why;
}

const char *ct_trigger_keep(const char *name, struct ct_span text, struct ct_buf *before)
{
	char path[PATH_MAX];
	int directory = -1;
	const char *why;

	ct_buf_clear(before);
	/* What another user's later processes do is that user's business. */
	if (ct_directory_is_operated(path))
		return NULL;
	if (ct_directory_of_user(path) == CTRACE_OK)
		directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory >= 0 && flock(directory, LOCK_EX) == 0)
		why = kept_change(name, text, directory, path, before);
	else
		why = strerror(errno);
	ct_os_close(&directory);
	return why;
}

void ct_trigger_keep_back(const char *name, const struct ct_buf *before)
{
	struct ct_buf ignored;

	ct_buf_init(&ignored);
	(void)!ct_trigger_keep(name,
			       before->size != 0 ? (struct ct_span){ before->data, before->size }
						 : (struct ct_span){ "off", 3 },
			       &ignored);
	ct_buf_fini(&ignored);
}

struct kept_reader {
	void (*take)(struct ct_span name, struct ct_span text, void *user);
	void *user;
};

static void command_take(const struct ct_command *command, unsigned line, void *user)
{
	const struct kept_reader *reader = user;

	(void)line;
	if (command->verb == CT_VERB_TRIGGER)
		reader->take(command->component, command->value, reader->user);
}

void ct_trigger_kept(void (*take)(struct ct_span name, struct ct_span text, void *user), void *user)
{
	struct kept_reader kept = { .take = take, .user = user };
	const struct ct_config_reader reader = { .command = command_take, .user = &kept };
	char path[PATH_MAX];
	struct ct_buf text;

	if (ct_directory_is_operated(path) || ct_directory_of_user(path) != CTRACE_OK)
		return;
	ct_buf_init(&text);
	kept_read(path, &text);
	ct_config_read(text.data, text.size, NULL, &reader, NULL);
	ct_buf_fini(&text);
}
