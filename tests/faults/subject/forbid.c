/*
 * forbid.c - forbid NUMBER ERRNO PROGRAM [ARGUMENT...]: runs a program whose system call NUMBER
 * fails with ERRNO, by a seccomp filter.  Status 97: no filter is possible here.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned number = argc > 3 ? (unsigned)atoi(argv[1]) : 0;
	unsigned error = argc > 3 ? (unsigned)atoi(argv[2]) : 0;
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof steps / sizeof steps[0], steps };

	if (argc <= 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return 97;
	(void)execv(argv[3], argv + 3);
	return 98;
}
