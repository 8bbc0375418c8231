/*
 * config_settings.c - the settings that a configuration comes to, in the file's own grammar, so
 * that they can be read back.
 *
 * Names and values are somebody's: they are escaped.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/config_check.h"

#include <string.h>

struct sink {
	config_setting *each;
	void *user;
	struct ct_buf key;
	struct ct_buf value;
};

/* ---- one setting: its key is begun, its value added, and it is given on ---- */

static void add_text(struct ct_buf *out, const char *text, size_t size)
{
	size_t i = 0;

	while (i < size && text[i] >= 0x20 && text[i] < 0x7F)
		i++;
	if (i < size)
		ct_escape_add(out, text, size);
	else
		ct_buf_add(out, text, size);
}

static void setting_begin(struct sink *sink, const char *key, const char *owner)
{
	ct_buf_clear(&sink->key);
	ct_buf_clear(&sink->value);
	ct_buf_add_text(&sink->key, key);
	if (owner == NULL)
		return;
	ct_buf_add_char(&sink->key, '.');
	add_text(&sink->key, owner, strlen(owner));
}

static void setting_end(struct sink *sink)
{
	sink->each(ct_buf_text(&sink->key), ct_buf_text(&sink->value), sink->user);
}

static void setting_emit(struct sink *sink, const char *key, const char *owner, const char *value)
{
	setting_begin(sink, key, owner);
	ct_buf_add_text(&sink->value, value);
	setting_end(sink);
}

static void setting_emit_size(struct sink *sink, const char *key, const char *owner, uint64_t size)
{
	bool is_mega = size % (1u << 20) == 0;

	setting_begin(sink, key, owner);
	ct_buf_add_format(&sink->value, "%llu%c", (unsigned long long)(size >> (is_mega ? 20 : 10)),
			  is_mega ? 'M' : 'K');
	setting_end(sink);
}

static void setting_emit_dests(struct sink *sink, const char *owner, uint32_t mask,
			       bool in_parentheses)
{
	setting_begin(sink, "mftrace.dest", owner);
	ct_buf_add_text(&sink->value, in_parentheses ? "(" : "");
	for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
		ct_buf_add_format(&sink->value, "%s%s", rest == mask ? "" : ", ",
				  ct_emitter_at((uint32_t)__builtin_ctz(rest))->name);
	ct_buf_add_text(&sink->value, in_parentheses ? ")" : "");
	setting_end(sink);
}

struct property_owner {
	struct sink *sink;
	const char *key;
	const char *name;
};

static void setting_emit_property(const char *name, size_t name_size, const char *value,
				  size_t value_size, void *user)
{
	const struct property_owner *owner = user;

	setting_begin(owner->sink, owner->key, owner->name);
	ct_buf_add_char(&owner->sink->key, '#');
	add_text(&owner->sink->key, name, name_size);
	ct_property_shown(&owner->sink->value, (struct ct_span){ name, name_size },
			  (struct ct_span){ value, value_size });
	setting_end(owner->sink);
}

/* ---- words ---- */

static const char *overflow_name(uint32_t overflow)
{
	static const char *const names[] = { "auto", "block", "discard", "overwrite" };

	return names[overflow < CT_COUNT(names) ? overflow : 0];
}

static const char *clock_name(uint32_t clock)
{
	static const char *const names[] = { "auto", "counter", "monotonic" };

	return names[clock < CT_COUNT(names) ? clock : 0];
}

static const char *trigger_name(uint32_t trigger)
{
	if (trigger == CT_TRIGGER_NONE)
		return "off";
	return trigger == CT_TRIGGER_SIGNAL ? "signal" : ct_level_name(trigger);
}

/* ---- all of them ---- */

static void dump_emit(struct sink *sink, const struct ct_settings *settings)
{
	static const char *const words[] = { "fatal-signal", "abort", "exit-status",
					     "cobol-error" };
	const char *before = "";

	if (settings->dump_directory_size != 0) {
		setting_begin(sink, "ctrace.dump.directory", NULL);
		add_text(&sink->value, settings->dump_directory, settings->dump_directory_size);
		setting_end(sink);
	}
	setting_begin(sink, "ctrace.dump.keep", NULL);
	ct_buf_add_format(&sink->value, "%u", settings->dump_keep);
	setting_end(sink);
	setting_emit_size(sink, "ctrace.dump.size", NULL, settings->dump_size);
	setting_begin(sink, "ctrace.dump.on", NULL);
	for (size_t i = 0; i < CT_COUNT(words); i++)
		if ((settings->dump_on & 1u << i) != 0) {
			ct_buf_add_format(&sink->value, "%s%s", before, words[i]);
			before = ", ";
		}
	if (settings->dump_on == 0)
		ct_buf_add_text(&sink->value, "off");
	setting_end(sink);
}

static void operators_emit(struct sink *sink, const struct ct_settings *settings)
{
	if (settings->operators.gid != 0)
		setting_emit(sink, "ctrace.operators", NULL, settings->operators.name);
	if (settings->displayers.gid != 0)
		setting_emit(sink, "ctrace.operators.display", NULL, settings->displayers.name);
}

/* In the largest unit that needs no fraction. */
static void keep_emit(struct sink *sink, uint64_t ns)
{
	uint64_t seconds = ns / 1000000000u;
	uint64_t unit = seconds % 86400 == 0 ? 86400 : seconds % 3600 == 0 ? 3600 : 1;

	setting_begin(sink, "ctrace.keep", NULL);
	ct_buf_add_format(&sink->value, "%llu%c", (unsigned long long)(seconds / unit),
			  unit == 86400  ? 'd'
			  : unit == 3600 ? 'h'
					 : 's');
	setting_end(sink);
}

static void triggers_emit(struct sink *sink, const struct ct_settings *settings)
{
	setting_emit(sink, "ctrace.run.programs", NULL, settings->runs_programs ? "on" : "off");
	for (uint32_t i = 0; i < settings->triggers.count; i++) {
		setting_begin(sink, "ctrace.trigger", settings->triggers.entry[i].name);
		if (settings->triggers.entry[i].is_disabled)
			ct_buf_add_text(&sink->value, "disabled ");
		add_text(&sink->value, settings->triggers.entry[i].text,
			 strlen(settings->triggers.entry[i].text));
		setting_end(sink);
	}
}

static void process_emit(struct sink *sink, const struct ct_target *target)
{
	const struct ct_settings *settings = target->settings;

	setting_emit(sink, "mftrace.level", NULL,
		     ct_level_name(ct_level_default(target->registry)));
	setting_emit_dests(sink, NULL, ct_dest_default(target->registry), false);
	setting_emit_size(sink, "ctrace.buffer", NULL, settings->buffer);
	setting_emit(sink, "ctrace.overflow", NULL, overflow_name(settings->overflow));
	setting_begin(sink, "ctrace.block.timeout", NULL);
	ct_buf_add_format(&sink->value, "%llu ms",
			  (unsigned long long)(settings->block_timeout_ns / 1000000u));
	setting_end(sink);
	setting_emit(sink, "ctrace.flight.trigger", NULL, trigger_name(settings->flight_trigger));
	setting_emit_size(sink, "ctrace.flight.buffer", NULL, settings->flight_buffer);
	setting_emit(sink, "ctrace.attach", NULL, settings->attach ? "on" : "off");
	setting_emit(sink, "ctrace.clock", NULL, clock_name(settings->clock));
	setting_emit(sink, "ctrace.command.line", NULL, settings->command_line ? "on" : "off");
	keep_emit(sink, settings->keep_ns);
	if (settings->log_size != 0) {
		setting_begin(sink, "ctrace.log", NULL);
		add_text(&sink->value, settings->log, settings->log_size);
		setting_end(sink);
	}
	operators_emit(sink, settings);
	triggers_emit(sink, settings);
	dump_emit(sink, settings);
	if (settings->run_directory[0] == '\0')
		return;
	setting_begin(sink, "ctrace.run.directory", NULL);
	add_text(&sink->value, settings->run_directory, strlen(settings->run_directory));
	setting_end(sink);
}

static void component_emit(struct sink *sink, struct ct_registry *registry, uint32_t index)
{
	struct ct_configured own = ct_registry_configured(registry, index);
	const char *name = ct_registry_name(registry, index);
	struct property_owner owner = { sink, "mftrace.comp", name };

	if (own.level != CT_LEVEL_UNSET)
		setting_emit(sink, "mftrace.level", name, ct_level_name(own.level));
	if (own.dests != 0)
		setting_emit_dests(sink, name, ct_registry_entry(registry, index)->dests, true);
	if (own.buffer != 0)
		setting_emit_size(sink, "ctrace.buffer", name, own.buffer);
	if (own.overflow != CT_OVERFLOW_UNSET)
		setting_emit(sink, "ctrace.overflow", name, overflow_name(own.overflow));
	if (own.flight_level != CT_LEVEL_UNSET)
		setting_emit(sink, "ctrace.flight.level", name, ct_level_name(own.flight_level));
	ct_component_property_each(registry, index, setting_emit_property, &owner);
}

void ct_config_each_setting(const struct ct_target *target, config_setting *each, void *user)
{
	struct sink sink = { .each = each, .user = user };
	const struct ctrace_emitter *emitter;

	ct_buf_init(&sink.key);
	ct_buf_init(&sink.value);
	process_emit(&sink, target);
	for (uint32_t i = 0; i < ct_registry_count(target->registry); i++)
		component_emit(&sink, target->registry, i);
	for (uint32_t i = 0; (emitter = ct_emitter_at(i)) != NULL; i++) {
		struct property_owner owner = { &sink, "mftrace.emitter", emitter->name };

		ct_emitter_property_each(target->registry, i, setting_emit_property, &owner);
	}
	ct_buf_fini(&sink.key);
	ct_buf_fini(&sink.value);
}
