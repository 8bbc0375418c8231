/*
 * otlp_sender.c - the thread that sends the requests of one destination.
 *
 * The consumer thread may not wait for a receiver for long, and libcurl opens descriptors that the
 * traced program could close or use.  So libcurl runs on a thread of its own, which blocks all
 * signals and has a table of descriptors of its own.  The consumer thread hands it a job, and waits
 * for a short time; a job that takes longer goes on meanwhile, and the consumer thread comes back
 * for it.
 *
 * `state` says whose the job is.  Both threads use futex words, and no lock, so that a fork finds
 * nothing held.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "otlp/otlp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define END_NS 200000000u /* how long the end of the thread is waited for */
#define RETRY_NS 1000000000u
#define NO_THREAD "a thread with descriptors of its own (Linux 5.9 or later)"

enum { STOP_NOTHING, STOP_JOB, STOP_THREAD };

struct ct_otlp_sender {
	struct ct_otlp_http_settings settings;
	struct ct_otlp_http *http; /* the thread's */
	struct ct_otlp_job job;
	uint32_t state; /* atomic: enum ct_otlp_job_state */
	uint32_t stop;  /* atomic: 0, STOP_JOB: the job is given up, STOP_THREAD */
	uint32_t users; /* atomic: the owner and the thread; the last one frees */
	bool has_thread;
	uint32_t has_ended;    /* atomic: the thread does nothing any more */
	uint32_t failure_lock; /* atomic: one of both reads or writes these: */
	int error;
	char failure[512];
};

static void sender_unref(struct ct_otlp_sender *sender)
{
	if (__atomic_sub_fetch(&sender->users, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	for (unsigned i = 0; i < CT_OTLP_SIGNALS; i++)
		ct_buf_fini(&sender->job.bodies[i]);
	ct_otlp_http_settings_fini(&sender->settings);
	free(sender);
}

enum ctrace_status ct_otlp_sender_create(struct ct_otlp_http_settings *settings,
					 struct ct_otlp_sender **out_sender)
{
	struct ct_otlp_sender *sender = calloc(1, sizeof *sender);

	if (sender == NULL) {
		ct_otlp_http_settings_fini(settings);
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	sender->settings = *settings;
	*settings = (struct ct_otlp_http_settings){ .url = NULL };
	sender->users = 1;
	for (unsigned i = 0; i < CT_OTLP_SIGNALS; i++)
		ct_buf_init(&sender->job.bodies[i]);
	*out_sender = sender;
	return CTRACE_OK;
}

struct ct_otlp_job *ct_otlp_sender_job(struct ct_otlp_sender *sender)
{
	return &sender->job;
}

/* -----------------------------------------------------------------------------------------------
 * The thread
 */

static bool sender_is_over(const void *user)
{
	const struct ct_otlp_sender *sender = user;

	return __atomic_load_n(&sender->stop, __ATOMIC_ACQUIRE) != STOP_NOTHING;
}

static void state_set(struct ct_otlp_sender *sender, enum ct_otlp_job_state state)
{
	/* Publish: pairs with the acquire loads in ct_otlp_sender_wait(). */
	__atomic_store_n(&sender->state, state, __ATOMIC_RELEASE);
	ct_os_wake(&sender->state);
}

static void failure_lock(struct ct_otlp_sender *sender)
{
	while (__atomic_exchange_n(&sender->failure_lock, 1, __ATOMIC_ACQUIRE) != 0)
		;
}

static void failure_unlock(struct ct_otlp_sender *sender)
{
	__atomic_store_n(&sender->failure_lock, 0, __ATOMIC_RELEASE);
}

static void failure_note(struct ct_otlp_sender *sender, const struct ct_otlp_result *result)
{
	failure_lock(sender);
	memcpy(sender->failure, result->text, sizeof sender->failure);
	sender->error = result->error;
	failure_unlock(sender);
}

/* Sends one request until it is accepted or refused.  Returns false when the job was given up. */
static bool job_send(struct ct_otlp_sender *sender, enum ct_otlp_signal signal)
{
	struct ct_otlp_result *result = &sender->job.results[signal];

	for (uint32_t failures = 0; !sender_is_over(sender); failures++) {
		if (failures > 0)
			state_set(sender, CT_OTLP_JOB_SENDING);
		ct_otlp_http_post(sender->http, signal, &sender->job.bodies[signal],
				  sender->job.records[signal], result);
		if (result->answer != CT_OTLP_AGAIN)
			return true;
		failure_note(sender, result);
		state_set(sender, CT_OTLP_JOB_WAITING);
		ct_os_wait(&sender->stop, STOP_NOTHING, ct_otlp_retry_ns(result, failures));
	}
	return false;
}

static void job_run(struct ct_otlp_sender *sender)
{
	for (unsigned i = 0; i < CT_OTLP_SIGNALS; i++) {
		sender->job.results[i] = (struct ct_otlp_result){ .answer = CT_OTLP_ACCEPTED };
		if (sender->job.bodies[i].size > 0 && !job_send(sender, (enum ct_otlp_signal)i))
			break;
	}
	state_set(sender, CT_OTLP_JOB_DONE);
}

/* A job that cannot be tried. */
static void job_fail(struct ct_otlp_sender *sender, int error)
{
	struct ct_otlp_result result = { .answer = CT_OTLP_AGAIN, .error = error };

	memcpy(result.text, NO_THREAD, sizeof NO_THREAD);
	failure_note(sender, &result);
	state_set(sender, CT_OTLP_JOB_WAITING);
	ct_os_wait(&sender->stop, STOP_NOTHING, RETRY_NS);
	state_set(sender, sender_is_over(sender) ? CT_OTLP_JOB_DONE : CT_OTLP_JOB_SENDING);
}

/* The program's descriptors are not ours, and 0, 1 and 2 are not for sockets. */
static bool descriptors_prepare(void)
{
	if (!ct_os_thread_own_descriptors())
		return false;
	for (unsigned i = 0; i < 3; i++)
		(void)!open("/dev/null", O_RDWR | O_CLOEXEC);
	return true;
}

static void *sender_main(void *argument)
{
	struct ct_otlp_sender *sender = argument;
	bool has_descriptors = descriptors_prepare();

	while (__atomic_load_n(&sender->stop, __ATOMIC_ACQUIRE) != STOP_THREAD) {
		uint32_t state = __atomic_load_n(&sender->state, __ATOMIC_ACQUIRE);

		if (state != CT_OTLP_JOB_SENDING) {
			ct_os_wait(&sender->state, state, UINT64_MAX);
			continue;
		}
		if (has_descriptors && sender->http == NULL)
			sender->http =
				ct_otlp_http_create(&sender->settings, sender_is_over, sender);
		if (sender->http != NULL)
			job_run(sender);
		else
			job_fail(sender, has_descriptors ? ENOMEM : ENOSYS);
	}
	ct_otlp_http_destroy(sender->http);
	__atomic_store_n(&sender->has_ended, 1, __ATOMIC_RELEASE);
	ct_os_wake(&sender->has_ended);
	sender_unref(sender);
	return NULL;
}

/* -----------------------------------------------------------------------------------------------
 * The owner
 */

enum ctrace_status ct_otlp_sender_start(struct ct_otlp_sender *sender)
{
	enum ctrace_status status = CTRACE_OK;
	pthread_t thread;

	__atomic_store_n(&sender->stop, STOP_NOTHING, __ATOMIC_RELAXED);
	state_set(sender, CT_OTLP_JOB_SENDING);
	if (sender->has_thread)
		return CTRACE_OK;
	__atomic_store_n(&sender->users, 2, __ATOMIC_RELAXED);
	status = ct_os_thread_start(sender_main, sender, "ctrace-otlp", &thread);
	if (status != CTRACE_OK) {
		__atomic_store_n(&sender->users, 1, __ATOMIC_RELAXED);
		state_set(sender, CT_OTLP_JOB_IDLE);
		return status;
	}
	(void)pthread_detach(thread);
	sender->has_thread = true;
	return CTRACE_OK;
}

enum ct_otlp_job_state ct_otlp_sender_wait(struct ct_otlp_sender *sender, uint64_t deadline_ns)
{
	for (;;) {
		uint32_t state = __atomic_load_n(&sender->state, __ATOMIC_ACQUIRE);
		uint64_t now = ct_clock_mono_ns();

		if (state != CT_OTLP_JOB_SENDING || now >= deadline_ns)
			return (enum ct_otlp_job_state)state;
		if (!ct_os_wait(&sender->state, state, deadline_ns - now))
			deadline_ns = 0;
	}
}

int ct_otlp_sender_failure(struct ct_otlp_sender *sender, char out[512])
{
	int error;

	failure_lock(sender);
	memcpy(out, sender->failure, sizeof sender->failure);
	error = sender->error;
	failure_unlock(sender);
	return error;
}

bool ct_otlp_sender_cancel(struct ct_otlp_sender *sender, uint64_t deadline_ns)
{
	uint32_t state = __atomic_load_n(&sender->state, __ATOMIC_ACQUIRE);

	if (state == CT_OTLP_JOB_SENDING || state == CT_OTLP_JOB_WAITING) {
		__atomic_store_n(&sender->stop, STOP_JOB, __ATOMIC_RELEASE);
		ct_os_wake(&sender->stop);
		while (state != CT_OTLP_JOB_DONE) {
			uint64_t now = ct_clock_mono_ns();

			if (now >= deadline_ns)
				return false;
			if (!ct_os_wait(&sender->state, state, deadline_ns - now))
				deadline_ns = 0;
			state = __atomic_load_n(&sender->state, __ATOMIC_ACQUIRE);
		}
	}
	__atomic_store_n(&sender->state, CT_OTLP_JOB_IDLE, __ATOMIC_RELAXED);
	return true;
}

void ct_otlp_sender_destroy(struct ct_otlp_sender *sender)
{
	if (sender == NULL)
		return;
	if (sender->has_thread) {
		uint64_t deadline = ct_clock_mono_ns() + END_NS;

		__atomic_store_n(&sender->stop, STOP_THREAD, __ATOMIC_RELEASE);
		ct_os_wake(&sender->stop);
		ct_os_wake(&sender->state);
		while (__atomic_load_n(&sender->has_ended, __ATOMIC_ACQUIRE) == 0) {
			uint64_t now = ct_clock_mono_ns();

			if (now >= deadline || !ct_os_wait(&sender->has_ended, 0, deadline - now))
				break;
		}
	}
	sender_unref(sender);
}

void ct_otlp_sender_forget(struct ct_otlp_sender *sender)
{
	static struct ct_otlp_http *left; /* so that it is no leak */

	if (sender == NULL)
		return;
	left = sender->http;
	(void)left;
	__atomic_store_n(&sender->users, 1, __ATOMIC_RELAXED);
	sender_unref(sender);
}
