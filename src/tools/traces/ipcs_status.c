/*
 * ipcs_status.c - STATUS of ctrace ipcs: when, why and where dumps were made, from their files
 * CT_DUMP_ABOUT.
 *
 * The file may be anybody's: it is bounded, and each text is escaped.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/ipcs_status.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "lib/dump/dump.h"
#include "print/ipcs/ipcs.h"

#define ABOUT_LIMIT ((size_t)16 << 20)
#define LABEL_WIDTH 12

/* Returns false when the trace has no such file. */
static bool about_read(const char *path, struct ct_buf *text)
{
	struct stat info;
	char *name;
	size_t size;
	int fd;

	if (asprintf(&name, "%s/%s", path, CT_DUMP_ABOUT) < 0)
		return false;
	fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	free(name);
	if (fd < 0)
		return false;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		ct_os_close(&fd);
		return false;
	}
	while (text->size < ABOUT_LIMIT && ct_buf_reserve(text, 4096)) {
		if (ct_os_read_at(fd, text->data + text->size, 4096, text->size, &size) !=
			    CTRACE_OK ||
		    size == 0)
			break;
		text->size += size;
	}
	ct_os_close(&fd);
	return text->size != 0;
}

/* Finds the value of the next line with this key behind *at; *at is then behind it. */
static bool about_next(const struct ct_buf *text, const char *key, size_t *at,
		       struct ct_span *out_value)
{
	size_t key_size = strlen(key);

	while (*at < text->size) {
		const char *line = text->data + *at;
		const char *end = memchr(line, '\n', text->size - *at);
		size_t size = end != NULL ? (size_t)(end - line) : text->size - *at;

		*at += size + 1;
		if (size > key_size + 1 && memcmp(line, key, key_size) == 0 &&
		    line[key_size] == ':' && line[key_size + 1] == ' ') {
			*out_value = (struct ct_span){ line + key_size + 2, size - key_size - 2 };
			return true;
		}
	}
	return false;
}

static uint64_t value_number(struct ct_span value)
{
	char digits[24] = "";

	memcpy(digits, value.at, value.size < sizeof digits ? value.size : sizeof digits - 1);
	return strtoull(digits, NULL, 10);
}

/* The writer of the file has escaped the value: what is printable is as it was meant. */
static void value_print(struct ct_span value)
{
	for (size_t i = 0; i < value.size; i++)
		putchar(value.at[i] >= ' ' && value.at[i] <= '~' ? value.at[i] : '?');
}

static void label_print(const char *label)
{
	printf(" %-*s", LABEL_WIDTH, label);
}

static void time_print(struct ct_span value)
{
	struct ct_buf text;

	ct_buf_init(&text);
	ct_ipcs_print_time(&text, value_number(value), false);
	fputs(ct_buf_text(&text), stdout);
	ct_buf_fini(&text);
}

static void asid_print(struct ct_span value)
{
	printf("%04" PRIX64, value_number(value) & UINT64_C(0xFFFF));
}

/* A signal handler writes hexadecimal. */
static void thread_print(struct ct_span value)
{
	if (value.size > 2 && memcmp(value.at, "0x", 2) == 0)
		printf("%llu", strtoull(value.at, NULL, 16));
	else
		value_print(value);
}

static const struct row {
	const char *key;
	const char *label;
	void (*print)(struct ct_span value);
	/* the heading of a list, whose lines are indented; NULL: one line, the label before it */
	const char *heading;
} rows[] = {
	{ "title", "TITLE", value_print, NULL },
	{ "time", "TIME", time_print, NULL },
	{ "reason", "REASON", value_print, NULL },
	{ "job", "JOBNAME", value_print, NULL },
	{ "program", "PROGRAM", value_print, NULL },
	{ "host", "SYSTEM", value_print, NULL },
	{ "pid", "PID", value_print, NULL },
	{ "asid", "ASID", asid_print, NULL },
	{ "events", "ENTRIES", value_print, NULL },
	{ "overwritten", "OVERWRITTEN", value_print, NULL },
	{ "unread", "NOT READ", value_print, NULL },
	{ "removed", "REMOVED", value_print, NULL },
	{ "signal", "SIGNAL", value_print, NULL },
	{ "event", "EVENT", value_print, NULL },
	{ "error", "ERROR", value_print, NULL },
	{ "program-id", "PROGRAM-ID", value_print, NULL },
	{ "paragraph", "PARAGRAPH", value_print, NULL },
	{ "source", "SOURCE", value_print, NULL },
	{ "line", "LINE", value_print, NULL },
	{ "thread", "THREAD", thread_print, NULL },
	{ "address", "ADDRESS", value_print, NULL },
	{ "instruction", "INSTRUCTION", value_print, NULL },
	{ "register", NULL, value_print, "REGISTERS" },
	{ "frame", NULL, value_print, "TRACEBACK" },
	{ "component", NULL, value_print, "COMPONENTS" },
};

static void row_print(const struct row *row, const struct ct_buf *text)
{
	struct ct_span value;
	size_t at = 0;
	bool is_first = true;

	while (about_next(text, row->key, &at, &value)) {
		if (row->heading != NULL && is_first)
			printf(" %s\n", row->heading);
		if (row->heading != NULL)
			fputs("   ", stdout);
		else
			label_print(row->label);
		row->print(value);
		putchar('\n');
		is_first = false;
		if (row->heading == NULL)
			return;
	}
}

bool ct_ipcs_status_print(const char *path)
{
	struct ct_buf text;
	bool is_dump;

	ct_buf_init(&text);
	is_dump = about_read(path, &text);
	if (is_dump) {
		fputs(" STATUS OF DUMP ", stdout);
		ct_tool_print(stdout, path, strlen(path));
		putchar('\n');
		for (size_t i = 0; i < CT_COUNT(rows); i++)
			row_print(&rows[i], &text);
	}
	ct_buf_fini(&text);
	return is_dump;
}
