/*
 * thread_buffers.c - the subject of most trials: thread buffers MODE [KEY=NUMBER]... traces events
 * that prove themselves (thread_buffers.h).
 *
 * Each mode puts the library into one situation; the trial that starts it says which, and checks
 * what came of it.  No mode waits for a time to pass: a thread is held at a known place until a
 * condition holds.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "thread_buffers.h"

#include <ctrace/ctrace.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ctrace_tracer tracer = CTRACE_TRACER("battery");
static struct tally *tally;
static char **arguments;

static void require(bool truth, int line)
{
	if (truth)
		return;
	(void)dprintf(2, "# thread_buffers.c:%d: %s\n", line, strerror(errno));
	_exit(99);
}
#define REQUIRE(truth) require((truth), __LINE__)

static long option(const char *key, long usual)
{
	size_t size = strlen(key);

	for (char **at = arguments; *at != NULL; at++)
		if (strncmp(*at, key, size) == 0 && (*at)[size] == '=')
			return atol(*at + size + 1);
	return usual;
}

static void tally_open(void)
{
	const char *path = getenv("BATTERY_TALLY");
	struct stat info;
	int fd;

	REQUIRE(path != NULL);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	REQUIRE(fd >= 0 && fstat(fd, &info) == 0 &&
		(info.st_size == 65536 || ftruncate(fd, 65536) == 0));
	tally = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	REQUIRE(tally != MAP_FAILED && close(fd) == 0);
}

/* The next event of a thread buffer, by the inline call. */
static void thread_buffer_trace(unsigned thread_buffer)
{
	char text[THREAD_BUFFER_TEXT_LIMIT];
	uint64_t number = tally->begun[thread_buffer] + 1;
	unsigned size = thread_buffer_text(text, thread_buffer, number);

	__atomic_store_n(&tally->begun[thread_buffer], number, __ATOMIC_RELEASE);
	CTRACE(&tracer, CTRACE_INFO, thread_buffer, CTRACE_U32(thread_buffer), CTRACE_U64(number),
	       CTRACE_TEXT(text, size));
	__atomic_store_n(&tally->returned[thread_buffer], number, __ATOMIC_RELEASE);
}

/* The same for a thread buffer in which calls may nest: the number is taken at once, and the order
 * is not checked. */
static void thread_buffer_trace_nested(unsigned thread_buffer)
{
	char text[THREAD_BUFFER_TEXT_LIMIT];
	uint64_t number = __atomic_add_fetch(&tally->begun[thread_buffer], 1, __ATOMIC_RELAXED);
	unsigned size = thread_buffer_text(text, thread_buffer, number);
	struct ctrace_item items[3] = { CTRACE_U32(thread_buffer), CTRACE_U64(number),
					CTRACE_TEXT(text, size) };

	(void)ctrace_emit(&tracer, CTRACE_INFO, thread_buffer, items, 3);
	(void)__atomic_add_fetch(&tally->returned[thread_buffer], 1, __ATOMIC_RELAXED);
}

static void thread_buffer_burst(unsigned thread_buffer, long events)
{
	for (long i = 0; i < events; i++)
		thread_buffer_trace(thread_buffer);
}

/* By glob(), whose calls sysfail.c does not see. */
static bool has_directory(void)
{
	char pattern[4096];
	glob_t found;
	const char *run = getenv("CTRACE_RUN_DIR");

	(void)snprintf(pattern, sizeof pattern, "%s/%d.*", run != NULL ? run : "", (int)getpid());
	if (glob(pattern, 0, NULL, &found) != 0)
		return false;
	globfree(&found);
	return true;
}

static void stats_note(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };

	ctrace_stats_get(&stats);
	tally->emitted = stats.emitted;
	tally->delivered = stats.delivered;
	tally->pending = stats.pending;
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT && i < 16; i++)
		tally->lost[i] = stats.lost[i];
	tally->has_directory = has_directory();
	__atomic_store_n(&tally->has_stats, 1, __ATOMIC_RELEASE);
}

/* end=0 returns, 1 is SIGKILL, 2 is _exit(). */
static int subject_end(void)
{
	if (option("flush", 1) != 0)
		tally->note[15] = (uint64_t)ctrace_flush((uint32_t)option("flush_ms", 60000));
	if (option("stats", 1) != 0)
		stats_note();
	__atomic_store_n(&tally->finished, 1, __ATOMIC_RELEASE);
	if (option("end", 0) == 1)
		(void)kill(getpid(), SIGKILL);
	if (option("end", 0) == 2)
		_exit(0);
	return 0;
}

static pthread_t thread_start(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	REQUIRE(pthread_create(&thread, NULL, body, argument) == 0);
	return thread;
}

static void thread_join(pthread_t thread)
{
	REQUIRE(pthread_join(thread, NULL) == 0);
}

static pthread_barrier_t stop_barrier;

/* stops=K: the process stands still K times.  All threads have traced an equal part then, and its
 * events are in the output. */
static void *burst_thread(void *argument)
{
	long events = option("events", 1000), stops = option("stops", 0);

	for (long i = 1; i <= stops; i++) {
		thread_buffer_burst((unsigned)(uintptr_t)argument, events / (stops + 1));
		if (pthread_barrier_wait(&stop_barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
			REQUIRE(ctrace_flush(60000) == CTRACE_OK);
			/* Of this thread, which does not go on before: two that are pending would
			 * be one. */
			REQUIRE(raise(SIGSTOP) == 0);
		}
		(void)pthread_barrier_wait(&stop_barrier);
	}
	thread_buffer_burst((unsigned)(uintptr_t)argument, events - events / (stops + 1) * stops);
	return NULL;
}

static void child_wait(pid_t pid)
{
	int status;

	REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		WEXITSTATUS(status) == 0);
}

/* Another thread's first event, and a child that traces one: what a lock that nobody gives back
 * stops. */
static void others_go_on(unsigned thread_buffer)
{
	pid_t pid;

	thread_join(thread_start(burst_thread, (void *)(uintptr_t)thread_buffer));
	pid = fork();
	if (pid == 0) {
		thread_buffer_trace(thread_buffer + 1);
		(void)!ctrace_flush(60000);
		_exit(0);
	}
	child_wait(pid);
}

/* ---- burst: threads, thread buffers 1.., events each ---- */
static int mode_burst(void)
{
	pthread_t thread[THREAD_BUFFERS];
	long threads = option("threads", 1);

	if (threads == 1) {
		thread_buffer_burst((unsigned)option("thread_buffer", 1), option("events", 1000));
		return subject_end();
	}
	REQUIRE(pthread_barrier_init(&stop_barrier, NULL, (unsigned)threads) == 0);
	for (long i = 0; i < threads; i++)
		thread[i] = thread_start(burst_thread, (void *)(uintptr_t)(i + 1));
	for (long i = 0; i < threads; i++)
		thread_join(thread[i]);
	return subject_end();
}

/* ---- trickle: events one by one, each flushed, so that each takes a write of its own ---- */
static int mode_trickle(void)
{
	for (long i = 0; i < option("events", 20); i++) {
		thread_buffer_trace(1);
		(void)!ctrace_flush((uint32_t)option("flush_ms", 60000));
	}
	return subject_end();
}

/* ---- mixed: events one by one, then in bursts ---- */
static int mode_mixed(void)
{
	for (int i = 0; i < 8; i++) {
		thread_buffer_trace(3);
		(void)!ctrace_flush((uint32_t)option("flush_ms", 60000));
	}
	return mode_burst();
}

/* ---- oversize: losses that no later event tells of ---- */
static int mode_oversize(void)
{
	static char large[CTRACE_MAX_ITEM_SIZE + 1];

	thread_buffer_trace(1);
	(void)!ctrace_flush(60000);
	for (long i = 0; i < option("events", 100); i++) {
		tally->begun[1]++;
		CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_BIN(large, sizeof large));
		tally->returned[1]++;
	}
	return subject_end();
}

/* ---- cancel: a cancel is pending when a thread makes its first event (attached=0: the process's
 * first) ---- */
static volatile int may_go;

static void *cancelled_tracer(void *argument)
{
	(void)argument;
	while (!may_go)
		(void)sched_yield(); /* no cancellation point */
	thread_buffer_trace(1);
	for (;;)
		pthread_testcancel();
	return NULL;
}

static int mode_cancel(void)
{
	for (long round = 0; round < option("rounds", 1); round++) {
		pthread_t victim;

		may_go = 0;
		if (option("attached", 1) != 0)
			thread_buffer_trace(3);
		victim = thread_start(cancelled_tracer, NULL);
		REQUIRE(pthread_cancel(victim) == 0);
		may_go = 1;
		thread_join(victim);
		others_go_on(4);
	}
	return subject_end();
}

/* ---- cancel_commands: a cancel is pending at command number n of a thread ---- */
static void command_level(void)
{
	(void)!ctrace_level_set("battery.other", CTRACE_DEBUG);
}
static void command_tracer(void)
{
	struct ctrace_tracer *made;

	(void)!ctrace_tracer_get("battery.made", &made);
}
static void command_configure(void)
{
	(void)!ctrace_configure("mftrace.level.battery.third = debug");
}
static void command_dest(void)
{
	(void)!ctrace_dest_set("battery.other", "BINFILE", CTRACE_DEST_ADD);
	(void)!ctrace_dest_set("battery.other", "BINFILE", CTRACE_DEST_REMOVE);
}
static void command_component_property(void)
{
	(void)!ctrace_component_property_set("battery.other", "P", "1");
}
static void command_emitter_property(void)
{
	(void)!ctrace_emitter_property_set("JOURNAL", "DELIMCHAR", "|");
}
static void command_property_get(void)
{
	char value[64];
	size_t size = sizeof value;

	(void)!ctrace_emitter_property_get("TEXTFILE", "FORMAT", value, &size);
}
static void command_flush(void)
{
	(void)!ctrace_flush(60000);
}
static void command_stats(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };

	ctrace_stats_get(&stats);
}
static void (*const commands[])(void) = {
	command_level,
	command_tracer,
	command_configure,
	command_dest,
	command_component_property,
	command_emitter_property,
	command_property_get,
	command_flush,
	command_stats,
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static void *cancelled_commander(void *argument)
{
	while (!may_go)
		(void)sched_yield();
	commands[(uintptr_t)argument]();
	for (;;)
		pthread_testcancel();
	return NULL;
}

static void *commander(void *argument)
{
	commands[(uintptr_t)argument]();
	return NULL;
}

static int mode_cancel_commands(void)
{
	thread_buffer_trace(3);
	for (uintptr_t i = 0; i < COMMANDS; i++) {
		pthread_t victim;

		may_go = 0;
		victim = thread_start(cancelled_commander, (void *)i);
		REQUIRE(pthread_cancel(victim) == 0);
		may_go = 1;
		tally->note[0] = i + 1;
		thread_join(victim);
		thread_join(thread_start(commander, (void *)i));
		thread_buffer_trace(3);
		others_go_on(4);
	}
	return subject_end();
}

/* ---- cancel_async: threads that may be cancelled anywhere, in the middle of trace calls ---- */
static void *asynchronous_victim(void *argument)
{
	REQUIRE(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
	(void)argument;
	for (;;)
		thread_buffer_trace_nested(1);
	return NULL;
}

static int mode_cancel_async(void)
{
	thread_buffer_trace(3);
	for (long round = 0; round < option("rounds", 50); round++) {
		uint64_t until = __atomic_load_n(&tally->begun[1], __ATOMIC_RELAXED) +
				 (uint64_t)(round * 13 % 97);
		pthread_t victim = thread_start(asynchronous_victim, NULL);

		while (__atomic_load_n(&tally->begun[1], __ATOMIC_RELAXED) < until)
			;
		REQUIRE(pthread_cancel(victim) == 0);
		thread_join(victim);
		thread_buffer_trace(3);
	}
	others_go_on(4);
	return subject_end();
}

/* ---- handler_commands: a handler traces while its own thread is in a command ---- */
static long timer_us; /* 0: stopped */

/* One signal after that time.  Each handler asks for the next one, because signals at a fixed rate
 * would leave a slow machine no time for anything else. */
static void timer_arm(void)
{
	struct itimerval once = { { 0, 0 }, { 0, __atomic_load_n(&timer_us, __ATOMIC_RELAXED) } };

	REQUIRE(setitimer(ITIMER_REAL, &once, NULL) == 0);
}

static void timer_start(void (*handler)(int), int flags, long microseconds)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
	__atomic_store_n(&timer_us, microseconds, __ATOMIC_RELAXED);
	timer_arm();
}

static void timer_stop(void)
{
	__atomic_store_n(&timer_us, 0, __ATOMIC_RELAXED);
	timer_arm();
}

static void handler_trace(int number)
{
	int kept = errno;

	(void)number;
	thread_buffer_trace_nested(2);
	timer_arm();
	errno = kept;
}

static int mode_handler_commands(void)
{
	thread_buffer_trace(1);
	timer_start(handler_trace, SA_RESTART, option("us", 500));
	for (long i = 0; i < option("commands", 2000) || tally->begun[2] < 100; i++) {
		(void)!ctrace_emitter_property_set("TEXTFILE", "HEXBLOCKSIZE", i & 1 ? "8" : "4");
		commands[(unsigned long)i % COMMANDS]();
		tally->note[0] = (uint64_t)i;
	}
	timer_stop();
	return subject_end();
}

/* ---- handler_main: a handler that may interrupt itself, beside a busy main line ---- */
static volatile sig_atomic_t depth;

static void handler_trace_nested(int number)
{
	int kept = errno;

	(void)number;
	/* On a busy machine handlers alone could take all of the processor's time. */
	if (tally->begun[2] >= (uint64_t)option("handlers", 50000))
		timer_stop();
	/* The next signal may interrupt this handler, except the innermost.  When none is under
	 * way, one is always to come. */
	depth++;
	if (depth < 8)
		timer_arm();
	thread_buffer_trace_nested(2);
	depth--;
	if (depth == 0)
		timer_arm();
	errno = kept;
}

static void handler_nothing(int number)
{
	(void)number;
	timer_arm();
}

static int mode_handler_main(void)
{
	if (option("early", 0) != 0)
		timer_start(handler_nothing, SA_RESTART, option("us", 20));
	thread_buffer_trace(1);
	timer_start(handler_trace_nested, SA_NODEFER, option("us", 20));
	thread_buffer_burst(1, option("events", 300000) - 1);
	while (tally->begun[2] < 1000)
		thread_buffer_trace(1);
	timer_stop();
	return subject_end();
}

/* ---- fork_exit: exit() on one thread while another forks ---- */
static void *forker(void *argument)
{
	(void)argument;
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid > 0)
			(void)waitpid(pid, NULL, 0);
		(void)__atomic_add_fetch(&tally->note[0], 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

#if defined(__x86_64__)
#define SPIN_PAUSE "pause"
#else
#define SPIN_PAUSE "nop"
#endif

static int mode_fork_exit(void)
{
	long forks = option("forks", 10);
	long size = option("megabytes", 0) << 20;

	if (size != 0)
		/* a fork takes longer in a large process */
		memset(malloc((size_t)size), 1, (size_t)size);
	thread_buffer_trace(1);
	(void)thread_start(forker, NULL);
	while (__atomic_load_n(&tally->note[0], __ATOMIC_ACQUIRE) < (uint64_t)forks)
		;
	for (long i = 0; i < option("spin", 0); i++)
		__asm__ volatile(SPIN_PAUSE);
	__atomic_store_n(&tally->finished, 1, __ATOMIC_RELEASE);
	return 0;
}

/* ---- constructor: a constructor traces while another thread makes the process's first event ----
 */
static long thread_number;

static void *first_tracer(void *argument)
{
	(void)argument;
	__atomic_store_n(&thread_number, syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!may_go)
		(void)sched_yield();
	thread_buffer_trace(1);
	may_go = 2;
	return NULL;
}

static bool thread_sleeps(long tid)
{
	char path[64], text[64] = "";
	int fd;

	(void)snprintf(path, sizeof path, "/proc/self/task/%ld/syscall", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	(void)!read(fd, text, sizeof text - 1);
	(void)close(fd);
	return strncmp(text, "202 ", 4) == 0; /* futex */
}

/* Called by the constructor of constructor.so, which holds the loader's lock: lets the other thread
 * make the first event, waits until that thread has done so or sleeps, and then traces. */
__attribute__((visibility("default"))) void thread_buffers_in_constructor(void);
void thread_buffers_in_constructor(void)
{
	unsigned seen = 0;

	while (__atomic_load_n(&thread_number, __ATOMIC_ACQUIRE) == 0)
		(void)sched_yield();
	may_go = 1;
	while (may_go != 2 && seen < 50) {
		seen = thread_sleeps(thread_number) ? seen + 1 : 0;
		(void)usleep(1000);
	}
	thread_buffer_trace(3);
}

static int mode_constructor(void)
{
	pthread_t thread = thread_start(first_tracer, NULL);

	REQUIRE(dlopen(getenv("BATTERY_PLUGIN"), RTLD_NOW) != NULL);
	thread_join(thread);
	return subject_end();
}

/* ---- jump: handlers leave trace calls by siglongjmp ---- */
static sigjmp_buf escape;
static volatile int jump_depth;

static void fault_handler(int number)
{
	int level = ++jump_depth;

	(void)number;
	thread_buffer_trace_nested(2);
	if (level == 1 && option("deep", 0) != 0 && tally->note[0] % 3 == 0) {
		const char *volatile bad = (const char *)16;

		/* faults again: one handler level deeper */
		CTRACE(&tracer, CTRACE_INFO, 9, CTRACE_TEXT(bad, 10));
	}
	siglongjmp(escape, 1);
}

static int mode_jump(void)
{
	struct sigaction action = { .sa_handler = fault_handler, .sa_flags = SA_NODEFER };
	const char *volatile bad = (const char *)16;

	REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0);
	thread_buffer_trace(1);
	for (volatile long i = 0; i < option("jumps", 3000); i++) {
		jump_depth = 0;
		if (sigsetjmp(escape, 1) == 0) {
			tally->note[0] = (uint64_t)i;
			CTRACE(&tracer, CTRACE_INFO, 9, CTRACE_TEXT(bad, 10));
		}
	}
	thread_buffer_burst(3, option("events", 50000));
	return subject_end();
}

/* ---- closer: the program closes every descriptor and opens files of its own; held=1: while a
 * write of ours is held; everywhere=1: first one at every number ---- */
static volatile int closer_ends;

static void *endless_tracer(void *argument)
{
	(void)argument;
	while (!closer_ends)
		thread_buffer_trace(1);
	return NULL;
}

#define OWN_FILES 64
#define OWN_LINE "this file is the program's own\n"

/* An own file, which is empty, at every number there can be, while threads need rings. */
static void own_file_everywhere(void)
{
	int own = open("own.everywhere", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	pthread_t thread[8];

	REQUIRE(own >= 0);
	for (uintptr_t i = 0; i < 8; i++)
		thread[i] = thread_start(burst_thread, (void *)(4 + i));
	for (int fd = own + 1; fd < 4096; fd++)
		(void)dup2(own, fd);
	for (int fd = own + 1; fd < 4096; fd++)
		(void)close(fd);
	for (uintptr_t i = 0; i < 8; i++)
		thread_join(thread[i]);
}

/* Between open(2) and its move to a high number, a descriptor of ctrace has the lowest.  A program
 * that closes it in that moment and opens a file gets the number, which ctrace then closes
 * (docs/recovery.md).  It may happen once in a run. */
static int own_file(const char *name)
{
	static unsigned taken;

	for (;;) {
		int fd = open(name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

		if (fd >= 0 && write(fd, OWN_LINE, strlen(OWN_LINE)) == (ssize_t)strlen(OWN_LINE))
			return fd;
		REQUIRE(fd >= 0 && errno == EBADF && taken++ == 0);
	}
}

static void own_files(long round)
{
	int fd[OWN_FILES];
	char name[64];

	if (option("everywhere", 0) != 0)
		own_file_everywhere();
	(void)syscall(SYS_close_range, 3u, ~0u, 0u);
	for (int i = 0; i < OWN_FILES; i++) {
		(void)snprintf(name, sizeof name, "own/%ld.%d", round, i);
		fd[i] = own_file(name);
	}
	/* hold.so lets the write go on that it holds, if any, and returns when that has been made.
	 */
	void (*let_go)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "hold_let_go");
	if (let_go != NULL)
		let_go();
	for (long i = 0; i < option("beside", 200); i++)
		thread_buffer_trace(2);
	(void)!ctrace_flush(200);
	for (int i = 0; i < OWN_FILES; i++)
		(void)close(fd[i]);
}

static int mode_closer(void)
{
	bool (*is_held)(void) = (bool (*)(void))dlsym(RTLD_DEFAULT, "hold_is_held");
	pthread_t thread;

	thread_buffer_trace(3);
	(void)!ctrace_flush(60000);
	thread = thread_start(endless_tracer, NULL);
	for (long round = 0; round < option("rounds", 20); round++) {
		while (is_held != NULL ? !is_held() : tally->begun[1] < (uint64_t)(round + 1) * 500)
			(void)sched_yield();
		own_files(round);
		tally->note[0] = (uint64_t)round + 1;
		if (is_held != NULL)
			break;
	}
	closer_ends = 1;
	thread_join(thread);
	return subject_end();
}

/* ---- drop: the program attaches as root and gives its rights up ---- */
static int mode_drop(void)
{
	thread_buffer_trace(3);
	(void)!ctrace_flush(60000);
	REQUIRE(setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
	thread_buffer_trace(3);
	for (uintptr_t i = 0; i < 4; i++)
		thread_join(thread_start(burst_thread, (void *)(4 + i)));
	if (option("children", 1) != 0)
		others_go_on(10);
	return subject_end();
}

/* ---- held: the output is held (hold.so) until all events are traced; then the end ---- */
static int mode_held(void)
{
	bool (*is_held)(void) = (bool (*)(void))dlsym(RTLD_DEFAULT, "hold_is_held");
	void (*let_go)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "hold_let_go");

	REQUIRE(is_held != NULL && let_go != NULL);
	do {
		thread_buffer_trace(1);
		(void)sched_yield();
	} while (!is_held());
	thread_buffer_burst(1, option("events", 5000));
	if (option("again", 0) != 0) {
		/* The consumer sees what it has lost and is held anew, in the write that was to
		 * tell of it. */
		let_go();
		while (!is_held())
			thread_buffer_trace(1);
	}
	return subject_end();
}

/* ---- hung: an output hangs for ever; statistics, a command and a fork must come back all the same
 * ---- */
static int mode_hung(void)
{
	pid_t pid;

	thread_buffer_burst(1, option("events", 20000));
	tally->note[0] = 1;
	stats_note();
	tally->note[0] = 2;
	(void)!ctrace_level_set("battery.other", CTRACE_DEBUG);
	tally->note[0] = 3;
	pid = fork();
	if (pid == 0) {
		thread_buffer_trace(2);
		_exit(0);
	}
	child_wait(pid);
	tally->note[0] = 4;
	/* The trial looks at the process from outside meanwhile, and ends this by a byte. */
	(void)dprintf(1, "ready %d\n", (int)getpid());
	(void)!read(0, &(char){ 0 }, 1);
	thread_buffer_burst(1, option("more", 1000));
	tally->note[0] = 5;
	return subject_end();
}

/* ---- truncate: the process's own ring and session files are cut short while it traces.  often=K:
 * K times, and their mode does not prevent it ---- */
static bool file_is_truncated(int directory, const char *name)
{
	int fd;

	if (option("often", 0) > 0)
		(void)!fchmodat(directory, name, 0600, 0);
	fd = openat(directory, name, O_RDWR | O_CLOEXEC);
	bool is_done = fd >= 0 && ftruncate(fd, 0) == 0;

	if (fd >= 0)
		(void)close(fd);
	return is_done;
}

static void files_truncate(const char *directory, const char *prefix)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;

	REQUIRE(entries != NULL);
	while ((entry = readdir(entries)) != NULL)
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
			tally->note[0]++;
			tally->note[1] += file_is_truncated(dirfd(entries), entry->d_name);
		}
	(void)closedir(entries);
}

static void own_files_truncate(void)
{
	const char *run = getenv("CTRACE_RUN_DIR"), *what = getenv("BATTERY_WHAT");
	DIR *runs = opendir(run);
	struct dirent *entry;
	char path[300];

	REQUIRE(runs != NULL && what != NULL);
	while ((entry = readdir(runs)) != NULL) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof path, "%s/%s", run, entry->d_name);
		files_truncate(path, what);
	}
	(void)closedir(runs);
}

static int mode_truncate(void)
{
	pthread_t thread;

	thread_buffer_burst(1, 100);
	(void)!ctrace_flush(60000);
	if (option("often", 0) == 0) {
		own_files_truncate();
	} else {
		thread = thread_start(burst_thread, (void *)(uintptr_t)5);
		for (long i = 0; i < option("often", 0); i++) {
			own_files_truncate();
			thread_buffer_burst(1, 100);
		}
		thread_join(thread);
	}
	thread_buffer_burst(1, option("events", 5000));
	thread_join(thread_start(burst_thread, (void *)(uintptr_t)4));
	command_level();
	return subject_end();
}

/* ---- second: waits for a byte, so that the trial decides when it ends ---- */
static int mode_wait(void)
{
	thread_buffer_burst(1, option("events", 1000));
	(void)dprintf(1, "ready %d\n", (int)getpid());
	(void)!read(0, &(char){ 0 }, 1);
	return subject_end();
}

/* ---- two: two components, one of which alone has the failing destination ---- */
static struct ctrace_tracer second = CTRACE_TRACER("second");

static int mode_two(void)
{
	for (long i = 0; i < option("events", 100000); i++) {
		char text[THREAD_BUFFER_TEXT_LIMIT];
		uint64_t number = ++tally->begun[2];
		unsigned size = thread_buffer_text(text, 2, number);

		thread_buffer_trace(1);
		CTRACE(&second, CTRACE_INFO, 2, CTRACE_U32(2), CTRACE_U64(number),
		       CTRACE_TEXT(text, size));
		tally->returned[2] = number;
	}
	return subject_end();
}

static const struct {
	const char *name;
	int (*body)(void);
} modes[] = {
	{ "burst", mode_burst },
	{ "trickle", mode_trickle },
	{ "mixed", mode_mixed },
	{ "oversize", mode_oversize },
	{ "cancel", mode_cancel },
	{ "cancel_commands", mode_cancel_commands },
	{ "cancel_async", mode_cancel_async },
	{ "handler_commands", mode_handler_commands },
	{ "handler_main", mode_handler_main },
	{ "fork_exit", mode_fork_exit },
	{ "constructor", mode_constructor },
	{ "jump", mode_jump },
	{ "closer", mode_closer },
	{ "drop", mode_drop },
	{ "held", mode_held },
	{ "hung", mode_hung },
	{ "truncate", mode_truncate },
	{ "wait", mode_wait },
	{ "two", mode_two },
};

int main(int count, char **values)
{
	REQUIRE(count > 1);
	arguments = values + 2;
	tally_open();
	for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++)
		if (strcmp(modes[i].name, values[1]) == 0)
			return modes[i].body();
	(void)dprintf(2, "# thread buffers: no mode %s\n", values[1]);
	return 98;
}
