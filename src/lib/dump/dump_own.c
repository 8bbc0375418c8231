/*
 * dump_own.c - a process dumps itself.
 *
 * Called on any thread of the program, and by the trigger thread; never in a signal handler.  A
 * thread of the program waits for the files within its patience (lib/process/aside.h).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/dump/dump.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <ctrace/ctrace.h>

#include "lib/dump/crash.h"
#include "lib/process/aside.h"

#define PATH_SIZE 4096u
#define REASON_SIZE 120u
#define ERROR_SIZE 1000u /* of a run-time error's text; what is longer is cut */

/* The last dump: another one within the same second for a reason of the same kind is the same. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	time_t second;
	char reason[REASON_SIZE];
	char path[PATH_SIZE];
	uint64_t events;
} last;

/* libctrace-cobol.so's; NULL: none.  Stored while the process starts its COBOL run time. */
static size_t (*place_print)(char *out, size_t room);
static bool error_was_dumped; /* atomic */

const uint32_t *ctrace_dump_place_(size_t (*print)(char *out, size_t room))
{
	__atomic_store_n(&place_print, print, __ATOMIC_RELEASE);
	return &ct_process.settings.dump_on;
}

size_t ct_dump_print_code_place(char out[CT_DUMP_PLACE])
{
	size_t (*print)(char *, size_t) = __atomic_load_n(&place_print, __ATOMIC_ACQUIRE);

	return print != NULL ? print(out, CT_DUMP_PLACE) : 0;
}

bool ct_dump_error_was_dumped(void)
{
	return __atomic_load_n(&error_was_dumped, __ATOMIC_RELAXED);
}

/* ctrace.dump.directory, else MFTRACE_LOGS, else the current directory: "". */
static void directory_find(const struct ct_process *process, char out[PATH_SIZE])
{
	size_t size = 0;
	const char *logs =
		ct_session_text(&process->session, process->session.head->log_directory, &size);

	ct_registry_lock(process->registry);
	(void)snprintf(out, PATH_SIZE, "%.*s", (int)process->settings.dump_directory_size,
		       process->settings.dump_directory);
	ct_registry_unlock(process->registry);
	if (out[0] == '\0')
		(void)snprintf(out, PATH_SIZE, "%.*s", (int)size, logs);
}

int ct_dump_print_place(const struct ct_process *process, char *out, size_t room)
{
	size_t size = 0;
	const char *current =
		ct_session_text(&process->session, process->session.head->working_directory, &size);
	char directory[PATH_SIZE];
	int printed;

	directory_find(process, directory);
	printed = snprintf(out, room, "directory: %.*s%s%s\nkeep: %u\nsize: %llu\n",
			   directory[0] == '/' ? 0 : (int)size, current,
			   directory[0] == '/' || directory[0] == '\0' || size == 0 ? "" : "/",
			   directory, process->settings.dump_keep,
			   (unsigned long long)process->settings.dump_size);
	return printed > 0 && (size_t)printed < room ? printed : 0;
}

/* what->details has the place of the program too. */
static enum ctrace_status dump_new(struct ct_process *process, const struct ct_dump_request *what)
{
	uint32_t keep = __atomic_load_n(&process->settings.dump_keep, __ATOMIC_RELAXED);
	uint64_t bytes = __atomic_load_n(&process->settings.dump_size, __ATOMIC_RELAXED);
	struct ct_dump_result result = { .events = 0 };
	char directory[PATH_SIZE];
	struct ct_dump_request request = { .own = &process->session,
					   .own_rings = process->pool,
					   .title = what->title,
					   .reason = what->reason,
					   .may_be_empty = what->may_be_empty };
	struct ct_buf details;
	enum ctrace_status status;
	const char *name;
	uint32_t removed;

	directory_find(process, directory);
	if (directory[0] != '\0')
		(void)mkdir(directory, 0700); /* if it cannot be made, the dump reports that */
	name = directory[0] != '\0' ? directory : ".";
	removed = ct_dump_make_room(name, keep - 1, bytes, "");
	ct_buf_init(&details);
	if (removed != 0)
		ct_buf_add_format(&details, "removed: %u\n", removed);
	if (what->details != NULL)
		ct_buf_add_text(&details, what->details);
	if (details.size != 0 && !details.failed)
		request.details = ct_buf_text(&details);
	status = ct_dump_make_in(directory, process->session.head, &request, last.path, PATH_SIZE,
				 &result);
	ct_buf_fini(&details);
	if (status == CTRACE_OK && !result.is_made)
		status = CTRACE_NOT_FOUND;
	if (status == CTRACE_OK) {
		const char *slash = strrchr(last.path, '/');

		(void)ct_dump_make_room(name, keep, bytes, slash != NULL ? slash + 1 : last.path);
	}
	last.events = result.events;
	return status;
}

/* The first word is the kind: two triggers in the same second make one dump. */
static bool reasons_are_of_a_kind(const char *one, const char *other)
{
	size_t size = strcspn(one, " ");

	return size == strcspn(other, " ") && memcmp(one, other, size) == 0;
}

struct work {
	struct ct_aside aside;
	struct ct_process *process;
	struct ct_dump_request request; /* of the texts below */
	char title[CT_DUMP_TITLE + 1];
	char reason[REASON_SIZE];
	struct ct_buf details;
	enum ctrace_status status;
	int error; /* errno */
	char path[PATH_SIZE];
	uint64_t events;
};

static void work_destroy(struct ct_aside *self)
{
	struct work *work = (struct work *)(void *)self;

	ct_buf_fini(&work->details);
	free(work);
}

static void work_run(struct ct_aside *self)
{
	struct work *work = (struct work *)(void *)self;
	time_t now = time(NULL);

	ct_guard_lock(&lock);
	if (last.second != now || !reasons_are_of_a_kind(last.reason, work->reason)) {
		work->status = dump_new(work->process, &work->request);
		work->error = errno;
		last.second = work->status == CTRACE_OK ? now : 0;
		(void)snprintf(last.reason, sizeof last.reason, "%s", work->reason);
	}
	memcpy(work->path, last.path, sizeof work->path);
	work->events = last.events;
	ct_guard_unlock(&lock);
}

static struct work *work_create(struct ct_process *process, const struct ct_dump_request *request)
{
	struct work *work = malloc(sizeof *work);
	char place[CT_DUMP_PLACE];

	if (work == NULL)
		return NULL;
	*work = (struct work){ .aside = { .work = work_run, .destroy = work_destroy },
			       .process = process,
			       .request = { .title = work->title,
					    .reason = work->reason,
					    .may_be_empty = request->may_be_empty } };
	(void)snprintf(work->title, sizeof work->title, "%s", request->title);
	(void)snprintf(work->reason, sizeof work->reason, "%s", request->reason);
	ct_buf_init(&work->details);
	if (request->details != NULL)
		ct_buf_add_text(&work->details, request->details);
	ct_buf_add(&work->details, place, ct_dump_print_code_place(place));
	if (!work->details.failed && work->details.size != 0)
		work->request.details = ct_buf_text(&work->details);
	return work;
}

enum ctrace_status ct_dump_own(const struct ct_dump_request *request, char *out_path, size_t size,
			       uint64_t *out_events)
{
	struct ct_process *process = ct_process_attach();
	enum ctrace_status status;
	struct work *work;

	if (process == NULL)
		return CTRACE_FAILURE;
	if (process->session.path[0] == '\0')
		return CTRACE_OS_ERROR; /* a private session cannot be copied */
	work = work_create(process, request);
	if (work == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	if (!ct_aside_run(&work->aside))
		return CTRACE_TIMED_OUT;
	status = work->status;
	if (status == CTRACE_OK && out_path != NULL && size != 0)
		(void)snprintf(out_path, size, "%s", work->path);
	if (status == CTRACE_OK && out_events != NULL)
		*out_events = work->events;
	errno = work->error;
	work_destroy(&work->aside);
	return status;
}

/* The parent's last dump is none of the child's. */
void ct_dump_forked(void)
{
	error_was_dumped = false;
	(void)pthread_mutex_init(&lock, NULL);
	last.second = 0;
	ct_dump_make_forked();
	ct_crash_forked();
	ct_aside_forked();
}

enum ctrace_status ctrace_dump(const char *title, char *out_path, size_t size)
{
	CT_CANCEL_OFF();
	char shown[CT_DUMP_TITLE + 1];
	int kept_errno = errno;
	enum ctrace_status status;

	(void)snprintf(shown, sizeof shown, "%s", title != NULL ? title : "");
	status = ct_dump_own(&(struct ct_dump_request){ .title = shown, .reason = "ctrace_dump" },
			     out_path, size, NULL);
	errno = kept_errno;
	return status;
}

void ctrace_dump_error_(const char *text, size_t size)
{
	CT_CANCEL_OFF();
	int kept_errno = errno;
	struct ct_buf details;

	if (__atomic_load_n(&ct_process.state, __ATOMIC_ACQUIRE) != CT_PROCESS_ATTACHED ||
	    (__atomic_load_n(&ct_process.settings.dump_on, __ATOMIC_RELAXED) & CT_DUMP_ON_COBOL) ==
		    0)
		return;
	ct_buf_init(&details);
	ct_buf_add_text(&details, "error: ");
	ct_escape_add(&details, text, size < ERROR_SIZE ? size : ERROR_SIZE);
	ct_buf_add_char(&details, '\n');
	if (!details.failed &&
	    ct_dump_own(&(struct ct_dump_request){ .title = "",
						   .reason = "COBOL run-time error",
						   .details = ct_buf_text(&details),
						   .may_be_empty = true },
			NULL, 0, NULL) == CTRACE_OK)
		__atomic_store_n(&error_was_dumped, true, __ATOMIC_RELAXED);
	ct_buf_fini(&details);
	errno = kept_errno;
}
