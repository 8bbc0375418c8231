/*
 * live_process.c - follows one live process: its session, its rings, the names of its components.
 *
 * Called by source_live.c, on one thread.  The files stay open, and an open file outlives its
 * process, so the rest is read even when the process and its directory are gone.  Their content may
 * be hostile: numbers are bounded before use.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_FROM offsetof(struct ct_session_head, component_count)
#define WORDS_TO offsetof(struct ct_session_head, writer)

void ct_live_process_close(struct ct_live_process *process)
{
	for (uint32_t i = 0; i < process->ring_count; i++)
		if (process->rings[i] != NULL) {
			ct_live_ring_close(process->rings[i]);
			free(process->rings[i]);
		}
	for (uint32_t i = 0; i < process->name_count; i++)
		free(process->names[i]);
	free(process->rings);
	free(process->names);
	free((void *)(uintptr_t)process->classes.bytes);
	ct_os_close(&process->session_fd);
	ct_os_close(&process->directory_fd);
	free(process->path);
	free(process);
}

static enum ctrace_status session_open(struct ct_live_process *process,
				       struct ct_session_head *head)
{
	size_t got = 0;
	struct stat info;

	process->directory_fd =
		open(process->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (process->directory_fd < 0)
		return errno == ENOENT   ? CTRACE_NOT_FOUND
		       : errno == EACCES ? CTRACE_DENIED
					 : CTRACE_OS_ERROR;
	process->id = ct_os_file_id(process->directory_fd);
	process->session_fd = openat(process->directory_fd, "session",
				     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (process->session_fd < 0)
		return errno == ENOENT   ? CTRACE_NOT_FOUND
		       : errno == EACCES ? CTRACE_DENIED
					 : CTRACE_OS_ERROR;
	if (fstat(process->session_fd, &info) != 0 || !S_ISREG(info.st_mode))
		return CTRACE_DAMAGED;
	if (ct_os_read_at(process->session_fd, head, offsetof(struct ct_session_head, system), 0,
			  &got) != CTRACE_OK)
		return CTRACE_OS_ERROR;
	if (got != offsetof(struct ct_session_head, system) || head->magic != CT_SESSION_MAGIC)
		return CTRACE_DAMAGED;
	if (head->version != CT_SESSION_VERSION)
		return CTRACE_UNSUPPORTED;
	process->layout = head->layout;
	if (!ct_session_layout_holds(&process->layout))
		return CTRACE_DAMAGED;
	process->who.pid = head->pid;
	process->who.asid = head->asid;
	(void)snprintf(process->who.jobname, sizeof process->who.jobname, "%.*s",
		       (int)sizeof head->jobname - 1, head->jobname);
	(void)snprintf(process->who.host, sizeof process->who.host, "%.*s",
		       (int)sizeof head->host - 1, head->host);
	(void)snprintf(process->who.program, sizeof process->who.program, "%.*s",
		       (int)sizeof head->program - 1, head->program);
	return CTRACE_OK;
}

/* Reads the words of the session that change.  Returns false when they cannot be read consistently:
 * the previous ones stay in use. */
static bool session_read_words(const struct ct_live_process *process, struct ct_session_head *words)
{
	size_t version_at =
		offsetof(struct ct_session_head, sync) + offsetof(struct ct_shared_sync, version);
	size_t got = 0;
	uint32_t version;

	for (unsigned tries = 0; tries < 5; tries++) {
		if (ct_os_read_at(process->session_fd, (char *)words + WORDS_FROM,
				  WORDS_TO - WORDS_FROM, WORDS_FROM, &got) != CTRACE_OK ||
		    got != WORDS_TO - WORDS_FROM)
			return false;
		if (ct_os_read_at(process->session_fd, &version, sizeof version, version_at,
				  &got) != CTRACE_OK ||
		    got != sizeof version)
			return false;
		if (version == words->sync.version)
			return true;
	}
	return false;
}

/* A new process has a single clock point.  Its clock is one of this machine, so we add a second
 * one. */
static void session_take_sync(struct ct_live_process *process, const struct ct_shared_sync *shared)
{
	struct ct_sync *sync = &process->sync;

	ct_shared_sync_copy(shared, sync);
	if (sync->epoch_count == 1 && sync->point_count == 1 &&
	    sync->latest.ticks == sync->points[0].ticks)
		ct_sync_update(sync, 0);
}

static void report_process(const struct ct_live_process *process,
			   const struct ct_live_options *options, enum ctrace_status status)
{
	if (options->report != NULL)
		options->report(process->path, 0, ctrace_status_text(status), options->user);
}

static void report_ring(const struct ct_live_process *process,
			const struct ct_live_options *options, enum ctrace_status status)
{
	char message[CT_UNREADABLE_SIZE];
	const char *why;
	char *path;

	if (options->report == NULL ||
	    asprintf(&path, "%s/ring.%u", process->path, process->ring_count) < 0)
		return;
	why = ct_path_unreadable(path, message);
	options->report(path, 0, why != NULL ? why : ctrace_status_text(status), options->user);
	free(path);
}

/* Opens a ring in the annex: the process has changed its user. */
static enum ctrace_status ring_open_in_annex(const struct ct_live_process *process,
					     struct ct_live_ring *ring, uint32_t index)
{
	struct ct_session_head *head = calloc(1, sizeof *head);
	enum ctrace_status status = CTRACE_NOT_FOUND;
	size_t got = 0;
	int directory_fd;

	if (head == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (ct_os_read_at(process->session_fd, head, sizeof *head, 0, &got) == CTRACE_OK &&
	    got == sizeof *head && head->ring_place[index] >= CT_RING_IN_ANNEX) {
		directory_fd = ct_annex_open(head, head->ring_place[index] - CT_RING_IN_ANNEX);
		if (directory_fd >= 0)
			status = ct_live_ring_open(ring, directory_fd, index, &process->classes,
						   process->is_all);
		ct_os_close(&directory_fd);
	}
	free(head);
	return status;
}

/* Opens the new rings.  A ring that cannot be opened is reported once, and then ignored. */
static void rings_add(struct ct_live_process *process, const struct ct_live_options *options,
		      uint32_t count)
{
	struct ct_live_ring **rings;

	if (count > CT_RING_LIMIT)
		count = CT_RING_LIMIT;
	if (count <= process->ring_count)
		return;
	rings = reallocarray(process->rings, count, sizeof(struct ct_live_ring *));
	if (rings == NULL)
		return;
	process->rings = rings;
	while (process->ring_count < count) {
		struct ct_live_ring *ring = malloc(sizeof *ring);
		enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

		if (ring != NULL)
			status = ct_live_ring_open(ring, process->directory_fd, process->ring_count,
						   &process->classes, process->is_all);
		if (ring != NULL && status == CTRACE_NOT_FOUND)
			status = ring_open_in_annex(process, ring, process->ring_count);
		if (status != CTRACE_OK && status != CTRACE_NOT_FOUND &&
		    status != CTRACE_UNSUPPORTED)
			report_ring(process, options, status);
		if (status != CTRACE_OK) {
			free(ring);
			ring = NULL;
		}
		rings[process->ring_count++] = ring;
	}
}

/* Does a ring wait for a class?  A class that was incomplete when the table was copied may be
 * complete now. */
static bool rings_are_stuck(const struct ct_live_process *process)
{
	for (uint32_t i = 0; i < process->ring_count; i++)
		if (process->rings[i] != NULL && process->rings[i]->stuck != 0)
			return true;
	return false;
}

/* Copies the new classes.  Events of later ones are read at the next look. */
static void session_take_classes(struct ct_live_process *process)
{
	uint64_t at = process->layout.classes_at, room = process->layout.texts_at - at;
	uint32_t used = 0;
	void *bytes;
	size_t got;

	if (ct_os_read_at(process->session_fd, &used, sizeof used, at, &got) != CTRACE_OK ||
	    got != sizeof used || used < process->classes.size || used > room ||
	    (used == process->classes.size && !rings_are_stuck(process)))
		return;
	bytes = realloc((void *)(uintptr_t)process->classes.bytes, used);
	if (bytes == NULL)
		return;
	process->classes.bytes = bytes;
	process->classes.size = 0;
	if (ct_os_read_at(process->session_fd, bytes, used, at, &got) == CTRACE_OK)
		process->classes.size = got;
}

bool ct_live_process_open(struct ct_live_process *process, const struct ct_live_options *options,
			  bool is_new, struct ct_session_head *words)
{
	enum ctrace_status status = session_open(process, words);

	if (status == CTRACE_OK && options->wants != NULL &&
	    !options->wants(&process->who, options->user))
		return false;
	if (status == CTRACE_OK && !session_read_words(process, words))
		status = CTRACE_DAMAGED;
	if (status != CTRACE_OK) {
		if (status != CTRACE_NOT_FOUND) /* it ended meanwhile */
			report_process(process, options, status);
		return false;
	}
	process->is_all = is_new || options->from_start;
	process->lost_at_first = process->is_all ? 0 : ct_loss_total(words->lost);
	session_take_sync(process, &words->sync);
	session_take_classes(process);
	rings_add(process, options, words->ring_count);
	process->is_all = true; /* later rings are new to us */
	return true;
}

bool ct_live_process_look(struct ct_live_process *process, const struct ct_live_options *options,
			  struct ct_live_look *look)
{
	bool is_new = false;

	if (session_read_words(process, look->words)) {
		process->lost = ct_loss_total(look->words->lost) - process->lost_at_first;
		session_take_sync(process, &look->words->sync);
		rings_add(process, options, look->words->ring_count);
	}
	session_take_classes(process);
	look->sync = &process->sync;
	for (uint32_t i = 0; i < process->ring_count; i++)
		if (process->rings[i] != NULL && ct_live_ring_look(process->rings[i], look))
			is_new = true;
	return is_new;
}

static char *session_read_name(const struct ct_live_process *process, uint32_t component,
			       char text[CTRACE_MAX_COMPONENT + 1])
{
	uint64_t at = process->layout.components_at +
		      (uint64_t)component * sizeof(struct ct_component_entry);
	ct_text name = 0;
	size_t got = 0, size;

	if (ct_os_read_at(process->session_fd, &name, sizeof name,
			  at + offsetof(struct ct_component_entry, name), &got) != CTRACE_OK ||
	    got != sizeof name)
		return NULL;
	size = name & 0xFFFF;
	if (size == 0 || size > CTRACE_MAX_COMPONENT || name >> 16 > process->layout.size)
		return NULL;
	if (ct_os_read_at(process->session_fd, text, size, process->layout.texts_at + (name >> 16),
			  &got) != CTRACE_OK ||
	    got != size)
		return NULL;
	text[size] = '\0';
	return text[0] != '\0' ? strdup(text) : NULL;
}

const char *ct_live_process_name(struct ct_live_process *process, uint32_t component)
{
	char text[CTRACE_MAX_COMPONENT + 1];

	if (component >= ct_session_component_limit(&process->layout))
		return NULL;
	if (component >= process->name_count) {
		char **names = reallocarray(process->names, component + 1, sizeof(char *));

		if (names == NULL)
			return NULL;
		memset(names + process->name_count, 0,
		       (component + 1 - process->name_count) * sizeof(char *));
		process->names = names;
		process->name_count = component + 1;
	}
	if (process->names[component] == NULL)
		process->names[component] = session_read_name(process, component, text);
	return process->names[component];
}
