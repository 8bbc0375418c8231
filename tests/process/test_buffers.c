/*
 * test_buffers.c - buffers that the application fills itself, from the first entry to the lines of
 * the TEXTFILE.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "traces.h"

#include <sys/resource.h>
#include <time.h>

#define TIMES_CONFIG \
	"mftrace.level = debug\n" \
	"mftrace.dest = textfile\n" \
	"mftrace.emitter.textfile#location = out\n" \
	"mftrace.emitter.textfile#format = $(DATE) $(TIME) $(THREAD) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)\n"
#define ENTRIES 100u
#define MS_OF_TOD (UINT64_C(1000) << 12)
#define TOD_OF_1970 UINT64_C(0x7D91048BCA000000)

static unsigned char buffer[65536];
static struct ctrace_tbwc tbwc;
static __thread struct ctrace_write_outcome written;

/* Defines the trace and switches it on.  Gives its token. */
static uint64_t start_trace(const char *name, uint8_t wtrmode)
{
	register_routine("BUFSS");
	REQUIRE(DEFINE(.name = name, .startnam = "BUFSS", .wtr = CTRACE_YES, .wtrmode = wtrmode) ==
		CTRACE_RC_OK);
	reset_calls();
	REQUIRE(TRACE_CT(.name = name, .state = CTRACE_CT_ON) == CTRACE_RC_OK);
	REQUIRE(call_count == 1);
	return calls[0].ctss.token;
}

static void change(struct ctrace_tbwc *of, uint32_t from, uint32_t to, const uint32_t *number)
{
	const struct ctrace_tbwc_change change = { .mode = to,
						   .testmode = from,
						   .buffseq = number };

	REQUIRE(ctrace_tbwc_change(of, &change));
}

static uint32_t write_buffer(uint64_t token, size_t bufflen, uint32_t synch)
{
	const struct ctrace_write request = { CTRACE_WRITE_INIT, .synch = synch, .token = token,
					      .tbwc = &tbwc, .bufflen = bufflen };

	return ctrace_write_buffer(&request, &written);
}

static void pass_ms(uint64_t ms)
{
	uint64_t start = ctrace_tod();

	while (ctrace_tod() - start < ms * MS_OF_TOD)
		;
}

/* Entries 1 to ENTRIES, each a millisecond after the one before it; the test finds the time of the
 * first in shared->number[0]. */
static size_t fill_with_times(void)
{
	static const uint32_t number = 1;
	uint64_t time = ctrace_tod() - 150 * MS_OF_TOD;
	size_t used = 0;

	memset(buffer, 0, sizeof buffer);
	REQUIRE(ctrace_tbwc_init(&tbwc, buffer, sizeof buffer, CTRACE_PAGEABLE) == CTRACE_OK);
	change(&tbwc, CTRACE_TBWC_AVAILABLE, CTRACE_TBWC_FILLING, NULL);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		uint64_t its = time + i * MS_OF_TOD;
		size_t at = used;
		char text[20];

		(void)snprintf(text, sizeof text, "no %u", i + 1);
		REQUIRE(ctrace_cte_add(buffer, sizeof buffer, &used, i + 1, text, strlen(text)));
		memcpy(buffer + at + 8, &its, sizeof its);
	}
	change(&tbwc, CTRACE_TBWC_FILLING, CTRACE_TBWC_FULL, &number);
	shared->number[0] = time;
	return used;
}

/* ---- what becomes of them ---- */

struct lines {
	unsigned count;
	unsigned bad;
};

static void check_line(const char *line, void *user)
{
	struct lines *lines = user;
	struct tm date = { .tm_isdst = -1 };
	unsigned ms, tid, id, level;
	char component[64], data[64], text[20], hex[64] = "";
	uint64_t due_ms = (shared->number[0] + lines->count * MS_OF_TOD - TOD_OF_1970) / MS_OF_TOD;
	int64_t off;

	lines->count++;
	if (sscanf(line, "%d/%d/%d %d:%d:%d.%u %u %63s %u %u %63s", &date.tm_year, &date.tm_mon,
		   &date.tm_mday, &date.tm_hour, &date.tm_min, &date.tm_sec, &ms, &tid, component,
		   &id, &level, data) != 12) {
		lines->bad++;
		return;
	}
	date.tm_year -= 1900;
	date.tm_mon -= 1;
	off = (int64_t)mktime(&date) * 1000 + ms - (int64_t)due_ms;
	(void)snprintf(text, sizeof text, "no %u", lines->count);
	for (size_t i = 0; text[i] != '\0'; i++)
		(void)snprintf(hex + 2 * i, 3, "%02X", (unsigned char)text[i]);
	if (strcmp(component, "BUFFERS") != 0 || id != lines->count || level != CTRACE_INFO ||
	    strcmp(data, hex) != 0 || off < -1 || off > 1) {
		(void)fprintf(stderr, "# %lld ms off: %s", (long long)off, line);
		lines->bad++;
	}
}

static void write_and_die(uint32_t synch)
{
	uint64_t token = start_trace("BUFFERS", CTRACE_PAGEABLE);
	size_t used;

	pass_ms(200);
	used = fill_with_times();
	REQUIRE(write_buffer(token, used, synch) == CTRACE_RC_OK);
	REQUIRE(written.written == ENTRIES && written.lost == 0 && written.rsncode == 0);
	REQUIRE(ctrace_tbwc_state(&tbwc) == CTRACE_TBWC_AVAILABLE &&
		ctrace_tbwc_sequence(&tbwc) == 1);
	(void)raise(SIGKILL);
}

static void write_with_synch(void)
{
	write_and_die(CTRACE_YES);
}

static void write_without(void)
{
	write_and_die(CTRACE_NO);
}

static void run_to_its_death(void (*body)(void))
{
	int status = scenario_wait(scenario_start(body));

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void check_lines(void)
{
	struct lines lines = { 0, 0 };

	(void)scenario_lines("out/*.log", check_line, &lines);
	assert_int_equal(lines.count, ENTRIES);
	assert_int_equal(lines.bad, 0);
}

static void with_synch_the_entries_are_in_the_file_when_it_returns(void **state)
{
	(void)state;
	traces_begin(TIMES_CONFIG);
	run_to_its_death(write_with_synch);
	check_lines();
	assert_int_equal(run_tool("recover"), 0);
	check_lines(); /* and none comes twice */
	traces_end();
}

static void what_was_written_outlives_a_sudden_death(void **state)
{
	(void)state;
	traces_begin(TIMES_CONFIG);
	run_to_its_death(write_without);
	assert_int_equal(run_tool("recover"), 0);
	check_lines();
	assert_int_equal(scenario_directories(), 0);
	traces_end();
}

/* ---- between other events ---- */

static void write_late(void)
{
	static struct ctrace_tracer tracer = CTRACE_TRACER("BUFFERS");
	uint64_t token = start_trace("BUFFERS", CTRACE_PAGEABLE);
	size_t used = 0;

	REQUIRE(ctrace_tbwc_init(&tbwc, buffer, sizeof buffer, CTRACE_PAGEABLE) == CTRACE_OK);
	for (uint32_t i = 1; i <= 60; i++) {
		pass_ms(1);
		if (i % 3 != 0) {
			ctrace_entry(&tracer, i, &i, sizeof i);
		} else {
			REQUIRE(ctrace_cte_add(buffer, sizeof buffer, &used, i, &i, sizeof i));
		}
	}
	change(&tbwc, CTRACE_TBWC_AVAILABLE, CTRACE_TBWC_FULL, NULL);
	REQUIRE(write_buffer(token, used, CTRACE_NO) == CTRACE_RC_OK && written.written == 20);
}

static void readers_merge_entries_and_events_by_time(void **state)
{
	FILE *file;
	unsigned tid, id, count = 0;
	char line[200], component[64];

	(void)state;
	traces_begin("mftrace.level = debug\n"
		     "mftrace.dest = binfile\n"
		     "mftrace.emitter.binfile#location = out\n");
	scenario_run(write_late);
	assert_int_equal(run_tool("show out --format '$(THREAD) $(COMPONENT) $(EVENT)'"), 0);
	file = fopen("tool.out", "r");
	assert_non_null(file);
	while (fgets(line, sizeof line, file) != NULL) {
		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line, "%u %63s %u", &tid, component, &id), 3);
		assert_int_equal(id, ++count);
	}
	(void)fclose(file);
	assert_int_equal(count, 60);
	traces_end();
}

/* ---- several buffers, several threads ---- */

#define BUFFERS 4u
#define FILLERS 2u
#define NUMBERS 60000u

static struct ctrace_tbwc pool[BUFFERS];
static unsigned char pool_memory[BUFFERS][16384];
static uint32_t next_id, next_buffer, fillers_left = FILLERS;

/* Fills whatever buffer is available, until it has no room, as a subsystem does. */
static void *fill_buffers(void *argument)
{
	while (__atomic_load_n(&next_id, __ATOMIC_RELAXED) < NUMBERS) {
		for (uint32_t i = 0; i < BUFFERS; i++) {
			const struct ctrace_tbwc_change begin = { .mode = CTRACE_TBWC_FILLING,
								  .testmode =
									  CTRACE_TBWC_AVAILABLE };
			uint32_t number;
			size_t used = 0;

			if (!ctrace_tbwc_change(&pool[i], &begin))
				continue;
			memset(pool_memory[i], 0, sizeof pool_memory[i]);
			while (sizeof pool_memory[i] - used >= 30 &&
			       __atomic_load_n(&next_id, __ATOMIC_RELAXED) < NUMBERS) {
				uint32_t id = __atomic_fetch_add(&next_id, 1, __ATOMIC_RELAXED);

				REQUIRE(ctrace_cte_add(pool_memory[i], sizeof pool_memory[i], &used,
						       id, "twelve bytes", 12));
			}
			number = __atomic_fetch_add(&next_buffer, 1, __ATOMIC_RELAXED);
			change(&pool[i], CTRACE_TBWC_FILLING, CTRACE_TBWC_FULL, &number);
		}
	}
	(void)__atomic_fetch_sub(&fillers_left, 1, __ATOMIC_RELEASE);
	return argument;
}

/* Every full one once.  False: there was none. */
static bool write_full_ones(uint64_t token)
{
	bool any = false;

	for (uint32_t i = 0; i < BUFFERS; i++) {
		const struct ctrace_write request = { CTRACE_WRITE_INIT, .token = token,
						      .tbwc = &pool[i],
						      .bufflen = sizeof pool_memory[i] };
		uint32_t rc;

		if (ctrace_tbwc_state(&pool[i]) != CTRACE_TBWC_FULL)
			continue;
		rc = ctrace_write_buffer(&request, &written);
		/* The other writer may have been first. */
		REQUIRE(rc == CTRACE_RC_OK ||
			(rc == CTRACE_WR_REFUSED &&
			 CTRACE_REASON(written.rsncode) == CTRACE_WR_NOT_FULL));
		(void)__atomic_fetch_add(&shared->number[1], written.written, __ATOMIC_RELAXED);
		any = true;
	}
	return any;
}

static void *write_buffers(void *argument)
{
	const uint64_t *token = argument;
	uint32_t left;

	do {
		left = __atomic_load_n(&fillers_left, __ATOMIC_ACQUIRE);
		while (write_full_ones(*token))
			;
	} while (left != 0);
	return NULL;
}

static void fill_and_write_at_once(void)
{
	uint64_t token = start_trace("BUFFERS", CTRACE_PAGEABLE);
	pthread_t threads[FILLERS + 2];

	for (uint32_t i = 0; i < BUFFERS; i++)
		REQUIRE(ctrace_tbwc_init(&pool[i], pool_memory[i], sizeof pool_memory[i],
					 CTRACE_PAGEABLE) == CTRACE_OK);
	for (uint32_t i = 0; i < FILLERS + 2; i++)
		REQUIRE(pthread_create(&threads[i], NULL,
				       i < FILLERS ? fill_buffers : write_buffers, &token) == 0);
	for (uint32_t i = 0; i < FILLERS + 2; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
	shared->number[2] = next_id;
}

static uint8_t times_seen[NUMBERS + FILLERS];

static void note_id(const char *line, void *user)
{
	unsigned tid, id;
	char component[64];

	if (sscanf(line, "%u %63s %u", &tid, component, &id) == 3 && id < NUMBERS + FILLERS)
		times_seen[id]++;
	else
		++*(unsigned *)user;
}

static void each_entry_of_every_buffer_arrives_once(void **state)
{
	unsigned bad = 0;

	(void)state;
	traces_begin(LINES_CONFIG "ctrace.block.timeout = 60s\n");
	scenario_run(fill_and_write_at_once);
	(void)scenario_lines("out/*.log", note_id, &bad);
	assert_int_equal(bad, 0);
	assert_true(shared->number[2] >= NUMBERS);
	assert_int_equal(shared->number[1], shared->number[2]);
	for (unsigned i = 0; i < shared->number[2]; i++)
		if (times_seen[i] != 1)
			fail_msg("%u is there %u times", i, times_seen[i]);
	traces_end();
}

/* ---- buffers that are none ---- */

static unsigned char *before_the_edge(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *pages =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	REQUIRE(pages != MAP_FAILED && munmap(pages + 2 * page, page) == 0 &&
		munmap(pages, page) == 0);
	return pages + 2 * page - size;
}

static void write_malformed_ones(void)
{
	uint64_t token = start_trace("BUFFERS", CTRACE_PAGEABLE);
	unsigned char *at = before_the_edge(90);
	size_t used = 0;

	for (uint32_t i = 0; i < 3; i++)
		REQUIRE(ctrace_cte_add(at, 90, &used, 99, "twelve bytes", 12));
	REQUIRE(ctrace_tbwc_init(&tbwc, at, 90, CTRACE_PAGEABLE) == CTRACE_OK);
	change(&tbwc, CTRACE_TBWC_AVAILABLE, CTRACE_TBWC_FULL, NULL);
	/* The lengths and the offset of each entry lead away. */
	for (size_t entry = 0; entry < 90; entry += 30) {
		for (size_t field = 0; field < 3; field++) {
			const uint16_t wrong[] = { 1, 15, 17, 29, 31, 61, 91, 4096, 32768, 65535 };
			unsigned char *place = at + entry + (field == 2 ? 28 : 2 * field);

			for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
				uint16_t kept;

				/* 17 is an offset, and no length. */
				if (field == 1 && wrong[i] == 17)
					continue;
				memcpy(&kept, place, 2);
				memcpy(place, &wrong[i], 2);
				REQUIRE(write_buffer(token, 90, CTRACE_YES) == CTRACE_WR_REFUSED);
				REQUIRE(CTRACE_REASON(written.rsncode) == CTRACE_WR_MALFORMED &&
					written.written == 0);
				REQUIRE(written.offset == entry);
				REQUIRE(ctrace_tbwc_state(&tbwc) == CTRACE_TBWC_FULL);
				memcpy(place, &kept, 2);
			}
		}
	}
	for (size_t size = 1; size < 90; size++)
		REQUIRE(size % 30 == 0 ||
			write_buffer(token, size, CTRACE_NO) == CTRACE_WR_REFUSED);
	REQUIRE(write_buffer(token, 91, CTRACE_NO) == CTRACE_WR_REFUSED &&
		CTRACE_REASON(written.rsncode) == CTRACE_WR_LENGTH);
	REQUIRE(events_emitted() == 0);
	REQUIRE(write_buffer(token, 90, CTRACE_YES) == CTRACE_RC_OK && written.written == 3);
}

static void malformed_buffers_are_refused_whole(void **state)
{
	(void)state;
	traces_begin(LINES_CONFIG);
	scenario_run(write_malformed_ones);
	assert_int_equal(scenario_lines("out/*.log", NULL, NULL), 3);
	traces_end();
}

/* ---- locked storage ---- */

static void lock_and_write(void)
{
	uint64_t token = start_trace("BUFFERS", CTRACE_FIXED);
	size_t used = 0;

	REQUIRE(ctrace_cte_add(buffer, sizeof buffer, &used, 1, NULL, 0));
	REQUIRE(ctrace_tbwc_init(&tbwc, buffer, sizeof buffer, CTRACE_PAGEABLE) == CTRACE_OK);
	change(&tbwc, CTRACE_TBWC_AVAILABLE, CTRACE_TBWC_FULL, NULL);
	REQUIRE(write_buffer(token, used, CTRACE_NO) == CTRACE_WR_REFUSED &&
		CTRACE_REASON(written.rsncode) == CTRACE_WR_NOT_LOCKED);
	ctrace_tbwc_fini(&tbwc);
	REQUIRE(ctrace_tbwc_init(&tbwc, buffer, sizeof buffer, CTRACE_FIXED) == CTRACE_OK);
	change(&tbwc, CTRACE_TBWC_AVAILABLE, CTRACE_TBWC_FULL, NULL);
	REQUIRE(write_buffer(token, used, CTRACE_NO) == CTRACE_RC_OK);
	ctrace_tbwc_fini(&tbwc);
}

static void be_denied(void)
{
	const struct rlimit nothing = { 0, 0 };

	REQUIRE(setrlimit(RLIMIT_MEMLOCK, &nothing) == 0);
	/* Who may lock whatever he likes has to become somebody else. */
	REQUIRE(geteuid() != 0 || setresuid(65534, 65534, 65534) == 0);
	/* Under a sanitizer it answers 0 and does nothing. */
	if (mlock(buffer, sizeof buffer) == 0)
		return;
	for (uint32_t mode = CTRACE_DREF; mode <= CTRACE_FIXED; mode++)
		REQUIRE(ctrace_tbwc_init(&tbwc, buffer, sizeof buffer, mode) == CTRACE_DENIED &&
			ctrace_tbwc_state(&tbwc) == 0);
	REQUIRE(ctrace_tbwc_init(&tbwc, buffer, sizeof buffer, CTRACE_PAGEABLE) == CTRACE_OK);
}

static void fixed_storage_is_locked_or_denied(void **state)
{
	(void)state;
	traces_begin(LINES_CONFIG);
	scenario_run(lock_and_write);
	assert_int_equal(scenario_lines("out/*.log", NULL, NULL), 1);
	scenario_run(be_denied);
	traces_end();
}

/* ---- fork ---- */

static void write_in_parent_and_child(void)
{
	uint64_t token = start_trace("BUFFERS", CTRACE_PAGEABLE);
	size_t used = 0;
	int status;
	pid_t pid;

	REQUIRE(ctrace_cte_add(buffer, sizeof buffer, &used, 1, NULL, 0));
	REQUIRE(ctrace_tbwc_init(&tbwc, buffer, sizeof buffer, CTRACE_PAGEABLE) == CTRACE_OK);
	change(&tbwc, CTRACE_TBWC_AVAILABLE, CTRACE_TBWC_FULL, NULL);
	REQUIRE(write_buffer(token, used, CTRACE_NO) == CTRACE_RC_OK);
	change(&tbwc, CTRACE_TBWC_AVAILABLE, CTRACE_TBWC_FULL, NULL);
	(void)fflush(NULL);
	pid = fork();
	REQUIRE(pid >= 0);
	if (pid == 0) {
		REQUIRE(write_buffer(token, used, CTRACE_YES) == CTRACE_RC_OK &&
			events_emitted() == 1);
		exit(0);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
	REQUIRE(ctrace_tbwc_state(&tbwc) == CTRACE_TBWC_FULL); /* the child's was a copy */
	REQUIRE(write_buffer(token, used, CTRACE_YES) == CTRACE_RC_OK && events_emitted() == 2);
}

static void a_forked_child_writes_buffers_of_its_own(void **state)
{
	(void)state;
	traces_begin(LINES_CONFIG);
	scenario_run(write_in_parent_and_child);
	assert_int_equal(scenario_lines("out/*.log", NULL, NULL), 3);
	traces_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_synch_the_entries_are_in_the_file_when_it_returns),
		cmocka_unit_test(what_was_written_outlives_a_sudden_death),
		cmocka_unit_test(readers_merge_entries_and_events_by_time),
		cmocka_unit_test(each_entry_of_every_buffer_arrives_once),
		cmocka_unit_test(malformed_buffers_are_refused_whole),
		cmocka_unit_test(fixed_storage_is_locked_or_denied),
		cmocka_unit_test(a_forked_child_writes_buffers_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
