/*
 * harness.c - the program of one measured tracer: sets it up, runs one measurement, prints one line
 * of JSON.
 *
 *     bench_<tracer> NAME=VALUE...      called by bench/peers.py; the names are in `struct options`
 *
 *     mode=call       batches of 1,000 events, timed by the time stamp counter; the rings are
 *                     emptied between them, untimed
 *     mode=together   the same on `threads` threads at once
 *     mode=alone      each event timed by itself, less what reading the counter twice costs
 *     mode=steps      instructions of one event, the least of `count` tries
 *     mode=sustain    `count` events back to back from `threads` threads, until all are in the
 *                     files
 *     mode=cases      what case=NAME can be
 *     mode=memory     what `crowd` threads that each record one event add to the process
 *     mode=first      each of `count` events timed by itself, from the second event of the thread
 *                     on; the rings are not emptied in between
 *     mode=burst      `count` events of each of `threads` threads back to back, from the second
 *                     event of the thread on; laps=2: once more, and that is timed
 *
 * In `call` and `alone` the thread that records has the first processor and every other thread the
 * second.  `crowd` threads record one event each and then wait, while others are measured.  What
 * was made and what was delivered is part of every result.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"
#include "workload.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define EVENTS 1000u /* a batch */
#define WARM 10u     /* before a batch: emptying the ring left this thread cold */
#define SPAN_NS 20000000u
#define STACK 65536u
#define THREADS_MOST 64u
#define CROWD_MOST 10000u

struct options {
	const char *mode, *name; /* the case's */
	uint64_t count;          /* batches, single events, tries, or events of all threads */
	uint64_t threads, crowd, laps;
	const char *beside; /* numbers of other processes that work for the tracer: "12,13" */
	struct bench_setup setup;
};

static uint64_t made; /* events that have to be delivered; threads add to it */

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (memory == NULL)
		bench_die("calloc");
	memset(memory, 1, count * size); /* its pages are there before anything is timed */
	return memory;
}

static void run_batch(const struct bench_case *bench, uint32_t count)
{
	bench->batch(count);
	if (bench->is_recorded)
		(void)__atomic_add_fetch(&made, count, __ATOMIC_RELAXED);
}

static void begin_thread(void)
{
	if (bench_peer.thread_begin != NULL)
		bench_peer.thread_begin();
}

static void consumer(const struct bench_case *bench)
{
	if (bench->is_recorded)
		bench_peer.consumer();
}

static void print_counts(void)
{
	bench_peer.finish();
	printf("\"made\": %llu, \"delivered\": %llu}\n", (unsigned long long)made,
	       (unsigned long long)bench_peer.delivered(made));
}

/* ---- batches */

/* A clock of a few milliseconds is not one. */
static double end_span(struct bench_span start)
{
	while (bench_clock_ns(CLOCK_MONOTONIC) - start.mono_ns < SPAN_NS)
		;
	return bench_ns_per_tick(start, bench_span_now());
}

static void begin_alone(const struct bench_case *bench)
{
	bench_pin_self(0);
	begin_thread();
	run_batch(bench, EVENTS);
	consumer(bench);
	bench_pin_others(1);
}

static void measure_call(const struct bench_case *bench, const struct options *options)
{
	size_t count = options->count;
	uint32_t *times = allocate(count, sizeof(*times));
	struct bench_span start;
	double ns;

	begin_alone(bench);
	start = bench_span_now();
	for (size_t i = 0; i < count; i++) {
		uint64_t before;

		consumer(bench);
		run_batch(bench, WARM);
		before = bench_ticks();
		run_batch(bench, EVENTS);
		times[i] = (uint32_t)(bench_ticks() - before);
	}
	ns = end_span(start) / EVENTS;
	bench_sort(times, count);
	printf("\"ns\": %.4f, \"p999_ns\": %.4f, ", ns * bench_quantile(times, count, 0.5),
	       ns * bench_quantile(times, count, 0.999));
	free(times);
}

/* ---- events one by one */

static void BENCH_NOINLINE nothing(uint32_t count)
{
	BENCH_LOOP(i, count)
	__asm__ volatile("" : : "r"(i));
}

static void time_singles(const struct bench_case *bench, uint32_t *times, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t before;

		if (i % EVENTS == 0) {
			consumer(bench);
			run_batch(bench, WARM);
		}
		before = bench_ticks();
		bench->batch(1);
		times[i] = (uint32_t)(bench_ticks() - before);
	}
	made += bench->is_recorded ? count : 0;
	bench_sort(times, count);
}

static void measure_alone(const struct bench_case *bench, const struct options *options)
{
	static const struct bench_case none = { "nothing", nothing, false };
	size_t count = options->count;
	uint32_t *times = allocate(count, sizeof(*times));
	struct bench_span start;
	double ns, cost;

	begin_alone(bench);
	start = bench_span_now();
	time_singles(&none, times, count);
	cost = bench_quantile(times, count, 0.5);
	time_singles(bench, times, count);
	ns = end_span(start);
	printf("\"ns\": %.3f, \"p99_ns\": %.3f, \"p999_ns\": %.3f, ",
	       ns * (bench_quantile(times, count, 0.5) - cost),
	       ns * (bench_quantile(times, count, 0.99) - cost),
	       ns * (bench_quantile(times, count, 0.999) - cost));
	free(times);
}

/* ---- threads */

static void start_thread(void *(*body)(void *), void *argument, pthread_t *out_thread)
{
	pthread_attr_t attributes;

	errno = pthread_attr_init(&attributes);
	if (errno == 0)
		errno = pthread_attr_setstacksize(&attributes, STACK);
	if (errno == 0)
		errno = pthread_create(out_thread, &attributes, body, argument);
	if (errno != 0)
		bench_die("pthread_create");
	(void)pthread_attr_destroy(&attributes);
}

/* The measured threads.  They and the main thread meet at `together` before and after each batch.
 */
struct group {
	const struct bench_case *bench;
	uint32_t events; /* that each of them records */
	uint32_t count;
	pthread_barrier_t together;
	pthread_t *threads;
};

static void meet(struct group *group)
{
	(void)pthread_barrier_wait(&group->together);
}

/* `body` is called with the group. */
static void group_start(struct group *group, void *(*body)(void *))
{
	group->threads = allocate(group->count + 1, sizeof(pthread_t));
	errno = pthread_barrier_init(&group->together, NULL, group->count + 1);
	if (errno != 0)
		bench_die("pthread_barrier_init");
	for (uint32_t i = 0; i < group->count; i++)
		start_thread(body, group, &group->threads[i]);
	meet(group); /* all are there */
}

static void group_join(struct group *group)
{
	for (uint32_t i = 0; i < group->count; i++)
		(void)pthread_join(group->threads[i], NULL);
	free(group->threads);
}

/* One of a crowd: is there, records, waits.  They record one after the other: a thousand that map
 * memory at once hold up the machine. */
static void *be_in_crowd(void *argument)
{
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	struct group *group = argument;

	meet(group);
	meet(group);
	(void)pthread_mutex_lock(&turn);
	begin_thread();
	run_batch(group->bench, group->events);
	(void)pthread_mutex_unlock(&turn);
	meet(group);
	meet(group);
	return NULL;
}

static void crowd_record(struct group *crowd)
{
	meet(crowd);
	meet(crowd);
	bench_peer.consumer();
}

static void crowd_end(struct group *crowd)
{
	meet(crowd);
	group_join(crowd);
}

/* A thread that makes events. */
static void *be_producer(void *argument)
{
	struct group *group = argument;

	begin_thread();
	run_batch(group->bench, EVENTS);
	meet(group);
	meet(group);
	run_batch(group->bench, group->events);
	meet(group);
	return NULL;
}

/* ---- batches on several threads at once */

/* Beside the group: each thread's times, and how often a thread was ready to begin a batch. */
struct timed_group {
	struct group group;
	size_t batches;
	uint32_t *times;
	uint32_t begun, ready;
};

/* A batch is too short for threads that a barrier wakes one by one. */
static void begin_together(struct timed_group *timed, size_t batch)
{
	uint32_t all = (uint32_t)(batch + 1) * timed->group.count;

	(void)__atomic_add_fetch(&timed->ready, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&timed->ready, __ATOMIC_ACQUIRE) < all)
		;
}

static void *be_timed(void *argument)
{
	struct timed_group *timed = argument;
	uint32_t number = __atomic_fetch_add(&timed->begun, 1, __ATOMIC_RELAXED);
	uint32_t *times = timed->times + number * timed->batches;

	bench_pin_self(number % 2);
	begin_thread();
	run_batch(timed->group.bench, EVENTS);
	meet(&timed->group);
	for (size_t i = 0; i < timed->batches; i++) {
		uint64_t before;

		meet(&timed->group); /* the rings are empty */
		run_batch(timed->group.bench, WARM);
		begin_together(timed, i);
		before = bench_ticks();
		run_batch(timed->group.bench, EVENTS);
		times[i] = (uint32_t)(bench_ticks() - before);
		meet(&timed->group);
	}
	return NULL;
}

/* Runs the threads, with prepare() before each of their laps.  Returns ns for a tick. */
static double timed_run(struct timed_group *timed, void *(*thread)(void *),
			void (*prepare)(const struct bench_case *bench))
{
	struct bench_span start = bench_span_now();

	group_start(&timed->group, thread);
	for (size_t i = 0; i < timed->batches; i++) {
		prepare(timed->group.bench);
		meet(&timed->group);
		meet(&timed->group);
	}
	group_join(&timed->group);
	return end_span(start);
}

static void measure_together(const struct bench_case *bench, const struct options *options)
{
	size_t count = options->count * options->threads;
	struct timed_group timed = { .group = { .bench = bench,
						.count = (uint32_t)options->threads },
				     .batches = options->count,
				     .times = allocate(count, sizeof(uint32_t)) };
	double ns = timed_run(&timed, be_timed, consumer) / EVENTS;

	bench_sort(timed.times, count);
	printf("\"ns\": %.4f, \"p999_ns\": %.4f, ", ns * bench_quantile(timed.times, count, 0.5),
	       ns * bench_quantile(timed.times, count, 0.999));
	free(timed.times);
}

/* ---- the first events of a thread */

#define SETTLE_NS 30000000 /* between the first event and the next ones */

static void settle(const struct bench_case *bench)
{
	const struct timespec pause = { 0, SETTLE_NS };

	consumer(bench);
	(void)nanosleep(&pause, NULL);
}

static void measure_first(const struct bench_case *bench, const struct options *options)
{
	size_t count = options->count;
	uint32_t *times = allocate(count, sizeof(*times));
	struct bench_span start;
	double ns;

	bench_pin_self(0);
	begin_thread();
	run_batch(bench, 1);
	bench_pin_others(1);
	settle(bench);
	start = bench_span_now();
	for (size_t i = 0; i < count; i++) {
		uint64_t before = bench_ticks();

		bench->batch(1);
		times[i] = (uint32_t)(bench_ticks() - before);
	}
	ns = end_span(start);
	made += bench->is_recorded ? count : 0;
	bench_sort(times, count);
	printf("\"ns\": %.3f, \"p999_ns\": %.3f, \"longest_us\": %.3f, ",
	       ns * bench_quantile(times, count, 0.5), ns * bench_quantile(times, count, 0.999),
	       ns * times[count - 1] / 1000);
	free(times);
}

/* One of the threads of a burst; the barrier is before and after each lap. */
static void *be_bursting(void *argument)
{
	struct timed_group *timed = argument;
	uint32_t number = __atomic_fetch_add(&timed->begun, 1, __ATOMIC_RELAXED);

	bench_pin_self(number % 2);
	begin_thread();
	run_batch(timed->group.bench, 1);
	meet(&timed->group);
	for (size_t i = 0; i < timed->batches; i++) {
		uint64_t before;

		meet(&timed->group); /* the rings are empty */
		begin_together(timed, i);
		before = bench_ticks();
		run_batch(timed->group.bench, timed->group.events);
		timed->times[number] = (uint32_t)(bench_ticks() - before);
		meet(&timed->group);
	}
	return NULL;
}

static void measure_burst(const struct bench_case *bench, const struct options *options)
{
	struct timed_group timed = { .group = { .bench = bench,
						.events = (uint32_t)options->count,
						.count = (uint32_t)options->threads },
				     .batches = options->laps,
				     .times = allocate(options->threads, sizeof(uint32_t)) };
	double ns = timed_run(&timed, be_bursting, settle) / (double)options->count;

	bench_sort(timed.times, options->threads);
	printf("\"ns\": %.4f, ", ns * timed.times[options->threads - 1]);
	free(timed.times);
}

/* ---- back to back, until it is in the files */

static uint64_t beside_ns(const char *numbers)
{
	uint64_t sum = 0;
	char *end;

	for (; *numbers != '\0'; numbers = *end == ',' ? end + 1 : end) {
		sum += bench_process_ns((int)strtol(numbers, &end, 10));
		if (end == numbers || (*end != '\0' && *end != ','))
			bench_die("beside");
	}
	return sum;
}

static void measure_sustain(const struct bench_case *bench, const struct options *options)
{
	struct group crowd = { .bench = bench, .events = 1, .count = (uint32_t)options->crowd };
	struct group producers = { .bench = bench,
				   .events = (uint32_t)(options->count / options->threads),
				   .count = (uint32_t)options->threads };
	uint64_t wall[3], cpu[2], beside, bytes,
		events = (uint64_t)producers.events * producers.count;

	group_start(&crowd, be_in_crowd);
	crowd_record(&crowd);
	group_start(&producers, be_producer);
	bench_peer.consumer();
	bytes = bench_directory_size(options->setup.directory);
	beside = beside_ns(options->beside);
	wall[0] = bench_clock_ns(CLOCK_MONOTONIC);
	cpu[0] = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	meet(&producers);
	meet(&producers);
	wall[1] = bench_clock_ns(CLOCK_MONOTONIC);
	bench_peer.finish();
	wall[2] = bench_clock_ns(CLOCK_MONOTONIC);
	cpu[1] = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	bytes = bench_directory_size(options->setup.directory) - bytes;
	group_join(&producers);
	crowd_end(&crowd);
	printf("\"events\": %llu, \"start_ns\": %llu, \"beside_ns\": %llu, ",
	       (unsigned long long)events, (unsigned long long)wall[0], (unsigned long long)beside);
	printf("\"wall_ns\": %.3f, \"producer_ns\": %.3f, \"cpu_ns\": %.3f, \"bytes\": %.4f, ",
	       (double)(wall[2] - wall[0]) / (double)events,
	       (double)(wall[1] - wall[0]) / (double)events,
	       (double)(cpu[1] - cpu[0]) / (double)events, (double)bytes / (double)events);
}

/* ---- memory */

/* A page that is mapped twice counts once: it is part of both mappings' share. */
static double proportional_kib(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "re");
	double kib = -1;
	char line[200];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		(void)sscanf(line, "Pss: %lf", &kib);
	if (file == NULL || kib < 0)
		bench_die("/proc/self/smaps_rollup");
	(void)fclose(file);
	return kib;
}

static void measure_memory(const struct bench_case *bench, const struct options *options)
{
	struct group crowd = { .bench = bench, .events = 1, .count = (uint32_t)options->crowd };
	double before, after;

	begin_thread();
	run_batch(bench, 1);
	bench_peer.consumer();
	group_start(&crowd, be_in_crowd);
	before = proportional_kib();
	crowd_record(&crowd);
	after = proportional_kib();
	crowd_end(&crowd);
	printf("\"mebibytes\": %.3f, ", (after - before) / 1024);
}

/* ---- what was asked for */

static void __attribute__((noreturn)) refuse(const char *what)
{
	fprintf(stderr, "bench_%s: %s\n", bench_peer.name, what);
	exit(2);
}

static uint64_t parse_number(const char *text)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10);

	if (*text == '\0' || *end != '\0')
		refuse("a number is not one");
	return number;
}

static void set_option(struct options *options, const char *name, const char *value)
{
	const struct {
		const char *name;
		const char **text;
		uint64_t *number;
	} rows[] = {
		{ "mode", &options->mode, NULL },
		{ "case", &options->name, NULL },
		{ "count", NULL, &options->count },
		{ "threads", NULL, &options->threads },
		{ "crowd", NULL, &options->crowd },
		{ "laps", NULL, &options->laps },
		{ "beside", &options->beside, NULL },
		{ "directory", &options->setup.directory, NULL },
		{ "rings", &options->setup.rings, NULL },
		{ "output", &options->setup.output, NULL },
		{ "policy", &options->setup.policy, NULL },
		{ "clock", &options->setup.clock, NULL },
		{ "ring_bytes", NULL, &options->setup.ring_bytes },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		if (rows[i].text != NULL)
			*rows[i].text = value;
		else
			*rows[i].number = parse_number(value);
		return;
	}
	refuse("no such option");
}

static void parse(struct options *options, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char name[32], *value = strchr(argv[i], '=');

		if (value == NULL || (size_t)(value - argv[i]) >= sizeof(name))
			refuse("an option is NAME=VALUE");
		memcpy(name, argv[i], (size_t)(value - argv[i]));
		name[value - argv[i]] = '\0';
		set_option(options, name, value + 1);
	}
	if (options->count == 0 || options->threads == 0 || options->threads > THREADS_MOST ||
	    options->crowd > CROWD_MOST)
		refuse("count, threads or crowd is out of bounds");
	if (options->setup.directory[0] == '\0')
		refuse("directory=PATH is missing");
}

static const struct bench_case *find_case(const char *name)
{
	for (size_t i = 0; i < bench_peer.case_count; i++)
		if (strcmp(bench_peer.cases[i].name, name) == 0)
			return &bench_peer.cases[i];
	refuse("it has no such case");
}

/* A thousand threads may need a file each. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void measure_steps(char **argv, uint64_t tries)
{
	double instructions = bench_step_count(argv, tries);

	if (instructions >= 0)
		printf("{\"instructions\": %.1f, \"made\": 0, \"delivered\": 0}\n", instructions);
	else
		printf("{\"instructions\": null, \"made\": 0, \"delivered\": 0}\n");
}

int main(int argc, char **argv)
{
	struct options options = { .mode = "call",
				   .name = "a",
				   .count = 1,
				   .threads = 1,
				   .laps = 1,
				   .beside = "",
				   .setup = { .directory = "",
					      .rings = "",
					      .output = "binary",
					      .policy = "block",
					      .clock = "auto" } };
	const struct {
		const char *name;
		void (*measure)(const struct bench_case *bench, const struct options *options);
	} modes[] = { { "call", measure_call },    { "together", measure_together },
		      { "alone", measure_alone },  { "first", measure_first },
		      { "burst", measure_burst },  { "sustain", measure_sustain },
		      { "memory", measure_memory } };
	const struct bench_case *bench;

	parse(&options, argc, argv);
	if (strcmp(options.mode, "cases") == 0) {
		for (size_t i = 0; i < bench_peer.case_count; i++)
			puts(bench_peer.cases[i].name);
		return 0;
	}
	bench = find_case(options.name);
	if (strcmp(options.mode, "steps") == 0) {
		measure_steps(argv, options.count);
		return 0;
	}
	raise_file_limit();
	bench_peer.prepare(&options.setup);
	if (strcmp(options.mode, "stepped") == 0) {
		begin_thread();
		bench_step_run(bench, options.count, bench_peer.consumer);
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, options.mode) == 0) {
			printf("{");
			modes[i].measure(bench, &options);
			print_counts();
			return 0;
		}
	}
	refuse("no such mode");
}
