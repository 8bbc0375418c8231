/*
 * host_clocks.c - reports by how much the times of several hosts may differ.
 *
 * A copy of traces from a stream has, in each directory, the bound of the error of the host's clock
 * when the trace was sent.  Two clocks may differ by the sum of their errors.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/traces/host_clocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "tools/streams/nats_module.h"

#define HOSTS_SHOWN 8u /* of those that are not synchronised */

struct host_clock {
	const char *host; /* the reader's */
	uint64_t error_ns;
	bool is_unsynchronised;
};

static bool clock_read(const char *directory, struct host_clock *clock)
{
	char path[4200], word[32];
	FILE *file;
	bool is_read;

	(void)snprintf(path, sizeof path, "%s/" CT_NATS_CLOCK_FILE, directory);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	is_read = fscanf(file, "%" SCNu64 " %31s", &clock->error_ns, word) == 2;
	clock->is_unsynchronised = is_read && strcmp(word, "unsynchronised") == 0;
	(void)fclose(file);
	return is_read;
}

static int clock_compare_error(const void *a, const void *b)
{
	const struct host_clock *one = a, *other = b;

	if (one->error_ns != other->error_ns)
		return one->error_ns > other->error_ns ? -1 : 1;
	return strcmp(one->host, other->host);
}

/* The host's worst clock of all its traces.  Returns the number of hosts. */
static size_t clocks_gather(const struct ct_reader *reader, struct host_clock **out_clocks)
{
	const struct ct_source_process *process;
	struct host_clock *clocks = NULL, *more;
	size_t count = 0;

	for (size_t i = 0; (process = ct_reader_source_process(reader, i)) != NULL; i++) {
		struct host_clock clock = { .host = process->host };
		size_t at = 0;

		if (!clock_read(process->path, &clock))
			continue;
		while (at < count && strcmp(clocks[at].host, clock.host) != 0)
			at++;
		if (at == count) {
			more = reallocarray(clocks, count + 1, sizeof *clocks);
			if (more == NULL)
				break;
			clocks = more;
			clocks[count++] = clock;
		}
		if (clock.error_ns > clocks[at].error_ns)
			clocks[at].error_ns = clock.error_ns;
		clocks[at].is_unsynchronised |= clock.is_unsynchronised;
	}
	*out_clocks = clocks;
	return count;
}

static void host_print(const char *host)
{
	ct_tool_print(stderr, host, strlen(host));
}

static int clock_compare_state(const void *a, const void *b)
{
	const struct host_clock *one = a, *other = b;

	if (one->is_unsynchronised != other->is_unsynchronised)
		return one->is_unsynchronised ? 1 : -1;
	return strcmp(one->host, other->host);
}

/* "a", "a and b", "a, b and 38 more" */
static void unsynchronised_report(const char *verb, const struct host_clock *clocks, size_t count)
{
	size_t shown = count <= HOSTS_SHOWN ? count : HOSTS_SHOWN;

	fprintf(stderr, "%s: the clock%s of ", verb, count == 1 ? "" : "s");
	for (size_t i = 0; i < shown; i++) {
		fputs(i == 0 ? "" : i + 1 == count ? " and " : ", ", stderr);
		host_print(clocks[i].host);
	}
	if (shown < count)
		fprintf(stderr, " and %zu more", count - shown);
	fprintf(stderr,
		" %s not synchronised; %s times may differ from those of other hosts by any amount\n",
		count == 1 ? "is" : "are", count == 1 ? "its" : "their");
}

void host_clocks_report(const char *verb, const struct ct_reader *reader)
{
	struct host_clock *clocks;
	size_t count = clocks_gather(reader, &clocks), synchronised = 0;

	if (count > 1)
		qsort(clocks, count, sizeof *clocks, clock_compare_state);
	while (synchronised < count && !clocks[synchronised].is_unsynchronised)
		synchronised++;
	if (count > 1 && synchronised < count)
		unsynchronised_report(verb, clocks + synchronised, count - synchronised);
	if (synchronised > 1) {
		uint64_t microseconds;

		qsort(clocks, synchronised, sizeof *clocks, clock_compare_error);
		microseconds = (clocks[0].error_ns + clocks[1].error_ns + 999) / 1000;
		if (microseconds > 0) {
			fprintf(stderr, "%s: times of ", verb);
			host_print(clocks[0].host);
			fputs(" and ", stderr);
			host_print(clocks[1].host);
			fprintf(stderr, " may differ by up to %" PRIu64 ".%" PRIu64 " ms\n",
				(microseconds + 99) / 100 / 10, (microseconds + 99) / 100 % 10);
		}
	}
	free(clocks);
}
