/*
 * cmd_open.c - ctrace open: the page of ctrace report, in the user's browser.
 *
 * The page is in the user's cache, because the browser reads it after this tool has ended.  Only
 * the user may read it, because traces have the data of programs.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"
#include "tools/traces/page_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/browser.h"

#define SUFFIX ".html"
#define STEM_LIMIT 100u
#define KEPT_SECONDS (7 * 24 * 60 * 60)

/* -----------------------------------------------------------------------------------------------
 * The directory of pages
 */

/* Returns true if the directory is ours, or is now.  A link, or another user's directory, is not.
 */
static bool directory_ensure(const char *path)
{
	struct stat info;

	if (mkdir(path, 0700) == 0)
		return true;
	return errno == EEXIST && lstat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
	       info.st_uid == geteuid() && access(path, W_OK | X_OK) == 0;
}

/* The cache below `base`, to be freed; NULL when it cannot be used. */
static char *cache_create(const char *base, const char *below)
{
	char *path = NULL;

	/* A relative path is no cache: the specification of XDG_CACHE_HOME ignores it. */
	if (base == NULL || base[0] != '/' || asprintf(&path, "%s%s", base, below) < 0)
		return NULL;
	(void)mkdir(path, 0700);
	free(path);
	if (asprintf(&path, "%s%s/ctrace", base, below) < 0)
		return NULL;
	if (directory_ensure(path))
		return path;
	free(path);
	return NULL;
}

/* For a user without a home, such as a service.  A new directory cannot have been prepared by
 * another user. */
static char *temporary_create(void)
{
	const char *base = ct_os_environment("TMPDIR");
	char *path;

	if (asprintf(&path, "%s/ctrace-XXXXXX", base != NULL ? base : "/tmp") < 0)
		return NULL;
	if (mkdtemp(path) != NULL)
		return path;
	fputs("ctrace open: ", stderr);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": %s\n", strerror(errno));
	free(path);
	return NULL;
}

/* Removes the pages that were made more than a week ago. */
static void pages_remove_old(const char *directory)
{
	time_t oldest = time(NULL) - KEPT_SECONDS;
	DIR *pages = opendir(directory);
	struct dirent *entry;
	struct stat info;

	while (pages != NULL && (entry = readdir(pages)) != NULL) {
		size_t size = strlen(entry->d_name);

		if (size <= strlen(SUFFIX) ||
		    strcmp(entry->d_name + size - strlen(SUFFIX), SUFFIX) != 0)
			continue;
		if (fstatat(dirfd(pages), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(info.st_mode) && info.st_mtime < oldest)
			(void)unlinkat(dirfd(pages), entry->d_name, 0);
	}
	if (pages != NULL)
		(void)closedir(pages);
}

/* -----------------------------------------------------------------------------------------------
 * The page
 */

/* The last part of the first path, in characters that need no quotes in a shell. */
static void stem_make(const struct reading *reading, char out_stem[STEM_LIMIT + 1])
{
	const char *path = reading->path_count > 0 ? reading->paths[0] : "processes";
	size_t end = strlen(path), start, size;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	size = end - start < STEM_LIMIT ? end - start : STEM_LIMIT;
	for (size_t i = 0; i < size; i++) {
		char c = path[start + i];

		out_stem[i] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
					      (c >= '0' && c <= '9') || c == '_' ||
					      ((c == '.' || c == '-') && i > 0)
				      ? c
				      : '_';
	}
	out_stem[size] = '\0';
}

/* The directory of the page, to be freed; NULL, and it is reported, when there is none. */
static char *directory_create(bool *out_is_temporary)
{
	char *directory = cache_create(ct_os_environment("XDG_CACHE_HOME"), "");

	if (directory == NULL)
		directory = cache_create(ct_os_environment("HOME"), "/.cache");
	*out_is_temporary = directory == NULL;
	if (directory == NULL)
		return temporary_create();
	pages_remove_old(directory);
	return directory;
}

static void page_show(struct page_file *page, int *exit_status)
{
	if (page->is_made && browser_is_reachable("ctrace open", page->output) &&
	    !browser_start("ctrace open", page->output))
		*exit_status = CMD_UNWRITTEN;
}

/* Makes the page in the cache.  The next page of the same trace replaces it. */
static int page_make_cached(struct page_file *page)
{
	char stem[STEM_LIMIT + 1], *name = NULL;
	bool is_temporary;
	char *directory = directory_create(&is_temporary);
	int exit_status = CMD_UNWRITTEN;

	stem_make(&page->reading, stem);
	if (directory != NULL && asprintf(&name, "%s/%s" SUFFIX, directory, stem) >= 0) {
		page->output = name;
		exit_status = page_file_run(page);
	} else {
		reading_close(&page->reading);
	}
	if (directory != NULL && is_temporary && !page->is_made)
		(void)rmdir(directory);
	free(directory);
	return exit_status;
}

static int open_run(struct page_file *page)
{
	/* Only while files are made: the browser gets the user's mask. */
	mode_t mask = umask(077);
	int exit_status = page->output != NULL ? page_file_run(page) : page_make_cached(page);

	(void)umask(mask);
	page_show(page, &exit_status);
	return exit_status;
}

/* -----------------------------------------------------------------------------------------------
 * The verb
 */

static error_t parse_open(int key, char *argument, struct argp_state *state)
{
	struct page_file *page = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		reading_init(&page->reading, "ctrace open");
		state->child_inputs[0] = page;
		return 0;
	case 'o':
		page->output = argument;
		return 0;
	case ARGP_KEY_END:
		if (page->output != NULL && strcmp(page->output, "-") == 0)
			argp_error(state, "a browser needs a file: name one with --output");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_open(int argc, char **argv)
{
	static const struct argp_option rows[] = {
		{ "output", 'o', "FILE", 0,
		  "The page; by default a file in $XDG_CACHE_HOME/ctrace or ~/.cache/ctrace", 0 },
		{ 0 },
	};
	static const struct argp_child children[] = { { .argp = &ct_page_argp }, { 0 } };
	static const struct argp argp = {
		.options = rows,
		.children = children,
		.parser = parse_open,
		.args_doc = "['EXPRESSION'] [PATH|PID...]",
		.doc = "Make the page of ctrace report, and show it in the browser: the commands of BROWSER, or xdg-open. Over SSH or without a"
		       " display no browser is started, and a line reports what to do with the page.\v"
		       "Exit status: 0 done; 1 no events, or damaged input; 2 usage, no memory, the page could not be written, or no browser"
		       " could be started.",
	};
	struct page_file page = { 0 };

	if (argp_parse(&argp, argc, argv, 0, NULL, &page) != 0)
		return CMD_USAGE;
	return open_run(&page);
}
