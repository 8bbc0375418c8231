/*
 * writers_ask.c - asks the external writers that run what they do.
 *
 * Called by the verbs, on the tool's only thread.  All of them are asked before the first answer is waited for, so that several that do not
 * answer cost the timeout once.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "display_trace.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cmd.h"
#include "session/session.h"
#include "writer/writer.h"

#define WRITERS_MOST 256u
#define ANSWER_MOST ((size_t)4 << 20) /* bytes; no writer has more to say */

struct question {
	int fd;
	char name[CTRACE_MAX_NAME + 1];
	struct ct_buf answer;
	bool is_whole;
};
struct questions {
	struct question items[WRITERS_MOST];
	size_t count;
	uint64_t deadline_ns;
	struct wto *wto;
};

static void complain(struct wto *wto, const char *name, const char *what)
{
	if (wto != NULL) {
		ct_wto(wto, CTR028I, name, what, NULL);
		return;
	}
	fputs("ctrace: writer ", stderr);
	ct_tool_print(stderr, name, strlen(name));
	fprintf(stderr, " %s\n", what);
}

/* ---- asking ---- */

static bool send_request(int fd)
{
	struct ct_buf request;
	size_t start;
	bool ok;

	ct_buf_init(&request);
	start = ct_message_start(&request, CT_VERB_WRITER_STATUS, 0);
	ok = ct_message_end(&request, start) == CTRACE_OK &&
	     send(fd, request.data, request.size, MSG_NOSIGNAL) ==
		     (ssize_t)request.size; /* it is far shorter than what a socket takes at once */
	ct_buf_fini(&request);
	return ok;
}

static void ask_one(struct questions *questions, const char *folder, const char *name)
{
	struct question *question = &questions->items[questions->count];
	enum ctrace_status status;

	if (questions->count == WRITERS_MOST)
		return;
	*question = (struct question){ .fd = -1 };
	memcpy(question->name, name, strlen(name) + 1);
	status = ct_client_connect(folder, name, &question->fd);
	if (status == CTRACE_DENIED)
		complain(questions->wto, name, "belongs to another user");
	if (status != CTRACE_OK)
		return; /* a socket that nobody listens at is what a dead writer leaves */
	if (!send_request(question->fd)) {
		ct_os_close(&question->fd);
		return;
	}
	questions->count++;
}

static void ask_folder(const char *run_directory, void *user)
{
	char folder[4096 + sizeof CT_WRITER_FOLDER + 1];
	const struct dirent *entry;
	DIR *entries;

	(void)snprintf(folder, sizeof folder, "%s/" CT_WRITER_FOLDER, run_directory);
	entries = opendir(folder);
	if (entries == NULL)
		return;
	while ((entry = readdir(entries)) != NULL)
		if ((entry->d_type == DT_SOCK || entry->d_type == DT_UNKNOWN) &&
		    ct_writer_name_is_valid(entry->d_name, strlen(entry->d_name)))
			ask_one(user, folder, entry->d_name);
	(void)closedir(entries);
}

/* ---- reading ---- */

static bool is_whole(const struct ct_buf *answer, bool *out_damaged)
{
	size_t at = 0;

	*out_damaged = false;
	for (;;) {
		struct ct_message message;
		size_t size;
		enum ctrace_status status = ct_message_parse(answer->data + at, answer->size - at, &message, &size);

		*out_damaged = status != CTRACE_OK && status != CTRACE_NOT_FOUND;
		if (status != CTRACE_OK)
			return false;
		at += size;
		if (!(message.flags & CT_MESSAGE_MORE))
			return true;
		if (at == answer->size)
			return false;
	}
}

static bool wait_for(int fd, uint64_t deadline_ns)
{
	struct pollfd item = { .fd = fd, .events = POLLIN };
	uint64_t now = ct_clock_mono_ns();
	int ready;

	do {
		ready = poll(&item, 1, now < deadline_ns ? (int)((deadline_ns - now + 999999u) / 1000000u) : 0);
		now = ct_clock_mono_ns();
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

/* What is wrong, or NULL. */
static const char *read_answer(struct question *question, uint64_t deadline_ns)
{
	struct ct_buf *answer = &question->answer;
	bool is_damaged = false;

	while (!question->is_whole) {
		ssize_t got;

		if (!wait_for(question->fd, deadline_ns))
			return "did not answer in time";
		if (answer->size >= ANSWER_MOST || !ct_buf_reserve(answer, CT_MESSAGE_LIMIT))
			return "gave an answer that is too long";
		got = recv(question->fd, answer->data + answer->size, CT_MESSAGE_LIMIT, 0);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return "ended before it had answered";
		answer->size += (size_t)got;
		question->is_whole = is_whole(answer, &is_damaged);
		if (is_damaged)
			return "gave an answer that cannot be read";
	}
	return NULL;
}

/* ---- rows ---- */

#define COPY_TEXT(to, from) memcpy((to), (from), sizeof(to) < sizeof(from) ? sizeof(to) : sizeof(from))

/* A structure that grew, or is an older one's, shorter. */
static void take(void *to, size_t size, struct ct_span value)
{
	memset(to, 0, size);
	memcpy(to, value.at, value.size < size ? value.size : size);
}

static uint32_t add_writer(struct ct_display *display, struct ct_span value)
{
	struct ct_display_writer row = { 0 };
	struct ct_writer_state state;

	take(&state, sizeof state, value);
	COPY_TEXT(row.name, state.name);
	COPY_TEXT(row.message, state.message);
	row.pid = state.pid;
	row.start_ns = state.start_ns;
	row.nowrap = state.nowrap != 0;
	row.compress = state.compress != 0;
	row.is_stopping = state.stopping != 0;
	row.is_full = state.is_full != 0;
	row.events = state.events;
	row.bytes = state.bytes;
	row.wrapped_events = state.wrapped_events;
	row.full_events = state.full_events;
	return ct_display_add_writer(display, &row);
}

static void add_trcout(struct ct_display *display, uint32_t writer, struct ct_span value)
{
	struct ct_display_trcout row = { .writer = writer };
	struct ct_trcout_state state;

	take(&state, sizeof state, value);
	COPY_TEXT(row.path, state.path);
	row.number = state.number;
	row.limit = state.limit;
	row.used = state.used;
	row.events = state.events;
	row.bytes = state.bytes;
	row.wrapped_events = state.wrapped_events;
	row.full_events = state.full_events;
	row.failing = state.failing;
	(void)ct_display_add_trcout(display, &row);
}

static void add_link(struct ct_display *display, uint32_t writer, struct ct_span value)
{
	struct ct_display_link row = { .writer = writer };
	struct ct_link_state state;

	take(&state, sizeof state, value);
	COPY_TEXT(row.jobname, state.jobname);
	COPY_TEXT(row.traces, state.traces);
	row.pid = state.pid;
	row.asid = state.asid;
	row.rings = state.rings;
	row.events = state.events;
	(void)ct_display_add_link(display, &row);
}

static void add_rows(struct ct_display *display, const struct ct_buf *answer)
{
	uint32_t writer = CT_DISPLAY_NONE;
	struct ct_message message;
	size_t at = 0;
	size_t size;

	for (; ct_message_parse(answer->data + at, answer->size - at, &message, &size) == CTRACE_OK; at += size) {
		struct ct_span fields = message.fields;
		struct ct_span value;
		enum ct_field field;

		while (ct_message_next(&fields, &field, &value)) {
			if (field == CT_FIELD_WRITER)
				writer = add_writer(display, value);
			else if (field == CT_FIELD_TRCOUT && writer != CT_DISPLAY_NONE)
				add_trcout(display, writer, value);
			else if (field == CT_FIELD_LINK && writer != CT_DISPLAY_NONE)
				add_link(display, writer, value);
		}
	}
}

/* For people it is shown as one that runs, all the same. */
static void add_silent(struct ct_display *display, const char *name, const char *what, struct wto *wto)
{
	struct ct_display_writer row = { .is_silent = true };

	complain(wto, name, what);
	(void)snprintf(row.name, sizeof row.name, "%s", name);
	if (wto != NULL)
		(void)ct_display_add_writer(display, &row);
}

void ct_writers_ask(unsigned timeout_ms, struct ct_display *display, struct wto *wto)
{
	struct questions *questions = calloc(1, sizeof *questions);

	if (questions == NULL) {
		display->failed = true;
		return;
	}
	questions->wto = wto;
	questions->deadline_ns = ct_clock_mono_ns() + timeout_ms * UINT64_C(1000000);
	ct_folder_each_run_directory(ask_folder, questions);
	for (size_t i = 0; i < questions->count; i++) {
		struct question *question = &questions->items[i];
		const char *what = read_answer(question, questions->deadline_ns);

		if (what != NULL)
			add_silent(display, question->name, what, wto);
		else
			add_rows(display, &question->answer);
		ct_buf_fini(&question->answer);
		ct_os_close(&question->fd);
	}
	free(questions);
}
