/*
 * writer_control.c - starts an external writer, and asks one to end.
 *
 * Called by the operator's tools for WTRSTART and WTRSTOP.  The writer is no child of the tool and
 * has no terminal: it lives until it is stopped, and writes its messages to its log, <run
 * directory>/writer/NAME.log.  It inherits a pipe through which it reports that it is ready, or why
 * not: `ctrace writer NAME --ready-fd 3`, one line, "ready" or the reason.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/writer_control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "operator/ask.h"
#include "cli/run_directory.h"
#include "writer/writer.h"

#define READY_FD 3
#define START_SECONDS 30u
#define STOP_SECONDS 120u
#define END_TRIES 250u

/* The paths of a writer of this user's run directory. */
struct place {
	char name[CTRACE_MAX_NAME + 1]; /* upper case */
	char directory[4096];
	int directory_fd;
};

static bool place_open(const char *name, struct place *place, enum wto_id refusal, struct wto *wto)
{
	enum ctrace_status status;

	if (!ct_writer_name_is_valid(name, strlen(name))) {
		ct_wto(wto, refusal, name,
		       "a writer's name has 1 to 7 of A-Z 0-9 $ @ #, no digit first", NULL);
		return false;
	}
	(void)snprintf(place->name, sizeof place->name, "%.7s", name);
	ct_name_upper(place->name, strlen(place->name));
	status = ct_run_directory_open(CT_WRITER_DIRECTORY, CT_RUN_OF_PROCESSES, place->directory,
				       &place->directory_fd);
	if (status != CTRACE_OK) {
		char why[4300], operated[4096];

		if (ct_directory_is_operated(operated))
			(void)snprintf(
				why, sizeof why,
				"a writer is the business of the user of %.4000s, and of root",
				operated);
		else
			(void)snprintf(why, sizeof why, "%.4000s cannot be used: %s",
				       place->directory,
				       status == CTRACE_OS_ERROR ? strerror(errno)
								 : ctrace_status_text(status));
		ct_wto(wto, refusal, place->name, why, NULL);
		return false;
	}
	return true;
}

/* Returns the milliseconds until then; 0 when the time is past. */
static int left_ms(uint64_t until_ns)
{
	uint64_t now = ct_clock_mono_ns();

	return now < until_ns ? (int)((until_ns - now + 999999) / 1000000) : 0;
}

/* Waits until fd can be read.  Returns false when the time is over. */
static bool fd_wait(int fd, uint64_t until_ns)
{
	struct pollfd wanted = { .fd = fd, .events = POLLIN };

	do {
		int left = left_ms(until_ns);

		if (poll(&wanted, 1, left) > 0)
			return true;
		if (left == 0)
			return false;
	} while (true);
}

/* ---- starting ---- */

static int log_open(const struct place *place)
{
	char name[32];
	int fd;

	(void)snprintf(name, sizeof name, "%s.log", place->name);
	return ct_os_open_file(place->directory_fd, name, O_WRONLY | O_APPEND | O_CREAT, &fd) ==
			       CTRACE_OK
		       ? fd
		       : -1;
}

/* Runs in the process that becomes the writer.  Returns only when that fails. */
static void writer_exec(const struct writer_start *start, const struct place *place, int ready_fd,
			int log_fd)
{
	const char *mode = start->nowrap ? "--nowrap" : "--wrap";
	char name[CTRACE_MAX_NAME + 1];
	char number[8];
	const char *arguments[] = { "ctrace",     "writer", name,
				    "--ready-fd", number,   start->has_mode ? mode : NULL,
				    NULL };
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	memcpy(name, place->name, sizeof name);
	(void)snprintf(number, sizeof number, "%d", READY_FD);
	/* Moves the descriptors away from the numbers that they are to get. */
	ready_fd = fcntl(ready_fd, F_DUPFD_CLOEXEC, READY_FD + 1);
	log_fd = fcntl(log_fd >= 0 ? log_fd : null_fd, F_DUPFD_CLOEXEC, READY_FD + 1);
	null_fd = fcntl(null_fd, F_DUPFD_CLOEXEC, READY_FD + 1);
	if (ready_fd < 0 || log_fd < 0 || null_fd < 0)
		return;
	if (dup2(null_fd, STDIN_FILENO) < 0 || dup2(log_fd, STDOUT_FILENO) < 0 ||
	    dup2(log_fd, STDERR_FILENO) < 0 || dup2(ready_fd, READY_FD) < 0)
		return;
	(void)close_range(READY_FD + 1, ~0U, 0);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)execv("/proc/self/exe", (char *const *)(uintptr_t)arguments);
	(void)dprintf(READY_FD, "the tool cannot be run again: %s\n", strerror(errno));
}

/* Forks twice, so that the writer is no child of the tool and, as no session leader, can get no
 * terminal. */
static bool writer_spawn(const struct writer_start *start, const struct place *place, int ready_fd)
{
	int log_fd = log_open(place);
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		(void)setsid();
		(void)signal(SIGINT, SIG_DFL);
		if (fork() == 0)
			writer_exec(start, place, ready_fd, log_fd);
		_exit(1);
	}
	ct_os_close(&log_fd);
	if (child > 0)
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	return child > 0;
}

/* Reads the writer's one line, without its end.  Returns false when it does not come in time. */
static bool ready_read(int fd, char *line, size_t room)
{
	uint64_t until = ct_clock_mono_ns() + (uint64_t)START_SECONDS * 1000000000u;
	size_t size = 0;
	char *end;

	while (size + 1 < room && memchr(line, '\n', size) == NULL) {
		ssize_t got;

		if (!fd_wait(fd, until))
			return false;
		got = read(fd, line + size, room - 1 - size);
		if (got == 0 || (got < 0 && errno != EINTR))
			break;
		size += got > 0 ? (size_t)got : 0;
	}
	line[size] = '\0';
	end = strchr(line, '\n');
	if (end != NULL)
		*end = '\0';
	return true;
}

/* The writer writes the same message to its log. */
static void report_as_logged(struct wto *wto, enum wto_id id, const char *writer)
{
	const struct wto_row *row = ct_wto_row(id);
	const char *mark = strstr(row->text, "{}");
	char text[120];

	(void)snprintf(text, sizeof text, "%s %.*s%s%s", row->code, (int)(mark - row->text),
		       row->text, writer, mark + 2);
	ct_wto(wto, id, writer, NULL);
	ct_wto_note_printed(wto, writer, text);
}

static bool report_ready(const struct place *place, bool in_time, const char *line, struct wto *wto)
{
	char why[4300];

	if (in_time && strcmp(line, "ready") == 0) {
		report_as_logged(wto, ITT110I, place->name);
		return true;
	}
	(void)snprintf(why, sizeof why, "%s; %.4000s/%s.log may say more",
		       in_time ? "it ended at once" : "it did not get ready in time",
		       place->directory, place->name);
	ct_wto(wto, CTR021I, place->name, in_time && line[0] != '\0' ? line : why, NULL);
	if (in_time && line[0] != '\0')
		ct_wto_note_printed(wto, place->name, line);
	return false;
}

static bool writer_start_in(const struct writer_start *start, const struct place *place,
			    struct wto *wto)
{
	char line[1024] = "";
	int ends[2];
	bool is_started, in_time;

	if (ct_writer_is_alive(place->directory, place->name)) {
		if (!start->may_run)
			ct_wto(wto, CTR020I, place->name, NULL);
		return start->may_run;
	}
	if (pipe2(ends, O_CLOEXEC) != 0) {
		ct_wto(wto, CTR021I, place->name, strerror(errno), NULL);
		return false;
	}
	is_started = writer_spawn(start, place, ends[1]);
	if (!is_started)
		ct_wto(wto, CTR021I, place->name, strerror(errno), NULL);
	ct_os_close(&ends[1]);
	in_time = is_started && ready_read(ends[0], line, sizeof line);
	ct_os_close(&ends[0]);
	return is_started && report_ready(place, in_time, line, wto);
}

bool ct_writer_start(const struct writer_start *start, struct wto *wto)
{
	struct place place;
	bool is_running;

	if (!place_open(start->name, &place, CTR021I, wto))
		return false;
	is_running = writer_start_in(start, &place, wto);
	ct_os_close(&place.directory_fd);
	return is_running;
}

/* ---- writers that have died ----
 *
 * A writer that ends in order removes its socket before it gives up its lock.  Whoever finds a
 * socket without a lock reports the death, once, in the writer's log, and removes the socket. */

static bool ended_report_in_log(const struct place *place)
{
	char line[80], when[16] = "";
	time_t now = time(NULL);
	struct tm local;
	int log_fd = log_open(place);
	int size;

	if (localtime_r(&now, &local) != NULL)
		(void)strftime(when, sizeof when, "%H.%M.%S", &local);
	size = snprintf(line, sizeof line, "%s ITT107I CTRACE WRITER %s ENDED ABNORMALLY.\n", when,
			place->name);
	if (log_fd < 0)
		return false;
	(void)!write(log_fd, line, (size_t)size);
	ct_os_close(&log_fd);
	return true;
}

static void ended_look(struct place *place, struct wto *wto)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char name[CTRACE_MAX_NAME + 8];
	struct stat info;
	int fd;

	if (fstatat(place->directory_fd, place->name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISSOCK(info.st_mode))
		return;
	(void)snprintf(name, sizeof name, "%s.lock", place->name);
	if (ct_os_open_file(place->directory_fd, name, O_RDWR, &fd) != CTRACE_OK)
		return;
	/* With the lock, no writer starts or ends meanwhile. */
	if (fcntl(fd, F_OFD_SETLK, &lock) == 0 &&
	    fstatat(place->directory_fd, place->name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	    unlinkat(place->directory_fd, place->name, 0) == 0) {
		(void)ended_report_in_log(place);
		report_as_logged(wto, ITT107I, place->name);
	}
	ct_os_close(&fd);
}

void ct_writers_report_ended(struct wto *wto)
{
	struct place place = { .directory_fd = -1 };
	const struct dirent *entry;
	char run_directory[4096];
	DIR *directory;
	int fd;

	if (ct_directory_run_directory(NULL, run_directory) != CTRACE_OK ||
	    snprintf(place.directory, sizeof place.directory, "%s/" CT_WRITER_DIRECTORY,
		     run_directory) >= (int)sizeof place.directory ||
	    access(place.directory, F_OK) != 0 || /* no writer has run there */
	    ct_run_directory_open(CT_WRITER_DIRECTORY, CT_RUN_OF_PROCESSES, place.directory,
				  &place.directory_fd) != CTRACE_OK)
		return;
	fd = openat(place.directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	directory = fd >= 0 ? fdopendir(fd) : NULL;
	if (directory == NULL)
		ct_os_close(&fd);
	while (directory != NULL && (entry = readdir(directory)) != NULL)
		if (ct_writer_name_is_valid(entry->d_name, strlen(entry->d_name))) {
			memcpy(place.name, entry->d_name, strlen(entry->d_name) + 1);
			ended_look(&place, wto);
		}
	if (directory != NULL)
		(void)closedir(directory);
	ct_os_close(&place.directory_fd);
}

/* ---- stopping ---- */

/* Returns true if the writer still listens some seconds after it closed the connection.  The
 * order in which an ending process closes its descriptors is undefined, so one look is not
 * enough. */
static bool writer_is_listening(const struct place *place)
{
	const struct timespec wait = { .tv_nsec = 20000000 };

	for (unsigned i = 0; i < END_TRIES; i++) {
		int fd;

		if (ct_client_connect(place->directory, place->name, &fd) != CTRACE_OK)
			return false;
		ct_os_close(&fd);
		(void)nanosleep(&wait, NULL);
	}
	return true;
}

/* Reads why the writer refuses to end; "" when it gives no reason. */
static void refusal_read(const struct ct_peer *peer, char *why, size_t room)
{
	struct ct_span text = { NULL, 0 };
	struct ct_message message;
	size_t at = 0;

	if (peer->status == CTRACE_OK)
		return;
	if (ct_client_next(peer, &at, &message))
		text = ct_message_find(&message, CT_FIELD_MESSAGE);
	if (text.at != NULL)
		(void)snprintf(why, room, "%.*s", (int)text.size, text.at);
	else
		(void)snprintf(why, room, "%s", ctrace_status_text(peer->status));
}

static bool writer_ask_to_stop(const struct place *place, bool noflush, struct wto *wto)
{
	const struct ct_command stop = { .verb = CT_VERB_WRITER_STOP, .number = noflush ? 0 : 1 };
	const struct target patient = { .timeout_ms = STOP_SECONDS * 1000 };
	struct ct_peer *peer = calloc(1, sizeof *peer);
	bool in_time;
	char why[512] = "";
	struct ask ask;

	ct_ask_init(&ask, &patient, wto);
	ct_command_encode(&ask.request, &stop);
	if (peer == NULL || ask.request.failed) {
		free(peer);
		ct_ask_fini(&ask);
		ct_wto(wto, CTR030I, NULL);
		return false;
	}
	ask.peers = (struct ct_peers){ peer, 1 };
	ct_ask_place_writer(peer, place->directory, place->name);
	ct_ask_send(&ask);
	in_time = peer->status != CTRACE_TIMED_OUT;
	if (in_time && ct_ask_no_response(peer) == NULL)
		refusal_read(peer, why, sizeof why);
	if (why[0] == '\0' && in_time && writer_is_listening(place))
		(void)snprintf(why, sizeof why, "it closed the connection without doing it");
	ct_ask_fini(&ask);
	if (!in_time)
		ct_wto(wto, CTR024I, place->name, "120", NULL);
	else if (why[0] != '\0')
		ct_wto(wto, CTR023I, place->name, why, NULL);
	else
		report_as_logged(wto, ITT111I, place->name);
	return in_time && why[0] == '\0';
}

bool ct_writer_stop(const char *name, bool noflush, struct wto *wto)
{
	enum ctrace_status status;
	struct place place;
	bool is_stopped = false;
	int fd;

	if (!place_open(name, &place, CTR023I, wto))
		return false;
	status = ct_client_connect(place.directory, place.name, &fd);
	if (status == CTRACE_NOT_FOUND)
		ct_wto(wto, CTR022I, place.name, NULL);
	else if (status != CTRACE_OK)
		ct_wto(wto, CTR023I, place.name, ctrace_status_text(status), NULL);
	if (status == CTRACE_OK) {
		ct_os_close(&fd);
		is_stopped = writer_ask_to_stop(&place, noflush, wto);
	}
	ct_os_close(&place.directory_fd);
	return is_stopped;
}
