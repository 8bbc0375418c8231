/*
 * list_json.c - a traced process as one JSON object on a line, for ctrace list --json.
 *
 * The members are described in ctrace-json(5).
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/processes/list.h"

#include <string.h>

#include "lib/control/control.h"
#include "print/json_text.h"

static json_t *json_field(const char *text, size_t capacity)
{
	return ct_json_text(text, strnlen(text, capacity));
}

static json_t *json_components(const struct list_process *process)
{
	const struct ct_session *session = &process->session;
	json_t *components = json_array();

	for (uint32_t i = 0; i < process->count; i++) {
		const struct ct_component_entry *entry = &session->components[process->order[i]];
		json_t *destinations = json_array();
		json_t *component = json_object();
		size_t size;
		const char *name = ct_list_name(session, process->order[i], &size);

		for (unsigned d = 0; d < CT_DEST_LIMIT; d++) {
			const struct ct_dest *dest = &session->head->dest[d];

			if (entry->dests >> d & 1)
				json_array_append_new(
					destinations,
					json_field(dest->emitter, sizeof(dest->emitter)));
		}
		json_object_set_new(component, "component", ct_json_text(name, size));
		json_object_set_new(component, "level",
				    json_string(ct_list_level(entry->level_word.level)));
		json_object_set_new(component, "registered",
				    json_boolean(entry->flags & CT_COMPONENT_KNOWN));
		json_object_set_new(component, "destinations", destinations);
		json_array_append_new(components, component);
	}
	return components;
}

void ct_list_json_failure(json_t *object, const struct list_failure *failure)
{
	char buffer[CT_LIST_FAILURE];
	const char *why = ct_list_failure(failure, buffer);

	json_object_set_new(object, "failing", why != NULL ? json_string(why) : json_null());
	json_object_set_new(object, "failing_at",
			    failure->at[0] != '\0' ? ct_json_string(failure->at) : json_null());
}

static json_t *json_destinations(const struct ct_session *session)
{
	json_t *destinations = json_array();

	for (unsigned i = 0; i < CT_DEST_LIMIT; i++) {
		struct ct_dest *dest = &session->head->dest[i];
		const struct ct_dest_slot *slot = ct_dest_current(dest);
		const char *path = ct_dest_path(session, i);
		struct list_failure failure;
		json_t *object;

		if (!ct_list_shows(dest))
			continue;
		ct_list_take_failure(&failure, session, i);
		object = json_object();
		json_object_set_new(object, "emitter",
				    json_field(dest->emitter, sizeof(dest->emitter)));
		json_object_set_new(object, "path",
				    path[0] != '\0' ? json_field(path, CTRACE_EMITTER_PATH_SIZE)
						    : json_null());
		json_object_set_new(object, "active", json_boolean(dest->active));
		json_object_set_new(object, "delivered", json_integer((json_int_t)slot->delivered));
		json_object_set_new(object, "lost",
				    json_integer((json_int_t)ct_list_lost_to(dest)));
		ct_list_json_failure(object, &failure);
		json_object_set_new(object, "failures", json_integer((json_int_t)dest->failures));
		json_array_append_new(destinations, object);
	}
	return destinations;
}

static json_t *json_counters(const struct list_counters *counters)
{
	json_t *reasons = json_object();
	json_t *object = json_object();

	for (unsigned i = 0; i < CTRACE_LOSS_COUNT; i++)
		json_object_set_new(reasons, ctrace_loss_name((enum ctrace_loss)i),
				    json_integer((json_int_t)counters->lost[i]));
	json_object_set_new(reasons, "no-room", json_integer((json_int_t)counters->no_room));
	json_object_set_new(object, "delivered", json_integer((json_int_t)counters->delivered));
	json_object_set_new(object, "lost", json_integer((json_int_t)counters->lost_total));
	json_object_set_new(object, "lost_by_reason", reasons);
	json_object_set_new(object, "pending", json_integer((json_int_t)counters->pending));
	json_object_set_new(object, "in_storage", json_integer((json_int_t)counters->in_storage));
	json_object_set_new(object, "overwritten_in_storage",
			    json_integer((json_int_t)counters->wrapped));
	json_object_set_new(object, "pending_bytes",
			    json_integer((json_int_t)counters->pending_bytes));
	json_object_set_new(object, "ring_count", json_integer((json_int_t)counters->rings));
	json_object_set_new(object, "private_ring_count",
			    json_integer((json_int_t)counters->hidden));
	return object;
}

json_t *ct_list_json_config(const struct ct_session *session)
{
	const struct ct_session_config *config = &session->head->config;
	size_t size;
	const char *path = ct_session_text(session, config->path, &size);
	char unread[CT_CONFIG_UNREAD];
	json_t *object;

	if (size == 0)
		return json_null();
	object = json_object();
	json_object_set_new(object, "path", ct_json_text(path, size));
	json_object_set_new(object, "read", json_boolean(config->error == 0));
	json_object_set_new(object, "error",
			    config->error != 0
				    ? json_string(ct_config_unread((int)config->error, unread))
				    : json_null());
	json_object_set_new(object, "errors", json_integer(config->diagnostics));
	json_object_set_new(object, "first_error",
			    config->diagnostics != 0 ? json_integer(config->first_diagnostic)
						     : json_null());
	json_object_set_new(object, "other_program_line",
			    config->stopped_at != 0 ? json_integer(config->stopped_at)
						    : json_null());
	return object;
}

static void add_process(json_t *object, const struct list_process *process)
{
	const struct ct_session_head *head = process->session.head;
	char clock[CT_CLOCK_TEXT];

	json_object_set_new(object, "pid", json_integer((json_int_t)head->pid));
	json_object_set_new(object, "program", json_field(head->program, sizeof(head->program)));
	json_object_set_new(object, "state", json_string(ct_list_state(process->entry)));
	json_object_set_new(object, "dormant",
			    json_boolean(process->session.head->is_dormant == CT_DORMANT));
	json_object_set_new(object, "start_ns", json_integer((json_int_t)head->start_ns));
	json_object_set_new(object, "uid", json_integer((json_int_t)process->entry->uid));
	json_object_set_new(object, "job", json_field(head->jobname, sizeof(head->jobname)));
	json_object_set_new(object, "asid", ct_json_asid(head->asid));
	json_object_set_new(object, "directory",
			    json_field(process->session.path, sizeof(process->session.path)));
	json_object_set_new(object, "configuration", ct_list_json_config(&process->session));
	ct_list_clock_print(&process->session, clock);
	json_object_set_new(object, "clock", json_string(clock));
	json_object_set_new(object, "components", json_components(process));
	json_object_set_new(object, "destinations", json_destinations(&process->session));
	json_object_set_new(object, "counters", json_counters(&process->counters));
}

json_t *ct_list_json(const struct list_process *process)
{
	json_t *object = json_object();

	add_process(object, process);
	return object;
}

bool ct_list_print_json(const struct list_process *process)
{
	json_t *document = ct_json_document();

	add_process(document, process);
	return ct_json_print(document, stdout);
}
