/*
 * stats_gather.c - a snapshot of the counters of all traced processes and external writers.
 *
 * Part of ctrace stats.  Processes are read and not asked, so they are not disturbed; external
 * writers are asked.  Numbers of one process that is busy are read one after the other and need not
 * agree to the event.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/processes/stats.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "print/json_text.h"

struct search {
	struct stats *stats;
	const struct target *target;
};

static void text_take(char *to, size_t room, const char *text, size_t size)
{
	if (size > room - 1)
		size = room - 1;
	memcpy(to, text, size);
	to[size] = '\0';
}

static void component_take(struct stats_component *component, struct ct_session *session,
			   uint32_t index)
{
	const struct ct_component_entry *entry = &session->components[index];
	size_t size;
	const char *name = ct_list_name(session, index, &size);

	text_take(component->name, sizeof(component->name), name, size);
	component->level = entry->level_word.level;
	component->delivered = entry->delivered;
	component->bytes = entry->bytes;
	component->dests = entry->dests;
	if (entry->writer != 0 && entry->writer < CT_WRITER_LIMIT &&
	    entry->level_word.level != CTRACE_LEVEL_NONE) {
		const struct ct_session_writer *writer = &session->head->writer[entry->writer];

		text_take(component->writer, sizeof(component->writer), writer->name,
			  strnlen(writer->name, sizeof(writer->name)));
		component->is_connected = writer->slots != 0;
	}
}

static bool components_take(struct stats_process *process, struct list_process *list)
{
	if (!ct_list_gather_components(list, NULL, false))
		return false;
	process->components = calloc(list->count + 1, sizeof(*process->components));
	if (process->components == NULL)
		return false;
	for (uint32_t i = 0; i < list->count; i++)
		component_take(&process->components[i], &list->session, list->order[i]);
	process->component_count = list->count;
	return true;
}

static bool dests_take(struct stats_process *process, struct ct_session *session)
{
	process->dests = calloc(CT_DEST_LIMIT, sizeof(*process->dests));
	if (process->dests == NULL)
		return false;
	for (unsigned i = 0; i < CT_DEST_LIMIT; i++) {
		struct ct_dest *dest = &session->head->dest[i];
		const struct ct_dest_slot *slot = ct_dest_current(dest);
		struct stats_dest *taken = &process->dests[process->dest_count];

		if (!ct_list_shows(dest))
			continue;
		taken->index = i;
		text_take(taken->emitter, sizeof(taken->emitter), dest->emitter,
			  strnlen(dest->emitter, sizeof(dest->emitter)));
		text_take(taken->path, sizeof(taken->path), ct_dest_path(session, i),
			  strlen(ct_dest_path(session, i)));
		taken->delivered = slot->delivered;
		taken->lost = ct_list_lost_to(dest);
		ct_list_take_failure(&taken->failure, session, i);
		taken->failures = dest->failures;
		process->dest_count++;
	}
	return true;
}

static bool process_take(struct stats_process *process, struct list_process *list)
{
	const struct ct_session_head *head = list->session.head;
	struct ct_buf configuration;

	process->pid = list->entry->pid;
	process->uid = list->entry->uid;
	process->asid = head->asid;
	process->is_alive = list->entry->is_alive;
	process->start_ns = head->start_ns;
	text_take(process->jobname, sizeof(process->jobname), head->jobname,
		  strnlen(head->jobname, sizeof(head->jobname)));
	text_take(process->program, sizeof(process->program), head->program,
		  strnlen(head->program, sizeof(head->program)));
	process->late_rings = head->late_rings;
	process->control_requests = head->control_requests;
	process->control_refused = head->control_refused;
	process->config_json = ct_list_json_config(&list->session);
	ct_buf_init(&configuration);
	ct_list_config_print(&list->session, &configuration);
	process->configuration = strdup(ct_buf_text(&configuration));
	ct_buf_fini(&configuration);
	ct_list_gather_counters(&list->session, &process->counters);
	process->emitted = process->counters.delivered + process->counters.pending +
			   process->counters.in_storage + process->counters.wrapped +
			   process->counters.lost_total;
	return components_take(process, list) && dests_take(process, &list->session);
}

static void process_diagnose(struct stats *stats, const struct target *target,
			     const struct ct_directory_entry *entry, enum ctrace_status status)
{
	char why[CT_DIRECTORY_WHY_SIZE];

	stats->has_failed = true;
	if (target->verb == NULL)
		return;
	fputs("ctrace stats: ", stderr);
	ct_tool_print(stderr, entry->run_directory, strlen(entry->run_directory));
	fprintf(stderr, "/%s: %s\n", entry->name, ct_directory_explain(entry, status, why));
}

static enum ctrace_status process_add(struct stats *stats, struct list_process *list)
{
	struct stats_process *processes =
		reallocarray(stats->processes, stats->process_count + 1, sizeof(*processes));

	if (processes == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	stats->processes = processes;
	memset(&processes[stats->process_count], 0, sizeof(*processes));
	processes[stats->process_count].place = strdup(list->session.path);
	if (processes[stats->process_count].place == NULL)
		return CTRACE_NOT_ENOUGH_MEMORY;
	return process_take(&processes[stats->process_count++], list) ? CTRACE_OK
								      : CTRACE_NOT_ENOUGH_MEMORY;
}

static void process_see(const struct ct_directory_entry *entry, void *user)
{
	struct search *search = user;
	struct list_process list = { .entry = entry };
	enum ctrace_status status =
		ct_session_load(&list.session, entry->run_directory, entry->name, false);

	if (status == CTRACE_NOT_FOUND)
		return; /* it ended while we looked */
	if (status == CTRACE_OK) {
		if (ct_peer_filter_wants(&search->target->filter, list.session.head->pid,
					 list.session.head->asid, list.session.head->jobname))
			status = process_add(search->stats, &list);
		free(list.order);
		ct_session_close(&list.session, false);
	}
	if (status != CTRACE_OK)
		process_diagnose(search->stats, search->target, entry, status);
}

static void run_directory_see(const char *path, void *user)
{
	ct_directory_each(path, process_see, user);
}

static int process_compare(const void *a, const void *b)
{
	const struct stats_process *one = a, *other = b;

	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	if (one->start_ns != other->start_ns)
		return one->start_ns < other->start_ns ? -1 : 1;
	return strcmp(one->place, other->place);
}

void ct_stats_sort(struct stats *stats)
{
	if (stats->process_count > 1)
		qsort(stats->processes, stats->process_count, sizeof(*stats->processes),
		      process_compare);
}

void ct_stats_gather(struct stats *stats, const struct target *target)
{
	struct search search = { .stats = stats, .target = target };

	*stats = (struct stats){ .taken_ns = ct_clock_mono_ns(), .wall_ns = ct_clock_wall_ns() };
	ct_display_init(&stats->writers, stats->wall_ns);
	ct_directory_each_run_directory(run_directory_see, &search);
	ct_stats_sort(stats);
	/* A writer is no process that is asked for. */
	if (ct_target_is_all(target))
		ct_writers_ask(target, &stats->writers, NULL);
	ct_display_arrange(&stats->writers);
	if (stats->writers.failed) {
		stats->has_failed = true;
		fputs("ctrace stats: not enough memory\n", stderr);
	}
}

void ct_stats_fini(struct stats *stats)
{
	for (size_t i = 0; i < stats->process_count; i++) {
		json_decref(stats->processes[i].config_json);
		free(stats->processes[i].place);
		free(stats->processes[i].configuration);
		free(stats->processes[i].components);
		free(stats->processes[i].dests);
	}
	free(stats->processes);
	ct_display_fini(&stats->writers);
	*stats = (struct stats){ .taken_ns = 0 };
}

const struct stats_process *ct_stats_find(const struct stats *stats,
					  const struct stats_process *process)
{
	return stats != NULL && stats->process_count > 0
		       ? bsearch(process, stats->processes, stats->process_count, sizeof *process,
				 process_compare)
		       : NULL;
}

const struct stats_component *ct_stats_find_component(const struct stats_process *process,
						      const char *name)
{
	for (uint32_t i = 0; process != NULL && i < process->component_count; i++)
		if (strcmp(process->components[i].name, name) == 0)
			return &process->components[i];
	return NULL;
}

double ct_stats_rate(uint64_t now, uint64_t then, uint64_t elapsed_ns)
{
	uint64_t grown = now >= then ? now - then : now;

	return elapsed_ns != 0 ? (double)grown * 1e9 / (double)elapsed_ns : 0;
}
