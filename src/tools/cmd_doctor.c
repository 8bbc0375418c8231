/*
 * cmd_doctor.c - ctrace doctor PROGRAM [ARGUMENT...] or PID: finds why nothing is traced.  Or
 * ADDRESS: which servers of a stream lack what comes, and what to do.
 *
 * Runs the program with a run directory of its own, in which the library keeps its process
 * directories after the end, and examines them and the loader's output.  Of a running process it
 * reads what `ctrace list` reads.  The program's own output goes where it always goes.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/temporary_directory.h"
#include "lib/consumer/consumer.h"
#include "operator/recovery/recovery.h"
#include "operator/spool_note.h"
#include "tools/processes/list.h"
#include "tools/runs/cobol_library.h"
#include "tools/streams/stream_copy.h"
#include "print/json_text.h"

#define SHOWN 6u                        /* components, and files, in a line */
#define LOADER_LIMIT ((size_t)64 << 20) /* of its account, and of a list of mappings */
#define LOADER_ROOM \
	((uint64_t)4 << 20) /* with less for a file the loader's account would end the program */
#define PATH_ROOM 4096

/* Exit statuses besides CMD_DONE and CMD_NOTHING: tracing does not work. */
enum { PROGRAM_FAILED = 3, BOTH_FAILED = 4 };

struct doctor {
	bool is_json;
	char **program; /* NULL: pid */
	uint32_t pid;
	const char *address;           /* of a stream; NULL: a program or a process */
	bool has_no_proc;              /* /proc is not mounted */
	bool maps_hidden;              /* the mappings of the process cannot be read */
	char directory[PATH_MAX - 32]; /* of this run: "run" and "loader" in it */
	struct ct_buf library;
	struct ct_buf libcob, cobol_library; /* as the program loaded them */
	json_t *cobol;                       /* or NULL: the program has no libcob */
	json_t *stream;                      /* or NULL: a program or a process */
	uint32_t shown;                      /* processes */
	json_t *processes;
	json_t *problems;
	uint64_t recovered; /* events */
	int how;            /* of the program: the status of waitpid() */
	bool is_cut;        /* ct_directory_is_cut(), of the session of pid */
};

/* ---- what is found ---- */

static void problem_add(struct doctor *doctor, const char *problem)
{
	json_array_append_new(doctor->problems, json_string(problem));
}

static void line_begin(const struct doctor *doctor, const char *label)
{
	if (!doctor->is_json)
		printf("%-15s", label);
}

static void line_add_text(const struct doctor *doctor, const char *text, size_t size)
{
	if (!doctor->is_json)
		ct_tool_print(stdout, text, size);
}

static void line_add(const struct doctor *doctor, const char *text)
{
	if (!doctor->is_json)
		fputs(text, stdout);
}

static void print_library(struct doctor *doctor)
{
	bool lacks_account = doctor->program != NULL && ct_os_file_limit() < LOADER_ROOM;

	line_begin(doctor, "library");
	if (doctor->library.size != 0) {
		line_add_text(doctor, doctor->library.data, doctor->library.size);
	} else if (doctor->shown != 0 && !doctor->has_no_proc && !lacks_account) {
		line_add(doctor, "linked into the program (libctrace.a)");
	} else {
		if (doctor->shown == 0)
			problem_add(doctor, "library");
		line_add(
			doctor,
			doctor->has_no_proc
				? "not known: /proc is not mounted here, so the libraries, threads and environment of a process cannot be seen"
			: lacks_account
				? "not known: the limit on the size of files (ulimit -f) leaves no room for the loader's account"
			: doctor->maps_hidden
				? "not known: the memory of the process is not visible to this user"
			: doctor->pid != 0
				? "libctrace.so is not loaded; libctrace.a would not be visible before the first tracing routine"
				: "libctrace was not loaded: the program is not linked with it, or has failed before that");
	}
	line_add(doctor, "\n");
}

static void print_configuration(struct doctor *doctor, const struct ct_session *session)
{
	const struct ct_session_config *config = &session->head->config;
	char clock[CT_CLOCK_TEXT];
	struct ct_buf text;

	ct_buf_init(&text);
	ct_list_config_print(session, &text);
	line_begin(doctor, "configuration");
	line_add(doctor, ct_buf_text(&text));
	if (config->diagnostics != 0)
		line_add(doctor, "; `ctrace config check` names them");
	line_add(doctor, "\n");
	if (config->error != 0 || config->diagnostics != 0 || config->stopped_at != 0)
		problem_add(doctor, "configuration");
	ct_list_clock_print(session, clock);
	line_begin(doctor, "clock");
	line_add(doctor, clock);
	line_add(doctor, "\n");
	ct_buf_fini(&text);
}

static void print_components(struct doctor *doctor, const struct list_process *process)
{
	uint32_t on = 0;

	line_begin(doctor, "components");
	for (uint32_t i = 0; i < process->count; i++) {
		uint32_t level = process->session.components[process->order[i]].level_word.level;
		size_t size;
		const char *name = ct_list_name(&process->session, process->order[i], &size);

		on += level != CTRACE_LEVEL_NONE;
		if (i >= SHOWN)
			continue;
		line_add(doctor, i != 0 ? ", " : "");
		line_add_text(doctor, name, size);
		line_add(doctor, " ");
		line_add(doctor, ct_list_level(level));
	}
	if (process->count > SHOWN && !doctor->is_json)
		printf(" and %" PRIu32 " more", process->count - SHOWN);
	if (process->count == 0) {
		line_add(
			doctor,
			"none is registered: the process has attached, and has traced nothing so far");
		problem_add(doctor, "components");
	} else if (on == 0) {
		line_add(doctor, "; none is on: set mftrace.level, or mftrace.level.COMPONENT");
		problem_add(doctor, "levels");
	}
	line_add(doctor, "\n");
}

static bool dest_has_file(const struct ct_dest *dest)
{
	return strncmp(dest->emitter, "TEXTFILE", sizeof dest->emitter) == 0 ||
	       strncmp(dest->emitter, "BINFILE", sizeof dest->emitter) == 0;
}

/* Returns LEVEL of a destination's settings, lines of NAME=VALUE; CTRACE_DEBUG when it is not
 * set or is no level. */
static uint32_t dest_least_level(const struct ct_session *session, const struct ct_dest *dest)
{
	static const char name[] = "LEVEL=";
	uint32_t level = CTRACE_DEBUG;
	size_t size;
	const char *at = ct_session_text(session, dest->settings, &size), *end = at + size;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t line = (size_t)((newline != NULL ? newline : end) - at);

		if (line >= sizeof name && strncasecmp(at, name, sizeof name - 1) == 0 &&
		    !ct_level_parse(at + sizeof name - 1, line - (sizeof name - 1), &level))
			level = ct_value_number(at + sizeof name - 1, line - (sizeof name - 1));
		at += line + 1;
	}
	return level;
}

/* Events that LEVEL filters are neither lost nor missing: the destination got them and left them
 * out. */
static void print_level(const struct doctor *doctor, uint32_t level)
{
	if (level >= CTRACE_LEVEL_COUNT) {
		line_add(doctor, ", of which its LEVEL keeps out all");
	} else if (level > CTRACE_DEBUG) {
		line_add(doctor, ", of which its LEVEL keeps out those below ");
		line_add(doctor, ct_list_level(level));
	}
}

/* Its traces leave the machine only when a forwarder runs. */
static void print_spool(struct doctor *doctor, const char *segment)
{
	struct ct_buf note;

	ct_buf_init(&note);
	if (ct_spool_note_segment(&note, segment)) {
		line_add(doctor, ", but ");
		line_add(doctor, ct_buf_text(&note));
		problem_add(doctor, "spool");
	}
	ct_buf_fini(&note);
}

static void print_destination(struct doctor *doctor, const struct ct_session *session,
			      uint32_t index)
{
	struct ct_dest *dest = &session->head->dest[index];
	const struct ct_dest_slot *slot = ct_dest_current(dest);
	const char *path = ct_dest_path(session, index);
	struct list_failure failure;
	char events[48];

	line_add_text(doctor, dest->emitter, strnlen(dest->emitter, sizeof dest->emitter));
	line_add(doctor, " ");
	line_add_text(doctor, path, strlen(path));
	(void)snprintf(events, sizeof events, "%s%" PRIu64 " event%s", path[0] != '\0' ? ": " : "",
		       slot->delivered, slot->delivered == 1 ? "" : "s");
	line_add(doctor, events);
	if (slot->delivered != 0)
		print_level(doctor, dest_least_level(session, dest));
	if (strncmp(dest->emitter, "NATS", sizeof dest->emitter) == 0)
		print_spool(doctor, path);
	ct_list_take_failure(&failure, session, index);
	if (failure.failing == 0 && failure.stuck_since_ns == 0)
		return;
	if (!doctor->is_json)
		(void)ct_list_print_failure(stdout, ", ", &failure);
	if (path[0] == '\0' && dest_has_file(dest))
		line_add(doctor, "; `ctrace config check` looks at its FILE and LOCATION");
	problem_add(doctor, "destination");
}

static void print_destinations(struct doctor *doctor, const struct list_process *process)
{
	const struct ct_session *session = &process->session;
	const struct list_counters *counters = &process->counters;
	uint32_t count = 0;

	line_begin(doctor, "files");
	for (unsigned i = 0; i < CT_DEST_LIMIT; i++) {
		struct ct_dest *dest = &session->head->dest[i];

		if (!ct_list_shows(dest) ||
		    (ct_dest_current(dest)->delivered == 0 && dest->failing == 0 &&
		     ct_dest_path(session, i)[0] == '\0'))
			continue;
		if (count++ < SHOWN) {
			line_add(doctor, count > 1 ? "; " : "");
			print_destination(doctor, session, i);
		}
	}
	if (count == 0)
		line_add(doctor,
			 counters->pending + counters->in_storage + counters->lost_total != 0
				 ? "none: no event has reached a file"
				 : "none: nothing was traced");
	line_add(doctor, "\n");
}

static void print_losses(struct doctor *doctor, const struct list_counters *counters)
{
	const char *separator = " (";

	line_begin(doctor, "lost");
	if (counters->lost_total != 0)
		problem_add(doctor, "lost");
	if (doctor->is_json)
		return;
	if (counters->lost_total == 0)
		fputs("nothing", stdout);
	else
		printf("%" PRIu64 " events", counters->lost_total);
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		if (counters->lost[i] != 0) {
			printf("%s%s %" PRIu64, separator, ctrace_loss_name((enum ctrace_loss)i),
			       counters->lost[i]);
			separator = ", ";
		}
	if (counters->no_room != 0) {
		printf("%sno-room %" PRIu64, separator, counters->no_room);
		separator = ", ";
	}
	if (counters->lost_total != 0)
		fputs(separator[0] == ' ' ? "" : ")", stdout);
	if (counters->pending != 0)
		printf("; %" PRIu64 " waiting", counters->pending);
	putchar('\n');
}

static void process_look_at(const struct ct_directory_entry *entry, void *user)
{
	struct doctor *doctor = user;
	struct list_process process = { .entry = entry };

	if (doctor->pid != 0 && entry->pid != doctor->pid)
		return;
	if (ct_session_load(&process.session, entry->run_directory, entry->name, false) !=
	    CTRACE_OK) {
		doctor->is_cut |=
			doctor->pid != 0 && ct_directory_is_cut(entry->run_directory, entry->name);
		return;
	}
	if (ct_list_gather_components(&process, NULL, false)) {
		if (doctor->shown++ == 0)
			print_library(doctor);
		else if (!doctor->is_json)
			printf("process %" PRIu32 "\n", entry->pid);
		ct_list_gather_counters(&process.session, &process.counters);
		print_configuration(doctor, &process.session);
		if (process.session.head->was_cut != 0) {
			problem_add(doctor, CT_DIRECTORY_CUT);
			line_begin(doctor, "session");
			line_add(doctor, CT_DIRECTORY_CUT "\n");
		} else if (process.session.head->is_dormant == CT_DORMANT) {
			line_begin(doctor, "dormant");
			line_add(
				doctor,
				ct_bell_is_parted(process.session.path)
					? "nothing is traced; the process has changed its user, so it cannot "
					  "be woken: set a level in its configuration\n"
					: "nothing is traced, so the process has no thread of ctrace\n");
		}
		print_components(doctor, &process);
		print_destinations(doctor, &process);
		print_losses(doctor, &process.counters);
		json_array_append_new(doctor->processes, ct_list_json(&process));
	}
	free(process.order);
	ct_session_close(&process.session, false);
}

/* ---- no session was found ---- */

struct untraced {
	uint32_t pid;
	char run_directory[PATH_ROOM]; /* in which the process got no directory; "": none */
	int error;
};

static void unattached_look_at(const char *run_directory, void *user)
{
	struct untraced *untraced = user;
	struct ct_unattached noted;

	if (!ct_unattached_read(run_directory, &noted) || noted.pid != untraced->pid)
		return;
	(void)snprintf(untraced->run_directory, sizeof untraced->run_directory, "%s",
		       run_directory);
	untraced->error = noted.error;
}

/* Returns true when the process has a thread of ctrace. */
static bool process_has_own_thread(uint32_t pid)
{
	char path[PATH_ROOM], name[32] = "";
	const struct dirent *entry;
	bool has_one = false;
	DIR *directory;

	(void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task", pid);
	directory = opendir(path);
	while (directory != NULL && !has_one && (entry = readdir(directory)) != NULL) {
		(void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%.20s/comm", pid,
			       entry->d_name);
		(void)ct_place_read(path, name, sizeof name);
		has_one = strncmp(name, "ctrace-", 7) == 0;
	}
	if (directory != NULL)
		(void)closedir(directory);
	return has_one;
}

/* The run directory in the environment that the process began with; NULL: none is visible. */
static const char *process_run_directory(uint32_t pid, struct ct_buf *environment)
{
	static const char name[] = "CTRACE_RUN_DIR=";
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/environ", pid);
	if (ct_os_read_file(path, LOADER_LIMIT, environment) != CTRACE_OK)
		return NULL;
	for (const char *at = ct_buf_text(environment), *end = at + environment->size; at < end;
	     at += strlen(at) + 1)
		if (strncmp(at, name, sizeof name - 1) == 0)
			return at + sizeof name - 1;
	return NULL;
}

/* Returns true when the process's limit on files leaves no room for a session.  It may leave none
 * for a note of that in the run directory either. */
static bool process_lacks_file_size(uint32_t pid)
{
	static const char name[] = "\nMax file size";
	char path[64];
	struct ct_buf limits;
	const char *at;
	bool lacks = false;

	ct_buf_init(&limits);
	(void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/limits", pid);
	if (ct_os_read_file(path, LOADER_LIMIT, &limits) == CTRACE_OK &&
	    (at = strstr(ct_buf_text(&limits), name)) != NULL) {
		at += strspn(at + sizeof name - 1, " ") + sizeof name - 1;
		lacks = *at != 'u' && /* unlimited */
			ct_session_layout_for(strtoull(at, NULL, 10)).size == 0;
	}
	ct_buf_fini(&limits);
	return lacks;
}

/* There may have been no room for a note of a process that got no directory. */
static void print_full(const char *run_directory, void *user)
{
	const struct doctor *doctor = user;
	struct statvfs disk;

	if (statvfs(run_directory, &disk) != 0 ||
	    (disk.f_bavail != 0 && (disk.f_favail != 0 || disk.f_files == 0)))
		return;
	line_add(doctor, "; the disk of ");
	line_add_text(doctor, run_directory, strlen(run_directory));
	line_add(doctor, " is full");
}

static void print_process_untraced(struct doctor *doctor)
{
	struct untraced untraced = { .pid = doctor->pid };
	const char *ours = ct_os_environment("CTRACE_RUN_DIR"), *its;
	struct ct_buf environment;

	ct_buf_init(&environment);
	ct_directory_each_run_directory(unattached_look_at, &untraced);
	its = process_run_directory(doctor->pid, &environment);
	if (doctor->is_cut) {
		line_add(doctor, "not known: " CT_DIRECTORY_CUT);
	} else if (untraced.run_directory[0] != '\0') {
		line_add(doctor, "not known: the process got no directory in ");
		line_add_text(doctor, untraced.run_directory, strlen(untraced.run_directory));
		line_add(doctor, ": ");
		line_add(doctor, ct_list_unattached_why(untraced.error));
	} else if (its != NULL && (ours == NULL || strcmp(its, ours) != 0) &&
		   (doctor->library.size != 0 || doctor->maps_hidden)) {
		line_add(doctor, "not known: the process has another CTRACE_RUN_DIR, ");
		line_add_text(doctor, its, strlen(its));
	} else if (process_lacks_file_size(doctor->pid)) {
		line_add(doctor, "not known: ");
		line_add(doctor, ct_list_unattached_why(EFBIG));
	} else {
		line_add(
			doctor,
			process_has_own_thread(doctor->pid)
				? "not known: the process is traced, but has no directory in a run directory that is searched here: ctrace.attach is off, another run directory is configured, or there was no room in it; it is not known which"
			: doctor->has_no_proc
				? "none is visible: the program is not linked with libctrace, has called no tracing routine yet, ctrace.attach is off, it has another run directory, or there was no room; without /proc it is not known which"
				: "none is visible: the program has called no tracing routine yet, ctrace.attach is off, another run directory is configured, or there was no room in it; it is not known which");
		ct_directory_each_run_directory(print_full, doctor);
	}
	ct_buf_fini(&environment);
}

/* Returns true when the program got no session, and the reason is known. */
static bool program_unattached_why(const struct doctor *doctor, int *out_error)
{
	char run[PATH_MAX];
	struct ct_unattached noted;
	bool is_noted;

	(void)snprintf(run, sizeof run, "%s/run", doctor->directory);
	is_noted = ct_unattached_read(run, &noted);
	*out_error = is_noted ? noted.error : EFBIG;
	return is_noted || ct_session_layout_for(ct_os_file_limit()).size == 0;
}

/* No session has the result of reading it. */
static void print_configuration_name(const struct doctor *doctor)
{
	const char *name = ct_os_environment("MFTRACE_CONFIG");

	if (doctor->program == NULL)
		return;
	line_begin(doctor, "configuration");
	line_add_text(doctor, name != NULL ? name : "", name != NULL ? strlen(name) : 0);
	line_add(doctor,
		 name != NULL
			 ? ": not known whether it was read; `ctrace config check` looks at it\n"
			 : "none: the program's environment has no MFTRACE_CONFIG\n");
}

/* Of a process or a program without a session. */
static void print_untraced(struct doctor *doctor)
{
	int error;

	print_library(doctor);
	print_configuration_name(doctor);
	problem_add(doctor, "components");
	line_begin(doctor, "components");
	if (doctor->pid != 0) {
		print_process_untraced(doctor);
	} else if (program_unattached_why(doctor, &error)) {
		line_add(doctor, "not known: ");
		line_add(doctor, ct_list_unattached_why(error));
	} else {
		line_add(
			doctor,
			"none is visible: the program has called no tracing routine, or ctrace.attach is off; it is not known which");
	}
	line_add(doctor, "\n");
}

/* ---- the library ---- */

/* The path behind the last mark in a line that names the library: "/libctrace.so". */
static bool library_find(struct ct_buf *out, const char *library, const char *text,
			 const char *mark)
{
	for (const char *at = text; (at = strstr(at, mark)) != NULL; at += strlen(mark)) {
		const char *path = at + strlen(mark);
		size_t size = strcspn(path, " \n");
		const char *name = memrchr(path, '/', size);

		if (name == NULL || strncmp(name, library, strlen(library)) != 0)
			continue;
		ct_buf_clear(out);
		if (*mark == ' ' && mark[1] == '/')
			path--;
		ct_buf_add(out, path, (size_t)(strcspn(path, " \n")));
		return true;
	}
	return false;
}

static void libraries_find(struct doctor *doctor, const char *text, const char *mark)
{
	if (doctor->library.size == 0)
		(void)library_find(&doctor->library, "/libctrace.so", text, mark);
	if (doctor->libcob.size == 0)
		(void)library_find(&doctor->libcob, "/libcob.so", text, mark);
	if (doctor->cobol_library.size == 0)
		(void)library_find(&doctor->cobol_library, "/" COBOL_LIBRARY, text, mark);
}

static void library_find_loaded(struct doctor *doctor)
{
	char path[PATH_ROOM];
	const struct dirent *entry;
	struct ct_buf text;
	DIR *directory;

	(void)snprintf(path, sizeof path, "%s/loader", doctor->directory);
	directory = opendir(path);
	ct_buf_init(&text);
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		ct_buf_clear(&text);
		(void)snprintf(path, sizeof path, "%s/loader/%.255s", doctor->directory,
			       entry->d_name);
		if (ct_os_read_file(path, LOADER_LIMIT, &text) == CTRACE_OK)
			libraries_find(doctor, ct_buf_text(&text), "calling init: ");
	}
	if (directory != NULL)
		(void)closedir(directory);
	ct_buf_fini(&text);
}

static void library_find_mapped(struct doctor *doctor)
{
	struct ct_buf text;

	ct_buf_init(&text);
	doctor->maps_hidden = ct_os_read_maps(doctor->pid, LOADER_LIMIT, &text) != CTRACE_OK;
	if (!doctor->maps_hidden)
		libraries_find(doctor, ct_buf_text(&text), " /");
	ct_buf_fini(&text);
}

/* ---- the COBOL run time ---- */

struct cobol {
	const char *libcob, *library;
	bool is_found; /* libctrace-cobol.so, loaded or not */
	bool is_loaded;
	bool is_alike;
	char version[COBOL_VERSION_SIZE], built_for[COBOL_VERSION_SIZE];
};

static void cobol_print(struct doctor *doctor, const struct cobol *cobol)
{
	line_begin(doctor, "cobol");
	line_add_text(doctor, cobol->libcob, strlen(cobol->libcob));
	line_add(doctor, " is ");
	line_add(doctor, cobol->version[0] != '\0' ? cobol->version : "of an unknown version");
	line_add(doctor, "; ");
	if (!cobol->is_found) {
		line_add(
			doctor, COBOL_LIBRARY
			" is not installed, so no run-time error is traced or dumped: build ctrace where cobc and the header libcob.h are (make, make install)\n");
		return;
	}
	line_add_text(doctor, cobol->library, strlen(cobol->library));
	line_add(doctor, " is for ");
	line_add(doctor, cobol->built_for[0] != '\0' ? cobol->built_for : "an unknown version");
	if (!cobol->is_alike)
		line_add(doctor, "; they do not fit: build ctrace again where this libcob is");
	else if (!cobol->is_loaded)
		line_add(
			doctor,
			", and was not loaded: ctrace run loads it; without it no run-time error is traced or dumped");
	line_add(doctor, "\n");
}

static json_t *cobol_json(const struct cobol *cobol)
{
	json_t *object = json_object();

	json_object_set_new(object, "libcob", ct_json_string(cobol->libcob));
	json_object_set_new(object, "version", ct_json_string(cobol->version));
	json_object_set_new(object, "library",
			    cobol->is_found ? ct_json_string(cobol->library) : json_null());
	json_object_set_new(object, "built_for", ct_json_string(cobol->built_for));
	json_object_set_new(object, "loaded", json_boolean(cobol->is_loaded));
	return object;
}

/* The structures of libcob have the layout of one minor version. */
static bool cobol_versions_are_alike(const struct cobol *cobol)
{
	size_t size = strlen(cobol->built_for);

	return size == 0 || cobol->version[0] == '\0' ||
	       (strncmp(cobol->version, cobol->built_for, size) == 0 &&
		(cobol->version[size] == '\0' || cobol->version[size] == '.'));
}

/* Only of a program that has loaded libcob. */
static void cobol_examine(struct doctor *doctor)
{
	struct cobol cobol = { .is_alike = true };
	char installed[PATH_MAX];

	if (doctor->libcob.size == 0)
		return;
	cobol.libcob = ct_buf_text(&doctor->libcob);
	cobol.is_loaded = doctor->cobol_library.size != 0;
	cobol.is_found = cobol.is_loaded || cobol_library_find(installed);
	cobol.library = cobol.is_loaded ? ct_buf_text(&doctor->cobol_library) : installed;
	cobol_libcob_version(cobol.libcob, cobol.version);
	if (cobol.is_found)
		cobol_library_built_for(cobol.library, cobol.built_for);
	cobol.is_alike = !cobol.is_found || cobol_versions_are_alike(&cobol);
	if (cobol.is_loaded && !cobol.is_alike)
		problem_add(doctor, "cobol");
	cobol_print(doctor, &cobol);
	doctor->cobol = cobol_json(&cobol);
}

/* ---- the program ---- */

/* Reports a failure. */
static bool directories_make(struct doctor *doctor)
{
	static const char *const names[] = { "/run", "/loader" };
	char path[PATH_MAX];
	int error = temporary_directory_make("ctrace-doctor", path);
	size_t size = strlen(path);

	if (error == 0 && size >= sizeof doctor->directory)
		error = ENAMETOOLONG;
	if (error == 0)
		memcpy(doctor->directory, path, size + 1);
	for (size_t i = 0; i < CT_COUNT(names) && error == 0; i++) {
		(void)snprintf(path, sizeof path, "%s%s", doctor->directory, names[i]);
		if (mkdir(path, 0700) != 0)
			error = errno;
	}
	if (error == 0)
		return true;
	fputs("ctrace doctor: ", stderr);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": %s\n", strerror(error));
	return false;
}

/* Removes the files of a directory, and the directory if it has no others.  The directories of a
 * process that still runs are kept. */
static bool directory_remove(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL)
		if (entry->d_type == DT_REG)
			(void)unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory != NULL)
		(void)closedir(directory);
	return rmdir(path) == 0;
}

/* The rest is removed when the tool ends. */
static void directories_remove(const struct doctor *doctor)
{
	char path[PATH_MAX];
	struct ct_buf typed;

	(void)snprintf(path, sizeof path, "%s/loader", doctor->directory);
	(void)directory_remove(path);
	(void)snprintf(path, sizeof path, "%s/run", doctor->directory);
	if (directory_remove(path))
		return;
	temporary_directory_keep();
	ct_buf_init(&typed);
	ct_escape_add_typed(&typed, path);
	fprintf(stderr,
		"ctrace doctor: processes of the program go on, or left events: ctrace recover %s\n",
		ct_buf_text(&typed));
	ct_buf_fini(&typed);
}

static _Noreturn void program_exec(const struct doctor *doctor, int to_parent)
{
	char run[PATH_MAX], loader[PATH_MAX];
	int error;

	(void)snprintf(run, sizeof run, "%s/run", doctor->directory);
	(void)snprintf(loader, sizeof loader, "%s/loader/of", doctor->directory);
	if (doctor->is_json)
		(void)dup2(STDERR_FILENO, STDOUT_FILENO);
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGQUIT, SIG_DFL);
	if (setenv("CTRACE_RUN_DIR", run, 1) == 0 &&
	    setenv("CTRACE_LEAVE_DIRECTORY", "1", 1) == 0 &&
	    (ct_os_file_limit() < LOADER_ROOM ||
	     (setenv("LD_DEBUG", "libs", 1) == 0 && setenv("LD_DEBUG_OUTPUT", loader, 1) == 0)))
		(void)execvp(doctor->program[0], doctor->program);
	error = errno;
	(void)!write(to_parent, &error, sizeof error);
	_exit(127);
}

/* Returns false when the program could not be started, which is reported. */
static bool program_run(struct doctor *doctor)
{
	int ends[2], error = 0;
	ssize_t got;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	(void)fflush(NULL);
	/* a key that ends the program must not end the report about it */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
	child = fork();
	if (child == 0)
		program_exec(doctor, ends[1]);
	(void)close(ends[1]);
	got = child < 0 ? -1 : TEMP_FAILURE_RETRY(read(ends[0], &error, sizeof error));
	(void)close(ends[0]);
	if (child > 0 && TEMP_FAILURE_RETRY(waitpid(child, &doctor->how, 0)) != child)
		doctor->how = -1;
	if (child > 0 && got == 0)
		return true;
	fputs("ctrace doctor: cannot run ", stderr);
	ct_tool_print(stderr, doctor->program[0], strlen(doctor->program[0]));
	fprintf(stderr, ": %s\n", strerror(child < 0 || got < 0 ? errno : error));
	return false;
}

static bool program_has_failed(const struct doctor *doctor)
{
	return !WIFEXITED(doctor->how) || WEXITSTATUS(doctor->how) != 0;
}

static void program_print_end(const struct doctor *doctor)
{
	if (WIFSIGNALED(doctor->how))
		fprintf(stderr, "ctrace doctor: the program was ended by signal %d (%s)\n",
			WTERMSIG(doctor->how), strsignal(WTERMSIG(doctor->how)));
	else if (program_has_failed(doctor))
		fprintf(stderr, "ctrace doctor: the program ended with exit status %d\n",
			WEXITSTATUS(doctor->how));
	if (doctor->recovered != 0)
		fprintf(stderr,
			"ctrace doctor: %" PRIu64
			" event%s that it had left behind %s delivered after its end\n",
			doctor->recovered, doctor->recovered == 1 ? "" : "s",
			doctor->recovered == 1 ? "was" : "were");
}

static void program_examine(struct doctor *doctor)
{
	struct ct_recovery total = { 0 };
	char run[PATH_MAX];

	(void)snprintf(run, sizeof run, "%s/run", doctor->directory);
	library_find_loaded(doctor);
	ct_directory_each(run, process_look_at, doctor);
	ct_recover(run, NULL, &total, NULL, NULL);
	doctor->recovered = total.delivered;
}

/* ---- the verb ---- */

static void directory_look_into(const char *run_directory, void *user)
{
	ct_directory_each(run_directory, process_look_at, user);
}

/* On standard error: they are other processes. */
static void report_unattached(const char *run_directory, void *user)
{
	if (ct_list_print_unattached(stderr, "ctrace doctor: ", run_directory))
		problem_add(user, "run-directory");
}

static void print_json(const struct doctor *doctor)
{
	json_t *object = ct_json_document(), *end = json_null();

	if (doctor->program != NULL) {
		end = json_object();
		if (WIFSIGNALED(doctor->how))
			json_object_set_new(end, "signal", json_integer(WTERMSIG(doctor->how)));
		else
			json_object_set_new(end, "status", json_integer(WEXITSTATUS(doctor->how)));
	}
	json_object_set_new(object, "library",
			    doctor->library.size != 0
				    ? ct_json_text(doctor->library.data, doctor->library.size)
				    : json_null());
	json_object_set_new(object, "cobol",
			    doctor->cobol != NULL ? json_incref(doctor->cobol) : json_null());
	json_object_set_new(object, "stream",
			    doctor->stream != NULL ? json_incref(doctor->stream) : json_null());
	json_object_set(object, "processes", doctor->processes);
	json_object_set(object, "problems", doctor->problems);
	json_object_set_new(object, "recovered", json_integer((json_int_t)doctor->recovered));
	json_object_set_new(object, "end", end);
	(void)ct_json_print(object, stdout);
}

static int process_examine(struct doctor *doctor)
{
	bool program_failed = false, has_problem;

	/* The loader reports what a program has loaded. */
	doctor->has_no_proc = doctor->program == NULL && access("/proc/self", F_OK) != 0;

	if (doctor->program == NULL) {
		library_find_mapped(doctor);
		ct_directory_each_run_directory(directory_look_into, doctor);
	} else if (!directories_make(doctor)) {
		return CMD_NOTHING;
	} else if (!program_run(doctor)) {
		directories_remove(doctor);
		return PROGRAM_FAILED;
	} else {
		program_examine(doctor);
		program_failed = program_has_failed(doctor);
	}
	if (doctor->shown == 0)
		print_untraced(doctor);
	cobol_examine(doctor);
	if (doctor->program == NULL) {
		(void)fflush(stdout);
		ct_directory_each_run_directory(report_unattached, doctor);
		if (doctor->shown == 0 && ct_recovery_report_refused("ctrace doctor") != 0)
			problem_add(doctor, "run-directory");
	}
	if (doctor->is_json)
		print_json(doctor);
	if (doctor->program != NULL) {
		(void)fflush(stdout);
		program_print_end(doctor);
		directories_remove(doctor);
	}
	has_problem = json_array_size(doctor->problems) != 0;
	return program_failed ? has_problem ? BOTH_FAILED : PROGRAM_FAILED
	       : has_problem  ? CMD_NOTHING
			      : CMD_DONE;
}

/* ---- a stream ---- */

/* What to do about a copy that does not follow, or about copies that are missing. */
static void stream_advise(const struct doctor *doctor, const struct ct_nats_servers *stream)
{
	for (unsigned i = 0; i < stream->count; i++) {
		const char *name = stream->copies[i].name;

		if (stream->copies[i].state < CT_NATS_BEHIND)
			continue;
		line_begin(doctor, "to do");
		line_add(doctor, "see that nats-server runs on ");
		line_add_text(doctor, name, strlen(name));
		line_add(doctor, ", and that the others reach it: it then gets what it lacks\n");
	}
	if (stream->count < stream->wanted) {
		line_begin(doctor, "to do");
		line_add(doctor, "start more servers of the cluster, or make room on their disks: "
				 "NATS then makes the copies that are missing\n");
	}
}

static json_t *stream_json(const struct ct_nats_servers *stream)
{
	json_t *object = json_object(), *copies = json_array();

	for (unsigned i = 0; i < stream->count; i++) {
		json_t *row = json_object();

		(void)json_object_set_new(row, "server", ct_json_string(stream->copies[i].name));
		(void)json_object_set_new(row, "state",
					  json_string(stream_state_name(stream->copies[i].state)));
		(void)json_object_set_new(row, "lag",
					  json_integer((json_int_t)stream->copies[i].lag));
		(void)json_array_append_new(copies, row);
	}
	(void)json_object_set_new(object, "stream", ct_json_string(stream->stream));
	(void)json_object_set_new(object, "servers", ct_json_string(stream->text));
	(void)json_object_set_new(object, "replicas", json_integer(stream->wanted));
	(void)json_object_set_new(object, "copies", copies);
	(void)json_object_set_new(object, "error",
				  stream->error[0] != '\0' ? ct_json_string(stream->error)
							   : json_null());
	return object;
}

static int stream_examine(struct doctor *doctor)
{
	const struct ct_nats_module *module = stream_module("ctrace doctor");
	struct ct_nats_servers stream;
	enum ctrace_status status;
	const char *shown;

	if (module == NULL)
		return CMD_UNWRITTEN;
	status = module->servers(doctor->address, &stream);
	if (status == CTRACE_SYNTAX_ERROR)
		return stream_end("ctrace doctor", stream.error, status);
	shown = status != CTRACE_OK ? stream.error : stream.text;
	line_begin(doctor, "stream");
	if (status == CTRACE_OK) {
		line_add_text(doctor, stream.stream, strlen(stream.stream));
		line_add(doctor, ": ");
	}
	line_add_text(doctor, shown, strlen(shown));
	line_add(doctor, "\n");
	if (status != CTRACE_OK || stream.is_lacking)
		problem_add(doctor, "stream");
	if (stream.is_lacking)
		stream_advise(doctor, &stream);
	doctor->stream = stream_json(&stream);
	if (doctor->is_json)
		print_json(doctor);
	return json_array_size(doctor->problems) != 0 ? CMD_NOTHING : CMD_DONE;
}

/* ---- the command line ---- */

static bool word_is_process(const char *text, uint32_t *out_pid)
{
	unsigned long number = ct_tool_is_number(text) ? strtoul(text, NULL, 10) : 0;

	if (number == 0 || number > INT32_MAX)
		return false;
	*out_pid = (uint32_t)number;
	return true;
}

static error_t parse_doctor(int key, char *argument, struct argp_state *state)
{
	struct doctor *doctor = state->input;

	switch (key) {
	case 'j':
		doctor->is_json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->argc == state->next && word_is_process(argument, &doctor->pid)) {
			if (kill((pid_t)doctor->pid, 0) != 0 && errno == ESRCH)
				argp_error(state, "there is no process %s", argument);
			return 0;
		}
		if (stream_is_address(argument)) {
			if (state->argc != state->next)
				argp_error(state, "an address of a stream stands alone");
			doctor->address = argument;
			return 0;
		}
		doctor->program = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(
			state,
			"which program? expected one with its arguments, the id of a process, or "
			"the address of a stream");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "json", 'j', NULL, 0,
		  "Print one JSON document; the program's standard output then goes to standard error",
		  0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_doctor,
		.args_doc = "[--] PROGRAM [ARGUMENT...]\nPID\nnats://HOST/STREAM",
		.doc = "Run a program, or inspect a running process, and report the result of tracing it; or "
		       "report which servers keep a stream, and what to do about one that does not.\v"
		       "Exit status: 0 when all is well, 1 when something is wrong with tracing, 3 when the program itself failed, 4 when "
		       "both failed.",
	};
	struct doctor doctor = { 0 };
	int exit_status;

	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &doctor) != 0)
		return CMD_USAGE;
	ct_buf_init(&doctor.library);
	ct_buf_init(&doctor.libcob);
	ct_buf_init(&doctor.cobol_library);
	doctor.processes = json_array();
	doctor.problems = json_array();
	exit_status = doctor.address != NULL ? stream_examine(&doctor) : process_examine(&doctor);
	json_decref(doctor.processes);
	json_decref(doctor.problems);
	json_decref(doctor.cobol);
	json_decref(doctor.stream);
	ct_buf_fini(&doctor.library);
	ct_buf_fini(&doctor.libcob);
	ct_buf_fini(&doctor.cobol_library);
	return exit_status;
}
