/*
 * cmd_repair.c - ctrace repair: writes the good packets of damaged traces as traces without damage.
 *
 * ct_repair_path() does the work; this file makes the output directory and prints the report.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "read/repair/repair.h"
#include "tools/streams/stream_copy.h"

/* A file of nothing but damage must not fill the terminal. */
#define REPORT_LIMIT 10u
#define METADATA_LIMIT ((size_t)64 << 20)

struct repair_run {
	const char *to;
	char **paths;
	int path_count;
	uint64_t reports;
	const char *metadata; /* NULL: none was named */
	bool is_verbose;      /* every place, however many */
};

static void print_line(const char *path)
{
	fputs("ctrace repair: ", stderr);
	ct_tool_print(stderr, path, strlen(path));
}

static void repair_report_note(const struct ct_repair_note *note, void *user)
{
	struct repair_run *run = user;

	if (run->reports++ >= REPORT_LIMIT && !run->is_verbose)
		return;
	print_line(note->path);
	if (!note->is_unread)
		fprintf(stderr, ", offset %" PRIu64, note->offset);
	if (note->bytes > 0)
		fprintf(stderr, ", %" PRIu64 " byte%s", note->bytes, note->bytes == 1 ? "" : "s");
	fprintf(stderr, ": %s\n", note->message);
}

/* Returns the path without links; its last parts need not exist yet.  Returns NULL, with errno. */
static char *path_resolve(const char *path)
{
	char *resolved = realpath(path, NULL), *parent, *whole = NULL;
	size_t size = strlen(path), begin;

	if (resolved != NULL || errno != ENOENT || size == 0)
		return resolved;
	while (size > 1 && path[size - 1] == '/')
		size--;
	for (begin = size; begin > 0 && path[begin - 1] != '/'; begin--)
		;
	if (begin == size)
		return NULL;
	parent = begin == 0 ? strdup(".") : strndup(path, begin);
	resolved = parent != NULL ? path_resolve(parent) : NULL;
	if (resolved != NULL && size - begin <= 2 && strspn(path + begin, ".") >= size - begin) {
		/* The part before it will be a new directory, not a link, so ".." is its parent. */
		char *slash = size - begin == 2 ? strrchr(resolved, '/') : NULL;

		if (slash != NULL)
			slash[slash == resolved] = '\0';
		whole = resolved;
		resolved = NULL;
	} else if (resolved != NULL &&
		   asprintf(&whole, "%s/%.*s", strcmp(resolved, "/") == 0 ? "" : resolved,
			    (int)(size - begin), path + begin) < 0)
		whole = NULL;
	free(parent);
	free(resolved);
	return whole;
}

static bool path_is_within(const char *path, const char *directory)
{
	size_t size = strlen(directory);

	return strncmp(path, directory, size) == 0 &&
	       (path[size] == '\0' || path[size] == '/' || directory[size - 1] == '/');
}

/* Cuts the path of a stream file to the directory of its trace; keeps a directory. */
static void path_keep_directory(char *path)
{
	struct stat info;
	char *slash = strrchr(path, '/');

	if (slash != NULL && slash != path && strncmp(slash + 1, "stream.", 7) == 0 &&
	    stat(path, &info) == 0 && !S_ISDIR(info.st_mode))
		*slash = '\0';
}

/* The input is never changed: copies go to another directory. */
static bool run_is_apart(const struct repair_run *run)
{
	char *to = path_resolve(run->to);
	bool is_good = true;

	for (int i = 0; i < run->path_count && to != NULL && is_good; i++) {
		char *from = realpath(run->paths[i], NULL);
		const char *why = NULL;

		if (from == NULL)
			continue; /* reading it reports that */
		path_keep_directory(from);
		if (path_is_within(to, from))
			why = "the output is inside the input";
		else if (path_is_within(from, to))
			why = "the output contains the input";
		if (why != NULL) {
			print_line(run->to);
			fprintf(stderr, ": %s; name a directory elsewhere\n", why);
		}
		is_good = why == NULL;
		free(from);
	}
	free(to);
	return is_good;
}

/* Output is never mixed with existing files. */
static int directory_prepare(const char *path)
{
	struct stat info;

	if (stat(path, &info) == 0 && !S_ISDIR(info.st_mode)) {
		print_line(path);
		fputs(": not a directory; name one that is empty, or that is not there yet\n",
		      stderr);
		return CMD_UNWRITTEN;
	}
	errno = 0;
	if (ct_os_make_directory(path) != CTRACE_OK) {
		print_line(path);
		fprintf(stderr, ": %s\n", strerror(errno));
		return CMD_UNWRITTEN;
	}
	if (!ct_tool_is_empty_directory(path)) {
		print_line(path);
		fputs(": not an empty directory; name one that is, or that is not there yet\n",
		      stderr);
		return CMD_UNWRITTEN;
	}
	return CMD_DONE;
}

static void print_count(uint64_t count, const char *one, const char *more)
{
	printf("%" PRIu64 " %s", count, count == 1 ? one : more);
}

static void print_sums(const struct ct_repair *repair)
{
	print_count(repair->traces, "trace, ", "traces, ");
	print_count(repair->streams, "stream, ", "streams, ");
	print_count(repair->events, "event written\n", "events written\n");
}

static void print_report(const struct ct_repair *repair, const struct repair_run *run)
{
	if (run->reports > REPORT_LIMIT && !run->is_verbose)
		fprintf(stderr,
			"ctrace repair: %" PRIu64 " more like these; --verbose reports all\n",
			run->reports - REPORT_LIMIT);
	print_sums(repair);
	printf("kept ");
	print_count(repair->packets, "packet", "packets");
	printf(", cut or repaired %" PRIu64 ", lost ", repair->repaired);
	print_count(repair->lost_bytes, "byte", "bytes");
	printf(" in ");
	print_count(repair->damages - repair->unread, "place", "places");
	if (repair->lost_classes > 0) {
		printf(" and ");
		print_count(repair->lost_classes, "class of events", "classes of events");
	}
	putchar('\n');
	if (repair->unread > 0) {
		print_count(repair->unread, "part", "parts");
		puts(" could not be read at all");
	}
}

/* The input is the metadata of a trace, perhaps of a damaged one. */
static bool run_has_metadata(const struct repair_run *run)
{
	static const char start[] = "/* CTF 1.8";
	struct ct_buf text;
	enum ctrace_status status;
	bool is_good;

	if (run->metadata == NULL)
		return true;
	ct_buf_init(&text);
	errno = 0;
	status = ct_os_read_file(run->metadata, METADATA_LIMIT, &text);
	is_good = status == CTRACE_OK && text.size >= sizeof start - 1 &&
		  memcmp(text.data, start, sizeof start - 1) == 0;
	ct_buf_fini(&text);
	if (is_good)
		return true;
	print_line(run->metadata);
	if (status == CTRACE_OK || errno == 0)
		fputs(": no metadata of a trace; name the file metadata of another run of the program\n",
		      stderr);
	else
		fprintf(stderr, ": %s\n",
			errno == EINVAL ? "it is no regular file" : strerror(errno));
	return false;
}

static void report_uncopied(const char *to, enum ctrace_status status)
{
	const char *why = status == CTRACE_OS_ERROR ? strerror(errno) : ctrace_status_text(status);

	fputs(": cannot be copied to ", stderr);
	ct_tool_print(stderr, to, strlen(to));
	fprintf(stderr, ": %s\n", why);
}

static int run_repair_all(struct repair_run *run)
{
	struct ct_repair repair = { .report = repair_report_note,
				    .user = run,
				    .metadata = run->metadata };
	bool is_made;
	int exit_status;

	if (!run_has_metadata(run))
		return CMD_UNREAD;
	if (!run_is_apart(run))
		return CMD_USAGE;
	is_made = access(run->to, F_OK) != 0;
	exit_status = directory_prepare(run->to);
	if (exit_status != CMD_DONE)
		return exit_status;
	for (int i = 0; i < run->path_count; i++) {
		enum ctrace_status status = ct_repair_path(&repair, run->paths[i], run->to);

		if (status == CTRACE_OK)
			continue;
		/* Either the path or its copy has failed: CMD_UNWRITTEN is the same number. */
		if (exit_status != CMD_UNREAD)
			exit_status = status == CTRACE_NOT_FOUND ? CMD_NOTHING : CMD_UNREAD;
		print_line(run->paths[i]);
		if (status == CTRACE_NOT_FOUND)
			fputs(": no BINFILE trace, and no directory of such; other traces cannot be repaired\n",
			      stderr);
		else
			report_uncopied(run->to, status);
	}
	if (repair.traces == 0 && is_made)
		(void)rmdir(run->to);
	print_report(&repair, run);
	if (repair.unread > 0)
		return CMD_UNREAD;
	return repair.damages > 0 && exit_status == CMD_DONE ? CMD_NOTHING : exit_status;
}

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct repair_run *run = state->input;

	switch (key) {
	case 'o':
		run->to = argument;
		return 0;
	case 'm':
		run->metadata = argument;
		return 0;
	case 'v':
		run->is_verbose = true;
		return 0;
	case ARGP_KEY_ARGS:
		run->paths = state->argv + state->next;
		run->path_count = state->argc - state->next;
		for (int i = 0; i < run->path_count; i++)
			if (stream_is_address(run->paths[i]))
				argp_error(
					state,
					"a stream cannot be repaired; copy it with ctrace archive, and "
					"name the traces of the copy");
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name the traces");
		return 0;
	case ARGP_KEY_END:
		if (run->to == NULL || run->to[0] == '\0')
			argp_error(state, "name the directory to write to: -o DIRECTORY");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_repair(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "output", 'o', "DIRECTORY", 0,
		  "The directory for the copies; created when missing, must be empty", 0 },
		{ "metadata", 'm', "FILE", 0,
		  "Metadata of another run of the program, for traces whose own metadata cannot be read",
		  0 },
		{ "verbose", 'v', NULL, 0, "Report every damaged place, however many there are",
		  0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_argument,
		.args_doc = "PATH... -o DIRECTORY",
		.doc = "Copy the sound part of damaged traces to traces without damage.\v"
		       "PATH is a BINFILE trace, a writer's data set, a directory of these, or one stream file.  Packets of which every event can be read are "
		       "copied unchanged; a packet with damage is cut after its last good event.  The named traces are never changed.",
	};
	struct repair_run run = { 0 };

	if (argp_parse(&argp, argc, argv, 0, NULL, &run) != 0)
		return CMD_USAGE;
	return run_repair_all(&run);
}
