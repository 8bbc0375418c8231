/*
 * metrics_text.c - the numbers of all traced processes in the text format of Prometheus.
 *
 * Processes of one job share their series: a series for each process would never end on a machine
 * that runs batch jobs.  A counter may only rise, but the sum over the processes falls when one
 * ends.  So each counter is kept here, and grows by what each process has counted since the last
 * call.  Gauges are summed anew.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/processes/metrics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "tools/streams/stream_copy.h"

#define SERIES_LIMIT 20000u /* of all families together */

enum family {
	BUILD_INFO,
	PROCESSES,
	EMITTED,
	DELIVERED,
	LOST,
	PENDING,
	IN_STORAGE,
	OVERWRITTEN,
	RINGS,
	RING_SIZE,
	RING_USED,
	RING_FULLEST,
	RING_WRITTEN,
	COMPONENT_LEVEL,
	COMPONENT_DELIVERED,
	COMPONENT_BYTES,
	DEST_DELIVERED,
	DEST_LOST,
	DEST_FAILING,
	STREAM_REPLICAS,
	STREAM_SERVERS,
	STREAM_LAG,
	STREAM_UNREADABLE,
	UNREADABLE,
	LEFT_OUT,
	FAMILY_COUNT
};

static const struct {
	const char *name;
	bool is_counter;
	const char *help;
} families[FAMILY_COUNT] = {
	[BUILD_INFO] = { "ctrace_build_info", false, "The version of ctrace. The value is 1." },
	[PROCESSES] = { "ctrace_processes", false,
			"Traced processes, by state: running, or ended with events that are not "
			"recovered." },
	[EMITTED] = { "ctrace_events_emitted_total", true,
		      "Events that passed the level of their component." },
	[DELIVERED] = { "ctrace_events_delivered_total", true,
			"Events that all their destinations have." },
	[LOST] = { "ctrace_events_lost_total", true, "Lost events, by reason." },
	[PENDING] = { "ctrace_events_pending", false, "Events that wait in ring buffers." },
	[IN_STORAGE] = { "ctrace_events_in_storage", false,
			 "Events that are kept in storage, and in no destination." },
	[OVERWRITTEN] = { "ctrace_events_overwritten_total", true,
			  "Events that were in storage, where newer ones took their place." },
	[RINGS] = { "ctrace_rings", false, "Ring buffers." },
	[RING_SIZE] = { "ctrace_ring_size_bytes", false, "The size of the ring buffers." },
	[RING_USED] = { "ctrace_ring_used_bytes", false,
			"The part of the ring buffers that waits to be delivered." },
	[RING_FULLEST] = { "ctrace_ring_fullest_ratio", false,
			   "The used part of the fullest ring buffer, 0 to 1." },
	[RING_WRITTEN] = { "ctrace_ring_written_bytes_total", true,
			   "Bytes that programs wrote into ring buffers." },
	[COMPONENT_LEVEL] = { "ctrace_component_level", false,
			      "The lowest level that a process of the job traces: 0 DEBUG, 1 INFO, "
			      "2 WARN, 3 ERROR, 4 FATAL, 5 NONE." },
	[COMPONENT_DELIVERED] = { "ctrace_component_events_delivered_total", true,
				  "Events of the component that its first destination has." },
	[COMPONENT_BYTES] = { "ctrace_component_delivered_bytes_total", true,
			      "Bytes of these events in the ring buffers." },
	[DEST_DELIVERED] = { "ctrace_destination_events_delivered_total", true,
			     "Events that the destination has." },
	[DEST_LOST] = { "ctrace_destination_events_lost_total", true,
			"Events that the destination did not get." },
	[DEST_FAILING] = { "ctrace_destination_failing", false,
			   "Processes whose destination fails now." },
	[STREAM_REPLICAS] = { "ctrace_stream_replicas", false,
			      "Servers that are to keep a copy of the stream." },
	[STREAM_SERVERS] = { "ctrace_stream_servers", false,
			     "Servers that keep a copy of the stream, by state: leads, follows, "
			     "behind, offline." },
	[STREAM_LAG] = { "ctrace_stream_server_lag_messages", false,
			 "Messages of the stream that the server lacks." },
	[STREAM_UNREADABLE] = { "ctrace_stream_read_failed", false,
				"1 if the servers do not say who keeps the stream, else 0." },
	[UNREADABLE] = { "ctrace_read_failed", false,
			 "1 if a process directory could not be read, else 0." },
	[LEFT_OUT] = { "ctrace_series_left_out", false,
		       "Series that are not here, because there are too many." },
};

struct ct_metrics_series {
	enum family family;
	char *labels; /* jobname="A",component="B"; "": none */
	double gauge;
	uint64_t counter;
	bool is_there; /* a gauge: it was set by this call */
};

struct series_key {
	enum family family;
	const char *labels;
};

static bool series_is(const void *items, uint32_t number, const void *key)
{
	const struct ct_metrics_series *series = (const struct ct_metrics_series *)items + number;
	const struct series_key *wanted = key;

	return series->family == wanted->family && strcmp(series->labels, wanted->labels) == 0;
}

/* Finds the series, or makes it.  NULL: there are too many, or memory is short. */
static struct ct_metrics_series *series_find(struct ct_metrics *metrics, enum family family,
					     struct ct_buf *labels)
{
	const struct series_key key = { .family = family, .labels = ct_buf_text(labels) };
	struct ct_hash_table *table = metrics->table;
	uint32_t hash = ct_name_hash(key.labels, labels->size) + (uint32_t)family * 0x9E3779B1u;
	uint32_t at = ct_hash_table_find(table, hash, series_is, metrics->series, &key);
	struct ct_metrics_series *items;
	char *text;

	if (at != CT_HASH_TABLE_NONE)
		return &metrics->series[at];
	if (table->count >= SERIES_LIMIT) {
		metrics->left_out++;
		return NULL;
	}
	items = ct_hash_table_reserve_items(table, metrics->series, sizeof *items);
	if (items == NULL)
		return NULL;
	metrics->series = items;
	text = strdup(key.labels);
	if (text == NULL)
		return NULL;
	at = table->count;
	items[at] = (struct ct_metrics_series){ .family = family, .labels = text };
	ct_hash_table_add(table, hash, at);
	return &items[at];
}

static void label_add(struct ct_buf *labels, const char *name, const char *value)
{
	ct_buf_add_format(labels, "%s%s=\"", labels->size > 0 ? "," : "", name);
	for (; *value != '\0'; value++) {
		unsigned char byte = (unsigned char)*value;

		/* The format takes UTF-8 only; other bytes would make the whole answer useless. */
		if (byte < ' ' || byte >= 127)
			ct_buf_add_format(labels, "\\\\x%02x", byte);
		else if (byte == '"' || byte == '\\')
			ct_buf_add_format(labels, "\\%c", byte);
		else
			ct_buf_add(labels, value, 1);
	}
	ct_buf_add_text(labels, "\"");
}

/* The labels of a series: the job, and a second one. */
static void labels_set(struct ct_buf *labels, const struct stats_process *process, const char *name,
		       const char *value)
{
	ct_buf_clear(labels);
	label_add(labels, "jobname", process->jobname);
	if (name != NULL)
		label_add(labels, name, value);
}

/* A counter has grown by what this process counted since then.  A sum of numbers that are read one
 * after the other may fall; it then counts from its highest value. */
static void counter_add(struct ct_metrics *metrics, enum family family, struct ct_buf *labels,
			uint64_t *now, uint64_t then)
{
	struct ct_metrics_series *series = series_find(metrics, family, labels);

	if (*now < then)
		*now = then;
	if (series != NULL)
		series->counter += *now - then;
}

static void gauge_add(struct ct_metrics *metrics, enum family family, struct ct_buf *labels,
		      double value)
{
	struct ct_metrics_series *series = series_find(metrics, family, labels);

	if (series == NULL)
		return;
	if (!series->is_there)
		series->gauge = value;
	else if (family == COMPONENT_LEVEL)
		series->gauge = value < series->gauge ? value : series->gauge;
	else if (family == RING_FULLEST)
		series->gauge = value > series->gauge ? value : series->gauge;
	else
		series->gauge += value;
	series->is_there = true;
}

static void components_add(struct ct_metrics *metrics, struct ct_buf *labels,
			   struct stats_process *process, const struct stats_process *before)
{
	static const struct stats_component none;

	for (uint32_t i = 0; i < process->component_count; i++) {
		struct stats_component *now = &process->components[i];
		const struct stats_component *then = ct_stats_find_component(before, now->name);

		if (then == NULL)
			then = &none;
		labels_set(labels, process, "component", now->name);
		if (process->is_alive)
			gauge_add(metrics, COMPONENT_LEVEL, labels,
				  now->level < CTRACE_LEVEL_COUNT ? now->level
								  : CTRACE_LEVEL_COUNT);
		counter_add(metrics, COMPONENT_DELIVERED, labels, &now->delivered, then->delivered);
		counter_add(metrics, COMPONENT_BYTES, labels, &now->bytes, then->bytes);
	}
}

static void dests_add(struct ct_metrics *metrics, struct ct_buf *labels,
		      struct stats_process *process, const struct stats_process *before)
{
	for (uint32_t i = 0; i < process->dest_count; i++) {
		struct stats_dest *now = &process->dests[i];
		const struct stats_dest *then = NULL;
		bool is_failing = now->failure.failing != 0 || now->failure.stuck_since_ns != 0;

		for (uint32_t k = 0; before != NULL && k < before->dest_count; k++)
			if (before->dests[k].index == now->index &&
			    strcmp(before->dests[k].emitter, now->emitter) == 0)
				then = &before->dests[k];
		labels_set(labels, process, "emitter", now->emitter);
		counter_add(metrics, DEST_DELIVERED, labels, &now->delivered,
			    then != NULL ? then->delivered : 0);
		counter_add(metrics, DEST_LOST, labels, &now->lost, then != NULL ? then->lost : 0);
		gauge_add(metrics, DEST_FAILING, labels, is_failing ? 1 : 0);
	}
}

static void process_add(struct ct_metrics *metrics, struct ct_buf *labels,
			struct stats_process *process, const struct stats_process *before)
{
	static const struct stats_process none;
	const struct stats_process *then = before != NULL ? before : &none;
	struct list_counters *now = &process->counters;

	labels_set(labels, process, "state", process->is_alive ? "running" : "ended");
	gauge_add(metrics, PROCESSES, labels, 1);
	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++) {
		labels_set(labels, process, "reason", ctrace_loss_name((enum ctrace_loss)i));
		counter_add(metrics, LOST, labels, &now->lost[i], then->counters.lost[i]);
	}
	labels_set(labels, process, "reason", "no-room");
	counter_add(metrics, LOST, labels, &now->no_room, then->counters.no_room);
	labels_set(labels, process, NULL, NULL);
	counter_add(metrics, EMITTED, labels, &process->emitted, then->emitted);
	counter_add(metrics, DELIVERED, labels, &now->delivered, then->counters.delivered);
	counter_add(metrics, RING_WRITTEN, labels, &now->bytes, then->counters.bytes);
	gauge_add(metrics, PENDING, labels, (double)now->pending);
	gauge_add(metrics, IN_STORAGE, labels, (double)now->in_storage);
	counter_add(metrics, OVERWRITTEN, labels, &now->wrapped, then->counters.wrapped);
	gauge_add(metrics, RINGS, labels, now->rings);
	gauge_add(metrics, RING_SIZE, labels, (double)now->capacity);
	gauge_add(metrics, RING_USED, labels, (double)now->pending_bytes);
	gauge_add(metrics, RING_FULLEST, labels, now->fullest / 100.0);
	components_add(metrics, labels, process, before);
	dests_add(metrics, labels, process, before);
}

static void stream_add(struct ct_metrics *metrics, struct ct_buf *labels,
		       const struct ct_nats_servers *stream)
{
	bool is_known = stream->error[0] == '\0';

	ct_buf_clear(labels);
	label_add(labels, "stream", stream->stream);
	gauge_add(metrics, STREAM_UNREADABLE, labels, is_known ? 0 : 1);
	if (!is_known)
		return;
	gauge_add(metrics, STREAM_REPLICAS, labels, stream->wanted);
	for (unsigned state = 0; state < CT_NATS_STATES; state++) {
		unsigned count = 0;

		for (unsigned i = 0; i < stream->count; i++)
			count += stream->copies[i].state == state;
		ct_buf_clear(labels);
		label_add(labels, "stream", stream->stream);
		label_add(labels, "state", stream_state_name((enum ct_nats_state)state));
		gauge_add(metrics, STREAM_SERVERS, labels, count);
	}
	for (unsigned i = 0; i < stream->count; i++) {
		ct_buf_clear(labels);
		label_add(labels, "stream", stream->stream);
		label_add(labels, "server", stream->copies[i].name);
		gauge_add(metrics, STREAM_LAG, labels, (double)stream->copies[i].lag);
	}
}

static int series_compare(const void *a, const void *b)
{
	const struct ct_metrics_series *one = *(const struct ct_metrics_series *const *)a;
	const struct ct_metrics_series *other = *(const struct ct_metrics_series *const *)b;

	if (one->family != other->family)
		return one->family < other->family ? -1 : 1;
	return strcmp(one->labels, other->labels);
}

static void series_print(struct ct_buf *out, const struct ct_metrics_series *series)
{
	const char *name = families[series->family].name;

	ct_buf_add_text(out, name);
	if (series->labels[0] != '\0')
		ct_buf_add_format(out, "{%s}", series->labels);
	if (families[series->family].is_counter)
		ct_buf_add_format(out, " %" PRIu64 "\n", series->counter);
	else
		ct_buf_add_format(out, " %.15g\n", series->gauge);
}

/* Prints the series that count, a family after the other. */
static void metrics_print(struct ct_buf *out, struct ct_metrics *metrics)
{
	uint32_t count = metrics->table->count;
	struct ct_metrics_series **order = calloc(count + 1, sizeof *order);
	enum family last = FAMILY_COUNT;

	if (order == NULL)
		return;
	for (uint32_t i = 0; i < count; i++)
		order[i] = &metrics->series[i];
	qsort(order, count, sizeof *order, series_compare);
	for (uint32_t i = 0; i < count; i++) {
		enum family family = order[i]->family;

		if (!families[family].is_counter && !order[i]->is_there)
			continue;
		if (family != last)
			ct_buf_add_format(out, "# HELP %s %s\n# TYPE %s %s\n",
					  families[family].name, families[family].help,
					  families[family].name,
					  families[family].is_counter ? "counter" : "gauge");
		last = family;
		series_print(out, order[i]);
	}
	free(order);
}

char *ct_metrics_text(struct ct_metrics *metrics, size_t *out_size)
{
	/* External writers are not asked, because an answer may take seconds; a filter that all
	 * processes pass leaves them out. */
	const struct target all = { .filter.jobname = "*" };
	struct stats now;
	struct ct_buf labels, out;
	char *text = NULL;

	if (metrics->table == NULL)
		metrics->table = calloc(1, sizeof *metrics->table);
	if (metrics->table == NULL)
		return NULL;
	ct_buf_init(&labels);
	ct_buf_init(&out);
	metrics->left_out = 0;
	for (uint32_t i = 0; i < metrics->table->count; i++)
		metrics->series[i].is_there = false;
	ct_stats_gather(&now, &all);
	label_add(&labels, "version", CT_VERSION);
	gauge_add(metrics, BUILD_INFO, &labels, 1);
	ct_buf_clear(&labels);
	gauge_add(metrics, UNREADABLE, &labels, now.has_failed ? 1 : 0);
	gauge_add(metrics, LEFT_OUT, &labels, 0);
	for (size_t i = 0; i < now.process_count; i++)
		process_add(metrics, &labels, &now.processes[i],
			    ct_stats_find(&metrics->last, &now.processes[i]));
	if (metrics->stream != NULL)
		stream_add(metrics, &labels, metrics->stream);
	ct_buf_clear(&labels);
	gauge_add(metrics, LEFT_OUT, &labels, (double)metrics->left_out);
	ct_stats_fini(&metrics->last);
	metrics->last = now;
	metrics_print(&out, metrics);
	if (!out.failed && !labels.failed && out.size > 0)
		text = strndup(out.data, out.size);
	*out_size = text != NULL ? out.size : 0;
	ct_buf_fini(&labels);
	ct_buf_fini(&out);
	return text;
}

void ct_metrics_fini(struct ct_metrics *metrics)
{
	uint32_t count = metrics->table != NULL ? metrics->table->count : 0;

	for (uint32_t i = 0; i < count; i++)
		free(metrics->series[i].labels);
	free(metrics->series);
	if (metrics->table != NULL)
		ct_hash_table_fini(metrics->table);
	free(metrics->table);
	ct_stats_fini(&metrics->last);
	*metrics = (struct ct_metrics){ .series = NULL };
}
