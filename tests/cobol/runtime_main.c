/*
 * runtime_main.c - a program in C that calls COBOL, ends the run time, and begins it again.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>
#include <stdio.h>

#include <libcob.h> /* needs size_t */

int main(void)
{
	for (int turn = 1; turn <= 2; turn++) {
		char depth[] = "1";
		void *arguments[] = { depth };

		cob_init(0, NULL);
		(void)cob_call("rtagain", 1, arguments);
		(void)cob_tidy();
		(void)printf("turn %d\n", turn);
	}
	return 4;
}
