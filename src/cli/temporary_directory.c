/*
 * temporary_directory.c - a directory that is gone when the tool has ended in any way.
 *
 * A signal ends most verbs at once, also one that comes while the directory is made.  So another
 * process, the keeper, makes the directory and removes it.
 *
 * On the tool's one thread.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "cli/temporary_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/temporary_file.h"

#define REMOVALS 100u /* a program may make files meanwhile */

static char directory[PATH_MAX]; /* "": none */
static int keeper_link = -1;     /* stays open until the tool ends */

static int entry_remove(const char *path, const struct stat *info, int kind, struct FTW *place)
{
	(void)info;
	(void)kind;
	(void)place;
	(void)remove(path);
	return 0;
}

static void directory_remove(void)
{
	for (unsigned i = 0; i < REMOVALS && directory[0] != '\0'; i++) {
		(void)nftw(directory, entry_remove, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
		if (access(directory, F_OK) != 0)
			directory[0] = '\0';
	}
}

struct keeper_answer {
	int error; /* 0: the directory is made */
	char path[PATH_MAX];
};

/* Makes the directory, and removes it when the other end of the link is closed.  A byte there makes
 * it stay. */
static _Noreturn void keeper_run(int link, struct keeper_answer *answer)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	ssize_t got = 0;
	char byte;

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		(void)dup2(null, fd);
	/* From here on a signal to the group does not end it.  The directory is made after that. */
	(void)setsid();
	if (mkdtemp(answer->path) == NULL)
		answer->error = errno;
	else
		memcpy(directory, answer->path, sizeof directory);
	(void)!send(link, answer, sizeof *answer, MSG_NOSIGNAL);
	while (answer->error == 0 && (got = read(link, &byte, 1)) < 0 && errno == EINTR)
		;
	if (got <= 0)
		directory_remove();
	_exit(0);
}

static void keeper_start(struct keeper_answer *answer)
{
	sigset_t all, before;
	pid_t keeper;
	int link[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link) != 0) {
		answer->error = errno;
		return;
	}
	/* A signal to the group, or a terminal that closes, would end it before it has a session of
	 * its own. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	keeper = fork();
	if (keeper == 0) {
		(void)close(link[0]);
		keeper_run(link[1], answer);
	}
	answer->error = keeper < 0 ? errno : ECHILD; /* somebody has killed it */
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	(void)close(link[1]);
	while (keeper > 0 && recv(link[0], answer, sizeof *answer, 0) < 0 && errno == EINTR)
		;
	if (answer->error == 0)
		keeper_link = link[0];
	else
		(void)close(link[0]);
}

int temporary_directory_make(const char *name, char out_path[PATH_MAX])
{
	const char *parent = ct_temporary_directory("/tmp");
	struct keeper_answer answer = { 0 };
	size_t size;

	/* Programs that are given the path may have other working directories. */
	if (realpath(parent, answer.path) == NULL) {
		(void)snprintf(out_path, PATH_MAX, "%s", parent);
		return errno;
	}
	size = strlen(answer.path);
	if (snprintf(answer.path + size, PATH_MAX - size, "/%s.XXXXXX", name) >=
	    (int)(PATH_MAX - size))
		answer.error = ENAMETOOLONG;
	else
		keeper_start(&answer);
	memcpy(out_path, answer.path, PATH_MAX);
	if (answer.error == 0) {
		memcpy(directory, answer.path, PATH_MAX);
		(void)atexit(directory_remove);
	}
	return answer.error;
}

void temporary_directory_keep(void)
{
	directory[0] = '\0';
	(void)!send(keeper_link, "", 1, MSG_NOSIGNAL);
}
