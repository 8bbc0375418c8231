/*
 * recovery_sweep.c - delivers what dead processes left in their process directories, and removes
 * the directories.
 *
 * ct_recover() delivers; this file decides which user it runs as.  The owner of a directory decided
 * where its events go, so they go there with the owner's rights and no more.  Root never delivers
 * for another user itself: a child process becomes that user and delivers.  Any other user recovers
 * only that user's own directories.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operator/recovery/recovery.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "operator/recovery/crash_dump.h"
#include "operator/recovery/recovery_watch.h"

/* The reports of run directories that cannot be used. */
struct refused_run {
	const char *verb;
	uint32_t count;
};

/* One of the owners of the orphans in a run directory. */
struct owner {
	uid_t uid;
	gid_t gid;
};
struct owners {
	struct owner *items;
	size_t count;
	size_t capacity;
	bool failed;
};

static void recovery_print_directory(FILE *to, const char *run_directory, const char *directory)
{
	if (to == stderr)
		fputs("ctrace recover: ", to);
	ct_tool_print(to, run_directory, strlen(run_directory));
	if (directory != NULL) {
		fputc('/', to);
		ct_tool_print(to, directory, strlen(directory));
	}
	fputs(": ", to);
}

/* Prints each line indented. */
static void report_notes(FILE *to, const char *lines)
{
	while (*lines != '\0') {
		size_t size = strcspn(lines, "\n");

		fputs("  ", to);
		ct_tool_print(to, lines, size);
		fputc('\n', to);
		lines += size + (lines[size] == '\n');
	}
}

static void report_directory(const char *run_directory, const char *directory, bool ok,
			     uint64_t delivered, const char *message, const char *notes, void *user)
{
	const struct ct_recovery_sweep *run = user;
	FILE *to = ok ? stdout : stderr;

	if (run->is_quiet)
		return;
	recovery_print_directory(to, run_directory, directory);
	fprintf(to, "%s, %" PRIu64 " event%s delivered",
		ok && strcmp(message, CT_RECOVER_DISCARDED) == 0 ? "discarded"
		: ok                                             ? "recovered"
		: strcmp(message, CT_RECOVER_GIVEN_UP) == 0      ? "given up and removed"
								 : "kept",
		delivered, delivered == 1 ? "" : "s");
	if (!ok && message != NULL && message[0] != '\0') {
		fputs(": ", to);
		ct_tool_print(to, message, strlen(message));
	}
	fputc('\n', to);
	report_notes(to, notes);
}

/* A message from a child that recovers for another user to its parent: each step, and at the end
 * the totals. */
struct recover_message {
	bool is_total;
	union {
		struct recovery_place place;
		struct ct_recovery total;
	};
};
_Static_assert(sizeof(struct recover_message) <= 4096,
	       "a pipe takes a message whole or not at all (PIPE_BUF)");

static struct recovery_place place_of_step(const struct ct_recover_step *step)
{
	struct recovery_place place = { .directory = "" };

	(void)snprintf(place.directory, sizeof(place.directory), "%s/%s", step->run_directory,
		       step->directory);
	if (step->emitter != NULL)
		(void)snprintf(place.output, sizeof(place.output), "%s%s%s", step->emitter,
			       step->path[0] != '\0' ? " " : "", step->path);
	return place;
}

static void step_note(const struct ct_recover_step *step, void *user)
{
	struct recovery_place place = place_of_step(step);

	(void)user;
	ct_recovery_note(&place);
}

static void step_send(const struct ct_recover_step *step, void *user)
{
	struct recover_message message = { .place = place_of_step(step) };

	(void)!write(*(const int *)user, &message, sizeof(message));
}

static void total_add(struct ct_recovery *total, const struct ct_recovery *more)
{
	total->directories += more->directories;
	total->recovered += more->recovered;
	total->in_storage += more->in_storage;
	total->kept += more->kept;
	total->given_up += more->given_up;
	total->spoilt += more->spoilt;
	total->changed += more->changed;
	total->delivered += more->delivered;
	total->damaged += more->damaged;
	total->undeliverable += more->undeliverable;
	total->gone += more->gone;
	total->lost += more->lost;
}

static void owners_add(const struct ct_directory_entry *entry, void *user)
{
	struct owners *owners = user;
	char path[8192];
	struct stat info;

	if (entry->is_alive)
		return;
	for (size_t i = 0; i < owners->count; i++)
		if (owners->items[i].uid == entry->uid)
			return;
	if (owners->count == owners->capacity) {
		size_t capacity = owners->capacity != 0 ? owners->capacity * 2 : 8;
		struct owner *items = reallocarray(owners->items, capacity, sizeof(*items));

		if (items == NULL) {
			owners->failed = true;
			return;
		}
		owners->items = items;
		owners->capacity = capacity;
	}
	snprintf(path, sizeof(path), "%s/%s", entry->run_directory, entry->name);
	if (lstat(path, &info) != 0)
		return;
	owners->items[owners->count++] = (struct owner){ .uid = info.st_uid, .gid = info.st_gid };
}

/* Changes this process to the owner for good.  Returns false when it might keep any of root's
 * rights. */
static bool owner_become(const struct owner *owner)
{
	const struct passwd *user = getpwuid(owner->uid);
	gid_t gid = user != NULL ? user->pw_gid : owner->gid;

	if (user != NULL ? initgroups(user->pw_name, gid) != 0 : setgroups(1, &gid) != 0)
		return false;
	if (setresgid(gid, gid, gid) != 0 || setresuid(owner->uid, owner->uid, owner->uid) != 0)
		return false;
	return geteuid() == owner->uid && getegid() == gid && setuid(0) != 0;
}

/* A directory of a user inside a directory that is closed to that user: only root can have put
 * it there. */
static void report_unreachable(const struct ct_recovery_sweep *run, const char *run_directory,
			       const struct owner *owner)
{
	if (run->is_quiet)
		return;
	recovery_print_directory(stderr, run_directory, NULL);
	fprintf(stderr, "has directories of user %u, who may not look into it: %s\n",
		(unsigned)owner->uid, strerror(errno));
}

/* The child: becomes the owner, recovers, sends the totals, and exits. */
static _Noreturn void child_recover(struct ct_recovery_sweep *run, const char *run_directory,
				    const struct owner *owner, int to_parent, pid_t parent)
{
	struct recover_message last = { .is_total = true,
					.total = { .anyway = run->total.anyway,
						   .discards = run->total.discards } };
	struct ct_recover_options options = { .on_step = step_send, .user = &to_parent };
	sigset_t none;

	/* The child inherits the mask of a thread that blocks all signals. */
	(void)sigemptyset(&none);
	(void)pthread_sigmask(SIG_SETMASK, &none, NULL);
	if (!owner_become(owner)) {
		recovery_print_directory(stderr, run_directory, NULL);
		fprintf(stderr, "cannot become user %u: %s\n", (unsigned)owner->uid,
			strerror(errno));
		_exit(CMD_NOTHING);
	}
	/* The child ends with its parent, which does not wait for an output that hangs.  It may
	 * be killed at any point: committed events are not delivered again. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(CMD_NOTHING);
	if (access(run_directory, R_OK | X_OK) != 0) {
		report_unreachable(run, run_directory, owner);
		_exit(CMD_NOTHING);
	}
	ct_crash_dump_all(run_directory);
	ct_recover(run_directory, &options, &last.total, report_directory, run);
	/* When the sweep is quiet, the buffer of stdout belongs to the verb, which prints it. */
	if ((!run->is_quiet && fflush(stdout) != 0) ||
	    write(to_parent, &last, sizeof(last)) != (ssize_t)sizeof(last))
		_exit(CMD_NOTHING);
	_exit(CMD_DONE);
}

/* Reads the child's messages up to the last.  Returns true when that came; its totals are added. */
static bool child_receive(struct ct_recovery_sweep *run, int from_child)
{
	struct recover_message message;

	while (TEMP_FAILURE_RETRY(read(from_child, &message, sizeof(message))) ==
	       (ssize_t)sizeof(message)) {
		if (message.is_total) {
			total_add(&run->total, &message.total);
			return true;
		}
		ct_recovery_note(&message.place);
	}
	return false;
}

static void sweep_recover_as(struct ct_recovery_sweep *run, const char *run_directory,
			     const struct owner *owner)
{
	pid_t child, parent = getpid();
	bool is_whole;
	int ends[2];
	int how = 0;

	if (pipe2(ends, O_CLOEXEC) != 0) {
		run->broken++;
		return;
	}
	if (!run->is_quiet)
		(void)fflush(stdout);
	child = fork();
	if (child == 0) {
		(void)close(ends[0]);
		child_recover(run, run_directory, owner, ends[1], parent);
	}
	(void)close(ends[1]);
	is_whole = child > 0 && child_receive(run, ends[0]);
	(void)close(ends[0]);
	if (child > 0 && TEMP_FAILURE_RETRY(waitpid(child, &how, 0)) != child)
		how = -1;
	if (is_whole && how == 0)
		return;
	run->broken++;
	if (!run->is_quiet) {
		recovery_print_directory(stderr, run_directory, NULL);
		fprintf(stderr, "recovery for user %u did not complete\n", (unsigned)owner->uid);
	}
}

static void sweep_recover_for(struct ct_recovery_sweep *run, const char *run_directory,
			      const struct owner *owner)
{
	if (owner->uid == geteuid()) {
		const struct ct_recover_options options = { .on_step = step_note };
		struct ct_recovery total = { .anyway = run->total.anyway,
					     .discards = run->total.discards };

		ct_crash_dump_all(run_directory);
		ct_recover(run_directory, &options, &total, report_directory, run);
		total_add(&run->total, &total);
	} else if (geteuid() == 0) {
		sweep_recover_as(run, run_directory, owner);
	} else {
		run->others++;
		if (!run->is_quiet) {
			recovery_print_directory(stderr, run_directory, NULL);
			fprintf(stderr,
				"has directories of user %u, which only that user and root may recover\n",
				(unsigned)owner->uid);
		}
	}
}

/* Reports what could not be delivered so far, and until when it is kept. */
static void report_tries(const struct ct_session_head *head, bool is_damaged)
{
	uint64_t until = ct_recover_until_ns(head);
	char when[CT_TOOL_DATE];

	if (until == 0)
		return;
	ct_tool_date(until, when);
	printf("  %s %" PRIu64 " time%s; undelivered events are removed after %s\n",
	       is_damaged ? "recovery has failed" : "a destination has failed", head->recover_tries,
	       head->recover_tries == 1 ? "" : "s", when);
}

static bool is_discarded(const struct ct_recovery_sweep *run, uint32_t pid)
{
	return run->total.discards == UINT32_MAX || run->total.discards == pid;
}

static void report_storage(const struct ct_recovery_sweep *run,
			   const struct ct_directory_entry *entry,
			   const struct ct_session_head *head, uint64_t until)
{
	char when[CT_TOOL_DATE];

	ct_tool_date(until, when);
	recovery_print_directory(stdout, entry->run_directory, entry->name);
	fputs(is_discarded(run, head->pid) ? "would be discarded: " : "in storage: ", stdout);
	ct_tool_print(stdout, head->program, strnlen(head->program, sizeof(head->program)));
	printf(" (process %u of user %u), removed after %s\n", (unsigned)head->pid,
	       (unsigned)entry->uid, when);
}

static void report_orphan(const struct ct_directory_entry *entry, void *user)
{
	struct ct_recovery_sweep *run = user;
	char why[CT_DIRECTORY_WHY_SIZE];
	struct ct_session session;
	enum ctrace_status status;
	struct ct_buf damage;
	uint64_t until;
	bool is_damaged;

	if (entry->is_alive)
		return;
	status = ct_session_load(&session, entry->run_directory, entry->name, false);
	if (status == CTRACE_OK && ct_recover_is_storage(session.head, &until)) {
		report_storage(run, entry, session.head, until);
		ct_session_close(&session, false);
		return;
	}
	run->total.directories++;
	if (status != CTRACE_OK) {
		run->total.kept++;
		recovery_print_directory(stderr, entry->run_directory, entry->name);
		fprintf(stderr, "cannot be read: %s\n", ct_directory_explain(entry, status, why));
		return;
	}
	if (!run->total.anyway && !ct_place_is_here(&session)) {
		run->total.kept++;
		recovery_print_directory(stderr, entry->run_directory, entry->name);
		fputs("would be kept: " CT_RECOVER_ELSEWHERE "\n", stderr);
		ct_session_close(&session, false);
		return;
	}
	ct_buf_init(&damage);
	is_damaged = ct_ring_explain_damage(&session, &damage) != 0;
	if (is_damaged && !is_discarded(run, entry->pid)) {
		run->total.kept++;
		recovery_print_directory(stdout, entry->run_directory, entry->name);
		fputs("would be kept, and the rest delivered: ", stdout);
		ct_tool_print(stdout, ct_buf_text(&damage), damage.size);
	} else {
		recovery_print_directory(stdout, entry->run_directory, entry->name);
		fputs(is_damaged                         ? "would be discarded"
		      : session.head->recover_tries != 0 ? "would be tried again"
							 : "would be recovered",
		      stdout);
	}
	ct_buf_fini(&damage);
	fputs(": ", stdout);
	ct_tool_print(stdout, session.head->program,
		      strnlen(session.head->program, sizeof(session.head->program)));
	printf(" (process %u of user %u)\n", (unsigned)session.head->pid, (unsigned)entry->uid);
	report_tries(session.head, is_damaged);
	ct_session_close(&session, false);
}

static void sweep_recover_directory(const char *path, void *user)
{
	struct ct_recovery_sweep *run = user;
	struct owners owners = { 0 };

	if (run->is_dry) {
		ct_directory_each(path, report_orphan, run);
		return;
	}
	ct_directory_each(path, owners_add, &owners);
	for (size_t i = 0; i < owners.count; i++)
		sweep_recover_for(run, path, &owners.items[i]);
	if (owners.failed)
		run->broken++;
	free(owners.items);
}

void ct_recovery_everywhere(void *sweep)
{
	ct_directory_each_run_directory(sweep_recover_directory, sweep);
}

void ct_recovery_on_the_way(const char *verb)
{
	/* its thread may outlive this call */
	static struct ct_recovery_sweep run = { .is_quiet = true };

	ct_recovery_run(ct_recovery_everywhere, &run, verb, RECOVERY_GOES_ON);
}

static void report_refused(const char *path, const char *why, void *user)
{
	struct refused_run *refused = user;

	fprintf(stderr, "%s: the run directory ", refused->verb);
	ct_tool_print(stderr, path, strlen(path));
	fprintf(stderr, " is refused: %s\n", why);
	refused->count++;
}

uint32_t ct_recovery_report_refused(const char *verb)
{
	struct refused_run refused = { .verb = verb };

	ct_directory_each_refused(report_refused, &refused);
	return refused.count;
}

void ct_recovery_named(struct ct_recovery_sweep *run, const char *path)
{
	struct stat info;

	errno = 0;
	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode) && access(path, R_OK | X_OK) == 0) {
		sweep_recover_directory(path, run);
		return;
	}
	if (errno == 0)
		errno = ENOTDIR;
	run->broken++;
	recovery_print_directory(stderr, path, NULL);
	fprintf(stderr, "%s\n", strerror(errno));
}
