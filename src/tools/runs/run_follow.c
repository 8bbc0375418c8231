/*
 * run_follow.c - ctrace run --tail: prints events on standard error while the program runs.
 *
 * The rings of the run's processes are read as `ctrace tail` reads them: the program neither helps
 * nor notices.  A destination in the program would write to its standard error, which may be a file
 * of its own by then, and would make it wait for the terminal.  What was too fast to be seen in a
 * ring, as of a program that ends at once, is printed from the trace when the program has ended.
 *
 * On the tool's one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/runs/run_follow.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash_table.h"
#include "tools/runs/run_processes.h"
#include "tools/traces/reading.h"

#define HOLD_NS 20000000u /* so long an event waits for earlier ones of other threads */
#define BUSY_MS 2u
#define IDLE_MS 50u
#define THREADS_MOST 65536u

/* What was printed of a thread. */
struct followed {
	uint32_t pid, tid;
	uint64_t printed; /* events */
	uint64_t passed;  /* of the trace, at the end */
	uint64_t last_ns; /* the time of the last event that was printed */
};

struct run_follow {
	struct reading reading;
	struct ct_live *live;
	struct ct_text_printer *printer;
	const char *config; /* the path by which a process of the run is known */
	unsigned wait_ms;
	struct followed *threads;
	uint32_t count;
	struct ct_hash_table table;
	uint64_t missed; /* bytes that went by unseen */
	struct ct_source_process source_process;
	struct ct_buf line;
};

static bool process_is_of_run(const struct ct_live_who *who, void *user)
{
	const struct run_follow *follow = user;

	return run_process_is_of_run(who->pid, follow->config);
}

static bool followed_is(const void *items, uint32_t number, const void *key)
{
	const struct followed *thread = &((const struct followed *)items)[number];
	const uint32_t *wanted = key;

	return thread->pid == wanted[0] && thread->tid == wanted[1];
}

static struct followed *followed_find(struct run_follow *follow, const struct ct_read_event *event)
{
	uint32_t key[2] = { event->source_process->pid, event->traced.tid };
	uint32_t hash = ct_name_hash((const char *)key, sizeof key);
	uint32_t found =
		ct_hash_table_find(&follow->table, hash, followed_is, follow->threads, key);
	struct followed *threads;

	if (found != CT_HASH_TABLE_NONE)
		return &follow->threads[found];
	if (follow->count == THREADS_MOST)
		return NULL;
	threads = ct_hash_table_reserve_items(&follow->table, follow->threads, sizeof *threads);
	if (threads == NULL)
		return NULL;
	follow->threads = threads;
	threads[follow->count] = (struct followed){ .pid = key[0], .tid = key[1] };
	ct_hash_table_add(&follow->table, hash, follow->count);
	return &threads[follow->count++];
}

static void event_print(struct run_follow *follow, const struct ct_read_event *event)
{
	ct_buf_clear(&follow->line);
	ct_text_add(follow->printer, &follow->line, event);
	if (!follow->line.failed)
		fwrite(follow->line.data, 1, follow->line.size, stderr);
}

/* While the program runs nobody waits for a reader of standard error: a signal may arrive for the
 * program meanwhile. */
static bool reader_has_room(void)
{
	struct pollfd standard_error = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&standard_error, 1, 0) > 0;
}

static void follow_print(struct run_follow *follow, bool all)
{
	const struct ct_live_who *who;
	struct ctrace_event traced;

	while ((all || reader_has_room()) && ct_live_next(follow->live, all, &traced, &who)) {
		const struct ct_read_event *event;
		struct followed *thread;

		follow->source_process = (struct ct_source_process){ .index = who->pid,
								     .path = "",
								     .host = who->host,
								     .program = who->program,
								     .jobname = who->jobname,
								     .pid = who->pid,
								     .asid = who->asid,
								     .is_big = CTRACE_IS_BIG_ };
		event = ct_reader_take(follow->reading.reader, &traced, NULL,
				       &follow->source_process);
		if (event == NULL)
			continue;
		thread = followed_find(follow, event);
		if (thread != NULL) {
			thread->printed++;
			thread->last_ns = traced.time_ns;
		}
		event_print(follow, event);
	}
}

static enum ctrace_status follow_open(struct run_follow *follow)
{
	const struct ct_live_options live = {
		.wants = process_is_of_run, .user = follow, .hold_ns = HOLD_NS, .from_start = true
	};
	const struct ct_text_options text = {
		.line = { .delimiter = " ", .quote_strings = true, .hex_block_size = 8 },
		.has_process = true,
		.digits = 6
	};
	enum ctrace_status status = ct_text_create(&text, &follow->printer);

	return status == CTRACE_OK ? ct_live_open(&live, &follow->live) : status;
}

struct run_follow *run_follow_open(const char *config)
{
	struct run_follow *follow = calloc(1, sizeof *follow);
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

	if (follow == NULL)
		return NULL;
	ct_buf_init(&follow->line);
	reading_init(&follow->reading, "ctrace run");
	follow->reading.has_pairs = true;
	follow->wait_ms = BUSY_MS;
	follow->config = config;
	if (reading_open_empty(&follow->reading))
		status = follow_open(follow);
	if (status == CTRACE_OK)
		return follow;
	fprintf(stderr, "ctrace run: --tail: %s\n", ctrace_status_text(status));
	run_follow_close(follow);
	return NULL;
}

void run_follow_close(struct run_follow *follow)
{
	if (follow == NULL)
		return;
	if (follow->live != NULL)
		ct_live_close(follow->live);
	ct_text_destroy(follow->printer);
	reading_close(&follow->reading);
	ct_hash_table_fini(&follow->table);
	free(follow->threads);
	ct_buf_fini(&follow->line);
	free(follow);
}

int run_follow_fd(const struct run_follow *follow)
{
	return ct_live_fd(follow->live);
}

unsigned run_follow_step(void *user)
{
	struct run_follow *follow = user;
	bool is_new = ct_live_look(follow->live);

	follow_print(follow, false);
	follow->wait_ms = is_new ? BUSY_MS : follow->wait_ms + follow->wait_ms / 4 + 1;
	if (follow->wait_ms > IDLE_MS)
		follow->wait_ms = IDLE_MS;
	return follow->wait_ms;
}

void run_follow_end(struct run_follow *follow)
{
	struct ct_live_totals totals;

	(void)ct_live_look(follow->live);
	follow_print(follow, true);
	ct_live_count(follow->live, &totals);
	follow->missed = totals.missed_bytes;
	if (follow->missed > 0)
		fprintf(stderr,
			"ctrace run: %" PRIu64
			" bytes went by too fast to be shown; the trace has them\n",
			follow->missed);
}

void run_follow_rest(struct run_follow *follow, const struct ct_read_event *event)
{
	struct followed *thread = followed_find(follow, event);
	bool is_printed = false;

	/* When nothing was missed, the first ones were printed; else those up to the last one. */
	if (thread != NULL)
		is_printed = follow->missed == 0 ? thread->passed++ < thread->printed
						 : event->traced.time_ns <= thread->last_ns;
	if (!is_printed)
		event_print(follow, event);
}
