/*
 * watch_run.c - starts a program for a trigger.
 *
 * The traced program must not notice: it gets no SIGCHLD, its wait() finds no child, and there is
 * no zombie.  So a child that shares our memory and has no signal starts the program and ends, and
 * we wait for that child by its id; the program then belongs to init.
 *
 * A traced program that is process 1, or a subreaper, would get the program in that way.  There the
 * child stays, as the subreaper of the program and of what that leaves, until all of them have
 * ended or the traced process has.  Only wait4() with __WALL or __WCLONE finds that child; the
 * trigger thread takes its end.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/process/aside.h"

#define STACK ((size_t)128 << 10)
#define WORDS 4u
#define LOOK_NS 1000000000u /* somebody may kill the child */
#define KEEPERS 32u         /* children that stay; the trigger runs no further program meanwhile */

extern char **environ;

struct start {
	const char *path;
	char *const *words;
	const posix_spawn_file_actions_t *files;
	const posix_spawnattr_t *attributes;
	pid_t traced; /* not 0: the child stays while this process lives */
	int error;
	uint32_t has_started; /* atomic: `error` is the result, and the caller goes on */
};

/* Children that stay, by the process that has them; pid 0: free. */
static struct keeper {
	pid_t pid; /* atomic; -1: about to be known */
	void *stack;
} keepers[KEEPERS];

/* ---- in the child: its parent sleeps until has_started, and it uses that thread's storage ---- */

static int start_program(struct start *start)
{
	pid_t pid;

	return posix_spawn(&pid, start->path, start->files, start->attributes, start->words,
			   environ);
}

/* A system call without errno. */
static long call(long number, long a, long b, long c, long d)
{
#if defined __x86_64__
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
#elif defined __aarch64__
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#endif
}

/* The child's copies must not keep the traced program's files open, however long exec takes. */
static void descriptors_close(void)
{
	(void)call(SYS_close_range, 0, (long)UINT32_MAX, 0, 0);
}

static int start_run(void *argument)
{
	struct start *start = argument;

	descriptors_close();
	start->error = start_program(start);
	return 0; /* the child ends */
}

static void keep_until_end(int traced_fd, int signal_fd)
{
	struct pollfd polls[] = { { .fd = traced_fd, .events = POLLIN },
				  { .fd = signal_fd, .events = POLLIN } };
	struct signalfd_siginfo info;
	long got;

	for (;;) {
		do {
			got = call(SYS_wait4, -1, 0, WNOHANG | (long)__WALL, 0);
		} while (got > 0);
		if (got == -ECHILD)
			return;
		(void)call(SYS_ppoll, (long)polls, 2, 0, 0);
		if (polls[0].revents != 0)
			return;
		(void)call(SYS_read, signal_fd, (long)&info, sizeof info, 0);
	}
}

/* All signals are blocked, as on the thread that started it.  When the caller goes on, it makes
 * system calls alone. */
static int keeper_run(void *argument)
{
	struct start *start = argument;
	static const long ordinary[4]; /* the kernel's struct of SIG_DFL */
	sigset_t child;
	int traced_fd, signal_fd, error;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	/* An action of this child alone: the traced program may ignore the signal. */
	(void)call(SYS_rt_sigaction, SIGCHLD, (long)ordinary, 0, 8);
	(void)setsid();
	(void)prctl(PR_SET_NAME, "ctrace-run");
	descriptors_close();
	traced_fd = (int)call(SYS_pidfd_open, start->traced, 0, 0, 0);
	signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (traced_fd < 0 || signal_fd < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		error = ENOSYS;
	else
		error = start_program(start);
	start->error = error;
	/* The caller may return: *start and its storage are not used any more. */
	__atomic_store_n(&start->has_started, 1, __ATOMIC_RELEASE);
	(void)call(SYS_futex, (long)&start->has_started, 1 /* FUTEX_WAKE */, INT32_MAX, 0);
	if (error == 0)
		keep_until_end(traced_fd, signal_fd);
	(void)call(SYS_exit_group, 0, 0, 0, 0);
	return 0;
}

/* ---- children that stay ---- */

static bool child_has_ended(pid_t pid, int flags)
{
	pid_t got;

	do {
		got = waitpid(pid, NULL, (int)__WCLONE | flags);
	} while (got < 0 && errno == EINTR);
	return got != 0;
}

bool ct_trigger_collect(void)
{
	bool is_left = false;

	for (size_t i = 0; i < KEEPERS; i++) {
		pid_t pid = __atomic_load_n(&keepers[i].pid, __ATOMIC_ACQUIRE);

		if (pid <= 0)
			continue;
		if (!child_has_ended(pid, WNOHANG)) {
			is_left = true;
			continue;
		}
		(void)munmap(keepers[i].stack, STACK);
		__atomic_store_n(&keepers[i].pid, 0, __ATOMIC_RELEASE);
	}
	return is_left;
}

void ct_trigger_forget_programs(void)
{
	memset(keepers, 0, sizeof keepers);
}

static struct keeper *keeper_find(void)
{
	for (size_t i = 0; i < KEEPERS; i++) {
		pid_t none = 0;

		if (__atomic_compare_exchange_n(&keepers[i].pid, &none, -1, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return &keepers[i];
	}
	return NULL;
}

/* Returns true when the program would become a child of this process. */
static bool process_is_reaper(void)
{
	int is_reaper = 0;

	return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &is_reaper) == 0 && is_reaper != 0);
}

static void start_kept(struct start *start, void *stack, struct keeper *keeper)
{
	pid_t pid;

	start->traced = getpid();
	pid = clone(keeper_run, (char *)stack + STACK, CLONE_VM, start);
	if (pid < 0) {
		start->error = errno;
		(void)munmap(stack, STACK);
		__atomic_store_n(&keeper->pid, 0, __ATOMIC_RELEASE);
		return;
	}
	keeper->stack = stack;
	while (__atomic_load_n(&start->has_started, __ATOMIC_ACQUIRE) == 0) {
		ct_os_wait(&start->has_started, 0, LOOK_NS);
		if (child_has_ended(pid, WNOHANG)) {
			if (__atomic_load_n(&start->has_started, __ATOMIC_ACQUIRE) == 0)
				start->error = ECANCELED;
			(void)munmap(stack, STACK);
			pid = 0;
			break;
		}
	}
	__atomic_store_n(&keeper->pid, pid, __ATOMIC_RELEASE);
}

static int start_make(struct start *start)
{
	bool is_kept = process_is_reaper();
	struct keeper *keeper = is_kept ? keeper_find() : NULL;
	void *stack;
	pid_t pid;

	if (is_kept && keeper == NULL)
		return EAGAIN;
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
		     -1, 0);
	if (stack == MAP_FAILED) {
		if (is_kept)
			__atomic_store_n(&keeper->pid, 0, __ATOMIC_RELEASE);
		return ENOMEM;
	}
	if (is_kept) {
		start_kept(start, stack, keeper);
		return start->error;
	}
	/* Without a signal in the flags the parent gets none. */
	pid = clone(start_run, (char *)stack + STACK, CLONE_VM | CLONE_VFORK, start);
	if (pid < 0)
		start->error = errno;
	else
		(void)child_has_ended(pid, 0);
	(void)munmap(stack, STACK);
	return start->error;
}

static int program_run(const char *path, char *const words[])
{
	struct start start = { .path = path, .words = words };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t mask, all;
	int error = posix_spawn_file_actions_init(&files);

	if (error != 0)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (error == 0) {
		(void)sigfillset(&all);
		if (!ct_os_thread_mask(&mask))
			(void)sigemptyset(&mask);
		for (int fd = 0; error == 0 && fd < 3; fd++)
			error = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR,
								 0);
		if (error == 0)
			error = posix_spawn_file_actions_addclosefrom_np(&files, 3);
		(void)posix_spawnattr_setsigmask(&attributes, &mask);
		(void)posix_spawnattr_setsigdefault(&attributes, &all);
		(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
								    POSIX_SPAWN_SETSIGDEF |
								    POSIX_SPAWN_SETSID);
		start.files = &files;
		start.attributes = &attributes;
		if (error == 0)
			error = start_make(&start);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&files);
	return error;
}

/* ---- within the patience of a thread of the program ---- */

struct run {
	struct ct_aside aside;
	char *words[WORDS + 2]; /* the path, and what the program gets */
	int error;
};

static void run_destroy(struct ct_aside *self)
{
	struct run *run = (struct run *)(void *)self;

	for (size_t i = 0; i < CT_COUNT(run->words); i++)
		free(run->words[i]);
	free(run);
}

static void run_work(struct ct_aside *self)
{
	struct run *run = (struct run *)(void *)self;

	run->error = program_run(run->words[0], run->words);
}

int ct_trigger_run(const char *path, char *const words[])
{
	struct run *run = calloc(1, sizeof *run);
	int error = 0;

	if (run == NULL)
		return ENOMEM;
	run->aside = (struct ct_aside){ .work = run_work, .destroy = run_destroy };
	for (size_t i = 0; i <= WORDS && (i == 0 || words[i] != NULL); i++) {
		run->words[i] = strdup(i == 0 ? path : words[i]);
		error = run->words[i] == NULL ? ENOMEM : error;
	}
	if (error == 0 && !ct_aside_run(&run->aside))
		return ETIMEDOUT;
	if (error == 0)
		error = run->error;
	run_destroy(&run->aside);
	return error;
}
