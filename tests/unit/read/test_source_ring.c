/*
 * test_source_ring.c - the rings of other processes, dead and alive: what no destination has yet is
 * read.
 *
 * The traced process is a real one: a child with a session and rings of its own, which dies or
 * waits.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../../sanitizer.h"
#include "../format/class_fixture.h"
#include "read_fixture.h"

#include <fcntl.h>
#include <sys/resource.h>

#define RUN "run"

struct maker {
	struct ct_session session;
	struct ct_ring rings[3];
	struct ct_classes classes;
};

static void must(bool ok)
{
	if (!ok)
		_exit(2);
}

static void make_session(struct maker *m)
{
	ct_text name;

	must(ct_os_make_directory(RUN) == CTRACE_OK &&
	     ct_session_create(&m->session, RUN) == CTRACE_OK && m->session.directory_fd >= 0);
	m->session.head->pid = (uint32_t)getpid();
	ct_shared_sync_start(&m->session.head->sync);
	must(ct_session_reserve_component(&m->session, 0) == CTRACE_OK &&
	     ct_session_reserve_component(&m->session, 1) == CTRACE_OK);
	must(ct_session_add_text(&m->session, "MF.RTS", 6, &name) == CTRACE_OK);
	m->session.components[1].name = name;
	ct_session_commit_component(&m->session, 1);
}

static void make_large_ring(struct maker *m, uint32_t index, enum ct_overflow overflow,
			    size_t capacity)
{
	must(ct_ring_create(&m->rings[index], &m->session, index, capacity) == CTRACE_OK);
	m->rings[index].head->overflow = overflow;
	m->session.head->ring_count = index + 1;
}

static void make_ring(struct maker *m, uint32_t index, enum ct_overflow overflow)
{
	make_large_ring(m, index, overflow, CT_RING_MIN);
}

/* Puts an event at the head, behind a mark; gives their size. */
static size_t put_event(struct maker *m, uint32_t index, uint32_t component,
			const struct ctrace_item *items, uint32_t count)
{
	const struct ct_event_head head = { .component = component,
					    .event_id = 7,
					    .level = CTRACE_WARN };
	struct ct_ring *ring = &m->rings[index];
	unsigned char *at = ring->data + (ring->head->head & (ring->capacity - 1));
	uint32_t number;
	size_t size;

	m->classes.table = m->session.classes;
	number = class_of(&m->classes, component, head.level, head.event_id, items, count);
	size = CT_EVENT_MARK + ct_event_size(number, items, count);
	ct_event_encode_mark(at, ct_clock_ticks(), 99);
	ct_event_encode(at + CT_EVENT_MARK, number, ct_clock_ticks(), &head, items, count);
	__atomic_store_n(&ring->head->head, ring->head->head + size, __ATOMIC_RELEASE);
	return size;
}

/* An event "number <n>." of component; gives its size. */
static size_t put(struct maker *m, uint32_t index, uint32_t component, unsigned number)
{
	char text[24];
	size_t size = (size_t)snprintf(text, sizeof text, "number %u.", number);
	const struct ctrace_item item = CTRACE_TEXT(text, size);

	return put_event(m, index, component, &item, 1);
}

/* Plays a process that does `body`; *out_name: its directory. */
static void die_after(void (*body)(struct maker *), char out_name[64])
{
	int how;
	pid_t child = fork();

	if (child == 0) {
		static struct maker m;

		make_session(&m);
		body(&m);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(how, 0);
	(void)snprintf(out_name, 64, RUN "/%d.0", (int)child);
}

static void two_rings(struct maker *m)
{
	size_t first;

	make_ring(m, 0, CT_OVERFLOW_BLOCK);
	make_ring(m, 1, CT_OVERFLOW_BLOCK);
	make_ring(m, 2, CT_OVERFLOW_BLOCK);
	first = put(m, 0, 1, 1000); /* delivered */
	m->rings[0].head->tail = first;
	m->rings[0].head->consumed = 1;
	for (unsigned i = 0; i < 100; i++)
		(void)put(m, i % 2, 1, i);
	ct_shared_sync_update(&m->session.head->sync, 0);
}

static void undelivered_events_of_a_dead_process(void **state)
{
	char name[64];
	struct ctrace_event event = { 0 };
	struct reading r;

	(void)state;
	die_after(two_rings, name);
	assert_reads(name, 0, 100);
	assert_reads(RUN, 0, 100);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, name), CTRACE_OK);
	assert_int_equal(r.sources.count, 2); /* an empty ring is no source */
	assert_true(next_event(&r, &event));
	assert_string_equal(event.component, "MF.RTS");
	assert_int_equal(event.event_id, 7);
	assert_int_equal(event.level, CTRACE_WARN);
	assert_int_equal(event.tid, 99);
	assert_int_equal(event.pid, strtoul(name + 4, NULL, 10));
	assert_true(event.time_ns <= ct_clock_wall_ns() &&
		    event.time_ns > ct_clock_wall_ns() - 3600000000000u);
	ct_sources_fini(&r.sources);
}

#define STEP_BACK_NS 3600000000000u

/* Fifty events, an hour back, fifty more. */
static void a_clock_set_back(struct maker *m)
{
	struct ct_clock_reading now;

	make_ring(m, 0, CT_OVERFLOW_BLOCK);
	for (unsigned i = 0; i < 100; i++) {
		if (i == 50) {
			ct_shared_sync_update(&m->session.head->sync, 0);
			now = ct_clock_read(ct_clock_source());
			now.wall_ns -= STEP_BACK_NS;
			ct_shared_sync_add(&m->session.head->sync, &now, 0);
		}
		(void)put(m, 0, 1, i);
	}
	now = ct_clock_read(ct_clock_source());
	now.wall_ns -= STEP_BACK_NS;
	ct_shared_sync_add(&m->session.head->sync, &now, 0);
}

static void a_step_of_the_clock_is_reported_and_dates_are_the_clock_s(void **state)
{
	uint64_t begin = ct_clock_wall_ns();
	char name[64];
	struct ctrace_event event = { 0 };
	struct reading r;

	(void)state;
	die_after(a_clock_set_back, name);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, name), CTRACE_OK);
	assert_int_equal(r.reports, 1);
	assert_non_null(strstr(r.last_path, name));
	assert_non_null(strstr(r.last_message, "the clock was set back by 3600.0"));
	for (unsigned i = 0; i < 100; i++) {
		uint64_t moved = i < 50 ? 0 : STEP_BACK_NS;

		assert_true(next_event(&r, &event));
		assert_in_range(event.time_ns, begin - moved - 1000000,
				ct_clock_wall_ns() - moved + 1000000);
	}
	ct_sources_fini(&r.sources);
}

static void by_process_id(void **state)
{
	struct fixture *f = *state;
	char name[64], run[256], pid[16];

	die_after(two_rings, name);
	(void)snprintf(run, sizeof run, "%s/" RUN, f->directory);
	setenv("CTRACE_RUN_DIR", run, 1);
	(void)snprintf(pid, sizeof pid, "%.*s", (int)strcspn(name + 4, "."), name + 4);
	assert_reads(pid, 0, 100);
	unsetenv("CTRACE_RUN_DIR");
}

static void overwritten(struct maker *m)
{
	struct ct_ring_head *head;

	make_ring(m, 0, CT_OVERFLOW_OVERWRITE);
	for (unsigned i = 0; i < 10; i++)
		(void)put(m, 0, 1, 1000 + i);
	head = m->rings[0].head;
	head->oldest = head->head;
	head->oldest_count = 10;
	for (unsigned i = 0; i < 20; i++)
		(void)put(m, 0, 1, i);
	head->lost[CTRACE_LOSS_DISCARDED] = 4;
	m->session.head->lost[CTRACE_LOSS_NO_RING] = 3;
}

static void what_was_overwritten_is_passed_over(void **state)
{
	char name[64];
	struct reading r;

	(void)state;
	die_after(overwritten, name);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, name), CTRACE_OK);
	assert_int_equal(r.sources.totals.discarded, 7);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(next_number(&r), i);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.sources.totals.damages, 0);
	ct_sources_fini(&r.sources);
}

static void damaged(struct maker *m)
{
	make_ring(m, 0, CT_OVERFLOW_BLOCK);
	make_ring(m, 1, CT_OVERFLOW_BLOCK);
	make_ring(m, 2, CT_OVERFLOW_BLOCK);
	(void)put(m, 0, 1, 0);
	(void)put(m, 0, 77, 1); /* no such component */
	(void)put(m, 0, 1, 2);
	(void)put(m, 0, 0, 3); /* one without a name */
	memset(m->rings[0].data + (m->rings[0].head->head & (m->rings[0].capacity - 1)), 0, 64);
	m->rings[0].head->head += 64;
	(void)put(m, 1, 1, 4);
	(void)put(m, 2, 1, 5);
	m->rings[2].head->magic = 0;
}

static void damage_costs_what_it_hit(void **state)
{
	char name[64];
	struct reading r;

	(void)state;
	die_after(damaged, name);
	reading_init(&r);
	assert_int_equal(ct_sources_add(&r.sources, name), CTRACE_OK);
	assert_int_equal(r.reports, 1); /* the ring that is none */
	assert_int_equal(next_number(&r), 0);
	assert_int_equal(next_number(&r), 2);
	assert_int_equal(next_number(&r), 4);
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.sources.totals.damages, 4);
	assert_true(r.sources.totals.damaged_bytes >= 64);
	ct_sources_fini(&r.sources);
}

/* The live process goes on between the copy of the ring's head and that of its data: what it may
 * have written over is not shown. */
static void a_live_process_is_only_looked_at(void **state)
{
	int ready[2], go[2], how;
	char name[64], byte = 0;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	child = fork();
	if (child == 0) {
		static struct maker m;

		close(ready[0]);
		close(go[1]);
		make_session(&m);
		two_rings(&m);
		must(write(ready[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1);
		/* Still ours: nobody took the lock or changed a position. */
		must(m.rings[0].head->consumed == 1 && access(m.session.path, F_OK) == 0);
		_exit(0);
	}
	close(ready[1]);
	close(go[0]);
	(void)snprintf(name, sizeof name, RUN "/%d.0", (int)child);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_reads(name, 0, 100);
	assert_reads(name, 0, 100);
	assert_int_equal(write(go[1], &byte, 1), 1);
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(how, 0);
}

/* ---- rings that are too many, or too large, to be held ---- */

#define LARGE ((size_t)1 << 20)

/* Event `number`, with binary data behind its text. */
static void put_sized(struct maker *m, uint32_t index, unsigned number, size_t size)
{
	static const char data[CTRACE_MAX_ITEM_SIZE];
	char text[24];
	size_t text_size = (size_t)snprintf(text, sizeof text, "number %u.", number);
	struct ctrace_item items[9] = { CTRACE_TEXT(text, text_size) };
	uint32_t count = 1;

	for (; size > 0 && count < CT_COUNT(items); count++) {
		items[count] = CTRACE_BIN(data, size < sizeof data ? size : sizeof data);
		size -= items[count].size;
	}
	(void)put_event(m, index, 1, items, count);
}

/* Two rings that have come round: events of every size up to the largest, in turns. */
static void large_rings(struct maker *m)
{
	static const size_t sizes[] = {
		0, 100, 5000, 60000, 0, 70000, 30, 200000, 0, 400000, 0, 0
	};

	for (uint32_t i = 0; i < 2; i++) {
		make_large_ring(m, i, i == 0 ? CT_OVERFLOW_BLOCK : CT_OVERFLOW_OVERWRITE, LARGE);
		m->rings[i].head->head = m->rings[i].head->tail = m->rings[i].head->oldest =
			LARGE - 2000;
	}
	for (unsigned i = 0; i < 2 * CT_COUNT(sizes); i++)
		put_sized(m, i % 2, i, sizes[i / 2]);
	ct_shared_sync_update(&m->session.head->sync, 0);
}

static void a_ring_is_the_same_through_a_window(void **state)
{
	char name[64];
	struct reading r;

	(void)state;
	die_after(large_rings, name);
	for (unsigned how = 0; how < 3; how++) {
		reading_init(&r);
		if (how > 0)
			r.sources.copied = CT_SOURCES_HOLD / 2; /* nothing is copied any more */
		if (how == 2)
			r.sources.may_hold = 1; /* what waits gives its memory back each time */
		assert_int_equal(ct_sources_add(&r.sources, name), CTRACE_OK);
		for (unsigned i = 0; i < 24; i++)
			assert_int_equal(next_number(&r), i);
		assert_int_equal(next_number(&r), UINT32_MAX);
		assert_int_equal(r.sources.totals.damages, 0);
		assert_int_equal(r.sources.held, 0);
		ct_sources_fini(&r.sources);
	}
}

/* What a live process delivers or overwrites before it is read is not shown, but reported. */
static void what_goes_while_it_is_read_is_reported(void **state)
{
	static struct maker m;
	struct reading r;
	uint64_t ninth = 0;

	(void)state;
	make_session(&m);
	make_large_ring(&m, 0, CT_OVERFLOW_BLOCK, LARGE);
	for (unsigned i = 0; i < 12; i++) {
		if (i == 9)
			ninth = m.rings[0].head->head;
		put_sized(&m, 0, i, 30000);
	}
	reading_init(&r);
	r.sources.copied = CT_SOURCES_HOLD / 2;
	{
		char name[300];
		struct ct_session session = m.session;

		/* Our own directory is never opened: it goes by another name meanwhile. */
		(void)snprintf(name, sizeof name, RUN "/1.0");
		assert_int_equal(rename(session.path, name), 0);
		assert_int_equal(ct_sources_add(&r.sources, name), CTRACE_OK);
	}
	assert_int_equal(next_number(&r), 0);
	m.rings[0].head->tail = ninth;
	memset(m.rings[0].data, 0xFF, m.rings[0].head->tail);
	assert_int_equal(next_number(&r), 1); /* was in the window */
	assert_int_equal(next_number(&r), 9);
	assert_int_equal(r.sources.totals.damages, 1);
	assert_int_equal(next_number(&r), 10);
	m.rings[0].head->tail = m.rings[0].head->head;
	assert_int_equal(next_number(&r), UINT32_MAX);
	assert_int_equal(r.sources.totals.damages, 2);
	ct_sources_fini(&r.sources);
	ct_ring_close(&m.rings[0]);
	ct_session_close(&m.session, false);
}

#define MANY 600u

/* Files without a block behind them, each of which says that a gigabyte waits in it. */
static void many_sparse_rings(struct maker *m)
{
	static struct ct_ring_head head;

	make_ring(m, 0, CT_OVERFLOW_BLOCK);
	(void)put(m, 0, 1, 0);
	head = *m->rings[0].head;
	head.capacity = head.head = CT_RING_MAX;
	for (uint32_t i = 1; i < MANY; i++) {
		char name[32];
		int fd;

		(void)snprintf(name, sizeof name, "ring.%u", i);
		fd = openat(m->session.directory_fd, name, O_RDWR | O_CREAT | O_EXCL, 0600);
		head.index = i;
		must(fd >= 0 && write(fd, &head, sizeof head) == (ssize_t)sizeof head &&
		     ftruncate(fd, (off_t)CT_RING_HEAD_SIZE + CT_RING_MAX) == 0 && close(fd) == 0);
	}
	m->session.head->ring_count = MANY;
}

static void a_process_of_sparse_gigabytes_does_not_exhaust_us(void **state)
{
	char name[64];
	pid_t child;
	int how;

	(void)state;
	die_after(many_sparse_rings, name);
	child = fork();
	if (child == 0) {
		struct rlimit files = { 64, 64 };
		struct rlimit space = { (rlim_t)512 << 20, (rlim_t)512 << 20 };
		struct reading r;

		must(IS_SANITIZED || setrlimit(RLIMIT_AS, &space) == 0);
		must(setrlimit(RLIMIT_NOFILE, &files) == 0);
		reading_init(&r);
		must(ct_sources_add(&r.sources, name) == CTRACE_OK && r.sources.count == MANY);
		must(next_number(&r) == 0 && next_number(&r) == UINT32_MAX);
		must(r.sources.totals.damages == MANY - 1);
		must(r.sources.held <= CT_SOURCES_HOLD && r.sources.copied <= CT_SOURCES_HOLD);
		ct_sources_fini(&r.sources);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(how, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int test_source_ring(void)
{
	const struct CMUnitTest tests[] = {
		TEST(undelivered_events_of_a_dead_process),
		TEST(by_process_id),
		TEST(what_was_overwritten_is_passed_over),
		TEST(damage_costs_what_it_hit),
		TEST(a_live_process_is_only_looked_at),
		TEST(a_ring_is_the_same_through_a_window),
		TEST(what_goes_while_it_is_read_is_reported),
		TEST(a_process_of_sparse_gigabytes_does_not_exhaust_us),
		TEST(a_step_of_the_clock_is_reported_and_dates_are_the_clock_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
