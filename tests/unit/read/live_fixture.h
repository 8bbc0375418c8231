/*
 * live_fixture.h - real processes that trace what they are told to, to be followed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_LIVE_FIXTURE_H
#define CT_LIVE_FIXTURE_H

#include <dirent.h>

#include "../session/session_fixture.h"
#include "../format/class_fixture.h"
#include "read/live.h"

enum order { PUT, RING, NAME, LOSE, SPOIL, LEAVE };
/* What a subject is told; it answers with a byte. */
struct message {
	enum order order;
	uint32_t ring;
	uint32_t component;
	uint32_t first;
	uint32_t count;
	char text[300];
};
struct subject {
	pid_t pid;
	int orders;
	int answers;
};

/* ---- in the subject ---- */

struct maker {
	struct ct_session session;
	struct ct_ring rings[8];
	struct ctrace_thread_buffer thread_buffers[8];
	struct ct_classes classes;
};

static void must(bool ok)
{
	if (!ok)
		_exit(2);
}

static void put(struct maker *m, const struct message *message)
{
	struct ct_ring *ring = &m->rings[message->ring];

	for (uint32_t i = 0; i < message->count; i++) {
		const struct ct_event_head head = { .component = message->component,
						    .event_id = message->first + i,
						    .level = CTRACE_WARN };
		const struct ctrace_item item = CTRACE_TEXT("text", 4);
		const struct ct_class_image classes = ct_session_classes(&m->session);
		uint32_t number;

		m->classes.table = m->session.classes;
		number = class_of(&m->classes, head.component, head.level, head.event_id, &item, 1);
		/* A window for each, so that it can be read by itself. */
		must(ct_ring_open_window(ring, &m->thread_buffers[message->ring], &classes, 99,
					 ct_event_size(number, &item, 1)));
		ct_event_encode(m->thread_buffers[message->ring].cur, number, ct_clock_ticks(),
				&head, &item, 1);
		m->thread_buffers[message->ring].cur += ct_event_size(number, &item, 1);
		__atomic_store_n(&ring->head->head,
				 (uint64_t)(uintptr_t)m->thread_buffers[message->ring].cur +
					 m->thread_buffers[message->ring].bias,
				 __ATOMIC_RELEASE);
	}
	ct_shared_sync_update(&m->session.head->sync, 0);
}

static void add_ring(struct maker *m)
{
	uint32_t index = m->session.head->ring_count;

	must(ct_ring_create(&m->rings[index], &m->session, index, CT_RING_MIN) == CTRACE_OK);
	__atomic_store_n(&m->session.head->ring_count, index + 1, __ATOMIC_RELEASE);
}

static void name_component(struct maker *m, uint32_t component, const char *name, size_t size)
{
	ct_text text;

	must(ct_session_reserve_component(&m->session, component) == CTRACE_OK);
	must(ct_session_add_text(&m->session, name, size, &text) == CTRACE_OK);
	m->session.components[component].name = text;
	ct_session_commit_component(&m->session, component);
}

static void obey(struct maker *m, const struct message *message)
{
	switch (message->order) {
	case PUT:
		put(m, message);
		break;
	case RING:
		add_ring(m);
		break;
	case NAME:
		name_component(m, message->component, message->text, message->count);
		break;
	case LOSE:
		m->session.head->lost[CTRACE_LOSS_NO_RING] += message->count;
		m->rings[0].head->lost[CTRACE_LOSS_DISCARDED] += message->count;
		break;
	case SPOIL:
		m->session.components[message->component].name =
			(ct_text)message->first << 32 | message->count;
		break;
	case LEAVE:
		ct_session_close(&m->session, true);
		_exit(0);
	}
}

static void subject_main(const char *jobname, int orders, int answers)
{
	static struct maker m;
	struct message message;

	must(ct_session_create(&m.session, run_dir) == CTRACE_OK && m.session.directory_fd >= 0);
	m.session.head->pid = (uint32_t)getpid();
	m.session.head->asid = 0x2A;
	(void)snprintf(m.session.head->jobname, sizeof m.session.head->jobname, "%s", jobname);
	ct_shared_sync_start(&m.session.head->sync);
	name_component(&m, 1, "MF.RTS", 6);
	add_ring(&m);
	must(write(answers, "!", 1) == 1);
	while (read(orders, &message, sizeof message) == (ssize_t)sizeof message) {
		obey(&m, &message);
		must(write(answers, "!", 1) == 1);
	}
	_exit(0);
}

/* ---- in the test ---- */

static UNUSED void subject_start(struct subject *s, const char *jobname)
{
	int orders[2], answers[2];
	char answer;

	assert_int_equal(pipe2(orders, O_CLOEXEC) + pipe2(answers, O_CLOEXEC), 0);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid == 0) {
		(void)close(orders[1]);
		(void)close(answers[0]);
		subject_main(jobname, orders[0], answers[1]);
	}
	(void)close(orders[0]);
	(void)close(answers[1]);
	s->orders = orders[1];
	s->answers = answers[0];
	assert_int_equal(read(s->answers, &answer, 1), 1);
}

static UNUSED void tell(const struct subject *s, struct message message)
{
	char answer;
	ssize_t got;

	assert_int_equal(write(s->orders, &message, sizeof message), (ssize_t)sizeof message);
	got = read(s->answers, &answer, 1);
	assert_int_equal(got, message.order == LEAVE ? 0 : 1);
}

static UNUSED void tell_put(const struct subject *s, uint32_t ring, uint32_t first, uint32_t count)
{
	tell(s,
	     (struct message){
		     .order = PUT, .ring = ring, .component = 1, .first = first, .count = count });
}

static UNUSED void tell_name(const struct subject *s, uint32_t component, const char *name)
{
	struct message message = { .order = NAME,
				   .component = component,
				   .count = (uint32_t)strlen(name) };

	memcpy(message.text, name, strlen(name));
	tell(s, message);
}

/* Without its directory, as it leaves properly, or with it, killed. */
static UNUSED void subject_end(struct subject *s, bool properly)
{
	if (properly)
		tell(s, (struct message){ .order = LEAVE });
	else
		assert_int_equal(kill(s->pid, SIGKILL), 0);
	assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
	(void)close(s->orders);
	(void)close(s->answers);
}

static UNUSED unsigned count_open_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(directory);
	while (readdir(directory) != NULL)
		count++;
	(void)closedir(directory);
	return count;
}

static UNUSED int live_set_up(void **state)
{
	(void)state;
	enter_room();
	return setenv("CTRACE_RUN_DIR", run_dir, 1);
}

static UNUSED int live_tear_down(void **state)
{
	(void)state;
	leave_room();
	return 0;
}

#endif
