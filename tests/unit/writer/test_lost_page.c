/*
 * test_lost_page.c - a process truncates its session, or a ring, while a writer has them mapped.
 *
 * In a child each: the handler is the program's, and what it does not take on ends it.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "../session/session_fixture.h"
#include "writer/ring_consumer.h"

#include <sys/mman.h>

#define SIZE ((size_t)64 << 10)

static struct ct_link link_of_one;
static struct ct_ring ring;
static unsigned char *mapped;

/* A ring whose file is gone from under it, but for its first page. */
static void take_away(void)
{
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);

	CHILD_CHECK(fd >= 0 && ftruncate(fd, (off_t)SIZE) == 0);
	mapped = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHILD_CHECK(mapped != MAP_FAILED);
	memset(mapped, 7, SIZE);
	ring = (struct ct_ring){ .head = (struct ct_ring_head *)(void *)mapped,
				 .capacity = SIZE - CT_RING_HEAD_SIZE };
	link_of_one = (struct ct_link){ .ring = &ring, .rings = 1 };
	CHILD_CHECK(ftruncate(fd, 4096) == 0);
	ct_guard_start();
}

static void read_all(void)
{
	unsigned sum = 0;

	take_away();
	ct_guard_link(&link_of_one);
	for (size_t i = 0; i < SIZE; i += 512)
		sum += *(volatile unsigned char *)(mapped + i);
	CHILD_CHECK(sum == 8 * 7);
	CHILD_CHECK(link_of_one.is_damaged == 1);
	*(volatile unsigned char *)(mapped + SIZE - 1) = 1; /* to nobody's harm */
}

static void what_is_missing_is_empty_and_noted(void **state)
{
	(void)state;
	run_child(read_all);
}

static void read_unguarded(void)
{
	take_away();
	ct_guard_link(NULL);
	(void)*(volatile unsigned char *)(mapped + SIZE - 1);
}

static void read_beside(void)
{
	take_away();
	ring.capacity = 4096;
	ct_guard_link(&link_of_one);
	(void)*(volatile unsigned char *)(mapped + SIZE - 1);
}

/* It dies: of the signal, or as a sanitizer sees to it. */
static void dies(void (*body)(void))
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		(void)close(STDERR_FILENO);
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void every_other_bus_error_is_one(void **state)
{
	(void)state;
	dies(read_unguarded);
	dies(read_beside);
}

static int setup(void **state)
{
	(void)state;
	enter_room();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	leave_room();
	return 0;
}

int test_lost_page(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_missing_is_empty_and_noted),
		cmocka_unit_test(every_other_bus_error_is_one),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
