/*
 * modesty.c - preloaded under a process test: puts every call of the public interface into a
 * situation.
 *
 * BATTERY_MODE=cancel: a cancel is pending in every thread, and can only be acted upon inside a
 * call of ctrace. BATTERY_MODE=alarm: while a command runs a timer's handler traces, into an
 * emitter without output. BATTERY_MODE=drop: after its first call that traces a process of root
 * gives up root's rights.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <ctrace/ctrace.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static enum { NONE, CANCEL, ALARM, DROP } mode;
/* no static one: it would need the library in every program that this is preloaded into */
static struct ctrace_tracer *tracer;
static pid_t prepared; /* the process that has its handler, or has given up its rights */
static __thread int inside;

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static void cancel_prepare(void)
{
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	(void)pthread_cancel(pthread_self());
}

__attribute__((constructor)) static void modesty_start(void)
{
	const char *text = getenv("BATTERY_MODE");

	if (text == NULL)
		return;
	mode = strcmp(text, "cancel") == 0  ? CANCEL
	       : strcmp(text, "alarm") == 0 ? ALARM
	       : strcmp(text, "drop") == 0  ? DROP
					    : NONE;
	if (mode == CANCEL)
		cancel_prepare();
}

static void trace_in_handler(int number)
{
	enum ctrace_status (*emit)(struct ctrace_tracer *, uint32_t, uint32_t,
				   const struct ctrace_item *, uint32_t) =
		(enum ctrace_status(*)(struct ctrace_tracer *, uint32_t, uint32_t,
				       const struct ctrace_item *, uint32_t))real("ctrace_emit");
	int kept = errno;

	(void)number;
	(void)emit(tracer, CTRACE_INFO, 1, NULL, 0);
	errno = kept;
}

static void timer_set(long microseconds)
{
	struct itimerval interval = { { 0, microseconds }, { 0, microseconds } };

	(void)setitimer(ITIMER_REAL, &interval, NULL);
}

static void tree_give(const char *path, uid_t user)
{
	DIR *directory = opendir(path);
	struct dirent *entry;

	(void)!lchown(path, user, (gid_t)user);
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		char below[4096];
		struct stat about;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    strcmp(entry->d_name, "run") == 0)
			continue;
		(void)__builtin_snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
		if (lstat(below, &about) != 0)
			continue;
		if (S_ISDIR(about.st_mode))
			tree_give(below, user);
		else
			(void)!lchown(below, user, (gid_t)user);
	}
	if (directory != NULL)
		(void)closedir(directory);
}

static void call_begin(void)
{
	if (inside++ != 0)
		return;
	if (mode == CANCEL)
		(void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	if (mode == ALARM) {
		if (prepared != getpid()) {
			struct sigaction action = { .sa_handler = trace_in_handler,
						    .sa_flags = SA_RESTART };
			enum ctrace_status (*configure)(const char *) =
				(enum ctrace_status(*)(const char *))real("ctrace_configure");

			enum ctrace_status (*get)(const char *, struct ctrace_tracer **) =
				(enum ctrace_status(*)(const char *, struct ctrace_tracer **))real(
					"ctrace_tracer_get");

			prepared = getpid();
			(void)configure("mftrace.dest.battery.alarm = (ES)");
			if (tracer == NULL && get("battery.alarm", &tracer) != CTRACE_OK)
				return;
			trace_in_handler(0);
			(void)sigaction(SIGALRM, &action, NULL);
		}
		timer_set(200);
	}
}

static void call_end(bool traces)
{
	int kept = errno;

	if (--inside == 0) {
		if (mode == CANCEL)
			(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		if (mode == ALARM)
			timer_set(0);
		if (mode == DROP && traces && prepared != getpid() && geteuid() == 0) {
			prepared = getpid();
			tree_give(".", 65534);
			(void)!setgroups(0, NULL);
			(void)!setgid(65534);
			(void)!setuid(65534);
		}
	}
	errno = kept;
}

#define WRAP(name, parameters, values, traces) \
	static enum ctrace_status(*name##_next) parameters; \
	/* before any thread: a call must not wait for whoever is in the loader */ \
	__attribute__((constructor)) static void name##_find(void) \
	{ \
		name##_next = (enum ctrace_status(*) parameters)real(#name); \
	} \
	__attribute__((visibility("default"))) enum ctrace_status name parameters \
	{ \
		enum ctrace_status status; \
		call_begin(); \
		status = name##_next values; \
		call_end(traces); \
		return status; \
	}

WRAP(ctrace_emit,
     (struct ctrace_tracer * at, uint32_t level, uint32_t id, const struct ctrace_item *items,
      uint32_t count),
     (at, level, id, items, count), true)
WRAP(ctrace_tracer_get, (const char *name, struct ctrace_tracer **out), (name, out), false)
WRAP(ctrace_configure, (const char *line), (line), false)
WRAP(ctrace_level_set, (const char *component, uint32_t level), (component, level), false)
WRAP(ctrace_level_get, (const char *component, uint32_t *out), (component, out), false)
WRAP(ctrace_dest_set, (const char *component, const char *emitter, uint32_t how),
     (component, emitter, how), false)
WRAP(ctrace_component_property_set,
     (const char *component, const char *property, const char *value), (component, property, value),
     false)
WRAP(ctrace_emitter_property_set, (const char *emitter, const char *property, const char *value),
     (emitter, property, value), false)

struct start {
	void *(*body)(void *);
	void *argument;
};

static void *thread_run(void *argument)
{
	struct start start = *(struct start *)argument;

	free(argument);
	cancel_prepare();
	return start.body(start.argument);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *restrict thread,
							  const pthread_attr_t *restrict attributes,
							  void *(*body)(void *),
							  void *restrict argument)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))real(
			"pthread_create");
	struct start *start;

	/* Threads that are made inside a call are the library's own. */
	if (mode != CANCEL || inside != 0)
		return next(thread, attributes, body, argument);
	start = malloc(sizeof *start);
	if (start == NULL)
		return EAGAIN;
	*start = (struct start){ body, argument };
	return next(thread, attributes, thread_run, start);
}
