/*
 * steps.c - a traced program that does what its arguments say, one step after another; for tests
 * that are scripts.
 *
 *     trace COMPONENT LEVEL COUNT   COUNT events (id 1) with two items: 1, 2, 3 ... and "step"
 *     emit COMPONENT LEVEL          one event (id 2); says the status
 *     items COMPONENT LEVEL         one event (id 3) with an item of each type
 *     text COMPONENT LEVEL TEXT     one event (id 4) with a text
 *     thread COMPONENT LEVEL COUNT  trace, on a thread of its own
 *     define COUNT                  COUNT sublevels of a head, by component trace; deletes them
 *                                   with the head
 *     flush                         says the status
 *     stats                         says emitted, delivered, pending and the sum of the lost
 *     configure LINE                says the status
 *     pid                           says it
 *     say TEXT, err TEXT            writes a line to descriptor 1 or 2
 *     open FILE                     opens (and creates) a file and says the descriptor
 *     reaper                        becomes a subreaper
 *     count, ignore                 counts SIGCHLD, or ignores it
 *     children                      says how many SIGCHLD came, and what wait() finds
 *     fork                          a child does the rest, and the parent waits for it
 *     close N, chroot DIRECTORY, chdir DIRECTORY, files LIMIT, setuid UID, pause, exit STATUS,
 * kill, crash
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/component.h>
#include <ctrace/ctrace.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char **next;

static const char *argument(void)
{
	if (*next == NULL) {
		(void)dprintf(2, "steps: an argument is missing\n");
		_exit(98);
	}
	return *next++;
}

static int number(void)
{
	return atoi(argument());
}

static void require(int truth, const char *what)
{
	if (!truth) {
		(void)dprintf(2, "steps: %s: %s\n", what, strerror(errno));
		_exit(97);
	}
}

/* Where there is no tracer, its events are still traced, and lost. */
static struct ctrace_tracer *tracer(void)
{
	static struct ctrace_tracer unregistered = CTRACE_TRACER("unregistered");
	struct ctrace_tracer *found = NULL;

	return ctrace_tracer_get(argument(), &found) == CTRACE_OK ? found : &unregistered;
}

struct run {
	struct ctrace_tracer *tracer;
	uint32_t level;
	int count;
};

static struct run run_of_arguments(void)
{
	struct run run = { .tracer = tracer() };

	run.level = (uint32_t)number();
	return run;
}

static void *trace(void *user)
{
	const struct run *run = user;

	for (int i = 1; i <= run->count; i++)
		CTRACE(run->tracer, run->level, 1, CTRACE_U32((uint32_t)i), CTRACE_STR("step"));
	return NULL;
}

static void step_trace(int own_thread)
{
	struct run run = run_of_arguments();
	pthread_t thread;

	run.count = number();
	if (!own_thread) {
		(void)trace(&run);
		return;
	}
	require(pthread_create(&thread, NULL, trace, &run) == 0, "thread");
	(void)pthread_join(thread, NULL);
}

static void step_emit(void)
{
	struct run run = run_of_arguments();

	(void)dprintf(1, "%s\n",
		      ctrace_status_name(ctrace_emit(run.tracer, run.level, 2, NULL, 0)));
}

static void step_items(void)
{
	static const unsigned char ten[] = { 0x31, 0x32, 0x33, 0x34, 0x35,
					     0x36, 0x37, 0x38, 0x39, 0x3A };
	static const unsigned char minus_two[] = { 0xFF, 0xFE };
	struct run run = run_of_arguments();

	CTRACE(run.tracer, run.level, 3, CTRACE_BIN(ten, sizeof ten), CTRACE_TEXT("te\"xt", 5),
	       CTRACE_ADDR((void *)0x7FFC0010), CTRACE_U16(65535), CTRACE_I16(-1),
	       CTRACE_XU(minus_two, 2), CTRACE_XI(minus_two, 2), CTRACE_UTF8("\303\244\n", 3));
}

static void step_text(void)
{
	struct run run = run_of_arguments();
	const char *text = argument();

	CTRACE(run.tracer, run.level, 4, CTRACE_STR(text));
}

static void step_stats(void)
{
	struct ctrace_stats stats = { .size = sizeof stats };
	unsigned long long lost = 0;

	ctrace_stats_get(&stats);
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		lost += stats.lost[i];
	(void)dprintf(1, "emitted %llu delivered %llu pending %llu lost %llu\n",
		      (unsigned long long)stats.emitted, (unsigned long long)stats.delivered,
		      (unsigned long long)stats.pending, lost);
}

static void step_files(void)
{
	struct rlimit limit;

	limit.rlim_cur = limit.rlim_max = (rlim_t)number();
	require(setrlimit(RLIMIT_NOFILE, &limit) == 0, "files");
}

static uint32_t agree(struct ctrace_ctss *ctss)
{
	(void)ctss;
	return 0;
}

static volatile sig_atomic_t child_signals;

static void count_child(int number)
{
	(void)number;
	child_signals++;
}

static void step_children(void)
{
	siginfo_t info = { .si_pid = 0 };
	int found = waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT);
	const char *error = found == 0 ? "found" : errno == ECHILD ? "ECHILD" : "failed";

	(void)printf("%d %s %s\n", (int)child_signals, error,
		     wait(NULL) < 0 && errno == ECHILD ? "ECHILD" : "found");
	(void)fflush(stdout);
}

static void step_define(void)
{
	struct ctrace_define asked = { CTRACE_DEFINE_INIT, .name = "STEPS", .startnam = "STEPSSS",
				       .head = CTRACE_YES, .headopts = CTRACE_YES };
	struct ctrace_delete unasked = { CTRACE_DELETE_INIT, .name = "STEPS" };
	int count = number();
	char sub[16];

	require(ctrace_routine_register("STEPSSS", agree) == CTRACE_OK, "register");
	require(ctrace_component_define(&asked, NULL) == CTRACE_RC_OK, "define the head");
	asked.head = asked.headopts = 0;
	asked.manysubs = CTRACE_YES;
	asked.sub = sub;
	for (int i = 0; i < count; i++) {
		(void)snprintf(sub, sizeof sub, "SUB%d", i);
		require(ctrace_component_define(&asked, NULL) == CTRACE_RC_OK, sub);
	}
	require(ctrace_component_delete(&unasked, NULL) == CTRACE_RC_OK, "delete");
}

static void step_fork(void)
{
	pid_t child = fork();

	require(child >= 0, "fork");
	if (child == 0)
		return;
	require(waitpid(child, NULL, 0) == child, "wait");
	while (*next != NULL)
		next++;
}

static void step(const char *verb)
{
	if (strcmp(verb, "trace") == 0 || strcmp(verb, "thread") == 0)
		step_trace(verb[1] == 'h');
	else if (strcmp(verb, "emit") == 0)
		step_emit();
	else if (strcmp(verb, "items") == 0)
		step_items();
	else if (strcmp(verb, "text") == 0)
		step_text();
	else if (strcmp(verb, "reaper") == 0)
		require(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, verb);
	else if (strcmp(verb, "count") == 0)
		(void)signal(SIGCHLD, count_child);
	else if (strcmp(verb, "ignore") == 0)
		(void)signal(SIGCHLD, SIG_IGN);
	else if (strcmp(verb, "children") == 0)
		step_children();
	else if (strcmp(verb, "define") == 0)
		step_define();
	else if (strcmp(verb, "flush") == 0)
		(void)dprintf(1, "%s\n", ctrace_status_name(ctrace_flush(30000)));
	else if (strcmp(verb, "stats") == 0)
		step_stats();
	else if (strcmp(verb, "configure") == 0)
		(void)dprintf(1, "%s\n", ctrace_status_name(ctrace_configure(argument())));
	else if (strcmp(verb, "pid") == 0)
		(void)dprintf(1, "%d\n", (int)getpid());
	else if (strcmp(verb, "say") == 0)
		(void)dprintf(1, "%s\n", argument());
	else if (strcmp(verb, "err") == 0)
		(void)dprintf(2, "%s\n", argument());
	else if (strcmp(verb, "open") == 0)
		(void)dprintf(1, "%d\n", open(argument(), O_RDWR | O_CREAT, 0600));
	else if (strcmp(verb, "close") == 0)
		(void)close(number());
	else if (strcmp(verb, "chroot") == 0)
		require(chroot(argument()) == 0 && chdir("/") == 0, "chroot");
	else if (strcmp(verb, "chdir") == 0)
		require(chdir(argument()) == 0, "chdir");
	else if (strcmp(verb, "files") == 0)
		step_files();
	else if (strcmp(verb, "setuid") == 0)
		require(setuid((uid_t)number()) == 0, "setuid");
	else if (strcmp(verb, "pause") == 0)
		while (getchar() != '\n' && !feof(stdin))
			;
	else if (strcmp(verb, "fork") == 0)
		step_fork();
	else if (strcmp(verb, "exit") == 0)
		exit(number());
	else if (strcmp(verb, "crash") == 0)
		__builtin_trap();
	else if (strcmp(verb, "kill") == 0)
		(void)kill(getpid(), SIGKILL);
	else
		require(0, verb);
}

int main(int argc, char **argv)
{
	(void)argc;
	next = argv + 1;
	while (*next != NULL)
		step(argument());
	return 0;
}
