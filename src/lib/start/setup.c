/*
 * setup.c - the configuration file and the environment, as a process attaches.
 *
 * The modules that the file names are loaded first, under no lock; then the file is applied once,
 * under the attach lock.  A reload uses parts of it on the control thread.  Errors in the file
 * change nothing and stop nothing; `ctrace config check` names them.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "lib/start/start.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONFIG_LIMIT ((size_t)4 << 20)
#define COMMAND_LINE_LIMIT ((size_t)8 << 20) /* of which only one word counts */

static void find_self(struct ct_setup_self *self)
{
	struct ct_buf line;
	ssize_t size = readlink("/proc/self/exe", self->path, sizeof self->path - 1);
	const char *slash;

	self->path[size > 0 ? size : 0] = '\0';
	slash = strrchr(self->path, '/');
	self->program.path = self->path;
	self->program.name = slash != NULL ? slash + 1 : program_invocation_short_name;
	self->program.first_argument = NULL;
	ct_buf_init(&line);
	if (ct_os_read_file("/proc/self/cmdline", COMMAND_LINE_LIMIT, &line) == CTRACE_OK) {
		size_t first = strnlen(ct_buf_text(&line), line.size) + 1;
		const char *argument = first < line.size ? ct_config_triggered(self->program.name,
									       line.data + first,
									       line.size - first)
							 : NULL;

		if (argument != NULL) {
			(void)snprintf(self->words, sizeof self->words, "%s", argument);
			self->program.first_argument = self->words;
		}
	}
	ct_buf_fini(&line);
}

static const char *config_path(void)
{
	return ct_os_environment("MFTRACE_CONFIG");
}

bool ct_setup_leaves_losses(void)
{
	return ct_os_environment("CTRACE_LEAVE_DIRECTORY") != NULL;
}

enum ctrace_status ct_setup_read_file(const char *path, struct ct_buf *out_text)
{
	return ct_os_read_file(path, CONFIG_LIMIT, out_text);
}

/* Reads the file in MFTRACE_CONFIG, if set.  The text is parsed three times, but the file is opened
 * once. */
static void file_read(struct ct_setup_file *file)
{
	const char *path = config_path();

	if (path == NULL)
		return;
	errno = 0;
	file->status = ct_setup_read_file(path, &file->text);
	file->error = file->status == CTRACE_OK ? 0 : errno != 0 ? errno : EIO;
	file->is_read = file->status == CTRACE_OK;
	/* A program of another user in a `ctrace run` is untraced. */
	if (file->error == EACCES)
		ct_file_run_report(path, CT_FILE_RUN_UNREAD);
	if (file->is_read)
		find_self(&file->self);
}

void ct_setup_file_init(struct ct_setup_file *file)
{
	file->status = CTRACE_OK;
	file->error = 0;
	file->is_read = false;
	ct_buf_init(&file->text);
}

void ct_setup_file_fini(struct ct_setup_file *file)
{
	ct_buf_fini(&file->text);
}

static void file_go_through(const struct ct_setup_file *file, const struct ct_config_reader *reader)
{
	unsigned stopped_at;

	if (file->is_read)
		ct_config_read(file->text.data, file->text.size, &file->self.program, reader,
			       &stopped_at);
}

bool ct_setup_find_path(const struct ct_session *session, const char *asked,
			char out_path[CT_SETUP_PATH_SIZE])
{
	const char *path = asked[0] != '\0' ? asked : config_path();
	const char *directory = "";
	size_t size = 0;
	int printed;

	if (path == NULL)
		return false;
	if (path[0] != '/')
		directory = ct_session_text(session, session->head->working_directory, &size);
	printed = snprintf(out_path, CT_SETUP_PATH_SIZE, "%s%s%s", directory, size != 0 ? "/" : "",
			   path);
	return printed > 0 && (unsigned)printed < CT_SETUP_PATH_SIZE;
}

void ct_setup_publish(struct ct_session *session, const char *path,
		      const struct ct_setup_result *result, const struct ct_settings *settings)
{
	struct ct_session_config *config = &session->head->config;
	ct_text text = config->path;
	size_t size = 0;

	/* A session never gives a text back: the same path again is no new one. */
	if (path[0] != '\0' &&
	    (text == 0 || strcmp(ct_session_text(session, text, &size), path) != 0) &&
	    ct_session_add_text(session, path, strlen(path), &text) != CTRACE_OK)
		text = 0;
	__atomic_store_n(&config->error, (uint32_t)result->error, __ATOMIC_RELAXED);
	__atomic_store_n(&config->diagnostics, result->diagnostics, __ATOMIC_RELAXED);
	__atomic_store_n(&config->first_diagnostic, result->first_diagnostic, __ATOMIC_RELAXED);
	__atomic_store_n(&config->stopped_at, result->stopped_at, __ATOMIC_RELAXED);
	__atomic_store_n(&config->keep_ns, settings->keep_ns, __ATOMIC_RELAXED);
	/* Release: who sees the path finds the text. */
	__atomic_store_n(&config->path, text, __ATOMIC_RELEASE);
}

/* ---- before everything: what the file needs of the loader ---- */

static __thread bool is_loading __attribute__((tls_model("initial-exec")));

static void load_for_command(const struct ct_command *command, unsigned line, void *user)
{
	(void)line;
	(void)user;
	ct_apply_load(command);
}

/*
 * No lock is held: the loader runs the constructors of a library under a lock of its own, and such
 * a constructor may be waiting for ours.  Signals are blocked, because a handler that left by a
 * jump would leave the loader's lock behind.
 */
bool ct_setup_load_modules(struct ct_setup_file *file)
{
	struct ct_config_reader reader = { .command = load_for_command };
	sigset_t all, mask;
	int cancel_state;

	if (is_loading)
		return false;
	if (config_path() == NULL)
		return true;
	cancel_state = ct_cancel_off();
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	is_loading = true;
	file_read(file);
	file_go_through(file, &reader);
	is_loading = false;
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	ct_cancel_restore(&cancel_state);
	return true;
}

/* ---- first reading: what is needed before there is a session ---- */

static void note_setting(const struct ct_command *command, unsigned line, void *user)
{
	struct ct_settings *settings = user;

	(void)line;
	if (command->verb == CT_VERB_ATTACH)
		settings->attach = command->number != 0;
	if (command->verb == CT_VERB_CLOCK)
		settings->clock = (uint32_t)command->number;
	if (command->verb == CT_VERB_COMMAND_LINE)
		settings->command_line = command->number != 0;
	if (command->verb == CT_VERB_RUN_DIRECTORY)
		(void)snprintf(settings->run_directory, sizeof settings->run_directory, "%.*s",
			       (int)command->value.size, command->value.at);
}

static void reset_settings(void *user)
{
	ct_settings_init(user);
}

void ct_setup_override(struct ct_settings *settings)
{
	const char *attach = ct_os_environment("CTRACE_ATTACH");

	if (attach != NULL)
		settings->attach = ct_value_number(attach, strlen(attach)) != 0;
}

void ct_setup_read_settings(const struct ct_setup_file *file, struct ct_settings *settings)
{
	struct ct_config_reader reader = { .command = note_setting,
					   .reset = reset_settings,
					   .user = settings };

	ct_settings_init(settings);
	file_go_through(file, &reader);
	ct_setup_override(settings);
}

/* ---- second reading: everything ---- */

struct applying {
	const struct ct_target *target;
	struct ct_setup_result *result;
};

static void note_diagnostic(struct ct_setup_result *result, unsigned line)
{
	if (result->diagnostics++ == 0)
		result->first_diagnostic = line;
}

static void apply_command(const struct ct_command *command, unsigned line, void *user)
{
	const struct applying *applying = user;
	enum ctrace_status status = ct_apply(applying->target, command);

	/* What cannot be applied (an unknown emitter, a trigger too many) changes nothing. Triggers
	 * take no memory of their own. */
	applying->result->lacks_memory |=
		status == CTRACE_NOT_ENOUGH_MEMORY && command->verb != CT_VERB_TRIGGER;
	if (status != CTRACE_OK)
		note_diagnostic(applying->result, line);
}

static void count_diagnostic(const struct ct_diagnostic *diagnostic, void *user)
{
	note_diagnostic(((const struct applying *)user)->result, diagnostic->line);
}

/* Resets everything to the state without a file. */
static void configuration_reset(void *user)
{
	const struct applying *applying = user;

	ct_registry_reset_configuration(applying->target->registry);
	ct_settings_init(applying->target->settings);
	*applying->result = (struct ct_setup_result){ 0 };
}

void ct_setup_apply_text(const struct ct_buf *text, const struct ct_program *program,
			 const struct ct_target *target, struct ct_setup_result *result)
{
	struct applying applying = { target, result };
	const struct ct_config_reader reader = { .command = apply_command,
						 .diagnose = count_diagnostic,
						 .reset = configuration_reset,
						 .user = &applying };
	struct ct_setup_self self;
	unsigned stopped_at = 0;

	if (program == NULL) {
		find_self(&self);
		program = &self.program;
	}
	ct_config_read(text->data, text->size, program, &reader, &stopped_at);
	result->stopped_at = stopped_at;
}

enum ctrace_status ct_setup_apply_configuration(const struct ct_setup_file *file,
						const struct ct_target *target,
						struct ct_session *session)
{
	struct ct_setup_result result = { 0 };
	char path[CT_SETUP_PATH_SIZE];

	if (file->is_read)
		ct_setup_apply_text(&file->text, &file->self.program, target, &result);
	if (file->status == CTRACE_NOT_ENOUGH_MEMORY || result.lacks_memory)
		return CTRACE_NOT_ENOUGH_MEMORY;
	result.error = file->error;
	if (!ct_setup_find_path(session, "", path))
		path[0] = '\0';
	ct_setup_publish(session, path, &result, target->settings);
	return CTRACE_OK;
}

/* ---- triggers that operators keep ---- */

static void apply_kept(const struct ct_command *command, unsigned line, void *user)
{
	(void)line;
	if (command->verb == CT_VERB_TRIGGER)
		(void)!ct_apply(user, command);
}

void ct_setup_apply_kept(const char *run_directory, const struct ct_target *target)
{
	const struct ct_config_reader reader = { .command = apply_kept,
						 .user = (void *)(uintptr_t)target };
	static const char file[] = "/" CT_SETUP_KEPT;
	size_t size = strlen(run_directory);
	char path[4096 + sizeof file];
	struct ct_buf text;

	/* Mostly there is no such file.  Each start of a process pays for this: one system call,
	 * and no printf(). */
	if (size == 0 || size > sizeof path - sizeof file)
		return;
	memcpy(path, run_directory, size);
	memcpy(path + size, file, sizeof file);
	if (access(path, F_OK) != 0)
		return;
	ct_buf_init(&text);
	if (ct_os_read_trusted(run_directory, CT_SETUP_KEPT, CT_OS_OWN, CT_SETUP_KEPT_LIMIT,
			       &text) == CTRACE_OK)
		ct_config_read(text.data, text.size, NULL, &reader, NULL);
	ct_buf_fini(&text);
}
