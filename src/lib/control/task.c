/*
 * task.c - the queue for the control thread: descriptors to watch, tasks for later.
 *
 * Any thread may add, not in a signal handler; only the control thread carries out.  The lock is
 * held for a look at a table, never during a call.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/control/task.h"

#include <pthread.h>
#include <string.h>

struct task {
	uint64_t due_ns;
	ct_server_task *task; /* NULL: none */
	void *user;
};

static struct {
	pthread_mutex_t lock;
	struct ct_watch watches[CT_WATCH_LIMIT];
	uint32_t watch_count; /* ever added */
	struct task tasks[CT_TASK_LIMIT];
} tasks = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void tasks_lock(void)
{
	ct_guard_lock(&tasks.lock);
}

static void tasks_unlock(void)
{
	ct_guard_unlock(&tasks.lock);
}

void ct_task_reset(void)
{
	(void)pthread_mutex_init(&tasks.lock, NULL);
	memset(tasks.watches, 0, sizeof tasks.watches);
	memset(tasks.tasks, 0, sizeof tasks.tasks);
}

/* The parent's thread may have been in the middle of a change: closes only descriptors that
 * still have their file. */
void ct_task_detach(void)
{
	for (uint32_t i = 0; i < CT_WATCH_LIMIT; i++)
		if (tasks.watches[i].ready != NULL)
			ct_os_close_file(&tasks.watches[i].fd, &tasks.watches[i].id);
	ct_task_reset();
}

/* ---- descriptors ---- */

enum ctrace_status ct_watch_add(int fd, ct_server_ready *ready, void *user)
{
	struct ct_watch watch = { .fd = fd, .id = ct_os_file_id(fd), .ready = ready, .user = user };
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

	tasks_lock();
	for (uint32_t i = 0; i < CT_WATCH_LIMIT && status != CTRACE_OK; i++) {
		if (tasks.watches[i].ready != NULL)
			continue;
		watch.number = ++tasks.watch_count;
		tasks.watches[i] = watch;
		status = CTRACE_OK;
	}
	tasks_unlock();
	return status;
}

bool ct_watch_gather(struct ct_watch out[CT_WATCH_LIMIT], struct pollfd fds[CT_WATCH_LIMIT])
{
	bool is_any_gone = false;

	tasks_lock();
	memcpy(out, tasks.watches, sizeof tasks.watches);
	tasks_unlock();
	for (uint32_t i = 0; i < CT_WATCH_LIMIT; i++) {
		bool is_there = out[i].ready != NULL && ct_os_is_file(out[i].fd, &out[i].id);

		fds[i] = (struct pollfd){ .fd = is_there ? out[i].fd : -1, .events = POLLIN };
		is_any_gone = is_any_gone || (out[i].ready != NULL && !is_there);
	}
	return is_any_gone;
}

void ct_watch_call(const struct ct_watch *watch, uint32_t index)
{
	bool is_there = ct_os_is_file(watch->fd, &watch->id);
	bool goes_on = watch->ready(watch->fd, watch->user) && is_there;

	tasks_lock();
	if (!goes_on && tasks.watches[index].number == watch->number)
		tasks.watches[index].ready = NULL;
	tasks_unlock();
}

/* ---- tasks ---- */

enum ctrace_status ct_task_add(uint64_t due_ns, ct_server_task *task, void *user)
{
	enum ctrace_status status = CTRACE_NOT_ENOUGH_MEMORY;

	tasks_lock();
	for (uint32_t i = 0; i < CT_TASK_LIMIT && status != CTRACE_OK; i++) {
		if (tasks.tasks[i].task != NULL)
			continue;
		tasks.tasks[i] = (struct task){ .due_ns = due_ns, .task = task, .user = user };
		status = CTRACE_OK;
	}
	tasks_unlock();
	return status;
}

/* The task that is due first; NULL: none.  Under the lock. */
static struct task *task_find_next(void)
{
	struct task *next = NULL;

	for (uint32_t i = 0; i < CT_TASK_LIMIT; i++) {
		struct task *task = &tasks.tasks[i];

		if (task->task != NULL && (next == NULL || task->due_ns < next->due_ns))
			next = task;
	}
	return next;
}

uint64_t ct_task_next_ns(void)
{
	const struct task *next;
	uint64_t due;

	tasks_lock();
	next = task_find_next();
	due = next != NULL ? next->due_ns : UINT64_MAX;
	tasks_unlock();
	return due;
}

bool ct_task_run(uint64_t now_ns)
{
	struct task task = { 0 };
	struct task *next;

	tasks_lock();
	next = task_find_next();
	if (next != NULL && next->due_ns <= now_ns) {
		task = *next;
		next->task = NULL;
	}
	tasks_unlock();
	if (task.task == NULL)
		return false;
	task.task(task.user);
	return true;
}
