/*
 * journal.c - JOURNAL (what WINEVENT is elsewhere): one event is one entry of the system's journal.
 *
 * A module of its own, journal.so, because it needs libsystemd, which libctrace.so must not pull
 * into every program.  Runs on the consumer thread. sd_journal_sendv() reports no error when there
 * is no journal, and waits without a limit when journald has stopped reading.  So our own socket,
 * connected to journald's, detects both first.  The journal is not needed before it gets an entry:
 * without one, events below LEVEL are consumed as everywhere.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#define SD_JOURNAL_SUPPRESS_LOCATION 1
#include "lib/emit/emit.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <systemd/sd-journal.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"
#define WAIT_MS 100
#define DATA_FIELDS 256u /* items that get their own field; MESSAGE has all */
#define FIELD_LIMIT (DATA_FIELDS + 16u)
/* journald silently drops entries of over 32 MiB */
#define ENTRY_LIMIT ((size_t)31 << 20)
#define MESSAGE_LIMIT (ENTRY_LIMIT / 2)
#define CUT_MARK " ..."
#define KEPT_MEMORY ((size_t)1 << 20) /* of an entry, between entries */

struct journal {
	struct ct_line_output out; /* its lines: the fields of one entry, one after the other */
	/* connected to journald during a call; -1: the call has sent nothing yet */
	int probe;
	size_t field_ends[FIELD_LIMIT];
	uint32_t field_count;
};

static enum ctrace_status probe_open(int *out_fd)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return CTRACE_OS_ERROR;
	if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
		ct_os_close(&fd);
		return CTRACE_OUTPUT_ERROR;
	}
	*out_fd = fd;
	return CTRACE_OK;
}

static enum ctrace_status journal_open(const struct ctrace_emitter_context *context,
				       void **out_self)
{
	enum ctrace_status status = ct_line_output_open(sizeof(struct journal), context, out_self);

	if (status == CTRACE_OK)
		((struct journal *)*out_self)->probe = -1;
	return status;
}

static void entry_begin(struct journal *journal)
{
	ct_buf_trim(&journal->out.lines, KEPT_MEMORY);
	journal->field_count = 0;
}

/* A field begins with its name and ends where the next one begins. */
static void field_begin(struct journal *journal, const char *name)
{
	ct_buf_add_text(&journal->out.lines, name);
	ct_buf_add_char(&journal->out.lines, '=');
}

static void field_end(struct journal *journal)
{
	journal->field_ends[journal->field_count++] = journal->out.lines.size;
}

static void add_number(struct journal *journal, const char *name, uint64_t value)
{
	field_begin(journal, name);
	ct_buf_add_u64(&journal->out.lines, value);
	field_end(journal);
}

static void add_text(struct journal *journal, const char *name, const char *value, size_t size)
{
	field_begin(journal, name);
	ct_escape_add(&journal->out.lines, value, size);
	field_end(journal);
}

/* The line, without the delimiter before its first item and without the line end; an event without
 * data is named instead. */
static void add_message(struct journal *journal, const struct ctrace_event *event)
{
	const char *delimiter = journal->out.settings.line.format.delimiter;
	struct ct_buf *text = &journal->out.lines;
	size_t start, skip = journal->out.settings.line.delimiter_size;

	field_begin(journal, "MESSAGE");
	start = text->size;
	ct_line_add(&journal->out.settings.line, text, event);
	if (text->failed)
		return;
	text->size--;
	if (text->size - start >= skip && memcmp(text->data + start, delimiter, skip) == 0) {
		memmove(text->data + start, text->data + start + skip, text->size - start - skip);
		text->size -= skip;
	}
	if (text->size - start > MESSAGE_LIMIT) {
		text->size = start + MESSAGE_LIMIT;
		ct_buf_add_text(text, CUT_MARK);
	}
	if (text->size == start) {
		ct_escape_add(text, event->component, event->component_size);
		ct_buf_add_char(text, ' ');
		ct_buf_add_u64(text, event->event_id);
	}
	field_end(journal);
}

static void add_items(struct journal *journal, const struct ctrace_event *event)
{
	struct ct_line_format format = journal->out.settings.line.format;

	format.quote_strings = false;
	for (uint32_t i = 0; i < event->item_count && i < DATA_FIELDS; i++) {
		size_t before = journal->out.lines.size;

		ct_buf_add_text(&journal->out.lines, "CTRACE_DATA");
		ct_buf_add_u64(&journal->out.lines, i + 1);
		ct_buf_add_char(&journal->out.lines, '=');
		ct_line_add_item(&journal->out.lines, &format, &event->items[i]);
		if (journal->out.lines.size > ENTRY_LIMIT) {
			journal->out.lines.size = before;
			break;
		}
		field_end(journal);
	}
}

static void add_identifier(struct journal *journal)
{
	add_text(journal, "SYSLOG_IDENTIFIER", journal->out.context->program,
		 strlen(journal->out.context->program));
}

static void add_event(struct journal *journal, const struct ctrace_event *event)
{
	static const uint8_t priorities[CTRACE_LEVEL_COUNT] = { 7, 6, 4, 3, 2 };

	entry_begin(journal);
	add_message(journal, event);
	add_number(journal, "PRIORITY",
		   priorities[event->level < CTRACE_LEVEL_COUNT ? event->level : CTRACE_FATAL]);
	add_identifier(journal);
	add_text(journal, "CTRACE_COMPONENT", event->component, event->component_size);
	add_number(journal, "CTRACE_EVENT", event->event_id);
	add_number(journal, "CTRACE_LEVEL", event->level);
	add_number(journal, "CTRACE_PID", event->pid);
	add_number(journal, "CTRACE_TID", event->tid);
	add_number(journal, "CTRACE_TIME", event->time_ns);
	add_items(journal, event);
}

static void add_losses(struct journal *journal)
{
	entry_begin(journal);
	field_begin(journal, "MESSAGE");
	ct_line_add_losses(&journal->out.lines, journal->out.lost, journal->out.context->pid);
	if (!journal->out.lines.failed)
		journal->out.lines.size--;
	field_end(journal);
	add_number(journal, "PRIORITY", 4);
	add_identifier(journal);
	add_number(journal, "CTRACE_PID", journal->out.context->pid);
}

static enum ctrace_status send_entry(struct journal *journal)
{
	struct iovec fields[FIELD_LIMIT];
	struct pollfd room = { .events = POLLOUT };
	size_t start = 0;
	int result;

	if (journal->out.lines.failed)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (journal->probe < 0 && probe_open(&journal->probe) != CTRACE_OK)
		return CTRACE_OUTPUT_ERROR;
	room.fd = journal->probe;
	if (poll(&room, 1, WAIT_MS) == 0) {
		errno = EAGAIN;
		return CTRACE_TIMED_OUT;
	}
	for (uint32_t i = 0; i < journal->field_count; i++) {
		fields[i].iov_base = journal->out.lines.data + start;
		fields[i].iov_len = journal->field_ends[i] - start;
		start = journal->field_ends[i];
	}
	result = sd_journal_sendv(fields, (int)journal->field_count);
	if (result >= 0)
		return CTRACE_OK;
	errno = -result;
	return CTRACE_OUTPUT_ERROR;
}

/* Sends the entry; reports the socket's name when that fails. */
static enum ctrace_status put_entry(struct journal *journal)
{
	enum ctrace_status status = send_entry(journal);

	if (status != CTRACE_OK && status != CTRACE_NOT_ENOUGH_MEMORY)
		ct_emitter_failed_at(journal->out.context, JOURNAL_SOCKET);
	return status;
}

static enum ctrace_status send_events(struct journal *journal, const struct ctrace_batch *batch,
				      uint32_t *done)
{
	for (; *done < batch->event_count; ++*done) {
		enum ctrace_status status;

		if (batch->events[*done].level < journal->out.settings.level)
			continue;
		add_event(journal, &batch->events[*done]);
		status = put_entry(journal);
		if (status != CTRACE_OK)
			return status;
	}
	return CTRACE_OK;
}

/* Losses wait for a journal: without one, they must not fail a batch that has no entry. */
static void send_losses(struct journal *journal)
{
	if (!journal->out.losses_due)
		return;
	add_losses(journal);
	journal->out.losses_due = send_entry(journal) != CTRACE_OK;
}

static enum ctrace_status journal_write(void *self, const struct ctrace_batch *batch)
{
	struct journal *journal = self;
	uint32_t done = ct_progress_resume(&journal->out.progress, batch);
	enum ctrace_status status;

	send_losses(journal);
	status = send_events(journal, batch, &done);
	ct_progress_note(&journal->out.progress, batch, done);
	ct_os_close(&journal->probe);
	return status == CTRACE_OK || status == CTRACE_NOT_ENOUGH_MEMORY ? status
									 : CTRACE_OUTPUT_ERROR;
}

static const struct ctrace_property properties[] = {
	CT_LINE_PROPERTIES("$(DATA)", "3"),
	{ 0 },
};

/* Exported; the name is the contract of ctrace/emitter.h. */
extern const struct ctrace_emitter ctrace_emitter;
__attribute__((visibility("default"))) const struct ctrace_emitter ctrace_emitter = {
	.size = sizeof(struct ctrace_emitter),
	.name = "JOURNAL",
	.properties = properties,
	.open = journal_open,
	.write = journal_write,
	.lost = ct_line_output_lost,
	.close = ct_line_output_close,
};
