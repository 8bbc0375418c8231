/*
 * spool_note.c - reports spools in which traces wait although no forwarder runs.
 *
 * For `ctrace list`, `ctrace doctor` and DISPLAY TRACE.  Nothing is changed, and nothing waits.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/spool_note.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/emit/spool.h"

bool ct_spool_note(struct ct_buf *out, const char *path)
{
	char why[CT_PRIVATE_WHY_SIZE];
	struct ct_spool_state state;

	if (geteuid() != 0 && ct_private_inspect(path, why) == CTRACE_DENIED) {
		ct_buf_add_text(out, "the spool ");
		ct_escape_add(out, path, strlen(path));
		ct_buf_add_format(out, " is refused: %s", why);
		return true;
	}
	if (!ct_spool_measure(path, &state) || state.traces == 0 || ct_spool_is_served(path))
		return false;
	ct_buf_add_text(out, "the spool ");
	ct_escape_add(out, path, strlen(path));
	ct_buf_add_format(out,
			  " has %" PRIu32 " trace%s (%" PRIu64
			  " KiB), and no forwarder serves it: start ctrace forward --spool, or the "
			  "unit ctrace-forward",
			  state.traces, state.traces == 1 ? "" : "s", state.bytes >> 10);
	return true;
}

bool ct_spool_note_segment(struct ct_buf *out, const char *segment)
{
	char path[CTRACE_EMITTER_PATH_SIZE];
	const char *slash = strrchr(segment, '/');

	if (slash == NULL || slash == segment)
		return false;
	(void)snprintf(path, sizeof path, "%.*s", (int)(slash - segment), segment);
	return ct_spool_note(out, path);
}

void ct_spool_each(void (*each)(const char *path, void *user), void *user)
{
	char root[CTRACE_EMITTER_PATH_SIZE], path[CTRACE_EMITTER_PATH_SIZE + 300];
	const struct dirent *entry;
	struct stat info;
	DIR *directory;

	if (!ct_spool_root(root) || lstat(root, &info) != 0)
		return;
	if (stat(root, &info) != 0 || !ct_spool_is_shared(&info)) {
		each(root, user);
		return;
	}
	if (geteuid() != 0) {
		(void)snprintf(path, sizeof path, "%s/%u", root, (unsigned)geteuid());
		ct_private_each(path, each, user);
		return;
	}
	directory = opendir(root);
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		(void)snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
		if (entry->d_name[0] != '.' && lstat(path, &info) == 0 && S_ISDIR(info.st_mode))
			each(path, user);
	}
	if (directory != NULL)
		(void)closedir(directory);
}
