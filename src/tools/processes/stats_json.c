/*
 * stats_json.c - the numbers of ctrace stats as one JSON document on a line.
 *
 * The members are described in ctrace-json(5).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/processes/stats.h"

#include <string.h>

#include "print/json_text.h"

static void add_number(json_t *object, const char *name, uint64_t value)
{
	(void)json_object_set_new(object, name, ct_json_number(value));
}

static void add_rate(json_t *object, const char *name, uint64_t now, uint64_t then,
		     uint64_t elapsed_ns)
{
	if (elapsed_ns != 0)
		(void)json_object_set_new(object, name,
					  json_real(ct_stats_rate(now, then, elapsed_ns)));
}

static json_t *json_reasons(const struct list_counters *counters)
{
	json_t *reasons = json_object();

	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		add_number(reasons, ctrace_loss_name((enum ctrace_loss)i), counters->lost[i]);
	add_number(reasons, "no-room", counters->no_room);
	return reasons;
}

static json_t *json_rings(const struct list_counters *counters)
{
	json_t *rings = json_object();

	add_number(rings, "count", counters->rings);
	add_number(rings, "private", counters->hidden);
	add_number(rings, "capacity_bytes", counters->capacity);
	add_number(rings, "pending_bytes", counters->pending_bytes);
	add_number(rings, "fullest_percent", counters->fullest);
	add_number(rings, "unreadable", counters->unreadable);
	add_number(rings, "unreadable_bytes", counters->unreadable_bytes);
	return rings;
}

static json_t *json_components(const struct stats_process *process,
			       const struct stats_process *before, uint64_t elapsed_ns)
{
	json_t *components = json_array();

	for (uint32_t i = 0; i < process->component_count; i++) {
		const struct stats_component *component = &process->components[i];
		const struct stats_component *then =
			ct_stats_find_component(before, component->name);
		json_t *object = json_object();

		(void)json_object_set_new(object, "component", ct_json_string(component->name));
		(void)json_object_set_new(object, "level",
					  json_string(ct_list_level(component->level)));
		add_number(object, "delivered", component->delivered);
		add_number(object, "bytes", component->bytes);
		add_rate(object, "delivered_per_second", component->delivered,
			 then != NULL ? then->delivered : 0, elapsed_ns);
		add_rate(object, "bytes_per_second", component->bytes,
			 then != NULL ? then->bytes : 0, elapsed_ns);
		(void)json_object_set_new(object, "writer",
					  component->writer[0] != '\0'
						  ? ct_json_string(component->writer)
						  : json_null());
		(void)json_object_set_new(object, "writer_connected",
					  json_boolean(component->is_connected));
		(void)json_array_append_new(components, object);
	}
	return components;
}

static json_t *json_dests(const struct stats_process *process)
{
	json_t *dests = json_array();

	for (uint32_t i = 0; i < process->dest_count; i++) {
		const struct stats_dest *dest = &process->dests[i];
		json_t *object = json_object();

		(void)json_object_set_new(object, "emitter", ct_json_string(dest->emitter));
		(void)json_object_set_new(object, "path",
					  dest->path[0] != '\0' ? ct_json_string(dest->path)
								: json_null());
		add_number(object, "delivered", dest->delivered);
		add_number(object, "lost", dest->lost);
		ct_list_json_failure(object, &dest->failure);
		add_number(object, "failures", dest->failures);
		(void)json_array_append_new(dests, object);
	}
	return dests;
}

static json_t *json_process(const struct stats_process *process, const struct stats_process *before,
			    uint64_t elapsed_ns)
{
	const struct list_counters *counters = &process->counters;
	static const struct stats_process nothing;
	const struct stats_process *then = before != NULL ? before : &nothing;
	json_t *object = json_object();

	add_number(object, "pid", process->pid);
	(void)json_object_set_new(object, "program", ct_json_string(process->program));
	(void)json_object_set_new(object, "state",
				  json_string(process->is_alive ? "running" : "ended"));
	add_number(object, "uid", process->uid);
	(void)json_object_set_new(object, "job", ct_json_string(process->jobname));
	(void)json_object_set_new(object, "asid", ct_json_asid(process->asid));
	(void)json_object_set(object, "configuration", process->config_json);
	add_number(object, "emitted", process->emitted);
	add_number(object, "delivered", counters->delivered);
	add_number(object, "pending", counters->pending);
	add_number(object, "in_storage", counters->in_storage);
	add_number(object, "overwritten_in_storage", counters->wrapped);
	add_number(object, "lost", counters->lost_total);
	(void)json_object_set_new(object, "lost_by_reason", json_reasons(counters));
	add_number(object, "bytes", counters->bytes);
	add_rate(object, "emitted_per_second", process->emitted, then->emitted, elapsed_ns);
	add_rate(object, "delivered_per_second", counters->delivered, then->counters.delivered,
		 elapsed_ns);
	add_rate(object, "lost_per_second", counters->lost_total, then->counters.lost_total,
		 elapsed_ns);
	add_rate(object, "bytes_per_second", counters->bytes, then->counters.bytes, elapsed_ns);
	(void)json_object_set_new(object, "rings", json_rings(counters));
	add_number(object, "late_rings", process->late_rings);
	add_number(object, "control_requests", process->control_requests);
	add_number(object, "control_refused", process->control_refused);
	(void)json_object_set_new(object, "components",
				  json_components(process, before, elapsed_ns));
	(void)json_object_set_new(object, "destinations", json_dests(process));
	return object;
}

static json_t *json_writer(const struct ct_display *display, uint32_t index)
{
	const struct ct_writer_state *writer = &display->writers[index].state;
	json_t *object = json_object();

	(void)json_object_set_new(object, "name", ct_json_string(writer->name));
	add_number(object, "pid", writer->pid);
	(void)json_object_set_new(object, "status",
				  json_string(ct_display_writer_status(display, index)));
	(void)json_object_set_new(object, "mode", json_string(writer->nowrap ? "NOWRAP" : "WRAP"));
	add_number(object, "events", writer->events);
	add_number(object, "bytes", writer->bytes);
	add_number(object, "overwritten", writer->wrapped_events);
	add_number(object, "not_written", writer->full_events);
	(void)json_object_set_new(object, "trcouts", ct_display_json_trcouts(display, index));
	return object;
}

bool ct_stats_print_json(const struct stats *stats, const struct stats *before)
{
	uint64_t elapsed_ns = before != NULL ? stats->taken_ns - before->taken_ns : 0;
	json_t *processes = json_array();
	json_t *writers = json_array();
	json_t *document = ct_json_document();

	for (size_t i = 0; i < stats->process_count; i++) {
		const struct stats_process *process = &stats->processes[i];

		(void)json_array_append_new(
			processes,
			json_process(process, ct_stats_find(before, process), elapsed_ns));
	}
	for (uint32_t i = 0; i < stats->writers.writer_rows.count; i++)
		(void)json_array_append_new(writers, json_writer(&stats->writers, i));
	add_number(document, "time_ns", stats->wall_ns);
	(void)json_object_set_new(document, "processes", processes);
	(void)json_object_set_new(document, "writers", writers);
	return ct_json_print(document, stdout);
}
