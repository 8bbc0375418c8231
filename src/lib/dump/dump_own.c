/*
 * dump_own.c - a process dumps itself.
 *
 * Called on any thread of the program, and by the trigger thread; never in a signal handler.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/dump/dump.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <ctrace/ctrace.h>

#include "lib/process/process.h"

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
			   directory[0] == '/' || directory[0] == '\0' ? "" : "/", directory,
			   process->settings.dump_keep,
			   (unsigned long long)process->settings.dump_size);
	return printed > 0 && (size_t)printed < room ? printed : 0;
}

static enum ctrace_status dump_new(struct ct_process *process, const struct ct_dump_request *what)
{
	uint32_t keep = __atomic_load_n(&process->settings.dump_keep, __ATOMIC_RELAXED);
	uint64_t bytes = __atomic_load_n(&process->settings.dump_size, __ATOMIC_RELAXED);
	struct ct_dump_result result = { .events = 0 };
	char directory[PATH_SIZE], place[CT_DUMP_PLACE];
	struct ct_dump_request request = { .own = &process->session,
					   .own_rings = process->pool,
					   .title = what->title,
					   .reason = what->reason };
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
	ct_buf_add(&details, place, ct_dump_print_code_place(place));
	if (details.size != 0 && !details.failed)
		request.details = ct_buf_text(&details);
	status = ct_dump_make_in(directory, process->session.head, &request, last.path, PATH_SIZE,
				 &result);
	ct_buf_fini(&details);
	if (status == CTRACE_OK && result.events == 0)
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

enum ctrace_status ct_dump_own(const struct ct_dump_request *request, char *out_path, size_t size,
			       uint64_t *out_events)
{
	struct ct_process *process = ct_process_attach();
	enum ctrace_status status = CTRACE_OK;
	time_t now = time(NULL);

	if (process == NULL)
		return CTRACE_FAILURE;
	if (process->session.path[0] == '\0')
		return CTRACE_OS_ERROR; /* a private session cannot be copied */
	ct_guard_lock(&lock);
	if (last.second != now || !reasons_are_of_a_kind(last.reason, request->reason)) {
		status = dump_new(process, request);
		last.second = status == CTRACE_OK ? now : 0;
		(void)snprintf(last.reason, sizeof last.reason, "%s", request->reason);
	}
	if (status == CTRACE_OK && out_path != NULL && size != 0)
		(void)snprintf(out_path, size, "%s", last.path);
	if (status == CTRACE_OK && out_events != NULL)
		*out_events = last.events;
	ct_guard_unlock(&lock);
	return status;
}

/* The parent's last dump is none of the child's. */
void ct_dump_forked(void)
{
	error_was_dumped = false;
	(void)pthread_mutex_init(&lock, NULL);
	last.second = 0;
	ct_dump_make_forked();
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
						   .details = ct_buf_text(&details) },
			NULL, 0, NULL) == CTRACE_OK)
		__atomic_store_n(&error_was_dumped, true, __ATOMIC_RELAXED);
	ct_buf_fini(&details);
	errno = kept_errno;
}
