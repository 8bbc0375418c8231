/*
 * reload.c - the configuration file is read again: its new content replaces the old.
 *
 * Runs on the control thread, under no lock.  The file is read into a registry of its own, in
 * memory that only this thread knows; nothing of the process has changed then, whatever is wrong
 * with it.  With the consumer held still that registry's settings become the process's in one go
 * (lib/registry/reconfigure.c).  Settings by component trace stay, and changes are reported to the
 * program.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/start.h"
#include "lib/dump/crash.h"

#include "lib/watch/watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PATH_SHOWN 90u /* bytes of the path that a message has room for, twice */

/* The settings of the file. */
struct reading {
	struct ct_session session;
	struct ct_registry *registry;
	struct ct_settings settings;
	struct ct_target target;
	struct ct_setup_result result;
};

/* Remarks for the message once the configuration is in force. */
struct remarks {
	bool attach, run_directory, clock, command_line, buffer,
		flight_buffer; /* set to something else */
};

/* ---- the file ---- */

/* Shows the end of a long path, which is more useful than its beginning. */
static const char *shown(const char *path)
{
	size_t size = strlen(path);

	return size <= PATH_SHOWN ? path : path + size - PATH_SHOWN;
}

static void print_unread(const char *path, enum ctrace_status status, int error, char message[256])
{
	char text[CT_CONFIG_UNREAD];
	const char *why = error != 0 ? ct_config_unread(error, text) : ctrace_status_text(status);

	(void)snprintf(message, 256, "%.90s cannot be read: %.100s; nothing was changed",
		       shown(path), why);
}

/* ---- into a registry of its own ---- */

static enum ctrace_status reading_init(struct reading *reading)
{
	enum ctrace_status status;

	memset(reading, 0, sizeof *reading);
	status = ct_session_create(&reading->session, NULL);
	if (status != CTRACE_OK)
		return status;
	status = ct_registry_create(&reading->session, &reading->registry);
	if (status != CTRACE_OK) {
		ct_session_close(&reading->session, false);
		return status;
	}
	ct_settings_init(&reading->settings);
	reading->target =
		(struct ct_target){ .registry = reading->registry, .settings = &reading->settings };
	return CTRACE_OK;
}

static void reading_fini(struct reading *reading)
{
	ct_registry_destroy(reading->registry);
	ct_session_close(&reading->session, false);
}

/* ---- component trace ---- */

/* Bytes of the rings that a trace has been given. */
static uint64_t granted_to(const struct ct_trace *trace)
{
	if (trace->follows)
		return 0;
	return ct_status_granted(trace->status != NULL ? trace->status->buffer_rounded
						       : ct_trace_attributes(trace)->bufdflt);
}

/* Is the trace on only because the configuration had it on at DEFINE, and no command came since? */
static bool is_untouched(const struct ct_trace *trace, const struct ct_configured *now)
{
	const struct ct_status *status = trace->status;

	return trace->transaction == NULL && !trace->follows && now->level < CTRACE_LEVEL_COUNT &&
	       now->level == trace->level_before && status != NULL &&
	       status->mode == CTRACE_MODE_ON && status->options[0] == '\0' &&
	       status->asid_count == 0 && status->jobname_count == 0;
}

/* A trace that is defined, or being defined, keeps the settings from commands.  Under the table's
 * lock. */
static void keep_trace(uint32_t component, const struct ct_configured *now,
		       struct ct_configured *next, void *user)
{
	const struct ct_trace *trace = ct_table_find(component);

	(void)user;
	if (trace == NULL || (!trace->is_defined && trace->transaction == NULL))
		return;
	if (next->level == CT_LEVEL_UNSET || !is_untouched(trace, now))
		next->level = now->level;
	if (granted_to(trace) != 0)
		next->buffer = now->buffer;
}

/* Notes the settings to restore when the trace is deleted. */
static void note_before(struct ct_trace *trace, void *user)
{
	struct reading *reading = user;
	const char *name = ct_registry_name(ct_process.registry, trace->component);
	struct ct_configured configured = { .level = CT_LEVEL_UNSET };
	uint32_t index;

	if (ct_registry_find_any(reading->registry, name, strlen(name), &index) == CTRACE_OK)
		configured = ct_registry_configured(reading->registry, index);
	trace->level_before = configured.level;
	trace->buffer_before = configured.buffer;
}

static enum ctrace_status reading_apply(struct reading *reading,
					struct ct_reconfiguration **out_reconfiguration,
					uint32_t *out_reopen)
{
	enum ctrace_status status;

	ct_table_lock();
	status = ct_registry_reconfigure(ct_process.registry, reading->registry, keep_trace, NULL,
					 out_reconfiguration, out_reopen);
	if (status == CTRACE_OK)
		ct_table_each(note_before, reading);
	ct_table_unlock();
	return status;
}

/* ---- settings of the process ---- */

static struct remarks take_settings(const struct ct_settings *next)
{
	struct ct_settings *now = &ct_process.settings;
	const struct remarks remarks = {
		.attach = now->attach != next->attach,
		.clock = now->clock != next->clock,
		.command_line = now->command_line != next->command_line,
		.run_directory = strcmp(now->run_directory, next->run_directory) != 0,
		.buffer = now->buffer != next->buffer,
		.flight_buffer = now->flight_buffer != next->flight_buffer,
	};

	__atomic_store_n(&now->buffer, next->buffer, __ATOMIC_RELAXED);
	__atomic_store_n(&now->overflow, next->overflow, __ATOMIC_RELAXED);
	__atomic_store_n(&now->block_timeout_ns, next->block_timeout_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&now->flight_trigger, next->flight_trigger, __ATOMIC_RELAXED);
	__atomic_store_n(&now->flight_buffer, next->flight_buffer, __ATOMIC_RELAXED);
	__atomic_store_n(&now->keep_ns, next->keep_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&now->attach, next->attach, __ATOMIC_RELAXED);
	__atomic_store_n(&now->clock, next->clock, __ATOMIC_RELAXED);
	__atomic_store_n(&now->command_line, next->command_line, __ATOMIC_RELAXED);
	__atomic_store_n(&now->runs_programs, next->runs_programs, __ATOMIC_RELAXED);
	__atomic_store_n(&now->dump_keep, next->dump_keep, __ATOMIC_RELAXED);
	__atomic_store_n(&now->dump_size, next->dump_size, __ATOMIC_RELAXED);
	__atomic_store_n(&now->dump_on, next->dump_on, __ATOMIC_RELAXED);
	ct_registry_lock(ct_process.registry);
	memcpy(now->run_directory, next->run_directory, sizeof now->run_directory);
	memcpy(now->dump_directory, next->dump_directory, next->dump_directory_size);
	now->dump_directory_size = next->dump_directory_size;
	memcpy(now->log, next->log, next->log_size);
	now->log_size = next->log_size;
	now->operators = next->operators;
	now->displayers = next->displayers;
	now->triggers = next->triggers;
	ct_registry_unlock(ct_process.registry);
	ct_crash_follow(&ct_process);
	__atomic_store_n(&ct_process.session.head->flight_at_death,
			 next->flight_trigger == CT_TRIGGER_SIGNAL, __ATOMIC_RELAXED);
	return remarks;
}

/* ---- the answer ---- */

static void add_list(struct ct_buf *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ct_buf_add_text(text, i == 0 ? "; " : i + 1 < count ? ", " : " and ");
		ct_buf_add_text(text, words[i]);
	}
}

static void add_later(struct ct_buf *text, const struct remarks *remarks)
{
	const char *words[4];
	size_t count = 0;

	if (remarks->attach)
		words[count++] = "ctrace.attach";
	if (remarks->run_directory)
		words[count++] = "ctrace.run.directory";
	if (remarks->clock)
		words[count++] = "ctrace.clock";
	if (remarks->command_line)
		words[count++] = "ctrace.command.line";
	add_list(text, words, count);
	if (count > 0)
		ct_buf_add_text(text, count > 1 ? " hold from the next start on"
						: " holds from the next start on");
	count = 0;
	if (remarks->buffer)
		words[count++] = "ctrace.buffer";
	if (remarks->flight_buffer)
		words[count++] = "ctrace.flight.buffer";
	add_list(text, words, count);
	if (count > 0)
		ct_buf_add_text(text, count > 1 ? " hold for rings made from now on"
						: " holds for rings made from now on");
}

static void print_done(const struct reading *reading, const char *path,
		       const struct remarks *remarks, char message[256])
{
	struct ct_buf text;

	ct_buf_init(&text);
	ct_buf_add_format(&text, "%s is in force", shown(path));
	if (reading->result.stopped_at != 0)
		ct_buf_add_format(
			&text,
			", and says nothing of this program: mftrace.application in line %u is another's",
			reading->result.stopped_at);
	add_later(&text, remarks);
	if (reading->result.diagnostics != 0)
		ct_buf_add_format(&text,
				  "; %u line%s not understood, %s %u: ctrace config check %s",
				  reading->result.diagnostics,
				  reading->result.diagnostics == 1 ? " was" : "s were",
				  reading->result.diagnostics == 1 ? "line" : "the first is line",
				  reading->result.first_diagnostic, shown(path));
	(void)snprintf(message, 256, "%s", ct_buf_text(&text));
	ct_buf_fini(&text);
}

/* ---- */

static enum ctrace_status put_in_force(struct reading *reading, const struct ct_target *target,
				       struct remarks *out_remarks)
{
	struct ct_reconfiguration *reconfiguration;
	enum ctrace_status status;
	uint32_t reopen = 0;

	target->hold(target->user);
	status = reading_apply(reading, &reconfiguration, &reopen);
	if (status == CTRACE_OK)
		*out_remarks = take_settings(&reading->settings);
	target->release(target->user, status == CTRACE_OK ? reopen : 0);
	if (status == CTRACE_OK)
		ct_reconfiguration_report(reconfiguration, target->changed, target->changed_user);
	return status;
}

/* The triggers in the run directory of this process. */
static void apply_kept(const struct ct_target *target)
{
	char path[sizeof ct_process.session.path];
	char *end;

	memcpy(path, ct_process.session.path, sizeof path);
	end = strrchr(path, '/');
	if (end != NULL)
		*end = '\0';
	ct_setup_apply_kept(path, target);
}

static enum ctrace_status apply_text(const struct ct_buf *text, const char *path,
				     const struct ct_target *target, unsigned *out_diagnostics,
				     char message[256])
{
	struct remarks remarks;
	struct reading reading;
	enum ctrace_status status = reading_init(&reading);

	if (status == CTRACE_OK) {
		ct_setup_apply_text(text, NULL, &reading.target, &reading.result);
		ct_setup_override(&reading.settings);
		apply_kept(&reading.target);
		status = put_in_force(&reading, target, &remarks);
		if (status == CTRACE_OK) {
			ct_trigger_update();
			ct_operate_share();
			print_done(&reading, path, &remarks, message);
			ct_setup_publish(&ct_process.session, path, &reading.result,
					 &reading.settings);
		}
		*out_diagnostics = reading.result.diagnostics;
		reading_fini(&reading);
	}
	if (status != CTRACE_OK)
		(void)snprintf(message, 256, "nothing was changed: %s", ctrace_status_text(status));
	return status;
}

enum ctrace_status ct_reload(const char *path, unsigned *out_diagnostics, char message[256])
{
	const struct ct_target *target = ct_thread_locked == 0 ? ct_target_self() : NULL;
	char file[CT_SETUP_PATH_SIZE];
	enum ctrace_status status;
	struct ct_buf text;

	*out_diagnostics = 0;
	if (target == NULL) {
		(void)snprintf(message, 256, "nothing was changed: this process is not traced");
		return CTRACE_NOT_ENOUGH_MEMORY;
	}
	if (!ct_setup_find_path(&ct_process.session, path, file)) {
		(void)snprintf(
			message, 256,
			"nothing was changed: the program's environment has no MFTRACE_CONFIG; name a file");
		return CTRACE_NOT_FOUND;
	}
	ct_buf_init(&text);
	errno = 0;
	status = ct_setup_read_file(file, &text);
	if (status == CTRACE_OK)
		status = apply_text(&text, file, target, out_diagnostics, message);
	else
		print_unread(file, status, errno, message);
	ct_buf_fini(&text);
	return status;
}

/* Levels first: an event that is traced while the destinations change would go to the default
 * one. */
static void levels_off(const struct ct_target *target)
{
	for (uint32_t i = 0; i < ct_registry_count(target->registry); i++) {
		const char *name = ct_registry_name(target->registry, i);

		(void)!ct_level_set(target->registry, name, strlen(name), CTRACE_LEVEL_NONE,
				    target->changed, target->changed_user);
	}
}

void ct_reload_empty(void)
{
	const struct ct_target *target = ct_target_self();
	char message[256];
	unsigned diagnostics;
	struct ct_buf text;

	if (target == NULL)
		return;
	ct_buf_init(&text);
	levels_off(target);
	(void)!apply_text(&text, "", target, &diagnostics, message);
	ct_buf_fini(&text);
}
