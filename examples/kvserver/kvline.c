/*
 * kvline.c - lines come in, requests are carried out, answers go out; and what of it is traced as
 * KVSERVER and KVSERVER.NET.
 *
 * Look first at carry_out(): a request, its entry in the trace, its answer, in this order, so that
 * whoever has an answer finds the entry.  Runs on the connection's thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "kvserver.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

size_t kv_say(char answer[KV_ANSWER], const char *format, ...)
{
	va_list arguments;
	size_t size;

	va_start(arguments, format);
	vsnprintf(answer, KV_ANSWER, format, arguments);
	va_end(arguments);
	size = strnlen(answer, KV_ANSWER - 1);
	answer[size] = '\n';
	return size + 1;
}

/* Takes the first word off, and the blank behind it. */
static struct kv_text next_word(struct kv_text *rest)
{
	const char *blank = memchr(rest->at, ' ', rest->size);
	struct kv_text word = { rest->at, blank == NULL ? rest->size : (size_t)(blank - rest->at) };
	size_t taken = word.size + (blank != NULL);

	*rest = (struct kv_text){ rest->at + taken, rest->size - taken };
	return word;
}

static bool is(struct kv_text word, const char *text)
{
	return word.size == strlen(text) && memcmp(word.at, text, word.size) == 0;
}

static uint64_t microseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* ---- requests */
struct request {
	enum kv_operation operation;
	enum kv_result result;
	struct kv_text key, value; /* the value of PUT, or the one that GET found */
	uint64_t began;            /* 0: not traced when it began */
};

static void trace_request(uint32_t connection, const struct request *request)
{
	uint64_t settings = atomic_load_explicit(&kv_requests.settings, memory_order_relaxed);
	uint64_t took = request->began == 0 ? 0 : microseconds_now() - request->began;
	struct kv_request_entry entry = { connection,
					  (uint8_t)request->operation,
					  (uint8_t)request->result,
					  (uint16_t)request->key.size,
					  (uint32_t)request->value.size,
					  took > UINT32_MAX ? UINT32_MAX : (uint32_t)took };
	uint32_t id = KV_ENTRY_REQUEST + request->operation;

	if (took < settings >> 32)
		return;
	if (settings & KV_VALUES)
		CTRACE(&kv_requests.tracer, CTRACE_INFO, id, CTRACE_BIN(&entry, sizeof(entry)),
		       CTRACE_TEXT(request->key.at, request->key.size),
		       CTRACE_TEXT(request->value.at, request->value.size));
	else if (settings & KV_KEYS)
		CTRACE(&kv_requests.tracer, CTRACE_INFO, id, CTRACE_BIN(&entry, sizeof(entry)),
		       CTRACE_TEXT(request->key.at, request->key.size));
	else
		ctrace_entry(&kv_requests.tracer, id, &entry, sizeof(entry));
}

/* The answer is made where the value of GET already stands, behind the word VALUE. */
static size_t carry_out(struct kv_connection *connection, enum kv_operation operation,
			struct kv_text rest)
{
	char *answer = connection->answer;
	char *found = answer + strlen("VALUE ");
	struct request request = { .operation = operation };
	size_t size;

	if (kv_traces(&kv_requests, operation))
		request.began = microseconds_now();
	request.key = next_word(&rest);
	if (request.key.size == 0 || (operation != KV_PUT && rest.size != 0))
		return kv_say(answer, "ERROR expected %s",
			      operation == KV_PUT ? "key value" : "key");
	if (operation == KV_PUT) {
		request.value = rest;
		request.result = kv_store_put(request.key, request.value);
	} else if (operation == KV_DEL) {
		request.result = kv_store_del(request.key);
	} else {
		request.value.at = found;
		request.result = kv_store_get(request.key, found, &request.value.size);
	}
	if (kv_traces(&kv_requests, operation))
		trace_request(connection->number, &request);

	if (request.result != KV_OK)
		return kv_say(answer, request.result == KV_NONE ? "NONE" : "ERROR out of memory");
	if (operation != KV_GET)
		return kv_say(answer, "OK");
	size = request.value.size + strlen("VALUE ");
	memcpy(answer, "VALUE ", strlen("VALUE "));
	answer[size] = '\n';
	return size + 1;
}

/* ---- lines and connections */
void kv_trace_line(const struct kv_connection *connection, uint32_t id, size_t bytes_in,
		   size_t bytes_out)
{
	struct kv_line_entry entry = { connection->number, (uint32_t)bytes_in,
				       (uint32_t)bytes_out };

	ctrace_entry(&kv_net.tracer, id, &entry, sizeof(entry));
}

/* Makes the answer to a line and returns its size. */
static size_t answer_line(struct kv_connection *connection, struct kv_text line)
{
	static const char *const names[] = { [KV_GET] = "GET", [KV_PUT] = "PUT", [KV_DEL] = "DEL" };
	struct kv_text rest = line;
	struct kv_text verb = next_word(&rest);

	for (enum kv_operation operation = KV_GET; operation < KV_OPERATIONS; operation++)
		if (is(verb, names[operation])) {
			size_t size = carry_out(connection, operation, rest);

			if (kv_traces(&kv_net, operation))
				kv_trace_line(connection, KV_ENTRY_LINE + operation, line.size,
					      size);
			return size;
		}
	if (is(verb, "COUNT"))
		return kv_say(connection->answer, "COUNT %lu", kv_store_count());
	if (is(verb, "TRACE"))
		return kv_operator(rest, connection->answer);
	return kv_say(connection->answer, "ERROR expected GET, PUT, DEL, COUNT or TRACE");
}

static bool send_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR)
			return false;
		if (sent > 0) {
			bytes += sent;
			size -= (size_t)sent;
		}
	}
	return true;
}

/* Answers each whole line that is there and keeps the rest.  False: the client is gone. */
static bool answer_whole_lines(struct kv_connection *connection)
{
	char *at = connection->line;
	char *end = at + connection->filled;

	for (char *newline; (newline = memchr(at, '\n', (size_t)(end - at))) != NULL;
	     at = newline + 1) {
		bool is_rest = connection->is_skipping;

		connection->is_skipping = false;
		if (!is_rest &&
		    !send_all(connection->fd, connection->answer,
			      answer_line(connection,
					  (struct kv_text){ at, (size_t)(newline - at) })))
			return false;
	}
	connection->filled = (size_t)(end - at);
	memmove(connection->line, at, connection->filled);
	return true;
}

/* A line that fills the buffer without an end is refused once and skipped. */
static bool refuse_long_line(struct kv_connection *connection)
{
	bool was_skipping = connection->is_skipping;
	size_t size;

	connection->filled = 0;
	connection->is_skipping = true;
	if (was_skipping)
		return true;
	size = kv_say(connection->answer, "ERROR a line has at most %d bytes", KV_LINE);
	kv_trace_line(connection, KV_ENTRY_REFUSED, KV_LINE, size);
	return send_all(connection->fd, connection->answer, size);
}

bool kv_answer_lines(struct kv_connection *connection)
{
	if (!answer_whole_lines(connection))
		return false;
	return connection->filled < KV_LINE || refuse_long_line(connection);
}
