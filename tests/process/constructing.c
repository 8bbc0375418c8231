/*
 * constructing.c - a module that test_loading.c builds and loads: its constructor calls back into
 * the program (as a program it does nothing).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdlib.h>

/* The address of the function stands in the environment: a program need not export what its modules
 * call. */
__attribute__((constructor)) static void construct(void)
{
	const char *address = getenv("TEST_CONSTRUCTOR");

	if (address != NULL)
		((void (*)(void))(uintptr_t)strtoull(address, NULL, 16))();
}

int main(void)
{
	return 0;
}
