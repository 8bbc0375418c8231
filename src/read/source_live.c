/*
 * source_live.c - the events of all live processes, as they happen.
 *
 * Called by ctrace tail, on one thread.  Looks for processes that come and go, reads their new
 * events, and returns all events in time order.  An event waits a little, since the next look may
 * find an earlier one.  The waiting events are bounded.  A slow caller misses events, which are
 * counted; the traced processes lose no time.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "read/live.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* between two looks for processes that have come or gone */
#define SCAN_NS 200000000u
#define BACKLOG_LIMIT ((size_t)64 << 20)  /* waiting bytes at which reading pauses */
#define BACKLOG_URGENT ((size_t)32 << 20) /* waiting bytes at which no event is held back */

/* A ring that has an event. */
struct entry {
	struct ct_live_stamp stamp; /* of the ring's first event */
	struct ct_live_ring *ring;
	struct ct_live_process *process;
};

struct ct_live {
	struct ct_live_options options;
	struct ct_live_process **processes;
	size_t process_count;
	bool has_scanned;
	uint64_t next_scan_ns;
	int notify_fd;
	struct ct_live_look look;
	struct ct_live_totals totals; /* lost_events: of processes that are gone */
	struct ctrace_event_item *items;
	/* the order: earliest first */
	struct entry *heap;
	size_t heap_size;
	size_t heap_capacity;
	bool is_given; /* the caller holds the event of the first entry */
	size_t backlog;
	/* CLOCK_REALTIME: all earlier events have been read, except those of interrupted threads */
	uint64_t complete_ns;
};

/* -----------------------------------------------------------------------------------------------
 * Which processes there are
 */

static struct ct_live_process *find_process(const struct ct_live *live, const char *path,
					    const struct stat *info)
{
	for (size_t i = 0; i < live->process_count; i++) {
		struct ct_live_process *process = live->processes[i];

		if (process->id.inode == info->st_ino && process->id.device == info->st_dev &&
		    strcmp(process->path, path) == 0)
			return process;
	}
	return NULL;
}

static void add_process(struct ct_live *live, char *path, const struct stat *info)
{
	struct ct_live_process **processes = reallocarray(live->processes, live->process_count + 1,
							  sizeof(struct ct_live_process *));
	struct ct_live_process *process = calloc(1, sizeof *process);

	if (processes != NULL)
		live->processes = processes;
	if (processes == NULL || process == NULL) {
		free(process);
		free(path);
		return;
	}
	process->path = path;
	process->directory_fd = process->session_fd = -1;
	process->id = (struct ct_file_id){ .device = info->st_dev, .inode = info->st_ino };
	process->who.uid = info->st_uid;
	process->is_there = true;
	process->is_ignored =
		!ct_live_process_open(process, &live->options, live->has_scanned, live->look.words);
	if (process->is_ignored) {
		ct_os_close(&process->session_fd);
		ct_os_close(&process->directory_fd);
	}
	processes[live->process_count++] = process;
}

static void see_process(const struct ct_directory_entry *entry, void *user)
{
	struct ct_live *live = user;
	struct ct_live_process *process;
	struct stat info;
	char *path;

	if (!entry->is_alive || ct_session_is_own(entry->run_directory, entry->name) ||
	    asprintf(&path, "%s/%s", entry->run_directory, entry->name) < 0)
		return;
	if (lstat(path, &info) != 0) {
		free(path);
		return;
	}
	process = find_process(live, path, &info);
	if (process == NULL) {
		add_process(live, path, &info);
		return;
	}
	process->is_there = true;
	free(path);
}

static void scan_run_directory(const char *path, void *user)
{
	struct ct_live *live = user;

	/* The directory is watched before it is read, so that no process is missed.  Adding the
	 * watch again changes nothing. */
	if (live->notify_fd >= 0)
		(void)inotify_add_watch(live->notify_fd, path,
					IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
	ct_directory_each(path, see_process, live);
}

static void run_directories_scan(struct ct_live *live)
{
	char events[4096];

	while (live->notify_fd >= 0 && read(live->notify_fd, events, sizeof events) > 0)
		;
	for (size_t i = 0; i < live->process_count; i++)
		live->processes[i]->is_there = false;
	ct_directory_each_run_directory(scan_run_directory, live);
	for (size_t i = 0; i < live->process_count; i++)
		live->processes[i]->has_ended = !live->processes[i]->is_there;
	live->has_scanned = true;
	live->next_scan_ns = live->look.now_ns + SCAN_NS;
}

static bool run_directories_have_news(const struct ct_live *live)
{
	struct pollfd poll_fd = { .fd = live->notify_fd, .events = POLLIN };

	return live->notify_fd >= 0 && poll(&poll_fd, 1, 0) > 0;
}

/* -----------------------------------------------------------------------------------------------
 * The order
 */

static bool entry_is_before(const struct entry *a, const struct entry *b)
{
	if (a->stamp.time_ns != b->stamp.time_ns)
		return a->stamp.time_ns < b->stamp.time_ns;
	return a->process != b->process ? a->process->who.pid < b->process->who.pid
					: a->ring->index < b->ring->index;
}

/* Puts the entry at or below the free position `at`. */
static void heap_sift_down(struct ct_live *live, size_t at, struct entry entry)
{
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= live->heap_size)
			break;
		if (child + 1 < live->heap_size &&
		    entry_is_before(&live->heap[child + 1], &live->heap[child]))
			child++;
		if (!entry_is_before(&live->heap[child], &entry))
			break;
		live->heap[at] = live->heap[child];
		at = child;
	}
	live->heap[at] = entry;
}

static bool heap_add(struct ct_live *live, struct ct_live_process *process,
		     struct ct_live_ring *ring)
{
	struct entry entry = { .ring = ring, .process = process };
	struct ct_event event;

	if (!ct_live_ring_first(ring, &entry.stamp, &event))
		return true;
	if (live->heap_size == live->heap_capacity) {
		size_t capacity = live->heap_capacity != 0 ? 2 * live->heap_capacity : 64;
		struct entry *heap = reallocarray(live->heap, capacity, sizeof *heap);

		if (heap == NULL)
			return false;
		live->heap = heap;
		live->heap_capacity = capacity;
	}
	live->heap[live->heap_size++] = entry;
	return true;
}

/* Builds the heap anew after each look, since nearly all rings have new events, or none has. */
static void heap_build(struct ct_live *live)
{
	live->heap_size = 0;
	live->backlog = 0;
	for (size_t i = 0; i < live->process_count; i++) {
		struct ct_live_process *process = live->processes[i];

		for (uint32_t r = 0; r < process->ring_count; r++) {
			if (process->rings[r] == NULL)
				continue;
			live->backlog += process->rings[r]->waiting.size - process->rings[r]->first;
			if (!heap_add(live, process, process->rings[r]))
				break;
		}
	}
	for (size_t at = live->heap_size / 2; at-- > 0;)
		heap_sift_down(live, at, live->heap[at]);
}

/* Removes the event of the first entry, with which the caller has finished. */
static void heap_pop(struct ct_live *live)
{
	struct entry entry = live->heap[0];
	struct ct_event event;

	ct_live_ring_pop(entry.ring);
	if (!ct_live_ring_first(entry.ring, &entry.stamp, &event))
		entry = live->heap[--live->heap_size];
	if (live->heap_size > 0)
		heap_sift_down(live, 0, entry);
}

static bool entry_is_due(const struct ct_live *live, const struct entry *entry)
{
	return entry->stamp.time_ns <= live->complete_ns ||
	       entry->stamp.arrival_ns + live->options.hold_ns <= live->look.now_ns ||
	       live->backlog > BACKLOG_URGENT;
}

static bool entry_fill_event(struct ct_live *live, const struct entry *entry,
			     struct ctrace_event *out)
{
	struct ct_live_stamp stamp;
	struct ct_event event;
	const char *component;

	if (!ct_live_ring_first(entry->ring, &stamp, &event))
		return false;
	component = ct_live_process_name(entry->process, event.head.component);
	if (component == NULL) {
		live->totals.damaged_bytes += event.size;
		return false;
	}
	ct_event_items(&event, live->items);
	*out = (struct ctrace_event){
		.time_ns = stamp.time_ns,
		.component = component,
		.component_size = (uint32_t)strlen(component),
		.component_id = event.head.component,
		.event_id = event.head.event_id,
		.level = event.head.level,
		.pid = entry->process->who.pid,
		.tid = event.tid,
		.stream = entry->ring->index,
		.item_count = event.item_count,
		.items = live->items,
	};
	return true;
}

bool ct_live_next(struct ct_live *live, bool all, struct ctrace_event *out_event,
		  const struct ct_live_who **out_who)
{
	if (live->is_given)
		heap_pop(live);
	live->is_given = false;
	while (live->heap_size > 0 && (all || entry_is_due(live, &live->heap[0]))) {
		live->is_given = entry_fill_event(live, &live->heap[0], out_event);
		if (live->is_given) {
			if (out_who != NULL)
				*out_who = &live->heap[0].process->who;
			return true;
		}
		heap_pop(live);
	}
	return false;
}

/* -----------------------------------------------------------------------------------------------
 * Looking
 */

static uint64_t process_lost(const struct ct_live_process *process)
{
	uint64_t lost = process->lost;

	for (uint32_t i = 0; i < process->ring_count; i++)
		lost += process->rings[i] != NULL ? process->rings[i]->lost : 0;
	return lost;
}

static bool process_has_waiting(const struct ct_live_process *process)
{
	for (uint32_t i = 0; i < process->ring_count; i++)
		if (process->rings[i] != NULL &&
		    process->rings[i]->first < process->rings[i]->waiting.size)
			return true;
	return false;
}

/* Drops the processes that have ended and whose events have all been returned. */
static void drop_ended(struct ct_live *live)
{
	size_t kept = 0;

	for (size_t i = 0; i < live->process_count; i++) {
		struct ct_live_process *process = live->processes[i];

		if (process->has_ended && process->is_consumed && !process_has_waiting(process)) {
			live->totals.lost_events += process_lost(process);
			ct_live_process_close(process);
			continue;
		}
		live->processes[kept++] = process;
	}
	live->process_count = kept;
}

bool ct_live_look(struct ct_live *live)
{
	uint64_t wall_ns = ct_clock_wall_ns();
	bool is_new = false;

	if (live->is_given)
		heap_pop(live);
	live->is_given = false;
	live->look.now_ns = ct_clock_mono_ns();
	if (live->look.now_ns >= live->next_scan_ns || run_directories_have_news(live))
		run_directories_scan(live);
	live->look.room = live->backlog < BACKLOG_LIMIT ? BACKLOG_LIMIT - live->backlog : 0;
	for (size_t i = 0; i < live->process_count; i++) {
		struct ct_live_process *process = live->processes[i];
		bool has_more = !process->is_ignored &&
				ct_live_process_look(process, &live->options, &live->look);

		process->is_consumed = !has_more && (process->is_ignored || live->look.room != 0);
		is_new = is_new || has_more;
	}
	live->complete_ns = wall_ns > live->options.hold_ns ? wall_ns - live->options.hold_ns : 0;
	drop_ended(live);
	heap_build(live);
	return is_new;
}

void ct_live_count(struct ct_live *live, struct ct_live_totals *out_totals)
{
	struct ct_live_totals totals = live->totals;

	for (size_t i = 0; i < live->process_count; i++) {
		totals.lost_events += process_lost(live->processes[i]);
		totals.processes +=
			!live->processes[i]->is_ignored && !live->processes[i]->has_ended;
	}
	*out_totals = totals;
}

int ct_live_fd(const struct ct_live *live)
{
	return live->notify_fd;
}

enum ctrace_status ct_live_open(const struct ct_live_options *options, struct ct_live **out_live)
{
	struct ct_live *live = calloc(1, sizeof *live);

	if (live == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	live->options = *options;
	/* without it, a new process is found a little later */
	live->notify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	live->look.totals = &live->totals;
	ct_buf_init(&live->look.chunk);
	live->look.words = calloc(1, sizeof *live->look.words);
	live->items = calloc(CTRACE_MAX_ITEMS, sizeof *live->items);
	if (live->look.words == NULL || live->items == NULL) {
		ct_live_close(live);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	live->look.now_ns = ct_clock_mono_ns();
	run_directories_scan(live);
	*out_live = live;
	return CTRACE_OK;
}

void ct_live_close(struct ct_live *live)
{
	if (live == NULL)
		return;
	for (size_t i = 0; i < live->process_count; i++)
		ct_live_process_close(live->processes[i]);
	free(live->processes);
	ct_os_close(&live->notify_fd);
	ct_buf_fini(&live->look.chunk);
	free(live->look.words);
	free(live->items);
	free(live->heap);
	free(live);
}
