/*
 * tools/processes/metrics.h - the numbers of traced processes in the text format of Prometheus, and
 * what metrics.so does for the tool: it answers GET /metrics.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#ifndef CT_TOOLS_PROCESSES_METRICS_H
#define CT_TOOLS_PROCESSES_METRICS_H

#include <ctrace/status.h>
#include <stddef.h>

#include "tools/processes/stats.h"
#include "tools/streams/nats_module.h"

/* Where the metrics are served unless an address is given. */
#define CT_METRICS_ADDRESS "127.0.0.1:9464"

/* ---- metrics_text.c.  A zeroed struct is ready.  One thread at a time. */
struct ct_metrics {
	struct stats last; /* what the last call read */
	struct ct_metrics_series *series;
	struct ct_hash_table *table;          /* of the series */
	uint64_t left_out;                    /* series that exceed the limit */
	const struct ct_nats_servers *stream; /* whose servers are shown, or NULL */
};
/* Reads all processes.  Returns the text, which the caller frees; NULL without memory. */
char *ct_metrics_text(struct ct_metrics *metrics, size_t *out_size);
void ct_metrics_fini(struct ct_metrics *metrics);

/* ---- modules/metrics/metrics_http.c */
#define CT_METRICS_ERROR_SIZE 256
struct ct_metrics_server {
	const char *address; /* HOST:PORT, [HOST]:PORT or PORT; port 0: any that is free */
	/* Called for each request, on the server's one thread.  Returns the text, which the
	 * server frees, or NULL. */
	char *(*text)(void *user, size_t *out_size);
	void *user;
	/* set by start */
	char shown[128]; /* the address in force, as part of a URL */
	char error[CT_METRICS_ERROR_SIZE];
	int fd;
	void *daemon;
};
struct ct_metrics_module {
	size_t size; /* sizeof(struct ct_metrics_module) it was built with */
	/* SYNTAX_ERROR: the address is none.  Any status but OK has the reason in error.  The
	 * server's thread takes over the caller's signal mask. */
	enum ctrace_status (*start)(struct ct_metrics_server *server);
	/* Waits for the request under way. */
	void (*stop)(struct ct_metrics_server *server);
};

/* The symbol that metrics.so exports: const struct ct_metrics_module. */
#define CT_METRICS_SYMBOL "ct_metrics_module"

#endif
