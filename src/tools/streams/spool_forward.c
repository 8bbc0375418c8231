/*
 * spool_forward.c - serves spools: a process for each address, which sends and removes its traces.
 *
 *     for a shared directory, as root:  this process -> a process for each owner
 *     for each spool:                   a process -> one for each address, and one that recovers
 *
 * Addresses do not hold up each other, and a process of an owner has no more than the owner's
 * rights: the owner's programs decide where the traces go, and which files have the credentials.
 * The processes end with the one that started them.  A lock on a file of the spool, which all of
 * them have together, keeps other forwarders out.
 *
 * A trace whose process was killed is complete when that process is recovered, so a process
 * recovers while there is such a trace.  After a boot without the process's directory there is
 * nothing to recover, and the trace is complete as it is.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/streams/spool_forward.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/end_signal.h"
#include "lib/emit/binfile.h"
#include "lib/emit/spool.h"
#include "operator/recovery/recovery.h"
#include "tools/streams/stream_copy.h"

#define PROCESSES 64u          /* for the addresses of one spool, or the owners of one directory */
#define OWNER_NAME 17          /* a number, a dot and six letters */
#define LOOK_MS 200            /* between two looks at a spool */
#define LOOK_SHARE 9           /* a look takes a tenth of a processor at most */
#define RECOVER_NS 2000000000u /* between two recoveries */
#define RETRY_NS 2000000000u   /* after a failure; doubles up to: */
#define RETRY_MAX_NS 300000000000u

/* A process that does a part of the work. */
struct worker {
	pid_t pid; /* 0: none runs */
	bool is_used;
	char key[CT_SPOOL_ADDRESS_SIZE]; /* the address; or the name of the owner's directory */
	uint64_t retry_at_ns, pause_ns;
};

struct server {
	const char *verb;
	const char *path;
	struct worker workers[PROCESSES];
	pid_t recoverer; /* 0: none runs */
	uint64_t recover_at_ns;
	bool has_left;     /* a trace is not complete, and no process has it open */
	bool is_recovered; /* a recovery has ended since there was the first such trace */
	bool is_crowded;   /* reported */
	sigset_t while_waiting;
};

static void report(const struct server *server, const char *path, const char *why)
{
	fprintf(stderr, "%s: ", server->verb);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, ": %s\n", why);
}

/* why: "", errno has it. */
static void report_refused(const struct server *server, const char *path, const char *why)
{
	char text[CT_PRIVATE_WHY_SIZE + 16];

	(void)snprintf(text, sizeof text, "is refused: %s", why);
	report(server, path, why[0] != '\0' ? text : strerror(errno));
}

static void wait_ms(const struct server *server, int64_t ms)
{
	const struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	if (ct_end_wanted == 0)
		(void)ppoll(NULL, 0, &time, &server->while_waiting);
}

/* ---- processes ---- */

/* In a new process: it ends with its parent, and signals reach it. */
static void worker_begin(const struct server *server, pid_t parent, int end_signal)
{
	(void)prctl(PR_SET_PDEATHSIG, end_signal);
	if (getppid() != parent)
		_exit(CMD_UNWRITTEN);
	(void)sigprocmask(SIG_SETMASK, &server->while_waiting, NULL);
}

static struct worker *worker_find(struct server *server, const char *key)
{
	struct worker *unused = NULL;

	for (size_t i = 0; i < PROCESSES; i++) {
		if (server->workers[i].is_used && strcmp(server->workers[i].key, key) == 0)
			return &server->workers[i];
		if (server->workers[i].pid == 0 &&
		    (unused == NULL || (unused->is_used && !server->workers[i].is_used)))
			unused = &server->workers[i];
	}
	if (unused == NULL) {
		if (!server->is_crowded)
			report(server, server->path,
			       "64 addresses are served at once; the others wait");
		server->is_crowded = true;
		return NULL;
	}
	*unused = (struct worker){ .is_used = true };
	(void)snprintf(unused->key, sizeof unused->key, "%s", key);
	return unused;
}

/* Starts the worker of that key unless it runs, or has failed a short time ago. */
static void worker_start(struct server *server, const char *key,
			 int (*body)(struct server *server, const char *key))
{
	struct worker *worker = worker_find(server, key);
	pid_t parent = getpid();

	if (worker == NULL || worker->pid != 0 || ct_clock_mono_ns() < worker->retry_at_ns)
		return;
	(void)fflush(NULL);
	worker->pid = fork();
	if (worker->pid == 0) {
		int status;

		worker_begin(server, parent, SIGTERM);
		status = body(server, key);
		(void)fflush(NULL);
		_exit(status);
	}
	if (worker->pid < 0)
		worker->pid = 0;
}

static void worker_ended(struct worker *worker, int how)
{
	worker->pid = 0;
	if (WIFEXITED(how) && WEXITSTATUS(how) == CMD_DONE) {
		worker->pause_ns = 0;
		return;
	}
	worker->pause_ns = worker->pause_ns == 0 ? RETRY_NS : worker->pause_ns * 2;
	if (worker->pause_ns > RETRY_MAX_NS)
		worker->pause_ns = RETRY_MAX_NS;
	worker->retry_at_ns = ct_clock_mono_ns() + worker->pause_ns;
}

static void workers_reap(struct server *server)
{
	pid_t ended;
	int how;

	while ((ended = waitpid(-1, &how, WNOHANG)) > 0) {
		if (ended == server->recoverer) {
			server->recoverer = 0;
			server->is_recovered |= WIFEXITED(how) && WEXITSTATUS(how) == 0;
		}
		for (size_t i = 0; i < PROCESSES; i++)
			if (server->workers[i].pid == ended)
				worker_ended(&server->workers[i], how);
	}
}

static void workers_stop(struct server *server)
{
	for (size_t i = 0; i < PROCESSES; i++)
		if (server->workers[i].pid != 0)
			(void)kill(server->workers[i].pid, SIGTERM);
	if (server->recoverer != 0)
		(void)kill(server->recoverer, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

/* ---- one spool ---- */

static int address_serve(struct server *server, const char *address)
{
	char *paths[] = { (char *)(uintptr_t)server->path };
	struct ct_nats_copy copy = {
		.address = address,
		.paths = paths,
		.path_count = 1,
		.follows = true,
		.is_spool = true,
	};

	return stream_forward(server->verb, &copy);
}

static void recovery_start(struct server *server)
{
	pid_t parent = getpid();

	if (server->recoverer != 0 || ct_clock_mono_ns() < server->recover_at_ns)
		return;
	server->recover_at_ns = ct_clock_mono_ns() + RECOVER_NS;
	(void)fflush(NULL);
	server->recoverer = fork();
	if (server->recoverer == 0) {
		struct ct_recovery_sweep sweep = { .is_quiet = true };

		worker_begin(server, parent, SIGKILL);
		ct_recovery_everywhere(&sweep);
		_exit(0);
	}
	if (server->recoverer < 0)
		server->recoverer = 0;
}

/* May a recovery still change the trace?  No process has it open, and nothing marks it as complete.
 */
static bool trace_is_left(const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char name[CTRACE_EMITTER_PATH_SIZE + 320];
	struct ct_buf text;
	size_t end = 0;
	bool is_left;
	int fd;

	(void)snprintf(name, sizeof name, "%s/" CT_SPOOL_ENDED, path);
	if (access(name, F_OK) == 0)
		return false;
	(void)snprintf(name, sizeof name, "%s/metadata", path);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	is_left = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
	ct_os_close(&fd);
	if (!is_left)
		return false;
	ct_buf_init(&text);
	is_left = ct_os_read_file(name, CT_METADATA_LIMIT, &text) == CTRACE_OK &&
		  (ct_bin_mark_find(ct_buf_text(&text), text.size, CT_BIN_MARK_CLOSED, &end) ==
			   NULL ||
		   end != text.size);
	ct_buf_fini(&text);
	return is_left;
}

static void trace_end(const char *path)
{
	char name[CTRACE_EMITTER_PATH_SIZE + 320];
	int fd;

	(void)snprintf(name, sizeof name, "%s/" CT_SPOOL_ENDED, path);
	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	ct_os_close(&fd);
}

static void traces_look(struct server *server, const char *path, unsigned depth)
{
	char inner[CTRACE_EMITTER_PATH_SIZE + 300], address[CT_SPOOL_ADDRESS_SIZE],
		boot[CT_SPOOL_BOOT_SIZE], now[CT_SPOOL_BOOT_SIZE];
	DIR *directory = opendir(path);
	const struct dirent *entry;

	ct_spool_boot(now);
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		struct stat info;

		if (entry->d_name[0] == '.' ||
		    fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
			continue;
		(void)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
		if (!ct_spool_get_address(inner, address, boot)) {
			if (depth > 0)
				traces_look(server, inner, depth - 1);
			continue;
		}
		worker_start(server, address, address_serve);
		if (!trace_is_left(inner))
			continue;
		if (server->is_recovered && strcmp(boot, now) != 0)
			trace_end(inner);
		else
			server->has_left = true;
	}
	if (directory != NULL)
		(void)closedir(directory);
}

/* Returns false when the spool is not to be served: it cannot be locked, or the verb ends. */
static bool spool_lock(const struct server *server)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char name[CTRACE_EMITTER_PATH_SIZE + 32];
	bool is_reported = false;
	int fd;

	(void)snprintf(name, sizeof name, "%s/" CT_SPOOL_LOCK, server->path);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0) {
		report(server, name, strerror(errno));
		return false;
	}
	/* It stays open until the process ends. */
	while (fcntl(fd, F_OFD_SETLK, &lock) != 0 && ct_end_wanted == 0) {
		if (errno != EAGAIN && errno != EACCES) {
			report(server, name, strerror(errno));
			return false;
		}
		if (!is_reported)
			report(server, server->path,
			       "another forwarder serves this spool; waiting for it to end");
		is_reported = true;
		wait_ms(server, LOOK_MS);
	}
	return ct_end_wanted == 0;
}

static int spool_serve(struct server *server)
{
	if (!spool_lock(server))
		return ct_end_wanted != 0 ? CMD_DONE : CMD_UNWRITTEN;
	while (ct_end_wanted == 0) {
		uint64_t begun = ct_clock_mono_ns();

		server->has_left = false;
		traces_look(server, server->path, CT_SPOOL_DEPTH);
		if (server->has_left)
			recovery_start(server);
		wait_ms(server,
			LOOK_MS + (int64_t)(ct_clock_mono_ns() - begun) / 1000000 * LOOK_SHARE);
		workers_reap(server);
	}
	workers_stop(server);
	return CMD_DONE;
}

/* ---- a directory with the spools of several users ---- */

static bool owner_become(const struct stat *info)
{
	const struct passwd *user = getpwuid(info->st_uid);
	gid_t gid = user != NULL ? user->pw_gid : info->st_gid;

	if (info->st_uid == geteuid())
		return true;
	if (user != NULL ? initgroups(user->pw_name, gid) != 0 : setgroups(1, &gid) != 0)
		return false;
	return setresgid(gid, gid, gid) == 0 &&
	       setresuid(info->st_uid, info->st_uid, info->st_uid) == 0 && setuid(0) != 0;
}

static int owner_serve(struct server *server, const char *name)
{
	char path[CTRACE_EMITTER_PATH_SIZE];
	struct server own = { .verb = server->verb,
			      .path = path,
			      .while_waiting = server->while_waiting };
	pid_t parent = getppid();
	struct stat info;
	sigset_t blocked;

	(void)snprintf(path, sizeof path, "%s/%s", server->path, name);
	/* The number of the owner is its name: another user cannot choose whose rights are used. */
	if (lstat(path, &info) != 0 || !S_ISDIR(info.st_mode) ||
	    !ct_private_is_of(name, info.st_uid)) {
		char why[CT_PRIVATE_WHY_SIZE + 64];

		(void)snprintf(why, sizeof why,
			       "is refused: it belongs to user %u, not to the user whose number it "
			       "has; remove it",
			       (unsigned)info.st_uid);
		report(server, path, why);
		return CMD_UNWRITTEN;
	}
	if (!owner_become(&info) || !ct_spool_is_own(&info)) {
		report(server, path, "cannot be served with its owner's rights alone");
		return CMD_UNWRITTEN;
	}
	/* A change of the user has reset it. */
	worker_begin(server, parent, SIGTERM);
	ct_end_catch(&blocked);
	return spool_serve(&own);
}

static void owners_look(struct server *server)
{
	DIR *directory = opendir(server->path);
	const struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL)
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' &&
		    strlen(entry->d_name) <= OWNER_NAME)
			worker_start(server, entry->d_name, owner_serve);
	if (directory != NULL)
		(void)closedir(directory);
}

static int owners_serve(struct server *server)
{
	while (ct_end_wanted == 0) {
		owners_look(server);
		wait_ms(server, LOOK_MS);
		workers_reap(server);
	}
	workers_stop(server);
	return CMD_DONE;
}

int spool_forward(const char *verb, const char *directory)
{
	char path[CTRACE_EMITTER_PATH_SIZE];
	struct server *server = calloc(1, sizeof *server);
	char why[CT_PRIVATE_WHY_SIZE];
	struct stat info;
	int status = CMD_UNWRITTEN;

	if (server == NULL)
		return CMD_NO_MEMORY;
	server->verb = verb;
	server->path = path;
	if (directory == NULL && !ct_spool_root(path)) {
		report(server, path, "there is no spool: set CTRACE_SPOOL, HOME or XDG_STATE_HOME");
		free(server);
		return CMD_UNWRITTEN;
	}
	if (directory != NULL && realpath(directory, path) == NULL)
		report(server, directory, strerror(errno));
	else if (stream_module(verb) == NULL)
		status = CMD_UNWRITTEN; /* it is reported */
	else {
		ct_end_catch(&server->while_waiting);
		if (geteuid() == 0 && stat(path, &info) == 0 && ct_spool_is_shared(&info))
			status = owners_serve(server);
		else if (ct_spool_make(path, why) != CTRACE_OK)
			report_refused(server, path, why);
		else
			status = spool_serve(server);
	}
	free(server);
	return status;
}
