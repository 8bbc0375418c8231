/*
 * step.c - step PATH instructions=K: kills a traced child after K instructions of its trace call.
 *
 * The child puts itself into the situation that PATH names, stops, and makes its calls; the parent
 * steps it through them and kills it.  Status 0: killed inside the calls; 3: they had returned. The
 * child's tally says which events must be there.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "thread_buffers.h"

#include <ctrace/ctrace.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ctrace_tracer tracer = CTRACE_TRACER("battery");
static struct tally *tally;
static long calls = 1;

static void require(bool truth, int line)
{
	if (truth)
		return;
	(void)dprintf(2, "# step.c:%d\n", line);
	_exit(99);
}
#define REQUIRE(truth) require((truth), __LINE__)

static void inline_trace(unsigned thread_buffer)
{
	char text[THREAD_BUFFER_TEXT_LIMIT];
	uint64_t number = tally->begun[thread_buffer] + 1;
	unsigned size = thread_buffer_text(text, thread_buffer, number);

	__atomic_store_n(&tally->begun[thread_buffer], number, __ATOMIC_RELEASE);
	CTRACE(&tracer, CTRACE_INFO, thread_buffer, CTRACE_U32(thread_buffer), CTRACE_U64(number),
	       CTRACE_TEXT(text, size));
	__atomic_store_n(&tally->returned[thread_buffer], number, __ATOMIC_RELEASE);
}

static void outline_trace(unsigned thread_buffer)
{
	char text[THREAD_BUFFER_TEXT_LIMIT];
	uint64_t number = tally->begun[thread_buffer] + 1;
	unsigned size = thread_buffer_text(text, thread_buffer, number);
	struct ctrace_item items[3] = { CTRACE_U32(thread_buffer), CTRACE_U64(number),
					CTRACE_TEXT(text, size) };

	__atomic_store_n(&tally->begun[thread_buffer], number, __ATOMIC_RELEASE);
	(void)ctrace_emit(&tracer, CTRACE_INFO, thread_buffer, items, 3);
	__atomic_store_n(&tally->returned[thread_buffer], number, __ATOMIC_RELEASE);
}

static void stepped(void (*trace)(unsigned))
{
	REQUIRE(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	REQUIRE(raise(SIGSTOP) == 0);
	for (long i = 0; i < calls; i++)
		trace(1);
	__atomic_store_n(&tally->finished, 1, __ATOMIC_RELEASE);
	REQUIRE(raise(SIGSTOP) == 0);
}

static void trace_before(long events)
{
	for (long i = 0; i < events; i++)
		inline_trace(1);
}

static void handler(int number)
{
	(void)number;
	inline_trace(2);
}

/* The output is held and the ring is full: the next call drops something. */
static void fill_ring(void)
{
	bool (*is_held)(void) = (bool (*)(void))dlsym(RTLD_DEFAULT, "hold_is_held");

	REQUIRE(is_held != NULL);
	inline_trace(1);
	while (!is_held())
		inline_trace(1);
	trace_before(5000);
}

static void child(const char *path, long before)
{
	struct sigaction action = { .sa_handler = handler };

	if (strcmp(path, "first") == 0) {
		stepped(inline_trace);
	} else if (strcmp(path, "slow") == 0) {
		trace_before(3);
		stepped(outline_trace);
	} else if (strcmp(path, "discard") == 0 || strcmp(path, "overwrite") == 0) {
		fill_ring();
		stepped(inline_trace);
	} else {
		REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
		trace_before(before);
		stepped(inline_trace);
	}
}

static long option(char **at, const char *key, long usual)
{
	for (size_t size = strlen(key); *at != NULL; at++)
		if (strncmp(*at, key, size) == 0 && (*at)[size] == '=')
			return atol(*at + size + 1);
	return usual;
}

int main(int count, char **values)
{
	const char *path = getenv("BATTERY_TALLY");
	int status, fd;
	long instructions, signal_at;
	pid_t pid;

	REQUIRE(count > 1 && path != NULL);
	instructions = option(values, "instructions", 1);
	signal_at = option(values, "signal_at", 0); /* SIGUSR1 comes after so many */
	calls = option(values, "calls", 1);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	REQUIRE(fd >= 0 && ftruncate(fd, 65536) == 0);
	tally = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	REQUIRE(tally != MAP_FAILED);
	pid = fork();
	if (pid == 0) {
		child(values[1], option(values, "before", 3));
		_exit(0);
	}
	REQUIRE(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) &&
		WSTOPSIG(status) == SIGSTOP);
	for (long i = 0; i < instructions; i++) {
		REQUIRE(ptrace(PTRACE_SINGLESTEP, pid, NULL,
			       (void *)(signal_at != 0 && i == signal_at ? (intptr_t)SIGUSR1
									 : 0)) == 0);
		REQUIRE(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
		if (WSTOPSIG(status) == SIGSTOP)
			break;
	}
	REQUIRE(kill(pid, SIGKILL) == 0);
	do
		REQUIRE(waitpid(pid, &status, 0) == pid);
	while (!WIFSIGNALED(status));
	return tally->finished != 0 ? 3 : 0;
}
