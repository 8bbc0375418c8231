/*
 * display_presets.c - presets that wait for their traces, as rows of DISPLAY TRACE: MODE is PRE.
 *
 * Called by the verbs, on the tool's only thread.  A preset is a file in a run directory, named for
 * its trace (lib/component/preset.c).  A file of another user, or one that is not a single request,
 * is skipped: a program would not use it as a preset either.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/display_trace.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lib/component/component.h"

struct search {
	const struct ct_operator_command *command;
	struct ct_display *display;
};

/* ---- which ---- */

/* Returns true if the name matches the name or glob, or is a sublevel of it that SUBLEVEL shows. */
static bool name_fits(const char *asked, const char *name, uint32_t levels)
{
	size_t size = strlen(asked);

	if (ct_glob_match_levels(asked, size, name, strlen(name)))
		return true;
	if (strlen(name) <= size || name[size] != '.' || !ct_name_equal(asked, size, name, size))
		return false;
	for (const char *dot = name + size; dot != NULL; dot = strchr(dot + 1, '.'))
		if (levels-- == 0)
			return false;
	return true;
}

static bool preset_is_wanted(const struct ct_operator_command *command, const char *name)
{
	uint32_t levels = ct_display_levels_of(command);
	struct ctrace_outcome ignored;
	struct ct_path path;

	for (uint32_t i = 0; i < command->name_count; i++) {
		if (!command->has_sub && name_fits(command->name[i], name, levels))
			return true;
		if (command->has_sub &&
		    ct_path_parse(command->name[i], command->sub, &path, &ignored) ==
			    CTRACE_RC_OK &&
		    name_fits(path.given, name, levels))
			return true;
	}
	return command->name_count == 0;
}

static bool preset_is_defined(const struct ct_display *display, const char *name)
{
	for (uint32_t i = 0; i < display->trace_rows.count; i++)
		if (ct_name_is(name, strlen(name), display->traces[i].name))
			return true;
	return false;
}

/* ---- what it says ---- */

static void preset_add_row(struct ct_display *display, const char *name,
			   const struct ct_trace_request *request)
{
	struct ct_display_trace row = { .process = CT_DISPLAY_NONE };
	struct ctrace_display *shown = &row.display;

	(void)snprintf(row.name, sizeof row.name, "%s", name);
	shown->mode = CT_DISPLAY_MODE_PRE;
	shown->buffer_asked = shown->buffer_rounded = request->bufsize;
	shown->asids = shown->jobs = shown->wtr = shown->buffer = 1;
	shown->asid_count = request->asid_count;
	memcpy(shown->asid, request->asid, sizeof shown->asid);
	shown->jobname_count = request->jobname_count;
	memcpy(shown->jobname, request->jobname, sizeof shown->jobname);
	memcpy(shown->writer, request->writer, sizeof shown->writer);
	memcpy(shown->options, request->options, sizeof shown->options);
	(void)ct_display_add_trace(display, &row);
}

static void preset_read(struct ct_display *display, int directory_fd, const char *name)
{
	char text[CT_PARMLIB_LIMIT];
	struct ct_parmlib parmlib;
	size_t size;
	int fd;

	if (ct_os_open_file(directory_fd, name, O_RDONLY, &fd) != CTRACE_OK)
		return;
	if (ct_os_read_at(fd, text, sizeof text, 0, &size) == CTRACE_OK) {
		if (ct_parmlib_parse(text, size, &parmlib, NULL, NULL) == 0 && parmlib.count == 1)
			preset_add_row(display, name, &parmlib.requests[0]);
		ct_parmlib_fini(&parmlib);
	}
	ct_os_close(&fd);
}

static void directory_look_into(const char *run_directory, void *user)
{
	const struct search *search = user;
	char path[4096 + sizeof "/preset"];
	const struct dirent *entry;
	DIR *entries;

	(void)snprintf(path, sizeof path, "%s/preset", run_directory);
	entries = opendir(path);
	if (entries == NULL)
		return;
	while ((entry = readdir(entries)) != NULL)
		if (entry->d_name[0] != '.' && preset_is_wanted(search->command, entry->d_name) &&
		    !preset_is_defined(search->display, entry->d_name))
			preset_read(search->display, dirfd(entries), entry->d_name);
	(void)closedir(entries);
}

void ct_display_presets(const struct ct_operator_command *command, struct ct_display *display)
{
	struct search search = { command, display };

	ct_directory_each_run_directory(directory_look_into, &search);
}
