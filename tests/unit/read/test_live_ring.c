/*
 * test_live_ring.c - one ring is followed: all of it, in order, and never a byte that the producer
 * has written over meanwhile.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../ring/ring_fixture.h"

#include <pthread.h>

#include "read/live.h"

#define CAPACITY ((size_t)64 << 10)
#define INDEX 3

static struct ct_session session;
static struct ct_sync no_sync;
static struct ct_live_totals totals;
static struct ct_live_look look = { .sync = &no_sync, .totals = &totals };
static struct ct_live_ring followed;

static int set_up(void **state)
{
	(void)state;
	enter_room();
	assert_int_equal(mkdir("run/s", 0700), 0);
	session = (struct ct_session){ .file_fd = -1 };
	session.directory_fd = open("run/s", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(session.directory_fd >= 0);
	session.directory_id = ct_os_file_id(session.directory_fd);
	(void)snprintf(session.path, sizeof session.path, "%s/s", run_dir);
	look.room = (size_t)1 << 30;
	totals = (struct ct_live_totals){ 0 };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ct_buf_fini(&look.chunk);
	ct_os_close(&session.directory_fd);
	leave_room();
	return 0;
}

static void make(size_t capacity, uint32_t overflow)
{
	memset(&thread_buffer, 0, sizeof thread_buffer);
	memset(&place, 0, sizeof place);
	assert_int_equal(ct_ring_create(&ring, &session, INDEX, capacity), CTRACE_OK);
	ring.head->overflow = overflow;
	ring.head->is_imported = 1; /* the times are the fixture's own */
}

static void follow(bool from_start)
{
	assert_int_equal(
		ct_live_ring_open(&followed, session.directory_fd, INDEX, &classes, from_start),
		CTRACE_OK);
}

static void end(void)
{
	ct_live_ring_close(&followed);
	ct_ring_close(&ring);
}

/* Everything has been delivered. */
static void deliver(void)
{
	place.position = ct_ring_head_position(&ring);
	place.state = (struct ct_event_state){ .tid = 5 };
	ct_ring_consume(&ring, &place);
}

static uint64_t places[150000]; /* where event number n is */

static void produce_some(uint32_t first, uint32_t count, size_t size)
{
	for (uint32_t i = 0; i < count; i++) {
		assert_true(produce(size, first + i));
		places[first + i] = ring.head->head - size;
	}
}

/* The first event at or behind a place. */
static uint32_t first_behind(uint64_t position)
{
	uint32_t number = 0;

	while (places[number] < position)
		number++;
	return number;
}

/* The next event's number; UINT32_MAX when none waits. */
static uint32_t seen(void)
{
	struct ct_live_stamp stamp;
	struct ct_event event;
	uint32_t number;

	if (!ct_live_ring_first(&followed, &stamp, &event))
		return UINT32_MAX;
	assert_int_equal(stamp.arrival_ns, look.now_ns);
	check_event(&event);
	number = event.head.event_id;
	ct_live_ring_pop(&followed);
	return number;
}

static void assert_seen(uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(seen(), first + i);
	assert_int_equal(seen(), UINT32_MAX);
}

/* ---- what is seen ---- */

static void what_comes_is_seen(void **state)
{
	(void)state;
	make(CAPACITY, CT_OVERFLOW_DISCARD);
	produce_some(0, 10, 64);
	follow(false);
	look.now_ns = 77;
	assert_false(ct_live_ring_look(&followed, &look));
	produce_some(10, 5, 64);
	assert_true(ct_live_ring_look(&followed, &look));
	assert_false(ct_live_ring_look(&followed, &look));
	assert_seen(10, 5);
	produce_some(15, 1, 4000);
	assert_true(ct_live_ring_look(&followed, &look));
	produce_some(16, 1, 64);
	assert_true(ct_live_ring_look(&followed, &look));
	assert_seen(15, 2);
	assert_int_equal(ring.head->tail, 0);
	assert_int_equal(totals.missed_bytes + totals.damaged_bytes, 0);
	end();
}

static void what_was_delivered_is_seen_too(void **state)
{
	(void)state;
	make(CAPACITY, CT_OVERFLOW_BLOCK);
	follow(false);
	/* Many rounds; each event is gone before it is looked at. */
	for (uint32_t i = 0; i < 4000; i++) {
		produce_some(i, 1, 104);
		if (i % 4 == 3)
			assert_true(ct_live_ring_look(&followed, &look));
		deliver();
	}
	(void)ct_live_ring_look(&followed, &look);
	assert_seen(0, 4000);
	assert_int_equal(totals.missed_bytes, 0);
	end();
}

static void a_large_ring_is_safe_far_behind(void **state)
{
	(void)state;
	make(2 * CT_LIVE_CHUNK, CT_OVERFLOW_DISCARD);
	follow(false);
	produce_some(0, 1000, 1024);
	deliver();
	produce_some(1000, 460, 1024); /* all behind tail */
	deliver();
	assert_true(ct_live_ring_look(&followed, &look));
	assert_seen(0, 1460);
	end();
}

static void the_start_is_the_oldest_window_that_is_whole(void **state)
{
	uint32_t first;

	(void)state;
	make(CAPACITY, CT_OVERFLOW_DISCARD);
	produce_some(0, 600, 64);
	deliver();
	follow(true);
	assert_true(ct_live_ring_look(&followed, &look));
	assert_seen(0, 600);
	ct_live_ring_close(&followed);
	produce_some(600, 800, 64); /* what waits begins in the round before */
	follow(true);
	first = first_behind(followed.position);
	assert_true(first > 0 && first <= 600);
	assert_true(ct_live_ring_look(&followed, &look));
	assert_seen(first, 1400 - first);
	ct_live_ring_close(&followed);
	deliver();
	follow(true);
	first = first_behind(followed.position);
	assert_true(first < 1400 - CAPACITY / 64 / 2); /* at least half of the ring is seen */
	assert_true(ct_live_ring_look(&followed, &look));
	assert_seen(first, 1400 - first);
	assert_int_equal(totals.missed_bytes + totals.damaged_bytes, 0);
	end();
}

static void overwriting_rings(void **state)
{
	uint32_t first;

	(void)state;
	make(CAPACITY, CT_OVERFLOW_OVERWRITE);
	produce_some(0, 5000, 64);
	follow(true);
	first = first_behind(ring.head->oldest);
	assert_true(ct_live_ring_look(&followed, &look));
	assert_seen(first, 5000 - first);
	produce_some(5000, 500, 64);
	assert_true(ct_live_ring_look(&followed, &look));
	assert_seen(5000, 500);
	assert_int_equal(totals.missed_bytes, 0);
	produce_some(5500, 3000, 64);
	first = first_behind(ring.head->oldest);
	assert_true(ct_live_ring_look(&followed, &look));
	assert_int_equal(totals.missed_bytes, ring.head->oldest - (places[5499] + 64));
	assert_seen(first, 8500 - first);
	end();
}

/* ---- what is not ---- */

static void what_went_by_is_counted(void **state)
{
	uint32_t first;

	(void)state;
	make(CAPACITY, CT_OVERFLOW_DISCARD);
	follow(false);
	for (uint32_t i = 0; i < 10; i++) {
		produce_some(100 * i, 100, 256);
		deliver();
	}
	produce_some(1000, 3, 256);
	assert_true(ct_live_ring_look(&followed, &look));
	first = first_behind(totals.missed_bytes);
	assert_true(first > 0 && first < 1000);
	assert_seen(first, 1003 - first);
	assert_int_equal(totals.damaged_bytes, 0);
	end();
}

/* What the producer is writing now is not in head yet, and may be as long as its window. */
static void what_is_being_written_is_not_read(void **state)
{
	const size_t capacity = (size_t)1 << 20;
	uint64_t from, to;
	uint32_t first;

	(void)state;
	make(capacity, CT_OVERFLOW_DISCARD);
	follow(false);
	produce_some(0, 500, 1024);
	deliver();
	assert_true(ct_live_ring_look(&followed, &look));
	assert_seen(0, 500);
	produce_some(500, 500 + 256, 1024);
	deliver();
	from = ring.head->head;
	to = ring.head->window;
	assert_true(to > from && to - from < capacity / 4);
	/* over what was there a round before */
	memset(ring.data + (from & (capacity - 1)), 0x55, to - from);
	assert_true(ct_live_ring_look(&followed, &look));
	first = first_behind(totals.missed_bytes + places[499] + 1024);
	assert_true(places[first] >= to - capacity);
	assert_seen(first, 1256 - first);
	assert_int_equal(totals.damaged_bytes, 0);
	end();
}

static void losses_of_the_process(void **state)
{
	(void)state;
	make(CAPACITY, CT_OVERFLOW_DISCARD);
	ring.head->lost[CTRACE_LOSS_DISCARDED] = 5;
	follow(false);
	(void)ct_live_ring_look(&followed, &look);
	assert_int_equal(followed.lost, 0);
	ring.head->lost[CTRACE_LOSS_STALLED] = 2;
	(void)ct_live_ring_look(&followed, &look);
	assert_int_equal(followed.lost, 2);
	ct_live_ring_close(&followed);
	follow(true);
	(void)ct_live_ring_look(&followed, &look);
	assert_int_equal(followed.lost, 7);
	end();
}

static void no_room(void **state)
{
	(void)state;
	make(CAPACITY, CT_OVERFLOW_DISCARD);
	follow(false);
	produce_some(0, 100, 64);
	look.room = 10 * (64 + sizeof(struct ct_live_stamp)) - 1;
	assert_true(ct_live_ring_look(&followed, &look));
	assert_int_equal(look.room, 0);
	for (unsigned i = 0; i < 10; i++)
		assert_false(ct_live_ring_look(&followed, &look));
	assert_seen(0, 10);
	look.room = 1 << 20;
	assert_true(ct_live_ring_look(&followed, &look));
	assert_seen(10, 90);
	assert_int_equal(totals.damaged_bytes, 0);
	end();
}

/* ---- who lies ---- */

static void not_to_be_followed(void **state)
{
	(void)state;
	assert_int_equal(ct_live_ring_open(&followed, session.directory_fd, INDEX, &classes, false),
			 CTRACE_NOT_FOUND);
	assert_int_equal(symlink("/etc/passwd", "run/s/ring.4"), 0);
	assert_int_equal(ct_live_ring_open(&followed, session.directory_fd, 4, &classes, false),
			 CTRACE_DENIED);
	assert_int_equal(mkfifo("run/s/ring.5", 0600), 0);
	assert_int_equal(ct_live_ring_open(&followed, session.directory_fd, 5, &classes, false),
			 CTRACE_DAMAGED);
	put_file("run/s/ring.6", "short", 5);
	assert_int_equal(ct_live_ring_open(&followed, session.directory_fd, 6, &classes, false),
			 CTRACE_DAMAGED);
	make(CAPACITY, CT_OVERFLOW_OVERWRITE);
	ring.head->kept = 1;
	assert_int_equal(ct_live_ring_open(&followed, session.directory_fd, INDEX, &classes, false),
			 CTRACE_UNSUPPORTED);
	ct_ring_close(&ring);
}

static void heads_that_cannot_be(void **state)
{
	static const struct {
		size_t offset;
		uint64_t value;
	} cases[] = {
		{ offsetof(struct ct_ring_head, magic), 0 },
		{ offsetof(struct ct_ring_head, capacity), 0 },
		{ offsetof(struct ct_ring_head, capacity), CAPACITY * 2 },
		{ offsetof(struct ct_ring_head, capacity), (uint64_t)1 << 60 },
		{ offsetof(struct ct_ring_head, head), UINT64_MAX },
		{ offsetof(struct ct_ring_head, head), CAPACITY + 8 },
		{ offsetof(struct ct_ring_head, tail), 10000 },
		{ offsetof(struct ct_ring_head, oldest), 10000 },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++) {
		uint64_t *word, kept;

		make(CAPACITY, CT_OVERFLOW_DISCARD);
		follow(false);
		produce_some(0, 10, 64);
		word = (uint64_t *)(void *)((char *)ring.head + cases[i].offset);
		kept = *word;
		*word = cases[i].value;
		assert_false(ct_live_ring_look(&followed, &look));
		assert_int_equal(seen(), UINT32_MAX);
		*word = kept;
		assert_true(ct_live_ring_look(&followed, &look));
		assert_seen(0, 10);
		end();
	}
	assert_int_equal(totals.missed_bytes + totals.damaged_bytes, 0);
}

static void damage_is_passed_over(void **state)
{
	(void)state;
	make(CAPACITY, CT_OVERFLOW_DISCARD);
	follow(false);
	produce_some(0, 10, 64);
	memset(ring.data + CT_EVENT_MARK + 5 * 64, 0xFF, 4);
	assert_true(ct_live_ring_look(&followed, &look));
	assert_seen(0, 5);
	for (unsigned i = 0; i < 10 && totals.damaged_bytes == 0; i++)
		(void)ct_live_ring_look(&followed, &look);
	assert_int_equal(totals.damaged_bytes, 5 * 64);
	produce_some(10, 3, 64);
	assert_true(ct_live_ring_look(&followed, &look));
	assert_seen(10, 3);
	end();
}

/* A head whose bytes were not all new when it was read speaks of half an event; the next look has
 * the rest. */
static void half_an_event_is_waited_for(void **state)
{
	uint64_t whole;

	(void)state;
	make(CAPACITY, CT_OVERFLOW_DISCARD);
	follow(false);
	produce_some(0, 2, 64);
	whole = ring.head->head;
	ring.head->head = CT_EVENT_MARK + 72;
	assert_true(ct_live_ring_look(&followed, &look));
	assert_false(ct_live_ring_look(&followed, &look));
	ring.head->head = whole;
	assert_true(ct_live_ring_look(&followed, &look));
	assert_seen(0, 2);
	assert_int_equal(totals.damaged_bytes, 0);
	end();
}

static void a_head_that_goes_back(void **state)
{
	(void)state;
	make(CAPACITY, CT_OVERFLOW_DISCARD);
	follow(false);
	produce_some(0, 10, 64);
	assert_true(ct_live_ring_look(&followed, &look));
	ring.head->head = CT_EVENT_MARK + 64;
	for (unsigned i = 0; i < 10; i++)
		(void)ct_live_ring_look(&followed, &look);
	assert_seen(0, 10);
	ring.head->head = CT_EVENT_MARK + 192;
	assert_true(ct_live_ring_look(&followed, &look));
	assert_seen(1, 2);
	end();
}

static void a_file_that_is_cut(void **state)
{
	(void)state;
	make(CAPACITY, CT_OVERFLOW_DISCARD);
	follow(false);
	produce_some(0, 10, 64);
	assert_int_equal(truncate("run/s/ring.3", CT_RING_HEAD_SIZE + 100), 0);
	assert_false(ct_live_ring_look(&followed, &look));
	assert_int_equal(truncate("run/s/ring.3", 0), 0);
	assert_false(ct_live_ring_look(&followed, &look));
	assert_int_equal(seen(), UINT32_MAX);
	ct_live_ring_close(&followed);
	ct_ring_close(&ring);
}

/* ---- against a producer that does not wait ---- */

static bool is_finished;

/* Its own consumer too, so that nearly all that it writes is behind tail at once. */
static void *produce_all(void *argument)
{
	uint32_t seed = 1;

	(void)argument;
	for (uint32_t number = 0; number < 150000; number++) {
		size_t size = 32 + 8 * ((seed = seed * 1103515245 + 12345) >> 16) % 1024;

		while (!produce(size, number))
			deliver();
		if (ring.head->overflow != CT_OVERFLOW_OVERWRITE && number % 3 == 0)
			deliver();
	}
	__atomic_store_n(&is_finished, true, __ATOMIC_RELEASE);
	return NULL;
}

static void race(size_t capacity, uint32_t overflow)
{
	uint32_t count = 0, last = UINT32_MAX;
	bool was_finished = false;
	pthread_t producer;

	make(capacity, overflow);
	follow(true);
	is_finished = false;
	totals = (struct ct_live_totals){ 0 };
	assert_int_equal(pthread_create(&producer, NULL, produce_all, NULL), 0);
	while (!was_finished) {
		uint32_t number;

		was_finished = __atomic_load_n(&is_finished, __ATOMIC_ACQUIRE);
		while (ct_live_ring_look(&followed, &look))
			while ((number = seen()) != UINT32_MAX) {
				assert_true(last == UINT32_MAX || number > last);
				last = number;
				count++;
			}
		look.room = (size_t)1 << 30;
	}
	assert_int_equal(pthread_join(producer, NULL), 0);
	assert_int_equal(followed.position, ring.head->head);
	assert_int_equal(last, 149999);
	assert_int_equal(totals.damaged_bytes, 0);
	assert_true(count == 150000 || totals.missed_bytes > 0);
	end();
}

static void nothing_torn_is_seen(void **state)
{
	(void)state;
	race(CAPACITY, CT_OVERFLOW_DISCARD);
	race(CAPACITY, CT_OVERFLOW_OVERWRITE);
	race((size_t)1 << 20, CT_OVERFLOW_DISCARD);
	race((size_t)1 << 20, CT_OVERFLOW_OVERWRITE);
}

int test_live_ring(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(what_comes_is_seen),
		TEST(what_was_delivered_is_seen_too),
		TEST(a_large_ring_is_safe_far_behind),
		TEST(the_start_is_the_oldest_window_that_is_whole),
		TEST(overwriting_rings),
		TEST(what_went_by_is_counted),
		TEST(what_is_being_written_is_not_read),
		TEST(losses_of_the_process),
		TEST(no_room),
		TEST(not_to_be_followed),
		TEST(heads_that_cannot_be),
		TEST(damage_is_passed_over),
		TEST(half_an_event_is_waited_for),
		TEST(a_head_that_goes_back),
		TEST(a_file_that_is_cut),
		TEST(nothing_torn_is_seen),
	};

	return cmocka_run_group_tests_name("read/live_ring", tests, NULL, NULL);
}
