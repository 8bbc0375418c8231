/*
 * cmd_config.c - `ctrace config check [FILE]`: checks a configuration file, and prints the settings
 * that result.
 *
 * Errors go to stderr, one line each, in the order of the file.  The settings in force go to stdout
 * in the file's own grammar, so that they can be read back.  The check uses a registry of its own,
 * in memory; traced processes are not affected.
 *
 * Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
 */
#include "tools/cmd.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/allocate.h"
#include "lib/control/trigger.h"
#include "tools/config_check.h"
#include "print/json_text.h"

#define FILE_LIMIT ((size_t)64 << 20)

/* Where a line set an emitter's property that names a path; line 0: none did. */
struct place {
	unsigned line;
	unsigned column;
};

struct diagnostic {
	struct place place;
	bool is_note;
	char *message;
	char *expected; /* "": a note */
};

struct check {
	const char *path;
	bool is_json;
	struct ct_buf text;
	struct ct_session session;
	struct ct_settings settings;
	struct ct_target target;
	struct diagnostic *found;
	size_t count;
	unsigned diagnostics;
	bool failed; /* memory is short */
	struct place file[CT_EMITTER_LIMIT];
	struct place location[CT_EMITTER_LIMIT];
	struct place nats; /* the first destination that is NATS; line 0: none */
};

/* ---- what is found ---- */

static unsigned check_column(const struct check *check, const char *at)
{
	const char *start = at;

	while (start > check->text.data && start[-1] != '\n')
		start--;
	return (unsigned)(at - start) + 1;
}

/* expected NULL: the finding is a note, not an error. */
static void check_find(struct check *check, struct place place, const char *message,
		       const char *expected)
{
	struct diagnostic *found = check->found;

	if ((check->count & (check->count + 1)) == 0) /* 0, 1, 3, 7...: full */
		found = reallocarray(found, check->count * 2 + 1, sizeof *found);
	if (found == NULL) {
		check->failed = true;
		return;
	}
	check->found = found;
	check->diagnostics += expected != NULL;
	found = &found[check->count++];
	*found = (struct diagnostic){ place, expected == NULL, strdup(message),
				      strdup(expected != NULL ? expected : "") };
	check->failed |= found->message == NULL || found->expected == NULL;
}

static void check_find_text(struct check *check, struct place place, struct ct_buf *message,
			    const char *expected)
{
	check_find(check, place, ct_buf_text(message), expected);
	ct_buf_fini(message);
}

static int finding_compare(const void *a, const void *b)
{
	const struct diagnostic *one = a, *other = b;

	if (one->place.line != other->place.line)
		return one->place.line < other->place.line ? -1 : 1;
	return one->place.column < other->place.column ? -1
						       : one->place.column > other->place.column;
}

static void add_suggestion(struct ct_buf *message, const char *suggestion)
{
	if (suggestion != NULL)
		ct_buf_add_format(message, " (did you mean %s?)", suggestion);
}

/* ---- lines ---- */

static void check_take_diagnostic(const struct ct_diagnostic *diagnostic, void *user)
{
	check_find(user, (struct place){ diagnostic->line, diagnostic->column },
		   diagnostic->message, diagnostic->expected);
}

static void diagnose_emitter(struct check *check, struct ct_span name, unsigned line)
{
	const char *names[CT_EMITTER_LIMIT];
	const struct ctrace_emitter *emitter;
	struct ct_buf message, expected;
	size_t count = 0;

	ct_buf_init(&message);
	ct_buf_init(&expected);
	for (uint32_t i = 0; (emitter = ct_emitter_at(i)) != NULL; i++) {
		names[count++] = emitter->name;
		ct_buf_add_format(&expected, "%s, ", emitter->name);
	}
	ct_buf_add_text(
		&expected,
		"JOURNAL and OTLP where they are installed, or the name of a module on CTRACE_EMITTERS");
	ct_buf_add_text(&message, "unknown emitter ");
	ct_span_quote(&message, name, name.size);
	add_suggestion(&message, ct_suggest(name, names, count));
	check_find_text(check, (struct place){ line, check_column(check, name.at) }, &message,
			ct_buf_text(&expected));
	ct_buf_fini(&expected);
}

/* The emitters of a command that do not exist. */
static void diagnose_emitters(struct check *check, const struct ct_command *command, unsigned line)
{
	struct ct_span list = command->list;
	struct ct_span name = command->emitter;
	uint32_t index;

	if (list.at == NULL) {
		diagnose_emitter(check, name, line);
		return;
	}
	while (ct_config_next_word(&list, &name))
		if (ct_emitter_find(name.at, name.size, &index) != CTRACE_OK)
			diagnose_emitter(check, name, line);
}

/* An emitter may be given any property, so an unknown one is a note, not an error. */
static void note_unknown(struct check *check, const struct ctrace_emitter *emitter,
			 struct ct_span property, unsigned line)
{
	const char *names[64];
	struct ct_buf message;
	size_t count = 0;

	for (const struct ctrace_property *row = emitter->properties;
	     row != NULL && row->name != NULL && count < CT_COUNT(names); row++)
		names[count++] = row->name;
	ct_buf_init(&message);
	ct_buf_add_format(&message, "%s has no property ", emitter->name);
	ct_span_quote(&message, property, property.size);
	add_suggestion(&message, ct_suggest(property, names, count));
	check_find_text(check, (struct place){ line, check_column(check, property.at) }, &message,
			NULL);
}

static void note_odd(struct check *check, const struct ct_command *command,
		     const struct ct_diagnostic *odd, unsigned line)
{
	struct ct_buf message;

	ct_buf_init(&message);
	ct_buf_add_format(&message, "%s; %s", odd->message, odd->expected);
	check_find_text(
		check,
		(struct place){ line, check_column(check, command->value.at) + odd->column - 1 },
		&message, NULL);
}

static void note_property(struct check *check, const struct ct_command *command, unsigned line)
{
	const struct ctrace_emitter *emitter;
	const struct ctrace_property *row;
	struct ct_diagnostic odd;
	uint32_t index;

	if (ct_emitter_find(command->emitter.at, command->emitter.size, &index) != CTRACE_OK)
		return;
	emitter = ct_emitter_at(index);
	row = ct_emitter_property(emitter, command->property.at, command->property.size);
	if (row == NULL && (emitter->flags & CTRACE_EMITTER_SILENT) == 0)
		note_unknown(check, emitter, command->property, line);
	if (row == NULL)
		return;
	if (ct_config_check_property(command, &odd) == CT_PROPERTY_ODD)
		note_odd(check, command, &odd, line);
	if (row->kind == CTRACE_PROPERTY_COMPRESS &&
	    ct_name_is(command->value.at, command->value.size, "ZSTD") &&
	    !ct_bin_pack_is_possible())
		check_find(check, (struct place){ line, check_column(check, command->value.at) },
			   "the module zstd.so cannot be loaded here: nothing is compressed", NULL);
	if (row->kind == CTRACE_PROPERTY_FILE)
		check->file[index] = (struct place){ line, check_column(check, command->value.at) };
	if (row->kind == CTRACE_PROPERTY_DIRECTORY)
		check->location[index] =
			(struct place){ line, check_column(check, command->value.at) };
}

/* A component's property is text, which may be a long number.  Only a program that reads it as a
 * number gets a smaller one. */
static void note_number(struct check *check, const struct ct_command *command, unsigned line)
{
	static const struct ctrace_property as_number = { .kind = CTRACE_PROPERTY_NUMBER };
	struct ct_diagnostic diagnostic;

	if (ct_value_number(command->value.at, command->value.size) == UINT32_MAX &&
	    command->value.at[0] != '-' &&
	    ct_property_check(&as_number, command->value, &diagnostic) == CT_PROPERTY_WRONG)
		check_find(
			check, (struct place){ line, check_column(check, command->value.at) },
			"too large for a number of 32 bits: a program that asks for the number gets 4294967295",
			NULL);
}

static void note_application(struct check *check, const struct ct_command *command, unsigned line)
{
	struct ct_buf message;

	ct_buf_init(&message);
	ct_buf_add_text(&message, "programs other than ");
	ct_escape_add(&message, command->value.at, command->value.size);
	ct_buf_add_text(&message, " forget what stands above this line and leave out what follows");
	check_find_text(check, (struct place){ line, 1 }, &message, NULL);
}

/* Only its members, and root, give a directory to a group. */
static bool user_is_in(uint32_t gid)
{
	gid_t groups[NGROUPS_MAX];
	int count = getgroups(NGROUPS_MAX, groups);
	bool is = geteuid() == 0 || getegid() == gid;

	for (int i = 0; !is && i < count; i++)
		is = groups[i] == gid;
	return is;
}

static void note_group(struct check *check, const struct ct_command *command, unsigned line)
{
	struct ct_buf message;
	uint32_t gid = UINT32_MAX;
	bool is_known = ct_group_find(command->value, &gid);

	if (is_known && gid != 0 && user_is_in(gid))
		return;
	is_known = is_known && gid != 0;
	ct_buf_init(&message);
	ct_buf_add_text(&message, is_known   ? "you are not a member of the group "
				  : gid == 0 ? "no group of operators: "
					     : "no group of this machine: ");
	ct_span_quote(&message, command->value, command->value.size);
	if (is_known)
		ct_buf_add_text(&message,
				"; where the program's user is not either, no member is let in");
	check_find_text(
		check, (struct place){ line, check_column(check, command->value.at) }, &message,
		is_known ? NULL : "a group of /etc/group, not root's, or the number of one");
}

/* "off", "enable" or "disable" without a line before that sets the trigger. */
static void diagnose_no_trigger(struct check *check, const struct ct_command *command,
				unsigned line)
{
	struct ct_buf message;

	ct_buf_init(&message);
	ct_buf_add_text(&message, "no line before sets the trigger ");
	ct_span_quote(&message, command->component, command->component.size);
	check_find_text(check, (struct place){ line, check_column(check, command->component.at) },
			&message, "when FILTER do ACTION, in this line or one before");
}

/* A trigger in force that runs a program, which ctrace.run.programs does not allow. */
static void note_run(const struct ct_command *command, unsigned line, void *user)
{
	struct check *check = user;
	const struct ct_trigger_list *list = &check->settings.triggers;
	struct ct_trigger trigger;
	bool runs = false;

	if (command->verb != CT_VERB_TRIGGER || check->settings.runs_programs ||
	    ct_trigger_parse(command->value.at, command->value.size, &trigger, NULL) != CTRACE_OK)
		return;
	for (uint32_t i = 0; i < list->count; i++)
		if (ct_name_is(command->component.at, command->component.size,
			       list->entry[i].name) &&
		    strncmp(list->entry[i].text, command->value.at + trigger.begin,
			    command->value.size - trigger.begin) == 0)
			runs = ct_trigger_runs(&trigger);
	if (runs)
		check_find(check, (struct place){ line, check_column(check, command->value.at) },
			   "the trigger runs no program: ctrace.run.programs is off", NULL);
}

/* Notes where a line that is in force names the destination NATS. */
static void note_nats(struct check *check, const struct ct_command *command, unsigned line)
{
	struct ct_span list = command->list, name;

	while (check->nats.line == 0 && ct_config_next_word(&list, &name))
		if (ct_name_is(name.at, name.size, ct_emit_nats.name))
			check->nats = (struct place){ line, check_column(check, name.at) };
}

/* Called when all lines are read: the address may stand behind the destination. */
static void check_nats(struct check *check)
{
	struct ct_buf url;
	uint32_t index;

	if (check->nats.line == 0 ||
	    ct_emitter_find(ct_emit_nats.name, strlen(ct_emit_nats.name), &index) != CTRACE_OK)
		return;
	ct_buf_init(&url);
	if (ct_emitter_property_get(check->target.registry, index, "URL", 3, &url) != CTRACE_OK ||
	    url.size == 0)
		check_find(check, check->nats,
			   "NATS has no servers, and nothing is traced there: "
			   "mftrace.emitter.nats#url is not set",
			   "the servers, such as nats://host1:4222,host2:4222");
	ct_buf_fini(&url);
}

static void command_apply(const struct ct_command *command, unsigned line, void *user)
{
	struct check *check = user;
	enum ctrace_status status = ct_apply(&check->target, command);

	if (status == CTRACE_EMITTER_NOT_FOUND)
		diagnose_emitters(check, command, line);
	else if (command->verb == CT_VERB_OPERATORS || command->verb == CT_VERB_OPERATORS_DISPLAY)
		note_group(check, command, line);
	else if (command->verb == CT_VERB_TRIGGER && status == CTRACE_NOT_FOUND)
		diagnose_no_trigger(check, command, line);
	else if (command->verb == CT_VERB_TRIGGER && status == CTRACE_NOT_ENOUGH_MEMORY)
		check_find(check, (struct place){ line, 1 },
			   "one trigger too many, which has no effect",
			   "at most 16 triggers in a process");
	else if (status != CTRACE_OK)
		check_find(check, (struct place){ line, 1 }, "not applied",
			   ctrace_status_text(status));
	else if (command->verb == CT_VERB_EMITTER_PROPERTY)
		note_property(check, command, line);
	else if (command->verb == CT_VERB_COMPONENT_PROPERTY)
		note_number(check, command, line);
	else if (command->verb == CT_VERB_APPLICATION)
		note_application(check, command, line);
	else if (command->verb == CT_VERB_DEST_DEFAULT || command->verb == CT_VERB_DEST_ADD)
		note_nats(check, command, line);
}

/* The emitter's module knows which values are valid. */
static void emitter_load(const struct ct_command *command, unsigned line, void *user)
{
	uint32_t index;

	(void)line;
	(void)user;
	ct_apply_load(command);
	if (command->verb == CT_VERB_EMITTER_PROPERTY)
		(void)!ct_emitter_find(command->emitter.at, command->emitter.size, &index);
}

/* ---- directories ---- */

/* Nobody can make a file in a kernel file system, whatever the permissions. */
static bool directory_is_of_kernel(const char *directory)
{
	struct statfs system;

	return statfs(directory, &system) == 0 &&
	       (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC);
}

/* Returns true if the path's nearest existing directory, or the path itself, can be written to;
 * else errno has the reason. */
static bool path_can_be_made(const char *path)
{
	char directory[CTRACE_EMITTER_PATH_SIZE];
	struct stat info;

	if (snprintf(directory, sizeof directory, "%s", path) >= (int)sizeof directory) {
		errno = ENAMETOOLONG;
		return false;
	}
	while (stat(directory, &info) != 0) {
		char *slash = strrchr(directory, '/');

		if (errno != ENOENT)
			return false;
		if (slash == NULL)
			(void)snprintf(directory, sizeof directory, ".");
		else
			slash[slash == directory] = '\0';
	}
	errno = ENOTDIR;
	if (!S_ISDIR(info.st_mode) || access(directory, W_OK | X_OK) != 0)
		return false;
	errno = EROFS;
	return !directory_is_of_kernel(directory);
}

static void note_directory(struct check *check, struct place place, const char *directory,
			   const char *instead)
{
	struct ct_buf message;
	int error;

	if (path_can_be_made(directory))
		return;
	error = errno;
	ct_buf_init(&message);
	ct_buf_add_text(&message, "you cannot write to the directory ");
	ct_span_quote(&message, (struct ct_span){ directory, strlen(directory) },
		      strlen(directory));
	ct_buf_add_format(&message, ": %s; where the program cannot either, %s", strerror(error),
			  instead);
	check_find_text(check, place, &message, NULL);
}

/* A FILE that leads out of the directory for output. */
static void note_parent(struct check *check, uint32_t index, const char *location, const char *file)
{
	if (ct_emitter_at(index) == &ct_emit_textfile && strchr(file, '/') != NULL &&
	    !ct_file_is_within(location, file))
		check_find(
			check, check->file[index],
			"a FILE with \"..\" in it is traced to only where its directory is there: none is made",
			NULL);
}

static void check_file_directory(struct check *check, uint32_t index, const char *file,
				 const char *location)
{
	char directory[CTRACE_EMITTER_PATH_SIZE];
	const char *slash = strrchr(file, '/');
	struct ct_buf message;
	struct stat info;

	if (file[0] != '/')
		note_parent(check, index, location, file);
	if (file[0] != '/' || (size_t)(slash - file) >= sizeof directory)
		return;
	(void)snprintf(directory, sizeof directory, "%.*s", slash == file ? 1 : (int)(slash - file),
		       file);
	if (strstr(directory, "$(") != NULL)
		return;
	if (ct_emitter_at(index) != &ct_emit_textfile || ct_file_is_within(location, file) ||
	    stat(directory, &info) == 0) {
		note_directory(check, check->file[index], directory, "nothing is traced there");
		return;
	}
	ct_buf_init(&message);
	ct_buf_add_text(&message, "no such directory: ");
	ct_span_quote(&message, (struct ct_span){ directory, strlen(directory) },
		      strlen(directory));
	check_find_text(check, check->file[index], &message,
			"a directory that is there; below LOCATION one is made when it is missing");
}

/* ---- what has the name of the output already ---- */

/* Returns why TEXTFILE would trace nothing to this file, and what to do; NULL when it would
 * trace. */
static const char *refusal_of_file(const struct stat *info, const char *path)
{
	if (S_ISDIR(info->st_mode))
		return "is a directory: nothing is traced there; name a file";
	if (S_ISLNK(info->st_mode))
		return "is a link, and links are not followed: nothing is traced there; name the file that it leads to";
	if (!S_ISREG(info->st_mode))
		return "is no regular file: nothing is traced there; name another file";
	if (info->st_uid != geteuid())
		return "is another user's: where the program runs as you, nothing is traced there; name another file, or remove this one";
	if (info->st_nlink > 1)
		return "has another name too (a hard link): nothing is traced there; name another file, or remove this one";
	if (access(path, W_OK) != 0)
		return "may not be written to: nothing is traced there; change its mode, or name another file";
	return NULL;
}

/* The same for the directory that a FILE of BINFILE is. */
static const char *refusal_of_directory(const struct stat *info, const char *path)
{
	if (S_ISLNK(info->st_mode))
		return "is a link, and links are not followed: nothing is traced there; name the directory that it leads to";
	if (!S_ISDIR(info->st_mode))
		return "is there, and is no directory: nothing is traced there; name another directory, which BINFILE makes";
	if (info->st_uid != geteuid())
		return "is another user's: where the program runs as you, nothing is traced there; name another directory, or remove this one";
	if (access(path, R_OK | W_OK | X_OK) != 0)
		return "may not be read and written to: nothing is traced there; change its mode, or name another directory";
	return NULL;
}

/* Makes the output's path for a program that is started here.  Returns false when the path
 * depends on the process. */
static bool output_path(const char *file, const char *location, char out[CTRACE_EMITTER_PATH_SIZE])
{
	const char *logs = ct_os_environment("MFTRACE_LOGS");
	const char *directory = file[0] == '/'        ? ""
				: location[0] != '\0' ? location
				: logs != NULL        ? logs
						      : "";
	size_t size;

	if (snprintf(out, CTRACE_EMITTER_PATH_SIZE, "%s%s%s", directory,
		     directory[0] != '\0' ? "/" : "", file) >= (int)CTRACE_EMITTER_PATH_SIZE ||
	    strstr(out, "$(") != NULL)
		return false;
	size = strlen(out);
	while (size > 1 && out[size - 1] == '/') /* or a link would be followed */
		out[--size] = '\0';
	return true;
}

static void note_output(struct check *check, uint32_t index, const char *file, const char *location)
{
	const struct ctrace_emitter *emitter = ct_emitter_at(index);
	char path[CTRACE_EMITTER_PATH_SIZE];
	const char *refusal = NULL;
	struct ct_buf message;
	struct stat info;

	if (!output_path(file, location, path) || lstat(path, &info) != 0)
		return;
	if (emitter == &ct_emit_textfile)
		refusal = refusal_of_file(&info, path);
	else if (emitter == &ct_emit_binfile)
		refusal = refusal_of_directory(&info, path);
	if (refusal == NULL)
		return;
	ct_buf_init(&message);
	ct_span_quote(&message, (struct ct_span){ path, strlen(path) }, strlen(path));
	ct_buf_add_format(&message, " %s", refusal);
	check_find_text(check, check->file[index], &message, NULL);
}

static void check_directories(struct check *check)
{
	struct ct_buf file, location;

	ct_buf_init(&file);
	ct_buf_init(&location);
	for (uint32_t i = 0; i < CT_EMITTER_LIMIT && ct_emitter_at(i) != NULL; i++) {
		ct_buf_clear(&file);
		ct_buf_clear(&location);
		if (ct_emitter_property_get(check->target.registry, i, "LOCATION", 8, &location) !=
		    CTRACE_OK)
			ct_buf_clear(&location);
		if (check->location[i].line != 0 && location.size != 0)
			note_directory(check, check->location[i], ct_buf_text(&location),
				       "MFTRACE_LOGS, or its working directory, takes its place");
		if (check->file[i].line == 0 ||
		    ct_emitter_property_get(check->target.registry, i, "FILE", 4, &file) !=
			    CTRACE_OK)
			continue;
		check_file_directory(check, i, ct_buf_text(&file), ct_buf_text(&location));
		note_output(check, i, ct_buf_text(&file), ct_buf_text(&location));
	}
	ct_buf_fini(&file);
	ct_buf_fini(&location);
}

/* ---- for people ---- */

static void print_setting(const char *key, const char *value, void *user)
{
	(void)user;
	printf("%s = %s\n", key, value);
}

static void print_people(const struct check *check)
{
	for (size_t i = 0; i < check->count; i++) {
		const struct diagnostic *found = &check->found[i];

		ct_tool_print(stderr, check->path, strlen(check->path));
		fprintf(stderr, ":%u:%u: %s%s%s%s\n", found->place.line, found->place.column,
			found->is_note ? "note: " : "", found->message,
			found->is_note ? "" : "; expected ", found->expected);
	}
	ct_config_each_setting(&check->target, print_setting, NULL);
}

/* ---- for programs ---- */

static void setting_add(const char *key, const char *value, void *user)
{
	json_t *object = json_object();

	json_object_set_new(object, "key", ct_json_string(key));
	json_object_set_new(object, "value", ct_json_string(value));
	json_array_append_new(user, object);
}

static json_t *findings_json(const struct diagnostic *found)
{
	json_t *object = json_object();

	json_object_set_new(object, "line", json_integer((json_int_t)found->place.line));
	json_object_set_new(object, "column", json_integer((json_int_t)found->place.column));
	json_object_set_new(object, "kind", json_string(found->is_note ? "note" : "error"));
	json_object_set_new(object, "message", ct_json_string(found->message));
	if (!found->is_note)
		json_object_set_new(object, "expected", ct_json_string(found->expected));
	return object;
}

static void dump_json(struct check *check, json_t *object)
{
	check->failed |= !ct_json_print(object, stdout);
}

static void print_json(struct check *check)
{
	json_t *object = ct_json_document(), *diagnostics = json_array(), *settings = json_array();

	for (size_t i = 0; i < check->count; i++)
		json_array_append_new(diagnostics, findings_json(&check->found[i]));
	ct_config_each_setting(&check->target, setting_add, settings);
	json_object_set_new(object, "path", ct_json_string(check->path));
	json_object_set_new(object, "errors", json_integer((json_int_t)check->diagnostics));
	json_object_set_new(object, "diagnostics", diagnostics);
	json_object_set_new(object, "settings", settings);
	dump_json(check, object);
}

/* ---- the verb ---- */

static int check_text(struct check *check)
{
	struct ct_config_reader loading = { .command = emitter_load, .user = check };
	struct ct_config_reader noting = { .command = note_run, .user = check };
	struct ct_config_reader reader = { .command = command_apply,
					   .diagnose = check_take_diagnostic,
					   .user = check };

	ct_config_read(check->text.data, check->text.size, NULL, &loading, NULL);
	ct_config_read(check->text.data, check->text.size, NULL, &reader, NULL);
	ct_config_read(check->text.data, check->text.size, NULL, &noting, NULL);
	check_directories(check);
	check_nats(check);
	if (check->count > 1)
		qsort(check->found, check->count, sizeof *check->found, finding_compare);
	if (check->is_json)
		print_json(check);
	else
		print_people(check);
	if (check->failed)
		fputs("ctrace config: not enough memory\n", stderr);
	return check->diagnostics == 0 && !check->failed ? CMD_DONE : CMD_NOTHING;
}

static int file_diagnose_unread(struct check *check, int error)
{
	char buffer[CT_CONFIG_UNREAD];
	const char *why = ct_config_unread(error, buffer);

	fputs("ctrace config: cannot read ", stderr);
	ct_tool_print(stderr, check->path, strlen(check->path));
	fprintf(stderr, ": %s\n", why);
	if (check->is_json) {
		json_t *object = ct_json_document();

		json_object_set_new(object, "path", ct_json_string(check->path));
		json_object_set_new(object, "error", ct_json_string(why));
		dump_json(check, object);
	}
	return CMD_NOTHING;
}

static int check_file(struct check *check)
{
	int exit_status = CMD_NOTHING;
	enum ctrace_status status = ct_os_read_file(check->path, FILE_LIMIT, &check->text);

	if (status != CTRACE_OK)
		return file_diagnose_unread(check, errno);
	status = ct_session_create(&check->session, NULL);
	if (status != CTRACE_OK)
		goto diagnose;
	status = ct_registry_create(&check->session, &check->target.registry);
	if (status != CTRACE_OK)
		goto undo_session;
	ct_settings_init(&check->settings);
	check->target.settings = &check->settings;
	exit_status = check_text(check);
	ct_registry_destroy(check->target.registry);
undo_session:
	ct_session_close(&check->session, true);
diagnose:
	if (status != CTRACE_OK)
		fprintf(stderr, "ctrace config: %s\n", ctrace_status_text(status));
	return exit_status;
}

static void check_fini(struct check *check)
{
	for (size_t i = 0; i < check->count; i++) {
		free(check->found[i].message);
		free(check->found[i].expected);
	}
	free(check->found);
	ct_buf_fini(&check->text);
}

struct arguments {
	const char *action;
	const char *path;
	bool is_json;
};

/* Returns the file that programs of this environment read, for a check without a file. */
static const char *configured_path(void)
{
	return ct_os_environment("MFTRACE_CONFIG");
}

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'j':
		arguments->is_json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->action == NULL)
			arguments->action = argument;
		else if (arguments->path == NULL)
			arguments->path = argument;
		else
			argp_error(state, "one file at a time");
		return 0;
	case ARGP_KEY_END:
		if (arguments->action == NULL || strcmp(arguments->action, "check") != 0)
			argp_error(state, "expected: check [FILE]");
		if (arguments->path == NULL)
			arguments->path = configured_path();
		if (arguments->path == NULL)
			argp_error(
				state,
				"check what? expected a file, or MFTRACE_CONFIG in the environment");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The keys of the file, from the table that also applies them. */
static char *add_keys(int key, const char *text, void *input)
{
	const struct ct_verb_row *row;
	char *out = NULL;
	size_t size = 0;
	FILE *to;

	(void)input;
	if (key != ARGP_KEY_HELP_EXTRA)
		return (char *)(uintptr_t)text;
	to = open_memstream(&out, &size);
	if (to == NULL)
		return NULL;
	fputs("Keys of the file, one KEY = VALUE a line, in any case of letters:\n", to);
	for (size_t i = 0; (row = ct_verb_row_at(i)) != NULL; i++)
		if (row->key != NULL)
			fprintf(to, "  %s%s = %s\n      %s\n", row->key, row->subject_grammar,
				row->value_grammar, row->help);
	if (!allocate_close_stream(to)) {
		free(out);
		return NULL;
	}
	return out;
}

int cmd_config(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "json", 'j', NULL, 0, "Print one JSON document", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_argument,
		.args_doc = "check [FILE]",
		.doc = "Report each error in a configuration file with line and column, and print the resulting settings.\n"
		       "Without FILE: the file that MFTRACE_CONFIG names.",
		.help_filter = add_keys,
	};
	struct arguments arguments = { 0 };
	struct check check = { 0 };
	int exit_status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments) != 0)
		return CMD_USAGE;
	check.path = arguments.path;
	check.is_json = arguments.is_json;
	ct_buf_init(&check.text);
	exit_status = check_file(&check);
	check_fini(&check);
	return exit_status;
}
