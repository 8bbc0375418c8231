/*
 * operate_writer.c - an external writer on a processor of its own: what it costs, and how much it
 * takes.
 *
 * The measured process has one thread, which traces as fast as it can; its rings are the writer's,
 * so that it waits when the writer does not follow, and loses nothing.  All of it has to be in the
 * data set: the process's counts and the writer's are compared.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "operate.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRACE "BENCHSUS"
#define WARM 200000u
#define AT_ONCE 10000u /* events between two looks at the clock */
#define LONG_NS 2000000000u
#define LONG_QUICK_NS 10000000u

const char *const operate_workloads[OPERATE_WORKLOADS] = { "a", "b" };
static void (*const workload_events[OPERATE_WORKLOADS])(struct ctrace_tracer *,
							uint32_t) = { operate_events,
								      operate_events_b };

static void __attribute__((noreturn)) die(const char *what, const char *why)
{
	fprintf(stderr, "bench_operate: %s: %s\n", what, why);
	exit(2);
}

/* ---- the writer */

static void write_procedure(const char *directory)
{
	char path[700];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/" OPERATE_WRITER, directory);
	file = fopen(path, "we");
	if (file == NULL ||
	    fprintf(file, "TRCOUT01 PATH=%s PRIMARY=16G\nMODE=NOWRAP\n", operate_paths.data) < 0 ||
	    fclose(file) != 0)
		bench_die(path);
}

struct operate_process operate_writer_start(void)
{
	const char *const arguments[] = { operate_paths.tool, "writer", "--ready-fd=1",
					  OPERATE_WRITER, NULL };
	struct operate_process writer;
	char proclib[600], line[600];

	(void)snprintf(proclib, sizeof(proclib), "%s/proclib", operate_paths.directory);
	(void)mkdir(proclib, 0700);
	write_procedure(proclib);
	if (setenv("CTRACE_PROCLIB", proclib, 1) != 0)
		bench_die("setenv");
	writer = operate_start(arguments, OPERATE_OTHERS, true);
	operate_read_line(&writer, line, sizeof(line));
	if (strcmp(line, "ready") != 0)
		die("ctrace writer", line);
	return writer;
}

struct operate_writer_status operate_writer_ask(void)
{
	const char *const arguments[] = { operate_paths.disturber, "status", operate_paths.run,
					  OPERATE_WRITER, NULL };
	struct operate_process asking = operate_start(arguments, OPERATE_OTHERS, false);
	unsigned long long events, bytes, wrapped, full;
	char line[200];

	operate_read_line(&asking, line, sizeof(line));
	if (sscanf(line, "%llu %llu %llu %llu", &events, &bytes, &wrapped, &full) != 4)
		die("the writer's status", line);
	operate_end(&asking, 0);
	return (struct operate_writer_status){
		.events = events, .bytes = bytes, .wrapped = wrapped, .full = full
	};
}

/* ---- a trace that can have one */

static uint32_t agree(struct ctrace_ctss *ctss)
{
	(void)ctss;
	return 0;
}

bool operate_trace_define(const char *name, uint64_t buffer, struct ctrace_tracer **out_tracer)
{
	const struct ctrace_define define = { CTRACE_DEFINE_INIT,
					      .name = name,
					      .startnam = "BENCHSS",
					      .mod = CTRACE_YES,
					      .wtr = CTRACE_YES,
					      .wtrmode = CTRACE_PAGEABLE,
					      .buffer = buffer != 0 ? CTRACE_YES : CTRACE_NO,
					      .bufdflt = buffer };

	return ctrace_routine_register("BENCHSS", agree) == CTRACE_OK &&
	       ctrace_component_define(&define, NULL) == CTRACE_RC_OK &&
	       ctrace_component_tracer(name, NULL, out_tracer) == CTRACE_OK;
}

void operate_trace_connect(const char *name, const char *writer)
{
	const struct ctrace_trace_ct command = { CTRACE_TRACE_CT_INIT, .state = CTRACE_CT_ON,
						 .name = name, .wtr = writer };
	struct ctrace_outcome outcome;

	/* A message says that the writer does not run. */
	if (ctrace_trace_ct(&command, &outcome) != CTRACE_RC_OK || outcome.message[0] != '\0')
		die(name, outcome.message);
}

/* ---- as fast as it can */

struct run {
	pid_t writer;
	void (*events)(struct ctrace_tracer *tracer, uint32_t count);
	struct operate_sustained *out;
};

static uint64_t trace_for(const struct run *run, struct ctrace_tracer *tracer, uint64_t ns)
{
	uint64_t start = bench_clock_ns(CLOCK_MONOTONIC);
	uint64_t events = 0;

	do {
		run->events(tracer, AT_ONCE);
		events += AT_ONCE;
	} while (bench_clock_ns(CLOCK_MONOTONIC) - start < ns);
	return events;
}

static void read_stats(struct operate_sustained *out)
{
	struct ctrace_stats stats = { .size = sizeof(stats) };

	ctrace_stats_get(&stats);
	out->emitted = stats.emitted;
	out->delivered = stats.delivered;
	out->pending = stats.pending;
	for (int i = 0; i < CTRACE_LOSS_COUNT; i++)
		out->lost += stats.lost[i];
}

static void run(void *argument)
{
	const struct run *run = argument;
	struct operate_sustained *out = run->out;
	struct ctrace_tracer *tracer;
	uint64_t wall[3], cpu[2];

	bench_pin_self(OPERATE_TRACED);
	if (ctrace_configure("ctrace.overflow = block") != CTRACE_OK ||
	    !operate_trace_define(TRACE, 0, &tracer))
		die(TRACE, "cannot be defined");
	operate_trace_connect(TRACE, OPERATE_WRITER);
	run->events(tracer, WARM);
	operate_flush();
	bench_pin_others(OPERATE_OTHERS);
	wall[0] = bench_clock_ns(CLOCK_MONOTONIC);
	cpu[0] = bench_process_ns(run->writer);
	out->events = trace_for(run, tracer, operate_is_quick ? LONG_QUICK_NS : LONG_NS);
	wall[1] = bench_clock_ns(CLOCK_MONOTONIC);
	operate_flush();
	wall[2] = bench_clock_ns(CLOCK_MONOTONIC);
	cpu[1] = bench_process_ns(run->writer);
	out->producer_seconds = (double)(wall[1] - wall[0]) / 1e9;
	out->seconds = (double)(wall[2] - wall[0]) / 1e9;
	out->writer_seconds = (double)(cpu[1] - cpu[0]) / 1e9;
	read_stats(out);
	if (out->emitted != out->events + WARM)
		die(TRACE, "events that nobody made were emitted, or made ones were not");
}

void operate_sustain(unsigned workload, struct operate_sustained *out)
{
	struct operate_process writer = operate_writer_start();
	struct run whole = { .writer = writer.pid,
			     .events = workload_events[workload],
			     .out = out };
	struct operate_writer_status status;

	operate_in_child(run, &whole);
	status = operate_writer_ask();
	out->written = status.events - status.wrapped;
	out->bytes = status.bytes;
	operate_end(&writer, SIGTERM);
	bench_directory_remove(operate_paths.data);
}
