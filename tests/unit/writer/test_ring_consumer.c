/*
 * test_ring_consumer.c - a traced process's session and rings in the hands of a writer: mapped,
 * locked, consumed, given back.
 *
 * The session is this process's own; the writer's side of it is mapped a second time, as another
 * process would.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../session/session_fixture.h"
#include "../format/class_fixture.h"
#include "writer/ring_consumer.h"

#include <fcntl.h>
#include <pthread.h>

#define RINGS 4u
#define NUMBER 3u
#define BASE (CT_WRITER_SLOT + 2u)

static const struct ct_link_request wanted = { .number = NUMBER, .held_by = BASE };
static struct ct_session session;
static struct ct_ring rings[RINGS];
static struct ctrace_thread_buffer thread_buffers[RINGS];
static struct ct_procedure procedure;
static struct ct_trcout_group group;
static struct ct_link *links[CT_LINK_LIMIT];
static uint32_t link_count;
static uint32_t stop;
static uint32_t next_number;

static void ignore(const char *text, void *user)
{
	(void)user;
	fail_msg("%s", text);
}

static int setup(void **state)
{
	uint32_t index;

	(void)state;
	enter_room();
	memset(&procedure, 0, sizeof procedure);
	procedure.trcout_count = 2;
	link_count = next_number = stop = 0;
	for (uint32_t i = 0; i < 2; i++) {
		procedure.number[i] = i + 1;
		procedure.trcout[i].primary = 100 << 20;
		(void)snprintf(procedure.trcout[i].path, sizeof procedure.trcout[i].path,
			       "%s/data%u", room, i);
	}
	group = (struct ct_trcout_group){ .procedure = &procedure,
					  .stop = &stop,
					  .links = links,
					  .link_count = &link_count,
					  .message = ignore };
	(void)pthread_mutex_init(&group.lock, NULL);
	assert_int_equal(ct_trcout_group_open(&group, &index), CTRACE_OK);
	assert_int_equal(ct_session_create(&session, run_dir), CTRACE_OK);
	ct_shared_sync_start(&session.head->sync);
	assert_int_equal(ct_session_reserve_component(&session, 0), CTRACE_OK);
	assert_int_equal(ct_session_add_text(&session, "KVS.NET", 7, &session.components[0].name),
			 CTRACE_OK);
	session.components[0].flags = CT_COMPONENT_DEFINED;
	session.components[0].writer = NUMBER;
	ct_session_commit_component(&session, 0);
	memset(thread_buffers, 0, sizeof thread_buffers);
	for (uint32_t i = 0; i < RINGS; i++) {
		(void)snprintf(session.head->dest[BASE].emitter, 32, "BINFILE");
		assert_int_equal(ct_ring_create(&rings[i], &session, i, CT_RING_MIN), CTRACE_OK);
		rings[i].head->held_by = rings[i].head->wanted = BASE;
		session.head->ring_count = i + 1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ct_trcout_group_close(&group);
	for (uint32_t i = 0; i < RINGS; i++)
		ct_ring_close(&rings[i]);
	ct_session_close(&session, true);
	leave_room();
	return 0;
}

static struct ct_link *take_in(void)
{
	struct ct_link *link;
	int directory = open(session.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(ct_link_create(directory, &wanted, &link), CTRACE_OK);
	links[link_count++] = link;
	return link;
}

static void produce(uint32_t ring, uint32_t count)
{
	const struct ctrace_item item = CTRACE_BIN("0123456789", 10);
	struct ctrace_thread_buffer *thread_buffer = &thread_buffers[ring];
	const struct ct_class_image classes = ct_session_classes(&session);
	static struct ct_classes known;

	if (known.table != session.classes || session.classes->used == sizeof *session.classes)
		memset(&known, 0, sizeof known);
	known.table = session.classes;
	for (uint32_t i = 0; i < count; i++) {
		struct ct_event_head head = { .event_id = next_number++, .level = 1 };
		uint32_t number = class_of(&known, 0, 1, head.event_id, &item, 1);
		size_t size = ct_event_size(number, &item, 1);

		if ((uintptr_t)thread_buffer->cur + size > (uintptr_t)thread_buffer->end)
			assert_true(ct_ring_open_window(&rings[ring], thread_buffer, &classes, 1,
							size));
		ct_event_encode(thread_buffer->cur, number, ct_clock_ticks(), &head, &item, 1);
		thread_buffer->cur += size;
		__atomic_store_n(thread_buffer->head,
				 (uint64_t)(uintptr_t)thread_buffer->cur + thread_buffer->bias,
				 __ATOMIC_RELEASE);
	}
}

static uint64_t rounds(void)
{
	bool more;

	return ct_ring_consumer_round(&group, &more);
}

static void all_rings_go_to_the_open_trcout(void **state)
{
	struct ct_link *link = take_in();

	(void)state;
	for (uint32_t i = 0; i < RINGS; i++)
		produce(i, 10 + i);
	assert_int_equal(rounds(), 46);
	assert_int_equal(rounds(), 0);
	assert_int_equal(group.trcout[0].events, 46);
	assert_int_equal(group.trcout[1].events, 0);
	for (uint32_t i = 0; i < RINGS; i++)
		assert_true(ct_ring_is_empty(&rings[i]));
	assert_int_equal(session.components[0].delivered, 46);
	ct_link_destroy(link);
}

static void a_ring_of_the_consumer_threads_is_left_alone(void **state)
{
	struct ct_link *link = take_in();

	(void)state;
	rings[1].head->held_by = 0;
	rings[2].head->held_by = CT_WRITER_SLOT; /* another writer's */
	for (uint32_t i = 0; i < RINGS; i++)
		produce(i, 5);
	assert_int_equal(rounds(), 10);
	assert_false(ct_ring_is_empty(&rings[1]));
	assert_false(ct_ring_is_empty(&rings[2]));
	ct_link_destroy(link);
}

static void the_lock_says_that_the_writer_lives(void **state)
{
	struct ct_link *link = take_in();
	struct ct_link *other;

	(void)state;
	assert_true(ct_session_writer_lives(&session, NUMBER));
	assert_false(ct_session_writer_lives(&session, NUMBER + 1));
	assert_int_equal(ct_link_create(open(session.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
					&wanted, &other),
			 CTRACE_TIMED_OUT);
	assert_true(ct_session_writer_lives(&session, NUMBER));
	ct_link_destroy(link);
	assert_false(ct_session_writer_lives(&session, NUMBER));
}

static void released_it_writes_what_was_committed_and_is_done(void **state)
{
	struct ct_link *link = take_in();

	(void)state;
	for (uint32_t i = 0; i < RINGS; i++)
		produce(i, 5);
	__atomic_store_n(&link->release, CT_RELEASE_FLUSH, __ATOMIC_RELEASE);
	assert_int_equal(rounds(), 20);
	(void)rounds();
	assert_int_equal(link->done, 1);
	for (uint32_t i = 0; i < RINGS; i++)
		assert_int_equal(rings[i].head->held_by, 0);
	ct_link_destroy(link);
}

static struct ct_link *take_in_connection(uint32_t connection)
{
	struct ct_link_request request = wanted;
	struct ct_link *link;
	int directory = open(session.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	request.connection = connection;
	assert_int_equal(ct_link_create(directory, &request, &link), CTRACE_OK);
	links[link_count++] = link;
	return link;
}

static void nothing_is_taken_before_the_process_has_accepted(void **state)
{
	struct ct_link *link = take_in_connection(2);

	(void)state;
	session.head->writer[NUMBER].connection = 1;
	produce(0, 5);
	assert_int_equal(rounds(), 0);
	session.head->writer[NUMBER].connection = 2;
	assert_int_equal(rounds(), 5);
	session.head->writer[NUMBER].connection = 3; /* the socket announces the end, not this */
	produce(0, 6);
	assert_int_equal(rounds(), 6);
	ct_link_destroy(link);
}

/* The process has perhaps given the destination to another writer, which has its losses, too. */
static void a_connection_that_was_given_up_leaves_everything(void **state)
{
	uint64_t sequence = session.head->dest[BASE].sequence;
	struct ct_link *link = take_in_connection(2);

	(void)state;
	produce(0, 5);
	session.head->dest[BASE].lost[CTRACE_LOSS_DISCARDED] = 4;
	__atomic_store_n(&link->release, CT_RELEASE_FLUSH, __ATOMIC_RELEASE);
	assert_int_equal(rounds(), 0);
	assert_int_equal(link->done, 1);
	link_count--;
	ct_link_destroy(link);
	assert_int_equal(rings[0].head->held_by, BASE);
	assert_false(ct_ring_is_empty(&rings[0]));
	assert_int_equal(session.head->dest[BASE].sequence, sequence);
	assert_int_equal(group.trcout[0].events, 0);
}

static void a_ring_that_is_made_later_is_mapped(void **state)
{
	struct ct_link *link;

	(void)state;
	session.head->ring_count = 2;
	link = take_in();
	assert_int_equal(rounds(), 0);
	assert_int_equal(link->rings, 2);
	session.head->ring_count = RINGS;
	produce(3, 7);
	assert_int_equal(rounds(), 7);
	assert_int_equal(link->rings, RINGS);
	ct_link_destroy(link);
}

static void what_is_no_ring_costs_itself(void **state)
{
	struct ct_link *link;

	(void)state;
	rings[1].head->magic = 0;
	rings[3].head->tail = 8; /* beyond its head */
	link = take_in();
	produce(0, 3);
	produce(2, 4);
	assert_int_equal(rounds(), 7);
	rings[3].head->tail = 0;
	ct_link_destroy(link);
}

static void a_session_that_is_none_is_refused(void **state)
{
	struct ct_link *link;
	char path[600];

	(void)state;
	assert_int_equal(ct_link_create(-1, &wanted, &link), CTRACE_DENIED);
	(void)snprintf(path, sizeof path, "%s/empty", room);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(
		ct_link_create(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &wanted, &link),
		CTRACE_NOT_FOUND);
	(void)snprintf(path, sizeof path, "%s/empty/session", room);
	put_file(path, "short", 5);
	(void)snprintf(path, sizeof path, "%s/empty", room);
	assert_int_equal(
		ct_link_create(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), &wanted, &link),
		CTRACE_DAMAGED);
	session.head->version++;
	assert_int_equal(ct_link_create(open(session.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
					&wanted, &link),
			 CTRACE_UNSUPPORTED);
	session.head->version--;
}

static void it_tells_who_is_connected(void **state)
{
	struct ct_link *link = take_in();
	struct ct_link_state reported;

	(void)state;
	produce(0, 9);
	(void)rounds();
	ct_link_describe(link, &reported);
	assert_int_equal(reported.size, sizeof reported);
	assert_int_equal(reported.pid, getpid());
	assert_int_equal(reported.rings, 1); /* the others have had no event */
	assert_int_equal(reported.events, 9);
	assert_string_equal(reported.traces, "KVS.NET");
	assert_string_equal(reported.jobname, session.head->jobname);
	session.components[0].level_word.level = CTRACE_LEVEL_NONE; /* off: it sends nothing */
	ct_link_describe(link, &reported);
	assert_string_equal(reported.traces, "");
	ct_link_destroy(link);
}

/* A process that writes over its own heads while we have them. */
static void a_head_that_is_scribbled_over_costs_itself(void **state)
{
	struct ct_link *link = take_in();

	(void)state;
	produce(0, 5);
	produce(1, 5);
	assert_int_equal(rounds(), 10);
	rings[0].head->index = 0xFFFFFFF0;
	rings[2].head->index = 4711;
	produce(0, 5);
	produce(2, 5);
	assert_int_equal(rounds(), 10);
	rings[0].head->held_by = 0xFFFFFFFF;
	rings[1].head->wanted = 0xFFFFFFFF;
	produce(3, 5);
	assert_int_equal(rounds(), 5);
	rings[0].head->held_by = BASE;
	memset(rings[0].head, 0xFF, 256);
	rings[0].head->held_by = BASE;
	produce(3, 5);
	(void)rounds();
	__atomic_store_n(&link->release, CT_RELEASE_NOW, __ATOMIC_RELEASE);
	(void)rounds();
	(void)rounds();
	assert_int_equal(link->done, 1);
	assert_true(ct_ring_is_empty(&rings[3]));
	ct_link_destroy(link);
	memset(rings[0].head, 0, 256);
}

/* ---- a process that writes into its files what it likes, all the time ---- */

#define SCRIBBLED_ROUNDS 2000u

static uint32_t scribbled_enough; /* atomic */

static const uint64_t extremes[] = {
	0,
	1,
	7,
	8,
	64,
	CT_RING_MIN - 1,
	CT_RING_MIN,
	CT_RING_MIN + 8,
	0xFFFFFF,
	INT32_MAX,
	UINT32_MAX - 7,
	UINT32_MAX,
	INT64_MAX,
	UINT64_MAX - 7,
	UINT64_MAX,
};

static void scribble_word(void *at, uint64_t value, bool is_wide)
{
	if (is_wide)
		__atomic_store_n((uint64_t *)at, value, __ATOMIC_RELAXED);
	else
		__atomic_store_n((uint32_t *)at, (uint32_t)value, __ATOMIC_RELAXED);
}

static void scribble_ring(struct ct_ring *ring, uint64_t which, uint64_t value)
{
	struct ct_ring_head *head = ring->head;
	uint64_t *positions[] = { &head->head,         &head->tail,           &head->oldest,
				  &head->oldest_count, &head->oldest_version, &head->consumed,
				  &head->overwritten };
	uint32_t *constants[] = { &head->overflow, &head->channel, &head->kept,
				  &head->is_side,  &head->index,   &head->is_imported,
				  &head->wanted,   &head->waiting };
	uint64_t *cursor = (uint64_t *)(void *)&head->cursor[BASE];
	uint64_t *data = (uint64_t *)(void *)ring->data;

	switch (which / 2 % 8) {
	case 0:
		scribble_word(positions[which / 16 % CT_COUNT(positions)], value, true);
		break;
	case 1:
		scribble_word(constants[which / 16 % CT_COUNT(constants)], value, false);
		break;
	case 2:
		scribble_word(&cursor[which / 16 % (sizeof head->cursor[0] / 8)], value, true);
		break;
	/* a whole event of any component, so that something is read: one item of 40 bytes */
	case 3:
		memset(data, 0, 64);
		memcpy(ring->data, &(uint16_t){ CT_CLASS_ANY }, 2);
		memcpy(ring->data + CT_EVENT_HEAD, &value, 4);
		ring->data[CT_EVENT_HEAD + 9] = 1;
		ring->data[CT_EVENT_HEAD + 12] = 40;
		scribble_word(&head->wanted, BASE, false);
		/* a writer that has no ring reads none */
		scribble_word(&head->held_by, BASE, false);
		scribble_word(&head->tail, 0, true);
		scribble_word(&head->oldest, 0, true);
		scribble_word(&head->head, which % 16 < 8 ? 64 : (uint64_t)1 << 62, true);
		break;
	case 4: /* its item's size, back and forth */
		memcpy(ring->data + CT_EVENT_HEAD + 12,
		       which % 16 < 8 ? (const void *)&value : &(uint32_t){ 40 }, 4);
		break;
	default: /* heads and items of events */
		scribble_word(&data[which / 16 % (CT_RING_MIN / 8)],
			      which % 3 != 0 ? value : (value >> 1 & 0x00FF00FF00FF00FFu), true);
	}
}

static void scribble_session(uint64_t which, uint64_t value)
{
	struct ct_session_head *head = session.head;
	struct ct_sync *sync;
	struct ct_dest *dest = &head->dest[BASE];
	uint64_t *classes = (uint64_t *)(void *)session.classes;

	switch (which / 2 % 9) {
	case 0:
		scribble_word(&head->component_count, value, false);
		break;
	case 1:
		scribble_word(&head->texts_size, value, true);
		break;
	case 2:
		scribble_word(&head->ring_count, value, false);
		break;
	case 3:
		scribble_word(&dest->sequence, value, true);
		break;
	case 4:
		scribble_word(&session.components[0].name, value, true);
		break;
	case 5:
		memset(which % 3 == 0 ? head->jobname : head->program, 'x', sizeof head->jobname);
		__atomic_store_n(&head->has_paths, UINT32_MAX, __ATOMIC_RELAXED);
		memset(session.paths[dest - head->dest].at, 'x', sizeof session.paths[0].at);
		break;
	case 7: /* the count of the classes, and the first of them */
		scribble_word(&classes[which / 18 % 2 == 0 ? 0 : 32 + which / 36 % 64], value,
			      true);
		break;
	case 6:
		sync = &head->sync.slot[which / 2 % 2];
		scribble_word(which % 2 == 0 ? &sync->epoch_count : &sync->point_count, value,
			      false);
		break;
	default:
		scribble_word(&dest->settings, value, true);
	}
}

static void *scribble(void *user)
{
	uint64_t random = 88172645463325252u;

	(void)user;
	while (__atomic_load_n(&scribbled_enough, __ATOMIC_ACQUIRE) == 0) {
		uint64_t value;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		value = extremes[random >> 50 & 7 ? (random >> 40) % CT_COUNT(extremes) : 0];
		if (random % 8 == 0)
			scribble_session(random >> 8 & 0xFFFFFFF, value);
		else
			scribble_ring(&rings[random >> 36 & (RINGS - 1)], random >> 8 & 0xFFFFFFF,
				      value);
	}
	return NULL;
}

static void say_nothing(const char *text, void *user)
{
	(void)text;
	(void)user;
}

/* No destination of the writer's was finished: the number that says so is 0, and so is the one
 * behind the largest sequence. */
static void an_impossible_sequence_finishes_nothing(void **state)
{
	const uint32_t other = CT_DEST_LIMIT - 1;
	struct ct_session_head *intact = malloc(sizeof *intact);
	struct ct_link *link;

	(void)state;
	assert_non_null(intact);
	*intact = *session.head;
	produce(0, 10);
	link = take_in();
	assert_int_equal(rounds(), 10);
	session.head->dest[other] = session.head->dest[CT_WRITER_SLOT];
	(void)snprintf(session.head->dest[other].emitter, sizeof session.head->dest[other].emitter,
		       "X");
	session.head->dest[other].active = 1;
	session.head->dest[other].sequence = UINT64_MAX;
	session.head->has_paths = UINT32_MAX;
	for (uint32_t i = 0; i < 2; i++)
		(void)snprintf(session.paths[other].at[i], sizeof session.paths[other].at[i], "x");
	rings[0].head->lost_to[other] = 5;
	__atomic_store_n(&link->release, CT_RELEASE_NOW, __ATOMIC_RELEASE);
	(void)rounds();
	ct_link_destroy(link);
	*session.head = *intact;
	free(intact);
}

static void a_process_that_scribbles_all_the_time_harms_nobody_else(void **state)
{
	struct ct_session_head *intact = malloc(sizeof *intact);
	struct ct_link *link;
	struct ct_link_state reported;
	pthread_t thread;

	(void)state;
	assert_non_null(intact);
	*intact = *session.head;
	group.message = say_nothing;
	/* One with an overwrite ring, and events to begin with. */
	rings[1].head->overflow = rings[1].overflow = CT_OVERFLOW_OVERWRITE;
	for (uint32_t i = 0; i < RINGS; i++)
		produce(i, 500);
	link = take_in();
	assert_int_equal(rounds(), RINGS * 500);
	scribbled_enough = 0;
	assert_int_equal(pthread_create(&thread, NULL, scribble, NULL), 0);
	for (uint32_t i = 0; i < SCRIBBLED_ROUNDS; i++) {
		(void)rounds();
		ct_link_describe(link, &reported);
		assert_int_equal(reported.pid, getpid());
		assert_true(memchr(reported.jobname, '\0', sizeof reported.jobname) != NULL);
	}
	__atomic_store_n(&scribbled_enough, 1, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
	__atomic_store_n(&link->release, CT_RELEASE_NOW, __ATOMIC_RELEASE);
	(void)rounds();
	ct_link_destroy(link);
	*session.head = *intact;
	free(intact);
}

int test_ring_consumer(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(all_rings_go_to_the_open_trcout),
		TEST(a_ring_of_the_consumer_threads_is_left_alone),
		TEST(the_lock_says_that_the_writer_lives),
		TEST(released_it_writes_what_was_committed_and_is_done),
		TEST(nothing_is_taken_before_the_process_has_accepted),
		TEST(a_connection_that_was_given_up_leaves_everything),
		TEST(a_ring_that_is_made_later_is_mapped),
		TEST(what_is_no_ring_costs_itself),
		TEST(a_session_that_is_none_is_refused),
		TEST(it_tells_who_is_connected),
		TEST(a_head_that_is_scribbled_over_costs_itself),
		TEST(an_impossible_sequence_finishes_nothing),
		TEST(a_process_that_scribbles_all_the_time_harms_nobody_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
