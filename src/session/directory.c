/*
 * directory.c - the run directory and the directories of traced processes in it.
 *
 * Called when a process attaches, by recoverers and by tools; never by a trace call.  Nothing here
 * follows a link that it did not make, and only directories and files with ctrace's own names are
 * removed.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "session/session_parts.h"

#include "base/private_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define MAPS_LIMIT ((size_t)64 << 20)
#define RUN_OF_ROOT "/run/ctrace"

static enum ctrace_status directory_check(const char *path)
{
	char why[CT_PRIVATE_WHY_SIZE];

	return ct_private_inspect(path, why);
}

/* out_path is absolute: the program may go to another directory later. */
static enum ctrace_status directory_use(const char *wanted, char out_path[4096])
{
	char path[4096];
	size_t size = strlen(wanted);
	enum ctrace_status status;

	if (size >= sizeof path)
		return CTRACE_DENIED;
	memcpy(path, wanted, size + 1);
	/* with a slash at the end, a link there would be followed */
	while (size > 1 && path[size - 1] == '/')
		path[--size] = '\0';
	status = directory_check(path);
	if (status == CTRACE_NOT_FOUND) {
		status = ct_os_make_directory(path);
		if (status == CTRACE_OK)
			status = directory_check(path);
		if (status == CTRACE_OK)
			ct_unattached_make_room(path);
	}
	if (status == CTRACE_OK && path[0] == '/' && strstr(path, "/.") == NULL &&
	    strstr(path, "//") == NULL)
		memcpy(out_path, path, size + 1);
	else if (status == CTRACE_OK && realpath(path, out_path) == NULL)
		status = CTRACE_DENIED;
	return status;
}

/* Joins two parts; returns false when they do not fit. */
static bool path_join(char out[4096], const char *directory, const char *name)
{
	int size = snprintf(out, 4096, "%s%s", directory, name);

	return size > 0 && size < 4096;
}

/* Uses the default run directory, when no other is configured. */
static enum ctrace_status directory_use_default(char out_path[4096])
{
	const char *runtime = ct_os_environment("XDG_RUNTIME_DIR");
	char path[4096], why[CT_PRIVATE_WHY_SIZE];
	enum ctrace_status status;

	if (geteuid() == 0 && directory_use(RUN_OF_ROOT, out_path) == CTRACE_OK)
		return CTRACE_OK;
	if (runtime != NULL && path_join(path, runtime, "/ctrace") &&
	    directory_use(path, out_path) == CTRACE_OK)
		return CTRACE_OK;
	(void)snprintf(path, sizeof path, "/tmp/ctrace-%u", (unsigned)geteuid());
	status = directory_use(path, out_path);
	if (status != CTRACE_DENIED || ct_private_make(path, sizeof path, why) != CTRACE_OK)
		return status;
	ct_unattached_make_room(path);
	return directory_use(path, out_path);
}

bool ct_directory_is_left(void)
{
	const char *when = ct_os_environment("CTRACE_LEAVE_DIRECTORY");

	return when != NULL && strcmp(when, "losses") != 0;
}

enum ctrace_status ct_directory_run_directory(const char *configured, char out_path[4096])
{
	const char *environment = ct_os_environment("CTRACE_RUN_DIR");
	const char *chosen = environment != NULL ? environment : configured;

	if (environment != NULL && ct_directory_is_left() && access(environment, F_OK) != 0)
		return CTRACE_NOT_FOUND;
	/* A configured directory is used or refused, never replaced. */
	return chosen != NULL ? directory_use(chosen, out_path) : directory_use_default(out_path);
}

enum ctrace_status ct_directory_of_user(char out_path[4096])
{
	const char *chosen = ct_os_environment("CTRACE_RUN_DIR");

	/* The directory was configured when the process was another user; most likely it belongs to
	 * that user. */
	if (chosen != NULL && directory_check(chosen) == CTRACE_OK &&
	    directory_use(chosen, out_path) == CTRACE_OK)
		return CTRACE_OK;
	return directory_use_default(out_path);
}

/* For root: visits the run directories of all users at the default paths. */
static void directory_each_of_all_users(void (*each)(const char *path, void *user), void *user)
{
	static const struct {
		const char *directory, *prefix, *suffix;
	} places[] = { { "/run/user", "", "/ctrace" }, { "/tmp", "ctrace-", "" } };

	for (size_t i = 0; i < CT_COUNT(places); i++) {
		DIR *directory = opendir(places[i].directory);
		struct dirent *entry;

		while (directory != NULL && (entry = readdir(directory)) != NULL) {
			char path[4096];
			struct stat info;

			const char *number = entry->d_name + strlen(places[i].prefix);

			if (strncmp(entry->d_name, places[i].prefix, strlen(places[i].prefix)) !=
				    0 ||
			    number[0] < '0' || number[0] > '9')
				continue;
			if (snprintf(path, sizeof path, "%s/%s%s", places[i].directory,
				     entry->d_name, places[i].suffix) >= (int)sizeof path)
				continue;
			if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
			    (info.st_mode & 022) == 0 && ct_private_is_of(number, info.st_uid))
				each(path, user);
		}
		if (directory != NULL)
			(void)closedir(directory);
	}
}

/* Visits the possible paths of the present user's run directories, existing or not. */
static void directory_each_own_path(void (*each)(const char *path, void *user), void *user)
{
	const char *chosen = ct_os_environment("CTRACE_RUN_DIR");
	const char *runtime = ct_os_environment("XDG_RUNTIME_DIR");
	char path[4096];
	char name[64];

	if (chosen != NULL) {
		each(chosen, user);
		return;
	}
	each(RUN_OF_ROOT, user);
	if (geteuid() == 0)
		return;
	if (runtime != NULL && path_join(path, runtime, "/ctrace"))
		each(path, user);
	(void)snprintf(name, sizeof name, "/tmp/ctrace-%u", (unsigned)geteuid());
	ct_private_each(name, each, user);
}

/* The callback for usable directories, or the one for refused directories. */
struct looking {
	void (*each)(const char *path, void *user);
	ct_directory_refused *refused;
	void *user;
};

static void looking_look(const char *path, void *user)
{
	const struct looking *looking = user;
	char why[CT_PRIVATE_WHY_SIZE], operated[4096];
	enum ctrace_status status = ct_private_inspect(path, why);
	/* The directory is root's, so no other user expects to use it. */
	bool is_roots = geteuid() != 0 && strcmp(path, RUN_OF_ROOT) == 0;

	if (looking->each != NULL && status == CTRACE_OK)
		looking->each(path, looking->user);
	if (looking->refused != NULL && status == CTRACE_DENIED && geteuid() != 0 &&
	    ct_directory_is_operated(operated) && strcmp(path, operated) == 0)
		(void)snprintf(why, sizeof why,
			       "its user alone reads it; an operator gives commands and D TRACE");
	if (looking->refused != NULL && status == CTRACE_DENIED && !is_roots)
		looking->refused(path, why, looking->user);
}

void ct_directory_each_run_directory(void (*each)(const char *path, void *user), void *user)
{
	struct looking looking = { .each = each, .user = user };

	directory_each_own_path(looking_look, &looking);
	if (ct_os_environment("CTRACE_RUN_DIR") == NULL && geteuid() == 0)
		directory_each_of_all_users(each, user);
}

bool ct_directory_is_operated(char out_path[4096])
{
	const char *chosen = ct_os_environment("CTRACE_RUN_DIR");
	struct stat info;
	size_t size;

	if (chosen == NULL)
		return false;
	size = strlen(chosen);
	/* with a slash at the end, a link there would be followed */
	while (size > 1 && chosen[size - 1] == '/')
		size--;
	if (size >= 4096)
		return false;
	memcpy(out_path, chosen, size);
	out_path[size] = '\0';
	return lstat(out_path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid != geteuid() &&
	       (info.st_mode & 022) == 0 &&
	       faccessat(AT_FDCWD, out_path, R_OK | X_OK, AT_EACCESS) == 0;
}

void ct_directory_each_refused(ct_directory_refused *each, void *user)
{
	struct looking looking = { .refused = each, .user = user };

	directory_each_own_path(looking_look, &looking);
}

static int directory_open_session(int directory_fd, const char *name)
{
	char path[300];

	(void)snprintf(path, sizeof path, "%s/session", name);
	return openat(directory_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

/* True if a process holds the lock of this session file as its own.  A recoverer's lock belongs to
 * its open file, and the kernel reports that as -1. */
static bool session_is_locked(int directory_fd, const char *name)
{
	struct flock lock = { .l_type = F_WRLCK,
			      .l_whence = SEEK_SET,
			      .l_start = CT_SESSION_LOCK_ALIVE,
			      .l_len = 1 };
	int fd = directory_open_session(directory_fd, name);
	bool locked;

	if (fd < 0)
		return false;
	locked = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid != -1;
	ct_os_close(&fd);
	return locked;
}

/* A number of the session's head; 0: not noted, or not readable. */
static uint64_t session_read_number(int directory_fd, const char *name, size_t offset)
{
	int fd = directory_open_session(directory_fd, name);
	uint64_t number = 0;
	size_t got = 0;

	if (fd >= 0 && (ct_os_read_at(fd, &number, sizeof number, offset, &got) != CTRACE_OK ||
			got != sizeof number))
		number = 0;
	ct_os_close(&fd);
	return number;
}

/* Returns false when a later process has the number of the one that made this session, or a process
 * of another name space.  Returns true when that is not visible. */
static bool session_is_of_process(int directory_fd, const char *name, uint32_t pid)
{
	uint64_t start = ct_place_process_start(pid);
	uint64_t space = session_read_number(directory_fd, name,
					     offsetof(struct ct_session_head, place.process_space));
	uint64_t noted;

	if ((kill((pid_t)pid, 0) != 0 && errno == ESRCH) ||
	    (space != 0 && space != ct_place_process_space()))
		return false;
	noted = session_read_number(directory_fd, name,
				    offsetof(struct ct_session_head, process_start));
	return start == noted || start == 0 || noted == 0;
}

enum ctrace_status ct_session_look_mapped(const char *name, uint32_t pid, bool *out_is_mapped)
{
	char suffix[300];
	struct ct_buf maps;
	enum ctrace_status status;
	int error;

	(void)snprintf(suffix, sizeof suffix, "/%s/session\n", name);
	ct_buf_init(&maps);
	status = ct_os_read_maps(pid, MAPS_LIMIT, &maps);
	*out_is_mapped = status == CTRACE_OK && strstr(ct_buf_text(&maps), suffix) != NULL;
	error = errno;
	ct_buf_fini(&maps);
	errno = error;
	return status;
}

/*
 * True if the process has the session file mapped.  A process that closed all its descriptors has
 * lost the lock, but lives.  If it has also changed its user, its mappings are hidden; then its
 * existence decides.
 */
static bool session_is_mapped_by(int directory_fd, const char *name, uint32_t pid)
{
	bool is_mapped;
	enum ctrace_status status = ct_session_look_mapped(name, pid, &is_mapped);

	return status == CTRACE_OK || status == CTRACE_NOT_FOUND || errno == ESRCH
		       ? is_mapped
		       : session_is_of_process(directory_fd, name, pid);
}

/* Returns true when nobody holds the lock that the maker of a directory has, and its children. */
static bool directory_is_unlocked(int run_fd, const char *name)
{
	int fd = openat(run_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool is_unlocked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

	ct_os_close(&fd);
	return is_unlocked;
}

/*
 * Removes a directory whose maker died before it was complete, or while it removed it.  A process
 * makes and removes its own directory with the name space 0 in the name, and locks it soon.  A tool
 * that watches the run directory often looks before that, so a young directory stays.  Who removes
 * the directory of another process names his name space: if that is ours, he is dead when no
 * process has his number.  Otherwise only the age of the directory decides.
 */
static void directory_remove_if_abandoned(int run_fd, const char *run_directory, const char *name)
{
	struct stat info;
	char *end;
	unsigned long pid = strtoul(name + strlen(".new-"), &end, 10);
	unsigned long long space = *end == '-' ? strtoull(end + 1, &end, 10) : 0;

	bool is_own = *end == '-' && space == 0;
	time_t age;

	if (*end != '-')
		space = 0;
	if (fstatat(run_fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode))
		return;
	if (space != 0 && space == ct_place_process_space()) {
		if (pid == 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
			return;
	} else {
		age = time(NULL) - info.st_mtime;
		if (age < CT_ABANDONED_SECONDS &&
		    !(is_own && age >= CT_UNLOCKED_SECONDS && directory_is_unlocked(run_fd, name)))
			return;
	}
	if (!session_is_locked(run_fd, name))
		ct_directory_remove(run_directory, name);
}

/* The directory of a process.  Those of one run directory form a list, the oldest first. */
struct found {
	struct found *next;
	struct timespec changed;
	uint32_t uid;
	char name[];
};

static bool found_is_later(const struct found *a, const struct stat *b)
{
	return a->changed.tv_sec != b->st_mtim.tv_sec ? a->changed.tv_sec > b->st_mtim.tv_sec
						      : a->changed.tv_nsec > b->st_mtim.tv_nsec;
}

static bool found_add(struct found **list, const char *name, const struct stat *info)
{
	size_t size = strlen(name) + 1;
	struct found *found = malloc(sizeof *found + size);

	if (found == NULL)
		return false;
	*found = (struct found){ .changed = info->st_mtim, .uid = info->st_uid };
	memcpy(found->name, name, size);
	while (*list != NULL && !found_is_later(*list, info))
		list = &(*list)->next;
	found->next = *list;
	*list = found;
	return true;
}

/* Returns 0 when the name is not that of a process's directory. */
static uint32_t name_parse_pid(const char *name)
{
	char *end;
	unsigned long pid = strtoul(name, &end, 10);

	return *end == '.' && strlen(name) <= 200 ? (uint32_t)pid : 0;
}

/* Lists the directories of processes, and removes abandoned ones on the way. */
static struct found *found_list(DIR *directory, const char *run_directory)
{
	struct found *list = NULL;
	struct dirent *entry;

	while ((entry = readdir(directory)) != NULL) {
		struct stat info;

		if (strncmp(entry->d_name, ".new-", 5) == 0)
			directory_remove_if_abandoned(dirfd(directory), run_directory,
						      entry->d_name);
		else if (strncmp(entry->d_name, "annex-", 6) == 0)
			ct_annex_remove_abandoned(dirfd(directory), entry->d_name);
		else if (name_parse_pid(entry->d_name) != 0 &&
			 fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) ==
				 0 &&
			 S_ISDIR(info.st_mode) && !found_add(&list, entry->d_name, &info))
			break; /* no memory: an incomplete list is better than none */
	}
	return list;
}

void ct_directory_each(const char *run_directory,
		       void (*each)(const struct ct_directory_entry *entry, void *user), void *user)
{
	DIR *directory = opendir(run_directory);
	struct found *list, *next;

	if (directory == NULL)
		return;
	list = found_list(directory, run_directory);
	for (; list != NULL; list = next) {
		struct ct_directory_entry entry = { .run_directory = run_directory,
						    .name = list->name,
						    .pid = name_parse_pid(list->name),
						    .uid = list->uid };

		/* Our own session file must not be opened here: closing any descriptor of it would
		 * drop our lock. */
		entry.is_alive = ct_session_is_own(run_directory, list->name) ||
				 session_is_locked(dirfd(directory), list->name) ||
				 session_is_mapped_by(dirfd(directory), list->name, entry.pid);
		each(&entry, user);
		next = list->next;
		free(list);
	}
	(void)closedir(directory);
}

static bool name_is_ours(const char *name)
{
	return strcmp(name, "session") == 0 || strcmp(name, "control") == 0 ||
	       strcmp(name, "crash") == 0 || strncmp(name, "ring.", 5) == 0 ||
	       strncmp(name, CT_BELL_LEFT, sizeof CT_BELL_LEFT - 1) == 0;
}

bool ct_directory_file_is_odd(int directory_fd, const char *name,
			      char out_why[CT_DIRECTORY_WHY_SIZE])
{
	const char *base = strrchr(name, '/');
	struct stat info;

	if (fstatat(directory_fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(info.st_mode))
		return false;
	(void)snprintf(out_why, CT_DIRECTORY_WHY_SIZE, "%.40s is %s, not a file",
		       base != NULL ? base + 1 : name, ct_private_kind(info.st_mode));
	return true;
}

bool ct_directory_is_cut(const char *run_directory, const char *name)
{
	int run_fd = open(run_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = run_fd >= 0 ? directory_open_session(run_fd, name) : -1;
	uint64_t magic = CT_SESSION_MAGIC;
	uint32_t was_cut = 0;
	size_t got = 0;
	bool is_cut =
		fd >= 0 && ct_os_read_at(fd, &magic, sizeof magic, 0, &got) == CTRACE_OK &&
		(got == 0 || magic == 0 ||
		 (magic == CT_SESSION_MAGIC &&
		  ct_os_read_at(fd, &was_cut, sizeof was_cut,
				offsetof(struct ct_session_head, was_cut), &got) == CTRACE_OK &&
		  was_cut != 0));

	ct_os_close(&fd);
	ct_os_close(&run_fd);
	return is_cut;
}

const char *ct_directory_explain(const struct ct_directory_entry *entry, enum ctrace_status status,
				 char out_why[CT_DIRECTORY_WHY_SIZE])
{
	char path[4096], session[4096];

	struct stat info;
	size_t size;

	if (snprintf(path, sizeof path, "%s/%s", entry->run_directory, entry->name) >=
		    (int)sizeof path ||
	    !path_join(session, path, "/session"))
		return ctrace_status_text(status);
	if (lstat(session, &info) != 0 && errno == ENOENT)
		(void)snprintf(out_why, CT_DIRECTORY_WHY_SIZE, "its session file is missing");
	else if (status == CTRACE_DAMAGED && entry->is_alive &&
		 ct_directory_is_cut(entry->run_directory, entry->name))
		return CT_DIRECTORY_CUT;
	else if (!ct_directory_file_is_odd(AT_FDCWD, session, out_why) && status != CTRACE_DAMAGED)
		return ctrace_status_text(status);
	else if (S_ISREG(info.st_mode))
		(void)snprintf(out_why, CT_DIRECTORY_WHY_SIZE, "its session file %s",
			       info.st_size == 0 ? "was emptied" : "is cut or damaged");
	size = strlen(out_why);
	if (!entry->is_alive)
		(void)snprintf(out_why + size, CT_DIRECTORY_WHY_SIZE - size,
			       ": no event in it can be read; "
			       "ctrace recover --discard=%u removes the directory",
			       entry->pid);
	return out_why;
}

static void name_hide(char hidden[300], uint32_t pid, uint64_t process_space, const char *name)
{
	(void)snprintf(hidden, 300, ".new-%u-%llu-%.200s", (unsigned)pid,
		       (unsigned long long)process_space, name);
}

/* Hides a directory by renaming it before its first file is removed.  If we die now, it is an
 * abandoned directory and not a damaged one. */
static void directory_hide(int run_fd, const char **name, char hidden[300])
{
	if (strncmp(*name, ".new-", 5) == 0)
		return;
	name_hide(hidden, (uint32_t)getpid(), ct_place_process_space(), *name);
	if (renameat(run_fd, *name, run_fd, hidden) == 0)
		*name = hidden;
}

void ct_directory_remove_open(int parent_fd, const char *name, int fd)
{
	DIR *directory = fd < 0 ? NULL : ct_os_directory_stream(fd);
	struct dirent *entry;

	if (directory == NULL) {
		ct_os_close(&fd);
		return;
	}
	while ((entry = readdir(directory)) != NULL)
		if (name_is_ours(entry->d_name) &&
		    unlinkat(dirfd(directory), entry->d_name, 0) != 0 && errno == EISDIR)
			(void)unlinkat(dirfd(directory), entry->d_name, AT_REMOVEDIR);
	(void)closedir(directory);
	(void)unlinkat(parent_fd, name, AT_REMOVEDIR);
}

void ct_directory_remove(const char *run_directory, const char *name)
{
	int run_fd = open(run_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = run_fd < 0 ? -1
			    : openat(run_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char hidden[300];

	if (fd >= 0)
		directory_hide(run_fd, &name, hidden);
	ct_directory_remove_open(run_fd, name, fd);
	ct_os_close(&run_fd);
}

/* The directory has further files, such as a spare ring. */
static __attribute__((noinline)) void directory_remove_rest(const struct ct_session *session,
							    const char *name)
{
	size_t run_size = strlen(session->path) - strlen(session->directory);
	char run_directory[4096];

	memcpy(run_directory, session->path, run_size - 1);
	run_directory[run_size - 1] = '\0';
	ct_directory_remove(run_directory, name);
}

/* By names below the directory's parent, which need no room for a path: exit() may be called on a
 * small stack.  A dormant process has one file, so nobody can see half of the removal: a reader
 * removes an empty directory (session_load.c). */
void ct_directory_remove_own(struct ct_session *session)
{
	char own[3 + sizeof session->directory], hidden[3 + 300] = "../", name[32];
	int fd;

	if (session->path[0] == '\0' || (fd = ct_session_directory(session)) < 0)
		return;
	(void)snprintf(own, sizeof own, "../%s", session->directory);
	if (session->head->is_dormant == CT_DORMANT) {
		(void)unlinkat(fd, "session", 0);
		if (unlinkat(fd, own, AT_REMOVEDIR) != 0 && errno != ENOENT)
			directory_remove_rest(session, session->directory);
		return;
	}
	name_hide(hidden + 3, session->head->pid, session->head->place.process_space,
		  session->directory);
	if (renameat(fd, own, fd, hidden) != 0)
		return;
	(void)unlinkat(fd, "session", 0);
	for (uint32_t i = 0; i < session->head->ring_count && i < CT_RING_LIMIT; i++) {
		(void)snprintf(name, sizeof name, "ring.%u", i);
		(void)unlinkat(fd, name, 0);
	}
	if (unlinkat(fd, hidden, AT_REMOVEDIR) != 0)
		directory_remove_rest(session, hidden + 3);
}
