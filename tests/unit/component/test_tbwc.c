/*
 * test_tbwc.c - CTRACECS: every change, every condition, and threads and signal handlers against
 * each other.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/component/component.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char memory[4096];

static uint64_t word_of(uint32_t state, uint32_t sequence)
{
	return (uint64_t)state << 32 | sequence;
}

static struct ctrace_tbwc make(void)
{
	struct ctrace_tbwc tbwc = { .word = 0 };

	assert_int_equal(ctrace_tbwc_init(&tbwc, memory, sizeof memory, CTRACE_PAGEABLE),
			 CTRACE_OK);
	return tbwc;
}

static void a_new_one_is_available_with_number_0(void **state)
{
	struct ctrace_tbwc tbwc = make();

	(void)state;
	assert_int_equal(ctrace_tbwc_state(&tbwc), CTRACE_TBWC_AVAILABLE);
	assert_int_equal(ctrace_tbwc_sequence(&tbwc), 0);
	assert_ptr_equal(tbwc.buffer, memory);
	assert_int_equal(tbwc.size, sizeof memory);
	assert_int_equal(tbwc.is_locked, 0);
	ctrace_tbwc_fini(&tbwc);
	assert_int_equal(ctrace_tbwc_state(&tbwc), 0);
	assert_null(tbwc.buffer);
	ctrace_tbwc_fini(&tbwc);
	ctrace_tbwc_fini(NULL);
}

static void what_cannot_be_tied_is_not(void **state)
{
	struct ctrace_tbwc tbwc = { .word = 0 };

	(void)state;
	assert_int_equal(ctrace_tbwc_init(NULL, memory, sizeof memory, CTRACE_PAGEABLE),
			 CTRACE_UNSUPPORTED);
	assert_int_equal(ctrace_tbwc_init(&tbwc, NULL, sizeof memory, CTRACE_PAGEABLE),
			 CTRACE_UNSUPPORTED);
	assert_int_equal(ctrace_tbwc_init(&tbwc, memory, 0, CTRACE_PAGEABLE), CTRACE_UNSUPPORTED);
	assert_int_equal(ctrace_tbwc_init(&tbwc, memory, sizeof memory, 0), CTRACE_UNSUPPORTED);
	assert_int_equal(ctrace_tbwc_init(&tbwc, memory, sizeof memory, CTRACE_FIXED + 1),
			 CTRACE_UNSUPPORTED);
	assert_int_equal(tbwc.word, 0);
	assert_null(tbwc.buffer);
}

/* ---- changes ---- */

static void each_change_is_made_or_refused_as_the_states_say(void **state)
{
	(void)state;
	for (uint32_t from = 0; from <= 5; from++) {
		for (uint32_t to = 0; to <= 5; to++) {
			const struct ctrace_tbwc_change change = { .mode = to };
			struct ctrace_tbwc tbwc = make();
			bool may = from >= CTRACE_TBWC_AVAILABLE && from <= CTRACE_TBWC_FULL &&
				   to >= CTRACE_TBWC_AVAILABLE && to <= CTRACE_TBWC_FULL;

			tbwc.word = word_of(from, 7);
			assert_int_equal(ctrace_tbwc_change(&tbwc, &change), may);
			assert_int_equal(ctrace_tbwc_state(&tbwc), may ? to : from);
			assert_int_equal(ctrace_tbwc_sequence(&tbwc), 7);
		}
	}
}

static void each_condition_is_looked_at(void **state)
{
	const uint32_t testmodes[] = { 0,
				       CTRACE_TBWC_AVAILABLE,
				       CTRACE_TBWC_FILLING,
				       CTRACE_TBWC_FULL,
				       CTRACE_TBWC_CAPTURE,
				       UINT32_MAX };
	const uint32_t numbers[] = { 6, 7, UINT32_MAX };
	const uint32_t fresh = UINT32_MAX - 1;

	(void)state;
	for (size_t mode = 0; mode < CT_COUNT(testmodes); mode++) {
		for (size_t number = 0; number <= CT_COUNT(numbers); number++) {
			bool any = number == CT_COUNT(numbers);
			const struct ctrace_tbwc_change change = {
				.mode = CTRACE_TBWC_FULL,
				.testmode = testmodes[mode],
				.testseq = any ? NULL : &numbers[number],
				.buffseq = number % 2 == 0 ? &fresh : NULL
			};
			struct ctrace_tbwc tbwc = make();
			bool fits =
				(testmodes[mode] == 0 || testmodes[mode] == CTRACE_TBWC_FILLING) &&
				(any || numbers[number] == 7);

			tbwc.word = word_of(CTRACE_TBWC_FILLING, 7);
			assert_int_equal(ctrace_tbwc_change(&tbwc, &change), fits);
			assert_int_equal(ctrace_tbwc_state(&tbwc),
					 fits ? CTRACE_TBWC_FULL : CTRACE_TBWC_FILLING);
			assert_int_equal(ctrace_tbwc_sequence(&tbwc),
					 fits && change.buffseq != NULL ? fresh : 7);
		}
	}
}

static void a_capture_takes_a_full_one_only_and_gives_it_back_with_its_number(void **state)
{
	const struct ctrace_tbwc_change anything = { .mode = CTRACE_TBWC_AVAILABLE };

	(void)state;
	for (uint32_t from = 0; from <= 5; from++) {
		struct ctrace_tbwc tbwc = make();
		bool is_full = from == CTRACE_TBWC_FULL;

		tbwc.word = word_of(from, UINT32_MAX);
		assert_int_equal(ct_tbwc_capture(&tbwc), is_full);
		assert_int_equal(tbwc.word,
				 word_of(is_full ? CTRACE_TBWC_CAPTURE : from, UINT32_MAX));
		if (is_full) {
			assert_false(ctrace_tbwc_change(&tbwc, &anything));
			assert_false(ct_tbwc_capture(&tbwc));
			ct_tbwc_release(&tbwc, CTRACE_TBWC_AVAILABLE);
			assert_int_equal(tbwc.word, word_of(CTRACE_TBWC_AVAILABLE, UINT32_MAX));
		}
	}
}

/* ---- locked pages ---- */

static unsigned long locked_kb(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long kb = 0;
	char line[200];

	assert_non_null(file);
	while (fgets(line, sizeof line, file) != NULL)
		if (sscanf(line, "VmLck: %lu", &kb) == 1)
			break;
	(void)fclose(file);
	return kb;
}

/* Under a sanitizer it answers 0 and does nothing. */
static bool mlock_works(void)
{
	unsigned long before = locked_kb();
	bool works = mlock(memory, sizeof memory) != 0 || locked_kb() > before;

	(void)munlock(memory, sizeof memory);
	return works;
}

static void dref_and_fixed_lock_the_pages(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *buffer =
		mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long before = locked_kb();

	(void)state;
	assert_true(buffer != MAP_FAILED);
	if (!mlock_works())
		skip();
	for (uint32_t mode = CTRACE_DREF; mode <= CTRACE_FIXED; mode++) {
		struct ctrace_tbwc tbwc = { .word = 0 };

		errno = 4711;
		assert_int_equal(ctrace_tbwc_init(&tbwc, buffer, 4 * page, mode), CTRACE_OK);
		assert_int_equal(tbwc.is_locked, 1);
		assert_int_equal(locked_kb(), before + 4 * page / 1024);
		ctrace_tbwc_fini(&tbwc);
		assert_int_equal(errno, 4711);
		assert_int_equal(locked_kb(), before);
	}
	assert_int_equal(munmap(buffer, 4 * page), 0);
}

static int try_to_lock(void)
{
	const struct rlimit nothing = { 0, 0 };
	struct ctrace_tbwc tbwc = { .word = 0 };
	enum ctrace_status status;

	if (setrlimit(RLIMIT_MEMLOCK, &nothing) != 0)
		return 98;
	/* Who may lock whatever he likes has to become somebody else. */
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
		return 97;
	errno = 4711;
	status = ctrace_tbwc_init(&tbwc, memory, sizeof memory, CTRACE_FIXED);
	return errno == 4711 && tbwc.word == 0 && tbwc.buffer == NULL ? (int)status : 96;
}

static void without_leave_to_lock_it_is_denied(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (!mlock_works())
		skip();
	pid = fork();
	if (pid == 0)
		_exit(try_to_lock());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), CTRACE_DENIED);
}

/* ---- threads and signal handlers against each other ---- */

#define BUFFERS 3u
#define NUMBERS 2000000u

static struct ctrace_tbwc storm[BUFFERS];
static uint64_t contents[BUFFERS][8];
static uint32_t next_number;
static uint8_t imported[NUMBERS];
static uint32_t bad;

/* As an application: FILLING, the bytes, FULL with a number that nobody else has. */
static void fill_one(void)
{
	static const struct ctrace_tbwc_change begin = { .mode = CTRACE_TBWC_FILLING,
							 .testmode = CTRACE_TBWC_AVAILABLE };

	for (uint32_t i = 0; i < BUFFERS; i++) {
		struct ctrace_tbwc_change end = { .mode = CTRACE_TBWC_FULL,
						  .testmode = CTRACE_TBWC_FILLING };
		uint32_t number;

		if (!ctrace_tbwc_change(&storm[i], &begin))
			continue;
		number = __atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED);
		for (size_t at = 0; at < CT_COUNT(contents[i]); at++)
			contents[i][at] = number;
		end.buffseq = &number;
		if (!ctrace_tbwc_change(&storm[i], &end))
			(void)__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
		return;
	}
}

/* As ctrace_write_buffer(). */
static void capture_all(void)
{
	for (uint32_t i = 0; i < BUFFERS; i++) {
		uint32_t number;

		if (!ct_tbwc_capture(&storm[i]))
			continue;
		number = ctrace_tbwc_sequence(&storm[i]);
		for (size_t at = 0; at < CT_COUNT(contents[i]); at++)
			if (contents[i][at] != number)
				(void)__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
		if (number < NUMBERS)
			(void)__atomic_fetch_add(&imported[number], 1, __ATOMIC_RELAXED);
		ct_tbwc_release(&storm[i], CTRACE_TBWC_AVAILABLE);
	}
}

static bool goes_on(void)
{
	return __atomic_load_n(&next_number, __ATOMIC_RELAXED) < NUMBERS - 100;
}

static void on_signal(int number)
{
	(void)number;
	if (goes_on()) {
		fill_one();
		capture_all();
	}
}

static void *fill_and_capture(void *argument)
{
	while (goes_on()) {
		fill_one();
		if (argument != NULL)
			capture_all();
	}
	return NULL;
}

static void each_number_is_imported_once(void **state)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, before;
	struct itimerval interval = { { 0, 30 }, { 0, 30 } }, none = { { 0, 0 }, { 0, 0 } };
	pthread_t threads[4];

	(void)state;
	for (uint32_t i = 0; i < BUFFERS; i++)
		assert_int_equal(ctrace_tbwc_init(&storm[i], contents[i], sizeof contents[i],
						  CTRACE_PAGEABLE),
				 CTRACE_OK);
	assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &interval, NULL), 0);
	for (size_t i = 0; i < CT_COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fill_and_capture,
						i % 2 == 0 ? &threads[i] : NULL),
				 0);
	for (size_t i = 0; i < CT_COUNT(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &none, NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
	capture_all();
	assert_int_equal(bad, 0);
	for (uint32_t i = 0; i < NUMBERS; i++)
		if (imported[i] != (i < next_number ? 1 : 0))
			fail_msg("%u was imported %u times", i, imported[i]);
}

int test_tbwc(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_one_is_available_with_number_0),
		cmocka_unit_test(what_cannot_be_tied_is_not),
		cmocka_unit_test(each_change_is_made_or_refused_as_the_states_say),
		cmocka_unit_test(each_condition_is_looked_at),
		cmocka_unit_test(a_capture_takes_a_full_one_only_and_gives_it_back_with_its_number),
		cmocka_unit_test(dref_and_fixed_lock_the_pages),
		cmocka_unit_test(without_leave_to_lock_it_is_denied),
		cmocka_unit_test(each_number_is_imported_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
