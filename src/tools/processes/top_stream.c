/*
 * top_stream.c - the numbers of what comes to a stream: events, bytes and losses by host, process
 * and component.
 *
 * Two threads.  The follower waits for the servers, which may take seconds, and counts.  The tool's
 * main thread draws, takes keys and receives all signals; it copies the numbers when it wants them.
 * The lock protects the numbers, and is held for one event or one copy (docs/CONCURRENCY.md).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/processes/top_stream.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/cli.h"
#include "tools/streams/stream_copy.h"
#include "tools/streams/stream_events.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define FORGET_NS (60 * NS_PER_SECOND) /* between two looks for silent processes */
#define PATIENCE_MS 1000

struct counted_component {
	char name[CTRACE_MAX_COMPONENT + 1];
	uint64_t events, bytes;
};
struct counted_process {
	char *host, *program;
	char jobname[16];
	uint32_t pid;
	uint64_t started_ns;
	uint64_t came_ns; /* monotonic: when it sent something last */
	uint64_t lost;
	struct counted_component *components;
	struct ct_hash_table component_table;
};
struct counts {
	struct counted_process *processes;
	struct ct_hash_table process_table;
	uint32_t components; /* of all processes */
};
struct top_stream {
	const char *address;
	pthread_t thread;
	atomic_bool is_ending; /* the main thread wants the follower to end */
	int ended_fd;
	/* the follower's */
	struct stream_events events;
	uint64_t forgot_ns; /* when it forgot silent processes last */
	int status;         /* read after the thread has ended */
	bool has_failed;
	pthread_mutex_t lock;
	struct counts counts; /* under the lock */
};

/* -----------------------------------------------------------------------------------------------
 * Counting
 */

static uint32_t process_hash(const char *host, uint32_t pid, uint64_t started_ns)
{
	return ct_name_hash(host, strlen(host)) ^ (pid * 0x9E3779B1u) ^ (uint32_t)started_ns ^
	       (uint32_t)(started_ns >> 32);
}

static bool process_is(const void *items, uint32_t number, const void *key)
{
	const struct counted_process *process = (const struct counted_process *)items + number;
	const struct ct_source_process *wanted = key;

	return process->pid == wanted->pid && process->started_ns == wanted->started_ns &&
	       strcmp(process->host, wanted->host) == 0;
}

static void process_free(struct counted_process *process)
{
	free(process->host);
	free(process->program);
	free(process->components);
	ct_hash_table_fini(&process->component_table);
}

/* NULL without memory. */
static struct counted_process *process_add(struct counts *counts, uint32_t hash,
					   const struct ct_source_process *source)
{
	struct counted_process process = { .host = strdup(source->host),
					   .program = strdup(source->program),
					   .pid = source->pid,
					   .started_ns = source->started_ns };
	struct counted_process *processes = ct_hash_table_reserve_items(
		&counts->process_table, counts->processes, sizeof *processes);

	if (processes != NULL)
		counts->processes = processes;
	if (processes == NULL || process.host == NULL || process.program == NULL) {
		process_free(&process);
		return NULL;
	}
	(void)snprintf(process.jobname, sizeof process.jobname, "%s", source->jobname);
	processes[counts->process_table.count] = process;
	ct_hash_table_add(&counts->process_table, hash, counts->process_table.count);
	return &processes[counts->process_table.count - 1];
}

static struct counted_process *process_find(struct counts *counts,
					    const struct ct_source_process *source)
{
	uint32_t hash = process_hash(source->host, source->pid, source->started_ns);
	uint32_t at = ct_hash_table_find(&counts->process_table, hash, process_is,
					 counts->processes, source);

	return at != CT_HASH_TABLE_NONE ? &counts->processes[at]
					: process_add(counts, hash, source);
}

static bool component_is(const void *items, uint32_t number, const void *key)
{
	const struct counted_component *component =
		(const struct counted_component *)items + number;
	const struct ctrace_event *traced = key;

	return strncmp(component->name, traced->component, traced->component_size) == 0 &&
	       component->name[traced->component_size] == '\0';
}

/* NULL without memory, or when its name is too long to be one. */
static struct counted_component *component_find(struct counts *counts,
						struct counted_process *process,
						const struct ctrace_event *traced)
{
	uint32_t hash = ct_name_hash(traced->component, traced->component_size);
	struct ct_hash_table *table = &process->component_table;
	struct counted_component *components;
	uint32_t at;

	if (traced->component_size > CTRACE_MAX_COMPONENT)
		return NULL;
	at = ct_hash_table_find(table, hash, component_is, process->components, traced);
	if (at != CT_HASH_TABLE_NONE)
		return &process->components[at];
	components = ct_hash_table_reserve_items(table, process->components, sizeof *components);
	if (components == NULL)
		return NULL;
	process->components = components;
	at = table->count;
	components[at] = (struct counted_component){ .events = 0 };
	memcpy(components[at].name, traced->component, traced->component_size);
	ct_hash_table_add(table, hash, at);
	counts->components++;
	return &components[at];
}

struct forget {
	struct counts *counts;
	uint64_t before_ns;
};

static bool process_keeps(void *item, uint32_t *out_hash, void *user)
{
	struct counted_process *process = item;
	const struct forget *forget = user;

	*out_hash = process_hash(process->host, process->pid, process->started_ns);
	if (process->came_ns >= forget->before_ns)
		return true;
	forget->counts->components -= process->component_table.count;
	process_free(process);
	return false;
}

static void processes_forget(struct counts *counts, uint64_t before_ns)
{
	struct forget forget = { .counts = counts, .before_ns = before_ns };

	ct_hash_table_keep(&counts->process_table, counts->processes, sizeof *counts->processes,
			   process_keeps, &forget);
}

static void counts_fini(struct counts *counts)
{
	for (uint32_t i = 0; i < counts->process_table.count; i++)
		process_free(&counts->processes[i]);
	free(counts->processes);
	ct_hash_table_fini(&counts->process_table);
}

/* -----------------------------------------------------------------------------------------------
 * The follower
 */

/* age_ns 0: all are silent. */
static void silent_forget(struct top_stream *stream, uint64_t age_ns)
{
	uint64_t now_ns = stream->events.now_ns;
	uint64_t before_ns = age_ns == 0 ? UINT64_MAX : now_ns > age_ns ? now_ns - age_ns : 0;

	processes_forget(&stream->counts, before_ns);
	stream_events_forget(&stream->events, before_ns);
}

/* Half of them goes, so that not each event has to look for the silent ones. */
static void most_silent_forget(struct top_stream *stream)
{
	uint64_t age_ns = TOP_STREAM_SILENT_S * NS_PER_SECOND;

	for (; stream->counts.components > TOP_STREAM_LIMIT / 2 && !ct_memory_has_lacked();
	     age_ns /= 2)
		silent_forget(stream, age_ns);
}

static bool event_count(const struct ct_read_event *event, const struct ct_source_process *source,
			void *user)
{
	struct top_stream *stream = user;
	struct counted_process *process;
	struct counted_component *component;

	(void)pthread_mutex_lock(&stream->lock);
	process = process_find(&stream->counts, source);
	component =
		process != NULL ? component_find(&stream->counts, process, &event->traced) : NULL;
	if (component != NULL) {
		process->came_ns = stream->events.now_ns;
		component->events++;
		component->bytes += event->size;
	}
	if (stream->counts.components > TOP_STREAM_LIMIT)
		most_silent_forget(stream);
	(void)pthread_mutex_unlock(&stream->lock);
	return true;
}

static void lost_count(const struct ct_source_process *source, uint64_t events, void *user)
{
	struct top_stream *stream = user;
	struct counted_process *process;

	(void)pthread_mutex_lock(&stream->lock);
	process = process_find(&stream->counts, source);
	if (process != NULL) {
		process->came_ns = stream->events.now_ns;
		process->lost += events;
	}
	(void)pthread_mutex_unlock(&stream->lock);
}

static void part_report(const char *path, uint64_t offset, const char *message, void *user)
{
	struct top_stream *stream = user;

	(void)offset;
	stream->has_failed = true;
	fputs("ctrace top: ", stderr);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": %s\n", message);
}

static void part_take(const char *directory, bool is_repeated, void *user)
{
	struct top_stream *stream = user;

	stream_events_take(&stream->events, directory, is_repeated);
	(void)pthread_mutex_lock(&stream->lock);
	if (stream->events.now_ns - stream->forgot_ns >= FORGET_NS) {
		stream->forgot_ns = stream->events.now_ns;
		silent_forget(stream, TOP_STREAM_SILENT_S * NS_PER_SECOND);
	}
	(void)pthread_mutex_unlock(&stream->lock);
}

static bool follower_goes_on(void *user)
{
	struct top_stream *stream = user;

	return !atomic_load_explicit(&stream->is_ending, memory_order_relaxed) &&
	       !ct_memory_has_lacked();
}

static void *follower_run(void *user)
{
	struct top_stream *stream = user;
	const struct stream_parts parts = { .since_ns = UINT64_MAX,
					    .goes_on = follower_goes_on,
					    .take = part_take,
					    .user = stream };
	uint64_t one = 1;

	stream->status = stream_follow("ctrace top", stream->address, &parts);
	if (stream->has_failed && stream->status == CMD_DONE)
		stream->status = CMD_NOTHING;
	(void)!write(stream->ended_fd, &one, sizeof one);
	return NULL;
}

/* Signals are for the thread that draws; those of libnats inherit this mask, too. */
static int follower_start(struct top_stream *stream)
{
	sigset_t all, before;
	int error;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&stream->thread, NULL, follower_run, stream);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

/* -----------------------------------------------------------------------------------------------
 * For the thread that draws
 */

struct top_stream *top_stream_open(const char *address, const struct ct_peer_filter *filter)
{
	struct top_stream *stream = calloc(1, sizeof *stream);
	int error;

	if (stream == NULL)
		return NULL; /* the tool reports it */
	stream->address = address;
	stream->forgot_ns = ct_clock_mono_ns();
	stream->events = (struct stream_events){ .filter = *filter,
						 .take = event_count,
						 .lost = lost_count,
						 .report = part_report,
						 .user = stream };
	(void)pthread_mutex_init(&stream->lock, NULL);
	stream->ended_fd = eventfd(0, EFD_CLOEXEC);
	error = stream->ended_fd >= 0 ? follower_start(stream) : errno;
	if (error == 0)
		return stream;
	fprintf(stderr, "ctrace top: the stream cannot be followed: %s\n", strerror(error));
	ct_os_close(&stream->ended_fd);
	(void)pthread_mutex_destroy(&stream->lock);
	free(stream);
	return NULL;
}

int top_stream_fd(const struct top_stream *stream)
{
	return stream->ended_fd;
}

static bool process_give(const struct counted_process *counted, struct stats_process *out)
{
	uint32_t count = counted->component_table.count;

	*out = (struct stats_process){ .place = strdup(counted->host),
				       .pid = counted->pid,
				       .is_alive = true,
				       .start_ns = counted->started_ns,
				       .counters.lost_total = counted->lost,
				       .components = calloc(count + 1, sizeof *out->components) };
	if (out->place == NULL || out->components == NULL)
		return false;
	memcpy(out->jobname, counted->jobname, sizeof out->jobname);
	(void)snprintf(out->program, sizeof out->program, "%s", counted->program);
	for (uint32_t i = 0; i < count; i++) {
		struct stats_component *component = &out->components[out->component_count++];

		memcpy(component->name, counted->components[i].name, sizeof component->name);
		component->level = CTRACE_LEVEL_NONE;
		component->delivered = counted->components[i].events;
		component->bytes = counted->components[i].bytes;
	}
	return true;
}

void top_stream_gather(struct top_stream *stream, struct stats *stats)
{
	const struct counts *counts = &stream->counts;

	*stats = (struct stats){ .is_of_stream = true };
	(void)pthread_mutex_lock(&stream->lock);
	stats->taken_ns = ct_clock_mono_ns();
	stats->wall_ns = ct_clock_wall_ns();
	stats->processes = calloc(counts->process_table.count + 1, sizeof *stats->processes);
	stats->has_failed = stats->processes == NULL;
	for (uint32_t i = 0; i < counts->process_table.count && !stats->has_failed; i++) {
		struct stats_process *process = &stats->processes[stats->process_count++];

		stats->has_failed = !process_give(&counts->processes[i], process);
	}
	(void)pthread_mutex_unlock(&stream->lock);
	ct_display_init(&stats->writers, stats->wall_ns);
	if (!stats->has_failed)
		ct_stats_sort(stats);
}

bool top_stream_close(struct top_stream *stream, int *out_status)
{
	struct pollfd ended = { .fd = stream->ended_fd, .events = POLLIN };
	int got;

	atomic_store_explicit(&stream->is_ending, true, memory_order_relaxed);
	do
		got = poll(&ended, 1, PATIENCE_MS);
	while (got < 0 && errno == EINTR);
	if (got == 0)
		return false;
	(void)pthread_join(stream->thread, NULL);
	*out_status = stream->status;
	ct_os_close(&stream->ended_fd);
	(void)pthread_mutex_destroy(&stream->lock);
	stream_events_fini(&stream->events);
	counts_fini(&stream->counts);
	free(stream);
	return true;
}
