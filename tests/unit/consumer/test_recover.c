/*
 * test_recover.c - what dead processes left is delivered once, wherever they or a recoverer before
 * us were killed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "consumer_fixture.h"

static struct ct_recovery total;
static unsigned reports;
static char last_message[200];
static bool last_ok;

static void note(const char *run_directory, const char *directory, bool ok, uint64_t delivered,
		 const char *message, const char *notes, void *user)
{
	(void)user;
	(void)delivered;
	(void)notes;
	assert_string_equal(run_directory, run_dir);
	assert_true(strlen(directory) > 0);
	reports++;
	last_ok = ok;
	(void)snprintf(last_message, sizeof last_message, "%s", message);
}

static void recover_on(void)
{
	ct_recover(run_dir, NULL, &total, note, NULL);
}

static void recover(void)
{
	memset(&total, 0, sizeof total);
	reports = 0;
	recover_on();
}

static unsigned count_directories(void)
{
	char command[200];
	unsigned count = 0;
	FILE *pipe;

	(void)snprintf(command, sizeof command, "find %s -mindepth 1 -maxdepth 1 -type d | wc -l",
		       run_dir);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%u", &count), 1);
	assert_int_equal(pclose(pipe), 0);
	return count;
}

/* ---- the processes that die ---- */

static uint32_t dying_rings, dying_overflow, dying_events, dying_passes;
static void (*dying_end)(void);

/* Writes its events, and delivers some of them in passes of its own. */
static void live_and_die(void)
{
	struct ct_consumer_source source;
	struct ct_consumer *consumer;
	struct ct_consumer_result result;

	make_process(dying_rings, dying_overflow);
	source = live_source();
	if (ct_consumer_create(&source, &consumer) != CTRACE_OK)
		_exit(1);
	for (uint32_t i = 0; i < dying_events; i++) {
		if (!produce(i % dying_rings, COMPONENT_BOTH))
			_exit(1);
		if (dying_passes > 0 && i % (dying_events / (dying_passes + 1)) == 0)
			ct_consumer_pass(consumer, true, &result);
	}
	if (dying_end != NULL)
		dying_end();
}

static pid_t dead; /* the last one */

static void let_die(uint32_t count, uint32_t overflow, uint32_t events, uint32_t passes,
		    void (*end)(void))
{
	dying_rings = count;
	dying_overflow = overflow;
	dying_events = events;
	dying_passes = passes;
	dying_end = end;
	dead = run_and_kill(live_and_die);
}

static void nobody_dead_is_nothing_to_do(void **state)
{
	(void)state;
	recover();
	assert_int_equal(total.directories, 0);
	assert_int_equal(reports, 0);
	memset(&total, 0, sizeof total);
	ct_recover("/nonexistent", NULL, &total, NULL, NULL);
	assert_int_equal(total.directories, 0);
}

static void what_was_never_delivered_is_delivered_and_the_directory_goes(void **state)
{
	(void)state;
	let_die(3, CT_OVERFLOW_BLOCK, 1500, 0, NULL);
	recover();
	assert_int_equal(total.directories, 1);
	assert_int_equal(total.recovered, 1);
	assert_int_equal(total.kept, 0);
	assert_int_equal(total.delivered, 1500);
	assert_int_equal(total.damaged, 0);
	assert_true(last_ok);
	assert_exactly(&output_a, 1500);
	assert_exactly(&output_b, 1500);
	assert_int_equal(output_a.disorder, 0);
	assert_true(output_a.was_recovering);
	assert_int_equal(output_a.flushes, 1); /* durable before the rings go */
	assert_int_equal(output_a.closes, output_a.opens);
	assert_int_equal(count_directories(), 0);
	recover();
	assert_int_equal(total.directories, 0);
	assert_exactly(&output_a, 1500);
}

static void what_was_delivered_before_the_death_does_not_come_again(void **state)
{
	(void)state;
	let_die(3, CT_OVERFLOW_BLOCK, 1500, 7, NULL);
	recover();
	assert_exactly(&output_a, 1500);
	assert_exactly(&output_b, 1500);
	assert_int_equal(count_directories(), 0);
}

static void a_live_process_is_left_alone(void **state)
{
	int ready[2], done[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(done), 0);
	pid = fork();
	if (pid == 0) {
		make_process(1, CT_OVERFLOW_BLOCK);
		(void)produce(0, COMPONENT_A);
		(void)!write(ready[1], "r", 1);
		(void)!read(done[0], &byte, 1);
		(void)raise(SIGKILL);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	recover();
	assert_int_equal(total.directories, 0);
	assert_int_equal(count_directories(), 1);
	assert_int_equal(write(done[1], "d", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	recover();
	assert_int_equal(total.recovered, 1);
	assert_exactly(&output_a, 1);
}

static void several_dead_ones_are_recovered_in_one_go(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		let_die(2, CT_OVERFLOW_BLOCK, 100, (uint32_t)i, NULL);
	recover();
	assert_int_equal(total.recovered, 5);
	assert_int_equal(reports, 5);
	assert_int_equal(count_directories(), 0);
}

static void one_that_traced_nothing_is_just_removed(void **state)
{
	(void)state;
	let_die(1, CT_OVERFLOW_BLOCK, 0, 0, NULL);
	recover();
	assert_int_equal(total.recovered, 1);
	assert_int_equal(output_a.opens, 0);
	assert_int_equal(count_directories(), 0);
}

/* ---- killed at the worst moment ---- */

static void die(void)
{
	(void)raise(SIGKILL);
}

/* In the consumer: the output is being written, nothing is committed. */
static void die_in_write(void)
{
	struct ct_consumer_source source = live_source();
	struct ct_consumer *consumer;
	struct ct_consumer_result result;

	output_b.before_write = die;
	if (ct_consumer_create(&source, &consumer) == CTRACE_OK)
		ct_consumer_pass(consumer, true, &result);
}

static void death_between_two_destinations_repeats_nothing(void **state)
{
	(void)state;
	let_die(3, CT_OVERFLOW_BLOCK, 600, 0, die_in_write);
	assert_exactly(&output_a, 600);
	assert_int_equal(count_output(&output_b), 0);
	recover();
	assert_exactly(&output_a, 600);
	assert_exactly(&output_b, 600);
	assert_int_equal(count_directories(), 0);
}

/* The output has a batch more than what was committed: killed between the two. */
static void write_without_commit(void)
{
	FILE *file = fopen(output_a.path, "a");

	if (file != NULL) {
		(void)fprintf(file, "1498\n1499\n14");
		(void)fclose(file);
	}
}

static void output_that_was_not_committed_is_cut_and_written_again(void **state)
{
	(void)state;
	let_die(3, CT_OVERFLOW_BLOCK, 1500, 3, write_without_commit);
	recover();
	assert_exactly(&output_a, 1500);
	assert_exactly(&output_b, 1500);
}

/*
 * Killed after it had prepared a batch for destination A and before it published it; and by then an
 * older event had come into another ring, one which the batch had not seen.  The number that
 * recovery publishes first is the one that was prepared.
 */
static void prepare_without_publishing(void)
{
	struct ct_dest *dest = &session.head->dest[output_a.index];
	struct ct_cursor *cursor = &rings[0]->head->cursor[output_a.index];
	struct ct_cursor_place next = ct_cursor_get(cursor, dest->sequence);
	uint64_t oldest = ct_clock_ticks() - 1000;

	for (uint32_t i = 0; i < 100; i++)
		(void)produce(0, COMPONENT_BOTH);
	next.position = rings[0]->head->head;
	next.count += 100;
	ct_cursor_prepare(cursor, dest->sequence, &next);
	/* More than a batch, all of it older than what ring 0 holds. */
	while (next_number < 500 + 100 + 1400) {
		next_ticks = oldest;
		if (!produce_sized(next_number % 2 + 1, COMPONENT_BOTH, 0))
			_exit(1);
	}
	next_ticks = 0;
}

static unsigned writes_left;

/* In the middle of a write: what is in the file then does not count. */
static void die_later(void)
{
	if (writes_left-- == 0) {
		FILE *file = fopen(output_a.path, "a");

		if (file != NULL) {
			(void)fprintf(file, "7\n8\n");
			(void)fclose(file);
		}
		(void)raise(SIGKILL);
	}
}

static void recover_and_die(void)
{
	recover();
}

static void what_was_prepared_and_not_published_is_delivered(void **state)
{
	(void)state;
	for (unsigned writes = 0; writes < 3; writes++) {
		let_die(3, CT_OVERFLOW_BLOCK, 500, 2, prepare_without_publishing);
		output_a.before_write = die_later;
		writes_left = writes;
		if (writes < 2)
			(void)run_and_kill(recover_and_die);
		output_a.before_write = NULL;
		recover();
		assert_exactly(&output_a, 2000);
		assert_exactly(&output_b, 2000);
		assert_int_equal(count_directories(), 0);
		assert_int_equal(unlink(output_a.path), 0);
		assert_int_equal(unlink(output_b.path), 0);
	}
}

static void damage_ring_words(void)
{
	/* Registered late: the destination is in use, but no consumer ever gave it a cursor; and
	 * the ring has been used before. */
	session.head->dest[output_a.index].active = 1;
	memset(&rings[0]->head->cursor[output_a.index], 0, sizeof(struct ct_cursor));
}

static void a_destination_without_cursors_begins_at_the_tail_with_its_counts(void **state)
{
	(void)state;
	let_die(1, CT_OVERFLOW_BLOCK, 500, 2, damage_ring_words);
	recover();
	assert_true(total.delivered <= 500); /* a count that began anew would give a huge number */
	assert_exactly(&output_a, 500);
}

static void a_recoverer_that_is_killed_is_recovered_too(void **state)
{
	(void)state;
	for (unsigned time_bound = 0; time_bound < 2; time_bound++) {
		let_die(3, CT_OVERFLOW_BLOCK, 1500, 1, NULL);
		outputs[time_bound].before_write = die;
		(void)run_and_kill(recover_and_die);
		outputs[time_bound].before_write = NULL;
		recover();
		assert_int_equal(total.recovered, 1);
		assert_exactly(&output_a, 1500);
		assert_exactly(&output_b, 1500);
		assert_int_equal(unlink(output_a.path), 0);
		assert_int_equal(unlink(output_b.path), 0);
	}
}

/* Its destinations' marks were not set yet: a child that was killed before its first pass. */
static void reset_active(void)
{
	session.head->dest[output_a.index].active = 0;
	session.head->dest[output_b.index].active = 0;
}

static void a_recoverer_that_is_killed_in_the_middle_leaves_no_doubles(void **state)
{
	(void)state;
	for (unsigned writes = 0; writes < 4; writes++) {
		let_die(3, CT_OVERFLOW_BLOCK, 2000, 0, reset_active);
		output_a.before_write = die_later;
		writes_left = writes;
		if (writes < 2)
			(void)run_and_kill(recover_and_die);
		output_a.before_write = NULL;
		recover();
		assert_exactly(&output_a, 2000);
		assert_exactly(&output_b, 2000);
		assert_int_equal(count_directories(), 0);
		assert_int_equal(unlink(output_a.path), 0);
		assert_int_equal(unlink(output_b.path), 0);
	}
}

/* ---- when something does not work ---- */

static void a_destination_that_fails_keeps_the_directory_for_another_try(void **state)
{
	(void)state;
	let_die(2, CT_OVERFLOW_BLOCK, 300, 0, NULL);
	output_a.fail_writes = 1;
	recover();
	assert_int_equal(total.kept, 1);
	assert_false(last_ok);
	assert_int_equal(count_directories(), 1);
	assert_exactly(&output_b, 300);
	output_a.fail_opens = 1;
	recover();
	assert_int_equal(total.kept, 1);
	recover();
	assert_int_equal(total.recovered, 1);
	assert_exactly(&output_a, 300);
	assert_exactly(&output_b, 300);
	assert_int_equal(count_directories(), 0);
}

static void output_that_could_not_be_made_durable_keeps_the_directory(void **state)
{
	(void)state;
	let_die(2, CT_OVERFLOW_BLOCK, 300, 0, NULL);
	output_a.fail_flush = true;
	recover();
	assert_int_equal(total.kept, 1);
	assert_int_equal(count_directories(), 1);
	output_a.fail_flush = false;
	recover();
	assert_exactly(&output_a, 300);
	assert_exactly(&output_b, 300);
}

static void any_write_to_the_directory_may_fail_without_a_loss_or_a_double(void **state)
{
	(void)state;
	for (unsigned skip = 0; skip < 24; skip++) {
		let_die(3, CT_OVERFLOW_BLOCK, 1500, 1, NULL);
		ct_os_fail(CT_OS_WRITE, skip, 1, EIO);
		recover();
		ct_os_fail(CT_OS_WRITE, 0, 0, 0);
		recover();
		assert_exactly(&output_a, 1500);
		assert_exactly(&output_b, 1500);
		assert_int_equal(count_directories(), 0);
		assert_int_equal(unlink(output_a.path), 0);
		assert_int_equal(unlink(output_b.path), 0);
	}
}

static void any_read_of_the_directory_may_fail_without_a_loss_or_a_double(void **state)
{
	(void)state;
	for (unsigned skip = 0; skip < 10; skip++) {
		let_die(2, CT_OVERFLOW_BLOCK, 200, 1, NULL);
		ct_os_fail(CT_OS_READ, skip, 1, EIO);
		recover();
		ct_os_fail(CT_OS_READ, 0, 0, 0);
		recover();
		assert_exactly(&output_a, 200);
		assert_exactly(&output_b, 200);
		assert_int_equal(unlink(output_a.path), 0);
		assert_int_equal(unlink(output_b.path), 0);
	}
}

static void unknown_emitter(void)
{
	(void)snprintf(session.head->dest[output_a.index].emitter, 32, "NOSUCH");
}

static void an_emitter_that_is_not_there_keeps_its_events(void **state)
{
	(void)state;
	let_die(1, CT_OVERFLOW_BLOCK, 100, 0, unknown_emitter);
	recover();
	assert_int_equal(total.kept, 1);
	assert_int_equal(count_directories(), 1);
	assert_exactly(&output_b, 100);
}

static void cut_a_ring(void)
{
	char path[5000];

	(void)snprintf(path, sizeof path, "%s/ring.1", session.path);
	(void)!truncate(path, 100);
}

static void a_ring_that_cannot_be_read_does_not_cost_the_others(void **state)
{
	(void)state;
	let_die(3, CT_OVERFLOW_BLOCK, 300, 0, cut_a_ring);
	recover();
	assert_int_equal(total.kept, 1);
	assert_int_equal(count_output(&output_a), 200);
	assert_int_equal(count_directories(), 1);
	recover();
	assert_int_equal(count_output(&output_a), 200);
}

static void hide_a_ring(void)
{
	char path[5000];

	/* As one that was private memory. */
	(void)snprintf(path, sizeof path, "%s/ring.1", session.path);
	(void)unlink(path);
	session.head->ring_place[1] = CT_RING_PRIVATE;
}

static void settle_a_ring(void)
{
	hide_a_ring();
	session.head->ring_place[1] = CT_RING_SETTLED;
}

static void a_ring_whose_process_counted_what_it_held_is_not_gone(void **state)
{
	(void)state;
	let_die(3, CT_OVERFLOW_BLOCK, 300, 0, settle_a_ring);
	recover();
	assert_int_equal(total.recovered, 1);
	assert_int_equal(total.kept, 0);
	assert_int_equal(total.gone, 0);
	assert_string_equal(last_message, "delivered");
	assert_int_equal(count_directories(), 0);
}

static void a_ring_that_was_memory_is_reported_and_keeps_nothing(void **state)
{
	(void)state;
	let_die(3, CT_OVERFLOW_BLOCK, 300, 0, hide_a_ring);
	recover();
	assert_int_equal(total.recovered, 1);
	assert_int_equal(total.kept, 0);
	assert_int_equal(total.gone, 1);
	assert_string_equal(last_message, "1 ring had no file: the events in it are gone");
	assert_int_equal(count_output(&output_a), 200);
	assert_int_equal(count_directories(), 0);
}

/* The 51st of 100, behind the window's mark. */
static void damage_an_event(void)
{
	memset(rings[0]->data + CT_EVENT_MARK + (rings[0]->head->head - CT_EVENT_MARK) / 2, 0, 8);
}

static void damage_inside_a_ring_is_reported_and_the_rest_delivered(void **state)
{
	(void)state;
	let_die(2, CT_OVERFLOW_BLOCK, 200, 0, damage_an_event);
	recover();
	assert_int_equal(total.kept, 1);
	assert_int_equal(total.spoilt, 1);
	assert_true(total.damaged > 0);
	assert_non_null(strstr(last_message, "ring.0: "));
	assert_non_null(strstr(last_message, " bytes cannot be read"));
	assert_int_equal(count_output(&output_a), 150);
	recover(); /* what cannot be read stays so, and nothing comes twice */
	assert_int_equal(total.spoilt, 1);
	assert_int_equal(count_output(&output_a), 150);
	assert_int_equal(count_directories(), 1);
	total = (struct ct_recovery){ .discards = UINT32_MAX };
	recover_on();
	assert_int_equal(total.kept, 0);
	assert_int_equal(count_directories(), 0);
}

static void a_session_that_is_no_session_is_kept_and_reported(void **state)
{
	(void)state;
	assert_int_equal(mkdir("run/4000000.0", 0700), 0);
	put_file("run/4000000.0/session", "nonsense", 8);
	recover();
	assert_int_equal(total.directories, 1);
	assert_int_equal(total.kept, 1);
	assert_false(last_ok);
	assert_true(exists("run/4000000.0/session"));
}

static void another_users_directory_is_not_touched(void **state)
{
	char path[200];
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	dying_rings = 1;
	dying_overflow = CT_OVERFLOW_BLOCK;
	dying_events = 10;
	dying_passes = 0;
	dying_end = NULL;
	pid = run_and_kill(live_and_die);
	(void)snprintf(path, sizeof path, "run/%d.0", (int)pid);
	assert_int_equal(chown(path, 12345, 12345), 0);
	recover();
	assert_int_equal(total.directories, 0);
	assert_true(exists(path));
	assert_int_equal(output_a.opens, 0);
}

static void wants_flight(void)
{
	rings[1]->head->kept = 1;
	session.head->flight_at_death = 1;
}

static void wants_no_flight(void)
{
	rings[1]->head->kept = 1;
}

static void the_flight_recorder_is_delivered_when_that_was_asked_for(void **state)
{
	(void)state;
	let_die(2, CT_OVERFLOW_OVERWRITE, 100, 0, wants_no_flight);
	recover();
	assert_int_equal(count_output(&output_a), 50);
	assert_int_equal(count_directories(), 0);
	assert_int_equal(unlink(output_a.path), 0);
	let_die(2, CT_OVERFLOW_OVERWRITE, 100, 0, wants_flight);
	recover();
	assert_exactly(&output_a, 100);
	assert_int_equal(count_directories(), 0);
}

static void keeps_storage(void)
{
	rings[1]->head->kept = CT_KEPT_STORAGE;
}

static struct ct_session_head *dead_head(struct ct_session *out)
{
	char name[32];

	(void)snprintf(name, sizeof name, "%d.0", (int)dead);
	assert_int_equal(ct_session_load(out, run_dir, name, false), CTRACE_OK);
	return out->head;
}

static void what_is_in_storage_stays_until_it_is_discarded(void **state)
{
	struct ct_session session_of_dead;
	uint64_t until;

	(void)state;
	let_die(2, CT_OVERFLOW_OVERWRITE, 100, 0, keeps_storage);
	recover();
	assert_int_equal(count_output(&output_a), 50);
	assert_int_equal(total.recovered, 1);
	assert_int_equal(total.in_storage, 1);
	assert_string_equal(last_message, CT_RECOVER_IN_STORAGE);
	assert_int_equal(count_directories(), 1);
	assert_true(ct_recover_is_storage(dead_head(&session_of_dead), &until));
	assert_int_equal(until, session_of_dead.head->storage_ns + CT_SESSION_KEEP_NS);
	ct_session_close(&session_of_dead, false);
	/* nothing is delivered twice, and nothing is reported again */
	recover();
	assert_int_equal(total.directories, 0);
	assert_int_equal(count_output(&output_a), 50);
	memset(&total, 0, sizeof total);
	total.discards = (uint32_t)dead + 1; /* of another process */
	ct_recover(run_dir, NULL, &total, note, NULL);
	assert_int_equal(count_directories(), 1);
	memset(&total, 0, sizeof total);
	total.discards = (uint32_t)dead;
	ct_recover(run_dir, NULL, &total, note, NULL);
	assert_int_equal(total.recovered, 1);
	assert_int_equal(count_directories(), 0);
	assert_int_equal(count_output(&output_a), 50);
}

static void keeps_storage_for_a_nanosecond(void)
{
	keeps_storage();
	session.head->config.keep_ns = 1;
}

static void what_is_in_storage_goes_after_the_time_to_keep(void **state)
{
	(void)state;
	let_die(2, CT_OVERFLOW_OVERWRITE, 100, 0, keeps_storage_for_a_nanosecond);
	recover();
	assert_int_equal(count_directories(), 1);
	recover();
	assert_int_equal(total.recovered, 1);
	assert_int_equal(count_directories(), 0);
	assert_int_equal(count_output(&output_a), 50);
}

static void an_overwrite_ring_gives_its_newest_and_counts_the_rest(void **state)
{
	(void)state;
	let_die(1, CT_OVERFLOW_OVERWRITE, 20000, 0, NULL);
	recover();
	assert_int_equal(total.recovered, 1);
	{
		struct numbers numbers = read_output(&output_a);

		assert_int_equal(total.delivered, numbers.count);
		assert_true(numbers.count > 500 && numbers.count < 5000);
		assert_int_equal(numbers.at[numbers.count - 1], 19999);
		for (uint32_t i = 1; i < numbers.count; i++)
			assert_int_equal(numbers.at[i], numbers.at[i - 1] + 1);
		free(numbers.at);
	}
}

static void hostile_bytes_never_stop_the_recoverer(void **state)
{
	static unsigned char original[CT_RING_HEAD_SIZE + RING_SIZE];
	uint64_t seed = 88172645463325252u;
	char path[200];
	pid_t pid;

	(void)state;
	for (int round = 0; round < 150; round++) {
		int fd;

		dying_rings = 2;
		dying_overflow = round % 2 == 0 ? CT_OVERFLOW_BLOCK : CT_OVERFLOW_OVERWRITE;
		dying_events = 300;
		dying_passes = 1;
		dying_end = NULL;
		pid = run_and_kill(live_and_die);
		(void)snprintf(path, sizeof path, "run/%d.0/ring.%d", (int)pid, round % 2);
		fd = open(path, O_RDWR | O_CLOEXEC);
		assert_int_equal(pread(fd, original, sizeof original, 0), (ssize_t)sizeof original);
		for (int hit = 0; hit < 1 + round % 6; hit++) {
			size_t at;
			unsigned char byte;

			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			at = (size_t)(seed >> 8) % (hit % 2 == 0 ? 3500 : 20000);
			byte = (unsigned char)seed;
			assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
		}
		assert_int_equal(close(fd), 0);
		recover();
		assert_int_equal(total.directories, 1);
		(void)snprintf(path, sizeof path, "rm -rf run/%d.0", (int)pid);
		assert_int_equal(system(path), 0);
	}
}

static void the_time_to_keep_begins_with_the_first_try(void **state)
{
	struct ct_session_head head = { .recover_first_ns = 1000, .config.keep_ns = 500 };

	(void)state;
	assert_int_equal(ct_recover_until_ns(&head), 0);
	head.recover_tries = 3;
	assert_int_equal(ct_recover_until_ns(&head), 1500);
}

int test_recover(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nobody_dead_is_nothing_to_do, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(
			what_was_never_delivered_is_delivered_and_the_directory_goes, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			what_was_delivered_before_the_death_does_not_come_again, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(a_live_process_is_left_alone, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(several_dead_ones_are_recovered_in_one_go,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(one_that_traced_nothing_is_just_removed,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(death_between_two_destinations_repeats_nothing,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			output_that_was_not_committed_is_cut_and_written_again, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(what_was_prepared_and_not_published_is_delivered,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_destination_without_cursors_begins_at_the_tail_with_its_counts,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_recoverer_that_is_killed_is_recovered_too,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_recoverer_that_is_killed_in_the_middle_leaves_no_doubles, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_destination_that_fails_keeps_the_directory_for_another_try, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			output_that_could_not_be_made_durable_keeps_the_directory, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			any_write_to_the_directory_may_fail_without_a_loss_or_a_double,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			any_read_of_the_directory_may_fail_without_a_loss_or_a_double,
			fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(an_emitter_that_is_not_there_keeps_its_events,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_ring_that_cannot_be_read_does_not_cost_the_others,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_ring_that_was_memory_is_reported_and_keeps_nothing, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_ring_whose_process_counted_what_it_held_is_not_gone, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(
			damage_inside_a_ring_is_reported_and_the_rest_delivered, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(a_session_that_is_no_session_is_kept_and_reported,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(another_users_directory_is_not_touched,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			the_flight_recorder_is_delivered_when_that_was_asked_for, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(what_is_in_storage_stays_until_it_is_discarded,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(what_is_in_storage_goes_after_the_time_to_keep,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			an_overwrite_ring_gives_its_newest_and_counts_the_rest, fixture_setup,
			fixture_teardown),
		cmocka_unit_test_setup_teardown(hostile_bytes_never_stop_the_recoverer,
						fixture_setup, fixture_teardown),
		cmocka_unit_test(the_time_to_keep_begins_with_the_first_try),
	};

	return cmocka_run_group_tests(tests, make_emitters, drop_emitters);
}
