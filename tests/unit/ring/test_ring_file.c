/*
 * test_ring_file.c - the file behind a ring: made in real blocks, and copied whatever somebody else
 * left in it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "ring_fixture.h"

#include <sys/resource.h>

#define CAPACITY ((size_t)64 << 10)

static struct ct_session session;
static const char *ring_path = "run/s/ring.3";

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
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ct_os_close(&session.directory_fd);
	leave_room();
	return 0;
}

static void make_ring_of(size_t capacity, uint32_t overflow)
{
	memset(&thread_buffer, 0, sizeof thread_buffer);
	memset(&place, 0, sizeof place);
	assert_int_equal(ct_ring_create(&ring, &session, 3, capacity), CTRACE_OK);
	ring.head->overflow = ring.overflow = overflow;
	ring.head->is_imported = 1; /* the times are the fixture's own */
}

static void make_file_ring(uint32_t overflow)
{
	make_ring_of(CAPACITY, overflow);
}

static void a_ring_is_a_file_of_real_blocks_for_us_alone(void **state)
{
	struct stat info;

	(void)state;
	make_file_ring(CT_OVERFLOW_DISCARD);
	assert_int_equal(stat(ring_path, &info), 0);
	assert_int_equal(info.st_mode & 07777, CT_OS_KEPT_MODE);
	assert_int_equal(info.st_size, CT_RING_HEAD_SIZE + CAPACITY);
	assert_true((size_t)info.st_blocks * 512 >= CT_RING_HEAD_SIZE + CAPACITY);
	assert_int_equal(ring.head->magic, CT_RING_MAGIC);
	assert_int_equal(ring.head->index, 3);
	ct_ring_close(&ring);
}

static const char *wanted_point;

/* The program puts its own file, which is empty, at each number that is in use. */
static void own_file_at_point(const char *name)
{
	int own;

	if (strcmp(name, wanted_point) != 0)
		return;
	ct_point_set(NULL);
	own = open("own", O_RDWR | O_CREAT, 0600);
	assert_true(own >= 0);
	for (int fd = 3; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			assert_int_equal(dup2(own, fd), fd);
}

static void a_file_of_the_program_is_never_mapped(void **state)
{
	static const char *const points[] = { "os.opened", "os.map" };
	struct stat info;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(points); i++) {
		wanted_point = points[i];
		ct_point_set(own_file_at_point);
		make_file_ring(CT_OVERFLOW_DISCARD);
		assert_null(ct_point_reached);
		memset(ring.data, 'r', ring.capacity);
		ct_ring_close(&ring);
		assert_int_equal(stat("own", &info), 0);
		assert_int_equal(info.st_size, 0);
		for (int fd = 3; fd < 1024; fd++) {
			struct ct_file_id id = ct_os_file_id(fd);

			if (id.inode == info.st_ino && id.device == info.st_dev)
				(void)close(fd);
		}
	}
}

static void a_capacity_is_a_power_of_two_within_the_limits(void **state)
{
	static const struct {
		uint64_t bytes, capacity;
	} cases[] = {
		{ 0, CT_RING_MIN },
		{ CT_RING_MIN, CT_RING_MIN },
		{ CT_RING_MIN + 1, 2 * (uint64_t)CT_RING_MIN },
		{ 100000, 131072 },
		{ CT_RING_MAX - 1, CT_RING_MAX },
		{ CT_RING_MAX, CT_RING_MAX },
		{ UINT64_MAX, CT_RING_MAX },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(cases); i++)
		assert_int_equal(ct_ring_capacity(cases[i].bytes), cases[i].capacity);
}

static void a_position_goes_round_the_ring(void **state)
{
	(void)state;
	make_file_ring(CT_OVERFLOW_DISCARD);
	assert_ptr_equal(ct_ring_at(&ring, 0), ring.data);
	assert_ptr_equal(ct_ring_at(&ring, CAPACITY - 1), ring.data + CAPACITY - 1);
	assert_ptr_equal(ct_ring_at(&ring, CAPACITY), ring.data);
	assert_ptr_equal(ct_ring_at(&ring, 7 * CAPACITY + 5), ring.data + 5);
	ct_ring_close(&ring);
}

/* Somebody else may write over the head of a ring later: what is decided by is a copy. */
static void what_a_ring_is_is_copied_once(void **state)
{
	struct ct_ring_head head = { .index = 9, .overflow = CT_OVERFLOW_OVERWRITE };
	struct ct_ring copy = { 0 };

	(void)state;
	ct_ring_take_constants(&copy, &head);
	assert_int_equal(copy.index, 9);
	assert_int_equal(copy.overflow, CT_OVERFLOW_OVERWRITE);
	assert_false(copy.kept);
	head.kept = 1;
	assert_false(copy.kept);
	ct_ring_take_constants(&copy, &head);
	assert_true(copy.kept);
}

static void making_one_leaves_no_descriptor_open(void **state)
{
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;

	(void)state;
	assert_int_equal(close(before), 0);
	make_file_ring(CT_OVERFLOW_DISCARD);
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(after, before);
	assert_int_equal(close(after), 0);
	ct_ring_close(&ring);
}

#define WIDE (4 * CT_RING_MIN)

/* How much of WIDE a ring has, and that its file is as large, or that there is none. */
static void check_place(size_t capacity, enum ct_ring_place ring_place)
{
	struct stat info;

	assert_int_equal(ct_ring_create(&ring, &session, 3, WIDE), CTRACE_OK);
	ring.head->is_imported = 1; /* the times are the fixture's own */
	assert_int_equal(ring.capacity, capacity);
	assert_int_equal(ring.head->capacity, capacity);
	assert_int_equal(ring.place, ring_place);
	assert_int_equal(exists(ring_path), ring_place == CT_RING_IN_DIRECTORY);
	if (ring_place == CT_RING_IN_DIRECTORY) {
		assert_int_equal(stat(ring_path, &info), 0);
		assert_int_equal(info.st_size, CT_RING_HEAD_SIZE + capacity);
	}
	memset(&thread_buffer, 0, sizeof thread_buffer);
	memset(&place, 0, sizeof place);
	assert_true(produce(200, 1));
	assert_int_equal(take(), 1);
	ct_ring_close(&ring);
	(void)unlink(ring_path);
}

static void where_there_is_no_room_it_is_half_as_large_and_so_on(void **state)
{
	static const struct {
		enum ct_os_call call;
		int error;
	} faults[] = { { CT_OS_ALLOCATE, ENOSPC },
		       { CT_OS_ALLOCATE, EFBIG },
		       { CT_OS_ALLOCATE, ENOMEM },
		       { CT_OS_ALLOCATE, EDQUOT },
		       { CT_OS_MAP, ENOMEM } };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(faults); i++) {
		for (unsigned times = 1; WIDE >> times >= CT_RING_MIN; times++) {
			ct_os_fail(faults[i].call, 0, times, faults[i].error);
			check_place((size_t)WIDE >> times, CT_RING_IN_DIRECTORY);
		}
	}
}

/* The second mapping of each try is what the outputs may need later. */
static void it_leaves_room_for_the_outputs(void **state)
{
	(void)state;
	ct_os_fail(CT_OS_MAP, 1, 1, ENOMEM);
	check_place((size_t)WIDE / 2, CT_RING_IN_DIRECTORY);
	ct_os_fail(CT_OS_MAP, 1, 0, 0);
	assert_true(ct_os_has_room(1 << 20));
	assert_false(ct_os_has_room(SIZE_MAX / 2));
	assert_int_equal(errno, ENOMEM);
}

static void where_no_file_can_be_had_it_is_private_memory(void **state)
{
	static const struct {
		enum ct_os_call call;
		unsigned times;
		int error;
	} faults[] = { { CT_OS_OPEN, 1, EMFILE },        { CT_OS_OPEN, 1, EACCES },
		       { CT_OS_ALLOCATE, 1, EIO },       { CT_OS_ALLOCATE, 100, ENOSPC },
		       { CT_OS_ALLOCATE, 10000, EINTR }, { CT_OS_MAP, 1, EACCES } };

	(void)state;
	for (size_t i = 0; i < CT_COUNT(faults); i++) {
		ct_os_fail(faults[i].call, 0, faults[i].times, faults[i].error);
		check_place(WIDE, CT_RING_PRIVATE);
		ct_os_fail(faults[i].call, 0, 0, 0);
	}
	/* No memory either. */
	ct_os_fail(CT_OS_MAP, 0, 100, ENOMEM);
	assert_int_equal(ct_ring_create(&ring, &session, 3, WIDE), CTRACE_NOT_ENOUGH_MEMORY);
	ct_os_fail(CT_OS_MAP, 0, 0, 0);
	assert_false(exists(ring_path));
}

static void a_file_size_limit_of_the_program_makes_the_ring_smaller(void **state)
{
	struct rlimit limit, before;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	/* SIGXFSZ is at its default: nothing here may raise it. */
	limit.rlim_cur = CT_RING_HEAD_SIZE + WIDE - 1;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	check_place(WIDE / 2, CT_RING_IN_DIRECTORY);
	limit.rlim_cur = CT_RING_HEAD_SIZE + CT_RING_MIN;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	check_place(CT_RING_MIN, CT_RING_IN_DIRECTORY);
	limit.rlim_cur = CT_RING_HEAD_SIZE + CT_RING_MIN - 1;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	check_place(WIDE, CT_RING_PRIVATE);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

static void a_private_one_is_nobody_elses_to_read(void **state)
{
	struct ct_session_head *head = calloc(1, sizeof *head);

	(void)state;
	assert_non_null(head);
	make_file_ring(CT_OVERFLOW_DISCARD);
	ct_ring_close(&ring);
	session.head = head;
	head->ring_place[3] = CT_RING_PRIVATE;
	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_NOT_FOUND);
	assert_int_equal(ct_ring_map(&ring, &session, 3), CTRACE_NOT_FOUND);
	head->ring_place[3] = CT_RING_IN_DIRECTORY;
	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_OK);
	ct_ring_close(&ring);
	session.head = NULL;
	free(head);
}

/* The ring that was loaded, read from its file piece by piece. */
static void assert_same_in_parts(uint64_t waiting)
{
	static unsigned char bytes[CAPACITY];
	struct ct_ring_head head;
	uint64_t unreadable = 0, end;
	int fd;

	assert_int_equal(ct_ring_open(&session, 4, &fd), CTRACE_NOT_FOUND);
	assert_int_equal(ct_ring_open(&session, 3, &fd), CTRACE_OK);
	assert_int_equal(ct_ring_read_head(fd, 4, &head), CTRACE_DAMAGED);
	assert_int_equal(ct_ring_read_head(fd, 3, &head), CTRACE_OK);
	assert_memory_equal(&head, ring.head, sizeof head);
	assert_int_equal(ct_ring_count_waiting(fd, &head, &classes, &unreadable), waiting);
	/* It has come round: these lie on both sides of the end. */
	assert_true((head.tail & (CAPACITY - 1)) > (head.head & (CAPACITY - 1)));
	assert_int_equal(ct_ring_read_data(fd, head.capacity, head.tail, head.head, bytes, &end),
			 CTRACE_OK);
	assert_int_equal(end, head.head);
	assert_int_equal(unreadable, 0);
	for (uint64_t at = head.tail; at < head.head; at++)
		assert_int_equal(bytes[at - head.tail], ring.data[at & (CAPACITY - 1)]);
	assert_int_equal(ftruncate(fd, CT_RING_HEAD_SIZE), 0);
	assert_int_equal(ct_ring_read_data(fd, head.capacity, head.tail, head.head, bytes, &end),
			 CTRACE_OK);
	assert_int_equal(end, head.tail);
	assert_int_equal(ct_ring_count_waiting(fd, &head, &classes, &unreadable), 0);
	assert_int_equal(unreadable, head.head - head.tail);
	(void)close(fd);
}

/* Events of more than is read at a time. */
static void large_events_are_counted_and_loaded(void **state)
{
	struct ct_ring_head head;
	int fd;

	(void)state;
	make_ring_of((size_t)8 << 20, CT_OVERFLOW_DISCARD);
	assert_true(produce((size_t)2 << 20, 0));
	assert_true(produce(64, 1));
	assert_true(produce((size_t)4 << 20, 2));
	assert_int_equal(take(), 0);
	assert_int_equal(take(), 1);
	assert_int_equal(take(), 2);
	consume();
	assert_true(produce((size_t)3 << 20, 3)); /* over the end */
	assert_true(produce(64, 4));
	assert_int_equal(ct_ring_open(&session, 3, &fd), CTRACE_OK);
	assert_int_equal(ct_ring_read_head(fd, 3, &head), CTRACE_OK);
	assert_int_equal(ct_ring_count_waiting(fd, &head, &classes, &(uint64_t){ 0 }), 2);
	(void)close(fd);
	ct_ring_close(&ring);
	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_OK);
	assert_int_equal(ct_ring_count_pending(&ring, &classes), 2);
	assert_int_equal(take(), 3);
	assert_int_equal(take(), 4);
	assert_int_equal(take(), UINT32_MAX);
	ct_ring_close(&ring);
}

static void what_was_committed_can_be_loaded_and_nothing_more(void **state)
{
	uint32_t expected = 0;

	(void)state;
	make_file_ring(CT_OVERFLOW_DISCARD);
	for (uint32_t number = 0; number < 5000; number++) {
		while (!produce(200, number)) {
			assert_int_equal(take(), expected++);
			consume();
		}
	}
	assert_int_equal(take(), expected++);
	consume();
	assert_true(reserve(64));
	fill_event(thread_buffer.cur, 64, 9999); /* not committed */
	ct_ring_close(&ring);

	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_OK);
	assert_false(ring.is_mapped);
	assert_int_equal(ct_ring_count_pending(&ring, &classes), 5000 - expected);
	assert_same_in_parts(5000 - expected);
	for (; expected < 5000; expected++)
		assert_int_equal(take(), expected);
	assert_int_equal(take(), UINT32_MAX);
	ct_ring_close(&ring);
}

static void an_overwrite_ring_loads_from_its_oldest_on(void **state)
{
	struct ct_ring copy;
	unsigned char bytes[8];
	uint32_t taken = 0;

	(void)state;
	make_file_ring(CT_OVERFLOW_OVERWRITE);
	for (uint32_t number = 0; number < 5000; number++)
		assert_true(produce(200, number));
	/* where it is, as a private one must be */
	assert_int_equal(ct_ring_copy_private(&copy, &ring), CTRACE_OK);
	ct_ring_copy_racing(bytes, ring.data, sizeof bytes);
	assert_memory_equal(bytes, ring.data, sizeof bytes);
	ct_ring_close(&ring);
	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_OK);
	assert_int_equal(ct_ring_count_pending(&copy, &classes),
			 ct_ring_count_pending(&ring, &classes));
	assert_true(ct_ring_count_pending(&copy, &classes) > 200);
	assert_memory_equal(copy.head, ring.head, sizeof *ring.head);
	assert_memory_equal(copy.data, ring.data, ring.capacity);
	ct_ring_close(&copy);
	while (take() != UINT32_MAX)
		taken++;
	assert_int_equal(taken + place.overwritten, 5000);
	assert_true(taken > 200);
	ct_ring_close(&ring);
}

static void an_empty_ring_costs_no_memory_to_load(void **state)
{
	struct ct_ring *rings = calloc(64, sizeof *rings);
	struct rusage before, after;

	(void)state;
	assert_non_null(rings);
	make_file_ring(CT_OVERFLOW_DISCARD);
	ct_ring_close(&ring);
	memset(&thread_buffer, 0, sizeof thread_buffer);
	assert_int_equal(ct_ring_create(&ring, &session, 3, (size_t)4 << 20), CTRACE_OK);
	ring.head->is_imported = 1; /* the times are the fixture's own */
	assert_true(produce(200, 0));
	assert_int_equal(take(), 0);
	consume();
	ct_ring_close(&ring);
	assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
	for (int i = 0; i < 64; i++)
		assert_int_equal(ct_ring_load(&rings[i], &session, 3), CTRACE_OK);
	assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
	assert_true(after.ru_maxrss - before.ru_maxrss < 16 << 10); /* KB, of 256 MB */
	for (int i = 0; i < 64; i++)
		ct_ring_close(&rings[i]);
	free(rings);
}

static void make_dead_ring(void)
{
	make_file_ring(CT_OVERFLOW_DISCARD);
	for (uint32_t number = 0; number < 500; number++) {
		while (!produce(200, number)) {
			(void)take();
			consume();
		}
	}
	ct_ring_close(&ring);
}

/* As a recoverer and a reader would. */
static void walk(void)
{
	uint64_t limit = ct_ring_head_position(&ring);
	struct ct_cursor_place at = { .position = ring.head->tail };

	while (at.position < limit) {
		struct ct_event event;
		enum ctrace_status status;

		ct_buf_clear(&scratch);
		status = ct_ring_peek(&ring, &classes, &at, limit, &scratch, &event);

		if (status == CTRACE_DAMAGED)
			break;
		if (status == CTRACE_NOT_FOUND)
			continue;
		if (!event.is_mark) {
			static struct ctrace_event_item items[CTRACE_MAX_ITEMS];

			ct_event_items(&event, items);
			for (uint32_t i = 0; i < event.item_count; i++)
				for (uint32_t b = 0; b < items[i].size; b++)
					(void)*((const volatile char *)items[i].data + b);
		}
		ct_ring_pass(&at, &event);
	}
	(void)ct_ring_count_pending(&ring, &classes);
	(void)ct_ring_count_overwritten(&ring);
	(void)ct_ring_lost_total(&ring);
}

static void a_file_cut_anywhere_is_damaged_or_shorter(void **state)
{
	static const off_t ends[] = { 65536 + 4095, 65536, 40000, 5000, 4097, 4096,
				      4095,         1000,  64,    8,    7,    0 };
	uint64_t before = UINT64_MAX, count;

	(void)state;
	make_dead_ring();
	for (size_t i = 0; i < CT_COUNT(ends); i++) {
		assert_int_equal(truncate(ring_path, ends[i]), 0);
		if (ends[i] < (off_t)CT_RING_HEAD_SIZE) {
			assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_DAMAGED);
			continue;
		}
		assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_OK);
		count = ct_ring_count_pending(&ring, &classes);
		assert_true(count <= before);
		before = count;
		ct_ring_close(&ring);
	}
}

/* What is missing costs the events in it, and those up to the next mark. */
static void a_ring_that_was_cut_a_little_has_nearly_all_events(void **state)
{
	struct ct_session_head *head = calloc(1, sizeof *head);
	uint64_t whole, waiting, unreadable = 0;
	struct ct_ring_head words;
	struct ct_buf why;
	int fd;

	(void)state;
	assert_non_null(head);
	make_dead_ring();
	head->ring_count = 4;
	for (unsigned i = 0; i < 3; i++)
		head->ring_place[i] = CT_RING_SETTLED;
	session.head = head;
	ct_buf_init(&why);
	assert_int_equal(ct_ring_explain_damage(&session, &why), 0);
	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_OK);
	whole = ct_ring_count_pending(&ring, &classes);
	ct_ring_close(&ring);
	assert_int_equal(truncate(ring_path, CT_RING_HEAD_SIZE + CAPACITY - 768), 0);
	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_OK);
	assert_int_equal(ct_ring_open(&session, 3, &fd), CTRACE_OK);
	assert_int_equal(ct_ring_read_head(fd, 3, &words), CTRACE_OK);
	waiting = ct_ring_count_waiting(fd, &words, &classes, &unreadable);
	(void)close(fd);
	assert_true(waiting > 0 && waiting < whole);
	assert_true(unreadable >= 768);
	assert_int_equal(ct_ring_count_pending(&ring, &classes), waiting);
	ct_ring_close(&ring);
	assert_int_equal(ct_ring_explain_damage(&session, &why), 1);
	assert_non_null(strstr(ct_buf_text(&why), "ring.3: "));
	ct_buf_clear(&why);
	assert_int_equal(unlink(ring_path), 0);
	assert_int_equal(ct_ring_explain_damage(&session, &why), 1);
	assert_string_equal(ct_buf_text(&why), "ring.3 is missing");
	ct_buf_fini(&why);
	session.head = NULL;
	free(head);
}

static void events_begin_again_at_the_next_mark(void **state)
{
	const uint64_t marks[CT_RING_ANCHORS] = { 900, 100, 500 };

	(void)state;
	assert_int_equal(ct_ring_next_mark(marks, 0, 1000), 100);
	assert_int_equal(ct_ring_next_mark(marks, 100, 1000), 500);
	assert_int_equal(ct_ring_next_mark(marks, 900, 1000), 1000);
	assert_int_equal(ct_ring_next_mark(marks, 501, 800), 800);
}

static void any_byte_of_the_head_or_the_data_may_be_changed(void **state)
{
	static unsigned char original[CT_RING_HEAD_SIZE + CAPACITY];
	uint64_t seed = 88172645463325252u;
	unsigned loaded = 0;
	int fd;

	(void)state;
	make_dead_ring();
	fd = open(ring_path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, original, sizeof original, 0), (ssize_t)sizeof original);
	for (int round = 0; round < 6000; round++) {
		size_t at;
		unsigned char byte;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		at = (size_t)(seed >> 8) % (round % 2 == 0 ? 400 : sizeof original);
		byte = round % 3 == 0   ? 0xFF
		       : round % 3 == 1 ? CT_OVERFLOW_OVERWRITE
					: (unsigned char)seed;
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		if (ct_ring_load(&ring, &session, 3) == CTRACE_OK) {
			walk();
			ct_ring_close(&ring);
			loaded++;
		}
		assert_int_equal(pwrite(fd, original + at, 1, (off_t)at), 1);
	}
	assert_true(loaded > 1000);
	assert_int_equal(close(fd), 0);
}

static void positions_that_contradict_each_other_are_damage(void **state)
{
	static const struct {
		uint64_t head, tail, oldest;
		uint32_t overflow;
		enum ctrace_status expected;
	} rows[] = {
		{ 800, 0, 0, CT_OVERFLOW_DISCARD, CTRACE_OK },
		{ 800, 800, 0, CT_OVERFLOW_DISCARD, CTRACE_OK },
		{ CAPACITY, 0, 0, CT_OVERFLOW_BLOCK, CTRACE_OK },
		{ CAPACITY + 8, 0, 0, CT_OVERFLOW_BLOCK, CTRACE_DAMAGED },
		{ CAPACITY + 8, 0, 8, CT_OVERFLOW_OVERWRITE, CTRACE_OK },
		{ CAPACITY + 8, 0, 0, CT_OVERFLOW_OVERWRITE, CTRACE_DAMAGED },
		{ 800, 808, 0, CT_OVERFLOW_DISCARD, CTRACE_DAMAGED },
		{ 800, 0, 808, CT_OVERFLOW_OVERWRITE, CTRACE_DAMAGED },
		{ UINT64_MAX, 0, 0, CT_OVERFLOW_DISCARD, CTRACE_DAMAGED },
		{ 0, UINT64_MAX, 0, CT_OVERFLOW_DISCARD, CTRACE_DAMAGED },
	};

	(void)state;
	for (size_t i = 0; i < CT_COUNT(rows); i++) {
		make_file_ring(rows[i].overflow);
		ring.head->head = rows[i].head;
		ring.head->tail = rows[i].tail;
		ring.head->oldest = rows[i].oldest;
		ct_ring_close(&ring);
		assert_int_equal(ct_ring_load(&ring, &session, 3), rows[i].expected);
		if (rows[i].expected == CTRACE_OK) {
			walk();
			ct_ring_close(&ring);
		}
	}
}

static void constants_that_cannot_be_are_damage(void **state)
{
	static const uint64_t capacities[] = {
		0,          8,         CT_RING_MIN / 2, CT_RING_MIN + 8, (uint64_t)CT_RING_MAX * 2,
		UINT64_MAX, 1ull << 63
	};
	uint64_t magic = 1;
	uint32_t number = 4;

	(void)state;
	for (size_t i = 0; i < CT_COUNT(capacities); i++) {
		make_file_ring(CT_OVERFLOW_DISCARD);
		ring.head->capacity = capacities[i];
		ct_ring_close(&ring);
		assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_DAMAGED);
	}
	make_dead_ring();
	poke_file(ring_path, offsetof(struct ct_ring_head, index), &number, 4);
	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_DAMAGED);
	make_dead_ring();
	number = CT_RING_VERSION + 1;
	poke_file(ring_path, offsetof(struct ct_ring_head, version), &number, 4);
	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_DAMAGED);
	make_dead_ring();
	poke_file(ring_path, 0, &magic, 8);
	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_DAMAGED);
}

static void links_and_pipes_in_its_place_are_refused_without_waiting(void **state)
{
	(void)state;
	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_NOT_FOUND);
	make_dead_ring();
	assert_int_equal(symlink("ring.3", "run/s/ring.4"), 0);
	assert_int_equal(ct_ring_load(&ring, &session, 4), CTRACE_DENIED);
	assert_int_equal(mkfifo("run/s/ring.5", 0600), 0);
	assert_int_not_equal(ct_ring_load(&ring, &session, 5), CTRACE_OK);
	/* Nor is it written to: such a ring is memory. */
	assert_int_equal(ct_ring_create(&ring, &session, 4, CAPACITY), CTRACE_OK);
	assert_int_equal(ring.place, CT_RING_PRIVATE);
	ct_ring_close(&ring);
	assert_true(exists("run/s/ring.4"));
}

static void memory_and_disk_that_fail_say_so_and_leave_nothing_open(void **state)
{
	int before, after;

	(void)state;
	make_dead_ring();
	before = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(close(before), 0);
	for (unsigned skip = 0; skip < 2; skip++) {
		ct_os_fail(CT_OS_READ, skip, 1, EIO);
		assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_OS_ERROR);
	}
	ct_os_fail(CT_OS_MAP, 0, 1, ENOMEM);
	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_NOT_ENOUGH_MEMORY);
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(after, before);
	assert_int_equal(close(after), 0);
}

static void a_changed_part_is_written_back(void **state)
{
	(void)state;
	make_dead_ring();
	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_OK);
	ring.head->cursor[31].next_sequence = 77;
	assert_int_equal(
		ct_ring_persist(&ring, &ring.head->cursor[31], sizeof ring.head->cursor[31]),
		CTRACE_OK);
	ct_os_fail(CT_OS_WRITE, 0, 1, EIO);
	assert_int_equal(ct_ring_persist(&ring, &ring.head->tail, 8), CTRACE_OS_ERROR);
	ct_ring_close(&ring);
	assert_int_equal(ct_ring_load(&ring, &session, 3), CTRACE_OK);
	assert_int_equal(ring.head->cursor[31].next_sequence, 77);
	ct_ring_close(&ring);
	ct_ring_close(&ring); /* a second time does no harm */
}

int test_ring_file(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_ring_is_a_file_of_real_blocks_for_us_alone,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_of_the_program_is_never_mapped, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(making_one_leaves_no_descriptor_open, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			where_there_is_no_room_it_is_half_as_large_and_so_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(it_leaves_room_for_the_outputs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(where_no_file_can_be_had_it_is_private_memory,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_private_one_is_nobody_elses_to_read, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_file_size_limit_of_the_program_makes_the_ring_smaller, set_up, tear_down),
		cmocka_unit_test_setup_teardown(large_events_are_counted_and_loaded, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_was_committed_can_be_loaded_and_nothing_more,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_overwrite_ring_loads_from_its_oldest_on, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_empty_ring_costs_no_memory_to_load, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_file_cut_anywhere_is_damaged_or_shorter, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_ring_that_was_cut_a_little_has_nearly_all_events,
						set_up, tear_down),
		cmocka_unit_test(events_begin_again_at_the_next_mark),
		cmocka_unit_test_setup_teardown(any_byte_of_the_head_or_the_data_may_be_changed,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(positions_that_contradict_each_other_are_damage,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(constants_that_cannot_be_are_damage, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			links_and_pipes_in_its_place_are_refused_without_waiting, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			memory_and_disk_that_fail_say_so_and_leave_nothing_open, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_changed_part_is_written_back, set_up, tear_down),
		cmocka_unit_test(a_capacity_is_a_power_of_two_within_the_limits),
		cmocka_unit_test_setup_teardown(a_position_goes_round_the_ring, set_up, tear_down),
		cmocka_unit_test(what_a_ring_is_is_copied_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
