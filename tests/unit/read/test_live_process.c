/*
 * test_live_process.c - one live process is followed: its rings and names as they come, and
 * whatever it says of itself.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "live_fixture.h"

static struct ct_session_head words;
static struct ct_live_totals totals;
static struct ct_live_look look = { .words = &words, .totals = &totals };
static unsigned reports;
static char last_report[200];

static void note_report(const char *path, uint64_t offset, const char *message, void *user)
{
	(void)path;
	(void)offset;
	(void)user;
	reports++;
	(void)snprintf(last_report, sizeof last_report, "%s", message);
}

static struct ct_live_options options = { .report = note_report };

/* Follows the subject's directory; NULL when that is refused. */
static struct ct_live_process *follow(const struct subject *s, bool is_new)
{
	struct ct_live_process *process = calloc(1, sizeof *process);

	assert_non_null(process);
	process->directory_fd = process->session_fd = -1;
	assert_true(asprintf(&process->path, "%s/%d.0", run_dir, (int)s->pid) > 0);
	reports = 0;
	look.room = 1 << 20;
	totals = (struct ct_live_totals){ 0 };
	if (ct_live_process_open(process, &options, is_new, &words))
		return process;
	ct_live_process_close(process);
	return NULL;
}

/* The next event of a ring; its number, or UINT32_MAX. */
static uint32_t seen(struct ct_live_process *process, uint32_t ring)
{
	struct ct_live_stamp stamp;
	struct ct_event event;

	if (!ct_live_ring_first(process->rings[ring], &stamp, &event))
		return UINT32_MAX;
	assert_true(stamp.time_ns <= ct_clock_wall_ns() + 1000000 &&
		    stamp.time_ns > ct_clock_wall_ns() - 60000000000u);
	ct_live_ring_pop(process->rings[ring]);
	return event.head.event_id;
}

static int set_up(void **state)
{
	options.wants = NULL;
	options.from_start = false;
	return live_set_up(state) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	ct_buf_fini(&look.chunk);
	return live_tear_down(state);
}

static void rings_come(void **state)
{
	struct ct_live_process *process;
	struct subject s;

	(void)state;
	subject_start(&s, "JOB");
	tell_put(&s, 0, 1, 5);
	process = follow(&s, false);
	assert_non_null(process);
	assert_int_equal(process->ring_count, 1);
	assert_false(ct_live_process_look(process, &options, &look));
	tell_put(&s, 0, 6, 2);
	tell(&s, (struct message){ .order = RING });
	tell_put(&s, 1, 100, 1);
	assert_true(ct_live_process_look(process, &options, &look));
	assert_int_equal(seen(process, 0), 6);
	assert_int_equal(seen(process, 0), 7);
	assert_int_equal(seen(process, 0), UINT32_MAX);
	/* a ring that comes later is new to us from its beginning */
	assert_int_equal(seen(process, 1), 100);
	ct_live_process_close(process);

	process = follow(&s, true);
	assert_true(ct_live_process_look(process, &options, &look));
	assert_int_equal(seen(process, 0), 1);
	ct_live_process_close(process);
	options.from_start = true;
	process = follow(&s, false);
	assert_true(ct_live_process_look(process, &options, &look));
	assert_int_equal(seen(process, 0), 1);
	ct_live_process_close(process);
	assert_int_equal(reports, 0);
	subject_end(&s, true);
}

static void the_rest_after_its_end(void **state)
{
	struct ct_live_process *process;
	struct subject s;

	(void)state;
	subject_start(&s, "JOB");
	process = follow(&s, false);
	tell_put(&s, 0, 1, 3);
	tell_name(&s, 2, "late");
	subject_end(&s, true);
	assert_false(exists(process->path));
	assert_true(ct_live_process_look(process, &options, &look));
	assert_int_equal(seen(process, 0), 1);
	assert_string_equal(ct_live_process_name(process, 2), "late");
	ct_live_process_close(process);
}

static void names(void **state)
{
	struct ct_live_process *process;
	struct subject s;
	char longest[257];

	(void)state;
	memset(longest, 'n', 256);
	longest[256] = '\0';
	subject_start(&s, "JOB");
	process = follow(&s, false);
	assert_string_equal(ct_live_process_name(process, 1), "MF.RTS");
	assert_ptr_equal(ct_live_process_name(process, 1), ct_live_process_name(process, 1));
	assert_null(ct_live_process_name(process, 0));
	assert_null(ct_live_process_name(process, 2));
	tell_name(&s, 2, "later");
	assert_string_equal(ct_live_process_name(process, 2), "later");
	assert_null(ct_live_process_name(process, CT_COMPONENT_LIMIT));
	assert_null(ct_live_process_name(process, UINT32_MAX));
	tell_name(&s, 3, longest);
	assert_null(ct_live_process_name(process, 3));
	longest[255] = '\0';
	tell_name(&s, 3, longest);
	assert_string_equal(ct_live_process_name(process, 3), longest);
	tell_name(&s, 4, "x");
	tell(&s,
	     (struct message){ .order = SPOIL, .component = 4, .first = 0xFFFFFFFF, .count = 5 });
	assert_null(ct_live_process_name(process, 4));
	/* past the file's end, or NULs */
	tell(&s, (struct message){ .order = SPOIL, .component = 4, .first = 1000, .count = 5 });
	assert_null(ct_live_process_name(process, 4));
	ct_live_process_close(process);
	subject_end(&s, true);
}

static void losses(void **state)
{
	struct ct_live_process *process;
	struct subject s;

	(void)state;
	subject_start(&s, "JOB");
	tell(&s, (struct message){ .order = LOSE, .count = 3 });
	process = follow(&s, false);
	tell(&s, (struct message){ .order = LOSE, .count = 2 });
	(void)ct_live_process_look(process, &options, &look);
	assert_int_equal(process->lost, 2);
	assert_int_equal(process->rings[0]->lost, 2);
	ct_live_process_close(process);
	process = follow(&s, true);
	(void)ct_live_process_look(process, &options, &look);
	assert_int_equal(process->lost, 5);
	assert_int_equal(process->rings[0]->lost, 5);
	ct_live_process_close(process);
	subject_end(&s, true);
}

static bool wants_job(const struct ct_live_who *who, void *user)
{
	(void)user;
	assert_int_equal(who->asid, 0x2A);
	return strcmp(who->jobname, "WANTED") == 0;
}

static void who_is_wanted(void **state)
{
	struct ct_live_process *process;
	struct subject wanted, other;

	(void)state;
	subject_start(&wanted, "WANTED");
	subject_start(&other, "OTHER");
	options.wants = wants_job;
	assert_null(follow(&other, false));
	process = follow(&wanted, false);
	assert_non_null(process);
	assert_int_equal(process->who.pid, wanted.pid);
	ct_live_process_close(process);
	assert_int_equal(reports, 0);
	subject_end(&wanted, true);
	subject_end(&other, true);
}

static void who_cannot_be_followed(void **state)
{
	struct subject s = { .pid = 1 };
	unsigned files = count_open_files();
	char path[200];
	uint32_t version = CT_SESSION_VERSION + 1;

	(void)state;
	assert_null(follow(&s, false)); /* it has ended: no word about it */
	assert_int_equal(reports, 0);
	(void)snprintf(path, sizeof path, "%s/1.0", run_dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_null(follow(&s, false));
	assert_int_equal(reports, 0);
	(void)snprintf(path, sizeof path, "%s/1.0/session", run_dir);
	put_file(path, "none", 4);
	assert_null(follow(&s, false));
	assert_int_equal(reports, 1);
	assert_string_equal(last_report, ctrace_status_text(CTRACE_DAMAGED));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_null(follow(&s, false));
	assert_int_equal(reports, 1);
	assert_int_equal(count_open_files(), files);

	subject_start(&s, "JOB");
	(void)snprintf(path, sizeof path, "%s/%d.0/session", run_dir, (int)s.pid);
	poke_file(path, offsetof(struct ct_session_head, version), &version, sizeof version);
	assert_null(follow(&s, false));
	assert_int_equal(reports, 1);
	assert_string_equal(last_report, ctrace_status_text(CTRACE_UNSUPPORTED));
	subject_end(&s, true);
}

static void hostile_words(void **state)
{
	struct ct_live_process *process;
	uint32_t rings = 0xFFFFFFFF, version;
	struct subject s;
	char path[200];

	(void)state;
	subject_start(&s, "JOB");
	process = follow(&s, false);
	(void)snprintf(path, sizeof path, "%s/session", process->path);
	poke_file(path, offsetof(struct ct_session_head, ring_count), &rings, sizeof rings);
	assert_false(ct_live_process_look(process, &options, &look));
	assert_int_equal(process->ring_count, CT_RING_LIMIT);
	assert_int_equal(reports, 0); /* those that are not there have ended */
	/* A clock that was never written: the event has no time, and is seen. */
	version = words.sync.version + 1;
	tell_put(&s, 0, 1, 1);
	poke_file(path,
		  offsetof(struct ct_session_head, sync) + offsetof(struct ct_shared_sync, version),
		  &version, sizeof version);
	assert_true(ct_live_process_look(process, &options, &look));
	assert_int_equal(seen(process, 0), 1);
	ct_live_process_close(process);
	subject_end(&s, false);
}

int test_live_process(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(rings_come),    TEST(the_rest_after_its_end), TEST(names),
		TEST(losses),        TEST(who_is_wanted),          TEST(who_cannot_be_followed),
		TEST(hostile_words),
	};

	return cmocka_run_group_tests_name("read/live_process", tests, NULL, NULL);
}
