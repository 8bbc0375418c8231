/*
 * reply_table.c - keeps the prompts of TRACE CT that wait for a reply.
 *
 * Called by the operator's tools, for moments only: no process is asked while the lock is held.
 * The files are not trusted: callers parse the command and its operands again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/reply_table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "cli/run_directory.h"

#define DIRECTORY "reply"
#define TEMPORARY ".new"
#define FIRST_LINE "ctrace-reply 1\n"
#define FILE_LIMIT (CT_OPERATOR_LINE + REPLY_OPERANDS + 1024u)
#define LOCK_TRIES 500u
#define LOCK_WAIT_NS 10000000

/* ---- the directory and its lock ---- */

enum ctrace_status ct_reply_table_open(struct reply_table *table)
{
	const struct timespec wait = { .tv_nsec = LOCK_WAIT_NS };
	enum ctrace_status status = ct_run_directory_open(DIRECTORY, CT_RUN_OF_OPERATOR,
							  table->path, &table->directory_fd);

	if (status != CTRACE_OK)
		return status;
	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if (flock(table->directory_fd, LOCK_EX | LOCK_NB) == 0)
			return CTRACE_OK;
		if (errno != EWOULDBLOCK && errno != EINTR)
			break;
		(void)nanosleep(&wait, NULL);
	}
	status = errno == EWOULDBLOCK ? CTRACE_TIMED_OUT : CTRACE_OS_ERROR;
	ct_os_close(&table->directory_fd);
	return status;
}

void ct_reply_table_close(struct reply_table *table)
{
	ct_os_close(&table->directory_fd); /* closing the directory releases the lock */
}

/* ---- numbers ---- */

/* Returns the number that a file name stands for; 0: none. */
static unsigned number_of_name(const char *name)
{
	unsigned number = 0;

	if (name[0] < '1' || name[0] > '9')
		return 0;
	for (; *name >= '0' && *name <= '9' && number <= REPLY_MOST; name++)
		number = number * 10 + (unsigned)(*name - '0');
	return *name == '\0' && number <= REPLY_MOST ? number : 0;
}

static int compare_numbers(const void *a, const void *b)
{
	unsigned left = *(const unsigned *)a;
	unsigned right = *(const unsigned *)b;

	return left < right ? -1 : left > right;
}

/* Opens the directory anew, because a duplicate would share its offset. */
static DIR *open_listing(const struct reply_table *table)
{
	int fd = openat(table->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;

	if (directory == NULL)
		ct_os_close(&fd);
	return directory;
}

enum ctrace_status ct_reply_numbers(struct reply_table *table, unsigned **out_numbers,
				    size_t *out_count)
{
	unsigned *numbers = calloc(REPLY_MOST, sizeof *numbers);
	DIR *directory = open_listing(table);
	struct dirent *entry;
	size_t count = 0;

	if (numbers == NULL || directory == NULL) {
		free(numbers);
		if (directory != NULL)
			(void)closedir(directory);
		return directory != NULL ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OS_ERROR;
	}
	while (count < REPLY_MOST && (entry = readdir(directory)) != NULL) {
		unsigned number = number_of_name(entry->d_name);

		if (number != 0)
			numbers[count++] = number;
	}
	(void)closedir(directory);
	qsort(numbers, count, sizeof *numbers, compare_numbers);
	*out_numbers = numbers;
	*out_count = count;
	return CTRACE_OK;
}

static unsigned lowest_free(const unsigned *numbers, size_t count)
{
	size_t i = 0;

	while (i < count && numbers[i] == i + 1)
		i++;
	return (unsigned)i + 1;
}

/* ---- one entry as a file ---- */

static void line_add(struct ct_buf *text, const char *key, const char *value)
{
	ct_buf_add_text(text, key);
	for (; *value != '\0'; value++)
		ct_buf_add_char(text, *value == '\n' ? ' ' : *value);
	ct_buf_add_char(text, '\n');
}

static void entry_print(const struct reply_entry *entry, struct ct_buf *text)
{
	ct_buf_add_text(text, FIRST_LINE);
	ct_buf_add_format(text, "time %" PRIu64 "\n", entry->time_ns);
	ct_buf_add_format(text, "process %" PRIu32 " %" PRIu32 "\n", entry->pid, entry->asid);
	line_add(text, "job ", entry->job);
	line_add(text, "command ", entry->command);
	line_add(text, "operands ", entry->operands);
}

static enum ctrace_status entry_write(struct reply_table *table, const struct reply_entry *entry)
{
	enum ctrace_status status;
	struct ct_buf text;
	char name[16];
	int fd;

	(void)snprintf(name, sizeof name, "%u", entry->number);
	/* the temporary file of a process that died while writing it */
	(void)unlinkat(table->directory_fd, TEMPORARY, 0);
	ct_buf_init(&text);
	entry_print(entry, &text);
	status = text.failed ? CTRACE_NOT_ENOUGH_MEMORY : CTRACE_OK;
	if (status == CTRACE_OK)
		status = ct_os_open_file(table->directory_fd, TEMPORARY,
					 O_WRONLY | O_CREAT | O_EXCL, &fd);
	if (status == CTRACE_OK) {
		status = ct_os_write_at(fd, text.data, text.size, 0);
		ct_os_close(&fd);
		if (status == CTRACE_OK &&
		    renameat(table->directory_fd, TEMPORARY, table->directory_fd, name) != 0)
			status = CTRACE_OS_ERROR;
		if (status != CTRACE_OK)
			(void)unlinkat(table->directory_fd, TEMPORARY, 0);
	}
	ct_buf_fini(&text);
	return status;
}

/* Copies the text after `key` and moves *at to the next line.  Returns false when the line has
 * another key or is too long. */
static bool line_read(const char **at, const char *key, char *out, size_t room)
{
	const char *end = strchr(*at, '\n');
	size_t key_size = strlen(key);
	size_t size;

	if (end == NULL || strncmp(*at, key, key_size) != 0)
		return false;
	size = (size_t)(end - *at) - key_size;
	if (size >= room)
		return false;
	memcpy(out, *at + key_size, size);
	out[size] = '\0';
	*at = end + 1;
	return true;
}

/* Reads a decimal number at *at and moves *at behind it.  Returns false when there is none, or
 * it is too large. */
static bool number_read(const char **at, uint64_t most, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(*at, &end, 10);
	if (end == *at || errno != 0 || *out > most)
		return false;
	*at = end;
	return true;
}

static bool process_parse(const char *line, struct reply_entry *out)
{
	uint64_t pid, asid;

	if (!number_read(&line, UINT32_MAX, &pid) || !number_read(&line, UINT16_MAX, &asid))
		return false;
	out->pid = (uint32_t)pid;
	out->asid = (uint32_t)asid;
	return true;
}

static bool entry_parse(struct ct_buf *text, struct reply_entry *out)
{
	const char *at = ct_buf_text(text);
	char line[64];
	const char *time = line;

	if (!line_read(&at, "ctrace-reply ", line, sizeof line) || strcmp(line, "1") != 0)
		return false;
	if (!line_read(&at, "time ", line, sizeof line) ||
	    !number_read(&time, UINT64_MAX, &out->time_ns))
		return false;
	if (!line_read(&at, "process ", line, sizeof line) || !process_parse(line, out))
		return false;
	return line_read(&at, "job ", out->job, sizeof out->job) &&
	       line_read(&at, "command ", out->command, sizeof out->command) &&
	       line_read(&at, "operands ", out->operands, sizeof out->operands);
}

static enum ctrace_status entry_read(struct reply_table *table, const char *name,
				     struct reply_entry *out)
{
	enum ctrace_status status;
	struct ct_buf text;
	size_t size;
	int fd;

	status = ct_os_open_file(table->directory_fd, name, O_RDONLY, &fd);
	if (status != CTRACE_OK)
		return status;
	ct_buf_init(&text);
	if (!ct_buf_reserve(&text, FILE_LIMIT))
		status = CTRACE_NOT_ENOUGH_MEMORY;
	if (status == CTRACE_OK)
		status = ct_os_read_at(fd, text.data, FILE_LIMIT, 0, &size);
	if (status == CTRACE_OK) {
		text.size = size;
		status = entry_parse(&text, out) ? CTRACE_OK : CTRACE_DAMAGED;
	}
	ct_buf_fini(&text);
	ct_os_close(&fd);
	return status;
}

/* ---- the table ---- */

enum ctrace_status ct_reply_add(struct reply_table *table, struct reply_entry *entry)
{
	unsigned *numbers;
	size_t count;
	enum ctrace_status status = ct_reply_numbers(table, &numbers, &count);

	if (status != CTRACE_OK)
		return status;
	entry->number = lowest_free(numbers, count);
	free(numbers);
	return entry->number <= REPLY_MOST ? entry_write(table, entry) : CTRACE_NOT_FOUND;
}

enum ctrace_status ct_reply_replace(struct reply_table *table, const struct reply_entry *entry)
{
	return entry_write(table, entry);
}

enum ctrace_status ct_reply_find(struct reply_table *table, unsigned number,
				 struct reply_entry *out)
{
	char name[16];

	if (number == 0)
		return CTRACE_NOT_FOUND;
	(void)snprintf(name, sizeof name, "%u", number);
	out->number = number;
	return entry_read(table, name, out);
}

enum ctrace_status ct_reply_remove(struct reply_table *table, unsigned number)
{
	char name[16];

	(void)snprintf(name, sizeof name, "%u", number);
	return unlinkat(table->directory_fd, name, 0) == 0 ? CTRACE_OK : CTRACE_OS_ERROR;
}
