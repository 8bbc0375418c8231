/*
 * between.c - between COMMAND PROGRAM [ARGUMENT...]: runs a program, and a command of the shell
 * before each of the system calls of its first thread, which waits for the command.
 *
 * The status is the program's.  97: it cannot be held, or a command could not be started.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	bool is_before = true;
	int status, number = 0;
	pid_t pid = argc > 2 ? fork() : -1;

	if (pid < 0)
		return 97;
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			(void)execv(argv[2], argv + 2);
		_exit(97);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) != 0)
		return 97;
	while (ptrace(PTRACE_SYSCALL, pid, NULL, number) == 0 && waitpid(pid, &status, 0) == pid &&
	       WIFSTOPPED(status)) {
		number = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
		if (number != 0)
			continue;
		if (is_before && system(argv[1]) < 0)
			return 97;
		is_before = !is_before;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 97;
}
