/*
 * test_write_buffer.c - CTRACEWR: each refusal, what becomes of entries, and the accounting that
 * balances.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../process/process_fixture.h"

#include "lib/component/component.h"

#define BUFFER_SIZE ((size_t)1 << 20)

static unsigned char buffer[BUFFER_SIZE];
static struct ctrace_tbwc tbwc;
static struct ctrace_write_outcome outcome;
static uint64_t token; /* of the trace whose routine was called last */

static uint32_t take_token(struct ctrace_ctss *ctss)
{
	token = ctss->token;
	return 0;
}

/* A trace that is on, and whose token is in `token`. */
static void define(const char *name, bool wtr, uint8_t wtrmode)
{
	struct ctrace_define define = { CTRACE_DEFINE_INIT, .name = name, .startnam = "WRITESS",
					.mod = CTRACE_YES };

	define.wtr = wtr;
	define.wtrmode = wtrmode;
	CHILD_CHECK(ctrace_routine_register("WRITESS", take_token) == CTRACE_OK);
	CHILD_CHECK(ctrace_component_define(&define, NULL) == CTRACE_RC_OK);
	CHILD_CHECK(
		ctrace_trace_ct(&(struct ctrace_trace_ct){ CTRACE_TRACE_CT_INIT,
							   .state = CTRACE_CT_ON, .name = name },
				NULL) == CTRACE_RC_OK);
}

static void define_usual(void)
{
	define("UNITWR", true, CTRACE_PAGEABLE);
	CHILD_CHECK(ctrace_tbwc_init(&tbwc, buffer, sizeof buffer, CTRACE_PAGEABLE) == CTRACE_OK);
}

static void make_full(uint32_t sequence)
{
	const struct ctrace_tbwc_change change = { .mode = CTRACE_TBWC_FULL, .buffseq = &sequence };

	CHILD_CHECK(ctrace_tbwc_change(&tbwc, &change));
}

/* Entries from first to limit - 1, each with its number as id, and FULL; what they take of the
 * buffer. */
static size_t fill(uint32_t first, uint32_t limit, size_t data_size)
{
	static const unsigned char data[CTRACE_MAX_CTE_DATA];
	size_t used = 0;

	memset(buffer, 0, sizeof buffer);
	for (uint32_t i = first; i < limit; i++)
		CHILD_CHECK(ctrace_cte_add(buffer, sizeof buffer, &used, i, data, data_size));
	make_full(first);
	return used;
}

static uint32_t write_it(size_t bufflen, uint32_t synch)
{
	const struct ctrace_write request = { CTRACE_WRITE_INIT, .synch = synch, .token = token,
					      .tbwc = &tbwc, .bufflen = bufflen };

	memset(&outcome, 0xA5, sizeof outcome);
	return ctrace_write_buffer(&request, &outcome);
}

static bool is_answer(uint32_t rc, uint32_t reason, uint32_t written, uint32_t lost)
{
	bool is_so = outcome.rc == rc && CTRACE_REASON(outcome.rsncode) == reason &&
		     outcome.written == written && outcome.lost == lost;

	if (!is_so)
		(void)fprintf(stderr, "# rc %x, reason %x, %u written, %u lost\n", outcome.rc,
			      outcome.rsncode, outcome.written, outcome.lost);
	return is_so;
}

static bool is_balanced(uint64_t emitted)
{
	struct ctrace_stats now = stats();

	return now.emitted == emitted &&
	       now.emitted == now.delivered + now.pending + lost_total(&now);
}

/* ---- refused ---- */

static void be_refused(size_t bufflen, uint32_t reason)
{
	uint64_t word = tbwc.word;

	CHILD_CHECK(write_it(bufflen, CTRACE_YES) == CTRACE_WR_REFUSED);
	CHILD_CHECK(is_answer(CTRACE_WR_REFUSED, reason, 0, 0));
	CHILD_CHECK(tbwc.word == word);
}

static void each_refusal(void)
{
	struct ctrace_write request = { CTRACE_WRITE_INIT, .tbwc = &tbwc, .bufflen = 1 };
	uint64_t good;
	size_t used;

	define_usual();
	used = fill(99, 102, 10);
	good = request.token = token;
	CHILD_CHECK(ctrace_write_buffer(NULL, &outcome) == CTRACE_WR_REFUSED &&
		    is_answer(CTRACE_WR_REFUSED, CTRACE_WR_TOKEN, 0, 0));
	request.size--;
	CHILD_CHECK(ctrace_write_buffer(&request, NULL) == CTRACE_WR_REFUSED);
	CHILD_CHECK(ctrace_write_buffer(&request, &outcome) == CTRACE_WR_REFUSED &&
		    is_answer(CTRACE_WR_REFUSED, CTRACE_WR_TOKEN, 0, 0));
	for (unsigned bit = 0; bit < 64; bit++) {
		token = good ^ UINT64_C(1) << bit;
		be_refused(used, CTRACE_WR_TOKEN);
	}
	token = good;
	request = (struct ctrace_write){ CTRACE_WRITE_INIT, .token = token, .bufflen = 1 };
	CHILD_CHECK(ctrace_write_buffer(&request, &outcome) == CTRACE_WR_REFUSED &&
		    is_answer(CTRACE_WR_REFUSED, CTRACE_WR_NOT_FULL, 0, 0));
	for (uint64_t state = 0; state <= 5; state++) {
		tbwc.word = state << 32 | 77;
		if (state != CTRACE_TBWC_FULL)
			be_refused(used, CTRACE_WR_NOT_FULL);
	}
	tbwc.word = (uint64_t)CTRACE_TBWC_FULL << 32 | 77;
	be_refused(0, CTRACE_WR_LENGTH);
	be_refused(sizeof buffer + 1, CTRACE_WR_LENGTH);
	be_refused(SIZE_MAX, CTRACE_WR_LENGTH);
	be_refused(used - 1, CTRACE_WR_MALFORMED);
	CHILD_CHECK(outcome.offset == 2 * used / 3);
	buffer[sizeof buffer - 1] = 1;
	be_refused(sizeof buffer, CTRACE_WR_MALFORMED);
	CHILD_CHECK(outcome.offset == used);
	CHILD_CHECK(stats().emitted == 0);
	/* And now nothing is wrong. */
	CHILD_CHECK(write_it(used, CTRACE_NO) == CTRACE_RC_OK && is_answer(CTRACE_RC_OK, 0, 3, 0));
}

static void what_is_not_in_order_is_refused_and_the_buffer_stays_full(void **state)
{
	(void)state;
	assert_int_equal(run_traced(each_refusal), 0);
	assert_lines(99, 102);
}

static void other_traces(void)
{
	uint64_t with_writer;
	size_t used;

	define_usual();
	with_writer = token;
	used = fill(0, 1, 10);
	define("UNITNO", false, 0);
	CHILD_CHECK(token != with_writer);
	be_refused(used, CTRACE_WR_NO_WTR);
	for (uint8_t mode = CTRACE_DREF; mode <= CTRACE_FIXED; mode++) {
		define(mode == CTRACE_DREF ? "UNITDR" : "UNITFI", true, mode);
		be_refused(used, CTRACE_WR_NOT_LOCKED);
		tbwc.is_locked = 1;
		CHILD_CHECK(write_it(used, CTRACE_NO) == CTRACE_RC_OK);
		tbwc.is_locked = 0;
		used = fill(mode, (uint32_t)mode + 1, 10);
	}
	token = with_writer;
	CHILD_CHECK(ctrace_component_delete(
			    &(struct ctrace_delete){ CTRACE_DELETE_INIT, .name = "UNITWR" },
			    NULL) == CTRACE_RC_OK);
	token = with_writer; /* its routine was called once more */
	be_refused(used, CTRACE_WR_TOKEN);
	define_usual();
	token = with_writer;
	make_full(1);
	be_refused(used, CTRACE_WR_TOKEN); /* of a trace of that name that is gone */
}

static void a_trace_takes_what_it_was_defined_for(void **state)
{
	(void)state;
	assert_int_equal(run_traced(other_traces), 0);
	(void)read_lines(3);
	assert_int_equal(seen[0], 1);
	assert_int_equal(seen[CTRACE_DREF], 1);
}

/* ---- written ---- */

static void write_two_buffers(void)
{
	define_usual();
	for (uint32_t i = 0; i < 2; i++) {
		size_t used = fill(1000 * i, 1000 * i + 1000, i * 100);

		errno = 4711;
		CHILD_CHECK(write_it(i == 0 ? used : sizeof buffer, i) == CTRACE_RC_OK &&
			    is_answer(CTRACE_RC_OK, 0, 1000, 0));
		CHILD_CHECK(errno == 4711);
		CHILD_CHECK(outcome.rsncode == 0 && outcome.offset == 0);
		CHILD_CHECK(ctrace_tbwc_state(&tbwc) == CTRACE_TBWC_AVAILABLE);
		CHILD_CHECK(ctrace_tbwc_sequence(&tbwc) == 1000 * i);
	}
	CHILD_CHECK(stats().delivered == 2000); /* the second with SYNCH=YES */
	CHILD_CHECK(is_balanced(2000));
	memset(buffer, 0, sizeof buffer);
	make_full(3);
	/* nothing in it */
	CHILD_CHECK(write_it(sizeof buffer, CTRACE_NO) == CTRACE_RC_OK &&
		    is_answer(CTRACE_RC_OK, 0, 0, 0));
}

static void each_entry_becomes_an_event_and_the_buffer_is_available(void **state)
{
	(void)state;
	assert_int_equal(run_traced(write_two_buffers), 0);
	assert_lines(0, 2000);
}

static void write_while_off(void)
{
	struct ctrace_trace_ct off = { CTRACE_TRACE_CT_INIT, .state = CTRACE_CT_OFF,
				       .name = "UNITWR" };
	size_t used;

	define_usual();
	CHILD_CHECK(ctrace_trace_ct(&off, NULL) == CTRACE_RC_OK);
	used = fill(99, 100, 10);
	CHILD_CHECK(write_it(used, CTRACE_YES) == CTRACE_WR_OFF &&
		    is_answer(CTRACE_WR_OFF, 0, 0, 0));
	CHILD_CHECK(outcome.rsncode == 0 && ctrace_tbwc_state(&tbwc) == CTRACE_TBWC_AVAILABLE &&
		    ctrace_tbwc_sequence(&tbwc) == 99);
	off.state = CTRACE_CT_ON;
	CHILD_CHECK(ctrace_trace_ct(&off, NULL) == CTRACE_RC_OK);
	/* entries are of level INFO */
	CHILD_CHECK(ctrace_level_set("UNITWR", CTRACE_WARN) == CTRACE_OK);
	make_full(1);
	CHILD_CHECK(write_it(used, CTRACE_NO) == CTRACE_WR_OFF &&
		    ctrace_tbwc_state(&tbwc) == CTRACE_TBWC_AVAILABLE);
	CHILD_CHECK(ctrace_level_set("UNITWR", CTRACE_INFO) == CTRACE_OK);
	used = fill(0, 1, 10);
	CHILD_CHECK(write_it(used, CTRACE_NO) == CTRACE_RC_OK);
	CHILD_CHECK(is_balanced(1));
}

static void a_trace_that_is_off_takes_the_buffer_and_writes_nothing(void **state)
{
	(void)state;
	assert_int_equal(run_traced(write_while_off), 0);
	assert_lines(0, 1);
}

/* ---- lost ---- */

static void write_into_a_full_ring(void)
{
	uint64_t kept;

	define_usual();
	/* the ring, and the destination, are there */
	CHILD_CHECK(write_it(fill(0, 1, 10), CTRACE_YES) == CTRACE_RC_OK);
	hold_consumer_thread();
	CHILD_CHECK(write_it(fill(1, 501, 1000), CTRACE_NO) == CTRACE_WR_LOST);
	CHILD_CHECK(CTRACE_REASON(outcome.rsncode) == CTRACE_WR_NO_SPACE);
	CHILD_CHECK(outcome.written > 10 && outcome.written + outcome.lost == 500);
	CHILD_CHECK(ctrace_tbwc_state(&tbwc) == CTRACE_TBWC_AVAILABLE);
	release_consumer_thread();
	CHILD_CHECK(stats().lost[CTRACE_LOSS_DISCARDED] == outcome.lost);
	CHILD_CHECK(is_balanced(501));
	kept = outcome.written;
	put_file("count", &kept, sizeof kept);
}

static void what_finds_no_room_is_counted(void **state)
{
	uint64_t count = 0;
	int fd;

	(void)state;
	configure("ctrace.overflow = discard\nctrace.buffer = 64k\n");
	assert_int_equal(run_traced(write_into_a_full_ring), 0);
	fd = open("count", O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, &count, sizeof count), sizeof count);
	assert_int_equal(close(fd), 0);
	assert_lines(0, (unsigned)count + 1);
}

static void write_more_than_a_ring_takes(void)
{
	size_t used;

	define_usual();
	used = fill(99, 100, CTRACE_MAX_CTE_DATA);
	for (uint32_t i = 0; i < 2; i++)
		CHILD_CHECK(ctrace_cte_add(buffer, sizeof buffer, &used, i, NULL, 0));
	CHILD_CHECK(write_it(used, CTRACE_YES) == CTRACE_WR_LOST &&
		    is_answer(CTRACE_WR_LOST, CTRACE_WR_NO_SPACE, 2, 1));
	CHILD_CHECK(stats().lost[CTRACE_LOSS_TOO_LARGE] == 1);
	CHILD_CHECK(is_balanced(3));
}

static void an_entry_of_more_than_half_a_ring_is_lost_alone(void **state)
{
	(void)state;
	configure("ctrace.buffer = 64k\n");
	assert_int_equal(run_traced(write_more_than_a_ring_takes), 0);
	assert_lines(0, 2);
}

static void *spoil_the_last(void *argument)
{
	const struct ct_ring *ring = NULL;

	/* The writer waits: it has seen all of the buffer once, and has not come to its end. */
	while (ring == NULL || __atomic_load_n(&ring->head->waiting, __ATOMIC_ACQUIRE) == 0)
		for (uint32_t i = 0; i < ct_ring_pool_count(ct_process.pool); i++)
			if (ct_ring_pool_at(ct_process.pool, i)->head->is_imported == 1)
				ring = ct_ring_pool_at(ct_process.pool, i);
	memset(buffer + (uintptr_t)argument, 0xFF, 1018);
	release_consumer_thread();
	return NULL;
}

static void write_while_the_buffer_is_spoilt(void)
{
	pthread_t thread;
	size_t used;

	define_usual();
	CHILD_CHECK(write_it(fill(0, 1, 10), CTRACE_YES) == CTRACE_RC_OK);
	used = fill(1, 501, 1000);
	hold_consumer_thread();
	CHILD_CHECK(pthread_create(&thread, NULL, spoil_the_last, (void *)(used - 1018)) == 0);
	CHILD_CHECK(write_it(used, CTRACE_NO) == CTRACE_WR_LOST &&
		    is_answer(CTRACE_WR_LOST, CTRACE_WR_NO_SPACE, 499, 1));
	CHILD_CHECK(pthread_join(thread, NULL) == 0);
	CHILD_CHECK(stats().lost[CTRACE_LOSS_DAMAGED] == 1);
	CHILD_CHECK(is_balanced(501));
}

static void what_its_owner_spoils_under_our_eyes_is_counted_and_does_no_harm(void **state)
{
	(void)state;
	configure("ctrace.buffer = 64k\nctrace.block.timeout = 60s\n");
	assert_int_equal(run_traced(write_while_the_buffer_is_spoilt), 0);
	assert_lines(0, 500);
}

static void write_into_a_wall(void)
{
	define_usual();
	for (uint32_t synch = CTRACE_NO; synch <= CTRACE_YES; synch++) {
		CHILD_CHECK(write_it(fill(synch, synch + 1, 10), synch) == CTRACE_WR_LOST);
		CHILD_CHECK(is_answer(CTRACE_WR_LOST, CTRACE_WR_OUTPUT, 1, 0));
		CHILD_CHECK(ctrace_tbwc_state(&tbwc) == CTRACE_TBWC_AVAILABLE);
	}
	CHILD_CHECK(unlink("out") == 0 && mkdir("out", 0700) == 0);
	CHILD_CHECK(ctrace_flush(60000) == CTRACE_OK);
	CHILD_CHECK(write_it(fill(2, 3, 10), CTRACE_YES) == CTRACE_RC_OK);
	CHILD_CHECK(is_balanced(3));
}

static void failing_output_is_reported_and_loses_nothing(void **state)
{
	char text[1024];

	(void)state;
	(void)snprintf(text, sizeof text, "mftrace.emitter.textfile#file = %s/out/trace.log\n",
		       room);
	configure(text);
	put_file("out", "", 0);
	assert_int_equal(run_traced(write_into_a_wall), 0);
	assert_lines(0, 3);
}

/* ---- time ---- */

static void write_odd_times(void)
{
	const uint64_t times[] = { 0, UINT64_C(0x7D91048BCA000000), UINT64_MAX, 0 };
	uint64_t last = 0, now;
	struct ct_class_image classes;
	struct ct_event_state reading = { 0 };
	const struct ct_ring *ring;
	size_t used;

	define_usual();
	used = fill(0, CT_COUNT(times), 0);
	for (size_t i = 0; i < CT_COUNT(times); i++)
		memcpy(buffer + i * CTRACE_CTE_OVERHEAD + 8, &times[i], 8);
	CHILD_CHECK(write_it(used, CTRACE_NO) == CTRACE_RC_OK);
	now = ct_clock_ticks();
	ring = ct_thread_self()->imported.ring;
	classes = ct_session_classes(&ct_process.session);
	for (size_t i = 0, at = 0; i < CT_COUNT(times);) {
		struct ct_event event;

		CHILD_CHECK(ct_event_decode(&classes, ring->data + at, ring->capacity, &reading,
					    &event) == CTRACE_OK);
		at += event.size;
		if (event.is_mark)
			continue;
		CHILD_CHECK(event.head.event_id == i && event.ticks >= last && event.ticks <= now);
		last = event.ticks;
		CHILD_CHECK(i >= 2 ? last > now / 2 : last == 0);
		i++;
	}
	/* What comes after it is dated as it should be. */
	CHILD_CHECK(write_it(fill(4, 5, 0), CTRACE_NO) == CTRACE_RC_OK);
	CHILD_CHECK(ring->last_ticks > now && ring->last_ticks <= ct_clock_ticks());
}

static void a_time_that_cannot_be_spoils_no_other(void **state)
{
	(void)state;
	assert_int_equal(run_traced(write_odd_times), 0);
	assert_lines(0, 5);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int test_write_buffer(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_is_not_in_order_is_refused_and_the_buffer_stays_full),
		CASE(a_trace_takes_what_it_was_defined_for),
		CASE(each_entry_becomes_an_event_and_the_buffer_is_available),
		CASE(a_trace_that_is_off_takes_the_buffer_and_writes_nothing),
		CASE(what_finds_no_room_is_counted),
		CASE(an_entry_of_more_than_half_a_ring_is_lost_alone),
		CASE(what_its_owner_spoils_under_our_eyes_is_counted_and_does_no_harm),
		CASE(failing_output_is_reported_and_loses_nothing),
		CASE(a_time_that_cannot_be_spoils_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
