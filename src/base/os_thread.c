/*
 * os_thread.c - threads of ctrace's own, and sleeping on a word.
 *
 * Any thread of the program may start one.  Our threads block all signals, run as SCHED_OTHER, and
 * have the processors that the program began with.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "base/os_parts.h"

#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool ct_os_wait(const uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
	struct timespec timeout = { .tv_sec = (time_t)(timeout_ns / 1000000000u),
				    .tv_nsec = (long)(timeout_ns % 1000000000u) };

	return syscall(SYS_futex, word, FUTEX_WAIT, value,
		       timeout_ns == UINT64_MAX ? NULL : &timeout, NULL, 0) == 0 ||
	       errno != ETIMEDOUT;
}

bool ct_os_wait_until(const uint32_t *counter, uint32_t value, uint64_t timeout_ns)
{
	uint64_t start = ct_clock_mono_ns();
	bool is_over = false;

	for (;;) {
		uint32_t now = __atomic_load_n(counter, __ATOMIC_ACQUIRE);
		uint64_t waited = ct_clock_mono_ns() - start;

		if ((int32_t)(now - value) >= 0)
			return true;
		if (is_over || waited >= timeout_ns)
			return false;
		is_over = !ct_os_wait(counter, now, timeout_ns - waited);
	}
}

void ct_os_wake(const uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE, 0x7FFFFFFF, NULL, NULL, 0);
}

uint32_t ct_os_thread_id(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

bool ct_os_thread_exists(uint32_t tid)
{
	if (syscall(SYS_tgkill, getpid(), (pid_t)tid, 0) != 0)
		return errno != ESRCH;
	/* The first one can be sent signals for as long as the process lives. */
	return tid != (uint32_t)getpid() || !ct_os_first_thread_has_ended();
}

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2u
#endif

bool ct_os_thread_own_descriptors(void)
{
	return syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) == 0;
}

#define STATUS_LIMIT 65536u /* of /proc/self/status */

static __thread bool thread_is_own __attribute__((tls_model("initial-exec")));

/* Two settings of the program: the processors of its first thread when the library was loaded, and
 * the signal mask of the thread that started our first thread.  Both are written before that thread
 * exists. */
static struct {
	unsigned char cpus[1024]; /* the kernel's format, for 8,192 processors */
	bool has_cpus;
	sigset_t mask;
	uint32_t has_mask; /* atomic */
} of_program;

__attribute__((constructor)) static void note_cpus(void)
{
	int kept = errno;

	of_program.has_cpus = sched_getaffinity(getpid(), sizeof of_program.cpus,
						(cpu_set_t *)(void *)of_program.cpus) == 0;
	errno = kept;
}

static void mask_note(void)
{
	if (__atomic_load_n(&of_program.has_mask, __ATOMIC_ACQUIRE) != 0 || thread_is_own)
		return;
	ct_guard_mask(&of_program.mask);
	/* Publish: pairs with the acquire load in ct_os_thread_mask(). */
	__atomic_store_n(&of_program.has_mask, 1, __ATOMIC_RELEASE);
}

bool ct_os_thread_mask(sigset_t *out_mask)
{
	if (!thread_is_own || __atomic_load_n(&of_program.has_mask, __ATOMIC_ACQUIRE) == 0)
		return false;
	*out_mask = of_program.mask;
	return true;
}

struct thread_start {
	void *(*body)(void *argument);
	void *argument;
	const char *name;
	uint32_t is_used; /* atomic */
};

/* Not from malloc(): a thread that frees another thread's memory gets its own heap for it.  Each
 * element is in use until its thread runs, so there are more than ctrace ever starts at once. */
static struct thread_start starts[64];

/* The ids of our threads that run.  One that finds no room counts as the program's. */
static uint32_t ours[CT_OS_THREADS]; /* atomic */

static bool ours_replace(uint32_t old, uint32_t new)
{
	for (size_t i = 0; i < CT_COUNT(ours); i++) {
		uint32_t expected = old;

		if (__atomic_compare_exchange_n(&ours[i], &expected, new, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

/* A routine of the program may have ended our thread by the bare system call. */
unsigned ct_os_threads_list(uint32_t out_tids[CT_OS_THREADS])
{
	unsigned count = 0;

	for (size_t i = 0; i < CT_COUNT(ours); i++) {
		out_tids[i] = __atomic_load_n(&ours[i], __ATOMIC_RELAXED);
		if (out_tids[i] != 0 && !ct_os_thread_exists(out_tids[i]))
			out_tids[i] = 0;
		count += out_tids[i] != 0;
	}
	return count;
}

void ct_os_thread_child(void)
{
	sigset_t mask;

	memset(starts, 0, sizeof starts); /* the parent may have been starting threads */
	memset(ours, 0, sizeof ours);
	if (!ct_os_thread_mask(&mask))
		return;
	/* From here on it enters sections like a thread of the program. */
	thread_is_own = false;
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

bool ct_os_thread_is_own(void)
{
	return thread_is_own;
}

/* Returns NULL when all elements are in use. */
static struct thread_start *start_find(void)
{
	for (size_t i = 0; i < CT_COUNT(starts); i++) {
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(&starts[i].is_used, &none, 1, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &starts[i];
	}
	return NULL;
}

static void start_release(struct thread_start *start)
{
	__atomic_store_n(&start->is_used, 0, __ATOMIC_RELEASE);
}

/* NULL unless the program is built with ThreadSanitizer.  It sees the copies and writes of this
 * library, which call libc, but not its atomics: each event would be reported as a race between its
 * thread and the consumer thread. */
#ifdef __SANITIZE_THREAD__ /* the library itself is built with it, and is checked */
#define CALL_IF_ANY(name) ((void)0)
#else
__attribute__((weak)) void AnnotateIgnoreReadsBegin(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreReadsEnd(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesBegin(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesEnd(const char *file, int line);
#define CALL_IF_ANY(name) (name != NULL ? name(__FILE__, __LINE__) : (void)0)
#endif

/* Also when a routine of the program that runs on our thread ends it. */
static void thread_leave(void *unused)
{
	(void)unused;
	if (thread_is_own)
		(void)ours_replace(ct_os_thread_id(), 0);
}

static void *thread_run(void *argument)
{
	struct thread_start start = *(struct thread_start *)argument;
	void *result;

	CALL_IF_ANY(AnnotateIgnoreReadsBegin);
	CALL_IF_ANY(AnnotateIgnoreWritesBegin);
	start_release(argument);
	thread_is_own = true;
	(void)ours_replace(0, ct_os_thread_id());
	(void)prctl(PR_SET_NAME, start.name);
	pthread_cleanup_push(thread_leave, NULL);
	result = start.body(start.argument);
	pthread_cleanup_pop(1);
	CALL_IF_ANY(AnnotateIgnoreWritesEnd);
	CALL_IF_ANY(AnnotateIgnoreReadsEnd);
	return result;
}

/* True if the calling thread has the class and processors of our threads. */
static bool thread_is_ordinary(void)
{
	unsigned char cpus[sizeof of_program.cpus] = { 0 };

	return sched_getscheduler(0) == SCHED_OTHER && of_program.has_cpus &&
	       sched_getaffinity(0, sizeof cpus, (cpu_set_t *)(void *)cpus) == 0 &&
	       memcmp(cpus, of_program.cpus, sizeof cpus) == 0;
}

/*
 * Our thread must not inherit other class and processors from its caller.  The consumer of a pinned
 * producer would run on the producer's processor, and the consumer of a real-time producer would
 * starve the rest of the machine.
 */
static void thread_set_ordinary(pthread_attr_t *attributes)
{
	const struct sched_param ordinary = { .sched_priority = 0 };

	(void)pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
	(void)pthread_attr_setschedpolicy(attributes, SCHED_OTHER);
	(void)pthread_attr_setschedparam(attributes, &ordinary);
	if (of_program.has_cpus)
		(void)pthread_attr_setaffinity_np(attributes, sizeof of_program.cpus,
						  (const cpu_set_t *)(const void *)of_program.cpus);
}

#define STACK \
	((size_t)1 << 20) /* also for the program's start/stop routines, which run on our threads \
			   */
#define STACK_MOST ((size_t)1 << 28)

/* With attributes the caller waits for the new thread, so an ordinary thread sets none. */
static int thread_create_with_stack(pthread_t *thread, bool sets_ordinary, size_t stack,
				    struct thread_start *start)
{
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);

	if (error != 0)
		return error;
	(void)pthread_attr_setstacksize(&attributes, stack);
	if (sets_ordinary)
		thread_set_ordinary(&attributes);
	error = pthread_create(thread, &attributes, thread_run, start);
	(void)pthread_attr_destroy(&attributes);
	return error;
}

#define ARENAS_FROM ((uint64_t)2 << 30) /* address space: with less, threads share one arena */

/* malloc() reserves 64 MiB for the arena of each thread that calls it, which a process of little
 * address space needs for itself. */
static void arenas_bound(void)
{
	if (ct_os_address_limit() < ARENAS_FROM)
		(void)mallopt(M_ARENA_MAX, 1);
}

/* Each stack also holds the program's thread-local storage, which may fill a small one. */
static int thread_create(pthread_t *thread, bool sets_ordinary, struct thread_start *start)
{
	int error = EINVAL;

	arenas_bound();
	for (size_t stack = STACK; error == EINVAL && stack <= STACK_MOST; stack *= 2)
		error = thread_create_with_stack(thread, sets_ordinary, stack, start);
	return error;
}

static bool leaves_faults; /* atomic */

void ct_os_signals_leave_faults(void)
{
	__atomic_store_n(&leaves_faults, true, __ATOMIC_RELAXED);
}

void ct_os_signals_remove_faults(sigset_t *set)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };

	for (size_t i = 0; i < CT_COUNT(faults); i++)
		(void)sigdelset(set, faults[i]);
}

void ct_os_signals_fill(sigset_t *out)
{
	(void)sigfillset(out);
	if (__atomic_load_n(&leaves_faults, __ATOMIC_RELAXED))
		ct_os_signals_remove_faults(out);
}

enum ctrace_status ct_os_thread_start(void *(*body)(void *), void *argument, const char *name,
				      void *out_pthread)
{
	struct thread_start *start;
	sigset_t all, before;
	pthread_t thread;
	int error;

	if (ct_os_must_fail(CT_OS_THREAD))
		return ct_os_status();
	start = start_find();
	if (start == NULL) {
		errno = EAGAIN;
		return CTRACE_OS_ERROR;
	}
	start->body = body;
	start->argument = argument;
	start->name = name;
	mask_note();
	/* The new thread inherits the mask: it must never run one of the program's handlers. */
	ct_os_signals_fill(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	error = thread_create(&thread, !thread_is_ordinary(), start);
	/* A thread of SCHED_IDLE may lack the right to leave that class, and the process may have
	 * lost the processors since. */
	if (error == EPERM || error == EINVAL)
		error = thread_create(&thread, false, start);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error != 0) {
		start_release(start);
		errno = error;
		return CTRACE_OS_ERROR;
	}
	memcpy(out_pthread, &thread, sizeof thread);
	return CTRACE_OK;
}

/* The mask that the first thread had when it ended: those that are left usually have the same. */
static sigset_t mask_of_first_thread(void)
{
	sigset_t mask = of_program.mask;
	struct ct_buf status;
	const char *at;

	ct_buf_init(&status);
	if (ct_os_read_file("/proc/self/status", STATUS_LIMIT, &status) == CTRACE_OK &&
	    (at = strstr(ct_buf_text(&status), "\nSigBlk:")) != NULL) {
		uint64_t bits = strtoull(at + strlen("\nSigBlk:"), NULL, 16);

		memcpy(&mask, &bits, sizeof bits);
	}
	ct_buf_fini(&status);
	return mask;
}

/* Not one of ours: what it calls takes it for a thread of the program. */
static void *program_thread_run(void *argument)
{
	void *(*body)(void *);
	sigset_t mask = mask_of_first_thread();

	memcpy(&body, argument, sizeof body);
	(void)prctl(PR_SET_NAME, "ctrace-end");
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return body(NULL);
}

enum ctrace_status ct_os_thread_start_program(void *(*body)(void *unused))
{
	static void *(*started)(void *);
	pthread_t thread;

	started = body;
	if (pthread_create(&thread, NULL, program_thread_run, &started) != 0)
		return CTRACE_OS_ERROR;
	(void)pthread_detach(thread);
	return CTRACE_OK;
}
