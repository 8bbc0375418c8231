/*
 * run_config.c - the configuration that the programs of `ctrace run` read: defaults, then the
 * user's own file, then what the options ask for.  The last line of a key counts.
 *
 * The file is in a private directory of its own, which run_program.c removes.  The directory is in
 * TMPDIR, or else in the run directory, which is in memory as a rule and has few other entries. The
 * tool has it locked.  Where the tool and its keeper were killed together, the next run removes it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/runs/run_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary_file.h"
#include "cli/cli.h"
#include "lib/control/control.h"
#include "lib/emit/emit.h"
#include "tools/runs/run_report.h"

#define USER_LIMIT ((size_t)16 << 20)
#define DIRECTORY CT_FILE_RUN_DIRECTORY
#define FILE_NAME "mftrace.cfg"
#define TRIES 5u /* another run may remove a directory that has no lock yet */

static void parent_find(char out[4096])
{
	const char *chosen = ct_temporary_directory(NULL);

	if (chosen != NULL || ct_directory_run_directory(NULL, out) != CTRACE_OK)
		(void)snprintf(out, 4096, "%s", chosen != NULL ? chosen : "/tmp");
}

static bool config_report_unwritten(int error)
{
	char parent[4096], what[256];

	parent_find(parent);

	(void)snprintf(
		what, sizeof what,
		"the configuration of the run cannot be written there: %s; set TMPDIR to another directory",
		strerror(error));
	return run_report(parent, what);
}

/* -----------------------------------------------------------------------------------------------
 * The user's file
 */

/* The first word that an mftrace.application in parentheses is compared with. */
static const char *first_argument(char **words, struct ct_buf *joined)
{
	const char *slash = strrchr(words[0], '/');

	for (char **word = words + 1; *word != NULL; word++)
		ct_buf_add(joined, *word, strlen(*word) + 1);
	return ct_config_triggered(slash != NULL ? slash + 1 : words[0],
				   joined->data != NULL ? joined->data : "", joined->size);
}

/* As `ctrace config check` prints it. */
static void line_diagnose(const struct ct_diagnostic *diagnostic, void *user)
{
	const char *path = user;

	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ":%u:%u: %s; expected %s\n", diagnostic->line, diagnostic->column,
		diagnostic->message, diagnostic->expected);
}

/* A line with an error has no effect, as for every program that reads the file. */
static void text_diagnose(struct ct_buf *text, const char *path)
{
	const struct ct_config_reader reader = { .diagnose = line_diagnose,
						 .user = (void *)(uintptr_t)path };

	ct_config_read(ct_buf_text(text), text->size, NULL, &reader, NULL);
}

/* Is the file for this program?  The words of the command line decide, as for the program itself,
 * and for all that it starts. */
static bool text_is_for_program(struct ct_buf *text, char **words)
{
	const char *slash = strrchr(words[0], '/');
	const struct ct_config_reader reader = { .command = NULL };
	struct ct_program program = { .name = slash != NULL ? slash + 1 : words[0] };
	unsigned stopped_at = 0;
	char path[PATH_MAX];
	struct ct_buf joined;

	ct_buf_init(&joined);
	program.path = realpath(words[0], path) != NULL ? path : words[0];
	program.first_argument = first_argument(words, &joined);
	ct_config_read(ct_buf_text(text), text->size, &program, &reader, &stopped_at);
	ct_buf_fini(&joined);
	return stopped_at == 0;
}

/* Adds the lines, but for mftrace.application: it would end the file for the other programs of the
 * run. */
static void text_add(struct ct_buf *out, struct ct_buf *text)
{
	const char *at = ct_buf_text(text), *end = at + text->size;

	if (text->size >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
		at += 3;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t size = (size_t)((newline != NULL ? newline : end) - at);
		struct ct_command command;

		if (ct_config_parse_line(at, size, &command, NULL) != CTRACE_OK ||
		    command.verb != CT_VERB_APPLICATION)
			ct_buf_add(out, at, size);
		ct_buf_add_char(out, '\n');
		at += size + (newline != NULL);
	}
}

static bool user_add(struct ct_buf *out, const struct run_wanted *wanted, char **words)
{
	const char *path = wanted->user_config != NULL ? wanted->user_config
						       : ct_os_environment("MFTRACE_CONFIG");
	char buffer[CT_CONFIG_UNREAD], what[CT_CONFIG_UNREAD + 64];
	enum ctrace_status status;
	struct ct_buf text;
	const char *why;

	if (path == NULL)
		return true;
	ct_buf_init(&text);
	status = ct_os_read_file(path, USER_LIMIT, &text);
	if (status == CTRACE_OK && text_is_for_program(&text, words)) {
		text_diagnose(&text, path);
		text_add(out, &text);
	}
	ct_buf_fini(&text);
	if (status == CTRACE_OK)
		return true;
	why = status == CTRACE_NOT_FOUND ? strerror(ENOENT) : ct_config_unread(errno, buffer);
	if (wanted->user_config != NULL)
		return run_report(path, why);
	/* A variable of the site's environment stops no program. */
	(void)snprintf(what, sizeof what, "%s; the run goes without this MFTRACE_CONFIG", why);
	run_report_now(path, what);
	return true;
}

/* -----------------------------------------------------------------------------------------------
 * Ours
 */

/* Names of events and items in the metadata, for other tools; a catalogue of the user's goes before
 * ours. */
static void defaults_add(struct ct_buf *out)
{
	const char *paths = ct_os_environment("CTRACE_CATALOG");

	if (paths == NULL)
		paths = ct_os_environment("MFTRACE_ANNOTATIONS");
	ct_buf_add_format(out, "mftrace.emitter.binfile#catalog = %s%s" CT_CATALOG_BUILT_IN "\n",
			  paths != NULL ? paths : "", paths != NULL ? ":" : "");
	ct_buf_add_text(out, "mftrace.level.mf.rts.io = none\n");
}

static void property_add(struct ct_buf *out, const char *name, bool is_on)
{
	ct_buf_add_format(out, "mftrace.comp.%s = %s\n", name, is_on ? "true" : "false");
}

static void files_add(struct ct_buf *out, const char *names)
{
	property_add(out, "mf.mffh.xfh#file:*", names == NULL);
	while (names != NULL && *names != '\0') {
		size_t size = strcspn(names, ",");

		if (size > 0)
			ct_buf_add_format(out, "mftrace.comp.mf.mffh.xfh#file:%.*s = true\n",
					  (int)size, names);
		names += size;
		names += *names == ',';
	}
}

/* Errors of files are part of every page. */
static const char *level_of_errors(const char *level)
{
	uint32_t number;

	return ct_level_parse(level, strlen(level), &number) && number > CTRACE_ERROR ? level
										      : "error";
}

static void options_add(struct ct_buf *out, const struct run_wanted *wanted)
{
	const char *level = wanted->level != NULL ? wanted->level : "debug";
	bool calls = run_wants(wanted, RUN_PROGRAMS);

	ct_buf_add_format(out, "mftrace.level.mf.rts = %s\n", level);
	/* `all` of the user's file would add what the options leave out. */
	property_add(out, "mf.rts#all", false);
	property_add(out, "mf.mffh.xfh#all", false);
	property_add(out, "mf.rts#pgm", calls);
	property_add(out, "mf.rts#pgmsearch", calls);
	property_add(out, "mf.rts#pgmload", calls);
	property_add(out, "mf.rts#paragraphs", run_wants(wanted, RUN_PARAGRAPHS));
	property_add(out, "mf.rts#statements", wanted->statements);
	if (run_wants(wanted, RUN_FILES)) {
		ct_buf_add_format(out, "mftrace.level.mf.mffh.xfh = %s\n", level);
		files_add(out, wanted->file_names);
	} else {
		ct_buf_add_format(out, "mftrace.level.mf.mffh.xfh = %s\n", level_of_errors(level));
	}
	if (wanted->records)
		property_add(out, "mf.mffh.xfh#records", true);
	if (wanted->io)
		ct_buf_add_format(out, "mftrace.level.mf.rts.io = %s\n", level);
}

static void trace_add(struct ct_buf *out, const struct run_trace *trace, uint64_t limit_kb)
{
	static const char *const components[] = { "mf.rts", "mf.rts.io", "mf.mffh.xfh" };

	ct_buf_add_text(out, "mftrace.dest = binfile\n");
	/* A component that the user's file gives other destinations has the trace besides. */
	for (size_t i = 0; i < CT_COUNT(components); i++)
		ct_buf_add_format(out, "mftrace.dest.%s = binfile\n", components[i]);
	ct_buf_add_format(out, "mftrace.emitter.binfile#location = %s\n", trace->path);
	ct_buf_add_text(out, "mftrace.emitter.binfile#file = $(APPNAME).$(PID).ctb\n"
			     "mftrace.emitter.binfile#maxgeneration = 1\n"
			     "mftrace.emitter.binfile#level = 0\n");
	ct_buf_add_format(out, "mftrace.emitter.binfile#limitsize = %" PRIu64 "\n", limit_kb);
	ct_buf_add_format(out, "mftrace.emitter.binfile#run = %s\n", trace->run);
}

/* -----------------------------------------------------------------------------------------------
 * Writing it
 */

static bool name_is_of_directory(const char *name)
{
	size_t prefix = strcspn(DIRECTORY, "X");

	return strlen(name) == strlen(DIRECTORY) && strncmp(name, DIRECTORY, prefix) == 0;
}

/* Opens and locks a directory of ours.  Returns -1 when it has its lock, or is not ours. */
static int directory_lock(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat info, there;

	if (fd >= 0 &&
	    (fstat(fd, &info) != 0 || info.st_uid != geteuid() ||
	     flock(fd, LOCK_EX | LOCK_NB) != 0 || fstatat(parent, name, &there, 0) != 0 ||
	     there.st_ino != info.st_ino || there.st_dev != info.st_dev))
		ct_os_close(&fd);
	return fd;
}

/* Removes the directories of runs whose processes were all killed. */
static void directories_sweep(const char *parent)
{
	DIR *directory = opendir(parent);
	const struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		int fd = name_is_of_directory(entry->d_name)
				 ? directory_lock(dirfd(directory), entry->d_name)
				 : -1;

		if (fd < 0)
			continue;
		(void)unlinkat(fd, FILE_NAME, 0);
		(void)unlinkat(dirfd(directory), entry->d_name, AT_REMOVEDIR);
		ct_os_close(&fd);
	}
	if (directory != NULL)
		(void)closedir(directory);
}

static bool directory_make(struct run_config *config, const char *parent)
{
	int size = 0;

	config->lock = -1;
	for (unsigned i = 0; i < TRIES && config->lock < 0; i++) {
		size = snprintf(config->directory, sizeof config->directory, "%s%s/" DIRECTORY,
				parent[0] == '/' ? "" : "./", parent);
		if (size < 0 || (size_t)size >= sizeof config->directory) {
			errno = ENAMETOOLONG;
			return false;
		}
		if (mkdtemp(config->directory) == NULL)
			return false;
		config->lock = directory_lock(AT_FDCWD, config->directory);
	}
	return config->lock >= 0;
}

/* A full disk takes some of the bytes first. */
static bool file_write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t written = TEMP_FAILURE_RETRY(write(fd, data, size));

		if (written < 0)
			return false;
		data += written;
		size -= (size_t)written;
	}
	return true;
}

/* Anybody on the machine may send there: it is a count, and nothing else is read. */
static void socket_open(struct run_config *config)
{
	struct sockaddr_un name;
	size_t size = ct_file_run_socket(config->path, &name);

	config->unseen_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (config->unseen_fd >= 0 &&
	    bind(config->unseen_fd, (const struct sockaddr *)&name, (socklen_t)size) != 0)
		ct_os_close(&config->unseen_fd);
}

void run_config_unseen(const struct run_config *config, struct run_unseen *out_unseen)
{
	char byte;

	*out_unseen = (struct run_unseen){ 0 };
	while (config->unseen_fd >= 0 && out_unseen->unread + out_unseen->inner < RUN_UNSEEN_MOST &&
	       recv(config->unseen_fd, &byte, 1, MSG_DONTWAIT) >= 0)
		if (byte == CT_FILE_RUN_INNER)
			out_unseen->inner++;
		else
			out_unseen->unread++;
}

static bool file_write(struct run_config *config, struct ct_buf *text)
{
	char parent[4096];
	bool is_written;
	char *whole;
	int fd, error;

	parent_find(parent);
	directories_sweep(parent);
	if (!directory_make(config, parent))
		return false;
	/* Programs of the run may have other working directories. */
	whole = realpath(config->directory, NULL);
	if (whole != NULL)
		(void)snprintf(config->directory, sizeof config->directory, "%s", whole);
	free(whole);
	(void)snprintf(config->path, sizeof config->path, "%s/" FILE_NAME, config->directory);
	fd = open(config->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	socket_open(config);
	is_written = fd >= 0 && file_write_all(fd, text->data, text->size);
	error = errno;
	ct_os_close(&fd);
	if (is_written)
		return true;
	(void)unlink(config->path);
	(void)rmdir(config->directory);
	errno = error;
	return false;
}

bool run_config_read(struct run_config *config, const struct run_wanted *wanted, char **words)
{
	ct_buf_init(&config->text);
	defaults_add(&config->text);
	if (user_add(&config->text, wanted, words))
		return true;
	ct_buf_fini(&config->text);
	return false;
}

bool run_config_write(struct run_config *config, const struct run_wanted *wanted,
		      const struct run_trace *trace)
{
	bool is_written;

	options_add(&config->text, wanted);
	trace_add(&config->text, trace, wanted->limit_kb);
	if (config->text.failed)
		is_written = run_report(NULL, strerror(ENOMEM));
	else
		is_written = file_write(config, &config->text) || config_report_unwritten(errno);
	ct_buf_fini(&config->text);
	/* The run around this one will find nothing of the program in its own trace. */
	if (is_written && ct_os_environment("MFTRACE_CONFIG") != NULL)
		ct_file_run_report(ct_os_environment("MFTRACE_CONFIG"), CT_FILE_RUN_INNER);
	return is_written;
}
